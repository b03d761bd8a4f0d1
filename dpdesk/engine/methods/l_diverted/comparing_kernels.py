"""Compiled counts of rows that match predicates."""

from __future__ import annotations

from typing import Any

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def count_matching(columns: Array, wanted: Array, values: Array, found: Array) -> None:
    """Add up, for each predicate, the matching rows by value.

    ``columns`` has shape (columns, rows), ``wanted`` (predicates, columns) with −1 for "any",
    ``values`` (rows, per row): each row counts once for each of its values, in ``found`` of shape
    (predicates, V).
    """
    for query in range(len(wanted)):
        for row in range(columns.shape[1]):
            matches = True
            for column in range(len(columns)):
                want = wanted[query, column]
                if want >= 0 and columns[column, row] != want:
                    matches = False
                    break
            if matches:
                for i in range(values.shape[1]):
                    found[query, values[row, i]] += 1
