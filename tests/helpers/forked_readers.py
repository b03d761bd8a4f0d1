"""The reading process of tests: forked from one that has loaded the libraries already.

As in the program, each request has a process of its own that knows nothing of the one before, may
be killed, and breaks down alone. What all of them load, they load once: a third of a second of a
processor for each source that is opened, and thousands are.

``python -m tests.helpers.forked_readers N`` serves the socket ``N``. A message of it is the
environment and the folder of a reader, with its input, its output and a socket for its own life:
there the server says its number, and how it ended. The number is nobody else's until that socket is
closed.
"""

from __future__ import annotations

import importlib
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import IO

from dpdesk.io.formats import process
from dpdesk.io.formats.worker import _PRIVATE, _READERS
from dpdesk.io.formats.worker import main as read

_LOADED = ("parquet_look", "coded", "numbers")
_LIBRARIES = ("pyarrow.parquet", "duckdb", "pyreadstat")
_MOST = 1 << 17


def main(number: int) -> None:
    """Serve until nobody asks any more."""
    found = {target.rpartition(".")[0] for target in (*_READERS.values(), *_PRIVATE.values())}
    for name in (*_LIBRARIES, *(f"dpdesk.io.formats.{one}" for one in sorted({*found, *_LOADED}))):
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers below
    with socket.socket(fileno=number) as asked:
        while True:
            wish, pipes, _, _ = socket.recv_fds(asked, _MOST, 3)
            if not wish:
                return
            if os.fork() == 0:
                asked.close()
                _keep(wish, pipes)
            for pipe in pipes:
                os.close(pipe)


def _keep(wish: bytes, pipes: list[int]) -> None:
    """Start one reader, say its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    reader = os.fork()
    if reader == 0:
        _be(wish, pipes)
    for pipe in pipes[:2]:
        os.close(pipe)
    try:
        with socket.socket(fileno=pipes[2]) as told:
            told.send(pickle.dumps(reader))
            ended = os.waitid(os.P_PID, reader, os.WEXITED | os.WNOWAIT)
            assert ended is not None
            sign = 1 if ended.si_code == os.CLD_EXITED else -1
            told.send(pickle.dumps(sign * ended.si_status))
            told.recv(1)
    finally:
        os._exit(0)


def _be(wish: bytes, pipes: list[int]) -> None:
    """Be a reader, as one that was started with this environment in this folder."""
    code = 1
    try:
        environment, folder = pickle.loads(wish)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        os.chdir(folder)
        os.dup2(pipes[0], 0)
        os.dup2(pipes[1], 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for pipe in pipes:
            os.close(pipe)
        read()
        code = 0
    finally:
        os._exit(code)


class Forked:
    """A reader, to those who started it: what they use of ``subprocess.Popen``."""

    def __init__(self, server: socket.socket) -> None:
        given, self._sent = os.pipe()
        self._got, taken = os.pipe()
        self._life, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        wish = pickle.dumps((dict(os.environ), os.getcwd()))
        try:
            socket.send_fds(server, [wish], [given, taken, told.fileno()])
        finally:
            told.close()
            os.close(given)
            os.close(taken)
        self.stdin: IO[bytes] = open(self._sent, "wb", buffering=0)  # noqa: SIM115
        self.stdout: IO[bytes] = open(self._got, "rb")  # noqa: SIM115
        self._number: int = pickle.loads(self._life.recv(_MOST))
        self._ended: int | None = None
        self._lock = threading.Lock()

    def kill(self) -> None:
        with self._lock:
            if self._life.fileno() >= 0:
                os.kill(self._number, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        if self._ended is None:
            if not select.select([self._life], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("the reader", timeout or 0)
            with self._lock, self._life:
                self._ended = int(pickle.loads(self._life.recv(_MOST)))
        return self._ended


class Readers:
    """Starts readers; the process from which they are forked is started with the first of them."""

    def __init__(self) -> None:
        self._server: socket.socket | None = None
        self._starting = threading.Lock()

    def start(self) -> Forked:
        with self._starting:
            if self._server is None:
                self._server = _served(self)
            return Forked(self._server)


def _served(owner: Readers) -> socket.socket:
    """A server, which ends with its owner."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with far:
        running = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.forked_readers", str(far.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            pass_fds=[far.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    weakref.finalize(owner, _end, near, running)
    return near


def _end(near: socket.socket, running: subprocess.Popen[bytes]) -> None:
    near.close()
    running.wait()


READERS = Readers()
_STARTED: Callable[[], object] = process._started
_PROGRAM = process._WORKER


def started() -> object:
    """In place of ``process._started``; what a test gives as the program is really started."""
    return READERS.start() if process._WORKER == _PROGRAM else _STARTED()


if __name__ == "__main__":
    main(int(sys.argv[1]))
