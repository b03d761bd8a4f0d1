"""What a class must show of its sensitive values besides having k rows: read and decided exactly.

Write n for the rows of a class and n_v for those with the value v, N and N_v for the rows still
kept in all.

l-diversity
    ``distinct``: at least l values occur. ``entropy``: H ≥ log l, that is n^n ≥ l^n · Π n_v^n_v.
    ``recursive``: with r the n_v in descending order, r_1 < c·(r_l + r_(l+1) + …); fewer than l
    values fail.
t-closeness
    The earth mover's distance between n_v/n and N_v/N is at most t. ``equal``: all values are
    equally far, ½ Σ |n_v/n − N_v/N|. ``ordered``: Σ over places i of |Σ_{j≤i} (n_j/n − N_j/N)|,
    divided by the number of places less 1; places are the leaves of the hierarchy in its order,
    without one the values kept (numbers by size, then texts by code point). ``hierarchical``: a
    move costs the level of the lowest common ancestor over the hierarchy's height, which comes to
    Σ over the nodes below the top of ½ |n_node/n − N_node/N|, divided by the height.
alpha-k
    No value has more than the share alpha of the class.
beta-likeness
    For every value that is more frequent in the class than in all rows, (n_v/n)/(N_v/N) − 1 is at
    most beta (``basic``), or at most the smaller of beta and −ln(N_v/N) (``enhanced``).

Compiled loops measure all classes in floating point; whatever is within its accuracy of the limit
is decided again by integers, so rounding never decides.

Sources: Machanavajjhala et al. (l-diversity), Li, Li, Venkatasubramanian (t-closeness), Wong et al.
((α,k)-anonymity), Cao and Karras (β-likeness).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.schema import Role
from dpdesk.engine.hierarchies.preview import AlignedTable, align
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.grouping import numbered, tuple_keys
from dpdesk.engine.methods.k_anonymity.metrics import LogSum
from dpdesk.engine.methods.k_anonymity.required import CLOSENESS, DIVERSITY, LIKENESS, Requirement
from dpdesk.engine.methods.k_anonymity.settings import ANY

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.households import Households
    from dpdesk.engine.methods.k_anonymity.matched_cells import MatchedCells
    from dpdesk.engine.methods.k_anonymity.missing import MissingCells
    from dpdesk.engine.methods.k_anonymity.population import PopulationRows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_CLOSE = class_kernels.CLOSE


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a sensitive column in the order of ``ordered`` distances, and what groups them.

    ``levels[l]`` gives each value's node at level l of the hierarchy, below the top; empty without
    a hierarchy. With one, all of its leaves are among the texts.
    """

    texts: tuple[str, ...]
    levels: tuple[NDArray[np.int32], ...] = field(default=(), repr=False)
    has_hierarchy: bool = False

    @classmethod
    def of(cls, domain: Sequence[str], whole: Hierarchy | None, decimal: str = ".") -> Values:
        """The values of a column; ``whole`` has a leaf for every one of them, missing ones too."""
        if whole is None:
            return cls(tuple(sorted(domain, key=lambda text: _by_size(text, decimal))))
        return cls(whole.leaves, tuple(map(whole.ancestors, range(whole.height))), True)


def _by_size(text: str, decimal: str) -> tuple[int, Fraction, str]:
    """The order of values without a hierarchy: numbers by size, then texts by code point."""
    number = exact_number(text, decimal)
    return (1, Fraction(0), text) if number is None else (0, number, text)


def passes(required: Requirement, counts: Sequence[int], whole: Sequence[int], of: Values) -> bool:
    """Whether a class with ``counts`` rows of each value passes beside the ``whole`` rows kept.

    Exact: integers and fractions, and logarithms to as many digits as it takes.
    """
    rows = sum(counts)
    held = sorted((count for count in counts if count), reverse=True)
    if required.model == DIVERSITY:
        if required.variant == "distinct":
            return len(held) >= required.bound
        if required.variant == "entropy":
            return _diverse(held, required.bound)
        return bool(held) and held[0] < required.c * sum(held[int(required.bound) - 1 :])
    if required.model == CLOSENESS:
        return distance(required.variant, counts, whole, of) <= required.bound
    if required.model == LIKENESS:
        pairs = [(n, all_) for n, all_ in zip(counts, whole, strict=True) if n]
        enhanced, total = required.variant == "enhanced", sum(whole)
        return all(
            (gain := Fraction(n * total, rows * all_) - 1) <= required.bound
            and (not enhanced or gain <= 0 or _at_most_log(gain, Fraction(total, all_)))
            for n, all_ in pairs
        )
    return max(held, default=0) <= required.bound * rows


