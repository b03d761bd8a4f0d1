"""The palette as values: every colour of the window comes from here.

Text reaches 4.5:1 and marks 3:1 against their surface; series and status colours stay apart for
people with normal and with colour-deficient sight (checked when the palette was chosen).
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from dpdesk.core.charts import SeriesStyle


@dataclass(frozen=True)
class Tokens:
    """Named colours, each as ``#RRGGBB``; ``ramp`` goes from low to high error."""

    name: str
    window: str
    surface: str
    sunken: str
    text: str
    muted: str
    border: str
    hairline: str
    accent: str
    on_accent: str
    caution: str
    fail: str
    series: tuple[str, str, str, str]
    reference: str
    ramp: tuple[str, str, str, str, str, str]

    @property
    def dark(self) -> bool:
        """Whether light text stands on a dark ground."""
        return QColor(self.window).lightness() < 128

    @property
    def selection(self) -> str:
        """Ground of selected rows: a hint of the accent, so that text keeps its contrast."""
        return mix(self.surface, self.accent, 0.2 if self.dark else 0.14)

    @property
    def hover(self) -> str:
        """Ground of a control under the pointer."""
        return mix(self.surface, self.accent, 0.1 if self.dark else 0.07)

    @property
    def disabled(self) -> str:
        """Text of a control that cannot be used now."""
        return mix(self.surface, self.muted, 0.76)

    def wash(self, colour: str) -> str:
        """A light ground in the direction of a status colour."""
        return mix(self.surface, colour, 0.1 if self.dark else 0.06)


LIGHT = Tokens(
    name="light",
    window="#F5F6F8",
    surface="#FFFFFF",
    sunken="#ECEEF2",
    text="#1B1F24",
    muted="#59616D",
    border="#767E8B",
    hairline="#D5D9E0",
    accent="#1F5FA8",
    on_accent="#FFFFFF",
    caution="#9A6700",
    fail="#8C1D18",
    series=("#1A8CE8", "#D96A10", "#05482F", "#571769"),
    reference="#68707D",
    ramp=("#F3EFF7", "#D8C8E8", "#B395D1", "#8A61B4", "#5E3391", "#3B1A66"),
)

DARK = Tokens(
    name="dark",
    window="#16191D",
    surface="#1E2227",
    sunken="#121418",
    text="#E8EAED",
    muted="#A3ABB6",
    border="#6E7784",
    hairline="#343A42",
    accent="#6FAEEB",
    on_accent="#1B1F24",
    caution="#F5C04A",
    fail="#F0736A",
    series=("#2C74A1", "#F2842E", "#58D39C", "#CB82EE"),
    reference="#9AA3AF",
    ramp=("#2A2433", "#46355F", "#6B4C96", "#A383CF", "#C6A9E9", "#E6D3F7"),
)


@dataclass(frozen=True)
class Space:
    """Distances in pixels at 100 %; nothing in between is used."""

    xs: int = 4
    s: int = 8
    m: int = 12
    l: int = 16  # noqa: E741 - sizes are called xs, s, m, l, xl
    xl: int = 24
    target: int = 28


SPACE = Space()


def mix(ground: str, colour: str, share: float) -> str:
    """``ground`` with this share of ``colour`` over it, as ``#rrggbb``."""
    a, b = QColor(ground), QColor(colour)
    parts = (
        round(low + (high - low) * share)
        for low, high in ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    )
    return "#{:02x}{:02x}{:02x}".format(*parts)


def look_colour(tokens: Tokens, look: SeriesStyle) -> str:
    """The colour of a chart's look."""
    colours = {
        SeriesStyle.REFERENCE: tokens.reference,
        SeriesStyle.FIRST: tokens.series[0],
        SeriesStyle.SECOND: tokens.series[1],
        SeriesStyle.THIRD: tokens.series[2],
        SeriesStyle.FOURTH: tokens.series[3],
        SeriesStyle.FAIL: tokens.fail,
    }
    return colours[look]


