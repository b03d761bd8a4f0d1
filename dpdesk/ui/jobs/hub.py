"""The hub of background jobs: one per window, living in the main thread.

Use::

    hub.query("Counting classes", partial(count, data), then=self._on_counted)
    hub.mutate("Writing the release", partial(write, work), failed=self._on_failed)   # in a lane
    hub.latest("protect.explore").query("Searching", ...)              # newest request wins

Work is a use-case with its arguments: plain Python whose last two arguments are ``token`` and
``report``. It runs on a pool thread, must touch no Qt object, polls ``token`` and returns a value.
``then`` gets that value in the main thread, or ``done`` the outcome around it (:class:`JobDone`)
where its title or notes matter; ``failed`` and ``cancelled`` get theirs. All are **bound methods**,
or a ``partial`` of one; they are kept weakly and dropped when their owner is gone. Every job has
exactly one outcome, also announced by :attr:`JobHub.finished`.

Cancelling sets the token at once and announces ``cancelling``; the outcome comes when the work
ends. A query that returns a value after its cancel counts as cancelled. A mutation that returns
after its cancel is *done*: what it changed is changed, and saying otherwise would be wrong.
A superseded job calls no callback; ``finished`` still announces it.
"""

from __future__ import annotations

import gc
import itertools
import os
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal, Slot

from dpdesk.core.errors import Cancelled, DpdeskError, InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, Event, Report, StepProgress, StepStarted
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


@dataclass(frozen=True)
class JobState:
    """A running job as it stands.

    ``step`` is the current step in words, number ``index`` of ``count`` (0 when not said); ``done``
    of ``total`` units are finished (``total`` None: unknown). ``seconds_left`` estimates the rest
    of the current step, None while nothing is known. ``keeping``: a search was asked to end with
    the best that it has. ``notes`` are sentences worth showing.
    """

    job: int
    title: str
    quiet: bool = False
    step: str = ""
    index: int = 0
    count: int = 0
    done: int = 0
    total: int | None = None
    unit: str = ""
    seconds_left: float | None = None
    cancelling: bool = False
    keeping: bool = False
    notes: tuple[str, ...] = ()


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class JobDone(Generic[T_co]):
    """A job ended with a value (what the work returned)."""

    job: int
    title: str
    value: T_co = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobFailed:
    """A job ended with an error.

    ``kind`` is ``"input"``, ``"storage"``, ``"refused"`` or ``"internal"`` (a fault of the
    program); ``sentence`` and ``hint`` are for people. ``trace`` lists the program's own places,
    without messages or values; it is empty unless the kind is internal.
    """

    job: int
    title: str
    kind: str
    code: str
    sentence: str
    hint: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    trace: str = ""

    @property
    def full(self) -> str:
        """Sentence and hint."""
        return f"{self.sentence} {self.hint}".strip()


@dataclass(frozen=True)
class JobCancelled:
    """A job was stopped; ``superseded`` when a newer request of its channel took its place."""

    job: int
    title: str
    superseded: bool = False


JobOutcome: TypeAlias = "JobDone[object] | JobFailed | JobCancelled"


def failure(job: int, title: str, error: BaseException) -> JobFailed:
    """The failed outcome of an exception; keeps no reference to it or to its frames."""
    if isinstance(error, DpdeskError):
        return JobFailed(
            job,
            title,
            _kind(error),
            error.code,
            said(error.sentence),
            said(error.hint),
            dict(error.details),
        )
    if isinstance(error, MemoryError):
        return JobFailed(
            job,
            title,
            "storage",
            "memory.full",
            translate("Jobs", "This computer does not have enough memory for this step."),
            translate("Jobs", "Close other programs, or use fewer columns or rows."),
        )
    return JobFailed(
        job,
        title,
        "internal",
        f"internal.{type(error).__name__}",
        translate(
            "Jobs", ("A step stopped because of a fault in DPDesk; the last result is still shown.")
        ),
        translate(
            "Jobs", "The details name only places in the program, no data. Please report them."
        ),
        trace=places(error),
    )


