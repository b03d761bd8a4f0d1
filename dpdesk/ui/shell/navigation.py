"""What the window asks of a panel, and the list of steps that leads from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    SignalInstance,
    Slot,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from dpdesk.ui.theme import Theme, ThemeManager, pixmap, set_look
from dpdesk.ui.widgets.layouts import first_focusable

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


_STATUS = Qt.ItemDataRole.UserRole
_ENTRY = Qt.ItemDataRole.UserRole + 1
_SHARE = 0.23


class Navigation(QListWidget):
    """``chosen(str)`` carries the id of a panel the user went to."""

    chosen = Signal(str)

    def __init__(self, theme: ThemeManager, entries: Sequence[PanelEntry]) -> None:
        super().__init__()
        set_look(self, "navigation")
        self.setAccessibleName(self.tr("Steps of the work"))
        self.setToolTip(self.tr("Steps of the work (Ctrl+1 to Ctrl+6)"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._delegate = _StepDelegate(theme.theme, self)
        self.setItemDelegate(self._delegate)
        self._ids = [entry.id for entry in entries]
        self._known: dict[str, PanelStatus] = {}
        for number, entry in enumerate(entries, start=1):
            item = QListWidgetItem(f"{number}  {entry.title}")
            item.setData(_ENTRY, (number, entry.title, entry.icon))
            self.addItem(item)
        for entry in entries:
            self.set_status(entry.id, PanelStatus())
        self.currentRowChanged.connect(self._on_row)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def set_status(self, identifier: str, status: PanelStatus) -> None:
        """Show mark and words of a panel; the same ones again cost nothing."""
        if self._known.get(identifier) == status:
            return
        self._known[identifier] = status
        item = self.item(self._ids.index(identifier))
        item.setData(_STATUS, status)
        number, title, _ = item.data(_ENTRY)
        words = {
            Mark.OPEN: self.tr("not done yet"),
            Mark.DONE: self.tr("done"),
            Mark.ATTENTION: self.tr("needs attention"),
            Mark.STALE: self.tr("out of date"),
            Mark.LOCKED: self.tr("not available yet"),
        }
        template = self.tr("Step {number}, {title}: {state}. {note}")
        text = template.format(
            number=number, title=title, state=words[status.mark], note=status.note
        ).strip()
        item.setData(Qt.ItemDataRole.AccessibleTextRole, text)
        item.setToolTip(text)

    def prepare(self) -> None:
        """Draw the pictures that steps will need, while there is time for it; they are kept."""
        for number in range(self.count()):
            self._delegate.prepare(self.item(number).data(_ENTRY)[2])

    def go_to(self, identifier: str) -> None:
        """Mark the current panel."""
        self.setCurrentRow(self._ids.index(identifier))

    @Slot(int)
    def _on_row(self, number: int) -> None:
        if 0 <= number < len(self._ids):
            self.chosen.emit(self._ids[number])

    def showEvent(self, event: QShowEvent) -> None:
        """From now on follow the width of the window."""
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window has another width."""
        if event.type() == QEvent.Type.Resize and watched is self.window():
            self._fit()
        return super().eventFilter(watched, event)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self._fit()
        self.scheduleDelayedItemsLayout()

    def _fit(self) -> None:
        """Room for all titles; with large text a share of the window, so that the work has room."""
        theme = self._delegate.theme
        metrics = QFontMetrics(theme.font("body", bold=True))
        titles = [self.item(number).text() for number in range(self.count())]
        widest = max((metrics.horizontalAdvance(title) for title in titles), default=0)
        whole = widest + 2 * theme.icon + 48
        least = min(whole, max(round(self.window().width() * _SHARE), round(whole / theme.scale)))
        self._delegate.narrow = least < whole
        self.setMinimumWidth(least)
        self.setMaximumWidth(whole + theme.ems(7) if least == whole else least)


class _StepDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self.narrow = False

    def prepare(self, icon_name: str) -> None:
        """Draw an icon and all marks."""
        theme = self.theme
        wanted = {(icon_name, theme.tokens.accent), (icon_name, theme.tokens.muted)}
        wanted |= {self._mark(mark, current) for mark in Mark for current in (True, False)}
        for name, colour in wanted:
            pixmap(name, colour, theme.icon)

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, self.theme.target * 2 - 6)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme, tokens = self.theme, self.theme.tokens
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        current = bool(state & QStyle.StateFlag.State_Selected)
        status: PanelStatus = index.data(_STATUS)
        number, title, icon_name = index.data(_ENTRY)
        painter.save()
        if current:
            painter.fillRect(rect, QColor(tokens.selection))
            painter.fillRect(
                QRect(rect.left(), rect.top(), 4, rect.height()), QColor(tokens.accent)
            )
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, QColor(tokens.hover))
        locked = status.mark is Mark.LOCKED
        edge = theme.icon
        left = 14
        top = rect.top() + (rect.height() - edge) // 2
        if not self.narrow:  # with large text the words need the room of the picture
            colour = tokens.accent if current else tokens.muted
            painter.drawPixmap(rect.left() + left, top, pixmap(icon_name, colour, edge))
            left += edge + 10
        place = rect.adjusted(left, 6, -(edge + 12), -5)
        self._draw_texts(painter, place, f"{number}  {title}", status.note, current, locked)
        mark, mark_colour = self._mark(status.mark, current)
        right = rect.right() - edge - 8
        painter.drawPixmap(right, top, pixmap(mark, mark_colour, edge))
        if current and state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.drawRect(rect.adjusted(1, 1, -1, -1))
        painter.restore()

    def _draw_texts(
        self, painter: QPainter, place: QRect, title: str, note: str, bold: bool, pale: bool
    ) -> None:
        theme, flags = self.theme, Qt.AlignmentFlag
        painter.setPen(QColor(theme.tokens.muted if pale else theme.tokens.text))
        painter.setFont(theme.font("body", bold=bold))
        if painter.fontMetrics().horizontalAdvance(title) > place.width():
            painter.drawText(place, flags.AlignVCenter | Qt.TextFlag.TextWordWrap, title)
            return  # two lines of title; the note is in the tooltip
        upper = flags.AlignTop if note else flags.AlignVCenter
        self._draw_text(painter, place, upper, title)
        if note:
            painter.setFont(theme.font("note"))
            painter.setPen(QColor(theme.tokens.muted))
            self._draw_text(painter, place, flags.AlignBottom, note)

    @staticmethod
    def _draw_text(painter: QPainter, place: QRect, where: Qt.AlignmentFlag, text: str) -> None:
        """In one line, with dots where the room ends."""
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, where | Qt.AlignmentFlag.AlignLeft, shown)

    def _mark(self, mark: Mark, current: bool) -> tuple[str, str]:
        tokens = self.theme.tokens
        if mark is Mark.OPEN and current:
            return "dot", tokens.accent
        colours = {
            Mark.DONE: tokens.accent,
            Mark.ATTENTION: tokens.caution,
            Mark.STALE: tokens.caution,
        }
        return mark.value, colours.get(mark, tokens.muted)
