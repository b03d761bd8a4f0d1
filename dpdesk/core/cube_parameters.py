"""Parameters of data cubes: which cuboids are published, what is measured, positive numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.parameters import (
    Nested,
    NestedParameter,
    Parameter,
    ParameterValue,
    StructuredParameter,
    TextListParameter,
    Texts,
    exact_number,
    plain_number,
)
from dpdesk.core.plain import freeze, number_text

ALL = "all"
MAX_DIMENSIONS, SIZE = "max_dimensions", "size"
CUBOID, CELLS = "cuboid", "cells"
COUNT, SUM, AVERAGE = "count", "sum", "average"
ACCURACY = "accuracy"
"""What the line in a chart stands for that is a wished error: not a key of a plan."""
_MOST_NAMED = 4
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MEASURE_KEYS = frozenset(("lower", "upper", "step"))


@dataclass(frozen=True)
class PositiveParameter(Parameter):
    """An exact number above 0, below ``below`` where that is given; None when not given."""

    default: Fraction | None = None
    suggested: Fraction | None = None
    below: Fraction | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; an empty text means none."""
        if isinstance(raw, str) and not raw.strip():
            return self.default
        number = exact_number(raw)
        if number is None or number <= 0 or (self.below is not None and number >= self.below):
            raise self.invalid(where, raw)
        return number

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return self.default

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return plain_number(value)

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        return number_text(Fraction(value)) if isinstance(value, int | Fraction) else ""

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        end = "" if self.below is None else msg(" and below {below}", below=number_text(self.below))
        return msg("a number above 0{end}", end=end)


@dataclass(frozen=True)
class PublishParameter(StructuredParameter):
    """Which cuboids: ``"all"``, a list of lists of dimensions, or ``{ max_dimensions = 3 }``."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if raw == ALL:
            return Nested(ALL)
        if isinstance(raw, Mapping) and set(raw) == {MAX_DIMENSIONS}:
            number = exact_number(raw[MAX_DIMENSIONS])
            if number is not None and number.denominator == 1 and number >= 0:
                return Nested(freeze({MAX_DIMENSIONS: int(number)}))
        if isinstance(raw, list | tuple) and raw and all(_is_texts(item) for item in raw):
            return Nested(freeze(raw))
        raise self.invalid(where, raw)

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return Nested(ALL)

    def as_text(self, value: ParameterValue) -> str:
        """In words, for people."""
        plain = self.as_plain(value)
        if isinstance(plain, Mapping):
            most = plain[MAX_DIMENSIONS]
            return counted("up to {n} dimension", "up to {n} dimensions", n=most)
        return _tables_text(plain) if isinstance(plain, list) else str(plain)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return '"all", a list such as [["age", "sex"], ["age"]], or { max_dimensions = 3 }'


@dataclass(frozen=True)
class MarginalsParameter(PublishParameter):
    """Which marginals: a list of lists of dimensions, or ``{ size = 4 }``; none when not given."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if isinstance(raw, Mapping) and set(raw) == {SIZE}:
            number = exact_number(raw[SIZE])
            if number is not None and number.denominator == 1 and number >= 1:
                return Nested(freeze({SIZE: int(number)}))
        if isinstance(raw, list | tuple) and raw:
            return super().parse(raw, where)
        raise self.invalid(where, raw)

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return None

    def as_text(self, value: ParameterValue) -> str:
        """In words, for people."""
        plain = self.as_plain(value)
        if isinstance(plain, Mapping):
            return msg("all of {n} dimensions", n=plain[SIZE])
        return super().as_text(value) if plain else ""

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return 'a list such as [["age", "sex"], ["age"]], or { size = 4 }'


@dataclass(frozen=True)
class CuboidsParameter(StructuredParameter):
    """Some cuboids: a list of lists of dimensions; None when not given."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, list | tuple) or not all(_is_texts(item) for item in raw):
            raise self.invalid(where, raw)
        return Nested(freeze(raw))

    def as_text(self, value: ParameterValue) -> str:
        """In words, for people."""
        plain = self.as_plain(value)
        return _tables_text(plain) if isinstance(plain, list) else ""

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return 'a list such as [["age", "sex"], ["age"]]'


@dataclass(frozen=True)
class ExactParameter(NestedParameter):
    """Tables without noise: lists of dimensions, or ``{ cuboid = [...], cells = [[...], ...] }``.

    The second form names single cells of a cuboid, each by its categories in the cuboid's order.
    """

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; an empty list is none at all."""
        if not isinstance(raw, list | tuple) or not all(_is_exact(item) for item in raw):
            raise self.invalid(where, raw)
        return Nested(freeze(raw)) if raw else None

    def as_text(self, value: ParameterValue) -> str:
        """In words, for people."""
        plain = self.as_plain(value)
        return _exact_text(plain) if isinstance(plain, list) else ""

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return (
            'a list such as [["sex", "region"], { cuboid = ["age"], cells = [["20-29"]] }], '
            "where [] is the grand total"
        )


