"""Releases of protected tables: their pages, tables read back, checks, and draws that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.evidence import found_values, recorded_checks
from dpdesk.app.evidence_checks import (
    checks_fault,
    figures_check,
    hierarchy_faults,
    message_faults,
    not_given,
    note_faults,
    of_files,
    same_values,
    source_faults,
)
from dpdesk.app.manifests import recorded_payments
from dpdesk.app.method_claims import beyond
from dpdesk.app.page_checks import (
    about_page,
    other_texts,
    page_bytes,
    page_check,
    plan_fault,
    recorded_hierarchies,
    setting_checks,
)
from dpdesk.app.past_rows import Source
from dpdesk.app.past_tables import earlier_notes, plan_notes
from dpdesk.app.past_words import SUPPOSED, TELLING
from dpdesk.app.texts import fairly_judged, same_texts, unlike_quoted
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.language import ENGLISH, speaking
from dpdesk.core.messages import joined, msg
from dpdesk.core.plan import Plan
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import CellTable, RowEdit
from dpdesk.engine.method import CellsInput, CellsMethod, CellsOutcome, Method, own_hierarchy
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.release_check import ReleaseFiles, is_listed_file
from dpdesk.io.release_folder import ABOUT, EVIDENCE, INTERNAL, MANIFEST
from dpdesk.io.table_files import axes_of, read_table
from dpdesk.verifiers.tables.published import small_cell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.app.at_hand import AtHand
    from dpdesk.app.prepared import PreparedCells
    from dpdesk.io.store import DataStore
    from dpdesk.io.workspace import Workspace

EDITS = "edits"
Tables = dict[str, CellTable]


def public_page(manifest: Manifest, method: Method, language: str = ENGLISH) -> bytes:
    """The bytes of ``about.html`` in a language; they depend on the manifest without ``files``."""
    from dpdesk.report import tables

    with speaking(language):
        return tables.render_about(manifest, method)


def both_tables(
    manifest: Manifest, public: Path, internal: Path | None, token: CancelToken
) -> tuple[Tables, Tables | None]:
    """The tables that the result of a manifest lists, by file; the agency's where at hand.

    Raises UnreadableTableError with the file's name in front; OSError; TypeError, KeyError and
    ValueError for a manifest of another form; Cancelled.
    """
    published: Tables = {}
    kept: Tables = {}
    for item in map(as_table, as_list(manifest.result["tables"])):
        name, file = str(item["name"]), str(item["file"])
        axes = axes_of([as_table(each) for each in as_list(item["dimensions"])])
        for folder, found in ((public, published), (internal, kept)):
            if folder is None:
                continue
            try:
                inside = found is kept
                found[file] = read_table(name, folder / file, file, axes, token, internal=inside)
            except UnreadableTableError as error:
                where = file if folder is public else f"{INTERNAL}/{file}"
                raise UnreadableTableError(
                    msg("{file}: {note}", file=where, note=error.sentence)
                ) from error
    return published, None if internal is None else kept


def drawn(prepared: PreparedCells, outcome: CellsOutcome, token: CancelToken) -> CellsOutcome:
    """The outcome with what is drawn, where the method draws; each draw is kept for ever."""
    if not prepared.method.draws(prepared.given.parameters):
        return outcome
    from dpdesk.engine.noise.randomness import SystemRandomness
    from dpdesk.project.roundings import Roundings

    budget = prepared.plan.budget or {}
    population = str(budget.get("population", ""))
    kept = Roundings(prepared.home, population, prepared.data.sha256)
    return prepared.method.draw(prepared.given, outcome, kept, SystemRandomness(), token)


def edits_of(outcome: CellsOutcome) -> dict[str, object]:
    """What the evidence says of sampled and swapped rows; nothing where there are none."""
    return {} if outcome.edit is None else {EDITS: outcome.edit.as_json()}


def edit_keys(home: Path, people: str, sha256: str, count: int) -> NDArray[np.uint64]:
    """The keys by which rows of a source are sampled and swapped, drawn once and kept.

    Raises StorageError where keys that were kept are gone.
    """
    from dpdesk.engine.noise.randomness import SystemRandomness
    from dpdesk.project.roundings import Roundings

    return Roundings(home, people, sha256).edit_keys(count, SystemRandomness().words)


def cells_claims(
    found: ReleaseFiles,
    method: CellsMethod,
    manifest: Manifest,
    given: CellsInput | None,
    token: CancelToken,
) -> tuple[tuple[ClaimCheck, ...], tuple[ClaimCheck, ...]]:
    """What the method checked of a release of protected tables, and all claims of it.

    Faults of files go into ``found``.

    Raises what a malformed manifest raises (TypeError, KeyError, ValueError and such), Cancelled.
    """
    listed = [str(as_table(one)["file"]) for one in as_list(manifest.result["tables"])]
    missing = [file for file in listed if not is_listed_file(found.public / file)]
    strange = set(manifest.files) - {ABOUT, *listed}
    if missing or strange or len(set(listed)) < len(listed):
        found.fail(found.public / "manifest.json", "its result and its files list different tables")
        return (), ()
    internal = found.internal
    if internal is not None and not all(is_listed_file(internal / file) for file in listed):
        internal = None  # said elsewhere
    try:
        published, kept = both_tables(manifest, found.public, internal, token)
    except UnreadableTableError as error:
        file, _, reason = error.sentence.partition(": ")
        inside = file.startswith(f"{INTERNAL}/")
        found.fail((found.root if inside else found.public) / file, reason)
        return (), ()
    recorded = None if found.evidence is None else as_table(found.evidence["result"])
    claimed = method.verify(manifest, published, kept, given, token, recorded)
    claimed = (*claimed, *beyond(method, manifest, claimed, compared=given is not None))
    checks = list(fairly_judged(manifest, claimed))
    checks += setting_checks(manifest, method)
    evidence = found.evidence
    if evidence is not None:
        fault = plan_fault(manifest, evidence, method)
        if fault is None and kept is not None:
            asked = as_table(as_table(evidence["plan"])["protection"])
            fault = small_cell(tuple(kept.values()), asked) or None
        if fault is not None:
            found.fail(found.root / INTERNAL / EVIDENCE, fault)
    if not any(check.status is CheckStatus.FAILED for check in checks):
        checks += unlike_quoted(checks, _page(found, method, manifest))
    return claimed, tuple(checks)


def _page(found: ReleaseFiles, method: CellsMethod, manifest: Manifest) -> list[ClaimCheck]:
    """The page for users made again from the manifest."""
    path = found.public / ABOUT
    if not is_listed_file(path):
        return []
    stored = about_page(manifest, page_bytes(path))
    return [page_check(manifest, stored, lambda language: _again(manifest, method, language))]


def _again(manifest: Manifest, method: CellsMethod, language: str) -> bytes | None:
    from jinja2 import TemplateError

    try:
        return public_page(manifest, method, language)
    except TemplateError:
        return None


def own_files(plan: Plan) -> dict[str, tuple[str, str]]:
    """Column and file of each hierarchy that one of several tables alone has, by its own name."""
    found: dict[str, tuple[str, str]] = {}
    tables = plan.protection.parameters.get("tables", ())
    for table in tables if isinstance(tables, list | tuple) else ():
        own = table.get("hierarchy", {}) if isinstance(table, Mapping) else {}
        for column, file in own.items() if isinstance(own, Mapping) else ():
            found[own_hierarchy(str(column), str(table["name"]))] = str(column), str(file)
    return found


def given_again(
    found: ReleaseFiles,
    method: CellsMethod,
    source: AtHand,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
) -> tuple[CellsInput, DataStore, list[str]]:
    """The method's input once more, from the plan and its files as the evidence keeps them, and
    what is noted of it; the caller closes the store. Other hierarchies are built from the data.

    Raises InputError, StorageError, what malformed evidence raises, Cancelled.
    """
    from dpdesk.app.planning import ON_FILES, noted_cells
    from dpdesk.io.store import DataStore

    recorded, where = found.facts().evidence, "the plan in the evidence"
    plan = Plan.from_plain(recorded.plan, where)
    files = {*of_files(plan), *own_files(plan)}
    kept = recorded_hierarchies(recorded.hierarchies)
    hierarchies = {name: each for name, each in kept.items() if name in files}
    data = DataStore.open(source.spec(plan.source), source.base, workspace, token, report)
    notes: list[str] = []

    def note(code: str, sentence: str) -> None:
        if code not in ON_FILES:
            notes.append(sentence)

    try:
        name = recorded.source.name
        _, given = noted_cells(plan, method, hierarchies, data, name, where, token, note)
        if recorded.edits:
            given = replace(given, edit=RowEdit.from_json(recorded.edits))
    except BaseException:
        data.close()
        raise
    return given, data, notes


def evidence_check(
    found: ReleaseFiles,
    manifest: Manifest,
    method: CellsMethod,
    given: CellsInput,
    data: DataStore,
    noted: list[str],
    checks: tuple[ClaimCheck, ...],
    token: CancelToken,
) -> ClaimCheck:
    """The figures of the evidence against those that its tables and the source give."""
    evidence = found.evidence
    assert evidence is not None
    complete = same_texts(manifest)
    plan = Plan.from_plain(as_table(evidence["plan"]), "the plan in the evidence")
    faults = source_faults(evidence, data, plan.source, complete=complete)
    recorded = recorded_hierarchies(as_table(evidence["hierarchies"]))
    faults += hierarchy_faults(evidence, recorded, given.hierarchies, complete=complete)
    if not complete:
        return figures_check(faults, other_texts(manifest))
    published, kept = both_tables(manifest, found.public, found.internal, token)
    assert kept is not None
    again = method.made_again(given, as_table(evidence["result"]), published, kept, token)
    made = {
        "result": {**again.result, **again.internal},
        **edits_of(again),
        "risk": dict(again.risk),
        "utility": dict(again.utility),
        **found_values(again.figures, again.charts, ()),
    }
    faults += [
        not_given(key) for key, value in made.items() if not same_values(evidence.get(key), value)
    ]
    faults += checks_fault(evidence, checks)
    asked = plan.protection.parameters
    together = plan_notes(data, asked, tuple(published.values()), token)
    notes = [*again.notes, *recorded_payments(evidence), *together]
    said = [*noted, *(note.sentence for note in notes)]
    worded = made, recorded_checks(checks), said, manifest.guarantee.sentences
    faults += [*note_faults(evidence, said), *message_faults(evidence, worded)]
    return figures_check(faults)


EARLIER = "what earlier tables of the same people tell"
EARLIER_IF = "what earlier tables of other files tell if their rows are the same"


def earlier_checks(
    found: ReleaseFiles,
    manifest: Manifest,
    source: AtHand,
    data: DataStore,
    workspace: Workspace,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """What the tables that went out from this computer tell of a release, looked at now.

    What a run noted of them can be taken away from its evidence unseen. What they tell only if
    their rows are these is a claim of its own. Raises StorageError ``past.damaged``, what opening
    the source raises, what malformed evidence raises, Cancelled.
    """
    import hashlib

    plan = Plan.from_plain(found.facts().evidence.plan, "the plan in the evidence")
    published, _ = both_tables(manifest, found.public, None, token)
    itself = hashlib.sha256((found.public / MANIFEST).read_bytes()).hexdigest()
    asked, tables = plan.protection.parameters, tuple(published.values())
    rows = Source(data, source.spec(plan.source), source.base, workspace)
    notes = earlier_notes(workspace.home, plan.budget, rows, asked, tables, token, itself)
    told, supposed = (
        [note.sentence for note in notes if note.code in codes] for codes in (TELLING, SUPPOSED)
    )
    checks = []
    if told:
        checks.append(ClaimCheck(EARLIER, CheckStatus.NOT_CHECKABLE, joined(told), MANIFEST))
    else:
        rest = [note.sentence for note in notes if note.code not in SUPPOSED]
        none = "none that went out from this computer gives a suppressed cell or a small group away"
        said = joined(rest) if rest else none
        checks.append(ClaimCheck(EARLIER, CheckStatus.CONFIRMED, said, MANIFEST))
    if supposed:
        checks.append(ClaimCheck(EARLIER_IF, CheckStatus.NOT_CHECKABLE, joined(supposed), MANIFEST))
    return tuple(checks)
