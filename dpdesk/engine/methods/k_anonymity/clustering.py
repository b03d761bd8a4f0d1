"""Classes of rows whose cells are generalised or suppressed one by one, at little loss.

Every class shows, for each attribute, the lowest node over its rows; its loss is the mean loss of
these nodes. Four ways, by size:

- An integer program over all generalised tuples that at least k rows have in common, for small
  tables: proven optimal, or with the bound that the solver reached.
- A forest, for some 20,000 distinct tuples (Aggarwal et al., *Approximation algorithms for
  k-anonymity*), with a lower bound: the result loses at most 3k − 3
  times the optimum.
- Tuples that agree at levels that lose little, and Mondrian, whose classes are taken where these
  lose less; beyond, with a weaker lower bound.

Why 3k − 3 is said in :mod:`~dpdesk.engine.methods.k_anonymity.forest`.

Where more than k is asked of classes, tuples have one sensitive value each, classes of the forest
that do not pass are joined with others where that loses least, and the integer program counts the
rows of each value in each class. All that can be asked but entropy and distinct values is linear in
these counts; distinct values are marked by whole numbers, and entropy, being concave, is cut off by
tangents where a solution does not pass. No factor is proven; the bounds hold.

Levels that cells may not exceed divide the tuples into groups that share no class: the forest and
Mondrian work within each. How many cells may become ``*`` is asked of the integer program; the
other ways weigh columns with too many of them higher, at last so that none of theirs may, and what
they find is checked. Bounds are those of the release without limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.methods.k_anonymity.agreeing import ROUNDS, agreeing_parts
from dpdesk.engine.methods.k_anonymity.forest import forest_parts, neighbours
from dpdesk.engine.methods.k_anonymity.matched_cells import shown_over
from dpdesk.engine.methods.k_anonymity.mondrian import (
    Array,
    Parts,
    in_groups,
    loss_of,
    matched_mondrian,
    mondrian,
)
from dpdesk.engine.methods.k_anonymity.preferred import CellLimits, kept_apart, stars
from dpdesk.engine.methods.k_anonymity.required import CLOSENESS, DIVERSITY, LIKENESS, Requirement
from dpdesk.engine.methods.k_anonymity.required_cuts import required_mondrian
from dpdesk.engine.methods.k_anonymity.requirements import ClassCounts, Constraints, Values
from dpdesk.engine.methods.k_anonymity.scales import Scale, node_losses
from dpdesk.engine.recoded import row_keys

MOST_CLUSTERED = 20_000
_MOST_CANDIDATES, _MOST_VARIABLES = 4_000, 20_000
_NODE_LIMIT = 2_000
_JOINING = 20
_ATTEMPTS, _MORE = 4, 8
_MOST_UNITS = 10**12
_MOST_ASKED, _MOST_JOINS, _MOST_TANGENTS = 4_000, 5_000_000, 12
_MOST_LEVELS, _MOST_WORK = 500, 1_000_000_000
_CLOSE = 1e-9
PROVEN, HEURISTIC = "proven optimal", "heuristic"


@dataclass(frozen=True, eq=False)
class Clustered:
    """Classes with their mean loss of a cell; no release of this kind has less than ``least``.

    ``factor`` is how many times the optimum it is at most, proven before it was looked for; 0 where
    nothing is.
    """

    parts: Parts = field(repr=False)
    cost: float
    least: float
    factor: int
    proven: bool = False

    @property
    def optimality(self) -> str:
        """Proven optimal, optimal up to a share, or heuristic, where nothing better is known."""
        if self.proven or self.cost <= self.least + _CLOSE:
            return PROVEN
        if self.least <= 0:
            return HEURISTIC
        share = math.ceil(1000 * (self.cost / self.least - 1)) / 10
        return msg("optimal up to {share:,} %", share=share)


def best_classes(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
    asked: Constraints | None = None,
    limits: CellLimits | None = None,
    rounds: int = ROUNDS,
) -> Clustered | None:
    """Classes of at least ``k`` rows, of which there are as many; ``codes`` are leaf codes.

    ``rounds`` are those of :func:`~.agreeing.agreeing_parts`. Classes pass what is ``asked``, as
    all rows together do. None where levels or ``limits`` leave none, or none that was found. Raises
    Cancelled.
    """
    places = np.stack([s.places[codes[:, j]] for j, s in enumerate(scales)], axis=1)
    table = scales, places, codes, counts, k
    known = _in_limits(table, limits, asked, rounds, token)
    if known is None:
        return None
    # Its classes show cells as high as they must be, not those over their rows alone.
    matched = asked is not None and asked.matched is not None
    program = None if matched else _program(scales, places, counts, k)
    cost = known.cost
    if program is not None and cost > known.least + _CLOSE and not _too_much(program, asked):
        token.check()
        known = _solved(program, known, (scales, places, counts, k), (asked, limits), token)
    return None if math.isinf(known.cost) else known


_Table = tuple[Sequence[Scale], Array, NDArray[np.int32], Array, int]
"""Scales, places and leaf codes of tuples, their rows, and k."""


def _in_limits(
    table: _Table,
    limits: CellLimits | None,
    asked: Constraints | None,
    rounds: int,
    token: CancelToken,
) -> Clustered | None:
    """The classes of the forest or of Mondrian that suppress no more cells than they may.

    Of infinite cost where none were found; None where there are none.
    """
    scales, places, codes, counts, k = table
    known = found = _by_neighbours(table, asked, rounds, token)
    if found is None or known is None or limits is None:
        return known
    weighed = list(scales)
    for attempt in range(_ATTEMPTS + 1):
        broken = limits.broken(scales, found.parts)
        if not broken:
            break
        for j in broken:
            if attempt < _ATTEMPTS:
                weighed[j] = replace(weighed[j], weight=(weighed[j].weight or Fraction(1)) * _MORE)
            else:
                weighed[j] = replace(weighed[j], most=scales[j].allowed[0])
        found = _by_neighbours((weighed, places, codes, counts, k), asked, rounds, token)
        if found is None:
            break
    if found is None or limits.broken(scales, found.parts):
        return replace(known, cost=math.inf, factor=0)
    if found is known:
        return known
    return replace(known, parts=found.parts, cost=loss_of(scales, found.parts), factor=0)


def _by_neighbours(
    table: _Table, asked: Constraints | None, rounds: int, token: CancelToken
) -> Clustered | None:
    """The best classes of the three ways, in each group that shares no class.

    None where a group has fewer than k rows, or does not pass what is asked.
    """
    scales, places, codes, counts, k = table
    rows, groups = int(counts.sum()), kept_apart(scales, codes)
    if int(np.bincount(groups, counts).min()) < k:
        return None
    bounds: list[float] = []

    def divide(some: Array) -> Parts | None:
        whole = len(some) == len(counts)
        own = asked if asked is None or whole else asked.within(some)
        part = (places, codes, counts) if whole else (places[some], codes[some], counts[some])
        return _divide(scales, part, k, own, bounds, rounds, token)

    parts = in_groups(groups, divide)
    if parts is None:
        return None
    least = max(_least_step(scales, places, counts, k), math.fsum(bounds)) / rows
    whole = asked is None and len(bounds) == int(groups.max()) + 1
    return Clustered(parts, loss_of(scales, parts), least, 3 * k - 3 if whole else 0)


def _divide(
    scales: Sequence[Scale],
    table: tuple[Array, NDArray[np.int32], Array],
    k: int,
    asked: Constraints | None,
    bounds: list[float],
    rounds: int,
    token: CancelToken,
) -> Parts | None:
    """The best of the three for one group, whose lower bound joins ``bounds`` where there is one.

    None where all its rows together do not pass what is asked.
    """
    places, codes, counts = table
    if asked is None:
        found = [mondrian(scales, codes, counts, k, token)]
    else:
        if asked.matched is not None and not asked.required:
            cut = matched_mondrian(scales, codes, counts, k, asked.matched, token)
        else:
            cut = required_mondrian(scales, codes, counts, k, asked, token)
        if cut is None:
            return None
        found = [cut]
    token.check()
    agreeing = agreeing_parts(scales, places, counts, k, asked, token, rounds)
    if agreeing is not None:
        found += [agreeing] if asked is None else _joined_up(scales, agreeing, asked, token)
    if len(counts) <= MOST_CLUSTERED:
        near, far = neighbours(scales, places, counts, k, token)
        bounds.append(float((far * counts).sum()))
        forest = forest_parts(places, counts, near, k)
        found += [forest] if asked is None else _joined_up(scales, forest, asked, token)
    return min(found, key=lambda parts: loss_of(scales, parts))


def _too_much(program: _Program, asked: Constraints | None) -> bool:
    """Whether a program is too large for what it must ask of each class."""
    if asked is None:
        return False
    values = sum(len(asked.counts[each.attribute].of.texts) for each in asked.required)
    return max(len(program.tuples), len(program.costs) * values) > _MOST_ASKED


def _joined_up(
    scales: Sequence[Scale], parts: Parts, asked: Constraints, token: CancelToken
) -> list[Parts]:
    """The parts, those that fail joined with others at the least loss; none if too much work."""
    first = parts.starts[:-1]
    rows = np.add.reduceat(parts.rows, first)
    low = np.minimum.reduceat(parts.places, first, axis=0).astype(np.int64)
    high = np.maximum.reduceat(parts.places, first, axis=0).astype(np.int64)
    class_of = np.repeat(np.arange(len(rows)), np.diff(parts.starts))
    held = {}
    for name, each in asked.counts.items():
        width = len(each.of.texts)
        if width * len(rows) > _MOST_JOINS:
            return []
        keys = class_of * width + each.values[parts.tuples]
        sums = np.bincount(keys, parts.rows, len(rows) * width)
        held[name] = sums.reshape(-1, width).astype(np.int64)

    def passing(some: Array) -> Array:
        passed = np.ones(len(some), np.bool_)
        for each in asked.required:
            counts = ClassCounts.dense(asked.counts[each.attribute].of, held[each.attribute][some])
            passed &= counts.passing(each, passed, asked.whole[each.attribute])
        if asked.matched is not None:
            passed &= asked.matched.passing(shown_over(scales, low[some], high[some]))
        return passed

    losses = [node_losses(scale) for scale in scales]
    waiting = np.flatnonzero(~passing(np.arange(len(rows)))).tolist()
    if len(waiting) * len(rows) > _MOST_JOINS:
        return []
    into, alone = np.arange(len(rows)), np.ones(len(rows), np.bool_)
    while waiting:
        token.check()
        one = waiting.pop()
        if not alone[one] or passing(np.array([one]))[0]:
            continue
        others = np.flatnonzero(alone & (np.arange(len(rows)) != one))
        more = np.zeros(len(others))
        for j, (scale, lost) in enumerate(zip(scales, losses, strict=True)):
            above = scale.common(
                np.minimum(low[others, j], low[one, j]), np.maximum(high[others, j], high[one, j])
            )
            own = lost[scale.common(low[others, j], high[others, j])]
            more += lost[above] * (rows[others] + rows[one]) - own * rows[others]
        other = int(others[np.argmin(more)])
        into[one], alone[one] = other, False
        rows[other] += rows[one]
        low[other], high[other] = (
            np.minimum(low[other], low[one]),
            np.maximum(high[other], high[one]),
        )
        for counts in held.values():
            counts[other] += counts[one]
        waiting.append(other)
    while (into != into[into]).any():
        into = into[into]
    of_entry = into[class_of]
    order = np.argsort(of_entry, kind="stable")
    starts = np.flatnonzero(np.diff(of_entry[order], prepend=-1, append=-1))
    return [Parts(parts.tuples[order], parts.rows[order], parts.places[order], starts)]


def best_at_levels(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
    asked: Constraints | None = None,
    limits: CellLimits | None = None,
) -> tuple[tuple[Scale, ...], Clustered, tuple[int, ...]] | None:
    """One level for each attribute and classes whose cells show it or the top: the best together.

    Every cell loses at least what its level loses: that is a bound for all classes at these levels.
    Levels are tried in the order of this bound and of the share of rows that would need more, until
    no others can be better, or the work is done; those left out are then bounded alone. Scales are
    those that show these levels. None where no levels give classes. Raises Cancelled.
    """
    choices = _choices(scales, codes, counts, k, token)
    best: tuple[tuple[Scale, ...], Clustered, tuple[int, ...]] | None = None
    least, work = choices.beyond, 0
    for bound, levels in choices.levels:
        if best is not None and bound >= best[1].cost - _CLOSE:
            least = min(least, bound)
            continue
        token.check()
        shown = _showing(scales, levels)
        of_tuple, first = _at_levels(shown, codes, asked, () if limits is None else limits.each)
        size = len(first)
        more = 1 if asked is None else _JOINING  # classes that fail are joined one by one
        work += more * size * (size if size <= MOST_CLUSTERED else _NODE_LIMIT)
        if best is not None and work > _MOST_WORK:
            least = min(least, bound)
            continue
        sums = np.bincount(of_tuple, counts).astype(np.int64)
        own = None if asked is None else asked.divided(first, sums)
        place = shown, codes[first], sums, k, token, own, limits
        found = best_classes(*place, rounds=0)
        if found is None:
            continue
        least = min(least, found.cost if found.optimality == PROVEN else max(found.least, bound))
        if best is None or found.cost < best[1].cost - _CLOSE:
            best, again = (shown, found, levels), (place, of_tuple)
    if best is None:
        return None
    place, of_tuple = again
    found = best[1]
    closer = None if found.optimality == PROVEN else best_classes(*place)
    if closer is not None and closer.cost < found.cost:
        found = closer
    parts = _divided(found.parts, of_tuple, counts, codes, best[0])
    best = best[0], replace(found, parts=parts, factor=0), best[2]
    cost = best[1].cost
    proven = cost <= least + _CLOSE
    return best[0], replace(best[1], least=min(least, cost), proven=proven), best[2]


@dataclass(frozen=True, eq=False)
class _Choices:
    """Levels to try, each with what cells lose at least; all others lose ``beyond`` or more."""

    levels: list[tuple[float, tuple[int, ...]]]
    beyond: float


def _choices(
    scales: Sequence[Scale], codes: NDArray[np.int32], counts: Array, k: int, token: CancelToken
) -> _Choices:
    """The levels of the least bounds, those first that leave least to do."""
    rows, bounds = float(counts.sum()), []
    for j, scale in enumerate(scales):
        places = scale.places[codes[:, j]]
        each = []
        for level in scale.allowed:
            own = replace(scale, shown=frozenset({level, len(scale.nodes) - 1}))
            lost = node_losses(own)[scale.nodes[level][places]]
            each.append((float((lost * counts).sum()) / rows / len(scales), level))
        bounds.append(sorted(each))
    start = (0,) * len(scales)
    waiting, known = [(sum(each[0][0] for each in bounds), start)], {start}
    found: list[tuple[float, float, tuple[int, ...]]] = []
    while waiting and len(found) < _MOST_LEVELS:
        token.check()
        bound, ranks = heappop(waiting)
        levels = tuple(each[rank][1] for each, rank in zip(bounds, ranks, strict=True))
        of_tuple, _ = _at_levels(_showing(scales, levels), codes)
        sums = np.bincount(of_tuple, counts)
        small = float(sums[sums < k].sum()) / rows
        found.append((bound + small * (1 - bound), bound, levels))
        for j, each in enumerate(bounds):
            more = (*ranks[:j], ranks[j] + 1, *ranks[j + 1 :])
            if more[j] < len(each) and more not in known:
                known.add(more)
                at = sum(b[rank][0] for b, rank in zip(bounds, more, strict=True))
                heappush(waiting, (at, more))
    beyond = min((bound for bound, _ in waiting), default=math.inf)
    return _Choices([(bound, levels) for _, bound, levels in sorted(found)], beyond)


def _showing(scales: Sequence[Scale], levels: Sequence[int]) -> tuple[Scale, ...]:
    """Scales that show these levels or the top; where that is above the highest level, these."""
    return tuple(
        replace(
            scale,
            shown=frozenset({level, len(scale.nodes) - 1}),
            most=None if scale.most is None else level,
        )
        for scale, level in zip(scales, levels, strict=True)
    )


def _at_levels(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    asked: Constraints | None = None,
    limited: Iterable[int] = (),
) -> tuple[Array, Array]:
    """The class of each tuple when each cell shows its level, and a tuple of each class.

    Tuples with other sensitive values stay apart, and those with others of ``limited`` columns.
    """
    columns = [
        scale.released[scale.nodes[0][scale.places[codes[:, j]]]] for j, scale in enumerate(scales)
    ]
    sizes = [len(scale.parents) for scale in scales]
    for j in limited:
        columns.append(codes[:, j].astype(np.int64))
        sizes.append(scales[j].leaves)
    for each in () if asked is None else asked.counts.values():
        columns.append(each.values)
        sizes.append(len(each.of.texts))
    keys = row_keys(np.stack(columns, axis=1), sizes)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return which.reshape(-1), first


def _divided(
    parts: Parts, of_tuple: Array, counts: Array, codes: NDArray[np.int32], scales: Sequence[Scale]
) -> Parts:
    """Parts of classes of tuples as parts of the tuples, in any order within a class."""
    entries = np.argsort(parts.tuples, kind="stable")
    tuples = np.argsort(of_tuple, kind="stable")
    ends, own = np.cumsum(parts.rows[entries]), np.cumsum(counts[tuples])
    cuts = np.unique(np.concatenate([[0], ends, own]))
    entry = entries[np.searchsorted(ends, cuts[:-1], side="right")]
    held = tuples[np.searchsorted(own, cuts[:-1], side="right")]
    order = np.argsort(entry, kind="stable")
    entry, held, rows = entry[order], held[order], np.diff(cuts)[order]
    places = np.stack([s.places[codes[held, j]] for j, s in enumerate(scales)], axis=1)
    starts = np.searchsorted(entry, parts.starts)
    return Parts(held, rows, places.astype(np.int32), starts)


def _least_step(scales: Sequence[Scale], places: Array, counts: Array, k: int) -> float:
    """Loss of all rows at least: one of fewer than k equal rows gives up some cell's leaf."""
    steps = np.full(len(counts), np.inf)
    for j, scale in enumerate(scales):
        losses = node_losses(replace(scale, weight=Fraction(1)))
        step = np.full(scale.leaves, np.inf)
        for level in range(len(scale.nodes) - 1, 0, -1):
            lost = losses[scale.nodes[level]]
            step = np.where(lost > 0, np.minimum(step, lost * float(scale.weight)), step)
        steps = np.minimum(steps, step[places[:, j]])
    which = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)
    alike = np.bincount(which, counts)[which]
    small = (alike < k) & np.isfinite(steps)
    return float((steps[small] * counts[small]).sum()) / len(scales)


