"""What protects a release, in a few words for the edge of the window."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Method, ReleaseFacts, WorkState
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import number_text

translate = QCoreApplication.translate
_SIGNS = {"epsilon": "ε", "rho": "ρ", "k": "k", "l": "ℓ"}
_BUDGETS = ("epsilon", "rho")


def released_words(facts: ReleaseFacts | None) -> str:
    """``ε = 0.5`` or ``k = 5`` as a release states it; empty without one."""
    stated = {} if facts is None else facts.section("guarantee").get("parameters")
    return _first(stated, tuple(_SIGNS)) if isinstance(stated, Mapping) else ""


def planned_words(method: Method | None, work: WorkState) -> str:
    """The privacy loss of a work whose method draws noise; empty for other methods."""
    if method is None or not method.capabilities.spends:
        return ""
    return _first(work.parameters, _BUDGETS) or translate("Protection", "ε not chosen")


def _first(values: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        number = exact_number(values.get(key))
        if number is not None:
            return f"{_SIGNS[key]} = {number_text(number)}"
    return ""
