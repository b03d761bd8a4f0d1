"""A lattice as people meet it: question, answer, picture or table, and one cuboid at its side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QScrollArea, QWidget

from dpdesk.core.charts import Chart, LatticeChart
from dpdesk.core.cuboid_choice import CuboidChoice, heavier, lighter
from dpdesk.ui.charts.lattice_board import (
    AVOID,
    EXACTLY,
    HEAVIER,
    LIGHTER,
    PUBLISH,
    LatticeBoard,
)
from dpdesk.ui.charts.lattice_finder import LatticeFinder
from dpdesk.ui.charts.lattice_inspector import LatticeInspector
from dpdesk.ui.charts.lattice_marks import error_words
from dpdesk.ui.charts.view import ChartView
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.words.spoken import table_words

SIDE_EMS, LEAST_PICTURE_EMS = 34, 44
BELOW_ROWS = 7


@dataclass(frozen=True)
class LatticeChange:
    """What somebody wants of a cuboid: an act of the board, or with ``weight`` that weight."""

    act: str
    cuboid: int
    weight: Fraction | None = None

    def made(self, choice: CuboidChoice) -> CuboidChoice:
        """The choice after it. Raises InputError where that is no choice."""
        if self.weight is not None:
            return choice.weighed(self.cuboid, self.weight)
        if self.act == PUBLISH:
            return choice.toggled(self.cuboid)
        if self.act == AVOID:
            return choice.avoided(self.cuboid)
        if self.act == EXACTLY:
            return choice.exactly(self.cuboid)
        step = heavier if self.act == HEAVIER else lighter
        return choice.weighed(self.cuboid, step(choice.weight(self.cuboid)))


class LatticeView(ChartView):
    """``changeAsked(LatticeChange)``: a table shall be published, forbidden, weighed or exact."""

    changeAsked = Signal(object)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        self._lattice: LatticeBoard | None = None
        self._manager = theme
        super().__init__(theme, parent)

    # -- what is shown

    def set_chart(self, chart: Chart | None) -> None:
        """See :meth:`ChartView.set_chart`."""
        super().set_chart(chart)
        board = self._lattice
        if isinstance(chart, LatticeChart) and board is not None:
            self.finder.setVisible(not chart.whole)
            if not chart.whole:
                self.finder.show_chart(chart, board.chosen)
            self.inspector.say("")
            self._inspect(board.chosen)

    def show_choice(self, choice: CuboidChoice) -> None:
        """Show at once what was chosen, while the errors that follow are still being planned."""
        chart = self.chart
        if not isinstance(chart, LatticeChart) or choice.dimensions != chart.choice.dimensions:
            return
        old = chart.choice
        if any(choice.standing(one) is not old.standing(one) for one in chart.listed) or (
            (choice.weights, choice.exact, choice.cells) != (old.weights, old.exact, old.cells)
        ):
            self.set_chart(chart.with_choice(choice))

    def say(self, text: str) -> None:
        """Say beside the picture why something cannot be done."""
        self.inspector.say(text)

    @property
    def board(self) -> LatticeBoard | None:
        """The picture; None before the first lattice."""
        return self._lattice

    # -- building

    def new_surface(self) -> LatticeBoard:
        """See :meth:`ChartView.new_surface`."""
        board = LatticeBoard(self._manager.theme)
        board.acted.connect(self._on_acted)
        board.menuAsked.connect(self._on_menu)
        self._lattice = board
        return board

    def around(self, surface: QWidget) -> QWidget:
        """The picture, with the cuboid and the list beside it or below."""
        self._pane = QWidget()
        self._split = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._pane)
        self._split.setContentsMargins(0, 0, 0, 0)
        self._split.setSpacing(SPACE.m)
        self.finder, self.inspector = LatticeFinder(), LatticeInspector()
        self.finder.chosen.connect(self._on_found)
        self.inspector.acted.connect(self._on_acted)
        self.inspector.weighed.connect(self._on_weighed)
        side = QWidget()
        lines = QBoxLayout(QBoxLayout.Direction.TopToBottom, side)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.addWidget(self.finder, 1)
        lines.addWidget(self.inspector)
        lines.addStretch(0)
        self._side = QScrollArea()
        self._side.setWidgetResizable(True)
        self._side.setFrameShape(QScrollArea.Shape.NoFrame)
        self._side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._side.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._side.setWidget(side)
        self._split.addWidget(surface, 1)
        self._split.addWidget(self._side)
        self._fit_side()
        return self._pane

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside the picture where there is room, else below it."""
        super().resizeEvent(event)
        self._fit_side()

    def _restyle(self, theme: Theme) -> None:
        super()._restyle(theme)
        self._fit_side()

    def _side_width(self) -> int:
        """The width below which something beside the picture would be cut."""
        inner = self._side.widget()
        bar = self._side.verticalScrollBar().sizeHint().width()
        return bar + (0 if inner is None else inner.minimumSizeHint().width())

    def _fit_side(self) -> None:
        if self._lattice is None:
            return
        theme = self._manager.theme
        side = max(theme.ems(SIDE_EMS), self._side_width())
        beside = self.width() - side >= theme.ems(LEAST_PICTURE_EMS)
        directions = QBoxLayout.Direction
        self._split.setDirection(directions.LeftToRight if beside else directions.TopToBottom)
        self.inspector.set_flat(flat=not beside)
        most = 16_777_215
        self._side.setFixedWidth(side) if beside else self._side.setMinimumWidth(1)
        if not beside:
            self._side.setMaximumWidth(most)
        self._side.setMinimumHeight(1 if beside else theme.row * BELOW_ROWS)
        self._side.setMaximumHeight(most)

    # -- words

    def _keys(self, chart: Chart) -> str:
        return self.tr(
            "Arrow keys walk along the lattice, Space publishes or not, Delete forbids, E makes "
            "exact, + and − change the weight, Enter looks behind"
        )

    def _hint_of(self, chart: Chart | None) -> str:
        return self.tr(
            "Space or a double click: publish or not · Delete: forbid · E: exact · + −: weight"
        )

    def _read_out(self, number: int | None) -> None:
        """Show the cuboid that is pointed at, else the marked one."""
        self._readout.setText(self._hint_of(self.chart))
        if self._lattice is not None:
            self._inspect(number)

    def _inspect(self, number: int | None) -> None:
        chart, board = self.chart, self._lattice
        if board is None or not isinstance(chart, LatticeChart):
            return
        shown = board.chosen if number is None or number < 0 else number
        if shown is None:
            return
        node = chart.node(shown)
        self.inspector.show_node(chart, node, acts=shown == board.chosen)
        self._fit_side()
        if shown == board.chosen:
            words = f"{table_words(node.name)}: {self.inspector.state.text()}, {error_words(node)}"
            board.setAccessibleDescription(words)

    # -- reactions

    @Slot(int)
    def _on_selected(self, number: int) -> None:
        self.inspector.say("")
        self.finder.mark(number)
        super()._on_selected(number)

    @Slot(int)
    def _on_found(self, number: int) -> None:
        if self._lattice is not None:
            self._lattice.choose(number)
            self.inspector.say("")
            self._inspect(number)

    @Slot(str)
    def _on_acted(self, act: str) -> None:
        board, chart = self._lattice, self.chart
        if board is None or board.chosen is None or not isinstance(chart, LatticeChart):
            return
        if act in (HEAVIER, LIGHTER) and not chart.weighted:
            self.say(self.tr("The planner looks at no weights; PMost and Optimal do."))
            return
        self.changeAsked.emit(LatticeChange(act, board.chosen))

    @Slot(object)
    def _on_weighed(self, weight: Fraction) -> None:
        board = self._lattice
        if board is not None and board.chosen is not None:
            self.changeAsked.emit(LatticeChange(HEAVIER, board.chosen, weight))

    @Slot(QPoint)
    def _on_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        inspector = self.inspector
        for button, act, keys in (
            (inspector.publish, PUBLISH, "Space"),
            (inspector.avoid, AVOID, "Del"),
            (inspector.exactly, EXACTLY, "E"),
            (inspector.heavier, HEAVIER, "+"),
            (inspector.lighter, LIGHTER, "−"),
        ):
            action = QAction(f"{button.accessibleName()}\t{keys}", menu)
            action.setData(act)
            action.setEnabled(button.isEnabled())
            menu.addAction(action)
        menu.triggered.connect(self._on_chosen_act)
        menu.popup(place)

    @Slot(QAction)
    def _on_chosen_act(self, action: QAction) -> None:
        self._on_acted(str(action.data()))
