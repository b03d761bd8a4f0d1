"""All candidates: as a table of what differs, as a grid, and a card for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import (
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from dpdesk.app.types import HierarchyChoice, Method, WorkState
from dpdesk.core.charts import Figure
from dpdesk.core.hierarchy import level_words
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import CellModel
from dpdesk.ui.panels.compare.presenter import (
    Entry,
    best_of,
    difference,
    figure_text,
    pinned,
    planned,
    value_of,
)
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import Badge, column, row
from dpdesk.ui.widgets.layouts import SteadyArea
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.settings import settings_words, value_words
from dpdesk.ui.words.spoken import said

APART = 2
STAR = "★"
translate = QCoreApplication.translate


@dataclass(frozen=True)
class CompareCell:
    """What stands in a cell; ``mark`` is a shape with a word, ``grey`` when not comparable."""

    text: str
    mark: str = ""
    grey: bool = False
    number: bool = False
    tip: str = ""

    @property
    def words(self) -> str:
        """Text and mark as they are written."""
        return f"{self.mark} {self.text}" if self.mark else self.text


@dataclass(frozen=True)
class CompareRow:
    """A line of the table; a ``heading`` has no cells."""

    label: str
    cells: tuple[CompareCell, ...] = ()
    help: str = ""

    @property
    def heading(self) -> bool:
        """Whether this line only names the lines below."""
        return not self.cells


@dataclass(frozen=True)
class CompareTable:
    """Column headings (without the first) and lines."""

    columns: tuple[str, ...]
    rows: tuple[CompareRow, ...]


def compare_table(shown: Sequence[Entry], methods: Sequence[Method]) -> CompareTable:
    """Everything about all candidates: A, B, A − B (when both are pinned), then the others."""
    shown = sorted(shown, key=_pinned_first)
    columns = [entry.label for entry in shown]
    both = pinned(shown, "A") is not None and pinned(shown, "B") is not None
    if both:
        columns.insert(APART, translate("Compare", "A − B"))
    names = [
        CompareCell(one.candidate.name, grey=bool(one.reason), tip=one.candidate.name)
        for one in shown
    ]
    rows = [
        CompareRow(translate("Compare", "Name"), _with_gap(names, both=both)),
        CompareRow(translate("Compare", "Figures (★ best of all)")),
        *_figure_rows(shown, both=both),
        CompareRow(translate("Compare", "What differs in the plans")),
        *_plan_rows(shown, methods, both=both),
        CompareRow(translate("Compare", "Guarantee")),
        _guarantee_row(shown, both=both),
    ]
    return CompareTable(tuple(columns), tuple(rows))


def _figure_rows(shown: Sequence[Entry], *, both: bool) -> list[CompareRow]:
    first = pinned(shown, "A") or shown[0]
    rows = []
    for figure in first.candidate.figures:
        found = [value_of(entry, figure.key) for entry in shown]
        values = [
            one.value
            for one, entry in zip(found, shown, strict=True)
            if one is not None and not entry.reason and one.value == one.value
        ]
        best = best_of(values, figure.better)
        if both and len(values) == APART:
            best = None  # A − B says it already
        cells = []
        for one, entry in zip(found, shown, strict=True):
            mark = ""
            if one is not None and not entry.reason and one.value == best:
                mark = STAR
            text = "–" if one is None else figure_text(_unsaid(one))
            best_words = translate("Compare", "Best of all candidates that can be compared")
            tip = entry.reason or (best_words if mark else "")
            cells.append(CompareCell(text, mark, bool(entry.reason), True, tip))
        if both:
            cells.insert(APART, _difference_cell(shown, figure.key))
        rows.append(CompareRow(figure.label, tuple(cells), figure.help))
    return rows


def _unsaid(figure: Figure) -> Figure:
    """A figure without a unit that its label says already."""
    known = figure.unit.lower() in figure.label.lower().split()
    return replace(figure, unit="") if known else figure


def _difference_cell(shown: Sequence[Entry], key: str) -> CompareCell:
    a, b = pinned(shown, "A"), pinned(shown, "B")
    one = None if a is None else value_of(a, key)
    other = None if b is None else value_of(b, key)
    if one is None or other is None:
        return CompareCell("–", number=True)
    words = difference(one, other)
    tips = {
        "A": translate("Compare", "★ A: A is better here"),
        "B": translate("Compare", "★ B: B is better here"),
    }
    return CompareCell(words, number=True, tip=tips.get(words[-1], ""))


def _plan_rows(
    shown: Sequence[Entry], methods: Sequence[Method], *, both: bool
) -> list[CompareRow]:
    known = {method.id: method for method in methods}
    facts = [_plan_facts(entry, known) for entry in shown]
    labels = list(dict.fromkeys(label for each in facts for label in each))
    rows = []
    for label in labels:
        texts = [each.get(label, "–") for each in facts]
        if len(set(texts)) > 1:
            cells = [
                CompareCell(text, grey=bool(entry.reason), tip=entry.reason)
                for text, entry in zip(texts, shown, strict=True)
            ]
            rows.append(CompareRow(label, _with_gap(cells, both=both)))
    if not rows:
        text = translate("Compare", "nothing")
        rows.append(CompareRow(text, tuple(CompareCell("") for _ in range(len(shown) + both))))
    return rows


def _plan_facts(entry: Entry, methods: Mapping[str, Method]) -> dict[str, str]:
    """Whatever a plan and its result say, in words, by label."""
    work, method = entry.candidate.work, methods.get(entry.candidate.work.method)
    facts = {translate("Compare", "Method"): work.method if method is None else said(method.title)}
    for parameter in method.parameters if method is not None else ():
        value = work.parameters.get(parameter.key)
        given = parameter.as_plain(parameter.default_value()) if value is None else value
        if given is not None:
            words = value_words(parameter, given, entry.candidate.level_names)
            facts[said(parameter.label)] = words
    facts |= _column_facts(work)
    for key, value in entry.candidate.result.items():
        if isinstance(value, Mapping) and all(isinstance(one, int) for one in value.values()):
            level = translate("Compare", "Level of {name}") if key == "node" else f"{key}: {{name}}"
            names = entry.candidate.level_names if key == "node" else {}
            facts |= {
                level.format(name=name): level_words(names.get(name, ()), one)
                for name, one in value.items()
            }
    return facts


def _column_facts(work: WorkState) -> dict[str, str]:
    role, tree = translate("Compare", "Role of {name}"), translate("Compare", "Hierarchy of {name}")
    facts = {role.format(name=name): given.value for name, given in work.roles.items()}
    facts |= {tree.format(name=name): _words(one) for name, one in work.hierarchies.items()}
    return facts


def _words(choice: HierarchyChoice) -> str:
    if isinstance(choice, HierarchyFile):
        return choice.path
    if isinstance(choice, HierarchyBuilder):
        options = ", ".join(f"{key} {value}" for key, value in choice.options.items())
        return f"{choice.kind} {options}".strip()
    counts = " → ".join(grouped(len(level)) for level in choice.labels)
    return translate("Compare", "by hand: {counts} values").format(counts=counts)


def _guarantee_row(shown: Sequence[Entry], *, both: bool) -> CompareRow:
    cells = [
        CompareCell(
            entry.candidate.guarantee.claim,
            grey=bool(entry.reason),
            tip=entry.candidate.guarantee.claim,
        )
        for entry in shown
    ]
    label = translate("Compare", "Claim")
    return CompareRow(label, _with_gap(cells, both=both))


def _pinned_first(entry: Entry) -> tuple[bool, str]:
    return not entry.pin, entry.pin


def _with_gap(cells: list[CompareCell], *, both: bool) -> tuple[CompareCell, ...]:
    """Cells with an empty one where A − B stands, for what cannot be subtracted."""
    return (*cells[:APART], CompareCell(""), *cells[APART:]) if both else tuple(cells)


Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
LABEL_EMS, LABEL_AT_MOST, CELL_EMS, PADDING = 12, 28, 6, 28
LABEL_SHARE = 0.3
_MIDDLE = Qt.AlignmentFlag.AlignVCenter


class CompareModel(CellModel):
    """Lines of a :class:`CompareTable`; the first column holds their names."""

    numbered = False

    def __init__(self, theme: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._table = CompareTable((), ())

    def set_table(self, table: CompareTable) -> None:
        """Show another table."""
        if table == self._table:
            return
        self.beginResetModel()
        self._table = table
        self.endResetModel()

    @property
    def table(self) -> CompareTable:
        """The table on show."""
        return self._table

    def size(self) -> tuple[int, int]:
        """One more column than the table has."""
        return len(self._table.rows), len(self._table.columns) + 1

    def cell(self, index: Index, role: int) -> object:
        """Words, alignment, weight, colour and explanation of a cell."""
        row = self._table.rows[index.row()]
        if index.column() == 0 or row.heading:
            return self._name_data(index, role)
        cell = row.cells[index.column() - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = f"{row.label}, {self._table.columns[index.column() - 1]}: {cell.text}"
            return f"{said}. {cell.tip}" if cell.tip else said
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if cell.number else Qt.AlignmentFlag.AlignLeft
            return side | _MIDDLE
        if role == Qt.ItemDataRole.ForegroundRole and cell.grey:
            return QColor(self._theme.tokens.disabled)
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.tip or None
        if role == Qt.ItemDataRole.FontRole and cell.mark:
            return self._bold()
        return None

    def _name_data(self, index: Index, role: int) -> object:
        row = self._table.rows[index.row()]
        first = index.column() == 0
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.label if first else ""
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.label}\n{row.help}".strip() or None
        if role == Qt.ItemDataRole.FontRole and row.heading:
            return self._bold()
        if role == Qt.ItemDataRole.BackgroundRole and row.heading:
            return QColor(self._theme.tokens.sunken)
        return None

    def _bold(self) -> QFont:
        return self._theme.theme.font(bold=True)

    def heading(self, section: int, role: int) -> object:
        """Numbers, pins and names of the candidates."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return "" if section == 0 else self._table.columns[section - 1]
        return None


