"""Variances beside single exact cells, as the verifier finds them: by matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.verifiers.cubes.exact_claim import Cell, ExactClaim, Names

_NOTHING = 1e-9
Floats = NDArray[np.float64]


def after_cells(
    claim: ExactClaim, known: Mapping[Names, float], tables: Sequence[Names], token: CancelToken
) -> dict[Names, float]:
    """The largest variance of a cell of each table, given the exact cells.

    ``known`` is the information on every residual (infinite where it is exact). The exact cells are
    conditioned on all at once: what a table's cells share with them is regressed away.
    """
    pins = [(names, cell) for names, listed in claim.cells.items() for cell in listed]
    among = np.array(
        [[_covariance(claim, known, one, own)[_place(claim, *own)] for own in pins] for one in pins]
    )
    inverse = np.linalg.pinv(among, rcond=1e-9, hermitian=True)
    found = {}
    for names in tables:
        token.check()
        shared = np.stack([_covariance(claim, known, pin, (names, None)).ravel() for pin in pins])
        gain = np.einsum("ij,ik,kj->j", shared, inverse, shared)
        whole = _variance(claim, known, names)
        left = whole - float(gain.min())
        found[names] = left if left > _NOTHING * whole else 0.0
    return found


def _variance(claim: ExactClaim, known: Mapping[Names, float], names: Names) -> float:
    total = 0.0
    for part in _parts(names):
        share = prod(1 - 1 / len(claim.categories[name]) for name in part)
        if share:
            total += share / known[part] / claim.size(names - part) ** 2
    return total


def _covariance(
    claim: ExactClaim,
    known: Mapping[Names, float],
    pin: tuple[Names, Cell],
    other: tuple[Names, Cell | None],
) -> Floats:
    """What every cell of a cuboid shares with a known cell, axes by name."""
    names, places = other[0], dict(pin[1])
    order = sorted(names)
    total = np.zeros([len(claim.categories[name]) for name in order])
    for part in _parts(names & pin[0]):
        weight = 1 / known[part] / claim.size(names - part) / claim.size(pin[0] - part)
        outer = np.full([1] * len(order), weight)
        for axis, name in enumerate(order):
            texts = claim.categories[name]
            factor = np.ones(len(texts))
            if name in part:
                factor = np.array([float(text == places[name]) for text in texts]) - 1 / len(texts)
            outer = outer * factor.reshape([-1 if i == axis else 1 for i in range(len(order))])
        total += outer
    return total


def _place(claim: ExactClaim, names: Names, cell: Cell) -> tuple[int, ...]:
    places = dict(cell)
    return tuple(claim.categories[name].index(places[name]) for name in sorted(names))


def _parts(names: Names) -> list[Names]:
    ordered = sorted(names)
    sizes = range(len(ordered) + 1)
    return [frozenset(c) for c in chain.from_iterable(combinations(ordered, n) for n in sizes)]
