"""Ctrl+C and the request to terminate become a cancel of the running work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken

T = TypeVar("T")

_SIGNALS = tuple(
    number
    for number in (
        getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    )
    if number is not None
)


class _Result(Generic[T]):
    def __init__(self) -> None:
        self.value: list[T] = []
        self.error: BaseException | None = None


def run_cancellable(work: Callable[[CancelToken], T]) -> T:
    """Run ``work`` on its own thread and return its value; a signal cancels its token.

    Signal handlers run between two steps of the main thread's Python code, which therefore only
    waits here. Whatever ``work`` raises is raised; after a signal, an error of no known kind counts
    as cancelled.
    """
    token = CancelToken()
    result: _Result[T] = _Result()

    def body() -> None:
        try:
            result.value.append(work(token))
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            result.error = error

    thread = threading.Thread(target=body, name="dpdesk-command")
    with _cancelling(token):
        thread.start()
        thread.join()
    if result.error is not None:
        if token.cancelled and not isinstance(result.error, DpdeskError):
            raise Cancelled from result.error
        raise result.error
    return result.value[0]


@contextmanager
def _cancelling(token: CancelToken) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    came: list[int] = []

    def cancel(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) == 1:  # the token's lock is not for a handler that interrupts itself
            token.cancel()

    before = {
        number: signal.signal(number, cancel)
        for number in _SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
