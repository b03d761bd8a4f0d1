"""The process that reads a foreign format, started, listened to, ended."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import closing, suppress

from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.io.formats.request import Answer, ReadDone, ReadFailed, ReadProgress, ReadRequest
from dpdesk.io.formats.table import TableReader

_KILLED = -9
_PATIENCE = 5.0
CONNECTING = "dpdesk-connecting"
_LOOK_UP = 0.05
"""Seconds between two looks whether what waits was cancelled."""
_WORKER = "from dpdesk.io.formats.worker import main; main()"


def read_in_process(
    request: ReadRequest, name: str, token: CancelToken, progress: Callable[[ReadProgress], None]
) -> ReadDone:
    """Have the table read; ``name`` is what errors call the source.

    Raises InputError or StorageError with what the reader found, ``read.stopped`` when its process
    broke down or was ended, and Cancelled at once when ``token`` is cancelled.
    """
    process = _started()
    ended: int | None = None
    try:
        with token.on_cancel(process.kill):
            answer = _talk(process, request, progress)
            if answer is None:
                ended = _ended(process)
    finally:
        _end(process)
    token.check()
    if isinstance(answer, ReadDone):
        return answer
    if isinstance(answer, ReadFailed):
        raise _told(answer)
    raise _broken_down(name, ended)


def _told(answer: ReadFailed) -> InputError | StorageError:
    kind = StorageError if answer.storage else InputError
    return kind(answer.code, answer.sentence, hint=answer.hint, details=dict(answer.details))


def read_here(
    request: ReadRequest, token: CancelToken, progress: Callable[[ReadProgress], None]
) -> None:
    """As :func:`read_in_process`, of a server that answers many small questions.

    A process for each would take longer than most answers. A cancel stops what the server does, and
    waits for no server that does not answer. Raises as there.
    """
    from dpdesk.io.formats.worker import failed, write_table

    def tell(made: Answer) -> None:
        if isinstance(made, ReadProgress):
            progress(made)

    try:
        with closing(_connected(request, token)) as reader:
            stop: Callable[[], None] = getattr(reader, "stop", lambda: None)
            with token.on_cancel(stop):
                write_table(reader, request, tell)
    except Cancelled:
        raise
    except Exception as error:
        token.check()
        raise _told(failed(error, request)) from error
    token.check()


def _connected(request: ReadRequest, token: CancelToken) -> TableReader:
    """The reader of a server; who is cancelled meanwhile does not wait for the connection."""
    from dpdesk.io.formats.worker import open_reader

    promised: Future[TableReader] = Future()

    def connect() -> None:
        try:
            promised.set_result(open_reader(request))
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            promised.set_exception(error)

    threading.Thread(target=connect, name=CONNECTING, daemon=True).start()
    while not wait([promised], _LOOK_UP).done:
        if token.cancelled:
            promised.add_done_callback(_let_go)
            token.check()
    return promised.result()


def _let_go(promised: Future[TableReader]) -> None:
    """End a connection that nobody waits for any more."""
    if promised.exception() is None:
        promised.result().close()


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """How a process ended that said nothing more; None when it goes on."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(_PATIENCE)
    return None


def _broken_down(name: str, ended: int | None) -> InputError:
    if ended == _KILLED:
        return InputError(
            "read.stopped",
            msg(
                "{name}: the system stopped the reader, as it does when memory is short.", name=name
            ),
            hint="Close other programs and try again.",
        )
    return InputError(
        "read.stopped",
        msg(
            "{name}: the reader crashed before it could name a place (exit code {code}); a "
            "damaged file can cause this.",
            name=name,
            code=ended,
        ),
        hint="Save the file again with its program, or save the table as CSV or Parquet.",
    )


def _started() -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-c", _WORKER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment,
    )  # fmt: skip


def _talk(
    process: subprocess.Popen[bytes],
    request: ReadRequest,
    progress: Callable[[ReadProgress], None],
) -> Answer | None:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump(request, process.stdin)
        process.stdin.flush()
        while isinstance(answer := pickle.load(process.stdout), ReadProgress):
            progress(answer)
    except (EOFError, OSError, pickle.UnpicklingError):
        return None
    return answer if isinstance(answer, ReadDone | ReadFailed) else None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what a killed process has not read cannot be flushed
                pipe.close()
    process.wait()
