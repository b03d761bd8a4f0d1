"""Accounting: every stated ε is an upper bound, and every formula has a second derivation."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.budget import Draws, Noise
from dpdesk.engine.accounting import (
    advanced_epsilon,
    group_delta,
    joint_epsilon,
    zcdp_epsilon,
)
from dpdesk.engine.accounting.tight import (
    Known,
    Losses,
    _by_fourier,
    convolved,
    curve,
    grouped,
    one_draw,
    renyi_bound,
    tight_delta,
    tight_epsilon,
)
from tests.reference import accounting as reference

MILLIONTH = Fraction(1, 10**6)
EPSILONS = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5, 2)]


def laplace(shift: int, scale: str, count: int = 1) -> Draws:
    return Draws(Noise.DISCRETE_LAPLACE, Fraction(shift), Fraction(scale), count)


def gaussian(shift: int, variance: str, count: int = 1) -> Draws:
    return Draws(Noise.DISCRETE_GAUSSIAN, Fraction(shift), Fraction(variance), count)


def pairs(draws: Draws) -> list[list[reference.Pair]]:
    """The enumerated outcomes of the same draws."""
    if draws.noise is Noise.PURE:
        one = reference.pure(draws.sensitivity / draws.spread)
    elif draws.noise is Noise.DISCRETE_GAUSSIAN:
        one = reference.discrete_gaussian(int(draws.sensitivity), draws.spread)
    else:
        one = reference.discrete_laplace(int(draws.sensitivity), draws.spread)
    return [reference.together(one)] * draws.count


def truth(draws: list[Draws], epsilon: Fraction) -> float:
    """The enumerated δ, rounded down."""
    with localcontext() as context:
        context.prec = reference.DIGITS
        exact = reference.delta([part for one in draws for part in pairs(one)], epsilon)
    return float(exact) * (1 - 1e-15)


def test_256_cuboids_at_a_256th_each_cost_a_quarter_of_what_simple_composition_says() -> None:
    cube = laplace(1, "256", 256)
    assert cube.epsilon == 1
    found = tight_epsilon(Known((cube,)), MILLIONTH)
    assert found is not None
    assert 0.2391 < found < 0.2393
    continuous = tight_epsilon(
        Known((Draws(Noise.LAPLACE, *[Fraction(1), Fraction(256)], 256),)), MILLIONTH
    )
    assert continuous is not None
    assert 0.2385 < continuous < found


def test_the_composition_of_equal_pure_mechanisms_is_the_known_binomial_sum() -> None:
    """Kairouz, Oh and Viswanath 2015, Theorem 3.3, in fractions of e^ε = 6/5 (ε rounded)."""
    ratio, count = Fraction(6, 5), 40
    epsilon = math.log(6 / 5)
    cube = laplace(1, str(Fraction(1 / epsilon)), count)
    for steps in (0, 4, 10, 20):
        exact = sum(
            math.comb(count, up)
            * (ratio**up - ratio ** (steps + count - up))
            / (1 + ratio) ** count
            for up in range(count + 1)
            if 2 * up - count > steps
        )
        found = tight_delta([cube], steps * epsilon)
        assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-13)


CASES = [
    [laplace(1, "2", 3)],
    [laplace(3, "2", 2)],
    [laplace(3, "2"), laplace(1, "3/2")],
    [laplace(1, "1/2"), laplace(2, "7")],
    [gaussian(1, "3", 2)],
    [gaussian(2, "3"), Draws(Noise.PURE, Fraction(1, 3), Fraction(1))],
    [gaussian(1, "1/3"), laplace(1, "5", 2)],
]


@pytest.mark.parametrize("draws", CASES, ids=range(len(CASES)))
def test_the_tight_delta_is_the_enumerated_one_or_a_little_more(draws: list[Draws]) -> None:
    for epsilon in EPSILONS:
        exact, found = truth(draws, epsilon), tight_delta(draws, float(epsilon))
        assert exact <= found <= exact + 1e-4


scales = st.fractions(Fraction(1, 2), 4, max_denominator=7)
some_draws = st.lists(
    st.one_of(
        st.builds(
            lambda steps, scale, count: Draws(
                Noise.DISCRETE_LAPLACE, Fraction(steps), scale, count
            ),
            st.integers(1, 4),
            scales,
            st.integers(1, 3),
        ),
        st.builds(
            Draws,
            st.just(Noise.DISCRETE_GAUSSIAN),
            st.integers(1, 2).map(Fraction),
            scales,
        ),
        st.builds(lambda ratio: Draws(Noise.PURE, ratio, Fraction(1)), scales),
    ),
    min_size=1,
    max_size=2,
)


@settings(max_examples=25, deadline=None)
@given(some_draws, st.fractions(0, 4, max_denominator=10))
def test_no_stated_delta_is_below_the_truth(draws: list[Draws], epsilon: Fraction) -> None:
    assert truth(draws, epsilon) <= tight_delta(draws, float(epsilon))


@settings(max_examples=25, deadline=None)
@given(some_draws, st.sampled_from([Fraction(1, 10), MILLIONTH, Fraction(1, 10**9)]))
def test_the_stated_epsilon_holds_and_is_no_larger_than_the_simple_ones(
    draws: list[Draws], delta: Fraction
) -> None:
    found = tight_epsilon(Known(tuple(draws)), delta)
    assert found is not None
    assert truth(draws, Fraction(found)) <= float(delta)
    rho = sum((one.rho for one in draws), Fraction(0))
    assert found <= zcdp_epsilon(rho, delta) + 1e-3
    parts = [one.epsilon for one in draws]
    if None not in parts:
        assert found <= float(sum(part for part in parts if part is not None)) * (1 + 1e-9)


@pytest.mark.parametrize("shifts", [(1, 2), (1, 1, 1), (2, 1), (3,)])
def test_one_cell_that_moves_by_all_dominates_any_cells_that_share_the_move(
    shifts: tuple[int, ...],
) -> None:
    for scale in (Fraction(1, 2), Fraction(2), Fraction(5)):
        whole = [Draws(Noise.DISCRETE_LAPLACE, Fraction(3), scale)]
        for epsilon in EPSILONS:
            with localcontext() as context:
                context.prec = reference.DIGITS
                shared = reference.delta([reference.several_cells(shifts, scale)], epsilon)
            assert float(shared) * (1 - 1e-15) <= tight_delta(whole, float(epsilon))


def test_a_coarsened_walk_is_never_better_than_the_walk() -> None:
    fine, coarse = laplace(12, "8"), laplace(4, "8/3")
    for epsilon in EPSILONS:
        assert truth([fine], epsilon) <= truth([coarse], epsilon) * (1 + 1e-12)
    long = tight_epsilon(Known((laplace(200_000, "200000", 2),)), MILLIONTH)
    continuous = tight_epsilon(
        Known((Draws(Noise.LAPLACE, Fraction(1), Fraction(1), 2),)), MILLIONTH
    )
    assert long is not None
    assert continuous is not None
    assert continuous - 1e-9 <= long <= continuous + 1e-3


def exact_gaussian_delta(rho: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), μ = √(2ρ)."""
    mu = math.sqrt(2 * rho)

    def below(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("variance", ["1", "25", "1000"])
@pytest.mark.parametrize("count", [1, 9])
def test_continuous_gaussian_noise_has_its_analytic_delta(variance: str, count: int) -> None:
    draws = Draws(Noise.GAUSSIAN, Fraction(1), Fraction(variance), count)
    for epsilon in (0.0, 0.1, 1.0, 3.0):
        exact = exact_gaussian_delta(float(draws.rho), epsilon)
        found = tight_delta([draws], epsilon)
        assert exact - 1e-15 <= found <= exact * 1.001 + 1e-9


@pytest.mark.parametrize("ratio", [0.01, 1.0, 8.0])
def test_continuous_laplace_noise_has_its_analytic_delta(ratio: float) -> None:
    """δ(ε) = 1 − e^{(ε − r)/2} for |ε| ≤ r: integrate (P − e^ε·Q)₊ over x > (r + ε)/2."""
    draws = Draws(Noise.LAPLACE, Fraction(ratio), Fraction(1))
    for share in (0.0, 0.3, 0.9, 1.5):
        epsilon = share * ratio
        exact = max(0.0, -math.expm1((epsilon - ratio) / 2))
        assert exact - 1e-15 <= tight_delta([draws], epsilon) <= exact + 1e-6


def test_wide_discrete_gaussian_noise_is_as_good_as_the_continuous() -> None:
    wide = gaussian(1, "1000000", 10_000)
    for epsilon in (0.1, 0.3):
        exact = exact_gaussian_delta(float(wide.rho), epsilon)
        assert tight_delta([wide], epsilon) == pytest.approx(exact, rel=0.01)


def test_many_unequal_draws_are_told_within_a_percent_of_equal_ones() -> None:
    uneven = tuple(laplace(1, str(256 + Fraction(step - 128, 10))) for step in range(256))
    found = tight_epsilon(Known(uneven), MILLIONTH)
    assert found is not None
    assert found == pytest.approx(0.2392, rel=0.01)


def test_what_is_known_as_rho_alone_is_added_with_a_share_of_delta() -> None:
    rho = Draws(Noise.CONCENTRATED, Fraction(1, 100), Fraction(1))
    cube = laplace(1, "256", 256)
    found = tight_epsilon(Known((cube, rho)), MILLIONTH)
    assert found is not None
    alone = zcdp_epsilon(Fraction(1, 100), MILLIONTH)
    assert alone < found < 1 + alone
    assert found <= zcdp_epsilon(cube.rho + Fraction(1, 100), MILLIONTH) + 1e-9


def test_what_is_known_as_epsilon_and_delta_takes_its_delta_first() -> None:
    known = Known((laplace(1, "2"),), (Fraction(1, 10), MILLIONTH))
    assert tight_epsilon(known, MILLIONTH / 2) is None
    at = tight_epsilon(known, 2 * MILLIONTH)
    alone = tight_epsilon(Known((laplace(1, "2"),)), MILLIONTH)
    assert at is not None
    assert alone is not None
    assert at == pytest.approx(alone + 0.1, abs=1e-9)
    assert tight_epsilon(Known(()), Fraction(0)) == 0.0


def test_at_delta_zero_pure_noise_costs_its_sum() -> None:
    found = tight_epsilon(Known((laplace(1, "2", 3),)), Fraction(1, 10**15))
    assert found == pytest.approx(1.5, rel=1e-6)


@given(st.integers(0, 10**6), st.integers(2, 3000), st.integers(2, 3000))
@settings(max_examples=25, deadline=None)
def test_a_convolution_by_fourier_is_off_by_no_more_than_it_says(
    seed: int, first: int, second: int
) -> None:
    """Against exact integers: masses of a few bits have a product that is computed exactly."""
    random = np.random.default_rng(seed)
    one, other = (
        random.integers(0, 2**10, length).astype(np.float64) / 2**20 for length in (first, second)
    )
    exact = (
        np.convolve((one * 2**20).astype(np.int64), (other * 2**20).astype(np.int64)).astype(
            np.float64
        )
        / 2**40
    )
    found, lost = _by_fourier(one, other)
    assert float(np.abs(found - exact).sum()) <= lost
    assert (found >= 0.0).all()


def test_long_lattices_are_composed_by_fourier_to_the_same_figure() -> None:
    steps = Fraction(1, 2**12)
    masses = np.full(20_000, 1 / 20_000)
    long = Losses(Fraction(-2), steps, masses)
    both = convolved(long, long)
    assert both.slack > 1e-290
    triangle = np.minimum(np.arange(1, 40_000), np.arange(39_999, 0, -1)) / 20_000**2
    exact = Losses(Fraction(-4), steps, triangle)
    for epsilon in (0.0, 1.0, 3.0, 5.0):
        assert exact.delta(epsilon) <= both.delta(epsilon) * (1 + 1e-9)
        assert both.delta(epsilon) == pytest.approx(exact.delta(epsilon), abs=1e-9)


def test_composing_can_be_cancelled() -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        tight_epsilon(Known((laplace(1, "2"), laplace(1, "3"))), MILLIONTH, stop)


def test_groups_of_people_walk_as_many_steps() -> None:
    assert grouped(laplace(2, "5", 3), 4) == laplace(8, "5", 3)
    pure = Draws(Noise.PURE, Fraction(1, 2), Fraction(1))
    assert grouped(pure, 3) == laplace(3, "2")
    assert grouped(gaussian(1, "10"), 2).rho == 4 * gaussian(1, "10").rho
    assert grouped(gaussian(1, "10"), 2).noise is Noise.CONCENTRATED
    continuous = Draws(Noise.GAUSSIAN, Fraction(1), Fraction(10))
    assert grouped(continuous, 3).rho == 9 * continuous.rho
    assert grouped(pure, 1) is pure


@pytest.mark.parametrize("rho", ["0.001", "0.024356", "0.5", "20"])
@pytest.mark.parametrize("delta", ["1e-6", "0.01", "1e-30"])
def test_zcdp_is_converted_as_the_definition_of_renyi_divergence_says(rho: str, delta: str) -> None:
    """Second derivation: minimise δ(ε) of (1) over a grid of orders at the ε that (2) gave."""
    exact, wanted = Fraction(rho), Fraction(delta)
    epsilon = zcdp_epsilon(exact, wanted)
    simple = float(exact) + 2 * math.sqrt(float(exact) * -math.log(float(wanted)))
    assert epsilon <= simple * (1 + 1e-12)
    least = min(
        (order - 1) * (order * float(exact) - epsilon)
        - math.log(order - 1)
        + order * math.log1p(-1 / order)
        for order in (1 + 10 ** (power / 200) for power in range(-600, 800))
    )
    assert least == pytest.approx(math.log(float(wanted)), abs=2e-3, rel=1e-3)


@pytest.mark.parametrize("rho", [0.05, 0.5, 4.0])
def test_converted_zcdp_is_an_upper_bound_on_the_gaussian_itself(rho: float) -> None:
    for delta in (1e-3, 1e-8):
        epsilon = zcdp_epsilon(Fraction(rho), Fraction(delta))
        assert exact_gaussian_delta(rho, epsilon) <= delta


def test_nothing_spent_needs_no_delta_and_no_delta_needs_nothing_spent() -> None:
    assert zcdp_epsilon(Fraction(0), Fraction(0)) == 0.0
    with pytest.raises(ValueError, match="δ must be above 0"):
        zcdp_epsilon(Fraction(1), Fraction(0))


def test_renyi_divergences_are_those_of_the_enumerated_outcomes() -> None:
    for draws in (laplace(1, "2"), laplace(3, "2"), gaussian(1, "3")):
        for order in (1.5, 2.0, 7.0):
            with localcontext() as context:
                context.prec = reference.DIGITS
                total = sum((q * (p / q) ** Decimal(order) for p, q in pairs(draws)[0]), Decimal(0))
            exact = float(total.ln()) / (order - 1)
            found = curve(draws)(order)
            assert exact <= found * (1 + 1e-12)
            if draws.noise is Noise.DISCRETE_LAPLACE:
                assert found == pytest.approx(exact, rel=1e-9)


def test_the_renyi_divergence_of_laplace_noise_is_that_of_its_losses() -> None:
    draws = Draws(Noise.LAPLACE, Fraction(3, 2), Fraction(1))
    losses = one_draw(draws)
    for order in (1.1, 2.0, 10.0):
        masses = losses.masses
        moment = float(
            sum(m * math.exp((order - 1) * v) for m, v in zip(masses, losses.values, strict=True))
        )
        assert curve(draws)(order) == pytest.approx(math.log(moment) / (order - 1), rel=1e-4)


def test_renyi_bounds_hold_and_the_composed_one_is_less() -> None:
    cube = laplace(1, "256", 256)
    by_renyi, composed = renyi_bound([cube], MILLIONTH), tight_epsilon(Known((cube,)), MILLIONTH)
    assert composed is not None
    assert composed < by_renyi < 1.2 * composed


def test_kinds_are_joined_by_adding_up_what_each_of_them_costs() -> None:
    pure, rho, nothing = Fraction(1), Fraction(1, 10), (Fraction(0), Fraction(0))
    assert joint_epsilon(pure, Fraction(0), nothing, Fraction(0)) == 1
    joined = joint_epsilon(pure, rho, nothing, MILLIONTH)
    assert joined == 1 + Fraction(zcdp_epsilon(rho, MILLIONTH))
    assert joint_epsilon(pure, rho, nothing, Fraction(0)) is None
    spent = (Fraction(1), MILLIONTH)
    assert joint_epsilon(pure, Fraction(0), spent, MILLIONTH / 2) is None
    assert joint_epsilon(pure, rho, spent, MILLIONTH) is None
    assert joint_epsilon(pure, Fraction(0), spent, MILLIONTH) == 2


def test_the_tight_figure_takes_pure_draws_into_rho_where_that_is_less() -> None:
    cube = laplace(1, "256", 256)
    known = Known((cube, Draws(Noise.CONCENTRATED, Fraction(1, 10), Fraction(1))))
    found = tight_epsilon(known, MILLIONTH)
    assert found is not None
    assert found <= zcdp_epsilon(cube.rho + Fraction(1, 10), MILLIONTH) + 1e-9


def test_delta_of_a_group_is_at_least_the_sum_along_the_path() -> None:
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**6)
    for size in (1, 2, 5):
        along = sum(math.exp(step * 0.5) for step in range(size)) * 1e-6
        assert along <= float(group_delta(epsilon, delta, size)) * (1 + 1e-12)
    assert group_delta(Fraction(1000), delta, 5) == 1


def test_advanced_composition_holds_and_the_composed_one_is_less() -> None:
    parts = [(Fraction(1, 256), 256)]
    found = advanced_epsilon(parts, MILLIONTH)
    drift, spread = 256 * math.tanh(1 / 512) / 256, math.sqrt(2 * math.log(1e6) * 256) / 256
    assert found == pytest.approx(drift + spread, rel=1e-9)
    assert tight_delta([laplace(1, "256", 256)], found) <= 1e-6
    assert advanced_epsilon([(Fraction(1), 1)], MILLIONTH) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="δ above 0"):
        advanced_epsilon(parts, Fraction(0))
