"""From a plan to its release: prepare, decide, pay where it costs, write, check, report, seal.

One pipeline for all methods. What differs between releases of rows and of tables with noise is
how the data are made and what is recorded of it: :class:`_Rows` and :class:`_Tables`.
"""

from __future__ import annotations

import datetime
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dpdesk.app.evidence import (
    environment,
    found_values,
    plan_values,
    recorded_checks,
    review_page,
    source_facts,
)
from dpdesk.app.evidence_checks import NOISE_PAID, PRINTED_TOO, RECORDED_NOTES
from dpdesk.app.labelling import variables_as_json
from dpdesk.app.ledgers import Spent, debit_request, open_ledger, printed_beside, telling_spent
from dpdesk.app.manifests import manifest_hash, new_manifest, refuse_unlisted, unique_notes
from dpdesk.app.method_claims import beyond
from dpdesk.app.page_checks import page_is_made, public_page
from dpdesk.app.planning import PlacedPlan, placed, prepare_cells, prepare_rows
from dpdesk.app.prepared import Prepared, PreparedCells, PreparedRows, PreparedTables
from dpdesk.app.pseudonyms import (
    Pseudonyms,
    check_persons,
    check_place,
    fresh_pseudonyms,
    linkage_risk,
    notes_of,
)
from dpdesk.app.self_check import (
    checked_cells,
    checked_rows,
    checked_tables,
    failed,
    odd_draws,
    row_difference,
    strange_rows,
    warm_checker,
)
from dpdesk.core.capabilities import Capabilities, RowOrder
from dpdesk.core.errors import StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted, ending
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.messages import TABLE, msg, table_of
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest, ReleaseSummary
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list
from dpdesk.engine.method import CellsOutcome, Outcome, with_claim
from dpdesk.engine.private.method import Design
from dpdesk.engine.registry import cells_of, noise_of, paid_rows_of
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
from dpdesk.report.printing import PRINTER, Printer

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.cuboid import CuboidTable
    from dpdesk.io.store import DataStore


def prepare(
    context: AppContext,
    asked: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
    *,
    spending: bool = False,
) -> Prepared:
    """Make a plan ready to run, whatever it releases.

    ``data`` is a store that is open already (it stays open). ``spending`` says that a budget may
    be spent on it: see :func:`dpdesk.app.private.preparing.prepare_tables`.

    Raises InputError for whatever the plan gets wrong (unknown method, key, column; a value out of
    range; a bad hierarchy) and StorageError for files that cannot be read.
    """
    from dpdesk.app.private.preparing import prepare_tables

    place = f"{asked.name}, [protection]"
    method = context.registry.ready(asked.plan.protection.method, place)
    given = context, asked, token, report, data
    if noise_of(method) is not None:
        return prepare_tables(*given, spending=spending)
    if cells_of(method) is not None:
        return prepare_cells(*given)
    return prepare_rows(*given, spending=spending)


def prepare_plan(
    context: AppContext, plan: Path | PlacedPlan, token: CancelToken, report: Report
) -> PreparedRows:
    """Make a plan of a release of rows ready, or that of a file; see :func:`prepare`.

    Paths in a file are relative to its folder. Raises InputError ``method.no-trial`` for a plan
    that draws noise, and what reading the plan and :func:`prepare` raise.
    """
    return prepare_rows(context, placed(plan), token, report)


def run_plan(
    context: AppContext,
    plan: Path | PlacedPlan,
    out: Path,
    token: CancelToken,
    report: Report,
) -> ReleaseSummary:
    """Run a plan, or that of a file, into the release folder ``out``: it must be absent or empty.

    ``out`` is looked at before anything is read. A plan of a method that draws noise debits its
    budget first. Raises InputError and StorageError for bad input, RefusedError when the data
    cannot meet what the plan asks or the budget is not enough, Cancelled; then ``out`` is as it
    was.
    """
    from dpdesk.io.release_folder import check_out

    check_out(out)
    given = placed(plan)
    warm_checker()
    with prepare(context, given, token, report, spending=True) as prepared:
        return write_release(context, prepared, out, token, report)


