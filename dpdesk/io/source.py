"""The bytes of a source file, streamed: hashed, counted, cancellable."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.io.failures import storage_error
from dpdesk.io.safewrite import hash_file

CHUNK = 1 << 20
_EVERY = 16
_DOS_TAIL = 1 << 12
"""Bytes at the end that are looked through for Ctrl-Z; blocks of DOS and CP/M are smaller."""


@dataclass(frozen=True)
class Stretch:
    """Some of the bytes of one file: those from ``start`` up to ``stop`` (None: its end).

    Offsets go nowhere without their file. A text that is written again in another encoding or form
    has other offsets, and a stretch of its own.
    """

    path: Path
    start: int = 0
    stop: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether these are all bytes of the file."""
        return self.start == 0 and self.stop is None

    def first(self, length: int) -> Stretch:
        """The first bytes of the stretch, so many."""
        return Stretch(self.path, self.start, self.start + length)

    def of_head(self, head: bytes) -> bytes:
        """Those of the first bytes of the same file that belong to the stretch."""
        return head[self.start : self.stop]


@dataclass(frozen=True)
class FilePrint:
    """What tells a source from others: SHA-256 of its bytes (hex), and their number.

    ``size`` is None where there is no file: the hash is that of what a server sent.
    """

    sha256: str = ""
    size: int | None = None

    def difference(self, path: Path, token: CancelToken) -> str | None:
        """In what a file is another one, None for nothing; the size, if known, is asked first.

        So a file of another size is not read: it may be of any. Raises StorageError, Cancelled.
        """
        try:
            size = path.stat().st_size
            if self.size is not None and size != self.size:
                words = "it has {found:,} bytes, expected {wanted:,}"
                return msg(words, found=size, wanted=self.size)
            same = hash_file(path.resolve(), token)[0] == self.sha256
        except OSError as problem:
            raise storage_error(problem, path, "read") from problem
        return None if same else msg("its SHA-256 is different")


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise InputError ``source.changed`` for a file that is another one after the block.

    Readers go through a file several times, and its hash is taken in one of them: what was read
    may be neither the old file nor the new one. It is also what the block raises then. A source
    that is not a file never counts as changed.
    """
    before = _stamp(path)
    try:
        yield
    except (InputError, StorageError) as problem:
        if _stamp(path) != before:
            raise _changed(path) from problem
        raise
    if _stamp(path) != before:
        raise _changed(path)


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _changed(path: Path) -> InputError:
    return InputError(
        "source.changed",
        msg(
            "{name}: another program changed the file while it was read, so nothing of it is used.",
            name=path.name,
        ),
        hint="Wait until that program has finished, then read the file again.",
    )


class Digest:
    """Hashes and counts the bytes of a file as they are read."""

    def __init__(self) -> None:
        self._hash, self._size = hashlib.sha256(), 0

    def update(self, data: bytes) -> None:
        """The next bytes of the file."""
        self._hash.update(data)
        self._size += len(data)

    def found(self) -> FilePrint:
        """Of all bytes so far."""
        return FilePrint(self._hash.hexdigest(), self._size)


def byte_chunks(
    text: Stretch,
    token: CancelToken,
    report: Report,
    step: str,
    digest: Digest | None = None,
) -> Iterator[bytes]:
    """The bytes of a stretch in chunks; ``digest`` sees all bytes of the file.

    Raises Cancelled, and StorageError when the file cannot be read.
    """
    path, start = text.path, text.start
    try:
        total = path.stat().st_size
        end = total if text.stop is None else text.stop
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


def file_print(path: Path, token: CancelToken, report: Report, step: str) -> FilePrint:
    """SHA-256 and size of a file."""
    digest = Digest()
    for _ in byte_chunks(Stretch(path), token, report, step, digest):
        pass
    return digest.found()


def begins_as_utf8(data: bytes, complete: bool) -> bool:
    """Whether the first bytes of a text are UTF-8; unless ``complete`` they may cut a letter."""
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(data, complete)
    except UnicodeDecodeError:
        return False
    return True


def text_of(path: Path, start: int, encoding: str) -> Stretch:
    """The text of a file from byte ``start`` on, without Ctrl-Z (0x1A) and NULs at its end.

    Old DOS programs close a text with Ctrl-Z, whether its last line has ended or not, and fill its
    last block with it; other programs and systems fill one with NULs. They are no value. A ``stop``
    of the stretch says that there were some.
    """
    # In UTF-16 and UTF-32 a sign has several bytes, and its place counts from the text's beginning.
    unit = len("\x1a".encode(encoding, "replace"))
    end, nul, cr, lf = (sign.encode(encoding, "replace") for sign in ("\x1a", "\0", "\r", "\n"))
    if end.decode(encoding, "replace") != "\x1a":
        return Stretch(path, start)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(start, size - _DOS_TAIL + (start - size) % unit))
            tail = file.read()
    except OSError as problem:
        raise storage_error(problem, path, "read") from problem
    kept = _without(tail, unit, (cr, lf))
    text = _without(tail[:kept], unit, (end, nul))
    if text < kept:
        return Stretch(path, start, size - len(tail) + text)
    return Stretch(path, start)


def _without(data: bytes, unit: int, signs: tuple[bytes, ...]) -> int:
    """Where the signs at the end of some bytes begin, each of so many bytes."""
    stop = len(data)
    while stop >= unit and not stop % unit and data[stop - unit : stop] in signs:
        stop -= unit
    return stop
