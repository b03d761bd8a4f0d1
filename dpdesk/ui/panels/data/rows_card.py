"""Which rows are kept: conditions in lines, the sentence and the query that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from dpdesk.core.row_conditions import (
    BARE,
    LISTS,
    MOST_DIGITS,
    NUMBERS,
    Comparison,
    Condition,
    plain_number,
    query_of,
    read_query,
)
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox, leave_wheel
from dpdesk.ui.words.numbers import grouped, short_name

translate = QCoreApplication.translate
_VALUE = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|\Z)')


def comparison_words(comparison: Comparison) -> str:
    """What a list of comparisons offers."""
    words = {
        Comparison.IS: translate("DataPanel", "is"),
        Comparison.IS_NOT: translate("DataPanel", "is not"),
        Comparison.BEGINS: translate("DataPanel", "begins with"),
        Comparison.CONTAINS: translate("DataPanel", "contains"),
        Comparison.MISSING: translate("DataPanel", "is missing"),
        Comparison.PRESENT: translate("DataPanel", "is not missing"),
        Comparison.EQUALS: translate("DataPanel", "is the number"),
        Comparison.DIFFERS: translate("DataPanel", "is a number other than"),
        Comparison.LEAST: translate("DataPanel", "is at least"),
        Comparison.MOST: translate("DataPanel", "is at most"),
        Comparison.ABOVE: translate("DataPanel", "is more than"),
        Comparison.BELOW: translate("DataPanel", "is less than"),
    }
    return words[comparison]


def example_words(comparison: Comparison) -> str:
    """What an empty field for the value says."""
    if comparison in LISTS:
        return translate("DataPanel", "a value, or several with commas")
    if comparison in NUMBERS:
        return translate("DataPanel", "a number")
    return translate("DataPanel", "a text")


def parse_values(text: str) -> tuple[str, ...]:
    """Values from a line, separated by commas.

    One that holds a comma, begins with a quote, is empty, or begins or ends with a blank stands in
    double quotes.
    """
    found: list[str] = []
    place = 0
    while (part := _VALUE.match(text, place)) is not None:
        value = part[2].strip() if part[1] is None else part[1].replace('""', '"')
        if value or part[1] is not None:
            found.append(value)
        place = part.end()
        if part[3] == "":
            break
    return tuple(dict.fromkeys(found))


def values_text(values: Sequence[str]) -> str:
    """The line from which :func:`parse_values` reads these values."""
    return ", ".join(_quoted(value) for value in values)


def _quoted(value: str) -> str:
    if value and value == value.strip() and "," not in value and not value.startswith('"'):
        return value
    return '"' + value.replace('"', '""') + '"'


def condition_of(
    column: str, comparison: Comparison, text: str, decimal: str
) -> tuple[Condition | None, str]:
    """What a line of the form says, or None and one sentence on what it needs."""
    shown = short_name(column)
    if not column:
        return None, translate("DataPanel", "Choose the column of the condition.")
    if comparison in BARE:
        return Condition(column, comparison), ""
    if comparison in NUMBERS:
        number = plain_number(text, decimal)
        if number is not None:
            return Condition(column, comparison, (number,)), ""
        sentence = translate(
            "DataPanel",
            "{column} is compared with a number: write digits, at most {most}, and “{mark}” before "
            "decimals, as the file does.",
        )
        return None, sentence.format(column=shown, most=MOST_DIGITS, mark=decimal)
    values = parse_values(text) if comparison in LISTS else (text,) if text else ()
    if values:
        return Condition(column, comparison, values), ""
    sentence = translate("DataPanel", "Write what {column} is compared with.")
    return None, sentence.format(column=shown)


def value_text(condition: Condition, decimal: str) -> str:
    """The text from which :func:`condition_of` makes a condition again."""
    if condition.comparison in LISTS:
        return values_text(condition.values)
    text = "".join(condition.values)
    return text.replace(".", decimal) if condition.comparison in NUMBERS else text


def query_sentence(query: str | None, decimal: str) -> str:
    """Which rows a query keeps, in one sentence; empty without a query."""
    if not query:
        return ""
    found = read_query(query)
    if found is None:
        return translate("DataPanel", "Only the rows of a query in SQL.")
    return conditions_sentence(found[0], decimal)


def conditions_sentence(conditions: Sequence[Condition], decimal: str) -> str:
    """Conditions as one sentence."""
    if not conditions:
        return translate("DataPanel", "All rows.")
    both = translate("DataPanel", "{first} and {second}")
    said = _phrase(conditions[0], decimal)
    for condition in conditions[1:]:
        said = both.format(first=said, second=_phrase(condition, decimal))
    return translate("DataPanel", "Only rows where {conditions}.").format(conditions=said)


def _phrase(condition: Condition, decimal: str) -> str:
    name, words = short_name(condition.column), comparison_words(condition.comparison)
    if condition.comparison in BARE:
        return f"{name} {words}"
    if condition.comparison in NUMBERS:
        return f"{name} {words} {value_text(condition, decimal)}"
    shown = [f"“{short_name(value)}”" for value in condition.values]
    either = translate("DataPanel", "{first} or {second}")
    said = shown[0]
    for value in shown[1:]:
        said = either.format(first=said, second=value)
    return f"{name} {words} {said}"


_LINES_OF_SQL = 5


class ConditionLine(QWidget):
    """A column, a comparison and a value; ``edited()``, ``removeAsked(self)``."""

    edited = Signal()
    removeAsked = Signal(object)

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.column, self.comparison = QComboBox(), QComboBox()
        for box in (self.column, self.comparison):
            leave_wheel(box)
            box.setMinimumContentsLength(10)
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
            box.activated.connect(self._on_chosen)
        for one in Comparison:
            self.comparison.addItem(comparison_words(one), one.value)
        self.value = QLineEdit()
        self.value.textEdited.connect(self.edited)
        self.remove = QPushButton(self.tr("Remove"))
        set_look(self.remove, "quiet")
        self.remove.clicked.connect(self._on_remove)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE.xs)
        layout.addWidget(self.column, 0, 0)
        layout.addWidget(self.comparison, 0, 1)
        layout.addWidget(self.value, 1, 0)
        layout.addWidget(self.remove, 1, 1)
        layout.setColumnStretch(0, 1)
        self.set_columns(columns)
        self._on_comparison()

    def set_number(self, number: int) -> None:
        """Which of the conditions this is, from 1 on, in its names."""
        shown = grouped(number)
        names = (
            (self.column, self.tr("Column of condition {n}"), self.tr("The column to look at")),
            (
                self.comparison,
                self.tr("Comparison of condition {n}"),
                self.tr(
                    "“is” compares texts character by character; “is at least” and the like "
                    "compare numbers"
                ),
            ),
            (
                self.value,
                self.tr("Value of condition {n}"),
                self.tr(
                    'The value to compare with; a value that contains a comma goes in quotes (")'
                ),
            ),
            (self.remove, self.tr("Remove condition {n}"), self.tr("Drop this condition")),
        )
        for widget, name, tip in names:
            widget.setAccessibleName(name.format(n=shown))
            widget.setToolTip(tip)

    def set_columns(self, columns: Sequence[str]) -> None:
        """Offer these columns; the chosen one stays, even when it is not among them."""
        chosen = self.column.currentText()
        offered = [*columns, *([chosen] if chosen and chosen not in columns else ())]
        self.column.clear()
        self.column.addItems(offered)
        self.column.setCurrentIndex(offered.index(chosen) if chosen else 0 if offered else -1)

    def fill(self, condition: Condition, decimal: str) -> None:
        """Show a condition; silent."""
        if self.column.findText(condition.column, Qt.MatchFlag.MatchExactly) < 0:
            self.column.addItem(condition.column)
        place = self.column.findText(condition.column, Qt.MatchFlag.MatchExactly)
        self.column.setCurrentIndex(place)
        self.comparison.setCurrentIndex(list(Comparison).index(condition.comparison))
        self.value.setText(value_text(condition, decimal))
        self._on_comparison()

    def said(self, decimal: str) -> tuple[Condition | None, str]:
        """The condition, or None and what it needs."""
        return condition_of(
            self.column.currentText(), self._comparison(), self.value.text(), decimal
        )

    def _comparison(self) -> Comparison:
        return Comparison(str(self.comparison.currentData()))

    def _on_comparison(self) -> None:
        comparison = self._comparison()
        self.value.setVisible(comparison not in BARE)
        self.value.setPlaceholderText(example_words(comparison))

    @Slot()
    def _on_chosen(self) -> None:
        self._on_comparison()
        self.edited.emit()

    @Slot()
    def _on_remove(self) -> None:
        self.removeAsked.emit(self)


class RowsCard(QWidget):
    """All rows, those that meet conditions, or those of a query; ``edited()`` when it is another.

    A query that conditions cannot express stands as SQL, and stays as it is until it is edited.
    """

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._given: str | None = None
        self._decimal = "."
        self._columns: tuple[str, ...] = ()
        self._filling = False
        self.lines: list[ConditionLine] = []
        layout = column(self, gap=SPACE.s)
        self.fold = QToolButton()
        self.fold.setText(self.tr("Only these rows"))
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.setCheckable(True)
        say_expanded(self.fold, expanded=False)
        set_look(self.fold, "choice")
        self.fold.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.fold.setAccessibleName(self.fold.text())
        self.fold.setToolTip(self.tr("Show or hide the conditions that choose the rows"))
        self.fold.toggled.connect(self._on_fold)
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        layout.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.sentence)
        self._body = QWidget()
        self._build_body()
        layout.addWidget(self._body)
        self._on_fold(False)

    def _build_body(self) -> None:
        layout = column(self._body, gap=SPACE.s)
        self._stack = column(gap=SPACE.m)
        layout.addLayout(self._stack)
        self.add_button = QPushButton(self.tr("Add a condition"))
        self.add_button.setToolTip(self.tr("Only rows that meet all conditions are kept"))
        self.add_button.clicked.connect(self._on_add)
        self.all_button = QPushButton(self.tr("Keep all rows"))
        self.all_button.setToolTip(self.tr("Drop all conditions, or the query"))
        self.all_button.clicked.connect(self._on_all)
        buttons = FlowBox()
        for button in (self.add_button, self.all_button):
            buttons.add(button)
        layout.addWidget(buttons)
        self._note = QLabel(
            self.tr(
                "A missing value meets only the condition “is missing”; a value that is not a "
                "number meets no comparison of numbers."
            )
        )
        self._note.setWordWrap(True)
        set_look(self._note, "note")
        layout.addWidget(self._note)
        self.as_sql = QCheckBox(self.tr("Write the query in SQL"))
        self.as_sql.toggled.connect(self._on_as_sql)
        layout.addWidget(self.as_sql)
        self.sql = QPlainTextEdit()
        self.sql.setTabChangesFocus(True)
        self.sql.setPlaceholderText("SELECT * FROM data WHERE sex = 'm'")
        self.sql.setAccessibleName(self.tr("Query in SQL"))
        self.sql.setToolTip(
            self.tr("One SELECT over the table “data”; values are texts, a missing value is NULL")
        )
        self.sql.textChanged.connect(self._on_sql)
        layout.addWidget(self.sql)
        self._fit_sql()

    def _fit_sql(self) -> None:
        line = self.sql.fontMetrics().lineSpacing()
        self.sql.setFixedHeight(line * _LINES_OF_SQL + 2 * SPACE.m)

    # ---- what is in the card

    def set_query(self, query: str | None, *, by_database: bool) -> None:
        """Show the query of a source; silent. ``by_database``: the database itself runs it."""
        self._filling = True
        self._given = query
        found = None if query is None or by_database else read_query(query)
        self._set_conditions(() if found is None else found[0])
        if found is not None and self._decimal not in found[1]:
            self._decimal = next(iter(found[1]))
            self._set_conditions(found[0])
        fits = found is None or self._said() == found[0]
        self.as_sql.setChecked(by_database or (query is not None and (found is None or not fits)))
        self.set_by_database(by_database)
        self.sql.setPlainText(query or "")
        self.fold.setChecked(query is not None)
        self._filling = False
        self._refresh()

    def set_by_database(self, by_database: bool) -> None:
        """Whether the database itself runs the query, which no condition can be written for."""
        self.as_sql.setEnabled(not by_database)
        tip = self.tr("Off: the rows are chosen by conditions; a query in SQL is dropped")
        if by_database:
            self.as_sql.setChecked(True)
            tip = self.tr(
                "The database runs the query itself; name its table to choose rows by conditions"
            )
        self.as_sql.setToolTip(tip)
        self._refresh()

    def set_read(self, columns: Sequence[str] | None, decimal: str) -> None:
        """What the source holds, as it is read now: its columns if known, and its decimal mark.

        Conditions as the plan has them stay what they are: where they are for another decimal mark
        they are shown as SQL.
        """
        if columns is not None and tuple(columns) != self._columns:
            self._columns = tuple(columns)
            for line in self.lines:
                line.set_columns(columns)
        if decimal != self._decimal:
            untouched = self._given is not None and self.query() == self._given
            told, self._decimal = self._said(), decimal
            self._filling = True
            self._set_conditions(told)
            if untouched and query_of(told, decimal) != self._given:
                self.as_sql.setChecked(True)
                self.sql.setPlainText(self._given or "")
            self._filling = False
        self._refresh()

    def query(self) -> str | None:
        """The query, without conditions that lack something; None for all rows."""
        if not self.as_sql.isChecked():
            return query_of(self._said(), self._decimal)
        text = self.sql.toPlainText()
        if self._given is not None and text == self._given.replace("\r\n", "\n"):
            return self._given
        return text.strip() or None

    def fault(self) -> str:
        """One sentence on what a condition needs; empty when all are whole."""
        if self.as_sql.isChecked():
            return ""
        return next((fault for line in self.lines if (fault := line.said(self._decimal)[1])), "")

    def unfold(self) -> None:
        """Show the conditions, and go to where rows are chosen."""
        self.fold.setChecked(True)
        target = self.sql if self.as_sql.isChecked() else self.add_button
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _said(self) -> tuple[Condition, ...]:
        said = (line.said(self._decimal)[0] for line in self.lines)
        return tuple(condition for condition in said if condition is not None)

    # ---- inside

    def _set_conditions(self, conditions: Sequence[Condition]) -> None:
        for line in tuple(self.lines):
            self._drop(line)
        for condition in conditions:
            self._append().fill(condition, self._decimal)

    def _append(self) -> ConditionLine:
        line = ConditionLine(self._columns)
        line.edited.connect(self._on_edited)
        line.removeAsked.connect(self._on_remove)
        self.lines.append(line)
        line.set_number(len(self.lines))
        self._stack.addWidget(line)
        return line

    def _drop(self, line: ConditionLine) -> None:
        self.lines.remove(line)
        self._stack.removeWidget(line)
        line.hide()
        line.deleteLater()
        for number, left in enumerate(self.lines, 1):
            left.set_number(number)

    def _refresh(self) -> None:
        """Show the sentence, the query and what can be done."""
        in_sql = self.as_sql.isChecked()
        fault, query = self.fault(), self.query()
        said = query_sentence(query, self._decimal) or conditions_sentence((), self._decimal)
        self.sentence.setText(fault or said)
        set_look(self.sentence, "fail" if fault else "note")
        for line in self.lines:
            line.setVisible(not in_sql)
        self._note.setVisible(not in_sql and bool(self.lines))
        self.add_button.setVisible(not in_sql)
        self.add_button.setEnabled(bool(self._columns))
        self.all_button.setEnabled(bool(self.lines) or query is not None)
        self.sql.setVisible(in_sql or query is not None)
        self.sql.setReadOnly(not in_sql)
        if not in_sql and self.sql.toPlainText() != (query or ""):
            filling, self._filling = self._filling, True
            self.sql.setPlainText(query or "")
            self._filling = filling
        self.updateGeometry()

    @Slot(bool)
    def _on_fold(self, open_: bool) -> None:
        self._body.setVisible(open_)
        say_expanded(self.fold, open_)
        self.fold.setArrowType(Qt.ArrowType.DownArrow if open_ else Qt.ArrowType.RightArrow)
        self.updateGeometry()

    @Slot()
    def _on_edited(self) -> None:
        self._refresh()
        if not self._filling:
            self.edited.emit()

    @Slot()
    def _on_add(self) -> None:
        line = self._append()
        line.column.setFocus(Qt.FocusReason.OtherFocusReason)
        self._on_edited()

    @Slot(object)
    def _on_remove(self, line: ConditionLine) -> None:
        self._drop(line)
        self.add_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._on_edited()

    @Slot()
    def _on_all(self) -> None:
        self._set_conditions(())
        self._filling = True
        self.sql.clear()
        if self.as_sql.isEnabled():
            self.as_sql.setChecked(False)
        self._filling = False
        self.fold.setFocus(Qt.FocusReason.OtherFocusReason)
        self._on_edited()

    @Slot()
    def _on_as_sql(self) -> None:
        """SQL goes on with the query of the conditions; conditions with what SQL says, if any."""
        if self._filling:
            return
        if not self.as_sql.isChecked():
            found = read_query(self.sql.toPlainText())
            whole = found is not None and self._decimal in found[1]
            self._set_conditions(found[0] if found is not None and whole else ())
        self._on_edited()

    @Slot()
    def _on_sql(self) -> None:
        if not self._filling and self.as_sql.isChecked():
            self._on_edited()
