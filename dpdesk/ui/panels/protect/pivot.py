"""The tables of a setting as they are printed, and what is told of the chosen cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHeaderView, QLabel, QPushButton, QSplitter, QWidget

from dpdesk.app.cell_marks import STATUSES, Elsewhere
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plain import grouped_decimal
from dpdesk.core.tabulation import (
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    SUPPRESSED,
    CellStory,
    CellTable,
    Crosstab,
    TableLook,
)
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import guarded
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import Badge, column
from dpdesk.ui.widgets.layouts import FlowBox, SteadyArea, least_height, leave_wheel
from dpdesk.ui.widgets.states import note
from dpdesk.ui.words.numbers import marked
from dpdesk.ui.words.spoken import in_window, said

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
SIGNS = {PRIMARY: "✕", SECONDARY: "△"}
WITHHELD = "c"
"""In the place of a suppressed value, where readers are not told why."""
OPEN, FOLDED = "▾", "▸"
_CHANNEL = "protect.cell"
_MEASURED = 200
translate = QCoreApplication.translate


def status_words(code: str) -> str:
    """What became of a cell."""
    words = {
        PRIMARY: translate("Pivot", "unsafe"),
        SECONDARY: translate("Pivot", "suppressed to protect others"),
        SUPPRESSED: translate("Pivot", "suppressed"),
    }
    return words.get(code, translate("Pivot", "published"))


class PivotModel(QAbstractTableModel):
    """Cells of one table, of which groups are folded; no widget stands for any of them."""

    def __init__(self, theme: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look: TableLook | None = None
        self._folded: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
        self._shown: tuple[np.ndarray, np.ndarray] = (np.empty(0, int), np.empty(0, int))
        self._parents: frozenset[tuple[int, int]] = frozenset()
        self.published = False

    def show_look(self, look: TableLook | None) -> None:
        """Show a table; what is folded stays so where the table has the same groups."""
        self.beginResetModel()
        before, self._look = self._look, look
        if look is None or before is None or _labels(before) != _labels(look):
            self._folded = (set(), set())
        axes = () if look is None else look.table.axes
        self._parents = frozenset(
            (place, above) for place, axis in enumerate(axes) for above in axis.parents
        )
        self._arrange()
        self.endResetModel()

    def set_published(self, published: bool) -> None:
        """Show what is published, or what the agency knows."""
        self.published = published
        self.beginResetModel()
        self.endResetModel()

    @property
    def look(self) -> TableLook | None:
        """The table on show."""
        return self._look

    def cell(self, index: Index) -> int:
        """The cell of the table at a place; -1 for none."""
        if self._look is None or not index.isValid():
            return -1
        lines, columns = self._shown
        return int(self._look.layout.cells[lines[index.row()], columns[index.column()]])

    def toggle(self, section: int, *, head: bool) -> None:
        """Fold or unfold the group of a line or column; of one without parts, the group above."""
        if self._look is None or not 0 <= section < len(self._shown[head]):
            return
        layout = self._look.layout
        axes, nodes = _nodes(layout, head)
        own = list(zip(axes, nodes[self._shown[head][section]].tolist(), strict=True))
        groups = [pair for pair in own if pair in self._parents]
        if groups:
            pair = groups[-1]
        elif own:
            axis, node = own[-1]
            pair = (axis, layout.axes[axis].parents[node])
        else:
            return
        if pair[1] < 0:
            return
        self.beginResetModel()
        self._folded[head].symmetric_difference_update({pair})
        self._arrange()
        self.endResetModel()

    def fold_all(self, *, folded: bool) -> None:
        """Fold all groups of lines below the total, or unfold every one."""
        if self._look is None:
            return
        self.beginResetModel()
        for head in (False, True):
            self._folded[head].clear()
            axes = self._look.table.axes
            if folded:
                inner = (p for p in self._parents if 0 <= p[1] < len(axes[p[0]].labels) - 1)
                self._folded[head].update(inner)
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        """Which lines and columns are in sight: those below no folded group."""
        if self._look is None:
            self._shown = (np.empty(0, int), np.empty(0, int))
            return
        shown = []
        for head in (False, True):
            axes, nodes = _nodes(self._look.layout, bool(head))
            free = np.ones(len(nodes), dtype=bool)
            for place, axis in enumerate(axes):
                hidden = _below(self._look.layout, axis, self._folded[head])
                free &= ~hidden[nodes[:, place]]
            shown.append(np.flatnonzero(free))
        self._shown = (shown[0], shown[1])

    # -- what Qt asks

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Lines in sight."""
        return 0 if parent.isValid() else len(self._shown[0])

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Columns in sight."""
        return 0 if parent.isValid() else len(self._shown[1])

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Values with their signs, and how they look."""
        if self._look is None or not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT
        cell, table = self.cell(index), self._look.table
        status = (table.status if self.published else table.internal["status"])[cell]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._text(cell, status, whole=role == Qt.ItemDataRole.EditRole)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            line = self.headerData(index.row(), Qt.Orientation.Vertical)
            head = self.headerData(index.column(), Qt.Orientation.Horizontal)
            place = " × ".join(str(one).strip(f" {OPEN}{FOLDED}") for one in (line, head) if one)
            exact = role == Qt.ItemDataRole.ToolTipRole
            return f"{place}: {self._text(cell, status, whole=exact)}, {status_words(status)}"
        tokens = self._theme.theme.tokens
        if role == Qt.ItemDataRole.BackgroundRole and status != PUBLISHED:
            return QColor(tokens.wash(tokens.fail if status == PRIMARY else tokens.caution))
        if role == Qt.ItemDataRole.FontRole and self._is_total(index):
            return self._theme.theme.font(bold=True)
        return None

    def _text(self, cell: int, status: str, *, whole: bool) -> str:
        """Value and sign; rounded for the eye unless it shall be ``whole``."""
        assert self._look is not None
        table, sign = self._look.table, SIGNS.get(status, "")
        number = table.values[cell] if self.published else table.internal["value"][cell]
        if number:
            number = marked(grouped_decimal(number, rounded=not whole))
        if self.published:
            return number or sign or WITHHELD
        return f"{sign} {number}".strip()

    def _is_total(self, index: Index) -> bool:
        assert self._look is not None
        layout = self._look.layout
        for head, section in ((False, index.row()), (True, index.column())):
            axes, nodes = _nodes(layout, head)
            own = nodes[self._shown[head][section]].tolist()
            if axes and not any(layout.depths[a][n] for a, n in zip(axes, own, strict=True)):
                return True
        return False

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Labels, deeper ones further in, with a sign for groups that are open or folded."""
        head = orientation is Qt.Orientation.Horizontal
        if self._look is None or not 0 <= section < len(self._shown[head]):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if head else Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        layout = self._look.layout
        axes, nodes = _nodes(layout, head)
        own = list(zip(axes, nodes[self._shown[head][section]].tolist(), strict=True))
        empty = translate("Pivot", "(empty)")
        words = " · ".join(layout.axes[axis].labels[node] or empty for axis, node in own)
        groups = [pair for pair in own if pair in self._parents]
        sign = ""
        if groups:
            sign = f"{FOLDED if groups[-1] in self._folded[head] else OPEN} "
        depth = 0 if head else sum(layout.depths[axis][node] for axis, node in own)
        return f"{'    ' * depth}{sign}{words}" or translate("Pivot", "All")


def _labels(look: TableLook) -> list[tuple[str, ...]]:
    return [axis.labels for axis in look.table.axes]


def _nodes(layout: Crosstab, head: bool) -> tuple[tuple[int, ...], np.ndarray]:
    """The dimensions at an edge, and the nodes of its lines or columns."""
    return (layout.head, layout.heads) if head else (layout.side, layout.lines)


def _below(layout: Crosstab, axis: int, folded: set[tuple[int, int]]) -> np.ndarray:
    """Whether each node of a dimension lies below a folded group."""
    parents = layout.axes[axis].parents
    hidden = np.zeros(len(parents), dtype=bool)
    for node in reversed(range(len(parents) - 1)):
        hidden[node] = hidden[parents[node]] or (axis, parents[node]) in folded
    return hidden


class LabelHeader(QHeaderView):
    """Labels of lines, as wide as the longest of them."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._theme = theme
        self.setSectionsClickable(True)

    def sizeHint(self) -> QSize:
        """Room for the longest labels, within bounds."""
        model = self.model()
        texts = [str(model.headerData(n, self.orientation()) or "") for n in range(self.count())]
        longest = sorted(texts, key=len)[-_MEASURED:]
        wide = max((self.fontMetrics().horizontalAdvance(text) for text in longest), default=0)
        most = self._theme.theme.ems(40)
        return QSize(min(wide + 4 * SPACE.s, most), super().sizeHint().height())


