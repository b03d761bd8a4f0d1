from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from dpdesk.app.context import AppContext
from dpdesk.core.capabilities import Capabilities, Content, RowOrder, Spending
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.parameters import IntegerParameter, ParameterValue
from dpdesk.core.public_fields import PublicField, Tells, settings
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import ClaimCheck, Guarantee, PublishedTable
from dpdesk.core.schema import Role
from dpdesk.engine.method import (
    Exploration,
    ExplorationView,
    MethodInput,
    Outcome,
    RowsMethod,
)
from dpdesk.engine.registry import Registry
from dpdesk.io.workspace import Workspace


class Counted(Exploration):
    def __init__(self, rows: int) -> None:
        self.rows = rows

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        return ExplorationView(True, f"k = {parameters['k']} of {self.rows}", (), ())

    def pick(self, point: int) -> Mapping[str, object]:
        return {"k": point}


class Plain(RowsMethod):
    """A method that releases everything as it is: all that the use-cases need to know of one."""

    id = "plain"
    capabilities = Capabilities(
        Content.ROWS, None, Spending.NOTHING, RowOrder.SORTED, None, frozenset(), frozenset()
    )
    version = "1"
    title = "Plain"
    summary = "Nothing is changed."
    promise = "Nothing is promised."
    parameters = (IntegerParameter("k", "k", "A number.", required=True, minimum=2),)
    public_fields = (
        *settings("k"),
        PublicField("result.rows_out", Tells.NOTHING, "Counted from the released rows."),
    )

    def check(
        self,
        columns: Sequence[str],
        roles: Mapping[str, Role],
        parameters: Mapping[str, ParameterValue],
        where: str,
    ) -> None:
        assert list(roles) == list(columns)

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        return Counted(given.source.rows)

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        recoding = Recoding((), {}, (), np.empty((0, 0), np.int32), (), given.source.rows, 0)
        guarantee = Guarantee("plain", {}, "Nothing.", (), ())
        return Outcome(guarantee, {"rows_out": given.source.rows}, recoding)

    def verify(
        self, manifest: Mapping[str, object], published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        return ()

    def verify_with_source(self, *given: object) -> tuple[ClaimCheck, ...]:
        return ()


@pytest.fixture
def context(private_home: Path) -> Iterator[AppContext]:
    """A context whose one method changes nothing."""
    workspace = Workspace.open(private_home)
    with AppContext(workspace.home, workspace, Registry((Plain(),))) as opened:
        yield opened
