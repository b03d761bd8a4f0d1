"""Whether tables with noise are nearer to their source than their stated noise allows.

The bounds are those of :mod:`dpdesk.verifiers.nearness`. Which noise of a cube shows as it was
drawn:

- Without consistency, all of it: a table is a noisy one, or the sum of the best noisy one, and
  single exact cells are no part of it. So it is, too, where a single noisy table was to agree with
  nothing but itself.
- After least squares, the residuals (what varies in all of some dimensions at once) that one noisy
  table alone knows, and no exact table does: nothing moves them. Of residuals that were measured
  by themselves, each one is its own.
- Where negative numbers become 0, all of that as long as every cell stays above 0; and where one
  table alone has noise, its cells are that noise, cut at 0.
- In whole numbers, base cells are off by less than 1 from all of that.

In all other cases (L1 and L∞ with several noisy tables, single exact cells after least squares,
numbers that became 0 in the least squares of several tables) nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import ORDERED, CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.cubes.claimed import Claimed, Names, float_of, names_of
from dpdesk.verifiers.declared import Column, counted_cells
from dpdesk.verifiers.nearness import (
    NEVER,
    Drawn,
    Floats,
    Part,
    chance_of_contrasts,
    chance_of_sum,
    chance_of_zero,
    likeliest_sum,
    log_chance,
    own_size,
)
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance

_LINEAR = ("none", "l2")
_MOST_DIMENSIONS, _MOST_TRIED, _MOST_TABLES, _ENOUGH = 12, 8, 40, 2000.0
"""Limits of what is looked at, whatever the noise is: in many tables some tell enough."""
_MOVED = 0.02
"""By how much of a deviation a cell may be off where least squares without negative numbers end a
ten-thousandth before the optimum: a hundredth of the length of what they took away.
"""


@dataclass(frozen=True)
class Counted:
    """The rows that count, and the columns of all dimensions in order."""

    columns: Sequence[Column]
    rows: FrequencySource = field(repr=False)


def too_quiet(
    claimed: Claimed,
    number: int,
    published: Mapping[str, CuboidTable],
    counted: Counted,
    token: CancelToken,
) -> str:
    """What says that the tables of a measured vector have less noise than stated, or empty.

    Raises Cancelled, and what a malformed manifest raises (TypeError, KeyError, ValueError).
    """
    seen = _Seen(claimed, number, published, counted, token)
    direct, parts = list(islice(seen.direct(), _MOST_TABLES)), list(seen.parts())
    sizes = [(each.noise.size, file) for file, each in direct]
    sizes += [(each.noise.size, file) for file, each in parts]
    chance = chance_of_sum([each for _, each in direct], gaussian=claimed.gaussian)
    known = [each for _, each in parts]
    if min(chance, log_chance(known), chance_of_contrasts(known)) < NEVER:
        return msg("{file} has less noise than is stated", file=max(sizes)[1])
    return ""


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A table that shows residuals as they were drawn, and how much no noise in it would tell."""

    worth: float
    names: Names
    likely: float
    own: NDArray[np.bool_]


