"""What everybody sees of a release and its review: the claims, the checklist, the signatures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.core.charts import Chart, ChartValueError, charts_from_json
from dpdesk.core.errors import DpdeskError, InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import counted, msg
from dpdesk.core.release import CheckStatus, ClaimCheck, Failure, VerifyReport
from dpdesk.core.shapes import read_json
from dpdesk.project.review.events import Fault

if TYPE_CHECKING:
    from datetime import datetime

    from dpdesk.app.at_hand import Given
    from dpdesk.app.checklists import CheckedRelease
    from dpdesk.app.review.protocols import ProtocolFacts
    from dpdesk.core.release import ReleaseFacts
    from dpdesk.project.review.binding import ReleaseBinding
    from dpdesk.project.review.cards import Card
    from dpdesk.project.review.checklist import Difference
    from dpdesk.project.review.events import EventType, Submission
    from dpdesk.project.review.permissions import Permission
    from dpdesk.project.review.policy import Policy
    from dpdesk.project.review.review_file import LoadedReview, ReviewStore
    from dpdesk.project.review.state import ReviewState


# The files of a release as a reviewer reads them next to the decision: tables, pages and texts.


MOST_BYTES = 2_000_000
"""The most that is shown of a page or a text."""
MOST_CELLS = 5_000_000
"""The most cells of a table that are held; the rows behind them are counted."""


_PDF = b"%PDF"


class FileRows:
    """Rows of a published table, as the models of tables want them; ``total`` are in the file."""

    def __init__(self, columns: Sequence[str], table: Any, total: int) -> None:
        self.columns, self._table, self.total = tuple(columns), table, total
        self.count: int = table.num_rows

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """Rows from ``start`` on, in the order of the file."""
        part = self._table.slice(start, count)
        return tuple(zip(*(column.to_pylist() for column in part.columns), strict=True))


@dataclass(frozen=True)
class FileLook:
    """What is shown of a file: its rows, a page or a text; else why there is none.

    ``absent``: it is not in the folder; ``foreign``: it is for another program, as the file at
    ``path``; ``printed``: it is the print of the page that is shown; ``fault`` is a sentence on
    what is wrong with it.
    """

    name: str
    rows: FileRows | None = None
    page: str = ""
    text: str = ""
    absent: bool = False
    foreign: bool = False
    printed: bool = False
    path: Path | None = None
    fault: str = ""

    @property
    def shown(self) -> bool:
        """Whether there is something to see."""
        return not (self.absent or self.foreign or self.fault)


def look_at_file(release: Path, name: str, token: CancelToken) -> FileLook:
    """A file of a release; it may be anyone's, and nothing outside the folder is read."""
    path = release / name
    try:
        inside = path.resolve().is_relative_to(release.resolve()) and not path.is_symlink()
        if not inside or not path.is_file():
            return FileLook(name, absent=True)
        if path.suffix == ".csv":
            return FileLook(name, rows=_rows(path, token))
        content = _start_of(path)
        source = path.with_suffix(".html")
        if content.startswith(_PDF) and source.is_file() and not source.is_symlink():
            page = _start_of(source).decode("utf-8", "replace")
            return FileLook(name, page=page, printed=True, path=path)
    except (OSError, ValueError, DpdeskError) as error:
        reason = getattr(error, "sentence", "") or str(error)
        return FileLook(name, fault=reason)
    if content.startswith(_PDF) or b"\0" in content:
        return FileLook(name, foreign=True, path=path)
    text = content.decode("utf-8", "replace")
    if path.suffix == ".html":
        return FileLook(name, page=text)
    return FileLook(name, text=_indented(text) if path.suffix == ".json" else text)


def _start_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(MOST_BYTES)


def _rows(path: Path, token: CancelToken) -> FileRows:
    import pyarrow as pa

    from dpdesk.io.published import PublishedCsv

    published = PublishedCsv(path, token)
    parts, held = [], 0
    for part in published.batches(published.columns, token):
        parts.append(part)
        held += part.num_rows * part.num_columns
        if held >= MOST_CELLS:
            break
    empty = pa.table({name: pa.array([], pa.string()) for name in published.columns})
    table = pa.concat_tables(parts) if parts else empty
    return FileRows(published.columns, table, published.rows)


