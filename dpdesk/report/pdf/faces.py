"""Fonts, colours and paragraph styles of a page on paper."""

from __future__ import annotations

from functools import cache
from io import BytesIO

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from dpdesk.core.resources import resource

PLAIN, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"
MISSING = "\ufffd"

TEXT, MUTED, HAIRLINE = HexColor("#1B1F24"), HexColor("#59616D"), HexColor("#D5D9E0")
SUNKEN, ACCENT = HexColor("#ECEEF2"), HexColor("#1F5FA8")
_CAUTION = HexColor("#9A6700")
_STATES = {"ok": ACCENT, "fail": HexColor("#8C1D18"), "caution": _CAUTION, "badge": _CAUTION}


def state_colour(classes: frozenset[str]) -> Color | None:
    """The colour of a status, by the classes of its element; None when it is no status."""
    return next((_STATES[name] for name in sorted(classes) if name in _STATES), None)


@cache
def register_fonts() -> None:
    """Make the bundled fonts known; a PDF then holds the characters of them that it uses."""
    for name in (PLAIN, BOLD, MONO):
        data = BytesIO(resource(f"fonts/{name}.ttf").read_bytes())
        pdfmetrics.registerFont(TTFont(name, data))
    pdfmetrics.registerFontFamily(PLAIN, normal=PLAIN, bold=BOLD, italic=PLAIN, boldItalic=BOLD)
    pdfmetrics.registerFontFamily(MONO, normal=MONO, bold=MONO, italic=MONO, boldItalic=MONO)


@cache
def covered() -> frozenset[int]:
    """The code points that the text font can draw."""
    register_fonts()
    return frozenset(pdfmetrics.getFont(PLAIN).face.charToGlyph)


def width_of(text: str, size: float, font: str = PLAIN) -> float:
    """The width of a text in points."""
    register_fonts()
    return float(pdfmetrics.stringWidth(text, font, size))


@cache
def style(name: str) -> ParagraphStyle:
    """The style of a kind of paragraph, such as ``body``, ``title``, ``h2`` or ``cell``."""
    register_fonts()
    return ParagraphStyle(name, **(_COMMON | _STYLES[name]))


@cache
def sized(name: str, size: float) -> ParagraphStyle:
    """The style of a kind of paragraph with its letters this many points high."""
    known = style(name)
    share = size / known.fontSize
    return ParagraphStyle(
        f"{name}-{size}", parent=known, fontSize=size, leading=known.leading * share
    )


_COMMON: dict[str, object] = {
    "fontName": PLAIN,
    "fontSize": 9.5,
    "leading": 13.5,
    "textColor": TEXT,
    "spaceAfter": 5,
    "splitLongWords": 1,
}
_STYLES: dict[str, dict[str, object]] = {
    "body": {},
    "small": {"fontSize": 8, "leading": 11, "textColor": MUTED},
    "muted": {"textColor": MUTED},
    "title": {"fontName": BOLD, "fontSize": 18, "leading": 23, "spaceAfter": 6},
    "h2": {"fontName": BOLD, "fontSize": 13, "leading": 17, "spaceBefore": 14},
    "h3": {"fontName": BOLD, "fontSize": 10, "leading": 14, "spaceBefore": 8},
    "caption": {"fontName": BOLD, "fontSize": 10, "spaceBefore": 6},
    "answer": {},
    "summary": {
        "fontSize": 9,
        "leading": 12,
        "textColor": MUTED,
        "spaceBefore": 4,
    },
    "claim": {
        "fontSize": 10.5,
        "leading": 15,
        "leftIndent": 10,
        "borderPadding": (2, 0, 2, 8),
        "spaceBefore": 6,
        "spaceAfter": 10,
    },
    "item": {"leftIndent": 12, "bulletIndent": 2, "spaceAfter": 3},
    "cell": {"fontSize": 8, "leading": 10.5, "spaceAfter": 0},
    "number": {"fontSize": 8, "leading": 10.5, "spaceAfter": 0, "alignment": 2},
    "head": {"fontName": BOLD, "fontSize": 8, "leading": 10.5, "spaceAfter": 0, "textColor": MUTED},
    "head-number": {
        "fontName": BOLD,
        "fontSize": 8,
        "leading": 10.5,
        "spaceAfter": 0,
        "textColor": MUTED,
        "alignment": 2,
    },
    "card-label": {"fontSize": 7.5, "leading": 10, "spaceAfter": 0, "textColor": MUTED},
    "card-value": {"fontName": BOLD, "fontSize": 12, "leading": 16, "spaceAfter": 0},
}
