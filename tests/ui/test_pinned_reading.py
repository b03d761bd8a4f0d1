"""Choosing a private method writes how the data are read into the plan, as one step."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from dpdesk.ui.workbench import Workbench
from tests.helpers.cubes import people, write_register
from tests.helpers.people_plan import open_plan


def test_a_private_method_brings_its_reading_and_undo_takes_both_away(
    bench: Workbench, tmp_path: Path, qtbot: QtBot
) -> None:
    open_plan(bench, write_register(tmp_path, people(60)), qtbot)
    qtbot.waitUntil(lambda: bench.profile is not None)
    before, data = bench.work, bench.data
    bench.choose_method(next(one for one in bench.methods if one.id == "dp-cube"))
    source = bench.work.source
    assert source is not None
    assert source.encoding == "utf-8"
    assert dict(source.types)["sex"] == "text"
    assert source.missing_named
    assert bench.data is data
    bench.undo()
    assert bench.work == before
    assert bench.data is data
