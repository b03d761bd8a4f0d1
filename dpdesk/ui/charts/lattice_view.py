"""A lattice as people meet it: question, answer, picture or table, and one cuboid at its side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QScrollArea,
    QWidget,
)

from dpdesk.core.charts import STANDING_WORDS, Chart, CuboidNode, LatticeChart
from dpdesk.core.cube_parameters import CuboidChoice, CuboidStatus, heavier, lighter
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.ui.charts.lattice_board import (
    AVOID,
    EXACTLY,
    HEAVIER,
    LIGHTER,
    PUBLISH,
    LatticeBoard,
    error_words,
)
from dpdesk.ui.charts.view import ChartView
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.layouts import SteadyArea
from dpdesk.ui.words.numbers import figure_words, grouped
from dpdesk.ui.words.spoken import said, table_words

MOST_ROWS = 400


class LatticeFinder(QFrame):
    """``chosen(int)`` when a cuboid is taken from the list."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._chart: LatticeChart | None = None
        layout = column(self, gap=SPACE.xs)
        self.words = QLineEdit()
        self.words.setAccessibleName(self.tr("Find tables by their dimensions"))
        self.words.setToolTip(
            self.tr("Tables that have all dimensions typed here, such as age sex")
        )
        self.words.setPlaceholderText(self.tr("find: age sex"))
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(self._fill)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Tables"))
        self.list.setToolTip(
            self.tr("Tables named in the plan; choose one to show it in the chart")
        )
        self.list.setMinimumHeight(90)
        self.list.currentItemChanged.connect(self._on_current)
        self.note = QLabel()
        self.note.setWordWrap(True)
        set_look(self.note, "note")
        for widget in (self.words, self.list, self.note):
            layout.addWidget(widget)

    def show_chart(self, chart: LatticeChart, chosen: int | None) -> None:
        """List the cuboids of a lattice."""
        self._chart = chart
        self._fill()
        self.mark(chosen)

    def mark(self, chosen: int | None) -> None:
        """Put the cursor on a cuboid where it is listed, silently."""
        with QSignalBlocker(self.list):
            for place in range(self.list.count()):
                item = self.list.item(place)
                if item.data(Qt.ItemDataRole.UserRole) == chosen:
                    self.list.setCurrentItem(item)
                    return
            self.list.setCurrentItem(None)  # type: ignore[call-overload]

    @Slot()
    def _fill(self) -> None:
        chart = self._chart
        if chart is None:
            return
        found = matching(chart, self.words.text())
        with QSignalBlocker(self.list):
            self.list.clear()
            for cuboid in found[:MOST_ROWS]:
                node = chart.node(cuboid)
                mark = "◎" if node.exact else "■" if node.noisy else "○"
                words = f"{mark} {table_words(node.name)}  {error_words(node)}"
                if node.standing is not CuboidStatus.PUBLISHED:
                    words = f"{words} · {STANDING_WORDS[node.standing]}"
                item = QListWidgetItem(words)
                item.setData(Qt.ItemDataRole.UserRole, cuboid)
                self.list.addItem(item)
        text = self.tr("{n} tables").format(n=grouped(len(found)))
        if len(found) > MOST_ROWS:
            text = self.tr("{n} tables, the first {m} are listed").format(
                n=grouped(len(found)), m=MOST_ROWS
            )
        self.note.setText(text)

    @Slot(QListWidgetItem)
    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(int(item.data(Qt.ItemDataRole.UserRole)))


def matching(chart: LatticeChart, text: str) -> list[int]:
    """Listed cuboids whose names hold all words; first the one of exactly the dimensions named."""
    words = [word.casefold() for word in text.replace("×", " ").split()]
    names = [name.casefold() for name in chart.choice.dimensions]
    found = [
        cuboid
        for cuboid in chart.listed
        if all(
            any(cuboid >> i & 1 and word in name for i, name in enumerate(names)) for word in words
        )
    ]
    places = [names.index(word) for word in words if word in names]
    if words and len(places) == len(words):
        exact = sum(1 << place for place in set(places))
        found = [exact, *(cuboid for cuboid in found if cuboid != exact)]
    return found


MOST_SOURCES = 4


