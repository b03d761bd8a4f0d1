"""What stands around the panels: trail and history of edits, status bar, explanation, corner."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QByteArray, QEvent, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QMenu,
    QMenuBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStatusBar,
    QToolButton,
    QWidget,
)

from dpdesk.core.shapes import read_json
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, icon, set_look
from dpdesk.ui.widgets.layouts import SteadyArea, column, least_height, row
from dpdesk.ui.widgets.states import Badge, ElidedLabel, button
from dpdesk.ui.words.numbers import grouped, rows_words, verbatim

SHOWN_AT_MOST = 60
_ALL = -1
_INDENT = "      "


@dataclass(frozen=True)
class HistoryStep:
    """A state by the edit that led to it; ``depth`` counts the branchings off the present way."""

    id: int
    label: str
    depth: int = 0
    current: bool = False
    when: datetime | None = None


class HistoryButton(QToolButton):
    """Opens the list of states; ``chosen(int)`` is the id of the one to go to.

    ``allAsked()`` when all of them are to be seen, with their times.
    """

    chosen = Signal(int)
    allAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._steps: tuple[HistoryStep, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self, "quiet")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.triggered.connect(self._on_triggered)
        self.clicked.connect(self.open)
        self.set_steps(())

    @property
    def steps(self) -> tuple[HistoryStep, ...]:
        """What can be gone to."""
        return self._steps

    def set_steps(self, steps: Sequence[HistoryStep]) -> None:
        """Offer these states; the menu is made when it is opened."""
        self._steps = tuple(steps)
        aside = sum(step.depth > 0 for step in steps)
        text = self.tr("History")
        tip = self.tr("Go to any state of the work (Ctrl+H)")
        if aside:
            text = self.tr("History ({n} set aside)").format(n=aside)
            tip = self.tr("Go to any state, also to the {n} that were undone (Ctrl+H)")
        self.setText(text)
        self.setToolTip(tip.format(n=aside))
        self.setAccessibleName(text)
        self.setAccessibleDescription(self.toolTip())
        self.setEnabled(len(steps) > 1)

    @Slot()
    def open(self) -> None:
        """Show the list above the button, at the present state."""
        self._menu.clear()
        present: QAction | None = None
        for step in _near(self._steps):
            mark = f"{_INDENT * (step.depth - 1)}   ↳ " if step.depth else ""
            action = QAction(mark + verbatim(step.label), self._menu)
            action.setCheckable(True)
            action.setChecked(step.current)
            action.setData(step.id)
            tip = self.tr("Go back to the work as it was after this edit")
            if step.when is not None:
                tip = f"{tip} ({step.when.astimezone():%Y-%m-%d %H:%M})"
            here = self.tr("Current state")
            action.setToolTip(here if step.current else tip)
            self._menu.addAction(action)
            present = action if step.current else present
        self._menu.addSeparator()
        text = self.tr("&All {n} states, with times…").format(n=grouped(len(self._steps)))
        self._menu.addAction(text).setData(_ALL)
        size = self._menu.sizeHint()
        self._menu.popup(self.mapToGlobal(QPoint(0, -size.height())), present)
        if present is not None:
            self._menu.setActiveAction(present)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.data() == _ALL:
            self.allAsked.emit()
        else:
            self.chosen.emit(int(action.data()))


def _near(steps: Sequence[HistoryStep]) -> Sequence[HistoryStep]:
    """The states around the present one, when there are very many."""
    if len(steps) <= SHOWN_AT_MOST:
        return steps
    here = next((n for n, step in enumerate(steps) if step.current), 0)
    first = min(max(0, here - SHOWN_AT_MOST // 2), len(steps) - SHOWN_AT_MOST)
    return steps[first : first + SHOWN_AT_MOST]


SHOWN_STEPS = 5
HELP_SHARE = 0.25


@dataclass(frozen=True)
class StatusFacts:
    """The numbers of the status bar; None where there is none yet.

    ``k_before`` and ``k_after`` are the smallest groups of the table as read and as it would be
    released; ``protection`` stands in their place where something else protects, such as ε.
    ``grouped`` says that rows are made alike, so that there will be a smallest group. ``released``
    are the rows of a release that is open without its data. ``stale`` marks numbers of
    settings that have been changed since.
    """

    rows_in: int | None = None
    rows_out: int | None = None
    k_before: int | None = None
    k_after: int | None = None
    budget: str = ""
    protection: str = ""
    released: int | None = None
    stale: bool = False
    grouped: bool = True


class Trail(QFrame):
    """The edits so far, newest last; at the right all states ever, undo and redo."""

    def __init__(
        self, theme: ThemeManager, undo: QAction, redo: QAction, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        layout = row(self, gap=SPACE.s)
        layout.setContentsMargins(SPACE.l, SPACE.xs, SPACE.l, SPACE.xs)
        # The newest edits stand at the end, so what does not fit is cut at the beginning.
        self._text = ElidedLabel(mode=Qt.TextElideMode.ElideLeft)
        set_look(self._text, "note")
        self._text.setAccessibleName(self.tr("Edits so far"))
        layout.addWidget(self._text, 1)
        self.history = HistoryButton()
        layout.addWidget(self.history)
        self._buttons = {"undo": QToolButton(), "redo": QToolButton()}
        for action, (name, tool) in zip((undo, redo), self._buttons.items(), strict=True):
            tool.setDefaultAction(action)
            tool.setObjectName(name)
            tool.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            tool.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            tool.setAccessibleName(action.text().replace("&", ""))
            set_look(tool, "quiet")
            layout.addWidget(tool)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.set_steps(())

    def set_steps(self, steps: Sequence[str]) -> None:
        """Show the last edits in words."""
        shown = list(steps[-SHOWN_STEPS:])
        if len(steps) > SHOWN_STEPS:
            shown.insert(0, "…")
        self._text.setText(" › ".join(shown) or self.tr("Nothing changed yet"))
        self._text.setToolTip("\n".join(steps))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for name, tool in self._buttons.items():
            tool.defaultAction().setIcon(icon(name, theme.tokens, size=theme.icon))
            tool.setIconSize(QSize(theme.icon, theme.icon))


class StatusStrip(QStatusBar):
    """Rows, smallest group, budget, and a button that counts running jobs."""

    jobsAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._labels = {name: QLabel() for name in ("rows", "k", "budget", "saving")}
        for label in self._labels.values():
            self.addWidget(label)
        self._jobs = QPushButton()
        self._jobs.setToolTip(self.tr("Show running jobs"))
        set_look(self._jobs, "quiet")
        self._jobs.clicked.connect(self.jobsAsked)
        self.addPermanentWidget(self._jobs)
        self.set_facts(StatusFacts())
        self.set_saving("", "")
        self.set_jobs(0)

    def set_facts(self, facts: StatusFacts) -> None:
        """Show these numbers."""
        old = "↻ " if facts.stale else ""
        rows = self.tr("no rows") if facts.rows_in is None else rows_words(facts.rows_in)
        if facts.rows_in is not None and facts.rows_out is not None:
            numbers = f"{grouped(facts.rows_in)} → {grouped(facts.rows_out)}"
            rows = self.tr("{numbers} rows").format(numbers=numbers)
        if facts.rows_in is None and facts.released is not None:
            rows = self.tr("{rows} released").format(rows=rows_words(facts.released))
        elif facts.rows_in is None and facts.protection:
            rows = ""
        self._show("rows", old + rows if rows else "", self.tr("Rows read → rows released"))
        self._show_protection(facts, old)
        self._show("budget", facts.budget, self.tr("Privacy budget spent, of the amount allowed"))

    def _show_protection(self, facts: StatusFacts, old: str) -> None:
        """The smallest group, or what protects instead."""
        if facts.protection:
            words = self.tr("What protects the release: the privacy loss, or the size of groups")
            self._show("k", old + facts.protection, words)
            return
        if not facts.grouped and facts.k_before is None and facts.k_after is None:
            self._show("k", "", "")
            return
        smallest = "–" if facts.k_before is None else grouped(facts.k_before)
        if facts.k_after is not None:
            smallest = f"{smallest} → {grouped(facts.k_after)}"
        self._show(
            "k",
            old + self.tr("smallest group {numbers}").format(numbers=smallest),
            self.tr("Rows in the smallest group, as read → as it would be released"),
        )

    def set_saving(self, words: str, explanation: str) -> None:
        """Show how saving by itself goes; empty where nothing is saved by itself."""
        self._show("saving", words, explanation)

    def set_jobs(self, count: int) -> None:
        """Show how many jobs are running."""
        text = self.tr("1 job") if count == 1 else self.tr("{n} jobs").format(n=count)
        self._jobs.setText(text)
        self._jobs.setAccessibleName(self.tr("{jobs} running").format(jobs=text))
        self._jobs.setEnabled(count > 0)

    @property
    def texts(self) -> dict[str, str]:
        """What is written, by field."""
        return {name: label.text() for name, label in self._labels.items()}

    def _show(self, name: str, text: str, explanation: str) -> None:
        label = self._labels[name]
        label.setText(text)
        label.setToolTip(explanation)
        label.setVisible(bool(text))


class HelpPane(QFrame):
    """The explanation of the current panel (F1), beside it.

    ``guideAsked(str)`` names the page of the guide that says more.
    """

    closed = Signal()
    guideAsked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "sunken")
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        head = row()
        self._title = QLabel()
        set_look(self._title, "section")
        self._title.setWordWrap(True)
        self._close = QToolButton()
        self._close.setText("✕")
        self._close.setAccessibleName(self.tr("Close the explanation"))
        self._close.setToolTip(self.tr("Close the explanation (F1)"))
        self._close.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self._close, "quiet")
        self._close.clicked.connect(self.closed)
        head.addWidget(self._title, 1)
        head.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._page = ""
        self.more = button(
            self.tr("Read more in the guide"),
            self.tr("Tasks step by step, what each method protects against, terms, a search"),
        )
        self.more.clicked.connect(lambda: self.guideAsked.emit(self._page))
        layout.addLayout(head)
        layout.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._text, 1)

    def explain(self, title: str, text: str, page: str = "") -> None:
        """Show a text, and name the page of the guide that says more."""
        self._page = page
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)


class HelpArea(SteadyArea):
    """The place of the explanation: it scrolls, and is hidden until it is asked for.

    ``opened(bool)`` says that it was shown or hidden.
    """

    opened = Signal(bool)

    def __init__(self, pane: HelpPane, theme: ThemeManager) -> None:
        super().__init__()
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(pane)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.horizontalScrollBar().rangeChanged.connect(self._on_wide)
        self.hide()

    def setVisible(self, visible: bool) -> None:
        """Show or hide it, and tell."""
        super().setVisible(visible)
        self.opened.emit(visible)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        share = round(self.window().width() * HELP_SHARE)
        self.setMinimumWidth(min(theme.ems(30), max(share, theme.ems(16))))

    @Slot(int, int)
    def _on_wide(self, least: int, most: int) -> None:
        """A word is longer than the line: make room for it."""
        if most > least:
            self.setMinimumWidth(self.width() + most - least)


NAME_EMS, LEAST_NAME_EMS = 26, 6


class DocumentCorner(QWidget):
    """Name of the document, and the mark of raw data, in the corner of a menu bar."""

    def __init__(self, theme: ThemeManager, bar: QMenuBar) -> None:
        super().__init__(bar)
        self._theme = theme
        bar.setNativeMenuBar(False)  # one elsewhere on the screen would have no corner
        layout = row(self)
        layout.setContentsMargins(0, 0, SPACE.m, 0)
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.badge = Badge(
            self.tr("CONFIDENTIAL"),
            self.tr("Raw data about people is open; only what you export may leave this place."),
        )
        layout.addWidget(self._name)
        layout.addWidget(self.badge)
        theme.changed.connect(self._fit)
        bar.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Menus come before the name of the document where there is little room."""
        if event.type() is QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def set_document(self, name: str, *, confidential: bool) -> None:
        """Name what is open; raw data carries the mark."""
        self._name.setText(name or self.tr("nothing open"))
        self.badge.setVisible(confidential)
        self._fit()

    @property
    def name(self) -> str:
        """What is written, whole."""
        return self._name.text()

    @Slot()
    def _fit(self) -> None:
        """Give the name its width: a menu bar measures its corner only when it is set."""
        ems, bar = self._theme.theme.ems, self.parentWidget()
        longest = ems(NAME_EMS)
        if isinstance(bar, QMenuBar) and bar.cornerWidget() is self and bar.isVisible():
            menus = bar.sizeHint().width() - self.sizeHint().width()
            room = bar.width() - menus - (self.sizeHint().width() - self._name.width())
            longest = max(ems(LEAST_NAME_EMS), min(longest, room))
        metrics = QFontMetrics(self._theme.theme.font())
        self._name.setFixedWidth(min(metrics.horizontalAdvance(self._name.text()) + 2, longest))
        self.setMinimumHeight(self._theme.theme.target)
        self.adjustSize()
        if isinstance(bar, QMenuBar):
            bar.setCornerWidget(self)


