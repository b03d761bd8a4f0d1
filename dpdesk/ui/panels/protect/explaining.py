"""What F1 tells in the protect panel."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Method
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


def explanation(method: Method | None) -> str:
    """The promise of the method, then how to work here."""
    promise = () if method is None else (said(method.promise),)
    if method is not None and method.capabilities.spends:
        return "\n\n".join((*promise, *_private()))
    return "\n\n".join((*promise, *_searched()))


def _searched() -> tuple[str, ...]:
    return (
        translate(
            "ProtectPanel",
            "Choose what shall be reached, then move the sliders. All settings have been "
            "searched in advance, so the charts follow at once.",
        ),
        translate(
            "ProtectPanel",
            "Each point of the chart of all combinations is a possible release: further left "
            "keeps more detail, further down suppresses fewer rows. Arrow keys walk from point "
            "to point, Enter or a click takes one by hand. A click on a bar, or Enter, shows "
            "the rows or values behind it. The dashed lines at k and at the limit of "
            "suppression can be dragged, or moved by Shift and arrow keys.",
        ),
        translate(
            "ProtectPanel",
            "Keep what looks good as a candidate (Ctrl+B) and compare candidates in the next "
            "step. Nothing is written before you make a release.",
        ),
    )


def _private() -> tuple[str, ...]:
    return (
        translate(
            "ProtectPanel",
            "Check the columns that span the tables and declare their categories. Categories come "
            "from you or from a hierarchy file: what only the data know would give people away.",
        ),
        translate(
            "ProtectPanel",
            "All errors are worked out from the settings alone. Nothing is counted, nothing is "
            "spent, and no chart here depends on the data. A click on a table's point, or Enter, "
            "shows its error and where it is computed from.",
        ),
        translate(
            "ProtectPanel",
            "The lattice has a mark for each table that is possible, darker for larger errors (in "
            "the dark: lighter). Click one or walk there by arrow keys: Space publishes it or not, "
            "Delete forbids it, so that it gets no noise either, plus and minus weigh its error "
            "for planners that look at weights. The settings at the left say the same.",
        ),
        translate(
            "ProtectPanel",
            "The noise is drawn once, when you make the release; that spends the budget for good. "
            "Another release of the same data spends it again.",
        ),
    )
