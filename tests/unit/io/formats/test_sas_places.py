"""SAS files: rows that would be read beside their place, or left out as deleted, are refused."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.statistical import StatisticalReader
from tests.helpers.sas_bytes import Cell, Form, write_sas_bytes
from tests.helpers.stat_files import head

NARROW = [Form(wide=False, order=order) for order in "<>"]
COLUMNS = [("ID", 8), ("NUM", 0), ("TEXT", 8)]
TEXTS = [("ID", 8), ("TEXT", 8)]
HEADER, RELEASE, HEAD, DESCRIBED = 1024, 216, 24, 5
END = HEADER + HEAD + 12 * DESCRIBED
NOTE = (
    "The file was written by a program other than SAS, and where its first rows begin cannot "
    "be determined for certain; compare the first row with what that program shows."
)


def _foreign(
    path: Path, columns: list[tuple[str, int]], rows: list[list[Cell]], form: Form, near: bool
) -> bytearray:
    """A file of another program; its first two rows begin right behind the head or 4 bytes on."""
    raw = bytearray(write_sas_bytes(path, columns, rows, form).read_bytes())
    raw[RELEASE : RELEASE + 8] = b"9.0000M0"
    if near:
        size = 2 * sum(width or 8 for _, width in columns)
        raw[END : END + size + 4] = raw[END + 4 : END + 4 + size] + bytes(4)
    path.write_bytes(raw)
    return raw


def _rows(first: bytes) -> list[list[Cell]]:
    return [[first, 1.5, b"a"], [b"ID2", 2.25, b"bc"], [b"ID3", -3.0, b"d"]]


@pytest.mark.parametrize("form", NARROW, ids=str)
@pytest.mark.parametrize("near", [True, False])
def test_rows_of_other_programs_are_read_where_they_are(
    tmp_path: Path, form: Form, near: bool
) -> None:
    path = tmp_path / "p.sas7bdat"
    _foreign(path, COLUMNS, _rows(b"ID1"), form, near)
    found = head(path)
    assert found.head == (("ID1", "1.5", "a"), ("ID2", "2.25", "bc"), ("ID3", "-3", "d"))
    assert found.notes == ()


@pytest.mark.parametrize("form", NARROW, ids=str)
def test_a_first_row_that_looks_like_padding_is_refused(tmp_path: Path, form: Form) -> None:
    path = tmp_path / "p.sas7bdat"
    for first in (b"", b"    1"):
        _foreign(path, COLUMNS, _rows(first), form, near=True)
        with pytest.raises(InputError) as caught:
            head(path)
        assert (caught.value.code, caught.value.sentence) == (
            "read.places",
            "p.sas7bdat, row 1: the first rows would be read four bytes off, "
            "which gives wrong values.",
        )


@pytest.mark.parametrize("form", NARROW, ids=str)
def test_padding_that_looks_like_a_first_row_is_refused(tmp_path: Path, form: Form) -> None:
    path = tmp_path / "p.sas7bdat"
    raw = _foreign(path, COLUMNS, _rows(b"ID1"), form, near=False)
    raw[END : END + 4] = b"l\xf7\0\0"
    path.write_bytes(raw)
    with pytest.raises(InputError, match="four bytes off"):
        head(path)


@pytest.mark.parametrize("form", NARROW, ids=str)
def test_a_place_that_nothing_tells_is_noted_and_one_that_is_counted_is_not(
    tmp_path: Path, form: Form
) -> None:
    path = tmp_path / "p.sas7bdat"
    raw = _foreign(path, TEXTS, [[b"    1", b"    2"]] * 3, form, near=False)
    raw[END : END + 4], raw[END + 36 : END + 40] = b"    ", b"    "
    path.write_bytes(raw)
    found = head(path)
    assert (found.head[0], found.notes) == (("    1", "    2"), (NOTE,))
    table = [
        struct.unpack_from(form.order + "I", raw, HEADER + HEAD + 12 * at)[0]
        for at in range(DESCRIBED)
    ]
    for start, refused in ((END + 4, False), (END, True)):
        free = min(table) - (start - HEADER) - 32 - 1
        struct.pack_into(form.order + "I", raw, HEADER + 12, free)
        path.write_bytes(raw)
        if refused:
            with pytest.raises(InputError, match="four bytes off"):
                head(path)
        else:
            assert head(path).notes == ()


@pytest.mark.parametrize("form", [Form(), *NARROW], ids=str)
def test_rows_that_are_deleted_but_not_marked_are_refused(tmp_path: Path, form: Form) -> None:
    path = tmp_path / "p.sas7bdat"
    rows: list[list[Cell]] = [[float(n)] for n in range(7)]
    raw = bytearray(write_sas_bytes(path, [("NUM", 0)], rows, form).read_bytes())
    at = raw.rindex(form.words(8, 7)) + 2 * form.size
    raw[at : at + form.size] = form.words(1)
    path.write_bytes(raw)
    assert len(head(path).head) == 6
    with pytest.raises(InputError) as caught:
        _whole(path)
    assert caught.value.sentence == (
        "p.sas7bdat: it says that 1 of its rows are deleted, but marks 0 as such."
    )
    page = len(raw) - 4096
    kind = page + (32 if form.wide else 16)
    raw[kind : kind + 2] = form.shorts(0x0180)
    raw[kind - form.size : kind] = form.words(100)
    raw[kind + 8 + 5 * 8 + 100] = 0x20
    path.write_bytes(raw)
    assert _whole(path) == [0, 1, 2, 3, 5, 6]


def _whole(path: Path) -> list[float]:
    """The numbers of the first column of all rows."""
    reader = StatisticalReader(ReadRequest(str(path), "", "sas7bdat", None))
    return [number for batch in reader.batches(None) for number in batch[0].values.to_pylist()]
