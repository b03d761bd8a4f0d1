"""What stands above a plot: question, answer, key, title of the upright axis, and tools.

All of it gives way to the plot: tools stand beside the question and the key beside the title of
the axis as long as there is room, and only else in lines of their own.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from dpdesk.core.charts import Chart
from dpdesk.ui.charts.legend import Legend
from dpdesk.ui.theme import SPACE, Theme, set_look
from dpdesk.ui.widgets.elided import ElidedLabel
from dpdesk.ui.words.spoken import said


class ChartHead(QWidget):
    """Above the plot; ``tools`` are the switch and the button ``save``, which may be without its
    word. Where it is too low for everything, the answer is left to the tooltip of the question.
    """

    def __init__(
        self, theme: Theme, tools: QWidget, save: QToolButton, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._tools, self._save = tools, save
        self._low = self._titled = False
        self._heading = ""
        self._arranged: tuple[bool, bool] | None = None
        self.legend = Legend(theme)
        self.title, self.stale, self.answer = QLabel(), QLabel(), QLabel()
        self.upright = ElidedLabel()
        looks = ("section", "caution", "answer", "note")
        labels = (self.title, self.stale, self.answer, self.upright)
        for label, look in zip(labels, looks, strict=True):
            set_look(label, look)
        for label in (self.title, self.answer):
            label.setWordWrap(True)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.stale.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE.xs)
        self._top, self._keys = QHBoxLayout(), QHBoxLayout()
        self._own_tools, self._own_key = QHBoxLayout(), QHBoxLayout()
        self._top.setSpacing(SPACE.s)
        self._keys.setSpacing(SPACE.l)
        self._top.addWidget(self.title, 1)
        self._top.addWidget(self.stale, 0, Qt.AlignmentFlag.AlignTop)
        self._keys.addWidget(self.upright, 0, Qt.AlignmentFlag.AlignBottom)
        self._gap = QWidget()
        self._keys.addWidget(self._gap, 1)
        layout.addLayout(self._top)
        layout.addWidget(self.answer)
        for line in (self._own_tools, self._own_key, self._keys):
            layout.addLayout(line)
        self._own_tools.addStretch(1)
        self.arrange()

    def show_chart(self, chart: Chart, failing: str, upright: str) -> None:
        """Name a chart and its series; ``upright`` is the title of the axis at the left."""
        self.title.setText(self._heading or said(chart.question))
        answer = said(chart.answer)
        glued = answer.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")
        self.answer.setText(glued)
        self.title.setToolTip(answer)
        self._show_answer()
        self.legend.show_chart(chart, failing)
        self.upright.setText(upright)
        self.arrange()

    def show_parts(self, *, titled: bool, drawn: bool) -> None:
        """Show the words while there is a chart, the key while its picture is in front."""
        self._titled = titled
        self.title.setVisible(titled)
        self._show_answer()
        self.legend.setVisible(drawn and self.legend.useful)
        self.upright.setVisible(drawn)
        self._tools.setVisible(titled)
        self.arrange()

    def set_low(self, *, low: bool) -> None:
        """Leave the answer out, or no longer."""
        if low != self._low:
            self._low = low
            self._show_answer()

    def least_height(self, width: int) -> int:
        """The height with everything but the answer in it."""
        layout = self.layout()
        known = 0 if layout is None else layout.minimumHeightForWidth(width)
        return known if self.answer.isHidden() else known - self.answer_height(width)

    def answer_height(self, width: int) -> int:
        """What the answer adds to it, whether it is left out now or not."""
        return self.answer.heightForWidth(width) + SPACE.xs if self.answer.text() else 0

    def _show_answer(self) -> None:
        self.answer.setVisible(self._titled and not self._low and bool(self.answer.text()))

    def set_heading(self, text: str) -> None:
        """Write something else than the question above the answer; empty: the question."""
        self._heading = text
        self.arrange()

    def say_stale(self, text: str) -> None:
        """Say beside the question that the picture is old; empty: it is not."""
        self.stale.setText(text)
        self.stale.setVisible(bool(text))
        self.arrange()

    def restyle(self, theme: Theme) -> None:
        """Take over colours and sizes."""
        self.legend.restyle(theme)
        self.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room that is there now."""
        super().resizeEvent(event)
        self.arrange()

    def arrange(self) -> None:
        """Put tools and key where there is room for them."""
        question = self.title.fontMetrics().horizontalAdvance(self.title.text())
        stale = self.stale.sizeHint().width() + SPACE.s if self.stale.text() else 0
        room = self.width() - question - stale - 2 * SPACE.s
        styles = Qt.ToolButtonStyle
        for style in (styles.ToolButtonTextBesideIcon, styles.ToolButtonIconOnly):
            self._save.setToolButtonStyle(style)
            above = self._tools.sizeHint().width() <= room
            if above:
                break
        else:
            self._save.setToolButtonStyle(styles.ToolButtonTextBesideIcon)
        key = self.upright.sizeHint().width() + SPACE.l + self.legend.sizeHint().width()
        beside = key <= self.width()
        if (above, beside) == self._arranged:
            return
        self._arranged = (above, beside)
        for old in (self._own_key, self._keys):
            old.removeWidget(self.legend)
        for old in (self._top, self._own_tools):
            old.removeWidget(self._tools)
        self._gap.setVisible(not beside)
        place = self._keys if beside else self._own_key
        place.addWidget(self.legend, 1, Qt.AlignmentFlag.AlignBottom)
        place = self._top if above else self._own_tools
        place.addWidget(self._tools, 0, Qt.AlignmentFlag.AlignTop)