@dataclass(frozen=True, eq=False)
class _Program:
    """Generalised tuples that may be released: their costs, and which tuples each covers.

    ``stars`` says of which columns they show ``*``.
    """

    costs: Array = field(repr=False)
    tuples: Array = field(repr=False)
    candidates: Array = field(repr=False)
    stars: NDArray[np.bool_] = field(repr=False)
    unit: int


def _program(scales: Sequence[Scale], places: Array, counts: Array, k: int) -> _Program | None:
    """The integer program of a small table; None for a table that is too large."""
    chains = [
        [
            list(dict.fromkeys(n for n in scale.released[nodes[place]].tolist() if may[n]))
            for place in column.tolist()
        ]
        for scale, column, nodes, may in (
            (scale, places[:, j], scale.nodes.T, scale.levels <= scale.allowed[-1])
            for j, scale in enumerate(scales)
        )
    ]
    if sum(math.prod(map(len, each)) for each in zip(*chains, strict=True)) > _MOST_VARIABLES:
        return None
    index: dict[tuple[int, ...], int] = {}
    pairs = [
        (one, index.setdefault(nodes, len(index)))
        for one, each in enumerate(zip(*chains, strict=True))
        for nodes in product(*each)
    ]
    if not pairs:
        return None
    tuples, candidates = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    covered = np.bincount(candidates, counts[tuples], len(index))
    usable = covered >= k
    if usable.sum() > _MOST_CANDIDATES:
        return None
    unit = math.lcm(*(max(s.leaves - 1, 1) * s.weight.denominator for s in scales))
    if unit * len(scales) * int(counts.sum()) > _MOST_UNITS:
        return None
    losses = [node_losses(scale) for scale in scales]
    costs = np.array([sum(lost[node] for lost, node in zip(losses, nodes, strict=True))
                      for nodes in index])  # fmt: skip
    hidden = [stars(scale) for scale in scales]
    starred = np.array([[star[n] for star, n in zip(hidden, nodes, strict=True)]
                        for nodes in index])  # fmt: skip
    number = np.cumsum(usable) - 1
    inside = usable[candidates]
    left = tuples[inside], number[candidates[inside]]
    return _Program(np.rint(costs[usable] * unit), *left, starred[usable], unit)


