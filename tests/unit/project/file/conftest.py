from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.projects import Desk


@pytest.fixture
def desk(private_home: Path) -> Iterator[Desk]:
    made = Desk(private_home)
    yield made
    made.close()
