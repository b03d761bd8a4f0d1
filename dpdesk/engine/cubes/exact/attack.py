"""The averaging attack on a cube with exact tables: what it gets from plain and from enough noise.

Exact tables tie cells together, so that whoever knows enough reads one unknown off many noisy
cells and takes their mean. All of it follows from the noise, the same for any data. Source: exact
cuboids paper, Example 3.1; resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from dpdesk.engine.cubes.lattice import (
    Floats,
    cell_variances,
    down_closure,
    information,
    magnification,
)
from dpdesk.engine.private.guarantee_words import posterior

_LARGEST_LOSS = 700.0
_LISTED = 5


@dataclass(frozen=True)
class Averaged:
    """Standard deviation of a cell of a table from one noisy table, and after averaging."""

    cuboid: int
    plain_single: float
    plain_averaged: float
    single: float
    averaged: float


@dataclass(frozen=True)
class Attack:
    """The attack with noise for one person (plain) and with the noise of the release.

    ``readings`` noisy cells answer the question which of two data sets is the true one;
    ``single`` and ``mean`` are standard deviations of one of them and of their mean, ``odds`` what
    the odds can change by (None: beyond all bounds), ``surer`` what even chances can become.
    ``tables`` are those that averaging makes most precise.
    """

    readings: int
    plain_loss: float
    loss: float
    plain_single: float
    single: float
    tables: tuple[Averaged, ...]

    @property
    def plain_mean(self) -> float:
        """The mean's standard deviation with plain noise."""
        return self.plain_single / sqrt(self.readings)

    @property
    def mean(self) -> float:
        """The mean's standard deviation with the noise of the release."""
        return self.single / sqrt(self.readings)

    @property
    def plain_odds(self) -> float | None:
        """What odds can change by with plain noise."""
        return exp(self.plain_loss) if self.plain_loss < _LARGEST_LOSS else None

    @property
    def odds(self) -> float | None:
        """What odds can change by with the noise of the release."""
        return exp(self.loss) if self.loss < _LARGEST_LOSS else None

    @property
    def plain_surer(self) -> float:
        """What even chances can become with plain noise."""
        return posterior(0.5, self.plain_loss)

    @property
    def surer(self) -> float:
        """What even chances can become with the noise of the release."""
        return posterior(0.5, self.loss)


def averaging_attack(
    shape: Sequence[int],
    exact: Sequence[int],
    sources: Sequence[int],
    deviations: Sequence[float],
    published: Sequence[int],
    *,
    readings: int,
    plain: float,
    loss: float,
    plain_loss: float,
) -> Attack:
    """The attack on noisy ``sources`` with these standard ``deviations`` of a cell.

    ``exact`` and ``published`` are masks; ``plain`` is the part of the deviations that noise for
    one person alone would have, ``loss`` and ``plain_loss`` are what odds change by at most, in
    logarithms.
    """
    own = np.zeros(1 << len(shape))
    for mask, deviation in zip(sources, deviations, strict=True):
        own[mask] += 1 / deviation**2
    known = information(own, shape)
    known[down_closure(exact, len(shape))] = np.inf
    after: Floats = np.sqrt(cell_variances(known, shape))
    found = []
    for mask in published:
        best = min(
            (
                deviation * sqrt(magnification(mask, source, shape))
                for source, deviation in zip(sources, deviations, strict=True)
                if not mask & ~source
            ),
            default=0.0,
        )
        if best > 0 and after[mask] > 0:
            averaged = float(after[mask])
            found.append(Averaged(mask, best * plain, averaged * plain, best, averaged))
    found.sort(key=lambda one: one.averaged / one.single)
    finest = max(range(len(sources)), key=lambda place: sources[place].bit_count())
    single = deviations[finest]
    return Attack(readings, plain_loss, loss, single * plain, single, tuple(found[:_LISTED]))
