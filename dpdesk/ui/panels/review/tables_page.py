"""The tables of a release with noise: one at a time, each cell with its error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget

from dpdesk.app.private.browsing import (
    ALL,
    SOME,
    TableName,
    TablePreview,
    preview_table,
    released_tables,
)
from dpdesk.app.types import ReleaseFacts
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.jobs.hub import token_only
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import leave_wheel
from dpdesk.ui.words.numbers import figure_words, grouped
from dpdesk.ui.words.spoken import in_window


class TablesPage(QWidget):
    """``wanted(str)`` asks for the table in a file."""

    wanted = Signal(str)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, margin=SPACE.s, gap=SPACE.s)
        self.choice = NarrowCombo()
        self.choice.setAccessibleName(self.tr("Table of the release"))
        self.choice.set_help(self.tr("The table whose cells are shown below"))
        leave_wheel(self.choice)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self._words = QLabel()
        self._words.setWordWrap(True)
        set_look(self._words, "note")
        self._model = ListModel(parent=self)
        self.grid = DataGrid(theme, self.tr("Cells of the table, with their errors"))
        self.grid.setModel(self._model)
        self.grid.verticalHeader().hide()
        self.grid.horizontalHeader().setStretchLastSection(True)
        for widget in (self.choice, self._words):
            layout.addWidget(widget)
        layout.addWidget(self.grid, 1)

    @property
    def words(self) -> str:
        """What is said of the table on show."""
        return self._words.text()

    def show_names(self, names: Sequence[TableName]) -> None:
        """Offer these tables, and ask for one with most dimensions, the last of them."""
        with QSignalBlocker(self.choice):
            self.choice.clear()
            for name in names:
                self.choice.addItem(in_window(name.words), name.file)
            most = max((name.dimensions for name in names), default=0)
            widest = [at for at, name in enumerate(names) if name.dimensions == most]
            self.choice.setCurrentIndex(widest[-1] if widest else -1)
        self._model.set_table((), ())
        self._words.setText("")
        self._on_choice()

    def show_table(self, preview: TablePreview) -> None:
        """Show the cells of a table, if it is still the one that is chosen."""
        if preview.name.file != self.choice.currentData():
            return
        self._model.set_table(preview.table.columns, preview.table.rows)
        shown, cells = len(preview.table.rows), preview.cells
        words = self._width_words(preview)
        if shown < cells:
            words += " " + self.tr("The first {shown} are shown.")
        width = figure_words(preview.width, "number")
        said = words.format(
            cells=self._counted(cells),
            width=width,
            unit=in_window(preview.unit),
            shown=grouped(shown),
        )
        self._words.setText("\n".join((said, *(f"△ {in_window(note)}" for note in preview.notes))))

    def _width_words(self, preview: TablePreview) -> str:
        if preview.chosen:
            return self.tr(
                "{cells}; in 95 of 100 cases the chosen value is at most {width} rows worse than "
                "the best one of its group."
            )
        if preview.exact == ALL:
            return self.tr("{cells}, released exactly: without noise, and without its protection.")
        if preview.per_cell:
            return self.tr(
                "{cells}; the ± of each falls with the number of people in it, and says "
                "nothing where there is less than 1. In {unit}."
            )
        if preview.exact == SOME:
            return self.tr(
                "{cells}; those with ± 0 are exact, without noise. Each other is within ± {width} "
                "{unit} of the truth in 95 of 100 cases."
            )
        if not preview.holds:
            return self.tr("{cells}; each is stated with ± {width} {unit}, which holds less often:")
        return self.tr("{cells}; each is within ± {width} {unit} of the truth in 95 of 100 cases.")

    def _counted(self, cells: int) -> str:
        return self.tr("1 cell") if cells == 1 else self.tr("{n} cells").format(n=grouped(cells))

    def show_problem(self, sentence: str) -> None:
        """Say why a table cannot be shown."""
        self._model.set_table((), ())
        self._words.setText(f"✕ {sentence}")

    @Slot()
    def _on_choice(self) -> None:
        file = self.choice.currentData()
        if file:
            self.wanted.emit(str(file))


_CHANNEL = "review.table"


class Tables(QObject):
    """Joins a release with the page of its tables."""

    def __init__(self, hub: JobHub, page: TablesPage, parent: QObject) -> None:
        super().__init__(parent)
        self._hub, self._page = hub, page
        self._facts: ReleaseFacts | None = None
        page.wanted.connect(self._on_wanted)

    def show_release(self, facts: ReleaseFacts) -> bool:
        """Offer the tables of a release; False for one that has none."""
        self._facts, names = facts, released_tables(facts)
        self._page.show_names(names)
        return bool(names)

    @Slot(str)
    def _on_wanted(self, file: str) -> None:
        if self._facts is not None:
            self._hub.latest(_CHANNEL).query(
                self.tr("Reading a table"),
                token_only(partial(preview_table, self._facts, file)),
                then=self._page.show_table,
                failed=self._on_failed,
                quiet=True,
            )

    def _on_failed(self, outcome: JobFailed) -> None:
        self._page.show_problem(outcome.sentence)
