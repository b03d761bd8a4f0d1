"""Parts: the large pieces of what a project keeps, each stored once under its own hash.

The work of a hundred edits shares most of its hierarchies, and two candidates often share a chart's
points; a document names a part by its SHA-256, so that each is stored only once. A part is a
compressed block of bytes. Nothing here handles more than a few thousand values at a time while it
holds the interpreter, so that a window stays fluid while a large hierarchy is being stored.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import DpdeskError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.shapes import read_json
from dpdesk.project.audit import AuditEntry, AuditNote
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file.locking import LockHolder
from dpdesk.project.history import HistorySnapshot

LARGEST_PART = 1 << 30
TIMES = 100
"""How many times its stored size a part has at most, as it is written: no small file becomes a
large one in memory.
"""
_ALWAYS = 1 << 26  # bytes that all parts together may have in any case, as earlier versions wrote
_SLICE = 1_000
_PIECE = 1 << 18
_TYPES = ("<f8", "<i8", "<i4", "|b1")
_LEVEL = 6


class PartError(ValueError):
    """A part is missing or is not what it should be; the message says which, without the data."""


class PartWriter(Protocol):
    """Takes parts and gives the hash by which a document names them."""

    def add_array(self, array: NDArray[Any]) -> str:
        """Keep an array. TypeError for a type of numbers that is never stored."""
        ...

    def add_hierarchy(self, hierarchy: Hierarchy) -> str:
        """Keep a hierarchy by value."""
        ...

    def add_items(self, items: Sequence[object]) -> str:
        """Keep a long list of JSON values."""
        ...


class PartReader(Protocol):
    """Gives back what a :class:`PartWriter` took. Raises :class:`PartError`."""

    def array(self, name: str) -> NDArray[Any]:
        """The array under a hash."""
        ...

    def hierarchy(self, name: str) -> Hierarchy:
        """The hierarchy under a hash; the same object each time."""
        ...

    def items(self, name: str) -> list[object]:
        """The list under a hash."""
        ...


class PartSink:
    """A :class:`PartWriter` that gathers the parts that are not stored yet.

    ``stored`` tells whether a hash is stored already. :meth:`take` hands over what is new.
    """

    def __init__(self, stored: Callable[[str], bool]) -> None:
        self._stored = stored
        self._new: dict[str, bytes] = {}
        self._names: WeakKeyDictionary[Hierarchy, str] = WeakKeyDictionary()

    def take(self) -> Mapping[str, bytes]:
        """The new parts by hash; the sink forgets them."""
        new, self._new = self._new, {}
        return new

    def forget(self) -> None:
        """Forget what was added, after storing it has failed."""
        self._names.clear()
        self._new.clear()

    def know(self, hierarchy: Hierarchy, name: str) -> None:
        """A hierarchy that came from the store under this hash."""
        self._names[hierarchy] = name

    def add_array(self, array: NDArray[Any]) -> str:
        """See :class:`PartWriter`."""
        kind = next((t for t in _TYPES if np.dtype(t) == array.dtype), None)
        if kind is None:
            raise TypeError(f"an array of {array.dtype} is not a value that a project keeps")
        head = json.dumps({"array": kind, "shape": list(array.shape)})
        body = np.ascontiguousarray(array).astype(kind, copy=False)
        return self._add(iter((head.encode("ascii"), b"\n", body.tobytes())))

    def add_hierarchy(self, hierarchy: Hierarchy) -> str:
        """See :class:`PartWriter`."""
        name = self._names.get(hierarchy)
        if name is None:
            levels = [self.add_items(labels) for labels in hierarchy.labels]
            parents = [self.add_array(codes) for codes in hierarchy.parents]
            head = {"hierarchy": hierarchy.attribute, "labels": levels, "parents": parents}
            name = self._add(iter((json.dumps(head).encode("ascii"), b"\n")))
            self._names[hierarchy] = name
        return name

    def add_items(self, items: Sequence[object]) -> str:
        """See :class:`PartWriter`."""
        return self._add(_lines(items))

    def _add(self, pieces: Iterator[bytes]) -> str:
        digest, packer, packed, size = hashlib.sha256(), zlib.compressobj(_LEVEL), [], 0
        for piece in pieces:
            for start in range(0, len(piece), _PIECE):
                digest.update(piece[start : start + _PIECE])
                packed.append(packer.compress(piece[start : start + _PIECE]))
            size += len(piece)
        name = digest.hexdigest()
        if name not in self._new and not self._stored(name):
            stored = b"".join([*packed, packer.flush()])
            self._new[name] = stored if size <= TIMES * len(stored) else _loosely(stored)
        return name


def _loosely(stored: bytes) -> bytes:
    """A part that says the same over and over, packed to an eighth at most."""
    packer = zlib.compressobj(_LEVEL, strategy=zlib.Z_HUFFMAN_ONLY)
    return packer.compress(zlib.decompress(stored)) + packer.flush()


def _lines(items: Sequence[object]) -> Iterator[bytes]:
    """JSON values as lines of JSON arrays, few values a line."""
    yield json.dumps({"items": len(items)}).encode("ascii") + b"\n"
    for start in range(0, len(items), _SLICE):
        yield json.dumps(items[start : start + _SLICE]).encode("ascii") + b"\n"


class PartSource:
    """A :class:`PartReader` over ``load``, which gives the stored bytes of a hash, None without.

    Each hash is checked against the bytes that lie under it. What was read is kept, so that equal
    hierarchies are one object.
    """

    def __init__(self, load: Callable[[str], bytes | None]) -> None:
        self._load = load
        self._arrays: dict[str, NDArray[Any]] = {}
        self._texts: dict[str, tuple[str, ...]] = {}
        self.hierarchies: dict[str, Hierarchy] = {}
        self.used: set[str] = set()
        self._left = _ALWAYS
        self._refused: dict[str, PartError] = {}

    def array(self, name: str) -> NDArray[Any]:
        """See :class:`PartReader`."""
        if name not in self._arrays:
            head, body = self._parts(name)
            kind, shape = head.get("array"), head.get("shape")
            if kind not in _TYPES or not isinstance(shape, list):
                raise PartError(msg("the part {name} is not an array", name=name[:8]))
            try:
                # A copy, since kernels are compiled for arrays that may be written.
                array = np.frombuffer(body, dtype=np.dtype(str(kind))).reshape(shape).copy()
            except (ValueError, TypeError) as error:
                raise PartError(
                    msg("the part {name} is an array of another size", name=name[:8])
                ) from error
            self._arrays[name] = array
        self.used.add(name)
        return self._arrays[name]

    def hierarchy(self, name: str) -> Hierarchy:
        """See :class:`PartReader`."""
        if name not in self.hierarchies:
            head, _ = self._parts(name)
            attribute, levels, codes = (head.get(key) for key in ("hierarchy", "labels", "parents"))
            if (
                not isinstance(attribute, str)
                or not isinstance(levels, list)
                or not isinstance(codes, list)
            ):
                raise PartError(msg("the part {name} is not a hierarchy", name=name[:8]))
            labels = tuple(self._labels(str(level)) for level in levels)
            parents = tuple(self.array(str(code)) for code in codes)
            self.hierarchies[name] = _checked(Hierarchy(attribute, labels, parents), name)
        self.used.add(name)
        return self.hierarchies[name]

    def _labels(self, name: str) -> tuple[str, ...]:
        if name not in self._texts:
            found = self.items(name)
            texts = tuple(text for text in found if isinstance(text, str))
            if len(texts) != len(found):
                raise PartError(msg("the part {name} holds no texts", name=name[:8]))
            self._texts[name] = texts
        self.used.add(name)
        return self._texts[name]

    def items(self, name: str) -> list[object]:
        """See :class:`PartReader`."""
        head, body = self._parts(name)
        items: list[object] = []
        for line in body.splitlines():
            found = _json(line, name)
            if not isinstance(found, list):
                raise PartError(msg("the part {name} is not a list", name=name[:8]))
            items += found
        if head.get("items") != len(items):
            raise PartError(
                msg("the part {name} holds a different number of values", name=name[:8])
            )
        self.used.add(name)
        return items

    def _parts(self, name: str) -> tuple[dict[str, object], bytes]:
        stored = self._load(name)
        if stored is None:
            raise PartError(msg("the part {name} is missing", name=name[:8]))
        if name in self._refused:  # by other states too: it is not unpacked again for each
            raise PartError(*self._refused[name].args)
        most = min(LARGEST_PART, self._left + TIMES * len(stored))
        try:
            body = _unpacked(stored, name, most)
        except PartError as error:
            self._refused[name] = error
            raise
        self._left += TIMES * len(stored) - len(body)
        line, mark, rest = body.partition(b"\n")
        head = _json(line, name)
        if not isinstance(head, dict) or (not mark):
            raise PartError(msg("the part {name} has no head", name=name[:8]))
        return head, rest


def _unpacked(stored: bytes, name: str, most: int) -> bytes:
    """The bytes of a part, if there are no more than ``most``: no more are made."""
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(stored, most + 1)
    except zlib.error as error:
        raise PartError(msg("the part {name} is damaged", name=name[:8])) from error
    if len(body) > most:
        raise PartError(msg("the part {name} is too large", name=name[:8]))
    if hashlib.sha256(body).hexdigest() != name or not unpacker.eof:
        raise PartError(msg("the part {name} is damaged", name=name[:8]))
    return body


def _json(line: bytes, name: str) -> object:
    try:
        return read_json(line)
    except ValueError as error:
        raise PartError(msg("the part {name} is not text", name=name[:8])) from error


def _checked(found: Hierarchy, name: str) -> Hierarchy:
    """Levels and codes must fit each other, or later work would fail far from here."""
    fits = len(found.labels) == len(found.parents) + 1 and all(
        codes.dtype == np.int32
        and codes.shape == (len(found.labels[level]),)
        and (not codes.size or (codes.min() >= 0 and codes.max() < len(found.labels[level + 1])))
        for level, codes in enumerate(found.parents)
    )
    if not fits:
        raise PartError(
            msg("the part {name} is a hierarchy that does not fit together", name=name[:8])
        )
    return found


# What a project keeps beside the work itself, as frozen values; and what one is told to keep.


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
