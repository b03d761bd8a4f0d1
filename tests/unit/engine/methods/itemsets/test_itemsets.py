"""Itemsets: choices lose no more than they say, bases cover what they must, counts are right."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.itemsets import bases as bases_module
from dpdesk.engine.methods.itemsets.bases import (
    LARGEST,
    SHARES,
    Items,
    Transactions,
    chosen_bases,
    fewest_items,
    frequent_sets,
    merged,
    precision_weights,
    top_sets,
)
from dpdesk.engine.methods.itemsets.comparing import found_of
from dpdesk.engine.methods.itemsets.design import Pace
from dpdesk.engine.methods.itemsets.merging import best_union
from dpdesk.engine.methods.itemsets.mined import mined_sets
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from dpdesk.engine.noise.choosing import Coins, choose
from dpdesk.engine.views.marginals import AgreeingViews
from tests.helpers.known_bits import SeededBits
from tests.reference.itemsets import AllPaths, frequent, judged, permute_and_flip

TOKEN = CancelToken()
tables = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.booleans()] * width), min_size=1, max_size=12)
)


def transactions(rows: list[tuple[bool, ...]]) -> Transactions:
    held, counts = np.unique(np.array(rows, bool), axis=0, return_counts=True)
    return Transactions(held, counts.astype(np.int64))


def plan(**keys: object) -> ItemsetSettings:
    raw = {"dimensions": ["a", "b"], "epsilon": 1, "top": 2} | keys
    return ItemsetSettings.from_parameters(parse_parameters(PARAMETERS, raw, "plan"), "plan")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.fractions(Fraction(1, 8), 2))
def test_a_choice_has_the_distribution_of_permute_and_flip(
    scores: list[int], rate: Fraction
) -> None:
    found = AllPaths().distribution(lambda coins: choose(scores, rate, coins, TOKEN))  # type: ignore[arg-type]
    for place, expected in enumerate(permute_and_flip(scores, float(rate))):
        assert isclose(found.get(place, 0.0), expected, rel_tol=1e-9, abs_tol=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 2)), min_size=1, max_size=4),
    st.fractions(Fraction(1, 8), 2),
)
def test_a_choice_tells_two_scores_apart_by_no_more_than_their_width(
    moved: list[tuple[int, int]], rate: Fraction
) -> None:
    changes = [change for _, change in moved]
    width = max(changes) - min(changes)
    one = permute_and_flip([score for score, _ in moved], float(rate))
    other = permute_and_flip([score + change for score, change in moved], float(rate))
    for first, second in zip(one, other, strict=True):
        assert first <= second * exp(float(rate) * width) * (1 + 1e-9)


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(9, 4)])
def test_a_coin_falls_with_exactly_the_probability_that_it_should(exponent: Fraction) -> None:
    class Scripted(Coins):
        def __init__(self, flips: tuple[bool, ...]) -> None:
            self.flips, self.chance = list(flips), Fraction(1)

        def heads(self, chance: Fraction) -> bool:
            if not self.flips:
                raise IndexError
            side = self.flips.pop(0)
            self.chance *= chance if side else 1 - chance
            return side

    heads = unsettled = Fraction(0)
    for flips in product((True, False), repeat=11):
        coin = Scripted(flips)
        try:
            side = coin.heads_exp(exponent)
        except IndexError:
            unsettled += coin.chance
            continue
        rest = Fraction(1, 2 ** len(coin.flips))
        heads += coin.chance * rest if side else 0
    low, high = float(heads), float(heads + unsettled)
    assert low - 1e-12 <= exp(-float(exponent)) <= high + 1e-12
    assert high - low < 0.02


def test_a_number_below_a_bound_takes_words_again_that_would_favour_some() -> None:
    class Words:
        def __init__(self) -> None:
            self.left = [5, (1 << 64) - 1]

        def words(self, n: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
            return np.array([self.left.pop(0) if self.left else 7] * n, np.uint64)[:n]

    coins = Coins(Words())
    coins._words = [4, (1 << 64) - 1]
    assert coins.below(3) == 1
    assert Coins(SeededBits(1)).below(1) == 0
    assert 0 <= Coins(SeededBits(1)).below(1 << 100) < 1 << 100


@settings(deadline=None, max_examples=80)
@given(tables, st.integers(1, 12), st.integers(1, 3))
def test_frequent_sets_are_those_that_counting_all_finds(
    rows: list[tuple[bool, ...]], most: int, longest: int
) -> None:
    assert frequent_sets(transactions(rows), most, longest, TOKEN) == frequent(rows, most, longest)


@settings(deadline=None, max_examples=40)
@given(tables, st.integers(1, 12))
def test_without_noise_one_basis_gives_every_count(rows: list[tuple[bool, ...]], top: int) -> None:
    held = transactions(rows)
    basis: Items = tuple(range(len(rows[0])))
    found = top_sets([basis], [held.of_basis(basis)], top, 3)
    assert found == frequent(rows, top, 3)


@settings(deadline=None, max_examples=60)
@given(st.sets(st.integers(0, 19), min_size=2, max_size=18), st.data())
def test_bases_hold_all_items_and_pairs(items: set[int], data: st.DataObject) -> None:
    every = list(combinations(sorted(items), 2))
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=40))
    found = merged(sorted(items), pairs, TOKEN)
    assert all(len(basis) <= LARGEST for basis in found)
    for own in [(item,) for item in items] + pairs:
        assert any(set(own) <= set(basis) for basis in found)


def test_bases_are_made_of_many_pairs_too_and_can_be_cancelled() -> None:
    """Of these pairs there are 3^20 largest sets all of whose pairs are among them."""
    pairs = [pair for pair in combinations(range(60), 2) if pair[0] // 3 != pair[1] // 3]
    found = merged(range(60), pairs, TOKEN)
    assert all(any({*pair} <= {*basis} for basis in found) for pair in pairs)
    cancelled = CancelToken()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        merged(range(60), pairs, cancelled)


@settings(deadline=None, max_examples=60)
@given(st.sets(st.integers(1, 255), min_size=2, max_size=6), st.integers(2, 8))
def test_the_union_that_is_made_lowers_the_mean_variance_most(sets: set[int], largest: int) -> None:
    bases = np.array(sorted(sets), np.int64)
    targets = np.array([t for t in range(1, 256) if any(not t & ~each for each in sets)], np.int64)

    def mean(kept: NDArray[np.int64]) -> float:
        return float(len(kept) ** 2 * (1 / precision_weights(kept, targets).sum(axis=0)).mean())

    unions = {
        pair: mean(np.append(bases[(bases & ~(bases[pair[0]] | bases[pair[1]])) != 0], union))
        for pair in combinations(range(len(bases)), 2)
        if (union := int(bases[pair[0]] | bases[pair[1]])).bit_count() <= largest
    }
    known = precision_weights(bases, targets).sum(axis=0)
    first, second = best_union(bases, targets, known, largest)
    if second:
        assert isclose(unions[first, second], min(unions.values()), rel_tol=1e-9)
    else:
        assert all(each >= mean(bases) * (1 - 1e-9) for each in unions.values())


NEIGHBOURS = [
    ([(True, True, False)] * 3 + [(False, True, True)], (True, True, True)),
    ([(True, False, False), (False, True, False)], (True, False, True)),
    ([(False, False, True)] * 2, (True, True, False)),
]


@pytest.mark.parametrize(("rows", "extra"), NEIGHBOURS)
@pytest.mark.parametrize("largest", [2, 3])
def test_what_bases_tell_of_a_person_is_within_their_budgets(
    rows: list[tuple[bool, ...]],
    extra: tuple[bool, ...],
    largest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exact likelihood ratios over all that can come, with one row more and with one replaced."""
    monkeypatch.setattr(bases_module, "LARGEST", largest)
    budgets = Fraction(1, 5), Fraction(4, 5)

    def chances(data: list[tuple[bool, ...]], width: int) -> dict[tuple[Items, ...], float]:
        held, rates = transactions(data), (budgets[0] / (2 * width), budgets[1] / width)
        return AllPaths().distribution(
            lambda coins: chosen_bases(held, 2, 2, rates, coins, TOKEN)  # type: ignore[arg-type]
        )

    for width, other in ((1, [*rows, extra]), (2, [*rows[1:], extra])):
        one, two = chances(rows, width), chances(other, width)
        assert isclose(sum(one.values()), 1, rel_tol=1e-9)
        assert one.keys() == two.keys()
        for made, chance in one.items():
            assert chance <= two[made] * exp(1) * (1 + 1e-9)
            assert two[made] <= chance * exp(1) * (1 + 1e-9)


