"""Plain values as JSON and back, exactly: what plans, parameters and results are made of.

JSON alone knows no difference between a list and a tuple, a decimal and a float, and has no
fractions, infinities or arrays. Whatever it lacks is written as an object with one key that starts
with ``$``. The kinds that the project's own values use most (tuples, read-only tables) are written
plainly. Arrays are not in the JSON: they lie in parts of their own and are named by their hash.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from dpdesk.core.messages import msg
from dpdesk.project.file.parts import PartReader, PartWriter

_ODD_FLOATS = ("nan", "inf", "-inf")


class CodecError(ValueError):
    """Something stored is not what it should be; the message says what, without the data."""


def encode_free(value: object, parts: PartWriter) -> object:
    """``value`` as JSON types. TypeError for a value of a kind that is never stored."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return encode_free(value.item(), parts)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, Fraction):
        return {"$fraction": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, Mapping):
        return _encode_table(value, parts)
    if isinstance(value, tuple):
        return [encode_free(item, parts) for item in value]
    if isinstance(value, list):
        return {"$list": [encode_free(item, parts) for item in value]}
    if isinstance(value, np.ndarray):
        return {"$array": parts.add_array(value)}
    raise TypeError(f"{type(value).__name__} is not a value that a project keeps")


def _encode_table(value: Mapping[object, object], parts: PartWriter) -> object:
    plain: object
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        plain = {str(key): encode_free(item, parts) for key, item in value.items()}
    else:
        pairs = [[encode_free(key, parts), encode_free(item, parts)] for key, item in value.items()]
        plain = {"$pairs": pairs}
    return {"$dict": plain} if isinstance(value, dict) else plain


def decode_free(raw: object, parts: PartReader) -> object:
    """The value that :func:`encode_free` wrote. Raises :class:`CodecError`."""
    if raw is None or isinstance(raw, bool | str | int | float):
        return raw
    if isinstance(raw, list):
        return tuple(decode_free(item, parts) for item in raw)
    if not isinstance(raw, dict):
        raise CodecError(msg("found {name}, expected a value", name=type(raw).__name__))
    mark = next((key for key in raw if key.startswith("$")), None)
    if mark is None:
        return MappingProxyType({key: decode_free(item, parts) for key, item in raw.items()})
    if len(raw) != 1 or mark not in _MARKED:
        raise CodecError(msg("found the unknown mark {mark}", mark=mark[:20]))
    return _MARKED[mark](raw[mark], parts)


def _decimal(raw: object, parts: PartReader) -> object:
    try:
        return Decimal(_text(raw))
    except InvalidOperation as error:
        raise CodecError("found a decimal that is none") from error


def _fraction(raw: object, parts: PartReader) -> object:
    try:
        above, below = (int(item) for item in _text(raw).split("/"))
        return Fraction(above, below)
    except (ValueError, ZeroDivisionError) as error:
        raise CodecError("found a fraction that is none") from error


def _float(raw: object, parts: PartReader) -> object:
    if raw not in _ODD_FLOATS:
        raise CodecError("found a number that is none")
    return float(_text(raw))


def _list(raw: object, parts: PartReader) -> object:
    if not isinstance(raw, list):
        raise CodecError("found a list that is none")
    return [decode_free(item, parts) for item in raw]


def _pairs(raw: object, parts: PartReader) -> Mapping[object, object]:
    if not isinstance(raw, list) or not all(isinstance(p, list) and len(p) == 2 for p in raw):
        raise CodecError("found a table that is none")
    try:
        return MappingProxyType(
            {decode_free(key, parts): decode_free(item, parts) for key, item in raw}
        )
    except TypeError as error:  # a key that cannot be one
        raise CodecError("found a table with an impossible key") from error


def _dict(raw: object, parts: PartReader) -> object:
    table = decode_free(raw, parts)
    if not isinstance(table, Mapping):
        raise CodecError("found a table that is none")
    return dict(table)


def _array(raw: object, parts: PartReader) -> object:
    return parts.array(_text(raw))


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise CodecError(msg("found {name}, expected a text", name=type(raw).__name__))
    return raw


_MARKED: Mapping[str, Callable[[object, PartReader], object]] = MappingProxyType(
    {
        "$decimal": _decimal,
        "$fraction": _fraction,
        "$float": _float,
        "$list": _list,
        "$pairs": _pairs,
        "$dict": _dict,
        "$array": _array,
    }
)
