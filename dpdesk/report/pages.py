"""Self-contained pages: templates with escaping on, styles inline, no script, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from dpdesk.core.charts import Cell, Chart, format_figure
from dpdesk.report.svg import render_chart

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_TABLE_ROWS = 500


def render(template: str, values: Mapping[str, object]) -> bytes:
    """A page as UTF-8 bytes with LF line ends; every value is escaped."""
    text = _environment().get_template(template).render(values)
    return (text.replace("\r\n", "\n").rstrip("\n") + "\n").encode("utf-8", "replace")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dpdesk.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        visible=visible, plain=plain_value, cell=cell_text, numeric=is_number, figure=format_figure
    )
    environment.globals.update(picture=_picture, most_rows=MOST_TABLE_ROWS)
    return environment


def _picture(chart: Chart) -> object:
    from markupsafe import Markup

    return Markup(render_chart(chart))  # all texts in it are escaped there


def visible(value: object) -> str:
    """A data value as readers can see it: an empty one is named, blanks at the ends are shown."""
    text = str(value)
    if not text:
        return "(empty)"
    stripped = text.strip(" ")
    lead = len(text) - len(text.lstrip(" "))
    return (
        "␣" * lead + stripped + "␣" * (len(text) - lead - len(stripped))
        if stripped
        else ("␣" * len(text))
    )


def is_number(value: object) -> bool:
    """Whether a cell holds a number, which is aligned to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell_text(value: Cell) -> str:
    """A cell of a table: grouped digits, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return format_figure(value, "number")
    return value


def plain_value(value: object) -> str:
    """A JSON value in words."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return cell_text(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {plain_value(item)}" for key, item in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(plain_value(item) for item in value) or "none"
    return str(value)


def flattened(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of nested tables with their path in words; lists stay whole."""
    for key, value in table.items():
        name = f"{prefix}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{name}, ")
        else:
            yield name, value
