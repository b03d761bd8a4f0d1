"""Whether the declared categories hold the rows: tried on the data, before anything is spent."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from dpdesk.app.private.trial import Trial
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Badge, column, row
from dpdesk.ui.words.trial import trial_lines


class TrialBox(QFrame):
    """``asked()`` when the categories are to be tried on the data."""

    asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = QLabel(self.tr("Do the categories hold the rows?"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        line = row()
        self.button = QPushButton(self.tr("Try them on the data"))
        self.button.setToolTip(
            self.tr(
                "Counts the rows outside the declared categories. It looks at the data and is "
                "entered in the audit log; nothing is spent."
            )
        )
        self.button.clicked.connect(self.asked)
        line.addWidget(self.button)
        line.addStretch(1)
        why = self.tr("What a trial finds depends on single rows: it must not leave the agency")
        self._badge = Badge(self.tr("CONFIDENTIAL"), why)
        line.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(line)
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        layout.addWidget(self._words)
        self.show_trial(None)

    @property
    def words(self) -> str:
        """What is said."""
        return self._words.text()

    def show_trial(self, trial: Trial | None, problem: str = "") -> None:
        """Say what was found, or why nothing was; None: not tried with these settings."""
        look, text = "note", self.tr("Not tried with these settings yet.")
        if problem:
            look, text = "fail", f"✕ {problem}"
        elif trial is not None:
            look = "ok" if trial.ok else "fail"
            closing = self.tr(
                "What you decide after this, also not to publish, is not covered by ε."
            )
            text = "\n".join((*trial_lines(trial), closing))
        set_look(self._words, look)
        self._words.setText(text)
        self._badge.setVisible(trial is not None)
        self.setAccessibleName(self.tr("Do the categories hold the rows?"))
        self.setAccessibleDescription(text)
