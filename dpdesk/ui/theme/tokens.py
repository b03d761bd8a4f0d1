"""The palette as values: every colour of the window comes from here.

Text reaches 4.5:1 and marks 3:1 against their surface; series and status colours stay apart for
people with normal and with colour-deficient sight (checked when the palette was chosen).
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor

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
        return mix(self.surface, self.muted, 0.62)

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
