"""Private choices as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dpdesk.core.asks import Ask
from dpdesk.core.capabilities import Capabilities, Content, Protection, Spending, Use
from dpdesk.core.export_formats import OF_LISTS
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Parameter
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.method import Exploration
from dpdesk.engine.methods.dp_choice.settings import PARAMETERS
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

_UNUSED = tuple(f"guarantee.parameters.{key}" for key in ("rho", "delta", "minimal_change"))
_USED = (
    *("result.shares[]", "result.domains[].dimension", "result.domains[].categories[]"),
    "result.outside.*",
)
PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("groups[]", "domains.*[]", "origins.*", "choose.**", "epsilon", "neighbours"),
        "rows_per_person",
    ),
    *(field for field in GUARANTEED if field.path not in _UNUSED),
    *(field for field in DESIGNED if field.path in _USED),
    *fields_of(
        Tells.NOTHING,
        "Which choices there are, from how many candidates, with which chances and errors: "
        "computed from the plan before the data are read.",
        *(
            f"result.choices[].{key}"
            for key in (
                *("dimensions[]", "cells", "file", "column", "quantile", "texts"),
                *("candidates", "width", "rate", "error"),
            )
        ),
    ),
)
CARD = MethodCard(
    protects=HIDES,
    leaves=STAYS_OPEN,
    suits=(
        "The median income of each region, or the most common occupation: one value for each "
        "group.",
    ),
    unfit=(
        "All numbers of a distribution are wanted; tables with noise give more information for "
        "the same budget.",
    ),
    sources=("McSherry, Talwar, Mechanism design via differential privacy, FOCS 2007",),
    corrections=(
        "Where counts can only rise with a row, the exponent needs no factor of 2; where a "
        "person is replaced across groups, quantiles need a width of 4·max(q, 1 − q).",
    ),
    readers=EVERYONE,
    attackers=ANYONE,
)


class DpChoice(PrivateMethod):
    """Quantiles and most frequent values by groups, chosen by the exponential mechanism.

    Source: McSherry and Talwar, FOCS 2007; chosen exactly, without floating point
    (resources/docs/choices.md).
    """

    id: ClassVar[str] = "dp-choice"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.CHOICES,
        Protection.NOISE,
        Spending.PERSONS,
        folders=("choices",),
        exports=OF_LISTS,
        uses=frozenset({Use.ASKED}),
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Differentially private quantiles and most frequent values"
    summary: ClassVar[str] = (
        "Release a median, another quantile or the most frequent value of a column for each group; "
        "it is chosen at random among declared candidates, the better ones more often."
    )
    promise: ClassVar[str] = (
        "One person more or less (or another in the same place, as the plan says) makes no "
        "output more likely by a factor of more than e^ε."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (
        Ask(("choose",), "State what is chosen: a quantile of a column, or a most frequent value."),
    )
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        "guarantee": "guarantee",
        **dict.fromkeys(("domains", "outside"), "result"),
        "shares": "rates within",
        "choices": "choices",
    }

    def reading(self) -> Reading[Any]:
        """See :meth:`PrivateMethod.reading`."""
        from dpdesk.engine.methods.dp_choice.settings import ChoiceSettings, check_columns

        read = ChoiceSettings.from_parameters
        return Reading(read, check_columns, lambda given, cluster: given.charge(cluster, ""))

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.dp_choice.design import answer_choices, askable_choices

        return Questions(askable_choices, answer_choices)

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """See :meth:`PrivateMethod.design`; InputError ``choice.*``, ``cube.*``."""
        from dpdesk.engine.methods.dp_choice.design import design_choices

        return design_choices(given, token, report)

    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """See :meth:`PrivateMethod.explore`."""
        from dpdesk.engine.methods.dp_choice.design import design_choices, error_words
        from dpdesk.engine.private.charts import DesignExploration

        planned = given, token, "choice.planned"
        return DesignExploration(*planned, design_choices, error_words, 1)

    def checking(self) -> Checking[Any]:
        """See :meth:`PrivateMethod.checking`."""
        from dpdesk.engine.methods.dp_choice.design import guarantee_again
        from dpdesk.verifiers.choices import counted_check, declared_check, verify_choices

        return Checking(guarantee_again, verify_choices, declared_check, counted_check)
