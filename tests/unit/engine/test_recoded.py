"""Tuples of labels as numbers: the same for the same tuple, however many labels there are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.recoding import Recoding
from dpdesk.engine.recoded import suppressed_tuples, tuple_keys

SIZES = (3, 2, 1 << 20, 1 << 21, 1 << 20, 7, 1 << 22, 5)
"""Far more tuples than 64 bits can number."""
ROWS = st.lists(
    st.tuples(*(st.sampled_from((0, 1, size - 1)) for size in SIZES)), min_size=1, max_size=40
)


def recoding(suppressed: list[tuple[int, ...]]) -> Recoding:
    gone = np.array(suppressed, np.int32).reshape(len(suppressed), len(SIZES))
    labels = tuple(range(size) for size in SIZES)
    return cast("Recoding", SimpleNamespace(labels=labels, suppressed=gone))


@given(ROWS)
def test_the_same_tuples_and_no_others_have_the_same_key(rows: list[tuple[int, ...]]) -> None:
    keys = tuple_keys(recoding([]), np.array(rows, np.int32)).tolist()
    assert len(set(keys)) == len(set(rows))
    assert len(set(zip(keys, rows, strict=True))) == len(set(rows))


@given(ROWS, st.data())
def test_suppressed_tuples_are_those_that_are_listed(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    gone = data.draw(st.lists(st.sampled_from(rows), unique=True))
    found = suppressed_tuples(recoding(gone), np.array(rows, np.int32))
    assert found.tolist() == [row in gone for row in rows]


@pytest.mark.parametrize("place", range(len(SIZES)))
def test_tuples_that_differ_in_one_place_alone_differ(place: int) -> None:
    rows = np.zeros((2, len(SIZES)), np.int32)
    rows[1, place] = SIZES[place] - 1
    first, second = tuple_keys(recoding([]), rows).tolist()
    assert first != second
