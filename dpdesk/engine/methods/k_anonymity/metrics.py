"""The measures of one node, exactly.

Formulas (N rows, q attributes; means range over all N·q cells,
those of suppressed rows included):

A class is kept when it has at least k rows and passes what is required besides.

discernibility
    Σ over kept classes of size² + suppressed rows · N.
average class size
    (kept rows / kept classes) / k.
loss
    mean of (leaves covered − 1)/(leaves of the domain − 1); a suppressed cell counts 1. A cell of a
    domain with one single leaf counts 0 unless it is suppressed.
precision
    1 − mean of level/height; a suppressed cell counts as at the top, that is 1. An attribute whose
    hierarchy has height 0 counts 0 unless the cell is suppressed.
weights
    An objective weighs loss, precision and entropy by attribute; the measures themselves do not.
entropy
    non-uniform entropy in bits, −Σ log₂(n_raw/n_generalised), where n counts, over all N rows of
    the source, the rows with the cell's raw value and with its generalised value; a suppressed cell
    counts as at the top, n_generalised = N.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, total_ordering

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.methods.k_anonymity.grouping import GeneralisedTable
from dpdesk.engine.methods.k_anonymity.lattice import (
    Ints,
    LatticeProblem,
    Node,
    kept_classes,
    weighted_bincount,
)

# Re-identification risk of a table on its quasi-identifiers, before and after.
#
# Risk is the prosecutor's: the attacker knows that the person is in the table and knows the
# quasi-identifiers, so a row in a class of size s is identified with probability 1/s (course text,
# k-anonymity; the measures that sdcMicro and ARX report under the same names).


BASE_EDGES = (1, 2, 3, 5, 10, 20)
VIOLATED = (2, 3, 5)


@dataclass(frozen=True)
class SizeBin:
    """Classes whose size is from ``lowest`` to ``highest`` rows (None: no upper end)."""

    lowest: int
    highest: int | None
    classes: int
    rows: int

    @property
    def label(self) -> str:
        """The sizes in words: ``2``, ``3–4``, ``20+``."""
        if self.highest is None:
            return f"{self.lowest:,}+"
        if self.highest == self.lowest:
            return f"{self.lowest:,}"
        return f"{self.lowest:,}–{self.highest:,}"


@dataclass(frozen=True)
class RiskSummary:
    """Risk figures of one table.

    ``uniques`` are rows that are alone in their class; ``highest`` and ``average`` are prosecutor
    risks from 0 to 1 (largest 1/size; classes/rows, the mean over rows); ``exposed`` are the rows
    whose risk is above 1/k. ``violations`` holds (k, rows in classes smaller than k).
    """

    k: int
    rows: int
    classes: int
    smallest: int
    uniques: int
    highest: float
    average: float
    exposed: int
    violations: tuple[tuple[int, int], ...]
    bins: tuple[SizeBin, ...]

    @property
    def exposed_share(self) -> float:
        """Share of the rows whose risk is above 1/k."""
        return self.exposed / self.rows if self.rows else 0.0

    def as_json(self) -> dict[str, object]:
        """The figures under the names that evidence files use."""
        return {
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "sample_uniques": self.uniques,
            "highest_risk": self.highest,
            "average_risk": self.average,
            "rows_above_threshold": self.exposed,
            "share_above_threshold": self.exposed_share,
            "threshold": 1 / self.k,
            "violations": {str(k): rows for k, rows in self.violations},
            "class_sizes": [
                {"size": each.label, "classes": each.classes, "rows": each.rows}
                for each in self.bins
            ],
        }


def bin_edges(k: int) -> tuple[int, ...]:
    """Lowest size of each bin: 1, 2, 3–4, 5–9, 10–19, 20+, split at ``k`` so that k begins one."""
    return tuple(sorted({*BASE_EDGES, k}))


def histogram(sizes: NDArray[np.int64], edges: Sequence[int]) -> tuple[SizeBin, ...]:
    """Classes and rows per bin; ``edges`` ascend from 1."""
    place = np.searchsorted(np.asarray(edges, dtype=np.int64), sizes, side="right") - 1
    classes = np.bincount(place, minlength=len(edges))
    rows = np.bincount(place, weights=sizes, minlength=len(edges))
    highest = [*(edge - 1 for edge in edges[1:]), None]
    return tuple(
        SizeBin(lowest, highest[index], int(classes[index]), int(rows[index]))
        for index, lowest in enumerate(edges)
    )


def summarise_risk(sizes: NDArray[np.int64], k: int) -> RiskSummary:
    """Risk figures from the sizes of all classes of a table; no class at all means no risk."""
    rows = int(sizes.sum())
    smallest = int(sizes.min()) if len(sizes) else 0
    return RiskSummary(
        k=k,
        rows=rows,
        classes=len(sizes),
        smallest=smallest,
        uniques=int((sizes == 1).sum()),
        highest=1 / smallest if smallest else 0.0,
        average=len(sizes) / rows if rows else 0.0,
        exposed=rows_below(sizes, k),
        violations=tuple((each, rows_below(sizes, each)) for each in sorted({*VIOLATED, k})),
        bins=histogram(sizes, bin_edges(k)),
    )


def rows_below(sizes: NDArray[np.int64], k: int) -> int:
    """Rows in classes smaller than ``k``: those that violate k-anonymity."""
    return int(sizes[sizes < k].sum())


# What a k-anonymous release lost: per attribute, and for whom.


SMALLEST_SHARE = 0.01
MOST_GROUPS = 8


@dataclass(frozen=True)
class AttributeUtility:
    """What one attribute lost.

    ``loss`` is the mean over its cells of (leaves covered − 1)/(leaves − 1), suppressed cells
    counting 1 (LM of Iyengar, NCP). ``distance`` is the total variation distance, 0 to 1, between
    the original distribution and the one a user rebuilds by spreading every released value evenly
    over the values that it covers.
    """

    attribute: str
    level: int
    height: int
    loss: float
    distance: float

    def as_json(self) -> dict[str, object]:
        """The figures under the names that evidence files use."""
        return {
            "attribute": self.attribute,
            "level": self.level,
            "height": self.height,
            "loss": self.loss,
            "distribution_distance": self.distance,
        }


@dataclass(frozen=True)
class GroupSuppression:
    """How many of the rows with one original value were suppressed."""

    attribute: str
    value: str
    rows: int
    suppressed: int

    @property
    def share(self) -> float:
        """Suppressed share of these rows, 0 to 1."""
        return self.suppressed / self.rows

    def as_json(self) -> dict[str, object]:
        """The figures under the names that evidence files use."""
        return {
            "attribute": self.attribute,
            "value": self.value,
            "rows": self.rows,
            "suppressed": self.suppressed,
        }


LeafRows = tuple[NDArray[np.float64], ...]
"""Rows per leaf, for each attribute."""


def attribute_utilities(
    classes: GeneralisedTable, before: LeafRows, after: LeafRows
) -> tuple[AttributeUtility, ...]:
    """Loss and distribution distance of each attribute.

    ``before`` are the rows per leaf of the whole table, ``after`` those of the kept rows.
    """
    return tuple(
        _attribute_utility(classes, position, before[position], after[position])
        for position in range(len(classes.levels))
    )


def _attribute_utility(
    classes: GeneralisedTable,
    position: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> AttributeUtility:
    hierarchy, level = classes.table.hierarchies[position], classes.levels[position]
    leaves = len(hierarchy.leaves)
    ancestors = hierarchy.ancestors(level)
    covered = np.bincount(ancestors, minlength=len(hierarchy.labels[level]))
    rows, rows_kept = float(before.sum()), float(after.sum())
    lost = float((after * (covered[ancestors] - 1)).sum()) / max(leaves - 1, 1)
    return AttributeUtility(
        attribute=classes.table.attributes[position],
        level=level,
        height=hierarchy.height,
        loss=(lost + rows - rows_kept) / rows if rows else 0.0,
        distance=_distance(before, after, ancestors, covered),
    )


def _distance(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    ancestors: NDArray[np.int32],
    covered: NDArray[np.intp],
) -> float:
    if not after.sum():
        return 1.0
    released = np.bincount(ancestors, weights=after, minlength=len(covered))
    rebuilt = (released / covered)[ancestors] / after.sum()
    return float(np.abs(before / before.sum() - rebuilt).sum() / 2)


def groups_hit(
    table: AlignedTable, before: LeafRows, after: LeafRows
) -> tuple[GroupSuppression, ...]:
    """The original values that suppression hit most, hardest hit first.

    Only values that at least one row in a hundred holds, and at most a handful; empty when nothing
    was suppressed. ``before`` and ``after`` as in :func:`attribute_utilities`.
    """
    if float(before[0].sum()) == float(after[0].sum()):
        return ()
    found: list[GroupSuppression] = []
    for position, (rows, kept) in enumerate(zip(before, after, strict=True)):
        found += _groups_of(table, position, rows, rows - kept)
    # Stable, so ties stay in column order and hierarchy order.
    found.sort(key=lambda group: -group.share)
    return tuple(found[:MOST_GROUPS])


def _groups_of(
    table: AlignedTable,
    position: int,
    rows: NDArray[np.float64],
    lost: NDArray[np.float64],
) -> Sequence[GroupSuppression]:
    leaves = table.hierarchies[position].leaves
    common = np.flatnonzero((rows >= SMALLEST_SHARE * rows.sum()) & (lost > 0))
    hardest = common[np.argsort(-lost[common] / rows[common], kind="stable")][:MOST_GROUPS]
    return [
        GroupSuppression(table.attributes[position], leaves[code], int(rows[code]), int(lost[code]))
        for code in hardest
    ]


OBJECTIVES = ("loss", "discernibility", "average-class-size", "precision", "entropy")
"""Names of the objectives, as plans write them; the first is the default."""

INFINITE = float("inf")


@dataclass(frozen=True)
class NodeStatistics:
    """What a node and a k do to the table.

    ``suppressed`` and ``smallest`` are rows, ``classes`` the kept classes, ``sum_of_squares`` their
    Σ size². ``attribute_loss`` and ``attribute_generalisation`` are, per attribute, the mean cell
    loss and the mean of level/height (suppressed cells count 1). ``weights`` are those of the
    attributes in an objective, where not all count alike. ``log_terms`` maps n to a
    coefficient c, so that the entropy is Σ c·log₂ n exactly; ``weighted_terms`` likewise.
    """

    levels: Node
    k: int
    rows: int
    suppressed: int
    classes: int
    smallest: int
    sum_of_squares: int
    attribute_loss: tuple[Fraction, ...]
    attribute_generalisation: tuple[Fraction, ...]
    log_terms: Mapping[int, int] = field(repr=False)
    weights: tuple[int, ...] = ()
    weighted_terms: Mapping[int, int] = field(default_factory=dict, repr=False)

    @property
    def kept(self) -> int:
        """Rows that stay."""
        return self.rows - self.suppressed

    @property
    def discernibility(self) -> int:
        """Σ size² over kept classes + suppressed·N."""
        return self.sum_of_squares + self.suppressed * self.rows

    @property
    def average_class_size(self) -> Fraction | None:
        """(kept rows / classes) / k; None when no class is kept."""
        return Fraction(self.kept, self.classes * self.k) if self.classes else None

    @property
    def loss(self) -> Fraction:
        """Mean loss of a cell, 0 to 1."""
        return sum(self.attribute_loss, Fraction(0)) / len(self.attribute_loss)

    @property
    def precision(self) -> Fraction:
        """1 − mean of level/height, 0 to 1."""
        return 1 - sum(self.attribute_generalisation, Fraction(0)) / len(self.levels)

    @property
    def entropy(self) -> float:
        """Non-uniform entropy in bits, from 0 up."""
        return math.fsum(count * math.log2(n) for n, count in self.log_terms.items())

    def objective(self, name: str) -> float:
        """The objective ``name`` as a number of which lower is better (precision: 1 − precision).

        Infinite for the average class size when no class is kept; KeyError for an unknown name.
        """
        if name == "entropy":
            terms = self.weighted_terms or self.log_terms
            return math.fsum(count * math.log2(n) for n, count in terms.items())
        exact = self.exact(name)
        return INFINITE if exact is None else float(exact)

    def exact(self, name: str) -> Fraction | None:
        """The objective exactly, lower is better; None for an average over no class.

        KeyError for an unknown name; the entropy is no fraction, see :meth:`exact_key`.
        """
        if name == "average-class-size":
            return self.average_class_size
        return {
            "loss": lambda: self._weighted(self.attribute_loss),
            "discernibility": lambda: Fraction(self.discernibility),
            "precision": lambda: self._weighted(self.attribute_generalisation),
        }[name]()

    def _weighted(self, values: Sequence[Fraction]) -> Fraction:
        """The mean of what each attribute has, by weight."""
        weights = self.weights or (1,) * len(values)
        parts = [weight * value for weight, value in zip(weights, values, strict=True)]
        return sum(parts, Fraction(0)) / sum(weights)

    def exact_key(self, name: str) -> Fraction | LogSum | float:
        """A value whose order is the exact order of the objective, lower is better."""
        if name == "entropy":
            return LogSum(self.weighted_terms or self.log_terms)
        exact = self.exact(name)
        return INFINITE if exact is None else exact

    def metrics(self) -> dict[str, int | float | None]:
        """All measures as JSON numbers, under the names that evidence files use."""
        size = self.average_class_size
        return {
            "discernibility": self.discernibility,
            "average_class_size": None if size is None else float(size),
            "loss": float(self.loss),
            "precision": float(self.precision),
            "entropy": self.entropy,
        }


def evaluate_node(problem: LatticeProblem, levels: Sequence[int], k: int) -> NodeStatistics:
    """Count and measure one node from the frequency table, independently of the walk."""
    codes, sizes, kept = kept_classes(problem, levels, k)
    kept_sizes = sizes[kept]
    suppressed = problem.rows - int(kept_sizes.sum())
    losses, steps = [], []
    terms: dict[int, int] = {}
    weighted: dict[int, int] = {}
    for position, level in enumerate(levels):
        labels = problem.hierarchies[position].labels
        rows = weighted_bincount(codes[kept, position], kept_sizes, len(labels[level]))
        losses.append(_attribute_loss(problem, position, level, rows, suppressed))
        step = level * (problem.rows - suppressed), len(labels) - 1
        moved = Fraction(*step) if step[1] else Fraction(0)
        steps.append((moved + suppressed) / max(problem.rows, 1))
        raw = problem.value_rows[position][0]
        for into, weight in ((terms, 1), (weighted, problem.each_weight[position])):
            if into is terms or problem.weights:
                _add_terms(into, problem.value_rows[position][level], rows * weight)
                _add_terms(into, np.array([problem.rows]), np.array([suppressed * weight]))
                _add_terms(into, raw, -raw * weight)
    return NodeStatistics(
        levels=tuple(int(level) for level in levels),
        k=k,
        rows=problem.rows,
        suppressed=suppressed,
        classes=len(kept_sizes),
        smallest=int(kept_sizes.min()) if len(kept_sizes) else 0,
        sum_of_squares=int((kept_sizes * kept_sizes).sum()),
        attribute_loss=tuple(losses),
        attribute_generalisation=tuple(steps),
        log_terms={n: count for n, count in terms.items() if count},
        weights=problem.weights,
        weighted_terms={n: count for n, count in weighted.items() if count},
    )


def _attribute_loss(
    problem: LatticeProblem, position: int, level: int, rows: Ints, suppressed: int
) -> Fraction:
    covered = problem.leaves_covered[position][level]
    whole = len(problem.hierarchies[position].leaves) - 1
    lost = Fraction(int((rows * (covered - 1)).sum()), whole) if whole else Fraction(0)
    return (lost + suppressed) / max(problem.rows, 1)


def _add_terms(terms: dict[int, int], arguments: Ints, coefficients: Ints) -> None:
    for n, count in zip(arguments.tolist(), coefficients.tolist(), strict=True):
        if n > 1 and count:
            terms[n] = terms.get(n, 0) + count


@total_ordering
class LogSum:
    """Σ c·log n for integers n and c, compared exactly.

    Two sums are equal just when their prime exponents are, because the logarithms of the primes are
    linearly independent over the rationals; otherwise as many digits decide as it takes.
    """

    def __init__(self, terms: Mapping[int, int]) -> None:
        self._exponents: dict[int, int] = {}
        for n, count in terms.items():
            for prime in _prime_factors(n):
                self._exponents[prime] = self._exponents.get(prime, 0) + count

    def _difference(self, other: LogSum) -> Decimal:
        """The difference of two sums that are not equal, with its right sign."""
        primes = self._exponents.keys() | other._exponents.keys()
        apart = {p: self._exponents.get(p, 0) - other._exponents.get(p, 0) for p in primes}
        digits = 60
        while True:
            with localcontext(prec=digits):
                terms = [Decimal(c) * Decimal(p).ln() for p, c in apart.items() if c]
                found = sum(terms, Decimal(0))
                size = sum(map(abs, terms), Decimal(0))
                if abs(found) > size * len(terms) * Decimal(10) ** (3 - digits):
                    return found
            digits *= 2

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LogSum):
            return NotImplemented
        primes = self._exponents.keys() | other._exponents.keys()
        return all(self._exponents.get(p, 0) == other._exponents.get(p, 0) for p in primes)

    def __lt__(self, other: LogSum) -> bool:
        return self != other and self._difference(other) < 0

    __hash__ = None  # type: ignore[assignment]


@lru_cache(maxsize=4096)
def _prime_factors(n: int) -> tuple[int, ...]:
    """Prime factors with multiplicity by trial division; n is a number of rows, or a limit's."""
    found, divisor = [], 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            found.append(divisor)
            n //= divisor
        divisor += 1 if divisor == 2 else 2
    if n > 1:
        found.append(n)
    return tuple(found)
