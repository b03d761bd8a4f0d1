"""The form that says how a text file is written; an untouched field stays detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from dpdesk.app.types import Reading
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_options import applies, asks_database, source_format, without_ignored
from dpdesk.core.source_spec import KEEP, MOST_SKIPPED, NULS, REPEATED, UNEVEN
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.panels.data.presenter import (
    DELIMITERS,
    ENCODINGS,
    Setting,
    allowed_words,
    codes_text,
    decimal_words,
    delimiter_words,
    encoding_words,
    escape_words,
    header_words,
    parse_codes,
    quote_words,
    remedy_of,
    remedy_words,
)
from dpdesk.ui.panels.data.rows_card import RowsCard
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wheel import leave_wheel

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
            self.tr("What stands between two values; type any other single character"),
            [(delimiter_words(mark), mark) for mark in DELIMITERS],
            editable=True,
        )
        self.encoding = self._combo(
            self.tr("Enc&oding"),
            self.tr("How letters are stored; change it when letters such as ä or é look wrong"),
            [(encoding_words(name), name) for name in ENCODINGS],
            editable=True,
        )
        self.decimal = self._combo(
            self.tr("&Decimal mark"),
            self.tr("What stands before the decimals of a number"),
            [(decimal_words(mark), mark) for mark in (".", ",")],
        )
        self.quote = self._combo(
            self.tr("&Quotes"),
            self.tr("What encloses a value that holds the delimiter"),
            [(quote_words(mark), mark) for mark in ('"', "'", "")],
        )
        self.escape = self._combo(
            self.tr("Escape"),
            self.tr("What protects a quote inside a value in quotes"),
            [(escape_words(mark), mark) for mark in ("\\", "")],
        )
        self.header = self._combo(
            self.tr("Column &names"),
            self.tr("Whether the first line holds the names of the columns"),
            [(header_words(answer), answer) for answer in (True, False)],
        )
        self.skip = self._combo(
            self.tr("Lines above the table"),
            self.tr("How many lines of titles stand above the table; type any other number"),
            [(str(count), str(count)) for count in range(4)],
            editable=True,
        )
        self._build_allowed()
        self.remedy = QPushButton()
        self.remedy.clicked.connect(self._on_remedy)
        self.remedy.hide()
        self._layout.addRow(self.remedy)

    def _build_allowed(self) -> None:
        """What is read all the same, and refused otherwise."""
        self._allow_box = QWidget()
        inner = column(self._allow_box, gap=SPACE.xs)
        tips = {
            UNEVEN: self.tr(
                "Fields missing at the end of a line are empty, and surplus ones are columns of "
                "their own; check the rows"
            ),
            REPEATED: self.tr("Each column but the first of one name gets a number behind it"),
            NULS: self.tr("Each NUL character stands as the sign of a letter that was lost"),
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
            self.tr("Off: a row in which every field is empty is no person and is left out")
        )
        self.empty_rows.toggled.connect(self._on_edited)
        self._layout.addRow(self.empty_rows)
        self.empty_missing = QCheckBox(self.tr("An empt&y field is missing"))
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
        self.empty_missing.setChecked("" in source.missing)
        self.codes.setText(codes_text(source.missing))
        if source.path != self._known.path:
            self.tables.clear()
        self.table.setText(source.table or "")
        self.rows.set_query(source.query, by_database=asks_database(source))
        self._show_applying(source_format(source))
        self._filling = False
        self._known = self.source()

    def _show_applying(self, file_format: str) -> None:
        """Show the fields of the keys that apply to a format, and no other."""
        for key, box in self._boxes.items():
            self._layout.setRowVisible(box, applies(key, file_format))

    def source(self) -> SourceSpec:
        """The specification that the form says, with keys alone that apply to the source."""
        empty = ("",) if self.empty_missing.isChecked() else ()
        header = self.header.currentData()
        said = replace(
            self._source,
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
                if box.isEditable():
                    box.setEditText(box.itemText(DETECT))
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
            self.remedy.setText(words.replace("&", "&&"))
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
        button = QPushButton(self.tr("“{code}” is missing").format(code=code.replace("&", "&&")))
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
