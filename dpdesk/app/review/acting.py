"""Signing events in the review of a release folder.

Every function takes an unlocked key, checks that its holder may do this now, and writes the review
with one more event, whole or not at all; what was done is entered in the audit log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.app.review.drafts import forget_draft
from dpdesk.app.review.review_picture import bound_files, latest_known, load, review_store
from dpdesk.core.errors import DpdeskError, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.project.review.checklist import Checklist
    from dpdesk.project.review.events import Event, Fault, Submission
    from dpdesk.project.review.keys import Signer
    from dpdesk.project.review.policy import Policy
    from dpdesk.project.review.review_file import ReviewEdit
    from dpdesk.project.review.state import ReviewState
    from dpdesk.project.review.votes import Vote


@dataclass(frozen=True)
class Signed:
    """What signing came to: where it was written, the event, and the review afterwards.

    ``unkept`` is a sentence where no receipt of it could be kept on this computer.
    """

    path: Path
    event: Event
    state: ReviewState
    left_out: tuple[Fault, ...] = ()
    unkept: str = ""


@dataclass(frozen=True)
class ActionRequest:
    """What an author says besides the release itself; see :func:`submit`."""

    policy: Path | None = None
    protocol: Path | None = None
    note: str = ""
    after: Path | None = None
    supersedes: Path | None = None


def submit(
    context: AppContext,
    folder: Path,
    signer: Signer,
    wish: ActionRequest,
    token: CancelToken,
    report: Report,
    out: Path | None = None,
) -> Signed:
    """Submit a verified release for review, with its checklist.

    ``wish.policy`` is a policy file (None: the one that holds on this computer), ``protocol`` the
    file of a locked protocol that the release applies (None: it develops one), ``after`` the
    folder of the round before, ``supersedes`` a released folder that this one is to replace.

    Raises RefusedError ``review.not-verified`` when the release does not verify, and what making
    the event raises.
    """
    from dpdesk.app.checklists import agency_policy, check_release, read_policy
    from dpdesk.app.review.protocols import take_protocol
    from dpdesk.project.review.events import Mode
    from dpdesk.project.review.making import submit as make

    policy = agency_policy(context.home).policy if wish.policy is None else read_policy(wish.policy)
    protocol = None if wish.protocol is None else take_protocol(context, wish.protocol)
    mode = Mode.DEVELOP if protocol is None else Mode.APPLY
    author = signer.person
    checked = check_release(context, folder, token, report, policy, None, mode, protocol, author)
    if not checked.facts.report.ok:
        first = checked.facts.report.failures[0]
        raise RefusedError(
            "review.not-verified",
            msg(
                "{folder}: the release does not verify, so it cannot be submitted: {path}: "
                "{reason}.",
                folder=folder,
                path=first.path,
                reason=first.reason,
            ),
            hint="Run the plan again.",
        )
    bases = () if wish.after is None else (wish.after,)
    with _editing(context, folder, token, out, bases) as edit:
        payload = _payload(context, folder, edit.state, policy, checked.checklist, wish, token)
        if protocol is not None:
            payload = replace(payload, mode=mode, protocol_sha256=protocol.id)
        return _add(context, folder, edit, make(signer, edit.state, payload))


def start(
    context: AppContext, folder: Path, signer: Signer, token: CancelToken, out: Path | None = None
) -> Signed:
    """Say that the signer's review has begun."""
    from dpdesk.project.review.making import start as make

    return _sign(context, folder, token, out, lambda state: make(signer, state))


def cast(
    context: AppContext,
    folder: Path,
    signer: Signer,
    vote: Vote,
    token: CancelToken,
    out: Path | None = None,
    failing: Collection[str] = (),
) -> Signed:
    """Cast a vote, sealed until enough votes are in; ``failing`` are items that fail here.

    Raises RefusedError ``vote.rules`` too.
    """
    from dpdesk.project.review.making import cast as make

    done = _sign(context, folder, token, out, lambda state: make(signer, state, vote, failing))
    with suppress(DpdeskError):  # the vote is signed, whatever becomes of its draft
        forget_draft(context, vote.submission, signer.fingerprint)
    return done


def reveal(
    context: AppContext, folder: Path, signer: Signer, token: CancelToken, out: Path | None = None
) -> Signed:
    """Show the signer's vote, once enough votes are in."""
    from dpdesk.project.review.making import reveal as make

    return _sign(context, folder, token, out, lambda state: make(signer, state))


def release(
    context: AppContext,
    folder: Path,
    signer: Signer,
    note: str,
    token: CancelToken,
    out: Path | None = None,
) -> Signed:
    """Release what was approved. Final; tables enter the register of their population.

    They do so first: a register that knows a table too much warns once too often, and one that a
    kill left without the table would never learn of it.
    """
    from dpdesk.app.past_tables import enter_folder
    from dpdesk.project.review.making import release as make

    with _editing(context, folder, token, out) as edit:
        event = make(signer, edit.state, note)
        enter_folder(context, folder, token)
        return _add(context, folder, edit, event)


