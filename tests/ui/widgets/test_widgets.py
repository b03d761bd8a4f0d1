"""Bands, tiles, activity: shape and word, answers at once, nothing by colour alone."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import Figure
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.release import Guarantee
from dpdesk.ui.jobs import JobHub, JobState
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import (
    ActivityList,
    EmptyState,
    FigureTile,
    GuaranteeCard,
    MessageBand,
    Mnemonics,
    time_left_text,
)
from dpdesk.ui.widgets.activity import JobLine, JobRow, state_text
from tests.helpers.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("kind", "word"),
    [("info", "Note"), ("ok", "Done"), ("caution", "Caution"), ("fail", "Problem")],
)
def test_a_band_has_shape_and_word(qtbot: QtBot, theme: ThemeManager, kind: str, word: str) -> None:
    band = MessageBand(theme)
    qtbot.addWidget(band)
    assert band.isHidden()
    band.show_message(kind, "Something happened.")
    assert band.accessibleName() == f"{word}: Something happened."
    assert not band._icon.pixmap().isNull()


def test_a_band_s_action_names_itself(qtbot: QtBot, theme: ThemeManager) -> None:
    band = MessageBand(theme)
    qtbot.addWidget(band)
    band.show_message("fail", "row 812 is ragged.", (("show", "Show row"), ("skip", "Skip")))
    buttons = [button for button in band.findChildren(QPushButton) if button.isVisible()]
    assert [button.text() for button in buttons] == ["Show row", "Skip"]
    with qtbot.waitSignal(band.triggered) as caught:
        qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
    assert caught.args == ["show"]
    band.show_message("info", "Other.")
    assert band._buttons == []


def test_a_band_words_an_error_as_the_error_does(qtbot: QtBot, theme: ThemeManager) -> None:
    band = MessageBand(theme)
    qtbot.addWidget(band)
    band.show_error(InputError("x", "`age` is missing.", hint="Add it."))
    assert band.text == "“age” is missing. Add it."
    qtbot.mouseClick(band._close, Qt.MouseButton.LeftButton)
    assert band.text == ""


def test_an_unknown_kind_of_band_is_refused(qtbot: QtBot, theme: ThemeManager) -> None:
    band = MessageBand(theme)
    qtbot.addWidget(band)
    with pytest.raises(ValueError, match="purple"):
        band.show_message("purple", "?")


def test_an_empty_place_offers_the_next_action(qtbot: QtBot, theme: ThemeManager) -> None:
    empty = EmptyState(theme, "data", "No data yet", "Drop a file here.", (("open", "Open…"),))
    qtbot.addWidget(empty)
    (button,) = empty.findChildren(QPushButton)
    with qtbot.waitSignal(empty.triggered) as caught:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert caught.args == ["open"]


def test_a_tile_writes_its_number_for_people(qtbot: QtBot) -> None:
    tile = FigureTile()
    qtbot.addWidget(tile)
    tile.set_figure(Figure("rows", "Rows released", 44_871, "count", "rows"), before=45_222)
    assert tile._value.text() == "44,871 rows"
    assert tile.accessibleName() == "Rows released: 44,871 rows. before: 45,222"


def test_a_guarantee_always_shows_claim_assumptions_and_limits(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    card = GuaranteeCard(theme)
    qtbot.addWidget(card)
    card.set_guarantee(Guarantee("k-anonymity", {"k": 5}, "Claim.", ("One.", "Two."), ("Three.",)))
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert "Claim." in texts
    assert "•  One.\n•  Two." in texts
    assert "•  Three." in texts


def test_letters_are_given_once_and_never_those_of_menus() -> None:
    letters = Mnemonics()
    assert [letters.mark(text) for text in ("File k", "k", "Kelvin", "R & D", "k")] == [
        "File &k",
        "k",
        "Ke&lvin",
        "R && &D",
        "k",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (2, "a few seconds left"),
        (31, "about 30 seconds left"),
        (65, "about a minute left"),
        (600, "about 10 minutes left"),
        (7_300, "about 2 hours left"),
    ],
)
def test_time_left_in_words(seconds: float | None, text: str) -> None:
    assert time_left_text(seconds) == text


def test_a_state_says_step_units_and_time() -> None:
    state = JobState(1, "Reading", False, "Counting", 2, 3, 1_000, 5_000_000, "rows", 40)
    assert state_text(state) == (
        "step 2 of 3: Counting · 1,000 of 5,000,000 rows · about 40 seconds left"
    )


def test_a_job_has_a_row_whose_cancel_answers_at_once(hub: JobHub, qtbot: QtBot) -> None:
    activity = ActivityList(hub, show_after=0)
    qtbot.addWidget(activity)
    entered = threading.Event()

    def work(token: CancelToken, report: Report) -> object:
        report(StepStarted("Counting", 1, 1))
        report(StepProgress("Counting", 10, 40))
        entered.set()
        stopped = threading.Event()
        with token.on_cancel(stopped.set):
            assert stopped.wait(PATIENCE_SECONDS)
        token.check()
        return None

    hub.query("Counting classes", work)
    qtbot.waitUntil(lambda: bool(activity.findChildren(JobRow)))
    (shown,) = activity.findChildren(JobRow)
    qtbot.waitUntil(lambda: "10 of 40" in shown._text.text())
    assert shown._bar.value() == 250
    assert activity.count == 1
    shown._button.click()
    assert shown._text.text() == "stopping…"
    assert not shown._button.isEnabled()
    qtbot.waitUntil(lambda: activity.count == 0 and activity.isHidden())


@pytest.mark.parametrize(
    ("index", "count", "done", "total", "share"),
    [(1, 4, 0, 40, 0), (1, 4, 40, 40, 250), (2, 4, 0, None, 250), (4, 4, 40, 40, 1_000)],
)
def test_a_bar_is_full_when_all_steps_are_done(
    qtbot: QtBot, index: int, count: int, done: int, total: int | None, share: int
) -> None:
    shown = JobRow(JobState(1, "Searching", False, "Counting", index, count, done, total))
    qtbot.addWidget(shown)
    assert (shown._bar.maximum(), shown._bar.value()) == (1_000, share)


def test_a_job_is_shown_in_one_place(hub: JobHub, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    activity, line = ActivityList(hub, window, show_after=0), JobLine(hub, window)
    activity.leave_to([line])
    window.show()
    go_on = threading.Event()

    def work(token: CancelToken, report: Report) -> object:
        with token.on_cancel(go_on.set):
            return go_on.wait(PATIENCE_SECONDS)

    line.follow(hub.query("Writing", work), "Writing")
    qtbot.waitUntil(lambda: bool(activity.findChildren(JobRow)))
    assert line.isVisible()
    assert activity.isHidden()
    line.hide()  # another panel comes to the front
    qtbot.waitUntil(activity.isVisible)
    line.show()
    qtbot.waitUntil(activity.isHidden)
    activity.show_all()
    assert activity.isVisible()
    go_on.set()
    qtbot.waitUntil(lambda: activity.count == 0 and activity.isHidden())


def test_quiet_and_short_jobs_have_no_row(hub: JobHub, qtbot: QtBot) -> None:
    activity = ActivityList(hub)
    qtbot.addWidget(activity)
    counts: list[int] = []
    activity.countChanged.connect(counts.append)
    with qtbot.waitSignal(hub.idle):
        hub.query("Page", lambda token, report: None, quiet=True)
        hub.query("Short", lambda token, report: None)
    assert counts == [1, 0]
    assert activity.isHidden()
