"""Randomised response as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from dpdesk.core.asks import Ask
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
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.core.plan import THE_SETTINGS
from dpdesk.core.public_fields import PublicField
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
from dpdesk.engine.methods.randomised_response.settings import PARAMETERS, PUBLIC_FIELDS
from dpdesk.engine.private.method import Charge, PaidRowsMethod
from dpdesk.engine.querying import Questions

# Whatever needs numpy is imported where it is used.
if TYPE_CHECKING:
    from dpdesk.core.budget import Debit
    from dpdesk.core.frequency import RewrittenRows, RowSource
    from dpdesk.engine.noise.randomness import RandomSource
    from dpdesk.engine.private.declared import DeclaredDomain
    from dpdesk.engine.querying import Comparison

DECIDE, DRAW = "Work out the chances", "Draw the values"
CARD = MethodCard(
    protects=(
        "Someone who finds a person's row and wants the value of a drawn column, whatever they "
        "know about others.",
    ),
    leaves=(
        "That the person is in the data, and all columns that are not drawn.",
        "What the other columns reveal about a drawn one, for people in general.",
    ),
    suits=("Rows are needed, one or two columns are sensitive, and there are thousands of rows.",),
    unfit=("Small groups are of interest: their estimates are hardly better than guesses.",),
    sources=("Warner, Randomized response, JASA 1965",),
    corrections=(
        "Equal chances for all other values are the default since they give the least summed "
        "variance where all values are equally frequent.",
    ),
    readers=EVERYONE,
    attackers=ANYONE,
)


COMPARISON = ComparisonWords(
    "How exact are counts of drawn values?",
    "Expected errors of the counts of all values, from rows with drawn values and from counts with "
    "Laplace noise, by the privacy loss. Nothing is drawn, released or kept. The ways promise "
    "different things: only errors are compared.",
)


class RandomisedResponse(DrawnRowsMethod, PaidRowsMethod):
    """Values of chosen columns drawn one by one, with chances that hide the true one.

    Source: the course text, randomised response (Warner 1965); k-ary chances where the plan gives
    no matrix.
    """

    id: ClassVar[str] = "randomised-response"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.ROWS,
        Protection.RANDOMISED,
        Spending.VALUES,
        RowOrder.SORTED,
        exports=OF_ROWS,
        uses=frozenset({Use.ASKED, Use.COMPARED}),
        comparison=COMPARISON,
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Randomised response"
    summary: ClassVar[str] = (
        "Release all rows, with each value of chosen columns kept or replaced at random, with "
        "known chances; counts are estimated without bias, with an error that grows with the rows."
    )
    promise: ClassVar[str] = (
        "Whatever is published changes the odds between two values that a person may truly have in "
        "the drawn columns by at most ×e^ε; the other columns, and that the person is in the data, "
        "are not hidden."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (
        Ask(("drawn",), "Name the columns to draw. No value is looked at."),
        Ask(("domains",), "Declare the categories of each column to draw."),
        Ask(("epsilon",), "Enter ε, the privacy loss that you are willing to spend."),
    )
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        GUARANTEE: "the words of the guarantee",
        "rows_out": "rows_out",
        "chances": "the chances of",
        "outside": "outside",
    }
    pseudonyms: ClassVar[str] = (
        "rows or releases that a pseudonym joins would give several draws for one person, and "
        "these together reveal the true value"
    )
    advice: ClassVar[tuple[str, ...]] = (
        "Do not count the drawn columns as they are: frequent values look rarer than they are, "
        "and rare ones more frequent. `dpdesk query FOLDER` gives unbiased counts with their "
        "intervals.",
        "To estimate by hand how many rows truly have one of w categories: from the rows that show "
        "one, take away w · move / whole of all rows, and multiply by whole / (stay − move). The "
        "manifest gives these numbers for each column (`result`, `chances`); for a matrix of "
        "chances, use its inverse.",
        "Rows are sorted by what is released of them: their order carries no information.",
    )

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.randomised_response.querying import answer, askable

        return Questions(askable, answer)

    def compare(
        self,
        given: MethodInput,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> tuple[Comparison, ...]:
        """See :meth:`ComparedMethod.compare`: expected errors; nothing is drawn."""
        from dpdesk.engine.methods.randomised_response.deciding import compare

        return compare(given, token)

    def true_answer(
        self,
        query: Query,
        given: MethodInput,
        token: CancelToken,
        manifest: Manifest | None,
    ) -> Answer:
        """See :meth:`ComparedMethod.true_answer`."""
        from dpdesk.engine.methods.randomised_response.querying import true_answer

        return true_answer(query, given, token)

    def roles_with_hierarchy(self, parameters: Mapping[str, object]) -> tuple[Role, ...]:
        """See :meth:`Method.roles_with_hierarchy`: none is used."""
        return ()

    def check(
        self,
        columns: Sequence[str],
        roles: Mapping[str, Role],
        parameters: Mapping[str, ParameterValue],
        where: str,
    ) -> None:
        """See :meth:`Method.check`; codes in :func:`~.settings.check_settings`."""
        from dpdesk.engine.methods.randomised_response.settings import check_settings

        check_settings(columns, roles, parameters, where)

    def price(self, roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]) -> Charge:
        """See :meth:`PaidRowsMethod.price`."""
        from dpdesk.engine.methods.randomised_response.settings import Settings

        return Settings.read(parameters, THE_SETTINGS).charge

    def drawn_from(self, parameters: Mapping[str, ParameterValue]) -> frozenset[str]:
        """See :meth:`PaidRowsMethod.drawn_from`."""
        from dpdesk.engine.private.settings import texts_of

        return frozenset(texts_of(parameters["drawn"]))

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Errors by ε; of the rows, their number alone is used."""
        from dpdesk.engine.methods.randomised_response.deciding import ResponseExploration

        return ResponseExploration(given)

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        """See :meth:`RowsMethod.decide`; no drawn column is looked at."""
        from dpdesk.engine.methods.randomised_response.deciding import decide

        report(StepStarted(DECIDE, 1, 1))
        return decide(given, token)

    def declared(self, parameters: Mapping[str, ParameterValue]) -> DeclaredDomain:
        """See :meth:`PaidRowsMethod.declared`."""
        from dpdesk.engine.methods.randomised_response.settings import Settings

        return Settings.read(parameters, "the plan").declared

    def draw_paid(
        self,
        given: MethodInput,
        outcome: Outcome,
        rows: RowSource,
        debit: Debit,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> RewrittenRows:
        """See :meth:`PaidRowsMethod.draw_paid`."""
        from dpdesk.engine.methods.randomised_response.deciding import draw

        token.check()
        report(StepStarted(DRAW, 1, 1))
        return draw(given, rows, debit, randomness, token)

    def checking(self) -> RowsChecking:
        """See :meth:`DrawnRowsMethod.checking`."""
        from dpdesk.engine.methods.randomised_response.settings import response_guarantee
        from dpdesk.verifiers.randomised import draws_check, verify_against_source, verify_public
        from dpdesk.verifiers.reading import evidence_fault

        return RowsChecking(
            response_guarantee, verify_public, verify_against_source, evidence_fault, draws_check
        )

    def drawn_columns(self, manifest: Manifest) -> frozenset[str]:
        """See :meth:`RowsMethod.drawn_columns`."""
        names = manifest.guarantee.parameters.get("drawn")
        return frozenset(map(str, names)) if isinstance(names, list) else frozenset()

    def column_words(self, manifest: Manifest) -> Mapping[str, str]:
        """See :meth:`RowsMethod.column_words`."""
        return dict.fromkeys(self.drawn_columns(manifest), "each value is drawn separately")

    def claimed_recoding(
        self, manifest: Manifest, given: MethodInput, token: CancelToken
    ) -> Recoding | None:
        """See :meth:`RowsMethod.claimed_recoding`: values that cannot be read are missing."""
        from dpdesk.verifiers.randomised import claimed_recoding

        return claimed_recoding(manifest.as_json(), given, token)