_PATHS = {
    "data": "M3.5 4.5h13v11h-13z M3.5 8.2h13 M3.5 11.9h13 M8 4.5v11",
    "attributes": "M3.5 4v5.2l7.6 7.3 5.2-5.2L8.7 4z M6.6 7.1h.1",
    "hierarchies": "M10 3.5v3.6 M4.5 12.5V10h11v2.5 M10 7.1V10 M3 12.5h3v3H3z M8.5 12.5h3v3h-3z "
    "M14 12.5h3v3h-3z M8.5 3.5h3v3.6h-3z",
    "protect": "M10 3l6 2.2v4.3c0 3.7-2.4 6.3-6 7.5-3.6-1.2-6-3.8-6-7.5V5.2z "
    "M7.4 10l1.9 1.9 3.5-3.8",
    "compare": "M3.5 16.5v-13 M3.5 16.5h13 M7 12.5h.1 M10 8h.1 M13.6 10.4h.1 M14.8 5.6h.1",
    "review": "M5 3.5h7l3.5 3.5v9.5H5z M12 3.5V7h3.5 M7.5 11.8l1.8 1.8 3.3-3.5",
    "undo": "M4 8h8a4 4 0 0 1 0 8H7 M7 4.8L3.8 8 7 11.2",
    "redo": "M16 8H8a4 4 0 0 0 0 8h5 M13 4.8L16.2 8 13 11.2",
    "run": "M6 4l10 6-10 6z",
    "cancel": "M5 5l10 10 M15 5L5 15",
    "check": "M4 10.5l4 4 8-9",
    "fail": "M5 5l10 10 M15 5L5 15",
    "caution": "M10 3.2l7.2 13.3H2.8z M10 8v4 M10 14.3v.1",
    "info": "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14z M10 9.2v4.6 M10 6.4v.1",
    "stale": "M15.5 6.5A6.5 6.5 0 1 0 16.5 10 M15.8 3v3.8H12",
    "lock": "M5 9h10v7.5H5z M7 9V6.5a3 3 0 0 1 6 0V9",
    "dot": "M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
    "ring": "M10 6.2a3.8 3.8 0 1 1 0 7.6 3.8 3.8 0 0 1 0-7.6z",
    "attention": "M10 4v8 M10 15.4v.1",
    "chart": "M3.5 16.5h13 M5.5 16v-5 M10 16V5 M14.5 16V8.5",
    "table": "M3.5 4.5h13v11h-13z M3.5 8.5h13 M9 8.5v7",
    "save": "M10 3.5v9 M6.5 9.2L10 12.7l3.5-3.5 M4 16.5h12",
    "open": "M3.5 15.5v-11h5l1.6 2h6.4v9z",
    "help": "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14z M7.9 8a2.1 2.1 0 1 1 3.2 1.8c-.8.5-1.1.9-1.1 1.7 "
    "M10 14v.1",
    "search": "M8.8 3.8a5 5 0 1 1 0 10 5 5 0 0 1 0-10z M12.4 12.4l4 4",
    "drop": "M10 3.5v8 M7 8.6l3 3 3-3 M3.5 12.5v4h13v-4",
}

ICON_NAMES = tuple(_PATHS)


def _svg(name: str, colour: str) -> bytes:
    fill = colour if name in ("dot", "run") else "none"
    width = "2.2" if name in ("attention", "check", "fail") else "1.5"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">'
        f'<path d="{_PATHS[name]}" fill="{fill}" stroke="{colour}" stroke-width="{width}" '
        'stroke-linecap="round" stroke-linejoin="round"/></svg>'
    ).encode()


def pixmap(name: str, colour: str, size: int = 20, ratio: float = 2.0) -> QPixmap:
    """An icon as a pixmap of ``size`` logical pixels; KeyError for an unknown name."""
    key = f"dpdesk/{name}/{colour}/{size}/{ratio}"
    known = QPixmap()
    if QPixmapCache.find(key, known):
        return known
    drawn = _drawn(name, colour, size, ratio)
    QPixmapCache.insert(key, drawn)
    return drawn


def _drawn(name: str, colour: str, size: int, ratio: float) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(_svg(name, colour)))
    drawn = QPixmap(round(size * ratio), round(size * ratio))
    drawn.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(drawn)
    renderer.render(painter, QRectF(0, 0, drawn.width(), drawn.height()))
    painter.end()
    drawn.setDevicePixelRatio(ratio)
    return drawn


def icon(name: str, tokens: Tokens, colour: str = "", size: int = 20) -> QIcon:
    """An icon in the text colour (or ``colour``), with a pale one for disabled controls."""
    made = QIcon()
    made.addPixmap(pixmap(name, colour or tokens.text, size), QIcon.Mode.Normal)
    made.addPixmap(pixmap(name, tokens.disabled, size), QIcon.Mode.Disabled)
    return made
