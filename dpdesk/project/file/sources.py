"""Finding a project's files again: where they were, beside a moved project, or by their content.

A file counts as unchanged when its size and its time are those that were noted, or else when its
SHA-256 is. A file that is looked for is known by its size first and then by its SHA-256, so that a
folder full of large files is not read for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.plan import HierarchyFile
from dpdesk.io.safewrite import hash_file
from dpdesk.project.candidates import Candidate
from dpdesk.project.file.loading import Loaded
from dpdesk.project.file.locking import inside
from dpdesk.project.file.records import ProjectContents, SourceRecord
from dpdesk.project.history import Moment
from dpdesk.project.work import WorkState

_STEP = "Look for the files"
_MOST_LOOKED_AT, _DEEPEST = 2_000, 3


class SourceStatus(Enum):
    """What has become of a file since the project noted it."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True)
class FoundSource:
    """A file that the project read. ``path`` is where it is now; None when it was not found."""

    record: SourceRecord
    fate: SourceStatus
    path: Path | None

    @property
    def sentence(self) -> str:
        """What to know about it; empty when there is nothing."""
        name = self.record.path.name
        seen = f"{self.record.seen.astimezone():%Y-%m-%d %H:%M}"
        if self.fate is SourceStatus.MOVED:
            return msg(
                "{name} was found in {path}.", name=name, path=self.path.parent if self.path else ""
            )
        if self.fate is SourceStatus.CHANGED:
            return msg("{name} has changed since it was read on {seen}.", name=name, seen=seen)
        if self.fate is SourceStatus.MISSING:
            return msg("{path} is not there any more.", path=self.record.path)
        return ""


def newest(records: Iterable[SourceRecord]) -> dict[Path, SourceRecord]:
    """The last record of each file: a file may have been as it was before once more."""
    found: dict[Path, SourceRecord] = {}
    for record in records:
        known = found.get(record.path)
        if known is None or record.seen >= known.seen:
            found[record.path] = record
    return found


def find_sources(
    loaded: Loaded, folder: Path, token: CancelToken, report: Report
) -> tuple[FoundSource, ...]:
    """Where the files of a project that now lies in ``folder`` are, and whether they changed.

    Raises Cancelled.
    """
    records = newest(loaded.contents.sources)
    found: list[FoundSource] = []
    beside = _Beside(folder, token)
    for number, record in enumerate(records.values()):
        report(StepProgress(_STEP, number, len(records), "files"))
        near = inside(folder, loaded.bases.get(str(record.path)))
        found.append(_find(record, near, beside, token))
    return tuple(found)


def _find(
    record: SourceRecord, near: Path | None, beside: _Beside, token: CancelToken
) -> FoundSource:
    places = [record.path] if near is None else list(dict.fromkeys((near, record.path)))
    for place in places:
        if _is_same(record, place, token):
            fate = SourceStatus.UNCHANGED if place == record.path else SourceStatus.MOVED
            return FoundSource(record, fate, place)
    other = beside.find(record)
    if other is not None:
        return FoundSource(record, SourceStatus.MOVED, other)
    there = next((place for place in places if place.is_file()), None)
    if there is None:
        return FoundSource(record, SourceStatus.MISSING, None)
    return FoundSource(record, SourceStatus.CHANGED, there)


def _is_same(record: SourceRecord, path: Path, token: CancelToken) -> bool:
    try:
        facts = path.stat()
        if facts.st_size != record.size or not path.is_file():
            return False
        if facts.st_mtime_ns == record.modified:
            return True
        return hash_file(path.resolve(), token)[0] == record.sha256
    except OSError:
        return False


class _Beside:
    """The files in and below the project's folder, by size; listed once, when first asked."""

    def __init__(self, folder: Path, token: CancelToken) -> None:
        self._folder, self._token = folder, token
        self._sizes: dict[int, list[Path]] | None = None

    def find(self, record: SourceRecord) -> Path | None:
        """The file with the noted content; one of the same name rather than another."""
        if self._sizes is None:
            self._sizes = self._listed()
        alike = self._sizes.get(record.size, [])
        for path in sorted(alike, key=lambda path: (path.name != record.path.name, str(path))):
            if _is_same(record, path, self._token):
                return path
        return None

    def _listed(self) -> dict[int, list[Path]]:
        sizes: dict[int, list[Path]] = {}
        looked = 0
        for place, folders, names in os.walk(self._folder):
            self._token.check()
            depth = len(Path(place).relative_to(self._folder).parts)
            folders[:] = [] if depth >= _DEEPEST else sorted(folders)
            for name in sorted(names):
                looked += 1
                if looked > _MOST_LOOKED_AT:
                    return sizes
                path = Path(place, name)
                try:
                    sizes.setdefault(path.stat().st_size, []).append(path)
                except OSError:
                    continue
        return sizes


