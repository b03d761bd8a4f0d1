"""What a codebook says of the columns of published microdata, counted in the published table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Variable
from dpdesk.io.missing import NUMBER, user_missing_flags
from dpdesk.io.published import PublishedCsv

CATEGORIES = 200
"""A column with more different values lists only those that have a label or are missing codes.

Of a range of missing codes as many are listed at most.
"""
_PIECES = 32


@dataclass(frozen=True)
class Category:
    """A value with its label and the number of rows that have it."""

    value: str
    label: str
    rows: int
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
    counts = {name: _Counts(one) for name, one in variables.items()}
    for batch in table.batches(table.columns, token):
        for name, counter in counts.items():
            token.check()
            counter.add(batch.column(name))
    return tuple(
        _content(variables[name], counts[name], dict(tops[name].top), tops[name].distinct)
        for name in table.columns
    )


class _Counts:
    """Counts the rows of a column that are empty, declared missing, and numbers.

    Each value that has a label or is declared missing is counted for itself.
    """

    def __init__(self, variable: Variable) -> None:
        self._missing = variable.missing
        self._codes = [*variable.value_labels, *variable.missing.values]
        self._parts: list[Any] = []
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
        if self._codes or self._missing:
            codes = pc.is_in(column, value_set=pa.array(self._codes, pa.string()))
            found = column.filter(pc.or_(codes, declared)).value_counts()
            self._parts.append(pa.table({"v": found.field(0), "n": found.field(1)}))
        if len(self._parts) > _PIECES:
            self._parts = [self._whole()]

    def _whole(self) -> Any:
        import pyarrow as pa

        table = pa.concat_tables(self._parts).group_by("v").aggregate([("n", "sum")])
        return table.select(["v", "n_sum"]).rename_columns(["v", "n"])

    def named(self) -> dict[str, int]:
        """The rows of each value with a label or declared missing, and of codes of a range."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = dict.fromkeys(self._codes, 0)
        if not self._parts:
            return rows
        whole = self._whole()
        known = pc.is_in(whole.column("v"), value_set=pa.array(self._codes, pa.string()))
        others = whole.filter(pc.invert(known))
        tables = [whole.filter(known), *([others] if len(others) <= CATEGORIES else [])]
        for table in tables:
            rows |= zip(table.column("v").to_pylist(), table.column("n").to_pylist(), strict=True)
        return rows


def _true(flags: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(flags).as_py() or 0)


def _content(
    variable: Variable, counts: _Counts, top: Mapping[str, int], distinct: int
) -> ColumnContent:
    invalid = counts.empty + counts.declared
    valid = counts.rows - invalid
    numeric = valid > 0 and counts.numbers == valid
    listed = counts.named()
    if distinct <= CATEGORIES and (variable.value_labels or not numeric):
        listed |= {value: rows for value, rows in top.items() if value}
    ordered = sorted(listed, key=_place)
    return ColumnContent(
        variable, valid, invalid, counts.declared, numeric, tuple(_named(variable, ordered, listed))
    )


def _named(variable: Variable, ordered: list[str], rows: Mapping[str, int]) -> Iterator[Category]:
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