def distance(variant: str, counts: Sequence[int], whole: Sequence[int], of: Values) -> Fraction:
    """The earth mover's distance between a class and all rows, 0 to 1."""
    rows, total = sum(counts), sum(whole)
    apart = [n * total - all_ * rows for n, all_ in zip(counts, whole, strict=True)]
    unit = rows * total
    if variant == "equal":
        return Fraction(sum(map(abs, apart)), 2 * unit)
    if variant == "ordered":
        placed = apart if of.has_hierarchy else [a for a, n in zip(apart, whole, strict=True) if n]
        moved, over = 0, 0
        for each in placed:
            over += each
            moved += abs(over)
        return Fraction(moved, unit * max(len(placed) - 1, 1))
    moved = 0
    for nodes in of.levels:
        sums: dict[int, int] = {}
        for node, each in zip(nodes.tolist(), apart, strict=True):
            sums[node] = sums.get(node, 0) + each
        moved += sum(map(abs, sums.values()))
    return Fraction(moved, 2 * unit * max(len(of.levels), 1))


def _diverse(held: Sequence[int], bound: Fraction) -> bool:
    """H ≥ log l as n·log n − Σ n_v·log n_v ≥ n·log l, exactly."""
    rows = sum(held)
    have: dict[int, int] = {rows: rows}
    for count in held:
        have[count] = have.get(count, 0) - count
    need: dict[int, int] = {bound.numerator: rows}
    need[bound.denominator] = need.get(bound.denominator, 0) - rows
    return not LogSum(have) < LogSum(need)


