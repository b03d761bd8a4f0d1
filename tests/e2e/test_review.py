"""An author, two reviewers and an attacker, each at a computer of their own, by command line."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app import signing
from dpdesk.app.review import review_picture
from dpdesk.io.canonical import canonical_json
from dpdesk.io.safewrite import PartialKeeper
from dpdesk.project.review.checklist import Checklist
from dpdesk.project.review.events import ChecklistItem
from dpdesk.project.review.votes import ItemStatus
from tests.helpers.forging import manifest_of, seal_again
from tests.helpers.signers import AUTHOR, FIRST, OTHER, SECOND, Person, people, write_plan

pytestmark = pytest.mark.cheap_prints

Three = tuple[Person, Person, Person]


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Three:
    """A release that its author has submitted, and two reviewers with a copy each."""
    author, first, second = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_plan(author)
    author.does("run", "plan.toml", "--out", "release")
    said = author.signs("submit", "--note", "Please look at the illnesses.")
    assert said.code == 0, said.err
    for reviewer in (first, second):
        reviewer.takes(author)
    return author, first, second


@pytest.fixture(scope="module")
def approved(submitted: Three, tmp_path_factory: pytest.TempPathFactory) -> Three:
    """The same, voted on independently, merged, revealed and approved."""
    author, first, second = at_copies(submitted, tmp_path_factory.mktemp("approved"))
    for reviewer in (first, second):
        assert reviewer.signs("start").code == 0
        assert reviewer.votes().code == 0
    assert author.signs("merge", first.folder, second.review).code == 0
    for reviewer in (first, second):
        reviewer.takes(author)
        assert reviewer.signs("reveal").code == 0
    said = author.signs("merge", first.folder, second.folder)
    assert said.code == 0, said.err
    assert "Status: approved" in said.out
    for reviewer in (first, second):
        reviewer.takes(author)
    return author, first, second


@pytest.fixture
def new(submitted: Three, tmp_path: Path) -> Three:
    return at_copies(submitted, tmp_path / "desks")


@pytest.fixture
def done(approved: Three, tmp_path: Path) -> Three:
    return at_copies(approved, tmp_path / "desks")


def at_copies(three: Three, folder: Path) -> Three:
    author, first, second = (person.copied(folder / person.desk.name) for person in three)
    return author, first, second


# ---- the way it should go


def test_what_two_reviewers_approved_is_released_and_verifies_everywhere(done: Three) -> None:
    author, first, second = done
    said = author.signs("release", "--note", "Out on the web site.")
    assert said.code == 0, said.err
    for person in (author, first, second):
        if person is not author:
            person.takes(author)
        assert person.does("verify", "release").out.endswith("Verified.\n")
        status = person.does("review", "status", "release", "--json").json
        assert (status["status"], status["ok"]) == ("released", True)
        assert [vote["outcome"] for vote in votes(status)] == ["approve", "approve"]


def test_the_claims_are_recomputed_for_a_reviewer_who_has_the_microdata(done: Three) -> None:
    author, first, _ = done
    shutil.copy(author.desk / "people.csv", first.desk)
    said = first.does("review", "status", "release", "--source", "people.csv")
    assert "Status: approved" in said.out
    checked = first.run("review", "checklist", "release", "--source", "people.csv", "--json").json
    items = {item["id"]: item["status"] for item in entries(checked, "items")}
    assert "pass" in items.values()


def test_nobody_learns_a_vote_before_enough_votes_are_in(new: Three) -> None:
    author, first, second = new
    assert first.votes(comment="A word that no one may read yet").code == 0
    assert "no one may read yet" not in first.review.read_text("utf-8")
    assert "1 more of 2 votes" in first.signs("reveal").last
    assert second.votes("reject", "No").code == 0
    lengths = {len(ballot_of(person)["sealed"]) for person in (first, second)}
    assert len(lengths) == 1
    author.signs("merge", first.folder, second.folder)
    status = author.does("review", "status", "release", "--json").json
    assert [vote["outcome"] for vote in votes(status)] == [None, None]


def test_requested_changes_lead_to_another_round_in_the_new_folder(new: Three) -> None:
    author, first, second = new
    assert first.votes("changes", "Larger classes, please.").code == 0
    second.takes(first)
    assert second.votes().code == 0
    first.takes(second)
    assert first.signs("reveal").code == 0
    second.takes(first)
    said = second.signs("reveal")
    assert "Status: changes requested" in said.out
    author.takes(second)
    refused = author.signs("release")
    assert (refused.code, "changes requested" in refused.last) == (1, True)

    write_plan(author, k=10)
    shutil.move(author.folder, author.desk / "before")
    author.does("run", "plan.toml", "--out", "release")
    again = author.signs("submit", "--after", "before")
    assert again.code == 0, again.err
    assert "Round 2: 0 of 2 votes" in again.out
    first.takes(author)
    first.does("review", "sheet", "release", "--out", "again.toml")
    proposed = tomllib.loads((first.desk / "again.toml").read_text("utf-8"))
    carried = {one["comment"] for one in proposed["checks"].values()}
    assert carried == {"", "Larger classes, please."}  # kept where figures are the same
    files = {name: one["decision"] for name, one in proposed["files"].items()}
    assert files["public/manifest.json"] == ""  # other bytes: the decision is void
    assert files["public/microdata.csv"] == "change"  # the very same bytes: proposed again
    assert first.does("verify", "release").code == 0


def test_a_withdrawn_submission_can_neither_be_voted_on_nor_released(new: Three) -> None:
    author, first, _ = new
    assert author.signs("withdraw", "--reason", "The wrong extract.").code == 0
    first.takes(author)
    said = first.votes()
    assert (said.code, "withdrawn" in said.last) == (1, True)


@pytest.mark.parametrize("full", ["home", "out"])
def test_a_protocol_that_cannot_be_written_is_nowhere(
    full: str, done: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first, _ = done
    from dpdesk.io.failures import disk_full
    from dpdesk.project.review import protocol

    write = protocol.write_protocol

    def fail(
        signed: protocol.SignedProtocol, path: Path, keeper: PartialKeeper, *, new: bool = False
    ) -> None:
        if path.is_relative_to(first.home) is (full == "home"):
            raise disk_full(path)
        write(signed, path, keeper, new=new)

    kept = first.home / "protocols"
    before = set(kept.glob("*.json"))
    with monkeypatch.context() as patch:
        patch.setattr(protocol, "write_protocol", fail)
        said = first.run(
            *("review", "protocol", "lock", "release", "--out", "none.json"),
            *("--passphrase-file", first.secret),
        )
    assert (said.code, "disk is full" in said.last) == (2, True)
    assert not (first.desk / "none.json").exists()
    assert set(kept.glob("*.json")) == before


def test_a_locked_protocol_is_applied_and_any_departure_fails(done: Three) -> None:
    author, first, _ = done
    locked = ("review", "protocol", "lock", "release", "--out", "p.json")
    said = first.does(*locked, "--passphrase-file", first.secret)
    assert said.code == 0
    shutil.copy(first.desk / "p.json", author.desk)

    for folder, k, status in (("same", 5, "pass"), ("other", 10, "fail")):
        write_plan(author, k=k)
        author.does("run", "plan.toml", "--out", folder)
        sent = author.run(
            *("review", "submit", folder, "--protocol", "p.json"),
            *("--passphrase-file", author.secret),
        )
        assert sent.code == 0, sent.err
        copy = shutil.copytree(author.desk / folder, first.desk / folder)
        items = entries(first.run("review", "checklist", copy, "--json").json, "items")
        assert [item["status"] for item in items if item["id"] == "mode"] == [status]


def test_a_protocol_that_the_author_made_up_is_left_to_a_reviewer(
    done: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its signature is good, but nobody else says that such a release was ever approved."""
    from dpdesk.project.review import protocol

    author, first, _ = done
    by_file = ("--passphrase-file", author.secret)
    made = protocol.protocol_of

    def looser(*given: Any) -> protocol.Protocol:
        found = made(*given)
        return replace(found, protection={**found.protection, "k": 2})

    with monkeypatch.context() as patch:
        patch.setattr(protocol, "protocol_of", looser)
        author.does("review", "protocol", "lock", "release", "--out", "forged.json", *by_file)
    write_plan(author, k=2)
    author.does("run", "plan.toml", "--out", "loose")
    sent = author.run("review", "submit", "loose", "--protocol", "forged.json", *by_file)
    assert sent.code == 0, sent.err
    first.does("review", "protocol", "take", author.desk / "forged.json")
    copy = shutil.copytree(author.desk / "loose", first.desk / "loose")
    items = entries(first.run("review", "checklist", copy, "--json").json, "items")
    (found,) = [item for item in items if item["id"] == "mode"]
    assert found["status"] == "review"
    assert "the author of this release" in found["evidence"]


