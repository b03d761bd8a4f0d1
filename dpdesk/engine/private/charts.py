"""Figures and charts that every design has: what is spent, and what ε allows."""

from __future__ import annotations

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Figure,
    SeriesStyle,
    table_from,
)
from dpdesk.core.messages import msg
from dpdesk.engine.private.guarantee_words import highest_percent, suspicion_after
from dpdesk.engine.private.settings import PrivateSettings

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
        question=msg("How much surer can someone become {about}?", about=about),
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
