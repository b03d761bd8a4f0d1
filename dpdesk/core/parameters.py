"""Typed parameters of methods: range, unit, help, exact values.

Forms, plan checks, ``--help``, reports and the contract tests derive from these specifications; no
front end knows a method's parameters by name.
"""

from __future__ import annotations

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.messages import joined, msg
from dpdesk.core.passwords import without_password
from dpdesk.core.plain import freeze, is_sane, number_text, show, thaw
from dpdesk.core.schema import Role

_MOST_COMPARED, _LONGEST_COMPARED = 2_000, 200


@dataclass(frozen=True)
class Numbers:
    """The value of a list of numbers."""

    items: tuple[Fraction, ...]


@dataclass(frozen=True)
class Texts:
    """The value of a list of texts."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Nested:
    """The value of a parameter with inner structure, as frozen plain values."""

    plain: object

    def __reduce__(self) -> tuple[Callable[[object], Nested], tuple[object]]:
        """Frozen tables cannot be sent to another process as they are."""
        return _frozen, (thaw(self.plain, exact=True),)


def _frozen(plain: object) -> Nested:
    return Nested(freeze(plain))


ParameterValue: TypeAlias = (
    "int | Fraction | str | bool | tuple[tuple[str, int], ...] | Numbers | Texts | Nested | None"
)


@dataclass(frozen=True)
class Choice:
    """One value of a choice parameter, with the words that a form shows."""

    value: str
    label: str
    help: str = ""


@dataclass(frozen=True)
class Condition:
    """A parameter matters only when another parameter has one of these values."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Parameter(ABC):
    """What every parameter says of itself.

    ``key`` names it in a plan, ``label`` in a form; ``help`` is one plain sentence, ``unit`` that
    of its number. Forms hide it where ``applies`` fails (it has no effect) or one of ``offered``
    (all but its usual value is refused). ``public``: a release may show its value, which neither
    depends on the data nor helps an attacker. ``replaces``: parameters left without effect by it.
    """

    key: str
    label: str
    help: str
    unit: str = ""
    required: bool = False
    applies: Condition | None = None
    offered: tuple[Condition, ...] = field(default=(), kw_only=True)
    public: bool = field(default=True, kw_only=True)
    replaces: tuple[str, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def parse(self, raw: object, where: str) -> ParameterValue:
        """The exact value of ``raw`` (from a plan or a form).

        Raises InputError ``parameter.invalid`` with a sentence that starts with ``where``.
        """

    def default_value(self) -> ParameterValue:
        """The value when a plan does not give the key; None when there is none."""
        found: ParameterValue = getattr(self, "default", None)
        return found

    def as_plain(self, value: ParameterValue) -> object:
        """The value as a plan file or a manifest writes it (JSON types).

        A fraction that is not whole is the float whose shortest decimal reads back as it.
        """
        return plain_number(value)

    @abstractmethod
    def range_text(self) -> str:
        """The accepted values in words, for help texts and errors."""

    def as_text(self, value: ParameterValue) -> str:
        """The value as a form's text field shows it; :meth:`parse` reads it back."""
        plain = self.as_plain(value)
        return "" if plain is None else str(plain)

    def invalid(self, where: str, raw: object) -> InputError:
        """The error that ``raw`` is no value of this parameter, starting with ``where``."""
        return InputError(
            "parameter.invalid",
            msg(
                "{where}: `{key}` is {found}, expected {expected}.",
                where=where,
                key=self.key,
                found=show(raw),
                expected=self.range_text(),
            ),
            details={"key": self.key},
        )


@dataclass(frozen=True)
class IntegerParameter(Parameter):
    """A whole number from ``minimum`` to ``maximum`` (None: no upper end)."""

    minimum: int = 0
    maximum: int | None = None
    default: int | None = None
    suggested: int | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        number = exact_number(raw)
        if number is None or number.denominator != 1 or number < self.minimum:
            raise self.invalid(where, raw)
        if self.maximum is not None and number > self.maximum:
            raise self.invalid(where, raw)
        return int(number)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        if self.maximum is None:
            return msg("a whole number of {least} or more", least=self.minimum)
        return msg("a whole number from {least} to {most}", least=self.minimum, most=self.maximum)


@dataclass(frozen=True)
class ShareParameter(Parameter):
    """An exact share from 0 to 1; forms show it in percent."""

    default: Fraction | None = None
    suggested: Fraction | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        number = exact_number(raw)
        if number is None or not 0 <= number <= 1:
            raise self.invalid(where, raw)
        return number

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a share from 0 to 1, such as 0.02"


@dataclass(frozen=True)
class ChoiceParameter(Parameter):
    """One of a few named values."""

    choices: tuple[Choice, ...] = ()
    default: str | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; names the nearest known value."""
        known = [choice.value for choice in self.choices]
        if isinstance(raw, str) and raw in known:
            return raw
        error = self.invalid(where, raw)
        near = nearest(str(raw), known)
        if near is None:
            raise error
        raise InputError(
            error.code,
            error.sentence,
            hint=msg("Did you mean `{near}`?", near=near),
            details=error.details,
        )

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        known = ", ".join(f"`{choice.value}`" for choice in self.choices if choice.value)
        return msg("one of {listed}", listed=known)


@dataclass(frozen=True)
class LevelsParameter(Parameter):
    """A hierarchy level for each of some attributes, such as ``{age = 2}``; None when not given."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; sorted by attribute name."""
        items: Iterable[object]
        if isinstance(raw, Mapping):
            items = raw.items()
        elif isinstance(raw, tuple):
            items = raw
        else:
            raise self.invalid(where, raw)
        levels: dict[str, int] = {}
        for item in items:
            name, level = item if isinstance(item, tuple) and len(item) == 2 else (None, None)
            number = exact_number(level)
            if not isinstance(name, str) or number is None or number.denominator != 1 or number < 0:
                raise self.invalid(where, raw)
            levels[name] = int(number)
        return tuple(sorted(levels.items()))

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return dict(value) if isinstance(value, tuple) else None

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a table of attribute names and levels, such as { age = 2 }"


_NUMBERS = (IntegerParameter, ShareParameter)


def parse_parameters(
    specifications: Sequence[Parameter],
    raw: Mapping[str, object],
    where: str,
    file: str = "plan",
) -> dict[str, ParameterValue]:
    """Read all parameters of a method from the keys of a plan's ``[protection]``.

    ``raw`` holds no ``method`` key. Unknown keys (``{file}.unknown-key``), missing required keys
    and values out of range raise InputError; the sentences start with ``where``.
    """
    known = {parameter.key: parameter for parameter in specifications}
    for key in raw:
        if key not in known:
            raise unknown_key(key, list(known), where, file)
    values: dict[str, ParameterValue] = {}
    for key, parameter in known.items():
        if key in raw:
            # Forms read numbers from text; in a plan a quoted number is a slip.
            if isinstance(raw[key], str) and isinstance(parameter, _NUMBERS):
                raise parameter.invalid(where, raw[key])
            values[key] = parameter.parse(raw[key], where)
        elif parameter.required:
            raise InputError(
                "parameter.missing",
                msg(
                    "{where}: the key `{key}` is missing, expected {expected}.",
                    where=where,
                    key=key,
                    expected=parameter.range_text(),
                ),
                details={"key": key},
            )
        else:
            values[key] = parameter.default_value()
    return values


def unknown_key(key: str, known: Sequence[str], where: str, file: str = "plan") -> InputError:
    """The error ``{file}.unknown-key`` for an unknown key, naming the nearest known one."""
    near = nearest(key, known)
    return InputError(
        f"{file}.unknown-key",
        msg("{where}: unknown key `{key}`.", where=where, key=key),
        hint=msg("Did you mean `{near}`?", near=near)
        if near
        else msg("Known keys: {known}.", known=", ".join(known)),
        details={"key": key, "nearest": near},
    )


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word closest to ``word``; None when none is close or there are too many."""
    if len(known) > _MOST_COMPARED or len(word) > _LONGEST_COMPARED:
        return None
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return close[0] if close else None


def plain_number(value: object) -> object:
    """An exact number as JSON writes it: an int when whole, else the nearest float."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def exact_number(raw: object, mark: str = ".") -> Fraction | None:
    """The exact value of a sane, finite number, or of its text with a decimal mark; else None."""
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | Fraction):
        return Fraction(raw)
    if isinstance(raw, float):
        raw = repr(raw)
    if isinstance(raw, str) and mark != ".":
        raw = raw.translate({ord(mark): ".", ord("."): " "})
    try:
        number = Decimal(raw.strip()) if isinstance(raw, str) else raw
    except InvalidOperation:
        return None
    return Fraction(number) if isinstance(number, Decimal) and is_sane(number) else None


