"""Other ways to release a sensitive column: what their releases say on average, and how far off."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, StepProgress, silent
from dpdesk.engine.methods.l_diverted.comparing import (
    Sample,
    Setting,
    Trial,
    Way,
    estimates,
    measure,
    random_pool,
)
from dpdesk.engine.noise.randomness import SystemRandomness
from tests.benchmarks.diverted_figures import expected_error
from tests.helpers.diverted_releases import skewed_codes
from tests.reference.diverted_estimation import binomial

SETTING = Setting(3, 10, Fraction(1, 2))


def sample(rows: int = 3000, values: int = 8, goes_with: float = 0.5) -> Sample:
    """A table whose second column goes with the sensitive one for a share of the rows."""
    generator = np.random.default_rng(5)
    sensitive = skewed_codes(rows, values, 3, generator)
    columns = [
        generator.integers(0, 3, rows),
        np.where(generator.random(rows) < goes_with, sensitive % 4, generator.integers(0, 4, rows)),
    ]
    return Sample(np.array(columns, np.int32), sensitive.astype(np.int32), values)


def test_matching_rows_are_those_of_a_plain_loop() -> None:
    table = sample(300)
    pool = random_pool(table, 20, 2, np.random.default_rng(1))
    found = table.matching(pool, table.sensitive, CancelToken())
    slow = np.zeros_like(found)
    for query, wanted in enumerate(pool):
        for row in range(table.rows):
            if all(
                want in (-1, code) for want, code in zip(wanted, table.columns[:, row], strict=True)
            ):
                slow[query, table.sensitive[row]] += 1
    assert (found == slow).all()
    assert (found.sum(axis=1) > 0).all()


@pytest.mark.parametrize("way", list(Way))
def test_every_way_is_right_on_average_about_the_rows_that_match(way: Way) -> None:
    table = sample()
    pool = random_pool(table, 6, 2, np.random.default_rng(2))
    truth = table.matching(pool, table.sensitive, CancelToken())
    found = estimates(way, table, pool, SETTING, SystemRandomness(), CancelToken())
    assert found.shape == truth.shape
    if way in (Way.LAPLACE, Way.PAPER, Way.CORRECTED):
        return
    assert found.sum(axis=1) == pytest.approx(truth.sum(axis=1))


def test_anatomy_is_exact_about_predicates_that_hold_for_all_rows() -> None:
    table = sample()
    everything = np.full((1, 2), -1, np.int32)
    found = estimates(Way.ANATOMY, table, everything, SETTING, SystemRandomness(), CancelToken())
    assert found[0].tolist() == np.bincount(table.sensitive, minlength=8).tolist()


def test_noise_for_many_queries_is_as_wide_as_all_of_them_need() -> None:
    table = sample()
    pool = random_pool(table, 400, 2, np.random.default_rng(3))
    truth = table.matching(pool, table.sensitive, CancelToken())
    found = estimates(Way.LAPLACE, table, pool, SETTING, SystemRandomness(), CancelToken())
    deviation = float(np.std(found - truth))
    # Scale m/ε = 20; 3,200 draws, whose kurtosis of 6 gives a relative error below 2.5 % (1 σ).
    assert deviation == pytest.approx(20 * np.sqrt(2), rel=0.12)


def test_mixed_groups_with_all_values_beat_the_papers_way() -> None:
    table = sample(12_000, goes_with=1.0)
    pool = random_pool(table, 30, 2, np.random.default_rng(4))
    trials = [Trial(way, SETTING) for way in (Way.MIXED, Way.PAPER)]
    events: list[object] = []
    found = measure(table, pool, trials, 4, SystemRandomness(), CancelToken(), events.append)
    rmse = {each.trial.way: each.rmse for each in found}
    assert rmse[Way.MIXED] < 0.85 * rmse[Way.PAPER]
    assert events[-1] == StepProgress("Compare ways to release", 2, 2)
    assert all(np.isfinite(each.by_selectivity).any() for each in found)


def test_a_comparison_can_be_stopped() -> None:
    table, token = sample(), CancelToken()
    pool = random_pool(table, 3, 2, np.random.default_rng(4))
    token.cancel()
    with pytest.raises(Cancelled):
        measure(table, pool, [Trial(Way.MIXED, SETTING)], 1, SystemRandomness(), token, silent)


@pytest.mark.parametrize(("count", "size"), [(1, 2), (5, 10), (40, 3)])
def test_the_expected_error_of_a_value_is_that_of_its_binomial_count(count: int, size: int) -> None:
    chances = binomial(count * size, Fraction(1, size))
    exact = sum(abs(x - count) * chance for x, chance in enumerate(chances)) / count
    assert expected_error(count, size) == pytest.approx(float(exact))