def _kind(error: DpdeskError) -> str:
    kinds = ((InputError, "input"), (StorageError, "storage"), (RefusedError, "refused"))
    return next((kind for known, kind in kinds if isinstance(error, known)), "input")


def places(error: BaseException) -> str:
    """Where an exception came from: file, line and function per frame, and its type; no values."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return "\n".join([*lines, type(error).__name__])


MIN_SECONDS = 0.5
MIN_SHARE = 0.01


class ProgressFold:
    """The latest state of a job; the worker writes, the main thread takes what changed.

    However many events come, at most one state waits: this is what coalesces progress.
    """

    def __init__(self, state: JobState, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._state = state
        self._changed = False
        self._step_began = clock()

    def add(self, event: Event) -> None:
        """Fold one event (called by the worker)."""
        with self._lock:
            self._state = self._folded(event)
            self._changed = True

    def mark_cancelling(self) -> None:
        """Say that the user asked to stop."""
        with self._lock:
            self._state = replace(self._state, cancelling=True, seconds_left=None)
            self._changed = True

    def mark_keeping(self) -> None:
        """Say that the user asked for what there is by now."""
        with self._lock:
            self._state = replace(self._state, keeping=True, seconds_left=None)
            self._changed = True

    def take(self) -> JobState | None:
        """The state if it changed since the last call, else None."""
        with self._lock:
            if not self._changed:
                return None
            self._changed = False
            return self._state

    @property
    def state(self) -> JobState:
        """The state as it stands."""
        with self._lock:
            return self._state

    def _folded(self, event: Event) -> JobState:
        state = self._state
        if isinstance(event, StepStarted):
            self._step_began = self._clock()
            return replace(
                state,
                step=event.step,
                index=event.index,
                count=event.count,
                done=0,
                total=None,
                unit="",
                seconds_left=None,
                keeping=False,
            )
        if isinstance(event, StepProgress):
            if event.step != state.step or event.done < state.done:
                self._step_began = self._clock()
            return replace(
                state,
                step=event.step,
                done=event.done,
                total=event.total,
                unit=event.unit,
                seconds_left=self._seconds_left(event),
            )
        return replace(state, notes=(*state.notes, event.sentence))

    def _seconds_left(self, event: StepProgress) -> float | None:
        """Rest of the step at its mean speed so far; None while too little is known."""
        elapsed = self._clock() - self._step_began
        if not event.total or event.done <= 0 or elapsed < MIN_SECONDS:
            return None
        share = event.done / event.total
        if share < MIN_SHARE:
            return None
        return max(0.0, elapsed * (1 - share) / share)


Work: TypeAlias = Callable[[CancelToken, Report], T]
ThenCallback: TypeAlias = Callable[[T], object]
DoneCallback: TypeAlias = Callable[[JobDone[T]], object]
FailedCallback: TypeAlias = Callable[[JobFailed], object]
CancelledCallback: TypeAlias = Callable[[JobCancelled], object]

DRAIN_MS = 50


def token_only(use_case: Callable[[CancelToken], T]) -> Work[T]:
    """A use-case as work that reports nothing."""
    return lambda token, report: use_case(token)


def report_only(use_case: Callable[[Report], T]) -> Work[T]:
    """A use-case as work that is too short to be stopped."""
    return lambda token, report: use_case(report)


def alone(use_case: Callable[[], T]) -> Work[T]:
    """A use-case as work that reports nothing and is too short to be stopped."""
    return lambda token, report: use_case()


class _Weak:
    """A bound method that is kept while its owner lives, with the arguments of its ``partial``."""

    def __init__(self, callback: Callable[..., object]) -> None:
        given = callback if isinstance(callback, partial) else partial(callback)
        self._arguments, self._named = given.args, given.keywords
        if getattr(given.func, "__self__", None) is None:
            raise TypeError("job callbacks are bound methods: functions keep objects alive")
        self._method: weakref.WeakMethod[Any] = weakref.WeakMethod(given.func)

    def __call__(self, value: object) -> None:
        """Hand a value over, unless the owner is gone."""
        method = self._method()
        owner = getattr(method, "__self__", None)
        if method is None or (isinstance(owner, QObject) and not shiboken6.isValid(owner)):
            return
        method(*self._arguments, value, **self._named)


@dataclass
class _Job:
    id: int
    title: str
    token: CancelToken
    fold: ProgressFold
    mutation: bool
    callbacks: Mapping[str, _Weak]
    channel: str = ""
    superseded: bool = False
    future: Future[None] | None = None


class JobHub(QObject):
    """Runs work on threads and brings every outcome home to the main thread.

    Signals: ``started(JobState)``, ``progressed(JobState)`` (at most 20 a second per job),
    ``finished(JobOutcome)``, ``idle()`` whenever the last job has ended.
    """

    started = Signal(object)
    progressed = Signal(object)
    finished = Signal(object)
    idle = Signal()
    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None, workers: int | None = None) -> None:
        super().__init__(parent)
        threads = workers or max(2, min(4, os.cpu_count() or 2))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="dpdesk-query")
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="dpdesk-change")
        self._ids = itertools.count(1)
        self._live: dict[int, _Job] = {}
        self._channels: dict[str, int] = {}
        self._closed = False
        self._drain = QTimer(self)
        self._drain.setInterval(DRAIN_MS)
        self._drain.timeout.connect(self._on_drain)
        self._arrived.connect(self._on_arrived, Qt.ConnectionType.QueuedConnection)

    def query(
        self,
        title: str,
        work: Work[T],
        *,
        then: ThenCallback[T] | None = None,
        done: DoneCallback[T] | None = None,
        failed: FailedCallback | None = None,
        cancelled: CancelledCallback | None = None,
        quiet: bool = False,
    ) -> int:
        """Run work that changes nothing; several run side by side. Returns the job's number.

        ``quiet`` jobs (pages of a table) are left out of the activity list. Returns 0 and does
        nothing when the hub is closing.
        """
        callbacks = _weak(then=then, done=done, failed=failed, cancelled=cancelled)
        return self._submit(title, work, callbacks, quiet=quiet)

    def mutate(
        self,
        title: str,
        work: Work[T],
        *,
        then: ThenCallback[T] | None = None,
        done: DoneCallback[T] | None = None,
        failed: FailedCallback | None = None,
        cancelled: CancelledCallback | None = None,
    ) -> int:
        """Run work that changes something; one after the other, in order of submission."""
        callbacks = _weak(then=then, done=done, failed=failed, cancelled=cancelled)
        return self._submit(title, work, callbacks, mutation=True)

    def latest(self, channel: str) -> JobChannel:
        """The channel of this name, in which a new query supersedes the one before."""
        return JobChannel(self, channel)

    def cancel(self, job: int) -> None:
        """Ask a job to stop; safe when it has ended."""
        found = self._live.get(job)
        if found is None:
            return
        found.fold.mark_cancelling()
        self._progress(found)
        self._stop(found)

    def end(self, job: int) -> None:
        """What the button of a person does: a search that has a result ends with it (see
        :meth:`CancelToken.keep`); everything else stops, and so does the search when asked again.
        """
        found = self._live.get(job)
        if found is None or not found.token.keep():
            self.cancel(job)
            return
        found.fold.mark_keeping()
        self._progress(found)

    def _progress(self, job: _Job) -> None:
        state = job.fold.take()
        if state is not None:
            self.progressed.emit(state)

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in tuple(self._live):
            self.cancel(job)

    @property
    def states(self) -> tuple[JobState, ...]:
        """All live jobs, oldest first."""
        return tuple(job.fold.state for job in self._live.values())

    @property
    def busy(self) -> bool:
        """Whether any job has not had its outcome yet."""
        return bool(self._live)

    @property
    def closed(self) -> bool:
        """Whether new jobs are refused."""
        return self._closed

    def close(self) -> None:
        """Refuse new jobs and cancel all; returns at once, ``idle`` says when all have ended.

        ``idle`` is emitted in any case, from the event loop.
        """
        self._closed = True
        self.cancel_all()
        if not self._live:
            QTimer.singleShot(0, self._on_empty)

    def _submit(
        self,
        title: str,
        work: Work[object],
        callbacks: Mapping[str, _Weak],
        *,
        quiet: bool = False,
        mutation: bool = False,
        channel: str = "",
    ) -> int:
        if self._closed:
            return 0
        number = next(self._ids)
        state = JobState(number, title, quiet)
        fold = ProgressFold(state)
        job = _Job(number, title, CancelToken(), fold, mutation, callbacks, channel)
        self._live[number] = job
        if not self._drain.isActive():
            self._drain.start()
        self.started.emit(state)
        lane = self._lane if mutation else self._pool
        job.future = lane.submit(self._run, job, work)
        return number

    def _supersede(self, channel: str) -> None:
        job = self._live.get(self._channels.get(channel, 0))
        if job is not None:
            job.superseded = True
            self._stop(job)

    def _stop(self, job: _Job) -> None:
        job.token.cancel()
        if job.future is not None and job.future.cancel():
            self._post(JobCancelled(job.id, job.title, job.superseded))

    def _run(self, job: _Job, work: Work[object]) -> None:
        """On a worker: run, then post exactly one outcome."""
        outcome: JobOutcome
        try:
            job.token.check()
            value = work(job.token, job.fold.add)
            if not job.mutation:
                job.token.check()
            outcome = JobDone(job.id, job.title, value, job.fold.state.notes)
        except Cancelled as error:
            # One that has more to say, such as what stays spent, is not passed over in silence.
            stopped = JobCancelled(job.id, job.title)
            outcome = failure(job.id, job.title, error) if error.hint else stopped
        except BaseException as error:  # noqa: BLE001 - a job without outcome would hang the window
            if job.token.cancelled:
                outcome = JobCancelled(job.id, job.title)
            else:
                outcome = failure(job.id, job.title, error)
        self._post(outcome)

    def _post(self, outcome: JobOutcome) -> None:
        if shiboken6.isValid(self):
            self._arrived.emit(outcome)

    @Slot(object)
    def _on_arrived(self, outcome: JobOutcome) -> None:
        job = self._live.pop(outcome.job, None)
        if job is None:
            return
        if self._channels.get(job.channel) == job.id:
            del self._channels[job.channel]
        outcome = _as_seen(outcome, job)
        try:
            self._deliver(job, outcome)
        finally:
            self.finished.emit(outcome)
            if not self._live:
                self._on_empty()

    @Slot()
    def _on_empty(self) -> None:
        if self._live:
            return
        self._drain.stop()
        if self._closed:
            self._pool.shutdown(wait=False)
            self._lane.shutdown(wait=False)
        self.idle.emit()

    @Slot()
    def _on_drain(self) -> None:
        for job in tuple(self._live.values()):
            self._progress(job)

    @staticmethod
    def _deliver(job: _Job, outcome: JobOutcome) -> None:
        if job.superseded:
            return
        kind = "done" if isinstance(outcome, JobDone) else "cancelled"
        callback = job.callbacks.get("failed" if isinstance(outcome, JobFailed) else kind)
        if isinstance(outcome, JobDone) and "then" in job.callbacks:
            job.callbacks["then"](outcome.value)
        if callback is not None:
            callback(outcome)


class JobChannel:
    """A named place in which only the newest query counts."""

    def __init__(self, hub: JobHub, name: str) -> None:
        self._hub = hub
        self._name = name

    def query(
        self,
        title: str,
        work: Work[T],
        *,
        then: ThenCallback[T] | None = None,
        done: DoneCallback[T] | None = None,
        failed: FailedCallback | None = None,
        cancelled: CancelledCallback | None = None,
        quiet: bool = False,
    ) -> int:
        """As :meth:`JobHub.query`; the channel's earlier query is stopped and never heard of."""
        hub = self._hub
        hub._supersede(self._name)
        callbacks = _weak(then=then, done=done, failed=failed, cancelled=cancelled)
        number = hub._submit(title, work, callbacks, quiet=quiet, channel=self._name)
        if number:
            hub._channels[self._name] = number
        return number

    def cancel(self) -> None:
        """Stop the channel's query, if any; its ``cancelled`` callback is called."""
        self._hub.cancel(self._hub._channels.get(self._name, 0))

    @property
    def busy(self) -> bool:
        """Whether a query of the channel is under way."""
        return self._name in self._hub._channels

    @property
    def job(self) -> int:
        """Number of the query under way, 0 when there is none."""
        return self._hub._channels.get(self._name, 0)


