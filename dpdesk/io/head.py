"""Fields of the first records of a text, for detecting and previewing (not for loading)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class HeadRecord:
    """One non-blank record: its fields, the physical line it starts on, which were quoted."""

    fields: tuple[str, ...]
    line: int
    quoted: tuple[bool, ...]


def head_records(
    text: str, delimiter: str, quote: str, limit: int, complete: bool, first_line: int = 1
) -> Iterator[HeadRecord]:
    """Records of ``text``, up to ``limit``; blank lines are skipped.

    A record that the text's end cuts is given only when ``complete`` says that the text is whole.
    Stops silently at a fault of quoting: naming faults is the scan's work.
    """
    pattern = _field_pattern(delimiter, quote)
    position, line, given, width = 0, first_line, 0, 0
    while position < len(text) and given < limit:
        found = _one_record(text, position, pattern)
        if found is None:
            return
        fields, quoted, stop, closed = found
        if not closed and not complete:
            return
        value = fields[0] if width == 1 else fields[0].strip(" \t")
        if len(fields) > 1 or quoted[0] or value:
            given += 1
            width = width or len(fields)
            unquoted = (
                value.replace(quote * 2, quote) if marked else value
                for value, marked in zip(fields, quoted, strict=True)
            )
            yield HeadRecord(tuple(unquoted), line, tuple(quoted))
        line += line_ends(text, position, stop)
        position = stop


def _field_pattern(delimiter: str, quote: str) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    end = rf"(?P<end>{mark}|\r\n|\n|\r|\Z)"
    plain = rf"(?P<plain>[^{mark}\r\n]*+)"
    if not quote:
        return re.compile(f"(?:(?!)(?P<quoted>)|{plain}){end}")
    q = re.escape(quote)
    return re.compile(rf"(?:{q}(?P<quoted>[^{q}]*+(?:{q}{q}[^{q}]*+)*+){q}|(?!{q}){plain}){end}")


def _one_record(
    text: str, start: int, pattern: re.Pattern[str]
) -> tuple[list[str], list[bool], int, bool] | None:
    """Raw fields, which were quoted, where the record stops, and whether a line end closed it."""
    fields: list[str] = []
    quoted: list[bool] = []
    position = start
    while True:
        found = pattern.match(text, position)
        if found is None:
            return None
        inner = found["quoted"]
        fields.append(found["plain"] if inner is None else inner)
        quoted.append(inner is not None)
        position = found.end()
        if found["end"] in ("\r\n", "\n", "\r", ""):
            return fields, quoted, position, found["end"] != ""


def line_ends(text: str, start: int, stop: int) -> int:
    """Number of physical line ends in a stretch of text; CR LF counts as one."""
    crlf = text.count("\r\n", start, stop)
    return text.count("\n", start, stop) + text.count("\r", start, stop) - crlf
