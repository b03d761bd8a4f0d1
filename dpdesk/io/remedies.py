"""Which option would read a text that has a fault: each likely one is tried, none is guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dpdesk.io.scan import NONE, ScanResult
from dpdesk.io.sniff import BACKSLASH, DELIMITERS, Dialect

Again = Callable[[Dialect], ScanResult]
"""Scans the same text as another dialect says."""


@dataclass(frozen=True)
class Remedy:
    """An option with which every line of a text has as many fields, and how many."""

    key: str
    value: str
    fields: int

    @property
    def line(self) -> str:
        """The option as a plan writes it."""
        return f'{self.key} = "{self.value.replace(BACKSLASH, BACKSLASH * 2)}"'.replace("\t", r"\t")


def remedy(dialect: Dialect, result: ScanResult, again: Again) -> Remedy | None:
    """The first option that reads a faulty text, None when there is none."""
    for key, value in _likely(dialect):
        found = again(replace(dialect, **{key: value}))  # type: ignore[arg-type]
        wide = found.fields > 1 if key == "delimiter" else found.fields == result.fields
        if found.fault == NONE and not found.tail and wide and found.records > 1:
            return Remedy(key, value, found.fields)
    return None


def _likely(dialect: Dialect) -> Iterator[tuple[str, str]]:
    if dialect.quote and not dialect.escape:
        yield "escape", BACKSLASH
    if dialect.quote:
        yield "quote", ""
    seen = Counter("".join(text for record in dialect.head[:50] for text in record.fields))
    for mark in DELIMITERS:
        if mark != dialect.delimiter and seen[mark]:
            yield "delimiter", mark
