"""Files of which two programs read two tables, or at which a reader breaks down, are refused."""

from __future__ import annotations

import os
import random
import sqlite3
import struct
import warnings
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter
from pyarrow import parquet

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Event, StepStarted, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io import failures
from dpdesk.io.formats.databases import sqlite_file
from dpdesk.io.formats.excel import parts as workbook_parts
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.worker import read_table
from dpdesk.io.hierarchyfile import open_hierarchy
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.sav_bytes import write_sav_bytes
from tests.helpers.stat_files import head, opened

SHEET, STRINGS, LINKS = (
    "xl/worksheets/sheet1.xml",
    "xl/sharedStrings.xml",
    "xl/_rels/workbook.xml.rels",
)
Parts = dict[str, str]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(tmp_path / "home")


def _parts(folder: Path) -> Parts:
    """A small workbook with a text, a number and a day."""
    path = folder / "whole.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, ["name", "age", "born"])
        sheet.write_row(1, 0, ["Anna", 34])
        sheet.write_number(1, 2, 33_000, day)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _packed(folder: Path, parts: Parts, *more: tuple[str, str]) -> Path:
    path = folder / "a.xlsx"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)
        for name, text in (*parts.items(), *more):
            archive.writestr(name, text)
    return path


def test_the_workbook_as_it_is_can_be_read(tmp_path: Path) -> None:
    assert head(_packed(tmp_path, _parts(tmp_path))).head == (("Anna", "34", "1990-05-07"),)


@pytest.mark.parametrize("name", [SHEET, STRINGS, "xl/workbook.xml", "xl//worksheets/Sheet1.XML"])
def test_a_part_that_is_there_twice_is_refused(tmp_path: Path, name: str) -> None:
    """Some programs read the first of them, others the last."""
    parts = _parts(tmp_path)
    other = next(
        text for part, text in parts.items() if part.casefold() in name.casefold() or "//" in name
    )
    with pytest.raises(InputError, match=r"the workbook has the part .* twice") as caught:
        head(_packed(tmp_path, parts, (name, other)))
    assert caught.value.code == "workbook.twice"


def _linked(parts: Parts, old: str, new: str) -> Parts:
    assert old in parts[LINKS]
    return parts | {LINKS: parts[LINKS].replace(old, new), "xl/worksheets/two.xml": parts[SHEET]}


def test_what_names_a_part_twice_is_refused(tmp_path: Path) -> None:
    parts = _parts(tmp_path)
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    second = f'<Relationship Id="{{}}" Type="{kind}/{{}}" Target="{{}}"/></Relationships>'
    for made, words in (
        (second.format("rId1", "worksheet", "worksheets/two.xml"), "the reference rId1"),
        (second.format("x", "sharedStrings", "two.xml"), "a part of the kind sharedStrings"),
        (second.format("x", "styles", "two.xml"), "a part of the kind styles"),
    ):
        with pytest.raises(InputError, match=f"the workbook has {words} twice"):
            head(_packed(tmp_path, _linked(parts, "</Relationships>", made)))
    book = parts["xl/workbook.xml"]
    sheet = book[book.index("<sheet ") : book.index("</sheets>")]
    twice = book.replace(sheet, sheet + sheet.replace("Sheet1", "SHEET1"))
    with pytest.raises(InputError, match="the workbook has the sheet SHEET1 twice"):
        head(_packed(tmp_path, parts | {"xl/workbook.xml": twice}))


