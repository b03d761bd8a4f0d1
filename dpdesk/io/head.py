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
    text: str,
    delimiter: str,
    quote: str,
    limit: int,
    complete: bool,
    first_line: int = 1,
    escape: str = "",
) -> Iterator[HeadRecord]:
    """Records of ``text``, up to ``limit``; blank lines are skipped.

    A record that the text's end cuts is given only when ``complete`` says that the text is whole.
    Stops silently at a fault of quoting: naming faults is the scan's work.
    """
    pattern = _field_pattern(delimiter, quote, escape)
    protected = re.compile(rf"{re.escape(escape)}([{re.escape(escape + quote + delimiter)}])")
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
                _value(value, quote if marked else "", protected if escape else None)
                for value, marked in zip(fields, quoted, strict=True)
            )
            yield HeadRecord(tuple(unquoted), line, tuple(quoted))
        line += line_ends(text, position, stop)
        position = stop


def _value(text: str, quote: str, protected: re.Pattern[str] | None) -> str:
    """The value of a field: doubled quotes are one, and what an escape protects is itself."""
    if protected is None:
        return text.replace(quote * 2, quote) if quote else text
    pieces: list[str] = []
    end = 0
    for found in protected.finditer(text):
        before = text[end : found.start()]
        pieces += [before.replace(quote * 2, quote) if quote else before, found[1]]
        end = found.end()
    rest = text[end:]
    return "".join([*pieces, rest.replace(quote * 2, quote) if quote else rest])


def _field_pattern(delimiter: str, quote: str, escape: str) -> re.Pattern[str]:
    """One field and what ends it, as :mod:`dpdesk.io.scan` reads it."""
    mark, q, e = re.escape(delimiter), re.escape(quote), re.escape(escape)
    end = rf"(?P<end>{mark}|\r\n|\n|\r|\Z)"
    plain = rf"(?P<plain>[^{mark}\r\n]*+)"
    protected = ""
    if escape:
        protected = rf"{e}[{e}{q}{mark}]|{e}|"
        plain = rf"(?P<plain>(?:{e}[{e}{q}{mark}]|[^{mark}\r\n])*+)"
    if not quote:
        return re.compile(f"(?:(?!)(?P<quoted>)|{plain}){end}")
    # A quote that is not doubled and does not end the field is one of its value, if the field
    # ends in the same line.
    loose = rf"{q}(?![{mark}\r\n]|\Z)[^{q}{e}\r\n]*+(?=[^\r\n])"
    inner = rf"[^{q}{e}]*+(?:(?:{protected}{q}{q}|{loose})[^{q}{e}]*+)*+"
    return re.compile(rf"(?:{q}(?P<quoted>{inner}){q}|(?!{q}){plain}){end}")


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