# ---- what people may not do


def test_the_author_cannot_review_and_nobody_votes_twice(new: Three) -> None:
    author, first, _ = new
    assert "Authors" in author.votes().last
    assert first.votes().code == 0
    again = first.votes("reject", "No")
    assert (again.code, "cannot be changed" in again.last) == (1, True)


def test_nothing_is_released_before_it_is_approved(new: Three) -> None:
    author, first, _ = new
    first.votes()
    author.takes(first)
    said = author.signs("release")
    assert (said.code, "1 more of 2 votes" in said.last) == (1, True)


def test_what_was_released_is_final_but_can_be_superseded(done: Three) -> None:
    author, _, _ = done
    assert author.signs("release").code == 0
    assert "final" in author.signs("withdraw", "--reason", "No").last
    assert "final" in author.signs("submit").last
    said = author.signs("supersede", "--by", "release", "--reason", "An error.")
    assert said.code != 0


def test_a_decision_must_be_made_and_explained(new: Three) -> None:
    _, first, _ = new
    first.does("review", "sheet", "release", "--out", "sheet.toml")
    empty = first.signs("vote", "--sheet", "sheet.toml")
    assert (empty.code, "is not decided" in empty.last, ", line " in empty.last) == (2, True, True)
    sheet = first.decides("changes", "")
    silent = first.signs("vote", "--sheet", sheet)
    assert silent.code == 1
    assert "comment" in silent.last


