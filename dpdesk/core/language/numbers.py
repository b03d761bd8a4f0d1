"""Numbers as the program writes them, and the same ones with the marks of another language.

The program writes ``1,234.5``: commas between thousands, a point before decimals. Only a text that
is such a number as a whole is ever changed; digits stay what they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

INTEGER = r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)"
NUMBER = rf"{INTEGER}(?:\.\d+)?(?:[eE][+-]?\d+)?(?:/\d+)?"
_FIGURE = re.compile(rf"(?P<sign>(?:[<>≈±×+] ?)*)(?P<number>{NUMBER})(?P<unit> ?%)?")


@dataclass(frozen=True)
class NumberMarks:
    """What a language writes before decimals and between thousands."""

    decimal: str = "."
    group: str = ","

    def written(self, text: str) -> str:
        """A number of the program's own form with these marks.

        It may have a sign such as ``±`` or ``<`` before it and ``%`` after it. ValueError for any
        other text.
        """
        found = _FIGURE.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is not a number as the program writes it")
        marks = str.maketrans({",": self.group, ".": self.decimal})
        number = found["number"].translate(marks)
        return f"{found['sign']}{number}{found['unit'] or ''}"


def is_figure(text: str) -> bool:
    """Whether a text is one number as the program writes it, with its sign and ``%``."""
    return _FIGURE.fullmatch(text) is not None
