"""The graph of a review's events: what a file holds, and how copies are joined.

Parsing never raises: whatever a file holds becomes events that hold and faults that name the rest.
An event counts only when all its parents are there. Events are kept in one order: each after its
parents, otherwise by time and id.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dpdesk.core.messages import msg
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.project.review.events import Event, EventType, Fault, Submission, read_event
from dpdesk.project.review.texts import kind_of, time_text, too_deep

FORMAT = 1
MOST_EVENTS = 2_000
LARGEST_REVIEW = 32 * 1024 * 1024


@dataclass(frozen=True)
class ReviewGraph:
    """Events that hold, in order, and the faults of the file (or the copies) they came from.

    ``events`` begin with the first submission; no event is there without its parents. Build with
    :func:`parse_review`, :func:`graph_of` or :func:`joined`.
    """

    events: tuple[Event, ...] = ()
    faults: tuple[Fault, ...] = ()
    _bits: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)
    _before: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def by_id(self) -> Mapping[str, Event]:
        """The events by id."""
        return {event.id: event for event in self.events}

    @property
    def root(self) -> Event | None:
        """The first submission; None for an empty graph."""
        return self.events[0] if self.events else None

    def heads(self) -> tuple[str, ...]:
        """Ids of the events that no other event follows, ascending: the next event's parents."""
        followed = {parent for event in self.events for parent in event.parents}
        return tuple(sorted(event.id for event in self.events if event.id not in followed))

    def is_before(self, earlier: str, later: str) -> bool:
        """Whether one event is an ancestor of another (and is not it)."""
        return bool(self._before[later] & self._bits[earlier])

    def ancestors(self, event: str) -> tuple[Event, ...]:
        """All events before an event, in order."""
        mask = self._before[event]
        return tuple(item for item in self.events if mask & self._bits[item.id])

    def place(self, event: str) -> int:
        """The place of an event in the order, from 1."""
        return self._bits[event].bit_length()

    def latest(self) -> Event | None:
        """The event with the latest time; None for an empty graph."""
        return max(self.events, key=lambda event: event.time, default=None)

    def to_bytes(self) -> bytes:
        """The bytes of a review file with these events."""
        return canonical_json(
            {"format": FORMAT, "events": [event.as_json() for event in self.events]}
        )


def parse_review(data: bytes, roots: Collection[str] = ()) -> ReviewGraph:
    """Read the bytes of a review file; never raises. ``roots`` as for :func:`graph_of`."""
    if len(data) > LARGEST_REVIEW:
        return _broken(
            msg("has {n:,} bytes, expected at most {most:,}", n=len(data), most=LARGEST_REVIEW)
        )
    try:
        raw = parse_canonical(data)
    except (UnreadableJsonError, RecursionError, MemoryError) as error:
        return _broken(str(error) or "is nested too deeply")
    if too_deep(raw):
        return _broken("is nested too deeply")
    if set(raw) != {"format", "events"}:
        return _broken("is not a review: expected only the keys `format` and `events`")
    if type(raw["format"]) is not int or raw["format"] != FORMAT:
        found = kind_of(raw["format"])
        return _broken(
            msg(
                "`format` is {found}, expected {format}; a newer DPDesk may have made it",
                found=found,
                format=FORMAT,
            )
        )
    items = raw["events"]
    if not isinstance(items, list) or len(items) > MOST_EVENTS:
        return _broken(msg("`events` is not a list of at most {most:,} events", most=MOST_EVENTS))
    if not items:  # nothing is written before the first event
        return _broken("`events` is empty: its events were taken out, or no DPDesk wrote it")
    return _from_items(items, roots)


def graph_of(
    events: Iterable[Event], faults: Iterable[Fault] = (), roots: Collection[str] = ()
) -> ReviewGraph:
    """A graph of events, each of which holds; what has no place in it becomes a fault.

    Of two copies of an event the first is kept. ``roots`` are ids of first submissions that are
    known; of several others that with the earliest time is taken, and a fault says so.
    """
    unique: dict[str, Event] = {}
    for event in events:
        unique.setdefault(event.id, event)
    ordered, left = _ordered(unique)
    graph, found = _built(ordered, roots)
    found = [*faults, *(_orphan(event, unique) for event in left), *found]
    return replace(graph, faults=tuple(dict.fromkeys(found)))


def joined(graphs: Sequence[ReviewGraph], root: str | None = None) -> ReviewGraph:
    """All events of several copies of one review; their faults are left behind.

    ``root`` is the first submission, that of the first copy when None. A copy with another one is
    the copy of another review: its events stay out and a fault says so.
    """
    graphs = [graph for graph in graphs if graph.events]
    if not graphs:
        return ReviewGraph()
    root = root or graphs[0].events[0].id
    same = [graph for graph in graphs if graph.events[0].id == root]
    other = [graph for graph in graphs if graph.events[0].id != root]
    faults = [_other_review(graph.events[0]) for graph in other]
    return graph_of((event for graph in same for event in graph.events), faults, (root,))


def without(graph: ReviewGraph, unwanted: Iterable[str]) -> ReviewGraph:
    """The graph without some events, as far as nothing else that stays builds on them."""
    gone = set(unwanted)
    needed: set[str] = set()
    for event in reversed(graph.events):
        if event.id not in gone or event.id in needed:
            needed.update(event.parents)
    return graph_of(event for event in graph.events if event.id not in gone or event.id in needed)


