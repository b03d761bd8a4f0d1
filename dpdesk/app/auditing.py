"""The audit log of this computer: look at it, check its chain, give it to others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError

if TYPE_CHECKING:
    from dpdesk.project.audit import AuditCheck, AuditEntry


@dataclass(frozen=True)
class AuditPicture:
    """The log's entries, oldest first, and what checking the chain showed."""

    entries: tuple[AuditEntry, ...]
    check: AuditCheck


def look_at_audit(context: AppContext) -> AuditPicture:
    """Read and check the log: its chain, and that it goes on from what was signed here.

    A submission that was signed on this computer names the log's end at that time; an entry that a
    signature knows cannot be missing. Raises StorageError ``audit.unreadable``.
    """
    from dpdesk.project.audit import AuditLog

    with AuditLog.open_home(context.home) as log:
        check = log.verify(_signed_heads(context))
        return AuditPicture(log.entries(), check)


def export_audit(context: AppContext, out: Path) -> int:
    """Write the whole log as CSV or JSON, as the name of the new file ends; the number of entries.

    Raises InputError ``audit.exists`` or ``audit.format``, StorageError.
    """
    from dpdesk.project.audit import AuditLog

    if out.exists():
        raise InputError("audit.exists", f"{out}: the file is there already.", hint="Name another.")
    with AuditLog.open_home(context.home) as log:
        return log.export(out, out.suffix.lower().removeprefix("."), context.workspace)


def _signed_heads(context: AppContext) -> frozenset[str]:
    """The ends of the log that submissions name which keys of this computer signed."""
    from dpdesk.project.review.keys import KeyStore
    from dpdesk.project.review.payloads import Submission
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