GHOST = '<row r="9"><c r="A9" t="inlineStr"><is><t>Ghost</t></is></c></row>'
WRONG: dict[str, Callable[[str], str]] = {
    "a row behind the cells": lambda text: text.replace("</sheetData>", f"</sheetData>{GHOST}"),
    "a row in another one": lambda text: text.replace(
        "</row></sheetData>", f"{GHOST}</row></sheetData>"
    ),
    "a cell outside of rows": lambda text: text.replace(
        "</sheetData>", f"{GHOST[13:-6]}</sheetData>"
    ),
    "cells twice": lambda text: text.replace(
        "</sheetData>", f"</sheetData><sheetData>{GHOST}</sheetData>"
    ),
    "an element in a value": lambda text: text.replace("<v>34</v>", "<v>3<x>9</x>4</v>"),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_rows_and_values_that_programs_read_in_two_ways_are_refused(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    parts = _parts(tmp_path)
    changed = change(parts[SHEET])
    assert changed != parts[SHEET]
    with pytest.raises(InputError, match="the sheet breaks off or is damaged") as caught:
        head(_packed(tmp_path, parts | {SHEET: changed}))
    assert caught.value.code == "read.damaged"


def test_a_number_of_which_nothing_says_how_it_is_shown_is_noted(tmp_path: Path) -> None:
    parts = _parts(tmp_path)
    styles = "xl/styles.xml"
    for changed in (
        {SHEET: parts[SHEET].replace('s="1"', 's="7"')},
        {
            styles: parts[styles]
            .replace('formatCode="yyyy-mm-dd"', "")
            .replace("<numFmt ", "<gone ")
        },
    ):
        done = head(_packed(tmp_path, parts | changed))
        assert done.head == (("Anna", "34", "33000"),)
        (told,) = done.notes
        assert told.startswith(
            "Row 2, column C: the workbook does not say how this number is shown"
        )


def test_a_part_in_an_encoding_that_there_is_not_is_refused(tmp_path: Path) -> None:
    parts = _parts(tmp_path)
    for name in (STRINGS, SHEET):
        text = parts[name].replace('encoding="UTF-8"', 'encoding="rot13"')
        with pytest.raises(InputError, match="damaged") as caught:
            head(_packed(tmp_path, parts | {name: text}))
        assert caught.value.code == "read.damaged"


def test_shared_texts_of_wide_letters_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = _parts(tmp_path)
    monkeypatch.setattr(workbook_parts, "_MOST_HELD", 100_000)
    for letter, ends in (("e", True), ("\U0001f600", False)):
        texts = "".join(f"<si><t>{letter}{'x' * 1_000}</t></si>" for _ in range(50))
        path = _packed(
            tmp_path, parts | {STRINGS: parts[STRINGS].replace("</sst>", f"{texts}</sst>")}
        )
        if ends:
            head(path)
            continue
        with pytest.raises(InputError, match="take more than 100,000 bytes of memory"):
            head(path)


def _labelled(path: Path, width: int, code: bytes, form: int) -> Path:
    """An SPSS file with one column, of which the value ``code`` has a label."""
    write_sav_bytes(path, [("A", width)], [[b"x" if width else 1.0]] * 3)
    raw = bytearray(path.read_bytes())
    raw[176 + 16 + 2] = form
    at = raw.index(struct.pack("<3i", 7, 3, 4))
    raw[at:at] = struct.pack("<ii", 3, 1) + code + b"\3one    " + struct.pack("<3i", 4, 1, 1)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_a_labelled_value_that_is_no_text_is_told_instead_of_a_breakdown(
    tmp_path: Path, suffix: str
) -> None:
    path = _labelled(tmp_path / f"a{suffix}", 8, b"\xf0\x3fabcdef", 1)
    with pytest.raises(InputError, match="column `A`: a value that has a label contains") as caught:
        head(path)
    assert caught.value.code == "encoding.undecodable"
    path = _labelled(tmp_path / f"b{suffix}", 8, "Zoë B".encode("cp1252").ljust(8), 1)
    with pytest.raises(InputError, match="not text in the encoding"):
        head(path)
    assert head(path, encoding="cp1252").head == (("x",),) * 3
    path = _labelled(tmp_path / f"c{suffix}", 0, struct.pack("<d", 1.0), 1)
    for place in (16 + 2, 20 + 2):  # what it is printed and written as
        raw = bytearray(path.read_bytes())
        raw[176 + 16 + 2], raw[176 + 20 + 2], raw[176 + place] = 5, 5, 1
        path.write_bytes(raw)
        with pytest.raises(InputError, match="is a number by its description and a text by its"):
            head(path)
    path = _labelled(tmp_path / f"d{suffix}", 0, struct.pack("<d", 1.0), 5)
    assert head(path).head == (("1",),) * 3


def test_texts_without_the_records_that_follow_them_are_refused(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "a.sav", [("A", 0), ("B", 0)], [[1.0, 2.0]])
    raw = bytearray(path.read_bytes())
    raw[176 + 4] = 100
    path.write_bytes(raw)
    with pytest.raises(InputError, match="the descriptions of its columns are damaged"):
        head(path)


@pytest.mark.parametrize("kind", [0, 3, 0x0802, -1])
def test_a_column_of_a_transport_file_is_a_number_or_a_text(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "a.xpt"
    frame = pa.table({"AGE": [1.0, 2.0], "SEX": ["m", "f"]}).to_pandas()
    pyreadstat.write_xport(frame, path, file_format_version=5)
    raw = bytearray(path.read_bytes())
    at = raw.index(b"NAMESTR") // 80 * 80 + 80 + 140
    assert struct.unpack_from(">h", raw, at) == (2,)
    struct.pack_into(">h", raw, at, kind)
    path.write_bytes(raw)
    with pytest.raises(InputError, match="column 2 is neither a number nor a text"):
        head(path)


def test_a_damaged_footer_is_called_damaged(tmp_path: Path, workspace: Workspace) -> None:
    """Arrow tells of it by the error of a disk that fails, or of a text that is none."""
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"town": ["Ulm", None] * 9, "age": range(18)}), path)
    whole, chance = path.read_bytes(), random.Random(1)
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    codes: set[str] = set()
    for _ in range(60):
        raw = bytearray(whole)
        raw[chance.randrange(footer, len(whole) - 8)] = chance.choice((0, 127, 128, 255))
        path.write_bytes(raw)
        for private in (False, True):
            spec = SourceSpec(path.name)
            if private:
                types = (("town", "text"), ("age", "number"))
                spec = SourceSpec(path.name, missing=(), types=types)
            codes.add(_refusal(spec, tmp_path, workspace, private))
    assert codes <= {"", "parquet.damaged", "read.damaged", "parquet.value", "parquet.type",
                     "parquet.duplicate-names", "read.disagreement", "read.names",
                     "encoding.undecodable", "parquet.no-rows", "source.types"}  # fmt: skip


