"""Two files that differ in one person's row: everything else that is read of them is the same."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import parquet

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.source_spec import read_source
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.reading import Reading
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.odd_rows import (
    FORMATS,
    LINES,
    MORE,
    NAMES,
    TEXT,
    TYPED,
    line,
    odd_rows,
    people,
    write_text,
)
from tests.helpers.odd_sources import SOURCES, Xml

Rows = Counter[tuple[str, ...]]
Read = Callable[[str, Mapping[str, Any]], tuple[tuple[str, ...], Reading, Rows]]


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    """Read a file of the folder as a private method does; it says nothing while it reads."""
    workspace = Workspace.open(tmp_path / "home")

    def reading(name: str, keys: Mapping[str, Any]) -> tuple[tuple[str, ...], Reading, Rows]:
        told: list[object] = []
        spec = read_source({"path": name, **keys}, "the test")
        data = DataStore.open(spec, tmp_path, workspace, CancelToken(), told.append, private=True)
        rows = Counter(data.page(0, 100_000))
        found = data.columns, data.reading, rows
        data.close()
        assert not [event for event in told if isinstance(event, Note)]
        return found

    yield reading
    workspace.close()


@pytest.mark.parametrize("part", range(4))
def test_a_line_changes_nothing_of_the_others(tmp_path: Path, read: Read, part: int) -> None:
    others = [line(row) for row in people()]
    write_text(tmp_path / "a.csv", others)
    columns, reading, rows = read("a.csv", TEXT)
    assert rows.total() == len(others)
    for number, odd in list(enumerate(LINES))[part::4]:
        write_text(tmp_path / "a.csv", others, [(number % 25, odd)])
        found = read("a.csv", TEXT)
        assert found[:2] == (columns, reading), odd[:50]
        assert not rows - found[2], odd[:50]
        assert (found[2] - rows).total() <= 1, odd[:50]


def test_without_a_header_a_first_line_of_another_width_is_a_row_like_others(
    tmp_path: Path, read: Read
) -> None:
    named = {f"column_{j + 1}": kind for j, kind in enumerate(TEXT["types"].values())}  # type: ignore[attr-defined]
    keys = TEXT | {"header": False, "types": named}
    others = [line(row) for row in people()]
    for first in (b"a,b", b"1,2,3,4,5,6", b"\xef\xbb\xbf", b"", b"\xff", b'"'):
        (tmp_path / "a.csv").write_bytes(b"\n".join([first, *others]))
        columns, _, rows = read("a.csv", keys)
        assert columns == tuple(named)
        assert rows.total() == 24 + rows[(UNREADABLE,) * 5]
        assert rows[(UNREADABLE,) * 5] <= 1


@pytest.mark.parametrize("name", FORMATS)
def test_odd_rows_change_nothing_of_the_others_in_any_format(
    tmp_path: Path, read: Read, name: str
) -> None:
    write, keys = FORMATS[name]
    others, odd = people(), [*odd_rows(), *MORE.get(name, [])]
    mixed = list(others)
    for number, row in enumerate(odd):
        mixed.insert(number * 2 % len(mixed), row)
    write(tmp_path / f"a.{name}", others)
    write(tmp_path / f"b.{name}", mixed)
    columns, _, rows = read(f"a.{name}", TYPED | keys)
    found, _, more = read(f"b.{name}", TYPED | keys)
    assert columns == found == NAMES
    assert rows.total() == len(others)
    assert not rows - more
    assert len(odd) - 2 <= (more - rows).total() <= len(odd)


@pytest.mark.parametrize("name", ["csv", "sqlite", "parquet"])
def test_a_file_of_nobody_is_read_like_any_other(tmp_path: Path, read: Read, name: str) -> None:
    if name == "csv":
        write_text(tmp_path / "a.csv", [])
        found = read("a.csv", TEXT)
    else:
        write, keys = FORMATS[name]
        write(tmp_path / f"a.{name}", [])
        found = read(f"a.{name}", TYPED | keys)
    assert found[0] == NAMES
    assert not found[2]


@pytest.mark.parametrize("ending", ["xlsx", "xlsm"])
def test_what_is_wrong_with_cells_and_rows_of_a_sheet_costs_no_row_but_its_own(
    tmp_path: Path, read: Read, ending: str
) -> None:
    source = SOURCES[ending]
    others = source.people()
    keys = source.write(tmp_path, others)
    columns, reading, rows = read(str(keys.pop("path")), keys)
    odd = [one for one in source.odd() if isinstance(one, Xml)]
    mixed = list(others)
    for number, row in enumerate(odd):
        mixed.insert(number * 2 % len(mixed), row)
    path = str(source.write(tmp_path, mixed).pop("path"))
    found = read(path, keys)
    assert found[:2] == (columns, reading)
    assert not rows - found[2]
    assert len(odd) - 4 <= (found[2] - rows).total() <= len(odd)
    assert found[2][(UNREADABLE,) * 5] > 9


def test_a_wrong_number_of_rows_in_a_transport_file_refuses_nothing(
    tmp_path: Path, read: Read
) -> None:
    source = SOURCES["xpt-8"]
    keys = source.write(tmp_path, source.people())
    path = tmp_path / str(keys.pop("path"))
    whole = path.read_bytes()
    _, _, rows = read(path.name, keys)
    assert rows.total() == 24
    for stated in (b"23", b"25", b"99", b" 0"):
        assert whole.count(b"             24  ") == 1
        path.write_bytes(whole.replace(b"             24  ", b"             " + stated + b"  "))
        assert read(path.name, keys)[2] == rows


@pytest.mark.parametrize("whole", [False, True])
def test_a_text_that_looks_like_the_header_of_a_table_costs_a_transport_file_nothing(
    tmp_path: Path, read: Read, whole: bool
) -> None:
    """One person's text at a multiple of 80 bytes, where headers of tables stand."""
    header = "HEADER RECORD*******{}HEADER RECORD!!!!!!!" + "0" * 30
    names = ("MEMBER  ", "DSCRPTR ", "SAS", "SAS", "NAMESTR ") if whole else ("MEMBER  ",)
    text = "".join(header.format(name).ljust(80) for name in names)
    for before in range(80):
        notes = ["x" * 80, "y" * before + text, "z".ljust(80 + len(text))]
        rows = pd.DataFrame({"person": list("abc"), "note": notes})
        pyreadstat.write_xport(rows, tmp_path / "a.xpt", file_format_version=8)
        if (tmp_path / "a.xpt").read_bytes().rfind(text[:24].encode()) % 80 == 0:
            break
    else:
        pytest.fail("the text stands at no place of a header")
    keys = {"encoding": "utf-8", "missing": [""], "types": {"person": "text", "note": "text"}}
    assert {row[0] for row in read("a.xpt", keys)[2]} == {"a", "b", "c"}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_time_that_no_day_has_is_unreadable_in_parquet_too(
    tmp_path: Path, read: Read, unit: str
) -> None:
    """The database that takes the table over refuses such a time, whoever's it is."""
    of_day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[unit]
    plain = pa.int32() if unit in ("s", "ms") else pa.int64()
    kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    raw = [0, of_day - 1, -1, of_day, None, 2 ** (plain.bit_width - 1) - 1]
    times = pa.array(raw, plain).view(kind)
    table = pa.table({"person": list("abcdef"), "at": times})
    parquet.write_table(table, tmp_path / "a.parquet")
    keys = {"missing": [""], "types": {"person": "text", "at": "text"}}
    found = {row[0]: row[1] for row in read("a.parquet", keys)[2]}
    assert found["a"] == "00:00:00"
    assert found["b"].startswith("23:59:59")
    assert (found["c"], found["d"], found["e"], found["f"]) == (*[UNREADABLE] * 2, "", UNREADABLE)


