"""What of the evidence can be checked, key by key: nothing in it is taken for granted in silence.

On what each key rests is decided in :mod:`dpdesk.app.evidence_checks`; here it is carried out.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk import __version__
from dpdesk.app.evidence import (
    ASKED,
    PACKAGES,
    asked_reading,
    found_values,
    recorded_checks,
    source_facts,
)
from dpdesk.app.payment_checks import draws_faults, payment_faults
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.language import is_said
from dpdesk.core.messages import (
    TABLE,
    joined,
    makings,
    msg,
    relinked,
    table_faults,
    texts_in,
)
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.plain import quoted
from dpdesk.core.plan import HierarchyFile, Plan
from dpdesk.core.release import FIGURES_CLAIM, CheckStatus, ClaimCheck, Manifest
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.method import Method, MethodInput, Outcome
from dpdesk.engine.private.method import Charge
from dpdesk.engine.registry import paid_rows_of, priced_of
from dpdesk.io.canonical import canonical_json
from dpdesk.io.release_folder import EVIDENCE, FORMAT, INTERNAL

if TYPE_CHECKING:
    from dpdesk.app.at_hand import AtHand
    from dpdesk.core.source_spec import SourceSpec
    from dpdesk.io.store import DataStore


# Every key of the evidence, and on what its value rests: one place that decides for all of them.
#
# Three kinds: *compared* with the manifest, the public files or the plan, whatever is at hand;
# compared with the *source* where that is given; *recorded*, which nobody can repeat, for the
# reason that stands here. A key that is not listed fails. The report shows what is recorded under a
# sentence that says so, and ``dpdesk verify`` names it.


NOISE_PAID, RECORDED_NOTES, PRINTED_TOO = "noise_paid", "recorded_notes", "printed"
_ANY = "*"


class Basis(Enum):
    """On what a value of the evidence rests."""

    COMPARED = "compared"
    SOURCE = "compared with the source"
    RECORDED = "as recorded"


class Releases(Enum):
    """Which releases have a key."""

    ALL = "all"
    ROWS = "rows"
    PAID = "paid from a budget"


@dataclass(frozen=True)
class Key:
    """A key, or all below it: its path with ``*`` for any name or place in a list.

    ``why`` says of a recorded one why nobody can repeat it. Such a path ends at a single value.
    ``always``: no release of this version is without it.
    """

    path: str
    basis: Basis = Basis.COMPARED
    why: str = ""
    of: Releases = Releases.ALL
    always: bool = True

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names of the path."""
        return tuple(self.path.split("/"))

    def covers(self, place: tuple[str, ...]) -> bool:
        """Whether a value at this place is meant."""
        parts = self.parts
        if len(parts) > len(place) or (self.basis is Basis.RECORDED and len(parts) != len(place)):
            return False
        return all(part in (_ANY, name) for part, name in zip(parts, place, strict=False))


def _compared(*names: str) -> tuple[Key, ...]:
    return tuple(Key(name) for name in names)


def _source(*names: str) -> tuple[Key, ...]:
    return tuple(Key(name, Basis.SOURCE) for name in names)


_TIME = "a time that has passed"
_SEARCH = "a search, which would have to be made again"
_MACHINE = "a computer that is not at hand"
_NAME = "a name of a file, which may have another name today"
_LEDGER = "the ledger, which only the computer that holds it can show"

