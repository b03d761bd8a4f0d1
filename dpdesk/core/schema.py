"""Columns of a data source, the roles a user gives them, and what a profile says about them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg

# Names of columns: which ones are the same name, and where the settings of a method hold them.
#
# A letter such as ``é`` can be stored as one sign (NFC) or as two (NFD), which nobody can tell
# apart by looking. Two names are the same when their NFC is equal; a plan meets the columns of a
# file so, and from then on writes them as the file does.


Spelling = Callable[[str], str]

BY_COLUMN = frozenset(
    {"levels", "domains", "origins", "outside", "importance", "min_level", "max_level", "merge"}
    | {"max_suppression_of", "max_cells", "shares", "matrix"}
)
"""Settings that are tables with a key for each column."""
OF_COLUMNS = frozenset(
    {"sensitive", "drawn", "dimensions", "counted_by", "ends", "rows", "columns", "groups"}
)
"""Settings that are a name or a list of names."""
OF_CELLS = "cells"
"""The setting that names the columns of ready cells by what they hold."""
OF_TABLES = frozenset(
    {
        *("publish", "forbid", "exact", "weights", "targets", "measure", "tables"),
        *("views", "marginals", "require", "choose", "swap", "request", "waive"),
    }
)
"""Settings that name columns in lists or tables inside them, not by a word of their own."""
_WITHIN = OF_COLUMNS | {"cuboid", "dimensions", "sum", "average", "mean", "weight", "attribute"}
_WITHIN |= {"of", "mode", "match", "column"}
_NESTED = "measure"


LONGEST_FORM = 1_000
"""Characters of a text that has another form than its own at most. The time to put marks in order
grows with the square of how many stand in a row, so one value could hold up everything else."""


def form(text: str) -> str:
    """The form in which names and categories are compared; that of a long text is the text."""
    if text.isascii() or len(text) > LONGEST_FORM:
        return text
    return unicodedata.normalize("NFC", text)


def same_forms(names: Iterable[str]) -> tuple[str, str] | None:
    """Two texts that differ in nothing but their Unicode form; None where there are none."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(form(name), name)
        if other != name:
            return other, name
    return None


def shown_form(name: str) -> str:
    """A name with its letters beyond ASCII by number: two forms of it look alike otherwise."""
    return name.encode("ascii", "backslashreplace").decode("ascii")


def check_forms(columns: Iterable[str], source: str) -> None:
    """Raise InputError ``source.name-forms`` for two columns with the same name."""
    found = same_forms(columns)
    if found is not None:
        first, second = (shown_form(name) for name in found)
        raise InputError(
            "source.name-forms",
            msg(
                "{source}: the columns `{first}` and `{second}` have the same name in two "
                "Unicode forms, expected a name of its own for each column.",
                source=source,
                first=first,
                second=second,
            ),
            hint="Rename one of them.",
            details={"columns": found},
        )


def spelling(columns: Sequence[str]) -> Spelling:
    """How a name of a plan is written among these columns: as it is where none is the same."""
    exact, by_form = frozenset(columns), {form(name): name for name in reversed(columns)}

    def spelled(name: str) -> str:
        return name if name in exact else by_form.get(form(name), name)

    return spelled


def check_one_each(names: Iterable[str], spelled: Spelling, where: str) -> None:
    """Raise InputError ``plan.name-forms`` where a plan names one column in two forms."""
    given = list(names)
    twice = next((name for name, n in Counter(map(spelled, given)).items() if n > 1), None)
    if twice is None:
        return
    both = [name for name in given if spelled(name) == twice]
    first, second = (shown_form(name) for name in both[:2])
    raise InputError(
        "plan.name-forms",
        msg(
            "{where}: `{first}` and `{second}` are the same name in two Unicode forms, expected "
            "each column once.",
            where=where,
            first=first,
            second=second,
        ),
        hint="Remove one of them.",
        details={"columns": tuple(both[:2])},
    )


def with_names(settings: Mapping[str, object], spelled: Spelling) -> dict[str, object]:
    """The settings of a method with other names of columns; everything else stays as it is."""
    found: dict[str, object] = {}
    for key, value in settings.items():
        if key in BY_COLUMN and isinstance(value, Mapping):
            found[key] = {spelled(str(name)): item for name, item in value.items()}
        elif key in OF_COLUMNS:
            found[key] = _names(value, spelled)
        elif key == OF_CELLS and isinstance(value, Mapping):
            found[key] = {part: _names(item, spelled) for part, item in value.items()}
        elif key in OF_TABLES and not isinstance(value, str):
            found[key] = _within(value, spelled)
        else:
            found[key] = value
    return found


