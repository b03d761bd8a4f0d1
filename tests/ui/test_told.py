"""What screen readers are given of every step and side window, in both languages.

The tree is asked for as the toolkit's bridge does it. No bus with AT-SPI is needed; where one runs
(``at-spi2-core``, ``QT_ACCESSIBILITY=1``), ``accerciser`` shows the same tree there.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QColor, QPalette
from PySide6.QtWidgets import QDialog, QLineEdit, QSpinBox, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.types import Role, SetRoles
from dpdesk.ui.forms.spin import UnitSlider
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.sign_dialog import SignDialog
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.base import ReadingWindow, SideWindow
from tests.helpers import cubes
from tests.helpers.events import settle
from tests.helpers.sitting import Sitting
from tests.helpers.told import faults, texts

pytestmark = pytest.mark.cheap_prints

SAMPLE = Path(__file__).parents[2] / "resources/sample"
STEPS = ("data", "attributes", "hierarchies", "protect", "compare", "review")
ASIDE = (
    *("people", "audit", "ledger", "history", "asker", "ways", "database", "browser", "fit"),
    "guide",
)
PLANS = ("private-tables.toml", "public-use-file.toml")


@pytest.fixture(params=["en", "de"])
def language(request: pytest.FixtureRequest) -> str:
    if request.param == "de":
        request.getfixturevalue("german")
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "sample"))


@pytest.fixture
def sitting(
    qtbot: QtBot, language: str, tmp_path: Path, hub: JobHub, theme: ThemeManager
) -> Iterator[Sitting]:
    with AppContext.open(tmp_path / "home") as context:
        made = Sitting(qtbot, context, hub, theme)
        yield made
        made.end()


@pytest.mark.parametrize("plan", PLANS)
def test_every_step_is_told_as_it_is_seen(sitting: Sitting, folder: Path, plan: str) -> None:
    sitting.open(folder / "plans" / plan)
    for step in STEPS:
        sitting.window.show_panel(step)
        sitting.quiet()
        settle()
        assert faults(sitting.window) == [], step


def _kinds(kind: type[QWidget]) -> Iterator[type[QWidget]]:
    """The kinds of a window that the program has."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("dpdesk."):
            yield one
        yield from _kinds(one)


def test_every_side_window_is_told_as_it_is_seen(sitting: Sitting, folder: Path) -> None:
    sitting.open(folder / "plans" / PLANS[0])
    walked = {type(getattr(sitting.desk.beside, name)) for name in ASIDE}
    assert walked == set(_kinds(SideWindow)) - {ReadingWindow}
    assert set(_kinds(QDialog)) == {SignDialog}, "test_panel_review_signing.py opens this one"
    for name in ASIDE:
        window = getattr(sitting.desk.beside, name)
        window.bring_in_front()
        sitting.quiet()
        assert faults(window) == [], name
        window.close()


ENGLISH = re.compile(
    r"\b(the|of|and|with|which|rows?|counts?|levels?|is|are|not|no|for|from|to|this|that|none|show|"
    r"cells?|columns?|values?|people|release[ds]?|tables?|files?|errors?|noise|by|each|yes|"
    r"than|only|nothing|everything|open|save|unit|kept|group|class|loss)\b",
    re.IGNORECASE,
)
NAMES = re.compile(
    r"`[^`]*`|“[^”]*”|„[^“]*“|\S*[/\\._]\S*|Register tables|dp-cube|person\b|Open[A-Z]\w+"
)
"""What stays as it is: names of columns and files, keys, the title of the plan."""


@pytest.mark.usefixtures("german")
def test_no_english_word_is_left_in_a_german_window(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager
) -> None:
    plan = cubes.write_plan(cubes.write_register(tmp_path / "work", cubes.people()))
    with AppContext.open(tmp_path / "home") as context:
        cubes.release(context, plan, tmp_path / "work/out")
        sitting = Sitting(qtbot, context, hub, theme)
        sitting.open(plan)
        assert sitting.bench.data is not None
        first, second = sitting.bench.data.columns[:2]
        sitting.bench.apply(SetRoles({first: Role.SENSITIVE, second: Role.WEIGHT}))
        assert "mehrere Rollen" in sitting.window.actions_.action("edit.undo").toolTip()
        sitting.bench.undo()
        found: dict[str, str] = {}
        windows = [(step, sitting.window) for step in STEPS]
        windows += [(name, getattr(sitting.desk.beside, name)) for name in ASIDE]
        for place, window in windows:
            if window is sitting.window:
                window.show_panel(place)
            elif place == "browser":
                window.open(tmp_path / "work/out")
            else:
                window.bring_in_front()
            sitting.quiet()
            settle()
            for text in texts(window):
                if ENGLISH.search(NAMES.sub("", text)):
                    found.setdefault(text, place)
            if window is not sitting.window:
                window.close()
        sitting.end()
    assert not found, "\n".join(f"{place}: {text}" for text, place in found.items())


def contrast(one: QColor, other: QColor) -> float:
    def light(colour: QColor) -> float:
        parts = [colour.redF(), colour.greenF(), colour.blueF()]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_tracks_of_sliders_and_examples_in_fields_stand_out(
    qtbot: QtBot, theme: ThemeManager, mode: str
) -> None:
    theme.set_mode(mode)
    window = QWidget()
    slider, line = UnitSlider(QSpinBox(window)), QLineEdit()
    line.setPlaceholderText("for instance 50")
    layout = QVBoxLayout(window)
    for widget in (slider, line):
        layout.addWidget(widget)
    qtbot.addWidget(window)
    window.resize(300, 120)
    with qtbot.waitExposed(window):
        window.show()
    settle()
    picture = window.grab().toImage()
    track = slider.mapTo(window, QPoint(slider.width() - 10, slider.height() // 2))
    beside = slider.mapTo(window, QPoint(slider.width() - 10, 2))
    assert contrast(picture.pixelColor(track), picture.pixelColor(beside)) >= 3
    palette = line.palette()
    example = palette.color(QPalette.ColorRole.PlaceholderText)
    assert example.alpha() == 255
    assert contrast(example, picture.pixelColor(line.geometry().center())) >= 4.5


def test_a_slider_says_the_value_of_its_box_with_its_unit(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    window = QWidget()
    box = QSpinBox(window)
    box.setRange(2, 40)
    box.setSuffix(" rows")
    box.setValue(5)
    slider = UnitSlider(box)
    slider.setParent(window)
    slider.setRange(0, 1000)
    slider.setValue(224)
    qtbot.addWidget(window)
    told = QAccessible.queryAccessibleInterface(slider)
    assert told.role() is QAccessible.Role.Slider
    assert told.text(QAccessible.Text.Value) == "5 rows"
    value = told.valueInterface()
    assert (value.minimumValue(), value.currentValue(), value.maximumValue()) == (2, 5, 40)
    value.setCurrentValue(7.0)
    assert box.value() == 7
    # A screen reader asks for these of whatever it comes to.
    for other in ("text", "editableText", "tableCell", "selection", "attributes"):
        assert getattr(told, f"{other}Interface")() is None
    assert told.actionInterface() is not None
