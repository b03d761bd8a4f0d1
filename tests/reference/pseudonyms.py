"""Pseudonyms by the definition in the manual, with nothing but the standard library."""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import unicodedata


def pseudonym(key: bytes, scope: str, salt: str, domain: str, value: str, length: int = 26) -> str:
    """The pseudonym of an identifier that is compared as a text."""
    return of_text(domain_key(key, scope, salt, domain), value, length)


def domain_key(key: bytes, scope: str, salt: str, domain: str) -> bytes:
    """The key of a linkage domain."""
    frame = b""
    for field in ("dpdesk pseudonym 1", scope, salt, unicodedata.normalize("NFC", domain)):
        raw = field.encode("utf-8")
        frame += struct.pack(">Q", len(raw)) + raw
    return hmac.new(key, frame, hashlib.sha256).digest()


def of_text(key: bytes, value: str, length: int = 26) -> str:
    """The pseudonym under the key of a domain."""
    text = unicodedata.normalize("NFC", value).strip(" ")
    digest = hmac.new(key, text.encode("utf-8"), hashlib.sha256).digest()
    return base64.b32encode(digest).decode("ascii").rstrip("=")[:length]


def number_text(value: str) -> str:
    """The text for which an identifier stands that is compared as a whole number."""
    return str(int(float(value))) if "." in value else str(int(value))
