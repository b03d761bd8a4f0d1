"""One plan, one table, several engines: a Parquet file in DuckDB, PostgreSQL and Spark."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.noise import randomness
from tests.helpers.postgres import postgres_server
from tests.helpers.spark import MASTER, need_spark

pytest.importorskip("ibis", reason="the optional part `engines` is not installed")

NAMES = ("name", "zip", "age", "born", "pay", "illness", "member")
TYPES = 'types = { name = "text", zip = "text", age = "number", born = "date", pay = "number", illness = "text", member = "text" }\ndate_order = "ymd"\nmissing = [""]'  # noqa: E501
ILLNESSES = ("none", "Grippe, „schwer“", 'a "cold"', "gout")
ROWS = 360


def people() -> list[tuple[Any, ...]]:
    """Rows in the order of the codes of their columns, since an engine has no order of its own."""
    draw, found = random.Random(5), []
    for number in range(ROWS):
        age = None if number % 40 == 7 else draw.choice((20, 30, 40))
        born = dt.date(1980, 1, 1) + dt.timedelta(days=draw.randrange(3))
        pay = draw.choice((1.0, 2.5, 1234.56, 0.1, -3.0, 12345.125))
        zip_code = draw.choice(("00123", "04567"))
        illness, name = draw.choice(ILLNESSES), f"person {number:03}"
        found.append((name, zip_code, age, born, pay, illness, draw.random() < 0.5))

    def texts(row: tuple[Any, ...]) -> tuple[str, ...]:
        age = "" if row[2] is None else str(row[2])
        pay = repr(row[4]).removesuffix(".0")
        return (row[1], age, row[3].isoformat(), pay, row[5], str(row[6]).lower())

    return sorted(found, key=texts)


def table() -> pa.Table:
    types = (
        *(pa.string(), pa.string(), pa.int32(), pa.date32(), pa.float64(), pa.string(), pa.bool_()),
    )
    columns = zip(*people(), strict=True)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=list(NAMES))


def fill_server(address: str) -> None:
    with psycopg.connect(address) as con:
        con.execute(
            "CREATE TABLE people (name TEXT, zip TEXT, age INT, born DATE, "
            "pay DOUBLE PRECISION, illness TEXT, member BOOLEAN)"
        )
        with con.cursor().copy("COPY people FROM STDIN") as copy:
            for row in random.Random(1).sample(people(), ROWS):
                copy.write_row(row)


_QUASI = """[attributes]
name = { role = "identifier" }
zip = { role = "quasi-identifier" }
age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [20] } }
born = { role = "quasi-identifier" }
illness = { role = "sensitive" }
[protection]
method = "k-anonymity"
"""
_DIMENSIONS = """dimensions = ["zip", "age", "born", "member"]
domains = { zip = ["00123", "04567", "other"], age = ["20", "30", "40"], born = ["1980-01-01", "1980-01-02", "1980-01-03", "other"], member = ["true", "false", "other"] }
"""  # noqa: E501
PLANS = {
    "tuples": f"{_QUASI}k = 12\nmax_suppression = 0.4\n",
    "cells": f'{_QUASI}k = 12\nmax_suppression = 0.4\nmodel = "CS"\n',
    "mondrian": f'{_QUASI}k = 12\nalgorithm = "mondrian"\n',
    "l-diverse": f"{_QUASI}k = 5\nmax_suppression = 0.5\n"
    '[[protection.require]]\nmodel = "l-diversity"\nattribute = "illness"\nl = 2\n',
    "anatomy": _QUASI.replace("k-anonymity", "anatomy") + 'l = 2\nsensitive = "illness"\n',
    "l-diverted": '[attributes]\nname = { role = "identifier" }\n[protection]\n'
    'method = "l-diverted"\nl = 3\nsensitive = ["illness"]\n',
    "dp-cube": f'[protection]\nmethod = "dp-cube"\n{_DIMENSIONS}'
    "publish = { max_dimensions = 2 }\n"
    'measure = { sum = "pay", lower = 0, upper = 1000 }\nepsilon = 1.0\n',
    "priview": f'[protection]\nmethod = "priview"\n{_DIMENSIONS}epsilon = 1.0\nview_size = 2\n'
    "marginals = { size = 2 }\n",
    "table": '[protection]\nmethod = "table"\nrows = ["zip", "age"]\ncolumns = ["illness"]\n'
    'measure = { sum = "pay" }\nprotect = "suppress"\n'
    '[[protection.rule]]\nrule = "threshold"\nn = 8\n',
}
PRIVATE = ("dp-cube", "priview")
LEDGER = '\n[budget]\nledger = "ledger.sqlite"'  # of its own, since each test has its own witness
LONGER = ("mondrian", "l-diverse", "anatomy", "cells")
"""What goes the ways of the others; tried when there is time."""


def plans(*later: str) -> list[Any]:
    """All plans, of which some wait for the soak."""
    soak = pytest.mark.soak
    return [pytest.param(name, marks=soak) if name in later else name for name in PLANS]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("people") / "people.parquet"
    parquet.write_table(table(), found)
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address:
        fill_server(address)
        yield address


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    """One for all, as one session of Spark serves them."""
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened
    if "dpdesk.io.engines.spark" in sys.modules:
        sys.modules["dpdesk.io.engines.spark"].stop()


@pytest.fixture(scope="module")
def expected(
    file: Path, context: AppContext, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, bytes]]:
    """The public part of the release of the file, made once for each plan."""
    known: dict[str, dict[str, bytes]] = {}

    def release(method: str) -> dict[str, bytes]:
        if method not in known:
            folder = tmp_path_factory.mktemp("file")
            known[method] = public(released(context, folder, f'path = "{file}"', method))
        return known[method]

    return release


@pytest.fixture(autouse=True)
def known_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every release draws the same numbers, so that only the engines can make them differ."""
    known = SimpleNamespace(urandom=bytes, getpid=os.getpid)
    monkeypatch.setattr(randomness, "os", known)


def public(folder: Path) -> dict[str, bytes]:
    """The bytes of the public part; of the manifest without its commitment and its hashes."""
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted((folder / "public").rglob("*"))
        if path.is_file()
    }
    manifest = json.loads(found.pop("public/manifest.json"))
    del manifest["commitment"], manifest["files"]
    return found | {"manifest": json.dumps(manifest, sort_keys=True).encode()}


def released(context: AppContext, folder: Path, source: str, method: str) -> Path:
    plan, types = folder / "plan.toml", f"\n{TYPES}{LEDGER}" if method in PRIVATE else ""
    plan.write_text(f"version = 1\n[source]\n{source}{types}\n{PLANS[method]}", "utf-8")
    run_plan(context, plan, folder / "out", CancelToken(), silent)
    return folder / "out"


Expected = Callable[[str], dict[str, bytes]]


@pytest.mark.parametrize("method", plans("mondrian", "anatomy"))
def test_postgresql_gives_the_release_of_the_file(
    method: str, expected: Expected, server: str, context: AppContext, tmp_path: Path
) -> None:
    source = f'path = "{server}"\ntable = "people"\nengine = "postgresql"'
    found = public(released(context, tmp_path, source, method))
    assert found == expected(method)
    assert sum(map(len, found.values())) > 2_000


@pytest.mark.parametrize("method", plans(*LONGER, "priview", "table"))
def test_spark_gives_the_release_of_the_file(
    method: str, expected: Expected, file: Path, context: AppContext, tmp_path: Path
) -> None:
    need_spark()
    source = f'path = "{MASTER}"\ntable = "{file}"\nengine = "spark"'
    assert public(released(context, tmp_path, source, method)) == expected(method)