def _indented(text: str) -> str:
    try:
        return json.dumps(read_json(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def pictures_of(facts: ReleaseFacts) -> tuple[Chart, ...]:
    """The pictures of the differences that the internal part keeps; none without it."""
    try:
        return charts_from_json(list(facts.evidence.charts))
    except ChartValueError:
        return ()


# Finding the folders of releases that a review names by the hash of their manifest.


_MOST_FOLDERS = 500


def named_releases(state: ReviewState) -> tuple[str, ...]:
    """The other releases that a review names: the one it replaces, and the one in its place."""
    from dpdesk.project.review.events import Supersede

    current = state.current
    if current is None:
        return ()
    after = None if current.superseded_by is None else current.superseded_by.payload
    found = [current.payload.supersedes]
    found.append(after.replacement if isinstance(after, Supersede) else None)
    return tuple(code for code in found if code)


def find_releases(folder: Path, codes: Iterable[str], token: CancelToken) -> Mapping[str, Path]:
    """The release folders beside ``folder`` with these manifests (SHA-256), as far as there are.

    Raises Cancelled.
    """
    from dpdesk.project.review.binding import manifest_code

    wanted, found = set(codes), {}
    if not wanted:
        return {}
    try:
        beside = sorted(one for one in folder.absolute().parent.iterdir() if one.is_dir())
    except OSError:
        return {}
    for place in beside[:_MOST_FOLDERS]:
        token.check()
        code = manifest_code(place, token)
        if code in wanted:
            found[code] = place
    return found


REVIEW_FILE = "internal/review.json"
SIGNED = "The signatures of the review hold"
_UNKNOWN = "signer.unknown"
_PARTS = ("public", "internal")


@dataclass(frozen=True)
class ReviewPicture:
    """A release with its review, as this computer sees them.

    ``checked`` holds what verifying showed and the checklist, by the policy of the submission (of
    this computer where nothing was submitted). ``differences`` are checklist items that stand
    otherwise here than the submission says. ``notes`` are worth knowing. ``protocol`` is the
    locked one that the submission applies, where this computer has it.
    """

    folder: Path
    checked: CheckedRelease
    loaded: LoadedReview
    differences: tuple[Difference, ...] = ()
    notes: tuple[Fault, ...] = ()
    protocol: ProtocolFacts | None = None

    @property
    def state(self) -> ReviewState:
        """What the review comes to; to be relied on only when nothing spoils it."""
        return self.loaded.state

    @property
    def verified(self) -> VerifyReport:
        """What verifying the files showed, the signatures not included."""
        return self.checked.facts.report

    def rights(self, card: Card | None) -> Mapping[EventType, Permission]:
        """What the holder of a key may do now, and why not."""
        from dpdesk.project.review.permissions import permissions

        return permissions(self.state, card)


def failing_here(picture: ReviewPicture) -> tuple[str, ...]:
    """The checks that fail on this computer, whatever its author's program found."""
    from dpdesk.project.review.votes import ItemStatus

    items = picture.checked.checklist.items
    return tuple(item.id for item in items if item.status is ItemStatus.FAIL)


def look(
    context: AppContext,
    folder: Path,
    token: CancelToken,
    report: Report,
    source: Given | None = None,
    policy: Path | None = None,
    beside: Sequence[Path] = (),
) -> ReviewPicture:
    """Verify a release, check it against its policy, and read its review.

    ``policy`` is used as long as nothing was submitted. ``beside`` are files into which some of the
    review was written because the folder is read-only. Whatever is wrong with the folder is told
    in the picture. Raises InputError when there is no such folder or this computer's own files
    (trust list, policy) cannot be read, and Cancelled.
    """
    from dpdesk.app.checklists import check_release, read_policy
    from dpdesk.app.review.protocols import kept_path, known_protocol, protocol_facts
    from dpdesk.project.review.events import Mode

    loaded = load(context, folder, token, [path for path in beside if path.is_file()])
    current = loaded.state.current
    notes = list(loaded.state.notes) + list(review_store(context).related(loaded))
    notes += _elsewhere(loaded, beside)
    used = None if policy is None else read_policy(policy)
    mode, protocol, author = Mode.DEVELOP, None, ""
    if current is not None:
        author = current.submission.signer.person
        used, fault = submitted_policy(current.payload)
        mode = current.payload.mode
        protocol = known_protocol(context, current.payload.protocol_sha256)
        if fault is not None:
            loaded = spoiled(loaded, (fault,))
    checked = check_release(context, folder, token, report, used, source, mode, protocol, author)
    differences: tuple[Difference, ...] = ()
    if current is not None:
        differences = checked.checklist.differences(current.payload.statuses)
    review_store(context).remember(loaded)
    known = None if protocol is None else protocol_facts(context, kept_path(context, protocol.id))
    return ReviewPicture(folder, checked, loaded, differences, tuple(notes), known)


def _elsewhere(loaded: LoadedReview, beside: Sequence[Path]) -> list[Fault]:
    """A note while some of the review is in a file beside the folder alone."""
    data = loaded.data or b""
    if all(event.id.encode("ascii") in data for event in loaded.state.graph.events):
        return []
    places = ", ".join(str(path) for path in beside)
    words = msg(
        "what is in {places} is not in this folder yet: have it merged there", places=places
    )
    return [Fault("review.elsewhere", words)]


def verify_signed(
    context: AppContext,
    path: Path,
    token: CancelToken,
    report: Report,
    source: Given | None = None,
    population: Path | None = None,
) -> VerifyReport:
    """Verify a release from its files, the signatures of its review included when there are any."""
    from dpdesk.app.verifying import verify_release

    found = verify_release(
        *(path, context.registry, token, report, source, context.workspace),
        reviewed=True,
        population=population,
    )
    if not is_whole(path):
        return found
    try:
        loaded = load(context, path, token)
    except StorageError:
        if not found.ok:
            return found
        raise
    except InputError as error:
        # This computer's list of trusted keys: no fault of the question, and no signature is known.
        failures = (*found.failures, Failure(REVIEW_FILE, error.sentence.rstrip(".")))
        claim = ClaimCheck(SIGNED, CheckStatus.NOT_CHECKED, error.sentence, REVIEW_FILE)
        return replace(found, ok=False, failures=failures, claims=(*found.claims, claim))
    return _signed(found, loaded)


def signed_or_refused(
    context: AppContext, path: Path, token: CancelToken, report: Report, refusal: tuple[str, str]
) -> VerifyReport:
    """As :func:`verify_signed`, for what asks that the release is as it should be.

    Raises RefusedError with the code and hint of ``refusal``, and the first thing that is wrong.
    """
    found, (code, hint) = verify_signed(context, path, token, report), refusal
    if found.ok:
        return found
    first, others = found.failures[0], len(found.failures) - 1
    raise RefusedError(
        code,
        msg(
            "{path}: {file}: {reason}{more}.",
            path=path,
            file=first.path,
            reason=first.reason,
            more=msg(" ({failures} more)", failures=others) if others else "",
        ),
        hint=hint,
    )


def signed_report(picture: ReviewPicture) -> VerifyReport:
    """What :func:`verify_signed` would tell, from what has been looked at already."""
    return _signed(picture.verified, picture.loaded)


def is_whole(path: Path) -> bool:
    """Whether both parts of a release folder are here, so that it can have a review."""
    return all((path / part).is_dir() and not (path / part).is_symlink() for part in _PARTS)


def _signed(found: VerifyReport, loaded: LoadedReview) -> VerifyReport:
    """A report with the signatures of the review, when there are any."""
    if loaded.data is None and not loaded.state.faults:
        return found
    claim, failures, notes = signature_claim(loaded.state)
    return replace(
        found,
        ok=found.ok and not failures,
        claims=(*found.claims, claim),
        failures=(*found.failures, *failures),
        notes=(*found.notes, *notes),
    )


def signature_claim(
    state: ReviewState,
) -> tuple[ClaimCheck, tuple[Failure, ...], tuple[str, ...]]:
    """The review as a claim among those of the release, its failures and notes.

    On a computer that trusts nobody yet, a signature by an unknown key is no failure but cannot be
    confirmed either.
    """
    faults = list(state.faults)
    if not state.trust.entries:
        faults = [fault for fault in faults if fault.code != _UNKNOWN]
    failures = tuple(Failure(REVIEW_FILE, fault.reason) for fault in faults)
    notes = tuple(
        msg("review: {reason}.", reason=fault.reason) for fault in (*state.notes, *state.past)
    )
    if failures:
        words = msg("{n:,} errors. The first: {reason}", n=len(faults), reason=faults[0].reason)
        words = faults[0].reason if len(faults) == 1 else words
        return ClaimCheck(SIGNED, CheckStatus.FAILED, words, REVIEW_FILE), failures, notes
    if state.faults:
        words = (
            "they are whole, but this computer's list of trusted keys is empty, so no one knows "
        )
        words += "whose they are"
        return ClaimCheck(SIGNED, CheckStatus.NOT_CHECKABLE, words, REVIEW_FILE), (), notes
    words = msg(
        "{n:,} signed events; the release is {status}",
        n=len(state.graph.events),
        status=state.status.value,
    )
    return ClaimCheck(SIGNED, CheckStatus.CONFIRMED, words, REVIEW_FILE), (), notes


def released_by_all(context: AppContext, folder: Path, token: CancelToken) -> bool:
    """Whether a review released this folder, by as many reviewers as this agency wants, who all
    said why they accept it as verified.

    Policy and checklist of a submission are its author's, who may have written them: by a status
    that was written there, rules of a review ask for no reason. Raises as :func:`load` does, and
    what reading the agency's policy raises.
    """
    from dpdesk.project.review.policy import agency_policy
    from dpdesk.project.review.state import Status
    from dpdesk.project.review.texts import says_something

    state = load(context, folder, token).state
    if not state.ok or state.current is None:
        return False
    asked = state.current.payload
    enough = asked.reviewers >= agency_policy(context.home).policy.reviewers
    final = state.status in (Status.RELEASED, Status.SUPERSEDED)
    votes = [ballot.vote for ballot in state.current.ballots if not ballot.late]
    checks = [None if vote is None else vote.checks.get("verified") for vote in votes]
    reasons = [check is not None and says_something(check.comment) for check in checks]
    return final and enough and bool(reasons) and all(reasons)


# ---- shared with signing


def review_store(context: AppContext) -> ReviewStore:
    """Where reviews are read and written."""
    from dpdesk.project.review.review_file import ReviewStore

    return ReviewStore(context.home, context.workspace)


def load(
    context: AppContext, place: Path, token: CancelToken, bases: Sequence[Path] = ()
) -> LoadedReview:
    """The review of a folder (or a copied review file) as it stands on this computer now.

    ``bases`` are files with more of it; see :meth:`ReviewStore.load`.

    Files of the folder that are not those submitted are faults of the current round. Raises
    StorageError, InputError ``release.missing`` or ``trust.damaged``, and Cancelled.
    """
    loaded = review_store(context).load(
        place,
        signing.trust_list(context),
        signing.now(),
        latest_known(context),
        bases,
        binding=bound_files(place, token),
    )
    notes = (
        *loaded.state.notes,
        *_other_policy(context, loaded.state),
        *_other_trust(context, loaded.state),
    )
    return replace(loaded, state=replace(loaded.state, notes=notes))


def _other_policy(context: AppContext, state: ReviewState) -> tuple[Fault, ...]:
    """A note where a release was submitted under another policy than the agency's.

    One of the agency that cannot be read is told where releases are checked against it.
    """
    from dpdesk.project.review.events import Fault
    from dpdesk.project.review.policy import agency_policy

    current = state.current
    try:
        agency = agency_policy(context.home).given
    except DpdeskError:
        return ()
    if agency is None or current is None or current.payload.policy_sha256 == agency.sha256:
        return ()
    words = msg(
        "the release was submitted under a policy other than the agency's: that policy requires "
        "{there}, the agency's {here}",
        there=_reviewers(current.payload.reviewers),
        here=_reviewers(agency.reviewers),
    )
    return (Fault("policy.other", words, current.submission.id, None, current.number),)


def _other_trust(context: AppContext, state: ReviewState) -> tuple[Fault, ...]:
    """A note where whose signatures count was changed by other means than this program."""
    from dpdesk.project.review.events import Fault

    if state.current is None:
        return ()
    words = signing.changed_elsewhere(context, state.trust)
    return (Fault("trust.elsewhere", words),) if words else ()


def _reviewers(number: int) -> str:
    return counted("{n:,} reviewer", "{n:,} reviewers", n=number)


def bound_files(place: Path, token: CancelToken) -> ReleaseBinding | None:
    """What a folder holds now; None for a copied review file."""
    from dpdesk.project.review.binding import bind_release

    return bind_release(place, token) if place.is_dir() else None


def latest_known(context: AppContext) -> datetime | None:
    """The newest time in this computer's audit log; None when it cannot be read.

    Looking goes on without it; whatever needs an entry in the log is refused there.
    """
    from datetime import datetime

    from dpdesk.project.audit import AuditLog

    try:
        with AuditLog.open_home(context.home) as log:
            newest = log.newest()
    except StorageError:
        return None
    return None if newest is None else datetime.fromisoformat(newest.time)


def spoiled(loaded: LoadedReview, faults: tuple[Fault, ...]) -> LoadedReview:
    """The review with more faults."""
    state = replace(loaded.state, faults=(*loaded.state.faults, *faults))
    return replace(loaded, state=state)


def submitted_policy(submission: Submission) -> tuple[Policy | None, Fault | None]:
    """The policy that a submission carries; None and a fault when it is none."""
    from dpdesk.project.review.policy import Policy

    try:
        return Policy.from_plain(submission.policy, "the policy of the submission"), None
    except DpdeskError as error:
        return None, Fault("policy.unreadable", error.sentence.rstrip("."))
