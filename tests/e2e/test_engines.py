"""One plan, one table, several engines: a Parquet file in DuckDB, PostgreSQL and Spark."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.cli.main import main
from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from dpdesk.core.source_spec import SourceSpec
from dpdesk.engine.noise import randomness
from dpdesk.io.prints import apart, fresh_print_key
from dpdesk.io.store import DataStore
from tests.helpers.postgres import postgres_server
from tests.helpers.spark import MASTER, need_spark

pytest.importorskip("ibis", reason="the optional part `engines` is not installed")

pytestmark = pytest.mark.cheap_prints

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


def test_a_release_from_an_engine_passes_its_checks(
    server: str, context: AppContext, tmp_path: Path
) -> None:
    source = f'path = "{server}"\ntable = "people"\nengine = "postgresql"'
    for method in ("tuples", "dp-cube"):
        folder = tmp_path / method
        folder.mkdir()
        folder = released(context, folder, source, method)
        found = verify_release(folder, context.registry, CancelToken(), silent)
        assert found.failures == ()
        assert found.claims


def checked(context: AppContext, folder: Path, source: Path | str) -> VerifyReport:
    given = folder, context.registry, CancelToken(), silent, source, context.workspace
    return verify_release(*given)


def wanting(found: VerifyReport) -> int:
    """How many claims only the source can settle."""
    return sum(check.status is CheckStatus.NEEDS_SOURCE for check in found.claims)


@pytest.mark.parametrize("method", plans("mondrian", "l-diverse", "anatomy", "priview"))
def test_a_release_is_checked_against_the_table_in_the_server(
    method: str, server: str, context: AppContext, tmp_path: Path
) -> None:
    address = server.replace("/postgres", "/checked")
    with psycopg.connect(server, autocommit=True) as con:
        con.execute("DROP DATABASE IF EXISTS checked")
        con.execute("CREATE DATABASE checked TEMPLATE template0")
    fill_server(address)
    source = f'path = "{address}"\ntable = "people"\nengine = "postgresql"'
    out = released(context, tmp_path, source, method)
    found = checked(context, out, address)
    assert found.failures == ()
    assert "is the source that the evidence names" in " ".join(found.notes)
    alone = verify_release(out, context.registry, CancelToken(), silent)
    assert wanting(found) < wanting(alone)
    for change in ("DELETE FROM people WHERE name = 'person 003'", "TRUNCATE people"):
        with psycopg.connect(address) as con:
            con.execute(change)
        found = checked(context, out, address)
        assert not found.ok
        assert any(address in failure.path for failure in found.failures)
    assert any("could not be read" in failure.reason or "rows are different" in failure.reason
               for failure in found.failures)  # fmt: skip


def test_a_changed_value_and_another_source_are_found(
    server: str, context: AppContext, file: Path, tmp_path: Path
) -> None:
    with psycopg.connect(server) as con:
        con.execute("CREATE TABLE moved AS SELECT * FROM people")
    source = f'path = "{server}"\ntable = "moved"\nengine = "postgresql"'
    out = released(context, tmp_path, source, "tuples")
    with psycopg.connect(server) as con:  # of a column that is not even released
        con.execute("UPDATE moved SET name = 'nobody' WHERE name = 'person 003'")
    [failure] = checked(context, out, server).failures
    assert failure.path == server
    assert "is not the source of this release: its rows are different" in failure.reason
    for other, said in (
        (server.replace("/postgres", "/absent"), "could not be read as the evidence says"),
        ("local[2]", "made from another kind of source"),
        (file, "its SHA-256 is different"),
    ):
        failures = checked(context, out, other).failures
        assert [said in failure.reason for failure in failures] == [True]
    secret = "postgresql://me:hidden@127.0.0.1/x"
    with pytest.raises(InputError, match="found a password") as caught:
        checked(context, out, secret)
    assert "hidden" not in caught.value.sentence
    (tmp_path / "of-file").mkdir()
    out = released(context, tmp_path / "of-file", f'path = "{file}"', "tuples")
    [failure] = checked(context, out, server).failures
    assert "the release was made from a file" in failure.reason


def test_a_release_is_checked_against_the_table_in_spark(
    file: Path, context: AppContext, tmp_path: Path
) -> None:
    need_spark()
    table = tmp_path / "people.parquet"
    shutil.copy(file, table)
    source = f'path = "{MASTER}"\ntable = "{table}"\nengine = "spark"'
    for method in ("tuples", "dp-cube"):
        (tmp_path / method).mkdir()
        out = released(context, tmp_path / method, source, method)
        assert checked(context, out, MASTER).failures == ()
    parquet.write_table(parquet.read_table(file).slice(1), table)
    found = checked(context, out, MASTER)
    assert [failure.path for failure in found.failures] == [MASTER]


def test_the_command_line_takes_the_address_of_a_server(
    server: str, context: AppContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f'path = "{server}"\ntable = "people"\nengine = "postgresql"'
    out = released(context, tmp_path, source, "tuples")
    assert main(["verify", str(out), "--source", server, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["ok"]


ODD = {
    "text": pa.array(
        ["a", "A", None, "", 'it\'s \\ "q"', "${x}", "é", "e\u0301", "a\nb", "\u2003"]
    ),
    "real": pa.array([0.1, -0.0, 0.0, None, float("nan"), 1e20, 1e-7, 2.5, 1 / 3, 1e16]),
    "single": pa.array([0.1, -0.0, None, 16777216, 1e10, 3.5, 2, 1, 0.5, 7], pa.float32()),
    "exact": pa.array([None, *(Decimal(n) / 4 for n in range(-4, 5))], pa.decimal128(12, 4)),
    "day": pa.array([dt.date(1980, 1, day) for day in (*range(1, 10), 1)]),
    "moment": pa.array(
        [dt.datetime(2020, 1, 1, 12, 0, 0, micro) for micro in (*range(9), 500_000)],
        pa.timestamp("us"),
    ),
    "zoned": pa.array(
        [dt.datetime(2020, 7, day) for day in range(1, 11)], pa.timestamp("us", "UTC")
    ),
    "truth": pa.array([True, False, None] * 3 + [True]),
    "whole": pa.array([2**62, -1, None, *range(7)], pa.int64()),
}
"""Values that engines write in words of their own."""


def test_spark_has_the_values_of_the_file(context: AppContext, tmp_path: Path) -> None:
    need_spark()
    file, given = tmp_path / "odd.parquet", (tmp_path, context.workspace, CancelToken(), silent)
    parquet.write_table(pa.table(ODD), file)
    numbers = ("real", "whole")
    types = tuple((name, "number" if name in numbers else "text") for name in ODD)
    key = fresh_print_key()
    for private in (False, True):
        more: dict[str, Any] = {"types": types} if private else {}
        there, here = (
            DataStore.open(spec, *given, private=private)
            for spec in (
                SourceSpec(MASTER, table=str(file), engine="spark", **more),
                SourceSpec(str(file), **more),
            )
        )
        with closing(there), closing(here):
            assert (there.rows, there.columns) == (here.rows, here.columns) == (10, tuple(ODD))
            assert there.unreadable == here.unreadable
            for names in (*((name,) for name in ODD), tuple(ODD), ("truth", "text")):
                found = [store.frequency_table(names, CancelToken()) for store in (there, here)]
                assert found[0].domains == found[1].domains, names
                assert found[0].codes.tolist() == found[1].codes.tolist()
                assert found[0].counts.tolist() == found[1].counts.tolist()
                assert found[0].missing == found[1].missing
            values = here.frequency_table(("text",), CancelToken()).domains[0]
            mapping = {"text": {value: value[:1] for value in values}}
            asked = ("text", "truth"), mapping, key, CancelToken()
            assert apart(there.row_counts(*asked), here.row_counts(*asked)) == (0, 0)


def test_spark_counts_what_is_not_of_its_type(context: AppContext, tmp_path: Path) -> None:
    need_spark()
    file = tmp_path / "odd.parquet"
    kinds = {"text": "text", "number": "number", "day": "date"}
    rows = [
        ("a\0", "12", "2021-02-28"),
        ("\U0010ffff\x01\n", "12\n", "2021-02-30"),
        (None, "1e5", ""),
        ("b", "x", "28.2.2021"),
    ]
    columns = dict(zip(kinds, zip(*rows, strict=True), strict=True))
    parquet.write_table(pa.table(columns), file)
    given = tmp_path, context.workspace, CancelToken(), silent
    more: dict[str, Any] = {"types": tuple(kinds.items()), "date_order": "ymd"}
    for spec in (SourceSpec(MASTER, table=str(file), engine="spark", **more),
                 SourceSpec(str(file), **more)):  # fmt: skip
        with closing(DataStore.open(spec, *given, private=True)) as store:
            lost = {"unreadable_values": {"text": 1, "number": 2, "day": 2}}
            assert store.unreadable == lost


def test_what_is_wrong_in_spark_is_one_sentence(context: AppContext, tmp_path: Path) -> None:
    need_spark()
    lists = tmp_path / "lists.parquet"
    parquet.write_table(pa.table({"a": [[1]]}), lists)
    for path, table, said in (
        (MASTER, "nowhere.people", "knows no table or path"),
        (MASTER, str(tmp_path / "absent.parquet"), "knows no table or path"),
        (MASTER, str(lists), "a"),
        (MASTER, None, "expected a `table`"),
        ("spark://db.example.org:7077", "people", "was not confirmed; nothing was sent"),
    ):
        spec = SourceSpec(path, table=table, engine="spark")
        with pytest.raises(DpdeskError, match=said) as caught:
            DataStore.open(spec, tmp_path, context.workspace, CancelToken(), silent)
        assert "\n" not in caught.value.sentence


def test_spark_keeps_its_folders_in_the_private_one(file: Path, context: AppContext) -> None:
    need_spark()
    from dpdesk.io.engines.spark import SparkEngine

    spec = SourceSpec(MASTER, table=str(file), engine="spark")
    engine = SparkEngine(spec, Path("/local/people"), CancelToken(), silent, context.workspace)
    with closing(engine):
        told = engine._session.conf.get
        warehouse = Path(told("spark.sql.warehouse.dir").removeprefix("file:"))
        assert warehouse.parent == Path(told("spark.local.dir"))


def test_spark_stops_what_is_cancelled(file: Path, context: AppContext, tmp_path: Path) -> None:
    need_spark()
    from dpdesk.io.engines.spark import SparkEngine

    token, path = CancelToken(), Path("/local/people")
    spec = SourceSpec(MASTER, table=str(file), engine="spark")
    engine = SparkEngine(spec, path, token, silent, context.workspace)
    tracker = engine._session.sparkContext.statusTracker()

    def cancel() -> None:
        while not tracker.getActiveJobsIds():
            pass
        token.cancel()

    waiting = threading.Thread(target=cancel)
    waiting.start()
    sql = "SELECT sum(a.id * b.id) FROM range(10000000) a CROSS JOIN range(10000000) b"
    with pytest.raises(Cancelled):
        engine.fetch(sql, tmp_path / "answer.parquet", token, silent)
    engine.close()
    waiting.join()
    assert not tracker.getActiveJobsIds()
    assert not (tmp_path / "answer.parquet").exists()


def test_nothing_is_detected_of_a_table_that_stays(
    server: str, context: AppContext, tmp_path: Path
) -> None:
    source = f'path = "{server}"\ntable = "people"\nengine = "postgresql"'
    plan = tmp_path / "plan.toml"
    plan.write_text(f"version = 1\n[source]\n{source}\n{PLANS['dp-cube']}", "utf-8")
    with pytest.raises(InputError, match="the keys `missing`, `types` are missing") as caught:
        run_plan(context, plan, tmp_path / "out", CancelToken(), silent)
    assert "nothing is detected" in caught.value.hint


def test_no_other_source_loads_what_engines_need(file: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from dpdesk.core.jobs import CancelToken, silent; "
        "from dpdesk.core.source_spec import SourceSpec; from dpdesk.io.store import DataStore; "
        "from dpdesk.io.workspace import Workspace; "
        f"w = Workspace.open(Path({str(file.parent / 'alone')!r})); "
        f"DataStore.open(SourceSpec({str(file)!r}), Path('/'), w, CancelToken(), silent).close(); "
        "sys.exit(sum(name in sys.modules for name in ('ibis', 'pyspark', 'sqlglot')))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
