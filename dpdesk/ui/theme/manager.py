"""The current theme of the application, and the switch between themes and text sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from dpdesk.ui.theme.fonts import choose_font
from dpdesk.ui.theme.look import Theme
from dpdesk.ui.theme.qss import style_sheet
from dpdesk.ui.theme.tokens import DARK, LIGHT, Tokens

MODES = ("system", "light", "dark")
TEXT_SIZES = (100, 125, 150, 200)


class ThemeManager(QObject):
    """Applies a theme to the application and tells who paints by itself.

    ``mode`` is ``"system"``, ``"light"`` or ``"dark"``. The system's wish comes from its colour
    scheme, and from the lightness of its palette where it names none.
    """

    changed = Signal(object)

    def __init__(
        self, application: QApplication, mode: str = "system", text_size: int = 100
    ) -> None:
        super().__init__(application)
        self._application = application
        self._system_dark = _palette_is_dark(application.palette())
        self._family = choose_font(application)
        self._mode = mode if mode in MODES else "system"
        self._text_size = text_size
        self._theme = self._made()
        application.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @property
    def theme(self) -> Theme:
        """The theme as it is now."""
        return self._theme

    @property
    def tokens(self) -> Tokens:
        """The colours as they are now."""
        return self._theme.tokens

    @property
    def mode(self) -> str:
        """``"system"``, ``"light"`` or ``"dark"``."""
        return self._mode

    @property
    def text_size(self) -> int:
        """The text size in percent."""
        return self._text_size

    def set_mode(self, mode: str) -> None:
        """Switch, live; ValueError for an unknown mode."""
        if mode not in MODES:
            raise ValueError(mode)
        self._mode = mode
        self.apply()

    def set_text_size(self, percent: int) -> None:
        """Make all text larger or smaller, live; from 75 to 300 percent."""
        self._text_size = min(300, max(75, percent))
        self.apply()

    def apply(self) -> None:
        """Give the application style, palette, font and style sheet, and emit ``changed``."""
        self._theme = self._made()
        application = self._application
        # Without a sheet every change below is cheap, and setting a fresh one is many times faster
        # than replacing one: a second and more for all the widgets of the window.
        application.setStyleSheet("")
        if application.style().objectName() != "fusion":
            application.setStyle(QStyleFactory.create("Fusion"))
        application.setPalette(_qt_palette(self._theme.tokens))
        application.setFont(self._theme.font())
        application.setStyleSheet(style_sheet(self._theme))
        self.changed.emit(self._theme)

    @contextmanager
    def building(self) -> Iterator[None]:
        """For making many widgets: without the sheet, to which Qt fits all of them at each step."""
        sheet = self._application.styleSheet()
        self._application.setStyleSheet("")
        try:
            yield
        finally:
            self._application.setStyleSheet(sheet)

    def detach(self) -> None:
        """Stop following the system."""
        self._application.styleHints().colorSchemeChanged.disconnect(self._on_system_changed)

    @Slot()
    def _on_system_changed(self) -> None:
        if self._mode == "system":
            self.apply()

    def _made(self) -> Theme:
        dark = self._mode == "dark" or (self._mode == "system" and self._system_wants_dark())
        return Theme(DARK if dark else LIGHT, self._text_size / 100, self._family)

    def _system_wants_dark(self) -> bool:
        scheme = QGuiApplication.styleHints().colorScheme()
        if scheme is Qt.ColorScheme.Unknown:
            return self._system_dark
        return scheme is Qt.ColorScheme.Dark


def _palette_is_dark(palette: QPalette) -> bool:
    window = palette.color(QPalette.ColorRole.Window).lightness()
    return window < palette.color(QPalette.ColorRole.WindowText).lightness()


def _qt_palette(tokens: Tokens) -> QPalette:
    palette, role = QPalette(), QPalette.ColorRole
    colours = {
        role.Window: tokens.window,
        role.WindowText: tokens.text,
        role.Base: tokens.surface,
        role.AlternateBase: tokens.sunken,
        role.Text: tokens.text,
        role.PlaceholderText: tokens.muted,
        role.Button: tokens.surface,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.fail,
        role.Highlight: tokens.selection,
        role.HighlightedText: tokens.text,
        role.Accent: tokens.accent,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        role.ToolTipBase: tokens.surface,
        role.ToolTipText: tokens.text,
        role.Light: tokens.hairline,
        role.Midlight: tokens.hairline,
        role.Mid: tokens.border,
        role.Dark: tokens.border,
        role.Shadow: tokens.sunken,
    }
    for name, colour in colours.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(tokens.disabled))
    return palette
