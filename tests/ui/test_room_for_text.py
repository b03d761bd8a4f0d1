"""Everything written fits: every step, small and large windows, text up to twice its size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext
from dpdesk.ui.desk import Desk
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.asking import ScriptedAsker
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.releases import write_source
from tests.helpers.sitting import rooms_of

STEPS = ("data", "attributes", "hierarchies")
ROOMS = ((1100, 700, 100), (1366, 768, 125), (1366, 768, 200), (1100, 700, 200))


@pytest.fixture
def desk(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager, settings: MemorySettings
) -> Iterator[Desk]:
    with AppContext.open(tmp_path / "home") as context:
        made = Desk(context, hub, theme, settings, ScriptedAsker())
        qtbot.addWidget(made.window)
        made.window.show()
        yield made
        hub.cancel_all()
        qtbot.waitUntil(lambda: not hub.busy and not made.protect.busy)
        made.workbench.close()


def fits_everywhere(qtbot: QtBot, desk: Desk, theme: ThemeManager, steps: tuple[str, ...]) -> None:
    """Wait until nothing is cut, in each step and each room; the last findings are told."""
    seen = list(rooms_of(qtbot, desk, theme, ROOMS, steps))
    assert len(seen) == len(ROOMS) * len(steps)


def test_nothing_is_cut_before_a_table_is_open(
    qtbot: QtBot, desk: Desk, theme: ThemeManager
) -> None:
    fits_everywhere(qtbot, desk, theme, STEPS)


def test_nothing_is_cut_with_a_table_in_work(
    qtbot: QtBot, desk: Desk, theme: ThemeManager, tmp_path: Path
) -> None:
    desk.open_text(str(write_source(tmp_path / "work")))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    fits_everywhere(qtbot, desk, theme, STEPS)


def test_nothing_is_cut_while_a_file_cannot_be_read(
    qtbot: QtBot, desk: Desk, theme: ThemeManager, tmp_path: Path
) -> None:
    bad = tmp_path / "a-file-with-a-name-that-is-longer-than-most-names-are.csv"
    bad.write_text("a,b\n1,2\n3\n4,5\n")
    desk.open_text(str(bad))
    qtbot.waitUntil(lambda: desk.workbench.open_problem is not None)
    fits_everywhere(qtbot, desk, theme, ("data",))
