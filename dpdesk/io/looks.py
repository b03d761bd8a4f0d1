"""What single texts look like: numbers, amounts, dates, times, codes of missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest

MISSING_CODES = (
    "?", "NA", "N/A", "n/a", "NULL", "null", "NONE", "None", "NaN", "nan", ".", "-", "..", "#N/A",
    "-9", "-99", "-999", "k. A.", "k.A.", "keine Angabe",
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?\Z")
_DATA = (
    _NUMBER,
    re.compile(r"([€$£¥]\s?)?[+-]?([€$£¥]\s?)?\d[\d.,'’\s]*[%‰€$£¥]?\Z"),
    re.compile(r"(\d{1,4}[-./]){2}\d{1,4}([T ].*)?\Z"),
    re.compile(r"\d{1,2}:\d\d(:\d\d.*)?\Z"),
)
"""Numbers, amounts and shares (``€ 5``, ``5 %``, ``1'234``), dates, times of day."""


_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w./-]{1,40}\Z")


_COUNTED = re.compile(r"-(0*[1-9]|66|77|88|9[5-9]|[678]{3}|99[5-9]|999[5-9])([.,]0+)?\Z")
_FEW_CODES, _FEW_WORDS, _MANY_VALUES, _ROWS_OF_A_CODE = 3, 2, 10, 2
_WORD = re.compile(r"[^\d\s.,][^\d.,]{0,19}\Z")


def missing_codes(rows: Sequence[Sequence[str]]) -> frozenset[str]:
    """Texts in some rows of a file that often stand for missing values.

    These are the known words, others that recur among many numbers (``N``), and of negative numbers
    usual codes alone: at most three in a column that has no others, and ``-8`` or ``-97`` only
    where each recurs among many numbers.
    """
    found = set[str]()
    for column in zip_longest(*rows, fillvalue=""):
        texts = Counter(text for value in column if (text := value.strip()))
        below = [text for text in texts if _NUMBER.match(text) and text.startswith("-")]
        words = {text for text in texts if text in MISSING_CODES and text not in below}
        words |= _among_numbers(texts, words)
        found.update(value for value in column if value.strip() in words)
        if len(below) > _FEW_CODES or not all(map(_COUNTED.match, below)):
            continue
        numbers = all(map(_NUMBER.match, texts.keys() - words))
        many = numbers and len(texts) - len(below) - len(words) >= _MANY_VALUES
        often = many and all(texts[text] >= _ROWS_OF_A_CODE for text in below)
        found.update(text for text in below if often or text in MISSING_CODES)
    return frozenset(found)


def _among_numbers(texts: Mapping[str, int], words: Collection[str]) -> set[str]:
    """One or two short words that recur in a column which otherwise holds many numbers."""
    found = {text for text in texts if text not in words and not _NUMBER.match(text)}
    many = len(texts) - len(found) - len(words) >= _MANY_VALUES
    short = all(_WORD.match(text) and texts[text] >= _ROWS_OF_A_CODE for text in found)
    return found if many and short and len(found) <= _FEW_WORDS else set()


def looks_like_code(value: str) -> bool:
    """Whether a value is one word of letters and digits, such as ``h2o``, ``B12`` or ``A-001``."""
    return _CODE.match(value.strip()) is not None


def datum(value: str) -> int | None:
    """Which kind of data a value is by its looks, None for what may be a name."""
    text = value.strip()
    for kind, form in enumerate(_DATA):
        if form.match(text):
            return kind
    return None