class PanelArea(QScrollArea):
    """Holds one panel.

    The panel gets all the room that there is, but never less than its least size: neither is the
    window pushed off the screen by large text, nor is a panel cut. Its bar takes the place of a
    part of the panel's right margin, so that what is in the panel keeps its width: with another
    width it might need another height, and the bar would come and go for ever.
    """

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self._taken = 0  # what the bar takes of the margin
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(panel)
        panel.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:
        """Little: what does not fit scrolls."""
        return QSize(480, 320)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the panel its size."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The panel may need more, or less, than before."""
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        panel = self.widget()
        if panel is None:
            return
        room, taken = self.maximumViewportSize(), self._taken
        width, height = room.width(), room.height()
        least = panel.minimumSizeHint().expandedTo(panel.minimumSize())
        if least.width() + taken > width:
            width = least.width() + taken
            height -= self.horizontalScrollBar().sizeHint().height()
        needed = self._needed(panel, width - taken)
        self._take(panel, self.verticalScrollBar().sizeHint().width() if needed > height else 0)
        panel.resize(width - self._taken, max(height, needed))

    def _take(self, panel: QWidget, wanted: int) -> None:
        """Take as much of the panel's margin as the bar is wide, or give it back."""
        layout = panel.layout()
        if layout is None or wanted == self._taken:
            return
        edges = layout.contentsMargins()
        edges.setRight(edges.right() + self._taken - wanted)
        layout.setContentsMargins(edges)
        self._taken = wanted

    @staticmethod
    def _needed(panel: QWidget, width: int) -> int:
        """The least height: a hint, made for no width, asks too much for lines that wrap."""
        needed = least_height(panel, width) or panel.minimumSizeHint().height()
        return max(needed, panel.minimumHeight())


