"""What columns tell of another, row by row, as one would do it by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = Mapping[str, str]


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
