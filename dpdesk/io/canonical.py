"""JSON in one form only: what is hashed can be written again, byte for byte.

Canonical form: UTF-8 without BOM, keys sorted by code point, two spaces of indentation, one LF at
the end, no escapes but those that JSON requires, numbers as Python writes them (the shortest
decimal that reads back as the same float).
"""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from json.encoder import encode_basestring
from pathlib import Path

from dpdesk.core.messages import msg
from dpdesk.core.parameters import plain_number
from dpdesk.core.shapes import Shape

LARGEST_JSON = 256 * 1024 * 1024


class UnreadableJsonError(ValueError):
    """The bytes are not one canonical JSON object; ``reason`` says why, in words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def canonical_json(value: Mapping[str, object] | Shape) -> bytes:
    """The canonical bytes of ``value``.

    Tuples become lists, exact fractions numbers, numpy scalars Python numbers. Raises TypeError for
    anything that JSON cannot hold, and ValueError for NaN and infinities.
    """
    parts: list[str] = []
    _write(value, "\n", parts)
    parts.append("\n")
    return "".join(parts).encode("utf-8")


def _write(value: object, line: str, parts: list[str]) -> None:
    """Append the text of ``value``, whose lines begin with ``line`` (a line feed and blanks).

    ``json`` indents in Python, value by value, but writes what has no indentation in C: so each
    list or object that holds plain scalars alone is written at once, with separators that are its
    indentation.
    """
    if type(value) is str:
        parts.append(encode_basestring(value))
        return
    inner = f"{line}  "
    if type(value) in _SCALARS:
        parts.append(_encoded(value, inner))
    elif isinstance(value, Mapping) and value:
        _write_object(value, line, parts)
    elif isinstance(value, list | tuple) and value:
        if _SCALARS.issuperset(map(type, value)):
            parts += ("[", inner, _encoded(value, inner)[1:-1], line, "]")
            return
        separator = "["
        for item in value:
            parts += (separator, inner)
            _write(item, inner, parts)
            separator = ","
        parts += (line, "]")
    elif isinstance(value, Mapping | list | tuple):
        parts.append("{}" if isinstance(value, Mapping) else "[]")
    elif isinstance(value, str | int | float):
        parts.append(_encoded(value, inner))
    else:
        _write(to_plain(value), line, parts)


def _write_object(value: Mapping[str, object], line: str, parts: list[str]) -> None:
    inner = f"{line}  "
    if type(value) is dict and _SCALARS.issuperset(map(type, value.values())):
        for key in value:
            _key(key)
        parts += ("{", inner, _encoded(value, inner)[1:-1], line, "}")
        return
    separator = "{"
    for key in sorted(map(_key, value)):
        parts += (separator, inner, encode_basestring(key), ": ")
        _write(value[key], inner, parts)
        separator = ","
    parts += (line, "}")


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _encoded(value: object, line: str) -> str:
    """What ``json`` writes, with items that begin on new lines."""
    return _encoder(line).encode(value)


@lru_cache
def _encoder(line: str) -> json.JSONEncoder:
    separators = (f",{line}", ": ")
    return json.JSONEncoder(
        sort_keys=True, ensure_ascii=False, allow_nan=False, separators=separators
    )


def to_plain(value: object) -> object:
    """``value`` with JSON types only; see :func:`canonical_json`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction | Decimal):
        return plain_number(Fraction(value))
    if isinstance(value, Mapping):
        return plain_table(value)
    if isinstance(value, Shape):
        return plain_table(value.as_json())
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((to_plain(item) for item in value), key=str)
    item = getattr(value, "item", None)
    if callable(item):  # a numpy scalar
        return to_plain(item())
    raise TypeError(f"{type(value).__name__} has no JSON form")


def plain_table(table: Mapping[str, object]) -> dict[str, object]:
    """``table`` with JSON types only, as it would be read again; see :func:`canonical_json`."""
    return {key: to_plain(table[key]) for key in sorted(map(_key, table))}


def read_canonical(path: Path) -> dict[str, object]:
    """Read a canonical JSON object.

    Raises
    ------
    UnreadableJsonError
        With the reason: not a file, too large, not UTF-8, a BOM, not JSON, a key twice, a number
        out of range, not an object, or not in canonical form (so bytes were changed outside
        DPDesk).
    OSError
        When the file cannot be read.
    """
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):  # what a device or a pipe gives may never end
        raise UnreadableJsonError("is a link, a folder or a device, expected a file")
    if facts.st_size > LARGEST_JSON:
        raise UnreadableJsonError(
            msg("larger than {most:,} bytes, which no release needs", most=LARGEST_JSON)
        )
    return parse_canonical(path.read_bytes())


def parse_canonical(data: bytes) -> dict[str, object]:
    """Parse canonical bytes; see :func:`read_canonical`."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise UnreadableJsonError("starts with a byte order mark, expected none")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constants,
            parse_float=_finite,
        )
        same = canonical_json(value) == data if isinstance(value, dict) else False
    except UnreadableJsonError:
        raise
    except UnicodeError as error:
        raise UnreadableJsonError("not valid UTF-8 text") from error
    except RecursionError as error:
        raise UnreadableJsonError("nested too deeply") from error
    except json.JSONDecodeError as error:
        raise UnreadableJsonError(msg("not valid JSON ({what})", what=error)) from error
    except ValueError as error:
        raise UnreadableJsonError("not valid JSON: a number is too long to be read") from error
    if not isinstance(value, dict):
        raise UnreadableJsonError("does not hold a JSON object")
    if not same:
        raise UnreadableJsonError("not in the form that DPDesk writes: its bytes were changed")
    return value


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key is {type(key).__name__}, expected a text")
    return key


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableJsonError(msg("the key '{key}' occurs twice", key=key[:80]))
        found[key] = value
    return found


def _no_constants(text: str) -> object:
    raise UnreadableJsonError(msg("holds {text}, which is not a number", text=text))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise UnreadableJsonError(msg("the number {text} is out of range", text=text[:40]))
    return number