def geometry_text(window: QWidget) -> str:
    """Place and size of a window."""
    return _to_text(window.saveGeometry())


def layout_text(window: QWidget) -> str:
    """Positions of all splitters that have an object name."""
    named = {
        part.objectName(): _to_text(part.saveState())
        for part in window.findChildren(QSplitter)
        if part.objectName()
    }
    return json.dumps(named)


def take_first_size(window: QWidget) -> None:
    """A good size where the screen has room for it, and for the frame of the window."""
    room = window.screen().availableGeometry()
    width, height = min(1280, room.width()), min(820, room.height() - 40)
    window.resize(max(1100, width), max(700, height))


def restore(window: QWidget, geometry: str, layout: str) -> None:
    """Put a window and its splitters back; what cannot be read is left as it is."""
    if geometry:
        window.restoreGeometry(_from_text(geometry))
    try:
        named = read_json(layout or "{}")
    except ValueError:
        return
    if not isinstance(named, dict):
        return
    for part in window.findChildren(QSplitter):
        kept = named.get(part.objectName())
        if isinstance(kept, str):
            part.restoreState(_from_text(kept))


def _to_text(state: QByteArray) -> str:
    return base64.b64encode(bytes(state.data())).decode("ascii")


def _from_text(text: str) -> QByteArray:
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()
