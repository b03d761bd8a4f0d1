"""Forms come from specifications alone, stay exact, and do not echo."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QScrollArea, QSpinBox
from pytestqt.qtbot import QtBot

from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    IntegerParameter,
    LevelsParameter,
    Parameter,
    ParameterValue,
    ShareParameter,
    parse_parameters,
)
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.registered import default_registry
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.forms.columns import FormContext, NumbersByColumn
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.forms.fields import (
    ChoiceField,
    IntegerField,
    LevelsField,
    ShareField,
    TextField,
    start_of,
)
from dpdesk.ui.forms.form import GraphForm, TableForm
from dpdesk.ui.forms.records import form_field
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.theme import ThemeManager


@dataclass(frozen=True)
class LengthParameter(Parameter):
    """A kind of parameter that forms know nothing of."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        if not str(raw).endswith("cm"):
            raise self.invalid(where, raw)
        return str(raw)

    def default_value(self) -> ParameterValue:
        return None

    def as_plain(self, value: ParameterValue) -> object:
        return value

    def range_text(self) -> str:
        return "a length such as 12 cm"


SPECIFICATIONS: tuple[Parameter, ...] = (
    IntegerParameter(
        "k", "Smallest group", "Rows per group.", "rows", True, minimum=2, suggested=5
    ),
    ShareParameter("max", "Suppressed at most", "Share of rows.", default=Fraction(0)),
    ChoiceParameter(
        "algorithm",
        "Search",
        "How to search.",
        choices=(Choice("optimal", "Best", "Looks at all."), Choice("samarati", "Samarati")),
        default="optimal",
    ),
    ChoiceParameter(
        "prefer",
        "Prefer",
        "Which of several.",
        applies=Condition("algorithm", ("samarati",)),
        choices=(Choice("height", "Low"), Choice("classes", "Many classes")),
        default="height",
    ),
    LevelsParameter("levels", "Levels by hand", "Exactly these levels."),
    LengthParameter("length", "Length", "How long."),
)


@pytest.fixture
def form(qtbot: QtBot, theme: ThemeManager) -> ParameterForm:
    form = ParameterForm(SPECIFICATIONS, live=("k", "max"))
    qtbot.addWidget(form)
    form.show()
    return form


def field(form: ParameterForm, key: str) -> object:
    return form.field(key)


def test_it_starts_with_defaults_and_suggestions(form: ParameterForm) -> None:
    assert form.values() == {"k": 5, "max": 0, "algorithm": "optimal"}
    assert form.errors() == {}


def test_plain_values_come_back_as_they_were_given(form: ParameterForm, qtbot: QtBot) -> None:
    given = {
        "k": 7,
        "max": 0.0199881,
        "algorithm": "samarati",
        "prefer": "classes",
        "levels": {"age": 2},
        "length": "3 cm",
    }
    with qtbot.assertNotEmitted(form.valuesChanged):
        form.set_values(given)
    assert form.values() == given
    form.set_values({})
    assert form.values() == {"k": 5, "max": 0, "algorithm": "optimal"}


def test_a_share_stays_exact_until_the_user_changes_it(form: ParameterForm, qtbot: QtBot) -> None:
    form.set_values({"max": 1 / 3})
    assert form.values()["max"] == 1 / 3
    share = field(form, "max")
    assert isinstance(share, ShareField)
    with qtbot.waitSignal(form.valuesChanged) as changed:
        share._spin.setValue(2.0)
    assert changed.args[0]["max"] == 0.02


def test_number_and_slider_move_together(form: ParameterForm, qtbot: QtBot) -> None:
    number = field(form, "k")
    assert isinstance(number, IntegerField)
    assert number.slider is not None
    with qtbot.waitSignal(form.valuesChanged) as changed:
        number.slider.setValue(12)
    assert changed.args[0]["k"] == 12
    number._spin.setValue(20)
    assert number.slider.value() == 20
    number._spin.setValue(5_000)
    assert form.values()["k"] == 5_000


