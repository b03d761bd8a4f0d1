"""Rows chosen in the database against the same choice row by row."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource, RowRule
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io import coding, counting
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.memory_tables import MemorySource

COLUMNS = ("person", "sex", "age", "pay")
LOST = {"sex": ("?", "it's"), "age": ("", "99", "never there")}
RULES = [
    RowRule({}),
    RowRule(LOST),
    RowRule({"sex": ()}),
    RowRule({}, every=3),
    RowRule(LOST, every=2),
    RowRule(LOST, "person"),
    RowRule(LOST, "person", ("sex", "age", "pay"), 1),
    RowRule({}, "person", ("age", "sex"), 2),
    RowRule({}, "person", ("pay", "age", "sex"), 3),
]
TOKEN = CancelToken()


def rows(count: int = 400) -> list[tuple[str, ...]]:
    draw = random.Random(3)
    return [
        (
            draw.choice(["", "NA", *(f"p{i}" for i in range(90))]),
            draw.choice(["f", "m", "?", "it's", "ä"]),
            draw.choice(["1", "10", "2", "99", ""]),
            draw.choice(["5", "50", "6", "n/a"]),
        )
        for _ in range(count)
    ]


def counted(source: FrequencySource, names: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    table = source.frequency_table(names, TOKEN)
    return {
        tuple(table.domains[j][code] for j, code in enumerate(codes)): int(count)
        for codes, count in zip(table.codes.tolist(), table.counts, strict=True)
    }


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    made = Workspace.open(private_home)
    yield made
    made.close()


@pytest.fixture(params=["packed", "wide", "texts"])
def store(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[DataStore]:
    monkeypatch.setattr(coding, "MOST_CODED_COLUMNS", 0 if request.param == "texts" else 1_000)
    monkeypatch.setattr(counting, "_KEY_BITS", 1 if request.param == "wide" else 63)
    lines = [",".join(COLUMNS), *(",".join(row) for row in rows())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    spec = SourceSpec("t.csv", missing=("", "NA"))
    made = DataStore.open(spec, tmp_path, workspace, TOKEN, silent)
    yield made
    made.close()


@pytest.mark.parametrize("rule", RULES)
def test_the_rows_that_count_are_those_that_count_row_by_row(
    store: DataStore, rule: RowRule
) -> None:
    slow = MemorySource.of(COLUMNS, rows(), missing=("", "NA")).restricted(rule, TOKEN)
    found = store.restricted(rule, TOKEN)
    assert found.rows == slow.rows
    assert found.columns == COLUMNS
    for names in (("sex", "age"), ("pay",), ("person", "pay"), COLUMNS):
        if rule.most is None or not set(names) - {*rule.order, rule.person}:
            assert counted(found, names) == counted(slow, names)
    assert found.frequency_table((), TOKEN).rows == slow.rows


def test_the_whole_table_stays_as_it_is_beside_rows_that_were_chosen(store: DataStore) -> None:
    before = counted(store, ("sex",))
    counted(store.restricted(RULES[4], TOKEN), ("sex",))
    assert counted(store, ("sex",)) == before


def test_a_rule_for_a_column_that_is_not_there_names_it(store: DataStore) -> None:
    with pytest.raises(InputError, match="no column `sxe`"):
        store.restricted(RowRule({"sxe": ("1",)}), TOKEN)
