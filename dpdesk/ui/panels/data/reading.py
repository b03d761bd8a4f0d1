"""How the file is read: detected values that can be changed, beside a live preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from dpdesk.app.describing import LinesAround, lines_around
from dpdesk.app.types import Reading
from dpdesk.core.messages import joined
from dpdesk.core.plan import SourceSpec
from dpdesk.core.row_conditions import read_query
from dpdesk.core.source_spec import (
    KEEP,
    MOST_SKIPPED,
    NULS,
    REPEATED,
    UNEVEN,
    applies,
    asks_database,
    source_format,
    without_ignored,
)
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.jobs.hub import failure, token_only
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.models.table import Index, guarded
from dpdesk.ui.panels.data.presenter import (
    DELIMITERS,
    ENCODINGS,
    Previewed,
    Setting,
    allowed_words,
    codes_text,
    decimal_words,
    delimiter_words,
    encoding_words,
    error_line,
    escape_words,
    header_words,
    number_columns,
    parse_codes,
    quote_words,
    read_preview,
    remedy_of,
    remedy_words,
)
from dpdesk.ui.panels.data.rows_card import RowsCard
from dpdesk.ui.panels.data.table import MissingDelegate
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, StepHeader, column
from dpdesk.ui.widgets.layouts import FlowBox, leave_wheel
from dpdesk.ui.widgets.turning import BesideBox, TurningSplitter
from dpdesk.ui.words.numbers import columns_words, grouped, rows_words, short_name, verbatim
from dpdesk.ui.words.spoken import in_window

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PreviewModel(ListModel):
    """``numbers`` are the places of the columns that stand right; set them before the table."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.numbers: frozenset[int] = frozenset()

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """As a list, but aligned by column."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() in self.numbers else _LEFT
        return super().data(index, role)

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings stand as their columns."""
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation is Qt.Orientation.Horizontal:
            return _RIGHT if section in self.numbers else _LEFT
        return super().headerData(section, orientation, role)


DETECT = 0


