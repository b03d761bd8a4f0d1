"""One small table in every format that a private method reads, and odd rows for each of them."""

from __future__ import annotations

import datetime as dt
import math
import re
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
from pyarrow import parquet

from tests.helpers import odd_rows as known
from tests.helpers.odd_rows import LINES, NAMES, TEXT, TYPED, Row
from tests.helpers.sas_bytes import write_sas_bytes

Keys = dict[str, Any]
_WIDTH = 24
_DAY = dt.date(1980, 1, 1)
_NUMBER = 1_193_046.0
"""A number that is put into a file where other bytes shall stand: 0x123456."""
_NUMBER_BYTES = (struct.pack("<d", _NUMBER), b"\x46\x12\x34\x56\0\0\0\0")
"""How it is written by most formats, and by SAS transport files."""
_SIGN = "~MARK~"


class Raw(bytes):
    """Bytes in place of a text or of a number (then 8, little end first), whatever they mean."""


class Xml(str):
    """The cells of a row of a workbook, as its XML has them; ROW is the number of the row."""


@dataclass(frozen=True)
class OddSource:
    """A format: how the table is written into a folder, which tells the keys of ``[source]``.

    ``odd`` are rows that one person might add; a row of a text is a line.
    """

    write: Callable[[Path, Sequence[Any]], Keys]
    odd: Callable[[], list[Any]]
    people: Callable[[], list[Any]] = field(default=known.people)


def _others() -> list[bytes]:
    return [known.line(row) for row in known.people()]


# ---- texts


def _csv(folder: Path, rows: Sequence[bytes]) -> Keys:
    known.write_text(folder / "people.csv", rows)
    return {"path": "people.csv", **TEXT}


def _utf16(folder: Path, rows: Sequence[bytes]) -> Keys:
    text = b"\n".join([",".join(NAMES).encode(), *rows, b""])
    units = [part.decode("latin-1").encode("utf-16-le") for part in re.split(b"(\xff+)", text)]
    (folder / "people.csv").write_bytes(b"".join(units))
    return {"path": "people.csv", **TEXT, "encoding": "utf-16-le"}


def _cells_of(text: bytes) -> bytes:
    return b"".join(cell.ljust(_WIDTH)[:_WIDTH] for cell in text.split(b",")[:5])


def _fixed(folder: Path, rows: Sequence[bytes]) -> Keys:
    (folder / "people.txt").write_bytes(b"\n".join([*rows, b""]))
    columns = [
        {"name": name, "start": 1 + j * _WIDTH, "width": _WIDTH} for j, name in enumerate(NAMES)
    ]
    return {"path": "people.txt", "columns": columns, "encoding": "cp1252", **TYPED}


def _fixed_people() -> list[bytes]:
    return [_cells_of(text.decode().encode("cp1252")) for text in _others()]


def _odd_fixed() -> list[bytes]:
    return [*(_cells_of(text) for text in LINES[:160]), *LINES[160:]]


# ---- values

_TEXTS = tuple(text for text in dict.fromkeys((*known.CELLS, *known.ODD_TEXTS)) if "\0" not in text)
_NUMBERS = (
    *known.ODD_NUMBERS, 1e-308, 1e300, 2.0**63, 2.0**64, -(2.0**63), 1e21, 1e22, 19.999999999999996,
    20.000000000000004, 1e-320, 99.0, 123456789012345680.0,
)  # fmt: skip
_DATES = (
    *known.ODD_DATES, dt.date(1582, 10, 14), dt.date(1900, 2, 28), dt.date(1960, 1, 1),
    dt.date(2262, 4, 12), dt.date(2999, 12, 31),
)  # fmt: skip
_RAW_TEXTS = (
    b"\xff\xfe", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"a\0b",
    b"\0", b"\0\0\0\0", b"K\xf8benhavn", b"\xa3\xb3", b"\x1a", b"a\nb", b"a\rb", b"\r\n",
    b"\x80" * 8,
)  # fmt: skip
_RAW_NUMBERS = tuple(
    struct.pack("<Q", bits)
    for bits in (
        0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001,
        0xFFFFFFFFFFFFFFFF, 0x0000000000000001, 0x8000000000000000, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFE, 0x7FE0000000000000, 0x7FE0010000000000,
        0x2E00000000000000, 0x4141414141414141, 0x2020202020202020, 0x0000000000000041,
    )
)  # fmt: skip


