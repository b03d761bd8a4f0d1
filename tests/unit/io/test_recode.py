"""Writing microdata agrees, byte for byte, with plain Python on small tables of odd values."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.recoding import Recoding, TupleRecoding
from dpdesk.io import coding, counting, recode
from dpdesk.io.recode import header_line
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples
from tests.reference.recode_reference import recoded_csv

ODD = ["", "?", "a", "b", " a", "a ", "A", 'q"q', "x,y", "n\nl", "c\rr", "ä", "é", "😀", "ﬀ"]
VALUES = st.sampled_from([*ODD, "1", "10", "01", "-", "NULL", "a;b", "'", '"', "\t"])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path_factory.mktemp("home"))
    yield opened
    opened.close()


def write_source(
    path: Path,
    columns: list[str],
    rows: list[tuple[str, ...]],
    ending: str = "\n",
    all_: bool = True,
) -> None:
    quoting = csv.QUOTE_ALL if all_ else csv.QUOTE_MINIMAL
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, quoting=quoting, lineterminator=ending).writerows([columns, *rows])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, ...]]]:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[VALUES] * width), min_size=1, max_size=25))
    return [f"col,{j}" for j in range(width)], rows


@pytest.mark.parametrize(
    ("coded", "rows_each"), [(True, 4), (True, 0), (False, 4)], ids=["sorted", "counted", "texts"]
)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables(), data=st.data())
def test_written_microdata_equal_the_reference(
    workspace: Workspace,
    coded: bool,
    rows_each: int,
    table: tuple[list[str], list[tuple[str, ...]]],
    data: st.DataObject,
) -> None:
    columns, rows = table
    recoded = columns[: data.draw(st.integers(0, len(columns)))]
    dropped = columns[-1:] if len(columns) > 1 and data.draw(st.booleans()) else []
    mapping = {name: {row[j]: data.draw(VALUES) for row in rows} for j, name in enumerate(recoded)}
    released = [tuple(mapping[name][row[j]] for j, name in enumerate(recoded)) for row in rows]
    gone = set(data.draw(st.lists(st.sampled_from(released), max_size=3))) if recoded else set()
    labels = tuple(tuple(sorted(set(mapping[name].values()))) for name in recoded)
    codes = [[labels[j].index(value) for j, value in enumerate(tup)] for tup in sorted(gone)]
    suppressed = sum(row in gone for row in released) if recoded else 0
    recoding = Recoding(
        tuple(recoded), mapping, labels,
        np.array(codes, dtype=np.int32).reshape(len(codes), len(recoded)),
        tuple(dropped), len(rows) - suppressed, suppressed,
    )  # fmt: skip
    folder = workspace.folder
    ending = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    all_quoted = ending != "\r\n" or data.draw(st.booleans())
    write_source(folder / "source.csv", columns, rows, ending, all_quoted)
    target = folder / "out.csv"
    target.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        if not coded:
            patch.setattr(coding, "MOST_CODED_COLUMNS", 0)
        spec = SourceSpec("source.csv", empty_rows="keep", header=True, delimiter=",")
        store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    assert store.page(0, len(rows)) == tuple(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "ROWS_EACH", rows_each)  # 0: each tuple counts as one of few
        patch.setattr(recode, "_PIECE", data.draw(st.sampled_from([1, 50, 4 << 20])))
        written = store.write_recoded(recoding, target, CancelToken(), silent)
    store.close()
    assert written == len(rows) - suppressed
    assert target.read_bytes() == recoded_csv(columns, rows, mapping, gone, dropped)


def test_a_recoding_that_does_not_add_up_leaves_no_file(workspace: Workspace) -> None:
    folder = workspace.folder
    write_source(folder / "few.csv", ["a", "b"], [("x", "y"), ("z", "y")])
    store = DataStore.open(SourceSpec("few.csv"), folder, workspace, CancelToken(), silent)
    nothing = np.empty((0, 0), dtype=np.int32)
    wrong = Recoding((), {}, (), nothing, (), 1, 0)
    with pytest.raises(InputError, match="do not add up"):
        store.write_recoded(wrong, folder / "never.csv", CancelToken(), silent)
    assert not (folder / "never.csv").exists()
    store.close()


def test_a_first_name_that_begins_with_an_unseen_mark_is_refused() -> None:
    assert header_line(["id", "\ufeffx", 'a"b,']) == 'id,\ufeffx,"a""b,"\n'
    assert header_line([""]) == '""\n'
    assert header_line(["", "b"]) == ",b\n"
    with pytest.raises(RefusedError, match=r"first released column, `.ufeffid`, begins") as caught:
        header_line(["\ufeffid", "x"])
    assert caught.value.code == "release.first-name"


@pytest.mark.parametrize("coded", [True, False])
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables(), data=st.data())
def test_tuples_recoded_by_themselves_are_written_as_their_entries_say(
    workspace: Workspace,
    coded: bool,
    table: tuple[list[str], list[tuple[str, ...]]],
    data: st.DataObject,
) -> None:
    columns, rows = table
    recoded = columns[: data.draw(st.integers(1, len(columns)))]
    folder = workspace.folder
    write_source(folder / "source.csv", columns, rows)
    with pytest.MonkeyPatch.context() as patch:
        if not coded:
            patch.setattr(coding, "MOST_CODED_COLUMNS", 0)
        spec = SourceSpec("source.csv", empty_rows="keep", header=True, delimiter=",")
        store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    counted = store.frequency_table(recoded, CancelToken())
    entries: list[tuple[int, int, int]] = []
    for place, count in enumerate(counted.counts.tolist()):
        first = data.draw(st.integers(1, count))
        parts = [first, count - first] if first < count else [count]
        entries += [(place, data.draw(st.integers(-1, 2)), part) for part in parts]
    shown = [tuple(data.draw(VALUES) for _ in recoded) for _ in range(3)]
    labels = tuple(tuple(sorted({one[j] for one in shown})) for j in range(len(recoded)))
    source, target, taken = (np.array(column, np.int64) for column in zip(*entries, strict=True))
    recoding = TupleRecoding(
        tuple(recoded), counted.domains, counted.codes, labels,
        np.array([[labels[j].index(v) for j, v in enumerate(one)] for one in shown], np.int32),
        source, target, taken,
    )  # fmt: skip
    waiting = {place: [t for p, t, n in entries if p == place for _ in range(n)]
               for place in range(len(counted.counts))}  # fmt: skip
    place_of = {
        tuple(counted.domains[j][c] for j, c in enumerate(codes)): place
        for place, codes in enumerate(counted.codes.tolist())
    }
    expected = []
    for row in rows:
        goes = waiting[place_of[row[: len(recoded)]]].pop(0)
        if goes >= 0:
            expected.append((*shown[goes], *row[len(recoded) :]))
    out = folder / "out.csv"
    out.unlink(missing_ok=True)
    written = store.write_recoded(recoding, out, CancelToken(), silent)
    store.close()
    with out.open(encoding="utf-8", newline="") as stream:
        header, *there = csv.reader(stream)
    assert (written, header) == (len(expected), columns)
    assert [tuple(row) for row in there] == sorted(expected)
    kept = target >= 0
    assert set(recoding.pairs(recoded[0])) == {
        (counted.domains[0][counted.codes[p, 0]], shown[t][0])
        for p, t in zip(source[kept].tolist(), target[kept].tolist(), strict=True)
    }