def parameters_without_effect(
    parameters: Sequence[Parameter], values: Mapping[str, ParameterValue]
) -> Iterator[tuple[str, str]]:
    """Keys whose values do not matter beside the other values, each with the key that decides."""
    replaced = {
        key: parameter.key
        for parameter in parameters
        if values.get(parameter.key) is not None
        for key in parameter.replaces
    }
    for parameter in parameters:
        rule = parameter.applies
        if parameter.key in replaced:
            yield parameter.key, replaced[parameter.key]
        elif rule is not None and str(values.get(rule.key)) not in rule.values:
            yield parameter.key, rule.key


def effective_parameters(
    parameters: Sequence[Parameter],
    values: Mapping[str, ParameterValue],
    wanted: Sequence[Parameter],
) -> dict[str, object]:
    """The values, in plain form, of those of the ``wanted`` parameters that have an effect."""
    without = {key for key, _ in parameters_without_effect(parameters, values)}
    used: dict[str, object] = {}
    for parameter in wanted:
        value = values.get(parameter.key)
        if value is not None and parameter.key not in without:
            used[parameter.key] = parameter.as_plain(value)
    return used


# Parameters whose values are texts, flags, signed numbers, lists or nested values.


@dataclass(frozen=True)
class TextParameter(Parameter):
    """A text of at most ``longest`` characters (None: any length), or the name of a ``file``."""

    default: str | None = None
    longest: int | None = None
    file: bool = False

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, str) or (self.longest is not None and len(raw) > self.longest):
            raise self.invalid(where, raw)
        return raw

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        if self.longest is None:
            return "the name of a file" if self.file else "a text"
        if self.longest == 1:
            return "one character"
        return msg("at most {most} characters", most=self.longest)