def _refusal(spec: SourceSpec, folder: Path, workspace: Workspace, private: bool) -> str:
    try:
        DataStore.open(spec, folder, workspace, CancelToken(), silent, private=private).close()
    except InputError as error:
        return error.code
    return ""


def _sqlite(path: Path, town: str) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (town)")
        connection.executemany("INSERT INTO t VALUES (?)", [(town,)] * 9)
        connection.commit()


def _workbook(path: Path, town: str) -> None:
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet().write_column(0, 0, ["town", *[town] * 9])


FORMATS: dict[str, Callable[[Path, str], object]] = {
    "csv": lambda path, town: path.write_text("town\n" + f"{town}\n" * 9, "utf-8"),
    "parquet": lambda path, town: parquet.write_table(pa.table({"town": [town] * 9}), path),
    "sav": lambda path, town: write_sav_bytes(path, [("TOWN", 5)], [[town.encode()]] * 9),
    "xlsx": _workbook,
    "sqlite": _sqlite,
}


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("how", ["changed", "grown", "removed"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, workspace: Workspace, ending: str, how: str
) -> None:
    """Its hash would be that of one table, its rows those of another."""
    path = tmp_path / f"a.{ending}"
    FORMATS[ending](path, "Ulm")
    assert opened(path, workspace).rows == 9
    begun: list[str] = []

    def meddle(made: Event) -> None:
        if not isinstance(made, StepStarted) or (begun and begun[-1] == made.step):
            return
        begun.append(made.step)
        if len(begun) != 2:
            return
        if how == "changed":
            FORMATS[ending](path, "Bonn")
        elif how == "grown":
            with path.open("ab") as file:
                file.write(b"Bonn\n")
        else:
            path.unlink()

    with pytest.raises(
        InputError, match=rf"a\.{ending}: another program changed the file"
    ) as caught:
        DataStore.open(SourceSpec(path.name), tmp_path, workspace, CancelToken(), meddle)
    assert caught.value.code == "source.changed"


def test_a_pipe_in_place_of_a_catalogue_is_not_said_to_be_missing(tmp_path: Path) -> None:
    path, pipe = tmp_path / "a.xpt", tmp_path / "labels.sas7bcat"
    frame = pa.table({"AGE": [1.0, 2.0]}).to_pandas()
    pyreadstat.write_xport(frame, path, file_format_version=5, variable_format={"AGE": "AGES."})
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="this is not a regular file") as caught:
        head(path, catalog=str(pipe))
    assert caught.value.code == "storage.folder"


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r"


def _made(path: Path, *statements: str) -> Path:
    """A database of these statements; ``t`` is what is read of it."""
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(";".join(statements))
        return path
    with closing(duckdb.connect(str(path))) as database:
        for statement in statements:
            database.execute(statement)
    return path


