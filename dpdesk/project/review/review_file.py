"""``internal/review.json``: read with suspicion, replaced whole, one writer at a time.

Nothing else in a release folder is touched. What was read is compared with the receipts of this
computer, and what is written is remembered there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dpdesk.core.errors import DpdeskError, InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, msg
from dpdesk.core.systems import sync_folder
from dpdesk.io.failures import storage_error
from dpdesk.io.release_folder import INTERNAL, REVIEW, SEAL
from dpdesk.io.safewrite import PartialKeeper, remove_partial, write_new
from dpdesk.project.review.binding import (
    ReleaseBinding,
    binding_faults,
    early_faults,
    manifest_code,
)
from dpdesk.project.review.events import Event, Fault
from dpdesk.project.review.graph import (
    LARGEST_REVIEW,
    ReviewGraph,
    graph_of,
    joined,
    parse_review,
    without,
)
from dpdesk.project.review.homefiles import locked, read_small, take_lock
from dpdesk.project.review.receipts import ReceiptBook, Receipts
from dpdesk.project.review.state import ReviewState, evaluate
from dpdesk.project.review.texts import shown
from dpdesk.project.review.trust import TrustList

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# Where a folder cannot be locked (network, no such folder yet), the lock of this computer stands.
_NO_LOCKS = (
    *(errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.EACCES, errno.EPERM),
    *(errno.ENOENT, errno.ENOTDIR),
)


@dataclass(frozen=True)
class LoadedReview:
    """A review as a folder (or a copied file) holds it, and what it comes to here.

    ``data`` are the bytes read, None when there is no file; ``damaged`` says that they do not give
    all of the state's events or hold others; ``books`` are the receipts of this review, and of
    others of the same release. ``unkept`` is a sentence where the review was written and its
    receipt could not be: what is signed is signed.
    """

    path: Path
    state: ReviewState
    data: bytes | None
    books: tuple[ReceiptBook, ...]
    damaged: bool = False
    unkept: str = ""


@dataclass(frozen=True)
class JoinedReview:
    """What joining copies gave: the state, what came in, and what had to be left out and why."""

    state: ReviewState
    added: tuple[Event, ...]
    left_out: tuple[Fault, ...]


@dataclass(frozen=True)
class _View:
    """From where a review is looked at."""

    trust: TrustList
    now: datetime
    latest: datetime | None


class ReviewEdit:
    """A review while its folder is locked; :meth:`add` writes."""

    def __init__(self, store: ReviewStore, loaded: LoadedReview, out: Path | None) -> None:
        self._store = store
        self._out = out
        self.loaded = loaded

    @property
    def state(self) -> ReviewState:
        """What the review comes to now: make events from this."""
        return self.loaded.state

    def take(self, joined_review: JoinedReview) -> None:
        """Go on from what joining gave; nothing is written before :meth:`add`."""
        damaged = self.loaded.damaged or bool(joined_review.left_out)
        self.loaded = replace(self.loaded, state=joined_review.state, damaged=damaged)

    def add(self, event: Event) -> LoadedReview:
        """Write the review with one more event, and remember it. Raises StorageError."""
        roots = _roots(self.state.graph) or [event.id]
        graph = graph_of([*self.state.graph.events, event], (), roots)
        if event.id not in graph.by_id:
            raise ValueError("the event was made for another state of the review")
        self.loaded = self._store._written(self.loaded, graph, self._out)
        return self.loaded


class ReviewStore:
    """Reads and writes the reviews of release folders, with the receipts below ``home``."""

    def __init__(self, home: Path, keeper: PartialKeeper) -> None:
        self.receipts = Receipts(home, keeper)
        self._home = home
        self._keeper = keeper

    def load(
        self,
        place: Path,
        trust: TrustList,
        now: datetime,
        latest: datetime | None = None,
        bases: Sequence[Path] = (),
        binding: ReleaseBinding | None = None,
    ) -> LoadedReview:
        """Read the review of a release folder, or of a copied review file.

        Whatever the file holds, its faults are in the state; a folder without the file is a draft.
        ``latest`` is the newest time that the audit log knows; ``bases`` are folders or files whose
        events come first (the round before, in its own folder). ``binding`` is what the folder
        holds now (:func:`binding.bind_release`), to compare with the submission; without it only
        the manifest is. Nothing is written. Raises StorageError, InputError ``release.missing``
        when there is no such folder or file, and RefusedError ``review.other`` when a base belongs
        to another review.
        """
        path, manifest = _review_path(place), ""
        if path != place:
            manifest = manifest_code(place, CancelToken())
        known = self.receipts.reviews_of(manifest)
        data, faults = _read(path)
        graph = parse_review(data, known) if data is not None else ReviewGraph()
        damaged = bool(graph.faults or faults)
        if bases:
            parts = [graph, *(self.load(base, trust, now).state.graph for base in bases)]
            _one_review(parts, bases)
            carried = tuple(fault for part in parts for fault in part.faults)
            graph = replace(joined(parts), faults=carried)
        view = _View(trust, now, latest)
        lost = self._lost(manifest, graph, known) if manifest and not bases else ()
        loaded = self._weighed(path, graph, data, known, (*faults, *lost), view)
        current = loaded.state.current
        next_round = bases and current is not None and current.submission.release != manifest
        found = () if next_round else _of_this_release(loaded.state, manifest, binding)
        state = replace(loaded.state, faults=(*loaded.state.faults, *found))
        return replace(loaded, state=state, damaged=damaged)

    def _lost(self, manifest: str, graph: ReviewGraph, known: Sequence[str]) -> tuple[Fault, ...]:
        """A fault where events that were seen here are gone, and their receipts with them."""
        books = [self.receipts.book(root) for root in dict.fromkeys([*_roots(graph), *known])]
        gone = self.receipts.lost(manifest, graph, books)
        if not gone:
            return ()
        words = counted(
            "{n} event that this computer has seen is missing, and so is its receipt: put "
            "`receipts` in the home folder back from a backup, or join a copy of the review that "
            "has it",
            "{n} events that this computer has seen are missing, and so are their receipts: put "
            "`receipts` in the home folder back from a backup, or join a copy of the review that "
            "has them",
            n=gone,
        )
        return (Fault("receipt.lost", words),)

    def remember(self, loaded: LoadedReview) -> None:
        """Note in the receipts what was seen; call it when a person has looked at a review."""
        if loaded.state.graph.root is not None:
            self.receipts.record(loaded.state)

    @contextmanager
    def editing(
        self,
        folder: Path,
        trust: TrustList,
        now: datetime,
        latest: datetime | None = None,
        bases: Sequence[Path] = (),
        out: Path | None = None,
        binding: ReleaseBinding | None = None,
    ) -> Iterator[ReviewEdit]:
        """Be the only one who changes a folder's review: load it, make events, add them.

        With ``out`` the review is written there instead, to be merged into the folder later; what a
        copy there holds already comes first. Raises as :meth:`load` does, and StorageError
        ``review.busy`` when somebody else keeps the folder.
        """
        with self._locked(folder):
            if out is not None and os.path.lexists(out):
                if not self.load(out, trust, now).state.graph.events:
                    raise InputError(
                        "out.exists",
                        msg(
                            "{out}: already exists and is not a review, expected a new file.",
                            out=out,
                        ),
                    )
                bases = (*bases, out)
            yield ReviewEdit(self, self.load(folder, trust, now, latest, bases, binding), out)

    def join(self, loaded: LoadedReview, copies: Sequence[Path]) -> JoinedReview:
        """Join a review with copies of it and with the receipts of this computer; writes nothing.

        What does not hold, and what untrusted keys signed, is left out and named. Raises
        RefusedError ``review.other`` when a copy belongs to another review, and as :meth:`load`.
        """
        state, others = loaded.state, []
        for place in copies:
            copy = self.load(place, state.trust, state.now)
            if not copy.state.graph.events:
                raise InputError(
                    "review.empty", msg("{file}: {note}", file=place, note=_why_empty(copy))
                )
            others.append(copy.state.graph)
        root = _known_root(loaded)
        kept = joined([graph for graph in (state.graph,) if root in (None, *_roots(graph))])
        known = [book.graph for book in loaded.books if book.root == root]
        _one_review([kept if kept.events else joined(known), *others], copies)
        graph = joined([kept, *known, *others])
        weighed = evaluate(graph, state.trust, state.now, _seen(loaded.books))
        clean = without(graph, weighed.untrusted)
        after = evaluate(clean, state.trust, state.now, _seen(loaded.books), (), state.latest)
        gone = (event for event in graph.events if event.id not in clean.by_id)
        lost = {event.id for event in gone}
        left = [fault for fault in (*weighed.faults, *weighed.past) if fault.event in lost]
        left += [fault for each in (state.graph, *others) for fault in each.faults]
        if state.graph.root and not kept.events:
            words = msg(
                "the file held a different review, which began with the {words}",
                words=state.graph.root.words,
            )
            left.append(Fault("review.other", words, state.graph.root.id))
        added = tuple(e for e in clean.events if e.id not in state.graph.by_id)
        return JoinedReview(after, added, tuple(dict.fromkeys(left)))

    def related(self, loaded: LoadedReview) -> tuple[Fault, ...]:
        """Other reviews that this computer knows of releases made by the same plan, as notes."""
        current = loaded.state.current
        if current is None:
            return ()
        own, notes = _roots(loaded.state.graph), []
        for root in self.receipts.reviews_by_plan(current.payload.plan_sha256):
            book = self.receipts.book(root)
            if root in own or book.graph.root is None:
                continue
            other = evaluate(book.graph, loaded.state.trust, loaded.state.now, book.seen)
            words = msg(
                "a release of the same plan has a review here: {status}", status=other.status.value
            )
            notes.append(
                Fault(
                    "review.same-plan",
                    msg("{words}, {words2}", words=words, words2=book.graph.root.words),
                    book.root,
                )
            )
        return tuple(notes)

    def _weighed(
        self,
        path: Path,
        graph: ReviewGraph,
        data: bytes | None,
        known: Sequence[str],
        faults: tuple[Fault, ...],
        view: _View,
    ) -> LoadedReview:
        """A graph compared with the receipts of this computer."""
        roots = dict.fromkeys([*_roots(graph), *known])
        books = tuple(self.receipts.book(root) for root in roots)
        found = [*faults]
        for book in books:
            found += book.faults(graph, view.trust, view.now)
            if book.problem:
                found.append(Fault("receipt.damaged", book.problem))
        times = [time for time in (view.latest, *(book.latest() for book in books)) if time]
        newest = max(times, default=None)
        state = evaluate(graph, view.trust, view.now, _seen(books), tuple(found), newest)
        return LoadedReview(path, state, data, books)

    def _written(self, loaded: LoadedReview, graph: ReviewGraph, out: Path | None) -> LoadedReview:
        data, target = graph.to_bytes(), out or loaded.path
        if len(data) > LARGEST_REVIEW:
            raise StorageError(
                "review.too-large",
                msg(
                    "{target}: the review would have {len:,} bytes, at most {largest_review:,} "
                    "can be read again.",
                    target=target,
                    len=len(data),
                    largest_review=LARGEST_REVIEW,
                ),
                hint="Submit the release again in a folder of its own.",
            )
        if loaded.data is not None and loaded.damaged and out is None:
            name = hashlib.sha256(loaded.data).hexdigest()[:16]
            self.receipts.keep_aside(loaded.data, name)
        _replace(target, data, self._keeper, out is not None)
        view = _View(loaded.state.trust, loaded.state.now, loaded.state.latest)
        again = self._weighed(target, graph, data, _roots(graph), (), view)
        try:
            self.remember(again)
        except StorageError as error:
            unkept = msg(
                "It is signed and written, but this computer could not note it: {line}",
                line=error.line,
            )
            return replace(again, unkept=unkept)
        return again

    @contextmanager
    def _locked(self, folder: Path) -> Iterator[None]:
        """Lock the folder itself, where its file system can, and its name on this computer."""
        real = os.path.realpath(folder)
        name = f"review-{hashlib.sha256(os.fsencode(real)).hexdigest()[:32]}"
        with locked(self._home / "locks", name), contextlib.ExitStack() as stack:
            try:
                handle = os.open(Path(real) / INTERNAL, os.O_RDONLY)
                stack.callback(os.close, handle)
                take_lock(handle, folder)
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise storage_error(error, folder, "lock") from error
            yield


def _review_path(place: Path) -> Path:
    if place.is_dir():
        if (place / INTERNAL).is_dir():
            return place / INTERNAL / REVIEW
        reason = msg(
            "has no folder `{internal}`, expected a whole release folder", internal=INTERNAL
        )
    elif place.exists():
        return place
    else:
        reason = "does not exist, expected a release folder or a copy of its review"
    raise InputError("release.missing", msg("{path}: {reason}.", path=place, reason=reason))


def _read(path: Path) -> tuple[bytes | None, list[Fault]]:
    """The bytes of a review file; None when there is none or it cannot be read."""
    if not os.path.lexists(path):
        return None, []
    try:
        return read_small(path, LARGEST_REVIEW), []
    except DpdeskError as error:
        reason = error.sentence.removeprefix(f"{path}: ").rstrip(".")
        return None, [Fault("review.unreadable", reason)]


def _roots(graph: ReviewGraph) -> list[str]:
    return [graph.root.id] if graph.root else []


def _seen(books: Sequence[ReceiptBook]) -> dict[str, datetime]:
    return {key: time for book in books for key, time in book.seen.items()}


def _why_empty(copy: LoadedReview) -> str:
    found = copy.state.faults
    return f"{found[0].reason}." if found else "there is no review in it."


def _of_this_release(
    state: ReviewState, manifest: str, binding: ReleaseBinding | None
) -> tuple[Fault, ...]:
    """How the folder differs from what was submitted; a fault of the round, not of the file."""
    if state.current is None or not manifest:
        return ()
    number = state.current.number
    if binding is not None:
        found = binding_faults(state.current.payload, binding)
        found += early_faults(state.current.submission, binding)
        return tuple(replace(fault, round=number) for fault in found)
    if manifest == state.current.submission.release:
        return ()
    reason = "is the review of a different release: this folder's manifest is not the one submitted"
    return (Fault("review.other-release", reason, "", None, number),)


def _known_root(loaded: LoadedReview) -> str | None:
    """The first submission of the review that this computer knows; None when it knows none.

    A file with another one, which was never seen here, has taken the place of the right one.
    """
    seen = [book.root for book in loaded.books if book.graph.events]
    own = _roots(loaded.state.graph)
    return next((root for root in (*own, *seen) if root in seen), None)


def _one_review(graphs: Sequence[ReviewGraph], copies: Sequence[Path]) -> None:
    roots = [(graph.root, place) for graph, place in zip(graphs[1:], copies, strict=True)]
    first = graphs[0].root or next((root for root, _ in roots), None)
    for root, place in roots:
        if root and first and root.id != first.id:
            raise RefusedError(
                "review.other",
                msg(
                    "{place}: is a copy of a different review: it began with the {words}, this "
                    "one with the {words_2}.",
                    place=place,
                    words=root.words,
                    words_2=first.words,
                ),
                hint="Merge only copies of the same release folder.",
            )


def _replace(target: Path, data: bytes, keeper: PartialKeeper, elsewhere: bool) -> None:
    """Put ``data`` in the place of ``target``, whole or not at all, with its permissions.

    What is being written lies beside the release folder where that can be, so that a program that
    is killed leaves nothing in the folder, which others verify; else beside the target.
    """
    try:
        if elsewhere or not _put_from_beside(target, data, keeper):
            _put(target, data, target, keeper)
    except (OSError, StorageError) as error:
        raise _unwritable(error, target, elsewhere) from error


def _put_from_beside(target: Path, data: bytes, keeper: PartialKeeper) -> bool:
    """Write beside the release folder and rename; False where nothing can be made there."""
    release = Path(os.path.realpath(target.parents[1]))
    if release.is_mount():
        return False
    try:
        _put(target, data, release, keeper)
    except (OSError, StorageError) as error:
        if not _caused(error, *_READ_ONLY, errno.EXDEV):
            raise
        return False
    return True


def _put(target: Path, data: bytes, place: Path, keeper: PartialKeeper) -> None:
    """Write beside ``place``, and rename; raises OSError or StorageError."""
    partial = keeper.partial_beside(place)
    try:
        fresh = partial / target.name
        write_new(fresh, data, mode=0o600)
        fresh.chmod(_mode(target))
        with keeper.placing(target):
            fresh.replace(target)
        with contextlib.suppress(OSError):  # it is there; only a power cut could undo it
            sync_folder(target.parent)
    finally:
        remove_partial(partial, keeper)


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, else those of the seal beside it."""
    for path in (target, target.with_name(SEAL)):
        with contextlib.suppress(OSError):
            found = path.lstat().st_mode
            if stat.S_ISREG(found):
                return stat.S_IMODE(found)
    return 0o600


def _caused(error: OSError | StorageError, *numbers: int) -> bool:
    """Whether the system gave one of these reasons."""
    cause = error if isinstance(error, OSError) else error.__cause__
    return isinstance(cause, OSError) and cause.errno in numbers


def _unwritable(error: OSError | StorageError, target: Path, elsewhere: bool) -> StorageError:
    if not elsewhere and _caused(error, *_READ_ONLY):
        return StorageError(
            "review.read-only",
            msg(
                "{shown}: the folder is read-only, so the review in it stays as it is.",
                shown=shown(str(target.parent), 200),
            ),
            hint="Write it elsewhere with `--out FILE`, and have the file merged.",
            details={"path": str(target)},
        )
    if isinstance(error, StorageError):
        return error
    return storage_error(error, target, "write")
