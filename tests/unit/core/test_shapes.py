"""Shapes of JSON values: what is of another one is never taken for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpdesk.core.shapes import as_float, as_list, as_table


def test_values_of_the_right_shape_pass() -> None:
    assert as_table({"a": 1}) == {"a": 1}
    assert as_list((1, 2)) == as_list([1, 2]) == [1, 2]
    assert as_float(3) == 3.0


@pytest.mark.parametrize(
    ("reading", "value"),
    [(as_table, []), (as_table, None), (as_list, "ab"), (as_list, {}), (as_float, "1")],
)
def test_others_raise(reading: Callable[[object], object], value: object) -> None:
    with pytest.raises(TypeError, match="expected a"):
        reading(value)