def _odd_texts() -> list[Row]:
    return [(text, text, 1.0, _DAY, 1.0) for text in _TEXTS]


def _odd_typed() -> list[Row]:
    """What columns of texts, numbers and dates can hold."""
    rows: list[Row] = [(None,) * 5, ("zz", "f", 1.0, _DAY, 1.0), *_odd_texts()]
    rows += [("zz", "f", 1.0, _DAY, number) for number in _NUMBERS]
    rows += [("zz", "f", number, None, number) for number in _NUMBERS]
    rows += [("zz", "f", 1.0, day, 1.0) for day in _DATES]
    return rows


def _odd_cells() -> list[Row]:
    """Texts in every column."""
    rows: list[Row] = [(text,) * 5 for text in _TEXTS]
    rows += [("zz", "f", text, "1980-01-01", "1") for text in _TEXTS]
    return [*rows, *(("zz", "f", "1", text, "1") for text in _TEXTS)]


def _odd_raw() -> list[Row]:
    """What bytes put into a file may be."""
    rows: list[Row] = [("zz", Raw(raw), 1.0, _DAY, 1.0) for raw in _RAW_TEXTS]
    rows += [(Raw(raw), "f", 1.0, _DAY, 1.0) for raw in _RAW_TEXTS]
    rows += [("zz", "f", 1.0, _DAY, Raw(raw)) for raw in _RAW_NUMBERS]
    return [*rows, *(("zz", "f", Raw(raw), _DAY, 1.0) for raw in _RAW_NUMBERS)]


def _as_texts(rows: Sequence[Row]) -> list[list[str | None]]:
    return [
        [
            v if v is None or isinstance(v, str) else f"{v:g}" if isinstance(v, float) else str(v)
            for v in row
        ]
        for row in rows
    ]


def _parquet(folder: Path, rows: Sequence[Row]) -> Keys:
    known.write_parquet(folder / "people.parquet", rows)
    return {"path": "people.parquet", **TYPED}


def _parquet_texts(folder: Path, rows: Sequence[Row]) -> Keys:
    columns = list(zip(*_as_texts(rows), strict=True))
    arrays = [
        pa.array([_utf8(v) for v in column], pa.binary()).view(pa.string()) for column in columns
    ]
    parquet.write_table(pa.table(arrays, names=list(NAMES)), folder / "people.parquet")
    return {"path": "people.parquet", **TYPED}


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _odd_parquet() -> list[Row]:
    broken: list[Row] = [(raw, raw, 1.0, None, 1.0) for raw in _RAW_TEXTS]
    return [*_odd_typed(), *broken]


def _sqlite(folder: Path, rows: Sequence[Row]) -> Keys:
    with closing(sqlite3.connect(folder / "people.sqlite")) as con:
        con.execute("CREATE TABLE people (person, sex, age, born, pay)")
        for row in rows:
            values = [v.isoformat() if isinstance(v, dt.date) else v for v in row]
            # Bytes may be kept as a text that they are not.
            con.execute("INSERT INTO people VALUES (CAST(? AS TEXT), ?, ?, ?, ?)", values)
        con.commit()
    return {"path": "people.sqlite", "table": "people", **TYPED}


def _odd_sqlite() -> list[Row]:
    return [
        *_odd_cells(), *((raw, raw, raw, raw, raw) for raw in _RAW_TEXTS),
        *(("zz", "f", number, number, number) for number in _NUMBERS if number == number),
        *known.MORE["sqlite"],
    ]  # fmt: skip


