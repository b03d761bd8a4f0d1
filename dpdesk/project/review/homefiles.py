"""Small private files in the home folder: read with limits, replaced whole, one writer."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.systems import BINARY, NO_LINK, NO_WAIT, open_lock, sync_folder, try_hold
from dpdesk.io.failures import storage_error
from dpdesk.io.safewrite import PartialKeeper, write_new
from dpdesk.io.workspace import SMALL_PARTIAL

LONGEST_WAIT = 30


def private_folder(folder: Path) -> None:
    """Make a folder that only its user may enter. Raises StorageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as error:
        raise storage_error(error, folder, "write") from error


def read_small(path: Path, most: int) -> bytes:
    """All bytes of a regular file; links are not followed.

    Raises StorageError, and InputError ``file.kind`` or ``file.too-large``.
    """
    flags = os.O_RDONLY | BINARY | NO_LINK | NO_WAIT
    try:
        handle = os.open(path, flags)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise InputError(
                    "file.kind", msg("{path}: found a device, expected a file.", path=path)
                )
            data = stream.read(most + 1)
    except OSError as error:
        if path.is_symlink():
            raise InputError(
                "file.kind", msg("{path}: found a link, expected a file.", path=path)
            ) from error
        raise storage_error(error, path, "read") from error
    if len(data) > most:
        raise InputError(
            "file.too-large", msg("{path}: has more than {most:,} bytes.", path=path, most=most)
        )
    return data


def write_private(
    path: Path, data: bytes, keeper: PartialKeeper | None = None, *, counts: bool = True
) -> None:
    """Write a file of the home folder for its user alone, whole or not at all.

    With a ``keeper`` work that is given up does not end in the middle; ``counts`` says whether the
    file is a result, see :meth:`PartialKeeper.placing`. Raises StorageError, and Cancelled when
    the work was given up before.
    """
    with contextlib.nullcontext() if keeper is None else keeper.placing(path, counts=counts):
        name = f".{path.name[:80]}.{secrets.token_hex(6)}{SMALL_PARTIAL}"
        partial = path.with_name(name)  # what a kill leaves, a later start removes
        try:
            write_new(partial, data, mode=0o600)
            partial.replace(path)
        except OSError as error:
            raise storage_error(error, path, "write") from error
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        with contextlib.suppress(OSError):  # the file is there; only a power cut could undo it
            sync_folder(path.parent)


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Be the only process in this block for ``name`` below ``folder``, which is made if needed."""
    private_folder(folder)
    place = folder / f".{name}.lock"
    try:
        stream = open_lock(place)
    except OSError as error:
        raise storage_error(error, place, "write") from error
    with stream:
        take_lock(stream.fileno(), folder)
        yield


def take_lock(handle: int, what: Path) -> None:
    """Lock an open file or folder until it is closed, waiting for half a minute at most.

    Raises StorageError ``review.busy``, and OSError where the file system has no locks.
    """
    until = time.monotonic() + LONGEST_WAIT
    while True:
        if try_hold(handle):
            return
        if time.monotonic() >= until:
            raise StorageError(
                "review.busy",
                msg(
                    "{what}: another program has kept changing it for {longest_wait} seconds.",
                    what=what,
                    longest_wait=LONGEST_WAIT,
                ),
                hint="Close the other program, and try again.",
            )
        time.sleep(0.02)
