"""Stata files: numbers that are missing by their size alone and cut texts are told of."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.formats.stata.text_losses import refuse_losses
from dpdesk.io.formats.table import Notes
from tests.helpers.stat_files import head

VERSIONS = [(version, order) for version in (114, 117, 118, 119) for order in "<>"]
NAMES = ["town", "size", "share", "rate"]
DOUBLES = {  # by their bits: what is read, and what is said
    0x7FDFFFFFFFFFFFFF: ("8.988465674311579e+307", None),
    0x7FE0000000000000: ("", None),
    0x7FE0010000000000: (".a", None),
    0x7FE01A0000000000: (".z", None),
    0x7FE0000000000001: ("", "8.988465674311582e+307"),
    0x7FE0018000000000: (".a", "8.991757348752856e+307"),
    0x7FE01B0000000000: ("", "9.047715814254551e+307"),
    0x7FEFFFFFFFFFFFFF: ("", "1.7976931348623157e+308"),
    0x7FF0000000000000: ("", "inf"),
    0x7FF8000000000000: ("", "nan"),
    0xFFF8000000000000: ("", "nan"),
    0xFFF0000000000000: ("-inf", None),
    0xFFEFFFFFFFFFFFFF: ("-1.7976931348623157e+308", None),
}
SINGLES = {
    0x7EFFFFFF: False,
    0x7F000000: False,
    0x7F000800: False,
    0x7F00D000: False,
    0x7F000001: True,
    0x7F000C00: True,
    0x7F00D800: True,
    0x7F800000: True,
    0x7FC00000: True,
    0xFFC00000: True,
    0xFF800000: False,
    0xFF7FFFFF: False,
}


def _written(path: Path, version: int, order: str) -> bytes:
    frame = pd.DataFrame(
        {
            "town": ["Aach", "Ulm", "Rom"],
            "size": np.array([1, 2, 3], np.int8),
            "share": [1.5, 2.5, 3.25],
            "rate": np.array([1.5, 2.5, 7.75], np.float32),
        }
    )
    if version == 113:
        pyreadstat.write_dta(frame, path, version=8)
    else:
        frame.to_stata(path, version=version, byteorder=order, write_index=False)
    return path.read_bytes()


def _patched(path: Path, raw: bytes, old: bytes, new: bytes) -> Path:
    at = raw.rindex(old)
    path.write_bytes(raw[:at] + new + raw[at + len(old) :])
    return path


def test_a_double_arrives_or_is_noted_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, 118, "<")
    for bits, (read, said) in DOUBLES.items():
        new = struct.pack("<Q", bits)
        found = head(_patched(path, raw, struct.pack("<d", 3.25), new))
        assert found.head[2][2] == read
        assert found.notes == (() if said is None else (_noted(said),)), hex(bits)


@pytest.mark.parametrize(("version", "order"), [*VERSIONS, (113, "<")])
def test_doubles_that_are_missing_by_their_size_are_noted_in_every_version(
    tmp_path: Path, version: int, order: str
) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, version, order)
    for bits, (_, said) in DOUBLES.items():
        _patched(path, raw, struct.pack(f"{order}d", 3.25), struct.pack(f"{order}Q", bits))
        notes = Notes()
        refuse_losses(path, NAMES, None, notes)
        assert notes.told() == (() if said is None else (_noted(said),)), hex(bits)


def _noted(number: str) -> str:
    place = "Row 3, column `share`: the number"
    if number == "nan":
        return f"{place} is not a number (NaN); it is read as missing."
    return f"{place} {number} is so large that Stata takes it for missing; it is read as missing."


@pytest.mark.parametrize(("version", "order"), VERSIONS)
def test_a_number_of_single_precision_that_is_missing_by_its_size_is_noted(
    tmp_path: Path, version: int, order: str
) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, version, order)
    for bits, said in SINGLES.items():
        _patched(path, raw, struct.pack(f"{order}f", 7.75), struct.pack(f"{order}I", bits))
        notes = Notes()
        refuse_losses(path, NAMES, None, notes)
        assert bool(notes.told()) is said, hex(bits)
        assert all(note.startswith("Row 3, column `rate`: the number ") for note in notes.told())


def test_columns_side_by_side_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({f"v{j}": [j + 0.5, j + 0.25] for j in range(5)})
    frame.insert(3, "town", ["Aach", "Ulm"])
    frame.to_stata(path, version=118, write_index=False)
    raw = path.read_bytes()
    for name in ("v0", "v2", "v3", "v4"):
        old = struct.pack("<d", int(name[1]) + 0.25)
        _patched(path, raw, old, struct.pack("<d", 1e308))
        notes = Notes()
        refuse_losses(path, list(frame.columns), None, notes)
        assert notes.told() == (
            f"Row 2, column `{name}`: the number 1e+308 is so large that Stata takes it for "
            "missing; it is read as missing.",
        )


def test_only_the_rows_that_are_read_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, 118, "<")
    _patched(path, raw, struct.pack("<d", 3.25), struct.pack("<d", 1e308))
    assert head(path, limit=2).notes == ()
    assert head(path, limit=3).notes == (_noted("1e+308"),)


@pytest.mark.parametrize("version", [117, 118])
def test_a_long_text_with_a_nul_is_refused_with_its_place(tmp_path: Path, version: int) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"size": [1, 2, 3], "story": ["so", "it went" * 500, "and\0on"]})
    frame.to_stata(path, version=version, convert_strl=["story"], write_index=False)
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.sentence == (
        "p.dta, row 3, column `story`: found a NUL character, expected text."
    )
    assert [row[1] for row in head(path, limit=2).head] == ["so", "it went" * 500]


def test_random_bytes_behind_the_end_of_a_text_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, 118, "<")
    found = head(_patched(path, raw, b"Rom\0", b"R\0\xfem"))
    assert found.head[2][0] == "R"
    assert found.notes == ()


def test_a_header_that_says_other_columns_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    _written(path, 118, "<")
    with pytest.raises(InputError, match="it describes 4 columns, but 1 were found"):
        refuse_losses(path, ["town"], None, Notes())


def test_a_file_of_an_old_stata_is_read_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    path.write_bytes(bytes([110, 2, 1, 0]) + bytes(200))
    notes = Notes()
    refuse_losses(path, ["town"], None, notes)
    assert notes.told() == (
        "Stata wrote the file before 2003; numbers in it that are missing only because of "
        "their size are not reported.",
    )


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [117, 118, 119])
def test_a_cell_that_points_to_no_long_text_is_refused_with_its_place(
    tmp_path: Path, version: int, order: str
) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"n": [1, 2, 3], "text": ["B" * 2_999, "", "t"]})
    frame.to_stata(path, version=version, byteorder=order, write_index=False, convert_strl=["text"])
    assert [len(row[1]) for row in head(path).head] == [2_999, 0, 1]
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"</data>") - 1] ^= 0x40
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        head(path)
    assert caught.value.sentence == (
        "p.dta, row 3: column `text` points to a long text that the file does not have."
    )


def test_value_labels_that_a_file_names_and_lacks_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"sex": [1, 2], "size": [3, 4]})
    labels: dict[str, dict[int, str]] = {"sex": {1: "male", 2: "female"}}
    pyreadstat.write_dta(frame, path, variable_value_labels=labels)
    assert head(path).notes == ()
    raw = path.read_bytes()
    at = raw.index(b"<value_label_names>") + len(b"<value_label_names>")
    given = raw[at : raw.index(b"\0", at)]
    path.write_bytes(raw[:at] + bytes([raw[at] + 1]) + raw[at + 1 :])
    assert head(path).notes == (
        "The file does not contain the value labels of `sex`, although it names them; the "
        "values are read without them.",
        f"The value labels called `{given.decode()}` belong to no column; they are left out.",
    )
