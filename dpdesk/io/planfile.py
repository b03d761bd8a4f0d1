"""Plan files: TOML, or JSON of the same shape, with exact numbers.

Reading keeps every decimal exactly as written; writing gives a file that reads back as an equal
plan, laid out for people.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Float, Item, SingleKey, Table, Trivia

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.plan import Plan
from dpdesk.core.source_spec import check_options
from dpdesk.io.safewrite import PartialKeeper, decode, read_bytes, write_text

# Small files of settings (plans, policies): TOML, or JSON of the same shape, with exact numbers.
#
# Every fault is told in one sentence that starts with the file's name and, where it is known, the
# line.


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_TWICE = ("Cannot overwrite a value", "Cannot declare")
_KEY_PART = r"(?:(?<![\w-])[\w-]++|\"[^\"\n]*\"|'[^'\n]*')"
_DEEP_KEY = re.compile(rf"{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART}){{500}}", re.ASCII)
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_settings_text(path: Path, code: str) -> str:
    """The text of a file of settings.

    Raises StorageError ``{code}.unreadable``, InputError ``{code}.encoding`` or ``{code}.nul``.
    """
    return decode(read_bytes(path, code), path, code).text


def is_json(path: Path, text: str) -> bool:
    """Whether a file of settings is JSON: its name ends in ``.json`` or its text begins with {."""
    return path.suffix.lower() == ".json" or text.lstrip().startswith("{")


def parse_settings(text: str, path: Path, code: str, hint: str) -> Mapping[str, object]:
    """The tables in a text of TOML or JSON; numbers that are not whole become decimals.

    ``hint`` is the advice for TOML that cannot be read. Raises InputError ``{code}.syntax``, with
    line and column.
    """
    if is_json(path, text):
        return _parse_json(text, path.name, code)
    return _parse_toml(text, path.name, code, hint)


def too_deep(name: str, code: str) -> InputError:
    """The error for values that are nested too deeply to be read."""
    return InputError(
        f"{code}.syntax",
        msg("{name}: the values are nested too deeply, expected at most some hundreds.", name=name),
    )


def line_of(text: str, keys: Sequence[str]) -> int | None:
    """The line (from 1) of a TOML text that gives the key to which ``keys`` lead, or its table.

    None when it cannot be told for sure: a key that is given in another form, or no such key.
    """
    table: tuple[str, ...] = ()
    wanted, lines = tuple(keys), text.split("\n")
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            found = table = _keys(stripped)
        elif "=" in stripped:
            found = table + _keys(stripped.partition("=")[0] + "= 0")
        else:
            continue
        # Inside a list or a text over several lines, what stands before is no TOML by itself.
        if found == wanted and _is_toml("".join(f"{line}\n" for line in lines[: number - 1])):
            return number
    return None


def _keys(line: str) -> tuple[str, ...]:
    found: object = _loaded(line)
    keys: list[str] = []
    while isinstance(found, Mapping | list) and found:
        if isinstance(found, list):
            found = found[0]
            continue
        key, found = next(iter(found.items()))
        keys.append(key)
    return tuple(keys)


def _read_toml(text: str, parse_float: Callable[[str], object] = float) -> dict[str, object]:
    """The library takes a minute for a key of 100,000 parts, so their number is looked at first."""
    if _DEEP_KEY.search(text):
        raise RecursionError
    return tomllib.loads(text, parse_float=parse_float)


def _is_toml(text: str) -> bool:
    return _loaded(text) is not None


def _loaded(text: str) -> Mapping[str, object] | None:
    try:
        return _read_toml(text)
    except (ValueError, RecursionError):
        return None


def _parse_toml(text: str, name: str, code: str, hint: str) -> Mapping[str, object]:
    def load() -> object:
        return _read_toml(text, parse_float=_decimal)

    raw: Mapping[str, object] = _parsed(load, name, "TOML", code, hint)
    return raw


def _parse_json(text: str, name: str, code: str) -> Mapping[str, object]:
    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                raise ValueError(msg("the key `{key}` is given twice", key=key))
            found[key] = value
        return found

    def load() -> object:
        found = json.loads(
            text, parse_float=_decimal, parse_constant=Decimal, object_pairs_hook=pairs
        )
        if _HALF_CHARACTER.search(json.dumps(found, ensure_ascii=False, default=str)):
            raise ValueError("a text holds half of a character (an escape from ud800 to udfff)")
        return found

    raw = _parsed(load, name, "JSON", code, "")
    if not isinstance(raw, Mapping):
        raise InputError(
            f"{code}.syntax",
            msg("{name}: found a JSON list or value, expected an object in braces.", name=name),
        )
    return raw


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the number {text[:40]} is out of range") from None


def _parsed(load: Callable[[], object], name: str, language: str, code: str, hint: str) -> Any:
    place, reason = name, ""
    try:
        return load()
    except json.JSONDecodeError as error:
        place, reason = (
            msg(
                "{name}, line {lineno}, column {colno}",
                name=name,
                lineno=error.lineno,
                colno=error.colno,
            ),
            error.msg,
        )
    except ValueError as error:
        reason = str(error)
        position = _POSITION.search(reason)
        if position:
            reason = reason[: position.start()]
            line, column = position.groups()
            place += (
                msg(", line {line}, column {column}", line=line, column=column)
                if line
                else ", at the end of the file"
            )
        if reason.startswith(_TWICE):
            reason, hint = "a key or table is given twice", ""
        elif "integer string conversion" in reason:
            reason = "a whole number has too many digits"
    except RecursionError:
        raise too_deep(name, code) from None
    reason = reason[:1].lower() + reason[1:]
    raise InputError(
        f"{code}.syntax",
        msg(
            "{name}: this is not valid {language}: {reason}.",
            name=place,
            language=language,
            reason=reason,
        ),
        hint=hint,
        details={"language": language},
    )


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
