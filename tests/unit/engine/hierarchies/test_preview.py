"""Previews agree with what counting rows one by one gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy, LevelValue, ValueChange
from dpdesk.engine.hierarchies.preview import level_counts, level_effect

AGE = Hierarchy.from_rows(
    "age", [[str(n), f"{n // 2 * 2}+", f"{n // 4 * 4}+", "*"] for n in range(8)]
)


def table_of(values: list[str], missing: str = "") -> FrequencyTable:
    """Two attributes, so that the other one must be summed out."""
    counted = Counter((value, str(index % 2)) for index, value in enumerate(values))
    domain = tuple(sorted(set(values)))
    codes = [[domain.index(value), int(other)] for value, other in counted]
    tokens = frozenset({domain.index(missing)} if missing in domain else ())
    return FrequencyTable(
        ("age", "other"),
        (domain, ("0", "1")),
        np.array(codes, np.int32).reshape(-1, 2),
        np.array(list(counted.values()), np.int64),
        (tokens, frozenset()),
    )


def test_rows_are_counted_at_every_level() -> None:
    preview = level_counts(table_of(["0", "0", "1", "5", "?"], "?"), AGE)
    assert preview.values(1) == (
        LevelValue("0+", 3, 2),
        LevelValue("2+", 0, 2),
        LevelValue("4+", 1, 2),
        LevelValue("6+", 0, 2),
        LevelValue("?", 1, 1),
    )
    assert preview.values(1, limit=1) == (LevelValue("0+", 3, 2),)
    assert preview.values(3) == (LevelValue("*", 5, 9),)
    summary = preview.levels[1]
    assert (summary.values, summary.smallest, summary.rarest, summary.unused) == (3, 1, "4+", 2)
    assert preview.missing == {8}


def test_the_effect_of_a_level_is_shown_on_the_first_rows() -> None:
    values = ["0", "0", "1", "5"]
    effect = level_effect(level_counts(table_of(values), AGE), 1, values[:3])
    assert effect.sample == (
        ValueChange("0", "0+"),
        ValueChange("0", "0+"),
        ValueChange("1", "0+"),
    )
    assert (effect.distinct_before, effect.distinct_after, effect.merged) == (3, 2, 2)
    assert effect.rows_changed == 4
    assert (effect.smallest_before, effect.smallest_after) == (1, 1)


def test_level_zero_changes_nothing() -> None:
    effect = level_effect(level_counts(table_of(["0", "1"]), AGE), 0, ["1"])
    assert (effect.rows_changed, effect.merged, effect.distinct_after) == (0, 0, 2)
    assert effect.sample == (ValueChange("1", "1"),)


def test_what_cannot_be_previewed_is_named() -> None:
    preview = level_counts(table_of(["0"]), AGE)
    with pytest.raises(InputError, match="there is no level 4, expected 0 to 3"):
        level_effect(preview, 4)
    with pytest.raises(InputError, match="`77` has no leaf"):
        level_effect(preview, 1, ["77"])
    with pytest.raises(InputError, match="preview, attribute `age`: this value has no leaf"):
        level_counts(table_of(["77"]), AGE)
    with pytest.raises(InputError, match="the data have no attribute `sex`"):
        level_counts(table_of(["0"]), Hierarchy.from_rows("sex", [["m", "*"]]))


def test_a_table_without_rows_has_an_empty_preview() -> None:
    preview = level_counts(table_of([]), AGE)
    assert [level.smallest for level in preview.levels] == [0, 0, 0, 0]
    assert preview.levels[0].unused == 8


@settings(deadline=None)
@given(
    values=st.lists(st.sampled_from([str(n) for n in range(8)] + ["?"]), min_size=1, max_size=40)
)
def test_every_level_agrees_with_counting_rows_one_by_one(values: list[str]) -> None:
    preview = level_counts(table_of(values, "?"), AGE)
    paths = {row[0]: row for row in [*AGE.rows(), ["?", "?", "?", "*"]]}
    for level in range(4):
        counted = Counter(paths[value][level] for value in values)
        shown = {item.value: item.rows for item in preview.values(level) if item.rows}
        assert shown == counted
        assert preview.levels[level].smallest == min(counted.values())
        effect = level_effect(preview, level, values)
        assert [change.after for change in effect.sample] == [paths[v][level] for v in values]
        assert effect.distinct_after == len(counted)
        assert effect.rows_changed == sum(paths[value][level] != value for value in values)
        partners = Counter(paths[value][level] for value in set(values))
        assert effect.merged == sum(count for count in partners.values() if count > 1)
