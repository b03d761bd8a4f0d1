"""Choosing a table of a database server or of a cluster, and where its rows are counted.

Connecting happens in the background, nothing blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app.context import AppContext
from dpdesk.app.databases import (
    Address,
    OfferedTable,
    cluster_of,
    cluster_tables,
    confirm_typed,
    keep_password,
    offered_tables,
)
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import POSTGRESQL, SPARK
from dpdesk.ui.jobs import JobCancelled, JobFailed, JobHub
from dpdesk.ui.jobs.hub import failure
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import Lines, button, labelled, note, secret_field
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.numbers import grouped, verbatim

LIST = "database.list"


@dataclass(frozen=True)
class Offered:
    """The tables of the database at ``url``."""

    url: str
    tables: tuple[OfferedTable, ...]


def list_tables(
    context: AppContext, url: str, password: str, token: CancelToken, report: Report
) -> Offered:
    """Ask a server for its tables."""
    confirm_typed(context, url, report)
    return Offered(url, offered_tables(url, password, token, report))


def list_cluster(context: AppContext, cluster: str, token: CancelToken, report: Report) -> Offered:
    """Ask a cluster for the tables of its catalogue."""
    return Offered(cluster, cluster_tables(context, cluster, token, report))


TABLE, QUERY, FILES = "table", "query", "files"
HERE, THERE = "here", "there"


class TableChoice(QFrame):
    """``changed()`` when something else is chosen, ``openAsked()`` when it is wanted at once."""

    changed = Signal()
    openAsked = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        set_look(self, "card")
        self._tables: tuple[OfferedTable, ...] = ()
        self._shown: list[OfferedTable] = []
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self.kinds = ChoiceStrip(self.tr("What is read"))
        self.kinds.chosen.connect(self._on_kind)
        layout.addWidget(self.kinds)
        self._by_table, self._by_query, self._by_files = QWidget(), QWidget(), QWidget()
        layout.addWidget(self._by_table, 1)
        layout.addWidget(self._by_query, 1)
        layout.addWidget(self._by_files, 1)
        self._build_table(theme)
        self._build_query()
        self._build_files()
        self._build_counting(layout)
        self._engine = ""
        self.set_engine(POSTGRESQL)

    def _build_table(self, theme: ThemeManager) -> None:
        layout = column(self._by_table, gap=SPACE.s)
        self.filter = QLineEdit()
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._show)
        tip = self.tr("Shows only tables whose name contains these characters")
        labelled(layout, self.tr("&Find a table"), self.filter, tip)
        self.lines = Lines(
            theme,
            self.tr("Tables and views of the database"),
            self.tr("Choose one with the arrow keys; Enter opens it"),
        )
        self.lines.activated.connect(self.openAsked)
        self.lines.selectionModel().selectionChanged.connect(self.changed)
        self.state = note(self.tr("Connect to list the tables that you may read."))
        layout.addWidget(self.lines, 1)
        layout.addWidget(self.state)

    def _build_query(self) -> None:
        layout = column(self._by_query, gap=SPACE.s)
        self.query = QPlainTextEdit()
        self.query.setTabChangesFocus(True)
        self.query.setPlaceholderText("SELECT sex, age FROM people")
        self.query.textChanged.connect(self.changed)
        tip = self.tr("One SELECT statement of SQL; the database is opened for reading only")
        labelled(layout, self.tr("SELECT s&tatement"), self.query, tip)
        layout.addWidget(
            note(self.tr("The plan keeps the statement, so that the release can be made again."))
        )

    def _build_files(self) -> None:
        layout = column(self._by_files, gap=SPACE.s)
        self.files = QLineEdit()
        self.files.setPlaceholderText("hdfs:///data/people.parquet")
        self.files.textChanged.connect(self.changed)
        self.files.returnPressed.connect(self.openAsked)
        tip = self.tr("A file or folder of Parquet data that all computers of the cluster see")
        labelled(layout, self.tr("&Path of the Parquet data"), self.files, tip)
        layout.addStretch(1)

    def _build_counting(self, layout: QVBoxLayout) -> None:
        self._counting = QWidget()
        inner = column(self._counting, gap=SPACE.xs)
        self.counted = ChoiceStrip(self.tr("Where the rows are counted"))
        self.counted.set_choices(
            [(HERE, self.tr("Read to this computer")), (THERE, self.tr("Count in PostgreSQL"))]
        )
        self.counted.chosen.connect(self._on_counted)
        inner.addWidget(self.counted)
        layout.addWidget(self._counting)
        self.stays = note("")
        layout.addWidget(self.stays)

    # ---- what is chosen

    @property
    def engine(self) -> str | None:
        """The engine in which the table stays; None where it is read."""
        if self._engine == POSTGRESQL and self.counted.current == HERE:
            return None
        return self._engine

    def set_engine(self, engine: str, *, stays: bool = False) -> None:
        """Offer what tables of PostgreSQL, or of Spark, can be opened by."""
        if engine != self._engine:
            self._engine = engine
            other = (FILES, self.tr("Parquet data"))
            if engine == POSTGRESQL:
                other = (QUERY, self.tr("A query"))
            self.kinds.set_choices([(TABLE, self.tr("A table or view")), other])
            self.set_tables((), known=False)
        self.counted.choose(THERE if stays else HERE)
        self._counting.setVisible(engine == POSTGRESQL)
        self._on_kind()
        self._on_counted()

    @property
    def by_path(self) -> bool:
        """Whether Parquet data are named by their path."""
        return self.kinds.current == FILES

    @property
    def table(self) -> str | None:
        """The chosen table, or path of Parquet data."""
        if self.by_path:
            return self.files.text().strip() or None
        place = self.lines.chosen
        if self.kinds.current != TABLE or not 0 <= place < len(self._shown):
            return None
        return self._shown[place].name

    @property
    def statement(self) -> str | None:
        """The query, when that is what is read."""
        text = self.query.toPlainText().strip()
        return text if self.kinds.current == QUERY and text else None

    def set_tables(self, tables: Sequence[OfferedTable], known: bool) -> None:
        """Offer these tables; ``known`` is False while no server was asked."""
        self._tables = tuple(tables)
        words = self.tr("Connect to list the tables that you may read.")
        if known:
            words = self.tr("{count} tables and views; rows as the server estimates them.")
            words = words.format(count=grouped(len(tables)))
        if known and not tables:
            words = self.tr("The database has no table that you may read.")
            if self._engine == SPARK:
                words = self.tr("The catalogue of the cluster has no table; name Parquet data.")
        self.state.setText(words)
        self._show()

    def set_files(self, path: str) -> None:
        """Show a path of Parquet data."""
        self.files.setText(path)
        self.kinds.choose(FILES)
        self._on_kind()

    def set_statement(self, statement: str) -> None:
        """Show a query."""
        self.query.setPlainText(statement)
        self.kinds.choose(QUERY)
        self._on_kind()

    @Slot()
    def _show(self) -> None:
        wanted = self.filter.text().strip().casefold()
        self._shown = [one for one in self._tables if wanted in one.name.casefold()]
        columns = (self.tr("Name"), self.tr("Kind"), self.tr("Rows, about"))
        kinds = (self.tr("table"), self.tr("view"))
        self.lines.lines.set_table(
            columns,
            [
                (one.name, kinds[one.is_view], self.tr("unknown") if one.rows is None else one.rows)
                for one in self._shown
            ],
        )
        if self._shown:
            self.lines.selectRow(0)
        self.changed.emit()

    @Slot()
    def _on_kind(self) -> None:
        self._by_table.setVisible(self.kinds.current == TABLE)
        self._by_query.setVisible(self.kinds.current == QUERY)
        self._by_files.setVisible(self.kinds.current == FILES)
        self.changed.emit()

    @Slot()
    def _on_counted(self) -> None:
        words = self.tr(
            "The table stays in {engine}. Values and combinations are counted there, and only "
            "these come here; methods that work row by row get the columns that the plan uses."
        ).format(engine="Spark" if self._engine == SPARK else "PostgreSQL")
        if self.engine is None:
            words = self.tr("All rows of the table come to this computer.")
        self.stays.setText(words)
        self.changed.emit()


class ConnectionForm(QFrame):
    """``connectAsked()`` when the tables are wanted, ``edited()`` when it is another database."""

    connectAsked = Signal()
    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        outer = column(self, margin=SPACE.l, gap=SPACE.s)
        self.kinds = ChoiceStrip(self.tr("What the table is in"))
        self.kinds.set_choices([(POSTGRESQL, "PostgreSQL"), (SPARK, "Spark")])
        self.kinds.chosen.connect(self._on_kind)
        outer.addWidget(self.kinds)
        self._layout = QFormLayout()
        self._layout.setVerticalSpacing(SPACE.s)
        self._layout.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        outer.addLayout(self._layout)
        self._build_fields()
        self._about = note("")
        outer.addWidget(self._about)
        tip = self.tr("Test the connection and list the tables that you may read (Enter)")
        self.connect_button = button(self.tr("&Connect and list the tables"), tip, "primary")
        self.connect_button.clicked.connect(self.connectAsked)
        outer.addWidget(self.connect_button)
        self._show_kind()

    def _build_fields(self) -> None:
        self.cluster = self._field(
            self.tr("Cl&uster"),
            self.tr("The address of a Spark cluster; local[*] is this computer"),
            "local[*], spark://host:7077, yarn",
        )
        self.host = self._field(
            self.tr("&Host"),
            self.tr("Name or address of the server, or the folder of its socket"),
            self.tr("this computer, or PGHOST"),
        )
        self.port = self._field(
            self.tr("&Port"), self.tr("The port on which the server listens"), "5432"
        )
        self.database = self._field(
            self.tr("&Database"),
            self.tr("The name of the database on the server"),
            self.tr("same as the user, or PGDATABASE"),
        )
        self.user = self._field(
            self.tr("&User"),
            self.tr("The name by which the server knows you"),
            self.tr("your name on this computer, or PGUSER"),
        )
        self.service = self._field(
            self.tr("&Service"),
            self.tr("An entry of pg_service.conf, which can replace all the others"),
            self.tr("none, or PGSERVICE"),
        )
        self.password = secret_field()
        self._put(
            self.tr("Pass&word"),
            self.password,
            self.tr("Kept in memory until the program ends; never saved"),
        )

    @Slot()
    def _on_kind(self) -> None:
        self._show_kind()
        self.edited.emit()

    def _show_kind(self) -> None:
        """The fields of a server, or of a cluster."""
        spark = self.kinds.current == SPARK
        self._layout.setRowVisible(self.cluster, spark)
        servers = (self.host, self.port, self.database, self.user, self.service, self.password)
        for field in servers:
            self._layout.setRowVisible(field, not spark)
        words = self.tr(
            "The password is kept in memory until the program ends and is never saved, not "
            "even in plans. If left empty, it is taken from PGPASSWORD or ~/.pgpass. "
            "Connecting confirms the server for plans on this computer, which may then "
            "send your password to it; nothing is sent to another computer without TLS."
        )
        if spark:
            words = self.tr(
                "Spark is configured as for other programs (SPARK_CONF_DIR); starting it takes "
                "some seconds. Connecting confirms a cluster on another computer for plans on "
                "this computer, which may then send it what your configuration contains."
            )
        self._about.setText(words)

    @property
    def engine(self) -> str:
        """What the table is in: one of `ENGINES`."""
        return self.kinds.current

    def set_cluster(self, cluster: str) -> None:
        """Show the address of a cluster."""
        self.kinds.choose(SPARK)
        self.cluster.setText(cluster)
        self._show_kind()

    def _field(self, words: str, tip: str, default: str) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(default)
        self._put(words, field, tip)
        return field

    def _put(self, words: str, field: QLineEdit, tip: str) -> None:
        field.setToolTip(tip)
        field.setAccessibleName(words.replace("&", ""))
        field.textEdited.connect(self.edited)
        field.returnPressed.connect(self._on_return)
        label = QLabel(words)
        label.setBuddy(field)
        self._layout.addRow(label, field)

    def address(self) -> Address:
        """What the fields say."""
        return Address(
            *(
                field.text().strip()
                for field in (self.host, self.port, self.database, self.user, self.service)
            )
        )

    def set_address(self, address: Address) -> None:
        """Fill the fields; the password is asked for anew."""
        self.kinds.choose(POSTGRESQL)
        self._show_kind()
        self.host.setText(address.host)
        self.port.setText(address.port)
        self.database.setText(address.database)
        self.user.setText(address.user)
        self.service.setText(address.service)
        self.password.clear()

    @Slot()
    def _on_return(self) -> None:
        self.connect_button.click()


_HALF_EMS = 30


class DatabaseWindow(SideWindow):
    """``chosen(SourceSpec)`` when a table or a query is to be opened; it closes then."""

    channels = (LIST,)
    room = (90, 22)
    least = (36, 14)

    chosen = Signal(object)

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(hub, theme, parent)
        self._context = context
        self._url, self._kind = "", POSTGRESQL
        self.setWindowTitle(self.tr("Open a database – DPDesk"))
        self.setAccessibleName(self.tr("Open a table of PostgreSQL or Spark"))
        self._build(theme)
        self._connect()
        self.follow_theme(theme)
        self._refresh()

    def _build(self, theme: ThemeManager) -> None:
        body = QWidget()
        layout = column(body, gap=SPACE.m)
        title = QLabel(self.tr("Which table of the database do you want to protect?"))
        title.setWordWrap(True)
        set_look(title, "headline")
        about = note(
            self.tr(
                "Opens a table or view of PostgreSQL or Spark, for reading only. SQLite and DuckDB "
                "are files: open them as such, and name the table there."
            )
        )
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
        self.open_button = button(
            self.tr("&Open"), self.tr("Open the chosen table and start working with it")
        )
        self.close_button = button(
            self.tr("C&lose"), self.tr("Close without opening a table (Esc)")
        )
        bar = FlowBox(gap=SPACE.s)
        bar.add(self.open_button)
        bar.add(self.close_button)
        self.frame(body, below=(bar,), gap=SPACE.s)

    def _connect(self) -> None:
        self.form.connectAsked.connect(self.look)
        self.form.edited.connect(self._on_edited)
        self.choice.changed.connect(self._refresh)
        self.choice.openAsked.connect(self._on_open)
        self.open_button.clicked.connect(self._on_open)
        self.close_button.clicked.connect(self.close)

    def present(self, source: SourceSpec | None = None) -> None:
        """Show the window; with the address of a source, where one is open or could not be."""
        if source is not None and source.engine == SPARK:
            self.form.set_cluster(source.path)
            self.choice.set_engine(SPARK)
            if source.table is not None and "/" in source.table:
                self.choice.set_files(source.table)
        elif source is not None and source.is_url:
            self.form.set_address(Address.of(source.path))
            self.choice.set_engine(POSTGRESQL, stays=source.engine is not None)
            if source.query is not None:
                self.choice.set_statement(source.query)
        self._kind = self.form.engine
        self.bring_in_front()
        first = self.form.password if self.form.database.text() else self.form.host
        (self.form.cluster if self.form.engine == SPARK else first).setFocus()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more, and forget the typed password."""
        self.form.password.clear()
        super().closeEvent(event)

    @Slot()
    def look(self) -> None:
        """Connect, and list the tables, in the background."""
        spark, title = self.form.engine == SPARK, self.tr("Connecting")
        try:
            url = cluster_of(self.form.cluster.text()) if spark else self.form.address().url
        except InputError as error:
            self.band.show_error(failure(0, title, error))
            (self.form.cluster if spark else self.form.port).setFocus()
            return
        self.band.clear()
        self._url = ""
        self.choice.set_tables((), known=False)
        work = partial(list_tables, self._context, url, self.form.password.text())
        if spark:
            work = partial(list_cluster, self._context, url)
        self.read(
            LIST, title, work, self._on_listed, self._on_failed, self._on_cancelled, quiet=False
        )
        self._refresh()

    def _on_listed(self, found: Offered) -> None:
        self._url = found.url
        self.choice.set_tables(found.tables, known=True)
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
        if self.form.engine != self._kind:
            self._kind = self.form.engine
            self._hub.latest(LIST).cancel()
            self.band.clear()
            self.choice.set_engine(self._kind)
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
            named = table.rstrip("/").rpartition("/")[2] if self.choice.by_path else table
            words = self.tr("&Open {table}").format(table=verbatim(named))
        elif statement is not None:
            words = self.tr("&Open the result of the query")
        self.open_button.setText(words)
        self.open_button.setAccessibleName(words.replace("&", ""))
        tip = self.tr("Open the chosen table and start working with it")
        if not self._url:
            tip = self.tr("Connect first")
        elif not ready:
            tip = self.tr("Choose a table, or write a query first")
            if self.form.engine == SPARK:
                tip = self.tr("Choose a table, or name Parquet data first")
        self.open_button.setToolTip(tip)
        set_look(self.open_button, "primary" if self._url else "")
        set_look(self.form.connect_button, "" if self._url else "primary")
        self.form.connect_button.setEnabled(not self._hub.latest(LIST).busy)

    @Slot()
    def _on_open(self) -> None:
        if not self.open_button.isEnabled():
            return
        if self.form.engine == POSTGRESQL:
            keep_password(self._url, self.form.password.text())
        named = self.choice.table, self.choice.statement, self.choice.engine
        source = SourceSpec(self._url, table=named[0], query=named[1], engine=named[2])
        self.close()
        self.chosen.emit(source)

    def fit(self, theme: Theme) -> None:
        """Both halves stay wide enough to be read."""
        for half in self._halves:
            half.setMinimumWidth(theme.ems(_HALF_EMS))
