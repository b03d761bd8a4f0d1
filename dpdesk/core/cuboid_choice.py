"""What a plan says of single cuboids, and how that changes: published, forbidden, weighted, exact.

The keys are those of a plan's ``[protection]``: ``publish``, ``forbid``, ``weights``, ``targets``,
``exact``.
A front end that lets people pick cuboids changes these keys and nothing else, so that a plan file
says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

from dpdesk.core.cube_parameters import ALL, CELLS, CUBOID, MAX_DIMENSIONS
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number, plain_number

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
                    "A weight is for a published table, and {name} is none.", name=self.name(cuboid)
                ),
                hint="Publish it first.",
            )
        if self.exact_above(cuboid) is not None:
            raise InputError(
                "cube.exact",
                msg(
                    "A weight is for a table with errors, and {name} is exact.",
                    name=self.name(cuboid),
                ),
                hint="Take its exactness back first.",
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
                hint="Take its exactness back first.",
            )

    def _check_cells(self, cuboid: int) -> None:
        if cuboid in self.cells:
            raise InputError(
                "cube.exact",
                msg(
                    "Cells of {name} are released exactly, so it is published.",
                    name=self.name(cuboid),
                ),
                hint="Take them out of the exact tables first.",
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
                hint=msg("Take back the exactness of {name} first.", name=self.name(above)),
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
