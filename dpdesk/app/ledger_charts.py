"""A picture of what an account has spent, debit after debit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.app.budgets import AccountPicture
from dpdesk.core.budget import PureEpsilon, amount_text
from dpdesk.core.charts import Axis, PointSeries, ScatterChart, SeriesStyle, table_from
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.project.ledger import Figures

CURVES = "ledger-curves"
MOST_POINTS = 24


def account_curves(account: AccountPicture, delta: Fraction, token: CancelToken) -> ScatterChart:
    """ε at ``delta`` after each debit, by simple sums and by tight composition.

    Of many debits some are drawn, the last one always. Raises Cancelled.
    """
    from dpdesk.project.ledger import figures

    count = len(account.debits)
    places = [int(n) for n in np.unique(np.linspace(1, count, min(count, MOST_POINTS)).round())]
    found = [figures(account.debits[:place], delta, token.check) for place in places]
    limit = account.limit
    line = float(limit.epsilon) if isinstance(limit, PureEpsilon) else None
    simple = [_number(one.simple) for one in found]
    tight = [_number(one.tight) for one in found]
    unit = msg("ε at δ = {delta}", delta=amount_text(delta))
    return ScatterChart(
        id=CURVES,
        question="How does the spending add up?",
        answer=_answer(found),
        x_axis=Axis("Debits", "number", minimum=0, whole=True),
        y_axis=Axis("Spent", unit, minimum=0),
        series=(
            _series("simple sum", places, simple, SeriesStyle.FIRST),
            _series("tight composition", places, tight, SeriesStyle.SECOND),
        ),
        table=table_from(
            [
                "Debits",
                msg("Simple sum ({unit})", unit=unit),
                msg("Tight composition ({unit})", unit=unit),
            ],
            [
                [place, _cell(one.simple), _cell(one.tight)]
                for place, one in zip(places, found, strict=True)
            ],
        ),
        y_limit=line,
        y_limit_label="" if line is None else "limit",
        short="Spending",
    )


def _series(name: str, places: list[int], values: list[float], look: SeriesStyle) -> PointSeries:
    known = [place for place, value in enumerate(values) if value == value]
    return PointSeries(
        name,
        np.array([places[place] for place in known], dtype=np.float64),
        np.array([values[place] for place in known], dtype=np.float64),
        look=look,
        stepped=True,
    )


def _answer(found: Sequence[Figures]) -> str:
    if not found:
        return "Nothing has been spent."
    last = found[-1]
    if last.simple is None or last.tight is None:
        return "No ε holds at this δ: more δ has been spent."
    return msg(
        "Simple sum ε = {simple:.4g}, tight composition ε = {tight:.4g}.",
        simple=float(last.simple),
        tight=last.tight,
    )


def _number(value: Fraction | float | None) -> float:
    return float("nan") if value is None else float(value)


def _cell(value: Fraction | float | None) -> float | None:
    return None if value is None else round(float(value), 6)
