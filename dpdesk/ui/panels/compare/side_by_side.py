"""A and B beside each other, or one below the other where there is little room."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QScrollArea, QSizePolicy, QWidget

from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column

NARROW_EMS = 84


class SideBySide(QScrollArea):
    """Two widgets of one kind with captions."""

    def __init__(
        self,
        theme: ThemeManager,
        name: str,
        first: QWidget,
        second: QWidget,
        least_ems: int = 0,
    ) -> None:
        super().__init__()
        self._theme, self._least = theme, least_ems
        self._boxes: list[QWidget] = []
        self.setWidgetResizable(True)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        lines = column(inner, gap=SPACE.s)
        self._question = QLabel()
        self._question.setWordWrap(True)
        set_look(self._question, "section")
        self._question.hide()
        lines.addWidget(self._question)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._layout.setContentsMargins(0, 0, 0, 0)
        lines.addLayout(self._layout, 1)
        self._layout.setSpacing(SPACE.m)
        self._captions: list[QLabel] = []
        for widget in (first, second):
            self._add(widget)
        self.setWidget(inner)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _add(self, widget: QWidget) -> None:
        """Put a widget into a box of its own, below its caption."""
        box = QWidget()
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        inside = column(box, gap=SPACE.xs)
        caption = QLabel()
        caption.setWordWrap(True)
        set_look(caption, "strong")
        caption.hide()
        self._captions.append(caption)
        inside.addWidget(caption)
        inside.addWidget(widget, 1)
        self._layout.addWidget(box, 1)
        self._boxes.append(box)

    def set_captions(self, first: str, second: str) -> None:
        """Say what stands where."""
        for caption, text in zip(self._captions, (first, second), strict=True):
            caption.setText(text)
            caption.setVisible(bool(text))

    def set_question(self, text: str) -> None:
        """Say above both what they answer."""
        self._question.setText(text)
        self._question.setVisible(bool(text))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for box in self._boxes:
            box.setMinimumHeight(theme.ems(self._least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside each other as long as both stay readable."""
        super().resizeEvent(event)
        narrow = self.viewport().width() < self._theme.theme.ems(NARROW_EMS)
        wanted = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._layout.direction() != wanted:
            self._layout.setDirection(wanted)