@settings(deadline=None, max_examples=40)
@given(tables, st.data())
def test_a_person_changes_the_cells_of_all_bases_by_what_the_noise_is_scaled_to(
    rows: list[tuple[bool, ...]], data: st.DataObject
) -> None:
    extra = data.draw(st.tuples(*[st.booleans()] * len(rows[0])))
    bases: list[Items] = [(0,), (0, 1), (1,)]

    def cells(held: list[tuple[bool, ...]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.concatenate([transactions(held).of_basis(basis).ravel() for basis in bases])

    added = np.abs(cells(rows) - cells([*rows, extra])).sum()
    replaced = np.abs(cells(rows) - cells([extra, *rows[1:]])).sum()
    for neighbours, moved in (("add-remove", added), ("replace", replaced)):
        settings = plan(neighbours=neighbours)
        share = settings.shares[-1] * settings.budget
        assert moved / Pace.of(settings).scale_of(len(bases)) <= share


def test_the_shares_add_up_and_few_items_take_one_basis() -> None:
    assert sum(SHARES) == 1
    assert plan().shares == (1,)
    many = plan(dimensions=[f"i{n}" for n in range(LARGEST + 1)], top=20)
    assert many.shares == SHARES
    assert fewest_items(7, 3) == 3
    assert fewest_items(8, 3) == 4


def _views(draw: np.random.Generator, items: int) -> AgreeingViews:
    """Views over every three of some rows, so that they agree."""
    rows = draw.integers(0, 2, (40, items)) * draw.integers(0, 2, (40, 1))
    tables = {}
    for view in combinations(range(items), 3):
        index = rows[:, list(view)] @ np.array([4, 2, 1])
        tables[view] = np.bincount(index, minlength=8).astype(float).reshape(2, 2, 2)
    return AgreeingViews((2,) * items, tables)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 4))
