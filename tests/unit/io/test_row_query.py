"""Queries over the rows of a source: what is run, what is refused, what becomes of missing values.

The conditions are compared with a slow evaluation in Python that knows nothing of the database.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import voice_of
from dpdesk.core.plan import SourceSpec
from dpdesk.io import row_query
from dpdesk.io.preview import preview_source
from dpdesk.io.private.row_filter import read_filter
from dpdesk.io.query_tree import QueryTree, read_query
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples
from tests.reference.row_filters import Condition, kept, sql_of

TEXT = "id,age,consent,x y\n1,9,yes,a\n2,10,no,\n3,,yes,b\n4,?,,c\n5,18,yes,?\n"
ROWS = tuple(tuple(line.split(",")) for line in TEXT.splitlines()[1:])


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def opened(folder: Path, workspace: Workspace, query: str, **options: object) -> DataStore:
    (folder / "t.csv").write_text(TEXT)
    spec = SourceSpec("t.csv", query=query, missing=("", "?"))
    spec = dataclasses.replace(spec, **options)  # type: ignore[arg-type]
    return DataStore.open(spec, folder, workspace, CancelToken(), silent)


def rows_of(store: DataStore) -> tuple[tuple[str, ...], ...]:
    try:
        return store.page(0, 1_000)
    finally:
        store.close()


def in_german(error: InputError) -> None:
    """German knows the sentence and its hint."""
    for english in filter(None, (error.sentence, error.hint)):
        assert voice_of("de").known(english) not in (None, english), english


KEPT = {
    "SELECT * FROM data WHERE consent = 'yes'": "135",
    "SELECT * FROM data WHERE CAST(age AS INTEGER) >= 10": "25",
    "select * from DATA where Consent <> 'no'": "135",
    "SELECT * FROM data WHERE consent IS NULL OR consent <> 'no'": "1345",
    "SELECT * FROM data WHERE age IS NULL": "34",
    "SELECT * FROM data WHERE NOT (consent = 'yes')": "2",
    "SELECT * FROM data ORDER BY CAST(age AS DOUBLE) DESC NULLS LAST LIMIT 3": "521",
    "SELECT d.* FROM data AS d WHERE d.\"x y\" IN ('a', 'c')": "14",
    "SELECT * FROM data WHERE id IN (SELECT id FROM data WHERE consent = 'yes')": "135",
    "SELECT * FROM data WHERE age = 9": "1",
    "SELECT * FROM data WHERE consent LIKE 'y%' AND id BETWEEN 'a' AND 'b' OR id = '5';": "5",
    "FROM data": "12345",
}


@pytest.mark.parametrize("query", KEPT)
def test_rows_are_kept_whole_with_the_texts_of_the_file(
    tmp_path: Path, workspace: Workspace, query: str
) -> None:
    store = opened(tmp_path, workspace, query)
    assert store.columns == ("id", "age", "consent", "x y")
    assert store.rows == len(KEPT[query])
    note = f"The query kept {len(KEPT[query])} of 5 rows."
    assert note in store.reading.notes
    by_id = {row[0]: row for row in ROWS}
    assert rows_of(store) == tuple(by_id[one] for one in KEPT[query])
    shown = preview_source(SourceSpec("t.csv", query=query, missing=("", "?")), tmp_path)
    assert shown.problem is None
    assert shown.rows == tuple(by_id[one] for one in KEPT[query])


def test_columns_are_chosen_and_renamed(tmp_path: Path, workspace: Workspace) -> None:
    query = "SELECT \"x y\" AS letter, ID FROM data WHERE age = '?' OR id = '4'"
    store = opened(tmp_path, workspace, query)
    assert store.columns == ("letter", "id")
    assert rows_of(store) == (("c", "4"),)
    store = opened(tmp_path, workspace, 'SELECT * EXCLUDE (age, "x y") FROM data')
    assert store.columns == ("id", "consent")
    assert len(rows_of(store)) == 5


def test_rows_that_a_query_makes_are_texts_as_the_source_would_have_them(
    tmp_path: Path, workspace: Workspace
) -> None:
    query = (
        "SELECT consent, count(*) AS n, avg(CAST(age AS DOUBLE)) AS mean, max(age) = '9' AS nine "
        "FROM data GROUP BY consent ORDER BY consent"
    )
    store = opened(tmp_path, workspace, query)
    assert store.columns == ("consent", "n", "mean", "nine")
    assert "The query made 3 rows from 5." in store.reading.notes
    made = (("no", "1", "10", "false"), ("yes", "3", "13.5", "true"), ("", "1", "", ""))
    assert rows_of(store) == made
    store = opened(tmp_path, workspace, query, decimal=",", missing=("?", ""))
    assert rows_of(store)[1] == ("yes", "3", "13,5", "true")
    store = opened(tmp_path, workspace, query.replace("CAST", "TRY_CAST"), missing=("?",))
    assert rows_of(store)[0] == ("", "1", "?", "?")


def test_labels_and_declared_codes_stay_with_rows_that_are_kept(
    tmp_path: Path, workspace: Workspace
) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0, 2.0], "pay": [10.0, 99.0, 20.0, 5.0]})
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        variable_value_labels={"sex": {1.0: "m", 2.0: "f"}},
        missing_ranges={"pay": [99.0]},
    )

    def read(query: str) -> DataStore:
        spec = SourceSpec("a.sav", query=query)
        return DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)

    store = read("SELECT pay AS income, sex FROM data WHERE pay IS NULL OR CAST(pay AS INT) > 9")
    assert store.declared_missing("income", ["99", "10"]) == {"99"}
    variable = store.book.get("sex")
    assert variable is not None
    assert variable.value_labels == {"1": "m", "2": "f"}
    assert rows_of(store) == (("10", "1"), ("99", "2"), ("20", "1"))
    store = read("SELECT sex, sum(CAST(pay AS INT)) AS pay FROM data GROUP BY sex ORDER BY sex")
    assert not store.book
    assert any("Labels and values declared missing are not kept" in n for n in store.reading.notes)
    assert rows_of(store) == (("1", "30"), ("2", "5"))


REFUSED = {
    "SELECT * FROM 'other.csv'": "reads `other.csv`, expected the table `data`",
    "SELECT * FROM main.data": "reads `main.data`",
    "SELECT * FROM information_schema.tables": "reads `information_schema.tables`",
    "SELECT * FROM duckdb_settings()": "table function",
    "SELECT * FROM read_text('/etc/hostname')": "table function",
    "SELECT * FROM glob('*')": "table function",
    "SELECT * FROM query('SELECT 1')": "table function",
    "SELECT content FROM data, read_blob('x')": "table function",
    "SELECT * FROM data WHERE current_setting('threads') = '1'": "`current_setting` is not among",
    "SELECT * FROM data WHERE random() < 0.5": "`random` is not among",
    "SELECT * FROM data WHERE main.random() < 0.5": "`random` is not among",
    'SELECT * FROM data WHERE "system".main.now() > age': "`now` is not among",
    "SELECT *, current_date FROM data": "`current_date` differs from run to run",
    "SELECT * FROM data USING SAMPLE 3": "draws rows at random",
    "SELECT * FROM data TABLESAMPLE 10%": "draws rows at random",
    "SELECT * FROM data AT (VERSION => 1)": "draws rows",
    "SELECT * FROM data WHERE id = ?": "parameter",
    "SELECT list_transform([1], lambda x: x + 1) FROM data": "`list_transform` is not among",
    "WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a FROM t) SELECT * FROM t": "recursive",
    "SHOW TABLES": "show",
    "DESCRIBE data": "show",
    "SUMMARIZE data": "show",
    "UNPIVOT data ON age, consent": "pivot",
    "PIVOT data ON consent USING count(*)": "not one SELECT",
    "SELECT 1; SELECT 2": "holds 2 statements",
    "": "holds 0 statements",
    "-- nothing": "holds 0 statements",
    "COPY data TO 'out.csv'": "not one SELECT",
    "ATTACH 'other.db'": "not one SELECT",
    "PRAGMA database_list": "not one SELECT",
    "SET threads = 2": "not one SELECT",
    "INSTALL httpfs": "not one SELECT",
    "CREATE TABLE t AS SELECT * FROM data": "not one SELECT",
    "DELETE FROM data": "not one SELECT",
    "SELECT * FROM data WHERE": "cannot be read",
    "SELECT * FROM data WHERE age > '10'": "character by character, where 9 comes after 10",
    "SELECT * FROM data WHERE age BETWEEN '9' AND '18'": "character by character",
    "SELECT count(*) FROM data WHERE '9' <= \"x y\"": 'write CAST("x y" AS DOUBLE)',
}


@pytest.mark.parametrize("query", REFUSED)
def test_a_query_that_is_no_select_over_the_rows_is_refused(query: str) -> None:
    with pytest.raises(InputError) as caught:
        read_query(query, "plan.toml, [source]")
    assert caught.value.code == "source.query"
    assert caught.value.sentence.startswith("plan.toml, [source]: the query is refused: ")
    assert REFUSED[query] in caught.value.sentence
    in_german(caught.value)


STOPPED = {
    "SELECT * FROM data WHERE agee = '1'": "names the column `agee`, which does not exist",
    'SELECT * FROM data WHERE consent = "yes"': "names the column `yes`, which does not exist",
    "SELECT agee FROM data": "names the column `agee`, which does not exist",
    "SELECT * EXCLUDE (agee) FROM data": "names the column `agee`",
    "SELECT * FROM data WHERE age > 9": "an explicit cast is required",
    "SELECT * FROM data WHERE CAST(consent AS INTEGER) = 1": "Could not convert string 'yes'",
    "SELECT id AS a, age AS a FROM data": "both named `a`",
    "SELECT count(*), count(*) FROM data": "both named",
    "SELECT row(id, age) AS a FROM data GROUP BY ALL": "type TUPLE",
    "SELECT * FROM data WHERE id = '7'": "the query keeps none of 5 rows",
    "SELECT sum(CAST(id AS INT)) AS n FROM data HAVING n > 99": "the query keeps none of 5 rows",
}


@pytest.mark.parametrize("query", STOPPED)
def test_a_query_that_does_not_fit_the_rows_leaves_nothing_behind(
    tmp_path: Path, workspace: Workspace, query: str
) -> None:
    before = sorted(workspace.folder.rglob("*"))
    with pytest.raises(InputError) as caught:
        opened(tmp_path, workspace, query)
    assert caught.value.exit_code == 2
    assert STOPPED[query] in caught.value.sentence
    in_german(caught.value)
    assert sorted(workspace.folder.rglob("*")) == before


def test_names_that_differ_in_case_alone_are_not_guessed(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text("a,A,b\n1,2,3\n4,5,6\n")

    def read(query: str) -> DataStore:
        spec = SourceSpec("t.csv", header=True, query=query)
        return DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)

    assert rows_of(read("SELECT * FROM data WHERE b = '3'")) == (("1", "2", "3"),)
    for query in (
        "SELECT * FROM data WHERE a = '1'",
        "SELECT b, count(*) AS n FROM data GROUP BY b",
    ):
        with pytest.raises(InputError, match="`a` and `A` differ only in case"):
            read(query)


def test_a_column_may_be_called_like_the_row_or_the_table(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text("rowid,row_0,data\n5,b,x\n6,a,y\n7,c,x\n")
    spec = SourceSpec("t.csv", query="SELECT * FROM data WHERE row_0 <> 'c' ORDER BY row_0")
    store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    assert rows_of(store) == (("6", "a", "y"), ("5", "b", "x"))
    spec = SourceSpec("t.csv", query="SELECT * FROM data WHERE rowid = '7' AND data = 'x'")
    store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    assert rows_of(store) == (("7", "c", "x"),)


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("SELECT * FROM data WHERE CAST(data AS VARCHAR) LIKE '%1%'", "ad"),
        ("SELECT * FROM data AS d WHERE CAST(d AS VARCHAR) LIKE '%z%'", "bcd"),
        ("SELECT * FROM data ORDER BY data DESC LIMIT 2", "dc"),
        ("SELECT * FROM data WHERE b IN (SELECT d.b FROM data AS d WHERE d > row('b', ''))", "bcd"),
        ("SELECT * FROM data WHERE a IN (SELECT y FROM data AS d(x, y))", ""),
        ("SELECT * FROM data WHERE 4 = (SELECT count(*) FROM data NATURAL JOIN data AS e)", "abcd"),
        (
            "SELECT * FROM data WHERE 6 = (SELECT count(*) FROM data JOIN data d USING (b))",
            "abcd",
        ),
    ],
)
def test_a_query_may_name_the_table_for_all_of_its_columns(
    tmp_path: Path, workspace: Workspace, query: str, kept: str
) -> None:
    (tmp_path / "t.csv").write_text("a,b\na,1\nb,z\nc,z\nd,z1\n")
    spec = SourceSpec("t.csv", query=query)
    if not kept:
        with pytest.raises(InputError, match="keeps none"):
            DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        return
    store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    assert "".join(row[0] for row in rows_of(store)) == kept


ESCAPES = (
    "SELECT * FROM read_csv('{0}')",
    "SELECT * FROM '{0}'",
    "SELECT * FROM read_text('{0}')",
    "SELECT * FROM glob('/*')",
    "COPY (SELECT 1) TO '{0}.out'",
    "ATTACH '{0}.db' AS other",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET threads = 4",
    "RESET memory_limit",
    "EXPORT DATABASE '{0}.export'",
)


@pytest.mark.parametrize("sql", ESCAPES)
def test_the_database_of_a_query_leads_nowhere_even_if_nothing_were_checked(
    tmp_path: Path, sql: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    con = row_query.closed_off(None)
    frame = pd.DataFrame({"a": [1]})
    with pytest.raises(duckdb.Error, match=r"Permission|Cannot|disabled|locked"):
        con.execute(sql.format(secret)).fetchall()
    with pytest.raises(duckdb.Error, match="does not exist"):
        con.execute("SELECT * FROM frame")
    assert len(frame) == 1
    con.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv"]


def test_a_filter_is_told_from_what_looks_at_other_rows() -> None:
    def tree(query: str) -> QueryTree:
        return read_query(query, "plan")

    assert tree("SELECT * FROM data WHERE consent = 'yes' AND CAST(age AS INT) > 3").is_filter
    assert tree("SELECT id, age AS years FROM data").is_filter
    for query in (
        "SELECT * FROM data LIMIT 3",
        "SELECT * FROM data ORDER BY id",
        "SELECT DISTINCT id FROM data",
        "SELECT * FROM data WHERE id IN (SELECT id FROM data)",
        "SELECT * FROM data WHERE EXISTS (SELECT 1 FROM data AS d WHERE d.id = data.id)",
        "SELECT * FROM data QUALIFY row_number() OVER () = 1",
        "SELECT count(*) AS n FROM data",
        "SELECT id FROM data GROUP BY id",
        "SELECT * FROM data UNION ALL SELECT * FROM data",
        "SELECT * FROM data AS a JOIN data AS b USING (id)",
        "WITH d AS (SELECT * FROM data LIMIT 1) SELECT * FROM d",
        "SELECT * FROM (SELECT * FROM data LIMIT 1) AS d",
        "SELECT id, upper(age) AS age FROM data",
    ):
        assert not tree(query).is_filter, query


@pytest.mark.parametrize(
    ("condition", "good"),
    [
        ("id LIKE '9!%' ESCAPE '!'", True),
        ("id NOT ILIKE '9!!' ESCAPE '!'", True),
        ("id LIKE age", True),
        ("id LIKE '9!' ESCAPE '!'", False),
        ("id LIKE '9!!!' ESCAPE '!'", False),
        ("id LIKE age ESCAPE '!'", False),
        ("id NOT LIKE age ESCAPE '!'", False),
        ("id ILIKE '9' ESCAPE age", False),
        ("id NOT ILIKE '9' ESCAPE 'ab'", False),
        ("id LIKE '9' ESCAPE 'é'", False),
        ("id = 'x' OR (id <> 'y' AND id LIKE '9!' ESCAPE '!')", False),
    ],
)
def test_no_value_of_a_row_can_stop_a_filter_of_a_private_method(
    condition: str, good: bool
) -> None:
    spec = SourceSpec("t.csv", query=f"SELECT * FROM data WHERE {condition}")
    if good:
        assert read_filter(spec, "plan")
    else:
        with pytest.raises(InputError, match="ESCAPE could stop"):
            read_filter(spec, "plan")


# ---- against a slow evaluation

VALUES = ("", "?", "1", "2", "10", "yes", "no", "é", "a'b", "Yes", " ")
NAMES = ("a", "b c", "straße")
conditions: st.SearchStrategy[Condition] = st.recursive(
    st.builds(
        Condition,
        st.sampled_from(("=", "<>", "<", "null", "in", "number<")),
        st.sampled_from(NAMES),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=2).map(tuple),
    ),
    lambda inner: (
        st.builds(
            lambda kind, parts: Condition(kind, "", (), tuple(parts)),
            st.sampled_from(("and", "or")),
            st.lists(inner, min_size=2, max_size=3),
        )
        | st.builds(lambda part: Condition("not", "", (), (part,)), inner)
    ),
    max_leaves=5,
)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    condition=conditions,
    rows=st.lists(st.tuples(*[st.sampled_from(VALUES)] * 3), min_size=1, max_size=12),
    missing=st.sampled_from(((), ("",), ("", "?"), ("?",))),
)
def test_conditions_keep_the_rows_that_a_slow_evaluation_keeps(
    condition: Condition,
    rows: list[tuple[str, str, str]],
    missing: tuple[str, ...],
    tmp_path: Path,
    workspace: Workspace,
) -> None:
    lines = [",".join('"' + text + '"' for text in row) for row in [NAMES, *rows]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    spec = SourceSpec(
        "t.csv", delimiter=",", quote='"', header=True, encoding="utf-8", decimal=".",
        missing=missing, empty_rows="keep", query=f"SELECT * FROM data WHERE {sql_of(condition)}",
    )  # fmt: skip
    wanted = kept(condition, NAMES, rows, missing)
    if not wanted:
        with pytest.raises(InputError, match="keeps none"):
            DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        return
    store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    assert list(rows_of(store)) == wanted


def test_a_column_may_be_called_as_what_a_database_knows(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text("user,current_date,n\na,x,1\nb,y,2\n")

    def read(query: str) -> tuple[tuple[str, ...], ...]:
        spec = SourceSpec("t.csv", query=query)
        return rows_of(DataStore.open(spec, tmp_path, workspace, CancelToken(), silent))

    assert read("SELECT n FROM data WHERE \"user\" = 'b'") == (("2",),)
    assert read('SELECT "user" || "current_date" AS both FROM data') == (("ax",), ("by",))
    for query in ('SELECT "current_user" FROM data', 'SELECT max("current_time") AS t FROM data'):
        with pytest.raises(InputError, match="which does not exist"):
            read(query)
    with pytest.raises(InputError, match="differs from run to run"):
        read("SELECT user FROM data")


def test_the_first_rows_of_a_query_are_not_told_as_all(tmp_path: Path) -> None:
    lines = "".join(f"{number % 2},x\n" for number in range(1_000))
    (tmp_path / "t.csv").write_text("a,b\n" + lines)
    shown = preview_source(SourceSpec("t.csv", query="SELECT * FROM data WHERE a = '1'"), tmp_path)
    told = shown.reading.notes[-1]
    assert told == (
        "Of the first 200 rows the query makes 100; all rows are counted when the file is read."
    )
    assert not any("kept" in note for note in shown.reading.notes)
    assert voice_of("de").known(told) not in (None, told)


@pytest.mark.parametrize(
    "query", ["SELECT {0} FROM data WHERE {0} <> ''", "SELECT max({0}) AS m FROM data"]
)
def test_a_query_meets_a_column_in_another_unicode_form(
    tmp_path: Path, workspace: Workspace, query: str
) -> None:
    one, other = (unicodedata.normalize(kind, "größe é") for kind in ("NFC", "NFD"))
    for stored, asked in ((one, other), (other, one)):
        (tmp_path / "t.csv").write_text(f"{stored},n\n7,1\n", "utf-8")
        spec = SourceSpec("t.csv", query=query.format(f'"{asked}"'))
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.columns in ((stored,), ("m",))
        assert rows_of(store) == (("7",),)
