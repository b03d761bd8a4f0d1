"""Every odd row in every format, one at a time, for a private method: nothing else changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import read_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.odd_rows import FORMATS, MORE, TYPED, odd_rows, people


@pytest.mark.parametrize("name", FORMATS)
def test_each_odd_row_changes_nothing_of_the_others(tmp_path: Path, name: str) -> None:
    write, keys = FORMATS[name]
    spec = read_source({"path": f"a.{name}", **TYPED, **keys}, "the test")
    workspace = Workspace.open(tmp_path / "home")

    def read(rows: list[tuple[object, ...]]) -> Counter[tuple[str, ...]]:
        (tmp_path / f"a.{name}").unlink(missing_ok=True)
        write(tmp_path / f"a.{name}", rows)
        token = CancelToken()
        data = DataStore.open(spec, tmp_path, workspace, token, silent, private=True)
        found = Counter(data.page(0, 1_000))
        data.close()
        return found

    known = read(people())
    for number, odd in enumerate([*odd_rows(), *MORE.get(name, [])]):
        rows = people()
        rows.insert(number % 25, odd)
        found = read(rows)
        assert not known - found, odd
        assert (found - known).total() <= 1, odd
    workspace.close()
