"""The checklist of a release, and the evidence of the check that is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QModelIndex, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QBrush, QColor, QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLabel,
    QScrollArea,
    QWidget,
)

from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.panels.review.checks import CheckRow, State
from dpdesk.ui.panels.review.scrolling import scrolled
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, splitter

Index = QModelIndex | QPersistentModelIndex


class CheckModel(ListModel):
    """Shape and word of the state, then the claim; failed lines in their colour."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._theme = theme
        self._checks: tuple[CheckRow, ...] = ()

    def set_checks(self, rows: Sequence[CheckRow]) -> None:
        """Show these checks."""
        self._checks = tuple(rows)
        cells = [(row.mark, row.claim) for row in rows]
        self.set_table((self.tr("How it went"), self.tr("What was checked")), cells)

    def check(self, number: int) -> CheckRow | None:
        """The check in a line."""
        return self._checks[number] if 0 <= number < len(self._checks) else None

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See ListModel; the state has a colour beside its shape and word."""
        check = self.check(index.row()) if index.isValid() else None
        if check is not None and role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            tokens = self._theme.tokens
            colours = {State.FAILED: tokens.fail, State.CONFIRMED: tokens.accent}
            return QBrush(QColor(colours.get(check.state, tokens.muted)))
        if check is not None and role == Qt.ItemDataRole.FontRole and check.state is State.FAILED:
            font = QFont(self._theme.theme.font())
            font.setBold(True)
            return font
        if check is not None and role == Qt.ItemDataRole.ToolTipRole:
            return f"{check.claim}: {check.found}"
        return super().data(index, role)


class CheckList(QWidget):
    """The checklist above, the evidence of the chosen line below."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.model = CheckModel(theme, self)
        self.grid = DataGrid(theme, self.tr("Checks of this release"))
        self.grid.setToolTip(self.tr("Arrow keys choose a check; its evidence stands below"))
        self.grid.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.grid.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.grid.setModel(self.model)
        self.grid.verticalHeader().hide()
        self.grid.setShowGrid(False)
        self._set_widths()
        self.grid.selectionModel().selectionChanged.connect(self._on_selected)
        layout = column(self, gap=0)
        self._split = splitter(
            "review-checks", (self.grid, self._build_evidence()), (2, 1), Qt.Orientation.Vertical
        )
        layout.addWidget(self._split)
        theme.changed.connect(self._on_theme)

    def show_checks(self, rows: Sequence[CheckRow]) -> None:
        """Show these checks, the first one chosen (a failed one stands first)."""
        self.model.set_checks(rows)
        self._set_widths()
        if rows:
            self.grid.selectRow(0)
            self._show(rows[0])

    @property
    def evidence(self) -> str:
        """The evidence on show, as text."""
        labels = (self._claim, self._state, self._found, self._file)
        return "\n".join(label.text() for label in labels if label.text())

    def _build_evidence(self) -> QScrollArea:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.xs)
        self._claim, self._state = QLabel(), QLabel()
        self._found, self._file = QLabel(), QLabel()
        set_look(self._claim, "strong")
        set_look(self._state, "note")
        set_look(self._file, "note")
        for label in (self._claim, self._state, self._found, self._file):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(label)
        layout.addStretch(1)
        return scrolled(frame, self.tr("Evidence of the chosen check"))

    def _set_widths(self) -> None:
        header = self.grid.horizontalHeader()
        if self.model.columnCount():
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
            header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)

    @Slot(QItemSelection, QItemSelection)
    def _on_selected(self, chosen: QItemSelection, left: QItemSelection) -> None:
        rows = self.grid.selectionModel().selectedRows()
        check = self.model.check(rows[0].row()) if rows else None
        if check is not None:
            self._show(check)

    def _show(self, check: CheckRow) -> None:
        self._claim.setText(check.claim)
        self._state.setText(f"{check.state.value} {check.word}")
        looks = {State.FAILED: "fail", State.CONFIRMED: "ok"}
        set_look(self._state, looks.get(check.state, "note"))
        self._found.setText(check.found)
        place = check.path
        if check.digest:
            parts = [check.digest[n : n + 8] for n in range(0, len(check.digest), 8)]
            place = self.tr("{file}, SHA-256 {hash}").format(file=place, hash=" ".join(parts))
        if check.key:
            text = self.tr("{place} · in the manifest: {key}") if place else "{key}"
            place = text.format(place=place, key=check.key)
        self._file.setText(place)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._set_widths()
