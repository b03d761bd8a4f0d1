"""Locking the way in which an approved release was made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.app.review.protocols import keep_protocol
from dpdesk.app.review.review_picture import look
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.project.review.keys import Signer
    from dpdesk.project.review.protocol import SignedProtocol


def lock_protocol(
    context: AppContext, folder: Path, signer: Signer, out: Path, token: CancelToken, report: Report
) -> SignedProtocol:
    """Lock the way in which an approved release was made, sign it and write it to a new file.

    Raises InputError ``protocol.exists``, RefusedError ``protocol.not-approved`` (the review did
    not approve it, or it applies a protocol itself), StorageError ``audit.*`` (an entry is made
    first), and what reading the release raises.
    """
    from dpdesk.app.recording import enter
    from dpdesk.project.review.protocol import (
        protocol_of,
        require_developed,
        sign_protocol,
        write_protocol,
    )

    if out.exists():
        raise InputError(
            "protocol.exists",
            msg("{out}: the file is there already.", out=out),
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
    enter(context, "decided", folder.absolute(), details)
    write_protocol(signed, out, context.workspace)
    keep_protocol(context, signed)
    return signed