def write_release(
    context: AppContext,
    prepared: Prepared,
    out: Path,
    token: CancelToken,
    report: Report,
    *,
    paper: bool = True,
) -> ReleaseSummary:
    """Decide, pay, draw, and write the release folder ``out``, which must be absent or empty.

    A method that draws does so afresh and keeps no draw; a debit is on the disk before any noise
    exists, and stays spent whatever fails afterwards, as the ledger and the error say. Everything
    is written next to ``out``, read back and checked by the verifier, then renamed; on any error or
    cancel ``out`` is as it was and nothing is left next to it. No ``paper``: no PDF of the report.

    Raises
    ------
    InputError
        ``out.not-empty``, ``out.not-folder``.
    RefusedError
        The data cannot meet what was asked; the budget is not enough (``ledger.exhausted``, and
        nothing was debited then); or what was written does not keep what the guarantee says
        (``release.check-failed``).
    StorageError
        The disk is full, the ledger fails, writing is not permitted, or ``resources.*``: the texts
        of the pages cannot be read.
    Cancelled
        The token was cancelled.
    """
    if isinstance(prepared, PreparedRows):
        check_place(prepared.home, prepared.plan, prepared.base, out)
    keeper = context.workspace
    with (
        telling_spent(context, report),
        keeper.claiming(out),
        ReleaseBuilder(out, keeper) as build,
        ending(token) as own,
    ):
        if paper:
            PRINTER.warm()
        warm_checker()
        work = _Work(context, prepared, build, PRINTER if paper else None, own, report)
        if isinstance(prepared, PreparedRows):
            return _Rows(prepared, work).release()
        if isinstance(prepared, PreparedTables):
            return _Tables(prepared, work).release()
        if isinstance(prepared, PreparedCells):
            return _Cells(prepared, work).release()
    raise TypeError("the plan releases neither rows nor tables")


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


class _Work:
    """Where a release is made, and what is noted of it: for people, and for the evidence."""

    def __init__(
        self,
        context: AppContext,
        prepared: Prepared,
        build: ReleaseBuilder,
        printer: Printer | None,
        token: CancelToken,
        report: Report,
    ) -> None:
        self.context, self.build, self.printer = context, build, printer
        self.token, self.report = token, report
        self.key, self.clock = fresh_key(), Clock()
        self.notes, self.recorded = list(prepared.notes), list(prepared.recorded_notes)

    def note(self, notes: Iterable[Note], *, recorded: bool = False) -> None:
        """Report notes, and keep them: apart where no check can find them again."""
        for note in notes:
            (self.recorded if recorded else self.notes).append(note.sentence)
            self.report(note)


