"""The table of columns with their roles, and the cards on what is done with one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app.types import Role
from dpdesk.core.messages import msg
from dpdesk.core.plain import number_text
from dpdesk.core.pseudonyms import (
    DOMAIN,
    GROUP,
    NUMBER,
    PERSON,
    RELEASE,
    TEXT,
    PseudonymSpec,
    is_key_name,
)
from dpdesk.core.source_spec import Coarsened
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import CellModel, Index
from dpdesk.ui.panels.attributes.presenter import (
    LETTERS,
    ROLES,
    Row,
    meaning,
    note,
    top_text,
    translate,
)
from dpdesk.ui.theme import SPACE, ThemeManager, Tokens, mix, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import leave_wheel
from dpdesk.ui.words.numbers import grouped, marked, typed_exact
from dpdesk.ui.words.settings import (
    label_facts,
    label_of,
    role_words,
    short_share,
    type_words,
    with_label,
)
from dpdesk.ui.words.spoken import said

NAME, ROLE, NOTE, TYPE, DISTINCT, UNIQUE, MISSING, TOP = range(8)
ROW_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_ROOT = QModelIndex()


class AttributesModel(CellModel):
    """One row per column of the data; the delegate draws the role as a chip."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Row, ...] = ()
        self._headings = (
            self.tr("Column"),
            self.tr("Role"),
            self.tr("Note"),
            self.tr("Type"),
            self.tr("Distinct"),
            self.tr("Unique"),
            self.tr("Missing"),
            self.tr("Most frequent"),
        )
        self._tips = (
            self.tr("Name of the column"),
            self.tr("What the column means for the protection; dotted: suggested, not confirmed"),
            self.tr("Why the role is suggested, what it does, or what is doubtful about it"),
            self.tr("The type that fits all its values"),
            self.tr("Number of distinct values"),
            self.tr("Share of the rows whose value no other row has"),
            self.tr("Share of the rows without a value"),
            self.tr("The most frequent values"),
        )

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is listed."""
        return self._rows

    def set_rows(self, rows: Sequence[Row]) -> None:
        """List these; resets only when other columns are listed."""
        new = tuple(rows)
        if [row.name for row in new] == [row.name for row in self._rows]:
            self._rows = new
            self.announce()
            return
        self.beginResetModel()
        self._rows = new
        self.endResetModel()

    def size(self) -> tuple[int, int]:
        """Columns of the data, and facts about each."""
        return len(self._rows), len(self._headings)

    def cell(self, index: Index, role: int) -> object:
        """Text, alignment, tooltip, and the row itself for the delegate."""
        row, column = self._rows[index.row()], index.column()
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in (DISTINCT, UNIQUE, MISSING) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return msg("{file}: {note}", file=self._headings[column], note=_spoken(row, column))
        return None

    def heading(self, section: int, role: int) -> object:
        """Headings with an explanation."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tips[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in (DISTINCT, UNIQUE, MISSING) else _LEFT
        return None


def _text(row: Row, column: int) -> str:
    if column == NAME:
        return f"△ {row.name}" if row.warning and row.role is not None else row.name
    if column == ROLE:
        return "" if row.shown is None else role_words(row.shown)
    if column == NOTE:
        return note(row)
    profile = row.profile
    if profile is None:
        return "…"
    texts = {
        TYPE: type_words(profile.type),
        DISTINCT: grouped(profile.distinct),
        UNIQUE: short_share(profile.unique_share),
        MISSING: short_share(profile.missing_share),
        TOP: top_text(profile),
    }
    return texts[column]


def _tip(row: Row, column: int) -> str:
    if column == ROLE and row.role is None and row.profile is not None:
        return said(row.profile.suggestion.reason)
    if column == NOTE and row.warning:
        return row.warning
    if column == NAME and row.profile is not None and row.profile.variable is not None:
        facts = label_facts(row.profile)
        return "\n".join(
            [
                _text(row, column),
                *(msg("{file}: {note}", file=name, note=text) for name, text in facts),
            ]
        )
    if column == TOP and row.profile is not None:
        return "\n".join(
            msg(
                "{file}: {note}",
                file=with_label(row.profile, value.value),
                note=grouped(value.rows),
            )
            for value in row.profile.top
        )
    return _text(row, column)


