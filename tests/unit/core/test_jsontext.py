"""What is nested too deeply is no JSON for any reader."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dpdesk
from dpdesk.core.errors import StorageError
from dpdesk.core.shapes import read_json
from dpdesk.io.formats.databases.hosts import HostList
from dpdesk.project.file.codec import CodecError
from dpdesk.project.file.locking import LockHolder, take_lock
from dpdesk.project.file.rows import _text_in

DEEP = "[" * 200_000 + "]" * 200_000
TOLD_APART = {"core/shapes.py", "io/canonical.py", "io/planfile.py"}
"""They name the fault themselves."""


def test_depth_is_a_fault_of_the_text() -> None:
    with pytest.raises(RecursionError):
        json.loads(DEEP)
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(DEEP)
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(DEEP.encode())
    assert read_json('{"a": [1]}', parse_int=str) == {"a": ["1"]}


def test_every_text_of_json_is_read_there() -> None:
    root = Path(dpdesk.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "json" in text else ():
            if isinstance(node, ast.Attribute) and node.attr in ("load", "loads", "JSONDecoder"):
                value = node.value
                if isinstance(value, ast.Name) and value.id == "json":
                    found.add(path.relative_to(root).as_posix())
            if isinstance(node, ast.ImportFrom) and node.module == "json":
                found |= {path.as_posix() for name in node.names if name.name.startswith("load")}
    assert found == TOLD_APART


def refused_hosts(home: Path) -> None:
    (home / "database-hosts.json").write_text(DEEP)
    with pytest.raises(StorageError, match="cannot be read"):
        HostList(home).load()


def refused_label(_: Path) -> None:
    with pytest.raises(CodecError):
        _text_in("\x00" + DEEP)


def unknown_holder(home: Path) -> None:
    path = home / "a.dpdesk"
    path.write_bytes(b"")
    lock = take_lock(path)
    assert not isinstance(lock, LockHolder)
    try:
        (beside,) = [one for one in home.iterdir() if one != path]
        beside.write_bytes(b" " + DEEP.encode())
        held = take_lock(path)
        assert held == LockHolder()
    finally:
        lock.release()


@pytest.mark.parametrize("reader", [refused_hosts, refused_label, unknown_holder])
def test_readers_take_it_for_damage(reader: Callable[[Path], None], tmp_path: Path) -> None:
    reader(tmp_path)
