"""Headline numbers and beliefs of a diverted release, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpdesk.core.charts import Figure
from dpdesk.engine.diverted.eligibility import Eligibility, largest_common_l
from dpdesk.engine.diverted.settings import Settings


def beliefs(found: Sequence[Eligibility]) -> dict[str, object]:
    """What somebody who knows only the value counts believes, by column; shares of 1."""
    return {each.attribute: _beliefs(each) for each in found}


def _beliefs(found: Eligibility) -> dict[str, object]:
    rarest, most = found.counts[-1].rows, found.counts[0].rows
    return {
        "values": len(found.counts),
        "rows": found.rows,
        "most_rows_of_a_value": most,
        "rows_allowed": found.allowed,
        "belief_before_rarest": rarest / found.rows,
        "belief_before_most_frequent": most / found.rows,
        "belief_after": 1 / found.l,
    }


def headline_figures(
    settings: Settings, found: Sequence[Eligibility], removed: int, lost: int
) -> tuple[Figure, ...]:
    """The chance that a value is true, the error of counts, and the rows that are lost."""
    figures = [_belief(settings), _deviation(settings), _lost("rows_removed", removed)]
    if settings.k is not None:
        figures.append(_lost("rows_suppressed", lost))
    largest = Figure(
        "largest_l",
        "Largest ℓ′ that these columns allow",
        largest_common_l(found),
        "count",
        help="The rows over those of the most frequent value.",
    )
    return (*figures, largest)


def _belief(settings: Settings) -> Figure:
    return Figure(
        "belief",
        "Chance that a published value is true",
        1 / settings.l,
        "share",
        better="lower",
        help="For somebody who knows only how often each value occurs.",
        headline=True,
        about="risk",
    )


def _deviation(settings: Settings) -> Figure:
    return Figure(
        "deviation",
        "Standard deviation of a count of 1,000",
        float(Fraction(1000) * (1 - Fraction(1, settings.l))) ** 0.5,
        "number",
        unit="rows",
        better="lower",
        help="Of one value, over the whole table: √(f·(1 − 1/ℓ′)), whatever the data.",
        headline=True,
        about="loss",
    )


_LOST = {
    "rows_removed": (
        "Rows removed at random",
        "So that the number of rows is a multiple of ℓ′.",
    ),
    "rows_suppressed": (
        "Rows suppressed for k",
        "Rows with rare combinations of quasi-identifiers.",
    ),
}


def _lost(key: str, rows: int) -> Figure:
    label, why = _LOST[key]
    return Figure(key, label, rows, "count", better="lower", help=why, about="loss")
