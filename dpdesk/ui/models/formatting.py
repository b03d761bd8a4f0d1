"""The one place where a value of a table becomes text."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt

from dpdesk.core.charts import Cell
from dpdesk.core.plain import ExactFloat
from dpdesk.core.shown import LONGEST_VALUE
from dpdesk.ui.words.numbers import figure_words, grouped, marked, shortened

NOTHING = "–"
translate = QCoreApplication.translate


def format_cell(value: object) -> str:
    """Text of a value: grouped digits, no exponents, a dash for None (not the same as empty).

    A very long text is cut, and its length is said.
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        yes, no = translate("Cells", "yes"), translate("Cells", "no")
        return yes if value else no
    if isinstance(value, int):
        return grouped(value)
    if isinstance(value, ExactFloat):
        return marked(f"{float(value):,}")
    if isinstance(value, float):
        return figure_words(value, "number")
    return shortened(str(value))


def whole_text(value: object) -> str | None:
    """The whole text of a value that is shown cut, for the clipboard; None for all others."""
    return value if isinstance(value, str) and len(value) > LONGEST_VALUE else None


def alignment(value: Cell) -> Qt.AlignmentFlag:
    """Numbers and dashes to the right, text to the left."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
