"""What long work says to the outside: a cancel token and typed, frozen events.

The engine and the readers take a :class:`CancelToken` and a :data:`Report`; the command line prints
the events, the window shows them, a log may keep them. Nothing here knows threads of a front end.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

from dpdesk.core.errors import Cancelled

_Called = TypeVar("_Called", bound=Callable[[], object])


class EarlyEnd:
    """Whether a search is to end with its best result: it was asked to, or one that it repeats was.

    ``after`` is the work after which it ended so, counted as the search does; else None.
    """

    def __init__(self, at: int | None) -> None:
        self.asked, self._at = CancelToken(), at
        self.after: int | None = None

    def reached(self, done: int) -> bool:
        """Whether a search that has done so much is to end now."""
        if self.after is None and (
            self.asked.cancelled or (self._at is not None and done >= self._at)
        ):
            self.after = done
        return self.after is not None


class CancelToken:
    """A flag that long work polls, and to which blocking calls attach an interrupt."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._keepers: dict[int, Callable[[], bool]] = {}
        self._next = 0
        self._repeated: Sequence[int | None] | None = None
        self._ends: list[int | None] = []

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` has been called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask the work to stop; safe from any thread, any number of times."""
        with self._lock:
            self._event.set()
            callbacks = list(self._callbacks.values())
        for callback in callbacks:
            callback()

    def keep(self) -> bool:
        """Ask a running search to end with its best result (:meth:`keeping`); whether one does.

        False where none runs, or where it was asked before: then :meth:`cancel` is what is left.
        """
        with self._lock:
            keepers = list(self._keepers.values())
        return any(keeper() for keeper in reversed(keepers))

    def check(self) -> None:
        """Raise :class:`~dpdesk.core.errors.Cancelled` if the work is to stop."""
        if self._event.is_set():
            raise Cancelled

    def keeping(self, stop: CancelToken) -> AbstractContextManager[None]:
        """The search inside the block ends with its best result, or with the first that it finds,
        when ``stop`` is cancelled; :meth:`keep` does that.
        """

        def keeper() -> bool:
            if stop.cancelled:
                return False
            stop.cancel()
            return True

        return self._among(self._keepers, keeper)

    @contextmanager
    def searches(self, repeated: Sequence[int | None] | None) -> Iterator[list[int | None]]:
        """After how much work each search inside the block was asked to end, None where it was not.

        ``repeated`` is what this gave in a run that is done again: its searches end there again,
        and cannot be asked to.
        """
        before = self._repeated, self._ends
        self._repeated, self._ends = repeated, []
        try:
            yield self._ends
        finally:
            self._repeated, self._ends = before

    @contextmanager
    def early_end(self) -> Iterator[EarlyEnd]:
        """For one search: when it is to end with the best that it has; :meth:`keep` asks it to."""
        place, repeated = len(self._ends), self._repeated
        end = EarlyEnd(repeated[place] if repeated and place < len(repeated) else None)
        self._ends.append(None)
        try:
            with self.keeping(end.asked) if repeated is None else nullcontext():
                yield end
        finally:
            self._ends[place] = end.after

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call ``callback`` (from the cancelling thread) if a cancel comes inside the block.

        Used to interrupt a call that cannot poll, such as a database query. A cancel that came
        before the block raises at once.
        """
        self.check()
        with self._among(self._callbacks, callback):
            if self._event.is_set():
                callback()
            yield

    @contextmanager
    def _among(self, listed: dict[int, _Called], called: _Called) -> Iterator[None]:
        """``called`` stands in the list while the block lasts."""
        with self._lock:
            key = self._next
            self._next += 1
            listed[key] = called
        try:
            yield
        finally:
            with self._lock:
                listed.pop(key, None)


@contextmanager
def ending(token: CancelToken) -> Iterator[CancelToken]:
    """A token for work that ends with the block: cancelled with ``token``, and when it is left.

    So nothing goes on behind what has failed, or what nobody looks at.
    """
    own = CancelToken()
    with token.on_cancel(own.cancel), token._among(token._keepers, own.keep):
        try:
            yield own
        finally:
            own.cancel()


_Result = TypeVar("_Result")


class Behind(Generic[_Result]):
    """A result that a thread of its own makes while the work that asked for it goes on.

    ``make`` gets a token that is cancelled with ``token``, and when nothing refers to this any
    more: what nobody will look at is not worked on.
    """

    def __init__(self, make: Callable[[CancelToken], _Result], token: CancelToken) -> None:
        own = CancelToken()
        future: Future[_Result] = Future()

        def run() -> None:
            try:
                with token.on_cancel(own.cancel):
                    future.set_result(make(own))
            except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
                future.set_exception(error)

        self._future = future
        weakref.finalize(self, own.cancel)
        threading.Thread(target=run, name="behind", daemon=True).start()

    def result(self) -> _Result:
        """The result, when it is there; raises what making it raised."""
        return self._future.result()


@dataclass(frozen=True)
class StepStarted:
    """A named step of the work begins, number ``index`` (from 1) of ``count``."""

    step: str
    index: int
    count: int


@dataclass(frozen=True)
class StepProgress:
    """``done`` of ``total`` units of a step are finished; ``total`` is None when unknown."""

    step: str
    done: int
    total: int | None
    unit: str = ""


@dataclass(frozen=True)
class Note:
    """A sentence worth showing that is no error (a default taken, a warning)."""

    code: str
    sentence: str


Event = StepStarted | StepProgress | Note
Report = Callable[[Event], None]


def silent(event: Event) -> None:
    """Discard an event: the report of callers that do not listen."""
