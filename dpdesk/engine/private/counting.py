"""Counting for a release with noise: the one place where a private release looks at the data.

The frequency table comes in codes of whatever occurs; here each text gets its place in the declared
domain, rows that belong nowhere go, and the rows of a person are cut to the bound that the noise
covers. Nothing here fails, warns or takes another path because of what the data hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.private.declared import DeclaredDomain
from dpdesk.engine.private.kinds import Measure, grid_steps

Integers = NDArray[np.int64]
_PIECE = 1 << 18


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows of the source by their cell of the declared domain.

    ``codes`` has shape (tuples, dimensions), int64, places in the domain; ``counts`` (tuples,) are
    rows; ``steps`` (tuples,) is the value of each row in grid steps for a sum, 1 for a count.
    ``facts`` tell what was moved or left out: internal.
    """

    shape: tuple[int, ...]
    codes: Integers = field(repr=False)
    counts: Integers = field(repr=False)
    steps: Integers = field(repr=False)
    facts: Mapping[str, object]

    def totals(self, places: Sequence[int], token: CancelToken) -> Integers:
        """Exact totals over some dimensions, by their places, in grid steps; of their shape."""
        shape = tuple(self.shape[i] for i in places)
        totals = np.zeros(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
        amounts = self.counts * self.steps
        for start in range(0, len(amounts), _PIECE):
            token.check()
            piece = slice(start, start + _PIECE)
            index = np.zeros(len(amounts[piece]), dtype=np.int64)
            for i in places:
                index = index * self.shape[i] + self.codes[piece, i]
            np.add.at(totals, index, amounts[piece])
        return totals.reshape(shape)


def place_rows(
    source: FrequencySource,
    declared: DeclaredDomain,
    measure: Measure,
    cluster: str | None,
    rows_per_person: int,
    token: CancelToken,
    counted: DeclaredDomain | None = None,
) -> PlacedRows:
    """Count the source into the declared domain.

    ``counted`` are the dimensions whose categories decide which rows count, and by whose texts the
    rows of a person are ordered before they are cut; None: those of ``declared``.

    With ``cluster``, at most ``rows_per_person`` rows of each of its values are kept, by an order
    that depends on nothing but the person's own rows; rows without a value there are left out, for
    nobody knows whose they are: cut together, one person's row would bring another's in or out.
    Raises Cancelled.
    """
    if counted is not None:
        kept_rows, facts = counted_rows(source, counted, measure, cluster, rows_per_person, token)
        placed = place_rows(kept_rows, declared, measure, None, rows_per_person, token)
        return replace(placed, facts={**placed.facts, **facts})
    names = [each.name for each in declared.dimensions]
    wanted = ([cluster] if cluster else []) + names + ([measure.column] if measure.column else [])
    table = source.frequency_table(wanted, token)
    token.check()
    first = 1 if cluster else 0
    codes, facts = _placed(table, declared, first)
    steps, unreadable = _steps(table, measure, first + len(names))
    inside = (codes >= 0).all(axis=1)
    counts = np.where(inside, table.counts, 0)
    facts["rows_left_out"] = int(table.counts[~inside].sum())
    if measure.column:
        facts["values_that_are_no_numbers"] = unreadable
    if cluster:
        known = ~np.isin(table.codes[:, 0], sorted(table.missing[0] if table.missing else ()))
        facts["rows_without_a_person"] = int(counts[~known].sum())
        counts = np.where(known, counts, 0)
        kept = _bounded(table.codes[:, 0], counts, rows_per_person)
        facts["rows_beyond_the_bound"] = int((counts - kept).sum())
        counts = kept
    taken = counts > 0
    shape = declared.domain.shape
    return PlacedRows(shape, codes[taken], counts[taken], steps[taken], facts)


def counted_rows(
    source: FrequencySource,
    counted: DeclaredDomain,
    measure: Measure,
    cluster: str | None,
    rows_per_person: int,
    token: CancelToken,
) -> tuple[FrequencySource, dict[str, object]]:
    """The rows that a cube of all these dimensions would count, and facts for the evidence.

    They are chosen where they lie: no table of all the dimensions is made. Raises Cancelled.
    """
    outside: dict[str, int] = {}
    lost: dict[str, tuple[str, ...]] = {}
    for dimension in counted.dimensions:
        table = source.frequency_table([dimension.name], token)
        strange = ~dimension.belongs(table.domains[0], table.missing_of(0))
        if strange.any():
            outside[dimension.name] = int(table.counts[strange[table.codes[:, 0]]].sum())
        places = np.flatnonzero(strange).tolist()
        if places and dimension.outside is None:
            lost[dimension.name] = tuple(table.domains[0][place] for place in places)
    kept = source.restricted(RowRule(lost), token) if lost else source
    facts: dict[str, object] = {
        "rows_with_values_outside_the_domain": outside,
        "rows_left_out": source.rows - kept.rows,
    }
    if cluster is None:
        return kept, facts
    order = tuple(each.name for each in counted.dimensions)
    order += (measure.column,) if measure.column else ()
    known = source.restricted(RowRule(lost, cluster), token)
    cut = source.restricted(RowRule(lost, cluster, order, rows_per_person), token)
    facts["rows_without_a_person"] = kept.rows - known.rows
    facts["rows_beyond_the_bound"] = known.rows - cut.rows
    return cut, facts


def _placed(
    table: FrequencyTable, declared: DeclaredDomain, first: int
) -> tuple[Integers, dict[str, object]]:
    codes = np.empty((len(table.counts), len(declared.dimensions)), dtype=np.int64)
    outside: dict[str, int] = {}
    for j, dimension in enumerate(declared.dimensions):
        texts, missing = table.domains[first + j], table.missing_of(first + j)
        column = table.codes[:, first + j]
        codes[:, j] = dimension.codes(texts, missing)[column] if texts else 0
        strange = ~dimension.belongs(texts, missing)
        if strange.any():
            outside[dimension.name] = int(table.counts[strange[column]].sum())
    return codes, {"rows_with_values_outside_the_domain": outside}


def _steps(table: FrequencyTable, measure: Measure, column: int) -> tuple[Integers, int]:
    """The clipped value of each tuple in grid steps, and the rows that have no number there.

    A missing value is none, also where it is written as one: 99 for "refused" is nobody's income.
    """
    if not measure.column:
        return np.ones(len(table.counts), dtype=np.int64), 0
    gone = table.missing_of(column)
    values = [
        None if code in gone else grid_steps(text, measure)
        for code, text in enumerate(table.domains[column])
    ]
    unread = np.array([value is None for value in values], dtype=bool)
    steps = np.array([value or 0 for value in values], dtype=np.int64)
    place = table.codes[:, column]
    if not values:
        return np.zeros(len(place), dtype=np.int64), 0
    return steps[place], int(table.counts[unread[place]].sum())


def _bounded(persons: NDArray[np.int32], counts: Integers, bound: int) -> Integers:
    """Counts cut to ``bound`` rows for each person, whose tuples stand together.

    The frequency table is sorted by its codes, the person first, and the codes of a column are in
    the order of their texts: which rows stay depends on that person's own rows alone.
    """
    if not len(persons):
        return counts
    if (persons[1:] < persons[:-1]).any():
        raise ValueError("the frequency table is not sorted by its first attribute")
    starts = np.flatnonzero(np.concatenate(([True], persons[1:] != persons[:-1])))
    sizes = np.diff(np.append(starts, len(persons)))
    before = np.cumsum(counts) - counts
    own = before - np.repeat(before[starts], sizes)
    kept: Integers = np.clip(bound - own, 0, counts).astype(np.int64)
    return kept
