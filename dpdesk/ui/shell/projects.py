"""The commands of the File menu that concern projects."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from dpdesk.ui.shell.actions import ActionSet, ActionSpec


class ProjectActions(QObject):
    """Declares the commands and tells when one is given.

    ``newAsked()``, ``openAsked()``, ``copyAsked()``, ``closeAsked()``.
    """

    newAsked = Signal()
    openAsked = Signal()
    copyAsked = Signal()
    closeAsked = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._open = False

    def set_open(self, is_open: bool) -> None:
        """Say whether a project is open."""
        self._open = is_open

    def is_open(self) -> bool:
        """Whether a project is open."""
        return self._open

    def declare(self, actions: ActionSet) -> None:
        """Declare the commands."""
        actions.add(
            ActionSpec(
                "file.project-new",
                self.tr("&New project…"),
                "file",
                "Ctrl+Shift+N",
                self.tr("Keep the work in one file, which saves every change by itself"),
                "project",
            ),
            self.on_new,
        )
        actions.add(
            ActionSpec(
                "file.project-open",
                self.tr("Open pro&ject…"),
                "file",
                "Ctrl+Shift+O",
                self.tr("Go on with a project: the work, its history and its candidates"),
                "project",
            ),
            self.on_open,
        )
        actions.add(
            ActionSpec(
                "file.project-copy",
                self.tr("Sa&ve project as…"),
                "file",
                "",
                self.tr("Save the whole project under another name, and go on there"),
                "project",
            ),
            self.on_copy,
            self.is_open,
        )
        actions.add(
            ActionSpec(
                "file.project-close",
                self.tr("C&lose project"),
                "file",
                "Ctrl+W",
                self.tr("Close the project; everything in it is saved"),
                "project",
            ),
            self.on_close,
            self.is_open,
        )

    def on_new(self) -> None:
        """Ctrl+Shift+N."""
        self.newAsked.emit()

    def on_open(self) -> None:
        """Ctrl+Shift+O."""
        self.openAsked.emit()

    def on_copy(self) -> None:
        """Save under another name."""
        self.copyAsked.emit()

    def on_close(self) -> None:
        """Ctrl+W."""
        self.closeAsked.emit()
