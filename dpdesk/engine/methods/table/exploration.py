"""Trying settings of protected tables: each view counts and protects; nothing is drawn or kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.method import CellsInput, CellsOutcome, ExplorationView
from dpdesk.engine.methods.table.deciding import decide


class TableExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of protected tables."""

    def __init__(self, given: CellsInput) -> None:
        self._given = given

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """What comes of these settings; unusable ones say what is wrong."""
        return self.view_until(parameters, CancelToken(), silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`; searching may take long. Raises Cancelled."""
        try:
            outcome = decide(replace(self._given, parameters=parameters), token, report)
        except Cancelled:
            raise
        except DpdeskError as error:
            sentence = error.full if isinstance(error, InputError) else error.line
            key = error.details.get("key")
            return ExplorationView(False, sentence, (), (), at=key if isinstance(key, str) else "")
        return ExplorationView(
            True,
            _sentence(outcome),
            tuple(outcome.charts),
            outcome.figures,
            outcome.guarantee,
            notes=outcome.notes,
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """Nothing is chosen by a point of a chart."""
        return {}


def _sentence(outcome: CellsOutcome) -> str:
    cells, unsafe = outcome.result["cells"], outcome.internal["primary"]
    return msg(
        "Of {cells} cells, {unsafe} are unsafe by the rules; {suppressed} are suppressed.",
        cells=f"{cells:,}",
        unsafe=f"{unsafe:,}",
        suppressed=f"{outcome.result['suppressed']:,}",
    )
