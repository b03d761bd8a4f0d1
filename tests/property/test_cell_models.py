"""Cells generalised or suppressed one by one, and local recoding, against slow definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.k_anonymity import forest, mondrian
from dpdesk.engine.methods.k_anonymity.celled import CellAssessment, judge_cells, starred
from dpdesk.engine.methods.k_anonymity.scales import scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from tests.helpers.small_tables import SmallTable, small_tables
from tests.reference import cells as reference

STAR = "*"


def judged(table: SmallTable, k: int, **keys: object) -> CellAssessment:
    plan = parse_parameters(PARAMETERS, {"k": k, **keys}, "test")
    return judge_cells(table.aligned, Settings.from_parameters(plan), {}, CancelToken())


def paths_of(table: SmallTable, *, stars: bool) -> list[dict[str, list[str]]]:
    return [{v: [v, STAR] for v in path} for path in table.paths] if stars else table.paths


@given(small_tables(least_rows=4), st.integers(2, 3), st.sampled_from(["CG", "CS"]))
@settings(deadline=None, max_examples=50)
def test_small_tables_get_the_optimum_and_its_proof(table: SmallTable, k: int, model: str) -> None:
    table = SmallTable(table.columns, table.rows[:8], table.hierarchies)
    expected = reference.least_loss(table.rows, paths_of(table, stars=model == "CS"), k)
    assert expected is not None
    found = judged(table, k, model=model)
    assert found.found.optimality == "proven optimal"
    assert found.found.internal["loss_of_cells"] == pytest.approx(float(expected))
    assert found.metrics["loss"] == pytest.approx(float(expected))
    assert found.statistics.smallest >= k
    assert found.statistics.suppressed == 0


@given(small_tables(least_rows=4), st.integers(2, 3))
@settings(deadline=None, max_examples=30)
def test_levels_with_suppressed_cells_are_the_best_of_all_levels(table: SmallTable, k: int) -> None:
    table = SmallTable(table.columns, table.rows[:6], table.hierarchies)
    losses = []
    for levels in product(*(range(table.hierarchies[name].height + 1) for name in table.columns)):
        paths = [
            {value: [path[level], STAR] for value, path in each.items()}
            for each, level in zip(table.paths, levels, strict=True)
        ]
        losses.append(reference.least_loss(table.rows, paths, k))
    found = judged(table, k, model="AG_CS")
    assert found.found.optimality == "proven optimal"
    assert found.metrics["loss"] == pytest.approx(
        float(min(each for each in losses if each is not None))
    )
    assert found.statistics.smallest >= k
    assert found.statistics.suppressed == 0


@given(small_tables(least_rows=6), st.integers(2, 4), st.booleans())
@settings(deadline=None, max_examples=60)
def test_the_forest_keeps_its_factor_and_the_bound_is_one(
    table: SmallTable, k: int, stars: bool
) -> None:
    aligned = starred(table.aligned) if stars else table.aligned
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    places = np.stack([scale.places[aligned.codes[:, j]] for j, scale in enumerate(scales)], axis=1)
    near, far = forest.neighbours(scales, places, aligned.counts, k, CancelToken())
    parts = forest.forest_parts(places, aligned.counts, near, k)
    sizes = np.add.reduceat(parts.rows, parts.starts[:-1])
    assert sizes.min() >= k
    rows = np.bincount(parts.tuples, parts.rows, len(aligned.counts))
    assert (rows == aligned.counts).all()
    least = float((far * aligned.counts).sum()) / aligned.rows
    cost = mondrian.loss_of(scales, parts)
    assert least - 1e-9 <= cost <= (3 * k - 3) * least + 1e-9
    if aligned.rows <= 8:
        optimum = reference.least_loss(table.rows, paths_of(table, stars=stars), k)
        assert optimum is not None
        assert least <= float(optimum) + 1e-9


@given(small_tables(least_rows=4), st.integers(2, 3))
@settings(deadline=None, max_examples=30)
def test_covers_are_those_of_all_perfect_matchings(table: SmallTable, k: int) -> None:
    table = SmallTable(table.columns, table.rows[:6], table.hierarchies)
    release = judged(table, k, model="CG").release
    released: list[list[str]] = []
    for entry in range(len(release.rows)):
        shown = [cells.texts[cells.codes[entry]] for cells in release.cells]
        released += [shown] * int(release.rows[entry])
    fits = [
        [
            all(text in path[raw] for text, path, raw in zip(one, table.paths, row, strict=True))
            for one in released
        ]
        for row in table.rows
    ]
    found = release.covers()
    expected = reference.covers(fits)
    assert (found["originals"], found["released"], found["matching"]) == expected
    assert min(expected) >= k
    assert found["largest_share"] == pytest.approx(float(reference.largest_share(fits)))


@given(small_tables(least_rows=4), st.integers(2, 4))
@settings(deadline=None, max_examples=40)
def test_columns_are_suppressed_as_few_as_can_be(table: SmallTable, k: int) -> None:
    found = judged(table, k, model="AS")
    paths = paths_of(table, stars=True)
    losses = []
    for hidden in product([False, True], repeat=len(table.columns)):
        shown = [
            tuple(STAR if h else v for h, v in zip(hidden, r, strict=True)) for r in table.rows
        ]
        if min(map(shown.count, shown)) >= k:
            losses.append(
                sum(h and len(p) > 1 for h, p in zip(hidden, paths, strict=True)) / len(paths)
            )
    assert found.metrics["loss"] == pytest.approx(min(losses))
    assert found.found.optimality == "proven optimal"


@given(small_tables(least_rows=6), st.integers(2, 4))
@settings(deadline=None, max_examples=40)
def test_local_recoding_leaves_fewer_than_k_rows_and_loses_no_more(
    table: SmallTable, k: int
) -> None:
    share = 0.5
    try:
        found = judged(table, k, max_suppression=share, local=True)
    except RefusedError:
        return
    assert found.statistics.suppressed < k
    assert found.statistics.smallest >= k
    first = found.found.internal["levels_of_rounds"]
    assert isinstance(first, list)
    shown = [
        tuple(path[v][level] for path, v, level in zip(table.paths, row, first[0], strict=True))
        for row in table.rows
    ]
    kept = [row for row in shown if shown.count(row) >= k]
    assert found.statistics.kept >= len(kept)
    assert len(shown) - len(kept) <= int(share * len(shown))
