"""Stata files: a header that counts other rows, and a file cut behind its rows, are refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.formats.statistical import check_whole
from tests.helpers.stat_files import head


def _written(path: Path, version: int) -> bytes:
    frame = pd.DataFrame({"sex": np.array([1, 2, 0], np.int8), "town": ["Aach", "Ulm", "Rom"]})
    labels: Any = {"sex": {1: "male", 2: "female"}}
    pyreadstat.write_dta(frame, path, version=version, variable_value_labels=labels)
    return path.read_bytes()


def _refused(path: Path, raw: bytes, **options: Any) -> InputError:
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        head(path, **options)
    return caught.value


@pytest.mark.parametrize("version", [8, 10, 12])
def test_a_file_cut_anywhere_behind_its_rows_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, version)
    assert head(path).variables[0].value_labels == {"1": "male", "2": "female"}
    for end in range(raw.rindex(b"Rom\0") + 5, len(raw)):
        error = _refused(path, raw[:end])
        assert error.code == "read.damaged"
        assert error.sentence == (
            "p.dta: the file breaks off after the 3 rows that it says it has, or has a "
            "different number of rows"
            "."
        )


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
@pytest.mark.parametrize("rows", [0, 2, 4])
def test_a_header_that_counts_other_rows_is_refused(
    tmp_path: Path, version: int, rows: int
) -> None:
    path = tmp_path / "p.dta"
    raw = bytearray(_written(path, version))
    at = 6 if version <= 12 else raw.index(b"<N>") + 3
    raw[at : at + 4] = struct.pack("<i", rows)
    error = _refused(path, bytes(raw))
    assert error.code == "read.damaged"
    assert f"after the {rows} rows that it says" in error.sentence


@pytest.mark.parametrize("version", [12, 15])
def test_columns_of_one_name_or_none_are_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "p.dta"
    raw = _written(path, version)
    error = _refused(path, raw.replace(b"town\0", b"sex\0\0", 1))
    assert error.code == "read.names"
    assert error.sentence == "p.dta: columns 1 and 2 have the same name, `sex`."
    for options in ({}, {"encoding": "cp1255"}, {"encoding": "utf-8", "private": True}):
        error = _refused(path, raw.replace(b"town\0", bytes(5), 1), **options)
        assert error.sentence == "p.dta: column 2 has no name."


def _old(release: int, order: str, tables: bytes) -> bytes:
    """A file of a format before 113 with a byte and a text of 4, and two rows."""
    name, label = 9 if release < 110 else 33, 32 if release < 108 else 81
    kinds = b"b\x83" if release < 111 else b"\xfb\x04"
    form = 7 if release < 105 else 12
    made = bytes([release, 1 if order == ">" else 2, 1, 0]) + struct.pack(f"{order}Hi", 2, 2)
    made += bytes(label + (0 if release < 105 else 18)) + kinds
    made += b"sex".ljust(name, b"\0") + b"town".ljust(name, b"\0") + bytes(6)
    made += b"%8.0g".ljust(form, b"\0") + b"%4s".ljust(form, b"\0")
    made += bytes(2 * name + 2 * label)
    if release >= 105:
        made += bytes(3 if release < 110 else 5)
    return made + b"\1Aach\2Ulm\0" + tables


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("release", [104, 105, 108, 110, 111, 112])
def test_files_of_the_last_century_are_followed_to_their_end(
    tmp_path: Path, release: int, order: str
) -> None:
    texts = b"male\0female\0"
    if release < 108:
        labels = struct.pack(f"{order}H", 2) + b"sexes".ljust(10, b"\0")
        labels += struct.pack(f"{order}2h", 1, 2) + b"male".ljust(8) + b"female".ljust(8)
    else:
        body = struct.pack(f"{order}6i", 2, len(texts), 0, 5, 1, 2) + texts
        labels = struct.pack(f"{order}i", len(body))
        labels += b"sexes".ljust((9 if release < 110 else 33) + 3, b"\0") + body
    path = tmp_path / "p.dta"
    for tables in (b"", labels, labels * 2):
        path.write_bytes(_old(release, order, tables))
        check_whole(path)
    raw = _old(release, order, labels)
    for changed in (raw[:-1], raw[: -len(labels) + 4], raw + b"\0"):
        path.write_bytes(changed)
        with pytest.raises(InputError) as caught:
            check_whole(path)
        assert caught.value.code == "read.damaged"


@pytest.mark.parametrize("release", [108, 110, 112])
def test_zeros_behind_the_rows_are_no_tables_of_labels(tmp_path: Path, release: int) -> None:
    path = tmp_path / "p.dta"
    path.write_bytes(_old(release, "<", bytes(12)))
    with pytest.raises(InputError) as caught:
        check_whole(path)
    assert caught.value.code == "read.damaged"
