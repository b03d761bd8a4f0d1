"""The window in German: longer words still fit, and each letter after Alt does one thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QLibraryInfo, QTranslator
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext
from dpdesk.core.language import read_catalogue
from dpdesk.core.language.catalogue import WINDOW
from dpdesk.core.parameters import IntegerParameter
from dpdesk.ui.charts.head import Legend
from dpdesk.ui.desk import Desk
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.release_page import PICTURE, ReleasePage
from dpdesk.ui.panels.review.scrolling import scrolled
from dpdesk.ui.shell.bars import HelpArea, PanelArea
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said
from tests.helpers.asking import ScriptedAsker
from tests.helpers.fits import misfits
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.releases import SOURCE, write_source
from tests.helpers.sample_charts import size_chart
from tests.helpers.sitting import rooms_of

STEPS = ("data", "attributes", "hierarchies", "protect", "compare", "review")
ROOMS = ((1024, 700, 100), (1280, 800, 125))


@pytest.fixture
def desk(
    qtbot: QtBot,
    tmp_path: Path,
    german: None,
    hub: JobHub,
    theme: ThemeManager,
    settings: MemorySettings,
) -> Iterator[Desk]:
    with AppContext.open(tmp_path / "home") as context:
        made = Desk(context, hub, theme, settings, ScriptedAsker())
        qtbot.addWidget(made.window)
        made.window.show()
        yield made
        hub.cancel_all()
        qtbot.waitUntil(lambda: not hub.busy and not made.protect.busy)
        made.workbench.close()


def letter(text: str) -> str:
    plain = text.replace("&&", "")
    return plain[plain.index("&") + 1].upper() if "&" in plain else ""


def twice(texts: list[str]) -> list[str]:
    """Texts whose letter another text has too."""
    count = Counter(filter(None, map(letter, texts)))
    return [text for text in set(texts) if count[letter(text)] > 1]


def visible_texts(window: QWidget) -> list[str]:
    """What is visible with a letter after Alt, each wording once."""
    buttons = [one.text() for one in window.findChildren(QAbstractButton) if seen(one, window)]
    labels = [
        one.text() for one in window.findChildren(QLabel) if one.buddy() and seen(one, window)
    ]
    return sorted({text for text in [*buttons, *labels] if letter(text)})


def seen(widget: QWidget, window: QWidget) -> bool:
    return widget.isVisible() and widget.window() is window


def test_german_words_fit_and_letters_after_alt_are_unique_in_every_step(
    qtbot: QtBot, desk: Desk, theme: ThemeManager, tmp_path: Path
) -> None:
    desk.open_text(str(write_source(tmp_path / "work")))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    bar = [action.text() for action in desk.window.menuBar().actions()]
    for step in rooms_of(qtbot, desk, theme, ROOMS, STEPS):
        assert twice([*bar, *visible_texts(desk.window)]) == [], step


def test_the_form_of_every_method_fits(
    qtbot: QtBot, desk: Desk, theme: ThemeManager, tmp_path: Path
) -> None:
    desk.open_text(str(write_source(tmp_path / "work")))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    for method in desk.workbench.context.registry:
        desk.workbench.choose_method(method)
        assert list(rooms_of(qtbot, desk, theme, [(1366, 768, 125)], ("protect",)))


def test_explanations_are_as_wide_as_their_longest_word(
    qtbot: QtBot, desk: Desk, theme: ThemeManager
) -> None:
    theme.set_text_size(200)
    desk.window.resize(1440, 900)
    area = desk.window.findChild(HelpArea)
    assert isinstance(area, HelpArea)
    area.show()
    for step in STEPS:
        desk.window.show_panel(step)

        def well(step: str = step) -> None:
            desk.window.grab()
            assert misfits(area) == [], step

        qtbot.waitUntil(well)


def test_no_panel_scrolls_sideways_beside_its_explanation(
    qtbot: QtBot, desk: Desk, theme: ThemeManager, tmp_path: Path
) -> None:
    desk.open_text(str(write_source(tmp_path / "work")))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    theme.set_text_size(200)
    desk.window.resize(1440, 900)
    explanation = desk.window.findChild(HelpArea)
    assert isinstance(explanation, HelpArea)
    explanation.show()
    desk.window.show_panel("protect")
    qtbot.waitUntil(lambda: desk.workbench.explored is not None and not desk.protect.busy)
    areas = desk.window.findChildren(PanelArea)
    for step in STEPS:
        desk.window.show_panel(step)

        def whole(step: str = step) -> None:
            desk.window.grab()
            (area,) = (each for each in areas if each.isVisible())
            assert area.horizontalScrollBar().maximum() == 0, step

        qtbot.waitUntil(whole)


def test_the_filter_of_columns_shows_all_that_it_asks_for(
    qtbot: QtBot, desk: Desk, tmp_path: Path
) -> None:
    desk.open_text(str(write_source(tmp_path / "work")))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    desk.window.resize(1100, 700)
    desk.window.show_panel("attributes")
    line = desk.attributes.filter
    qtbot.waitUntil(line.isVisible)
    desk.window.grab()
    words = line.fontMetrics().horizontalAdvance(line.placeholderText())
    assert words < line.width() - line.height()


def test_pages_of_new_work_are_in_the_language_of_the_window(
    qtbot: QtBot, desk: Desk, tmp_path: Path
) -> None:
    plan = write_source(tmp_path / "work")
    desk.open_text(str(plan))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    assert desk.workbench.work.language == "en", "as the plan says"
    with qtbot.waitSignal(desk.workbench.opened):
        desk.open_text(str(plan.parent / SOURCE))
    assert desk.workbench.work.language == "de"


@pytest.mark.parametrize(("width", "height", "percent"), [(700, 450, 100), (930, 400, 125)])
def test_the_picture_of_a_release_is_as_high_as_its_parts(
    qtbot: QtBot,
    german: None,
    hub: JobHub,
    theme: ThemeManager,
    width: int,
    height: int,
    percent: int,
) -> None:
    theme.set_text_size(percent)
    page = ReleasePage(theme, hub)
    area = scrolled(page)
    qtbot.addWidget(area)
    area.resize(width, height)
    page.show_picture(size_chart())
    page.strip.button(PICTURE).click()
    area.show()

    def well() -> None:
        area.grab()
        assert misfits(area) == []

    qtbot.waitUntil(well)


def test_long_names_in_the_key_of_a_chart_do_not_widen_it(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    long = "a name that is much longer than the room which there is for it"
    chart = size_chart()
    legend = Legend(theme.theme)
    qtbot.addWidget(legend)
    legend.show_chart(replace(chart, series=(replace(chart.series[0], name=long),)), "low")
    assert legend.minimumSizeHint().width() < legend.sizeHint().width() / 2
    assert long in legend.toolTip()


def test_letters_are_unique_in_every_german_menu(desk: Desk) -> None:
    for action in desk.window.menuBar().actions():
        menu = action.menu()
        assert isinstance(menu, QMenu)
        menu.aboutToShow.emit()
        assert twice([one.text() for one in menu.actions()]) == [], action.text()


def test_keys_are_called_in_texts_as_in_menus(german: None, qapp: QApplication) -> None:
    toolkit = QTranslator()
    assert toolkit.load("qtbase_de", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    qapp.installTranslator(toolkit)
    form = QKeySequence.SequenceFormat.NativeText
    said_keys = {
        key: QKeySequence(key).toString(form) for key in ("Ctrl+Return", "Ctrl+Shift+Z", "Space")
    }
    qapp.removeTranslator(toolkit)
    words = read_catalogue("de", (WINDOW,)).plain
    for key, text in said_keys.items():
        german_text = [words[one] for one in words if f"({key.replace('Return', 'Enter')})" in one]
        assert german_text, key
        assert all(f"({text})" in one for one in german_text), key


def test_numbers_and_sentences_of_other_layers_are_german(german: None) -> None:
    assert grouped(20_502) == "20\u202f502"
    assert (
        said(IntegerParameter("k", "", "", minimum=2, maximum=1000).range_text())
        == "eine ganze Zahl von 2 bis 1000"
    )
    assert said("No language has this sentence.") == "No language has this sentence."
