"""Several releases of the same cube read as one: the on-line cube.

Releases with noise of their own are independent measurements of the same numbers. In the residual
basis each tells the S-residual with the covariance (1/W_S) * kron over S of (I - J/n_i), so the
best unbiased estimate weighs them by their W_S, and the W_S add up: the exact variance of any sum
follows as for one release (:mod:`.variances`). A release that was not made consistent gives each
residual from the published table that knows it best. Releases whose tables were changed by a step
that is not linear (no negative cells, whole numbers, L1, L-infinity) are not combined.
Source: data cubes paper, section 7.4; the combination is our own (resources/docs/olap.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.release import ReleasedContent
from dpdesk.engine.cubes.lattice import cells, magnification, mask_of, members
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import AxisGroups, OneRelease, Sums, needed, sum_variances
from dpdesk.engine.private.kinds import Noise

Floats = NDArray[np.float64]
_LINEAR = ("l2", "none")


@dataclass(frozen=True, eq=False)
class _Part:
    """One release: ``places`` are its dimensions among those of all."""

    cube: ReleasedCube
    content: ReleasedContent
    places: tuple[int, ...]
    known: Mapping[str, Floats] = field(repr=False)

    def own(self, mask: int) -> int | None:
        """A cuboid of all as one of this release; None when it lacks a dimension."""
        wanted = members(mask)
        if any(place not in self.places for place in wanted):
            return None
        return mask_of(self.places.index(place) for place in wanted)

    def information(self, name: str, mask: int) -> float:
        """W of a residual, infinite when it is exact, 0 when the release does not know it."""
        own = self.own(mask)
        return 0.0 if own is None or name not in self.known else float(self.known[name][own])


@dataclass(frozen=True, eq=False)
class CombinedReleases:
    """A :class:`~dpdesk.engine.cubes.olap.grids.SumReader` of several; see :func:`combine`."""

    cube: ReleasedCube
    parts: tuple[_Part, ...]

    @property
    def words(self) -> str:
        """See :class:`SumReader`."""
        return msg(
            "Combined from {n} releases, each weighted by its accuracy; their noise is "
            "independent.",
            n=len(self.parts),
        )

    def unknown(self, name: str, mask: int) -> Floats:
        """1/W of every residual below ``mask``, 0 if exact, infinite if not known.

        Shape (2^k,), bit i of a place standing for the i-th of the k dimensions of ``mask``: of a
        cube with very many dimensions only those that are asked for take room.
        """
        places = members(mask)
        found = np.full(1 << len(places), np.inf)
        for small in range(len(found)):
            each = mask_of(place for i, place in enumerate(places) if small >> i & 1)
            total = sum(part.information(name, each) for part in self.parts)
            found[small] = 1 / total if total else np.inf
        return found

    def answering(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Of each release that has these dimensions together the smallest such table."""
        found: list[tuple[str, ...]] = []
        for part in self.parts:
            domain, shape = part.cube.domain, part.cube.shape
            if set(names) <= set(domain.dimensions):
                own = mask_of(domain.dimensions.index(name) for name in names)
                vector = next(iter(part.cube.vectors.values()))
                masks = [mask for mask in vector.files if not own & ~mask]
                best = min(masks, key=lambda each: (cells(each, shape), each), default=None)
                found += [] if best is None else [part.cube.names(best)]
        return tuple(found)

    def sums(self, name: str, groups: Sequence[AxisGroups], token: CancelToken) -> Sums:
        """See :class:`SumReader`."""
        mask = needed(groups)
        unknown = self.unknown(name, mask)
        if np.isinf(unknown).any():
            raise _untold(self.cube, mask)
        values: Floats = np.zeros([len(each.labels) for each in groups])
        files: list[str] = []
        for each in below(mask):
            token.check()
            residual, read = self._residual(name, each, token)
            values = values + _spread(residual, each, mask, groups, self.cube.shape)
            files += read
        asked = members(mask)
        shape, sizes = [self.cube.shape[i] for i in asked], [groups[i].sizes for i in asked]
        wide = [len(each.labels) if mask >> i & 1 else 1 for i, each in enumerate(groups)]
        found = sum_variances(unknown, shape, sizes).reshape(wide)
        variances = np.array(np.broadcast_to(found, values.shape))
        return Sums(values, variances, tuple(dict.fromkeys(files)))

    def _residual(self, name: str, mask: int, token: CancelToken) -> tuple[Floats, list[str]]:
        """The weighed mean of a residual; from the exact ones alone where there are such."""
        told = [(part, part.information(name, mask)) for part in self.parts]
        exact = [(part, 1.0) for part, weight in told if np.isinf(weight)]
        weighed = exact or [(part, weight) for part, weight in told if weight > 0]
        shape = [self.cube.shape[i] for i in members(mask)]
        total: Floats = np.zeros(shape)
        files: list[str] = []
        for part, weight in weighed:
            own = part.own(mask)
            if own is None:
                raise ValueError("a release without the dimension cannot weigh")
            table, file = _table(part, name, own, token)
            total = total + weight * _residual_of(table)
            files.append(file)
        return total / max(sum(weight for _, weight in weighed), np.finfo(float).tiny), files


