"""Where to write a file: asked for in a chooser, and in a band before a file is replaced."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.ui.files import FileAsker
from dpdesk.ui.widgets.band import MessageBand

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
        text = self.tr("{name} is there already, in {folder}: replace it?")
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