def _spoken(row: Row, column: int) -> str:
    text = _text(row, column)
    if column == NAME and label_of(row.profile):
        text = f"{text}, {label_of(row.profile)}"
    if column == ROLE and row.role is None and row.profile is not None:
        words = translate("AttributesPanel", "suggested {role}, not confirmed. {reason}")
        return words.format(role=text, reason=said(row.profile.suggestion.reason))
    return text.replace("△ ", translate("AttributesPanel", "Caution: "))


_PADDING = 8
NOTE_EMS = 36


def role_colour(tokens: Tokens, role: Role) -> str:
    """The colour of a role's chip; the word on it says the same."""
    colours = {
        Role.IDENTIFIER: tokens.series[3],
        Role.QUASI_IDENTIFIER: tokens.series[0],
        Role.SENSITIVE: tokens.series[1],
        Role.INSENSITIVE: tokens.reference,
        Role.WEIGHT: tokens.series[2],
        Role.CLUSTER: tokens.series[2],
    }
    return colours[role]


class ChipDelegate(QStyledItemDelegate):
    """Draws a role as a chip: filled when it was given, dotted with a question mark if not."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """The ground of the cell as usual, the chip above."""
        row = index.data(ROW_ROLE)
        blank = QStyleOptionViewItem(option)
        self.initStyleOption(blank, index)
        blank.text = ""
        style = option.widget.style() if option.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, blank, painter, option.widget)
        if isinstance(row, Row) and row.shown is not None:
            self._paint_chip(painter, QRectF(option.rect), row.shown, given=row.role is not None)

    def _paint_chip(self, painter: QPainter, cell: QRectF, role: Role, *, given: bool) -> None:
        theme = self._theme.theme
        tokens, colour = theme.tokens, role_colour(theme.tokens, role)
        font = theme.font("note", bold=given)
        metrics = QFontMetrics(font)
        text = chip_text(role, given=given)
        wide = min(metrics.horizontalAdvance(text) + 2 * _PADDING, round(cell.width()) - 8)
        high = min(metrics.height() + 4, round(cell.height()) - 4)
        chip = QRectF(cell.left() + 4.5, cell.center().y() - high / 2 + 0.5, wide, high)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(colour), 1.0 if given else 1.4)
        pen.setStyle(Qt.PenStyle.SolidLine if given else Qt.PenStyle.DotLine)
        painter.setPen(pen)
        ground = QColor(mix(tokens.surface, colour, 0.22)) if given else Qt.GlobalColor.transparent
        painter.setBrush(ground)
        painter.drawRoundedRect(chip, high / 2, high / 2)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text if given else tokens.muted))
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide - _PADDING)
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Room for the widest chip."""
        return QSize(self.widest(), self._theme.theme.row)

    def widest(self) -> int:
        """Width of the widest chip with its surroundings."""
        font: QFont = self._theme.theme.font("note", bold=True)
        metrics = QFontMetrics(font)
        texts = (metrics.horizontalAdvance(chip_text(role, given=False)) for role in ROLES)
        return max(texts) + 2 * _PADDING + 2 * SPACE.s


def chip_text(role: Role, *, given: bool) -> str:
    """The words on a chip; a suggestion asks."""
    return role_words(role) if given else f"{role_words(role)}?"


