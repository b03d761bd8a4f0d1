"""Marks the long tests, and keeps the book into which they write what they found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.soak import SoakBook

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are long: that one names itself so must not be left to memory."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("soak")


@pytest.fixture(scope="session")
def book() -> Iterator[SoakBook]:
    made = SoakBook()
    yield made
    made.write()
