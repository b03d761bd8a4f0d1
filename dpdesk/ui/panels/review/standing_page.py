"""The page that shows where the review of the release stands."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.panels.review.lines_card import LinesCard
from dpdesk.ui.panels.review.looker import Looker
from dpdesk.ui.panels.review.standing import standing_of
from dpdesk.ui.theme import SPACE, ThemeManager
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.flow import FlowBox


class StandingPage(QWidget):
    """``lookAsked()`` wishes that the folder is read again, ``peopleAsked()`` people and keys."""

    lookAsked = Signal()
    peopleAsked = Signal()

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.m)
        self.band, self.job_line = MessageBand(theme), JobLine(hub)
        self.faults = LinesCard(self.tr("What is wrong"), "✕")
        self.votes = LinesCard(self.tr("Votes"))
        self.notes = LinesCard(self.tr("Worth knowing"), "△")
        self.events = LinesCard(self.tr("Who signed what"))
        for widget in (self.band, self.job_line):
            layout.addWidget(widget)
        self.bar = FlowBox(gap=SPACE.s)
        self._again = QPushButton(self.tr("Look a&gain"))
        self._again.setAccessibleName(self.tr("Look at the review again"))
        self._again.setToolTip(self.tr("Read the release folder and its review again"))
        self._again.clicked.connect(self._on_again)
        self.bar.add(self._again)
        people = QPushButton(self.tr("People and &keys…"))
        people.setAccessibleName(self.tr("People and keys…"))
        people.setToolTip(self.tr("Your own keys, and whose signatures count (Ctrl+Shift+K)"))
        people.clicked.connect(self.peopleAsked)
        self.bar.add(people)
        layout.addWidget(self.bar)
        for card in (self.faults, self.votes, self.notes, self.events):
            card.hide()
            layout.addWidget(card)
        layout.addStretch(1)

    def show_review(self, looker: Looker, *, internal: bool) -> None:
        """What has been seen; ``internal`` says whether both parts of the release are here."""
        self._again.setEnabled(internal and not looker.busy)
        if looker.busy and self.job_line.job != looker.job:
            self.job_line.follow(looker.job, self.tr("Looking at the review"))
        if looker.problem is not None:
            self.band.show_error(looker.problem)
        elif not internal:
            text = self.tr(
                "The internal part is not here, and the review lies in it: open the whole folder."
            )
            self.band.show_message("info", text, dismissible=False)
        elif looker.picture is None:
            text = self.tr("The review has not been looked at yet.")
            self.band.show_message("info", text, dismissible=False)
        self._show_lines(looker)

    def _show_lines(self, looker: Looker) -> None:
        if looker.picture is None:
            for card in (self.faults, self.votes, self.notes, self.events):
                card.show_lines(())
            return
        found = standing_of(looker.picture)
        self.band.show_message(found.kind, found.sentence, dismissible=False)
        self.faults.show_lines(found.faults)
        self.votes.show_lines(found.votes)
        self.notes.show_lines(found.notes)
        self.events.show_lines(found.events)

    @Slot()
    def _on_again(self) -> None:
        self.lookAsked.emit()
