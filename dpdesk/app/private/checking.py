"""Check a release with noise from its files: tables, claims, page, plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from dpdesk.app.evidence import found_values, recorded_checks
from dpdesk.app.evidence_checks import (
    checks_fault,
    figures_check,
    message_faults,
    not_given,
    note_faults,
    same_values,
    source_faults,
)
from dpdesk.app.labelling import strange_labels
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
from dpdesk.app.payment_checks import draws_faults
from dpdesk.app.private.labelling import (
    dimension_faults,
    dimension_labels,
    published_dimensions,
    read_dimension_labels,
)
from dpdesk.app.private.pinning import read_pinned
from dpdesk.app.private.preparing import builders, design_notes
from dpdesk.app.texts import fairly_judged, same_texts, unlike_quoted
from dpdesk.core.cuboid import CuboidTable, listed_tables
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.language import ENGLISH, speaking
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plan import HierarchyBuilder, Plan
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.core.shapes import as_table
from dpdesk.core.source_spec import source_format, unnamed
from dpdesk.engine.method import Method
from dpdesk.engine.private.method import PrivateInput, PrivateMethod
from dpdesk.io.canonical import UnreadableJsonError
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.cuboid_files import read_tables
from dpdesk.io.release_check import ReleaseFiles, is_listed_file
from dpdesk.io.release_folder import ABOUT, EVIDENCE, INTERNAL, MANIFEST, VARIABLES
from dpdesk.verifiers.declared import Declarations

if TYPE_CHECKING:
    from dpdesk.app.at_hand import AtHand
    from dpdesk.io.workspace import Workspace


# The public page of a cube or graph and its tables, read back.


def public_page(
    manifest: Manifest,
    method: Method,
    language: str = ENGLISH,
    book: Codebook = NO_BOOK,
) -> bytes:
    """The bytes of ``about.html`` in a language.

    They depend on the manifest without ``files``, and on the published labels of the dimensions.
    """
    from dpdesk.report.noisy import render_about

    with speaking(language):
        return render_about(manifest, method, book)


_OTHER_PLAN = (
    "planning again found another choice of tables with noise, so the charts were not compared"
)
_NO_TABLES = frozenset((ABOUT, VARIABLES))


def private_claims(
    found: ReleaseFiles,
    method: PrivateMethod,
    manifest: Manifest,
    token: CancelToken,
) -> tuple[tuple[ClaimCheck, ...], tuple[ClaimCheck, ...]]:
    """All claims of a release by a private method, and those of them that a run records; faults of
    files go into ``found``.

    Raises what a malformed manifest raises (TypeError, KeyError, ValueError and such), Cancelled.
    """
    published = _tables(found, manifest, token)
    if published is None:
        return (), ()
    for wrong in dimension_faults(found.public, manifest):
        found.fail(found.public / VARIABLES, wrong)
    claimed = method.verify(manifest, published, token)
    claimed = (*claimed, *beyond(method, manifest, claimed))
    checks = list(fairly_judged(manifest, claimed))
    checks += setting_checks(manifest, method)
    evidence = found.evidence
    if evidence is not None:
        fault = plan_fault(manifest, evidence, method)
        faults = [] if fault is None else [fault]
        if same_texts(manifest):
            faults += checks_fault(evidence, claimed)
            faults += message_faults(evidence, recorded_checks(claimed), "checks")
        faults += _empty_faults(evidence)
        for each in faults:
            found.fail(found.root / INTERNAL / EVIDENCE, each)
    if not any(check.status is CheckStatus.FAILED for check in checks):
        checks += method.verify_declared(manifest, _declarations(manifest, evidence))
    if not any(check.status is CheckStatus.FAILED for check in checks):
        checks += unlike_quoted(checks, _page(found, method, manifest))
    return tuple(checks), claimed


def _empty_faults(evidence: Mapping[str, object]) -> list[str]:
    """What a release with noise says nothing of, because the data must not be judged for it."""
    return [
        msg("`{key}` is not empty", key=key)
        for key in ("risk", "utility", "figures", "recoded")
        if evidence.get(key)
    ]


def checks_with_source(
    found: ReleaseFiles,
    manifest: Manifest,
    method: PrivateMethod,
    claimed: Sequence[ClaimCheck],
    source: AtHand,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
) -> tuple[ClaimCheck, list[ClaimCheck]]:
    """The figures of the evidence against those of the source, and what more the source shows.

    ``claimed`` are the checks that its run recorded, made again.
    The rows that count and what is exact are found by the verifier, whatever program made the
    release; all other figures by a design made again, where this program may compare them. Nothing
    is drawn. Raises what a malformed manifest raises, InputError, StorageError, Cancelled.
    """
    from dpdesk.io.store import DataStore

    evidence = found.evidence
    given, declared = _given(evidence, method), _declarations(manifest, evidence)
    assert evidence is not None
    assert given is not None
    assert declared is not None
    plan = Plan.from_plain(as_table(evidence["plan"]), given.where)
    spec = source.spec(plan.source)
    # Releases of earlier versions were made of data that were read like those of other methods.
    place = source.base, workspace, token, report
    pinned = not unnamed(spec, source_format(spec))
    with closing(
        read_pinned(plan, spec, *place) if pinned else DataStore.open(spec, *place)
    ) as data:
        complete = same_texts(manifest)
        faults = source_faults(evidence, data, plan.source, complete=complete)
        if faults:
            return figures_check(faults), []
        whole, tables = as_table(evidence["result"]), read_tables(manifest, found.public, token)
        if not any(dimension_faults(found.public, manifest)):
            expected = dimension_labels(data.book, manifest) if complete else None
            shown = tuple(published_dimensions(manifest))
            if wrong := strange_labels(found.public, shown, data.book, expected):
                found.fail(found.public / VARIABLES, wrong)
        counted = method.verify_counted(manifest, whole, tables, declared, data, token)
        unlike = "" if complete else other_texts(manifest)
        design = method.design(given, token, report)
        if not same_values(design.result, manifest.result):
            return figures_check([], unlike or _OTHER_PLAN), counted
        faults += draws_faults(evidence, design.charge.draws)
        if unlike:
            return figures_check(faults, unlike), counted
        facts = design.facts(data, token)
        faults += [
            not_given(f"result, {key}")
            for key, value in facts.items()
            if not same_values(whole.get(key), value)
        ]
        faults += [
            msg("`{key}` is not something that a release has", key=f"result, {key}")
            for key in sorted(set(whole) - {*manifest.result, *facts})
        ]
        made = found_values((), design.charts, ())
        faults += _not_planned(evidence, made)
        said = [each.sentence for each in design_notes(plan, method, given, data.columns, design)]
        faults += note_faults(evidence, said)
        worded = manifest.guarantee.sentences, recorded_checks(claimed)
        faults += message_faults(evidence, (made, said, design.result, facts, *worded))
    return figures_check(faults), counted


def _not_planned(evidence: Mapping[str, object], made: Mapping[str, object]) -> list[str]:
    return [
        msg("`{key}` is not what the plan gives", key=key)
        for key, value in made.items()
        if not same_values(evidence.get(key), value)
    ]


def _given(evidence: Mapping[str, object] | None, method: PrivateMethod) -> PrivateInput | None:
    """What the design was made from, once more from the evidence; None without one.

    A hierarchy that the evidence lacks is lacking here too, so that it declares nothing.
    """
    if evidence is None:
        return None
    where = "the plan in the evidence"
    plan = Plan.from_plain(as_table(evidence["plan"]), where)
    parameters = parse_parameters(method.parameters, plan.protection.parameters, where)
    hierarchies: dict[str, Hierarchy | HierarchyBuilder] = dict(builders(plan))
    hierarchies |= recorded_hierarchies(as_table(evidence["hierarchies"]))
    roles = plan.column_roles(_columns(evidence))
    return PrivateInput(roles, hierarchies, parameters, where)


def _declarations(manifest: Manifest, evidence: Mapping[str, object] | None) -> Declarations | None:
    """What the evidence says of categories, as plain values; None without evidence."""
    if evidence is None:
        return None
    attributes = as_table(as_table(evidence["plan"]).get("attributes") or {})
    hierarchies, complete = as_table(evidence["hierarchies"]), same_texts(manifest)
    return Declarations(attributes, hierarchies, complete=complete)


def _columns(evidence: Mapping[str, object]) -> list[str]:
    columns = as_table(evidence["source"])["columns"]
    if not isinstance(columns, list):
        raise TypeError("expected a list")
    return [str(name) for name in columns]


def _tables(
    found: ReleaseFiles, manifest: Manifest, token: CancelToken
) -> dict[str, CuboidTable] | None:
    """The tables; None when one is missing or unreadable, which is noted."""
    listed = manifest.files
    files = [item["file"] for item in listed_tables(manifest.result)]
    for file in files:
        if not isinstance(file, str) or file not in listed or file in _NO_TABLES:
            found.fail(
                found.public / MANIFEST,
                msg(
                    "`result` names {file!r}, which is not a table that `files` lists",
                    file=str(file)[:200],
                ),
            )
            return None
        path = found.public / file
        if not is_listed_file(path):
            found.fail(path, "is missing")
            return None
        if path in found.unread:
            return None
    for file in sorted(set(listed) - set(files) - _NO_TABLES):
        found.fail(found.public / file, "is listed in `files`, but no table of `result`")
    try:
        return read_tables(manifest, found.public, token)
    except UnreadableTableError as error:
        file, _, reason = error.sentence.partition(": ")
        found.fail(found.public / file, reason)
    except OSError as error:
        found.fail(
            found.public,
            msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__),
        )
    return None


def _page(found: ReleaseFiles, method: PrivateMethod, manifest: Manifest) -> list[ClaimCheck]:
    page = found.public / ABOUT
    if page.is_symlink() or not page.is_file():
        return []
    try:
        book = read_dimension_labels(found.public, manifest)
        content = page_bytes(page)
    except UnreadableJsonError:  # the labels themselves are named
        return []
    except OSError as error:
        found.fail(
            page,
            msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__),
        )
        return []

    def written(language: str) -> bytes:
        return public_page(manifest, method, language, book)

    return [page_check(manifest, about_page(manifest, content), written)]
