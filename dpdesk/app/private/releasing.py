"""Write a release with noise: debit, measure once, process, check, seal; whole or not at all."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.checked_aside import checked_tables, failed, warm_checker
from dpdesk.app.evidence import (
    environment,
    found_values,
    plan_values,
    recorded_checks,
    review_page,
    source_facts,
)
from dpdesk.app.evidence_keys import PRINTED_TOO, RECORDED_NOTES
from dpdesk.app.labelling import variables_as_json
from dpdesk.app.ledgers import LedgerDesk, Spent, open_ledger
from dpdesk.app.manifests import new_manifest, refuse_unlisted
from dpdesk.app.private.labelling import asks_labels, dimension_labels
from dpdesk.app.private.pages import public_page
from dpdesk.app.private.pinning import used_columns
from dpdesk.app.private.preparing import PreparedDesign, hierarchies_of
from dpdesk.app.releasing import Clock, read_back, write_report
from dpdesk.app.restating import page_is_made
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.release import ReleaseSummary
from dpdesk.io.canonical import canonical_json
from dpdesk.io.release_folder import (
    ABOUT,
    EVIDENCE,
    MANIFEST,
    SEAL,
    VARIABLES,
    ReleaseBuilder,
    fresh_key,
    public_files,
    seal_bytes,
)
from dpdesk.report.printing import Printer

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.budget import Debit, DebitRequest
    from dpdesk.core.cuboid import CuboidTable
    from dpdesk.io.workspace import Workspace

_STEPS = ("Debit and measure", "Process", "Write the tables", "Describe and check", "Report")


def write_private_release(
    context: AppContext, prepared: PreparedDesign, out: Path, token: CancelToken, report: Report
) -> ReleaseSummary:
    """Pay, draw the noise, and write the release folder ``out``, which must be absent or empty.

    The debit is on the disk before any noise exists; whatever fails afterwards stays spent, with
    the reason in the ledger. On any error ``out`` is as it was.

    Raises
    ------
    InputError
        ``out.not-empty``, ``out.not-folder``.
    RefusedError
        ``ledger.exhausted``: the budget is not enough; nothing was debited then.
    StorageError
        The ledger or the disk fails, or ``resources.*``: the texts of the pages cannot be read.
    Cancelled
        The token was cancelled.
    """
    if prepared.data.unreadable is None:
        raise TypeError("the source was not read as a private method reads it")
    desk = open_ledger(context, prepared.base, prepared.plan.budget)
    with ReleaseBuilder(out, context.workspace) as build, Printer() as printer:
        token.check()
        printer.warm()
        key = fresh_key()
        manifest = _manifest(prepared, key)  # what must not be public is refused before it is paid
        with page_is_made(prepared.method):  # and so is what cannot be told
            public_page(manifest, prepared.method, prepared.plan.language)
        warm_checker()
        with desk.spending(debit_request(desk, prepared, token), report, token) as spent:
            work = _Work(prepared, build, context.workspace, token, report, printer)
            tables = work.measured(spent.debit)
            work.write_public(tables, manifest)
            del tables
            checks = work.check()
            work.write_internal(manifest, key, checks, spent, desk)
            read_back(build, prepared.method.capabilities, token)
            token.check()
            target = build.commit(datetime.date.fromisoformat(str(manifest["created"])))
            spent.released(hashlib.sha256(canonical_json(manifest)).hexdigest())
    design = prepared.design
    return ReleaseSummary(
        target, prepared.method.id, design.guarantee.as_json(), dict(design.result)
    )


def _manifest(prepared: PreparedDesign, key: str) -> dict[str, object]:
    design, parameters = prepared.design, prepared.given.parameters
    committed = prepared.data.sha256, key
    plan, method = prepared.plan, prepared.method
    return new_manifest(plan, method, parameters, design.guarantee, design.result, committed)


def debit_request(desk: LedgerDesk, prepared: PreparedDesign, token: CancelToken) -> DebitRequest:
    """What a design has to pay, for the ledger."""
    charge, data = prepared.design.charge, prepared.data
    measured = used_columns(prepared.plan, data.columns)
    return desk.request(
        charge.cost,
        data.sha256,
        data.columns,
        charge.purpose(prepared.method.title),
        neighbours=charge.neighbours,
        unit=charge.unit,
        draws=charge.draws,
        title=prepared.plan.title,
        content=data.content(measured, token),
    )


@dataclass
class _Work:
    """The steps of one release; ``internal`` gathers what stays in the agency, ``book`` what is
    published of labels.
    """

    prepared: PreparedDesign
    build: ReleaseBuilder
    workspace: Workspace
    token: CancelToken
    report: Report
    printer: Printer
    clock: Clock = field(default_factory=Clock)
    internal: dict[str, object] = field(default_factory=dict)
    book: Codebook = NO_BOOK

    def _step(self, index: int) -> None:
        self.token.check()
        self.report(StepStarted(_STEPS[index], index + 1, len(_STEPS)))

    def measured(self, debit: Debit) -> tuple[CuboidTable, ...]:
        """Noise over the data, then the tables to publish; the data are not seen after it."""
        from dpdesk.engine.noise.randomness import SystemRandomness

        design, data = self.prepared.design, self.prepared.data
        self._step(0)
        found = design.measure(data, debit, SystemRandomness(), self.token, self.report)
        self.internal.update(found.internal)
        self.clock.lap("measure")
        self._step(1)
        tables = design.process(found.noisy, self.token, self.report)
        self.clock.lap("process")
        return tables

    def write_public(self, tables: tuple[CuboidTable, ...], manifest: dict[str, object]) -> None:
        """All of ``public/``; ``manifest`` gets its ``files``."""
        from dpdesk.io.cuboid_files import write_cuboid

        self._step(2)
        prepared, public = self.prepared, self.build.public
        for table in tables:
            path = public / table.file
            path.parent.mkdir(exist_ok=True)
            write_cuboid(table, path, self.token)
        self.clock.lap("write the tables")
        self._step(3)
        method = prepared.method
        found = dimension_labels(prepared.data.book, manifest) if asks_labels(manifest) else ()
        if found:
            labels = variables_as_json(found)
            refuse_unlisted({"variables": labels}, method)
            self.build.write_public(VARIABLES, canonical_json(labels))
        self.book = Codebook(found)
        page = public_page(manifest, method, prepared.plan.language, self.book)
        self.build.write_public(ABOUT, page)
        manifest["files"] = public_files(public, self.token)
        refuse_unlisted(manifest, method)
        self.build.write_public(MANIFEST, canonical_json(manifest))

    def check(self) -> tuple[ClaimCheck, ...]:
        """What the verifier says of the tables as they lie on the disk, in another process."""
        public, home = self.build.public, self.workspace.home
        checks = checked_tables(self.prepared.method, public, home, self.token)
        for check in checks:
            if check.status is CheckStatus.FAILED:
                raise failed(f"{check.claim}: {check.found}")
        self.clock.lap("check")
        return checks

    def write_internal(
        self,
        manifest: Mapping[str, object],
        key: str,
        checks: tuple[ClaimCheck, ...],
        spent: Spent,
        desk: LedgerDesk,
    ) -> None:
        """Evidence, report and seal."""
        self._step(4)
        prepared = self.prepared
        evidence = self._evidence(manifest, key, checks, spent, desk)
        method, language = prepared.method, prepared.plan.language
        with page_is_made(method):
            page = review_page(manifest, evidence, method, language, self.book)
        printed = write_report(self.build, page, self.printer, self.token, self.report)
        self.build.write_internal(EVIDENCE, canonical_json({**evidence, PRINTED_TOO: printed}))
        self.build.write_internal(SEAL, seal_bytes(self.build.folder, self.token))

    def _evidence(
        self,
        manifest: Mapping[str, object],
        key: str,
        checks: tuple[ClaimCheck, ...],
        spent: Spent,
        desk: LedgerDesk,
    ) -> dict[str, object]:
        prepared = self.prepared
        given, design = prepared.given, prepared.design
        return {
            **plan_values(
                *(manifest, prepared.plan, prepared.plan_name),
                *(prepared.method, given.parameters, given.roles),
            ),
            "source": source_facts(prepared.data, prepared.plan.source),
            "hierarchies": hierarchies_of(given),
            "commitment_key": key,
            "result": {**design.result, **self.internal},
            "budget": desk.paid(spent.debit),
            "risk": {},
            "utility": {},
            **found_values((), design.charts, ()),
            "checks": recorded_checks(checks),
            "notes": list(prepared.notes),
            RECORDED_NOTES: [*prepared.recorded_notes, *spent.doubts],
            "environment": environment(),
            "timings": dict(self.clock.seconds),
        }
