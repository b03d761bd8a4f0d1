"""Passphrases: typed at a terminal without showing, or from a file; never an argument."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from pathlib import Path

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import Note
from dpdesk.core.systems import open_to_others

_LONGEST = 10_000


def ask_passphrases(options: Namespace) -> None:
    """Fill ``options.passphrase`` and ``options.new_passphrase`` where the command needs them.

    Called in the main thread before the work starts. Raises InputError ``passphrase.missing`` when
    there is neither a file nor a terminal, ``passphrase.empty`` for a file without one,
    ``passphrase.differs`` when a new one was not typed the same twice, StorageError when a file
    cannot be read.
    """
    for name, question, twice in getattr(options, "asks", ()):
        file: Path | None = getattr(options, f"{name}_file", None)
        found = _from_file(file) if file is not None else _typed(question, twice)
        setattr(options, name, found)


def _from_file(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            text = stream.read(_LONGEST)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise StorageError(
            "passphrase.unreadable", f"{path}: the passphrase cannot be read: {reason}."
        ) from error
    found = text.split("\n", 1)[0].removesuffix("\r")
    if not found:
        raise InputError(
            "passphrase.empty",
            f"{path}: its first line is empty, expected the passphrase.",
        )
    return found


def told_open(options: Namespace) -> list[Note]:
    """A note for each file of a passphrase that others than its owner may read."""
    files: list[Path | None] = [
        getattr(options, f"{name}_file", None) for name, _, _ in getattr(options, "asks", ())
    ]
    return [
        Note("passphrase.open", f"{path}: other users of this computer may read the passphrase.")
        for path in files
        if path is not None and path.is_file() and open_to_others(path)
    ]


def _typed(question: str, twice: bool) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError(
            "passphrase.missing",
            "There is no terminal to type a passphrase at.",
            hint="Name a file that holds it with `--passphrase-file`.",
        )
    first = getpass.getpass(f"{question}: ")
    if twice and getpass.getpass("The same again: ") != first:
        raise InputError("passphrase.differs", "The two passphrases differ; nothing was changed.")
    return first
