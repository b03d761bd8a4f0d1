"""Nothing is laid out or painted again where nothing changes: in each panel and side window."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.shell.bars import PanelArea
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import HoldingArea, SteadyArea
from tests.helpers.sitting import Sitting

SAMPLE = Path(__file__).parents[2] / "resources/sample"
STEPS = ("data", "attributes", "hierarchies", "protect", "compare", "review")
ROOMS = ((1280, 720), (1440, 900))
WIDTHS, HEIGHTS = range(1250, 1640, 31), (720,)
TURNING = ("attributes", "hierarchies", "protect")
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


@pytest.mark.parametrize(
    "plan",
    [
        "private-tables",
        "research-file",
        "drawn-occupations",
        "median-incomes",
        "randomised-conditions",
    ],
)
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


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_width_makes_parts_turn_for_ever(
    sitting: Sitting,
    qapp: QApplication,
    tmp_path: Path,
    language: str,
    request: pytest.FixtureRequest,
) -> None:
    if language == "de":
        request.getfixturevalue("german")
    sitting.open(tmp_path / "sample/plans/dates-and-postcodes.toml")
    for step in TURNING:
        sitting.window.show_panel(step)
        sitting.quiet()
        for height in HEIGHTS:
            for width in WIDTHS:
                sitting.window.resize(width, height)
                assert unrest(qapp) == {}, f"{step} at {width} × {height}"


class _Contrary(QWidget):
    """Needs more height where it is wide than where it is narrow, as parts side by side do."""

    def __init__(self, turn: int) -> None:
        super().__init__()
        self.turn, self.inner = turn, QWidget()
        column(self, margin=16).addWidget(self.inner)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.layout().contentsRect().width() >= self.turn  # type: ignore[union-attr]
        self.inner.setMinimumHeight(900 if wide else 60)


@pytest.mark.parametrize("kind", [PanelArea, SteadyArea, HoldingArea])
def test_a_bar_that_changes_what_is_needed_stays_or_goes(
    qtbot: QtBot, qapp: QApplication, theme: ThemeManager, kind: type[QScrollArea]
) -> None:
    for turn in range(440, 476, 4):
        contrary = _Contrary(turn)
        area = PanelArea(contrary) if kind is PanelArea else kind()
        area.setWidget(contrary)
        qtbot.addWidget(area)
        area.resize(500, 300)
        with qtbot.waitExposed(area):
            area.show()
        assert unrest(qapp) == {}, turn
        area.resize(900, 300)
        assert unrest(qapp) == {}, turn
        area.resize(420, 300)
        assert unrest(qapp) == {}, turn
        assert not area.verticalScrollBar().isVisible() or kind is PanelArea
