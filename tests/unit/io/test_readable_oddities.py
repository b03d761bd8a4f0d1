"""What other programs write and read: escapes, quotes not doubled, ends that break off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.reading import Reading
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

Rows = list[tuple[str, ...]]
BACKSLASH = "\\"


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def read(
    folder: Path, workspace: Workspace, text: str, encoding: str = "utf-8", **options: object
) -> tuple[tuple[str, ...], Rows, Reading]:
    (folder / "t.csv").write_bytes(text.encode(encoding))
    spec = SourceSpec("t.csv", **options)  # type: ignore[arg-type]
    store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    try:
        shown = preview_source(spec, folder)
        rows = list(store.page(0, 999))
        assert shown.problem is None
        assert [row[: len(store.columns)] for row in shown.rows[: len(rows)]] == rows
        return store.columns, rows, store.reading
    finally:
        store.close()


def refused(folder: Path, workspace: Workspace, text: str, **options: object) -> InputError:
    with pytest.raises(InputError) as caught:
        read(folder, workspace, text, **options)
    return caught.value


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_an_escape_is_found_where_nothing_else_reads_the_text(
    folder: Path, workspace: Workspace, encoding: str
) -> None:
    text = 'name;n\n"Zoë \\"Z\\" Š";1\n"a\\\\";2500\n"b;\\";c\\n";3\n'
    _, rows, reading = read_named(folder, workspace, text, encoding)
    assert rows == [('Zoë "Z" Š', "1"), ("a\\", "2500"), ('b;";c\\n', "3")]
    assert reading.escape == BACKSLASH
    assert any('`escape = ""`' in note for note in reading.notes)


def read_named(
    folder: Path, workspace: Workspace, text: str, encoding: str
) -> tuple[tuple[str, ...], Rows, Reading]:
    (folder / "t.csv").write_bytes(text.encode(encoding))
    spec = SourceSpec("t.csv", encoding=encoding)
    store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    try:
        return store.columns, list(store.page(0, 999)), store.reading
    finally:
        store.close()


def test_a_backslash_at_the_end_of_a_value_is_no_escape(folder: Path, workspace: Workspace) -> None:
    text = 'place,n\n"C:\\dir\\",1\n"D:\\",2\n"say ""\\""",3\n'
    _, rows, reading = read(folder, workspace, text)
    assert rows == [("C:\\dir\\", "1"), ("D:\\", "2"), ('say "\\"', "3")]
    assert reading.escape == ""


def test_an_escape_far_below_the_head_is_found_by_the_scan(
    folder: Path, workspace: Workspace
) -> None:
    text = "name,n\n" + "".join(f'"x{number}",{number}\n' for number in range(60_000))
    (folder / "t.csv").write_text(text + '"a\\"b, c",7\n"last",8\n')
    store = DataStore.open(SourceSpec("t.csv"), folder, workspace, CancelToken(), silent)
    assert store.page(60_000, 9) == (('a"b, c', "7"), ("last", "8"))
    assert store.reading.escape == BACKSLASH
    store.close()


def test_two_readings_of_a_backslash_that_differ_are_asked_for(
    folder: Path, workspace: Workspace
) -> None:
    text = 'a,b\n"p "q" r",1\n"x\\"y",2\n'
    error = refused(folder, workspace, text)
    assert error.code == "csv.ambiguous-escape"
    assert error.hint == 'Write `escape = "\\\\"` or `escape = ""` under [source].'
    for escape, value in ((BACKSLASH, 'x"y'), ("", 'x\\"y')):
        assert read(folder, workspace, text, escape=escape)[1] == [('p "q" r', "1"), (value, "2")]


@pytest.mark.parametrize("escape", ["", BACKSLASH])
def test_a_named_escape_is_taken_as_it_is(folder: Path, workspace: Workspace, escape: str) -> None:
    text = "a,b\nC:\\new,1\nx\\,y,2\n" if escape else "a,b\nC:\\new,1\nx\\,2\n"
    _, rows, reading = read(folder, workspace, text, escape=escape)
    assert rows == [("C:\\new", "1"), ("x,y" if escape else "x\\", "2")]
    assert reading.escape == escape


def test_quotes_that_are_not_doubled_are_kept_as_found(folder: Path, workspace: Workspace) -> None:
    text = 'name,n\n"He said "hi" there",1\n"5" pipe",2\n"plain",3\n'
    _, rows, reading = read(folder, workspace, text)
    assert rows == [('He said "hi" there', "1"), ('5" pipe', "2"), ("plain", "3")]
    assert any("not doubled" in note and "line 2" in note for note in reading.notes)


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n"x" y,1\n"z",2\n',  # the value would go on into the next line
        'a,b\n"p "q", r",1\n"z",2\n',  # three fields
        'a,b\n"x"y\n',
    ],
)
def test_quotes_of_which_two_readings_differ_are_refused(
    folder: Path, workspace: Workspace, text: str
) -> None:
    assert refused(folder, workspace, text).code in ("csv.after-quote", "csv.ragged")


