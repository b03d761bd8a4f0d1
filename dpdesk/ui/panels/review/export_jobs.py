"""Writing a release in another format, and its evidence pack: a file is asked for, a job does it.

What goes wrong, and what a format cannot hold, is said at the buttons, where the person is looking.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from dpdesk.core.export_formats import DESCRIPTIONS, suffix_of
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobDone, JobFailed, JobOutcome
from dpdesk.ui.panels.review.release_page import ReleasePage
from dpdesk.ui.workbench import Workbench

PACK = "evidence pack"
PACK_ENDINGS = (".pdf", ".html")
_PARTS = {
    "ddi": "-codebook",
    "csvw": "-metadata",
    "sdmx-csv": "-sdmx",
    "sdmx-structure": "-sdmx-structure",
}
translate = QCoreApplication.translate


class ExportJobs(QObject):
    """``changed()`` when a job began or ended, ``told(str, str)`` kind and sentence of a success.

    ``allowed`` says whether the release may be exported now.
    """

    changed = Signal()
    told = Signal(str, str)

    def __init__(
        self,
        workbench: Workbench,
        page: ReleasePage,
        asker: FileAsker,
        allowed: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bench, self._page, self._asker, self._allowed = workbench, page, asker, allowed
        self._jobs: dict[int, str] = {}
        workbench.hub.finished.connect(self._on_finished)

    @property
    def busy(self) -> bool:
        """Whether something is being written."""
        return bool(self._jobs)

    def export(self, form: str) -> None:
        """Ask for a file and write the public part there."""
        folder = self._bench.release_path
        if folder is None or not self._allowed():
            return
        suffix = suffix_of(form)
        suggestion = folder.parent / f"{folder.name}{_part(form)}{suffix}"
        title = self.tr("Export the public table")
        path = self._asker.save_file(title, str(suggestion), _filters()[form], (suffix,))
        if path is None:
            return
        self._follow(self._bench.export(form, path), form, path)

    def save_pack(self) -> None:
        """Ask for a file and write the evidence pack there, as a PDF or a web page by its name."""
        folder = self._bench.release_path
        if folder is None or self.busy:
            return
        suggestion = folder.parent / f"{folder.name}-evidence{PACK_ENDINGS[0]}"
        filters = self.tr("PDF (*.pdf);;Web page (*.html)")
        path = self._asker.new_file(self.tr("Save the evidence pack"), str(suggestion), filters)
        if path is None:
            return
        if path.suffix.lower() not in PACK_ENDINGS:
            path = path.with_name(f"{path.name}{PACK_ENDINGS[0]}")
        self._follow(self._bench.save_pack(path), PACK, path)

    def _follow(self, job: int, what: str, path: Path) -> None:
        if not job:
            return
        self._jobs[job] = what
        self._page.give_band.clear()
        self._page.job_line.follow(job, self.tr("Writing {name}").format(name=path.name))
        self.changed.emit()

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        what = self._jobs.pop(outcome.job, "")
        if not what:
            return
        if isinstance(outcome, JobFailed):
            self._page.give_band.show_error(outcome)
        elif isinstance(outcome, JobDone):
            said = self.tr("The public table is in {file}.")
            if what in DESCRIPTIONS:
                said = self.tr("The description of the release is in {file}.")
            elif what == PACK:
                said = self.tr("The evidence pack is in {file}; it is confidential.")
            if outcome.notes:
                self._page.give_band.show_message("info", "\n".join(outcome.notes))
            self.told.emit("ok", said.format(file=outcome.value))
        self.changed.emit()


def _part(form: str) -> str:
    """What the suggested name says beside the release, where formats share an ending."""
    return _PARTS.get(form, "")


def _filters() -> dict[str, str]:
    return {
        "csv": translate("Review", "CSV (*.csv)"),
        "parquet": translate("Review", "Parquet (*.parquet)"),
        "xlsx": translate("Review", "Excel workbook (*.xlsx)"),
        "sav": translate("Review", "SPSS (*.sav)"),
        "dta": translate("Review", "Stata (*.dta)"),
        "xpt": translate("Review", "SAS transport (*.xpt)"),
        "csvw": translate("Review", "CSV on the Web (*.json)"),
        "ddi": translate("Review", "DDI Codebook (*.xml)"),
        "sdmx-csv": translate("Review", "SDMX-CSV (*.csv)"),
        "sdmx-structure": translate("Review", "SDMX-ML structure (*.xml)"),
    }
