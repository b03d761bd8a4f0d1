"""What suppressed cells of a new table become computable next to earlier tables of the same people.

Cells are sets of groups of rows (rows alike in all columns of all tables). A value is computable
from published ones exactly where the set of its cell is a combination of theirs. Next to that,
differences of published sets can be small groups that no table shows: areas that nest imperfectly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import Flags, Floats, Ints

MOST_ENTRIES = 5_000_000
"""Cells times groups up to which tables are compared."""
_NEAR = 1e-7


@dataclass(frozen=True)
class Difference:
    """Published cells of which one minus others leaves ``count`` contributors: places of the one
    and the others in the lists of published sets; ``new`` says whether the one is of the new table.
    """

    one: int
    others: tuple[int, ...]
    count: int
    new: bool


def computable(suppressed: Flags, published: Flags, earlier: Flags, token: CancelToken) -> Flags:
    """Which suppressed cells are combinations of published cells, and were none without earlier
    ones. Each row of the three is a set of groups.
    """
    sets = np.unique(np.concatenate([suppressed, published, earlier]), axis=1).astype(np.float64)
    wanted = sets[: len(suppressed)]
    own = sets[len(suppressed) : len(suppressed) + len(published)]
    token.check()
    before = _spanned(wanted, own)
    token.check()
    after = _spanned(wanted, sets[len(suppressed) :])
    found: Flags = after & ~before & wanted.any(axis=1)
    return found


def _spanned(wanted: Floats, known: Floats) -> Flags:
    """Which rows are linear combinations of the known ones."""
    if not len(known) or not len(wanted):
        return np.zeros(len(wanted), dtype=bool)
    _, sizes, basis = np.linalg.svd(np.unique(known, axis=0), full_matrices=False)
    basis = basis[sizes > _NEAR * max(1.0, sizes[0])]
    rest = wanted - (wanted @ basis.T) @ basis
    found: Flags = np.abs(rest).max(axis=1, initial=0.0) < _NEAR * 10
    return found


def small_differences(
    published: Flags, earlier: Flags, counts: Ints, least: int, token: CancelToken
) -> list[Difference]:
    """Groups of fewer than ``least`` contributors between a published cell of one side and the
    widest published cells of the other that lie in it, which no published cell shows.
    """
    found: list[Difference] = []
    shown = {row.tobytes() for row in np.concatenate([published, earlier])}
    for new, ones, others in ((True, published, earlier), (False, earlier, published)):
        sizes = others @ counts
        order = np.argsort(-sizes, kind="stable")
        order = order[sizes[order] > 0]
        shared = others[order].astype(np.float32) @ ones.T.astype(np.float32)
        lies = shared == others[order].sum(axis=1)[:, None]
        for place, one in enumerate(ones):
            token.check()
            rest, taken = one.copy(), []
            for other in order[lies[:, place]].tolist():
                if not (others[other] & ~rest).any():
                    rest &= ~others[other]
                    taken.append(other)
            count = int(rest @ counts)
            if taken and 0 < count < least and rest.tobytes() not in shown:
                found.append(Difference(place, tuple(taken), count, new))
    return found