def _solved(
    program: _Program,
    known: Clustered,
    table: tuple[Sequence[Scale], Array, Array, int],
    wanted: tuple[Constraints | None, CellLimits | None],
    token: CancelToken,
) -> Clustered:
    """The optimum of the program, or what it proved when its nodes were used up.

    Whether rows go to a candidate is whole; with that fixed, whole rows are an optimum of the flow,
    unless more is asked of classes. Then tangents are added until the solution passes.
    """
    from scipy.optimize import Bounds, milp

    (scales, places, counts, k), (asked, limits) = table, wanted
    pairs, released = len(program.tuples), len(program.costs)
    held = counts[program.tuples].astype(np.float64)
    cells_left = [] if limits is None else _cells_left(program, scales, places, limits)
    blocks = [] if asked is None else [_block(each, asked) for each in asked.required]
    cells = program.unit * float(counts.sum()) * len(scales)
    for _ in range(_MOST_TANGENTS):
        token.check()
        more = released * sum(block.marks.shape[1] for block in blocks)
        whole = np.concatenate([b.whole for b in blocks for _ in range(released)] or [np.zeros(0)])
        flows = np.full(pairs, 0.0 if asked is None else 1.0)
        found = milp(
            np.concatenate([program.costs[program.candidates], np.zeros(released + more)]),
            integrality=np.concatenate([flows, np.ones(released), whole]),
            bounds=Bounds(0, np.concatenate([held, np.ones(released), np.where(whole, 1, np.inf)])),
            constraints=_constraints(program, counts, k, cells_left, blocks, asked),
            options={"node_limit": _NODE_LIMIT, "mip_rel_gap": 0.0},
        )
        bound = found.mip_dual_bound
        if bound is not None and math.isfinite(bound):
            known = replace(known, least=max(known.least, (bound - 0.5) / cells))
        if found.x is None:
            return known
        rows = np.rint(found.x[:pairs]).astype(np.int64)
        if asked is None or not _tangents(blocks, asked, program, rows):
            break
    proven = found.status == 0
    return _taken(program, known, table, wanted, rows, round(found.fun) if proven else -1)


