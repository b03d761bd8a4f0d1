"""What published cells tell of suppressed ones in large parts, by one program and a direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import CheckStatus
from dpdesk.core.tabulation import CellAxis, CellTable
from dpdesk.engine.tables.model import Dimension, System
from dpdesk.verifiers.tables import attacks, intervals
from dpdesk.verifiers.tables.attacked import Attacked
from dpdesk.verifiers.tables.attacks import open_check, told_in_public
from dpdesk.verifiers.tables.published import numbered
from tests.helpers.searching import examples
from tests.helpers.tables import filled
from tests.reference.tables import interval

TOKEN = CancelToken()


def published(
    seed: int, share: float, sizes: tuple[int, ...] = (4, 4)
) -> tuple[Attacked, System, np.ndarray]:
    """Counts, some of them 0, of which some are suppressed."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, int(np.prod(sizes)))
    cells = int(np.prod([size + 1 for size in sizes]))
    return suppressed(counts, rng.random(cells) < share, sizes)


def suppressed(
    counts: np.ndarray, hidden: np.ndarray, sizes: tuple[int, ...]
) -> tuple[Attacked, System, np.ndarray]:
    """A table of these counts, of which some cells are suppressed."""
    dimensions = [Dimension.flat(f"d{n}", [str(i) for i in range(s)]) for n, s in enumerate(sizes)]
    system = System.of([filled(dimensions, counts)], zeros_known=False)
    values = tuple(
        "" if gone else str(value)
        for gone, value in zip(hidden, system.cells.values.tolist(), strict=True)
    )
    axes = tuple(CellAxis(d.name, d.labels, tuple(d.parents.tolist())) for d in dimensions)
    table = CellTable("t", "table.csv", axes, values, ("F",) * len(values))
    numbers = [each.tolist() for each in numbered([(table, "count")])]
    return Attacked.of([table], numbers), system, hidden


@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.4, 0.6]), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_the_same_is_told_by_one_program_as_by_programs_of_each_cell(
    seed: int, share: float, projected: bool
) -> None:
    attacked, system, hidden = published(seed, share)
    values = system.cells.values.astype(float)
    none, endless = np.zeros(len(values)), np.full(len(values), np.inf)
    told = set()
    for cell in np.flatnonzero(hidden):
        low, high = interval(system.matrix.toarray(), values, none, endless, hidden, int(cell))
        if high - low < 1e-6 and high > 1e-6:
            told.add(int(cell))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "_LARGE", 0)
        if projected:
            patch.setattr(intervals, "SOON_IN_A_PROGRAM", 0)
        fault, left = told_in_public(attacked, [False], TOKEN)
    assert bool(fault) is bool(told)
    assert left == 0
    # And of each cell by the program alone: none that it moves is told.
    room = intervals.Room(
        intervals.Unknowns(attacked.rows(moves=False), np.zeros(int(hidden.sum())), endless[hidden])
    )
    places = np.flatnonzero(hidden)
    for columns in room.parts:
        inner, sums, _ = room._inner(int(room._part[columns[0]]))
        sides = intervals.sides_by_program(inner, sums, np.zeros(len(columns)))
        if sides is None:
            continue
        low, high = sides
        assert (low >= -1e-9).all()
        assert np.abs(inner @ (low + high) / 2 - sums).max(initial=0.0) < 1e-6
        moved = places[columns[high - low > 1e-9]]
        assert told.isdisjoint(moved.tolist())


def test_cells_beyond_the_limit_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    attacked, _, _ = published(4, 0.6, (6, 6))
    assert open_check(attacked, [False], TOKEN, None).status is CheckStatus.CONFIRMED
    monkeypatch.setattr(attacks, "_LARGE", 3)
    monkeypatch.setattr(attacks, "_WORK", 0)
    monkeypatch.setattr(attacks, "_LEAST_TRIES", 0)
    for limit in ("SOON_IN_A_PROGRAM", "MOST_IN_A_PROGRAM"):
        monkeypatch.setattr(intervals, limit, 3)
    monkeypatch.setattr(intervals, "both_sides", lambda *given: None)
    found = open_check(attacked, [False], TOKEN, None)
    assert found.status is CheckStatus.NOT_CHECKED
    assert "were not looked at" in found.found


def test_a_cell_of_millions_that_moves_with_one_of_a_few_needs_no_program_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hidden = np.zeros((3, 3), dtype=bool)
    hidden[:2, :2] = True
    counts = np.array([10**7, 2, 3, 10**7])
    attacked, _, _ = suppressed(counts, hidden.ravel(), (2, 2))
    monkeypatch.setattr(attacks, "_LARGE", 0)
    monkeypatch.delattr(intervals.Room, "end")
    assert told_in_public(attacked, [False], TOKEN) == ("", 0)


def test_a_part_of_thousands_with_small_and_large_counts_needs_no_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Steps that stay above 0 find a point, however uneven the counts are."""
    sizes = (11, 10, 9, 8)
    rng = np.random.default_rng(3)
    counts = 1 + rng.lognormal(0, 3, int(np.prod(sizes))).astype(np.int64)
    hidden = np.zeros([size + 1 for size in sizes], dtype=bool)
    hidden[tuple(slice(size) for size in sizes)] = True
    attacked, _, _ = suppressed(counts, hidden.ravel(), sizes)
    assert len(attacked.unknown) > intervals.SOON_IN_A_PROGRAM
    monkeypatch.delattr(intervals, "sides_by_program")
    monkeypatch.delattr(intervals.Room, "end")
    assert told_in_public(attacked, [False], TOKEN) == ("", 0)
