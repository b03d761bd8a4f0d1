"""The public part in other formats: every value as text, whole or not at all, nothing internal."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release, write_verified
from dpdesk.app.verifying import read_release
from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.export_formats import FORMATS, OF_ROWS
from dpdesk.core.jobs import CancelToken, Event, StepProgress, silent
from dpdesk.io import tablewriters
from dpdesk.io.published import PublishedCsv
from dpdesk.io.tablewriters import Sheet, rows_xml
from tests.helpers import releases as town
from tests.helpers.ddi_structure import faults

OF_MICRODATA = [name for name in FORMATS if name in OF_ROWS]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = town.write_source(tmp_path_factory.mktemp("source"))
    return town.release(plan, tmp_path_factory.mktemp("out") / "release", context).out


@pytest.fixture(scope="module")
def rows(made: Path) -> list[list[str]]:
    with (made / "public/microdata.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def export(release: Path, file_format: str, out: Path, context: AppContext) -> Path:
    return export_release(release, file_format, out, context.workspace, CancelToken(), silent)


def test_csv_is_the_published_file(made: Path, context: AppContext, tmp_path: Path) -> None:
    out = export(made, "csv", tmp_path / "a.csv", context)
    assert out.read_bytes() == (made / "public/microdata.csv").read_bytes()


def test_parquet_holds_the_same_texts_and_the_guarantee(
    made: Path, context: AppContext, tmp_path: Path, rows: list[list[str]]
) -> None:
    table = parquet.read_table(export(made / "public", "parquet", tmp_path / "a.parquet", context))
    assert table.column_names == rows[0]
    assert {str(field.type) for field in table.schema} == {"string"}
    assert [list(row.values()) for row in table.to_pylist()] == rows[1:]
    manifest = json.loads((made / "public/manifest.json").read_text("utf-8"))
    metadata = table.schema.metadata
    assert json.loads(metadata[b"dpdesk.manifest"]) == manifest
    assert json.loads(metadata[b"dpdesk.guarantee"]) == manifest["guarantee"]


def test_excel_holds_the_same_texts_and_no_formula(
    made: Path, context: AppContext, tmp_path: Path, rows: list[list[str]]
) -> None:
    book = openpyxl.load_workbook(export(made, "xlsx", tmp_path / "a.xlsx", context))
    assert book.sheetnames == ["Microdata", "About"]
    sheet = book["Microdata"]
    found = [["" if cell.value is None else cell.value for cell in row] for row in sheet.rows]
    assert found == rows
    assert {cell.data_type for row in sheet.rows for cell in row} == {"s"}
    assert any(value == "=1+1" for row in rows for value in row)  # what must not be a formula
    about = {row[0].value: row[1].value for row in book["About"].rows}
    assert about["Title"] == "Town survey"
    assert "at least 5 rows" in about["Claim"]


@pytest.mark.parametrize(
    "value",
    ["https://a.example", "=cmd()", "+1", "@x", "007", "1e5", "_x0041_", "TRUE", "\t", "é\n"],
)
def test_no_value_is_interpreted_by_excel(tmp_path: Path, value: str, context: AppContext) -> None:
    path = tmp_path / "microdata.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([["x"], [value]])
    target = tmp_path / "a.xlsx"
    write_xlsx(PublishedCsv(path, CancelToken()), target, tmp_path)
    cell = openpyxl.load_workbook(target)["Microdata"]["A2"]
    assert cell.data_type == "s"
    assert cell.hyperlink is None
    assert openpyxl.utils.escape.unescape(cell.value) == value or cell.value == value


ODD = [
    "",
    " a",
    "b ",
    "_x0041_",
    "a\x01b",
    "\u00a0c",
    "\u2003",
    "d\x85",
    "\ufffe",
    "l" * 20_000,
]
USUAL = [
    "1",
    "é",
    "a & b",
    "<b>",
    "it's",
    'say "no"',
    "x\ny",
    "住所",
    "a_x00",
    "😀",
    "a  b",
    "<r>x</r>",
]


@pytest.mark.parametrize("values", [USUAL, ODD, [*USUAL, *ODD], [*ODD, *USUAL * 3]])
def test_rows_are_written_byte_for_byte_as_the_library_writes_them(
    tmp_path: Path, values: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "microdata.csv"
    lines = [[f"c{number}" for number in range(28)]]
    lines += [[value, *(str(number) for number in range(26)), value[::-1]] for value in values]
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(lines)
    monkeypatch.setattr(tablewriters, "_XLSX_ROWS", 3)
    sheets: list[bytes] = []
    for number in range(2):
        target = tmp_path / f"{number}.xlsx"
        write_xlsx(PublishedCsv(path, CancelToken()), target, tmp_path)
        with zipfile.ZipFile(target) as book:
            sheets.append(book.read("xl/worksheets/sheet1.xml"))
        monkeypatch.setattr(tablewriters, "rows_xml", lambda piece, first: None)
    assert sheets[0] == sheets[1]
    assert sheets[0].count(b"<row ") == len(values) + 1


def test_only_unusual_values_are_left_to_the_library() -> None:
    assert rows_xml(pa.table({"a": USUAL}), 2) is not None
    assert all(rows_xml(pa.table({"a": [value]}), 2) is None for value in ODD if value)


def write_xlsx(
    table: PublishedCsv,
    target: Path,
    scratch: Path,
    about: Sequence[tuple[str, str]] = (),
    more: Sequence[Sheet] = (),
) -> None:
    from datetime import datetime

    created = datetime.fromisoformat("2026-03-14")
    tablewriters.write_xlsx(
        table, target, about, created, scratch, CancelToken(), lambda rows: None, more=more
    )


@pytest.mark.parametrize("value", ["<r>x</r>", "<r><t>other</t></r>", "<r>&</r>", "<r>\x01 </r>"])
def test_what_looks_like_rich_text_is_text(tmp_path: Path, value: str) -> None:
    path, target = tmp_path / "microdata.csv", tmp_path / "a.xlsx"
    path.write_text(f"{value},b\n{value},1\n a,2\n", encoding="utf-8")
    sheets = [Sheet("Codes", [["c", value], [value, "d"]])]
    write_xlsx(PublishedCsv(path, CancelToken()), target, tmp_path, [(value, value)], sheets)
    book = openpyxl.load_workbook(target)
    read = [[cell.value for row in sheet.rows for cell in row] for sheet in book]
    shown = value.replace("\x01", "_x0001_")
    assert read[0] == [shown, "b", shown, "1", " a", "2"]
    assert read[1:] == [[shown, shown], ["c", shown, shown, "d"]]


def test_a_sheet_of_codes_too_long_for_excel_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tablewriters, "XLSX_ROWS", 3)
    path = tmp_path / "microdata.csv"
    path.write_text("x\n1\n")
    sheets = [Sheet("Codes", [["code"]] * 4)]
    with pytest.raises(RefusedError, match=r"sheet `Codes` would have 4 rows, .* at most 3"):
        write_xlsx(PublishedCsv(path, CancelToken()), tmp_path / "a.xlsx", tmp_path, [], sheets)
    assert not (tmp_path / "a.xlsx").exists()


def test_excel_counts_characters_beyond_the_first_plane_twice(tmp_path: Path) -> None:
    path, target = tmp_path / "microdata.csv", tmp_path / "a.xlsx"
    path.write_text("x\n1\n")
    sheets = [Sheet("Codes", [["😀" * 20_000]])]
    write_xlsx(PublishedCsv(path, CancelToken()), target, tmp_path, [("a", "😀" * 20_000)], sheets)
    book = openpyxl.load_workbook(target)
    assert len(str(book["Codes"]["A1"].value)) == len(str(book["About"]["B1"].value)) == 16_383
    path.write_text("x\n" + "😀" * 20_000 + "\n", encoding="utf-8")
    with pytest.raises(RefusedError, match="a value of 40,000 characters"):
        write_xlsx(PublishedCsv(path, CancelToken()), tmp_path / "b.xlsx", tmp_path)


def test_a_table_too_long_for_excel_is_refused_by_name(
    made: Path, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PublishedCsv, "rows", 1_048_576)
    with pytest.raises(RefusedError, match="at most 1,048,576 rows") as caught:
        export(made, "xlsx", tmp_path / "a.xlsx", context)
    assert caught.value.exit_code == 1
    assert "csv or parquet" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_value_too_long_for_excel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "microdata.csv"
    path.write_text("x\n" + "y" * 32_768 + "\n")
    with pytest.raises(RefusedError, match="32,768 characters"):
        write_xlsx(PublishedCsv(path, CancelToken()), tmp_path / "a.xlsx", tmp_path)


@pytest.mark.parametrize("file_format", OF_MICRODATA)
def test_a_cancel_leaves_the_old_file(
    made: Path, context: AppContext, tmp_path: Path, file_format: str
) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        export_release(made, file_format, target, context.workspace, token, silent, replace=True)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("file_format", ["parquet", "xlsx"])
def test_progress_ends_with_all_rows(
    made: Path, context: AppContext, tmp_path: Path, file_format: str
) -> None:
    events: list[Event] = []
    target = tmp_path / "out"
    export_release(made, file_format, target, context.workspace, CancelToken(), events.append)
    done = [event.done for event in events if isinstance(event, StepProgress)]
    assert done == sorted(done)
    assert done[-1] == 299


def test_a_file_that_is_there_is_not_replaced_unasked(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(InputError, match="already exists") as error:
        export(made, "csv", target, context)
    assert (error.value.code, target.read_text()) == ("export.exists", "old")
    target.write_text("")
    export(made, "csv", target, context)
    assert target.read_text("utf-8").startswith("age,town,illness\n")


def test_an_existing_file_is_replaced_as_a_whole(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    token = CancelToken()
    export_release(made, "csv", target, context.workspace, token, silent, replace=True)
    assert target.read_text("utf-8").startswith("age,town,illness\n")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_the_codebook_of_a_release_is_one_of_the_standard(
    made: Path, context: AppContext, tmp_path: Path, rows: list[list[str]]
) -> None:
    document = export(made / "public", "ddi", tmp_path / "a.xml", context).read_bytes()
    assert faults(document) == []
    text = document.decode("utf-8")
    assert [f'name="{name}"' in text for name in rows[0]] == [True] * len(rows[0])
    manifest = json.loads((made / "public/manifest.json").read_text("utf-8"))
    assert manifest["files"]["microdata.csv"]["sha256"] in text
    assert f"<caseQnty>{len(rows) - 1}</caseQnty>" in text


def test_microdata_are_no_observations_of_tables(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    for form in ("sdmx-csv", "sdmx-structure"):
        with pytest.raises(
            InputError,
            match=f"`{form}` describes tables of a cube and protected tables, and this release",
        ):
            export(made, form, tmp_path / "a", context)


def test_bad_usage_is_named(made: Path, context: AppContext, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unknown format `cvs`") as caught:
        export(made, "cvs", tmp_path / "a", context)
    assert caught.value.hint == "Did you mean `csv`?"
    with pytest.raises(InputError, match="is inside the release"):
        export(made, "csv", made / "public/copy.csv", context)
    with pytest.raises(InputError, match="is a folder"):
        export(made, "csv", tmp_path, context)
    with pytest.raises(InputError, match="does not exist"):
        export(tmp_path / "nowhere", "csv", tmp_path / "a", context)


def test_a_format_without_a_writer_is_written_as_no_other(
    made: Path, context: AppContext, tmp_path: Path
) -> None:
    out, facts = tmp_path / "a.feather", read_release(made)
    with pytest.raises(ValueError, match="no writer"):
        write_verified(facts, "feather", out, context.workspace, CancelToken(), silent)
    assert not out.exists()


@pytest.mark.parametrize("file_format", OF_MICRODATA)
def test_nothing_internal_is_exported(
    made: Path, context: AppContext, tmp_path: Path, file_format: str
) -> None:
    evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    data = export(made, file_format, tmp_path / "out", context).read_bytes()
    if file_format == "xlsx":
        import zipfile

        with zipfile.ZipFile(tmp_path / "out") as book:
            data = b"".join(book.read(name) for name in book.namelist())
    for fact in (evidence["commitment_key"], evidence["source"]["sha256"], town.SOURCE, "zqid"):
        assert fact.encode() not in data
