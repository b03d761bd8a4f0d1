"""Values that a column's own code list or type does not foresee, in a table of any format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Kind, Variable
from dpdesk.core.messages import msg
from dpdesk.io.csvload import RAW
from dpdesk.io.database import literal, query
from dpdesk.io.missing import condition

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FEW, _MOST = 2, 1_000
_AT_ONCE, _SAMPLE = 50, 100_000
_NUMBER = r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_WITHOUT = "found a value without a label, where others of the column have one; it is kept as it is"
_NO_NUMBER = (
    "found a text that is not a number, where the metadata say `<NUMERIC>`; it is kept as it is"
)
_LISTS = {"sav", "dta", "sas7bdat"}


@dataclass(frozen=True)
class _Look:
    """What is looked for in a column: values of which the SQL ``odd`` is true.

    ``most`` different ones make the column one whose labels are no code list; None: never.
    """

    place: int
    name: str
    odd: str
    words: str
    most: int | None = None


def note_unforeseen(
    con: DuckDBPyConnection,
    variables: Sequence[Variable],
    form: str,
    declared: Sequence[str],
    path: Path,
    token: CancelToken,
) -> tuple[str, ...]:
    """A sentence for each column of the table ``raw`` with values that it does not foresee.

    These are values without a label where others have one, and in a text of ARGUS words where the
    metadata say numbers. Labels of a column of texts, and a code list of ARGUS, list all values. A
    column of numbers of which only some are labelled (an income, and 99 for "refused") has no such
    list: at least two values that are not declared missing must have labels, and fewer values must
    lack one than have one. What the file or the plan (``declared``) calls missing needs no label.
    The values themselves are not told. Raises Cancelled.
    """
    looks = [
        look
        for place, variable in enumerate(variables)
        for look in _looks(place, variable, form, declared)
    ]
    told: list[str] = []
    for start in range(0, len(looks), _AT_ONCE):
        some = looks[start : start + _AT_ONCE]
        first_rows = f"(SELECT *, rowid FROM {RAW} LIMIT {_SAMPLE})"
        some = [look for look, _, _ in _found(con, some, first_rows, path, token, keep=True)]
        for look, row, count in _found(con, some, RAW, path, token):
            sentence = msg(
                "Row {row:,}, column `{name}`: {words}.", row=row, name=look.name, words=look.words
            )
            told.append(
                sentence
                if count == 1
                else msg(
                    "{sentence} There are {count:,} such values.", sentence=sentence, count=count
                )
            )
    return tuple(told)


def _found(
    con: DuckDBPyConnection,
    looks: Sequence[_Look],
    source: str,
    path: Path,
    token: CancelToken,
    keep: bool = False,
) -> list[tuple[_Look, int, int]]:
    """First row and number of the odd values; ``keep`` gives columns without any too."""
    if not looks:
        return []
    parts = []
    for look in looks:
        where = f"FILTER (WHERE c{look.place} <> '' AND {look.odd})"
        several = "0" if look.most is None else f"count(DISTINCT c{look.place}) {where}"
        parts.append(f"min(rowid) {where}, count(*) {where}, {several}")
    with query(con, token, path) as cursor:
        row = cursor.execute(f"SELECT {', '.join(parts)} FROM {source}").fetchone() or ()
    found = []
    for j, look in enumerate(looks):
        first, count, several = row[3 * j : 3 * j + 3]
        if (count or keep) and (look.most is None or several < look.most):
            found.append((look, (first or 0) + 1, int(count)))
    return found


def _looks(place: int, variable: Variable, form: str, declared: Sequence[str]) -> list[_Look]:
    v, found = f"c{place}", []
    missing = condition(variable.missing, declared, v)
    plain = f" AND NOT coalesce({missing}, false)" if missing else ""
    codes = [code for code in variable.value_labels if code not in variable.missing.values]
    whole = form == "fixed" or (form in _LISTS and variable.kind is Kind.TEXT)
    if (1 if whole else _FEW) <= len(codes) and (whole or len(codes) <= _MOST):
        odd = f"{v} NOT IN ({', '.join(map(literal, variable.value_labels))})"
        numbers = [str(float(code)) for code in codes if _is_number(code)]
        if variable.kind is Kind.NUMBER and numbers:
            cast = f"try_cast({v} AS DOUBLE)"
            odd += f" AND coalesce({cast} NOT IN ({', '.join(numbers)}), true)"
        labelled = len(variable.value_labels)
        found.append(
            _Look(place, variable.name, odd + plain, _WITHOUT, None if whole else labelled)
        )
    if form == "fixed" and variable.kind is Kind.NUMBER:
        odd = f"NOT regexp_full_match({v}, {literal(_NUMBER)})"
        found.append(_Look(place, variable.name, odd + plain, _NO_NUMBER))
    return found


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
