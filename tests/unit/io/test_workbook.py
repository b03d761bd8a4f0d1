"""Excel books on a disk that takes only so much."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpdesk.io.tablewriters import new_workbook

resource = pytest.importorskip("resource", reason="limits of file sizes by a Unix call")


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write(path: Path, scratch: Path, constant: bool) -> None:
    options = {"constant_memory": constant, "in_memory": not constant, "tmpdir": str(scratch)}
    with new_workbook(path, options) as book:
        for name in ("One", "Two"):
            sheet = book.add_worksheet(name)
            for row in range(100):
                sheet.write_string(row, 0, f"text {row}")


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("size", [0, 1, 40, 500, 1500, 3000, 5000])
def test_what_the_disk_refuses_is_an_error_of_the_system_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, constant: bool
) -> None:
    strays: list[sys.UnraisableHookArgs] = []
    monkeypatch.setattr(sys, "unraisablehook", strays.append)
    with files_up_to(size), pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        write(tmp_path / "a.xlsx", tmp_path, constant)
    gc.collect()
    assert [one.exc_type for one in strays if one.exc_type is not ResourceWarning] == []


def test_a_book_that_fits_is_whole(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write(tmp_path / "a.xlsx", tmp_path, constant=True)
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert [sheet.title for sheet in book] == ["One", "Two"]
    assert book["Two"].cell(100, 1).value == "text 99"
    assert [path.name for path in tmp_path.iterdir()] == ["a.xlsx"]


def spoilt(path: Path) -> None:
    with new_workbook(path, {"constant_memory": True}) as book:
        book.add_worksheet("One")
        raise ValueError("no")


def test_a_block_that_fails_raises_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"):
        spoilt(tmp_path / "a.xlsx")
