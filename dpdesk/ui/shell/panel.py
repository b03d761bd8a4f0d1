"""What the window wants of a panel, and how the focus moves between its regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from dpdesk.ui.theme import set_look
from dpdesk.ui.widgets.focusing import first_focusable

if TYPE_CHECKING:
    from dpdesk.ui.workbench import Changes


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

    A panel that nobody sees does nothing that takes time. So what the workbench tells comes in two
    parts: :meth:`noted` at once, for the little that :meth:`status` and other panels need, and
    :meth:`catch_up` with all changes since the last time, joined, when the panel is seen.
    """

    statusChanged = Signal()
    messageRaised = Signal(str, str)
    wantsPanel = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._behind: Changes | None = None
        set_look(self, "panel")

    # ---- following the workbench

    def follow(self, changed: SignalInstance) -> None:
        """Be told of changes by this signal, ``Signal(Changes)``."""
        changed.connect(self.take)

    @Slot(object)
    def take(self, changes: Changes = frozenset()) -> None:
        """Note changes, and catch up now or when the panel is next seen."""
        self.noted(changes)
        self.later(changes)

    def later(self, changes: Changes) -> None:
        """Catch up with this now, or when the panel is next seen; it is not noted."""
        self._behind = changes if self._behind is None else self._behind | changes
        self._catch_up_if_seen()

    def noted(self, changes: Changes) -> None:
        """Remember what :meth:`status` needs, in far less than a millisecond; no widgets."""

    def catch_up(self, changes: Changes) -> None:
        """Bring the widgets up to date: what has changed since they last were."""

    @property
    def behind(self) -> bool:
        """Whether changes wait until the panel is seen."""
        return self._behind is not None

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what changed while another panel was in front."""
        super().showEvent(event)
        self._catch_up_if_seen()

    def _catch_up_if_seen(self) -> None:
        if self._behind is not None and self.isVisible():
            changes, self._behind = self._behind, None
            self.catch_up(changes)

    # ---- what the window asks

    def activated(self) -> None:
        """The panel has come to the front."""

    def first_focus(self) -> QWidget | None:
        """What takes the keys when the panel comes to the front; None: the first that can."""
        return None

    def point_at(self, column: str) -> None:
        """Choose a column of the data, where the panel shows single ones and has it."""

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

    def guide_page(self) -> str:
        """The id of the page of the guide that says more; empty: its first."""
        return ""


@dataclass(frozen=True)
class PanelEntry:
    """A panel in the order of the work; ``icon`` is a name of ``dpdesk.ui.theme.icon``."""

    id: str
    title: str
    panel: Panel
    icon: str = "data"


class FocusKeeper(QObject):
    """Keeps the focus in the panel when the control that has it goes grey or away.

    Qt hands it to the next control, and behind the last one of a panel that is Undo: a second
    press of the space bar would take an edit back.
    """

    def __init__(self, panels: QStackedWidget, elsewhere: QWidget) -> None:
        super().__init__(panels)
        self._panels, self._elsewhere = panels, elsewhere
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is None or new is None or not self._elsewhere.isAncestorOf(new):
            return
        lost = not old.isEnabled() or not old.isVisibleTo(self._panels)
        panel = self._panels.currentWidget()
        if lost and panel is not None and self._panels.isAncestorOf(old):
            focus_region(panel)


def focus_region(region: QWidget) -> bool:
    """Move the focus into a region; False when nothing there takes it.

    A panel says itself where its work begins.
    """
    target = region.first_focus() if isinstance(region, Panel) else None
    if target is None or not (target.isVisible() and target.isEnabled()):
        target = first_focusable(region)
    if target is None:
        return False
    target.setFocus(Qt.FocusReason.ShortcutFocusReason)
    return True


def focus_next_region(regions: Sequence[QWidget]) -> None:
    """Move the focus from the region that has it to the next visible one that takes it."""
    shown = [region for region in regions if region.isVisible()]
    focus = QApplication.focusWidget()
    at = next(
        (
            number
            for number, region in enumerate(shown)
            if focus is not None and (focus is region or region.isAncestorOf(focus))
        ),
        -1,
    )
    for step in range(1, len(shown) + 1):
        if focus_region(shown[(at + step) % len(shown)]):
            return
