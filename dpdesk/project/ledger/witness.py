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
for nothing; unless it is the beginning of a whole line, written again after a kill, nothing is
spent before the loss was accepted. So it is where an entry is gone that another one follows. An
acceptance is a line too: it forgives what stands before it, and says which ledger lies at a place.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.errors import StorageError
from dpdesk.core.home import expanded
from dpdesk.core.messages import msg
from dpdesk.core.shapes import read_json
from dpdesk.core.systems import BINARY
from dpdesk.project.ledger.records import FIRST, LedgerEntry

VARIABLE = "DPDESK_WITNESS"
FILE = "witness.jsonl"
_FIELDS = tuple(one.name for one in fields(LedgerEntry))
_TYPES = (int, *(str,) * (len(_FIELDS) - 1))


@dataclass(frozen=True)
class SeenLedger:
    """A ledger as the witness knows it: its id, where it lay last, its entries as they came.

    ``damaged`` says that an entry is gone which another one follows.
    """

    id: str
    path: str
    entries: tuple[LedgerEntry, ...]
    damaged: bool = False


@dataclass(frozen=True)
class Seen:
    """All that a witness tells: its ledgers by id, and the id of the last one at each place."""

    ledgers: Mapping[str, SeenLedger] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    spoilt: tuple[bytes, ...] = ()


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
        DPDESK_HOME. Raises StorageError ``witness.relative`` for a name that means another place
        in every folder from which DPDesk is started.
        """
        named = os.environ.get(VARIABLE)
        if named:
            path = expanded(named)
            if not path.is_absolute():
                raise _relative(named)
            return cls(path / FILE if path.is_dir() else path, named=True)
        import platformdirs

        usual = Path(platformdirs.user_state_dir("dpdesk", appauthor=False))
        if usual == Path(platformdirs.user_data_dir("dpdesk", appauthor=False)):
            usual = usual.with_name("dpdesk-witness")
        return cls(usual / FILE)

    def ledgers(self) -> Mapping[str, SeenLedger]:
        """All ledgers that it knows, by id; none without a file. Raises as :meth:`seen`."""
        return self.seen().ledgers

    def seen(self) -> Seen:
        """All that it tells; nothing where there is no file yet.

        Raises StorageError ``witness.unreadable`` where there is one that cannot be read.
        """
        try:
            _expect_plain(self.path)
            with self.path.open("rb") as stream:
                facts = os.fstat(stream.fileno())
            return _read(str(self.path), (facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except (FileNotFoundError, NotADirectoryError):
            return Seen()
        except OSError as error:
            if self.named or self.path.exists():
                raise _unreadable(self.path, error) from error
            return Seen()

    def usable(self) -> bool:
        """Whether its place was named, or can hold it; else work goes on without."""
        near = next((one for one in (self.path, *self.path.parents) if one.exists()), self.path)
        known = near == self.path or (near.is_dir() and os.access(near, os.W_OK))
        return self.named or known

    def lies_at(self, path: Path) -> SeenLedger | None:
        """The ledger that lay at this place last, or at a name that is a link to it now.

        Raises as :meth:`ledgers`.
        """
        seen = self.seen()
        known = [*(place for place in seen.places if leads_to(place, path)), ""]
        return seen.ledgers.get(seen.places.get(str(path), seen.places.get(known[0], "")))

    def check(self, ledger: str) -> None:
        """Raise StorageError ``witness.damaged`` where a part of what it knew of it is gone."""
        seen = self.seen()
        own = seen.ledgers.get(ledger)
        others = [one.encode() for one in seen.ledgers if one != ledger]
        spoilt = [line for line in seen.spoilt if not any(one in line for one in others)]
        if spoilt or (own is not None and own.damaged):
            raise _damaged(self.path)

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

    def refuse(self, reason: str, *, firmly: bool = False) -> None:
        """Raise StorageError ``witness.unwritable`` where a place that was named has this fault.

        ``firmly`` also where it was not named.
        """
        if reason and (self.named or firmly):
            raise _unwritable(self.path, reason)

    def keep(self, ledger: str, path: Path, entries: Iterable[LedgerEntry]) -> str:
        """Add entries of a ledger that lies at ``path``, on the disk when this returns.

        Why that was impossible, empty when it was not. A file that holds other lines and none of a
        witness is left as it is: it may be another one, and :meth:`check` stops spending.
        """
        lines = [
            json.dumps({"ledger": ledger, "path": str(path), **entry.as_plain()}, sort_keys=True)
            for entry in entries
        ]
        seen, own = self.seen(), [line.encode("ascii") for line in lines]
        strange = (one for one in seen.spoilt if not any(line.startswith(one) for line in own))
        if not seen.places and any(strange):
            return ""
        # A line that was cut short by a kill must not swallow the next one.
        return self._add("".join(f"\n{line}\n" for line in lines).encode("ascii"))

    def accept(self, ledger: str, path: Path, who: str, time: str, reason: str) -> str:
        """Forgive what is missing until now: go on with the ledger that lies at ``path``.

        Why that was impossible, empty when it was not.
        """
        told = {"accepted": ledger, "path": str(path), "who": who, "time": time, "reason": reason}
        return self._add(f"\n{json.dumps(told, sort_keys=True)}\n".encode("ascii"))

    def _add(self, content: bytes) -> str:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _expect_plain(self.path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY
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


def leads_to(place: str, path: Path) -> bool:
    """Whether a place is a link by which this one, without links, is meant now."""
    return Path(place).is_symlink() and os.path.realpath(place) == str(path)


def _expect_plain(path: Path) -> None:
    """Raise OSError where something is there that is not a file: reading a pipe may never end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@lru_cache(maxsize=2)