@dataclass(frozen=True)
class _Seen:
    """What of the noise of a measured vector shows; of each table with its file."""

    claimed: Claimed
    number: int
    published: Mapping[str, CuboidTable]
    counted: Counted
    token: CancelToken

    def scale(self, place: int) -> float:
        """That of a noise source, in steps."""
        claimed = self.claimed
        scales = as_list(claimed.measures[self.number]["scales"])
        return float_of(scales[place]) / float(claimed.grid(self.number).step)

    def files(self) -> dict[Names, Mapping[str, object]]:
        """The tables of the vector with noise, by dimensions."""
        claimed, found = self.claimed, {}
        name = claimed.measures[self.number].get("measure")
        for item in claimed.cuboids:
            names = names_of(item["dimensions"], claimed.domains)
            if item.get("measure", name) == name and not claimed.gives(names):
                found[names] = item
        return found

    def noise(self, item: Mapping[str, object]) -> tuple[Floats, NDArray[np.int64]]:
        """Of a table in steps, and what is true."""
        claimed, grid = self.claimed, self.claimed.grid(self.number)
        names = names_of(item["dimensions"], claimed.domains)
        axes = [column for column in self.counted.columns if column.name in names]
        column = claimed.summed(self.number)
        summed = (column, grid.place) if column else None
        true = counted_cells(self.counted.rows, axes, self.token, summed)
        values = np.asarray(self.published[str(item["file"])].values, np.float64)
        return values.reshape(true.shape) / float(grid.step) - true, true

    @property
    def alone(self) -> bool:
        """Whether a single table has noise, and nothing else is known."""
        claimed = self.claimed
        return claimed.exact is None and not claimed.residuals and len(claimed.sources) == 1

    def direct(self) -> Iterator[tuple[str, Drawn]]:
        """Tables whose cells are noisy ones as they were drawn."""
        claimed, files = self.claimed, self.files()
        if claimed.plain_noise:
            for place, names in enumerate(claimed.sources):
                if names in files and self._best(names) == place:
                    yield self._drawn(files[names], place, cut=False)
        elif self.alone and claimed.sources[0] in files:
            yield self._drawn(files[claimed.sources[0]], 0, cut=claimed.nonnegative)

    def _drawn(self, item: Mapping[str, object], place: int, *, cut: bool) -> tuple[str, Drawn]:
        noise, true = self.noise(item)
        for at in _exact_places(item, self.counted.columns):
            noise[at] = np.nan
        known, scale = ~np.isnan(noise), self.scale(place)
        off = 0.0
        if cut:
            whole = 1 if self.claimed.integral else 0
            off = noise.size * (_MOVED * self._deviation(place) + whole)
        return str(item["file"]), Drawn(noise[known], scale, true[known] if cut else None, off)

    def _best(self, names: Names) -> int | None:
        """The noisy table of which a table is the sum; None where two are as good."""
        claimed, found = self.claimed, []
        variance = gaussian_variance if claimed.gaussian else laplace_variance
        for place, source in enumerate(claimed.sources):
            if names <= source:
                found.append((variance(self.scale(place)) * claimed.size(source - names), place))
        found.sort()
        if len(found) > 1 and found[1][0] <= found[0][0] * (1 + 1e-6):
            return None
        return found[0][1] if found else None

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Residuals as they were drawn, of each noisy table that shows some."""
        claimed, files = self.claimed, self.files()
        single = claimed.exact is not None and claimed.exact.cells
        if single or not (claimed.consistency in _LINEAR or self.alone):
            return
        if (claimed.nonnegative or claimed.integral) and not self._ends(files):
            return
        if claimed.residuals:
            yield from self._residuals(files)
            return
        found = [self._best_part(place, files) for place in range(len(claimed.sources))]
        known = sorted((each for each in found if each is not None), key=lambda each: -each.worth)
        worth = 0.0
        for each in known[:_MOST_TABLES]:
            if worth < _ENOUGH:
                worth += each.worth
                item = files[each.names]
                noise = self.noise(item)[0]
                off = sqrt(noise.size) if claimed.integral else 0.0
                own = None if each.own.all() else each.own
                yield str(item["file"]), Part(noise, each.likely, own, off)

    def _best_part(
        self, place: int, files: Mapping[Names, Mapping[str, object]]
    ) -> _Candidate | None:
        """The table by which most of what a noisy table alone knows shows."""
        self.token.check()
        claimed, found = self.claimed, []
        source = claimed.sources[place]
        tables = [names for names in files if names <= source and self._kept(names)]
        tables.sort(key=claimed.size, reverse=True)
        for names in tables[:_MOST_TRIED]:
            own = self._own(names, place)
            axes = [claimed.domains[name] for name in claimed.order if name in names]
            inner = claimed.size(source - names)
            likely = likeliest_sum(self.scale(place), inner, gaussian=claimed.gaussian)
            found.append(_Candidate(-own_size(axes, own) * log(likely), names, likely, own))
        best = max(found, key=lambda each: each.worth, default=None)
        return best if best is not None and best.worth > 0 else None

    def _kept(self, names: Names) -> bool:
        """Whether a table is looked at: in whole numbers, the base alone."""
        claimed = self.claimed
        whole = len(names) == len(claimed.order)
        return len(names) <= _MOST_DIMENSIONS and (whole or not claimed.integral)

    def _own(self, names: Names, place: int) -> NDArray[np.bool_]:
        """The residuals of a table that the noisy table at this place alone knows."""
        claimed = self.claimed
        order = [name for name in claimed.order if name in names]
        own = np.zeros((2,) * len(order), bool)
        if claimed.plain_noise:
            own[...] = self._best(names) == place
            return own
        own[...] = True
        known = {each & names for at, each in enumerate(claimed.sources) if at != place}
        known |= {each & names for each in (claimed.exact.everything if claimed.exact else ())}
        for part in known:
            own[tuple(slice(None) if name in part else 0 for name in order)] = False
        return own

    def _residuals(self, files: Mapping[Names, Mapping[str, object]]) -> Iterator[tuple[str, Part]]:
        """Residuals that were measured by themselves, times their cells."""
        claimed = self.claimed
        for place, names in enumerate(claimed.sources):
            if names in files and self._kept(names):
                noise, fine = self.noise(files[names])[0], claimed.size(names)
                own = np.zeros((2,) * noise.ndim, bool)
                own[(1,) * noise.ndim] = True
                off = sqrt(noise.size) * fine if claimed.integral else 0.0
                likely = chance_of_zero(self.scale(place) * fine, gaussian=claimed.gaussian)
                yield str(files[names]["file"]), Part(noise * fine, likely, own, off)

    def _ends(self, files: Mapping[Names, Mapping[str, object]]) -> bool:
        """Whether the last steps, no negative and only whole numbers, moved nothing by more than 1.

        Where no cell met the bound at 0, none was moved by it. One that met it may be off by what
        the search leaves, so all have to be above that.
        """
        claimed = self.claimed
        base = files.get(frozenset(claimed.order))
        if base is None or not claimed.nonnegative:
            return base is not None
        values = np.asarray(self.published[str(base["file"])].values, np.float64)
        many = len(claimed.sources)
        largest = max(self._deviation(place) for place in range(many))
        off = _MOVED * sqrt(values.size * many) * largest + (1 if claimed.integral else 0)
        return float(values.min()) > off

    def _deviation(self, place: int) -> float:
        """The standard deviation of noise, at most."""
        return self.scale(place) * (1 if self.claimed.gaussian else sqrt(2))


def _exact_places(
    item: Mapping[str, object], columns: Sequence[Column]
) -> Iterator[tuple[int, ...]]:
    """Where a table has exact cells."""
    named = {column.name: column for column in columns}
    order = [column.name for column in columns if column.name in as_list(item["dimensions"])]
    for cell in as_list(item.get("exact_cells") or []):
        texts = zip(order, as_list(cell), strict=True)
        yield tuple(named[name].categories.index(str(text)) for name, text in texts)


def quiet_edges(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    there: NDArray[np.bool_],
    *,
    gaussian: bool,
) -> str:
    """The same of the edges of a graph, of which nothing is exact; empty when all is well.

    ``there`` says from where to where an edge leads; of edges without direction, both ways.
    """
    result = as_table(manifest["result"])
    scale = float_of(as_list(result["scales"])[0])
    for item in map(as_table, as_list(result["cuboids"])):
        if "pairs" not in item:
            continue
        file, size = str(item["file"]), len(there)
        both = item["pairs"] == ORDERED
        places = ~np.eye(size, dtype=bool) if both else np.triu(np.ones((size, size), bool), 1)
        stated = np.asarray(published[file].values, np.float64).reshape(-1)
        drawn = Drawn(stated - there[places], scale)
        if chance_of_sum([drawn], gaussian=gaussian) < NEVER:
            return msg("{file} has less noise than is stated", file=file)
    return ""
