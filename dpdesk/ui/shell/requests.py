"""What a window wishes of whoever built it: signals, and the actions that send them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow

from dpdesk.ui.charts.export import ChartSaved


class RequestingWindow(QMainWindow):
    """A window that tells its wishes; see :class:`~dpdesk.ui.main_window.MainWindow`."""

    openAsked = Signal()
    openReleaseAsked = Signal()
    openPathAsked = Signal(str)
    sampleAsked = Signal()
    saveAsked = Signal()
    saveAsAsked = Signal()
    undoAsked = Signal()
    redoAsked = Signal()
    momentAsked = Signal(int)
    statesAsked = Signal()
    messageTriggered = Signal(str)
    panelChanged = Signal(str)
    chartSaved = Signal(object)

    def customEvent(self, event: QEvent) -> None:
        """A chart in the window was saved as a file."""
        if isinstance(event, ChartSaved):
            self.chartSaved.emit(event.path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Local files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file dropped."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.openPathAsked.emit(paths[0])

    def wishes(self) -> dict[str, Callable[[], None]]:
        """What sends the wishes that are actions, by their ids."""
        return {
            "file.open": self.on_open,
            "file.release": self.on_open_release,
            "file.sample": self.on_sample,
            "file.save": self.on_save,
            "file.save-as": self.on_save_as,
            "edit.undo": self.on_undo,
            "edit.redo": self.on_redo,
        }

    def on_open(self) -> None:
        """Ctrl+O."""
        self.openAsked.emit()

    def on_open_release(self) -> None:
        """Open the folder of a release."""
        self.openReleaseAsked.emit()

    def on_sample(self) -> None:
        """Open what comes with the program."""
        self.sampleAsked.emit()

    def on_save(self) -> None:
        """Ctrl+S."""
        self.saveAsked.emit()

    def on_save_as(self) -> None:
        """Ctrl+Shift+S."""
        self.saveAsAsked.emit()

    def on_undo(self) -> None:
        """Ctrl+Z."""
        self.undoAsked.emit()

    def on_redo(self) -> None:
        """Ctrl+Shift+Z."""
        self.redoAsked.emit()
