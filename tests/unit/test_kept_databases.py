"""Databases that serve again in tests are as new to those who use them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.helpers.kept_databases import KeptDatabases

LEFT = """
SELECT (SELECT count(*) FROM duckdb_tables() WHERE NOT internal)
     + (SELECT count(*) FROM duckdb_views() WHERE NOT internal)
     + (SELECT count(*) FROM duckdb_types() WHERE NOT internal)
"""


@pytest.fixture
def kept() -> Iterator[KeptDatabases]:
    made = KeptDatabases()
    yield made
    made.close()


def setting(con: duckdb.DuckDBPyConnection, name: str) -> object:
    return con.execute("SELECT current_setting(?)", [name]).fetchall()[0][0]


def test_nothing_of_who_used_it_before_is_left(kept: KeptDatabases, tmp_path: Path) -> None:
    for number in range(3):
        spill = str(tmp_path / str(number))
        con = kept.connect(config={"temp_directory": spill, "memory_limit": "1GB"})
        assert con.execute(LEFT).fetchall() == [(0,)]
        assert setting(con, "temp_directory") == spill
        con.execute("CREATE TYPE e0 AS ENUM ('a', 'b')")
        con.execute("CREATE TABLE data (a e0); CREATE VIEW seen AS SELECT * FROM data")
        con.execute("CREATE TEMP TABLE mine AS SELECT 1 AS a")
        con.close()
        del con
    assert len(kept._idle) == 1
    assert sum(map(len, kept._idle.values())) == 1  # one served all three


def test_two_at_a_time_know_nothing_of_each_other(kept: KeptDatabases) -> None:
    one, other = kept.connect(), kept.connect()
    one.execute("CREATE TABLE data (a INT)")
    assert other.execute(LEFT).fetchall() == [(0,)]


def test_one_whose_settings_were_changed_serves_nobody_else(kept: KeptDatabases) -> None:
    fresh = setting(kept.connect(), "disabled_optimizers")
    con = kept.connect()
    con.execute("SET GLOBAL disabled_optimizers = 'statistics_propagation'")
    del con
    assert setting(kept.connect(), "disabled_optimizers") == fresh
