"""The right side: question, answer, heat table or bars, the chosen cell in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QLabel,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from dpdesk.core.pivot import STEPS, Labels, Pivot, pivot_chart
from dpdesk.core.query import ALL
from dpdesk.ui.browsing.words import (
    answer_words,
    assumption_words,
    axes_words,
    cell_name,
    cell_words,
    chart_answer,
    half_text,
    measure_words,
    measured_words,
    question_words,
    shown_value,
)
from dpdesk.ui.charts import ChartView
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import guarded
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.theme.manager import Tokens
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import button, note
from dpdesk.ui.words.numbers import short_name, shortened
from dpdesk.ui.words.spoken import in_window, said

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
Order = tuple[Labels, bool] | None
WARNING = "△"
_SAMPLE = 200
_DARK_TEXT, _LIGHT_TEXT = "#1B1F24", "#FFFFFF"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PivotModel(QAbstractTableModel):
    """A :class:`Pivot`; the first columns hold the labels of the rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pivot: Pivot | None = None
        self._order: Order = None
        self._shades: NDArray[np.int8] = np.empty((0, 0), np.int8)
        self._doubtful: NDArray[np.bool_] = np.empty((0, 0), np.bool_)

    def show(self, pivot: Pivot | None, share: float, order: Order = None) -> None:
        """Show other numbers; cells whose ± is above the share of their value are marked.

        ``order`` has the labels of the column that the rows are sorted by, and whether they fall.
        """
        self.beginResetModel()
        self._order = order
        self._pivot = pivot
        if pivot is not None:
            self._shades, self._doubtful = pivot.shades(), pivot.doubtful(share)
        self.endResetModel()

    def mark(self, share: float) -> None:
        """Mark by another share."""
        if self._pivot is None:
            return
        self._doubtful = self._pivot.doubtful(share)
        last = self.index(self.rowCount() - 1, self.columnCount() - 1)
        self.dataChanged.emit(self.index(0, 0), last)

    @property
    def pivot(self) -> Pivot | None:
        """The numbers on show."""
        return self._pivot

    @property
    def sides(self) -> int:
        """Number of columns that hold labels; one even where no dimension stands on rows."""
        return max(1, len(self._pivot.row_axes)) if self._pivot is not None else 0

    def place(self, index: Index) -> tuple[int, int] | None:
        """Row and column among the values; None for labels."""
        column = index.column() - self.sides
        return (index.row(), column) if index.isValid() and column >= 0 else None

    def shade(self, index: Index) -> int:
        """The step of the error's ramp, -1 where there is none."""
        place = self.place(index)
        return -1 if place is None else int(self._shades[place])

    def near_zero(self, index: Index) -> bool:
        """Whether a value is known, has an error, and is so small that the error says more."""
        place, pivot = self.place(index), self._pivot
        if place is None or pivot is None or self._shades[place] >= 0:
            return False
        half = float(pivot.half_widths[place])
        return not np.isnan(pivot.values[place]) and half > 0

    def doubtful(self, index: Index) -> bool:
        """Whether a cell is marked."""
        place = self.place(index)
        return place is not None and bool(self._doubtful[place])

    def is_margin(self, index: Index) -> bool:
        """Whether a cell holds a sum over all categories of some dimension."""
        place, pivot = self.place(index), self._pivot
        if place is None or pivot is None:
            return False
        return None in (*pivot.row_labels[place[0]], *pivot.column_labels[place[1]])

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of rows."""
        return 0 if parent.isValid() or self._pivot is None else len(self._pivot.row_labels)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Labels and values."""
        if parent.isValid() or self._pivot is None:
            return 0
        return self.sides + len(self._pivot.column_labels)

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words of a cell; the ± stands in the line below the value."""
        pivot = self._pivot
        if pivot is None or not index.isValid():
            return None
        place = self.place(index)
        if place is None:
            return self._label_data(pivot, index, role)
        half = float(pivot.half_widths[place])
        if role == Qt.ItemDataRole.DisplayRole:
            below, shown = half_text(half), shown_value(pivot, *place)
            mark = f"{WARNING} " if self.doubtful(index) else ""
            return f"{shown}\n{mark}{below}" if below else shown
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            said = cell_words(pivot, *place)
            return f"{WARNING} {said}" if self.doubtful(index) else said
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT
        return None

    def _label(self, label: str | None) -> str:
        return said(ALL) if label is None else shortened(label) or self.tr("(empty)")

    def _label_data(self, pivot: Pivot, index: Index, role: int) -> object:
        labels = pivot.row_words(index.row())
        label = labels[index.column()] if labels else None
        text = self._label(label)
        if role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.AccessibleTextRole,
            Qt.ItemDataRole.ToolTipRole,
        ):
            return text
        return _LEFT if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _corner(self, pivot: Pivot, section: int, *, spoken: bool) -> str:
        """The name of a row dimension; the last one is followed by those on the columns.

        Each of these is written in the line of its labels.
        """
        name = pivot.row_axes[section] if pivot.row_axes else ""
        if spoken or section < self.sides - 1 or not pivot.column_axes:
            return name
        *above, last = map(short_name, pivot.column_axes)
        return "\n".join([*above, f"{name} \\ {last}".strip()])

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Names of the row dimensions, labels of the columns; one line for each dimension."""
        pivot = self._pivot
        if pivot is None or orientation is Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section < self.sides else _RIGHT
        spoken = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
        if role != Qt.ItemDataRole.DisplayRole and role not in spoken:
            return None
        if section < self.sides:
            return self._corner(pivot, section, spoken=role in spoken)
        labels = pivot.column_words(section - self.sides)
        if role in spoken and pivot.column_axes:
            return axes_words(pivot.column_axes, labels)
        names = [self._label(label) for label in labels] or [measure_words(pivot.grid.measure)]
        if self._order is not None and pivot.column_labels[section - self.sides] == self._order[0]:
            names[-1] += " ↓" if self._order[1] else " ↑"
        return "\n".join(names)


