"""Files that must be new: what another program puts in their place meanwhile stays."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.safewrite import replacing, together, write_text
from dpdesk.io.workspace import Workspace

NO_SECOND_NAMES = [False, True]
"""Whether the disk knows no second name of a file."""


@pytest.fixture(params=NO_SECOND_NAMES)
def keeper(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    if request.param:
        monkeypatch.setattr(os, "link", refuse)
    return Workspace.open(tmp_path / "home")


def test_a_file_that_came_meanwhile_stays(keeper: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"

    def write() -> None:
        with replacing(target, keeper, new=True) as fresh:
            fresh.write_text("ours", "utf-8")
            target.write_text("theirs", "utf-8")

    with pytest.raises(InputError) as refused:
        write()
    assert refused.value.line.startswith(f"{target}: the file already exists")
    assert target.read_text("utf-8") == "theirs"
    with pytest.raises(StorageError):
        write_text(target, "ours", "any", keeper, new=True)
    write_text(target, "theirs", "any", keeper, new=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "out.csv"]


@pytest.mark.parametrize("empty", [False, True])
def test_an_empty_file_is_no_loss_and_permissions_are_as_ever(
    keeper: Workspace, tmp_path: Path, empty: bool
) -> None:
    for private, mode in ((False, 0o644), (True, 0o600)):
        target = tmp_path / f"{mode:o}.csv"
        if empty:
            target.touch(mode)
        with replacing(target, keeper, new=True, private=private) as fresh:
            fresh.write_text("ours", "utf-8")
        facts = target.stat()
        assert (target.read_text("utf-8"), facts.st_mode & 0o777, facts.st_nlink) == (
            "ours",
            mode,
            1,
        )


def test_where_one_of_several_is_taken_none_is_left(keeper: Workspace, tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"

    def write() -> None:
        with together(keeper) as begin:
            for target in (first, second):
                begin(target, new=True).write_text("ours", "utf-8")
            first.write_text("theirs", "utf-8")

    with pytest.raises(InputError, match="already exists"):
        write()
    assert first.read_text("utf-8") == "theirs"
    assert not second.exists()


@pytest.mark.parametrize("there", [("a.csv", "b.csv"), ("a.csv",), ("b.csv",), ()])
def test_where_one_of_several_fails_all_are_as_they_were(
    keeper: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...]
) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for name in there:
        (tmp_path / name).write_text(f"old {name}", "utf-8")
    usual = Path.replace

    def fails_once(self: Path, target: Path) -> Path:
        if self.name == first.name and target == first:
            monkeypatch.setattr(Path, "replace", usual)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return usual(self, target)

    def write() -> None:
        with together(keeper) as begin:
            for target in (first, second):
                begin(target).write_text("new", "utf-8")

    monkeypatch.setattr(Path, "replace", fails_once)
    with pytest.raises(StorageError):
        write()
    found = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.csv")}
    assert found == {name: f"old {name}" for name in there}
    write()
    assert {path.read_text("utf-8") for path in (first, second)} == {"new"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "home"]
