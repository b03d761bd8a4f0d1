"""How risky the table is with the quasi-identifiers tagged so far."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QLabel, QWidget

from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.panels.attributes.tasks import Answered, CountRisk, Question
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column

CHANNEL = "attributes.risk"
PATIENCE_MS = 200


class RiskPicture(QWidget):
    """A chart that follows the roles; the last picture is dimmed while a new one is counted."""

    def __init__(self, hub: JobHub, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._asked: Question | None = None
        layout = column(self, gap=SPACE.xs)
        self.band = MessageBand(theme)
        self.chart = ChartView(theme)
        self.chart.keep_answer()
        self._assumption = QLabel(
            self.tr(
                "Assumes someone who knows these columns of a person, knows that the person is in "
                "the table, and knows nothing else."
            )
        )
        self._assumption.setWordWrap(True)
        set_look(self._assumption, "note")
        layout.addWidget(self.band)
        layout.addWidget(self.chart, 1)
        layout.addWidget(self._assumption)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._on_patience)
        self._show_nothing()

    @property
    def asked(self) -> Question | None:
        """What was asked last."""
        return self._asked

    def ask(self, question: Question | None) -> None:
        """Show the risk for a question; None when nothing is tagged."""
        if question == self._asked:
            return
        self._asked = question
        self.band.clear()
        if question is None:
            self._hub.latest(CHANNEL).cancel()
            self._show_nothing()
            return
        self._patience.start()
        self.chart.set_placeholder(self.tr("Counting…"))
        self._hub.latest(CHANNEL).query(
            self.tr("Counting how many rows are alike"),
            CountRisk(question),
            done=self._on_risk,
            failed=self._on_failed,
        )

    def _show_nothing(self) -> None:
        self._patience.stop()
        self.chart.set_stale(False)
        self.chart.set_chart(None)
        self.chart.set_placeholder(self.tr("Tag one quasi-identifier to see risk"))
        self._assumption.hide()

    def _on_risk(self, outcome: JobDone) -> None:
        found = outcome.value
        if isinstance(found, Answered) and found.question == self._asked:
            self._patience.stop()
            self.chart.set_stale(False)
            self.chart.set_chart(found.risk.chart)
            self._assumption.show()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._patience.stop()
        self.chart.set_stale(True)
        self.band.show_error(outcome)

    @Slot()
    def _on_patience(self) -> None:
        self.chart.set_stale(True, self.tr("counting…"))