def _duckdb(
    folder: Path, rows: Sequence[Row], kinds: str = "TEXT, TEXT, DOUBLE, DATE, DOUBLE"
) -> Keys:
    listed = ", ".join(
        f"{name} {kind}" for name, kind in zip(NAMES, kinds.split(", "), strict=True)
    )
    with duckdb.connect(str(folder / "people.duckdb")) as con:
        con.execute(f"CREATE TABLE people ({listed})")
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [[*row] for row in rows])
    return {"path": "people.duckdb", "table": "people", **TYPED}


def _duckdb_texts(folder: Path, rows: Sequence[Row]) -> Keys:
    return _duckdb(folder, [tuple(row) for row in _as_texts(rows)], ", ".join(["TEXT"] * 5))


# ---- workbooks

_OPTIONS = {"default_date_format": "yyyy-mm-dd", "nan_inf_to_errors": True}


def _xlsx(folder: Path, rows: Sequence[Any], ending: str = "xlsx") -> Keys:
    path = folder / f"people.{ending}"
    plain = [("zz", _SIGN, 1, 1, 1) if isinstance(row, Xml) else row for row in rows]
    known.write_xlsx(path, plain)
    patches = {number: row for number, row in enumerate(rows, start=2) if isinstance(row, Xml)}
    if patches:
        _patch_sheet(path, patches)
    return {"path": path.name, "header": True, **TYPED}


def _patch_sheet(path: Path, patches: dict[int, Xml]) -> None:
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    for number, cells in patches.items():
        made = cells if cells.startswith("<row") else f'<row r="{number}">{cells}</row>'
        made = made.replace("ROW", str(number))
        begin = sheet.index(f'<row r="{number}"')
        end = sheet.index("</row>", begin) + len("</row>")
        sheet = sheet[:begin] + made + sheet[end:]
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)


def _xlsm(folder: Path, rows: Sequence[Any]) -> Keys:
    return _xlsx(folder, rows, "xlsm")


_ZZ = '<c r="AROW" t="inlineStr"><is><t>zz</t></is></c>'
_SHEET_CELLS = (
    '<c r="BROW" t="s"><v>999999</v></c>',
    '<c r="BROW" t="s"><v>-1</v></c>',
    '<c r="BROW" t="s"><v>x</v></c>',
    '<c r="BROW"><v>x</v></c>',
    '<c r="BROW"><v></v></c>',
    '<c r="BROW"><v>1</v><v>2</v></c>',
    '<c r="BROW"><f>1+1</f></c>',
    '<c r="BROW" t="e"><v>#N/A</v></c>',
    '<c r="BROW" t="e"><v></v></c>',
    '<c r="BROW" t="b"><v>2</v></c>',
    '<c r="BROW" t="d"><v>x</v></c>',
    '<c r="BROW" t="zzz"><v>1</v></c>',
    '<c r="BROW" t="str"><v></v></c>',
    '<c r="BROW" s="9999"><v>1</v></c>',
    '<c r="BROW" s="x"><v>1</v></c>',
    '<c r="BROW" s="-1"><v>1</v></c>',
    '<c r="BROW" s="1"><v>1e400</v></c>',
    '<c r="BROW"><v>nan</v></c>',
    '<c r="BROW"><v>inf</v></c>',
    '<c r="BROW"><v>1_0</v></c>',
    '<c r="BROW"><v>٣</v></c>',
    '<c r="BROW"><v>9' + "9" * 5000 + "</v></c>",
    '<c r="AROW" t="inlineStr"><is><t>f</t></is></c>',
    '<c r="BROW"><v>1.' + "0" * 20 + "e-" + "9" * 20 + "</v></c>",
    f'<c r="{"A" * 300_000}ROW"><v>1</v></c>',
    '<c r="XFE1"><v>1</v></c>',
    '<c r="BROW1"><v>1</v></c>',
    '<c r="B"><v>1</v></c>',
    '<c r="ROW"><v>1</v></c>',
    '<c r=""><v>1</v></c>',
    '<c r="ZZZZROW"><v>1</v></c>',
    '<c r="bROW"><v>1</v></c>',
    '<c r="$B$ROW"><v>1</v></c>',
    '<c r="B0"><v>1</v></c>',
    '<c r="B-1"><v>1</v></c>',
    '<c r="ÄROW"><v>1</v></c>',
    '<c r="XFDROW"><v>1</v></c>',
    '<c><v>1</v></c>',
    '<c r="FROW"><v>1</v></c>',
    '<c r="DROW"><v>1</v></c><c r="CROW"><v>1</v></c>',
    '<c r="BROW" t="inlineStr"><is></is></c>',
    '<c r="BROW" t="inlineStr"><is><t>a</t><t>b</t></is></c>',
    '<c r="BROW" t="inlineStr"><is><rPh><t>x</t></rPh></is></c>',
    '<c r="BROW" t="inlineStr"><is><t>_x0000_</t></is></c>',
    '<c r="BROW" t="inlineStr"><is><t>_xD800_</t></is></c>',
)  # fmt: skip
_SHEET_ROWS = (
    '<row r="2"></row>',
    '<row r="2"><c r="B2"><v>1</v></c></row>',
    '<row r="1"><c r="A1"><v>1</v></c></row>',
    '<row r="0"><c r="A0"><v>1</v></c></row>',
    '<row r="-1"><c><v>1</v></c></row>',
    '<row r="x"><c><v>1</v></c></row>',
    '<row r=""><c><v>1</v></c></row>',
    '<row r="1e3"><c><v>1</v></c></row>',
    '<row r="nan"><c><v>1</v></c></row>',
    '<row r="inf"><c><v>1</v></c></row>',
    '<row r="99999999999"><c><v>1</v></c></row>',
    '<row><c><v>1</v></c></row>',
    '<row r="ROW.5"><c><v>1</v></c></row>',
    '<row r="ROW"/>',
    '<row r="ROW" hidden="1"><c r="AROW"><v>1</v></c></row>',
)  # fmt: skip