def test_each_edit_is_announced_once(form: ParameterForm, qtbot: QtBot) -> None:
    heard: list[object] = []
    form.valuesChanged.connect(heard.append)
    share = field(form, "max")
    assert isinstance(share, ShareField)
    assert share.slider is not None
    share.slider.setValue(200)
    assert heard == [{"k": 5, "max": 0.04, "algorithm": "optimal"}]


def test_a_parameter_shows_only_where_it_applies(form: ParameterForm, qtbot: QtBot) -> None:
    prefer, algorithm = field(form, "prefer"), field(form, "algorithm")
    assert isinstance(prefer, ChoiceField)
    assert isinstance(algorithm, ChoiceField)
    assert not prefer.isVisible()
    algorithm._combo.setCurrentIndex(1)
    assert prefer.isVisible()
    assert form.values()["prefer"] == "height"


def test_levels_are_hidden_until_given_and_can_be_cleared(
    form: ParameterForm, qtbot: QtBot
) -> None:
    levels = field(form, "levels")
    assert isinstance(levels, LevelsField)
    assert not levels.isVisible()
    form.set_values({"levels": {"age": 2, "sex": 0}})
    assert levels.isVisible()
    assert levels._summary.text() == "age 2, sex 0"
    with qtbot.waitSignal(form.valuesChanged) as changed:
        qtbot.mouseClick(levels.control, Qt.MouseButton.LeftButton)
    assert "levels" not in changed.args[0]
    assert not levels.isVisible()


def test_an_unknown_kind_is_a_text_with_its_own_errors(form: ParameterForm, qtbot: QtBot) -> None:
    length = field(form, "length")
    assert isinstance(length, TextField)
    shown = [label for label in form.findChildren(QLabel) if label.text().startswith("✕")]
    assert shown == []
    line = length.control
    assert isinstance(line, QLineEdit)
    line.setFocus()
    qtbot.keyClicks(line, "12")
    assert form.errors().keys() == {"length"}
    assert not any(label.text().startswith("✕") for label in form.findChildren(QLabel))
    qtbot.keyClick(line, Qt.Key.Key_Return)
    (shown_error,) = [x for x in form.findChildren(QLabel) if x.text().startswith("✕")]
    assert "a length such as 12 cm" in shown_error.text()
    qtbot.keyClicks(line, " cm")
    assert not shown_error.isVisible()
    assert form.errors() == {}


def test_an_error_found_elsewhere_stands_under_its_field(form: ParameterForm) -> None:
    assert form.show_error("k", "k is larger than the table.")
    assert not form.show_error("unknown", "?")
    texts = [label.text() for label in form.findChildren(QLabel) if label.isVisible()]
    assert "✕ k is larger than the table." in texts


def test_labels_are_buddies_with_different_letters(form: ParameterForm) -> None:
    labels = [label for label in form.findChildren(QLabel) if label.buddy() is not None]
    letters = [label.text()[label.text().index("&") + 1].upper() for label in labels]
    assert len(labels) == len(SPECIFICATIONS)
    assert len(set(letters)) == len(letters)
    assert not set(letters) & set("FEVRH")
    for kind in (QSpinBox, QComboBox, QLineEdit):
        assert (
            all(widget.accessibleName() for widget in form.findChildren(kind) if widget.isVisible())
            or kind is QLineEdit
        )


def test_the_wheel_scrolls_and_changes_no_setting(
    form: ParameterForm, qtbot: QtBot, theme: ThemeManager
) -> None:
    area = QScrollArea()
    qtbot.addWidget(area)
    area.setWidgetResizable(True)
    area.setWidget(form)
    area.resize(400, 80)
    form.show()
    with qtbot.waitExposed(area):
        area.show()
    before = form.values()
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    number = field(form, "k")
    assert isinstance(number, IntegerField)
    assert number.slider is not None
    search = field(form, "algorithm")
    assert isinstance(search, ChoiceField)
    for control in (number.control, number.slider, search.control):
        control.setFocus()
        bar.setValue(0)
        area.ensureWidgetVisible(control)
        start = bar.value()
        place = QPointF(control.mapTo(area, control.rect().center()))
        QTest.wheelEvent(area.windowHandle(), place, QPoint(0, -240))
        assert bar.value() > start
        assert form.values() == before
    area.takeWidget()


