"""Uniform integers, permutations and samples, exactly, from a stream of random bits.

Integer arithmetic alone: a word of 64 bits is reduced modulo the bound, and words of the last
incomplete run are drawn again, so no remainder is more likely than another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource

PIECE = 1 << 19
"""Numbers that are drawn at once: few enough for a cancel to be heard between two pieces."""


def below(bounds: NDArray[np.uint64], source: RandomSource) -> NDArray[np.uint64]:
    """One number for each bound, uniform from 0 to the bound less one, independent of the others.

    The first words of the stream stand for the bounds in their order; each one that has to be drawn
    again takes a further word. ValueError for a bound of 0.
    """
    from dpdesk.engine.decoys.kernels import reduce_words

    if len(bounds) and not bounds.all():
        raise ValueError("there is no number below 0")
    found = np.empty(len(bounds), np.uint64)
    open_ = np.empty(len(bounds), np.int64)
    again = reduce_words(source.words(len(bounds)), bounds, found, open_)
    while again:
        places = open_[:again].copy()
        part = np.empty(again, np.uint64)
        again = reduce_words(source.words(again), bounds[places], part, open_)
        found[places] = part
        open_[:again] = places[open_[:again]]
    return found


def uniform(bound: int, count: int, source: RandomSource) -> NDArray[np.uint64]:
    """``count`` numbers, uniform from 0 to ``bound`` less one."""
    return below(np.full(count, bound, np.uint64), source)


def permutation(
    length: int, source: RandomSource, token: CancelToken
) -> NDArray[np.uint32] | NDArray[np.int64]:
    """A permutation of 0, 1, …, ``length`` less one, all of them equally likely.

    Fisher and Yates' shuffle. Raises Cancelled.
    """
    from dpdesk.engine.decoys.kernels import swap_down

    order: NDArray[np.uint32] | NDArray[np.int64] = np.arange(length, dtype=np.int64)
    if length < 1 << 32:
        order = order.astype(np.uint32)
    top = length - 1
    while top > 0:
        token.check()
        last = max(0, top - PIECE)
        bounds = np.arange(top + 1, last + 1, -1, dtype=np.int64).astype(np.uint64)
        draws = below(bounds, source)
        swap_down(order, top, draws)
        draws.fill(0)
        top = last
    return order


def sample(length: int, count: int, source: RandomSource) -> NDArray[np.int64]:
    """``count`` different numbers below ``length``, all sets equally likely; ascending.

    For few numbers: one that was drawn before is drawn again. ValueError when there are not so
    many.
    """
    if count > length:
        raise ValueError(f"there are no {count} different numbers below {length}")
    chosen: set[int] = set()
    while len(chosen) < count:
        chosen.add(int(uniform(length, 1, source)[0]))
    return np.array(sorted(chosen), np.int64)
