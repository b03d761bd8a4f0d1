"""Plain values (text, numbers, truth values, lists, tables): frozen, exact, shown to people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import islice
from types import MappingProxyType

# No option needs more; beyond it, an exact number would fill the memory.
MAX_DIGITS = 1000
EMPTY = "(empty)"
_MAX_BITS = 3321
_SHOWN = 60
BLANKS = (
    *((0x9, 0xD), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0xAD, 0xAD), (0x34F, 0x34F)),
    *((0x61C, 0x61C), (0x115F, 0x1160), (0x1680, 0x1680), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""Code points, first and last, that show nothing: Unicode's ``White_Space``, what it lets programs
ignore (``Default_Ignorable_Code_Point``), and the empty sign of Braille."""
_BLANK = re.compile("[" + "".join(f"{chr(one)}-{chr(last)}" for one, last in BLANKS) + "]*")
_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tabs and line ends, and those that turn the direction of reading."""


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but what shows nothing (:data:`BLANKS`)."""
    return _BLANK.fullmatch(text) is not None


def grouped_decimal(number: str, *, rounded: bool = False) -> str:
    """A decimal number with its thousands grouped, ``1,234.5``.

    ``rounded`` as people compare numbers: to two decimals, and small ones to five digits.
    """
    value = Decimal(number)
    exponent = value.as_tuple().exponent
    places = max(2, 4 - value.adjusted())
    if rounded and isinstance(exponent, int) and -exponent > places:
        value = round(value, places)
    return f"{value:,f}"


def freeze(value: object) -> object:
    """An immutable copy with exact numbers, so that equal values compare equal.

    Lists become tuples, tables read-only mappings without their None entries, floats and fractions
    decimals (a float the shortest decimal that reads back as it), dates their ISO text.
    """
    if isinstance(value, Mapping):
        return freeze_table(value)
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Fraction):
        return _decimal(value)
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return value


def freeze_table(table: Mapping[str, object]) -> Mapping[str, object]:
    """A table frozen as :func:`freeze` says; a key that holds None counts as absent."""
    return MappingProxyType(
        {str(key): freeze(item) for key, item in table.items() if item is not None}
    )


def thaw(value: object, *, exact: bool = False) -> object:
    """Nested dicts and lists of JSON types; with ``exact`` decimals stay decimals."""
    if isinstance(value, Mapping):
        return {key: thaw(item, exact=exact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item, exact=exact) for item in value]
    if isinstance(value, Decimal) and not exact:
        return _number(value)
    return value


def odd_numbers(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Numbers without an exact finite value of sane length, with the dotted keys leading to them.

    These are NaN, the infinities, numbers of more than :data:`MAX_DIGITS` digits, and those that
    a float takes for whole ones.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from odd_numbers(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from odd_numbers(item, path)
    elif _is_odd(value):
        yield path, value


def unlike_floats(value: object, path: str = "") -> Iterator[tuple[str, Decimal]]:
    """Numbers with more digits than the floats that a release keeps of them, with their keys."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from unlike_floats(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from unlike_floats(item, path)
    elif isinstance(value, Decimal) and value.is_finite() and Decimal(repr(float(value))) != value:
        yield path, value


def _is_odd(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() > _MAX_BITS
    if isinstance(value, float):  # as its file writes it, not with all digits of its binary form
        return not is_sane(Decimal(repr(value)))
    return isinstance(value, Decimal) and (not is_sane(value) or _turns_whole(value))


def _turns_whole(number: Decimal) -> bool:
    """Whether a release, which keeps floats, would hold a whole number (such as 0) instead."""
    return float(number).is_integer() and number != number.to_integral_value()


def is_sane(number: Decimal) -> bool:
    """Whether a decimal is finite and can be turned into an integer or a fraction safely."""
    if not number.is_finite():
        return False
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and max(abs(exponent), abs(number.adjusted())) <= MAX_DIGITS


def fraction_of(text: str) -> Fraction:
    """The exact value of ``0.5`` or ``1/3``; ValueError for other texts, and for numbers of so many
    digits that a fraction would take for ever. ZeroDivisionError for ``1/0``.
    """
    if "/" not in text:
        try:
            sane = is_sane(Decimal(text))
        except InvalidOperation:
            sane = False
        if not sane:
            raise ValueError("not a finite number of sane length")
    return Fraction(text)


def show(value: object) -> str:
    """A found value in a sentence: short, on one line, texts in quotes."""
    if isinstance(value, str):
        text = " ".join(value.split()) if value.strip() else value
        return f'"{_short(text)}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        items = (f"{key} = {show(item)}" for key, item in islice(value.items(), _SHOWN))
        return _short("{ " + ", ".join(items) + " }") if value else "{}"
    if isinstance(value, list | tuple):
        return _short("[" + ", ".join(show(item) for item in value[:_SHOWN]) + "]")
    if isinstance(value, Decimal | float):
        return _short(str(value).lower())
    if isinstance(value, int):
        return (
            _short(str(value))
            if value.bit_length() <= _MAX_BITS
            else "a number of very many digits"
        )
    return _short(str(value))


def quoted(text: str) -> str:
    """A value of the data in a sentence, between backticks: cut, and escaped where it is unseen."""
    return f"`{_short(_seen(text[: _SHOWN + 1]))}`" if text else EMPTY


def quoted_whole(text: str) -> str:
    """The same of a name that has to be told from others, whatever its length."""
    return f"`{_seen(text)}`" if text else EMPTY


def _seen(text: str) -> str:
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape", "replace").decode("ascii")
        for sign in text
    )


def harmless(text: str) -> str:
    """A text to be shown, in which no value moves, colours or turns what stands around it."""
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def number_text(value: Fraction, mark: str = ".") -> str:
    """An exact number in plain digits, without exponent or needless zeros."""
    text = f"{_decimal(value):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(".", mark)


def _decimal(value: Fraction) -> Decimal:
    """The fraction as a decimal, exact when it has a finite expansion."""
    digits, rest = 0, value.denominator
    while rest % 10 == 0:
        rest //= 10
        digits += 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
            digits += 1
    if rest != 1 or digits > MAX_DIGITS:
        return Decimal(repr(float(value)))
    scaled = value * 10**digits
    sign, figures = (1, -int(scaled)) if scaled < 0 else (0, int(scaled))
    return Decimal((sign, tuple(int(figure) for figure in str(figures)), -digits))


def _number(value: Decimal) -> int | float:
    if is_sane(value) and value == value.to_integral_value():
        return int(value)
    return float(value)


class ExactFloat(float):
    """A number that people see with all its digits, as it was released."""
