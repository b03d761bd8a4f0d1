"""The bill of materials follows what is required, extras where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from types import SimpleNamespace

import pytest

from dpdesk.app.review import packing

REQUIRED = {
    "dpdesk": ["Reader[fast, big]>=3,<4", "plain==1", 'tester; extra == "test"'],
    "Reader": ['reader-fast==3; extra == "fast"', "reader-slow; extra == 'slow'", "base>1"],
    "plain": ["Reader"],
}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def found(name: str) -> object:
        if name == "absent":
            raise metadata.PackageNotFoundError(name)
        return SimpleNamespace(
            requires=REQUIRED.get(name), version="1", read_text=lambda _: f"files of {name}"
        )

    monkeypatch.setattr(metadata, "distribution", found)
    packing.components.cache_clear()
    yield
    packing.components.cache_clear()


def test_extras_are_followed_only_where_they_are_asked_for() -> None:
    names = [name for name, _, _ in packing.components()]
    assert names == ["base", "dpdesk", "plain", "reader", "reader-fast"]
    assert all(code for name, _, code in packing.components() if name != "dpdesk")
