"""What the protect panel decides, without any widget, and the views it has made of a search.

A dragged slider asks faster than views are made: a waiting request is replaced by a newer one, and
each view that arrives is shown, so the pictures follow the hand and the event loop never waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal, Slot

from dpdesk.app.types import Candidate, ExplorationView, Explored, Method, Role, WorkState
from dpdesk.core.asks import open_question
from dpdesk.core.charts import Figure
from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.parameters import (
    IntegerParameter,
    LevelsParameter,
    Parameter,
    ShareParameter,
    exact_number,
    plain_number,
)
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.words.settings import same_value, strength_words
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate
MOST_TILES = 6
LONGEST_NAME = 60


# ---- parameters


def form_parameters(method: Method) -> tuple[Parameter, ...]:
    """The parameters that the form shows; levels are picked in a chart where there is one."""
    if method.capabilities.spends:
        return method.parameters
    return tuple(one for one in method.parameters if not isinstance(one, LevelsParameter))


def edits(
    given: Mapping[str, object], work: WorkState, parameters: Sequence[Parameter]
) -> dict[str, object]:
    """Changes that make the work say what a form says; None takes a key away."""
    found: dict[str, object] = {}
    for parameter in parameters:
        key, wanted = parameter.key, given.get(parameter.key)
        default = parameter.as_plain(parameter.default_value())
        known = work.parameters.get(key)
        if wanted is None:
            if known is not None:
                found[key] = None
        elif not same_value(parameter, wanted, default if known is None else known):
            found[key] = wanted
    return found


def nearest_value(method: Method, key: str, value: float) -> object:
    """The value of a parameter, as a plan writes it, that is nearest to a place in a chart.

    Budgets are rounded to two digits. None when the method has no such number.
    """
    found = next((one for one in method.parameters if one.key == key), None)
    if isinstance(found, IntegerParameter):
        most = found.maximum if found.maximum is not None else max(found.minimum, round(value))
        return min(max(found.minimum, round(value)), most)
    if isinstance(found, PositiveParameter) and value > 0:
        return plain_number(exact_number(f"{value:.2g}"))
    return round(min(1.0, max(0.0, value)), 4) if isinstance(found, ShareParameter) else None


def moves(method: Method, key: str) -> bool:
    """Whether a line in a chart may move this parameter."""
    return key in (*method.live, *(BUDGET_KEYS if method.capabilities.spends else ()))


def by_hand(method: Method | None, work: WorkState) -> dict[str, Mapping[str, object]]:
    """Parameters of the work that were picked in a chart, by key."""
    if method is None or method.capabilities.spends:
        return {}
    keys = [one.key for one in method.parameters if isinstance(one, LevelsParameter)]
    values = {key: work.parameters.get(key) for key in keys}
    return {key: value for key, value in values.items() if isinstance(value, Mapping)}


def role_that_fixes(details: Mapping[str, object]) -> tuple[list[str], Role] | None:
    """The columns and the role they should get for a problem to go away, if that is so."""
    names, role = details.get("columns"), details.get("becomes")
    return ([*map(str, names)], Role(role)) if isinstance(names, list) and role else None


# ---- methods that draw noise

BUDGET_KEYS = ("epsilon", "rho")


def reached_words(method: Method | None) -> str:
    """What the navigation says of settings that work."""
    if method is not None and method.capabilities.spends:
        return translate("Protect", "planned")
    return translate("Protect", "reached")


class StillOpen(NamedTuple):
    """A decision that is still needed: a sentence for the user, and the key of its setting."""

    text: str
    key: str


def still_open(method: Method | None, work: WorkState) -> StillOpen | None:
    """What somebody has to decide before there is anything to show; None when nothing."""
    asks = () if method is None else method.asks
    found = open_question(asks, work.parameters, work.hierarchies)
    return None if found is None else StillOpen(said(found[0]), found[1])


# ---- searching


def same_search(first: WorkState | None, second: WorkState) -> bool:
    """Whether one search answers both states: they differ in parameters or title at most."""
    if first is None:
        return False
    return (first.source, first.base, first.roles, first.hierarchies, first.method) == (
        second.source,
        second.base,
        second.roles,
        second.hierarchies,
        second.method,
    )


def headline_figures(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """The figures for tiles: those that the method marks, else the first few."""
    marked = tuple(figure for figure in figures if figure.headline)
    return (marked or tuple(figures))[:MOST_TILES]


def kept_already(work: WorkState, candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate with exactly these settings, if there is one."""
    found = (one for one in candidates if one.work.parameters == work.parameters)
    return next((one for one in found if same_search(one.work, work)), None)


