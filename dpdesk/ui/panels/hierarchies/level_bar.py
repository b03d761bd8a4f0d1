"""The level that is looked at: a slider, its exact number, its name, and what it holds."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QSlider, QSpinBox, QWidget

from dpdesk.ui.panels.hierarchies.pictures import level_sentence
from dpdesk.ui.panels.hierarchies.presenter import level_name
from dpdesk.ui.panels.hierarchies.tasks import HierarchyAnswer
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column, leave_wheel, row


class LevelBar(QWidget):
    """``levelChanged(int)`` when another level is looked at; the work is not changed by it."""

    levelChanged = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look: HierarchyAnswer | None = None
        layout = column(self, gap=SPACE.xs)
        line = row(gap=SPACE.m)
        label = QLabel(self.tr("&Level"))
        self.box = QSpinBox()
        self.box.setAccessibleName(self.tr("Level to look at"))
        self.box.lineEdit().setTextMargins(SPACE.s - 2, 0, 0, 0)
        label.setBuddy(self.box)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(self.tr("Level to look at, slider"))
        tip = self.tr(
            "Level 0 is the data, the highest level puts everything together. Only a look: "
            "Protect decides the level of the release"
        )
        leave_wheel(self.box, self.slider)
        for control in (self.box, self.slider):
            control.setToolTip(tip)
            control.setAccessibleDescription(tip)
        self.slider.setMinimumWidth(120)
        self.slider.setMaximumWidth(420)
        self.slider.setPageStep(1)
        for widget, stretch in ((label, 0), (self.box, 0), (self.slider, 1)):
            line.addWidget(widget, stretch)
        line.addStretch(1)
        layout.addLayout(line)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        set_look(self._sentence, "answer")
        layout.addWidget(self._sentence)
        self.box.valueChanged.connect(self._on_value)
        self.slider.valueChanged.connect(self._on_value)
        self.show_look(None, 0)

    @property
    def level(self) -> int:
        """The level that is looked at."""
        return self.box.value()

    @property
    def sentence(self) -> str:
        """What the level holds."""
        return self._sentence.text()

    def show_look(self, look: HierarchyAnswer | None, level: int) -> None:
        """Offer the levels of a hierarchy, silently at this one."""
        self._look = look
        height = 0 if look is None else look.height
        for control in (self.box, self.slider):
            with QSignalBlocker(control):
                control.setRange(0, height)
                control.setValue(min(level, height))
            control.setEnabled(look is not None)
        self.box.setSuffix(self.tr(" of {height}").format(height=height))
        self._say()

    @Slot(int)
    def _on_value(self, level: int) -> None:
        for control in (self.box, self.slider):
            with QSignalBlocker(control):
                control.setValue(level)
        self._say()
        self.levelChanged.emit(level)

    def _say(self) -> None:
        if self._look is None:
            self._sentence.setText("")
            return
        levels = self._look.examined.preview.levels
        name = level_name(self._look, self.level)
        self._sentence.setText(f"{name}. {level_sentence(levels[self.level])}")
