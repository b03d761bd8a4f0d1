"""Whole releases of files that differ in one row, without noise, and what differs between them."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

from dpdesk.app import running
from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.cli.main import main
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import SourceSpec, lines_of, read_source
from dpdesk.engine.noise import randomness
from dpdesk.engine.private.method import Design
from dpdesk.io.cuboid_files import write_cuboid
from dpdesk.io.formats.request import ReadDone, ReadProgress, ReadRequest
from dpdesk.io.formats.worker import failed, read_table
from dpdesk.io.planfile import read_plan
from dpdesk.io.private import foreign
from dpdesk.io.store import DataStore
from dpdesk.report.printing import Printer
from tests.helpers.debits import debit_for_tests
from tests.helpers.odd_sources import OddSource

METHODS = {
    "dp-cube": (
        'dimensions = ["sex", "born"]\noutside = { sex = "other" }\nrows_per_person = 1\n'
        'measure = ["count", { sum = "pay", lower = 0, upper = 20 }]\n'
        'domains = { sex = ["f", "m", "other"], born = ["1980-01-01", "1980-01-02", "1980-01-03"] }'
    ),
    "priview": (
        'dimensions = ["sex", "born", "age"]\noutside = { sex = "other" }\n'
        'views = [["sex", "born"], ["born", "age"]]\nmarginals = [["sex"], ["age", "born"]]\n'
        'domains = { sex = ["f", "m", "other"], age = ["20", "21", "22", "other"], '
        'born = ["1980-01-01", "1980-01-02", "1980-01-03"] }'
    ),
    "itemsets": (
        'dimensions = ["sex", "born"]\ntop = 3\n'
        'domains = { sex = ["m", "f"], born = ["1980-01-02", "1980-01-01"] }'
    ),
    "dp-choice": (
        'groups = ["sex"]\ndomains = { sex = ["f", "m"], born = ["1980-01-01", "1980-01-02"] }\n'
        'choose = [{ quantile = 0.5, of = "pay", lower = 0, upper = 20 }, { mode = "born" }]'
    ),
    "dp-graph": 'ends = ["person", "sex"]\nnodes = ["Åsa 1", "Åsa 2", "f", "m", "zz"]',
}
_INTERNAL = ("source", "commitment_key", "timings", "environment", "budget")
"""What the evidence holds of the source or of the run, and no page that is published."""


class NoNoise:
    """Bits of which all noise is 0."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """Zeros, each of which means the value 0."""
        return np.zeros(n, np.uint64)


@contextlib.contextmanager
def without_noise(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Releases of this process draw no noise."""
    with monkeypatch.context() as patch:
        for name in ("DPDESK_HOME", "DPDESK_WITNESS"):
            patch.setenv(name, "")  # set by each run
        patch.setattr(randomness, "SystemRandomness", NoNoise)
        yield


class _NoPrinter(Printer):
    """Prints the page on nothing: the PDF is internal and made of the page alone."""

    def warm(self) -> None:
        """Nothing is started."""

    def pdf(self, page: bytes, token: CancelToken) -> bytes:
        """The page itself."""
        return page


def _read_here(
    request: ReadRequest, name: str, token: CancelToken, progress: Callable[[ReadProgress], None]
) -> ReadDone:
    """What the process that reads a foreign format would answer, by the same readers."""
    try:
        return read_table(request, lambda answer: progress(answer))  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001 - as that process tells it
        told = failed(error, request)
    kind = StorageError if told.storage else InputError
    raise kind(told.code, told.sentence, hint=told.hint, details=dict(told.details))


