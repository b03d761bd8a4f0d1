"""Parameters whose values are texts, flags, signed numbers, lists or nested values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import (
    Nested,
    Numbers,
    Parameter,
    ParameterValue,
    Texts,
    exact_number,
    plain_number,
)
from dpdesk.core.plain import freeze, number_text, thaw


@dataclass(frozen=True)
class TextParameter(Parameter):
    """A text of at most ``longest`` characters (None: any length)."""

    default: str | None = None
    longest: int | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, str) or (self.longest is not None and len(raw) > self.longest):
            raise self.invalid(where, raw)
        return raw

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return self.default

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return value

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        if self.longest is None:
            return "a text"
        return (
            "one character"
            if self.longest == 1
            else msg("at most {most} characters", most=self.longest)
        )


@dataclass(frozen=True)
class FlagParameter(Parameter):
    """Yes or no."""

    default: bool = False

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, bool):
            raise self.invalid(where, raw)
        return raw

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return self.default

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return value

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "true or false"


@dataclass(frozen=True)
class DecimalParameter(Parameter):
    """An exact number of either sign, or none."""

    default: Fraction | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; an empty text means none."""
        if isinstance(raw, str) and not raw.strip():
            return self.default
        number = exact_number(raw)
        if number is None:
            raise self.invalid(where, raw)
        return number

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return self.default

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return plain_number(value)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a number"


@dataclass(frozen=True)
class NumberListParameter(Parameter):
    """A list of numbers; ``whole`` numbers of at least ``minimum`` when asked."""

    whole: bool = False
    minimum: int | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a form's text separates numbers by commas or spaces."""
        items: tuple[object, ...]
        if isinstance(raw, str):
            items = tuple(part for part in re.split(r"[\s,;]+", raw) if part)
        elif isinstance(raw, list | tuple):
            items = tuple(raw)
        else:
            items = (raw,)
        numbers: list[Fraction] = []
        for item in items:
            number = exact_number(item)
            if number is None or (self.whole and number.denominator != 1):
                raise self.invalid(where, raw)
            if self.minimum is not None and number < self.minimum:
                raise self.invalid(where, raw)
            numbers.append(number)
        return Numbers(tuple(numbers))

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        if not isinstance(value, Numbers):
            return None
        return [plain_number(number) for number in value.items]

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        if not isinstance(value, Numbers):
            return ""
        return ", ".join(number_text(number) for number in value.items)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        kind = "whole numbers" if self.whole else "numbers"
        least = "" if self.minimum is None else msg(" of {minimum} or more", minimum=self.minimum)
        return msg("a list of {kind}{least}, such as [5, 10, 20]", kind=kind, least=least)


@dataclass(frozen=True)
class CutsParameter(Parameter):
    """A list of rising cut points for each level, such as ``[[18, 65], [65]]``."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a form's text separates levels by semicolons or lines."""
        levels: list[object]
        if isinstance(raw, str):
            levels = [part for part in re.split(r"[;\n]", raw) if part.strip()]
        elif isinstance(raw, list | tuple):
            nested = any(isinstance(item, list | tuple) for item in raw)
            levels = list(raw) if nested else [raw] if raw else []
        else:
            raise self.invalid(where, raw)
        cuts = [self._level(level, raw, where) for level in levels]
        return Nested(tuple(cuts))

    def _level(self, level: object, raw: object, where: str) -> tuple[Fraction, ...]:
        if isinstance(level, str):
            level = [part for part in re.split(r"[\s,]+", level) if part]
        if not isinstance(level, list | tuple) or not level:
            raise self.invalid(where, raw)
        numbers: list[Fraction] = []
        for item in level:
            number = exact_number(item)
            if number is None or (numbers and number <= numbers[-1]):
                raise self.invalid(where, raw)
            numbers.append(number)
        return tuple(numbers)

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        if not isinstance(value, Nested) or not isinstance(value.plain, tuple):
            return None
        return [[plain_number(number) for number in level] for level in value.plain]

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        if not isinstance(value, Nested) or not isinstance(value.plain, tuple):
            return ""
        return joined(
            (", ".join(number_text(number) for number in level) for level in value.plain), "; "
        )

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a list of rising numbers for each level, such as [[18, 65], [65]]"


@dataclass(frozen=True)
class TextListParameter(Parameter):
    """A list of texts."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a form's text has one item in each line."""
        if isinstance(raw, str):
            raw = raw.splitlines()
        if not isinstance(raw, list | tuple):
            raise self.invalid(where, raw)
        for item in raw:
            if not isinstance(item, str):
                raise self.invalid(where, raw)
        return Texts(tuple(raw))

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return list(value.items) if isinstance(value, Texts) else None

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        return "\n".join(value.items) if isinstance(value, Texts) else ""

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return 'a list of texts, such as ["low", "high"]'


@dataclass(frozen=True)
class StructuredParameter(Parameter):
    """Tables and lists, kept as :class:`~dpdesk.core.parameters.Nested`.

    ``lines`` says whether :meth:`parse` reads a list of texts too, one for each line of a form.
    """

    lines: ClassVar[bool] = False

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return thaw(value.plain) if isinstance(value, Nested) else None


@dataclass(frozen=True)
class NestedParameter(StructuredParameter):
    """Nested tables and lists of texts; forms edit them with an editor of their own.

    ``example`` shows the shape in errors and help.
    """

    example: str = ""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; every value inside must be a text, a list or a table."""
        if not isinstance(raw, Mapping | list | tuple) or not _is_text_tree(raw):
            raise self.invalid(where, raw)
        return Nested(freeze(raw))

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return msg("nested tables and lists of texts, such as {example}", example=self.example)


def _is_text_tree(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_text_tree(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_text_tree(item) for item in value)
    return isinstance(value, str)


@dataclass(frozen=True)
class NumberTableParameter(StructuredParameter):
    """A number from 0 on for each of some names, such as ``{age = 2}``; ``whole`` ones if asked."""

    whole: bool = False

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a form's text is ``age = 2, sex = 1``."""
        items = dict(_pairs(raw)) if isinstance(raw, str) else raw
        if not isinstance(items, Mapping):
            raise self.invalid(where, raw)
        for name, given in items.items():
            number = exact_number(given)
            if not isinstance(name, str) or not name or number is None or number < 0:
                raise self.invalid(where, raw)
            if (isinstance(given, str) and not isinstance(raw, str)) or (
                self.whole and number.denominator != 1
            ):
                raise self.invalid(where, raw)
        plain = {name: plain_number(exact_number(given)) for name, given in items.items()}
        return Nested(freeze(dict(sorted(plain.items())))) if plain else None

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        return ", ".join(
            f"{name} = {number_text(number)}" for name, number in numbers_of(value).items()
        )

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        kind = "whole numbers" if self.whole else "numbers"
        return msg("a table of attribute names and {kind}, such as {{ age = 2 }}", kind=kind)


def numbers_of(value: ParameterValue) -> dict[str, Fraction]:
    """The numbers of a table by name; none where there is no table."""
    plain = value.plain if isinstance(value, Nested) else {}
    items = plain.items() if isinstance(plain, Mapping) else ()
    found = {str(name): exact_number(number) for name, number in items}
    return {name: number for name, number in found.items() if number is not None}


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.rpartition("=") for part in re.split(r"[,;\n]", text) if part.strip()]
    return [(name.strip(), number.strip()) for name, _, number in parts]
