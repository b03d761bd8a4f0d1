"""Swapped households, one after the other: which change places, and what is wrong with a swap."""

from __future__ import annotations

from collections.abc import Sequence

Codes = Sequence[int]
Household = list[int]
"""Its rows."""


def households(codes: Codes) -> list[Household]:
    """The rows with the same code, in the order of their first rows."""
    found: dict[int, Household] = {}
    for row, code in enumerate(codes):
        found.setdefault(code, []).append(row)
    return list(found.values())


def kind(rows: Household, marks: Sequence[Codes]) -> tuple[tuple[int, ...], ...]:
    """What members have in the columns of ``marks``, in no order."""
    return tuple(sorted(tuple(column[row] for column in marks) for row in rows))


def partners(
    order: Sequence[int], kinds: Sequence[object], places: Codes, most: int
) -> list[set[int]]:
    """Each household of the order, if it is free, with the first free one of its kind elsewhere."""
    found: list[set[int]] = []
    used: set[int] = set()
    for one in order:
        if len(found) == most:
            break
        if one in used:
            continue
        for other in order:
            fits = kinds[other] == kinds[one] and places[other] != places[one]
            if other not in used and other != one and fits:
                found.append({one, other})
                used |= {one, other}
                break
    return found


def fault(
    all_rows: Sequence[Household],
    taken: Codes,
    places: Sequence[Codes],
    marks: Sequence[Codes],
    stays: Sequence[bool],
    most: int,
) -> str:
    """What is wrong: "one other", "match", "swaps" or nothing; by the rows of each household."""
    of = {row: rows for rows in all_rows for row in rows}
    moved = [rows for rows in all_rows if any(taken[row] != row for row in rows)]
    for rows in moved:
        sources = {taken[row] for row in rows}
        other = of[next(iter(sources))]
        back = {taken[row] for row in other}
        if len(sources) > 1 or len(back) > 1 or not back <= set(rows):
            return "one other"
        here, there = ([column[each[0]] for column in places] for each in (rows, other))
        if kind(rows, marks) != kind(other, marks) or here == there:
            return "match"
    if len(moved) // 2 > most:
        return "swaps"
    left: dict[object, set[tuple[int, ...]]] = {}
    for rows in all_rows:
        if rows not in moved and not any(stays[row] for row in rows):
            place = tuple(column[rows[0]] for column in places)
            left.setdefault(kind(rows, marks), set()).add(place)
    could = any(len(found) > 1 for found in left.values())
    return "swaps" if len(moved) // 2 < most and could else ""
