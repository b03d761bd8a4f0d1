"""Sampled and swapped rows against the source: whole households, matched ones, as many as asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue, exact_number
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import RowEdit
from dpdesk.verifiers.tables.source import Given, plain_of

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
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
    held = _Held.in_source(given, token)
    fault = _sampled(held, edit, sample)
    return fault or _swapped(given, held, edit, swap, token)


def _share(parameters: Mapping[str, ParameterValue]) -> Fraction | None:
    share = parameters.get("sample")
    return Fraction(share) if isinstance(share, int | Fraction) and share != 1 else None


@dataclass(frozen=True, eq=False)
class _Held:
    """Households: the one of each row, and the first row and the size of each."""

    of: Ints
    first: Ints
    size: Ints

    @classmethod
    def of_rows(cls, codes: Ints) -> _Held:
        """Rows with the same code, in the order of their first rows."""
        _, first, inverse, size = np.unique(
            codes, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return cls(place[inverse.ravel()], first[order], size[order])

    @classmethod
    def in_source(cls, given: Given, token: CancelToken) -> _Held:
        """The households of a source; each row by itself where nothing says."""
        held = next((name for name, role in given.roles.items() if role is Role.CLUSTER), None)
        if held is None:
            return cls.of_rows(np.arange(given.source.rows))
        (column,) = given.source.coded_columns([held], token)
        return cls.of_rows(column.codes.astype(np.int64))

    def any(self, rows: Flags) -> Flags:
        """The households of which some row is one of these."""
        found = np.zeros(len(self.first), dtype=bool)
        found[self.of[rows]] = True
        return found


def _nearest(share: Fraction) -> int:
    return math.floor(share + _HALF)


def _sampled(held: _Held, edit: RowEdit, sample: Fraction | None) -> str:
    """What is wrong with the sample."""
    if sample is None:
        return "" if edit.kept.all() else "rows are left out, and the plan has no sample"
    inside = np.bincount(held.of[edit.kept], minlength=len(held.first))
    if ((inside > 0) & (inside < held.size)).any():
        return "a household is in the sample in part"
    wanted, found = _nearest(sample * len(held.first)), int((inside > 0).sum())
    if found != wanted:
        return msg("{found:,} rows or households, expected {wanted:,}", found=found, wanted=wanted)
    return ""


def _swapped(
    given: Given, held: _Held, edit: RowEdit, swap: Swaps | None, token: CancelToken
) -> str:
    """What is wrong with the swaps."""
    moved = held.any(edit.taken != np.arange(len(edit.taken)))
    if swap is None:
        return "rows are swapped, and the plan swaps none" if moved.any() else ""
    columns = tuple(map(str, as_list(swap["columns"])))
    if edit.columns != columns:
        return "other columns are exchanged than those of the plan"
    exchanged = given.source.coded_columns(columns, token)
    matched = given.source.coded_columns(list(map(str, as_list(swap.get("match", [])))), token)
    place = _alike([one.codes[held.first] for one in exchanged], len(held.first), token)
    kind = _members(held, _alike([one.codes for one in matched], len(held.of), token), token)
    fault = _unmatched(held, edit.taken, moved, place, kind)
    if fault:
        return fault
    share = exact_number(swap["share"]) or Fraction(0)
    most, found = _nearest(share / 2 * len(held.first)), int(moved.sum()) // 2
    if found > most:
        return msg("{found:,} swaps, expected {wanted:,}", found=found, wanted=most)
    missing = [np.isin(one.codes, sorted(one.missing)) for one in exchanged]
    left = ~moved & ~held.any(np.any(missing, axis=0))
    pairs = np.unique(np.stack([kind[left], place[left]]), axis=1)
    if found < most and (np.diff(pairs[0]) == 0).any():
        return msg("{found:,} swaps, expected {wanted:,}", found=found, wanted=most)
    return ""


def _unmatched(held: _Held, taken: Ints, moved: Flags, place: Ints, kind: Ints) -> str:
    """The first household that did not change places with one that matches."""
    least, most = np.full((2, len(held.first)), -1)
    least[:] = len(taken)
    np.minimum.at(least, held.of, taken)
    np.maximum.at(most, held.of, taken)
    other = held.of[least]
    mutual = (least == most) & (least[other] == most[other])
    mutual &= held.of[least[other]] == np.arange(len(other))
    fits = (kind == kind[other]) & (place != place[other])
    wrong = np.flatnonzero(moved & ~(mutual & fits))
    if not wrong.size:
        return ""
    row = int(held.first[wrong[0]]) + 1
    if not mutual[wrong[0]]:
        return msg("row {row}: its household did not change with one other", row=row)
    return msg("row {row}: it changed with one that does not match", row=row)


def _alike(columns: Sequence[Ints], count: int, token: CancelToken) -> Ints:
    """A number for each row that rows with the same values share."""
    found = np.zeros(count, dtype=np.int64)
    for codes in columns:
        token.check()
        both = np.stack([found, codes.astype(np.int64)])
        order = np.lexsort(both)
        new = (np.diff(both[:, order], axis=1) != 0).any(axis=0)
        found[order] = np.concatenate([np.zeros(min(count, 1), np.int64), np.cumsum(new)])
    return found


def _members(held: _Held, kind: Ints, token: CancelToken) -> Ints:
    """A number for each household that those with members of the same kinds share."""
    order = np.lexsort((kind, held.of))
    start = np.cumsum(held.size) - held.size
    found, seen = np.zeros(len(held.first), dtype=np.int64), 0
    for size in np.unique(held.size).tolist():
        same = np.flatnonzero(held.size == size)
        columns = [kind[order[start[same] + member]] for member in range(size)]
        found[same] = _alike(columns, len(same), token) + seen
        seen += len(same)
    return found
