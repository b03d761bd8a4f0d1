"""Texts of Stata and SAS that end inside a character are refused or noted, as those of SPSS are."""

from __future__ import annotations

import codecs
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.request import ReadDone
from tests.helpers.sas_bytes import Form, write_sas_bytes
from tests.helpers.sav_bytes import write_sav_bytes
from tests.helpers.stat_files import head, real

ENCODINGS = {
    "utf-8": "aé日\U0001f600",
    "cp932": "aｱ日本",
    "shift_jis": "aｱ日本",
    "euc_jp": "aｱ日丂",
    "gb18030": "aé日\U0001f600",
    "gbk": "a日本",
    "gb2312": "a日本",
    "big5": "a日本",
    "cp950": "a日本",
    "euc_kr": "a한국",
    "cp949": "a똠방",
    "johab": "a한국",
}
COLUMNS = [("NUM", 0), ("TEXT", 8)]
GUESS = (
    "The file does not name its encoding; it is read as WINDOWS-1252, a guess (`{}`). Name the "
    "`encoding` if letters look wrong."
)


def _pending(encoding: str, raw: bytes) -> bool:
    decoder: Any = codecs.getincrementaldecoder(encoding)("strict")
    decoder.decode(raw)
    return bool(decoder.getstate()[0])


@settings(deadline=None)
@given(st.data(), st.sampled_from(sorted(ENCODINGS)))
def test_the_walk_finds_what_a_decoder_is_left_with(data: st.DataObject, encoding: str) -> None:
    letters = st.text(st.sampled_from(ENCODINGS[encoding]), max_size=6)
    texts = [text.encode(encoding) for text in data.draw(st.lists(letters, min_size=1))]
    cut = [text[: data.draw(st.integers(0, len(text)))] for text in texts]
    width = max(1, *(len(text) for text in cut))
    filled = b"".join(text.ljust(width, data.draw(st.sampled_from([b"\0", b" "]))) for text in cut)
    raw = np.frombuffer(filled, np.uint8).reshape(len(cut), width)
    assert Endings(encoding).rows(raw).tolist() == [_pending(encoding, text) for text in cut]


@pytest.mark.parametrize(
    ("encoding", "whole", "broken"),
    [
        ("EUC-TW", b"\xa4\xa4\x8e\xa2\xa4\xa4", b"\xa4\xa4\x8e\xa2\xa4"),
        ("CP942", b"\x93\xfa\x96\x7b", b"\x93\xfa\x96"),
        ("CP1381", b"\xc8\xd5\xb1\xbe", b"\xc8\xd5\xb1"),
        ("BIG-5", b"\xa4\xe9\xa5\xbb", b"\xa4\xe9\xa5"),
        ("WINDOWS-936", b"\xc8\xd5\xb1\xbe", b"\xc8\xd5\xb1"),
    ],
)
def test_encodings_by_the_names_that_files_have(encoding: str, whole: bytes, broken: bytes) -> None:
    endings = Endings(encoding)
    assert endings.looks
    assert not endings.breaks_off(whole)
    assert endings.breaks_off(broken)


def test_encodings_of_one_byte_are_not_looked_at() -> None:
    for encoding in ("WINDOWS-1252", "ISO-8859-15", "MACICELAND", "US-ASCII", ""):
        assert not Endings(encoding).looks
        assert not Endings(encoding).unseen
    assert Endings("ISO-2022-CN").unseen


def _dta(path: Path, version: int, *texts: bytes) -> Path:
    """A file with the column ``town``; the texts are as long as the first one."""
    frame = pd.DataFrame({"town": ["T" * len(text) for text in texts], "n": range(len(texts))})
    frame.to_stata(path, version=version, write_index=False)
    raw = path.read_bytes()
    for text in texts:
        raw = raw.replace(b"T" * len(text), text, 1)
    path.write_bytes(raw)
    return path


def _refused(path: Path, **options: str) -> InputError:
    with pytest.raises(InputError) as caught:
        head(path, **options)
    assert caught.value.code == "encoding.undecodable"
    return caught.value


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "gb18030", "big5", "euc-kr"])
@pytest.mark.parametrize("version", [114, 117, 118])
def test_a_text_of_stata_in_another_encoding_is_refused_by_its_end(
    tmp_path: Path, version: int, encoding: str
) -> None:
    path = _dta(tmp_path / "p.dta", version, b"Aach", b"caf\xe9")
    error = _refused(path, encoding=encoding)
    assert error.sentence == (
        "p.dta, row 2, column `town`: the text ends with bytes that are not a whole character in "
        f"the encoding {encoding.upper()}."
    )
    assert error.details == {"row": 2, "column": "town"}
    assert [row[0] for row in head(path, encoding="cp1252").head] == ["Aach", "café"]
    if version < 118:
        assert head(path).notes == (GUESS.format("café"),)


