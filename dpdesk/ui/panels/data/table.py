"""The loaded table: raw rows, what each column holds, and how the file was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from dpdesk.app.describing import Distribution
from dpdesk.app.types import ColumnProfile, ColumnType, DataProfile, DataStore, RowLook
from dpdesk.core.messages import joined, listed, msg
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.models import DataGrid, TableModel
from dpdesk.ui.models.table import (
    FITTED_COLUMNS,
    LEAST_ROWS,
    PAGE_ROWS,
    PLACEHOLDER,
    Index,
    RowSource,
    guarded,
)
from dpdesk.ui.panels.data.looking import (
    ArrangedRows,
    CellAt,
    Hit,
    LookBar,
    LookMenu,
    Numbers,
    PartBar,
    StoreRows,
    find_shortcut,
)
from dpdesk.ui.panels.data.presenter import (
    Spreads,
    answer,
    distribution_chart,
    facts,
    header_lines,
    header_note,
    reading_sentence,
    stays_sentence,
    translate,
)
from dpdesk.ui.panels.data.rows_card import query_sentence
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, StepHeader, column
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import ElidedLabel
from dpdesk.ui.widgets.turning import BesideBox, SideArea, TurningSplitter
from dpdesk.ui.words.numbers import grouped, quoted, shortened, verbatim
from dpdesk.ui.words.settings import is_declared_missing, role_words, with_label
from dpdesk.ui.words.spoken import said


class ColumnInspector(SideArea):
    """Describes one column."""

    def __init__(self, theme: ThemeManager) -> None:
        name = translate("DataPanel", "The chosen column")
        tip = translate("DataPanel", "What is known about the column chosen in the table")
        super().__init__(theme, name, tip)
        self._name = ElidedLabel()
        set_look(self._name, "section")
        self.chart = ChartView(theme)
        self.chart.keep_answer()
        self.add(self._name)
        self.add(self.chart, tall=True)
        for widget in (self._build_suggestion(), self._build_facts()):
            self.add(widget)
        self.show_nothing()

    def _build_facts(self) -> QWidget:
        holder = QWidget()
        self._facts = QGridLayout(holder)
        self._facts.setContentsMargins(0, 0, 0, 0)
        self._facts.setHorizontalSpacing(SPACE.m)
        self._facts.setVerticalSpacing(SPACE.xs)
        self._facts.setColumnStretch(0, 1)
        return holder

    def _build_suggestion(self) -> QFrame:
        self._suggestion = QFrame()
        set_look(self._suggestion, "sunken")
        layout = column(self._suggestion, margin=SPACE.s, gap=SPACE.xs)
        self._role, self._reason = QLabel(), QLabel()
        for label, look in ((self._role, "strong"), (self._reason, "note")):
            set_look(label, look)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)
        return self._suggestion

    def show_nothing(self, name: str = "") -> None:
        """No column, or one whose values are still being counted."""
        waiting = self.tr("Counting its values…")
        self._name.setText(name or self.tr("No column chosen"))
        self._set_facts(())
        self._suggestion.hide()
        self.chart.set_chart(None)
        self.chart.set_placeholder(
            waiting if name else self.tr("Choose a column to see what it contains.")
        )

    def show_column(self, profile: ColumnProfile, spread: Distribution | None) -> None:
        """Describe a column; ``spread`` None while it is being counted."""
        self._name.setText(profile.name)
        self._set_facts(facts(profile))
        role = role_words(profile.suggestion.role)
        self._role.setText(self.tr("Suggested role: {role}").format(role=role))
        self._reason.setText(said(profile.suggestion.reason))
        self._suggestion.show()
        chart = None if spread is None else distribution_chart(spread, profile)
        self.chart.set_chart(chart)
        if chart is None:
            empty = self.tr("There is no value to show.")
            self.chart.set_placeholder(self.tr("Counting…") if spread is None else empty)

    def _set_facts(self, shown: tuple[tuple[str, str], ...]) -> None:
        while self._facts.count():
            item = self._facts.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for number, (label, value) in enumerate(shown):
            left, right = QLabel(label), ElidedLabel(value)
            set_look(left, "note")
            left.setWordWrap(True)
            right.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            right.setAccessibleName(msg("{file}: {note}", file=label, note=value))
            self._facts.addWidget(left, number, 0)
            self._facts.addWidget(right, number, 1)


_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_BARS = 22
CELLS_AT_ONCE, FEWEST_ROWS = 40_000, 8


class RawModel(TableModel):
    """Rows of a source; knows the missing codes and which columns hold numbers."""

    def __init__(self, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(hub, parent)
        self.missing: frozenset[str] = frozenset()
        self.numbers: Numbers | None = None
        self._profiles: tuple[ColumnProfile | None, ...] = ()

    def set_source(self, source: RowSource | None) -> None:
        """Show other rows; of a very wide table, fewer at a time."""
        columns = 1 if source is None else max(1, len(source.columns))
        self._page_rows = max(FEWEST_ROWS, min(PAGE_ROWS, CELLS_AT_ONCE // columns))
        self.numbers = source.numbers if isinstance(source, ArrangedRows) else None
        super().set_source(source)

    def describe(self, missing: Sequence[str], profile: DataProfile | None) -> None:
        """Say what counts as missing, and what the columns hold (when it is known)."""
        self.missing = frozenset(missing)
        known = {} if profile is None else {column.name: column for column in profile.columns}
        self._profiles = tuple(known.get(name) for name in self.columns)
        if self._profiles:
            last = len(self._profiles) - 1
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, last)

    def profile(self, column: int) -> ColumnProfile | None:
        """What a column holds, None while it is not known."""
        return self._profiles[column] if 0 <= column < len(self._profiles) else None

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """As the table model; numbers stand right, missing values say so."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            profile = self.profile(index.column())
            if profile is not None and profile.type in _NUMBERS:
                return _RIGHT
        found = super().data(index, role)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return self._described(index, found)
        return found

    def _described(self, index: Index, found: object) -> object:
        """What a cell says beside its text: the label of its code, and whether it is missing."""
        text = str(super().data(index, Qt.ItemDataRole.DisplayRole) or "")
        shown = with_label(self.profile(index.column()), text)
        if shown != text:
            found = str(found or text).replace(text, shown, 1) if found else shown
        if self.is_missing(index.column(), text):
            return translate("DataPanel", "{cell} (missing)").format(cell=found or text)
        return found

    def row_number(self, row: int) -> int | None:
        """Counted in the file, also where rows are in another order."""
        at = self.first + row
        if self.numbers is None:
            return at + 1
        return int(self.numbers[at]) + 1 if at < len(self.numbers) else None

    def is_missing(self, column: int, text: str) -> bool:
        """Whether a text of a column stands for a missing value."""
        return text in self.missing or is_declared_missing(self.profile(column), text)

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """As the table model; a column says what it holds."""
        wants = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
        if orientation is Qt.Orientation.Horizontal and role in wants:
            profile = self.profile(section)
            name = super().headerData(section, orientation, Qt.ItemDataRole.DisplayRole)
            return (
                name
                if profile is None
                else msg("{file}: {note}", file=name, note=header_note(profile))
            )
        return super().headerData(section, orientation, role)