@dataclass(frozen=True)
class HashesParameter(TextListParameter):
    """SHA-256 codes as 64 hexadecimal digits in small letters, each once."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; an empty list is none at all."""
        value = super().parse(raw, where)
        items = value.items if isinstance(value, Texts) else ()
        if any(_HASH.fullmatch(item) is None for item in items) or len(set(items)) < len(items):
            raise self.invalid(where, raw)
        return value if items else None

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a list of SHA-256 codes of 64 small hexadecimal digits, each once"


FURTHEST = Fraction(10) ** 30


def _is_usual(number: Fraction) -> bool:
    return 1 / FURTHEST <= number <= FURTHEST


@dataclass(frozen=True)
class CuboidNumbersParameter(StructuredParameter):
    """A positive number for some cuboids: a list of ``{ dimensions = ["age"], <number> = 2 }``.

    It is between ``FURTHEST`` and one over it, so that no sum or product of such numbers overflows.
    """

    number: str = "weight"

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, list | tuple) or not all(self._is_entry(item) for item in raw):
            raise self.invalid(where, raw)
        return Nested(freeze(raw))

    def _is_entry(self, item: object) -> bool:
        if not isinstance(item, Mapping) or set(item) != {"dimensions", self.number}:
            return False
        number = exact_number(item[self.number])
        return _is_texts(item["dimensions"]) and number is not None and _is_usual(number)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return msg(
            'a list such as [{{ dimensions = ["age", "sex"], {number} = 2 }}]', number=self.number
        )


@dataclass(frozen=True)
class MeasureParameter(StructuredParameter):
    """What is measured in each cell: ``"count"``, a clipped sum or average, or a list of those."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; bounds must be declared, and lower below upper."""
        many = isinstance(raw, list | tuple)
        items = list(raw) if isinstance(raw, list | tuple) else [raw]
        if not items or not all(self._is_measure(item) for item in items):
            raise self.invalid(where, raw)
        frozen = [freeze(item) for item in items]
        if any(frozen.count(item) > 1 for item in frozen):
            raise self.invalid(where, raw)
        return Nested(freeze(items) if many else frozen[0])

    @staticmethod
    def _is_measure(item: object) -> bool:
        if item == COUNT:
            return True
        if not isinstance(item, Mapping):
            return False
        kinds = set(item) - _MEASURE_KEYS
        if kinds not in ({SUM}, {AVERAGE}) or not isinstance(item[next(iter(kinds))], str):
            return False
        if any(isinstance(item.get(key), str) for key in ("lower", "upper", "step")):
            return False  # a quoted number is a slip
        lower, upper = exact_number(item.get("lower")), exact_number(item.get("upper"))
        step = exact_number(item.get("step", 1))
        return None not in (lower, upper, step) and _in_order(lower, upper, step)

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return Nested(COUNT)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return '"count", { sum = "income", lower = 0, upper = 200000 }, or a list of those'


def _in_order(lower: Fraction | None, upper: Fraction | None, step: Fraction | None) -> bool:
    return (
        lower is not None and upper is not None and step is not None and lower < upper and step > 0
    )


def _is_exact(item: object) -> bool:
    if not isinstance(item, Mapping):
        return _is_texts(item)
    names, cells = item.get(CUBOID), item.get(CELLS)
    return (
        set(item) == {CUBOID, CELLS}
        and isinstance(names, list | tuple)
        and isinstance(cells, list | tuple)
        and len(names) > 0 < len(cells)
        and _is_texts(names)
        and all(_is_texts(cell) and len(cell) == len(names) for cell in cells)
    )


def _tables_text(tables: list[object]) -> str:
    """Few tables by their names, many by their number."""
    if len(tables) > _MOST_NAMED:
        return msg("{n:,} tables", n=len(tables))
    named = (" × ".join(map(str, one)) if isinstance(one, list) else "" for one in tables)
    total = msg("grand total")
    return joined((msg("{name}", name=names) if names else total for names in named), "; ")


def _exact_text(items: list[object]) -> str:
    """Tables, and how many cells of others."""
    tables: list[object] = [item for item in items if isinstance(item, list)]
    parts = [_tables_text(tables)] if tables else []
    for item in items:
        if isinstance(item, Mapping):
            count = counted("{n:,} cell", "{n:,} cells", n=len(item[CELLS]))
            name = " × ".join(map(str, item[CUBOID]))
            parts.append(msg("{count} of {name}", count=count, name=name))
    return joined(parts, "; ")


def _is_texts(raw: object) -> bool:
    return isinstance(raw, list | tuple) and all(isinstance(item, str) for item in raw)
