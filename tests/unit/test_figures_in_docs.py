"""Figures in the pages of ``resources/docs`` that can be computed are those that are computed."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom

from dpdesk.engine.accounting.advanced import advanced_epsilon
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.widths import half_width
from dpdesk.report.cubes import table_width
from tests.helpers.released_cubes import design, memory_release

DOCS = Path(__file__).parents[2] / "resources" / "docs"


def words(page: str) -> str:
    """The text of a page without line ends."""
    return " ".join((DOCS / page).read_text("utf-8").split())


def test_advanced_composition_of_256_cuboids() -> None:
    found = advanced_epsilon([(Fraction(1, 256), 256)], Fraction(1, 10**6))
    assert f"The 256 cuboids of below have {found:.4f} so;" in words("ledger.md")


def mean_error(rows: int, size: int) -> float:
    """E|f' - f| / f for f' ~ Binomial(ℓ′f, 1/ℓ′), added up over all outcomes, in percent."""
    return float(binom(rows * size, 1 / size).expect(lambda x: abs(x - rows)) / rows * 100)


def test_mean_errors_of_counts_of_a_drawn_value() -> None:
    text = words("diverted-figures.md")
    common = f"{mean_error(4140, 2):.3f} % at ℓ′ = 2, {mean_error(4140, 7):.3f} % at ℓ′ = 7;"
    assert f"Adult, 4,140 rows: {common}" in text
    assert f"9 rows: {mean_error(9, 2):.1f} to {mean_error(9, 7):.1f} %." in text


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.5}])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_which_shares_of_the_budget_are_best_for_an_average(
    budget: dict[str, Any], neighbours: str
) -> None:
    average = {"average": "pay", "lower": 0, "upper": 2_000_000}
    keys = budget | {"measure": average, "neighbours": neighbours, "planner": "base"}
    total, count = design({"sex": "fm"}, publish=[["sex"]], **keys).channels
    power = 2 if "epsilon" in budget else 1
    half = 1_000_000

    def variance(share: float) -> float:
        """Of the average, times n², with this share of the budget for the count."""
        of_sum = total.variances[0] * float(total.unit) ** 2 / (2 * (1 - share)) ** power
        return float(of_sum + half**2 * count.variances[0] / (2 * share) ** power)

    best = minimize_scalar(variance, bounds=(0.1, 0.9), method="bounded").x
    saved = 1 - variance(best) / variance(0.5)
    if neighbours == "replace" and "rho" in budget:
        assert f"{best:.1%} of ρ for the count".replace("%", " %") in words("cubes.md")
        assert f"make the variance {saved:.1%} smaller".replace("%", " %") in words("cubes.md")
    else:  # but for the whole numbers of the count's noise
        assert saved < 0.005


def test_tight_composition_of_256_cuboids() -> None:
    """The loss of discrete Laplace noise of scale 1/ε is ±ε, so the sum of 256 is a binomial."""
    each, delta = 1 / 256, 1e-6
    more = binom(256, 1 / (1 + np.exp(-each)))
    count = np.arange(257)
    losses = (2 * count - 256) * each

    def over(epsilon: float) -> float:
        return float((more.pmf(count) * np.maximum(0, 1 - np.exp(epsilon - losses))).sum() - delta)

    found = brentq(over, 0, 1)
    assert f"are ε = 1 simply, and {found:.3f} at δ = 10⁻⁶." in words("ledger.md")


def test_thresholds_of_example_1() -> None:
    def least(share: Fraction, most: int) -> int:
        """The least count from which on errors of this share are as rare as wanted."""
        counts = np.arange(1, most)
        far = [-(-share.numerator * int(f) // share.denominator) for f in counts]
        spread = binom(10 * counts, 0.1)
        chances = spread.cdf(counts - far) + spread.sf(counts + np.array(far) - 1)
        return int(counts[chances > 0.02].max()) + 1

    coarse, fine = least(Fraction(1, 5), 1_000), least(Fraction(1, 50), 30_000)
    paper = ceil(sqrt(1 / (10 * 0.02**2 * 0.02)))
    text = words("diverted-figures.md")
    assert f"(ℓ′ = 10, T_E = 0.02) is {coarse}, not 11, for ε = 0.2, and {fine:,}, not 49," in text
    assert f"the paper's own formula gives {paper} for the latter" in text


def test_widths_of_whole_numbers() -> None:
    shape = {"a": 30, "b": 20, "c": 2}
    domains = {name: [f"{name}{n}" for n in range(count)] for name, count in shape.items()}
    release = memory_release(domains, epsilon=12, planner="all", integral=True)
    cuboids = release.manifest["result"]["cuboids"]  # type: ignore[index]
    item = next(each for each in cuboids if each["dimensions"] == ["c"])
    whole = table_width(item, release.manifest)
    noise = half_width(Noise.LAPLACE, item["variance"], 1)
    text = words("cubes.md")
    assert f"its ± is {whole:.1f} persons" in text
    assert f"the ± of the noise alone, {noise:.1f}, held" in text
