"""What a workbench holds, for anyone who reads it: panels, the window, the keeper of projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QObject

from dpdesk.app import exploring
from dpdesk.app.types import (
    AppContext,
    Candidate,
    CandidateShelf,
    DataProfile,
    DataStore,
    Explored,
    History,
    LevelNames,
    Method,
    ReleaseFacts,
    ShelfSnapshot,
    VerifyReport,
    WorkState,
)
from dpdesk.core.capabilities import Content
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.core.source_spec import SourceSpec
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.shell.bars import HistoryStep
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import tasks


@dataclass(frozen=True)
class OpenProblem:
    """An attempt to read data that failed.

    ``path`` is the file that the user opened, empty when the open work was to be read in another
    way; ``work`` says how the data were to be read.
    """

    path: Path
    work: WorkState
    is_plan: bool
    failure: JobFailed


class WorkbenchState(QObject):
    """The state of a workbench and its reading side; see :class:`~dpdesk.ui.workbench.Workbench`.

    It lives in the main thread.
    """

    def __init__(self, context: AppContext, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.hub = hub
        self._history = History(WorkState())
        self._data: DataStore | None = None
        self._data_of: tuple[SourceSpec | None, Path] | None = None
        self._open_problem: OpenProblem | None = None
        self._profile: DataProfile | None = None
        self._explored: Explored | None = None
        self._explore_problem: JobFailed | None = None
        self._unread: tuple[str, ...] = ()
        self._unread_beside = WorkState()
        self._shelf = CandidateShelf()
        self._shelf_deed: tuple[str, ShelfSnapshot] | None = None
        """What was done to the candidates since the last edit, and what they were before it."""
        self._plan_path: Path | None = None
        self._release: tasks.CheckedRelease | None = None
        self.keeps_history = False  # in a project: opening a file is a change like any other

    @property
    def work(self) -> WorkState:
        """The plan in the making, as it is now."""
        return self._history.state

    @property
    def history(self) -> History:
        """Undo tree; read only for panels (use :meth:`apply`, :meth:`undo`, :meth:`go_to`)."""
        return self._history

    @property
    def data(self) -> DataStore | None:
        """The loaded data of the work's source; None while none is loaded.

        Data that were read in another way than the work says are not its data.
        """
        return self._data if self._has_data_of(self.work) else None

    def _has_data_of(self, work: WorkState) -> bool:
        """Whether the loaded data are those of the work: read like this, named or detected."""
        if self._data is None or self._data_of is None:
            return False
        source, base = self._data_of
        return base == work.base and exploring.reads_alike(self._data, source, work.source)

    @property
    def loading(self) -> bool:
        """Whether a data file is being read."""
        return self.hub.latest(tasks.LOAD).busy

    @property
    def load_job(self) -> int:
        """Number of the job that reads a data file, 0 when there is none."""
        return self.hub.latest(tasks.LOAD).job

    @property
    def open_problem(self) -> OpenProblem | None:
        """Why the last attempt to read data failed; None when it did not."""
        return self._open_problem

    @property
    def profile(self) -> DataProfile | None:
        """Profile of the loaded data; None until it has been counted."""
        return None if self.data is None else self._profile

    @property
    def methods(self) -> tuple[Method, ...]:
        """All methods, in the order in which to offer them."""
        return exploring.methods(self.context)

    @property
    def method(self) -> Method | None:
        """The chosen method."""
        return next((entry for entry in self.methods if entry.id == self.work.method), None)

    @property
    def spends(self) -> bool:
        """Whether the chosen method adds noise from a budget, whatever columns are tagged as."""
        return self.method is not None and bool(self.method.capabilities.spends)

    @property
    def hierarchy_roles(self) -> tuple[Role, ...]:
        """Roles of the columns whose hierarchies the chosen method uses; usual ones without one."""
        usual = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        method = self.method
        return usual if method is None else method.roles_with_hierarchy(self.work.parameters)

    def used_roles(self, columns: Sequence[str]) -> Mapping[str, Role]:
        """The roles of columns as the chosen method takes them: it may make more of a column."""
        roles, method = {name: self.work.role(name) for name in columns}, self.method
        if method is None:
            return roles
        try:
            values = parse_parameters(method.parameters, self.work.parameters, "")
        except InputError:  # said where the settings are typed
            return roles
        return method.effective_roles(roles, values)

    @property
    def generalises(self) -> bool:
        """Whether the chosen method makes rows alike, which needs columns marked for it.

        So does the method that is still to be chosen, as far as anybody knows.
        """
        method = self.method
        rows = method is None or self.releases_rows
        return rows and Role.QUASI_IDENTIFIER in self.hierarchy_roles

    @property
    def releases_rows(self) -> bool:
        """Whether the chosen method releases rows, so that columns can be released as they are."""
        return self.method is None or self.method.capabilities.content is Content.ROWS

    @property
    def explored(self) -> Explored | None:
        """The last finished search; look at :attr:`stale` before trusting it."""
        return self._explored

    @property
    def level_names(self) -> LevelNames:
        """What people call the levels of the columns; nothing before a search over them."""
        found = self._explored
        same = found is not None and found.work.hierarchies == self.work.hierarchies
        return found.level_names if found is not None and same else {}

    @property
    def exploring(self) -> bool:
        """Whether a search is under way."""
        return self.hub.latest(tasks.EXPLORE).busy

    @property
    def explore_job(self) -> int:
        """Number of the search under way, 0 when there is none."""
        return self.hub.latest(tasks.EXPLORE).job

    @property
    def stale(self) -> bool:
        """Whether the last search answers another state of the work (or there is none)."""
        return self._explored is None or not self._explored.stands_for(self.work)

    @property
    def explore_problem(self) -> JobFailed | None:
        """Why the last search gave nothing; settled where an earlier one answers for the work."""
        return self._explore_problem if self.stale else None

    @property
    def unread(self) -> tuple[str, ...]:
        """Labels of settings whose fields say what cannot be used, so that the work has it not.

        Nothing is kept or released meanwhile: it would not be what the form shows.
        """
        return self._unread if settings_of(self._unread_beside) == settings_of(self.work) else ()

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates kept for comparison, oldest first."""
        return self._shelf.candidates

    @property
    def undo_label(self) -> str | None:
        """What undo would take back: the last edit, or what was done to the candidates since."""
        return self.history.undo_label if self._shelf_deed is None else self._shelf_deed[0]

    @property
    def shelf(self) -> CandidateShelf:
        """The shelf of the candidates; read only for others."""
        return self._shelf

    @property
    def plan_path(self) -> Path | None:
        """The plan file in which the work is saved; None while it has none."""
        return self._plan_path

    @property
    def release(self) -> ReleaseFacts | None:
        """What the release at hand (just written, or opened) says of itself."""
        return None if self._release is None else self._release.facts

    @property
    def release_path(self) -> Path | None:
        """The folder of the release at hand."""
        return None if self._release is None else self._release.path

    @property
    def verified(self) -> VerifyReport | None:
        """What checking the release at hand showed."""
        return None if self._release is None else self._release.report

    @property
    def checked(self) -> tasks.CheckedRelease | None:
        """All that is known of the release at hand, its review included; None without one."""
        return self._release

    @property
    def verify_job(self) -> int:
        """Number of the job that checks the release at hand again, 0 when there is none."""
        return self.hub.latest(tasks.VERIFY).job

    @property
    def verified_with(self) -> Path | str | None:
        """The data file with which the release at hand was checked; None without one."""
        return None if self._release is None else self._release.source

    @property
    def released_work(self) -> WorkState | None:
        """The work from which the release at hand was made; None when it was opened."""
        return None if self._release is None else self._release.work


