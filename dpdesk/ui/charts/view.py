"""A chart as people meet it: question, answer, picture or table, export.

Use::

    view = ChartView(theme, parent)
    view.set_chart(chart)                              # or None; view.set_placeholder("Tag …")
    view.pointPicked.connect(self._on_picked)          # click or Enter: id of the point
    view.pointSelected.connect(...)                    # arrows: id of the marked point
    view.pointHovered.connect(...)                     # id under the pointer, -1 when none
    view.limitMoved.connect(...)                       # parameter and value of the dragged line
    view.select_point(id); view.set_stale(True); view.toggle_table()

In bar charts the same signals carry the index of the category. The accessible name is the question,
the accessible description the answer; the table twin holds the same numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QCoreApplication,
    QEvent,
    QIODevice,
    QModelIndex,
    QPoint,
    QSaveFile,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QColor, QFontMetrics, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QRadioButton,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app.drawing import chart_svg
from dpdesk.core.charts import (
    Axis,
    BarChart,
    Cell,
    Chart,
    ChartTable,
    LatticeChart,
    PointLines,
    ScatterChart,
    drawable,
    table_from,
)
from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.ui.charts.head import ChartHead
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, icon, set_look
from dpdesk.ui.widgets.states import ElidedLabel
from dpdesk.ui.words.numbers import figure_words, shortened
from dpdesk.ui.words.spoken import in_window, said, said_line, spoken

if TYPE_CHECKING:
    from dpdesk.ui.charts.lattice_board import LatticeBoard
    from dpdesk.ui.charts.surface import PlotSurface


class StaleOverlay(QWidget):
    """Dims what lies below it, and lets every click through."""

    def __init__(self, theme: ThemeManager, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Keep covering the whole parent."""
        parent = self.parentWidget()
        if event.type() == QEvent.Type.Resize and parent is not None:
            self.resize(parent.size())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """A half-transparent ground."""
        colour = QColor(self._theme.tokens.surface)
        colour.setAlpha(150)
        QPainter(self).fillRect(self.rect(), colour)


translate = QCoreApplication.translate

PICTURE_RATIO = 2.0


class ChartSaved(QEvent):
    """Tells the window around a chart that it was saved as a file."""

    KIND = QEvent.Type(QEvent.registerEventType())

    def __init__(self, path: Path) -> None:
        super().__init__(self.KIND)
        self.path = path


class AllLines(Sequence[tuple[Cell, ...]]):
    """The lines of very many points, made one by one."""

    def __init__(self, lines: PointLines) -> None:
        self._lines, self._count = lines, len(lines.ids)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < self._count:
            raise IndexError(place)
        return self._lines.line(place)


def table_csv(table: ChartTable) -> str:
    """The twin as CSV: UTF-8 text, commas, LF, an empty field for None, no grouping."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def picture(widget: QWidget) -> bytes:
    """A widget as PNG at twice its size on screen."""
    size = widget.size() * PICTURE_RATIO
    image = QImage(size, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PICTURE_RATIO)
    image.fill(widget.palette().color(widget.backgroundRole()))
    painter = QPainter(image)
    widget.render(painter, QPoint())
    painter.end()
    data, buffer = QByteArray(), QBuffer()
    buffer.setBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; StorageError ``chart.not-written`` otherwise."""
    file = QSaveFile(str(path))
    if file.open(QIODevice.OpenModeFlag.WriteOnly):
        complete = file.write(content) == len(content)
        if complete and file.commit():
            return
    raise StorageError(
        "chart.not-written",
        translate("ChartView", "The chart could not be written to {path}: {reason}.").format(
            path=path, reason=file.errorString()
        ),
        hint=translate("ChartView", "Choose another folder."),
    )


SvgRenderer = Callable[[Chart], str]
_FORMATS = ("png", "svg", "csv")
LEAST_ROWS, MOST_LINES = 5, 16
LONG_NAME = 30
"""Letters of a name from which it may want two lines beside its bar."""


