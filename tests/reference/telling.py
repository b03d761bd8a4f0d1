"""What columns tell of another, row by row, as one would do it by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = Mapping[str, str]


def nearly(rows: Sequence[Row], target: str, columns: Sequence[str]) -> int:
    """Rows where nine tenths of those with the same ``columns``, two at least, have one value."""
    found = 0
    for row in rows:
        alike = [o[target] for o in rows if all(o[name] == row[name] for name in columns)]
        most = max(alike.count(value) for value in alike)
        found += most > 1 and 10 * most >= 9 * len(alike)
    return found


def told(rows: Sequence[Row], target: str, columns: Sequence[str]) -> tuple[int, int]:
    """Rows whose value is certain, and rows whose value is guessed, from the other rows alone.

    Of each row the other rows with the same values in ``columns`` are looked up. The value is
    certain when there are some and all have it. Somebody guesses the most frequent value of all
    rows with these values (the first by name where several are), and is right for rows that have
    it, if others have it too.
    """
    certain = guessed = 0
    for place, row in enumerate(rows):
        others = [
            other[target]
            for at, other in enumerate(rows)
            if at != place and all(other[name] == row[name] for name in columns)
        ]
        if others and set(others) == {row[target]}:
            certain += 1
        whole = sorted([*others, row[target]])
        guess = max(whole, key=whole.count)
        if row[target] == guess and guess in others:
            guessed += 1
    return certain, guessed
