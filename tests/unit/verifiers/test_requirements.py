"""The verifier's own measures of classes agree with the definitions, and with the search's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.verifiers.anonymity.requirements import Held, kept_classes, required_of
from tests.reference import class_requirements as reference
from tests.unit.engine.methods.k_anonymity.test_requirements import (
    _LEAVES,
    _PATHS,
    _REQUIRED,
    _TREE,
    _require,
)


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.sampled_from(_LEAVES)), min_size=1, max_size=24),
    required=_REQUIRED,
    other=_REQUIRED,
    k=st.integers(1, 4),
    tree=st.booleans(),
)
def test_kept_classes_are_those_of_the_definitions(rows, required, other, k, tree):
    tree = tree or "hierarchical" in (required.get("variant"), other.get("variant"))
    paths = _PATHS if tree else None
    asked = [(1, each, paths) for each in (required, other)]
    expected = reference.kept(rows, [place for place, _ in rows], asked, k)
    if expected is None:
        return
    domain = sorted({value for _, value in rows})
    places = np.array([place for place, _ in rows])
    codes = np.array([domain.index(value) for _, value in rows])
    held = Held.of(places, codes, np.ones(len(rows), np.int64), domain, _TREE if tree else None)
    plain = [_require(**each).as_plain() for each in (required, other)]
    if tree:
        plain = [
            p | ({"order": "hierarchy"} if p.get("variant") == "ordered" else {}) for p in plain
        ]
    sizes = np.bincount(places, minlength=5)
    asked = required_of(plain)
    found = kept_classes(sizes, k, asked, dict.fromkeys(asked, held))
    assert [bool(found[place]) for place, _ in rows] == expected


def test_entropy_of_equal_counts_is_exactly_the_logarithm():
    held = Held.of(
        np.zeros(6, np.int64), np.arange(6) % 3, np.ones(6, np.int64), ["a", "b", "c"], None
    )
    keys = {"model": "l-diversity", "attribute": "s", "variant": "entropy"}
    for least, expected in ((3, True), (float(Fraction("3.0001")), False)):
        required = required_of([keys | {"l": least}])
        found = kept_classes(np.array([6]), 2, required, dict.fromkeys(required, held))
        assert found.tolist() == [expected]
