"""The review panel: before a release what it would be, afterwards what it is and where it goes.

Checking never uses what the window knows: it reads the folder again, as ``dpdesk verify`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QStackedWidget

from dpdesk.app.review.values import Status
from dpdesk.app.scripting import release_script
from dpdesk.app.types import SetParameters
from dpdesk.core.capabilities import ESTIMATED, Use
from dpdesk.core.export_formats import DESCRIPTIONS, suffix_of
from dpdesk.core.messages import joined
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobDone, JobFailed, JobOutcome
from dpdesk.ui.panels.review import presenter
from dpdesk.ui.panels.review.preparing import KEEP, SPEND, PreparePage, Preparing
from dpdesk.ui.panels.review.presenter import FileLists, list_files
from dpdesk.ui.panels.review.questions import SOURCE, checklist_rows, checklist_verdict
from dpdesk.ui.panels.review.release_page import SIGN_OFF, VERIFY, ReleasePage
from dpdesk.ui.panels.review.review_status import CheckedReview, signed_words
from dpdesk.ui.panels.review.scrolling import scrolled
from dpdesk.ui.panels.review.sign_page import SignPage
from dpdesk.ui.panels.review.tables_page import Tables
from dpdesk.ui.projects import DATA_ENDINGS
from dpdesk.ui.shell import Mark, Panel, PanelStatus
from dpdesk.ui.theme import SPACE, ThemeManager
from dpdesk.ui.widgets import EmptyState, StepHeader, column, row
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.words.numbers import legible
from dpdesk.ui.words.settings import PROTECT
from dpdesk.ui.words.spoken import moment_words
from dpdesk.ui.workbench import Aspect, Changes, Workbench

PACK = "evidence pack"
PACK_ENDINGS = (".pdf", ".html")
_PARTS = {
    "ddi": "-codebook",
    "csvw": "-metadata",
    "sdmx-csv": "-sdmx",
    "sdmx-structure": "-sdmx-structure",
    "synthetic": "-synthetic",
    "argus": "-internal",
    "jj": "-internal",
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
        self._done: list[tuple[Path | None, str, Path]] = []
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

    def written(self, folder: Path) -> list[tuple[str, Path]]:
        """The formats and files that this release was exported to since the window is open."""
        return [(form, path) for release, form, path in self._done if release == folder]

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
            if what != PACK:
                self._done.append((self._bench.release_path, what, Path(str(outcome.value))))
            if outcome.notes:
                self._page.give_band.show_message("info", joined(outcome.notes, "\n"))
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
        "synthetic": translate("Review", "Synthetic rows (*.csv)"),
        "argus": translate("Review", "Tables for τ-ARGUS (*.tab)"),
        "jj": translate("Review", "JJ file (*.jj)"),
    }


PREPARE, RELEASE, SIGN = "prepare", "release", "sign"
OPEN_RELEASE, AGAIN = "open-release", "again"
_FILES = "review.files"


class ReviewPanel(Panel):
    """The last step of the work; ``cubeAsked(Path)``: the tables of a release are to be browsed."""

    cubeAsked = Signal(object)

    def __init__(self, workbench: Workbench, theme: ThemeManager, asker: FileAsker) -> None:
        super().__init__()
        self._bench, self._theme, self._asker = workbench, theme, asker
        self.looker = CheckedReview(workbench, self)
        self._jobs: dict[int, str] = {}
        self._shown_release: object = None
        self._refreshes = False
        self._data = workbench.data
        self._visible_page = PREPARE
        self._build()
        self.follow(workbench.changed)
        workbench.hub.finished.connect(self._on_finished)
        self.preparing.previewed.connect(self._on_preview)
        self.preparing.changed.connect(self._update_buttons)
        self.looker.changed.connect(self._on_looked)
        self.sign.signed.connect(self.messageRaised)
        self._refresh()

    # -- what the window asks

    def activated(self) -> None:
        """Work out what would be released, when that is not known yet."""
        self.preparing.work_out()

    def status(self) -> PanelStatus:
        """What the navigation shows."""
        bench, report = self._bench, self._bench.verified
        if report is None:
            return PanelStatus(Mark.OPEN, self.tr("nothing written yet") if bench.data else "")
        if self._spoiled():
            return PanelStatus(Mark.ATTENTION, self.tr("review not valid"))
        if not report.ok:
            return PanelStatus(Mark.ATTENTION, self.tr("check failed"))
        if self._stale_words():
            return PanelStatus(Mark.STALE, self.tr("work changed since"))
        return PanelStatus(Mark.DONE, self.tr("written and checked"))

    def can_run(self) -> bool:
        """Whether Ctrl+Enter would write the release, or export it."""
        if self._visible_page == RELEASE:
            return self._can_export()
        return self._visible_page == PREPARE and self.preparing.can_write

    def run(self) -> None:
        """Do what the primary button does."""
        if self._visible_page == RELEASE:
            self.export("csv")
        elif self._visible_page == PREPARE:
            self.write()

    def guide_page(self) -> str:
        """The page of the guide that says more."""
        return "review"

    def explanation(self) -> str:
        """What F1 tells."""
        return "\n\n".join(
            (
                self.tr(
                    "A release is a folder with two parts. public/ is published: the protected "
                    "table, a manifest that says what is guaranteed, and a page for users of the "
                    "data. internal/ stays with you: it states facts about the raw data."
                ),
                self.tr(
                    "After writing, everything is read back and checked, by code that shares "
                    "nothing with the search. ✓ was re-checked from the files, ○ needs the source "
                    "to be settled, – is a property that no check of files can show, ✕ failed."
                ),
                self.tr(
                    "A release that fails its check, or whose review is not valid, is not "
                    "exported. The review says who signed what: the author submits, others vote "
                    "with their own keys, and no one reads a vote before all are in."
                ),
            )
        )

    # -- wishes

    @Slot()
    def write(self) -> None:
        """Write the release into the folder of the form."""
        self.preparing.write()

    @Slot(str)
    def export(self, form: str) -> None:
        """Ask for a file and write the public part there."""
        self.giving.export(form)

    @Slot()
    def open_release(self) -> None:
        """Ask for a release folder (or its public part) and open it."""
        path = self._asker.open_folder(self.tr("Open a release folder"), str(self.preparing.start))
        if path is not None:
            self._bench.open_path(path)

    def check_with_source(self) -> None:
        """Check again with the data: those that are open if it was made from them, else a file."""
        data = self._bench.data
        made_from_it = data is not None and presenter.made_from(self._bench.release, data.sha256)
        if data is not None and made_from_it and data.path.is_file():
            self._verify(data.path)
            return
        work = self._bench.work.source
        if made_from_it and work is not None and work.is_url:
            self._verify(work.path)
            return
        path = self._asker.open_file(
            self.tr("The data file that the release was made from"),
            str(self.preparing.start),
            self.tr("Data files ({endings});;All files (*)").format(endings=DATA_ENDINGS),
        )
        if path is not None:
            self._verify(path)

    # -- building

    def _build(self) -> None:
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self._header = StepHeader(6, self.tr("What will be published, and is it verified?"), "")
        self.strip = ChoiceStrip(self.tr("Prepare, or look at a release"))
        self.strip.chosen.connect(self._on_page)
        layout.addWidget(self._header)
        self._line = row(gap=SPACE.l)
        layout.addLayout(self._line)
        self._stack = QStackedWidget()
        self.prepare = PreparePage(self._theme, self._bench.hub)
        self.preparing = Preparing(self._bench, self.prepare, self._asker, self)
        self.release = ReleasePage(self._theme, self._bench.hub)
        self.sign = SignPage(self._bench, self._theme, self._asker, self.looker)
        self.standing = self.sign.standing
        self._line.addWidget(self.strip, 1)
        self._line.addWidget(self.release.again)
        self._line.addWidget(self.sign.strip)
        self._empty = self._build_empty()
        self._pages = {
            PREPARE: scrolled(self.prepare),
            RELEASE: scrolled(self.release),
            SIGN: scrolled(self.sign, self.tr("Status of the review")),
        }
        for page in (*self._pages.values(), self._empty):
            self._stack.addWidget(page)
        layout.addWidget(self._stack, 1)
        self.prepare.bandTriggered.connect(self._on_band)
        self.release.bandTriggered.connect(self._on_band)
        self.giving = ExportJobs(self._bench, self.release, self._asker, self._can_export, self)
        self.giving.changed.connect(self._update_buttons)
        self.giving.told.connect(self.messageRaised)
        self.release.exportAsked.connect(self.export)
        self.release.packAsked.connect(self.giving.save_pack)
        self.tables = Tables(self._bench.hub, self.release.tables, self)
        self.release.openAsked.connect(self._on_open)
        self.standing.lookAsked.connect(self.looker.look)
        self.standing.questions.list.goAsked.connect(self._on_band)
        self.standing.questions.list.setAsked.connect(self._on_settings)
        self.prepare.settingsAsked.connect(self._on_settings)
        self.release.settingsAsked.connect(self._on_settings)

    def _build_empty(self) -> EmptyState:
        empty = EmptyState(
            self._theme,
            "review",
            self.tr("There is nothing to release yet"),
            self.tr(
                "Open data and protect them first, or open a release folder to check it and to "
                "export from it."
            ),
            (("data", self.tr("Go to Data")), (OPEN_RELEASE, self.tr("Open a release folder…"))),
        )
        empty.triggered.connect(self._on_band)
        return empty

    # -- state

    def _can_export(self) -> bool:
        report = self._bench.verified
        sound = report is not None and report.ok and not self.looker.busy
        return sound and not self.giving.busy

    def _signed_off(self) -> bool:
        """Whether reviewers released it, so that exporting is what comes next."""
        picture = self.looker.picture
        return picture is not None and picture.state.ok and picture.state.status is Status.RELEASED

    def _spoiled(self) -> bool:
        """Whether the files hold, but not what was signed about them."""
        report, picture = self._bench.verified, self.looker.picture
        return report is not None and not report.ok and picture is not None and picture.verified.ok

    def _stale_words(self) -> str:
        if self._bench.release is None:
            return ""
        return presenter.stale_words(self._bench.released_work, self._bench.work)

    @Slot()
    def _refresh(self) -> None:
        bench = self._bench
        has_work, has_release = bench.data is not None, bench.release is not None
        pages = [(PREPARE, self.tr("Prepare a release"))] if has_work else []
        if has_release:
            pages.append((RELEASE, self.tr("The release")))
            pages.append((SIGN, self.tr("Review and sign-off")))
        self.strip.set_choices(pages)
        self.strip.setVisible(len(pages) > 1)
        names = [name for name, _ in pages]
        if self._visible_page not in names:
            self._visible_page = RELEASE if has_release else PREPARE
        self.strip.choose(self._visible_page)
        self.release.again.setVisible(bool(names) and self._visible_page == RELEASE)
        if not names:
            self._stack.setCurrentWidget(self._empty)
            self.sign.strip.hide()
            self._header.set_line(self.tr("Nothing has been opened yet."))
        elif self._visible_page in (RELEASE, SIGN):
            self._stack.setCurrentWidget(self._pages[self._visible_page])
            self._show_release()
            self._show_standing()
        else:
            self._stack.setCurrentWidget(self._pages[PREPARE])
            self._header.set_line(self.preparing.show())
        self.sign.show_strip()
        self._update_buttons()

    def _update_buttons(self) -> None:
        self.preparing.show_whether_it_can()
        can = self._can_export()
        facts = self._bench.release
        excel, note = presenter.excel_note(None if facts is None else presenter.rows_out(facts))
        report = self._bench.verified
        if self._spoiled():
            note = self.tr("A release whose review is not valid is not exported.")
        elif report is not None and not report.ok:
            note = self.tr("A release that failed its check is not exported.")
        signed = signed_words(self.looker.picture)
        self.release.set_can_export(can, excel, f"{signed} {note}", signed_off=self._signed_off())
        whole = facts is not None and facts.internal is not None
        free = not self.giving.busy and not self.looker.busy
        self.release.set_can_save_pack(free, whole=whole)
        self.statusChanged.emit()

    # -- after a release

    def _show_release(self) -> None:
        bench = self._bench
        facts, report = bench.release, bench.verified
        if facts is None or report is None or bench.release_path is None:
            return
        stale = self._stale_words()
        self.release.show_stale(stale, ((AGAIN, self.tr("Prepare another")),) if stale else ())
        title = legible(facts.title) or self.tr("Without a title")
        line = self.tr("{title}, released {date}, in {folder}")
        self._header.set_line(
            line.format(
                title=title, date=moment_words(facts.created or "–"), folder=bench.release_path
            )
        )
        if (facts, report) == self._shown_release:
            return
        self._shown_release = (facts, report)
        rows = presenter.check_rows(facts, report, bench.verified_with)
        more = presenter.needs_source(rows) and facts.internal is not None and report.ok
        self.release.show_verdict(presenter.verdict(report, rows), source=more)
        self.release.show_checks(rows)
        self.release.show_guarantee(
            presenter.guarantee_of(facts), compared=report.words_compared, failed=not report.ok
        )
        tables = self.tables.show_release(facts)
        picture, about = (
            presenter.risk_picture(facts, report),
            bench.context.registry.about(facts.method),
        )
        drawn = about.protection in ESTIMATED and about.allows(Use.ASKED)
        self.release.exports.show_fitting(about.exports)
        cube = about.allows(Use.BROWSED)
        self.release.show_picture(picture, tables=tables, cube=cube, drawn=drawn)
        title = self.tr("Listing files")
        work = partial(list_files, bench.release_path, facts, about.content)
        bench.hub.latest(_FILES).query(title, work, then=self._on_files, quiet=True)

    def _show_questions(self) -> None:
        picture = self.looker.picture
        if picture is None:
            self.release.show_questions(None, None)
            return
        approved = picture.state.approved
        rows = checklist_rows(picture.checked.checklist, approved=approved)
        self.release.show_questions(rows, checklist_verdict(rows, approved=approved))

    def _show_standing(self) -> None:
        facts = self._bench.release
        internal = facts is not None and facts.internal is not None
        self._show_questions()
        self.standing.show_review(self.looker, internal=internal)

    def _on_files(self, found: FileLists) -> None:
        lists, report = found, self._bench.verified
        self.release.show_files(lists)
        whole = report is not None and report.ok  # pages of a forger are not opened
        self.release.set_can_open(
            report=whole and any(one.name == "report.html" for one in lists.internal or ()),
            about=whole and any(one.name == "about.html" for one in lists.public),
        )

    def _verify(self, source: Path | str | None) -> None:
        job = self._bench.verify_again(source)
        if job:
            self._jobs[job] = "verify"
            self.release.job_line.follow(job, self.tr("Checking the release"))
            self.looker.follow()

    # -- reactions

    def noted(self, changes: Changes) -> None:
        """Turn to a new release; forget what was worked out for other data."""
        bench = self._bench
        if bench.data is not self._data:
            self._data = bench.data
            self.preparing.forget()
        shown = self._shown_release
        new = bench.release is not None and (bench.release, bench.verified) != shown
        if Aspect.RELEASE in changes and new and self._visible_page != SIGN:
            self._visible_page = RELEASE

    def catch_up(self, changes: Changes) -> None:
        """Show the work and the release as they are now."""
        self._refreshes = True
        try:
            self.looker.follow()
            self.preparing.work_out()
        finally:
            self._refreshes = False
        self._refresh()

    @Slot()
    def _on_looked(self) -> None:
        if self._refreshes:  # all of it is shown anew in a moment
            return
        self._show_standing()
        self._update_buttons()

    @Slot()
    def _on_preview(self) -> None:
        self.later(frozenset())

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        kind = self._jobs.pop(outcome.job, "")
        if not kind:
            return
        self._update_buttons()

    @Slot(str)
    def _on_page(self, identifier: str) -> None:
        self._visible_page = identifier
        if identifier == PREPARE:
            self.preparing.begin_again()
        self._refresh()

    @Slot(str)
    def _on_band(self, identifier: str) -> None:
        if identifier == VERIFY:
            self._verify(None)
        elif identifier == SOURCE:
            self.check_with_source()
        elif identifier == SIGN_OFF:
            self._on_page(SIGN)
        elif identifier == AGAIN:
            self._on_page(PREPARE)
        elif identifier == OPEN_RELEASE:
            self.open_release()
        elif identifier not in (SPEND, KEEP):
            self.wantsPanel.emit(identifier)

    @Slot(object)
    def _on_settings(self, settings: Mapping[str, object]) -> None:
        """Change settings of the plan, as one edit, and show where they are."""
        method = self._bench.method
        known = {one.key: one for one in method.parameters} if method is not None else {}
        if not set(settings) <= set(known):
            text = self.tr("Open the plan of this release first: another method is open.")
            self.messageRaised.emit("info", text)
            return
        self._bench.apply(SetParameters(dict(settings)))
        self.wantsPanel.emit(PROTECT)

    def _copy_python(self, folder: Path) -> None:
        """Put checking the release, and its exports so far, on the clipboard as Python code."""
        data = self._bench.data
        made = data is not None and presenter.made_from(self._bench.release, data.sha256)
        source = data.path if data is not None and made else None
        script = release_script(folder, source, self.giving.written(folder))
        QGuiApplication.clipboard().setText(script)
        self.messageRaised.emit("ok", self.tr("The Python code is on the clipboard."))

    @Slot(str)
    def _on_open(self, what: str) -> None:
        facts, folder = self._bench.release, self._bench.release_path
        if facts is None or folder is None:
            return
        if what in ("browse", "ask"):
            self.cubeAsked.emit(folder)
            return
        if what == "python":
            self._copy_python(folder)
            return
        places = {"folder": folder, "about": facts.public / "about.html"}
        if facts.internal is not None:
            places["report"] = facts.internal / "report.html"
        path = places.get(what)
        if path is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            text = self.tr("No program was found that opens {path}.")
            self.messageRaised.emit("info", text.format(path=path))
