"""Records are put together from controls that their data describe, and say what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.core.cube_parameters import PartParameter
from dpdesk.core.language import voice_of
from dpdesk.core.language.catalogue import PAGES, TEXTS
from dpdesk.core.parameters import (
    ChoiceParameter,
    DecimalParameter,
    Parameter,
    Records,
    StructuredParameter,
)
from dpdesk.core.schema import Role
from dpdesk.engine.methods.registered import default_registry
from dpdesk.ui.forms.columns import DimensionsField, FormContext
from dpdesk.ui.forms.fields import FileField, OutlineField, range_words
from dpdesk.ui.forms.records import (
    ColumnField,
    MarkField,
    NumberLine,
    RecordLine,
    RecordsField,
    form_field,
)
from dpdesk.ui.theme import ThemeManager
from tests.helpers.a11y import findings

AROUND = FormContext(
    ("person", "age", "income", "health"),
    {"person": Role.IDENTIFIER, "health": Role.SENSITIVE},
)
MEDIAN = {"quantile": 0.5, "of": "income", "lower": 0, "upper": 200_000, "step": 100}
TABLE = {"name": "a", "rows": ["age"], "columns": ["health"]}


def parameters() -> dict[tuple[str, str], StructuredParameter]:
    """Every parameter of a method that is made of records, by method and key."""
    return {
        (method.id, one.key): one
        for method in default_registry()
        for one in method.parameters
        if isinstance(one, StructuredParameter) and one.records is not None
    }


def made(method: str, key: str, qtbot: QtBot) -> RecordsField:
    parameter = parameters()[method, key]
    assert parameter.records is not None
    found = RecordsField(parameter, parameter.records)
    found.show_around(AROUND)
    qtbot.addWidget(found)
    found.show()
    return found


def combo(line: RecordLine, key: str) -> QComboBox:
    field = line.fields[key]
    assert isinstance(field, ColumnField)
    return field.combo


def number(line: RecordLine, key: str) -> QLineEdit:
    field = line.fields[key]
    assert isinstance(field, NumberLine)
    return field.line


def take(line: RecordLine, words: str) -> None:
    line.kind.setCurrentIndex(line.kind.findText(words))


@pytest.mark.parametrize(
    ("method", "key", "value"),
    [
        ("dp-choice", "choose", MEDIAN),
        ("dp-choice", "choose", {"mode": "health"}),
        ("dp-choice", "choose", [{**MEDIAN, "quantile": 0.9}, {"mode": "health"}]),
        ("dp-cube", "measure", "count"),
        ("dp-cube", "measure", ["count", {"sum": "income", "lower": -5, "upper": 0.5}]),
        ("table", "rule", [{"rule": "threshold", "n": 3, "range": 0.2, "full": True}]),
        ("table", "rule", [{"rule": "dominance", "n": 2, "k": 75}]),
        ("table", "rule", [{"rule": "pq", "p": 10, "q": 80}, {"rule": "p-percent", "p": 12.5}]),
        ("table", "measure", "count"),
        ("table", "measure", {"sum": "income", "weight": "age"}),
        ("table", "measure", {"mean": "income"}),
        ("table", "cells", {"value": "income", "frequency": "age", "top": ["health"]}),
        ("table", "tables", [TABLE, {"name": "b", "rows": ["age"], "measure": {"sum": "income"}}]),
        ("table", "tables", [{**TABLE, "hierarchy": {"age": "ages.csv"}}]),
        ("table", "attacker", {"lower": 0.5, "upper": 1.5, "present": True}),
        ("table", "attacker", {"lower": 0}),
        (
            "k-anonymity",
            "require",
            [
                {
                    "model": "l-diversity",
                    "attribute": "health",
                    "variant": "recursive",
                    "l": 3,
                    "c": 2,
                },
                {"model": "t-closeness", "attribute": "health", "variant": "equal", "t": 0.2},
                {"model": "alpha-k", "attribute": "health", "alpha": 0.5},
            ],
        ),
    ],
)
def test_what_a_plan_holds_comes_back_as_it_was(
    method: str, key: str, value: object, qtbot: QtBot, theme: ThemeManager
) -> None:
    field = made(method, key, qtbot)
    field.set_plain(value)
    assert field.plain() == value
    assert field.problem() == ""
    assert field.parameter.as_plain(field.parameter.parse(field.plain(), "")) == value
    assert findings(field) == []


def test_every_setting_of_records_has_a_usual_or_no_value(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    assert len(parameters()) >= 7
    for (method, key), parameter in parameters().items():
        field = made(method, key, qtbot)
        usual = parameter.as_plain(parameter.default_value())
        assert field.plain() == (usual or None), (method, key)


def test_a_choice_is_put_together_without_typing_a_plan(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("dp-choice", "choose", qtbot)
    assert field.plain() is None
    line = field.lines[0]
    offered = combo(line, "of")
    assert [offered.itemText(place) for place in range(offered.count())] == [
        *("age", "income", "health")
    ]
    offered.setCurrentText("income")
    assert field.problem() == "“Smallest value” is missing."
    number(line, "lower").setText("200000")
    number(line, "upper").setText("0")
    assert field.problem() == "The smallest value must be less than the largest."
    number(line, "lower").setText("0")
    number(line, "upper").setText("2,000,00")
    assert "is not a number, or can" in field.problem()
    number(line, "upper").setText("200 000")
    assert field.problem() == ""
    assert field.plain() == {"quantile": 0.5, "of": "income", "lower": 0, "upper": 200_000}
    field.more.click()
    line = field.lines[1]
    take(line, "Most frequent value")
    assert field.problem() == "Choose a column."
    assert list(line.fields) == ["mode"]
    combo(line, "mode").setCurrentText("health")
    assert field.plain() == [
        {"quantile": 0.5, "of": "income", "lower": 0, "upper": 200_000},
        {"mode": "health"},
    ]
    field.lines[0].remove.click()
    assert field.plain() == [{"mode": "health"}]
    assert field.lines[0].remove.isHidden()


def test_rules_are_added_and_all_of_them_taken_away(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("table", "rule", qtbot)
    assert field.plain() is None
    assert field.control is field.more
    field.more.click()
    assert field.plain() == [{"rule": "threshold", "n": 3}]
    field.more.click()
    assert field.problem() == "“Closer than” is missing."
    number(field.lines[1], "p").setText("10")
    assert field.plain() == [{"rule": "threshold", "n": 3}, {"rule": "p-percent", "p": 10}]
    for line in tuple(field.lines):
        line.remove.click()
    assert field.plain() is None


def test_a_rule_of_another_kind_keeps_the_number_that_both_have(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    field = made("table", "rule", qtbot)
    field.set_plain([{"rule": "p-percent", "p": 12}])
    take(field.lines[0], "p/q rule")
    assert field.problem() == "“Known to” is missing."
    number(field.lines[0], "q").setText("80")
    assert field.plain() == [{"rule": "pq", "p": 12, "q": 80}]
    number(field.lines[0], "p").setText("x")
    assert field.problem().startswith("“x” is not a number")


def test_what_everyone_knows_is_checked_in_a_box(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("table", "attacker", qtbot)
    mark = field.lines[0].fields["present"]
    assert isinstance(mark, MarkField)
    assert mark.box.text() == "That no suppressed cell is empty"
    with qtbot.waitSignal(field.edited):
        qtbot.keyClick(mark.box, Qt.Key.Key_Space)
    assert field.plain() == {"lower": 0, "present": True}
    number(field.lines[0], "upper").setText("50")
    assert field.problem() == "The upper share must be 100\u00a0% or more."
    number(field.lines[0], "upper").setText("150 %")
    assert field.plain() == {"lower": 0, "upper": 1.5, "present": True}
    assert not field.problem()
    assert field.more.isHidden()
    assert field.lines[0].remove.isHidden()


def test_requirements_are_chosen_and_ask_for_what_belongs_to_them(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    field = made("k-anonymity", "require", qtbot)
    field.more.click()
    line = field.lines[0]
    offered = combo(line, "attribute")
    assert [offered.itemText(place) for place in range(offered.count())] == ["health"]
    offered.setCurrentText("health")
    assert line.fields["c"].isHidden()
    number(line, "l").setText("3")
    assert field.plain() == [
        {"model": "l-diversity", "attribute": "health", "variant": "distinct", "l": 3}
    ]
    way = line.fields["variant"].control
    assert isinstance(way, QComboBox)
    way.setCurrentText("Recursive")
    assert not line.fields["c"].isHidden()
    assert field.problem() == "“c” is missing."
    take(line, "t-closeness: values as in all rows")
    assert combo(line, "attribute").currentText() == "health"


def test_tables_are_put_together_from_columns(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("table", "tables", qtbot)
    assert field.plain() is None
    field.more.click()
    line = field.lines[0]
    assert field.problem() == "“Name” is missing."
    name = line.fields["name"].control
    assert isinstance(name, QLineEdit)
    name.setFocus()
    qtbot.keyClicks(name, "ages")
    assert field.problem() == "A table needs rows or columns."
    rows = line.fields["rows"]
    assert isinstance(rows, DimensionsField)
    rows.set_plain(["age"])
    measured = line.fields["measure"]
    assert isinstance(measured, RecordsField)
    measured.more.click()
    assert field.problem() == "Choose a column."
    combo(measured.lines[0], "sum").setCurrentText("income")
    assert field.plain() == [{"name": "ages", "rows": ["age"], "measure": {"sum": "income"}}]
    measured.lines[0].remove.click()
    assert field.plain() == [{"name": "ages", "rows": ["age"]}]


def test_a_share_that_is_typed_is_kept_as_typed(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("dp-choice", "choose", qtbot)
    field.set_plain({**MEDIAN, "quantile": 0.25})
    number(field.lines[0], "quantile").setText("0.90")
    value = field.plain()
    assert value == {**MEDIAN, "quantile": 0.9}
    field.set_plain(value)
    assert number(field.lines[0], "quantile").text() == "0.90"


def words_of(records: Records) -> Iterator[str]:
    """All that people read of records."""
    yield from (records.kind, *records.more, *records.remove)
    for variant in records.variants:
        yield variant.label
        for entry in variant.entries:
            yield from words_of_entry(entry)


def words_of_entry(entry: Parameter) -> Iterator[str]:
    yield from (entry.label, entry.help)
    if isinstance(entry, ChoiceParameter):
        yield from (word for one in entry.choices for word in (one.label, one.help))
    if isinstance(entry, StructuredParameter) and entry.records is not None:
        yield from words_of(entry.records)


def test_all_words_of_records_have_german_ones() -> None:
    voice = voice_of("de", PAGES, TEXTS)
    symbols = {"", "ℓ", "t", "α", "β", "c"}
    for parameter in parameters().values():
        assert parameter.records is not None
        for word in words_of(parameter.records):
            assert word in symbols or voice.known(word) is not None, word


class ShownWindows(QObject):
    """Notes what is shown as a window of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See QObject."""
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.seen.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


@pytest.mark.parametrize(("method", "key"), sorted(parameters()))
def test_no_part_of_a_record_is_shown_as_a_window(
    method: str, key: str, qtbot: QtBot, qapp: QApplication
) -> None:
    shown = ShownWindows()
    qapp.installEventFilter(shown)
    try:
        made(method, key, qtbot)
    finally:
        qapp.removeEventFilter(shown)
    assert shown.seen == ["RecordsField "]  # the field itself, by the test


def test_a_column_of_its_own_is_chosen_among_those_with_the_role(qtbot: QtBot) -> None:
    anatomy = default_registry().get("anatomy", "The plan")
    field = form_field(next(one for one in anatomy.parameters if one.key == "sensitive"))
    qtbot.addWidget(field)
    assert isinstance(field, ColumnField)
    field.show_around(AROUND)
    offered = [field.combo.itemData(place) for place in range(field.combo.count())]
    assert offered == ["", "health"]
    assert field.plain() is None
    field.combo.setCurrentIndex(1)
    assert field.plain() == "health"


def test_who_asks_for_protection_or_agrees_is_named_by_a_column_and_values(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    field = made("table", "request", qtbot)
    field.more.click()
    assert field.problem() == "Choose a column."
    combo(field.lines[0], "column").setCurrentText("health")
    assert field.problem() == "“Values” is missing."
    field.lines[0].fields["values"].set_plain(["good", "bad"])
    assert field.plain() == {"column": "health", "values": ["good", "bad"]}
    number(field.lines[0], "k").setText("70")
    assert field.plain() == {"column": "health", "values": ["good", "bad"], "k": 70}
    assert not field.problem()
    field.lines[0].remove.click()
    assert field.plain() is None
    waived = made("table", "waive", qtbot)
    waived.set_plain({"column": "health", "values": ["good"]})
    assert waived.plain() == {"column": "health", "values": ["good"]}


def test_households_are_swapped_by_columns_and_a_share(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("table", "swap", qtbot)
    field.more.click()
    assert field.problem() == "“Columns exchanged” is missing."
    field.lines[0].fields["columns"].set_plain(["age"])
    assert field.problem() == "“Share of households” is missing."
    number(field.lines[0], "share").setText("5")
    assert field.plain() == {"columns": ["age"], "share": 0.05}
    field.lines[0].fields["match"].set_plain(["health"])
    assert field.plain() == {"columns": ["age"], "match": ["health"], "share": 0.05}
    assert not field.problem()


def test_statuses_may_be_a_file_and_merged_values_an_outline(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    table = default_registry().get("table", "here")
    by_key = {one.key: one for one in table.parameters}
    marks, merge = form_field(by_key["marks"]), form_field(by_key["merge"])
    for field in (marks, merge):
        qtbot.addWidget(field)
    assert isinstance(marks, FileField)
    marks.choose("prior.hst")
    assert marks.plain() == "prior.hst"
    lines = [["north", "small", "U"], [], ["south", "", "C", "2"]]
    marks.set_plain(lines)
    assert marks.control.text() == "north; small; U |  | south; ; C; 2"  # type: ignore[attr-defined]
    assert marks.plain() == lines
    for odd in ([["a;b", "U"]], [["[a", "U"]], [["a|b", "U"]], [[" a", "U"]], []):
        marks.set_plain(odd)
        assert marks.plain() == odd
    assert isinstance(merge, OutlineField)
    merge.set_plain({"region": {"both": ["north", "south"]}})
    assert merge.plain() == {"region": {"both": ["north", "south"]}}
    assert range_words(by_key["merge"]) == range_words(by_key["rule"]) == ""


def test_parts_are_typed_in_percent_and_plans_keep_their_numbers(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    field = made("table", "rule", qtbot)
    field.set_plain([{"rule": "threshold", "n": 3}, {"rule": "p-percent", "p": 12.5}])
    closer, near = number(field.lines[1], "p"), number(field.lines[0], "range")
    assert closer.text() == "12.5 %"
    assert (near.text(), near.placeholderText()) == ("", "10 %")
    qtbot.keyClicks(near, "2.5")
    qtbot.keyClick(near, Qt.Key.Key_Return)
    assert near.text() == "2.5 %"
    assert field.plain() == [
        {"rule": "threshold", "n": 3, "range": 0.025},
        {"rule": "p-percent", "p": 12.5},
    ]
    near.setText("some %")
    assert field.problem().startswith("“some %” is not a number")


def test_every_share_of_a_record_is_in_percent() -> None:
    """Entries that speak of shares or percent show a sign; symbols stay as others write them."""
    for parameter in parameters().values():
        assert parameter.records is not None
        for variant in parameter.records.variants:
            for entry in variant.entries:
                text = f"{entry.label} {entry.help}"
                if isinstance(entry, DecimalParameter) and re.search(r"share|percent|%", text):
                    named = entry.label in {"α", "β", "Quantile"}
                    assert isinstance(entry, PartParameter) is not named, text
