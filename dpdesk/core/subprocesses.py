"""Work in a process of its own: it cannot hold up this one, and it can be ended at any time.

For libraries that keep the interpreter to themselves for long, or that cannot be interrupted. The
process gets questions through its input and gives answers through its output, both pickled; it
needs no file and no network, and ends with the program that started it.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import weakref
from contextlib import suppress
from threading import Lock
from typing import IO

from dpdesk.core.closing import Closing
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg

ARGUMENT = "--aside"
"""What a packaged program is started with to become such a process; a target follows."""

_CODE = "from dpdesk.core.subprocesses import serve; import sys; serve(sys.argv[1])"
_OURS = "dpdesk."
_POLITE = 5
_WAIT = 0.1


class SubprocessError(Exception):
    """The process ended, or failed at a question; the text says why as far as it is known."""


class Subprocess(Closing):
    """A process that answers questions, one at a time, by a function of one argument.

    ``target`` names it, such as ``"dpdesk.report.pdf.document:pdf_of"``. The process starts at the
    first question or with :meth:`start`, and ends with the ``with`` block.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, so that it loads what it needs while this one does other work."""
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            self._process = subprocess.Popen(
                [*_command(), self._target],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=environment,
            )  # fmt: skip
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.kill()
        # What a killed process has not read cannot be flushed.
        with suppress(OSError):
            _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()
        self._process.wait()

    def ask(self, question: object, token: CancelToken) -> object:
        """The answer to a question.

        Raises Cancelled at once when ``token`` is cancelled (the process is gone then), and
        :class:`SubprocessError`.
        """
        process = self.start()
        try:
            with token.on_cancel(process.kill):
                pickle.dump(question, _pipe(process.stdin))
                _pipe(process.stdin).flush()
                done, answer = pickle.load(_pipe(process.stdout))
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            token.check()
            raise SubprocessError("the process ended") from error
        token.check()
        if not done:
            raise SubprocessError(str(answer))
        return answer


class KeptSubprocess:
    """Such a process that stays warm between questions, for a whole program.

    One question at a time; the process starts with :meth:`start` or the first question, and ends
    with the program.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._aside: Subprocess | None = None
        self._ended: weakref.finalize[[], KeptSubprocess] | None = None
        self._busy = Lock()
        self._starting = Lock()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, so that it is ready when there is something to ask.

        One that ended since the last question, as where memory was short, is started again.
        """
        with self._starting:
            if self._aside is not None and self._aside.start().poll() is not None:
                self._let_go()
            if self._aside is None:
                self._aside = Subprocess(self._target)
                self._ended = weakref.finalize(self, self._aside.close)
            return self._aside.start()

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._starting:
            self._let_go()

    def _let_go(self) -> None:
        ended, self._aside, self._ended = self._ended, None, None
        if ended is not None:
            ended()

    def ask(self, question: object, token: CancelToken) -> object:
        """The answer to a question.

        Raises Cancelled within a moment, even while another question is being answered, and
        :class:`SubprocessError`; the process is gone then.
        """
        while not self._busy.acquire(timeout=_WAIT):
            token.check()
        try:
            self.start()
            assert self._aside is not None
            return self._aside.ask(question, token)
        except SubprocessError:
            self.close()
            raise
        finally:
            if token.cancelled:  # the process was ended with its question
                self.close()
            self._busy.release()


def serve(target: str) -> None:
    """Be such a process: answer every question that comes in, until the input ends.

    ValueError for a target outside this program.
    """
    if not target.startswith(_OURS):
        raise ValueError(f"{target!r} is not of this program")
    module, _, name = target.partition(":")
    if hasattr(os, "nice"):
        os.nice(_POLITE)
    # What a library prints must not get between the answers.
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    function = getattr(importlib.import_module(module), name)
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = (True, function(question))
        except Exception as error:  # noqa: BLE001 - whatever it is, the asker is told
            answer = (False, msg("{file}: {note}", file=type(error).__name__, note=error))
        pickle.dump(answer, out)
        out.flush()


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, ARGUMENT]
    return [sys.executable, "-c", _CODE]


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
