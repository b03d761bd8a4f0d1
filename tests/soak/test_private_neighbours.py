"""Every odd row in every format, one at a time, for private methods: nothing else changes."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.source_spec import read_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.neighbours import METHODS, faults, release, without_noise
from tests.helpers.odd_sources import SOURCES, OddSource, postgres_source
from tests.helpers.postgres import postgres_server
from tests.helpers.soak import SoakBook, scaled

ON_SERVER = {
    "postgresql": (),
    "postgresql-texts": ("TEXT, TEXT, TEXT, TEXT, TEXT",),
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as url:
        yield url


def source_of(name: str, request: pytest.FixtureRequest) -> OddSource:
    if name in SOURCES:
        return SOURCES[name]
    return postgres_source(request.getfixturevalue("server"), *ON_SERVER[name])


@pytest.mark.parametrize("name", [*SOURCES, *ON_SERVER])
def test_each_odd_row_changes_nothing_of_how_others_are_read(
    tmp_path: Path, name: str, request: pytest.FixtureRequest, book: SoakBook
) -> None:
    source = source_of(name, request)
    workspace = Workspace.open(tmp_path / "home")

    def read(rows: Sequence[Any]) -> tuple[object, Counter[tuple[str, ...]]]:
        folder = tmp_path / "data"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        spec, told = read_source(source.write(folder, rows), "the test"), []
        opened = DataStore.open(spec, folder, workspace, CancelToken(), told.append, private=True)
        with closing(opened) as data:
            found = data.columns, data.reading, [one for one in told if isinstance(one, Note)]
            return found, Counter(data.page(0, 1_000))

    facts, known = read(source.people())
    odd_rows = source.odd()
    for number, odd in enumerate(odd_rows):
        rows = source.people()
        rows.insert(number % 25, odd)
        found_facts, found = read(rows)
        assert found_facts == facts, odd
        assert not known - found, odd
        assert (found - known).total() <= 1, odd
    workspace.close()
    book.note(f"Odd rows read, {name}", f"{len(odd_rows):,} rows", "no other row changed")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*SOURCES, *ON_SERVER])
def test_each_odd_row_changes_a_release_within_the_bound_and_nothing_else(
    tmp_path: Path,
    name: str,
    method: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    book: SoakBook,
) -> None:
    source = source_of(name, request)
    odd_rows = source.odd()
    count = min(len(odd_rows), scaled(len(odd_rows)))
    picked = [number * len(odd_rows) // count for number in range(count)]
    with without_noise(monkeypatch):
        base = release(tmp_path / "base", source, source.people(), method)
        assert base.code == 0, base.said
        for number in picked:
            rows = source.people()
            rows.insert(number % 25, odd_rows[number])
            folder = tmp_path / "odd"
            assert not faults(base, release(folder, source, rows, method), method), odd_rows[number]
            shutil.rmtree(folder)
    book.note(
        f"Releases of neighbours, {name}, {method}", f"{count:,} odd rows",
        "exit code, words, pages, evidence and files the same, values within the bound",
    )  # fmt: skip
