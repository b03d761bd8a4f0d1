"""Follow a release without levels from its source to its table, tuple by tuple.

Given is what every tuple of the source is said to have become. Nothing of it is believed: it must
account for every row of the source, every released value must stand for the one that it replaces,
and its tuples must be those of the table. Whoever made it, a release that passes is what it says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource, FrequencyTable, Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.recoding import TupleRecoding
from dpdesk.core.release import CheckStatus, ClaimCheck, PublishedTable
from dpdesk.verifiers.anonymity.remaking import asked_of, cells_check
from dpdesk.verifiers.anonymity.shapes import cell_forms
from dpdesk.verifiers.anonymity.source_verification import (
    Remake,
    Told,
    extended,
    level_limits,
    settled,
    suppression_checks,
    told_of,
)
from dpdesk.verifiers.anonymity.verification import GENERALISES, MANIFEST, TABLE, Claimed

_CONFIRMED, _FAILED = CheckStatus.CONFIRMED, CheckStatus.FAILED
_STAR = "*"
_BETWEEN = ", "

Given = tuple[FrequencySource, Mapping[str, Hierarchy], Mapping[str, Remake], str]
"""Source, hierarchies, what makes some again, and the decimal mark of the source."""


class Cover(NamedTuple):
    """The leaves that a text stands for: those at places ``low`` to ``high``, or of ``places``.

    ``level`` is that of the node that the text shows, or of the lowest over what it covers.
    """

    low: int
    high: int
    level: int
    places: frozenset[int] | None = None

    def holds(self, place: int) -> bool:
        """Whether the leaf at a place is covered."""
        return self.low <= place <= self.high if self.places is None else place in self.places

    def count(self, before: NDArray[np.int64]) -> int:
        """How many leaves that count are covered; ``before[p]`` of them come before place p."""
        if self.places is None:
            return int(before[self.high + 1] - before[self.low])
        return sum(int(before[place + 1] - before[place]) for place in self.places)


class Meanings:
    """What released texts of one column stand for; ``ranges`` says that ranges are among them."""

    def __init__(
        self, hierarchy: Hierarchy, missing: Collection[str], decimal: str = ".", *, ranges: bool
    ) -> None:
        self.hierarchy = hierarchy
        levels = range(hierarchy.height + 1)
        nodes = np.stack([hierarchy.ancestors(level).astype(np.int64) for level in levels])
        numbers = _numbers(hierarchy.leaves, missing, decimal) if ranges else None
        self._ranges = ranges and (numbers is not None or hierarchy.height <= 1)
        self._numbers = numbers
        if numbers is not None:
            leaves = hierarchy.leaves
            keys = [(leaf in numbers, numbers.get(leaf, Fraction(0)), leaf) for leaf in leaves]
            self.order = np.array(sorted(range(len(leaves)), key=keys.__getitem__), np.int64)
        else:
            self.order = np.lexsort(nodes)
        self.place = {hierarchy.leaves[code]: at for at, code in enumerate(self.order.tolist())}
        ordered = nodes[:, self.order]
        changes = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1)
        self._changes = np.concatenate([np.zeros((len(nodes), 1), np.int64), changes], axis=1)
        self._shown = {} if self._ranges else _widest(ordered, hierarchy.labels)

    def cover(self, text: str) -> Cover | None:
        """What a released text stands for; None for one that means nothing here."""
        if not self._ranges:
            return self._shown.get(text)
        last = len(self.order) - 1
        if text == _STAR:
            return Cover(0, last, self._level(0, last))
        if text in self.place:
            return Cover(self.place[text], self.place[text], 0)
        if self._numbers is not None:
            ends = text[1:-1].split(_BETWEEN)
            if text[:1] + text[-1:] != "[]" or len(ends) != 2 or not {*ends} <= {*self._numbers}:
                return None
            low, high = self.place[ends[0]], self.place[ends[1]]
            return Cover(low, high, self._level(low, high)) if low < high else None
        return self._listed(text)

    def shows(self, value: str, text: str, allowed: tuple[float, float]) -> bool:
        """Whether a text is the label of a value at a level from the first to the second.

        A range holds all values of its node at the first, and lies within one at the second.
        """
        code = int(self.order[self.place[value]])
        if self._ranges:
            if allowed[1] < 1 or allowed[0] > self.hierarchy.height:
                return allowed[0] < 1 and text == value
            nodes, cover = self.hierarchy.ancestors(int(allowed[0])), self.cover(text)
            own = np.flatnonzero(nodes[self.order] == nodes[code]).tolist()
            return cover is not None and cover.level <= allowed[1] and all(map(cover.holds, own))
        return any(
            allowed[0] <= level <= allowed[1]
            and self.hierarchy.labels[level][int(self.hierarchy.ancestors(level)[code])] == text
            for level in range(self.hierarchy.height + 1)
        )

    def _listed(self, text: str) -> Cover | None:
        if text[:1] + text[-1:] != "{}":
            return None
        named = text[1:-1].split(_BETWEEN)
        if not {*named} <= {*self.place}:  # a value has the comma of the list in it
            inside = f"{_BETWEEN}{text[1:-1]}{_BETWEEN}"
            named = [leaf for leaf in self.place if f"{_BETWEEN}{leaf}{_BETWEEN}" in inside]
        places = frozenset(self.place[leaf] for leaf in named)
        if not places:
            return None
        low, high = min(places), max(places)
        return Cover(low, high, self._level(low, high), places)

    def _level(self, low: int, high: int) -> int:
        return int(np.flatnonzero(self._changes[:, low] == self._changes[:, high])[0])


def _numbers(
    leaves: Sequence[str], missing: Collection[str], decimal: str
) -> dict[str, Fraction] | None:
    """The leaves as numbers, missing ones left out; None where another one is not a number."""
    found: dict[str, Fraction] = {}
    for leaf in leaves:
        text = leaf.strip()
        may = text and text[0] in f"+-{decimal}0123456789"
        number = exact_number(text, decimal) if may else None
        if leaf in missing:
            continue
        if number is None:
            return None
        found[leaf] = number
    return found or None


def _widest(ordered: NDArray[np.int64], labels: Sequence[Sequence[str]]) -> dict[str, Cover]:
    """What each label of a hierarchy means: its widest node, the lowest of several."""
    found: dict[str, Cover] = {}
    for level, codes in enumerate(ordered):
        starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
        ends = np.append(starts[1:], len(codes)) - 1
        for low, high in zip(starts.tolist(), ends.tolist(), strict=True):
            text = labels[level][codes[low]]
            known = found.get(text)
            if known is None or high - low > known.high - known.low:
                found[text] = Cover(low, high, level)
    return found


def follow(
    manifest: Mapping[str, object],
    result: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    given: Given,
    recoding: TupleRecoding | None,
    token: CancelToken,
) -> list[ClaimCheck]:
    """The checks that need the source, of a release without a level for each quasi-identifier."""
    source, hierarchies, remade, decimal = given
    table = source.frequency_table(claimed.quasi_identifiers, token)
    suppressed = table.rows - published.rows
    checks = suppression_checks(suppressed, table.rows, manifest, result)
    if recoding is None:
        text = "the plan gives no such release of the source"
        return [*checks, ClaimCheck(GENERALISES, _FAILED, text, MANIFEST)]
    try:
        meanings = _meanings(manifest, table, hierarchies, decimal)
    except InputError as error:
        return [*checks, ClaimCheck(GENERALISES, _FAILED, error.sentence, MANIFEST)]
    whole = table
    if recoding.told_apart and recoding.attributes[: len(table.attributes)] == table.attributes:
        whole = source.frequency_table(recoding.attributes, token)
    fault = _rows_fault(recoding, whole) or _values_fault(recoding, meanings, token)
    fault = fault or _table_fault(recoding, published, token)
    if fault:
        return [*checks, ClaimCheck(GENERALISES, _FAILED, fault, TABLE)]
    found = msg("checked from {n:,} different tuples of the source", n=len(table.counts))
    checks.append(ClaimCheck(GENERALISES, _CONFIRMED, found, TABLE))
    checks += cell_forms(manifest.get("parameters"), recoding, meanings)
    checks += _cell_checks(manifest, recoding)
    checks += _level_checks(manifest, recoding, meanings)
    kept = np.zeros(len(table.counts), np.bool_)
    kept[_own_tuples(recoding, table)[recoding.source[recoding.target >= 0]]] = True
    told = [
        told_of(
            *(table, place, meaning.hierarchy, frozenset(hierarchies[name].labels[0])),
            *(kept, remade.get(name)),
        )
        for place, (name, meaning) in enumerate(zip(table.attributes, meanings, strict=True))
    ]
    return checks + _metric_checks(result, claimed, published, (meanings, told, table.rows), token)


def cells_checks(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    given: tuple[Mapping[str, Hierarchy], Mapping[str, Remake], Population | None],
) -> list[ClaimCheck]:
    """What the guarantee says of the population, of a release whose tuples have their own cells."""
    hierarchies, remade, population = given
    asked, parameters = asked_of(claimed.population), manifest.get("parameters")
    if not asked or population is None:
        return []
    model = parameters.get("model") if isinstance(parameters, Mapping) else None
    place = hierarchies, remade, model, published
    try:
        return [cells_check(asked, population, claimed.quasi_identifiers, *place)]
    except InputError as error:
        return [ClaimCheck(asked.claim, _FAILED, error.sentence, TABLE)]


def _meanings(
    manifest: Mapping[str, object],
    table: FrequencyTable,
    hierarchies: Mapping[str, Hierarchy],
    decimal: str,
) -> list[Meanings]:
    parameters = manifest.get("parameters")
    settings = parameters if isinstance(parameters, Mapping) else {}
    found = []
    for place, domain in enumerate(table.domains):
        missing = {domain[code] for code in table.missing[place]} if table.missing else set()
        hierarchy = extended(hierarchies, table, place)
        if settings.get("model") in ("AS", "CS"):  # a suppressed cell is not a label
            rows = [(leaf, _STAR) for leaf in hierarchy.leaves]
            hierarchy = Hierarchy.from_rows(hierarchy.attribute, rows)
        if settings.get("model") == "AG_CS" and hierarchy.height:
            topped = [(*row[:-1], _STAR) for row in hierarchy.rows()]
            hierarchy = Hierarchy.from_rows(hierarchy.attribute, topped)
        usual = "ranges" if settings.get("algorithm") == "k-optimize" else "nodes"
        ranges = settings.get("values", usual) == "ranges"
        found.append(Meanings(hierarchy, missing, decimal, ranges=ranges))
    return found


def _own_tuples(recoding: TupleRecoding, table: FrequencyTable) -> NDArray[np.int64]:
    """For each tuple of the recoding that of the table, −1 where it has none."""
    columns = []
    for place, domain in enumerate(table.domains):
        index = {value: code for code, value in enumerate(domain)}
        own = [index.get(value, -1) for value in recoding.domains[place]]
        columns.append(np.array(own, np.int64)[recoding.codes[:, place]])
    which = _numbered(np.concatenate([table.codes, np.stack(columns, axis=1)]))
    known = np.full(int(which.max(initial=0)) + 1, -1, np.int64)
    known[which[: len(table.counts)]] = np.arange(len(table.counts))
    return known[which[len(table.counts) :]]


def _numbered(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each row of codes (−1 or more), the same for the same row."""
    found, count = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        span = int(column.max(initial=0)) + 2
        if count * span >= 1 << 62:
            known, found = np.unique(found, return_inverse=True)
            found, count = found.reshape(-1), len(known)
        found = found * span + (column + 1)
        count *= span
    return np.unique(found, return_inverse=True)[1].reshape(-1)


