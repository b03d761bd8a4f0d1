"""The ± of every kind of answer from cubes, held against many draws of noise."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tests.helpers.answer_coverage import CASES, coverage
from tests.helpers.soak import SoakBook, scaled

pytestmark = pytest.mark.soak

DRAWS = 3_000


@pytest.mark.parametrize("case", CASES)
def test_answers_hold_the_truth_in_95_of_100_draws(case: str, book: SoakBook) -> None:
    draws = scaled(DRAWS)
    found = coverage(case, draws)
    least = {key: float(np.nanmin(shares)) for key, shares in found.items()}
    worst = min(least, key=lambda key: least[key])
    book.note(
        f"Answers from cubes: {case}",
        f"{draws:,} draws, {sum(shares.size for shares in found.values())} numbers",
        f"at least {least[worst]:.1%} within the ± ({worst[0]}, {worst[1]})",
    )
    assert least[worst] >= 0.95 - 4.5 * sqrt(0.95 * 0.05 / draws)
