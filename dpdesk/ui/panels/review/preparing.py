"""The page before a release: what would be released, into which folder, and writing it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from dpdesk.app.exploring import checklist_ahead
from dpdesk.app.review.values import Checklist
from dpdesk.app.types import Candidate, SetLanguage, SetTitle, WorkState
from dpdesk.core.errors import DpdeskError
from dpdesk.core.home import expanded
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.language import languages
from dpdesk.core.messages import msg
from dpdesk.core.resources import resource
from dpdesk.ui.charts import ChartView
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub, JobOutcome
from dpdesk.ui.panels.review import presenter
from dpdesk.ui.panels.review.presenter import (
    Treatments,
    figures_words,
    folder_problem,
    free_folder,
    known_candidate,
    may_write,
    same_release,
    suggested_name,
)
from dpdesk.ui.panels.review.questions import checklist_rows, checklist_verdict
from dpdesk.ui.panels.review.release_page import PICTURE, QUESTIONS, Questions
from dpdesk.ui.panels.review.scrolling import Page, SideBySide, Turning, scrolled
from dpdesk.ui.settings import own_name
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import GuaranteeCard, MessageBand, column, row
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.words.numbers import legible, verbatim
from dpdesk.ui.words.settings import (
    Missing,
    Situation,
    confirm_words,
    cost_words,
    outlook_words,
    place_words,
    trial_verdict,
    unread_words,
    untried_words,
    what_is_missing,
)
from dpdesk.ui.words.spoken import in_window
from dpdesk.ui.workbench import Workbench, tasks

_CHANNEL, _AHEAD = "review.preview", "review.checklist"


class Preview(QObject):
    """``changed()`` when :attr:`candidate`, :attr:`problem`, :attr:`current` or :attr:`checklist`
    is new.
    """

    changed = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._of: WorkState | None = None
        self._candidate: Candidate | None = None
        self._problem: JobFailed | None = None
        self._checklist: Checklist | None = None
        self._listed: WorkState | None = None
        self.unlisted = ""
        """Why there is no checklist, in one sentence; empty while it is being made."""

    @property
    def checklist(self) -> Checklist | None:
        """What a reviewer would be asked of the present settings; None when it is not known."""
        return self._checklist if same_release(self._listed, self._bench.work) else None

    @property
    def candidate(self) -> Candidate | None:
        """What would be released; look at :attr:`current` before trusting it."""
        return self._candidate

    @property
    def problem(self) -> JobFailed | None:
        """Why the present settings cannot be released; None when they can, or are not tried."""
        return self._problem if same_release(self._of, self._bench.work) else None

    @property
    def current(self) -> bool:
        """Whether the candidate is that of the present settings."""
        work = self._bench.work
        return self._candidate is not None and same_release(self._candidate.work, work)

    def forget(self) -> None:
        """Other data: nothing that was worked out holds."""
        self._bench.hub.latest(_CHANNEL).cancel()
        self._bench.hub.latest(_AHEAD).cancel()
        self._of = self._candidate = self._problem = None
        self._listed = self._checklist = None

    def work_out(self) -> None:
        """Run the settings without writing anything, unless that has been done or is under way."""
        bench = self._bench
        if bench.data is None or same_release(self._of, bench.work):
            return
        self._of, self._problem = bench.work, None
        kept = known_candidate(bench.work, bench.candidates)
        if kept is not None:
            bench.hub.latest(_CHANNEL).cancel()
            self._candidate = kept
            self._list_ahead()
            return
        bench.hub.latest(_CHANNEL).query(
            self.tr("Working out what would be released"),
            partial(tasks.make_candidate, bench.context, bench.data, bench.work, ""),
            then=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )

    def _on_done(self, found: Candidate) -> None:
        self._candidate = found
        self._list_ahead()
        self.changed.emit()

    def _list_ahead(self) -> None:
        """Make the checklist of what would be released, where that spends nothing."""
        bench = self._bench
        if bench.data is None or bench.spends or same_release(self._listed, bench.work):
            return
        self._listed, self._checklist, self.unlisted = bench.work, None, ""
        bench.hub.latest(_AHEAD).query(
            self.tr("Making the checklist of what would be released"),
            partial(checklist_ahead, bench.context, bench.data, bench.work),
            then=self._on_listed,
            failed=self._on_unlisted,
            cancelled=self._on_unlisted,
        )

    def _on_listed(self, found: Checklist) -> None:
        self._checklist = found
        self.changed.emit()

    def _on_unlisted(self, outcome: JobFailed | JobCancelled) -> None:
        self._listed = None
        stopped = self.tr(
            "It was stopped; the release itself gets its checklist when it is written."
        )
        self.unlisted = outcome.sentence if isinstance(outcome, JobFailed) else stopped
        self.changed.emit()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._problem = outcome
        self.changed.emit()

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._of = None
        self.changed.emit()


_TARGET_CHANNEL = "review.folder"


@dataclass(frozen=True)
class FolderFound:
    """A folder, and what stands against writing a release there (empty: nothing)."""

    text: str
    problem: str


def inspect_folder(
    text: str, parents: tuple[Path, ...], token: CancelToken, report: Report
) -> FolderFound:
    """Look at ``text``, or find a free name below one of ``parents``.

    The first parent that exists and may be written to is taken; when there is none, the first.
    """
    if parents:
        place = next((one for one in parents if may_write(one)), parents[0])
        text = str(free_folder(place, text))
    return FolderFound(text, folder_problem(text))


class Target(QObject):
    """``suggested(str)`` proposes a folder; ``checked()`` says that :attr:`problem` is new."""

    suggested = Signal(str)
    checked = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._typed = False
        self._text = ""
        self._problem = ""

    @property
    def problem(self) -> str:
        """What stands against the folder, in one sentence; empty when nothing does."""
        return self._problem

    @property
    def typed(self) -> bool:
        """Whether a person chose the folder; a suggestion is never put over it."""
        return self._typed

    @property
    def start(self) -> Path:
        """Where a file chooser begins: beside the release, the plan or the data."""
        bench = self._bench
        if bench.release_path is not None:
            return bench.release_path.parent
        base = bench.plan_path.parent if bench.plan_path is not None else bench.work.base
        if bench.work.source is None or _is_bundled(base):
            return _own_places()[0]
        return base.absolute()

    def forget(self) -> None:
        """Suggest again from now on."""
        self._typed = False

    def suggest(self, parent: Path | None = None) -> None:
        """Suggest a new folder, below ``parent`` when a person chose that."""
        if self._typed and parent is None:
            return
        self._typed = parent is not None
        places = (self.start, *_own_places()) if parent is None else (parent,)
        self._ask(suggested_name(self._bench.work), places)

    def type(self, text: str) -> None:
        """A person wrote this folder."""
        self._typed, self._text = True, text
        self._ask(text)

    def check(self) -> None:
        """Look at the folder again."""
        if self._text:
            self._ask(self._text)

    def _ask(self, text: str, parents: tuple[Path, ...] = ()) -> None:
        look = partial(inspect_folder, text, parents)
        title = self.tr("Looking at the folder")
        channel = self._bench.hub.latest(_TARGET_CHANNEL)
        channel.query(title, look, then=self._on_looked, quiet=True)

    def _on_looked(self, found: FolderFound) -> None:
        if found.text != self._text:
            self._text = found.text
            self.suggested.emit(found.text)
        self._problem = found.problem
        self.checked.emit()


def _own_places() -> tuple[Path, ...]:
    """Folders of the person at work: documents, then home."""
    place = QStandardPaths.StandardLocation.DocumentsLocation
    documents = Path(QStandardPaths.writableLocation(place) or Path.home())
    return (documents, Path.home()) if documents.is_dir() else (Path.home(),)


def _is_bundled(folder: Path) -> bool:
    try:
        return folder.absolute().is_relative_to(Path(str(resource("sample"))).absolute())
    except DpdeskError:
        return False


_MOST_LINES = 5  # left out, generalised, as they are, as pseudonyms, drawn or apart


class TreatmentCard(QFrame):
    """Columns that are left out, generalised, released as they are."""

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.xs)
        head = QLabel(self.tr("What becomes of the columns"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        self._lines: list[tuple[QLabel, QLabel]] = []
        for _ in range(_MOST_LINES):
            name, text = QLabel(), QLabel()
            set_look(name, "note")
            text.setWordWrap(True)
            text.setMinimumWidth(1)  # lists of names break wherever they must
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(name)
            layout.addWidget(text)
            self._lines.append((name, text))
        layout.addStretch(1)

    def set_fates(self, fates: Treatments) -> None:
        """Show them."""
        lines = [(head, legible(words)) for head, words in fates.lines()]
        for place, (name, text) in enumerate(self._lines):
            head, words = lines[place] if place < len(lines) else ("", "")
            name.setText(head)
            text.setText(words)
            name.setVisible(bool(head))
            text.setVisible(bool(head))
        self.setAccessibleName(
            ". ".join(msg("{file}: {note}", file=head, note=words) for head, words in lines)
        )


LEAST_LINES = (10, 7)


class PreparePage(Page):
    """Preview at the top, the form that writes the release below.

    ``titleEdited(str)`` and ``folderEdited(str)`` follow the keys; ``languageChosen(str)`` gives a
    code such as ``de``; ``browseAsked()``, ``writeAsked()`` and ``bandTriggered(str)`` are wishes.
    """

    titleEdited = Signal(str)
    languageChosen = Signal(str)
    folderEdited = Signal(str)
    browseAsked = Signal()
    writeAsked = Signal()
    bandTriggered = Signal(str)
    settingsAsked = Signal(object)

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.m)
        self.band = MessageBand(theme)
        self.band.triggered.connect(self.bandTriggered)
        self._figures = QLabel()
        self._figures.setWordWrap(True)
        set_look(self._figures, "answer")
        layout.addWidget(self._figures)
        self._chart = ChartView(theme)
        self._left = self._build_left(theme)
        parts = (self._left, self._build_words(theme))
        layout.addWidget(SideBySide(theme, "review-prepare", parts, LEAST_LINES), 1)
        layout.addWidget(self.band)  # here, because nothing that is clicked gives way to it
        layout.addWidget(self._build_form(hub))

    # -- what is shown

    def show_candidate(self, candidate: Candidate | None, fates: Treatments | None) -> None:
        """Show what would be released; None while it is being worked out."""
        if candidate is None or fates is None:
            return
        self._words.show()
        self._guarantee.set_guarantee(candidate.guarantee)
        self._fates.set_fates(fates)
        chart = candidate.charts[0] if candidate.charts else None
        self._chart.set_chart(chart)
        self._left.strip.setVisible(chart is not None)
        if chart is None:
            self._left.turn_to(QUESTIONS)
        self._figures.setText(figures_words(candidate.figures))
        self._figures.show()

    def show_waiting(self, text: str) -> None:
        """Say why there is no preview (yet); takes an old one away."""
        self._words.hide()
        self.questions.show_waiting(text)
        self._chart.set_chart(None)
        self._chart.set_placeholder(text)
        self._figures.hide()

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Dim the picture while newer numbers are being worked out."""
        self._chart.set_stale(stale, reason)

    def show_title(self, title: str) -> None:
        """Write the title into its field, unless it says so already."""
        if self._title.text() != title:
            self._title.setText(title)

    def show_language(self, code: str) -> None:
        """Show the language of the pages."""
        self._language.setCurrentIndex(max(self._language.findData(code), 0))

    def show_folder(self, folder: str) -> None:
        """Write the folder into its field."""
        if self._folder.text() != folder:
            self._folder.setText(folder)

    @property
    def folder(self) -> str:
        """The folder as typed."""
        return self._folder.text()

    def show_folder_problem(self, sentence: str) -> None:
        """Say below the field what is wrong with the folder; empty: nothing."""
        self._folder_error.setText(f"✕ {sentence}" if sentence else "")
        self._folder_error.setVisible(bool(sentence))
        self._folder.setProperty("invalid", bool(sentence))
        self._folder.setAccessibleDescription(sentence)
        style = self._folder.style()
        style.unpolish(self._folder)
        style.polish(self._folder)

    def set_can_write(self, can: bool, reason: str = "") -> None:
        """Enable the button, or say why it is not."""
        self._write.setEnabled(can)
        tip = self.tr("Write public/ and internal/ into a new folder, and check them (Ctrl+Enter)")
        self._write.setToolTip(tip if can or not reason else reason)

    def show_cost(self, words: str) -> None:
        """Name what writing costs on the button; empty: it costs nothing."""
        text = verbatim(words) or self.tr("&Write the release")
        self._write.setText(text)
        self._write.setAccessibleName(words or self.tr("Write the release"))

    def show_checklist(self, checklist: Checklist | None, why: str, *, noise: bool) -> None:
        """What a reviewer would be asked, or ``why`` it is not known; with ``noise`` it is known
        only afterwards.
        """
        if checklist is not None:
            rows = checklist_rows(checklist, ahead=True)
            self.questions.show_rows(rows, checklist_verdict(rows, ahead=True))
        elif noise:
            self.questions.show_waiting(
                self.tr(
                    "Noise is drawn once, so the checklist is made when the release is written; "
                    "look through it before you export."
                )
            )
        else:
            self.questions.show_waiting(why or self.tr("The checklist is being made…"))

    # -- building

    def _build_left(self, theme: ThemeManager) -> Turning:
        self.questions = Questions(theme, "review-ahead")
        self.questions.list.goAsked.connect(self.bandTriggered)
        self.questions.list.setAsked.connect(self.settingsAsked)
        pages = (
            (QUESTIONS, self.tr("What reviewers ask"), self.questions),
            (PICTURE, self.tr("How risky"), self._chart),
        )
        return Turning(self.tr("The questions, or a picture of them"), pages)

    def _build_words(self, theme: ThemeManager) -> QScrollArea:
        inner = QWidget()
        layout = column(inner, gap=SPACE.m)
        layout.setContentsMargins(0, 0, SPACE.s, 0)
        self._guarantee = GuaranteeCard(theme)
        self._fates = TreatmentCard()
        layout.addWidget(self._guarantee)
        layout.addWidget(self._fates)
        layout.addStretch(1)
        self._words = scrolled(inner, self.tr("What would be released, in words"))
        return self._words

    def _build_form(self, hub: JobHub) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.s)
        fields = QGridLayout()
        fields.setHorizontalSpacing(SPACE.m)
        fields.setVerticalSpacing(SPACE.s)
        self._add_title(fields)
        self._add_folder(fields)
        layout.addLayout(fields)
        self._folder_error = QLabel()
        self._folder_error.setWordWrap(True)
        set_look(self._folder_error, "fail")
        self._folder_error.hide()
        layout.addWidget(self._folder_error)
        self.job_line = JobLine(hub)
        layout.addWidget(self.job_line)
        layout.addLayout(self._build_last_line())
        return frame

    def _add_title(self, fields: QGridLayout) -> None:
        label = QLabel(self.tr("&Title"))
        self._title = QLineEdit()
        self._title.setAccessibleName(self.tr("Title of the release"))
        self._title.setPlaceholderText(self.tr("Published with the data, for instance its name"))
        self._title.setToolTip(self.tr("Published in the manifest and on the page for users"))
        self._title.textEdited.connect(self.titleEdited)
        label.setBuddy(self._title)
        fields.addWidget(label, 0, 0)
        fields.addWidget(self._title, 0, 1)
        fields.addWidget(self._build_language(), 0, 2)

    def _build_language(self) -> QComboBox:
        self._language = QComboBox()
        for code in languages():
            words = self.tr("Pages: {language}").format(language=own_name(code))
            self._language.addItem(words, code)
        self._language.setAccessibleName(self.tr("Language of the pages"))
        self._language.setToolTip(
            self.tr("Language of about.html and of the report; what is signed stays English")
        )
        self._language.activated.connect(self._on_language)
        return self._language

    def _add_folder(self, fields: QGridLayout) -> None:
        label = QLabel(self.tr("F&older"))
        self._folder = QLineEdit()
        self._folder.setAccessibleName(self.tr("Folder of the release"))
        self._folder.setToolTip(self.tr("A new or empty folder; it is created if missing"))
        self._folder.textEdited.connect(self.folderEdited)
        label.setBuddy(self._folder)
        browse = QPushButton(self.tr("&Browse…"))
        browse.setAccessibleName(self.tr("Browse… for the folder of the release"))
        browse.setToolTip(self.tr("Choose where the release folder is created"))
        browse.clicked.connect(self.browseAsked)
        fields.addWidget(label, 1, 0)
        fields.addWidget(self._folder, 1, 1)
        fields.addWidget(browse, 1, 2)
        fields.setColumnStretch(1, 1)

    def _build_last_line(self) -> QHBoxLayout:
        line = row(gap=SPACE.m)
        self._note = QLabel(
            self.tr(
                "The folder gets two parts: public/ is published, internal/ stays with you. It "
                "is written completely or not at all."
            )
        )
        self._note.setWordWrap(True)
        set_look(self._note, "note")
        self._write = QPushButton(self.tr("&Write the release"))
        self._write.setAccessibleName(self.tr("Write the release"))
        set_look(self._write, "primary")
        self._write.clicked.connect(self.writeAsked)
        line.addWidget(self._note, 1)
        line.addWidget(self._write)
        self.set_can_write(False)
        return line

    @Slot(int)
    def _on_language(self, place: int) -> None:
        self.languageChosen.emit(str(self._language.itemData(place)))


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
        page.folderEdited.connect(self._target.type)
        page.browseAsked.connect(self._on_browse)
        page.writeAsked.connect(self.write)
        page.band.triggered.connect(self._on_band)
        workbench.hub.finished.connect(self._on_finished)
        workbench.budget.changed.connect(self._on_budget)
        self._asked: WorkState | None = None
        self._just_asked = False

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
            self._asked, self._just_asked = self._bench.work, True
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
            self.previewed.emit()  # the question has been answered
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
            page.band.show_message("fail", in_window(watch.problem), dismissible=False)
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
            if self._just_asked:
                page.band.focus_answer(-1)  # Enter twice in a row spends nothing
            self._just_asked = False
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
        if bench.unread:
            title = self.tr("Not all settings can be used")
            return Missing(PROTECT, title, unread_words(bench.unread))
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
        about = bench.context.registry.about(candidate.work.method)
        found = presenter.fates(bench.data.columns, candidate, about)
        self._page.show_candidate(candidate, found)
        self._page.show_checklist(self.preview.checklist, self.preview.unlisted, noise=bench.spends)
        self._page.set_stale(not self.preview.current, self.tr("being worked out again"))
        return self.tr("This is what the current settings would release; nothing is written yet.")

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

    @Slot()
    def _on_browse(self) -> None:
        title = self.tr("Where should the release folder be created?")
        parent = self._asker.open_folder(title, str(self._target.start))
        if parent is not None:
            self._target.suggest(parent)
