"""Which views are measured, their shares of the budget, and the noise that is planned.

The guide to the error is the L2 error that noise leaves in a table of ``cover`` dimensions on
average: a view with c cells of variance s² gives such a table with c s² of squared error in all,
and several views are averaged by inverse variance. For views of equal size it is the formula of the
PriView slides, sqrt(2^(l+1) w² / (w l (l-1) / (d (d-1)))) / ε, times N. It knows nothing of what
views do not cover, so it can choose how large views are, but not ``cover``.

Shares: the squared error of a view costs (weight × cells) / share² for Laplace noise, / share for
Gaussian noise; least in all where shares go by the cube (square) root of weight × cells.
The weight of a view is that of the tables of ``cover`` dimensions in it, shared with other views
that hold them, and of the analyses that the plan names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.engine.views.designs import covering_design
from dpdesk.engine.views.settings import MOST_IN_VIEW, Places, ViewSettings

_LARGEST_VIEW = 1 << 14
_TRIED = 3
_STEPS = 1_000_000


@dataclass(frozen=True)
class Candidate:
    """Views of a size that could be measured: ``size`` dimensions, or ``cells`` at most.

    ``guide`` is the guide to the error with a budget of 1, in people: a lower bound where no views
    were made (``views`` is empty).
    """

    size: int
    cells: int
    guide: float
    count: int
    views: tuple[Places, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """The views, their shares of the budget, and what else was considered."""

    views: tuple[Places, ...]
    shares: tuple[Fraction, ...]
    candidates: tuple[Candidate, ...] = ()


def chosen_views(
    settings: ViewSettings, shape: Places, where: str, token: CancelToken, report: Report
) -> Chosen:
    """The views that the settings ask for; InputError ``views.*`` where there are none."""
    candidates: tuple[Candidate, ...] = ()
    if settings.views:
        views = settings.views
    elif len(set(shape)) == 1 and not settings.cells:
        views, candidates = _of_size(settings, shape, token, report)
    elif settings.size:
        views = covering_design(len(shape), settings.size, settings.cover, token, report)
    else:
        views, candidates = _of_cells(settings, shape, where, token)
    return Chosen(views, _shares(settings, views, shape), candidates)


def _of_size(
    settings: ViewSettings, shape: Places, token: CancelToken, report: Report
) -> tuple[tuple[Places, ...], tuple[Candidate, ...]]:
    """Views of equal size, for dimensions with equally many categories."""
    dimensions, cover = len(shape), settings.cover
    sizes = [settings.size] if settings.size else _sizes(shape, cover)
    found = {}
    for size in sizes:
        least = _least_blocks(dimensions, size, cover)
        guide = _guide_of(size, least, settings, shape)
        found[size] = Candidate(size, shape[0] ** size, guide, least)
    for size in sorted(sizes, key=lambda each: found[each].guide)[:_TRIED]:
        report(StepStarted("Choose the views", 1, 1))
        views = covering_design(dimensions, size, cover, token, report)
        guide = _guide_of(size, len(views), settings, shape)
        found[size] = Candidate(size, shape[0] ** size, guide, len(views), views)
    best = min((each for each in found.values() if each.views), key=lambda each: each.guide)
    return best.views, tuple(found.values())


def _sizes(shape: Places, cover: int) -> list[int]:
    most = min(len(shape), MOST_IN_VIEW)
    fits = [size for size in range(cover, most + 1) if shape[0] ** size <= _LARGEST_VIEW]
    return fits or [cover]


def _least_blocks(points: int, size: int, strength: int) -> int:
    """Schönheim's bound: no covering has fewer blocks."""
    least = 1
    for gone in reversed(range(strength)):
        least = -(-(points - gone) * least // (size - gone))
    return least


def _guide_of(size: int, count: int, settings: ViewSettings, shape: Places) -> float:
    """The guide for so many views of equal size, with a budget of 1."""
    held = count * comb(size, settings.cover) / comb(len(shape), settings.cover)
    return sqrt(shape[0] ** size * _unit_variance(settings, Fraction(1, count)) / max(held, 1))


def _unit_variance(settings: ViewSettings, share: Fraction) -> float:
    """The variance of a cell whose view has this share of a budget of 1, about."""
    return float(2 / share**2 if settings.cube.pure else 1 / (2 * share))


def _of_cells(
    settings: ViewSettings, shape: Places, where: str, token: CancelToken
) -> tuple[tuple[Places, ...], tuple[Candidate, ...]]:
    """Views of so many cells at most, or of the number that the guide likes best."""
    needed = prod(sorted(shape)[-settings.cover :])
    if settings.cells and settings.cells < needed:
        raise InputError(
            "views.cells",
            msg(
                "{where}: a view that holds the {n} dimensions with most categories has "
                "{needed:,} cells, but `view_cells` is {cells:,}.",
                where=where,
                n=settings.cover,
                needed=needed,
                cells=settings.cells,
            ),
            hint="Give a larger `view_cells`, or coarser categories with `levels`.",
            details={"key": "view_cells"},
        )
    budgets = [settings.cells] if settings.cells else []
    step = needed
    while not budgets or (not settings.cells and step <= max(4 * needed, _LARGEST_VIEW)):
        budgets.append(step)
        step *= 2
        if budgets[-1] >= prod(shape):
            break
    found = []
    for cells in budgets:
        token.check()
        views = _greedy(shape, cells, settings.cover, token)
        guide = guide_to(views, shape, settings, _shares(settings, views, shape))
        found.append(Candidate(0, cells, guide, len(views), views))
    best = min(found, key=lambda each: each.guide)
    return best.views, tuple(found)


def guide_to(
    views: Sequence[Places], shape: Places, settings: ViewSettings, shares: Sequence[Fraction]
) -> float:
    """The guide to the error of any views, with a budget of 1."""
    known: dict[Places, float] = {}
    for view, share in zip(views, shares, strict=True):
        noise = _unit_variance(settings, share) * prod(shape[i] for i in view)
        for part in combinations(view, settings.cover):
            known[part] = known.get(part, 0.0) + 1 / noise
    return sqrt(sum(1 / each for each in known.values()) / len(known))


def _greedy(
    shape: Places, cells: int, cover: int, token: CancelToken
) -> tuple[tuple[int, ...], ...]:
    """Views of at most so many cells that cover every ``cover`` dimensions.

    Each begins with the first dimensions that are not covered together, and takes the one that adds
    most of them for its number of categories.
    """
    many = len(shape)
    weight = np.log(np.maximum(shape, 2))
    open_ = _all_open(many, cover)
    views: list[Places] = []
    while open_.any():
        token.check()
        view = [int(each[0]) for each in np.nonzero(open_)]
        while len(view) < min(many, MOST_IN_VIEW):
            room = cells // prod(shape[i] for i in view)
            gains = _gains(open_, view, cover) / weight
            gains[[i for i in range(many) if i in view or shape[i] > room]] = -1
            best = int(gains.argmax())
            if gains[best] < 0:
                break
            view.append(best)
        for part in combinations(sorted(view), cover):
            open_[part] = False
        views.append(tuple(sorted(view)))
    return tuple(sorted(set(views)))


def _all_open(many: int, cover: int) -> NDArray[np.bool_]:
    """Which ascending sets of dimensions are still to be covered: all, at first."""
    axes = np.indices((many,) * cover)
    rises = [axes[i] < axes[i + 1] for i in range(cover - 1)]
    return np.logical_and.reduce(rises) if rises else np.ones((many,), dtype=bool)


def _gains(open_: NDArray[np.bool_], view: Sequence[int], cover: int) -> NDArray[np.float64]:
    """How many open sets each further dimension would cover."""
    if cover == 1:
        return open_.astype(np.float64)
    either = open_ if cover == 2 else open_[view].any(axis=0)
    if cover == 2:
        return np.asarray((open_ | open_.T)[view].sum(axis=0), dtype=np.float64)
    either = open_ | open_.transpose(0, 2, 1) | open_.transpose(1, 0, 2)
    either |= open_.transpose(1, 2, 0) | open_.transpose(2, 0, 1) | open_.transpose(2, 1, 0)
    return np.asarray(either[np.ix_(view, view)].sum(axis=(0, 1)) / 2, dtype=np.float64)


def _shares(settings: ViewSettings, views: Sequence[Places], shape: Places) -> tuple[Fraction, ...]:
    """The share of the budget of each view; see the module. They sum to 1."""
    sizes = [prod(shape[i] for i in view) for view in views]
    if not settings.weights and len(set(sizes)) == 1:
        return (Fraction(1, len(views)),) * len(views)
    wanted: dict[Places, float] = {}
    for view in views:
        for part in combinations(view, min(settings.cover, len(view))):
            wanted[part] = 1.0
    for analysis, weight in settings.weights.items():
        covered = any(set(analysis) <= set(view) for view in views)
        parts: Iterable[Places] = [analysis] if covered else combinations(analysis, settings.cover)
        listed = list(parts)
        for part in listed:
            wanted[part] = wanted.get(part, 0.0) + float(weight) / len(listed)
    holders = _holders(wanted, views)
    weights = [0.0] * len(views)
    for part, value in wanted.items():
        for number in holders[part]:
            weights[number] += value / len(holders[part])
    power = 1 / 3 if settings.cube.pure else 1 / 2
    raw = [(weight * size) ** power for weight, size in zip(weights, sizes, strict=True)]
    steps = [max(1, round(_STEPS * each / sum(raw))) for each in raw]
    return tuple(Fraction(each, sum(steps)) for each in steps)


def _holders(wanted: Mapping[Places, float], views: Sequence[Places]) -> dict[Places, list[int]]:
    """By table, the views that hold it."""
    masks = [sum(1 << i for i in view) for view in views]
    found = {}
    for part in wanted:
        mask = sum(1 << i for i in part)
        found[part] = [number for number, each in enumerate(masks) if not mask & ~each]
    return found


@dataclass(frozen=True, eq=False)
class PlannedNoise:
    """What views tell of each residual: 1/variance by the mask of its dimensions."""

    shape: Places
    known: Mapping[int, float]

    @classmethod
    def of(cls, views: Sequence[Places], shape: Places, variances: Sequence[float]) -> PlannedNoise:
        """From the variance of a cell of each view; see :func:`~dpdesk.engine.cubes.lattice`."""
        known: dict[int, float] = {}
        for view, variance in zip(views, variances, strict=True):
            parts = [(0, 1 / variance)]
            for i in view:
                lacking = [(mask, weight / shape[i]) for mask, weight in parts]
                parts = lacking + [(mask | 1 << i, weight) for mask, weight in parts]
            for mask, weight in parts:
                known[mask] = known.get(mask, 0.0) + weight
        return cls(shape, known)

    def variance(self, places: Places) -> float:
        """Of a cell of a table, from noise alone, once views agree and before cells are moved.

        Residuals that no view holds bear no noise: what they are is not known at all.
        """
        parts = [(0, 1.0)]
        for i in places:
            count = self.shape[i]
            lacking = [(mask, share / count**2) for mask, share in parts]
            own = 1 - 1 / count
            parts = lacking + [(mask | 1 << i, share * own) for mask, share in parts if own]
        return sum(share / self.known[mask] for mask, share in parts if mask in self.known)
