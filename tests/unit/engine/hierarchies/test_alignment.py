"""Alignment: every value a leaf, missing tokens categories of their own, nothing merged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.hierarchies.preview import align, default_hierarchy

SEX = Hierarchy.from_rows("sex", [["m", "*"], ["f", "*"]])
AGE = Hierarchy.from_rows("age", [[str(n), f"{n // 10}x", "*"] for n in range(40)])


def table(
    domains: tuple[tuple[str, ...], ...],
    codes: list[list[int]],
    counts: list[int],
    missing: tuple[frozenset[int], ...] = (),
) -> FrequencyTable:
    return FrequencyTable(
        ("age", "sex")[: len(domains)],
        domains,
        np.array(codes, np.int32).reshape(len(codes), len(domains)),
        np.array(counts, np.int64),
        missing,
    )


def test_codes_become_leaf_codes_in_the_same_order() -> None:
    given_table = table((("31", "7"), ("f", "m")), [[0, 0], [1, 1], [0, 1]], [4, 5, 6])
    aligned = align(given_table, {"age": AGE, "sex": SEX}, "plan.toml")
    assert aligned.codes.tolist() == [[31, 1], [7, 0], [31, 0]]
    assert aligned.codes.dtype == np.int32
    assert aligned.counts.tolist() == [4, 5, 6]
    assert aligned.rows == 15
    assert aligned.hierarchies == (AGE, SEX)
    assert aligned.missing == (frozenset(), frozenset())


def test_each_missing_token_is_a_category_of_its_own() -> None:
    given_table = table(
        (("31", "?", ""), ("m",)),
        [[0, 0], [1, 0], [2, 0]],
        [1, 2, 3],
        (frozenset({1, 2}), frozenset()),
    )
    aligned = align(given_table, {"age": AGE, "sex": SEX}, "plan.toml")
    age = aligned.hierarchies[0]
    assert aligned.codes[:, 0].tolist() == [31, 40, 41]
    assert age.leaves[40:] == ("?", "")
    assert [age.labels[1][code] for code in age.ancestors(1)[40:]] == ["?", ""]
    assert aligned.missing == (frozenset({40, 41}), frozenset())


def test_a_missing_token_with_a_leaf_uses_that_leaf() -> None:
    unknown = Hierarchy.from_rows("age", [["1", "known", "*"], ["?", "unknown", "*"]])
    aligned = align(table((("?",),), [[0]], [3], (frozenset({0}),)), {"age": unknown}, "p")
    assert aligned.hierarchies[0] is unknown
    assert aligned.missing == (frozenset({1}),)


def test_a_value_without_leaf_is_named_with_attribute_rows_and_hierarchy() -> None:
    given_table = table((("31", "91"), ("m",)), [[0, 0], [1, 0]], [1, 1200])
    with pytest.raises(InputError) as caught:
        align(given_table, {"age": AGE, "sex": SEX}, "plan.toml", {"age": "age.csv"})
    assert caught.value.code == "hierarchy.missing-leaf"
    assert caught.value.sentence == (
        "plan.toml, attribute `age`: this value has no leaf in the hierarchy age.csv: "
        "`91` (1,200 rows); expected one leaf for each value of the data."
    )
    assert caught.value.details["rows"] == 1200


def test_many_values_without_leaf_are_counted_most_frequent_first() -> None:
    domain = tuple(str(90 + n) for n in range(5))
    given_table = table((domain,), [[n] for n in range(5)], [1, 5, 2, 1, 1])
    with pytest.raises(InputError) as caught:
        align(given_table, {"age": AGE}, "plan.toml")
    assert (
        "these values have no leaf in its hierarchy: `91` (5 rows), `92` (2 rows), `90` (1 row) "
        "and 2 more (2 rows);"
    ) in caught.value.sentence
    assert caught.value.details["values"] == ("91", "92", "90", "93", "94")


def test_a_domain_value_that_never_occurs_needs_no_leaf() -> None:
    aligned = align(table((("31", "91"),), [[0]], [2]), {"age": AGE}, "plan.toml")
    assert aligned.codes.tolist() == [[31]]


def test_an_attribute_without_hierarchy_is_named() -> None:
    with pytest.raises(InputError, match=r"plan\.toml, attribute `sex`: it has no hierarchy"):
        align(table((("31",), ("m",)), [[0, 0]], [2]), {"age": AGE}, "plan.toml")


def test_an_empty_table_aligns() -> None:
    assert align(table(((), ()), [], []), {"age": AGE, "sex": SEX}, "p").codes.shape == (0, 2)


def test_the_table_is_left_as_it_was() -> None:
    given_table = table((("31", "7"),), [[0], [1]], [4, 5])
    before = given_table.codes.copy()
    align(given_table, {"age": AGE}, "p").codes[:] = 0
    assert (given_table.codes == before).all()


def test_the_default_hierarchy_is_the_value_then_the_top() -> None:
    assert default_hierarchy("x", ["b", "a", "b"]).rows() == [["b", "*"], ["a", "*"]]


@settings(deadline=None)
@given(
    values=st.lists(st.text(max_size=3), min_size=1, max_size=12, unique=True),
    data=st.data(),
)
def test_alignment_decodes_to_the_same_texts_and_merges_nothing(
    values: list[str], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(values))
    tokens = data.draw(st.sets(st.sampled_from(values)))
    kept = [value for value in order if value not in tokens] or ["other"]
    hierarchy = default_hierarchy("age", kept)
    codes = [[code] for code in range(len(values))]
    missing = (frozenset(values.index(token) for token in tokens),)
    aligned = align(
        table((tuple(values),), codes, [1] * len(values), missing), {"age": hierarchy}, "p"
    )
    decoded = [aligned.hierarchies[0].leaves[code] for code in aligned.codes[:, 0]]
    assert decoded == values
    assert len(np.unique(aligned.codes)) == len(values)
    assert {aligned.hierarchies[0].leaves[code] for code in aligned.missing[0]} == tokens
