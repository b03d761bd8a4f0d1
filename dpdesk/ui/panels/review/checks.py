"""The checklist of a release as values: what was checked, how it went, and on what evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import ReleaseFacts, VerifyReport
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.ui.panels.review.presenter import file_failures
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate
_KEY = re.compile(r"[a-z]+(_[a-z]+)+")


class State(Enum):
    """How a check went; the value is its shape."""

    FAILED = "✕"
    CONFIRMED = "✓"
    NEEDS_MORE = "○"
    NOT_CHECKABLE = "–"
    NOT_CHECKED = "?"


@dataclass(frozen=True)
class CheckRow:
    """One line of the checklist; ``path`` and ``digest`` are the file that it is about.

    ``key`` is what the manifest calls the claim, where that is not what people read.
    """

    state: State
    word: str
    claim: str
    found: str
    path: str = ""
    digest: str = ""
    short: str = ""
    key: str = ""

    @property
    def mark(self) -> str:
        """Shape and a word or two, for the list."""
        return f"{self.state.value} {self.short or short_words(self.state)}"


@dataclass(frozen=True)
class Verdict:
    """The answer in one sentence; ``kind`` as message bands have it."""

    kind: str
    sentence: str


_STATES = {
    CheckStatus.CONFIRMED: State.CONFIRMED,
    CheckStatus.FAILED: State.FAILED,
    CheckStatus.NEEDS_SOURCE: State.NEEDS_MORE,
    CheckStatus.NOT_CHECKABLE: State.NOT_CHECKABLE,
    CheckStatus.NOT_CHECKED: State.NOT_CHECKED,
}


def check_rows(
    facts: ReleaseFacts, report: VerifyReport, source: Path | None
) -> tuple[CheckRow, ...]:
    """All checks: files, seal, then every claim; failed ones first."""
    rows = [*_file_rows(report), _seal_row(facts, report)]
    rows += [_claim_row(facts, check, source) for check in report.claims]
    return tuple(sorted(rows, key=lambda row: row.state is not State.FAILED))


def verdict(report: VerifyReport, rows: tuple[CheckRow, ...]) -> Verdict:
    """What checking showed, in one sentence."""
    count = {state: sum(row.state is state for row in rows) for state in State}
    if not report.ok:
        problems = len(report.failures)
        text = translate("Review", "This release failed its check: nothing of it is exported.")
        if problems:
            first = report.failures[0]
            more = translate("Review", "{sentence} {path}: {reason}.")
            text = more.format(sentence=text, path=first.path, reason=first.reason)
        if problems > 1:
            text += " " + translate("Review", "({n} more)").format(n=problems - 1)
        return Verdict("fail", text)
    text = translate("Review", "{confirmed} of {all} checks are confirmed, none failed.")
    parts = [text.format(confirmed=count[State.CONFIRMED], all=len(rows))]
    wanting = [row.short for row in rows if row.state is State.NEEDS_MORE]
    wanted, rest = wanting.count(""), wanting.count(_new_run())
    if wanted:
        text = translate("Review", "Could be settled with the source: {n}.")
        parts.append(text.format(n=wanted))
    if rest:
        parts.append(translate("Review", "Only a new run could settle: {n}.").format(n=rest))
    if count[State.NOT_CHECKABLE]:
        text = translate("Review", "No check of files can show: {n}.")
        parts.append(text.format(n=count[State.NOT_CHECKABLE]))
    if count[State.NOT_CHECKED]:
        text = translate("Review", "Not checked, for this program has other texts: {n}.")
        parts.append(text.format(n=count[State.NOT_CHECKED]))
    return Verdict("ok" if report.sealed else "caution", " ".join(parts))


def needs_source(rows: tuple[CheckRow, ...]) -> bool:
    """Whether the source could settle more."""
    return any(row.state is State.NEEDS_MORE and not row.short for row in rows)


def short_words(state: State) -> str:
    """A state in one or two words, for the list."""
    texts = {
        State.CONFIRMED: translate("Review", "re-checked"),
        State.NEEDS_MORE: translate("Review", "needs source"),
        State.NOT_CHECKABLE: translate("Review", "not checkable"),
        State.NOT_CHECKED: translate("Review", "not checked"),
        State.FAILED: translate("Review", "failed"),
    }
    return texts[state]


def _new_run() -> str:
    return translate("Review", "needs a new run")


def words(state: State, source: Path | None = None) -> str:
    """A state in words, so that the shape is not alone."""
    if state is State.CONFIRMED and source is not None:
        return translate("Review", "re-checked, with the source at hand")
    if state is State.NEEDS_MORE and source is not None:
        return translate("Review", "not settled by the source alone: run the plan again on it")
    texts = {
        State.CONFIRMED: translate("Review", "re-checked from the public files"),
        State.NEEDS_MORE: translate("Review", "needs the source"),
        State.NOT_CHECKABLE: translate("Review", "not checkable by nature"),
        State.NOT_CHECKED: translate("Review", "not checked: compared with nothing"),
        State.FAILED: translate("Review", "failed"),
    }
    return texts[state]


def _file_rows(report: VerifyReport) -> list[CheckRow]:
    failed = words(State.FAILED)
    rows = [
        CheckRow(State.FAILED, failed, one.path, one.reason, one.path)
        for one in file_failures(report)
    ]
    if not rows:
        claim = translate("Review", "All files are whole")
        found = translate("Review", "names, sizes and hashes are those that the manifest lists")
        word = translate("Review", "re-checked")
        rows.append(CheckRow(State.CONFIRMED, word, claim, found, "manifest.json"))
    return rows


def _seal_row(facts: ReleaseFacts, report: VerifyReport) -> CheckRow:
    claim = translate("Review", "The seal is unbroken")
    if report.sealed:
        found = translate("Review", "it covers the manifest and all internal files")
        word = translate("Review", "re-checked")
        return CheckRow(State.CONFIRMED, word, claim, found, "internal/seal.json")
    if facts.internal is None and report.ok:
        found = translate(
            "Review", "manifest unsealed: the seal lies in the internal part, which is not here"
        )
        word = translate("Review", "needs the internal part")
        short = translate("Review", "unsealed")
        return CheckRow(State.NEEDS_MORE, word, claim, found, short=short)
    found = translate("Review", "the seal does not fit the files")
    return CheckRow(State.FAILED, words(State.FAILED), claim, found, "internal/seal.json")


def _claim_row(facts: ReleaseFacts, check: ClaimCheck, source: Path | None) -> CheckRow:
    state = _STATES[check.status]
    name = check.path.removeprefix("public/")
    return CheckRow(
        state,
        words(state, source),
        claim_words(check),
        said(check.found),
        _path_of(name),
        _digest(facts, name),
        short=_new_run() if state is State.NEEDS_MORE and source is not None else "",
        key=check.claim if check.label else "",
    )


def _path_of(name: str) -> str:
    """A file as the release folder has it; claims name those of the public part alone."""
    if not name or name.startswith("internal/"):
        return name
    return f"public/{name}"


def _digest(facts: ReleaseFacts, name: str) -> str:
    entry = facts.section("files").get(name)
    digest = entry.get("sha256") if isinstance(entry, Mapping) else None
    return digest if isinstance(digest, str) else ""


def claim_words(check: ClaimCheck) -> str:
    """A claim for people: the method's own words, else the claim without the marks of a key."""
    text = said(check.label or check.claim)
    if not check.label and _KEY.fullmatch(text):
        text = text.replace("_", " ")
    first = text.split(" ", 1)[0]
    # "k = 5" begins with a symbol and "about.html says" with a file: both stay as they are.
    starts_with_word = text[1:2].isalpha() and "." not in first
    return text[:1].upper() + text[1:] if starts_with_word else text
