"""The current theme of the application, its palette, and the switch between themes and text sizes.

Text reaches 4.5:1 and marks 3:1 against their surface; series and status colours stay apart for
people with normal and with colour-deficient sight (checked when the palette was chosen).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetrics,
    QGuiApplication,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from dpdesk.core.charts import SeriesStyle
from dpdesk.core.resources import resource_files
from dpdesk.ui.telling import LOOK, tell_more


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


_POINTS = {"note": 10.0, "body": 11.0, "section": 13.0, "headline": 18.0}
_GROWS = {"section": 0.8, "headline": 0.5}


@dataclass(frozen=True)
class Theme:
    """Colours and sizes as they are now; ``scale`` is the text size, 1.0 at 100 %."""

    tokens: Tokens
    scale: float
    family: QFont

    def font(self, role: str = "body", *, bold: bool = False) -> QFont:
        """The font of a role: ``note``, ``body``, ``section`` or ``headline``."""
        return QFont(self._fonts[role, bold])

    @cached_property
    def _fonts(self) -> dict[tuple[str, bool], QFont]:
        # Asked at each paint of a cell, so they are made once.
        made = {}
        for role, points in _POINTS.items():
            for bold in (False, True):
                font = made[role, bold] = QFont(self.family)
                font.setPointSizeF(points * self._growth(role))
                font.setBold(bold)
        return made

    def _growth(self, role: str) -> float:
        """Headings are large already: they grow less, so that the work keeps its room."""
        return 1 + (self.scale - 1) * _GROWS.get(role, 1.0) if self.scale > 1 else self.scale

    @cached_property
    def target(self) -> int:
        """Least height of anything that is clicked, in pixels."""
        return max(SPACE.target, QFontMetrics(self.font()).height() + SPACE.s)

    @cached_property
    def row(self) -> int:
        """Height of a table row in pixels."""
        return self.target

    @cached_property
    def icon(self) -> int:
        """Edge of an icon in pixels."""
        return round(20 * max(1.0, self.scale * 0.8))

    def ems(self, count: float) -> int:
        """The width of this many characters of body text, in pixels."""
        return round(self._em * count)

    @cached_property
    def _em(self) -> int:
        return QFontMetrics(self.font()).averageCharWidth()


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


_ARROWS = Path(__file__).parent / "arrows"


def set_look(widget: QWidget, look: str) -> None:
    """Give a widget one of the looks of the style sheet; repaints when it changes."""
    if widget.property(LOOK) == look:
        return
    widget.setProperty(LOOK, look)
    if not widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        return  # it will be fitted to the sheet when it is first shown
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)


def style_sheet(theme: Theme) -> str:
    """The style sheet of the whole application."""
    parts = (_text, _buttons, _fields, _tables, _frames, _navigation, _menus, _small)
    return "\n".join(part(theme) for part in parts)


def _points(theme: Theme, role: str) -> str:
    return f"{theme.font(role).pointSizeF():g}pt"


def _text(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QWidget {{ color: {t.text}; }}
QMainWindow, QDialog {{ background: {t.window}; }}
QLabel {{ background: transparent; qproperty-textFormat: PlainText; }}
QLabel[look="headline"] {{ font-size: {_points(theme, "headline")}; font-weight: 600; }}
QLabel[look="section"] {{ font-size: {_points(theme, "section")}; font-weight: 600; }}
QLabel[look="answer"] {{ font-size: {_points(theme, "body")}; }}
QLabel[look="strong"] {{ font-weight: 600; }}
QLabel[look="figure"] {{ font-size: {_points(theme, "headline")}; font-weight: 600; }}
QLabel[look="note"] {{ font-size: {_points(theme, "note")}; color: {t.muted}; }}
QLabel[look="fail"] {{ font-size: {_points(theme, "note")}; color: {t.fail}; }}
QLabel[look="caution"] {{ font-size: {_points(theme, "note")}; color: {t.caution}; }}
QLabel[look="ok"] {{ font-size: {_points(theme, "note")}; color: {t.accent}; }}
QLabel[look="mono"] {{ font-family: "DejaVu Sans Mono", monospace; }}
QLabel[look="badge"] {{ font-size: {_points(theme, "note")}; font-weight: 700; color: {t.caution};
  background: {t.wash(t.caution)}; border: 1px solid {t.caution}; border-radius: 3px;
  padding: 1px 6px; }}
QLabel[look="key"] {{ font-size: {_points(theme, "note")}; color: {t.muted};
  background: {t.sunken}; border: 1px solid {t.hairline}; border-radius: 3px; padding: 1px 5px; }}
QLabel:disabled {{ color: {t.disabled}; }}
QToolTip {{ background: {t.surface}; color: {t.text}; border: 1px solid {t.border};
  padding: 4px 6px; qproperty-textFormat: PlainText; }}
"""


