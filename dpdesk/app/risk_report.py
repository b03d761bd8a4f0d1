"""Risk figures as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RiskReport:
    """Risk figures as JSON values.

    ``subject`` is ``"plan"`` or ``"release"``. ``risk`` is what the method says (``before`` and
    ``after``); of a release it comes from its internal part and is empty without one. ``counted``
    are figures counted now from the published table; empty for a plan.
    """

    subject: str
    name: str
    method: str
    guarantee: Mapping[str, object]
    result: Mapping[str, object]
    risk: Mapping[str, object]
    counted: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The object that ``risk --json`` prints."""
        return {
            "subject": self.subject,
            "name": self.name,
            "method": self.method,
            "guarantee": dict(self.guarantee),
            "result": dict(self.result),
            "risk": dict(self.risk),
            "counted": dict(self.counted),
        }
