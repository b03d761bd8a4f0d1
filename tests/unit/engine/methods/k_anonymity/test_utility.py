"""Losses per attribute against a plain reference."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, GeneralisedTable, generalise
from dpdesk.engine.methods.k_anonymity.metrics import (
    LeafRows,
    attribute_utilities,
    groups_hit,
)
from tests.helpers.small_tables import SmallTable, tables_with_levels
from tests.reference import risk as reference


def leaf_rows(
    table: SmallTable, levels: tuple[int, ...], k: int
) -> tuple[GeneralisedTable, LeafRows, LeafRows]:
    counted = CountedTable(table.aligned)
    classes = generalise(counted, levels)
    return classes, counted.leaf_rows, counted.leaf_rows_of(classes.kept_rows(k))


@given(tables_with_levels(), st.integers(1, 6))
@settings(deadline=None)
def test_losses_and_distances_are_those_of_the_definitions(
    case: tuple[SmallTable, tuple[int, ...]], k: int
) -> None:
    table, levels = case
    found = attribute_utilities(*leaf_rows(table, levels, k))
    for column, each in enumerate(found):
        arguments = (table.rows, table.paths, levels, k, column)
        assert each.loss == pytest.approx(reference.attribute_loss(*arguments))
        assert each.distance == pytest.approx(reference.attribute_distance(*arguments))


@given(tables_with_levels(), st.integers(1, 6))
@settings(deadline=None)
def test_classes_are_those_of_the_generalised_rows(
    case: tuple[SmallTable, tuple[int, ...]], k: int
) -> None:
    table, levels = case
    found = generalise(CountedTable(table.aligned), levels)
    expected = reference.classes(reference.generalised(table.rows, table.paths, levels))
    counted = {
        tuple(labels[code] for labels, code in zip(found.labels, codes, strict=True)): size
        for codes, size in zip(found.codes.tolist(), found.sizes.tolist(), strict=True)
    }
    assert counted == dict(expected)
    kept = table.aligned.counts[found.kept_tuples(k)].sum()
    assert kept == sum(size for size in expected.values() if size >= k)


@given(tables_with_levels(), st.integers(1, 6))
@settings(deadline=None)
def test_groups_are_listed_by_their_suppressed_share(
    case: tuple[SmallTable, tuple[int, ...]], k: int
) -> None:
    table, levels = case
    found, before, after = leaf_rows(table, levels, k)
    groups = groups_hit(found.table, before, after)
    recoded = reference.generalised(table.rows, table.paths, levels)
    sizes = reference.classes(recoded)
    gone = [row for row, new in zip(table.rows, recoded, strict=True) if sizes[new] < k]
    assert bool(groups) == bool(gone)
    assert [g.share for g in groups] == sorted((g.share for g in groups), reverse=True)
    for group in groups:
        column = table.columns.index(group.attribute)
        assert group.rows == sum(row[column] == group.value for row in table.rows)
        assert group.suppressed == sum(row[column] == group.value for row in gone)


def test_many_wide_attributes_do_not_overflow_the_class_keys() -> None:
    from dpdesk.core.hierarchy import Hierarchy

    names = tuple(f"q{number}" for number in range(12))
    leaves = [str(value) for value in range(200)]
    hierarchies = {
        name: Hierarchy.from_rows(name, [(leaf, "*") for leaf in leaves]) for name in names
    }
    rows = tuple(tuple(str((row * (place + 3)) % 200) for place in range(12)) for row in range(150))
    table = SmallTable(names, rows + rows, hierarchies)
    found = generalise(CountedTable(table.aligned), [0] * 12)
    assert sorted(found.sizes.tolist()) == [2] * 150
