"""Decision sheets: a vote as a file that a reviewer fills in, with every question and its evidence.

Nothing is decided beforehand but what the same reviewer decided in an earlier round on the very
same bytes and figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.app.review.review_picture import look
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.project.review.events import ChecklistItem, Event, Submission
    from dpdesk.project.review.questions import Item
    from dpdesk.project.review.state import ReviewState
    from dpdesk.project.review.votes import Decision, Vote

_CODE = "sheet"
_DECISIONS, _OUTCOMES = ("accept", "change", "reject"), ("approve", "changes", "reject")
_HINT = 'Texts are written in quotes, such as decision = "accept".'
_TOP = """\
Decision sheet. Decide every check and every file: accept, change or reject.
A comment is needed where a check did not pass and is accepted, where it passed and is not
accepted, where a file is not accepted, and unless the whole is approved.
The outcome is approve, changes or reject; approving takes accepting everything."""

_MISSING = """\
This computer asks more than the author's checklist holds. What follows does not pass here; decide
it with the whole, and say so in its comment."""


def write_sheet(
    context: AppContext,
    folder: Path,
    key: str | None,
    out: Path,
    token: CancelToken,
    report: Report,
) -> Path:
    """Write a sheet for the current submission, to be filled by the holder of a key.

    It says what this computer finds of each check; what the author's program found, which the
    author may have written, stands below it where it is something else. Raises InputError
    ``sheet.exists`` when the file is there, ``review.none`` when nothing was submitted,
    StorageError.
    """
    from dpdesk.io.safewrite import write_text
    from dpdesk.project.review.making import proposed_vote

    if out.exists():
        raise InputError(
            "sheet.exists",
            msg("{out}: the file already exists.", out=out),
            hint="Name another, or remove it.",
        )
    card = signing.find_key(context, key)
    picture = look(context, folder, token, report)
    submission, _ = _current(picture.state, folder)
    vote = proposed_vote(picture.state, card)
    here = {item.id: item for item in picture.checked.checklist.items}
    write_text(out, _sheet_text(submission, vote, here), _CODE, context.workspace, new=True)
    return out


def read_sheet(path: Path, state: ReviewState, reviewer: str) -> Vote:
    """The vote that a filled sheet holds, for the current submission and this key.

    Raises InputError ``sheet.*`` naming the line where it is known: an unknown key, something
    undecided, another submission.
    """
    from dpdesk.io.planfile import parse_settings, read_settings_text
    from dpdesk.project.review.votes import (
        CheckDecision,
        FileDecision,
        Outcome,
        Vote,
    )

    submission, payload = _current(state, path)
    text = read_settings_text(path, _CODE)
    reader = _Reader(path, text, parse_settings(text, path, _CODE, _HINT))
    reader.only(reader.raw, (), ("submission", "outcome", "comment", "checks", "files"))
    if reader.raw.get("submission") != submission.id:
        raise reader.fault(
            ("submission",), "is that of another submission", "write a new sheet", "sheet.other"
        )
    checks = {item: CheckDecision(*reader.decision("checks", item)) for item in payload.checklist}
    files = {
        name: FileDecision(code, *reader.decision("files", name, code))
        for name, code in payload.files.items()
    }
    reader.nothing_else("checks", payload.checklist)
    reader.nothing_else("files", payload.files)
    outcome = Outcome(reader.choice(("outcome",), _OUTCOMES))
    return Vote(submission.id, reviewer, outcome, checks, files, reader.text(("comment",)))


def _current(state: ReviewState, where: Path) -> tuple[Event, Submission]:
    if state.current is None:
        raise InputError(
            "review.none", msg("{where}: nothing has been submitted for review yet.", where=where)
        )
    return state.current.submission, state.current.payload


def _sheet_text(submission: Event, vote: Vote, here: Mapping[str, Item]) -> str:
    import tomlkit

    from dpdesk.project.review.events import Submission

    payload = submission.payload
    if not isinstance(payload, Submission):
        raise TypeError("a sheet is for a submission")
    document = tomlkit.document()
    for line in _TOP.splitlines():
        document.add(tomlkit.comment(line))
    for line in _left_out(payload, here):
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document["submission"] = submission.id
    document["outcome"] = ""
    document["comment"] = ""
    checks: Any = tomlkit.table(is_super_table=True)
    for item, entry in payload.checklist.items():
        decided = vote.checks[item]
        checks[item] = _entry(_lines(entry, here.get(item)), {}, decided.decision, decided.comment)
    files: Any = tomlkit.table(is_super_table=True)
    for name, code in payload.files.items():
        choice = vote.files[name]
        files[name] = _entry((), {"sha256": code}, choice.decision, choice.comment)
    document["checks"], document["files"] = checks, files
    return tomlkit.dumps(document)


def _left_out(submitted: Submission, here: Mapping[str, Item]) -> list[str]:
    """The checks that do not pass here and that the author's checklist does not have."""
    left = [
        item
        for key, item in here.items()
        if key not in submitted.checklist and item.status.severity
    ]
    lines = [
        msg(
            "{question} {status}: {note}",
            question=i.question,
            status=i.status.value,
            note=i.evidence,
        )
        for i in left
    ]
    said = ["", *_MISSING.splitlines(), *lines] if lines else []
    return [" ".join(line.split()) for line in said]


