"""The window in another language: chosen by a setting, missing words stay English."""

import subprocess
import sys

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QApplication

from dpdesk.core.language import Catalogue, voice_of
from dpdesk.ui.settings import WindowTranslator, language_for, own_name
from dpdesk.ui.words.spoken import said, set_language


@pytest.fixture
def german(qapp: QApplication):
    words = Catalogue("de", {"Open…": "Öffnen…", "{n} rows": "{n} Zeilen"})
    translator = WindowTranslator(words)
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def test_words_of_the_window_come_from_the_catalogue(german: WindowTranslator) -> None:
    assert QObject().tr("Open…") == "Öffnen…"
    assert QCoreApplication.translate("Anything", "{n} rows").format(n=3) == "3 Zeilen"


def test_words_that_the_catalogue_lacks_stay_english(german: WindowTranslator) -> None:
    assert QObject().tr("Not in it") == "Not in it"


def test_lines_of_other_layers_are_said_one_by_one(qapp: QApplication) -> None:
    line = "Fields are enclosed in single quotes ('); these were removed."
    set_language("de")
    try:
        first, own, last = said(f"{line}\nqx zw\n{line}").split("\n")
    finally:
        set_language("en")
    assert first == last == voice_of("de").say(line) != line
    assert own == "qx zw"


def test_a_setting_names_a_language_or_the_systems_and_english_stands_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from PySide6.QtCore import QLocale

    assert [language_for(code) for code in ("de", "en", "xx")] == ["de", "en", "en"]
    for name, expected in (("de_AT", "de"), ("fr_FR", "en"), ("C", "en")):
        locale = QLocale(name)
        monkeypatch.setattr(QLocale, "system", staticmethod(lambda locale=locale: locale))
        assert language_for("system") == expected


def test_languages_call_themselves_by_their_own_names() -> None:
    assert [own_name(code) for code in ("en", "de")] == ["English", "Deutsch"]


def test_an_english_window_reads_no_catalogue_and_no_library_for_them() -> None:
    code = (
        "import sys, dpdesk.ui.desk, dpdesk.ui.shell.actions as s, dpdesk.ui.settings as l;"
        "l.language_for('en'); [l.own_name(code) for code in l.languages()];"
        "print([name for name in sys.modules if name.split('.')[0] == 'babel'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
