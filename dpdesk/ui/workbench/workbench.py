"""The workbench: state of the window's work, changed by commands, filled by background jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app import exploring, opening
from dpdesk.app.private import trying
from dpdesk.app.private.trial import Trial
from dpdesk.app.review import packing
from dpdesk.app.types import (
    THE_WORK,
    AppContext,
    Candidate,
    CandidateShelf,
    Command,
    DataProfile,
    DataStore,
    Explored,
    History,
    Method,
    OpenWork,
    Outlook,
    ReleaseSummary,
    SetMethod,
    SetSource,
    WorkState,
)
from dpdesk.core.errors import DpdeskError
from dpdesk.core.source_spec import SourceSpec
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.jobs.hub import DoneCallback, T, Work, alone, failure, token_only
from dpdesk.ui.words.settings import worded
from dpdesk.ui.words.spoken import window_language
from dpdesk.ui.workbench import tasks
from dpdesk.ui.workbench.state import Aspect, Changes, OpenProblem, WorkbenchState, compare

_CHANNEL = "workbench.budget"
_TRIED = {
    Aspect.DATA,
    Aspect.SOURCE,
    Aspect.ROLES,
    Aspect.HIERARCHIES,
    Aspect.METHOD,
    Aspect.PARAMETERS,
}
_MATTERS = {
    Aspect.DATA,
    Aspect.SOURCE,
    Aspect.ROLES,
    Aspect.METHOD,
    Aspect.PARAMETERS,
    Aspect.BUDGET,
    Aspect.RELEASE,
}


class BudgetWatch(QObject):
    """``changed()`` when :attr:`outlook`, :attr:`problem` or :attr:`trial` is new.

    All are empty for a method that spends nothing, and while its settings are not complete.
    """

    changed = Signal()

    def __init__(self, bench: WorkbenchState) -> None:
        super().__init__(bench)
        self._bench = bench
        self._outlook: Outlook | None = None
        self._problem = ""
        self._trial: Trial | None = None

    @property
    def trial(self) -> Trial | None:
        """What the trial of these settings on these data found; None: not tried."""
        return self._trial

    def show_trial(self, work: WorkState, trial: Trial) -> None:
        """Keep what a trial found, where the work is still the one that was tried."""
        if work == self._bench.work:
            self._trial = trial
            self.changed.emit()

    @property
    def outlook(self) -> Outlook | None:
        """What the ledger says; None when there is nothing to say."""
        return self._outlook

    @property
    def problem(self) -> str:
        """Why the ledger cannot be asked; empty when it can."""
        return self._problem

    @Slot(object)
    def follow(self, changes: Changes) -> None:
        """Look again where these changes may matter."""
        if changes & _TRIED and self._trial is not None:
            self._trial = None
            self.changed.emit()
        if changes & _MATTERS:
            self.look()

    @Slot()
    def look(self) -> None:
        """Ask the ledger."""
        bench, channel = self._bench, self._bench.hub.latest(_CHANNEL)
        if bench.data is None or not bench.spends:
            channel.cancel()
            self._show(None, "")
            return
        channel.query(
            self.tr("Checking the budget"),
            token_only(partial(trying.outlook, bench.context, bench.data, bench.work)),
            then=self._on_done,
            failed=self._on_failed,
            quiet=True,
        )

    def _on_done(self, found: Outlook) -> None:
        self._show(found, "")

    def _on_failed(self, outcome: JobFailed) -> None:
        unfinished = outcome.code.startswith(("cube.", "parameter.", "plan.unknown-column"))
        in_form = "key" in outcome.details  # it is said there
        self._show(None, "" if unfinished or in_form else outcome.full)

    def _show(self, outlook: Outlook | None, problem: str) -> None:
        if (outlook, problem) != (self._outlook, self._problem):
            self._outlook, self._problem = outlook, problem
            self.changed.emit()


def suggested_values(method: Method) -> Mapping[str, object]:
    """Plan keys with the values that the method's parameters suggest to a new user.

    What has no effect beside the defaults of the others is left to the form.
    """
    usual = {one.key: one.as_plain(one.default_value()) for one in method.parameters}
    values: dict[str, object] = {}
    for parameter in method.parameters:
        suggested, rule = getattr(parameter, "suggested", None), parameter.applies
        if suggested is not None and (rule is None or str(usual[rule.key]) in rule.values):
            values[parameter.key] = parameter.as_plain(suggested)
    return values


class Workbench(WorkbenchState):
    """One per window; lives in the main thread.

    Signals: ``changed(Changes)`` after anything shown may be new; ``failed(JobFailed)`` for a
    band; ``opened(Path)`` when a file or release has been opened (for the recent files);
    ``released(ReleaseSummary)`` when a release has been written.
    """

    changed = Signal(object)
    failed = Signal(object)
    opened = Signal(object)
    released = Signal(object)

    def __init__(self, context: AppContext, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(context, hub, parent)
        self.budget = BudgetWatch(self)
        self.changed.connect(self.budget.follow)

    # ---- opening and saving

    def open_path(self, path: Path) -> None:
        """Open a data file, a plan or a release in the background."""
        self._load(
            self.tr("Opening {name}").format(name=path.name),
            partial(tasks.open_anything, self.context, path),
            self._on_opened,
        )

    def open_work(self, work: WorkState, path: Path, *, is_plan: bool = False) -> None:
        """Read the data of a work that is not open yet, for instance in another way than before.

        ``path`` is the file that the user opened (a data file or a plan).
        """
        self._load(
            self.tr("Opening {name}").format(name=path.name),
            partial(tasks.load_work, self.context, work, path=path, is_plan=is_plan),
            self._on_opened,
        )

    def adopt(self, history: History, shelf: CandidateShelf) -> None:
        """Go on with work that was kept elsewhere: all of its history, and its candidates."""
        self._history, self._shelf = history, shelf
        self._forget_results()
        self._plan_path = None
        if self.work.source is None:
            self._hold(None, None)
        self._announce(set(Aspect))
        self._reload()

    def _forget_results(self) -> None:
        self._shelf_deed = None
        self.hub.latest(tasks.EXPLORE).cancel()
        self._open_problem = None
        self._explored = None
        self._explore_problem = None
        self._release = None

    def cancel_load(self) -> None:
        """Stop reading a data file; what was open stays."""
        self.hub.latest(tasks.LOAD).cancel()

    def dismiss_open_problem(self) -> None:
        """Forget why the last attempt failed."""
        self._open_problem = None
        self._announce({Aspect.DATA})

    def save_plan(self, path: Path) -> None:
        """Write the work as a plan with its hierarchies beside it."""
        self.hub.mutate(
            self.tr("Saving {name}").format(name=path.name),
            partial(tasks.save_plan, self.context, self.work, path),
            then=self._on_saved,
            failed=self._on_failed,
        )

    # ---- editing

    def apply(self, command: Command, *, merge: bool = False) -> None:
        """Make an undoable change; ``merge`` joins it with the last one of its kind (a slider)."""
        before = self.work
        said = worded(
            command, self.method, self.methods, self.level_names, before.parameters, typed=merge
        )
        self._history.do(said, merge)
        self._after_edit(before)

    def undo(self) -> None:
        """Take the last change back, of the work or of the candidates."""
        if self._shelf_deed is not None:
            self._shelf = CandidateShelf.restored(self._shelf_deed[1])
            self._shelf_deed = None
            self._announce({Aspect.CANDIDATES, Aspect.HISTORY})
            return
        before = self.work
        self._history.undo()
        self._after_edit(before)

    def redo(self) -> None:
        """Do again what was undone."""
        before = self.work
        self._history.redo()
        self._after_edit(before)

    def go_to(self, moment: int) -> None:
        """Go to any state that the work has had."""
        before = self.work
        self._history.go_to(moment)
        self._after_edit(before)

    def choose_method(self, method: Method) -> None:
        """Choose a method with the values that its parameters suggest.

        A private one gets a plan that names how the source is read, as it was detected.
        """
        source = self._pinned(method)
        self.apply(SetMethod(method.id, suggested_values(method), source=source))

    def _pinned(self, method: Method | None) -> SourceSpec | None:
        """The source with what this method must have named of its reading; None for nothing."""
        data, profile = self.data, self.profile
        if data is None or profile is None:
            return None
        return exploring.pinned_for(method, self.work, data, profile)

    # ---- searching, candidates, releases

    def explore(self) -> None:
        """Search for the present work in the background, unless it is under way or done."""
        if self.data is None or not self.work.method or not self.stale:
            return
        self._explore_problem = None
        self.hub.latest(tasks.EXPLORE).query(
            self.tr("Searching all settings"),
            partial(exploring.explore, self.context, self.data, self.work),
            then=self._on_explored,
            failed=self._on_explore_failed,
            cancelled=self._on_explore_cancelled,
        )
        self._announce({Aspect.EXPLORATION})

    def keep_candidate(self, name: str = "") -> int:
        """Run the present settings and keep what they would give; the job's number, 0 for none."""
        if self.data is None:
            return 0
        try:
            self._shelf.check_room()
        except DpdeskError as error:
            self.failed.emit(failure(0, self.tr("Keeping a candidate"), error))
            return 0
        return self.hub.query(
            self.tr("Keeping a candidate"),
            partial(tasks.make_candidate, self.context, self.data, self.work, name),
            then=self._on_candidate,
            failed=self._on_failed,
        )

    def remove_candidate(self, candidate_id: int) -> None:
        """Forget a candidate, undoably."""
        self._change_shelf(
            self.tr("Remove candidate {n}"),
            candidate_id,
            lambda: self._shelf.remove(candidate_id),
        )

    def rename_candidate(self, candidate_id: int, name: str) -> None:
        """Give a candidate another name, undoably; an empty one is ignored."""
        known = {one.id: one.name for one in self.candidates}
        if name.strip() and name.strip() != known.get(candidate_id):
            self._change_shelf(
                self.tr("Rename candidate {n}"),
                candidate_id,
                lambda: self._shelf.rename(candidate_id, name),
            )

    def _change_shelf(self, words: str, number: int, change: Callable[[], object]) -> None:
        """Do something to the candidates that undo takes back, until the work is edited."""
        before = self._shelf.snapshot()
        change()
        self._shelf_deed = (words.format(n=number), before)
        self._announce({Aspect.CANDIDATES, Aspect.HISTORY})

    def write_release(self, out: Path) -> int:
        """Write the release of the present work into ``out``, then check it; the job's number."""
        if self.data is None:
            return 0
        return self.hub.mutate(
            self.tr("Writing the release {name}").format(name=out.name),
            partial(
                tasks.write_release, self.context, self.data, self.work, out, self._plan_name()
            ),
            then=self._on_released,
            failed=self._on_failed,
        )

    def verify_again(self, source: Path | str | None = None, beside: tuple[Path, ...] = ()) -> int:
        """Check the release at hand again, with the source when it is given; the job's number.

        ``beside`` are more files that hold some of its review.
        """
        if self._release is None:
            return 0
        files = tuple(dict.fromkeys((*self._release.beside, *beside)))
        return self.hub.latest(tasks.VERIFY).query(
            self.tr("Checking {name}").format(name=self._release.path.name),
            partial(tasks.check_release, self.context, self._release.path, source, files),
            then=self._on_checked,
            failed=self._on_failed,
        )

    def export(self, form: str, out: Path) -> int:
        """Write the public part of the release at hand in another format; the job's number."""
        if self._release is None:
            return 0
        return self.hub.mutate(
            self.tr("Exporting {name}").format(name=out.name),
            partial(tasks.export, self.context, self._release.path, form, out),
            done=self._on_exported,
        )

    def save_pack(self, out: Path, language: str = "") -> int:
        """Write the evidence pack of the release at hand to a new file; the job's number.

        An empty ``language`` is that of the release's report.
        """
        if self._release is None:
            return 0
        release = self._release
        return self.hub.mutate(
            self.tr("Writing {name}").format(name=out.name),
            partial(
                packing.write_pack,
                self.context,
                release.path,
                out,
                beside=release.beside,
                language=language,
            ),
            done=self._on_exported,
        )

    def note_chart(self, path: Path) -> None:
        """Enter in the audit log that a chart was saved as a file."""
        work = partial(tasks.note_export, self.context, path, "chart")
        self.hub.mutate(self.tr("Recording the saved chart"), work, failed=self._on_failed)

    def close(self) -> None:
        """Close the data and let go of all that was made of them; call when the hub is idle."""
        if self._data is not None:
            self._data.close()
        self._data, self._data_of, self._profile, self._explored = None, None, None, None
        self._shelf = CandidateShelf()

    # ---- what comes back from jobs

    def _on_opened(self, outcome: JobDone[object]) -> None:
        found = outcome.value
        if isinstance(found, tasks.CheckedRelease):
            self._release = found
            self.opened.emit(found.path)
            self._announce({Aspect.RELEASE})
        elif isinstance(found, tasks.OpenedWork):
            self._adopt(found)
        elif isinstance(found, tasks.Unread):
            self._on_unread(found, outcome)

    def _adopt(self, found: tasks.OpenedWork) -> None:
        work = found.work
        if not work.method:
            first = self.methods[0]
            work = SetMethod(first.id, suggested_values(first)).apply(work)
            # A plan says the language of its pages; what begins here takes that of the window.
            work = replace(work, language=window_language())
        self._replace_data(found)
        self._forget_results()
        if self.keeps_history:
            self._history.do(OpenWork(work, found.path.name))
        else:
            self._history = History(work, self.tr("Open {name}").format(name=found.path.name))
            self._shelf = CandidateShelf()
        self._plan_path = found.path if found.is_plan else None
        self.opened.emit(found.path)
        self._announce(set(Aspect))
        self._count_profile()

    def _replace_data(self, found: tasks.OpenedWork) -> None:
        self._hold(found.data, (found.work.source, found.work.base))

    def _hold(self, data: DataStore | None, of: tuple[SourceSpec | None, Path] | None) -> None:
        """Hold these data, and close those before them."""
        old, self._data, self._data_of, self._profile = self._data, data, of, None
        if old is not None:
            self.hub.query(self.tr("Closing the old data"), alone(old.close), quiet=True)

    def _count_profile(self) -> None:
        if self._data is not None:
            self.hub.latest(tasks.PROFILE).query(
                self.tr("Counting values"),
                partial(opening.profile, self._data),
                then=partial(self._on_profile, self._data),
                failed=self._on_failed,
            )

    def _on_profile(self, data: DataStore, found: DataProfile) -> None:
        if data is self._data:
            self._profile = found
            self._announce({Aspect.PROFILE})
            # An older plan, or another file below the same plan: it could not be run like this.
            if (source := self._pinned(self.method)) is not None:
                words = self.tr("How {name} is read is now in the plan")
                self.apply(SetSource(source, what=words.format(name=source.name)))

    def _on_unread(self, found: tasks.Unread, outcome: JobDone[object]) -> None:
        problem = failure(outcome.job, outcome.title, found.error)
        self._open_problem = OpenProblem(found.path, found.work, found.is_plan, problem)
        self._announce({Aspect.DATA})

    def _on_reloaded(self, outcome: JobDone[tasks.OpenedWork | tasks.Unread]) -> None:
        found = outcome.value
        if isinstance(found, tasks.Unread):
            if found.work.source == self.work.source:
                self._on_unread(found, outcome)
            return
        if (found.work.source, found.work.base) != (self.work.source, self.work.base):
            found.data.close()
            return
        self._replace_data(found)
        self._announce({Aspect.DATA, Aspect.PROFILE, Aspect.EXPLORATION})
        self._count_profile()

    def _on_saved(self, found: Path) -> None:
        self._plan_path = found
        self._history.mark_saved()
        self.opened.emit(found)
        self._announce({Aspect.HISTORY})

    def _on_explored(self, found: Explored) -> None:
        self._explored = found
        self._explore_problem = None
        self._announce({Aspect.EXPLORATION})

    def _on_explore_failed(self, outcome: JobFailed) -> None:
        self._explore_problem = outcome
        self._announce({Aspect.EXPLORATION})

    def _on_explore_cancelled(self, outcome: object) -> None:
        self._announce({Aspect.EXPLORATION})

    def _on_candidate(self, candidate: Candidate) -> None:
        try:
            letters = self._shelf.next_letters
            name = candidate.name or self.tr("Candidate {letters}").format(letters=letters)
            number = self._shelf.snapshot().next_id
            kept = replace(candidate, name=name)
            self._change_shelf(self.tr("Keep candidate {n}"), number, lambda: self._shelf.add(kept))
        except DpdeskError as error:
            self.failed.emit(failure(0, self.tr("Keeping a candidate"), error))
            self._announce({Aspect.CANDIDATES})

    def _on_released(self, made: tasks.CheckedRelease) -> None:
        self._release = made
        if isinstance(made.summary, ReleaseSummary):
            self.released.emit(made.summary)
        self._announce({Aspect.RELEASE})

    def _on_checked(self, found: object) -> None:
        checked, known = found, self._release
        if isinstance(checked, tasks.CheckedRelease) and known is not None:
            if known.path == checked.path:
                self._release = replace(checked, summary=known.summary, work=known.work)
            self._announce({Aspect.RELEASE})

    def _on_exported(self, outcome: JobDone[object]) -> None:
        self._announce({Aspect.RELEASE})

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)
        self._announce({Aspect.DATA, Aspect.RELEASE})

    # ---- inside

    def _after_edit(self, before: WorkState) -> None:
        self._shelf_deed = None
        aspects = compare(before, self.work) | {Aspect.HISTORY}
        if aspects & {Aspect.SOURCE, Aspect.ROLES, Aspect.HIERARCHIES, Aspect.METHOD}:
            self._explore_problem = None
            self.hub.latest(tasks.EXPLORE).cancel()
            aspects.add(Aspect.EXPLORATION)
        if Aspect.SOURCE in aspects:
            aspects |= {Aspect.DATA, Aspect.PROFILE}
            self._reload()
        self._announce(aspects)

    def _reload(self) -> None:
        """Read the data again when the work names another source than the loaded one."""
        if self.work.source is None or self._has_data_of(self.work):
            self._open_problem = None
            self.cancel_load()
            return
        self._load(
            self.tr("Reading {name}").format(name=self.work.source.name),
            partial(tasks.load_work, self.context, self.work),
            self._on_reloaded,
        )

    def _load(self, title: str, work: Work[T], done: DoneCallback[T]) -> None:
        self._open_problem = None
        self.hub.latest(tasks.LOAD).query(
            title, work, done=done, failed=self._on_failed, cancelled=self._on_load_cancelled
        )
        self._announce({Aspect.DATA})

    def _on_load_cancelled(self, outcome: object) -> None:
        self._announce({Aspect.DATA})

    def set_unread(self, labels: tuple[str, ...]) -> None:
        """Note which settings are written otherwise than the work has them, and cannot be used."""
        known = self.unread
        self._unread, self._unread_beside = labels, self.work
        if labels != known:
            self._announce({Aspect.UNREAD})

    def _plan_name(self) -> str:
        return THE_WORK if self._plan_path is None else self._plan_path.name

    def _announce(self, aspects: Iterable[Aspect]) -> None:
        self.changed.emit(frozenset(aspects))