def _rows_fault(recoding: TupleRecoding, table: FrequencyTable) -> str:
    """Why the recoding is not one of all rows of the source; empty where it is."""
    if recoding.attributes != table.attributes or (recoding.rows < 1).any():
        return "the rows that are said to be recoded are not those of the source"
    own = _own_tuples(recoding, table)
    if (own < 0).any():
        return "the recoding names values that the source does not have"
    rows = np.bincount(own[recoding.source], recoding.rows, len(table.counts))
    if (rows != table.counts).any():
        return "the recoding does not account for every row of the source"
    return ""


def _values_fault(recoding: TupleRecoding, meanings: Sequence[Meanings], token: CancelToken) -> str:
    """Why a released value does not stand for the one that it replaces; empty where all do."""
    for name, meaning in zip(recoding.attributes, meanings, strict=False):
        token.check()
        known: dict[str, Cover | None] = {}
        for raw, text in recoding.pairs(name):
            if text not in known:
                known[text] = meaning.cover(text)
            cover, place = known[text], meaning.place.get(raw)
            if cover is None or place is None or not cover.holds(place):
                return _wrong_value(text, name)
    for name in recoding.attributes[len(meanings) :]:
        for raw, text in recoding.pairs(name):
            if raw != text:
                return _wrong_value(text, name)
    return ""


