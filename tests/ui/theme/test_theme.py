"""Light and dark, live; contrast as promised; text sizes that reach every control."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QFrame,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
)
from pytestqt.qtbot import QtBot

from dpdesk.ui.theme import DARK, ICON_NAMES, LIGHT, ThemeManager, Tokens, mix, pixmap, set_look
from dpdesk.ui.widgets.states import Lines


def luminance(colour: str) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    value = QColor(colour)
    red, green, blue = (linear(part) for part in value.getRgbF()[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_reaches_four_and_a_half_to_one(tokens: Tokens) -> None:
    for ground in (tokens.window, tokens.surface, tokens.sunken, tokens.selection, tokens.hover):
        assert contrast(tokens.text, ground) >= 4.5
        assert contrast(tokens.muted, ground) >= 4.5
    for colour in (tokens.caution, tokens.fail, tokens.accent):
        assert contrast(colour, tokens.surface) >= 4.5
        assert contrast(colour, tokens.wash(colour)) >= 4.5
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_and_focus_reach_three_to_one(tokens: Tokens) -> None:
    for colour in (*tokens.series, tokens.reference, tokens.border, tokens.accent):
        assert contrast(colour, tokens.surface) >= 3.0


def strongest(image: QImage, ground: str) -> float:
    """The contrast of the pixel that stands out most."""
    colours = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
    return max(contrast(colour, ground) for colour in colours)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("look", ["panel", "card"])
def test_what_cannot_be_used_now_can_be_read(
    theme: ThemeManager, qtbot: QtBot, mode: str, look: str
) -> None:
    theme.set_mode(mode)
    window, off = QFrame(), QPushButton("MMM")
    set_look(window, look)
    off.setEnabled(False)
    QVBoxLayout(window).addWidget(off)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    words = off.grab(off.rect().adjusted(8, 4, -8, -4)).toImage()
    assert strongest(words, theme.tokens.surface if look == "card" else theme.tokens.window) >= 3


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_nothing_in_a_list_covers_the_frame_of_its_focus(
    theme: ThemeManager, qtbot: QtBot, mode: str
) -> None:
    theme.set_mode(mode)
    grid = Lines(theme, "People", "People")
    grid.setAlternatingRowColors(True)
    grid.lines.set_table(("Name", "Age"), [(f"Person {n}", n) for n in range(40)])
    qtbot.addWidget(grid)
    grid.resize(300, 400)
    with qtbot.waitExposed(grid):
        grid.show()
    grid.activateWindow()
    grid.setFocus()
    qtbot.waitUntil(grid.hasFocus)
    image = grid.grab().toImage()
    wide, high = image.width(), image.height()
    frame = [(x, y) for x in range(wide) for y in (0, 1, high - 2, high - 1)]
    frame += [(x, y) for x in (0, 1, wide - 2, wide - 1) for y in range(high)]
    assert {image.pixelColor(x, y).name().upper() for x, y in frame} == {theme.tokens.accent}


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_frames_of_the_focus_reach_three_to_one_on_every_ground(tokens: Tokens) -> None:
    for ground in (tokens.window, tokens.surface, tokens.sunken, tokens.selection, tokens.hover):
        assert contrast(tokens.accent, ground) >= 3.0
    for marks in (tokens.ramp[-1], tokens.caution, tokens.fail):
        assert contrast(marks, tokens.surface) >= 3.0


def test_switching_reaches_the_application_at_once(theme: ThemeManager, qtbot: QtBot) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    with qtbot.waitSignal(theme.changed):
        theme.set_mode("dark")
    assert theme.tokens is DARK
    window = application.palette().color(QPalette.ColorRole.Window)
    assert window.name().upper() == DARK.window
    with qtbot.waitSignal(theme.changed):
        theme.set_mode("light")
    assert DARK.surface not in application.styleSheet()


def test_an_unknown_scheme_is_read_from_the_palette(qapp: QApplication) -> None:
    before = qapp.palette()
    dark = QPalette(before)
    dark.setColor(QPalette.ColorRole.Window, QColor("#101010"))
    dark.setColor(QPalette.ColorRole.WindowText, QColor("#f0f0f0"))
    qapp.setPalette(dark)
    manager = ThemeManager(qapp, mode="system")
    assert manager.tokens is DARK
    manager.detach()
    qapp.setPalette(before)


def test_twice_the_text_size_makes_taller_controls(theme: ThemeManager, qtbot: QtBot) -> None:
    button = QPushButton("Run")
    qtbot.addWidget(button)
    button.show()
    normal = button.sizeHint().height()
    theme.set_text_size(200)
    assert button.sizeHint().height() > normal * 1.4
    assert theme.theme.row >= 40


def test_controls_are_at_least_28_pixels_high(theme: ThemeManager, qtbot: QtBot) -> None:
    button = QPushButton("Run")
    qtbot.addWidget(button)
    button.show()
    assert button.sizeHint().height() >= 28


def test_a_look_changes_the_font_of_a_label(theme: ThemeManager, qtbot: QtBot) -> None:
    label = QLabel("Data")
    qtbot.addWidget(label)
    label.show()
    set_look(label, "headline")
    assert label.font().pointSizeF() == 18
    set_look(label, "note")
    assert label.font().pointSizeF() == 10


@pytest.mark.parametrize("name", ICON_NAMES)
def test_every_icon_draws_something(name: str, qapp: QApplication) -> None:
    image = pixmap(name, "#000000").toImage()
    drawn = {image.pixelColor(x, y).alpha() for x in range(40) for y in range(40)}
    assert max(drawn) > 100


def test_an_unknown_mode_is_refused(theme: ThemeManager) -> None:
    with pytest.raises(ValueError, match="sepia"):
        theme.set_mode("sepia")


def test_mixing_ends_at_its_ends() -> None:
    assert mix("#000000", "#ffffff", 0) == "#000000"
    assert mix("#000000", "#ffffff", 1) == "#ffffff"


def test_no_state_writes_a_text_bolder_than_the_toolkit_gives_it_room(theme: ThemeManager) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    sheet = application.styleSheet()
    assert ":checked" in sheet
    rules = [rule.partition("{") for rule in sheet.split("}")]
    states = (":checked", ":hover", ":focus", ":pressed")
    bold = [
        selector.strip()
        for selector, _, inside in rules
        if "font-weight" in inside and any(state in selector for state in states)
    ]
    assert bold == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("look", ["", "primary", "quiet", "checked", "choice"])
def test_the_focus_of_a_button_reaches_three_to_one_beside_what_was_there(
    theme: ThemeManager, qtbot: QtBot, mode: str, look: str
) -> None:
    """Along its edge, pixels that change with the focus differ from what they were before."""
    theme.set_mode(mode)
    window, other = QFrame(), QPushButton("Other")
    button = QRadioButton("MMM") if look == "choice" else QPushButton("MMM")
    set_look(window, "panel")
    if look == "checked":
        button.setCheckable(True)
    elif look:
        set_look(button, look)
    button.setChecked(look in ("checked", "choice"))
    layout = QVBoxLayout(window)
    for widget in (other, button):
        layout.addWidget(widget)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)
    before = window.grab(button.geometry()).toImage()
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    after = window.grab(button.geometry()).toImage()
    middle = range(before.width() // 3, before.width() * 2 // 3)
    for rows in (range(6), range(before.height() - 6, before.height())):
        found = [
            contrast(before.pixelColor(x, y).name(), after.pixelColor(x, y).name())
            for x in middle
            for y in rows
        ]
        plain = sum(one >= 3.0 for one in found)
        assert plain >= len(middle), f"{plain} of {len(middle)} pixels stand out"


@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
@pytest.mark.parametrize("text", ["T&otals", "A&verage", "W&age", "L&ToTa"])
def test_the_end_of_a_text_with_an_underlined_letter_is_not_cut_off(
    kind: type[QAbstractButton], text: str, theme: ThemeManager, qtbot: QtBot
) -> None:
    def ink(width: int) -> int:
        """How many columns of pixels differ from the ground."""
        button.resize(width, button.sizeHint().height())
        image = button.grab().toImage()
        ground = image.pixel(image.width() - 1, 0)
        rows = range(image.height())
        return sum(any(image.pixel(x, y) != ground for y in rows) for x in range(image.width()))

    button = kind(text)
    qtbot.addWidget(button)
    button.show()
    assert ink(button.sizeHint().width()) == ink(button.sizeHint().width() + 50)
