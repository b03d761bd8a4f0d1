"""Small files of settings (plans, policies): TOML, or JSON of the same shape, with exact numbers.

Every fault is told in one sentence that starts with the file's name and, where it is known, the
line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.textfile import decode, read_bytes

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
