"""Texts whose last bytes are the beginning of a character alone, in an encoding of several bytes.

The reading library drops such an ending without a word. Where it is the only byte of a text that is
none of ASCII, the text is most likely in another encoding than its file says, and a letter would be
lost. A text that holds more of the encoding was cut off by its program inside its last character.
"""

from __future__ import annotations

import codecs
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.io.formats.table import Notes

_UTF8 = "utf-8"
_FIRST_OF_2, _FIRST_OF_3, _FIRST_OF_4, _HIGH = 0xC0, 0xE0, 0xF0, 0x80
_TWO, _SHIFT_JIS = ((0x81, 0xFE, 2),), ((0x81, 0x9F, 2), (0xE0, 0xFC, 2))
_FIRSTS = {
    "shift": _SHIFT_JIS,
    "cp932": _SHIFT_JIS,
    "cp942": _SHIFT_JIS,
    "euc_jp": ((0xA1, 0xFE, 2), (0x8E, 0x8E, 2), (0x8F, 0x8F, 3)),
    "euc_jis": ((0xA1, 0xFE, 2), (0x8E, 0x8E, 2), (0x8F, 0x8F, 3)),
    "euc_tw": ((0xA1, 0xFE, 2), (0x8E, 0x8E, 4)),
    "johab": ((0x84, 0xD3, 2), (0xD8, 0xDE, 2), (0xE0, 0xF9, 2)),
} | dict.fromkeys(("gb", "big5", "euc_kr", "cp949", "cp950", "cp1381"), _TWO)
"""By the beginning of a name: first bytes of characters of several bytes, and how many."""
_UNSEEN = ("iso2022", "hz", "utf-7", "utf-16", "utf-32", "utf_7", "utf_16", "utf_32")


_PLAIN = {
    "cp950": "big5", "cp949": "euc_kr", "ksc_5601": "euc_kr", "cp932": "shift_jis",
    "gbk": "gb2312", "cp936": "gb2312", "gb18030": "gb2312",
}  # fmt: skip
"""Encodings that hold another one and letters besides."""


def codec_name(encoding: str) -> str:
    """The name of an encoding in Python, of one that only iconv names or knows a like one."""
    name = {"BIG-5": "big5"}.get(encoding.upper(), encoding)
    for one in (name, name.upper().replace("WINDOWS-", "CP")):
        with suppress(LookupError):
            return codecs.lookup(one).name
    return name.lower().replace("iso-2022", "iso2022").replace("-", "_")


def is_same_encoding(one: str, other: str) -> bool:
    """Whether two names are of one encoding, or of one and the letters that Windows adds to it."""
    names = {_PLAIN.get(name, name) for name in map(codec_name, (one, other))}
    return len(names) == 1


def is_known(encoding: str) -> bool:
    """Whether texts of an encoding can be decoded here."""
    try:
        codecs.lookup(codec_name(encoding))
    except LookupError:
        return False
    return True