@contextlib.contextmanager
def in_one_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Releases start no process to read or to print, and wait for no disk and no other thread.

    Readers, methods, pages and checks are those of every release; the check still runs in its own
    process, which stays warm.
    """
    connect = duckdb.connect

    def alone(*given: Any, config: dict[str, Any] | None = None, **more: Any) -> Any:
        return connect(*given, config={**(config or {}), "threads": 1}, **more)

    with monkeypatch.context() as patch:
        patch.setattr(running, "PRINTER", _NoPrinter())
        patch.setattr(foreign, "read_in_process", _read_here)
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(duckdb, "connect", alone)
        yield


Tables = dict[str, list[list[str]]]
"""Rows of tables by their files, a header first; the last field of a row is the value."""


@dataclass(frozen=True)
class Told:
    """All that a release shows of its data outside of the agency.

    ``tables`` are the rows of each table; ``rest`` is everything else that must not differ.
    """

    code: int
    said: tuple[str, str]
    tables: Tables
    rest: dict[str, Any]


def write_plans(folder: Path, source: OddSource, rows: Sequence[Any], *methods: str) -> SourceSpec:
    """Write the file, and a plan for each method; the description of the source."""
    keys = source.write(folder, rows)
    spec = read_source(keys, "the test")
    lines = lines_of(spec, [key for key in keys if key != "columns"])
    columns = [json.dumps(column) for column in keys.get("columns", [])]
    if columns:
        lines = (*lines, "columns = [" + ", ".join(columns).replace('": ', '" = ') + "]")
    for method in methods:
        role = "" if method == "dp-graph" else '[attributes]\nperson = { role = "cluster" }\n'
        (folder / f"{method}.toml").write_text(
            "version = 1\n[source]\n"
            + "\n".join(lines)
            + f'\n{role}[protection]\nmethod = "{method}"\n{METHODS[method]}\nepsilon = 1\n'
            '[budget]\npopulation = "people"\nledger = "the.sqlite"\n',
            "utf-8",
        )
    return spec


def release(folder: Path, source: OddSource, rows: Sequence[Any], method: str) -> Told:
    """Write the file, run the method on it in a home of its own, and read what came out."""
    folder.mkdir(parents=True)
    os.environ |= {"DPDESK_HOME": str(folder / "home"), "DPDESK_WITNESS": str(folder / "witness")}
    write_plans(folder, source, rows, method)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["run", str(folder / f"{method}.toml"), "--out", str(folder / "out")])
    said = tuple(text.getvalue().replace(str(folder), "FOLDER") for text in (out, err))
    tables, rest = _read(folder / "out") if code == 0 else ({}, {})
    return Told(code, (said[0], said[1]), tables, rest)


PURCHASES = (("--by", "sex"), ("--by", "sex,born"), ("--total",))
"""Tables of the cube of these plans that can be bought next to its release."""


def purchase(folder: Path, source: OddSource, rows: Sequence[Any], wanted: Sequence[str]) -> Told:
    """As :func:`release` of a cube, then an offer of one more table and its purchase from it.

    What is said is that of all three; the tables are those of the purchase.
    """
    first = release(folder, source, rows, "dp-cube")
    if first.code != 0:
        return first
    asked = ["buy", str(folder / "dp-cube.toml"), *wanted, "--epsilon", "0.5"]
    asked += ["--with", str(folder / "out")]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(asked) or main([*asked, "--out", str(folder / "bought")])
    # A purchase names what it follows: that differs in a random key, and in values.
    named = hashlib.sha256((folder / "out/public/manifest.json").read_bytes()).hexdigest()
    texts = [text.getvalue().replace(str(folder), "FOLDER") for text in (out, err)]
    tables, rest = _read(folder / "bought") if code == 0 else ({}, {})
    rest = json.loads(json.dumps({"first": first.rest, **rest}).replace(named, "FIRST"))
    said = first.said[0] + texts[0], first.said[1] + texts[1]
    return Told(code, (said[0], said[1]), tables, rest)


def design_of(folder: Path, method: str, data: DataStore) -> Design:
    """The design that the plan of :func:`write_plans` gives; of the data it gets the names."""
    plan = folder / f"{method}.toml"
    given = PlacedPlan(read_plan(plan), folder, plan.name)
    with AppContext.open(folder / "context") as context:
        return prepare_tables(context, given, CancelToken(), silent, data).design


def tables_of(folder: Path, design: Design, data: DataStore) -> Tables:
    """The tables that a design makes of a store, without noise and without a ledger."""
    debit, token = debit_for_tests(design.charge.cost, design.charge.draws), CancelToken()
    found = design.measure(data, debit, NoNoise(), token, silent)
    tables: Tables = {}
    for table in design.process(found.noisy, token, silent):
        path = folder / "made.csv"
        write_cuboid(table, path, token)
        tables[table.file] = _rows(path)
        path.unlink()
    return tables


def _rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text("utf-8"))))


def _read(out: Path) -> tuple[dict[str, list[list[str]]], dict[str, Any]]:
    public = out / "public"
    tables, rest = {}, {}
    for path in sorted(p for p in public.rglob("*") if p.is_file()):
        name = path.relative_to(public).as_posix()
        if path.suffix == ".csv":
            tables[name] = _rows(path)
        elif name != "manifest.json":
            rest[name] = path.read_text("utf-8")
    manifest = json.loads((public / "manifest.json").read_text("utf-8"))
    rest["manifest"] = {key: v for key, v in manifest.items() if key not in ("commitment", "files")}
    evidence = json.loads((out / "internal/evidence.json").read_text("utf-8"))
    shown = {key: v for key, v in evidence.items() if key not in _INTERNAL}
    shown["result"] = {key: v for key, v in shown["result"].items() if key in manifest["result"]}
    rest["evidence"] = shown
    rest["internal"] = sorted(p.name for p in (out / "internal").iterdir())
    return tables, rest


def most(table: str, method: str) -> float:
    """What the values of a table may change by, all together."""
    if method == "dp-graph":
        return 2 if "degrees" in table else 1
    if table == "itemsets.csv":
        return 3  # each of its three sets by one
    return 20 if "pay" in table else 1


def faults(base: Told, found: Told, method: str) -> list[str]:
    """What differs between two releases, apart from values within the bound."""
    told = []
    if found.code != base.code or found.code != 0:
        told.append(f"exit code {base.code} and {found.code}: {found.said[1].strip()[-300:]}")
    if found.said != base.said:
        told.append(f"said {base.said!r} and {found.said!r}")
    if found.code != 0 or base.code != 0:
        return told
    told += [f"{key} differs" for key in base.rest if found.rest.get(key) != base.rest[key]]
    if found.rest.keys() != base.rest.keys():
        return [*told, "other files"]
    return told + changes(base.tables, found.tables, method)


def changes(base: Tables, found: Tables, method: str) -> list[str]:
    """What differs between the tables of two releases, apart from values within the bound."""
    if found.keys() != base.keys():
        return ["other tables"]
    told = []
    for name, rows in base.items():
        if [row[:-1] for row in rows] != [row[:-1] for row in found[name]]:
            told.append(f"{name} has other cells")
            continue
        if method == "dp-choice":  # bits of zeros mean the first candidate, whatever the data are
            told += [] if rows == found[name] else [f"{name} differs"]
            continue
        pairs = zip(rows[1:], found[name][1:], strict=True)
        change = sum(abs(float(a[-1]) - float(b[-1])) for a, b in pairs)
        if change > most(name, method) + 1e-6:
            told.append(f"{name} changes by {change:g}")
    return told
