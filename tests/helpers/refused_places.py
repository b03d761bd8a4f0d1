"""Files that the disk does not let take their places."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest


def refuse_place(patch: pytest.MonkeyPatch, target: Path) -> None:
    """From now on nothing is renamed or linked to ``target``."""
    rename, link = Path.replace, os.link

    def refused(path: Path, other: Path) -> Path:
        if other == target:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, other)

    def unlinked(path: Path, other: Path) -> None:
        if Path(other) == target:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        link(path, other)

    patch.setattr(Path, "replace", refused)
    patch.setattr(os, "link", unlinked)
