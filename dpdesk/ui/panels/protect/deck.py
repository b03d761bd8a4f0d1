"""The pictures of a setting: one at a time, or the map of all points beside the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSplitter, QWidget

from dpdesk.app.types import Detail
from dpdesk.core.charts import Chart, ChartTable, LatticeChart, ScatterChart
from dpdesk.ui.charts import ChartView
from dpdesk.ui.charts.lattice_view import LatticeView
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import Badge, column, row
from dpdesk.ui.widgets.choices import ChoiceStrip, FoldingStrip
from dpdesk.ui.widgets.layouts import FrontStack
from dpdesk.ui.words.spoken import in_window, said


class DetailPage(QWidget):
    """``backAsked()``: the way back to the chart, by the button or by Escape."""

    backAsked = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._detail: Detail | None = None
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = row()
        self._title, self._sentence, self._note = QLabel(), QLabel(), QLabel()
        for label, look in (
            (self._title, "section"),
            (self._sentence, "answer"),
            (self._note, "note"),
        ):
            label.setWordWrap(True)
            set_look(label, look)
        self.back = QPushButton(self.tr("Back to the chart"))
        self.back.setAccessibleName(self.tr("Back to the chart"))
        self.back.setToolTip(self.tr("Back to the chart (Backspace)"))
        self.back.clicked.connect(self.backAsked)
        self._badge = badge = Badge(self.tr("CONFIDENTIAL"), self.tr("Original values of the data"))
        head.addWidget(self._title, 1)
        head.addWidget(badge, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(head)
        layout.addWidget(self._sentence)
        line = row()
        self.strip = ChoiceStrip(self.tr("What to look at behind the bar"))
        self.strip.chosen.connect(self._show)
        line.addWidget(self.strip, 1)
        line.addWidget(self.back, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(line)
        self._pages = FrontStack()
        self._chart, self._model = ChartView(theme), ListModel(parent=self)
        self.grid = DataGrid(theme, self.tr("What is behind the bar"))
        self.grid.setModel(self._model)
        self.grid.verticalHeader().hide()
        self.grid.horizontalHeader().setStretchLastSection(True)
        for page in (self._chart, self.grid):
            self._pages.addWidget(page)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self._note)

    @property
    def chart(self) -> ChartView:
        """Where a part that is a chart is drawn."""
        return self._chart

    def show_detail(self, detail: Detail) -> None:
        """Show a detail, its first part in front."""
        self._detail = detail
        self._badge.setVisible(detail.confidential)
        self._title.setText(said(detail.title))
        self._sentence.setText(in_window(detail.sentence))
        self.setAccessibleName(said(detail.title))
        self.setAccessibleDescription(in_window(detail.sentence))
        names = [(str(number), part.name) for number, part in enumerate(detail.parts)]
        self.strip.set_choices(names)
        self.strip.choose("0")
        self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Backspace leads back."""
        if event.key() == Qt.Key.Key_Backspace:
            self.backAsked.emit()
            event.accept()
            return
        super().keyPressEvent(event)

    @Slot()
    def _show(self) -> None:
        if self._detail is None:
            return
        part = self._detail.parts[int(self.strip.current or 0)]
        self._note.setText(part.note)
        self._note.setVisible(bool(part.note))
        if isinstance(part.content, ChartTable):
            self._model.set_table(part.content.columns, part.content.rows)
            self._pages.setCurrentWidget(self.grid)
        else:
            self._chart.set_chart(part.content)
            self._pages.setCurrentWidget(self._chart)


WIDE_EMS, LEAST_EMS = 110, 38
SPARE = 3


