"""The page before a release at work: what would be released, and writing it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app.types import SetTitle
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobDone, JobFailed, JobOutcome
from dpdesk.ui.panels.review import presenter
from dpdesk.ui.panels.review.prepare_page import PreparePage
from dpdesk.ui.panels.review.preview import Preview
from dpdesk.ui.panels.review.target import Target
from dpdesk.ui.words.lacking import Missing, Situation, place_words, what_is_missing
from dpdesk.ui.workbench import Workbench

PROTECT = "protect"


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
        page.folderEdited.connect(self._on_folder)
        page.browseAsked.connect(self._on_browse)
        page.writeAsked.connect(self.write)
        workbench.hub.finished.connect(self._on_finished)

    @property
    def start(self) -> Path:
        """Where a file chooser begins: beside the release, the plan or the data."""
        return self._target.start

    @property
    def can_write(self) -> bool:
        """Whether the release can be written now."""
        bench = self._bench
        ready = bench.data is not None and bench.method is not None and self._missing() is None
        possible = self.preview.problem is None and not self._target.problem
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
        out = Path(self._page.folder.strip()).expanduser()
        self._job = self._bench.write_release(out)
        if self._job:
            text = self.tr("Writing the release {name}").format(name=out.name)
            self._page.job_line.follow(self._job, text)
            self.changed.emit()

    # -- showing

    def show(self) -> str:
        """Fill the page; returns the answer in one line, for the head of the panel."""
        missing = self._missing()
        self._page.show_title(self._bench.work.title)
        if missing is not None:
            return self._show_missing(missing)
        if self.preview.problem is not None:
            return self._show_refusal(self.preview.problem)
        self._page.band.clear()
        return self._show_preview()

    def show_whether_it_can(self) -> None:
        """Enable the button that writes, or say why it is off."""
        missing, can = self._missing(), self.can_write
        reason = f"{missing.title}. {missing.text}" if missing is not None else self._target.problem
        self._page.set_can_write(can, "" if can else reason)

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
    def _on_folder(self, text: str) -> None:
        self._target.type(text)

    @Slot()
    def _on_browse(self) -> None:
        title = self.tr("Where shall the release folder be made?")
        parent = self._asker.open_folder(title, str(self._target.start))
        if parent is not None:
            self._target.suggest(parent)
