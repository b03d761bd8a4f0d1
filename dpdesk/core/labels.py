"""What a statistical file says of its columns: labels, missing values, measure, format.

Values are the texts that the rest of the program works with: the code ``1`` of an SPSS file is
the text ``"1"``. The words follow the usage of SPSS and of the DDI: a *variable label* tells what a
column is, a *value label* what a code means, a *user-missing* value is a code that stands for
"no answer" of some kind and stays a value of its own.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import cast

_NO_LABELS: Mapping[str, str] = MappingProxyType({})
_LETTERS = frozenset(string.ascii_letters + "_")


class Kind(Enum):
    """What the values of a column are, as its file declares it."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"


_CALENDAR = re.compile(
    r"([AEJS]?DATE|QYR|MOYR|WKYR|DATETIME|YMDHMS|[DM]?TIME|WKDAY|MONTH)[\d.]*|%-?[td].*"
)


def is_calendar(display: str) -> bool:
    """Whether a display format of SPSS or Stata says that numbers are days, periods or times.

    Such a format tells what a number means (``QYR8``, ``WKDAY9``, ``%tq``), and depends on no row.
    """
    return _CALENDAR.fullmatch(display) is not None


def is_lettered(text: str) -> bool:
    """Whether a text is a lettered missing value: a point and a letter a to z or ``_``."""
    return len(text) == 2 and text[0] == "." and text[1] in _LETTERS


@dataclass(frozen=True)
class UserMissing:
    """Which values of a column its file declares missing: single ones, and a range of numbers.

    ``low`` and ``high`` are the ends of the range, both included; both are None without a range.
    ``letters`` says that the lettered missing values of Stata (``.a`` to ``.z``) or SAS (``.A`` to
    ``.Z``, ``._``) may stand among numbers.
    """

    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    letters: bool = False

    def __bool__(self) -> bool:
        return self.declared or self.letters

    @property
    def declared(self) -> bool:
        """Whether single values or a range were declared for this very column."""
        return bool(self.values) or self.low is not None

    def holds(self, text: str) -> bool:
        """Whether ``text`` is one of the missing values."""
        if text in self.values or (self.letters and is_lettered(text)):
            return True
        if self.low is None or self.high is None:
            return False
        try:
            return self.low <= float(text) <= self.high
        except ValueError:
            return False


NOTHING_MISSING = UserMissing()


