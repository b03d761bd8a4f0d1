"""SAS catalogues: labels that are not of single values are told of."""

from __future__ import annotations

import contextlib
import math
import struct
from pathlib import Path

import pytest

from dpdesk.io.formats.sas_ranges import Format, formats_of
from tests.helpers.sas_catalog_bytes import write_catalog_bytes
from tests.helpers.stat_files import head, real
from tests.unit.io.formats.test_transport_ends import ONE, _file, _table

BESIDE = "Value labels come from p.sas7bcat beside the file."


def _transport(path: Path) -> Path:
    columns = [(b"AGE", True, 8, b"AGEF"), (b"SEX", False, 4, b"$SEXF")]
    return _file(path, _table(columns, ONE + b"m   ", b"T"))


def test_single_values_have_their_labels(tmp_path: Path) -> None:
    sex = [("m", b"male"), ("f", b"female")]
    age = [(1.0, b"one"), (-7.5, b"odd"), (0.0, b"none")]
    write_catalog_bytes(tmp_path / "p.sas7bcat", {"AGEF": age, "$SEXF": sex})
    found = head(_transport(tmp_path / "p.xpt"))
    assert found.notes == (BESIDE,)
    assert found.variables[0].value_labels == {"1": "one", "-7.5": "odd", "0": "none"}
    assert found.variables[1].value_labels == {"m": "male", "f": "female"}


def test_labels_of_ranges_and_of_all_other_values_are_left_out_with_a_note(tmp_path: Path) -> None:
    age = [(1.0, b"one"), ((18.0, 64.0), b"working age"), ((-9.0, -1.0), b"below")]
    formats = {"AGEF": age, "$SEXF": [("m", b"male")]}
    write_catalog_bytes(tmp_path / "p.sas7bcat", formats, {"$SEXF": b"female", "AGEF": b"old"})
    found = head(_transport(tmp_path / "p.xpt"))
    assert found.variables[0].value_labels == {"1": "one"}
    assert found.variables[1].value_labels == {"m": "male"}
    assert found.notes == (
        BESIDE,
        "Column `AGE`: the format AGEF has labels of ranges of values; they are left out.",
        "Column `AGE`: the format AGEF has a label for all other values; it is left out.",
        "Column `SEX`: the format $SEXF has a label for all other values; it is left out.",
    )


def test_a_text_of_more_than_a_value_is_no_single_value(tmp_path: Path) -> None:
    catalog = write_catalog_bytes(tmp_path / "p.sas7bcat", {"$SEXF": [("m" * 30, b"male")]})
    assert formats_of(catalog) == {"$SEXF": Format("$SEXF", ("m" * 16,), others=False)}


def test_a_label_of_the_missing_value_is_noted(tmp_path: Path) -> None:
    age = [(1.0, b"one"), (math.nan, b"missing")]
    write_catalog_bytes(tmp_path / "p.sas7bcat", {"AGEF": age})
    found = head(_transport(tmp_path / "p.xpt"))
    assert "Column `AGE`: the missing value has a label; it is left out." in found.notes
    assert found.variables[0].value_labels == {"1": "one"}


def test_a_catalogue_that_cannot_be_followed_is_read_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(path: Path) -> dict[str, Format]:
        raise ValueError(path)

    monkeypatch.setattr("dpdesk.io.formats.sas_catalogs.formats_of", lost)
    write_catalog_bytes(tmp_path / "p.sas7bcat", {"AGEF": [(1.0, b"one")]})
    found = head(_transport(tmp_path / "p.xpt"))
    assert found.notes[1] == (
        "The catalogue p.sas7bcat could not be looked through for ranges of values; the label of "
        "one is read as that of its first value."
    )


def test_damaged_catalogues_are_followed_or_not_without_a_crash(tmp_path: Path) -> None:
    catalog = write_catalog_bytes(tmp_path / "p.sas7bcat", {"AGEF": [(1.0, b"one")] * 3})
    raw = catalog.read_bytes()
    places = [at for at, byte in enumerate(raw) if byte]
    for at in places:
        for byte in (0, 1, 0xFF):
            catalog.write_bytes(raw[:at] + bytes([byte]) + raw[at + 1 :])
            with contextlib.suppress(ValueError, IndexError, struct.error):
                formats_of(catalog)


@pytest.mark.data
def test_real_catalogues_hold_single_values() -> None:
    folder = real("statfiles", "pyreadstat")
    for path in folder.rglob("*.sas7bcat"):
        found = formats_of(path)
        assert found
        assert all(not one.ranges and not one.others for one in found.values())
