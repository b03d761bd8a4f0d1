"""What this computer has seen: events cannot be taken out of a review behind its back.

For each review there is a file below ``home/receipts``, named by the id of its first submission,
with every event that verified here and when it was first seen. Marks by release and by plan lead
to the reviews of the same release (there must be one alone) and of the same plan. Which events were
seen is noted next to the witness of ledgers as well, so that receipts that are gone are missed.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.core.messages import msg, unstopped
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.failures import storage_error
from dpdesk.project.review.events import Event, Fault, Submission, read_event
from dpdesk.project.review.graph import LARGEST_REVIEW, ReviewGraph, graph_of
from dpdesk.project.review.homefiles import locked, private_folder, read_small, write_private
from dpdesk.project.review.state import ReviewState
from dpdesk.project.review.texts import is_hash, parse_time, time_text
from dpdesk.project.review.trust import TrustList, standings
from dpdesk.project.roundings import Noted

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper

_MOST_NAMED = 20
NOTED = "reviews.txt"
_NAME = re.compile("[0-9a-f]{16}-[0-9a-f]{32}-[0-9a-f]{32}")
"""How an event is noted; a line that a kill cut short names none."""
_LARGEST_MARK = 1024 * 1024


@dataclass(frozen=True)
class ReceiptBook:
    """The receipts of one review: events, and when each was first seen; ``problem`` if damaged."""

    root: str
    graph: ReviewGraph = field(default_factory=ReviewGraph)
    seen: Mapping[str, datetime] = field(default_factory=dict)
    problem: str = ""

    def missing(self, graph: ReviewGraph, trust: TrustList, now: datetime) -> tuple[Event, ...]:
        """The events that were seen here, are signed by trusted keys, and are not in a graph."""
        standing = standings(self.graph, trust, self.seen, now)
        lost = (event for event in self.graph.events if event.id not in graph.by_id)
        return tuple(event for event in lost if not standing[event.id].code)

    def faults(self, graph: ReviewGraph, trust: TrustList, now: datetime) -> tuple[Fault, ...]:
        """A fault for each event that is missing in a graph."""
        lost = self.missing(graph, trust, now)
        reason = msg(
            "an event that this computer has seen is missing (removed, or this copy is old)"
        )
        found = [
            Fault("receipt.missing", msg("{file}: {note}", file=reason, note=event.words), event.id)
            for event in lost[:_MOST_NAMED]
        ]
        if len(lost) > _MOST_NAMED:
            found.append(
                Fault(
                    "receipt.missing",
                    msg(
                        "{reason}: {most_named} more",
                        reason=reason,
                        most_named=len(lost) - _MOST_NAMED,
                    ),
                )
            )
        return tuple(found)

    def latest(self) -> datetime | None:
        """The newest time here: this computer's clock has shown it, or an event has."""
        times = [*self.seen.values(), *(event.time for event in self.graph.events)]
        return max(times, default=None)