class _Release(ABC):
    """The steps of one release; what its kind adds to them is in the sub-classes.

    ``book`` is what is published of labels, where the report shows it.
    """

    steps: ClassVar[tuple[str, ...]]

    def __init__(self, prepared: Prepared, work: _Work) -> None:
        self.prepared, self.work = prepared, work
        self.build, self.token, self.clock = work.build, work.token, work.clock
        self.book = NO_BOOK

    def release(self) -> ReleaseSummary:
        """All steps, in order; the target of the builder is there when this returns."""
        decided = self.decide()
        manifest = new_manifest(
            self.prepared.plan,
            self.prepared.method,
            self.prepared.given.parameters,
            decided.guarantee,
            decided.result,
            (self.prepared.data.sha256, self.work.key),
        )
        with self.paid(manifest) as spent:
            self.write_data()
            manifest = self._write_public(manifest)
            checks = self.checked(manifest)
            checks = (*checks, *beyond(self.prepared.method, manifest, checks, compared=True))
            for check in checks:
                if check.status is CheckStatus.FAILED:
                    raise failed(msg("{file}: {note}", file=check.claim, note=check.found))
            self.clock.lap("check")
            self._write_internal(manifest, checks)
            read_back(self.build, self.prepared.method.capabilities, self.token)
            self.token.check()
            target = self.build.commit(datetime.date.fromisoformat(manifest.created))
            if spent is not None:
                spent.released(manifest_hash(manifest))
        guarantee, result = decided.guarantee.as_json(), dict(decided.result)
        return ReleaseSummary(target, self.prepared.method.id, guarantee, result)

    def step(self, index: int) -> None:
        """Begin a step."""
        self.token.check()
        self.work.report(StepStarted(self.steps[index], index + 1, len(self.steps)))

    @abstractmethod
    def decide(self) -> Outcome | Design:
        """What is released, but for draws."""

    @contextmanager
    def paid(self, manifest: Manifest) -> Iterator[Spent | None]:
        """Pay for the release, where it costs; what becomes of it is recorded at the end."""
        yield None

    @abstractmethod
    def write_data(self) -> None:
        """Rows or tables, below ``public/``."""

    @abstractmethod
    def page(self, manifest: Manifest) -> bytes:
        """``about.html``."""

    @abstractmethod
    def described(self, manifest: Manifest) -> Codebook:
        """The labels to publish with what was written."""

    @abstractmethod
    def checked(self, manifest: Manifest) -> tuple[ClaimCheck, ...]:
        """What the verifier says of the data as they lie on the disk, in another process."""

    @abstractmethod
    def found(self) -> Mapping[str, object]:
        """What the evidence holds besides that of every release."""

    def _write_public(self, manifest: Manifest) -> Manifest:
        """The rest of ``public/``; the manifest with its ``files``."""
        method = self.prepared.method
        book = self.described(manifest)
        if book.variables:
            labels = variables_as_json(book.variables)
            refuse_unlisted({"variables": labels}, method)
            self.build.write_public(VARIABLES, canonical_json(labels))
        with page_is_made(method):
            page = self.page(manifest)
        self.build.write_public(ABOUT, page)
        manifest = replace(manifest, files=public_files(self.build.public, self.token))
        refuse_unlisted(manifest.as_json(), method)
        self.build.write_public(MANIFEST, canonical_json(manifest))
        return manifest

    def _write_internal(
        self,
        manifest: Manifest,
        checks: tuple[ClaimCheck, ...],
    ) -> None:
        """Evidence, report and seal."""
        prepared, build = self.prepared, self.build
        evidence = {
            **plan_values(
                *(manifest, prepared.plan, prepared.plan_name),
                *(prepared.method, prepared.given.parameters, prepared.given.roles),
            ),
            "source": source_facts(prepared.data, prepared.plan.source),
            "hierarchies": {
                name: [list(row) for row in hierarchy.rows()]
                for name, hierarchy in prepared.given.hierarchies.items()
                if isinstance(hierarchy, Hierarchy)
            },
            "commitment_key": self.work.key,
            "checks": recorded_checks(checks),
            **self.found(),
        }
        self.step(len(self.steps) - 1)
        evidence |= {
            "notes": self.work.notes,
            RECORDED_NOTES: self.work.recorded,
            "environment": environment(),
            "timings": dict(self.clock.seconds),
        }
        evidence[TABLE] = table_of(evidence)
        method, language = prepared.method, prepared.plan.language
        with page_is_made(method):
            page = review_page(manifest, evidence, method, language, self.book)
        printed = write_report(build, page, self.work.printer, self.token, self.work.report)
        build.write_internal(EVIDENCE, canonical_json({**evidence, PRINTED_TOO: printed}))
        build.write_internal(SEAL, seal_bytes(build.folder, self.token))


