"""The window around the panels: keys, navigation, jobs, closing, remembering."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.shell import ActionSpec, Mark, Panel, PanelEntry, PanelStatus
from dpdesk.ui.shell.actions import match_score
from dpdesk.ui.shell.bars import StatusFacts
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import MessageBand, column
from tests.helpers.a11y import findings
from tests.helpers.memory_settings import MemorySettings, PlainSettings
from tests.helpers.sample_charts import size_chart
from tests.helpers.waiting import PATIENCE_SECONDS

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


def panel(window: MainWindow) -> SomePanel:
    current = window.current_panel
    assert isinstance(current, SomePanel)
    return current


def test_the_sweep_finds_nothing(window: MainWindow) -> None:
    assert findings(window) == []


def test_the_sweep_finds_a_nameless_field(window: MainWindow) -> None:
    panel(window).line.setAccessibleName("")
    panel(window).line.setToolTip("")
    assert len(findings(window)) == 2


def test_keys_go_to_panels_and_tell_them(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert window.current_id == "protect"
    assert panel(window).asked == 1
    assert panel(window).isVisible()


def test_a_click_in_the_navigation_goes_to_a_panel(window: MainWindow, qtbot: QtBot) -> None:
    rect = window._navigation.visualItemRect(window._navigation.item(2))
    with qtbot.waitSignal(window.panelChanged) as changed:
        qtbot.mouseClick(
            window._navigation.viewport(), Qt.MouseButton.LeftButton, pos=rect.center()
        )
    assert changed.args == ["hierarchies"]


def test_marks_are_told_in_words(window: MainWindow) -> None:
    panel(window).mark = Mark.ATTENTION
    panel(window).statusChanged.emit()
    text = window._navigation.item(0).data(Qt.ItemDataRole.AccessibleTextRole)
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
    texts = [label.text() for label in window._help.findChildren(QLabel) if label.isVisible()]
    assert "What this step is for." in texts
    qtbot.keyClick(window, Qt.Key.Key_F1)
    assert not window._help.isVisible()


def test_f6_goes_round_the_regions(window: MainWindow, qtbot: QtBot) -> None:
    window.set_history(("load",), "load", None)
    window._navigation.setFocus()
    seen = []
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_F6)
        seen.append(window.focusWidget())
    assert window._stack.isAncestorOf(seen[0])
    assert window._trail.isAncestorOf(seen[1])
    assert seen[2] is window._navigation


def test_undo_is_offered_only_when_there_is_an_edit(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(window.undoAsked):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    window.set_history(("load", "tag age"), "tag age", None)
    window._navigation.setFocus()
    with qtbot.waitSignal(window.undoAsked):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "tag age" in window.actions_.action("edit.undo").toolTip()


def test_the_palette_finds_and_performs(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = window._palette
    assert palette.isVisible()
    qtbot.keyClicks(palette._line, "sav pl")
    assert palette.found[0] in ("file.save", "file.save-as")
    with qtbot.waitSignal(window.saveAsked):
        qtbot.keyClick(palette._line, Qt.Key.Key_Return)
    assert not palette.isVisible()


def test_a_button_that_goes_grey_leaves_the_focus_in_its_panel(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.set_history(("load", "k = 5"), undo="k = 5", redo=None)
    panel = window.current_panel
    last = QPushButton("last", panel)
    last.show()
    undo = window._trail.findChild(QToolButton, "undo")
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
    assert window._palette.isVisible()
    window._navigation.setFocus()
    assert not window._palette.isVisible()


def test_the_palette_finds_colours_and_text_sizes(window: MainWindow, qtbot: QtBot) -> None:
    window.on_palette()
    qtbot.keyClicks(window._palette._line, "colours: dark")
    assert window._palette.found[0] == "theme.dark"
    qtbot.keyClick(window._palette._line, Qt.Key.Key_Return)
    assert window._theme.mode == "dark"
    window.on_palette()
    qtbot.keyClicks(window._palette._line, "150 %")
    qtbot.keyClick(window._palette._line, Qt.Key.Key_Return)
    assert window._theme.text_size == 150
    assert window._settings.current.text_size == 150


def test_what_was_said_of_one_file_goes_when_another_is_opened(window: MainWindow) -> None:
    window.set_document("one.csv", confidential=True)
    window.show_message("ok", "The release is in somewhere.")
    window.set_document("one.csv", confidential=True)
    assert not window._band.isHidden()
    window.set_document("two.csv", confidential=True)
    assert window._band.isHidden()
    window.show_message("fail", "three.csv cannot be read.")
    window.set_document("one.csv", confidential=True)
    assert not window._band.isHidden()


def test_the_palette_closes_on_escape_and_cancels_nothing(
    window: MainWindow, qtbot: QtBot, hub: JobHub
) -> None:
    work = Stubborn()
    hub.query("Searching", work)
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(window._palette._line, Qt.Key.Key_Escape)
    assert not window._palette.isVisible()
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
    window._navigation.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert hub.states[0].cancelling
    work.leave.set()
    qtbot.waitUntil(lambda: not hub.busy)
    assert not window.actions_.action("run.cancel").isEnabled()


def test_the_status_bar_counts_rows_groups_and_jobs(
    window: MainWindow, qtbot: QtBot, hub: JobHub
) -> None:
    window.set_facts(StatusFacts(45_222, 44_871, 1, 5))
    assert window._strip.texts["rows"] == "45,222 → 44,871 rows"
    assert window._strip.texts["k"] == "smallest group 1 → 5"
    work = Stubborn()
    hub.query("Searching", work)
    assert window._strip._jobs.text() == "1 job"
    work.leave.set()
    qtbot.waitUntil(lambda: window._strip._jobs.text() == "0 jobs")


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
    menu = window._menu_widgets["file"]
    menu.aboutToShow.emit()
    submenus = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert [action.text() for action in submenus[0].actions()] == ["census24.csv", "b.csv"]


def test_theme_and_text_size_are_chosen_in_the_view_menu(
    window: MainWindow, settings: MemorySettings, theme: ThemeManager
) -> None:
    menu = window._menu_widgets["view"]
    menu.aboutToShow.emit()
    submenus = [action.menu() for action in menu.actions() if action.menu() is not None]
    submenus[0].actions()[2].trigger()
    assert (settings.current.theme, theme.mode) == ("dark", "dark")
    submenus[1].actions()[3].trigger()
    assert (settings.current.text_size, theme.text_size) == (200, 200)


def test_raw_data_carries_the_badge(window: MainWindow) -> None:
    assert not window._corner.badge.isVisible()
    window.set_document("census24.csv", confidential=True)
    assert window._corner.badge.isVisible()
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
    assert "Stopping" in window._band.text
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
    window._navigation.setFocus()
    for _ in ("the panel", "the message"):
        window.on_next_region()
    inside = QApplication.focusWidget()
    assert inside is not None
    assert window._band.isAncestorOf(inside)
    qtbot.keyClick(inside, Qt.Key.Key_Escape)
    assert window._band.isHidden()


def test_a_message_pushes_nothing_away_under_the_mouse(window: MainWindow, qtbot: QtBot) -> None:
    parts = window.current_panel.findChildren(QAbstractButton)
    before = {part: part.mapTo(window, QPoint()) for part in parts if part.isVisible()}
    assert before
    window.show_message("ok", "The release is in somewhere.")
    qtbot.waitUntil(lambda: window._band.geometry().height() > 0)
    window.grab()
    assert {part: part.mapTo(window, QPoint()) for part in before} == before


def test_large_text_leaves_the_window_to_the_work(window: MainWindow, theme: ThemeManager) -> None:
    window.resize(1366, 740)
    usual = window._navigation.minimumWidth()
    theme.set_text_size(200)
    assert window._navigation.width() <= max(usual, round(window.width() * 0.24))
    theme.set_text_size(100)
    assert window._navigation.minimumWidth() == usual


def test_the_splitter_is_where_it_was_left(qtbot: QtBot, hub: JobHub, theme: ThemeManager) -> None:
    settings = MemorySettings()
    first = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(first)
    first.show()
    left = first._navigation.maximumWidth() - 20
    first._splitter.setSizes([left, first.width() - left, 0])
    assert first._splitter.sizes()[0] == left
    first._remember()
    second = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(second)
    second.show()
    assert second._splitter.sizes()[0] == left


def test_a_damaged_layout_is_no_reason_not_to_start(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager
) -> None:
    settings = MemorySettings(PlainSettings(geometry="%%%", layout="[1"))
    window = MainWindow(hub, theme, settings, [PanelEntry("a", "A", SomePanel(theme, "A"))])
    qtbot.addWidget(window)
    window.show()
    assert window.isVisible()
