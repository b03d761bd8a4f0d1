"""A computer and a release folder for each test of reviews."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.io.workspace import Workspace
from tests.helpers.review_desk import Desk, make_folder


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with_space = Workspace.open(tmp_path / "home")
    yield Desk(with_space)
    with_space.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "release")
