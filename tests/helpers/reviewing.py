"""Persons with keys, a release to review, and a quick way through a review, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from dpdesk.project.review import making
from dpdesk.project.review.ballots import proposal
from dpdesk.project.review.events import ChecklistItem, Event, Submission
from dpdesk.project.review.graph import ReviewGraph, graph_of
from dpdesk.project.review.keys import Signer, _own_card
from dpdesk.project.review.state import ReviewState, evaluate
from dpdesk.project.review.trust import TrustList
from dpdesk.project.review.votes import (
    CheckDecision,
    Decision,
    FileDecision,
    ItemStatus,
    Outcome,
    Vote,
)

NOON = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
POLICY = {"version": 1, "title": "Two reviewers", "reviewers": 2}
CHECKLIST = {
    "verified": ChecklistItem("Does it verify?", ItemStatus.PASS, "All claims were re-checked."),
    "smallest-class": ChecklistItem("Large enough?", ItemStatus.FAIL, "The smallest has 2 rows."),
    "uniques": ChecklistItem("Is anybody unique?", ItemStatus.REVIEW, "3 rows are."),
}
FILES = ("public/manifest.json", "public/microdata.csv", "internal/evidence.json")


def code(text: str) -> str:
    """A SHA-256 code that stands for something."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache
def signer(name: str, number: int = 0) -> Signer:
    """A person's key: always the same for a name and a number."""
    seed = hashlib.sha256(f"{name} {number}".encode()).digest()
    return Signer(_own_card(name, seed, NOON - timedelta(days=100)), seed)


def trusting(*signers: Signer) -> TrustList:
    """A list with these keys."""
    trust = TrustList()
    for each in signers:
        trust = trust.add(each.card, NOON - timedelta(days=90))
    return trust


AUTHOR, BEN, CLARA, DORA = (signer(name) for name in ("Anna", "Ben", "Clara", "Dora"))
STRANGER = signer("Mallory")
TRUST = trusting(AUTHOR, BEN, CLARA, DORA)


def submission(
    release: str = "release 1", previous: str | None = None, **other: object
) -> Submission:
    """A submission of a release with three checks and three files."""
    files = {path: code(f"{release} {path}") for path in FILES}
    plain = Submission(
        manifest_sha256=files["public/manifest.json"],
        seal_sha256=code(f"{release} seal"),
        plan_sha256=code("plan"),
        commitment=code(f"{release} commitment"),
        files=files,
        policy=POLICY,
        checklist=CHECKLIST,
        note="Please look at the uniques.",
        previous=previous,
    )
    return replace(plain, **other)  # type: ignore[arg-type]


def approval(event: Event, reviewer: str, comment: str = "Small, but of no harm here.") -> Vote:
    """A vote that accepts everything, with the comment that the failed check needs."""
    blank = proposal(event, reviewer)
    return replace(
        blank,
        outcome=Outcome.APPROVE,
        checks={item: CheckDecision(Decision.ACCEPT, comment) for item in blank.checks},
        files={
            path: FileDecision(file.sha256, Decision.ACCEPT) for path, file in blank.files.items()
        },
    )


def refusal(event: Event, reviewer: str, outcome: Outcome = Outcome.REJECT) -> Vote:
    """A vote that accepts the parts and refuses the whole, with the reason it needs."""
    return replace(approval(event, reviewer), outcome=outcome, comment="The table is too detailed.")


@dataclass
class Play:
    """A review that goes on; each step takes a minute. ``graph`` is what the folder holds."""

    graph: ReviewGraph = field(default_factory=ReviewGraph)
    trust: TrustList = TRUST
    now: datetime = NOON

    @property
    def state(self) -> ReviewState:
        """What it comes to now."""
        return evaluate(self.graph, self.trust, self.now)

    def add(self, event: Event) -> Event:
        """Put an event into the folder."""
        self.graph = graph_of([*self.graph.events, event])
        self.now += timedelta(minutes=1)
        return event

    def submit(self, release: str = "release 1", **other: object) -> Event:
        """The author submits."""
        current = self.state.current
        payload = submission(release, current.submission.id if current else None, **other)
        return self.add(making.submit(AUTHOR, self.state, payload))

    def start(self, who: Signer) -> Event:
        """A reviewer begins."""
        return self.add(making.start(who, self.state))

    def cast(self, who: Signer, outcome: Outcome = Outcome.APPROVE) -> Event:
        """A reviewer casts a vote."""
        assert self.state.current is not None
        about = self.state.current.submission
        approve = outcome is Outcome.APPROVE
        fingerprint = who.fingerprint
        vote = approval(about, fingerprint) if approve else refusal(about, fingerprint, outcome)
        return self.add(making.cast(who, self.state, vote))

    def reveal(self, who: Signer) -> Event:
        """A reviewer shows the vote."""
        return self.add(making.reveal(who, self.state))

    def merge(self, who: Signer) -> Event:
        """Somebody countersigns."""
        return self.add(making.merge(who, self.state))

    def release(self, who: Signer) -> Event:
        """Somebody releases."""
        return self.add(making.release(who, self.state))

    def withdraw(self) -> Event:
        """The author takes it back."""
        return self.add(making.withdraw(AUTHOR, self.state, "A column is wrong."))

    def supersede(self, who: Signer, replacement: str = "release 2") -> Event:
        """Somebody names the release that replaces it."""
        return self.add(
            making.supersede(who, self.state, code(f"{replacement} manifest"), "New data came.")
        )

    def copy(self) -> Play:
        """An independent copy of the folder."""
        return Play(self.graph, self.trust, self.now)

    def join(self, other: Play) -> None:
        """Take in what another copy holds."""
        self.graph = graph_of([*self.graph.events, *other.graph.events])
        self.now = max(self.now, other.now)

    def keep(self, events: Iterable[Event]) -> None:
        """Let the folder hold these events alone."""
        self.graph = graph_of(events)

    def vote(self, votes: Mapping[str, Outcome]) -> None:
        """These persons vote so and show it."""
        people = [signer(name) for name in votes]
        for who, outcome in zip(people, votes.values(), strict=True):
            self.cast(who, outcome)
        for who in people:
            self.reveal(who)


def released() -> Play:
    """A review with two rounds that ended well: eleven events of seven types."""
    play = Play()
    play.submit()
    play.start(BEN)
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.CHANGES})
    play.submit("release 2")
    play.vote({"Clara": Outcome.APPROVE, "Ben": Outcome.APPROVE})
    play.merge(DORA)
    play.release(AUTHOR)
    return play
