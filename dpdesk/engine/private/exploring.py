"""Trying settings before a budget is spent: each view is a design, so nothing is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.method import ExplorationView, unusable
from dpdesk.engine.private.guarantee_words import NO_BUDGET
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import Design, PrivateInput

PLANNED = "All errors are planned ones: they follow from the settings, and nothing was counted."
_Design = TypeVar("_Design", bound=Design)


def supposed_budget(parameters: Mapping[str, ParameterValue]) -> dict[str, ParameterValue] | None:
    """The parameters with ε = 1, or ρ = 1 for Gaussian noise; None where a budget is given."""
    if parameters["epsilon"] is not None or parameters.get("rho") is not None:
        return None
    key = "rho" if parameters.get("noise") == Noise.GAUSSIAN.value else "epsilon"
    return {**parameters, key: Fraction(1)}


@dataclass(frozen=True)
class DesignExploration(Generic[_Design]):
    """An :class:`~dpdesk.engine.method.Exploration` whose views are whole designs.

    ``planned`` is the code of the note that nothing was counted; ``sentence`` answers for a design,
    and the charts up to ``without_budget`` say something as long as no budget is given.
    """

    given: PrivateInput
    token: CancelToken
    planned: str
    design: Callable[[PrivateInput, CancelToken, Report], _Design]
    sentence: Callable[[_Design], str]
    without_budget: int = -1

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Errors, costs and guarantee of these settings; an unusable one says what is wrong."""
        return self.view_until(parameters, self.token, silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`. Raises Cancelled."""
        supposed = supposed_budget(parameters)
        tried = replace(self.given, parameters=supposed or parameters)
        try:
            design = self.design(tried, token, report)
        except Cancelled:
            raise
        except DpdeskError as error:
            return unusable(error)
        if supposed is not None:
            charts = design.charts[: self.without_budget]
            return ExplorationView(False, NO_BUDGET, charts, (), supposed=True)
        return ExplorationView(
            True,
            self.sentence(design),
            design.charts,
            design.figures,
            design.guarantee,
            notes=(*design.notes, Note(self.planned, PLANNED)),
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """Nothing is chosen by a point of a chart."""
        return {}
