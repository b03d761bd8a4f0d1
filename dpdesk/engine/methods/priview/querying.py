"""Questions to released views: any marginal of theirs, with what is planned of its error.

Everything comes from the public part. A marginal that lies in no view is made from the views
(:mod:`.marginals`); its ± is that of the noise alone, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.cubes.lattice import mask_of, members
from dpdesk.engine.cubes.olap.cube import ReleasedCube, Vector, levels_of, variance_of
from dpdesk.engine.cubes.olap.grids import AxisGroups, Sums, needed, sum_variances, summed
from dpdesk.engine.views.choosing import PlannedNoise
from dpdesk.engine.views.settings import (
    MOST_OF_MARGINAL,
    Places,
    ViewSettings,
    settings_of,
)

if TYPE_CHECKING:
    from dpdesk.engine.views.marginals import AgreeingViews

Floats = NDArray[np.float64]
_MOST_TOGETHER = 16
_TOLD = 1e-6


@dataclass(frozen=True, eq=False)
class ReleasedViews(ReleasedCube):
    """What a manifest of views says; its ``published`` tables are all pairs of a view."""

    given: ViewSettings
    views: tuple[Places, ...]

    @property
    def published(self) -> tuple[int, ...]:
        """See :attr:`ReleasedCube.published`."""
        pairs = {mask_of(pair) for view in self.views for pair in combinations(view, 2)}
        return tuple(sorted(pairs | {mask_of(view) for view in self.views}))


def released_views(manifest: Manifest) -> ReleasedViews:
    """Read a manifest; a malformed one raises ValueError, TypeError, KeyError and such."""
    given, result = settings_of(manifest), manifest.result
    domain = Domain.from_json(result["domains"])
    if domain.dimensions != given.cube.dimensions:
        raise ValueError("the domains are not those of the dimensions")
    lines = [as_table(item) for item in as_list(result["views"])]
    views = tuple(
        tuple(sorted(domain.dimensions.index(str(name)) for name in as_list(line["dimensions"])))
        for line in lines
    )
    sources = tuple(mask_of(view) for view in views)
    variances = tuple(
        variance_of(given.cube, as_float(scale), 1.0, mask, domain.shape)
        for scale, mask in zip(as_list(result["scales"]), sources, strict=True)
    )
    files = {mask: str(line["file"]) for mask, line in zip(sources, lines, strict=True)}
    cells = {mask: as_float(line["variance"]) for mask, line in zip(sources, lines, strict=True)}
    rollups = as_table(result.get("rollups", {}))
    levels = tuple(
        levels_of(labels, rollups.get(name))
        for name, labels in zip(domain.dimensions, domain.categories, strict=True)
    )
    vectors = {COUNT: Vector(COUNT, 1.0, variances, files, cells)}
    return ReleasedViews(given.cube, domain, sources, vectors, (), levels, given, views)


class ViewReader:
    """A :class:`~dpdesk.engine.cubes.olap.grids.SumReader` of released views."""

    def __init__(self, content: ReleasedContent) -> None:
        self._content = content
        self.cube = released_views(content.manifest)

    @property
    def words(self) -> str:
        """See :class:`SumReader`."""
        return "The views agree; a table that lies in none of them is made from all of them."

    @cached_property
    def _noise(self) -> PlannedNoise:
        variances = self.cube.vectors[COUNT].variances
        return PlannedNoise.of(self.cube.views, self.cube.shape, variances)

    @cached_property
    def _agreed(self) -> AgreeingViews:
        from dpdesk.engine.views.marginals import AgreeingViews

        files = self.cube.vectors[COUNT].files.values()
        tables = (self._content.cuboid(file, CancelToken()).values for file in files)
        found = [np.asarray(values, dtype=np.float64) for values in tables]
        return AgreeingViews(self.cube.shape, dict(zip(self.cube.views, found, strict=True)))

    def sums(self, name: str, groups: Sequence[AxisGroups], token: CancelToken) -> Sums:
        """See :class:`SumReader`."""
        cube = self.cube
        mask = needed(groups)
        places = members(mask)
        cells = prod(cube.shape[i] for i in places)
        if cells > MOST_OF_MARGINAL or len(places) > _MOST_TOGETHER:
            raise RefusedError(
                "query.too-large",
                msg(
                    "The table of {n} columns has {cells:,} cells, expected at most {most:,} and "
                    "{together} columns.",
                    n=len(places),
                    cells=cells,
                    most=MOST_OF_MARGINAL,
                    together=_MOST_TOGETHER,
                ),
                hint="Tell fewer columns apart, or roll some up.",
            )
        made = self._agreed.marginal(places, token, entropy=cube.given.entropy)
        values = summed(made.values, mask, groups, token)
        variances = self._variances(places, groups)
        files = cube.vectors[COUNT].files
        if made.covered:
            smallest = min((m for m in files if not mask & ~m), key=lambda m: m.bit_count())
            return Sums(values, variances, (files[smallest],))
        return Sums(values, variances, tuple(files.values()), self._notes(places, made.gap))

    def _variances(self, places: Places, groups: Sequence[AxisGroups]) -> Floats:
        """Of noise alone, in the lattice of the dimensions asked for: others are summed up."""
        known = self._noise.known
        unknown = np.zeros(1 << len(places))
        for below in range(len(unknown)):
            own = known.get(mask_of(places[i] for i in members(below)))
            unknown[below] = 0.0 if own is None else 1 / own
        shape = [self.cube.shape[i] for i in places]
        found = sum_variances(unknown, shape, [groups[i].sizes for i in places])
        inner = [len(each.labels) if i in places else 1 for i, each in enumerate(groups)]
        outer = [len(each.labels) for each in groups]
        return np.array(np.broadcast_to(found.reshape(inner), outer))

    def _notes(self, places: Places, gap: float) -> tuple[str, ...]:
        names = " × ".join(self.cube.domain.dimensions[i] for i in places)
        notes = [
            msg(
                "No view has {names} together: how they go together is the most even way that the "
                "views allow. The ± is of noise alone; the error of that assumption is not in it, "
                "and cannot be known from the release.",
                names=names,
            )
        ]
        if gap > _TOLD:
            notes.append(
                msg(
                    "The views contradict each other on this table, as noise can make them: sums "
                    "of it differ from theirs by up to {gap:,.4g} people.",
                    gap=gap * self._agreed.total,
                )
            )
        return tuple(notes)
