"""Encodings in which the reading library would move a letter from one text to the next."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.formats.plain_reading import plain_codec, plain_reader
from tests.helpers.sas_bytes import write_sas_bytes
from tests.helpers.sav_bytes import write_sav_bytes
from tests.helpers.stat_files import head

TOWNS = [("חיפה", "רמלה"), ("עכו", "לוד"), ("", "אשדוד"), ("בני ברק", "חולון")]
COLUMNS = [("NUM", 0), ("ONE", 8), ("TWO", 8)]


def _rows(codec: str) -> list[list[float | bytes]]:
    return [[1.0, one.encode(codec), two.encode(codec)] for one, two in TOWNS]


def test_hebrew_texts_stay_in_their_cells(tmp_path: Path) -> None:
    rows = _rows("cp1255")
    sav = write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, code=1255)
    sas = write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, rows, code=65)
    for path in (sav, sas):
        found = head(path)
        assert [row[1:] for row in found.head] == TOWNS
        assert [variable.name for variable in found.variables] == ["NUM", "ONE", "TWO"]
        assert found.encoding == "WINDOWS-1255"
        assert found.notes == ()


def test_hebrew_texts_and_labels_of_stata_stay_in_their_places(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame(
        [
            tuple(text.encode("cp1255").decode("latin-1").ljust(8, "x") for text in row)
            for row in TOWNS
        ],
        columns=["one", "two"],
    )
    label = "עיר".encode("cp1255").decode("latin-1")
    frame.to_stata(path, version=114, write_index=False, variable_labels={"one": label, "two": "B"})
    path.write_bytes(path.read_bytes().replace(b"x", b"\0"))
    found = head(path, encoding="cp1255")
    assert list(found.head) == TOWNS
    assert [variable.label for variable in found.variables] == ["עיר", "B"]


def test_vietnamese_letters_and_accents_are_one_character(tmp_path: Path) -> None:
    raw = b"H\xe0 N\xf4\xf2i"  # o with circumflex, then the dot below
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [[1.0, raw, b"Hu\xea\xec"]], code=1258)
    assert head(path).head[0][1:] == ("Hà Nội", "Huế")


def test_names_of_one_letter_are_kept_in_a_vietnamese_file(tmp_path: Path) -> None:
    columns, rows = [("A", 0), ("E", 8), ("U", 8)], [[1.0, b"a", b"e"], [2.0, b"o", b"u"]]
    for path in (
        write_sav_bytes(tmp_path / "p.sav", columns, rows, code=1258),
        write_sas_bytes(tmp_path / "p.sas7bdat", columns, rows, code=68),
    ):
        found = head(path)
        assert [variable.name for variable in found.variables] == ["A", "E", "U"]
        assert found.head == (("1", "a", "e"), ("2", "o", "u"))
        assert found.encoding == "WINDOWS-1258"


def test_a_text_that_does_not_shift_back_leaves_the_next_one_alone(tmp_path: Path) -> None:
    rows = [[1.0, b"\x1b$BF|K", b"abcd"]]
    found = head(write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, rows, code=167))
    assert found.head[0][1:] == ("日", "abcd")
    assert "ISO-2022-JP cannot be searched" in found.notes[0]


def test_a_backslash_of_a_japanese_file_is_one(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [[1.0, b"C:\\~", b"\x93\xfa"]], code=932)
    assert head(path, encoding="shift_jis").head[0][1:] == ("C:\\~", "日")


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    rows = [*_rows("cp1255"), [1.0, b"Ulm", b"a\xffb"]]
    for path in (
        write_sav_bytes(tmp_path / "p.sav", COLUMNS, rows, code=1255),
        write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, rows, code=65),
    ):
        with pytest.raises(InputError) as caught:
            head(path)
        assert caught.value.code == "encoding.undecodable"
        assert caught.value.details == {"row": 5, "column": "TWO"}


def test_columns_are_asked_for_by_the_names_that_the_library_gave() -> None:
    class Meta:
        column_names = ["\xf9\xed"]  # noqa: RUF012 - a stand-in for what the library gives
        missing_ranges = {"\xf9\xed": [{"lo": "\xf9", "hi": "\xf9"}]}  # noqa: RUF012

    asked: list[object] = []

    def read(path: str, **options: object) -> tuple[object, object]:
        asked.append(options.get("usecols"))
        return {"\xf9\xed": ["\xe0", 1.0, None]}, Meta()

    reading = plain_reader(read, "cp1255")
    reading("p.sav", metadataonly=True)
    data, meta = reading("p.sav", usecols=["שם"])
    assert asked == [None, ["\xf9\xed"]]
    assert data == {"שם": ["א", 1.0, None]}
    assert meta.missing_ranges == {"שם": [{"lo": "ש", "hi": "ש"}]}


def test_encodings_that_nobody_here_can_read_are_refused() -> None:
    for encoding in ("ISO-2022-CN", "TCVN5712-1", "UTF-16", "utf-7"):
        with pytest.raises(InputError, match="cannot be read here without a loss") as caught:
            plain_codec(encoding, "p.sav")
        assert caught.value.code == "encoding.unknown"
    for encoding in ("UTF-8", "WINDOWS-1252", "WINDOWS-1256", "ISO-8859-8", "CP932", "GB18030", ""):
        assert plain_codec(encoding, "p.sav") == ""