class ChartDeck(QWidget):
    """Charts, called by their questions, and other pages.

    Where there is room, the first chart whose points can be picked stands beside the page that is
    chosen. Only what is visible is drawn; the rest follows when it is looked at.

    ``pointPicked(int)`` and ``pointMarked(int)`` come from charts of points only;
    ``limitMoved(str, float)`` carries the parameter whose line was moved, and its value;
    ``barPicked(str, int)`` the chart and the place of a bar behind which there is something;
    ``changeAsked(LatticeChange)`` what somebody wants of a table in a lattice.
    """

    pointPicked = Signal(int)
    pointMarked = Signal(int)
    limitMoved = Signal(str, float)
    barPicked = Signal(str, int)
    changeAsked = Signal(object)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._charts: dict[str, Chart] = {}
        self._views: dict[str, ChartView] = {}
        self._pages: dict[str, tuple[tuple[str, str], QWidget]] = {}
        self._withheld: set[str] = set()
        self._behind: set[str] = set()
        self._stale = (False, "")
        self._wide = False
        self._moved = False
        self._paged = True
        layout = column(self, gap=SPACE.s)
        self._strip = FoldingStrip(self.tr("What to look at"))
        self._strip.chosen.connect(self._on_chosen)
        layout.addWidget(self._strip)
        self._beside, self._stack = FrontStack(), FrontStack()
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setObjectName("protect-charts")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._beside)
        self._split.addWidget(self._stack)
        self._split.splitterMoved.connect(self._on_moved)
        for number in (0, 1):
            self._split.setStretchFactor(number, 1)
        # What is wide now must be able to become narrow again.
        self._beside.setMinimumWidth(1)
        self._beside.hide()
        layout.addWidget(self._split, 1)
        self._empty = ChartView(theme)
        self._stack.addWidget(self._empty)
        self.detail = DetailPage(theme)
        self.detail.backAsked.connect(self._on_back)
        self._stack.addWidget(self.detail)
        self._opened: Chart | None = None
        self._opened_beside = False
        # A chart is slow to be made when it is asked for; here the whole window is being made.
        self._spare = [self._made_view() for _ in range(SPARE)]
        theme.changed.connect(self._fit)

    # -- what is shown

    def add_page(self, identifier: str, short: str, words: str, widget: QWidget) -> None:
        """A page behind the charts."""
        self._pages[identifier] = ((short, words), widget)
        self._stack.addWidget(widget)
        self._arrange()

    def offer_page(self, identifier: str, *, offered: bool) -> None:
        """Whether a page makes sense beside the charts that are shown."""
        if offered != (identifier not in self._withheld):
            self._withheld ^= {identifier}
            self._arrange()

    def set_charts(self, charts: Sequence[Chart], *, pages: bool = True) -> None:
        """Show these charts, each where the one with the same id was, and the pages behind them."""
        self._paged = pages
        self._charts = {chart.id: chart for chart in charts}
        self._behind = set(self._charts)
        for chart in charts:
            if isinstance(chart, LatticeChart):
                self.view(chart.id)
        self._arrange()

    def show_detail(self, chart_id: str, detail: Detail) -> None:
        """Show what is behind a bar, in the place of its chart, until that changes."""
        chart = self._charts.get(chart_id)
        beside = self._wide and not self._roomy and chart_id == self.map_id
        if chart is None or (self._strip.current != chart_id and not beside):
            return
        self._opened, self._opened_beside = chart, beside
        self.detail.show_detail(detail)
        self._show_current()
        self.detail.back.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_placeholder(self, text: str) -> None:
        """What stands here while there are no charts."""
        self._empty.set_placeholder(text)

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Dim all pictures, or no longer."""
        if (stale, reason) == self._stale:
            return
        self._stale = (stale, reason)
        for view in self._views.values():
            view.set_stale(stale, reason)

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The charts on show, in order."""
        return tuple(self._charts.values())

    @property
    def strip(self) -> ChoiceStrip:
        """The choices above the charts."""
        return self._strip

    @property
    def map_id(self) -> str:
        """Id of the chart whose points can be picked; empty when there is none."""
        for chart in self._charts.values():
            if isinstance(chart, ScatterChart) and any(one.ids.size for one in chart.series):
                return chart.id
        return ""

    def words_of(self, point: int) -> str:
        """What a point of a chart is, as the table of the chart calls it; empty when unknown."""
        for chart in self._charts.values():
            lines = chart.lines if isinstance(chart, ScatterChart) else None
            places = np.empty(0) if lines is None else np.flatnonzero(lines.ids == point)
            if lines is not None and places.size:
                return str(lines.line(int(places[0]))[0])
        return ""

    def unmark(self) -> None:
        """No point is marked: the points are no longer those of the work."""
        for view in self._views.values():
            view.select_point(None)

    def view(self, identifier: str) -> ChartView:
        """The view of a chart, made when it is first asked for; KeyError when there is none."""
        if identifier not in self._views:
            view = self._view_for(self._charts[identifier])
            view.set_stale(*self._stale)
            self._views[identifier] = view
        return self._views[identifier]

    def show_page(self, identifier: str) -> None:
        """Look at a chart or a page."""
        self._strip.choose(identifier)
        self._show_current()

    # -- inside

    @property
    def _roomy(self) -> bool:
        """Whether a picture wants all the room there is, with nothing beside it."""
        return any(isinstance(chart, LatticeChart) for chart in self._charts.values())

    @property
    def lattice(self) -> LatticeView | None:
        """The view of a lattice; None when there is none."""
        found = (view for view in self._views.values() if isinstance(view, LatticeView))
        return next(found, None)

    def _view_for(self, chart: Chart) -> ChartView:
        if isinstance(chart, LatticeChart):
            lattice = LatticeView(self._theme)
            lattice.changeAsked.connect(self.changeAsked)
            return self._joined(lattice)
        return self._spare.pop() if self._spare else self._made_view()

    def _made_view(self) -> ChartView:
        return self._joined(ChartView(self._theme))

    def _joined(self, view: ChartView) -> ChartView:
        view.pointPicked.connect(self._on_picked)
        view.pointSelected.connect(self._on_marked)
        view.let_limit_move()
        view.limitMoved.connect(self.limitMoved)
        self._stack.addWidget(view)
        return view

    def _arrange(self) -> None:
        """Put the map beside or among the others, offer the rest, draw what is visible."""
        beside = self.map_id if self._wide and not self._roomy else ""
        if beside:
            self.view(beside)
        for key, view in self._views.items():
            home = self._beside if key == beside else self._stack
            if home.indexOf(view) < 0:
                home.addWidget(view)
        offered = {
            key: (said(one.short or one.question), said(one.question))
            for key, one in self._charts.items()
            if key != beside
        }
        if self._charts and self._paged:
            offered |= {
                key: words for key, (words, _) in self._pages.items() if key not in self._withheld
            }
        choices = [(key, short) for key, (short, _) in offered.items()]
        self._strip.set_choices(choices, {key: words for key, (_, words) in offered.items()})
        self._strip.setVisible(bool(choices))
        self._beside.setVisible(bool(beside))
        if beside:
            self._beside.setCurrentWidget(self._views[beside])
            self._draw(beside)
        self._show_current()

    def _show_current(self) -> None:
        key = self._strip.current
        if self._opened is not None and (
            self._charts.get(key) is self._opened
            or (self._opened_beside and self._charts.get(self._opened.id) is self._opened)
        ):
            self._stack.setCurrentWidget(self.detail)
        elif key in self._charts:
            self._opened = None
            self._draw(key)
            self._stack.setCurrentWidget(self._views[key])
        elif key in self._pages:
            self._stack.setCurrentWidget(self._pages[key][1])
        else:
            self._stack.setCurrentWidget(self._empty)

    def _draw(self, key: str) -> None:
        if key in self._behind:
            self._behind.discard(key)
            self.view(key).set_chart(self._charts[key])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two pictures side by side where both stay readable."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._split.setMinimumHeight(self._theme.theme.ems(LEAST_EMS))
        wide = self.width() >= self._theme.theme.ems(WIDE_EMS)
        self._stack.setMinimumWidth(1 if wide else 0)
        if wide != self._wide:
            self._wide = wide
            self._arrange()
        if wide and not self._moved:
            half = self.width() // 2
            self._split.setSizes([half, half])

    @Slot()
    def _on_moved(self) -> None:
        self._moved = True

    @Slot(str)
    def _on_chosen(self, identifier: str) -> None:
        self._opened = None
        self._show_current()

    @Slot()
    def _on_back(self) -> None:
        opened, self._opened = self._opened, None
        self._show_current()
        surface = None if opened is None else self._views[opened.id].surface
        if surface is not None:
            surface.setFocus(Qt.FocusReason.OtherFocusReason)

    def _chart_of(self, sender: object) -> Chart | None:
        shown = [key for key, view in self._views.items() if view is sender]
        return self._charts.get(shown[0]) if shown else None

    @Slot(int)
    def _on_picked(self, number: int) -> None:
        chart = self._chart_of(self.sender())
        if chart is not None and chart.opens:
            self.barPicked.emit(chart.id, number)
        elif isinstance(chart, ScatterChart):
            self.pointPicked.emit(number)

    @Slot(int)
    def _on_marked(self, number: int) -> None:
        if isinstance(self._chart_of(self.sender()), ScatterChart):
            self.pointMarked.emit(number)
