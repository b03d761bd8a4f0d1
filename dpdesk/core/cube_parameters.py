"""Parameters of data cubes: which cuboids are published, what is measured, positive numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.parameters import (
    DecimalParameter,
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

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        return number_text(Fraction(value)) if isinstance(value, int | Fraction) else ""

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        end = "" if self.below is None else msg(" and below {below}", below=number_text(self.below))
        return msg("a number above 0{end}", end=end)


@dataclass(frozen=True)
class PartParameter(DecimalParameter):
    """A part of something, perhaps more than all of it: forms show and take it in percent.

    ``whole`` is the number by which a plan means all of it: 1, or 100 where plans write percent.
    """

    whole: int = 1

    def percent(self, number: Fraction) -> str:
        """A number of a plan as forms write it: ``12.5 %``."""
        return f"{number_text(number * 100 / self.whole)} %"


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


# What a plan says of single cuboids, and how that changes: published, forbidden, weighted, exact.
#
# The keys are those of a plan's ``[protection]``: ``publish``, ``forbid``, ``weights``,
# ``targets``, ``exact``. A front end that lets people pick cuboids changes these keys and nothing
# else, so that a plan file says the same.


KEYS = ("publish", "forbid", "weights", "targets", "exact")
MOST_LISTED = 5_000
"""A plan names at most this many tables one by one."""

_STEPS = (1, 2, 5)
_HEAVIEST, _LIGHTEST = Fraction(1_000), Fraction(1, 1_000)
_ONE = Fraction(1)


class CuboidStatus(Enum):
    """What a plan wants of a cuboid; a free one is not published, and may get noise."""

    PUBLISHED = "published"
    FREE = "free"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True)
class CuboidChoice:
    """The cuboids of a plan, as bit masks over ``dimensions`` (bit i: dimension i).

    All with at most ``most`` dimensions are published but the ``forbidden`` ones; where ``most`` is
    None, those that are ``listed``. The ``exact`` ones, which get no noise, are published too, and
    so are those of which ``cells`` names single exact cells, each by its categories.
    ``weights`` and ``targets`` hold what the plan says, no defaults.
    """

    dimensions: tuple[str, ...]
    most: int | None
    listed: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    weights: Mapping[int, Fraction] = field(default_factory=dict)
    targets: Mapping[int, Fraction] = field(default_factory=dict)
    exact: tuple[int, ...] = ()
    cells: Mapping[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    @classmethod
    def from_plain(cls, parameters: Mapping[str, object]) -> CuboidChoice:
        """Read the plain values of a plan.

        Raises ValueError, TypeError or KeyError for values that a check would refuse.
        """
        dimensions = tuple(_texts(parameters.get("dimensions") or ()))
        publish = parameters.get("publish")
        most: int | None = len(dimensions)
        listed: tuple[int, ...] = ()
        if isinstance(publish, Mapping):
            most = min(len(dimensions), int(str(publish[MAX_DIMENSIONS])))
        elif publish is not None and publish != ALL:
            most, listed = None, _masks(publish, dimensions)
        return cls(
            dimensions,
            most,
            listed,
            _masks(parameters.get("forbid") or (), dimensions),
            _numbers(parameters.get("weights"), "weight", dimensions),
            _numbers(parameters.get("targets"), "variance", dimensions),
            *_exact(_list(parameters.get("exact")), dimensions),
        )

    def standing(self, cuboid: int) -> CuboidStatus:
        """What the plan wants of a cuboid."""
        if cuboid in self.forbidden:
            return CuboidStatus.FORBIDDEN
        if cuboid in self.exact or cuboid in self.cells:
            return CuboidStatus.PUBLISHED
        return CuboidStatus.PUBLISHED if self._asked(cuboid) else CuboidStatus.FREE

    def weight(self, cuboid: int) -> Fraction:
        """How much its error counts, 1 where the plan says nothing."""
        return self.weights.get(cuboid, _ONE)

    @property
    def count(self) -> int:
        """How many cuboids are published."""
        more = sum(not self._asked(one) for one in {*self.exact, *self.cells})
        if self.most is None:
            return len(self.listed) + more
        every = sum(comb(len(self.dimensions), size) for size in range(self.most + 1))
        return every + more - sum(one.bit_count() <= self.most for one in self.forbidden)

    def name(self, cuboid: int) -> str:
        """A cuboid as people read it."""
        return " × ".join(self.names(cuboid)) or msg("grand total")

    def names(self, cuboid: int) -> list[str]:
        """The dimensions of a cuboid, in the order of the plan."""
        return [name for i, name in enumerate(self.dimensions) if cuboid >> i & 1]

    def exact_above(self, cuboid: int) -> int | None:
        """An exact cuboid that holds all of this one's dimensions, itself first; None: none."""
        if cuboid in self.exact:
            return cuboid
        return next((one for one in self.exact if not cuboid & ~one), None)

    # -- changes

    def required(self, cuboid: int) -> CuboidChoice:
        """The cuboid is published. Raises InputError where a plan would get too long."""
        allowed = replace(self, forbidden=tuple(one for one in self.forbidden if one != cuboid))
        if allowed.standing(cuboid) is CuboidStatus.PUBLISHED:
            return allowed
        return allowed._with_list([*allowed._all_listed(), cuboid])

    def released(self, cuboid: int) -> CuboidChoice:
        """The cuboid is neither published nor forbidden.

        Raises InputError for the last one, and for one that is released exactly.
        """
        self._check_exact(cuboid)
        self._check_cells(cuboid)
        allowed = replace(self, forbidden=tuple(one for one in self.forbidden if one != cuboid))
        if allowed.standing(cuboid) is not CuboidStatus.PUBLISHED:
            return allowed
        return allowed._with_list([one for one in allowed._all_listed() if one != cuboid])

    def toggled(self, cuboid: int) -> CuboidChoice:
        """Published, or no longer."""
        published = self.standing(cuboid) is CuboidStatus.PUBLISHED
        return self.released(cuboid) if published else self.required(cuboid)

    def avoided(self, cuboid: int) -> CuboidChoice:
        """The cuboid is forbidden, or no longer.

        Raises InputError for the last published one, for one with exact cells, and for one that is
        released exactly or follows from such a one.
        """
        if cuboid in self.forbidden:
            return replace(self, forbidden=tuple(one for one in self.forbidden if one != cuboid))
        self._check_exact(cuboid)
        self._check_cells(cuboid)
        self._check_following(cuboid)
        listed = tuple(one for one in self.listed if one != cuboid)
        made = replace(self, listed=listed, forbidden=(*self.forbidden, cuboid))
        return made._without_numbers()._checked()

    def weighed(self, cuboid: int, weight: Fraction) -> CuboidChoice:
        """The cuboid counts this much. Raises InputError for one that is not published."""
        if self.standing(cuboid) is not CuboidStatus.PUBLISHED:
            raise InputError(
                "cube.weight-unpublished",
                msg(
                    "A weight applies to a published table, and {name} is not published.",
                    name=self.name(cuboid),
                ),
                hint="Publish it first.",
            )
        if self.exact_above(cuboid) is not None:
            raise InputError(
                "cube.exact",
                msg(
                    "A weight applies to a table with noise, and {name} is exact.",
                    name=self.name(cuboid),
                ),
                hint="Stop releasing it exactly first.",
            )
        weights = {one: number for one, number in self.weights.items() if one != cuboid}
        if weight != _ONE:
            weights[cuboid] = weight
        return replace(self, weights=weights)

    def exactly(self, cuboid: int) -> CuboidChoice:
        """The cuboid is released exactly, or no longer; single exact cells of it go.

        Raises InputError for one that follows from another exact one, and where a forbidden one
        would be exact.
        """
        if cuboid in self.exact:
            kept = tuple(one for one in self.exact if one != cuboid)
            return replace(self, exact=kept)._without_numbers()._checked()
        self._check_following(cuboid)
        barred = next((one for one in self.forbidden if not one & ~cuboid), None)
        if barred is not None:
            why = "is forbidden" if barred == cuboid else "would follow from it and is forbidden"
            raise InputError(
                "cube.exact",
                msg(
                    "{name} cannot be exact: {name2} {why}.",
                    name=self.name(cuboid),
                    name2=self.name(barred),
                    why=why,
                ),
                hint="Allow that table again first.",
            )
        cells = {one: found for one, found in self.cells.items() if one != cuboid}
        return replace(self, exact=(*self.exact, cuboid), cells=cells)

    def changes(self, before: CuboidChoice) -> dict[str, object]:
        """Keys of a plan that differ from ``before``, with plain values; None: the default."""
        mine, other = self.plain(), before.plain()
        return {key: mine[key] for key in KEYS if mine[key] != other[key]}

    def plain(self) -> dict[str, object]:
        """The keys as a plan writes them."""
        publish: object = [self.names(one) for one in self.listed or (*self.exact, *self.cells)]
        if self.most is not None:
            whole = self.most == len(self.dimensions)
            publish = ALL if whole else {MAX_DIMENSIONS: self.most}
        return {
            "publish": publish,
            "forbid": [self.names(one) for one in self.forbidden] or None,
            "weights": self._plain_numbers(self.weights, "weight"),
            "targets": self._plain_numbers(self.targets, "variance"),
            "exact": self._plain_exact() or None,
        }

    # -- inside

    def _asked(self, cuboid: int) -> bool:
        """Whether ``publish`` names a cuboid."""
        return cuboid in self._listed if self.most is None else cuboid.bit_count() <= self.most

    def _check_exact(self, cuboid: int) -> None:
        if cuboid in self.exact:
            raise InputError(
                "cube.exact",
                msg("{name} is released exactly, so it is published.", name=self.name(cuboid)),
                hint="Stop releasing it exactly first.",
            )

    def _check_cells(self, cuboid: int) -> None:
        if cuboid in self.cells:
            raise InputError(
                "cube.exact",
                msg(
                    "Cells of {name} are released exactly, so it is published.",
                    name=self.name(cuboid),
                ),
                hint="Remove them from the exact tables first.",
            )

    def _check_following(self, cuboid: int) -> None:
        above = self.exact_above(cuboid)
        if above is not None and above != cuboid:
            raise InputError(
                "cube.exact",
                msg(
                    "{name} follows from {other}, which is released exactly, so it is exact as "
                    "well.",
                    name=self.name(cuboid),
                    other=self.name(above),
                ),
                hint=msg("Stop releasing {name} exactly first.", name=self.name(above)),
            )

    @cached_property
    def _listed(self) -> frozenset[int]:
        return frozenset(self.listed)

    def _all_listed(self) -> list[int]:
        """Every published cuboid one by one."""
        if self.most is None:
            return list(self.listed)
        if self.count > MOST_LISTED:
            raise InputError(
                "cube.too-many-listed",
                msg(
                    "The plan would have to name {count:,} tables one by one, expected at most "
                    "{most:,}.",
                    count=self.count - 1,
                    most=MOST_LISTED,
                ),
                hint="Publish tables with fewer dimensions first, or forbid this one.",
            )
        bits = [1 << place for place in range(len(self.dimensions))]
        every = (sum(some) for size in range(self.most + 1) for some in combinations(bits, size))
        return sorted(set(every).difference(self.forbidden))

    def _with_list(self, listed: Sequence[int]) -> CuboidChoice:
        """Publish these; where they are all up to some number of dimensions, a plan says so."""
        made = replace(self, most=None, listed=tuple(listed))
        largest = max((one.bit_count() for one in listed), default=0)
        short = replace(self, most=largest, listed=())
        if short.count == made.count and not any(
            one.bit_count() <= largest for one in self.forbidden
        ):
            made = short
        return made._without_numbers()._checked()

    def _without_numbers(self) -> CuboidChoice:
        """Weights and targets of what is published alone."""

        def kept(numbers: Mapping[int, Fraction]) -> dict[int, Fraction]:
            return {
                one: number
                for one, number in numbers.items()
                if self.standing(one) is CuboidStatus.PUBLISHED
            }

        return replace(self, weights=kept(self.weights), targets=kept(self.targets))

    def _checked(self) -> CuboidChoice:
        if self.count < 1:
            raise InputError(
                "cube.last-table",
                "This is the last table that is published, and a release needs one.",
                hint="Publish another one first.",
            )
        return self

    def _plain_exact(self) -> list[object]:
        single = [
            {CUBOID: self.names(one), CELLS: [list(cell) for cell in cells]}
            for one, cells in self.cells.items()
        ]
        return [*(self.names(one) for one in self.exact), *single]

    def _plain_numbers(self, numbers: Mapping[int, Fraction], key: str) -> object:
        found = [
            {"dimensions": self.names(one), key: plain_number(number)}
            for one, number in numbers.items()
        ]
        return found or None


