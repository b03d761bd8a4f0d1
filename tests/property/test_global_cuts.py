"""Top-down specialisation and k-Optimize against exhaustive search on small tables."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.k_anonymity.celled import CellAssessment, judge_cells
from dpdesk.engine.methods.k_anonymity.globally import Cuts, KOptimize, top_down
from dpdesk.engine.methods.k_anonymity.scales import range_text, scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from dpdesk.verifiers.anonymity.following import Meanings
from tests.helpers.small_tables import SmallTable, small_tables


def judged(table: SmallTable, k: int, **keys: object) -> CellAssessment:
    plan = parse_parameters(PARAMETERS, {"k": k, **keys}, "test")
    return judge_cells(table.aligned, Settings.from_parameters(plan), {}, CancelToken())


def least_discernibility(places: list[tuple[int, ...]], k: int, allowed: int) -> int | None:
    """Over every set of cuts between values that occur."""
    found = []
    cuts = [
        (j, value)
        for j in range(len(places[0]))
        for value in sorted({row[j] for row in places})[:-1]
    ]
    for chosen in product([False, True], repeat=len(cuts)):
        used = [cut for cut, there in zip(cuts, chosen, strict=True) if there]
        sizes = Counter(tuple(row[j] > value for j, value in used) for row in places)
        gone = sum(size for size in sizes.values() if size < k)
        if gone <= allowed and gone < len(places):
            squares = sum(size**2 for size in sizes.values() if size >= k)
            found.append(squares + gone * len(places))
    return min(found, default=None)


@given(small_tables(least_rows=4), st.integers(2, 4), st.sampled_from([0, 0.2, 1]))
@settings(deadline=None, max_examples=60)
def test_k_optimize_finds_the_least_discernibility(table: SmallTable, k: int, share: float) -> None:
    aligned = table.aligned
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    places = [
        tuple(int(s.places[c]) for s, c in zip(scales, codes, strict=True))
        for codes, count in zip(aligned.codes.tolist(), aligned.counts.tolist(), strict=True)
        for _ in range(count)
    ]
    cuts = sum(len({row[j] for row in places}) - 1 for j in range(len(scales)))
    if cuts > 9:
        return
    expected = least_discernibility(places, k, int(share * len(places)))
    assert expected is not None
    found = judged(table, k, algorithm="k-optimize", max_suppression=share)
    released = found.metrics["discernibility"]
    assert released is not None
    assert released >= expected  # intervals with the same label are one class
    assert (found.found.optimality == "proven optimal") == (released == expected)
    assert found.statistics.smallest >= k
    search = KOptimize(
        np.array([scale.places[aligned.codes[:, j]] for j, scale in enumerate(scales)]).T,
        aligned.counts, k, int(share * len(places)),
    )  # fmt: skip
    few, all_ = search.search(CancelToken(), most=1), search.search(CancelToken())
    assert few is not None
    assert few.least <= expected <= few.cost
    assert all_ is not None
    assert (all_.cost, all_.optimality) == (expected, "proven optimal")


@given(
    small_tables(least_rows=4), st.integers(2, 4), st.sampled_from([0, 0.2]), st.integers(0, 4000)
)
@settings(deadline=None, max_examples=60)
def test_cuts_that_a_search_had_when_it_ended_are_found_again_with_a_bound_that_holds(
    table: SmallTable, k: int, share: float, after: int
) -> None:
    aligned = table.aligned
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    places = np.array([s.places[aligned.codes[:, j]] for j, s in enumerate(scales)]).T
    allowed = int(share * aligned.rows)

    def searched(ended: list[int | None] | None) -> tuple[Cuts, list[int | None]]:
        token = CancelToken()
        with token.searches(ended) as ends:
            found = KOptimize(places, aligned.counts, k, allowed).search(token)
        assert found is not None
        return found, ends

    whole, _ = searched(None)
    first, ends = searched([after])
    again, _ = searched(ends)
    assert first.least <= whole.cost <= first.cost
    assert (again.cost, again.least, again.visited) == (first.cost, first.least, first.visited)
    assert (again.classes == first.classes).all()


@given(
    st.sets(st.sampled_from(["a", "b", "c", "*", "", "a, b", "b, c", "{a, b}", "{a", "b}", "é,a"])),
    st.data(),
)
def test_a_list_is_read_as_the_values_that_it_stands_for(
    values: set[str], data: st.DataObject
) -> None:
    whole = Hierarchy.from_rows("a", [(value, "*") for value in sorted({*values, "a", "d"})])
    scale = scale_of(whole, frozenset(), by_size=True)
    held = sorted(data.draw(st.sets(st.integers(0, scale.leaves - 1), min_size=2)))
    text = range_text(scale, held)
    shown = {whole.leaves[code] for code in held}
    if not any("," in leaf or leaf[:1] == "{" for leaf in whole.leaves):
        assert text is not None
    if text is not None:
        meaning = Meanings(whole, (), ranges=True)
        cover = meaning.cover(text)
        assert cover is not None
        assert {leaf for leaf, place in meaning.place.items() if cover.holds(place)} == shown


def test_intervals_with_the_same_label_are_judged_as_the_class_that_they_become() -> None:
    """1 | 2 | 3 | 4 with 1, 2, 1, 2 rows: 12|34 has the squares 18, but is one class ``*``."""
    rows = tuple((leaf,) for leaf in "122344")
    flat = Hierarchy.from_rows("a", [(leaf, "*") for leaf in "1234"])
    shown = {}
    for values in ("ranges", "nodes"):
        found = judged(
            SmallTable(("a",), rows, {"a": flat}), 2, algorithm="k-optimize", values=values
        )
        shown[values] = found.metrics["discernibility"], found.found.optimality
    assert shown == {"ranges": (18, "proven optimal"), "nodes": (36, "optimal up to 100.0 %")}


@given(small_tables(least_rows=4), st.integers(2, 4))
@settings(deadline=None, max_examples=60)
def test_top_down_ends_where_no_step_keeps_k(table: SmallTable, k: int) -> None:
    aligned = table.aligned
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    nodes = top_down(scales, aligned.codes, aligned.counts, k, CancelToken())

    def smallest(shown: list[tuple[int, ...]]) -> int:
        sizes: Counter[tuple[int, ...]] = Counter()
        for row, count in zip(shown, aligned.counts.tolist(), strict=True):
            sizes[row] += count
        return min(sizes.values())

    rows = [tuple(row) for row in nodes.tolist()]
    assert smallest(rows) >= k
    for j, scale in enumerate(scales):
        places = scale.places[aligned.codes[:, j]]
        by_place: dict[int, int] = {}
        for row, place in zip(rows, places.tolist(), strict=True):
            assert by_place.setdefault(place, row[j]) == row[j]
        for node in {row[j] for row in rows}:
            level = int(scale.levels[node])
            if level == 0:
                continue
            finer = [
                (*row[:j], int(scale.nodes[level - 1][place]), *row[j + 1 :])
                if row[j] == node
                else row
                for row, place in zip(rows, places.tolist(), strict=True)
            ]
            assert smallest(finer) < k
