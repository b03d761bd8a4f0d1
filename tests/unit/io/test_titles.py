"""Titles above a table, in texts and in sheets: skipped when sure, else asked for, never taken for
names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.titles import table_start
from dpdesk.io.workspace import Workspace

HEADER = ("Région", "Year", "Persons")
BODY = [("Nord", "2019", "1234"), ("Süd", "2019", "98"), ("Ost", "2020", "250000")]
TITLES = {
    "a padded title": ["Table 1. Persons by région,,"],
    "a padded title between blanks": [",Table 1,"],
    "a narrow title": ["Table 1. Persons"],
    "two titles and delimiters alone": ["Table 1,,", "Source: the register,,", ",,"],
    "a title and a blank line": ["Table 1. Persons", ""],
    "a quoted title of two lines": ['"Table 1.\nPersons, by year",,'],
    "delimiters alone": [",,"],
    "a title with the delimiter in quotes": ['"Persons, by region and year"'],
    "a year as the title": ["2019,,"],
    "a long preamble": [f"Note {number},," for number in range(1, 13)],
}
UNSURE = {
    "a title of several fields": (["Persons, 2019, by region, and more"], 1),
    "names of groups above the names": (["Place,,Figures"], 1),
}


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def opened(
    folder: Path, workspace: Workspace, spec: SourceSpec
) -> tuple[tuple[str, ...], list[tuple[str, ...]], DataStore]:
    store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    try:
        return store.columns, list(store.page(0, 999)), store
    finally:
        store.close()


def text_of(titles: list[str], mark: str = ",") -> str:
    lines = [*titles, ",".join(HEADER), *(",".join(row) for row in BODY)]
    return "".join(f"{line}\n" for line in lines).replace(",", mark)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("kind", TITLES)
def test_titles_above_a_table_are_skipped_and_told(
    tmp_path: Path, workspace: Workspace, kind: str, mark: str, encoding: str
) -> None:
    (tmp_path / "t.csv").write_bytes(text_of(TITLES[kind], mark).encode(encoding))
    columns, rows, store = opened(tmp_path, workspace, SourceSpec("t.csv"))
    assert columns == HEADER
    assert rows == BODY
    lines = sum(1 + title.count("\n") for title in TITLES[kind])
    assert store.reading.skip == lines
    title = kind != "delimiters alone"
    assert title == any("above the table" in note for note in store.reading.notes)
    shown = preview_source(SourceSpec("t.csv"), tmp_path)
    assert (shown.problem, shown.columns, list(shown.rows)) == (None, HEADER, BODY)
    assert shown.reading.skip == lines
    # What was detected, written into the plan, gives the same table.
    pinned = SourceSpec("t.csv", skip=lines, encoding=store.reading.encoding)
    assert opened(tmp_path, workspace, pinned)[:2] == (HEADER, BODY)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_title_is_told_in_the_letters_of_its_file(
    tmp_path: Path, workspace: Workspace, encoding: str
) -> None:
    text = text_of(["Erhebung – Süd,,"])
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    for found in (
        opened(tmp_path, workspace, SourceSpec("a.csv"))[2].reading,
        preview_source(SourceSpec("a.csv"), tmp_path).reading,
    ):
        assert any("(`Erhebung – Süd`)" in note for note in found.notes), found.notes


@pytest.mark.parametrize("kind", UNSURE)
def test_what_may_be_a_title_is_asked_for(tmp_path: Path, workspace: Workspace, kind: str) -> None:
    titles, skip = UNSURE[kind]
    header = "a,b,c,d,e,f\n" if "several" in kind else ",".join(HEADER) + "\n"
    body = "1,2,3,4,5,6\n" * 5 if "several" in kind else "".join(",".join(r) + "\n" for r in BODY)
    (tmp_path / "t.csv").write_text("\n".join(titles) + "\n" + header + body)
    with pytest.raises(InputError) as caught:
        opened(tmp_path, workspace, SourceSpec("t.csv"))
    assert caught.value.code == "csv.preamble"
    assert caught.value.details["skip"] == skip
    assert f"`skip = {skip}`" in (caught.value.hint or "")
    assert preview_source(SourceSpec("t.csv"), tmp_path).problem is not None
    columns, rows, _ = opened(tmp_path, workspace, SourceSpec("t.csv", skip=skip))
    assert columns == tuple(header.strip().split(","))
    assert len(rows) == body.count("\n")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("name,,\n1,2,3\n4,5,6\n", ("name", "column_2", "column_3")),
        (",a,b\n0,1,2\n1,3,4\n", ("column_1", "a", "b")),
        (",value\n0,5\n1,6\n", ("column_1", "value")),
        ("id,name\n1,\n2,\n3,\n", ("id", "name")),
        ("a,b,c\nx,,\ny,,\nz,1,2\n", ("a", "b", "c")),
    ],
)
def test_a_header_with_gaps_stays_the_header(
    tmp_path: Path, workspace: Workspace, text: str, names: tuple[str, ...]
) -> None:
    (tmp_path / "t.csv").write_text(text)
    columns, rows, store = opened(tmp_path, workspace, SourceSpec("t.csv"))
    assert columns == names
    assert len(rows) == text.count("\n") - 1
    assert store.reading.skip == 0


def test_skip_0_says_that_the_first_line_belongs_to_the_table(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text(text_of(TITLES["a padded title"]))
    columns, rows, _ = opened(tmp_path, workspace, SourceSpec("t.csv", skip=0, header=True))
    assert columns == ("Table 1. Persons by région", "column_2", "column_3")
    assert rows == [HEADER, *BODY]


@pytest.mark.parametrize("title", ["Table 1. People", "People"])
@pytest.mark.parametrize("filling", ["", ","])
def test_a_title_above_two_columns_of_words_is_asked_for(
    tmp_path: Path, workspace: Workspace, title: str, filling: str
) -> None:
    words = "name,town\nAnna,Bonn\nBen,Köln\nCarl,Bonn\n"
    (tmp_path / "t.csv").write_text(f"{title}{filling}\n{words}", "utf-8")
    with pytest.raises(InputError) as caught:
        opened(tmp_path, workspace, SourceSpec("t.csv"))
    assert caught.value.code == "csv.preamble"
    columns, rows, _ = opened(tmp_path, workspace, SourceSpec("t.csv", skip=1))
    assert (columns, len(rows)) == (("name", "town"), 3)


def test_a_header_of_which_one_name_is_missing_stays_where_a_value_comes_again(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text("name,\nAnna,Bonn\nBen,Köln\nCarl,Bonn\n", "utf-8")
    columns, rows, _ = opened(tmp_path, workspace, SourceSpec("t.csv"))
    assert (columns, len(rows)) == (("name", "column_2"), 3)


def test_more_lines_than_there_are_cannot_be_skipped(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "t.csv").write_text(text_of([]))
    for skip in (4, 99):
        with pytest.raises(InputError) as caught:
            opened(tmp_path, workspace, SourceSpec("t.csv", skip=skip))
        assert caught.value.code == "source.option"


def write_sheet(path: Path, rows: list[tuple[str, ...]]) -> None:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                if text.isdecimal():
                    sheet.write_number(i, j, int(text))
                elif text:
                    sheet.write_string(i, j, text)


@pytest.mark.parametrize("titles", [[("Table 1",)], [("Table 1",), (), ("Source",), ()], [()]])
def test_titles_of_a_sheet_are_skipped_and_told(
    tmp_path: Path, workspace: Workspace, titles: list[tuple[str, ...]]
) -> None:
    write_sheet(tmp_path / "t.xlsx", [*titles, HEADER, *BODY])
    columns, rows, store = opened(tmp_path, workspace, SourceSpec("t.xlsx"))
    assert (columns, rows) == (HEADER, BODY)
    if any(titles):
        assert store.reading.skip == len(titles)
        assert any("above the table" in note for note in store.reading.notes)
    pinned = SourceSpec("t.xlsx", skip=len(titles))
    assert opened(tmp_path, workspace, pinned)[:2] == (HEADER, BODY)


def test_an_unsure_title_of_a_sheet_is_asked_for(tmp_path: Path, workspace: Workspace) -> None:
    write_sheet(tmp_path / "t.xlsx", [("Place", "", "Figures"), HEADER, *BODY])
    with pytest.raises(InputError) as caught:
        opened(tmp_path, workspace, SourceSpec("t.xlsx"))
    assert caught.value.code == "workbook.titles"
    assert caught.value.details["skip"] == 1
    assert opened(tmp_path, workspace, SourceSpec("t.xlsx", skip=1))[:2] == (HEADER, BODY)


WORDS = st.text("abcdéß ", min_size=1, max_size=8).filter(lambda text: bool(text.strip()))


@settings(deadline=None)
@given(
    st.lists(WORDS.map(str.strip), min_size=3, max_size=5, unique=True),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=6),
    st.lists(st.one_of(WORDS, st.just("")), max_size=6),
    st.booleans(),
)
def test_every_sure_start_is_the_start(
    names: list[str], numbers: list[int], titles: list[str], padded: bool
) -> None:
    width = len(names)
    above = [[title] + [""] * (width - 1) * padded for title in titles]
    rows = [[str(number)] * width for number in numbers]
    found = table_start([*above, names, *rows])
    assert found == (type(found)(len(titles), True))


@settings(deadline=None)
@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=2, max_size=9))
def test_tables_of_words_without_titles_lose_no_line(rows: list[list[str]]) -> None:
    assert table_start(rows).above == 0


def test_a_title_with_a_delimiter_below_another_is_asked_for(
    tmp_path: Path, workspace: Workspace
) -> None:
    titles, names = "Table 4.2\n\nall regions, all years\n\n", ("region", "year", "note")
    notes = ["estimated", *[""] * 4, "rev. 2", *[""] * 3, "provisional", "", "see text", *[""] * 9]
    rows = "".join(f"Ulm {n % 5},{2000 + n},{note}\n" for n, note in enumerate(notes))
    (tmp_path / "a.csv").write_text(f"{titles}{','.join(names)}\n{rows}")
    with pytest.raises(InputError, match="seems to start on line 5") as caught:
        DataStore.open(SourceSpec("a.csv"), tmp_path, workspace, CancelToken(), silent)
    assert "`skip = 4`" in caught.value.hint
    spec = SourceSpec("a.csv", skip=4)
    data = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    assert (data.columns, data.rows) == (names, 21)
    data.close()