class _Rows(_Release):
    """Rows, recoded or with values drawn; they lie on the disk once and are read back from it."""

    steps = (
        "Search",
        "Write the microdata",
        "Describe and check the release",
        "Write the report",
    )
    prepared: PreparedRows

    def __init__(self, prepared: PreparedRows, work: _Work) -> None:
        super().__init__(prepared, work)
        self._noise_paid: tuple[str, ...] = ()
        self._priced = paid_rows_of(prepared.method)
        self._desk = None
        if self._priced is not None:
            self._desk = open_ledger(work.context, prepared.base, prepared.plan.budget)
        self._spent: Spent | None = None
        self._outcome: Outcome
        self._pseudonyms: Pseudonyms
        self._published: PublishedCsv
        self._labels: Codebook

    def decide(self) -> Outcome:
        """See :meth:`_Release.decide`; what was paid for noise on these people is noted."""
        from dpdesk.app.witnessing import noise_notes

        prepared = self.prepared
        self.step(0)
        self._outcome = prepared.decide(self.token, self.work.report)
        self.work.note(self._outcome.notes)
        if self._priced is None:
            budget = prepared.plan.budget
            self._noise_paid, notes = noise_notes(prepared.home, budget, prepared.data.sha256)
            self.work.note(notes, recorded=not self._noise_paid)  # else the log could not be read
        self.clock.lap("search")
        return self._outcome

    @contextmanager
    def paid(self, manifest: Manifest) -> Iterator[Spent | None]:
        """See :meth:`_Release.paid`; only values that are drawn from a budget cost."""
        prepared = self.prepared
        if self._priced is None or self._desk is None:
            yield None
            return
        if prepared.data.unreadable is None:
            raise TypeError("the source was not read as a method that spends reads it")
        charge = self._priced.price(prepared.given.roles, prepared.given.parameters)
        request = debit_request(self._desk, prepared, charge, self.token)
        with self._desk.spending(request, self.work.report, self.token) as spent:
            self._spent = spent
            yield spent

    def write_data(self) -> None:
        """See :meth:`_Release.write_data`."""
        prepared = self.prepared
        given = prepared.home, prepared.plan, prepared.data, self.token, self.work.report
        self._pseudonyms = fresh_pseudonyms(*given)
        if self._pseudonyms.replaced:
            self.clock.lap("pseudonyms")
        self.step(1)
        path = self.build.public / MICRODATA
        try:
            rows, expected = self._write_rows(path)
        except StorageError:
            self.token.check()  # a query that a cancel interrupts may look like a broken file
            raise
        self.clock.lap("write microdata")
        try:
            published = PublishedCsv(path, self.token)
        except UnreadableTableError as error:
            raise failed(msg("the table written {sentence}", sentence=error.sentence)) from error
        if not rows == published.rows == expected:
            raise failed(
                msg(
                    "{rows:,} rows were written, expected {expected:,}",
                    rows=published.rows,
                    expected=expected,
                )
            )
        check_persons(published, self._outcome.guarantee.parameters, prepared.plan, self.token)
        self._published = published

    def _write_rows(self, path: Path) -> tuple[int, int]:
        """Rows written, and rows that there should be; drawn rows are wiped from memory then."""
        prepared, data, report = self.prepared, self.prepared.data, self.work.report
        if not prepared.method.draws:
            recoding, replaced = self._outcome.required_recoding, self._pseudonyms.replaced
            written = data.write_recoded(recoding, path, self.token, report, replaced)
            return written, recoding.rows_out
        from dpdesk.engine.noise.randomness import SystemRandomness

        given, end = (prepared.given, self._outcome, data), (SystemRandomness(), self.token, report)
        if self._priced is None:
            rows = prepared.method.draw(*given, *end)
        elif self._spent is not None:
            rows = self._priced.draw_paid(*given, self._spent.debit, *end)
        else:
            raise TypeError("what costs is drawn with the receipt of its debit")
        self.clock.lap("draw")
        try:
            if {*rows.tables} != {*prepared.method.capabilities.tables}:
                raise failed("the method made other tables than it says")
            return data.write_rewritten(rows, path, self.token, report), rows.rows_out
        finally:
            rows.wipe()

    def described(self, manifest: Manifest) -> Codebook:
        """See :meth:`_Release.described`; with labels there is metadata for the table as well."""
        from dpdesk.app.labelling import labels_left_out, released_variables
        from dpdesk.report.about import EXAMPLES

        self.step(2)
        prepared, published, outcome = self.prepared, self._published, self._outcome
        quasi = prepared.given.with_role(Role.QUASI_IDENTIFIER)
        released = [name for name in quasi if name in published.columns]
        published.survey(released, EXAMPLES, self.token, self.work.report, self.steps[2])
        suppressed = outcome.recoding is not None and outcome.recoding.rows_suppressed > 0
        complete = not (outcome.drawn or suppressed or prepared.plan.source.query)
        replaced = frozenset(prepared.plan.pseudonyms)
        book = Codebook(
            released_variables(
                *(prepared.data.book, outcome.recoding, published, complete, self.token, replaced)
            )
        )
        sensitive = prepared.given.with_role(Role.SENSITIVE)
        lacking = labels_left_out(prepared.data.book, sensitive, published.columns)
        self.work.note(lacking, recorded=True)
        if book.variables:
            document = csvw_metadata(MICRODATA, published.columns, book, manifest)
            self.build.write_public(CSVW, canonical_json(document))
        self._labels = book
        return book

    def page(self, manifest: Manifest) -> bytes:
        """See :meth:`_Release.page`."""
        language = self.prepared.plan.language
        given = manifest, self.prepared.method, self._published, self.token, language
        return public_page(*given, self._labels)

    def checked(self, manifest: Manifest) -> tuple[ClaimCheck, ...]:
        """See :meth:`_Release.checked`; the order of the rows is looked at too."""
        prepared, published, token = self.prepared, self._published, self.token
        method, given = prepared.method, with_claim(prepared.given, self._outcome.recoding)
        difference = row_difference(method, manifest, published, given, prepared.data, token)
        likely = _counted_for_checks(manifest)
        place = manifest, published, given, prepared.data, token
        # Rows are compared here while the other process checks; a failed check is told first.
        with ThreadPoolExecutor(1, thread_name_prefix="strange-rows") as pool:
            compared = pool.submit(strange_rows, method, *place, prepared.plan.pseudonyms)
            checks = checked_rows(method, self.build.public, given, difference, likely, token)
        if any(check.status is CheckStatus.FAILED for check in checks):
            return checks
        if strange := compared.result():
            found = msg(
                "{strange:,} rows of the table are not rows of the source at these levels",
                strange=strange,
            )
            raise failed(found)
        sorts = method.capabilities.order is RowOrder.SORTED
        further = [published.beside(name, token) for name in method.capabilities.tables]
        for table in (published, *further) if sorts else ():
            unsorted = table.first_unsorted_row(token)
            if unsorted is not None:
                raise failed(
                    msg("row {unsorted:,} of the table is out of order", unsorted=unsorted)
                )
        return (*checks, *odd_draws(method, *place))

    def found(self) -> Mapping[str, object]:
        """See :meth:`_Release.found`; what stands out in the table is noted."""
        from dpdesk.report.review import LINKAGE, recoded_as_json

        prepared, outcome, published = self.prepared, self._outcome, self._published
        self.work.note(unique_notes(outcome, published, prepared.plan.pseudonyms, self.token))
        linkage = self._linkage()
        given, node = prepared.given, outcome.result.get("node")
        quasi = given.with_role(Role.QUASI_IDENTIFIER)
        recoded = recoded_as_json(outcome.recoding, quasi, node, given.hierarchies)
        pseudonyms = self._pseudonyms.recorded
        return {
            **({"pseudonyms": pseudonyms} if pseudonyms else {}),
            **({NOISE_PAID: list(self._noise_paid)} if self._noise_paid else {}),
            **self._paid_for(),
            "result": {**outcome.result, **outcome.internal},
            "risk": {**outcome.risk, **({LINKAGE: linkage} if linkage else {})},
            "utility": dict(outcome.utility),
            **found_values(outcome.figures, outcome.charts, recoded),
        }

    def _paid_for(self) -> Mapping[str, object]:
        """What was paid, where something was; doubts about the account are noted."""
        if self._spent is None or self._desk is None:
            return {}
        self.work.recorded += self._spent.doubts
        return {"budget": self._desk.paid(self._spent.debit)}

    def _linkage(self) -> Mapping[str, Mapping[str, int]]:
        """What the pseudonyms show of persons with several rows; notes say what stands out."""
        recorded, published = self._pseudonyms.recorded, self._published
        if not recorded:
            return {}
        linkage = linkage_risk(published, self._outcome.guarantee.parameters, self.token)
        self.work.note(notes_of(recorded, published, linkage, self.token))
        return linkage