class AttributeGrid(DataGrid):
    """Rows are chosen whole, also several.

    ``roleAsked(Role)`` for the chosen rows, ``cycleAsked()`` when Space asks for the next role,
    ``rowsChosen()`` when the choice changes.
    """

    roleAsked = Signal(object)
    cycleAsked = Signal()
    rowsChosen = Signal()
    least_ems = 36

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__(theme, name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.verticalHeader().hide()
        self.chips = ChipDelegate(theme, self)
        self.setItemDelegateForColumn(ROLE, self.chips)
        self._menu: QMenu | None = None

    def selectAll(self) -> None:
        """Choose all rows: there are few."""
        QTableView.selectAll(self)

    def fit_columns(self) -> None:
        """As wide as their texts; the role as wide as its widest chip."""
        super().fit_columns()
        if self.model() is not None and hasattr(self, "chips"):
            self.setColumnWidth(ROLE, self.chips.widest())
            self.setColumnWidth(NOTE, self._theme.theme.ems(NOTE_EMS))

    def chosen(self) -> tuple[int, ...]:
        """Numbers of the chosen rows, ascending."""
        model: QItemSelectionModel | None = self.selectionModel()
        if model is None:
            return ()
        return tuple(sorted(index.row() for index in model.selectedRows()))

    def selectionChanged(self, selected: object, deselected: object) -> None:
        """Tell."""
        super().selectionChanged(selected, deselected)  # type: ignore[arg-type]
        self.rowsChosen.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters and digits set a role, Space goes to the next one."""
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.ShiftModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        key = event.text().upper()
        if plain and event.key() == Qt.Key.Key_Space:
            self.cycleAsked.emit()
        elif plain and key in LETTERS:
            self.roleAsked.emit(LETTERS[key])
        elif plain and len(key) == 1 and key in "123456":
            self.roleAsked.emit(ROLES[int(key) - 1])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the roles for the chosen rows."""
        self.role_menu().popup(event.globalPos())

    def role_menu(self) -> QMenu:
        """The menu of roles."""
        if self._menu is None:
            self._menu = QMenu(self)
            self._menu.setToolTipsVisible(True)
            for letter, role in LETTERS.items():
                text = translate("AttributesPanel", "{role}\t{letter}")
                action = QAction(text.format(role=role_words(role), letter=letter), self._menu)
                action.setData(role.value)
                action.setToolTip(meaning(role))
                self._menu.addAction(action)
            self._menu.triggered.connect(self._on_menu)
        return self._menu

    @Slot(QAction)
    def _on_menu(self, action: QAction) -> None:
        self.roleAsked.emit(Role(str(action.data())))

    def choose_rows(self, first: int) -> None:
        """Choose one row, whatever keys are held: with Ctrl, views would take a choice back."""
        model, chosen = self.model(), self.selectionModel()
        if model is not None and 0 <= first < model.rowCount():
            flags = QItemSelectionModel.SelectionFlag
            index: Index = model.index(first, 0)
            chosen.setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)


