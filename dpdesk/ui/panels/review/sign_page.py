"""Review and sign-off: where the review stands, what is to be decided, and who may sign what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from dpdesk.app.review.review_picture import look_at_file, pictures_of
from dpdesk.app.review.values import (
    Card,
    EventType,
    ReviewPicture,
    ReviewState,
    Signed,
    Submission,
    Supersede,
    fingerprint_text,
)
from dpdesk.ui.files import FileAsker
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.jobs.hub import token_only
from dpdesk.ui.panels.review.decide_page import DecidePage
from dpdesk.ui.panels.review.deciding import Choice, Draft
from dpdesk.ui.panels.review.presenter import (
    lacks_protocol,
    mode_lines,
)
from dpdesk.ui.panels.review.questions import checklist_rows, checklist_verdict
from dpdesk.ui.panels.review.release_page import Questions
from dpdesk.ui.panels.review.review_status import (
    ORDER,
    STEPS,
    Action,
    CheckedReview,
    Doable,
    Drafts,
    action_words,
    doable,
    event_line,
    meaning,
    standing_of,
)
from dpdesk.ui.panels.review.scrolling import LinesCard, Page
from dpdesk.ui.panels.review.sign_dialog import (
    READ_ONLY,
    SITTING_MINUTES,
    Ask,
    Locked,
    SignDialog,
    SigningContext,
    sign,
    take_protocol,
)
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import FlowBox, PageStack
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import Workbench

translate = QCoreApplication.translate
_FILE = "review.file"
LEAST_HEIGHT = 220
"""Pixels that the checklist keeps below what is signed."""


class Relation(StrEnum):
    """How another release stands to this one."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True)
class RelatedRelease:
    """Another release; ``code`` is the SHA-256 of its manifest."""

    relation: Relation
    code: str


def related(state: ReviewState) -> tuple[RelatedRelease, ...]:
    """The releases that the current round names."""
    current = state.current
    if current is None:
        return ()
    found = []
    if current.superseded_by is not None:
        payload = current.superseded_by.payload
        if isinstance(payload, Supersede):
            found.append(RelatedRelease(Relation.AFTER, payload.replacement))
    if current.payload.supersedes:
        found.append(RelatedRelease(Relation.BEFORE, current.payload.supersedes))
    return tuple(found)


def relation_words(relation: Relation) -> str:
    """What the button says that opens it."""
    if relation is Relation.AFTER:
        return translate("Review", "Open the release that replaces it")
    return translate("Review", "Open the release that it replaces")


def related_words(other: RelatedRelease, place: Path | None) -> str:
    """Which release it is, and where it lies."""
    texts = {
        Relation.AFTER: translate("Review", "It is replaced by {where} (manifest {code}…)."),
        Relation.BEFORE: translate("Review", "It is to replace {where} (manifest {code}…)."),
    }
    unknown = translate("Review", "a release that is not next to this folder")
    where = unknown if place is None else str(place)
    return texts[other.relation].format(where=where, code=other.code[:16])


class StatusPage(QWidget):
    """Where the review stands; signals are wishes.

    ``lookAsked()`` that the folder is read again, ``peopleAsked()`` people and keys,
    ``openAsked(Path)`` another release, ``protocolAsked()`` the file of a protocol.
    """

    lookAsked = Signal()
    peopleAsked = Signal()
    openAsked = Signal(object)
    protocolAsked = Signal()

    def __init__(self, theme: ThemeManager, hub: JobHub) -> None:
        super().__init__()
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
        self.bar = FlowBox(gap=SPACE.s)
        self._again = QPushButton(self.tr("Look a&gain"))
        self._again.setAccessibleName(self.tr("Look at the review again"))
        self._again.setToolTip(self.tr("Read the release folder and its review again"))
        self._again.clicked.connect(self.lookAsked)
        self.bar.add(self._again)
        self._people = QPushButton(self.tr("People and &keys…"))
        self._people.setAccessibleName(self.tr("People and keys…"))
        tip = self.tr("Your own keys, and whose signatures count (Ctrl+Shift+K)")
        self._people.setToolTip(tip)
        self._people.clicked.connect(self.peopleAsked)
        self.bar.add(self._people)
        self._add_links()
        for widget in (self.band, self.job_line):
            layout.addWidget(widget)
        self._cards = (
            *(self.faults, self.votes, self.notes, self.others, self.mode),
            self.events,
        )
        for card in self._cards:
            card.hide()
            layout.addWidget(card)
        self.questions = Questions(theme, "review-standing")
        self.questions.setMinimumHeight(LEAST_HEIGHT)
        layout.addWidget(self.questions, 1)

    def _add_links(self) -> None:
        self._take = QPushButton(self.tr("Take up the &protocol…"))
        self._take.setAccessibleName(self.tr("Take up the protocol"))
        self._take.setToolTip(
            self.tr("Choose the file that you got from the person who locked the protocol")
        )
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
            self.job_line.follow(looker.job, self.tr("Reading the review"))
        if not internal:
            text = self.tr(
                "The review is in the internal part, which is not here: open the whole folder."
            )
            self.band.show_message("info", text, dismissible=False)
        elif looker.picture is None:
            text = self.tr("The review has not been read yet.")
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
            self.questions.show_waiting("")
            return
        found = standing_of(looker.picture)
        self.band.show_message(found.kind, found.sentence, dismissible=False)
        self.faults.show_lines(found.faults)
        self.votes.show_lines(found.votes)
        self.notes.show_lines(found.notes)
        self.events.show_lines(found.events)
        self.mode.show_lines(mode_lines(looker.picture))
        picture = looker.picture
        approved = picture.state.approved
        rows = checklist_rows(picture.checked.checklist, approved=approved)
        self.questions.show_rows(rows, checklist_verdict(rows, approved=approved))
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


