"""Figures and charts that every design has: what is spent, and what ε allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

from dpdesk.core.charts import Axis, BarChart, BarSeries, Figure, SeriesStyle, table_from
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.method import ExplorationView, unusable
from dpdesk.engine.private.guarantee_words import NO_BUDGET, highest_percent, suspicion_after
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import Design, PrivateInput
from dpdesk.engine.private.settings import PrivateSettings

# Trying settings before a budget is spent: each view is a design, so nothing is counted.


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


PRIORS = (0.01, 0.1, 0.5)


def loss_figure(settings: PrivateSettings) -> Figure:
    """The budget that a design spends."""
    return Figure(
        "epsilon" if settings.pure else "rho",
        "Privacy loss ε" if settings.pure else "Privacy loss ρ",
        float(settings.budget),
        better="lower",
        help="What the release spends of the budget.",
        headline=True,
        about="risk",
    )


def change_figure(change: int, unit: str, help_text: str) -> Figure:
    """The size of a minimal change beside what is exact."""
    return Figure(
        "minimal_change",
        "Size of a minimal change",
        change,
        "count",
        unit=unit,
        help=help_text,
        headline=True,
    )


def odds_bars(epsilon: float, subject: str, about: str, given: str) -> BarChart:
    """What suspicions of ``subject`` can become with this ε, rounded up; by suspicion before.

    Source: membership privacy slides, with posterior <= p e^eps / (1 - p + p e^eps).
    """
    after = tuple(float(highest_percent(prior, epsilon)) for prior in PRIORS)
    return BarChart(
        id="cube-odds",
        question=msg("How much more certain can someone become {about}?", about=about),
        answer=(
            msg(
                "A suspicion of 10 % of {subject} can become at most {suspicion_after} "
                "%, if {given}.",
                subject=subject,
                suspicion_after=suspicion_after(epsilon),
                given=given,
            )
        ),
        category_axis=Axis("Suspicion before", "chance"),
        value_axis=Axis("Chance", "%", percent=True, minimum=0.0, maximum=1.0),
        categories=tuple(f"{100 * prior:g} %" for prior in PRIORS),
        series=(
            BarSeries("Before", PRIORS, SeriesStyle.REFERENCE, outline=True),
            BarSeries("After, at most", tuple(each / 100 for each in after), SeriesStyle.FIRST),
        ),
        table=table_from(
            ["Before (%)", "After, at most (%)"],
            [[100 * prior, percent] for prior, percent in zip(PRIORS, after, strict=True)],
        ),
        short="Suspicions",
    )
