"""The values with which a new user of a method begins."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.app.types import Method


def suggested_values(method: Method) -> Mapping[str, object]:
    """Plan keys with the values that the method's parameters suggest to a new user."""
    values: dict[str, object] = {}
    for parameter in method.parameters:
        suggested = getattr(parameter, "suggested", None)
        if suggested is not None:
            values[parameter.key] = parameter.as_plain(suggested)
    return values
