"""What the chart of suspicions states is never less than what a suspicion can become."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpdesk.engine.private.charts import odds_bars


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "2.5", "7", "30", "800"])
def test_no_suspicion_rises_above_what_the_chart_shows(epsilon: str) -> None:
    shown = odds_bars(float(epsilon), "one edge", "about one edge", "edges are independent")
    odds = Decimal(epsilon).exp()
    for (before, percent), bar in zip(shown.table.rows, shown.series[1].values, strict=True):
        prior = Decimal(str(before)) / 100
        truth = prior * odds / (1 - prior + prior * odds)
        assert truth <= Decimal(str(percent)) / 100 <= truth * Decimal("1.1")
        assert bar == pytest.approx(float(str(percent)) / 100)


def test_one_in_ten_becomes_at_most_24_percent_in_the_sentence_and_in_the_picture() -> None:
    shown = odds_bars(1.0, "one edge", "about one edge", "edges are independent")
    assert "at most 24 %" in shown.answer
    assert shown.table.rows[1] == (10.0, 24.0)
