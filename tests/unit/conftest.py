from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpdesk.io.workspace import Workspace


@pytest.fixture(scope="session")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Who minds the half-written files of the tests that write one."""
    workspace = Workspace.open(tmp_path_factory.mktemp("keeper"))
    yield workspace
    workspace.close()