def _cells_left(
    program: _Program, scales: Sequence[Scale], places: Array, limits: CellLimits
) -> list[tuple[Array, int]]:
    """Pairs that suppress cells of which some may be, and how many."""
    found = []
    for j in limits.columns:
        gone = np.flatnonzero(program.stars[program.candidates, j])
        if j in limits.whole:
            found.append((gone, limits.whole[j]))
        if j in limits.each:
            values = scales[j].order[places[program.tuples[gone], j]]
            found += [(gone[values == v], int(limits.each[j][v])) for v in np.unique(values)]
    return found


def _taken(
    program: _Program,
    known: Clustered,
    table: tuple[Sequence[Scale], Array, Array, int],
    wanted: tuple[Constraints | None, CellLimits | None],
    rows: Array,
    optimum: int,
) -> Clustered:
    """A solution, if it is one and better; ``optimum`` is what none is better than, where known."""
    (scales, places, counts, k), (asked, limits) = table, wanted
    cells = program.unit * float(counts.sum()) * len(scales)
    used = np.flatnonzero(rows)
    used = used[np.argsort(program.candidates[used], kind="stable")]
    tuples, groups = program.tuples[used], program.candidates[used]
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]]))
    parts = Parts(tuples, rows[used], places[tuples].astype(np.int32), starts)
    sizes = np.add.reduceat(parts.rows, starts[:-1])
    whole = np.bincount(tuples, rows[used], len(counts))
    if sizes.min() < k or (whole != counts).any():  # a solver may be off by its tolerance
        return known
    if limits is not None and limits.broken(scales, parts):
        return known
    if asked is not None:
        of_entry = np.repeat(np.arange(len(sizes)), np.diff(starts))
        every = np.ones(len(sizes), np.bool_)
        if not asked.divided(tuples, parts.rows).passing(of_entry, every, asked.whole).all():
            return known
    cost = loss_of(scales, parts)
    if cost > known.cost + _CLOSE:
        return known
    proven = round(cost * cells) <= optimum
    return Clustered(parts, cost, cost if proven else known.least, known.factor, proven)