def _released(recoding: TupleRecoding, place: int) -> dict[tuple[str, str], int]:
    """How many rows show each text for each value of a column."""
    kept = recoding.target >= 0
    raw = recoding.codes[recoding.source[kept], place]
    shown = recoding.targets[recoding.target[kept], place]
    found: dict[tuple[str, str], int] = {}
    for value, text, rows in zip(
        raw.tolist(), shown.tolist(), recoding.rows[kept].tolist(), strict=True
    ):
        pair = recoding.domains[place][value], recoding.labels[place][text]
        found[pair] = found.get(pair, 0) + rows
    return found


def _cell_checks(manifest: Mapping[str, object], recoding: TupleRecoding) -> list[ClaimCheck]:
    """No more cells of a column, or of one of its values, became ``*`` than the settings allow."""
    parameters, checks = manifest.get("parameters"), []
    for key in ("max_cells", "max_suppression_of"):
        limits = parameters.get(key) if isinstance(parameters, Mapping) else None
        for name, raw in limits.items() if isinstance(limits, Mapping) else ():
            claim = (
                msg("suppressed cells of {column} within their limit", column=name)
                if key == "max_cells"
                else msg(
                    "suppressed cells of each value of {column} within their limit", column=name
                )
            )
            share = None if isinstance(raw, bool | str) else exact_number(raw)
            if share is None or name not in recoding.attributes:
                checks.append(ClaimCheck(claim, _FAILED, "the limit cannot be read", MANIFEST))
                continue
            rows, gone = Counter[str](), Counter[str]()
            for (value, text), n in _released(recoding, recoding.attributes.index(name)).items():
                group = value if key == "max_suppression_of" else ""
                rows[group] += n
                gone[group] += n if text == _STAR != value else 0
            worst = [group for group, n in rows.items() if gone[group] > int(share * n)]
            text = msg("{n:,} of {all:,} cells", n=gone.total(), all=rows.total())
            checks.append(ClaimCheck(claim, _FAILED if worst else _CONFIRMED, text, TABLE))
    return checks


