"""Small parts that panels are put together from.

``MessageBand``    a sentence that stays: info, ok ✓, caution △ or fail ✕, with up to two actions
``EmptyState``     what to do when there is nothing to show
``StepHeader``     number, title and one line of a panel
``Badge``          a word in a frame, such as CONFIDENTIAL
``FigureTile``     a headline number with label and comparison
``GuaranteeCard``  claim, assumptions and limits of a guarantee
``ActivityList``   one row per job: step, n of N, time left, Cancel
``splitter``       a splitter with sensible handles;  ``card`` / ``column`` / ``row`` layouts
``Mnemonics``      letters after Alt, each at most once
``leave_wheel``    makes the wheel scroll rather than change a control
"""

from dpdesk.ui.widgets.activity import ActivityList, time_left_text
from dpdesk.ui.widgets.layouts import Mnemonics, card, column, leave_wheel, row, splitter
from dpdesk.ui.widgets.states import (
    Badge,
    EmptyState,
    FigureTile,
    GuaranteeCard,
    MessageBand,
    StepHeader,
)

__all__ = [
    "ActivityList",
    "Badge",
    "EmptyState",
    "FigureTile",
    "GuaranteeCard",
    "MessageBand",
    "Mnemonics",
    "StepHeader",
    "card",
    "column",
    "leave_wheel",
    "row",
    "splitter",
    "time_left_text",
]
