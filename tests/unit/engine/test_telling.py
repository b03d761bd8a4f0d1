"""What columns tell of each other, compared with a count row by row."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine import telling as module
from dpdesk.engine.telling import (
    Examined,
    Telling,
    Told,
    telling,
    telling_chart,
    telling_notes,
    told,
)
from tests.helpers.memory_tables import MemorySource
from tests.reference import telling as reference

NAMES = ("job", "branch", "sex", "town")
TOKEN = CancelToken()
ROWS = st.lists(st.tuples(*(st.sampled_from("abc") for _ in NAMES)), min_size=1, max_size=24)


def source_of(rows: list[tuple[str, ...]]) -> MemorySource:
    return MemorySource.of(NAMES, rows)


@settings(deadline=None)
@given(ROWS, st.permutations(NAMES), st.integers(0, 3), st.booleans())
def test_rows_that_are_told_are_those_that_a_count_row_by_row_finds(
    rows: list[tuple[str, ...]], names: list[str], count: int, merged: bool
) -> None:
    target, *columns = names[: count + 1]
    labels = {names[1]: {"a": "x", "b": "x"}, target: {"b": "a"}} if merged else {}
    found = told(source_of(rows), target, columns, labels, CancelToken())
    released = [
        {
            name: labels.get(name, {}).get(value, value)
            for name, value in zip(NAMES, row, strict=True)
        }
        for row in rows
    ]
    assert (found.certain, found.guessed) == reference.told(released, target, columns)
    assert found.nearly == reference.nearly(released, target, columns)


@settings(deadline=None)
@given(ROWS)
def test_what_is_told_together_is_never_less_than_what_one_column_tells(
    rows: list[tuple[str, ...]],
) -> None:
    found = telling(source_of(rows), "job", NAMES[1:], {}, CancelToken())
    assert found.together is not None
    assert len(found.together.columns) <= 3
    records = [dict(zip(NAMES, row, strict=True)) for row in rows]
    assert (found.together.certain, found.together.guessed) == reference.told(
        records, "job", found.together.columns
    )
    assert all(each.guessed <= found.together.guessed for each in found.single)
    assert found.single == tuple(
        sorted(found.single, key=lambda x: (-x.nearly, -x.certain, -x.guessed))
    )
    for size in (1, 2, 3):
        tried = (reference.told(records, "job", each)[1] for each in permutations(NAMES[1:], size))
        assert found.together.guessed >= max(tried)


@pytest.mark.parametrize("cells", [0, 20, 1 << 19])
def test_it_is_the_same_however_sets_are_counted(
    monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    """In places or in tables, by one thread or several."""
    random = Random(1)
    rows = [tuple(str(random.randrange(size)) for size in (3, 4, 9, 40)) for _ in range(300)]
    expected = telling(source_of(rows), "job", NAMES[1:], {"town": {"1": "2"}}, CancelToken())
    monkeypatch.setattr(module, "_CELLS", cells)
    monkeypatch.setattr(module, "cpu_count", lambda: 1 if cells else 3)
    found = telling(source_of(rows), "job", NAMES[1:], {"town": {"1": "2"}}, CancelToken())
    assert found == expected


def test_a_branch_that_gives_an_occupation_away_is_found() -> None:
    rows = [("miner", "mining", str(i % 2), str(i % 5)) for i in range(26)]
    rows += [("clerk" if i % 3 else "cook", "service", str(i % 2), str(i % 7)) for i in range(74)]
    found = telling(source_of(rows), "job", NAMES[1:], {}, CancelToken())
    assert found.certain == Told(("branch",), 26, 26 + 49, 26)
    assert found.rows == 100
    assert found.unaided == 49
    best = found.surer(3)
    assert best is not None
    assert best.columns[0] == "branch"


def test_a_few_exceptions_do_not_hide_what_a_column_gives_away() -> None:
    """A quarter of the rows is told with 95 %, though none for sure and all together seldom."""
    rows = [("clerk" if i == 7 else "miner", "mining", "f", "t") for i in range(20)]
    rows += [(f"job{i % 10}", "service", "f", "t") for i in range(60)]
    found = telling(source_of(rows), "job", ("branch",), {}, CancelToken())
    assert (found.certain, found.surer(3)) == (None, None)
    assert found.nearly == Told(("branch",), 0, 19 + 6, 20)
    (note,) = telling_notes((found,), 3)
    assert note.sentence == (
        "For 20 of 80 rows (25 %), the column `branch` alone reveals `job` with a chance of 90 "
        "% or more."
    )


def test_the_warning_that_concerns_most_rows_comes_first() -> None:
    """Where a window has room for one, a handful of rows must not stand before a thousand."""

    def gives_away(column: str, rows: int) -> Telling:
        by = Told(("home",), rows, rows, rows)
        return Telling(column, 100, 50, (by,), None, Examined(1, 0, 0, 0, 0))

    found = [gives_away("pay", 1), gives_away("illness", 40), gives_away("job", 9)]
    notes = [note.sentence for note in telling_notes(found, 3)]
    assert [words[:17] for words in notes] == [
        "For 40 of 100 row", "For 9 of 100 rows", "For 1 of 100 rows",
    ]  # fmt: skip


def test_two_columns_that_tell_nothing_alone_are_found_together() -> None:
    """A third one that tells a little by itself does not hide them."""
    rows = [
        (str((a + b) % 3), str(a), str(b), str((a + b) % 3 if i % 4 == 0 else i % 3))
        for a in range(3)
        for b in range(3)
        for i in range(12)
    ]
    found = telling(source_of(rows), "job", NAMES[1:], {}, CancelToken())
    assert found.together is not None
    assert set(found.together.columns) == {"branch", "sex"}
    assert found.together.certain == len(rows)


def test_a_row_that_is_alone_tells_nothing_of_itself() -> None:
    rows = [(str(i), str(i), str(i), str(i)) for i in range(20)]
    found = telling(source_of(rows), "job", NAMES[1:], {}, CancelToken())
    assert found.certain is None
    assert found.surer(3) is None


def test_the_count_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        telling(source_of([("a", "b", "c", "d")]), "job", NAMES[1:], {}, token)


@pytest.mark.parametrize(
    ("columns", "places"), [(3, (0, 1, 2)), (17, (2, 9, 16)), (15, (12, 13, 14))]
)
def test_three_columns_that_tell_only_together_are_found_wherever_they_stand(
    columns: int, places: tuple[int, int, int]
) -> None:
    random = Random(columns)
    rows = [[random.randrange(2) for _ in range(columns)] for _ in range(400)]
    names = [f"c{place}" for place in range(columns)]
    table = [(str(sum(row[place] for place in places) % 2), *map(str, row)) for row in rows]
    found = telling(MemorySource.of(("job", *names), table), "job", names, {}, CancelToken())
    assert found.together is not None
    assert set(found.together.columns) == {f"c{place}" for place in places}
    assert found.together.certain == len(rows)
    sets = (columns * (columns - 1) // 2, columns * (columns - 1) * (columns - 2) // 6)
    assert (found.examined.pairs, found.examined.triples) == sets
    assert found.examined.paired == found.examined.screened == len(rows)


def test_what_is_tried_in_a_part_is_counted_in_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many columns the first ones are tried; the evidence says how far."""
    monkeypatch.setattr(module, "_PART", 32)
    monkeypatch.setattr(module, "_LEAST", 3)
    monkeypatch.setattr(module, "_WORK", {2: 10**9, 3: 32 * 4})
    random = Random(5)
    rows = [[random.randrange(2) for _ in range(6)] for _ in range(200)]
    table = [(str(sum(row[:2]) % 2), *map(str, row)) for row in rows]
    names = [f"c{place}" for place in range(6)]
    found = telling(MemorySource.of(("job", *names), table), "job", names, {}, CancelToken())
    assert found.together is not None
    records = [dict(zip(("job", *names), row, strict=True)) for row in table]
    told_there = reference.told(records, "job", found.together.columns)
    assert (found.together.certain, found.together.guessed) == told_there
    assert {"c0", "c1"} <= set(found.together.columns)
    assert found.examined.pairs == 15
    assert found.examined.triples == 4
    assert 0 < found.examined.screened < found.examined.paired == 200