class ErrorDelegate(QStyledItemDelegate):
    """Paints value and ± on the ramp of the error; hatched where nothing can be said."""

    def __init__(self, theme: ThemeManager, model: PivotModel, parent: QObject) -> None:
        super().__init__(parent)
        self._theme, self._shown = theme, model

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The ground, the two lines, a frame around the current cell."""
        if self._shown.place(index) is None:
            super().paint(painter, option, index)
            return
        tokens, shade = self._theme.tokens, self._shown.shade(index)
        place: QRect = option.rect
        ground = tokens.ramp[shade] if shade >= 0 else tokens.surface
        painter.save()
        painter.fillRect(place, QColor(ground))
        text = str(index.data() or "")
        if self._shown.near_zero(index):
            painter.fillRect(place, QBrush(QColor(tokens.ramp[1]), Qt.BrushStyle.FDiagPattern))
        if "\n" not in text:
            painter.fillRect(place, QBrush(QColor(tokens.hairline), Qt.BrushStyle.BDiagPattern))
        painter.setPen(QColor(text_on(ground, tokens)))
        self._write(painter, place, text, bold=self._shown.is_margin(index))
        painter.setPen(QPen(QColor(tokens.hairline), 1))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        state = option.state
        if state & QStyle.StateFlag.State_Selected or state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.drawRect(place.adjusted(1, 1, -1, -1))
        painter.restore()

    def _write(self, painter: QPainter, place: QRect, text: str, *, bold: bool) -> None:
        theme = self._theme.theme
        value, _, below = text.partition("\n")
        room = place.adjusted(SPACE.s, 2, -SPACE.s, -2)
        painter.setFont(theme.font(bold=bold))
        upper = room.adjusted(0, 0, 0, -room.height() * 9 // 20) if below else room
        painter.drawText(upper, _RIGHT, value)
        if below:
            painter.setFont(theme.font("note"))
            painter.drawText(room.adjusted(0, room.height() * 11 // 20, 0, 0), _RIGHT, below)


def text_on(ground: str, tokens: Tokens) -> str:
    """The better of dark and light text on a ground."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: float, other: float) -> float:
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)

    if ground == tokens.surface:
        return tokens.text
    below = luminance(ground)
    return max((_DARK_TEXT, _LIGHT_TEXT), key=lambda text: contrast(luminance(text), below))


