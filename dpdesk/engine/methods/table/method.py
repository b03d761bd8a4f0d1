"""Protected tables as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dpdesk.core.asks import Ask
from dpdesk.core.capabilities import (
    Capabilities,
    ComparisonWords,
    Content,
    Protection,
    Spending,
    Use,
)
from dpdesk.core.export_formats import OF_CELLS
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.method_card import EVERYONE, Attacker, MethodCard
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.core.schema import Role
from dpdesk.engine.method import CellsInput, CellsMethod, CellsOutcome, Exploration, KeptDraws
from dpdesk.engine.methods.table.settings import (
    CELL_KEY,
    PARAMETERS,
    RANDOM,
    check_settings,
    effective_roles,
)

if TYPE_CHECKING:
    from dpdesk.core.frequency import RowSource
    from dpdesk.core.tabulation import CellTable
    from dpdesk.engine.noise.randomness import RandomSource
    from dpdesk.engine.querying import Comparison, Redesign


# What a release of protected tables may show, and what it tells of those who are in its cells.


PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("rows[]", "columns[]", "measure", "measure.*", "total", "protect", "base"),
        "merge.**",
        *("deviation", "variance"),
        *("tables[].name", "tables[].rows[]", "tables[].columns[]", "tables[].measure"),
        *("tables[].measure.*", "tables[].hierarchy.**", "singletons", "attacker.*"),
        *("tell_apart", "sample"),
    ),
    *fields_of(
        Tells.NOTHING,
        "What the plan requires of the protection, without the parameters of any rule.",
        "guarantee.parameters.audited",
        "guarantee.parameters.singletons",
        "guarantee.parameters.lower",
        "guarantee.parameters.upper",
        "guarantee.parameters.present",
        "guarantee.parameters.base",
        "guarantee.parameters.deviation",
        "guarantee.parameters.variance",
        "guarantee.parameters.sample",
        "guarantee.parameters.swapped[]",
    ),
    *fields_of(
        Tells.NOTHING,
        "Counted from the published tables; anyone who has them can repeat the count.",
        "result.cells",
        "result.suppressed",
        "result.tables[].cells",
        "result.tables[].suppressed",
    ),
    *fields_of(
        Tells.NOTHING,
        "Which tables there are, in which files, and what their cells hold, according to the plan.",
        "result.tables[].name",
        "result.tables[].file",
        "result.tables[].measure",
        "result.tables[].dimensions[].dimension",
    ),
    *fields_of(
        Tells.NOTHING,
        "The rows of the published tables and how they add up: the hierarchies of the plan, and "
        "where a column has none, the values of the rows that count. Every one of them is a row of "
        "the table.",
        "result.tables[].dimensions[].categories[]",
        "result.tables[].dimensions[].parents[]",
    ),
)
CHECKED_BY: Mapping[str, str] = {
    "guarantee": "the words of the guarantee",
    "cells": "cells",
    "suppressed": "suppressed",
    "tables": "values of",
}
"""Which check bears on each part of such a release; see :class:`dpdesk.engine.method.Method`."""


CARD = MethodCard(
    protects=(
        "Anyone who reads the tables and computes with their totals: an unsafe cell is not "
        "found more closely than the rules allow.",
        "A contributor who knows their own amount and wants that of a competitor, as far as "
        "the rules say.",
    ),
    leaves=(
        "Contributors who tell each other their amounts, and tables about the same units that "
        "the register does not know.",
        "Cells that the rules call safe: they are published as they are.",
    ),
    suits=("Tables of businesses or people in which most numbers have to be exact.",),
    unfit=(
        "Many different tables of the same data are asked for over time: the loss of noise is "
        "added up in a ledger, that of suppression cannot be.",
    ),
    sources=(
        "Hundepool and others, Statistical disclosure control, Wiley 2012",
        "Fischetti, Salazar, Solving the cell suppression problem on tabular data with linear "
        "constraints, Management Science 2001",
    ),
    corrections=(
        "Where empty cells are published, no suppressed count is 0, and anyone can conclude "
        "that; a plan can protect against it (present = true).",
    ),
    readers=EVERYONE,
    attackers=frozenset({Attacker.ACQUAINTANCE, Attacker.CONTRIBUTOR}),
)


COMPARISON = ComparisonWords(
    "Which protection loses least of the tables?",
    "Suppression, rounding, cell keys and noise on the same tables. Random changes are drawn for "
    "the comparison alone. Nothing is released or kept; the search for cells may take minutes. The "
    "ways promise different things: only losses are compared.",
)


class ProtectedTables(CellsMethod):
    """Counts, sums and means with margins, whose unsafe cells are suppressed or rounded.

    Source: resources/docs/protected-tables.md.
    """

    id: ClassVar[str] = "table"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.CELLS,
        Protection.CELLS,
        Spending.NOTHING,
        exports=OF_CELLS,
        uses=frozenset({Use.COMPARED}),
        comparison=COMPARISON,
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Protected tables"
    summary: ClassVar[str] = (
        "Release tables of counts, sums or means with their totals; cells that reveal too much "
        "about one contributor are suppressed, with others so that no one can work them out, "
        "or all values are rounded or changed a little."
    )
    promise: ClassVar[str] = (
        "No one can compute an unsafe cell from the tables more closely than the agency's rules "
        "allow; what contributors know together, and other tables, are not covered."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (
        Ask(
            ("rows", "columns", "tables"),
            "Put columns of the data in the rows or columns of the table.",
        ),
    )
    explored_for: ClassVar[tuple[str, ...]] = ("marks",)
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = CHECKED_BY
    check = staticmethod(check_settings)
    effective_roles = staticmethod(effective_roles)
    pseudonyms: ClassVar[str] = "it releases tables, which hold no rows of persons"

    def roles_with_hierarchy(self, parameters: Mapping[str, object]) -> tuple[Role, ...]:
        """See :meth:`Method.roles_with_hierarchy`: dimensions have subtotals."""
        return (Role.QUASI_IDENTIFIER,)

    def explore(self, given: CellsInput, token: CancelToken, report: Report) -> Exploration:
        """See :meth:`CellsMethod.explore`."""
        from dpdesk.engine.methods.table.exploration import TableExploration

        return TableExploration(given)

    def decide(self, given: CellsInput, token: CancelToken, report: Report) -> CellsOutcome:
        """See :meth:`CellsMethod.decide`; InputError and RefusedError ``table.*``."""
        from dpdesk.engine.methods.table.deciding import decide

        return decide(given, token, report)

    def draws(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """See :meth:`CellsMethod.draws`."""
        return parameters.get("protect") in (RANDOM, CELL_KEY)

    def draw(
        self,
        given: CellsInput,
        outcome: CellsOutcome,
        kept: KeptDraws,
        randomness: RandomSource,
        token: CancelToken,
    ) -> CellsOutcome:
        """See :meth:`CellsMethod.draw`."""
        from dpdesk.engine.methods.table import drawing

        work = drawing.keyed if given.parameters["protect"] == CELL_KEY else drawing.drawn
        return work(given, kept, randomness, token)

    def compare(
        self,
        given: CellsInput,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> tuple[Comparison, ...]:
        """See :meth:`ComparedMethod.compare`: all protections, and noise, on the same tables."""
        from dpdesk.engine.methods.table.comparing import compared_tables

        return compared_tables(given, randomness, token, report)

    def redesign(self, given: CellsInput, token: CancelToken, report: Report) -> Redesign:
        """See :meth:`RedesignedMethod.redesign`: which categories to merge."""
        from dpdesk.engine.methods.table.redesigning import proposed

        return proposed(given, token, report)

    def made_again(
        self,
        given: CellsInput,
        recorded: Mapping[str, object],
        published: Mapping[str, CellTable],
        kept: Mapping[str, CellTable],
        token: CancelToken,
    ) -> CellsOutcome:
        """See :meth:`CellsMethod.made_again`."""
        from dpdesk.engine.methods.table.deciding import made_again

        return made_again(given, recorded, published, kept, token)

    def verify(
        self,
        manifest: Manifest,
        published: Mapping[str, CellTable],
        internal: Mapping[str, CellTable] | None,
        given: CellsInput | None,
        token: CancelToken,
        recorded: Mapping[str, object] | None = None,
    ) -> tuple[ClaimCheck, ...]:
        """See :meth:`CellsMethod.verify`."""
        from dpdesk.engine.methods.table.guarantee import Promise, table_guarantee
        from dpdesk.verifiers.tables.edits import edit_check, edited_by
        from dpdesk.verifiers.tables.verification import verify_tables

        stated = manifest.guarantee
        tables = manifest.result.get("tables")
        several = isinstance(tables, list | tuple) and len(tables) > 1
        again = table_guarantee(Promise.stated(stated.model, stated.parameters, several=several))
        place = published, internal, again
        if given is None or not edited_by(given.parameters):
            return verify_tables(manifest.as_json(), *place, given, token, recorded)
        check = edit_check(given, given.edit, token)
        if check.status is CheckStatus.FAILED or given.edit is None:
            return (check,)
        counted = replace(given, source=given.source.edited(given.edit, token))
        return (*verify_tables(manifest.as_json(), *place, counted, token, recorded), check)
