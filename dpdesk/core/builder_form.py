"""What a form needs to know of a hierarchy builder."""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.core.parameters import Parameter


@dataclass(frozen=True)
class BuilderForm:
    """Title, one sentence, and the typed options of a builder."""

    title: str
    summary: str
    parameters: tuple[Parameter, ...]
