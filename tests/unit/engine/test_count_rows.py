"""Counts of released rows: exact where values are whole, bounds where they are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Answer, read_query
from dpdesk.core.release import CountedRows
from dpdesk.engine.methods.k_anonymity.querying import count_rows
from tests.helpers.stated import stated

ROWS = [("0-19", "F", "x")] * 3 + [("20-39", "M", "x")] * 4 + [("*", "F", "y")] * 2


class Released:
    """Microdata in memory."""

    manifest = stated(
        guarantee={"parameters": {"quasi_identifiers": ["age", "sex"]}},
        result={"rows_suppressed": 1, "node": {"age": 1, "sex": 0}},
    )

    def cuboid(self, file: str, token: CancelToken) -> CuboidTable:
        raise KeyError(file)

    def columns(self, file: str, token: CancelToken) -> tuple[str, ...]:
        return ("age", "sex", "illness")

    def counted(self, file: str, columns: Sequence[str], token: CancelToken) -> CountedRows:
        places = [self.columns(file, token).index(name) for name in columns]
        found = Counter(tuple(row[place] for place in places) for row in ROWS)
        texts = tuple(tuple(sorted({key[i] for key in found})) for i in range(len(columns)))
        codes = [[texts[i].index(text) for i, text in enumerate(key)] for key in found]
        shape = (len(found), len(columns))
        return CountedRows(
            tuple(columns),
            texts,
            np.array(codes, np.int32).reshape(shape),
            np.array(list(found.values()), np.int64),
        )


def ask(*where: str, by: Sequence[str] = (), **more: Any) -> Answer:
    return count_rows(read_query(by, where, **more), Released(), CancelToken())


def test_whole_values_are_counted_exactly_with_room_for_the_suppressed() -> None:
    (row,) = ask("sex=F").rows
    assert (row.value, row.standard_error, row.low, row.high) == (5.0, 0.0, 5.0, 6.0)
    assert "1 rows were suppressed" in ask().sentence


def test_a_value_that_is_cut_gives_bounds_and_no_number() -> None:
    (row,) = ask("age>=10").rows
    assert (row.value, row.low, row.high) == (None, 4.0, 10.0)
    assert row.note
    assert any("nothing within it is guessed" in warning for warning in ask("age>=10").warnings)


def test_a_star_may_be_anything_unless_it_is_asked_for() -> None:
    (row,) = ask("age=20-39").rows
    assert (row.value, row.low, row.high) == (None, 4.0, 7.0)
    (row,) = ask("age=*").rows
    assert row.value == 2.0


def test_groups_come_in_order_with_margins_last() -> None:
    rows = ask(by=["age", "sex"], margins=True).rows
    assert [row.labels for row in rows] == [
        ("0-19", "F"),
        ("0-19", None),
        ("20-39", "M"),
        ("20-39", None),
        ("*", "F"),
        ("*", None),
        (None, "F"),
        (None, "M"),
        (None, None),
    ]
    assert rows[-1].value == len(ROWS)


def test_only_generalised_columns_are_warned_of() -> None:
    assert ask("sex=F").warnings == ()
    assert "`age`" in ask(by=["age"]).warnings[0]


@pytest.mark.parametrize("where", ["illness=z", "town=a"])
def test_what_is_not_there_is_an_error(where: str) -> None:
    with pytest.raises(Exception, match="release has no"):
        ask(where)


def test_a_group_for_each_combination_that_occurs_and_no_more() -> None:
    answer = ask(by=["age", "sex", "illness"], margins=True)
    expected: Counter[tuple[str | None, ...]] = Counter()
    for row in ROWS:
        for kept in range(8):
            expected[tuple(text if kept >> i & 1 else None for i, text in enumerate(row))] += 1
    assert {row.labels: row.value for row in answer.rows} == expected
    assert len(answer.rows) == len(expected)


def test_where_nothing_is_meant_there_is_no_group_but_a_total_of_none() -> None:
    nothing = ("sex=F", "age=20-39", "illness=x")
    assert ask(*nothing, by=["sex"]).rows == ()
    (row,) = ask(*nothing).rows
    assert (row.value, row.high) == (0.0, 1.0)
