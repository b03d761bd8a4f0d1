"""Pseudonyms: how an identifier that must be kept for linkage is replaced, and what that means.

A pseudonym is the beginning of HMAC-SHA-256(K', value) in base32, where K' is HMAC-SHA-256(key,
frame of the domain). The key is never part of a plan: a plan names it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import check_known, invalid, one_of, text_of, with_nearest

SHORTEST, LONGEST = 26, 52
"""Characters of a pseudonym: 26 hold 130 bits of the digest, 52 all 256."""
RELEASE, DOMAIN = "release", "domain"
PERSON, GROUP = "person", "group"
TEXT, NUMBER = "text", "number"
VERSION = "dpdesk pseudonym 1"

_KEYS = ("key", "scope", "domain", "length", "of", "values")
_NAME = re.compile(r"[\w](?:[\w .-]{0,58}[\w.-])?")


@dataclass(frozen=True)
class PseudonymSpec:
    """How a column of identifiers is replaced.

    ``key`` is the name of a key; ``scope`` is ``"release"`` (pseudonyms of this release alone) or
    ``"domain"`` (the same in every release with this key and ``domain``). ``domain`` is what ties
    columns together, the column's own name when empty. ``length`` is in characters. ``of`` says
    whether one pseudonym stands for a ``"person"`` or a ``"group"`` of persons; ``values`` whether
    identifiers are compared as ``"text"`` or as a whole ``"number"``.
    """

    key: str
    scope: str = RELEASE
    domain: str = ""
    length: int = SHORTEST
    of: str = PERSON
    values: str = TEXT

    @property
    def linkage(self) -> Linkage:
        """What the pseudonyms let others join, as guarantees tell it."""
        return Linkage(self.of == GROUP, self.domain if self.scope == DOMAIN else "")

    def as_plain(self) -> dict[str, object]:
        """The inverse of :func:`read_pseudonym`; defaults are left out."""
        return {
            name: getattr(self, name)
            for name in _KEYS
            if name == "key" or getattr(self, name) != getattr(PseudonymSpec("-"), name)
        }


@dataclass(frozen=True)
class Linkage:
    """What pseudonyms of a column join: rows of persons or of groups, and across which releases.

    ``domain`` names the linkage domain that other releases share; empty for one release alone.
    """

    groups: bool = False
    domain: str = ""


def read_pseudonym(raw: object, where: str) -> PseudonymSpec:
    """Read the table ``pseudonym`` of an attribute.

    Raises InputError ``plan.invalid``, ``plan.unknown-key``, ``plan.missing-key``.
    """
    if not isinstance(raw, Mapping):
        expected = 'a table such as { key = "name of a key" }'
        raise invalid("pseudonym", raw, expected, where)
    place = f"{where}, pseudonym"
    check_known(raw, _KEYS, place)
    length = raw.get("length", SHORTEST)
    if isinstance(length, bool) or not isinstance(length, int):
        raise invalid("length", length, _LENGTHS, place)
    if not SHORTEST <= length <= LONGEST:
        raise invalid("length", length, _LENGTHS, place)
    key = text_of(raw, "key", place, None)
    if not is_key_name(key):
        raise invalid("key", key, KEY_NAMES, place)
    found = PseudonymSpec(
        key=key,
        scope=_word(raw, "scope", (RELEASE, DOMAIN), place),
        domain=unicodedata.normalize("NFC", text_of(raw, "domain", place, "")),
        length=length,
        of=_word(raw, "of", (PERSON, GROUP), place),
        values=_word(raw, "values", (TEXT, NUMBER), place),
    )
    if found.scope == DOMAIN and not found.domain.strip():
        raise InputError(
            "plan.missing-key",
            msg(
                (
                    "{place}: the key `domain` is missing, expected a name alongside `scope = "
                    '"domain"`.'
                ),
                place=place,
            ),
            hint="All releases with this key and this name can be joined by their pseudonyms.",
            details={"key": "domain"},
        )
    return found


_LENGTHS = msg(
    "a whole number of characters from {least} (130 bits) to {most}", least=SHORTEST, most=LONGEST
)
KEY_NAMES = "a name of 1 to 60 letters, digits, spaces, full stops, hyphens or underscores"
"""The words that errors use for what a key may be called."""


def is_key_name(text: str) -> bool:
    """Whether a key may be called this."""
    return _NAME.fullmatch(text) is not None


def framed(*fields: str) -> bytes:
    """Texts as bytes that no other sequence of texts gives: each behind its length in 8 bytes."""
    parts = [field.encode("utf-8") for field in fields]
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def domain_frame(spec: PseudonymSpec, column: str, salt: str) -> bytes:
    """What the key of a domain is made from; ``salt`` is fresh for each release, or empty.

    ValueError when the salt does not go with the scope.
    """
    if bool(salt) is not (spec.scope == RELEASE):
        raise ValueError("a salt belongs to pseudonyms of one release, and to no others")
    name = spec.domain or unicodedata.normalize("NFC", column)
    return framed(VERSION, spec.scope, salt, name)


def _word(raw: Mapping[str, object], key: str, known: tuple[str, ...], place: str) -> str:
    text = text_of(raw, key, place, known[0])
    if text not in known:
        raise with_nearest(invalid(key, text, one_of(known), place), text, known)
    return text
