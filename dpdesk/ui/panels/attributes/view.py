"""The table of columns: chips for roles, keys that set them, a context menu."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from dpdesk.app.types import Role
from dpdesk.core.messages import msg
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import Index, guarded
from dpdesk.ui.panels.attributes.presenter import (
    LETTERS,
    ROLES,
    Row,
    meaning,
    note,
    top_text,
    translate,
)
from dpdesk.ui.theme import SPACE, ThemeManager, Tokens, mix
from dpdesk.ui.words.columns import (
    label_facts,
    label_of,
    role_words,
    short_share,
    type_words,
    with_label,
)
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said

NAME, ROLE, NOTE, TYPE, DISTINCT, UNIQUE, MISSING, TOP = range(8)
ROW_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_ROOT = QModelIndex()


class AttributesModel(QAbstractTableModel):
    """One row per column of the data; the delegate draws the role as a chip."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Row, ...] = ()
        self._headings = (
            self.tr("Column"),
            self.tr("Role"),
            self.tr("Note"),
            self.tr("Type"),
            self.tr("Different"),
            self.tr("Unique"),
            self.tr("Missing"),
            self.tr("Most frequent"),
        )
        self._tips = (
            self.tr("Name of the column"),
            self.tr("What the column is for the protection; dotted: suggested, not confirmed"),
            self.tr("Why the role is suggested, what it does, or what is doubtful about it"),
            self.tr("What all its values can be read as"),
            self.tr("Number of different values"),
            self.tr("Share of the rows whose value no one else has"),
            self.tr("Share of the rows without a value"),
            self.tr("The most frequent values"),
        )

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is listed."""
        return self._rows

    def set_rows(self, rows: Sequence[Row]) -> None:
        """List these; resets only when other columns are listed."""
        new = tuple(rows)
        if [row.name for row in new] == [row.name for row in self._rows]:
            self._rows = new
            if new:
                self.dataChanged.emit(self.index(0, 0), self.index(len(new) - 1, TOP))
            return
        self.beginResetModel()
        self._rows = new
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of columns of the data."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Number of facts."""
        return 0 if parent.isValid() else len(self._headings)

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, alignment, tooltip, and the row itself for the delegate."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in (DISTINCT, UNIQUE, MISSING) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return msg("{file}: {note}", file=self._headings[column], note=_spoken(row, column))
        return None

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings with an explanation."""
        if orientation is Qt.Orientation.Vertical:
            return grouped(section + 1) if role == Qt.ItemDataRole.DisplayRole else None
        if not 0 <= section < len(self._headings):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tips[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in (DISTINCT, UNIQUE, MISSING) else _LEFT
        return None


def _text(row: Row, column: int) -> str:
    if column == NAME:
        return f"△ {row.name}" if row.warning and row.role is not None else row.name
    if column == ROLE:
        return "" if row.shown is None else role_words(row.shown)
    if column == NOTE:
        return note(row)
    profile = row.profile
    if profile is None:
        return "…"
    texts = {
        TYPE: type_words(profile.type),
        DISTINCT: grouped(profile.distinct),
        UNIQUE: short_share(profile.unique_share),
        MISSING: short_share(profile.missing_share),
        TOP: top_text(profile),
    }
    return texts[column]


def _tip(row: Row, column: int) -> str:
    if column == ROLE and row.role is None and row.profile is not None:
        return said(row.profile.suggestion.reason)
    if column == NOTE and row.warning:
        return row.warning
    if column == NAME and row.profile is not None and row.profile.variable is not None:
        facts = label_facts(row.profile)
        return "\n".join(
            [
                _text(row, column),
                *(msg("{file}: {note}", file=name, note=text) for name, text in facts),
            ]
        )
    if column == TOP and row.profile is not None:
        return "\n".join(
            msg(
                "{file}: {note}",
                file=with_label(row.profile, value.value),
                note=grouped(value.rows),
            )
            for value in row.profile.top
        )
    return _text(row, column)


def _spoken(row: Row, column: int) -> str:
    text = _text(row, column)
    if column == NAME and label_of(row.profile):
        text = f"{text}, {label_of(row.profile)}"
    if column == ROLE and row.role is None and row.profile is not None:
        words = translate("AttributesPanel", "suggested {role}, not confirmed. {reason}")
        return words.format(role=text, reason=said(row.profile.suggestion.reason))
    return text.replace("△ ", translate("AttributesPanel", "Caution: "))


_PADDING = 8
NOTE_EMS = 36


def role_colour(tokens: Tokens, role: Role) -> str:
    """The colour of a role's chip; the word on it says the same."""
    colours = {
        Role.IDENTIFIER: tokens.series[3],
        Role.QUASI_IDENTIFIER: tokens.series[0],
        Role.SENSITIVE: tokens.series[1],
        Role.INSENSITIVE: tokens.reference,
        Role.WEIGHT: tokens.series[2],
        Role.CLUSTER: tokens.series[2],
    }
    return colours[role]


