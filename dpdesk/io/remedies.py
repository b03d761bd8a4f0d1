"""Which options would read a text that has a fault: each likely one is tried, none is guessed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from dpdesk.core.source_spec import ALLOWED, NULS, REPEATED, UNEVEN
from dpdesk.io.scan import ENCODING, LONG, NONE, NUL, SHORT, ScanResult
from dpdesk.io.sniff import BACKSLASH, DELIMITERS, Dialect

Again = Callable[[Dialect], ScanResult]
"""Scans the same text as another dialect says."""
Option = tuple[str, str | tuple[str, ...]]
_QUOTES = ('"', "'")
_RARE = (":", "~", "#", " ")
"""Delimiters that are never guessed, since they stand in values of all kinds."""
_HEAD = 50


@dataclass(frozen=True)
class Remedy:
    """Options with which a text is read, and how many columns it has then.

    ``even`` says that every line has so many fields.
    """

    options: tuple[Option, ...]
    fields: int
    even: bool = True

    @property
    def lines(self) -> tuple[str, ...]:
        """The options as a plan writes them."""
        return tuple(f"{key} = {_toml(value)}" for key, value in self.options)


def _toml(value: str | tuple[str, ...]) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def remedy(dialect: Dialect, result: ScanResult, again: Again) -> Remedy | None:
    """The first options that read a faulty text, None when there are none.

    What begins with NULs for the most part is no text: nothing is tried, since each trial reads on.
    """
    if result.fault == NUL and _is_empty(dialect):
        return None
    for options in _likely(dialect, result):
        tried = replace(dialect, **dict(options))  # type: ignore[arg-type]
        found = again(tried)
        even = UNEVEN not in tried.allow
        if _reads(found, result, {key for key, _ in options}, even=even):
            return Remedy(_with_names(options, tried), found.fields, even)
    return None


def second_delimiter(dialect: Dialect, result: ScanResult, again: Again) -> str:
    """The delimiter of lines that another one divides as that of the dialect does the first lines.

    Such a text was put together from two: no option reads it. Empty where there is none.
    """
    if result.fault not in (SHORT, LONG) or min(result.found, result.fields) != 1:
        return ""
    for mark in DELIMITERS:
        if mark != dialect.delimiter:
            found = again(replace(dialect, delimiter=mark))
            turned = (found.found, found.fields) == (result.fields, result.found)
            if found.fault in (SHORT, LONG) and found.line == result.line and turned:
                return mark
    return ""


def _is_empty(dialect: Dialect) -> bool:
    """Whether more of the head is NULs than in UTF-16 or UTF-32: a part of a disk, most likely."""
    head = "".join(text for record in dialect.head[:_HEAD] for text in record.fields)
    return 4 * head.count("\0") > 3 * len(head)


def _reads(found: ScanResult, result: ScanResult, keys: set[str], *, even: bool) -> bool:
    if found.fault != NONE or found.records < 2 or (even and found.tail):
        return False
    if "delimiter" in keys or "encoding" in keys or result.fault in (NUL, ENCODING):
        return found.fields > 1 or result.fields <= 1
    return found.fields == result.fields or not even


def _with_names(options: tuple[Option, ...], tried: Dialect) -> tuple[Option, ...]:
    """The same options, with leave for columns of one name where the header has such."""
    if {key for key, _ in options} - {"allow"} or not tried.header or not tried.head:
        return options
    names = [text for text in tried.head[0].fields if text]
    if len(set(names)) == len(names):
        return options
    return (("allow", _allowing(tried, REPEATED)),)


def _allowing(dialect: Dialect, *more: str) -> tuple[str, ...]:
    return tuple(key for key in ALLOWED if key in (*dialect.allow, *more))


def _likely(dialect: Dialect, result: ScanResult) -> Iterator[tuple[Option, ...]]:
    """Options from the likeliest on: marks alone, leave alone, then both."""
    marks = list(_marks(dialect))
    leave = [kind for kind in (UNEVEN, NULS) if kind not in dialect.allow]
    if result.fault == NUL:
        # A delimiter has a NUL in it as well: lines above that have some are in another encoding.
        if not result.first_line or result.line <= result.first_line or result.fields <= 1:
            yield from ((("encoding", name),) for name in ("utf-16-le", "utf-16-be"))
        yield from ((("allow", _allowing(dialect, NULS)),),)
    yield from ((mark,) for mark in marks)
    if 2 * sum(len(record.fields) == 1 for record in dialect.head) > len(dialect.head):
        others = (mark for mark in DELIMITERS if mark != dialect.delimiter)
        yield from ((("delimiter", mark),) for mark in others)  # one that no value holds
    if result.fault in (SHORT, LONG) and UNEVEN in leave:
        yield (("allow", _allowing(dialect, UNEVEN)),)
    for count in range(1, len(leave) + 1):
        for kinds in combinations(leave, count):
            allow: Option = ("allow", _allowing(dialect, *kinds))
            yield (allow,)
            yield from ((mark, allow) for mark in marks if mark[0] != "delimiter")


def _marks(dialect: Dialect) -> Iterator[Option]:
    seen = Counter("".join(text for record in dialect.head[:_HEAD] for text in record.fields))
    if dialect.quote and not dialect.escape:
        yield "escape", BACKSLASH
    for mark in _QUOTES:
        if mark not in (dialect.quote, dialect.delimiter) and seen[mark]:
            yield "quote", mark
    if dialect.quote:
        yield "quote", ""
    for mark in (*DELIMITERS, *_RARE):
        if mark != dialect.delimiter and seen[mark]:
            yield "delimiter", mark