def _at_most_log(gain: Fraction, ratio: Fraction) -> bool:
    """Whether ``gain`` ≤ ln ``ratio``; they are equal for the ratio 1 alone (Lindemann)."""
    if ratio == 1:
        return gain <= 0
    digits = 40
    while True:
        with localcontext(prec=digits):
            log = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
            apart = Decimal(gain.numerator) / Decimal(gain.denominator) - log
            if abs(apart) > Decimal(10) ** (10 - digits) * (1 + abs(log)):
                return apart < 0
        digits *= 2


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """Rows of each value of a sensitive column in each tuple of a frequency table, one per entry.

    ``values`` are codes of :class:`Values`.
    """

    of: Values
    tuples: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.int64] = field(repr=False)
    rows: Ints = field(repr=False)

    def in_classes(self, of_tuple: Ints, wanted: Bools) -> ClassCounts:
        """The counts of the ``wanted`` classes; ``of_tuple`` gives each tuple's class."""
        size = len(self.rows)
        starts = np.zeros(len(wanted) + 1, np.int64)
        codes, counts = np.empty(size, np.int64), np.empty(size, np.int64)
        tuples, values, rows = self._by_value
        place = tuples, of_tuple, wanted, values, rows
        used = class_kernels.gather(*place, starts, codes, counts)
        return ClassCounts(self.of, starts, codes[:used], counts[:used])

    @cached_property
    def _by_value(self) -> tuple[Ints, Ints, Ints]:
        order = np.argsort(self.values, kind="stable")
        return self.tuples[order], self.values[order], self.rows[order]

    def within(self, tuples: Ints) -> SensitiveCounts:
        """The counts of some tuples, numbered as they stand in ``tuples`` (ascending)."""
        places = np.minimum(np.searchsorted(tuples, self.tuples), len(tuples) - 1)
        inside = tuples[places] == self.tuples
        return SensitiveCounts(self.of, places[inside], self.values[inside], self.rows[inside])

    @cached_property
    def whole(self) -> Ints:
        """Rows of each value in the whole table."""
        return np.bincount(self.values, self.rows, len(self.of.texts)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Rows of each value in each class: those of class i lie from ``starts[i]`` on, by code."""

    of: Values
    starts: Ints = field(repr=False)
    codes: Ints = field(repr=False)
    counts: Ints = field(repr=False)

    @classmethod
    def dense(cls, of: Values, rows: Ints) -> ClassCounts:
        """From an array of shape (classes, values)."""
        classes, codes = map(np.ascontiguousarray, np.nonzero(rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(classes, minlength=len(rows)))])
        return cls(of, starts.astype(np.int64), codes, rows[classes, codes])

    def whole(self, classes: Bools) -> Ints:
        """Rows of each value in the marked classes together."""
        found = np.zeros(len(self.of.texts), np.int64)
        class_kernels.add_marked(self.starts, self.codes, self.counts, classes, found)
        return found

    def measured(self, how: Measure, classes: Bools, whole: Ints) -> Floats:
        """The measure of each marked class, zero of the others."""
        out, held = np.zeros(len(classes)), (self.starts, self.codes, self.counts)
        class_kernels.measure(how.kind, how.bound, *held, classes, whole, *how.arrays, out)
        return out

    def passing(self, required: Requirement, classes: Bools, whole: Ints) -> Bools:
        """Which of the marked classes pass; exact, see the module."""
        how = measure_of(required, self.of, whole)
        measured, limit = self.measured(how, classes, whole), how.limit
        found: Bools = classes & (measured <= limit)
        near = classes & (np.abs(measured - limit) <= _CLOSE * max(1.0, abs(limit)))
        if how.kind == class_kernels.DISTINCT:
            return found
        everything = whole.tolist()
        for place in np.flatnonzero(near).tolist():
            row = np.zeros(len(whole), np.int64)
            inside = slice(self.starts[place], self.starts[place + 1])
            row[self.codes[inside]] = self.counts[inside]
            found[place] = passes(required, row.tolist(), everything, self.of)
        return found


@dataclass(frozen=True, eq=False)
class Measure:
    """What compiled loops need to measure classes: see :func:`.class_kernels.measure`.

    A class passes whose measure is at most ``limit``.
    """

    kind: int
    limit: float
    bound: int = 0
    places: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    below: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    sums: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    nodes: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64), repr=False)
    sizes: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64), repr=False)
    limits: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Ints, Ints, Floats]:
        """What follows the rows of all in the arguments of the loop."""
        return self.places, self.below, self.sums, self.nodes, self.sizes, self.limits


def measure_of(required: Requirement, of: Values, whole: Ints) -> Measure:
    """How a class is measured against the rows of each value in ``whole``."""
    return _MEASURES[required.model](required, of, whole)


def _own(required: Requirement, of: Values, whole: Ints) -> Measure:
    """Measures of a class alone: what is wanting in diversity, or the largest share."""
    bound = float(required.bound)
    if required.variant == "distinct":
        return Measure(class_kernels.DISTINCT, -bound)
    if required.variant == "entropy":
        return Measure(class_kernels.ENTROPY, -math.log(bound))
    if required.variant == "recursive":
        return Measure(class_kernels.RECURSIVE, float(required.c), int(bound))
    return Measure(class_kernels.SHARE, bound)


def _close(required: Requirement, of: Values, whole: Ints) -> Measure:
    limit = float(required.bound)
    if required.variant == "equal":
        return Measure(class_kernels.EQUAL, limit)
    if required.variant == "ordered":
        held = np.ones(len(whole), np.bool_) if of.has_hierarchy else whole > 0
        places = np.maximum(np.cumsum(held) - 1, 0)
        below = np.cumsum(whole[held])
        sums = np.concatenate([[0.0], np.cumsum(below.astype(np.float64))])
        return Measure(class_kernels.ORDERED, limit, places=places, below=below, sums=sums)
    shape = len(of.levels), len(whole)
    nodes, sizes = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for level, of_code in enumerate(of.levels):
        nodes[level] = of_code
        np.add.at(sizes[level], of_code, whole)
    return Measure(class_kernels.HIERARCHICAL, limit, nodes=nodes, sizes=sizes)


def _like(required: Requirement, of: Values, whole: Ints) -> Measure:
    """How far the worst gain is above its limit, divided by 1 + gain."""
    limits = np.full(len(whole), float(required.bound))
    if required.variant == "enhanced":
        shares = np.maximum(whole, 1) / max(int(whole.sum()), 1)
        limits = np.minimum(limits, -np.log(shares))
    return Measure(class_kernels.GAIN, 0.0, limits=limits)


_MEASURES: Mapping[str, Callable[[Requirement, Values, Ints], Measure]] = {
    DIVERSITY: _own,
    "alpha-k": _own,
    CLOSENESS: _close,
    LIKENESS: _like,
}


def constrained_table(
    given: MethodInput, required: Sequence[Requirement], token: CancelToken, *, apart: bool = False
) -> tuple[FrequencyTable, AlignedTable, Constraints]:
    """The table of the quasi-identifiers, in codes of the source and of the hierarchies, and what
    is required with the rows of sensitive values.

    With ``apart``, rows that differ in a sensitive value alone are tuples of their own: the first
    table has these columns too, and the second the same tuples, which may look alike there.

    Raises InputError for a value without a leaf, and ``k-anonymity.require`` for distances along a
    hierarchy that the plan does not give; Cancelled.
    """
    from dpdesk.engine.methods.k_anonymity.choosing import check_memory

    quasi = given.with_role(Role.QUASI_IDENTIFIER)
    names = tuple(dict.fromkeys(each.attribute for each in required))
    joint = given.source.frequency_table((*quasi, *names), token)
    token.check()
    check_memory(joint, given.source.name)
    columns = [np.ascontiguousarray(joint.codes[:, place]) for place in range(len(quasi))]
    widths = [len(domain) for domain in joint.domains[: len(quasi)]]
    first, of_tuple = numbered(*tuple_keys(columns, widths, len(joint.counts)))
    if apart:
        first = of_tuple = np.arange(len(joint.counts))
    counts = np.bincount(of_tuple, joint.counts, len(first)).astype(np.int64)
    missing = joint.missing[: len(quasi)]
    alone = FrequencyTable(
        quasi, joint.domains[: len(quasi)], joint.codes[first, : len(quasi)], counts, missing
    )
    held = {}
    for place, name in enumerate(names, start=len(quasi)):
        token.check()
        wanted = [each for each in required if each.attribute == name]
        held[name] = _sensitive_counts(given, joint, place, of_tuple, wanted)
    aligned = align(alone, given.hierarchies, given.source.name)
    return joint if apart else alone, aligned, Constraints(tuple(required), held)


def _sensitive_counts(
    given: MethodInput,
    joint: FrequencyTable,
    place: int,
    of_tuple: Ints,
    wanted: Sequence[Requirement],
) -> SensitiveCounts:
    name, domain = joint.attributes[place], joint.domains[place]
    if name not in given.hierarchies:
        if any(each.variant == "hierarchical" for each in wanted):
            raise InputError(
                "k-anonymity.require",
                msg(
                    "{where}, require: `{name}` has no hierarchy, expected one for distances "
                    "along it.",
                    where=given.where,
                    name=name,
                ),
                hint="Give the column a hierarchy, or choose the variant equal or ordered.",
                details={"key": "require", "attribute": name},
            )
        values = Values.of(domain, None, given.decimal)
        code = {text: at for at, text in enumerate(values.texts)}
        codes = np.array([code[text] for text in domain], np.int64)
    else:
        every = np.arange(len(domain), dtype=np.int32)[:, None]
        rows = np.bincount(joint.codes[:, place], joint.counts, len(domain)).astype(np.int64)
        missing = joint.missing[place : place + 1]
        column = FrequencyTable((name,), (domain,), every, rows, missing)
        aligned = align(column, given.hierarchies, given.source.name)
        values = Values.of(domain, aligned.hierarchies[0])
        codes = aligned.codes[:, 0].astype(np.int64)
    return SensitiveCounts(values, of_tuple, codes[joint.codes[:, place]], joint.counts)


def least_removed(
    asked: Constraints, found: Mapping[str, ClassCounts], sizes: Ints, large: Bools, allowed: int
) -> tuple[Ints, int]:
    """Rows that every feasible node at or below a node removes at least: of each class, in all.

    ``found`` and ``sizes`` are those of the node above, ``allowed`` the most rows that may go.
    Nothing is said of what is measured against other rows than these (``asked.against``). A class
    that is not ``large`` (it has fewer than k rows, or missing cells that match nothing) goes
    whole. Let C be a larger one, of n rows, and K those of its rows that a node below keeps, in
    classes that pass.

    * What is asked of a class by itself (diversity, the largest share) K passes as well: classes
      that pass together pass as one, for the entropy is concave and the others are convex. Of all
      ways to leave out d rows the one that levels the most frequent values is the best, and levels
      the better the more rows it takes; so n − |K| is at least what it takes to pass.
    * t-closeness: with s rows removed in all, the rows kept are at most s/N from all rows, and K at
      most (n − |K|)/n from C. So n − |K| ≥ n·(d − t − s/N), where d is how far C is from all rows.
      It asks for one measure of distance: without a hierarchy places depend on the values kept, and
      nothing is said. The least s that is no less than what it asks for is a bound of all.
    * β-likeness: no value has more than the share τ = (1 + β)·N_v/(N − s) of K, so that
      n − |K| ≥ (n_v − τ·n)/(1 − τ).
    """
    rows = int(sizes.sum())
    gone = np.where(large, 0, sizes).astype(np.float64)
    total = 0
    for each in asked.required:
        held = found[each.attribute]
        if each.model in (DIVERSITY, "alpha-k"):
            kind = {"distinct": 0, "entropy": 1, "recursive": 2}.get(each.variant, 3)
            limits = float(each.bound), float(each.c)
            class_kernels.least_cut(kind, *limits, held.starts, held.counts, large, gone)
        elif asked.against is not None:
            continue
        elif each.model == LIKENESS:
            whole = asked.counts[each.attribute].whole
            most = (1 + float(each.bound)) * whole / max(rows - allowed, 1)
            class_kernels.least_gain_cut(held.starts, held.codes, held.counts, large, most, gone)
        elif each.variant != "ordered" or held.of.has_hierarchy:
            whole = asked.counts[each.attribute].whole
            apart = held.measured(measure_of(each, held.of, whole), large, whole)
            limit = float(each.bound) + _CLOSE
            total = max(total, class_kernels.least_total(sizes, large, apart, limit, rows))
    each_class = np.ceil(gone - _CLOSE * (1 + gone)).astype(np.int64)
    return each_class, max(total, int(each_class.sum()))


@dataclass(frozen=True, eq=False)
class Staying:
    """Rows of each class that stay, and of each tuple where a class may keep a part of its rows.

    Then also which households stay, and how many there are in each class.
    """

    classes: Ints
    tuples: Ints | None = None
    households: Bools | None = None
    counted: Ints | None = None


@dataclass(frozen=True, eq=False)
class GroupLimit:
    """The most rows that may be suppressed of each value of a column.

    Entries are the rows of a value in a tuple; ``counts`` are those of each tuple. What no value
    loses, none loses further up the lattice, where what stays is monotone.
    """

    counts: Ints = field(repr=False)
    tuples: Ints = field(repr=False)
    values: Ints = field(repr=False)
    rows: Ints = field(repr=False)
    most: Ints = field(repr=False)

    @classmethod
    def of(
        cls, counts: Ints, tuples: Ints, values: Ints, rows: Ints, share: Fraction
    ) -> GroupLimit:
        """At most floor(share · rows) of each value, exactly."""
        whole = np.bincount(values, rows).astype(np.int64).tolist()
        most = np.array([int(share * each) for each in whole], np.int64)
        return cls(counts, tuples, values, rows, most)

    def holds(self, left: Ints) -> bool:
        """Whether no value loses more where so many rows of each tuple stay.

        A tuple with one entry may keep a part of its rows, one with several all or none.
        """
        stay = left[self.tuples]
        part = np.where(self.rows == self.counts[self.tuples], stay, self.rows)
        gone = self.rows - np.where(stay > 0, part, 0)
        lost = np.bincount(self.values, gone, len(self.most))
        return bool((lost <= self.most).all())


@dataclass(frozen=True, eq=False)
class Constraints:
    """All that the classes of a frequency table must pass besides k.

    ``against`` are rows of each value that classes are measured against where these are not the
    rows still kept. ``missing`` are the missing cells where they are no category
    of their own, ``households`` those that are suppressed whole, and that k counts,
    ``population`` rows that classes match, ``limits`` how many rows of a value may leave.
    ``matched`` are rows of a population that classes with cells of their own match, by what these
    show and not by their tuples.
    """

    required: tuple[Requirement, ...]
    counts: Mapping[str, SensitiveCounts]
    against: Mapping[str, Ints] | None = None
    missing: MissingCells | None = None
    households: Households | None = None
    population: PopulationRows | None = None
    limits: tuple[GroupLimit, ...] = ()
    matched: MatchedCells | None = None

    @property
    def of_classes(self) -> bool:
        """Whether classes say all that is asked of them, whatever tuples they were made of."""
        apart = self.missing, self.households, self.population
        return not self.limits and all(each is None for each in apart)

    @property
    def monotone(self) -> bool:
        """Whether no fewer rows stay further up the lattice, with suppression too."""
        present = self.population is not None and self.population.delta is not None
        return not present and all(each.monotone for each in self.required)

    @property
    def whole(self) -> Mapping[str, Ints]:
        """Rows of each value that classes are measured against at first."""
        return self.against or {name: each.whole for name, each in self.counts.items()}

    def joined(self, of_tuple: Ints, classes: int) -> Constraints:
        """What is required of unions of some ``classes``, as tuples; ``of_tuple`` is each tuple's.

        Rows are the same, so are those that classes are measured against.
        """
        every, counts = np.ones(classes, np.bool_), {}
        for name, each in self.counts.items():
            held = each.in_classes(of_tuple, every)
            tuples = np.repeat(np.arange(classes), np.diff(held.starts))
            counts[name] = SensitiveCounts(each.of, tuples, held.codes, held.counts)
        return Constraints(self.required, counts, self.against, self.missing)

    def within(self, tuples: Ints) -> Constraints:
        """What is required of classes of some tuples alone, measured against those of all."""
        counts = {name: each.within(tuples) for name, each in self.counts.items()}
        people = None if self.population is None else self.population.within(tuples)
        return Constraints(
            self.required, counts, self.whole, population=people, matched=self.matched
        )

    @property
    def single(self) -> bool:
        """Whether all rows of a tuple have the same values, so that tuples can be divided."""
        return all(
            len(each.tuples) == each.tuples.max(initial=-1) + 1
            and (each.tuples == np.arange(len(each.tuples))).all()
            for each in self.counts.values()
        )

    def divided(self, tuples: Ints, rows: Ints) -> Constraints:
        """What is required of classes of entries, ``rows`` of the rows of ``tuples``, as tuples.

        Tuples have one value each, see :attr:`single`.
        """
        at = np.arange(len(tuples))
        counts = {
            name: SensitiveCounts(each.of, at, each.values[tuples], rows)
            for name, each in self.counts.items()
        }
        return Constraints(self.required, counts, self.whole, matched=self.matched)

    def passing(
        self, of_tuple: Ints, wanted: Bools, whole: Mapping[str, Ints] | None = None
    ) -> Bools:
        """Which of the wanted classes pass; ``of_tuple`` gives each tuple's class.

        They are measured against ``whole``, without it against the rows of the wanted classes.
        """
        kept = wanted.copy()
        found = {name: each.in_classes(of_tuple, wanted) for name, each in self.counts.items()}
        for required in self.required:
            held = found[required.attribute]
            rows = held.whole(wanted) if whole is None else whole[required.attribute]
            kept &= held.passing(required, wanted, rows)
        return kept

    @property
    def widening(self) -> bool:
        """Whether rows may stay that k alone would remove: missing values match anything."""
        return self.missing is not None and self.missing.how == ANY

    def kept(self, of_tuple: Ints, sizes: Ints, k: int, levels: Sequence[int]) -> Bools:
        """Which classes stay; ``of_tuple`` gives each tuple's class, ``sizes`` their rows.

        All classes that fail leave at once. Where something is measured against the rows still
        kept (at first all), the rest is measured again, until none fails.
        """
        large = self.large(of_tuple, sizes, k, levels)
        return self.settled(self.held(of_tuple, large), of_tuple, sizes, large, levels)

    def settled(
        self,
        found: Mapping[str, ClassCounts],
        of_tuple: Ints,
        sizes: Ints,
        large: Bools,
        levels: Sequence[int],
        most: int | None = None,
    ) -> Bools:
        """As :meth:`kept`, from what :meth:`large` and :meth:`held` gave, see :meth:`kept_of`.

        None where what is asked of the table as a whole fails.
        """
        present = large
        if self.population is not None:
            present = large & self.population.present(of_tuple, sizes, levels)
        kept = self.kept_of(found, sizes, present, most)
        good = self.population is None or self.population.allows(kept)
        for limit in self.limits:
            good = good and limit.holds(np.where(kept[of_tuple], limit.counts, 0))
        return kept if good else np.zeros(len(kept), np.bool_)

    def large(self, of_tuple: Ints, sizes: Ints, k: int, levels: Sequence[int]) -> Bools:
        """Which classes k alone would keep, missing cells counted as asked, and k-map."""
        found: Bools = sizes >= k
        if self.missing is not None:
            found = self.missing.kept(of_tuple, sizes, k, levels)
        if self.population is not None:
            found = found & self.population.mapped(of_tuple, len(sizes), levels)
        return found

    def held(self, of_tuple: Ints, large: Bools) -> dict[str, ClassCounts]:
        """Rows of each sensitive value in the ``large`` classes."""
        return {name: each.in_classes(of_tuple, large) for name, each in self.counts.items()}

    def kept_of(
        self, found: Mapping[str, ClassCounts], sizes: Ints, large: Bools, most: int | None = None
    ) -> Bools:
        """Which of the ``large`` classes pass what is required, from what :meth:`held` gave.

        It may end once more than ``most`` rows are gone, for no class comes back.
        """
        kept = large
        whole, measured, asked = self.whole, int(sizes.sum()), self.required
        every = measured
        while kept.any():
            left = kept.copy()
            for required in asked:
                name = required.attribute
                left &= found[name].passing(required, kept, whole[name])
            asked = tuple(e for e in self.required if e.relative and self.against is None)
            kept, rows = left, int(sizes[left].sum())
            if not asked or rows == measured or (most is not None and rows < every - most):
                break
            measured = rows
            whole = {name: each.whole(kept) for name, each in found.items()}
        return kept

    def staying(self, of_tuple: Ints, sizes: Ints, k: int, levels: Sequence[int]) -> Staying:
        """What stays of each class: see :meth:`kept`, and where whole households leave."""
        if self.households is None:
            return Staying(np.where(self.kept(of_tuple, sizes, k, levels), sizes, 0))
        mapped = None
        if self.population is not None:
            mapped = self.population.mapped(of_tuple, len(sizes), levels)
        alive, counted = self.households.staying(of_tuple, len(sizes), k, mapped)
        rows = self.households.rows_of(alive, counted, of_tuple)
        if not all(limit.holds(rows) for limit in self.limits):
            rows, alive = np.zeros_like(rows), np.zeros_like(alive)
            counted = np.zeros_like(counted)
        left = np.bincount(of_tuple, rows, len(sizes)).astype(np.int64)
        return Staying(left, rows, alive, counted)
