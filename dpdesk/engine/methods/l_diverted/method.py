"""Diverted privacy as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from dpdesk.core.capabilities import (
    Capabilities,
    ComparisonWords,
    Content,
    Protection,
    RowOrder,
    Spending,
    Use,
)
from dpdesk.core.export_formats import OF_ROWS
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.method_card import EVERYONE, Attacker, MethodCard
from dpdesk.core.parameters import Parameter
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.query import Answer, Query
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import Manifest
from dpdesk.core.schema import Role
from dpdesk.engine.method import (
    GUARANTEE,
    DrawnRowsMethod,
    Exploration,
    MethodInput,
    Outcome,
    RowsChecking,
)
from dpdesk.engine.methods.k_anonymity.public_fields import NODE, ROLES, ROWS_SUPPRESSED
from dpdesk.engine.methods.l_diverted.settings import (
    PARAMETERS,
    Settings,
    check_settings,
    named_roles,
)
from dpdesk.engine.querying import Questions

if TYPE_CHECKING:
    from dpdesk.core.frequency import RewrittenRows, RowSource
    from dpdesk.engine.noise.randomness import RandomSource
    from dpdesk.engine.querying import Comparison


# What an ℓ′-diverted release may show, and what it tells of rows that were left out.


PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings("l", "k", "sensitive[]", "partition", "max_suppression", "levels.*"),
    *fields_of(
        Tells.NOTHING,
        "A setting of the plan, said again with the guarantee.",
        "guarantee.parameters.l",
        "guarantee.parameters.k",
        "guarantee.parameters.diverted[]",
    ),
    *ROLES,
    PublicField(
        "result.rows_removed",
        Tells.COUNT,
        "How many rows were left over when all others were put into groups of ℓ′, so how many the "
        "source had. They are drawn at random, whatever the columns that are drawn hold (beside k: "
        "from the classes with more than k rows), and no drawn value comes from them, so nothing "
        "else of them is published.",
    ),
    PublicField(
        "result.rows_out",
        Tells.NOTHING,
        "Counted from the released rows alone; anyone who has the table can count it again.",
    ),
    NODE,
    ROWS_SUPPRESSED,
)


# Whatever needs numpy or compiled kernels is imported where it is used.

DRAW = "Draw the sensitive values"
CARD = MethodCard(
    protects=(
        "Someone who finds a person's row and believes the sensitive value that it shows: it "
        "is the true one in 1 of ℓ′ cases.",
    ),
    leaves=(
        "Someone who knows most other people's values: in some outcomes they learn a value "
        "with certainty.",
        "What the columns that are not drawn reveal about the drawn one; the checklist counts "
        "for how many rows.",
    ),
    suits=("Large counts of the sensitive column must stay accurate, by any other columns.",),
    unfit=(
        "One value is held by more than 1 in ℓ′ rows: then no such release exists.",
        "The same values were drawn and published before: several draws together reveal the "
        "true ones.",
    ),
    sources=(
        "Fu, Wang, Wang, Wong, Small count privacy and large count utility in data publishing",
    ),
    corrections=(
        "The paper promises more than its proof gives: the swaps that no one can distinguish "
        "depend on the hidden outcome. The guarantee says what is proven.",
        "The chance that a row without the value is in a group that has it is f(ℓ′ − 1)/(N − "
        "f), not fℓ′/N; with the paper's, estimates are too high.",
        "The paper's bound on errors of counts squares the count by mistake; exact binomial "
        "chances are used.",
    ),
    readers=EVERYONE,
    attackers=frozenset({Attacker.ACQUAINTANCE}),
)


COMPARISON = ComparisonWords(
    "Which method gives the most exact answers?",
    "Random queries on the open data, answered from drawn values, Anatomy, randomised response and "
    "Laplace noise. Nothing is released or kept; it takes seconds to a minute. The ways promise "
    "different things: only errors are compared.",
)


class LDiverted(DrawnRowsMethod):
    """Sensitive values drawn uniformly within hidden groups of ℓ′ different values.

    Source: l-diverted paper, mechanism A', with the corrections of resources/docs/diverted.md.
    """

    id: ClassVar[str] = "l-diverted"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.ROWS,
        Protection.DRAWN,
        Spending.NOTHING,
        RowOrder.SHUFFLED,
        exports=OF_ROWS,
        uses=frozenset({Use.ASKED, Use.COMPARED}),
        comparison=COMPARISON,
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Diverted sensitive values"
    summary: ClassVar[str] = (
        "Release rows in random order in which every sensitive value is drawn, with the same "
        "chance, from the different values of a small hidden group; large counts stay accurate, "
        "small ones do not."
    )
    promise: ClassVar[str] = (
        "For someone who knows only how often each value occurs, a published value is the true "
        "one with a chance of 1 in ℓ′; the other columns may reveal more, and so may other "
        "people's values."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        GUARANTEE: "the words of the guarantee",
        **{key: key for key in ("rows_out", "rows_removed", "rows_suppressed", "node")},
    }
    check = staticmethod(check_settings)
    effective_roles = staticmethod(named_roles)
    pseudonyms: ClassVar[str] = (
        "the values of each row are drawn separately, so rows or releases that a pseudonym "
        "joins would give several draws for one person, and together these reveal the true "
        "value"
    )
    live: ClassVar[tuple[str, ...]] = ("l",)

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.l_diverted.querying import answer_diverted, askable_diverted

        return Questions(askable_diverted, answer_diverted)

    def compare(
        self,
        given: MethodInput,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> tuple[Comparison, ...]:
        """See :meth:`ComparedMethod.compare`."""
        from dpdesk.engine.methods.l_diverted.comparing import compare_on_own_data

        self.decide(given, token, report)
        return compare_on_own_data(given, rows, randomness, token, report)

    def true_answer(
        self,
        query: Query,
        given: MethodInput,
        token: CancelToken,
        manifest: Manifest | None,
    ) -> Answer:
        """See :meth:`ComparedMethod.true_answer`."""
        from dpdesk.engine.methods.l_diverted.querying import true_answer

        recoding = None if manifest is None else self.claimed_recoding(manifest, given, token)
        recoded = {} if recoding is None else dict(recoding.mapping)
        return true_answer(query, given, token, recoded)

    def roles_with_hierarchy(self, parameters: Mapping[str, object]) -> tuple[Role, ...]:
        """See :meth:`Method.roles_with_hierarchy`: quasi-identifiers' are used for k alone."""
        first = () if parameters.get("k") is None else (Role.QUASI_IDENTIFIER,)
        return (*first, Role.SENSITIVE)

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Count the sensitive values; see :meth:`RowsMethod.explore`."""
        from dpdesk.engine.methods.l_diverted.judging import (
            COUNT,
            CountedValues,
            DivertedExploration,
        )

        report(StepStarted(COUNT, 1, 1))
        counted, settings = CountedValues(given), Settings.from_parameters(given.parameters)
        if settings.k is None:
            counted.eligibility(settings, None, token, report)
        return DivertedExploration(given, counted)

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        """See :meth:`RowsMethod.decide`; RefusedError ``diverted.not-eligible``."""
        from dpdesk.engine.methods.l_diverted.judging import decide

        return decide(given, token, report)

    def draw(
        self,
        given: MethodInput,
        outcome: Outcome,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> RewrittenRows:
        """See :meth:`RowsMethod.draw`."""
        from dpdesk.engine.methods.l_diverted.combined import draw_release

        report(StepStarted(DRAW, 1, 1))
        return draw_release(given, outcome, rows, randomness, token)

    def checking(self) -> RowsChecking:
        """See :meth:`DrawnRowsMethod.checking`."""
        from dpdesk.engine.methods.l_diverted.guarantee import diverted_guarantee
        from dpdesk.verifiers.diverted import (
            draws_check,
            evidence_fault,
            verify_against_source,
            verify_public,
        )

        return RowsChecking(
            diverted_guarantee, verify_public, verify_against_source, evidence_fault, draws_check
        )

    def drawn_columns(self, manifest: Manifest) -> frozenset[str]:
        """See :meth:`RowsMethod.drawn_columns`."""
        from dpdesk.verifiers.diverted import drawn_columns

        return drawn_columns(manifest.as_json())

    def claimed_recoding(
        self, manifest: Manifest, given: MethodInput, token: CancelToken
    ) -> Recoding | None:
        """See :meth:`RowsMethod.claimed_recoding`."""
        from dpdesk.verifiers.diverted import claimed_recoding

        return claimed_recoding(manifest.as_json(), given, token)

    def evidence_source_fault(
        self,
        manifest: Manifest,
        evidence: Mapping[str, object],
        given: MethodInput,
        token: CancelToken,
    ) -> str | None:
        """See :meth:`RowsMethod.evidence_source_fault`."""
        from dpdesk.verifiers.diverted import evidence_source_fault

        return evidence_source_fault(manifest.as_json(), evidence, given, token)


# The kernels that draw values, compiled or loaded before the first real draw waits for them.


def warm_kernels() -> None:
    """Draw a few values of nobody, by both rules, and forget them."""
    import numpy as np

    from dpdesk.core.jobs import CancelToken
    from dpdesk.engine.decoys import RULES
    from dpdesk.engine.decoys.kernels import number_kept
    from dpdesk.engine.methods.l_diverted.mechanism import divert
    from dpdesk.engine.noise.randomness import SystemRandomness

    source, token = SystemRandomness(), CancelToken()
    for rule in RULES:
        divert(np.array([0, 1, 2, 0], np.int32), 3, 2, rule, source, token)
    number_kept(np.array([1], np.int64), np.empty(2, np.int64))
