"""Measures, choices and rules are put together from parts, and say what is missing in a part."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.core.parameters import Parameter
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_choice.settings import PARAMETERS as CHOICE
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.table.settings import PARAMETERS as TABLE
from dpdesk.ui.forms.columns import FormContext
from dpdesk.ui.forms.parts import ChoicesField, MeasureField, PartsField, RulesField
from dpdesk.ui.theme import ThemeManager

AROUND = FormContext(("person", "age", "income", "health"), {"person": Role.IDENTIFIER})
MEDIAN = {"quantile": 0.5, "of": "income", "lower": 0, "upper": 200_000, "step": 100}


def parameter(listed: tuple[Parameter, ...], key: str) -> Parameter:
    return next(one for one in listed if one.key == key)


def made(kind: str, qtbot: QtBot) -> PartsField:
    fields = {"choose": (ChoicesField, CHOICE), "measure": (MeasureField, DpCube.parameters)}
    field, listed = fields.get(kind, (RulesField, TABLE))
    found = field(parameter(listed, kind))
    found.show_around(AROUND)
    qtbot.addWidget(found)
    found.show()
    return found


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("choose", MEDIAN),
        ("choose", {"mode": "health"}),
        ("choose", [{**MEDIAN, "quantile": 0.9}, {"mode": "health"}]),
        ("measure", "count"),
        ("measure", ["count", {"sum": "income", "lower": -5, "upper": 0.5}]),
        ("rule", [{"rule": "threshold", "n": 3, "range": 0.2, "full": True}]),
        ("rule", [{"rule": "dominance", "n": 2, "k": 75}, {"rule": "pq", "p": 10, "q": 80}]),
        ("rule", [{"rule": "p-percent", "p": 12.5}]),
    ],
)
def test_what_a_plan_holds_comes_back_as_it_was(
    kind: str, value: object, qtbot: QtBot, theme: ThemeManager
) -> None:
    field = made(kind, qtbot)
    field.set_plain(value)
    assert field.plain() == value
    assert field.problem() == ""
    assert field.parameter.as_plain(field.parameter.parse(field.plain(), "")) == value


def test_a_choice_is_put_together_without_typing_a_plan(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("choose", qtbot)
    assert field.plain() is None
    line = field.lines[0]
    assert [line.column.itemText(place) for place in range(line.column.count())] == [
        *("age", "income", "health")
    ]
    line.column.setCurrentText("income")
    assert field.problem() == "“from” is missing."
    line.numbers["lower"].setText("200000")
    line.numbers["upper"].setText("0")
    assert field.problem() == "“from” has to be less than “to”."
    line.numbers["lower"].setText("0")
    line.numbers["upper"].setText("2,000,00")
    assert "is not a number, or can" in field.problem()
    line.numbers["upper"].setText("200 000")
    assert field.problem() == ""
    assert field.plain() == {"quantile": 0.5, "of": "income", "lower": 0, "upper": 200_000}
    field.more.click()
    line = field.lines[1]
    line.kind.setCurrentIndex(line.kind.findData("mode"))
    assert field.problem() == "Choose a column."
    assert not line.numbers["lower"].isVisible()
    line.column.setCurrentText("health")
    assert field.plain() == [
        {"quantile": 0.5, "of": "income", "lower": 0, "upper": 200_000},
        {"mode": "health"},
    ]
    field.lines[0].remove.click()
    assert field.plain() == [{"mode": "health"}]
    assert field.lines[0].remove.isHidden()


def test_rules_are_added_and_all_of_them_taken_away(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("rule", qtbot)
    assert field.plain() is None
    assert field.control is field.more
    field.more.click()
    assert field.plain() == [{"rule": "threshold", "n": 3}]
    field.more.click()
    assert field.problem() == "“closer than %” is missing."
    field.lines[1].numbers["p"].setText("10")
    assert field.plain() == [{"rule": "threshold", "n": 3}, {"rule": "p-percent", "p": 10}]
    for line in tuple(field.lines):
        line.remove.click()
    assert field.plain() is None


def test_a_share_that_is_typed_is_kept_as_typed(qtbot: QtBot, theme: ThemeManager) -> None:
    field = made("choose", qtbot)
    field.set_plain({**MEDIAN, "quantile": 0.25})
    field.lines[0].numbers["quantile"].setText("0.50")
    value = field.plain()
    assert value == MEDIAN
    field.lines[0].show_parts("quantile", "income", {**MEDIAN})
    assert field.lines[0].numbers["quantile"].text() == "0.50"
