"""The page that shows where the review of the release stands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from dpdesk.app.review.values import ReviewPicture
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.checked_review import CheckedReview
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.panels.review.lines_card import LinesCard
from dpdesk.ui.panels.review.modes import lacks_protocol, mode_lines
from dpdesk.ui.panels.review.related import Relation, related, related_words, relation_words
from dpdesk.ui.panels.review.review_status import standing_of
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.flow import FlowBox


class StatusPage(QWidget):
    """Where the review stands; signals are wishes.

    ``lookAsked()`` that the folder is read again, ``peopleAsked()`` people and keys,
    ``openAsked(Path)`` another release, ``protocolAsked()`` the file of a protocol.
    """

    lookAsked = Signal()
    peopleAsked = Signal()
    openAsked = Signal(object)
    protocolAsked = Signal()

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.m)
        self._places: dict[Relation, Path | None] = {}
        self._noted: dict[str, Path] = {}
        self.band, self.job_line = MessageBand(theme), JobLine(hub)
        self.faults = LinesCard(self.tr("What is wrong"), "✕")
        self.votes = LinesCard(self.tr("Votes"))
        self.notes = LinesCard(self.tr("Worth knowing"), "△")
        self.mode = LinesCard(self.tr("How it came about"))
        self.others = LinesCard(self.tr("Other releases"))
        self.events = LinesCard(self.tr("Who signed what"))
        for widget in (self.band, self.job_line):
            layout.addWidget(widget)
        self.bar = FlowBox(gap=SPACE.s)
        self._again = QPushButton(self.tr("Look a&gain"))
        self._again.setAccessibleName(self.tr("Look at the review again"))
        self._again.setToolTip(self.tr("Read the release folder and its review again"))
        self._again.clicked.connect(self._on_again)
        self.bar.add(self._again)
        self._people = QPushButton(self.tr("People and &keys…"))
        self._people.setAccessibleName(self.tr("People and keys…"))
        tip = self.tr("Your own keys, and whose signatures count (Ctrl+Shift+K)")
        self._people.setToolTip(tip)
        self._people.clicked.connect(self.peopleAsked)
        self.bar.add(self._people)
        self._add_links()
        layout.addWidget(self.bar)
        self._cards = (
            *(self.faults, self.votes, self.notes, self.others, self.mode),
            self.events,
        )
        for card in self._cards:
            card.hide()
            layout.addWidget(card)
        layout.addStretch(1)

    def _add_links(self) -> None:
        self._take = QPushButton(self.tr("Take up the &protocol…"))
        self._take.setAccessibleName(self.tr("Take up the protocol"))
        self._take.setToolTip(self.tr("Choose the file that the maker of the protocol gave you"))
        self._take.clicked.connect(self.protocolAsked)
        self._take.hide()
        self.bar.add(self._take)
        self.links: dict[Relation, QPushButton] = {}
        for relation in Relation:
            words = relation_words(relation)
            button = QPushButton(words)
            button.setAccessibleName(words)
            button.setProperty("relation", relation.value)
            button.clicked.connect(self._on_link)
            button.hide()
            self.bar.add(button)
            self.links[relation] = button

    def show_review(self, looker: CheckedReview, *, internal: bool) -> None:
        """What has been seen; ``internal`` says whether both parts of the release are here."""
        self._again.setEnabled(internal and not looker.busy)
        if looker.busy and self.job_line.job != looker.job:
            self.job_line.follow(looker.job, self.tr("Looking at the review"))
        if not internal:
            text = self.tr(
                "The internal part is not here, and the review lies in it: open the whole folder."
            )
            self.band.show_message("info", text, dismissible=False)
        elif looker.picture is None:
            text = self.tr("The review has not been looked at yet.")
            self.band.show_message("info", text, dismissible=False)
        self._show_lines(looker)
        if looker.problem is not None:
            self.band.show_error(looker.problem)

    def lead_to_people(self, leads: bool) -> None:
        """Without a key of one's own, that is where to go on."""
        set_look(self._people, "primary" if leads else "")

    def note_place(self, code: str, place: Path) -> None:
        """Where the release with this manifest (SHA-256) lies, as a person has just said."""
        self._noted[code] = place

    def _show_lines(self, looker: CheckedReview) -> None:
        if looker.picture is None:
            for card in self._cards:
                card.show_lines(())
            for button in (self._take, *self.links.values()):
                button.hide()
            return
        found = standing_of(looker.picture)
        self.band.show_message(found.kind, found.sentence, dismissible=False)
        self.faults.show_lines(found.faults)
        self.votes.show_lines(found.votes)
        self.notes.show_lines(found.notes)
        self.events.show_lines(found.events)
        self.mode.show_lines(mode_lines(looker.picture))
        self._take.setVisible(lacks_protocol(looker.picture))
        self._show_others(looker.picture, {**self._noted, **looker.places})

    def _show_others(self, picture: ReviewPicture, places: Mapping[str, Path]) -> None:
        others = related(picture.state)
        self.others.show_lines([related_words(one, places.get(one.code)) for one in others])
        self._places = {one.relation: places.get(one.code) for one in others}
        for relation, button in self.links.items():
            place = self._places.get(relation)
            button.setVisible(place is not None)
            button.setToolTip(str(place or ""))

    @Slot()
    def _on_link(self) -> None:
        sender = self.sender()
        place = None if sender is None else self._places.get(Relation(sender.property("relation")))
        if place is not None:
            self.openAsked.emit(place)

    @Slot()
    def _on_again(self) -> None:
        self.lookAsked.emit()