def _level_checks(
    manifest: Mapping[str, object], recoding: TupleRecoding, meanings: Sequence[Meanings]
) -> list[ClaimCheck]:
    """Each cell shows its value at a level that the settings allow; a range lies within one."""
    checks = []
    for place, (name, meaning) in enumerate(zip(recoding.attributes, meanings, strict=False)):
        if (allowed := level_limits(manifest, name)) is None:
            continue
        claim = msg("levels of {column} within their limits", column=name)
        wrong = sum(
            n
            for (value, text), n in _released(recoding, place).items()
            if not meaning.shows(value, text, allowed)
        )
        status = _FAILED if wrong else _CONFIRMED
        text = msg("{n:,} cells at other levels", n=wrong)
        checks.append(ClaimCheck(claim, status, text, TABLE))
    return checks


def _wrong_value(text: str, name: str) -> str:
    return msg(
        ("the released value `{text}` of `{name}` does not cover all the values that it replaces"),
        text=text,
        name=name,
    )


def _table_fault(recoding: TupleRecoding, published: PublishedTable, token: CancelToken) -> str:
    """Why the table does not have the tuples of the recoding; empty where it does."""
    there = published.combinations(recoding.attributes, token)
    columns = []
    for place, texts in enumerate(there.texts):
        index = {text: code for code, text in enumerate(texts)}
        own = [index.get(text, -1) for text in recoding.labels[place]]
        columns.append(np.array(own, np.int64)[recoding.targets[:, place]])
    kept = recoding.target >= 0
    rows = np.bincount(recoding.target[kept], recoding.rows[kept], len(recoding.targets))
    which = _numbered(np.concatenate([there.codes, np.stack(columns, axis=1)]))
    difference = np.concatenate([there.rows.astype(np.float64), -rows])
    if np.bincount(which, difference).any():
        return "the released tuples are not those of the table"
    return ""


def _metric_checks(
    result: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    known: tuple[Sequence[Meanings], Sequence[Told], int],
    token: CancelToken,
) -> list[ClaimCheck]:
    """The figures by their definitions, from the texts of the table; suppressed cells count 1."""
    metrics = result.get("metrics")
    if not isinstance(metrics, Mapping):
        return []
    meanings, told, rows = known
    sizes = published.group_sizes(claimed.quasi_identifiers, token)
    suppressed = rows - published.rows
    found = sizes.sum_of_squares + suppressed * rows
    checks = [settled("metrics, discernibility", metrics.get("discernibility"), found)]
    losses, steps = [], []
    for name, meaning, tells in zip(claimed.quasi_identifiers, meanings, told, strict=True):
        token.check()
        leaves = [meaning.hierarchy.leaves[code] for code in meaning.order.tolist()]
        before = np.cumsum([0, *(leaf in tells.leaves for leaf in leaves)])
        lost = moved = 0
        for text, times in published.value_counts(name, token).items():
            cover = meaning.cover(text)
            if cover is None:
                return [
                    ClaimCheck(
                        GENERALISES,
                        _FAILED,
                        msg("`{text}` of `{name}` means nothing", text=text, name=name),
                    )
                ]
            lost += times * (cover.count(before) - 1)
            moved += times * min(cover.level, tells.height)
        share = lost / (int(before[-1]) - 1) if before[-1] > 1 else 0.0
        losses.append((share + suppressed) / rows)
        steps.append(((moved / tells.height if tells.height else 0.0) + suppressed) / rows)
    loss, step = (math.fsum(each) / len(each) for each in (losses, steps))
    checks.append(settled("metrics, loss", metrics.get("loss"), loss))
    checks.append(settled("metrics, precision", metrics.get("precision"), 1 - step))
    return checks
