"""A release of rows in a window beside the main one: conditions by clicking, estimates, errors.

It reads the public files of the release alone, and the source only while its holder asks for the
truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from dpdesk.app import querying
from dpdesk.app.querying import OpenRelease, ReleasedColumn, drawn_columns
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.parameters import Choice
from dpdesk.core.plain import number_text
from dpdesk.core.query import (
    COVERING_95,
    Answer,
    AnswerChartWords,
    AnswerRow,
    AskState,
    Chosen,
    Condition,
    Within,
    answer_chart,
    drawn_rows,
    label_words,
)
from dpdesk.core.spans import Span, exact
from dpdesk.ui.browsing.side import KeepList
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import leave_wheel
from dpdesk.ui.widgets.states import Lines, Problem, button, labelled, note
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.windows.base import ReadingWindow
from dpdesk.ui.words.numbers import figure_words, grouped, legible, marked, short_name, shortened
from dpdesk.ui.words.spoken import in_window, said

OPEN, VALUES, ASK = "ask.open", "ask.values", "ask.ask"


@dataclass(frozen=True)
class Opened:
    """A release, and whether its internal part is at hand, which knows its source."""

    release: OpenRelease
    evidence: bool


def open_folder(context: AppContext, folder: Path, token: CancelToken, report: Report) -> Opened:
    """Check and open the folder of a release."""
    release = querying.open_release(context, folder, token, report)
    return Opened(release, querying.holds_evidence(release))


@dataclass(frozen=True)
class Answered:
    """The answer to a question; with ``truth`` what the source says, for its holder alone."""

    state: AskState
    answer: Answer
    truth: Answer | None = field(default=None, repr=False)


def ask_release(
    context: AppContext,
    release: OpenRelease,
    state: AskState,
    source: Path | None,
    token: CancelToken,
    report: Report,
) -> Answered:
    """Ask the release; with a ``source`` also that."""
    query = state.query()
    answer = release.ask(query, token, report)
    if source is None:
        return Answered(state, answer)
    truth = querying.true_answer(context, release, source, query, token, report)
    return Answered(state, answer, truth)


_FEW = 3


def _tr(text: str) -> str:
    return QCoreApplication.translate("Ask", text)


def condition_words(condition: Condition | None) -> str:
    """A condition where there is little room."""
    if condition is None:
        return _tr("any")
    if isinstance(condition, Chosen):
        shown = ", ".join(shortened(value) or _tr("(empty)") for value in condition.values[:_FEW])
        more = len(condition.values) - _FEW
        return shown + (f" +{grouped(more)}" if more > 0 else "")
    return legible(condition.words().replace(condition.column, "").strip())


def question_words(state: AskState) -> str:
    """The question that is asked."""
    having = _tr(" and ").join(
        legible(condition.words()) if not isinstance(condition, Chosen) else _chosen(condition)
        for condition in state.conditions
    )
    if state.by and having:
        return _tr("How many rows with {having}, by {column}?").format(
            having=having, column=short_name(state.by)
        )
    if state.by:
        return _tr("How many rows by {column}?").format(column=short_name(state.by))
    return _tr("How many rows have {having}?").format(having=having) if having else _tr("How many?")


def _chosen(condition: Chosen) -> str:
    return f"{short_name(condition.column)} = {condition_words(condition)}"


def answer_words(found: Answered) -> str:
    """The answer in a sentence."""
    rows = found.answer.rows
    known = [row for row in rows if row.value is not None]
    if not rows:
        return _tr("No row of the release fulfils the conditions.")
    if not known:
        return _tr("Not estimable: {reason}").format(reason=_reason(rows[0]))
    if len(rows) == 1 and not found.answer.columns:
        return _number_words(known[0], "", found.answer)
    most = max(known, key=lambda row: row.value or 0.0)
    said = _tr("Most rows: ") + _number_words(most, label_words(most.labels), found.answer)
    drawn, missing = len(drawn_rows(found.answer)), len(rows) - len(known)
    if drawn < len(known):
        text = _tr(" The picture has {drawn} of {all} numbers, the table has all.")
        said += text.format(drawn=grouped(drawn), all=grouped(len(known)))
    if missing:
        text = _tr(" {count} of {all} numbers are not estimable: {reason}")
        unknown = next(row for row in rows if row.value is None)
        said += text.format(count=grouped(missing), all=grouped(len(rows)), reason=_reason(unknown))
    return said


def _reason(row: AnswerRow) -> str:
    return in_window(row.note.removeprefix("not estimable: "))


def _number_words(row: AnswerRow, name: str, answer: Answer) -> str:
    head = f"{name}, " if name else ""
    value = figure_words(row.value or 0.0, "count")
    if row.standard_error is None and row.low is None:
        text = _tr("{head}about {value}; this method of estimation gives no error.")
        return text.format(head=head, value=value)
    if row.low == row.high or row.low is None or row.high is None:
        return _tr("{head}{value} rows, exactly.").format(head=head, value=value)
    text = _tr("{head}about {value}, between {low} and {high} in 95 of 100 cases.")
    if answer.interval != COVERING_95:
        text = _tr(
            "{head}about {value}; the interval is {low} to {high}, if what it assumes holds."
        )
    return text.format(
        head=head,
        value=value,
        low=figure_words(row.low, "count"),
        high=figure_words(row.high, "count"),
    )


def truth_words(found: Answered) -> str:
    """How far the estimates are from the source; empty without it."""
    truth = found.truth
    if truth is None:
        return ""
    exact = true_values(truth)
    known = [row for row in found.answer.rows if row.value is not None]
    if len(known) == 1:
        true = exact.get(known[0].labels, 0.0)
        text = _tr("The source has {true} rows; the error is {error}.")
        return text.format(
            true=figure_words(true, "count"),
            error=marked(f"{(known[0].value or 0.0) - true:+,.0f}"),
        )
    pairs = [(row, exact.get(row.labels, 0.0)) for row in known]
    inside = sum(
        row.low - 0.5 <= true <= row.high + 0.5
        for row, true in pairs
        if row.low is not None and row.high is not None
    )
    mean = sum(abs((row.value or 0.0) - true) for row, true in pairs) / max(1, len(pairs))
    text = _tr(
        "The error is {mean} rows on average; {inside} of {all} intervals contain the "
        "number in the source. All rows of the source count, including those that were "
        "not released."
    )
    return text.format(
        mean=figure_words(mean, "count"), inside=grouped(inside), all=grouped(len(pairs))
    )


def true_values(truth: Answer) -> dict[tuple[str | None, ...], float]:
    """The counts of the source by their labels."""
    return {row.labels: row.value for row in truth.rows if row.value is not None}


def chart_words(found: Answered) -> AnswerChartWords:
    """All words of the picture."""
    exact = found.answer.interval == "certain"
    return AnswerChartWords(
        question_words(found.state),
        answer_words(found),
        _tr("Rows"),
        _tr("Rows") if exact else _tr("Estimated rows"),
        _tr("In the source (internal)"),
    )


def badge() -> str:
    """What stands before everything that was counted in the source."""
    return _tr("Internal, confidential, from the source")


MOST_LISTED = 1_000


class RangeBox(QWidget):
    """``asked(object)``: the numbers to keep as a Span, None for all; nothing while unreadable."""

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.xs)
        line = QHBoxLayout()
        self.first, self.last = QLineEdit(), QLineEdit()
        for line_edit, name, tip in (
            (self.first, self.tr("From"), self.tr("Smallest value to count; empty: no limit")),
            (self.last, self.tr("To"), self.tr("Largest value to count; empty: no limit")),
        ):
            line_edit.setAccessibleName(name)
            line_edit.setPlaceholderText(name)
            line_edit.setToolTip(tip)
            line_edit.editingFinished.connect(self._on_edited)
            line.addWidget(line_edit)
        layout.addLayout(line)
        self.problem = Problem()
        layout.addWidget(self.problem)
        self._told: Span | None = None

    def show_span(self, span: Span | None) -> None:
        """Show a range; asks for nothing."""
        self._told = span
        ends = (None, None) if span is None else (span.low, span.high)
        for line_edit, end in zip((self.first, self.last), ends, strict=True):
            line_edit.setText("" if end is None else number_text(end))
        self.problem.say("")

    @Slot()
    def _on_edited(self) -> None:
        texts = self.first.text().strip(), self.last.text().strip()
        low, high = (exact(text) if text else None for text in texts)
        if any(text and end is None for text, end in zip(texts, (low, high), strict=True)):
            self.problem.say(self.tr("Enter a number, such as 40 or 12.5."))
            return
        if low is not None and high is not None and low > high:
            self.problem.say(self.tr("Enter the smaller number first."))
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
        tip = self.tr("Choose a column, then check its values below or type a range")
        self.columns = Lines(theme, self.tr("Columns and their conditions"), tip)
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
        labelled(layout, self.tr("Break &down by"), self.by, tip)
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
        self.badge = note(self.tr("⚠ internal, confidential: from the source"), "caution")
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
        heads = (self.tr("Column"), self.tr("Condition"), self.tr("Published values"))
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

    channels = (OPEN, VALUES, ASK)
    shortcuts = MappingProxyType({"Ctrl+T": "chart.toggle_table"})
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
        self._found: Answered | None = None
        self._known: dict[str, ReleasedColumn] = {}
        self._build(theme)
        self._connect()
        self.follow_theme(theme)

    def _build(self, theme: ThemeManager) -> None:
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        for widget in (self.title, self.band, self.progress):
            layout.addWidget(widget)
        self.side = AskSide(theme)
        splitter = TurningSplitter("ask", (self.side, self._build_page(theme)), (2, 3))
        layout.addWidget(splitter, 1)
        self.frame(body, gap=SPACE.s)

    def _build_page(self, theme: ThemeManager) -> QWidget:
        page = QWidget()
        layout = column(page, gap=SPACE.s)
        self.chart = ChartView(theme)
        self.chart.set_placeholder(self.tr("The answer will appear here."))
        self.truth, self.assumption = note("", "caution"), note()
        layout.addWidget(self.chart, 1)
        layout.addWidget(self.truth)
        layout.addWidget(self.assumption)
        tip = self.tr("Copy the question as code for a notebook or a script")
        self.python = button(self.tr("Copy as P&ython"), tip)
        layout.addWidget(self.python, 0, Qt.AlignmentFlag.AlignLeft)
        return page

    def _connect(self) -> None:
        side = self.side
        side.columnAsked.connect(self._on_column)
        side.conditionAsked.connect(self._on_condition)
        side.byAsked.connect(self._on_by)
        side.estimatorAsked.connect(self._on_estimator)
        side.truthAsked.connect(self._on_truth)
        side.clearAsked.connect(self._on_clear)
        self.python.clicked.connect(self.copy_python)

    # -- what is shown

    @property
    def state(self) -> AskState:
        """What is asked."""
        return self._state

    @property
    def found(self) -> Answered | None:
        """The answer to the present question; None while it is on its way."""
        present = self._found is not None and self._found.state == self._state
        return self._found if present else None

    def open(self, folder: Path) -> None:
        """Open a release folder, or its public part, and show the window."""
        self._release, self._found, self._known = None, None, {}
        self._state = AskState()
        self.chart.set_chart(None)
        self.side.setEnabled(False)
        self.python.setEnabled(False)
        self.title.setText(folder.name)
        self.band.clear()
        self._say(None)
        self.bring_in_front()
        title = self.tr("Checking the files of {name}").format(name=folder.name)
        work = partial(open_folder, self._context, folder)
        self.read(OPEN, title, work, self._on_open, self._on_failed)

    # -- wishes

    @Slot(str)
    def _on_column(self, name: str) -> None:
        known = self._known.get(name)
        if known is not None:
            self.side.show_values(known)
        elif self._release is not None:
            title = self.tr("Reading the values of {name}").format(name=name)
            work = partial(querying.released_column, self._release, name)
            self.read(VALUES, title, work, self._on_values, self._on_failed, told=False)

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

    @Slot()
    def copy_python(self) -> None:
        """Put the question on the clipboard as Python code."""
        if self._release is not None:
            self.copy_query((self._release.about.folder,), self._state.query())

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
        work = partial(ask_release, self._context, self._release, state, source)
        self.read(ASK, title, work, self._on_answer, self._on_failed)

    # -- what comes back

    def _on_open(self, opened: Opened) -> None:
        self._release = release = opened.release
        about, drawn = release.about, drawn_columns(release)
        self.name_it(about.title or about.folder.name)
        names = [each.name for each in about.askable.columns]
        first = [name for name in names if name in drawn]
        self.side.setEnabled(True)
        self.python.setEnabled(True)
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
            reason = self.tr("Count in the source that is open in the window; no one else sees it")
        else:
            reason = self.tr(
                "For those who hold the data: open the source in the window and the whole "
                "release folder here"
            )
        self.side.offer_truth(possible=possible, reason=reason)

    def _on_values(self, found: ReleasedColumn) -> None:
        self._known[found.name] = found
        if found.name == self.side.chosen_column:
            self.side.show_values(found)

    def _on_answer(self, found: Answered) -> None:
        self._found = found
        self.chart.set_stale(False)
        truth = None if found.truth is None else true_values(found.truth)
        internal = "" if truth is None else self.tr("Internal: it shows true counts of the source")
        self.chart.forbid_saving(internal)
        self.chart.set_chart(answer_chart(found.answer, truth, chart_words(found)))
        self._say(found)

    def _say(self, found: Answered | None) -> None:
        truth = "" if found is None else truth_words(found)
        self.truth.setText(f"⚠ {badge()}: {truth}" if truth else "")
        self.truth.setVisible(bool(truth))
        lines = (
            []
            if found is None
            else list(map(in_window, (found.answer.sentence, *found.answer.warnings)))
        )
        self.assumption.setText(" ".join(lines))

    def _on_failed(self, outcome: JobFailed) -> None:
        self.chart.set_stale(self._found is not None)
        self.band.show_error(outcome)