def _counted_for_checks(manifest: Manifest) -> Iterator[tuple[str, ...]]:
    """Columns of which a check of this guarantee asks the counts in the source."""
    given = manifest.guarantee.parameters
    quasi = as_list(given.get("quasi_identifiers", []))
    if "k" in given and quasi:
        yield tuple(map(str, quasi))
    yield from ((str(name),) for name in as_list(given.get("diverted", [])))
    yield from ((str(name),) for name in as_list(given.get("separated", [])))


class _Tables(_Release):
    """Tables with noise: paid for before the data are measured, once; not looked at after it."""

    steps = ("Debit and measure", "Process", "Write the tables", "Describe and check", "Report")
    prepared: PreparedTables

    def __init__(self, prepared: PreparedTables, work: _Work) -> None:
        if prepared.data.unreadable is None:
            raise TypeError("the source was not read as a private method reads it")
        super().__init__(prepared, work)
        self._desk = open_ledger(work.context, prepared.base, prepared.plan.budget)
        self._internal: Mapping[str, object] = {}
        self._spent: Spent

    def decide(self) -> Design:
        """See :meth:`_Release.decide`."""
        return self.prepared.decide(self.token, self.work.report)

    @contextmanager
    def paid(self, manifest: Manifest) -> Iterator[Spent]:
        """See :meth:`_Release.paid`; what could not be told in public is refused before it."""
        with printed_beside(self.prepared, self.token), page_is_made(self.prepared.method):
            self.page(manifest)
        charge = self.prepared.design.charge
        request = debit_request(self._desk, self.prepared, charge, self.token)
        with self._desk.spending(request, self.work.report, self.token) as spent:
            self._spent = spent
            yield spent

    def write_data(self) -> None:
        """See :meth:`_Release.write_data`."""
        from dpdesk.io.cuboid_files import write_cuboid

        tables = self._measured()
        self.step(2)
        for table in tables:
            path = self.build.public / table.file
            path.parent.mkdir(exist_ok=True)
            write_cuboid(table, path, self.token)
        self.clock.lap("write the tables")

    def _measured(self) -> tuple[CuboidTable, ...]:
        """Noise over the data, then the tables to publish."""
        from dpdesk.engine.noise.randomness import SystemRandomness

        design, data, report = self.prepared.design, self.prepared.data, self.work.report
        self.step(0)
        found = design.measure(data, self._spent.debit, SystemRandomness(), self.token, report)
        self._internal = found.internal
        self.clock.lap("measure")
        self.step(1)
        tables = design.process(found.noisy, self.token, report)
        self.clock.lap("process")
        return tables

    def described(self, manifest: Manifest) -> Codebook:
        """See :meth:`_Release.described`; the store is not asked for labels that nobody wants."""
        from dpdesk.app.private.labelling import asks_labels, dimension_labels

        self.step(3)
        if asks_labels(manifest):
            self.book = Codebook(dimension_labels(self.prepared.data.book, manifest))
        return self.book

    def page(self, manifest: Manifest) -> bytes:
        """See :meth:`_Release.page`."""
        from dpdesk.app.private.checking import public_page

        return public_page(manifest, self.prepared.method, self.prepared.plan.language, self.book)

    def checked(self, manifest: Manifest) -> tuple[ClaimCheck, ...]:
        """See :meth:`_Release.checked`."""
        home = self.work.context.workspace.home
        return checked_tables(self.prepared.method, self.build.public, home, self.token)

    def found(self) -> Mapping[str, object]:
        """See :meth:`_Release.found`; of the data, nothing is noted."""
        design = self.prepared.design
        self.work.recorded += self._spent.doubts
        return {
            "result": {**design.result, **self._internal},
            "budget": self._desk.paid(self._spent.debit),
            "risk": {},
            "utility": {},
            **found_values((), design.charts, ()),
        }


