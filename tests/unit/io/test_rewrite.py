"""Rows written in a new order with new values agree with plain Python; prints find what differs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.frequency import NewValues, RewrittenRows
from dpdesk.core.jobs import CancelToken, Event, StepProgress, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io import coding, rewrite
from dpdesk.io.prints import (
    CountedPrints,
    apart,
    fresh_print_key,
    published_counts,
    published_prints,
)
from dpdesk.io.published import PublishedCsv
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

VALUES = st.sampled_from(
    ["", "?", "a", " a", "A", 'q"q', "x,y", "n\nl", "c\rr", "ä", "😀", "01", "1", '"', "\t"]
)
TOKEN = CancelToken()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path_factory.mktemp("home"))
    yield opened
    opened.close()


def opened_store(
    workspace: Workspace, columns: list[str], rows: list[tuple[str, ...]], coded: bool = True
) -> DataStore:
    path = workspace.folder / "source.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([columns, *rows])
    with pytest.MonkeyPatch.context() as patch:
        if not coded:
            patch.setattr(coding, "MOST_CODED_COLUMNS", 0)
        spec = SourceSpec("source.csv", empty_rows="keep", header=True, delimiter=",")
        return DataStore.open(spec, workspace.folder, workspace, TOKEN, silent)


def field(text: str, alone: bool) -> str:
    if any(sign in text for sign in '",\r\n') or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


@st.composite
def rewritings(
    draw: st.DrawFn,
) -> tuple[list[str], list[tuple[str, ...]], RewrittenRows, list[tuple[str, ...]]]:
    """A table, what is to be done to it, and the released rows as they should be."""
    width = draw(st.integers(1, 4))
    columns = [f"col,{j}" for j in range(width)]
    rows = draw(st.lists(st.tuples(*[VALUES] * width), min_size=1, max_size=20))
    order = draw(st.lists(st.integers(0, len(rows) - 1), unique=True))
    dropped = columns[-1:] if width > 1 and draw(st.booleans()) else []
    drawn = {}
    if draw(st.booleans()):
        domain = tuple(sorted(set(draw(st.lists(VALUES, min_size=1)))))
        places = st.integers(0, len(domain) - 1)
        codes = draw(st.lists(places, min_size=len(order), max_size=len(order)))
        drawn = {columns[0]: NewValues(domain, np.array(codes, np.int32))}
    mapping = {}
    if width > 1 and draw(st.booleans()):
        mapping = {columns[1]: {row[1]: draw(VALUES) for row in rows}}
    expected = []
    for place, row in enumerate(order):
        cells = dict(zip(columns, rows[row], strict=True))
        for name, pairs in mapping.items():
            cells[name] = pairs[cells[name]]
        for name, values in drawn.items():
            cells[name] = values.domain[values.codes[place]]
        expected.append(tuple(cells[name] for name in columns if name not in dropped))
    rewritten = RewrittenRows(np.array(order, np.int64), drawn, tuple(dropped), mapping)
    return columns, rows, rewritten, expected


@pytest.mark.parametrize("coded", [True, False])
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(case=rewritings())
def test_written_rows_are_those_of_plain_python(
    workspace: Workspace,
    coded: bool,
    case: tuple[list[str], list[tuple[str, ...]], RewrittenRows, list[tuple[str, ...]]],
) -> None:
    columns, rows, rewritten, expected = case
    store = opened_store(workspace, columns, rows, coded)
    target = workspace.folder / "out.csv"
    target.unlink(missing_ok=True)
    written = store.write_rewritten(rewritten, target, TOKEN, silent)
    released = [name for name in columns if name not in rewritten.dropped_columns]
    alone = len(released) == 1
    text = ",".join(field(name, False) for name in released) + "\n"
    text += "".join(",".join(field(c, alone) for c in row) + "\n" for row in expected)
    assert target.read_bytes() == text.encode()
    assert written == len(expected)
    _compare_prints(store, rewritten, target, rows, columns, released)
    store.close()


def _compare_prints(
    store: DataStore,
    rewritten: RewrittenRows,
    target: Path,
    rows: list[tuple[str, ...]],
    columns: list[str],
    released: list[str],
) -> None:
    """Prints of the columns that were not drawn count exactly what is missing, and nothing more."""
    names = [name for name in released if name not in rewritten.drawn]
    key = fresh_print_key()
    published, mapping = PublishedCsv(target, TOKEN), rewritten.mapping
    there = CountedPrints(store.row_prints(names, mapping, key, TOKEN))
    here = CountedPrints(published_prints(published, names, key, TOKEN))
    for first in (here, published_counts(published, names, key, TOKEN)):
        for second in (there, store.row_counts(names, mapping, key, TOKEN)):
            assert apart(first, second) == (0, len(rows) - rewritten.rows_out)


def test_many_rows_keep_their_order_over_the_pieces(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewrite, "_ROWS", 7)
    rows = [(str(number), f"v{number % 3}") for number in range(100)]
    store = opened_store(workspace, ["n", "v"], rows)
    order = np.random.default_rng(4).permutation(100)
    events: list[Event] = []
    target = workspace.folder / "many.csv"
    store.write_rewritten(RewrittenRows(order, {}, ()), target, TOKEN, events.append)
    found = list(csv.reader(io.StringIO(target.read_text())))[1:]
    assert [tuple(row) for row in found] == [rows[place] for place in order]
    done = [event.done for event in events if isinstance(event, StepProgress)]
    assert done == sorted(done)
    assert done[-1] == 100
    store.close()


@pytest.mark.parametrize(
    ("rewritten", "said"),
    [
        (RewrittenRows(np.array([0, 9]), {}, ()), "a row that there is not"),
        (RewrittenRows(np.array([-1]), {}, ()), "a row that there is not"),
        (
            RewrittenRows(np.array([0]), {"a": NewValues(("x",), np.array([0, 0]))}, ()),
            "`a` has 2 values for 1 rows",
        ),
        (RewrittenRows(np.array([0]), {}, (), {"a": {"other": "z"}}), "`x` of `a` is not recoded"),
    ],
)
def test_rows_that_do_not_fit_leave_no_file(
    workspace: Workspace, rewritten: RewrittenRows, said: str
) -> None:
    store = opened_store(workspace, ["a", "b"], [("x", "y"), ("z", "y")])
    target = workspace.folder / "never.csv"
    with pytest.raises(InputError, match=said):
        store.write_rewritten(rewritten, target, TOKEN, silent)
    assert not target.exists()
    store.close()


def test_a_cancel_leaves_no_file(workspace: Workspace) -> None:
    store = opened_store(workspace, ["a"], [("x",), ("y",)])
    token, target = CancelToken(), workspace.folder / "cancelled.csv"

    def stop(event: Event) -> None:
        token.cancel()

    with pytest.raises(Cancelled):
        store.write_rewritten(RewrittenRows(np.arange(2), {}, ()), target, token, stop)
    assert not target.exists()
    store.close()


def test_writing_leaves_no_other_file_behind(workspace: Workspace) -> None:
    store = opened_store(workspace, ["a", "b"], [(str(n), "x") for n in range(5000)], coded=False)
    before = set(workspace.home.rglob("*"))
    target = workspace.folder / "alone.csv"
    store.write_rewritten(RewrittenRows(np.arange(5000)[::-1], {}, ()), target, TOKEN, silent)
    assert set(workspace.home.rglob("*")) - before == {target}
    store.close()


@given(
    first=st.lists(st.integers(0, 5)),
    second=st.lists(st.integers(0, 5)),
)
def test_prints_are_compared_as_often_as_they_occur(first: list[int], second: list[int]) -> None:
    mine, other = Counter(first), Counter(second)
    expected = (mine - other).total(), (other - mine).total()
    for one in _spelled(first):
        assert [apart(one, another) for another in _spelled(second)] == [expected] * 2


def _spelled(prints: list[int]) -> tuple[CountedPrints, CountedPrints]:
    """The same prints row by row, and with the rows of each."""
    counted = Counter(prints)
    rows = np.array(list(counted.values()), np.int64)
    plain = CountedPrints(np.array(prints, np.uint64))
    return plain, CountedPrints(np.array(list(counted), np.uint64), rows)


def test_prints_tell_fields_from_each_other(workspace: Workspace) -> None:
    rows = [("ab", "c"), ("a", "bc"), ("c", "ab"), ("", "abc"), ("abc", ""), ("", "")]
    key, prints = fresh_print_key(), set()
    for coded in (True, False):
        store = opened_store(workspace, ["x", "y"], rows, coded)
        found = store.row_prints(["x", "y"], {}, key, TOKEN).tolist()
        prints |= set(found)
        assert len(set(found)) == len(rows)
        store.close()
    assert len(prints) == len(rows)
