"""One table kept as CSV, Parquet, in statistical files, workbooks and databases: one release."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.noise import randomness
from tests.helpers.pinned import pin
from tests.helpers.postgres import postgres_server

pytestmark = pytest.mark.cheap_prints

Row = tuple[str, int | None, dt.date, float, str, bool]
NAMES = ("zip", "age", "born", "pay", "illness", "member")
ILLNESSES = ("none", "Grippe, „schwer“", "cold", "gout")
WIDTHS = (5, 3, 10, 8, 24, 5)


def people() -> list[Row]:
    draw, found = random.Random(5), []
    for number in range(240):
        age = None if number % 40 == 7 else draw.choice((20, 30, 40))
        born = dt.date(1980, 1, 1) + dt.timedelta(days=draw.randrange(3))
        pay = draw.choice((1.0, 2.5, 1234.56, 0.1))
        zip_code = draw.choice(("00123", "04567"))
        found.append((zip_code, age, born, pay, draw.choice(ILLNESSES), draw.random() < 0.5))
    return found


def texts() -> list[list[str]]:
    """The values as a CSV file has them."""
    found = []
    for zip_code, age, born, pay, illness, member in people():
        spelled = "" if age is None else str(age)
        number, truth = repr(pay).removesuffix(".0"), str(member).lower()
        found.append([zip_code, spelled, born.isoformat(), number, illness, truth])
    return found


def _csv(folder: Path) -> str:
    cells = [['"' + text + '"' for text in row] for row in [list(NAMES), *texts()]]
    (folder / "a.csv").write_text("\n".join(map(",".join, cells)) + "\n", "utf-8")
    return 'path = "a.csv"'


def _parquet(folder: Path) -> str:
    types = (pa.string(), pa.int16(), pa.date32(), pa.decimal128(9, 4), pa.string(), pa.bool_())
    columns = list(zip(*people(), strict=True))
    columns[3] = [pa.scalar(repr(pay)).cast(pa.decimal128(9, 4)).as_py() for pay in columns[3]]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    parquet.write_table(pa.table(arrays, names=list(NAMES)), folder / "a.parquet")
    return 'path = "a.parquet"'


def _frame() -> pd.DataFrame:
    frame = pd.DataFrame(people(), columns=list(NAMES))
    return frame.assign(member=[row[5] for row in texts()])


def _sav(folder: Path) -> str:
    pyreadstat.write_sav(_frame(), folder / "a.zsav", compress=True)
    return 'path = "a.zsav"'


def _dta(folder: Path) -> str:
    pyreadstat.write_dta(_frame(), folder / "a.dta")
    return 'path = "a.dta"'


def _xpt(folder: Path) -> str:
    pyreadstat.write_xport(_frame(), folder / "a.xpt", file_format_version=8)
    return 'path = "a.xpt"'


def _xlsx(folder: Path) -> str:
    with xlsxwriter.Workbook(folder / "a.xlsx", {"default_date_format": "dd.mm.yy"}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([NAMES, *people()]):
            sheet.write_row(number, 0, row)
    return 'path = "a.xlsx"'


def _fixed(folder: Path) -> str:
    rows = ["".join(text.ljust(w) for text, w in zip(row, WIDTHS, strict=True)) for row in texts()]
    (folder / "a.dat").write_text("\n".join(rows) + "\n", "utf-8")
    starts = [1 + sum(WIDTHS[:j]) for j in range(len(WIDTHS))]
    columns = ", ".join(
        f'{{ name = "{name}", start = {start}, width = {width} }}'
        for name, start, width in zip(NAMES, starts, WIDTHS, strict=True)
    )
    return f'path = "a.dat"\ncolumns = [{columns}]'


SQL = "CREATE TABLE people (zip TEXT, age INT, born {date}, pay {pay}, illness TEXT, member {bool})"


def _sqlite(folder: Path) -> str:
    with sqlite3.connect(folder / "a.sqlite") as con:
        con.execute(SQL.format(date="TEXT", pay="REAL", bool="TEXT"))
        rows = [(*p[:2], t[2], p[3], p[4], t[5]) for p, t in zip(people(), texts(), strict=True)]
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
    con.close()
    return 'path = "a.sqlite"'


def _duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "a.duckdb")) as con:
        con.execute(SQL.format(date="DATE", pay="DECIMAL(12, 3)", bool="BOOLEAN"))
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", people())
    return 'path = "a.duckdb"'


def _postgres(address: str) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        with psycopg.connect(address) as con:
            sql: Any = SQL.format(date="DATE", pay="NUMERIC(12, 2)", bool="BOOLEAN")
            con.execute("DROP TABLE IF EXISTS people")
            con.execute(sql)
            with con.cursor().copy("COPY people FROM STDIN") as copy:
                for row in people():
                    copy.write_row(row)
        return f'path = "{address}"\ntable = "people"'

    return write


PLANS = {
    "k-anonymity": """[attributes]
