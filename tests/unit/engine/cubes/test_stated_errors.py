"""What a release states of its errors is true of the whole path: design, measuring, processing.

The stated variance equals what the processing makes of every noisy cell, exactly; drawn errors have
that variance, no bias, and stay within the stated ± in 95 of 100 cases. Limits are those of
``tests.helpers.cube_trials``; the stream is known, so a test that passes once passes always.
``tests/soak/test_stated_errors.py`` tries every combination of settings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpdesk.engine.cubes.lattice import members
from dpdesk.engine.cubes.mechanism import scaled_residual
from dpdesk.engine.private.counting import place_rows
from tests.helpers.cube_errors import MEASURES, Study, budget, design_of, people
from tests.helpers.cube_trials import tried

DRAWS = 4_000

CASES: dict[str, tuple[float, bool, str, int, dict[str, Any]]] = {
    "bmax": (1, False, "count", 1, {}),
    "all, replace": (0.2, False, "sum", 2, {"planner": "all", "neighbours": "replace"}),
    "base": (5, False, "average", 1, {"planner": "base"}),
    "exact, narrow noise": (20, False, "several", 1, {"planner": "exact"}),
    "pmost": (1, False, "average", 3, {"planner": "pmost", "theta": 40}),
    "optimal": (1, False, "several", 2, {"planner": "optimal"}),
    "not consistent": (1, False, "count", 2, {"planner": "all", "consistency": "none"}),
    "bmax, Gaussian": (1, True, "sum", 1, {}),
    "all, Gaussian": (5, True, "average", 2, {"planner": "all", "neighbours": "replace"}),
    "optimal, Gaussian": (0.2, True, "count", 1, {"planner": "optimal"}),
    "residuals": (1, True, "several", 2, {"planner": "optimal", "basis": "residuals"}),
    "residuals, replace": (
        5, True, "count", 1,
        {"planner": "optimal", "basis": "residuals", "neighbours": "replace"},
    ),
}  # fmt: skip


def study(case: str) -> Study:
    epsilon, gaussian, measure, rows, keys = CASES[case]
    keys = budget(epsilon, gaussian=gaussian) | {"measure": MEASURES[measure]} | keys
    return Study(design_of(rows, **keys), people())


@pytest.mark.parametrize("case", CASES)
def test_errors_are_as_stated(case: str) -> None:
    found = tried(study(case), DRAWS, seed=17)
    assert found.stated == pytest.approx(1, abs=1e-9)
    assert not found.faults


@pytest.mark.parametrize("case", ["optimal", "residuals"])
def test_measuring_adds_the_noise_of_the_channels_to_true_counts(case: str) -> None:
    """So that drawing the noise alone, as the other tests do, is drawing releases."""
    made = study(case)
    noisy, noise = made.measured_and_noise(seed=5)
    exact = [values - drawn for values, drawn in zip(noisy, noise, strict=True)]
    settings, number = made.design.settings, 0
    for channel in made.design.channels:
        rows = place_rows(
            made.source, made.design.declared, channel.measure, "person",
            settings.rows_per_person, made.token,
        )  # fmt: skip
        for source in made.design.plan.sources:
            expected = rows.totals(members(source.cuboid), made.token)
            if source.residual:
                expected = scaled_residual(expected)
            assert np.array_equal(exact[number], expected)
            number += 1
    linear = made.linear
    assert made.processed(exact)[linear] == pytest.approx(made.truth[linear], abs=1e-9)


def test_a_variance_that_is_a_quarter_too_small_is_noticed() -> None:
    made = study("bmax")
    found = tried(made, DRAWS, seed=17, claimed=0.75)
    assert any("variance" in fault for fault in found.faults)


def test_noise_that_is_a_fifth_too_wide_is_noticed() -> None:
    made = study("optimal")
    assert any("variance" in fault for fault in tried(made, DRAWS, seed=17, widened=1.2).faults)


def test_a_half_width_that_is_too_narrow_is_noticed() -> None:
    made = study("base")
    assert any("±" in fault for fault in tried(made, DRAWS, seed=17, narrowed=0.8).faults)


def test_a_bias_of_a_third_of_a_deviation_is_noticed() -> None:
    made = study("all, Gaussian")
    assert any("bias" in fault for fault in tried(made, DRAWS, seed=17, shifted=1 / 3).faults)
