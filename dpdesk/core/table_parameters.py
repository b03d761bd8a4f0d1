"""Parameters of protected tables: rules, measures, ready cells, linked tables, what is known."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, TypeGuard

from dpdesk.core.parameters import Nested, ParameterValue, StructuredParameter, exact_number
from dpdesk.core.plain import freeze

COUNT, SUM, MEAN = "count", "sum", "mean"
RATIO, BY, DECIMALS = "ratio", "by", "decimals"
MOST_DECIMALS = 12
THRESHOLD, DOMINANCE, P_PERCENT, PQ = "threshold", "dominance", "p-percent", "pq"
RULES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    THRESHOLD: (frozenset("n"), frozenset(("range", "full"))),
    DOMINANCE: (frozenset("nk"), frozenset()),
    P_PERCENT: (frozenset("p"), frozenset()),
    PQ: (frozenset("pq"), frozenset()),
}
"""The keys that a rule must have, and those that it may have."""
_Check: TypeAlias = Callable[[object], bool]


@dataclass(frozen=True)
class TypedParameter(StructuredParameter):
    """Tables and lists of one shape; ``fits`` says whether a value has it.

    A form has an editor for its records; without any, it is typed as an outline where ``outline``
    shows one, else as in a plan, on one line. ``file``: the name of a file will do.
    """

    fits: _Check = bool
    shape: str = ""
    outline: str = ""
    file: bool = False
    default: object = None
    suggested: Nested | None = None

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a form's text is what a plan has after ``=``."""
        try:
            raw = typed(raw)
        except (tomllib.TOMLDecodeError, KeyError):
            raise self.invalid(where, raw) from None
        if not self.fits(raw):
            raise self.invalid(where, raw)
        return Nested(freeze(raw))

    def default_value(self) -> ParameterValue:
        """See :meth:`Parameter.default_value`."""
        return None if self.default is None else Nested(freeze(self.default))

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        plain = self.as_plain(value)
        if plain is None or isinstance(plain, str):
            return plain or ""
        return typed_text(plain)

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return self.shape


@dataclass(frozen=True)
class MarksParameter(TypedParameter):
    """Statuses set by hand; a form shows lines as ``north; small; U | north; ; P``."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`TypedParameter.parse`."""
        return super().parse(split_marks(raw), where)

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        plain = self.as_plain(value)
        lines = plain if isinstance(plain, list | tuple) else ()
        parts = [part for line in lines for part in line]
        plainly = all(part == part.strip() and not {*part} & {*";|"} for part in parts)
        if not any(lines) or not plainly or parts[0][:1] in ("[", "{"):
            return super().as_text(value)
        return " | ".join("; ".join(line) for line in lines)


def split_marks(raw: object) -> object:
    """The lines in the text of a form such as ``north; small; U | north; ; P``; else ``raw``."""
    if isinstance(raw, str) and ";" in raw and raw.lstrip()[:1] not in ("[", "{"):
        return [
            [part.strip() for part in line.split(";")] if line.strip() else []
            for line in raw.split("|")
        ]
    return raw


def typed(raw: object) -> object:
    """What the text of a form stands for, if it is a table or a list; else the text itself.

    Raises TOMLDecodeError or KeyError for what only begins like one.
    """
    if isinstance(raw, str) and raw.lstrip()[:1] in ("[", "{"):
        return tomllib.loads(f"typed = {raw}", parse_float=Decimal)["typed"]
    return raw


def typed_text(plain: object) -> str:
    """A plain value as a plan writes it on one line."""
    if isinstance(plain, Mapping):
        return (
            f"{{ {', '.join(f'{_key(key)} = {typed_text(item)}' for key, item in plain.items())} }}"
        )
    if isinstance(plain, list | tuple):
        return f"[{', '.join(map(typed_text, plain))}]"
    if isinstance(plain, bool):
        return str(plain).lower()
    return _quoted(plain) if isinstance(plain, str) else str(plain)


def _key(key: object) -> str:
    text = str(key)
    bare = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if bare else _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'


def is_measure(raw: object) -> bool:
    """``"count"``, or the sum or mean of a column, perhaps with a column of weights."""
    if raw == COUNT:
        return True
    if not isinstance(raw, Mapping) or not set(raw) <= {SUM, MEAN, "weight"}:
        return False
    return len({SUM, MEAN} & set(raw)) == 1 and all(_is_name(item) for item in raw.values())


def is_table_measure(raw: object) -> bool:
    """A measure, or the ratio of two other tables by their names, perhaps with its decimals."""
    if not isinstance(raw, Mapping) or RATIO not in raw:
        return is_measure(raw)
    decimals = raw.get(DECIMALS, 0)
    return (
        {RATIO, BY} <= set(raw) <= {RATIO, BY, DECIMALS}
        and _is_name(raw[RATIO])
        and _is_name(raw[BY])
        and isinstance(decimals, int)
        and not isinstance(decimals, bool)
        and 0 <= decimals <= MOST_DECIMALS
    )


def is_rules(raw: object) -> bool:
    """A list of rules with the numbers that each one needs."""
    return isinstance(raw, list | tuple) and all(_is_rule(item) for item in raw)


def _is_rule(raw: object) -> bool:
    if not isinstance(raw, Mapping) or raw.get("rule") not in RULES:
        return False
    required, optional = RULES[str(raw["rule"])]
    given = set(raw) - {"rule"}
    if not required <= given <= required | optional:
        return False
    flags = {"full"} & given
    if not all(isinstance(raw[key], bool) for key in flags):
        return False
    numbers = {key: exact_number(raw[key]) for key in given - flags}
    if any(isinstance(raw[key], str) for key in numbers):
        return False  # a quoted number is a slip
    if any(number is None or number < 0 for number in numbers.values()):
        return False
    whole = numbers.get("n")
    if whole is not None and (whole.denominator != 1 or whole < 1):
        return False
    most = 100 if raw["rule"] in (DOMINANCE, PQ) else 10**6
    return all(0 < (numbers[key] or 0) <= most for key in ("k", "p", "q") if key in numbers)


