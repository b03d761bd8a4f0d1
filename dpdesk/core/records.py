"""What the records of a plan look like: small tables alone or in a list, as rules and measures are.

A parameter whose value is made of records says so here; forms make their controls from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from types import MappingProxyType

from dpdesk.core.parameters import DecimalParameter, Parameter, TextParameter, exact_number


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
        DecimalParameter("lower", "Least value", lower, required=True),
        DecimalParameter("upper", "Largest value", upper, required=True),
        DecimalParameter("step", "In steps of", step, default=Fraction(1)),
    )


def in_order(record: Mapping[str, object]) -> str:
    """What is wrong with the grid of a record: a sentence, empty where nothing is."""
    lower, upper = exact_number(record.get("lower")), exact_number(record.get("upper"))
    if lower is not None and upper is not None and lower >= upper:
        return "The least value has to be less than the largest."
    step = exact_number(record.get("step"))
    return "A step has to be more than 0." if step is not None and step <= 0 else ""
