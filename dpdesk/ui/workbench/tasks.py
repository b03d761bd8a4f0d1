"""Work that the workbench gives to background threads: plain callables, no Qt.

Each is called with a cancel token and a report, touches nothing of the window and returns a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpdesk.app import exploring, exporting, opening, recording, signing, user_files, verifying
from dpdesk.app.review import drafts, packing, related, review_picture
from dpdesk.app.review.values import Card, KeptDraft, ReviewPicture
from dpdesk.app.types import (
    AppContext,
    Candidate,
    DataProfile,
    DataStore,
    Explored,
    ReleaseFacts,
    ReleaseSummary,
    VerifyReport,
    WorkState,
)
from dpdesk.core.errors import Cancelled, DpdeskError, StorageError
from dpdesk.core.jobs import CancelToken, Report

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
    source: Path | None = None
    work: WorkState | None = None
    picture: ReviewPicture | None = None
    unseen: DpdeskError | None = field(default=None, repr=False)
    cards: tuple[Card, ...] = ()
    drafts: Mapping[str, KeptDraft] = field(default_factory=dict, repr=False)
    places: Mapping[str, Path] = field(default_factory=dict)
    beside: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Profiled:
    """A profile and the data that it describes."""

    data: DataStore
    profile: DataProfile


@dataclass(frozen=True)
class OpenAnything:
    """Tell what a path is, and load it."""

    context: AppContext
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> OpenedWork | Unread | CheckedRelease:
        """A work with data, a work whose data could not be read, or a checked release."""
        found = opening.open_path(self.path)
        if found.work is None:
            return CheckRelease(self.context, found.path, None)(token, report)
        is_plan = found.kind is opening.Opened.PLAN
        return _load(self.context, found.path, found.work, is_plan, token, report)


@dataclass(frozen=True)
class LoadWork:
    """Read the data that a work names; ``path`` and ``is_plan`` say where it came from."""

    context: AppContext
    work: WorkState
    path: Path = field(default_factory=Path)
    is_plan: bool = False

    def __call__(self, token: CancelToken, report: Report) -> OpenedWork | Unread:
        """The work with its data."""
        return _load(self.context, self.path, self.work, self.is_plan, token, report)


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
    recording.mention(context, "opened", data.path, report, {"sha256": data.sha256})
    return OpenedWork(path, named, data, is_plan)


@dataclass(frozen=True)
class CloseData:
    """Close data that nobody shows any more."""

    data: DataStore

    def __call__(self, token: CancelToken, report: Report) -> None:
        """Close it."""
        self.data.close()


@dataclass(frozen=True)
class Profile:
    """Count what the columns hold."""

    data: DataStore

    def __call__(self, token: CancelToken, report: Report) -> Profiled:
        """The profile."""
        return Profiled(self.data, opening.profile(self.data, token, report))


@dataclass(frozen=True)
class SavePlan:
    """Write the work as a plan file with its hierarchies."""

    context: AppContext
    work: WorkState
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The path that was written."""
        user_files.save_work(self.work, self.path, self.context.workspace)
        return self.path


@dataclass(frozen=True)
class Explore:
    """Search all settings of the live parameters."""

    context: AppContext
    data: DataStore
    work: WorkState

    def __call__(self, token: CancelToken, report: Report) -> Explored:
        """The finished search."""
        return exploring.explore(self.context, self.data, self.work, token, report)


@dataclass(frozen=True)
class MakeCandidate:
    """Run settings without writing anything."""

    context: AppContext
    data: DataStore
    work: WorkState
    name: str

    def __call__(self, token: CancelToken, report: Report) -> Candidate:
        """The candidate."""
        made = exploring.make_candidate(
            self.context, self.data, self.work, token, report, self.name
        )
        facts = {"source": self.data.sha256, "written": False}
        recording.mention(self.context, "ran", self.data.path, report, facts)
        return made