@pytest.mark.parametrize("suffix", [".sqlite", ".duckdb"])
def test_a_view_without_end_is_refused(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_STEPS", 20_000_000)
    path = _made(tmp_path / f"a{suffix}", f"CREATE VIEW t AS {ENDLESS}")
    with pytest.raises(InputError, match=rf"a\{suffix}: ") as caught:
        head(path)
    assert caught.value.code == "source.endless"
    plain = _made(tmp_path / f"b{suffix}", "CREATE TABLE s (x)" if suffix == ".sqlite" else
                  "CREATE TABLE s (x INT)", "INSERT INTO s VALUES (7)",
                  "CREATE VIEW t AS SELECT x FROM s")  # fmt: skip
    assert head(plain, table="t").head == (("7",),)


def test_a_view_of_too_many_rows_is_refused(tmp_path: Path) -> None:
    path = _made(tmp_path / "a.duckdb", "CREATE VIEW t AS SELECT range x FROM range(3000000000)")
    with pytest.raises(InputError, match="has more than 1,073,741,824 rows"):
        head(path)


def test_texts_that_a_small_file_makes_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format that stores a text once for all rows can hold gigabytes in a thousand bytes."""
    monkeypatch.setattr(failures, "_SWOLLEN", 0)
    monkeypatch.setattr(failures, "_TIMES", 0)
    rows = 300
    for number, letters in enumerate((900, 9_000)):
        column = pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array(["z" * letters]))
        table = tmp_path / f"a{number}.parquet"
        parquet.write_table(pa.table({"x": column, "y": range(rows)}), table)
        text = f"repeat('z', {letters})"
        duck = _made(
            tmp_path / f"a{number}.duckdb", f"CREATE TABLE t AS SELECT {text} x FROM range({rows})"
        )
        hexed = f"SELECT hex(zeroblob({letters // 2})) x FROM s, s AS u WHERE s.i <= 10"
        numbers = f"WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT {rows})"
        lite = _made(
            tmp_path / f"a{number}.sqlite", "CREATE TABLE s (i)",
            f"INSERT INTO s {numbers} SELECT i FROM r", f"CREATE VIEW t AS {hexed}",
        )  # fmt: skip
        for path, kind in ((table, "parquet"), (duck, "duckdb"), (lite, "sqlite")):
            target = tmp_path / f"{kind}{number}"
            asked = ReadRequest(str(path), str(target), kind, table="t" if path == lite else None)
            if letters == 900:
                assert read_table(asked, lambda made: None).rows
                continue
            with pytest.raises(InputError, match="the texts in it would take") as caught:
                read_table(asked, lambda made: None)
            assert caught.value.code == "read.swollen"


@pytest.mark.parametrize("release", [117, 118])
def test_a_long_text_of_stata_that_every_row_points_to_is_counted_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: Literal[117, 118]
) -> None:
    monkeypatch.setattr(failures, "_SWOLLEN", 0)
    for letters in (3_000, 1_000_000):
        path = tmp_path / f"{letters}.dta"
        frame = pd.DataFrame({"a": range(500), "t": ["z" * letters] * 500})
        frame.to_stata(path, version=release, write_index=False, convert_strl=["t"])
        asked = ReadRequest(str(path), str(tmp_path / f"{letters}.parquet"), "dta")
        if letters == 3_000:
            assert read_table(asked, lambda made: None).rows == 500
            continue
        with pytest.raises(InputError, match="the texts in it would take 500,000,500 bytes"):
            read_table(asked, lambda made: None)


def test_a_shared_text_of_a_workbook_is_counted_for_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "_SWOLLEN", 0)
    parts = _parts(tmp_path)
    rows = "".join(f'<row r="{j}"><c r="A{j}" t="s"><v>0</v></c></row>' for j in range(3, 400))
    sheet = parts[SHEET].replace("</sheetData>", f"{rows}</sheetData>")
    for letters in (900, 900_000):
        texts = parts[STRINGS].replace(">name<", f">{'z' * letters}<")
        path = _packed(tmp_path, parts | {SHEET: sheet, STRINGS: texts})
        asked = ReadRequest(str(path), str(tmp_path / f"{letters}.parquet"), "xlsx", header=False)
        if letters == 900:
            assert read_table(asked, lambda made: None).rows == 399
            continue
        with pytest.raises(InputError, match="the texts in it would take") as caught:
            read_table(asked, lambda made: None)
        assert caught.value.code == "read.swollen"


def test_the_first_rows_of_a_small_file_do_not_fill_the_memory(tmp_path: Path) -> None:
    """They are shown as soon as a file is chosen, in the process of the window."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 300), pa.array(["z" * 4_000_000]))
    parquet.write_table(pa.table({"x": column}), tmp_path / "a.parquet", compression="zstd")
    problem = preview_source(SourceSpec("a.parquet"), tmp_path).problem
    assert problem is not None
    assert problem.code == "read.swollen"


def test_a_hierarchy_of_one_endless_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text(";".join(f"x{j}" for j in range(1_001)) + "\n", "utf-8")
    with pytest.raises(InputError, match="found 1,001 columns, expected at most 1,000"):
        open_hierarchy(path, "age")