TABLE = "name,age,income\nann,34,1200\nbob,41,250000\n"


@pytest.mark.parametrize("end", ["cid,2", "cid", '"ci', 'cid,"2\n'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_last_line_that_breaks_off_is_left_out_and_told(
    folder: Path, workspace: Workspace, end: str, encoding: str
) -> None:
    (folder / "t.csv").write_bytes((TABLE + end).encode(encoding))
    store = DataStore.open(SourceSpec("t.csv"), folder, workspace, CancelToken(), silent)
    assert store.page(0, 9) == (("ann", "34", "1200"), ("bob", "41", "250000"))
    assert any("line 4, breaks off" in note for note in store.reading.notes)
    assert preview_source(SourceSpec("t.csv"), folder).problem is None
    store.close()


@pytest.mark.parametrize("end", ["\x1a", "\n\x1a", "\x1a\n", "\r\n" + "\x1a" * 100, "\x1a" * 127])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "cp850", "gbk", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"]
)
def test_what_closes_a_text_of_dos_is_no_part_of_its_last_value(
    folder: Path, workspace: Workspace, end: str, encoding: str
) -> None:
    text = f"id,pay\nann,1200\nbob,250000{end}"
    if encoding.endswith(("le", "be")):
        text = "\ufeff" + text
    _, rows, reading = read(folder, workspace, text, encoding)
    assert rows == [("ann", "1200"), ("bob", "250000")]
    assert any("0x1A" in note for note in reading.notes)


@pytest.mark.parametrize("end", ["\x1a", "\n\x1a", "\x1a" * 5])
def test_so_it_is_where_ctrl_z_is_another_byte(
    folder: Path, workspace: Workspace, end: str
) -> None:
    text = f"id,pay\nann,1200\nbob,250000{end}"
    _, rows, _ = read_named(folder, workspace, text, "cp500")
    assert rows == [("ann", "1200"), ("bob", "250000")]


def test_a_byte_that_is_no_ctrl_z_in_its_encoding_stays(folder: Path, workspace: Workspace) -> None:
    for end in ("\u1a0a", "\u1a00", "\u001a\u1a1a", "\u0a1a"):
        text = f"\ufeffid;pay\nann;1200\nbob;1{end}"
        for encoding in ("utf-16-be", "utf-16-le", "utf-32-le"):
            _, rows, _ = read(folder, workspace, text, encoding)
            assert rows[1] == ("bob", f"1{end}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{long}x", 1),
        ("{long},b\n1,2\n3,4\n", 1),
        ("a,b\n1,2\n3,{long}\n5,6\n", 3),
        ('a,b\n1,2\n3,"{long}\n{long}"\n5,6\n', 3),
        ("a,b\n1,2\n3,4\n5,{long}", 4),
    ],
)
def test_lines_beyond_the_longest_that_is_read_are_refused(
    folder: Path, workspace: Workspace, text: str, line: int, encoding: str
) -> None:
    """A line is read as a whole, again and again: sixty megabytes took 1.4 GB."""
    longest = 1 << 24
    error = refused(folder, workspace, text.format(long="x" * longest), encoding=encoding)
    assert error.code == "csv.too-long"
    assert f"line {line}: " in error.sentence
    assert "longer than 16,777,216 bytes" in error.sentence


def test_a_line_of_nearly_the_longest_is_read(folder: Path, workspace: Workspace) -> None:
    long = "é" * ((1 << 23) - 2)
    _, rows, _ = read(folder, workspace, f"a,b\n1,2\n3,{long}\n")
    assert rows[1] == ("3", long)


def test_notes_below_the_table_are_left_out_and_told(folder: Path, workspace: Workspace) -> None:
    text = TABLE + '\nSource: the register\n"Note: incomes, before tax"\n'
    (folder / "t.csv").write_text(text)
    store = DataStore.open(SourceSpec("t.csv"), folder, workspace, CancelToken(), silent)
    assert store.rows == 2
    assert any("The last 2 lines, from line 5 on" in note for note in store.reading.notes)
    store.close()


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2\n3,4,5\n6,7,8\n",
        "a,b,c\n1,2,3\n4,5\n6\n",
        "a,b,c\n1,2,3\n4,5\n",
        "a,b\n1,2\n3\n",
        "a,b,c\n1,2,3\n4,5,6,7\n",
        "a,b,c\n" + "x\n" * 30,
    ],
)
def test_other_lines_of_another_width_are_refused(
    folder: Path, workspace: Workspace, text: str
) -> None:
    assert refused(folder, workspace, text).code in ("csv.ragged", "csv.preamble")


