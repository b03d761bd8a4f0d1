"""A table in PostgreSQL that is counted where it is: values, order, refusals, and what leaves."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from pyarrow import parquet

from dpdesk.core.errors import Cancelled, DpdeskError, InputError, StorageError
from dpdesk.core.frequency import RowLook, RowRule
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.schema import ColumnProfile
from dpdesk.core.source_spec import Coarsened, SourceSpec
from dpdesk.io.engines import refusals
from dpdesk.io.engines.postgres import PostgresEngine
from dpdesk.io.formats.process import CONNECTING, read_here
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.postgres import postgres_server

pytest.importorskip("ibis", reason="the optional part `engines` is not installed")

ODD: list[tuple[Any, ...]] = [
    ("a", 1.0, "1.50", "x"), ("a", -0.0, "1.5", "x"), ("A", 0.0, "1", "x"), ("b ", 1e20, "2.0", ""),
    ("", 0.1, "-3.10", None), (None, float("nan"), "NaN", "ä"), ("a", 1.0, "1.5", "x"),
    ("é", 2.5, None, "\u2003"), ("e\u0301", None, "7", "it's \\ \"q\""), ("${x}", 1.5, "7", "x"),
]  # fmt: skip
"""Values of which engines, collations and types make one, or several."""
TYPES = (("t", "text"), ("f", "number"), ("n", "number"), ("u", "text"))


KINDS = {
    "json": "'{\"a\": 1}'", "xml": "'<a/>'", "point": "'(1,2)'", "interval": "'1 day'",
    "int4range": "'[1,3)'", "price": "1.50", "mood": "'so'", "real": "1.5",
}  # fmt: skip
"""Types and a value of each; the server cannot tell the values of all of them apart."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address, psycopg.connect(address) as con:
        con.execute(
            "CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        con.execute(
            "CREATE TABLE odd (t TEXT COLLATE alike, f DOUBLE PRECISION, n NUMERIC, u TEXT)"
        )
        con.execute("CREATE DOMAIN price AS numeric")
        con.execute("CREATE TYPE mood AS ENUM ('so', 'la')")
        for kind, value in KINDS.items():
            con.execute(f"CREATE TABLE kind_{kind} (a INT, b {kind})")
            con.execute(f"INSERT INTO kind_{kind} VALUES (1, {value}), (1, {value}), (2, NULL)")
        con.execute("CREATE TABLE blank (a TEXT, b TEXT)")
        con.execute("INSERT INTO blank VALUES ('x', ''), (NULL, ' '), ('', 'y'), ('', NULL)")
        con.execute("CREATE TABLE secret (a TEXT)")
        with con.cursor().copy("COPY odd FROM STDIN") as copy:
            for row in ODD:
                copy.write_row(row)
        con.execute("CREATE ROLE guest LOGIN")
        con.execute("GRANT SELECT ON odd TO guest")
        con.commit()
        yield address


@pytest.fixture
def opened(tmp_path: Path, server: str) -> Iterator[Callable[..., DataStore]]:
    workspace, stores = Workspace.open(tmp_path / "home"), []

    def open_it(name: str | None, *, private: bool = False, **keys: Any) -> DataStore:
        spec = SourceSpec(**{"path": server, "table": name, "engine": "postgresql"} | keys)
        given = spec, tmp_path, workspace, CancelToken(), silent
        stores.append(DataStore.open(*given, private=private))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()
    workspace.close()


def tuples(store: DataStore, names: tuple[str, ...]) -> list[tuple[tuple[str, ...], int]]:
    table = store.frequency_table(names, CancelToken())
    assert [list(domain) for domain in table.domains] == [sorted(each) for each in table.domains]
    return [
        (tuple(table.domains[j][code] for j, code in enumerate(codes)), int(n))
        for codes, n in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
    ]


@pytest.mark.parametrize("private", [False, True])
def test_values_of_every_type_are_counted_as_they_are_read(
    private: bool, opened: Callable[..., DataStore]
) -> None:
    types = {"types": (("a", "number"), ("b", "text"))} if private else {}
    for kind in KINDS:
        table = f"kind_{kind}"
        there = opened(table, private=private, **types)
        here = opened(table, private=private, engine=None, **types)
        assert tuples(there, ("a", "b")) == tuples(here, ("a", "b")), kind
        assert len(tuples(there, ("b",))) == 2, kind
        if not private:
            assert [one.distinct for one in there.profile(CancelToken(), silent).columns] == [2, 1]


