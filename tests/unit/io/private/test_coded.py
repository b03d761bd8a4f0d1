"""Rows that are held as codes are those that a table of texts has, whatever their values are."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.frequency import UNREADABLE, RowRule
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import read_source
from dpdesk.io import coded_rows
from dpdesk.io.formats.coded import write_codes
from dpdesk.io.formats.table import Values
from dpdesk.io.private import foreign, held_lines, lines, loading
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

ODD: dict[str, Any] = {
    "place": pa.array(["a", "", None, "e\u0301", "\u00e9", "nul\0", " ", "n/a", "b", None] * 30),
    "age": pa.array([1, 2, None, -7, 2, 1, None, 300, 4, None] * 30, pa.int16()),
    "true": pa.array([True, None, None, False, True, True, None, False, True, None] * 30),
    "group": pa.array(["x", "", None, "y", "", "x", None, "z", "y", ""] * 30).dictionary_encode(),
    "other": pa.array([1.5, 2.5, None, 0.1, 9.0, 1.5, None, 1.0, 2.0, None] * 30),
}
TYPES = {"place": "text", "age": "number", "true": "text", "group": "text"}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with closing(Workspace.open(tmp_path / "home")) as found:
        yield found


def written(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path, row_group_size=70)
    return path


def opened(
    path: Path, workspace: Workspace, types: dict[str, str] = TYPES, **more: Any
) -> DataStore:
    given = {"path": path.name, "missing": ["n/a"], "types": types} | more
    spec = read_source(given, "plan")
    return DataStore.open(spec, path.parent, workspace, CancelToken(), silent, private=True)


def seen(store: DataStore) -> list[object]:
    """All that a store tells, counted before and after its rows became a table."""
    token = CancelToken()
    found: list[object] = []
    for _ in range(2):
        for names in (list(TYPES), ["group", "age"], ["place"], []):
            table = store.frequency_table(names, token)
            told = table.domains, table.codes.tolist(), table.counts.tolist(), table.missing
            found.append(told)
        rule = RowRule({"place": ("a",)}, "group", ("age",), 3)
        limited = store.restricted(rule, token)
        found += [store.page(0, 1000), limited.rows, store.content(list(TYPES), token)]
    return [*found, store.rows, store.unreadable, store.columns]


@pytest.mark.parametrize("more", [{}, {"empty_rows": "keep"}])
def test_codes_are_the_rows_of_a_table_of_texts(
    more: dict[str, Any], tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet", pa.table({**ODD, "other": ODD["age"]}))
    with closing(opened(path, workspace, **more)) as store:
        assert store._held is not None
        held = seen(store)
    monkeypatch.setattr(foreign, "_MOST_CODED", -1)
    with closing(opened(path, workspace, **more)) as store:
        assert store._held is None
        assert seen(store) == held


TEXT = {
    "encoding": "utf-8",
    "delimiter": ",",
    "quote": '"',
    "decimal": ",",
    "header": True,
    "types": {"place": "text", "age": "number", "true": "text", "group": "date"},
    "date_order": "ymd",
}
LINES = (
    *(
        "a,1,x,2024-02-29",
        '"b, c",-7,,1999-01-01',
        ",,,",
        "  ",
        "é,n/a,nul\0,2023-02-29",
        '"a',
        "a,1",
    ),
    *("e\u0301, 1 ,x,soon", '"say ""so""","3,5",y,', "n/a,1e3,n/a,n/a", "a,1.0,x,2024-02-29"),
)


