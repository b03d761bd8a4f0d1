"""Colours and sizes as they are at one time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtGui import QFont, QFontMetrics

from dpdesk.ui.theme.tokens import SPACE, Tokens

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