class LatticeInspector(QFrame):
    """``acted(str)`` as of the board; ``weighed(object)`` carries a weight that was typed."""

    acted = Signal(str)
    weighed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "sunken")
        self._node: CuboidNode | None = None
        self._weighted = True
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._columns.setContentsMargins(SPACE.m, SPACE.m, SPACE.m, SPACE.m)
        self._columns.setSpacing(SPACE.s)
        self._columns.addLayout(self._build_facts(), 1)
        self._columns.addLayout(self._build_acts(), 1)

    def _build_facts(self) -> QBoxLayout:
        lines = column(gap=SPACE.xs)
        self.name, self.state, self.message = QLabel(), QLabel(), QLabel()
        for label, look in ((self.name, "strong"), (self.state, ""), (self.message, "fail")):
            label.setWordWrap(True)
            if look:
                set_look(label, look)
            lines.addWidget(label)
        self.message.hide()
        self.caution = QLabel()
        self.caution.setWordWrap(True)
        set_look(self.caution, "note")
        lines.addWidget(self.caution)
        lines.addLayout(self._build_figures())
        lines.addStretch(1)
        return lines

    def _build_acts(self) -> QBoxLayout:
        lines = column(gap=SPACE.s)
        self.publish = self._button(PUBLISH)
        self.avoid = self._button(AVOID)
        self.exactly = self._button(EXACTLY)
        self.sources = QLabel()
        self.sources.setWordWrap(True)
        set_look(self.sources, "note")
        for widget in (self.publish, self.avoid, self.exactly):
            lines.addWidget(widget)
        lines.addLayout(self._build_weight())
        lines.addWidget(self.sources)
        lines.addStretch(1)
        return lines

    def set_flat(self, *, flat: bool) -> None:
        """Lie below the picture, or stand beside it."""
        directions = QBoxLayout.Direction
        self._columns.setSpacing(SPACE.xl if flat else SPACE.s)
        self._columns.setDirection(directions.LeftToRight if flat else directions.TopToBottom)

    # -- what is shown

    def show_node(self, chart: LatticeChart, node: CuboidNode, *, acts: bool) -> None:
        """Show a cuboid; the controls are for the marked one alone, not for one hovered over."""
        self._node, self._weighted = node, chart.weighted
        self.name.setText(table_words(node.name))
        state = self._state_words(node)
        cells = len(chart.choice.cells.get(node.cuboid, ()))
        if cells and not node.exact:
            text = self.tr("1 exact cell") if cells == 1 else self.tr("{n} exact cells")
            state += " · " + text.format(n=grouped(cells))
        self.state.setText(state)
        values = {
            "cells": grouped(node.cells),
            "width": self._error_text(node, node.width, said(chart.unit)),
            "deviation": self._error_text(node, node.deviation, said(chart.unit)),
            "share": figure_words(node.share, "share") if node.noisy else "–",
        }
        for key, text in values.items():
            self._values[key].setText(text)
        self.sources.setText(self._source_words(chart, node))
        if acts:
            self._show_controls(chart, node)

    def say(self, text: str) -> None:
        """Say why something cannot be done; empty: nothing."""
        self.message.setText(f"✕ {text}" if text else "")
        self.message.setVisible(bool(text))

    # -- building

    def _build_figures(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE.s)
        grid.setVerticalSpacing(SPACE.xs)
        grid.setColumnStretch(1, 1)
        words = {
            "cells": self.tr("Cells"),
            "width": self.tr("± of a cell"),
            "deviation": self.tr("Standard deviation"),
            "share": self.tr("Share of the budget"),
        }
        self._values: dict[str, QLabel] = {}
        for place, (key, text) in enumerate(words.items()):
            label, value = QLabel(text), QLabel()
            set_look(label, "note")
            label.setWordWrap(True)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(label, place, 0)
            grid.addWidget(value, place, 1)
            self._values[key] = value
        return grid

    def _button(self, act: str) -> QPushButton:
        button = QPushButton()
        button.setProperty("act", act)
        button.clicked.connect(self._on_clicked)
        return button

    def _build_weight(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(SPACE.xs)
        self.weight_label, self.weight = QLabel(self.tr("Weight")), QLineEdit()
        self.weight_label.setBuddy(self.weight)
        self.weight.setAccessibleName(self.tr("Weight of this table"))
        self.weight.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.weight.editingFinished.connect(self._on_typed)
        self.lighter, self.heavier = self._button(LIGHTER), self._button(HEAVIER)
        for button, text, name, tip in (
            (
                self.lighter,
                "−",
                self.tr("Less weight"),
                self.tr("Lower the weight of its error (−)"),
            ),
            (
                self.heavier,
                "+",
                self.tr("More weight"),
                self.tr("Raise the weight of its error (+)"),
            ),
        ):
            button.setText(text)
            button.setAccessibleName(name)
            button.setToolTip(tip)
        self._tips = {one: one.toolTip() for one in (self.lighter, self.heavier)}
        line = row(gap=SPACE.xs)
        for widget in (self.lighter, self.weight, self.heavier):
            line.addWidget(widget)
        grid.addWidget(self.weight_label, 0, 0)
        grid.addLayout(line, 0, 1)
        return grid

    # -- words

    def _state_words(self, node: CuboidNode) -> str:
        standing = {
            CuboidStatus.PUBLISHED: self.tr("✓ published"),
            CuboidStatus.FREE: self.tr("○ not published"),
            CuboidStatus.FORBIDDEN: self.tr("✕ forbidden"),
        }[node.standing]
        if node.exact:
            noise = self.tr("◎ released without noise")
        elif node.noisy:
            noise = self.tr("■ noise of its own")
        elif node.width is None:
            noise = self.tr("not planned")
        elif math.isinf(node.width):
            noise = self.tr("cannot be computed")
        else:
            noise = self.tr("computed")
        return self.tr("{standing} · {noise}").format(standing=standing, noise=noise)

    def _error_text(self, node: CuboidNode, value: float | None, unit: str) -> str:
        if node.exact:
            return self.tr("no error")
        if value is None or not math.isfinite(value):
            return "–"
        return f"{figure_words(float(f'{value:.3g}'), 'number')} {unit}"

    def _source_words(self, chart: LatticeChart, node: CuboidNode) -> str:
        sources = [one for one in chart.sources(node.cuboid) if one != node.cuboid]
        if not sources:
            return ""
        listed = "; ".join(
            self.tr("{name} ({n} cells to one)").format(
                name=table_words(chart.choice.name(one)),
                n=grouped(chart.cells(one) // max(1, node.cells)),
            )
            for one in sources[:MOST_SOURCES]
        )
        more = len(sources) - MOST_SOURCES
        text = self.tr("Noise also comes from: {tables}.")
        if not node.noisy:
            text = self.tr("Computed from: {tables}.")
        if more > 0:
            listed = self.tr("{tables}; and {n} more").format(tables=listed, n=grouped(more))
        return text.format(tables=listed)

    def _caution_words(self, chart: LatticeChart, node: CuboidNode) -> str:
        """What exactness costs, before it is chosen and after."""
        above = chart.choice.exact_above(node.cuboid)
        if above is None:
            return self.tr(
                "An exact table has no noise and no ε protection, and all others get more noise."
            )
        text = self.tr("{name} is published without noise and has no ε protection.")
        if above != node.cuboid:
            text = self.tr("Follows from {name}, which is published exactly: no ε protection.")
        text = text.format(name=table_words(chart.choice.name(above)))
        if chart.minimal_change:
            text += " " + self.tr(
                "Among data sets that agree with all that is exact, ε holds for one minimal change "
                "(size {size})."
            ).format(size=grouped(chart.minimal_change))
        return text

    def _show_exactly(self, chart: LatticeChart, node: CuboidNode) -> None:
        above = chart.choice.exact_above(node.cuboid)
        exact = above == node.cuboid
        text = self.tr("No longer exact") if exact else self.tr("Publish exactly")
        tip = self.tr("Whether the release contains the true numbers of this table (E)")
        follows = above is not None and not exact
        if follows:
            tip = self.tr("This table is exact already, because a finer one is exact")
        self._name(self.exactly, text, tip)
        self.exactly.setEnabled(not follows)
        self.caution.setText(self._caution_words(chart, node))
        set_look(self.caution, "note" if above is None else "caution")

    def _show_controls(self, chart: LatticeChart, node: CuboidNode) -> None:
        self._show_exactly(chart, node)
        published = node.standing is CuboidStatus.PUBLISHED
        forbidden = node.standing is CuboidStatus.FORBIDDEN
        tip = self.tr("Whether the release contains this table (Space)")
        text = self.tr("Do not publish it") if published else self.tr("Publish this table")
        self._name(self.publish, text, tip)
        tip = self.tr("A forbidden table is neither published nor given noise (Delete)")
        text = self.tr("Allow it again") if forbidden else self.tr("Forbid this table")
        self._name(self.avoid, text, tip)
        usable = published and self._weighted and not node.exact
        reason = ""
        if not self._weighted:
            reason = self.tr("This planner does not use weights; PMost and Optimal do")
        elif not published:
            reason = self.tr("A weight is for a published table")
        elif node.exact:
            reason = self.tr("An exact table has no error to weigh")
        for button, words in self._tips.items():
            button.setEnabled(usable)
            button.setToolTip(reason or words)
        self.weight.setEnabled(usable)
        self.weight.setToolTip(reason or self.tr("How much the error of this table counts"))
        self.weight.setText(str(plain_number(node.weight)))

    @staticmethod
    def _name(button: QPushButton, text: str, tip: str) -> None:
        button.setText(text)
        button.setAccessibleName(text)
        button.setToolTip(tip)

    # -- reactions

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.acted.emit(str(sender.property("act")))

    @Slot()
    def _on_typed(self) -> None:
        node = self._node
        number = exact_number(self.weight.text().strip())
        if number is None or number <= 0:
            self.say(self.tr("Enter a number above 0, such as 2."))
        elif node is not None and number != node.weight:
            self.weighed.emit(Fraction(number))


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
        self._side = SteadyArea()
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
            "Arrow keys move through the lattice, Space publishes or not, Delete forbids, "
            "E makes exact, + and − change the weight, Enter shows what is behind"
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
            self.say(self.tr("This planner does not use weights; PMost and Optimal do."))
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
