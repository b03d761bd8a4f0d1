"""NUL, infinite numbers and too many digits: the value arrives, or a sentence names its place."""

from __future__ import annotations

import math
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Kind
from dpdesk.core.plan import SourceSpec
from dpdesk.io.formats.moments import clock_of, moments, rounded
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.preview import preview_source
from dpdesk.io.workspace import Workspace
from tests.helpers.stat_files import head, opened

INF, NAN = math.inf, math.nan
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def _transport(path: Path, text: bytes = b"abXdef", number: bytes = b"") -> None:
    frame = pd.DataFrame({"size": [1.5, 3.25], "town": ["Ulm", "abXdef"]})
    pyreadstat.write_xport(frame, path, file_format_version=5)
    raw = path.read_bytes().replace(b"abXdef", text)
    path.write_bytes(raw.replace(struct.pack(">Q", 0x4134 << 48), number or b"\x414" + bytes(6)))


def _parquet(path: Path, **columns: pa.Array) -> None:
    parquet.write_table(pa.table(columns), path)


def _sqlite(path: Path, *values: object) -> None:
    con = sqlite3.connect(path)
    con.execute("CREATE TABLE people (size REAL, town TEXT)")
    con.execute("INSERT INTO people VALUES (1, 'Ulm')")
    con.execute("INSERT INTO people VALUES (?, ?)", values)
    con.commit()
    con.close()


def _workbook(path: Path, number: str, text: str = "Rom") -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["size", "town"], [1.5, "Ulm"], [3.25, "abXdef"]):
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[SHEET] = parts[SHEET].replace(b"<v>3.25</v>", f"<v>{number}</v>".encode())
    parts[SHEET] = parts[SHEET].replace(b"abXdef", text.encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in parts.items():
            archive.writestr(name, raw)


NULS: dict[str, Callable[[Path], None]] = {
    "p.xpt": lambda path: _transport(path, b"ab\0def"),
    "p.parquet": lambda path: _parquet(path, size=pa.array([1, 2]), town=pa.array(["a", "b\0c"])),
    "p.sqlite": lambda path: _sqlite(path, 1, "ab\0c"),
    "p.xlsx": lambda path: _workbook(path, "1", "ab_x0000_c"),
}


@pytest.mark.parametrize("name", NULS)
def test_a_nul_in_a_text_is_refused_with_its_place(
    tmp_path: Path, workspace: Workspace, name: str
) -> None:
    NULS[name](tmp_path / name)
    with pytest.raises(InputError) as caught:
        opened(tmp_path / name, workspace)
    row = 3 if name.endswith(".xlsx") else 2  # of a sheet, whose first row is the header
    assert caught.value.sentence == (
        f"{name}, row {row}, column `town`: found a NUL character, expected text."
    )


@pytest.mark.parametrize(
    ("word", "read"),
    [
        (0x2E << 56, ""),
        (0x41 << 56, ".A"),
        (0x5A << 56, ".Z"),
        (0x5F << 56, "._"),
        (0x7FFFFFFFFFFFFF00, "7.2370055773322365e+75"),
        (0x0010000000000000, "5.397605346934028e-79"),
        (1, "1.1985091468012028e-94"),
    ],
)
def test_every_number_and_letter_of_sas_transport_arrives(
    tmp_path: Path, word: int, read: str
) -> None:
    _transport(tmp_path / "p.xpt", number=struct.pack(">Q", word))
    assert head(tmp_path / "p.xpt").head[1][0] == read


def test_a_number_of_sas_transport_with_too_many_digits_is_noted(tmp_path: Path) -> None:
    _transport(tmp_path / "p.xpt", number=struct.pack(">Q", 0x4134000000000001))
    found = head(tmp_path / "p.xpt")
    assert found.head[1][0] == "3.25"
    assert found.notes == (
        "Row 2, column `size`: the number has more digits than a double holds; it is read as 3.25.",
    )


@pytest.mark.parametrize(
    ("name", "number", "read", "finer"),
    [
        ("p.sav", 36000.1234567, "10:00:00.123457", True),
        ("p.sav", 36000.123456, "10:00:00.123456", False),
        ("p.sav", 0.1, "00:00:00.1", False),
        ("p.xpt", 36000.0000004, "10:00:00", True),
        ("p.xpt", 86399.999999, "23:59:59.999999", False),
    ],
)
def test_a_time_finer_than_a_microsecond_is_noted(
    tmp_path: Path, name: str, number: float, read: str, finer: bool
) -> None:
    frame = pd.DataFrame({"at": [60.0, number]})
    if name == "p.sav":
        pyreadstat.write_sav(frame, tmp_path / name, variable_format={"at": "TIME16.7"})
    else:
        pyreadstat.write_xport(frame, tmp_path / name, variable_format={"at": "TIME16.7"})
    found = head(tmp_path / name)
    assert found.head[1] == (read,)
    note = (
        f"Row 2, column `at`: the number {number_text(number)} is a timestamp finer than a "
        "microsecond; it is read to the microsecond."
    )
    assert found.notes == ((note,) if finer else ())


@given(st.integers(-60_000_000_000, 250_000_000_000), st.sampled_from(["sav", "dta", "xpt"]))
def test_whole_microseconds_are_never_called_finer(thousandths: int, form: str) -> None:
    for kind in (Kind.DATETIME, Kind.TIME):
        clock = clock_of(form, kind)
        micros = np.array([thousandths * 997 % 86_400_000_000])
        if kind is Kind.DATETIME:
            micros = micros + thousandths * 1_000_000 - clock.epoch
        assert not rounded(micros / clock.unit, clock).any()


def test_rows_of_sas_transport_behind_those_that_it_counts_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "p.xpt"
    frame = pd.DataFrame({"size": [1.5, 2.5, 3.5] * 9, "town": ["Aach", "Ulm", "Rom"] * 9})
    pyreadstat.write_xport(frame, path, file_format_version=8)
    assert len(head(path).head) == 27
    raw = path.read_bytes()
    place = raw.index(b"OBSV8   HEADER RECORD!!!!!!!") + len(b"OBSV8   HEADER RECORD!!!!!!!")
    for counted in (20, 26):
        path.write_bytes(raw[:place] + b"%15d" % counted + raw[place + 15 :])
        with pytest.raises(InputError, match=f"says that it has {counted} rows, but more follow"):
            head(path)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()])