MARKS: Mapping[str, int] = {"S": 0, "U": 0, "P": 0, "C": 1, "PL": 2, "SPL": 1}
"""What can be set of a cell by hand, and how many numbers follow: its status (safe, unsafe, must be
published), its cost, how far it must be protected downwards and upwards, how wide its interval must
be."""


def mark_of(line: Sequence[str]) -> int | None:
    """Where in a line on a cell its codes end and its mark stands; None for another line."""
    for mark, numbers in MARKS.items():
        place = len(line) - 1 - numbers
        if place > 0 and line[place].upper() == mark:
            amounts = [exact_number(text) for text in line[place + 1 :]]
            return place if all(one is not None and one >= 0 for one in amounts) else None
    return None


def is_marks(raw: object) -> bool:
    """Statuses set by hand: a file of them, or its lines, each empty or with a code for each
    dimension; of several tables, by their names.
    """
    if isinstance(raw, Mapping):
        return bool(raw) and all(
            _is_name(name) and not isinstance(own, Mapping) and is_marks(own)
            for name, own in raw.items()
        )
    if isinstance(raw, str):
        return bool(raw.strip()) and "\n" not in raw
    return isinstance(raw, list | tuple) and all(
        isinstance(line, list | tuple)
        and all(isinstance(text, str) for text in line)
        and (not line or mark_of(line) is not None)
        for line in raw
    )


def is_cells(raw: object) -> bool:
    """Columns of a source with a row for each cell."""
    if not isinstance(raw, Mapping) or "value" not in raw:
        return False
    names = {key: item for key, item in raw.items() if key not in ("top", "levels")}
    top, levels = raw.get("top", []), raw.get("levels")
    return (
        set(names) <= {"value", "frequency", "status", "cost"}
        and all(_is_name(item) for item in names.values())
        and _is_names(top)
        and (levels is None or (_is_names(levels) and len(levels) in (2, 3) and "status" in raw))
    )


def is_merge(raw: object) -> bool:
    """By column, the values that are counted together under each label."""
    return isinstance(raw, Mapping) and all(
        _is_name(column)
        and isinstance(groups, Mapping)
        and all(_is_name(label) for label in groups)
        and all(
            isinstance(group, list | tuple) and group and all(isinstance(v, str) for v in group)
            for group in groups.values()
        )
        for column, groups in raw.items()
    )


def is_swap(raw: object) -> bool:
    """Columns that change hands between matched households, by which columns they match, and which
    share of them is swapped.
    """
    if not isinstance(raw, Mapping) or not {"columns", "share"} <= set(raw):
        return False
    share = exact_number(raw["share"])
    return (
        set(raw) <= {"columns", "match", "share"}
        and not isinstance(raw["share"], str)
        and share is not None
        and 0 < share <= 1
        and _is_names(raw["columns"])
        and bool(raw["columns"])
        and _is_names(raw.get("match", []))
    )


def is_request(raw: object) -> bool:
    """By which values of a column contributors ask for protection, and from which share on."""
    if not isinstance(raw, Mapping) or not set(raw) <= {"column", "values", "k"}:
        return False
    share = exact_number(raw.get("k", 0))
    plain = {key: item for key, item in raw.items() if key != "k"}
    return (
        is_waiver(plain)
        and not isinstance(raw.get("k"), str)
        and share is not None
        and 0 <= share <= 100
    )


def is_waiver(raw: object) -> bool:
    """By which values of a column contributors do without protection."""
    return (
        isinstance(raw, Mapping)
        and set(raw) == {"column", "values"}
        and _is_name(raw["column"])
        and isinstance(raw["values"], list | tuple)
        and bool(raw["values"])
        and all(isinstance(value, str) for value in raw["values"])
    )


def is_tables(raw: object) -> bool:
    """Several tables, each with a name of its own and its dimensions."""
    if not isinstance(raw, list | tuple) or not raw:
        return False
    if not all(isinstance(item, Mapping) and _is_table(item) for item in raw):
        return False
    names = [str(item["name"]).casefold() for item in raw if isinstance(item, Mapping)]
    return len(set(names)) == len(names)


def _is_table(raw: Mapping[str, object]) -> bool:
    hierarchies = raw.get("hierarchy", {})
    return (
        set(raw) <= {"name", "rows", "columns", "measure", "hierarchy"}
        and _is_name(raw.get("name"))
        and all(_is_names(raw.get(key, [])) for key in ("rows", "columns"))
        and bool(raw.get("rows") or raw.get("columns"))
        and is_table_measure(raw.get("measure", COUNT))
        and isinstance(hierarchies, Mapping)
        and all(map(_is_name, hierarchies.values()))
    )


def is_attacker(raw: object) -> bool:
    """Shares of a cell's value between which everyone knows it to lie, and whether it is there."""
    if not isinstance(raw, Mapping) or not set(raw) <= {"lower", "upper", "present"}:
        return False
    if not isinstance(raw.get("present", False), bool):
        return False
    if any(isinstance(item, str) for item in raw.values()):
        return False
    lower, upper = exact_number(raw.get("lower", 0)), exact_number(raw.get("upper", 1))
    return lower is not None and upper is not None and 0 <= lower <= 1 <= upper


def _is_name(raw: object) -> bool:
    return isinstance(raw, str) and bool(raw)


def _is_names(raw: object) -> TypeGuard[Sequence[str]]:
    return isinstance(raw, list | tuple) and all(_is_name(item) for item in raw)