def combine(releases: Sequence[tuple[ReleasedCube, ReleasedContent]]) -> CombinedReleases:
    """Read several releases as one; each must be of the same data, with noise of its own.

    Raises InputError ``query.combine`` when categories or measures do not fit, or when one cannot
    be combined at all.
    """
    for cube, _ in releases:
        _check_linear(cube)
    domain, levels = _domain([cube for cube, _ in releases])
    first = releases[0][0]
    _check_measures([cube for cube, _ in releases])
    parts = tuple(
        _Part(
            cube,
            content,
            tuple(domain.dimensions.index(name) for name in cube.domain.dimensions),
            {name: _information(cube, name) for name in cube.vectors},
        )
        for cube, content in releases
    )
    exact = tuple(
        mask_of(part.places[i] for i in members(mask)) for part in parts for mask in part.cube.exact
    )
    laplace = any(cube.settings.noise is Noise.LAPLACE for cube, _ in releases)
    settings = replace(
        first.settings,
        dimensions=domain.dimensions,
        noise=Noise.LAPLACE if laplace else Noise.GAUSSIAN,
        consistency="l2",
        exact=exact,
    )
    whole = ReleasedCube(settings, domain, (), first.vectors, exact, levels)
    return CombinedReleases(whole, parts)


def _information(cube: ReleasedCube, name: str) -> Floats:
    """W of every residual that the published tables of a release tell, shape (2^d,)."""
    vector = cube.vectors[name]
    told = np.zeros(1 << len(cube.shape))
    if cube.consistent:
        with np.errstate(divide="ignore"):
            known = 1 / cube.unknown(vector)
        for mask in vector.files:
            inside = below(mask)
            told[inside] = known[inside]
        return told
    for mask, variance in vector.cells.items():
        for each in below(mask):
            here = variance * magnification(each, mask, cube.shape)
            told[each] = max(told[each], 1 / here if here else np.inf)
    return told


def _table(part: _Part, name: str, own: int, token: CancelToken) -> tuple[Floats, str]:
    """A cuboid of a release, from the table that knows it best; axes ascending in the whole."""
    cube, vector = part.cube, part.cube.vectors[name]
    found = [mask for mask in vector.files if not own & ~mask]
    if cube.consistent:
        mask = min(found, key=lambda each: cells(each, cube.shape))
    else:
        mask = min(
            found, key=lambda each: vector.cells[each] * magnification(own, each, cube.shape)
        )
    values = np.asarray(part.content.cuboid(vector.files[mask], token).values, dtype=np.float64)
    gone = tuple(axis for axis, i in enumerate(members(mask)) if not own >> i & 1)
    summed = np.asarray(values.sum(axis=gone))
    order = np.argsort([part.places[i] for i in members(own)])
    return summed.transpose([int(axis) for axis in order]), vector.files[mask]


def _residual_of(table: Floats) -> Floats:
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def _spread(
    residual: Floats, own: int, mask: int, groups: Sequence[AxisGroups], shape: Sequence[int]
) -> Floats:
    """What a residual adds to each sum: its own sum over the groups, shared out elsewhere."""
    found = residual
    for axis, place in enumerate(members(own)):
        inside = groups[place].inside.astype(np.float64)
        found = np.moveaxis(np.tensordot(inside, found, axes=(1, axis)), 0, axis)
    inner = [len(each.labels) if own >> i & 1 else 1 for i, each in enumerate(groups)]
    found = found.reshape(inner)
    for place in members(mask & ~own):
        share = groups[place].sizes / shape[place]
        found = found * share.reshape([-1 if i == place else 1 for i in range(len(groups))])
    return np.array(np.broadcast_to(found, [len(each.labels) for each in groups]))


def below(mask: int) -> list[int]:
    """A cuboid and all cuboids that can be summed up from it."""
    places = members(mask)
    return [
        mask_of(chosen) for size in range(len(places) + 1) for chosen in combinations(places, size)
    ]


def _check_linear(cube: ReleasedCube) -> None:
    settings = cube.settings
    if cube.pins:
        raise InputError(
            "query.combine",
            "A release with single exact cells cannot be combined with others.",
            hint="Query it alone.",
        )
    if settings.nonnegative or settings.integral or settings.consistency not in _LINEAR:
        raise InputError(
            "query.combine",
            "A release whose tables were cleaned (no negative or only whole numbers, or made to "
            "agree by l1 or linf) cannot be combined with others.",
            hint="Query it alone.",
        )


def _domain(
    cubes: Sequence[ReleasedCube],
) -> tuple[Domain, tuple[tuple[tuple[str, ...], ...], ...]]:
    """All dimensions, in the order in which they come first; each with one list of categories."""
    known: dict[str, tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]] = {}
    for cube in cubes:
        pairs = zip(cube.domain.dimensions, cube.domain.categories, cube.levels, strict=True)
        for name, categories, levels in pairs:
            if known.setdefault(name, (categories, levels))[0] != categories:
                raise InputError(
                    "query.combine",
                    msg(
                        "The releases have other categories of {name}, or in another order.",
                        name=quoted(name),
                    ),
                )
    domain = Domain(tuple(known), tuple(categories for categories, _ in known.values()))
    return domain, tuple(levels for _, levels in known.values())


def _check_measures(cubes: Sequence[ReleasedCube]) -> None:
    for cube in cubes[1:]:
        if cube.settings.measures != cubes[0].settings.measures:
            raise InputError("query.combine", "The releases measure different things.")


def _untold(cube: ReleasedCube, mask: int) -> RefusedError:
    names = " × ".join(cube.names(mask))
    return RefusedError(
        "query.refused",
        msg("No release has {names} together, so they cannot answer.", names=names),
        hint="Leave out a column or a condition, or buy that table with `dpdesk buy`.",
    )


def reader_of(
    releases: Sequence[tuple[ReleasedCube, ReleasedContent]],
) -> OneRelease | CombinedReleases:
    """One release as it is, several combined."""
    return OneRelease(*releases[0]) if len(releases) == 1 else combine(releases)
