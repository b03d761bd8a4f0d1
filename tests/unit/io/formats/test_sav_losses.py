"""SPSS files: what the reading library would lose is named by row and column, nothing else is."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.spss import text_losses as sav_words
from dpdesk.io.formats.spss.layout import read_layout
from dpdesk.io.formats.spss.text_losses import refuse_losses
from dpdesk.io.formats.table import Notes
from dpdesk.io.formats.worker import read_table
from tests.helpers.sav_bytes import (
    HIGHEST,
    LOWEST,
    SYSMIS,
    Cell,
    lost_cell,
    write_sav_bytes,
)
from tests.helpers.stat_files import head

FORMS = [(order, compression) for order in "<>" for compression in (0, 1, 2)]
COLUMNS = [("NUM", 0), ("TEXT", 11), ("LONG", 300), ("MORE", 0)]
NAN = 0x7FF8000000000000


def _row(
    number: Cell = 1.5, text: bytes = b"a", long: bytes = b"b", more: Cell = 2.0
) -> list[Cell]:
    return [number, text, long, more]


def _refused(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        head(path)
    return caught.value


@pytest.mark.parametrize(("order", "compression"), FORMS)
def test_a_text_with_something_behind_a_nul_is_refused_with_its_place(
    tmp_path: Path, order: str, compression: int
) -> None:
    rows = [_row(), _row(7.0), _row(text=b"Aach\0Ulm")]
    error = _refused(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, order, compression))
    assert error.code == "read.nul"
    assert error.sentence == "p.sav, row 3, column `TEXT`: found a NUL character, expected text."
    assert error.details == {"row": 3, "column": "TEXT"}


@pytest.mark.parametrize(("order", "compression"), FORMS)
@pytest.mark.parametrize(
    ("end", "words"), [(HIGHEST, "1.7976931348623157e+308"), (LOWEST, "-1.7976931348623155e+308")]
)
def test_a_number_kept_for_open_ends_is_refused_with_its_place(
    tmp_path: Path, order: str, compression: int, end: int, words: str
) -> None:
    rows = [_row(), _row(more=end), _row(text=b"a\0b")]
    error = _refused(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, order, compression))
    assert error.code == "read.reserved"
    assert error.sentence == (
        f"p.sav, row 2, column `MORE`: found the number {words}, which SPSS keeps for the open end "
        "of a range, expected another number or a missing value."
    )


@pytest.mark.parametrize(("order", "compression"), FORMS)
def test_padding_of_nuls_ranges_with_open_ends_and_missing_values_are_no_loss(
    tmp_path: Path, order: str, compression: int
) -> None:
    rows = [
        _row(97.0, b"Ulm" + bytes(8), b"x" * 254 + b"\0\0", SYSMIS),
        _row(3.0, bytes(11), b"y" * 300, 0x7FEFFFFFFFFFFFFE),
        _row(-5.0, b"a  \0  \0", bytes(300), 151.0),
    ]
    path = write_sav_bytes(
        tmp_path / "p.sav",
        COLUMNS,
        rows,
        order,
        compression,
        missing=(90.0, 1.7976931348623157e308),
    )
    found = head(path)
    assert found.head == (
        ("97", "Ulm", "x" * 254, ""),
        ("3", "", "y" * 300, "1.7976931348623155e+308"),
        ("-5", "a", "", "151"),
    )
    assert found.variables[0].missing.holds("97")
    assert found.variables[0].missing.high == float("inf")
    assert found.notes == ()


def test_the_first_loss_of_a_row_is_the_one_of_its_first_column(tmp_path: Path) -> None:
    rows = [_row(), _row(text=b"a\0b", long=b"c\0d", more=HIGHEST)]
    assert _refused(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows)).details["column"] == "TEXT"
    rows = [_row(), _row(LOWEST, text=b"a\0b")]
    assert _refused(write_sav_bytes(tmp_path / "q.sav", COLUMNS, rows)).details["column"] == "NUM"


def test_a_nul_in_one_segment_of_a_long_text_counts_for_what_the_next_one_holds(
    tmp_path: Path,
) -> None:
    rows = [_row(), _row(long=b"c\0".ljust(255) + b"d")]
    assert _refused(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows)).details["column"] == "LONG"


def test_numbers_that_are_none_are_read_as_missing_and_noted(tmp_path: Path) -> None:
    rows = [_row(), _row(NAN), _row(more=NAN | 1 << 63), _row(NAN + 7, more=SYSMIS)]
    found = head(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows))
    assert [row[0] for row in found.head] == ["1.5", "", "1.5", ""]
    assert set(found.notes) == {
        "Row 2, column `NUM`: the number is not a number (NaN); it is read as missing. There are 2 "
        "such values.",
        "Row 3, column `MORE`: the number is not a number (NaN); it is read as missing.",
    }


def test_infinite_numbers_arrive(tmp_path: Path) -> None:
    rows = [_row(float("inf"), more=float("-inf"))]
    found = head(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows))
    assert found.head == (("inf", "a", "b", "-inf"),)


def test_a_file_that_keeps_other_numbers_for_open_ends_is_taken_at_its_word(
    tmp_path: Path,
) -> None:
    ends = (SYSMIS, 0x40590000_00000000, 0xC0590000_00000000)  # 100 and -100
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(), _row(more=100.0)], floats=ends)
    assert _refused(path).details == {"row": 2, "column": "MORE"}
    path = write_sav_bytes(tmp_path / "q.sav", COLUMNS, [_row(more=HIGHEST)], floats=ends)
    assert head(path).head[0][3] == "1.7976931348623157e+308"


def test_only_the_rows_that_are_read_are_looked_at(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(), _row(), _row(more=HIGHEST)])
    assert len(head(path, limit=2).head) == 2


@pytest.mark.parametrize(("order", "compression"), FORMS)
def test_rows_behind_those_that_the_file_counts_are_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, compression: int
) -> None:
    path = write_sav_bytes(
        tmp_path / "p.sav", COLUMNS, [_row(), _row(), _row(more=HIGHEST)], order, compression
    )
    raw = path.read_bytes()
    names = [name for name, _ in COLUMNS]
    counted = 2
    path.write_bytes(raw[:80] + struct.pack(f"{order}i", counted) + raw[84:])
    for piece in (8, 1 << 20):
        monkeypatch.setattr(sav_words, "_PIECE", piece)
        with pytest.raises(InputError) as caught:
            refuse_losses(path, names, None, Notes())
        assert caught.value.code == "read.damaged"
        assert "p.sav: the file says that it has 2 rows, but more follow." in caught.value.sentence
    assert len(head(path, limit=2).head) == 2
    path.write_bytes(raw[:80] + struct.pack(f"{order}i", -1) + raw[84:])
    with pytest.raises(InputError, match="row 3, column `MORE`"):
        refuse_losses(path, names, None, Notes())


@pytest.mark.parametrize(("order", "compression"), FORMS)
@pytest.mark.parametrize("stated", [3, (1 << 30) - 1, 1 << 30, (1 << 31) - 1])
def test_rows_that_a_file_counts_and_does_not_have_are_missed(
    tmp_path: Path, order: str, compression: int, stated: int
) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(), _row()], order, compression)
    raw = path.read_bytes()
    path.write_bytes(raw[:80] + struct.pack(f"{order}i", stated) + raw[84:])
    for private in (False, True):
        request = ReadRequest(
            str(path),
            str(tmp_path / f"{private}.parquet"),
            "sav",
            encoding="utf-8",
            private=private,
        )
        with pytest.raises(InputError, match=r"p\.sav, row 3: the file") as caught:
            read_table(request, lambda answer: None)
        assert caught.value.code == "read.damaged"


def test_the_count_of_long_files_is_read_where_the_header_has_none(tmp_path: Path) -> None:
    path = tmp_path / "p.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": [1.0, 2.0]}), path)
    raw = path.read_bytes()
    ended = raw.index(struct.pack("<2i", 999, 0))
    for stated, sentence in ((3, "ends after 2 rows, but says that it has 3"), (1, "more follow")):
        record = struct.pack("<4i2q", 7, 16, 8, 2, 1, stated)
        text = raw[:80] + struct.pack("<i", -1) + raw[84:ended] + record + raw[ended:]
        path.write_bytes(text)
        request = ReadRequest(str(path), str(tmp_path / f"{stated}.parquet"), "sav")
        with pytest.raises(InputError, match=sentence):
            read_table(request, lambda answer: None)


def test_less_than_a_row_behind_the_last_one_is_no_row(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(), _row()])
    path.write_bytes(path.read_bytes() + bytes(41 * 8))
    refuse_losses(path, [name for name, _ in COLUMNS], None, Notes())


def test_a_block_that_breaks_off_is_called_damaged(tmp_path: Path) -> None:
    rows = [_row(float(n) / 7) for n in range(60)]
    path = write_sav_bytes(tmp_path / "p.zsav", COLUMNS, rows, compression=2)
    raw = bytearray(path.read_bytes())
    place = int.from_bytes(raw[read_layout(path).start + 8 :][:8], "little")
    size = place + 24 + 24 * 2 + 20  # the packed bytes of the third block
    raw[size : size + 4] = (5).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(InputError, match="the compressed rows cannot be followed"):
        refuse_losses(path, [name for name, _ in COLUMNS], None, Notes())


cells = st.one_of(
    st.sampled_from([HIGHEST, LOWEST, SYSMIS, NAN, 1.0, -99.0, 151.0, 152.0, 0.5]),
    st.integers(0, 2**64 - 1),
)
texts = st.lists(st.sampled_from([b"\0", b" ", b"a", b"\xfd\xfc\0\xff", b"        "]), max_size=9)


def _fits(parts: list[bytes]) -> bytes:
    return b"".join(parts)[:11]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(cells, texts.map(_fits), texts.map(_fits), cells), min_size=1, max_size=40),
    st.sampled_from(FORMS),
    st.sampled_from([100.0, 50.0, 0.0]),
    st.sampled_from([8, 24, 1 << 20]),
)
def test_the_scan_finds_what_a_slow_look_at_each_value_finds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: Sequence[Sequence[Cell]],
    form: tuple[str, int],
    bias: float,
    piece: int,
) -> None:
    monkeypatch.setattr(sav_words, "_PIECE", piece)
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, *form, bias=bias)
    lost = [(at + 1, COLUMNS[j][0]) for at, row in enumerate(rows)
            if (j := lost_cell(row)) is not None]  # fmt: skip
    names = [name for name, _ in COLUMNS]
    if not lost:
        refuse_losses(path, names, None, Notes())
        return
    with pytest.raises(InputError) as caught:
        refuse_losses(path, names, None, Notes())
    assert (caught.value.details["row"], caught.value.details["column"]) == lost[0]


@pytest.mark.parametrize("order", ["<", ">"])
def test_every_form_of_compression_gives_the_same_words(tmp_path: Path, order: str) -> None:
    rows = [_row(float(n), f"text {n}".encode(), b"z" * (n % 301), n / 7) for n in range(-99, 152)]
    found = []
    for compression in (0, 1, 2):
        path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, order, compression)
        with path.open("rb") as file:
            found.append(np.concatenate(list(sav_words.words_of(file, read_layout(path)))))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@pytest.mark.parametrize(("order", "compression"), FORMS)
@pytest.mark.parametrize("text", [b"mari\xe9", b"mari\xe9  \0", b"a\xf0 "])
def test_a_text_that_ends_in_a_byte_of_another_encoding_is_refused_with_its_place(
    tmp_path: Path, order: str, compression: int, text: bytes
) -> None:
    whole = "Aéß€".encode()
    for column, row in (("TEXT", _row(text=text)), ("LONG", _row(long=b"x" * 260 + text))):
        rows = [_row(text=whole), row, _row(text=b"a\0b")]
        error = _refused(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, order, compression))
        assert error.code == "encoding.undecodable"
        assert error.sentence == (
            f"p.sav, row 2, column `{column}`: the text ends with bytes that are not a whole "
            "character in the encoding UTF-8."
        )
        assert error.details == {"row": 2, "column": column}
    rows = [_row(text=whole), _row(long=whole * 30), _row(text="\U0001f600€".encode())]
    assert head(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows)).notes == ()


@pytest.mark.parametrize(
    ("code", "text", "read"),
    [
        (65001, b"\xc3\xa9a\xe2", "éa"),
        (65001, b"a\xe2\x82 ", "a"),
        (65001, b"a\xf0\x9f\x98", "a"),
        (932, b"\x93\xfa\x96", "日"),
    ],
)
def test_a_text_that_was_cut_off_inside_a_character_is_noted(
    tmp_path: Path, code: int, text: bytes, read: str
) -> None:
    rows = [_row(), _row(text=text), _row(text=text)]
    found = head(write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, code=code))
    assert found.head[1][1] == read
    assert found.notes == (
        "Row 2, column `TEXT`: the text is cut off inside its last character, which is left out. "
        "There are 2 such values.",
    )


def test_a_label_that_was_cut_off_inside_a_character_is_noted(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(1.0)])
    found = head(_labelled(path, [(ONE, b"\xc3\xa9tan\xc3 "), (TWO, "würde ".encode())]))
    assert found.notes == (
        "Column `NUM`: the label of the value 1 is cut off inside its last character, which is "
        "left out.",
    )
    assert found.variables[0].value_labels == {"1": "étan", "2": "würde"}


def test_an_encoding_of_one_byte_has_no_characters_to_end_inside_of(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(text=b"mari\xe9")])
    assert head(path, encoding="cp1252").head[0][1] == "marié"
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(text=b"mari\xe9")], code=1252)
    assert head(path).head[0][1] == "marié"


def _labelled(path: Path, labels: list[tuple[bytes, bytes]], column: int = 1) -> Path:
    """Value labels (values and texts of 7 bytes) of a column, counted from 1 in slots."""
    raw = path.read_bytes()
    at = raw.index(struct.pack("<3i", 7, 3, 4))
    made = struct.pack("<2i", 3, len(labels))
    made += b"".join(code + bytes([len(text)]) + text for code, text in labels)
    path.write_bytes(raw[:at] + made + struct.pack("<3i", 4, 1, column) + raw[at:])
    return path


ONE, TWO = struct.pack("<d", 1.0), struct.pack("<d", 2.0)


def test_a_label_that_ends_inside_a_character_is_refused_with_its_column(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row()])
    error = _refused(_labelled(path, [(ONE, b"ledig  "), (TWO, b"mari\xe9  ")]))
    assert error.code == "encoding.undecodable"
    assert error.sentence == (
        "p.sav, column `NUM`: the label of the value 2 ends with bytes that are not a whole "
        "character in the encoding UTF-8."
    )
    path = write_sav_bytes(path, [*COLUMNS, ("KEY", 2)], [[*_row(), b"x"]])
    error = _refused(_labelled(path, [(b"x\xe9".ljust(8), b"ledig  ")], 43))
    assert error.details == {"column": "KEY"}


def test_a_long_label_and_that_of_a_column_are_refused_when_they_end_inside_a_character(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame({"s": ["a long text", "another"], "n": [1.0, 2.0]})
    said: list[Any] = [{"s": "Statut marixx"}, {"s": {"a long text": "marixx"}}]
    for at, words in ((0, "its label"), (1, "the label of the value `a long text`")):
        path = tmp_path / "p.sav"
        given: list[Any] = [said[k] if k == at else None for k in (0, 1)]
        pyreadstat.write_sav(frame, path, column_labels=given[0], variable_value_labels=given[1])
        raw = path.read_bytes()
        assert raw.count(b"marixx") == 1
        path.write_bytes(raw.replace(b"marixx", b"mari\xe9 "))
        assert _refused(path).sentence == (
            f"p.sav, column `s`: {words} ends with bytes that are not a whole character in the "
            "encoding UTF-8."
        )


def test_two_labels_of_one_value_and_one_of_the_missing_value_are_noted(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(1.0)])
    missing = struct.pack("<Q", SYSMIS)
    found = head(
        _labelled(
            path,
            [(ONE, b"first  "), (ONE, b"second "), (missing, b"nothing"), (TWO, b"x".ljust(7))],
        )
    )
    assert found.notes == (
        "Column `NUM`: the value 1 has two labels, `first` and `second`; the last one is taken.",
        "Column `NUM`: the missing value has a label; it is left out.",
    )
    assert found.variables[0].value_labels == {"1": "second", "2": "x"}


@pytest.mark.parametrize(("order", "compression"), FORMS)
def test_a_file_that_counts_no_rows_and_ends_inside_one_is_refused(
    tmp_path: Path, order: str, compression: int
) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(), _row()], order, compression)
    raw = path.read_bytes()
    raw = raw[:80] + struct.pack(f"{order}i", -1) + raw[84:]
    path.write_bytes(raw)
    found = head(path)
    assert len(found.head) == 2
    assert found.notes == (
        "The file does not say how many rows it has, so rows missing at its end cannot be "
        "detected.",
    )
    for cut in (1, 8, 20):
        path.write_bytes(raw[:-cut])
        error = _refused(path)
        assert error.code == "read.damaged"
        if compression == 0:
            assert error.sentence == "p.sav, row 2: the file ends inside this row."


def test_a_file_that_counts_no_rows_but_has_some_is_refused_as_it_is(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [_row(), _row()])
    raw = path.read_bytes()
    path.write_bytes(raw[:80] + struct.pack("<i", 0) + raw[84:])
    sentence = "p.sav: the file says that it has 0 rows, but more follow."
    assert _refused(path).sentence == sentence


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.sav"
    pyreadstat.write_sav(pd.DataFrame({"aa": [1.0], "other": [2.0], "Aa": [3.0]}), path)
    assert [variable.name for variable in head(path).variables] == ["aa", "other", "Aa"]
    raw = path.read_bytes()
    assert raw.count(b"=Aa") == 1
    path.write_bytes(raw.replace(b"=Aa", b"=aa"))
    error = _refused(path)
    assert error.code == "read.names"
    assert error.sentence == "p.sav: columns 1 and 3 have the same name, `aa`."