class _Cells(_Release):
    """Protected tables: counted, protected, and where they are rounded at random, drawn once."""

    steps = ("Count and protect", "Write the tables", "Describe and check", "Write the report")
    prepared: PreparedCells
    _outcome: CellsOutcome

    def decide(self) -> CellsOutcome:
        """See :meth:`_Release.decide`; what was paid for noise on these people is noted."""
        from dpdesk.app.witnessing import noise_notes

        prepared = self.prepared
        self.step(0)
        self._outcome = prepared.decide(self.token, self.work.report)
        self.work.note(self._outcome.notes)
        budget = prepared.plan.budget
        self._noise_paid, notes = noise_notes(prepared.home, budget, prepared.data.sha256)
        self.work.note(notes, recorded=not self._noise_paid)
        from dpdesk.app.past_tables import past_notes, plan_notes

        asked, tables = prepared.plan.protection.parameters, self._outcome.tables
        self.work.note(plan_notes(prepared.data, asked, tables, self.token))
        earlier = past_notes(prepared, self.work.context.workspace, asked, tables, self.token)
        self.work.note(earlier, recorded=True)
        self.clock.lap("search")
        return self._outcome

    def write_data(self) -> None:
        """See :meth:`_Release.write_data`; all cells as they are for the agency."""
        from dpdesk.io.table_files import write_table

        self.step(1)
        from dpdesk.app import cells  # loaded for this kind alone

        self._outcome = cells.drawn(self.prepared, self._outcome, self.token)
        for table in self._outcome.tables:
            for part, internal in ((self.build.public, False), (self.build.internal, True)):
                path = part / table.file
                path.parent.mkdir(exist_ok=True, mode=0o700 if internal else 0o777)
                write_table(table, path, self.token, internal=internal)
        self.clock.lap("write the tables")

    def described(self, manifest: Manifest) -> Codebook:
        """See :meth:`_Release.described`."""
        self.step(2)
        return NO_BOOK

    def page(self, manifest: Manifest) -> bytes:
        """See :meth:`_Release.page`."""
        from dpdesk.app import cells

        return cells.public_page(manifest, self.prepared.method, self.prepared.plan.language)

    def checked(self, manifest: Manifest) -> tuple[ClaimCheck, ...]:
        """See :meth:`_Release.checked`; compared with the source where the files hold."""
        method, given = self.prepared.method, self.prepared.given
        checks = checked_cells(method, self.build.public, self.build.internal, self.token)
        if any(check.status is CheckStatus.FAILED for check in checks):
            return checks
        from dpdesk.app import cells

        published, kept = cells.both_tables(
            manifest, self.build.public, self.build.internal, self.token
        )
        recorded = {**self._outcome.result, **self._outcome.internal}
        given = replace(given, edit=self._outcome.edit)
        return method.verify(manifest, published, kept, given, self.token, recorded)

    def found(self) -> Mapping[str, object]:
        """See :meth:`_Release.found`."""
        from dpdesk.app import cells

        outcome = self._outcome
        return {
            **({NOISE_PAID: list(self._noise_paid)} if self._noise_paid else {}),
            "result": {**outcome.result, **outcome.internal},
            **cells.edits_of(outcome),
            "risk": dict(outcome.risk),
            "utility": dict(outcome.utility),
            **found_values(outcome.figures, outcome.charts, ()),
        }


def write_report(
    build: ReleaseBuilder, page: bytes, printer: Printer | None, token: CancelToken, report: Report
) -> bool:
    """The report as a page and as a PDF; a release does not fail for want of the latter.

    Whether there is a PDF is said in the evidence, so that it cannot be taken away in silence.
    """
    build.write_internal(REPORT, page)
    if printer is None:
        return False
    try:
        printed = printer.pdf(page, token)
    except StorageError as error:
        report(Note(error.code, error.sentence))
        return False
    build.write_internal(PRINTED, printed)
    return True


def read_back(build: ReleaseBuilder, about: Capabilities, token: CancelToken) -> None:
    """Hashes, seal and commitment once more, from the files as written."""
    found = check_files(build.folder, lambda _: about, token)
    if found.failures:
        failure = found.failures[0]
        raise StorageError(
            "storage.changed",
            msg(
                "{out}: {path} {reason} right after it was written.",
                out=build.out,
                path=failure.path,
                reason=failure.reason,
            ),
            hint="The disk may be faulty; choose another one.",
        )
