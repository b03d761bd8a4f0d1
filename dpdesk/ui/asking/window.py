"""A release of rows in a window beside the main one: conditions by clicking, estimates, errors.

It reads the public files of the release alone, and the source only while its holder asks for the
truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from dpdesk.app.asking import ReleasedColumn, drawn_columns
from dpdesk.app.querying import OpenRelease
from dpdesk.app.types import AppContext
from dpdesk.core.asking import AskState, answer_chart
from dpdesk.core.query import Condition
from dpdesk.ui.asking import tasks, words
from dpdesk.ui.asking.side import AskSide
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.people.parts import note
from dpdesk.ui.reading import ReadingWindow, shown_name
from dpdesk.ui.theme import SPACE, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.words.spoken import said


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
