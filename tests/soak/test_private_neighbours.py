"""Every odd row in every format, one at a time, for private methods: nothing else changes.

Some 200 odd rows, 18 kinds of source and all private methods are 15,000 pairs of files and
methods. Each is tried, but few of them as a whole release, since most of a release cannot know of
the row: the source is read without its method (``DataStore.open(..., private=True)`` gets the
``[source]`` of the plan alone), the design gets the names of the columns alone (``PrivateInput``),
and pages, manifest and budget are made of the design. So

- for each row in each format the file is read once. What was found and noted must be the same,
  and so must all columns of all other rows. Then each method measures and processes the store
  (row x format x method, all of it), and its tables stay within the bound; what the ledger and the
  evidence ask of the store is asked too, and must be there;
- whole releases, through command line, debit, pages, evidence and check, must say, exit and write
  the same but for values within the bound. Each line of a text, which hold most odd rows, is
  released by one of the methods in turn, and of every other format each fourth row, so that each
  method meets each format, each row and each kind of fault of it a few times.

Nothing starts a process to read or to print (:func:`tests.helpers.neighbours.in_one_process`);
``tests/e2e/test_private_neighbours.py`` does so with a row of each format. Protected tables and
methods of rows promise no epsilon and are not compared.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.evidence import source_facts
from dpdesk.app.labelling import plain_variable
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.private.method import Design, PrivateMethod
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.neighbours import (
    METHODS,
    Tables,
    changes,
    design_of,
    faults,
    in_one_process,
    release,
    tables_of,
    without_noise,
    write_plans,
)
from tests.helpers.odd_sources import SOURCES, OddSource, postgres_source
from tests.helpers.postgres import postgres_server
from tests.helpers.soak import SoakBook, scaled

ON_SERVER = {
    "postgresql": (),
    "postgresql-texts": ("TEXT, TEXT, TEXT, TEXT, TEXT",),
}
ALL, EACH = "csv", 4
"""The format of which every row is released in full, and which of the rows of others are."""
Found = tuple[object, Counter[tuple[str, ...]], dict[str, Tables]]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with without_noise(monkeypatch), in_one_process(monkeypatch):
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as url:
        yield url


def source_of(name: str, request: pytest.FixtureRequest) -> OddSource:
    if name in SOURCES:
        return SOURCES[name]
    return postgres_source(request.getfixturevalue("server"), *ON_SERVER[name])


def picked(rows: int) -> list[int]:
    """The numbers of the rows to try: all, but for a shortened run."""
    count = min(rows, scaled(rows))
    return [number * rows // count for number in range(count)]


def test_all_private_methods_are_among_those_tried() -> None:
    private = {method.id for method in default_registry() if isinstance(method, PrivateMethod)}
    assert {*METHODS} == private


class Reader:
    """Reads files of a kind of source, and has each method measure them; designs are kept."""

    def __init__(self, folder: Path, source: OddSource) -> None:
        self._source, self._data = source, folder / "data"
        self._workspace = Workspace.open(folder / "home")
        self._designs: dict[str, Design] = {}

    def read(self, rows: Sequence[Any]) -> Found:
        """What was found and noted, how often each row is there, and what methods release."""
        shutil.rmtree(self._data, ignore_errors=True)
        self._data.mkdir()
        spec, told = write_plans(self._data, self._source, rows, *METHODS), list[object]()
        given = spec, self._data, self._workspace, CancelToken(), told.append
        with closing(DataStore.open(*given, private=True)) as data:
            notes = [one for one in told if isinstance(one, Note)]
            book = [plain_variable(variable) for variable in data.book.variables]
            found = data.columns, data.name, data.reading, book, notes
            if not self._designs:
                self._designs = {name: design_of(self._data, name, data) for name in METHODS}
            made = {n: tables_of(self._data, one, data) for n, one in self._designs.items()}
            assert data.content(data.columns, CancelToken())
            assert source_facts(data, spec)
            return found, Counter(data.page(0, 1_000)), made

    def close(self) -> None:
        self._workspace.close()


def differences(base: Found, found: Found) -> list[str]:
    """What a row more has changed, apart from itself and values within the bound."""
    told = [] if found[0] == base[0] else [f"found {found[0]}"]
    if base[1] - found[1]:
        told.append(f"other rows are read otherwise: {base[1] - found[1]}")
    if (found[1] - base[1]).total() > 1:
        told.append("it is more than one row")
    for method in METHODS:
        told += [f"{method}: {one}" for one in changes(base[2][method], found[2][method], method)]
    return told


@pytest.mark.parametrize("name", [*SOURCES, *ON_SERVER])
def test_each_odd_row_changes_nothing_of_how_others_are_read_and_values_within_the_bound(
    tmp_path: Path, name: str, request: pytest.FixtureRequest, book: SoakBook
) -> None:
    source = source_of(name, request)
    odd_rows, wrong = source.odd(), {}
    with closing(Reader(tmp_path, source)) as reader:
        base = reader.read(source.people())
        numbers = picked(len(odd_rows))
        for number in numbers:
            rows = source.people()
            rows.insert(number % 25, odd_rows[number])
            told = differences(base, reader.read(rows))
            wrong |= {number: (odd_rows[number], told)} if told else {}
    assert not wrong
    book.note(
        f"Odd rows read and measured by {len(METHODS)} methods, {name}", f"{len(numbers):,} rows",
        "no other row read otherwise, nothing else found or noted, values within the bound",
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*SOURCES, *ON_SERVER])
def test_each_odd_row_changes_a_release_within_the_bound_and_nothing_else(
    tmp_path: Path, name: str, method: str, request: pytest.FixtureRequest, book: SoakBook
) -> None:
    source = source_of(name, request)
    base = release(tmp_path / "base", source, source.people(), method)
    assert base.code == 0, base.said
    odd_rows, wrong = source.odd(), {}
    step = len(METHODS) * (1 if name == ALL else EACH)
    turn = [*SOURCES, *ON_SERVER].index(name) + [*METHODS].index(method) * step // len(METHODS)
    numbers = [n for n in picked(len(odd_rows)) if (n - turn) % step == 0]
    for number in numbers:
        rows = source.people()
        rows.insert(number % 25, odd_rows[number])
        folder = tmp_path / "odd"
        told = faults(base, release(folder, source, rows, method), method)
        wrong |= {number: (odd_rows[number], told)} if told else {}
        shutil.rmtree(folder)
    assert not wrong
    book.note(
        f"Releases of neighbours, {name}, {method}", f"{len(numbers):,} odd rows",
        "exit code, words, pages, evidence and files the same, values within the bound",
    )  # fmt: skip