@pytest.mark.parametrize("encoding", ["LATIN1", "WIN1252", "SQL_ASCII"])
@pytest.mark.parametrize(("engine", "private"), [("postgresql", False), (None, True)])
def test_another_encoding_is_refused_whatever_the_texts_are(
    encoding: str,
    engine: str | None,
    private: bool,
    server: str,
    opened: Callable[..., DataStore],
) -> None:
    name = f"in_{encoding.lower()}"
    with psycopg.connect(server, autocommit=True) as con:
        known = con.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if known is None:
            con.execute(
                f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' "
                "TEMPLATE template0"
            )
    address = server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(address, client_encoding="utf8") as con:
        con.execute("DROP TABLE IF EXISTS people")
        con.execute("CREATE TABLE people (a TEXT)")
        con.execute("INSERT INTO people VALUES ('x')")
        con.commit()
    types = {"types": (("a", "text"),)} if private else {}
    with pytest.raises(InputError) as caught:
        opened("people", path=address, engine=engine, private=private, **types)
    assert caught.value.code == "source.encoding"
    assert encoding in caught.value.sentence
    if engine is None:
        assert opened("people", path=address, engine=None).rows == 1


@pytest.mark.parametrize("engine", [None, "postgresql"])
@pytest.mark.parametrize(
    ("keys", "words", "hint"),
    [
        ({"table": "nope"}, "the table does not exist", "`table`"),
        ({"query": "SELECT x FROM odd"}, "the column does not exist", "`query`"),
        ({"query": "SELEC 1"}, "it does not understand the query", "`query`"),
        ({"query": "SELECT 1 = 'a'::text AS a"}, "no such function or comparison", "`query`"),
        ({"query": "SELECT 'x'::int AS a"}, "cannot be computed or converted", "value"),
        ({"query": "SELECT repeat('x', 1 << 30) || 'y' AS a"}, "too large", "shorter"),
    ],
)
def test_what_a_server_refuses_is_told_in_words_of_ours_and_without_its_marks(
    engine: str | None,
    keys: dict[str, str],
    words: str,
    hint: str,
    opened: Callable[..., DataStore],
) -> None:
    with pytest.raises(InputError) as caught:
        opened(keys.get("table"), engine=engine, query=keys.get("query"))
    error = caught.value
    assert error.code == "source.query"
    assert words in error.sentence
    assert hint in error.hint
    assert "LINE" not in error.sentence
    assert "^" not in error.sentence


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("names", [("t", "f", "n", "u"), ("u", "t"), ("f",), ("n", "f"), ()])
def test_values_and_counts_are_those_of_the_table_that_is_read(
    private: bool, names: tuple[str, ...], opened: Callable[..., DataStore]
) -> None:
    types = {"types": TYPES} if private else {}
    there = opened("odd", private=private, **types)
    here = opened("odd", private=private, engine=None, **types)
    assert tuples(there, names) == tuples(here, names)
    assert (there.rows, there.columns) == (here.rows, here.columns)
    assert there.unreadable == here.unreadable
    assert there.content(names, CancelToken()) == here.content(names, CancelToken())
    rule = RowRule({"u": ("x",), "f": ("1", "2.5")})
    kept = [store.restricted(rule, CancelToken()) for store in (there, here)]
    assert kept[0].rows == kept[1].rows
    found = [store.frequency_table(names, CancelToken()) for store in kept]
    assert found[0].counts.tolist() == found[1].counts.tolist()


def test_rows_without_any_value_are_left_out_there_as_they_are_here(
    opened: Callable[..., DataStore],
) -> None:
    for keys, rows in (({}, 2), ({"empty_rows": "keep"}, 4)):
        there, here = opened("blank", **keys), opened("blank", engine=None, **keys)
        assert there.rows == here.rows == rows
        assert tuples(there, ("a", "b")) == tuples(here, ("a", "b"))


def test_a_table_without_rows_is_refused_unless_that_tells_of_one(
    opened: Callable[..., DataStore], server: str
) -> None:
    with psycopg.connect(server, autocommit=True) as con:
        con.execute("CREATE TABLE nobody (a TEXT, b TEXT)")
        con.execute("CREATE TABLE nothing AS SELECT ' ' AS a, NULL::text AS b")
    for name in ("nobody", "nothing"):
        with pytest.raises(InputError, match="row") as caught:
            opened(name)
        assert caught.value.code == "read.no-rows"
        store = opened(name, private=True, types=(("a", "text"), ("b", "text")))
        assert store.rows == store.frequency_table(("b", "a"), CancelToken()).rows == 0


