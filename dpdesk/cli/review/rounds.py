"""``dpdesk review submit``, ``vote`` and the other actions about a release folder."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpdesk.app import auditing, signing
from dpdesk.app.auditing import mention
from dpdesk.app.context import AppContext
from dpdesk.app.review import acting, packing, protocols, review_picture, sheets
from dpdesk.cli.printing import Outcome, columns, hash_of, one_line, paragraph, written
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.app.review.acting import Signed
    from dpdesk.app.review.review_picture import ReviewPicture
    from dpdesk.project.review.events import Fault
    from dpdesk.project.review.state import ReviewState, Round

_SHOWN = 30
_MARKS = {"pass": "✓", "review": "△", "fail": "✕", "not applicable": "–"}


def submit(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Submit a release."""
    signer = signing.unlock(context, options.key, options.passphrase)
    wish = acting.ActionRequest(
        options.policy, options.protocol, options.note, options.after, options.supersedes
    )
    done = acting.submit(context, options.release, signer, wish, token, report, options.out)
    return _signed(done, "Submitted")


def start(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Begin a review."""
    signer = signing.unlock(context, options.key, options.passphrase)
    done = acting.start(context, options.release, signer, token, options.out)
    return _signed(done, "Review begun")


def vote(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Cast a vote."""
    signer = signing.unlock(context, options.key, options.passphrase)
    picture = review_picture.look(context, options.release, token, report)
    filled = sheets.read_sheet(options.sheet, picture.state, signer.fingerprint)
    failing = review_picture.failing_here(picture)
    done = acting.cast(context, options.release, signer, filled, token, options.out, failing)
    return _signed(done, "Vote cast, sealed until enough votes are in")


def reveal(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Show a vote."""
    signer = signing.unlock(context, options.key, options.passphrase)
    done = acting.reveal(context, options.release, signer, token, options.out)
    return _signed(done, "Vote revealed")


def merge(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Join copies."""
    signer = signing.unlock(context, options.key, options.passphrase)
    done = acting.merge(context, options.release, signer, options.copies, token, options.out)
    return _signed(done, "Merged")


def release(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Release what was approved."""
    signer = signing.unlock(context, options.key, options.passphrase)
    done = acting.release(context, options.release, signer, options.note, token, options.out)
    return _signed(done, "Released")


def withdraw(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Take a submission back."""
    signer = signing.unlock(context, options.key, options.passphrase)
    done = acting.withdraw(context, options.release, signer, options.reason, token, options.out)
    return _signed(done, "Withdrawn")


def supersede(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Name the release that replaces this one."""
    signer = signing.unlock(context, options.key, options.passphrase)
    done = acting.supersede(
        context, options.release, signer, options.by, options.reason, token, options.out
    )
    return _signed(done, "Superseded")


def protocol_lock(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Lock a protocol from an approved release."""
    signer = signing.unlock(context, options.key, options.passphrase)
    signed = protocols.lock_protocol(context, options.release, signer, options.out, token, report)
    text = f"Locked: the protocol {signed.id}\nWritten: {options.out}\n"
    return Outcome(text, {"protocol": signed.id, "path": str(options.out)}, kept=True)


def protocol_take(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Keep a protocol from a file, to compare releases that apply it."""
    signed = protocols.take_protocol(context, options.file)
    taken = protocols.protocol_facts(context, protocols.kept_path(context, signed.id))
    text = f"Kept: the protocol {taken.id}, signed by {taken.person}.\n"
    if not taken.trusted:
        text += paragraph(f"Note: {taken.person} may not have signed it: {taken.signature}.") + "\n"
    plain = {"protocol": taken.id, "person": taken.person, "trusted": taken.trusted}
    return Outcome(text, plain, kept=True)


def sheet(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Write a decision sheet."""
    out = sheets.write_sheet(context, options.release, options.key, options.out, token, report)
    mention(context, Logged.VIEWED, options.release.absolute(), report)
    text = f"Written: {out}\nFill it in, then: dpdesk review vote {options.release} --sheet {out}\n"
    return Outcome(text, {"sheet": str(out)}, kept=True)


def pack(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Write the evidence pack."""
    out = packing.write_pack(
        context, options.release, options.out, token, report, language=options.language
    )
    return Outcome(written(out), {"pack": str(out), "sha256": hash_of(out)}, kept=True)


def materials(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Write the bill of materials."""
    out, code = packing.write_materials(context, options.out)
    return Outcome(
        f"Written: {out}\nSHA-256: {code}\n", {"path": str(out), "sha256": code}, kept=True
    )


def checklist(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Check a release against a policy; exit code 1 when an item fails."""
    picture = review_picture.look(
        context, options.release, token, report, options.source, options.policy
    )
    mention(context, Logged.VIEWED, options.release.absolute(), report)
    items = picture.checked.checklist.items
    failed = [item for item in items if item.status.value == "fail"]
    lines: list[str] = []
    for item in items:
        lines.append(f"{_MARKS[item.status.value]} {item.question} [{item.status.value}]")
        lines.append(paragraph(item.evidence, 2))
        if item.advice and item.status.value in ("review", "fail"):
            lines.append(paragraph(item.advice, 2))
    plain = {
        "policy_sha256": picture.checked.checklist.policy_sha256,
        "items": [
            {
                "id": item.id,
                "question": item.question,
                "status": item.status.value,
                "evidence": item.evidence,
            }
            for item in items
        ],
    }
    complaints: tuple[str, ...] = ()
    if failed:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        complaints = (f"{options.release}: fails “{failed[0].question}”{more}.",)
    return Outcome("\n".join(lines) + "\n", plain, 1 if failed else 0, complaints)


def status(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Where a review stands; exit code 1 when something spoils it."""
    picture = review_picture.look(context, options.release, token, report, options.source)
    mention(context, Logged.VIEWED, options.release.absolute(), report)
    state = picture.state
    wrong = [
        msg("{file}: {note}", file=review_picture.REVIEW_FILE, note=fault.reason)
        for fault in state.faults
    ]
    wrong += [
        msg("{file}: {note}", file=failure.path, note=failure.reason)
        for failure in picture.verified.failures
    ]
    complaints: tuple[str, ...] = ()
    if wrong:
        complaints = (*wrong, f"{options.release}: not to be relied on: {wrong[0]}.")
    text = "\n".join(_status_lines(picture)) + "\n"
    return Outcome(text, _status_json(picture, wrong), 1 if wrong else 0, complaints)


def audit(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """The audit log; exit code 1 when its chain is broken."""
    picture = auditing.look_at_audit(context)
    check = picture.check
    rows = [("time", "who", "action", "subject")]
    rows += [
        (entry.time, entry.who, entry.action, one_line(entry.subject, 60))
        for entry in picture.entries[-_SHOWN:]
    ]
    lines = [columns(rows), "", f"{len(picture.entries):,} entries; end: {check.head or 'none'}"]
    lines += [paragraph(f"Note: {note}") for note in check.notes]
    if check.fault is not None:
        lines.append(paragraph(auditing.fault_advice(context, check)))
    if options.out is not None:
        auditing.export_audit(context, options.out)
        lines.append(f"Written: {options.out}")
    complaints: tuple[str, ...] = ()
    if check.fault is not None:
        place = f"entry {check.fault.n:,}"
        complaints = (f"The audit log is broken at {place}: {check.fault.reason}.",)
    plain = {
        "ok": check.ok,
        "entries": len(picture.entries),
        "head": check.head,
        "fault": None if check.fault is None else check.fault.reason,
        "notes": list(check.notes),
    }
    code = 0 if check.ok else 1
    return Outcome("\n".join(lines) + "\n", plain, code, complaints, options.out is not None)


def _signed(done: Signed, words: str) -> Outcome:
    lines = [msg("{path}: {reason}.", path=words, reason=done.event.words), f"Written: {done.path}"]
    lines += [f"Left out: {fault.reason}." for fault in done.left_out]
    lines += [f"Note: {done.unkept}"] if done.unkept else []
    lines += _state_lines(done.state)
    plain = {
        "event": done.event.id,
        "type": done.event.type.value,
        "path": str(done.path),
        "status": done.state.status.value,
        "left_out": [fault.reason for fault in done.left_out],
        "faults": [fault.reason for fault in done.state.faults],
    }
    return Outcome("\n".join(lines) + "\n", plain, kept=True)


def _status_lines(picture: ReviewPicture) -> list[str]:
    lines = _state_lines(picture.state)
    for event in picture.state.graph.events:
        void = " (does not count)" if event.id in picture.state.void else ""
        lines.append(f"  · {event.words}{void}")
    lines += [paragraph(f"Note: {note.reason}.") for note in _notes(picture)]
    for one in picture.differences:
        before, found = one.submitted or "absent", one.found or "absent"
        lines.append(f"Note: the check {one.id} was {before} for the author and is {found} here.")
    return lines


def _state_lines(state: ReviewState) -> list[str]:
    lines = [f"Status: {state.status.value}" + ("" if state.ok else ", but spoiled")]
    if state.current is not None:
        lines += _round_lines(state.current)
    return lines


def _round_lines(current: Round) -> list[str]:
    needed = current.payload.reviewers
    lines = [f"Round {current.number}: {len(current.voters)} of {needed} votes are cast."]
    for ballot in current.ballots:
        outcome = "sealed" if ballot.vote is None else ballot.vote.outcome.value
        late = ", too late to count" if ballot.late else ""
        lines.append(f"  {ballot.person}: {outcome}{late}")
        if ballot.vote is not None and ballot.vote.comment:
            lines.append(paragraph(f"“{ballot.vote.comment}”", 4))
    return lines


def _notes(picture: ReviewPicture) -> Sequence[Fault]:
    return (*picture.notes, *picture.state.past)


def _status_json(picture: ReviewPicture, wrong: list[str]) -> dict[str, object]:
    state, current = picture.state, picture.state.current
    return {
        "status": state.status.value,
        "ok": not wrong,
        "faults": wrong,
        "notes": [note.reason for note in _notes(picture)],
        "round": current.number if current else 0,
        "reviewers": current.payload.reviewers if current else 0,
        "votes": [
            {
                "person": ballot.person,
                "late": ballot.late,
                "outcome": None if ballot.vote is None else ballot.vote.outcome.value,
            }
            for ballot in (current.ballots if current else ())
        ],
        "events": [
            {"id": event.id, "type": event.type.value, "person": event.signer.person}
            for event in state.graph.events
        ],
    }
