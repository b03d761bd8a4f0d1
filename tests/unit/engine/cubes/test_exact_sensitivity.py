"""Generic sensitivities against an enumeration of all moves."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.moves import minimal_moves, symmetries
from dpdesk.engine.cubes.exact.sensitivity import Knowledge, Origin, generic_sensitivity, knowledge
from tests.reference.exact_cuboids import (
    all_cells,
    all_minimal,
    constraints,
    longest_minimal,
    longest_pair,
    with_a_cell_outside,
)

TOKEN = CancelToken()


def _axes(mask: int) -> tuple[int, ...]:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def _truth(shape: tuple[int, ...], masks: tuple[int, ...], largest: int = 1) -> int:
    known = {_axes(mask): all_cells(shape, _axes(mask)) for mask in masks}
    return longest_minimal(constraints(shape, known), largest)


SMALL = ((2, 2), (2, 3), (3, 3), (2, 4))


@pytest.mark.parametrize("shape", SMALL)
def test_single_cells_of_two_margins_equal_the_enumeration_for_every_number(
    shape: tuple[int, int],
) -> None:
    for n1, n2 in product(range(shape[0] + 1), range(shape[1] + 1)):
        cells = {(0,): [(i,) for i in range(n1)], (1,): [(j,) for j in range(n2)]}
        known = knowledge(shape, (), {1: cells[0,], 2: cells[1,]})
        truth = longest_minimal(constraints(shape, cells), 2 if shape[0] * shape[1] <= 6 else 1)
        assert generic_sensitivity(known, TOKEN).l1 == truth, (n1, n2)


@pytest.mark.parametrize("shape", SMALL)
@pytest.mark.parametrize("published", [True, False])
def test_single_cells_and_the_number_of_rows_equal_the_enumeration_for_every_number(
    shape: tuple[int, int], published: bool
) -> None:
    for n1, n2 in product(range(shape[0] + 1), range(shape[1] + 1)):
        cells = {(): [()], (0,): [(i,) for i in range(n1)], (1,): [(j,) for j in range(n2)]}
        single = {1: cells[0,], 2: cells[1,]}
        known = knowledge(shape, (0,) if published else (), single, total=not published)
        matrix = constraints(shape, cells)
        if not published and not known.whole:
            matrix = with_a_cell_outside(matrix, 0)
        found = generic_sensitivity(known, TOKEN)
        assert (found.l1, found.total_fixed) == (longest_minimal(matrix), True), (n1, n2)


def test_three_known_and_two_known_of_three_by_three_ask_for_six() -> None:
    single = {1: [(0,), (1,), (2,)], 2: [(0,), (1,)]}
    assert generic_sensitivity(knowledge((3, 3), (), single), TOKEN).l1 == 6


def test_one_known_cell_of_both_margins_and_the_total_of_three_by_three_ask_for_four() -> None:
    known = knowledge((3, 3), (0,), {1: [(0,)], 2: [(0,)]})
    assert generic_sensitivity(known, TOKEN).l1 == 4


def test_a_known_total_beside_components_of_two_by_two_asks_for_six() -> None:
    single = {0b011: [(0, 0), (1, 0)], 0b101: [(0, 0), (1, 0)]}
    assert generic_sensitivity(knowledge((2, 2, 2), (), single), TOKEN).l1 == 3
    assert generic_sensitivity(knowledge((2, 2, 2), (), single, total=True), TOKEN).l1 == 6


@pytest.mark.parametrize(
    ("shape", "masks"),
    [
        ((2, 3), (1,)),
        ((2, 2, 2), (0b011,)),
        ((2, 2), (1, 2)),
        ((3, 3), (1, 2)),
        ((2, 4), (1, 2)),
        ((2, 2, 2), (0b011, 0b101)),
        ((2, 2, 2), (0b001, 0b110)),
        ((2, 2, 2), (0b001, 0b010)),
        ((2, 2, 2), (0b001, 0b011)),
        ((2, 2, 2), (0b001, 0b010, 0b100)),
        ((2, 2, 2), (0b011, 0b101, 0b110)),
        ((2, 2, 2), (0b011, 0b100)),
        ((2, 2, 3), (0b011, 0b101)),
        ((2, 2, 3), (0b011, 0b101, 0b110)),
        ((1, 3, 3), (0b010, 0b100)),
    ],
)
def test_whole_cuboids_equal_the_enumeration(
    shape: tuple[int, ...], masks: tuple[int, ...]
) -> None:
    truth = _truth(shape, masks, 2 if prod(shape) <= 8 else 1)
    assert generic_sensitivity(knowledge(shape, masks), TOKEN).l1 == truth


@pytest.mark.parametrize(("shape", "value"), [((2, 2, 2), 6), ((2, 2, 3), 8), ((2, 2, 4), 8)])
def test_three_one_way_margins_have_their_known_values(shape: tuple[int, ...], value: int) -> None:
    found = generic_sensitivity(knowledge(shape, (1, 2, 4)), TOKEN)
    assert (found.l1, found.origin, found.total_fixed) == (value, Origin.ENUMERATED, True)
    known = {(i,): all_cells(shape, (i,)) for i in range(3)}
    most = value // 2 + (1 if shape[2] < 4 else 0)
    assert longest_pair(constraints(shape, known), most) == value


def test_what_all_three_share_and_what_none_has_changes_nothing() -> None:
    shared = generic_sensitivity(knowledge((7, 2, 2, 3), (0b0011, 0b0101, 0b1001)), TOKEN)
    unused = generic_sensitivity(knowledge((2, 2, 3, 9), (1, 2, 4)), TOKEN)
    assert shared.l1 == unused.l1 == 8


def test_everything_exact_leaves_nothing_to_hide() -> None:
    found = generic_sensitivity(knowledge((2, 3), (3,)), TOKEN)
    assert (found.l1, found.origin) == (0, Origin.EVERYTHING)


def test_nothing_exact_is_one_row_more_or_less_or_two_when_their_number_is_known() -> None:
    assert generic_sensitivity(knowledge((2, 3), ()), TOKEN).l1 == 1
    assert generic_sensitivity(knowledge((2, 3), (), total=True), TOKEN).l1 == 2
    assert generic_sensitivity(knowledge((2, 3), (0,)), TOKEN).l1 == 2


def test_known_base_cells_leave_the_others_free_and_known_sums_do_not() -> None:
    base = generic_sensitivity(knowledge((2, 3), (), {3: [(0, 0)]}), TOKEN)
    row = generic_sensitivity(knowledge((2, 3), (), {1: [(0,)]}), TOKEN)
    total = generic_sensitivity(knowledge((2, 3), (), {1: [(0,)]}, total=True), TOKEN)
    assert (base.l1, row.l1, total.l1) == (1, 2, 2)


@st.composite
def _partly_known(draw: st.DrawFn, most: int = 12) -> Knowledge:
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=3)))
    if prod(shape) > most:
        shape = (2, 2, 2)
    everything = (1 << len(shape)) - 1
    masks = draw(st.lists(st.integers(0, everything), max_size=2, unique=True))
    whole = draw(st.sets(st.sampled_from(masks))) if masks else set()
    single = {
        mask: draw(st.sets(st.sampled_from(all_cells(shape, _axes(mask))), max_size=4))
        for mask in masks
        if mask not in whole
    }
    return knowledge(shape, whole, single, total=draw(st.booleans()))


@settings(deadline=None)  # the first example loads the kernels
@given(_partly_known())
def test_whatever_is_known_of_two_cuboids_the_formula_equals_the_enumeration(
    known: Knowledge,
) -> None:
    truth = minimal_moves(_matrix(known).astype("int8"), TOKEN).longest
    assert generic_sensitivity(known, TOKEN).l1 == truth


def _matrix(known: Knowledge) -> NDArray[np.int64]:
    """Constraints; a number of rows that is not published is that of a table with one cell more."""
    cells = {_axes(mask): all_cells(known.shape, _axes(mask)) for mask in known.whole}
    cells |= {_axes(mask): sorted(each) for mask, each in known.cells.items()}
    if known.total:
        cells = {(): [()]} | cells
    matrix = constraints(known.shape, cells)
    return with_a_cell_outside(matrix, 0) if known.total and not known.apex else matrix


@settings(deadline=None)  # the first example loads the kernels
@given(_partly_known(most=8))
def test_no_table_that_does_not_follow_moves_further_in_l2_than_is_stated(known: Knowledge) -> None:
    found = generic_sensitivity(known, TOKEN)
    inside = all_minimal(_matrix(known))[:, : prod(known.shape)].reshape(-1, *known.shape)
    everything = range(len(known.shape))
    longest = 0
    for mask in range(1 << len(known.shape)):
        if not known.gives(mask):
            gone = tuple(1 + i for i in everything if not mask >> i & 1)
            moved = inside.sum(axis=gone, dtype=np.int64)
            squares = np.square(moved).sum(axis=tuple(range(1, moved.ndim)))
            longest = max(longest, int(squares.max(initial=0)))
    assert longest <= found.l2_squared
    beside = [n for i, n in enumerate(known.shape) if not known.dimensions >> i & 1]
    if prod(beside) > 1 and known.whole:
        assert longest == found.l2_squared


@settings(deadline=None)  # the first example loads the kernels
@given(st.sampled_from([(2, 3), (3, 3), (2, 2, 2)]), st.data())
def test_growing_moves_finds_what_trying_all_vectors_finds(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    masks = data.draw(st.sets(st.integers(1, (1 << len(shape)) - 1), max_size=3))
    cells = {
        _axes(mask): data.draw(st.sets(st.sampled_from(all_cells(shape, _axes(mask))), min_size=1))
        for mask in masks
    }
    matrix = constraints(shape, cells)
    found = minimal_moves(matrix.astype("int8"), TOKEN, bound=1)
    assert found.longest == longest_minimal(matrix)


@pytest.mark.parametrize(
    ("shape", "masks", "images"),
    [
        ((2, 3), (1, 2), 6),
        ((3, 2, 2), (1, 2, 4), 8),
        ((2, 2, 2), (0b011, 0b101, 0b110), 4),
        ((2, 2, 2), (0b110, 0b001), 8),
    ],
)
def test_symmetries_start_with_the_identity_and_keep_all_constraints_and_the_disjoint_ones(
    shape: tuple[int, ...], masks: tuple[int, ...], images: int
) -> None:
    found = symmetries(shape, masks)
    assert found.images[0].tolist() == list(range(prod(shape[1:])))
    assert (len(found.images), found.blocks) == (images, shape[0])
    matrix = constraints(shape, {_axes(mask): all_cells(shape, _axes(mask)) for mask in masks})
    lead = list(found.disjoint)
    assert (matrix[lead].sum(axis=0) == 1).all()
    for image, blocks in product(found.images, permutations(range(shape[0]))):
        whole = np.concatenate([block * prod(shape[1:]) + image for block in blocks])
        for rows in (list(range(len(matrix))), lead):
            lines = {tuple(line) for line in matrix[rows].tolist()}
            assert {tuple(line) for line in matrix[rows][:, whole].tolist()} == lines


@pytest.mark.parametrize(
    ("shape", "masks", "value"),
    [
        ((2, 3, 3), (1, 2, 4), 12),
        ((2, 3, 4), (1, 2, 4), 16),
        ((4, 3, 2), (1, 2, 4), 16),
        ((2, 3, 40), (1, 2, 4), 16),
        ((2, 2, 400), (1, 2, 4), 8),
        ((3, 3, 3), (1, 2, 4), 18),
        ((2, 2, 2, 2), (1, 2, 4, 8), 10),
        ((2, 2, 2, 3), (1, 2, 4, 8), 16),
        ((2, 3, 3), (0b011, 0b101, 0b110), 12),
        ((2, 3, 4), (0b011, 0b101, 0b110), 12),
    ],
)
def test_larger_tables_have_the_values_of_the_documentation(
    shape: tuple[int, ...], masks: tuple[int, ...], value: int
) -> None:
    assert generic_sensitivity(knowledge(shape, masks), TOKEN).l1 == value


@settings(deadline=None, max_examples=60)  # the first example loads the kernels
@given(st.sampled_from([(2, 2, 2), (2, 2, 3), (3, 2, 2), (4, 3), (2, 3, 2)]), st.data())
def test_growing_pairs_up_to_symmetry_finds_what_growing_without_any_finds(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    everything = (1 << len(shape)) - 1
    masks = data.draw(st.sets(st.integers(1, everything), min_size=1, max_size=3))
    known = knowledge(shape, masks)
    cells = {_axes(mask): all_cells(shape, _axes(mask)) for mask in known.whole}
    matrix = constraints(shape, cells).astype("int8")
    plain = minimal_moves(matrix, TOKEN)
    symmetry = symmetries(shape, known.whole)
    assert minimal_moves(matrix, TOKEN, symmetry=symmetry).lengths.keys() == plain.lengths.keys()


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ((4, 4, 4), "probably over 40,000"),
        ((5, 6, 7), "over 40,000"),
        ((9, 9, 9, 9), "2,916 cells"),
    ],
)
def test_too_much_to_enumerate_is_refused_before_it_is_tried(
    shape: tuple[int, ...], told: str
) -> None:
    masks = tuple(1 << i for i in range(len(shape)))
    with pytest.raises(RefusedError, match=told):
        generic_sensitivity(knowledge(shape, masks), TOKEN)


def test_an_enumeration_ends_when_it_is_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        generic_sensitivity(knowledge((3, 3, 4), (1, 2, 4)), token)


def test_cells_outside_the_domain_are_an_error() -> None:
    with pytest.raises(ValueError, match="outside"):
        knowledge((2, 2), (), {1: [(2,)]})


def test_what_follows_from_the_rest_is_dropped() -> None:
    known = knowledge((2, 3, 1), (0, 1, 0b101, 0b010), {0b010: [(0,)]})
    assert (known.whole, dict(known.cells), known.total) == ((1, 2), {}, False)
    listed = knowledge((2, 3), (), {1: [(0,), (1,)], 3: [(0, 0), (0, 1), (0, 2)]})
    assert (listed.whole, dict(listed.cells)) == ((1,), {3: frozenset({(0, 0), (0, 1), (0, 2)})})
    assert knowledge((2, 3), (), {1: [(0,)], 3: [(0, 0), (0, 1), (0, 2)]}).cells.keys() == {3}
