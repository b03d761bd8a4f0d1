"""How SPSS shows days, periods and times: the format of a column, kept where it came from SPSS.

A format is three bytes of a number: its type, its width, its decimals (PSPP developers' guide,
"Variable Record"). The least widths are those of the PSPP manual, "Time and Date Formats".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpdesk.core.labels import Kind
from dpdesk.io.formats.outcolumns import OutColumn

_GIVEN = re.compile(r"([A-Z]+)(\d+)(?:\.(\d+))?")
_WIDEST, _DECIMALS = 40, 2


@dataclass(frozen=True)
class _Format:
    """Its number in the file, the width that shows all of it, the least width."""

    code: int
    width: int
    least: int


_DATES = {
    "DATE": _Format(20, 11, 9),
    "ADATE": _Format(23, 10, 8),
    "JDATE": _Format(24, 7, 5),
    "MOYR": _Format(28, 8, 6),
    "QYR": _Format(29, 8, 6),
    "WKYR": _Format(30, 10, 8),
    "EDATE": _Format(38, 10, 8),
    "SDATE": _Format(39, 10, 8),
}
_DATETIMES = {"DATETIME": _Format(22, 20, 17), "YMDHMS": _Format(41, 19, 16)}
_TIMES = {"TIME": _Format(21, 8, 5), "MTIME": _Format(40, 8, 5)}
_NUMBERS = {
    "DTIME": _Format(25, 12, 8),
    "WKDAY": _Format(26, 9, 2),
    "MONTH": _Format(27, 9, 3),
}
_BY_KIND = {
    Kind.DATE: (_DATES, "SDATE"),
    Kind.DATETIME: (_DATETIMES, "DATETIME"),
    Kind.TIME: (_TIMES, "TIME"),
    Kind.NUMBER: (_NUMBERS, ""),
}
_SECONDS = {"DTIME": 11, "MTIME": 5}
"""The least width that shows seconds, where it is not the one that shows all."""
_WHOLE = ("DATE", "ADATE", "JDATE", "MOYR", "QYR", "WKYR", "EDATE", "SDATE", "WKDAY", "MONTH")
"""Formats without decimals."""


def has_calendar(column: OutColumn) -> bool:
    """Whether the numbers of a column are shown as days, periods or times."""
    return column.kind is not Kind.NUMBER or _given(column)[0] in _NUMBERS


def calendar_display(column: OutColumn) -> int:
    """The format of such a column as the dictionary has it: the one that it had, if SPSS has it."""
    known, usual = _BY_KIND[column.kind]
    name, width, decimals = _given(column)
    if name not in known:
        name, width, decimals = usual, 0, 0
    found = known[name]
    # Lettered missing values are those of SAS and Stata, whose widths mean something else.
    if column.variable.missing.letters or not found.least <= width <= _WIDEST:
        width = found.width
    if name in _WHOLE:
        decimals = 0
    elif not column.integral and not decimals:
        width, decimals = max(width, found.width) + 1 + _DECIMALS, _DECIMALS
    elif decimals:
        # Decimals stand behind the seconds, for which a narrow format has no room.
        width = max(width, _SECONDS.get(name, found.width) + 1 + decimals)
    if width > _WIDEST:
        width, decimals = found.width, 0
    return found.code << 16 | width << 8 | decimals


def _given(column: OutColumn) -> tuple[str, int, int]:
    """Name, width and decimals of the format that a column had."""
    found = _GIVEN.fullmatch(column.variable.format)
    return ("", 0, 0) if found is None else (found[1], int(found[2]), int(found[3] or 0))
