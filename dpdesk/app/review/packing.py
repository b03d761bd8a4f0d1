"""The evidence pack of a release: report, checklist, decisions, signatures, ledger, software."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk import __version__
from dpdesk.app import signing
from dpdesk.app.auditing import enter, mention_files
from dpdesk.app.context import AppContext
from dpdesk.app.review.review_picture import ReviewPicture, is_whole, look, signed_report
from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.language import ENGLISH, languages, speaking, voice
from dpdesk.core.logged import Logged
from dpdesk.core.messages import counted, joined, msg
from dpdesk.io.canonical import canonical_json

if TYPE_CHECKING:
    from dpdesk.core.release import ReleaseFacts
    from dpdesk.project.review.questions import Item
    from dpdesk.project.review.state import Round
    from dpdesk.project.review.votes import ItemStatus
    from dpdesk.report.pack import AttackLine, ItemLine, Opinion, PackContent, SignatureLine


# The bill of materials of the program: every component with its version and its hash.


_MAIN = "dpdesk"
_REQUIRED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@cache
def components() -> tuple[tuple[str, str, str], ...]:
    """Name, version and SHA-256 of the file list of everything the program runs with, by name.

    The file list of an installed package (``RECORD``) holds the hash of each of its files; the
    hash is empty for a package that was installed without one.
    """
    found: dict[str, tuple[str, str, str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    todo = [_MAIN]
    while todo:
        name, extras = _named(todo.pop())
        key = name.lower().replace("_", "-")
        if (key, extras) in seen:
            continue
        seen.add((key, extras))
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        record = package.read_text("RECORD") or ""
        code = hashlib.sha256(record.encode("utf-8")).hexdigest() if record else ""
        found[key] = (key, package.version, "" if key == _MAIN else code)
        todo += [line for line in package.requires or () if _applies(line, extras)]
    return tuple(found[key] for key in sorted(found))


def bill_of_materials() -> bytes:
    """The bill as CycloneDX 1.6 (JSON, canonical bytes); the same installation, the same bytes."""
    parts = []
    for name, version, code in components():
        if name == _MAIN:
            continue
        part: dict[str, object] = {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
        }
        if code:
            part["properties"] = [{"name": "dpdesk:record-sha256", "value": code}]
        parts.append(part)
    python = {"type": "platform", "name": "python", "version": platform.python_version()}
    return canonical_json(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "component": {"type": "application", "name": _MAIN, "version": __version__}
            },
            "components": [*parts, python],
        }
    )


def bill_sha256() -> str:
    """The SHA-256 of :func:`bill_of_materials`."""
    return hashlib.sha256(bill_of_materials()).hexdigest()


def _named(requirement: str) -> tuple[str, frozenset[str]]:
    """The package that is required, and with which extras."""
    found = _REQUIRED.match(requirement)
    if found is None:
        return requirement, frozenset()
    extras = (each.strip() for each in (found[2] or "").split(","))
    return found[1], frozenset(each for each in extras if each)


def _applies(requirement: str, extras: frozenset[str]) -> bool:
    """Whether a requirement is one of this installation: extras are not, but those asked for."""
    named = _EXTRA.findall(requirement)
    return not named or any(each in extras for each in named)


_STEPS = ("Check the release and its review", "Write the pack")
_KINDS = (".html", ".pdf")


def write_pack(
    context: AppContext,
    folder: Path,
    out: Path,
    token: CancelToken,
    report: Report,
    beside: tuple[Path, ...] = (),
    language: str = "",
) -> Path:
    """Write the pack of a release folder to a new file, ``.html`` or ``.pdf`` by its name.

    Its language is that of the release when none is given. What is wrong with release or review
    stands on its first page. The report in it is made again from files that were checked; where
    that cannot be, the pack holds none and says why. Raises InputError ``pack.kind``,
    ``pack.exists``, ``pack.language``, ``pack.not-whole`` (a public part alone), StorageError,
    Cancelled.
    """
    from dpdesk.io.safewrite import replacing, write_new

    target = _target(folder, out)
    _check_language(language)
    report(StepStarted(_STEPS[0], 1, 2))
    picture = look(context, folder, token, report, beside=beside)
    report(StepStarted(_STEPS[1], 2, 2))
    page = _page(context, picture, folder, token, language)
    if out.suffix.lower() == ".pdf":
        from dpdesk.report.printing import PRINTER

        page = PRINTER.pdf(page, token)
    token.check()
    enter(
        context, Logged.EXPORTED, folder.absolute(), {"format": "evidence pack", "out": str(target)}
    )
    with replacing(target, context.workspace, new=True) as fresh:
        write_new(fresh, page)
    mention_files(context, folder, (target,), report)
    return target


def write_materials(context: AppContext, out: Path) -> tuple[Path, str]:
    """Write the bill of materials of this program to a new file; its path and SHA-256.

    Raises InputError ``pack.exists``, StorageError.
    """
    from dpdesk.io.safewrite import replacing, write_new

    target = _fresh(out)
    with replacing(target, context.workspace, new=True) as fresh:
        write_new(fresh, bill_of_materials())
    return target, bill_sha256()


def _fresh(out: Path) -> Path:
    target = out.absolute()
    if target.exists():
        raise InputError(
            "pack.exists",
            msg("{out}: the file already exists.", out=out),
            hint="Name another, or remove it.",
        )
    return target


def _target(folder: Path, out: Path) -> Path:
    if out.suffix.lower() not in _KINDS:
        raise InputError(
            "pack.kind",
            msg("{out}: the name of an evidence pack must end in .html or .pdf.", out=out),
            hint="Give it that name.",
        )
    if not is_whole(folder):
        raise InputError(
            "pack.not-whole",
            msg(
                "{folder}: an evidence pack is made from a whole release folder, with `public` "
                "and `internal`.",
                folder=folder,
            ),
        )
    target = _fresh(out)
    if target.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "export.inside",
            msg("{out}: is inside the release, to which nothing may be added.", out=out),
            hint="Choose a place outside the release folder.",
        )
    return target


def _check_language(language: str) -> None:
    if language and language not in languages():
        raise InputError(
            "pack.language",
            msg(
                "There are no pages in the language `{language}`, expected one of {listed}.",
                language=language,
                listed=", ".join(f"`{code}`" for code in languages()),
            ),
        )


def _page(
    context: AppContext, picture: ReviewPicture, folder: Path, token: CancelToken, language: str
) -> bytes:
    from dpdesk.report.pack import render_pack

    facts = picture.checked.facts.release
    said = _stated_language(facts)
    report, missing = _report(context, picture, said)
    name = _manifest_sha256(folder, token)
    with speaking(language or said):
        return render_pack(_content(context, picture, (report, missing, said), name, token))


def _stated_language(facts: ReleaseFacts) -> str:
    """The language of a release's pages; English where it names none that there is."""
    stated = facts.manifest.texts
    return ENGLISH if stated is None or stated.language not in languages() else stated.language


