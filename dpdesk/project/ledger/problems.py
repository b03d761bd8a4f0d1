"""What can be wrong with a ledger file, in one sentence each."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.project.sql import ChangedObject, kind_of, storage_problem

KEEP = (
    "Keep the file as evidence, and put back the newest whole copy: nothing is debited before, "
    "and nothing that needs a budget is released."
)


def not_a_ledger(path: Path, found: str) -> InputError:
    """The file is something else."""
    return InputError(
        "ledger.not-a-ledger",
        msg("{path}: found {found}, expected a ledger of DPDesk.", path=path, found=found),
        hint="Name another file as `ledger` under [budget].",
        details={"path": str(path)},
    )


def newer(path: Path, version: int, known: int) -> InputError:
    """The ledger was made by a later version."""
    return InputError(
        "ledger.newer",
        msg(
            "{path}: the ledger was made by a newer version of DPDesk (layout {version}, this "
            "version knows {known}).",
            path=path,
            version=version,
            known=known,
        ),
        hint="Use the newer version; nothing was changed.",
        details={"path": str(path)},
    )


def broken(path: Path, place: int, reason: str) -> StorageError:
    """The chain of entries does not hold."""
    return StorageError(
        "ledger.broken",
        msg(
            "{path}: the ledger is broken at entry {place:,}: {reason}.",
            path=path,
            place=place,
            reason=reason,
        ),
        hint=KEEP,
        details={"path": str(path), "entry": place},
    )


def restored(path: Path, entries: int, debits: int, first: int) -> StorageError:
    """The ledger is an old copy: what was entered in it later is known elsewhere."""
    return StorageError(
        "ledger.restored",
        msg(
            "{path}: the ledger is an old copy that was put back: what was entered later is "
            "missing (entries: {entries:,}, debits among them: {debits:,}, the first is entry "
            "{first:,}).",
            path=path,
            entries=entries,
            debits=debits,
            first=first,
        ),
        hint="Enter them again (`dpdesk ledger restore --reason TEXT`), or put back the newest "
        "copy; nothing is spent before.",
        details={"path": str(path), "entry": first, "missing": entries, "debits": debits},
    )


def unwitnessed(path: Path, witness: Path, last: str) -> StorageError:
    """The witness does not know a ledger in which something was entered before."""
    return StorageError(
        "witness.lost",
        msg(
            "{path}: the witness {witness} does not know this ledger (last debit: {last}): the "
            "witness was lost, or the ledger comes from a backup or another computer, and "
            "debits that were made later may be missing.",
            path=path,
            witness=witness,
            last=last or "–",
        ),
        hint="Put the witness back, or enter lost debits from their releases (`dpdesk ledger "
        "restore --reason TEXT --release DIR`); then accept it with a reason (`dpdesk ledger "
        "accept --reason TEXT`). Nothing is spent before.",
        details={"path": str(path), "witness": str(witness)},
    )


def audit_gap(log: Path, first: int) -> StorageError:
    """The audit log of the home folder does not have what the debits of a ledger name."""
    return StorageError(
        "ledger.audit-gap",
        msg(
            "{place}: the audit log does not have what the ledger's debits name, the first of "
            "them entry {n:,}: it was emptied, replaced or put back from an old copy, or could not "
            "be written then.",
            place=log,
            n=first,
        ),
        hint="Put the newest copy of it back, or have the debits entered in it again, with a "
        "reason (`dpdesk ledger restore --reason TEXT`). Nothing is spent before.",
        details={"path": str(log), "entry": first},
    )


def another(path: Path, debits: int, last: str) -> StorageError:
    """Another ledger lies where one with debits lay."""
    return StorageError(
        "ledger.another",
        msg(
            "{path}: another ledger than this one lay here, whose debits are not counted in it "
            "(debits: {n:,}, the last of {last}).",
            path=path,
            n=debits,
            last=last,
        ),
        hint="Put the other one back; only if this one is to be used in its place, accept it with "
        "a reason (`dpdesk ledger accept --reason TEXT`). Nothing is spent before.",
        details={"path": str(path), "debits": debits},
    )


def no_reason(path: Path, account: str, limit: str) -> InputError:
    """A limit is to be raised or taken away, and nothing says why."""
    return InputError(
        "ledger.reason",
        msg(
            "{where}: the limit of {key} is {limit}; to raise it, to change its kind or to take "
            "it away needs a reason.",
            where=path,
            key=account,
            limit=limit,
        ),
        hint="Say why, for the ledger and the audit log: `--reason TEXT`.",
        details={"key": "reason"},
    )


def changed(path: Path, found: ChangedObject) -> StorageError:
    """The file holds something that acts by itself, or another table."""
    return StorageError(
        "ledger.damaged",
        msg(
            "{path}: the ledger holds {found}; such a change can alter what is entered.",
            path=path,
            found=found.words,
        ),
        hint=KEEP,
        details={"path": str(path)},
    )


def damaged(path: Path) -> StorageError:
    """SQLite cannot rely on the file."""
    return StorageError(
        "ledger.damaged",
        msg("{path}: the ledger is damaged and cannot be used.", path=path),
        hint=KEEP,
        details={"path": str(path)},
    )


def missing(path: Path) -> StorageError:
    """There is no such ledger, and none is to be made."""
    return StorageError(
        "ledger.missing",
        msg("{path}: there is no such ledger.", path=path),
        hint="Check the path. A ledger is made by the first release that spends a budget.",
        details={"path": str(path)},
    )


def no_folder(path: Path) -> StorageError:
    """The ledger cannot be made where the plan wants it."""
    return StorageError(
        "ledger.no-folder",
        msg(
            "{path}: the ledger cannot be made, there is no folder {parent}.",
            path=path,
            parent=path.parent,
        ),
        hint="Make the folder first, or name another file as `ledger` under [budget].",
        details={"path": str(path)},
    )


def on_a_share(path: Path, kind: str) -> StorageError:
    """The file lies where two computers could overspend together."""
    return StorageError(
        "ledger.network",
        msg(
            "{path}: the ledger lies on a network share ({kind}), where two computers could "
            "spend the same budget at once.",
            path=path,
            kind=kind,
        ),
        hint="Name one on a disk of the computer that makes the releases, as `ledger` under "
        "[budget].",
        details={"path": str(path)},
    )


def failure(error: sqlite3.Error | OSError, path: Path) -> DpdeskError:
    """A failure of the disk or the database, met while something was written or read."""
    if isinstance(error, sqlite3.Error) and kind_of(error) in ("damaged", "nonsense"):
        return damaged(path)
    return storage_problem(error, path, "ledger")