def candidate_name(method: Method | None, work: WorkState, candidates: Sequence[Candidate]) -> str:
    """A name different from all others: how strong the protection is, which tells it from others
    where there is little room, and the method.

    All settings stand below the name.
    """
    if method is None:
        return ""
    strength, *rest = filter(None, (strength_words(work), said(method.title)))
    taken = {one.name for one in candidates}
    for number in range(1, len(taken) + 2):
        words = ", ".join((strength if number == 1 else f"{strength} ({number})", *rest))
        name = words if len(words) <= LONGEST_NAME else f"{words[:LONGEST_NAME].rstrip()}…"
        if name not in taken:
            return name
    return strength


REST_MS = 250


@dataclass(frozen=True)
class LiveAnswer:
    """A view and what was asked for it."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]
    view: ExplorationView = field(repr=False)


@dataclass(frozen=True)
class ViewRequest:
    """What a view is wanted of."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]

    @property
    def patient(self) -> bool:
        """Whether the view may take long."""
        return self.explored.patient(self.parameters)


def make_view(wish: ViewRequest, token: CancelToken, report: Report) -> LiveAnswer:
    """Make one view."""
    view = wish.explored.view(wish.parameters, token, report)
    return LiveAnswer(wish.explored, wish.parameters, view)


def grow_view(wish: ViewRequest, token: CancelToken, report: Report) -> LiveAnswer:
    """Add the next thing to a view."""
    view = wish.explored.grow(wish.parameters, token, report)
    return LiveAnswer(wish.explored, wish.parameters, view)


class LiveViews(QObject):
    """``arrived(LiveAnswer)`` for each view made, ``failed(JobFailed)`` when one cannot be made.

    Views that take long begin when the hand rests, give way to newer wishes, and can be stopped:
    ``started()`` tells that :attr:`job` is new, ``stopped(ViewWish)`` that the user stopped one.
    """

    arrived = Signal(object)
    failed = Signal(object)
    started = Signal()
    stopped = Signal(object)

    def __init__(self, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._running: ViewRequest | None = None
        self._job = 0
        self._next: ViewRequest | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._start)

    @property
    def busy(self) -> bool:
        """Whether a view is on its way."""
        return self._running is not None or self._next is not None

    @property
    def job(self) -> int:
        """Number of the job that makes a view that takes long; 0 when there is none."""
        return self._job if self._running is not None and self._running.patient else 0

    def ask(self, explored: Explored, parameters: Mapping[str, object]) -> None:
        """Wish for the view of these parameters (plain values)."""
        wish = ViewRequest(explored, dict(parameters))
        if wish.patient:
            self._ask_patiently(wish)
            return
        self._next = wish
        if self._running is None:
            self._start()

    def forget(self) -> None:
        """Nobody waits for a view any more."""
        self._next = None
        self._rest.stop()
        if self._running is not None:
            self._hub.cancel(self._job)

    def _ask_patiently(self, wish: ViewRequest) -> None:
        if self._running == wish:
            self._next = None
        elif self._next != wish:
            self._next = wish
            if self._running is not None:
                self._hub.cancel(self._job)
            self._rest.start()

    @Slot()
    def _start(self) -> None:
        if self._running is not None or self._next is None:
            return
        wish, self._next = self._next, None
        patient = wish.patient
        self._job = self._hub.query(
            self.tr("Trying the settings") if patient else self.tr("Drawing the charts"),
            partial(make_view, wish),
            then=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=not patient,
        )
        self._running = wish if self._job else None
        self.started.emit()

    def _on_done(self, found: LiveAnswer) -> None:
        self._end()
        self.arrived.emit(found)

    def _on_failed(self, outcome: JobFailed) -> None:
        newer = self._next is not None
        self._end()
        if not newer:
            self.failed.emit(outcome)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        wish, newer = self._running, self._next is not None
        self._end()
        if not newer:
            self.stopped.emit(wish)

    def _end(self) -> None:
        """The next one is under way while the last one is being painted."""
        self._running = None
        if not self._rest.isActive():
            self._start()
        self.started.emit()