def test_nothing_keeps_a_closed_form_alive(qtbot: QtBot, theme: ThemeManager) -> None:
    form = ParameterForm(SPECIFICATIONS, live=("k",))
    form.show()
    reference = weakref.ref(form)
    form.close()
    form.deleteLater()
    del form
    qtbot.waitUntil(lambda: bool(gc.collect() or True) and reference() is None)


def test_a_whole_number_that_need_not_be_given_is_none_until_it_is(qtbot: QtBot) -> None:
    form = ParameterForm([IntegerParameter("k", "k", "Rows per group.", "rows", minimum=2)])
    qtbot.addWidget(form)
    (box,) = form.findChildren(QSpinBox)
    assert (form.values(), box.text()) == ({}, "none")
    box.stepUp()
    assert (form.values(), box.text()) == ({"k": 2}, "2 rows")
    box.stepDown()
    assert form.values() == {}
    form.set_values({"k": 7})
    assert form.values() == {"k": 7}


def test_a_share_that_need_not_be_given_is_left_out_while_it_is_nothing(qtbot: QtBot) -> None:
    form = ParameterForm([ShareParameter("max", "Suppressed", "Share of rows.", default=None)])
    qtbot.addWidget(form)
    assert form.values() == {}
    form.set_values({"max": 0.25})
    assert form.values() == {"max": 0.25}


def test_a_choice_without_a_default_of_its_own_is_left_to_the_method(qtbot: QtBot) -> None:
    """k-Optimize shows ranges and Mondrian labels, unless one of the two is chosen."""
    parameters = {each.key: each for each in KAnonymity.parameters}
    values = parameters["values"]
    assert isinstance(values, ChoiceParameter)
    field = ChoiceField(values)
    qtbot.addWidget(field)
    assert field.plain() is None
    for chosen in ("ranges", "nodes", None):
        field.set_plain(chosen)
        assert field.plain() == chosen


CHOICES = [
    pytest.param(one, id=f"{method.id}-{one.key}")
    for method in default_registry()
    for one in method.parameters
    if isinstance(one, ChoiceParameter)
]


@pytest.mark.parametrize("parameter", CHOICES)
def test_what_a_box_cuts_is_read_below_it(
    parameter: ChoiceParameter, qtbot: QtBot, theme: ThemeManager
) -> None:
    field = ChoiceField(parameter)
    qtbot.addWidget(field)
    field.show()
    (box,) = field.findChildren(NarrowCombo)
    for choice in parameter.choices:
        field.set_plain(choice.value)
        field.resize(1200, field.height())
        qtbot.waitUntil(lambda: not box.cut)
        assert field.told == choice.help
        least = field.minimumSizeHint().width()
        field.resize(least, field.height())
        qtbot.waitUntil(lambda width=least: box.width() == width)  # type: ignore[misc]
        expected = f"{choice.label}. {choice.help}".rstrip() if box.cut else choice.help
        assert field.told == expected


# ---- what is offered

QUASI = {"age": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER, "income": Role.SENSITIVE}
FURTHER: tuple[dict[str, object], ...] = (
    {"local": True},
    {"importance": {"age": 2.0}},
    {"min_level": {"age": 1}},
    {"max_level": {"age": 0}},
    {"missing_as": "none"},
    {"population": "population.csv", "k_map": 3},
    {"max_suppression_of": {"sex": 0.1}},
    {"max_cells": {"sex": 0.1}},
    {"objective": "entropy"},
    {"prefer": "minimum-suppression"},
    {"condition": "equal"},
)


