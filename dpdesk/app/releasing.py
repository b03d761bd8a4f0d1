"""Make a release from a prepared run: whole, checked, sealed, or not at all."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.checked_aside import checked_rows, failed, warm_checker
from dpdesk.app.evidence import (
    environment,
    found_values,
    plan_values,
    recorded_checks,
    review_page,
    source_facts,
)
from dpdesk.app.evidence_keys import NOISE_PAID, PRINTED_TOO, RECORDED_NOTES
from dpdesk.app.manifests import new_manifest, refuse_unlisted
from dpdesk.app.microdata import described, row_difference, write_rows
from dpdesk.app.pseudonyms import (
    Pseudonyms,
    check_persons,
    check_place,
    fresh_pseudonyms,
    linkage_risk,
    notes_of,
)
from dpdesk.app.restating import page_is_made, public_page
from dpdesk.app.run_notes import unique_notes
from dpdesk.core.capabilities import Capabilities, RowOrder
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted
from dpdesk.core.labels import Codebook
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.release import ReleaseSummary
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodOutcome
from dpdesk.engine.randomised_method import Judged
from dpdesk.io.canonical import canonical_json
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.csvw import csvw_metadata
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_check import check_files
from dpdesk.io.release_folder import (
    ABOUT,
    CSVW,
    EVIDENCE,
    MANIFEST,
    MICRODATA,
    PRINTED,
    REPORT,
    SEAL,
    VARIABLES,
    ReleaseBuilder,
    fresh_key,
    public_files,
    seal_bytes,
)
from dpdesk.report.printing import Printer

if TYPE_CHECKING:
    from dpdesk.app.planning import PreparedRun
    from dpdesk.io.safewrite import PartialKeeper

_STEPS = ("Search", "Write the microdata", "Describe and check the release", "Write the report")
_Outcome = MethodOutcome | Judged


def write_release(
    prepared: PreparedRun,
    out: Path,
    workspace: PartialKeeper,
    token: CancelToken,
    report: Report,
) -> ReleaseSummary:
    """Run the method and write the release folder ``out``, which must be absent or empty.

    A method that draws values draws them afresh, and nothing of the draws is kept. Everything is
    written beside ``out``, read back and checked by the verifier, then renamed; on any error or
    cancel ``out`` is as it was and nothing is left beside it.

    Raises
    ------
    InputError
        ``out.not-empty``, ``out.not-folder``.
    RefusedError
        The data cannot meet what was asked, or the written table does not keep what the guarantee
        says (``release.check-failed``).
    StorageError
        The disk is full, or writing is not permitted.
    Cancelled
        The token was cancelled.
    """
    check_place(prepared.home, prepared.plan, prepared.base, out)
    with ReleaseBuilder(out, workspace) as build, Printer() as printer:
        printer.warm()
        warm_checker()
        work = _Work(prepared, token, report, Clock())
        work.step(0)
        outcome = described(prepared.method, prepared.given, token, report)
        work.note(outcome.notes)
        paid = _noise_paid(work)
        work.clock.lap("search")
        key = fresh_key()
        committed = prepared.data.sha256, key
        plan, method, given = prepared.plan, prepared.method, prepared.given
        manifest = new_manifest(
            plan, method, given.parameters, outcome.guarantee, outcome.result, committed
        )
        pseudonyms = _pseudonyms(work)
        published = _write_microdata(work, build, outcome, pseudonyms)
        _write_public(work, build, outcome, published, manifest)
        checks = _check_claims(work, build, manifest, published)
        work.note(unique_notes(outcome, published, prepared.plan.pseudonyms, token))
        linkage = _linkage(work, outcome, pseudonyms, published)
        written = _Written(manifest, key, checks, pseudonyms.recorded, linkage, paid)
        _write_internal(work, build, outcome, written, printer)
        read_back(build, prepared.method.capabilities, token)
        token.check()
        target = build.commit(datetime.date.fromisoformat(str(manifest["created"])))
    guarantee, result = outcome.guarantee.as_json(), dict(outcome.result)
    return ReleaseSummary(target, prepared.method.id, guarantee, result)


@dataclass(frozen=True)
class _Work:
    prepared: PreparedRun
    token: CancelToken
    report: Report
    clock: Clock
    notes: list[str] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)

    def note(self, notes: Iterable[Note]) -> None:
        """Report notes, and keep them for the evidence."""
        for note in notes:
            self.notes.append(note.sentence)
            self.report(note)

    def step(self, index: int) -> None:
        self.token.check()
        self.report(StepStarted(_STEPS[index], index + 1, len(_STEPS)))


def _noise_paid(work: _Work) -> tuple[str, ...]:
    """What was paid for noise about these people; a note names it, for releases combine."""
    from dpdesk.app.witnessing import noise_notes

    prepared = work.prepared
    paid, notes = noise_notes(prepared.home, prepared.plan.budget, prepared.data.sha256)
    if paid:
        work.note(notes)
        return paid
    for note in notes:  # the log could not be read, which no check can find again
        work.recorded.append(note.sentence)
        work.report(note)
    return paid


@dataclass(frozen=True)
class _Written:
    """What is known once the public part is written: for the evidence."""

    manifest: Mapping[str, object]
    key: str
    checks: tuple[ClaimCheck, ...]
    pseudonyms: Mapping[str, Mapping[str, object]]
    linkage: Mapping[str, Mapping[str, int]]
    paid: tuple[str, ...] = ()


class Clock:
    """Seconds of the steps of a run: internal, since times tell of the data."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.seconds: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Note the seconds since the last call under this name."""
        now = time.monotonic()
        self.seconds[name] = round(now - self._last, 3)
        self._last = now