zip = { role = "quasi-identifier" }
age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [20] } }
born = { role = "quasi-identifier" }
illness = { role = "sensitive" }
[protection]
method = "k-anonymity"
k = 3
max_suppression = 0.3
""",
    "dp-cube": """[protection]
method = "dp-cube"
dimensions = ["zip", "age", "born", "member"]
domains = { zip = ["00123", "04567", "other"], age = ["20", "30", "40", "other"], born = ["1980-01-01", "1980-01-02", "1980-01-03", "other"], member = ["true", "false", "other"] }
publish = { max_dimensions = 2 }
measure = { sum = "pay", lower = 0, upper = 1000 }
epsilon = 1000000
""",  # noqa: E501
    "l-diverted": """[protection]
method = "l-diverted"
l = 3
sensitive = ["illness"]
""",
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address:
        yield address


@pytest.fixture
def known_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every release draws the same numbers, so that only the sources can make them differ."""

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


def test_a_query_keeps_the_same_rows_of_every_format(server: str, tmp_path: Path) -> None:
    """The same release as of a file that has no other rows; the databases say which table."""
    line = "query = \"SELECT * FROM data WHERE illness <> 'gout' AND CAST(age AS INTEGER) >= 30\""
    writers: dict[str, Callable[[Path], str]] = {
        "csv": _csv, "parquet": _parquet, "sav": _sav, "dta": _dta, "xpt": _xpt, "xlsx": _xlsx,
        "fixed": _fixed, "sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgres(server),
    }  # fmt: skip
    tables = dict.fromkeys(("sqlite", "duckdb"), '\ntable = "people"')
    kept = [row for row in texts() if row[4] != "gout" and row[1] in ("30", "40")]
    assert 50 < len(kept) < 200
    found: dict[str, bytes] = {}
    with AppContext.open(tmp_path / "home") as context:
        for name, write in writers.items():
            folder = tmp_path / name
            folder.mkdir()
            plan = folder / "plan.toml"
            source = f"{write(folder)}{tables.get(name, '')}\n{line}"
            plan.write_text(f"version = 1\n[source]\n{source}\n{PLANS['k-anonymity']}", "utf-8")
            run_plan(context, plan, folder / "out", CancelToken(), silent)
            evidence = json.loads((folder / "out" / "internal" / "evidence.json").read_text())
            assert evidence["source"]["rows"] == len(kept)
            told = f"The query kept {len(kept)} of 240 rows."
            assert any(told in note for note in evidence["notes"]), name
            found[name] = (folder / "out" / "public" / "microdata.csv").read_bytes()
        alone = tmp_path / "alone"
        alone.mkdir()
        cells = [['"' + text + '"' for text in row] for row in [list(NAMES), *kept]]
        (alone / "a.csv").write_text("\n".join(map(",".join, cells)) + "\n", "utf-8")
        plan = alone / "plan.toml"
        source = 'path = "a.csv"'
        plan.write_text(f"version = 1\n[source]\n{source}\n{PLANS['k-anonymity']}", "utf-8")
        run_plan(context, plan, alone / "out", CancelToken(), silent)
    expected = (alone / "out" / "public" / "microdata.csv").read_bytes()
    assert b"gout" not in expected
    assert found == dict.fromkeys(found, expected)


@pytest.mark.usefixtures("known_randomness")
@pytest.mark.parametrize("method", PLANS)
def test_the_same_table_gives_the_same_release_from_every_format(
    method: str, server: str, tmp_path: Path
) -> None:
    writers = {
        "csv": _csv, "parquet": _parquet, "sav": _sav, "sqlite": _sqlite,
        "postgresql": _postgres(server),
    }  # fmt: skip
    if method != "l-diverted":
        more = {"dta": _dta, "xpt": _xpt, "xlsx": _xlsx, "fixed": _fixed, "duckdb": _duckdb}
        writers |= more
    found: dict[str, dict[str, bytes]] = {}
    for name, write in writers.items():
        folder = tmp_path / name
        folder.mkdir()
        plan = folder / "plan.toml"
        plan.write_text(f"version = 1\n[source]\n{write(folder)}\n{PLANS[method]}", "utf-8")
        if method == "dp-cube":
            pin(plan)
        with AppContext.open(tmp_path / "home" / name) as context:
            run_plan(context, plan, folder / "out", CancelToken(), silent)
        found[name] = public(folder / "out")
    first = found["csv"]  # in a release of statistical files variables.json says the same in words
    assert sum(len(content) for content in first.values()) > 2_000
    for name, files in found.items():
        assert files.keys() - {"public/variables.json"} >= first.keys(), name
        for path, content in first.items():
            assert files[path] == content, (name, path)
