"""Least and greatest levels where values are cut into intervals or shown as ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.k_anonymity.celled import CellAssessment, judge_cells
from dpdesk.engine.methods.k_anonymity.globally import KOptimize
from dpdesk.engine.methods.k_anonymity.preferred import preferred
from dpdesk.engine.methods.k_anonymity.scales import scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from dpdesk.verifiers.anonymity.following import Meanings
from tests.helpers.small_tables import SmallTable, small_tables

Levels = dict[str, int]
VALUES = ("ranges", "nodes")


def settings_of(**keys: object) -> Settings:
    return Settings.from_parameters(parse_parameters(PARAMETERS, keys, "test"))


@st.composite
def numbers(draw: st.DrawFn, name: str) -> Hierarchy:
    """A hierarchy of numbers whose labels stand for numbers next to each other."""
    size = draw(st.integers(2, 6))
    paths = [[str(10 * (leaf + 1))] for leaf in range(size)]
    apart = [True] * (size - 1)
    for level in range(draw(st.integers(0, 2))):
        apart = [there and draw(st.booleans()) for there in apart]
        groups = np.cumsum([0, *apart]).tolist()
        for path, group in zip(paths, groups, strict=True):
            path.append(f"{name}:{level}:{group}")
    return Hierarchy.from_rows(name, [(*path, "*") for path in paths])


@st.composite
def number_tables(draw: st.DrawFn) -> SmallTable:
    columns = ("a", "b")[: draw(st.integers(1, 2))]
    found = {name: draw(numbers(name)) for name in columns}
    row = st.tuples(*(st.sampled_from(found[name].leaves) for name in columns))
    return SmallTable(columns, tuple(draw(st.lists(row, min_size=4, max_size=20))), found)


def limits(draw: st.DataObject, table: SmallTable) -> tuple[Levels, Levels]:
    least: Levels = {}
    most: Levels = {}
    for name in table.columns:
        height = table.hierarchies[name].height
        low, high = sorted(draw.draw(st.tuples(*[st.integers(0, height)] * 2)))
        if draw.draw(st.booleans()):
            least[name] = low
        if draw.draw(st.booleans()):
            most[name] = high
    return least, most


def least_discernibility(
    table: SmallTable, orders: Sequence[Sequence[str]], levels: tuple[Levels, Levels], k: int,
    allowed: int,
) -> int | None:  # fmt: skip
    """Over every set of cuts between values that occur, that has all cuts between nodes of the
    greatest levels, and no cut of a node of the least ones.
    """
    found, choices = [], []
    for j, (name, order) in enumerate(zip(table.columns, orders, strict=True)):
        held = [value for value in order if value in {row[j] for row in table.rows}]
        for before, after in pairwise(held):
            one, other = (table.paths[j][value] for value in (before, after))
            low, high = levels[0].get(name, 0), levels[1].get(name, len(one) - 1)
            may = [False, True] if one[low] != other[low] else [False]
            choices.append([(j, order.index(before), made) for made in may])
            if one[high] != other[high]:
                choices[-1] = choices[-1][1:]
    assume(len(choices) <= 9)
    for chosen in product(*choices):
        made = [(j, place) for j, place, there in chosen if there]
        sizes = Counter(
            tuple(orders[j].index(row[j]) > place for j, place in made) for row in table.rows
        )
        gone = sum(size for size in sizes.values() if size < k)
        if gone <= allowed and gone < len(table.rows):
            squares = sum(size**2 for size in sizes.values() if size >= k)
            found.append(squares + gone * len(table.rows))
    return min(found, default=None)


@given(small_tables(least_rows=4), st.integers(2, 3), st.sampled_from([0, 0.2, 1]), st.data())
@settings(deadline=None, max_examples=80)
def test_k_optimize_finds_the_least_discernibility_of_the_cuts_that_levels_allow(
    table: SmallTable, k: int, share: float, draw: st.DataObject
) -> None:
    levels = limits(draw, table)
    plan = settings_of(k=k, algorithm="k-optimize", min_level=levels[0], max_level=levels[1])
    aligned, allowed = table.aligned, int(share * len(table.rows))
    plain = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    scales = preferred(plain, aligned, plan)
    places = np.array([s.places[aligned.codes[:, j]] for j, s in enumerate(scales)]).T
    orders = [[s.hierarchy.leaves[code] for code in s.order.tolist()] for s in scales]
    expected = least_discernibility(table, orders, levels, k, allowed)
    found = KOptimize(places, aligned.counts, k, allowed, None, scales).search(CancelToken())
    assert (None if found is None else found.cost) == expected
    assert found is None or found.optimality == "proven optimal"


def shown(judged: CellAssessment, table: SmallTable) -> list[tuple[str, ...]]:
    counted = table.source.frequency_table(table.columns, CancelToken())
    recoding = judged.release.recoding(counted, ())
    released: list[tuple[str, ...]] = []
    for at, rows in zip(recoding.target.tolist(), recoding.rows.tolist(), strict=True):
        texts = (labels[c] for labels, c in zip(recoding.labels, recoding.targets[at], strict=True))
        released += [tuple(texts)] * (rows if at >= 0 else 0)
    for name in table.columns:
        assert all(fits(table, name, *pair) for pair in recoding.pairs(name))
    return released


def ends(text: str) -> tuple[int, int]:
    first, last = text.strip("[]").split(", ") if text[0] == "[" else (text, text)
    return int(first), int(last)


def fits(table: SmallTable, name: str, raw: str, text: str) -> bool:
    low, high = ends(text)
    return low <= int(raw) <= high


def within(
    table: SmallTable, released: list[tuple[str, ...]], levels: tuple[Levels, Levels]
) -> None:
    """Each range has all numbers of each node of the least level that it has one of, and all its
    numbers are in one node of the greatest.
    """
    for row in released:
        for j, (name, text) in enumerate(zip(table.columns, row, strict=True)):
            low, high = ends(text)
            paths = table.paths[j]
            inside = {leaf for leaf in paths if low <= int(leaf) <= high}
            least, most = levels[0].get(name, 0), levels[1].get(name, len(paths["10"]) - 1)
            nodes = {paths[leaf][least] for leaf in inside}
            assert {leaf for leaf in paths if paths[leaf][least] in nodes} == inside
            assert len({paths[leaf][most] for leaf in inside}) == 1


@given(number_tables(), st.integers(2, 3), st.sampled_from(["k-optimize", "mondrian"]),
       st.booleans(), st.data())  # fmt: skip
@settings(deadline=None, max_examples=100)
def test_ranges_keep_to_least_and_greatest_levels(
    table: SmallTable, k: int, algorithm: str, strict: bool, draw: st.DataObject
) -> None:
    levels = limits(draw, table)
    keys = {"min_level": levels[0], "max_level": levels[1], "values": "ranges", "strict": strict}
    if algorithm == "k-optimize":
        del keys["strict"]
    plan = settings_of(k=k, algorithm=algorithm, **keys)
    groups = Counter(
        tuple(
            table.paths[j][v][levels[1].get(n, -1)]
            for j, (n, v) in enumerate(zip(table.columns, row, strict=True))
        )
        for row in table.rows
    )
    if min(groups.values()) < k:
        with pytest.raises(RefusedError, match="`max_level`"):
            judge_cells(table.aligned, plan, {}, CancelToken())
        return
    judged = judge_cells(table.aligned, plan, {}, CancelToken())
    released = shown(judged, table)
    assert len(released) == len(table.rows)
    assert min(Counter(released).values()) >= k
    within(table, released, levels)
    if algorithm == "k-optimize":
        orders = [table.hierarchies[name].leaves for name in table.columns]
        expected = least_discernibility(table, orders, levels, k, 0)
        assert judged.metrics["discernibility"] == expected
        assert judged.found.optimality == "proven optimal"
    for j, name in enumerate(table.columns):
        meaning = Meanings(table.hierarchies[name], (), ranges=True)
        height = table.hierarchies[name].height
        least, most = levels[0].get(name, 0), levels[1].get(name, height)
        pairs = {
            (raw[j], text[j])
            for raw in table.rows
            for text in released
            if fits(table, name, raw[j], text[j])
        }
        for raw, text in pairs:
            assert meaning.shows(raw, text, (least, most))
            low, high = ends(text)
            inside = {leaf for leaf in table.paths[j] if low <= int(leaf) <= high}
            for level in range(height + 1):
                whole = {
                    leaf
                    for leaf, path in table.paths[j].items()
                    if path[level] == table.paths[j][raw][level]
                }
                assert meaning.shows(raw, text, (level, height)) is (whole <= inside)
                assert meaning.shows(raw, text, (0, level)) is (inside <= whole)


@pytest.mark.parametrize("key", ["min_level", "max_level"])
@pytest.mark.parametrize("algorithm", ["k-optimize", "mondrian"])
def test_levels_whose_values_are_no_ranges_are_refused(key: str, algorithm: str) -> None:
    paths = [("1", "odd", "*"), ("2", "even", "*"), ("3", "odd", "*"), ("4", "even", "*")]
    table = SmallTable(
        ("a",), (("1",), ("2",), ("3",), ("4",)) * 2, {"a": Hierarchy.from_rows("a", paths)}
    )
    plans = {v: settings_of(k=2, algorithm=algorithm, values=v, **{key: {"a": 1}}) for v in VALUES}
    with pytest.raises(InputError, match="next to each other"):
        judge_cells(table.aligned, plans["ranges"], {}, CancelToken())
    assert judge_cells(table.aligned, plans["nodes"], {}, CancelToken()).statistics.smallest >= 2
