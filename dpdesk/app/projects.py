"""Projects: one file that keeps the whole work and saves it as it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg
from dpdesk.core.systems import network_share
from dpdesk.project.audit import AuditNote
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file import (
    DATA,
    SUFFIX,
    DecisionRecord,
    Lost,
    OpeningHelpers,
    ProjectFile,
    ProjectUpdate,
    ReleaseRecord,
    SourceRecord,
    files_of,
    new_contents,
    rescue,
    write_project,
)
from dpdesk.project.file.sources import newest
from dpdesk.project.history import History, HistorySnapshot
from dpdesk.project.saving import save_work
from dpdesk.project.settings import LoadedSettings, Settings, load_settings, save_settings
from dpdesk.project.work import WorkState

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.io.safewrite import PartialKeeper
    from dpdesk.io.store import DataStore
    from dpdesk.project.review.events import Event


# Settings of the user and saved work, for the window.


__all__ = [
    "LoadedSettings",
    "Settings",
    "home_folder",
    "load_settings",
    "save_history",
    "save_settings",
    "save_work",
]


def home_folder() -> Path:
    """The folder of settings, crash reports and private work: DPDESK_HOME, or the usual one."""
    from dpdesk.core.home import default_home

    return default_home()


def save_history(history: History, path: Path, keeper: PartialKeeper) -> None:
    """Save the present state of the work as a plan file and note that it is saved.

    The history keeps hierarchies made by hand as they are, so that undo still works on them.
    Raises StorageError; ValueError when no data file was chosen.
    """
    save_work(history.state, path, keeper)
    history.mark_saved()


_HEADER = b"SQLite format 3\x00"
_APPLICATION_AT = 68


@dataclass(frozen=True)
class Rescued:
    """A new project made of what could be read of a damaged one."""

    path: Path
    lost: Lost


def is_project(path: Path) -> bool:
    """Whether a file is meant to be a project: by its ending, or by what its first bytes say."""
    from dpdesk.project.file.store import APPLICATION

    if path.suffix.lower() == SUFFIX:
        return True
    if not path.is_file():  # a pipe would be waited for
        return False
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except OSError:
        return False
    mark = head[_APPLICATION_AT : _APPLICATION_AT + 4]
    return head.startswith(_HEADER) and mark == APPLICATION.to_bytes(4, "big")


def project_path(path: Path) -> Path:
    """The path as a project has it: with the ending ``.dpdesk``."""
    return path if path.suffix.lower() == SUFFIX else path.with_name(path.name + SUFFIX)


def create_project(
    context: AppContext,
    path: Path,
    history: HistorySnapshot,
    shelf: ShelfSnapshot,
    token: CancelToken,
    report: Report,
) -> ProjectFile:
    """Make a project that begins with this work, in the place of what lies at ``path``; open it.

    Raises InputError ``project.network`` for a place on a network share (a copy can be put there
    later), ``out.folder``; StorageError ``project.*``.
    """
    path = project_path(path.absolute())
    share = network_share(path.parent)
    if share:
        raise InputError(
            "project.network",
            msg(
                "{path}: the folder is on a network share ({share}), where the file could be "
                "damaged while it is written.",
                path=path,
                share=share,
            ),
            hint="Choose a folder on this computer; a copy can be put there later.",
        )
    contents = new_contents(history, shelf)
    notes = (AuditNote(Logged.CREATED, path.name),)
    write_project(path, contents, notes, context.workspace, context.workspace.new_path)
    return open_project(context, path, token, report)


def open_project(
    context: AppContext,
    path: Path,
    token: CancelToken,
    report: Report,
    *,
    read_only: bool = False,
) -> ProjectFile:
    """Open a project; ``read_only`` of what is returned says why it cannot be written, if so.

    Raises StorageError ``project.missing``, ``project.damaged``, ``project.unreadable``; InputError
    ``project.not-a-project``, ``project.newer``; Cancelled.
    """
    workspace = context.workspace
    way = OpeningHelpers(workspace, workspace.new_path, token, report, read_only)
    project = ProjectFile.open(path, way)
    if project.read_only is None:
        project.save(ProjectUpdate(notes=(AuditNote(Logged.OPENED, project.path.name),)))
    return project


def save_copy(
    context: AppContext,
    project: ProjectFile,
    path: Path,
    work: ProjectUpdate | None = None,
) -> Path:
    """Write everything that a project holds into another file, which is a project of its own.

    ``work`` is what has been done since, where it could not be handed over (a project that is open
    for reading only).
    The audit log goes along, and goes on with an entry that says so. Raises what
    :func:`~dpdesk.project.file.write_project` raises; InputError ``project.same-file``.
    """
    path = project_path(path.absolute())
    if path.exists() and path.samefile(project.path):
        raise InputError(
            "project.same-file",
            msg(
                "{path}: this is the project itself, expected another name for the copy.",
                path=path,
            ),
        )
    here = project.contents if work is None else project.contents.after(work)
    fresh = new_contents(here.history, here.shelf)
    kept = replace(
        here, identity=fresh.identity, written_by=fresh.written_by, audit=project.audit()
    )
    notes = (AuditNote(Logged.COPIED, path.name, {"from": str(project.path)}),)
    return write_project(path, kept, notes, context.workspace, context.workspace.new_path)


def rescue_project(
    context: AppContext, path: Path, out: Path, token: CancelToken, report: Report
) -> Rescued:
    """Save what can still be read of a damaged project as a new one; the old file stays as it is.

    Raises StorageError ``project.damaged`` when nothing can be read.
    """
    workspace = context.workspace
    contents, lost = rescue(path, OpeningHelpers(workspace, workspace.new_path, token, report))
    facts = {"from": str(path), "moments": lost.moments, "moments_of": lost.moments_of}
    notes = (AuditNote(Logged.RESCUED, out.name, facts),)
    target = project_path(out.absolute())
    return Rescued(write_project(target, contents, notes, workspace, workspace.new_path), lost)


def close_project(project: ProjectFile, *, discard: bool = False) -> None:
    """Save what is left and let the file go; with ``discard``, also when saving fails.

    Raises the StorageError for which saving failed; then the project stays open.
    """
    project.close(discard=discard)


def sources_read(work: WorkState, data: DataStore, token: CancelToken) -> tuple[SourceRecord, ...]:
    """What a project notes of the files that the work reads: the loaded data and its hierarchies.

    A file that cannot be read is left out; whoever needs it says so.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    found = []
    for path, kind in files_of(work).items():
        token.check()
        reading = data.reading.as_dict() if kind == DATA else {}
        try:
            digest = data.sha256 if kind == DATA else _digest(path)
            facts = path.stat()
        except OSError:
            continue
        found.append(
            SourceRecord(kind, path, digest, facts.st_size, facts.st_mtime_ns, now, reading)
        )
    return tuple(found)


def newest_sources(project: ProjectFile) -> dict[Path, SourceRecord]:
    """The last record of each file that a project has read."""
    return newest(project.contents.sources)


def facts_of(record: SourceRecord) -> tuple[object, ...]:
    """What two records of an unchanged file share."""
    return record.kind, record.sha256, record.size, record.modified, dict(record.reading)


def release_made(out: Path, method: str, title: str, moment: int) -> ReleaseRecord:
    """What a project notes of a release that was just written. Raises OSError."""
    manifest = out / "public" / "manifest.json"
    now = datetime.now(UTC).replace(microsecond=0)
    return ReleaseRecord(out.absolute(), _digest(manifest), now, method, title, moment)


def new_decisions(project: ProjectFile, events: Iterable[Event]) -> tuple[DecisionRecord, ...]:
    """What a project notes of the events of a review: those of its own releases, each once."""
    contents = project.contents
    own = {release.manifest_sha256 for release in contents.releases}
    known = {decision.id for decision in contents.decisions}
    return tuple(
        DecisionRecord(
            event.id,
            event.release,
            event.type.value,
            event.signer.person,
            event.time,
            event.as_json(),
        )
        for event in events
        if event.release in own and event.id not in known
    )


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
