"""The design of views: privacy by exact likelihood ratios, counts, the choice of views, shares."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.priview.method import PriView
from dpdesk.engine.private.guarantee_words import NO_BUDGET
from dpdesk.engine.private.method import PrivateInput
from dpdesk.engine.views.choosing import guide_to
from dpdesk.engine.views.design import ViewDesign, design_views
from dpdesk.engine.views.settings import PARAMETERS
from tests.helpers.debits import debit_for_tests
from tests.helpers.memory_tables import MemorySource

Row = tuple[str, ...]


class NoNoise:
    """Bits of which all noise is 0."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """Zeros, each of which means the value 0."""
        return np.zeros(n, np.uint64)


def design_of(columns: str, cluster: bool = False, **keys: Any) -> ViewDesign:
    given: dict[str, Any] = {"dimensions": list(columns), "epsilon": 1} | keys
    given.setdefault("domains", {name: ["0", "1"] for name in columns})
    roles = dict.fromkeys(columns, Role.INSENSITIVE) | ({"id": Role.CLUSTER} if cluster else {})
    parameters = parse_parameters(PARAMETERS, given, "plan")
    return design_views(PrivateInput(roles, {}, parameters), CancelToken(), silent)


@pytest.mark.parametrize("noise", ["discrete-laplace", "discrete-gaussian"])
def test_until_a_budget_is_given_one_of_the_right_kind_is_supposed(noise: str) -> None:
    given = {"dimensions": ["a", "b"], "domains": {"a": ["0", "1"], "b": ["0", "1"]}}
    parameters = parse_parameters(PARAMETERS, given | {"noise": noise}, "plan")
    roles = dict.fromkeys("ab", Role.INSENSITIVE)
    view = PriView().explore(PrivateInput(roles, {}, parameters), CancelToken()).view(parameters)
    assert (view.feasible, view.supposed, view.sentence) == (False, True, NO_BUDGET)
    assert view.charts


def noiseless(design: ViewDesign, columns: Row, rows: list[Row]) -> tuple[NDArray[np.int64], ...]:
    """The tables that are measured where all noise is 0: the true counts."""
    source = MemorySource.of(columns, rows)
    debit = debit_for_tests(design.charge.cost, design.charge.draws)
    return design.measure(source, debit, NoNoise(), CancelToken(), silent).noisy.values


def worst_loss(design: ViewDesign, first: list[Row], other: list[Row], columns: Row) -> Fraction:
    """The largest log likelihood ratio of outputs, over all of a grid, by exact fractions.

    A cell that holds c and is released as o has a likelihood proportional to e^(-|o - c| / b).
    """
    counts = [noiseless(design, columns, rows) for rows in (first, other)]
    cells = [np.concatenate([each.reshape(-1) for each in tables]) for tables in counts]
    scales = [
        scale
        for scale, table in zip(design.channel.spreads, counts[0], strict=True)
        for _ in range(table.size)
    ]
    worst = Fraction(0)
    moved = np.flatnonzero(cells[0] != cells[1])
    assert len(moved) <= 6
    for output in product(range(-1, 4), repeat=len(moved)):
        ratio = Fraction(0)
        for place, value in zip(moved, output, strict=True):
            one, two = (abs(value - int(each[place])) for each in cells)
            ratio += (two - one) / scales[place]
        worst = max(worst, ratio)
    return worst


PLANS: tuple[dict[str, Any], ...] = (
    {"views": [["a"], ["b"]]},
    {"view_size": 2, "epsilon": 0.3},
    {"views": [["a", "b"], ["b", "c"]], "weights": [{"dimensions": ["b", "c"], "weight": 7}]},
    {"views": [["a"], ["b", "c"]]},
)


@pytest.mark.parametrize("keys", PLANS)
@pytest.mark.parametrize("replace", [False, True])
def test_no_output_tells_more_than_epsilon_of_one_row(keys: dict[str, Any], replace: bool) -> None:
    """Every pair of neighbours of one other row; the bound is reached, so nothing is wasted."""
    neighbours = "replace" if replace else "add-remove"
    design = design_of("abc", **keys, neighbours=neighbours)
    every, rest = list(product("01", repeat=3)), [("0", "1", "1")]
    pairs = combinations(every, 2) if replace else ((None, row) for row in every)
    losses = [
        worst_loss(design, [*rest, *([one] if one else [])], [*rest, other], ("a", "b", "c"))
        for one, other in pairs
    ]
    assert max(losses) == design.settings.cube.budget


def test_rows_of_a_person_beyond_the_bound_count_nowhere() -> None:
    design = design_of("ab", cluster=True, views=[["a"], ["b"]], rows_per_person=2)
    columns = ("id", "a", "b")
    rows = [("p", "0", "0"), ("p", "0", "1"), ("p", "1", "1"), ("q", "1", "1"), ("", "1", "0")]
    tables = noiseless(design, columns, rows)
    assert [table.tolist() for table in tables] == [[2, 1], [1, 2]]
    most = 2 * sum(1 / scale for scale in design.channel.spreads)
    assert most == design.settings.cube.budget


def test_a_row_without_a_place_in_one_dimension_counts_in_no_view() -> None:
    design = design_of("abc", view_size=2)
    tables = noiseless(design, ("a", "b", "c"), [("0", "0", "?"), ("0", "1", "1")])
    assert {int(table.sum()) for table in tables} == {1}


def test_the_guide_is_the_formula_of_the_source_where_views_are_alike() -> None:
    """2^((l+1)/2) / eps * sqrt(w d (d-1) / (l (l-1))), for a design that covers each pair once."""
    lines = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]
    design = design_of("abcdefg", views=[["abcdefg"[i] for i in line] for line in lines])
    chosen = design.chosen
    found = guide_to(chosen.views, (2,) * 7, design.settings, chosen.shares)
    assert found == pytest.approx(2 ** ((3 + 1) / 2) * (7 * 7 * 6 / (3 * 2)) ** 0.5)


def test_the_guide_chooses_views_of_about_eight_of_many_dimensions() -> None:
    names = [f"c{i}" for i in range(32)]
    domains = {name: ["0", "1"] for name in names}
    design = design_of("", dimensions=names, domains=domains)
    sizes = {each.size: each for each in design.chosen.candidates}
    assert {len(view) for view in design.chosen.views} <= {6, 7, 8, 9}
    best = min((each for each in sizes.values() if each.views), key=lambda each: each.guide)
    assert design.chosen.views == best.views


def test_views_by_cells_cover_every_pair_within_their_budget() -> None:
    counts = {"a": 2, "b": 7, "c": 3, "d": 5, "e": 2, "f": 4}
    domains = {name: [str(i) for i in range(many)] for name, many in counts.items()}
    design = design_of("abcdef", domains=domains, view_cells=60)
    assert all(line["cells"] <= 60 for line in design.result["views"])  # type: ignore[attr-defined]
    held = {pair for view in design.chosen.views for pair in combinations(view, 2)}
    assert held == set(combinations(range(6), 2))
    assert sum(design.chosen.shares) == 1


def test_a_weight_moves_the_budget_to_the_views_that_hold_the_analysis() -> None:
    views = [["a", "b"], ["b", "c"], ["a", "c"]]
    even = design_of("abc", views=views)
    assert set(even.chosen.shares) == {Fraction(1, 3)}
    weighted = design_of("abc", views=views, weights=[{"dimensions": ["a", "b"], "weight": 26}])
    first, second, third = weighted.chosen.shares
    assert first / second == pytest.approx(27 ** (1 / 3), rel=1e-4)
    assert second == third


@pytest.mark.parametrize(
    "keys",
    [
        {"noise": "discrete-gaussian"},
        {"views": [[]]},
        {"views": [["a", "b"], ["b", "a"]]},
        {"dimensions": [f"c{i}" for i in range(201)], "domains": {}},
    ],
)
def test_what_does_not_go_together_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        design_of("abc", **keys)


@pytest.mark.parametrize("number", [1e30, 1e-30])
def test_the_furthest_weights_make_shares_that_add_up(number: float) -> None:
    weights = [{"dimensions": ["a"], "weight": number}, {"dimensions": ["b"], "weight": number}]
    made = design_of("abc", views=[["a", "b"], ["b", "c"]], weights=weights)
    assert sum(made.chosen.shares) == 1