@dataclass(frozen=True)
class Variable:
    """One column of a source as its file describes it.

    ``storage`` is the type in the file (``"double"``, ``"int8"``, ``"string"``, …), ``width`` the
    declared width of its texts in bytes (0: none declared), ``format`` the display format in the
    words of the file's own program (``"F8.2"``, ``"%td"``), ``measure`` one of ``"nominal"``,
    ``"ordinal"``, ``"scale"``, or empty. ``coarsened`` says as texts what was done to its numbers:
    those below ``bottom`` were set to it, those above ``top`` to that, all rounded to ``round``.
    ``role`` is what the file says that the column is for, in the words of a plan, and ``hierarchy``
    the name of a file next to it, or the digits of its codes (``"3 1 1"``); neither is released.
    """

    name: str
    label: str = ""
    kind: Kind = Kind.TEXT
    storage: str = ""
    width: int = 0
    format: str = ""
    measure: str = ""
    value_labels: Mapping[str, str] = field(default_factory=lambda: _NO_LABELS)
    missing: UserMissing = NOTHING_MISSING
    coarsened: Mapping[str, str] = field(default_factory=lambda: _NO_LABELS)
    role: str = ""
    hierarchy: str = ""

    def __post_init__(self) -> None:
        for name in ("value_labels", "coarsened"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[object, ...]:
        return (variable_from_plain, (self.as_plain(),))

    @property
    def described(self) -> bool:
        """Whether there is more to tell than the name and the type."""
        return bool(
            self.label
            or self.value_labels
            or self.missing.declared
            or self.measure
            or is_calendar(self.format)
            or self.coarsened
        )

    def shown(self, value: str) -> str:
        """A value for people: with its label in front of the code, where it has one."""
        label = self.value_labels.get(value)
        return value if label is None else f"{value} · {label}"

    def as_plain(self) -> dict[str, object]:
        """Plain values, as JSON can carry them; empty ones are left out."""
        missing: dict[str, object] = {}
        if self.missing.values:
            missing["values"] = list(self.missing.values)
        if self.missing.low is not None:
            missing |= {"low": _end(self.missing.low), "high": _end(self.missing.high)}
        if self.missing.letters:
            missing["letters"] = True
        found: dict[str, object] = {
            "label": self.label,
            "storage": self.storage,
            "width": self.width,
            "format": self.format,
            "measure": self.measure,
            "value_labels": dict(self.value_labels),
            "missing": missing,
            "coarsened": dict(self.coarsened),
            "role": self.role,
            "hierarchy": self.hierarchy,
        }
        head: dict[str, object] = {"name": self.name, "kind": self.kind.value}
        return head | {key: value for key, value in found.items() if value}


def _end(number: float | None) -> object:
    """An end of a range: a number, or ``"lowest"`` and ``"highest"`` for open ends."""
    if number is None or number == float("-inf"):
        return "lowest"
    return "highest" if number == float("inf") else number


def _number(end: object) -> float | None:
    if end is None:
        return None
    ends = {"lowest": float("-inf"), "highest": float("inf")}
    return ends[end] if isinstance(end, str) else float(cast("float", end))


def variable_from_plain(raw: Mapping[str, object]) -> Variable:
    """The inverse of :meth:`Variable.as_plain`; KeyError, TypeError or ValueError for others."""
    missing = cast("Mapping[str, object]", raw.get("missing", {}))
    return Variable(
        name=str(raw["name"]),
        label=str(raw.get("label", "")),
        kind=Kind(raw["kind"]),
        storage=str(raw.get("storage", "")),
        width=int(cast("int", raw.get("width", 0))),
        format=str(raw.get("format", "")),
        measure=str(raw.get("measure", "")),
        value_labels={
            str(key): str(value)
            for key, value in cast("Mapping[str, str]", raw.get("value_labels", {})).items()
        },
        missing=UserMissing(
            tuple(str(item) for item in cast("Iterable[str]", missing.get("values", ()))),
            _number(missing.get("low")),
            _number(missing.get("high")),
            bool(missing.get("letters", False)),
        ),
        coarsened=_coarsened(cast("Mapping[str, object]", raw.get("coarsened", {}))),
        role=str(raw.get("role", "")),
        hierarchy=str(raw.get("hierarchy", "")),
    )


COARSER = ("bottom", "top", "round")
"""What can be done to the numbers of a column; see :class:`Variable`."""


def _coarsened(raw: Mapping[str, object]) -> dict[str, str]:
    if not set(raw) <= set(COARSER):
        raise ValueError("numbers are made coarser in a way that is not known")
    return {key: str(value) for key, value in raw.items()}


@dataclass(frozen=True)
class Codebook:
    """The columns of a source that describes them; empty for a source that does not."""

    variables: tuple[Variable, ...] = ()

    def __bool__(self) -> bool:
        return any(variable.described for variable in self.variables)

    def get(self, name: str) -> Variable | None:
        """What is said of the column ``name``, or None."""
        return next((item for item in self.variables if item.name == name), None)

    def with_coarsened(self, name: str, coarsened: Mapping[str, str]) -> Codebook:
        """The columns with what was done to the numbers of ``name``."""
        known = self.get(name) or Variable(name, kind=Kind.NUMBER)
        others = tuple(each for each in self.variables if each.name != name)
        return Codebook((*others, replace(known, coarsened=coarsened)))

    def missing(self, name: str) -> UserMissing:
        """The user-missing values of the column ``name``; none when nothing is said of it."""
        found = self.get(name)
        return NOTHING_MISSING if found is None else found.missing


NO_BOOK = Codebook()
