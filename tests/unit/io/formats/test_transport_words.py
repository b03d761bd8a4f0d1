"""SAS transport files: names, labels and texts in an encoding that the file does not name."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from tests.helpers.stat_files import head
from tests.unit.io.formats.test_transport_ends import _file as of_numbers
from tests.unit.io.formats.test_transport_ends import _table as table

HEAD = b"HEADER RECORD*******%sHEADER RECORD!!!!!!!"
CUT = ("x" * 39 + "é").encode()[:40]


def _card(text: bytes) -> bytes:
    return text.ljust(80)


def _filled(raw: bytes) -> bytes:
    return raw.ljust(-(-len(raw) // 80) * 80)


def _file(path: Path, labels: Sequence[bytes], rows: Sequence[bytes]) -> Path:
    """A file of version 5 with columns A, B, … of texts of 8 bytes."""
    names = b"".join(
        struct.pack(
            ">hhhh8s40s8shhh2s8shhi32sH18s",
            2, 0, 8, j + 1, bytes([65 + j]).ljust(8), label.ljust(40), b" " * 8, 0, 0, 0, b"",
            b" " * 8, 0, 0, 8 * j, b"", 0, b"",
        )
        for j, label in enumerate(labels)
    )  # fmt: skip
    path.write_bytes(
        _card(HEAD % b"LIBRARY " + b"0" * 30) + _card(b"SAS") * 2
        + _card(HEAD % b"MEMBER  " + b"0" * 17 + b"1600000000140")
        + _card(HEAD % b"DSCRPTR " + b"0") + _card(b"SAS     T") + _card(b"")
        + _card(HEAD % b"NAMESTR " + b"%010d" % len(labels) + b"0" * 20)
        + _filled(names) + _card(HEAD % b"OBS     " + b"0" * 30)
        + _filled(b"".join(text.ljust(8) for text in rows))
    )  # fmt: skip
    return path


def _notes(path: Path, **options: str) -> tuple[str, ...]:
    """What is noted, but for rows of blanks at the end."""
    notes = head(path, **options).notes
    return tuple(note for note in notes if not note.startswith("After the last row"))


def _refused(path: Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        head(path, **options)
    assert caught.value.code == "encoding.undecodable"
    return caught.value.sentence


def test_a_label_that_was_cut_off_inside_a_letter_leaves_the_file_one_of_utf_8(
    tmp_path: Path,
) -> None:
    path = _file(tmp_path / "p.xpt", [CUT], ["Müller".encode(), "Zoë".encode(), b"Ulm"])
    found = head(path)
    assert [row[0] for row in found.head] == ["Müller", "Zoë", "Ulm"]
    assert found.variables[0].label == "x" * 39
    assert _notes(path) == (
        "Column `A`: its label is cut off inside its last character, which is left out.",
    )
    assert _notes(path, encoding="utf-8") == _notes(path)


def test_a_guessed_encoding_is_noted(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.xpt", [b"P\xb3e\xe6"], [b"\xa3\xf3d\x9f"])
    assert _notes(path) == (
        "The file does not name its encoding; it is read as cp1252, a guess (`P³eæ`). Name the "
        "`encoding` if letters look wrong.",
    )
    found = head(path, encoding="cp1250")
    assert (found.head, found.variables[0].label) == ((("Łódź",),), "Płeć")
    assert _notes(path, encoding="cp1250") == ()
    path = _file(path, [b"caf\xe9"], [b"caf\xe9"])
    assert head(path).head == (("café",),)
    assert "a guess (`café`)" in _notes(path)[0]


def test_labels_that_are_no_text_in_the_encoding_are_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.xpt", [b"P\xb3e\xe6"], [b"Ulm"])
    assert _refused(path, encoding="utf-8") == (
        "p.xpt, column `A`: its label contains bytes that are not text in the encoding utf-8."
    )
    path = _file(path, [b"caf\xe9"], [b"Ulm"])
    assert _refused(path, encoding="utf-8") == (
        "p.xpt, column `A`: its label ends with bytes that are not a whole character in the "
        "encoding utf-8."
    )
    assert "column `A`: its label contains bytes" in _refused(_file(path, [b"a\x81b"], [b"Ulm"]))


def test_texts_that_were_cut_off_inside_a_character_are_noted(tmp_path: Path) -> None:
    cut = "Südköln".encode()[:8]
    half = "Südkölü".encode()[:8]
    path = _file(tmp_path / "p.xpt", [b"Town"], [cut, b"1234567\xc3", half[:7] + b"\xc3", b"Ulm"])
    found = head(path)
    assert [row[0] for row in found.head] == ["Südköl", "1234567", "Südkö", "Ulm"]
    assert _notes(path) == (
        "Row 2, column `A`: the text is cut off inside its last character, which is left out. "
        "There are 2 such values.",
    )
    for text in (b"caf\xe9", b"\xe9tude", b"a\xffb\xc3\xa9\xc3"):
        assert "row 2, column `A`: found bytes that are not text in the encoding utf-8" in _refused(
            _file(path, [b"Town"], [b"Ulm", text])
        )


@pytest.mark.parametrize("informat", [b"", b"BEST12."])
def test_long_labels_beside_long_names_of_formats_are_read(tmp_path: Path, informat: bytes) -> None:
    label = b"The whole label of the column, which is longer than forty characters"
    form = b"MYLONGFORMATNAME8."
    made = struct.pack(">5h", 1, 1, len(label), len(form), len(informat))
    long = _card(HEAD % b"LABELV9 " + b"1") + _filled(made + b"A" + label + form + informat)
    path = _file(tmp_path / "p.xpt", [label[:40]], [b"Ulm"])
    raw = path.read_bytes()
    at = raw.index(HEAD % b"OBS     ")
    path.write_bytes(raw[:at] + long + raw[at:])
    found = head(path)
    assert found.variables[0].label == label.decode()
    assert found.variables[0].format == "MYLONGFORMATNAME8"
    assert found.head == (("Ulm",),)


def test_a_label_ends_at_a_nul_with_a_note_and_a_name_with_one_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.xpt", [b"la\0bel"], [b"Ulm"])
    assert head(path).variables[0].label == "la"
    assert _notes(path) == (
        "Column `A`: its label contains a NUL character; what comes after it is left out.",
    )
    path.write_bytes(path.read_bytes().replace(b"A       ", b"A\0B     ", 1))
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.code == "read.nul"
    told = "its name holds a NUL character, at which other programs stop reading it"
    assert told in str(caught.value)


def test_a_file_that_ends_inside_a_record_of_80_bytes_is_noted(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.xpt", [b"Town"], [b"Aach"] * 20)
    assert _notes(path) == ()
    path.write_bytes(path.read_bytes()[:-16])
    assert len(head(path).head) == 18
    assert _notes(path) == (
        "The file does not end with a whole record of 80 bytes, as the format requires; it may "
        "have been cut off after a row.",
    )


def test_a_zero_that_sas_does_not_write_is_noted(tmp_path: Path) -> None:
    columns = [(b"N", True, 8), (b"M", True, 3)]
    rows = b"".join(bytes([byte]) + bytes(7) + b"\x41\x10\0" for byte in (0, 0x2E, 0x80, 0x61))
    found = head(of_numbers(tmp_path / "p.xpt", table(columns, rows, b"T")))
    assert found.head == (("0", "1"), ("", "1"), ("0", "1"), ("0", "1"))
    assert found.notes == (
        "Row 3, column `N`: the number begins with the byte 80 before zeros, which SAS does not "
        "write; it is read as 0, and other programs may take it for missing. There are 2 such "
        "values.",
    )


@pytest.mark.parametrize("name", ["nosuch", "rot13", "punycode", "utf-7", "utf-16-le"])
def test_an_encoding_in_which_nothing_can_be_read_is_named(tmp_path: Path, name: str) -> None:
    path = _file(tmp_path / "t.xpt", [b"label"], [b"a", b"b"])
    with pytest.raises(InputError, match=name) as told:
        head(path, encoding=name)
    assert told.value.code == "encoding.unknown"
