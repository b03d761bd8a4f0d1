"""Views and marginals with noise as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.asks import Ask, columns_to_publish
from dpdesk.core.capabilities import (
    Capabilities,
    ComparisonWords,
    Content,
    Protection,
    Spending,
    Use,
)
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import RefusedError
from dpdesk.core.export_formats import PLAIN, SYNTHETIC
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.release import Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.cubes.lattice import mask_of, members
from dpdesk.engine.cubes.olap.cube import ReleasedCube, Vector, levels_of, variance_of
from dpdesk.engine.cubes.olap.grids import AxisGroups, Sums, needed, sum_variances, summed
from dpdesk.engine.method import Exploration
from dpdesk.engine.private.method import (
    HIDES,
    STAYS_OPEN,
    Checking,
    Design,
    PrivateInput,
    PrivateMethod,
    Reading,
)
from dpdesk.engine.private.public_fields import CHECKED_BY, DESIGNED, GUARANTEED
from dpdesk.engine.querying import Questions
from dpdesk.engine.views.choosing import PlannedNoise
from dpdesk.engine.views.settings import (
    MOST_OF_MARGINAL,
    PARAMETERS,
    Places,
    ViewSettings,
    settings_of,
)
from dpdesk.engine.views.spread import noise_of

if TYPE_CHECKING:
    from dpdesk.core.frequency import RowSource
    from dpdesk.engine.cubes.olap.grids import SumReader
    from dpdesk.engine.noise.randomness import RandomSource
    from dpdesk.engine.querying import Comparison
    from dpdesk.engine.views.marginals import AgreeingViews, Marginal


_TABLES = tuple(
    f"result.{key}[].{field}"
    for key in ("views", "marginals")
    for field in ("dimensions[]", "cells", "file", "variance")
)
PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("dimensions[]", "levels.*", "domains.*[]", "origins.*", "outside.*", "view_size"),
        *("view_cells", "cover", "views.**", "weights.**", "marginals.**", "reconstruct"),
        *("epsilon", "rho", "delta", "noise", "neighbours", "rows_per_person"),
    ),
    *GUARANTEED,
    *(each for each in DESIGNED if "cuboids" not in each.path and ".exact" not in each.path),
    *fields_of(
        Tells.NOTHING,
        "Which tables there are and how much noise a cell has: chosen and computed from the plan "
        "before the data are read.",
        *_TABLES,
        "result.marginals[].covered",
    ),
    PublicField(
        "result.rollups.*[][]",
        Tells.NOTHING,
        "Groups of the declared categories at higher levels of declared hierarchies; hierarchies "
        "made from the data are refused.",
    ),
)
CARD = MethodCard(
    protects=HIDES,
    leaves=STAYS_OPEN,
    suits=(
        "Ten to two hundred columns, and no one knows yet which tables will be needed.",
        "Synthetic rows are wanted for trying out programs.",
    ),
    unfit=(
        "What matters is how three or more columns are related: only pairs are measured unless "
        "the plan says otherwise.",
    ),
    sources=(
        "Qardaji, Yang, Li, PriView: practical differentially private release of marginal "
        "contingency tables, SIGMOD 2014",
    ),
    corrections=(
        "Views of unequal size are made consistent by inverse variances; equal weights would "
        "be wrong for them.",
    ),
    readers=EVERYONE,
    attackers=ANYONE,
)


COMPARISON = ComparisonWords(
    "Which way releases the most exact marginals?",
    "Random marginals of the rows, from views, cubes and other ways with the same budget. Noise is "
    "drawn for the comparison alone: nothing is released, kept or spent, and the audit log records "
    "that the data were looked at. It takes seconds to minutes. Uniform tables and views without "
    "noise protect no one; they show which errors are of no use, and which no budget can lower.",
)


class PriView(PrivateMethod):
    """Tables of few dimensions each, from which marginals of any dimensions are made.

    Source: PriView slides; consistency by inverse variance, the closure of a marginal and all
    choices by categories are our own (resources/docs/views.md).
    """

    id: ClassVar[str] = "priview"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.TABLES,
        Protection.NOISE,
        Spending.PERSONS,
        folders=("views", "marginals"),
        exports=PLAIN | {SYNTHETIC},
        uses=frozenset({Use.ASKED, Use.BROWSED, Use.COMPARED}),
        comparison=COMPARISON,
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Differentially private marginals of many columns"
    summary: ClassVar[str] = (
        "Measure small tables in which every two columns occur together, with random noise "
        "scaled to what one person can change, and make tables of any columns from them."
    )
    promise: ClassVar[str] = (
        "One person more or less (or another in the same place, as the plan says) makes no "
        "output more likely by a factor of more than e^ε; with ρ, except with a chance of δ. "
        "Tables made from the release later cost nothing more."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (columns_to_publish("dimensions", "Dimensions"),)
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        **{key: claim for key, claim in CHECKED_BY.items() if key not in ("cuboids", "exact")},
        "views": "variance of each table",
        "marginals": "variance of each table",
    }

    def reading(self) -> Reading[Any]:
        """See :meth:`PrivateMethod.reading`."""
        from dpdesk.engine.cubes.settings import CubeSettings, check_columns
        from dpdesk.engine.views.settings import ViewSettings

        def read(parameters: Mapping[str, ParameterValue], where: str) -> CubeSettings:
            return ViewSettings.from_parameters(parameters, where).cube

        return Reading(read, check_columns, lambda given, cluster: given.charge(cluster, ""))

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.cubes.olap.grids import sum_questions

        return sum_questions(self.reader)

    def reader(self, content: ReleasedContent) -> SumReader:
        """See :class:`~dpdesk.engine.cubes.olap.grids.Browsable`."""
        return ViewReader(content)

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """See :meth:`PrivateMethod.design`; InputError ``views.*``, ``cube.*``."""
        from dpdesk.engine.views.design import design_views

        return design_views(given, token, report)

    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """See :meth:`PrivateMethod.explore`."""
        from dpdesk.engine.private.charts import DesignExploration
        from dpdesk.engine.views.design import design_views, planned_sentence

        return DesignExploration(given, token, "views.planned", design_views, planned_sentence)

    def compare(
        self,
        given: PrivateInput,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> tuple[Comparison, ...]:
        """See :meth:`ComparedMethod.compare`: views and other ways, on random marginals."""
        from dpdesk.engine.methods.priview.comparing import compared_views

        return compared_views(given, rows, randomness, token, report)

    def checking(self) -> Checking[Any]:
        """See :meth:`PrivateMethod.checking`."""
        from dpdesk.engine.views.settings import guarantee_again
        from dpdesk.verifiers.cubes.verification import declared_check
        from dpdesk.verifiers.views import as_cube, counted_check, verify_views

        return Checking(
            *(guarantee_again, verify_views),
            lambda manifest, given: declared_check(as_cube(manifest), given),
            counted_check,
        )


# Questions to released views: any marginal of theirs, with what is planned of its error.
#
# Everything comes from the public part. A marginal that lies in no view is made from the views
# (:mod:`~dpdesk.engine.views.marginals`); its ± is that of the noise alone
# (:mod:`~dpdesk.engine.views.spread`), and the answer says so.


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
        return "The views agree; a table that is in none of them is made from all of them."

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
                hint="Distinguish fewer columns, or roll some up.",
            )
        made = self._agreed.marginal(places, token, entropy=cube.given.entropy)
        # An axis for each column asked for alone: there are more columns than arrays have axes.
        own = [groups[i] for i in places]
        values = summed(made.values, (1 << len(places)) - 1, own, token)
        variances, known = self._variances(places, own), True
        if not made.covered and cube.given.entropy:
            variances, known = self._spread(made, own, variances)
        files = cube.vectors[COUNT].files
        if made.covered:
            smallest = min((m for m in files if not mask & ~m), key=lambda m: m.bit_count())
            return Sums(values, variances, (files[smallest],))
        notes = self._notes(places, made.gap, known=known)
        return Sums(values, variances, tuple(files.values()), notes)

    def _variances(self, places: Places, groups: Sequence[AxisGroups]) -> Floats:
        """Of noise alone, in the lattice of the dimensions asked for, whose groups these are."""
        known = self._noise.known
        unknown = np.zeros(1 << len(places))
        for below in range(len(unknown)):
            own = known.get(mask_of(places[i] for i in members(below)))
            unknown[below] = 0.0 if own is None else 1 / own
        shape = [self.cube.shape[i] for i in places]
        return sum_variances(unknown, shape, [each.sizes for each in groups])

    def _spread(
        self, made: Marginal, groups: Sequence[AxisGroups], planned: Floats
    ) -> tuple[Floats, bool]:
        """What noise does to a table of largest entropy: more to large cells than was planned.

        Never less than planned, for small cells may have been larger ones. False with the planned
        variances where the table is too large for it.
        """
        found = noise_of(made, self._noise, [each.inside for each in groups])
        return (planned, False) if found is None else (np.maximum(found, planned), True)

    def _notes(self, places: Places, gap: float, *, known: bool) -> tuple[str, ...]:
        names = " × ".join(self.cube.domain.dimensions[i] for i in places)
        notes = [
            msg(
                "No view has {names} together: they are assumed to go together as evenly as the "
                "views allow. The ± is that of the noise alone; the error of that assumption is "
                "not in it, and cannot be known from the release.",
                names=names,
            )
        ]
        if not known:
            notes.append(
                msg(
                    "The table is too large for the ± of each cell: that of an even table is "
                    "given, which is too small for large cells."
                )
            )
        if gap > _TOLD:
            notes.append(
                msg(
                    "The views contradict each other on this table, as noise can make them: sums "
                    "of it differ from theirs by up to {gap:,.4g} people.",
                    gap=gap * self._agreed.total,
                )
            )
        return tuple(notes)
