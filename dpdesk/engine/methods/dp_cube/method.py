"""Differentially private data cubes as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpdesk.core.asks import Ask, columns_to_publish
from dpdesk.core.capabilities import Capabilities, Content, Protection, Spending, Use
from dpdesk.core.export_formats import OF_CUBES
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Condition, Parameter
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.cubes.parameters import PARAMETERS
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

if TYPE_CHECKING:
    from dpdesk.core.release import ReleasedContent
    from dpdesk.engine.cubes.olap.grids import SumReader


# What a data cube with noise may show; see :mod:`dpdesk.engine.private.public_fields`.


PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("dimensions[]", "levels.*", "domains.*[]", "origins.*", "outside.*", "counted_by[]"),
        *("publish.**", "forbid.**", "exact.**", "measure.**", "weights.**", "targets.**"),
        *("planner", "theta", "objective", "basis", "epsilon", "rho", "delta", "noise"),
        *("neighbours", "consistency", "nonnegative", "integral", "rows_per_person", "labels"),
    ),
    PublicField(
        "parameters.follows[]",
        Tells.NOTHING,
        "SHA-256 codes of manifests of earlier releases that this one is to be combined with; they "
        "are public themselves.",
    ),
    *GUARANTEED,
    *DESIGNED,
    *fields_of(
        Tells.NOTHING,
        "How the minimal change was found: by formula, by counting, or by which program.",
        "result.exact.total_fixed",
        "result.exact.known_by",
        "result.exact.tool",
    ),
    *fields_of(
        Tells.NOTHING,
        "The same figures for each measure, in its own unit.",
        "result.measures[].measure",
        "result.measures[].sensitivity",
        "result.measures[].scales[]",
        "result.measures[].max_variance",
        "result.cuboids[].measure",
    ),
    PublicField(
        "result.rollups.*[][]",
        Tells.NOTHING,
        "Groups of the declared categories at higher levels of declared hierarchies; hierarchies "
        "made from the data are refused.",
    ),
    *fields_of(
        Tells.NOTHING,
        "Declared categories of the columns that decide which rows count; how many rows did not "
        "count stays inside.",
        "result.counted_by.domains[].dimension",
        "result.counted_by.domains[].categories[]",
        "result.counted_by.outside.*",
    ),
)
CARD = MethodCard(
    protects=HIDES,
    leaves=(
        *STAYS_OPEN,
        "Tables that are released exactly next to the noisy ones: they have no guarantee.",
    ),
    suits=(
        "Tables of counts, sums or averages by two to about eight columns, all agreeing with "
        "each other.",
        "Several releases about the same people are planned, and what they lose must add up "
        "to a known sum.",
    ),
    unfit=("Exact numbers are required by law, or each cell holds only a handful of people.",),
    sources=(
        "Ding, Winslett, Han, Li, Differentially private data cubes: optimizing noise sources "
        "and consistency, SIGMOD 2011",
        "Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020",
    ),
    corrections=(
        "The paper takes the range of the values as the sensitivity of a sum; where a person "
        "is added or removed it is the largest absolute bound, and twice that where a person "
        "is replaced.",
        "For some exact tables the published minimal changes are too small; those used are "
        "enumerated or proven.",
    ),
    readers=EVERYONE,
    attackers=ANYONE,
)


class DpCube(PrivateMethod):
    """Tables over all combinations of some dimensions, with integer noise from an exact sampler.

    Source: data cubes paper (K_all, K_base, BMax, PMost); planners by the error after consistency
    and the consistency itself are our own (resources/docs/cubes.md).
    """

    id: ClassVar[str] = "dp-cube"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.TABLES,
        Protection.NOISE,
        Spending.PERSONS,
        folders=("cuboids",),
        exports=OF_CUBES,
        uses=frozenset({Use.ASKED, Use.BROWSED, Use.BOUGHT}),
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Differentially private tables"
    summary: ClassVar[str] = (
        "Release tables of counts or sums over chosen dimensions, with random noise scaled to "
        "what one person can change, and make the tables agree with each other."
    )
    promise: ClassVar[str] = (
        "One person more or less (or another in the same place, as the plan says) makes no "
        "output more likely by a factor of more than e^ε; with ρ, except with a chance of δ. "
        "Alongside exact tables, it is a minimal change that is covered, and the exact tables "
        "are not."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (
        columns_to_publish("dimensions", "Dimensions"),
        Ask(
            ("theta",),
            "State which error counts as precise.",
            applies=Condition("planner", ("pmost",)),
        ),
    )
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = CHECKED_BY

    def reading(self) -> Reading[Any]:
        """See :meth:`PrivateMethod.reading`."""
        from dpdesk.engine.cubes.exact.words import price_of
        from dpdesk.engine.cubes.settings import CubeSettings, check_columns

        return Reading(CubeSettings.from_parameters, check_columns, price_of)

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.cubes.olap.grids import sum_questions

        return sum_questions(self.reader)

    def reader(self, content: ReleasedContent) -> SumReader:
        """See :class:`~dpdesk.engine.cubes.olap.grids.Browsable`."""
        from dpdesk.engine.cubes.olap.cube import ReleasedCube
        from dpdesk.engine.cubes.olap.grids import OneRelease

        return OneRelease(ReleasedCube.from_manifest(content.manifest), content)

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """See :meth:`PrivateMethod.design`; InputError ``cube.*``."""
        from dpdesk.engine.methods.dp_cube.design import design_cube

        report(StepStarted("Plan the noise", 1, 1))
        return design_cube(given, token, report)

    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """See :meth:`PrivateMethod.explore`."""
        from dpdesk.engine.methods.dp_cube.exploration import CubeExploration

        return CubeExploration(given, token)

    def checking(self) -> Checking[Any]:
        """See :meth:`PrivateMethod.checking`."""
        from dpdesk.engine.cubes.guarantee import guarantee_again
        from dpdesk.verifiers.cubes.verification import counted_check, declared_check, verify_cube

        return Checking(guarantee_again, verify_cube, declared_check, counted_check)


# Making the compiled parts of cubes ready before somebody waits for them.


def warm_kernels() -> None:
    """Plan a tiny cube and draw a few values that nobody sees, so that all is compiled."""
    from dpdesk.core.jobs import CancelToken, silent
    from dpdesk.engine.cubes.planners import plan_bmax
    from dpdesk.engine.noise.gaussian import DiscreteGaussian
    from dpdesk.engine.noise.laplace import DiscreteLaplace
    from dpdesk.engine.noise.randomness import SystemRandomness
    from dpdesk.engine.private.kinds import Noise

    token, randomness = CancelToken(), SystemRandomness()
    plan_bmax((2, 2), (0, 1, 2, 3), Noise.LAPLACE, token, silent)
    for scale in (Fraction(3), Fraction(1 << 20)):
        DiscreteLaplace(scale).draw(4, randomness, token)
        DiscreteGaussian(scale).draw(4, randomness, token)