@pytest.mark.parametrize("given", FURTHER, ids=lambda given: next(iter(given)))
def test_a_form_offers_nothing_that_a_plan_refuses(
    qtbot: QtBot, theme: ThemeManager, given: dict[str, object]
) -> None:
    method = KAnonymity()
    form = ParameterForm(method.parameters, live=method.live)
    qtbot.addWidget(form)
    by_key = {each.key: each for each in method.parameters}
    model, algorithm = by_key["model"], by_key["algorithm"]
    assert isinstance(model, ChoiceParameter)
    assert isinstance(algorithm, ChoiceParameter)
    for one, other in product(model.choices, algorithm.choices):
        form.set_values({"k": 5, "model": one.value, "algorithm": other.value, **given})
        parameters = parse_parameters(method.parameters, form.values(), "the form")
        method.check(tuple(QUASI), QUASI, parameters, "the form")


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        ({}, True),
        ({"algorithm": "mondrian"}, True),
        ({"model": "CS"}, True),
        ({"algorithm": "mondrian", "values": "ranges"}, False),
        ({"algorithm": "mondrian", "strict": False}, False),
        ({"algorithm": "k-optimize"}, False),
    ],
)
def test_a_population_is_asked_for_where_cells_can_be_compared_with_it(
    qtbot: QtBot, theme: ThemeManager, given: dict[str, object], offered: bool
) -> None:
    method = KAnonymity()
    form = ParameterForm(method.parameters, live=method.live)
    qtbot.addWidget(form)
    form.show()
    form.set_values({"k": 5, **given})
    assert form.field("population").isVisible() is offered
    assert form.field("k_map").isVisible() is offered


def test_two_fields_never_hide_each_other(qtbot: QtBot, theme: ThemeManager) -> None:
    method = KAnonymity()
    form = ParameterForm(method.parameters, live=method.live)
    qtbot.addWidget(form)
    form.show()
    for model, algorithm in (("AG_CS", "mondrian"), ("AG", "samarati"), ("CG", "optimal")):
        form.set_values({"k": 5, "model": model, "algorithm": algorithm})
        assert form.field("model").isVisible() or form.field("algorithm").isVisible()


