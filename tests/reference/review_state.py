"""What a review comes to, by the rules of signatures.md as they stand: slow, plain, no classes.

Events are the plain objects of a review file. Everything is looked up anew each time; nothing is
shared with the program but the rules.
"""

from __future__ import annotations

import hashlib
import unicodedata
from datetime import datetime, timedelta
from typing import Any

from tests.helpers.forging import canonical

SLACK = timedelta(seconds=300)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def fold(name: str) -> str:
    text = unicodedata.normalize("NFKC", name.casefold()).casefold()
    return " ".join(text.split())


def review(
    events: list[dict[str, Any]],
    trust: dict[str, dict[str, Any]],
    now: datetime,
    seen: dict[str, datetime],
) -> dict[str, Any]:
    """``trust`` is {fingerprint: {person, revoked: None or {time, kind}}}.

    Gives ``verdicts`` {event: code, empty for one that counts}, ``rounds`` (a list of {submission,
    status, outcome, late, faults}), ``current`` (from 0) and ``faults`` (codes that spoil it).
    """
    body = {event["id"]: event["body"] for event in events}
    before = {key: ancestors(key, body) for key in body}
    order = in_order(body)
    verdicts: dict[str, str] = {}
    rounds: list[str] = []
    who = {key: person(body[key], trust) for key in body}
    for key in order:
        code = standing(key, body, before, trust, seen, now)
        if body[key]["type"] == "submit":
            if not rounds:
                rounds.append(key)
            else:
                code = code or bad_submission(key, body, before, verdicts, rounds, who)
                if not code:
                    rounds.append(key)
        else:
            code = code or bad_event(key, body, before, verdicts, rounds, who, now)
        verdicts[key] = code
    read = (body, before, verdicts, rounds, who, now)
    found = [describe(number, *read) for number in range(len(rounds))]
    released = [n for n, item in enumerate(found) if item["status"] in ("released", "superseded")]
    current = released[0] if released else len(rounds) - 1
    faults = list(found[current]["faults"])
    faults += ["submit.beside-release"] * (len(rounds) - 1 - current)
    return {"verdicts": verdicts, "rounds": found, "current": current, "faults": sorted(faults)}


