"""What the choice of levels tells of a suppressed row: counted, and said as it was counted."""

from __future__ import annotations

import pytest

from tests.tools.node_choices import OBJECTIVES, counted
from tests.tools.public_numbers import PAGE


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_true_row_is_always_among_those_that_are_left(objective: str) -> None:
    found = counted(objective, sample=23)
    assert found.tables > 10
    assert found.tables <= found.left <= found.possible
    assert found.known <= found.narrowed <= found.tables


def test_the_page_says_what_was_counted() -> None:
    """One objective is counted again; the others by ``python -m tests.tools.node_choices``."""
    found = counted("discernibility")
    row = next(line for line in PAGE.read_text("utf-8").splitlines() if "| `discern" in line)
    said = [part.strip() for part in row.split("|")[2:-1]]
    means = (f"{found.possible / found.tables:.2f}", f"{found.left / found.tables:.2f}")
    assert said == [f"{found.tables:,}", *means, f"{found.narrowed:,}", f"{found.known:,}"]
