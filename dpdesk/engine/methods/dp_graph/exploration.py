"""Trying settings of a graph: each view is a design, so nothing is counted and nothing is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.method import ExplorationView
from dpdesk.engine.methods.dp_graph.design import GraphDesign, design_graph
from dpdesk.engine.private.guarantee_words import NO_BUDGET
from dpdesk.engine.private.method import PrivateInput


class GraphExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of a graph."""

    def __init__(self, given: PrivateInput, token: CancelToken) -> None:
        self._given = given
        self._token = token

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Errors, costs and guarantee of these settings; an unusable one says what is wrong."""
        return self.view_until(parameters, self._token, silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`: small graphs are enumerated, which may take a second. Raises
        Cancelled.
        """
        budget = parameters["epsilon"] is not None or parameters["rho"] is not None
        tried = parameters if budget else {**parameters, "epsilon": Fraction(1)}
        try:
            design = design_graph(replace(self._given, parameters=tried), token)
        except Cancelled:
            raise
        except DpdeskError as error:
            sentence = error.full if isinstance(error, InputError) else error.line
            key = error.details.get("key")
            return ExplorationView(False, sentence, (), (), at=key if isinstance(key, str) else "")
        if not budget:
            return ExplorationView(False, NO_BUDGET, design.charts[:1], (), supposed=True)
        return ExplorationView(
            True,
            _sentence(design),
            design.charts,
            design.figures,
            design.guarantee,
            notes=(
                *design.notes,
                Note(
                    "graph.planned",
                    "All errors are planned ones: they follow from the settings, and nothing was "
                    "counted.",
                ),
            ),
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """Nothing is chosen by a point of a chart."""
        return {}


def _sentence(design: GraphDesign) -> str:
    figures = {figure.key: figure for figure in design.figures}
    error = figures["error_edges"]
    return msg(
        "{tables} tables; the error of one edge is ± {width:,.4g} in 95 % of releases.",
        tables=len(design.tables),
        width=error.value,
    )
