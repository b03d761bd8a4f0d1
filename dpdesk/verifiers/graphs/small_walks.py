"""Minimal changes of small directed graphs, for the verifier: all walks there are.

Edges that come and go in turn are a walk between out-ends and in-ends. It passes each end with a
known degree at most once, and closes, or stops at ends that are not known. Sets of ends are passed
bit by bit: bits 0 to V - 1 are out-ends, V to 2V - 1 in-ends. Source: resources/docs/graphs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product

MOST_NODES = 5
"""Nodes up to which the sizes of changes of directed graphs are those of all walks."""

_SHORTEST_CYCLE = 4


def longest_change(out: Sequence[bool], into: Sequence[bool], total: bool) -> int:
    """The size of the largest minimal change of a directed graph without loops.

    ``out`` and ``into`` flag the nodes of which the degrees are known, ``total`` says that the
    number of edges is. 0 where everything follows from that.
    """
    walks = _Walks(out, into)
    even = max(walks.even(), default=0)
    odd = set(walks.odd())
    if not total:
        return max([even, *(passed.bit_count() + 1 for passed in odd)])
    pairs = (
        one.bit_count() + other.bit_count() + 2
        for one, other in combinations_with_replacement(sorted(odd), 2)
        if not one & other and (one or other or walks.single_edges > 1)
    )
    return max([even, *pairs])


class _Walks:
    """The walks beside known degrees."""

    def __init__(self, out: Sequence[bool], into: Sequence[bool]) -> None:
        self._size = size = len(out)
        self._known = [bit for bit, known in enumerate([*out, *into]) if known]
        self._free = [bit for bit, known in enumerate([*out, *into]) if not known]
        self._edges = [
            sum(1 << other for other in range(2 * size) if self._meet(bit, other))
            for bit in range(2 * size)
        ]
        self.single_edges = sum(
            self._meet(bit, other) for bit, other in product(self._free, repeat=2) if bit < size
        )

    def _meet(self, bit: int, other: int) -> bool:
        """Whether there can be an edge between an out-end and an in-end: not of the same node."""
        size = self._size
        return (bit < size) != (other < size) and bit % size != other % size

    def _free_at(self, bit: int) -> int:
        """The ends without a known degree that share an edge with one."""
        return sum(1 << free for free in self._free if self._meet(free, bit))

    def _paths(self, starts: Sequence[int], allowed: int) -> Iterator[tuple[int, int]]:
        """All sets of known ends that a walk passes, with the ends where it can be then."""
        found = dict.fromkeys((1 << start for start in starts), 0)
        for start in starts:
            found[1 << start] |= 1 << start
        level = found
        while level:
            yield from level.items()
            longer: dict[int, int] = {}
            for passed, last in level.items():
                for bit in _bits(last):
                    for following in _bits(self._edges[bit] & allowed & ~passed):
                        key = passed | 1 << following
                        longer[key] = longer.get(key, 0) | 1 << following
            level = longer

    def even(self) -> Iterator[int]:
        """The lengths of walks with as many edges that come as go."""
        for first in self._known:
            later = sum(1 << bit for bit in self._known if bit > first)
            for passed, last in self._paths([first], later):
                length = passed.bit_count()
                if length >= _SHORTEST_CYCLE and last & self._edges[first]:
                    yield length
        for passed, last in self._open_paths():
            length = passed.bit_count()
            needed = 2 if length == 1 else 1
            if length % 2 and any(self._free_at(b).bit_count() >= needed for b in _bits(last)):
                yield length + 1

    def odd(self) -> Iterator[int]:
        """The known ends that walks with an edge more, or less, pass."""
        if self.single_edges:
            yield 0
        for passed, last in self._open_paths():
            if passed.bit_count() % 2 == 0 and any(self._free_at(bit) for bit in _bits(last)):
                yield passed

    def _open_paths(self) -> Iterator[tuple[int, int]]:
        """Walks that begin at an end without a known degree: on either side."""
        allowed = sum(1 << bit for bit in self._known)
        for side in (True, False):
            starts = [
                bit for bit in self._known if (bit < self._size) is side and self._free_at(bit)
            ]
            yield from self._paths(starts, allowed)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
