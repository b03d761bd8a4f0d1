"""Files that appear whole or not at all, and what they hash to."""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.systems import BINARY, NO_LINK, planted, sync_folder
from dpdesk.io.failures import retold, storage_error
from dpdesk.io.workspace import Placed, mark_of

_PIECE = 1 << 20


class PartialKeeper(Protocol):
    """Whoever makes hidden folders beside a target and removes them after a crash."""

    def partial_beside(self, target: Path) -> Path:
        """Make an empty 0700 folder beside ``target``, and the folders above it."""
        ...

    def forget_partial(self, path: Path) -> None:
        """The folder has been renamed or removed."""
        ...

    def placing(self, target: Path, *, counts: bool = True) -> AbstractContextManager[None]:
        """The block puts what is finished in its place, unless that is no longer wanted.

        Without ``counts`` it is no result, but something noted on the way.
        """
        ...

    def belonging(self, files: Sequence[Placed]) -> AbstractContextManager[None]:
        """In the block these files take their places: after a crash all of them, or none."""
        ...


def hash_file(path: Path, token: CancelToken) -> tuple[str, int]:
    """SHA-256 (hex) and size in bytes of a regular file, read as a stream.

    Symbolic links are not followed: OSError.
    """
    digest = hashlib.sha256()
    size = 0
    handle = os.open(path, os.O_RDONLY | NO_LINK | BINARY)
    with os.fdopen(handle, "rb") as stream:
        while piece := stream.read(_PIECE):
            token.check()
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def write_new(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file that must not exist, with these permissions less the umask, and sync it."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def sync_file(path: Path) -> None:
    """Make sure that the bytes of a file are on the disk."""
    handle = os.open(path, os.O_RDWR | BINARY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(
    target: Path,
    keeper: PartialKeeper,
    *,
    follow: bool = False,
    private: bool = False,
    new: bool = False,
) -> Iterator[Path]:
    """Give a path to write to; when the block ends well the file takes the place of ``target``.

    A link is refused, since someone else may have put it there to lead the file astray; with
    ``follow``, for documents that people keep themselves, it is followed unless another user made
    it. A file that is replaced keeps its permissions (``private``: only its owner may read it),
    and missing folders above it are made. On any error ``target`` is as it was and nothing is left
    next to it; errors name ``target`` as it was given. With ``new`` no file is replaced that is
    there by then, unless it is empty or the same: two programs with the same name lose nothing.

    Raises
    ------
    InputError
        ``out.exists``: ``target`` was to be new; ``out.folder``: ``target`` is a folder;
        ``out.device``: it is another thing that is not a file, such as a device; ``out.link``: it
        is a link.
    StorageError
        The disk refused.
    """
    leads = Path(os.path.realpath(target))
    # Of a link that comes up after this look the rename takes the place; it is not followed either.
    place = leads if follow else Path(os.path.realpath(target.parent), target.name)
    if target.is_symlink() and (not follow or planted(target)):
        raise InputError(
            "out.link",
            msg(
                "{target}: is a link to {leads}, expected a regular file.",
                target=target,
                leads=leads,
            ),
            hint="Name the place that it leads to if the file belongs there, or remove the link.",
        )
    if place.is_dir():
        raise InputError(
            "out.folder", msg("{target}: is a folder, expected the name of a file.", target=target)
        )
    if place.exists() and not place.is_file():  # the rename would put a file in its place
        raise InputError(
            "out.device",
            msg("{target}: is a device or a pipe, expected the name of a file.", target=target),
        )
    with told_of(target, place):
        partial = keeper.partial_beside(place)
    try:
        with told_of(target, partial):
            fresh = partial / place.name
            yield fresh
            fresh.chmod(0o600 if private else _mode_for(place, partial))
            sync_file(fresh)
            with keeper.placing(place):
                if not new or not _took_free_place(fresh, place, target):
                    fresh.replace(place)
        with contextlib.suppress(OSError):  # the file is there; only a power cut could undo it
            sync_folder(place.parent)
    finally:
        remove_partial(partial, keeper)


def _took_free_place(fresh: Path, place: Path, target: Path) -> bool:
    """Give a file the name ``place`` where there is none; False where a rename may do so.

    That is over an empty file or one with the same bytes, and on disks that know no second name of
    a file. Raises InputError ``out.exists``.
    """
    import filecmp

    try:
        os.link(fresh, place)
    except OSError:
        there = os.path.lexists(place) and place.lstat().st_size
        if there and not filecmp.cmp(fresh, place, shallow=False):
            raise InputError(
                "out.exists",
                msg("{out}: the file already exists.", out=target),
                hint="Name another, or remove it.",
            ) from None
        return False
    return True


@contextmanager
def together(keeper: PartialKeeper) -> Iterator[Callable[..., Path]]:
    """Files that belong together: what it gives is called for each as :func:`replacing`, and gives
    the path to write to.

    They take their places when the block ends well, the last first. Where one of them cannot, all
    is as it was: those that came where nothing was are taken away again, and files that were
    replaced come back. Where the program is killed between two of them, the next start does so.
    """
    begun: dict[Path, tuple[Path, Path | None]] = {}
    files: list[Placed] = []

    def begin(target: Path, *, private: bool = False, new: bool = False) -> Path:
        aside = None
        if os.path.lexists(target):
            folder = keeper.partial_beside(target)
            kept.callback(remove_partial, folder, keeper)
            aside = folder / target.name
        fresh = stack.enter_context(replacing(target, keeper, private=private, new=new))
        if aside is not None:
            stack.callback(_keep_as, target, aside)
        begun[target.absolute()] = fresh, aside
        return fresh

    with ExitStack() as kept, ExitStack() as journal:
        try:
            with ExitStack() as stack:
                yield begin
                for target, (fresh, aside) in begun.items():
                    mark = mark_of(fresh)
                    files += [Placed(target, mark, aside)] if mark is not None else []
                if len(files) > 1:
                    journal.enter_context(keeper.belonging(files))
        except BaseException:
            for each in files:
                if each.came():  # no file of others
                    with contextlib.suppress(OSError):
                        each.undo()
            raise


def _keep_as(path: Path, other: Path) -> None:
    """Give a file that is about to be replaced another name, or a copy where there is none."""
    import shutil

    if not os.path.lexists(path):  # taken away meanwhile
        return
    with told_of(path, other):
        try:
            os.link(path, other)
        except OSError:
            shutil.copy2(path, other)


@contextmanager
def told_of(target: Path, hidden: Path) -> Iterator[None]:
    """Tell failures to write ``hidden``, or below it, of ``target``, the path that the user gave.

    Raises StorageError, also in the place of OSError.
    """
    try:
        yield
    except (OSError, StorageError) as error:
        other = told(error, target, hidden)
        if other is not None:
            raise other from error
        raise


def told(error: BaseException | None, target: Path, hidden: Path) -> StorageError | None:
    """What :func:`told_of` raises in the place of ``error``; None when ``error`` is right."""
    if isinstance(error, OSError):
        return storage_error(error, target, "write")
    if isinstance(error, StorageError):
        place = Path(str(error.details.get("path", "")))
        return retold(error, target) if place.is_relative_to(hidden) else None
    return None


def _mode_for(place: Path, partial: Path) -> int:
    """The permissions of the file that is replaced, else those that a new file gets."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(place.stat().st_mode)
    return _plain_mode(partial)


def _plain_mode(folder: Path) -> int:
    probe = folder / ".mode"
    probe.touch(0o666)
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.unlink()
    return mode


def remove_partial(partial: Path, keeper: PartialKeeper) -> None:
    """Remove a half-written folder; when that fails it stays journalled for the next start."""
    import shutil

    shutil.rmtree(partial, ignore_errors=True)
    if not partial.exists():
        keeper.forget_partial(partial)


# Small text files (plans, hierarchies): read whole with clear errors, written whole or not.


MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class TextFile:
    """The text of a file and the encoding in which it was read (Python's name)."""

    text: str
    encoding: str


def read_bytes(path: Path, code: str) -> bytes:
    """All bytes of a file.

    Raises StorageError ``{code}.unreadable`` or InputError ``{code}.too-large``.
    """
    try:
        if not path.exists():
            reason, hint = "the file does not exist", "Check the path."
        elif not path.is_file():
            reason, hint = "found a folder or a device", "Give the path of a file."
        elif path.stat().st_size > MAX_BYTES:
            raise InputError(
                f"{code}.too-large",
                msg(
                    "{path}: the file has {size:,} bytes, expected at most {most:,}.",
                    path=path,
                    size=path.stat().st_size,
                    most=MAX_BYTES,
                ),
                hint="This does not look like the right file.",
            )
        else:
            return path.read_bytes()
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        reason, hint = words[:1].lower() + words[1:], "Check the path and the permissions."
    raise StorageError(
        f"{code}.unreadable",
        msg("{path}: the file cannot be read: {reason}.", path=path, reason=reason),
        hint=hint,
    )


def decode(raw: bytes, path: Path, code: str, fallback: str | None = None) -> TextFile:
    """Text of ``raw``: UTF-8 (with or without BOM), UTF-16 with BOM, else ``fallback``.

    Raises InputError ``{code}.encoding`` naming the line with the first byte that cannot be read,
    or ``{code}.nul`` naming the line of a NUL character.
    """
    encoding = "utf-8-sig"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        if fallback is None or encoding == "utf-16":
            raise _undecodable(path, code, raw, error) from None
        encoding = fallback
        try:
            text = raw.decode(fallback)
        except UnicodeDecodeError as second:
            raise _undecodable(path, code, raw, second) from None
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise InputError(
            f"{code}.nul",
            msg("{name}, line {line}: found a NUL character, expected text.", name=path, line=line),
            hint="The file is damaged or not a text file.",
            details={"line": line},
        )
    return TextFile(text, "utf-8" if encoding == "utf-8-sig" else encoding)


def _undecodable(path: Path, code: str, raw: bytes, error: UnicodeDecodeError) -> InputError:
    line = raw.count(b"\n", 0, error.start) + 1
    return InputError(
        f"{code}.encoding",
        msg(
            "{path}, line {line}: found the byte 0x{raw:02X}, expected text in UTF-8.",
            path=path,
            line=line,
            raw=raw[error.start],
        ),
        hint="Save the file as UTF-8.",
        details={"line": line},
    )


def write_text(
    path: Path,
    text: str,
    code: str,
    keeper: PartialKeeper,
    *,
    follow: bool = False,
    new: bool = False,
) -> None:
    """Write ``text`` as UTF-8, see :func:`replacing`; the old file stays on any failure.

    Raises StorageError ``{code}.unwritable``.
    """
    try:
        with replacing(path, keeper, follow=follow, new=new) as fresh:
            write_new(fresh, text.encode("utf-8"))
    except DpdeskError as error:
        raise StorageError(f"{code}.unwritable", error.sentence, hint=error.hint) from error
    except ValueError as error:
        raise StorageError(
            f"{code}.unwritable", msg("{path}: cannot be written: {error}.", path=path, error=error)
        ) from error
