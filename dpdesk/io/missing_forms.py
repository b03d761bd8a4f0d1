"""Missing values that a plan lists and a source writes in another way: 99.00 or " 99" for 99.

Everything else reads 99.00 as the number that it is, so taken as it stands an age of 99 for
"refused" would be an age. Methods without noise leave it and say so; private methods, which may say
nothing of a row, take it for the missing value where the column is declared a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.plain import quoted
from dpdesk.core.source_spec import missing_line
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import literal, query
from dpdesk.io.missing import number_pattern

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHOWN = 5


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


def listed_number_sql(v: str, missing: Sequence[str], decimal: str) -> str:
    """SQL for that text of ``missing`` which is the same number as the text ``v``, or NULL.

    Empty where no number is listed. Of several texts of one number the first counts.
    """
    numbers = dict[str, str]()
    for text in missing:
        if re.fullmatch(number_pattern(decimal), text.strip(), re.ASCII):
            numbers.setdefault(text.strip().replace(",", "."), text)
    if not numbers:
        return ""
    # Few values are near; only these are compared digit by digit.
    near = f"try_cast(replace(trim({v}), ',', '.') AS DOUBLE)"
    wanted = ", ".join(f"try_cast({literal(number)} AS DOUBLE)" for number in numbers)
    same = " ".join(
        f"WHEN {number_form_sql(literal(number))} THEN {literal(text)}"
        for number, text in numbers.items()
    )
    number = f"regexp_full_match(trim({v}), {literal(number_pattern(decimal))})"
    alike = f"CASE {number_form_sql(v)} {same} END"
    return f"CASE WHEN {near} IN ({wanted}) THEN CASE WHEN {number} THEN {alike} END END"


def listed_blanks_sql(v: str, missing: Sequence[str]) -> str:
    """The condition in SQL that ``v`` is one of ``missing`` but for blanks around it.

    Empty where none can be.
    """
    bare = [text for text in missing if text and text == text.strip()]
    return f"trim({v}) IN ({', '.join(map(literal, bare))})" if bare else ""


def note_other_forms(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    missing: Sequence[str],
    decimal: str,
    place: Path,
    token: CancelToken,
) -> tuple[str, ...]:
    """A sentence on values of the table ``data`` that are listed as missing in another form alone.

    They count as values, as numbers where they are numbers. Raises Cancelled.
    """
    number, blanks = listed_number_sql("v", missing, decimal), listed_blanks_sql("v", missing)
    either = " OR ".join(
        ([f"{number} IS NOT NULL"] if number else []) + ([blanks] if blanks else [])
    )
    if not either:
        return ()
    other = f"v NOT IN ({', '.join(map(literal, missing))}) AND ({either})"
    texts, held = set[str](), list[tuple[str, int]]()
    for column in columns:
        found = _held(con, column, other, place, token)
        if found is not None:
            texts.update(found[0])
            held.append((column.name, found[1]))
    if not held:
        return ()
    most = sorted(held, key=lambda item: -item[1])
    where = [
        msg("{name} ({rows})", name=quoted(name), rows=counted("{n:,} row", "{n:,} rows", n=rows))
        for name, rows in most
    ]
    shown = sorted(texts)
    return (
        msg(
            "Values such as {text} are written in another way than the missing ones that the plan "
            "lists, so they count as values, in {columns}. If they are missing, write `missing = "
            "[{list}]` under [source].",
            text=quoted(shown[0]),
            columns=listed(where, _SHOWN),
            list=missing_line([*missing, *shown]),
        ),
    )


def _held(
    con: DuckDBPyConnection, column: Column, other: str, place: Path, token: CancelToken
) -> tuple[list[str], int] | None:
    """The texts of a column that meet the condition on ``v``, and how many rows have them."""
    import pyarrow as pa

    with query(con, token, place) as cursor:
        if column.domain is not None:
            cursor.register("listed", pa.table({"v": pa.array(column.domain, pa.string())}))
            some = cursor.execute(f"SELECT v FROM listed WHERE {other} LIMIT 1").fetchall()
            cursor.unregister("listed")
            if not some:
                return None
        rows = f"(SELECT {column.sql}::VARCHAR AS v FROM {DATA})"
        found = cursor.execute(
            f"SELECT v, count(*) FROM {rows} WHERE {other} GROUP BY v ORDER BY v"
        ).fetchall()
    return ([text for text, _ in found], sum(n for _, n in found)) if found else None