def test_a_text_of_an_old_stata_is_refused_by_its_end(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    pyreadstat.write_dta(pd.DataFrame({"n": [1], "town": ["cafe"]}), path, version=8)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"cafe", b"caf\xe9"))
    assert _refused(path, encoding="utf-8").details == {"row": 1, "column": "town"}


@pytest.mark.parametrize(("version", "encoding"), [(114, "utf-8"), (117, "utf-8"), (118, None)])
def test_a_text_of_stata_that_was_cut_off_inside_a_character_is_noted(
    tmp_path: Path, version: int, encoding: str | None
) -> None:
    cut, whole = "Köln Sü".encode()[:-1], "Südköln".encode()
    found = head(_dta(tmp_path / "p.dta", version, whole, cut, cut), encoding=encoding)
    assert [row[0] for row in found.head] == ["Südköln", "Köln S", "Köln S"]
    assert found.notes == (
        "Row 2, column `town`: the text is cut off inside its last character, which is left out. "
        "There are 2 such values.",
    )


@pytest.mark.parametrize(
    ("version", "encoding", "label", "read_as"),
    [
        (118, None, b"Gr\xf6\xdfe in m", "UTF-8"),
        (114, "utf-8", b"Gr\xf6\xdfe in m", "UTF-8"),
        (114, "ascii", b"Gr\xf6\xdfe in m", "ASCII"),
        (117, None, b"a\x81b", "WINDOWS-1252"),
        (114, "cp1252", b"ab\x81", "WINDOWS-1252"),
    ],
)
def test_a_label_of_stata_with_bytes_that_are_no_text_is_refused(
    tmp_path: Path, version: int, encoding: str | None, label: bytes, read_as: str
) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"size": [1.5]})
    frame.to_stata(
        path, version=version, write_index=False, variable_labels={"size": "X" * len(label)}
    )
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"X" * len(label), label))
    with pytest.raises(InputError) as caught:
        head(path, encoding=encoding)
    assert caught.value.code == "encoding.undecodable"
    assert caught.value.sentence == (
        "p.dta, column `size`: its label contains bytes that are not text in the encoding "
        f"{read_as}."
    )
    if b"\x81" not in label:
        found = head(path, encoding="cp1252")
        assert found.variables[0].label == "Größe in m"
    path.write_bytes(raw.replace(b"size", b"s\x81ze"))
    with pytest.raises(InputError, match="its name contains bytes that are not text"):
        head(path, encoding=encoding)


def test_a_text_behind_one_that_was_cut_off_is_refused_when_it_is_none(tmp_path: Path) -> None:
    path = _dta(tmp_path / "p.dta", 118, "Köln Sü".encode()[:-1], b"a\xff\xffb1234")
    assert _refused(path).sentence == (
        "p.dta, row 2, column `town`: found bytes that are not text in the encoding UTF-8."
    )


@pytest.mark.parametrize("label", ["its label", "the label of the value 2"])
def test_a_label_of_stata_that_ends_inside_a_character_is_told(tmp_path: Path, label: str) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"sex": [1, 2]})
    pyreadstat.write_dta(
        frame, path, column_labels=["Kind: Xxxx"], version=10,
        variable_value_labels={"sex": {1: "whole", 2: "Value: Yyyy"}},
    )  # fmt: skip
    raw, old = path.read_bytes(), b"Xxxx" if label == "its label" else b"Yyyy"
    path.write_bytes(raw.replace(old, b"mar\xe9"))
    assert _refused(path, encoding="utf-8").sentence == (
        f"p.dta, column `sex`: {label} ends with bytes that are not a whole character in the "
        "encoding UTF-8."
    )
    assert GUESS.split("(")[0] in head(path).notes[0]
    path.write_bytes(raw.replace(old, b"\xc3\xa9t\xc3"))
    assert head(path, encoding="utf-8").notes == (
        f"Column `sex`: {label} is cut off inside its last character, which is left out.",
    )


def _sas(path: Path, code: int, *texts: bytes, method: str = "") -> Path:
    rows = [[float(at), text] for at, text in enumerate(texts)]
    return write_sas_bytes(path, COLUMNS, rows, Form(method=method), code)


def _texts(found: ReadDone) -> list[str]:
    return [row[1] for row in found.head]


