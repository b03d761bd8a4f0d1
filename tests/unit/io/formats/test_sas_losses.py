"""SAS files: a text that the reading library would cut is named with row and column."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.sas.kernels import unpack_rdc, unpack_rle
from dpdesk.io.formats.sas.text_losses import refuse_losses
from dpdesk.io.formats.table import Notes
from tests.helpers.sas_bytes import Cell, Form, packed_rdc, packed_rle, write_sas_bytes
from tests.helpers.stat_files import head, real

FORMS = [
    Form(wide, order, method)
    for wide in (True, False)
    for order in "<>"
    for method in ("", "rle", "rdc")
]
COLUMNS = [("NUM", 0), ("TEXT", 12), ("LONG", 90)]
NOTE = (
    "The rows of the file could not be searched for NUL characters; a text that holds one is "
    "read up to it."
)


ASCII = Endings("ascii")


def _rows(**odd: bytes) -> list[list[Cell]]:
    """Twenty rows; ``odd`` names texts of single ones, as ``t7`` or ``l7``."""
    return [
        [float(n), odd.get(f"t{n}", b"text %d" % n), odd.get(f"l{n}", b"ab" * n)]
        for n in range(1, 21)
    ]


def _always(row: int, column: int, raw: bytes) -> bool:
    return True


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_text_with_something_behind_a_nul_is_refused_with_its_place(
    tmp_path: Path, form: Form
) -> None:
    path = write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, _rows(t17=b"Aach\0Ulm"), form)
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.code == "read.nul"
    assert caught.value.sentence == (
        "p.sas7bdat, row 17, column `TEXT`: found a NUL character, expected text."
    )
    assert caught.value.details == {"row": 17, "column": "TEXT"}
    assert len(head(path, limit=16).head) == 16


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_padding_of_nuls_and_numbers_are_no_loss(tmp_path: Path, form: Form) -> None:
    rows = _rows(t2=b"Ulm" + bytes(9), l3=bytes(90), t19=b"a \0 ")
    rows[4][0], rows[5][0] = float("inf"), float("nan")
    found = head(write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, rows, form))
    assert found.notes == ()
    assert [found.head[at][1] for at in (1, 2, 18)] == ["Ulm", "text 3", "a"]
    assert [found.head[at][2] for at in (1, 2, 19)] == ["abab", "", "ab" * 20]
    assert [row[0] for row in found.head[3:6]] == ["4", "inf", ""]


texts = st.lists(st.sampled_from([b"\0", b" ", b"a", b"bc", b"   "]), max_size=6).map(b"".join)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(st.floats(), texts.map(lambda t: t[:12]), texts), min_size=1, max_size=30),
    st.sampled_from(FORMS),
)
def test_the_scan_finds_what_a_slow_look_at_each_text_finds(
    tmp_path: Path, rows: Sequence[Sequence[Cell]], form: Form
) -> None:
    path = write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, rows, form)
    lost = [
        (at + 1, COLUMNS[j][0])
        for at, row in enumerate(rows)
        for j, cell in enumerate(row)
        if isinstance(cell, bytes) and cell.partition(b"\0")[2].strip(b"\0 ")
    ]
    notes = Notes()
    if lost:
        with pytest.raises(InputError) as caught:
            refuse_losses(path, ["NUM", "TEXT", "LONG"], None, notes, _always, ASCII)
        assert (caught.value.details["row"], caught.value.details["column"]) == lost[0]
    else:
        refuse_losses(path, ["NUM", "TEXT", "LONG"], None, notes, _always, ASCII)
    assert notes.told() == ()


rows_of_bytes = st.lists(
    st.one_of(
        st.binary(max_size=90),
        st.tuples(st.sampled_from([b"@", b" ", b"\0", b"x"]), st.integers(1, 700)).map(
            lambda run: run[0] * run[1]
        ),
    ),
    min_size=1,
    max_size=8,
).map(b"".join)


@given(rows_of_bytes)
def test_what_was_packed_is_unpacked(row: bytes) -> None:
    for pack, unpack in ((packed_rle, unpack_rle), (packed_rdc, unpack_rdc)):
        raw = np.frombuffer(b"??" + pack(row), np.uint8)
        made = np.zeros(len(row), np.uint8)
        assert unpack(raw, 2, len(raw), made)
        assert made.tobytes() == row


@given(st.binary(max_size=60), st.integers(1, 80))
def test_bytes_that_were_never_packed_do_not_lead_out_of_a_row(raw: bytes, size: int) -> None:
    for unpack in (unpack_rle, unpack_rdc):
        made = np.full(size + 8, 7, np.uint8)
        unpack(np.frombuffer(raw, np.uint8), 0, len(raw), made[:size])
        assert (made[size:] == 7).all()


def test_commands_that_no_row_of_the_tests_needs_are_known() -> None:
    long = bytes(range(256)) * 20
    for raw, row in (
        (b"\x13\x05" + long[: 64 + 4096 + 773], long[: 64 + 4096 + 773]),
        (b"\x2f" + long[:111], long[:111]),
        (b"\x41\x02x", b"x" * 276),
        (b"\x51\x02", b"@" * 275),
    ):
        data = np.frombuffer(raw, np.uint8)
        made = np.zeros(len(row), np.uint8)
        assert unpack_rle(data, 0, len(data), made)
        assert made.tobytes() == row


def test_a_file_that_is_built_in_another_way_is_read_with_a_note(tmp_path: Path) -> None:
    path = write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, _rows(), Form())
    for names in (["NUM"], ["NUM", "TEXT", "LONG", "MORE"]):
        notes = Notes()
        refuse_losses(path, names, None, notes, _always, ASCII)
        assert notes.told() == (NOTE,)
    raw = path.read_bytes()
    marks = struct.pack("<q", -4)
    path.write_bytes(raw.replace(marks, struct.pack("<q", -5), 1))
    notes = Notes()
    refuse_losses(path, ["NUM", "TEXT", "LONG"], None, notes, _always, ASCII)
    assert notes.told() == (NOTE,)


def test_a_place_that_the_library_reads_otherwise_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, _rows(t3=b"a\0b"), Form())
    asked: list[tuple[int, int, bytes]] = []

    def never(row: int, column: int, raw: bytes) -> bool:
        asked.append((row, column, raw))
        return False

    notes = Notes()
    refuse_losses(path, ["NUM", "TEXT", "LONG"], None, notes, never, ASCII)
    assert asked == [(2, 1, b"a\0b".ljust(12))]
    assert notes.told() == (NOTE,)


@pytest.mark.data
def test_every_real_file_can_be_looked_through() -> None:
    paths = list(real("statfiles").rglob("*.sas7bdat"))
    assert len(paths) > 8
    for path in paths:
        assert NOTE not in head(path, limit=1_000_000).notes


@pytest.mark.parametrize("form", FORMS[:1] + FORMS[-1:], ids=str)
def test_columns_of_one_name_or_none_are_refused(tmp_path: Path, form: Form) -> None:
    rows = [[1.0, 2.0, 3.0, 4.0]] * 3
    for names, sentence in (
        (["A", "B", "A", "A"], "columns 1 and 3 have the same name, `A`."),
        (["A", "B", "", "C"], "column 3 has no name."),
        (["A", "B", "\0Z", "C"], "column 3 has no name."),
        (["A", "", "", "C"], "two or more columns have no name."),
    ):
        columns = [(name, 0) for name in names]
        with pytest.raises(InputError) as caught:
            head(write_sas_bytes(tmp_path / "p.sas7bdat", columns, rows, form))
        assert (caught.value.code, caught.value.sentence) == (
            "read.names", f"p.sas7bdat: {sentence}",
        )  # fmt: skip
    columns = [(name, 0) for name in ("A", "A_duplicated1", "a", "B_duplicated")]
    found = head(write_sas_bytes(tmp_path / "p.sas7bdat", columns, rows, form))
    assert [one.name for one in found.variables] == ["A", "A_duplicated1", "a", "B_duplicated"]
    assert found.head[0] == ("1", "2", "3", "4")