# ---- bad days


def test_a_wrong_passphrase_and_a_missing_key_change_nothing(new: Three) -> None:
    author, first, _ = new
    before = first.review.read_bytes()
    first.secret.write_text("not this one\n", "utf-8")
    wrong = first.signs("start")
    assert (wrong.code, "does not open the key" in wrong.last) == (2, True)
    shutil.rmtree(author.home / "keys")
    gone = author.signs("withdraw", "--reason", "Gone")
    assert (gone.code, "no key on this computer" in gone.last) == (2, True)
    assert first.review.read_bytes() == before
    assert author.review.read_bytes() == before


def test_a_file_of_a_passphrase_that_others_may_read_is_told(new: Three) -> None:
    _, first, _ = new
    first.secret.chmod(0o644)
    assert "other users of this computer may read the passphrase" in first.signs("start").err
    first.secret.write_text("\n", "utf-8")
    first.secret.chmod(0o600)
    said = first.signs("vote", "--sheet", "sheet.toml")
    assert said.last == f"{first.secret}: its first line is empty, expected the passphrase."
    first.secret.write_text(f"\ufeffa passphrase of {first.name}\r\n", "utf-8")
    said = first.signs("start")
    assert "You have already begun" in said.last
    assert "may read" not in said.err


def test_a_clock_that_has_gone_back_signs_nothing(
    new: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first, _ = new
    before, now = first.review.read_bytes(), signing.now()
    monkeypatch.setattr(signing, "now", lambda: now - timedelta(days=30))
    said = first.signs("start")
    assert (said.code, "clock" in said.last) == (1, True)
    assert first.review.read_bytes() == before


def test_in_a_read_only_folder_the_review_goes_elsewhere_and_is_merged(
    new: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    author, first, _ = new
    said = first.signs("start", "--out", "mine.json")
    assert said.code == 0, said.err
    assert "start" not in first.review.read_text("utf-8")
    merged = author.signs("merge", first.desk / "mine.json")
    assert "Status: in review" in merged.out


def test_an_event_that_was_removed_is_missed_and_put_back(new: Three) -> None:
    _, first, _ = new
    empty = first.review.read_bytes()
    assert first.votes().code == 0
    first.review.write_bytes(empty)
    said = first.run("verify", "release")
    assert said.code == 1
    assert "has seen is missing" in said.err
    assert first.signs("merge").code == 0
    assert first.run("verify", "release").code == 0


# ---- the attacker


def change_event(person: Person, type_: str, change: Callable[[dict[str, object]], None]) -> None:
    raw = json.loads(person.review.read_text("utf-8"))
    event = next(item for item in raw["events"] if item["body"]["type"] == type_)
    change(event)
    person.review.write_bytes(canonical_json(raw))


def drop_event(person: Person, type_: str) -> None:
    raw = json.loads(person.review.read_text("utf-8"))
    raw["events"] = [item for item in raw["events"] if item["body"]["type"] != type_]
    person.review.write_bytes(canonical_json(raw))


def votes(status: dict[str, object]) -> list[dict[str, object]]:
    return entries(status, "votes")


def entries(found: dict[str, object], key: str) -> list[dict[str, object]]:
    items = found[key]
    assert isinstance(items, list)
    return items


def ballot_of(person: Person) -> dict[str, str]:
    raw = json.loads(person.review.read_text("utf-8"))
    return next(e["body"] for e in raw["events"] if e["body"]["type"] == "ballot")


def edit_table(person: Person) -> None:
    table = person.folder / "public" / "microdata.csv"
    table.write_bytes(table.read_bytes().replace(b"flu", b"flv", 1))


def edit_and_reseal(person: Person) -> None:
    """A consistent release over another table: only the signatures know."""
    edit_table(person)
    seal_again(person.folder, manifest_of(person.folder))


def other_report(person: Person) -> None:
    report = person.folder / "internal" / "report.html"
    report.write_text("<html>All is well.</html>", "utf-8")
    seal_again(person.folder, manifest_of(person.folder))


TAMPERS: dict[str, Callable[[Person], None]] = {
    "table": edit_table,
    "table, sealed again": edit_and_reseal,
    "report, sealed again": other_report,
    "no report": lambda p: (p.folder / "internal" / "report.html").unlink(),
    "one file more": lambda p: (p.folder / "public" / "more.csv").write_text("a\n") and None,
    "vote": lambda p: change_event(p, "reveal", lambda e: body(e, "vote").update(comment="x")),
    "nonce": lambda p: change_event(p, "reveal", lambda e: body(e).update(nonce="0" * 64)),
    "person": lambda p: change_event(p, "reveal", lambda e: body(e, "signer").update(person="E")),
    "time": lambda p: change_event(
        p, "ballot", lambda e: body(e).update(time="2020-01-01T00:00:00Z")
    ),
    "parents": lambda p: change_event(p, "ballot", lambda e: body(e).update(parents=[])),
    "signature": lambda p: change_event(p, "submit", lambda e: e.update(signature="0" * 128)),
    "id": lambda p: change_event(p, "merge", lambda e: e.update(id="0" * 64)),
    "policy": lambda p: change_event(p, "submit", lambda e: body(e, "policy").update(reviewers=1)),
    "no votes": lambda p: drop_event(p, "reveal"),
    "no ballots": lambda p: drop_event(p, "ballot"),
    "no submission": lambda p: drop_event(p, "submit"),
    "no merge": lambda p: drop_event(p, "merge"),
    "no review": lambda p: p.review.unlink(),
    "no JSON": lambda p: p.review.write_text("{", "utf-8") and None,
    "another form": lambda p: p.review.write_bytes(p.review.read_bytes() + b"\n") and None,
}


def body(event: dict[str, object], part: str = "") -> dict[str, object]:
    found = event["body"]
    assert isinstance(found, dict)
    inner = found[part] if part else found
    assert isinstance(inner, dict)
    return inner


@pytest.mark.parametrize("what", sorted(TAMPERS))
def test_whatever_is_changed_in_the_folder_a_reviewer_sees_it(done: Three, what: str) -> None:
    _, first, _ = done
    TAMPERS[what](first)
    said = first.run("verify", "release")
    assert said.code == 1, said.out
    assert said.last.startswith("release is not verified")
    status = first.run("review", "status", "release")
    assert status.code == 1
    assert first.signs("release").code != 0


def test_a_stranger_s_signatures_count_for_nothing(new: Three, tmp_path: Path) -> None:
    author, first, _ = new
    (stranger,) = people(tmp_path / "outside", OTHER)
    stranger.takes(author)
    for person in (author, first):
        stranger.does("review", "trust", "add", person.desk / "card.json")
    assert stranger.votes().code == 0
    first.takes(stranger)
    said = first.run("verify", "release")
    assert said.code == 1
    assert "not in this computer's list of trusted keys" in said.err


def test_a_review_cannot_be_moved_to_another_release(done: Three) -> None:
    author, first, _ = done
    write_plan(author, k=10)
    author.does("run", "plan.toml", "--out", "other")
    shutil.copy(author.review, author.desk / "other" / "internal" / "review.json")
    shutil.rmtree(first.folder)
    shutil.copytree(author.desk / "other", first.folder)
    said = first.run("verify", "release")
    assert said.code == 1
    assert "is not the file submitted" in said.err


def test_what_an_author_wrote_into_the_checklist_is_not_read_as_found(
    submitted: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author, first, _ = at_copies(submitted, tmp_path / "desks")
    shutil.rmtree(author.folder)
    author.does("run", "plan.toml", "--out", "release")
    genuine = Checklist.submitted

    def forged(checklist: Checklist) -> dict[str, ChecklistItem]:
        return {
            key: replace(item, question="Is all well?", evidence="No one is alone: 0 of 20.")
            for key, item in genuine(checklist).items()
        }

    with monkeypatch.context() as patch:
        patch.setattr(Checklist, "submitted", forged)
        said = author.signs("submit")
        assert said.code == 0, said.err
    first.takes(author)
    first.does("review", "sheet", "release", "--out", "found.toml")
    lines = (first.desk / "found.toml").read_text("utf-8").splitlines()
    assert not [line for line in lines if "Is all well?" in line]
    told = [number for number, line in enumerate(lines) if "No one is alone" in line]
    assert told
    for number in told:
        assert lines[number].startswith("# As the author's program found it: ")
        assert lines[number - 1].startswith(("# pass: ", "# review: ", "# fail: ", "# not "))


@pytest.mark.parametrize("reason", ["", "The page is that of our web site."])
def test_a_status_that_an_author_wrote_gives_no_reason_for_what_was_not_compared(
    submitted: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """Where all checks are submitted as passed, nobody has to say why they accept one."""
    author, first, second = at_copies(submitted, tmp_path / "desks")
    shutil.rmtree(author.folder)
    author.does("run", "plan.toml", "--out", "release")
    page = author.folder / "public/about.html"
    page.write_text(page.read_text("utf-8").replace("</h1>", ", k = 1,000</h1>"), "utf-8")
    texts = {"language": "en", "sha256": "0" * 64}
    seal_again(author.folder, manifest_of(author.folder) | {"texts": texts})
    genuine = Checklist.submitted

    def passed(checklist: Checklist) -> dict[str, ChecklistItem]:
        items = genuine(checklist).items()
        return {key: replace(item, status=ItemStatus.PASS) for key, item in items}

    with monkeypatch.context() as patch:
        patch.setattr(Checklist, "submitted", passed)
        assert author.signs("submit").code == 0
    for one in (first, second):
        one.takes(author)
        one.decides("approve", reason)
        said = one.signs("vote", "--sheet", "sheet.toml")
        assert (said.code == 0) is bool(reason)
        assert reason or "verified fails on this computer and is accepted" in said.last
        with monkeypatch.context() as patch:  # a program that asks for nothing but the rules
            patch.setattr(review_picture, "failing_here", lambda _: ())
            assert reason or one.signs("vote", "--sheet", "sheet.toml").code == 0
    author.signs("merge", first.folder, second.folder)
    for one in (first, second):
        one.takes(author)
        assert one.signs("reveal").code == 0
    assert author.signs("merge", first.folder, second.folder).code == 0
    assert author.signs("release").code == 0
    said = author.run("export", "release", "--format", "csv", "--out", "out.csv")
    assert (said.code == 0) is bool(reason)
    assert reason or "could not be compared" in said.last


def test_a_check_that_an_author_left_out_stands_on_the_sheet(
    submitted: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    author, first, _ = at_copies(submitted, tmp_path / "desks")
    shutil.rmtree(author.folder)
    author.does("run", "plan.toml", "--out", "release")
    genuine = Checklist.submitted
    some = lambda checklist: dict(list(genuine(checklist).items())[:1])  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr(Checklist, "submitted", some)
        assert author.signs("submit").code == 0
    first.takes(author)
    first.does("review", "sheet", "release", "--out", "found.toml")
    text = (first.desk / "found.toml").read_text("utf-8")
    assert "# This computer asks more than the author's checklist holds." in text
    assert "# Is the source at hand? review: " in text or "# Do the assumptions" in text
    assert len(tomllib.loads(text)["checks"]) == 1


def test_a_policy_of_the_author_s_own_is_told_where_the_agency_has_another(
    submitted: Three, tmp_path: Path
) -> None:
    author, first, _ = at_copies(submitted, tmp_path / "desks")
    (author.desk / "mine.toml").write_text("version = 1\nreviewers = 1\n", "utf-8")
    shutil.rmtree(author.folder)
    author.does("run", "plan.toml", "--out", "release")
    assert author.signs("submit", "--policy", "mine.toml").code == 0
    first.takes(author)
    told = "under a policy other than the agency's: that policy requires 1 reviewer, the agency's 2"
    assert told not in " ".join(first.does("verify", "release").out.split())
    (first.home / "policy.toml").write_text("version = 1\nreviewers = 2\n", "utf-8")
    for command in (("verify",), ("review", "status")):
        assert told in " ".join(first.does(*command, "release").out.split())


def test_a_list_of_trusted_keys_that_another_program_changed_is_told(
    done: Three, tmp_path: Path
) -> None:
    _, first, _ = done
    (stranger,) = people(tmp_path / "elsewhere", SECOND)
    card = json.loads((stranger.desk / "card.json").read_text("utf-8"))
    told = "list of trusted keys on this computer was changed outside DPDesk"
    verify, listed = ("verify", "release"), ("review", "trust", "list")
    for command in (verify, listed):
        assert told not in " ".join(first.does(*command).out.split())
    place = first.home / "trust.json"
    trust = json.loads(place.read_text("utf-8"))
    for entry in trust["entries"]:
        if entry["person"] == SECOND:
            entry.update(key=card["key"], fingerprint=card["fingerprint"])
    place.write_bytes(canonical_json(trust))
    for command in (verify, ("review", "status", "release"), listed):
        assert told in " ".join(first.run(*command).out.split())
    (other,) = people(tmp_path / "more", OTHER)
    said = first.does("review", "trust", "add", other.desk / "card.json")
    assert told in " ".join(said.err.split())
    assert told not in " ".join(first.run(*listed).out.split())


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 1}', ""])
def test_a_damaged_list_of_trusted_keys_is_a_finding_of_verify(new: Three, content: str) -> None:
    """An exit of 2 says that there is no such folder, and nothing else."""
    author = new[0]
    (author.home / "trust.json").write_text(content, "utf-8")
    said = author.run("verify", "release", "--json")
    assert said.code == 1
    assert said.json["ok"] is False
    (failure,) = said.json["failures"]
    assert failure["path"] == "internal/review.json"
    assert "trust.json" in failure["reason"]


def test_a_protocol_of_an_unknown_key_says_so_when_it_is_taken(done: Three, tmp_path: Path) -> None:
    _, first, _ = done
    first.does(
        *("review", "protocol", "lock", "release", "--out", "p.json"),
        *("--passphrase-file", first.secret),
    )
    (stranger,) = people(tmp_path / "elsewhere", OTHER)
    place = first.desk / "p.json"
    assert "Note:" not in first.does("review", "protocol", "take", place).out
    said = stranger.does("review", "protocol", "take", place, "--json")
    assert said.json["trusted"] is False
    said = stranger.does("review", "protocol", "take", place)
    assert "may not have signed it: by a key that is not in the trust list" in said.out


def test_a_protocol_whose_signature_was_changed_does_not_replace_the_signed_copy(
    done: Three,
) -> None:
    """The id says nothing of the signature, so that both copies have the same one."""
    author, first, _ = done
    by_file = ("--passphrase-file", first.secret)
    first.does("review", "protocol", "lock", "release", "--out", "p.json", *by_file)
    place = first.desk / "p.json"
    (kept,) = (first.home / "protocols").glob("*.json")
    whole = json.loads(place.read_bytes())
    forged = author.desk / "forged.json"
    forged.write_bytes(canonical_json({**whole, "signature": "00" * 64}))
    said = first.run("review", "protocol", "take", forged)
    assert (said.code, said.last.startswith(f"{forged}: the signature")) == (2, True)
    said = author.run(
        *("review", "submit", "release", "--protocol", forged),
        *("--passphrase-file", author.secret),
    )
    assert (said.code, said.last.startswith(f"{forged}: the signature")) == (2, True)
    assert kept.read_bytes() == place.read_bytes()
    assert not (author.home / "protocols").exists()


def test_a_protocol_that_is_locked_twice_at_once_is_written_once(
    done: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpdesk.project.review import protocol

    author, first, _ = done
    locked = ("review", "protocol", "lock", "release", "--out", author.desk / "p.json")
    sign = protocol.sign_protocol

    def meanwhile(*given: Any) -> protocol.SignedProtocol:
        monkeypatch.setattr(protocol, "sign_protocol", sign)
        author.does(*locked, "--passphrase-file", author.secret)
        return sign(*given)

    monkeypatch.setattr(protocol, "sign_protocol", meanwhile)
    said = first.run(*locked, "--passphrase-file", first.secret)
    assert (said.code, "p.json: the file already exists" in said.last) == (2, True)
    (kept,) = (author.home / "protocols").glob("*.json")
    assert kept.read_bytes() == (author.desk / "p.json").read_bytes()
    assert not list((first.home / "protocols").glob("*.json"))


def test_a_submission_that_is_repeated_begins_no_round_but_one_that_differs_does(
    submitted: Three, tmp_path: Path
) -> None:
    author, first, _ = at_copies(submitted, tmp_path / "desks")
    before = author.review.read_bytes()
    said = author.signs("submit", "--note", "Please look at the illnesses.")
    assert (said.code, "submitted just so" in said.last) == (1, True)
    assert author.review.read_bytes() == before
    said = author.signs("submit", "--note", "Please look at the small towns.")
    assert "Round 2" in said.out
    first.takes(author)
    assert first.votes().code == 0
    author.takes(first)
    said = author.signs("submit", "--note", "Please look at the small towns.")
    assert "Round 3" in said.out


def test_no_protocol_is_locked_from_an_approved_release_that_something_spoils(done: Three) -> None:
    _, first, _ = done
    page = first.folder / "public" / "about.html"
    page.write_bytes(page.read_bytes() + b"\n")
    said = first.run(
        *("review", "protocol", "lock", "release", "--out", "p.json"),
        *("--passphrase-file", first.secret),
    )
    assert said.code == 1
    assert "not to be relied on: public/about.html is not the file submitted" in said.last
    assert not (first.desk / "p.json").exists()


def test_an_old_copy_of_the_review_does_not_undo_a_withdrawal(new: Three) -> None:
    author, _, _ = new
    old = author.review.read_bytes()
    assert author.signs("withdraw", "--reason", "The wrong extract.").code == 0
    author.review.write_bytes(old)
    assert author.run("verify", "release").code == 1


# ---- the audit log


def test_looking_at_a_review_and_locking_a_protocol_are_entered_in_the_audit_log(
    done: Three,
) -> None:
    author, *_ = done
    before = entered(author)
    author.does("review", "status", "release")
    author.does("review", "checklist", "release")
    author.does("review", "sheet", "release", "--out", "sheet.toml")
    assert entered(author) == [*before, *["viewed"] * 3]
    key = ("--passphrase-file", author.secret)
    author.does("review", "protocol", "lock", "release", *key, "--out", "protocol.json")
    assert entered(author)[len(before) + 3 :] == ["decided"]


def entered(person: Person) -> list[str]:
    log = person.desk / "entered.json"
    log.unlink(missing_ok=True)
    person.does("review", "audit", "--out", log)
    found = json.loads(log.read_text("utf-8"))
    items = found if isinstance(found, list) else found["entries"]
    log.unlink()
    actions = [str(item["action"]) for item in items]
    return [action for action in actions if action != "exported"]


def test_what_was_decided_stands_in_the_audit_log_and_its_breaks_are_found(done: Three) -> None:
    author, first, _ = done
    said = first.does("review", "audit")
    assert "decided" in said.out
    assert first.does("review", "audit", "--out", "log.csv").code == 0
    lines = (first.desk / "log.csv").read_text("utf-8").splitlines()
    assert sum(",decided," in line for line in lines) == 3  # start, ballot, reveal
    assert author.does("review", "audit", "--json").json["ok"] is True

    log = author.home / "audit.sqlite"
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("DROP TRIGGER audit_no_change")
        connection.execute("UPDATE audit SET who = 'someone else' WHERE n = 1")
        connection.commit()
    broken = author.run("review", "audit")
    assert (broken.code, "broken at entry 1" in broken.last) == (1, True)

    log.unlink()
    author.does("verify", "release")
    begun_anew = author.run("review", "audit")
    assert (begun_anew.code, "missing" in begun_anew.last) == (1, True)
