"""The cache of compiled kernels: what goes wrong with it costs time, never the work."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.core import compiled
from dpdesk.core.compiled import _ForgivingCache


def test_a_kernel_is_compiled_once_whatever_literals_another_hands_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "caches_of", lambda function: ())

    @compiled.kernel
    def after(value: int) -> int:
        return value + 1

    @compiled.kernel
    def added(steps: int) -> int:
        total = 0
        for _ in range(steps):
            total += after(total)
        return total + after(3)

    assert added(2) == 7
    assert len(after.signatures) == 1  # type: ignore[attr-defined]


class Cache:
    """A cache of numba on a disk that refuses."""

    cache_path = "here"

    def __init__(self) -> None:
        self.flushed = 0

    def load_overload(self, signature: object, context: object) -> object:
        raise EOFError("Ran out of input")

    def save_overload(self, signature: object, data: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        self.flushed += 1


def test_a_damaged_cache_is_emptied_and_the_kernel_compiled_again() -> None:
    inner = Cache()
    assert _ForgivingCache(inner).load_overload("int64(int64)", None) is None
    assert inner.flushed == 1


def test_a_full_disk_only_keeps_the_kernel_from_being_kept() -> None:
    inner = Cache()
    _ForgivingCache(inner).save_overload("int64(int64)", b"code")
    assert inner.flushed == 0


def test_numba_asks_the_cache_for_the_rest_itself() -> None:
    assert _ForgivingCache(Cache()).cache_path == "here"


START = "from dpdesk.core.compiled import _same, caches_of, start; start(); "


def started(home: Path, then: str, **others: str) -> str:
    """What a process of its own says after it has loaded a kernel."""
    kept = {name: value for name, value in os.environ.items() if name != "DPDESK_CACHE"}
    done = subprocess.run(
        [sys.executable, "-c", START + then],
        env=kept | {"DPDESK_HOME": str(home)} | others,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.strip()


HITS = "print(sum(_same.stats.cache_hits.values()), len(caches_of(_same.py_func)))"


def test_kernels_are_kept_in_the_home_folder_which_only_its_user_may_enter(tmp_path: Path) -> None:
    home = tmp_path / "above" / "home"
    for kept in (Path(compiled.__file__).parent / "__pycache__").glob("compiled._same*"):
        kept.unlink()  # else the program's own folder has it, and nothing is compiled
    started(home, "")
    assert list((home / "cache" / "kernels").rglob("*.nbi"))
    assert home.stat().st_mode & 0o777 == 0o700
    assert started(home, HITS) == "1 2"


def test_a_new_home_folder_need_not_wait_for_the_compiler(tmp_path: Path) -> None:
    started(tmp_path / "first", "")
    assert started(tmp_path / "second", HITS) == "1 2"


def test_without_a_home_folder_that_can_be_written_kernels_run_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, no folder")
    assert started(tmp_path / "home", "print(_same(7), " + HITS[6:]).startswith("7 1")


def test_a_named_cache_is_the_only_one(tmp_path: Path) -> None:
    named = str(tmp_path / "named")
    assert started(tmp_path / "home", HITS, DPDESK_CACHE=named) == "0 1"
    assert started(tmp_path / "home", HITS, DPDESK_CACHE=named) == "1 1"
    assert not (tmp_path / "home").exists()


CALLER = """from dpdesk.core.compiled import kernel
from called import FACTOR, called

@kernel
def calling(value: int) -> int:
    return FACTOR * called(value)

print(calling(3), sum(calling.stats.cache_hits.values()))
"""
CALLED = """from dpdesk.core.compiled import kernel

FACTOR = {factor}

@kernel
def called(value: int) -> int:
    return value + {more}
"""


def test_a_kernel_is_compiled_again_when_what_it_calls_in_another_file_changes(
    tmp_path: Path,
) -> None:
    told = []
    steps = (("here", 1, 1), ("here", 1, 22), ("here", 100, 22), ("there", 1, 1))
    for name, factor, more in steps:  # the last is another copy of the first
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "called.py").write_text(CALLED.format(factor=factor, more=more))
        (folder / "calling.py").write_text(CALLER)
        path = {"PYTHONPATH": os.pathsep.join((str(folder), *sys.path))}
        named = str(tmp_path / "kernels")
        told.append(started(tmp_path / "home", "import calling", **path, DPDESK_CACHE=named))
    assert told == ["4 0", "25 0", "2500 0", "4 1"]
