"""A path to write, or to choose."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from dpdesk.ui.files import FileAsker
from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets import column, row


class PathField(QWidget):
    """A field with its label and a button that asks for a file, or a folder."""

    def __init__(self, words: str, tip: str, asker: FileAsker, *, folder: bool) -> None:
        super().__init__()
        self._words, self._asker, self._folder = words, asker, folder
        layout = column(self, gap=SPACE.xs)
        label = QLabel(words)
        label.setWordWrap(True)
        self.line = QLineEdit()
        self.line.setAccessibleName(words)
        self.line.setToolTip(tip)
        label.setBuddy(self.line)
        browse = QPushButton(self.tr("Choose…"))
        browse.setAccessibleName(self.tr("Choose: {what}").format(what=words))
        browse.setToolTip(tip)
        browse.setAutoDefault(False)
        browse.clicked.connect(self._on_browse)
        layout.addWidget(label)
        line = row(gap=SPACE.s)
        line.addWidget(self.line, 1)
        line.addWidget(browse)
        layout.addLayout(line)

    @property
    def path(self) -> Path | None:
        """What is written; None when nothing is."""
        text = self.line.text().strip()
        return Path(text).expanduser() if text else None

    @Slot()
    def _on_browse(self) -> None:
        if self._folder:
            path = self._asker.open_folder(self._words, self.line.text())
        else:
            path = self._asker.open_file(self._words, self.line.text(), self.tr("All files (*)"))
        if path is not None:
            self.line.setText(str(path))