class Receipts:
    """All receipts of this computer; a ``keeper`` is told when some are written."""

    def __init__(self, home: Path, keeper: PartialKeeper | None = None) -> None:
        self.folder = home / "receipts"
        self._keeper = keeper

    def book(self, root: str) -> ReceiptBook:
        """The receipts of a review, empty when nothing of it was seen; never raises for damage."""
        path = self._path(root)
        if not path.exists():
            return ReceiptBook(root)
        try:
            return _read(root, read_small(path, 2 * LARGEST_REVIEW))
        except UnreadableJsonError as error:
            words = msg("{path}: the receipts are damaged: {error}", path=path, error=error)
        except DpdeskError as error:  # its sentence names the path
            words = msg("the receipts cannot be read: {fault}", fault=unstopped(error.sentence))
        return ReceiptBook(root, problem=words)

    def record(self, state: ReviewState) -> ReceiptBook:
        """Remember the events of a state that are signed by trusted keys.

        Damaged receipts are set aside under another name. Raises StorageError.
        """
        if state.graph.root is None:
            raise ValueError("there is nothing to remember")
        root = state.graph.root.id
        with locked(self.folder, "receipts"):
            book = self.book(root)
            if book.problem:
                self._set_aside(self._path(root))
            fresh = [event for event in state.graph.events if event.id not in state.untrusted]
            grown = graph_of([*book.graph.events, *fresh], (), (root,))
            now = max(state.now, state.latest or state.now)  # a clock that went back tells no time
            seen = {event.id: book.seen.get(event.id, now) for event in grown.events}
            if not grown.events:
                return book
            if grown.events != book.graph.events or book.problem:
                book = ReceiptBook(root, grown, seen)
                self._write(self._path(root), _bytes(book))
            self._mark(book)
            told = _noted()
            for event in grown.events:
                name = self._name(event.release, event.id)
                if name not in told:
                    hint = "Make the place of the witness writable, and look at the review again."
                    Noted(NOTED, name).tell(1, "receipts.not-noted", hint)
        return book

    def lost(self, release: str, graph: ReviewGraph, books: Sequence[ReceiptBook]) -> int:
        """How many events on a release were once seen here and are nowhere now: neither in its
        review nor in the receipts.
        """
        parts = (graph, *(book.graph for book in books))
        here = {self._name(release, event.id) for part in parts for event in part.events}
        own = self._name(release, "")
        return len({name for name in _noted() if name.startswith(own)} - here)

    def _name(self, release: str, event: str) -> str:
        """How an event is noted: home folders that share a witness are apart."""
        place = hashlib.sha256(os.fsencode(os.path.realpath(self.folder))).hexdigest()
        return f"{place[:16]}-{release[:32]}-{event[:32]}"

    def reviews_of(self, manifest_sha256: str) -> tuple[str, ...]:
        """Ids of the first submissions of the reviews in which a release was submitted."""
        return self._marked("releases", manifest_sha256)

    def reviews_by_plan(self, plan_sha256: str) -> tuple[str, ...]:
        """Ids of the first submissions of the reviews of releases that were made by a plan."""
        return self._marked("plans", plan_sha256)

    def keep_aside(self, data: bytes, name: str) -> Path:
        """Keep the bytes of a file that is about to be replaced with something left out."""
        folder = self.folder / "set-aside"
        private_folder(folder)
        path = folder / f"{name}-{secrets.token_hex(4)}.json"
        self._write(path, data)
        return path

    def _path(self, root: str) -> Path:
        if not is_hash(root):
            raise ValueError("a review is named by the id of its first submission")
        return self.folder / f"{root}.json"

    def _write(self, path: Path, data: bytes) -> None:
        write_private(path, data, self._keeper, counts=False)

    def _set_aside(self, path: Path) -> None:
        aside = path.with_name(f"{path.stem}.damaged-{secrets.token_hex(4)}")
        try:
            path.replace(aside)
        except OSError as error:
            raise storage_error(error, path, "rename") from error

    def _mark(self, book: ReceiptBook) -> None:
        for event in book.graph.events:
            if isinstance(event.payload, Submission):
                self._add_mark("releases", event.payload.manifest_sha256, book.root)
                self._add_mark("plans", event.payload.plan_sha256, book.root)

    def _add_mark(self, kind: str, code: str, root: str) -> None:
        known = self._marked(kind, code)
        if root not in known:
            folder = self.folder / kind
            private_folder(folder)
            reviews = sorted({*known, root})
            known_now = canonical_json({"format": 1, "reviews": reviews})
            self._write(folder / f"{code}.json", known_now)

    def _marked(self, kind: str, code: str) -> tuple[str, ...]:
        path = self.folder / kind / f"{code}.json"
        if not is_hash(code) or not path.exists():
            return ()
        try:
            raw = parse_canonical(read_small(path, _LARGEST_MARK)).get("reviews")
        except (UnreadableJsonError, DpdeskError):
            return ()
        items: Iterable[object] = raw if isinstance(raw, list) else ()
        return tuple(item for item in items if isinstance(item, str) and is_hash(item))


def _noted() -> set[str]:
    """What is noted outside the home folder of events that were seen."""
    return {name for name, _ in Noted(NOTED, "").all() if _NAME.fullmatch(name)}


def _bytes(book: ReceiptBook) -> bytes:
    data = canonical_json(
        {
            "format": 1,
            "root": book.root,
            "events": [event.as_json() for event in book.graph.events],
            "seen": {key: time_text(time) for key, time in book.seen.items()},
        }
    )
    if len(data) > 2 * LARGEST_REVIEW:
        raise StorageError("receipts.too-large", "The receipts of this review are too large.")
    return data


def _read(root: str, data: bytes) -> ReceiptBook:
    """Raises UnreadableJsonError."""
    raw = parse_canonical(data)
    items, seen = raw.get("events"), raw.get("seen")
    if set(raw) != {"format", "root", "events", "seen"} or raw["format"] != 1:
        raise UnreadableJsonError("they are not receipts of this version")
    if raw["root"] != root or not isinstance(items, list) or not isinstance(seen, dict):
        raise UnreadableJsonError("they belong to another review")
    events = [read_event(item, place) for place, item in enumerate(items, start=1)]
    graph = graph_of((event for event in events if isinstance(event, Event)), (), (root,))
    times = {key: parse_time(text) for key, text in seen.items()}
    moments = {key: time for key, time in times.items() if time is not None}
    if len(graph.events) != len(items) or graph.faults or set(moments) != set(graph.by_id):
        raise UnreadableJsonError("an event in them does not hold")
    return ReceiptBook(root, graph, moments)
