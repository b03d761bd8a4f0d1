"""Models of classes are decided exactly, by compiled loops as by integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.methods.k_anonymity.required import (
    Requirement,
    RequireParameter,
    requirements_of,
)
from dpdesk.engine.methods.k_anonymity.requirements import (
    Constraints,
    SensitiveCounts,
    Values,
    distance,
    passes,
)
from tests.reference import class_requirements as reference

_LEAVES = ("a", "b", "c", "d", "e")
_TREE = Hierarchy.from_rows(
    "s", [("a", "ab", "x", "*"), ("b", "ab", "x", "*"), ("c", "c", "x", "*"), ("d", "de", "y", "*"),
          ("e", "de", "y", "*")]
)  # fmt: skip
_PATHS = {row[0]: row for row in _TREE.rows()}
_PARAMETER = RequireParameter(key="require", label="", help="")


def _require(**keys: object) -> Requirement:
    return requirements_of(_PARAMETER.parse([{"attribute": "s", **keys}], "plan"))[0]


_REQUIRED = st.one_of(
    st.builds(
        lambda least: {"model": "l-diversity", "variant": "distinct", "l": least},
        st.integers(1, 4),
    ),
    st.builds(
        lambda least: {"model": "l-diversity", "variant": "entropy", "l": least},
        st.sampled_from([Fraction(n, 2) for n in range(2, 9)] + [Fraction(17, 10)]),
    ),
    st.builds(
        lambda least, c: {"model": "l-diversity", "variant": "recursive", "l": least, "c": c},
        st.integers(1, 4),
        st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3)]),
    ),
    st.builds(
        lambda variant, t: {"model": "t-closeness", "variant": variant, "t": t},
        st.sampled_from(["equal", "ordered", "hierarchical"]),
        st.sampled_from([Fraction(n, 20) for n in range(13)]),
    ),
    st.builds(
        lambda alpha: {"model": "alpha-k", "alpha": alpha},
        st.sampled_from([Fraction(3, 10), Fraction(1, 2), Fraction(3, 5), Fraction(1)]),
    ),
    st.builds(
        lambda variant, beta: {"model": "beta-likeness", "variant": variant, "beta": beta},
        st.sampled_from(["basic", "enhanced"]),
        st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)]),
    ),
)


def _counts(rows: list[tuple[int, str]], tree: Hierarchy | None) -> SensitiveCounts:
    domain = sorted({value for _, value in rows})
    values = Values.of(domain, tree)
    pairs = sorted({*rows})
    return SensitiveCounts(
        values,
        np.array([place for place, _ in pairs], np.int64),
        np.array([values.texts.index(value) for _, value in pairs], np.int64),
        np.array([rows.count(pair) for pair in pairs], np.int64),
    )


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.sampled_from(_LEAVES)), min_size=1, max_size=24),
    required=_REQUIRED,
    other=_REQUIRED,
    k=st.integers(1, 4),
    tree=st.booleans(),
)
def test_kept_classes_are_those_of_the_definitions(rows, required, other, k, tree):
    if "hierarchical" in (required.get("variant"), other.get("variant")):
        tree = True
    paths = _PATHS if tree else None
    expected = reference.kept(
        rows, [place for place, _ in rows], [(1, required, paths), (1, other, paths)], k
    )
    if expected is None:
        return
    counts = _counts(rows, _TREE if tree else None)
    of_tuple = np.arange(5)
    sizes = np.bincount([place for place, _ in rows], minlength=5)
    asked = Constraints((_require(**required), _require(**other)), {"s": counts})
    found = asked.kept(of_tuple, sizes, k, (0,))
    assert [bool(found[place]) for place, _ in rows] == expected


@given(
    inside=st.lists(st.sampled_from(_LEAVES), min_size=1, max_size=9),
    others=st.lists(st.sampled_from(_LEAVES), max_size=9),
    variant=st.sampled_from(["equal", "ordered", "hierarchical"]),
)
def test_distances_are_those_of_least_work(inside, others, variant):
    everything = [*inside, *others]
    of = Values.of(_LEAVES, _TREE)
    found = distance(
        variant, [inside.count(v) for v in _LEAVES], [everything.count(v) for v in _LEAVES], of
    )
    far = reference.distances(variant, _LEAVES, _PATHS)
    assert float(found) == pytest.approx(reference.moved(inside, everything, far), abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "bound", "expected"),
    [
        ([2, 2, 2], 3, True),  # exactly log 3
        ([2_000_001, 2_000_000, 2_000_000], 3, False),
        ([1, 1], 2, True),
        ([10], 1, True),
        ([11, 1], 2, False),
        ([7] * 1000, 1000, True),
    ],
)
def test_entropy_is_compared_exactly(counts, bound, expected):
    required = _require(model="l-diversity", variant="entropy", l=bound)
    of = Values.of([str(n) for n in range(len(counts))], None)
    assert passes(required, counts, counts, of) is expected
    entries = np.arange(len(counts))
    table = SensitiveCounts(of, np.zeros_like(entries), entries, np.array(counts))
    kept = Constraints((required,), {"s": table}).kept(
        np.zeros(1, np.int64), np.array([sum(counts)]), 2, (0,)
    )
    assert bool(kept[0]) is expected


def test_distances_of_salaries_as_published():
    """Nine salaries from 3,000 to 11,000: 0.375 for the three least, 1/6 for 6, 8 and 11."""
    of = Values.of([str(1000 * n) for n in range(3, 12)], None)
    assert (of.texts[0], of.texts[-1]) == ("3000", "11000")
    whole = [1] * 9
    assert distance("ordered", [1, 1, 1, 0, 0, 0, 0, 0, 0], whole, of) == Fraction(3, 8)
    assert distance("ordered", [0, 0, 0, 1, 0, 1, 0, 0, 1], whole, of) == Fraction(1, 6)
    at = _require(model="t-closeness", variant="ordered", t=Fraction("0.375"))
    below = _require(model="t-closeness", variant="ordered", t=Fraction("0.3749999999"))
    assert passes(at, [1, 1, 1, 0, 0, 0, 0, 0, 0], whole, of)
    assert not passes(below, [1, 1, 1, 0, 0, 0, 0, 0, 0], whole, of)


def test_recursive_diversity_needs_l_values_and_compares_strictly():
    required = _require(model="l-diversity", variant="recursive", l=2, c=2)
    of = Values.of(["a", "b"], None)
    assert not passes(required, [5, 0], [5, 5], of)
    assert not passes(required, [4, 2], [4, 2], of)
    assert passes(required, [3, 2], [4, 2], of)


@pytest.mark.parametrize(("t", "kept"), [("0.225", [False, True]), ("0.222", [False, False])])
def test_what_is_left_is_measured_again(t, kept):
    """Among all rows the second class is 0.08 off; once the first has left it is 0.225 off."""
    rows = [(0, "a")] * 2 + [(0, "b")] * 8 + [(1, "a")] * 7 + [(1, "b")] * 3 + [(2, "a")] * 30
    required = _require(model="t-closeness", t=Fraction(t))
    asked = Constraints((required,), {"s": _counts(rows, None)})
    assert asked.kept(np.arange(3), np.array([10, 10, 30]), 2, (0,)).tolist() == [*kept, True]


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"model": "l-diversity"}, "`l` is missing"),
        ({"model": "l-diversity", "l": 0}, "`l` is 0"),
        ({"model": "l-diversity", "l": Fraction(5, 2)}, "`l` is"),
        ({"model": "l-diversity", "l": 3, "c": 2}, "unknown key `c`"),
        ({"model": "l-diversity", "l": 3, "variant": "recursive"}, "`c` is missing"),
        ({"model": "t-closeness", "t": 2}, "`t` is 2"),
        ({"model": "t-closeness", "t": "0.2"}, "`t` is"),
        ({"model": "x"}, "`model` is"),
        ({"model": "alpha-k", "alpha": 0}, "`alpha` is 0, expected a share above 0"),
        ({"model": "beta-likeness", "beta": 1, "variant": "equal"}, "`variant` is"),
    ],
)
def test_a_requirement_that_cannot_be_read_is_named(keys, named):
    with pytest.raises(InputError) as failed:
        _require(**keys)
    assert named in failed.value.sentence
    assert "`require` 1" in failed.value.sentence


@given(st.lists(_REQUIRED, max_size=3))
def test_each_requirement_is_told_in_a_line_of_its_own(listed):
    value = _PARAMETER.parse([{"attribute": "a b", **each} for each in listed], "plan")
    lines = _PARAMETER.as_text(value).splitlines()
    assert [line.split()[2] for line in lines] == [each["model"] for each in listed]
    assert all(line.startswith("a b: ") for line in lines)
