"""The lines of a text of a private method, read the slow and obvious way."""

from __future__ import annotations

import re
import unicodedata

UNREADABLE = "\U0010ffff"


def rows_of(
    data: bytes, codec: str, delimiter: str, quote: str, width: int
) -> list[tuple[str, ...]]:
    """All rows below nothing: each physical line by itself, blank rows left out."""
    found = []
    for raw in _lines(data, codec):
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            found.append((UNREADABLE,) * width)
            continue
        text = text.removeprefix("\ufeff").rstrip("\x1a")
        if not text or (width > 1 and _is_blank(text)):
            continue
        fields = None if "\0" in text else _fields(text, delimiter, quote)
        if fields is None or len(fields) < width or any(fields[width:]):
            found.append((UNREADABLE,) * width)
        elif not all(map(_is_blank, fields)):
            found.append(tuple(fields[:width]))
    return found


def _is_blank(text: str) -> bool:
    return all(
        sign in "\t\x0b\x0c\x85" or unicodedata.category(sign) in ("Zs", "Zl", "Zp", "Cf")
        for sign in text
    )


def _lines(data: bytes, codec: str) -> list[bytes]:
    if not codec.startswith("utf-16"):
        return re.split(b"[\r\n]", data)
    units = [data[at : at + 2] for at in range(0, len(data), 2)]
    lines, line = [], b""
    for unit in units:
        if unit in ("\n".encode(codec), "\r".encode(codec)):
            lines.append(line)
            line = b""
        else:
            line += unit
    return [*lines, line]


def _fields(text: str, delimiter: str, quote: str) -> list[str] | None:
    """The fields of a line; None where a quote is not closed, or text follows behind it."""
    plain = f"[^{re.escape(delimiter)}]*"
    field = plain
    if quote:
        q = re.escape(quote)
        field = f"(?:{q}((?:[^{q}]|{q}{q})*){q}|(?!{q}){plain})"
    if re.fullmatch(f"{field}(?:{re.escape(delimiter)}{field})*", text, re.DOTALL) is None:
        return None
    found, at = [], 0
    while True:
        match = re.compile(field, re.DOTALL).match(text, at)
        assert match is not None
        inner = match[1] if quote and match[0].startswith(quote) else None
        found.append(match[0] if inner is None else inner.replace(quote * 2, quote))
        at = match.end() + 1
        if match.end() >= len(text):
            return found