@dataclass(frozen=True)
class WriteRelease:
    """Write a release, then check what was written."""

    context: AppContext
    data: DataStore
    work: WorkState
    out: Path
    name: str

    def __call__(self, token: CancelToken, report: Report) -> CheckedRelease:
        """The release and what checking it showed."""
        facts = {"source": self.data.sha256, "out": str(self.out.absolute())}
        recording.enter(self.context, "ran", self.name, facts)
        summary = exploring.release_work(
            self.context, self.data, self.work, self.out, token, report, self.name
        )
        recording.mention_release(self.context, summary.out, report)
        # The release is there: a cancel now must not hide it, so checking takes a fresh token.
        checked = CheckRelease(self.context, self.out, None)(CancelToken(), report)
        return replace(checked, summary=summary, work=self.work)


@dataclass(frozen=True)
class CheckRelease:
    """Verify a release folder and look at its review, reading its files once for both."""

    context: AppContext
    path: Path
    source: Path | None
    beside: tuple[Path, ...] = ()

    def __call__(self, token: CancelToken, report: Report) -> CheckedRelease:
        """What it says, what checking showed, and where its review stands."""
        picture, unseen = self._look(token, report)
        if picture is None:
            result = review_picture.verify_signed(
                self.context, self.path, token, report, self.source
            )
        else:
            result = review_picture.signed_report(picture)
        recording.mention(self.context, "viewed", self.path.absolute(), report)
        try:
            cards, kept = self._own(picture)
        except StorageError as error:
            cards, kept, unseen = (), {}, error.with_traceback(None)
        return CheckedRelease(
            self.path,
            _facts(self.path),
            result,
            source=self.source,
            picture=picture,
            unseen=unseen,
            cards=cards,
            drafts=kept,
            places=self._places(picture, token),
            beside=self.beside,
        )

    def _own(
        self, picture: ReviewPicture | None
    ) -> tuple[tuple[Card, ...], Mapping[str, KeptDraft]]:
        """The keys of this computer that can sign, and what was decided with them."""
        if picture is None:
            return (), {}
        cards = tuple(one.card for one in signing.own_keys(self.context) if one.card is not None)
        return cards, drafts.kept_drafts(self.context, picture.state, cards)

    def _places(self, picture: ReviewPicture | None, token: CancelToken) -> Mapping[str, Path]:
        if picture is None:
            return {}
        return related.find_releases(self.path, related.named_releases(picture.state), token)

    def _look(
        self, token: CancelToken, report: Report
    ) -> tuple[ReviewPicture | None, DpdeskError | None]:
        """The review, or why it cannot be seen; files that cannot be read are told by verifying."""
        if not review_picture.is_whole(self.path):
            return None, None
        try:
            context, path, source = self.context, self.path, self.source
            return review_picture.look(
                context, path, token, report, source, None, self.beside
            ), None
        except Cancelled:
            raise
        except DpdeskError as error:
            return None, error.with_traceback(None)


def _facts(path: Path) -> ReleaseFacts:
    """What a release says of itself; nothing when it is too broken to be read."""
    try:
        return verifying.read_release(path)
    except DpdeskError:
        return ReleaseFacts(path, None)


@dataclass(frozen=True)
class Export:
    """Write the public part of a release in another format."""

    context: AppContext
    release: Path
    form: str
    out: Path

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The path that was written."""
        facts = {"format": self.form, "out": str(self.out.absolute())}
        recording.enter(self.context, "exported", self.release.absolute(), facts)
        exporting.export_release(
            *(self.release, self.form, self.out, self.context.workspace, token, report),
            registry=self.context.registry,
            replace=True,  # the dialog has asked
        )
        return self.out


@dataclass(frozen=True)
class SavePack:
    """Write the evidence pack of a release; ``beside`` are more files with some of its review.

    An empty ``language`` is that of the report.
    """

    context: AppContext
    release: Path
    out: Path
    beside: tuple[Path, ...] = ()
    language: str = ""

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The path that was written."""
        return packing.write_pack(
            self.context, self.release, self.out, token, report, self.beside, self.language
        )


@dataclass(frozen=True)
class NoteExport:
    """Enter in the audit log that something of the window was written to a file."""

    context: AppContext
    path: Path
    what: str

    def __call__(self, token: CancelToken, report: Report) -> None:
        """Enter it; where that is impossible, a note says so."""
        facts = {"what": self.what}
        recording.mention(self.context, "exported", self.path.absolute(), report, facts)
