"""What stands in the window of the audit log: answer, check, search, list, one entry whole."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QWidget

from dpdesk.app.auditing import AuditSearch, AuditView
from dpdesk.ui.audit.tasks import entry_of
from dpdesk.ui.audit.words import action_word, answer_words, entry_words, found_words
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import TableModel
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.people.parts import button, note
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wheel import leave_wheel


class EntryGrid(DataGrid):
    """The entries, of which one is chosen."""

    def __init__(self, theme: ThemeManager, name: str, rows: TableModel) -> None:
        super().__init__(theme, name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setModel(rows)
        self.verticalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)


class AuditPage(QWidget):
    """``searched()`` while somebody types; ``againAsked()``, ``exportAsked()``; ``brokenAsked()``
    when the broken entry is to be shown.
    """

    searched = Signal()
    againAsked = Signal()
    exportAsked = Signal()
    brokenAsked = Signal()

    def __init__(
        self, theme: ThemeManager, hub: JobHub, rows: TableModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._rows = rows
        self._actions: tuple[str, ...] = ()
        self.looks_for_fault = False
        layout = column(self, gap=SPACE.m)
        layout.addWidget(note(self.tr("What was done on this computer?"), "headline"))
        self.answer, self.state = note("", "answer"), note()
        self.readonly, self.found = note("", "caution"), note()
        self.progress = JobLine(hub)
        layout.addWidget(self.answer)
        layout.addWidget(self.progress)
        layout.addWidget(self.state)
        tip = self.tr("Go to the first entry that is not as it was written, or the one before it")
        self.show_broken = button(self.tr("&Show that entry"), tip)
        self.show_broken.clicked.connect(self.brokenAsked)
        self.show_broken.hide()
        layout.addWidget(self.show_broken, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.readonly)
        layout.addWidget(self._build_bar())
        layout.addWidget(self.found)
        self.grid = EntryGrid(theme, self.tr("Entries of the audit log, the newest first"), rows)
        self.grid.setToolTip(self.tr("Arrow keys choose an entry; all of it stands below"))
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        rows.dataChanged.connect(self._on_rows)
        rows.modelReset.connect(self._on_chosen)
        layout.addWidget(self.grid, 1)
        self.entry = note()
        layout.addWidget(self.entry)
        self._rest = QWidget()
        layout.addWidget(self._rest, 1)
        theme.changed.connect(self._on_theme)
        self.export.setEnabled(False)
        for one in (self.answer, self.state, self.readonly, self.found, self._rest):
            one.hide()

    @property
    def wanted(self) -> AuditSearch:
        """What is searched for."""
        return AuditSearch(self.search.text().strip(), str(self.action.currentData() or ""))

    def show_view(self, view: AuditView | None) -> None:
        """Say what is listed; None: nothing can be."""
        self.answer.setText("" if view is None else answer_words(view))
        self.answer.setVisible(view is not None)
        locked = view is not None and not view.writable
        text = self.tr("△ The log cannot be written: nothing is released or exported until it can.")
        self.readonly.setText(text if locked else "")
        self.readonly.setVisible(locked)
        words = "" if view is None else found_words(view)
        self.found.setText(words)
        self.found.setVisible(bool(words))
        some = view is not None and view.total > 0
        self.export.setEnabled(some)
        for one in (self.search, self.action, self.grid, self.entry):
            one.setVisible(some)
        self._rest.setVisible(not some)
        self._offer(() if view is None else view.actions)

    def show_check(self, look: str, words: str, *, broken: bool) -> None:
        """Say whether the chain holds; empty: not known yet."""
        set_look(self.state, look)
        self.state.setText(words)
        self.state.setVisible(bool(words))
        self.show_broken.setVisible(broken)

    def forget_search(self) -> None:
        """List everything, to go to the broken entry in it."""
        self.looks_for_fault = True
        self.search.clear()
        self.action.setCurrentIndex(0)

    def go_to(self, row: int) -> None:
        """Choose the entry in a row."""
        self.looks_for_fault = False
        self.grid.selectRow(row)
        self.grid.scrollTo(self._rows.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        self.grid.setFocus()

    @Slot()
    def _on_theme(self) -> None:
        words = self.search.placeholderText()
        self.search.setMinimumWidth(self.search.fontMetrics().horizontalAdvance(words) + 32)

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search: a name, a file, a day, a hash…"))
        self.search.setAccessibleName(self.tr("Search the audit log"))
        self.search.setToolTip(self.tr("Entries that hold all of these words, anywhere"))
        self.search.textChanged.connect(self.searched)
        self.action = NarrowCombo(14)
        self.action.setAccessibleName(self.tr("What was done"))
        self.action.set_help(self.tr("List only what was done in this way"))
        self.action.addItem(self.tr("All that was done"), "")
        self.action.currentIndexChanged.connect(self.searched)
        leave_wheel(self.action)
        self.again = button(self.tr("&Read again"), self.tr("Read and check the log again (F5)"))
        self.again.clicked.connect(self.againAsked)
        self.export = button(
            self.tr("E&xport…"), self.tr("Write the whole log as CSV or JSON"), "primary"
        )
        self.export.clicked.connect(self.exportAsked)
        for one in (self.search, self.action, self.again, self.export):
            bar.add(one)
        self._on_theme()
        return bar

    def _offer(self, actions: tuple[str, ...]) -> None:
        if actions == self._actions or not actions:
            return
        chosen, self._actions = self.action.currentData(), actions
        self.action.blockSignals(True)
        while self.action.count() > 1:
            self.action.removeItem(1)
        for action in actions:
            self.action.addItem(action_word(action), action)
        self.action.setCurrentIndex(max(0, self.action.findData(chosen)))
        self.action.blockSignals(False)

    @Slot(QModelIndex, QModelIndex)
    def _on_rows(self, first: QModelIndex, last: QModelIndex) -> None:
        if first.row() == 0 and not self._chosen_rows() and not self.looks_for_fault:
            self.grid.selectRow(0)
        self._on_chosen()

    def _chosen_rows(self) -> list[QModelIndex]:
        return self.grid.selectionModel().selectedRows()

    @Slot()
    def _on_chosen(self) -> None:
        rows = self._chosen_rows()
        row = self._rows.row(rows[0].row()) if rows else None
        self.entry.setText("" if row is None else entry_words(entry_of(row)))
