"""Texts whose last bytes are the beginning of a character alone, in an encoding of several bytes.

The reading library drops such an ending without a word. Where it is the only byte of a text that is
none of ASCII, the text is most likely in another encoding than its file says, and a letter would be
lost. A text that holds more of the encoding was cut off by its program inside its last character.
"""

from __future__ import annotations

import codecs
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UTF8 = "utf-8"
_SEVERAL = ("gb", "big5", "euc", "shift", "cp932", "cp949", "cp950", "johab", "hz")
_FIRST_OF_2, _FIRST_OF_3, _FIRST_OF_4, _HIGH = 0xC0, 0xE0, 0xF0, 0x80


class Endings:
    """Which texts of an encoding, named as Python or iconv names it, end inside a character."""

    def __init__(self, encoding: str) -> None:
        try:
            self._name = codecs.lookup(encoding.replace("WINDOWS-", "cp")).name
        except LookupError:
            self._name = ""
        self.looks = self._name == _UTF8 or self._name.startswith(_SEVERAL)
        """Whether a character of the encoding may have several bytes."""

    def breaks_off(self, text: bytes) -> bool:
        """Whether one text does; what fills it up counts for nothing."""
        raw = np.frombuffer(text, np.uint8).reshape(1, -1)
        return bool(len(text) and self.looks and self.rows(raw)[0])

    @staticmethod
    def foreign(raw: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which of such texts hold nothing else of the encoding."""
        alone: NDArray[np.bool_] = (raw >= _HIGH).sum(axis=1) == 1
        return alone

    def rows(self, raw: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which texts do, of an array of bytes of shape (texts, bytes)."""
        filling = (raw == 0) | (raw == ord(" "))
        ends = raw.shape[1] - np.argmax(~filling[:, ::-1], axis=1)
        at = np.arange(len(raw))
        last, second, third = (
            np.where((ends >= k) & ~filling.all(axis=1), raw[at, np.maximum(ends - k, 0)], 0)
            for k in (1, 2, 3)
        )
        if self._name != _UTF8:
            places = np.flatnonzero((last >= _HIGH) | (second >= _HIGH))
            found = np.zeros(len(raw), np.bool_)
            found[[k for k in places if self._pending(raw[k, : ends[k]].tobytes())]] = True
            return found
        inner, before = (last & _FIRST_OF_2) == _HIGH, (second & _FIRST_OF_2) == _HIGH
        one = last >= _FIRST_OF_2
        two = inner & (second >= _FIRST_OF_3)
        three = inner & before & (third >= _FIRST_OF_4)
        broken: NDArray[np.bool_] = one | two | three
        return broken

    def _pending(self, text: bytes) -> bool:
        decoder: Any = codecs.getincrementaldecoder(self._name)("replace")
        decoder.decode(text)
        return bool(decoder.getstate()[0])