class CompareGrid(DataGrid):
    """A grid without row numbers, whose columns share the width that is there.

    What is cut in a cell stands whole in its tooltip.
    """

    def __init__(self, theme: ThemeManager, name: str, model: CompareModel) -> None:
        super().__init__(theme, name)
        self._compared = model
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # long names differ at their ends
        self.verticalHeader().hide()
        self.setModel(model)

    def fit_columns(self) -> None:
        """As wide as figures need; texts take what is left, and sideways only what must."""
        table = self._compared.table if hasattr(self, "_compared") else None
        if table is None or not table.columns:
            return
        theme = self._theme.theme
        metrics = QFontMetrics(theme.font(bold=True))  # marked figures are bold

        def needed(texts: list[str], least: int) -> int:
            widest = max((metrics.horizontalAdvance(text) for text in texts), default=0)
            return max(theme.ems(least), widest + PADDING)

        labels = [row.label for row in table.rows if not row.heading]
        widths = [min(needed(labels, LABEL_EMS), theme.ems(LABEL_AT_MOST))]
        for number, heading in enumerate(table.columns):
            cells = [row.cells[number] for row in table.rows if row.cells]
            figures = [cell.words for cell in cells if cell.number]
            widths.append(needed([*figures, heading], CELL_EMS))
        room = self.viewport().width() - 1
        left = room - sum(widths[1 : APART + 2])  # A, B and A − B should be in sight
        widths[0] = min(widths[0], max(left, round(room * LABEL_SHARE)))
        spare = max(0, room - sum(widths)) // len(widths)
        for at, width in enumerate(widths):
            self.setColumnWidth(at, width + spare)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width that is there now."""
        super().resizeEvent(event)
        self.fit_columns()


class CandidateCard(QFrame):
    """Shows one candidate; all signals carry its number."""

    pinAsked = Signal(int, str)
    renameAsked = Signal(int, str)
    removeAsked = Signal(int)

    def __init__(self, identifier: int) -> None:
        super().__init__()
        self._id = identifier
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        head = row()
        self._number = QLabel(str(identifier))
        set_look(self._number, "section")
        self._name = QLineEdit()
        self._name.setMaxLength(80)
        self._name.editingFinished.connect(self._on_name)
        head.addWidget(self._number)
        head.addWidget(self._name, 1)
        self._planned = Badge(
            self.tr("planned"),
            self.tr("Errors that follow from the settings; nothing was counted or spent"),
        )
        head.addWidget(self._planned)
        layout.addLayout(head)
        self._words, self._reason = QLabel(), QLabel()
        for label, look in ((self._words, "note"), (self._reason, "caution")):
            label.setWordWrap(True)
            set_look(label, look)
            layout.addWidget(label)
        layout.addLayout(self._build_buttons())

    def show_entry(self, entry: Entry, method: Method | None) -> None:
        """Show a candidate as it is now."""
        one = entry.candidate
        if not self._name.hasFocus() or not self._name.isModified():
            self._name.setText(one.name)
            self._name.setCursorPosition(0)
        self._planned.setVisible(planned(one))
        said = settings_words(method, one.work, one.level_names)
        self._words.setText(said)
        self._words.setVisible(said != one.name)
        self._words.setToolTip(self.tr("Kept at {time}").format(time=f"{one.when:%H:%M}"))
        self._reason.setText("\n".join(f"△ {text}" for text in entry.cautions))
        self._reason.setVisible(bool(entry.cautions))
        for pin, button in self._pins.items():
            button.setChecked(entry.pin == pin)
        self._pins["B"].setEnabled(not entry.reason)
        self._words.setEnabled(not entry.reason)
        set_look(self, "chosen" if entry.pin else "choice")
        self._name_parts(one.name, entry.reason)

    def _name_parts(self, name: str, reason: str) -> None:
        self._name.setAccessibleName(self.tr("Name of candidate {n}").format(n=self._id))
        self._name.setToolTip(self.tr("{name}\nType another name, then Enter").format(name=name))
        texts = {
            "A": self.tr("Pin {name} as A, the one that others are compared with"),
            "B": reason or self.tr("Pin {name} as B, the one to compare with A"),
        }
        for pin, button in self._pins.items():
            button.setAccessibleName(
                self.tr("Pin candidate {n} as {pin}").format(n=self._id, pin=pin)
            )
            button.setToolTip(texts[pin].format(name=name) if texts[pin] != reason else reason)
        self._remove.setAccessibleName(self.tr("Remove candidate {n}").format(n=self._id))
        self._remove.setToolTip(self.tr("Remove {name}").format(name=name))

    def _build_buttons(self) -> QHBoxLayout:
        line = row(gap=SPACE.xs)
        self._pins: dict[str, QToolButton] = {}
        for pin in ("A", "B"):
            button = QToolButton()
            button.setText(pin)
            button.setCheckable(True)
            button.setProperty("pin", pin)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.clicked.connect(self._on_pin)
            self._pins[pin] = button
            line.addWidget(button)
        line.addStretch(1)
        self._remove = QPushButton(self.tr("Remove"))
        set_look(self._remove, "quiet")
        self._remove.clicked.connect(self._on_remove)
        line.addWidget(self._remove)
        return line

    @Slot()
    def _on_name(self) -> None:
        self._name.setModified(False)
        self.renameAsked.emit(self._id, self._name.text())

    @Slot()
    def _on_pin(self) -> None:
        button = self.sender()
        if isinstance(button, QToolButton):
            self.pinAsked.emit(self._id, str(button.property("pin")))

    @Slot()
    def _on_remove(self) -> None:
        self.removeAsked.emit(self._id)


class CandidateCards(SteadyArea):
    """All candidates, oldest first."""

    pinAsked = Signal(int, str)
    renameAsked = Signal(int, str)
    removeAsked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._cards: dict[int, CandidateCard] = {}
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._layout = column(inner, gap=SPACE.s)
        self._layout.setContentsMargins(0, 0, SPACE.s, 0)
        self._layout.addStretch(1)
        self.setWidget(inner)

    def sizeHint(self) -> QSize:
        """No wider than it must be: the room belongs to the pictures."""
        return QSize(self.minimumWidth(), super().sizeHint().height())

    def needed(self) -> int:
        """The width below which a card would be cut, beside a bar to scroll them."""
        inner = self._layout.minimumSize().width()
        return inner + self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()

    @property
    def cards(self) -> tuple[CandidateCard, ...]:
        """The cards on show."""
        return tuple(self._cards.values())

    def show_entries(self, shown: Sequence[Entry], methods: Sequence[Method]) -> None:
        """Show these candidates."""
        known = {method.id: method for method in methods}
        for identifier in [one for one in self._cards if one not in _ids(shown)]:
            card = self._cards.pop(identifier)
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        for entry in shown:
            number = entry.candidate.id
            if number not in self._cards:
                self._cards[number] = self._made_card(number)
            self._cards[number].show_entry(entry, known.get(entry.candidate.work.method))

    def _made_card(self, number: int) -> CandidateCard:
        card = CandidateCard(number)
        card.pinAsked.connect(self.pinAsked)
        card.renameAsked.connect(self.renameAsked)
        card.removeAsked.connect(self.removeAsked)
        self._layout.insertWidget(self._layout.count() - 1, card)
        return card


def _ids(shown: Sequence[Entry]) -> set[int]:
    return {entry.candidate.id for entry in shown}