def _odd_workbook() -> list[Any]:
    cells = [Xml(_ZZ + cell) for cell in _SHEET_CELLS]
    numbers = [("zz", "f", number, number, number) for number in _NUMBERS]
    days = [("zz", day, day, day, day) for day in _DATES]
    short = [(text, text, text, text, text) for text in _TEXTS if len(text) < 30_000]
    return [*cells, *map(Xml, _SHEET_ROWS), *short, *numbers, *days, *known.MORE["xlsx"]]


# ---- statistical programs


def _marked(rows: Sequence[Row]) -> tuple[list[Row], bytes, bytes]:
    """The rows with a sign where bytes shall stand; text and number to put there."""
    text, number = b"", b""
    found = []
    for row in rows:
        values = list(row)
        for j, value in enumerate(row):
            if isinstance(value, Raw) and j in (2, 4):
                number, values[j] = value, _NUMBER
            elif isinstance(value, Raw):
                text, values[j] = value, _SIGN
            elif isinstance(value, str):
                values[j] = value.encode()[:200].decode("utf-8", "ignore")
        found.append(tuple(values))
    return found, text, number


def _patch(path: Path, text: bytes, number: bytes) -> None:
    content = path.read_bytes()
    if text:
        assert content.count(_SIGN.encode()) == 1
        whole = _SIGN.encode().ljust(8)
        old = (
            whole if whole in content else _SIGN.encode() + content.partition(_SIGN.encode())[2][:2]
        )
        filling = old[len(_SIGN) :]
        content = content.replace(old, text.ljust(8, filling[:1])[:8])
    if number:
        raw = next(raw for raw in _NUMBER_BYTES if raw in content)
        content = content.replace(raw, number if raw == _NUMBER_BYTES[0] else number[::-1])
    path.write_bytes(content)