def _as_seen(outcome: JobOutcome, job: _Job) -> JobOutcome:
    """What the main thread knows better: a query cancelled after its value was posted."""
    if job.superseded:
        return JobCancelled(job.id, job.title, superseded=True)
    if job.token.cancelled and not job.mutation:
        return JobCancelled(job.id, job.title)
    return outcome


def _weak(**callbacks: Callable[..., object] | None) -> Mapping[str, _Weak]:
    return {name: _Weak(one) for name, one in callbacks.items() if one is not None}


INTERVAL_MS = 20


class SpareTime(QObject):
    """Calls bound methods of objects of the toolkit, in order, with turns of the loop between."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pieces: deque[Callable[[], object]] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._on_turn)

    @property
    def busy(self) -> bool:
        """Whether pieces are waiting."""
        return bool(self._pieces)

    def add(self, pieces: Iterable[Callable[[], object]]) -> None:
        """Do these, too; those of objects that are gone by then are left out."""
        self._pieces.extend(pieces)
        if self._pieces:
            self._timer.start()

    def add_steps(self, steps: Iterator[object]) -> None:
        """Take these steps, too, one at a time."""
        self.add([partial(self._take_step, steps)])

    def _take_step(self, steps: Iterator[object]) -> None:
        if next(steps, self) is not self:
            self._pieces.appendleft(partial(self._take_step, steps))

    def stop(self) -> None:
        """Forget what waits."""
        self._pieces.clear()
        self._timer.stop()

    @Slot()
    def _on_turn(self) -> None:
        if self._pieces:
            piece = self._pieces.popleft()
            owner = getattr(piece, "__self__", None)
            if not isinstance(owner, QObject) or shiboken6.isValid(owner):
                piece()
        if not self._pieces:
            self._timer.stop()


COLLECT_MS = 100
FULL_EVERY_S = 30.0


class GcKeeper(QObject):
    """Switches automatic collection off and collects on a timer, by the usual thresholds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(COLLECT_MS)
        self._timer.timeout.connect(self.collect)
        self._full = time.monotonic()

    def start(self) -> None:
        """Take over, or wait once more: nothing is collected before :meth:`settle`."""
        gc.disable()
        self._timer.stop()

    def stop(self) -> None:
        """Give collecting back to Python."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def settle(self) -> None:
        """Call when libraries are loaded: what is there now stays, and is not looked through again.

        Libraries leave hundreds of thousands of objects that would be looked through in vain.
        """
        gc.freeze()
        self._full = time.monotonic()
        self._timer.start()

    @Slot()
    def collect(self) -> None:
        """Collect the generations whose thresholds are passed; the oldest one seldom."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = time.monotonic() - self._full >= FULL_EVERY_S
        for generation in (2, 1, 0) if due else (1, 0):
            if thresholds[generation] and counts[generation] > thresholds[generation]:
                if generation == 2:
                    self._full = time.monotonic()
                gc.collect(generation)
                return
