"""Typed values as JSON and back: driven by the annotations of frozen dataclasses.

``encode(value, kind)`` and ``decode(raw, kind)`` are inverses for texts, numbers, truth values,
times, enums, tuples, sets, tables, arrays, unions and dataclasses of them; ``object`` stands for
any plain value (:mod:`~dpdesk.project.file.codec`). Reading is strict: a key too many, a key
too few, another type are errors. Only a field with a default may be absent, since a later version
may have added it. Long tuples and tables of known types become parts of their own, so that
documents stay small.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from dpdesk.core import charts, guarantee, plan, schema
from dpdesk.core.messages import msg
from dpdesk.project.file.parts import PartReader, PartWriter

# Plain values as JSON and back, exactly: what plans, parameters and results are made of.
#
# JSON alone knows no difference between a list and a tuple, a decimal and a float, and has no
# fractions, infinities or arrays. Whatever it lacks is written as an object with one key that
# starts with ``$``. The kinds that the project's own values use most (tuples, read-only tables) are
# written plainly. Arrays are not in the JSON: they lie in parts of their own and are named by their
# hash.


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


_PLAIN = (str, int, float, bool, type(None))
_TYPE, _LONG = "$type", "$long"
LONGEST = 1_000


@lru_cache(maxsize=1)
def _names() -> dict[str, Any]:
    """The names that annotations of stored classes use."""
    found: dict[str, Any] = {}
    for module in (plan, schema, guarantee, charts):
        found |= vars(module)
    return found


@lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, localns=_names())


def encode(value: Any, kind: Any, parts: PartWriter) -> object:
    """``value``, which is of the annotated type ``kind``, as JSON types.

    Raises TypeError for a value that is not of that type, or of a type that is never stored.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is object:
        return encode_free(value, parts)
    if origin in (Union, types.UnionType):
        return _encode_union(value, inner, parts)
    if origin is tuple:
        _demand(value, tuple)
        kinds = _each(inner, value)
        return _long([encode(item, t, parts) for item, t in zip(value, kinds, strict=True)], parts)
    if origin is frozenset:
        _demand(value, frozenset)
        return [encode(item, inner[0], parts) for item in sorted(value)]
    if origin is Mapping:
        _demand(value, Mapping)
        if inner[1] is object:
            return encode_free(value, parts)
        table = {_key(key): encode(item, inner[1], parts) for key, item in value.items()}
        return table if len(table) <= LONGEST else _long([list(p) for p in table.items()], parts)
    if origin is np.ndarray:
        _demand(value, np.ndarray)
        return parts.add_array(value)
    return _encode_single(value, kind, parts)


def _encode_single(value: Any, kind: Any, parts: PartWriter) -> object:
    if kind in _PLAIN:
        return _encode_plain(value, (kind,), parts)
    if kind is Path or kind is datetime:
        _demand(value, kind)
        return str(value) if kind is Path else value.isoformat()
    if _is_enum(kind):
        _demand(value, kind)
        return value.value
    if _is_stored_class(kind):
        return _encode_dataclass(value, kind, parts)
    raise TypeError(f"{kind} is not a type that a project keeps")


def _encode_dataclass(value: Any, kind: Any, parts: PartWriter) -> dict[str, object]:
    found: type = type(value)
    if found is not kind:
        raise TypeError(f"found {found.__name__}, expected {kind.__name__}")
    hints = _hints(kind)
    return {
        field.name: encode(getattr(value, field.name), hints[field.name], parts)
        for field in dataclasses.fields(kind)
        if not field.metadata.get(charts.FLEETING)
    }


def _encode_plain(value: Any, kinds: tuple[Any, ...], parts: PartWriter) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = str(value)  # a message is kept as the text that it is
    known = type(value) in kinds or (type(value) is int and float in kinds)
    if not known:
        raise TypeError(f"found {type(value).__name__}, expected {_names_of(kinds)}")
    return encode_free(value, parts)


def _encode_union(value: Any, kinds: tuple[Any, ...], parts: PartWriter) -> object:
    classes = [kind for kind in kinds if _is_stored_class(kind)]
    chosen = next((kind for kind in classes if type(value) is kind), None)
    if chosen is not None:
        plain = _encode_dataclass(value, chosen, parts)
        return {_TYPE: chosen.__name__, **plain} if len(classes) > 1 else plain
    return _encode_plain(value, tuple(kind for kind in kinds if kind in _PLAIN), parts)


