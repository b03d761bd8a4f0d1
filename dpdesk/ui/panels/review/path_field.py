"""A path to write, or to choose."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from dpdesk.core.home import expanded, is_address
from dpdesk.ui.files import FileAsker
from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets import column, row


class Kind(Enum):
    """What a field is for."""

    FILE = auto()
    FOLDER = auto()
    EITHER = auto()
    NEW_FILE = auto()


class PathField(QWidget):
    """A field with its label and buttons that ask for a file, or a folder.

    ``changed()`` after each change; ``start`` is where the chooser begins when nothing is written.
    """

    changed = Signal()

    def __init__(
        self, words: str, tip: str, asker: FileAsker, kind: Kind, start: Path | None = None
    ) -> None:
        super().__init__()
        self._words, self._asker, self._kind = words, asker, kind
        self._start = "" if start is None else str(start)
        layout = column(self, gap=SPACE.xs)
        self.label = QLabel(words)
        self.label.setWordWrap(True)
        self.line = QLineEdit()
        self.line.setAccessibleName(words)
        self.line.setToolTip(tip)
        self.line.textChanged.connect(self.changed)
        self.label.setBuddy(self.line)
        layout.addWidget(self.label)
        line = row(gap=SPACE.s)
        line.addWidget(self.line, 1)
        self._add_buttons(line, tip)
        layout.addLayout(line)

    @property
    def path(self) -> Path | None:
        """What is written; None when nothing is, or an address."""
        text = self.line.text().strip()
        return expanded(text) if text and not is_address(text) else None

    def _add_buttons(self, line: QHBoxLayout, tip: str) -> None:
        texts = {
            Kind.FILE: ((Kind.FILE, self.tr("Choose…"), self.tr("Choose: {what}")),),
            Kind.FOLDER: ((Kind.FOLDER, self.tr("Choose…"), self.tr("Choose: {what}")),),
            Kind.NEW_FILE: ((Kind.NEW_FILE, self.tr("Choose…"), self.tr("Choose: {what}")),),
            Kind.EITHER: (
                (Kind.FOLDER, self.tr("Folder…"), self.tr("Choose a folder: {what}")),
                (Kind.FILE, self.tr("File…"), self.tr("Choose a file: {what}")),
            ),
        }
        for kind, text, name in texts[self._kind]:
            browse = QPushButton(text)
            browse.setProperty("asks", kind.name)
            browse.setAccessibleName(name.format(what=self._words))
            browse.setToolTip(tip)
            browse.setAutoDefault(False)
            browse.clicked.connect(self._on_browse)
            line.addWidget(browse)

    @Slot()
    def _on_browse(self) -> None:
        sender = self.sender()
        kind = Kind[str(sender.property("asks"))] if sender is not None else self._kind
        start, all_files = self.line.text() or self._start, self.tr("All files (*)")
        if kind is Kind.FOLDER:
            path = self._asker.open_folder(self._words, start)
        elif kind is Kind.NEW_FILE:
            path = self._asker.save_file(self._words, start, all_files)
        else:
            path = self._asker.open_file(self._words, start, all_files)
        if path is not None:
            self.line.setText(str(path))
