"""Reading what may come from an enemy: each fault becomes a reason in words, at one boundary."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from dpdesk.core.messages import msg
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.texts import (
    LONGEST_COMMENT,
    is_hash,
    is_hex,
    parse_time,
    shown,
    text_fault,
)

DEEPEST = 32
E = TypeVar("E", bound=StrEnum)


class BadFieldError(ValueError):
    """A value is not what the format demands; the message is the reason in words."""


class Fields:
    """A table of a file, read key by key; ``where`` leads to it (``"vote.files"``)."""

    def __init__(self, raw: object, where: str = "") -> None:
        if not isinstance(raw, dict):
            raise BadFieldError(
                msg(
                    "{where} is {kind_of}, expected a table",
                    where=_quoted(where) or msg("it"),
                    kind_of=kind_of(raw),
                )
            )
        self.raw: Mapping[str, object] = raw
        self._where = where

    def name(self, key: str) -> str:
        """The dotted name of a key."""
        return f"{self._where}.{key}" if self._where else key

    def only(self, *keys: str) -> None:
        """Demand exactly these keys."""
        unknown, lacking = sorted(self.raw.keys() - set(keys)), sorted(set(keys) - self.raw.keys())
        if unknown:
            raise BadFieldError(
                msg("{name} is not a known key", name=_quoted(self.name(shown(unknown[0], 60))))
            )
        if lacking:
            raise BadFieldError(msg("{name} is missing", name=_quoted(self.name(lacking[0]))))

    def table(self, key: str, most: int | None = None) -> Fields:
        """A table below this one, of at most ``most`` keys."""
        below = Fields(self.raw.get(key), self.name(key))
        if most is not None and len(below.raw) > most:
            raise self.bad(
                key,
                msg(
                    "has {raw:,} entries, expected at most {most:,}", raw=len(below.raw), most=most
                ),
            )
        return below

    def text(self, key: str, most: int = LONGEST_COMMENT, *, lines: bool = True) -> str:
        """A plain text."""
        value = self.raw.get(key)
        fault = text_fault(value, most, lines=lines)
        if fault or not isinstance(value, str):
            raise self.bad(key, fault)
        return value

    def code(self, key: str) -> str:
        """32 bytes in hex."""
        value = self.raw.get(key)
        if not isinstance(value, str) or not is_hash(value):
            raise self.bad(key, "is not a SHA-256 code of 64 small hexadecimal digits")
        return value

    def code_or_none(self, key: str) -> str | None:
        """32 bytes in hex, or null."""
        return None if self.raw.get(key) is None else self.code(key)

    def hex(self, key: str, most: int, exactly: int | None = None) -> str:
        """Bytes in hex: ``exactly`` so many, or at most ``most``."""
        value = self.raw.get(key)
        if not isinstance(value, str) or len(value) > 2 * most or not is_hex(value, exactly):
            raise self.bad(key, "is not text of small hexadecimal digits of the right length")
        return value

    def codes(self, key: str, most: int) -> tuple[str, ...]:
        """A list of different codes in ascending order."""
        value = self.raw.get(key)
        if not isinstance(value, list) or len(value) > most:
            raise self.bad(key, msg("is not a list of at most {most} codes", most=most))
        if not all(is_hash(item) for item in value) or sorted(set(value)) != value:
            raise self.bad(key, "is not a list of different SHA-256 codes in ascending order")
        return tuple(value)

    def time(self, key: str) -> datetime:
        """A moment in UTC."""
        moment = parse_time(self.raw.get(key))
        if moment is None:
            raise self.bad(key, "is not a time such as 2026-11-20T09:30:00Z")
        return moment

    def number(self, key: str, least: int, most: int) -> int:
        """A whole number within limits."""
        value = self.raw.get(key)
        if type(value) is not int or not least <= value <= most:
            raise self.bad(
                key, msg("is not a whole number from {least} to {most}", least=least, most=most)
            )
        return value

    def choice(self, key: str, choices: type[E]) -> E:
        """One of the values of an enumeration."""
        value = self.raw.get(key)
        known = [item.value for item in choices]
        if not isinstance(value, str) or value not in known:
            raise self.bad(
                key,
                msg(
                    "is {kind_of}, expected one of {join}",
                    kind_of=kind_of(value),
                    join=", ".join(known),
                ),
            )
        return choices(value)

    def bad(self, key: str, reason: str) -> BadFieldError:
        """The error for a key."""
        if key not in self.raw:
            reason = "is missing"
        return BadFieldError(f"{_quoted(self.name(shown(key, 60)))} {reason}")


def canonical_of(raw: Mapping[str, object]) -> bytes:
    """The canonical bytes of a table that was read. Raises BadFieldError when it has none."""
    try:
        return canonical_json(raw)
    except (ValueError, TypeError) as error:
        raise BadFieldError(
            msg("it has no canonical form ({error})", error=shown(str(error), 60))
        ) from error


def kind_of(value: object) -> str:
    """What a value is, in a few words that any terminal can print."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return repr(shown(value, 40)) if isinstance(value, str) else shown(repr(value), 40)


def too_deep(value: object, most: int = DEEPEST) -> bool:
    """Whether tables and lists are nested deeper than ``most``; without recursion."""
    level: list[object] = [value]
    for _ in range(most):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return False
        level = [item for item in below if isinstance(item, dict | list)]
    return bool(level)


def _quoted(name: str) -> str:
    return f"`{name}`" if name else ""
