"""The window around the panels: keys, navigation, jobs, closing, remembering."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSplitter,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.shell import ActionSpec, Mark, Panel, PanelEntry, PanelStatus
from dpdesk.ui.shell.actions import MENUS, CommandPalette, match_score
from dpdesk.ui.shell.bars import HelpPane, StatusFacts, StatusStrip, Trail
from dpdesk.ui.shell.navigation import Navigation
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.states import Badge
from tests.helpers.a11y import findings
from tests.helpers.memory_settings import MemorySettings, PlainSettings
from tests.helpers.sample_charts import size_chart
from tests.helpers.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.plain

VIEW_MENU = MENUS.index("view")
TITLES = ("Data", "Attributes", "Hierarchies", "Protect", "Compare", "Review and export")


class SomePanel(Panel):
    """A panel with a field and a chart, which counts what is asked of it."""

    def __init__(self, theme: ThemeManager, title: str) -> None:
        super().__init__()
        self.asked = 0
        self.ran = 0
        self.mark = Mark.OPEN
        self.runnable = False
        layout = column(self)
        self.line = QLineEdit()
        self.line.setAccessibleName(f"{title} field")
        self.line.setToolTip("A field")
        self.chart = ChartView(theme)
        self.chart.set_chart(size_chart())
        layout.addWidget(QLabel(title))
        layout.addWidget(self.line)
        layout.addWidget(self.chart)

    def activated(self) -> None:
        self.asked += 1

    def status(self) -> PanelStatus:
        return PanelStatus(self.mark, "a note")

    def can_run(self) -> bool:
        return self.runnable

    def run(self) -> None:
        self.ran += 1

    def explanation(self) -> str:
        return "What this step is for."


class Stubborn:
    """Work that ends when it is let go, whatever the token says."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()

    def __call__(self, token: CancelToken, report: Report) -> object:
        self.entered.set()
        assert self.leave.wait(PATIENCE_SECONDS)
        return None


@pytest.fixture
def settings() -> MemorySettings:
    return MemorySettings(PlainSettings(recent=("/data/census24.csv",)))


@pytest.fixture
def window(qtbot: QtBot, hub: JobHub, theme: ThemeManager, settings: MemorySettings) -> MainWindow:
    entries = [PanelEntry(title.lower(), title, SomePanel(theme, title)) for title in TITLES]
    window = MainWindow(hub, theme, settings, entries)
    qtbot.addWidget(window, before_close_func=_forget)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    return window


def _forget(window: MainWindow) -> None:
    window.set_unsaved(False)


Kind = TypeVar("Kind", bound=QWidget)


def part(window: QWidget, kind: type[Kind]) -> Kind:
    """The one part of this kind that the window has."""
    (found,) = (one for one in window.findChildren(kind) if type(one) is kind)
    return found


def words_of(widget: QWidget) -> list[str]:
    """What stands on its labels and buttons."""
    texts = [*widget.findChildren(QLabel), *widget.findChildren(QAbstractButton)]
    return [one.text() for one in texts if one.isVisible()]


def menu_of(window: MainWindow, number: int) -> QMenu:
    """A menu of the bar, as it is when it opens."""
    menu = window.menuBar().actions()[number].menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    return menu


def band_of(window: MainWindow) -> MessageBand:
    """The message of the window itself, which lies in no panel."""
    panels = window.findChildren(SomePanel)
    bands = window.findChildren(MessageBand)
    (found,) = (one for one in bands if not any(each.isAncestorOf(one) for each in panels))
    return found


def panel(window: MainWindow) -> SomePanel:
    current = window.current_panel
    assert isinstance(current, SomePanel)
    return current


@pytest.mark.styled
def test_the_sweep_finds_nothing(window: MainWindow) -> None:
    assert findings(window) == []


@pytest.mark.styled
def test_the_sweep_finds_a_nameless_field(window: MainWindow) -> None:
    panel(window).line.setAccessibleName("")
    panel(window).line.setToolTip("")
    assert len(findings(window)) == 2


