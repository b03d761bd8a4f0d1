"""Frequent itemsets with noise as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dpdesk.core.asks import Ask, columns_to_publish
from dpdesk.core.capabilities import (
    Capabilities,
    ComparisonWords,
    Content,
    Protection,
    Spending,
    Use,
)
from dpdesk.core.cuboid import LISTS
from dpdesk.core.export_formats import OF_LISTS
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Parameter
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.method import Exploration
from dpdesk.engine.methods.itemsets.settings import PARAMETERS
from dpdesk.engine.private.method import (
    HIDES,
    STAYS_OPEN,
    Checking,
    Design,
    PrivateInput,
    PrivateMethod,
    Reading,
)
from dpdesk.engine.private.public_fields import DESIGNED, GUARANTEED
from dpdesk.engine.querying import Questions

if TYPE_CHECKING:
    from dpdesk.core.frequency import RowSource
    from dpdesk.engine.noise.randomness import RandomSource
    from dpdesk.engine.querying import Comparison


# What itemsets may show; see :mod:`dpdesk.engine.private.public_fields`.


_USED = (
    *("result.noise_sources[][]", "result.noise_sources[]", "result.residuals"),
    *("result.scales[]", "result.max_variance", "result.biased", "result.proven"),
    "result.shares[]",
    "result.sensitivity",
    "result.domains[].dimension",
    "result.domains[].categories[]",
    "result.outside.*",
)

PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("dimensions[]", "domains.*[]", "origins.*", "epsilon", "top", "longest", "mine"),
        *(
            "neighbours",
            "rows_per_person",
            "view_size",
            "cover",
            "views.**",
            "reconstruct",
            "rho",
            "delta",
        ),
        "noise",
    ),
    *(field for field in GUARANTEED if not field.path.endswith(".minimal_change")),
    *(field for field in DESIGNED if field.path in _USED),
    *fields_of(
        Tells.NOTHING,
        "Which tables there are and how much noise a cell has: chosen and computed from the plan "
        "before the data are read.",
        *(f"result.views[].{field}" for field in ("dimensions[]", "cells", "file", "variance")),
    ),
    *fields_of(
        Tells.NOTHING,
        "With what choices and noise are drawn where there is one basis: computed from the plan "
        "before the data are read.",
        "result.rates[]",
        "result.scale",
    ),
    *fields_of(
        Tells.NOTHING,
        "The two lists that every such release has, whatever the data. What is in them is what "
        "the guarantee bounds.",
        "result.itemsets[].dimensions[]",
        "result.itemsets[].file",
        "result.itemsets[].listed",
    ),
)
CARD = MethodCard(
    protects=HIDES,
    leaves=STAYS_OPEN,
    suits=("Baskets, diagnoses or visits: which go together most often is to be published.",),
    unfit=(
        "Rare sets are of interest: with noise they cannot be distinguished from sets that no one "
        "has.",
    ),
    sources=(
        "Li, Qardaji, Su, Cao, PrivBasis: frequent itemset mining with differential privacy, "
        "VLDB 2012",
        "McKenna, Sheldon, Permute-and-flip, NeurIPS 2020",
    ),
    readers=EVERYONE,
    attackers=ANYONE,
)


COMPARISON = ComparisonWords(
    "Which way finds more of the most frequent sets?",
    "The sets that releases from bases and from views would list, next to the true ones, by budget "
    "and number of sets. Noise is drawn for the comparison alone: nothing is released, kept or "
    "spent, and the audit log records that the data were looked at. Both ways promise the same.",
)


class Itemsets(PrivateMethod):
    """The most frequent sets of items of transactions, with noisy counts.

    Source: PrivBasis (Li, Qardaji, Su and Cao, VLDB 2012), with exact choices and integer noise; or
    read from views (resources/docs/itemsets.md).
    """

    id: ClassVar[str] = "itemsets"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.ITEMSETS,
        Protection.NOISE,
        Spending.PERSONS,
        tables=LISTS,
        folders=("views",),
        exports=OF_LISTS,
        uses=frozenset({Use.ASKED, Use.COMPARED}),
        comparison=COMPARISON,
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Differentially private frequent itemsets"
    summary: ClassVar[str] = (
        "Release the sets of items that most rows hold together, each with a noisy count; which "
        "sets these are is chosen with noise as well."
    )
    promise: ClassVar[str] = (
        "One person more or less (or another in the same place, as the plan says) makes no "
        "output more likely by a factor of more than e^ε; with ρ, except with a chance of δ."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (columns_to_publish("dimensions", "Items"),)
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        "guarantee": "guarantee",
        **dict.fromkeys(("domains", "outside", "sensitivity", "rates", "scale"), "result"),
        **dict.fromkeys(("shares", "scales"), "scales within"),
        **dict.fromkeys(("noise_sources", "residuals", "biased", "proven"), "result"),
        "views": "variance of each table",
        "itemsets": "itemsets",
        "max_variance": "max_variance",
    }

    def reading(self) -> Reading[Any]:
        """See :meth:`PrivateMethod.reading`."""
        from dpdesk.engine.methods.itemsets.settings import ItemsetSettings, check_columns

        read = ItemsetSettings.from_parameters
        return Reading(read, check_columns, lambda given, cluster: given.charge(cluster, ""))

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.itemsets.design import answer_itemsets, askable_itemsets

        return Questions(askable_itemsets, answer_itemsets)

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """See :meth:`PrivateMethod.design`; InputError ``itemsets.*``, ``cube.*``, ``views.*``."""
        from dpdesk.engine.methods.itemsets.design import design_itemsets

        return design_itemsets(given, token, report)

    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """See :meth:`PrivateMethod.explore`."""
        from dpdesk.engine.methods.itemsets.design import design_itemsets
        from dpdesk.engine.private.charts import DesignExploration

        return DesignExploration(
            *(given, token, "itemsets.planned", design_itemsets),
            lambda design: design.charts[-2].answer,
        )

    def compare(
        self,
        given: PrivateInput,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> tuple[Comparison, ...]:
        """See :meth:`ComparedMethod.compare`: sets from bases and from views, and the true ones."""
        from dpdesk.engine.methods.itemsets.comparing import compared_itemsets

        return compared_itemsets(given, rows, randomness, token, report)

    def checking(self) -> Checking[Any]:
        """See :meth:`PrivateMethod.checking`."""
        from dpdesk.engine.methods.itemsets.settings import guarantee_again
        from dpdesk.verifiers.itemsets import counted_check, declared_check, verify_itemsets

        return Checking(guarantee_again, verify_itemsets, declared_check, counted_check)
