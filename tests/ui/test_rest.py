"""Nothing is laid out or painted again where nothing changes: in each panel and side window."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.sitting import Sitting

SAMPLE = Path(__file__).parents[2] / "resources/sample"
STEPS = ("data", "attributes", "hierarchies", "protect", "compare", "review")
ROOMS = ((1280, 720), (1440, 900))
WORK = (
    QEvent.Type.LayoutRequest,
    QEvent.Type.MetaCall,
    QEvent.Type.Paint,
    QEvent.Type.UpdateRequest,
)
CALM, ENOUGH = 25, 1_000


class _Work(QObject):
    """Counts what makes a window work: layouts, paints and calls that were put off."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in WORK:
            self.seen[f"{event.type().name} of {type(watched).__name__}"] += 1
        return False


def unrest(app: QCoreApplication) -> Counter[str]:
    """What is still being done after many turns of the event loop; empty at rest.

    Rest are many turns, one right after the other, in which nothing is laid out or painted.
    """
    work, calm = _Work(), 0
    app.installEventFilter(work)
    for _ in range(ENOUGH):
        before = work.seen.total()
        app.processEvents()
        calm = calm + 1 if work.seen.total() == before else 0
        if calm == CALM:
            break
    app.removeEventFilter(work)
    return Counter() if calm == CALM else work.seen


@pytest.fixture
def sitting(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Sitting]:
    shutil.copytree(SAMPLE, tmp_path / "sample")
    with AppContext.open(tmp_path / "home") as context:
        made = Sitting(qtbot, context, hub, theme)
        yield made
        made.end()


@pytest.mark.parametrize("plan", ["private-tables", "research-file", "drawn-occupations"])
def test_every_panel_comes_to_rest(
    sitting: Sitting, qapp: QApplication, tmp_path: Path, plan: str
) -> None:
    sitting.open(tmp_path / f"sample/plans/{plan}.toml")
    for width, height in ROOMS:
        sitting.window.resize(width, height)
        for step in STEPS:
            sitting.window.show_panel(step)
            sitting.quiet()
            assert unrest(qapp) == {}, f"{step} at {width} × {height}"


def test_every_side_window_comes_to_rest(
    sitting: Sitting, qapp: QApplication, tmp_path: Path
) -> None:
    sitting.open(tmp_path / "sample/plans/private-tables.toml")
    beside = sitting.desk.beside
    for window in (
        beside.people,
        beside.audit,
        beside.ledger,
        beside.fit,
        beside.history,
        beside.browser,
        beside.asker,
        beside.ways,
        beside.database,
    ):
        assert isinstance(window, QWidget)
        window.show()
        sitting.quiet()
        assert unrest(qapp) == {}, type(window).__name__
        window.close()