def columns_of(settings: Mapping[str, object]) -> tuple[str, ...]:
    """All columns that the settings of a method name, each once."""
    found: dict[str, None] = {}

    def noted(name: str) -> str:
        found[name] = None
        return name

    with_names(settings, noted)
    return tuple(found)


def _within(value: object, spelled: Spelling) -> object:
    if isinstance(value, Mapping):
        return {key: _entry(str(key), item, spelled) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(
            _within(item, spelled) if isinstance(item, Mapping) else _names(item, spelled)
            for item in value
        )
    return value


def _entry(key: str, item: object, spelled: Spelling) -> object:
    if key == _NESTED and not isinstance(item, str):
        return _within(item, spelled)
    if key == "hierarchy" and isinstance(item, Mapping):
        return {spelled(str(name)): value for name, value in item.items()}
    return _names(item, spelled) if key in _WITHIN else item


def _names(value: object, spelled: Spelling) -> object:
    if isinstance(value, str):
        return spelled(value)
    if isinstance(value, list | tuple):
        return tuple(_names(item, spelled) for item in value)
    return value


class Role(Enum):
    """What a column is for the protection (course text, attribute classification).

    A plan gives every role but the last: an identifier becomes a pseudonym by its key.
    """

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    WEIGHT = "weight"
    CLUSTER = "cluster"
    PSEUDONYM = "pseudonym"


PLAN_ROLES = tuple(role for role in Role if role is not Role.PSEUDONYM)
"""The roles that a plan can give."""


class ColumnType(Enum):
    """The type that all non-missing values of a column can be read as."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    BOOLEAN = "boolean"
    TEXT = "text"
    EMPTY = "empty"


@dataclass(frozen=True)
class ValueCount:
    """A value as text, and the number of rows that hold it."""

    value: str
    rows: int


@dataclass(frozen=True)
class RoleSuggestion:
    """A role that the profile suggests, with the reason in one sentence."""

    role: Role
    reason: str


_SOME_ROWS, _FEW_ROWS = 20, 5


def few_rows_each(rows: int, present: int, distinct: int) -> bool:
    """Whether ``distinct`` values in ``present`` of ``rows`` rows occur in fewer than 5 on average.

    A table of fewer than 20 rows says nothing about that.
    """
    return rows >= _SOME_ROWS and present < _FEW_ROWS * distinct


@dataclass(frozen=True)
class ColumnProfile:
    """What one column holds; all counts are in rows.

    ``distinct`` counts distinct non-missing values; ``unique`` counts values that occur in exactly
    one row; ``minimum`` and ``maximum`` are the ends of a numeric or date column, as text.
    ``top`` lists the most frequent values, most frequent first, ties in code-point order.
    ``variable`` is what the source itself says of the column, where it says anything;
    ``user_missing`` are the missing rows whose value the source declares so, ``date_order`` tells
    how the dates of a column of dates are written (``"ymd"``, ``"dmy"``, ``"mdy"``).
    """

    name: str
    type: ColumnType
    rows: int
    missing: int
    distinct: int
    unique: int
    top: tuple[ValueCount, ...]
    suggestion: RoleSuggestion
    minimum: str | None = None
    maximum: str | None = None
    label: str = ""
    variable: Variable | None = None
    user_missing: int = 0
    date_order: str = ""

    @property
    def unique_share(self) -> float:
        """Share of the rows (0 to 1) whose value nobody else has."""
        return self.unique / self.rows if self.rows else 0.0

    @property
    def points_to_few(self) -> bool:
        """Whether a value belongs to so few rows on average that it points to few people."""
        return few_rows_each(self.rows, self.rows - self.missing, self.distinct)

    @property
    def missing_share(self) -> float:
        """Share of the rows (0 to 1) that are missing."""
        return self.missing / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class DataProfile:
    """Profile of a whole source: size, columns, and how the file was read."""

    name: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    reading: Mapping[str, object]

    def column(self, name: str) -> ColumnProfile:
        """The profile of the column ``name``; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)