def test_surplus_fields_of_blanks_are_left_out(folder: Path, workspace: Workspace) -> None:
    columns, rows, reading = read(folder, workspace, "a,b\n1,10, ,\n2,20,, \n")
    assert (columns, rows) == (("a", "b"), [("1", "10"), ("2", "20")])
    assert any("Surplus" in note for note in reading.notes)


def test_a_header_wider_than_all_rows_loses_the_columns_without_a_name(
    folder: Path, workspace: Workspace
) -> None:
    columns, rows, _ = read(folder, workspace, "a,b,,\n1,10\n2,20\n3,30,\n")
    assert (columns, rows) == (("a", "b"), [("1", "10"), ("2", "20"), ("3", "30")])
    assert refused(folder, workspace, "a,b,,\n1,10\n2,20,x,\n").code == "csv.ragged"


@pytest.mark.parametrize(
    ("text", "key", "value", "first"),
    [
        ('a,b\n"x,1\ny,"2\nz,3\n', "quote", "", ('"x', "1")),
        ("a;b\nx;1,5\ny;2\nz;3,5\n", "delimiter", ";", ("x", "1,5")),
    ],
)
def test_a_refusal_names_the_option_that_reads_the_text(
    folder: Path, workspace: Workspace, text: str, key: str, value: str, first: tuple[str, ...]
) -> None:
    options = {"delimiter": ","} if key == "delimiter" else {}
    error = refused(folder, workspace, text, **options)
    assert error.details["set"] == ((key, value),)
    assert f'`{key} = "{value}"`' in (error.hint or "")
    assert preview_source(SourceSpec("t.csv", **options), folder).problem is not None
    assert read(folder, workspace, text, **{key: value})[1][0] == first


@pytest.mark.parametrize("quoted", ['"the ""new"" area"', '"a, b; c"'])
def test_a_delimiter_that_reads_the_header_alone_is_not_taken(
    quoted: str, tmp_path: Path, workspace: Workspace
) -> None:
    lines = ["Remarks;Type;Total, all ages", f"{quoted};A;9,004,105"]
    lines += [f"see annex;B;1,{n:03},500" for n in range(20)]
    (tmp_path / "t.csv").write_text("\n".join([*lines, "Source: the office, table 12"]) + "\n")
    spec = SourceSpec("t.csv")
    store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    try:
        assert store.columns == ("Remarks", "Type", "Total, all ages")
        assert store.rows == 21
    finally:
        store.close()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "\x1f", "\x01"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_single_quotes_around_fields_are_found_with_every_delimiter(
    folder: Path, workspace: Workspace, delimiter: str, end: str
) -> None:
    rows = [("id", "name"), ("1", "a"), ("2", "b")]
    text = "".join(delimiter.join(f"'{value}'" for value in row) + end for row in rows)
    columns, found, reading = read(folder, workspace, text)
    assert [columns, *found] == rows
    assert any("single quotes" in note for note in reading.notes)


@pytest.mark.parametrize(
    "odd", ["o'brien", "'tis", 'say "hi"', '"hi"', '5" disk', 'a,"b"', "'a','b'"]
)
@pytest.mark.parametrize("place", [0, 2])
def test_single_quotes_around_fields_are_found_whatever_marks_a_value_holds(
    folder: Path, workspace: Workspace, odd: str, place: int
) -> None:
    """One value with a mark in it left the marks of all other fields in their values."""
    rows = [("id", "name"), ("1", "a"), ("2", "b"), ("3", "")]
    rows[place] = (rows[place][0], odd)
    fields = [[value.replace("'", "''") for value in row] for row in rows]
    text = "".join(",".join(f"'{field}'" for field in row) + "\n" for row in fields)
    columns, found, reading = read(folder, workspace, text)
    assert [columns, *found] == rows
    assert any("single quotes" in note for note in reading.notes)


@pytest.mark.parametrize("line", ['"a",1', "'a,1", "'a' b,1", "'a'b',1"])
def test_single_quotes_stay_where_a_field_says_otherwise(
    folder: Path, workspace: Workspace, line: str
) -> None:
    text = f"id,n\n{line}\n'x',2\n'y',3\n"
    _, rows, reading = read(folder, workspace, text)
    assert rows[1:] == [("'x'", "2"), ("'y'", "3")]
    assert not any("single quotes" in note for note in reading.notes)


