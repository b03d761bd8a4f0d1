"""Sampled and swapped rows against the source: whole households, matched ones, as many as asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue, exact_number
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import RowEdit
from dpdesk.verifiers.tables.source import Given, plain_of

_HALF = Fraction(1, 2)
EVIDENCE = "internal/evidence.json"
Swaps = Mapping[str, object]


CLAIM = "rows that were sampled and swapped"


def edited_by(parameters: Mapping[str, ParameterValue]) -> bool:
    """Whether a plan counts other rows than those of its source as they are."""
    return _share(parameters) is not None or parameters.get("swap") is not None


def edit_check(given: Given, edit: RowEdit | None, token: CancelToken) -> ClaimCheck:
    """The check of :func:`other_edit`."""
    fault = other_edit(given, edit, token)
    if fault:
        return ClaimCheck(CLAIM, CheckStatus.FAILED, fault, EVIDENCE)
    found = "they are whole households, matched where they are swapped, and as many as asked"
    return ClaimCheck(CLAIM, CheckStatus.CONFIRMED, found, EVIDENCE)


def other_edit(given: Given, edit: RowEdit | None, token: CancelToken) -> str:
    """What is wrong with the rows that were counted, by the plan; empty: nothing.

    With which keys rows were drawn nobody can see: any sample of the right size fits, and any swaps
    that match.
    """
    raw, sample = plain_of(given, "swap"), _share(given.parameters)
    swap = as_table(raw) if isinstance(raw, Mapping) else None
    if edit is None:
        return "" if sample is None and swap is None else "it is not told which rows were counted"
    if len(edit.kept) != given.source.rows:
        return "they are those of another source"
    units = _units(given, token)
    fault = _sampled(units, edit, sample)
    return fault or _swapped(given, units, edit, swap, token)


def _share(parameters: Mapping[str, ParameterValue]) -> Fraction | None:
    share = parameters.get("sample")
    return Fraction(share) if isinstance(share, int | Fraction) and share != 1 else None


def _units(given: Given, token: CancelToken) -> list[list[int]]:
    """The rows of each household; each row by itself where nothing says."""
    held = next((name for name, role in given.roles.items() if role is Role.CLUSTER), None)
    if held is None:
        return [[row] for row in range(given.source.rows)]
    (column,) = given.source.coded_columns([held], token)
    found: dict[int, list[int]] = {}
    for row, code in enumerate(column.codes.tolist()):
        found.setdefault(code, []).append(row)
    return list(found.values())


def _nearest(share: Fraction) -> int:
    return math.floor(share + _HALF)


def _sampled(units: list[list[int]], edit: RowEdit, sample: Fraction | None) -> str:
    """What is wrong with the sample."""
    if sample is None:
        return "" if edit.kept.all() else "rows are left out, and the plan has no sample"
    inside = [edit.kept[rows] for rows in units]
    if any(each.any() and not each.all() for each in inside):
        return "a household is in the sample in part"
    wanted, found = _nearest(sample * len(units)), sum(bool(each[0]) for each in inside)
    if found != wanted:
        return msg("{found:,} rows or households, expected {wanted:,}", found=found, wanted=wanted)
    return ""


def _swapped(
    given: Given, units: list[list[int]], edit: RowEdit, swap: Swaps | None, token: CancelToken
) -> str:
    """What is wrong with the swaps."""
    moved = [rows for rows in units if any(edit.taken[row] != row for row in rows)]
    if swap is None:
        return "rows are swapped, and the plan swaps none" if moved else ""
    columns = tuple(map(str, as_list(swap["columns"])))
    if edit.columns != columns:
        return "other columns are exchanged than those of the plan"
    exchanged = given.source.coded_columns(columns, token)
    matched = given.source.coded_columns(list(map(str, as_list(swap.get("match", [])))), token)

    def place(rows: list[int]) -> tuple[int, ...]:
        return tuple(int(one.codes[rows[0]]) for one in exchanged)

    def kind(rows: list[int]) -> tuple[tuple[int, ...], ...]:
        return tuple(sorted(tuple(int(one.codes[row]) for one in matched) for row in rows))

    of_row = {row: rows for rows in units for row in rows}
    for rows in moved:
        (source, *others) = {int(edit.taken[row]) for row in rows}
        other = of_row[source]
        back = {int(edit.taken[row]) for row in other}
        if others or not back <= {*rows} or len(back) > 1:
            return msg("row {row}: its household did not change with one other", row=rows[0] + 1)
        if kind(rows) != kind(other) or place(rows) == place(other):
            return msg("row {row}: it changed with one that does not match", row=rows[0] + 1)
    share = exact_number(swap["share"]) or Fraction(0)
    most, found = _nearest(share / 2 * len(units)), len(moved) // 2
    if found > most:
        return msg("{found:,} swaps, expected {wanted:,}", found=found, wanted=most)
    gone = {id(rows) for rows in moved}
    left: dict[object, Counter[tuple[int, ...]]] = {}
    for rows in units:
        free = not any(int(one.codes[row]) in one.missing for one in exchanged for row in rows)
        if free and id(rows) not in gone:
            left.setdefault(kind(rows), Counter())[place(rows)] += 1
    if found < most and any(len(places) > 1 for places in left.values()):
        return msg("{found:,} swaps, expected {wanted:,}", found=found, wanted=most)
    return ""