def relocated(loaded: Loaded, folder: Path, found: Iterable[FoundSource]) -> ProjectContents:
    """The contents with paths to where the files are now; states that need none stay the same.

    ``folder`` is the project's folder now.
    """
    moved = {
        str(one.record.path): one.path
        for one in found
        if one.path is not None and one.path != one.record.path
    }
    contents = loaded.contents
    if not moved and folder == loaded.folder:
        return contents
    place = _Relocation(moved, folder, loaded.bases)
    history = contents.history
    moments = tuple(place.moment(moment) for moment in history.moments)
    candidates = tuple(place.candidate(one) for one in contents.shelf.candidates)
    return replace(
        contents,
        history=replace(history, moments=moments),
        shelf=replace(contents.shelf, candidates=candidates),
        sources=tuple(
            replace(one, path=moved.get(str(one.path)) or one.path) for one in contents.sources
        ),
        releases=tuple(replace(one, path=place.release(one.path)) for one in contents.releases),
    )


class _Relocation:
    def __init__(
        self, moved: Mapping[str, Path], folder: Path, bases: Mapping[str, str | None]
    ) -> None:
        self._moved, self._folder, self._bases = moved, folder, bases

    def moment(self, moment: Moment) -> Moment:
        """The same moment object when nothing of it has moved."""
        state = self.state(moment.state)
        return moment if state is moment.state else replace(moment, state=state)

    def candidate(self, candidate: Candidate) -> Candidate:
        """The same candidate object when nothing of it has moved."""
        work = self.state(candidate.work)
        return candidate if work is candidate.work else replace(candidate, work=work)

    def release(self, path: Path) -> Path:
        """A release folder that came along with the project, else where it was."""
        near = inside(self._folder, self._bases.get(str(path)))
        return near if near is not None and near.is_dir() and not path.is_dir() else path

    def state(self, state: WorkState) -> WorkState:
        """The state with its paths as they are now."""
        near = inside(self._folder, self._bases.get(str(state.base)))
        files = _files(state)
        if not files:
            gone = near is not None and near.is_dir() and not state.base.is_dir()
            return replace(state, base=near) if gone and near is not None else state
        where = {path: self._now(state.base, path, near) for path in files}
        if all(where[path] == _joined(state.base, path) for path in files):
            return state
        if near is not None and all(where[path] == _joined(near, path) for path in files):
            return replace(state, base=near)
        base = near if near is not None and near.is_dir() else state.base
        return _with_paths(state, base, lambda path: _shortest(where[path], base))

    def _now(self, base: Path, path: str, near: Path | None) -> Path:
        old = _joined(base, path)
        known = self._moved.get(str(old))
        if known is not None:
            return known
        # A file that was never read has no record: it came along, or is where it was.
        if near is not None and not old.exists() and _joined(near, path).exists():
            return _joined(near, path)
        return old


def _joined(base: Path, path: str) -> Path:
    return Path(os.path.normpath(base / path))


def _shortest(path: Path, base: Path) -> str:
    try:
        return Path(os.path.relpath(path, base)).as_posix()
    except ValueError:  # another drive
        return str(path)


def _files(state: WorkState) -> tuple[str, ...]:
    """The paths that a state names, as it writes them."""
    source = state.source
    named = [] if source is None or source.is_url else [source.path]
    named += [] if source is None else [one for one in (source.metadata, source.catalog) if one]
    named += [one.path for one in state.hierarchies.values() if isinstance(one, HierarchyFile)]
    return tuple(dict.fromkeys(named))


def files_of(state: WorkState) -> dict[Path, str]:
    """The files that a state reads, whole paths, with their kind."""
    hierarchies = {one.path for one in state.hierarchies.values() if isinstance(one, HierarchyFile)}
    return {
        _joined(state.base, path): "hierarchy" if path in hierarchies else "data"
        for path in _files(state)
    }


def _with_paths(state: WorkState, base: Path, path: Callable[[str], str]) -> WorkState:
    return replace(
        state,
        base=base,
        source=state.source and state.source.with_paths(path),
        hierarchies=MappingProxyType(
            {
                name: HierarchyFile(path(one.path)) if isinstance(one, HierarchyFile) else one
                for name, one in state.hierarchies.items()
            }
        ),
    )