def _read(path: str, stamp: tuple[object, ...]) -> Seen:
    reader = _Reader()
    with open(path, "rb") as stream:
        for line in stream:
            if line.strip():
                reader.take(line.strip())
    return reader.seen()


class _Reader:
    """Folds the lines of a witness, in the order in which they were written."""

    def __init__(self) -> None:
        self._lies: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._entries: dict[str, dict[str, LedgerEntry]] = {}
        self._forgiven: dict[str, int] = {}
        self._whole: list[bytes] = []
        self._broken: list[bytes] = []

    def take(self, line: bytes) -> None:
        """The next line that is not blank."""
        plain = _plain(line)
        ledger, place, entry = _line(plain)
        accepted = plain.get("accepted")
        if isinstance(accepted, str) and isinstance(place, str):
            self._forgiven[accepted] = len(self._entries.get(accepted, {}))
            self._broken.clear()
            self._places[place] = accepted
        elif isinstance(ledger, str) and isinstance(place, str) and entry is not None:
            self._lies[ledger], self._places[place] = place, ledger
            self._entries.setdefault(ledger, {})[entry.hash] = entry
            self._whole.append(line)
        else:
            self._broken.append(line)

    def seen(self) -> Seen:
        """All of it."""
        ledgers = {
            ledger: SeenLedger(ledger, self._lies[ledger], tuple(held.values()), self._gap(ledger))
            for ledger, held in self._entries.items()
        }
        places, spoilt = MappingProxyType(self._places), tuple(self._spoilt())
        return Seen(MappingProxyType(ledgers), places, spoilt)

    def _gap(self, ledger: str) -> bool:
        """Whether an entry is gone that another one follows, since the last acceptance."""
        held = self._entries[ledger]
        after = list(held.values())[self._forgiven.get(ledger, 0) :]
        return any(entry.previous not in held for entry in after if entry.previous != FIRST)

    def _spoilt(self) -> Iterator[bytes]:
        """Lines that are not whole and not the beginning of one that is."""
        if not self._broken:
            return
        whole = sorted(self._whole)
        for line in self._broken:
            at = bisect_left(whole, line)
            if at == len(whole) or not whole[at].startswith(line):
                yield line


def _plain(line: bytes) -> Mapping[str, object]:
    """What a line says; nothing for one that cannot be relied on."""
    try:
        plain = read_json(line)
    except ValueError:
        return {}
    return plain if isinstance(plain, dict) else {}


def _line(plain: Mapping[str, object]) -> tuple[object, object, LedgerEntry | None]:
    """Ledger, its place and an entry, as far as a line tells them."""
    return plain.get("ledger"), plain.get("path"), read_entry(plain)


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


def _relative(named: str) -> StorageError:
    return StorageError(
        "witness.relative",
        msg(
            "{variable} is “{named}”, expected an absolute path: a relative one would mean a "
            "different witness in every folder from which DPDesk is started.",
            variable=VARIABLE,
            named=named,
        ),
        hint="Give the absolute path of the file or its folder; nothing is spent until then.",
    )


def _unreadable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        "witness.unreadable",
        msg(
            "{path}: the witness of the ledgers cannot be read ({why}), so it is not known "
            "whether a ledger was put back from an old copy.",
            path=path,
            why=_why(error),
        ),
        hint=msg(
            "Make it readable, or set {variable} to another place; nothing is spent until then.",
            variable=VARIABLE,
        ),
        details={"path": str(path)},
    )


def _damaged(path: Path) -> StorageError:
    return StorageError(
        "witness.damaged",
        msg(
            "{path}: the witness of the ledgers was damaged or changed, so it is not known "
            "whether a ledger was put back from an old copy.",
            path=path,
        ),
        hint="Put the newest intact copy of it back, or accept the loss with a reason (`dpdesk "
        "ledger accept --reason TEXT`, or in the window Budget ledger); "
        "nothing is spent until then.",
        details={"path": str(path)},
    )


def _unwritable(path: Path, reason: str) -> StorageError:
    return StorageError(
        "witness.unwritable",
        msg("{path}: the witness of the ledgers cannot be written ({why}).", path=path, why=reason),
        hint=msg(
            "Make it writable, or set {variable} to another place; nothing is spent until then.",
            variable=VARIABLE,
        ),
        details={"path": str(path)},
    )


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
