"""Samples and swaps of households against an obvious reading of what they must be."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.core.tabulation import RowEdit
from dpdesk.engine.tables.edits import Units, number_of, sampled, swapped
from tests.reference import swaps as reference


def people(seed: int) -> tuple[Units, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Households with places, marks of their members, keys, and which rows may move."""
    rng = np.random.default_rng(seed)
    households = int(rng.integers(1, 25))
    codes = rng.permutation(np.repeat(np.arange(households), rng.integers(1, 4, households)))
    units = Units.by(codes)
    places = rng.integers(0, 3, len(units))[units.of]
    marks = rng.integers(0, 2, (len(codes), int(rng.integers(0, 3))))
    free = (rng.random(len(units)) < 0.9)[units.of]
    return units, places, marks, rng.integers(0, 2**64, len(codes), np.uint64), free


@given(st.integers(0, 10**6), st.sampled_from(["0.1", "0.5", "1"]))
@settings(max_examples=150, deadline=None)
def test_matched_households_change_places_each_once_and_as_many_as_can(
    seed: int, text: str
) -> None:
    units, places, marks, keys, free = people(seed)
    share, rows = Fraction(text), range(len(places))
    taken = swapped(units, places, marks, share, keys, free, CancelToken())

    of = [[row for row in rows if units.of[row] == unit] for unit in range(len(units))]
    kind = [tuple(sorted(tuple(marks[row].tolist()) for row in own)) for own in of]
    place = [int(places[own[0]]) for own in of]
    moved = {unit for unit, own in enumerate(of) if any(taken[row] != row for row in own)}
    partner = {unit: int(units.of[taken[of[unit][0]]]) for unit in moved}
    for unit, other in partner.items():
        assert all(units.of[taken[row]] == other for row in of[unit])
        assert partner[other] == unit
        assert kind[unit] == kind[other]
        assert place[unit] != place[other]
        assert free[of[unit][0]]
    wanted = number_of(share / 2, len(units))
    assert len(moved) <= 2 * wanted
    if len(moved) < 2 * wanted:
        left: dict[object, set[int]] = {}
        for unit in {*range(len(units))} - moved:
            if free[of[unit][0]]:
                left.setdefault(kind[unit], set()).add(place[unit])
        assert all(len(found) == 1 for found in left.values())
    after = places[taken]
    assert Counter(zip(units.of.tolist(), places.tolist(), strict=True)).total() == len(places)
    for unit in range(len(units)):
        assert len({int(after[row]) for row in of[unit]}) == 1
    before_ = Counter((kind[unit], place[unit]) for unit in range(len(units)))
    after_ = Counter((kind[unit], int(after[of[unit][0]])) for unit in range(len(units)))
    assert before_ == after_


@given(st.integers(0, 10**6), st.sampled_from(["0.1", "0.5", "1"]))
@settings(max_examples=150, deadline=None)
def test_partners_are_the_first_that_each_can_have_in_the_order_of_keys(
    seed: int, text: str
) -> None:
    units, places, marks, keys, free = people(seed)
    share = Fraction(text)
    rows = [np.flatnonzero(units.of == unit).tolist() for unit in range(len(units))]
    kinds = [reference.kind(own, marks.T.tolist()) for own in rows]
    place = places[units.first].tolist()
    alike = Counter(zip(kinds, place, strict=True))
    drawn = (keys[units.first].astype(float) + 0.5) / 2.0**64
    race = [-np.log(x) * alike[kind, at] for x, kind, at in zip(drawn, kinds, place, strict=True)]
    order = [
        unit for _, unit in sorted(zip(race, range(len(units)), strict=True))
        if free[units.first[unit]]
    ]  # fmt: skip
    wanted = reference.partners(order, kinds, place, number_of(share / 2, len(units)))
    taken = swapped(units, places, marks, share, keys, free, CancelToken())
    moved = np.flatnonzero(taken != np.arange(len(taken)))
    found = {frozenset((int(units.of[row]), int(units.of[taken[row]]))) for row in moved}
    assert found == set(map(frozenset, wanted))


def test_a_swap_can_be_stopped() -> None:
    units, places, marks, keys, free = people(2)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        swapped(units, places, marks, Fraction(1), keys, free, token)


@given(st.integers(0, 10**6), st.integers(1, 100))
@settings(max_examples=80, deadline=None)
def test_a_sample_has_whole_households_and_the_nearest_number_of_them(
    seed: int, percent: int
) -> None:
    units, _, _, keys, _ = people(seed)
    share = Fraction(percent, 100)
    kept = sampled(units, share, keys)
    inside = {int(unit) for unit in units.of[kept]}
    assert len(inside) == number_of(share, len(units))
    assert kept.sum() == sum(int(unit) in inside for unit in units.of)
    wider = sampled(units, min(Fraction(1), 2 * share), keys)
    assert not (kept & ~wider).any()


def test_all_have_the_same_chance_of_the_sample_and_rare_ones_a_larger_one_of_a_swap() -> None:
    rng = np.random.default_rng(1)
    units = Units.by(np.arange(60))
    marks = np.array([[0]] * 56 + [[1]] * 4)  # 28 alike in each place, and 2
    places = np.arange(60) % 2
    drawn, moved, rounds = np.zeros(60), np.zeros(60), 1500
    free = np.ones(60, dtype=bool)
    for _ in range(rounds):
        keys = rng.integers(0, 2**64, 60, np.uint64)
        drawn += sampled(units, Fraction(1, 4), keys)
        taken = swapped(units, places, marks, Fraction(1, 5), keys, free, CancelToken())
        moved += taken != np.arange(60)
    # 15 of 60 each time: six standard deviations of a binomial count.
    assert abs(drawn - rounds / 4).max() < 6 * (rounds * 3 / 16) ** 0.5
    assert moved[56:].min() > 2 * moved[:56].max()
    assert moved[:56].min() > 0
    assert moved[56:].max() < rounds


def test_an_edit_is_the_same_when_it_is_read_again() -> None:
    kept, taken = np.array([True, False] * 5 + [True]), np.arange(11)
    taken[[1, 4]] = [4, 1]
    again = RowEdit.from_json(RowEdit(kept, taken, ("region",)).as_json())
    assert again.kept.tolist() == kept.tolist()
    assert again.taken.tolist() == taken.tolist()
    assert again.columns == ("region",)
    everybody = RowEdit.from_json(RowEdit(np.ones(3, dtype=bool), np.arange(3)).as_json())
    assert everybody.kept.all()
    plain = RowEdit(kept, taken).as_json()
    for wrong in (
        {"kept": "ff"},
        {"moved": [11]},
        {"moved": [1]},
        {"rows": "11"},
        {"moved": [True, 4]},
    ):
        with pytest.raises((TypeError, ValueError)):
            RowEdit.from_json({**plain, **wrong})
