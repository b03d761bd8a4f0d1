"""Work of several use-cases that the workbench gives to background threads; no Qt.

Each is called with a cancel token and a report, touches nothing of the window and returns a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpdesk.app import auditing, exploring, exporting, opening, projects, signing, verifying
from dpdesk.app.review import drafts, review_picture
from dpdesk.app.review.values import Card, KeptDraft, ReviewPicture
from dpdesk.app.types import (
    AppContext,
    Candidate,
    DataStore,
    Lost,
    ProjectFile,
    ProjectUpdate,
    ReleaseFacts,
    ReleaseRecord,
    ReleaseSummary,
    SourceRecord,
    VerifyReport,
    WorkState,
)
from dpdesk.core.errors import Cancelled, DpdeskError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged

LOAD = "workbench.load"
PROFILE = "workbench.profile"
EXPLORE = "workbench.explore"
VERIFY = "workbench.verify"


@dataclass(frozen=True)
class OpenedWork:
    """A work with its data loaded; ``is_plan`` when ``path`` is a plan file."""

    path: Path
    work: WorkState
    data: DataStore
    is_plan: bool


@dataclass(frozen=True)
class Unread:
    """A work whose data could not be read: what was tried, and why it failed."""

    path: Path
    work: WorkState
    is_plan: bool
    error: DpdeskError = field(repr=False)


@dataclass(frozen=True)
class CheckedRelease:
    """A release folder, what it says of itself, and what checking it showed.

    ``source`` is the data file with which it was checked, ``work`` the state it was made from; None
    when there was none. ``picture`` is its review as it was seen in the same go (None when there
    can be none), ``unseen`` why it could not be seen, ``cards`` the own keys that can sign and
    ``drafts`` what their holders have decided and not signed, by fingerprint. ``places`` are the
    folders of other releases that the review names, by the hash of their manifest, ``beside`` files
    that hold more of the review because the folder is read-only.
    """

    path: Path
    facts: ReleaseFacts
    report: VerifyReport
    summary: ReleaseSummary | None = None
    source: Path | str | None = None
    work: WorkState | None = None
    picture: ReviewPicture | None = None
    unseen: DpdeskError | None = field(default=None, repr=False)
    cards: tuple[Card, ...] = ()
    drafts: Mapping[str, KeptDraft] = field(default_factory=dict, repr=False)
    places: Mapping[str, Path] = field(default_factory=dict)
    beside: tuple[Path, ...] = ()


def open_anything(
    context: AppContext, path: Path, token: CancelToken, report: Report
) -> OpenedWork | Unread | CheckedRelease:
    """Tell what a path is, and load it."""
    found = opening.open_path(path)
    if found.work is None:
        return check_release(context, found.path, None, (), token, report)
    is_plan = found.kind is opening.Opened.PLAN
    return _load(context, found.path, found.work, is_plan, token, report)


def load_work(
    context: AppContext,
    work: WorkState,
    token: CancelToken,
    report: Report,
    *,
    path: Path = Path(),
    is_plan: bool = False,
) -> OpenedWork | Unread:
    """Read the data that a work names; ``path`` and ``is_plan`` say where it came from."""
    return _load(context, path, work, is_plan, token, report)


def _load(
    context: AppContext,
    path: Path,
    work: WorkState,
    is_plan: bool,
    token: CancelToken,
    report: Report,
) -> OpenedWork | Unread:
    try:
        data = opening.open_work(context, work, token, report)
    except Cancelled:
        raise
    except DpdeskError as error:
        return Unread(path, work, is_plan, error.with_traceback(None))
    if token.cancelled:  # nobody will take it over
        data.close()
        token.check()
    try:
        named = opening.spelled(work, data)
    except DpdeskError as error:
        data.close()
        return Unread(path, work, is_plan, error.with_traceback(None))
    auditing.mention(context, Logged.OPENED, data.path, report, {"sha256": data.sha256})
    return OpenedWork(path, named, data, is_plan)


def save_plan(
    context: AppContext, work: WorkState, path: Path, token: CancelToken, report: Report
) -> Path:
    """Write the work as a plan file with its hierarchies."""
    projects.save_work(work, path, context.workspace)
    return path


def make_candidate(
    context: AppContext,
    data: DataStore,
    work: WorkState,
    name: str,
    token: CancelToken,
    report: Report,
) -> Candidate:
    """Run settings without writing anything."""
    made = exploring.make_candidate(context, data, work, token, report, name)
    facts = {"source": data.sha256, "written": False}
    auditing.mention(context, Logged.RAN, data.path, report, facts)
    return made


def write_release(
    context: AppContext,
    data: DataStore,
    work: WorkState,
    out: Path,
    name: str,
    token: CancelToken,
    report: Report,
) -> CheckedRelease:
    """Write a release, then check what was written."""
    facts = {"source": data.sha256, "out": str(out.absolute())}
    auditing.enter(context, Logged.RAN, name, facts)
    summary = exploring.release_work(context, data, work, out, token, report, name)
    auditing.mention_release(context, summary.out, report)
    # The release is there: a cancel now must not hide it, so checking takes a fresh token.
    checked = check_release(context, out, None, (), CancelToken(), report)
    return replace(checked, summary=summary, work=work)


def check_release(
    context: AppContext,
    path: Path,
    source: Path | str | None,
    beside: tuple[Path, ...],
    token: CancelToken,
    report: Report,
) -> CheckedRelease:
    """Verify a release folder and look at its review, reading its files once for both."""
    picture, unseen = _look(context, path, source, beside, token, report)
    if picture is None:
        result = review_picture.verify_signed(context, path, token, report, source)
    else:
        result = review_picture.signed_report(picture)
    auditing.mention(context, Logged.VIEWED, path.absolute(), report)
    places: Mapping[str, Path] = {}
    cards: tuple[Card, ...] = ()
    kept: Mapping[str, KeptDraft] = {}
    if picture is not None:
        try:
            own = tuple(one.card for one in signing.own_keys(context) if one.card is not None)
            cards, kept = own, drafts.kept_drafts(context, picture.state, own)
        except StorageError as error:
            cards, unseen = (), error.with_traceback(None)
        places = review_picture.find_releases(
            path, review_picture.named_releases(picture.state), token
        )
    return CheckedRelease(
        path,
        _facts(path),
        result,
        source=source,
        picture=picture,
        unseen=unseen,
        cards=cards,
        drafts=kept,
        places=places,
        beside=beside,
    )


def _look(
    context: AppContext,
    path: Path,
    source: Path | str | None,
    beside: tuple[Path, ...],
    token: CancelToken,
    report: Report,
) -> tuple[ReviewPicture | None, DpdeskError | None]:
    """The review, or why it cannot be seen; files that cannot be read are told by verifying."""
    if not review_picture.is_whole(path):
        return None, None
    try:
        seen = review_picture.look(context, path, token, report, source, None, beside)
    except Cancelled:
        raise
    except DpdeskError as error:
        return None, error.with_traceback(None)
    return seen, None


def _facts(path: Path) -> ReleaseFacts:
    """What a release says of itself; nothing when it is too broken to be read."""
    try:
        return verifying.read_release(path)
    except DpdeskError:
        return ReleaseFacts(path, None)


def export(
    context: AppContext, release: Path, form: str, out: Path, token: CancelToken, report: Report
) -> Path:
    """Write the public part of a release in another format."""
    facts = {"format": form, "out": str(out.absolute())}
    auditing.enter(context, Logged.EXPORTED, release.absolute(), facts)
    exporting.export_release(
        *(release, form, out, context.workspace, token, report),
        registry=context.registry,
        replace=True,  # the dialog has asked
    )
    return out


def note_export(
    context: AppContext, path: Path, what: str, token: CancelToken, report: Report
) -> None:
    """Enter in the audit log that something of the window was written to a file."""
    facts = {"what": what}
    auditing.mention(context, Logged.EXPORTED, path.absolute(), report, facts)


@dataclass(frozen=True)
class Damaged:
    """A project that could not be opened because its file is damaged."""

    path: Path
    error: StorageError = field(repr=False)


def open_project(
    context: AppContext, path: Path, token: CancelToken, report: Report
) -> ProjectFile | Damaged:
    """Open a project."""
    try:
        opened = projects.open_project(context, path, token, report)
    except StorageError as error:
        if error.code != "project.damaged":
            raise
        return Damaged(path, error.with_traceback(None))
    auditing.mention(context, Logged.OPENED, opened.path, report)
    return opened


def copy_project(
    context: AppContext,
    project: ProjectFile,
    path: Path,
    work: ProjectUpdate,
    token: CancelToken,
    report: Report,
) -> ProjectFile:
    """Save everything under another name and open that."""
    path = projects.save_copy(context, project, path, work)
    return projects.open_project(context, path, token, report)


@dataclass(frozen=True)
class Rescued:
    """An open project with what could be saved of a damaged one."""

    project: ProjectFile
    lost: Lost


def rescue_project(
    context: AppContext, path: Path, out: Path, token: CancelToken, report: Report
) -> Rescued:
    """Save what can still be read of a damaged project as a new one, and open that."""
    saved = projects.rescue_project(context, path, out, token, report)
    return Rescued(projects.open_project(context, saved.path, token, report), saved.lost)


def close_project(
    project: ProjectFile, token: CancelToken, report: Report, *, discard: bool = False
) -> ProjectFile:
    """Save what is left and let the file go."""
    projects.close_project(project, discard=discard)
    return project


@dataclass(frozen=True)
class NotedSources:
    """Files that were read: what is new to the project, and what had changed since it knew them."""

    records: tuple[SourceRecord, ...]
    changed: tuple[SourceRecord, ...]


def note_sources(
    project: ProjectFile, work: WorkState, data: DataStore, token: CancelToken, report: Report
) -> NotedSources:
    """Look at the files that the work reads."""
    known = projects.newest_sources(project)
    read = projects.sources_read(work, data, token)
    fresh = tuple(
        record
        for record in read
        if record.path not in known
        or projects.facts_of(known[record.path]) != projects.facts_of(record)
    )
    changed = tuple(
        known[record.path]
        for record in fresh
        if record.path in known and known[record.path].sha256 != record.sha256
    )
    return NotedSources(fresh, changed)


def note_release(
    summary: ReleaseSummary, title: str, moment: int, token: CancelToken, report: Report
) -> ReleaseRecord:
    """Look at a release that was just written."""
    made = summary
    return projects.release_made(made.out, made.method, title, moment)