GROW_REST_MS = 600
_FREE = frozenset(("epsilon", "rho", "delta", "nonnegative", "integral"))


class GrowingViews(QObject):
    """``arrived(LiveAnswer)`` when something was added to a view; ``stopped(str)`` names what the
    user stopped and can ask for :meth:`again`, empty when there is nothing of that kind any more.
    """

    arrived = Signal(object)
    stopped = Signal(str)

    def __init__(self, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._job = 0
        self._running: ViewRequest | None = None
        self._wanted: LiveAnswer | None = None
        self._stopped: ViewRequest | None = None
        self._last: LiveAnswer | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(GROW_REST_MS)
        self._rest.timeout.connect(self._start)

    @property
    def job(self) -> int:
        """The job under way; 0 when there is none."""
        return self._job

    def follow(self, answer: LiveAnswer) -> None:
        """Add to this view what it lacks, once the hand rests."""
        wish = ViewRequest(answer.explored, answer.parameters)
        pending = answer.view.pending
        refused = bool(pending) and _alike(wish, self._stopped)
        self._last, self._wanted = answer, answer if pending and not refused else None
        self.stopped.emit(pending if refused else "")
        if self._running is not None and not _alike(wish, self._running):
            self._hub.cancel(self._job)
        if self._wanted is not None and self._running is None:
            self._rest.start()

    @Slot()
    def again(self) -> None:
        """Make what was stopped after all."""
        self._stopped = None
        if self._last is not None:
            self.follow(self._last)

    def forget(self) -> None:
        """Nobody waits for more any longer."""
        self._wanted = self._last = None
        self._rest.stop()
        self._hub.cancel(self._job)

    @Slot()
    def _start(self) -> None:
        answer, self._wanted = self._wanted, None
        if answer is None or self._running is not None:
            return
        wish = ViewRequest(answer.explored, answer.parameters)
        self._job = self._hub.query(
            self.tr("Computing {what}").format(what=said(answer.view.pending)),
            partial(grow_view, wish),
            done=self._on_done,
            failed=self._on_ended,
            cancelled=self._on_cancelled,
        )
        self._running = wish if self._job else None

    def _on_done(self, outcome: JobDone[LiveAnswer]) -> None:
        self._on_ended(outcome)
        self.arrived.emit(outcome.value)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        stopped = self._running
        self._on_ended(outcome)
        if self._wanted is None:  # by the user, not for the sake of other settings
            self._stopped = stopped
            self.stopped.emit("" if self._last is None else self._last.view.pending)

    def _on_ended(self, outcome: object) -> None:
        self._job, self._running = 0, None
        if self._wanted is not None:
            self._rest.start()


def _alike(first: ViewRequest, second: ViewRequest | None) -> bool:
    """Whether the same plans serve both wishes."""
    if second is None or first.explored is not second.explored:
        return False
    kept = (
        {key: value for key, value in wish.parameters.items() if key not in _FREE}
        for wish in (first, second)
    )
    return next(kept) == next(kept)
