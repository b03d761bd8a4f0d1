"""Tables of any length: pages come from background jobs, few are kept.

A :class:`RowSource` is anything with ``columns``, ``count`` and ``page(start, count)``; ``page`` is
called on a worker thread. While a page is on its way its cells show a placeholder; when it arrives
``dataChanged`` is emitted for that block. A new source resets the model; answers for an old source
are dropped.

A :class:`DataGrid` shows them: row heights are fixed, nothing is resized by content over all rows,
and "select all" is refused, because each of these would ask the model for every row.

Qt keeps some bytes for each row that it lays out, and counts the height of all rows in an integer
of 32 bits: with 77 million rows of 28 pixels it painted every heading of the file, for ever. So a
:class:`TableModel` gives a view one *part* of its rows at a time.
"""

from __future__ import annotations

import functools
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QCoreApplication,
    QEvent,
    QItemSelectionRange,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QToolTip, QWidget

from dpdesk.core.charts import Cell
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.plain import ExactFloat
from dpdesk.core.shown import LONGEST_VALUE
from dpdesk.ui.jobs import JobCancelled, JobFailed, JobHub
from dpdesk.ui.theme import Theme, ThemeManager
from dpdesk.ui.words.numbers import figure_words, grouped, marked, shortened

NOTHING = "–"
translate = QCoreApplication.translate


def format_cell(value: object) -> str:
    """Text of a value: grouped digits, no exponents, a dash for None (not the same as empty).

    A very long text is cut, and its length is said.
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        yes, no = translate("Cells", "yes"), translate("Cells", "no")
        return yes if value else no
    if isinstance(value, int):
        return grouped(value)
    if isinstance(value, ExactFloat):
        return marked(f"{float(value):,}")
    if isinstance(value, float):
        return figure_words(value, "number")
    return shortened(str(value))


def whole_text(value: object) -> str | None:
    """The whole text of a value that is shown cut, for the clipboard; None for all others."""
    return value if isinstance(value, str) and len(value) > LONGEST_VALUE else None


class Written(str):
    """A number with its unit, such as ``5 rows``, which stands to the right as numbers do."""


def alignment(value: Cell) -> Qt.AlignmentFlag:
    """Numbers and dashes to the right, text to the left."""
    number = isinstance(value, int | float | Written) and not isinstance(value, bool)
    if value is None or number:
        return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


_LAID_OUT = frozenset(
    {
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.StatusTipRole,
        Qt.ItemDataRole.WhatsThisRole,
        Qt.ItemDataRole.AccessibleTextRole,
        Qt.ItemDataRole.AccessibleDescriptionRole,
    }
)
_MOST = 4 * LONGEST_VALUE
"""Several values and the words around them."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


def guarded(function: _Function) -> _Function:
    """Report the first exception of each model to ``sys.excepthook``, and return None for all.

    Texts that are laid out have a length that a window can stand; what is edited stays whole.
    """

    @functools.wraps(function)
    def safe(self: Any, *arguments: Any) -> Any:
        try:
            found = function(self, *arguments)
        except Exception:  # noqa: BLE001 - Qt calls this for each cell and role
            if not getattr(self, "_fault_reported", False):
                self._fault_reported = True
                sys.excepthook(*sys.exc_info())
            return None
        role = arguments[-1] if len(arguments) > 1 else Qt.ItemDataRole.DisplayRole
        if isinstance(found, str) and role in _LAID_OUT:
            return shortened(found, _MOST)
        return found

    return cast(_Function, safe)


PLACEHOLDER = "…"
PAGE_ROWS = 256
PART_ROWS = 1_000_000
"""The rows of a part."""
MAX_PAGES = 64
WANTED_AT_MOST = 4

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class RowSource(Protocol):
    """Rows that can be fetched by number."""

    @property
    def columns(self) -> Sequence[str]:
        """Headings."""
        ...

    @property
    def count(self) -> int:
        """Number of rows."""
        ...

    def page(self, start: int, count: int) -> Sequence[Sequence[Cell]]:
        """Rows ``start`` to ``start + count``, fewer at the end; called on a worker thread."""
        ...


@dataclass(frozen=True)
class _Page:
    generation: int
    number: int
    rows: tuple[Sequence[Cell], ...] = field(repr=False)


def _fetch_page(
    source: RowSource, generation: int, number: int, size: int, token: CancelToken, report: Report
) -> _Page:
    """One page of a source."""
    rows = source.page(number * size, size)
    return _Page(generation, number, tuple(rows))


