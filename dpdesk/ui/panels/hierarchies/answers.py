"""What choices turned out to be: asked for in background jobs, kept while the data stay."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from dpdesk.app.types import DataStore, HierarchyChoice
from dpdesk.core.plan import HierarchyFile
from dpdesk.ui.jobs import JobDone, JobFailed
from dpdesk.ui.panels.hierarchies.tasks import Answer, Examine
from dpdesk.ui.workbench import Workbench

KEPT_PER_ATTRIBUTE = 6


class AnswerStore(QObject):
    """Answers by data, attribute and choice.

    ``answered()`` when some have come, once for those that come together, since each is a reason to
    show all anew; ``failed(JobFailed)`` for a fault of the program.
    """

    answered = Signal()
    failed = Signal(object)

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._data: DataStore | None = None
        self._answers: dict[str, list[Answer]] = {}
        self._asked: dict[str, HierarchyChoice | None] = {}
        self._telling = QTimer(self)
        self._telling.setSingleShot(True)
        self._telling.setInterval(0)
        self._telling.timeout.connect(self.answered)

    def forget_files(self) -> None:
        """Read hierarchy files again when they are next asked for: they may have changed."""
        for attribute, answers in self._answers.items():
            kept = [one for one in answers if not isinstance(one.choice, HierarchyFile)]
            self._answers[attribute] = kept

    def answer(self, attribute: str, choice: HierarchyChoice | None) -> Answer | None:
        """What is known of a choice; None when it has not come yet."""
        self._follow_data()
        for known in reversed(self._answers.get(attribute, [])):
            if known.choice == choice:
                return known
        return None

    def latest(self, attribute: str) -> Answer | None:
        """The newest answer for an attribute that has a look, whatever its choice."""
        self._follow_data()
        known = [one for one in self._answers.get(attribute, []) if one.look is not None]
        return known[-1] if known else None

    def ask(self, attribute: str, choice: HierarchyChoice | None, channel: str = "look") -> None:
        """Find out in the background, unless it is known or on its way."""
        data = self._workbench.data
        if data is None or self.answer(attribute, choice) is not None:
            return
        name = f"hierarchies.{channel}.{attribute}"
        jobs = self._workbench.hub.latest(name)
        if jobs.busy and name in self._asked and self._asked[name] == choice:
            return
        self._asked[name] = choice
        jobs.query(
            self.tr("Counting values of {name}").format(name=attribute),
            Examine(data, attribute, choice, self._workbench.work.base),
            done=self._on_answer,
            failed=self._on_failed,
            quiet=True,
        )

    def _follow_data(self) -> None:
        if self._workbench.data is not self._data:
            self._data = self._workbench.data
            self._answers.clear()
            self._asked.clear()

    def _on_answer(self, outcome: JobDone) -> None:
        answer = outcome.value
        self._follow_data()
        if not isinstance(answer, Answer) or answer.data is not self._data:
            return
        answers = self._answers.setdefault(answer.attribute, [])
        answers.append(answer)
        del answers[:-KEPT_PER_ATTRIBUTE]
        self._telling.start()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)