@dataclass(eq=False)
class _Block:
    """What is asked of one class: ``rows`` · n + ``marks`` · u + ``there`` ≤ 0.

    n are its rows of each value, u further numbers of 0 or more, ``whole`` ones where marked;
    ``there`` counts where the class is released.
    """

    attribute: str
    rows: Array = field(repr=False)
    marks: Array = field(repr=False)
    there: Array = field(repr=False)
    whole: Array = field(repr=False)


def _block(each: Requirement, asked: Constraints) -> _Block:
    of, whole = asked.counts[each.attribute].of, asked.whole[each.attribute]
    size, bound = len(of.texts), float(each.bound)
    one, apart = np.ones((1, size)), np.eye(size)
    share = whole[:, None] / whole.sum()
    rows, marks, there = np.zeros((0, size)), np.zeros((0, 0)), np.zeros(0)
    marked = False
    if each.model == CLOSENESS:
        moved = _moved(each.variant, of, whole) @ (apart - share * one)
        steps = max(int((whole > 0).sum() if not of.has_hierarchy else size) - 1, 1)
        unit = {"equal": 2, "ordered": steps, "hierarchical": 2 * max(len(of.levels), 1)}
        rows = np.concatenate([moved, -moved, -unit[each.variant] * bound * one])
        same = np.eye(len(moved))
        marks = np.concatenate([-same, -same, np.ones((1, len(moved)))])
    elif each.model == LIKENESS:
        most = np.full((size, 1), bound)
        if each.variant == "enhanced":
            most = np.minimum(most, -np.log(np.maximum(share, 1 / whole.sum())))
        rows = apart - (1 + most) * share * one
    elif each.model != DIVERSITY:
        rows = apart - bound * one
    elif each.variant == "distinct":
        rows = np.concatenate([-apart, 0 * one])
        marks, marked = np.concatenate([apart, -one]), True
        there = np.concatenate([np.zeros(size), [bound]])
    elif each.variant == "recursive":
        rows, marks, there = _recursive(each, size)
    there = there if len(there) else np.zeros(len(rows))
    marks = marks if len(marks) else np.zeros((len(rows), 0))
    return _Block(each.attribute, rows, marks, there, np.full(marks.shape[1], float(marked)))