class CellModel(QAbstractTableModel):
    """Leaves to its subclasses how large it is and what its cells and headings say.

    The first fault in them is reported, see :func:`guarded`. Rows are numbered from 1 where
    ``numbered``.
    """

    numbered = True

    def size(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        raise NotImplementedError

    def cell(self, index: Index, role: int) -> object:
        """What a valid index says in a role."""
        raise NotImplementedError

    def heading(self, section: int, role: int) -> object:
        """What the heading of a column says in a role."""
        raise NotImplementedError

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of rows."""
        return 0 if parent.isValid() else self.size()[0]

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Number of columns."""
        return 0 if parent.isValid() else self.size()[1]

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See :meth:`cell`."""
        return self.cell(index, role) if index.isValid() else None

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """See :meth:`heading`."""
        if orientation is Qt.Orientation.Vertical:
            shown = self.numbered and role == Qt.ItemDataRole.DisplayRole
            number = self.row_number(section) if shown else None
            return None if number is None else grouped(number)
        return self.heading(section, role) if 0 <= section < self.size()[1] else None

    def row_number(self, row: int) -> int | None:
        """The number of a row as a person counts, None for no number."""
        return row + 1

    def announce(self, first: int = 0, last: int = -1) -> None:
        """Say that cells may have changed: in the rows from ``first`` to ``last``, or in all."""
        rows, columns = self.size()
        if rows and columns:
            end = rows - 1 if last < 0 else last
            self.dataChanged.emit(self.index(first, 0), self.index(end, columns - 1))


class TableModel(CellModel):
    """A model over a :class:`RowSource`.

    ``failed(JobFailed)`` is emitted once for a page that could not be fetched; its cells then show
    a dash. Row headings count from 1. Of more than ``part_rows`` rows a view has one part: rows of
    the model count from ``first``, see :meth:`place`.
    """

    failed = Signal(object)

    def __init__(
        self,
        hub: JobHub,
        parent: QObject | None = None,
        page_rows: int = PAGE_ROWS,
        max_pages: int = MAX_PAGES,
        part_rows: int = PART_ROWS,
    ) -> None:
        super().__init__(parent)
        self._part_rows = part_rows
        self._hub = hub
        self._page_rows = page_rows
        self._max_pages = max_pages
        self._source: RowSource | None = None
        self._columns: tuple[str, ...] = ()
        self._count = 0
        self._first = 0
        self._generation = 0
        self._pages: OrderedDict[int, tuple[Sequence[Cell], ...]] = OrderedDict()
        self._broken: set[int] = set()
        self._wanted: list[int] = []
        self._fetching: int | None = None
        self._job = 0

    def set_source(self, source: RowSource | None) -> None:
        """Show the rows of another source, or none."""
        self.beginResetModel()
        self._generation += 1
        self._source = source
        self._columns = tuple(source.columns) if source is not None else ()
        self._count = source.count if source is not None else 0
        self._first = 0
        self._pages.clear()
        self._broken.clear()
        self._wanted.clear()
        self._fetching, self._job = None, 0
        self.endResetModel()

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings."""
        return self._columns

    @property
    def pages_held(self) -> int:
        """Number of pages in memory."""
        return len(self._pages)

    @property
    def count(self) -> int:
        """Number of rows of the source, in all parts."""
        return self._count

    @property
    def first(self) -> int:
        """Which row of the source, from 0, is the first one of the part on show."""
        return self._first

    def place(self, number: int, column: int) -> QModelIndex:
        """The index of a cell of row ``number`` of the source; shows the part that holds it."""
        first = number // self._part_rows * self._part_rows
        if first != self._first and 0 <= number < self._count:
            self.beginResetModel()
            self._first = first
            self.endResetModel()
        return self.index(number - self._first, column)

    def row(self, row: int) -> Sequence[Cell] | None:
        """All that the source gave of a row of the part; None while it is on its way."""
        return self._row(self._first + row) if 0 <= row < self.size()[0] else None

    def row_number(self, row: int) -> int | None:
        """Counted in the source."""
        return self._first + row + 1

    def size(self) -> tuple[int, int]:
        """That of the part on show."""
        return min(self._part_rows, self._count - self._first), len(self._columns)

    def cell(self, index: Index, role: int) -> object:
        """Text of a cell, or the placeholder while its page is on its way."""
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.TextAlignmentRole,
            Qt.ItemDataRole.AccessibleTextRole,
            Qt.ItemDataRole.EditRole,
        ):
            return None
        number = self._first + index.row()
        row = self._row(number)
        if row is None:
            if role == Qt.ItemDataRole.EditRole:
                return None
            broken = number // self._page_rows in self._broken
            text = format_cell(None) if broken else PLACEHOLDER
            return text if role != Qt.ItemDataRole.TextAlignmentRole else alignment("")
        value = row[index.column()]
        if role == Qt.ItemDataRole.EditRole:
            return whole_text(value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return alignment(value)
        text = format_cell(value)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return msg("{file}: {note}", file=self._columns[index.column()], note=text)
        return text

    def heading(self, section: int, role: int) -> object:
        """The names of the columns."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._columns[section]
        return alignment("") if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _row(self, number: int) -> Sequence[Cell] | None:
        page, offset = divmod(number, self._page_rows)
        rows = self._pages.get(page)
        if rows is None:
            self._want(page)
            return None
        self._pages.move_to_end(page)
        return rows[offset] if offset < len(rows) else None

    def _want(self, page: int) -> None:
        if page in self._broken or page == self._fetching:
            return
        if page in self._wanted:
            self._wanted.remove(page)
        # The newest wish comes first; wishes of places scrolled past are forgotten.
        self._wanted.append(page)
        del self._wanted[:-WANTED_AT_MOST]
        self._fetch_next()

    def _fetch_next(self) -> None:
        if self._fetching is not None or not self._wanted or self._source is None:
            return
        page = self._wanted.pop()
        work = partial(_fetch_page, self._source, self._generation, page, self._page_rows)
        job = self._hub.query(
            self.tr("Reading rows"),
            work,
            then=self._on_page,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=True,
        )
        self._job = job
        self._fetching = page if job else None

    def _on_page(self, page: _Page) -> None:
        if page.generation != self._generation:
            return
        self._pages[page.number] = page.rows
        while len(self._pages) > self._max_pages:
            self._pages.popitem(last=False)
        self._fetching = None
        self._announce(page.number)
        self._fetch_next()

    def _on_failed(self, outcome: JobFailed) -> None:
        if outcome.job != self._job:  # it was asked of a source that is not shown any more
            return
        page, self._fetching = self._fetching, None
        if page is not None:
            self._broken.add(page)
            self._announce(page)
        self.failed.emit(outcome)
        self._fetch_next()

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        if outcome.job == self._job:
            self._fetching = None

    def _announce(self, page: int) -> None:
        first = page * self._page_rows - self._first
        last = min(first + self._page_rows, self.size()[0]) - 1
        first = max(0, first)
        if last >= first and self._columns:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._columns) - 1))


class ListModel(CellModel):
    """Headings and rows of plain values; numbers stand right-aligned with grouped digits."""

    def __init__(
        self,
        columns: Sequence[str] = (),
        rows: Sequence[Sequence[Cell]] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._rows: Sequence[tuple[Cell, ...]] = tuple(tuple(row) for row in rows)

    def set_table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Show another table; resets only when its shape or headings differ."""
        new_columns, new_rows = tuple(columns), tuple(tuple(row) for row in rows)
        if new_columns == self._columns and len(new_rows) == len(self._rows):
            pairs = enumerate(zip(self._rows, new_rows, strict=True))
            changed = [number for number, (old, new) in pairs if old != new]
            self._rows = new_rows
            if changed:
                self.announce(changed[0], changed[-1])
            return
        self.set_lines(new_columns, new_rows)

    def set_lines(self, columns: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> None:
        """Show rows that may be too many to be held: each is asked for when it is seen."""
        self.beginResetModel()
        self._columns, self._rows = tuple(columns), rows
        self.endResetModel()

    def row(self, number: int) -> tuple[Cell, ...]:
        """The plain values of a row."""
        return self._rows[number]

    def size(self) -> tuple[int, int]:
        """All that was given."""
        return len(self._rows), len(self._columns)

    def cell(self, index: Index, role: int) -> object:
        """Text and alignment of a cell."""
        row = self._rows[index.row()]
        value = row[index.column()] if index.column() < len(row) else None
        if role == Qt.ItemDataRole.DisplayRole:
            return format_cell(value)
        if role == Qt.ItemDataRole.EditRole:
            return whole_text(value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return alignment(value)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return msg(
                "{file}: {note}", file=self._columns[index.column()], note=format_cell(value)
            )
        return None

    def heading(self, section: int, role: int) -> object:
        """The headings, aligned as their first cells."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            first = self._rows[0][section] if self._rows else ""
            return alignment(first)
        return None


MAX_COPIED = 50_000
SAMPLE_ROWS = 30
FITTED_COLUMNS = 60
MIN_EMS, MAX_EMS = 7, 32
LEAST_ROWS = 5
PADDING = 4


class RowHeader(QHeaderView):
    """Row numbers; as wide as the last one, instead of asking the model for hundreds of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.setSectionsClickable(True)

    def sizeHint(self) -> QSize:
        """Room for the number of the last row."""
        last = self.count() - 1
        if last < 0:
            return super().sizeHint()
        return QSize(self.sectionSizeFromContents(last).width(), self.length())


def _copied(index: QModelIndex) -> str:
    """The text of a cell, whole where it is shown cut."""
    return str(index.data(Qt.ItemDataRole.EditRole) or index.data() or "")


class DataGrid(QTableView):
    """A read-only table; Ctrl+C copies the chosen block as tab-separated text.

    It is at least ``least_ems`` letters wide.
    """

    least_ems = 24

    def __init__(self, theme: ThemeManager, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fitted = False
        self.setVerticalHeader(RowHeader(self))
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setHighlightSections(False)
        self.verticalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.row)
        self.verticalHeader().setMinimumWidth(theme.ems(5))
        self.setMinimumSize(theme.ems(self.least_ems), theme.row * LEAST_ROWS)
        self.fit_columns()

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show a model and give its columns sensible widths."""
        super().setModel(model)
        if model is not None:
            model.modelReset.connect(self._on_reset)
            model.dataChanged.connect(self._on_data)
            self._on_reset()

    @Slot()
    def _on_reset(self) -> None:
        self._fitted = False
        self.fit_columns()

    @Slot(QModelIndex, QModelIndex)
    def _on_data(self, first: QModelIndex, last: QModelIndex) -> None:
        if first.row() == 0 and not self._fitted:
            self._fitted = True
            self.fit_columns()

    def fit_columns(self) -> None:
        """Widths by heading and the first rows; the columns far right keep a usual width."""
        model: QAbstractItemModel | None = self.model()
        if model is None:
            return
        theme, metrics = self._theme.theme, self.fontMetrics()
        least, most = theme.ems(MIN_EMS), theme.ems(MAX_EMS)
        rows = min(SAMPLE_ROWS, model.rowCount())
        if rows and model.index(0, 0).data() == PLACEHOLDER:  # the first rows are on their way
            rows = 0
        for column in range(min(FITTED_COLUMNS, model.columnCount())):
            texts = [model.headerData(column, Qt.Orientation.Horizontal)]
            texts += [model.index(row, column).data() for row in range(rows)]
            widest = max(metrics.horizontalAdvance(str(text or "")) for text in texts)
            # Headings are bold, cells have a padding on both sides.
            width = round(widest * 1.12) + 28
            self.setColumnWidth(column, min(max(width, least), most))

    def viewportEvent(self, event: QEvent) -> bool:
        """A cell that is shown cut tells its text where the pointer rests."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.indexAt(event.pos())
            text = str(index.data() or "")
            room = self.visualRect(index).width() - 2 * PADDING
            cut = self.fontMetrics().horizontalAdvance(text) > room
            if cut and not index.data(Qt.ItemDataRole.ToolTipRole):
                QToolTip.showText(event.globalPos(), text, self)
                return True
        return super().viewportEvent(event)

    def selectAll(self) -> None:
        """Do nothing: it would touch every row of the table."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy on Ctrl+C; everything else as usual."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
            return
        super().keyPressEvent(event)

    def copy_selection(self) -> None:
        """Put the chosen block on the clipboard, at most MAX_COPIED cells."""
        model, block = self.model(), self._chosen()
        if block is None:
            return
        columns = range(block.left(), block.right() + 1)
        rows = range(block.top(), block.bottom() + 1)[: MAX_COPIED // max(1, len(columns))]
        lines = ("\t".join(_copied(model.index(row, column)) for column in columns) for row in rows)
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _chosen(self) -> QItemSelectionRange | None:
        chosen = self.selectionModel()
        if not chosen or not chosen.hasSelection():
            return None
        return cast("list[QItemSelectionRange]", chosen.selection())[0]
