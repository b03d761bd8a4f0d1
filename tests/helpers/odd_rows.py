"""Files of one small table in every format, with odd rows that one person might add."""

from __future__ import annotations

import datetime as dt
import math
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import xlsxwriter
from pyarrow import parquet

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Variable
from dpdesk.io.formats import frame
from dpdesk.io.formats.frame import FrameColumn
from dpdesk.python.frames import dtype_texts

NAMES = ("person", "sex", "age", "born", "pay")
TYPES = {"person": "text", "sex": "text", "age": "number", "born": "date", "pay": "number"}
Row = tuple[Any, ...]
TEXT = {
    "encoding": "utf-8",
    "delimiter": ",",
    "decimal": ".",
    "quote": '"',
    "header": True,
    "missing": [""],
    "types": TYPES,
    "date_order": "ymd",
}
"""How the text is read."""
TYPED = {"missing": [""], "types": TYPES, "date_order": "ymd"}


def people() -> list[Row]:
    """The rows of everybody else."""
    days = [dt.date(1980, 1, 1 + number % 3) for number in range(24)]
    return [
        (f"Åsa {number}", "fm"[number % 2], 20 + number % 7, days[number], 1.5 * number)
        for number in range(24)
    ]


def line(row: Row) -> bytes:
    """A row as a line of the text."""
    return ",".join("" if item is None else str(item) for item in row).encode()


CELLS = (
    "", " ", "?", "NA", ".", "-", "0", "-0", "+1", "1.", ".5", "1,5", "1.5", "1e400", "-1e400",
    "1e-400", "1_000", "0x10", "٣", "½", "NaN", "inf", "Infinity", "1 000", "1.000.000", "007",
    "9" * 400, "1" * 5000, "true", "TRUE", "2020-13-45", "2020-02-30", "31.12.1999", "12/31/1999",
    "1999/12/31", "0000-00-00", "99999-01-01", "-0001-01-01", "2020-01-01T25:00:00", "=1+1", "é",
    "e\u0301", "\u202e", "\ufeff", "\u2028", "\x85", "\x0b", "\x0c", "\x1b[0m", "\x7f", "\ufffd",
    "\U0010ffff", "\U0001f600", "'", "''", "'f'", "`", "\\", "\\N", "\\x00", "NULL", "<b>", "%s",
    "{0}", "other", "Other", "f ", " f", "F", "x" * 70_000, "sep=;", "#", "# comment", "--", "/*",
)  # fmt: skip
LINES: tuple[bytes, ...] = (
    *(f"{cell},{cell},{cell},{cell},{cell}".encode() for cell in CELLS),
    *(f"zz,f,{cell},1980-01-01,1".encode() for cell in CELLS),
    *(f"zz,{cell},1,{cell},1".encode() for cell in CELLS[:25]),
    b"\x00", b"zz,f,1,1980-01-01,\x00", b"zz,\x00,1,1980-01-01,1", b"\xff\xfe", b"zz,\xff,1,,1",
    b"zz,\xc3,1,,1", b"zz,f,1,,1\xc3", b"K\xf8benhavn,f,1,,1", b"\xa3\xb3,f,1,,1", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80,f,1,,1", b"\xc0\x80,f,1,,1", b"\xef\xbb\xbfzz,f,1,,1", b"\xef\xbb\xbf",
    b"\x1a", b"zz,f\x1a,1,,1", b"", b" ", b"\t", b",", b",,,,", b" , , , , ", b"zz", b"zz,f",
    b"zz,f,1,,1,", b"zz,f,1,,1,,,,", b"zz,f,1,,1,2", b"," * 3000, b";;;;", b"zz;f;1;;1",
    b"zz\tf\t1\t\t1", b"zz|f|1||1", b'"', b'""', b'"""', b'zz,"f,1,,1', b'"zz,f,1,,1',
    b'zz,f",1,,1',
    b'zz,"f"x,1,,1', b'zz,f"f,1,,1', b'zz,"f""f",1,,1', b'zz,f,1,,"1', b'"zz",f,1,,1',
    b"'zz',f,1,,1",
    b'zz,"f\\"",1,,1', b'"a,b","c,d",1,,1', b"person,sex,age,born,pay", b"x" * 200_000,
    b"\xff" * 9000,
    b"zz,f,1,1980-01-01,12,5", b"sep=;", b'"' * 9001,
)  # fmt: skip
"""Lines that hold no line end, each of them one row at most."""


def write_text(path: Path, rows: Sequence[bytes], odd: Sequence[tuple[int, bytes]] = ()) -> None:
    """The text with a header; odd lines stand before the row of their number."""
    lines = list(rows)
    for place, extra in sorted(odd, reverse=True):
        lines.insert(place, extra)
    path.write_bytes(b"\n".join([",".join(NAMES).encode(), *lines]) + b"\n")


ODD_TEXTS = ("", " ", "?", "x" * 200, "ÿ", "\U0001f600", "f ", "'", '"', "=1+1", "nan", "#N/A")
ODD_DATES = (None, dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1899, 12, 31))
ODD_NUMBERS = (
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e16 + 2, 0.1 + 0.2,
    2.0**53 + 1, -1.0, 1e-7, 123456789.123456789,
)  # fmt: skip


def odd_rows() -> list[Row]:
    """Rows that every typed format can hold, more or less."""
    base = ("zz", "f", 1.0, dt.date(1980, 1, 1), 1.0)
    found = [base, (None,) * 5]
    found += [(text, text, *base[2:]) for text in ODD_TEXTS]
    found += [(*base[:2], number, base[3], number) for number in ODD_NUMBERS]
    found += [(*base[:3], date, base[4]) for date in ODD_DATES]
    return found