class PivotGrid(DataGrid):
    """The table, with rows of two lines."""

    least_ems = 30

    def __init__(self, theme: ThemeManager, name: str, model: PivotModel) -> None:
        super().__init__(theme, name)
        self._shown = model
        self.verticalHeader().hide()
        self.setItemDelegate(ErrorDelegate(theme, model, self))
        self.setSelectionMode(self.SelectionMode.ContiguousSelection)
        self.setShowGrid(False)
        self.setModel(model)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        super()._on_theme(theme)
        self.verticalHeader().setDefaultSectionSize(round(theme.row * 1.7))
        self.setMinimumHeight(theme.row * 9)
        self.viewport().update()

    def fit_columns(self) -> None:
        """Wide enough for labels and values; all columns of values are as wide as the widest."""
        model: PivotModel | None = getattr(self, "_shown", None)
        if model is None or model.pivot is None:
            return
        theme, metrics = self._theme.theme, self.fontMetrics()

        def width(text: object) -> int:
            lines = str(text or "").split("\n")
            return round(max(metrics.horizontalAdvance(line) for line in lines) * 1.12) + 28

        rows = range(min(_SAMPLE, model.rowCount()))
        for side in range(model.sides):
            texts = [model.headerData(side, Qt.Orientation.Horizontal)]
            texts += [model.index(row, side).data() for row in rows]
            self.setColumnWidth(side, min(max(map(width, texts)), theme.ems(40)))
        sample = range(model.sides, min(model.columnCount(), model.sides + _SAMPLE // 10))
        texts = [model.headerData(each, Qt.Orientation.Horizontal) for each in sample]
        last = model.rowCount() - 1
        texts += [model.index(row, each).data() for each in sample for row in (0, last)]
        wide = min(max(map(width, texts), default=0), theme.ems(24))
        for at in range(model.sides, model.columnCount()):
            self.setColumnWidth(at, max(wide, theme.ems(11)))

    def sizeHint(self) -> QSize:
        """Room for some rows."""
        return QSize(self._theme.theme.ems(60), self._theme.theme.row * 14)


TABLE, BARS = "table", "bars"


class RampLegend(QWidget):
    """What the colours of the table mean."""

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._texts = [f"≤ {share * 100:g} %" for share in STEPS] + [f"> {STEPS[-1] * 100:g} %"]
        self._texts.append(self.tr("near 0"))
        self.setAccessibleName(self.tr("Colours: ± as a share of the value"))
        self.setToolTip(
            self.tr(
                "The darker the background, the larger the ± is compared with the value "
                "(in dark: lighter)"
            )
        )
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setFont(theme.font("note"))
        self.updateGeometry()
        self.update()

    def _label(self) -> str:
        return self.tr("± compared with the value:")

    def _box(self) -> int:
        return max(self.fontMetrics().horizontalAdvance(text) for text in self._texts) + SPACE.m

    def _line(self) -> int:
        return self.fontMetrics().height() + SPACE.s

    def _boxes(self, width: int) -> list[QRect]:
        """Where the words and the steps stand; in several lines where there is little room."""
        label = self.fontMetrics().horizontalAdvance(self._label()) + SPACE.s
        found, left, top = [QRect(0, 0, label, self._line())], label, 0
        for _ in self._texts:
            if left + self._box() > width and left > 0:
                left, top = 0, top + self._line()
            found.append(QRect(left, top + 1, self._box(), self._line() - 2))
            left += self._box()
        return found

    def sizeHint(self) -> QSize:
        """Room for all steps in one line."""
        return QSize(self._boxes(1 << 20)[-1].right() + 1, self._line())

    def minimumSizeHint(self) -> QSize:
        """Room for the words, or for one step."""
        return QSize(max(self._boxes(0)[0].width(), self._box()), self._line())

    def hasHeightForWidth(self) -> bool:
        """It breaks into lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The lines that this width makes."""
        return self._boxes(width)[-1].bottom() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        """A box of its colour for each step."""
        painter, tokens = QPainter(self), self._theme.tokens
        words, *boxes = self._boxes(self.width())
        painter.setPen(QColor(tokens.muted))
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self._label())
        grounds = (*tokens.ramp, tokens.surface)
        for number, (ground, box, text) in enumerate(zip(grounds, boxes, self._texts, strict=True)):
            painter.fillRect(box, QColor(ground))
            if number == len(tokens.ramp):
                painter.fillRect(box, QBrush(QColor(tokens.ramp[1]), Qt.BrushStyle.FDiagPattern))
            painter.setPen(QColor(text_on(ground, tokens)))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


class BrowsePage(QWidget):
    """``keepAsked(int, int)``: keep only the categories of this cell.

    ``sortAsked(object)``: sort the rows by the column with these labels, None: as declared.
    """

    keepAsked = Signal(int, int)
    sortAsked = Signal(object)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._share = 0.0
        self._filters = ""
        layout = column(self, gap=SPACE.s)
        self.question, self.answer = QLabel(), QLabel()
        for label, look in ((self.question, "section"), (self.answer, "answer")):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            set_look(label, look)
            layout.addWidget(label)
        line = FlowBox(gap=SPACE.m)
        self.strip = ChoiceStrip(self.tr("How to show the numbers"))
        self.strip.set_choices([(TABLE, self.tr("Table")), (BARS, self.tr("Bars"))])
        self.strip.chosen.connect(self._on_chosen)
        line.add(self.strip)
        self.totals = QCheckBox(self.tr("T&otals"))
        self.totals.setAccessibleName(self.tr("Totals"))
        self.totals.setToolTip(self.tr("Show the sums over all categories of a dimension"))
        self.totals.setChecked(True)
        self.totals.toggled.connect(self._show_totals)
        line.add(self.totals)
        self.legend = RampLegend(theme)
        line.add(self.legend)
        layout.addWidget(line)
        self.model = PivotModel(self)
        self.grid = PivotGrid(theme, self.tr("Values with their errors"), self.model)
        self.chart = ChartView(theme)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.grid)
        self._pages.addWidget(self.chart)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self._build_cell())
        self.assumption = note()
        layout.addWidget(self.assumption)
        self.grid.selectionModel().currentChanged.connect(self._tell_cell)
        self.grid.activated.connect(self._on_keep)
        self.grid.horizontalHeader().setSectionsClickable(True)
        self.grid.horizontalHeader().sectionClicked.connect(self._on_head)
        self.show_pivot(None, 0.3)

    def _build_cell(self) -> QWidget:
        box = QWidget()
        layout = column(box, gap=SPACE.xs)
        self.cell = note("", "strong")
        layout.addWidget(self.cell)
        line = FlowBox(gap=SPACE.s)
        tip = self.tr("Leave out all other categories of these dimensions (Enter on a cell)")
        self.keep = button(self.tr("&Keep only this"), tip)
        self.keep.clicked.connect(self._on_keep)
        tip = self.tr(
            "Sort rows by this column: descending, ascending, in declared order (or click "
            "its header)"
        )
        self.sort = button(self.tr("Sort by th&is column"), tip)
        self.sort.clicked.connect(self._on_sort)
        for widget in (self.keep, self.sort):
            line.add(widget)
        layout.addWidget(line)
        return box

    @property
    def shows_bars(self) -> bool:
        """Whether the bars are in front."""
        return self.strip.current == BARS

    def show_pivot(
        self, pivot: Pivot | None, share: float, filters: str = "", order: Order = None
    ) -> None:
        """Show other numbers, or none; ``filters`` say of which categories they are."""
        self._share, self._filters = share, filters
        place = self.grid.currentIndex()
        self.model.show(pivot, share, order)
        self.setEnabled(pivot is not None)
        self._say()
        if pivot is None:
            self.chart.set_chart(None)
            return
        row = min(max(place.row(), 0), self.model.rowCount() - 1)
        column_ = min(max(place.column(), self.model.sides), self.model.columnCount() - 1)
        self.grid.setCurrentIndex(self.model.index(row, column_))
        self._show_totals()
        self._draw()

    def mark(self, share: float) -> None:
        """Mark cells by another share of their value."""
        self._share = share
        self.model.mark(share)
        self._say()
        self._draw()

    def _say(self) -> None:
        pivot = self.model.pivot
        self.question.setText("" if pivot is None else question_words(pivot, self._filters))
        answer = "" if pivot is None else answer_words(pivot, self._share)
        self.answer.setText(answer)
        self.grid.setAccessibleDescription(answer)
        lines = (
            [] if pivot is None else [assumption_words(pivot), *map(in_window, pivot.grid.warnings)]
        )
        self.assumption.setText(" ".join(lines))
        self._tell_cell()

    def _draw(self) -> None:
        pivot = self.model.pivot
        if pivot is not None and self.shows_bars:
            answer = chart_answer(pivot)
            unit = self.tr("persons") if pivot.measure == "count" else ""
            question = question_words(pivot, self._filters)
            self.chart.set_chart(pivot_chart(pivot, question, answer, unit, measured_words(pivot)))

    @Slot()
    def _show_totals(self) -> None:
        """Hide the sums, or show them; where there is nothing but sums they stay."""
        pivot, hidden = self.model.pivot, not self.totals.isChecked()
        if pivot is None:
            return
        rows = [None in labels for labels in pivot.row_labels]
        columns = [None in labels for labels in pivot.column_labels]
        for number, total in enumerate(rows):
            self.grid.setRowHidden(number, hidden and total and not all(rows))
        for number, total in enumerate(columns):
            place = number + self.model.sides
            self.grid.setColumnHidden(place, hidden and total and not all(columns))

    @Slot()
    def toggle(self) -> None:
        """Change between table and bars."""
        self.strip.choose(TABLE if self.shows_bars else BARS)
        self._on_chosen(self.strip.current)

    @Slot(str)
    def _on_chosen(self, identifier: str) -> None:
        self._pages.setCurrentWidget(self.chart if identifier == BARS else self.grid)
        for widget in (
            self.legend,
            self.totals,
            self.question,
            self.answer,
        ):  # the chart has its own
            widget.setVisible(identifier != BARS)
        self._draw()

    def _tell_cell(self) -> None:
        pivot, place = self.model.pivot, self._place()
        self.keep.setEnabled(False)
        self.sort.setEnabled(pivot is not None and place is not None)
        if pivot is None or place is None:
            self.cell.setText(self.tr("Choose a cell to read it in words.") if pivot else "")
            return
        self.cell.setText(cell_words(pivot, *place))
        labels = (*pivot.row_labels[place[0]], *pivot.column_labels[place[1]])
        self.keep.setEnabled(any(label is not None for label in labels))
        name = cell_name(pivot, *place)
        self.keep.setAccessibleDescription(name)

    def _place(self) -> tuple[int, int] | None:
        index = self.grid.currentIndex()
        return self.model.place(index) if index.isValid() else None

    @Slot()
    def _on_sort(self) -> None:
        place = self._place()
        if place is not None:
            self._on_head(place[1] + self.model.sides)

    @Slot(int)
    def _on_head(self, section: int) -> None:
        """Sort by the column whose head was clicked; that of the labels brings their order back."""
        pivot, column_ = self.model.pivot, section - self.model.sides
        if pivot is not None:
            self.sortAsked.emit(pivot.column_labels[column_] if column_ >= 0 else None)

    @Slot()
    def _on_keep(self) -> None:
        place = self._place()
        if place is not None and self.keep.isEnabled():
            self.keepAsked.emit(*place)
