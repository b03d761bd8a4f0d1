"""A verifier of review files written from signatures.md alone: its own JSON, its own curve check.

Only the hash functions and the Ed25519 equation come from libraries.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
FIELD = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
FURTHER = {
    "submit": "manifest_sha256 seal_sha256 plan_sha256 commitment files policy policy_sha256 mode "
    "protocol_sha256 checklist note supersedes audit_head previous",
    "start": "",
    "merge": "",
    "ballot": "commitment sealed",
    "reveal": "ballot closes nonce vote",
    "release": "note",
    "withdraw": "reason",
    "supersede": "replacement reason",
}
ALWAYS = "type parents release submission signer time dpdesk"


def text(value: str) -> str:
    return '"' + "".join(SHORT.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


def written(value: object, depth: int = 0) -> str:
    """Canonical JSON without its last line feed."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    inner, outer = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if isinstance(value, list):
        items = [written(item, depth + 1) for item in value]
        return "[" + inner + ("," + inner).join(items) + outer + "]" if items else "[]"
    assert isinstance(value, dict)
    pairs = [f"{text(key)}: {written(value[key], depth + 1)}" for key in sorted(value)]
    return "{" + inner + ("," + inner).join(pairs) + outer + "}" if pairs else "{}"


def canonical(value: object) -> bytes:
    return written(value).encode() + b"\n"


def code(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def honest(key: bytes) -> bool:
    """A multiple of the base point, in its one spelling; affine and slow."""
    number = int.from_bytes(key, "little")
    sign, y = number >> 255, number % 2**255
    d = -121665 * pow(121666, -1, FIELD) % FIELD
    square = (y * y - 1) * pow(d * y * y + 1, -1, FIELD) % FIELD
    if y >= FIELD or pow(square, (FIELD - 1) // 2, FIELD) not in (0, 1):
        return False
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if x * x % FIELD != square:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    if x % 2 != sign:
        x = FIELD - x
    if x == FIELD or (x, y) == (0, 1):
        return False
    point, total = (x, y), (0, 1)
    for bit in bin(ORDER)[:1:-1]:
        total = added(total, point, d) if bit == "1" else total
        point = added(point, point, d)
    return total == (0, 1)


def added(one: tuple[int, int], other: tuple[int, int], d: int) -> tuple[int, int]:
    (a, b), (e, f) = one, other
    cross = d * a * b * e * f % FIELD
    x = (a * f + b * e) * pow(1 + cross, -1, FIELD)
    y = (b * f + a * e) * pow(1 - cross, -1, FIELD)
    return x % FIELD, y % FIELD


def holds(key: str, first_line: bytes, data: bytes, signature: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    raw = bytes.fromhex(signature)
    if int.from_bytes(raw[32:], "little") >= ORDER or not honest(bytes.fromhex(key)):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(raw, first_line + data)
    except InvalidSignature:
        return False
    return True


def card_holds(data: bytes) -> bool:
    card = json.loads(data)
    rest = {key: value for key, value in card.items() if key != "signature"}
    named = card["fingerprint"] == code(bytes.fromhex(card["key"]))
    line = b"dpdesk-public-key-v1\n"
    return named and holds(card["key"], line, canonical(rest), card["signature"])


def sound_events(data: bytes) -> list[dict[str, Any]] | None:
    """The events of a file that is sound as a whole by rule 1; None for any other file."""
    try:
        value = json.loads(data)
        if canonical(value) != data or set(value) != {"format", "events"} or value["format"] != 1:
            return None
        events: list[dict[str, Any]] = value["events"]
        known: dict[str, Any] = {}
        for event in events:
            if not event_holds(event, known):
                return None
            known[event["id"]] = event["body"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return events if in_order(events) else None


def event_holds(event: dict[str, Any], known: dict[str, Any]) -> bool:
    body = event["body"]
    signer, data = body["signer"], canonical(body)
    keys = {*ALWAYS.split(), *FURTHER[body["type"]].split()}
    about = known.get(body["submission"])
    follows = body["submission"] in above(body["parents"], known)
    return (
        set(event) == {"id", "body", "signature"}
        and set(body) == keys
        and event["id"] == code(data)
        and event["id"] not in known
        and signer["fingerprint"] == code(bytes.fromhex(signer["key"]))
        and re.fullmatch("[0-9a-f]{128}", event["signature"]) is not None
        and holds(signer["key"], b"dpdesk-review-event-v1\n", data, event["signature"])
        and sorted(set(body["parents"])) == body["parents"]
        and set(body["parents"]) <= set(known)
        and bool(body["parents"]) == bool(known)
        and ((about is not None and follows) or body["type"] == "submit")
        and body["release"] == (about or {"release": body.get("manifest_sha256")})["release"]
    )


def above(parents: list[str], known: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for parent in parents:
        found |= {parent} | above(known[parent]["parents"], known)
    return found


def in_order(events: list[dict[str, Any]]) -> bool:
    placed: set[str] = set()
    for event in events:
        ready = [
            (other["body"]["time"], other["id"])
            for other in events
            if other["id"] not in placed and set(other["body"]["parents"]) <= placed
        ]
        if min(ready)[1] != event["id"]:
            return False
        placed.add(event["id"])
    return True
