"""The audit log of this computer: look at it, check its chain, give it to others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from dpdesk.app.context import AppContext
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.logged import Logged
from dpdesk.core.messages import counted, msg
from dpdesk.project.audit import FILE, AuditCheck, AuditEntry, AuditLog, AuditSearch

# Entries of the home folder's audit log: what is done with this installation of DPDesk.
#
# A release or an export that could not be entered is not made; looking at something is never
# refused for that, but it is said.


_NOTHING: Mapping[str, object] = MappingProxyType({})


def enter(
    context: AppContext,
    action: Logged,
    subject: Path | str,
    details: Mapping[str, object] = _NOTHING,
) -> None:
    """Enter what is about to be done (``ran``, ``decided``, ``exported``).

    Raises StorageError ``audit.*``; whoever calls does not go on then.
    """
    from dpdesk.project.audit import AuditLog

    with AuditLog.open_home(context.home) as log:
        log.append(action, str(subject), details)


def mention_release(context: AppContext, out: Path, report: Report) -> None:
    """Enter that a release has come about, with the hash by which its reviews will name it."""
    manifest = out / "public" / "manifest.json"
    try:
        with manifest.open("rb") as stream:
            facts = {"manifest_sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
    except OSError:  # taken away meanwhile: what was made is said all the same
        facts = {}
    mention(context, Logged.RELEASED, out.absolute(), report, facts)


def hashes_of(files: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of files that were written, by name; of one that was taken away, nothing."""
    found = {}
    for path in files:
        try:
            with path.open("rb") as stream:
                found[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            continue
    return found


def mention_files(
    context: AppContext, release: Path, files: Iterable[Path], report: Report
) -> None:
    """Enter what files were written from a release, by their hashes.

    Whether a file that somebody has is one of them can be told from the log afterwards.
    """
    mention(context, Logged.EXPORTED, release.absolute(), report, {"sha256": hashes_of(files)})


def mention(
    context: AppContext,
    action: Logged,
    subject: Path | str,
    report: Report,
    details: Mapping[str, object] = _NOTHING,
) -> None:
    """Enter that something was looked at (``opened``, ``viewed``) or has come about.

    Where that is impossible, a note says so and the work goes on.
    """
    try:
        enter(context, action, subject, details)
    except StorageError as error:
        report(Note(error.code, error.line))


__all__ = [
    "AuditCheck",
    "AuditEntry",
    "AuditPicture",
    "AuditSearch",
    "AuditView",
    "check_audit",
    "export_audit",
    "fault_advice",
    "find_entries",
    "look_at_audit",
]


@dataclass(frozen=True)
class AuditPicture:
    """The log's entries, oldest first, and what checking the chain showed."""

    entries: tuple[AuditEntry, ...]
    check: AuditCheck


@dataclass(frozen=True)
class AuditView:
    """What a search finds in the log, as long as the log was then; the entries come in pages.

    ``count`` entries of ``total`` are found; ``actions`` are all that occur, ``writable`` says
    whether entries can be made. ``newest`` is None in an empty log.
    """

    home: Path
    search: AuditSearch
    last: int
    count: int
    total: int
    actions: tuple[str, ...]
    writable: bool
    newest: AuditEntry | None

    def page(self, start: int, count: int) -> tuple[AuditEntry, ...]:
        """Found entries from place ``start``, newest first. Raises StorageError ``audit.*``."""
        with AuditLog.open_home(self.home, looking=True) as log:
            return log.page(self.search, self.last, start, count)

    def place_of(self, number: int) -> int:
        """The place of an entry among the found ones, or of the newest one before it."""
        with AuditLog.open_home(self.home, looking=True) as log:
            older = log.count(self.search, min(number, self.last))
        return max(0, min(self.count - older, self.count - 1))


def find_entries(context: AppContext, search: AuditSearch) -> AuditView:
    """Search the log. Raises StorageError ``audit.unreadable``, ``audit.newer``."""
    with AuditLog.open_home(context.home, looking=True) as log:
        size = log.size()
        newest = log.page(AuditSearch(), size.last, 0, 1)
        return AuditView(
            context.home,
            search,
            size.last,
            log.count(search, size.last),
            size.entries,
            size.actions,
            log.writable,
            newest[0] if newest else None,
        )


def check_audit(
    context: AppContext, token: CancelToken | None = None, report: Report = silent
) -> AuditCheck:
    """Check the log: its chain, and that it goes on from what was signed here.

    A submission that was signed on this computer names the log's end at that time, and so does
    every debit in the ledger of the home folder; an entry that they know cannot be missing.
    Raises StorageError ``audit.unreadable`` and Cancelled.
    """
    known = _signed_heads(context)
    with AuditLog.open_home(context.home, looking=True) as log:
        return log.verify(known | _ledger_heads(context, log), token, report)


def look_at_audit(context: AppContext) -> AuditPicture:
    """Read and check the whole log; see :func:`check_audit`."""
    with AuditLog.open_home(context.home) as log:
        check = log.verify(_signed_heads(context) | _ledger_heads(context, log))
        return AuditPicture(log.entries(), check)


def fault_advice(context: AppContext, check: AuditCheck) -> str:
    """What a broken chain means, and what to do; empty when it holds."""
    if check.fault is None:
        return ""
    before = check.fault.n - 1
    held = "Not even the first entry can be relied on"
    if before > 0:
        held = counted(
            "Entry {n:,} is unchanged",
            "Entries 1 to {n:,} are unchanged",
            n=before,
        )
    return msg(
        "{held}; what comes after may have been changed, so it proves nothing. Export the log, "
        "keep {home} under another name as evidence, and inform those responsible for "
        "security; DPDesk then begins a new log.",
        held=held,
        home=context.home / FILE,
    )


def export_audit(
    context: AppContext, out: Path, token: CancelToken | None = None, *, replace: bool = False
) -> int:
    """Write the whole log as CSV or JSON, as the name of the file ends; the number of entries.

    Without ``replace`` the file must be new. Raises InputError ``audit.exists`` or
    ``audit.format``, StorageError, and Cancelled.
    """
    if out.exists() and not replace:
        raise InputError(
            "audit.exists", msg("{out}: the file already exists.", out=out), hint="Name another."
        )
    with AuditLog.open_home(context.home) as log:
        form = out.suffix.lower().removeprefix(".")
        return log.export(out, form, context.workspace, token, new=not replace)


def _ledger_heads(context: AppContext, log: AuditLog) -> frozenset[str]:
    """The ends of this home folder's log that debits of its ledger name."""
    from dpdesk.app.witnessing import audit_ties
    from dpdesk.project.ledger import FILE as LEDGER
    from dpdesk.project.ledger import Ledger

    path = context.home / LEDGER
    if not path.is_file():
        return frozenset()
    try:
        with closing(Ledger.open(path, create=False)) as ledger:
            return frozenset(audit_ties(context, log, ledger).ends)
    except (DpdeskError, ValueError):  # what is wrong with a ledger is told by checking it
        return frozenset()


def _signed_heads(context: AppContext) -> frozenset[str]:
    """The ends of the log that submissions name which keys of this computer signed."""
    from dpdesk.project.review.events import Submission
    from dpdesk.project.review.keys import KeyStore
    from dpdesk.project.review.receipts import Receipts
    from dpdesk.project.review.texts import is_hash

    stored = KeyStore(context.home).keys()
    own = {item.card.fingerprint for item in stored if item.card is not None}
    receipts = Receipts(context.home)
    roots = [path.stem for path in receipts.folder.glob("*.json") if is_hash(path.stem)]
    return frozenset(
        event.payload.audit_head
        for root in roots
        for event in receipts.book(root).graph.events
        if isinstance(event.payload, Submission)
        and event.payload.audit_head
        and event.signer.fingerprint in own
    )
