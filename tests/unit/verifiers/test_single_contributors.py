"""What contributors who are alone in cells can tell, against programs of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.core.tabulation import WIDTH, CellAxis, CellTable
from dpdesk.engine.tables.model import Dimension, System
from dpdesk.verifiers.tables import intervals
from dpdesk.verifiers.tables.attacked import Attacked
from dpdesk.verifiers.tables.attacks import Known, unprotected
from dpdesk.verifiers.tables.published import numbered
from tests.helpers.tables import filled
from tests.reference.tables import interval

SHAPES = [(3, 3), (2, 2, 3), (2, 4)]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A table of which some cells are suppressed, and who is alone in its cells."""

    matrix: np.ndarray
    values: np.ndarray
    records: np.ndarray
    hidden: np.ndarray
    unsafe: np.ndarray
    owner: np.ndarray
    low: np.ndarray
    need: np.ndarray
    width: np.ndarray
    axes: tuple[CellAxis, ...]

    @classmethod
    def of(cls, seed: int, *, signed: bool, sliding: bool) -> Drawn:
        rng = np.random.default_rng(seed)
        sizes = SHAPES[int(rng.integers(len(SHAPES)))]
        inner = int(np.prod(sizes))
        records = rng.choice([0, 1, 1, 1, 2, 3], inner)
        amounts = np.where(records > 0, rng.integers(-6 if signed else 0, 10, inner), 0)
        dims = [Dimension.flat(f"d{n}", [str(i) for i in range(s)]) for n, s in enumerate(sizes)]
        system = System.of([filled(dims, amounts, "t", records)], zeros_known=False)
        values = system.cells.values.astype(np.float64)
        counts = system.cells.frequency.astype(np.int64)
        # A few own many cells: whoever is in the leaf of a total that has one record owns it, too.
        names, leaf = rng.integers(0, 4, inner), np.zeros(inner, dtype=np.int64)
        owner = np.full(len(values), -1)
        for place in np.flatnonzero(records == 1):
            leaf[:] = 0
            leaf[place] = 1
            inside = System.of([filled(dims, leaf, "t", leaf)], zeros_known=False)
            covers = inside.cells.frequency.astype(np.int64) == 1
            owner[covers & (counts == 1)] = names[place]
        hidden = rng.random(len(values)) < rng.choice([0.6, 0.8, 0.95])
        unsafe = hidden & (counts > 0) & (rng.random(len(values)) < 0.3)
        low = np.full(len(values), -np.inf) if signed else np.zeros(len(values))
        lower = rng.integers(0, 3, len(values)).astype(float)
        need = np.stack([np.minimum(lower, values - low), rng.integers(0, 3, len(values))])
        width = rng.integers(0, 5, len(values)) * float(sliding)
        axes = tuple(CellAxis(d.name, d.labels, tuple(d.parents.tolist())) for d in dims)
        return cls(
            system.matrix.toarray(), values, counts, hidden, unsafe, owner, low, need, width, axes
        )

    def reach(self, hidden: np.ndarray, cell: int) -> np.ndarray:
        """How far a cell can go down and up while what is not hidden stays."""
        high = np.full(len(self.values), np.inf)
        low, most = interval(self.matrix, self.values, self.low, high, hidden, cell)
        return np.array([self.values[cell] - low, most - self.values[cell]])

    def told(self, *, names: bool) -> bool:
        """Whether anyone comes too close to an unsafe cell; ``names`` say who owns a cell."""
        empty = self.records == 0
        # Where an empty cell is suppressed, nobody knows which ones are empty.
        before = np.full(len(self.hidden), fill_value=True)
        if not (empty & self.hidden).any():
            before = ~empty
        groups: dict[int, list[int]] = {}
        for cell in np.flatnonzero(self.hidden & (self.records == 1)).tolist():
            groups.setdefault(int(self.owner[cell]) if names else cell, []).append(cell)
        for cell in np.flatnonzero(self.unsafe).tolist():
            need, wide = self.need[:, cell], float(self.width[cell])
            far = self.reach(self.hidden, cell)
            if (far < need - 1e-6).any() or far.sum() < wide - 1e-6:
                return True
            for known in groups.values():
                same = not names and self.values[known[0]] == self.values[cell]
                if cell in known or (self.records[cell] == 1 and same):
                    continue
                mine = np.isin(np.arange(len(self.values)), known)
                left, most = (self.reach(x & ~mine, cell) for x in (self.hidden, before))
                if (left < np.minimum(need, most) - 1e-6).any():
                    return True
                slides = wide > need.sum() or far.sum() < wide
                if slides and left.sum() < min(wide, most.sum()) - 1e-6:
                    return True
        return False

    def kept(self) -> Mapping[str, CellTable]:
        """What the agency keeps of it."""
        ends = np.array([self.reach(self.hidden, cell) for cell in range(len(self.values))]).T
        ends = np.where(self.hidden, ends, 0.0)
        columns = {
            "value": self.values, "frequency": self.records,
            "lower_required": self.need[0], "upper_required": self.need[1],
            "lower": self.values - ends[0], "upper": self.values + ends[1],
            **({WIDTH: self.width} if self.width.any() else {}),
        }  # fmt: skip
        texts = {
            key: tuple("" if np.isinf(x) else f"{x:.12g}" for x in column.tolist())
            for key, column in columns.items()
        }
        status = np.where(self.unsafe, "C", np.where(self.hidden, "D", "F")).tolist()
        texts["status"] = tuple(status)
        return {"t.csv": CellTable("t", "t.csv", self.axes, texts["value"], texts["status"], texts)}

    def found(
        self, kept: Mapping[str, CellTable], *, names: bool, signed: bool
    ) -> tuple[str, str, int]:
        """What the verifier says."""
        shown = ["" if h else f"{v:g}" for h, v in zip(self.hidden, self.values, strict=True)]
        table = CellTable("t", "t.csv", self.axes, tuple(shown), ("F",) * len(shown))
        numbers = [each.tolist() for each in numbered([(table, "sum")])]
        pairs = zip(numbers[0], self.owner.tolist(), strict=True)
        owners = {number: who for number, who in pairs if who >= 0}
        return unprotected(
            Attacked.of([table], numbers),
            kept,
            Known(0.0, None, present=False, signed=(signed,), counts=(False,)),
            singletons=True,
            token=CancelToken(),
            merged=names,
            owners=owners if names else None,
        )


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_contributors_tell_what_programs_of_each_of_them_tell(
    seed: int, names: bool, signed: bool, sliding: bool, remembered: bool
) -> None:
    drawn = Drawn.of(seed, signed=signed, sliding=sliding)
    kept = drawn.kept()
    with pytest.MonkeyPatch.context() as patch:
        if not remembered:
            patch.setattr(intervals, "_MOST_POINTS", 0)
        fault, ranges, _ = drawn.found(kept, names=names, signed=signed)
    assert bool(fault) is drawn.told(names=names)
    assert ranges == ""


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_one_interval_that_is_too_narrow_or_too_wide_is_found(seed: int) -> None:
    drawn = Drawn.of(seed, signed=False, sliding=False)
    kept, rng = drawn.kept(), np.random.default_rng(seed)
    inside = kept["t.csv"].internal
    ends = [cell for cell in np.flatnonzero(drawn.hidden).tolist() if inside["upper"][cell]]
    if not ends:
        return
    cell, upper = int(rng.choice(ends)), list(inside["upper"])
    upper[cell] = str(float(upper[cell]) + float(rng.choice([-0.5, 0.5])))
    forged = {"t.csv": replace(kept["t.csv"], internal={**inside, "upper": tuple(upper)})}
    assert drawn.found(forged, names=False, signed=False)[1] != ""


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_a_remembered_move_protects_from_no_one_who_can_tell(seed: int) -> None:
    drawn, rng = Drawn.of(seed, signed=False, sliding=False), np.random.default_rng(seed)
    places = np.flatnonzero(drawn.hidden)
    count = len(places)
    if not count:
        return
    rows = [dict(zip(*_inside(row[places]), strict=True)) for row in drawn.matrix]
    high = rng.choice([0.5, 1.0, 3.0, np.inf], count)
    unknowns = intervals.Unknowns(
        [(row, 0.0) for row in rows if row], np.minimum(-drawn.values[places], -0.0), high
    )
    people = [np.flatnonzero(rng.random(count) < 0.2).tolist() for _ in range(6)]
    enough = rng.integers(1, 5, (2, count)).astype(float)
    room = intervals.Room(unknowns)
    points = intervals.Points(room, unknowns, people, [*enough])
    for place in rng.permutation(count)[:5].tolist():
        points.far(place, 1.0, upward=bool(rng.random() < 0.5), fixed=people[place % 6])
    everyone = np.arange(len(people))
    for place in range(count):
        for upward in (False, True):
            need = float(enough[int(upward)][place])
            left = points.left(place, everyone, upward=upward)
            for who in np.setdiff1d(everyone, left).tolist():
                reach = room.far(place, need, upward=upward, fixed=people[who])
                assert reach >= need * (1 - 1e-6)


def _inside(row: np.ndarray) -> tuple[list[int], list[float]]:
    """The places and factors of an equation."""
    at = np.flatnonzero(row)
    return at.tolist(), row[at].astype(float).tolist()