class ChipDelegate(QStyledItemDelegate):
    """Draws a role as a chip: filled when it was given, dotted with a question mark if not."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """The ground of the cell as usual, the chip above."""
        row = index.data(ROW_ROLE)
        blank = QStyleOptionViewItem(option)
        self.initStyleOption(blank, index)
        blank.text = ""
        style = option.widget.style() if option.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, blank, painter, option.widget)
        if isinstance(row, Row) and row.shown is not None:
            self._paint_chip(painter, QRectF(option.rect), row.shown, given=row.role is not None)

    def _paint_chip(self, painter: QPainter, cell: QRectF, role: Role, *, given: bool) -> None:
        theme = self._theme.theme
        tokens, colour = theme.tokens, role_colour(theme.tokens, role)
        font = theme.font("note", bold=given)
        metrics = QFontMetrics(font)
        text = chip_text(role, given=given)
        wide = min(metrics.horizontalAdvance(text) + 2 * _PADDING, round(cell.width()) - 8)
        high = min(metrics.height() + 4, round(cell.height()) - 4)
        chip = QRectF(cell.left() + 4.5, cell.center().y() - high / 2 + 0.5, wide, high)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(colour), 1.0 if given else 1.4)
        pen.setStyle(Qt.PenStyle.SolidLine if given else Qt.PenStyle.DotLine)
        painter.setPen(pen)
        ground = QColor(mix(tokens.surface, colour, 0.22)) if given else Qt.GlobalColor.transparent
        painter.setBrush(ground)
        painter.drawRoundedRect(chip, high / 2, high / 2)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text if given else tokens.muted))
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide - _PADDING)
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Room for the widest chip."""
        return QSize(self.widest(), self._theme.theme.row)

    def widest(self) -> int:
        """Width of the widest chip with its surroundings."""
        font: QFont = self._theme.theme.font("note", bold=True)
        metrics = QFontMetrics(font)
        texts = (metrics.horizontalAdvance(chip_text(role, given=False)) for role in ROLES)
        return max(texts) + 2 * _PADDING + 2 * SPACE.s


def chip_text(role: Role, *, given: bool) -> str:
    """The words on a chip; a suggestion asks."""
    return role_words(role) if given else f"{role_words(role)}?"


class AttributeGrid(DataGrid):
    """Rows are chosen whole, also several.

    ``roleAsked(Role)`` for the chosen rows, ``cycleAsked()`` when Space asks for the next role,
    ``rowsChosen()`` when the choice changes.
    """

    roleAsked = Signal(object)
    cycleAsked = Signal()
    rowsChosen = Signal()
    least_ems = 36

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__(theme, name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.verticalHeader().hide()
        self.chips = ChipDelegate(theme, self)
        self.setItemDelegateForColumn(ROLE, self.chips)
        self._menu: QMenu | None = None

    def selectAll(self) -> None:
        """Choose all rows: there are few."""
        QTableView.selectAll(self)

    def fit_columns(self) -> None:
        """As wide as their texts; the role as wide as its widest chip."""
        super().fit_columns()
        if self.model() is not None and hasattr(self, "chips"):
            self.setColumnWidth(ROLE, self.chips.widest())
            self.setColumnWidth(NOTE, self._theme.theme.ems(NOTE_EMS))

    def chosen(self) -> tuple[int, ...]:
        """Numbers of the chosen rows, ascending."""
        model: QItemSelectionModel | None = self.selectionModel()
        if model is None:
            return ()
        return tuple(sorted(index.row() for index in model.selectedRows()))

    def selectionChanged(self, selected: object, deselected: object) -> None:
        """Tell."""
        super().selectionChanged(selected, deselected)  # type: ignore[arg-type]
        self.rowsChosen.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters and digits set a role, Space goes to the next one."""
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.ShiftModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        key = event.text().upper()
        if plain and event.key() == Qt.Key.Key_Space:
            self.cycleAsked.emit()
        elif plain and key in LETTERS:
            self.roleAsked.emit(LETTERS[key])
        elif plain and len(key) == 1 and key in "123456":
            self.roleAsked.emit(ROLES[int(key) - 1])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the roles for the chosen rows."""
        self.role_menu().popup(event.globalPos())

    def role_menu(self) -> QMenu:
        """The menu of roles."""
        if self._menu is None:
            self._menu = QMenu(self)
            self._menu.setToolTipsVisible(True)
            for letter, role in LETTERS.items():
                text = translate("AttributesPanel", "{role}\t{letter}")
                action = QAction(text.format(role=role_words(role), letter=letter), self._menu)
                action.setData(role.value)
                action.setToolTip(meaning(role))
                self._menu.addAction(action)
            self._menu.triggered.connect(self._on_menu)
        return self._menu

    @Slot(QAction)
    def _on_menu(self, action: QAction) -> None:
        self.roleAsked.emit(Role(str(action.data())))

    def choose_rows(self, first: int) -> None:
        """Choose one row, whatever keys are held: with Ctrl, views would take a choice back."""
        model, chosen = self.model(), self.selectionModel()
        if model is not None and 0 <= first < model.rowCount():
            flags = QItemSelectionModel.SelectionFlag
            index: Index = model.index(first, 0)
            chosen.setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
