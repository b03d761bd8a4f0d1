"""Every option of reading, in every format, for every method, changes what is read or is refused.

Which options, formats and methods there are is asked of the program. One that is added to it fails
here until something is found that it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import FORMATS, SourceSpec, applies, read_source, source_format
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import priced_of
from dpdesk.io import parquetload
from dpdesk.io.formats import loading
from dpdesk.io.formats.request import ReadDone, ReadRequest
from dpdesk.io.formats.worker import read_table
from dpdesk.io.private import foreign
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.odd_rows import write_frame
from tests.helpers.odd_sources import SOURCES, Keys, OddSource, postgres_source
from tests.helpers.postgres import postgres_server

OTHER_TYPES = {"person": "text", "sex": "number", "age": "number", "pay": "number"}
TRIED: dict[str, Sequence[Any]] = {
    "encoding": ["cp850"],
    "delimiter": [";"],
    "decimal": [","],
    "quote": ["'", ""],
    "escape": ["\\"],
    "header": [False],
    "skip": [1],
    "empty_rows": ["keep"],
    "allow": [["uneven-lines"], ["nul"], ["repeated-names"]],
    "missing": [["", "?"]],
    "table": ["others"],
    "query": ["SELECT * FROM data WHERE sex = 'f'"],
    "metadata": ["others.rda"],
    "catalog": ["others.sas7bcat"],
    "columns": [[{"name": "person", "start": 2, "width": 9}]],
    "widths": [[2, 3]],
    "types": [OTHER_TYPES],
    "date_order": ["dmy"],
    "coarsen": [{"age": {"top": 21}}],
    "engine": ["postgresql"],
    "items": [["f", "m"]],
}
"""Values of each option that differ from how the files below are read without it."""
MATTERS: dict[str, bytes] = {
    "quote '": b"'zz','f',21,,1.5",
    "quote ": b'"zz","f",21,,1.5',
    "escape": b"z\\,z,f,21,,1.5",
    "uneven-lines": b"zz,f,21",
    "nul": b"z\0z,f,21,,1.5",
}
"""Lines without which an option of a delimited text has nothing to change."""
ODD_ROWS = [(None, None, None, None, None), ("03/04/1980", "?", 21.0, None, 1.5)]
ODD_LINES = [b",,,,", b"03/04/1980,?,21,,1.5"]
"""As rows of values, and as lines: what the options of all formats change."""
NAMES = {source_format(SourceSpec(f"people.{name.partition('-')[0]}")): name for name in SOURCES}
NAMES |= {"fixed": "fixed", "csv": "csv"}
"""A file of each format, by its format."""
ELSEWHERE = ("spark", "jj", "baskets")
"""What no rows of people are read of: `tests/unit/io/engines` tries the options of the first, the
last tests here those of the others.
"""
JJ_FILE = "0\n3\n0 5 5 u 0 500 1 1 0\n1 7 7 s 0 500 0 0 0\n2 12 12 z 0 500 0 0 0\n1\n"
JJ_FILE += "0 3 : 0 (1) 1 (1) 2 (-1)\n"
JJ_TRIED = {
    "missing": ["5"],
    "types": {"status": "number"},
    "query": "SELECT * FROM data WHERE value <> '5'",
    "coarsen": {"value": {"top": 6}},
}


def _frame(folder: Path, rows: Sequence[Any]) -> Keys:
    write_frame(folder / "people.frame", rows)
    return {"path": "people.frame", "missing": [""], "types": dict(SOURCE_TYPES)}


SOURCE_TYPES = {"person": "text", "sex": "text", "age": "number", "born": "date", "pay": "number"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "home")
    yield opened
    opened.close()


def test_there_is_a_value_of_every_option_and_a_file_of_every_format() -> None:
    options = {item.name for item in fields(SourceSpec)} - {"path", "missing_named", "held"}
    assert options | {"widths"} == set(TRIED)
    assert {known for one in FORMATS.values() for known in one.keys} == set(TRIED)
    assert {*NAMES, "frame", "postgresql", *ELSEWHERE} == set(FORMATS)


def test_every_method_reads_in_one_of_two_ways() -> None:
    registry = default_registry()
    assert {priced_of(method) is not None for method in registry} == {True, False}


def _outcome(folder: Path, workspace: Workspace, keys: Keys, private: bool) -> object:
    """All that is read, or the code of the refusal."""
    try:
        spec = read_source(keys, "the test")
        store = DataStore.open(spec, folder, workspace, CancelToken(), silent, private=private)
        with closing(store):
            found = store.profile(CancelToken(), silent).columns
            types = [(one.type, one.missing, one.minimum, one.date_order) for one in found]
            return store.columns, store.page(0, 1_000), types, store.reading.notes, store.unreadable
    except DpdeskError as error:
        return error.code


def _read_here(request: ReadRequest, name: str, token: CancelToken, progress: object) -> ReadDone:
    """As the reading process reads; starting one for each reading would take minutes."""
    return read_table(request, lambda answer: None)


def _written(source: OddSource, folder: Path, value: str) -> Keys:
    """The keys of a file in which the option with this value has something to change."""
    rows = list(source.people())
    if not isinstance(rows[0], bytes):
        return source.write(folder, [*rows, *ODD_ROWS])
    lines = [*ODD_LINES, *([MATTERS[value]] if value in MATTERS else [])]
    if len(rows[0]) > 100:
        lines = [b"".join(cell.ljust(24)[:24] for cell in one.split(b",")) for one in lines]
    keys = source.write(folder, [*rows, *lines])
    if value == "repeated-names":
        path = folder / keys["path"]
        path.write_bytes(path.read_bytes().replace(b"born", b"sex", 1))
    return keys


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("known", [known for known in FORMATS if known not in ELSEWHERE])
def test_an_option_changes_what_is_read_or_is_refused(
    tmp_path: Path,
    workspace: Workspace,
    known: str,
    private: bool,
    request: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "read_in_process", _read_here)
    monkeypatch.setattr(foreign, "read_in_process", _read_here)
    monkeypatch.setattr(parquetload, "read_in_process", _read_here)
    if known == "postgresql":
        source = postgres_source(request.getfixturevalue("server"))
    elif known == "frame":
        source = OddSource(_frame, list)
    else:
        source = SOURCES[NAMES[known]]
    same: list[object] = []
    plain: dict[str, tuple[Keys, object]] = {}
    for key, value in [(key, value) for key, values in TRIED.items() for value in values]:
        kind = value[0] if key == "allow" else f"quote {value}" if key == "quote" else key
        matters = kind if kind in {*MATTERS, "repeated-names", "date_order"} else ""
        folder = tmp_path / f"file-{matters}"
        if matters not in plain:
            folder.mkdir()
            keys = _written(source, folder, matters)
            if key == "date_order":
                keys |= {"types": {"person": "date", "sex": "text"}, "date_order": "ymd"}
            plain[matters] = keys, _outcome(folder, workspace, keys, private)
        keys, without = plain[matters]
        found = _outcome(folder, workspace, keys | {key: value}, private)
        if not applies(key, known):
            assert found == "source.option", (key, value)
        if found == without and key != "engine":  # which says where, not what
            same.append((key, value, found))
    assert same == []


def test_an_option_changes_the_cells_of_a_jj_file_or_is_refused(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "read_in_process", _read_here)
    (tmp_path / "cells.jj").write_text(JJ_FILE, "utf-8")
    keys: Keys = {"path": "cells.jj"}
    plain = _outcome(tmp_path, workspace, keys, private=False)
    assert not isinstance(plain, str)
    assert {key for key in TRIED if applies(key, "jj")} == set(JJ_TRIED)
    for key, values in TRIED.items():
        if key in JJ_TRIED:
            found = _outcome(tmp_path, workspace, keys | {key: JJ_TRIED[key]}, private=False)
            assert found not in (plain, "source.option"), key
        else:
            refused = _outcome(tmp_path, workspace, keys | {key: values[0]}, private=False)
            assert refused == "source.option", key


@pytest.mark.parametrize("private", [False, True])
def test_an_option_changes_the_items_of_lines_or_is_refused(
    tmp_path: Path, workspace: Workspace, private: bool
) -> None:
    (tmp_path / "baskets.txt").write_bytes("tea;f,m\nm;käse,f\nf,m;tea\n".encode())
    keys: Keys = {"path": "baskets.txt", "items": ["tea", "m"]}
    keys |= {"encoding": "utf-8", "delimiter": ","}
    plain = _outcome(tmp_path, workspace, keys, private)
    assert not isinstance(plain, str)
    tried = {key: values[0] for key, values in TRIED.items()}
    tried |= {"encoding": "utf-16-le", "query": "SELECT * FROM data WHERE m = '0'"}
    for key, value in tried.items():
        found = _outcome(tmp_path, workspace, keys | {key: value}, private)
        assert found != plain, key
        if not applies(key, "baskets"):
            assert found == "source.option", key