@pytest.mark.parametrize("more", [{}, {"empty_rows": "keep"}])
@pytest.mark.parametrize("limit", ["MOST_HELD", "MOST_IN_ALL", "LEAST_ROOM"])
@pytest.mark.parametrize("most", [1 << 16, 6, 3, 0])
@pytest.mark.parametrize("block", [1 << 22, 40])
def test_lines_that_are_held_are_the_rows_of_a_table(
    *,
    block: int,
    most: int,
    limit: str,
    more: dict[str, Any],
    tmp_path: Path,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many values are held before the rest goes into the database."""
    monkeypatch.setattr(lines, "_BLOCK", block)
    path, names = tmp_path / "rows.csv", "place,age,true,group"
    path.write_bytes("\n".join([names, *LINES * 7]).encode() + b"\n\xff,2,z,2024-02-29\n")
    monkeypatch.setattr(held_lines, limit, most)
    monkeypatch.setattr(held_lines, "memory", lambda: 0)
    monkeypatch.setattr(held_lines, "_AT_ONCE", 3)
    with closing(opened(path, workspace, **TEXT, **more)) as store:
        assert (store._held is not None) == (most > 6)
        held = seen(store)
    monkeypatch.setattr(loading, "MOST_COLUMNS", -1)
    with closing(opened(path, workspace, **TEXT, **more)) as store:
        assert store._held is None
        assert seen(store) == held


def test_lines_of_many_values_become_a_table_at_the_end(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 1000)
    names = [f"p{number}" for number in range(2_000)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["place", *names]), "utf-8")
    given = {**TEXT, "types": {"place": "text"}, "date_order": None}
    plan = {key: value for key, value in given.items() if value is not None}
    with closing(opened(path, workspace, **plan)) as store:
        assert store._held is None
        assert [row[0] for row in store.page(0, 2_000)] == names


@pytest.mark.parametrize("most", [-1, foreign._MOST_CODED])
def test_empty_texts_fill_no_row_however_the_file_holds_them(
    most: int, tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "_MOST_CODED", most)
    place, other = pa.array(["a", None, None, "b"]), pa.array(["", "", None, "x"])
    for kind, column in (("plain", other), ("coded", other.dictionary_encode())):
        table = pa.table({"place": place, "other": column})
        path = written(tmp_path / f"{kind}.parquet", table)
        with closing(opened(path, workspace, {"place": "text"})) as store:
            assert (store._held is None, store.rows) == (most < 0, 2)


def test_bytes_that_are_no_text_are_one_unreadable_value(
    tmp_path: Path, workspace: Workspace
) -> None:
    raw = pa.array([b"a", b"\xff", b"\xfe", b"b", b"\xff"], pa.binary()).view(pa.string())
    path = written(tmp_path / "rows.parquet", pa.table({"place": raw}))
    with closing(opened(path, workspace, {"place": "text"})) as store:
        assert store._held is not None
        assert store.page(0, 9) == (("a",), (UNREADABLE,), (UNREADABLE,), ("b",), (UNREADABLE,))
        assert store.unreadable == {"unreadable_values": {"place": 3}}


def test_columns_of_many_values_are_read_as_texts(tmp_path: Path, workspace: Workspace) -> None:
    names = [f"p{number}" for number in range(2_000)]
    path = written(tmp_path / "rows.parquet", pa.table({"place": names}))
    with closing(opened(path, workspace, {"place": "text"})) as store:
        assert store._held is None
        assert [row[0] for row in store.page(0, 2_000)] == names


def test_codes_grow_with_their_values(tmp_path: Path) -> None:
    pieces = [[f"v{number}" for number in range(first, first + 200)] for first in (0, 150, 400)]
    batches = ((Values(pa.array([*piece, None]).dictionary_encode()),) for piece in pieces)
    done: list[int] = []
    table = write_codes(batches, str(tmp_path / "codes"), 700, done.append)
    assert table is not None
    assert [widths for _, widths in table.batches] == [(1,), (2,), (2,)]
    values = table.values[0].to_pylist()
    found = [[values[code] for code in batch[0]] for batch in table.read(tmp_path / "codes")]
    assert found == [[*piece, None] for piece in pieces]
    assert done == [201, 402, 603]


def test_a_column_of_too_many_values_is_not_coded(tmp_path: Path) -> None:
    batches = ((Values(pa.array([f"v{n}" for n in range(9)]).dictionary_encode()),) for _ in "ab")
    assert write_codes(batches, str(tmp_path / "codes"), 9, lambda rows: None) is None
    assert not (tmp_path / "codes").exists()


def test_keys_that_are_sorted_count_as_those_that_have_places(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where they are sorted a piece at a time and merged."""
    path = written(tmp_path / "rows.parquet", pa.table({**ODD, "other": ODD["age"]}))
    found = []
    for most, piece in ((1 << 24, 1 << 19), (1, 1 << 19), (1, 3)):
        monkeypatch.setattr(coded_rows, "_MOST_CELLS", most)
        monkeypatch.setattr(coded_rows, "_PIECE", piece)
        monkeypatch.setattr(coded_rows, "_WAITING", 2 * piece)
        with closing(opened(path, workspace)) as store:
            table = store.frequency_table(list(TYPES), CancelToken())
            found.append((table.codes.tolist(), table.counts.tolist()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("sizes", [(2,) * 8, (7, 3), (256, 255), (256, 256), (65_535,), (65_536,)])
@pytest.mark.parametrize("wide", [False, True])
def test_keys_of_any_width_count_the_same(sizes: tuple[int, ...], wide: bool) -> None:
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, size, 20_000) for size in sizes]
    columns = [np.append(each, size - 1) for each, size in zip(columns, sizes, strict=True)]
    kinds = [np.int32 if wide else coded_rows.narrow(size) for size in sizes]
    codes: Any = tuple(each.astype(kind) for each, kind in zip(columns, kinds, strict=True))
    domains = tuple(tuple(f"{value:05}" for value in range(size)) for size in sizes)
    held = coded_rows.CodedRows(domains, codes, len(columns[0]))
    keys, counts = held.count(range(len(sizes)), CancelToken())
    wanted = Counter(zip(*(each.tolist() for each in columns), strict=True))
    found = zip(*(part.tolist() for part in np.unravel_index(keys, sizes)), strict=True)
    assert dict(zip(found, counts.tolist(), strict=True)) == wanted
    assert (np.diff(keys) > 0).all()


def test_counting_of_held_rows_is_cancelled(tmp_path: Path, workspace: Workspace) -> None:
    path = written(tmp_path / "rows.parquet", pa.table({**ODD, "other": ODD["age"]}))
    token = CancelToken()
    token.cancel()
    with closing(opened(path, workspace)) as store:
        with pytest.raises(Cancelled):
            store.frequency_table(list(TYPES), token)
        with pytest.raises(Cancelled):
            store.restricted(RowRule({}), token)
        assert len(store.page(0, 1000)) == store.rows  # it is made whole afterwards


def test_the_print_is_the_sum_of_hashes_of_rows(tmp_path: Path, workspace: Workspace) -> None:
    rng = np.random.default_rng(1)
    rows = [(f" {a}", f"{b}.50") for a, b in rng.integers(0, 9, (500, 2)).tolist()]
    path = tmp_path / "rows.parquet"
    written(path, pa.table({"Place": [a for a, _ in rows], "age": [b for _, b in rows]}))
    sums = [0, 0]
    for (a, b), times in Counter(rows).items():
        texts = [str(float(b)), str(float(a))]  # columns by name: age, place
        plain = "".join(f"{len(text)}:{text}" for text in texts)
        digest = hashlib.md5(plain.encode(), usedforsecurity=False).digest()
        for half, part in enumerate((digest[8:], digest[:8])):
            sums[half] += times * int.from_bytes(part, "little")
    wanted = json.dumps([["age", "place"], len(rows), *map(str, sums)])
    with closing(opened(path, workspace, {"Place": "text", "age": "text"})) as store:
        found = store.content(["Place", "age"], CancelToken())
    assert found == (hashlib.sha256(wanted.encode()).hexdigest(),)
