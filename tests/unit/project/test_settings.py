from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from dpdesk.core.errors import StorageError
from dpdesk.io.formats.databases import hosts
from dpdesk.project.roundings import Noted
from dpdesk.project.settings import (
    Settings,
    load_settings,
    save_settings,
)


def test_settings_survive_saving(tmp_path: Path) -> None:
    given = Settings("dark", 150, "geometry", "layout", ("/a", "/b"), "/folder")
    save_settings(given, tmp_path / "home")
    assert load_settings(tmp_path / "home").settings == given
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["settings.json"]


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path)
    assert loaded.settings == Settings()
    assert loaded.problem == ""


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 99}', b'{"version": true}', b"\xff\xfe", b"{}"]
)
def test_a_damaged_file_is_kept_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(content)
    loaded = load_settings(tmp_path)
    assert loaded.settings == Settings()
    assert "kept as" in loaded.problem
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [content]


def test_a_value_without_sense_is_replaced_by_its_default(tmp_path: Path) -> None:
    raw = {"version": 1, "theme": "pink", "text_size": 9000, "recent": ["/a", 3], "geometry": 1}
    (tmp_path / "settings.json").write_text(json.dumps(raw))
    assert load_settings(tmp_path).settings == Settings(recent=("/a",))


def test_an_older_version_is_migrated_step_by_step(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"version": 1, "size": 1}))
    migrations = {
        1: lambda raw: {"scale": raw["size"] + 0.25},
        2: lambda raw: {"text_size": round(raw["scale"] * 100)},
    }
    loaded = load_settings(tmp_path, version=3, migrations=migrations)
    assert loaded.settings.text_size == 125


def test_a_migration_that_fails_loses_nothing(tmp_path: Path) -> None:
    text = json.dumps({"version": 1})
    (tmp_path / "settings.json").write_text(text)
    loaded = load_settings(tmp_path, version=2, migrations={1: lambda raw: {"x": raw["gone"]}})
    assert loaded.settings == Settings()
    assert [path.read_text() for path in tmp_path.iterdir()] == [text]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a path that cannot be a folder")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StorageError, match="could not be saved"):
        save_settings(Settings(), blocked)


def test_no_small_file_of_the_home_folder_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe in its place has no writer, and what waits for one never ends."""
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "witness.jsonl"))
    noted = Noted("notes.txt", "some")
    for name in ("settings.json", hosts.FILE, "notes.txt"):
        os.mkfifo(tmp_path / name)
    assert load_settings(tmp_path).settings == Settings()
    with pytest.raises(StorageError) as damaged:
        hosts.HostList(tmp_path).load()
    assert damaged.value.code == "database-hosts.damaged"
    assert noted.count() == 0
    with pytest.raises(StorageError) as refused:
        noted.tell(1, "notes.failed", "")
    assert refused.value.code == "notes.failed"