_CHOOSING = ("QRadioButton", "QToolButton")


def _buttons(theme: Theme) -> str:
    t, height = theme.tokens, theme.target - 2
    return f"""
QPushButton, QToolButton {{ background: {t.surface}; border: 1px solid {t.border};
  border-radius: 4px; padding: 0 {SPACE.m}px; min-height: {height}px; outline: 0; }}
QToolButton {{ padding: 0 {SPACE.s}px; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; border-color: {t.accent}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.selection}; }}
QPushButton:checked, QToolButton:checked {{ background: {t.selection};
  border-color: {t.accent}; }}
QPushButton:focus, QToolButton:focus {{ border: 2px solid {t.accent};
  padding: 0 {SPACE.m - 1}px; min-height: {height - 2}px; }}
QToolButton:focus {{ padding: 0 {SPACE.s - 1}px; }}
QPushButton:disabled, QToolButton:disabled {{ color: {t.disabled}; background: {t.window};
  border-color: {t.hairline}; }}
QPushButton[look="primary"] {{ background: {t.accent}; color: {t.on_accent};
  border-color: {t.accent}; font-weight: 600; }}
QPushButton[look="primary"]:hover {{ background: {_stronger(theme)}; }}
QPushButton[look="primary"]:focus {{ border: 6px double {t.on_accent}; border-radius: 0;
  padding: 0 {SPACE.m - 5}px; min-height: {height - 10}px; }}
QPushButton[look="primary"]:disabled {{ background: {t.sunken}; color: {t.disabled};
  border-color: {t.hairline}; }}
QPushButton[look="quiet"], QToolButton[look="quiet"] {{ background: transparent;
  border-color: transparent; }}
QPushButton[look="quiet"]:hover, QToolButton[look="quiet"]:hover {{ background: {t.hover}; }}
QPushButton[look="quiet"]:focus, QToolButton[look="quiet"]:focus {{
  border: 2px solid {t.accent}; }}
QPushButton:checked:focus, QToolButton:checked:focus {{ border: 2px solid {t.text}; }}
QPushButton[look="tight"] {{ padding: 0 6px; }}
QPushButton[look="tight"]:focus {{ padding: 0 5px; }}
QToolButton::menu-indicator {{ image: none; width: 0; }}
{_boxes(theme)}
{_choices(theme)}"""


def _choices(theme: Theme) -> str:
    """Radio buttons, and steps of a way, that look like buttons side by side."""
    t, height = theme.tokens, theme.target - 2
    looks = ("choice", "segment-first", "segment-last")

    def each(state: str = "") -> str:
        return ", ".join(f'{kind}[look="{look}"]{state}' for kind in _CHOOSING for look in looks)

    def small(state: str = "") -> str:
        return ", ".join(f'{kind}[look="choice"]{state}' for kind in _CHOOSING)

    return f"""
{each()} {{ background: {t.surface}; border: 1px solid {t.border}; border-radius: 4px;
  padding: 0 {SPACE.m}px; min-height: {height}px; outline: 0; spacing: 0; }}
{each("::indicator")} {{ width: 0; height: 0; border: none; }}
{each(":hover")} {{ background: {t.hover}; border-color: {t.accent}; }}
{each(":checked")} {{ background: {t.selection}; border-color: {t.accent}; }}
{each(":focus")} {{ border: 2px solid {t.accent}; padding: 0 {SPACE.m - 1}px;
  min-height: {height - 2}px; }}
{each(":disabled")} {{ color: {t.disabled}; background: {t.window}; border-color: {t.hairline}; }}
QRadioButton[look="segment-first"] {{ border-top-right-radius: 0; border-bottom-right-radius: 0; }}
QRadioButton[look="segment-last"] {{ border-top-left-radius: 0; border-bottom-left-radius: 0;
  border-left: none; }}
QRadioButton[look="segment-last"]:focus {{ border: 2px solid {t.accent}; }}
{small()} {{ font-size: {_points(theme, "note")}; padding: 0 {SPACE.s}px; }}
{small(":focus")} {{ padding: 0 {SPACE.s - 1}px; }}
{small(":checked")} {{ border: 2px solid {t.accent};
  padding: 0 {SPACE.s - 1}px; min-height: {height - 2}px; }}
{each(":checked:focus")} {{ border: 3px solid {t.text}; padding: 0 {SPACE.m - 2}px;
  min-height: {height - 4}px; }}
{small(":checked:focus")} {{ padding: 0 {SPACE.s - 2}px; }}
QToolButton[look="choice"] {{ max-height: {height}px; }}
QToolButton[look="choice"]:focus, QToolButton[look="choice"]:checked {{
  max-height: {height - 2}px; }}
"""


