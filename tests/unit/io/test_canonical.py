"""One form of JSON only."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical, to_plain
from tests.helpers.searching import examples

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), VALUES))
def test_what_is_written_reads_back_and_is_written_again_alike(value: dict[str, object]) -> None:
    try:
        data = canonical_json(value)
    except UnicodeEncodeError:
        return  # a lone surrogate in a nested key
    assert parse_canonical(data) == value
    assert canonical_json(parse_canonical(data)) == data


@settings(max_examples=examples(100))
@given(
    st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            VALUES | st.fractions() | st.floats(allow_nan=False, width=32).map(np.float64),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.lists(inner, max_size=3).map(tuple)
                | st.dictionaries(st.text(max_size=3), inner, max_size=3).map(MappingProxyType)
            ),
            max_leaves=8,
        ),
    )
)
def test_the_bytes_are_those_that_json_itself_writes_with_indentation(
    value: dict[str, object],
) -> None:
    try:
        expected = json.dumps(
            to_plain(value), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False
        )
        data = f"{expected}\n".encode()
    except ValueError as error:  # an infinity, a lone surrogate
        with pytest.raises(type(error)):
            canonical_json(value)
        return
    assert canonical_json(value) == data


def test_form_is_utf8_sorted_indented_with_one_line_feed() -> None:
    assert canonical_json({"b": 1, "a": ["ß"]}) == (
        '{\n  "a": [\n    "ß"\n  ],\n  "b": 1\n}\n'.encode()
    )


def test_exact_and_numpy_numbers_become_plain_ones() -> None:
    values = {
        "a": Fraction(1, 50),
        "b": Decimal("0.1"),
        "c": np.int64(3),
        "d": (np.float64(0.5), Fraction(4, 2)),
        "e": np.bool_(True),
    }
    assert json.loads(canonical_json(values)) == {
        "a": 0.02, "b": 0.1, "c": 3, "d": [0.5, 2], "e": True,
    }  # fmt: skip


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_lacks_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": value})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xef\xbb\xbf{}\n", "byte order mark"),
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[]\n", "does not hold a JSON object"),
        (b"3\n", "does not hold a JSON object"),
        (b"\xff\n", "not valid UTF-8"),
        (b'{\n  "a": 1,\n  "a": 2\n}\n', "occurs twice"),
        (b'{\n  "a": NaN\n}\n', "not a number"),
        (b'{\n  "a": -Infinity\n}\n', "not a number"),
        (b'{\n  "a": 1e999\n}\n', "out of range"),
        (b'{\n  "a": ' + b"9" * 5000 + b"\n}\n", "a number is too long to be read$"),
        (b'{"a": 1}\n', "its bytes were changed"),
        (b'{\n  "b": 1,\n  "a": 1\n}\n', "its bytes were changed"),
        (b'{\n  "a": 1\n}', "its bytes were changed"),
        (b'{\n  "a": 1\n}\n\n', "its bytes were changed"),
        (b'{\n  "a": 1.00\n}\n', "its bytes were changed"),
        (b'{\n  "a": "\\u0041"\n}\n', "its bytes were changed"),
        (b'{\n  "a": "\\ud800"\n}\n', "not valid UTF-8"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_anything_else_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableJsonError, match=reason):
        parse_canonical(data)
