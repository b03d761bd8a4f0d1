"""SPSS files: labels and missing values that the library would take for those of no column."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from tests.helpers.sav_bytes import write_sav_bytes
from tests.helpers.stat_files import head

COLUMNS = [("A", 0), ("B", 10), ("C", 4)]
NAMES = struct.pack("<4i", 7, 13, 1, 14) + b"A=alpha\tB=beta"


def _file(path: Path, *records: bytes) -> Path:
    """A file with further records at the end of its dictionary."""
    write_sav_bytes(path, COLUMNS, [[1.0, b"hello", b"x"], [2.0, b"good bye", b"y"]])
    raw = path.read_bytes()
    at = raw.index(struct.pack("<3i", 7, 3, 4))
    path.write_bytes(raw[:at] + b"".join(records) + raw[at:])
    return path


def _labels(slot: int, labels: Sequence[tuple[bytes, bytes]]) -> bytes:
    made = struct.pack("<2i", 3, len(labels))
    for code, text in labels:
        made += code + bytes([len(text)]) + text + b" " * (-(1 + len(text)) % 8)
    return made + struct.pack("<3i", 4, 1, slot)


def _extension(kind: int, body: bytes) -> bytes:
    return struct.pack("<4i", 7, kind, 1, len(body)) + body


def _counted(text: bytes) -> bytes:
    return struct.pack("<i", len(text)) + text


def _long_label(name: bytes) -> bytes:
    body = _counted(name) + struct.pack("<2i", 10, 1)
    return _extension(21, body + _counted(b"hello     ") + _counted(b"greeting"))


def _long_missing(name: bytes) -> bytes:
    body = _counted(name) + bytes([2]) + struct.pack("<i", 8)
    return _extension(22, body + b"hello   " + b"none    ")


def test_missing_values_of_long_texts_that_each_state_their_width_are_followed(
    tmp_path: Path,
) -> None:
    width = struct.pack("<i", 8)
    values = b"hello   " + width + b"none    "
    body = b"".join(_counted(name) + bytes([2]) + width + values for name in (b"B", b"C"))
    found = head(_file(tmp_path / "p.sav", _extension(22, body)))
    assert found.variables[1].missing.values == ("hello", "none")


def _number(number: float) -> bytes:
    return struct.pack("<d", number)


def test_records_of_value_labels_of_one_column_add_up(tmp_path: Path) -> None:
    found = head(
        _file(
            tmp_path / "p.sav",
            _labels(1, [(_number(1), b"one"), (_number(2), b"zwei")]),
            _labels(1, [(_number(3), "drei é".encode()), (_number(4), b"four")]),
            _labels(4, [(b"x       ", b"an x")]),
            _labels(4, [(b"y       ", b"a y")]),
        )
    )
    assert found.variables[0].value_labels == {"1": "one", "2": "zwei", "3": "drei é", "4": "four"}
    assert found.variables[2].value_labels == {"x": "an x", "y": "a y"}
    assert found.notes == ()


@pytest.mark.parametrize("name", [b"beta", b"BETA", b"B", b"b"])
@pytest.mark.parametrize("first", [True, False])
def test_labels_and_missing_values_of_long_texts_are_found_by_any_name(
    tmp_path: Path, name: bytes, first: bool
) -> None:
    records = [_long_label(name), _long_missing(name)]
    records.insert(0 if first else 2, NAMES)
    found = head(_file(tmp_path / "p.sav", *records))
    beta = found.variables[1]
    assert beta.name == "beta"
    assert beta.value_labels == {"hello": "greeting"}
    assert beta.missing.values == ("hello", "none")
    assert found.notes == ()


@pytest.mark.parametrize("name", [b"A", b"gamma"])
def test_labels_and_missing_values_of_no_text_are_noted(tmp_path: Path, name: bytes) -> None:
    found = head(_file(tmp_path / "p.sav", _long_label(name), _long_missing(name)))
    assert all(not variable.value_labels for variable in found.variables)
    assert found.notes == (
        f"The value labels called `{name.decode()}` belong to no column; they are left out.",
        f"The missing values of a column `{name.decode()}`, which the file does not have, are left "
        "out.",
    )


@pytest.mark.parametrize(
    ("name", "codec", "texts"),
    [
        (b"windows-1252", "cp1252", ("\xe4", "\xf6")),
        (b"BIG5", "cp950", ("\u4e2d", "\u7881")),
        (b"SHIFT_JIS", "cp932", ("\uff5e", "\uff0d")),
        (b"ISO_8859-15", "iso8859-15", ("\u20ac", "\u0152")),
    ],
)
def test_labels_of_texts_that_are_not_ascii_are_told_apart(
    tmp_path: Path, name: bytes, codec: str, texts: tuple[str, str]
) -> None:
    codes = [text.encode(codec) for text in texts]
    labels = _labels(4, [(code.ljust(8), b"of " + code) for code in codes])
    path = _file(tmp_path / "p.sav", labels, _extension(20, name))
    found = head(path)
    assert found.variables[2].value_labels == {text: f"of {text}" for text in texts}
    assert not [note for note in found.notes if "label" in note]


@pytest.mark.parametrize(
    ("name", "page"), [(b"windows-950", 950), (b"KSC_5601", 51949), (b"windows-932", 932)]
)
def test_other_names_of_an_encoding_are_not_noted(tmp_path: Path, name: bytes, page: int) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", COLUMNS, [[1.0, b"hello", b"x"]], code=page)
    raw = path.read_bytes()
    at = raw.index(struct.pack("<3i", 7, 4, 8))
    path.write_bytes(raw[:at] + _extension(20, name) + raw[at:])
    assert head(path).notes == ()


def test_a_long_name_that_the_library_does_not_give_is_noted(tmp_path: Path) -> None:
    found = head(_file(tmp_path / "p.sav", _extension(13, b"a=alpha\tB=beta")))
    assert [variable.name for variable in found.variables] == ["A", "beta", "C"]
    assert found.notes == ("Column `A`: the file also calls it `alpha`; this name is left out.",)


def test_a_number_with_the_format_of_a_text_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.sav")
    form = struct.pack("<2i", 5 << 16 | 8 << 8 | 2, 5 << 16 | 8 << 8 | 2)
    text = struct.pack("<2i", 1 << 16 | 8 << 8, 1 << 16 | 8 << 8)
    path.write_bytes(path.read_bytes().replace(form, text, 1))
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.sentence == (
        "p.sav: column `A` is a number by its description and a text by its format."
    )


def test_a_range_of_missing_texts_is_left_out_with_a_note(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.sav")
    raw = path.read_bytes()
    record = struct.pack("<3i", 2, 4, 0)
    at = raw.rindex(record)
    ranged = struct.pack("<4i", 2, 4, 0, -2) + raw[at + 16 : at + 32] + b"a       " + b"c       "
    path.write_bytes(raw[:at] + ranged + raw[at + 32 :])
    found = head(path)
    assert [row[2] for row in found.head] == ["x", "y"]
    assert found.variables[2].missing.values == ()
    assert found.notes == (
        "Column `C`: the range of missing texts is not kept; its values stay ordinary values.",
    )


def test_a_label_ends_at_a_nul_with_a_note(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.sav", _labels(1, [(_number(1), b"on\0e")]))
    found = head(path)
    assert found.variables[0].value_labels == {"1": "on"}
    assert found.notes == (
        "Column `A`: the label of the value 1 contains a NUL character; what comes after it is "
        "left out.",
    )
    padded = head(_file(path, _labels(1, [(_number(1), b"one\0\0 ")])))
    assert padded.variables[0].value_labels == {"1": "one"}


def test_a_name_of_an_encoding_that_is_not_known_is_noted(tmp_path: Path) -> None:
    path = _file(tmp_path / "p.sav", _extension(20, b"x-unknown"))
    assert head(path).notes == (
        "The file names the encoding x-unknown, but is read as UTF-8, which its code page says. "
        "Name the `encoding` if letters look wrong.",
    )
    for name in (b"utf8", b"UTF-8"):
        assert head(_file(path, _extension(20, name))).notes == ()


def test_a_name_of_an_encoding_that_python_writes_otherwise_is_known(tmp_path: Path) -> None:
    labels = _labels(1, [(_number(1), "日".encode("cp932"))])
    path = _file(tmp_path / "p.sav", labels, _extension(20, b"windows-31j"))
    assert head(path).variables[0].value_labels == {"1": "日"}