def _report(context: AppContext, picture: ReviewPicture, language: str) -> tuple[bytes, str]:
    """The report made again, where verifying found it to be the stored one; else why not."""
    from dpdesk.app.reports import REPORT_CLAIM, made_again
    from dpdesk.core.release import CheckStatus

    verified, facts = picture.verified, picture.checked.facts.release
    check = next((one for one in verified.claims if one.claim == REPORT_CLAIM), None)
    if check is None or verified.failures:
        return b"", "checking the release failed"
    if check.status is not CheckStatus.CONFIRMED:
        return b"", check.found
    method = context.registry.get(facts.method, "the manifest")
    page = made_again(facts.public, facts.manifest, facts.evidence.as_json(), method, language)
    return (page, "") if page is not None else (b"", "the evidence cannot be read")


def _content(
    context: AppContext,
    picture: ReviewPicture,
    report: tuple[bytes, str, str],
    name: str,
    token: CancelToken,
) -> PackContent:
    from dpdesk.project.review.texts import time_text
    from dpdesk.report.pack import PackContent
    from dpdesk.report.review import check_line

    facts = picture.checked.facts.release
    verified = signed_report(picture)
    faults = [
        msg("{path}: {reason}.", path=failure.path, reason=failure.reason)
        for failure in verified.failures
    ]
    method = next((m.title for m in context.registry if m.id == facts.method), facts.method)
    return PackContent(
        title=facts.title or method,
        method=method,
        created=facts.created,
        release=name,
        standing=_standing(picture),
        faults=tuple(faults),
        unlike=bool(verified.failures or verified.not_checked()),
        made=time_text(signing.now()).replace("T", " ").removesuffix("Z") + " UTC",
        signatures=tuple(_signatures(picture)),
        votes=tuple(_votes(picture)),
        items=tuple(_item(item, picture) for item in picture.checked.checklist.items),
        policy=picture.checked.checklist.policy_sha256,
        checks=tuple(check_line(check) for check in verified.claims),
        attacks=tuple(attack_lines(picture, token)),
        ledger=tuple(_ledger(context, facts)),
        software=bill_sha256(),
        components=tuple((name, version) for name, version, _ in components()),
        guarantee=facts.manifest.guarantee,
        report=report[0],
        report_missing=report[1],
        report_language=report[2],
    )


