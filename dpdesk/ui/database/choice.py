"""What is read of a database: one of its tables, or what a query gives."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QWidget

from dpdesk.app.databases import OfferedTable
from dpdesk.ui.people.parts import Lines, labelled, note
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.words.numbers import grouped

TABLE, QUERY = "table", "query"


class TableChoice(QFrame):
    """``changed()`` when something else is chosen, ``openAsked()`` when it is wanted at once."""

    changed = Signal()
    openAsked = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        self._tables: tuple[OfferedTable, ...] = ()
        self._shown: list[OfferedTable] = []
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self.kinds = ChoiceStrip(self.tr("What is read"))
        self.kinds.set_choices([(TABLE, self.tr("A table or view")), (QUERY, self.tr("A query"))])
        self.kinds.chosen.connect(self._on_kind)
        layout.addWidget(self.kinds)
        self._by_table, self._by_query = QWidget(), QWidget()
        layout.addWidget(self._by_table, 1)
        layout.addWidget(self._by_query, 1)
        self._build_table(theme)
        self._build_query()
        self._on_kind()

    def _build_table(self, theme: ThemeManager) -> None:
        layout = column(self._by_table, gap=SPACE.s)
        self.filter = QLineEdit()
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._show)
        tip = self.tr("Shows only tables whose name holds these letters")
        labelled(layout, self.tr("&Find a table"), self.filter, tip)
        self.lines = Lines(
            theme,
            self.tr("Tables and views of the database"),
            self.tr("Choose one with the arrow keys; Enter opens it"),
        )
        self.lines.activated.connect(self.openAsked)
        self.lines.selectionModel().selectionChanged.connect(self._on_selected)
        self.state = note(self.tr("Connect, and the tables that you may read stand here."))
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

    # ---- what is chosen

    @property
    def table(self) -> str | None:
        """The chosen table."""
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
        words = self.tr("Connect, and the tables that you may read stand here.")
        if known:
            words = self.tr("{count} tables and views; rows as the server estimates them.")
            words = words.format(count=grouped(len(tables)))
        if known and not tables:
            words = self.tr("The database has no table that you may read.")
        self.state.setText(words)
        self._show()

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
    def _on_selected(self) -> None:
        self.changed.emit()

    @Slot()
    def _on_kind(self) -> None:
        self._by_table.setVisible(self.kinds.current == TABLE)
        self._by_query.setVisible(self.kinds.current == QUERY)
        self.changed.emit()
