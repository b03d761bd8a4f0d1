"""Every file of the nasty corpus is read honestly or refused by one sentence with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

from .nasty_expectations import READABLE, REFUSED


@pytest.fixture(scope="module")
def corpus(real_data: Path) -> Path:
    return real_data / "nasty-csv"


@pytest.fixture
def workspace(private_home: Path):
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def test_the_expectations_name_every_file(corpus: Path) -> None:
    found = {str(path.relative_to(corpus)) for path in corpus.glob("*/*")}
    assert found == set(READABLE) | set(REFUSED)


@pytest.mark.parametrize("name", READABLE)
def test_a_readable_file_gives_the_expected_table(
    corpus: Path, workspace: Workspace, name: str
) -> None:
    rows, columns, encoding, delimiter, notes, cells = READABLE[name]
    store = DataStore.open(SourceSpec(name), corpus, workspace, CancelToken(), silent)
    try:
        assert (store.rows, len(store.columns)) == (rows, columns)
        assert (store.reading.encoding, store.reading.delimiter) == (encoding, delimiter)
        assert len(store.reading.notes) == notes
        last = store.page(rows - 1, 1)[0][: len(cells)]
        assert tuple(cell if len(cell) < 40 else "" for cell in last) == cells
        assert [p.name for p in workspace.folder.iterdir() if p.suffix in (".csv", ".txt")] == []
    finally:
        store.close()


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_file_is_refused_with_its_line(
    corpus: Path, workspace: Workspace, name: str
) -> None:
    code, line = REFUSED[name]
    with pytest.raises(InputError) as caught:
        DataStore.open(SourceSpec(name), corpus, workspace, CancelToken(), silent)
    assert (caught.value.code, caught.value.details.get("line")) == (code, line)
    assert Path(name).name in caught.value.line
    assert "\n" not in caught.value.line
    if code != "csv.empty":
        assert f"line {line}" in caught.value.sentence
    assert [path.name for path in workspace.folder.iterdir()] == ["lock"]


@pytest.mark.parametrize("name", [*READABLE, *REFUSED])
def test_a_preview_never_raises(corpus: Path, name: str) -> None:
    preview = preview_source(SourceSpec(name), corpus)
    if name in READABLE:
        assert preview.problem is None
        assert preview.rows
