"""SQLite, DuckDB and PostgreSQL: values keep their digits, faults are named, nothing is written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pytest

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.worker import read_table
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.postgres import postgres_server
from tests.helpers.stat_files import head, opened


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address:
        yield address


ROWS = (
    ("1", "34", "Aach", "true"),
    ("9007199254740993", "1e-07", "", ""),
    ("3", "0.1", 'say "hi",\nthere', "false"),
)
SQL = (
    "CREATE TABLE people (id {int}, age {float}, town TEXT, b {bool});"
    "INSERT INTO people VALUES (1, 34.0, 'Aach', {true}), (9007199254740993, 1e-7, NULL, NULL),"
    "(3, 0.1, 'say \"hi\",\nthere', {false});"
)
STANDARD = {"int": "BIGINT", "float": "DOUBLE PRECISION", "bool": "BOOLEAN", "true": "TRUE",
            "false": "FALSE"}  # fmt: skip


def sqlite_file(path: Path, more: str = "") -> Path:
    con = sqlite3.connect(path)
    con.executescript(
        SQL.format(int="INTEGER", float="REAL", bool="TEXT", true="'true'", false="'false'") + more
    )
    con.close()
    return path


def duckdb_file(path: Path, more: str = "") -> Path:
    con = duckdb.connect(str(path))
    con.execute(SQL.format(**STANDARD) + more)
    con.close()
    return path


def from_server(address: str, **options: str) -> tuple[tuple[str, ...], ...]:
    request = ReadRequest(address, "", "postgresql", 1_000, **options)  # type: ignore[arg-type]
    return read_table(request, lambda answer: None).head


def test_the_three_databases_give_the_same_texts(
    tmp_path: Path, server: str, workspace: Workspace
) -> None:
    stores = [
        opened(sqlite_file(tmp_path / "a.sqlite"), workspace),
        opened(duckdb_file(tmp_path / "a.duckdb"), workspace),
    ]
    (tmp_path / "b.db").write_bytes((tmp_path / "a.duckdb").read_bytes())
    stores.append(opened(tmp_path / "b.db", workspace, table="people"))
    with psycopg.connect(server) as con:
        con.execute("DROP TABLE IF EXISTS people")
        con.execute(SQL.format(**STANDARD))  # type: ignore[call-overload]
    spec = SourceSpec(server, table="people")
    stores.append(DataStore.open(spec, tmp_path, workspace, CancelToken(), silent))
    for store in stores:
        assert store.page(0, 9) == ROWS
        assert store.columns == ("id", "age", "town", "b")
        assert len(store.sha256) == 64
        store.close()
    assert not any(workspace.folder.glob("*.parquet"))


def test_the_hash_of_a_table_on_a_server_tells_whether_it_changed(
    server: str, tmp_path: Path
) -> None:
    def digest(query: str) -> str:
        target = tmp_path / "rows.parquet"
        request = ReadRequest(server, str(target), "postgresql", query=query)
        found = read_table(request, lambda answer: None)
        target.unlink()
        return found.sha256

    assert digest("SELECT 1 AS a") == digest("SELECT 1 AS a;")
    assert len({digest(f"SELECT {text}") for text in ("1 AS a", "2 AS a", "1 AS b")}) == 3


def test_a_server_is_read_only_and_its_faults_are_named(server: str) -> None:
    with pytest.raises(InputError, match='relation "absent" does not exist'):
        from_server(server, table="absent")
    with pytest.raises(InputError, match="expected a `table` or a `query`"):
        from_server(server)
    with pytest.raises(InputError, match="syntax error"):
        from_server(server, query="DELETE FROM people")
    with psycopg.connect(server) as con:
        con.execute("CREATE SEQUENCE IF NOT EXISTS counter")
    with pytest.raises(InputError, match="read-only"):
        from_server(server, query="SELECT nextval('counter')")
    with pytest.raises(InputError, match="column `b`: found values of type bytea"):
        from_server(server, query="SELECT 'x'::bytea AS b")
    gone = server.replace("host=/tmp/", "host=/tmp/absent-")
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        from_server(gone, table="people")
    assert "PGPASSWORD" in caught.value.hint


def test_a_table_without_rows_is_refused(server: str, tmp_path: Path, workspace: Workspace) -> None:
    path = duckdb_file(tmp_path / "a.duckdb")
    sqlite_file(tmp_path / "a.sqlite")
    for name in (server, path.name, "a.sqlite"):
        spec = SourceSpec(name, query="SELECT id, age FROM people WHERE id < 0")
        with pytest.raises(InputError, match="found 2 columns and no rows"):
            DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)


def test_numbers_and_moments_of_a_server_have_the_texts_of_other_sources(server: str) -> None:
    query = (
        "SELECT 1e15::float8 AS a, 1.1::float4 AS b, 1.50::numeric(9,2) AS c, "
        "'2020-01-02 03:04:05'::timestamp AS d, 'NaN'::float8 AS e, '2020-01-02'::date AS f"
    )
    texts = ("1000000000000000", "1.1", "1.5", "2020-01-02 03:04:05", "", "2020-01-02")
    assert from_server(server, query=query) == (texts,)


def test_rows_of_one_column_of_a_server_without_a_value_are_rows(server: str) -> None:
    query = "SELECT nullif(n, 2) AS n FROM generate_series(1, 4) AS n"
    assert from_server(server, query=query) == (("1",), ("",), ("3",), ("4",))
    assert from_server(server, query="SELECT NULL::text AS n FROM generate_series(1, 2)") == (
        ("",), ("",),
    )  # fmt: skip


def test_a_table_of_which_a_policy_hides_rows_is_refused(server: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as con:
        con.execute("CREATE TABLE own (n int, who text)")
        con.execute("INSERT INTO own VALUES (1, 'clerk'), (2, 'other')")
        con.execute("CREATE ROLE clerk LOGIN")
        con.execute("GRANT SELECT ON own TO clerk")
    address = server.replace("tester@", "clerk@")
    assert len(from_server(address, table="own")) == 2
    with psycopg.connect(server, autocommit=True) as con:
        con.execute("ALTER TABLE own ENABLE ROW LEVEL SECURITY")
        con.execute("CREATE POLICY mine ON own TO clerk USING (who = 'clerk')")
    with pytest.raises(InputError, match="the server hides rows of the table") as caught:
        from_server(address, table="own")
    assert caught.value.code == "source.rows-hidden"


def test_a_damaged_database_of_which_rows_would_be_missing_is_refused(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.executescript("PRAGMA page_size = 1024; CREATE TABLE people (n, town)")
        rows = [(n, f"town {n}") for n in range(300)]
        con.executemany("INSERT INTO people VALUES (?, ?)", rows)
        con.execute("CREATE INDEX by_town ON people (town)")
        con.commit()
    raw = bytearray(path.read_bytes())
    leaf = next(at for at in range(1024, len(raw), 1024) if raw[at] == 13)  # a page of rows
    raw[leaf + 4] -= 5  # how many rows it says that it has
    path.write_bytes(raw)
    with pytest.raises(InputError, match="the database is damaged") as caught:
        DataStore.open(SourceSpec(path.name), tmp_path, workspace, CancelToken(), silent)
    assert caught.value.code == "read.damaged"


def test_a_database_with_a_collation_of_its_own_program_is_read(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.create_collation("LOCALIZED", lambda one, other: (one > other) - (one < other))
        con.executescript(
            "CREATE TABLE contacts (name TEXT COLLATE LOCALIZED); CREATE TABLE people (n);"
            "CREATE INDEX by_name ON contacts (name);"
            "INSERT INTO contacts VALUES ('b'), ('a'); INSERT INTO people VALUES (1), (2)"
        )
    for table, rows in (("people", (("1",), ("2",))), ("contacts", (("b",), ("a",)))):
        spec = SourceSpec(path.name, table=table)
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.page(0, 9) == rows


def test_a_table_of_sqlite_may_be_named_in_quotes(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.executescript(
            'CREATE TABLE "my.table" (n); INSERT INTO "my.table" VALUES (1); CREATE TABLE b (n)'
        )
    for table in ("my.table", '"my.table"'):
        spec = SourceSpec(path.name, table=table)
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.page(0, 9) == (("1",),)


def test_values_that_only_break_a_rule_of_their_table_are_read(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.executescript(
            "PRAGMA ignore_check_constraints = ON; CREATE TABLE people (n CHECK (n > 0));"
            "INSERT INTO people VALUES (-1), (2)"
        )
    store = DataStore.open(SourceSpec(path.name), tmp_path, workspace, CancelToken(), silent)
    assert store.page(0, 9) == (("-1",), ("2",))


@pytest.mark.skipif(os.sep != "/", reason="a backslash parts folders here")
def test_a_backslash_in_the_name_of_a_database_names_no_folder(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "a").mkdir()
    duckdb_file(tmp_path / "a" / "b.duckdb")
    path = tmp_path / r"a\b.duckdb"
    path.write_bytes((tmp_path / "a" / "b.duckdb").read_bytes())
    with pytest.raises(InputError, match="takes the backslash in this name") as caught:
        DataStore.open(SourceSpec(path.name), tmp_path, workspace, CancelToken(), silent)
    assert caught.value.code == "source.path"


def test_enums_of_any_labels_and_names_with_points_are_told_apart(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TYPE job AS ENUM ('Journalist', 'in a UNION', '[other]')")
        con.execute("CREATE SCHEMA s")
        con.execute("CREATE TABLE s.b AS SELECT '[other]'::job AS job")
        con.execute("""CREATE TABLE "s.b" AS SELECT 'Journalist'::job AS job""")
        con.execute("CREATE TABLE lists AS SELECT ['Journalist'::job] AS jobs")
    spec = SourceSpec(path.name, table="lists")
    with pytest.raises(InputError, match="column `jobs`"):
        DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    for table, value in (("s.b", "[other]"), ('"s.b"', "Journalist")):
        spec = SourceSpec(path.name, table=table)
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.page(0, 9) == ((value,),)


def test_decimals_with_all_digits_behind_the_point_have_the_texts_of_other_decimals(
    server: str, tmp_path: Path, workspace: Workspace
) -> None:
    values = ("0", "0.5", "-0.25", "1e-4")
    select = " UNION ALL ".join(f"SELECT CAST({v} AS DECIMAL(4, 4)) AS share" for v in values)
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(f"CREATE TABLE people AS {select}")
        con.execute(f"COPY people TO '{tmp_path}/a.parquet'")
    wanted = ["0", "0.5", "-0.25", "0.0001"]
    assert [row[0] for row in from_server(server, query=select)] == wanted
    for name in ("a.duckdb", "a.parquet"):
        store = DataStore.open(SourceSpec(name), tmp_path, workspace, CancelToken(), silent)
        assert [row[0] for row in store.page(0, 4)] == wanted


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_table_among_several_must_be_named(tmp_path: Path, kind: str) -> None:
    make = sqlite_file if kind == "sqlite" else duckdb_file
    path = make(tmp_path / f"a.{kind}", "CREATE TABLE other (x INTEGER);")
    with pytest.raises(InputError, match="found 2 tables") as caught:
        head(path)
    assert "`other`, `people`" in caught.value.hint
    with pytest.raises(InputError, match="no table `peple`") as caught:
        head(path, table="peple")
    assert "Did you mean `people`?" in caught.value.hint
    assert head(path, table="people").head == ROWS
    assert head(path, query="SELECT town AS t FROM people WHERE id = 1").head == (("Aach",),)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_query_can_change_nothing(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make = sqlite_file if kind == "sqlite" else duckdb_file
    path = make(tmp_path / f"a.{kind}")
    before = path.read_bytes()
    for query in ("DROP TABLE people", "DELETE FROM people", "ATTACH 'other.db' AS o"):
        with pytest.raises(InputError, match=r"refused the query|found no column"):
            head(path, query=query)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_values_without_a_text_and_broken_texts_are_named(tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "a.sqlite",
        "CREATE TABLE bad (x); INSERT INTO bad VALUES ('a'), (x'00ff');"
        "CREATE TABLE worse (x); INSERT INTO worse VALUES ('a'), ('b'), (CAST(x'ff' AS TEXT));",
    )
    with pytest.raises(InputError, match="row 2, column `x`: found values of type BLOB"):
        head(path, table="bad")
    with pytest.raises(InputError, match="row 3, column `x`: found bytes that are not text"):
        head(path, table="worse")
    other = duckdb_file(tmp_path / "a.duckdb", "CREATE TABLE l AS SELECT [1] AS x;")
    with pytest.raises(InputError, match=r"column `x`: found values of type INTEGER\[\]"):
        head(other, table="l")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_damaged_or_foreign_database_is_named(
    tmp_path: Path, kind: str, workspace: Workspace
) -> None:
    make = sqlite_file if kind == "sqlite" else duckdb_file
    path = make(tmp_path / f"a.{kind}")
    path.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(InputError) as caught:
        opened(path, workspace)
    assert caught.value.code == "read.damaged"
    path.write_bytes(b"id,age\n1,2\n")
    with pytest.raises(InputError, match=f"a.{kind}: the file is not a "):
        opened(path, workspace)


def test_a_table_on_a_server_is_inspected_by_its_address(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from dpdesk.cli.main import main

    assert main(["inspect", server, "--query", "SELECT 7 AS zqcolumn", "--json"]) == 0
    assert '"zqcolumn"' in capsys.readouterr().out
    assert main(["inspect", server]) == 2
    assert "expected a `table` or a `query`" in capsys.readouterr().err
    with_password = server.replace("tester@", "tester:s3cret@")
    assert main(["inspect", with_password, "--table", "x"]) == 2
    assert "s3cret" not in capsys.readouterr().err


def test_null_beside_the_empty_text_is_told(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "a.sqlite", "INSERT INTO people VALUES (4, 1, '', '');")
    found = head(path, table="people")
    assert "Column `town` holds null and the empty text" in found.notes[0]
