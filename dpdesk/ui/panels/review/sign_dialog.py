"""The dialog in which something is signed: what it means, what goes with it, and signing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app import signing
from dpdesk.app.review import acting, protocols
from dpdesk.app.review.values import (
    ActionRequest,
    Card,
    EventType,
    Mode,
    Outcome,
    ProtocolFacts,
    Signed,
    Signer,
    Vote,
    fingerprint_text,
)
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.files import FileAsker
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.jobs.hub import alone, token_only
from dpdesk.ui.panels.review.deciding import Draft
from dpdesk.ui.panels.review.presenter import mode_words, protocol_words
from dpdesk.ui.panels.review.review_status import Action, Beside, action_words, meaning
from dpdesk.ui.panels.review.scrolling import Kind, PathField, scrolled
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.words.spoken import in_window, moment_words


@dataclass(frozen=True)
class Ask:
    """What is to be signed; ``text`` is a note or a reason.

    ``other`` is the release that replaces this one, or the file for a protocol; ``out`` the file
    into which the review is written when its folder cannot be written to.
    """

    action: Action
    text: str = ""
    vote: Vote | None = None
    wish: ActionRequest = field(default_factory=ActionRequest)
    copies: tuple[Path, ...] = ()
    other: Path | None = None
    out: Path | None = None


@dataclass(frozen=True)
class Locked:
    """A protocol that was locked: its id and its file."""

    id: str
    path: Path


def sign(
    context: AppContext,
    folder: Path,
    key: str,
    passphrase: str,
    ask: Ask,
    token: CancelToken,
    report: Report,
) -> Signed | Locked:
    """Unlock a key and sign one event in the review of a folder, or a protocol."""
    signer = signing.unlock(context, key, passphrase)
    try:
        if ask.action is not Beside.LOCK:
            return _signed(context, folder, signer, ask, token, report)
        if ask.other is None:
            raise ValueError("a protocol is written to a file")
        made = protocols.lock_protocol(context, folder, signer, ask.other, token, report)
        return Locked(made.id, ask.other)
    finally:
        signer.forget()


def _signed(
    context: AppContext,
    folder: Path,
    signer: Signer,
    ask: Ask,
    token: CancelToken,
    report: Report,
) -> Signed:
    out = ask.out
    if ask.action is EventType.SUBMIT:
        return acting.submit(context, folder, signer, ask.wish, token, report, out)
    if ask.action is EventType.START:
        return acting.start(context, folder, signer, token, out)
    if ask.action is EventType.BALLOT and ask.vote is not None:
        return acting.cast(context, folder, signer, ask.vote, token, out)
    if ask.action is EventType.REVEAL:
        return acting.reveal(context, folder, signer, token, out)
    if ask.action is EventType.RELEASE:
        return acting.release(context, folder, signer, ask.text, token, out)
    if ask.action is EventType.WITHDRAW:
        return acting.withdraw(context, folder, signer, ask.text, token, out)
    if ask.action is EventType.SUPERSEDE and ask.other is not None:
        return acting.supersede(context, folder, signer, ask.other, ask.text, token, out)
    return acting.merge(context, folder, signer, ask.copies, token, out)


def take_protocol(context: AppContext, path: Path, token: CancelToken, report: Report) -> str:
    """Keep a protocol from a file, so that releases that apply it can be compared."""
    return protocols.take_protocol(context, path).id


_KEPT, _FILE = "review.protocols", "review.protocol-file"


class ProtocolChoice(QWidget):
    """Both modes with what they mean; for "apply" the protocol, and who locked it."""

    def __init__(self, context: AppContext, hub: JobHub, asker: FileAsker) -> None:
        super().__init__()
        self._context, self._hub = context, hub
        self._kept: tuple[ProtocolFacts, ...] = ()
        self._read: ProtocolFacts | None = None
        self._fault = ""
        layout = column(self, gap=SPACE.xs)
        self._group = QButtonGroup(self)
        self.modes: dict[Mode, QRadioButton] = {}
        for mode, text in (
            (Mode.DEVELOP, self.tr("This release de&velops a protocol")),
            (Mode.APPLY, self.tr("This release applies a &locked protocol")),
        ):
            button, note = QRadioButton(text), QLabel(mode_words(mode))
            button.setAccessibleName(text.replace("&", ""))
            button.setToolTip(mode_words(mode))
            note.setWordWrap(True)
            set_look(note, "note")
            self._group.addButton(button)
            layout.addWidget(button)
            layout.addWidget(note)
            self.modes[mode] = button
        self.modes[Mode.DEVELOP].setChecked(True)
        layout.addWidget(self._build_choice(asker))
        self._group.buttonToggled.connect(self._show)
        hub.latest(_KEPT).query(
            self.tr("Looking for locked protocols"),
            token_only(partial(protocols.kept_protocols, context)),
            then=self._on_kept,
            quiet=True,
        )
        self._show()

    @property
    def path(self) -> Path | None:
        """The file of the protocol that is applied; None when one is developed."""
        if self.modes[Mode.DEVELOP].isChecked():
            return None
        return self.file.path if self._from_file else self._kept[self.known.currentIndex()].path

    def problem(self) -> str:
        """What is missing, as a sentence; empty when nothing is."""
        if self.modes[Mode.DEVELOP].isChecked() or not self._from_file:
            return ""
        if self.file.path is None:
            return self.tr("Choose the locked protocol that this release applies.")
        return self._fault

    @property
    def _from_file(self) -> bool:
        return not 0 <= self.known.currentIndex() < len(self._kept)

    def _build_choice(self, asker: FileAsker) -> QWidget:
        self._choice = QWidget()
        layout = column(self._choice, gap=SPACE.xs)
        layout.setContentsMargins(SPACE.l, 0, 0, 0)
        name = self.tr("Locked protocol")
        label = QLabel(name)
        self.known = NarrowCombo(least_letters=24)
        self.known.setAccessibleName(name)
        self.known.set_help(self.tr("Protocols that are kept on this computer, or a file"))
        self.known.addItem(self.tr("From a file…"))
        self.known.currentIndexChanged.connect(self._show)
        label.setBuddy(self.known)
        tip = self.tr("The file that you got from the person who locked the protocol")
        self.file = PathField(self.tr("File of the protocol"), tip, asker, Kind.FILE)
        self.file.changed.connect(self._on_file)
        self.about = QLabel()
        self.about.setWordWrap(True)
        for widget in (label, self.known, self.file, self.about):
            layout.addWidget(widget)
        return self._choice

    def _on_kept(self, found: tuple[ProtocolFacts, ...]) -> None:
        self._kept = found
        for place, one in enumerate(self._kept):
            made = moment_words(one.made, day=True)
            title = one.title or self.tr("Without a title")
            text = self.tr("{title}, by {person}, {date} ({id})")
            words = text.format(title=title, person=one.person, date=made, id=one.id[:8])
            self.known.insertItem(place, words)
        if self._kept and self.file.path is None:
            self.known.setCurrentIndex(0)
        self._show()

    @Slot()
    def _on_file(self) -> None:
        self._read, self._fault = None, ""
        path, channel = self.file.path, self._hub.latest(_FILE)
        channel.cancel()
        if path is not None:
            channel.query(
                self.tr("Reading the protocol"),
                alone(partial(protocols.protocol_facts, self._context, path)),
                then=self._on_read,
                failed=self._on_unread,
                quiet=True,
            )
        self._show()

    def _on_read(self, found: ProtocolFacts) -> None:
        self._read = found
        self._show()

    def _on_unread(self, outcome: JobFailed) -> None:
        self._fault = outcome.full
        self._show()

    @Slot()
    def _show(self) -> None:
        self._choice.setVisible(self.modes[Mode.APPLY].isChecked())
        self.file.setVisible(self._from_file)
        facts = self._read if self._from_file else self._kept[self.known.currentIndex()]
        if self._from_file and self._fault:
            text, look = f"✕ {in_window(self._fault)}", "fail"
        elif facts is None:
            text, look = "", "note"
        else:
            text, look = protocol_words(facts), "note" if facts.trusted else "caution"
        set_look(self.about, look)
        self.about.setText(text)
        self.about.setAccessibleName(text)
        self.about.setVisible(bool(text))


MOST_COPIES = 50


@dataclass(frozen=True)
class SigningContext:
    """What the fields need of the window; ``folder`` is the release at hand.

    ``beside`` is the file into which its review is written when the folder is known as read-only.
    """

    context: AppContext
    hub: JobHub
    asker: FileAsker
    folder: Path
    beside: Path | None = None


class Fields(QWidget):
    """No fields; the others say what they ask for. ``paths`` are the fields by name."""

    def __init__(self, desk: SigningContext) -> None:
        super().__init__()
        self._desk = desk
        self._rows: QVBoxLayout = column(self, gap=SPACE.s)
        self.paths: dict[str, PathField] = {}

    def problem(self) -> str:
        """What is missing, as a sentence; empty when nothing is."""
        return ""

    def fill(self, ask: Ask) -> Ask:
        """The wish with what was chosen here."""
        return ask

    def _add(self, key: str, words: str, tip: str, kind: Kind, start: Path | None = None) -> None:
        field = PathField(words, tip, self._desk.asker, kind, start or self._desk.folder.parent)
        self.paths[key] = field
        self._rows.addWidget(field)

    def _path(self, key: str) -> Path | None:
        return self.paths[key].path


class SubmitFields(Fields):
    """Mode and protocol, the policy, the round before, and the release that this one replaces."""

    def __init__(self, desk: SigningContext) -> None:
        super().__init__(desk)
        self.protocol = ProtocolChoice(desk.context, desk.hub, desk.asker)
        self._rows.addWidget(self.protocol)
        self._add(
            "after",
            self.tr("Folder of the previous round (empty: the first round)"),
            self.tr("The release that this one follows, after changes were requested"),
            Kind.FOLDER,
        )
        self._add(
            "supersedes",
            self.tr("Folder of the release that this one replaces (empty: none)"),
            self.tr(
                "A release that has been published; publishing this one is also entered in the "
                "review of that one"
            ),
            Kind.FOLDER,
        )
        self._add(
            "policy",
            self.tr("Policy file (empty: the one of this computer)"),
            self.tr("The rules used to make the checklist"),
            Kind.FILE,
        )

    def problem(self) -> str:
        """See :class:`Fields`."""
        return self.protocol.problem()

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        wish = ActionRequest(
            policy=self._path("policy"),
            protocol=self.protocol.path,
            note=ask.text,
            after=self._path("after"),
            supersedes=self._path("supersedes"),
        )
        return replace(ask, wish=wish)


class MergeFields(Fields):
    """As many copies as there are: when the last field is filled, another one follows."""

    def __init__(self, desk: SigningContext) -> None:
        super().__init__(desk)
        for _ in range(2):
            self._add_copy()

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        found = (one.path for one in self.paths.values())
        return replace(ask, copies=tuple(dict.fromkeys(path for path in found if path is not None)))

    def _add_copy(self) -> None:
        number = len(self.paths) + 1
        name = self.tr("Copy {n} (optional)").format(n=number)
        tip = self.tr("The folder in which a reviewer signed, or just a file review.json")
        self._add(f"copy-{number}", name, tip, Kind.EITHER)
        self.paths[f"copy-{number}"].changed.connect(self._on_changed)

    @Slot()
    def _on_changed(self) -> None:
        full = all(one.path is not None for one in self.paths.values())
        if full and len(self.paths) < MOST_COPIES:
            self._add_copy()


class SupersedeFields(Fields):
    """The release that takes the place of this one."""

    def __init__(self, desk: SigningContext) -> None:
        super().__init__(desk)
        self._add(
            "other",
            self.tr("Folder of the release that replaces this one"),
            self.tr("It has been reviewed and released itself"),
            Kind.FOLDER,
        )

    def problem(self) -> str:
        """See :class:`Fields`."""
        found = self._path("other")
        if found is None:
            return self.tr("Choose the release that replaces this one.")
        if found.absolute() == self._desk.folder.absolute():
            return self.tr("This is the release itself: choose the one that replaces it.")
        return ""

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        return replace(ask, other=self._path("other"))


class LockFields(Fields):
    """The file for the protocol."""

    def __init__(self, desk: SigningContext) -> None:
        super().__init__(desk)
        start = desk.folder.parent / f"{desk.folder.name}-protocol.json"
        self._add(
            "other",
            self.tr("New file for the protocol"),
            self.tr("It goes to those who apply the protocol; it contains the hierarchies"),
            Kind.NEW_FILE,
            start,
        )
        self.paths["other"].line.setText(str(start))

    def problem(self) -> str:
        """See :class:`Fields`."""
        if self._path("other") is None:
            return self.tr("Name the file for the protocol.")
        return ""

    def fill(self, ask: Ask) -> Ask:
        """See :class:`Fields`."""
        return replace(ask, other=self._path("other"))


_FIELDS: Mapping[Action, type[Fields]] = {
    EventType.SUBMIT: SubmitFields,
    EventType.MERGE: MergeFields,
    EventType.SUPERSEDE: SupersedeFields,
    Beside.LOCK: LockFields,
}


def fields_for(action: Action, desk: SigningContext) -> Fields:
    """The fields of an action."""
    return _FIELDS.get(action, Fields)(desk)


_REASONED = (EventType.WITHDRAW, EventType.SUPERSEDE)
_TEXTS = (EventType.SUBMIT, EventType.BALLOT, EventType.RELEASE, *_REASONED)
_ROWS: dict[Action, int] = {
    EventType.SUBMIT: 24,
    EventType.START: 9,
    EventType.REVEAL: 9,
    Beside.LOCK: 13,
}
_ELSEWHERE = 7
READ_ONLY = "review.read-only"
SITTING_MINUTES = 15
"""How long a passphrase is kept in memory when the signer wants that."""


class SignDialog(QDialog):
    """``signAsked(Ask, passphrase)``; it stays open until it is told that signing went well."""

    signAsked = Signal(object, str)

    def __init__(
        self,
        action: Action,
        card: Card,
        draft: Draft | None,
        theme: ThemeManager,
        desk: SigningContext,
        parent: QWidget | None = None,
        *,
        kept: bool = False,
    ) -> None:
        super().__init__(parent)
        self.action, self._draft, self._desk = action, draft, desk
        self._has_passphrase = kept
        self.outcomes: dict[Outcome, QRadioButton] = {}
        self.fields = fields_for(action, desk)
        words = action_words(action)
        self.setWindowTitle(words)
        self.setAccessibleName(words)
        set_look(self, "panel")
        outer = column(self, margin=SPACE.l, gap=SPACE.m)
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        self._add_head(layout, card)
        if action is EventType.BALLOT:
            self._add_outcomes(layout)
        self._add_text(layout)
        layout.addWidget(self.fields)
        self._elsewhere = self._build_elsewhere()
        layout.addWidget(self._elsewhere)
        layout.addStretch(1)
        self._area = scrolled(body)
        outer.addWidget(self._area, 1)
        self._add_end(outer)
        self._theme = theme
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def say(self, sentence: str) -> None:
        """Show what is wrong; empty: nothing."""
        self.problem.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self.problem.setAccessibleName(sentence)
        self.problem.setVisible(bool(sentence))

    def failed(self, sentence: str, code: str = "") -> None:
        """Signing did not work: say why, and let it be tried again.

        Where the folder is read-only (``review.read-only``) another file is offered.
        """
        self.say(sentence)
        self._has_passphrase = False
        self.passphrase.setPlaceholderText("")
        if code == READ_ONLY and self.action is not Beside.LOCK:
            self._elsewhere.show()
            self._on_theme(self._theme.theme)
        self.sign.setEnabled(True)
        first = self.passphrase if self._elsewhere.isHidden() else self.out.line
        first.setFocus()

    def reject(self) -> None:
        """Leave without signing."""
        self.passphrase.clear()
        super().reject()

    @property
    def paths(self) -> dict[str, PathField]:
        """The fields for files and folders, by name."""
        return self.fields.paths

    # -- building

    def _add_head(self, layout: QVBoxLayout, card: Card) -> None:
        title, means, key = QLabel(self.windowTitle()), QLabel(meaning(self.action)), QLabel()
        set_look(title, "section")
        set_look(means, "strong" if self.action is EventType.RELEASE else "")
        set_look(key, "note")
        text = self.tr("Signed as {person}, key {digits}")
        digits = fingerprint_text(card.fingerprint)
        key.setText(text.format(person=card.person, digits=digits))
        for label in (title, means, key):
            label.setWordWrap(True)
            layout.addWidget(label)

    def _add_outcomes(self, layout: QVBoxLayout) -> None:
        texts = {
            Outcome.APPROVE: self.tr("&Approve the release"),
            Outcome.CHANGES: self.tr("Request c&hanges"),
            Outcome.REJECT: self.tr("Re&ject the release"),
        }
        group = QButtonGroup(self)
        for outcome, text in texts.items():
            button = QRadioButton(text)
            button.setAccessibleName(text.replace("&", ""))
            button.setToolTip(text.replace("&", ""))
            group.addButton(button)
            layout.addWidget(button)
            self.outcomes[outcome] = button

    def _add_text(self, layout: QVBoxLayout) -> None:
        names: dict[Action, str] = {
            EventType.SUBMIT: self.tr("Note for the reviewers"),
            EventType.BALLOT: self.tr("Overall comment"),
            EventType.RELEASE: self.tr("Note"),
            EventType.WITHDRAW: self.tr("Reason"),
            EventType.SUPERSEDE: self.tr("Reason"),
        }
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setVisible(self.action in _TEXTS)
        if self.action in _TEXTS:
            label = QLabel(names[self.action])
            label.setBuddy(self.text)
            self.text.setAccessibleName(names[self.action])
            self.text.setToolTip(self.tr("It is signed, and everyone can read it"))
            layout.addWidget(label)
            layout.addWidget(self.text)

    def _build_elsewhere(self) -> QFrame:
        """Where to write the review when its folder is read-only; shown after that failed."""
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.s)
        name = f"{self._desk.folder.name}-review.json"
        self.out = PathField(
            self.tr("Write the review into this file instead"),
            self.tr("A new file; the release folder stays as it is"),
            self._desk.asker,
            Kind.NEW_FILE,
            Path.home() / name,
        )
        self.out.line.setText(str(self._desk.beside or Path.home() / name))
        note = QLabel(
            self.tr(
                "Then give the file to someone who may write to the release folder, by e-mail "
                "or on a drive: it contains what was signed, with the figures of the "
                "checklist, and no rows of the data. “Join copies” adds it to the folder."
            )
        )
        note.setWordWrap(True)
        layout.addWidget(self.out)
        layout.addWidget(note)
        if self._desk.beside is None or self.action is Beside.LOCK:
            frame.hide()
        return frame

    def _add_end(self, layout: QVBoxLayout) -> None:
        label = QLabel(self.tr("&Passphrase of the key"))
        self.passphrase = QLineEdit()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.passphrase.setAccessibleName(self.tr("Passphrase of the key"))
        tip = self.tr("Kept only in memory, for at most {n} minutes, and only if you ask for it")
        self.passphrase.setToolTip(tip.format(n=SITTING_MINUTES))
        self.keep = QCheckBox(self.tr("&Keep it for {n} minutes").format(n=SITTING_MINUTES))
        self.keep.setAccessibleName(self.keep.text().replace("&", ""))
        self.keep.setToolTip(tip.format(n=SITTING_MINUTES))
        self.keep.setChecked(self._has_passphrase)
        if self._has_passphrase:
            self.passphrase.setPlaceholderText(self.tr("the one from this session"))
        label.setBuddy(self.passphrase)
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self.problem, "fail")
        self.problem.hide()
        bar = FlowBox(gap=SPACE.s)
        self.sign = QPushButton(self.tr("&Sign"))
        self.sign.setAccessibleName(self.tr("Sign"))
        self.sign.setToolTip(meaning(self.action))
        set_look(self.sign, "primary")
        self.sign.clicked.connect(self._on_sign)
        leave = QPushButton(self.tr("&Cancel"))
        leave.setAccessibleName(self.tr("Cancel"))
        leave.setToolTip(self.tr("Close without signing (Esc)"))
        leave.setAutoDefault(False)
        leave.clicked.connect(self.reject)
        bar.add(self.sign)
        bar.add(leave)
        line = row(gap=SPACE.s)
        line.addWidget(label)
        line.addWidget(self.passphrase, 1)
        line.addWidget(self.keep)
        layout.addLayout(line)
        layout.addWidget(self.problem)
        layout.addWidget(bar)
        # Only a button that lies in the dialog stays the one of Enter when the focus passes it.
        self.sign.setDefault(True)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        screen = self.screen().availableSize()
        rows = _ROWS.get(self.action, 19) + (0 if self._elsewhere.isHidden() else _ELSEWHERE)
        wide, high = theme.ems(72), theme.row * rows
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
        self.text.setFixedHeight(2 * theme.row + SPACE.l)

    # -- signing

    def _problem(self) -> str:
        if self.action is EventType.BALLOT and self._draft is not None:
            return self._draft.whole_problem(self._outcome(), self._said())
        if self.action in _REASONED and not self._said():
            return self.tr("Give a reason: everyone can read it.")
        if not self._elsewhere.isHidden() and self.out.path is None:
            return self.tr("Name the file to write the review to.")
        return self.fields.problem()

    def _outcome(self) -> Outcome | None:
        return next((one for one, b in self.outcomes.items() if b.isChecked()), None)

    def _said(self) -> str:
        return self.text.toPlainText().strip()

    def _ask(self) -> Ask:
        outcome = self._outcome()
        vote = None
        if self._draft is not None and outcome is not None:
            vote = self._draft.vote(outcome, self._said())
        out = None if self._elsewhere.isHidden() else self.out.path
        return self.fields.fill(Ask(self.action, self._said(), vote, out=out))

    @Slot()
    def _on_sign(self) -> None:
        wrong = self._problem()
        if not wrong and not self.passphrase.text() and not self._has_passphrase:
            wrong = self.tr("Enter the passphrase of the key.")
        self.say(wrong)
        if not wrong:
            passphrase = self.passphrase.text()
            self.passphrase.clear()
            self.sign.setEnabled(False)
            self.signAsked.emit(self._ask(), passphrase)
