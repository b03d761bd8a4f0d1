"""The left side: columns, their values to tick or a range, grouping, estimator, the truth."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from dpdesk.app.asking import TRUTH_BADGE, ReleasedColumn
from dpdesk.core.asking import AskState
from dpdesk.core.parameters import Choice
from dpdesk.core.query import Chosen, Within
from dpdesk.core.spans import Span, exact
from dpdesk.ui.asking.words import condition_words
from dpdesk.ui.browsing.keeping import KeepList
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.people.parts import Lines, Problem, button, labelled, note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.spoken import said

MOST_LISTED = 1_000


class RangeBox(QWidget):
    """``asked(object)``: the numbers to keep as a Span, None for all; nothing while unreadable."""

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.xs)
        line = QHBoxLayout()
        self.first, self.last = QLineEdit(), QLineEdit()
        for field, name, tip in (
            (self.first, self.tr("From"), self.tr("The least number to count; empty: any")),
            (self.last, self.tr("To"), self.tr("The largest number to count; empty: any")),
        ):
            field.setAccessibleName(name)
            field.setPlaceholderText(name)
            field.setToolTip(tip)
            field.editingFinished.connect(self._on_edited)
            line.addWidget(field)
        layout.addLayout(line)
        self.problem = Problem()
        layout.addWidget(self.problem)
        self._told: Span | None = None

    def show_span(self, span: Span | None) -> None:
        """Show a range; asks for nothing."""
        self._told = span
        ends = (None, None) if span is None else (span.low, span.high)
        for field, end in zip((self.first, self.last), ends, strict=True):
            field.setText("" if end is None else f"{float(end):g}")
        self.problem.say("")

    @Slot()
    def _on_edited(self) -> None:
        texts = self.first.text().strip(), self.last.text().strip()
        low, high = (exact(text) if text else None for text in texts)
        if any(text and end is None for text, end in zip(texts, (low, high), strict=True)):
            self.problem.say(self.tr("Expected a number, such as 40 or 12.5."))
            return
        if low is not None and high is not None and low > high:
            self.problem.say(self.tr("Expected the smaller number first."))
            return
        self.problem.say("")
        span = None if low is None and high is None else Span(low, high)
        if span != self._told:
            self._told = span
            self.asked.emit(span)


class AskSide(QWidget):
    """``columnAsked(str)``: its values are wanted; ``conditionAsked(str, object)``: a condition on
    a column, None for none; ``byAsked(str)``, ``estimatorAsked(str)``, ``truthAsked(bool)``,
    ``clearAsked()``.
    """

    columnAsked = Signal(str)
    conditionAsked = Signal(str, object)
    byAsked = Signal(str)
    estimatorAsked = Signal(str)
    truthAsked = Signal(bool)
    clearAsked = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._names: tuple[str, ...] = ()
        self._drawn: frozenset[str] = frozenset()
        self._state = AskState()
        self._values: tuple[str, ...] = ()
        layout = column(self, gap=SPACE.s)
        layout.setContentsMargins(0, 0, SPACE.s, 0)
        layout.addWidget(note(self.tr("Count rows with"), "section"))
        tip = self.tr("Choose a column, then tick its values below or type a range")
        self.columns = Lines(theme, self.tr("Columns and what is asked of them"), tip)
        self.columns.selectionModel().currentRowChanged.connect(self._on_column)
        layout.addWidget(self.columns, 1)
        self.range = RangeBox()
        self.range.asked.connect(self._on_range)
        self.range.hide()
        layout.addWidget(self.range)
        self.keep = KeepList(theme)
        self.keep.kept.connect(self._on_kept)
        layout.addWidget(self.keep)
        self.clear = button(self.tr("&Remove all conditions"), self.tr("Count all rows again"))
        self.clear.clicked.connect(self.clearAsked)
        layout.addWidget(self.clear)
        self._build_fields(layout)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _build_fields(self, layout: QVBoxLayout) -> None:
        self.by, self.estimator = NarrowCombo(14), NarrowCombo(14)
        tip = self.tr("One number for each value of this column")
        labelled(layout, self.tr("&Tell apart by"), self.by, tip)
        self.by.set_help(tip)
        self.by.activated.connect(self._on_by)
        tip = self.tr("How counts are estimated from drawn values")
        labelled(layout, self.tr("&Estimate by"), self.estimator, tip)
        self.estimator.set_help(tip)
        self.estimator.activated.connect(self._on_estimator)
        self.truth = QCheckBox(self.tr("S&how the truth and the error"))
        self.truth.setAccessibleName(self.tr("Show the truth and the error"))
        self.truth.setToolTip(self.tr("Counts in the source that is open in the window"))
        self.truth.toggled.connect(self.truthAsked)
        self.badge = note(self.tr("⚠ {badge}").format(badge=TRUTH_BADGE), "caution")
        layout.addWidget(self.truth)
        layout.addWidget(self.badge)
        leave_wheel(self.by, self.estimator)

    def show_release(
        self, names: Sequence[str], drawn: Sequence[str], estimators: Sequence[Choice]
    ) -> None:
        """Offer the columns of a release and the ways to estimate."""
        self._names, self._drawn = tuple(names), frozenset(drawn)
        self.keep.hide()
        self.range.hide()
        with QSignalBlocker(self.by), QSignalBlocker(self.estimator):
            self.by.clear()
            self.by.addItem(self.tr("(nothing)"), "")
            for name in names:
                self.by.addItem(name, name)
            self.estimator.clear()
            for each in estimators:
                self.estimator.addItem(said(each.label), each.value)
        self.estimator.setEnabled(self.estimator.count() > 1)

    def offer_truth(self, *, possible: bool, reason: str) -> None:
        """Whether the source is at hand; switched off until it is asked for."""
        with QSignalBlocker(self.truth):
            self.truth.setChecked(False)
        self.truth.setEnabled(possible)
        self.badge.setVisible(possible)
        self.truth.setAccessibleDescription(reason)
        self.truth.setToolTip(reason)

    def show_state(self, state: AskState) -> None:
        """Show what is asked now."""
        self._state = state
        heads = (self.tr("Column"), self.tr("Asked for"), self.tr("Published values"))
        kinds = {True: self.tr("drawn"), False: self.tr("unchanged")}
        rows = [
            (name, condition_words(state.condition_on(name)), kinds[name in self._drawn])
            for name in self._names
        ]
        self.columns.lines.set_table(heads, rows)
        with QSignalBlocker(self.by), QSignalBlocker(self.estimator):
            self.by.setCurrentIndex(max(0, self.by.findData(state.by)))
            self.estimator.setCurrentIndex(max(0, self.estimator.findData(state.estimator)))
        self.clear.setEnabled(bool(state.conditions))
        if self.keep.dimension:
            self.keep.refresh(state.ticked(self.keep.dimension, self._values))
            within = state.within(self.keep.dimension)
            self.range.show_span(None if within is None else within.span)

    def show_values(self, found: ReleasedColumn) -> None:
        """List the values of a column; of very many the first ones."""
        name, state = found.name, self._state
        self._values = found.values[:MOST_LISTED]
        self.keep.open(name, self._values, state.ticked(name, self._values))
        self.range.setVisible(found.numeric)
        within = state.within(name)
        self.range.show_span(None if within is None else within.span)

    @property
    def chosen_column(self) -> str:
        """The column whose line is chosen; empty when none is."""
        row = self.columns.currentIndex().row()
        return self._names[row] if 0 <= row < len(self._names) else ""

    @Slot()
    def _on_column(self) -> None:
        if self.chosen_column:
            self.columnAsked.emit(self.chosen_column)

    @Slot(str, object)
    def _on_kept(self, name: str, values: tuple[str, ...] | None) -> None:
        self.conditionAsked.emit(name, None if values is None else Chosen(name, values))

    @Slot(object)
    def _on_range(self, span: Span | None) -> None:
        name = self.keep.dimension
        if name:
            self.conditionAsked.emit(name, None if span is None else Within(name, span))

    @Slot()
    def _on_by(self) -> None:
        self.byAsked.emit(str(self.by.currentData()))

    @Slot()
    def _on_estimator(self) -> None:
        self.estimatorAsked.emit(str(self.estimator.currentData()))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.columns.setMinimumHeight(theme.row * 6)
