"""The loaded table: raw rows, what each column holds, and how the file was read."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from dpdesk.app.types import DataProfile, DataStore
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.panels.data.choosing import query_sentence
from dpdesk.ui.panels.data.grid import RawGrid, RawModel
from dpdesk.ui.panels.data.inspector import ColumnInspector
from dpdesk.ui.panels.data.presenter import answer, reading_sentence
from dpdesk.ui.panels.data.tasks import Spreads
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, StepHeader, column
from dpdesk.ui.widgets.beside import BesideBox
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.words.numbers import grouped

_FIRST_NOTES, _MANY_NOTES = 4, 6
_ALL, _FIRST = "all", "first"


class StoreRows:
    """The rows of a data store, as the table model wants them."""

    def __init__(self, data: DataStore) -> None:
        self._data = data
        self.columns = data.columns
        self.count = data.rows

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """Rows from ``start`` on; called on a worker thread."""
        return self._data.page(start, count)


class TablePage(QWidget):
    """``readingAsked()`` to change how the file is read, ``rowsAsked()`` which rows are kept.

    ``nextAsked()`` to go on.
    """

    readingAsked = Signal()
    rowsAsked = Signal()
    nextAsked = Signal()

    def __init__(self, hub: JobHub, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._data: DataStore | None = None
        self._profile: DataProfile | None = None
        self._spreads: Spreads | None = None
        self._column = 0
        layout = column(self, gap=SPACE.m)
        self._header = StepHeader(1, self.tr("What is in this file?"), "")
        self._header.add(self._build_next())
        layout.addWidget(self._header)
        layout.addWidget(self._build_reading())
        self.notes = MessageBand(theme)
        self.notes.triggered.connect(self._on_notes)
        layout.addWidget(self.notes)
        self.model = RawModel(hub, self)
        self.model.failed.connect(self._on_page_failed)
        self.grid = RawGrid(theme, self.tr("Rows of the file"))
        self.grid.setModel(self.model)
        self.grid.columnChosen.connect(self._on_column)
        self.inspector = ColumnInspector(theme)
        parts = TurningSplitter("data-table", (self.grid, self.inspector), (1, 0))
        parts.turned.connect(self.inspector.set_stacked)
        layout.addWidget(parts, 1)
        layout.addWidget(self._build_legend())

    def _build_next(self) -> QPushButton:
        self.next_button = QPushButton(self.tr("Ne&xt: tag attributes"))
        self.next_button.setToolTip(self.tr("Go on to say what each column is (Ctrl+Enter)"))
        set_look(self.next_button, "primary")
        self.next_button.clicked.connect(self.nextAsked)
        return self.next_button

    def _build_reading(self) -> QWidget:
        self._reading = QLabel()
        self._reading.setWordWrap(True)
        set_look(self._reading, "answer")
        self.reading_button = QPushButton(self.tr("Chan&ge how it is read…"))
        self.reading_button.setToolTip(
            self.tr("Delimiter, encoding, decimal mark, quotes, names, missing codes")
        )
        self.reading_button.clicked.connect(self.readingAsked)
        self.rows_button = QPushButton(self.tr("Choose ro&ws…"))
        self.rows_button.setToolTip(self.tr("Keep only the rows that meet conditions, or all"))
        self.rows_button.clicked.connect(self.rowsAsked)
        buttons = FlowBox()
        for button in (self.rows_button, self.reading_button):
            buttons.add(button)
        return BesideBox(self._reading, buttons)

    def _build_legend(self) -> QLabel:
        legend = QLabel(
            self.tr(
                "Values stand as in the file. Grey italics: missing. Bars over a column: "
                "how its values are spread; hatched: missing. Ctrl+C copies the chosen cells."
            )
        )
        legend.setWordWrap(True)
        set_look(legend, "note")
        return legend

    # ---- what others tell

    def show_data(self, data: DataStore | None, query: str | None = None) -> None:
        """Show the rows of a store, which a query chose; the same one again changes nothing."""
        if data is self._data:
            return
        self._data, self._profile, self._spreads, self._column = data, None, None, 0
        self.model.set_source(None if data is None else StoreRows(data))
        self.grid.profile_header.set_profile(None)
        self.grid.profile_header.set_current(0)
        self.notes.clear()
        if data is None:
            return
        self.grid.delegate.set_missing(data.reading.missing)
        self.model.describe(data.reading.missing, None)
        said = (reading_sentence(data.reading), query_sentence(query, data.reading.decimal))
        self._reading.setText(" ".join(filter(None, said)))
        self._show_notes(first=True)
        self.grid.setCurrentIndex(self.model.index(0, 0))
        self._refresh()

    def _show_notes(self, *, first: bool) -> None:
        """The notes on how the file was read: the first of many, or all of them."""
        notes = () if self._data is None else self._data.reading.notes
        if not notes:
            return
        answers: tuple[tuple[str, str], ...] = ()
        if len(notes) > _MANY_NOTES:
            every = self.tr("Show all {count} notes").format(count=grouped(len(notes)))
            answers = ((_ALL, every) if first else (_FIRST, self.tr("Show the first notes alone")),)
        shown = notes[:_FIRST_NOTES] if first and answers else notes
        self.notes.show_message("info", "\n".join(shown), answers)

    @Slot(str)
    def _on_notes(self, wanted: str) -> None:
        self._show_notes(first=wanted == _FIRST)
        self.notes.focus_answer()

    def show_profile(self, profile: DataProfile | None) -> None:
        """Show what the columns hold."""
        if profile is self._profile or self._data is None:
            return
        self._profile, self._spreads = profile, None
        self.model.describe(self._data.reading.missing, profile)
        self.grid.profile_header.set_profile(profile)
        self.grid.fit_columns()
        self._refresh()

    def show_spreads(self, spreads: Spreads) -> None:
        """Show how the values of the columns are spread."""
        if spreads.profile is self._profile:
            self._spreads = spreads
            self.grid.profile_header.set_spreads(spreads.columns)
            self._inspect()

    # ---- inside

    def _refresh(self) -> None:
        data = self._data
        if data is not None:
            self._header.set_line(answer(data.name, data.rows, len(data.columns), self._profile))
        self._inspect()

    @Slot(int)
    def _on_column(self, number: int) -> None:
        self._column = number
        self.grid.profile_header.set_current(number)
        self._inspect()

    def _inspect(self) -> None:
        if self._data is None or not 0 <= self._column < len(self._data.columns):
            self.inspector.show_nothing()
            return
        name = self._data.columns[self._column]
        if self._profile is None:
            self.inspector.show_nothing(name)
            return
        spread = None if self._spreads is None else self._spreads.columns.get(name)
        self.inspector.show_column(self._profile.column(name), spread)

    @Slot(object)
    def _on_page_failed(self, failure: object) -> None:
        if isinstance(failure, JobFailed):
            self.notes.show_error(failure)
