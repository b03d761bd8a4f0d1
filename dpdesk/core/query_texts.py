"""The texts in which a query is asked on a command line, read into values.

``age>=30``, ``sex=F,M``, ``region!=North``, ``age=30..39``; names of columns and values that hold a
comma or one of ``= ! < >`` stand in double quotes, a double quote in them is doubled.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.plain import show
from dpdesk.core.query import Chosen, Condition, Grouping, Query, Within
from dpdesk.core.spans import Span, exact

_CONDITION = re.compile(r'("(?:[^"]|"")*"|[^=<>!"]+)\s*(!=|>=|<=|=|<|>)(.*)', re.DOTALL)
_BETWEEN = re.compile(r"\s*([^\s,]*?)\s*\.\.\s*([^\s,]*)\s*")
_HINT = 'Write it as "age>=30", "age=30..39", "sex=F,M" or "region!=North".'


def read_query(
    by: Sequence[str] = (),
    where: Sequence[str] = (),
    *,
    levels: Sequence[str] = (),
    measure: str = "",
    margins: bool = False,
    estimator: str = "",
) -> Query:
    """A query from its texts; InputError ``query.syntax`` or ``query.level`` names the text."""
    names = [name for text in by for name in read_names(text)]
    wanted = read_levels(levels)
    for name in wanted:
        if name not in names:
            raise InputError(
                "query.level",
                msg("A level is given for `{name}`, which is not asked for with --by.", name=name),
            )
    groups = tuple(Grouping(name, wanted.get(name, 0)) for name in names)
    conditions = tuple(read_condition(text) for text in where)
    return Query(groups, conditions, measure, margins, estimator)


def read_names(text: str) -> tuple[str, ...]:
    """Names or values parted by commas; InputError ``query.syntax``."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        rows = []
    names = tuple(name.strip() for row in rows for name in row)
    if not names or (len(names) > 1 and not all(names)):
        raise _syntax(text, "names parted by commas")
    return names


def read_levels(texts: Sequence[str]) -> Mapping[str, int]:
    """Levels by column from texts such as ``age=2``; InputError ``query.syntax``."""
    found: dict[str, int] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign or not name or not number.strip().isdecimal() or name in found:
            raise _syntax(text, "a column and a level, such as `age=2`, each column once")
        found[_unquoted(name)] = int(number)
    return found


def read_condition(text: str) -> Condition:
    """One condition; InputError ``query.syntax``."""
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise _syntax(text, "a column, a sign of = != < <= > >= and a value")
    column, sign, rest = _unquoted(found[1]), found[2], found[3].strip()
    if sign in ("=", "!="):
        between = _BETWEEN.fullmatch(rest)
        if between is not None and sign == "=":
            return Within(column, _between(text, between[1], between[2]))
        values = read_names(rest) if rest else ("",)
        return Chosen(column, values, sign == "!=", _unquoted(rest))
    number = exact(rest)
    if number is None:
        raise _syntax(text, msg("a number after `{sign}`", sign=sign))
    if sign[0] == ">":
        return Within(column, Span(low=number, low_open=sign == ">"))
    return Within(column, Span(high=number, high_open=sign == "<"))


def _between(text: str, first: str, last: str) -> Span:
    low, high = exact(first), exact(last)
    if (low is None and first) or (high is None and last) or (low is None and high is None):
        raise _syntax(text, "two numbers around `..`, or one")
    if low is not None and high is not None and low > high:
        raise _syntax(text, "the smaller number first")
    return Span(low, high)


def _unquoted(text: str) -> str:
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] == '"' and '"' not in plain[1:-1].replace('""', ""):
        return plain[1:-1].replace('""', '"')
    return plain


def _syntax(text: str, expected: str) -> InputError:
    return InputError(
        "query.syntax",
        msg("{show} cannot be read, expected {expected}.", show=show(text), expected=expected),
        hint=_HINT,
    )
