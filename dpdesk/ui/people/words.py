"""Keys and trusted persons as texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import (
    SHORTEST_PASSPHRASE,
    Card,
    RevokedAs,
    StoredKey,
    TrustEntry,
    TrustList,
    fingerprint_text,
    fold_person,
)

translate = QCoreApplication.translate
WHOLE = 64
_LONGEST = 24


def key_row(key: StoredKey) -> tuple[str, str, str]:
    """A line of the own keys: person, first digits of the fingerprint, day; or what is wrong."""
    if key.card is None:
        name = key.path.name
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        return (translate("People", "✕ damaged"), short, key.problem)
    return (key.card.person, fingerprint_text(key.card.fingerprint), day(key.card.created))


def trust_row(entry: TrustEntry) -> tuple[str, str, str, str]:
    """A line of the trusted keys: person, first digits, day, and whether it still counts."""
    state = translate("People", "✓ trusted")
    if entry.revoked is not None:
        kinds = {
            RevokedAs.RETIRED: translate("People", "– retired {day}: {reason}"),
            RevokedAs.COMPROMISED: translate("People", "✕ compromised {day}: {reason}"),
        }
        text = kinds[entry.revoked.kind]
        state = text.format(day=day(entry.revoked.time), reason=entry.revoked.reason)
    return (entry.person, fingerprint_text(entry.fingerprint), day(entry.added), state)


def fingerprint_words(card: Card | TrustEntry) -> str:
    """A fingerprint as a whole, in groups of four."""
    text = translate("People", "Fingerprint of {person}'s key: {digits}")
    return text.format(person=card.person, digits=fingerprint_text(card.fingerprint, WHOLE))


def other_keys_words(card: Card, entries: Sequence[TrustEntry]) -> str:
    """That a person has keys already; empty when there are none besides this one."""
    others = [
        entry
        for entry in entries
        if fold_person(entry.person) == fold_person(card.person)
        and entry.fingerprint != card.fingerprint
    ]
    if not others:
        return ""
    text = translate(
        "People",
        "△ {person} has a key in this list already ({digits}). All keys of one name are one "
        "person: who submits with one cannot review with another. Revoke those that are out of "
        "use; if this is somebody else, they need another name.",
    )
    digits = ", ".join(fingerprint_text(entry.fingerprint) for entry in others)
    return text.format(person=card.person, digits=digits)


def spelling_words(trust: TrustList | None) -> list[str]:
    """A sentence for each pair of names that count as one person."""
    text = translate(
        "People",
        "△ {one} and {other} count as one person, since their names differ by dots, blanks or "
        "accents alone. If they are two persons, one of them needs a card with another name.",
    )
    pairs = () if trust is None else trust.spellings()
    return [text.format(one=one, other=other) for one, other in pairs]


def rule_words() -> str:
    """What a passphrase has to be."""
    text = translate(
        "People",
        "At least {n} characters; four or five words that have nothing to do with each other are "
        "best. Nobody can open the key without it, and nobody can recover it.",
    )
    return text.format(n=SHORTEST_PASSPHRASE)


def new_key_problem(person: str, first: str, again: str) -> str:
    """Why a form for a new key is not complete; empty when it is."""
    if not person.strip():
        return translate("People", "Give the first and last name of the key's holder.")
    return passphrase_problem(first, again)


def passphrase_problem(first: str, again: str) -> str:
    """Why a new passphrase cannot be taken; empty when it can."""
    if len(first) < SHORTEST_PASSPHRASE:
        text = translate("People", "The passphrase has {n} characters, expected at least {least}.")
        return text.format(n=len(first), least=SHORTEST_PASSPHRASE)
    if first != again:
        return translate("People", "The two passphrases differ: write the same one twice.")
    return ""


def digits_problem(given: str) -> str:
    """Why digits of a fingerprint cannot be compared; empty when they can, or none are given."""
    digits = "".join(given.split()).lower()
    if not digits:
        return ""
    if not all(char in "0123456789abcdef" for char in digits):
        return translate("People", "A fingerprint holds the digits 0 to 9 and a to f only.")
    if len(digits) < 20:
        text = translate("People", "{n} digits are given, expected at least 20.")
        return text.format(n=len(digits))
    return ""


def day(moment: datetime) -> str:
    """The day of a moment, in UTC."""
    return moment.strftime("%Y-%m-%d")
