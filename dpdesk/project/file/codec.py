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
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from dpdesk.core import charts, plan, release, schema
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
    for module in (plan, schema, release, charts):
        found |= vars(module)
    return found


def encode(value: Any, kind: Any, parts: PartWriter) -> object:
    """``value``, which is of the annotated type ``kind``, as JSON types.

    Raises TypeError for a value that is not of that type, or of a type that is never stored.
    """
    return _codec(kind).encode(value, parts)


def decode(raw: object, kind: Any, parts: PartReader) -> Any:
    """The value that :func:`encode` wrote. Raises :class:`CodecError`, ``PartError``."""
    return _codec(kind).decode(raw, parts)


class _Codec(NamedTuple):
    """How values of one type become JSON types, and how they come back."""

    encode: Callable[[Any, PartWriter], object]
    decode: Callable[[Any, PartReader], Any]


@cache
def _codec(kind: Any) -> _Codec:
    """Annotations are taken apart once, not for each value."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is object:
        return _Codec(encode_free, decode_free)
    if origin in (Union, types.UnionType):
        return _of_union(inner)
    if origin in (tuple, frozenset):
        return _of_items(origin, inner)
    if origin is Mapping:
        return _of_table(inner[1])
    if origin is np.ndarray:
        return _Codec(
            lambda value, parts: parts.add_array(_demand(value, np.ndarray)),
            lambda raw, parts: parts.array(_typed(raw, str)),
        )
    if kind in _PLAIN:
        return _of_plain((kind,))
    if kind is Path or kind is datetime or (isinstance(kind, type) and issubclass(kind, Enum)):
        return _of_text(kind)
    if _is_stored_class(kind):
        return _of_class(kind)
    raise TypeError(f"{kind} is not a type that a project keeps")


def _of_plain(kinds: tuple[Any, ...]) -> _Codec:
    def fits(value: object) -> bool:
        return type(value) in kinds or (type(value) is int and float in kinds)

    def encoded(value: Any, parts: PartWriter) -> object:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, str):
            value = str(value)  # a message is kept as the text that it is
        if not fits(value):
            raise TypeError(f"found {type(value).__name__}, expected {_names_of(kinds)}")
        return encode_free(value, parts)

    def decoded(raw: object, parts: PartReader) -> object:
        value = decode_free(raw, parts) if isinstance(raw, dict) else raw
        if fits(value):
            return value
        name = type(value).__name__
        raise CodecError(
            msg("found {name}, expected {names_of}", name=name, names_of=_names_of(kinds))
        )

    return _Codec(encoded, decoded)


def _of_text(kind: Any) -> _Codec:
    """Paths, moments and enums: what is stored is a text, or the value of the enum."""

    def encoded(value: Any, parts: PartWriter) -> object:
        _demand(value, kind)
        if kind is Path:
            return str(value)
        return value.isoformat() if kind is datetime else value.value

    def decoded(raw: object, parts: PartReader) -> Any:
        if kind is Path:
            return Path(_typed(raw, str))
        try:
            return datetime.fromisoformat(_typed(raw, str)) if kind is datetime else kind(raw)
        except ValueError as error:
            if isinstance(error, CodecError):
                raise
            raise CodecError(
                msg("found a text that is not of type {name}", name=kind.__name__)
            ) from error

    return _Codec(encoded, decoded)


def _of_items(origin: Any, inner: tuple[Any, ...]) -> _Codec:
    """Sets, tuples of any length and of a fixed one; long ones are parts of their own."""
    one = _codec(inner[0])
    if origin is frozenset:
        return _Codec(
            lambda value, parts: [one.encode(v, parts) for v in sorted(_demand(value, frozenset))],
            lambda raw, parts: frozenset(one.decode(item, parts) for item in _listed(raw, parts)),
        )
    if inner[1:] == (Ellipsis,):
        return _Codec(
            lambda value, parts: _long(
                [one.encode(item, parts) for item in _demand(value, tuple)], parts
            ),
            lambda raw, parts: tuple(one.decode(item, parts) for item in _listed(raw, parts)),
        )
    each = tuple(map(_codec, inner))

    def decoded(raw: object, parts: PartReader) -> Any:
        found = _listed(raw, parts)
        if len(found) != len(each):
            raise CodecError(
                msg("found {raw} items, expected {kinds}", raw=len(found), kinds=len(each))
            )
        return tuple(kind.decode(item, parts) for item, kind in zip(found, each, strict=True))

    return _Codec(
        lambda value, parts: [
            kind.encode(v, parts) for v, kind in zip(_demand(value, tuple), each, strict=True)
        ],
        decoded,
    )


def _of_table(inner: Any) -> _Codec:
    """Tables with texts as keys; long ones are lists of pairs in parts of their own."""
    one = _codec(inner)

    def encoded(value: Any, parts: PartWriter) -> object:
        _demand(value, Mapping)
        if inner is object:
            return encode_free(value, parts)
        table = {_key(key): one.encode(item, parts) for key, item in value.items()}
        return table if len(table) <= LONGEST else _long([list(p) for p in table.items()], parts)

    def decoded(raw: object, parts: PartReader) -> Any:
        if inner is object:
            table = decode_free(raw, parts)
            if not isinstance(table, Mapping):
                raise CodecError("found a value, expected a table")
            return table
        return MappingProxyType({k: one.decode(item, parts) for k, item in _rows_of(raw, parts)})

    return _Codec(encoded, decoded)


def _of_union(kinds: tuple[Any, ...]) -> _Codec:
    """Of several classes the name is stored, too; all others of a union are plain values."""
    classes: dict[str, Any] = {kind.__name__: kind for kind in kinds if _is_stored_class(kind)}
    plain = _of_plain(tuple(kind for kind in kinds if kind in _PLAIN))

    def encoded(value: Any, parts: PartWriter) -> object:
        found: Any = type(value)
        if found not in classes.values():
            return plain.encode(value, parts)
        table = _codec(found).encode(value, parts)
        assert isinstance(table, dict)
        return {_TYPE: found.__name__, **table} if len(classes) > 1 else table

    def decoded(raw: object, parts: PartReader) -> Any:
        if isinstance(raw, dict) and _TYPE in raw:
            name = _typed(raw[_TYPE], str)
            if name not in classes:
                wanted = _names_of(kinds)
                raise CodecError(
                    msg(
                        "found the unknown type {name}, expected {names_of}",
                        name=name[:40],
                        names_of=wanted,
                    )
                )
            fields = {key: item for key, item in raw.items() if key != _TYPE}
            return _codec(classes[name]).decode(fields, parts)
        if isinstance(raw, dict) and len(classes) == 1 and not any(key[:1] == "$" for key in raw):
            return _codec(next(iter(classes.values()))).decode(raw, parts)
        return plain.decode(raw, parts)

    return _Codec(encoded, decoded)


def _of_class(kind: Any) -> _Codec:
    """Dataclasses; their fields are looked at when the first value comes, as types may recur."""

    @cache
    def codecs() -> dict[str, _Codec]:
        hints = get_type_hints(kind, localns=_names())
        return {field.name: _codec(hints[field.name]) for field in dataclasses.fields(kind)}

    kept = [f.name for f in dataclasses.fields(kind) if not f.metadata.get(charts.FLEETING)]
    missing = dataclasses.MISSING
    required = {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    }

    def encoded(value: Any, parts: PartWriter) -> object:
        if type(value) is not kind:
            raise TypeError(f"found {type(value).__name__}, expected {kind.__name__}")
        known = codecs()
        return {name: known[name].encode(getattr(value, name), parts) for name in kept}

    def decoded(raw: object, parts: PartReader) -> Any:
        table, known = _table(raw), codecs()
        unknown = [key for key in table if key not in known]
        if unknown:
            raise CodecError(
                msg("{name} has no field {unknown}", name=kind.__name__, unknown=unknown[0][:40])
            )
        values = {}
        for name, codec in known.items():
            if name in table:
                values[name] = codec.decode(table[name], parts)
            elif name in required:
                raise CodecError(
                    msg("{name} does not have the field {name2}", name=kind.__name__, name2=name)
                )
        return kind(**values)

    return _Codec(encoded, decoded)


def _is_stored_class(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _long(items: list[object], parts: PartWriter) -> object:
    return items if len(items) <= LONGEST else {_LONG: parts.add_items(items)}


def _short(raw: object, parts: PartReader) -> object:
    """A list that lies in a part of its own, else what is given."""
    if isinstance(raw, dict) and raw.keys() == {_LONG}:
        return parts.items(_typed(raw[_LONG], str))
    return raw


def _listed(raw: object, parts: PartReader) -> list[object]:
    found = _short(raw, parts)
    if not isinstance(found, list):
        raise CodecError(msg("found {name}, expected a list", name=type(found).__name__))
    return found


def _rows_of(raw: object, parts: PartReader) -> Iterator[tuple[str, object]]:
    found = _short(raw, parts)
    if not isinstance(found, list):
        yield from _table(found).items()
        return
    for pair in found:
        if not isinstance(pair, list) or len(pair) != 2:
            raise CodecError("found a table that is none")
        yield _typed(pair[0], str), pair[1]


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


def _demand(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"found {type(value).__name__}, expected {kind.__name__}")
    return value


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"found a key of {type(key).__name__}, expected a text")
    return key


def _names_of(kinds: tuple[Any, ...]) -> str:
    return " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
