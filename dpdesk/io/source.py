"""The bytes of a source file, streamed: hashed, counted, cancellable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.io.failures import storage_error

CHUNK = 1 << 20
_EVERY = 16


def byte_chunks(
    path: Path,
    token: CancelToken,
    report: Report,
    step: str,
    start: int = 0,
    stop: int | None = None,
    digest: hashlib._Hash | None = None,
) -> Iterator[bytes]:
    """Chunks of the bytes from ``start`` to ``stop``; ``digest`` sees all bytes of the file.

    Raises Cancelled, and StorageError when the file cannot be read.
    """
    try:
        total = path.stat().st_size
        end = total if stop is None else stop
        done = 0
        with path.open("rb") as file:
            for number, chunk in enumerate(iter(lambda: file.read(CHUNK), b"")):
                token.check()
                if number % _EVERY == 0:
                    report(StepProgress(step, done, total, "bytes"))
                if digest is not None:
                    digest.update(chunk)
                wanted = chunk[max(0, start - done) : max(0, end - done)]
                done += len(chunk)
                if wanted:
                    yield wanted
        report(StepProgress(step, total, total, "bytes"))
    except OSError as problem:
        raise storage_error(problem, path, "read") from problem


def file_sha256(path: Path, token: CancelToken, report: Report, step: str) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    for _ in byte_chunks(path, token, report, step, digest=digest):
        pass
    return digest.hexdigest()


def ends_by_byte(encoding: str) -> bool:
    """Whether a Ctrl-Z is one byte in an encoding."""
    return not encoding.startswith(("utf-16", "utf-32"))


def text_end(path: Path) -> tuple[int, bool]:
    """Where the text of a file ends, and whether a final Ctrl-Z (0x1A) was left out.

    Old DOS programs close a text with that byte; it is no value.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - 4))
            tail = file.read()
    except OSError as problem:
        raise storage_error(problem, path, "read") from problem
    kept = tail.rstrip(b"\r\n")
    if kept.endswith(b"\x1a") and (len(kept) == 1 or kept[-2:-1] in (b"\n", b"\r")):
        return size - len(tail) + len(kept) - 1, True
    return size, False
