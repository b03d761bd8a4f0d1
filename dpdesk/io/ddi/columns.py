"""What a codebook says of the columns of published microdata, counted in the published table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, UserMissing, Variable
from dpdesk.io.missing import NUMBER, user_missing_flags
from dpdesk.io.published import PublishedCsv

CATEGORIES = 200
"""A column with more different values lists only those that have a label or are missing codes."""


@dataclass(frozen=True)
class Category:
    """A value with its label and the number of rows that have it; None where it was not counted."""

    value: str
    label: str
    rows: int | None
    missing: bool


@dataclass(frozen=True)
class ColumnContent:
    """A column of the published table: its words, and rows with and without a valid value.

    ``user_missing`` are the rows of ``invalid`` with a declared missing code; the others are empty.
    ``numeric`` says that every valid value is a number.
    """

    variable: Variable
    valid: int
    invalid: int
    user_missing: int
    numeric: bool
    categories: tuple[Category, ...]


def column_contents(
    table: PublishedCsv, book: Codebook, token: CancelToken
) -> tuple[ColumnContent, ...]:
    """Read the table twice: for the values, and for what is missing. Raises Cancelled."""
    tops = table.top_values(CATEGORIES + 1, token)
    variables = {name: book.get(name) or Variable(name) for name in table.columns}
    counts = {name: _Counts(one.missing) for name, one in variables.items()}
    for batch in table.batches(table.columns, token):
        for name, counter in counts.items():
            token.check()
            counter.add(batch.column(name))
    return tuple(
        _content(variables[name], counts[name], dict(tops[name].top), tops[name].distinct)
        for name in table.columns
    )


class _Counts:
    """Counts the rows of a column that are empty, declared missing, and numbers."""

    def __init__(self, missing: UserMissing) -> None:
        self._missing = missing
        self.rows = self.empty = self.declared = self.numbers = 0

    def add(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        number = pc.match_substring_regex(column, NUMBER)
        declared = user_missing_flags(column, self._missing)
        valid_number = pc.and_not(number, declared)
        self.rows += len(column)
        self.empty += _true(pc.equal(column, pa.scalar("")))
        self.declared += _true(pc.and_not(declared, pc.equal(column, pa.scalar(""))))
        self.numbers += _true(valid_number)


def _true(flags: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(flags).as_py() or 0)


def _content(
    variable: Variable, counts: _Counts, top: Mapping[str, int], distinct: int
) -> ColumnContent:
    invalid = counts.empty + counts.declared
    valid = counts.rows - invalid
    numeric = valid > 0 and counts.numbers == valid
    listed = {code: top.get(code) for code in variable.value_labels}
    listed |= {code: top.get(code) for code in variable.missing.values}
    if distinct <= CATEGORIES:
        listed = dict.fromkeys(listed, 0)
        if variable.value_labels or not numeric:
            listed |= {value: rows for value, rows in top.items() if value}
        else:
            held = variable.missing.holds
            listed |= {v: rows for v, rows in top.items() if v in listed or (v and held(v))}
    ordered = sorted(listed, key=_place)
    return ColumnContent(
        variable, valid, invalid, counts.declared, numeric, tuple(_named(variable, ordered, listed))
    )


def _named(
    variable: Variable, ordered: list[str], rows: Mapping[str, int | None]
) -> Iterator[Category]:
    for value in ordered:
        label = variable.value_labels.get(value, "")
        yield Category(value, label, rows[value], variable.missing.holds(value))


def _place(value: str) -> tuple[int, float, str]:
    """Numbers first, by size; then texts by code point."""
    try:
        number = float(value)
    except ValueError:
        return 1, 0.0, value
    return (0, number, value) if number == number else (1, 0.0, value)
