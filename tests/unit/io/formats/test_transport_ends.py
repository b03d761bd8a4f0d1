"""SAS transport files: names are told apart, and rows at the end that may be filling are noted."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dpdesk.core.errors import InputError
from tests.helpers.stat_files import head, real

ONE = bytes.fromhex("4110000000000000")
HEAD = b"HEADER RECORD*******%sHEADER RECORD!!!!!!!"


def _card(text: bytes) -> bytes:
    return text.ljust(80)


def _table(columns: Sequence[tuple[Any, ...]], rows: bytes, name: bytes) -> bytes:
    """A table of columns (name, numeric, width, format) in version 5, its rows as they stand."""
    names, at = b"", 0
    for number, (column, numeric, width, *form) in enumerate(columns, start=1):
        names += struct.pack(
            ">hhhh8s40s8shhh2s8shhi32sH18s",
            1 if numeric else 2, 0, width, number, column.ljust(8), b" " * 40,
            b"".join(form).ljust(8), 0, 0, 0, b"", b" " * 8, 0, 0, at, b"", 0, b"",
        )  # fmt: skip
        at += width
    return (
        _card(HEAD % b"MEMBER  " + b"0" * 17 + b"1600000000140")
        + _card(HEAD % b"DSCRPTR " + b"0") + _card(b"SAS     " + name) + _card(b"")
        + _card(HEAD % b"NAMESTR " + b"%010d" % len(columns) + b"0" * 20)
        + names.ljust(-(-len(names) // 80) * 80) + _card(HEAD % b"OBS     " + b"0" * 30)
        + rows.ljust(-(-len(rows) // 80) * 80)
    )  # fmt: skip


def _file(path: Path, *tables: bytes) -> Path:
    library = _card(HEAD % b"LIBRARY " + b"0" * 30) + _card(b"SAS") * 2
    path.write_bytes(library + b"".join(tables))
    return path


def _refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.code == "read.names"
    assert caught.value.hint
    return caught.value.sentence


def test_columns_of_one_name_or_none_are_refused(tmp_path: Path) -> None:
    same = _table([(b"A", True, 8), (b"B", True, 8), (b"A", True, 8)], ONE * 3, b"T")
    assert _refused(_file(tmp_path / "p.xpt", same)) == (
        "p.xpt: columns 1 and 3 have the same name, `A`."
    )
    none = _table([(b"A", True, 8), (b"", True, 8)], ONE * 2, b"T")
    assert _refused(_file(tmp_path / "p.xpt", none)) == "p.xpt: column 2 has no name."


def test_a_text_that_looks_like_the_beginning_of_a_table_is_a_value(tmp_path: Path) -> None:
    lines = [b"first", (HEAD % b"MEMBER  ") + b"0" * 17 + b"1600000000140", b"last"]
    texts = b"".join(map(_card, lines))
    one = _file(tmp_path / "p.xpt", _table([(b"S", False, 80)], texts, b"T"))
    assert [row[0] for row in head(one).head] == [line.decode() for line in lines]


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    one, two = (_table([(b"S", False, 4)], text, b"T") for text in (b"a   ", b"z   "))
    assert _refused(_file(tmp_path / "p.xpt", one, two)) == (
        "p.xpt: two tables of the file have the same name, `T`."
    )


@pytest.mark.parametrize(
    ("behind", "rows"), [(b" " * 240, 9), (bytes(160), 8), (b"garbage-" * 40, 16)]
)
def test_rows_at_the_end_that_may_be_filling_are_noted(
    tmp_path: Path, behind: bytes, rows: int
) -> None:
    columns = [(b"N", True, 8), (b"S", False, 12)]
    whole = _table(columns, (ONE + b"x".ljust(12)) * 4, b"T")
    assert head(_file(tmp_path / "p.xpt", whole)).notes == ()
    found = head(_file(tmp_path / "p.xpt", whole + behind))
    assert len(found.head) == 4 + rows
    assert found.notes[0] == (
        f"The file ends with {rows} rows that may be padding (spaces, NULs, or text in place of "
        "numbers); version 5 of the format does not say, and they are read as rows."
    )


def test_rows_of_zeros_are_filling_only_where_the_last_card_is_filled_up(tmp_path: Path) -> None:
    columns = [(b"N", True, 8), (b"M", True, 8)]
    table = _table(columns, ONE * 2 + bytes(32), b"T")
    found = head(_file(tmp_path / "p.xpt", table))
    assert (found.head[-1], found.notes) == (("0", "0"), ())
    found = head(_file(tmp_path / "p.xpt", _table(columns, ONE * 2 + bytes(16 * 9), b"T")))
    assert len(found.head) == 10
    assert found.notes == (
        "The file ends with 4 rows that may be padding (spaces, NULs, or text in place of "
        "numbers); version 5 of the format does not say, and they are read as rows.",
    )


@pytest.mark.data
def test_a_catalogue_gives_the_labels_of_a_transport_file(tmp_path: Path) -> None:
    folder = real("statfiles", "pyreadstat", "sas_catalog")
    catalog = folder / "test_formats_linux.sas7bcat"
    columns = [(b"SEX", False, 8, b"$A"), (b"SIZE", True, 8, b"TALL")]
    rows = (b"1".ljust(8) + ONE) * 5
    path = _file(tmp_path / "p.xpt", _table(columns, rows, b"T"))
    assert head(path).notes == (
        "The value labels of `SEX`, `SIZE` are in a catalogue that is not here; the values are "
        "read without them. Give it as `catalog`.",
    )
    found = head(path, catalog=str(catalog))
    assert found.variables[0].value_labels == {"1": "Male", "2": "Female"}
    assert found.notes == (
        "Column `SIZE`: the catalogue test_formats_linux.sas7bcat does not contain its value "
        "labels, called TALL; the values are read without them.",
    )


def test_room_for_rows_of_blanks_is_noted_where_all_columns_are_texts(tmp_path: Path) -> None:
    texts = _table([(b"S", False, 4)], b"a   " * 20 + b"    " * 3, b"T")
    found = head(_file(tmp_path / "p.xpt", texts))
    assert found.notes == (
        "The file ends with 1 row that may be padding (spaces, NULs, or text in place of "
        "numbers); version 5 of the format does not say, and they are read as rows.",
        "After the last row there is room for 19 rows of spaces; version 5 of the format does "
        "not say whether these are rows or padding, and they are left out.",
    )
    full = _table([(b"S", False, 4)], b"a   " * 20, b"T")
    assert head(_file(tmp_path / "p.xpt", full)).notes == ()
