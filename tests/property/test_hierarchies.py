"""Builders and edits on any input: they agree with the slow way and give sound hierarchies."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import ColumnType
from dpdesk.engine.hierarchies import editing
from dpdesk.engine.hierarchies.builders import build_hierarchy
from dpdesk.engine.hierarchies.suggestions import suggest_hierarchy
from tests.reference import hierarchies as reference


def sound(hierarchy: Hierarchy, values: set[str]) -> list[list[str]]:
    """The rows, after checking that they pass every check and hold exactly the values."""
    rows = hierarchy.rows()
    assert Hierarchy.from_rows(hierarchy.attribute, rows).labels == hierarchy.labels
    assert {row[0] for row in rows} == values
    return rows


widths = st.tuples(
    st.sampled_from(["0.5", "1", "2.5", "5", "10"]), st.lists(st.integers(2, 4), max_size=2)
).map(
    lambda given: [
        Decimal(given[0]) * factor
        for factor in [1, *[_product(given[1][: n + 1]) for n in range(len(given[1]))]]
    ]
)


def _product(factors: list[int]) -> int:
    result = 1
    for factor in factors:
        result *= factor
    return result


decimals = st.decimals(-60, 120, places=1)
wholes = st.integers(-60, 120).map(Decimal)


@settings(deadline=None)
@given(
    numbers=st.lists(wholes, min_size=1, max_size=20, unique=True)
    | st.lists(decimals, min_size=1, max_size=20, unique=True),
    chosen=widths,
    origin=st.sampled_from([Decimal(0), Decimal(3), Decimal("-0.5")]),
    ends=st.lists(st.integers(-20, 100).map(Decimal), max_size=2, unique=True),
)
def test_intervals_hold_their_values_and_say_what_they_hold(
    numbers: list[Decimal], chosen: list[Decimal], origin: Decimal, ends: list[Decimal]
) -> None:
    bottom = min(ends) if ends else None
    top = max(ends) if len(ends) == 2 else None
    options = {"widths": chosen, "origin": origin, "bottom": bottom, "top": top}
    values = [str(number) for number in numbers]
    rows = sound(build_hierarchy("a", HierarchyBuilder("intervals", options), values), set(values))
    for row in rows:
        number = Decimal(row[0])
        for width, label in zip(chosen, row[1:-1], strict=True):
            low, high = reference.coded_interval(number, width, origin, bottom, top)
            meant_low, meant_high = reference.interval_meant_by(label)
            assert meant_low is None or meant_low <= number
            assert meant_high is None or number < meant_high
            # A label may say less than the interval only by numbers that cannot occur.
            for meant, exact in ((meant_low, low), (meant_high, high)):
                assert (meant is None) == (exact is None)
                assert meant is None or exact is None or 0 <= meant - exact < 1
    for level, width in enumerate(chosen, start=1):
        for one, other in combinations(rows, 2):
            same = reference.coded_interval(
                Decimal(one[0]), width, origin, bottom, top
            ) == reference.coded_interval(Decimal(other[0]), width, origin, bottom, top)
            assert (one[level] == other[level]) == same


@settings(deadline=None)
@given(
    codes=st.lists(st.text("0123456789A ", max_size=6), min_size=1, max_size=12, unique=True),
    every=st.integers(1, 3),
    side=st.sampled_from(["left", "right"]),
    pad=st.sampled_from(["", "0"]),
)
def test_masks_hide_exactly_what_they_say(
    codes: list[str], every: int, side: str, pad: str
) -> None:
    options: dict[str, object] = {"from": side, "every": every, "pad": pad}
    rows = sound(build_hierarchy("a", HierarchyBuilder("mask", options), codes), set(codes))
    longest = max(len(code) for code in codes)
    for row in rows:
        whole = row[0].rjust(longest, pad) if pad else row[0]
        expected = [
            reference.masked(whole, hidden, side == "right")
            for hidden in range(every, longest, every)
        ]
        assert row[1:] == [*expected, "*"]


@settings(deadline=None)
@given(
    order=st.lists(st.text("ab, …", max_size=4), min_size=1, max_size=14, unique=True),
    sizes=st.lists(st.integers(2, 4), max_size=3),
)
def test_ordered_groups_are_the_neighbours(order: list[str], sizes: list[int]) -> None:
    options: dict[str, object] = {"order": order, "sizes": sizes}
    try:
        hierarchy = build_hierarchy("a", HierarchyBuilder("order", options), order)
    except InputError as error:
        assume(error.code != "hierarchy.empty-label")
        raise
    rows = sound(hierarchy, set(order))
    assert [row[0] for row in rows] == order
    for level, groups in enumerate(reference.neighbours(order, sizes), start=1):
        labelled: dict[str, set[str]] = {}
        for row in rows:
            labelled.setdefault(row[level], set()).add(row[0])
        assert sorted(map(sorted, labelled.values())) == sorted(map(sorted, groups))


UNITS = ["day", "month", "quarter", "half-year", "year", "decade", "century"]


@settings(deadline=None)
@given(
    days=st.lists(st.dates(), min_size=1, max_size=15, unique=True),
    units=st.lists(st.sampled_from(UNITS), min_size=1, unique=True).map(
        lambda chosen: sorted(chosen, key=UNITS.index)
    ),
    form=st.sampled_from(["yyyy-mm-dd", "dd.mm.yyyy", "mm/dd/yyyy", "yyyymmdd"]),
)
def test_two_dates_share_a_label_when_they_share_the_period(
    days: list[date], units: list[str], form: str
) -> None:
    def write(day: date) -> str:
        text = form.replace("yyyy", f"{day.year:04d}").replace("mm", f"{day.month:02d}")
        return text.replace("dd", f"{day.day:02d}")

    written = {write(day): day for day in days}
    options: dict[str, object] = {"format": form, "levels": units}
    rows = sound(
        build_hierarchy("a", HierarchyBuilder("dates", options), list(written)), set(written)
    )
    for level, unit in enumerate(units, start=1):
        for one, other in combinations(rows, 2):
            same = reference.period(written[one[0]], unit) == reference.period(
                written[other[0]], unit
            )
            assert (one[level] == other[level]) == same


trees = st.recursive(
    st.lists(st.text("xyz", min_size=1, max_size=3), max_size=3),
    lambda inner: st.dictionaries(st.text("XYZ", min_size=1, max_size=2), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(tree=trees)
def test_any_tree_is_built_or_refused_with_a_sentence(tree: object) -> None:
    try:
        hierarchy = build_hierarchy("a", HierarchyBuilder("tree", {"tree": tree}), [])
    except InputError as error:
        refusal = error.sentence
    else:
        refusal = ""
        sound(hierarchy, set(hierarchy.leaves))
    assert not refusal or refusal.startswith("hierarchy of `a`")


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(
        st.text("0123456789.,-/ abc", min_size=0, max_size=10)
        | st.dates().map(str)
        | st.integers().map(str)
        | st.decimals(allow_nan=False, allow_infinity=False).map(str)
        | st.from_regex(r"[A-Z]{1,2}[0-9]{2,3}([-. ][0-9]{1,2})?", fullmatch=True)
        | st.from_regex(r"[0-9]{1,2}-[0-9]{2,3}|[0-9]{2}\+|<[0-9]", fullmatch=True)
        | st.sampled_from(["N", "NA", "9999", "999", "99", "-9", "007", "85+", "?", "0.0"]),
        max_size=16,
        unique=True,
    ),
    column_type=st.sampled_from(ColumnType),
    tokens=st.sets(st.sampled_from(["", "?", "0"])),
    name=st.sampled_from(["", "age", "zip", "grade", "children", "income", "race", "x"]),
    data=st.data(),
)
def test_what_is_suggested_always_builds(
    values: list[str], column_type: ColumnType, tokens: set[str], name: str, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(1, 1000), min_size=len(values), max_size=len(values)))
    found = suggest_hierarchy(values, column_type, tokens, name, rows)
    assume(values)
    assert set(found.apart) <= set(values) - tokens
    sound(build_hierarchy("a", found.builder, values, tokens), set(values))


@settings(deadline=None)
@given(data=st.data(), count=st.integers(2, 8))
def test_any_sequence_of_edits_keeps_the_hierarchy_sound(data: st.DataObject, count: int) -> None:
    hierarchy = Hierarchy.from_rows("x", [[f"v{n}", "*"] for n in range(count)])
    for step in range(data.draw(st.integers(1, 6))):
        level = data.draw(st.integers(0, hierarchy.height))
        chosen = data.draw(st.sets(st.sampled_from(hierarchy.labels[level]), min_size=1))
        edit = data.draw(st.sampled_from(["group", "merge", "insert", "remove", "move", "rename"]))
        before = hierarchy.rows()
        try:
            changed = _edit(hierarchy, edit, level, chosen, f"g{step}", data)
        except InputError as error:
            refused = error
        else:
            refused = None
            hierarchy, old = changed, hierarchy
            assert old.rows() == before
        assert refused is None or refused.sentence.startswith("hierarchy of `x`: ")
        sound(hierarchy, {f"v{n}" for n in range(count)})


def _edit(
    hierarchy: Hierarchy,
    edit: str,
    level: int,
    chosen: set[str],
    label: str,
    data: st.DataObject,
) -> Hierarchy:
    if edit == "group":
        return editing.group(hierarchy, level, chosen, label)
    if edit == "merge":
        return editing.merge(hierarchy, level, chosen, label)
    if edit == "insert":
        return editing.insert_level(hierarchy, level)
    if edit == "remove":
        return editing.remove_level(hierarchy, level)
    if edit == "rename":
        return editing.rename(hierarchy, level, min(chosen), label)
    upper = hierarchy.labels[min(level + 1, hierarchy.height)]
    return editing.move(hierarchy, level, chosen, data.draw(st.sampled_from(upper)))
