"""Value labels of Stata files that the reading library would lose or give to another value."""

from __future__ import annotations

import struct
from pathlib import Path

import pandas as pd
import pytest

from dpdesk.core.errors import InputError
from tests.helpers.stat_files import head

CODES = {0: "no", 1: "yes", 77: "none"}
NOTE = "Column `x`: the missing value has a label; it is left out."
VERSIONS = [(version, order) for version in (114, 117, 118, 119) for order in "<>"]


def _file(path: Path, version: int, order: str) -> bytes:
    frame = pd.DataFrame({"x": [0, 1, 77], "story": ["so", "it went" * 400, "on"]})
    labels = {"x": CODES}
    long = ["story"] if version > 114 else None
    if long is None:
        frame["story"] = ["so", "it", "on"]
    frame.to_stata(
        path, version=version, byteorder=order, write_index=False, value_labels=labels,
        convert_strl=long,
    )  # fmt: skip
    return path.read_bytes()


def _recoded(raw: bytes, order: str, *codes: int) -> bytes:
    """The file with other numbers in its one table of labels."""
    old, new = (struct.pack(f"{order}3i", *numbers) for numbers in (CODES, codes))
    assert raw.count(old) == 1
    return raw.replace(old, new)


@pytest.mark.parametrize(("version", "order"), VERSIONS)
def test_a_label_of_the_missing_value_is_not_given_to_zero(
    tmp_path: Path, version: int, order: str
) -> None:
    path = tmp_path / "p.dta"
    raw = _file(path, version, order)
    found = head(path)
    assert found.notes == ()
    assert found.variables[0].value_labels == {"0": "no", "1": "yes", "77": "none"}
    path.write_bytes(_recoded(raw, order, 0, 1, 2_147_483_621))
    found = head(path)
    assert found.notes == (NOTE,)
    assert found.variables[0].value_labels == {"0": "no", "1": "yes"}
    path.write_bytes(_recoded(raw, order, 2_147_483_621, 1, 2_147_483_622))
    found = head(path)
    assert found.notes == (NOTE,)
    assert found.variables[0].value_labels == {"1": "yes", ".a": "none"}


@pytest.mark.parametrize(("version", "encoding"), [(114, None), (114, "cp1250"), (117, "latin-1")])
def test_a_set_of_labels_may_have_a_name_of_other_letters(
    tmp_path: Path, version: int, encoding: str | None
) -> None:
    path = tmp_path / "p.dta"
    raw = _recoded(_file(path, version, "<"), "<", 0, 1, 2_147_483_621)
    assert raw.count(b"x".ljust(33, b"\0")) == 3
    path.write_bytes(raw.replace(b"x".ljust(33, b"\0"), b"gr\xf6\xdfe".ljust(33, b"\0")))
    found = head(path, encoding=encoding)
    assert NOTE.replace("`x`", "`größe`") in found.notes
    assert found.variables[0].value_labels == {"0": "no", "1": "yes"}


def test_two_labels_of_one_value_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    path.write_bytes(_recoded(_file(path, 118, "<"), "<", 0, 1, 1))
    found = head(path)
    assert found.notes == (
        "Column `x`: the value 1 has two labels, `yes` and `none`; the last one is taken.",
    )
    assert found.variables[0].value_labels == {"0": "no", "1": "none"}


@pytest.mark.parametrize(("version", "order"), VERSIONS)
def test_a_damaged_table_of_labels_is_refused(tmp_path: Path, version: int, order: str) -> None:
    path = tmp_path / "p.dta"
    raw = _file(path, version, order)
    codes = raw.index(struct.pack(f"{order}3i", *CODES))
    size = codes - 16
    for at, number in ((size, 1_000), (size, -1), (size - 4, 4_000), (codes - 4, 90)):
        path.write_bytes(raw[:at] + struct.pack(f"{order}i", number) + raw[at + 4 :])
        with pytest.raises(InputError) as caught:
            head(path)
        assert caught.value.code == "read.damaged"


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [117, 118, 119])
def test_a_damaged_head_of_a_long_text_is_refused(tmp_path: Path, version: int, order: str) -> None:
    path = tmp_path / "p.dta"
    raw = _file(path, version, order)
    at = raw.rindex(b"GSO")
    kind = at + 3 + 4 + (4 if version == 117 else 8)
    for place, byte in ((kind, 128), (kind, 0), (at + 5, 77), (at + 9, 77)):
        path.write_bytes(raw[:place] + bytes([byte]) + raw[place + 1 :])
        with pytest.raises(InputError) as caught:
            head(path)
        assert caught.value.code == "read.damaged"


@pytest.mark.parametrize(
    "form", ["%tcHH:MM:SS", "%tcHH:MM", "%tcHH:MM:SS.s", "%tchh:MM_am", "%tcHh:MM:SS_AM"]
)
def test_moments_that_show_times_of_day_are_times(tmp_path: Path, form: str) -> None:
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"t": [3_600_000.0]})
    frame.to_stata(path, version=118, write_index=False)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"%10.0g".ljust(57, b"\0"), form.encode().ljust(57, b"\0")))
    assert head(path).head == (("01:00:00",),)


def test_business_days_are_read_as_numbers_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    pd.DataFrame({"t": [12.0]}).to_stata(path, version=118, write_index=False)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"%10.0g".ljust(57, b"\0"), b"%tbnyse".ljust(57, b"\0")))
    found = head(path)
    assert found.head == (("12",),)
    assert found.notes == (
        "Column `t` counts days of a business calendar (%tbnyse); it is read as that number.",
    )


def test_a_long_text_of_stata_13_in_another_encoding_is_named_with_its_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "p.dta"
    raw = _file(path, 117, "<")
    path.write_bytes(raw.replace(b"so\0", b"s\xe9\0"))
    with pytest.raises(InputError) as caught:
        head(path, encoding="cp1252")
    assert caught.value.code == "encoding.undecodable"
    assert caught.value.sentence == (
        "p.dta, row 1, column `story`: the long text is not in UTF-8, and long texts of Stata 13 "
        "can be read here in no other encoding."
    )