def heavier(weight: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20 … above a weight, at most 1000."""
    return min((one for one in _ladder() if one > weight), default=max(weight, _HEAVIEST))


def lighter(weight: Fraction) -> Fraction:
    """The next of 1, 0.5, 0.2, 0.1 … below a weight, at least 0.001."""
    return max((one for one in _ladder() if one < weight), default=min(weight, _LIGHTEST))


def _ladder() -> list[Fraction]:
    steps = [Fraction(10) ** power * step for power in range(-3, 4) for step in _STEPS]
    return [one for one in steps if _LIGHTEST <= one <= _HEAVIEST]


def _texts(value: object) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise TypeError("no list of texts")
    return list(value)


def _masks(value: object, dimensions: tuple[str, ...]) -> tuple[int, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError("no list of tables")
    return tuple(dict.fromkeys(_mask(names, dimensions) for names in value))


def _mask(names: object, dimensions: tuple[str, ...]) -> int:
    return _union(1 << dimensions.index(name) for name in _texts(names))


def _union(bits: Iterable[int]) -> int:
    found = 0
    for bit in bits:
        found |= bit
    return found


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _exact(
    items: list[object], dimensions: tuple[str, ...]
) -> tuple[tuple[int, ...], dict[int, tuple[tuple[str, ...], ...]]]:
    """Whole cuboids, and single cells by cuboid, in the order of the dimensions."""
    cells: dict[int, tuple[tuple[str, ...], ...]] = {}
    for item in items:
        if isinstance(item, Mapping):
            names = _texts(item[CUBOID])
            order = sorted(names, key=dimensions.index)
            named = [dict(zip(names, _texts(cell), strict=True)) for cell in item[CELLS]]
            cells[_mask(names, dimensions)] = tuple(
                tuple(cell[name] for name in order) for cell in named
            )
    return _masks([one for one in items if not isinstance(one, Mapping)], dimensions), cells


def _numbers(value: object, key: str, dimensions: tuple[str, ...]) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for item in _list(value):
        if not isinstance(item, Mapping) or (number := exact_number(item[key])) is None:
            raise ValueError("no number for a table")
        found[_mask(item["dimensions"], dimensions)] = number
    return found
