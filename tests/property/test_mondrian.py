"""Mondrian and what it releases, against slow definitions on small tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.methods.k_anonymity.celled import judge_cells
from dpdesk.engine.methods.k_anonymity.mondrian import Parts, mondrian
from dpdesk.engine.methods.k_anonymity.scales import Scale, scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from tests.helpers.small_tables import SmallTable, small_tables
from tests.reference import mondrian as reference


def scales_of(table: AlignedTable, *, by_size: bool = False) -> tuple[Scale, ...]:
    return tuple(
        scale_of(hierarchy, frozenset(), by_size=by_size) for hierarchy in table.hierarchies
    )


def rows_of(parts: Parts) -> list[Counter[tuple[int, ...]]]:
    found = []
    for low, high in zip(parts.starts, parts.starts[1:], strict=False):
        part: Counter[tuple[int, ...]] = Counter()
        for place in range(int(low), int(high)):
            part[tuple(parts.places[place].tolist())] += int(parts.rows[place])
        found.append(part)
    return found


@given(small_tables(least_rows=4), st.integers(2, 4), st.booleans())
@settings(deadline=None, max_examples=60)
def test_strict_parts_are_those_of_the_definition(table: SmallTable, k: int, along: bool) -> None:
    aligned = table.aligned
    scales = scales_of(aligned)
    parts = mondrian(scales, aligned.codes, aligned.counts, k, CancelToken(), along=along)
    rows = [
        tuple(int(scale.places[code]) for scale, code in zip(scales, codes, strict=True))
        for codes, count in zip(aligned.codes.tolist(), aligned.counts.tolist(), strict=True)
        for _ in range(count)
    ]
    trees = [scale.nodes.tolist() for scale in scales]
    expected = [Counter(part) for part in reference.strict_parts(rows, trees, k, along=along)]
    assert rows_of(parts) == expected


@given(small_tables(least_rows=4), st.integers(2, 4))
@settings(deadline=None, max_examples=60)
def test_relaxed_parts_have_fewer_than_2k_rows_or_equal_ones(table: SmallTable, k: int) -> None:
    aligned = table.aligned
    scales = scales_of(aligned)
    parts = mondrian(scales, aligned.codes, aligned.counts, k, CancelToken(), strict=False)
    found = rows_of(parts)
    assert sum(found, Counter()) == sum(
        (
            Counter({tuple(int(s.places[c]) for s, c in zip(scales, codes, strict=True)): count})
            for codes, count in zip(aligned.codes.tolist(), aligned.counts.tolist(), strict=True)
        ),
        Counter(),
    )
    for part in found:
        assert part.total() >= k
        assert part.total() < 2 * k or len(part) == 1


@given(small_tables(least_rows=4), st.integers(2, 4), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_figures_and_texts_are_those_of_the_released_rows(
    table: SmallTable, k: int, strict: bool, ranges: bool
) -> None:
    plan = {
        "k": k,
        "algorithm": "mondrian",
        "strict": strict,
        "values": "ranges" if ranges else "nodes",
    }
    chosen = Settings.from_parameters(parse_parameters(PARAMETERS, plan, "test"))
    aligned = table.aligned
    judged = judge_cells(aligned, chosen, {}, CancelToken())
    names = aligned.attributes
    given_table = table.source.frequency_table(names, CancelToken())
    recoding = judged.release.recoding(given_table, ())
    released: Counter[tuple[str, ...]] = Counter()
    losses: list[float] = []
    for source, target, rows in zip(
        recoding.source.tolist(), recoding.target.tolist(), recoding.rows.tolist(), strict=True
    ):
        shown = [
            recoding.labels[place][code] for place, code in enumerate(recoding.targets[target])
        ]
        released[tuple(shown)] += rows
        for place, text in enumerate(shown):
            raw = recoding.domains[place][recoding.codes[source, place]]
            leaves = _meant(table.hierarchies[names[place]], text, aligned, place, ranges)
            assert raw in leaves
            whole = len(table.hierarchies[names[place]].leaves) - 1
            losses += [(len(leaves) - 1) / whole if whole else 0.0] * rows
    assert min(released.values()) >= k
    assert released.total() == len(table.rows)
    assert judged.statistics.classes == len(released)
    assert judged.metrics["discernibility"] == sum(size**2 for size in released.values())
    assert judged.metrics["loss"] == pytest.approx(float(np.mean(losses)))
    assert np.mean([each.loss for each in judged.attributes]) == pytest.approx(np.mean(losses))


def _meant(
    hierarchy: Hierarchy, text: str, table: AlignedTable, place: int, ranges: bool
) -> set[str]:
    """The leaves that a text means: the widest node of this label, or the list itself."""
    if ranges and hierarchy.height <= 1 and text.startswith("{"):
        return set(text[1:-1].split(", "))
    wide = max(
        (
            {row[0] for row in hierarchy.rows() if row[level] == text}
            for level in range(hierarchy.height + 1)
        ),
        key=len,
    )
    assert wide, text
    return wide


def test_a_class_of_numbers_is_as_small_as_the_theorem_says() -> None:
    """At strict a class has at most 2d(k − 1) + m rows, m the most equal tuples."""
    generator = np.random.default_rng(7)
    rows = [(str(a), str(b)) for a, b in generator.integers(0, 12, (400, 2)).tolist()]
    numbers = [[str(n), "*"] for n in range(12)]
    table = SmallTable(
        ("a", "b"),
        tuple(rows),
        {name: Hierarchy.from_rows(name, numbers) for name in ("a", "b")},
    ).aligned
    parts = mondrian(scales_of(table), table.codes, table.counts, 5, CancelToken(), along=False)
    sizes = np.add.reduceat(parts.rows, parts.starts[:-1])
    assert sizes.min() >= 5
    assert sizes.max() <= 2 * 2 * (5 - 1) + max(Counter(rows).values())


def test_a_label_of_two_nodes_is_shown_only_where_it_means_the_value() -> None:
    """`1` is a leaf and the name of a group that lacks it: the leaf cannot be shown by its name."""
    rows = [("1", "x", "*"), ("2", "1", "*"), ("3", "1", "*")]
    scale = scale_of(Hierarchy.from_rows("a", rows), frozenset(), by_size=False)
    leaf = scale.texts.index("1")
    assert scale.texts[scale.released[leaf]] == "x"
    group = scale.texts.index("1", leaf + 1)
    assert scale.texts[scale.released[group]] == "1"
