"""Check a release from its files: names, hashes, seal, commitment, and every claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.at_hand import AtHand, Given, check_file
from dpdesk.app.evidence import recorded_checks
from dpdesk.app.evidence_checks import (
    as_recorded,
    checks_fault,
    evidence_faults,
    figures_check,
    hierarchy_faults,
    hierarchy_files_check,
    message_faults,
    needs_source,
    note_faults,
    outcome_faults,
    remade_fault,
    source_faults,
)
from dpdesk.app.idle_columns import left_out
from dpdesk.app.idle_entries import idle_check, lacking_rows
from dpdesk.app.labelling import label_faults, released_variables, strange_labels
from dpdesk.app.manifests import notes_on_rows
from dpdesk.app.method_claims import beyond
from dpdesk.app.page_checks import (
    about_check,
    other_texts,
    plan_fault,
    recorded_hierarchies,
    setting_checks,
)
from dpdesk.app.payment_checks import payment_claims, settled_faults
from dpdesk.app.planning import prepared_again, read_population
from dpdesk.app.pseudonyms import linkage_risk
from dpdesk.app.reports import report_checks
from dpdesk.app.self_check import HandedCounts, counted_draws, row_difference
from dpdesk.app.texts import fairly_judged, same_texts, texts_check, unlike_quoted
from dpdesk.core.capabilities import Capabilities, RowOrder
from dpdesk.core.errors import Cancelled, DpdeskError, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted, ending
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plan import Plan
from dpdesk.core.release import MADE_AGAIN, CheckStatus, ClaimCheck, Failure, Manifest, VerifyReport
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.method import CellsMethod, Method, MethodInput, RowsMethod, ends_of, with_claim
from dpdesk.engine.private.method import PrivateMethod
from dpdesk.engine.registry import Registry, cells_of, noise_of, paid_rows_of, priced_of, rows_of
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_check import ReleaseFiles, check_files
from dpdesk.io.release_check import read_release as read_release
from dpdesk.io.release_folder import (
    ABOUT,
    EVIDENCE,
    INTERNAL,
    MANIFEST,
    MICRODATA,
    VARIABLES,
)
from dpdesk.io.safewrite import hash_file
from dpdesk.io.source import FilePrint

if TYPE_CHECKING:
    from dpdesk.app.pseudonyms import Remade
    from dpdesk.core.recoding import AnyRecoding
    from dpdesk.io.store import DataStore
    from dpdesk.io.workspace import Workspace

UNSEALED = (
    "manifest unsealed: only the public part is available, so the manifest itself could have "
    "been changed; the claims were nevertheless checked against the table."
)
_NO_EVIDENCE = (
    "the source could not be compared: the key of the commitment is in the internal part."
)
_NOT_CHECKED_NOTE = (
    "what is marked as not checked was not compared with anything; only a signature over the "
    "manifest, or the program that wrote it, can show that it is genuine."
)
_NO_POPULATION = "the release does not mention a population; the population file was not used."
_NO_PLAN = (
    "the population file could not be used: the plan and the hierarchies are in the internal part."
)
_POPULATION_NEEDED = (
    "the source was not compared: that needs the population file as well (--population)."
)
_CLAIMS = "Check the claims"
_MALFORMED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


def verify_release(
    path: Path,
    registry: Registry,
    token: CancelToken,
    report: Report,
    source: Given | None = None,
    workspace: Workspace | None = None,
    *,
    reviewed: bool = False,
    population: Path | None = None,
) -> VerifyReport:
    """Recompute everything that ``path`` (a release folder, or its ``public/`` alone) claims.

    Whatever is changed, missing, unparsable or unexpected becomes a failure, never an exception.
    With ``source``, a file or the address of a server or cluster that has the plan's table, its
    hash is compared with the evidence, and the claims that need it are re-checked in a private
    ``workspace`` (opened for the purpose when None). With ``reviewed`` there may be a review in the
    folder, whose signatures the caller checks. ``population`` is the file that the plan names so;
    without it, it is looked for next to ``source``.

    Raises InputError when ``path`` is no folder, ``source`` or ``population`` no file; Cancelled.
    """
    at_hand = None if source is None else AtHand.of(source)
    if population is not None:
        check_file(population)
    report(StepStarted("Check hashes and seal", 1, 2))

    def known(method: str) -> Capabilities:
        return registry.get(method, "the manifest").capabilities

    found = check_files(path, known, token, reviewed=reviewed)
    report(StepStarted(_CLAIMS, 2, 2))
    checker = _Checker(found, registry, token, report)
    claims = checker.claims(at_hand, workspace, population)
    notes = list(checker.notes)
    if any(check.status is CheckStatus.NOT_CHECKED for check in claims):
        notes.append(_NOT_CHECKED_NOTE)
    if found.internal is None:
        notes.insert(0, UNSEALED)
    return VerifyReport(
        not found.failures, claims, tuple(found.failures), tuple(notes), found.sealed
    )


class _Checker:
    """The claims of one release; faults go into ``found.failures``."""

    def __init__(
        self, found: ReleaseFiles, registry: Registry, token: CancelToken, report: Report
    ) -> None:
        self._found = found
        self._registry = registry
        self._token = token
        self._report = report
        self.notes: list[str] = []
        self._figures: ClaimCheck | None = None
        self._population: Path | None = None

    def claims(
        self, source: AtHand | None, workspace: Workspace | None, population: Path | None = None
    ) -> tuple[ClaimCheck, ...]:
        """All claims with what was found; failed ones are failures of their file too."""
        manifest = self._found.manifest
        if manifest is None:
            return ()
        try:
            method = self._registry.get(manifest.method, "the manifest")
        except InputError as error:
            self._fail(MANIFEST, error.sentence)
            return ()
        same = source is not None and self._is_source(source, method, workspace)
        same = self._has_population(source if same else None, population) and same
        at_hand = manifest, source if same else None, workspace
        checks: tuple[ClaimCheck, ...] = ()
        noise, rows, cells = noise_of(method), rows_of(method), cells_of(method)
        try:
            if cells is not None:
                checks = self._cells(cells, *at_hand)
            elif noise is not None:
                checks = self._private(noise, *at_hand)
            elif rows is not None:
                checks = self._rows(rows, *at_hand)
            else:
                self._fail(MANIFEST, "the method does not say what it releases")
                return ()
        except _MALFORMED as error:
            self._fail(
                MANIFEST, msg("its claims cannot be read ({name})", name=type(error).__name__)
            )
        if checks:
            checks = (*checks, texts_check(manifest))
        self._fail_checks(checks, MICRODATA if noise is None else MANIFEST)
        return (*checks, *self._internal(method, manifest, checks, source if same else None))

    def _rows(
        self,
        method: RowsMethod,
        manifest: Manifest,
        source: AtHand | None,
        workspace: Workspace | None,
    ) -> tuple[ClaimCheck, ...]:
        """The claims of a release of rows; with ``source``, those that need it are settled."""
        published = self._table(method)
        if published is None:
            return ()
        try:
            if source is not None:
                checks = self._with_source(method, manifest, published, source, workspace)
            else:
                checks = self._public(method, manifest, published, workspace)
                checks = (*checks, *beyond(method, manifest, checks))
            checks = fairly_judged(manifest, checks)
            checks = (*checks, *self._restated(method, manifest, published, checks))
        except UnreadableTableError as error:
            self._fail(MICRODATA, error.sentence)
            return ()
        return checks

    def _public(
        self,
        method: RowsMethod,
        manifest: Manifest,
        published: PublishedCsv,
        workspace: Workspace | None,
    ) -> tuple[ClaimCheck, ...]:
        """The claims without the source; with a population file, those that it settles."""
        if self._population is None:
            return method.verify(manifest, published, self._token)
        facts, where = self._found.facts(), "the plan in the evidence"
        quasi = as_list(manifest.guarantee.parameters["quasi_identifiers"])
        roles = dict.fromkeys(map(str, quasi), Role.QUASI_IDENTIFIER)
        nothing = HandedCounts("", 0, tuple(roles))
        try:
            recorded = recorded_hierarchies(facts.evidence.hierarchies)
            plan = Plan.from_plain(facts.evidence.plan, where)
            given = MethodInput(
                *(roles, recorded, {}, where), source=nothing, made=plan.made_hierarchies()
            )
            with ExitStack() as stack:
                place = self._population, _place(workspace, stack), self._token
                given = replace(given, population=read_population(plan, given, *place))
            return method.verify_with_population(manifest, published, given, self._token)
        except DpdeskError as error:
            self._unread(self._population, error)
            return method.verify(manifest, published, self._token)

    def _private(
        self,
        method: PrivateMethod,
        manifest: Manifest,
        source: AtHand | None,
        workspace: Workspace | None,
    ) -> tuple[ClaimCheck, ...]:
        """The claims of a release with noise."""
        from dpdesk.app.private.checking import checks_with_source, private_claims

        try:
            checks, claimed = private_claims(self._found, method, manifest, self._token)
            sound = bool(checks) and not _failed(checks)  # none: a table is missing, which is told
            if source is not None and self._found.evidence is not None and sound:
                with ExitStack() as stack:
                    self._figures, more = checks_with_source(
                        *(self._found, manifest, method, claimed, source),
                        *(_place(workspace, stack), self._token, self._report),
                    )
                    checks = (*checks, *more)
        except Cancelled:
            raise
        except InputError as error:
            self._fail(MANIFEST, error.sentence)
            return ()
        except DpdeskError as error:
            self._unread(source, error)
            return ()
        return checks

    def _cells(
        self,
        method: CellsMethod,
        manifest: Manifest,
        source: AtHand | None,
        workspace: Workspace | None,
    ) -> tuple[ClaimCheck, ...]:
        """The claims of a release of protected tables; with ``source``, what it settles."""
        from dpdesk.app.cells import cells_claims, earlier_checks, evidence_check, given_again

        try:
            with ExitStack() as stack:
                given = None
                if source is not None:
                    place = _place(workspace, stack), self._token, self._report
                    given, data, notes = given_again(self._found, method, source, *place)
                    stack.callback(data.close)
                claimed, checks = cells_claims(self._found, method, manifest, given, self._token)
                whole = given is not None and self._found.internal is not None
                if whole and given is not None and checks and not _failed(checks):
                    more = given, data, notes, claimed, self._token
                    self._figures = evidence_check(self._found, manifest, method, *more)
                    if workspace is not None and source is not None:
                        here = source, data, workspace, self._token
                        checks = (*checks, *earlier_checks(self._found, manifest, *here))
        except Cancelled:
            raise
        except DpdeskError as error:
            if source is None:
                self._fail(MANIFEST, error.sentence)
            else:
                self._unread(source, error)
            return ()
        except OSError as error:
            self._fail(MANIFEST, error.strerror or type(error).__name__)
            return ()
        return checks

    def _internal(
        self,
        method: Method,
        manifest: Manifest,
        checks: Sequence[ClaimCheck],
        source: AtHand | None,
    ) -> list[ClaimCheck]:
        """What the internal part says: every key of the evidence, and the report made again."""
        evidence = self._found.evidence
        if self._found.internal is None or evidence is None:
            return []
        try:
            complete = same_texts(manifest)
            spends = priced_of(method) is not None
            for fault in evidence_faults(
                manifest, evidence, method, spends=spends, complete=complete
            ):
                self._fail_evidence(fault)
            lacking = () if _failed(checks) or not complete else lacking_rows(evidence, method)
            for fault in lacking:
                self._fail_evidence(fault)
            if _failed(checks) or self._found.failures:
                return []
            stated, _ = hash_file(self._found.public / MANIFEST, self._token)
            unlike = settled_faults(evidence, stated) if spends and complete else ()
            for fault in unlike:  # with other texts the release is not checked anyway
                self._fail_evidence(fault)
                return []
            more = [self._figures or needs_source(), as_recorded(evidence)]
            more += payment_claims(manifest, evidence) if spends else []
            if source is not None:
                more += hierarchy_files_check(evidence, source)
            more += idle_check(manifest, evidence, method)
            more += report_checks(
                *(self._found.root, self._found.public, manifest, evidence, method), self._token
            )
            more = unlike_quoted(checks, more)
        except OSError as error:
            self._found.fail(self._found.root / INTERNAL, _cannot(error))
            return []
        except _MALFORMED as error:
            self._fail_evidence(msg("cannot be read ({name})", name=type(error).__name__))
            return []
        self._fail_checks(more)
        return more

    def _fail_evidence(self, reason: str) -> None:
        self._found.fail(self._found.root / INTERNAL / EVIDENCE, reason)

    def _unread(self, source: AtHand | Path | None, error: DpdeskError) -> None:
        self._found.failures.append(
            Failure(
                str(source),
                msg("could not be read as the evidence says: {sentence}", sentence=error.sentence),
            )
        )

    def _restated(
        self,
        method: RowsMethod,
        manifest: Manifest,
        published: PublishedCsv,
        checks: tuple[ClaimCheck, ...],
    ) -> list[ClaimCheck]:
        """What the release says a second time: settings, the page, the plan in the evidence."""
        evidence = self._found.evidence
        more = setting_checks(manifest, method)
        fault = None if evidence is None else plan_fault(manifest, evidence, method)
        if evidence is not None and fault is None and not _failed(checks):
            fault = method.evidence_fault(manifest, evidence, published, self._token)
            if fault is None and same_texts(manifest):
                fault = remade_fault(evidence)
        if fault is not None:
            self._found.fail(self._found.root / INTERNAL / EVIDENCE, fault)
        self._check_variables(manifest, published)
        page = self._found.public / ABOUT
        if page.is_symlink() or not page.is_file() or _failed([*checks, *more]):
            return more
        try:
            about = about_check(manifest, method, published, page, self._token)
            return [*more, *unlike_quoted(checks, [about])]
        except OSError as error:
            self._fail(ABOUT, _cannot(error))
            return more

    def _check_variables(self, manifest: Manifest, published: PublishedCsv) -> None:
        """The labels of the columns must be readable, of columns that there are, and said once."""
        for name, fault in label_faults(self._found.public, manifest, published.columns):
            self._fail(name, fault)

    def _table(self, method: RowsMethod) -> PublishedCsv | None:
        path = self._found.public / MICRODATA
        if path.is_symlink() or not path.is_file() or path in self._found.unread:
            return None
        try:
            published = PublishedCsv(path, self._token)
            self._survey(published)
            self._check_order(method, MICRODATA, published)
        except UnreadableTableError as error:
            self._fail(MICRODATA, error.sentence)
        except OSError as error:
            self._fail(MICRODATA, _cannot(error))
        else:
            names = method.capabilities.tables
            further = [self._further(method, name, published) for name in names]
            return published if all(further) else None
        return None

    def _check_order(self, method: RowsMethod, name: str, table: PublishedCsv) -> None:
        """The rows of a table must stand in the order that the method says."""
        order = method.capabilities.order
        if order is None:
            self._fail(name, "the method does not say in which order its rows are")
        if order is RowOrder.SORTED:
            row = table.first_unsorted_row(self._token)
            if row is not None:
                self._fail(name, msg("row {row:,} is out of order, expected sorted rows", row=row))

    def _further(self, method: RowsMethod, name: str, published: PublishedCsv) -> bool:
        """Whether a public table next to the rows can be read."""
        path = self._found.public / name
        if path.is_symlink() or not path.is_file() or path in self._found.unread:
            return False
        try:
            self._check_order(method, name, published.beside(name, self._token))
        except UnreadableTableError as error:
            self._fail(name, error.sentence)
        except OSError as error:
            self._fail(name, _cannot(error))
        else:
            return True
        return False

    def _survey(self, published: PublishedCsv) -> None:
        """Read the table once for all that the checks will ask, as far as the claim can be read."""
        from dpdesk.report.about import EXAMPLES

        names = self._found.facts().manifest.guarantee.parameters.get("quasi_identifiers")
        known = (
            [name for name in names if name in published.columns] if isinstance(names, list) else []
        )
        published.survey(known, EXAMPLES, self._token, self._report, _CLAIMS)

    def _is_source(self, source: AtHand, method: Method, workspace: Workspace | None) -> bool:
        recorded = self._found.facts().evidence
        if not recorded.source.sha256:
            self.notes.append(_NO_EVIDENCE)
            return False
        known = FilePrint(recorded.source.sha256, recorded.source.bytes)
        try:
            difference = self._difference(source, known, method, workspace)
        except Cancelled:
            raise
        except DpdeskError as error:
            if not source.address:
                raise
            self._unread(source, error)
            return False
        if difference is None:
            self.notes.append(
                msg("{name} is the source that the evidence names.", name=source.name)
            )
            return True
        reason = msg("is not the source of this release: {difference}", difference=difference)
        self._found.failures.append(Failure(str(source), reason))
        return False

    def _difference(
        self, source: AtHand, known: FilePrint, method: Method, workspace: Workspace | None
    ) -> str | None:
        """In what a source is another one than that of the release; None for nothing."""
        if not source.address:
            return known.difference(source.file, self._token)
        plan = Plan.from_plain(self._found.facts().evidence.plan, "the plan in the evidence")
        private = noise_of(method) is not None
        with ExitStack() as stack:
            place = _place(workspace, stack), self._token, self._report
            return source.difference(known, plan, *place, private=private)

    def _has_population(self, source: AtHand | None, given: Path | None) -> bool:
        """Whether the file of the population is at hand, where the release speaks of one.

        Without ``given``, it is the one that the plan names, if it is next to the source.
        """
        evidence = self._found.evidence
        result = None if evidence is None else evidence.get("result")
        recorded = result.get("population") if isinstance(result, Mapping) else None
        if evidence is None or not isinstance(recorded, Mapping):
            if given is not None:
                self.notes.append(_NO_POPULATION if evidence is not None else _NO_PLAN)
            return True
        file = given
        if file is None and source is not None:
            file = _near_population(evidence, source)
        if file is None:
            if source is not None:
                self.notes.append(_POPULATION_NEEDED)
            return False
        size = recorded.get("bytes")
        known = FilePrint(str(recorded.get("sha256")), size if isinstance(size, int) else None)
        difference = known.difference(file, self._token)
        if difference is None:
            self._population = file
            return True
        reason = msg(
            "is not the population file of this release: {difference}", difference=difference
        )
        self._found.failures.append(Failure(str(file), reason))
        return False

    def _with_source(
        self,
        method: RowsMethod,
        manifest: Manifest,
        published: PublishedCsv,
        source: AtHand,
        workspace: Workspace | None,
    ) -> tuple[ClaimCheck, ...]:
        """Claims settled with the source; when its plan cannot be read, those without it."""
        try:
            with ExitStack() as stack:
                workspace = _place(workspace, stack)
                given, data = self._given(method, source, workspace)
                stack.callback(data.close)
                difference = row_difference(method, manifest, published, given, data, self._token)
                given = self._with_claim(method, manifest, given)
                checks = method.verify_with_source(
                    manifest, published, given, difference, self._token
                )
                checks = (*checks, *beyond(method, manifest, checks, compared=True))
                checks = fairly_judged(manifest, checks)
                if _failed(checks):
                    return checks
                draws = counted_draws(method, manifest, published, given, data, self._token)
                if draws is not None and draws.status is CheckStatus.FAILED:
                    return (*checks, draws)
                self._figures = self._figures_again(
                    method, manifest, published, given, data, checks
                )
                self._compare_evidence(method, manifest, given)
                recoding: AnyRecoding | None = given.claimed
                if not method.draws and recoding is None:
                    recoding = method.claimed_recoding(manifest, given, self._token)
                self._compare_labels(manifest, published, recoding, data)
                if recoding is None:
                    return checks if draws is None else (*checks, draws)
                return (*checks, self._made_again(recoding, published, data, workspace))
        except (Cancelled, UnreadableTableError):
            raise
        except DpdeskError as error:
            self._unread(source, error)
            checks = method.verify(manifest, published, self._token)
            return (*checks, *beyond(method, manifest, checks))

    def _with_claim(
        self, method: RowsMethod, manifest: Manifest, given: MethodInput
    ) -> MethodInput:
        """With what the plan gives on the source now, where tuples have values of their own.

        Verifiers follow it from the source to the table; without one they say so.
        """
        if method.draws or "node" in manifest.result:
            return given
        try:
            return with_claim(given, method.claimed_recoding(manifest, given, self._token))
        except RefusedError:
            return given

    def _figures_again(
        self,
        method: RowsMethod,
        manifest: Manifest,
        published: PublishedCsv,
        given: MethodInput,
        data: DataStore,
        checks: Sequence[ClaimCheck],
    ) -> ClaimCheck | None:
        """The figures of the evidence against those that the plan gives on the source now."""
        evidence = self._found.evidence
        if evidence is None:
            return None
        where, complete = "the plan in the evidence", same_texts(manifest)
        plan = Plan.from_plain(as_table(evidence["plan"]), where)
        faults = source_faults(evidence, data, plan.source, complete=complete)
        name = str(as_table(evidence["source"])["name"])
        again, before = prepared_again(
            plan, method, data, given.hierarchies, name, self._token, where
        )
        faults += hierarchy_faults(evidence, given.hierarchies, again, complete=complete)
        if not complete:
            return figures_check(faults, other_texts(manifest))
        faults += checks_fault(evidence, checks)
        with ending(self._token) as token:
            outcome = method.decide(given, token, self._report)
            linkage = linkage_risk(published, outcome.guarantee.parameters, token)
            more, made = outcome_faults(evidence, outcome, given, linkage)
        notes = notes_on_rows(before, outcome, published, evidence, self._token)
        worded = made, recorded_checks(checks), notes, manifest.guarantee.sentences
        faults += [*more, *note_faults(evidence, notes)]
        return figures_check([*faults, *message_faults(evidence, worded)])

    def _compare_evidence(self, method: RowsMethod, manifest: Manifest, given: MethodInput) -> None:
        """What else the evidence says of the source."""
        evidence = self._found.evidence
        if evidence is None:
            return
        fault = method.evidence_source_fault(manifest, evidence, given, self._token)
        if fault is not None:
            self._found.fail(self._found.root / INTERNAL / EVIDENCE, fault)

    def _compare_labels(
        self,
        manifest: Manifest,
        published: PublishedCsv,
        recoding: AnyRecoding | None,
        data: DataStore,
    ) -> None:
        """The published labels against those of the source, where these could be read."""
        columns, expected = published.columns, None
        if label_faults(self._found.public, manifest, columns):
            return  # said elsewhere
        if recoding is not None and same_texts(manifest):
            plan = Plan.from_plain(self._found.facts().evidence.plan, "the plan in the evidence")
            complete = recoding.rows_suppressed == 0 and not plan.source.query
            given = data.book, recoding, published, complete, self._token
            expected = released_variables(*given, frozenset(plan.pseudonyms))
        fault = strange_labels(self._found.public, columns, data.book, expected)
        if fault:
            self._fail(VARIABLES, fault)

    def _made_again(
        self, recoding: AnyRecoding, published: PublishedCsv, data: DataStore, workspace: Workspace
    ) -> ClaimCheck:
        """The table once more from the source, in the private folder, against the published one."""
        claim, again = MADE_AGAIN, workspace.folder / "made-again.csv"
        made = self._remade(data, workspace.home)
        if isinstance(made, str):
            return ClaimCheck(claim, CheckStatus.NOT_CHECKABLE, made, MICRODATA)
        try:
            data.write_recoded(recoding, again, self._token, self._report, made.replaced)
            same = self._same(made, published, again)
        finally:
            again.unlink(missing_ok=True)
        if not same:
            found = "made again from the source, the table is different"
            return ClaimCheck(claim, CheckStatus.FAILED, found, MICRODATA)
        if made.absent:
            status = CheckStatus.NOT_CHECKED if made.another else CheckStatus.NOT_CHECKABLE
            return ClaimCheck(claim, status, made.absent, MICRODATA)
        found = "made again from the source, the same byte for byte"
        return ClaimCheck(claim, CheckStatus.CONFIRMED, found, MICRODATA)

    def _same(self, made: Remade, published: PublishedCsv, again: Path) -> bool:
        """Byte for byte; with keys drawn for the purpose, up to the texts of pseudonyms."""
        if made.absent:
            from dpdesk.io.prints import linked_alike

            other = PublishedCsv(again, self._token)
            return linked_alike(published, other, list(made.replaced), self._token)
        digest = hash_file(again, self._token)
        return digest == hash_file(self._found.public / MICRODATA, self._token)

    def _remade(self, data: DataStore, home: Path) -> Remade | str:
        """The pseudonyms made again, or why they cannot be. Raises what reading them raises."""
        from dpdesk.app.pseudonyms import Remade, made_again

        facts = self._found.facts()
        plan = Plan.from_plain(facts.evidence.plan, "the plan in the evidence")
        recorded = facts.evidence.pseudonyms
        if not plan.pseudonyms and not recorded:
            return Remade()
        try:
            return made_again(home, plan, recorded, data, self._token, self._report)
        except (KeyError, TypeError, ValueError):
            place = self._found.root / INTERNAL / EVIDENCE
            self._found.fail(place, "`pseudonyms` are not those of its plan and the source")
            return "the evidence says of pseudonyms what cannot be"

    def _given(
        self, method: RowsMethod, source: AtHand, workspace: Workspace
    ) -> tuple[MethodInput, DataStore]:
        """The method's input once more, from the plan and the hierarchies in the evidence."""
        from dpdesk.app.private.pinning import read_pinned
        from dpdesk.io.store import DataStore

        facts, where = self._found.facts(), "the plan in the evidence"
        plan = Plan.from_plain(facts.evidence.plan, where)
        parameters = parse_parameters(method.parameters, plan.protection.parameters, where)
        recorded = recorded_hierarchies(facts.evidence.hierarchies)
        spec = source.spec(plan.source)
        near = source.base, workspace, self._token, self._report
        paid = paid_rows_of(method)
        if paid is None:
            data = DataStore.open(spec, *near)
        else:
            data = read_pinned(plan, spec, *near, paid.drawn_from(parameters))
        hierarchies = {name: recorded[name] for name in data.columns if name in recorded}
        roles = method.effective_roles(plan.column_roles(data.columns), parameters)
        data.leave_out(left_out(plan, roles))
        linked, made = plan.linkages(data.columns), plan.made_hierarchies()
        given = MethodInput(
            roles, hierarchies, parameters, where, source=data, linkages=linked, made=made
        )
        ended = ends_of(facts.evidence.result)
        given = replace(given, decimal=data.reading.decimal, ended=ended)
        if self._population is not None:
            place = self._population, workspace, self._token
            given = replace(given, population=read_population(plan, given, *place))
        return given, data

    def _fail(self, name: str, reason: str) -> None:
        self._found.fail(self._found.public / name, reason)

    def _fail_checks(self, checks: Sequence[ClaimCheck], usual: str = MICRODATA) -> None:
        """Failed checks are failures of their files; ``usual`` is that of one that names none."""
        for check in checks:
            if check.status is not CheckStatus.FAILED:
                continue
            reason = msg("{file}: {note}", file=check.claim, note=check.found)
            if check.path.startswith(f"{INTERNAL}/"):
                self._found.fail(self._found.root / check.path, reason)
            else:
                self._fail(check.path.removeprefix("public/") or usual, reason)


def _cannot(error: OSError) -> str:
    return msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__)


def _near_population(evidence: Mapping[str, object], source: AtHand) -> Path | None:
    """The file that the plan names, if it is next to the source; None too where the plan cannot be
    read, which is told where it is compared.
    """
    try:
        plan = Plan.from_plain(as_table(evidence["plan"]), "the plan in the evidence")
        near = source.base / str(plan.protection.parameters.get("population", ""))
        return near if near.is_file() else None
    except (InputError, OSError, *_MALFORMED):
        return None


def _place(workspace: Workspace | None, stack: ExitStack) -> Workspace:
    """A private workspace; one that is opened here is closed with ``stack``."""
    if workspace is not None:
        return workspace
    from dpdesk.io.workspace import Workspace

    opened = Workspace.open()
    stack.callback(opened.close)
    return opened


def _failed(checks: Sequence[ClaimCheck]) -> bool:
    return any(check.status is CheckStatus.FAILED for check in checks)
