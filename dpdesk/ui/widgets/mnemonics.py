"""Letters after Alt: each at most once in what is visible at the same time."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def menu_letters() -> str:
    """The letters of the menu bar, in the language of the window."""
    return QCoreApplication.translate("Mnemonics", "FEVRH")


class Mnemonics:
    """Hands out letters; those of the menu bar are taken from the start."""

    def __init__(self, reserved: str | None = None) -> None:
        letters = menu_letters() if reserved is None else reserved
        self._taken = {letter.upper() for letter in letters}

    def mark(self, text: str) -> str:
        """``text`` with ``&`` before the first free letter, unmarked when none is free.

        The beginnings of words come first. An ampersand of the text itself is doubled.
        """
        starts = [n for n, letter in enumerate(text) if n == 0 or text[n - 1] in " -"]
        rest = [n for n in range(len(text)) if n not in starts]
        for place in (*starts, *rest):
            letter = text[place].upper()
            if letter.isascii() and letter.isalpha() and letter not in self._taken:
                self._taken.add(letter)
                before, after = text[:place], text[place:]
                return before.replace("&", "&&") + "&" + after.replace("&", "&&")
        return text.replace("&", "&&")
