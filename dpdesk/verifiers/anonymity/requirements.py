"""What is required of sensitive columns, counted again: shares nothing with the search.

Measures of all classes follow their definitions by sums over pairs of class and value; where one is
within rounding of its limit, the definition is computed again with integers and fractions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import exact_number
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.reading import number

# Whole households: counted again, by code that made no release.


WHOLE = "whole"

Ints = NDArray[np.int64]


def household_rows(
    table: FrequencyTable,
    labels: NDArray[np.integer],
    k: int,
    column: str,
    source: FrequencySource,
    token: CancelToken,
    passing: NDArray[np.bool_] | None = None,
) -> tuple[Ints, tuple[str, ...]]:
    """Rows that stay of each tuple of ``table``, and the households that leave.

    ``labels`` has a row for each tuple. A household leaves with all its rows when one of them is in
    a class of fewer than ``k`` households, or in one of which a tuple is not ``passing``; then
    classes are counted again. A row without a household is one by itself.
    """
    joint = source.frequency_table((*table.attributes, column), token)
    tuples = own_tuples(table, joint)
    classes = np.unique(np.asarray(labels), axis=0, return_inverse=True)[1].reshape(-1)
    failed = np.zeros(int(classes.max(initial=-1)) + 1, np.bool_)
    if passing is not None:
        failed[classes[~passing]] = True
    of_entry, house = classes[tuples], joint.codes[:, -1].astype(np.int64)
    missing = np.array(sorted(joint.missing[-1]) if joint.missing else [], np.int64)
    alone = np.isin(house, missing)
    there = np.ones(len(house), np.bool_)
    while True:
        token.check()
        pairs = np.unique(np.stack([of_entry, house], axis=1)[there & ~alone], axis=0)
        counts = np.bincount(pairs[:, 0], minlength=len(failed))
        counts = counts + np.bincount(of_entry[alone], joint.counts[alone], len(failed))
        failed |= counts < k
        leaving = np.unique(house[failed[of_entry] & ~alone])
        left = np.where(alone, ~failed[of_entry], ~np.isin(house, leaving))
        if bool((left == there).all()):
            break
        there = left
    rows = np.bincount(tuples[there], joint.counts[there], len(table.counts)).astype(np.int64)
    gone = np.unique(house[~there & ~alone]).tolist()
    return rows, tuple(joint.domains[-1][code] for code in gone)


def own_tuples(table: FrequencyTable, joint: FrequencyTable) -> Ints:
    """The tuple of ``table`` of each one of ``joint``, which has one column more at its end."""
    index = {tuple(codes): at for at, codes in enumerate(_texts(table, table.codes).tolist())}
    own = [index[tuple(codes)] for codes in _texts(joint, joint.codes[:, :-1]).tolist()]
    return np.array(own, np.int64)


def _texts(table: FrequencyTable, codes: NDArray[np.int32]) -> NDArray[np.object_]:
    """The values of tuples as texts, so that tables with other domains can be compared."""
    columns = [
        np.array(domain, np.object_)[codes[:, place]]
        for place, domain in enumerate(table.domains[: codes.shape[1]])
    ]
    return np.stack(columns, axis=1)


# Missing values that match anything, or nothing: counted again, by code that made no release.


CATEGORY, ANY, NONE = "category", "any", "none"

Bools = NDArray[np.bool_]


def missing_labels(
    table: FrequencyTable,
    position: int,
    texts: Mapping[str, str],
    hierarchy: Hierarchy,
    level: int,
    how: str,
) -> frozenset[str]:
    """The labels of a column at a level that stand for missing values of the source alone.

    ``texts`` gives the label of every value. At the top no value is missing; a label that is the
    top's is no missing value under NONE.
    """
    if how == CATEGORY or level >= hierarchy.height or not table.missing:
        return frozenset()
    domain = table.domains[position]
    lost = {texts[domain[code]] for code in table.missing[position]}
    others = set(range(len(domain))) - table.missing[position]
    held = {texts[domain[code]] for code in others}
    top = set(hierarchy.labels[hierarchy.height]) if how == NONE else set()
    return frozenset(lost - held - top)


def marked(
    codes: NDArray[np.integer], texts: Sequence[Sequence[str]], labels: Sequence[frozenset[str]]
) -> Bools:
    """Which cells, shape (tuples, columns), hold one of the labels of their column."""
    found = np.zeros(codes.shape, np.bool_)
    for place, column in enumerate(texts):
        of_code = np.array([text in labels[place] for text in column], np.bool_)
        if of_code.any():
            found[:, place] = of_code[codes[:, place]]
    return found


def matches(codes: NDArray[np.integer], missing: Bools, rows: Ints) -> Ints:
    """How many rows match each tuple: they agree wherever neither has a missing cell.

    ``rows`` are those of each tuple, shape (tuples,), its own count as well.
    """
    found = np.zeros(len(codes), np.int64)
    kinds = {tuple(kind) for kind in missing.tolist()}
    inside = {kind: np.flatnonzero((missing == kind).all(axis=1)) for kind in sorted(kinds)}
    for mine, here in inside.items():
        for theirs, there in inside.items():
            columns = [at for at, lost in enumerate(mine) if not lost and not theirs[at]]
            if not columns:
                found[here] += int(rows[there].sum())
                continue
            shown = np.ascontiguousarray(codes[there][:, columns].astype(np.int64))
            distinct, number = np.unique(shown, axis=0, return_inverse=True)
            sums = np.bincount(number.reshape(-1), rows[there]).astype(np.int64)
            held = {key.tobytes(): int(n) for key, n in zip(distinct, sums, strict=True)}
            wanted = np.ascontiguousarray(codes[here][:, columns].astype(np.int64))
            asked, back = np.unique(wanted, axis=0, return_inverse=True)
            counts = np.array([held.get(key.tobytes(), 0) for key in asked], np.int64)
            found[here] += counts[back.reshape(-1)]
    return found


def staying(how: str, codes: NDArray[np.integer], missing: Bools, rows: Ints, k: int) -> Bools:
    """Which tuples stay at ``k``, as missing cells count.

    Those with fewer than k matches leave together, and the rest is counted again.
    """
    if how == NONE:
        left: Bools = np.logical_not(missing.any(axis=1))
        bare = np.zeros(missing.shape, np.bool_)
        found: Bools = left & (matches(codes, bare, np.where(left, rows, 0)) >= k)
        return found
    kept = np.ones(len(codes), np.bool_)
    while True:
        held: Bools = np.logical_and(kept, matches(codes, missing, np.where(kept, rows, 0)) >= k)
        if int(held.sum()) == int(kept.sum()):
            return held
        kept = held


Floats = NDArray[np.float64]

_NEAR = 1e-9
_BLOCK = 4_000_000
_BOUND = {"l-diversity": "l", "t-closeness": "t", "alpha-k": "alpha", "beta-likeness": "beta"}
_VARIANTS = {
    "l-diversity": ("distinct", "entropy", "recursive"),
    "t-closeness": ("equal", "ordered", "hierarchical"),
    "alpha-k": ("",),
    "beta-likeness": ("basic", "enhanced"),
}


@dataclass(frozen=True)
class Required:
    """One requirement of a manifest; ``by_hierarchy`` where distances follow the hierarchy.

    Otherwise values are numbers by the mark ``decimal``.
    """

    model: str
    attribute: str
    variant: str
    bound: Fraction
    c: Fraction
    by_hierarchy: bool
    decimal: str = "."


def required_of(listed: object) -> tuple[Required, ...]:
    """The requirements of a manifest. TypeError, ValueError, KeyError when they are malformed."""
    return tuple(_required(as_table(item)) for item in as_list([] if listed is None else listed))


def _required(item: Mapping[str, object]) -> Required:
    model, attribute = str(item["model"]), item["attribute"]
    variant = item.get("variant", _VARIANTS[model][0])
    if variant not in _VARIANTS[model] or not isinstance(attribute, str):
        raise ValueError("expected a known variant of a column")
    recursive, order = variant == "recursive", item.get("order")
    known = {"model", "attribute", _BOUND[model]} | ({"c"} if recursive else set())
    known |= {"variant"} if _VARIANTS[model][0] else set()
    known |= {"order"} if variant == "ordered" else set()
    known |= {"decimal"} if order == "values" else set()
    mark = item.get("decimal", ".")
    if not {*item} <= known or order not in (None, "hierarchy", "values") or mark not in (".", ","):
        raise ValueError("expected its keys alone")
    along = variant == "hierarchical" or order == "hierarchy"
    c = number(item["c"]) if recursive else Fraction(0)
    return Required(
        model, attribute, str(variant), number(item[_BOUND[model]]), c, along, str(mark)
    )


@dataclass(frozen=True, eq=False)
class Held:
    """Rows of each value in each class, one entry for each pair that occurs.

    ``values`` index ``texts``, which are in the order of distances; ``levels`` hold each value's
    node at each level of a hierarchy below its top, None without one.
    """

    classes: Ints = field(repr=False)
    values: Ints = field(repr=False)
    rows: Ints = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    levels: tuple[Ints, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        classes: Ints,
        codes: NDArray[np.integer],
        rows: Ints,
        domain: Sequence[str],
        tree: Hierarchy | None,
        decimal: str = ".",
    ) -> Held:
        """From one entry per tuple; ``codes`` index ``domain``. KeyError for one without a leaf."""
        ordered = tuple(sorted(domain, key=lambda text: _by_size(text, decimal)))
        texts = ordered if tree is None else tree.labels[0]
        place = {text: at for at, text in enumerate(texts)}
        values = np.array([place[text] for text in domain], np.int64)[codes]
        keys, where = np.unique(classes * len(texts) + values, return_inverse=True)
        sums = np.bincount(where.reshape(-1), rows, len(keys)).astype(np.int64)
        levels = None
        if tree is not None:
            nodes, found = np.arange(len(texts)), []
            for parents in tree.parents:
                found.append(nodes)
                nodes = parents[nodes].astype(np.int64)
            levels = tuple(found)
        return cls(keys // len(texts), keys % len(texts), sums, texts, levels)

    def within(self, kept: Bools) -> Held:
        """The entries of some classes alone."""
        inside = kept[self.classes]
        return replace(
            self, classes=self.classes[inside], values=self.values[inside], rows=self.rows[inside]
        )

    @property
    def whole(self) -> Ints:
        """Rows of each value in all."""
        return np.bincount(self.values, self.rows, len(self.texts)).astype(np.int64)


def number_rows(codes: NDArray[np.integer]) -> Ints:
    """A number for each row of codes, the same for equal rows, from 0 on."""
    found: Ints = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def _by_size(text: str, decimal: str) -> tuple[bool, Fraction, str]:
    size = exact_number(text, decimal)
    return size is None, size or Fraction(0), text


def kept_classes(
    sizes: Ints, k: int, required: Sequence[Required], held: Mapping[Required, Held]
) -> Bools:
    """Which classes stay: those that fail leave at once, and the rest is measured again."""
    kept: Bools = np.ones(len(sizes), np.bool_)
    while True:
        left = kept & (sizes >= k)
        for each in required:
            inside = held[each].within(kept)
            left &= passing(each, inside, len(sizes))
        if (left == kept).all() or not left.any():
            return left
        kept = left


def passing(required: Required, held: Held, classes: int) -> Bools:
    """Which of the classes pass, measured against all rows in ``held``; absent ones do."""
    whole = held.whole
    rows = np.bincount(held.classes, held.rows, classes).astype(np.float64)
    measure, limit = _measured(required, held, rows, whole)
    found: Bools = measure <= limit
    near = np.abs(measure - limit) <= _NEAR * max(1.0, abs(limit))
    starts = np.searchsorted(held.classes, np.arange(classes + 1))
    for place in np.flatnonzero(near & (rows > 0)).tolist():
        inside = slice(starts[place], starts[place + 1])
        counts = dict(zip(held.values[inside].tolist(), held.rows[inside].tolist(), strict=True))
        found[place] = _passes(required, counts, whole.tolist(), held.levels)
    found[rows == 0] = True
    return found


def _measured(required: Required, held: Held, rows: Floats, whole: Ints) -> tuple[Floats, float]:
    """A measure of each class and the limit that it must not exceed."""
    classes, bound = len(rows), float(required.bound)
    share = held.rows / rows[held.classes]
    if required.variant == "distinct":
        return -np.bincount(held.classes, minlength=classes).astype(float), -bound
    if required.variant == "entropy":
        order = np.bincount(held.classes, share * np.log(share), classes).astype(np.float64)
        return order, -math.log(bound)
    if required.variant == "recursive":
        return _first_to_tail(held, int(required.bound), classes), float(required.c)
    if required.model == "alpha-k":
        return _greatest(held.classes, share, classes), bound
    total = float(whole.sum())
    if required.model == "beta-likeness":
        of_all = whole[held.values] / total
        limits = np.full(len(share), bound)
        if required.variant == "enhanced":
            limits = np.minimum(limits, -np.log(of_all))
        gain = share / of_all
        return _greatest(held.classes, (gain - 1 - limits) / gain, classes), 0.0
    return _distances(required, held, rows, whole), bound


def _greatest(classes: Ints, values: Floats, count: int) -> Floats:
    found = np.full(count, -np.inf)
    np.maximum.at(found, classes, values)
    return found


def _first_to_tail(held: Held, least: int, classes: int) -> Floats:
    order = np.lexsort((-held.rows, held.classes))
    place, rows = held.classes[order], held.rows[order]
    rank = np.arange(len(order)) - np.searchsorted(place, place)
    tail = np.bincount(place, np.where(rank >= least - 1, rows, 0), classes)
    first = np.bincount(place, np.where(rank == 0, rows, 0), classes)
    found: Floats = np.full(classes, np.inf)
    np.divide(first, tail, out=found, where=tail > 0)
    return found


def _distances(required: Required, held: Held, rows: Floats, whole: Ints) -> Floats:
    """Earth mover's distances, by dense blocks of classes × values."""
    classes, width = len(rows), len(whole)
    found = np.zeros(classes)
    shown = np.ones(width, np.bool_) if held.levels is not None else whole > 0
    step = max(1, _BLOCK // max(width, 1))
    for first in range(0, classes, step):
        last = min(first + step, classes)
        inside = (held.classes >= first) & (held.classes < last)
        apart = np.zeros((last - first, width))
        apart[held.classes[inside] - first, held.values[inside]] = held.rows[inside]
        apart /= np.maximum(rows[first:last, None], 1)
        apart -= whole / max(int(whole.sum()), 1)
        found[first:last] = _work(required.variant, apart[:, shown], held.levels or ())
    return found


def _work(variant: str, apart: Floats, levels: Sequence[Ints]) -> Floats:
    if variant == "equal":
        work: Floats = np.abs(apart).sum(axis=1) / 2
        return work
    if variant == "ordered":
        over: Floats = np.abs(np.cumsum(apart, axis=1)).sum(axis=1)
        over /= max(apart.shape[1] - 1, 1)
        return over
    found: Floats = np.zeros(len(apart))
    for nodes in levels:
        sums = np.zeros((len(apart), int(nodes.max()) + 1))
        np.add.at(sums.T, nodes, apart.T)
        found += np.abs(sums).sum(axis=1) / 2
    return found / max(len(levels), 1)


def _passes(
    required: Required,
    counts: Mapping[int, int],
    whole: Sequence[int],
    levels: Sequence[Ints] | None,
) -> bool:
    """One class by its definition, exactly; ``counts`` are its rows by value."""
    rows, held = sum(counts.values()), sorted(counts.values(), reverse=True)
    bound = required.bound
    if required.variant == "distinct":
        return len(held) >= bound
    if required.variant == "entropy":
        return _entropy_reaches(held, bound)
    if required.variant == "recursive":
        return held[0] < required.c * sum(held[int(bound) - 1 :])
    if required.model == "alpha-k":
        return Fraction(held[0], rows) <= bound
    total = sum(whole)
    if required.model == "beta-likeness":
        gains = [(Fraction(n * total, rows * whole[v]), Fraction(total, whole[v]))
                 for v, n in counts.items()]  # fmt: skip
        return all(
            gain - 1 <= bound and (required.variant == "basic" or _below_log(gain - 1, ratio))
            for gain, ratio in gains
        )
    apart = [Fraction(counts.get(v, 0), rows) - Fraction(n, total) for v, n in enumerate(whole)]
    return _exact_work(required.variant, apart, whole, levels) <= bound


def _exact_work(
    variant: str,
    apart: Sequence[Fraction],
    whole: Sequence[int],
    levels: Sequence[Ints] | None,
) -> Fraction:
    if variant == "equal":
        return sum(map(abs, apart), Fraction(0)) / 2
    if variant == "ordered":
        shown = [a for a, n in zip(apart, whole, strict=True) if n or levels is not None]
        return sum(map(abs, accumulate(shown)), Fraction(0)) / max(len(shown) - 1, 1)
    work = Fraction(0)
    for nodes in levels or ():
        for node in set(nodes.tolist()):
            work += abs(sum((a for a, at in zip(apart, nodes, strict=True) if at == node),
                            Fraction(0))) / 2  # fmt: skip
    return work / max(len(levels or ()), 1)


def _entropy_reaches(held: Sequence[int], least: Fraction) -> bool:
    """n^n ≥ l^n · Π n_v^n_v, all exponents divided by what they have in common."""
    common = math.gcd(*held)
    rows, parts = sum(held), [count // common for count in held]
    power = rows // common
    left = (rows * least.denominator) ** power
    right = least.numerator**power
    for count, part in zip(held, parts, strict=True):
        right *= count**part
    return bool(left >= right)


def _below_log(gain: Fraction, ratio: Fraction) -> bool:
    """Whether ``gain`` is at most ln ``ratio``, which is irrational but for the ratio 1."""
    if gain <= 0 or ratio == 1:
        return gain <= 0
    for digits in (50, 500, 5000):
        with localcontext(prec=digits):
            log = (Decimal(ratio.numerator) / ratio.denominator).ln()
            value = Decimal(gain.numerator) / gain.denominator
            if abs(value - log) > Decimal(10) ** (20 - digits) * (1 + abs(log)):
                return value < log
    return False