def test_an_identifier_is_not_asked_for(
    opened: Callable[..., DataStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    fetch = PostgresEngine.fetch

    def told(self: PostgresEngine, sql: str, *given: Any) -> None:
        asked.append(sql)
        fetch(self, sql, *given)

    monkeypatch.setattr(PostgresEngine, "fetch", told)
    store = opened("odd")
    store.leave_out(["t"])
    store.frequency_table(("u", "n"), CancelToken())
    store.coded_columns(["u"], CancelToken())
    values = [sql for sql in asked if "md5" not in sql]  # of which numbers alone come back
    assert len(values) == 5
    assert not any(" AS k0" in sql for sql in values)


def test_of_declared_columns_only_doubtful_values_come(
    opened: Callable[..., DataStore], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(server, autocommit=True) as con:
        con.execute("CREATE TABLE declared (who TEXT, number TEXT, code BIGINT, day TEXT)")
        with con.cursor().copy("COPY declared FROM STDIN") as copy:
            for n in range(1, 301):
                day = f"2021-02-{n % 30:02}"
                copy.write_row((f"Ünï\n{n}", f"{n}{'x' if n % 100 == 0 else ''}", n, day))
    fetched: dict[str, int] = {}
    fetch = PostgresEngine.fetch

    def told(self: PostgresEngine, sql: str, target: Path, *given: Any) -> None:
        fetch(self, sql, target, *given)
        fetched[sql] = parquet.read_metadata(target).num_rows

    types = (("who", "text"), ("number", "number"), ("code", "number"), ("day", "date"))
    here = opened("declared", private=True, types=types, engine=None)
    monkeypatch.setattr(PostgresEngine, "fetch", told)
    there = opened("declared", private=True, types=types)
    assert there.unreadable == here.unreadable
    assert there.unreadable == {"unreadable_values": {"number": 3, "day": 20}}
    assert sorted(fetched.values()) == [1, 1, 3, 30]


def test_columns_that_are_left_out_stay_there(opened: Callable[..., DataStore]) -> None:
    store = opened("odd")
    store.leave_out(["t", "f"])
    [column] = store.coded_columns(["u"], CancelToken())
    found = sorted(column.domain[code] for code in column.codes)
    assert found == sorted(row[3] or "" for row in ODD)
    assert np.all(store.coded_columns(["t"], CancelToken())[0].codes == 0)


@pytest.mark.parametrize(
    ("keys", "private"),
    [
        ({"coarsen": (("f", Coarsened(top=1)),)}, False),
        ({"query": "SELECT * FROM data"}, False),
        ({"query": "SELECT * FROM data", "types": TYPES}, True),
    ],
)
def test_what_is_not_done_in_an_engine_is_refused(
    keys: dict[str, Any], private: bool, opened: Callable[..., DataStore]
) -> None:
    with pytest.raises(InputError, match="cannot be combined with `engine`") as caught:
        opened("odd", private=private, **keys)
    assert caught.value.code == "engine.unsupported"


def profile(store: DataStore) -> list[ColumnProfile]:
    """What is seen of each column, without what a reader says of its storage."""
    found = store.profile(CancelToken(), silent).columns
    return [replace(one, variable=None, label="") for one in found]


def test_a_window_sees_of_a_table_that_stays_what_it_sees_of_one_that_is_read(
    opened: Callable[..., DataStore],
) -> None:
    there, here = opened("odd"), opened("odd", engine=None)
    assert (there.engine, here.engine) == ("PostgreSQL", "")
    told = [profile(store) for store in (there, here)]
    assert told[0] == told[1]
    for name in ("f", "n"):
        asked = name, (-4.0, 8.0), 6, CancelToken()
        assert there.histogram(*asked) == here.histogram(*asked)
    assert there.shown == here.shown == len(ODD)
    assert sorted(there.page(0, 100)) == sorted(here.page(0, 100))
    assert there.page(2, 3) == there.page(0, 100)[2:5]
    look = RowLook(column="t", descending=True)
    found = [store.rows_at(store.rows_of(look, CancelToken()).tolist()) for store in (there, here)]
    assert [row[0] for row in found[0]] == [row[0] for row in found[1]]


def test_of_a_column_of_many_values_the_most_frequent_are_looked_at(
    opened: Callable[..., DataStore], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.io.engines.table.MOST_SEEN", 3)
    monkeypatch.setattr("dpdesk.io.engines.store.MOST_SHOWN", 7)
    with psycopg.connect(server, autocommit=True) as con:
        con.execute(
            "CREATE TABLE many AS SELECT CASE WHEN g % 4 = 0 THEN '' WHEN g % 3 = 0 THEN 'often' "
            "ELSE 'person ' || g END AS who, g % 2 AS side FROM generate_series(1, 24) AS g"
        )
    asked: list[str] = []
    fetch = PostgresEngine.fetch

    def told(self: PostgresEngine, sql: str, *given: Any) -> None:
        asked.append(sql)
        fetch(self, sql, *given)

    monkeypatch.setattr(PostgresEngine, "fetch", told)
    there, here = opened("many"), opened("many", engine=None)
    found = [profile(store) for store in (there, here)]
    assert found[0][1] == found[1][1]
    many = found[0][0]
    assert many == replace(found[1][0], top=many.top)
    assert [item.value for item in many.top][:1] == ["often"]
    assert len(many.top) < len(found[1][0].top)
    assert (there.shown, len(there.page(0, 100))) == (7, 7)
    whole = [sql for sql in asked if " AS k0" in sql and "LIMIT" not in sql]
    assert len(whole) == 1  # how many values there are, of which two numbers come here


def test_plans_that_are_tried_at_a_time_each_have_their_columns(
    opened: Callable[..., DataStore],
) -> None:
    store = opened("odd")
    store.leave_out(["t", "f"])
    store.leave_out(["t", "n"])
    [column] = store.coded_columns(["f"], CancelToken())
    assert len(column.domain) > 1
    assert tuples(store, ("t",)) == tuples(opened("odd", engine=None), ("t",))
    store.leave_out(["t"])
    with pytest.raises(InputError, match="came from PostgreSQL without the column `t`") as caught:
        store.leave_out([])
    assert caught.value.code == "engine.columns"


def test_threads_that_ask_at_a_time_get_what_they_asked_for(
    opened: Callable[..., DataStore],
) -> None:
    there, here = opened("odd"), opened("odd", engine=None)
    pairs = [("t", "u"), ("f", "n"), ("t", "n"), ("u", "f"), ("t", "f"), ("n", "u")]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda names: tuples(there, names), pairs * 3))
    assert found == [tuples(here, names) for names in pairs] * 3


def test_a_table_that_changes_meanwhile_ends_the_work(
    opened: Callable[..., DataStore], server: str
) -> None:
    with psycopg.connect(server, autocommit=True) as con:
        con.execute("CREATE TABLE moving AS SELECT 'a' AS a, 'b' AS b")
        store = opened("moving")
        con.execute("INSERT INTO moving VALUES ('c', 'd')")
        with pytest.raises(StorageError, match="changed in PostgreSQL while it was counted"):
            tuples(store, ("a", "b"))


def test_what_is_wrong_is_one_sentence(
    opened: Callable[..., DataStore], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = server.replace("tester@", "guest@")
    for keys, said in (
        ({"table": "absent"}, "does not exist"),
        ({"table": "secret", "path": guest}, "permission denied"),
        ({"path": "postgresql:///postgres?host=/nowhere"}, "cannot be reached"),
    ):
        with pytest.raises(DpdeskError, match=said) as caught:
            opened("odd", **keys)
        assert "\n" not in caught.value.sentence
        assert caught.value.hint
    monkeypatch.setattr(refusals, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="the library `ibis` is needed") as missing:
        opened("odd")
    assert missing.value.code == "engine.missing"
    assert "dpdesk[engines]" in missing.value.hint


def test_a_cancelled_question_ends(opened: Callable[..., DataStore], server: str) -> None:
    token = CancelToken()
    store = opened("odd")
    token.cancel()
    with closing(store), pytest.raises(DpdeskError):
        store.frequency_table(("t", "u"), token)


def test_nobody_waits_for_a_server_that_does_not_answer(tmp_path: Path) -> None:
    token = CancelToken()
    with socket.socket() as silent_server:
        silent_server.bind(("127.0.0.1", 0))
        silent_server.listen()
        port = silent_server.getsockname()[1]
        request = ReadRequest(
            f"postgresql://127.0.0.1:{port}/db", "", "postgresql", query="SELECT 1"
        )

        def cancel() -> None:
            silent_server.accept()[0].detach()  # the connection is there, and nothing comes of it
            token.cancel()

        threading.Thread(target=cancel, daemon=True).start()
        with pytest.raises(Cancelled):
            read_here(request, token, lambda made: None)
        waiting = [one for one in threading.enumerate() if one.name == CONNECTING]
        assert waiting, "the connection was waited for"
