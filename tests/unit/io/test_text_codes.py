"""Texts as codes: by code point whatever they are, and the same tuples as Python counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.io.text_codes import coded_texts, count_codes

CHARACTERS = "ab\0é\uffff\U0001f600"
TEXTS = st.lists(
    st.one_of(
        st.text(CHARACTERS, max_size=4),
        st.text(CHARACTERS, max_size=2).map("same beginning".__add__),
    )
)


@given(TEXTS, st.integers(0, 3))
def test_codes_follow_the_order_of_code_points(values: list[str], cut: int) -> None:
    column = pa.chunked_array([values[:cut], values[cut:]], pa.string())
    codes, domain = coded_texts(column)
    assert len(domain) == len({*values})
    assert [domain[code] for code in codes] == values
    assert domain == tuple(sorted({*values}))
    wanted = ("a", "", "never")
    assert {domain[place] for place in domain.places(wanted)} == {*wanted} & {*values}


@given(
    st.lists(st.tuples(*(st.integers(0, size - 1) for size in (2, 900, 5))), max_size=30),
    st.sampled_from((5, 1 << 31)),
    st.sampled_from((900, 1 << 31)),
)
def test_tuples_are_counted_in_their_order(
    rows: list[tuple[int, ...]], last: int, middle: int
) -> None:
    """Whether or not a tuple fits one number."""
    columns = np.array(rows, np.int32).reshape(-1, 3).T
    codes, counts = count_codes([*columns], [2, middle, last], len(rows), CancelToken())
    found = [tuple(row) for row in codes.tolist()]
    assert found == sorted({*rows})
    assert dict(zip(found, counts.tolist(), strict=True)) == Counter(rows)