class PivotGrid(DataGrid):
    """The cells; ``toggled(int, bool)``: a group of a line, or of a column, is to be folded."""

    toggled = Signal(int, bool)

    def __init__(self, theme: ThemeManager, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self.setVerticalHeader(LabelHeader(theme, self))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(theme.theme.row)
        self.horizontalHeader().setSectionsClickable(True)
        self.verticalHeader().sectionClicked.connect(self._on_line)
        self.horizontalHeader().sectionClicked.connect(self._on_column)

    @Slot(int)
    def _on_line(self, section: int) -> None:
        self.toggled.emit(section, False)

    @Slot(int)
    def _on_column(self, section: int) -> None:
        self.toggled.emit(section, True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space folds the group of the line, Ctrl+Space that of the column."""
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Space and index.isValid():
            head = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.toggled.emit(index.column() if head else index.row(), head)
            event.accept()
            return
        super().keyPressEvent(event)


def _story(look: TableLook, cell: int, token: CancelToken, report: Report) -> CellStory:
    return look.story(cell, token)


class PivotPage(QWidget):
    """Tables that a setting gives, one at a time, and the story of the chosen cell.

    ``markAsked(CellTable, int, str)``: a cell is to have this status by hand (empty: none).
    """

    markAsked = Signal(object, int, str)

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._looks: tuple[TableLook, ...] = ()
        self._ask_mark: Callable[[CellTable, int], tuple[str, Elsewhere | None]] | None = None
        self._kept: tuple[str, int] | None = None
        layout = column(self, gap=SPACE.s)
        layout.addWidget(self._build_line())
        layout.addWidget(self._legend)
        self.model = PivotModel(theme, self)
        words = self.tr("The table; Space folds the group of a line, Ctrl+Space that of a column")
        self.grid = PivotGrid(theme, words)
        self.grid.setModel(self.model)
        self.grid.toggled.connect(self._on_toggled)
        self.grid.selectionModel().currentChanged.connect(self._on_current)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.grid)
        self._split.addWidget(self._build_story())
        self._split.setStretchFactor(0, 3)
        layout.addWidget(self._split, 1)

    def minimumSizeHint(self) -> QSize:
        """With room for the line above in as many lines as it takes at this width."""
        least = super().minimumSizeHint()
        return QSize(least.width(), max(least.height(), least_height(self, self.width())))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may take another number of lines."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def _build_line(self) -> QWidget:
        line = FlowBox(gap=SPACE.s)
        self.choice = NarrowCombo()
        self.choice.setAccessibleName(self.tr("Table"))
        self.choice.set_help(self.tr("Which of the tables is shown"))
        leave_wheel(self.choice)
        self.choice.currentIndexChanged.connect(self._show)
        self.as_published = QCheckBox(self.tr("As published"))
        self.as_published.setToolTip(self.tr("Show what readers of the table see"))
        self.as_published.toggled.connect(self._on_published)
        self.fold, self.unfold = QPushButton(self.tr("Fold")), QPushButton(self.tr("Unfold"))
        self.fold.setToolTip(self.tr("Fold all groups below the totals"))
        self.unfold.setToolTip(self.tr("Show the parts of every group"))
        self.fold.clicked.connect(self._on_fold)
        self.unfold.clicked.connect(self._on_unfold)
        self._legend = QLabel()
        self._legend.setWordWrap(True)
        set_look(self._legend, "note")
        self._badge = Badge(self.tr("CONFIDENTIAL"), self.tr("True values, for internal use only"))
        for widget in (
            self.choice,
            self.as_published,
            self.fold,
            self.unfold,
            self._badge,
        ):
            line.add(widget)
        return line

    def _build_story(self) -> QWidget:
        """What is told of a cell, which may be more than there is room for: it scrolls."""
        card, self.story = QWidget(), SteadyArea()
        inner = column(card, margin=SPACE.s, gap=SPACE.xs)
        self._title, self._told = QLabel(), QLabel()
        set_look(self._title, "strong")
        for label in (self._title, self._told):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            inner.addWidget(label)
        inner.insertWidget(1, self._build_hand())
        inner.addStretch(1)
        self.story.setWidget(card)
        self.story.setAccessibleName(self.tr("The chosen cell"))
        self.story.setToolTip(
            self.tr("Why the cell is treated so, and what readers can tell of it")
        )
        self._tell(None)
        return self.story

    def _build_hand(self) -> QWidget:
        """What the plan says of the chosen cell whatever the rules say."""
        self.by_hand, line = QWidget(), FlowBox(gap=SPACE.s)
        words = (
            self.tr("as the rules say"),
            self.tr("safe"),
            self.tr("unsafe"),
            self.tr("must be published"),
        )
        self.hand = NarrowCombo(max(map(len, words)))
        self.hand.addItems(list(words))
        self.hand.setAccessibleName(self.tr("Status by hand"))
        self.hand.set_help(self.tr("How the plan treats this cell, whatever the rules say"))
        leave_wheel(self.hand)
        self.hand.activated.connect(self._on_hand)
        self._why = note()
        line.add(QLabel(self.tr("By hand:")))
        line.add(self.hand)
        lines = column(self.by_hand, gap=SPACE.xs)
        lines.addWidget(line)
        lines.addWidget(self._why)
        return self.by_hand

    def set_hand(self, ask_mark: Callable[[CellTable, int], tuple[str, Elsewhere | None]]) -> None:
        """Let statuses be set; ``ask_mark`` says what the plan sets of a cell, or why it cannot."""
        self._ask_mark = ask_mark

    def _show_hand(self, look: TableLook | None, cell: int) -> None:
        """The status by hand of a cell, where one is chosen."""
        self.by_hand.setVisible(look is not None and self._ask_mark is not None)
        if look is None or self._ask_mark is None:
            return
        mark, elsewhere = self._ask_mark(look.table, cell)
        self.hand.setCurrentIndex(STATUSES.index(mark) + 1 if mark else 0)
        self.hand.setEnabled(elsewhere is None)
        reasons = {
            Elsewhere.FILE: self.tr("The plan names a file of statuses: change it there."),
            Elsewhere.SOURCE: self.tr("The source has columns for statuses and costs of cells."),
            Elsewhere.RATIO: self.tr("A ratio follows the two tables that it is made of."),
            Elsewhere.UNNAMED: self.tr("A category without text cannot be named in a status."),
        }
        self._why.setText("" if elsewhere is None else reasons[elsewhere])
        self._why.setVisible(elsewhere is not None)

    @Slot(int)
    def _on_hand(self, place: int) -> None:
        look, cell = self.model.look, self.model.cell(self.grid.currentIndex())
        if look is not None and cell >= 0:
            self._kept = look.table.name, cell
            self.markAsked.emit(look.table, cell, ("", *STATUSES)[place])

    def _choose_again(self) -> None:
        """The cell whose status was set, in the tables that come of it."""
        kept, self._kept = self._kept, None
        look = self.model.look
        if kept is None or look is None or look.table.name != kept[0]:
            return
        for line in range(self.model.rowCount()):
            for place in range(self.model.columnCount()):
                index = self.model.index(line, place)
                if self.model.cell(index) == kept[1]:
                    self.grid.setCurrentIndex(index)
                    return

    def _write_legend(self) -> None:
        """What the signs in sight mean; readers see others than the agency."""
        look = self.model.look
        seen = set(look.table.status) if look is not None and self.model.published else {PRIMARY}
        words = ""
        if {PRIMARY, SECONDARY} & seen:
            said = self.tr("{unsafe} unsafe   {others} protects others   without a sign: published")
            words = said.format(unsafe=SIGNS[PRIMARY], others=SIGNS[SECONDARY])
        elif SUPPRESSED in seen:
            words = self.tr("{sign} suppressed   without a sign: published").format(sign=WITHHELD)
        self._legend.setText(words)
        self._legend.setVisible(bool(words))

    @property
    def told(self) -> str:
        """What is told of the chosen cell."""
        return self._told.text()

    def show_tables(self, looks: Sequence[TableLook]) -> None:
        """Show these tables, the one that was chosen in front."""
        names = [look.table.name or self.tr("Table") for look in looks]
        chosen = self.choice.currentText()
        self._looks = tuple(looks)
        self.choice.blockSignals(True)
        self.choice.clear()
        self.choice.addItems(names)
        self.choice.setCurrentIndex(max(0, names.index(chosen)) if chosen in names else 0)
        self.choice.blockSignals(False)
        self.choice.setVisible(len(names) > 1)
        self._show()
        if looks:
            self._choose_again()

    def _show(self) -> None:
        place = self.choice.currentIndex()
        self.model.show_look(self._looks[place] if 0 <= place < len(self._looks) else None)
        self._write_legend()
        self._tell(None)

    def _tell(self, story: CellStory | None) -> None:
        if story is None:
            self._show_hand(None, -1)
            self._title.setText(self.tr("Choose a cell to see why it is treated so."))
            self._told.setText("")
            return
        self._title.setText(said(story.place))
        self._told.setText("\n".join(in_window(sentence) for sentence in story.sentences))

    # -- reactions

    @Slot(bool)
    def _on_published(self, published: bool) -> None:
        self._badge.setVisible(not published)
        self.model.set_published(published)
        self._write_legend()

    @Slot(int, bool)
    def _on_toggled(self, section: int, head: bool) -> None:
        cell = self.grid.currentIndex()
        line, place = cell.row(), cell.column()
        self.model.toggle(section, head=head)
        if line >= 0:
            line = min(line, self.model.rowCount() - 1)
            self.grid.setCurrentIndex(
                self.model.index(line, min(place, self.model.columnCount() - 1))
            )

    @Slot()
    def _on_fold(self) -> None:
        self.model.fold_all(folded=True)

    @Slot()
    def _on_unfold(self) -> None:
        self.model.fold_all(folded=False)

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, now: QModelIndex, before: QModelIndex) -> None:
        look, cell = self.model.look, self.model.cell(now)
        if look is None or cell < 0:
            return
        self._hub.latest(_CHANNEL).query(
            self.tr("Looking at a cell"),
            partial(_story, look, cell),
            then=partial(self._on_story, look, cell),
            failed=self._on_failed,
        )

    def _on_story(self, look: TableLook, cell: int, story: CellStory) -> None:
        if look is self.model.look:
            self._tell(story)
            self._show_hand(look, cell)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._tell(None)
