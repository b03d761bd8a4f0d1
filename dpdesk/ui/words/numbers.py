"""Numbers with the marks of the window's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication

from dpdesk.core.charts import format_figure
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import harmless
from dpdesk.core.shown import LONGEST_VALUE, with_short_words
from dpdesk.core.shown import shortened as shown


def marked(number: str) -> str:
    """A number as the program writes it, ``1,234.5``, with this language's marks.

    What is neither comma nor point stays, such as signs and ``%``.
    """
    sample = QCoreApplication.translate("Numbers", "1,234.5")
    group, decimal = sample[1], sample[-2]
    return number.translate({ord(","): group, ord("."): decimal})


_TIED = re.compile(r"(?<=[\d}]) (?=%)|(?<=[±≈≤≥]) (?=[\d{])")


def tied(text: str) -> str:
    """A text, or what one is made from, whose lines do not break between a number and its sign."""
    return _TIED.sub("\u00a0", text)


def bare_share(text: str) -> str:
    """A share in words without its sign, where the sign stands once for two."""
    return text.removesuffix("%").rstrip()


def marked_within(text: str) -> str:
    """An amount such as ``ε = 0.5, δ = 1e-06`` with this language's marks, in its numbers alone."""
    return re.sub(r"(?<=\d)[.,](?=\d)", lambda found: marked(found[0]), text)


def grouped(number: int) -> str:
    """A whole number with its digits in groups."""
    return marked(f"{number:,}")


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """As :func:`dpdesk.core.shown.shortened`, in the language of the window.

    Qt lays out every character, and a window would choke on all of them. Characters that would
    turn the words around them are written as numbers.
    """
    if shown(text, most) == text:
        return legible(text)
    words = QCoreApplication.translate("Cells", "{text}… ({n} characters)")
    return words.format(text=legible(text[:most]), n=grouped(len(text)))


def legible(text: str) -> str:
    """A text with names or values of the data in it, which can neither turn nor widen the rest."""
    return with_short_words(harmless(text))


def verbatim(text: str) -> str:
    """A text for a button, action or label of a field, with its ampersands.

    Qt reads a single one there as the mark of a letter to press, and does not show it.
    """
    return text.replace("&", "&&")


def figure_words(value: float | None, kind: str) -> str:
    """As :func:`dpdesk.core.charts.format_figure`, with this language's marks."""
    return tied(marked(format_figure(value, kind)))


def typed_number(text: str, fractions: bool) -> Decimal | None:
    """The number that a text, with comma or point, can only mean; None when that is doubtful.

    Blanks stand between groups of digits. Of two different marks the last one is the decimal one.
    A single mark is the decimal one; but where three digits follow, as in ``1.000``, only this
    language's own decimal mark can be read so. Where there are no fractions, each mark is one
    between groups, and has to be one of this language.

    >>> typed_number("12,5", True), typed_number("1.000", True), typed_number("1,000", False)
    (Decimal('12.5'), Decimal('1.000'), Decimal('1000.0'))
    >>> typed_number("1,00", False) is None
    True
    """
    plain = "".join(text.split()).replace("−", "-")
    own = marked(",.")
    whole, mark, rest = _parted(plain, own, fractions)
    if mark and mark != own[1] and _looks_grouped(whole, rest):
        return None
    groups = re.split(r"[.,]", whole.lstrip("+-"))
    between = set(whole) & {".", ",", mark}
    if len(between) > 1 or mark in between or (not fractions and own[1] in between):
        return None
    if between and (not 1 <= len(groups[0]) <= 3 or any(len(one) != 3 for one in groups[1:])):
        return None
    digits = "".join(groups)
    if not (digits + rest).isdecimal():
        return None
    return Decimal(("-" if whole.startswith("-") else "") + (digits or "0") + "." + (rest or "0"))


def typed_exact(text: str) -> Fraction | None:
    """The exact value of a typed number, see :func:`typed_number`; ``1e-6`` is one too."""
    number = typed_number(text, fractions=True)
    if number is None:
        return exact_number(text.strip()) if "e" in text.lower() else None
    return exact_number(number)


def _parted(text: str, own: str, fractions: bool) -> tuple[str, str, str]:
    """What stands before the decimal mark, the mark, and what stands behind it."""
    marks = [letter for letter in text if letter in ".,"]
    if not fractions or not marks or marks.count(marks[-1]) > 1:
        return text, "", ""
    if len(marks) == 1 and own[0] == marks[0] and _looks_grouped(*text.split(marks[0])):
        return text, "", ""
    return text.rpartition(marks[-1])


def _looks_grouped(whole: str, rest: str) -> bool:
    """Whether a mark between these digits could be one of thousands."""
    return len(rest) == 3 and 1 <= len(whole.lstrip("+-")) <= 3 and whole.lstrip("+-") != "0"


LONGEST_NAME = 40
LONG_SENTENCE = 300
"""Letters of a sentence beside something else; it may name very many columns."""
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


_MARKED = re.compile(r"`([^`]*)`")


def with_quotes(sentence: str, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """The sentence with names and values in quotation marks instead of a terminal's marks.

    ``labels`` are said for the names that have one.
    """
    return _MARKED.sub(lambda found: quoted(labels.get(found[1], found[1])), sentence)


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name or value inside a sentence: in one line, with dots where it is too long.

    An empty field and blanks are named: they must not look like nothing.
    """
    if name == "":
        return translate("Counts", "empty field")
    plain = legible(" ".join(name[: 4 * longest].split()))
    if not plain:
        return translate("Counts", "space")
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"
