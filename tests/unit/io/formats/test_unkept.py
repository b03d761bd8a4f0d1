"""What a file says beside columns and values is named where it is not kept, and no more is."""

from __future__ import annotations

import struct
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from dpdesk.io.formats.stata.labels import Characteristic, characteristics
from tests.helpers.sav_bytes import write_sav_bytes
from tests.helpers.stat_files import head

END = struct.pack("<ii", 999, 0)


def _extended(path: Path, records: dict[int, bytes], documents: int = 0) -> Path:
    """The file with records of extension, and lines of documents, before its last record."""
    raw = path.read_bytes()
    added = b"".join(
        struct.pack("<4i", 7, kind, 1, len(data)) + data for kind, data in records.items()
    )
    if documents:
        added += struct.pack("<2i", 6, documents) + b"a line".ljust(80) * documents
    at = raw.index(END)
    path.write_bytes(raw[:at] + added + raw[at:])
    return path


def test_sets_attributes_documents_and_label_of_an_spss_file_are_named(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", [("A", 0), ("B", 0)], [[1.0, 2.0]])
    of_a = b"A:Interviewer('Mu'ller'\n)$@Role('1'\n)wave('x)(y'\n'z/k:'\n)"
    attributes = of_a + b"/B:turn[1]('a'\n)turn[2]('b'\n)"
    records = {7: b"$sick=D1 1 4 sick A B\n", 17: b"Survey('ISSP'\n)", 18: attributes}
    raw = bytearray(_extended(path, records, documents=2).read_bytes())
    raw[109:173] = b"A study of health".ljust(64)
    path.write_bytes(raw)
    assert head(path).notes == (
        "The label of the file is not kept: `A study of health`.",
        "The documents of the file (lines: 2) are not kept.",
        "Sets of multiple responses are not kept: `$sick`.",
        "Custom attributes are not kept: `Survey`, `Interviewer`, `wave` and `turn`.",
    )


def test_roles_of_spss_columns_alone_are_no_custom_attributes(tmp_path: Path) -> None:
    path = write_sav_bytes(tmp_path / "p.sav", [("A", 0)], [[1.0]])
    assert head(_extended(path, {18: b"A:$@Role('0'\n)"})).notes == ()


def test_the_weight_of_an_spss_file_is_named(tmp_path: Path) -> None:
    columns = [("TEXT", 300), ("WGT", 0), ("B", 0)]
    path = write_sav_bytes(tmp_path / "p.sav", columns, [[b"a", 1.5, 2.0]])
    raw = bytearray(path.read_bytes())
    slots = 32 + 6 + 1  # those of the two segments of the text, then its own
    struct.pack_into("<i", raw, 76, slots)
    path.write_bytes(raw)
    assert head(path).notes == (
        "SPSS weights the rows by `WGT`; this is not kept, each row counts once.",
    )


def _characteristic(release: int, owner: str, name: str, text: str) -> bytes:
    width = 129 if release > 117 else 33
    raw = owner.encode().ljust(width, b"\0") + name.encode().ljust(width, b"\0")
    raw += text.encode() + b"\0"
    if release < 117:
        return b"\1" + struct.pack("<i", len(raw)) + raw
    return b"<ch>" + struct.pack("<I", len(raw)) + raw + b"</ch>"


GIVEN = [
    ("_dta", "_lang_list", "default de fr"), ("_dta", "_lang_c", "default"),
    ("a", "_lang_v_de", "Geschlecht"), ("a", "note0", "1"), ("a", "note1", "asked of women only"),
    ("_dta", "note0", "2"), ("_dta", "note1", "one"), ("_dta", "note2", "two"),
]  # fmt: skip


def _write_dta(path: Path, version: int, given: list[tuple[str, str, str]]) -> Path:
    """A file with characteristics among those that there are none of."""
    frame = pd.DataFrame({"a": [1, 2]})
    frame.to_stata(path, version=version, write_index=False, data_label="Health 2020")
    raw = path.read_bytes()
    release = {114: 114, 117: 117, 118: 118}[version]
    added = b"".join(_characteristic(release, *one) for one in given)
    if release < 117:
        at = raw.rindex(b"\0" * 5, 0, len(raw) - 2)
        path.write_bytes(raw[:at] + added + raw[at:])
        return path
    at = raw.index(b"<characteristics>") + len(b"<characteristics>")
    made = bytearray(raw[:at] + added + raw[at:])
    places = made.index(b"<map>") + len(b"<map>")
    for number in range(9, 14):
        (place,) = struct.unpack_from("<Q", made, places + 8 * number)
        struct.pack_into("<Q", made, places + 8 * number, place + len(added))
    path.write_bytes(made)
    return path


@pytest.mark.parametrize("version", [114, 117, 118])
def test_languages_notes_and_label_of_a_stata_file_are_named(tmp_path: Path, version: int) -> None:
    path = _write_dta(tmp_path / "p.dta", version, GIVEN)
    assert characteristics(path) == tuple(Characteristic(*one) for one in GIVEN)
    done = head(path)
    assert done.head == (("1",), ("2",))
    assert done.notes == (
        "The label of the file is not kept: `Health 2020`.",
        "Labels in other languages than `default` are not kept: `de` and `fr`.",
        "The notes of the file (there are 2) are not kept.",
        "Notes of columns are not kept: `a`.",
    )


def test_a_stata_file_of_one_language_has_nothing_that_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    given = [("_dta", "_lang_list", "de"), ("_dta", "_lang_c", "de"), ("a", "note0", "0")]
    _write_dta(path, 118, given)
    assert head(path).notes == ("The label of the file is not kept: `Health 2020`.",)


@pytest.mark.parametrize("version", [5, 8])
def test_the_label_of_a_transport_file_is_named(tmp_path: Path, version: int) -> None:
    path = tmp_path / "p.xpt"
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    pyreadstat.write_xport(frame, path, file_label="Health 2020", file_format_version=version)
    assert head(path).notes == ("The label of the file is not kept: `Health 2020`.",)
