"""What the window wants remembered, how it asks for that, and in which language it speaks.

The storage belongs to others: they hand the window a :class:`SettingsStore`. ``StoredSettings``
makes one of any frozen dataclass with the fields of :class:`WindowSettings` and a save function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTranslator
from PySide6.QtWidgets import QApplication

from dpdesk.core.errors import StorageError
from dpdesk.core.language import ENGLISH, Catalogue, languages, read_catalogue
from dpdesk.core.language.catalogue import WINDOW
from dpdesk.ui.words.numbers import tied
from dpdesk.ui.words.spoken import set_language


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


SYSTEM = "system"


def language_for(setting: str) -> str:
    """The language that a setting stands for; the system's where there are words of it."""
    known = languages()
    if setting != SYSTEM:
        return setting if setting in known else ENGLISH
    wanted = QLocale.system().name().partition("_")[0]
    return wanted if wanted in known else ENGLISH


def own_name(language: str) -> str:
    """What a language calls itself."""
    if language == ENGLISH:
        return "English"
    return QLocale(language).nativeLanguageName().capitalize()


class WindowTranslator(QTranslator):
    """Reads the words of the window from a catalogue; what it lacks stays English.

    In every language, lines do not break between a number and its sign.
    """

    def __init__(self, catalogue: Catalogue | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = {} if catalogue is None else dict(catalogue.plain)

    def isEmpty(self) -> bool:
        """Never: English words are tied too."""
        return False

    def translate(
        self,
        context: str,
        text: str | bytes,
        disambiguation: str | bytes | None = None,
        n: int = -1,
    ) -> str:
        """The translation of a literal, whatever class it stands in; None when there is none."""
        key = bytes(text).decode("utf-8") if isinstance(text, bytes) else text
        words = self._words.get(key, key)
        shown = tied(words)
        # None is what the toolkit takes for "no translation": an empty text would be shown.
        return shown if shown != key else None  # type: ignore[return-value]


def install_language(qt: QApplication, setting: str) -> str:
    """Install the translators of a setting, before any window is made; the language it means."""
    language = language_for(setting)
    set_language(language)
    if language == ENGLISH:
        qt.installTranslator(WindowTranslator(None, qt))
        return language
    toolkit = QTranslator(qt)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if toolkit.load(f"qtbase_{language}", folder):
        qt.installTranslator(toolkit)
    qt.installTranslator(WindowTranslator(read_catalogue(language, (WINDOW,)), qt))
    return language
