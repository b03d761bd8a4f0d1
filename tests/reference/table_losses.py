"""What a protected table loses, cell by cell in plain loops over labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Place = tuple[str, ...]


def losses(
    true: Mapping[Place, float], shown: Mapping[Place, float], gone: Sequence[Place], total: str
) -> dict[str, float]:
    """Measures by name, and the share lost in the dimension number j as ``j``.

    All labels but the total are innermost: the tables have no subtotals.
    """
    found = {"suppressed": float(len(gone))}
    sizes = sum(abs(value) for value in true.values())
    changes = sum(abs(shown[place] - true[place]) for place in true)
    found["value"] = sum(abs(true[place]) for place in gone) / sizes
    found["change"] = changes / len(true)
    found["relative"] = changes / sizes
    inner = [place for place in true if total not in place]
    one, other = (sum(max(0.0, each[p]) for p in inner) for each in (true, shown))
    squares = 0.0
    for place in inner:
        first, second = max(0.0, true[place]) / one, max(0.0, shown[place]) / other
        squares += (math.sqrt(first) - math.sqrt(second)) ** 2
    found["distance"] = math.sqrt(squares / 2)
    for j in range(len(inner[0])):
        lost = whole = 0.0
        for place, value in true.items():
            if place[j] == total:
                continue
            whole += abs(value)
            lost += abs(value) if place in gone else abs(shown[place] - value)
        found[str(j)] = lost / whole
    return found