KEYS = (
    *_compared("format", "dpdesk", "method", "guarantee", "parameters", "roles"),
    *_compared("commitment_key", f"source/{ASKED}", PRINTED_TOO, TABLE),
    Key("created", Basis.RECORDED, _TIME),
    Key("title", Basis.RECORDED, "people who chose it"),
    Key("plan_name", Basis.RECORDED, _NAME),
    Key("source/name", Basis.RECORDED, _NAME),
    Key("plan/title", Basis.RECORDED, "people who chose it", always=False),
    Key("plan/source/path", Basis.RECORDED, _NAME),
    Key("plan/source/metadata", Basis.RECORDED, _NAME, always=False),
    Key("plan/source/catalog", Basis.RECORDED, _NAME, always=False),
    Key("plan/attributes/*/hierarchy", Basis.RECORDED, _NAME, always=False),
    Key("plan/budget/ledger", Basis.RECORDED, _NAME, always=False),
    Key("plan/budget/limit", Basis.RECORDED, _LEDGER, always=False),
    # Where a release is paid for, it is that of the debit; see :mod:`dpdesk.app.payment_checks`.
    Key("plan/budget/population", Basis.RECORDED, _LEDGER, always=False),
    *_compared("plan"),
    *_source("source/sha256", "source/rows", "source/columns", "source/reading"),
    # Of files alone: what a server sent is hashed, and has no size.
    Key("source/bytes", Basis.SOURCE, always=False),
    # Of texts alone: other formats have no lines.
    Key("source/unreadable_lines", Basis.SOURCE, of=Releases.PAID, always=False),
    Key("source/unreadable_values", Basis.SOURCE, of=Releases.PAID),
    Key("result/seconds", Basis.RECORDED, _TIME, always=False),
    Key("result/bound", Basis.RECORDED, _SEARCH, always=False),
    *_source("hierarchies", "result", "risk", "utility", "figures", "charts", "recoded"),
    *_source("checks", "notes"),
    Key("pseudonyms", Basis.SOURCE, of=Releases.ROWS, always=False),
    # Of sampled and swapped rows, as far as a table counts other rows than those of its source.
    Key("edits", Basis.SOURCE, of=Releases.ROWS, always=False),
    Key(f"{NOISE_PAID}/*", Basis.RECORDED, _LEDGER, Releases.ROWS, always=False),
    Key(f"{RECORDED_NOTES}/*", Basis.RECORDED, "files and a computer that are not at hand"),
    Key("environment/dpdesk"),
    Key("environment/python", Basis.RECORDED, _MACHINE),
    Key("environment/system", Basis.RECORDED, _MACHINE),
    *(Key(f"environment/packages/{name}", Basis.RECORDED, _MACHINE) for name in PACKAGES),
    Key("timings/*", Basis.RECORDED, _TIME),
    *(Key(f"budget/{n}", of=Releases.PAID) for n in ("debit", "entry", "cost", "population")),
    Key("budget/ledger", Basis.RECORDED, _NAME, Releases.PAID),
    Key("budget/time", of=Releases.PAID),
    Key("budget/record", of=Releases.PAID),
    Key("budget/head/ledger", of=Releases.PAID),
    Key("budget/head/entries", Basis.RECORDED, _LEDGER, Releases.PAID),
    Key("budget/head/hash", Basis.RECORDED, _LEDGER, Releases.PAID),
    Key("budget/elsewhere/*/ledger", Basis.RECORDED, _LEDGER, Releases.PAID, always=False),
    Key("budget/elsewhere/*/cost", Basis.RECORDED, _LEDGER, Releases.PAID, always=False),
)
"""All of them; of several that cover a place, the first counts."""
_BEGINNING: dict[str, list[Key]] = {}
for _each in KEYS:
    _BEGINNING.setdefault(_each.parts[0], []).append(_each)


def key_at(place: tuple[str, ...]) -> Key | None:
    """The key that a value at this place belongs to; None when there is none."""
    return next((key for key in _BEGINNING.get(place[0], ()) if key.covers(place)), None)


def key_faults(evidence: Mapping[str, object], *, paid: bool, complete: bool) -> Iterator[str]:
    """Keys that are not those of such evidence, and recorded values of another kind.

    ``complete``: this very program made the release, so that none may be missing.
    """
    fitting = (Releases.ALL, Releases.PAID if paid else Releases.ROWS)
    unknown = set()
    for place, value in _values(evidence):
        key = key_at(place)
        if key is None or key.of not in fitting:
            unknown.add(_shown(place))
        elif key.basis is Basis.RECORDED and not _single(place, value):
            yield msg("`{key}` is not a value as a run records it", key=_shown(place))
    yield from (msg("`{key}` is not a key of evidence", key=name) for name in sorted(unknown))
    if complete:
        for key in KEYS:
            if key.always and key.of in fitting and not _is_there(evidence, key.parts):
                name = ", ".join(part for part in key.parts if part != _ANY)
                yield msg("the key `{key}` is missing", key=name)


def recorded_in(evidence: Mapping[str, object]) -> tuple[str, ...]:
    """What of this evidence rests on the record of the run alone: keys, sorted, each once."""
    found = set()
    for place, _ in _values(evidence):
        key = key_at(place)
        if key is not None and key.basis is Basis.RECORDED:
            found.add(" ".join(place) if place[0] == "result" else place[0])
    if RECORDED_NOTES in evidence:  # also an empty list, from which notes may have been taken
        found.add(RECORDED_NOTES)
    return tuple(sorted(found))


