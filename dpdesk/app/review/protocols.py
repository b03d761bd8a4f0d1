"""Locked protocols: made from what was approved, kept on this computer, applied and compared."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.app.review.review_picture import look
from dpdesk.core.errors import DpdeskError, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.project.review.events import Mode
    from dpdesk.project.review.keys import Signer
    from dpdesk.project.review.policy import Policy
    from dpdesk.project.review.protocol import SignedProtocol
    from dpdesk.project.review.questions import CheckedFacts, Passage
    from dpdesk.project.review.state import ReviewState


_FOLDER = "protocols"


@dataclass(frozen=True)
class ProtocolFacts:
    """A locked protocol for people: who locked it, when, and what the signature is worth here.

    ``release`` is the SHA-256 of the manifest of the release that it was made from, ``signature``
    a part of a sentence, ``trusted`` whether the key counts on this computer.
    """

    id: str
    title: str
    person: str
    made: datetime
    release: str
    path: Path
    signature: str
    trusted: bool


def why_not_lock(state: ReviewState) -> str:
    """Why no protocol can be locked from a release, as a sentence; empty when one can."""
    from dpdesk.project.review.protocol import require_developed

    try:
        require_developed(state)
    except RefusedError as error:
        return error.sentence
    return ""


def protocol_facts(context: AppContext, path: Path) -> ProtocolFacts:
    """What a protocol's file says of itself. Raises what reading it raises."""
    from dpdesk.project.review.protocol import Signature, read_protocol, signature_of

    signed = read_protocol(path)
    worth = signature_of(signed, signing.trust_list(context), signing.now())
    return ProtocolFacts(
        signed.id,
        signed.protocol.title,
        signed.person,
        signed.time,
        signed.protocol.release,
        path,
        worth.value,
        worth is Signature.TRUSTED,
    )


def kept_protocols(context: AppContext, token: CancelToken) -> tuple[ProtocolFacts, ...]:
    """The protocols that are kept on this computer, newest first; damaged ones are left out."""
    found = []
    for path in sorted((context.home / _FOLDER).glob("*.json")):
        token.check()
        try:
            found.append(protocol_facts(context, path))
        except DpdeskError:
            continue
    return tuple(sorted(found, key=lambda one: one.made, reverse=True))


def take_protocol(context: AppContext, path: Path) -> SignedProtocol:
    """Read a protocol from a file and keep it, so that submissions that name it can be compared.

    Raises what :func:`dpdesk.project.review.protocol.read_protocol` raises; InputError
    ``protocol.unsigned`` for a file that nobody signed as it is: its id says nothing of its
    signature, and it would take the place of the copy that was signed.
    """
    from dpdesk.project.review.protocol import read_protocol

    signed = read_protocol(path)
    if not signed.holds:
        raise InputError(
            "protocol.unsigned",
            msg("{path}: the signature of the protocol does not fit its content.", path=path),
            hint="Ask the person who locked it for the unchanged file.",
        )
    keep_protocol(context, signed)
    return signed


def known_protocol(context: AppContext, protocol_id: str | None) -> SignedProtocol | None:
    """The protocol of this id that is kept on this computer; None when there is none."""
    from dpdesk.project.review.protocol import read_protocol

    if protocol_id is None:
        return None
    path = kept_path(context, protocol_id)
    if not path.is_file():
        return None
    signed = read_protocol(path)
    return signed if signed.id == protocol_id else None


def kept_path(context: AppContext, protocol_id: str) -> Path:
    """Where a protocol of this id is kept on this computer, if it is."""
    return context.home / _FOLDER / f"{protocol_id}.json"


def passage(
    context: AppContext,
    mode: Mode,
    signed: SignedProtocol | None,
    facts: CheckedFacts,
    policy: Policy,
    author: str = "",
) -> Passage:
    """How a release comes about: its mode, and how it compares with the protocol.

    ``author`` is the name of who submits it.
    """
    from dpdesk.project.review.protocol import check_protocol
    from dpdesk.project.review.questions import Passage

    if signed is None:
        return Passage(mode)
    trust = signing.trust_list(context)
    place = facts.release, facts.table, policy.sha256, trust, signing.now()
    check = check_protocol(signed, *place, author)
    return Passage(mode, check)


def keep_protocol(context: AppContext, signed: SignedProtocol) -> Path:
    """Keep a copy on this computer, so that later submissions can be compared with it; its path."""
    from dpdesk.project.review.homefiles import private_folder
    from dpdesk.project.review.protocol import write_protocol

    folder = context.home / _FOLDER
    private_folder(folder)
    path = folder / f"{signed.id}.json"
    write_protocol(signed, path, context.workspace)
    return path


# Locking the way in which an approved release was made.


def lock_protocol(
    context: AppContext, folder: Path, signer: Signer, out: Path, token: CancelToken, report: Report
) -> SignedProtocol:
    """Lock the way in which an approved release was made, sign it and write it to a new file.

    Raises InputError ``protocol.exists``, RefusedError ``protocol.not-approved`` (the review did
    not approve it, or it applies a protocol itself), StorageError ``audit.*`` (an entry is made
    first), and what reading the release raises.
    """
    from dpdesk.app.auditing import enter
    from dpdesk.project.review.protocol import (
        protocol_of,
        require_developed,
        sign_protocol,
        write_protocol,
    )

    if out.exists():
        raise InputError(
            "protocol.exists",
            msg("{out}: the file already exists.", out=out),
            hint="Name another.",
        )
    picture = look(context, folder, token, report)
    release_sha256 = require_developed(picture.state)
    facts, policy = picture.checked.facts, picture.checked.checklist.policy_sha256
    protocol = protocol_of(facts.release, facts.table, release_sha256, policy, token)
    signed = sign_protocol(protocol, signer, signing.now())
    details = {
        "event": "protocol",
        "id": signed.id,
        "person": signer.person,
        "key": signer.fingerprint,
        "out": str(out.absolute()),
    }
    enter(context, Logged.DECIDED, folder.absolute(), details)
    # `out` comes last: whatever fails, no signed protocol lies there after an error.
    known = kept_path(context, signed.id).exists()  # locked just now by another program, too
    kept = keep_protocol(context, signed)
    try:
        write_protocol(signed, out, context.workspace, new=True)
    except BaseException:
        if not known:
            with suppress(OSError):
                kept.unlink()
        raise
    return signed
