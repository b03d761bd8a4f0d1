"""Edits in the words of the form."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from dpdesk.app.exploring import methods
from dpdesk.app.types import AppContext, SetMethod, SetParameters, SetTitle
from dpdesk.core.parameters import ChoiceParameter
from dpdesk.ui.words.settings import value_words, worded
from dpdesk.ui.words.spoken import inside


@pytest.fixture
def app_context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as context:
        yield context


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 7}, "k: 7 rows"),
        ({"max_suppression": "0.025"}, "Rows suppressed: 2.50\u00a0%"),
        ({"algorithm": "samarati", "k": None}, "Search: Samarati, k: default"),
        ({"model": "AG"}, "Model: Whole columns generalised, no row suppressed"),
        ({"model": "CG"}, "Model: Cells generalised one by one"),
        ({"objective": "average-class-size"}, "Objective: Average class size"),
        ({"unheard": 3}, "unheard: 3"),
    ],
)
def test_settings_are_named_as_in_the_form(
    app_context: AppContext, changes: dict[str, object], words: str
) -> None:
    known = methods(app_context)
    command = SetParameters(changes)
    made = worded(command, known[0], known)
    assert made.label == words
    assert made.merge_key == command.merge_key
    assert isinstance(made, SetParameters)
    assert made.changes == changes


def test_what_is_checked_and_fractions_are_said_as_people_write_them(
    app_context: AppContext,
) -> None:
    known = methods(app_context)
    method = next(one for one in known if any(each.key == "swap" for each in one.parameters))
    swap = {"columns": ["region"], "match": ["age"], "share": Decimal("0.05")}
    changes = {"attacker": {"lower": Decimal("0.5"), "present": True}, "swap": swap}
    made = worded(SetParameters(changes), method, known)
    assert made.label == (
        "What everyone knows of a cell: At least this share of it 50\u00a0%, That no suppressed "
        "cell is empty yes, Swap households: Columns exchanged region, Equal in age, Share of "
        "households 5\u00a0%"
    )


def test_where_categories_come_from_is_said_in_words(app_context: AppContext) -> None:
    known = methods(app_context)
    method = next(one for one in known if any(each.key == "origins" for each in one.parameters))
    made = worded(SetParameters({"origins": {"sex": "data", "age": "file"}}), method, known)
    assert made.label == "Where categories come from: sex: from the data; age: from a hierarchy"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (["a", "b", "c"], ["a", "b", "c", "d"], "Dimensions: d added"),
        (["a", "b", "c", "d", "e"], ["a", "c", "d", "e"], "Dimensions: b removed"),
        (["a", "b", "c", "d"], ["a", "b", "c", "e"], "Dimensions: e added, d removed"),
        (["a"], ["a", "b"], "Dimensions: a, b"),
        ([], ["a", "b", "c", "d"], "Dimensions: a, b, c, d"),
        (["a", "b", "c", "d"], ["d", "c", "b", "a"], "Dimensions: d, c, b, a"),
    ],
)
def test_of_a_long_list_the_difference_is_said(
    app_context: AppContext, before: list[str], after: list[str], words: str
) -> None:
    known = methods(app_context)
    method = next(one for one in known if any(each.key == "dimensions" for each in one.parameters))
    command = SetParameters({"dimensions": after})
    made = worded(command, method, known, before={"dimensions": before})
    assert made.label == words


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"a": ["1"], "b": ["1"]}, {"a": ["1", "2"], "b": ["1"]}, "a: 1, 2"),
        ({}, {"a": ["1"], "b": ["1"], "c": ["1"], "d": ["1"]}, "a, b, c, d"),
        ({"a": ["1"], "b": ["1"]}, {"a": ["1"]}, "b removed"),
        ({"a": ["1"], "b": ["1"]}, {"a": ["2"]}, "a: 2; b removed"),
    ],
)
def test_of_a_table_what_changed_is_said(
    app_context: AppContext, before: dict[str, object], after: dict[str, object], words: str
) -> None:
    known = methods(app_context)
    method = next(one for one in known if any(each.key == "domains" for each in one.parameters))
    made = worded(SetParameters({"domains": after}), method, known, before={"domains": before})
    assert made.label == f"Declared categories: {words}"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"rule": [{"rule": "threshold", "n": 3}, {"rule": "p-percent", "p": 15}]},
            "Rules for unsafe cells: Too few contributors: Contributors at least 3; "
            "p-percent rule: Closer than 15\u00a0%",
        ),
        ({"measure": "count"}, "In each cell: Number of rows"),
        ({"measure": {"sum": "pay"}}, "In each cell: Sum of a column: Column pay"),
    ],
)
def test_rules_and_measures_are_said_as_their_form_shows_them(
    app_context: AppContext, changes: dict[str, object], words: str
) -> None:
    known = methods(app_context)
    method = next(one for one in known if any(each.key == "rule" for each in one.parameters))
    assert worded(SetParameters(changes), method, known).label == words


def test_a_default_that_held_already_is_not_said(app_context: AppContext) -> None:
    known = methods(app_context)
    command = SetParameters({"algorithm": "samarati", "k": None})
    assert worded(command, known[0], known, before={}).label == "Search: Samarati"
    said = worded(command, known[0], known, before={"k": 9}).label
    assert said == "Search: Samarati, k: default"


def test_what_has_no_effect_any_more_is_not_said(app_context: AppContext) -> None:
    known = methods(app_context)
    method = next(one for one in known if any(each.key == "deviation" for each in one.parameters))
    before = {"protect": "random-round", "base": 5}
    command = SetParameters({"protect": "cell-key", "base": None})
    said = worded(command, method, known, before=before).label
    assert said == "Protection: Change counts by cell keys"
    command = SetParameters({"base": None})
    assert worded(command, method, known, before=before).label == "Base of rounding: default"


def test_a_method_goes_by_its_title(app_context: AppContext) -> None:
    known = methods(app_context)
    made = worded(SetMethod(known[0].id), None, known)
    assert made.label == f"Method: {known[0].title}"


def test_other_edits_stay_as_they_are(app_context: AppContext) -> None:
    known = methods(app_context)
    assert worded(SetTitle("People"), known[0], known) == SetTitle("People")


def test_names_keep_their_capital_inside_a_sentence() -> None:
    assert inside("Mondrian: cut the rows") == "Mondrian: cut the rows"
    assert inside("Rows suppressed") == "rows suppressed"


def test_no_two_choices_of_a_setting_are_called_alike(app_context: AppContext) -> None:
    for method in methods(app_context):
        for one in method.parameters:
            if isinstance(one, ChoiceParameter):
                words = [value_words(one, each.value) for each in one.choices]
                assert len(set(words)) == len(words), (method.id, one.key, words)
