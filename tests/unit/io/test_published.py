"""The verifier's reader: strict about bytes, exact about groups."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, Event, StepProgress, silent
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.published import PublishedCsv
from tests.helpers.searching import examples

TEXTS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6
) | st.sampled_from(["", "a", 'a"b', "a,b", "a\nb", "a\r\nb", " ", "=1+1", "NULL", "ß", "𝒳"])


def field(text: str) -> str:
    quoted = any(char in text for char in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def written(columns: list[str], rows: list[tuple[str, ...]]) -> bytes:
    lines = [",".join(map(field, row)) or '""' for row in [tuple(columns), *rows]]
    return "".join(f"{line}\n" for line in lines).encode()


def opened(folder: Path, data: bytes) -> PublishedCsv:
    path = folder / "microdata.csv"
    path.write_bytes(data)
    return PublishedCsv(path, CancelToken())


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=30))
def test_groups_and_counts_are_those_of_plain_python(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]
) -> None:
    token = CancelToken()
    table = opened(tmp_path_factory.mktemp("t"), written(["x", "y", "z"], rows))
    groups = Counter((row[0], row[2]) for row in rows)
    found = table.group_sizes(["x", "z"], token)
    assert table.rows == len(rows)
    assert found.groups == len(groups)
    assert found.rows == len(rows)
    assert found.smallest == min(groups.values(), default=0)
    assert found.sum_of_squares == sum(size**2 for size in groups.values())
    assert found.alone == sum(size == 1 for size in groups.values())
    assert table.value_counts("y", token) == Counter(row[1] for row in rows)


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=20),
    columns=st.permutations(["x", "y", "z"]),
    taken=st.integers(0, 3),
    top=st.sampled_from([0, 1, 5]),
)
def test_reading_the_table_once_for_all_gives_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, ...]],
    columns: list[str],
    taken: int,
    top: int,
) -> None:
    token, folder = CancelToken(), tmp_path_factory.mktemp("t")
    plain = opened(folder, written(["x", "y", "z"], rows))
    surveyed = PublishedCsv(folder / "microdata.csv", token)
    events: list[Event] = []
    surveyed.survey(columns[:taken], top, token, events.append, "step")
    done = [event.done for event in events if isinstance(event, StepProgress)]
    assert done == ([len(rows)] if rows else [])
    assert surveyed.first_unsorted_row(token) == plain.first_unsorted_row(token)
    assert surveyed.top_values(5, token) == plain.top_values(5, token)
    for asked in (columns, columns[:taken], columns[:1], ["z", "x"], ["y"]):
        fresh = PublishedCsv(folder / "microdata.csv", token)
        assert surveyed.group_sizes(asked, token) == fresh.group_sizes(asked, token)
    for name in columns:
        assert surveyed.value_counts(name, token) == plain.value_counts(name, token)


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("ab"), TEXTS), max_size=40),
    block=st.sampled_from([64, 1 << 20]),
    kept=st.sampled_from([0, 1 << 20]),
    disorder=st.booleans(),
)
def test_equal_rows_are_groups_in_any_order_of_the_rows(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, ...]],
    block: int,
    kept: int,
    disorder: bool,
) -> None:
    """In a table that is in order they stand together, and are counted as they are read."""
    if not disorder:
        rows = sorted(rows, key=lambda row: tuple(text.encode() for text in row))
    folder = tmp_path_factory.mktemp("t")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpdesk.io.published._BLOCK", block)
        patch.setattr("dpdesk.io.published._KEPT_LINES", kept)
        found = opened(folder, written(["x", "y"], rows)).group_sizes(["y", "x"], CancelToken())
    sizes = Counter(rows).values()
    assert (found.groups, found.rows) == (len(sizes), len(rows))
    assert found.smallest == min(sizes, default=0)
    assert found.sum_of_squares == sum(size**2 for size in sizes)
    assert found.alone == sum(size == 1 for size in sizes)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS), max_size=20))
def test_first_unsorted_row_follows_code_points(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]
) -> None:
    table = opened(tmp_path_factory.mktemp("t"), written(["x", "y"], rows))
    keys = [tuple(text.encode() for text in row) for row in rows]
    expected = next((i + 1 for i in range(1, len(keys)) if keys[i] < keys[i - 1]), None)
    assert table.first_unsorted_row(CancelToken()) == expected


def test_sortedness_is_checked_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.io.published._BLOCK", 64)
    rows = [(f"{number:04d}",) for number in range(500)]
    assert opened(tmp_path, written(["x"], rows)).first_unsorted_row(CancelToken()) is None
    for place in (1, 7, 250, 499):
        swapped = rows.copy()
        swapped[place - 1], swapped[place] = swapped[place], swapped[place - 1]
        table = opened(tmp_path, written(["x"], swapped))
        assert table.first_unsorted_row(CancelToken()) == place + 1


def test_group_sizes_do_not_depend_on_blocks_or_on_collapsing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"a{number % 7}", f"b{number % 11}") for number in range(2_000)]
    table = opened(tmp_path, written(["x", "y"], rows))
    whole = table.group_sizes(["x", "y"], CancelToken())
    monkeypatch.setattr("dpdesk.io.published._BLOCK", 128)
    monkeypatch.setattr("dpdesk.io.published._COLLAPSE_ROWS", 50)
    assert table.group_sizes(["x", "y"], CancelToken()) == whole
    assert whole.groups == 77
    assert whole.sum_of_squares == sum(n**2 for n in Counter(rows).values())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbfx,y\n1,2\n", "byte order mark"),
        (b"x,y\n1,2\n3\n", "row 3: found 1 fields, expected 2"),
        (b"x,y\n1,2,3\n", "row 2: found 3 fields, expected 2"),
        (b"x,y\n1,2", "row 2: the last line does not end"),
        (b"x,y\r\n1,2\r\n", "row 1: a carriage return"),
        (b'x,y\n"1,2\n', "row 2: a quoted field never ends"),
        (b'x,y\n"1"2,3\n', "row 2: text after a closing quote"),
        (b'x,y\n1"2,3\n', "row 2: a quote inside a field"),
        (b'x,y\n"1",2\n', "row 2: quotes around a field that needs none"),
        (b'x,y\n1,"2"\n', "row 2: quotes around a field that needs none"),
        (b'x,y\n1,2\n"",2\n', "row 3: quotes around a field that needs none"),
        (b'x,y\n1,2\n1,""\n', "row 3: quotes around a field that needs none"),
        (b'"x",y\n1,2\n', "row 1: quotes around a field that needs none"),
        (b'x\n""\n\n', "row 3: found 0 fields, expected 1"),
        (b"\n\n", "row 1: the line is empty"),
        (b'x\n""\n" "\n', "row 3: quotes around a field that needs none"),
        (b"x,y\n1\0,3\n", "row 2: a NUL byte"),
        (b"x,y\n\xff,3\n", "not UTF-8"),
        (b"x,x\n1,2\n", "names the column `x` twice"),
        (b"x,y\n1,2\n\n", "row 3: found 0 fields"),
    ],
)
def test_a_lenient_table_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableTableError, match=reason):
        opened(tmp_path, data).value_counts("x", CancelToken())


def test_grammar_state_survives_the_border_of_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [('a"b', "c,d", "e\nf"), ("", "x", '""')] * 20
    data = written(["x", "y", "z"], rows)
    for piece in (1, 2, 3, 7):
        monkeypatch.setattr("dpdesk.io.csvgrammar._PIECE", piece)
        assert opened(tmp_path, data).rows == 40


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from(["", "a", "a,b", "x"]), TEXTS), max_size=8),
    times=st.integers(1, 3),
    piece=st.sampled_from([1, 5, 17, 1 << 20]),
    most=st.sampled_from([0, 9, 1 << 20]),
)
def test_equal_lines_are_read_once_and_counted(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    times: int,
    piece: int,
    most: int,
) -> None:
    every = [row for row in rows for _ in range(times)]
    token = CancelToken()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpdesk.io.csvgrammar._PIECE", piece)
        patch.setattr("dpdesk.io.published._KEPT_LINES", most)
        table = opened(tmp_path_factory.mktemp("t"), written(["a", "x"], every))
    found: list[tuple[str, str]] = []
    parts = 0
    for batch, counts in table.lines(["a", "x"], token):
        numbers = [1] * batch.num_rows if counts is None else counts.tolist()
        parts += batch.num_rows
        lines = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        for line, count in zip(lines, numbers, strict=True):
            found += [line] * count
    assert (table.columns, table.rows, found) == (("a", "x"), len(every), every)
    if most == piece == 1 << 20:
        assert parts == sum(1 for at in range(len(every)) if not at or every[at] != every[at - 1])
    bad = [at for at in range(1, len(every)) if every[at] < every[at - 1]]
    assert table.first_unsorted_row(token) == (bad[0] + 1 if bad else None)
    table.survey(["x"], 2, token, silent, "step")
    assert table.value_counts("x", token) == Counter(row[1] for row in every)


def test_a_table_of_one_column_may_hold_empty_values(tmp_path: Path) -> None:
    table = opened(tmp_path, b'x\n""\n""\na\n')
    assert table.value_counts("x", CancelToken()) == {"": 2, "a": 1}


def test_values_that_look_missing_or_numeric_stay_text(tmp_path: Path) -> None:
    rows = [("NULL",), ("NaN",), ("007",), ("1.0",), ("true",), ("",)]
    counts = opened(tmp_path, written(["x"], rows)).value_counts("x", CancelToken())
    assert counts == dict.fromkeys([row[0] for row in rows], 1)


def test_top_values_break_ties_by_code_point(tmp_path: Path) -> None:
    rows = [("b", "1"), ("a", "1"), ("c", "1"), ("c", "2")]
    found = opened(tmp_path, written(["x", "y"], rows)).top_values(2, CancelToken())
    assert list(found) == ["x", "y"]
    assert found["x"].distinct == 3
    assert found["x"].top == (("c", 2), ("a", 1))
    assert found["y"].top == (("1", 3), ("2", 1))


def test_no_column_at_all_is_one_group(tmp_path: Path) -> None:
    found = opened(tmp_path, b"x\n1\n2\n").group_sizes([], CancelToken())
    assert (found.groups, found.rows, found.smallest, found.sum_of_squares) == (1, 2, 2, 4)


def test_a_cancelled_token_stops_the_reading(tmp_path: Path) -> None:
    table = opened(tmp_path, b"x\n1\n2\n")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        table.group_sizes(["x"], token)
    with pytest.raises(Cancelled):
        PublishedCsv(tmp_path / "microdata.csv", token)


def test_an_unknown_column_is_a_key_error(tmp_path: Path) -> None:
    table = opened(tmp_path, b"x\n1\n")
    with pytest.raises(KeyError):
        table.group_sizes(["y"], CancelToken())
