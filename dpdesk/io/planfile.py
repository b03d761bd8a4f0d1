"""Plan files: TOML, or JSON of the same shape, with exact numbers.

Reading keeps every decimal exactly as written; writing gives a file that reads back as an equal
plan, laid out for people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Float, Item, SingleKey, Table, Trivia

from dpdesk.core.messages import msg
from dpdesk.core.plan import Plan
from dpdesk.core.source_spec import check_options
from dpdesk.io.safewrite import PartialKeeper
from dpdesk.io.textfile import write_text
from dpdesk.io.tomlfile import parse_settings, read_settings_text, too_deep

_LINE = 100
_QUOTES = 'Texts and paths are written in quotes, such as path = "people.csv".'


def read_plan(path: Path) -> Plan:
    """Read and check a plan file; JSON when the name ends in ``.json`` or the text begins with {.

    Raises
    ------
    StorageError
        ``plan.unreadable``.
    InputError
        ``plan.syntax`` (with line and column), ``plan.encoding``, ``plan.nul``,
        ``source.option``, and what :meth:`Plan.from_plain` raises. Each sentence starts with the
        path or the file's name.
    """
    return plan_of_text(read_settings_text(path, "plan"), path)


def plan_of_text(text: str, path: Path) -> Plan:
    """Read and check the text of a plan file; ``path`` names it. Raises as :func:`read_plan`."""
    raw = parse_settings(text, path, "plan", _QUOTES)
    try:
        plan = Plan.from_plain(raw, path.name)
    except RecursionError:
        raise too_deep(path.name, "plan") from None
    check_options(plan.source, msg("{name}, [source]", name=path.name))
    return plan


def write_plan(plan: Plan, path: Path, keeper: PartialKeeper) -> None:
    """Write a plan, whole or not at all: JSON when the name ends in ``.json``, else TOML.

    Raises StorageError ``plan.unwritable``.
    """
    is_json = path.suffix.lower() == ".json"
    text = (plan_as_json if is_json else plan_as_toml)(plan)
    write_text(path, text, "plan", keeper, follow=True)


def plan_as_toml(plan: Plan) -> str:
    """The text of a plan file in TOML."""
    plain: dict[str, Any] = plan.as_plain(exact=True)
    document = tomlkit.document()
    for key in ("version", "title", "language"):
        if key in plain:
            document.add(SingleKey(key), _inline(plain[key]))
    document.add("source", _table(plain["source"]))
    if plain["attributes"]:
        attributes = tomlkit.table(is_super_table=True)
        for name, attribute in plain["attributes"].items():
            attributes.add(SingleKey(name), _table(attribute))
        document.add("attributes", attributes)
    for key in ("protection", "budget"):
        if key in plain:
            document.add(key, _table(plain[key]))
    return tomlkit.dumps(document)


def plan_as_json(plan: Plan) -> str:
    """The text of a plan file in JSON; decimals are written with all their digits."""
    return _json(plan.as_plain(exact=True), 0) + "\n"


def _table(plain: Mapping[str, Any]) -> Table:
    """A table: plain keys first, then what needs a header of its own."""
    table = tomlkit.table()
    later: list[tuple[str, Item]] = []
    for key, value in plain.items():
        if _is_table_list(value):
            array = tomlkit.aot()
            for item in value:
                array.append(_table(item))
            later.append((key, array))
        elif isinstance(value, Mapping) and len(_inline(value).as_string()) > _LINE:
            later.append((key, _table(value)))
        else:
            table.add(SingleKey(key), _inline(value, width=_LINE - len(key)))
    for key, item in later:
        table.add(SingleKey(key), item)
    return table


def _is_table_list(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _inline(value: Any, width: int | None = None) -> Item:
    """A value on one line; a list that is longer than ``width`` on several."""
    if isinstance(value, Decimal):
        return _float(value)
    if isinstance(value, str):
        return tomlkit.string(value)
    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        for key, item in value.items():
            inline.add(SingleKey(key), _inline(item))
        return inline
    if isinstance(value, list):
        array = tomlkit.array()
        for item in value:
            array.append(_inline(item))
        return array.multiline(width is not None and len(array.as_string()) > width)
    plain: Item = tomlkit.item(value)
    return plain


def _float(value: Decimal) -> Item:
    text = str(value)
    if not re.search(r"[.Ee]", text):
        text += ".0"
    return Float(float(value), Trivia(), text)


def _json(value: Any, depth: int) -> str:
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, Mapping) and value:
        lines = [
            f"{inner}{json.dumps(key)}: {_json(item, depth + 1)}" for key, item in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{outer}}}"
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_json(item, depth + 1) for item in value) + "]"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
