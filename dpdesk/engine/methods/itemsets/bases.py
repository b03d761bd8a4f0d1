"""Bases: sets of items that are counted whole, so that every set of items in one has a count.

Source: Li, Qardaji, Su and Cao, "PrivBasis: frequent itemset mining with differential privacy",
VLDB 2012, with choices by permute-and-flip in place of the exponential mechanism, which loses
nothing and errs less. A basis of n items has 2^n cells (which of its items a row holds and which
not); a row is in one cell of each basis. See ``resources/docs/itemsets.md`` for the whole argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import ceil, comb

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.choosing import Coins, choose

Integers = NDArray[np.int64]
Items = tuple[int, ...]

LARGEST = 12
"""Items of a basis, at most."""

MOST_ITEMS = 60
SHARES = (Fraction(1, 10), Fraction(2, 5), Fraction(1, 2))
"""Of the budget: for how many items to choose, for which items and pairs, for counting."""

_SAFETY = Fraction(6, 5)
"""So many times as many sets as are asked for are looked at, as some are missed."""


@dataclass(frozen=True, eq=False)
class Transactions:
    """Rows by which items they hold: ``held`` (tuples, items) and how many rows have a tuple."""

    held: NDArray[np.bool_] = field(repr=False)
    counts: Integers = field(repr=False)

    def of_items(self) -> Integers:
        """How many rows hold each item, shape (items,)."""
        found: Integers = self.counts @ self.held
        return found

    def of_pairs(self, items: Sequence[int], token: CancelToken) -> Integers:
        """How many rows hold both of two items, shape (items, items)."""
        chosen = self.held[:, list(items)]
        found = np.zeros((len(items), len(items)), np.int64)
        for place in range(len(items)):
            token.check()
            found[place] = (self.counts * chosen[:, place]) @ chosen
        return found

    def of_basis(self, basis: Items) -> Integers:
        """Rows by cell, shape (2,) * items of the basis: index 1 where a row holds the item."""
        places = np.zeros(len(self.counts), np.int64)
        for item in basis:
            places = places * 2 + self.held[:, item]
        cells = np.zeros(1 << len(basis), np.int64)
        np.add.at(cells, places, self.counts)
        return cells.reshape((2,) * len(basis))


def frequent_sets(
    rows: Transactions, most: int, longest: int, token: CancelToken
) -> list[tuple[int, Items]]:
    """The ``most`` most frequent sets of at most ``longest`` items, exactly.

    The largest counts first, then fewer items, then by place: level by level, where a set comes
    into question only if no set within it has been found to be too rare (Apriori).
    """
    single = rows.of_items().tolist()
    found: list[tuple[int, Items]] = [(n, (item,)) for item, n in enumerate(single)]
    found.sort(key=_order)
    level: dict[Items, NDArray[np.bool_]] = {own: rows.held[:, own[0]] for _, own in found}
    for size in range(2, longest + 1):
        floor = found[most - 1][0] if len(found) >= most else 0
        known = {own for n, own in found if len(own) == size - 1 and n >= floor}
        names = sorted({item for own in known for item in own})
        grown: dict[Items, NDArray[np.bool_]] = {}
        for own in sorted(known):
            token.check()
            for item in names[np.searchsorted(names, own[-1], side="right") :]:
                wider = (*own, int(item))
                if all(part in known for part in combinations(wider, size - 1)):
                    inside = level[own] & rows.held[:, item]
                    count = int(rows.counts @ inside)
                    if count >= floor:
                        grown[wider] = inside
                        found.append((count, wider))
        level = grown
        found = sorted(found, key=_order)[:most]
    return found[:most]


def _order(entry: tuple[int, Items]) -> tuple[int, int, Items]:
    return -entry[0], len(entry[1]), entry[1]


def fewest_items(top: int, longest: int) -> int:
    """How many items have so many sets of at most ``longest`` of them."""
    number = 1
    while sets_of(number, longest) < top:
        number += 1
    return number


def sets_of(items: int, longest: int) -> int:
    """How many sets of 1 to ``longest`` of so many items there are."""
    return sum(comb(items, size) for size in range(1, longest + 1))


def wanted_sets(top: int) -> int:
    """How many sets are looked at so that ``top`` are found."""
    return ceil(_SAFETY * top)


def chosen_bases(
    rows: Transactions,
    top: int,
    longest: int,
    rates: tuple[Fraction, Fraction],
    coins: Coins,
    token: CancelToken,
) -> tuple[Items, ...]:
    """Bases by private choices (see :mod:`dpdesk.engine.noise.choosing`).

    ``rates``: that of the choice of how many items, and that of all other choices together. Where
    one person changes the difference of two counts by at most w, the first costs it times 2w in
    epsilon, the second times w.

    First, how many items: that number n for which the n-th most frequent item is about as frequent
    as the last set looked for. Its score is minus the distance of two counts, which a person
    changes by at most w, so that the difference of two scores changes by twice as much.
    Then the items, one after another, each with an equal part of the second rate, and, where they
    do not fit into one basis, as many pairs of them as sets are still wanted. The parts add up to
    the budget whatever is chosen. Raises Cancelled.
    """
    single, wanted = rows.of_items().tolist(), wanted_sets(top)
    many = len(single)
    least = frequent_sets(rows, wanted, longest, token)[-1][0]
    ranked = sorted(single, reverse=True)[: min(many, wanted, MOST_ITEMS)]
    scores = [-abs(count - least) for count in ranked]
    number = choose(scores, rates[0], coins, token) + 1
    number = max(number, fewest_items(top, longest))
    extra = max(0, wanted - number) if number > LARGEST else 0
    extra = min(extra, number * (number - 1) // 2)
    rate = rates[1] / (number + extra)
    places = _several(single, number, rate, coins, token)
    items = sorted(places)
    if number <= LARGEST:
        return (tuple(items),)
    both = rows.of_pairs(items, token)
    pairs = list(combinations(range(number), 2))
    chosen = _several([int(both[pair]) for pair in pairs], extra, rate, coins, token)
    return merged(items, [(items[pairs[i][0]], items[pairs[i][1]]) for i in chosen], token)


def _several(
    scores: Sequence[int], number: int, rate: Fraction, coins: Coins, token: CancelToken
) -> list[int]:
    """So many different candidates, chosen one after another."""
    left, found = list(range(len(scores))), []
    for _ in range(number):
        turn = choose([scores[place] for place in left], rate, coins, token)
        found.append(left.pop(turn))
    return found


def merged(
    items: Sequence[int], pairs: Sequence[tuple[int, int]], token: CancelToken
) -> tuple[Items, ...]:
    """Bases that hold all items and all pairs, with a small mean variance of their counts.

    From large sets of items all of whose pairs are among the pairs; two bases become one for as
    long as that makes the mean smaller. From private choices alone: it sees no data. Cancelled.
    """
    bit = {item: 1 << place for place, item in enumerate(items)}
    bases = [
        sum(bit[item] for item in part)
        for clique in _cliques(items, pairs)
        for part in _parts(clique)
    ]
    targets = np.array(
        [bit[item] for item in items] + [bit[a] | bit[b] for a, b in pairs], np.int64
    )
    while len(bases) > 1:
        token.check()
        found = _best_merge(bases, targets)
        if found is None:
            break
        first, second = found
        union = bases[first] | bases[second]
        bases = [each for each in bases if each & ~union] + [union]
    named = [tuple(item for item in items if bit[item] & basis) for basis in bases]
    return tuple(sorted(named))


def _parts(clique: Items) -> list[Items]:
    """A set of items cut so that every two of them are in some part of at most the largest size."""
    if len(clique) <= LARGEST:
        return [clique]
    half = LARGEST // 2
    blocks = [clique[start : start + half] for start in range(0, len(clique), half)]
    return [(*first, *second) for first, second in combinations(blocks, 2)]


def _cliques(items: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[Items]:
    """Sets of items all of whose pairs are given, maximal ones, that hold each pair and item.

    Not all such sets: there can be exponentially many. Each begins with the first pair that no
    other holds yet and takes the item with most pairs of that kind, for as long as one fits.
    """
    near: dict[int, set[int]] = {item: set() for item in items}
    for first, second in pairs:
        near[first].add(second)
        near[second].add(first)
    open_ = {item: set(others) for item, others in near.items()}
    found: list[Items] = [(item,) for item in items if not near[item]]
    for first, second in sorted(pairs):
        if second not in open_[first]:
            continue
        own, fits = {first, second}, near[first] & near[second]
        while fits:
            taken = max(sorted(fits), key=lambda item: len(open_[item] & own))
            own.add(taken)
            fits &= near[taken]
        for item in own:
            open_[item] -= own
        found.append(tuple(sorted(own)))
    return sorted(found)


def precision_weights(bases: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """One over the cells of each basis that add up to each set's count; 0 where it is not inside.

    Items are bits. Shape (bases, targets).
    """
    inside = (targets[None, :] & ~bases[:, None]) == 0
    spare = np.bitwise_count(bases)[:, None].astype(np.int64) - np.bitwise_count(targets)[None, :]
    return np.where(inside, np.exp2(-np.maximum(spare, 0).astype(np.float64)), 0.0)


def _best_merge(bases: list[int], targets: NDArray[np.int64]) -> tuple[int, int] | None:
    """The two bases whose union lowers most the mean over the targets of the variance of their
    counts; None when none does.
    """
    from dpdesk.engine.methods.itemsets.merging import best_union

    each = np.array(bases, np.int64)
    known = precision_weights(each, targets).sum(axis=0)
    first, second = best_union(each, targets, known, LARGEST)
    return (first, second) if second else None


def top_sets(
    bases: Sequence[Items], cells: Sequence[Integers], top: int, longest: int
) -> list[tuple[float, Items]]:
    """The sets with the largest noisy counts, from the noisy cells of the bases alone.

    The count of a set is the sum of the cells whose rows hold all of it; from several bases, their
    mean weighted by one over the cells summed up, which is by one over the variance.
    """
    sums: dict[Items, list[float]] = {}
    for basis, noisy in zip(bases, cells, strict=True):
        holding = np.array(noisy, np.int64)
        for axis in range(len(basis)):
            low = np.take(holding, 0, axis=axis) + np.take(holding, 1, axis=axis)
            holding = np.stack([low, np.take(holding, 1, axis=axis)], axis=axis)
        for size in range(1, min(longest, len(basis)) + 1):
            weight = 2.0 ** (size - len(basis))
            for places in combinations(range(len(basis)), size):
                index = tuple(int(place in places) for place in range(len(basis)))
                known = sums.setdefault(tuple(basis[place] for place in places), [0.0, 0.0])
                known[0] += weight * int(holding[index])
                known[1] += weight
    counts = [(total / weight, own) for own, (total, weight) in sums.items()]
    return sorted(counts, key=lambda each: (-each[0], len(each[1]), each[1]))[:top]
