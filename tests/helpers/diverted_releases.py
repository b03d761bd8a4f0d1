"""Diverted releases of made-up tables: quick, from a stream that repeats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.methods.l_diverted.groups import partition_counts

Ints = NDArray[np.int64]


def published(
    codes: Ints, values: int, size: int, mixed: bool, generator: np.random.Generator
) -> Ints:
    """A published value for each row: its group's values with equal chances."""
    counts = np.bincount(codes, minlength=values)
    groups = np.zeros((len(codes) // size, size), np.int32)
    state = np.array([generator.integers(1 << 63)], np.uint64)
    pairs = np.zeros((values, values), np.int64)
    partition_counts(counts.copy(), mixed, state, pairs, groups, 1, 0)
    places = np.argsort(groups.ravel(), kind="stable")
    rows = np.argsort(codes + generator.random(len(codes)), kind="stable")
    found = np.empty(len(codes), np.int64)
    found[rows] = groups[places // size, generator.integers(0, size, len(codes))]
    return found


def skewed_codes(rows: int, values: int, size: int, generator: np.random.Generator) -> Ints:
    """Codes of an eligible column with unequal shares, in random order."""
    while True:
        shares = generator.dirichlet(np.full(values, 3.0))
        counts = np.maximum(1, np.round(shares * rows)).astype(np.int64)
        counts[int(np.argmax(counts))] += rows - int(counts.sum())
        if counts.max() * size <= rows and counts.min() >= 1:
            return generator.permutation(np.repeat(np.arange(values), counts))
