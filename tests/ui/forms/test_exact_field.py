"""The lines of what is released exactly, and the plan's values that they stand for."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.core.cube_parameters import ExactParameter
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.ui.forms.cubes.form import ExactField, exact_lines, read_exact_lines

EXACT = next(each for each in PARAMETERS if isinstance(each, ExactParameter))


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([["age", "sex"], []], "age × sex\ngrand total"),
        (
            [["age"], {"cuboid": ["region", "sex"], "cells": [["a: b", "f"], ["c", "m"]]}],
            "age\nregion × sex: a: b × f\nregion × sex: c × m",
        ),
    ],
)
def test_lines_are_read_back_as_they_were(items: list[object], text: str) -> None:
    assert exact_lines(items) == text
    assert read_exact_lines(text) == items
    assert EXACT.parse(items, "plan") is not None


@pytest.mark.parametrize("text", ["age × sex: 30", "grand total: 5"])
def test_a_cell_of_another_size_than_its_table_cannot_be_read(text: str) -> None:
    assert read_exact_lines(text) is None


def test_the_field_keeps_what_a_plan_says(qtbot: QtBot) -> None:
    field = ExactField(EXACT)
    qtbot.addWidget(field)
    assert field.plain() is None
    items = [["sex"], {"cuboid": ["age"], "cells": [["20-29"]]}]
    field.set_plain(items)
    assert field.plain() == items
    field.set_plain(None)
    assert field.plain() is None
