"""In which mode a release is submitted: it develops a protocol, or applies one that is locked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QWidget

from dpdesk.app.review import protocols
from dpdesk.app.review.values import Mode, ProtocolFacts
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.files import FileAsker
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.panels.review.modes import mode_words, protocol_words
from dpdesk.ui.panels.review.path_field import Kind, PathField
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
