"""What stands below the panels: the trail of edits with undo, and the numbers of the status bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QStatusBar,
    QToolButton,
    QWidget,
)

from dpdesk.ui.shell.history import HistoryButton
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, icon, set_look
from dpdesk.ui.widgets.elided import ElidedLabel
from dpdesk.ui.widgets.layouts import column, row
from dpdesk.ui.words.counts import rows_words
from dpdesk.ui.words.numbers import grouped

SHOWN_STEPS = 5
HELP_SHARE = 0.25


@dataclass(frozen=True)
class StatusFacts:
    """The numbers of the status bar; None where there is none yet.

    ``k_before`` and ``k_after`` are the smallest groups of the table as read and as it would be
    released; ``protection`` stands in their place where something else protects, such as ε.
    ``released`` are the rows of a release that is open without its data. ``stale`` marks numbers of
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
        for action, (name, button) in zip((undo, redo), self._buttons.items(), strict=True):
            button.setDefaultAction(action)
            button.setObjectName(name)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.setAccessibleName(action.text().replace("&", ""))
            set_look(button, "quiet")
            layout.addWidget(button)
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
        for name, button in self._buttons.items():
            button.defaultAction().setIcon(icon(name, theme.tokens, size=theme.icon))
            button.setIconSize(QSize(theme.icon, theme.icon))


class StatusStrip(QStatusBar):
    """Rows, smallest group, budget, and a button that counts running jobs."""

    jobsAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self._show("budget", facts.budget, self.tr("Privacy budget spent of what may be spent"))

    def _show_protection(self, facts: StatusFacts, old: str) -> None:
        """The smallest group, or what protects instead."""
        if facts.protection:
            words = self.tr("What protects the release: the privacy loss, or the size of groups")
            self._show("k", old + facts.protection, words)
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
        self._jobs.setAccessibleName(self.tr("Running jobs: {n}").format(n=count))
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
    """The explanation of the current panel (F1), beside it."""

    closed = Signal()

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
        layout.addLayout(head)
        layout.addWidget(self._text, 1)

    def explain(self, title: str, text: str) -> None:
        """Show a text."""
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)


class HelpArea(QScrollArea):
    """The place of the explanation: it scrolls, and is hidden until it is asked for."""

    def __init__(self, pane: HelpPane, theme: ThemeManager) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(pane)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.hide()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        share = round(self.window().width() * HELP_SHARE)
        self.setMinimumWidth(min(theme.ems(30), max(share, theme.ems(16))))
