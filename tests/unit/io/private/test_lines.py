"""Lines of a text for a private method: each by itself, whatever stands in the others."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.private.line_kernels import number_fields
from dpdesk.io.private.lines import FILLED, Grammar, TextLines, fields_of, line_codec
from dpdesk.io.sniff import head_records
from tests.helpers.searching import examples
from tests.reference.private_lines import UNREADABLE, rows_of

_SIGNS = (
    b"a",
    b"b",
    b",",
    b",",
    b'"',
    b'"',
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\t",
    b"\0",
    b"\x1a",
)
_BYTES = (
    b"\xc3\xa9",
    b"\xc3",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xe4",
    b"\xc2\xa0",
    b"\xe2\x80\x83",
    b"\xe2\x80\x8b",
    b"\x82\xa0",
    b"\x0b",
)
PIECES = st.sampled_from(_SIGNS + _BYTES)


def read(
    path: Path, data: bytes, codec: str, grammar: Grammar, width: int
) -> tuple[list[tuple[str, ...]], int]:
    path.write_bytes(data)
    lines = TextLines(path, codec, 0, CancelToken(), silent)
    rows: list[tuple[str, ...]] = []
    lost = 0
    for step in lines.split(grammar, width, range(width)):
        split = step()
        lost += split.lost
        everything = split.table()
        kept = everything.filter(everything.column(FILLED))
        rows += list(zip(*(kept.column(j).to_pylist() for j in range(width)), strict=True))
        for keep, table in ((False, kept), (True, everything)):
            seen = split.numbered(1 << 16, keep)
            assert seen is not None
            for j, (texts, numbers) in enumerate(seen):
                assert [texts[number] for number in numbers] == table.column(j).to_pylist()
                assert set(numbers) == set(range(len(texts)))
    return rows, lost


@pytest.mark.parametrize("codec", ["utf-8", "cp1252", "utf-16-le", "shift_jis", "gb18030"])
@pytest.mark.parametrize("quote", ['"', ""])
@settings(max_examples=examples(100), deadline=None)
@given(pieces=st.lists(PIECES, max_size=40), width=st.integers(1, 3))
def test_lines_are_read_as_the_slow_reader_reads_them(
    tmp_path_factory: pytest.TempPathFactory,
    codec: str,
    quote: str,
    pieces: list[bytes],
    width: int,
) -> None:
    data = b"".join(pieces)
    if codec == "utf-16-le":
        data = data.decode("latin-1").encode(codec) + (b"\x00\xd8" if b"\xff" in data else b"")
    path = tmp_path_factory.mktemp("lines") / "a.csv"
    found, lost = read(path, data, codec, Grammar(",", quote), width)
    wanted = rows_of(data, codec, ",", quote, width)
    assert found == wanted
    assert lost == wanted.count((UNREADABLE,) * width)


def test_one_line_changes_no_other_one_wherever_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.io.private.lines._BLOCK", 64)
    monkeypatch.setattr("dpdesk.io.private.lines.LONGEST_LINE", 100)
    monkeypatch.setattr("dpdesk.io.source.CHUNK", 7)
    others = [f"row {number},{'é' * (number % 9)}".encode() for number in range(40)]
    known = [tuple(one.decode().split(",")) for one in others]
    for odd in (b'"', b"x" * 1000, b"\xff", b"\0", b'a,"b', b"x" * 101 + b",y"):
        lines = [*others[:17], odd, *others[17:]]
        found, lost = read(tmp_path / "a.csv", b"\n".join(lines), "utf-8", Grammar(",", '"'), 2)
        assert found == [*known[:17], (UNREADABLE, UNREADABLE), *known[17:]], odd
        assert lost == 1


@pytest.mark.parametrize("most", [0, 1, 2, 3, 255, 256, 257, 400])
def test_fields_are_numbered_as_long_as_there_is_room_for_them(tmp_path: Path, most: int) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"".join(b'%d,"%d"\n' % (n % 300, n % 2) for n in range(900)))
    (step,) = TextLines(path, "utf-8", 0, CancelToken(), silent).split(Grammar(",", '"'), 2, (0, 1))
    assert (step().numbered(most, keep=False) is not None) == (most >= 300)


def test_a_field_of_one_byte_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"""x,1\n"x",\\,\n"\\"",","\n"\"\"\"\",2\n\xff,2\n"",2\n""")
    grammar = Grammar(",", '"', "\\")
    (step,) = TextLines(path, "utf-8", 0, CancelToken(), silent).split(grammar, 2, (0, 1))
    seen = step().numbered(1 << 16, keep=True)
    assert seen is not None
    texts = [[own[number] for number in numbers] for own, numbers in seen]
    lost = UNREADABLE
    assert texts == [["x", "x", '"', lost, lost, ""], ["1", ",", ",", lost, lost, "2"]]
    assert [numbers.tolist() for _, numbers in seen] == [[0, 0, 1, 2, 2, 3], [0, 1, 1, 2, 2, 3]]


