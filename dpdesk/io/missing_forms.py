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


def listed_number_sql(v: str, missing: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """In SQL, whether the text ``v`` may be a number of ``missing``, and which text of it it is.

    The first costs little and is told of few others; the second is NULL for these, and of several
    texts of one number the first. None where no number is listed.
    """
    numbers = dict[str, str]()
    for text in missing:
        if re.fullmatch(number_pattern(decimal), text.strip(), re.ASCII):
            numbers.setdefault(text.strip().replace(",", "."), text)
    if not numbers:
        return None
    point = f"replace(trim({v}), ',', '.')" if decimal == "," else f"trim({v})"
    wanted = ", ".join(f"{literal(number)}::DOUBLE" for number in numbers)
    same = " ".join(
        f"WHEN {number_form_sql(literal(number))} THEN {literal(text)}"
        for number, text in numbers.items()
    )
    number = f"regexp_full_match(trim(x), {literal(number_pattern(decimal))})"
    alike = f"CASE WHEN {number} THEN CASE {number_form_sql('x')} {same} END END"
    # A lambda, since the database would compute what parts of the expression share for every row.
    return (
        f"coalesce(try_cast({point} AS DOUBLE) IN ({wanted}), false)",
        f"list_transform([{v}], lambda x: {alike})[1]",
    )


def other_forms_sql(v: str, missing: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """In SQL, whether the text ``v`` may be one of ``missing`` in any form, and which one it is.

    Blanks around it do not matter; with a ``decimal`` mark, nor does how a number is written. As
    for :func:`listed_number_sql`, which it is may be NULL; None where none can be.
    """
    bare = ", ".join(literal(text) for text in missing if text and text == text.strip())
    blanks = (f"trim({v}) IN ({bare})", f"CASE WHEN trim({v}) IN ({bare}) THEN trim({v}) END")
    number = listed_number_sql(v, missing, decimal) if decimal else None
    if not bare:
        return number
    if number is None:
        return blanks
    # A sum computes both for whole vectors; OR would pick single rows for the second.
    may = f"({blanks[0]})::INTEGER + ({number[0]})::INTEGER > 0"
    return may, f"coalesce({blanks[1]}, {number[1]})"


def note_other_forms(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    missing: Sequence[str],
    decimal: str,
    place: Path,
    token: CancelToken,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Values of the table ``data`` listed as missing in another form alone, and a sentence.

    They count as values, as numbers where they are numbers. Raises Cancelled.
    """
    parts = other_forms_sql("v", missing, decimal)
    if parts is None:
        return (), ()
    may, which = parts
    other = f"v NOT IN ({', '.join(map(literal, missing))}) AND {may} AND ({which}) IS NOT NULL"
    texts, held = set[str](), list[tuple[str, int]]()
    for column in columns:
        found = _held(con, column, other, place, token)
        if found is not None:
            texts.update(found[0])
            held.append((column.name, found[1]))
    if not held:
        return (), ()
    most = sorted(held, key=lambda item: -item[1])
    where = [
        msg("{name} ({rows})", name=quoted(name), rows=counted("{n:,} row", "{n:,} rows", n=rows))
        for name, rows in most
    ]
    shown = tuple(sorted(texts))
    return shown, (
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
