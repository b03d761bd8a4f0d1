"""What must hold of a review whose signers were killed while their command was writing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.io.canonical import canonical_json
from tests.helpers.command_server import Commander, after
from tests.helpers.signers import AUTHOR, FIRST, SECOND, Person, people, write_plan

KINDS = frozenset({"submit", "vote", "merge", "reveal"})
"""Events that come in every review."""
LONGEST_WRITE, PARTIAL = 0.04, ".dpdesk-partial-*"
FILES = (
    *(
        "internal/evidence.json",
        "internal/report.html",
        "internal/report.pdf",
        "internal/review.json",
    ),
    *("internal/seal.json", "public/about.html", "public/manifest.json", "public/microdata.csv"),
)


@dataclass
class Tally:
    """How often the event was there after a kill, was not, and a write was cut short."""

    there: int = 0
    absent: int = 0
    cut_short: int = 0
    kinds: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Step:
    """A command that adds an event of a type to somebody's copy of the review."""

    who: Person
    action: str
    more: tuple[str | Path, ...] = ()

    @property
    def command(self) -> tuple[str | Path, ...]:
        """The arguments of the command."""
        return ("review", self.action, "release", *self.more, "--passphrase-file", self.who.secret)


def make_people(folder: Path) -> tuple[Person, Person, Person]:
    """An author with a release, and two reviewers."""
    author, first, second = people(folder, AUTHOR, FIRST, SECOND)
    write_plan(author)
    author.does("run", "plan.toml", "--out", "release")
    return author, first, second


def steps(author: Person, first: Person, second: Person) -> Iterator[Step]:
    """A whole review, each step when the one before has been done."""
    yield Step(author, "submit")
    for reviewer in (first, second):
        reviewer.takes(author)
        yield Step(reviewer, "vote", ("--sheet", reviewer.decides("approve", "Seen.")))
    yield Step(author, "merge", (first.folder, second.folder))
    for reviewer in (first, second):
        reviewer.takes(author)
        yield Step(reviewer, "reveal")
    yield Step(author, "merge", (first.folder, second.folder))
    yield Step(author, "release")


def kill_again_and_again(folder: Path, times: int, seed: int) -> Tally:
    """Kill signing commands so many times, and check the folder each time.

    A step is done in the end, so that reviews of all sizes and events of all types are met. On a
    busy machine all kills may fall before an event, or after it: more then, up to ten times as
    many.
    """
    moments, commander, tally = random.Random(seed), Commander(), Tally()
    made = make_people(folder / "agency")
    try:
        for number in range(10 * times):
            copies = (one.copied(folder / str(number) / one.desk.name) for one in made)
            author, first, second = copies
            for step in steps(author, first, second):
                _until_done(step, commander, moments, tally)
                kills = tally.there + tally.absent
                enough = tally.there and tally.absent and tally.kinds >= KINDS
                if kills >= times and (enough or kills >= 10 * times):
                    return tally
    finally:
        commander.close()
    return tally


def _until_done(step: Step, commander: Commander, moments: random.Random, tally: Tally) -> None:
    """Kill a command once or more, then let it come to its end."""
    done = False
    while not done:
        before = events_of(step.who.review)
        code, said = commander.run(step.who.desk, step.command, _moment(step.who, moments))
        tally.cut_short += any(step.who.desk.glob(PARTIAL))
        seen_elsewhere(step.who)
        found = check_whole(step.who)
        done = grown(before, found, step.action)
        assert done or code < 0, said  # what was told to be written is there
        tally.there += done
        tally.absent += not done
        tally.kinds.add(step.action)
        if not done and moments.random() < 0.5:
            code, said = commander.run(step.who.desk, step.command)
            assert code == 0, said
            done = grown(before, check_whole(step.who), step.action)
            assert done


def _moment(who: Person, moments: random.Random) -> Callable[[int], None]:
    """Any moment of the command, or one after it has begun to write."""
    log = who.home / "audit.sqlite-journal"
    kind = moments.randrange(3)
    if kind == 0:
        return after(moments.uniform(0, 0.8))
    if kind == 1:
        return after(moments.uniform(0, LONGEST_WRITE), log.exists)
    return after(moments.uniform(0, LONGEST_WRITE / 4), lambda: any(who.desk.glob(PARTIAL)))


def seen_elsewhere(who: Person) -> None:
    """On a computer that knows nothing of what was going on, the folder verifies as it is."""
    stranger = Person("Somebody", who.desk / "elsewhere")
    stranger.home.mkdir(parents=True, exist_ok=True)
    said = stranger.run("verify", who.folder)
    assert said.code == 0, said.err
    assert sorted(who.folder.glob("*/.*")) == []


def check_whole(who: Person) -> dict[str, str]:
    """The events of a folder, by id with their types, after its owner has started again."""
    said = who.run("verify", "release")
    assert said.code == 0, said.out + said.err
    found = events_of(who.review)
    status = who.does("review", "status", "release", "--json").json
    assert status["ok"] is True
    assert not any(who.desk.glob(PARTIAL))
    names = {path.relative_to(who.folder).as_posix() for path in who.folder.rglob("*.*")}
    expected = set(FILES) if found else set(FILES) - {"internal/review.json"}
    assert names == expected
    return found


def events_of(review: Path) -> dict[str, str]:
    """Types of the events by id, in order; the file must be whole, to the last byte."""
    if not review.exists():
        return {}
    data = review.read_bytes()
    raw = json.loads(data)
    assert data == canonical_json(raw)
    return {event["id"]: event["body"]["type"] for event in raw["events"]}


def grown(before: dict[str, str], found: dict[str, str], action: str) -> bool:
    """Whether the event of an action came; nothing else may have come, and nothing have gone."""
    assert set(before) <= set(found)
    fresh = [kind for key, kind in found.items() if key not in before]
    wanted = {"vote": "ballot"}.get(action, action)
    if action == "merge":
        assert not fresh or fresh[-1] == "merge"
    else:
        assert fresh in ([], [wanted])
    return bool(fresh)
