"""What a screen reader is told, and whether the focus can be seen on every control."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import MessageBand, layouts
from tests.helpers.a11y import focusable
from tests.helpers.events import settle
from tests.helpers.sitting import Sitting

SAMPLE = Path(__file__).parents[2] / "resources/sample"
STEPS = ("data", "attributes", "hierarchies", "protect", "review")
AROUND = 3
TRIES = 20


class _Told:
    """Takes the place of the bridge to screen readers, and keeps what it is told."""

    AnnouncementPoliteness = QAccessible.AnnouncementPoliteness

    def __init__(self) -> None:
        self.said: list[tuple[str, bool]] = []

    def updateAccessibility(self, event: QAccessibleEvent) -> None:
        assert isinstance(event, QAccessibleAnnouncementEvent)
        urgent = event.politeness() is QAccessible.AnnouncementPoliteness.Assertive
        self.said.append((event.message(), urgent))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> _Told:
    made = _Told()
    monkeypatch.setattr(layouts, "QAccessible", made)
    return made


@pytest.fixture
def sitting(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Sitting]:
    shutil.copytree(SAMPLE, tmp_path / "sample")
    with AppContext.open(tmp_path / "home") as context:
        made = Sitting(qtbot, context, hub, theme)
        made.open(tmp_path / "sample/plans/private-tables.toml")
        yield made
        made.end()


def test_messages_are_announced_and_questions_interrupt(
    told: _Told, qtbot: QtBot, theme: ThemeManager
) -> None:
    window = QWidget()
    band = MessageBand(theme)
    QVBoxLayout(window).addWidget(band)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    band.show_message("ok", "The public table is in out.csv.")
    band.show_message("caution", "It spends 0.5.", (("spend", "Yes"), ("keep", "No")))
    band.show_message("fail", "The disk is full.")
    assert told.said == [
        ("Done: The public table is in out.csv.", False),
        ("Caution: It spends 0.5.", True),
        ("Problem: The disk is full.", True),
    ]


def test_the_answer_to_a_setting_is_announced_once(told: _Told, sitting: Sitting) -> None:
    sitting.window.show_panel("protect")
    sitting.quiet()
    said = [text for text, _ in told.said if "largest planned error" in text]
    assert len(said) == 1


def _bring_in_sight(widget: QWidget) -> None:
    """Scroll to a control, as Tab does."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget)
        parent = parent.parentWidget()


def _place(window: QWidget, widget: QWidget) -> QRect:
    """Where a control is in its window, with what is drawn around it."""
    corner = widget.mapTo(window, widget.rect().topLeft())
    return QRect(corner, widget.size()).adjusted(-AROUND, -AROUND, AROUND, AROUND)


def _at_rest(window: QWidget, widget: QWidget) -> QRect:
    """The place that a control keeps: layouts that were due can have moved it."""
    before = None
    while before != (place := _place(window, widget)):
        before = place
        settle()
    return place


def _focus_is_seen(window: QWidget, widget: QWidget) -> bool:
    """Whether a control in sight looks different with the focus.

    What is still due in the window can move the control, or give it the focus, between the two
    pictures; then they say nothing, and are made again.
    """
    for _ in range(TRIES):
        place = _at_rest(window, widget)
        if not window.rect().contains(place):
            return True
        focus = window.focusWidget()
        if focus is not None:
            focus.clearFocus()
        settle()
        without, too_early = window.grab(place).toImage(), widget.hasFocus()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        settle()
        seen = window.grab(place).toImage()
        if not too_early and widget.hasFocus() and _place(window, widget) == place:
            return seen != without
    return False


@pytest.mark.parametrize("step", STEPS)
def test_the_focus_is_seen_on_every_control(sitting: Sitting, step: str) -> None:
    window = sitting.window
    window.show_panel(step)
    window.activateWindow()
    sitting.quiet(window.isActiveWindow)
    unseen = []
    for widget in focusable(window):
        if isinstance(widget, QScrollArea) or widget.focusProxy() is not None:
            continue
        _bring_in_sight(widget)
        if not _focus_is_seen(window, widget):
            unseen.append(f"{type(widget).__name__} {widget.accessibleName()}")
    assert unseen == []


@pytest.mark.parametrize("step", ["data", "attributes", "compare", "review"])
def test_a_message_pushes_nothing_away_under_the_mouse(sitting: Sitting, step: str) -> None:
    sitting.bench.keep_candidate()
    sitting.window.show_panel(step)
    sitting.quiet()
    panel = sitting.window.current_panel
    parts = [one for one in panel.findChildren(QAbstractButton) if one.isVisible()]
    bands = [one for one in panel.findChildren(MessageBand) if one.parentWidget().isVisible()]
    places = _places(sitting, parts)
    for band in [one for one in bands if not one.isVisible()]:
        band.show_message("ok", "The public table is in out.csv.")
        own = band.findChildren(QAbstractButton)
        assert _places(sitting, [one for one in parts if one not in own]) == places
        band.clear()


def _places(sitting: Sitting, parts: list[QAbstractButton]) -> dict[str, QPoint]:
    settle()
    sitting.window.grab()
    return {one.text() + one.accessibleName(): one.mapTo(sitting.window, QPoint()) for one in parts}


def test_the_button_that_releases_is_in_sight_with_its_cost(sitting: Sitting) -> None:
    sitting.window.resize(1280, 720)
    for step in ("protect", "review"):
        sitting.window.show_panel(step)
        sitting.quiet()
    page = sitting.desk.review.prepare
    sitting.quiet(page.band.isVisible)
    settle()
    area = page.parentWidget().parentWidget()
    assert isinstance(area, QScrollArea)
    assert area.verticalScrollBar().maximum() == 0