def _moved(variant: str, of: Values, whole: Array) -> Array:
    """The sums over values whose absolute values add up to a distance, one in each row."""
    size = len(whole)
    if variant == "equal":
        return np.eye(size)
    if variant == "ordered":
        return np.tril(np.ones((size, size)))
    levels = [np.eye(int(nodes.max()) + 1)[:, nodes] for nodes in of.levels]
    return np.concatenate([*levels, np.zeros((0, size))])


def _recursive(each: Requirement, size: int) -> tuple[Array, Array, Array]:
    """The greatest r < c · (n − the l − 1 greatest), whose sum is the least (l − 1)·q + Σ w.

    u is (r, q, w), r ≥ n_v and w_v ≥ n_v − q for every value v; all are whole, so < is ≤ less 1.
    """
    upper, lower, apart = each.c.numerator, each.c.denominator, np.eye(size)
    others = float(upper) * np.concatenate([[int(each.bound) - 1], np.ones(size)])
    rows = np.concatenate([apart, apart, np.full((1, size), -float(upper))])
    marks = np.zeros((2 * size + 1, size + 2))
    marks[:size, 0] = -1
    marks[size:-1, 1], marks[size:-1, 2:] = -1, -apart
    marks[-1] = np.concatenate([[float(lower)], others])
    return rows, marks, np.concatenate([np.zeros(2 * size), [1.0]])


