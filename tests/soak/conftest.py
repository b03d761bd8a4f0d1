"""The book into which the long tests write what they found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.soak import SoakBook


@pytest.fixture(scope="session")
def book() -> Iterator[SoakBook]:
    made = SoakBook()
    yield made
    made.write()
