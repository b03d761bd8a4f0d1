from __future__ import annotations

from pathlib import Path

from dpdesk.project.file.locking import inside


def test_a_place_beside_a_folder() -> None:
    assert inside(Path("/a/b"), "../c/d.csv") == Path("/a/c/d.csv")
    assert inside(Path("/a/b"), None) is None
