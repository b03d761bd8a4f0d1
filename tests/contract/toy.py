"""A second method, to prove that the contract asks for nothing that only k-anonymity has.

It releases the chosen columns unchanged and leaves out every row whose value in one of them is
held by fewer than ``least`` rows: no protection worth its name, but a whole method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from dpdesk.core.capabilities import Capabilities, Content, RowOrder, Spending
from dpdesk.core.charts import Figure
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.parameters import IntegerParameter, Parameter, ParameterValue
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import CheckStatus, ClaimCheck, Guarantee, Manifest, PublishedTable
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_table
from dpdesk.engine.method import (
    GUARANTEE,
    Exploration,
    ExplorationView,
    MethodInput,
    Outcome,
    RowsMethod,
)


class CommonValues(RowsMethod):
    """Leave out rows with rare values."""

    id: ClassVar[str] = "common-values"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.ROWS, None, Spending.NOTHING, RowOrder.SORTED
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Common values only"
    summary: ClassVar[str] = "Leave out rows with a rare value."
    promise: ClassVar[str] = "Every released value is held by several rows of the original."
    parameters: ClassVar[tuple[Parameter, ...]] = (
        IntegerParameter(
            key="least",
            label="Rows per value",
            help="Values that fewer rows hold are left out.",
            unit="rows",
            minimum=1,
            maximum=1000,
            suggested=3,
            required=True,
        ),
    )
    checked_by: ClassVar[Mapping[str, str]] = {GUARANTEE: "values of", "rows_out": "rows_out"}
    live: ClassVar[tuple[str, ...]] = ("least",)
    public_fields: ClassVar[tuple[PublicField, ...]] = (
        *settings("least"),
        *fields_of(
            Tells.NOTHING,
            "Counted from the released rows.",
            "result.rows_out",
            "guarantee.parameters.columns.*[]",
        ),
    )

    def check(
        self,
        columns: Sequence[str],
        roles: Mapping[str, Role],
        parameters: Mapping[str, ParameterValue],
        where: str,
    ) -> None:
        if Role.QUASI_IDENTIFIER not in roles.values():
            raise InputError("toy.no-columns", f"{where}: no quasi-identifier.")

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        return _Tries(self, given)

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        report(StepStarted("Count", 1, 1))
        names = given.with_role(Role.QUASI_IDENTIFIER)
        table = given.source.frequency_table(names, token)
        least = given.parameters["least"]
        assert isinstance(least, int)
        rare = np.zeros(len(table.counts), dtype=np.bool_)
        for place, domain in enumerate(table.domains):
            token.check()
            report(StepProgress("Count", place + 1, len(names), "columns"))
            rows = np.bincount(table.codes[:, place], table.counts, len(domain))
            rare |= (rows < least)[table.codes[:, place]]
        gone = int(table.counts[rare].sum())
        if gone == table.rows:
            raise RefusedError("toy.nothing-left", f"No value is held by {least} rows.")
        out = table.rows - gone
        recoding = Recoding(
            attributes=names,
            mapping={
                name: {value: value for value in domain}
                for name, domain in zip(names, table.domains, strict=True)
            },
            labels=table.domains,
            suppressed=table.codes[rare],
            dropped_columns=given.with_role(Role.IDENTIFIER),
            rows_out=out,
            rows_suppressed=gone,
        )
        values = {
            name: Counter(
                table.domains[place][code] for code in table.codes[~rare, place].tolist()
            ).keys()
            for place, name in enumerate(names)
        }
        guarantee = Guarantee(
            "common-values",
            {"columns": {name: sorted(known) for name, known in values.items()}},
            f"Every released value was held by at least {least} rows of the original.",
            ("No one combines columns.",),
            ("Rare combinations.",),
        )
        return Outcome(
            guarantee,
            {"rows_out": out},
            recoding,
            figures=(Figure("rows_kept", "Rows kept", out, "count"),),
        )

    def verify(
        self, manifest: Manifest, published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        same = manifest.result["rows_out"] == published.rows
        checks = [self._check("rows_out", same)]
        for name, values in as_table(manifest.guarantee.parameters["columns"]).items():
            found = sorted(published.value_counts(name, token))
            checks.append(self._check(f"values of {name}", found == values))
        return tuple(checks)

    @staticmethod
    def _check(claim: str, confirmed: bool) -> ClaimCheck:
        status = CheckStatus.CONFIRMED if confirmed else CheckStatus.FAILED
        return ClaimCheck(claim, status, "counted again", "microdata.csv")


class _Tries:
    """Runs the method for each view: slow, and good enough for a toy."""

    def __init__(self, method: RowsMethod, given: MethodInput) -> None:
        self._method = method
        self._given = given

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        given = MethodInput(
            self._given.roles, self._given.hierarchies, parameters, source=self._given.source
        )
        try:
            outcome = self._method.decide(given, CancelToken(), lambda event: None)
        except RefusedError as error:
            return ExplorationView(False, error.sentence, (), (), None, {"least": 1}, "Set 1")
        return ExplorationView(True, "Possible.", (), outcome.figures, outcome.guarantee)

    def pick(self, point: int) -> Mapping[str, object]:
        raise InputError("exploration.no-point", "There are no points.")
