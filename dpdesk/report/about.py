"""``about.html``: for the user of the data. It holds nothing but what ``public/`` holds anyway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dpdesk.core.cube_parameters import (
    CuboidsParameter,
    ExactParameter,
    MeasureParameter,
    PublishParameter,
)
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook, Variable
from dpdesk.core.language import voice
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ChoiceParameter, Parameter, ShareParameter
from dpdesk.core.release import Manifest, celled_columns
from dpdesk.engine.method import Method
from dpdesk.engine.registry import rows_of
from dpdesk.report.pages import figure, plain_value, render
from dpdesk.report.words import Line, metric_lines, result_lines, unit_of

EXAMPLES = 3  # most frequent values that the code book shows of a column


class CountedColumn(Protocol):
    """Number of distinct texts of a column and the most frequent ones."""

    @property
    def distinct(self) -> int:
        """Number of distinct texts."""
        ...

    @property
    def top(self) -> tuple[tuple[str, int], ...]:
        """The most frequent texts with their rows."""
        ...


class CountedTable(Protocol):
    """A published table that can say what its columns hold."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in file order."""
        ...

    def top_values(self, count: int, token: CancelToken) -> Mapping[str, CountedColumn]:
        """The most frequent texts of every column."""
        ...


@dataclass(frozen=True)
class ColumnNote:
    """What became of a column, how many texts it holds, and some of them with their rows.

    ``generalised`` says that it has a level, be it 0.
    """

    name: str
    treatment: str
    distinct: int
    examples: tuple[tuple[str, int], ...]
    generalised: bool = False


@dataclass(frozen=True)
class AboutContent:
    """A manifest (without its ``files``), the method, and what the published columns hold."""

    manifest: Manifest
    method: Method
    columns: tuple[ColumnNote, ...]


@dataclass(frozen=True)
class Setting:
    """A parameter as readers see it."""

    label: str
    value: str
    help: str


def describe_columns(
    table: CountedTable,
    manifest: Manifest,
    method: Method,
    token: CancelToken,
    book: Codebook = NO_BOOK,
) -> tuple[ColumnNote, ...]:
    """A code book of the published table, counted from the table itself; ``book`` says which
    numbers were made coarser before.
    """
    rows = rows_of(method)
    said = {} if rows is None else rows.column_words(manifest)
    result = manifest.result
    node = result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    celled = celled_columns(manifest)
    counted, replaced = table.top_values(EXAMPLES, token), pseudonyms(manifest)
    return tuple(
        ColumnNote(
            name,
            _with_coarser(
                voice().say(said[name])
                if name in said
                else pseudonym_words()
                if name in replaced
                else _treatment(levels.get(name), name in celled),
                book.get(name),
            ),
            counted[name].distinct,
            counted[name].top,
            isinstance(levels.get(name), int) or name in celled,
        )
        for name in table.columns
    )


def pseudonyms(manifest: Manifest) -> tuple[str, ...]:
    """The columns that a manifest calls pseudonyms."""
    names = manifest.guarantee.parameters.get("pseudonym", [])
    return tuple(str(name) for name in names) if isinstance(names, list | tuple) else ()


def pseudonym_words() -> str:
    """What became of a column of pseudonyms."""
    return voice().text("replaced by a pseudonym")


def _treatment(level: object, celled: bool) -> str:
    if celled:
        return voice().text("quasi-identifier, generalised as far as each row needed")
    if not isinstance(level, int):
        return voice().text("as in the source")
    if level == 0:
        return voice().text("quasi-identifier, kept in full detail (level 0)")
    return voice().text("quasi-identifier, generalised to level {level}", level=level)


def _with_coarser(words: str, variable: Variable | None) -> str:
    """What became of a column, after its numbers were made coarser."""
    if variable is None or not variable.coarsened:
        return words
    text, done = voice().text, variable.coarsened
    parts = [
        text("{bottom} means {bottom} and below", bottom=done["bottom"])
        if "bottom" in done
        else "",
        text("{top} means {top} and above", top=done["top"]) if "top" in done else "",
        text("rounded to multiples of {step}", step=done["round"]) if "round" in done else "",
        "" if words == text("as in the source") else words,
    ]
    return "; ".join(filter(None, parts))


