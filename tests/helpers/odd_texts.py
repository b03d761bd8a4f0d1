"""Delimited texts in any dialect and encoding, with the table that each of them holds."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from hypothesis import strategies as st

ENCODINGS = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1250", "cp1251",
    "cp1252", "cp1253", "cp1255", "cp437", "cp850", "iso8859-1", "iso8859-2", "iso8859-7",
    "iso8859-15", "koi8-r", "mac-roman", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
)  # fmt: skip
_LETTERS = "aZ09 .-é€ßłŠčžЯжαωשד日本語中文한글ñ÷\u00a0😀\\#\t;,|'\""


@dataclass(frozen=True)
class OddText:
    """A text as bytes, how it is written, and what it holds."""

    raw: bytes
    encoding: str
    delimiter: str
    quote: str
    header: bool
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _alphabet(encoding: str) -> str:
    codec = encoding.removesuffix("-sig")

    def fits(letter: str) -> bool:
        try:
            return letter.encode(codec).decode(codec) == letter
        except UnicodeError:
            return False

    return "".join(filter(fits, _LETTERS))


def _field(draw: st.DrawFn, text: str, delimiter: str, quote: str, alone: bool) -> str:
    if not quote:
        return text
    needed = text[:1] == quote or any(mark in text for mark in (delimiter, "\n", "\r"))
    needed = needed or (alone and not text.strip(" \t"))
    if needed or draw(st.integers(0, 3)) == 0:
        return quote + text.replace(quote, quote * 2) + quote
    return text


@st.composite
def odd_texts(draw: st.DrawFn) -> OddText:
    """Any table in any encoding and dialect, rewritten for any reason or for none."""
    encoding = draw(st.sampled_from(ENCODINGS))
    delimiter, quote = draw(st.sampled_from(",;\t|^")), draw(st.sampled_from(['"', "'", ""]))
    header = draw(st.booleans())
    ends = draw(st.sampled_from([("\n",), ("\r\n",), ("\r",), ("\n", "\r\n", "\r")]))
    width = draw(st.integers(1, 4))
    letters = _alphabet(encoding) + ("\n\r" if quote else "")
    letters = letters if quote else letters.replace(delimiter, "")
    first = st.text(letters, max_size=6)
    if width == 1 and not quote:
        first = first.filter(lambda text: bool(text.strip(" \t")))
    values = st.tuples(*[first] * width)
    rows = draw(st.lists(values, min_size=1, max_size=9))
    names = tuple(f"n{j}é" if "é" in letters else f"n{j}" for j in range(width))
    records = [names, *rows] if header else rows
    closing = draw(st.booleans()) and header
    lines: list[str] = []
    for number, record in enumerate(records):
        if draw(st.integers(0, 5)) == 0 and (number or width > 1):
            lines.append(draw(st.sampled_from(["", " "])) if width > 1 else "")
        fields = [_field(draw, text, delimiter, quote, width == 1) for text in record]
        surplus = draw(st.integers(0, 8)) == 0 and number > 0 and width > 1
        lines.append(delimiter.join(fields + [""] * (closing + surplus)))
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines[:-1]) + lines[-1]
    if draw(st.booleans()):
        text += ends[0]
    raw = text.encode(encoding)
    if encoding == "utf-16-le" and draw(st.booleans()):
        raw = codecs.BOM_UTF16_LE + raw
    elif not encoding.startswith(("utf-16", "utf-32")) and text[-1:] in "\r\n":
        raw += draw(st.sampled_from([b"", b"", b"\x1a"]))
    shown = names if header else tuple(f"column_{j + 1}" for j in range(width))
    return OddText(raw, encoding, delimiter, quote, header, shown, tuple(rows))
