"""Texts of fixed width, and texts that ARGUS metadata describe, for a private method.

A line is cut at its places, or at its separator, by itself; blank lines are no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import Codebook
from dpdesk.core.plan import SourceSpec
from dpdesk.io.csvload import LOAD, STEPS, Loaded
from dpdesk.io.database import literal
from dpdesk.io.formats.argus import ArgusColumn
from dpdesk.io.formats.columns import check_names
from dpdesk.io.formats.fixedwidth import described_columns
from dpdesk.io.formats.loading import request_for
from dpdesk.io.formats.table import Notes
from dpdesk.io.private.lines import FILLED, Grammar, TextLines, line_codec
from dpdesk.io.private.loading import book_of, counted, insert_lines, lost_values, wanted_columns
from dpdesk.io.private.values import UNREADABLE, typed_sql
from dpdesk.io.reading import Reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LINE = "rtrim(f0, chr(26))"


def load_fixed(
    con: DuckDBPyConnection,
    path: Path,
    base: Path,
    spec: SourceSpec,
    token: CancelToken,
    report: Report,
) -> Loaded:
    """Load the declared columns; see :func:`dpdesk.io.private.loading.load_private`."""
    columns, separator = described_columns(request_for(spec, path, base, Path()), Notes())
    names = tuple(column.variable.name for column in columns)
    check_names(names, path.name)
    wanted = wanted_columns(spec, names, path.name)
    codec = line_codec(spec.encoding or "", path.name)
    lines = TextLines(path, codec, 0, token, report)
    report(StepStarted(LOAD, 2, STEPS))
    if separator:
        grammar, width, places = Grammar(separator[:1], '"', blanks=True), len(names), wanted.places
        texts = [f"trim(f{j})" for j in range(len(places))]
        filled = FILLED
    else:
        grammar, width, places = Grammar(), 1, (0,)
        decimals = [column.decimals for column in spec.columns] or [None] * len(columns)
        texts = [_cut(columns[j].start, columns[j].width, decimals[j]) for j in wanted.places]
        filled = _filled(columns)
    listed = typed_sql(texts, wanted.kinds, spec)
    rows, lost = insert_lines(
        con, path, lines, grammar, width, places, listed, token, counted(spec, filled)
    )
    reading = Reading("fixed", encoding=codec, missing=spec.missing)
    facts = {"unreadable_lines": lost, **lost_values(con, path, wanted.names, token)}
    book = book_of(wanted, Codebook(tuple(column.variable for column in columns)))
    return Loaded(wanted.names, rows, reading, lines.sha256, book, names, facts)


def _filled(columns: Sequence[ArgusColumn]) -> str:
    """The condition in SQL that one of the columns of a line holds more than blanks."""
    texts = (f"substr({_LINE}, {one.start}, {one.width})" for one in columns)
    return " OR ".join(f"trim({text}, ' \t') <> ''" for text in texts)


def _cut(start: int, width: int, decimals: int | None) -> str:
    """SQL for the value at a place of the line; all of an unreadable line is unreadable."""
    text = f"trim(substr({_LINE}, {start}, {width}))"
    if decimals:
        text = _pointed(text, decimals)
    lost = literal(UNREADABLE)
    return f"(CASE WHEN f0 = {lost} THEN {lost} ELSE {text} END)"


def _pointed(text: str, decimals: int) -> str:
    """SQL for a number whose decimal point is not written, with its point."""
    bare = f"ltrim({text}, '+-')"
    digits = f"lpad({bare}, greatest(length({bare}), {decimals + 1}), '0')"
    whole = f"coalesce(nullif(ltrim(left({digits}, -{decimals}), '0'), ''), '0')"
    rest = f"rtrim(right({digits}, {decimals}), '0')"
    sign = f"CASE WHEN {text} LIKE '-%' AND {whole} || {rest} <> '0' THEN '-' ELSE '' END"
    moved = f"{sign} || {whole} || CASE WHEN {rest} = '' THEN '' ELSE '.' || {rest} END"
    return (
        f"CASE WHEN regexp_full_match({text}, '[+-]?[0-9]+') THEN {moved} "
        f"WHEN {text} = '' OR regexp_full_match({text}, "
        rf"'[+-]?([0-9]+\.[0-9]*|\.[0-9]+)') THEN {text} ELSE {literal(UNREADABLE)} END"
    )
