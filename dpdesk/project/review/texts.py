"""The small words of a review: hashes, times, names of persons, comments; checked and compared.

Names are compared in three ways. :func:`fold_person` decides who is the same person: form,
capitals and spaces do not matter. :func:`~dpdesk.project.looks.skeleton` decides which names a
reader could take for one another, so that no one joins a list under the letters of someone else.
:func:`~dpdesk.project.looks.likeness` decides which names may be two spellings of one person's, who
then has one vote.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.canonical import canonical_json

LONGEST_PERSON = 120
LONGEST_COMMENT = 20_000
CLOCK_TOLERANCE = timedelta(seconds=300)

_HASH = re.compile(r"[0-9a-f]{64}")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_TIME = re.compile(r"[2-9][0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z")
_TIME_FORM = "%Y-%m-%dT%H:%M:%SZ"
_PERSON_MARKS = frozenset(" .,'’-()/&_@+")
_EAST = frozenset(("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"))
"""Alphabets that names of one language mix."""
# Letters and marks that show as nothing; Unicode counts them as letters or marks all the same.
_UNSEEN = frozenset(
    map(
        ord,
        "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u3164\uffa0"
        + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])),
    )
)
# Marks that turn the direction of writing: with them a comment can read otherwise than it is.
_TURNING = frozenset([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C])
_UNSHOWN = re.compile(
    rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{''.join(map(chr, sorted(_TURNING)))}]"
)
"""Controls, breaks of lines, halves of characters, and what turns the direction of letters."""


def is_hash(value: object) -> bool:
    """Whether ``value`` is 32 bytes as 64 small hexadecimal digits."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def is_hex(value: object, bytes_: int | None = None) -> bool:
    """Whether ``value`` is small hexadecimal digits, of so many bytes when given."""
    if not isinstance(value, str) or _HEX.fullmatch(value) is None:
        return False
    return bytes_ is None or len(value) == 2 * bytes_


def time_text(moment: datetime) -> str:
    """A moment in UTC to the second, as ``2026-11-20T09:30:00Z``; ``moment`` must know its zone."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone says nothing")
    return moment.astimezone(UTC).strftime(_TIME_FORM)


def parse_time(text: object) -> datetime | None:
    """The moment that :func:`time_text` wrote; None for anything else."""
    if not isinstance(text, str) or _TIME.fullmatch(text) is None:
        return None
    try:
        return datetime.strptime(text, _TIME_FORM).replace(tzinfo=UTC)
    except ValueError:
        return None


def clean_person(name: str) -> str:
    """The name of a person in the one form in which it is kept: NFC, single spaces.

    Raises InputError ``person.name`` when it is empty, too long, or holds what could deceive a
    reader: unseen characters, signs, letters of two alphabets in one word.
    """
    text = " ".join(unicodedata.normalize("NFC", name).split())
    fault = _person_fault(text)
    if fault:
        raise InputError(
            "person.name",
            msg("The name {shown!r} cannot be used: {fault}.", shown=shown(text, 60), fault=fault),
            hint="Give first and last name, in the letters of one alphabet.",
        )
    return text


def is_person(value: object) -> bool:
    """Whether ``value`` is a name as :func:`clean_person` gives it."""
    if not isinstance(value, str) or len(value) > LONGEST_PERSON:
        return False
    return value == " ".join(unicodedata.normalize("NFC", value).split()) and not _person_fault(
        value
    )


def fold_person(name: str) -> str:
    """What is equal for two names of the same person."""
    return " ".join(unicodedata.normalize("NFKC", name.casefold()).casefold().split())


def _person_fault(text: str) -> str:
    """Why a text cannot be a person's name; empty when it can."""
    if not text or not any(char.isalpha() for char in text):
        return "it holds no letter"
    if len(text) > LONGEST_PERSON:
        return msg("it is longer than {most} characters", most=LONGEST_PERSON)
    for char in text:
        kind = unicodedata.category(char)
        if char not in _PERSON_MARKS and (kind[0] not in "LMN" or ord(char) in _UNSEEN):
            return msg("it holds the character U+{ord:04X}, expected letters", ord=ord(char))
    if unicodedata.normalize("NFKC", text) != text:
        return "it holds letters of a special form, expected plain ones"
    for word in re.split(r"[ .,\-()/&_@+]+", text):
        if word and unicodedata.category(word[0]).startswith("M"):
            return "a word begins with an accent that has no letter"
        if len(_alphabets(word)) > 1:
            return msg(
                "the word {word!r} mixes letters of {alphabets}",
                word=word,
                alphabets=" and ".join(_alphabets(word)),
            )
    return ""


def _alphabets(word: str) -> list[str]:
    letters = (char for char in word if char.isalpha() and unicodedata.category(char) != "Lm")
    names = {unicodedata.name(char, "").split(" ")[0] for char in letters}
    east = _EAST & names
    return sorted(name.capitalize() for name in (names - _EAST) | set(sorted(east)[:1]))


def text_fault(value: object, longest: int = LONGEST_COMMENT, *, lines: bool = True) -> str:
    """Why ``value`` is no plain text that can be signed and shown; empty when it is one.

    Allowed are printable characters and, with ``lines``, line feeds and tabs.
    """
    if not isinstance(value, str):
        return "is not text"
    if len(value) > longest:
        return msg("is longer than {most:,} characters", most=longest)
    for found in _UNSHOWN.finditer(value):
        if not (found[0] in "\n\t" and lines):
            return msg("holds the character U+{ord:04X}", ord=ord(found[0]))
    return ""


def signable(text: str, longest: int = LONGEST_COMMENT) -> str:
    """A text of the program's own (with names from the data in it) that can be signed and shown.

    What :func:`text_fault` refuses is escaped; what is too long is cut.
    """
    plain = "".join(
        char.encode("unicode_escape", "replace").decode("ascii") if text_fault(char, 1) else char
        for char in text[:longest]
    )
    return plain if len(plain) <= longest and len(text) <= longest else plain[: longest - 1] + "…"


def says_something(comment: str) -> bool:
    """Whether a comment holds a letter or a digit: spaces and unseen marks are no reason."""
    return any(char.isalnum() and ord(char) not in _UNSEEN for char in comment)


def shown(text: str, longest: int = 80) -> str:
    """A text that any terminal can print, cut to ``longest`` characters."""
    plain = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode("ascii")
        for char in text[: longest + 1]
    )
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def fingerprint_text(fingerprint: str, digits: int = 20) -> str:
    """The first digits of a fingerprint in groups of four, as people read them to each other."""
    return " ".join(fingerprint[start : start + 4] for start in range(0, digits, 4))


# Reading what may come from an enemy: each fault becomes a reason in words, at one boundary.


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
