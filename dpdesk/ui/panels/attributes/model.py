"""The columns of the data as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from dpdesk.core.messages import msg
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.models.table import Index
from dpdesk.ui.panels.attributes.presenter import Row, note, top_text, translate
from dpdesk.ui.words.columns import role_words, short_share, type_words
from dpdesk.ui.words.labels import label_facts, label_of, with_label
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
            self.tr("Share of the rows whose value nobody else has"),
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
