"""What a column's texts look like: types, dates, free text, addresses, extreme numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import Content
from dpdesk.core.schema import ColumnType, ValueCount
from dpdesk.io.published_content import ColumnContent, column_content


def content(
    texts: Sequence[str], rows: Sequence[int] | None = None, decimal: str = "."
) -> ColumnContent:
    counts = np.asarray([1] * len(texts) if rows is None else rows, np.int64)
    return column_content(
        pa.array(list(texts), pa.string()), counts, ("", "?"), decimal, CancelToken()
    )


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-2", "+30", ""], ColumnType.INTEGER),
        (["1", "2.5", "1e3", ".5", "?"], ColumnType.DECIMAL),
        (["1,5", "2"], ColumnType.TEXT),
        (["2024-01-31", "1999-12-01"], ColumnType.DATE),
        (["31.1.2024", ""], ColumnType.DATE),
        (["2024-01-31T10:00:00Z"], ColumnType.DATE),
        (["1980-1989", "1990-1999"], ColumnType.TEXT),
        (["2024-01-31", "never"], ColumnType.TEXT),
        (["", "?"], ColumnType.EMPTY),
        ([], ColumnType.EMPTY),
    ],
)
def test_the_type_is_the_one_that_every_present_text_has(
    texts: list[str], kind: ColumnType
) -> None:
    assert content(texts).type is kind


def test_a_decimal_comma_makes_numbers_of_texts_with_commas() -> None:
    assert content(["1,5", "2"], decimal=",").type is ColumnType.DECIMAL


def test_one_address_among_many_texts_is_found() -> None:
    names = [f"name {n}" for n in range(1_000)]
    assert content(names).content is Content.PLAIN
    assert content([*names, "some.body@example.org"]).content is Content.ADDRESSES
    assert content([*names, "at @ home"]).content is Content.PLAIN


def test_many_different_texts_of_several_words_are_free_text() -> None:
    said = [f"I think that number {n} is right" for n in range(101)]
    assert content(said).content is Content.FREE_TEXT
    assert content(said[:100]).content is Content.PLAIN
    codes = [f"code {n}" for n in range(300)]
    assert content([*codes, *said]).content is Content.PLAIN
    assert content([*codes[:200], *said]).content is Content.FREE_TEXT


def test_a_number_far_above_all_others_is_extreme() -> None:
    texts, rows = [str(n) for n in range(1, 101)], [10] * 100
    assert content(texts, rows).extreme is None
    assert content([*texts, "201"], [*rows, 1]).extreme == ValueCount("201", 1)
    assert content([*texts, "200"], [*rows, 1]).extreme is None
    assert content([*texts, "500"], [*rows, 400]).extreme is None


def test_a_number_that_no_column_can_hold_is_not_extreme() -> None:
    assert content(["-5", "-1"], [99, 1]).extreme is None
    assert content(["0", "9"], [999, 1]).extreme is None


def test_judging_stops_when_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        column_content(pa.array(["a"]), np.ones(1, np.int64), (), ".", token)
