"""A release of rows in a window beside the main one: conditions by clicking, estimates, errors.

It reads the public files of the release alone, and the source only while its holder asks for the
truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from dpdesk.app.asking import ReleasedColumn, drawn_columns
from dpdesk.app.querying import OpenRelease
from dpdesk.app.types import AppContext
from dpdesk.core.asking import AskState, answer_chart
from dpdesk.core.query import Condition
from dpdesk.ui.asking import tasks, words
from dpdesk.ui.asking.side import AskSide
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.people.parts import note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.turning import TurningSplitter


class AskWindow(QWidget):
    """Asks one release at a time; ``source()`` names the data file that is open, None for none."""

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        source: Callable[[], Path | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._context, self._hub, self._source = context, hub, source
        self._release: OpenRelease | None = None
        self._state = AskState()
        self._found: tasks.Answered | None = None
        self._known: dict[str, ReleasedColumn] = {}
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("Ask a release – DPDesk"))
        self.setAccessibleName(self.tr("Ask a release"))
        self._build(theme)
        self._connect()
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _build(self, theme: ThemeManager) -> None:
        outer = column(self, margin=SPACE.l, gap=SPACE.s)
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self.title, "headline")
        self.band, self.progress = MessageBand(theme), JobLine(self._hub)
        for widget in (self.title, self.band, self.progress):
            layout.addWidget(widget)
        self.side = AskSide(theme)
        splitter = TurningSplitter("ask", (self.side, self._build_page(theme)), (2, 3))
        layout.addWidget(splitter, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(body)
        outer.addWidget(area, 1)

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
        self.show()
        self.raise_()
        self.activateWindow()
        title = self.tr("Checking the files of {name}").format(name=folder.name)
        job = self._hub.latest(tasks.OPEN).query(
            title,
            tasks.OpenFolder(self._context, folder),
            done=self._on_open,
            failed=self._on_failed,
            cancelled=self._on_not_wanted,
            quiet=True,
        )
        self.progress.follow(job, title)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; Ctrl+T chart or table."""
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif control and event.key() == Qt.Key.Key_T:
            self.chart.toggle_table()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        for channel in (tasks.OPEN, tasks.VALUES, tasks.ASK):
            self._hub.latest(channel).cancel()
        super().closeEvent(event)

    # -- wishes

    @Slot(str)
    def _on_column(self, name: str) -> None:
        known = self._known.get(name)
        if known is not None:
            self.side.show_values(known)
        elif self._release is not None:
            self._hub.latest(tasks.VALUES).query(
                self.tr("Reading the values of {name}").format(name=name),
                tasks.Values(self._release, name),
                done=self._on_values,
                failed=self._on_failed,
                quiet=True,
            )

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
        job = self._hub.latest(tasks.ASK).query(
            title,
            tasks.Ask(self._context, self._release, state, source),
            done=self._on_answer,
            failed=self._on_failed,
            cancelled=self._on_not_wanted,
            quiet=True,
        )
        self.progress.follow(job, title)

    # -- what comes back

    def _on_open(self, outcome: JobDone) -> None:
        opened = outcome.value
        if not isinstance(opened, tasks.Opened):
            return
        self._release = release = opened.release
        about, drawn = release.about, drawn_columns(release)
        self.title.setText(about.title or about.folder.name)
        self.setWindowTitle(self.tr("{name} – DPDesk").format(name=self.title.text()))
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
        lines = [] if found is None else [found.answer.sentence, *found.answer.warnings]
        self.assumption.setText(" ".join(lines))

    def _on_failed(self, outcome: JobFailed) -> None:
        self.chart.set_stale(self._found is not None)
        self.band.show_error(outcome)

    def _on_not_wanted(self, outcome: JobCancelled) -> None:
        if not outcome.superseded:
            self.band.show_message("info", self.tr("It was stopped; ask again."))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(40), theme.row * 14)
        screen = self.screen().availableSize()
        wide, high = theme.ems(130), theme.row * 28
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
