"""Views and marginals with noise as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dpdesk.core.capabilities import Capabilities, Content, Protection, Spending, Use
from dpdesk.core.export_formats import PLAIN, SYNTHETIC
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
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
from dpdesk.engine.views.settings import PARAMETERS

if TYPE_CHECKING:
    from dpdesk.core.query import Answer, Askable, Query
    from dpdesk.core.release import ReleasedContent
    from dpdesk.engine.cubes.olap.grids import SumReader

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
        "Ten to two hundred columns, of which no one knows yet which tables will be asked for.",
        "Synthetic rows are wanted for trying out programs.",
    ),
    unfit=(
        "What matters is how three or more columns hang together: only pairs are measured "
        "unless the plan says otherwise.",
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
        uses=frozenset({Use.ASKED, Use.BROWSED}),
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Differentially private marginals of many columns"
    summary: ClassVar[str] = (
        "Measure small tables that hold every two columns together, with random noise scaled to "
        "what one person can change, and make tables of any columns from them."
    )
    promise: ClassVar[str] = (
        "One person more or less (or another in the same place, as the plan says) makes no output "
        "more likely by more than ×e^ε; with ρ, but for a chance of δ. Tables made from the "
        "release later cost nothing more."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
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

    def askable(self, content: ReleasedContent, token: CancelToken) -> Askable:
        """See :meth:`QueryableMethod.askable`."""
        from dpdesk.engine.cubes.olap.grids import askable_cube
        from dpdesk.engine.methods.priview.querying import released_views

        return askable_cube(released_views(content.manifest))

    def answer(
        self, query: Query, content: ReleasedContent, token: CancelToken, report: Report
    ) -> Answer:
        """See :meth:`QueryableMethod.answer`."""
        from dpdesk.engine.cubes.olap.answering import read_grid

        return read_grid(self.reader(content), query, token).answer()

    def reader(self, content: ReleasedContent) -> SumReader:
        """See :class:`~dpdesk.engine.cubes.olap.grids.Browsable`."""
        from dpdesk.engine.methods.priview.querying import ViewReader

        return ViewReader(content)

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """See :meth:`PrivateMethod.design`; InputError ``views.*``, ``cube.*``."""
        from dpdesk.engine.views.design import design_views

        return design_views(given, token, report)

    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """See :meth:`PrivateMethod.explore`."""
        from dpdesk.engine.private.charts import DesignExploration
        from dpdesk.engine.views.charts import planned_sentence
        from dpdesk.engine.views.design import design_views

        return DesignExploration(given, token, "views.planned", design_views, planned_sentence)

    def checking(self) -> Checking[Any]:
        """See :meth:`PrivateMethod.checking`."""
        from dpdesk.engine.views.settings import guarantee_again
        from dpdesk.verifiers.cubes.declared import counted_check, declared_check
        from dpdesk.verifiers.views.verification import as_cube, verify_views

        return Checking(
            *(guarantee_again, verify_views),
            lambda manifest, given: declared_check(as_cube(manifest), given),
            lambda manifest, *given: counted_check(as_cube(manifest), *given),
        )
