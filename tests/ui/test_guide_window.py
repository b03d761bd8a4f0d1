"""The guide beside the work: pages, a search, links, a chooser that leads to a method."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QRadioButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.guide import GuideWindow
from tests.helpers.a11y import findings
from tests.helpers.releases import write_source
from tests.helpers.sitting import Sitting


class Reading(Sitting):
    """A desk with the guide in front."""

    @property
    def guide(self) -> GuideWindow:
        return self.desk.beside.guide

    def ask(self) -> GuideWindow:
        self.window.actions_.refresh()
        self.window.actions_.trigger("help.guide")
        return self.guide

    def choose(self, *answers: str) -> None:
        for made in self.guide.chooser.findChildren(QRadioButton):
            if made.text() in answers:
                made.click()

    def buttons(self, text: str) -> list[QPushButton]:
        """Those of the cards that are shown, from above."""
        within = self.guide.chooser
        found = [one for one in within.findChildren(QPushButton) if one.isVisibleTo(within)]
        found.sort(key=lambda one: one.mapTo(within, QPoint(0, 0)).y())
        return [one for one in found if one.text() == text]


@pytest.fixture
def reading(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Reading]:
    with AppContext.open(tmp_path / "home") as context:
        made = Reading(qtbot, context, hub, theme)
        yield made
        made.end()


def test_it_opens_at_the_first_release_and_lists_every_method(reading: Reading) -> None:
    window = reading.ask()
    assert window.isVisible()
    assert window.page == "first-release"
    assert "Your first release in ten minutes" in window.text.toPlainText()
    assert {method.id for method in reading.bench.methods} <= set(window.listed)
    assert findings(window) == []


def test_a_search_lists_the_pages_that_hold_the_words_and_says_when_none_does(
    reading: Reading,
) -> None:
    window = reading.ask()
    everything = window.listed
    window.search.setText("budget ledger")
    assert window.page == window.listed[0] == "ledger"
    assert len(window.listed) < len(everything)
    assert not window.none.isVisible()
    window.search.setText("zzyzx")
    assert window.listed == ()
    assert window.none.text() == "No page contains these words."
    window.search.clear()
    assert window.listed == everything


def test_links_lead_to_other_pages_and_bring_back_what_the_search_left_out(
    reading: Reading, qtbot: QtBot
) -> None:
    window = reading.ask()
    window.search.setText("ten minutes")
    assert "review" not in window.listed
    window.text.moveCursor(window.text.textCursor().MoveOperation.End)
    place = _link(window, "page:review")
    with qtbot.waitSignal(window.text.anchorClicked):
        QTest.mouseClick(window.text.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.page == "review"
    assert window.search.text() == ""


def _link(window: GuideWindow, target: str) -> QPoint:
    port = window.text.viewport()
    for y in range(0, port.height(), 4):
        for x in range(0, port.width(), 8):
            if window.text.anchorAt(QPoint(x, y)) == target:
                return QPoint(x, y)
    raise AssertionError(target)


def test_the_chooser_answers_with_methods_that_fit_and_says_why_others_do_not(
    reading: Reading, qtbot: QtBot
) -> None:
    window = reading.ask()
    window.show_page("chooser")
    assert findings(window) == []
    reading.choose(
        "Tables of counts, sums or averages",
        "The public",
        "Someone who knows everything about everyone else",
    )
    fitting = [one.method.id for one in window.chooser.proposed if one.fits]
    assert "dp-cube" in fitting
    assert "table" not in fitting
    reading.choose(
        "Rows, one for each person or unit", "Someone who is in the table, such as a rival"
    )
    assert [one.method.id for one in window.chooser.proposed if one.fits] == ["randomised-response"]
    assert window.chooser.answer.text() == "One method does this:"
    shown = window.chooser.findChildren(QLabel)
    assert any("It does not protect against: Someone" in one.text() for one in shown)
    qtbot.waitUntil(lambda: len(reading.buttons("Read its card")) == len(window.chooser.proposed))
    reading.buttons("Read its card")[0].click()
    assert window.page == window.chooser.proposed[0].method.id


def test_a_method_is_chosen_for_the_data_that_are_open_in_one_step(
    reading: Reading, tmp_path: Path, qtbot: QtBot
) -> None:
    window = reading.ask()
    window.show_page("chooser")
    reading.choose("Tables of counts, sums or averages")
    qtbot.waitUntil(lambda: len(reading.buttons("Read its card")) == len(window.chooser.proposed))
    assert not any(one.isEnabled() for one in reading.buttons("Use it for the data"))
    reading.open(write_source(tmp_path / "work"))
    before = reading.bench.work.method
    wanted = window.chooser.proposed[0].method.id
    assert wanted != before
    reading.buttons("Use it for the data")[0].click()
    reading.quiet()
    assert reading.bench.work.method == wanted
    assert reading.window.current_panel is reading.desk.protect
    reading.bench.undo()
    reading.quiet()
    assert reading.bench.work.method == before


@pytest.mark.parametrize("panel", ["data", "attributes", "hierarchies", "protect", "review"])
def test_the_explanation_of_a_panel_leads_to_its_page(
    reading: Reading, tmp_path: Path, panel: str
) -> None:
    reading.open(write_source(tmp_path / "work"))
    reading.window.show_panel(panel)
    reading.window.on_explain()
    more = next(
        one
        for one in reading.window.findChildren(QPushButton)
        if one.text() == "Read more in the guide"
    )
    more.click()
    page = reading.window.current_panel.guide_page()
    assert page in reading.guide.listed
    assert reading.guide.page == page
    assert reading.guide.isVisible()
