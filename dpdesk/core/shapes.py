"""What a JSON value must be where something is read from it.

A table whose keys are known is a frozen dataclass below :class:`Shape`, read as a whole by
:meth:`Shape.from_json` with a sentence for each field that is wrong. What is read from values of
other forms, piece by piece, raises TypeError.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpdesk.core.messages import msg
from dpdesk.core.plain import show

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails


# Reading JSON that anyone may have written.


def read_json(text: str | bytes | bytearray, **hooks: Any) -> Any:
    """The value of a JSON text; ``hooks`` are those of ``json.loads``.

    Raises ValueError for whatever is not JSON, a text that is nested too deeply to be read among
    it: ``json.loads`` alone ends with a RecursionError there, which callers forget.
    """
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        raise ValueError("nested too deeply") from None


_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a table",
    "mapping_type": "a table",
    "dataclass_type": "a table",
    "tuple_type": "a list",
}
_NUMBERS = ("int", "float")


class ShapeError(ValueError):
    """A table is not of its shape; ``faults`` says of each wrong field where and what it is."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(faults[0])
        self.faults = faults


class Shape:
    """Base of frozen dataclasses that stand for JSON tables with known keys.

    Values must be of their very type, and keys that the class does not have are faults. A field
    that is None is absent in JSON.
    """

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"strict": True, "extra": "forbid"}

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Self:
        """The value of a table that holds nothing but JSON types. Raises ShapeError."""
        from pydantic import ValidationError

        try:
            found: Self = cls._adapter().validate_json(json.dumps(raw, sort_keys=True))
        except ValidationError as error:
            details = error.errors(include_url=False)
            raise ShapeError(tuple(dict.fromkeys(map(_fault, details)))) from error
        return found

    @classmethod
    def make_ready(cls) -> None:
        """Load what reading takes, so that the first reading need not wait for it."""
        cls._adapter()

    @classmethod
    @cache
    def _adapter(cls) -> TypeAdapter[Any]:
        # Takes a tenth of a second to load, so it is loaded by those alone who read releases.
        from pydantic import TypeAdapter

        return TypeAdapter(cls)

    def as_json(self) -> dict[str, object]:
        """The table again: with the keys that were there, and their values."""
        given = ((one.name, getattr(self, one.name)) for one in fields(self))  # type: ignore[arg-type]
        return {name: _as_json(value) for name, value in given if value is not None}


def _as_json(value: object) -> object:
    if isinstance(value, Shape):
        return value.as_json()
    if isinstance(value, Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return value


def _fault(error: ErrorDetails) -> str:
    """One wrong field: where, what was found, what is expected."""
    kind, place = error["type"], error["loc"]
    if place and place[-1] in _NUMBERS and kind in ("int_type", "float_type", "int_from_float"):
        place, kind = place[:-1], "float_type"
    field = ", ".join(str(one + 1) if isinstance(one, int) else one[:60] for one in place)
    if kind == "missing":
        return msg("`{field}` is missing", field=field)
    if kind == "unexpected_keyword_argument":
        return msg("`{field}` is not expected there", field=field)
    expected = _EXPECTED.get(kind)
    if expected is None:
        return msg("`{field}` cannot be read", field=field)
    found = show(error["input"])
    return msg("`{field}` is {found}, expected {what}", field=field, found=found, what=expected)


def as_table(value: object) -> Mapping[str, object]:
    """The value, which must be a table."""
    if not isinstance(value, Mapping):
        raise TypeError("expected a table")
    return value


def as_list(value: object) -> list[object]:
    """The items of the value, which must be a list."""
    if not isinstance(value, list | tuple):
        raise TypeError("expected a list")
    return list(value)


def as_float(value: object) -> float:
    """The value, which must be a number."""
    if not isinstance(value, int | float):
        raise TypeError("expected a number")
    return float(value)
