"""Moves in the lattice: from one set of noisy cuboids to another one near it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median

from dpdesk.engine.cubes.optimal.terms import Shares

_TINY = 1e-9

Anywhere = Callable[[Random], int]
"""Draws any cuboid that might be of use."""


def neighbour(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> Shares:
    """Shares after one to three random moves; half of the time with a sprinkle of small shares.

    The sum is not kept at 1, and the result may leave a published cuboid without a source.
    """
    changed = dict(shares)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_MOVES)(changed, dimensions, random, anywhere)
        changed = {mask: share for mask, share in sorted(changed.items()) if share > _TINY}
        if not changed:
            return dict(shares)
    if random.random() < 0.5:
        middle = median(changed.values())
        for _ in range(random.choice((4, 8, 16))):
            _give(changed, anywhere(random), random.uniform(0.1, 0.5) * middle)
    return changed


def crossing(one: Shares, other: Shares, random: Random) -> Shares:
    """Each cuboid with the share that it has in one of the two, or in the mean of both."""
    found: Shares = {}
    for mask in sorted({*one, *other}):
        weight = random.choice((0.0, 0.5, 1.0))
        share = weight * one.get(mask, 0.0) + (1.0 - weight) * other.get(mask, 0.0)
        if share > _TINY:
            found[mask] = share
    return found


def _give(shares: Shares, mask: int, amount: float) -> None:
    shares[mask] = shares.get(mask, 0.0) + amount


def _pick(shares: Shares, random: Random) -> int:
    return random.choice(sorted(shares))


def _shift(shares: Shares, source: int, targets: tuple[int, ...], random: Random) -> None:
    amount = shares[source] * random.choice((0.5, 1.0))
    shares[source] -= amount
    for target in targets:
        _give(shares, target, amount / len(targets))


def _flip(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """A cuboid gives its share, or half of it, to one with a dimension more or less."""
    source = _pick(shares, random)
    _shift(shares, source, (source ^ 1 << random.randrange(dimensions),), random)


def _exchange(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """... to one with another dimension in place of one of its own."""
    source = _pick(shares, random)
    inside = [i for i in range(dimensions) if source >> i & 1]
    outside = [i for i in range(dimensions) if not source >> i & 1]
    if inside and outside:
        swap = 1 << random.choice(inside) | 1 << random.choice(outside)
        _shift(shares, source, (source ^ swap,), random)


def _split(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """... to two cuboids below it."""
    source = _pick(shares, random)
    first, second = (source & ~(1 << random.randrange(dimensions)) for _ in range(2))
    _shift(shares, source, (first, second), random)


def _merge(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """Two cuboids become one: that of all their dimensions, or of their common ones."""
    first, second = _pick(shares, random), _pick(shares, random)
    amount = max(shares[first], shares[second])
    shares[first] = shares[second] = 0.0
    _give(shares, first | second if random.random() < 0.5 else first & second, amount)


def _add(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """Any cuboid gets a share like that of the others."""
    _give(shares, anywhere(random), random.choice((0.5, 1.0, 2.0)) * median(shares.values()))


def _shake(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """All shares change a little."""
    for mask in sorted(shares):
        shares[mask] *= random.lognormvariate(0.0, 0.5)


def _drop(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """Some cuboids lose all or most of their share."""
    count = min(len(shares) - 1, random.choice((1, 2, 3)))
    for mask in random.sample(sorted(shares), max(count, 0)):
        shares[mask] *= random.choice((0.0, 0.1))


_MOVES = (_flip, _flip, _exchange, _split, _merge, _add, _shake, _drop)
