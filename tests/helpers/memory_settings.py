"""Settings of the window that are written nowhere."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class PlainSettings:
    """Settings with their defaults."""

    theme: str = "system"
    text_size: int = 100
    geometry: str = ""
    layout: str = ""
    recent: tuple[str, ...] = ()
    last_folder: str = ""
    language: str = "system"


class MemorySettings:
    """Settings that end with the test."""

    def __init__(self, settings: PlainSettings | None = None) -> None:
        self._settings = settings or PlainSettings()

    @property
    def current(self) -> PlainSettings:
        """The settings now."""
        return self._settings

    def change(self, **values: object) -> None:
        """Replace these fields."""
        self._settings = replace(self._settings, **values)  # type: ignore[arg-type]