def frame_of(rows: Sequence[Row]) -> pd.DataFrame:
    frame = pd.DataFrame([[*row] for row in rows], columns=list(NAMES))
    for name in ("age", "pay"):
        frame[name] = frame[name].astype("float64")
    for name in ("person", "sex"):
        frame[name] = frame[name].fillna("").astype(str)
    return frame


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Texts, of which one may be no text, numbers and dates."""
    columns = [[row[j] for row in rows] for j in range(5)]
    raw = [pa.array([_bytes(v) for v in columns[j]], pa.binary()).view(pa.string()) for j in (0, 1)]
    numbers = [pa.array(columns[j], pa.float64()) for j in (2, 4)]
    dates = pa.array([v if not isinstance(v, int) else None for v in columns[3]], pa.date32())
    arrays = [raw[0], raw[1], numbers[0], dates, numbers[1]]
    parquet.write_table(pa.table(arrays, names=list(NAMES)), path)


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) or value is None else str(value).encode()


def write_sav(path: Path, rows: Sequence[Row]) -> None:
    """SPSS: dates before 1582 and infinities it cannot hold."""
    pyreadstat.write_sav(frame_of(finite(rows)), path)


def write_dta(path: Path, rows: Sequence[Row]) -> None:
    """Stata."""
    pyreadstat.write_dta(frame_of(finite(rows)), path)


def write_xpt(path: Path, rows: Sequence[Row]) -> None:
    """SAS transport files of version 8."""
    pyreadstat.write_xport(frame_of(finite(rows)), path, file_format_version=8)


def finite(rows: Sequence[Row]) -> list[Row]:
    low, high = dt.date(1600, 1, 1), dt.date(9998, 1, 1)
    found = []
    for person, sex, age, born, pay in rows:
        numbers = [
            None if v is None or not math.isfinite(v) or abs(v) > 1e60 else v for v in (age, pay)
        ]
        date = None if born is None or not low < born < high else born
        found.append((person, sex, numbers[0], date, numbers[1]))
    return found


def write_xlsx(path: Path, rows: Sequence[Row]) -> None:
    """Cells of any type in any column."""
    options = {"default_date_format": "dd.mm.yy", "nan_inf_to_errors": True}
    with xlsxwriter.Workbook(path, options) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([NAMES, *rows]):
            for j, value in enumerate(row):
                if isinstance(value, dt.date) and value.year < 1900:
                    sheet.write_string(number, j, value.isoformat())
                elif isinstance(value, str):
                    sheet.write_string(number, j, value)
                else:
                    sheet.write(number, j, value)


def write_sqlite(path: Path, rows: Sequence[Row]) -> None:
    """Values of any type in any column; dates are texts."""
    con = sqlite3.connect(path)
    con.execute("CREATE TABLE people (person, sex, age, born, pay)")
    plain = [[v.isoformat() if isinstance(v, dt.date) else v for v in row] for row in rows]
    for values in plain:
        # The name may be bytes that are no text, kept as one.
        con.execute("INSERT INTO people VALUES (CAST(? AS TEXT), ?, ?, ?, ?)", values)
    con.commit()
    con.close()


def write_duckdb(path: Path, rows: Sequence[Row]) -> None:
    """Values of declared types."""
    with duckdb.connect(str(path)) as con:
        con.execute(
            "CREATE TABLE people (person TEXT, sex TEXT, age DOUBLE, born DATE, pay DOUBLE)"
        )
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [[*row] for row in rows])


def write_frame(path: Path, rows: Sequence[Row]) -> None:
    """Python's own values in columns of objects, as the interface for Python code keeps them."""
    columns = []
    for j, name in enumerate(NAMES):
        texts = dtype_texts(pd.Series([row[j] for row in rows], dtype=object))
        columns.append(FrameColumn(Variable(name), pa.array(texts, pa.large_string())))
    folder = path.with_name(f"{path.stem}-held")
    made = frame.write_frame(columns, folder / path.name, folder, CancelToken(), private=True)
    made.replace(path)
    folder.rmdir()


FORMATS: dict[str, tuple[Callable[[Path, Sequence[Row]], None], dict[str, object]]] = {
    "parquet": (write_parquet, {}),
    "sav": (write_sav, {"encoding": "utf-8"}),
    "dta": (write_dta, {"encoding": "utf-8"}),
    "xpt": (write_xpt, {"encoding": "utf-8"}),
    "xlsx": (write_xlsx, {"header": True}),
    "sqlite": (write_sqlite, {}),
    "duckdb": (write_duckdb, {}),
    "frame": (write_frame, {}),
}
MORE: dict[str, list[Row]] = {
    "frame": [
        (b"\xff", ["f"], 2**80, "1980-01-01", 1j), ("\ud800", True, "1", 1980, None),
        ("a\0b", "\U0010ffff", dt.date(1980, 1, 1), dt.datetime(1980, 1, 1), ()),
    ],
    "parquet": [(b"\xff\xfe", b"\xc3", 1.0, None, 1.0), ("a\0b", "\0", 1.0, None, 1.0)],
    "sqlite": [
        (b"\xff", b"", b"1", b"1980-01-01", b"\0"), ("a\0b", "f", "1", "1980-01-01", "1"),
        (1, 2, 3, 4, 5), (1.5, 2**62, "x", "1.1.1980", "1,5"), (b"\xed\xa0\x80", "f", 1, None, 1),
    ],
    "xlsx": [
        (True, 1, "x", "1980-01-01", False),
        (1.5, dt.date(1980, 1, 1), dt.date(1980, 1, 1), 1.5, "1"),
        ("zz", "f", 1, 60, 1), ("zz", "f", 1, 99999999, 1), ("zz", "f", 1, -1, 1),
    ],
}  # fmt: skip
"""Rows that only one format can hold."""