def test_infinite_numbers_of_parquet_arrive_and_nan_is_missing(
    tmp_path: Path, kind: pa.DataType
) -> None:
    numbers = pa.array([1.5, INF, -INF, NAN, None]).cast(kind)
    _parquet(tmp_path / "p.parquet", size=numbers)
    preview = preview_source(SourceSpec("p.parquet", empty_rows="keep"), tmp_path)
    assert preview.rows == (("1.5",), ("inf",), ("-inf",), ("",), ("",))


def test_decimals_that_would_be_rounded_are_refused(tmp_path: Path) -> None:
    digits = Decimal("12345678901234567890123456789012345678.1234567891")
    for width, kind in ((38, pa.decimal256(38, 2)), (50, pa.decimal256(50, 10))):
        _parquet(
            tmp_path / "p.parquet", size=pa.array([Decimal(1) if width == 38 else digits], kind)
        )
        preview = preview_source(SourceSpec("p.parquet"), tmp_path)
        if width == 38:
            assert preview.rows == (("1",),)
            continue
        assert isinstance(preview.problem, InputError)
        assert preview.problem.sentence == (
            "p.parquet: the column `size` holds decimals of up to 50 digits, expected at most 38."
        )


def test_infinite_numbers_of_sqlite_arrive(tmp_path: Path) -> None:
    _sqlite(tmp_path / "p.sqlite", -INF, "Rom")
    assert head(tmp_path / "p.sqlite").head[1] == ("-inf", "Rom")


@pytest.mark.parametrize(
    ("number", "read", "cut"),
    [
        ("0.1", "0.1", False),
        ("0.10000000000000001", "0.1", False),
        ("0.1000000000000000055511151231257827021181583404541015625", "0.1", False),
        ("0.10000000000000000000", "0.1", False),
        ("12345678901234567890", "12345678901234567890", False),
        ("1.50000000000000000001", "1.5", True),
        ("-123456789012345678.25", "-1.2345678901234568e+17", True),
        ("1.00000000000000000e-99999999999999999999", "0", True),
    ],
)
def test_a_number_of_a_sheet_with_too_many_digits_is_noted(
    tmp_path: Path, number: str, read: str, cut: bool
) -> None:
    _workbook(tmp_path / "p.xlsx", number)
    found = head(tmp_path / "p.xlsx")
    assert found.head[1][0] == read
    note = f"Row 3, column A: the number has more digits than a double holds; it is read as {read}."
    assert found.notes == ((note,) if cut else ())


@pytest.mark.parametrize("number", ["INF", "NaN", "1e999", "1,5"])
def test_what_is_no_number_in_a_sheet_is_refused_with_its_place(
    tmp_path: Path, number: str
) -> None:
    _workbook(tmp_path / "p.xlsx", number)
    with pytest.raises(InputError, match=f"row 3, column A: found `{number}`, expected a number"):
        head(tmp_path / "p.xlsx")


@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
@pytest.mark.parametrize("kind", [Kind.DATE, Kind.DATETIME])
def test_the_first_moment_after_the_year_9999_is_strange(form: str, kind: Kind) -> None:
    clock = clock_of(form, kind)
    end = int(np.datetime64("10000-01-01", "us").astype(np.int64)) - clock.epoch
    day = 86_400_000_000
    values, odd, strange = moments(np.array([end, end - day, np.inf]) / clock.unit, kind, clock)
    assert strange.tolist() == [True, False, True]
    assert odd.to_pylist()[0] == number_text(end / clock.unit)
    assert str(values[1].as_py())[:10] == "9999-12-31"