def _tangents(blocks: Sequence[_Block], asked: Constraints, program: _Program, rows: Array) -> bool:
    """Add to the blocks what solutions like this one break: whether some class has no entropy.

    f(n) = n·log n − Σ n_v·log n_v − n·log l is concave and grows with its arguments alike, so that
    f(n) ≤ ∇f(p)·n for every p: no n that passes is cut off.
    """
    added = False
    for block, each in zip(blocks, asked.required, strict=True):
        if each.variant != "entropy":
            continue
        held = asked.counts[each.attribute]
        width = len(held.of.texts)
        keys = program.candidates * width + held.values[program.tuples]
        sums = np.bincount(keys, rows, len(program.costs) * width).reshape(-1, width)
        used = sums[sums.sum(axis=1) > 0].astype(np.int64)
        passed = ClassCounts.dense(held.of, used).passing(
            each, np.ones(len(used), np.bool_), asked.whole[each.attribute]
        )
        point = np.unique(used[~passed], axis=0) + 1e-3
        slope = np.log(point.sum(axis=1, keepdims=True) / point) - math.log(float(each.bound))
        block.rows = np.concatenate([block.rows, -slope])
        block.marks = np.zeros((len(block.rows), 0))
        block.there = np.zeros(len(block.rows))
        added |= not passed.all()
    return added