def test_sets_mined_from_views_are_those_that_trying_all_of_them_finds(
    seed: int, most: int, longest: int
) -> None:
    agreed = _views(np.random.default_rng(seed), 5)
    count = {}
    for size in range(1, longest + 1):
        for own in combinations(range(5), size):
            made = agreed.marginal(own, TOKEN, entropy=True).values[(1,) * size]
            count[own] = min([float(made), *(count[p] for p in combinations(own, size - 1) if p)])
    every = sorted((-value, len(own), own) for own, value in count.items())
    found = mined_sets(agreed, most, longest, TOKEN, entropy=True)
    assert [own for _, own in found] == [own for _, _, own in every[:most]]
    assert [value for value, _ in found] == [-value for value, _, _ in every[:most]]


def test_views_without_rows_give_sets_without_rows_and_no_search_without_end() -> None:
    tables = {pair: np.zeros((2, 2)) for pair in combinations(range(40), 2)}
    found = mined_sets(AgreeingViews((2,) * 40, tables), 30, 6, TOKEN, entropy=True)
    assert found == [(0.0, (item,)) for item in range(30)]


def test_views_pay_with_the_whole_budget_once() -> None:
    mined = plan(mine="views", cover=1)
    assert mined.views is not None
    assert mined.views.cube.budget == mined.budget == 1
    assert mined.charge(None, "").cost == plan().charge(None, "").cost
    assert not mined.chooses


@given(tables, st.integers(1, 6), st.integers(1, 3), st.data())
def test_lists_are_judged_by_true_counts_and_ties_count_as_found(
    rows: list[tuple[bool, ...]], top: int, longest: int, data: st.DataObject
) -> None:
    every = [own for _, own in frequent(rows, 100, longest)]
    sets = st.lists(st.sampled_from(every), min_size=1, max_size=top, unique=True)
    lists = data.draw(st.lists(sets, min_size=1, max_size=3))
    noisy = [[(float(place), own) for place, own in enumerate(each)] for each in lists]
    found = found_of(transactions(rows), noisy, top, longest, TOKEN)
    assert (found.precision, found.recall, found.error) == pytest.approx(
        judged(rows, noisy, top, longest)
    )
    assert found.missed == 1 - found.recall
    true = [(float(count), own) for count, own in frequent(rows, top, longest)]
    assert found_of(transactions(rows), [true], top, longest, TOKEN).recall == 1