def _manifest_sha256(folder: Path, token: CancelToken) -> str:
    """The SHA-256 of the manifest. Raises InputError."""
    from dpdesk.io.release_folder import MANIFEST, PUBLIC
    from dpdesk.io.safewrite import hash_file

    try:
        return hash_file(folder / PUBLIC / MANIFEST, token)[0]
    except OSError as error:
        raise InputError(
            "pack.not-whole", f"{folder}: {error.strerror or error} ({error.filename})."
        ) from error


def _standing(picture: ReviewPicture) -> str:
    """Where the review stands, in one sentence."""
    from dpdesk.project.review.state import Status

    state = picture.state
    if not state.ok:
        return "The review of this release cannot be relied on."
    if state.current is None:
        return "No one has submitted this release for review."
    names = ", ".join(sorted(one.person for one in state.current.ballots if not one.late))
    words = {
        Status.RELEASED: msg("It was reviewed by {names} and released.", names=names),
        Status.SUPERSEDED: msg(
            "It was reviewed by {names} and released, and superseded since.", names=names
        ),
        Status.APPROVED: msg("It was approved by {names} and is not released yet.", names=names),
    }
    return words.get(
        state.status,
        msg("It is not signed off: its review is {status}.", status=state.status.value),
    )


def _signatures(picture: ReviewPicture) -> Iterator[SignatureLine]:
    from dpdesk.project.review.texts import fingerprint_text, time_text
    from dpdesk.report.pack import SignatureLine

    state = picture.state
    for event in state.graph.events:
        objection = ""
        if event.id in state.untrusted:
            objection = "this computer does not trust the key"
        elif event.id in state.void:
            objection = "it breaks the rules of a review"
        moment = time_text(event.time).replace("T", " ").removesuffix("Z")
        key = fingerprint_text(event.signer.fingerprint)
        said = str(getattr(event.payload, "note", "") or getattr(event.payload, "reason", ""))
        yield SignatureLine(moment, event.signer.person, key, event.kind, objection, said)


def _current(picture: ReviewPicture) -> Round | None:
    return picture.state.current


def _votes(picture: ReviewPicture) -> Iterator[Opinion]:
    from dpdesk.report.pack import Opinion

    current = _current(picture)
    for ballot in current.ballots if current else ():
        if ballot.vote is not None:
            yield Opinion(ballot.person, ballot.vote.outcome.value, ballot.vote.comment)