def _values(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Single values with their places, as deep as keys tell them apart; empty tables too."""
    decided = key_at(place) if place else None
    if decided is not None and decided.basis is not Basis.RECORDED and not _deeper(place):
        yield place, value
    elif isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _values(inner, (*place, str(name)))
    elif isinstance(value, list | tuple) and value:
        for inner in value:
            yield from _values(inner, (*place, _ANY))
    elif place and not (value in ({}, [], ()) and _deeper(place)):
        yield place, value


def _deeper(place: tuple[str, ...]) -> bool:
    """Whether keys tell apart what is below a place."""
    return any(
        len(key.parts) > len(place)
        and all(part in (_ANY, name) for part, name in zip(key.parts, place, strict=False))
        for key in _BEGINNING.get(place[0], ())
    )


def _is_there(value: object, parts: tuple[str, ...]) -> bool:
    if not parts or parts[0] == _ANY:
        return isinstance(value, Mapping | list | tuple) if parts else True
    return (
        isinstance(value, Mapping) and parts[0] in value and _is_there(value[parts[0]], parts[1:])
    )


def _single(place: tuple[str, ...], value: object) -> bool:
    """Whether a recorded value is one of its kind: seconds, a bound, a count, or a text."""
    if "timings" in place or place[-1] in ("seconds", "bound"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and 0 <= float(str(value)) < float("inf")
    if place[-1] in ("entries", "limit"):
        return isinstance(value, int | float | str) and not isinstance(value, bool)
    return isinstance(value, str)


def _shown(place: tuple[str, ...]) -> str:
    return ", ".join(name[:60] for name in place if name != _ANY)


PLACE = f"{INTERNAL}/{EVIDENCE}"
HIERARCHY_FILES_CLAIM = "hierarchies are those of the files that the plan names"
RECORD_CLAIM = "notes, times and environment in the evidence"
_TEXT_READING = ("delimiter", "quote", "decimal", "escape", "header", "skip")
_SEARCH_TIMES = frozenset({"seconds"})


def evidence_faults(
    manifest: Manifest,
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
    yield from key_faults(evidence, paid=spends, complete=complete)
    if evidence.get("format") != FORMAT:
        yield msg("`format` is not {wanted}", wanted=FORMAT)
    if not _plain_notes(evidence.get("notes")):
        yield "`notes` are not sentences"
    if complete:
        yield from _strange_notes(evidence)
    yield from table_faults(evidence)
    if complete:
        yield from message_faults(evidence, manifest.guarantee.as_json(), "guarantee")
    yield from _parameters_fault(evidence, method, complete=complete)
    yield from _reading_faults(evidence)
    yield from _version_faults(manifest, evidence, complete=complete)
    if spends:
        charge = _charge(evidence, method)
        yield from payment_faults(manifest, evidence, charge, complete=complete)
        if charge is not None and paid_rows_of(method) is not None:
            yield from draws_faults(evidence, charge.draws)


def _version_faults(
    manifest: Manifest, evidence: Mapping[str, object], *, complete: bool
) -> Iterator[str]:
    """Another version than the one whose program made the release, which is this one's."""
    environment = evidence.get("environment")
    named = environment.get("dpdesk") if isinstance(environment, Mapping) else None
    if named != manifest.dpdesk and (complete or named is not None):
        yield "`environment, dpdesk` is not the version of the manifest"
    if complete and manifest.dpdesk != __version__:
        yield "`dpdesk` is not the version whose texts the release names"


def _charge(evidence: Mapping[str, object], method: Method) -> Charge | None:
    """What the plan in the evidence costs; None where that is said to be wrong elsewhere."""
    source, raw = evidence.get("source"), evidence.get("plan")
    columns = source.get("columns") if isinstance(source, Mapping) else None
    priced = priced_of(method)
    if priced is None or not isinstance(raw, Mapping):
        return None
    try:
        plan = Plan.from_plain(raw, "the plan")
        values = parse_parameters(method.parameters, plan.protection.parameters, "the plan")
        return priced.price(plan.column_roles([str(name) for name in as_list(columns)]), values)
    except (InputError, TypeError):
        return None


def _strange_notes(evidence: Mapping[str, object]) -> Iterator[str]:
    """Notes that no check can find again, and that are no sentences of this program either."""
    noted = evidence.get(RECORDED_NOTES)
    table = evidence.get(TABLE)
    for note in noted if isinstance(noted, list) else []:
        text = relinked(note, table) if isinstance(table, Mapping) else note
        if isinstance(text, str) and not is_said(text):
            words = "`recorded_notes` hold what this program does not say ({note}…)"
            yield msg(words, note=text[:80])


def _plain_notes(notes: object) -> bool:
    return isinstance(notes, list) and all(isinstance(note, str) for note in notes)


def _parameters_fault(
    evidence: Mapping[str, object], method: Method, *, complete: bool
) -> Iterator[str]:
    """The plan stands as it was written, and the whole parameters, public or not, are its."""
    from dpdesk.app.page_checks import stated_settings

    plan, stated = evidence.get("plan"), evidence.get("parameters")
    if not isinstance(plan, Mapping):
        return  # said elsewhere
    try:
        read = Plan.from_plain(plan, "the plan")
        given = read.protection.parameters
        values = parse_parameters(method.parameters, given, "the plan")
    except InputError:
        return  # said elsewhere
    if complete and not same_values(read.as_plain(), plan):  # a reviewer reads what is written
        yield "`plan` is not written as this program writes it"
    whole = effective_parameters(method.parameters, values, method.parameters)
    known = stated if isinstance(stated, Mapping) else {}
    if not same_values(stated, stated_settings(whole, known, given, complete=complete)):
        yield "`parameters` are not those of its plan"


def _reading_faults(evidence: Mapping[str, object]) -> Iterator[str]:
    """The reading that the plan asks for is the one that is said to have been used."""
    source, plan = evidence.get("source"), evidence.get("plan")
    reading = source.get("reading") if isinstance(source, Mapping) else None
    if not isinstance(plan, Mapping) or not isinstance(source, Mapping):
        return  # said elsewhere
    if not isinstance(reading, Mapping):
        return  # said elsewhere
    try:
        spec = Plan.from_plain(plan, "the plan").source
    except InputError:
        return  # said elsewhere
    named = asked_reading(spec)
    if ASKED in source and not same_values(source[ASKED], named):
        yield "`plan, source` asks for a different reading than `source, asked`"
    text = reading.get("format") == "csv"
    asked: dict[str, object] = {"missing": list(spec.missing)}
    if text:
        given = {key: getattr(spec, key) for key in _TEXT_READING}
        asked |= {key: value for key, value in given.items() if value is not None}
    for key, value in asked.items():
        if not same_values(reading.get(key, [""] if key == "missing" else None), value):
            yield _other_reading(key)
    if text and spec.encoding and not _same_encoding(spec.encoding, str(reading.get("encoding"))):
        yield _other_reading("encoding")


def _other_reading(key: str) -> str:
    return msg("`plan, source, {key}` is not how the source was read", key=key)


def _same_encoding(asked: str, used: str) -> bool:
    """Whether a named encoding is the one that was used; a mark tells the order of its bytes."""
    try:
        first, second = (codecs.lookup(name).name for name in (asked, used))
    except LookupError:
        return False
    first = first.removesuffix("-sig")
    return first == second or (first in ("utf-16", "utf-32") and second.startswith(f"{first}-"))


def as_recorded(evidence: Mapping[str, object]) -> ClaimCheck:
    """What nobody can check: the record of a run."""
    found = msg(
        ("as the program recorded them when it made the release; no one can repeat them: {keys}"),
        keys=", ".join(recorded_in(evidence)),
    )
    return ClaimCheck(RECORD_CLAIM, CheckStatus.NOT_CHECKABLE, found, PLACE)


def needs_source() -> ClaimCheck:
    """What the source alone can show."""
    found = "risk, utility, charts, counts and checks are compared when the source is given"
    return ClaimCheck(FIGURES_CLAIM, CheckStatus.NEEDS_SOURCE, found, PLACE)


def figures_check(faults: Sequence[str], unlike: str = "") -> ClaimCheck:
    """The claim on the figures; ``unlike`` says why they could not be compared."""
    if faults:
        found = joined(faults, "; ")
        return ClaimCheck(FIGURES_CLAIM, CheckStatus.FAILED, found, PLACE)
    if unlike:
        return ClaimCheck(FIGURES_CLAIM, CheckStatus.NOT_CHECKED, unlike, PLACE)
    found = "counted again from the source, the same"
    return ClaimCheck(FIGURES_CLAIM, CheckStatus.CONFIRMED, found, PLACE)


def source_faults(
    evidence: Mapping[str, object], data: DataStore, spec: SourceSpec, *, complete: bool
) -> list[str]:
    """Which facts on the source are not those of the file at hand; its name may be another.

    Unless it is ``complete``, an earlier program made the evidence, which may have written down
    less of how the source was read: what it did write is compared.
    """
    recorded = evidence.get("source")
    if not isinstance(recorded, Mapping):
        return ["`source` is missing"]
    facts = source_facts(data, spec)
    if not complete:
        facts = {key: _as_far_as(recorded, key, facts[key]) for key in facts if key in recorded}
    return [
        not_given(f"source, {key}")
        for key in facts
        if key != "name" and not same_values(recorded.get(key), facts[key])
    ]


def not_given(key: str) -> str:
    """A key of the evidence whose value is another than the source gives."""
    return msg("`{key}` is not what the source gives", key=key)


def _as_far_as(recorded: Mapping[str, object], key: str, fact: object) -> object:
    """A fact with no more keys than the record has of it."""
    there = recorded[key]
    if not isinstance(fact, Mapping) or not isinstance(there, Mapping):
        return fact
    return {name: value for name, value in fact.items() if name in there}


def note_faults(evidence: Mapping[str, object], notes: Sequence[str]) -> list[str]:
    """Whether the evidence holds other notes than those that source, plan and table give."""
    recorded = evidence.get("notes")
    there = recorded if isinstance(recorded, list) else []
    missing = [note for note in notes if note not in there]
    if missing:
        return [msg("`notes` do not say what the source gives ({note}…)", note=missing[0][:80])]
    added = [str(note) for note in there if note not in notes]
    if added:
        return [msg("`notes` say what the source does not give ({note}…)", note=added[0][:80])]
    if there == list(notes):
        return []
    return ["`notes` are in a different order, or one of them occurs twice"]


def hierarchy_faults(
    evidence: Mapping[str, object],
    recorded: Mapping[str, Hierarchy],
    again: Mapping[str, Hierarchy],
    *,
    complete: bool,
) -> list[str]:
    """Which hierarchies are not those that the plan gives on the source.

    Unless it is ``complete``, those of files are not compared, which other programs read.
    """
    plan = Plan.from_plain(as_table(evidence["plan"]), "the plan in the evidence")
    names = {*recorded, *again}
    if not complete:
        names -= of_files(plan)
    return [
        msg("`{key}` is not what the plan gives", key=f"hierarchies, {name}")
        for name in sorted(names)
        if not same_values(_rows_of(recorded.get(name)), _rows_of(again.get(name)))
    ]


def remade_fault(evidence: Mapping[str, object]) -> str | None:
    """The first hierarchy that the plan does not make of the values that it has; None: none.

    Which values there are is known from the source alone, and of other formats than texts which of
    them are missing ones. Raises what malformed evidence raises.
    """
    from dpdesk.app.page_checks import recorded_hierarchies
    from dpdesk.engine.hierarchies.editing import remakes

    plan = Plan.from_plain(as_table(evidence["plan"]), "the plan in the evidence")
    try:
        recorded = recorded_hierarchies(as_table(evidence["hierarchies"]))
    except InputError as error:
        return error.sentence
    reading = as_table(as_table(evidence["source"])["reading"])
    if reading.get("format") != "csv":
        return None
    missing = {*as_list(reading.get("missing", [""]))}
    for name, make in remakes(plan.made_hierarchies()).items():
        if name not in recorded:
            continue
        leaves = recorded[name].leaves
        again = make(leaves, [leaf for leaf in leaves if leaf in missing])
        if again is not None and not same_values(_rows_of(recorded[name]), _rows_of(again)):
            return msg("`{key}` is not what the plan gives", key=f"hierarchies, {name}")
    return None


def hierarchy_files_check(evidence: Mapping[str, object], source: AtHand) -> list[ClaimCheck]:
    """The recorded hierarchies against the files that the plan names, found by the source's place.

    Empty where the plan takes none from a file. A file that is not there, or cannot be read, leaves
    its hierarchy recorded alone. Raises what malformed evidence raises.
    """
    from dpdesk.app.page_checks import recorded_hierarchies

    plan = Plan.from_plain(as_table(evidence["plan"]), "the plan in the evidence")
    recorded = recorded_hierarchies(as_table(evidence["hierarchies"]))
    base, other, unseen = source.base, [], []
    if not source.address:
        base = _base_of(plan.source.path, source.file.resolve())
    for name in sorted(of_files(plan) & set(recorded)):
        spec = plan.attributes[name].hierarchy
        assert isinstance(spec, HierarchyFile)
        same = _as_in_file(recorded[name], Path(normpath(base / spec.path)))
        if same is not None and not same:
            other.append(spec.path)
        elif same is None:
            unseen.append(spec.path)
    if not of_files(plan) & set(recorded):
        return []
    status, found = CheckStatus.CONFIRMED, "read again from their files, the same"
    if unseen:
        files = ", ".join(quoted(file) for file in unseen)
        status = CheckStatus.NEEDS_SOURCE
        found = msg("only recorded: no readable file next to the source: {files}", files=files)
    if other:
        files = ", ".join(quoted(file) for file in other)
        status = CheckStatus.FAILED
        found = msg(
            "not what {files} says now: either the file or the release was changed since",
            files=files,
        )
    return [ClaimCheck(HIERARCHY_FILES_CLAIM, status, found, PLACE)]


def _base_of(path: str, source: Path) -> Path:
    """The folder that the paths of a plan start from, by where its source is now.

    What climbs out of the plan's folder (``../data.csv``) says nothing of how that was called; any
    name leads back out of it.
    """
    parts = Path(path).parts
    climbs = [part for part in parts if part == ".."]
    below = parts[len(climbs) :]
    if not Path(path).is_absolute() and source.parts[-len(below) :] == below:
        return source.parents[len(below) - 1].joinpath(*("-" * len(climbs)))
    return source.parent


def _as_in_file(recorded: Hierarchy, path: Path) -> bool | None:
    """Whether a hierarchy is that of a file, but for codes that a range covers; None: no file."""
    from dpdesk.io.hierarchyfile import open_hierarchy

    try:
        read = open_hierarchy(path, recorded.attribute).hierarchy
    except (InputError, StorageError):
        return None
    here, there = ({tuple(row) for row in each.rows()} for each in (recorded, read))
    return here <= there and all(row[0] in read.ranged for row in there - here)


def of_files(plan: Plan) -> set[str]:
    """Columns whose hierarchies the plan takes from files."""
    given = {name: spec.hierarchy for name, spec in plan.attributes.items()}
    return {name for name, spec in given.items() if isinstance(spec, HierarchyFile)}


def _rows_of(hierarchy: Hierarchy | None) -> list[object]:
    return [] if hierarchy is None else list(hierarchy.rows())


def outcome_faults(
    evidence: Mapping[str, object],
    outcome: Outcome,
    given: MethodInput,
    linkage: Mapping[str, Mapping[str, int]],
) -> tuple[list[str], dict[str, object]]:
    """Which figures are not those of an outcome that was computed again from the source, and it.

    ``linkage`` is what the pseudonyms of the table show.
    """
    from dpdesk.report.review import LINKAGE, recoded_as_json

    quasi, node = given.with_role(Role.QUASI_IDENTIFIER), outcome.result.get("node")
    recoded = recoded_as_json(outcome.recoding, quasi, node, given.hierarchies)
    again = {
        "result": without({**outcome.result, **outcome.internal}, _SEARCH_TIMES),
        "risk": {**outcome.risk, **({LINKAGE: linkage} if linkage else {})},
        "utility": dict(outcome.utility),
        **found_values(outcome.figures, outcome.charts, recoded),
    }
    there = {**evidence, "result": without(evidence.get("result"), _SEARCH_TIMES)}
    faults = [
        not_given(key) for key, value in again.items() if not same_values(there.get(key), value)
    ]
    return faults, again


def message_faults(evidence: Mapping[str, object], again: object, part: str = "") -> Iterator[str]:
    """Whether the evidence says that its texts are made of what those are that were made again.

    What a run noted of files and of a computer that are not at hand may be plain. Where only the
    value of one key was made again, ``part`` names it: a text that stands elsewhere as well may be
    made in another way there, as a sentence that reads like the name of a column.
    """
    table = evidence.get(TABLE)
    listed = table if isinstance(table, Mapping) else {}
    made, texts = makings(again), set(texts_in(again))
    texts -= set(texts_in(evidence.get(RECORDED_NOTES))) - {*made}
    if part:
        texts -= set(texts_in(without(evidence, frozenset({part, TABLE}))))
    for text in sorted(texts):
        if not any(same_values(listed.get(text), way) for way in made.get(text, [None])):
            words = "`{table}` does not say of what the text “{text}” is made"
            yield msg(words, table=TABLE, text=text[:60])


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
    return first == second
