"""Controlled adjustment: unsafe cells move as far as required, others as little as sums allow.

Every unsafe cell goes up or down at least as far as its requirement asks, and by a step at least;
which way is what integer programming chooses, so that the weighted sum of all changes is least.
Empty cells and those that must be published stay. Source: R. A. Dandekar and L. H. Cox, Synthetic
tabular data: an alternative to complementary cell suppression, 2002.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, hstack, vstack

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.tabulation import cell_words
from dpdesk.engine.tables.audit import parts_of
from dpdesk.engine.tables.model import Exact, Flags, Floats, Ints, Requirement, System, exact
from dpdesk.engine.tables.solving import Answer, Program, Solved

Watch: TypeAlias = Callable[[float, float], None]
LARGEST = 10**4
"""No requirement is more steps than that: larger ones are in steps of 10, 100, … grid units."""
MOST_CHOSEN = 120
"""With more unsafe cells in a part, directions are those of the relaxed program, rounded."""
_NODES = 10**6
"""So many nodes are searched at most, divided by the columns of the program."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The published values of the variables, on the grid."""

    values: Exact
    cost: Fraction
    """The weighted sum of changes."""
    bound: Fraction
    """No adjustment costs less; of values in steps (:data:`LARGEST`)."""

    @property
    def proven(self) -> bool:
        """Whether none costs less."""
        return self.bound == self.cost


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of the values of a system.

    ``fixed`` variables stay; no value goes below ``least`` (-inf: any); a change of a grid unit
    costs ``weight`` (above 0).
    """

    required: Requirement
    fixed: Flags
    least: Floats
    weight: Exact


def adjusted(
    system: System,
    wanted: Wanted,
    token: CancelToken,
    stop: CancelToken | None = None,
    watch: Watch = lambda value, bound: None,
) -> Adjusted:
    """The adjustment of least cost, part by part, or the best that a long search found.

    When ``stop`` is cancelled, or the token is asked to keep, the best one so far is returned, once
    there is one. ``watch`` hears what the best one of a part costs, and the bound.

    Raises
    ------
    RefusedError
        ``table.no-adjustment``: none was found, because too many cells must stay.
    Cancelled
        The token asked for it.
    """
    stop = stop or CancelToken()
    loose = np.flatnonzero(~wanted.fixed)
    matrix = csr_array(system.matrix[:, loose])
    values, bound, cost = system.cells.values.copy(), Fraction(0), Fraction(0)
    for columns in parts_of(matrix):
        own = loose[columns]
        if not wanted.required.unsafe[own].any():
            continue
        inner = csr_array(matrix[:, columns])
        part = _Part.of(system, wanted, own, inner[np.flatnonzero(np.diff(inner.indptr))])
        with token.keeping(stop):
            moves, least = part.solved(system, token, stop, watch)
        values[own] += moves * part.step
        paid = sum((abs(m) * part.step * wanted.weight[v] for m, v in zip(moves, own, strict=True)),
                   Fraction(0))  # fmt: skip
        cost += paid
        bound += paid if least is None else min(paid, max(Fraction(0), least * part.price))
    return Adjusted(values, cost, bound)


@dataclass(frozen=True, eq=False)
class _Part:
    """One connected part; amounts are in steps. Columns: up, down, then which unsafe cells go up.

    ``price`` is what a cost of 1 in the program is.
    """

    own: Ints
    matrix: csr_array
    unsafe: Ints
    up: Floats
    down: Floats
    floor: Floats
    weight: Floats
    step: int
    price: Fraction

    @classmethod
    def of(cls, system: System, wanted: Wanted, own: Ints, matrix: csr_array) -> _Part:
        """The part of the variables ``own`` with its equations."""
        unsafe = np.flatnonzero(wanted.required.unsafe[own])
        needs = wanted.required.lower[own[unsafe]], wanted.required.upper[own[unsafe]]
        step = 1
        while max(map(max, needs)) > LARGEST * step:
            step *= 10
        down, up = (np.array([max(1, ceil(Fraction(n) / step)) for n in need]) for need in needs)
        values = system.cells.values[own]
        floor = np.array(
            [
                (value - int(end)) // step if np.isfinite(end) else np.inf
                for value, end in zip(values.tolist(), np.ceil(wanted.least[own]), strict=True)
            ],
            dtype=np.float64,
        )
        price = min(wanted.weight[own].tolist())
        weight = np.array([float(each / price) for each in wanted.weight[own].tolist()])
        return cls(
            *(own, matrix, unsafe, up.astype(np.float64), down.astype(np.float64)),
            *(floor, weight, step, Fraction(price) * step),
        )

    def solved(
        self, system: System, token: CancelToken, stop: CancelToken, watch: Watch
    ) -> tuple[Exact, Fraction | None]:
        """How many steps each variable moves, and a cost that none is below (None: its own)."""
        count, chosen = len(self.own), len(self.unsafe)
        # Raising an innermost cell under each unsafe one is enough where nothing else stays.
        most = np.full(count, float(4 * (self.up.sum() + self.down.sum())))
        none = np.zeros(2 * count + chosen, dtype=bool)
        choices, every = none.copy(), ~none
        choices[2 * count :] = True
        relaxed = self._program(most).solve(token)
        starts = [self._directed(most, np.ones(chosen, dtype=bool), token)]
        if relaxed.point is not None:
            starts.append(self._directed(most, relaxed.point[2 * count :] > 0.5, token))
        found = [each for each in starts if each.point is not None]
        best = min(found, key=lambda each: each.value, default=None)
        if best is not None and best.point is not None:
            # In what costs no more than this one, no cell moves further than that.
            most = np.floor(best.value / self.weight + 1e-6)
            if chosen > MOST_CHOSEN:
                return self._moves(best), _below(self._program(most).solve(token))
        # Values are whole by themselves in most tables once directions are chosen.
        for whole in (choices, every):
            program = self._program(most, whole)
            if best is not None and best.point is not None:
                program.start(best.point)
            last = program.solve(token, watch, stop)
            if last.point is None:
                break
            # With directions that are not choices any more, no tolerance is left in them.
            again = self._directed(most, last.point[2 * count :] > 0.5, token)
            if again.point is not None and (best is None or again.value < best.value):
                best = again
            near = best is not None and best.value <= last.value * (1 + 1e-9) + 1e-6
            if best is not None and last.answer is Answer.OPTIMAL and near:
                return self._moves(best), None
            if best is not None and last.answer is not Answer.OPTIMAL:
                return self._moves(best), _below(last)
        if best is None or last.point is None:
            raise _refused(system, int(self.own[self.unsafe[0]]))
        return self._moves(best), _below(last)

    def _directed(self, most: Floats, upward: Flags, token: CancelToken) -> Solved:
        """The least change where it is known which unsafe cells go up."""
        upward = upward | (self.floor[self.unsafe] < self.down)
        found = self._program(most, upward=upward).solve(token)
        if found.point is None or (np.abs(found.point - np.rint(found.point)) < 1e-6).all():
            return found
        every = np.ones(len(found.point), dtype=bool)
        return self._program(most, every, upward=upward).solve(token)

    def _program(
        self, most: Floats, whole: Flags | None = None, *, upward: Flags | None = None
    ) -> Program:
        """All changes of at most ``most``; columns that are ``whole`` in steps."""
        count, chosen = len(self.own), len(self.unsafe)
        pick = csr_array(
            coo_array((np.ones(chosen), (np.arange(chosen), self.unsafe)), shape=(chosen, count))
        )
        none, wide = csr_array((chosen, count)), most[self.unsafe]
        which = eye_array(chosen, format="csr")

        def times(amounts: Floats) -> csr_array:
            return csr_array(which * amounts[:, None])

        sums = csr_array((self.matrix.shape[0], chosen))
        rows = [
            hstack([self.matrix, -self.matrix, sums]),
            hstack([pick, none, -times(self.up)]),
            hstack([pick, none, -times(wide)]),
            hstack([none, pick, times(self.down)]),
            hstack([none, pick, times(wide)]),
        ]
        zeros, far = np.zeros(self.matrix.shape[0]), np.full(chosen, np.inf)
        nil = np.zeros(chosen)
        low = np.concatenate([zeros, nil, -far, self.down, -far])
        high = np.concatenate([zeros, far, nil, far, wide])
        least = (self.floor[self.unsafe] < self.down).astype(np.float64)
        ends = (least, np.ones(chosen)) if upward is None else (upward * 1.0, upward * 1.0)
        bounds = (
            np.concatenate([np.zeros(2 * count), ends[0]]),
            np.concatenate([most, np.minimum(most, np.maximum(self.floor, 0.0)), ends[1]]),
        )
        cost = np.concatenate([self.weight, self.weight, nil])
        columns = 2 * count + chosen
        return Program(
            csr_array(vstack(rows)),
            (low, high),
            bounds,
            cost,
            whole,
            nodes=max(100, _NODES // columns),
        )

    def _moves(self, solved: Solved) -> Exact:
        """The whole steps of a point. Raises RuntimeError where they do not do what they must."""
        assert solved.point is not None
        count = len(self.own)
        up, down = np.rint(solved.point[:count]), np.rint(solved.point[count : 2 * count])
        moves = up - down
        far = (moves[self.unsafe] >= self.up) | (-moves[self.unsafe] >= self.down)
        if not far.all() or (self.matrix @ moves).any() or (moves < -self.floor).any():
            raise RuntimeError("an adjustment does not add up")
        return exact([int(each) for each in moves.tolist()])


def _below(solved: Solved) -> Fraction:
    """A cost that none is below, by what was proven within the tolerances of the solver."""
    return Fraction(max(0.0, solved.bound - 1e-6 * (1 + abs(solved.bound))))


def _refused(system: System, variable: int) -> RefusedError:
    table, place = system.cell_of(variable)
    return RefusedError(
        "table.no-adjustment",
        msg(
            "Table `{table}`: no change of values was found that moves every unsafe cell far "
            "enough, {cell} among them, and keeps totals the sums of their parts.",
            table=table.name,
            cell=cell_words(place),
        ),
        hint="Let fewer cells be published as they are, merge categories, or suppress instead.",
    )
