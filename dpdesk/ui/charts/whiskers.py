"""Lines through the ends of bars that show how far a value may be off."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QTransform

CAP = 4.0


def draw_whisker(
    painter: QPainter,
    colours: tuple[QColor, QColor],
    across: float,
    ends: tuple[float, float],
    transform: QTransform,
    *,
    lying: bool,
) -> None:
    """A line with caps from one value to the other, on a ground that parts it from its bar.

    ``across`` is where the bar's middle stands; colours are those of the line and of the ground.
    """
    first, last = (
        transform.map(QPointF(end, across) if lying else QPointF(across, end)) for end in ends
    )
    cap = QPointF(0, CAP) if lying else QPointF(CAP, 0)
    lines = [QLineF(first, last), *(QLineF(end - cap, end + cap) for end in (first, last))]
    for colour, width in ((colours[1], 4.0), (colours[0], 2.0)):
        painter.setPen(QPen(colour, width))
        painter.drawLines(lines)
