"""What does not fit is named, or arrives exactly and is noted: never lost in silence."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyreadstat
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import FixedColumn
from dpdesk.io.formats import process
from dpdesk.io.formats.databases.server import name_parts
from dpdesk.io.formats.moments import is_own_format
from dpdesk.io.formats.request import ReadDone, ReadRequest
from dpdesk.io.formats.worker import read_table
from dpdesk.io.workspace import Workspace
from tests.helpers.postgres import postgres_server
from tests.helpers.stat_files import head, opened, real, write_people


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address:
        yield address


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def asked(server: str, query: str) -> ReadDone:
    return read_table(ReadRequest(server, "", "postgresql", 9, query=query), lambda answer: None)


def test_a_value_without_a_label_is_named_where_others_have_one(
    tmp_path: Path, workspace: Workspace
) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2, 3, -1, 3], "age": [30.0, 40, 50, 99, 60]})
    frame["letter"] = ["M", "F", "", "X", "Y"]
    path = tmp_path / "a.sav"
    labels: Any = {"sex": {1: "male", 2: "female", -1: "refused"}, "age": {99: "refused"}}
    labels["letter"] = {"M": "male", "F": "female"}
    ranges: Any = {"sex": [{"lo": -9, "hi": -1}], "age": [99]}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels, missing_ranges=ranges)
    store = opened(path, workspace)
    said = "found a value without a label, where others of the column have one; it is kept as it is"
    assert store.reading.notes == (
        f"Row 3, column `sex`: {said}. There are 2 such values.",
        f"Row 4, column `letter`: {said}. There are 2 such values.",
    )
    assert [row[0] for row in store.page(0, 9)] == ["1", "2", "3", "-1", "3"]
    store.close()


def test_what_the_plan_calls_missing_needs_no_label(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"letter": ["M", "F", "X"]})
    labels: Any = {"letter": {"M": "male", "F": "female"}}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    store = opened(path, workspace, missing=("X",))
    assert store.reading.notes == ()
    store.close()


@pytest.mark.parametrize("display", ["%tm", "%tq", "%tCHH:MM"])
def test_periods_of_stata_stay_numbers_and_are_noted(display: str, tmp_path: Path) -> None:
    path = tmp_path / "a.dta"
    frame = pd.DataFrame({"when": [0.0, 200.0]})
    pyreadstat.write_dta(frame, path, variable_format={"when": display})
    done = head(path)
    assert done.head == (("0",), ("200",))
    assert f"since 1960 ({display})" in done.notes[0]


@pytest.mark.data
def test_value_labels_of_sas_that_are_not_here_are_told(tmp_path: Path) -> None:
    table = real("statfiles", "pyreadstat", "sas_catalog", "test_data_win.sas7bdat")
    catalog = real("statfiles", "pyreadstat", "missing_data", "missing_formats.sas7bcat")
    (tmp_path / "a.sas7bdat").write_bytes(table.read_bytes())
    alone = head(tmp_path / "a.sas7bdat").notes
    assert [note for note in alone if "`SEXA`" in note and "a catalogue that is not here" in note]
    other = head(tmp_path / "a.sas7bdat", catalog=str(catalog)).notes
    assert [note for note in other if "Column `SEXA`: the catalogue missing_formats" in note]


def test_formats_that_sas_brings_along_are_no_value_labels() -> None:
    for display in ("", "$", "BEST", "DATE", "DATETIME", "$CHAR", "COMMA", "Z", "NLDATE", "F"):
        assert not is_own_format(display), display
    assert is_own_format("SEXF")
    assert is_own_format("$TOWN")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"abc12zz\n",
            ("Line 1 continues after the last described column, which ends at position 5"),
        ),
        (b"a\tc12\n", "Line 1 holds a tab, which counts as one character"),
    ],
)
def test_lines_that_may_be_described_wrongly_are_noted(
    data: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(data + b"abc12   \n")
    columns = (FixedColumn("a", 1, 3), FixedColumn("b", 4, 2))
    request = ReadRequest(str(path), "", "fixed", 9, columns=columns)
    notes = read_table(request, lambda answer: None).notes
    assert len(notes) == 1
    assert said in notes[0]


@pytest.mark.parametrize("value", ["ARRAY[1, 2]", "'ab'::bytea", "ROW(1, 2)::pair"])
def test_what_has_no_text_is_refused_by_a_server_as_by_files(value: str, server: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as con:
        con.execute("DROP TYPE IF EXISTS pair; CREATE TYPE pair AS (a int, b int)")
    with pytest.raises(InputError, match="column `x`: found values of type"):
        asked(server, f"SELECT 1 AS ok, {value} AS x")


def test_infinite_numbers_of_a_server_are_spelled_as_elsewhere_and_nan_is_missing(
    server: str,
) -> None:
    query = "SELECT {0} AS a, {1} AS b, {2} AS c"
    numeric = [f"'{word}'::numeric" for word in ("NaN", "-Infinity", "1.500")]
    floats = [f"'{word}'::float8" for word in ("NaN", "-Infinity", "1.5")]
    exact, rounded = (asked(server, query.format(*each)).head for each in (numeric, floats))
    assert exact == rounded == (("", "-inf", "1.5"),)


def test_single_precision_and_dates_of_other_years_come_from_a_server(server: str) -> None:
    rows = "(1, 0.1::real, DATE '2020-01-01'), (2, 'NaN', '0222-09-04 BC'), (3, 2, 'infinity')"
    done = asked(server, f"SELECT x, d FROM (VALUES {rows}) AS t (n, x, d) ORDER BY n")
    told = (("0.1", "2020-01-01"), ("", "0222-09-04 BC"), ("2", "infinity"))
    assert done.head == told
    assert done.notes == (
        "Row 2, column `d`: the value 0222-09-04 BC is not a date of the years 1 to 9999; it is "
        "kept as this text. There are 2 such values.",
    )


def test_names_of_tables_may_hold_points_and_quotes(server: str) -> None:
    assert name_parts("census.people") == ("census", "people")
    assert name_parts('"S.x"."t""q"') == ("S.x", 't"q')
    assert name_parts("Ä b") == ("Ä b",)
    with pytest.raises(InputError, match=r'relation "a\.b" does not exist'):
        read_table(ReadRequest(server, "", "postgresql", 9, table='"a.b"'), lambda answer: None)


def test_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE t (a)")
        con.execute("INSERT INTO t VALUES (1)")
    con.close()
    with pytest.raises(InputError, match="column 2 has no name"):
        head(path, query='SELECT a, a AS "" FROM t')


def test_values_of_every_type_of_duckdb_arrive_exactly(tmp_path: Path) -> None:
    huge = "170141183460469231731687303715884105727"
    values = {
        f"{huge}::HUGEINT": huge,
        "1.10::DECIMAL(38, 10)": "1.1",
        "100::DECIMAL(9, 0)": "100",
        "'a'::ENUM ('a', 'b')": "a",
        "TIMESTAMP_NS '2020-01-01 00:00:00.123456789'": "2020-01-01 00:00:00.123456789",
        "TIME '10:10:10.5'": "10:10:10.5",
        "DATE '2020-01-01'": "2020-01-01",
        "(-0.0)::DOUBLE": "0",
    }
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        listed = ", ".join(f"{value} AS c{j}" for j, value in enumerate(values))
        con.execute(f"CREATE TABLE t AS SELECT {listed}")
    assert head(path).head == (tuple(values.values()),)
    assert SourceSpec(str(path)).name == "a.duckdb"


@pytest.mark.parametrize("ending", ["sqlite", "duckdb", "parquet"])
def test_a_nul_character_is_refused_with_its_place(
    ending: str, tmp_path: Path, private_home: Path
) -> None:
    path = tmp_path / f"a.{ending}"
    rows = [(1, "ok"), (2, "a\0b")]
    if ending == "sqlite":
        with sqlite3.connect(path) as con:
            con.execute("CREATE TABLE t (n, name)")
            con.executemany("INSERT INTO t VALUES (?, ?)", rows)
        con.close()
    elif ending == "duckdb":
        with duckdb.connect(str(path)) as base:
            base.execute("CREATE TABLE t AS SELECT 1 AS n, 'ok' AS name UNION ALL SELECT 2, "
                         "'a' || chr(0) || 'b'")  # fmt: skip
    else:
        pd.DataFrame(rows, columns=["n", "name"]).to_parquet(path)
    with (
        closing(Workspace.open(private_home)) as workspace,
        pytest.raises(InputError, match="row 2, column `name`: found a NUL character"),
    ):
        opened(path, workspace)


def test_a_table_of_hundreds_of_columns_is_written(tmp_path: Path, private_home: Path) -> None:
    names = [f"c{j}" for j in range(600)]
    pd.DataFrame([["1"] * 600] * 2, columns=names).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "plan.toml").write_text(
        'version = 1\n[source]\npath = "a.parquet"\n[attributes]\n'
        'c0 = { role = "quasi-identifier" }\n'
        '[protection]\nmethod = "k-anonymity"\nk = 2\n',
        "utf-8",
    )
    with AppContext.open(private_home) as context:
        run_plan(context, tmp_path / "plan.toml", tmp_path / "out", CancelToken(), silent)
    lines = (tmp_path / "out" / "public" / "microdata.csv").read_text("utf-8").splitlines()
    assert lines == [",".join(names), ",".join(["1"] * 600), ",".join(["1"] * 600)]


def test_a_transport_file_with_impossible_widths_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xpt"
    pyreadstat.write_xport(pd.DataFrame({"a": [1.0]}), path, file_format_version=5)
    raw = bytearray(path.read_bytes())
    width = raw.index(b"HEADER RECORD*******NAMESTR") + 80 + 4
    raw[width : width + 2] = (-9).to_bytes(2, "big", signed=True)
    path.write_bytes(raw)
    with pytest.raises(InputError, match="column 1 has an impossible width, -9 bytes"):
        head(path)


def test_a_database_whose_column_is_named_by_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE t (name)")
        con.execute("INSERT INTO t VALUES (1)")
    con.close()
    path.write_bytes(path.read_bytes().replace(b"(name)", b"(n\xddme)"))
    with pytest.raises(InputError, match="a name of a column is not text"):
        head(path, table="t")


def test_a_stata_file_that_breaks_off_among_its_labels_is_refused(tmp_path: Path) -> None:
    path = write_people(tmp_path / "a.dta")
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"<value_labels>") + 20])
    with pytest.raises(InputError, match="the file breaks off after its rows"):
        head(path)


def test_bytes_that_were_added_to_a_stata_file_are_counted(tmp_path: Path) -> None:
    path = write_people(tmp_path / "a.dta")
    path.write_bytes(path.read_bytes() + b"garbage!")
    with pytest.raises(InputError, match=r"a\.dta: 8 bytes follow after the end of the table"):
        head(path)
    pyreadstat.write_dta(pd.DataFrame({"n": [1.0]}), path, version=12)
    path.write_bytes(path.read_bytes() + b"garbage!" * 200)
    with pytest.raises(InputError, match="a length in it is wrong, or bytes were added to it"):
        head(path)


@pytest.mark.parametrize("place", [99, 0, -1])
def test_value_labels_of_no_column_are_named(place: int, tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(pd.DataFrame({"x": [1.0]}), path, variable_value_labels={"x": {1: "one"}})
    raw = bytearray(path.read_bytes())
    at = raw.index(struct.pack("<iii", 4, 1, 1)) + 8
    raw[at : at + 4] = struct.pack("<i", place)
    path.write_bytes(raw)
    with pytest.raises(
        InputError, match=f"a column that the file does not describe .place {place}"
    ):
        head(path)


def test_the_encoding_that_a_file_or_a_plan_names_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(pd.DataFrame({"s": ["XXXX", "abcd"]}), path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"XXXX", b"\xe9abc"))
    with pytest.raises(InputError, match=r"row 1, column `s`: found bytes .* the encoding UTF-8"):
        head(path)
    with pytest.raises(InputError, match="the plan names the encoding KLINGON, which is not known"):
        head(path, encoding="KLINGON")
    path.write_bytes(_in_klingon(whole))
    with pytest.raises(InputError, match="the file names the encoding KLINGON, which is not known"):
        head(path)
    table = write_people(tmp_path / "a.dta")
    table.write_bytes(table.read_bytes().replace("Ü".encode(), b"\xdc\xdc"))
    with pytest.raises(InputError, match=r"column `town`: found bytes .* the encoding UTF-8"):
        head(table)


def _in_klingon(whole: bytes) -> bytes:
    """An SPSS file without the number of its encoding and with another name of it."""
    place = whole.index(struct.pack("<4i", 7, 3, 4, 8)) + 16 + 28
    unnumbered = whole[:place] + struct.pack("<i", 0) + whole[place + 4 :]
    named = struct.pack("<4i", 7, 20, 1, 5) + b"UTF-8"
    return unnumbered.replace(named, struct.pack("<4i", 7, 20, 1, 7) + b"KLINGON")


def test_a_reader_that_breaks_down_or_is_ended_is_told_apart(monkeypatch: Any) -> None:
    request = ReadRequest("a.sav", "", "sav")
    for ends, said in (("os._exit(7)", "exit code 7"), ("os.kill(os.getpid(), 9)", "memory is")):
        monkeypatch.setattr(process, "_WORKER", f"import os; {ends}")
        with pytest.raises(InputError, match=said):
            process.read_in_process(request, "a.sav", CancelToken(), lambda made: None)


def test_a_damaged_database_is_not_called_open_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT range AS a FROM range(9)")
    raw = bytearray(path.read_bytes())
    raw[4_200] ^= 1
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"the database cannot be read .*[Cc]orrupt"):
        head(path, table="t")


@pytest.mark.parametrize("form", ["dta", "parquet"])
def test_whole_numbers_of_single_precision_keep_all_digits(
    form: str, tmp_path: Path, private_home: Path
) -> None:
    values = [265818672.0, 16777218.0, -0.0, 0.1, 1.5, 1e20]
    frame, path = pd.DataFrame({"x": values}, dtype="float32"), tmp_path / f"a.{form}"
    if form == "dta":
        frame.to_stata(path, write_index=False)
    else:
        frame.to_parquet(path)
    with (
        closing(Workspace.open(private_home)) as workspace,
        closing(opened(path, workspace)) as store,
    ):
        found = [row[0] for row in store.page(0, 9)]
    assert found == ["265818672", "16777218", "0", "0.1", "1.5", "1e+20"]
