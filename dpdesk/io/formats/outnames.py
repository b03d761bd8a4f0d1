"""Names of columns that statistical programs accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

SPSS_WORDS = re.compile("ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH", re.IGNORECASE)
STATA_WORDS = re.compile(
    r"_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|str[0-9]+|strL"
    "|using|with"
)
SAS_WORDS = re.compile("_(N|ERROR|NUMERIC|CHARACTER|ALL)_", re.IGNORECASE)
"""Words that are no names of columns in each program."""


def accepted_names(
    names: Sequence[str],
    most: int,
    ascii_only: bool = False,
    first: str = "",
    other: str = "",
    reserved: re.Pattern[str] = SPSS_WORDS,
) -> list[str]:
    """Names of at most ``most`` bytes of letters, digits and ``_``, each different but for case.

    ``first`` and ``other`` are further characters that may begin a name, or stand within it;
    ``reserved`` are words that are no names. A name that is accepted as it is stays, whichever
    other would become the same; others are changed as little as possible.
    """
    flags = re.ASCII if ascii_only else re.NOFLAG
    plain = [_plain(name, flags, first, other, reserved) for name in names]
    found: dict[int, str] = {}
    taken: set[str] = set()
    for place, name in enumerate(names):
        if _cut(plain[place], most) == name and name.upper() not in taken:
            taken.add(name.upper())
            found[place] = name
    numbers: dict[str, int] = {}
    for place, text in enumerate(plain):
        if place in found:
            continue
        made, number = _cut(text, most), numbers.get(text, 1)
        while made.upper() in taken:
            number += 1
            ending = f"_{number}"
            made = _cut(text, most - len(ending)) + ending
        numbers[text] = number
        taken.add(made.upper())
        found[place] = made
    return [found[place] for place in range(len(plain))]


def unused_names(names: Iterable[str], start: str) -> Iterator[str]:
    """``start`` with a number, over and over, but none of ``names`` whatever their case."""
    taken = {name.upper() for name in names}
    return (made for n in count(1) if (made := f"{start}{n}").upper() not in taken)


def _plain(
    name: str, flags: re.RegexFlag, first: str, other: str, reserved: re.Pattern[str]
) -> str:
    text = re.sub(rf"[^\w{re.escape(first + other)}]", "_", name, flags=flags)
    if reserved is STATA_WORDS:  # letters and decimal digits, no other numerals
        text = "".join(c if c.isalpha() or c.isdecimal() else "_" for c in text)
    if not text or text != name or text.endswith("."):
        text = text.rstrip("_.") or "v"
    if not (text[0].isalpha() or text[0] in first) or reserved.fullmatch(text):
        text = f"v_{text}"
    return text


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8")[:most].decode("utf-8", "ignore")


def cut_text(text: str, most: int) -> str:
    """A label of at most ``most`` bytes of UTF-8."""
    return _cut(text, most)
