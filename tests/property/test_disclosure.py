"""What is counted from a published file agrees with the definitions, on small random tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.schema import Role
from dpdesk.io.workspace import Workspace
from dpdesk.project.review.table_facts import ValueReading, table_facts
from tests.helpers.published_tables import published, workspace
from tests.helpers.searching import examples
from tests.reference import disclosure as reference
from tests.reference import risk

COLUMNS = ("age", "secret", "town", "note")
QUASI = {"age": Role.QUASI_IDENTIFIER, "town": Role.QUASI_IDENTIFIER, "secret": Role.SENSITIVE}
texts = st.sampled_from(["", "a", "b", "?", 'say "x", y', "d\ne", "7", "ä"])
rows = st.lists(st.tuples(texts, texts, texts, texts), min_size=1, max_size=40)


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with workspace(tmp_path_factory.mktemp("home")) as found:
        yield found


@settings(max_examples=examples(100), deadline=None)
@given(rows, st.integers(1, 6))
def test_a_table_is_counted_as_defined(
    private: Workspace, table: list[tuple[str, str, str, str]], k: int
) -> None:
    file = published(private.new_path(".csv"), COLUMNS, table)
    reading = ValueReading(("", "?"), ".", k)
    found = table_facts(file, QUASI, reading, private, CancelToken(), silent)
    keys = [(row[0], row[2]) for row in table]
    sizes = risk.classes(keys)
    assert (found.rows, found.classes) == (len(table), len(sizes))
    assert found.smallest == min(sizes.values())
    assert found.uniques == risk.violations(keys, 2)
    assert found.below == risk.violations(keys, k)
    assert found.missing == sum(1 for key in keys if {"", "?"} & set(key))
    for place, name in enumerate(COLUMNS):
        values = [row[place] for row in table]
        column = found.columns[place]
        counts = {value: values.count(value) for value in values}
        assert column.name == name
        assert column.role is QUASI.get(name, Role.INSENSITIVE)
        assert column.missing == sum(value in ("", "?") for value in values)
        assert column.distinct == len(set(values) - {"", "?"})
        assert column.unique == sum(
            rows == 1 for value, rows in counts.items() if value not in ("", "?")
        )
        assert (column.top.value, column.top.rows) == min(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
        if name in ("age", "town"):
            assert column.spread is None
        else:
            assert column.spread is not None
            assert asdict(column.spread) == reference.spread(keys, values, k)._asdict()


@settings(deadline=None, max_examples=20)
@given(rows)
def test_without_a_quasi_identifier_all_rows_are_one_class(
    private: Workspace, table: list[tuple[str, str, str, str]]
) -> None:
    file = published(private.new_path(".csv"), COLUMNS, table)
    reading = ValueReading(("",), ".", 2)
    found = table_facts(file, {}, reading, private, CancelToken(), silent)
    assert (found.classes, found.smallest, found.missing) == (1, len(table), 0)
    for place, column in enumerate(found.columns):
        values = [row[place] for row in table]
        assert column.spread is not None
        one = [("",)] * len(table)
        assert asdict(column.spread) == reference.spread(one, values, 2)._asdict()


def test_a_table_without_rows_has_no_classes(private: Workspace) -> None:
    file = published(private.new_path(".csv"), COLUMNS, [])
    reading = ValueReading(("",), ".", 2)
    found = table_facts(file, QUASI, reading, private, CancelToken(), silent)
    assert (found.rows, found.classes, found.smallest, found.columns) == (0, 0, 0, ())


def test_nothing_of_the_table_is_left_in_the_private_folder(tmp_path: Path) -> None:
    with workspace(tmp_path) as private:
        before = {path for path in private.folder.rglob("*") if path.is_file()}
        file = published(tmp_path / "table.csv", COLUMNS, [("a", "b", "c", "d")] * 3)
        table_facts(file, QUASI, ValueReading(("",), ".", 2), private, CancelToken(), silent)
        assert {path for path in private.folder.rglob("*") if path.is_file()} == before
