"""Builder options typed as text become the exact values a plan holds, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from dpdesk.app import hierarchies
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.forms.fields import from_outline, to_outline
from dpdesk.ui.theme import ThemeManager

OPTIONS = {
    "intervals": {"widths": [5, 10, 20], "origin": 2, "bottom": 15, "labels": "range"},
    "mask": {"from": "left", "character": "#", "every": 2, "pad": ""},
    "order": {"order": ["low", "middle", "high"], "sizes": [2]},
    "dates": {"format": ["dd.mm.yyyy"], "levels": ["month", "year"]},
    "tree": {"tree": {"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Asia": ["JP"]}},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_form_of_a_builder_gives_back_what_it_was_given(
    qtbot: QtBot, theme: ThemeManager, kind: str
) -> None:
    form = ParameterForm(hierarchies.forms()[kind].parameters)
    qtbot.addWidget(form)
    form.set_values(HierarchyBuilder(kind, OPTIONS[kind]).options)
    values = form.values()
    assert form.errors() == {}
    for key, value in OPTIONS[kind].items():
        assert values.get(key, "") == value


def test_typed_widths_are_numbers(qtbot: QtBot, theme: ThemeManager) -> None:
    form = ParameterForm(hierarchies.forms()["intervals"].parameters)
    qtbot.addWidget(form)
    control = form.field("widths").control
    qtbot.keyClicks(control, "2.5, 5; 10")
    assert form.values()["widths"] == [2.5, 5, 10]
    qtbot.keyClicks(control, ", x")
    assert "widths" in form.errors()


def test_lines_are_a_list_and_tab_leaves_the_area(qtbot: QtBot, theme: ThemeManager) -> None:
    form = ParameterForm(hierarchies.forms()["dates"].parameters)
    qtbot.addWidget(form)
    area = form.field("levels").control
    assert isinstance(area, QPlainTextEdit)
    with qtbot.waitSignal(form.valuesChanged):
        qtbot.keyClicks(area, "month")
    qtbot.keyClick(area, Qt.Key.Key_Return)
    qtbot.keyClicks(area, " year ")
    assert form.values()["levels"] == ["month", "year"]
    assert area.tabChangesFocus()


def test_an_unreadable_outline_is_refused_not_guessed(qtbot: QtBot, theme: ThemeManager) -> None:
    form = ParameterForm(hierarchies.forms()["tree"].parameters)
    qtbot.addWidget(form)
    area = form.field("tree").control
    assert isinstance(area, QPlainTextEdit)
    area.setPlainText("  West:\n    FR\nEast:")
    assert "tree" in form.errors()


def test_levels_of_groups_are_parted_by_a_line() -> None:
    groups = [{"low": ["a", "b"], "high": ["c"]}, {"all": ["low", "high"]}]
    text = to_outline(groups)
    assert text.splitlines()[5] == "---"
    assert from_outline(text) == groups


TEXTS = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=6) | st.sampled_from(
    ["---", "a:", " a", '"', '"x"', "", "\n", "a: b"]
)
TREES = st.recursive(
    st.lists(TEXTS, max_size=3),
    lambda inner: st.dictionaries(TEXTS.filter(bool), inner, min_size=1, max_size=3),
    max_leaves=8,
)


@given(TREES)
def test_an_outline_is_read_back_as_it_was(tree: object) -> None:
    assert from_outline(to_outline(tree)) == (tree or None)
