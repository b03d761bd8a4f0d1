"""What the window wants of a panel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from dpdesk.ui.theme import set_look


class Mark(Enum):
    """How far a step is; the value is the name of its icon."""

    OPEN = "ring"
    DONE = "check"
    ATTENTION = "attention"
    STALE = "stale"
    LOCKED = "lock"


@dataclass(frozen=True)
class PanelStatus:
    """A mark and a few words, for instance "3 quasi-identifiers" or "tag one column"."""

    mark: Mark = Mark.OPEN
    note: str = ""


class Panel(QWidget):
    """Base class of the six panels.

    Emit :attr:`statusChanged` when :meth:`status` or :meth:`can_run` would answer differently, and
    ``messageRaised(kind, text)`` for a sentence that belongs to the whole window;
    ``wantsPanel(id)`` leads to another step.
    """

    statusChanged = Signal()
    messageRaised = Signal(str, str)
    wantsPanel = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "panel")

    def activated(self) -> None:
        """The panel has come to the front."""

    def status(self) -> PanelStatus:
        """What the navigation shows."""
        return PanelStatus()

    def can_run(self) -> bool:
        """Whether Ctrl+Enter would do something now."""
        return False

    def run(self) -> None:
        """Do the panel's main action (Ctrl+Enter)."""

    def explanation(self) -> str:
        """What F1 tells: plain text, paragraphs separated by an empty line."""
        return ""


@dataclass(frozen=True)
class PanelEntry:
    """A panel in the order of the work; ``icon`` is a name of ``dpdesk.ui.theme.icon``."""

    id: str
    title: str
    panel: Panel
    icon: str = "data"
