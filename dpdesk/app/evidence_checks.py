"""What of the evidence can be checked, key by key: nothing in it is taken for granted in silence.

Every key is one of four kinds: it follows from the manifest and the public files and is compared
with them; it follows from the source and is compared where that is given; it is a record of the run
that nobody can repeat (times, environment, notes but for those that the source gives), which is
said, in the report too; or it is not a key of ours, which is a failure.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dpdesk.app.evidence import found_values, recorded_checks, source_facts
from dpdesk.app.payment_checks import payment_faults
from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.plan import HierarchyBuilder, Plan
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_table
from dpdesk.engine.method import Method, MethodInput, MethodOutcome
from dpdesk.engine.randomised_method import Judged
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.io.release_folder import EVIDENCE, FORMAT, INTERNAL

if TYPE_CHECKING:
    from dpdesk.io.store import DataStore

PLACE = f"{INTERNAL}/{EVIDENCE}"
FIGURES_CLAIM = "figures of the evidence are those of the source"
RECORD_CLAIM = "notes, times and environment in the evidence"
_ALWAYS = frozenset(
    """format dpdesk created title method guarantee plan_name plan parameters source roles
    hierarchies commitment_key result risk utility figures charts recoded checks notes environment
    timings""".split()  # noqa: SIM905
)
NOISE_PAID = "noise_paid"
_ROWS_ALONE = frozenset({"pseudonyms", NOISE_PAID})
_BUDGET_ALONE = frozenset({"budget"})
_SOURCE = frozenset({"name", "sha256", "rows", "columns", "reading"})
_UNREADABLE = frozenset({"unreadable_lines", "unreadable_values"})
"""Counts of a source that was read for a private method."""
_TEXT_READING = ("delimiter", "quote", "decimal", "escape", "header", "skip")
_SEARCH_TIMES = frozenset({"seconds"})
LINKAGE = "linkage"


def evidence_faults(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    method: Method,
    *,
    spends: bool,
    complete: bool,
) -> Iterator[str]:
    """What is wrong with the evidence of a release, as far as manifest and plan tell.

    ``spends`` says whether the method is paid for from a budget; ``complete`` that this very
    program made the release, so that no key of its evidence may be missing.
    """
    allowed = _ALWAYS | (_BUDGET_ALONE if spends else _ROWS_ALONE)
    yield from _unknown("", evidence, allowed)
    yield from _unknown(
        "source, ", evidence.get("source"), _SOURCE | (_UNREADABLE if spends else set())
    )
    if complete:
        missing = sorted((_ALWAYS | (_BUDGET_ALONE if spends else frozenset())) - set(evidence))
        yield from (f"the key `{key}` is missing" for key in missing)
    if evidence.get("format") != FORMAT:
        yield f"`format` is not {FORMAT}"
    if not _plain_notes(evidence.get("notes")):
        yield "`notes` are not sentences"
    yield from _parameters_fault(evidence, method)
    yield from _reading_faults(evidence)
    if spends:
        yield from payment_faults(manifest, evidence, complete=complete)


def _unknown(before: str, table: object, known: frozenset[str]) -> Iterator[str]:
    keys = table if isinstance(table, Mapping) else {}
    yield from (f"`{before}{str(key)[:60]}` is not a key of evidence" for key in set(keys) - known)


def _plain_notes(notes: object) -> bool:
    return isinstance(notes, list) and all(isinstance(note, str) for note in notes)


def _parameters_fault(evidence: Mapping[str, object], method: Method) -> Iterator[str]:
    """The whole parameters, public or not, are those of the plan."""
    plan = evidence.get("plan")
    if not isinstance(plan, Mapping):
        return  # said elsewhere
    try:
        given = Plan.from_plain(plan, "the plan").protection.parameters
        values = parse_parameters(method.parameters, given, "the plan")
    except InputError:
        return  # said elsewhere
    whole = effective_parameters(method.parameters, values, method.parameters)
    if not same_values(evidence.get("parameters"), whole):
        yield "`parameters` are not those of its plan"


def _reading_faults(evidence: Mapping[str, object]) -> Iterator[str]:
    """The reading that the plan asks for is the one that is said to have been used."""
    source, plan = evidence.get("source"), evidence.get("plan")
    reading = source.get("reading") if isinstance(source, Mapping) else None
    if not isinstance(plan, Mapping) or not isinstance(reading, Mapping):
        return  # said elsewhere
    try:
        spec = Plan.from_plain(plan, "the plan").source
    except InputError:
        return  # said elsewhere
    text = reading.get("format") == "csv"
    asked: dict[str, object] = {"missing": list(spec.missing)}
    if text:
        given = {key: getattr(spec, key) for key in _TEXT_READING}
        asked |= {key: value for key, value in given.items() if value is not None}
    for key, value in asked.items():
        if not same_values(reading.get(key, [""] if key == "missing" else None), value):
            yield f"`plan, source, {key}` is not how the source was read"
    if text and spec.encoding and not _same_encoding(spec.encoding, str(reading.get("encoding"))):
        yield "`plan, source, encoding` is not how the source was read"


def _same_encoding(asked: str, used: str) -> bool:
    """Whether a named encoding is the one that was used; a mark tells the order of its bytes."""
    try:
        first, second = (codecs.lookup(name).name for name in (asked, used))
    except LookupError:
        return False
    first = first.removesuffix("-sig")
    return first == second or (first in ("utf-16", "utf-32") and second.startswith(f"{first}-"))


def as_recorded() -> ClaimCheck:
    """What nobody can check: the record of a run."""
    found = "as the program wrote them down when it made the release; nobody can repeat them"
    return ClaimCheck(RECORD_CLAIM, CheckStatus.NOT_CHECKABLE, found, PLACE)


def needs_source() -> ClaimCheck:
    """What the source alone can show."""
    found = "risk, utility, charts, counts and checks are compared when the source is given"
    return ClaimCheck(FIGURES_CLAIM, CheckStatus.NEEDS_SOURCE, found, PLACE)


def figures_check(faults: Sequence[str], unlike: str = "") -> ClaimCheck:
    """The claim on the figures; ``unlike`` says why they could not be compared."""
    if faults:
        found = "; ".join(faults)
        return ClaimCheck(FIGURES_CLAIM, CheckStatus.FAILED, found, PLACE)
    if unlike:
        return ClaimCheck(FIGURES_CLAIM, CheckStatus.NOT_CHECKED, unlike, PLACE)
    found = "counted again from the source, the same"
    return ClaimCheck(FIGURES_CLAIM, CheckStatus.CONFIRMED, found, PLACE)


def source_faults(evidence: Mapping[str, object], data: DataStore, *, complete: bool) -> list[str]:
    """Which facts on the source are not those of the file at hand; its name may be another.

    Unless it is ``complete``, an earlier program made the evidence, which may have written down
    less of how the source was read: what it did write is compared.
    """
    recorded = evidence.get("source")
    if not isinstance(recorded, Mapping):
        return ["`source` is missing"]
    facts = source_facts(data)
    if not complete:
        facts = {key: _as_far_as(recorded, key, facts[key]) for key in facts if key in recorded}
    return [
        f"`source, {key}` is not what the source gives"
        for key in facts
        if key != "name" and not same_values(recorded.get(key), facts[key])
    ]


def _as_far_as(recorded: Mapping[str, object], key: str, fact: object) -> object:
    """A fact with no more keys than the record has of it."""
    there = recorded[key]
    if not isinstance(fact, Mapping) or not isinstance(there, Mapping):
        return fact
    return {name: value for name, value in fact.items() if name in there}


def note_faults(evidence: Mapping[str, object], notes: Iterable[Note]) -> list[str]:
    """Whether notes that follow from the source and the plan are missing in the evidence."""
    recorded = evidence.get("notes")
    there = recorded if isinstance(recorded, list) else []
    missing = [note.sentence for note in notes if note.sentence not in there]
    return [f"`notes` do not say what the source gives ({missing[0][:80]}…)"] if missing else []


def reading_notes(evidence: Mapping[str, object], data: DataStore) -> list[Note]:
    """The notes on how the source was read, with the name that it had."""
    source = evidence.get("source")
    name = source.get("name") if isinstance(source, Mapping) else data.name
    return [Note("source.reading", f"{name}: {each}") for each in data.reading.notes]


def builder_faults(
    evidence: Mapping[str, object],
    recorded: Mapping[str, Hierarchy],
    data: DataStore,
    token: CancelToken,
) -> list[str]:
    """Which hierarchies are not those that the builders of the plan give on the source.

    Raises InputError for a builder that gives none, Cancelled.
    """
    from dpdesk.app.planning import build_from

    where = "the plan in the evidence"
    plan, faults = Plan.from_plain(as_table(evidence["plan"]), where), []
    for name, spec in plan.attributes.items():
        if name not in recorded or not isinstance(spec.hierarchy, HierarchyBuilder):
            continue
        again = build_from(spec.hierarchy, name, data, token, where)
        if not same_values(list(again.rows()), list(recorded[name].rows())):
            faults.append(f"`hierarchies, {name}` is not what the plan's builder gives")
    return faults


def outcome_faults(
    evidence: Mapping[str, object], outcome: MethodOutcome | Judged, given: MethodInput
) -> list[str]:
    """Which figures are not those of an outcome that was computed again from the source."""
    from dpdesk.report.review import recoded_as_json

    quasi, node = given.with_role(Role.QUASI_IDENTIFIER), outcome.result.get("node")
    recoded = recoded_as_json(outcome.recoding, quasi, node, given.hierarchies)
    again = {
        "result": without({**outcome.result, **outcome.internal}, _SEARCH_TIMES),
        "risk": dict(outcome.risk),
        "utility": dict(outcome.utility),
        **found_values(outcome.figures, outcome.charts, recoded),
    }
    risk = without(evidence.get("risk"), frozenset({LINKAGE}))
    result = without(evidence.get("result"), _SEARCH_TIMES)
    there = {**evidence, "risk": risk, "result": result}
    faults = [
        f"`{key}` is not what the source gives"
        for key, value in again.items()
        if not same_values(there.get(key), value)
    ]
    return faults + note_faults(evidence, outcome.notes)


def checks_fault(evidence: Mapping[str, object], checks: Sequence[ClaimCheck]) -> list[str]:
    """Whether the checks in the evidence are those that were made now."""
    same = same_values(evidence.get("checks"), recorded_checks(checks))
    return [] if same else ["`checks` are not those that checking now gives"]


def without(table: object, keys: frozenset[str]) -> dict[str, object]:
    """A table without some keys; empty when it is not a table."""
    given = table if isinstance(table, Mapping) else {}
    return {str(key): value for key, value in given.items() if key not in keys}


def same_values(one: object, other: object) -> bool:
    """Whether two values have the same canonical JSON."""
    try:
        first, second = (canonical_json({"value": value}) for value in (one, other))
    except (TypeError, ValueError):
        return False
    return parse_canonical(first) == parse_canonical(second) and first == second
