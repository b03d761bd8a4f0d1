"""Asking for a file: one small interface, so that panels and tests need no dialog of their own.

Where a file would be replaced, that is asked in a band.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from dpdesk.ui.widgets.states import MessageBand

_LONGEST_STEM = 1_000


class FileAsker(Protocol):
    """Asks a person for a path; None when they change their mind."""

    def open_file(self, title: str, folder: str, filters: str) -> Path | None:
        """An existing file."""
        ...

    def open_folder(self, title: str, folder: str) -> Path | None:
        """An existing folder."""
        ...

    def save_file(
        self, title: str, suggestion: str, filters: str, endings: tuple[str, ...] = ()
    ) -> Path | None:
        """A file to write, see :func:`with_ending`; the dialog asks before one is replaced."""
        ...

    def new_file(self, title: str, suggestion: str, filters: str) -> Path | None:
        """A file to write; whoever asks has to ask before one is replaced."""
        ...


def with_ending(path: Path, endings: tuple[str, ...]) -> Path:
    """The path, with the first of the endings behind it where it has none of them."""
    if not endings or path.suffix.lower() in endings:
        return path
    return path.with_name(path.name + endings[0])


class DialogAsker:
    """Asks by the platform's file dialogs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._parent = parent

    def set_parent(self, parent: QWidget) -> None:
        """The window over which the dialogs stand."""
        self._parent = parent

    def open_file(self, title: str, folder: str, filters: str) -> Path | None:
        """See :class:`FileAsker`."""
        name, _ = QFileDialog.getOpenFileName(self._parent, title, folder, filters)
        return Path(name) if name else None

    def open_folder(self, title: str, folder: str) -> Path | None:
        """See :class:`FileAsker`."""
        name = QFileDialog.getExistingDirectory(self._parent, title, folder)
        return Path(name) if name else None

    def save_file(
        self, title: str, suggestion: str, filters: str, endings: tuple[str, ...] = ()
    ) -> Path | None:
        """See :class:`FileAsker`."""
        while True:
            name, _ = QFileDialog.getSaveFileName(self._parent, title, suggestion, filters)
            if not name:
                return None
            path = with_ending(Path(name), endings)
            if path == Path(name) or not path.exists():
                return path
            suggestion = str(path)  # the dialog has asked about another one

    def new_file(self, title: str, suggestion: str, filters: str) -> Path | None:
        """See :class:`FileAsker`."""
        unasked = QFileDialog.Option.DontConfirmOverwrite
        name, _ = QFileDialog.getSaveFileName(
            self._parent, title, suggestion, filters, options=unasked
        )
        return Path(name) if name else None


def file_stem(title: str) -> str:
    """A title as the name of a file, which leads nowhere else; empty when nothing of it serves."""
    words = re.sub(r"[^\w]+", "-", title[:_LONGEST_STEM]).strip("-_").lower()
    return words[:60].strip("-_")


REPLACE, OTHER = "place.replace", "place.other"


class FilePlace(QObject):
    """One place is asked for at a time.

    ``chosen(str, Path, bool)``: what the file is for, the file, and whether what lies there is to
    be replaced, which was then asked for in so many words.
    """

    chosen = Signal(str, object, bool)

    def __init__(self, asker: FileAsker, band: MessageBand, parent: QObject) -> None:
        super().__init__(parent)
        self._asker, self._band = asker, band
        self._question: tuple[str, str, str] = ("", "", "")
        self._ending = ""
        self._path: Path | None = None
        band.triggered.connect(self._on_answer)

    def ask(self, purpose: str, title: str, suggestion: str, filters: str) -> None:
        """Ask for a file; one without an ending gets that of the suggestion."""
        self._question = (title, suggestion, filters)
        self._purpose, self._ending = purpose, Path(suggestion).suffix
        self._ask()

    def _ask(self) -> None:
        self._path = None
        path = self._asker.new_file(*self._question)
        if path is None:
            return
        if not path.suffix:
            path = path.with_name(path.name + self._ending)
        if not path.is_file():
            self.chosen.emit(self._purpose, path, False)
            return
        self._path = path
        text = self.tr("{name} already exists in {folder}: replace it?")
        self._band.show_message(
            "caution",
            text.format(name=path.name, folder=path.parent),
            (
                (OTHER, self.tr("Choose another name…")),
                (REPLACE, self.tr("Replace {name}").format(name=path.name)),
            ),
        )
        self._band.focus_answer()

    @Slot(str)
    def _on_answer(self, answer: str) -> None:
        path, self._path = self._path, None
        if path is None or answer not in (REPLACE, OTHER):
            return
        self._band.clear()
        if answer == REPLACE:
            self.chosen.emit(self._purpose, path, True)
        else:
            self._ask()