class CoarseningCard(QFrame):
    """``changed(Coarsened | None)`` for the shown ``column``, when the button asks for it."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self.column = ""
        self._given: Coarsened | None = None
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        title = QLabel(self.tr("Cut and round its numbers first"))
        set_look(title, "strong")
        layout.addWidget(title)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setVerticalSpacing(SPACE.xs)
        layout.addLayout(form)
        self.bottom = self._line(
            form, self.tr("Lower end"), self.tr("Smaller numbers become this one")
        )
        self.top = self._line(form, self.tr("Upper end"), self.tr("Larger numbers become this one"))
        self.step = self._line(
            form, self.tr("Round to"), self.tr("To the nearest multiple of this; halves go up")
        )
        self._note = QLabel()
        self._note.setWordWrap(True)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        layout.addWidget(self._note)
        self.button = QPushButton(self.tr("Read the data like this"))
        self.button.setToolTip(
            self.tr(
                "The data are read once more; one undo takes it back, and 90 means 90 and above"
            )
        )
        self.button.clicked.connect(self._on_button)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_column(self, name: str, numbers: Coarsened | None) -> None:
        """Show what a column has; an empty name hides the card. What is being typed stays."""
        self.setVisible(bool(name))
        if name == self.column and numbers == self._given:
            return
        self.column, self._given = name, numbers
        shown = numbers or Coarsened()
        for line, number in (
            (self.bottom, shown.bottom),
            (self.top, shown.top),
            (self.step, shown.step),
        ):
            line.setText("" if number is None else marked(number_text(number)))
        self._refresh()

    @property
    def problem(self) -> str:
        """Why the fields cannot be taken; empty when they can."""
        found = [self._number(line) for line in (self.bottom, self.top, self.step)]
        if any(isinstance(each, str) for each in found):
            return self.tr("A field contains no number, or one that can be read in two ways.")
        bottom, top, step = found
        if isinstance(step, Fraction) and step <= 0:
            return self.tr("The numbers can only be rounded to multiples of one above 0.")
        if isinstance(bottom, Fraction) and isinstance(top, Fraction) and bottom >= top:
            return self.tr("The lower end must be below the upper end.")
        return ""

    def _numbers(self) -> Coarsened | None:
        """What the fields say, where :attr:`problem` is empty."""
        found = [typed_exact(line.text()) for line in (self.bottom, self.top, self.step)]
        return None if found == [None] * 3 else Coarsened(*found)

    @staticmethod
    def _number(line: QLineEdit) -> Fraction | str | None:
        text = line.text().strip()
        number = typed_exact(text) if text else None
        return (text or None) if number is None else number

    def _line(self, form: QFormLayout, words: str, tip: str) -> QLineEdit:
        line, label = QLineEdit(), QLabel(words)
        line.setToolTip(tip)
        line.setAccessibleName(words)
        line.setPlaceholderText(self.tr("as it is"))
        line.textEdited.connect(self._refresh)
        line.returnPressed.connect(self._on_button)
        label.setBuddy(line)
        form.addRow(label, line)
        return line

    @Slot()
    def _refresh(self) -> None:
        problem = self.problem
        self._note.setText(f"✕ {problem}" if problem else "")
        self._note.setVisible(bool(problem))
        set_look(self._note, "fail" if problem else "note")
        self.button.setEnabled(not problem and self._numbers() != self._given)

    @Slot()
    def _on_button(self) -> None:
        if self.column and self.button.isEnabled():
            self.changed.emit(self._numbers())


class PseudonymCard(QFrame):
    """``changed(PseudonymSpec | None)`` for the shown ``column``; ``keyAsked(str)`` makes a key."""

    changed = Signal(object)
    keyAsked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self.column = ""
        self._spec: PseudonymSpec | None = None
        self._keys: tuple[str, ...] = ()
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        self.keep = QCheckBox(self.tr("&Keep it as a pseudonym, for linkage"))
        self.keep.setToolTip(
            self.tr("Release a keyed text in its place, the same wherever the identifier is")
        )
        self.keep.toggled.connect(self._on_keep)
        layout.addWidget(self.keep)
        self._rest = QWidget()
        self._build_rest(column(self._rest, gap=SPACE.xs))
        layout.addWidget(self._rest)
        self.hide()

    def _build_rest(self, layout: QVBoxLayout) -> None:
        self.key = self._combo(
            layout,
            self.tr("Ke&y"),
            self.tr("Keys are kept on this computer, never in a plan, project or release"),
        )
        self.key.currentIndexChanged.connect(self._on_edited)
        self._new = QWidget()
        self._build_new(column(self._new, gap=SPACE.xs))
        layout.addWidget(self._new)
        self._build_meaning(layout)
        self._problem, self._allows = QLabel(), QLabel()
        set_look(self._problem, "fail")
        set_look(self._allows, "note")
        for label in (self._problem, self._allows):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)

    def _build_new(self, layout: QVBoxLayout) -> None:
        self.name = QLineEdit()
        self._label(layout, self.tr("Name of the ne&w key"), self.name)
        self.name.setToolTip(self.tr("What plans will call the key, such as panel 2026"))
        self.name.textChanged.connect(self._on_name)
        self.name.returnPressed.connect(self._on_make)
        self.make = QPushButton(self.tr("Make the key"))
        self.make.setToolTip(self.tr("Make a random key in a private file on this computer"))
        self.make.clicked.connect(self._on_make)
        layout.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)

    def _build_meaning(self, layout: QVBoxLayout) -> None:
        self.scope = self._combo(
            layout, self.tr("&Joins"), self.tr("Who can find rows of one person in two releases")
        )
        self.scope.addItem(self.tr("only rows of this release"), RELEASE)
        self.scope.addItem(self.tr("all releases with this key and domain"), DOMAIN)
        self.scope.currentIndexChanged.connect(self._on_edited)
        self.domain = QLineEdit()
        self._label(layout, self.tr("Linkage &domain"), self.domain)
        self.domain.setToolTip(
            self.tr("Columns with the same domain have the same pseudonyms for one identifier")
        )
        self.domain.editingFinished.connect(self._on_edited)
        self.of = self._combo(
            layout,
            self.tr("&One identifier stands for"),
            self.tr(
                "Groups of rows that are alike must contain k different persons, but not k "
                "different households"
            ),
        )
        self.of.addItem(self.tr("a person"), PERSON)
        self.of.addItem(self.tr("a group, such as a household"), GROUP)
        self.of.currentIndexChanged.connect(self._on_edited)
        self.values = self._combo(
            layout,
            self.tr("Co&mpare as"),
            self.tr("As whole numbers, 007 and 7 are the same identifier"),
        )
        self.values.addItem(self.tr("texts: 007 and 7 are different"), TEXT)
        self.values.addItem(self.tr("whole numbers: 007 and 7 are the same"), NUMBER)
        self.values.currentIndexChanged.connect(self._on_edited)

    @property
    def problem(self) -> str:
        """What is lacking before the column can be kept; empty when nothing is."""
        return self._problem.text()

    @property
    def allows(self) -> str:
        """What the settings let others do."""
        return self._allows.text()

    def show_column(self, name: str, spec: PseudonymSpec | None) -> None:
        """Show the card for an identifier; an empty name hides it."""
        same = name == self.column
        self.setVisible(bool(name))
        if same and spec == self._spec:
            return
        self.column, self._spec = name, spec
        if same and spec is None and self.keep.isChecked() and not self._read():
            return  # being filled in
        with QSignalBlocker(self.keep):
            self.keep.setChecked(spec is not None)
        self._put(spec or PseudonymSpec(""))
        self._refresh()

    def show_keys(self, names: Sequence[str], chosen: str = "") -> None:
        """Offer these keys; ``chosen`` was just made."""
        self._keys = tuple(names)
        self._fill_keys(chosen or str(self.key.currentData() or ""))
        self._on_edited()

    def show_problem(self, sentence: str) -> None:
        """Say why a key was not made."""
        self._problem.setText(f"✕ {sentence}")
        self._problem.show()

    def _fill_keys(self, chosen: str) -> None:
        with QSignalBlocker(self.key):
            self.key.clear()
            known = {each.casefold() for each in self._keys}
            for name in self._keys:
                self.key.addItem(name, name)
            if chosen and chosen.casefold() not in known:
                text = self.tr("{name} (not on this computer)")
                self.key.addItem(text.format(name=chosen), chosen)
            self.key.addItem(self.tr("a new key…"), "")
            place = self.key.findData(chosen, flags=Qt.MatchFlag.MatchFixedString)
            self.key.setCurrentIndex(max(0, place) if chosen else 0)

    def _put(self, spec: PseudonymSpec) -> None:
        self._fill_keys(spec.key)
        for box, value in ((self.scope, spec.scope), (self.of, spec.of)):
            with QSignalBlocker(box):
                box.setCurrentIndex(box.findData(value))
        with QSignalBlocker(self.values):
            self.values.setCurrentIndex(self.values.findData(spec.values))
        self.domain.setText(spec.domain)
        self.domain.setPlaceholderText(self.column)

    def _read(self) -> PseudonymSpec | None:
        """What the fields say; None while something is lacking."""
        key, domain = str(self.key.currentData() or ""), self.domain.text().strip()
        scope = str(self.scope.currentData())
        if not key or (scope == DOMAIN and not domain):
            return None
        return replace(
            self._spec or PseudonymSpec(key),
            key=key,
            scope=scope,
            domain=domain,
            of=str(self.of.currentData()),
            values=str(self.values.currentData()),
        )

    def _refresh(self) -> None:
        self._rest.setVisible(self.keep.isChecked())
        self.make.setEnabled(is_key_name(self.name.text().strip()))
        new, problem = not self.key.currentData(), ""
        self._new.setVisible(new)
        if new and not self._keys:
            problem = self.tr("✕ There is no key on this computer yet: enter a name and make one.")
        elif new:
            problem = self.tr("✕ Name the new key, and make it.")
        elif self._read() is None:
            problem = self.tr("✕ Name the linkage domain that the releases are to share.")
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self._allows.setText(self._words())

    def _words(self) -> str:
        if self.scope.currentData() == DOMAIN:
            return self.tr(
                "Anyone who has two releases with this domain can join them row by row, and "
                "what both reveal about a person together is protected by neither. Anyone who "
                "has the key can put names to the rows."
            )
        return self.tr(
            "Anyone can see which rows of this release belong together; other releases have "
            "other pseudonyms. Anyone who has the key can put names to the rows."
        )

    @Slot(bool)
    def _on_keep(self, on: bool) -> None:
        self._refresh()
        if not on:
            self._spec = None
            self.changed.emit(None)
        else:
            self._on_edited()

    @Slot()
    def _on_edited(self) -> None:
        self._refresh()
        found = self._read() if self.keep.isChecked() and self.column else None
        if found is not None and found != self._spec:
            self._spec = found
            self.changed.emit(found)

    @Slot()
    def _on_name(self) -> None:
        self.make.setEnabled(is_key_name(self.name.text().strip()))

    @Slot()
    def _on_make(self) -> None:
        name = self.name.text().strip()
        if is_key_name(name):
            self.name.clear()
            self.keyAsked.emit(name)

    def _combo(self, layout: QVBoxLayout, words: str, tip: str) -> QComboBox:
        box = QComboBox()
        box.setToolTip(tip)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        leave_wheel(box)
        self._label(layout, words, box)
        return box

    def _label(self, layout: QVBoxLayout, words: str, field: QWidget) -> None:
        label = QLabel(words)
        label.setBuddy(field)
        field.setAccessibleName(words.replace("&", ""))
        layout.addWidget(label)
        layout.addWidget(field)
