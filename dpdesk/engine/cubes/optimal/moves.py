"""Moves in the lattice: from one set of noisy cuboids to another one near it."""

from __future__ import annotations

from random import Random

import numpy as np

from dpdesk.engine.cubes.lattice import Floats

_TINY = 1e-9


def neighbour(shares: Floats, dimensions: int, random: Random) -> Floats:
    """Shares after one to three random moves; half of the time with a sprinkle of small shares.

    The sum is not kept at 1, and the result may leave a published cuboid without a source.
    """
    changed = shares.copy()
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_MOVES)(changed, dimensions, random)
        changed[changed < _TINY] = 0.0
    if random.random() < 0.5 and changed.any():
        middle = float(np.median(changed[changed > 0]))
        for _ in range(random.choice((4, 8, 16))):
            changed[random.randrange(len(changed))] += random.uniform(0.1, 0.5) * middle
    return changed


def _pick(shares: Floats, random: Random) -> int:
    held = np.flatnonzero(shares)
    return int(held[random.randrange(len(held))]) if len(held) else 0


def _shift(shares: Floats, source: int, targets: tuple[int, ...], random: Random) -> None:
    amount = shares[source] * random.choice((0.5, 1.0))
    shares[source] -= amount
    for target in targets:
        shares[target] += amount / len(targets)


def _flip(shares: Floats, dimensions: int, random: Random) -> None:
    """A cuboid gives its share, or half of it, to one with a dimension more or less."""
    source = _pick(shares, random)
    _shift(shares, source, (source ^ 1 << random.randrange(dimensions),), random)


def _exchange(shares: Floats, dimensions: int, random: Random) -> None:
    """... to one with another dimension in place of one of its own."""
    source = _pick(shares, random)
    inside = [i for i in range(dimensions) if source >> i & 1]
    outside = [i for i in range(dimensions) if not source >> i & 1]
    if inside and outside:
        swap = 1 << random.choice(inside) | 1 << random.choice(outside)
        _shift(shares, source, (source ^ swap,), random)


def _split(shares: Floats, dimensions: int, random: Random) -> None:
    """... to two cuboids below it."""
    source = _pick(shares, random)
    first, second = (source & ~(1 << random.randrange(dimensions)) for _ in range(2))
    _shift(shares, source, (first, second), random)


def _merge(shares: Floats, dimensions: int, random: Random) -> None:
    """Two cuboids become one: that of all their dimensions, or of their common ones."""
    first, second = _pick(shares, random), _pick(shares, random)
    amount = max(shares[first], shares[second])
    shares[first] = shares[second] = 0.0
    shares[first | second if random.random() < 0.5 else first & second] += amount


def _add(shares: Floats, dimensions: int, random: Random) -> None:
    """Any cuboid gets a share like that of the others."""
    middle = float(np.median(shares[shares > 0])) if shares.any() else 1.0
    shares[random.randrange(len(shares))] += random.choice((0.5, 1.0, 2.0)) * middle


def _shake(shares: Floats, dimensions: int, random: Random) -> None:
    """All shares change a little."""
    for place in np.flatnonzero(shares):
        shares[place] *= random.lognormvariate(0.0, 0.5)


def _drop(shares: Floats, dimensions: int, random: Random) -> None:
    """Some cuboids lose all or most of their share."""
    held = np.flatnonzero(shares)
    count = min(len(held) - 1, random.choice((1, 2, 3)))
    for place in random.sample(range(len(held)), max(count, 0)):
        shares[held[place]] *= random.choice((0.0, 0.1))


_MOVES = (_flip, _flip, _exchange, _split, _merge, _add, _shake, _drop)