class Endings:
    """Which texts of an encoding, named as Python or iconv names it, end inside a character.

    ``by_plan`` says that a plan named it, or another program than the one that cut texts: a text
    that fills its column is then no reason to take it for one that was cut off.
    """

    def __init__(self, encoding: str, by_plan: bool = True) -> None:
        self.encoding, self._by_plan = encoding, by_plan
        self._name = codec_name(encoding)
        firsts = next((f for name, f in _FIRSTS.items() if self._name.startswith(name)), ())
        self._sizes = np.ones(256, np.int64)
        for first, last, size in firsts:
            self._sizes[first : last + 1] = size
        self.looks = self._name == _UTF8 or bool(firsts)
        """Whether a character of the encoding may have several bytes."""
        self.is_utf8 = self._name == _UTF8
        self.unseen = self._name.startswith(_UNSEEN)
        """Whether such an ending cannot be seen."""

    def breaks_off(self, text: bytes) -> bool:
        """Whether one text does; what fills it up counts for nothing."""
        raw = np.frombuffer(text, np.uint8).reshape(1, -1)
        return bool(len(text) and self.looks and self.rows(raw)[0])

    def decoded(self, text: bytes) -> str:
        """The text as the reading library gives it, without such an ending."""
        try:
            decoder = codecs.getincrementaldecoder(self._name or _UTF8)("replace")
        except LookupError:
            return text.decode("ascii", "replace")
        return decoder.decode(text)

    def cut(self, text: bytes) -> str | None:
        """A text without such an ending; None where it has none, or is no text of the encoding."""
        whole = self.decoded(text.rstrip(b" \0"))
        return whole if self.breaks_off(text) and "\ufffd" not in whole else None

    def is_foreign(self, text: bytes) -> bool:
        """Whether a text that does holds nothing else of the encoding."""
        return sum(byte >= _HIGH for byte in text) == 1

    def foreign(self, raw: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which of such texts hold nothing else of the encoding, and have room for more."""
        alone: NDArray[np.bool_] = (raw >= _HIGH).sum(axis=1) == 1
        return alone if self._by_plan else alone & (raw[:, -1] < _HIGH)

    def rows(self, raw: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which texts do, of an array of bytes of shape (texts, bytes)."""
        if self._name != _UTF8:
            return self._walked(raw)
        filling = (raw == 0) | (raw == ord(" "))
        ends = raw.shape[1] - np.argmax(~filling[:, ::-1], axis=1)
        at = np.arange(len(raw))
        last, second, third = (
            np.where((ends >= k) & ~filling.all(axis=1), raw[at, np.maximum(ends - k, 0)], 0)
            for k in (1, 2, 3)
        )
        inner, before = (last & _FIRST_OF_2) == _HIGH, (second & _FIRST_OF_2) == _HIGH
        one = last >= _FIRST_OF_2
        two = inner & (second >= _FIRST_OF_3)
        three = inner & before & (third >= _FIRST_OF_4)
        broken: NDArray[np.bool_] = one | two | three
        return broken

    def _walked(self, raw: NDArray[np.uint8]) -> NDArray[np.bool_]:
        broken = np.zeros(len(raw), np.bool_)
        if self.looks and (raw >= _HIGH).any():
            from dpdesk.io.formats.ending_kernels import broken_ends

            four = self._name.startswith("gb18030")
            broken_ends(np.array(raw, np.uint8, order="C"), self._sizes, four, broken)
        return broken


# Which of the tables of a source is read.


_LISTED = 8


def chosen(
    wanted: str | None, tables: tuple[str, ...], source: str, noun: str, notes: Notes | None = None
) -> str:
    """The name of the table to read: the one wanted, or the only one.

    With ``notes`` the first of several is read, and noted. Raises InputError ``source.table`` whose
    details have all of them.
    """
    listed = ", ".join(f"`{name}`" for name in tables[:_LISTED])
    listed += ", …" if len(tables) > _LISTED else ""
    if wanted is not None and wanted in tables:
        return wanted
    if wanted is not None:
        near = nearest(wanted, tables)
        hint = msg("Did you mean `{near}`? ", near=near) if near else ""
        raise InputError(
            "source.table",
            msg(
                "{source}: there is no {noun} `{wanted}`.", source=source, noun=noun, wanted=wanted
            ),
            hint=msg("{hint}It has {noun}.", hint=hint, noun=listed or f"no {noun}"),
            details={"table": wanted, "tables": tables},
        )
    if not tables:
        raise InputError(
            "source.table",
            msg("{source}: found no {noun}, expected one.", source=source, noun=noun),
        )
    if len(tables) > 1 and notes is None:
        raise InputError(
            "source.table",
            msg(
                "{source}: found {tables:,} {noun}s, expected the name of one.",
                source=source,
                tables=len(tables),
                noun=noun,
            ),
            hint=msg("Name one as `table` under [source]: {listed}.", listed=listed),
            details={"tables": tables},
        )
    if len(tables) > 1 and notes is not None:
        notes.add(
            "tables",
            msg(
                "The first of {tables:,} {noun}s was read, `{tables2}`; name another one "
                "as `table`: {listed}.",
                tables=len(tables),
                noun=noun,
                tables2=tables[0],
                listed=listed,
            ),
        )
    return tables[0]
