"""Numbers with what they count, and names that are cut where they are too long."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.ui.words.numbers import grouped, legible

LONGEST_NAME = 40
translate = QCoreApplication.translate


def rows_words(count: int) -> str:
    """``1 row`` or ``20,502 rows``."""
    if count == 1:
        return translate("Counts", "1 row")
    return translate("Counts", "{n} rows").format(n=grouped(count))


def columns_words(count: int) -> str:
    """``1 column`` or ``16 columns``."""
    if count == 1:
        return translate("Counts", "1 column")
    return translate("Counts", "{n} columns").format(n=grouped(count))


def quoted(words: str) -> str:
    """Words in the quotation marks of the window's language."""
    return translate("Counts", "“{words}”").format(words=legible(words))


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name or value inside a sentence: in one line, with dots where it is too long.

    An empty field and blanks are named: they must not look like nothing.
    """
    if name == "":
        return translate("Counts", "empty field")
    plain = legible(" ".join(name[: 4 * longest].split()))
    if not plain:
        return translate("Counts", "blank")
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"
