"""Sets of items read from views that agree; nothing but the views is reached, so it costs nothing.

A set's count is that of the marginal over its items, and never more than that of a part of it. So
the search goes level by level: a set comes into question only if all sets within it that are one
smaller are more frequent than the last one wanted (Apriori).
"""

from __future__ import annotations

from heapq import heappush, heappushpop
from itertools import combinations

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.itemsets.bases import Items
from dpdesk.engine.views.marginals import AgreeingViews

Found = list[tuple[float, Items]]


def mined_sets(
    agreed: AgreeingViews, most: int, longest: int, token: CancelToken, *, entropy: bool
) -> Found:
    """The ``most`` most frequent sets of at most ``longest`` items, from the views alone.

    The largest counts first, then fewer items, then by place. Of a set that lies in no view, the
    count is made by largest entropy, or by least squares. Raises Cancelled.
    """
    best: list[float] = []
    found: Found = []

    def add(own: Items, bound: float) -> None:
        made = agreed.marginal(own, token, entropy=entropy)
        count = min(bound, float(made.values[(1,) * len(own)]))
        found.append((count, own))
        (heappush if len(best) < most else heappushpop)(best, count)

    for item in range(len(agreed.shape)):
        add((item,), float("inf"))
    level = found
    for size in range(2, longest + 1):
        known = {own: count for count, own in level if len(best) < most or count > best[0]}
        start = len(found)
        for bound, own in sorted(_grown(known, size), key=lambda each: (-each[0], each[1])):
            if len(best) == most and bound < best[0]:
                break
            add(own, bound)
        level = found[start:]
    found.sort(key=lambda each: (-each[0], len(each[1]), each[1]))
    return found[:most]


def _grown(known: dict[Items, float], size: int) -> Found:
    """The sets of one item more all of whose parts are known, with the least count of a part."""
    names = sorted({item for own in known for item in own})
    found = []
    for own in known:
        for item in names:
            parts = list(combinations((*own, item), size - 1)) if item > own[-1] else []
            if parts and all(part in known for part in parts):
                found.append((min(known[part] for part in parts), (*own, item)))
    return found
