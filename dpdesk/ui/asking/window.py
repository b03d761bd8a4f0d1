"""A release of rows in a window beside the main one: conditions by clicking, estimates, errors.

It reads the public files of the release alone, and the source only while its holder asks for the
truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from dpdesk.app.asking import TRUTH_BADGE, ReleasedColumn, drawn_columns
from dpdesk.app.querying import OpenRelease
from dpdesk.app.types import AppContext
from dpdesk.core.asking import AskState, answer_chart
from dpdesk.core.parameters import Choice
from dpdesk.core.query import Chosen, Condition, Within
from dpdesk.core.spans import Span, exact
from dpdesk.ui.asking import tasks, words
from dpdesk.ui.asking.words import condition_words
from dpdesk.ui.browsing.keeping import KeepList
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.people.parts import Lines, Problem, button, labelled, note
from dpdesk.ui.reading import ReadingWindow, shown_name
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.counts import short_name
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
                self.by.addItem(short_name(name), name)
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


class AskWindow(ReadingWindow):
    """Asks one release at a time; ``source()`` names the data file that is open, None for none."""

    channels = (tasks.OPEN, tasks.VALUES, tasks.ASK)
    room = (130, 28)

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        source: Callable[[], Path | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            hub, theme, QCoreApplication.translate("AskWindow", "Ask a release"), parent
        )
        self._context, self._source = context, source
        self._release: OpenRelease | None = None
        self._state = AskState()
        self._found: tasks.Answered | None = None
        self._known: dict[str, ReleasedColumn] = {}
        self._build(theme)
        self._connect()
        self.follow_theme(theme)

    def _build(self, theme: ThemeManager) -> None:
        _, layout = self.build_body()
        for widget in (self.band, self.progress):
            layout.addWidget(widget)
        self.side = AskSide(theme)
        splitter = TurningSplitter("ask", (self.side, self._build_page(theme)), (2, 3))
        layout.addWidget(splitter, 1)

    def _build_page(self, theme: ThemeManager) -> QWidget:
        page = QWidget()
        layout = column(page, gap=SPACE.s)
        self.chart = ChartView(theme)
        self.chart.set_placeholder(self.tr("The answer will stand here."))
        self.truth, self.assumption = note("", "caution"), note()
        layout.addWidget(self.chart, 1)
        layout.addWidget(self.truth)
        layout.addWidget(self.assumption)
        return page

    def _connect(self) -> None:
        side = self.side
        side.columnAsked.connect(self._on_column)
        side.conditionAsked.connect(self._on_condition)
        side.byAsked.connect(self._on_by)
        side.estimatorAsked.connect(self._on_estimator)
        side.truthAsked.connect(self._on_truth)
        side.clearAsked.connect(self._on_clear)

    # -- what is shown

    @property
    def state(self) -> AskState:
        """What is asked."""
        return self._state

    @property
    def found(self) -> tasks.Answered | None:
        """The answer to the present question; None while it is on its way."""
        present = self._found is not None and self._found.state == self._state
        return self._found if present else None

    def open(self, folder: Path) -> None:
        """Open a release folder, or its public part, and show the window."""
        self._release, self._found, self._known = None, None, {}
        self._state = AskState()
        self.chart.set_chart(None)
        self.side.setEnabled(False)
        self.title.setText(folder.name)
        self.band.clear()
        self._say(None)
        self.present()
        title = self.tr("Checking the files of {name}").format(name=folder.name)
        work = tasks.OpenFolder(self._context, folder)
        self.read(tasks.OPEN, title, work, self._on_open, self._on_failed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; Ctrl+T chart or table."""
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif control and event.key() == Qt.Key.Key_T:
            self.chart.toggle_table()
        else:
            super().keyPressEvent(event)

    # -- wishes

    @Slot(str)
    def _on_column(self, name: str) -> None:
        known = self._known.get(name)
        if known is not None:
            self.side.show_values(known)
        elif self._release is not None:
            title = self.tr("Reading the values of {name}").format(name=name)
            work = tasks.Values(self._release, name)
            self.read(tasks.VALUES, title, work, self._on_values, self._on_failed, told=False)

    @Slot(str, object)
    def _on_condition(self, name: str, condition: Condition | None) -> None:
        self._ask(self._state.put(name, condition))

    @Slot(str)
    def _on_by(self, name: str) -> None:
        self._ask(replace(self._state, by=name))

    @Slot(str)
    def _on_estimator(self, name: str) -> None:
        self._ask(replace(self._state, estimator=name))

    @Slot()
    def _on_clear(self) -> None:
        self._ask(replace(self._state, conditions=()))

    @Slot(bool)
    def _on_truth(self, wanted: bool) -> None:
        self._ask(self._state)

    def _ask(self, state: AskState) -> None:
        if self._release is None:
            return
        self._state = state
        self.side.show_state(state)
        self.band.clear()
        self.chart.set_stale(self._found is not None)
        title = self.tr("Estimating from the release")
        source = self._source() if self.side.truth.isChecked() else None
        work = tasks.Ask(self._context, self._release, state, source)
        self.read(tasks.ASK, title, work, self._on_answer, self._on_failed)

    # -- what comes back

    def _on_open(self, outcome: JobDone) -> None:
        opened = outcome.value
        if not isinstance(opened, tasks.Opened):
            return
        self._release = release = opened.release
        about, drawn = release.about, drawn_columns(release)
        self.name_it(shown_name(about.title, about.folder))
        names = [each.name for each in about.askable.columns]
        first = [name for name in names if name in drawn]
        self.side.setEnabled(True)
        self.side.show_release(
            [*first, *(name for name in names if name not in drawn)],
            drawn,
            about.askable.estimators,
        )
        self._offer_truth(evidence=opened.evidence)
        by = next(iter(first), names[0] if names else "")
        self._ask(AskState(by=by))
        self.side.columns.setFocus()

    def _offer_truth(self, *, evidence: bool) -> None:
        possible = evidence and self._source() is not None
        if possible:
            reason = self.tr("Count in the source that is open in the window; nobody else sees it")
        else:
            reason = self.tr(
                "For whoever holds the data: open the source in the window and the whole release "
                "folder here"
            )
        self.side.offer_truth(possible=possible, reason=reason)

    def _on_values(self, outcome: JobDone) -> None:
        found = outcome.value
        if isinstance(found, ReleasedColumn):
            self._known[found.name] = found
            if found.name == self.side.chosen_column:
                self.side.show_values(found)

    def _on_answer(self, outcome: JobDone) -> None:
        found = outcome.value
        if not isinstance(found, tasks.Answered):
            return
        self._found = found
        self.chart.set_stale(False)
        truth = None if found.truth is None else words.true_values(found.truth)
        internal = "" if truth is None else self.tr("Internal: it shows true counts of the source")
        self.chart.forbid_saving(internal)
        self.chart.set_chart(answer_chart(found.answer, truth, words.chart_words(found)))
        self._say(found)

    def _say(self, found: tasks.Answered | None) -> None:
        truth = "" if found is None else words.truth_words(found)
        self.truth.setText(f"⚠ {words.badge()}: {truth}" if truth else "")
        self.truth.setVisible(bool(truth))
        lines = (
            []
            if found is None
            else list(map(said, (found.answer.sentence, *found.answer.warnings)))
        )
        self.assumption.setText(" ".join(lines))

    def _on_failed(self, outcome: JobFailed) -> None:
        self.chart.set_stale(self._found is not None)
        self.band.show_error(outcome)