def _boxes(theme: Theme) -> str:
    """Boxes to tick and to choose by.

    Without kerning: Qt measures a text whole and draws it in parts where a letter is underlined, so
    that "Totals", whose first letters are kerned, was wider than measured and lost its end.
    """
    t, height = theme.tokens, theme.target - 2
    dot = theme.icon * 4 // 5 // 2 * 2
    return f"""
QCheckBox, QRadioButton {{ spacing: {SPACE.s}px; min-height: {height}px;
  padding: 0 {SPACE.xs}px; font-kerning: none; }}
QRadioButton[look="goal"] {{ padding: 0 {SPACE.xs}px; }}
QRadioButton[look="goal-of-lines"] {{ padding: 2px {SPACE.xs}px; }}
QCheckBox:focus, QRadioButton:focus {{ outline: 2px solid {t.accent}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.disabled}; }}
QRadioButton::indicator {{ width: {dot}px; height: {dot}px; border-radius: {dot // 2 + 1}px;
  border: 1px solid {t.border}; background: {t.surface}; }}
QRadioButton::indicator:checked {{ width: {dot - 8}px; height: {dot - 8}px;
  border: 5px solid {t.accent}; }}
QRadioButton::indicator:disabled {{ border-color: {t.hairline}; }}
QCheckBox::indicator, QListView::indicator {{
  width: {dot}px; height: {dot}px; border-radius: 3px;
  border: 1px solid {t.border}; background: {t.surface}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{
  background: {t.accent}; border-color: {t.accent};
  image: url("{(_ARROWS / f"check-{t.name}.svg").as_posix()}"); }}
QCheckBox::indicator:disabled, QListView::indicator:disabled {{
  background: {t.window}; border-color: {t.hairline}; }}
"""


def _stronger(theme: Theme) -> str:
    from dpdesk.ui.theme.manager import mix

    return mix(theme.tokens.accent, theme.tokens.text, 0.18)


def _fields(theme: Theme) -> str:
    t, height = theme.tokens, theme.target - 2
    kinds = ("QLineEdit", "QAbstractSpinBox", "QComboBox", "QPlainTextEdit", "QTextEdit")
    each = ", ".join(kinds)
    focus = ", ".join(f"{kind}:focus" for kind in kinds)
    off = ", ".join(f"{kind}:disabled" for kind in kinds)
    return f"""
{each} {{ background: {t.surface}; border: 1px solid {t.border}; border-radius: 4px;
  padding: 0 {SPACE.s}px; selection-background-color: {t.selection};
  selection-color: {t.text}; placeholder-text-color: {t.muted}; }}
QLineEdit, QAbstractSpinBox, QComboBox {{ min-height: {height}px; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; min-height: 0;
  padding: 0 0 0 6px; }}
{focus} {{ border: 2px solid {t.accent}; padding: 0 {SPACE.s - 1}px; }}
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {{ min-height: {height - 2}px; }}
QAbstractSpinBox QLineEdit:focus {{ border: none; padding: 0 0 0 5px; min-height: 0; }}
{off} {{ background: {t.window}; color: {t.disabled}; border-color: {t.hairline}; }}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"] {{ border: 2px solid {t.fail}; }}
{_arrows(theme)}
QComboBox QAbstractItemView {{ background: {t.surface}; border: 1px solid {t.border};
  selection-background-color: {t.selection}; selection-color: {t.text}; outline: 0; }}
QComboBox QAbstractItemView::item {{ min-height: {height}px; }}
QSlider {{ min-height: {height}px; }}
QSlider::groove:horizontal {{ height: 4px; background: {t.border}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ height: 4px; background: {t.accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 16px; height: 16px; margin: -7px 0; border-radius: 9px;
  background: {t.surface}; border: 2px solid {t.accent}; }}
QSlider::handle:horizontal:focus {{ background: {t.accent}; border: 3px solid {t.text}; }}
QSlider::handle:horizontal:disabled {{ border-color: {t.hairline}; }}
QSlider::sub-page:horizontal:disabled {{ background: {t.hairline}; }}
"""


