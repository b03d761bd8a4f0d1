"""The language of the window: the program's own words and those of the toolkit."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTranslator
from PySide6.QtWidgets import QApplication

from dpdesk.core.language import ENGLISH, Catalogue, languages, read_catalogue
from dpdesk.core.language.catalogue import WINDOW
from dpdesk.ui.words.numbers import tied
from dpdesk.ui.words.spoken import set_language

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
