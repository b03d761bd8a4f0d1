"""Notes about numbers that are no moments, or stay numbers although they mean a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpdesk.core.labels import Kind, Variable
from dpdesk.core.messages import msg
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.table import Notes, listed

_PERIODS = {"%tw": "weeks", "%tm": "months", "%tq": "quarters", "%th": "half-years"}
"""What columns of Stata count since 1960 by the beginning of their display format."""
_LEAP, _BUSINESS = "%tC", "%tb"


def note_periods(notes: Notes, variables: Sequence[Variable], file_format: str) -> None:
    """Note columns of Stata that count weeks to half-years, or seconds with leap seconds."""
    for variable in variables if file_format == "dta" else ():
        start = variable.format.replace("%-", "%")[:3]
        what = "milliseconds with leap seconds" if start == _LEAP else _PERIODS.get(start)
        if start == _BUSINESS:
            notes.add(
                f"period {variable.name}",
                msg(
                    "Column `{name}` counts days of a business calendar ({format}); it is read "
                    "as that number.",
                    name=variable.name,
                    format=variable.format,
                ),
            )
        if what is not None:
            notes.add(
                f"period {variable.name}",
                msg(
                    "Column `{name}` counts {what} since 1960 ({format}); it is read as that "
                    "number.",
                    name=variable.name,
                    what=what,
                    format=variable.format,
                ),
            )


def note_absent_labels(named: Mapping[str, str], sets: Mapping[str, object], notes: Notes) -> None:
    """Note columns of Stata whose set of value labels the file lacks, and sets of no column.

    ``named`` holds the name of the set by column, ``sets`` those that the file has.
    """
    lacking = [name for name, one in named.items() if one and one not in sets]
    if lacking:
        notes.add(
            "labels",
            msg(
                "The file does not contain the value labels of {listed}, although it names "
                "them; the values are read without them.",
                listed=listed(lacking),
            ),
        )
    idle = [one for one in sets if one not in named.values()]
    if idle:
        notes.add(
            "idle labels",
            msg(
                "The value labels called {listed} belong to no column; they are left out.",
                listed=listed(idle),
            ),
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
                msg(
                    "Column `{name}`: the range of missing dates or times is not taken over; "
                    "its values stay ordinary values.",
                    name=variable.name,
                ),
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
        msg(
            "Row {start:,}, column `{name}`: the number {numbers} is not a {what}; it "
            "is kept as a number.",
            start=start + first + 1,
            name=variable.name,
            numbers=number_text(numbers[first]),
            what=what,
        ),
        len(places),
    )


def outside_sentence(row: int, name: str, text: str) -> str:
    """The note on the first date of a column that is told with other years than 1 to 9999."""
    return msg(
        "Row {row:,}, column `{name}`: the value {text} is not a date of the years 1 to 9999; "
        "it is kept as this text.",
        row=row,
        name=name,
        text=text,
    )


def finer_sentence(row: int, name: str) -> str:
    """The note on the first moment of a column of moments that has nanoseconds."""
    return msg(
        "Row {row:,}, column `{name}`: the timestamp is finer than a microsecond; it is read "
        "to the microsecond.",
        row=row,
        name=name,
    )


def note_outside(notes: Notes, name: str, texts: Any, start: int) -> None:
    """Note the first of the ``texts`` of dates (Arrow) with other years; see above."""
    import pyarrow.compute as pc

    other = pc.not_equal(pc.utf8_slice_codeunits(texts, 4, 5), "-")
    odd = pc.or_(other, pc.match_substring(texts, "BC"))
    places = np.flatnonzero(pc.and_(odd, pc.not_equal(texts, "")).fill_null(False))
    if len(places):
        first = int(places[0])
        sentence = outside_sentence(start + first + 1, name, texts[first].as_py())
        notes.add(f"outside {name}", sentence, len(places))


def note_rounded(notes: Notes, variable: Variable, numbers: Any, finer: Any, start: int) -> None:
    """Note the first of the numbers marked as ``finer`` than a microsecond; see above."""
    places = np.flatnonzero(finer)
    if len(places):
        first = int(places[0])
        notes.add(
            f"finer {variable.name}",
            msg(
                "Row {row:,}, column `{name}`: the number {value} is a timestamp finer than a "
                "microsecond; it is read to the microsecond.",
                row=start + first + 1,
                name=variable.name,
                value=number_text(numbers[first]),
            ),
            len(places),
        )