def test_of_many_rows_sets_are_tried_in_a_part_and_the_best_is_counted_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = Random(3)
    rows = [(random.choice("ab"), random.choice("ab"), random.choice("abc")) for _ in range(900)]
    source = source_of([("xy"[a == b], a, b, c) for a, b, c in rows])
    whole = telling(source, "job", NAMES[1:], {}, CancelToken())
    monkeypatch.setattr(module, "_AT_ONCE", 899)
    monkeypatch.setattr(module, "_PAIRED", 300)
    found = telling(source, "job", NAMES[1:], {}, CancelToken())
    assert found.examined.paired == 300
    assert found.together == told(source, "job", ("branch", "sex"), {}, CancelToken())
    assert found.together == whole.together
    assert found.single == whole.single


def test_the_picture_and_its_table_have_the_same_numbers() -> None:
    rows = [("miner", "mining", str(i % 2), str(i % 5)) for i in range(26)]
    rows += [("clerk" if i % 3 else "cook", "service", str(i % 2), str(i % 7)) for i in range(74)]
    found = telling(source_of(rows), "job", NAMES[1:], {}, CancelToken())
    (chart,) = telling_chart([found], 3)
    assert chart.categories[0] == "branch → job"
    assert chart.answer == "For 26 of 100 rows (26 %), branch alone reveals job."
    assert chart.table.rows[0] == ("branch", "job", 26, 26, 26 + 49, 49, 100)
    for place, line in enumerate(chart.table.rows):
        shares = [each.values[place] for each in chart.series]
        assert shares == [number / 100 for number in line[2:5] if isinstance(number, int)]
    nothing = telling(source_of([(str(i), "x", "y", "z") for i in range(4)]), "job", (), {}, TOKEN)
    assert telling_chart([nothing], 3) == ()


def test_a_picture_of_columns_that_tell_little_says_so() -> None:
    rows = [(str(i % 2), str(i // 2 % 2), "x", "y") for i in range(16)]
    (chart,) = telling_chart([telling(source_of(rows), "job", NAMES[1:], {}, TOKEN)], 2)
    assert chart.answer.startswith("No column by itself gives a hidden value away")