@dataclass(frozen=True)
class FlagParameter(Parameter):
    """Yes or no."""

    default: bool = False

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, bool):
            raise self.invalid(where, raw)
        return raw

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
    """A list of texts; absent, with ``role``, all columns that have it.

    Inside a record they are columns of the data, or with ``values`` anything that is typed.
    """

    role: Role | None = field(default=None, kw_only=True)
    values: bool = field(default=False, kw_only=True)

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

    ``records`` says what the records are that it is made of, where it is.
    """

    records: Records | None = field(default=None, kw_only=True)

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        return thaw(value.plain) if isinstance(value, Nested) else None


@dataclass(frozen=True)
class NestedParameter(StructuredParameter):
    """Nested tables and lists of texts; forms edit them with an editor of their own.

    ``example`` shows the shape in errors and help; ``words`` are what people call the texts that
    may stand inside, empty where these are names and values of the data.
    """

    example: str = ""
    words: tuple[Choice, ...] = ()

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
    """A number from 0 on for each of some names, such as ``{age = 2}``; ``whole`` ones if asked.

    The names are columns with ``role``, or any. ``usual`` says what holds without a number; a form
    shows a ``share`` in percent, and whole numbers as levels of a hierarchy.
    """

    whole: bool = False
    role: Role | None = field(default=None, kw_only=True)
    usual: str = field(default="", kw_only=True)
    share: bool = field(default=False, kw_only=True)

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        if not isinstance(raw, Mapping):
            raise self.invalid(where, raw)
        for name, given in raw.items():
            number = None if isinstance(given, str) else exact_number(given)
            bad = number is None or number < 0 or (self.whole and number.denominator != 1)
            if bad or not isinstance(name, str) or not name:
                raise self.invalid(where, raw)
        plain = {name: plain_number(exact_number(raw[name])) for name in sorted(raw)}
        return Nested(freeze(plain)) if plain else None

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        pairs = numbers_of(value).items()
        return ", ".join(f"{name} = {number_text(number)}" for name, number in pairs)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        kind = "whole numbers" if self.whole else "numbers"
        return msg("a table of attribute names and {kind}, such as {{ age = 2 }}", kind=kind)


def numbers_of(value: ParameterValue) -> dict[str, Fraction]:
    """The numbers of a table by name; none where there is no table."""
    plain = value.plain if isinstance(value, Nested) else None
    items = plain if isinstance(plain, Mapping) else {}
    found = {str(name): exact_number(number) for name, number in items.items()}
    return {name: number for name, number in found.items() if number is not None}


# Checks that every table of a plan needs: known keys, texts, sentences that name the place.


def check_known(raw: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    """Raise InputError ``plan.unknown-key`` for a key that is none of ``known``."""
    for key in raw:
        if key not in known:
            raise unknown_key(key, known, where)


def missing_key(key: str, where: str, expected: str) -> InputError:
    """The error for a key that is absent."""
    return InputError(
        "plan.missing-key",
        msg(
            "{where}: the key `{key}` is missing, expected {expected}.",
            where=where,
            key=key,
            expected=expected,
        ),
        details={"key": key},
    )


def invalid(key: str, found: object, expected: str, where: str) -> InputError:
    """The error for a value that is none of those expected; it repeats no password."""
    if isinstance(found, str):
        found = without_password(found)
    return InputError(
        "plan.invalid",
        msg(
            "{where}: `{key}` is {found}, expected {expected}.",
            where=where,
            key=key,
            found=show(found),
            expected=expected,
        ),
        details={"key": key},
    )


def text_of(raw: Mapping[str, object], key: str, where: str, default: str | None) -> str:
    """The text under a key, or the default; InputError when it is absent or no text."""
    value = raw.get(key, default)
    if value is None:
        raise missing_key(key, where, "a text")
    if not isinstance(value, str):
        raise invalid(key, value, "a text", where)
    return value


def one_of(known: tuple[str, ...]) -> str:
    """The words that an error lists as expected."""
    return msg("one of {listed}", listed=", ".join(f"`{word}`" for word in known))


def with_nearest(error: InputError, word: str, known: tuple[str, ...]) -> InputError:
    """The same error with the nearest known word as its hint."""
    near = nearest(word, known)
    hint = msg("Did you mean `{near}`?", near=near) if near else ""
    return InputError(error.code, error.sentence, hint=hint, details=error.details)


# What the records of a plan look like: small tables alone or in a list, as rules and measures
# are.
#
# A parameter whose value is made of records says so here; forms make their controls from it.


class Among(Enum):
    """Which columns of the data an entry can name."""

    ALL = "all"
    SPANNING = "spanning"
    """Those that can be dimensions: no identifiers, weights or clusters."""
    SENSITIVE = "sensitive"


@dataclass(frozen=True)
class ColumnParameter(TextParameter):
    """The name of a column."""

    among: Among = Among.SPANNING


@dataclass(frozen=True)
class Variant:
    """One kind of record.

    ``entries`` are its keys; their ``applies`` look at other keys of the record. ``fixed`` are keys
    with the values by which it is told from others; without any it is told by its first entry.
    ``bare`` is the text that stands for the whole record. ``check`` takes a record and gives a
    sentence on what does not fit together in it, an empty one where all does.
    """

    label: str = ""
    entries: tuple[Parameter, ...] = ()
    fixed: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    bare: str = ""
    check: Callable[[Mapping[str, object]], str] | None = None

    def fits(self, plain: object) -> bool:
        """Whether a plain value is a record of this kind, perhaps one that is not complete."""
        if self.bare or not isinstance(plain, Mapping):
            return plain == self.bare
        if self.fixed:
            return all(_same(plain.get(key), value) for key, value in self.fixed.items())
        return bool(self.entries) and self.entries[0].key in plain


def _same(one: object, other: object) -> bool:
    return one == other or (
        exact_number(other) is not None and exact_number(one) == exact_number(other)
    )


@dataclass(frozen=True)
class Records:
    """The records of a parameter.

    ``kind`` names the choice among several variants. ``more`` and ``remove`` are words and
    explanation of the buttons for one more and one less. There are at least ``least`` and at most
    ``most``; ``alone``: a single one is written without a list. ``proposed`` are the records that
    are offered for one more: the first whose variant is not there yet, else the last.
    """

    variants: tuple[Variant, ...]
    kind: str = ""
    more: tuple[str, str] = ("", "")
    remove: tuple[str, str] = ("", "")
    least: int = 1
    most: int | None = None
    alone: bool = True
    proposed: tuple[object, ...] = ()

    def variant_of(self, plain: object) -> Variant:
        """The variant of a plain value; the first one where none fits."""
        return next((one for one in self.variants if one.fits(plain)), self.variants[0])


def bounds(lower: str, upper: str, step: str) -> tuple[Parameter, ...]:
    """The entries of a grid of values, with these explanations."""
    return (
        DecimalParameter("lower", "Smallest value", lower, required=True),
        DecimalParameter("upper", "Largest value", upper, required=True),
        DecimalParameter("step", "In steps of", step, default=Fraction(1)),
    )


def in_order(record: Mapping[str, object]) -> str:
    """What is wrong with the grid of a record: a sentence, empty where nothing is."""
    lower, upper = exact_number(record.get("lower")), exact_number(record.get("upper"))
    if lower is not None and upper is not None and lower >= upper:
        return "The smallest value must be less than the largest."
    step = exact_number(record.get("step"))
    return "A step must be greater than 0." if step is not None and step <= 0 else ""
