"""Dates of Excel: days since an epoch, as texts."""

from __future__ import annotations

from datetime import datetime, timedelta

_EPOCH_1900 = datetime(1899, 12, 30)
_EPOCH_1904 = datetime(1904, 1, 1)
_MARCH_1900 = 61
_THERE_IS_NO_SUCH_DAY = 60
_DAY_MS = 86_400_000


def moment_text(days: float, since_1904: bool, shows_day: bool = False) -> str | None:
    """The text of a number that is shown as a date: a day, a moment, a time of day below 1.

    With ``shows_day`` (the format has a day) a number below 1 is on the day 0, which is 1 January
    1904 in the system of 1904; that of 1900 has no such day.
    Moments are exact to the millisecond, as in Excel. None for what is no moment: a number below 0,
    one beyond the year 9999, and the days 0 January and 29 February 1900, which Excel has and the
    calendar has not.
    """
    if not 0 <= days < 2_958_466:
        return None
    whole, ms = divmod(round(days * _DAY_MS), _DAY_MS)
    if whole == 0 and not shows_day:
        return clock_text(ms)
    epoch = _EPOCH_1904 if since_1904 else _EPOCH_1900
    if not since_1904:
        if whole in (0, _THERE_IS_NO_SUCH_DAY):
            return None
        whole += whole < _MARCH_1900
    try:
        day = (epoch + timedelta(days=whole)).date().isoformat()
    except OverflowError:
        return None
    return f"{day} {clock_text(ms)}" if ms else day


def duration_text(days: float) -> str | None:
    """The text of a number that is shown as hours, minutes, seconds; None below 0."""
    return clock_text(round(days * _DAY_MS)) if days >= 0 else None


def clock_text(ms: int) -> str:
    """Hours, minutes and seconds of some milliseconds: ``26:00:00``, ``10:10:10.5``."""
    seconds, ms = divmod(ms, 1_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours:02}:{minutes:02}:{seconds:02}"
    return f"{text}.{ms:03}".rstrip("0") if ms else text