class Aspect(Enum):
    """A part of what the workbench holds."""

    SOURCE = "source"  # which file is read, and how
    DATA = "data"  # the loaded data (or none)
    PROFILE = "profile"  # the profile of the loaded data
    ROLES = "roles"
    HIERARCHIES = "hierarchies"
    METHOD = "method"
    PARAMETERS = "parameters"
    BUDGET = "budget"
    TITLE = "title"
    HISTORY = "history"  # undo, redo, breadcrumb, saved or not
    EXPLORATION = "exploration"  # a search has ended, started, or become stale
    CANDIDATES = "candidates"
    RELEASE = "release"  # the release at hand and what checking it showed
    UNREAD = "unread"  # fields that say what the work does not have


Changes: TypeAlias = frozenset[Aspect]


def settings_of(work: WorkState) -> tuple[object, ...]:
    """What the fields of a protection show."""
    return work.method, work.parameters, work.budget


def compare(old: WorkState, new: WorkState) -> set[Aspect]:
    """The aspects in which two states of the work differ."""
    pairs = (
        (Aspect.SOURCE, (old.source, old.base), (new.source, new.base)),
        (Aspect.ROLES, (old.roles, old.pseudonyms), (new.roles, new.pseudonyms)),
        (Aspect.HIERARCHIES, old.hierarchies, new.hierarchies),
        (Aspect.METHOD, old.method, new.method),
        (Aspect.PARAMETERS, old.parameters, new.parameters),
        (Aspect.BUDGET, old.budget, new.budget),
        (Aspect.TITLE, old.title, new.title),
    )
    return {aspect for aspect, before, after in pairs if before != after}


def history_steps(history: History) -> tuple[HistoryStep, ...]:
    """Every state, each after the one it came from; branches stand before what followed later."""
    way = {moment.id for moment in (*history.path(), *history.ahead())}
    current = history.current.id
    waiting = [(history.path()[0], 0)]
    found: list[HistoryStep] = []
    while waiting:
        moment, depth = waiting.pop()
        found.append(
            HistoryStep(moment.id, said(moment.label), depth, moment.id == current, moment.when)
        )
        children = history.branches(moment.id)
        straight = next((one for one in children if one.id in way), None)
        if straight is None and children:
            straight = children[-1]
        if straight is not None:
            waiting.append((straight, depth))
        aside = [one for one in children if one is not straight]
        waiting.extend((one, depth + 1) for one in reversed(aside))
    return tuple(found)