def _item(item: Item, picture: ReviewPicture) -> ItemLine:
    from dpdesk.report.pack import ItemLine, Opinion

    icon, style = _looks()[item.status]
    current = _current(picture)
    opinions = [
        Opinion(ballot.person, check.decision.value, check.comment)
        for ballot in (current.ballots if current else ())
        if ballot.vote is not None and (check := ballot.vote.checks.get(item.id)) is not None
    ]
    return ItemLine(
        icon, style, item.status.value, item.question, item.evidence, item.advice, tuple(opinions)
    )


def _looks() -> Mapping[ItemStatus, tuple[str, str]]:
    from dpdesk.project.review.votes import ItemStatus

    return {
        ItemStatus.PASS: ("✓", "ok"),
        ItemStatus.REVIEW: ("△", "caution"),
        ItemStatus.FAIL: ("✕", "fail"),
        ItemStatus.NOT_APPLICABLE: ("○", "muted"),
    }


def _ledger(context: AppContext, facts: ReleaseFacts) -> Iterator[tuple[str, str]]:
    """The debit that paid for the release, by the evidence, and what its ledger says now.

    A release without a debit says so, and what was spent on the same data all the same.
    """
    paid = facts.evidence.budget
    if paid is None:
        yield voice().say("What this release cost"), voice().say(_unpaid(context, facts))
        source = facts.evidence.source.sha256
        yield voice().say("Spent on the same file"), voice().say(_spent_on(context, source))
        return
    told = (
        ("Population", paid.population),
        ("What this release cost", voice().say(paid.cost)),
        ("Debit", paid.debit),
        ("Hash of the entry", paid.entry),
        ("Time of the debit", paid.time),
        ("File of the ledger", paid.ledger),
    )
    yield from ((voice().say(label), said) for label, said in told if said)
    if paid.entry:
        yield voice().say("The ledger now"), voice().say(_spent(context, paid.entry))


def _unpaid(context: AppContext, facts: ReleaseFacts) -> str:
    """What a release without a debit cost, as far as its method says what it spends."""
    spends = context.registry.about(facts.method).spends
    if spends is None:
        return "not known: its method does not say what it spends"
    if not facts.manifest.guarantee.parameters.keys().isdisjoint(("epsilon", "rho")):
        spends = True
    if spends:
        return "not known: a privacy loss is stated, and no debit is recorded"
    return "nothing: its method spends no privacy budget"


def _spent_on(context: AppContext, source: str) -> str:
    """What this computer's own ledger says was spent on a file, whatever population it stands for.

    The guarantee of a release without noise does not add up with these, but their readers may
    hold both.
    """
    from dpdesk.app.ledgers import ledger_path
    from dpdesk.project.ledger import Ledger

    path = ledger_path(context, context.home)
    if not path.is_file():
        return "nothing: this computer has no ledger yet"
    try:
        with closing(Ledger.open(path, create=False)) as ledger:
            book = ledger.book
    except DpdeskError as error:
        return msg("the ledger cannot be read: {sentence}", sentence=error.sentence)
    debits = book.debits.values()
    keys = {one.key.folded: one.key for one in debits if one.request.source == source}
    parts = [
        msg(
            "{debits} for {key}, {spending} together",
            debits=_debits(book.spending(key).count),
            key=key,
            spending=book.spending(key),
        )
        for key in keys.values()
    ]
    return joined(parts, "; ") or "nothing, by this computer's own ledger"


def _debits(count: int) -> str:
    return counted("{n:,} debit", "{n:,} debits", n=count)


