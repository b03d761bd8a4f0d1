"""Hierarchy files: detection, one clear sentence per fault, a round trip that loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.io.hierarchyfile import open_hierarchy, read_hierarchy, write_hierarchy
from dpdesk.io.workspace import Workspace
from tests.helpers.counting import counted_calls
from tests.helpers.searching import examples

ROWS = [["1", "0-4", "*"], ["7", "5-9", "*"]]


def save(folder: Path, content: bytes | str, name: str = "h.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "delimiter", "encoding"),
    [
        (b"1;0-4;*\n7;5-9;*\n", ";", "utf-8"),
        (b"1,0-4,*\n7,5-9,*\n", ",", "utf-8"),
        (b"1\t0-4\t*\n7\t5-9\t*\n", "\t", "utf-8"),
        (b"1;0-4;*\r\n7;5-9;*", ";", "utf-8"),
        (b"1;0-4;*\r7;5-9;*\r", ";", "utf-8"),
        (b"\xef\xbb\xbf1;0-4;*\n7;5-9;*\n\n\n", ";", "utf-8"),
        ("1;0-4;*\n7;5-9;*\n".encode("utf-16"), ";", "utf-16"),
        (b'"1";"0-4";"*"\n"7";"5-9";"*"\n', ";", "utf-8"),
    ],
)
def test_delimiter_encoding_and_line_ends_are_detected(
    tmp_path: Path, content: bytes, delimiter: str, encoding: str
) -> None:
    reading = open_hierarchy(save(tmp_path, content), "age")
    assert reading.hierarchy.rows() == ROWS
    assert reading.hierarchy.attribute == "age"
    assert (reading.delimiter, reading.encoding, reading.notes) == (delimiter, encoding, ())


def test_labels_that_hold_the_other_delimiter_are_kept(tmp_path: Path) -> None:
    assert read_hierarchy(save(tmp_path, "29;[20,30[;*\n43;>=40;*\n"), "age").rows() == [
        ["29", "[20,30[", "*"],
        ["43", ">=40", "*"],
    ]
    assert read_hierarchy(save(tmp_path, 'a;b,"x, y",*\nc,"x, y",*\n'), "x").rows() == [
        ["a;b", "x, y", "*"],
        ["c", "x, y", "*"],
    ]


def test_a_last_column_of_stars_tells_the_delimiter_of_a_single_row(tmp_path: Path) -> None:
    for name, text in (("a", "l;m,*\n"), ("b", "l,m;*\n"), ("c", "x;y,z;w,*\n")):
        path = tmp_path / f"{name}.csv"
        path.write_text(text, encoding="utf-8")
        hierarchy = read_hierarchy(path, "x")
        assert hierarchy.labels[-1] == ("*",)
        assert hierarchy.leaves == (text[:3],)


def test_quotes_after_a_delimiter_tell_it_from_another_one(tmp_path: Path) -> None:
    assert read_hierarchy(save(tmp_path, ',";0"\n'), "x").rows() == [["", ";0"]]
    text = 'a,"x;y",*\nb,"x;y",*\n'
    assert read_hierarchy(save(tmp_path, text), "x").rows() == [
        ["a", "x;y", "*"],
        ["b", "x;y", "*"],
    ]


def test_quoted_delimiters_quotes_and_line_breaks_follow_rfc_4180(tmp_path: Path) -> None:
    rows = read_hierarchy(save(tmp_path, '"a;""b""";"x\ny";*\n'), "x").rows()
    assert rows == [['a;"b"', "x\ny", "*"]]


