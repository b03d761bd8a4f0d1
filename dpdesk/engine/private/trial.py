"""A look at the data before a budget is spent: which rows lie outside the declared categories.

It is no part of a release. What it finds depends on single rows, so it stays inside, and what
somebody decides after it (to change the categories, or not to publish) is not covered by ε.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpdesk.core.frequency import FrequencySource, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.private.declared import DeclaredDimension, DeclaredDomain

MOST_VALUES = 3
_MOVED_AT_MOST = Fraction(1, 2)


def too_many(outside: int, rows: int, limit: Fraction, *, moved: bool) -> bool:
    """Whether so many of the rows outside the categories of a column are beyond ``limit``.

    Rows that are ``moved`` to a category that was declared for all other values are expected, but
    where they are more than half of all rows the other categories miss most people.
    """
    if moved:
        limit = max(limit, _MOVED_AT_MOST)
    return rows > 0 and Fraction(outside, rows) > limit


@dataclass(frozen=True)
class OutsideRows:
    """Rows whose value in a column is none of its declared categories.

    ``taker`` is the category that takes them, empty where the rows are left out; ``values`` are the
    most frequent of these texts with their rows.
    """

    column: str
    categories: int
    rows: int
    taker: str = ""
    values: tuple[tuple[str, int], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class OutsideFound:
    """``rows`` of the source, of which ``left_out`` would be in no table; by column, in order."""

    rows: int
    left_out: int
    columns: tuple[OutsideRows, ...]


def find_outside(
    source: FrequencySource, declared: DeclaredDomain, token: CancelToken
) -> OutsideFound:
    """Count the rows outside the categories of each dimension, and those left out by any.

    Rows beyond the bound of a person, and without one, are not looked for. Raises Cancelled.
    """
    columns: list[OutsideRows] = []
    lost: dict[str, tuple[str, ...]] = {}
    for dimension in declared.dimensions:
        token.check()
        found, texts = _outside(source, dimension, token)
        columns.append(found)
        if dimension.outside is None and texts:
            lost[dimension.name] = texts
    kept = source.restricted(RowRule(lost), token).rows if lost else source.rows
    return OutsideFound(source.rows, source.rows - kept, tuple(columns))


def _outside(
    source: FrequencySource, dimension: DeclaredDimension, token: CancelToken
) -> tuple[OutsideRows, tuple[str, ...]]:
    table = source.frequency_table([dimension.name], token)
    texts = table.domains[0]
    per_text = np.bincount(table.codes[:, 0], weights=table.counts, minlength=len(texts))
    strange = np.flatnonzero(~dimension.belongs(texts, table.missing_of(0)))
    frequent = strange[np.argsort(-per_text[strange], kind="stable")][:MOST_VALUES]
    taker = "" if dimension.outside is None else dimension.categories[dimension.outside]
    found = OutsideRows(
        dimension.name,
        len(dimension.categories),
        int(per_text[strange].sum()),
        taker,
        tuple((texts[place], int(per_text[place])) for place in frequent),
    )
    return found, tuple(texts[place] for place in strange.tolist())
