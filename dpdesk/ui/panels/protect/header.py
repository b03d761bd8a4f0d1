"""The head of the protect panel: what became of keeping, and the ways on from here."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QPushButton

from dpdesk.app.types import DataStore
from dpdesk.ui.theme import set_look
from dpdesk.ui.widgets import StepHeader
from dpdesk.ui.widgets.layouts import announce
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.settings import COMPARE, REVIEW

_HERE = "ProtectHeader"


class ProtectHeader(StepHeader):
    """``keepAsked()`` and ``placeAsked(str)``, with the panel to go to, are the buttons.

    What is said of keeping stands in the line below the title, where it takes no room from the
    picture, until :meth:`forget`.
    """

    keepAsked = Signal()
    placeAsked = Signal(str)

    def __init__(self) -> None:
        super().__init__(4, QCoreApplication.translate(_HERE, "How much protection?"), "")
        self._said = ""
        self._keep = QPushButton(self.tr("&Keep as candidate"))
        self._keep.setAccessibleName(self.tr("Keep as candidate"))
        self._keep.setToolTip(self.tr("Keep these settings for comparison (Ctrl+B)"))
        set_look(self._keep, "primary")
        self._keep.clicked.connect(self.keepAsked)
        self._compare = QPushButton()
        self._compare.setToolTip(self.tr("Show the kept candidates side by side"))
        self._compare.clicked.connect(self._on_compare)
        self._release = QPushButton(self.tr("Re&lease…"))
        self._release.setAccessibleName(self.tr("Release… in Review and export"))
        self._release.setToolTip(self.tr("Make the release of these settings in the last step"))
        self._release.clicked.connect(self._on_release)

    def add_buttons(self) -> None:
        """Put the buttons at the right, behind what is there already."""
        for button in (self._release, self._compare, self._keep):
            self.add(button)

    @property
    def said(self) -> str:
        """What is said of keeping; empty when nothing."""
        return self._said

    def say(self, text: str) -> None:
        """Tell what became of keeping."""
        self._said = text
        self.set_line(text)
        self.setAccessibleName(text)
        announce(self, text)

    def forget(self) -> None:
        """What was said is of other settings."""
        self._said = ""

    def show_data(self, data: DataStore | None, *, possible: bool) -> None:
        """Name the data, unless there is something to say; ``possible``: a release can be made."""
        if self._said:
            self.set_line(self._said)
        elif data is None:
            self.set_line(self.tr("Choose the protection, then try the settings."))
        else:
            line = self.tr("{file}, {rows} rows. Nothing is written yet.")
            self.set_line(line.format(file=data.name, rows=grouped(data.rows)))
        self._release.setEnabled(data is not None and possible)

    def show_keeping(self, *, possible: bool, kept: int) -> None:
        """Whether the settings can be kept, and how many candidates there are."""
        self._keep.setEnabled(possible)
        self._compare.setVisible(kept > 0)
        self._compare.setText(self.tr("C&ompare {n}").format(n=kept))
        self._compare.setAccessibleName(self.tr("Go to Compare, candidates: {n}").format(n=kept))

    @Slot()
    def _on_compare(self) -> None:
        self.placeAsked.emit(COMPARE)

    @Slot()
    def _on_release(self) -> None:
        self.placeAsked.emit(REVIEW)
