"""The averaging attack on a cube with exact tables: what it gets from plain and from enough noise.

Exact tables tie cells together, so that whoever knows enough reads one unknown off many noisy
cells and takes their mean. All of it follows from the noise, the same for any data. Source: exact
cuboids paper, Example 3.1; resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.consistency.residual import Measured, cells_below, consistent_cube
from dpdesk.engine.cubes.exact.part import Integers
from dpdesk.engine.cubes.lattice import (
    Floats,
    cell_variances,
    down_closure,
    information,
    magnification,
    members,
)
from dpdesk.engine.cubes.mechanism import RowEffect
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import posterior
from dpdesk.engine.private.kinds import Noise

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


# The averaging attack played on the true counts: for the reviewer alone, never public.
#
# Its noise is pseudo-random and none of the release's own, and the same each time, so that the
# attack can be played again on the source; plain noise is made for one person, as if nothing were
# exact. What comes out is internal, since it names a true count.


ATTACKS = 40
_MOST_CELLS = 200_000
_SEED = 4102  # of an example, never of a release

Count = Callable[[int], Integers]


def demonstration(
    settings: CubeSettings, channel: Channel, count: Count, token: CancelToken
) -> dict[str, object]:
    """Mean errors of attacks on one cell, with plain noise and with that of the release.

    ``count`` gives the true counts of a cuboid. Empty where there is no attack to show: without
    whole exact tables, where plain noise is enough, for residual sources, and for large cubes.
    """
    part, plan = channel.exact, channel.plan
    sources = [source.cuboid for source in plan.sources]
    if part is None or not part.whole or settings.residuals:
        return {}
    if cells_below([*sources, *part.whole], plan.shape) > _MOST_CELLS:
        return {}
    plain = _plain(settings, channel)
    deviations = [sqrt(variance) for variance in channel.variances]
    found = averaging_attack(
        plan.shape, part.whole, sources, deviations, settings.published,
        readings=part.generic.l1, plain=plain, loss=0.0, plain_loss=0.0,
    )  # fmt: skip
    if plain >= 1 or not found.tables:
        return {}
    mask = found.tables[0].cuboid
    truth = {one: count(one) for one in {*sources, *part.whole, mask}}
    place = int(np.argmax(truth[mask]))
    errors = {
        name: _errors(channel, truth, mask, place, factor, token)
        for name, factor in (("plain", plain), ("here", 1.0))
    }
    cell = np.unravel_index(place, truth[mask].shape)
    return {
        "table": [settings.dimensions[i] for i in members(mask)],
        "cell": [int(one) for one in cell],
        "true": int(truth[mask].reshape(-1)[place]),
        "attacks": ATTACKS,
        **{f"{name}_{key}": error for name, pair in errors.items() for key, error in pair.items()},
    }


def _plain(settings: CubeSettings, channel: Channel) -> float:
    """Noise for one person, as a part of the noise of the release."""
    usual = RowEffect(1, 1, settings.rows_per_person, settings.replace).of_cuboid()
    own = channel.effect.of_cuboid()
    if channel.plan.noise is Noise.LAPLACE:
        return float(usual.l1 / own.l1)
    return sqrt(usual.l2_squared / own.l2_squared)


def _errors(
    channel: Channel,
    truth: Mapping[int, Integers],
    mask: int,
    place: int,
    factor: float,
    token: CancelToken,
) -> dict[str, float]:
    """Mean absolute errors of a cell: from the best noisy table alone, and after averaging."""
    part, plan = channel.exact, channel.plan
    assert part is not None
    random, one, all_ = np.random.default_rng(_SEED), 0.0, 0.0
    for _ in range(ATTACKS):
        token.check()
        noisy: dict[int, Measured] = {}
        for source, variance in zip(plan.sources, channel.variances, strict=True):
            exact = truth[source.cuboid]
            drawn = _drawn(plan.noise, sqrt(variance) * factor, exact.shape, random)
            noisy[source.cuboid] = Measured(exact + drawn, 1 / variance)
        true = truth[mask].reshape(-1)[place]
        best = max(
            (s for s in noisy if not mask & ~s),
            key=lambda s: noisy[s].information / (noisy[s].values.size / truth[mask].size),
        )
        gone = tuple(a for a, i in enumerate(members(best)) if not mask >> i & 1)
        one += abs(float(noisy[best].values.sum(axis=gone).reshape(-1)[place]) - true)
        exact_tables = {each: truth[each] for each in part.whole}
        cube = consistent_cube(plan.shape, noisy, exact=exact_tables, token=token)
        all_ += abs(float(cube.cuboid(mask).reshape(-1)[place]) - true)
    return {"one": one / ATTACKS, "averaged": all_ / ATTACKS}


def _drawn(
    noise: Noise, deviation: float, shape: tuple[int, ...], random: np.random.Generator
) -> Floats:
    if noise is Noise.LAPLACE:
        return random.laplace(size=shape, scale=deviation / sqrt(2))
    return random.normal(size=shape, scale=deviation)
