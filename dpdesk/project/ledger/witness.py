"""A witness of ledgers: what was entered in them, in a file apart from them and their folder.

A copy of a ledger that is put back from a backup is whole and consistent, and tells less than was
spent; so is the audit log, where both lie in one folder. The witness lies elsewhere and holds every
entry of every ledger that was used or looked at here, by the random id of the ledger. What it
knows of a ledger and the ledger does not have was forgotten, and nothing is spent until it is
entered again. A ledger with another id is another ledger, never an old copy.

The file only grows, by one line of JSON for each entry, written and synced before a debit is given
out and after the ledger has it on the disk. So it may know less than the ledger (killed in
between; the next one to use the ledger adds what is missing) and never more, but for a ledger that
was put back. A line that is cut short or changed does not have the hash that it names, and counts
for nothing.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.errors import StorageError
from dpdesk.core.home import expanded
from dpdesk.core.jsontext import read_json
from dpdesk.project.ledger.records import LedgerEntry

VARIABLE = "DPDESK_WITNESS"
FILE = "witness.jsonl"
_FIELDS = tuple(field.name for field in fields(LedgerEntry))
_TYPES = (int, *(str,) * (len(_FIELDS) - 1))


@dataclass(frozen=True)
class SeenLedger:
    """A ledger as the witness knows it: its id, where it lay last, its entries as they came."""

    id: str
    path: str
    entries: tuple[LedgerEntry, ...]


@dataclass(frozen=True)
class Witness:
    """The witness in a file; ``named`` says that its place was set on purpose.

    Where such a place cannot be used nothing is spent (:meth:`refuse`). Where the usual place
    cannot, :meth:`keep` says so, and work goes on without.
    """

    path: Path
    named: bool = False

    @classmethod
    def here(cls) -> Witness:
        """The one that ``DPDESK_WITNESS`` names (a file, or a folder for it), or the usual one.

        The usual place is the folder of the user for states of programs, which is not the one of
        DPDESK_HOME.
        """
        named = os.environ.get(VARIABLE)
        if named:
            path = expanded(named).absolute()
            return cls(path / FILE if path.is_dir() else path, named=True)
        import platformdirs

        usual = Path(platformdirs.user_state_dir("dpdesk", appauthor=False))
        if usual == Path(platformdirs.user_data_dir("dpdesk", appauthor=False)):
            usual = usual.with_name("dpdesk-witness")
        return cls(usual / FILE)

    def ledgers(self) -> Mapping[str, SeenLedger]:
        """All ledgers that it knows, by id; none where there is no file yet.

        Raises StorageError ``witness.unreadable`` where there is one that cannot be read.
        """
        try:
            _expect_plain(self.path)
            with self.path.open("rb") as stream:
                facts = os.fstat(stream.fileno())
            return _read(str(self.path), (facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except (FileNotFoundError, NotADirectoryError):
            return MappingProxyType({})
        except OSError as error:
            if self.named or self.path.exists():
                raise _unreadable(self.path, error) from error
            return MappingProxyType({})

    def entries(self, ledger: str) -> tuple[LedgerEntry, ...]:
        """What it knows of the ledger with this id. Raises as :meth:`ledgers`."""
        found = self.ledgers().get(ledger)
        return () if found is None else found.entries

    def stamp(self) -> tuple[object, ...]:
        """What is another after every change of the file."""
        try:
            facts = self.path.stat()
        except OSError:
            return ()
        return facts.st_ino, facts.st_size, facts.st_mtime_ns

    def ready(self) -> str:
        """Make the file where there is none, and see that lines can be added.

        Why they cannot, empty where they can. Raises as :meth:`refuse`.
        """
        reason = self._add(b"")
        self.refuse(reason)
        return reason

    def refuse(self, reason: str) -> None:
        """Raise StorageError ``witness.unwritable`` where a place that was named has this fault."""
        if reason and self.named:
            raise _unwritable(self.path, reason)

    def keep(self, ledger: str, path: Path, entries: Iterable[LedgerEntry]) -> str:
        """Add entries of a ledger that lies at ``path``, on the disk when this returns.

        Why that was impossible, empty when it was not.
        """
        lines = [
            json.dumps({"ledger": ledger, "path": str(path), **entry.as_plain()}, sort_keys=True)
            for entry in entries
        ]
        # A line that was cut short by a kill must not swallow the next one.
        return self._add("".join(f"\n{line}\n" for line in lines).encode("ascii"))

    def _add(self, content: bytes) -> str:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _expect_plain(self.path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            descriptor = os.open(self.path, flags, 0o600)
            try:
                while content:
                    content = content[os.write(descriptor, content) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            return _why(error)
        return ""


def _expect_plain(path: Path) -> None:
    """Raise OSError where something is there that is not a file: reading a pipe may never end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@lru_cache(maxsize=2)
def _read(path: str, stamp: tuple[object, ...]) -> Mapping[str, SeenLedger]:
    places: dict[str, str] = {}
    found: dict[str, dict[str, LedgerEntry]] = {}
    with open(path, "rb") as stream:
        for line in stream:
            read = _line(line)
            if read is not None:
                ledger, place, entry = read
                places[ledger] = place
                found.setdefault(ledger, {})[entry.hash] = entry
    return MappingProxyType(
        {
            ledger: SeenLedger(ledger, places[ledger], tuple(entries.values()))
            for ledger, entries in found.items()
        }
    )


def _line(line: bytes) -> tuple[str, str, LedgerEntry] | None:
    """Ledger, its place and an entry; None for a line that says nothing that can be relied on."""
    try:
        plain = read_json(line)
    except ValueError:
        return None
    if not isinstance(plain, dict):
        return None
    ledger, place, entry = plain.get("ledger"), plain.get("path"), read_entry(plain)
    if not isinstance(ledger, str) or not isinstance(place, str) or entry is None:
        return None
    return ledger, place, entry


def read_entry(plain: Mapping[str, object]) -> LedgerEntry | None:
    """An entry that was written elsewhere; None where it is not whole, or not what its hash says.

    The chain is not looked at.
    """
    values = tuple(plain.get(name) for name in _FIELDS)
    if tuple(type(value) for value in values) != _TYPES:
        return None
    entry = LedgerEntry(*values)  # type: ignore[arg-type]
    try:
        whole = entry.hash == entry.expected_hash()
        _ = entry.content
    except ValueError:
        return None
    return entry if whole else None


def _unreadable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        "witness.unreadable",
        f"{path}: the witness of the ledgers cannot be read ({_why(error)}), so it is not known "
        "whether a ledger was put back from an old copy.",
        hint=f"Make it readable, or let {VARIABLE} name another place; nothing is spent before.",
        details={"path": str(path)},
    )


def _unwritable(path: Path, reason: str) -> StorageError:
    return StorageError(
        "witness.unwritable",
        f"{path}: the witness of the ledgers cannot be written ({reason}).",
        hint=f"Make it writable, or let {VARIABLE} name another place; nothing is spent before.",
        details={"path": str(path)},
    )


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
