"""Whether the first line of a text names its columns: values are no names, doubts are told."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

DOUBT = (
    "Line 1 was taken as the header, although nothing distinguishes it from a row; set `header "
    "= false` if it is one."
)
DATA = "Line 1 looks like data (it holds numbers or dates)"


def _notes(path: Path, text: str) -> tuple[bool | None, tuple[str, ...]]:
    path.write_text(text, encoding="utf-8")
    reading = preview_source(SourceSpec(path.name), path.parent).reading
    return reading.header, reading.notes


@pytest.mark.parametrize(
    "text",
    [
        "A001,2020-01-01,Smith\nA002,2020-01-02,Jones\n",
        "M;01.02.1950;Bern\nF;03.04.1961;Basel\n",
        "5%;a\n6%;b\n",
        "€ 5;a\n€ 6;b\n",
        "1'234;a\n2'000;b\n",
        "10:10;a\n11:11:11;b\n",
        "2020-01-01\n2020-01-02\n",
    ],
)
def test_dates_shares_and_amounts_are_no_names(tmp_path: Path, text: str) -> None:
    header, notes = _notes(tmp_path / "a.csv", text)
    assert header is False
    assert any(note.startswith(DATA) for note in notes)


@pytest.mark.parametrize(
    "text",
    [
        "id,Q1,M2\nx,1,2\ny,3,4\n",
        "region,sex\nnorth,m\nnorth,f\nsouth,m\nsouth,f\n",
        "region,2020-01-01,2020-02-01\nA,1,2\nB,3,4\n",
        "region,5%,10%\nA,1,2\nB,3,4\n",
        "name,born\nSmith,2020-01-02\nJones,2020-01-03\n",
    ],
)
def test_names_above_numbers_dates_or_categories_are_a_header(tmp_path: Path, text: str) -> None:
    header, notes = _notes(tmp_path / "a.csv", text)
    assert (header, [note for note in notes if note.startswith("Line 1")]) == (True, [])


CODES = [
    "h2o\nco2\nch4\n",
    "h2o,x\nco2,y\nch4,z\n",
    "B12;C13\nB13;C14\nB14;C15\n",
    "A1,north\nA2,south\nA3,north\n",
    "a1,\na2,u\na3,v\n",
]


@pytest.mark.parametrize("text", CODES)
def test_a_first_line_of_codes_as_below_is_a_row(tmp_path: Path, text: str) -> None:
    header, notes = _notes(tmp_path / "a.csv", text)
    assert header is False
    assert any("codes as the lines below do" in note for note in notes)


@pytest.mark.parametrize("text", CODES)
@pytest.mark.parametrize("names", [("substance", "place"), ("id", "x"), ("year2019", "year2020")])
def test_names_above_codes_are_a_header(tmp_path: Path, text: str, names: tuple[str, str]) -> None:
    mark = ";" if ";" in text else ","
    line = mark.join(names[: 1 + (mark in text)])
    assert _notes(tmp_path / "a.csv", f"{line}\n{text}")[0] is True


@pytest.mark.parametrize(
    "text", ["q1,q2\n1,2\n3,4\n", "id1,b2\nx1,2\ny22,3\n", "h2o,co2\n1,a1\n2,b2\n"]
)
def test_codes_above_numbers_are_names(tmp_path: Path, text: str) -> None:
    assert _notes(tmp_path / "a.csv", text)[0] is True


def test_a_header_that_nothing_tells_from_a_row_is_noted(tmp_path: Path) -> None:
    header, notes = _notes(tmp_path / "a.csv", "Anna,Ulm\nBerta,Bonn\nClara,Kiel\n")
    assert header is True
    assert DOUBT in notes


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8", "cp850", "cp1252", None])
def test_no_byte_is_left_out_at_the_beginning_and_no_end_of_file_is_a_row(
    tmp_path: Path, private_home: Path, encoding: str | None
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id\n1\n2\n3\n4\n\x1a")
    with closing(Workspace.open(private_home)) as workspace:
        spec = SourceSpec(path.name, encoding=encoding)
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.page(0, 9) == (("1",), ("2",), ("3",), ("4",))
        path.write_bytes(b"12345,2\n3,4\n")
        spec = SourceSpec(path.name, encoding=encoding, header=False)
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
        assert store.page(0, 9) == (("12345", "2"), ("3", "4"))
