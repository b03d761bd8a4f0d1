"""Shape, tree model, sentences and pictures of the hierarchies step, on values alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, QPoint
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from dpdesk.app import hierarchies
from dpdesk.app.hierarchies import Examined
from dpdesk.app.types import WorkState
from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy, HierarchyPreview, LevelSummary
from dpdesk.core.jobs import CancelToken
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, SuggestedHierarchy, Why
from dpdesk.core.schema import ColumnType, Role, ValueCount
from dpdesk.engine.hierarchies.suggestions import suggest_hierarchy
from dpdesk.ui.panels.hierarchies import presenter
from dpdesk.ui.panels.hierarchies.presenter import HierarchyModel, State, reason
from dpdesk.ui.panels.hierarchies.tasks import (
    Edit,
    EditKind,
    HierarchyAnswer,
    TreeShape,
    level_chart,
    level_table,
    look_at,
    share_text,
    shown,
)
from dpdesk.ui.panels.hierarchies.tree_pane import HierarchyTree, TreePane
from dpdesk.ui.shell import Mark, PanelStatus
from dpdesk.ui.theme import ThemeManager

ROWS = [["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"], ["d", "y", "*"], ["", "", "*"]]


def preview(hierarchy: Hierarchy, leaf_rows: list[int]) -> HierarchyPreview:
    """The preview of a hierarchy, computed the obvious way."""
    rows = []
    for level in range(hierarchy.height + 1):
        upper = hierarchy.ancestors(level)
        counts = np.zeros(len(hierarchy.labels[level]), np.int64)
        for leaf, count in enumerate(leaf_rows):
            counts[upper[leaf]] += count
        rows.append(counts)
    levels = []
    for level, counts in enumerate(rows):
        used = [code for code in range(len(counts)) if counts[code]]
        rarest = min(used, key=lambda code: int(counts[code]))
        text = hierarchy.labels[level][rarest]
        small, unused = int(counts[rarest]), len(counts) - len(used)
        levels.append(LevelSummary(level, len(used), small, text, unused))
    return HierarchyPreview(hierarchy, tuple(rows), tuple(levels))


def look(leaf_rows: list[int] | None = None, lacking: tuple[str, ...] = ()) -> HierarchyAnswer:
    own = [row for row in ROWS if row[0] not in lacking]
    hierarchy = Hierarchy.from_rows("job", own)
    grown = hierarchy.with_untouched_leaves(lacking)
    counts = leaf_rows or [10, 20, 30, 40, 5]
    lacks = tuple(ValueCount(value, 1) for value in lacking)
    return look_at(Examined(hierarchy, preview(grown, counts), lacks), CancelToken())


def drawn_hierarchy(paths: list[list[int]]) -> Hierarchy:
    rows = [[f"v{n}", *(f"{level}:{g}" for level, g in enumerate(p))] for n, p in enumerate(paths)]
    nested: dict[tuple[int, str], list[str]] = {}
    fixed = []
    for row in rows:
        for level in range(1, len(row)):
            tail = nested.setdefault((level, row[level]), row[level:])
            row = [*row[:level], *tail]
        fixed.append([*row, "*"])
    return Hierarchy.from_rows("h", fixed)


GROUPS = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=1, max_size=12)


@given(GROUPS, st.sets(st.integers(0, 11)))
def test_every_node_is_found_below_its_parent(paths: list[list[int]], lacking: set[int]) -> None:
    hierarchy = drawn_hierarchy(paths)
    marked = frozenset(leaf for leaf in lacking if leaf < len(hierarchy.leaves))
    shape = TreeShape.of(hierarchy, marked)
    for level in range(1, hierarchy.height + 1):
        for code in range(len(hierarchy.labels[level])):
            children = [
                child for child, above in enumerate(hierarchy.parents[level - 1]) if above == code
            ]
            count = shape.child_count(level, code)
            found = [shape.child(level, code, row) for row in range(count)]
            assert sorted(found) == children
            assert shape.children(level, code, 0, count - 1).tolist() == found
            assert [shape.row(level - 1, child) for child in found] == list(range(count))
            flags = [bool(shape.lacking[level - 1][child]) for child in found]
            assert flags == sorted(flags, reverse=True)
            assert shape.node(shape.number(level, code)) == (level, code)
            assert bool(shape.lacking[level][code]) == all(flags)


@pytest.mark.parametrize("lacking", [(), ("c", "d")])
def test_the_tree_is_a_sound_model(
    qtbot: QtBot, qtmodeltester: ModelTester, theme: ThemeManager, lacking: tuple[str, ...]
) -> None:
    model = HierarchyModel(theme)
    qtmodeltester.check(model)
    model.set_look(look(lacking=lacking))
    qtmodeltester.check(model)
    assert model.find(0, "a").parent().data() == "x"
    assert not model.find(0, "nobody").isValid()
    assert not model.find(9, "a").isValid()


def test_ten_thousand_leaves_cost_only_what_is_seen(
    qtbot: QtBot, theme: ThemeManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [f"{n:05}" for n in range(10_000)]
    many = Hierarchy.from_rows("zip", [[code, f"{code[:3]}**", "*"] for code in codes])
    big = look_at(Examined(many, preview(many, [1] * 10_000)), CancelToken())
    asked: list[int] = []
    plain = HierarchyModel.data

    def counted(model: HierarchyModel, index: QModelIndex, role: int = 0) -> object:
        asked.append(role)
        return plain(model, index, role)

    monkeypatch.setattr(HierarchyModel, "data", counted)
    tree = HierarchyTree(theme)
    qtbot.addWidget(tree)
    tree.resize(500, 600)
    tree.show()
    tree.show_look(big)
    tree.expandAll()
    assert tree.jump_to(0, "09999")
    qtbot.waitUntil(lambda: bool(asked))
    tree.selectAll()
    assert tree.chosen().count == 100
    assert len(asked) < 10_000


def test_a_hierarchy_of_one_value_is_one_leaf(qtbot: QtBot, theme: ThemeManager) -> None:
    only = Hierarchy.from_rows("job", [["only"]])
    model = HierarchyModel(theme)
    model.set_look(look_at(Examined(only, preview(only, [3])), CancelToken()))
    top = model.index(0, 0)
    assert (top.data(), model.rowCount(top), model.hasChildren(top)) == ("only", 0, False)


def test_a_chart_with_little_room_shows_both_ends(theme: ThemeManager) -> None:
    many = Hierarchy.from_rows("n", [[str(n), "*"] for n in range(30)])
    counted = preview(many, [n + 1 for n in range(30)])
    chart = level_chart(counted, 0, level_table(counted, 0), bars=5)
    assert chart.categories == ("29", "28", "27", "1", "0")
    assert chart.series[0].values == (30, 29, 28, 2, 1)
    assert chart.threshold_before == 3
    assert len(chart.table.rows) == 30
    assert chart.answer == (
        "From 1 (0) to 30 (29) of 465 rows. The line stands for 25 more values."
    )
    nearly = level_chart(counted, 0, level_table(counted, 0), bars=29)
    assert nearly.answer.endswith("The line stands for one more value.")


def test_a_chart_with_room_keeps_the_order_of_the_hierarchy(theme: ThemeManager) -> None:
    some = Hierarchy.from_rows("n", [[str(n), "*"] for n in range(30)])
    counted = preview(some, [n + 1 for n in range(29)] + [0])
    chart = level_chart(counted, 0, level_table(counted, 0), bars=30)
    assert chart.categories == some.leaves[:29]
    assert chart.threshold_before is None


def test_what_is_missing_is_drawn_as_missing() -> None:
    rows = [["a", "x", "*"], ["", "", "*"], ["b", "x", "*"]]
    absent = replace(preview(Hierarchy.from_rows("n", rows), [3, 2, 1]), missing=frozenset({1}))
    for level, gap in ((0, 1), (1, 1)):
        chart = level_chart(absent, level, level_table(absent, level), bars=30)
        assert chart.missing == {gap}
        assert chart.categories[gap] == "empty field"


def test_shares_never_show_a_false_zero() -> None:
    assert share_text(1, 100_000) == "<0.1 %"
    assert share_text(0, 100_000) == "0.0 %"
    assert share_text(1, 8) == "12.5 %"


def test_the_effect_names_values_rows_and_groups() -> None:
    sentence = presenter.effect_sentence(look(), 1)
    assert sentence == (
        "Level 1 turns 5 values into 3 and changes 100 of 105 rows; the smallest group still has "
        "5 rows."
    )
    assert presenter.effect_sentence(look(), 0) == "Level 0 leaves every row as it is."


def test_levels_have_names() -> None:
    one = look()
    assert presenter.level_name(one, 0) == "Values as in the data"
    assert presenter.level_name(one, 1) == "Groups such as x and y"
    assert presenter.level_name(one, 2) == "Everything together"


def test_an_empty_value_never_looks_like_nothing() -> None:
    assert shown("") == "empty field"
    assert shown("  ") == "space"
    assert shown("a") == "a"


def test_attributes_are_listed_by_need_and_in_source_order() -> None:
    roles = {"c": Role.QUASI_IDENTIFIER, "a": Role.QUASI_IDENTIFIER, "b": Role.SENSITIVE}
    work = WorkState(roles=roles | {"d": Role.IDENTIFIER})
    expected = (("a", False), ("c", False), ("b", True))
    ordered = {name: work.role(name) for name in ("a", "b", "c", "d")}
    assert presenter.attributes(ordered) == expected
    assert presenter.without_hierarchy(work, ordered) == ("a", "c")


@pytest.mark.parametrize(
    ("states", "mark", "note"),
    [
        ((), Mark.OPEN, "mark a quasi-identifier first"),
        ((State.READY, State.NONE), Mark.OPEN, "1 of 2 have one"),
        ((State.READY, State.READY), Mark.DONE, "2 of 2 have one"),
        ((State.READY, State.LACKING), Mark.ATTENTION, "look at n1"),
        ((State.FAILED, State.READY), Mark.ATTENTION, "look at n0"),
    ],
)
def test_the_step_says_how_far_it_is(states: tuple[State, ...], mark: Mark, note: str) -> None:
    entries = [presenter.Entry(f"n{n}", False, state, "") for n, state in enumerate(states)]
    assert presenter.status(entries).mark is mark
    assert presenter.status(entries).note == note


def test_nobody_is_told_to_tag_what_a_method_does_not_ask_for() -> None:
    assert presenter.status((), wanted=False).note == ""
    ready = presenter.Entry("a", False, State.READY, "")
    assert presenter.status((ready,), wanted=False) == PanelStatus(Mark.DONE, "")
    none = presenter.Entry("c", False, State.NONE, "")
    assert presenter.status((ready, none), wanted=False) == PanelStatus(Mark.OPEN, "")
    bad = presenter.Entry("b", False, State.LACKING, "")
    assert presenter.status((ready, bad), wanted=False).note == "look at b"


def test_choices_are_named_in_words() -> None:
    assert presenter.choice_words(None) == "none: value, then *"
    assert presenter.choice_words(HierarchyFile("h/age.csv")) == "age.csv"
    assert presenter.choice_words(HierarchyBuilder("mask")) == "masking"
    assert presenter.choice_words(Hierarchy.from_rows("job", ROWS)) == "edited by hand"


COLUMNS: dict[Why, tuple[str, list[str]]] = {
    Why.FEW: ("x", ["1", "2", "9"]),
    Why.DATES: ("x", ["01/02/2024", "03/04/2024", "05/06/2024"]),
    Why.YEARS: ("x", [str(year) for year in range(1950, 2005)]),
    Why.NUMBERS: ("x", [str(number * 7) for number in range(-30, 400, 3)]),
    Why.COUNTS: ("children", [str(number) for number in range(9)] + ["N"]),
    Why.NUMBER_CODES: ("x", [str(number) for number in range(1, 10)]),
    Why.NAMED_CODES: ("region", [str(number) for number in range(1, 60)]),
    Why.CODES: ("x", [f"{a}{b}{c}77" for a in range(1, 4) for b in range(5) for c in range(5)]),
    Why.PADDED_CODES: ("isco", [str(code) for code in range(110, 9620, 90)]),
    Why.LOOSE_CODES: ("x", [f"{letter}1" for letter in "ABCDEF"]),
    Why.RANGES: ("x", ["0-14", "15-24", "25-64", "65+"]),
    Why.ORDER: ("grade", [str(number) for number in range(1, 9)]),
    Why.SCALE: ("x", ["good", "fair", "poor"]),
    Why.MONTHS: ("x", ["March", "January", "May"]),
    Why.DAYS: ("x", ["Sat", "Mon", "Tue"]),
    Why.SECTIONS: ("nace", ["01", "10", "11", "47", "86"]),
    Why.RUNNING: ("x", [str(number) for number in range(1, 1500)]),
    Why.NAMES: ("x", ["cook", "nurse", "judge", "baker", "smith"]),
}


@pytest.mark.parametrize("why", sorted(COLUMNS, key=lambda why: why.value))
def test_each_suggestion_has_a_reason(why: Why) -> None:
    name, values = COLUMNS[why]
    found = suggest_hierarchy(values, ColumnType.TEXT, (), name)
    assert found.why is why
    sentence = reason(found)
    assert sentence.startswith("Suggested")
    assert "{" not in sentence


def test_what_the_metadata_state_is_suggested_as_such() -> None:
    assert set(Why) - set(COLUMNS) == {Why.STATED}
    file = SuggestedHierarchy(HierarchyFile("/d/a.hrc"), Why.STATED, {"file": "a.hrc"})
    assert reason(file) == "Suggested a.hrc: the metadata of the source name it."
    mask = HierarchyBuilder("mask", {"from": "right", "steps": [1, 2]})
    digits = SuggestedHierarchy(mask, Why.STATED, {"digits": "3 1 1"})
    assert reason(digits).startswith("Suggested masking by 3 1 1 digits")


def test_a_reason_tells_of_coded_ends_of_codes_for_missing_and_of_a_second_reading() -> None:
    incomes = [str(number * 1000) for number in range(40)] + ["250000", "400000", "-9", "N"]
    rows = [100] * 40 + [1, 1, 20, 20]
    found = suggest_hierarchy(incomes, ColumnType.TEXT, (), "x", rows)
    sentence = reason(found)
    assert "42 numbers from 0 to 400,000" in sentence
    assert "Few rows are 40,000 and above" in sentence
    assert "N, -9 are kept separate" in sentence
    assert "dd/mm/yyyy" in reason(suggest_hierarchy(COLUMNS[Why.DATES][1], ColumnType.DATE))
    assert "mm/dd/yyyy as well" in reason(suggest_hierarchy(COLUMNS[Why.DATES][1], ColumnType.DATE))


def test_the_tree_of_the_form_holds_the_groups() -> None:
    rows = [["a", "x", "p", "*"], ["b", "x", "p", "*"], ["c", "y", "q", "*"]]
    deep = Hierarchy.from_rows("job", rows)
    expected = {"p": {"x": ["a", "b"]}, "q": {"y": ["c"]}}
    assert presenter.as_tree(preview(deep, [1, 1, 1])) == expected
    flat = Hierarchy.from_rows("job", [["a", "*"], ["b", "*"]])
    assert presenter.as_tree(preview(flat, [1, 1])) == ["a", "b"]
    wide = Hierarchy.from_rows("n", [[str(n), "*"] for n in range(600)])
    assert presenter.as_tree(preview(wide, [1] * 600)) is None


def test_edits_say_themselves() -> None:
    assert Edit(EditKind.GROUP, 0, ("a", "b"), "x").words == "2 values grouped as x"
    assert Edit(EditKind.MOVE, 0, ("",), "x").words == "empty field moved to x"
    assert Edit(EditKind.REMOVE_LEVEL, 2).words == "level 2 removed"
    assert Edit(EditKind.SORT).words == "sorted"


def test_an_edit_takes_in_only_the_lacking_values_it_names() -> None:
    examined = look(lacking=("c", "d")).examined
    moved = Edit(EditKind.MOVE, 0, ("c",), "x").on(examined)
    assert "c" in moved.leaf_codes
    assert "d" not in moved.leaf_codes
    assert ["c", "x", "*"] in moved.rows()
    beside = Edit(EditKind.MOVE, 0, ("a",), "d").on(examined)
    assert ["a", "d", "*"] in beside.rows()
    assert "c" not in beside.leaf_codes
    added = Edit(EditKind.ADD, 0, ("c", "d")).on(examined)
    assert {"c", "d"} <= set(added.leaves)
    assert set(Edit(EditKind.SORT).on(examined).leaves) == {"a", "b", ""}


def test_an_impossible_edit_is_refused() -> None:
    with pytest.raises(InputError, match="no value `nobody`"):
        Edit(EditKind.MOVE, 0, ("a",), "nobody").on(look().examined)


def test_effects_agree_with_the_facade() -> None:
    one = look()
    for level, effect in enumerate(one.effects):
        assert effect == hierarchies.level_effect(one.examined.preview, level)


def test_values_without_a_place_push_nothing_away_under_the_mouse(
    theme: ThemeManager, qtbot: QtBot
) -> None:
    pane = TreePane(theme)
    qtbot.addWidget(pane)
    pane.resize(500, 600)
    with qtbot.waitExposed(pane):
        pane.show()
    before = [part.mapTo(pane, QPoint()) for part in (pane.finder, pane.tree)]
    pane.lacking.show()
    qtbot.waitUntil(lambda: pane.lacking.y() > 0 or pane.tree.y() > 0)
    pane.grab()
    assert [part.mapTo(pane, QPoint()) for part in (pane.finder, pane.tree)] == before