def _from_items(items: list[object], roots: Collection[str]) -> ReviewGraph:
    events: list[Event] = []
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    for position, item in enumerate(items, start=1):
        read = read_event(item, position)
        if isinstance(read, Fault):
            faults.append(read)
        elif read.id in seen:
            reason = msg(
                "event {n} ({words}) already exists as event {other}",
                n=position,
                words=read.words,
                other=seen[read.id],
            )
            faults.append(Fault("event.twice", reason, read.id, position))
        else:
            seen[read.id] = position
            events.append(read)
    graph = graph_of(events, faults, roots)
    placed = {event.id for event in graph.events}
    written = [event.id for event in events if event.id in placed]
    if written != [event.id for event in graph.events]:
        reason = "the events are out of order: the file was changed outside DPDesk"
        return replace(graph, faults=(*graph.faults, Fault("review.order", reason)))
    return graph


def _ordered(events: Mapping[str, Event]) -> tuple[list[Event], list[Event]]:
    """The events in order, and those that cannot be placed because a parent is missing."""
    waiting = {event.id: len(event.parents) for event in events.values()}
    followers: dict[str, list[str]] = {}
    for event in events.values():
        for parent in event.parents:
            followers.setdefault(parent, []).append(event.id)
    ready = [(events[key].time, key) for key, count in waiting.items() if not count]
    heapq.heapify(ready)
    placed: list[Event] = []
    while ready:
        _, key = heapq.heappop(ready)
        placed.append(events[key])
        for follower in followers.get(key, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (events[follower].time, follower))
    return placed, [event for event in events.values() if waiting[event.id]]


def _built(ordered: list[Event], roots: Collection[str]) -> tuple[ReviewGraph, list[Fault]]:
    """The graph of what descends from the first submission and is well formed, and the rest."""
    starts = {event.id: event for event in ordered if not event.parents and not _root_fault(event)}
    first = next((event for key, event in starts.items() if key in roots), None)
    first = first or next(iter(starts.values()), None)
    kept: dict[str, Event] = {}
    bits: dict[str, int] = {}
    before: dict[str, int] = {}
    faults: list[Fault] = []
    for event in [first, *ordered] if first else ordered:
        if event.id in kept:
            continue
        if first is not None and event.id in starts and event.id != first.id:
            faults.append(_second_root(first, event))
            continue
        reason = _root_fault(event) or _form_fault(event, kept, bits, before)
        if reason:
            faults.append(
                Fault("event.form", msg("{file}: {note}", file=event.words, note=reason), event.id)
            )
            continue
        bits[event.id] = 1 << len(kept)
        before[event.id] = 0
        for parent in event.parents:
            before[event.id] |= before[parent] | bits[parent]
        kept[event.id] = event
    return ReviewGraph(tuple(kept.values()), (), bits, before), faults


def _root_fault(event: Event) -> str:
    """Why an event without parents is no first submission; empty for any other event."""
    if event.parents:
        return ""
    if not isinstance(event.payload, Submission):
        return "it follows no submission"
    return "" if event.payload.previous is None else "the previous submission is missing"


def _form_fault(
    event: Event, kept: Mapping[str, Event], bits: Mapping[str, int], before: Mapping[str, int]
) -> str:
    """Why an event has no place in the graph, whatever anybody trusts; empty when it has one."""
    if any(parent not in kept for parent in event.parents):
        return "it builds on an event that cannot be checked"
    masks = [before[parent] for parent in event.parents]
    if any(bits[parent] & mask for parent in event.parents for mask in masks):
        return "one of the events that it names as last comes before another"
    target = kept.get(event.submission or "")
    if event.submission is None:
        return ""
    if target is None or target.type is not EventType.SUBMIT:
        return "the submission that it names is missing"
    if not any(bits[target.id] & (before[p] | bits[p]) for p in event.parents):
        return "it does not follow the submission that it names"
    if target.release != event.release:
        return "it names a different release than its submission does"
    return ""


def _orphan(event: Event, events: Mapping[str, Event]) -> Fault:
    missing = [parent for parent in event.parents if parent not in events]
    if missing:
        reason = msg(
            "an event before it is missing ({missing}…): it was removed or changed",
            missing=missing[0][:16],
        )
        return Fault(
            "event.parent-missing", msg("{file}: {note}", file=event.words, note=reason), event.id
        )
    reason = "it builds on an event that cannot be checked"
    return Fault(
        "event.parent-unchecked", msg("{file}: {note}", file=event.words, note=reason), event.id
    )


def _second_root(first: Event, second: Event) -> Fault:
    reason = msg(
        "is a second first submission, in addition to that of {time_text}",
        time_text=time_text(first.time),
    )
    return Fault(
        "review.two-roots", msg("{words} {reason}", words=second.words, reason=reason), second.id
    )


def _other_review(root: Event) -> Fault:
    reason = msg(
        ("a copy belongs to a different review, which began with the {words}"), words=root.words
    )
    return Fault("review.other", reason, root.id)


def _broken(reason: str) -> ReviewGraph:
    return ReviewGraph((), (Fault("review.unreadable", reason),))