def _constraints(
    program: _Program,
    counts: Array,
    k: int,
    cells_left: Sequence[tuple[Array, int]] = (),
    blocks: Sequence[_Block] = (),
    asked: Constraints | None = None,
) -> list[Any]:
    """Every row goes somewhere, a released tuple has k rows or none, and none where it is not.

    Of some pairs no more rows are released than ``cells_left`` says, and each class passes what is
    asked of it, by the blocks.
    """
    from scipy.optimize import LinearConstraint
    from scipy.sparse import coo_array

    pairs, released = len(program.tuples), len(program.costs)
    at = np.arange(pairs)
    every = coo_array((np.ones(pairs), (program.tuples, at)), (len(counts), pairs + released))
    least = coo_array(
        (
            np.concatenate([np.ones(pairs), np.full(released, -float(k))]),
            (
                np.concatenate([program.candidates, np.arange(released)]),
                np.concatenate([at, pairs + np.arange(released)]),
            ),
        ),
        (released, pairs + released),
    )
    held = counts[program.tuples].astype(np.float64)
    only = coo_array(
        (
            np.concatenate([np.ones(pairs), -held]),
            (np.concatenate([at, at]), np.concatenate([at, pairs + program.candidates])),
        ),
        (pairs, pairs + released),
    )
    sides = [(every, counts, counts), (least, 0, np.inf), (only, -np.inf, 0)]
    for which, most in cells_left:
        line = coo_array(
            (np.ones(len(which)), (np.zeros(len(which), np.int64), which)), (1, pairs + released)
        )
        sides.append((line, -np.inf, most))
    if asked is None or not blocks:
        return [LinearConstraint(*side) for side in sides]
    passed = _passed(program, blocks, asked)
    wide = passed.shape[1]
    widened = [
        (coo_array((each.data, each.coords), (each.shape[0], wide)), low, high)
        for each, low, high in sides
    ]
    return [LinearConstraint(*side) for side in (*widened, (passed, -np.inf, 0))]


def _passed(program: _Program, blocks: Sequence[_Block], asked: Constraints) -> Any:
    """The blocks of every class, one below the other: flows, classes, further numbers."""
    from scipy.sparse import block_diag, coo_array, csr_array, hstack, vstack

    pairs, released = len(program.tuples), len(program.costs)
    each_class, at = np.arange(released), np.arange(pairs)
    flows, marked = [], []
    for block in blocks:
        size = len(block.rows)
        values = asked.counts[block.attribute].values[program.tuples]
        line = (program.candidates[:, None] * size + np.arange(size)).reshape(-1)
        own = block.rows[:, values].T.reshape(-1)
        flow = csr_array((own, (line, np.repeat(at, size))), (released * size, pairs))
        line = (each_class[:, None] * size + np.arange(size)).reshape(-1)
        own = np.tile(block.there, released)
        there = csr_array((own, (line, np.repeat(each_class, size))), (released * size, released))
        flows.append(hstack([flow, there]))
        down, across = np.nonzero(block.marks)
        line = (each_class[:, None] * size + down).reshape(-1)
        place = (each_class[:, None] * block.marks.shape[1] + across).reshape(-1)
        own = np.tile(block.marks[down, across], released)
        shape = released * size, released * block.marks.shape[1]
        marked.append(coo_array((own, (line, place)), shape))
    return hstack([vstack(flows), block_diag(marked)]).tocsr()