def _spent(context: AppContext, entry: str) -> str:
    """What the account of a debit has spent, by the ledger where this computer debited it."""
    from dpdesk.project.audit import AuditLog
    from dpdesk.project.ledger import Ledger

    with AuditLog.open_home(context.home) as log:
        debits = log.entries_of(Logged.DEBITED)
        places = [one.subject for one in debits if one.facts.get("entry") == entry]
    if not places:
        return "this computer did not make the debit, so its ledger was not read"
    try:
        with closing(Ledger.open(Path(places[-1]), create=False)) as ledger:
            book = ledger.book
    except DpdeskError as error:
        return msg("cannot be read: {sentence}", sentence=error.sentence)
    record = next((one for one in book.debits.values() if one.entry == entry), None)
    if record is None:
        return "does not have this debit: it was restored from an old copy, or replaced"
    spending, limit = book.spending(record.key), book.limit(record.key)
    owner = (
        "the ledger sets no limit"
        if limit is None
        else msg("the owner's limit is {limit}", limit=limit)
    )
    return msg(
        "{debits}, {spending} together; {owner}; the outcome of this debit: {outcome}",
        debits=_debits(spending.count),
        spending=spending,
        owner=owner,
        outcome=record.outcome.value,
    )


# Of each item: the attack, and what the attacker knows.
_ATTACKS: Mapping[str, tuple[str, str]] = {
    "smallest-class": (
        "Finding a person's row by the quasi-identifiers",
        "that the person is in the data, and all their quasi-identifiers",
    ),
    "homogeneous": (
        "Reading a value that a whole class shares",
        "the quasi-identifiers of a person",
    ),
    "own-values": (
        "Finding a person's row by one unchanged column",
        "the person's value of one column that is released unchanged",
    ),
    "one-column-more": (
        "Finding a person's row by one more column",
        "the quasi-identifiers and one insensitive, weight or cluster column",
    ),
    "extremes": (
        "Recognising someone by an extreme value",
        "that the person's value is far above all others",
    ),
    "groups": (
        "Finding the other members of a household or group",
        "one row of the group",
    ),
    "pseudonyms": (
        "Joining the rows of one pseudonym",
        "what several rows of a person have in common",
    ),
    "drawn-values": (
        "Guessing a drawn value",
        "the person's row, and how often each value occurs",
    ),
    "known-others": (
        "Guessing a drawn value by knowing the others'",
        "the true values of nearly everyone else",
    ),
    "linkage": (
        "Finding a person's row among drawn values",
        "columns that are released unchanged",
    ),
    "privacy-loss": (
        "Becoming more certain about a person from noisy tables",
        "everything that can be known about everyone else",
    ),
    "exact-tables": (
        "Averaging the noise away with exact totals",
        "all tables of the release, exact ones too",
    ),
}


def attack_lines(picture: ReviewPicture, token: CancelToken) -> Iterator[AttackLine]:
    """One line for each attack that was tried on this release. Raises Cancelled."""
    from dpdesk.project.review.votes import ItemStatus
    from dpdesk.report.pack import AttackLine

    for item in picture.checked.checklist.items:
        words = _ATTACKS.get(item.id)
        if words is None or item.status is ItemStatus.NOT_APPLICABLE:
            continue
        yield AttackLine(*words, item.evidence)
    yield from _history_lines(picture.checked.facts.release, token)


def _history_lines(facts: ReleaseFacts, token: CancelToken) -> Iterator[AttackLine]:
    """What somebody finds who knows all rows of a person, counted from the published table."""
    from dpdesk.app.pseudonyms import linkage_risk
    from dpdesk.io.csvgrammar import UnreadableTableError
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.release_folder import MICRODATA
    from dpdesk.report.pack import AttackLine

    parameters = facts.manifest.guarantee.parameters
    if not parameters.get("pseudonym"):
        return
    try:
        found = linkage_risk(PublishedCsv(facts.public / MICRODATA, token), parameters, token)
    except (UnreadableTableError, OSError, KeyError, TypeError, ValueError):
        return  # what is wrong with the table stands among the faults
    for name, each in found.items():
        yield AttackLine(
            "Finding a person by all their rows together",
            "the quasi-identifiers of all rows of a person",
            msg(
                "Of {all:,} pseudonyms of {name}, {alone:,} have a combination of rows that no "
                "one else has, and {few:,} have a combination of rows that fewer than k have "
                "(counted now from the published table).",
                all=each["pseudonyms"],
                name=name,
                alone=each["alone"],
                few=each["few"],
            ),
        )