class ChartView(QWidget):
    """Shows one chart at a time.

    ``leastChanged()`` tells that the width or its :meth:`least_height` is another one,
    ``exported(str)`` names the written file, ``exportFailed(str)`` carries a sentence.
    """

    pointPicked = Signal(int)
    pointSelected = Signal(int)
    pointHovered = Signal(int)
    limitMoved = Signal(str, float)
    leastChanged = Signal()
    exported = Signal(str)
    exportFailed = Signal(str)

    def __init__(
        self, theme: ThemeManager, parent: QWidget | None = None, svg: SvgRenderer = chart_svg
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._svg = svg
        self._chart: Chart | None = None
        self._surface: PlotSurface | LatticeBoard | None = None
        self._dialog: QFileDialog | None = None
        self._keeps_answer = False
        self._least = (0, 0)
        self._model = ListModel(parent=self)
        self._movable = False
        self._lines: PointLines | None = None
        self._build()
        theme.changed.connect(self._restyle)
        self._restyle(theme.theme)
        self.set_placeholder(self.tr("Nothing to show yet."))

    # -- what is shown

    @property
    def chart(self) -> Chart | None:
        """The chart on show."""
        return self._chart

    @property
    def surface(self) -> PlotSurface | LatticeBoard | None:
        """The plot itself, for tests and the walkthrough; None before the first chart."""
        return self._surface

    def set_chart(self, chart: Chart | None) -> None:
        """Show a chart, or the placeholder."""
        chart = None if chart is None else drawable(spoken(chart), shortened)
        self._chart = chart
        self._tell_saved("", "ok")
        if chart is None:
            self._show_page()
            return
        from dpdesk.ui.charts.axes import label_of

        surface = self._surface or self._made_surface()
        self._give_room(self._theme.theme)
        question, answer = said(chart.question), said(chart.answer)
        for heard in (self, surface):
            heard.setAccessibleName(question)
            heard.setAccessibleDescription(answer)
        self._grid.setAccessibleName(self.tr("Table: {question}").format(question=question))
        surface.show_chart(chart)
        surface.setToolTip(self._keys(chart))
        lined = not isinstance(chart, BarChart) or chart.threshold_before is not None
        failing = self.tr("below the threshold") if lined else self.tr("over the limit")
        self._head.show_chart(chart, failing, label_of(_upright_axis(chart)))
        self._read_out(surface.chosen)
        self._show_page()

    def set_heading(self, text: str) -> None:
        """Write this above the picture, where the question stands elsewhere already."""
        self._head.set_heading(text)

    def let_limit_move(self) -> None:
        """Let the limit line be dragged, and tell what a click on a mark does."""
        self._movable = True
        if self._surface is not None:
            self._surface.movable = True

    def prepare(self) -> None:
        """Make the plot before there is a chart to show, while there is time for it."""
        if self._surface is None:
            self._made_surface()

    def keep_answer(self) -> None:
        """Never leave the answer out for want of height: something around this scrolls."""
        self._keeps_answer = True
        self._head.set_low(low=False)

    def forbid_saving(self, reason: str) -> None:
        """Keep internal numbers from being written to files, and say why; empty: allow it."""
        self._export.setEnabled(not reason)
        words = self.tr("Save this chart as a picture, a drawing or a table")
        self._export.setToolTip(reason or words)

    def set_placeholder(self, text: str) -> None:
        """What stands here while there is no chart: the next thing to do."""
        self._placeholder.setText(text)
        if self._chart is None:
            self.setAccessibleName(text)
            self._show_page()

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Dim the picture and mark it ↻ when it no longer belongs to the settings."""
        self._veil.setVisible(stale)
        self._veil.raise_()
        self._head.say_stale("↻ " + (reason or self.tr("out of date")) if stale else "")

    def select_point(self, number: int | None) -> None:
        """Mark a point (a category of bars); signals stay silent."""
        if self._surface is not None:
            self._surface.choose(number)
            self._read_out(number)

    @property
    def shows_table(self) -> bool:
        """Whether the table twin is in front."""
        return self._table_button.isChecked()

    @Slot()
    def toggle_table(self) -> None:
        """Change between picture and table."""
        other = self._chart_button if self.shows_table else self._table_button
        other.setChecked(True)
        self._show_page()

    def save_as(self, path: Path) -> None:
        """Write the chart in the format of the suffix (png, svg, csv); may raise StorageError."""
        chart = self._chart
        if chart is None:
            return
        suffix = path.suffix.lower()
        if suffix == ".csv":
            lines = chart.lines if isinstance(chart, ScatterChart) else None
            table = chart.table if lines is None else table_from(lines.columns, AllLines(lines))
            content = table_csv(table).encode()
        elif suffix == ".svg":
            content = self._svg(chart).encode()
        else:
            content = picture(self._sheet)
        write_bytes(path, content)
        self._tell_saved(self.tr("Saved as {path}").format(path=path), "ok")
        self.exported.emit(str(path))
        QCoreApplication.sendEvent(self.window(), ChartSaved(path))

    # -- building

    def _build(self) -> None:
        self._sheet = QWidget(self)
        self._sheet.setAutoFillBackground(True)
        self._sheet.setBackgroundRole(self._sheet.palette().ColorRole.Base)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._sheet)
        inner = QVBoxLayout(self._sheet)
        inner.setContentsMargins(SPACE.l, SPACE.m, SPACE.l, SPACE.m)
        inner.setSpacing(SPACE.xs)
        self._head = ChartHead(self._theme.theme, self._build_tools(), self._export)
        inner.addWidget(self._head)
        inner.addWidget(self._build_pages(), 1)
        self._readout = ElidedLabel()
        set_look(self._readout, "note")
        self._readout.setAlignment(Qt.AlignmentFlag.AlignRight)
        inner.addWidget(self._readout)
        self._saved = QLabel()
        self._saved.setWordWrap(True)
        self._saved.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._saved.hide()
        inner.addWidget(self._saved)

    def _build_tools(self) -> QWidget:
        """The switch between picture and table, and the button that saves."""
        self._tools = QWidget()
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(0)
        self._chart_button = self._segment(self.tr("Chart"), "segment-first")
        self._table_button = self._segment(self.tr("Table"), "segment-last")
        self._switch = QButtonGroup(self)
        for button in (self._chart_button, self._table_button):
            self._switch.addButton(button)
            tools.addWidget(button)
        self._chart_button.setChecked(True)
        self._switch.buttonClicked.connect(self._show_page)
        tools.addSpacing(SPACE.s)
        tools.addWidget(self._build_export())
        return self._tools

    def _segment(self, text: str, look: str) -> QRadioButton:
        button = QRadioButton(text)
        button.setToolTip(self.tr("Show the same numbers as a chart or a table (Ctrl+T)"))
        button.setAccessibleName(text)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(button, look)
        return button

    def _build_export(self) -> QToolButton:
        self._export = QToolButton()
        self._export.setText(self.tr("Save"))
        self._export.setToolTip(self.tr("Save this chart as a picture, a drawing or a table"))
        self._export.setAccessibleName(self.tr("Save this chart"))
        self._export.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._export.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        menu = QMenu(self._export)
        texts = {
            "png": self.tr("Picture (PNG)…"),
            "svg": self.tr("Drawing (SVG)…"),
            "csv": self.tr("Numbers (CSV)…"),
        }
        for format_name in _FORMATS:
            action = QAction(texts[format_name], menu)
            action.setData(format_name)
            menu.addAction(action)
        menu.triggered.connect(self._on_export)
        self._export.setMenu(menu)
        return self._export

    def _build_pages(self) -> QStackedWidget:
        self._pages = QStackedWidget()
        self._placeholder = QLabel()
        self._placeholder.setWordWrap(True)
        self._placeholder.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_look(self._placeholder, "note")
        self._grid = DataGrid(self._theme, self.tr("Table of the chart"))
        self._grid.setModel(self._model)
        self._grid.selectionModel().currentRowChanged.connect(self._on_line)
        self._grid.activated.connect(self._on_line_chosen)
        self._grid.horizontalHeader().setStretchLastSection(True)
        self._grid.verticalHeader().hide()
        self._plot_page = QWidget()
        QVBoxLayout(self._plot_page).setContentsMargins(0, 0, 0, 0)
        for page in (self._placeholder, self._plot_page, self._grid):
            self._pages.addWidget(page)
        self._pages.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._veil = StaleOverlay(self._theme, self._pages)
        self._veil.hide()
        self._pages.installEventFilter(self._veil)
        return self._pages

    def _keys(self, chart: Chart) -> str:
        """How to go about in a chart."""
        from dpdesk.ui.charts.axes import handles_of

        words = self.tr("Arrow keys go from point to point, Enter chooses")
        if not self._movable or not any(handle.key for handle in handles_of(chart)):
            return words
        more = self.tr("drag the dashed line, or press Shift with arrow keys, to move the limit")
        return f"{words}; {more}"

    def new_surface(self) -> PlotSurface | LatticeBoard:
        """What draws the charts; views of other kinds of charts have another one."""
        from dpdesk.ui.charts.surface import PlotSurface

        return PlotSurface(self._theme.theme)

    def around(self, surface: PlotSurface | LatticeBoard) -> QWidget:
        """The surface with what stands beside it."""
        return surface

    def _made_surface(self) -> PlotSurface | LatticeBoard:
        surface = self.new_surface()
        surface.movable = self._movable
        surface.pinned.connect(self.pointPicked)
        surface.selected.connect(self._on_selected)
        surface.hovered.connect(self._on_hovered)
        surface.limitMoved.connect(self.limitMoved)
        layout = self._plot_page.layout()
        if layout is not None:
            layout.addWidget(self.around(surface))
        self._surface = surface
        self.setTabOrder(self._export, surface)
        return surface

    # -- reactions

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is low, the picture comes before the words about it."""
        super().resizeEvent(event)
        self._fit_height()

    def least_height(self, width: int) -> int:
        """The height at this width in which nothing but the answer has to be left out."""
        inner = self._sheet.layout()
        if inner is None:
            return 0
        margins = inner.contentsMargins()
        head = self._head.least_height(width - margins.left() - margins.right())
        others = self._pages.minimumHeight() + self._readout.sizeHint().height()
        return head + others + margins.top() + margins.bottom() + 2 * inner.spacing()

    def _fit_height(self) -> None:
        if self._chart is None:
            return
        least = self.least_height(self.width())
        if not self._keeps_answer:
            inside = self._sheet.contentsRect().width() - 2 * SPACE.l
            answer = self._head.answer_height(inside)
            self._head.set_low(low=least + answer > self.height())
        if (self.width(), least) != self._least:
            self._least = self.width(), least
            self.leastChanged.emit()

    @Slot()
    def _show_page(self) -> None:
        chart, table = self._chart, self.shows_table
        self._head.show_parts(titled=chart is not None, drawn=chart is not None and not table)
        self._readout.setVisible(chart is not None and not table)
        if chart is None:
            self._pages.setCurrentWidget(self._placeholder)
            return
        if table:  # a hidden table is not worth filling at every move of a slider
            self._show_table(chart)
        self._pages.setCurrentWidget(self._grid if table else self._plot_page)
        self._veil.raise_()
        self._fit_height()

    def _show_table(self, chart: Chart) -> None:
        """The numbers of the chart; where it has points to choose, each of them is a line."""
        lines = chart.lines if isinstance(chart, ScatterChart) else None
        rows = QAbstractItemView.SelectionBehavior.SelectRows
        self._grid.setSelectionBehavior(rows if lines else rows.SelectItems)
        if lines is None:
            self._lines = None
            self._model.set_table(chart.table.columns, chart.table.rows)
            return
        if lines is not self._lines:
            self._lines = lines
            self._model.set_lines(lines.columns, AllLines(lines))
        chosen = None if self._surface is None else self._surface.chosen
        places = (lines.ids == chosen).nonzero()[0]
        with QSignalBlocker(self._grid.selectionModel()):
            self._grid.setCurrentIndex(self._model.index(int(places[0]) if places.size else -1, 0))
        self._grid.viewport().update()

    def _point_of(self, index: QModelIndex) -> int | None:
        """The point of a line of the table."""
        lines = self._lines
        return int(lines.ids[index.row()]) if lines is not None and index.isValid() else None

    @Slot(QModelIndex, QModelIndex)
    def _on_line(self, index: QModelIndex) -> None:
        """The line of a point was gone to: mark it."""
        point = self._point_of(index)
        if point is not None and self._surface is not None:
            self._surface.choose(point)
            self._on_selected(point)

    @Slot(QModelIndex)
    def _on_line_chosen(self, index: QModelIndex) -> None:
        point = self._point_of(index)
        if point is not None:
            self.pointPicked.emit(point)

    def _restyle(self, theme: Theme) -> None:
        self._export.setIcon(icon("save", theme.tokens, size=theme.icon))
        self._export.setIconSize(QSize(theme.icon, theme.icon))
        self._head.restyle(theme)
        self._give_room(theme)
        if self._surface is not None:
            self._surface.restyle(theme)

    def _give_room(self, theme: Theme) -> None:
        """Bars that lie want a line each, so that their names stand apart."""
        chart, line = self._chart, QFontMetrics(theme.font("note")).height() + 2
        lines = 0
        if isinstance(chart, BarChart) and chart.horizontal:
            each = 2 if any(len(name) > LONG_NAME for name in chart.categories) else 1
            lines = min(each * len(chart.categories), MOST_LINES) + 3
        self._pages.setMinimumHeight(max(theme.row * LEAST_ROWS, lines * line))

    @Slot(int)
    def _on_selected(self, number: int) -> None:
        self._read_out(number)
        self.pointSelected.emit(number)

    @Slot(int)
    def _on_hovered(self, number: int) -> None:
        surface = self._surface
        shown = number if number >= 0 or surface is None else surface.chosen
        self._read_out(shown)
        self.pointHovered.emit(number)

    def _read_out(self, number: int | None) -> None:
        """Write the coordinates of a point in words, so that no mark must be estimated by eye."""
        chart, surface = self._chart, self._surface
        if chart is None or surface is None or number is None:
            self._readout.setText(self._hint_of(chart))
            return
        if isinstance(chart, BarChart):
            self._readout.setText(_category_words(chart, number) or self._hint_of(chart))
            return
        place = surface.position_of(number)
        if place is None or isinstance(chart, LatticeChart):
            self._readout.setText(self._hint_of(chart))
            return
        texts = [
            f"{axis.title} {_written(10**value if axis.log else value, axis)}"
            for axis, value in zip((chart.x_axis, chart.y_axis), place, strict=True)
        ]
        self._readout.setText(" · ".join(texts))

    def _hint_of(self, chart: Chart | None) -> str:
        """What can be done here, where that can be done."""
        if not self._movable or chart is None:
            return " "
        if isinstance(chart, BarChart | LatticeChart):
            return chart.opens or " "
        if chart.opens:
            words = self.tr(
                "Click a point, or move to it with the arrow keys and press Enter, to see {what}."
            )
            return words.format(what=chart.opens)
        if not any(one.ids.size for one in chart.series):
            return " "
        return self.tr(
            "Click a point, or move to it with the arrow keys and press Enter, to choose it."
        )

    @Slot(QAction)
    def _on_export(self, action: QAction) -> None:
        format_name = str(action.data())
        dialog = QFileDialog(self, self.tr("Save chart"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(format_name)
        dialog.setNameFilter(f"{format_name.upper()} (*.{format_name})")
        dialog.selectFile(f"{self._chart.id if self._chart else 'chart'}.{format_name}")
        dialog.fileSelected.connect(self._on_file_chosen)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    @Slot(str)
    def _on_file_chosen(self, name: str) -> None:
        try:
            self.save_as(Path(name))
        except DpdeskError as error:
            problem = in_window(said_line(error))
            self._tell_saved(f"✕ {problem}", "fail")
            self.exportFailed.emit(problem)

    def _tell_saved(self, text: str, look: str) -> None:
        """Say below the picture what became of saving it, until another one is shown."""
        set_look(self._saved, look)
        self._saved.setText(text)
        self._saved.setVisible(bool(text))


def _written(value: float, axis: Axis, kind: str = "number") -> str:
    text = figure_words(value, "share" if axis.percent else kind)
    return text if axis.percent or not axis.unit else f"{text} {axis.unit}"


def _upright_axis(chart: Chart) -> Axis:
    if isinstance(chart, BarChart):
        return chart.category_axis if chart.horizontal else chart.value_axis
    return (
        chart.y_axis
        if isinstance(chart, ScatterChart)
        else Axis(QCoreApplication.translate("ChartView", "Dimensions of the table"))
    )


def _category_words(chart: BarChart, number: int) -> str:
    if not 0 <= number < len(chart.categories):
        return ""
    kind = "share" if chart.value_axis.percent else "number"
    values = [
        f"{one.name} {_written(one.values[number], chart.value_axis, kind)}" for one in chart.series
    ]
    return " · ".join([chart.categories[number], *values])