STANDING, DECIDE = "standing", "decide"


class SignPage(Page):
    """``signed(kind, sentence)`` tells what was signed, as a message of the window (empty: the one
    before has been read).
    """

    signed = Signal(str, str)

    def __init__(
        self, bench: Workbench, theme: ThemeManager, asker: FileAsker, looker: CheckedReview
    ) -> None:
        super().__init__()
        self._bench, self._theme, self._asker, self._looker = bench, theme, asker, looker
        self.drafts = Drafts(bench, looker, self)
        self._cards: tuple[Card, ...] = ()
        self.dialog: SignDialog | None = None
        self._asked: Ask | None = None
        self._kept: dict[str, str] = {}
        self._sitting = QTimer(self)
        self._sitting.setSingleShot(True)
        self._sitting.timeout.connect(self.forget_passphrase)
        layout = column(self, gap=SPACE.m)
        self.standing = StatusPage(theme, bench.hub)
        self.standing.openAsked.connect(bench.open_path)
        self.standing.protocolAsked.connect(self._on_protocol)
        self.decide = DecidePage(theme, bench.hub)
        self.decide.decided.connect(self._on_decided)
        self.decide.shown.connect(self._on_shown)
        self._bar = self._build_bar()
        layout.addWidget(self._bar)
        self.strip = ChoiceStrip(self.tr("Status of the review, or what to decide"))
        self.strip.set_choices(((STANDING, self.tr("Where it is")), (DECIDE, self.tr("Decide"))))
        self.strip.chosen.connect(self._on_page)
        self.strip.hide()
        self._pages = PageStack()
        for page in (self.standing, self.decide):
            self._pages.addWidget(page)
        layout.addWidget(self._pages, 1)
        self.reasons = LinesCard(self.tr("What you cannot do now, and why"), "–")
        layout.addWidget(self.reasons)
        looker.changed.connect(self.show_all)
        self.drafts.problemChanged.connect(self.show_all)
        self.show_all()

    @property
    def card(self) -> Card | None:
        """Whose key signs; None when there is none on this computer."""
        place = self.keys.currentIndex()
        return self._cards[place] if 0 <= place < len(self._cards) else None

    @property
    def draft(self) -> Draft | None:
        """What the holder of the key has decided so far; None when there is nothing to decide."""
        return self.drafts.of(self.card)

    @Slot()
    def show_all(self) -> None:
        """Bring everything up to date with what was seen."""
        self._show_keys()
        draft = self.draft
        self.show_strip()
        if draft is None:
            self.strip.choose(STANDING)
            self._on_page(STANDING)
        else:
            self.decide.show_draft(draft, self.drafts.problem)
        self._show_actions()

    @property
    def sitting(self) -> bool:
        """Whether a passphrase is kept in memory now, until the time is over."""
        return bool(self._kept) and self._sitting.isActive()

    @Slot()
    def forget_passphrase(self) -> None:
        """The sitting is over: the next signature asks for the passphrase."""
        self._kept = {}
        self._sitting.stop()

    def show_strip(self) -> None:
        """Offer the two pages where there are two; the panel has the place for the strip."""
        panel = self.strip.parentWidget()
        front = panel is not None and panel.isAncestorOf(self) and self.isVisibleTo(panel)
        self.strip.setVisible(front and self.draft is not None)

    def ask(self, action: Action) -> None:
        """Open the dialog in which this is signed."""
        card, folder = self.card, self._bench.release_path
        if card is None or folder is None or not self.buttons[action].isEnabled():
            return
        bench, beside = self._bench, self._looker.beside
        desk = SigningContext(bench.context, bench.hub, self._asker, folder, beside)
        draft = self.draft if action is EventType.BALLOT else None
        kept = card.fingerprint in self._kept
        self.dialog = SignDialog(action, card, draft, self._theme, desk, self, kept=kept)
        self.dialog.signAsked.connect(self._on_sign)
        self.dialog.finished.connect(self._on_closed)
        self.dialog.open()

    # -- building

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        self._who = QLabel(self.tr("Signing as"))
        self.keys = NarrowCombo(least_letters=18)
        self.keys.setAccessibleName(self.tr("Signing as"))
        self.keys.set_help(self.tr("The key on this computer to sign with"))
        self._who.setBuddy(self.keys)
        self.keys.activated.connect(self.show_all)
        bar.add(self._who)
        bar.add(self.keys)
        self.buttons: dict[Action, QPushButton] = {}
        for action in ORDER:
            words = action_words(action)
            button = QPushButton(f"{words}…")
            button.setAccessibleName(words)
            button.setProperty("action", action.value)
            button.clicked.connect(self._on_button)
            bar.add(button)
            self.buttons[action] = button
        bar.add(self.standing.bar)
        return bar

    def _show_keys(self) -> None:
        cards = self._looker.cards
        self._who.setText(self.tr("Signing as") if cards else self._without_key())
        self._who.setVisible(bool(self._who.text()))
        self.keys.setVisible(bool(cards))
        if cards == self._cards:
            return
        chosen = self.card
        self._cards = cards
        self.keys.clear()
        for one in cards:
            self.keys.addItem(f"{one.person} ({fingerprint_text(one.fingerprint, 8)})")
        if chosen in cards:
            self.keys.setCurrentIndex(cards.index(chosen))

    def _without_key(self) -> str:
        """What stands in the place of the keys where there are none."""
        if self._looker.picture is None:
            return ""
        return self.tr("You have no key on this computer: make one in People and keys.")

    def _show_actions(self) -> None:
        picture = self._looker.picture
        if picture is None:
            found = Doable(dict.fromkeys(ORDER, self.tr("The review has not been read.")), None)
        else:
            found = doable(picture, self.card, self.draft)
        deciding = self._pages.currentWidget() is self.decide
        self._place_ballot(deciding)
        self.standing.lead_to_people(picture is not None and self.card is None)
        draft = self.draft
        undecided = draft is not None and not draft.complete
        self.decide.show_reason("" if undecided else found.reasons[EventType.BALLOT])
        for action, button in self.buttons.items():
            reason = found.reasons[action]
            button.setEnabled(not reason and not self._looker.busy)
            always = action is EventType.BALLOT or (action in STEPS and not deciding)
            button.setVisible(always or (not reason and not (deciding and action not in STEPS)))
            button.setToolTip(reason or meaning(action))
            button.setAccessibleDescription(reason or meaning(action))
            set_look(button, "primary" if action is found.primary else "")
        self.reasons.show_lines(() if picture is None or deciding else found.lines())
        self.standing.bar.setVisible(not deciding)
        # The dialog that signs names the key; with several, which one is to be seen before.
        others = [button for button in self.buttons.values() if self._bar.isAncestorOf(button)]
        shown = any(button.isVisibleTo(self._bar) for button in others)
        self._bar.setVisible(not deciding or shown or len(self._cards) > 1)

    def _place_ballot(self, deciding: bool) -> None:
        """The vote is signed at the foot of what is decided, else among the other actions."""
        button = self.buttons[EventType.BALLOT]
        if deciding != self._bar.isAncestorOf(button):
            return
        if deciding:
            self._bar.remove(button)
            self.decide.take_button(button)
        else:
            for one in ORDER[ORDER.index(EventType.BALLOT) :]:
                self._bar.remove(self.buttons[one])
                self._bar.add(self.buttons[one])

    # -- reactions

    @Slot(str)
    def _on_page(self, page: str) -> None:
        self._pages.setCurrentWidget(self.decide if page == DECIDE else self.standing)
        self._show_actions()

    @Slot()
    def _on_protocol(self) -> None:
        """Take up the file of the protocol that the release applies."""
        title, all_files = self.tr("The file of the locked protocol"), self.tr("All files (*)")
        folder = self._bench.release_path
        start = "" if folder is None else str(folder.parent)
        path = self._asker.open_file(title, start, all_files)
        if path is not None:
            self._bench.hub.mutate(
                self.tr("Reading the protocol"),
                partial(take_protocol, self._bench.context, path),
                done=self._on_protocol_taken,
                failed=self._on_failed,
            )

    def _on_protocol_taken(self, outcome: JobDone[object]) -> None:
        self._looker.look()

    @Slot(object)
    def _on_decided(self, taken: Mapping[str, Choice]) -> None:
        draft = self.draft
        if draft is not None and any(draft.choices[key] != one for key, one in taken.items()):
            self.decide.show_draft(self.drafts.decide(draft, taken), self.drafts.problem)
            self._show_actions()
            self.signed.emit("ok", "")

    @Slot(str)
    def _on_shown(self, name: str) -> None:
        """Read the file that is to be decided, and offer what pictures there are."""
        bench, view = self._bench, self.decide.file
        folder, facts, channel = bench.release_path, bench.release, bench.hub.latest(_FILE)
        channel.cancel()
        sound = facts is not None and bench.verified is not None and bench.verified.ok
        view.show_pictures(pictures_of(facts) if facts is not None and sound else ())
        view.show_file(None)
        if folder is not None and name:
            title = self.tr("Reading {name}").format(name=name)
            work = token_only(partial(look_at_file, folder, name))
            channel.query(title, work, then=view.show_file, quiet=True)

    @Slot()
    def _on_button(self) -> None:
        sender = self.sender()
        if sender is not None:
            found = str(sender.property("action"))
            self.ask(next(one for one in ORDER if one.value == found))

    @Slot(object, str)
    def _on_sign(self, ask: Ask, passphrase: str) -> None:
        bench, card = self._bench, self.card
        if bench.release_path is None or card is None:
            return
        self._asked = ask
        keeps = self.dialog is not None and self.dialog.keep.isChecked()
        passphrase = passphrase or self._kept.get(card.fingerprint, "")
        self._kept = {card.fingerprint: passphrase} if keeps else {}
        if keeps:
            self._sitting.start(SITTING_MINUTES * 60_000)
        bench.hub.mutate(
            self.tr("Signing: {what}").format(what=action_words(ask.action)),
            partial(sign, bench.context, bench.release_path, card.fingerprint, passphrase, ask),
            done=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )

    def _on_done(self, outcome: JobDone[object]) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        found = outcome.value
        beside: tuple[Path, ...] = ()
        if isinstance(found, Signed):
            beside = self._beside(found)
            self._take(found, beside)
            self._note_places(found)
        elif isinstance(found, Locked):
            text = self.tr("The protocol {id} is locked. Anyone who applies it needs {file}.")
            self.signed.emit("ok", text.format(id=found.id[:16], file=found.path))
        self._looker.look_with(beside)

    def _beside(self, found: Signed) -> tuple[Path, ...]:
        """The file into which the review was written, when that is not the one of the folder."""
        folder = self._bench.release_path
        inside = folder is None or found.path.is_relative_to(folder)
        return () if inside else (found.path,)

    def _note_places(self, found: Signed) -> None:
        """Where the releases lie that the event names: the person has just chosen them."""
        ask, payload = self._asked, found.event.payload
        if ask is not None and isinstance(payload, Supersede) and ask.other is not None:
            self.standing.note_place(payload.replacement, ask.other)
        if ask is not None and isinstance(payload, Submission) and ask.wish.supersedes is not None:
            self.standing.note_place(payload.supersedes or "", ask.wish.supersedes)

    def _take(self, found: Signed, beside: tuple[Path, ...]) -> None:
        event = found.event
        if event.type is EventType.BALLOT and event.submission:
            self.drafts.signed(event.submission, event.signer.fingerprint)
        text = self.tr("Signed: {words}").format(words=event_line(event))
        if beside:
            more = self.tr(
                "It is only in {file}: give that file to someone who may write to the release "
                "folder and can add it with “Join copies”."
            )
            text += " " + more.format(file=found.path)
        left = " ".join(f"{said(one.reason)}." for one in found.left_out)
        if left:
            text += " " + self.tr("Left out: {left}").format(left=left)
        if found.unkept:
            text += f" {said(found.unkept)}"
        self.signed.emit("ok", text)

    def _on_failed(self, outcome: JobFailed) -> None:
        words = outcome.sentence
        if outcome.code != READ_ONLY:  # the dialog itself offers what the hint says
            words = f"{words} {outcome.hint}".strip()
        self._tell_failure(words, outcome.code)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._tell_failure(self.tr("It was stopped; nothing was signed."))

    def _tell_failure(self, sentence: str, code: str = "") -> None:
        self._kept = {}
        if self.dialog is not None:
            self.dialog.failed(sentence, code)
        else:  # the dialog was left while the key was being unlocked
            self.signed.emit("fail", sentence)

    @Slot()
    def _on_closed(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()
