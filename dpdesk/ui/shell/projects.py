"""The commands of the File menu that concern projects."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from dpdesk.ui.shell.actions import ActionSet, ActionSpec


class ProjectActions(QObject):
    """Declares the commands and tells when one is given.

    ``newAsked()``, ``openAsked()``, ``copyAsked()``, ``closeAsked()``; ``applyAsked()`` to apply
    the plan to another file.
    """

    newAsked = Signal()
    openAsked = Signal()
    copyAsked = Signal()
    closeAsked = Signal()
    applyAsked = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._open = False
        self._has_file = False

    def set_open(self, is_open: bool) -> None:
        """Say whether a project is open."""
        self._open = is_open

    def set_work(self, *, has_file: bool) -> None:
        """Say whether there is work with a file, whose plan could be applied to another one."""
        self._has_file = has_file

    def has_file(self) -> bool:
        """Whether there is a plan to apply."""
        return self._has_file

    def is_open(self) -> bool:
        """Whether a project is open."""
        return self._open

    def declare(self, actions: ActionSet) -> None:
        """Declare the commands."""
        text, tip = self.tr("&New project…"), self.tr("Keep the work in one file that saves itself")
        actions.add(_spec("new", text, "Ctrl+Shift+N", tip), self.on_new)
        text = self.tr("Open pro&ject…")
        tip = self.tr("Go on with a project: the work, its history and its candidates")
        actions.add(_spec("open", text, "Ctrl+Shift+O", tip), self.on_open)
        text = self.tr("Sa&ve project as…")
        tip = self.tr("Save the whole project under another name, and go on there")
        actions.add(_spec("copy", text, "", tip), self.on_copy, self.is_open)
        text = self.tr("C&lose project")
        tip = self.tr("Close the project; everything in it is saved")
        actions.add(_spec("close", text, "Ctrl+W", tip), self.on_close, self.is_open)
        text = self.tr("Appl&y the plan to another file…")
        tip = self.tr("Say what of the plan no longer fits, for instance, next year's file")
        spec = ActionSpec("file.apply-plan", text, "file", "Ctrl+Shift+Y", tip, "apply")
        actions.add(spec, self.on_apply, self.has_file)

    def on_new(self) -> None:
        """Ctrl+Shift+N."""
        self.newAsked.emit()

    def on_open(self) -> None:
        """Ctrl+Shift+O."""
        self.openAsked.emit()

    def on_copy(self) -> None:
        """Save under another name."""
        self.copyAsked.emit()

    def on_apply(self) -> None:
        """Ctrl+Shift+Y."""
        self.applyAsked.emit()

    def on_close(self) -> None:
        """Ctrl+W."""
        self.closeAsked.emit()


def _spec(name: str, text: str, keys: str, tip: str) -> ActionSpec:
    return ActionSpec(f"file.project-{name}", text, "file", keys, tip, "project")