class ReadingForm(QFrame):
    """Fields for one :class:`SourceSpec`; ``edited()`` whenever it would be another one."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self._source = self._known = SourceSpec("")
        self._filling = False
        self._remedy: tuple[Setting, ...] = ()
        layout = QFormLayout(self)
        layout.setContentsMargins(SPACE.l, SPACE.l, SPACE.l, SPACE.l)
        layout.setVerticalSpacing(SPACE.s)
        layout.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._layout = layout
        self._build_table()
        self._build_choices()
        self._build_missing()
        self.rows = RowsCard()
        self.rows.edited.connect(self._on_rows)
        layout.addRow(self.rows)
        self._boxes = {
            "table": self.tables,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "decimal": self.decimal,
            "quote": self.quote,
            "escape": self.escape,
            "header": self.header,
            "skip": self.skip,
            "items": self.items,
            "empty_rows": self.empty_rows,
            "allow": self._allow_box,
        }

    def _build_table(self) -> None:
        """Which of several tables is read; only shown for files that may hold several."""
        self.tables = QComboBox()
        leave_wheel(self.tables)
        self.tables.setEditable(True)
        self.tables.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.tables.setMinimumContentsLength(24)
        self.tables.activated.connect(self._on_edited)
        editor = self.tables.lineEdit()
        assert editor is not None
        self.table = editor
        tip = self.tr("The name of the table of a database, or of the sheet")
        for widget in (self.tables, editor):
            widget.setToolTip(tip)
            widget.setAccessibleName(self.tr("Table or sheet"))
        editor.setPlaceholderText(self.tr("the only one, or the first sheet"))
        editor.editingFinished.connect(self._on_edited)
        label = QLabel(self.tr("Table or sheet"))
        label.setBuddy(self.tables)
        self._layout.addRow(label, self.tables)

    def offer_tables(self, problem: JobFailed) -> None:
        """Offer the tables that a problem lists, and go to their field."""
        names = problem.details.get("tables")
        if not isinstance(names, tuple) or not names:
            return
        text = self.table.text()
        self.tables.clear()
        self.tables.addItems([str(name) for name in names])
        self.table.setText(text)
        if self.isVisible():
            self.tables.setFocus(Qt.FocusReason.OtherFocusReason)

    def _build_choices(self) -> None:
        self.delimiter = self._combo(
            self.tr("De&limiter"),
            self.tr("What separates two values; type any other single character"),
            [(delimiter_words(mark), mark) for mark in DELIMITERS],
            editable=True,
        )
        self.encoding = self._combo(
            self.tr("Enc&oding"),
            self.tr("How characters are stored; change it if characters such as ä or é look wrong"),
            [(encoding_words(name), name) for name in ENCODINGS],
            editable=True,
        )
        self._build_items()
        self.decimal = self._combo(
            self.tr("&Decimal mark"),
            self.tr("What separates the decimals of a number"),
            [(decimal_words(mark), mark) for mark in (".", ",")],
        )
        self.quote = self._combo(
            self.tr("&Quotes"),
            self.tr("What encloses a value that contains the delimiter"),
            [(quote_words(mark), mark) for mark in ('"', "'", "")],
        )
        self.escape = self._combo(
            self.tr("Escape"),
            self.tr("What escapes a quote inside a quoted value"),
            [(escape_words(mark), mark) for mark in ("\\", "")],
        )
        self.header = self._combo(
            self.tr("Column &names"),
            self.tr("Whether the first line contains the names of the columns"),
            [(header_words(answer), answer) for answer in (True, False)],
        )
        self.skip = self._combo(
            self.tr("Lines above the table"),
            self.tr("How many lines of titles are above the table; type any other number"),
            [(str(count), str(count)) for count in range(4)],
            editable=True,
        )
        self._build_allowed()
        self.remedy = QPushButton()
        self.remedy.clicked.connect(self._on_remedy)
        self.remedy.hide()
        self._layout.addRow(self.remedy)

    def _build_items(self) -> None:
        """The items that become columns, for texts whose lines are lists.

        Above the fields that apply to other texts alone: while one types, nothing moves.
        """
        self.items = QLineEdit()
        self.items.setPlaceholderText(self.tr("only where each line is a list"))
        self.items.setToolTip(
            self.tr(
                "Where each line lists what one person or basket has: the items that become "
                "columns, separated by commas. They must be known without looking at the data if "
                "the release is to have noise"
            )
        )
        self.items.setAccessibleName(self.tr("Items"))
        self.items.textEdited.connect(self._on_edited)
        label = QLabel(self.tr("Ite&ms"))
        label.setBuddy(self.items)
        self._layout.addRow(label, self.items)

    def _build_allowed(self) -> None:
        """What is read all the same, and refused otherwise."""
        self._allow_box = QWidget()
        inner = column(self._allow_box, gap=SPACE.xs)
        tips = {
            UNEVEN: self.tr(
                "Fields missing at the end of a line are empty, and surplus ones are columns of "
                "their own; check the rows"
            ),
            REPEATED: self.tr(
                "Of columns with the same name, all but the first get a number appended"
            ),
            NULS: self.tr("Each NUL character is replaced by the sign for a lost character"),
        }
        self.allowed: dict[str, QCheckBox] = {}
        for kind, tip in tips.items():
            box = QCheckBox(allowed_words(kind))
            box.setToolTip(tip)
            box.toggled.connect(self._on_edited)
            inner.addWidget(box)
            self.allowed[kind] = box
        self._layout.addRow(self._allow_box)

    def _combo(
        self,
        label: str,
        tip: str,
        choices: Sequence[tuple[str, object]],
        *,
        editable: bool = False,
    ) -> QComboBox:
        box = QComboBox()
        leave_wheel(box)
        box.setEditable(editable)
        box.setToolTip(tip)
        box.setAccessibleName(label.replace("&", ""))
        box.setMinimumContentsLength(24)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.addItem(self.tr("detected"), None)
        for words, value in choices:
            box.addItem(words, value)
        editor = box.lineEdit()
        if editor is not None:
            editor.setToolTip(tip)
            editor.setAccessibleName(label.replace("&", ""))
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            editor.editingFinished.connect(self._on_edited)
        box.activated.connect(self._on_edited)
        text = QLabel(label)
        text.setBuddy(box)
        self._layout.addRow(text, box)
        return box

    def _build_missing(self) -> None:
        self.empty_rows = QCheckBox(self.tr("Keep rows without any value"))
        self.empty_rows.setToolTip(
            self.tr("Off: a row in which every field is empty is not a person and is left out")
        )
        self.empty_rows.toggled.connect(self._on_edited)
        self._layout.addRow(self.empty_rows)
        self.empty_missing = QCheckBox(self.tr("An empt&y field counts as missing"))
        self.empty_missing.setToolTip(
            self.tr("Off: an empty field is a value of its own, like any other")
        )
        self.empty_missing.toggled.connect(self._on_edited)
        self._layout.addRow(self.empty_missing)
        self.codes = QLineEdit()
        self.codes.setPlaceholderText(self.tr("for instance ?, NA, -99"))
        tip = self.tr("Texts that stand for a missing value, separated by commas")
        self.codes.setToolTip(tip)
        self.codes.setAccessibleName(self.tr("Other missing codes"))
        self.codes.textEdited.connect(self._on_edited)
        label = QLabel(self.tr("Other missin&g codes"))
        label.setBuddy(self.codes)
        self._layout.addRow(label, self.codes)
        self._candidates = FlowBox(gap=SPACE.xs)
        self._buttons: list[QPushButton] = []
        self._layout.addRow(self._candidates)

    # ---- what is in the form

    def set_source(self, source: SourceSpec) -> None:
        """Fill the form from a specification; silent."""
        self._filling = True
        self._source = source
        for box, value in (
            (self.delimiter, source.delimiter),
            (self.encoding, source.encoding),
            (self.decimal, source.decimal),
            (self.quote, source.quote),
            (self.escape, source.escape),
            (self.header, source.header),
            (self.skip, None if source.skip is None else str(source.skip)),
        ):
            self._select(box, value)
        self.remedy.hide()
        for kind, tick in self.allowed.items():
            tick.setChecked(kind in source.allow)
        self.empty_rows.setChecked(source.empty_rows == KEEP)
        self.items.setText(codes_text(source.items))
        self.empty_missing.setChecked("" in source.missing)
        self.codes.setText(codes_text(source.missing))
        if source.path != self._known.path:
            self.tables.clear()
        self.table.setText(source.table or "")
        self.rows.set_query(source.query, by_database=asks_database(source))
        self._layout.setRowVisible(self.rows, source.engine is None)
        self._show_applying(source_format(source))
        self._filling = False
        self._known = self.source()

    def _show_applying(self, file_format: str) -> None:
        """Show the fields of the keys that apply to a format, and no other."""
        for key, box in self._boxes.items():
            self._layout.setRowVisible(box, applies(key, file_format))
        for box in (self.empty_missing, self.codes, self._candidates):
            self._layout.setRowVisible(box, applies("missing", file_format))

    def source(self) -> SourceSpec:
        """The specification that the form says, with keys alone that apply to the source."""
        empty = ("",) if self.empty_missing.isChecked() else ()
        header = self.header.currentData()
        items = dict.fromkeys(item.strip() for item in parse_codes(self.items.text()))
        said = replace(
            self._source.with_items([item for item in items if item]),
            delimiter=_value(self.delimiter),
            encoding=_value(self.encoding),
            decimal=_value(self.decimal),
            quote=_value(self.quote),
            escape=_value(self.escape),
            header=header if isinstance(header, bool) else None,
            skip=_count(_value(self.skip)),
            empty_rows=self._said_of_empty_rows(),
            allow=tuple(kind for kind, box in self.allowed.items() if box.isChecked()),
            missing=(*empty, *parse_codes(self.codes.text())),
            table=self._said_of_table(),
            query=self.rows.query(),
        )
        return without_ignored(said)

    def show_detected(self, reading: Reading, columns: Sequence[str] | None = None) -> None:
        """Say in the untouched fields what was detected, and offer codes that look missing.

        ``columns`` are those of the source, if known, from which conditions choose.
        """
        words = {
            self.delimiter: delimiter_words(reading.delimiter),
            self.encoding: encoding_words(reading.encoding),
            self.decimal: decimal_words(reading.decimal),
            self.quote: quote_words(reading.quote),
            self.escape: escape_words(reading.escape),
            self.header: header_words(reading.header),
            self.skip: str(reading.skip),
        }
        self._filling = True
        for box, word in words.items():
            if _value(box) is None and box.currentIndex() == DETECT:
                known = self.tr("{what}, detected").format(what=word) if word else ""
                box.setItemText(DETECT, known or self.tr("detected"))
                editor = box.lineEdit()
                if editor is not None:
                    box.setEditText(box.itemText(DETECT))
                    editor.setCursorPosition(0)  # a name that is too long is read from its start
        self._show_applying(reading.format)
        self.rows.set_read(columns, reading.decimal)
        self._known = self.source()
        self._filling = False
        self._offer(reading.missing_candidates)

    def _said_of_table(self) -> str | None:
        """What was typed; a name from the plan keeps its blanks."""
        text = self.table.text()
        return text if text == self._source.table else text.strip() or None

    def _said_of_empty_rows(self) -> str | None:
        if self.empty_rows.isChecked():
            return KEEP
        return None if self._source.empty_rows == KEEP else self._source.empty_rows

    def offer_remedy(self, problem: JobFailed) -> None:
        """Offer the option that would read a file with a problem; none hides the button."""
        self._remedy = remedy_of(problem)
        self.remedy.setVisible(bool(self._remedy))
        if self._remedy:
            words = remedy_words(self._remedy)
            self.remedy.setText(verbatim(words))
            self.remedy.setToolTip(self.tr("Try this setting; nothing is changed in the file"))
            self.remedy.setAccessibleName(words)

    @Slot()
    def _on_remedy(self) -> None:
        boxes = {
            "skip": self.skip,
            "escape": self.escape,
            "quote": self.quote,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
        }
        self._filling = True
        for key, value in self._remedy:
            if key == "allow":
                for kind in value:
                    self.allowed[kind].setChecked(True)
                    self.allowed[kind].setFocus(Qt.FocusReason.OtherFocusReason)
            else:
                self._select(boxes[key], value)
                boxes[key].setFocus(Qt.FocusReason.OtherFocusReason)
        self._filling = False
        self.remedy.hide()
        self._on_edited()

    def _offer(self, candidates: Sequence[str]) -> None:
        known = parse_codes(self.codes.text())
        wanted = [code for code in candidates if code and code not in known][:8]
        if [button.property("code") for button in self._buttons] == wanted:
            return
        for old in self._buttons:
            old.hide()
            old.deleteLater()
        self._buttons = [self._candidate(code) for code in wanted]
        for button in self._buttons:
            self._candidates.add(button)
        self._candidates.setVisible(bool(wanted))
        self._candidates.updateGeometry()

    def _candidate(self, code: str) -> QPushButton:
        button = QPushButton(self.tr("“{code}” is missing").format(code=verbatim(code)))
        button.setProperty("code", code)
        button.setToolTip(self.tr("Count the text “{code}” as a missing value").format(code=code))
        button.setAccessibleName(button.toolTip())
        button.clicked.connect(self._on_candidate)
        return button

    def _select(self, box: QComboBox, value: object) -> None:
        box.setItemText(DETECT, self.tr("detected"))
        if value is None:
            box.setCurrentIndex(DETECT)
            return
        place = next((n for n in range(1, box.count()) if box.itemData(n) == value), -1)
        if place < 0:
            box.addItem(str(value), value)
            place = box.count() - 1
        box.setCurrentIndex(place)

    @Slot()
    def _on_edited(self) -> None:
        """Leaving a field is no edit."""
        now = self.source()
        if not self._filling and now != self._known:
            if now.table != self._known.table:
                self.rows.set_by_database(asks_database(now))
            self._known = self.source()
            self.edited.emit()

    @Slot()
    def _on_rows(self) -> None:
        """A condition that is not whole yet is an edit too: nothing may be read by it."""
        self._known = self.source()
        self.edited.emit()

    @Slot()
    def _on_candidate(self) -> None:
        sender = self.sender()
        if sender is not None:
            code = str(sender.property("code"))
            known = parse_codes(self.codes.text())
            self.codes.setText(codes_text((*known, code)))
            self.codes.setFocus(Qt.FocusReason.OtherFocusReason)
            self._on_edited()


def _value(box: QComboBox) -> str | None:
    """The chosen or typed value; None for "detected"."""
    text = box.currentText()
    place = box.findText(text, Qt.MatchFlag.MatchExactly)
    if place == DETECT or not text.strip(" "):
        return None if text != " " else " "
    value = box.itemData(place) if place > 0 else text
    return value if isinstance(value, str) else None


def _count(text: str | None) -> int | None:
    """A typed number of lines; None for what is none."""
    if text is None or not text.strip().isdecimal() or int(text) > MOST_SKIPPED:
        return None
    return int(text)


PREVIEW, LINES = "data.preview", "data.lines"
WAIT_MS = 150
_FIRST_NOTES = 6
_DETECTED = ("delimiter", "encoding", "decimal", "quote", "escape", "header", "skip")


class ReadingPage(QWidget):
    """Form, preview, problem and the lines around it.

    ``applied(SourceSpec, columns)`` when the file is to be read like this, ``left()`` when the user
    goes back.
    """

    applied = Signal(object, object)
    left = Signal()

    def __init__(self, hub: JobHub, theme: ThemeManager) -> None:
        super().__init__()
        self._hub, self._theme = hub, theme
        self._base = Path()
        self._began = SourceSpec("")
        self._problem: JobFailed | None = None
        self._previewed: Previewed | None = None
        self._fresh = True
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT_MS)
        self._wait.timeout.connect(self._ask)
        layout = column(self, gap=SPACE.m)
        self.header = StepHeader(1, "", "")
        layout.addWidget(self.header)
        self.band = MessageBand(theme)
        layout.addWidget(self._build_middle(), 1)
        layout.addWidget(self.band)  # below the fields, which are being clicked
        layout.addWidget(self._build_buttons())

    # ---- building

    def _build_middle(self) -> QWidget:
        self.form = ReadingForm()
        self.form.edited.connect(self._on_edited)
        self._preview_title = QLabel()
        self._preview_title.setWordWrap(True)
        set_look(self._preview_title, "strong")
        self._notes = QLabel()
        self._notes.setWordWrap(True)
        self._notes.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self._notes, "note")
        self._model, self._lines_model = PreviewModel(self), ListModel(parent=self)
        self.grid = DataGrid(self._theme, self.tr("The first rows as they would be read"))
        self.grid.setModel(self._model)
        self._delegate = MissingDelegate(self._theme, self.grid)
        self.grid.setItemDelegate(self._delegate)
        self._lines_title = QLabel()
        set_look(self._lines_title, "strong")
        self.lines = DataGrid(self._theme, self.tr("The lines of the file around the problem"))
        self.lines.setModel(self._lines_model)
        self.lines.verticalHeader().hide()
        self.lines.horizontalHeader().setStretchLastSection(True)
        self.lines.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._fit_lines)
        right = QWidget()
        inner = column(right, gap=SPACE.s)
        inner.setContentsMargins(SPACE.s, 0, 0, 0)
        for widget in (self._lines_title, self.lines, self._preview_title, self._notes):
            inner.addWidget(widget)
        inner.addWidget(self.grid, 1)
        inner.addStretch(0)
        return TurningSplitter("data-reading", (self.form, right), (0, 1))

    def _build_buttons(self) -> QWidget:
        self.back_button = QPushButton(self.tr("&Back"))
        self.back_button.setToolTip(self.tr("Leave the file as it was read before"))
        self.back_button.clicked.connect(self.left)
        self.reset_button = QPushButton(self.tr("Detec&t everything"))
        self.reset_button.setToolTip(self.tr("Forget what was set by hand and detect it again"))
        self.reset_button.clicked.connect(self._on_reset)
        self.again_button = QPushButton(self.tr("Loo&k again"))
        self.again_button.setToolTip(self.tr("Read the file again, after it was repaired"))
        self.again_button.clicked.connect(self._ask)
        self.apply_button = QPushButton(self.tr("Re&ad the file like this"))
        set_look(self.apply_button, "primary")
        self.apply_button.clicked.connect(self._on_apply)
        others = FlowBox()
        for button in (self.back_button, self.reset_button, self.again_button):
            others.add(button)
        return BesideBox(others, self.apply_button)

    # ---- what others tell

    def begin(self, source: SourceSpec, base: Path, problem: JobFailed | None) -> None:
        """Start with the way in which a file was (or was to be) read."""
        self._base, self._began, self._problem = base, source, problem
        self._previewed, self._fresh = None, True
        name = source.name
        self.header.set_title(self.tr("How is {name} to be read?").format(name=short_name(name)))
        self.form.set_source(source)
        self._show_lines(None)
        self.band.clear()
        if problem is not None:
            self._show_error(problem)
            self._ask_lines(problem, source, "")
        self._notes.clear()
        self._model.set_table((), ())
        self._ask()

    @property
    def previewed(self) -> Previewed | None:
        """The preview on show; None while it is on its way."""
        return self._previewed

    # ---- inside

    @Slot()
    def _on_edited(self) -> None:
        self._previewed = None
        self._wait.start()
        self._allow()

    @Slot()
    def _on_reset(self) -> None:
        plain = SourceSpec("")
        again = {name: getattr(plain, name) for name in _DETECTED}
        kept = self.form.source().query
        self.form.set_source(replace(self._began, missing=plain.missing, query=kept, **again))
        self._on_edited()

    @Slot()
    def _ask(self) -> None:
        self._preview_title.setText(self.tr("Reading the first rows…"))
        self._hub.latest(PREVIEW).query(
            self.tr("Reading the first rows"),
            partial(read_preview, self.form.source(), self._base),
            then=self._on_preview,
            failed=self._on_failed,
            quiet=True,
        )
        self._allow()

    def _on_preview(self, found: Previewed) -> None:
        self._previewed = found
        preview = found.preview
        reading = preview.reading
        self.form.show_detected(reading, self._columns_of_source(found))
        self._delegate.set_missing(reading.missing)
        width = len(preview.columns)
        self._model.numbers = number_columns(preview.rows, width, reading.decimal)
        self._model.set_table(preview.columns, preview.rows)
        self.grid.fit_columns()
        self.grid.setVisible(bool(width))
        self._preview_title.setText(self._preview_words(len(preview.rows), width))
        self._notes.setText(self._notes_words(reading.notes))
        self._notes.setVisible(bool(reading.notes))
        self._show_problem(found)
        self._allow()

    def _columns_of_source(self, found: Previewed) -> tuple[str, ...] | None:
        """The columns before the query, None where the preview has those that a query makes."""
        preview, query = found.preview, found.source.query
        if not preview.columns or asks_database(found.source):
            return None
        whole = query is None or read_query(query) is not None
        failed = preview.problem is not None and preview.problem.code == "source.query"
        return preview.columns if whole or failed else None

    def _notes_words(self, notes: Sequence[str]) -> str:
        words = in_window(joined(notes[:_FIRST_NOTES], "\n"))
        left = len(notes) - _FIRST_NOTES
        if left <= 0:
            return words
        more = self.tr("{count} more notes are shown when the file is open.")
        return f"{words}\n{more.format(count=grouped(left))}"

    def _preview_words(self, rows: int, columns: int) -> str:
        if not columns:
            return self.tr("There is no row to show.")
        title = self.tr("First rows, as they would be read: {rows}, {columns}")
        return title.format(rows=rows_words(rows), columns=columns_words(columns))

    def _show_problem(self, found: Previewed) -> None:
        """Show what stands in the way; what the whole file showed stays until something changes."""
        problem, fresh = found.preview.problem, self._fresh
        self._fresh = False
        if problem is not None:
            shown = failure(0, self.tr("Reading the first rows"), problem)
            self._show_error(shown)
            self._ask_lines(shown, found.source, found.preview.reading.encoding)
        elif self._problem is None:
            self.band.clear()
            self._show_lines(None)
        elif not fresh:
            text = self.tr("The first rows can be read like this. Read the file to check all.")
            self.band.show_message("info", text, dismissible=False)

    def _show_error(self, problem: JobFailed) -> None:
        self.form.offer_tables(problem)
        self.form.offer_remedy(problem)
        if problem.details.get("key") == "query":
            self.form.rows.fold.setChecked(True)
        text = problem.full
        self.band.show_message("fail", text, dismissible=False)

    def _ask_lines(self, problem: JobFailed, source: SourceSpec, encoding: str) -> None:
        line = error_line(problem)
        if line is None:
            self._show_lines(None)
            return
        read_as = encoding or source.encoding or "utf-8"
        self._hub.latest(LINES).query(
            self.tr("Reading lines"),
            token_only(partial(lines_around, source, self._base, line, read_as)),
            then=self._show_lines,
            failed=self._on_no_lines,
            quiet=True,
        )

    def _on_no_lines(self, outcome: JobFailed) -> None:
        self._show_lines(None)

    def _show_lines(self, found: LinesAround | None) -> None:
        shown = found is not None and any(text for _, text in found.lines)
        self.lines.setVisible(shown)
        self._lines_title.setVisible(shown)
        if found is None or not shown:
            self._hub.latest(LINES).cancel()
            return
        title = self.tr("The file around line {line}").format(line=grouped(found.wanted))
        self._lines_title.setText(title)
        rows = [
            (f"→ {grouped(number)}" if number == found.wanted else grouped(number), text)
            for number, text in found.lines
        ]
        self._lines_model.set_table((self.tr("Line"), self.tr("As it is in the file")), rows)
        self.lines.fit_columns()
        self._fit_lines()
        for number, (place, _) in enumerate(found.lines):
            if place == found.wanted:
                self.lines.selectRow(number)

    @Slot()
    def _fit_lines(self) -> None:
        """As high as the lines that are shown."""
        high = self._theme.theme.row * (self._lines_model.rowCount() + 1)
        self.lines.setFixedHeight(high + 2 * SPACE.xs)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._show_error(outcome)
        self._preview_title.setText(self.tr("The first rows could not be read."))

    def _allow(self) -> None:
        found = self._previewed
        ready = found is not None and found.preview.problem is None
        fault = self.form.rows.fault()
        self.apply_button.setEnabled(ready and not fault)
        reason = self.tr("Read the whole file in this way; it can be undone")
        if found is None:
            reason = self.tr("The first rows are still being read")
        elif not ready:
            reason = self.tr("The first rows show a problem; change the settings first")
        elif fault:
            reason = fault
        self.apply_button.setToolTip(reason)

    @Slot()
    def _on_apply(self) -> None:
        found = self._previewed
        if found is not None and self.apply_button.isEnabled():
            self.applied.emit(found.source, found.preview.columns)