def _lines(submitted: ChecklistItem, here: Item | None) -> tuple[str, ...]:
    """What a reviewer reads of a check: found on this computer, and otherwise by the author's."""

    def found(item: ChecklistItem | Item) -> str:
        return msg("{file}: {note}", file=item.status.value, note=item.evidence)

    author = msg("As the author's program found it: {found}", found=found(submitted))
    if here is None:
        return (submitted.question, "This computer does not know this check.", author)
    same = (submitted.question, found(submitted)) == (here.question, found(here))
    return (here.question, found(here), *(() if same else (author,)))


def _entry(
    lines: tuple[str, ...], facts: Mapping[str, str], decision: Decision, comment: str
) -> Any:
    import tomlkit

    from dpdesk.project.review.votes import Decision

    table: Any = tomlkit.table()
    for line in lines:
        table.add(tomlkit.comment(" ".join(line.split())))
    for key, value in facts.items():
        table[key] = value
    undecided = decision is Decision.CHANGE and not comment
    table["decision"] = "" if undecided else decision.value
    table["comment"] = comment
    return table


class _Reader:
    """The tables of a sheet; faults name the file and, where it is known, the line."""

    def __init__(self, path: Path, text: str, raw: Mapping[str, object]) -> None:
        self.raw = raw
        self._path = path
        self._text = text

    def only(
        self, table: Mapping[str, object], at: tuple[str, ...], known: tuple[str, ...]
    ) -> None:
        """Raise InputError for a key that is not known."""
        for key in table:
            if key not in known:
                words = msg("expected one of {join}", join=", ".join(known))
                raise self.fault((*at, key), "is unknown", words, "sheet.unknown-key")

    def decision(self, part: str, name: str, code: str = "") -> tuple[Any, str]:
        """The decision and the comment of an item or a file."""
        from dpdesk.project.review.votes import Decision

        tables = self.raw.get(part)
        entry = tables.get(name) if isinstance(tables, Mapping) else None
        at = (part, name)
        if not isinstance(entry, Mapping):
            raise self.fault(at, "is not in the sheet", "expected its decision", "sheet.missing")
        keys = ("decision", "comment", "sha256") if code else ("decision", "comment")
        self.only(entry, at, keys)
        if code and entry.get("sha256") != code:
            raise self.fault((*at, "sha256"), "is another file", "write a new sheet", "sheet.other")
        decision = Decision(self.choice((*at, "decision"), _DECISIONS))
        return decision, self.text((*at, "comment"))

    def nothing_else(self, part: str, known: Mapping[str, object]) -> None:
        """Raise InputError for an entry about what was not submitted."""
        tables = self.raw.get(part)
        for key in tables if isinstance(tables, Mapping) else ():
            if key not in known:
                raise self.fault((part, key), "was not submitted", "remove it", "sheet.unknown-key")

    def choice(self, at: tuple[str, ...], known: tuple[str, ...]) -> str:
        """A text that is one of a few."""
        found = self.text(at)
        if found in known:
            return found
        what = f"is `{found[:40]}`" if found else "is not decided"
        raise self.fault(
            at, what, msg("expected one of {join}", join=", ".join(known)), "sheet.undecided"
        )

    def text(self, at: tuple[str, ...]) -> str:
        """A text; missing counts as empty."""
        table: object = self.raw
        for key in at:
            table = table.get(key, "") if isinstance(table, Mapping) else ""
        if not isinstance(table, str):
            raise self.fault(at, "is not text", "expected a text in quotes", "sheet.invalid")
        return table.strip()

    def fault(self, at: tuple[str, ...], what: str, then: str, code: str) -> InputError:
        """An error that names the place."""
        from dpdesk.io.planfile import line_of

        line = line_of(self._text, list(at))
        where = msg("{path}, line {line}", path=self._path, line=line) if line else f"{self._path}"
        return InputError(
            code,
            msg(
                "{where}: `{join}` {what}, {then}.",
                where=where,
                join=".".join(at),
                what=what,
                then=then,
            ),
        )
