"""The one place where a value of a table becomes text."""

from __future__ import annotations

from PySide6.QtCore import Qt

from dpdesk.core.charts import Cell, format_figure
from dpdesk.core.plain import ExactFloat

NOTHING = "–"


def format_cell(value: object) -> str:
    """Text of a value: grouped digits, no exponents, a dash for None (not the same as empty)."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, ExactFloat):
        return f"{float(value):,}"
    if isinstance(value, float):
        return format_figure(value, "number")
    return str(value)


def alignment(value: Cell) -> Qt.AlignmentFlag:
    """Numbers and dashes to the right, text to the left."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