def test_windows_1252_is_read_and_named(tmp_path: Path) -> None:
    path = save(tmp_path, "Köln;„NRW“;*\n".encode("cp1252"))
    reading = open_hierarchy(path, "city")
    assert reading.hierarchy.rows() == [["Köln", "„NRW“", "*"]]
    assert reading.encoding == "cp1252"
    assert reading.notes == ("h.csv is not UTF-8; it was read as Windows-1252.",)
    broken = save(tmp_path, "Köln;x\nBonn;y\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"h\.csv \(read as Windows-1252\): the last level has 2"):
        read_hierarchy(broken, "city")


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"", "hierarchy.empty", "the hierarchy is empty"),
        (b"\n\n", "hierarchy.empty", "the hierarchy is empty"),
        (b"\xef\xbb\xbf", "hierarchy.empty", "the hierarchy is empty"),
        (b"1;a;*\n2;*\n", "hierarchy.ragged", "row 2 (`2`): found 2 levels, expected 3"),
        (b"1;a;*\n\n2;a;*\n", "hierarchy.ragged", "row 2: found an empty line"),
        (
            b"1;a;*\n2;a;*\n1;a;*\n",
            "hierarchy.duplicate-leaf",
            "row 3: the value `1` was already given",
        ),
        (b"1;a;x;*\n2;a;y;*\n", "hierarchy.not-nested", "row 1, level 2: `a` belongs to `x` here"),
        (b"1;a\n2;b\n3;a\n", "hierarchy.no-root", "the last level has 2 values (`a`, `b`)"),
        (b"1;a;*;\n2;b;*;\n", "hierarchy.empty-label", "row 1, level 3: found nothing above `*`"),
        (b'1;"a"b;*\n', "hierarchy.quoting", "line 1: the quotes are wrong"),
        (b'1;a;*\n2;"a;*\n', "hierarchy.quoting", "line 2: the quotes are wrong"),
        (b"1;a;*\n2;a\x00;*\n", "hierarchy.nul", "line 2: found a NUL character"),
        (b"1;a;*\n2;\x81;*\n", "hierarchy.encoding", "line 2: found the byte 0x81"),
        (b"\xff\xfe1", "hierarchy.encoding", "line 1: found the byte"),
    ],
)
def test_a_bad_file_gives_one_sentence_with_file_row_and_values(
    tmp_path: Path, content: bytes, code: str, words: str
) -> None:
    path = save(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_hierarchy(path, "age")
    assert caught.value.code == code
    assert caught.value.sentence.startswith(str(path))
    assert words in caught.value.sentence
    assert caught.value.sentence.endswith(".")


def test_a_header_is_recognised_in_the_hint(tmp_path: Path) -> None:
    path = save(tmp_path, "age;five;all\n1;0-4;*\n7;5-9;*\n")
    with pytest.raises(InputError) as caught:
        read_hierarchy(path, "age")
    assert caught.value.code == "hierarchy.no-root"
    assert "Row 1 looks like column names" in caught.value.hint


def test_a_file_that_cannot_be_read_is_a_storage_error(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(StorageError) as caught:
            read_hierarchy(path, "age")
        assert caught.value.code == "hierarchy.unreadable"
        assert "cannot be read" in caught.value.sentence


def test_a_leaf_of_many_costs_no_more_to_read_than_one_of_few(tmp_path: Path) -> None:
    def calls(count: int) -> int:
        text = "".join(
            f"{n};{n // 10}*;{n // 100}**;{n // 1000}***;{n // 10000}****;*\r\n"
            for n in range(80_000, 80_000 + count)
        )
        path = save(tmp_path, text)
        return counted_calls(lambda: read_hierarchy(path, "zip"))

    assert calls(10_000) < 11 * calls(1_000)


def test_every_real_hierarchy_reads_and_survives_a_round_trip(
    real_data: Path, tmp_path: Path, keeper: Workspace
) -> None:
    files = sorted((real_data / "arx-adult").glob("*hierarchy*.csv"))
    assert len(files) == 15
    for file in files:
        hierarchy = read_hierarchy(file, "x")
        for delimiter in (";", ",", "\t"):
            write_hierarchy(hierarchy, tmp_path / "again.csv", keeper, delimiter)
            reading = open_hierarchy(tmp_path / "again.csv", "x")
            assert reading.hierarchy.rows() == hierarchy.rows()
            assert reading.delimiter == delimiter


def test_the_written_file_is_what_arx_writes(tmp_path: Path, keeper: Workspace) -> None:
    write_hierarchy(Hierarchy.from_rows("age", ROWS), tmp_path / "h.csv", keeper)
    assert (tmp_path / "h.csv").read_bytes() == b"1;0-4;*\n7;5-9;*\n"
    assert [path.name for path in tmp_path.iterdir()] == ["h.csv"]


def test_an_unknown_delimiter_is_a_programming_error(tmp_path: Path, keeper: Workspace) -> None:
    with pytest.raises(ValueError, match="delimiter"):
        write_hierarchy(Hierarchy.from_rows("age", ROWS), tmp_path / "h.csv", keeper, "|")


def test_writing_makes_the_folder_or_leaves_nothing(tmp_path: Path, keeper: Workspace) -> None:
    hierarchy = Hierarchy.from_rows("age", ROWS)
    write_hierarchy(hierarchy, tmp_path / "new" / "h.csv", keeper)
    assert read_hierarchy(tmp_path / "new" / "h.csv", "age").rows() == hierarchy.rows()
    with pytest.raises(StorageError, match=r"new/h\.csv/no/h\.csv") as caught:
        write_hierarchy(hierarchy, tmp_path / "new" / "h.csv" / "no" / "h.csv", keeper)
    assert caught.value.code == "hierarchy.unwritable"
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "h.csv"]


fields = st.text(
    st.sampled_from(list('ab;,\t"\r\n \ufeff*é')) | st.characters(codec="utf-8"), max_size=6
).map(lambda text: text.replace("\0", ""))


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    leaves = draw(st.lists(fields, min_size=1, max_size=8, unique=True))
    columns = [leaves]
    for _ in range(draw(st.integers(0, 3))):
        below = columns[-1]
        groups = {value: draw(fields.filter(bool)) for value in dict.fromkeys(below)}
        columns.append([groups[value] for value in below])
    if len(leaves) > 1 or not leaves[0] or len(columns) > 1:
        columns.append([draw(fields.filter(bool))] * len(leaves))
    return Hierarchy.from_rows("x", [list(row) for row in zip(*columns, strict=True)])


@settings(max_examples=examples(300), deadline=None)
@given(hierarchy=hierarchies(), delimiter=st.sampled_from(";,\t"))
def test_any_hierarchy_reads_back_as_it_was_written(
    hierarchy: Hierarchy,
    delimiter: str,
    tmp_path_factory: pytest.TempPathFactory,
    keeper: Workspace,
) -> None:
    path = tmp_path_factory.mktemp("h") / "h.csv"
    write_hierarchy(hierarchy, path, keeper, delimiter)
    assert read_hierarchy(path, "x").rows() == hierarchy.rows()


@settings(max_examples=300, deadline=None)
@given(content=st.binary(max_size=60) | st.text('ab;,"\n\r', max_size=30).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("h") / "h.csv"
    path.write_bytes(content)
    refusal = ""
    try:
        hierarchy = read_hierarchy(path, "x")
    except DpdeskError as error:
        refusal = error.sentence
    if refusal:
        assert refusal.startswith(str(path))
    else:
        assert Hierarchy.from_rows("x", hierarchy.rows()).labels == hierarchy.labels
