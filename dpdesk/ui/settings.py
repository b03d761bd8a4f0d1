"""What the window wants remembered, and how it asks for that.

The storage belongs to others: they hand the window a :class:`SettingsStore`. ``StoredSettings``
makes one of any frozen dataclass with the fields of :class:`WindowSettings` and a save function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
