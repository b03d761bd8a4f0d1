"""Changes of all suppressed cells together that keep every sum: a cheap look before programs.

A random vector, projected on the vectors that keep all sums and stretched until a cell is at its
end, moves most cells by a good share of their room, forwards and backwards. Where rules ask for
less than that, as thresholds do, a few such points show of thousands of cells that they can move.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import Flags, Floats

FEWEST = 50
"""Ends that are to be reached, from which on it is worth it."""
_MOST_EQUATIONS = 4000
_ROUNDS = 40
_RIDGE, _REPEATS, _STILL = 1e-9, 3, 1e-10
_LEAST_NEWS = 0.03


def swings(
    matrix: csr_array,
    ends: tuple[Floats, Floats],
    goals: tuple[Floats, Floats],
    token: CancelToken,
) -> list[Floats]:
    """Points ``y`` with ``matrix y = 0`` within the ends, which hold 0, that reach many goals.

    ``goals`` says how far down and up each column is to go (0: nowhere in particular). Empty where
    few are to go anywhere, or the equations are too many. Raises Cancelled.
    """
    wanted = np.stack([goals[0] < 0, goals[1] > 0])
    if int(wanted.sum()) < FEWEST or matrix.shape[0] > _MOST_EQUATIONS:
        return []
    room = np.minimum(-ends[0], ends[1])
    far = room[np.isfinite(room)]
    room = np.where(np.isfinite(room), room, far.max(initial=1.0))
    scaled = csr_array(matrix.multiply(room[None, :]))
    length = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    inside = length > 0
    scaled = csr_array(csr_array(scaled[inside]).multiply(1.0 / length[inside][:, None]))
    square = (scaled @ scaled.T).toarray()
    factor = cho_factor(square + _RIDGE * np.eye(len(square)), overwrite_a=True)
    rng, found = np.random.default_rng(0), list[Floats]()
    for _ in range(_ROUNDS):
        token.check()
        moving = wanted.any(axis=0) & (room > 0)
        vector = np.where(moving, rng.standard_normal(len(room)), 0.0)
        for _ in range(_REPEATS):
            vector = vector - scaled.T @ cho_solve(factor, scaled @ vector)
        if not np.abs(scaled @ vector).max(initial=0.0) <= _STILL * np.abs(vector).max(initial=0.0):
            break
        before = int(wanted.sum())
        for way in (vector * room, -vector * room):
            point = _stretched(way, ends)
            reached = np.stack([point <= goals[0], point >= goals[1]]) & wanted
            if reached.any():
                found.append(point)
                wanted &= ~reached
        if before - int(wanted.sum()) < max(1.0, _LEAST_NEWS * before):
            break
    return found


def _stretched(way: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """The furthest point in a direction."""
    still: Flags = np.abs(way) <= _STILL * np.abs(way).max(initial=0.0)
    way = np.where(still, 0.0, way)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(way > 0, ends[1] / way, np.where(way < 0, ends[0] / way, np.inf))
    far = float(most.min(initial=np.inf))
    return way * far if np.isfinite(far) else np.zeros(len(way))
