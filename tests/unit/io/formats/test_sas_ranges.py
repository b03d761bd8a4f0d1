"""SAS catalogues: labels of ranges and of all other values are given to nothing, and noted."""

from __future__ import annotations

import struct
from pathlib import Path

import pyreadstat
import pytest

from dpdesk.io.formats.sas.catalogs import Format, labels_of_columns, read_formats
from dpdesk.io.formats.table import Notes
from tests.helpers.sas_bytes import Form
from tests.helpers.sas_catalog_bytes import Formats, write_catalog
from tests.helpers.stat_files import head, real
from tests.unit.io.formats.test_transport_ends import ONE, _file, _table

FORM = Form()
FORMS = [Form(wide, order) for wide in (True, False) for order in "<>"]


def _labels(path: Path, display: str) -> tuple[dict[object, str], tuple[str, ...]]:
    notes = Notes()
    found = labels_of_columns({"AGE": display}, str(path), Path("p.sas7bdat"), None, notes)
    return dict(found["AGE"]), notes.told()


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_labels_of_single_values_are_what_the_library_gives(tmp_path: Path, form: Form) -> None:
    entries = [((3.0, 3.0), 1), ((-1.5, -1.5), 0), ((0.0, 0.0), 3), (("B", "B"), 2)]
    labels = ["minus", "three", "not asked", "none"]
    texts = [(("'f'", "'f'"), 0), (("'män'", "'män'"), 1)]
    formats: Formats = {"AGEF": (entries, labels), "$SEX": (texts, ["Frau", "Mann"])}
    formats["LONGER_THAN_EIGHT"] = (entries, labels)
    path = write_catalog(tmp_path / "c.sas7bcat", formats, form)
    reference = pyreadstat.read_sas7bcat(str(path), encoding="UTF-8")[1].value_labels
    assert reference["AGEF"] == {-1.5: "minus", 3.0: "three", "B": "not asked", 0.0: "none"}
    assert reference["$SEX"] == {"f": "Frau", "män": "Mann"}
    for display, name in (
        ("AGEF3.", "AGEF"),
        ("$SEX6.", "$SEX"),
        ("LONGER_THAN_EIGHT", "LONGER_THAN_EIGHT"),
    ):
        assert _labels(path, display) == (reference[name], ())


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("copies", [2, 4])
def test_the_label_of_a_range_is_given_to_none_of_its_ends_and_noted(
    tmp_path: Path, form: Form, copies: int
) -> None:
    ranges = [((0.0, 17.0), 0), ((18.0, 64.0), 1), ((99.0, 99.0), 2), ((".", "Z"), 3)]
    formats = {"AGEF": (ranges, ["young", "working age", "unknown", "missing"])}
    found = _labels(write_catalog(tmp_path / "c.sas7bcat", formats, form, copies), "AGEF2.")
    assert found == (
        {99.0: "unknown"},
        ("Column `AGE`: the format AGEF has labels of ranges of values; they are left out.",),
    )


def test_the_same_number_but_for_a_little_fuzz_is_one_value(tmp_path: Path) -> None:
    near = [((18.0, 18.0 + 1e-12), 0), ((64.0, 64.01), 1)]
    path = write_catalog(tmp_path / "c.sas7bcat", {"AGEF": (near, ["adult", "old"])}, FORM)
    assert _labels(path, "AGEF.")[0] == {18.0: "adult"}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_label_of_all_other_values_is_noted(tmp_path: Path, form: Form) -> None:
    path = write_catalog(
        tmp_path / "c.sas7bcat", {"SEXF": ([((1.0, 1.0), 0)], ["male", "other"])}, form
    )
    assert _labels(path, "SEXF.") == (
        {1.0: "male"},
        ("Column `AGE`: the format SEXF has a label for all other values; it is left out.",),
    )


def test_two_labels_of_one_value_are_noted(tmp_path: Path) -> None:
    entries = [((3.0, 3.0), 0), ((2.0, 2.0), 1), ((3.0, 3.0), 1)]
    path = write_catalog(tmp_path / "c.sas7bcat", {"SEXF": (entries, ["low", "high"])}, FORM)
    assert _labels(path, "SEXF.") == (
        {2.0: "high"},
        (
            "Column `AGE`: the format SEXF is built in a way that is not known here; labels that "
            "cannot be assigned with certainty are left out.",
        ),
    )


def test_ranges_of_texts_and_long_texts_are_noted(tmp_path: Path) -> None:
    texts = [(("'a'", "'m'"), 0), (("'x'", "'x'"), 1)]
    path = write_catalog(tmp_path / "c.sas7bcat", {"$NAM": (texts, ["first", "ex"])}, FORM)
    assert _labels(path, "$NAM.") == (
        {"x": "ex"},
        ("Column `AGE`: the format $NAM has labels of ranges of values; they are left out.",),
    )


def test_a_label_of_the_missing_value_is_noted(tmp_path: Path) -> None:
    entries = [((".", "."), 0), ((1.0, 1.0), 1)]
    path = write_catalog(tmp_path / "c.sas7bcat", {"SEXF": (entries, ["none", "male"])}, FORM)
    found, notes = _labels(path, "SEXF.")
    assert found[1.0] == "male"
    assert notes == ("Column `AGE`: the missing value has a label; it is left out.",)


def test_notes_on_ranges_stand_with_those_of_a_file(tmp_path: Path) -> None:
    entries = [((1.0, 1.0), 0), ((18.0, 64.0), 1)]
    write_catalog(tmp_path / "p.sas7bcat", {"AGEF": (entries, ["one", "working age"])}, FORM)
    table = _table([(b"AGE", True, 8, b"AGEF")], ONE, b"T")
    found = head(_file(tmp_path / "p.xpt", table))
    assert found.variables[0].value_labels == {"1": "one"}
    assert found.notes == (
        "Value labels come from p.sas7bcat next to the file.",
        "Column `AGE`: the format AGEF has labels of ranges of values; they are left out.",
    )


def test_damaged_catalogues_give_labels_or_none_without_a_crash(tmp_path: Path) -> None:
    entries = [((1.0, 1.0), 0), ((2.0, 2.0), 1), ((3.0, 3.0), 2)]
    path = write_catalog(
        tmp_path / "c.sas7bcat", {"AGEF": (entries, ["one", "two", "three"])}, FORM
    )
    raw = path.read_bytes()
    for at in [at for at, byte in enumerate(raw) if byte]:
        for byte in (0, 1, 0xFF):
            path.write_bytes(raw[:at] + bytes([byte]) + raw[at + 1 :])
            assert read_formats(path, {"AGEF"}).keys() <= {"AGEF"}


@pytest.mark.data
def test_catalogues_of_sas_itself_are_followed(tmp_path: Path) -> None:
    folder = real("statfiles", "pyreadstat")
    for system in ("win", "linux"):
        path = folder / "sas_catalog" / f"test_formats_{system}.sas7bcat"
        assert read_formats(path, {"$A"}) == {"$A": Format({"1": "Male", "2": "Female"})}
    path = folder / "missing_data" / "missing_formats.sas7bcat"
    assert read_formats(path, {"A"}) == {"A": Format({"A": "missing"})}
    raw = bytearray(path.read_bytes())
    place = raw.find(b"missing") - 10 - 54 + 22
    raw[place : place + 32] = struct.pack(">4d", -18.0, -18.0, -64.0, -64.0)
    (tmp_path / "c.sas7bcat").write_bytes(raw)
    found = _labels(tmp_path / "c.sas7bcat", "A")
    assert found[0] == {}
    assert "labels of ranges of values" in found[1][0]