def _statistical(
    ending: str, write: Callable[..., None], **options: Any
) -> Callable[[Path, Sequence[Row]], Keys]:
    def made(folder: Path, rows: Sequence[Row]) -> Keys:
        plain, text, number = _marked(rows)
        path = folder / f"people.{ending}"
        frame: pd.DataFrame = known.frame_of(known.finite(plain))
        write(frame, path, **options)
        _patch(path, text, number)
        return {"path": path.name, "encoding": "utf-8", **TYPED}

    return made


def _odd_statistical() -> list[Row]:
    return [*_odd_raw(), *_odd_typed()]


_SAS_COLUMNS = [("person", 40), ("sex", 40), ("age", 0), ("born", 10), ("pay", 0)]


def _sas(folder: Path, rows: Sequence[Row]) -> Keys:
    def cell(value: object, number: bool, width: int) -> bytes | float:
        if number:
            return (
                value
                if isinstance(value, Raw | float)
                else math.nan
                if value is None
                else float(str(value))
            )
        raw = value if isinstance(value, Raw) else b"" if value is None else str(value).encode()
        return bytes(raw[:width])

    table = [
        [
            cell(v, j in (2, 4), width)
            for j, (v, (_, width)) in enumerate(zip(row, _SAS_COLUMNS, strict=True))
        ]
        for row in rows
    ]
    write_sas_bytes(folder / "people.sas7bdat", _SAS_COLUMNS, table)
    return {"path": "people.sas7bdat", "encoding": "utf-8", **TYPED}


def postgres_source(
    url: str, kinds: str = "TEXT, TEXT, DOUBLE PRECISION, DATE, DOUBLE PRECISION"
) -> OddSource:
    """The table on a server; it is made anew for each file that a test would write."""
    import psycopg

    def write(folder: Path, rows: Sequence[Row]) -> Keys:
        texts = "TEXT, TEXT, TEXT" in kinds
        with psycopg.connect(url, autocommit=True) as con:
            con.execute("DROP TABLE IF EXISTS people")
            listed = ", ".join(
                f"{name} {kind}" for name, kind in zip(NAMES, kinds.split(", "), strict=True)
            )
            con.execute(f"CREATE TABLE people ({listed})")  # type: ignore[arg-type]
            plain: Sequence[Sequence[object]] = _as_texts(rows) if texts else rows
            with con.cursor() as cursor:
                cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s)", plain)
        return {"path": url, "table": "people", **TYPED}

    def odd() -> list[Row]:
        if "TEXT, TEXT, TEXT" in kinds:
            return _odd_cells()
        days = ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01", "5874897-12-31"]
        return [*_odd_typed(), *(("zz", "f", 1.0, day, 1.0) for day in days)]

    return OddSource(write, odd)


SOURCES: dict[str, OddSource] = {
    "csv": OddSource(_csv, lambda: list(LINES), _others),
    "csv-utf-16": OddSource(_utf16, lambda: list(LINES), _others),
    "fixed": OddSource(_fixed, _odd_fixed, _fixed_people),
    "xlsx": OddSource(_xlsx, _odd_workbook),
    "xlsm": OddSource(_xlsm, _odd_workbook),
    "parquet": OddSource(_parquet, _odd_parquet),
    "parquet-texts": OddSource(_parquet_texts, _odd_cells),
    "sqlite": OddSource(_sqlite, _odd_sqlite),
    "duckdb": OddSource(_duckdb, _odd_typed),
    "duckdb-texts": OddSource(_duckdb_texts, _odd_cells),
    "sav": OddSource(_statistical("sav", pyreadstat.write_sav), _odd_statistical),
    "zsav": OddSource(_statistical("zsav", pyreadstat.write_sav, compress=True), _odd_typed),
    "dta": OddSource(_statistical("dta", pyreadstat.write_dta), _odd_statistical),
    "sas7bdat": OddSource(_sas, _odd_statistical),
    "xpt-5": OddSource(
        _statistical("xpt", pyreadstat.write_xport, file_format_version=5), _odd_statistical
    ),
    "xpt-8": OddSource(
        _statistical("xpt", pyreadstat.write_xport, file_format_version=8), _odd_statistical
    ),
}
"""All formats but those that need a server, by name."""
