"""Anatomy as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from dpdesk.core.capabilities import Capabilities, Content, Protection, RowOrder, Spending, Use
from dpdesk.core.export_formats import OF_ROWS
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.method_card import Attacker, MethodCard, Reader
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.core.public_fields import PublicField
from dpdesk.core.release import (
    Manifest,
    Separated,
)
from dpdesk.core.schema import Role
from dpdesk.engine.method import (
    GUARANTEE,
    DrawnRowsMethod,
    Exploration,
    MethodInput,
    Outcome,
    RowsChecking,
)
from dpdesk.engine.methods.anatomy.settings import (
    DRAW,
    GROUP,
    PARAMETERS,
    PUBLIC_FIELDS,
    TABLE,
    check_settings,
    named,
)
from dpdesk.engine.querying import Questions

# Whatever needs numpy is imported where it is used.
if TYPE_CHECKING:
    from dpdesk.core.frequency import RewrittenRows, RowSource
    from dpdesk.engine.noise.randomness import RandomSource
CARD = MethodCard(
    protects=("Someone who finds a person's row and wants the value of one sensitive column.",),
    leaves=(
        "That the person is in the data, and in which row: all other columns are released "
        "unchanged.",
        "What the other columns reveal about the sensitive one.",
    ),
    suits=(
        "Researchers under contract need exact values of all columns but one, and counts of "
        "that one.",
    ),
    unfit=("The public gets the file: anyone in it can be found there.",),
    sources=("Xiao, Tao, Anatomy: simple and effective privacy preservation, VLDB 2006",),
    readers=frozenset({Reader.RESEARCHERS}),
    attackers=frozenset({Attacker.ACQUAINTANCE}),
)


class Anatomy(DrawnRowsMethod):
    """Rows in groups of l or more, the sensitive values of each group in a table of their own.

    Source: the course text, anatomy; what it promises: :mod:`.settings`.
    """

    id: ClassVar[str] = "anatomy"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.ROWS,
        Protection.GROUPS,
        Spending.NOTHING,
        RowOrder.SORTED,
        tables=(TABLE,),
        exports=OF_ROWS,
        uses=frozenset({Use.ASKED}),
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Values apart by groups (anatomy)"
    summary: ClassVar[str] = (
        "Release all rows unchanged except for one sensitive column, which is replaced by the "
        "number of a small group drawn at random; the different values of each group are in a "
        "separate table."
    )
    promise: ClassVar[str] = (
        "For someone to whom the other columns reveal nothing about it, each value of a "
        "person's group is the true one with a chance of at most 1 in l; that the person is in "
        "the data, and in which row, is not hidden."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        GUARANTEE: "the words of the guarantee",
        **{key: key for key in ("rows_out", "groups", "smallest_group")},
    }
    check = staticmethod(check_settings)
    pseudonyms: ClassVar[str] = (
        "rows or releases that a pseudonym joins would give one person several groups, which "
        "often have only the true value in common"
    )
    live: ClassVar[tuple[str, ...]] = ("l",)
    advice: ClassVar[tuple[str, ...]] = (
        "The table sensitive.csv gives the values of each group, without saying which row of the "
        "group has which.",
        "To estimate how many rows with some property have a value: for each group that has the "
        "value, take the share of its rows that have the property, and add the shares up. "
        "`dpdesk query FOLDER` does it, with the bounds within which the number lies for certain.",
        "That estimate takes each value of a group to be equally likely for each of its rows. "
        "Where the property and the value go together, it shows too weak a relation.",
        "Rows are sorted, and groups are numbered at random: neither carries information.",
    )

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.anatomy.grouping import answer, askable

        return Questions(askable, answer)

    def effective_roles(
        self, roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]
    ) -> Mapping[str, Role]:
        """See :meth:`Method.effective_roles`: the column that is named is sensitive."""
        wanted = named(parameters, {})
        return {
            name: Role.SENSITIVE if name in wanted and role is Role.INSENSITIVE else role
            for name, role in roles.items()
        }

    def roles_with_hierarchy(self, parameters: Mapping[str, object]) -> tuple[Role, ...]:
        """See :meth:`Method.roles_with_hierarchy`: none is used."""
        return ()

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Count the sensitive values; see :meth:`RowsMethod.explore`."""
        from dpdesk.engine.methods.anatomy.grouping import AnatomyExploration

        found = AnatomyExploration(given)
        found.view_until(given.parameters, token, report)
        return found

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        """See :meth:`RowsMethod.decide`; RefusedError ``diverted.not-eligible``."""
        from dpdesk.engine.methods.anatomy.grouping import decide

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
        from dpdesk.engine.methods.anatomy.grouping import draw

        token.check()
        report(StepStarted(DRAW, 1, 1))
        return draw(given, rows, randomness, token)

    def checking(self) -> RowsChecking:
        """See :meth:`DrawnRowsMethod.checking`."""
        from dpdesk.engine.methods.anatomy.settings import anatomy_guarantee
        from dpdesk.verifiers.anatomy import verify_against_source, verify_public
        from dpdesk.verifiers.reading import evidence_fault

        return RowsChecking(anatomy_guarantee, verify_public, verify_against_source, evidence_fault)

    def separated(self, manifest: Manifest) -> Separated | None:
        """See :meth:`RowsMethod.separated`."""
        names = manifest.guarantee.parameters.get("separated")
        if not isinstance(names, list) or len(names) != 1:
            return None
        return Separated(str(names[0]), TABLE, GROUP, "value")

    def column_words(self, manifest: Manifest) -> Mapping[str, str]:
        """See :meth:`RowsMethod.column_words`."""
        apart = self.separated(manifest)
        return {
            **({} if apart is None else {apart.column: "values are in sensitive.csv, by groups"}),
            GROUP: "number of the group, drawn at random; its values are in sensitive.csv",
        }
