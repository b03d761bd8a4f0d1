"""Categories that the data suggest, in the order in which people would list them."""

from __future__ import annotations

from pathlib import Path

from dpdesk.app.context import AppContext
from dpdesk.app.private.trying import values_in_data
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.store import DataStore


def test_numbers_come_by_size_before_texts(tmp_path: Path) -> None:
    values = ["10", "2", "100", "1,5", "-3", "3+", "B", "A"]
    (tmp_path / "t.csv").write_text("v;w\n" + "".join(f"{one};x\n" for one in values))
    with AppContext.open(tmp_path / "home") as context:
        spec = SourceSpec("t.csv", delimiter=";", decimal=",")
        store = DataStore.open(spec, tmp_path, context.workspace, CancelToken(), silent)
        found = values_in_data(store, "v", CancelToken())
        store.close()
    assert found == ("-3", "1,5", "2", "10", "100", "3+", "A", "B")