def test_keys_go_to_panels_and_tell_them(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert window.current_id == "protect"
    assert panel(window).asked == 1
    assert panel(window).isVisible()


@pytest.mark.styled
def test_a_click_in_the_navigation_goes_to_a_panel(window: MainWindow, qtbot: QtBot) -> None:
    rect = part(window, Navigation).visualItemRect(part(window, Navigation).item(2))
    with qtbot.waitSignal(window.panelChanged) as changed:
        qtbot.mouseClick(
            part(window, Navigation).viewport(), Qt.MouseButton.LeftButton, pos=rect.center()
        )
    assert changed.args == ["hierarchies"]


def test_marks_are_told_in_words(window: MainWindow) -> None:
    panel(window).mark = Mark.ATTENTION
    panel(window).statusChanged.emit()
    text = part(window, Navigation).item(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert text == "Step 1, Data: needs attention. a note"


def test_ctrl_enter_runs_only_what_can_run(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert panel(window).ran == 0
    panel(window).runnable = True
    window.refresh()
    qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert panel(window).ran == 1


def test_ctrl_t_shows_the_table(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert panel(window).chart.shows_table


def test_f1_explains_and_closes(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    assert "What this step is for." in words_of(part(window, HelpPane))
    qtbot.keyClick(window, Qt.Key.Key_F1)
    assert not part(window, HelpPane).isVisible()


def test_f6_goes_round_the_regions(window: MainWindow, qtbot: QtBot) -> None:
    window.set_history(("load",), "load", None)
    part(window, Navigation).setFocus()
    seen = []
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_F6)
        seen.append(window.focusWidget())
    assert panel(window).isAncestorOf(seen[0])
    assert part(window, Trail).isAncestorOf(seen[1])
    assert seen[2] is part(window, Navigation)


def test_undo_is_offered_only_when_there_is_an_edit(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(window.undoAsked):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    window.set_history(("load", "tag age"), "tag age", None)
    part(window, Navigation).setFocus()
    with qtbot.waitSignal(window.undoAsked):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "tag age" in window.actions_.action("edit.undo").toolTip()


def test_the_palette_finds_and_performs(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = part(window, CommandPalette)
    assert palette.isVisible()
    qtbot.keyClicks(part(palette, QLineEdit), "sav pl")
    assert palette.found[0] in ("file.save", "file.save-as")
    with qtbot.waitSignal(window.saveAsked):
        qtbot.keyClick(part(palette, QLineEdit), Qt.Key.Key_Return)
    assert not palette.isVisible()


def test_a_button_that_goes_grey_leaves_the_focus_in_its_panel(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.set_history(("load", "k = 5"), undo="k = 5", redo=None)
    panel = window.current_panel
    last = QPushButton("last", panel)
    last.show()
    undo = part(window, Trail).findChild(QToolButton, "undo")
    assert isinstance(undo, QToolButton)
    assert undo.isEnabled()
    QWidget.setTabOrder(last, undo)
    last.setFocus()
    last.setEnabled(False)
    focus = QApplication.focusWidget()
    assert focus is not None
    assert panel.isAncestorOf(focus)


def test_the_palette_closes_when_the_focus_goes_elsewhere(window: MainWindow, qtbot: QtBot) -> None:
    window.on_palette()
    assert part(window, CommandPalette).isVisible()
    part(window, Navigation).setFocus()
    assert not part(window, CommandPalette).isVisible()


def test_the_palette_finds_colours_and_text_sizes(
    window: MainWindow, qtbot: QtBot, theme: ThemeManager, settings: MemorySettings
) -> None:
    window.on_palette()
    qtbot.keyClicks(part(part(window, CommandPalette), QLineEdit), "colours: dark")
    assert part(window, CommandPalette).found[0] == "theme.dark"
    qtbot.keyClick(part(part(window, CommandPalette), QLineEdit), Qt.Key.Key_Return)
    assert theme.mode == "dark"
    window.on_palette()
    qtbot.keyClicks(part(part(window, CommandPalette), QLineEdit), "150 %")
    qtbot.keyClick(part(part(window, CommandPalette), QLineEdit), Qt.Key.Key_Return)
    assert theme.text_size == 150
    assert settings.current.text_size == 150


def test_what_was_said_of_one_file_goes_when_another_is_opened(window: MainWindow) -> None:
    window.set_document("one.csv", confidential=True)
    window.show_message("ok", "The release is in somewhere.")
    window.set_document("one.csv", confidential=True)
    assert not band_of(window).isHidden()
    window.set_document("two.csv", confidential=True)
    assert band_of(window).isHidden()
    window.show_message("fail", "three.csv cannot be read.")
    window.set_document("one.csv", confidential=True)
    assert not band_of(window).isHidden()


def test_the_palette_closes_on_escape_and_cancels_nothing(
    window: MainWindow, qtbot: QtBot, hub: JobHub
) -> None:
    work = Stubborn()
    hub.query("Searching", work)
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(part(part(window, CommandPalette), QLineEdit), Qt.Key.Key_Escape)
    assert not part(window, CommandPalette).isVisible()
    assert not hub.states[0].cancelling
    work.leave.set()
    qtbot.waitUntil(lambda: not hub.busy)


def test_letters_in_order_match_and_beginnings_come_first() -> None:
    save, unsaved = match_score("sp", "Save plan"), match_score("sp", "Restore sample, skipping")
    assert save is not None
    assert unsaved is not None
    assert save < unsaved
    assert match_score("xyz", "Save plan") is None


def test_actions_cannot_take_each_other_s_keys(window: MainWindow) -> None:
    with pytest.raises(ValueError, match="taken"):
        window.actions_.add(ActionSpec("other.open", "Other", "file", "Ctrl+O"), window.openAsked)


def test_escape_cancels_the_running_job(window: MainWindow, qtbot: QtBot, hub: JobHub) -> None:
    work = Stubborn()
    hub.query("Searching", work)
    qtbot.waitUntil(work.entered.is_set)
    part(window, Navigation).setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert hub.states[0].cancelling
    work.leave.set()
    qtbot.waitUntil(lambda: not hub.busy)
    assert not window.actions_.action("run.cancel").isEnabled()


def test_the_status_bar_counts_rows_groups_and_jobs(
    window: MainWindow, qtbot: QtBot, hub: JobHub
) -> None:
    window.set_facts(StatusFacts(45_222, 44_871, 1, 5))
    assert "45,222 → 44,871 rows" in words_of(part(window, StatusStrip))
    assert "smallest group 1 → 5" in words_of(part(window, StatusStrip))
    work = Stubborn()
    hub.query("Searching", work)
    assert "1 job" in words_of(part(window, StatusStrip))
    work.leave.set()
    qtbot.waitUntil(lambda: "0 jobs" in words_of(part(window, StatusStrip)))


def test_a_dropped_file_is_asked_to_be_opened(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "people.csv"))])
    event = QDropEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(window.openPathAsked) as caught:
        window.dropEvent(event)
    assert caught.args == [str(tmp_path / "people.csv")]


def test_recent_files_are_offered_and_grow(
    window: MainWindow, settings: MemorySettings, tmp_path: Path
) -> None:
    window.add_recent(tmp_path / "b.csv")
    assert settings.current.recent == (str(tmp_path / "b.csv"), "/data/census24.csv")
    window.add_recent(Path("/data/census24.csv"))
    assert settings.current.recent[0] == "/data/census24.csv"
    assert len(settings.current.recent) == 2
    menu = menu_of(window, 0)
    submenus = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert [action.text() for action in submenus[0].actions()] == ["census24.csv", "b.csv"]


def test_theme_and_text_size_are_chosen_in_the_view_menu(
    window: MainWindow, settings: MemorySettings, theme: ThemeManager
) -> None:
    menu = menu_of(window, VIEW_MENU)
    submenus = [action.menu() for action in menu.actions() if action.menu() is not None]
    submenus[0].actions()[2].trigger()
    assert (settings.current.theme, theme.mode) == ("dark", "dark")
    submenus[1].actions()[3].trigger()
    assert (settings.current.text_size, theme.text_size) == (200, 200)


def test_raw_data_carries_the_badge(window: MainWindow) -> None:
    assert not part(window, Badge).isVisible()
    window.set_document("census24.csv", confidential=True)
    assert part(window, Badge).isVisible()
    assert window.windowTitle() == "census24.csv – DPDesk"


def test_unsaved_work_is_asked_about_without_a_dialog(window: MainWindow, qtbot: QtBot) -> None:
    window.set_unsaved(True)
    assert not window.close()
    (band,) = [band for band in window.findChildren(MessageBand) if band.isVisible()]
    buttons = [button for button in band.findChildren(QPushButton) if button.isVisible()]
    with qtbot.waitSignal(window.saveAsked):
        qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
    assert window.isVisible()
    assert not window.close()
    buttons = [button for button in band.findChildren(QPushButton) if button.isVisible()]
    qtbot.mouseClick(buttons[-1], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible())


def test_closing_waits_for_jobs_behind_a_message(
    qtbot: QtBot, theme: ThemeManager, settings: MemorySettings
) -> None:
    hub, work = JobHub(), Stubborn()
    window = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(window)
    window.show()
    hub.mutate("Writing", work)
    qtbot.waitUntil(work.entered.is_set)
    assert not window.close()
    assert window.isVisible()
    assert "Stopping" in band_of(window).text
    work.leave.set()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert not hub.busy
    assert settings.current.geometry


def test_a_question_is_answered_by_keyboard(window: MainWindow, qtbot: QtBot) -> None:
    window.show_message("caution", "Shall this go on?", (("go", "Go on"),))
    focus = QApplication.focusWidget()
    assert isinstance(focus, QPushButton)
    with qtbot.waitSignal(window.messageTriggered) as answered:
        qtbot.keyClick(focus, Qt.Key.Key_Space)
    assert answered.args == ["go"]
    window.show_message("ok", "Done.")
    part(window, Navigation).setFocus()
    for _ in ("the panel", "the message"):
        window.on_next_region()
    inside = QApplication.focusWidget()
    assert inside is not None
    assert band_of(window).isAncestorOf(inside)
    qtbot.keyClick(inside, Qt.Key.Key_Escape)
    assert band_of(window).isHidden()


@pytest.mark.styled
def test_a_message_pushes_nothing_away_under_the_mouse(window: MainWindow, qtbot: QtBot) -> None:
    parts = window.current_panel.findChildren(QAbstractButton)
    before = {part: part.mapTo(window, QPoint()) for part in parts if part.isVisible()}
    assert before
    window.show_message("ok", "The release is in somewhere.")
    qtbot.waitUntil(lambda: band_of(window).geometry().height() > 0)
    window.grab()
    assert {part: part.mapTo(window, QPoint()) for part in before} == before


@pytest.mark.styled
def test_large_text_leaves_the_window_to_the_work(window: MainWindow, theme: ThemeManager) -> None:
    window.resize(1366, 740)
    usual = part(window, Navigation).minimumWidth()
    theme.set_text_size(200)
    assert part(window, Navigation).width() <= max(usual, round(window.width() * 0.24))
    theme.set_text_size(100)
    assert part(window, Navigation).minimumWidth() == usual


@pytest.mark.styled
def test_the_splitter_is_where_it_was_left(qtbot: QtBot, hub: JobHub, theme: ThemeManager) -> None:
    settings = MemorySettings()
    first = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(first)
    first.show()
    left = part(first, Navigation).maximumWidth() - 20
    parts = first.findChild(QSplitter, "window")
    assert isinstance(parts, QSplitter)
    parts.setSizes([left, first.width() - left, 0])
    assert part(first, Navigation).width() == left
    first.close()
    second = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(second)
    second.show()
    qtbot.waitUntil(lambda: part(second, Navigation).width() == left)


def test_a_damaged_layout_is_no_reason_not_to_start(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager
) -> None:
    settings = MemorySettings(PlainSettings(geometry="%%%", layout="[1"))
    window = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(window)
    window.show()
    assert window.isVisible()
