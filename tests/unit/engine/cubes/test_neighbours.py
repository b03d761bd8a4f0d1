"""Can releases of neighbouring tables be told apart better than ε allows?

Many draws are made of the smallest cubes, for a table and its neighbour; the chance of every set of
outcomes that could tell them apart is estimated, its lowest bits included, as samplers in floating
point betray themselves there. With the margin used, a right sampler fails with a chance below 1e-9;
the stream is known, so a test that passes once passes always.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.noise.laplace import DiscreteLaplace
from dpdesk.engine.private.method import PrivateInput
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource

EPSILON, DRAWS = 1.0, 3_000
CHANCE = 1e-9


def draws(rows: list[str], seed: int, count: int = DRAWS, **keys: object) -> np.ndarray:
    """All noisy values of many releases, shape (draws, values)."""
    method = DpCube()
    raw = {
        "dimensions": ["sex"],
        "domains": {"sex": ["f", "m"]},
        "epsilon": EPSILON,
        "planner": "all",
    } | keys
    given = PrivateInput(
        {"sex": Role.QUASI_IDENTIFIER}, {}, parse_parameters(method.parameters, raw, "plan")
    )
    design = method.design(given, CancelToken(), silent)
    source = MemorySource.of(("sex",), [(row,) for row in rows])
    bits, found = SeededBits(seed), []
    for _ in range(count):
        debit = debit_for_tests(design.charge.cost, design.charge.draws)
        noisy = design.measure(source, debit, bits, CancelToken(), silent).noisy
        found.append(np.concatenate([values.reshape(-1) for values in noisy.values]))
    return np.array(found)


EVENTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "total above": lambda x: x[:, 0] > 6,
    "a cell above": lambda x: x[:, 1] > 4,
    "both above": lambda x: (x[:, 0] > 5) & (x[:, 1] > 3),
    "sum above": lambda x: x.sum(axis=1) > 14,
    "even total": lambda x: x[:, 0] % 2 == 0,
    "even cell": lambda x: x[:, 1] % 2 == 0,
    "same parity": lambda x: (x[:, 0] + x[:, 1]) % 2 == 0,
    "divisible by 4": lambda x: x[:, 1] % 4 == 0,
    "likelihood": lambda x: (
        np.abs(x[:, 0] - 6) + np.abs(x[:, 1] - 4) < np.abs(x[:, 0] - 5) + np.abs(x[:, 1] - 3)
    ),
}


@pytest.fixture(scope="module")
def both() -> tuple[np.ndarray, np.ndarray]:
    with_her = ["f", "f", "f", "f", "m", "m"]
    return draws(with_her, 11), draws(with_her[1:], 12)


@pytest.mark.parametrize("name", EVENTS)
def test_no_event_tells_neighbouring_tables_apart_better_than_epsilon(
    both: tuple[np.ndarray, np.ndarray], name: str
) -> None:
    first, second = (EVENTS[name](values).mean() for values in both)
    margin = sqrt(log(4 / CHANCE) / (2 * DRAWS))  # Hoeffding, for both frequencies
    assert first - margin <= exp(EPSILON) * (second + margin)
    assert second - margin <= exp(EPSILON) * (first + margin)


def test_the_most_telling_event_comes_close_to_epsilon(
    both: tuple[np.ndarray, np.ndarray],
) -> None:
    """So that the test above would notice noise that is too small."""
    first, second = (EVENTS["likelihood"](values).mean() for values in both)
    assert first > 1.5 * second


def test_half_the_noise_would_be_noticed() -> None:
    with_her = ["f", "f", "f", "f", "m", "m"]
    first = draws(with_her, 21, epsilon=4 * EPSILON)
    second = draws(with_her[1:], 22, epsilon=4 * EPSILON)
    margin = sqrt(log(4 / CHANCE) / (2 * DRAWS))
    noticed = [
        event(first).mean() - margin > exp(EPSILON) * (event(second).mean() + margin)
        for event in EVENTS.values()
    ]
    assert any(noticed)


@pytest.mark.parametrize(
    "spoiled",
    [lambda noise: noise // 2 * 2, lambda noise: noise // 4 * 4 + 1, np.zeros_like],
    ids=["no lowest bit", "no two lowest bits", "no noise"],
)
def test_noise_without_its_lowest_bits_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, spoiled: Callable[[np.ndarray], np.ndarray]
) -> None:
    """As of a sampler in floating point, whose large values lie on a coarse grid."""
    draw, count = DiscreteLaplace.draw, 400
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda *given: spoiled(draw(*given)))
    with_her = ["f", "f", "f", "f", "m", "m"]
    first, second = draws(with_her, 31, count), draws(with_her[1:], 32, count)
    margin = sqrt(log(4 / CHANCE) / (2 * count))
    noticed = [
        name
        for name, event in EVENTS.items()
        if abs(event(first).mean() - event(second).mean()) > 0
        and max(event(first).mean(), event(second).mean()) - margin
        > exp(EPSILON) * (min(event(first).mean(), event(second).mean()) + margin)
    ]
    assert noticed
