"""Fonts: the system's own, with the bundled DejaVu for what it lacks (or when there is none)."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

from dpdesk.core.resources import resource_files

BUNDLED_FAMILY = "DejaVu Sans"


def load_bundled_fonts() -> tuple[str, ...]:
    """Register every bundled ``.ttf``; returns the families (empty when none is bundled)."""
    families: list[str] = []
    for entry in resource_files("fonts", ".ttf"):
        number = QFontDatabase.addApplicationFontFromData(entry.read_bytes())
        families.extend(QFontDatabase.applicationFontFamilies(number) if number >= 0 else ())
    return tuple(dict.fromkeys(families))


def choose_font(application: QApplication) -> QFont:
    """The font of the window: the system's, or the bundled one on a machine without fonts."""
    had_fonts = bool(QFontDatabase.families())
    families = load_bundled_fonts()
    font = QFont(application.font())
    if not had_fonts and families:
        font.setFamily(BUNDLED_FAMILY if BUNDLED_FAMILY in families else families[0])
    elif families:
        font.setFamilies([font.family(), BUNDLED_FAMILY])
    return font
