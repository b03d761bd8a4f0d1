"""What the window wants remembered, and how it asks for that.

The storage belongs to others: they hand the window a :class:`SettingsStore`. ``StoredSettings``
makes one of any frozen dataclass with the fields of :class:`WindowSettings` and a save function;
``MemorySettings`` is one that forgets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from dpdesk.core.errors import StorageError


class WindowSettings(Protocol):
    """The fields that the window reads; ``text_size`` in percent, ``recent`` newest first."""

    @property
    def theme(self) -> str: ...  # noqa: D102 - see the class
    @property
    def text_size(self) -> int: ...  # noqa: D102
    @property
    def geometry(self) -> str: ...  # noqa: D102
    @property
    def layout(self) -> str: ...  # noqa: D102
    @property
    def recent(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def last_folder(self) -> str: ...  # noqa: D102
    @property
    def language(self) -> str: ...  # noqa: D102


class SettingsStore(Protocol):
    """Settings as they are, and a way to change some of them."""

    @property
    def current(self) -> WindowSettings:
        """The settings now."""
        ...

    def change(self, **values: object) -> None:
        """Replace these fields; a failure to save is no reason to stop, so it never raises."""
        ...


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


_Fields = TypeVar("_Fields", bound=Any)


class StoredSettings(Generic[_Fields]):
    """A store over a frozen dataclass; ``save`` writes it and may raise StorageError."""

    def __init__(self, settings: _Fields, save: Callable[[_Fields], None]) -> None:
        self._settings = settings
        self._save = save
        self.problem = ""

    @property
    def current(self) -> _Fields:
        """The settings now."""
        return self._settings

    def change(self, **values: object) -> None:
        """Replace fields and save; :attr:`problem` says why when they could not be saved."""
        self._settings = replace(self._settings, **values)
        try:
            self._save(self._settings)
            self.problem = ""
        except StorageError as error:
            self.problem = error.sentence


class MemorySettings:
    """Settings that end with the program."""

    def __init__(self, settings: PlainSettings | None = None) -> None:
        self._settings = settings or PlainSettings()

    @property
    def current(self) -> PlainSettings:
        """The settings now."""
        return self._settings

    def change(self, **values: object) -> None:
        """Replace these fields."""
        self._settings = replace(self._settings, **values)  # type: ignore[arg-type]
