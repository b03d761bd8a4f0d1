"""Weights, levels and limits of cells against a look at every division of a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.k_anonymity import clustering
from dpdesk.engine.methods.k_anonymity.celled import CellAssessment, judge_cells
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from tests.helpers.searching import examples
from tests.helpers.small_tables import SmallTable, small_tables
from tests.reference.cells import Wishes, least_wished_loss

STAR = "*"
ROWS, KS = small_tables(least_rows=4), st.integers(2, 3)
SHARES = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1))


@dataclass(frozen=True)
class Asked:
    """What a plan asks for, by column."""

    importance: dict[str, int]
    min_level: dict[str, int]
    max_level: dict[str, int]
    max_cells: dict[str, Fraction]
    max_suppression_of: dict[str, Fraction]

    def keys(self) -> dict[str, dict[str, int | float]]:
        found = {name: {n: float(v) for n, v in own.items()} for name, own in vars(self).items()}
        return {name: dict(own) for name, own in found.items() if own}

    def wishes(self, columns: Sequence[str], heights: Sequence[int]) -> Wishes:
        place = {name: at for at, name in enumerate(columns)}
        return Wishes(
            [self.importance.get(name, 1) for name in columns],
            [self.min_level.get(name, 0) for name in columns],
            [self.max_level.get(n, high) for n, high in zip(columns, heights, strict=True)],
            {place[name]: share for name, share in self.max_cells.items()},
            {place[name]: share for name, share in self.max_suppression_of.items()},
        )


@st.composite
def asked_of(draw: st.DrawFn, table: SmallTable, model: str) -> Asked:
    heights = {n: table.hierarchies[n].height for n in table.columns}
    if model == "CS":
        heights = dict.fromkeys(heights, 1)
    names = st.sampled_from(table.columns)
    weights = draw(st.dictionaries(names, st.integers(0, 3)))
    if not any(weights.get(name, 1) for name in table.columns):
        weights = {}
    most = {name: draw(st.integers(0, heights[name])) for name in draw(st.sets(names, max_size=1))}
    least = {
        name: draw(st.integers(0, most.get(name, heights[name])))
        for name in draw(st.sets(names, max_size=1))
    }
    limits = st.dictionaries(names, st.sampled_from(SHARES), max_size=2)
    limited = model in ("CS", "AG_CS")
    whole, each = (draw(limits) if limited else {} for _ in range(2))
    return Asked(weights, least, most, whole, each)


def judged(table: SmallTable, k: int, **keys: object) -> CellAssessment | None:
    plan = parse_parameters(PARAMETERS, {"k": k, **keys}, "test")
    try:
        return judge_cells(table.aligned, Settings.from_parameters(plan), {}, CancelToken())
    except RefusedError:
        return None


def expected_loss(table: SmallTable, k: int, model: str, asked: Asked) -> Fraction | None:
    paths = table.paths
    if model == "CS":
        paths = [{v: [v, STAR] for v in path} for path in paths]
    heights = [len(next(iter(path.values()))) - 1 for path in paths]
    wishes = asked.wishes(table.columns, heights)
    if model != "AG_CS":
        return least_wished_loss(table.rows, paths, k, wishes)
    losses = []
    spans = zip(wishes.least, wishes.most, strict=True)
    for levels in product(*(range(low, high + 1) for low, high in spans)):
        shown = [
            {value: [path[level], STAR] for value, path in each.items()}
            for each, level in zip(paths, levels, strict=True)
        ]
        ends = [int(high == top) for high, top in zip(wishes.most, heights, strict=True)]
        none = [0] * len(levels)
        own = Wishes(wishes.weights, none, ends, wishes.whole, wishes.each)
        losses.append(least_wished_loss(table.rows, shown, k, own))
    return min((loss for loss in losses if loss is not None), default=None)


@given(ROWS, KS, st.sampled_from(["CG", "CS", "AG_CS"]), st.data())
@settings(deadline=None, max_examples=60)
def test_small_tables_get_the_best_that_keeps_every_wish(
    table: SmallTable, k: int, model: str, data: st.DataObject
) -> None:
    table = SmallTable(table.columns, table.rows[: 6 if model == "AG_CS" else 7], table.hierarchies)
    asked = data.draw(asked_of(table, model))
    expected = expected_loss(table, k, model, asked)
    found = judged(table, k, model=model, **asked.keys())
    assert (found is None) == (expected is None)
    if found is None or expected is None:
        return
    assert found.found.internal["loss_of_cells"] == pytest.approx(float(expected))
    assert found.found.optimality == "proven optimal"
    assert found.statistics.smallest >= k


@given(ROWS, KS, st.sampled_from(["CG", "CS"]), st.data())
@settings(deadline=None, max_examples=examples(60))
def test_without_the_program_wishes_are_kept_and_bounds_are_bounds(
    table: SmallTable, k: int, model: str, data: st.DataObject
) -> None:
    table = SmallTable(table.columns, table.rows[:7], table.hierarchies)
    asked = data.draw(asked_of(table, model))
    expected = expected_loss(table, k, model, asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "_MOST_CANDIDATES", -1)
        found = judged(table, k, model=model, **asked.keys())
    if found is None:
        return
    assert expected is not None
    cost, least = (found.found.internal[key] for key in ("loss_of_cells", "least_loss"))
    assert least - 1e-9 <= float(expected) <= cost + 1e-9
    factor = found.found.internal.get("proven_factor", 1e9)
    assert cost <= factor * float(expected) + 1e-9
    heights = [1 if model == "CS" else table.hierarchies[n].height for n in table.columns]
    check_release(table, found, asked.wishes(table.columns, heights), model)


def check_release(table: SmallTable, found: CellAssessment, wishes: Wishes, model: str) -> None:
    """Every cell is at a level that it may be at, and no more are ``*`` than may be."""
    release = found.release
    for j, (cells, name) in enumerate(zip(release.cells, table.columns, strict=True)):
        leaves = table.aligned.hierarchies[j].leaves
        gone: dict[str, int] = {}
        rows: dict[str, int] = {}
        for entry in np.flatnonzero(release.kept).tolist():
            raw, text = (
                leaves[release.table.codes[release.tuples[entry], j]],
                cells.texts[cells.codes[entry]],
            )
            path = [raw, STAR] if model == "CS" else table.paths[j][raw]
            assert text in path[wishes.least[j] : wishes.most[j] + 1], name
            count = int(release.rows[entry])
            rows[raw] = rows.get(raw, 0) + count
            gone[raw] = gone.get(raw, 0) + (count if text == STAR else 0)
        if j in wishes.whole:
            assert sum(gone.values()) <= wishes.whole[j] * sum(rows.values())
        if j in wishes.each:
            assert all(gone[raw] <= wishes.each[j] * rows[raw] for raw in rows)


@given(ROWS, KS, st.sampled_from(["mondrian", "top-down"]), st.data())
@settings(deadline=None, max_examples=50)
def test_mondrian_and_top_down_stay_between_the_levels(
    table: SmallTable, k: int, algorithm: str, data: st.DataObject
) -> None:
    asked = data.draw(asked_of(table, "CG"))
    found = judged(table, k, algorithm=algorithm, **asked.keys())
    heights = [table.hierarchies[n].height for n in table.columns]
    wishes = asked.wishes(table.columns, heights)
    if found is None:
        shown = [
            tuple(
                path[v][most] for path, v, most in zip(table.paths, row, wishes.most, strict=True)
            )
            for row in table.rows
        ]
        assert min(map(shown.count, shown)) < k
        return
    check_release(table, found, wishes, "CG")
    assert found.statistics.smallest >= k


@given(ROWS, KS, st.data())
@settings(deadline=None, max_examples=40)
def test_columns_and_local_levels_follow_what_is_preferred(
    table: SmallTable, k: int, data: st.DataObject
) -> None:
    asked = data.draw(asked_of(table, "CG"))
    heights = [table.hierarchies[n].height for n in table.columns]
    wishes = asked.wishes(table.columns, heights)
    local = judged(table, k, local=True, max_suppression=0.5, **asked.keys())
    if local is not None:
        check_release(table, local, wishes, "CG")
    asked = data.draw(asked_of(table, "CS"))
    wishes = asked.wishes(table.columns, [1] * len(heights))
    columns = judged(table, k, model="AS", importance=asked.importance, max_level=asked.max_level)
    paths = [{v: [v, STAR] for v in path} for path in table.paths]
    losses = []
    for hidden in product(*(range(most + 1) for most in wishes.most)):
        shown = [
            tuple(STAR if h else v for h, v in zip(hidden, r, strict=True)) for r in table.rows
        ]
        if min(map(shown.count, shown)) >= k:
            lost = [h * (len(p) > 1) for h, p in zip(hidden, paths, strict=True)]
            weighed = sum(n * w for n, w in zip(lost, wishes.weights, strict=True))
            losses.append((weighed, lost))
    if columns is None:
        assert not losses
        return
    chosen = [int(bool(each.loss)) for each in columns.attributes]
    weighed = sum(n * w for n, w in zip(chosen, wishes.weights, strict=True))
    assert weighed == min(losses)[0]
