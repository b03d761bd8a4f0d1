"""What the ledger is told of a cube's noise is never less than what one person can show."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import localcontext
from fractions import Fraction
from itertools import product

import pytest

from dpdesk.core.budget import Noise as LedgerNoise
from dpdesk.engine.accounting.tight import tight_delta
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.lattice import CubePlan, NoiseSource
from dpdesk.engine.cubes.mechanism import RowEffect, spread
from dpdesk.engine.private.kinds import Measure, Noise
from tests.reference import accounting as reference

CELLS = 2
BUDGET = Fraction(3, 2)


def channel(effect: RowEffect, noise: Noise) -> Channel:
    """One cuboid of :data:`CELLS` cells with the whole budget."""
    plan = CubePlan((CELLS,), (1,), noise, (NoiseSource(1, Fraction(1)),))
    spreads = tuple(spread(one, noise, BUDGET, effect, plan.shape) for one in plan.sources)
    return Channel(Measure("count"), effect, Fraction(1), BUDGET, plan, spreads, (1.0,))


def moves(effect: RowEffect) -> Iterator[tuple[int, ...]]:
    """Every change of the cells that one person can make."""
    values = range(min(effect.lowest, 0), effect.highest + 1)
    if effect.lowest == effect.highest:
        values = range(effect.lowest, effect.highest + 1)
    ways = {(0,) * CELLS}
    for count in range(1, effect.rows + 1):
        for rows in product(product(range(CELLS), values), repeat=count):
            table = [0] * CELLS
            for cell, value in rows:
                table[cell] += value
            ways.add(tuple(table))
    for way in ways:
        for before in ways if effect.replace else {(0,) * CELLS}:
            yield tuple(sorted(abs(a - b) for a, b in zip(way, before, strict=True)))


EFFECTS = [
    RowEffect(1, 1, 1, replace=False),
    RowEffect(1, 1, 1, replace=True),
    RowEffect(1, 1, 2, replace=False),
    RowEffect(1, 1, 2, replace=True),
    RowEffect(0, 2, 1, replace=False),
    RowEffect(-1, 2, 1, replace=True),
]


@pytest.mark.parametrize("effect", EFFECTS, ids=str)
@pytest.mark.parametrize("noise", list(Noise))
def test_no_change_by_a_person_is_told_apart_better_than_the_ledger_says(
    effect: RowEffect, noise: Noise
) -> None:
    made = channel(effect, noise)
    (draws,) = made.draws()
    if draws.noise is LedgerNoise.CONCENTRATED:
        assert draws.rho == BUDGET
        return
    one = reference.discrete_laplace if noise is Noise.LAPLACE else reference.discrete_gaussian
    for shifts in set(moves(effect)):
        with localcontext() as context:
            context.prec = reference.DIGITS
            parts = [reference.together(one(shift, made.spreads[0])) for shift in shifts]
            for epsilon in (Fraction(0), Fraction(1, 2), Fraction(5, 4)):
                exact = float(reference.delta(parts, epsilon)) * (1 - 1e-15)
                assert exact <= tight_delta([draws], float(epsilon))


@pytest.mark.parametrize("effect", EFFECTS, ids=str)
@pytest.mark.parametrize("noise", list(Noise))
def test_what_the_ledger_is_told_costs_the_budget_and_no_more(
    effect: RowEffect, noise: Noise
) -> None:
    (draws,) = channel(effect, noise).draws()
    cost = draws.epsilon if noise is Noise.LAPLACE else draws.rho
    assert cost is not None
    assert cost <= BUDGET
    assert noise is Noise.GAUSSIAN or cost == BUDGET


def test_a_replaced_row_is_two_small_steps_and_not_one_large_one() -> None:
    (draws,) = channel(RowEffect(1, 1, 1, replace=True), Noise.LAPLACE).draws()
    assert (draws.sensitivity, draws.count) == (1, 2)
