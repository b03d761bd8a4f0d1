"""A table in PostgreSQL that is counted where it is: values, order, refusals, and what leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.frequency import RowRule
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import Coarsened, SourceSpec
from dpdesk.io.engines import refusals
from dpdesk.io.engines.postgres import PostgresEngine
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

    def open_it(name: str, *, private: bool = False, **keys: Any) -> DataStore:
        spec = replace(SourceSpec(server, table=name, engine="postgresql"), **keys)
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


def test_nobody_looks_at_rows_that_stay_there(opened: Callable[..., DataStore]) -> None:
    store = opened("odd")
    with pytest.raises(InputError, match="are not looked at"):
        store.page(0, 10)
    with pytest.raises(InputError, match="are not looked at"):
        store.profile(CancelToken(), silent)


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
