"""Notes about numbers that are no moments, or stay numbers although they mean a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpdesk.core.labels import Kind, Variable
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.table import Notes

_PERIODS = {"%tw": "weeks", "%tm": "months", "%tq": "quarters", "%th": "half-years"}
"""What columns of Stata count since 1960 by the beginning of their display format."""
_LEAP = "%tC"


def note_periods(notes: Notes, variables: Sequence[Variable], file_format: str) -> None:
    """Note columns of Stata that count weeks to half-years, or seconds with leap seconds."""
    for variable in variables if file_format == "dta" else ():
        start = variable.format.replace("%-", "%")[:3]
        what = "milliseconds with leap seconds" if start == _LEAP else _PERIODS.get(start)
        if what is not None:
            notes.add(
                f"period {variable.name}",
                f"Column `{variable.name}` counts {what} since 1960 ({variable.format}); it is "
                "read as that number.",
            )


def without_ranges(notes: Notes, variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """The variables without ranges of missing dates, which are noted: ranges are of numbers."""
    found = []
    for variable in variables:
        missing = variable.missing
        if missing.low is not None and variable.kind is not Kind.NUMBER:
            variable = replace(variable, missing=replace(missing, low=None, high=None))
            notes.add(
                f"range {variable.name}",
                f"Column `{variable.name}`: the range of missing dates or times is not taken over; "
                "its values stay ordinary values.",
            )
        found.append(variable)
    return tuple(found)


def note_strange(notes: Notes, variable: Variable, numbers: Any, strange: Any, start: int) -> None:
    """Note the first of the numbers marked as ``strange``, and how many there are.

    ``start`` is the number of rows above those of ``numbers``.
    """
    places = np.flatnonzero(strange)
    if not len(places):
        return
    first = int(places[0])
    what = {Kind.TIME: "time of a day"}.get(variable.kind, "date of the years 1 to 9999")
    notes.add(
        f"strange {variable.name}",
        f"Row {start + first + 1:,}, column `{variable.name}`: the number "
        f"{number_text(numbers[first])} is no {what}; it is kept as a number.",
        len(places),
    )


def note_rounded(notes: Notes, variable: Variable, numbers: Any, finer: Any, start: int) -> None:
    """Note the first of the numbers marked as ``finer`` than a microsecond; see above."""
    places = np.flatnonzero(finer)
    if len(places):
        first = int(places[0])
        notes.add(
            f"finer {variable.name}",
            f"Row {start + first + 1:,}, column `{variable.name}`: the number "
            f"{number_text(numbers[first])} is a moment finer than a microsecond; it is read to "
            "the microsecond.",
            len(places),
        )