def _arrows(theme: Theme) -> str:
    """Arrows of spin and combo boxes; styled boxes lose those of the platform."""
    up, down = ((_ARROWS / f"{way}-{theme.tokens.name}.svg").as_posix() for way in ("up", "down"))
    wide, arrow = theme.icon + 2, round(theme.icon * 0.6)
    return f"""
QAbstractSpinBox {{ padding-right: {wide}px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ border: none; width: {wide}px;
  background: transparent; subcontrol-origin: border; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; margin-top: 2px; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; margin-bottom: 2px; }}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {{
  background: {theme.tokens.hover}; }}
QAbstractSpinBox::up-arrow {{ image: url("{up}"); width: {arrow}px; height: {arrow}px; }}
QAbstractSpinBox::down-arrow {{ image: url("{down}"); width: {arrow}px; height: {arrow}px; }}
QComboBox::drop-down {{ border: none; width: {wide}px; subcontrol-origin: border;
  subcontrol-position: center right; }}
QComboBox::down-arrow {{ image: url("{down}"); width: {arrow}px; height: {arrow}px; }}
"""


def _tables(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QAbstractItemView {{ background: {t.surface}; border: 1px solid {t.hairline}; padding: 1px;
  alternate-background-color: {t.window}; selection-background-color: {t.selection};
  selection-color: {t.text}; outline: 0; }}
QAbstractItemView:focus {{ border: 2px solid {t.accent}; padding: 0; }}
QGraphicsView {{ border: 2px solid transparent; background: transparent; }}
QGraphicsView:focus {{ border: 2px solid {t.accent}; }}
QTableView {{ gridline-color: {t.hairline}; }}
QTableView::item, QTreeView::item {{ padding: 0 {SPACE.s}px; }}
QTableView::item:focus {{ border: 2px solid {t.accent}; padding: 0 {SPACE.s - 2}px; }}
QTreeView::item {{ min-height: {theme.row}px; }}
QTreeView::item:selected, QListView::item:selected {{ background: {t.selection};
  color: {t.text}; }}
QHeaderView {{ background: {t.window}; border: none; padding: 0; }}
QHeaderView::section {{ background: {t.window}; color: {t.text}; border: none;
  border-right: 1px solid {t.hairline}; border-bottom: 1px solid {t.border};
  padding: 4px {SPACE.s}px; font-weight: 600; }}
QHeaderView::section:vertical {{ font-weight: 400; color: {t.muted};
  border-bottom: 1px solid {t.hairline}; }}
QListView::item {{ min-height: {theme.row}px; padding: 0 {SPACE.s}px; }}
QTableCornerButton::section {{ background: {t.window}; border: none;
  border-bottom: 1px solid {t.border}; }}
"""


def _frames(theme: Theme) -> str:
    t = theme.tokens
    bands = "\n".join(
        f"""QFrame[look="band-{kind}"] {{ background: {t.wash(colour)}; border: 1px solid {colour};
  border-left: 4px solid {colour}; border-radius: 4px; }}"""
        for kind, colour in (
            ("info", t.reference),
            ("ok", t.accent),
            ("caution", t.caution),
            ("fail", t.fail),
        )
    )
    return f"""
QFrame[look="card"] {{ background: {t.surface}; border: 1px solid {t.hairline};
  border-radius: 6px; }}
QFrame[look="choice"] {{ background: {t.surface}; border: 1px solid {t.border};
  border-radius: 6px; }}
QFrame[look="not-chosen"] {{ border: 2px solid transparent; }}
QFrame[look="chosen"] {{ background: {t.selection}; border: 2px solid {t.accent};
  border-radius: 6px; }}
QFrame[look="sunken"] {{ background: {t.sunken}; border: none; border-radius: 6px; }}
QFrame[look="drop"] {{ background: {t.surface}; border: 2px dashed {t.border};
  border-radius: 8px; }}
QFrame[look="rule"] {{ background: {t.hairline}; border: none; max-height: 1px;
  min-height: 1px; }}
{bands}
QSplitter::handle {{ background: {t.hairline}; }}
QSplitter[look="plain"]::handle {{ background: transparent; }}
QSplitter::handle:hover {{ background: {t.accent}; }}
QSplitter::handle:horizontal {{ margin: 0 3px; width: 1px; }}
QSplitter::handle:vertical {{ margin: 3px 0; height: 1px; }}
QScrollArea {{ background: transparent; border: none; }}
QScrollArea > QWidget > QWidget {{ background: transparent; }}
QScrollArea:focus {{ border: 2px solid {t.accent}; }}
QGroupBox {{ border: 1px solid {t.hairline}; border-radius: 6px; margin-top: {SPACE.l}px;
  padding-top: {SPACE.s}px; font-weight: 600; }}
QGroupBox::title {{ subcontrol-origin: margin; left: {SPACE.s}px; padding: 0 4px; }}
"""


def _navigation(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QListWidget[look="navigation"], QListWidget[look="navigation"]:focus {{
  background: {t.window}; border: none; padding: {SPACE.s}px 0; }}
QWidget[look="panel"] {{ background: {t.window}; }}
QStatusBar {{ background: {t.sunken}; border-top: 1px solid {t.hairline}; }}
QStatusBar::item {{ border: none; }}
QStatusBar QPushButton {{ font-size: {_points(theme, "note")}; }}
QStatusBar QLabel {{ font-size: {_points(theme, "note")}; padding: 0 {SPACE.s}px; }}
QToolBar {{ background: {t.window}; border: none; border-bottom: 1px solid {t.hairline};
  spacing: {SPACE.xs}px; padding: {SPACE.xs}px {SPACE.s}px; }}
"""


def _menus(theme: Theme) -> str:
    t, height = theme.tokens, theme.target - 8
    return f"""
QMenuBar {{ background: {t.window}; border-bottom: 1px solid {t.hairline}; padding: 2px; }}
QMenuBar::item {{ padding: 4px {SPACE.s}px; background: transparent; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {t.selection}; }}
QMenu {{ background: {t.surface}; border: 1px solid {t.border}; padding: 4px; }}
QMenu::item {{ padding: 4px {SPACE.xl}px 4px {SPACE.xl}px; min-height: {height}px;
  border-radius: 4px; }}
QMenu::item:selected {{ background: {t.selection}; }}
QMenu::item:disabled {{ color: {t.disabled}; }}
QMenu::separator {{ height: 1px; background: {t.hairline}; margin: 4px {SPACE.s}px; }}
QTabBar::tab {{ background: transparent; border: none; border-bottom: 2px solid transparent;
  padding: 4px {SPACE.m}px; min-height: {height}px; }}
QTabBar::tab:selected {{ border-bottom: 2px solid {t.accent}; font-weight: 600; }}
QTabBar::tab:focus {{ border: 2px solid {t.accent}; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {t.hairline}; }}
"""


def _small(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QProgressBar {{ background: {t.hairline}; border: none; border-radius: 3px; max-height: 6px;
  min-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
QScrollBar:vertical {{ background: transparent; width: 14px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 14px; margin: 0; }}
QScrollBar::handle {{ background: {t.border}; border-radius: 4px; margin: 3px; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::handle:hover {{ background: {t.accent}; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""


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
        tell_more()
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
