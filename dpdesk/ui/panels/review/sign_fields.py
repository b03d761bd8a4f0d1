"""What goes with a signature besides words: files and folders, by what is signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from dpdesk.app.review import protocols
from dpdesk.app.review.values import ActionRequest, EventType, Mode, ProtocolFacts
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.files import FileAsker
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.panels.review.actions import Action, Beside
from dpdesk.ui.panels.review.modes import mode_words, protocol_words
from dpdesk.ui.panels.review.path_field import Kind, PathField
from dpdesk.ui.panels.review.sign_tasks import Ask
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wording import in_window

_KEPT, _FILE = "review.protocols", "review.protocol-file"


@dataclass(frozen=True)
class KeptProtocols:
    """Work for a background thread: the protocols of this computer."""

    context: AppContext

    def __call__(self, token: CancelToken, report: Report) -> tuple[ProtocolFacts, ...]:
        """What is kept."""
        return protocols.kept_protocols(self.context, token)


@dataclass(frozen=True)
class ReadProtocol:
    """Work for a background thread: what a file says of itself."""

    context: AppContext
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> ProtocolFacts:
        """What it says."""
        return protocols.protocol_facts(self.context, self.path)


class ProtocolChoice(QWidget):
    """Both modes with what they mean; for "apply" the protocol, and who locked it."""

    def __init__(
        self, context: AppContext, hub: JobHub, asker: FileAsker, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
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
            KeptProtocols(context),
            done=self._on_kept,
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
        tip = self.tr("The file that the maker of the protocol gave you")
        self.file = PathField(self.tr("File of the protocol"), tip, asker, Kind.FILE)
        self.file.changed.connect(self._on_file)
        self.about = QLabel()
        self.about.setWordWrap(True)
        for widget in (label, self.known, self.file, self.about):
            layout.addWidget(widget)
        return self._choice

    def _on_kept(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, tuple):
            self._kept = outcome.value
            for place, one in enumerate(self._kept):
                made = f"{one.made:%Y-%m-%d}"
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
                ReadProtocol(self._context, path),
                done=self._on_read,
                failed=self._on_unread,
                quiet=True,
            )
        self._show()

    def _on_read(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, ProtocolFacts):
            self._read = outcome.value
            self._show()

    def _on_unread(self, outcome: JobFailed) -> None:
        self._fault = f"{outcome.sentence} {outcome.hint}".strip()
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
            self.tr("Folder of the round before (empty: the first round)"),
            self.tr("The release that this one follows, after changes were requested"),
            Kind.FOLDER,
        )
        self._add(
            "supersedes",
            self.tr("Released folder that this one is to replace (empty: none)"),
            self.tr("A release that went out; its own review is told when this one is out, too"),
            Kind.FOLDER,
        )
        self._add(
            "policy",
            self.tr("Policy file (empty: the one of this computer)"),
            self.tr("The rules by which the checklist is made"),
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
        name = self.tr("Copy {n} (may stay empty)").format(n=number)
        tip = self.tr("The folder in which a reviewer signed, or a file review.json alone")
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
            self.tr("It goes to those who apply the protocol; it holds the hierarchies"),
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
