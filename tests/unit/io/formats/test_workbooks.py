"""Workbooks of Excel, compared with a second reader (openpyxl) and against what was written."""

from __future__ import annotations

import datetime as dt
import random
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from dpdesk.core.errors import InputError
from dpdesk.core.language import listening, speaking
from dpdesk.core.language.speaker import voice
from dpdesk.io.formats.excel import cells as workbook_cells
from dpdesk.io.formats.excel import parts as workbook_parts
from dpdesk.io.formats.excel.cells import duration_text, moment_text
from dpdesk.io.private.values import UNREADABLE
from tests.helpers.stat_files import head

TEXTS = (
    "Ärzte",
    "東京 😀",
    " blanks ",
    "",
    "00123",
    "a & b < c",
    "two\nlines",
    "1.50",
    "#N/A",
    "_x0041_",
)
FORMATS = ("yyyy-mm-dd", "dd.mm.yy hh:mm", "hh:mm:ss", '0.00"d"', "0%", "00000", "[h]:mm", "[Red]0")


def _spelled(value: Any) -> str:
    """What a value of the second reader must be in our words."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace("-0", "0") if value == 0 else _plain(value)
    if isinstance(value, dt.timedelta):
        return duration_text(value / dt.timedelta(days=1)) or ""
    if isinstance(value, dt.datetime | dt.time):
        text = value.isoformat(" ") if isinstance(value, dt.datetime) else value.isoformat()
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.removesuffix(" 00:00:00")
    return str(value).replace("_x005F_", "_")  # openpyxl undoes it in shared texts alone


def _plain(value: float) -> str:
    return repr(value).removesuffix(".0")


def _write_random(path: Path, seed: int, since_1904: bool) -> None:
    chance = random.Random(seed)
    options = {"constant_memory": seed % 2 == 0, "date_1904": since_1904}
    with xlsxwriter.Workbook(path, options) as book:
        styles = [book.add_format({"num_format": text}) for text in FORMATS]
        bold = book.add_format({"bold": True})
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [f"c{j}" for j in range(8)])
        for i in range(1, 60):
            for j in range(8):
                _cell(sheet, i, j, chance, styles, bold)


def _cell(sheet: Any, i: int, j: int, chance: random.Random, styles: list[Any], bold: Any) -> None:
    kind = chance.randrange(9)
    if kind == 0:
        sheet.write_string(i, j, chance.choice(TEXTS))
    elif kind == 1:
        sheet.write_number(i, j, chance.choice([0, -1, 7, 10**17, 1e300, 1e-7, 0.1, -2.5]))
    elif kind == 2:
        sheet.write_number(i, j, chance.uniform(61, 100_000), chance.choice(styles))
    elif kind == 3:
        sheet.write_boolean(i, j, chance.random() < 0.5)
    elif kind == 4:
        sheet.write_formula(i, j, "=1+1", None, chance.choice([2, 2.5, "text", True]))
    elif kind == 5:
        sheet.write_blank(i, j, None, bold)
    elif kind == 6:
        sheet.write_number(i, j, chance.randrange(61, 60_000), styles[0])
    elif kind == 7:
        sheet.write_rich_string(i, j, "a ", bold, "thick", " text")


def _by_openpyxl(path: Path) -> list[tuple[str, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, data_only=True)
    rows = [[_spelled(cell.value) for cell in row] for row in book.worksheets[0].iter_rows()]
    return [tuple(row) for row in rows[1:]]


@pytest.mark.parametrize("seed", range(12))
def test_random_workbooks_are_read_as_a_second_reader_does(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    _write_random(path, seed, since_1904=seed % 3 == 0)
    wanted = [row for row in _by_openpyxl(path) if any(row)]
    assert [row for row in head(path).head if any(row)] == wanted


def _sheet(path: Path, *cells: str, styles: str = "", more: str = "") -> Path:
    """A workbook whose one row of values has these cells, written as XML."""
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"

    def link(number: int, kind: str, target: str) -> str:
        return f'<Relationship Id="r{number}" Type="{rel}/{kind}" Target="{target}"/>'

    names = "".join(f'<c t="str"><v>c{j}</v></c>' for j in range(len(cells)))
    parts = {
        "_rels/.rels": f'<R xmlns="{links}">{link(1, "officeDocument", "xl/workbook.xml")}</R>',
        "xl/_rels/workbook.xml.rels": f'<R xmlns="{links}">{link(1, "worksheet", "s.xml")}'
        f"{link(2, 'styles', '/xl/styles.xml')}</R>",
        "xl/workbook.xml": f'<x:w xmlns:x="{main}" xmlns:r="{rel}"><x:sheets>'
        '<x:sheet name="Sheet" r:id="r1"/></x:sheets></x:w>',
        "xl/styles.xml": f'<s xmlns="{main}">{styles}</s>',
        "xl/s.xml": f'<w xmlns="{main}"><sheetData><row>{names}</row><row>{"".join(cells)}</row>'
        f"</sheetData>{more}</w>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def test_values_come_with_all_digits_escapes_and_errors(tmp_path: Path) -> None:
    path = _sheet(
        tmp_path / "a.xlsx",
        "<c><v>12345678901234567890</v></c>",
        '<c t="e"><v>#N/A</v></c>',
        '<c t="inlineStr"><is><r><t>ri</t></r><r><t>ch</t></r><rPh><t>aloud</t></rPh></is></c>',
        '<c t="str"><f>A1</f><v></v></c>',
        '<c t="str"><v>a_x000D_b_x005F_x0041_</v></c>',
        '<c t="d"><v>2024-05-06T10:11:12.500Z</v></c>',
        "<c><v>-0.0</v></c>",
        more='<mergeCells><mergeCell ref="A2:A3"/></mergeCells>',
    )
    done = head(path)
    wanted = "12345678901234567890", "#N/A", "rich", "", "a\rb_x0041_", "2024-05-06 10:11:12.5", "0"
    assert done.head == (wanted,)
    assert [note for note in done.notes if "Row 2, column B: the cell holds the error #N/A" in note]
    assert [note for note in done.notes if "A2:A3 are merged" in note]


def test_escaped_halves_of_a_character_are_joined_or_left(tmp_path: Path) -> None:
    cells = [f'<c t="str"><v>{text}</v></c>' for text in ("_xD83D__xDE00_", "_xD83D_ alone")]
    assert head(_sheet(tmp_path / "a.xlsx", *cells)).head == (("😀", "_xD83D_ alone"),)


def test_numbers_that_are_no_dates_are_kept_and_noted(tmp_path: Path) -> None:
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    values = ("60", "-1", "2958466", "59", "61", "0.5")
    cells = [f'<c s="1"><v>{value}</v></c>' for value in values]
    done = head(_sheet(tmp_path / "a.xlsx", *cells, styles=styles))
    assert done.head == (("60", "-1", "2958466", "1900-02-28", "1900-03-01", "0.5"),)
    note = "Row 2, column A: the number 60 is not a date; it is kept as a number."
    assert note in done.notes
    with speaking("de"), listening() as english:
        said = voice().say(next(each for each in done.notes if each == note))
    assert said.startswith("Zeile 2, Spalte A: ")
    assert english == []


def test_parts_that_are_named_and_not_there_are_refused(tmp_path: Path) -> None:
    whole = _sheet(tmp_path / "a.xlsx", "<c><v>1</v></c>")
    with zipfile.ZipFile(whole) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    book = parts["xl/workbook.xml"].replace('r:id="r1"', 'r:id="r9"')
    for changed in (
        {name: text for name, text in parts.items() if name != "xl/styles.xml"},
        parts | {"xl/workbook.xml": book},
    ):
        path = tmp_path / "b.xlsx"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in changed.items():
                archive.writestr(name, text)
        with pytest.raises(InputError, match="not an Excel workbook, or it is damaged"):
            head(path)


def test_capital_letters_in_names_of_parts_make_no_other_parts(tmp_path: Path) -> None:
    whole = _sheet(tmp_path / "a.xlsx", '<c t="str"><v>x</v></c>')
    path = tmp_path / "b.xlsx"
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(path, "w") as other:
        for name in archive.namelist():
            other.writestr(name.replace("styles", "Styles").replace("s.xml", "S.xml"),
                           archive.read(name))  # fmt: skip
    assert head(path).head == (("x",),)


def test_a_row_of_totals_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    for totals in (False, True):
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            columns = [{"header": "town", "total_string": "Total"}, {"header": "n"}]
            options = {"columns": columns, "data": [["Ulm", 1], ["Rom", 2]], "total_row": totals}
            sheet.add_table(0, 0, 2 + totals, 1, options)
        said = "The last row of the cells A1:B4 holds totals; it is read as a row."
        assert head(path).notes == ((said,) if totals else ())


def test_formats_of_conditions_are_none_of_cells(tmp_path: Path) -> None:
    weight, day = "0.00&quot; kg&quot;", "dd/mm/yyyy"
    styles = (
        f'<numFmts><numFmt numFmtId="164" formatCode="{weight}"/></numFmts>'
        '<cellXfs><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs>'
        f'<dxfs><dxf><numFmt numFmtId="164" formatCode="{day}"/></dxf>'
        f'<dxf><numFmt numFmtId="14" formatCode="{weight}"/></dxf></dxfs>'
    )
    cells = [f'<c s="{style}"><v>61</v></c>' for style in (0, 1)]
    done = head(_sheet(tmp_path / "a.xlsx", *cells, styles=styles))
    assert (done.head, done.notes) == ((("61", "1900-03-01"),), ())


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("<c><v>abc</v></c>", "row 2, column A: found `abc`, expected a number"),
        ('<c t="s"><v>7</v></c>', "row 2, column A: found `7`, expected the number of a shared"),
        ('<c t="s"><v>-1</v></c>', "row 2, column A: found `-1`, expected the number of a shared"),
        ('</row><row r="2"><c><v>1</v></c>', "damaged (row 2 comes after row 2)"),
        ('</row><row r="1e999"><c><v>1</v></c>', "the sheet breaks off or is damaged"),
        ("<c><v>1_000</v></c>", "row 2, column A: found `1_000`, expected a number"),
        ("<c><v>\u0663</v></c>", "row 2, column A: found `\u0663`, expected a number"),
        ('<c t="b"><v>2</v></c>', "row 2, column A: found `2`, expected 0 or 1"),
        ("<c><v>1</v><v>2</v></c>", "damaged (a cell has two values)"),
        ('<c r="A9"><v>1</v></c>', "damaged (cell A9 stands in row 2)"),
        ("<c><v>1e999</v></c>", "row 2, column A: found `1e999`, expected a number"),
        ("<c><f>A1</f></c>", "row 2, column A: found a formula"),
        ('<c r="A2"/><c r="A2"><v>1</v></c>', "row 2, column A: found a cell twice"),
        ('<c r="ZZZZZZ2"><v>1</v></c>', "the sheet breaks off or is damaged (there is no cell"),
        ('<c r="a2"><v>1</v></c>', "the sheet breaks off or is damaged (there is no cell a2"),
    ],
)
def test_cells_that_do_not_fit_are_named(cell: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(found)):
        head(_sheet(tmp_path / "a.xlsx", cell))


def test_texts_that_only_fill_the_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "a" * 600_000
    path = _sheet(tmp_path / "a.xlsx", f'<c t="str"><v>{long}</v></c>')
    assert head(path).head == ((long,),)
    monkeypatch.setattr(workbook_parts, "_LONGEST_TEXT", 500_000)
    with pytest.raises(InputError, match="a text in it is longer than any cell may hold"):
        head(path)
    monkeypatch.setattr(workbook_parts, "_LARGEST_DESCRIPTION", 100)
    with pytest.raises(InputError, match=r"the part \S+ of the workbook unpacks from"):
        head(path)


@pytest.mark.parametrize("times", [1, 40])
def test_a_text_that_is_too_long_is_unreadable_for_a_private_method(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_parts, "_LONGEST_TEXT", 500_000)
    long = ("a" * 99_999 + "<!-- -->") * 7 * times
    path = _sheet(tmp_path / "a.xlsx", f'<c t="str"><v>{long}</v></c>', "<c><v>1</v></c>")
    assert head(path, private=True, wanted=("c0", "c1")).head == ((UNREADABLE, "1"),)


def test_what_single_cells_bring_along_has_no_limit_for_a_private_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["name", "Anna"])
        sheet.write_url("A2", "https://example.org/" + "a" * 2_000, string="Anna")
    monkeypatch.setattr(workbook_parts, "_LARGEST_PART", 10)
    monkeypatch.setattr(workbook_parts, "_LARGEST_DESCRIPTION", 2_000)
    assert head(path, private=True, wanted=("name",)).head == (("Anna",),)
    for limits in ("_LARGEST_PART", "_LARGEST_DESCRIPTION"):
        with pytest.raises(InputError, match="workbook unpacks from"):
            head(path)
        monkeypatch.setattr(workbook_parts, limits, 1 << 30)
    assert head(path).head == (("Anna",),)


@pytest.mark.parametrize("cell", ['<c r="A2">', "<c><is>", "<c><f>", "<c><v>", "<x>", "<x/><x>"])
def test_elements_inside_each_other_without_end_are_refused(cell: str, tmp_path: Path) -> None:
    path = _sheet(tmp_path / "a.xlsx", cell * 100_000)
    with pytest.raises(InputError, match="breaks off or is damaged") as refused:
        head(path)
    assert "mismatched" not in refused.value.sentence


def test_shared_texts_and_styles_inside_each_other_without_end_are_refused(
    tmp_path: Path,
) -> None:
    path = _sheet(tmp_path / "a.xlsx", "<c><v>1</v></c>", styles="<xf>" * 100_000)
    with pytest.raises(InputError, match="damaged"):
        head(path)
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.writestr("s.xml", "<si>" * 100_000)
    refused = pytest.raises(workbook_parts.BrokenPartError, match="inside each other")
    with zipfile.ZipFile(tmp_path / "s.zip") as archive, refused:
        workbook_parts.read_strings(archive, "s.xml", None)


def test_a_row_has_no_more_cells_than_a_sheet_has_columns(tmp_path: Path) -> None:
    path = _sheet(tmp_path / "a.xlsx", "<c><v>1</v></c>" * 16_385)
    with pytest.raises(InputError, match="there is no cell 16,385 in a row"):
        head(path)
    assert head(path, private=True, wanted=("c0",)).head == ((UNREADABLE,),)


def test_a_tag_without_end_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_parts, "_LONGEST_TAG", 1 << 18)
    attributes = " ".join(f'a{j}="1"' for j in range(100_000))
    path = _sheet(tmp_path / "a.xlsx", f"<c {attributes}><v>1</v></c>")
    with pytest.raises(InputError, match="a tag in it is longer than any that programs write"):
        head(path)


def _padded(plain: Path, path: Path, part: str, size: int) -> None:
    """A workbook of which one part has blanks at its end."""
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).ljust(size if part in name else 0))


def test_parts_that_only_fill_the_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, path = tmp_path / "plain.xlsx", tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(plain) as book:
        book.add_worksheet().write_column(0, 0, ["name", "Anna"])
    assert head(plain).head == (("Anna",),)
    for part in ("styles", "sheet1.xml", "sharedStrings", "xl/workbook.xml", "_rels/.rels"):
        _padded(plain, path, part, 66 << 20)
        with pytest.raises(InputError) as caught:
            head(path)
        assert caught.value.code == "workbook.size", part
        assert part in caught.value.sentence
        assert caught.value.sentence.endswith("to 69,206,016 bytes, expected at most 33,554,432.")
    monkeypatch.setattr(workbook_parts, "_LARGEST_PART", 10)
    with pytest.raises(InputError, match="bytes, expected at most 10"):
        head(plain)


def test_a_part_that_states_a_packed_size_of_its_own_making_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, path = tmp_path / "plain.xlsx", tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(plain) as book:
        book.add_worksheet().write_column(0, 0, ["name", "Anna"])
    monkeypatch.setattr(workbook_parts, "_UNPACKED", 1000)
    _padded(plain, path, "sheet1.xml", 8 << 20)
    raw = bytearray(path.read_bytes())
    place = raw.rfind(b"xl/worksheets/sheet1.xml") - 46  # the entry of the list at the end
    assert raw[place : place + 4] == b"PK\1\2"
    raw[place + 20 : place + 24] = (1 << 24).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"unpacks from {len(raw):,} to 8,388,608 bytes"):
        head(path)


def test_more_shared_texts_than_can_be_held_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet().write_column(0, 0, ["name", "Anna", "Bea"])
    monkeypatch.setattr(workbook_parts, "_MOST_STRINGS", 3)
    assert head(path).head == (("Anna",), ("Bea",))
    monkeypatch.setattr(workbook_parts, "_MOST_STRINGS", 2)
    with pytest.raises(InputError, match="has more than 2 shared texts") as caught:
        head(path)
    assert caught.value.hint.startswith("Save the table as CSV or Parquet")


def test_a_hidden_sheet_is_read_only_when_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("codes", "people"):
            book.add_worksheet(name).write_column(0, 0, [name, 1])
        book.worksheets()[1].activate()
        book.worksheets()[0].hide()
    assert [item.name for item in head(path).variables] == ["people"]
    assert [item.name for item in head(path, table="codes").variables] == ["codes"]


def test_what_is_no_workbook_or_breaks_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    with pytest.raises(InputError, match="the workbook has a password, or the form of Excel 97"):
        head(path)
    with pytest.raises(InputError, match="the sheet breaks off or is damaged"):
        head(_sheet(path, "<c><v>1</v></c>", more="<unfinished>"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_rels/.rels", '<!DOCTYPE a [<!ENTITY b "c">]><R/>')
    with pytest.raises(InputError, match="not an Excel workbook"):
        head(path)


@pytest.mark.parametrize("since_1904", [False, True])
def test_days_are_those_of_the_calendar(since_1904: bool) -> None:
    first = dt.date(1904, 1, 1) if since_1904 else dt.date(1899, 12, 30)
    for days in (61, 1_000, 45_000, 2_900_000):
        assert moment_text(days, since_1904) == (first + dt.timedelta(days)).isoformat()
    assert moment_text(45_000.999999999, since_1904) == moment_text(45_001, since_1904)
    assert duration_text(1 + 2 / 24) == "26:00:00"
    for days in (0, 0.5):
        clock = "12:00:00" if days else "00:00:00"
        assert moment_text(days, since_1904) == clock
        day = f"1904-01-01 {clock}" if days else "1904-01-01"
        assert moment_text(days, since_1904, True) == (day if since_1904 else None)


def test_a_fault_of_a_sheet_is_told_by_the_rows_of_the_sheet(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(1, 0, ["a", "b"])
        sheet.write_row(4, 0, ["x", "y\0"])
    with pytest.raises(InputError, match="row 5, column `b`: found a NUL character"):
        head(path)
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(1, 0, ["a", "a"])
        sheet.write_row(2, 0, [1, 2])
    with pytest.raises(InputError, match="the columns 1 and 2 are both named `a`") as caught:
        head(path)
    assert caught.value.hint == "Rename one of them in row 2 of the sheet."


def test_the_first_day_of_the_system_of_1904_is_a_day_where_its_format_shows_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path, {"date_1904": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["day", "moment", "clock", "month"])
        formats = ("yyyy-mm-dd", "dd.mm.yy hh:mm", "hh:mm AM/PM", "mmm")
        for j, code in enumerate(formats):
            style = book.add_format({"num_format": code})
            for i, number in enumerate((0, 0.5, 1)):
                sheet.write_number(i + 1, j, number, style)
    done = head(path)
    first = ("1904-01-01", "1904-01-01", "00:00:00", "1904-01-01")
    noon = ("1904-01-01 12:00:00", "1904-01-01 12:00:00", "12:00:00", "1904-01-01 12:00:00")
    assert (done.head[0], done.head[1]) == (first, noon)
    assert done.head[2][0] == "1904-01-02"


def test_made_up_names_of_columns_are_noted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["a", None, "c", ""], [1, 2, 3, None]):
        book.active.append(row)
    book.save(tmp_path / "p.xlsx")
    done = head(tmp_path / "p.xlsx")
    assert [variable.name for variable in done.variables] == ["a", "column_2", "c"]
    assert done.notes == (
        "Row 1 of the sheet leaves columns without a name; they are called `column_2`.",
    )


def test_rows_beyond_the_last_one_of_a_sheet_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _rows(tmp_path, '<row r="1048576"><c t="str"><v>x</v></c></row>')
    assert head(path, 2_000_000).rows == 1_048_575
    path = _rows(tmp_path, '<row r="1048577"><c t="str"><v>x</v></c></row>')
    with pytest.raises(InputError, match="has a row 1,048,577, expected none after row 1,048,576"):
        head(path, 2_000_000)
    monkeypatch.setattr(
        workbook_cells, "_MOST_ROWS", 1_000
    )  # so that not each of a million is written
    packed = "<row><c><v>1</v></c></row>" * 1_000
    with pytest.raises(InputError, match="has a row 1,001"):
        head(_rows(tmp_path, packed), 2_000_000)


def test_empty_rows_that_a_number_makes_are_bounded(tmp_path: Path) -> None:
    wide = "".join(f'<c t="str"><v>c{j}</v></c>' for j in range(16_384))
    path = _rows(tmp_path, '<row r="1048576"><c><v>1</v></c></row>', wide)
    with pytest.raises(
        InputError, match="row 1,048,576: found a value far below row 1, with 16,384"
    ):
        head(path, 2_000_000)


def _rows(folder: Path, rows: str, names: str = '<c t="str"><v>a</v></c>') -> Path:
    """A workbook of these names of columns and these rows, written as XML."""
    path = _sheet(folder / "a.xlsx", "")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    first, last = "<sheetData>", "</sheetData>"
    before, _, after = parts["xl/s.xml"].partition(first)
    after = after.partition(last)[2]
    parts["xl/s.xml"] = f"{before}{first}<row>{names}</row>{rows}{last}{after}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path
