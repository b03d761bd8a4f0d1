"""Choosing a table of a database server; connecting happens in the background, nothing blocks."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from dpdesk.app.context import AppContext
from dpdesk.app.databases import Address, keep_password
from dpdesk.core.errors import InputError
from dpdesk.core.plan import SourceSpec
from dpdesk.ui.database import tasks
from dpdesk.ui.database.choice import TableChoice
from dpdesk.ui.database.form import ConnectionForm
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.jobs.outcomes import failure
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.people.parts import button, note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.turning import TurningSplitter

_HALF_EMS = 30


class DatabaseWindow(QWidget):
    """``chosen(SourceSpec)`` when a table or a query is to be opened; it closes then."""

    chosen = Signal(object)

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._context, self._hub = context, hub
        self._url = ""
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("Open a database – DPDesk"))
        self.setAccessibleName(self.tr("Open a table of a PostgreSQL database"))
        self._build(theme)
        self._connect()
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self._refresh()

    def _build(self, theme: ThemeManager) -> None:
        outer = column(self, margin=SPACE.l, gap=SPACE.s)
        body = QWidget()
        layout = column(body, gap=SPACE.m)
        title = QLabel(self.tr("Which table of the database do you want to protect?"))
        title.setWordWrap(True)
        set_look(title, "headline")
        about = note(
            self.tr(
                "Opens a table, a view or a query of a PostgreSQL server, for reading only. SQLite "
                "and DuckDB are files: open them as such, and name the table there."
            )
        )
        self.band, self.progress = MessageBand(theme), JobLine(self._hub)
        self.form, self.choice = ConnectionForm(), TableChoice(theme)
        for widget in (title, about, self.band, self.progress):
            layout.addWidget(widget)
        left = QWidget()
        fields = column(left)
        fields.addWidget(self.form)
        fields.addStretch(1)
        halves = TurningSplitter("database", (left, self.choice), (0, 1))
        set_look(halves, "plain")
        layout.addWidget(halves, 1)
        self._halves = (left, self.choice)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(body)
        outer.addWidget(self._area, 1)
        self.open_button = button(
            self.tr("&Open"), self.tr("Read the chosen table, and begin a work with it")
        )
        self.close_button = button(self.tr("C&lose"), self.tr("Open nothing (Esc)"))
        bar = FlowBox(gap=SPACE.s)
        bar.add(self.open_button)
        bar.add(self.close_button)
        outer.addWidget(bar)

    def _connect(self) -> None:
        self.form.connectAsked.connect(self.look)
        self.form.edited.connect(self._on_edited)
        self.choice.changed.connect(self._refresh)
        self.choice.openAsked.connect(self._on_open)
        self.open_button.clicked.connect(self._on_open)
        self.close_button.clicked.connect(self.close)

    def present(self, source: SourceSpec | None = None) -> None:
        """Show the window; with the address of a source, where one is open or could not be."""
        if source is not None and source.is_url:
            self.form.set_address(Address.of(source.path))
            if source.query is not None:
                self.choice.set_statement(source.query)
        self.show()
        self.raise_()
        self.activateWindow()
        (self.form.password if self.form.database.text() else self.form.host).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more, and forget the typed password."""
        self._hub.latest(tasks.LIST).cancel()
        self.form.password.clear()
        super().closeEvent(event)

    @Slot()
    def look(self) -> None:
        """Connect, and list the tables, in the background."""
        try:
            url = self.form.address().url
        except InputError as error:
            self.band.show_error(failure(0, self.tr("Connecting"), error))
            self.form.port.setFocus()
            return
        self.band.clear()
        self._url = ""
        self.choice.set_tables((), known=False)
        title = self.tr("Connecting")
        job = self._hub.latest(tasks.LIST).query(
            title,
            tasks.ListTables(self._context, url, self.form.password.text()),
            done=self._on_listed,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )
        self.progress.follow(job, title)
        self._refresh()

    def _on_listed(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, tasks.Offered):
            self._url = outcome.value.url
            self.choice.set_tables(outcome.value.tables, known=True)
            self.choice.lines.setFocus()
            self._area.ensureWidgetVisible(self.choice.lines)
        self._refresh()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)
        if outcome.code == "database.password":
            self.form.password.setFocus()
        self._refresh()

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._refresh()

    @Slot()
    def _on_edited(self) -> None:
        """The tables shown are those of another database."""
        if self._url:
            self._url = ""
            self.choice.set_tables((), known=False)

    @Slot()
    def _refresh(self) -> None:
        table, statement = self.choice.table, self.choice.statement
        ready = bool(self._url) and bool(table or statement)
        self.open_button.setEnabled(ready)
        words = self.tr("&Open")
        if table is not None:
            words = self.tr("&Open {table}").format(table=table.replace("&", "&&"))
        elif statement is not None:
            words = self.tr("&Open what the query gives")
        self.open_button.setText(words)
        self.open_button.setAccessibleName(words.replace("&", ""))
        tip = self.tr("Read the chosen table, and begin a work with it")
        if not self._url:
            tip = self.tr("Connect first")
        elif not ready:
            tip = self.tr("Choose a table, or write a query first")
        self.open_button.setToolTip(tip)
        set_look(self.open_button, "primary" if self._url else "")
        set_look(self.form.connect_button, "" if self._url else "primary")
        self.form.connect_button.setEnabled(not self._hub.latest(tasks.LIST).busy)

    @Slot()
    def _on_open(self) -> None:
        if not self.open_button.isEnabled():
            return
        keep_password(self._url, self.form.password.text())
        source = SourceSpec(self._url, table=self.choice.table, query=self.choice.statement)
        self.close()
        self.chosen.emit(source)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for half in self._halves:
            half.setMinimumWidth(theme.ems(_HALF_EMS))
        self.setMinimumSize(theme.ems(36), theme.row * 14)
        screen = self.screen().availableSize()
        wide, high = theme.ems(90), theme.row * 22
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
