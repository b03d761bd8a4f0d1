"""Small text files (plans, hierarchies): read whole with clear errors, written whole or not."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.io.safewrite import PartialKeeper, replacing, write_new

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
            hint="The file is damaged or no text file.",
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
    path: Path, text: str, code: str, keeper: PartialKeeper, *, follow: bool = False
) -> None:
    """Write ``text`` as UTF-8, see :func:`replacing`; the old file stays on any failure.

    Raises StorageError ``{code}.unwritable``.
    """
    try:
        with replacing(path, keeper, follow=follow) as fresh:
            write_new(fresh, text.encode("utf-8"))
    except DpdeskError as error:
        raise StorageError(f"{code}.unwritable", error.sentence, hint=error.hint) from error
    except ValueError as error:
        raise StorageError(
            f"{code}.unwritable", msg("{path}: cannot be written: {error}.", path=path, error=error)
        ) from error
