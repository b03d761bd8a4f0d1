"""Charts as JSON values and back, so that a page can be drawn again from what was kept of it.

Reading is strict: an unknown chart, a key too many or too few, or a value of another type is a
:class:`ChartValueError`. Numbers that JSON does not have are written as texts: ``"nan"``,
``"inf"``, ``"-inf"``.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from dpdesk.core import charts
from dpdesk.core.charts import BarChart, Chart, ScatterChart
from dpdesk.core.messages import msg

_KINDS: dict[str, type] = {"bars": BarChart, "points": ScatterChart}
_KIND = "kind"
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class ChartValueError(ValueError):
    """What was kept is not a chart; the message says why, without the data."""


def charts_as_json(given: Sequence[Chart]) -> list[dict[str, object]]:
    """Charts as JSON values. TypeError for a kind of chart that no report shows."""
    return [_chart(one) for one in given]


def charts_from_json(raw: object) -> tuple[Chart, ...]:
    """What :func:`charts_as_json` wrote. Raises ChartValueError."""
    if not isinstance(raw, list):
        raise ChartValueError("expected a list of charts")
    return tuple(_read_chart(item) for item in raw)


def _chart(chart: Chart) -> dict[str, object]:
    kind = next((name for name, known in _KINDS.items() if type(chart) is known), None)
    if kind is None:
        raise TypeError(f"{type(chart).__name__} is not a chart of a report")
    return {_KIND: kind, **_fields(chart)}


def _fields(value: Any) -> dict[str, object]:
    return {name: _plain(getattr(value, name)) for name in _kept(type(value))}


def _kept(kind: Any) -> list[str]:
    fields = dataclasses.fields(kind)
    return [field.name for field in fields if not field.metadata.get(charts.FLEETING)]


def _plain(value: Any) -> object:
    if isinstance(value, np.ndarray):
        # Charts of all nodes hold ten thousands of numbers: only odd ones are looked at one by one.
        if value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.isfinite(value).all()):
            return value.tolist()
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value


def _read_chart(raw: object) -> Chart:
    if not isinstance(raw, Mapping) or raw.get(_KIND) not in _KINDS:
        raise ChartValueError("found a chart of an unknown kind")
    fields = {key: value for key, value in raw.items() if key != _KIND}
    found: Chart = _read_fields(fields, _KINDS[str(raw[_KIND])])
    return found


@lru_cache(maxsize=32)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns=vars(charts))


def _read_fields(raw: object, kind: type) -> Any:
    hints = _hints(kind)
    names = _kept(kind)
    if not isinstance(raw, Mapping) or set(raw) != set(names):
        raise ChartValueError(msg("found other fields than those of {name}", name=kind.__name__))
    return kind(**{name: _read(raw[name], hints[name]) for name in names})


def _read(raw: object, kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _read_union(raw, inner)
    if origin is np.ndarray:
        return _read_array(raw, kind)
    if origin in (tuple, frozenset):
        return _read_items(raw, origin, inner)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(raw)
        except ValueError as error:
            raise ChartValueError(msg("found no {name}", name=kind.__name__)) from error
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _read_fields(raw, kind)
    return _read_plain(raw, kind)


def _read_union(raw: object, kinds: tuple[Any, ...]) -> object:
    """One of some plain types; a text stays one where texts are among them."""
    if type(raw) in kinds or (str in kinds and isinstance(raw, str)):
        return raw
    if float in kinds:
        return _read_plain(raw, float)
    raise ChartValueError(msg("found {name}, expected another type", name=type(raw).__name__))


def _read_plain(raw: object, kind: Any) -> object:
    if kind is float and isinstance(raw, str) and raw in _ODD:
        return _ODD[raw]
    message = kind is str and isinstance(raw, str)
    if message or type(raw) is kind or (kind is float and type(raw) is int):
        return raw
    raise ChartValueError(
        msg("found {name}, expected {name2}", name=type(raw).__name__, name2=kind.__name__)
    )


def _read_items(raw: object, origin: Any, inner: tuple[Any, ...]) -> Any:
    if not isinstance(raw, list):
        raise ChartValueError(msg("found {name}, expected a list", name=type(raw).__name__))
    if origin is frozenset or inner[1:] == (Ellipsis,):
        return origin(_read(item, inner[0]) for item in raw)
    if len(raw) != len(inner):
        raise ChartValueError(
            msg("found {raw} items, expected {inner}", raw=len(raw), inner=len(inner))
        )
    return tuple(_read(item, one) for item, one in zip(raw, inner, strict=True))


def _read_array(raw: object, kind: Any) -> Any:
    number = np.float64 if "float64" in str(kind) else np.int64
    plain = float if number is np.float64 else int
    if not isinstance(raw, list):
        raise ChartValueError(msg("found {name}, expected a list", name=type(raw).__name__))
    return np.array([_read_plain(item, plain) for item in raw], number)
