"""The page before a release at work: what would be released, and writing it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app.types import SetLanguage, SetTitle, WorkState
from dpdesk.core.home import expanded
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobDone, JobFailed, JobOutcome
from dpdesk.ui.panels.review import presenter
from dpdesk.ui.panels.review.prepare_page import PreparePage
from dpdesk.ui.panels.review.preview import Preview
from dpdesk.ui.panels.review.target import Target
from dpdesk.ui.words.budget import confirm_words, cost_words, outlook_words
from dpdesk.ui.words.lacking import Missing, Situation, place_words, what_is_missing
from dpdesk.ui.words.trial import trial_verdict, untried_words
from dpdesk.ui.workbench import Workbench

PROTECT, SPEND, KEEP = "protect", "spend", "keep"


class Preparing(QObject):
    """``changed()`` when :attr:`can_write` may be new; ``previewed()`` when there is more to show.

    It fills the page with what the workbench holds, and does what the page wishes.
    """

    changed = Signal()
    previewed = Signal()

    def __init__(
        self, workbench: Workbench, page: PreparePage, asker: FileAsker, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._bench, self._page, self._asker = workbench, page, asker
        self.preview, self._target = Preview(workbench, self), Target(workbench, self)
        self._job = 0
        self.preview.changed.connect(self.previewed)
        self._target.suggested.connect(page.show_folder)
        self._target.checked.connect(self._on_folder_checked)
        page.titleEdited.connect(self._on_title)
        page.languageChosen.connect(self._on_language)
        page.folderEdited.connect(self._on_folder)
        page.browseAsked.connect(self._on_browse)
        page.writeAsked.connect(self.write)
        page.band.triggered.connect(self._on_band)
        workbench.hub.finished.connect(self._on_finished)
        workbench.budget.changed.connect(self._on_budget)
        self._asked: WorkState | None = None

    @property
    def start(self) -> Path:
        """Where a file chooser begins: beside the release, the plan or the data."""
        return self._target.start

    @property
    def can_write(self) -> bool:
        """Whether the release can be written now."""
        bench = self._bench
        ready = bench.data is not None and bench.method is not None and self._missing() is None
        possible = self.preview.problem is None and not self._target.problem and self._paid
        return ready and possible and not self._job and bool(self._page.folder)

    def forget(self) -> None:
        """Other data: nothing that was worked out or suggested holds."""
        self._target.forget()
        self.preview.forget()

    def begin_again(self) -> None:
        """Somebody came to prepare another release: suggest a new folder for it."""
        self._target.forget()
        self.work_out()

    def work_out(self) -> None:
        """Suggest a folder and work out what would be released, where that is not known."""
        if self._bench.data is None:
            return
        self._target.suggest()
        if self._bench.method is not None and self._missing() is None:
            self.preview.work_out()

    @Slot()
    def write(self) -> None:
        """Write the release into the folder of the form."""
        if not self.can_write:
            return
        if self._bench.budget.outlook is not None:
            self._asked = self._bench.work
            self.changed.emit()
            self.previewed.emit()
            return
        self._write()

    def _write(self) -> None:
        self._asked = None
        out = expanded(self._page.folder.strip())
        self._job = self._bench.write_release(out)
        if self._job:
            text = self.tr("Writing the release {name}").format(name=out.name)
            self._page.job_line.follow(self._job, text)
            self.changed.emit()

    # -- what a release costs

    @property
    def _paid(self) -> bool:
        """Whether nothing stands against spending what the release costs."""
        if not self._bench.spends:
            return True
        outlook = self._bench.budget.outlook
        return outlook is not None and not outlook.refusal

    def _show_cost(self) -> None:
        """Name the cost; once asked for, say what it means and ask again, in the same place."""
        watch, page = self._bench.budget, self._page
        outlook = watch.outlook
        page.show_cost("" if outlook is None else cost_words(outlook))
        if watch.problem:
            page.band.show_message("fail", watch.problem, dismissible=False)
        elif outlook is None:
            return
        elif outlook.refusal:
            action = (PROTECT, self.tr("Change the settings"))
            page.band.show_message(
                "fail", f"{outlook.refusal} {outlook.hint}", (action,), dismissible=False
            )
        elif self._asked == self._bench.work:
            yes = self.tr("Yes: {what}").format(what=cost_words(outlook))
            answers = ((SPEND, yes), (KEEP, self.tr("Do not release")))
            trial = watch.trial
            tried = untried_words() if trial is None else trial_verdict(trial)
            words = f"{confirm_words(outlook)} {tried}"
            look = "caution" if trial is None or trial.ok else "fail"
            page.band.show_message(look, words, answers, dismissible=False)
        else:
            page.band.show_message("info", outlook_words(outlook), dismissible=False)

    @Slot()
    def _on_budget(self) -> None:
        self.previewed.emit()
        self.changed.emit()

    @Slot(str)
    def _on_band(self, answer: str) -> None:
        if answer == SPEND and self._asked == self._bench.work and self.can_write:
            self._write()
        elif answer == KEEP:
            self._asked = None
            self.previewed.emit()

    # -- showing

    def show(self) -> str:
        """Fill the page; returns the answer in one line, for the head of the panel."""
        missing = self._missing()
        self._page.show_title(self._bench.work.title)
        self._page.show_language(self._bench.work.language)
        if missing is not None:
            return self._show_missing(missing)
        if self.preview.problem is not None:
            return self._show_refusal(self.preview.problem)
        self._page.band.clear()
        self._show_cost()
        return self._show_preview()

    def show_whether_it_can(self) -> None:
        """Enable the button that writes, or say why it is off."""
        missing, can = self._missing(), self.can_write
        reason = f"{missing.title}. {missing.text}" if missing is not None else self._target.problem
        asked = self._asked is not None and self._asked == self._bench.work
        self._page.set_can_write(can and not asked, "" if can else reason)

    def _missing(self) -> Missing | None:
        bench, data = self._bench, self._bench.data
        columns = data.columns if data is not None else ()
        return what_is_missing(
            Situation(data is not None, bench.loading, columns, bench.work, bench.method)
        )

    def _show_missing(self, missing: Missing) -> str:
        self._page.show_waiting(missing.text)
        action = (missing.panel, place_words(missing.panel))
        self._page.band.show_message(
            "info", f"{missing.title}. {missing.text}", (action,), dismissible=False
        )
        return missing.title

    def _show_refusal(self, problem: JobFailed) -> str:
        self._page.show_waiting(self.tr("There is nothing to show for these settings."))
        action = (PROTECT, self.tr("Change the settings"))
        self._page.band.show_error(problem, (action,))
        return self.tr("These settings cannot be released.")

    def _show_preview(self) -> str:
        bench, candidate = self._bench, self.preview.candidate
        if candidate is None or bench.data is None:
            text = self.tr("Working out what would be released…")
            self._page.show_waiting(text)
            return text
        found = presenter.fates(bench.data.columns, candidate.work, candidate.result)
        self._page.show_candidate(candidate, found)
        self._page.set_stale(not self.preview.current, self.tr("being worked out again"))
        return self.tr("This is what the present settings would release; nothing is written yet.")

    # -- reactions

    @Slot()
    def _on_folder_checked(self) -> None:
        self._page.show_folder_problem(self._target.problem)
        self.changed.emit()

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if not self._job or outcome.job != self._job:
            return
        self._job = 0
        if not isinstance(outcome, JobDone):
            self._target.check()
        self.changed.emit()

    @Slot(str)
    def _on_title(self, text: str) -> None:
        self._bench.apply(SetTitle(text), merge=True)

    @Slot(str)
    def _on_language(self, code: str) -> None:
        self._bench.apply(SetLanguage(code))

    @Slot(str)
    def _on_folder(self, text: str) -> None:
        self._target.type(text)

    @Slot()
    def _on_browse(self) -> None:
        title = self.tr("Where shall the release folder be made?")
        parent = self._asker.open_folder(title, str(self._target.start))
        if parent is not None:
            self._target.suggest(parent)
