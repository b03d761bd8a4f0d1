"""Numbers and texts of foreign formats in the one form that the program works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpdesk.io.database import identifier

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

NUMBER_TYPES = ("DOUBLE", "FLOAT")


def number_text(number: float) -> str:
    """The shortest decimal text that reads back as the same number; whole ones without a point."""
    text = repr(float(number)).removesuffix(".0")
    return "0" if text == "-0" else text


def decimals(texts: pyarrow.Array) -> pyarrow.Array:
    """Texts of exact decimals without the zeros at the end that only their type gives them."""
    import pyarrow.compute as pc

    cut = pc.replace_substring_regex(texts, r"^(-?\d+\.\d*?)0+$", r"\1")
    plain = pc.replace_substring_regex(cut, r"^(-?\d+)\.$", r"\1")
    named = pc.replace_substring_regex(plain, "^(-?)Infinity$", r"\1inf")
    return pc.replace_substring_regex(named, "^NaN$", "")


def text_sql(name: str, kind: str) -> str:
    """SQL for the text of a column of the type ``kind``; NULL stays NULL.

    Floating-point numbers get the text of :func:`number_text`; those of single precision the
    shortest text that is the same number in single precision, whole ones below 1e16 all digits.
    NaN is what programs write where there is no number, so it becomes NULL.
    Decimals lose the zeros at the end that only their type gives them, other values get the text
    of the database.
    """
    text = f"CAST({identifier(name)} AS VARCHAR)"
    if kind.upper().startswith("DECIMAL") and not kind.endswith(",0)"):
        # Where all digits are behind the point, the database writes none before it.
        whole = rf"regexp_replace({text}, '^(-?)\.', '\10.')"
        return f"rtrim(rtrim({whole}, '0'), '.')"
    if kind.upper() not in NUMBER_TYPES:
        return text
    # No branch may be wrong for NaN: the statistics of a file leave it out, and where all else in a
    # column is one number, the database takes every comparison with it for true.
    short = rf"regexp_replace({text}, '\.0$', '')"
    if kind.upper() == "FLOAT":
        # The shortest text of a whole number may be that of another one in single precision.
        exact = f"format('{{:.0f}}', CAST({identifier(name)} AS DOUBLE))"
        whole = f"{identifier(name)} = trunc({identifier(name)}) AND abs({identifier(name)}) < 1e16"
        short = f"CASE WHEN {whole} THEN {exact} ELSE {short} END"
    return f"CASE ltrim({text}, '-') WHEN '0.0' THEN '0' WHEN 'nan' THEN NULL ELSE {short} END"


def texts_sql(cursor: DuckDBPyConnection, source: str, columns: int) -> str:
    """SQL that gives the texts of the columns of a table that a reader of a format wrote.

    ``source`` is the table in SQL; see :mod:`dpdesk.io.formats.request` for its columns.
    """
    described = cursor.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    kinds = {str(row[0]): str(row[1]) for row in described}
    texts = []
    for j in range(columns):
        odd = f"s{j}, " if f"s{j}" in kinds else ""
        texts.append(f"coalesce({odd}{text_sql(f'c{j}', kinds[f'c{j}'])}, '') AS c{j}")
    return ", ".join(texts)
