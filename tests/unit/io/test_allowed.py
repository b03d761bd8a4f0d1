"""Texts that are refused, each with an option that reads it; what the plan allows is read so."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io import remedies
from dpdesk.io.preview import preview_source
from dpdesk.io.reading import Reading
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

from .nasty_expectations import REFUSED

NO_TABLE = {
    "csv.empty",  # nothing is there
    "csv.not-text",  # an archive, or a web page
}
"""Refusals that no option can lift."""
A_NAME_ALONE = "rvl/encoding_nul_first8k.csv"


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


Read = tuple[tuple[str, ...], list[tuple[str, ...]], Reading]


def read(path: Path, workspace: Workspace, options: Mapping[str, Any]) -> Read:
    spec = SourceSpec(path.name, **options)
    store = DataStore.open(spec, path.parent, workspace, CancelToken(), silent)
    try:
        return store.columns, list(store.page(0, store.rows)), store.reading
    finally:
        store.close()


def named(error: InputError) -> dict[str, Any] | None:
    """The option that a refusal names, by its details; None when it names none."""
    found = error.details
    if isinstance(found.get("set"), tuple):
        return dict(found["set"])
    if isinstance(found.get("skip"), int):
        return {"skip": found["skip"]}
    if error.code == "csv.no-rows":
        return {"header": False}
    if isinstance(found.get("delimiters"), list):
        return {"delimiter": found["delimiters"][0]}
    return None


def read_as_told(path: Path, workspace: Workspace) -> tuple[dict[str, Any], Read]:
    """Read a text, and set what each refusal names until it is read."""
    options: dict[str, Any] = {}
    refused: list[InputError] = []
    while len(refused) < 5:
        try:
            return options, read(path, workspace, options)
        except InputError as error:
            refused.append(error)
        more = named(refused[-1])
        line = refused[-1].line
        assert more is not None, (options, line)
        assert any(options.get(key) != value for key, value in more.items()), line
        assert all(f"`{key}" in (refused[-1].hint or "") for key in more), line
        options |= more
    raise AssertionError(options)


def independent(path: Path, found: Reading, options: Mapping[str, Any]) -> list[list[str]]:
    """The records by another reader, told of the same marks; no blank lines."""
    text = path.read_bytes().decode(found.encoding).removeprefix("\ufeff")
    text = text.replace("\0", "\ufffd") if "nul" in options.get("allow", ()) else text
    lines = text.splitlines(keepends=True)[found.skip :]
    if lines[0].startswith("sep="):
        lines = lines[1:]
    reader = csv.reader(
        lines,
        delimiter=found.delimiter,
        quotechar=found.quote or None,
        quoting=csv.QUOTE_MINIMAL if found.quote else csv.QUOTE_NONE,
        escapechar=found.escape or None,
    )
    return [record for record in reader if record]


def same(loaded: Read, records: list[list[str]]) -> None:
    names, rows, found = loaded
    if found.header:
        records = records[1:]
    width = len(names)
    assert all(not any(record[width:]) for record in records)
    padded = [tuple((record + [""] * width)[:width]) for record in records]
    assert rows == padded


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, (code, _) in REFUSED.items()
        if code not in NO_TABLE and name not in (A_NAME_ALONE, "rvl/README.md")
    ],
)
def test_the_option_that_a_refusal_names_reads_the_text(
    real_data: Path, workspace: Workspace, name: str
) -> None:
    path = real_data / "nasty-csv" / name
    try:
        options, loaded = read_as_told(path, workspace)
    finally:
        workspace.close()
    assert options
    records = independent_of_mark(path, loaded[2], options)
    same(loaded, records)


def independent_of_mark(path: Path, found: Reading, options: Mapping[str, Any]) -> list[list[str]]:
    """As :func:`independent`, for texts behind a byte order mark that says something else too."""
    raw = path.read_bytes()
    for mark in (b"\xff\xfe", b"\x00\x00\xfe\xff"):
        if raw.startswith(mark):
            text = raw[len(mark) :].decode(found.encoding)
            return [line.split(found.delimiter) for line in text.splitlines() if line]
    return independent(path, found, options)


@pytest.mark.parametrize("delimiter", [":", "~", "#", " "])
def test_a_delimiter_that_is_never_guessed_is_named_where_it_splits_every_line(
    tmp_path: Path, workspace: Workspace, delimiter: str
) -> None:
    rows = [("Boots,warm", "1"), ("Hat", "2"), ("Coat,long,blue", "3")]
    text = "".join(delimiter.join(row) + "\n" for row in [("what", "n"), *rows])
    (tmp_path / "t.csv").write_text(text, "utf-8")
    options, (names, found, _) = read_as_told(tmp_path / "t.csv", workspace)
    assert (options, names, found) == ({"delimiter": delimiter}, ("what", "n"), rows)


MARKS = st.sampled_from(["a", "é", "7", " ", ",", ",", ";", '"', "'", "\\", "\n", "\n", "\0", "\t"])
"""What texts of all kinds of faults are made of."""


@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(MARKS, min_size=4, max_size=60), st.sampled_from(["utf-8", "cp1252"]))
def test_every_broken_text_with_rows_is_read_with_the_options_that_are_named(
    tmp_path: Path, workspace: Workspace, text: str, encoding: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("name,n\n" + text + "\nx,1\n").encode(encoding))
    options, (_, rows, _) = read_as_told(path, workspace)
    assert rows
    shown = preview_source(SourceSpec(path.name, **options), tmp_path)
    assert shown.problem is None


@pytest.mark.parametrize("end", [b"", b"\n1,2\n"])
def test_nothing_is_tried_with_a_file_of_nuls(
    end: bytes, tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[object] = []
    likely = remedies._likely

    def counted(*given: Any) -> Iterator[Any]:
        looked_at.append(given)
        return likely(*given)

    monkeypatch.setattr(remedies, "_likely", counted)
    (tmp_path / "nuls.csv").write_bytes(b"\0" * 5_000 + end)
    with pytest.raises(InputError, match="found a NUL byte") as refused:
        read(tmp_path / "nuls.csv", workspace, {})
    assert "may be binary" in (refused.value.hint or "")
    assert not looked_at
    (tmp_path / "one.csv").write_bytes(b"a,b\n1,\0\n2,3\n")
    with pytest.raises(InputError, match="found a NUL byte"):
        read(tmp_path / "one.csv", workspace, {})
    assert looked_at
