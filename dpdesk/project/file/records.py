"""What a project keeps beside the work itself, as frozen values; and what one is told to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.errors import DpdeskError
from dpdesk.project.audit import AuditEntry, AuditNote
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file.locking import LockHolder
from dpdesk.project.history import HistorySnapshot

DATA, HIERARCHY = "data", "hierarchy"
_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class SourceRecord:
    """A file from which the work reads, as it was when it was read.

    ``kind`` is ``"data"`` or ``"hierarchy"``; ``size`` in bytes, ``modified`` in nanoseconds since
    1970; ``reading`` says how the file was read. Nothing of its content is kept.
    """

    kind: str
    path: Path
    sha256: str
    size: int
    modified: int
    seen: datetime
    reading: Mapping[str, object] = field(default_factory=lambda: _NOTHING, repr=False)


@dataclass(frozen=True)
class ReleaseRecord:
    """A release that was made from the project. ``moment`` is the state of the work it stands for.

    ``manifest_sha256`` is the hash of its public manifest, by which its reviews name it.
    """

    path: Path
    manifest_sha256: str
    made: datetime
    method: str
    title: str
    moment: int


@dataclass(frozen=True)
class DecisionRecord:
    """An event of a review that was seen: its id, the release it belongs to, and its content."""

    id: str
    release: str
    type: str
    who: str
    made: datetime
    content: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True)
class ProjectContents:
    """Everything that a project holds.

    ``identity`` is a random name that stays with the project wherever it is moved;
    ``written_by`` the version of the program that wrote it last.
    """

    identity: str
    written_by: str
    history: HistorySnapshot
    shelf: ShelfSnapshot = field(default_factory=ShelfSnapshot)
    sources: tuple[SourceRecord, ...] = ()
    releases: tuple[ReleaseRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    audit: tuple[AuditEntry, ...] = field(default=(), repr=False)

    def after(self, update: ProjectUpdate) -> ProjectContents:
        """The contents once an update is made; its notes are not among them."""
        return replace(
            self,
            history=self.history if update.history is None else update.history,
            shelf=self.shelf if update.shelf is None else update.shelf,
            sources=self.sources + update.sources,
            releases=self.releases + update.releases,
            decisions=self.decisions + update.decisions,
        )


@dataclass(frozen=True)
class ProjectUpdate:
    """What has changed: a whole new history and shelf (None: as before), and further records."""

    history: HistorySnapshot | None = None
    shelf: ShelfSnapshot | None = None
    sources: tuple[SourceRecord, ...] = ()
    releases: tuple[ReleaseRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    notes: tuple[AuditNote, ...] = ()

    def then(self, later: ProjectUpdate) -> ProjectUpdate:
        """Join this update with one that came after it."""
        return ProjectUpdate(
            self.history if later.history is None else later.history,
            self.shelf if later.shelf is None else later.shelf,
            self.sources + later.sources,
            self.releases + later.releases,
            self.decisions + later.decisions,
            self.notes + later.notes,
        )

    def pieces(self) -> Iterator[ProjectUpdate]:
        """The single changes, each of which can be stored without the others."""
        if self.history is not None:
            yield ProjectUpdate(history=self.history)
        if self.shelf is not None:
            yield ProjectUpdate(shelf=self.shelf)
        yield from (ProjectUpdate(sources=(one,)) for one in self.sources)
        yield from (ProjectUpdate(releases=(one,)) for one in self.releases)
        yield from (ProjectUpdate(decisions=(one,)) for one in self.decisions)
        yield from (ProjectUpdate(notes=(one,)) for one in self.notes)


@dataclass(frozen=True)
class ReadOnly:
    """Why a project can only be looked at.

    ``code`` is ``"locked"``, ``"network"``, ``"folder"``, ``"file"``, ``"disk-full"`` or
    ``"asked"``; ``sentence`` is for people; ``holder`` says who writes, when somebody does.
    """

    code: str
    sentence: str
    holder: LockHolder | None = None


@dataclass(frozen=True)
class SaveState:
    """How far autosave has come.

    ``waiting`` says that something is not on the disk yet; ``problem`` why the last attempt failed
    (None when it did not); ``saved`` when something was stored last.
    """

    waiting: bool = False
    problem: DpdeskError | None = None
    saved: datetime | None = None
