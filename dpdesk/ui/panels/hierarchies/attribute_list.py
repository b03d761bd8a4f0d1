"""The attributes that want a hierarchy, with how each stands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from dpdesk.core.messages import msg
from dpdesk.ui.panels.hierarchies.presenter import Entry, State
from dpdesk.ui.theme import SPACE, Theme, ThemeManager

_NAME = Qt.ItemDataRole.UserRole


class AttributeList(QListWidget):
    """Quasi-identifiers first, then sensitive attributes; ``picked(str)`` names the chosen one."""

    picked = Signal(str)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: tuple[Entry, ...] = ()
        self._headings = (self.tr("Quasi-identifiers"), self.tr("Sensitive (optional)"))
        self.setAccessibleName(self.tr("Attributes"))
        self.setToolTip(self.tr("Choose an attribute to see and edit its hierarchy"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.currentItemChanged.connect(self._on_current)
        theme.changed.connect(self._on_theme)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is listed."""
        return self._entries

    @property
    def attribute(self) -> str:
        """The chosen attribute; empty when there is none."""
        item = self.currentItem()
        return "" if item is None else str(item.data(_NAME) or "")

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show these; the chosen attribute stays chosen when it is still there."""
        names = [entry.attribute for entry in entries]
        same = names == [entry.attribute for entry in self._entries]
        same = same and [e.optional for e in entries] == [e.optional for e in self._entries]
        chosen, known = self.attribute, self._entries if same else ()
        self._entries = tuple(entries)
        if not same:
            self._rebuild(chosen)
        for entry in self._entries:
            if entry not in known:
                self._fill(entry)

    def choose(self, attribute: str) -> None:
        """Choose an attribute by name."""
        item = self._item(attribute)
        if item is not None:
            self.setCurrentItem(item)

    def _rebuild(self, chosen: str) -> None:
        self.blockSignals(True)
        self.clear()
        optional: bool | None = None
        for entry in self._entries:
            if entry.optional is not optional:
                optional = entry.optional
                self.addItem(self._heading(optional))
            item = QListWidgetItem()
            item.setData(_NAME, entry.attribute)
            self.addItem(item)
        names = [entry.attribute for entry in self._entries]
        if chosen in names:
            self.choose(chosen)  # silently: nothing else has been picked
        self.blockSignals(False)
        if names and chosen not in names:
            self.choose(names[0])

    def _heading(self, optional: bool) -> QListWidgetItem:
        item = QListWidgetItem(self._headings[1 if optional else 0])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(self._theme.theme.font("note", bold=True))
        item.setSizeHint(QSize(10, self._theme.theme.row))
        return item

    def _fill(self, entry: Entry) -> None:
        item = self._item(entry.attribute)
        if item is None:
            return
        item.setText(entry.text)
        item.setToolTip(msg("{file}: {note}", file=entry.attribute, note=entry.note))
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{entry.attribute}, {entry.note}")
        theme = self._theme.theme
        bad = {State.LACKING: theme.tokens.caution, State.FAILED: theme.tokens.fail}
        item.setForeground(QColor(bad.get(entry.state, theme.tokens.text)))
        item.setSizeHint(QSize(10, QFontMetrics(theme.font()).lineSpacing() * 2 + SPACE.m))

    def _item(self, attribute: str) -> QListWidgetItem | None:
        items = (self.item(row) for row in range(self.count()))
        return next((item for item in items if item.data(_NAME) == attribute), None)

    @Slot()
    def _on_current(self) -> None:
        if self.attribute:
            self.picked.emit(self.attribute)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        bold = QFontMetrics(theme.font("note", bold=True))
        widest = max(bold.horizontalAdvance(words) for words in self._headings)
        self.setMinimumWidth(widest + self.verticalScrollBar().sizeHint().width() + SPACE.xl)
        self._rebuild(self.attribute)
        for entry in self._entries:
            self._fill(entry)
