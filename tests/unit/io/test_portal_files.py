"""Files in the manner of open-data portals are read as they are meant, with notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.unit.io.portal_files import PortalFile, portal_files

FILES = portal_files()


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


@pytest.mark.parametrize("one", FILES, ids=[one.name for one in FILES])
def test_a_file_of_a_portal_is_read_by_itself(
    one: PortalFile, tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "p.csv").write_bytes(one.content)
    store = DataStore.open(SourceSpec("p.csv"), tmp_path, workspace, CancelToken(), silent)
    try:
        assert store.columns == one.names
        assert [tuple(row) for row in store.page(0, 99)] == [tuple(row) for row in one.rows]
        said = " ".join(store.reading.notes)
    finally:
        store.close()
    assert [words for words in one.notes if words not in said] == [], said


def test_there_are_many_such_files() -> None:
    assert len({one.name for one in FILES}) == len(FILES) >= 60