def _pseudonyms(work: _Work) -> Pseudonyms:
    prepared = work.prepared
    found = fresh_pseudonyms(prepared.home, prepared.plan, prepared.data, work.token, work.report)
    if found.replaced:
        work.clock.lap("pseudonyms")
    return found


def _linkage(
    work: _Work, outcome: _Outcome, found: Pseudonyms, published: PublishedCsv
) -> Mapping[str, Mapping[str, int]]:
    """What the pseudonyms show of persons with several rows; notes say it, and what stands out."""
    if not found.recorded:
        return {}
    linkage = linkage_risk(published, outcome.guarantee.parameters, work.token)
    work.note(notes_of(found.recorded, published, linkage, work.token))
    return linkage


def _write_microdata(
    work: _Work, build: ReleaseBuilder, outcome: _Outcome, pseudonyms: Pseudonyms
) -> PublishedCsv:
    work.step(1)
    path = build.public / MICRODATA
    try:
        rows, expected = write_rows(
            *(work.prepared, outcome, path, work.clock.lap, work.token, work.report),
            pseudonyms.replaced,
        )
    except StorageError:
        work.token.check()  # a query that a cancel interrupts may look like a broken file
        raise
    work.clock.lap("write microdata")
    try:
        published = PublishedCsv(path, work.token)
    except UnreadableTableError as error:
        raise failed(f"the table written {error.sentence}") from error
    if not rows == published.rows == expected:
        raise failed(f"{published.rows:,} rows were written, expected {expected:,}")
    claimed = outcome.guarantee.parameters
    check_persons(published, claimed, work.prepared.plan, work.token)
    return published


def _write_public(
    work: _Work,
    build: ReleaseBuilder,
    outcome: _Outcome,
    published: PublishedCsv,
    manifest: dict[str, object],
) -> None:
    """The rest of ``public/``; ``manifest`` gets its ``files``."""
    from dpdesk.report.about import EXAMPLES

    work.step(2)
    prepared = work.prepared
    quasi = prepared.given.with_role(Role.QUASI_IDENTIFIER)
    released = [name for name in quasi if name in published.columns]
    published.survey(released, EXAMPLES, work.token, work.report, _STEPS[2])
    method, language = prepared.method, prepared.plan.language
    with page_is_made(method):
        page = public_page(manifest, method, published, work.token, language)
    build.write_public(ABOUT, page)
    _write_variables(work, build, outcome, published, manifest)
    manifest["files"] = public_files(build.public, work.token)
    refuse_unlisted(manifest, method)
    build.write_public(MANIFEST, canonical_json(manifest))


def _write_variables(
    work: _Work,
    build: ReleaseBuilder,
    outcome: _Outcome,
    published: PublishedCsv,
    manifest: Mapping[str, object],
) -> None:
    """Labels of the columns, where the source has some; see :mod:`dpdesk.app.labelling`."""
    from dpdesk.app.labelling import released_variables, variables_as_json

    complete = isinstance(outcome, MethodOutcome) and outcome.recoding.rows_suppressed == 0
    replaced = frozenset(work.prepared.plan.pseudonyms)
    found = released_variables(
        work.prepared.data.book, outcome.recoding, published, complete, work.token, replaced
    )
    if found:
        labels = variables_as_json(found)
        refuse_unlisted({"variables": labels}, work.prepared.method)
        build.write_public(VARIABLES, canonical_json(labels))
        document = csvw_metadata(MICRODATA, published.columns, Codebook(found), manifest)
        build.write_public(CSVW, canonical_json(document))