def settings(parameters: Sequence[Parameter], values: Mapping[str, object]) -> tuple[Setting, ...]:
    """The parameters of a manifest with the words of their specifications."""
    return tuple(
        Setting(
            voice().say(parameter.label),
            _setting_text(parameter, values[parameter.key]),
            voice().say(parameter.help),
        )
        for parameter in parameters
        if parameter.key in values
    )


def _setting_text(parameter: Parameter, value: object) -> str:
    if isinstance(parameter, ShareParameter) and isinstance(value, int | float):
        return voice().figure(f"{value * 100:g} %")
    if isinstance(parameter, ChoiceParameter):
        label = next((c.label for c in parameter.choices if c.value == value), None)
        return plain_value(value) if label is None else voice().say(label)
    if isinstance(parameter, ExactParameter | PublishParameter | CuboidsParameter):
        return voice().say(parameter.as_text(parameter.parse(value, parameter.key)))
    if isinstance(parameter, MeasureParameter):
        each = value if isinstance(value, list | tuple) else [value]
        return "; ".join(_measure_words(one) for one in each)
    text = plain_value(value)
    return f"{text} {unit_of(value, parameter.unit)}" if parameter.unit else text


def _measure_words(measure: object) -> str:
    """What a cell holds, with the bounds within which values count and the steps of an average."""
    say = voice()
    if not isinstance(measure, Mapping):
        return say.text("number of persons")
    kind = "sum" if "sum" in measure else "average"
    words = say.say(msg("{kind} of {column}", kind=kind, column=measure[kind]))
    bounds = {key: plain_value(measure[key]) for key in ("lower", "upper") if key in measure}
    if len(bounds) == 2:
        words = say.text("{words}, values from {lower} to {upper}", words=words, **bounds)
    if "step" in measure:
        step = plain_value(measure["step"])
        words = say.text("{words}, in steps of {step}", words=words, step=step)
    return words


def stated_values(manifest: Manifest, method: Method, title: str) -> dict[str, object]:
    """What every page says of a manifest; ``title`` is for plans without one."""
    return {
        "title": manifest.title or title,
        "manifest": manifest,
        "guarantee": manifest.guarantee,
        "method": method,
        "settings": settings(method.parameters, manifest.parameters),
    }


def render_about(content: AboutContent) -> bytes:
    """The page; see :func:`~dpdesk.report.pages.render`."""
    manifest, rows = content.manifest, rows_of(content.method)
    result = manifest.result
    values = {
        **stated_values(manifest, content.method, voice().text("Protected microdata")),
        "counts": tuple(result_lines(result)),
        "metrics": tuple(metric_lines(result)),
        "suppressed": result.get("rows_suppressed", 0),
        "columns": content.columns,
        "generalised": any(column.generalised for column in content.columns),
        "advice": () if rows is None else rows.advice,
    }
    return render("about.html", values)


_EXAMPLE_COUNTS = (20, 100, 1_000, 10_000)


def render_drawn(content: AboutContent) -> bytes:
    """The page of a release with drawn values, with how to estimate from it."""
    manifest = content.manifest
    result, given = manifest.result, manifest.guarantee.parameters
    size, drawn = int(str(given["l"])), given["diverted"]
    if not isinstance(drawn, list | tuple):
        raise TypeError("`diverted` is not a list")
    values = {
        **stated_values(manifest, content.method, voice().text("Protected microdata")),
        "counts": tuple(result_lines(result)),
        "columns": content.columns,
        "drawn": drawn,
        "size": size,
        "partition": manifest.parameters.get("partition"),
        "errors": _errors(size),
        "suppressed": result.get("rows_suppressed", 0),
        "k": given.get("k"),
    }
    return render("about_diverted.html", values)


def _errors(size: int) -> tuple[Line, ...]:
    """Standard deviations of counts of one value in the whole table: √(f·(1 − 1/ℓ′))."""
    return tuple(
        Line(
            voice().text("A count of {n}", n=count),
            f"± {figure((count * (1 - 1 / size)) ** 0.5, 'number')}",
            voice().text(
                "{share} of the count", share=figure(((1 - 1 / size) / count) ** 0.5, "share")
            ),
        )
        for count in _EXAMPLE_COUNTS
    )
