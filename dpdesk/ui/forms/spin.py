"""Boxes for numbers that are as wide as usual numbers, not as the largest possible one."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSizePolicy, QSpinBox

_USUAL = "100,000"


def _usual(box: QAbstractSpinBox, suffix: str, hint: QSize) -> QSize:
    metrics = box.fontMetrics()
    # Besides the text: arrows, frame and the air around it, which grow with the text.
    return QSize(metrics.horizontalAdvance(_USUAL + suffix) + 3 * metrics.height(), hint.height())


class NarrowSpin(QSpinBox):
    """A whole number."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Room for a usual number with its unit."""
        return _usual(self, self.suffix(), super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        """Nothing smaller."""
        return self.sizeHint()


class NarrowDoubleSpin(QDoubleSpinBox):
    """A decimal number."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Room for a usual number with its unit."""
        return _usual(self, self.suffix(), super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        """Nothing smaller."""
        return self.sizeHint()