def test_a_search_that_leaves_no_row_out_asks_for_no_limit(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    method = KAnonymity()
    form = ParameterForm(method.parameters, live=method.live)
    qtbot.addWidget(form)
    form.show()
    for algorithm, asked in (("mondrian", False), ("top-down", False), ("optimal", True)):
        form.set_values({"k": 5, "algorithm": algorithm, "max_suppression": 0.02})
        assert form.field("max_suppression").isVisible() is asked
        assert ("max_suppression" in form.values()) is asked


def test_a_number_is_kept_while_it_has_no_effect(qtbot: QtBot, theme: ThemeManager) -> None:
    method = KAnonymity()
    form = ParameterForm(method.parameters, live=method.live)
    qtbot.addWidget(form)
    form.show()
    form.set_values({"k": 5, "max_suppression": 0.02})
    form.set_values({"k": 5, "algorithm": "mondrian"})
    assert "max_suppression" not in form.values()
    form.field("algorithm").set_plain("optimal")
    assert form.values()["max_suppression"] == 0.02
    form.set_values({"k": 5})
    assert form.values()["max_suppression"] == 0


def test_a_file_is_chosen_by_its_button(qtbot: QtBot, theme: ThemeManager) -> None:
    method = KAnonymity()
    form = ParameterForm(method.parameters, live=method.live)
    qtbot.addWidget(form)
    form.show()
    form.set_values({"k": 5})
    field = form.field("population")
    (browse,) = field.findChildren(QPushButton)
    assert browse.accessibleName() == "Browse… for Population file"
    with qtbot.waitSignal(form.fileAsked) as asked:
        qtbot.mouseClick(browse, Qt.MouseButton.LeftButton)
    assert asked.args == [field]
    with qtbot.waitSignal(form.valuesChanged) as changed:
        asked.args[0].choose("register.csv")
    assert changed.args[0]["population"] == "register.csv"


NAMES = {"age": ("age", "20-29", "*"), "sex": ("sex", "*")}


def by_column(qtbot: QtBot, key: str, **around: object) -> NumbersByColumn:
    """The field of a setting of k-anonymity, with two quasi-identifiers."""
    field = form_field(next(one for one in KAnonymity().parameters if one.key == key))
    assert isinstance(field, NumbersByColumn)
    qtbot.addWidget(field)
    field.show_around(FormContext(tuple(QUASI), QUASI, **around))  # type: ignore[arg-type]
    field.show()
    return field


def test_numbers_of_columns_are_typed_next_to_their_names(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    field = by_column(qtbot, "importance")
    assert field.plain() is None
    assert not field.empty
    assert not field.body.isVisible()
    assert field.body.findChildren(QLineEdit) == []  # of hundreds of columns none is made in vain
    field.fold.click()
    line = field.line("age")
    assert isinstance(line, QLineEdit)
    assert (line.placeholderText(), line.isVisible()) == ("1", True)
    qtbot.keyClicks(line, "2.5")
    assert field.plain() == {"age": 2.5}
    assert not field.problem()
    qtbot.keyClicks(line, "x")
    assert field.problem() == "“age”: expected a number from 0 on."
    field.set_plain({"sex": 3})
    assert (line.text(), field.plain()) == ("", {"sex": 3})


def test_shares_of_columns_are_percentages(qtbot: QtBot, theme: ThemeManager) -> None:
    field = by_column(qtbot, "max_cells")
    field.set_plain({"age": Decimal("0.125")})
    assert field.body.isVisible()
    line = field.line("age")
    assert isinstance(line, QLineEdit)
    assert line.text() == "12.5 %"
    line.selectAll()
    for typed in ("5", " %"):
        qtbot.keyClicks(line, typed)
        assert field.plain() == {"age": 0.05}
    line.selectAll()
    qtbot.keyClicks(line, "7")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert (line.text(), field.plain()) == ("7 %", {"age": 0.07})
    line.selectAll()
    qtbot.keyClicks(line, "101")
    assert field.problem() == "“age”: expected a share from 0 to 100 %."


def test_levels_are_chosen_by_their_names(qtbot: QtBot, theme: ThemeManager) -> None:
    field = by_column(qtbot, "max_level", levels=NAMES)
    field.fold.click()
    combo = field.line("age")
    assert isinstance(combo, QComboBox)
    texts = [combo.itemText(place) for place in range(combo.count())]
    assert texts == ["no limit", "0 (age …)", "1 (20-29 …)", "2 (*)"]
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    assert field.plain() == {"age": 0}
    combo.setCurrentIndex(0)
    combo.activated.emit(0)
    assert field.plain() is None
    field.set_plain({"age": 7})  # of another hierarchy
    assert combo.currentText() == "7"
    assert field.plain() == {"age": 7}


def test_levels_without_names_are_whole_numbers(qtbot: QtBot, theme: ThemeManager) -> None:
    field = by_column(qtbot, "min_level")
    field.fold.click()
    line = field.line("sex")
    assert isinstance(line, QLineEdit)
    qtbot.keyClicks(line, "1.5")
    assert field.problem() == "“sex”: expected a whole number."
    field.show_around(FormContext(tuple(QUASI), QUASI, levels=NAMES))
    assert isinstance(field.line("sex"), QComboBox)


FOLDING = {"domains": CubeForm, "nodes": GraphForm, "cells": TableForm}
"""The form of methods that have such a setting; see the pane of settings."""


@pytest.mark.parametrize("method", [one.id for one in default_registry()])
def test_settings_that_no_one_has_changed_stay_folded(
    qtbot: QtBot, theme: ThemeManager, method: str
) -> None:
    specifications = default_registry().get(method, "the test").parameters
    keys = {one.key for one in specifications}
    kind = next((made for key, made in FOLDING.items() if key in keys), None)
    if kind is None:
        return  # nothing is folded
    form = kind(specifications)
    qtbot.addWidget(form)
    given = {one.key: start_of(one) for one in specifications}
    form.set_values(given)
    assert not form._more.isChecked()
    offered = {one.key: getattr(one, "suggested", None) for one in specifications}
    given |= {one.key: one.as_plain(offered[one.key]) for one in specifications if offered[one.key]}
    form.set_values(given)
    assert not form._more.isChecked()


def test_the_unit_of_one_is_said_once_a_number_is_complete(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    field = IntegerField(
        IntegerParameter("rows", "Rows", "How many.", unit="rows", default=7), live=False
    )
    qtbot.addWidget(field)
    field.show()
    box = field.control
    assert isinstance(box, QSpinBox)
    assert box.text() == "7 rows"
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "1")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert (box.value(), box.text()) == (1, "1 row")
    field.set_plain(12)
    assert box.text() == "12 rows"