def ancestors(key: str, body: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for parent in body[key]["parents"]:
        found |= {parent} | ancestors(parent, body)
    return found


def in_order(body: dict[str, Any]) -> list[str]:
    placed: list[str] = []
    while len(placed) < len(body):
        ready = [
            (body[key]["time"], key)
            for key in body
            if key not in placed and all(parent in placed for parent in body[key]["parents"])
        ]
        placed.append(min(ready)[1])
    return placed


def person(event: dict[str, Any], trust: dict[str, dict[str, Any]]) -> str:
    entry = trust.get(event["signer"]["fingerprint"])
    return fold(entry["person"] if entry else event["signer"]["person"])


def standing(
    key: str,
    body: dict[str, Any],
    before: dict[str, set[str]],
    trust: dict[str, dict[str, Any]],
    seen: dict[str, datetime],
    now: datetime,
) -> str:
    event = body[key]
    entry = trust.get(event["signer"]["fingerprint"])
    if entry is None:
        return "signer.unknown"
    if fold(entry["person"]) != fold(event["signer"]["person"]):
        return "signer.name"
    if entry["revoked"] is None:
        return ""
    end = entry["revoked"]["time"]
    if moment(event["time"]) >= end or end > now + SLACK:
        return "signer.revoked"
    if entry["revoked"]["kind"] == "retired" or event["type"] not in ("ballot", "reveal"):
        return ""
    if key in seen and seen[key] < end:
        return ""
    for other, later in body.items():
        witness = trust.get(later["signer"]["fingerprint"])
        if key in before[other] and moment(later["time"]) < end and witness:
            same = fold(witness["person"]) == fold(later["signer"]["person"])
            another = fold(witness["person"]) != fold(entry["person"])
            if not witness["revoked"] and same and another:
                return ""
    return "signer.compromised"


def latest_round(key: str, before: dict[str, set[str]], rounds: list[str]) -> str:
    known = [submission for submission in rounds if submission in before[key]]
    return known[-1]


def counted(
    kind: str, submission: str, body: dict[str, Any], verdicts: dict[str, str], among: set[str]
) -> list[str]:
    return [
        key
        for key in among
        if verdicts.get(key) == ""
        and body[key]["type"] == kind
        and body[key]["submission"] == submission
    ]


def bad_submission(
    key: str,
    body: dict[str, Any],
    before: dict[str, set[str]],
    verdicts: dict[str, str],
    rounds: list[str],
    who: dict[str, str],
) -> str:
    last = latest_round(key, before, rounds)
    if who[key] != who[rounds[0]]:
        return "submit.author"
    if body[key]["previous"] != last:
        return "submit.previous"
    if counted("release", last, body, verdicts, before[key]):
        return "submit.after-release"
    return ""


def bad_event(
    key: str,
    body: dict[str, Any],
    before: dict[str, set[str]],
    verdicts: dict[str, str],
    rounds: list[str],
    who: dict[str, str],
    now: datetime,
) -> str:
    event, about = body[key], body[key]["submission"]
    kind, author = event["type"], who[rounds[0]]
    if about not in rounds:
        return "event.no-round"
    if latest_round(key, before, rounds) != about:
        return "event.old-round"
    after_release = counted("release", about, body, verdicts, before[key])
    if after_release and kind not in ("supersede", "merge"):
        return "event.after-release"
    if counted("withdraw", about, body, verdicts, before[key]) and kind != "merge":
        return "event.after-withdrawal"
    if kind in ("start", "ballot") and who[key] == author:
        return "review.author"
    if kind == "withdraw" and who[key] != author:
        return "withdraw.author"
    if kind == "supersede" and not after_release:
        return "supersede.early"
    if kind == "supersede" and event["replacement"] == event["release"]:
        return "supersede.itself"
    if kind == "release":
        read = (body, before, verdicts, rounds, who, now)
        return "" if outcome(about, before[key], *read) == "approve" else "release.early"
    if kind == "reveal":
        return bad_reveal(key, body, before, verdicts, who)
    return ""


def bad_reveal(
    key: str,
    body: dict[str, Any],
    before: dict[str, set[str]],
    verdicts: dict[str, str],
    who: dict[str, str],
) -> str:
    event, about = body[key], body[key]["submission"]
    ballots = counted("ballot", about, body, verdicts, before[key])
    if event["ballot"] not in ballots or body[event["ballot"]]["signer"] != event["signer"]:
        return "reveal.ballot"
    if event["vote"]["reviewer"] != event["signer"]["fingerprint"]:
        return "reveal.vote"
    opened = b"dpdesk-ballot-v1\n" + bytes.fromhex(event["nonce"]) + canonical(event["vote"])
    if hashlib.sha256(opened).hexdigest() != body[event["ballot"]]["commitment"]:
        return "reveal.commitment"
    if not allowed_vote(event["vote"], about, body[about]):
        return "reveal.vote"
    if event["ballot"] not in event["closes"]:
        return "reveal.late"
    people = {who[ballot] for ballot in event["closes"] if ballot in ballots}
    if len(people) < body[about]["policy"]["reviewers"]:
        return "reveal.early"
    earlier = counted("reveal", about, body, verdicts, before[key])
    wanted = [body[other]["closes"] for other in earlier]
    if not earlier:
        everything = [
            k for k in before[key] if body[k]["type"] == "ballot" and body[k]["submission"] == about
        ]
        wanted = [sorted(everything)]
    return "" if event["closes"] in wanted else "reveal.closes"


def allowed_vote(vote: dict[str, Any], about: str, submission: dict[str, Any]) -> bool:
    checks, files = vote["checks"], vote["files"]
    status = {item: entry["status"] for item, entry in submission["checklist"].items()}
    said = {item: any(c.isalnum() for c in check["comment"]) for item, check in checks.items()}
    whole = [part["decision"] for part in [*checks.values(), *files.values()]]
    return (
        vote["submission"] == about
        and set(checks) == set(status)
        and {path: file["sha256"] for path, file in files.items()} == submission["files"]
        and all(
            said[item] or status[item] != ("fail" if check["decision"] == "accept" else "pass")
            for item, check in checks.items()
        )
        and all(
            file["decision"] == "accept" or any(c.isalnum() for c in file["comment"])
            for file in files.values()
        )
        and (
            set(whole) <= {"accept"}
            if vote["outcome"] == "approve"
            else any(c.isalnum() for c in vote["comment"])
        )
    )


def home(key: str, body: dict[str, Any], before: dict[str, set[str]], rounds: list[str]) -> str:
    """The round to which an event, and whatever is wrong with it, belongs."""
    if key in rounds:
        return key
    if body[key]["submission"] in rounds:
        return str(body[key]["submission"])
    return latest_round(key, before, rounds)


def round_faults(
    about: str,
    among: set[str],
    body: dict[str, Any],
    before: dict[str, set[str]],
    verdicts: dict[str, str],
    rounds: list[str],
    who: dict[str, str],
    now: datetime,
) -> list[str]:
    """Codes of all that is wrong in a round, as far as these events show it."""
    found = []
    for key in among:
        if key not in verdicts or home(key, body, before, rounds) != about:
            continue
        if verdicts[key]:
            found.append(verdicts[key])
        time = moment(body[key]["time"])
        if any(time < moment(body[p]["time"]) - SLACK for p in body[key]["parents"]):
            found.append("clock.back")
        if time > now + SLACK:
            found.append("clock.ahead")
    ballots = counted("ballot", about, body, verdicts, among)
    found += ["ballot.twice"] * (len(ballots) - len({who[key] for key in ballots}))
    found += ["ballot.copied"] * (len(ballots) - len({body[k]["commitment"] for k in ballots}))
    reveals = counted("reveal", about, body, verdicts, among)
    if len({tuple(body[key]["closes"]) for key in reveals}) > 1:
        found.append("reveal.conflict")
    ends = [bool(counted(kind, about, body, verdicts, among)) for kind in ("release", "withdraw")]
    found += ["end.conflict"] * all(ends)
    names = {body[k]["replacement"] for k in counted("supersede", about, body, verdicts, among)}
    if len(names) > 1:
        found.append("supersede.conflict")
    for earlier in rounds[: rounds.index(about)]:
        if earlier in among and body[earlier]["previous"] == body[about]["previous"]:
            found.append("submit.twice")
    return found


def outcome(
    about: str,
    among: set[str],
    body: dict[str, Any],
    before: dict[str, set[str]],
    verdicts: dict[str, str],
    rounds: list[str],
    who: dict[str, str],
    now: datetime,
) -> str:
    reveals = counted("reveal", about, body, verdicts, among)
    if len({tuple(body[key]["closes"]) for key in reveals}) != 1:
        return ""
    shown = {body[key]["ballot"]: body[key]["vote"]["outcome"] for key in reveals}
    if set(body[reveals[0]]["closes"]) - set(shown):
        return ""
    for worst in ("reject", "changes"):
        if worst in shown.values():
            return worst
    spoiled = round_faults(about, among, body, before, verdicts, rounds, who, now)
    return "" if spoiled else "approve"


def describe(number: int, *read: Any) -> dict[str, Any]:
    body, before, verdicts, rounds, _, _ = read
    about, everything = rounds[number], set(body)

    def have(kind: str) -> list[str]:
        return counted(kind, about, body, verdicts, everything)

    result = outcome(about, everything, *read)
    closes = sorted(body[key]["closes"] for key in have("reveal"))
    any_reveal = [
        key
        for key in body
        if body[key]["type"] == "reveal" and home(key, body, before, rounds) == about
    ]
    late = {
        key
        for key in have("ballot")
        if (closes and key not in closes[0]) or any(r in before[key] for r in any_reveal)
    }
    words = {"approve": "approved", "changes": "changes requested", "reject": "rejected"}
    status = "in review" if have("start") or have("ballot") else "submitted"
    status = words.get(result, status)
    status = "withdrawn" if have("withdraw") else status
    status = "released" if have("release") else status
    status = "superseded" if have("supersede") else status
    return {
        "submission": about,
        "status": status,
        "outcome": result,
        "late": late,
        "faults": round_faults(about, everything, *read),
    }