def decode(raw: object, kind: Any, parts: PartReader) -> Any:
    """The value that :func:`encode` wrote. Raises :class:`CodecError`, ``PartError``."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is object:
        return decode_free(raw, parts)
    if origin in (Union, types.UnionType):
        return _decode_union(raw, inner, parts)
    if origin in (tuple, frozenset):
        return _decode_items(raw, origin, inner, parts)
    if origin is Mapping:
        if inner[1] is object:
            table = decode_free(raw, parts)
            if not isinstance(table, Mapping):
                raise CodecError("found a value, expected a table")
            return table
        return types.MappingProxyType(
            {key: decode(item, inner[1], parts) for key, item in _rows_of(raw, parts)}
        )
    if origin is np.ndarray:
        return parts.array(_typed(raw, str))
    return _decode_single(raw, kind, parts)


def _decode_items(raw: object, origin: Any, inner: tuple[Any, ...], parts: PartReader) -> Any:
    raw = _short(raw, parts)
    if not isinstance(raw, list):
        raise CodecError(msg("found {name}, expected a list", name=type(raw).__name__))
    if origin is frozenset:
        return frozenset(decode(item, inner[0], parts) for item in raw)
    kinds = _each(inner, raw)
    if len(kinds) != len(raw):
        raise CodecError(msg("found {raw} items, expected {kinds}", raw=len(raw), kinds=len(kinds)))
    return tuple(decode(item, one, parts) for item, one in zip(raw, kinds, strict=True))


def _decode_single(raw: object, kind: Any, parts: PartReader) -> Any:
    if kind in _PLAIN:
        return _decode_plain(raw, (kind,), parts)
    if kind is Path:
        return Path(_typed(raw, str))
    try:
        if kind is datetime:
            return datetime.fromisoformat(_typed(raw, str))
        if _is_enum(kind):
            return kind(raw)
    except ValueError as error:
        raise CodecError(
            msg("found a text that is not of type {name}", name=kind.__name__)
        ) from error
    if _is_stored_class(kind):
        return _decode_dataclass(_table(raw), kind, parts)
    raise CodecError(msg("{kind} is not a type that a project stores", kind=kind))


def _decode_plain(raw: object, kinds: tuple[Any, ...], parts: PartReader) -> object:
    value = decode_free(raw, parts) if isinstance(raw, dict) else raw
    if type(value) in kinds or (type(value) is int and float in kinds):
        return value
    raise CodecError(
        msg(
            "found {name}, expected {names_of}",
            name=type(value).__name__,
            names_of=_names_of(kinds),
        )
    )


def _decode_union(raw: object, kinds: tuple[Any, ...], parts: PartReader) -> Any:
    classes: dict[str, Any] = {kind.__name__: kind for kind in kinds if _is_stored_class(kind)}
    if isinstance(raw, dict) and _TYPE in raw:
        name = _typed(raw[_TYPE], str)
        if name not in classes:
            raise CodecError(
                msg(
                    "found the unknown type {name}, expected {names_of}",
                    name=name[:40],
                    names_of=_names_of(kinds),
                )
            )
        fields = {key: item for key, item in raw.items() if key != _TYPE}
        return _decode_dataclass(fields, classes[name], parts)
    if isinstance(raw, dict) and len(classes) == 1 and not any(key[:1] == "$" for key in raw):
        return _decode_dataclass(raw, next(iter(classes.values())), parts)
    return _decode_plain(raw, tuple(kind for kind in kinds if kind in _PLAIN), parts)


def _decode_dataclass(table: dict[str, object], kind: Any, parts: PartReader) -> Any:
    hints = _hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    unknown = [key for key in table if key not in fields]
    if unknown:
        raise CodecError(
            msg("{name} has no field {unknown}", name=kind.__name__, unknown=unknown[0][:40])
        )
    values = {}
    for name, field in fields.items():
        if name in table:
            values[name] = decode(table[name], hints[name], parts)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise CodecError(
                msg("{name} does not have the field {name2}", name=kind.__name__, name2=name)
            )
    return kind(**values)


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_stored_class(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _long(items: list[object], parts: PartWriter) -> object:
    return items if len(items) <= LONGEST else {_LONG: parts.add_items(items)}


def _short(raw: object, parts: PartReader) -> object:
    """A list that lies in a part of its own, else what is given."""
    if isinstance(raw, dict) and raw.keys() == {_LONG}:
        return parts.items(_typed(raw[_LONG], str))
    return raw


def _rows_of(raw: object, parts: PartReader) -> Iterator[tuple[str, object]]:
    found = _short(raw, parts)
    if not isinstance(found, list):
        yield from _table(found).items()
        return
    for pair in found:
        if not isinstance(pair, list) or len(pair) != 2:
            raise CodecError("found a table that is none")
        yield _typed(pair[0], str), pair[1]


def _each(inner: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """The type of each item of a tuple annotated with ``inner``."""
    if len(inner) == 2 and inner[1] is Ellipsis:
        return (inner[0],) * len(value)
    return inner


def _table(raw: object) -> dict[str, object]:
    if not isinstance(raw, dict):
        raise CodecError(msg("found {name}, expected a table", name=type(raw).__name__))
    return raw


def _typed(raw: object, kind: type) -> Any:
    if type(raw) is not kind:
        raise CodecError(
            msg("found {name}, expected {name2}", name=type(raw).__name__, name2=kind.__name__)
        )
    return raw


def _demand(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"found {type(value).__name__}, expected {kind.__name__}")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"found a key of {type(key).__name__}, expected a text")
    return key


def _names_of(kinds: tuple[Any, ...]) -> str:
    return " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
