"""Whose signatures count on this computer: add cards, revoke keys, pass the list on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QFrame, QLineEdit, QRadioButton, QWidget

from dpdesk.app.review.values import (
    SHORTEST_PASSPHRASE,
    Card,
    RevokedAs,
    StoredKey,
    TrustEntry,
    TrustList,
    fingerprint_text,
    fold_person,
)
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import Lines, Problem, button, labelled, note, secret_field
from dpdesk.ui.words.spoken import moment_words

translate = QCoreApplication.translate
WHOLE = 64
_LONGEST = 24


def key_row(key: StoredKey) -> tuple[str, str, str]:
    """A line of the own keys: person, first digits of the fingerprint, day; or what is wrong."""
    if key.card is None:
        name = key.path.name
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        return (translate("People", "✕ damaged"), short, key.problem)
    return (key.card.person, fingerprint_text(key.card.fingerprint), day(key.card.created))


def trust_row(entry: TrustEntry) -> tuple[str, str, str, str]:
    """A line of the trusted keys: person, first digits, day, and whether it still counts."""
    state = translate("People", "✓ trusted")
    if entry.revoked is not None:
        kinds = {
            RevokedAs.RETIRED: translate("People", "– retired {day}: {reason}"),
            RevokedAs.COMPROMISED: translate("People", "✕ compromised {day}: {reason}"),
        }
        text = kinds[entry.revoked.kind]
        state = text.format(day=day(entry.revoked.time), reason=entry.revoked.reason)
    return (entry.person, fingerprint_text(entry.fingerprint), day(entry.added), state)


def fingerprint_words(card: Card | TrustEntry) -> str:
    """A fingerprint as a whole, in groups of four."""
    text = translate("People", "Fingerprint of {person}'s key: {digits}")
    return text.format(person=card.person, digits=fingerprint_text(card.fingerprint, WHOLE))


def other_keys_words(card: Card, entries: Sequence[TrustEntry]) -> str:
    """That a person has keys already; empty when there are none besides this one."""
    others = [
        entry
        for entry in entries
        if fold_person(entry.person) == fold_person(card.person)
        and entry.fingerprint != card.fingerprint
    ]
    if not others:
        return ""
    text = translate(
        "People",
        "△ {person} has a key in this list already ({digits}). All keys of one name are one "
        "person: anyone who submits with one cannot review with another. Revoke those that are "
        "out of use; if this is someone else, they need another name.",
    )
    digits = ", ".join(fingerprint_text(entry.fingerprint) for entry in others)
    return text.format(person=card.person, digits=digits)


def spelling_words(trust: TrustList | None) -> list[str]:
    """A sentence for each pair of names that count as one person."""
    text = translate(
        "People",
        "△ {one} and {other} count as one person, because their names differ only in "
        "dots, spaces or accents. If they are two persons, one of them needs a card "
        "with another name.",
    )
    pairs = () if trust is None else trust.spellings()
    return [text.format(one=one, other=other) for one, other in pairs]


def rule_words() -> str:
    """What a passphrase has to be."""
    text = translate(
        "People",
        "At least {n} characters; four or five words that have nothing to do with each other are "
        "best. No one can open the key without it, and no one can recover it.",
    )
    return text.format(n=SHORTEST_PASSPHRASE)


def new_key_problem(person: str, first: str, again: str) -> str:
    """Why a form for a new key is not complete; empty when it is."""
    if not person.strip():
        return translate("People", "Give the first and last name of the key's holder.")
    return passphrase_problem(first, again)


def passphrase_problem(first: str, again: str) -> str:
    """Why a new passphrase cannot be taken; empty when it can."""
    if len(first) < SHORTEST_PASSPHRASE:
        text = translate("People", "The passphrase has {n} characters, expected at least {least}.")
        return text.format(n=len(first), least=SHORTEST_PASSPHRASE)
    if first != again:
        return translate("People", "The two passphrases differ: enter the same one twice.")
    return ""


def digits_problem(given: str) -> str:
    """Why digits of a fingerprint cannot be compared; empty when they can, or none are given."""
    digits = "".join(given.split()).lower()
    if not digits:
        return ""
    if not all(char in "0123456789abcdef" for char in digits):
        return translate("People", "A fingerprint contains only the digits 0 to 9 and a to f.")
    if len(digits) < 20:
        text = translate("People", "{n} digits are given, expected at least 20.")
        return text.format(n=len(digits))
    return ""


def day(moment: datetime) -> str:
    """The day of a moment, in UTC."""
    return moment_words(moment, day=True)


ADD, REVOKE, IMPORT, EXPORT = "add", "revoke", "import", "export"


class TrustPage(QWidget):
    """``asked(str)`` with ADD, IMPORT or EXPORT; ``trustAsked(path, digits)``;
    ``revokeAsked(fingerprint, reason, retired)``.
    """

    asked = Signal(str)
    trustAsked = Signal(object, str)
    revokeAsked = Signal(str, str, bool)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._entries: tuple[TrustEntry, ...] = ()
        self._path: Path | None = None
        self._unread = ""
        layout = column(self, gap=SPACE.m)
        tip = self.tr("Arrow keys choose a key; its whole fingerprint is shown below")
        self.grid = Lines(theme, self.tr("Trusted keys"), tip)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.grid)
        self._whole = note()
        layout.addWidget(self._whole)
        self.spellings = note("", "caution")
        layout.addWidget(self.spellings)
        layout.addWidget(self._build_bar())
        self.problem = Problem()
        layout.addWidget(self.problem)
        self.card_form, self.revoke_form = self._build_card(), self._build_revoke()
        for form in (self.card_form, self.revoke_form):
            form.hide()
            layout.addWidget(form)
        layout.addStretch(1)

    def show_trust(self, trust: TrustList | None, problem: str = "") -> None:
        """List these keys; None: the list cannot be read, which ``problem`` says."""
        self._entries = () if trust is None else trust.entries
        self._unread = problem
        self._buttons[ADD].setEnabled(trust is not None)
        set_look(self._buttons[ADD], "" if trust is None else "primary")
        set_look(self._buttons[IMPORT], "primary" if trust is None else "")
        self.problem.say(problem)
        heads = (
            self.tr("Person"),
            self.tr("Fingerprint, first digits"),
            self.tr("Added"),
            self.tr("Counts"),
        )
        self.spellings.setText("\n".join(spelling_words(trust)))
        self.spellings.setVisible(bool(self.spellings.text()))
        self.grid.lines.set_table(heads, [trust_row(one) for one in self._entries])
        if self._entries and self.grid.chosen < 0:
            self.grid.selectRow(0)
        self._on_chosen()

    def show_card(self, path: Path, card: Card) -> None:
        """Ask whether the key of this card shall be trusted."""
        self._path = path
        self.problem.say("")
        self._card_text.setText(fingerprint_words(card))
        self.other_keys.setText(other_keys_words(card, self._entries))
        self.other_keys.setVisible(bool(self.other_keys.text()))
        self.digits.clear()
        self._open(self.card_form)
        self.digits.setFocus()

    def close_forms(self) -> None:
        """Nothing is asked any more."""
        self.problem.say(self._unread)
        self._open(None)

    def _open(self, form: QFrame | None) -> None:
        for one in (self.card_form, self.revoke_form):
            one.setVisible(one is form)
        asks = form is not None or bool(self._unread)
        set_look(self._buttons[ADD], "" if asks else "primary")

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        texts = {
            ADD: (self.tr("&Add a card…"), self.tr("Trust the key of someone's card")),
            REVOKE: (self.tr("&Revoke…"), self.tr("Stop accepting the chosen key")),
            IMPORT: (
                self.tr("&Import a list…"),
                self.tr("Merge the agency's list with the one on this computer"),
            ),
            EXPORT: (self.tr("E&xport the list…"), self.tr("Write this list for other computers")),
        }
        self._buttons = {key: button(text, tip) for key, (text, tip) in texts.items()}
        set_look(self._buttons[ADD], "primary")
        for key, one in self._buttons.items():
            one.setProperty("does", key)
            one.clicked.connect(self._on_button)
            bar.add(one)
        return bar

    def _build_card(self) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.l, gap=SPACE.s)
        self._card_text = note("", "strong")
        layout.addWidget(self._card_text)
        self.other_keys = note("", "caution")
        layout.addWidget(self.other_keys)
        text = self.tr(
            "Call the holder at a number that you know, and have the digits read to you: a "
            "card that came by post or e-mail may be someone else's."
        )
        layout.addWidget(note(text))
        self.digits = QLineEdit()
        words = self.tr("&Digits that the holder read out (20 or more; optional)")
        labelled(layout, words, self.digits, self.tr("They are compared with those of the card"))
        self.card_problem = Problem()
        layout.addWidget(self.card_problem)
        bar = FlowBox(gap=SPACE.s)
        tip = self.tr("Signatures by this key count on this computer from now on")
        trust = button(self.tr("&Trust this key"), tip, "primary")
        trust.clicked.connect(self._on_trust)
        self.digits.returnPressed.connect(self._on_trust)
        bar.add(trust)
        bar.add(self._leave_button())
        layout.addWidget(bar)
        return frame

    def _build_revoke(self) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.l, gap=SPACE.s)
        self._revoke_text = note("", "strong")
        layout.addWidget(self._revoke_text)
        self._kinds = QButtonGroup(frame)
        self.retired = QRadioButton(self.tr("R&etired: what it signed before stays valid"))
        self.stolen = QRadioButton(self.tr("C&ompromised: others may have it"))
        for kind in (self.retired, self.stolen):
            kind.setAccessibleName(kind.text().replace("&", ""))
            kind.setToolTip(kind.text().replace("&", ""))
            self._kinds.addButton(kind)
            layout.addWidget(kind)
        self.reason = QLineEdit()
        labelled(layout, self.tr("Reaso&n"), self.reason, self.tr("It is shown in the list"))
        self.revoke_problem = Problem()
        layout.addWidget(self.revoke_problem)
        bar = FlowBox(gap=SPACE.s)
        tip = self.tr("This cannot be undone; the holder can make another key")
        revoke = button(self.tr("Revo&ke this key"), tip, "primary")
        revoke.clicked.connect(self._on_revoke)
        bar.add(revoke)
        bar.add(self._leave_button())
        layout.addWidget(bar)
        return frame

    def _leave_button(self) -> QWidget:
        leave = button(self.tr("Leave it"), self.tr("Change nothing"))
        leave.clicked.connect(self.close_forms)
        return leave

    def _chosen(self) -> TrustEntry | None:
        place = self.grid.chosen
        return self._entries[place] if 0 <= place < len(self._entries) else None

    @Slot()
    def _on_chosen(self) -> None:
        entry = self._chosen()
        self.revoke_form.hide()
        self._buttons[REVOKE].setEnabled(entry is not None)
        self._buttons[EXPORT].setEnabled(bool(self._entries))
        empty = self.tr("This computer trusts no keys yet: add cards, or import the agency's list.")
        if self._unread:
            empty = self.tr("No signature counts until the list can be read.")
        self._whole.setText(empty if entry is None else fingerprint_words(entry))

    @Slot()
    def _on_button(self) -> None:
        sender = self.sender()
        wish = "" if sender is None else str(sender.property("does"))
        if wish != REVOKE:
            self.asked.emit(wish)
            return
        entry = self._chosen()
        if entry is not None:
            self._revoke_text.setText(fingerprint_words(entry))
            self._kinds.setExclusive(False)
            for kind in (self.retired, self.stolen):
                kind.setChecked(False)
            self._kinds.setExclusive(True)
            self.reason.clear()
            self.revoke_problem.say("")
            self._open(self.revoke_form)
            self.retired.setFocus()

    @Slot()
    def _on_trust(self) -> None:
        wrong = digits_problem(self.digits.text())
        self.card_problem.say(wrong)
        if not wrong and self._path is not None:
            self.trustAsked.emit(self._path, self.digits.text().strip())

    @Slot()
    def _on_revoke(self) -> None:
        entry = self._chosen()
        wrong = ""
        if not (self.retired.isChecked() or self.stolen.isChecked()):
            wrong = self.tr("Choose whether the key is retired or compromised.")
        elif not self.reason.text().strip():
            wrong = self.tr("Give a reason: everyone can read it in the list.")
        self.revoke_problem.say(wrong)
        if not wrong and entry is not None:
            retired = self.retired.isChecked()
            self.revokeAsked.emit(entry.fingerprint, self.reason.text().strip(), retired)


class PassphraseForm(QFrame):
    """``asked(old, new)`` when the form is complete, ``left()`` when nothing is to change."""

    asked = Signal(str, str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self._title = note("", "section")
        layout.addWidget(self._title)
        self.old, self.first, self.again = secret_field(), secret_field(), secret_field()
        tip = self.tr("The passphrase that the key has now")
        labelled(layout, self.tr("Cu&rrent passphrase"), self.old, tip)
        labelled(layout, self.tr("Ne&w passphrase"), self.first, rule_words())
        tip = self.tr("The same new passphrase again")
        labelled(layout, self.tr("New passphrase a&gain"), self.again, tip)
        layout.addWidget(note(rule_words()))
        self.problem = Problem()
        layout.addWidget(self.problem)
        bar = FlowBox(gap=SPACE.s)
        tip = self.tr("The old passphrase no longer opens the key")
        self.change = button(self.tr("Change the &passphrase"), tip, "primary")
        self.change.clicked.connect(self._on_change)
        self.again.returnPressed.connect(self._on_change)
        leave = button(self.tr("&Leave it"), self.tr("Change nothing"))
        leave.clicked.connect(self.left)
        bar.add(self.change)
        bar.add(leave)
        layout.addWidget(bar)
        self.hide()

    def open_for(self, person: str) -> None:
        """Ask about the key of a person."""
        text = self.tr("Change the passphrase of {person}\u2019s key")
        self._title.setText(text.format(person=person))
        self.say("")
        self.show()
        self.old.setFocus()

    def close_form(self) -> None:
        """Ask no more, and forget what was written."""
        for field in (self.old, self.first, self.again):
            field.clear()
        self.say("")
        self.hide()

    def say(self, problem: str) -> None:
        """What is wrong; the form can be sent again."""
        self.problem.say(problem)
        self.change.setEnabled(True)

    def refuse_old(self, problem: str) -> None:
        """The present passphrase is not the right one: that field is asked for again."""
        self.say(problem)
        self.old.clear()
        self.old.setFocus()

    @Slot()
    def _on_change(self) -> None:
        wrong = passphrase_problem(self.first.text(), self.again.text())
        if not self.old.text():
            wrong = self.tr("Enter the current passphrase of the key.")
        self.say(wrong)
        if not wrong:
            self.change.setEnabled(False)
            self.asked.emit(self.old.text(), self.first.text())


class KeysPage(QWidget):
    """``makeAsked(person, passphrase)``, ``cardAsked(fingerprint, person)``,
    ``changeAsked(fingerprint, old passphrase, new passphrase)``.
    """

    makeAsked = Signal(str, str)
    cardAsked = Signal(str, str)
    changeAsked = Signal(str, str, str)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._keys: tuple[StoredKey, ...] = ()
        layout = column(self, gap=SPACE.m)
        tip = self.tr("Arrow keys choose a key; its whole fingerprint is shown below")
        self.grid = Lines(theme, self.tr("Keys on this computer"), tip)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.grid)
        self._whole = note()
        layout.addWidget(self._whole)
        tip = self.tr("Write the public part of the chosen key to a file that others can trust")
        self.card = button(self.tr("Write the &card…"), tip)
        self.card.clicked.connect(self._on_card)
        tip = self.tr("Lock the chosen key with another passphrase; its card stays the same")
        self.open_change = button(self.tr("C&hange the passphrase…"), tip)
        self.open_change.clicked.connect(self._on_open_change)
        bar = FlowBox(gap=SPACE.s)
        bar.add(self.card)
        bar.add(self.open_change)
        layout.addWidget(bar)
        self.change_form = PassphraseForm()
        self.change_form.asked.connect(self._on_change)
        self.change_form.left.connect(self.close_change)
        layout.addWidget(self.change_form)
        self._form = self._build_form()
        layout.addWidget(self._form)
        layout.addStretch(1)

    def show_keys(self, keys: Sequence[StoredKey]) -> None:
        """List these keys; the chosen one stays chosen, or the first one is."""
        before = self._chosen()
        self._keys = tuple(keys)
        paths = [key.path for key in keys]
        place = paths.index(before.path) if before is not None and before.path in paths else 0
        heads = (self.tr("Person"), self.tr("Fingerprint, first digits"), self.tr("Made"))
        self.grid.lines.set_table(heads, [key_row(key) for key in keys])
        if keys:
            self.grid.selectRow(place)
        self._on_chosen()

    @Slot()
    def close_change(self) -> None:
        """Nothing is asked about a passphrase any more."""
        self.change_form.close_form()
        self._form.show()

    def clear_form(self) -> None:
        """Forget what was written into the form."""
        self.person.clear()
        self.forget()
        self.problem.say("")

    def forget(self) -> None:
        """Forget the passphrases."""
        self.first.clear()
        self.again.clear()

    def _build_form(self) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.l, gap=SPACE.s)
        layout.addWidget(note(self.tr("Make a key"), "section"))
        self.person, self.first, self.again = QLineEdit(), secret_field(), secret_field()
        tip = self.tr("First and last name, as others know the holder")
        labelled(layout, self.tr("&Name of the holder"), self.person, tip)
        labelled(layout, self.tr("&Passphrase"), self.first, rule_words())
        labelled(
            layout, self.tr("Passphrase a&gain"), self.again, self.tr("The same passphrase again")
        )
        layout.addWidget(note(rule_words()))
        self.problem = Problem()
        layout.addWidget(self.problem)
        self.make = button(
            self.tr("&Make the key"), self.tr("Make a signing key on this computer"), "primary"
        )
        self.make.clicked.connect(self._on_make)
        self.again.returnPressed.connect(self._on_make)
        layout.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)
        return frame

    @Slot()
    def _on_make(self) -> None:
        person, first = self.person.text(), self.first.text()
        wrong = new_key_problem(person, first, self.again.text())
        self.problem.say(wrong)
        if not wrong:
            self.forget()
            self.makeAsked.emit(person, first)

    @Slot()
    def _on_chosen(self) -> None:
        key = self._chosen()
        card = None if key is None else key.card
        self.close_change()
        self.card.setEnabled(card is not None)
        self.open_change.setEnabled(card is not None)
        set_look(self._whole, "note" if key is None or card is not None else "fail")
        if card is not None:
            self._whole.setText(fingerprint_words(card))
        elif key is not None:
            self._whole.setText(key.problem)
        else:
            self._whole.setText(self.tr("There is no key on this computer yet."))

    def _chosen(self) -> StoredKey | None:
        place = self.grid.chosen
        return self._keys[place] if 0 <= place < len(self._keys) else None

    @Slot()
    def _on_card(self) -> None:
        key = self._chosen()
        if key is not None and key.card is not None:
            self.cardAsked.emit(key.card.fingerprint, key.card.person)

    @Slot()
    def _on_open_change(self) -> None:
        key = self._chosen()
        if key is not None and key.card is not None:
            self._form.hide()
            self.change_form.open_for(key.card.person)

    @Slot(str, str)
    def _on_change(self, old: str, new: str) -> None:
        key = self._chosen()
        if key is not None and key.card is not None:
            self.changeAsked.emit(key.card.fingerprint, old, new)
