"""Conditions become a query, which keeps exactly the rows that meet them and is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.core.row_conditions import (
    BARE,
    LISTS,
    NUMBERS,
    Comparison,
    Condition,
    plain_number,
    query_of,
    read_query,
)
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import in_memory
from dpdesk.io.missing import number_pattern
from dpdesk.io.private.row_filter import filtered, read_filter
from dpdesk.io.query_tree import folded
from dpdesk.io.reading import Reading
from dpdesk.io.row_query import queried_rows
from dpdesk.io.source import FilePrint
from tests.helpers.searching import examples
from tests.reference.row_conditions import meets

WORDS = (
    *("select", "WHERE", "and", "null", "user", "current_date", "rowid", "data", "row_0", "order"),
    *('a"b', '"', "it's", "a.b", "*", "ä ß", "名前", " x ", "--", ";", "/*", "\\", "$1", "?"),
)
TEXTS = (
    *("", "?", "m", "f", "it's", '"', "' OR 1=1 --", "名", "ä", "a\u0308", "\\", "%", "_", "null"),
    *("9", "10", "-0", "1e2", "1E400", ".5", "5.", "+5", "1,5", "1.5", " 7 ", "\u00a07\u2003"),
    *("1_000", "nan", "inf", "0x10", "12\n", "\t3", "١٢", "1.000,5", "9007199254740993", "a, b"),
)
DATABASE = in_memory()
LETTERS = st.characters(exclude_characters="\0", exclude_categories=("Cs",))
NAMES = st.lists(
    st.one_of(st.sampled_from(WORDS), st.text(LETTERS, min_size=1, max_size=5)),
    min_size=1,
    max_size=3,
    unique_by=folded,
)
VALUES = st.one_of(st.sampled_from(TEXTS), st.text(LETTERS, max_size=4))
LIMITS = st.one_of(
    st.integers(-20, 120).map(str),
    st.decimals(-20, 120, places=2).map(lambda number: f"{number:.2f}"),
)


@st.composite
def conditions(draw: st.DrawFn, names: list[str]) -> Condition:
    name, comparison = draw(st.sampled_from(names)), draw(st.sampled_from(list(Comparison)))
    if comparison in BARE:
        return Condition(name, comparison)
    if comparison in LISTS:
        texts = draw(st.lists(VALUES, min_size=1, max_size=3))
        return Condition(name, comparison, tuple(texts))
    return Condition(name, comparison, (draw(LIMITS if comparison in NUMBERS else VALUES),))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, ...]], list[Condition]]:
    names = draw(NAMES)
    rows = draw(st.lists(st.tuples(*[VALUES] * len(names)), min_size=1, max_size=12))
    return names, rows, draw(st.lists(conditions(names), min_size=1, max_size=3))


def kept(
    names: list[str], rows: list[tuple[str, ...]], query: str, decimal: str, *, private: bool
) -> list[tuple[str, ...]]:
    """The rows that the reader of a source keeps."""
    spec = SourceSpec("t.csv", query=query)
    con = DATABASE.cursor()
    con.execute(f"DROP TABLE IF EXISTS {RAW}")
    try:
        arrays = [pyarrow.array(texts, pyarrow.string()) for texts in zip(*rows, strict=True)]
        table = pyarrow.table(arrays, names=[f"c{j}" for j in range(len(names))])
        con.register("head", table)
        con.execute(f"CREATE TABLE {RAW} AS SELECT * FROM head")
        con.unregister("head")
        reading = replace(Reading("csv"), decimal=decimal, missing=("", "?"))
        loaded = Loaded(tuple(names), len(rows), reading, FilePrint())
        way = filtered if private else queried_rows
        way(con, loaded, spec, Path("t.csv"), None, CancelToken())
        return [tuple(row) for row in con.execute(f"SELECT * FROM {RAW}").fetchall()]
    finally:
        con.close()


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("decimal", [".", ","])
@settings(deadline=None, max_examples=examples(25))
@given(cases())
@example(
    (
        ["user"],
        [(text,) for text in TEXTS],
        [Condition("user", Comparison.LEAST, ("5",))],
    )
)
@example(
    (
        ["data", "user"],
        [(text, "x") for text in TEXTS],
        [Condition("user", Comparison.IS, ("x",)), Condition("data", Comparison.DIFFERS, ("5",))],
    )
)
def test_the_query_keeps_the_rows_that_meet_the_conditions(
    private: bool,
    decimal: str,
    case: tuple[list[str], list[tuple[str, ...]], list[Condition]],
) -> None:
    names, rows, asked = case
    query = query_of(asked, decimal)
    assert query is not None
    found = read_query(query)
    assert found is not None
    assert found[0] == tuple(asked)
    assert decimal in found[1]
    tree = read_filter(SourceSpec("t.csv", query=query), "t.csv")
    assert tree is not None
    assert tree.is_filter
    assert tree.selects_all
    expected = [
        row for row in rows if meets(dict(zip(names, row, strict=True)), asked, ("", "?"), decimal)
    ]
    assert kept(names, rows, query, decimal, private=private) == expected


@given(st.text(max_size=60))
def test_no_other_query_is_taken_for_conditions(text: str) -> None:
    for query in (text, f"SELECT * FROM data WHERE {text}"):
        found = read_query(query)
        assert found is None or all(query_of(found[0], mark) == query for mark in found[1])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM data",
        "SELECT * FROM data WHERE",
        "SELECT * FROM data WHERE sex = 'm'",
        "SELECT * FROM data WHERE data.\"sex\" = 'm' OR data.\"sex\" = 'f'",
        "SELECT * FROM data WHERE data.\"sex\" = 'm' LIMIT 3",
        "SELECT * FROM data WHERE data.\"sex\" = 'm' AND ",
        "SELECT * FROM data WHERE data.\"sex\" IN ('m')",
        "SELECT * FROM data WHERE TRY_CAST(regexp_extract(trim(data.\"a\"), 'x') AS DOUBLE) >= 1",
        "SELECT age FROM data WHERE data.\"sex\" = 'm'",
    ],
)
def test_what_conditions_cannot_express_is_no_list_of_them(query: str) -> None:
    assert read_query(query) is None


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_number_is_what_the_program_takes_for_one(decimal: str) -> None:
    query = query_of([Condition("a", Comparison.ABOVE, ("1",))], decimal)
    assert query is not None
    assert f"'^{number_pattern(decimal)}$'" in query


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("18", ".", "18"),
        (" +18.50 ", ".", "18.50"),
        ("-0,5", ",", "-0.5"),
        ("1,000", ".", None),
        ("1.000", ",", None),
        ("1e5", ".", None),
        ("12.", ".", None),
        ("", ".", None),
        ("١٢", ".", None),
        ("1234567890123456", ".", None),
        ("+-1", ".", None),
    ],
)
def test_numbers_are_written_as_the_source_writes_them(
    text: str, decimal: str, number: str | None
) -> None:
    assert plain_number(text, decimal) == number
