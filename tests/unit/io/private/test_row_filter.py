"""Conditions of a private method: what one row holds refuses nothing for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.schema import LONGEST_FORM, form
from dpdesk.core.source_spec import read_source
from dpdesk.io.private.row_filter import read_filter
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

KEYS = {
    "encoding": "utf-8", "delimiter": ",", "decimal": ".", "quote": '"', "header": True,
    "missing": [""], "types": {"age": "text", "txt": "text"},
}  # fmt: skip
GOOD = [("1", "a"), ("0", "b"), ("t", "c")]
ODD = [("zz", "["), ("[", "("), ("\\", "\\"), ("20", "a{2"), ("99999999999999999999", "1e400")]
NUMBERS = ", ".join(map(str, range(20)))
PAIRS = ", ".join(f"({number}, 'a')" for number in range(9))
CONDITIONS = [
    "age",
    "NOT age",
    "age AND txt = 'a'",
    "CASE WHEN txt = 'a' THEN age ELSE age END",
    "age::BOOLEAN",
    "txt ~ age",
    "txt LIKE age",
    "txt SIMILAR TO age",
    "date_part(age, DATE '2020-01-01') > 1",
    "CAST(age AS TINYINT) * 100 > 0",
    "sqrt(CAST(age AS DOUBLE) - 1) >= 0",
    "substr(txt, CAST(age AS BIGINT)) = ''",
    f"txt = 'a' AND (CAST(age AS INTEGER) IN ({NUMBERS}) OR txt = 'b')",
    f"(CAST(age AS INTEGER), txt) IN ({PAIRS})",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_odd_row_leaves_the_fate_of_the_others_alone(condition: str, tmp_path: Path) -> None:
    def kept(rows: list[tuple[str, str]]) -> list[tuple[str, ...]]:
        lines = "".join(f"{age},{txt}\n" for age, txt in rows)
        (tmp_path / "d.csv").write_text(f"age,txt\n{lines}")
        query = f"SELECT * FROM data WHERE {condition}"
        spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        try:
            return [tuple(row) for row in store.page(0, 99)]
        finally:
            store.close()

    workspace = Workspace.open(tmp_path / "home")
    try:
        alone = kept(GOOD)
        for odd in ODD:
            assert [row for row in kept([*GOOD, odd]) if row in GOOD] == alone, odd
    finally:
        workspace.close()


@pytest.mark.parametrize("kind", ["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"])
@pytest.mark.parametrize("pattern", ["age ESCAPE '!'", "'a' ESCAPE age", "'a!' ESCAPE '!'"])
def test_a_function_whose_faults_cannot_be_caught_is_refused_at_once(
    kind: str, pattern: str
) -> None:
    query = f"SELECT * FROM data WHERE txt {kind} {pattern}"
    spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
    with pytest.raises(InputError, match="ESCAPE"):
        read_filter(spec, "the test")


def nested(inner: str, times: int, call: str) -> str:
    """A call around a call, so many of them; ``~`` is what stands inside."""
    for _ in range(times):
        inner = call.replace("~", inner)
    return inner


LONG = "z" * 100
FILLING = [
    "replace(txt, 'a', age) = ''",
    "repeat(txt, 3) = ''",
    nested("txt", 2, f"replace(~, 'z', '{LONG}')") + " = ''",
    nested("txt", 2, f"regexp_replace(~, 'z', '{LONG}', 'g')") + " = ''",
    nested("txt", 10, "CAST(row(~) AS VARCHAR)") + " = ''",
    nested("txt", 4, "CAST(CAST(CAST(~ AS BLOB) AS BIT) AS VARCHAR)") + " = ''",
    f"concat(txt, upper({nested('txt', 11, '(~ || ~)')})) = ''",
]


@pytest.mark.parametrize("condition", FILLING)
def test_functions_that_could_fill_the_memory_together_are_refused(condition: str) -> None:
    query = f"SELECT * FROM data WHERE age = '1' OR {condition}"
    spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
    with pytest.raises(InputError, match="fill the memory"):
        read_filter(spec, "the test")


@pytest.mark.parametrize(
    "condition",
    [
        nested("txt", 7, "replace(~, 'ä', 'ae')") + " = ''",
        f"replace(txt, 'z', '{LONG}') = ''",
        "regexp_replace(txt || age, '[^0-9]', '', 'g') = ''",
        "age IN (" + ", ".join(f"'{number}'" for number in range(1500)) + ")",
        " OR ".join(f"txt = '{number}'" for number in range(300)),
    ],
)
def test_functions_that_lengthen_a_value_a_little_are_read(condition: str) -> None:
    query = f"SELECT * FROM data WHERE {condition}"
    assert read_filter(read_source({"path": "d.csv", "query": query, **KEYS}, "t"), "t")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM data WHERE data < row(2)",
        "SELECT * FROM data AS d WHERE CAST(d AS VARCHAR) LIKE '%1%'",
        "SELECT * FROM data AS d(txt, age) WHERE txt = 'a' AND age < 2",
        "SELECT * FROM data AS d(age) WHERE age = '1'",
        "SELECT * FROM data WHERE data.rowid < 2",
    ],
)
def test_the_place_of_a_row_is_none_of_its_values(query: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("age,txt\n1,a\n2,b\n1,c\n")
    spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
    workspace = Workspace.open(tmp_path / "home")
    try:
        with pytest.raises(InputError) as refused:
            DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        assert refused.value.code == "source.query"
    finally:
        workspace.close()


def test_a_value_that_could_fill_the_memory_leaves_its_row_out(tmp_path: Path) -> None:
    longest = 1 << 16
    values = ["z" * (longest - 1), "z" * longest]
    (tmp_path / "d.csv").write_text("age,txt\n" + "".join(f"1,{text}\n" for text in values))
    query = "SELECT * FROM data WHERE age = '1' AND replace(txt, 'z', 'zzzz') <> ''"
    spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
    workspace = Workspace.open(tmp_path / "home")
    try:
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        assert [len(text) for _, text in store.page(0, 9)] == [longest - 1]
        store.close()
    finally:
        workspace.close()


@pytest.mark.parametrize("pairs", [499, 500, 200_000])
def test_a_long_run_of_marks_is_read_and_stays_as_it_is(pairs: int, tmp_path: Path) -> None:
    marked = "a" + "\u0301\u0327" * pairs
    (tmp_path / "d.csv").write_text(f"age,txt\n1,{marked}\n2,b\n")
    spec = read_source({"path": "d.csv", **KEYS}, "the test")
    workspace = Workspace.open(tmp_path / "home")
    try:
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        assert store.page(0, 9)[1] == ("2", "b")
        assert (store.page(0, 9)[0][1] == marked) == (len(marked) > LONGEST_FORM)
        assert store.page(0, 9)[0][1] == form(marked)
        store.close()
    finally:
        workspace.close()
