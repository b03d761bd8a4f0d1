"""Any table in any encoding and dialect is read back equal, for whatever reason it is rewritten."""

from __future__ import annotations

import codecs
import csv
import io
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io import csvload
from dpdesk.io.scan import scan
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.odd_texts import OddText, odd_texts
from tests.helpers.searching import examples


def read(raw: bytes, **options: object) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Names and rows of a text, as the program reads it."""
    folder = Path(tempfile.mkdtemp())
    (folder / "odd.csv").write_bytes(raw)
    workspace = Workspace.open(folder)
    try:
        spec = SourceSpec("odd.csv", **options)  # type: ignore[arg-type]
        store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
        try:
            return store.columns, list(store.page(0, store.rows))
        finally:
            store.close()
    finally:
        workspace.close()
        shutil.rmtree(folder)


def as_python_reads(odd: OddText) -> list[tuple[str, ...]]:
    """The records as the standard library reads them, without surplus empty fields."""
    text = odd.raw.removesuffix(b"\x1a").decode(odd.encoding).removeprefix("\ufeff")
    quoting = csv.QUOTE_MINIMAL if odd.quote else csv.QUOTE_NONE
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=odd.delimiter,
        quotechar=odd.quote or None,
        quoting=quoting,
    )
    width = len(odd.names)
    records = (record for record in reader if len(record) > 1 or any(map(str.strip, record)))
    if width == 1:
        return list(odd.rows)
    return [tuple(record[:width]) for record in records][int(odd.header) :]


@settings(max_examples=examples(100), deadline=None)
@given(odd_texts())
def test_any_table_in_any_dialect_and_encoding_is_read_back_equal(odd: OddText) -> None:
    assert as_python_reads(odd) == list(odd.rows)
    names, rows = read(
        odd.raw,
        encoding=odd.encoding,
        delimiter=odd.delimiter,
        quote=odd.quote,
        header=odd.header,
        skip=0,
        escape="",
        empty_rows="keep",
    )
    assert names == odd.names
    assert rows == list(odd.rows)


ROWS = [("Zoë Šimková", "250000"), ("Åse Ødegård", "180000"), ("Łukasz Żółć", "999999")]
REASONS = {
    "a blank line": lambda line: f"name;income\n\n{line}\n",
    "a line of no-break spaces": lambda line: f"name;income\n\u00a0 \u00a0\n{line}\n\u00a0",
    "line ends in quotes": lambda line: f'name;income\r\n"é\né";1\r\n{line}\r\n',
    "surplus delimiters": lambda line: f"name;income\né;1;;\n{line}",
    "other quotes": lambda line: f"name;income\n'é;é';1\n{line}",
    "mixed line ends": lambda line: f"name;income\ré;1\r\n{line}",
    "marks inside values": lambda line: f'name;income\né"é;1\n{line}',
}


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("encoding", ["cp1250", "iso8859-2", "utf-16", "gb18030", "mac-latin2"])
def test_the_last_characters_survive_every_rewriting(reason: str, encoding: str) -> None:
    lines = [";".join(row) for row in ROWS if _fits(row[0], encoding)] or ["Z\u00e9;123456"]
    quote = "'" if reason == "other quotes" else '"'
    text = REASONS[reason]("\n".join(lines))
    _, rows = read(text.encode(encoding), encoding=encoding, quote=quote, delimiter=";")
    assert rows[-len(lines) :] == [tuple(line.split(";")) for line in lines]


def _fits(text: str, encoding: str) -> bool:
    try:
        return bool(text.encode(encoding))
    except UnicodeEncodeError:
        return False


@settings(deadline=None)
@given(odd_texts())
@example(OddText("é\n".encode(), "utf-8", ",", "", False, ("column_1",), (("é",),)))
def test_the_scan_weighs_every_column(odd: OddText) -> None:
    text = odd.raw.removesuffix(b"\x1a").decode(odd.encoding).removeprefix("\ufeff")
    found = scan(iter([text.encode()]), odd.delimiter, odd.quote, 1, odd.header)
    for j in range(len(odd.names)):
        sizes = [len(row[j].encode()) for row in odd.rows]
        assert found.sizes[j] == sum(sizes)
        assert found.weighted[j] == sum(number * size for number, size in enumerate(sizes, 1))


FAULTS = {
    "the end is cut": lambda text: text[:-4] + b'"\n',
    "a letter is lost": lambda text: text.replace(b"Zo", b"Z", 1),
    "two rows change places": lambda text: b"\n".join(_swapped(text.splitlines())) + b"\n",
    "two values change places": lambda text: text.replace(b'"ab","c"', b'"c","ab"', 1),
}


def _swapped(lines: list[bytes]) -> list[bytes]:
    return [lines[1], lines[0], *lines[2:]]


@pytest.mark.parametrize("fault", FAULTS)
def test_what_the_rewriting_loses_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write = csvload.write_file

    def faulty(chunks, path):  # type: ignore[no-untyped-def]
        text = b"".join(bytes(chunk) for chunk in chunks)
        if path.suffix == ".csv":
            text = FAULTS[fault](text)
        write(iter([text]), path)

    monkeypatch.setattr(csvload, "write_file", faulty)
    text = "name;income\n\nZoé;1\nab;c\nx;999999"
    with pytest.raises(InputError) as caught:
        read(text.encode("cp1252"), encoding="cp1252", delimiter=";")
    assert caught.value.code in ("read.disagreement", "read.damaged")


def test_a_mark_without_a_name_in_the_plan_is_known() -> None:
    raw = codecs.BOM_UTF16_BE + "a,b\n\né,2500".encode("utf-16-be")
    assert read(raw) == (("a", "b"), [("é", "2500")])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text("éöa1", min_size=1, max_size=5), min_size=1, max_size=5))
def test_guessed_encodings_lose_no_letter(texts: list[str]) -> None:
    raw = ("text,number\n\n" + "".join(f"Möhre {text},12345\n" for text in texts)).encode("cp1252")
    _, rows = read(raw)
    assert [len(row[0]) for row in rows] == [len(f"Möhre {text}") for text in texts]
    assert {row[1] for row in rows} == {"12345"}
