"""The evidence pack of a release: report, checklist, decisions, signatures, ledger, software."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.app.recording import enter
from dpdesk.app.review.looking import ReviewPicture, is_whole, look, signed_report
from dpdesk.core.errors import DpdeskError, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted

if TYPE_CHECKING:
    from dpdesk.project.review.questions import Item
    from dpdesk.project.review.state import Round
    from dpdesk.project.review.votes import ItemStatus
    from dpdesk.report.pack import ItemLine, Opinion, PackContent, SignatureLine

_STEPS = ("Check the release and its review", "Write the pack")
_KINDS = (".html", ".pdf")


def write_pack(
    context: AppContext,
    folder: Path,
    out: Path,
    token: CancelToken,
    report: Report,
    beside: tuple[Path, ...] = (),
) -> Path:
    """Write the pack of a release folder to a new file, ``.html`` or ``.pdf`` by its name.

    What is wrong with release or review stands on its first page. Raises InputError ``pack.kind``,
    ``pack.exists``, ``pack.not-whole`` (a public part alone), RefusedError ``pack.report`` when the
    report is not one that DPDesk made, StorageError, Cancelled.
    """
    from dpdesk.io.safewrite import replacing, write_new

    target = _target(folder, out)
    report(StepStarted(_STEPS[0], 1, 2))
    picture = look(context, folder, token, report, beside=beside)
    report(StepStarted(_STEPS[1], 2, 2))
    page = _page(context, picture, folder, token)
    if out.suffix.lower() == ".pdf":
        from dpdesk.report.printing import Printer

        with Printer() as printer:
            page = printer.pdf(page, token)
    token.check()
    enter(context, "exported", folder.absolute(), {"format": "evidence pack", "out": str(target)})
    with replacing(target, context.workspace) as fresh:
        write_new(fresh, page)
    return target


def write_materials(context: AppContext, out: Path) -> tuple[Path, str]:
    """Write the bill of materials of this program to a new file; its path and SHA-256.

    Raises InputError ``pack.exists``, StorageError.
    """
    from dpdesk.app.software import bill_of_materials, bill_sha256
    from dpdesk.io.safewrite import replacing, write_new

    target = _fresh(out)
    with replacing(target, context.workspace) as fresh:
        write_new(fresh, bill_of_materials())
    return target, bill_sha256()


def _fresh(out: Path) -> Path:
    target = out.absolute()
    if target.exists():
        raise InputError(
            "pack.exists", f"{out}: the file is there already.", hint="Name another, or remove it."
        )
    return target


def _target(folder: Path, out: Path) -> Path:
    if out.suffix.lower() not in _KINDS:
        raise InputError(
            "pack.kind", f"{out}: the name of a pack ends in .html or .pdf.", hint="Name it so."
        )
    if not is_whole(folder):
        raise InputError(
            "pack.not-whole",
            f"{folder}: a pack is made from a whole release folder, with `public` and `internal`.",
        )
    target = _fresh(out)
    if target.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "export.inside",
            f"{out}: lies inside the release, which nothing may be added to.",
            hint="Choose a place outside the release folder.",
        )
    return target


def _page(context: AppContext, picture: ReviewPicture, folder: Path, token: CancelToken) -> bytes:
    from dpdesk.report.pack import render_pack

    content = _content(context, picture, folder, token)
    try:
        return render_pack(content)
    except (ValueError, UnicodeDecodeError) as error:
        raise RefusedError(
            "pack.report",
            f"{folder / 'internal' / 'report.html'}: is no report that DPDesk wrote: {error}.",
            hint="Take the release from a copy that verifies.",
        ) from error


def _content(
    context: AppContext, picture: ReviewPicture, folder: Path, token: CancelToken
) -> PackContent:
    from dpdesk.app.software import bill_sha256, components
    from dpdesk.io.release_folder import INTERNAL, MANIFEST, PUBLIC, REPORT
    from dpdesk.io.safewrite import hash_file
    from dpdesk.project.review.texts import time_text
    from dpdesk.report.pack import PackContent
    from dpdesk.report.review import check_line

    facts = picture.checked.facts.release
    verified = signed_report(picture)
    faults = [f"{failure.path}: {failure.reason}." for failure in verified.failures]
    method = next((m.title for m in context.registry if m.id == facts.method), facts.method)
    try:
        page = (folder / INTERNAL / REPORT).read_bytes()
        name = hash_file(folder / PUBLIC / MANIFEST, token)[0]
    except OSError as error:
        raise InputError(
            "pack.not-whole", f"{folder}: {error.strerror or error} ({error.filename})."
        ) from error
    return PackContent(
        title=facts.title or method,
        method=method,
        created=facts.created,
        release=name,
        standing=_standing(picture),
        faults=tuple(faults),
        made=time_text(signing.now()).replace("T", " ").removesuffix("Z") + " UTC",
        signatures=tuple(_signatures(picture)),
        votes=tuple(_votes(picture)),
        items=tuple(_item(item, picture) for item in picture.checked.checklist.items),
        policy=picture.checked.checklist.policy_sha256,
        checks=tuple(check_line(check) for check in verified.claims),
        ledger=tuple(_ledger(context, facts.internal_section("budget"))),
        software=bill_sha256(),
        components=tuple((name, version) for name, version, _ in components()),
        guarantee={"claim": str(facts.section("guarantee").get("claim", ""))},
        report=page,
    )


def _standing(picture: ReviewPicture) -> str:
    """Where the review stands, in one sentence."""
    from dpdesk.project.review.state import Status

    state = picture.state
    if not state.ok:
        return "The review of this release is not to be relied on."
    if state.current is None:
        return "Nobody has submitted this release for review."
    names = ", ".join(sorted(one.person for one in state.current.ballots if not one.late))
    words = {
        Status.RELEASED: f"It was reviewed by {names} and released.",
        Status.SUPERSEDED: f"It was reviewed by {names} and released, and superseded since.",
        Status.APPROVED: f"It was approved by {names} and is not released yet.",
    }
    return words.get(state.status, f"It is not signed off: its review is {state.status.value}.")


def _signatures(picture: ReviewPicture) -> Iterator[SignatureLine]:
    from dpdesk.project.review.texts import fingerprint_text, time_text
    from dpdesk.report.pack import SignatureLine

    state = picture.state
    for event in state.graph.events:
        objection = ""
        if event.id in state.untrusted:
            objection = "this computer does not trust the key"
        elif event.id in state.void:
            objection = "it breaks the rules of a review"
        moment = time_text(event.time).replace("T", " ").removesuffix("Z")
        key = fingerprint_text(event.signer.fingerprint)
        yield SignatureLine(moment, event.signer.person, key, event.kind, objection)


def _current(picture: ReviewPicture) -> Round | None:
    return picture.state.current


def _votes(picture: ReviewPicture) -> Iterator[Opinion]:
    from dpdesk.report.pack import Opinion

    current = _current(picture)
    for ballot in current.ballots if current else ():
        if ballot.vote is not None:
            yield Opinion(ballot.person, ballot.vote.outcome.value, ballot.vote.comment)


def _item(item: Item, picture: ReviewPicture) -> ItemLine:
    from dpdesk.report.pack import ItemLine, Opinion

    icon, style = _looks()[item.status]
    current = _current(picture)
    opinions = [
        Opinion(ballot.person, check.decision.value, check.comment)
        for ballot in (current.ballots if current else ())
        if ballot.vote is not None and (check := ballot.vote.checks.get(item.id)) is not None
    ]
    return ItemLine(
        icon, style, item.status.value, item.question, item.evidence, item.advice, tuple(opinions)
    )


def _looks() -> Mapping[ItemStatus, tuple[str, str]]:
    from dpdesk.project.review.votes import ItemStatus

    return {
        ItemStatus.PASS: ("✓", "ok"),
        ItemStatus.REVIEW: ("△", "caution"),
        ItemStatus.FAIL: ("✕", "fail"),
        ItemStatus.NOT_APPLICABLE: ("○", "muted"),
    }


def _ledger(context: AppContext, budget: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The debit that paid for the release, by the evidence, and what its ledger says now."""
    words = {
        "population": "Population",
        "cost": "What this release cost",
        "debit": "Debit",
        "entry": "Hash of the entry",
        "time": "Time of the debit",
        "ledger": "File of the ledger",
    }
    for key, label in words.items():
        if budget.get(key):
            yield label, str(budget[key])
    if budget.get("entry"):
        yield "The ledger now", _spent(context, str(budget["entry"]))


def _spent(context: AppContext, entry: str) -> str:
    """What the account of a debit has spent, by the ledger where this computer debited it."""
    from dpdesk.app.ledgers import DEBITED
    from dpdesk.project.audit import AuditLog
    from dpdesk.project.ledger import Ledger

    with AuditLog.open_home(context.home) as log:
        places = [one.subject for one in log.entries_of(DEBITED) if one.facts.get("entry") == entry]
    if not places:
        return "this computer did not make the debit, so its ledger was not read"
    try:
        with closing(Ledger.open(Path(places[-1]), create=False)) as ledger:
            book = ledger.book
    except DpdeskError as error:
        return f"cannot be read: {error.sentence}"
    record = next((one for one in book.debits.values() if one.entry == entry), None)
    if record is None:
        return "lacks this debit: it was put back from an old copy, or replaced"
    spending, limit = book.spending(record.key), book.limit(record.key)
    owner = "no limit" if limit is None else f"the owner's limit is {limit}"
    return (
        f"{spending.count:,} debits, {spending} together; {owner}; the outcome of this debit: "
        f"{record.outcome.value}"
    )
