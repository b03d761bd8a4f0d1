"""Private choices: utilities, what one person changes, exact chances, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_choice.design import error_of, runs_of
from dpdesk.engine.methods.dp_choice.method import DpChoice
from dpdesk.engine.methods.dp_choice.settings import PARAMETERS, ChoiceSettings, Wanted
from dpdesk.engine.noise.choosing import Coins, Weights, choose_run
from dpdesk.engine.private.method import PrivateInput
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import ListedBits, SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.reference import choices as reference

TOKEN = CancelToken()
HALF, TENTHS = Fraction(1, 2), Fraction(9, 10)
SHARES = (HALF, Fraction(1, 4), TENTHS, Fraction(1, 3))
CANDIDATES, MOST = 4, 4
TABLES = [
    rows
    for count in range(MOST + 1)
    for rows in combinations_with_replacement(range(CANDIDATES), count)
]
ROLES = dict.fromkeys(("region", "pay", "job"), Role.INSENSITIVE)
DOMAINS = {"region": ["n", "s"], "job": ["nurse", "cook"]}
GRID = {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 30, "step": 10}


def settings_for(
    q: Fraction | None, *, replaced: bool, grouped: bool, rows: int = 1
) -> tuple[ChoiceSettings, Wanted]:
    chosen = {"mode": "job"} if q is None else GRID | {"quantile": q}
    raw: dict[str, Any] = {
        "choose": chosen,
        "epsilon": 1,
        "rows_per_person": rows,
        "neighbours": "replace" if replaced else "add-remove",
    }
    if grouped:
        raw["groups"] = ["region"]
    found = ChoiceSettings.from_parameters(parse_parameters(PARAMETERS, raw, "plan"), "plan")
    return found, found.wanted[0]


def scores(rows: Sequence[int], q: Fraction | None) -> list[Fraction]:
    return reference.utilities(rows, CANDIDATES, q)


@given(
    st.sampled_from([*SHARES, None]),
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 5)), max_size=6),
)
def test_runs_have_the_utilities_of_the_definition(
    q: Fraction | None, held: list[tuple[int, int]]
) -> None:
    held = sorted(held)
    places = np.array([place for place, _ in held], np.int64)
    counts = np.array([count for _, count in held], np.int64)
    first, sizes, found = runs_of(q, 9, places, counts)
    assert first == [sum(sizes[:i]) for i in range(len(sizes))]
    each = [score for score, size in zip(found, sizes, strict=True) for _ in range(size)]
    rows = [place for place, count in held for _ in range(count)]
    whole = 1 if q is None else q.denominator
    assert each == [whole * score for score in reference.utilities(rows, 9, q)]


@given(st.sampled_from(SHARES), st.lists(st.integers(0, 8), max_size=9))
def test_some_candidate_is_a_quantile(q: Fraction, rows: list[int]) -> None:
    assert max(reference.utilities(rows, 9, q)) == 0


@pytest.mark.parametrize("q", [*SHARES, None])
def test_a_person_changes_utilities_by_no_more_than_is_stated(q: Fraction | None) -> None:
    """All tables of up to four rows with four candidates, and each neighbour of each."""
    added = max(
        reference.width(scores(rows, q), scores((*rows, new), q))
        for rows, new in product(TABLES, range(CANDIDATES))
    )
    twice = max(
        reference.width(scores(rows, q), scores((*rows, *new), q))
        for rows in TABLES
        for new in combinations_with_replacement(range(CANDIDATES), 2)
    )
    swapped = max(
        reference.width(scores((*rows, old), q), scores((*rows, new), q))
        for rows, old, new in product(TABLES, range(CANDIDATES), range(CANDIDATES))
    )
    for grouped in (False, True):
        own, one = settings_for(q, replaced=False, grouped=grouped)
        assert added <= own.width(one)
        two, _ = settings_for(q, replaced=False, grouped=grouped, rows=2)
        assert twice <= two.width(one) == 2 * own.width(one)
        other, _ = settings_for(q, replaced=True, grouped=grouped)
        assert max(swapped, added) <= other.width(one)
        if grouped:  # a row goes from one group to another
            assert 2 * added <= other.width(one)
    if q in (None, HALF):  # no smaller number would do
        assert added == settings_for(q, replaced=False, grouped=False)[0].width(one)
        assert swapped == settings_for(q, replaced=True, grouped=False)[0].width(one)


def test_no_smaller_number_would_do_for_high_quantiles() -> None:
    own, one = settings_for(TENTHS, replaced=False, grouped=False)
    before, after = scores([1] * 10, TENTHS), scores([*[1] * 10, 3], TENTHS)
    assert reference.width(before, after) == own.width(one) == Fraction(9, 5)


@pytest.mark.parametrize("q", [HALF, TENTHS, None])
@pytest.mark.parametrize("replaced", [False, True])
def test_no_output_of_groups_becomes_more_likely_than_epsilon_allows(
    q: Fraction | None, replaced: bool
) -> None:
    """Exact likelihood ratios of the choices of two groups together."""
    settings, one = settings_for(q, replaced=replaced, grouped=True)
    rate, few = settings.rate(one), [rows for rows in TABLES if len(rows) <= 2]
    chance = {rows: reference.chances(scores(rows, q), rate) for rows in TABLES}
    limit = Decimal(1).exp() * (1 + Decimal(10) ** -20)

    def moved() -> Iterator[tuple[tuple[Sequence[int], ...], tuple[Sequence[int], ...]]]:
        for left, right, new in product(few, few, range(CANDIDATES)):
            bigger = tuple(sorted((*left, new)))
            if not replaced:
                yield (left, right), (bigger, right)
                continue
            for old in range(CANDIDATES):
                yield (bigger, right), (tuple(sorted((*left, old))), right)
                yield (bigger, right), (left, tuple(sorted((*right, old))))

    worst = Decimal(0)
    for before, after in moved():
        ratios = [
            max(max(a / b, b / a) for a, b in zip(chance[x], chance[y], strict=True))
            for x, y in zip(before, after, strict=True)  # type: ignore[arg-type]
        ]
        worst = max(worst, ratios[0] * ratios[1])
    assert Decimal(1) < worst <= limit


def _uniform(words: Sequence[int]) -> Decimal:
    found = Decimal(0)
    for place, word in enumerate(words, start=1):
        found += Decimal(word) / Decimal(2) ** (64 * place)
    return found


def _cumulated(gaps: Sequence[int], sizes: Sequence[int], rate: Fraction) -> list[Decimal]:
    each = [-Fraction(gap) for gap in gaps for _ in range(1)]
    weights = reference.chances(each, rate)
    total = sum(w * s for w, s in zip(weights, sizes, strict=True))
    sums = [w * s / total for w, s in zip(weights, sizes, strict=True)]
    return [sum(sums[: i + 1], Decimal(0)) for i in range(len(sums))]


class _Listed(Coins):
    """Coins of listed words, which says how many it took."""

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__(ListedBits(()))
        self._words = list(words)[::-1]
        self.start = len(words)

    @property
    def taken(self) -> int:
        return self.start - len(self._words)


CASES = (
    ([0, 3, 1], [1, 5, 2], Fraction(1, 3)),
    ([2, 0], [10**6, 1], Fraction(7, 5)),
    ([0], [9], Fraction(1)),
    ([0, 500, 0], [1, 10**9, 1], Fraction(9, 2)),
)


@pytest.mark.parametrize(("gaps", "sizes", "rate"), CASES)
def test_a_uniform_number_means_the_run_in_which_it_lies(
    gaps: list[int], sizes: list[int], rate: Fraction
) -> None:
    with localcontext() as context:
        context.prec = reference.DIGITS
        ends = _cumulated(gaps, sizes, rate)
        source = SeededBits(5)
        for _ in range(200):
            words = source.words(2).tolist()
            found = choose_run(gaps, sizes, Weights(rate), _Listed(words), TOKEN)
            assert found == sum(end <= _uniform(words) for end in ends[:-1])


@pytest.mark.parametrize(("gaps", "sizes", "rate"), CASES[:2])
@pytest.mark.parametrize("above", [False, True])
def test_more_bits_decide_where_the_first_ones_do_not(
    gaps: list[int], sizes: list[int], rate: Fraction, above: bool
) -> None:
    """A number that begins as an end of a run does: the words behind tell on which side it is."""
    with localcontext() as context:
        context.prec = reference.DIGITS
        end = _cumulated(gaps, sizes, rate)[0]
        words, rest = [], end
        for _ in range(2):
            rest *= 1 << 64
            words.append(int(rest))
            rest -= int(rest)
        words += [(1 << 64) - 1] * 4 if above else [0] * 4
        coins = _Listed(words)
        assert choose_run(gaps, sizes, Weights(rate), coins, TOKEN) == (1 if above else 0)
        assert coins.taken > 2


def choose(rows: list[tuple[str, ...]], seed: int = 1, **keys: Any) -> list[Any]:
    raw = {"groups": ["region"], "domains": {"region": DOMAINS["region"]}, "epsilon": 1} | keys
    raw = {key: value for key, value in raw.items() if value is not None}
    method = DpChoice()
    parameters = parse_parameters(method.parameters, raw, "plan")
    method.check(tuple(ROLES), ROLES, parameters, "plan")
    design = method.design(PrivateInput(ROLES, {}, parameters), TOKEN, silent)
    debit = debit_for_tests(design.charge.cost, design.charge.draws)
    source = MemorySource.of(tuple(ROLES), rows)
    measured = design.measure(source, debit, SeededBits(seed), TOKEN, silent)
    return [table.values.tolist() for table in design.process(measured.noisy, TOKEN, silent)]


PEOPLE = [("n", str(pay), "nurse") for pay in (5, 10, 10, 20, 999)] + [
    *(("s", pay, "cook") for pay in ("30", "30", "-7", "a lot", "")),
    ("w", "30", "cook"),
    ("s", "30", "baker"),
]


def test_with_much_budget_the_best_candidates_are_chosen() -> None:
    """Values beyond the bounds count as the bounds; texts, other groups and jobs are left out."""
    [found] = choose(PEOPLE, choose=GRID, epsilon=900)
    assert found == [10, 30]
    job = {"mode": "job"}
    assert choose(PEOPLE, choose=job, domains=DOMAINS, epsilon=900) == [[0, 1]]
    upper = GRID | {"quantile": 0.9, "upper": 3, "lower": 0, "step": 0.5}
    assert choose([("n", "1.26", "")], choose=upper, groups=None, domains=None, epsilon=900) == [
        1.5
    ]
    both = choose(PEOPLE, choose=[GRID, job], domains=DOMAINS, epsilon=900)
    assert both == [[10, 30], [0, 1]]


def test_in_a_group_without_rows_chance_alone_chooses() -> None:
    drawn = [choose([], seed=seed, choose=GRID, epsilon=900)[0] for seed in range(60)]
    assert {one for pair in drawn for one in pair} == {0, 10, 20, 30}


def test_the_error_is_the_bound_of_the_mechanism() -> None:
    rate, gap = Fraction(1, 4), error_of(7, Fraction(1, 4))
    worst = [Fraction(0), *[-Fraction(gap)] * 6]
    chance = reference.chances(worst, rate)
    assert sum(chance[1:]) <= Decimal("0.05")
    assert error_of(1, rate) == 0


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"groups": ["region", "region"]}, "names a column twice"),
        ({"groups": ["pay"]}, "`pay` is chosen from, and one of `groups`"),
        ({"choose": [GRID, GRID]}, "asks for the same twice"),
        ({"choose": GRID | {"step": 7}}, "does not end at `upper`"),
        ({"choose": GRID | {"upper": 30_000_000}}, "3,000,001 values"),
        ({"choose": GRID | {"upper": 2 * 10**15, "step": 10**15}}, "more than 15 digits"),
        ({"choose": GRID | {"quantile": 1}}, "`choose` is"),
        ({"choose": GRID | {"quantile": "0.5"}}, "`choose` is"),
        ({"choose": GRID | {"lower": 40}}, "`choose` is"),
        ({"choose": {"mode": "job", "step": 1}}, "`choose` is"),
        ({"choose": {"mode": "job"}}, "dimension `job`"),
        ({"domains": {"pay": ["1"]}}, "neither one of `groups`"),
        ({"domains": {"region": "n"}}, "not a list"),
        ({"origins": {"pay": "typed"}}, "`origins` names"),
        ({"epsilon": None}, "`epsilon` is missing"),
        ({"epsilon": 1e-15}, "so small"),
        ({"groups": ["land"], "domains": None}, "no column"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        choose([], **{"choose": GRID} | keys)
    assert said in caught.value.full
