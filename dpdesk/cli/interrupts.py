"""Ctrl+C and the request to terminate become a cancel of the running work."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

from dpdesk.cli.early import SIGNALS
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken

T = TypeVar("T")

PATIENCE = 0.6  # seconds from a signal until work that has not stopped is left alone
_TICK = 0.1


class _Result(Generic[T]):
    def __init__(self) -> None:
        self.value: list[T] = []
        self.error: BaseException | None = None


def run_cancellable(
    work: Callable[[CancelToken], T], abandon: Callable[[], bool] = lambda: False
) -> T:
    """Run ``work`` on its own thread and return its value; a signal cancels its token.

    At the first Ctrl+C a search that has a result ends with it (:meth:`CancelToken.keep`); the
    next one, or another signal, cancels.

    Signal handlers run between two steps of the main thread's Python code, which therefore only
    waits here. Whatever ``work`` raises is raised; after a signal, an error of no known kind counts
    as cancelled. Work that does not stop soon (a library may be at it) is left alone when
    ``abandon`` agrees, having removed what the work left: then Cancelled is raised while the
    thread goes on, and the process is to end at once.
    """
    token = CancelToken()
    result: _Result[T] = _Result()

    def body() -> None:
        try:
            result.value.append(work(token))
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            result.error = error

    thread = threading.Thread(target=body, name="dpdesk-command", daemon=True)
    with _cancelling(token) as came:
        thread.start()
        while thread.is_alive():
            thread.join(_TICK)
            if len(came) > 1 and not token.cancelled:
                token.cancel()
                del came[0]
            late = token.cancelled and came and time.monotonic() - came[0] > PATIENCE
            if late and thread.is_alive() and abandon():
                raise Cancelled
    if result.error is not None:
        if token.cancelled and not isinstance(result.error, DpdeskError):
            raise Cancelled from result.error
        raise result.error
    return result.value[0]


@contextmanager
def _cancelling(token: CancelToken) -> Iterator[list[float]]:
    """Cancel the token at a signal; gives the times (monotonic) at which signals came."""
    came: list[float] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def cancel(number: int, frame: FrameType | None) -> None:
        came.append(time.monotonic())
        if len(came) > 1:
            return  # the token's lock is not for a handler that interrupts itself
        if number != signal.SIGINT or not token.keep():
            token.cancel()

    before = {
        number: signal.signal(number, cancel)
        for number in SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