@pytest.mark.parametrize("method", ["", "rle", "rdc"])
@pytest.mark.parametrize(
    ("code", "name", "half"),
    [
        (138, "CP932", b"\x96"),
        (134, "EUC-JP", b"\xcb"),
        (125, "GB18030", b"\xb1"),
        (123, "BIG-5", b"\xa5"),
        (140, "EUC-KR", b"\xb1"),
        (20, "UTF-8", b"\xe6\x97"),
    ],
)
def test_a_text_of_sas_that_ends_inside_a_character_is_told(
    tmp_path: Path, code: int, name: str, half: bytes, method: str
) -> None:
    path = tmp_path / "p.sas7bdat"
    cut = b"A" * (8 - len(half)) + half
    found = head(_sas(path, code, b"Aach", cut, cut, method=method))
    assert _texts(found) == ["Aach", cut[: -len(half)].decode(), cut[: -len(half)].decode()]
    assert found.notes == (
        "Row 2, column `TEXT`: the text is cut off inside its last character, which is left out. "
        "There are 2 such values.",
    )
    error = _refused(_sas(path, code, *[b"Aach"] * 5, b"caf\xe9", method=method))
    assert error.sentence == (
        "p.sas7bdat, row 6, column `TEXT`: the text ends with bytes that are not a whole character "
        f"in the encoding {name}."
    )
    assert len(head(path, limit=5).head) == 5


@pytest.mark.parametrize("text", [b"a\xff", b"\xff", b"a\xc3\x28\xc3"])
def test_a_text_of_sas_that_is_no_text_is_refused_with_its_place(
    tmp_path: Path, text: bytes
) -> None:
    rows: list[list[Any]] = [[1.0, b"ab"], [2.0, text], [3.0, b"cd"]]
    path = write_sas_bytes(tmp_path / "p.sas7bdat", COLUMNS, rows, Form())
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.code == "encoding.undecodable"
    assert caught.value.details == {"row": 2, "column": "TEXT"}


def test_a_text_of_sas_in_another_encoding_than_the_plan_says_is_refused(tmp_path: Path) -> None:
    path = _sas(tmp_path / "p.sas7bdat", 62, b"Aach", b"Lacaf\xe9")
    assert _texts(head(path)) == ["Aach", "Lacafé"]
    for encoding in ("cp932", "gb18030", "utf-8"):
        assert _refused(path, encoding=encoding).details == {"row": 2, "column": "TEXT"}


def test_a_nul_in_a_file_of_an_encoding_that_only_the_library_knows_is_found(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="row 2, column `TEXT`: found a NUL character"):
        head(_sas(tmp_path / "p.sas7bdat", 123, b"Aach", b"a\0b"))


def test_a_name_of_sas_that_ends_inside_a_character_is_refused(tmp_path: Path) -> None:
    path = _sas(tmp_path / "p.sas7bdat", 138, b"Aach")
    path.write_bytes(path.read_bytes().replace(b"TEXT", b"TEX\x83"))
    assert _refused(path).sentence == (
        "p.sas7bdat, column `TEX`: its name ends with bytes that are not a whole character in the "
        "encoding CP932."
    )


def test_an_encoding_whose_endings_cannot_be_seen_is_noted(tmp_path: Path) -> None:
    path = _sas(tmp_path / "p.sas7bdat", 167, b"Aach")
    assert head(path).notes == (
        "Texts in the encoding ISO-2022-JP cannot be searched for ones that are cut off inside "
        "their last character; that character is left out.",
    )


@pytest.mark.parametrize("code", [0, 204])
def test_a_guessed_encoding_of_sas_is_noted(tmp_path: Path, code: int) -> None:
    found = head(_sas(tmp_path / "p.sas7bdat", code, b"Aach", b"caf\xe9"))
    assert _texts(found) == ["Aach", "café"]
    assert found.notes == (GUESS.format("café"),)
    assert head(_sas(tmp_path / "p.sas7bdat", code, b"Aach", b"Ulm")).notes == ()
    assert head(_sas(tmp_path / "p.sas7bdat", 62, b"Aach", b"caf\xe9")).notes == ()


def test_a_guessed_encoding_of_spss_is_noted(tmp_path: Path) -> None:
    for code in (2, 3):
        path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [[1.0, b"caf\xe9"]], code=code)
        assert head(path).notes == (GUESS.format("café"),)
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [[1.0, b"caf\xe9"]], code=1252)
    assert head(path).notes == ()


@pytest.mark.data
def test_a_label_of_a_catalogue_that_ends_inside_a_character_is_refused(tmp_path: Path) -> None:
    folder = real("statfiles", "pyreadstat", "sas_catalog")
    shutil.copy(folder / "test_data_linux.sas7bdat", tmp_path / "p.sas7bdat")
    shutil.copy(folder / "test_formats_linux.sas7bcat", tmp_path / "p.sas7bcat")
    catalog = tmp_path / "p.sas7bcat"
    labels = head(tmp_path / "p.sas7bdat").variables[1].value_labels
    label = labels["1"].encode()
    catalog.write_bytes(catalog.read_bytes().replace(label, label[:-1] + b"\xe9", 1))
    error = _refused(tmp_path / "p.sas7bdat", encoding="gb18030")
    assert error.sentence == (
        "p.sas7bcat, column `SEXA`: the label of the value `1` ends with bytes that are not a "
        "whole character in the encoding GB18030."
    )
