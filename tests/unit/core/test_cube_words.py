"""Which tables a plan names, in words for the trail of edits."""

from __future__ import annotations

import pytest

from dpdesk.core.cube_parameters import CuboidsParameter, PublishParameter

PUBLISH = PublishParameter("publish", "Tables to publish", "")
FORBID = CuboidsParameter("forbid", "Forbidden tables", "")


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ("all", "all"),
        ({"max_dimensions": 2}, "up to 2 dimensions"),
        ([["age", "sex"], []], "age × sex; grand total"),
        ([[f"d{i}"] for i in range(5)], "5 tables"),
    ],
)
def test_few_tables_are_named_and_many_are_counted(plain: object, words: str) -> None:
    assert PUBLISH.as_text(PUBLISH.parse(plain, "")) == words
    if isinstance(plain, list):
        assert FORBID.as_text(FORBID.parse(plain, "")) == words
