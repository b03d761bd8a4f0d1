"""Review and sign-off: where the review stands, what is to be decided, and who may sign what."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from dpdesk.app.review.values import (
    Card,
    EventType,
    Signed,
    fingerprint_text,
)
from dpdesk.ui.files import FileAsker
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed
from dpdesk.ui.panels.review.actions import ORDER, Doable, action_words, doable, meaning
from dpdesk.ui.panels.review.decide_page import DecidePage
from dpdesk.ui.panels.review.deciding import Choice, Draft
from dpdesk.ui.panels.review.drafts import Drafts
from dpdesk.ui.panels.review.lines_card import LinesCard
from dpdesk.ui.panels.review.looker import Looker
from dpdesk.ui.panels.review.scrolling import Page
from dpdesk.ui.panels.review.sign_dialog import SignDialog
from dpdesk.ui.panels.review.sign_tasks import Ask, Sign
from dpdesk.ui.panels.review.standing_page import StandingPage
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.pages import PageStack
from dpdesk.ui.workbench import Workbench

STANDING, DECIDE = "standing", "decide"


class SignPage(Page):
    """``signed(kind, sentence)`` tells what was signed, as a message of the window."""

    signed = Signal(str, str)

    def __init__(
        self,
        bench: Workbench,
        theme: ThemeManager,
        asker: FileAsker,
        looker: Looker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._bench, self._theme, self._asker, self._looker = bench, theme, asker, looker
        self.drafts = Drafts(bench, looker, self)
        self._cards: tuple[Card, ...] = ()
        self.dialog: SignDialog | None = None
        layout = column(self, gap=SPACE.m)
        self.standing = StandingPage(theme, bench.hub)
        self.decide = DecidePage(theme)
        self.decide.decided.connect(self._on_decided)
        layout.addWidget(self._build_bar())
        self.strip = ChoiceStrip(self.tr("Where the review stands, or what to decide"))
        self.strip.set_choices(
            ((STANDING, self.tr("Where it stands")), (DECIDE, self.tr("Decide")))
        )
        self.strip.chosen.connect(self._on_page)
        layout.addWidget(self.strip)
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
        self.strip.setVisible(draft is not None)
        if draft is None:
            self.strip.choose(STANDING)
            self._on_page(STANDING)
        else:
            self.decide.show_draft(draft, self.drafts.problem)
        self._show_actions()

    def ask(self, action: EventType) -> None:
        """Open the dialog in which this is signed."""
        card = self.card
        if card is None or not self.buttons[action].isEnabled():
            return
        draft = self.draft if action is EventType.BALLOT else None
        self.dialog = SignDialog(action, card, draft, self._theme, self._asker, self)
        self.dialog.signAsked.connect(self._on_sign)
        self.dialog.finished.connect(self._on_closed)
        self.dialog.open()

    # -- building

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        self._who = QLabel(self.tr("Signing as"))
        self.keys = NarrowCombo(least_letters=24)
        self.keys.setAccessibleName(self.tr("Signing as"))
        self.keys.set_help(self.tr("The key of this computer that signs"))
        self._who.setBuddy(self.keys)
        self.keys.activated.connect(self.show_all)
        bar.add(self._who)
        bar.add(self.keys)
        self.buttons: dict[EventType, QPushButton] = {}
        for action in ORDER:
            words = action_words(action)
            button = QPushButton(f"{words}…")
            button.setAccessibleName(words)
            button.setProperty("action", action.value)
            button.clicked.connect(self._on_button)
            bar.add(button)
            self.buttons[action] = button
        return bar

    def _show_keys(self) -> None:
        cards = self._looker.cards
        if cards == self._cards:
            return
        chosen = self.card
        self._cards = cards
        self.keys.clear()
        for one in cards:
            self.keys.addItem(f"{one.person} ({fingerprint_text(one.fingerprint, 8)})")
        if chosen in cards:
            self.keys.setCurrentIndex(cards.index(chosen))
        for widget in (self._who, self.keys):
            widget.setVisible(bool(cards))

    def _show_actions(self) -> None:
        picture = self._looker.picture
        if picture is None:
            found = Doable(dict.fromkeys(ORDER, self.tr("The review has not been read.")), None)
        else:
            found = doable(picture, self.card, self.draft)
        for action, button in self.buttons.items():
            reason = found.reasons[action]
            button.setEnabled(not reason and not self._looker.busy)
            button.setToolTip(reason or meaning(action))
            button.setAccessibleDescription(reason or meaning(action))
            set_look(button, "primary" if action is found.primary else "")
        self.reasons.show_lines(found.lines() if picture is not None else ())

    # -- reactions

    @Slot(str)
    def _on_page(self, page: str) -> None:
        self._pages.setCurrentWidget(self.decide if page == DECIDE else self.standing)
        self.reasons.setVisible(page != DECIDE and bool(self.reasons.text))

    @Slot(str, object)
    def _on_decided(self, key: str, choice: Choice) -> None:
        draft = self.draft
        if draft is not None and draft.choices[key] != choice:
            self.decide.show_draft(self.drafts.decide(draft, key, choice), self.drafts.problem)
            self._show_actions()
            self._on_page(self.strip.current)

    @Slot()
    def _on_button(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.ask(EventType(str(sender.property("action"))))

    @Slot(object, str)
    def _on_sign(self, ask: Ask, passphrase: str) -> None:
        bench, card = self._bench, self.card
        if bench.release_path is None or card is None:
            return
        bench.hub.mutate(
            self.tr("Signing: {what}").format(what=action_words(ask.action)),
            Sign(bench.context, bench.release_path, card.fingerprint, passphrase, ask),
            done=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )

    def _on_done(self, outcome: JobDone) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        found = outcome.value
        if isinstance(found, Signed):
            if found.event.type is EventType.BALLOT and found.event.submission:
                self.drafts.signed(found.event.submission, found.event.signer.fingerprint)
            left = " ".join(f"{one.reason}." for one in found.left_out)
            text = self.tr("Signed: {words}.").format(words=found.event.words)
            if left:
                text += " " + self.tr("Left out: {left}").format(left=left)
            self.signed.emit("ok", text)
        self._looker.look()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._tell_failure(f"{outcome.sentence} {outcome.hint}".strip())

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._tell_failure(self.tr("It was stopped; nothing was signed."))

    def _tell_failure(self, sentence: str) -> None:
        if self.dialog is not None:
            self.dialog.failed(sentence)
        else:  # the dialog was left while the key was being unlocked
            self.signed.emit("fail", sentence)

    @Slot()
    def _on_closed(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()
