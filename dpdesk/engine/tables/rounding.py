"""Controlled rounding: every cell to a neighbouring multiple of a base, and all sums stay sums.

Multiples of the base stay. Of all such tables the one with the least sum of changes is found by
integer programming, part by part. In two dimensions there always is one; in more, or with several
hierarchies, there may be none. Then the least exception is named: the cells that would have to go
further than to a neighbouring multiple; and the nearest base that has such a table without any.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, joined, listed, msg
from dpdesk.core.tabulation import cell_words
from dpdesk.engine.tables.audit import parts_of
from dpdesk.engine.tables.model import Exact, Floats, Ints, System, exact
from dpdesk.engine.tables.solving import Answer, Program

NO_ROUNDING = "table.no-rounding"
_NAMED, _TRIES = 3, 3


@dataclass(frozen=True, eq=False)
class Rounded:
    """The rounded values of the variables, on the grid."""

    values: Exact
    proven: bool
    """No other rounding that is additive changes less in sum."""
    bound: Fraction
    """No other changes less in sum, in units."""


def controlled(
    system: System,
    base: int,
    token: CancelToken,
    stop: CancelToken | None = None,
    units: Exact | None = None,
) -> Rounded:
    """The additive rounding to multiples of ``base`` with the least sum of changes.

    ``units`` says what 1 is on the grid of each variable (1 without it), alike in each equation.
    When ``stop`` is cancelled, or the token is asked to keep, the best rounding so far is returned,
    once there is one.

    Raises
    ------
    RefusedError
        ``table.no-rounding``: none exists (proven); the hint names the least exception, and
        ``details["base"]`` the nearest base with which there is one, if one was found.
    Cancelled
        The token asked for it.
    """
    found = _rounded(system, base, token, stop or CancelToken(), units)
    if found is None:
        raise _refused(system, base, token, units)
    return found


def _rounded(
    system: System, base: int, token: CancelToken, stop: CancelToken, units: Exact | None
) -> Rounded | None:
    """See :func:`controlled`; None where no such rounding exists."""
    values = system.cells.values
    bases = _bases(system, base, units)
    floor, rest = values // bases, values % bases
    loose = np.flatnonzero((rest != 0).astype(bool))
    # In multiples of the base: the floors miss by what the cells that go up must bring.
    missing = -_sums(system.matrix, floor)
    share = (rest[loose] / bases[loose]).astype(np.float64)
    matrix = csr_array(system.matrix[:, loose])
    up = np.zeros(len(loose), dtype=bool)
    short = 0.0
    if missing[np.diff(matrix.indptr) == 0].any():
        return None
    for part in parts_of(matrix):
        with token.keeping(stop):
            found = _program(matrix, missing, share, part).solve(token, stop=stop)
        if found.point is None:
            return None
        up[part] = found.point > 0.5
        if found.answer is not Answer.OPTIMAL:
            short += max(0.0, found.value - found.bound) + 1e-6 * (1 + abs(found.bound))
    rounded = floor * bases
    rounded[loose[up]] += bases[loose[up]]
    changed = sum(map(Fraction, abs(rounded - values), bases), Fraction(0))
    bound = max(Fraction(0), changed - Fraction(short)) * base
    return Rounded(rounded, not short, bound)


def _sums(matrix: csr_array, amounts: Exact) -> Floats:
    """The exact sum of each equation, small enough for a float."""
    if not matrix.nnz:
        return np.zeros(matrix.shape[0])
    parts = amounts[matrix.indices] * exact(matrix.data.astype(np.int64))
    return np.asarray(np.add.reduceat(parts, matrix.indptr[:-1]), dtype=np.float64)


def _program(matrix: csr_array, missing: Floats, share: Floats, part: Ints) -> Program:
    """Which cells of a connected part go up: each costs what it moves, in multiples."""
    columns = csr_array(matrix[:, part])
    rows = np.flatnonzero(np.diff(columns.indptr))
    ends = missing[rows]
    return Program(
        csr_array(columns[rows]),
        (ends, ends),
        (np.zeros(len(part)), np.ones(len(part))),
        1.0 - 2.0 * share[part],
        np.ones(len(part), dtype=bool),
    )


def _further(system: System, base: int, token: CancelToken, units: Exact | None) -> Ints:
    """The cells with the fewest further steps that make a rounding possible."""
    count = len(system)
    bases = _bases(system, base, units)
    floor, rest = system.cells.values // bases, system.cells.values % bases
    loose = (rest != 0).astype(np.float64)
    identity = eye_array(count, format="csr")
    steps = csr_array(hstack([identity, identity, -identity]))
    matrix = csr_array(csr_array(system.matrix, dtype=np.float64) @ steps)
    missing = -_sums(system.matrix, floor)
    further = np.full(count, float(count))
    nothing = np.zeros(3 * count)
    held = np.where(system.known, 0.0, further)
    cost = np.concatenate([np.full(count, 1e-3 / count), np.ones(2 * count)])
    top = np.concatenate([loose, held, held])
    whole = np.ones(3 * count, dtype=bool)
    solved = Program(matrix, (missing, missing), (nothing, top), cost, whole).solve(token)
    assert solved.point is not None  # values rounded down and corrected step by step add up
    up, down = solved.point[count : 2 * count] > 0.5, solved.point[2 * count :] > 0.5
    return np.flatnonzero(up | down)


def _nearest(system: System, base: int, token: CancelToken, units: Exact | None) -> int | None:
    """The base next to this one with which there is a rounding; larger ones hide more."""
    stop = CancelToken()
    stop.cancel()  # any rounding will do
    for other in (base + way * far for far in range(1, _TRIES + 1) for way in (1, -1)):
        if other > 1 and _rounded(system, other, token, stop, units) is not None:
            return other
    return None


def _bases(system: System, base: int, units: Exact | None) -> Exact:
    """The base of each cell, on its grid."""
    found: Exact = base * (exact([1] * len(system)) if units is None else units)
    return found


def _refused(system: System, base: int, token: CancelToken, units: Exact | None) -> RefusedError:
    """No rounding exists: what is nearest to one."""
    cells = _further(system, base, token, units)
    other = _nearest(system, base, token, units)
    alone = len(system.tables) == 1
    named = [
        cell_words(place) if alone else f"{table.name}: {cell_words(place)}"
        for table, place in (system.cell_of(int(cell)) for cell in cells)
    ]
    way = (
        msg("Cells can always be rounded at random, each by itself.")
        if other is None
        else msg("With multiples of {other} there is one without exceptions.", other=other)
    )
    return RefusedError(
        NO_ROUNDING,
        msg(
            "No additive table has every cell rounded to a neighbouring multiple of {base}; this "
            "is proven.",
            base=base,
        ),
        hint=joined(
            [
                counted(
                    "With {n} cell further away there would be one ({cells}).",
                    "With {n} cells further away there would be one ({cells}).",
                    n=len(cells),
                    cells=listed(named, _NAMED),
                ),
                way,
            ]
        ),
        details={"cells": [int(cell) for cell in cells], "base": other},
    )
