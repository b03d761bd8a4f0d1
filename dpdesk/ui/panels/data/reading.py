"""How the file is read: detected values that can be changed, beside a live preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QWidget

from dpdesk.app.describing import LinesAround
from dpdesk.core.plan import SourceSpec
from dpdesk.core.row_conditions import read_query
from dpdesk.core.source_options import asks_database
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.jobs.outcomes import failure
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.panels.data.form import ReadingForm
from dpdesk.ui.panels.data.grid import MissingDelegate
from dpdesk.ui.panels.data.presenter import error_line, number_columns
from dpdesk.ui.panels.data.preview import PreviewModel
from dpdesk.ui.panels.data.tasks import Preview, Previewed, ShowLines
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, StepHeader, column
from dpdesk.ui.widgets.beside import BesideBox
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.widgets.wording import in_window
from dpdesk.ui.words.counts import columns_words, rows_words, short_name
from dpdesk.ui.words.numbers import grouped

PREVIEW, LINES = "data.preview", "data.lines"
WAIT_MS = 150
_FIRST_NOTES = 6
_DETECTED = ("delimiter", "encoding", "decimal", "quote", "escape", "header", "skip")


class ReadingPage(QWidget):
    """Form, preview, problem and the lines around it.

    ``applied(SourceSpec, columns)`` when the file is to be read like this, ``left()`` when the user
    goes back.
    """

    applied = Signal(object, object)
    left = Signal()

    def __init__(self, hub: JobHub, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub, self._theme = hub, theme
        self._base = Path()
        self._began = SourceSpec("")
        self._problem: JobFailed | None = None
        self._previewed: Previewed | None = None
        self._fresh = True
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT_MS)
        self._wait.timeout.connect(self._ask)
        layout = column(self, gap=SPACE.m)
        self.header = StepHeader(1, "", "")
        layout.addWidget(self.header)
        self.band = MessageBand(theme)
        layout.addWidget(self.band)
        layout.addWidget(self._build_middle(), 1)
        layout.addWidget(self._build_buttons())

    # ---- building

    def _build_middle(self) -> QWidget:
        self.form = ReadingForm()
        self.form.edited.connect(self._on_edited)
        self._preview_title = QLabel()
        self._preview_title.setWordWrap(True)
        set_look(self._preview_title, "strong")
        self._notes = QLabel()
        self._notes.setWordWrap(True)
        self._notes.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self._notes, "note")
        self._model, self._lines_model = PreviewModel(self), ListModel(parent=self)
        self.grid = DataGrid(self._theme, self.tr("The first rows as they would be read"))
        self.grid.setModel(self._model)
        self._delegate = MissingDelegate(self._theme, self.grid)
        self.grid.setItemDelegate(self._delegate)
        self._lines_title = QLabel()
        set_look(self._lines_title, "strong")
        self.lines = DataGrid(self._theme, self.tr("The lines of the file around the problem"))
        self.lines.setModel(self._lines_model)
        self.lines.verticalHeader().hide()
        self.lines.horizontalHeader().setStretchLastSection(True)
        self.lines.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._fit_lines)
        right = QWidget()
        inner = column(right, gap=SPACE.s)
        inner.setContentsMargins(SPACE.s, 0, 0, 0)
        for widget in (self._lines_title, self.lines, self._preview_title, self._notes):
            inner.addWidget(widget)
        inner.addWidget(self.grid, 1)
        inner.addStretch(0)
        return TurningSplitter("data-reading", (self.form, right), (0, 1))

    def _build_buttons(self) -> QWidget:
        self.back_button = QPushButton(self.tr("&Back"))
        self.back_button.setToolTip(self.tr("Leave the file as it was read before"))
        self.back_button.clicked.connect(self.left)
        self.reset_button = QPushButton(self.tr("Detec&t everything"))
        self.reset_button.setToolTip(self.tr("Forget what was set by hand and detect it again"))
        self.reset_button.clicked.connect(self._on_reset)
        self.again_button = QPushButton(self.tr("Loo&k again"))
        self.again_button.setToolTip(self.tr("Read the file again, after it was repaired"))
        self.again_button.clicked.connect(self._ask)
        self.apply_button = QPushButton(self.tr("Re&ad the file like this"))
        set_look(self.apply_button, "primary")
        self.apply_button.clicked.connect(self._on_apply)
        others = FlowBox()
        for button in (self.back_button, self.reset_button, self.again_button):
            others.add(button)
        return BesideBox(others, self.apply_button)

    # ---- what others tell

    def begin(self, source: SourceSpec, base: Path, problem: JobFailed | None) -> None:
        """Start with the way in which a file was (or was to be) read."""
        self._base, self._began, self._problem = base, source, problem
        self._previewed, self._fresh = None, True
        name = source.name
        self.header.set_title(self.tr("How is {name} to be read?").format(name=short_name(name)))
        self.form.set_source(source)
        self._show_lines(None)
        self.band.clear()
        if problem is not None:
            self._show_error(problem)
            self._ask_lines(problem, source, "")
        self._notes.clear()
        self._model.set_table((), ())
        self._ask()

    @property
    def previewed(self) -> Previewed | None:
        """The preview on show; None while it is on its way."""
        return self._previewed

    # ---- inside

    @Slot()
    def _on_edited(self) -> None:
        self._previewed = None
        self._wait.start()
        self._allow()

    @Slot()
    def _on_reset(self) -> None:
        plain = SourceSpec("")
        again = {name: getattr(plain, name) for name in _DETECTED}
        kept = self.form.source().query
        self.form.set_source(replace(self._began, missing=plain.missing, query=kept, **again))
        self._on_edited()

    @Slot()
    def _ask(self) -> None:
        self._preview_title.setText(self.tr("Reading the first rows…"))
        self._hub.latest(PREVIEW).query(
            self.tr("Reading the first rows"),
            Preview(self.form.source(), self._base),
            done=self._on_preview,
            failed=self._on_failed,
            quiet=True,
        )
        self._allow()

    def _on_preview(self, outcome: JobDone) -> None:
        found = outcome.value
        if not isinstance(found, Previewed):
            return
        self._previewed = found
        preview = found.preview
        reading = preview.reading
        self.form.show_detected(reading, self._columns_of_source(found))
        self._delegate.set_missing(reading.missing)
        width = len(preview.columns)
        self._model.numbers = number_columns(preview.rows, width, reading.decimal)
        self._model.set_table(preview.columns, preview.rows)
        self.grid.fit_columns()
        self.grid.setVisible(bool(width))
        self._preview_title.setText(self._preview_words(len(preview.rows), width))
        self._notes.setText(self._notes_words(reading.notes))
        self._notes.setVisible(bool(reading.notes))
        self._show_problem(found)
        self._allow()

    def _columns_of_source(self, found: Previewed) -> tuple[str, ...] | None:
        """The columns before the query, None where the preview has those that a query makes."""
        preview, query = found.preview, found.source.query
        if not preview.columns or asks_database(found.source):
            return None
        whole = query is None or read_query(query) is not None
        failed = preview.problem is not None and preview.problem.code == "source.query"
        return preview.columns if whole or failed else None

    def _notes_words(self, notes: Sequence[str]) -> str:
        words = in_window("\n".join(notes[:_FIRST_NOTES]))
        left = len(notes) - _FIRST_NOTES
        if left <= 0:
            return words
        more = self.tr("{count} more notes are shown when the file is open.")
        return f"{words}\n{more.format(count=grouped(left))}"

    def _preview_words(self, rows: int, columns: int) -> str:
        if not columns:
            return self.tr("There is no row to show.")
        title = self.tr("First rows, as they would be read: {rows}, {columns}")
        return title.format(rows=rows_words(rows), columns=columns_words(columns))

    def _show_problem(self, found: Previewed) -> None:
        """Show what stands in the way; what the whole file showed stays until something changes."""
        problem, fresh = found.preview.problem, self._fresh
        self._fresh = False
        if problem is not None:
            shown = failure(0, self.tr("Reading the first rows"), problem)
            self._show_error(shown)
            self._ask_lines(shown, found.source, found.preview.reading.encoding)
        elif self._problem is None:
            self.band.clear()
            self._show_lines(None)
        elif not fresh:
            text = self.tr("The first rows can be read like this. Read the file to check all.")
            self.band.show_message("info", text, dismissible=False)

    def _show_error(self, problem: JobFailed) -> None:
        self.form.offer_tables(problem)
        self.form.offer_remedy(problem)
        if problem.details.get("key") == "query":
            self.form.rows.fold.setChecked(True)
        text = f"{problem.sentence} {problem.hint}".strip()
        self.band.show_message("fail", text, dismissible=False)

    def _ask_lines(self, problem: JobFailed, source: SourceSpec, encoding: str) -> None:
        line = error_line(problem)
        if line is None:
            self._show_lines(None)
            return
        self._hub.latest(LINES).query(
            self.tr("Reading lines"),
            ShowLines(source, self._base, line, encoding or source.encoding or "utf-8"),
            done=self._on_lines,
            failed=self._on_no_lines,
            quiet=True,
        )

    def _on_lines(self, outcome: JobDone) -> None:
        self._show_lines(outcome.value if isinstance(outcome.value, LinesAround) else None)

    def _on_no_lines(self, outcome: JobFailed) -> None:
        self._show_lines(None)

    def _show_lines(self, found: LinesAround | None) -> None:
        shown = found is not None and any(text for _, text in found.lines)
        self.lines.setVisible(shown)
        self._lines_title.setVisible(shown)
        if found is None or not shown:
            self._hub.latest(LINES).cancel()
            return
        title = self.tr("The file around line {line}").format(line=grouped(found.wanted))
        self._lines_title.setText(title)
        rows = [
            (f"→ {grouped(number)}" if number == found.wanted else grouped(number), text)
            for number, text in found.lines
        ]
        self._lines_model.set_table((self.tr("Line"), self.tr("As it stands in the file")), rows)
        self.lines.fit_columns()
        self._fit_lines()
        for number, (place, _) in enumerate(found.lines):
            if place == found.wanted:
                self.lines.selectRow(number)

    @Slot()
    def _fit_lines(self) -> None:
        """As high as the lines that are shown."""
        high = self._theme.theme.row * (self._lines_model.rowCount() + 1)
        self.lines.setFixedHeight(high + 2 * SPACE.xs)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._show_error(outcome)
        self._preview_title.setText(self.tr("The first rows could not be read."))

    def _allow(self) -> None:
        found = self._previewed
        ready = found is not None and found.preview.problem is None
        fault = self.form.rows.fault()
        self.apply_button.setEnabled(ready and not fault)
        reason = self.tr("Read the whole file in this way; it can be undone")
        if found is None:
            reason = self.tr("The first rows are still being read")
        elif not ready:
            reason = self.tr("The first rows show a problem; change the settings first")
        elif fault:
            reason = fault
        self.apply_button.setToolTip(reason)

    @Slot()
    def _on_apply(self) -> None:
        found = self._previewed
        if found is not None and self.apply_button.isEnabled():
            self.applied.emit(found.source, found.preview.columns)
