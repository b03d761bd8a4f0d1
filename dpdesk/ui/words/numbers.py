"""Numbers with the marks of the window's language."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.core.charts import format_figure


def marked(number: str) -> str:
    """A number as the program writes it, ``1,234.5``, with this language's marks.

    What is neither comma nor point stays, such as signs and ``%``.
    """
    sample = QCoreApplication.translate("Numbers", "1,234.5")
    group, decimal = sample[1], sample[-2]
    return number.translate({ord(","): group, ord("."): decimal})


def grouped(number: int) -> str:
    """A whole number with its digits in groups."""
    return marked(f"{number:,}")


def figure_words(value: float | None, kind: str) -> str:
    """As :func:`dpdesk.core.charts.format_figure`, with this language's marks."""
    return marked(format_figure(value, kind))
