"""A guarantee in words: what is claimed, what it assumes, what it does not cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """Claim, assumptions and limits of a release, filled from the checked result.

    ``model`` names the formal model (for instance ``"k-anonymity"``), ``parameters`` its numbers as
    JSON values, ``claim`` is one plain sentence; ``assumes`` and ``not_covered`` are sentences.
    """

    model: str
    parameters: Mapping[str, object]
    claim: str
    assumes: tuple[str, ...]
    not_covered: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """The form in which manifests carry it."""
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "claim": self.claim,
            "assumes": list(self.assumes),
            "does_not_cover": list(self.not_covered),
        }
