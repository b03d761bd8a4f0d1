"""The ± of every kind of answer holds the truth as often as it says; the soak draws more."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tests.helpers import graph_coverage
from tests.helpers.answer_coverage import CASES, coverage

DRAWS = 60


@pytest.mark.parametrize("case", CASES)
def test_the_half_width_of_answers_holds(case: str) -> None:
    found = coverage(case, DRAWS)
    shares = np.concatenate([each.ravel() for each in found.values()])
    told = shares[~np.isnan(shares)]
    # One number: 95 % falls this far in 60 draws with a chance of about 1 in 30,000.
    assert told.min() >= 0.95 - 4.5 * sqrt(0.95 * 0.05 / DRAWS)
    assert told.mean() >= 0.935


@pytest.mark.parametrize(("known", "change"), [(0, 1), (2, 5)])
@pytest.mark.parametrize("directed", [False, True])
def test_the_half_width_of_answers_from_graphs_holds(
    directed: bool, known: int, change: int
) -> None:
    least = graph_coverage.coverage(directed, known, change, DRAWS)
    assert least >= 0.95 - 4.5 * sqrt(0.95 * 0.05 / DRAWS)
