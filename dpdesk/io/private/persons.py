"""Numbers that name persons: 1, 01 and 1.0 are one person, as texts of two Unicode forms are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NOTHING_MISSING
from dpdesk.core.schema import form
from dpdesk.core.source_spec import NUMBER, SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import query
from dpdesk.io.missing import condition
from dpdesk.io.private.values import UNREADABLE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def number_form_sql(v: str) -> str:
    """SQL for the one form of all texts of a number: its digits without zeros at either end, and
    the power of ten of the last one. An exponent of more than 18 digits stays as it is.
    """
    text = f"replace(trim({v}), ',', '.')"
    sign = f"CASE WHEN {text} LIKE '-%' THEN '-' ELSE '' END"
    plain = f"regexp_extract({text}, '^[+-]?([0-9.]*)', 1)"
    power = f"regexp_extract({text}, '[eE]([+-]?[0-9]+)$', 1)"
    behind = f"length(split_part({plain}, '.', 2))"
    digits = f"ltrim(replace({plain}, '.', ''), '0')"
    kept = f"rtrim({digits}, '0')"
    given = f"CASE WHEN {power} = '' THEN 0 ELSE try_cast({power} AS BIGINT) END"
    last = f"({given})::HUGEINT - {behind} + length({digits}) - length({kept})"
    whole = f"coalesce({sign} || {kept} || 'e' || ({last}), {v})"
    return f"CASE WHEN {kept} = '' THEN '0' ELSE {whole} END"


def join_numbers(
    con: DuckDBPyConnection,
    loaded: Loaded,
    spec: SourceSpec,
    person: str,
    path: Path,
    token: CancelToken,
) -> None:
    """Give the values of the column ``person`` in ``raw`` one form, if it is declared a number.

    Missing and unreadable values stay. What a value becomes depends on that value alone. Raises
    Cancelled.
    """
    types = {form(name): kind for name, kind in spec.types}
    found = [j for j, name in enumerate(loaded.names) if form(name) == form(person)]
    if not found or types.get(form(person)) != NUMBER:
        return
    v, missing = f"c{found[0]}", loaded.reading.missing
    user = loaded.book.missing(loaded.names[found[0]]) if missing else NOTHING_MISSING
    gone = condition(user, (*missing, UNREADABLE), v)
    with query(con, token, path) as cursor:
        cursor.execute(f"UPDATE {RAW} SET {v} = {number_form_sql(v)} WHERE NOT ({gone})")
