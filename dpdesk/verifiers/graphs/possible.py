"""Whether a graph without loops has given degrees, where all of them are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def has_degrees(degrees: Integers) -> bool:
    """Whether an undirected graph has these degrees, shape (nodes,).

    Source: Erdős and Gallai, Graphs with prescribed degrees of vertices, 1960.
    """
    ordered = np.sort(degrees)[::-1]
    if ordered.sum() % 2:
        return False
    for k, most in enumerate(np.cumsum(ordered).tolist(), 1):
        if most > k * (k - 1) + int(np.minimum(ordered[k:], k).sum()):
            return False
    return True


def has_both_degrees(out: Integers, into: Integers) -> bool:
    """Whether a directed graph has these out-degrees and in-degrees, each of shape (nodes,).

    Source: Anstee, Properties of a class of (0,1)-matrices covering a given matrix, 1982; the
    condition is that of Fulkerson and Chen, with nodes by out-degree, then by in-degree.
    """
    if out.sum() != into.sum():
        return False
    order = np.lexsort((-into, -out))
    ordered = into[order]
    for k, most in enumerate(np.cumsum(out[order]).tolist(), 1):
        room = np.minimum(ordered[:k], k - 1).sum() + np.minimum(ordered[k:], k).sum()
        if most > int(room):
            return False
    return True