@given(st.lists(st.tuples(st.sampled_from(["", '"']), st.integers(0, 18), st.integers(0, 2))))
def test_fields_of_any_length_are_the_same_however_they_are_written(
    tmp_path_factory: pytest.TempPathFactory, fields: list[tuple[str, int, int]]
) -> None:
    """Short ones are told by two numbers; ``changed`` is in the first or the last place."""
    texts = []
    for _, size, changed in fields:
        text = ["a"] * size
        if size and changed:
            text[(0, -1)[changed - 1]] = '"' if changed == 1 and size % 2 else "b"
        texts.append("".join(text))
    path = tmp_path_factory.mktemp("lines") / "a.csv"
    written = [
        f'{number % 2},"{text.replace(chr(34), chr(34) * 2)}"'
        if quote or '"' in text
        else f"1,{text}"
        for number, (text, (quote, _, _)) in enumerate(zip(texts, fields, strict=True))
    ]
    path.write_text("\n".join([*written, "1"]), "utf-8")
    (step,) = TextLines(path, "utf-8", 0, CancelToken(), silent).split(Grammar(",", '"'), 2, (1,))
    seen = step().numbered(1 << 16, keep=True)
    assert seen is not None
    ((own, numbers),) = seen
    assert [own[number] for number in numbers] == [*texts, UNREADABLE]
    assert len(set(own)) == len(own)


def test_a_place_for_a_field_is_not_looked_for_without_end(tmp_path: Path) -> None:
    """Where places are crowded, by chance or by design, the search ends."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"".join(b"%d\n" % n for n in range(3_000)))
    (step,) = TextLines(path, "utf-8", 0, CancelToken(), silent).split(Grammar(","), 1, (0,))
    split = step()
    given = split.data, split.words, split.firsts, split.sizes, split.marks
    for room, found in ((4096, 3_000), (2048, -1)):
        slots, single = np.zeros((1, room), np.int32), np.zeros((1, 256), np.int32)
        lines, numbers = np.empty((1, 4000), np.int64), np.empty((1, 3000), np.int32)
        packs, counts = np.empty((1, 4000, 2), np.uint64), np.zeros(1, np.int64)
        number_fields(*given, slots, single, packs, lines, numbers, counts)
        assert counts == found


@pytest.mark.parametrize("encoding", ["iso2022_jp", "hz", "utf-7", "utf-16", "utf-32"])
def test_encodings_in_which_a_line_changes_the_next_ones_are_refused(encoding: str) -> None:
    with pytest.raises(InputError) as caught:
        line_codec(encoding, "a.csv")
    assert caught.value.code in ("encoding.state", "encoding.unknown")


@pytest.mark.parametrize("end", [b"\x1a", b"\r\n\x1a", b"\x1a" * 5, b"\r\n" + b"\x1a" * 128])
def test_the_end_of_a_text_of_dos_is_no_row_and_no_value(tmp_path: Path, end: bytes) -> None:
    grammar = Grammar(",", '"', "")
    rows, lost = read(tmp_path / "t.csv", b'm,"1"\r\nf,"2"' + end, "cp1252", grammar, 2)
    assert (rows, lost) == ([("m", "1"), ("f", "2")], 0)


@pytest.mark.parametrize("escape", ["\\", ""])
def test_an_escape_protects_what_it_protects_for_other_methods(tmp_path: Path, escape: str) -> None:
    """Delimiters, quotes and itself, in quotes and outside; before a letter it is one itself."""
    lines = ["".join(signs) for n in range(1, 8) for signs in product('a\\,"', repeat=n)]
    wanted = {}
    for line in lines:
        records = list(head_records(line, ",", '"', 2, True, 1, escape))
        loose = fields_of(line, Grammar(",", '"', escape)) is None  # a quote that is not doubled
        if len(records) == 1 and len(records[0].fields) == 2 and not loose:
            wanted[line] = records[0].fields
    assert len(wanted) > 3_000
    data = "\n".join(wanted).encode()
    grammar = Grammar(",", '"', escape)
    found, lost = read(tmp_path / "a.csv", data, "utf-8", grammar, 2)
    blank = ("", "")
    assert found == [fields for fields in wanted.values() if fields != blank]
    assert lost == 0
    assert {line: fields_of(line, grammar) for line in wanted} == wanted