def test_single_quotes_are_found_with_a_delimiter_that_the_plan_names(
    folder: Path, workspace: Workspace
) -> None:
    columns, rows, _ = read(folder, workspace, "'id':'t'\n'1':'9:30'\n'2':'b'\n", delimiter=":")
    assert columns == ("id", "t")
    assert rows == [("1", "9:30"), ("2", "b")]


@pytest.mark.parametrize(
    ("text", "count", "line"),
    [
        ('id;name;v\n1;"a;2\n2;b;3\n3;c";4\n4;d;5\n', 1, 2),
        ('id;name;v\r\n0;z;1\r\n1;"a;2\r\n2;b";3\r\n4;d;5\r\n5;";6\r\n6;f;7\r\n7;";8\r\n', 2, 3),
        ('id;name\n1;"a\n2;b\n3;c"\n4;d\n', 1, 2),
        ('id\tname\tv\n1\tx\ta\n2\t"\tb\n3\tc\td\n4\t"\te', 1, 3),
    ],
)
def test_a_value_that_may_have_swallowed_rows_is_noted(
    folder: Path, workspace: Workspace, text: str, count: int, line: int
) -> None:
    """A quote mark at the beginning of one value and another at the end of a later one."""
    _, _, reading = read(folder, workspace, text)
    start = f"{count} row extends" if count == 1 else f"{count} rows extend"
    (note,) = (note for note in reading.notes if "extend" in note)
    assert note.startswith(start)
    assert f"line {line}." in note
    _, rows, without = read(folder, workspace, text, quote="")
    assert len(rows) == len(text.splitlines()) - 1
    assert not any("extend" in note for note in without.notes)


@pytest.mark.parametrize("between", ["", "  ", ";;", ";;;"])
@pytest.mark.parametrize("surplus", ["", ";", ";;"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_swallowed_rows_are_noted_whatever_lines_are_between_them_and_how_they_end(
    folder: Path, workspace: Workspace, between: str, surplus: str, end: str
) -> None:
    rows = ['1;"a;2', "2;b;3", '3;c";4', "4;d;5", "5;e;6"]
    lines = ["id;name;v", rows[0] + surplus, between, *(row + surplus for row in rows[1:])]
    _, found, reading = read(folder, workspace, end.join([*lines, ""]))
    assert [row[0] for row in found] == ["1", "4", "5"]
    assert any(note.startswith("1 row extends") for note in reading.notes)


@pytest.mark.parametrize(
    "text",
    [
        'id;name;v\n1;"a\n\nb";2\n2;"x; y\nz";3\n',
        'id;name\n1;"Main St; 5\n\nTown; X"\n2;b\n',
        'id;name;v\n1;"one; two\nthree; four\n";2\n2;"x";3\n',
        'id;name;v\n1;"a;2;x\n2;b";3\n4;5;6\n',
        'id;name;v\n1;"a;2;""\n2;b";3\n4;5;6\n',
    ],
)
def test_a_value_of_several_lines_that_are_no_rows_is_not_noted(
    folder: Path, workspace: Workspace, text: str
) -> None:
    _, _, reading = read(folder, workspace, text)
    assert not any("extend" in note for note in reading.notes)


@pytest.mark.parametrize(
    "text",
    [
        'id;place\n1;"Street 5\nBerlin; Mitte"\n2;b\n',
        'id;a;b\n1;"two\nlines";x\n2;c;d\n',
        'id;a;b\n1;"three\nlines; and\nmore";x\n2;c;d\n',
        'a\n"two\nlines"\n',
        'id;"a\nb";c\n1;2;3\n',
    ],
)
def test_values_of_several_lines_are_not_noted(
    folder: Path, workspace: Workspace, text: str
) -> None:
    assert not any("extend" in note for note in read(folder, workspace, text)[2].notes)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_lines_in_another_encoding_below_a_text_do_not_offer_it_for_the_whole(
    folder: Path, workspace: Workspace, encoding: str
) -> None:
    """Read as UTF-16, the lines in UTF-8 above become signs of another script."""
    content = b"id,name\n1,Mia\n" + "3,\u00c4da\n4,Bo\n".encode(encoding)
    (folder / "mixed.csv").write_bytes(content)
    with pytest.raises(InputError) as error:
        DataStore.open(SourceSpec("mixed.csv"), folder, workspace, CancelToken(), silent)
    assert error.value.details["line"] == 3
    assert "encoding" not in dict(error.value.details.get("set") or ())