class MissingDelegate(QStyledItemDelegate):
    """Writes missing values in grey italics; an empty field shows the word, not a blank."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._codes: frozenset[str] = frozenset()
        self._word = translate("DataPanel", "missing")

    def set_missing(self, codes: Sequence[str]) -> None:
        """The texts that stand for a missing value."""
        self._codes = frozenset(codes)

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Mark missing values."""
        super().initStyleOption(option, index)
        text = option.text
        if text == PLACEHOLDER or not (text in self._codes or self._declared(index, text)):
            return
        tokens = self._theme.tokens
        option.text = text or self._word
        option.font.setItalic(True)
        muted = QColor(tokens.muted)
        option.palette.setColor(QPalette.ColorRole.Text, muted)
        option.palette.setColor(QPalette.ColorRole.HighlightedText, muted)
        option.backgroundBrush = QBrush(QColor(tokens.sunken))

    @staticmethod
    def _declared(index: QModelIndex | QPersistentModelIndex, text: str) -> bool:
        """Whether the source itself declares the text missing in its column."""
        model = index.model()
        return isinstance(model, RawModel) and model.is_missing(index.column(), text)


class ProfileHeader(QHeaderView):
    """Over each column: name, type, missing share, and its distribution as small bars."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._profiles: Mapping[str, ColumnProfile] = {}
        self._spreads: Mapping[str, Distribution] = {}
        self._current = -1
        self.before = -1
        self._sorted: tuple[str, bool] = ("", False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSectionsClickable(True)
        self.setAccessibleName(translate("DataPanel", "Columns"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def set_profile(self, profile: DataProfile | None) -> None:
        """Show what the columns hold; None while it is being counted."""
        self._profiles = {} if profile is None else {c.name: c for c in profile.columns}
        self._spreads = {}
        self.updateGeometry()
        self.viewport().update()

    def set_spreads(self, spreads: Mapping[str, Distribution]) -> None:
        """Show how the values are spread."""
        self._spreads = spreads
        self.viewport().update()

    def set_current(self, column: int) -> None:
        """Mark the column that the inspector describes."""
        self._current = column
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press chooses the column at once: remember which one it was before."""
        self.before = self._current
        super().mousePressEvent(event)

    def set_sorted(self, name: str, *, descending: bool) -> None:
        """Mark the column by which rows are ordered; empty: as in the file."""
        self._sorted = (name, descending)
        self.viewport().update()

    def note_width(self, name: str) -> int:
        """The width that the small lines of a column need."""
        profile = self._profiles.get(name)
        if profile is None:
            return 0
        metrics = QFontMetrics(self._theme.theme.font("note"))
        return max(map(metrics.horizontalAdvance, header_lines(profile))) + 2 * SPACE.s + 4

    def sizeHint(self) -> QSize:
        """Room for three lines and the bars."""
        return QSize(super().sizeHint().width(), self._height())

    def sectionSizeFromContents(self, section: int) -> QSize:
        """As high as the header."""
        return QSize(super().sectionSizeFromContents(section).width(), self._height())

    def _height(self) -> int:
        theme = self._theme.theme
        name = QFontMetrics(theme.font(bold=True)).height()
        notes = 2 * QFontMetrics(theme.font("note")).height()
        return name + notes + self._bars() + 3 * SPACE.xs + 2

    def _bars(self) -> int:
        return round(_BARS * max(1.0, self._theme.theme.scale * 0.8))

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Paint one column's head."""
        model = self.model()
        name = str(model.headerData(section, Qt.Orientation.Horizontal) or "")
        theme = self._theme.theme
        painter.save()
        self._paint_ground(painter, rect, section, theme)
        inner = rect.adjusted(SPACE.s, SPACE.xs, -SPACE.s, -SPACE.xs)
        bold, note = theme.font(bold=True), theme.font("note")
        mark = ("▲ ", "▼ ")[self._sorted[1]] if name and name == self._sorted[0] else ""
        top = self._paint_text(painter, inner, inner.top(), mark + name, bold, theme.tokens.text)
        profile = self._profiles.get(name)
        counting = (translate("DataPanel", "counting…"),)
        for words in counting if profile is None else header_lines(profile):
            top = self._paint_text(painter, inner, top, words, note, theme.tokens.muted)
        spread = self._spreads.get(name)
        if spread is not None and profile is not None:
            place = QRect(inner.left(), inner.bottom() - self._bars(), inner.width(), self._bars())
            paint_spread(painter, place, spread, profile, theme)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRect, section: int, theme: Theme) -> None:
        tokens, current = theme.tokens, section == self._current
        painter.fillRect(rect, QColor(tokens.selection if current else tokens.window))
        painter.setPen(QColor(tokens.hairline))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.setPen(QColor(tokens.border))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if current:
            painter.fillRect(
                QRect(rect.left(), rect.bottom() - 2, rect.width(), 3), QColor(tokens.accent)
            )

    @staticmethod
    def _paint_text(
        painter: QPainter, inner: QRect, top: int, text: str, font: QFont, colour: str
    ) -> int:
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        place = QRect(inner.left(), top, inner.width(), metrics.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        return top + metrics.height()


def paint_spread(
    painter: QPainter, place: QRect, spread: Distribution, profile: ColumnProfile, theme: Theme
) -> None:
    """Small bars for a distribution; missing rows are a hatched part at the right."""
    tokens = theme.tokens
    wide = place.width()
    lacking = round(wide * profile.missing_share)
    lacking = max(lacking, 3) if profile.missing else 0
    ground = QRect(place.left(), place.bottom(), wide, 1)
    painter.fillRect(ground, QColor(tokens.hairline))
    if lacking:
        gap = QRect(place.right() - lacking + 1, place.top(), lacking, place.height())
        painter.fillRect(gap, QBrush(QColor(tokens.reference), Qt.BrushStyle.BDiagPattern))
    room = wide - lacking - (2 if lacking else 0)
    most = max(spread.counts, default=0)
    if most <= 0 or room < 4:
        return
    if not spread.ordered and profile.distinct == profile.rows - profile.missing > 1:
        return  # a value of its own in every row: there is no shape to show
    step = min(room / len(spread.counts), 18.0)
    for number, count in enumerate(spread.counts):
        if count:
            high = max(1, round(place.height() * count / most))
            left = place.left() + round(number * step)
            width = max(1, round((number + 1) * step) - round(number * step) - 1)
            bar = QRect(left, place.bottom() - high, width, high)
            painter.fillRect(bar, QColor(tokens.series[0]))


class RawGrid(DataGrid):
    """A data grid with profile headers; ``columnChosen(int)`` when the current column changes.

    ``sortAsked(int)`` when the heading of the current column is clicked, ``menuAsked`` with a
    cell (invalid: none), its column and a place on the screen.
    """

    columnChosen = Signal(int)
    sortAsked = Signal(int)
    rowChosen = Signal(int)
    menuAsked = Signal(QModelIndex, int, QPoint)
    least_ems = 36

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__(theme, name)
        self.profile_header = ProfileHeader(theme, self)
        self.setHorizontalHeader(self.profile_header)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # long values differ at their ends
        self.delegate = MissingDelegate(theme, self)
        self.setItemDelegate(self.delegate)
        self.profile_header.sectionClicked.connect(self._on_section)
        self.profile_header.customContextMenuRequested.connect(self._on_head_menu)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        theme.changed.connect(self._on_sizes)
        self._on_sizes(theme.theme)

    @Slot(object)
    def _on_sizes(self, theme: Theme) -> None:
        """The high heading leaves room for a few rows."""
        self.setMinimumHeight(self.profile_header.sizeHint().height() + theme.row * LEAST_ROWS)

    def fit_columns(self) -> None:
        """Widths by heading, small line and first rows."""
        super().fit_columns()
        model, header = self.model(), self.horizontalHeader()
        if not isinstance(model, TableModel) or not isinstance(header, ProfileHeader):
            return
        for number, name in enumerate(model.columns[:FITTED_COLUMNS]):
            wanted = header.note_width(name)
            if wanted > self.columnWidth(number):
                self.setColumnWidth(number, wanted)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Tell when another column is the current one."""
        super().currentChanged(current, previous)
        model = self.model()
        if current.isValid() and isinstance(model, TableModel):
            self.rowChosen.emit(model.first + current.row())
        if current.isValid() and current.column() != previous.column():
            self.columnChosen.emit(current.column())

    @Slot(int)
    def _on_section(self, section: int) -> None:
        model = self.model()
        if model is None or model.rowCount() == 0:
            return
        again = section == self.profile_header.before
        row = max(0, self.rowAt(0))
        self.setCurrentIndex(model.index(row, section))
        self.columnChosen.emit(section)
        if again:
            self.sortAsked.emit(section)

    @Slot(QPoint)
    def _on_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        index = index if index.isValid() else self.currentIndex()
        if index.isValid():
            self.menuAsked.emit(index, index.column(), self.viewport().mapToGlobal(place))

    @Slot(QPoint)
    def _on_head_menu(self, place: QPoint) -> None:
        section = self.profile_header.logicalIndexAt(place)
        if section >= 0:
            at = self.profile_header.viewport().mapToGlobal(place)
            self.menuAsked.emit(QModelIndex(), section, at)


_FIRST_NOTES, _MANY_NOTES = 4, 6
_FEW_NOTES = 2
"""As many notes at first where there is little height, so that rows stay in sight."""
_LOW_EMS = 86
_ALL, _FIRST, _CODES = "all", "first", "codes"
_FEW_CODES = 3


class TablePage(QWidget):
    """``readingAsked()`` to change how the file is read, ``rowsAsked()`` which rows are kept.

    ``codesAsked(tuple)`` are texts that are to count as missing from now on.

    ``nextAsked()`` to go on.
    """

    readingAsked = Signal()
    rowsAsked = Signal()
    codesAsked = Signal(tuple)
    nextAsked = Signal()

    def __init__(self, hub: JobHub, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._data: DataStore | None = None
        self._profile: DataProfile | None = None
        self._spreads: Spreads | None = None
        self._column = 0
        self._low = self._all_notes = False
        theme.changed.connect(self._on_theme)
        layout = column(self, gap=SPACE.m)
        self._header = StepHeader(1, self.tr("What is in this file?"), "")
        self._header.add(self._build_next())
        layout.addWidget(self._header)
        layout.addWidget(self._build_reading())
        self.notes = MessageBand(theme)
        self.notes.triggered.connect(self._on_notes)
        self.model = RawModel(hub, self)
        self.model.failed.connect(self._on_page_failed)
        self.grid = RawGrid(theme, self.tr("Rows of the file"))
        self.grid.setModel(self.model)
        self.grid.columnChosen.connect(self._on_column)
        self.inspector = ColumnInspector(theme)
        self._build_look(hub)
        parts = TurningSplitter("data-table", (self.grid, self.inspector), (1, 0))
        parts.turned.connect(self.inspector.set_stacked)
        layout.addWidget(parts, 1)
        layout.addWidget(self.parts)
        layout.addWidget(self.notes)
        layout.addWidget(self.bar)
        layout.addWidget(self._build_legend())

    def _build_look(self, hub: JobHub) -> None:
        self.bar = LookBar(hub)
        self.bar.looked.connect(self._on_looked)
        self.bar.hitFound.connect(self._on_hit)
        self.bar.failed.connect(self._on_page_failed)
        self.bar.left.connect(self.grid.setFocus)
        self.grid.sortAsked.connect(self._on_sort)
        self.grid.rowChosen.connect(self.bar.stand)
        self.parts = PartBar(self.model)
        self.parts.rowAsked.connect(self._on_row)
        self.grid.rowChosen.connect(self.parts.stand)
        self.grid.menuAsked.connect(self._on_menu)
        self._find = find_shortcut(self, self.bar)

    def _build_next(self) -> QPushButton:
        self.next_button = QPushButton(self.tr("Ne&xt: attributes"))
        self.next_button.setToolTip(self.tr("Continue: say what each column is (Ctrl+Enter)"))
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
        self.find_button = QPushButton(self.tr("Fin&d…"))
        self.find_button.setToolTip(self.tr("Find a text in the rows (Ctrl+F)"))
        self.find_button.clicked.connect(self._on_find)
        buttons = FlowBox()
        for button in (self.find_button, self.rows_button, self.reading_button):
            buttons.add(button)
        return BesideBox(self._reading, buttons)

    def _build_legend(self) -> QLabel:
        legend = QLabel(
            self.tr(
                "Values are shown as in the file. Grey italics: missing. Bars over a column: "
                "the distribution of its values; hatched: missing. A second click on a heading "
                "sorts; right click: more. Ctrl+C copies the chosen cells."
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
        self.bar.show_data(data)
        self.grid.profile_header.set_sorted("", descending=False)
        self.grid.profile_header.set_profile(None)
        self.grid.profile_header.set_current(0)
        self.notes.clear()
        if data is None:
            return
        self.grid.delegate.set_missing(data.reading.missing)
        self.model.describe(data.reading.missing, None)
        said = (
            reading_sentence(data.reading),
            query_sentence(query, data.reading.decimal),
            stays_sentence(data.engine, data.shown),
        )
        self.rows_button.setVisible(not data.engine)
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
        few, many = (_FEW_NOTES, _FEW_NOTES) if self._low else (_FIRST_NOTES, _MANY_NOTES)
        if len(notes) > many:
            every = self.tr("Show all {count} notes").format(count=grouped(len(notes)))
            answers = ((_ALL, every) if first else (_FIRST, self.tr("Show only the first notes")),)
        shown = notes[:few] if first and answers else notes
        codes = () if self._data is None else self._data.reading.missing_candidates
        if codes:
            answers = (
                (
                    _CODES,
                    self.tr("Count as missing: {codes}").format(
                        codes=said(
                            listed(
                                [quoted(verbatim(shortened(code))) for code in codes], _FEW_CODES
                            )
                        )
                    ),
                ),
                *answers,
            )
        self.notes.show_message("info", joined(shown, "\n"), answers)
        self._all_notes = not first

    @Slot(str)
    def _on_notes(self, wanted: str) -> None:
        if wanted == _CODES and self._data is not None:
            self.codesAsked.emit(self._data.reading.missing_candidates)
            return
        self._show_notes(first=wanted == _FIRST)
        self.notes.focus_answer()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold notes where they would take the room of the rows."""
        super().resizeEvent(event)
        self._fit()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._fit()

    def _fit(self) -> None:
        low = self.height() < self._theme.theme.ems(_LOW_EMS)
        if low == self._low:
            return
        self._low = low
        if not self.notes.isHidden() and self.notes.kind == "info" and not self._all_notes:
            self._show_notes(first=True)

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

    # ---- another look at the rows

    @Slot()
    def _on_find(self) -> None:
        self.bar.open_line()

    @Slot(object)
    def _on_looked(self, rows: ArrangedRows | None) -> None:
        look, data = self.bar.look, self._data
        if data is None:
            return
        self.model.set_source(rows or StoreRows(data))
        self.grid.profile_header.set_sorted(look.column, descending=look.descending)
        self.grid.setCurrentIndex(self.model.index(0, self._column))
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(object)
    def _on_hit(self, hit: Hit) -> None:
        self._go(hit.row, hit.column)

    @Slot(int)
    def _on_row(self, number: int) -> None:
        self._go(number, self._column)

    def _go(self, number: int, column: int) -> None:
        index = self.model.place(number, column)
        self.grid.setCurrentIndex(index)
        self.grid.scrollTo(index)

    @Slot(int)
    def _on_sort(self, section: int) -> None:
        """Ascending, then descending, then as in the file."""
        cell, look = self._cell(section), self.bar.look
        if look.column == cell.name and look.descending:
            self.bar.look_at(RowLook(filters=look.filters))
        else:
            down = look.column == cell.name
            self.bar.sort(cell.name, cell.kind, cell.date_order, down)

    def _cell(self, section: int, text: str | None = None) -> CellAt:
        profile, name = self.model.profile(section), self.model.columns[section]
        missing = text is not None and self.model.is_missing(section, text)
        if profile is None:
            return CellAt(name, ColumnType.TEXT, "", text, missing)
        return CellAt(name, profile.type, profile.date_order, text, missing)

    @Slot(QModelIndex, int, QPoint)
    def _on_menu(self, index: QModelIndex, section: int, place: QPoint) -> None:
        row = self.model.row(index.row()) if index.isValid() else None
        text = None if row is None else str(row[section])
        LookMenu(self.bar, self._cell(section, text), self).popup(place)

    @Slot(object)
    def _on_page_failed(self, failure: object) -> None:
        if isinstance(failure, JobFailed):
            self.notes.show_error(failure)
