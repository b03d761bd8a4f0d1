"""The scan and the rewriting: Python's csv module agrees, and chunks do not matter."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.plain import BLANKS
from dpdesk.io import scan
from dpdesk.io.sniff import head_records
from dpdesk.io.transcode import rewritten

FIELDS = st.text(alphabet='a é"\n\r,;\t😀', max_size=6)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=1, max_size=8)
)


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


def as_csv(table: list[list[str]], ending: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator=ending).writerows(table)
    return out.getvalue().encode()


@settings(deadline=None)
@given(TABLES, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 9), st.booleans())
def test_scan_and_rewriting_keep_every_value_for_every_chunk_size(
    table: list[list[str]], ending: str, size: int, closed: bool
) -> None:
    data = as_csv(table, ending)
    if not closed:
        data = data.removesuffix(ending.encode())
    result = scan.scan(iter(pieces(data, size)), ",", '"')
    assert (result.fault, result.records, result.fields) == (scan.NONE, len(table), len(table[0]))
    plain = b"".join(rewritten(iter(pieces(data, size)), ",", '"', len(table[0]), 0))
    assert list(csv.reader(io.StringIO(plain.decode(), newline=""))) == table


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_line_of_any_blanks_is_no_row_of_several_columns(size: int) -> None:
    ends = {chr(point) for pair in BLANKS for point in pair} - {"\r", "\n"}
    for blank in sorted(ends):
        text = (
            f"{blank}\na,b,c\n{blank}{blank} \n1,2,{blank}\n\t{blank}\n\r\n4,5,6,{blank}\n{blank}"
        )
        data = text.encode()
        found = scan.scan(iter(pieces(data, size)), ",", '"')
        assert (found.fault, found.records, found.blank_lines) == (scan.NONE, 3, 5), blank
        plain = b"".join(rewritten(iter(pieces(data, size)), ",", '"', 3, 0)).decode()
        assert plain == f'"a","b","c"\n"1","2","{blank}"\n"4","5","6"\n'
        records = [one.fields for one in head_records(text, ",", '"', 9, True)]
        assert records == [("a", "b", "c"), ("1", "2", blank), ("4", "5", "6", blank)]
    shown = scan.scan(iter(pieces("a,b\n1,2\né\n3,4\n".encode(), size)), ",", '"')
    assert (shown.fault, shown.line) == (scan.SHORT, 3)


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(1, 9))
def test_the_scan_finds_the_same_whatever_the_chunks(data: bytes, size: int) -> None:
    whole = scan.scan(iter([data]), ",", '"')
    assert scan.scan(iter(pieces(data, size)), ",", '"') == whole


@settings(deadline=None)
@given(st.binary(max_size=12))
def test_the_scan_and_python_agree_on_what_is_utf8(data: bytes) -> None:
    quiet = bytes(byte for byte in data if byte not in b'\0",\r\n')
    try:
        quiet.decode("utf-8")
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert (scan.scan(iter([quiet]), ",", '"').fault == scan.NONE) == valid


@settings(deadline=None)
@given(
    st.text(alphabet='ab \t"\r\n,\\', max_size=40),
    st.integers(1, 9),
    st.sampled_from(["", "\\"]),
)
def test_rewriting_gives_the_records_that_the_scan_counted_and_weighed(
    text: str, size: int, escape: str
) -> None:
    data = text.encode()
    result = scan.scan(iter([data]), ",", '"', escape=escape)
    assert scan.scan(iter(pieces(data, size)), ",", '"', escape=escape) == result
    if result.fault != scan.NONE or result.records == 0:
        return
    if result.tail:
        data = data[: result.tail_start]
        result = scan.scan(iter([data]), ",", '"', escape=escape)
        assert (result.fault, result.tail) == (scan.NONE, 0)
    chunks = iter(pieces(data, size))
    plain = b"".join(rewritten(chunks, ",", '"', result.fields, 0, escape))
    again = list(csv.reader(io.StringIO(plain.decode(), newline="")))
    assert len(again) == result.records
    assert {len(record) for record in again} == {result.fields}
    sizes = [sum(len(record[j]) for record in again) for j in range(result.fields)]
    assert list(result.sizes) == sizes


HEADS = st.text(alphabet='ab \t"\r\n,\\', max_size=40)


@settings(deadline=None, max_examples=300)
@given(HEADS, st.sampled_from(["", "\\"]))
def test_the_head_shows_the_rows_that_are_loaded(text: str, escape: str) -> None:
    result = scan.scan(iter([text.encode()]), ",", '"', escape=escape)
    if result.fault != scan.NONE or result.records == 0 or result.tail or result.fields == 1:
        return
    plain = b"".join(rewritten(iter([text.encode()]), ",", '"', result.fields, 0, escape))
    loaded = list(csv.reader(io.StringIO(plain.decode(), newline="")))
    shown = head_records(text, ",", '"', 99, True, escape=escape)
    assert [list(record.fields[: result.fields]) for record in shown] == loaded