def _check_claims(
    work: _Work, build: ReleaseBuilder, manifest: Mapping[str, object], published: PublishedCsv
) -> tuple[ClaimCheck, ...]:
    """What the verifier says of the table as it lies on the disk, before anybody sees it."""
    method, given = work.prepared.method, work.prepared.given
    difference = row_difference(method, manifest, published, given, work.prepared.data, work.token)
    likely = _counted_for_checks(manifest)
    checks = checked_rows(method, build.public, given, difference, likely, work.token)
    for check in checks:
        if check.status is CheckStatus.FAILED:
            raise failed(f"{check.claim}: {check.found}")
    sorts = method.capabilities.order is RowOrder.SORTED
    unsorted = published.first_unsorted_row(work.token) if sorts else None
    if unsorted is not None:
        raise failed(f"row {unsorted:,} of the table is out of order")
    work.clock.lap("check")
    return checks


def _counted_for_checks(manifest: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """Columns of which a check of this guarantee asks the counts in the source."""
    guarantee = manifest["guarantee"]
    given = guarantee["parameters"] if isinstance(guarantee, Mapping) else {}
    if "k" in given and given.get("quasi_identifiers"):
        yield tuple(given["quasi_identifiers"])
    yield from ((name,) for name in given.get("diverted", ()))


def _write_internal(
    work: _Work,
    build: ReleaseBuilder,
    outcome: _Outcome,
    written: _Written,
    printer: Printer,
) -> None:
    work.step(3)
    evidence = _evidence(work, outcome, written)
    prepared = work.prepared
    method, language = prepared.method, prepared.plan.language
    with page_is_made(method):
        page = review_page(written.manifest, evidence, method, language)
    printed = write_report(build, page, printer, work.token, work.report)
    build.write_internal(EVIDENCE, canonical_json({**evidence, PRINTED_TOO: printed}))
    build.write_internal(SEAL, seal_bytes(build.folder, work.token))


def write_report(
    build: ReleaseBuilder, page: bytes, printer: Printer, token: CancelToken, report: Report
) -> bool:
    """The report as a page and as a PDF; a release does not fail for want of the latter.

    Whether there is a PDF is said in the evidence, so that it cannot be taken away in silence.
    """
    build.write_internal(REPORT, page)
    try:
        printed = printer.pdf(page, token)
    except StorageError as error:
        report(Note(error.code, error.sentence))
        return False
    build.write_internal(PRINTED, printed)
    return True


def _evidence(work: _Work, outcome: _Outcome, written: _Written) -> dict[str, object]:
    from dpdesk.report.review import LINKAGE, recoded_as_json

    prepared, manifest = work.prepared, written.manifest
    given = prepared.given
    quasi = given.with_role(Role.QUASI_IDENTIFIER)
    node = outcome.result.get("node")
    recoded = recoded_as_json(outcome.recoding, quasi, node, given.hierarchies)
    return {
        **plan_values(
            *(manifest, prepared.plan, prepared.plan_name),
            *(prepared.method, given.parameters, given.roles),
        ),
        "source": source_facts(prepared.data, prepared.plan.source),
        "hierarchies": {name: hierarchy.rows() for name, hierarchy in given.hierarchies.items()},
        "commitment_key": written.key,
        **({"pseudonyms": written.pseudonyms} if written.pseudonyms else {}),
        **({NOISE_PAID: list(written.paid)} if written.paid else {}),
        "result": {**outcome.result, **outcome.internal},
        "risk": {**outcome.risk, **({LINKAGE: written.linkage} if written.linkage else {})},
        "utility": dict(outcome.utility),
        **found_values(outcome.figures, outcome.charts, recoded),
        "checks": recorded_checks(written.checks),
        "notes": [*prepared.notes, *work.notes],
        RECORDED_NOTES: [*prepared.recorded_notes, *work.recorded],
        "environment": environment(),
        "timings": dict(work.clock.seconds),
    }


def read_back(build: ReleaseBuilder, about: Capabilities, token: CancelToken) -> None:
    """Hashes, seal and commitment once more, from the files as written."""
    found = check_files(build.folder, lambda _: about, token)
    if found.failures:
        failure = found.failures[0]
        raise StorageError(
            "storage.changed",
            f"{build.out}: {failure.path} {failure.reason} right after it was written.",
            hint="The disk may be faulty; choose another one.",
        )
