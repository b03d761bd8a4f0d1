"""Beside the picture of a lattice: what is known of one cuboid, and what can be done to it."""

from __future__ import annotations

import math
from fractions import Fraction

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from dpdesk.core.charts import CuboidNode, LatticeChart
from dpdesk.core.cuboid_choice import CuboidStatus
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.ui.charts.lattice_board import AVOID, EXACTLY, HEAVIER, LIGHTER, PUBLISH
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.words.numbers import figure_words, grouped
from dpdesk.ui.words.spoken import said, table_words

MOST_SOURCES = 4


class LatticeInspector(QFrame):
    """``acted(str)`` as of the board; ``weighed(object)`` carries a weight that was typed."""

    acted = Signal(str)
    weighed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        text = self.tr("Noise also comes in from: {tables}.")
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
        tip = self.tr("The release holds the true numbers of this table, or does not (E)")
        follows = above is not None and not exact
        if follows:
            tip = self.tr("This table is exact already, since a finer one is")
        self._name(self.exactly, text, tip)
        self.exactly.setEnabled(not follows)
        self.caution.setText(self._caution_words(chart, node))
        set_look(self.caution, "note" if above is None else "caution")

    def _show_controls(self, chart: LatticeChart, node: CuboidNode) -> None:
        self._show_exactly(chart, node)
        published = node.standing is CuboidStatus.PUBLISHED
        forbidden = node.standing is CuboidStatus.FORBIDDEN
        tip = self.tr("The release holds this table, or does not (Space)")
        text = self.tr("Do not publish it") if published else self.tr("Publish this table")
        self._name(self.publish, text, tip)
        tip = self.tr("A forbidden table is neither published nor given noise (Delete)")
        text = self.tr("Allow it again") if forbidden else self.tr("Forbid this table")
        self._name(self.avoid, text, tip)
        usable = published and self._weighted and not node.exact
        reason = ""
        if not self._weighted:
            reason = self.tr("The planner looks at no weights; PMost and Optimal do")
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
            self.say(self.tr("Expected a number above 0, such as 2."))
        elif node is not None and number != node.weight:
            self.weighed.emit(Fraction(number))