def withdraw(
    context: AppContext,
    folder: Path,
    signer: Signer,
    reason: str,
    token: CancelToken,
    out: Path | None = None,
) -> Signed:
    """Take the submission back, as its author; also when files have been changed since."""
    from dpdesk.project.review.making import withdraw as make

    with _editing(context, folder, token, out) as edit:
        return _add(context, folder, edit, make(signer, edit.state, reason))


def supersede(
    context: AppContext,
    folder: Path,
    signer: Signer,
    replacement: Path,
    reason: str,
    token: CancelToken,
    out: Path | None = None,
) -> Signed:
    """Say which release folder replaces the one that went out, and why.

    Raises RefusedError ``review.replacement`` when the other folder has no review that released it.
    """
    from dpdesk.project.review.binding import manifest_code
    from dpdesk.project.review.making import supersede as make
    from dpdesk.project.review.state import Status

    other = load(context, replacement, token).state
    if other.faults or other.status is not Status.RELEASED:
        raise RefusedError(
            "review.replacement",
            msg(
                "{release}: is {status}, expected a release that has been released.",
                release=replacement,
                status=other.status.value if not other.faults else "not sound",
            ),
            hint="Have it reviewed and released first.",
        )
    code = manifest_code(replacement, token)
    with _editing(context, folder, token, out) as edit:
        return _add(context, folder, edit, make(signer, edit.state, code, reason))


def merge(
    context: AppContext,
    folder: Path,
    signer: Signer,
    copies: Sequence[Path],
    token: CancelToken,
    out: Path | None = None,
) -> Signed:
    """Join copies of the review, and what this computer has seen of it, and sign all heads.

    What does not hold in a copy is left out and told. Raises RefusedError ``review.other`` when a
    copy belongs to another review.
    """
    from dpdesk.project.review.making import merge as make

    with _editing(context, folder, token, out) as edit:
        joined = review_store(context).join(edit.loaded, copies)
        edit.take(joined)
        signed = _add(context, folder, edit, make(signer, edit.state))
    return replace(signed, left_out=joined.left_out)


@contextmanager
def _editing(
    context: AppContext,
    folder: Path,
    token: CancelToken,
    out: Path | None,
    bases: Sequence[Path] = (),
) -> Iterator[ReviewEdit]:
    trust, now = signing.trust_list(context), signing.now()
    store = review_store(context)
    latest, binding = latest_known(context), bound_files(folder, token)
    with store.editing(folder, trust, now, latest, bases, out, binding) as edit:
        try:
            yield edit
        except RefusedError as error:
            if error.code not in ("review.not-allowed", "vote.rules"):
                raise
            sentence = msg("{file}: {note}", file=folder, note=error.sentence)
            raise RefusedError(
                error.code, sentence, hint=error.hint, details=error.details
            ) from error


def _sign(
    context: AppContext,
    folder: Path,
    token: CancelToken,
    out: Path | None,
    make: Callable[[ReviewState], Event],
) -> Signed:
    """Sign about files that are exactly those submitted."""
    with _editing(context, folder, token, out) as edit:
        return _add(context, folder, edit, make(edit.state))


def _add(context: AppContext, folder: Path, edit: ReviewEdit, event: Event) -> Signed:
    _enter(context, folder, event)
    loaded = edit.add(event)
    return Signed(loaded.path, event, loaded.state, unkept=loaded.unkept)


def _enter(context: AppContext, folder: Path, event: Event) -> None:
    from dpdesk.app.auditing import enter

    details = {
        "event": event.type.value,
        "id": event.id,
        "release": event.release,
        "person": event.signer.person,
        "key": event.signer.fingerprint,
    }
    enter(context, Logged.DECIDED, folder, details)


def _payload(
    context: AppContext,
    folder: Path,
    state: ReviewState,
    policy: Policy,
    checklist: Checklist,
    wish: ActionRequest,
    token: CancelToken,
) -> Submission:
    from dpdesk.project.audit import AuditLog
    from dpdesk.project.review.binding import bind_release, manifest_code
    from dpdesk.project.review.events import Submission

    bound = bind_release(folder, token)
    replaced = None
    if wish.supersedes is not None:
        replaced = manifest_code(wish.supersedes, token)
        if not replaced:
            raise InputError(
                "release.missing",
                msg(
                    "{release}: has no manifest, expected a release folder.",
                    release=wish.supersedes,
                ),
            )
    with AuditLog.open_home(context.home) as log:
        head = log.head()
    return Submission(
        manifest_sha256=bound.manifest_sha256,
        seal_sha256=bound.seal_sha256,
        plan_sha256=bound.plan_sha256,
        commitment=bound.commitment,
        files=bound.files,
        policy=policy.as_plain(),
        checklist=checklist.submitted(),
        note=wish.note,
        supersedes=replaced,
        audit_head=head or None,
        previous=state.current.submission.id if state.current else None,
    )