COMPUTED = {
    "a.sqlite": (
        "CREATE TABLE people (person TEXT, pay TEXT)",
        "INSERT INTO people VALUES ('a', '{x')",  # no JSON, of which the column is computed
        "ALTER TABLE people ADD COLUMN n AS (json_extract(pay, '$.n')) VIRTUAL",
    ),
    "a.duckdb": (
        "CREATE TABLE people (person TEXT, pay TEXT, n INTEGER AS (CAST(pay AS INTEGER)))",
        "INSERT INTO people (person, pay) VALUES ('a', '1')",
        "UPDATE people SET pay = 'x'",
    ),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_column_that_the_value_of_one_row_could_stop_is_refused_whatever_the_rows_hold(
    tmp_path: Path, read: Read, name: str
) -> None:
    connect: Any = sqlite3.connect if name.endswith("sqlite") else duckdb.connect
    keys = {"table": "people", "missing": [""], "types": {"person": "text"}}
    said = set()
    for statements in (COMPUTED[name], COMPUTED[name][::2]):
        (tmp_path / name).unlink(missing_ok=True)
        with closing(connect(str(tmp_path / name))) as con:
            for statement in statements:
                con.execute(statement)
            con.commit()
        with pytest.raises(InputError, match="column `n` is computed") as refused:
            read(name, keys)
        said.add(refused.value.sentence)
    assert len(said) == 1


def test_a_virtual_table_in_which_one_person_changes_many_rows_is_refused(
    tmp_path: Path, read: Read
) -> None:
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as con:
        con.execute("CREATE VIRTUAL TABLE people USING fts5(person)")
        con.execute("INSERT INTO people VALUES ('a b c')")
        con.execute("CREATE VIRTUAL TABLE words USING fts5vocab(people, row)")
        con.commit()
    keys = {"table": "words", "missing": [""], "types": {"term": "text"}}
    with pytest.raises(InputError, match="`words`"):
        read("a.sqlite", keys)


def test_a_line_of_items_changes_nothing_of_the_others(tmp_path: Path, read: Read) -> None:
    others = [b"tea 7", b"7", b"jam", b"tea jam 7 ham", b"ham"] * 5
    odd = [*LINES, b" ", b"tea\t7", b"\xff tea", b"7 7 7", b"\xef\xbb\xbf7", b"tea,7", b'"tea 7']
    keys = {"items": ["tea", "7", "jam"], "encoding": "utf-8", "delimiter": " "}
    (tmp_path / "a.dat").write_bytes(b"\n".join(others))
    columns, reading, rows = read("a.dat", keys)
    assert rows.total() == len(others)
    for number, one in enumerate(odd):
        mixed = [*others[: number % 25], one, *others[number % 25 :]]
        (tmp_path / "a.dat").write_bytes(b"\n".join(mixed))
        found = read("a.dat", keys)
        assert found[:2] == (columns, reading), one[:50]
        assert not rows - found[2], one[:50]
        assert (found[2] - rows).total() <= 1, one[:50]
