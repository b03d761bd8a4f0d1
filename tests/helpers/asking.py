"""A person who answers file choosers, for tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.ui.files import with_ending


@dataclass
class ScriptedAsker:
    """Gives ``answer`` to whatever is asked next and notes the questions; None: changed my mind."""

    answer: Path | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def open_file(self, title: str, folder: str, filters: str) -> Path | None:
        """See FileAsker."""
        return self._noted(title, folder)

    def open_folder(self, title: str, folder: str) -> Path | None:
        """See FileAsker."""
        return self._noted(title, folder)

    def save_file(
        self, title: str, suggestion: str, filters: str, endings: tuple[str, ...] = ()
    ) -> Path | None:
        """See FileAsker."""
        given = self._noted(title, suggestion)
        return None if given is None else with_ending(given, endings)

    def new_file(self, title: str, suggestion: str, filters: str) -> Path | None:
        """See FileAsker."""
        return self._noted(title, suggestion)

    def _noted(self, title: str, folder: str) -> Path | None:
        self.asked.append((title, folder))
        given, self.answer = self.answer, None
        return given
