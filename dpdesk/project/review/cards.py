"""Public keys as cards, and what a signature by one of them says.

A card tells who holds a key and proves it with a signature by the key itself. Each kind of
signature is made over its own first line (:class:`Purpose`), so that no signature can be shown as
one of another kind.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.safewrite import read_bytes
from dpdesk.project.review.texts import is_hash, is_hex, is_person, parse_time, time_text

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]
_NEUTRAL: Point = (0, 1, 1, 0)


@lru_cache(maxsize=4096)
def is_honest_key(raw: bytes) -> bool:
    """Whether these bytes are the one spelling of a point of the prime-order group, not neutral."""
    point = _decoded(raw)
    if point is None or _is_neutral(point):
        return False
    return _is_neutral(_times(_L, point))


def _decoded(raw: bytes) -> Point | None:
    if len(raw) != 32:
        return None
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    x = _x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


def _x_of(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P:
        return None
    return _P - x if x & 1 != sign else x


def _added(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: Point) -> Point:
    result = _NEUTRAL
    while factor:
        if factor & 1:
            result = _added(result, point)
        point = _added(point, point)
        factor >>= 1
    return result


def _is_neutral(point: Point) -> bool:
    return point[0] % _P == 0 and (point[1] - point[2]) % _P == 0


CARD_KIND = "dpdesk-public-key"
LARGEST_CARD = 64 * 1024
_CARD_KEYS = frozenset({"format", "kind", "person", "key", "fingerprint", "created", "signature"})


class Purpose(Enum):
    """What a signature is for: the first line of the bytes that are signed."""

    CARD = "dpdesk-public-key-v1"
    EVENT = "dpdesk-review-event-v1"
    PROTOCOL = "dpdesk-protocol-v1"

    def message(self, body: bytes) -> bytes:
        """The bytes that are signed: the purpose, a line feed, the body."""
        return self.value.encode("ascii") + b"\n" + body


def fingerprint_of(key: str) -> str:
    """SHA-256 (hex) of the 32 raw bytes of a public key given as hex."""
    return hashlib.sha256(bytes.fromhex(key)).hexdigest()


def key_fault(key: object) -> str:
    """Why this is no public key that may be trusted; empty when it is one."""
    if not isinstance(key, str) or not is_hex(key, 32):
        return "is not a public key of 32 bytes"
    if not is_honest_key(bytes.fromhex(key)):
        return "is a weak public key, for which anyone could sign"
    return ""


def signature_holds(key: str, purpose: Purpose, body: bytes, signature: object) -> bool:
    """Whether ``signature`` (hex) is one by ``key`` (hex) over ``body``; never raises.

    Ed25519 by RFC 8032 without cofactor: the point R and the number S must be in their one
    spelling, so nobody but the key's holder can make a second signature of the same bytes.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if key_fault(key) or not isinstance(signature, str) or not is_hex(signature, 64):
        return False
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), purpose.message(body))
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True)
class Card:
    """Who holds a public key. ``key`` and ``signature`` are hex; ``created`` knows its zone."""

    person: str
    key: str
    created: datetime
    signature: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the raw key: what two people compare."""
        return fingerprint_of(self.key)

    def as_json(self) -> dict[str, object]:
        """The card as the object that its file holds."""
        return {
            **card_body(self.person, self.key, time_text(self.created)),
            "signature": self.signature,
        }

    def to_bytes(self) -> bytes:
        """The bytes of the card's file."""
        return canonical_json(self.as_json())


def card_body(person: str, key: str, created: str) -> dict[str, object]:
    """What a card's signature is over: the card without it."""
    return {
        "format": 1,
        "kind": CARD_KIND,
        "person": person,
        "key": key,
        "fingerprint": fingerprint_of(key),
        "created": created,
    }


def parse_card(data: bytes) -> Card:
    """Read a card.

    Raises InputError ``card.unreadable``, ``card.key`` or ``card.signature``.
    """
    if len(data) > LARGEST_CARD:
        raise _unreadable(
            msg("it has {n:,} bytes, expected at most {most:,}", n=len(data), most=LARGEST_CARD)
        )
    try:
        raw = parse_canonical(data)
    except UnreadableJsonError as error:
        raise _unreadable(error.reason) from None
    return card_from_json(raw)


def card_from_json(raw: dict[str, object]) -> Card:
    """A card from its object; see :func:`parse_card`."""
    person, key, created = raw.get("person"), raw.get("key"), parse_time(raw.get("created"))
    if set(raw) != _CARD_KEYS or raw["kind"] != CARD_KIND or type(raw["format"]) is not int:
        raise _unreadable("it is not a public key of DPDesk")
    if raw["format"] != 1:
        raise _unreadable(
            msg("its format is {found}, expected 1; a newer DPDesk made it", found=raw["format"])
        )
    if not isinstance(person, str) or not is_person(person) or created is None:
        raise _unreadable("the person or the date cannot be used")
    if fault := key_fault(key):
        raise InputError(
            "card.key", msg("The card of {person}: `key` {fault}.", person=person, fault=fault)
        )
    assert isinstance(key, str)
    body = card_body(person, key, time_text(created))
    if raw["fingerprint"] != body["fingerprint"] or not is_hash(raw["fingerprint"]):
        raise _unreadable("its fingerprint is not that of its key")
    if not signature_holds(key, Purpose.CARD, canonical_json(body), raw["signature"]):
        raise InputError(
            "card.signature",
            msg(
                "The card of {person}: its signature is not by its own key; it was changed.",
                person=person,
            ),
            hint="Ask for the card again.",
        )
    return Card(person, key, created, str(raw["signature"]))


def read_card(path: Path) -> Card:
    """Read a card from a file; see :func:`parse_card`. Raises StorageError too."""
    try:
        return parse_card(read_bytes(path, "card"))
    except InputError as error:
        raise InputError(
            error.code,
            msg("{file}: {note}", file=path, note=error.sentence),
            hint=error.hint,
            details=error.details,
        ) from None


def _unreadable(reason: str) -> InputError:
    return InputError(
        "card.unreadable",
        msg("This is not a card of a public key: {reason}.", reason=reason),
        hint="Give the file that `dpdesk review key card` wrote.",
    )
