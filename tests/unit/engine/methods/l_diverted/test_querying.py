"""Questions to a made-up diverted release: what is said where nothing can be estimated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Answer, Chosen, Grouping, Query, Within
from dpdesk.core.release import CountedRows
from dpdesk.core.spans import Span
from dpdesk.engine.methods.l_diverted.querying import answer_diverted
from tests.helpers.stated import stated


class Rows:
    """A release of the rows (age, illness, job), as ``ReleasedContent``."""

    def __init__(self, rows: Sequence[tuple[str, ...]], size: int = 2) -> None:
        self._rows = rows
        named = {"l": size, "diverted": ["illness", "job"]}
        self.manifest = stated(
            guarantee={"parameters": named}, parameters={"partition": "largest-first"}
        )

    def columns(self, file: str, token: CancelToken) -> tuple[str, ...]:
        return ("age", "illness", "job")

    def counted(self, file: str, columns: Sequence[str], token: CancelToken) -> CountedRows:
        places = [self.columns(file, token).index(name) for name in columns]
        taken = [tuple(row[place] for place in places) for row in self._rows]
        texts = tuple(tuple(sorted(set(column))) for column in zip(*taken, strict=True))
        each = sorted(set(taken))
        codes = [
            [known.index(text) for known, text in zip(texts, row, strict=True)] for row in each
        ]
        counts = np.array([taken.count(row) for row in each], np.int64)
        return CountedRows(tuple(columns), texts, np.array(codes, np.int32), counts)

    def cuboid(self, file: str, token: CancelToken) -> None:
        raise AssertionError("there is no cube")


def ask(query: Query, rows: Sequence[tuple[str, ...]], size: int = 2) -> Answer:
    return answer_diverted(query, Rows(rows, size), CancelToken())  # type: ignore[arg-type]


FREQUENT = (
    [("20-29", "flu", "baker")] * 6 + [("30", "cold", "smith")] * 4 + [("30", "gout", "x")] * 2
)


@pytest.mark.parametrize("estimator", ["closed-form", "em", "matrix"])
def test_a_value_of_half_the_rows_is_not_estimable_in_groups_of_two(estimator: str) -> None:
    query = Query(where=(Chosen("illness", ("flu",)), Chosen("age", ("30",))), estimator=estimator)
    (row,) = ask(query, FREQUENT).rows
    assert (row.value, row.standard_error, row.low, row.high) == (None, None, None, None)
    assert row.note.startswith("not estimable: ")


def test_intervals_as_values_that_a_condition_cuts_are_not_guessed() -> None:
    query = Query(where=(Within("age", Span(low=25)), Chosen("illness", ("cold",))))
    (row,) = ask(query, FREQUENT).rows
    assert row.value is None
    assert "inside and outside the condition" in row.note


def test_largest_first_groups_come_with_a_warning() -> None:
    answer = ask(Query(by=(Grouping("job"),)), FREQUENT)
    assert any("largest first" in warning for warning in answer.warnings)


def test_a_table_that_no_mechanism_gives_is_refused() -> None:
    with pytest.raises(InputError) as failure:
        ask(Query(by=(Grouping("job"),)), FREQUENT[:-1])
    assert failure.value.code == "diverted.rows"


def test_too_many_combinations_of_sensitive_values_are_refused() -> None:
    rows = [("1", f"a{number}", f"b{number}") for number in range(1200)]
    with pytest.raises(RefusedError) as failure:
        ask(Query(by=(Grouping("job"), Grouping("illness"))), rows)
    assert failure.value.code == "query.refused"


MIXED = [(str(row % 7), "abcde"[row % 5], "vwxyz"[row // 5 % 5]) for row in range(700)]


@pytest.mark.parametrize("columns", [("job",), ("job", "illness")])
@pytest.mark.parametrize("few", [False, True])
def test_estimates_that_may_lean_say_to_go_by_the_interval(
    columns: tuple[str, ...], few: bool
) -> None:
    """Whether they may depends on the error of the number, not on how many columns were drawn."""
    where = tuple(Chosen(name, (value,)) for name, value in (("job", "v"), ("illness", "a")))
    chosen = where[: len(columns)] + ((Chosen("age", ("3",)),) if few else ())
    answer = ask(Query(where=chosen), MIXED)
    told = any("rely on the interval" in warning for warning in answer.warnings)
    assert told is any(row.note == "rely on the interval" for row in answer.rows)
    # The stated error is not that of the number shown, which is said with it.
    assert told is any("those of the unbiased solution" in warning for warning in answer.warnings)
    (row,) = answer.rows
    assert row.value is not None
    assert told is (few or len(columns) > 1)


def test_what_is_counted_exactly_does_not_lean() -> None:
    answer = ask(Query(by=(Grouping("age"),)), MIXED)
    assert not answer.warnings
    assert all(row.note == "" for row in answer.rows)
