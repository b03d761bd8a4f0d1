"""A folder that nothing can be written to; for the superuser no folder is so by itself."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest


def make_read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be made in the folder or below, nor renamed into it, as the system refuses it."""
    make, rename = os.mkdir, os.replace

    def check(path: object) -> None:
        if folder in Path(os.fsdecode(path)).parents:  # type: ignore[arg-type]
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def no_folder(path: object, *rest: int, **more: int) -> None:
        check(path)
        make(path, *rest, **more)  # type: ignore[arg-type]

    def no_file(source: object, target: object, **more: int) -> None:
        check(target)
        rename(source, target, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "mkdir", no_folder)
    monkeypatch.setattr(os, "replace", no_file)
