"""Ask a release by clicking: what its columns hold, and the truth for whoever has the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.querying import OpenRelease, told
from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.guarantee import hidden_columns
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.query import Answer, Query
from dpdesk.core.spans import span_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleaseFacts
    from dpdesk.engine.method import MethodInput
    from dpdesk.io.store import DataStore


@dataclass(frozen=True)
class ReleasedColumn:
    """The published values of a column, numbers first and in their order; whether it is numeric."""

    name: str
    values: tuple[str, ...]
    numeric: bool


def reads_rows(folder: Path) -> bool:
    """Whether a release holds rows, by its files alone; nothing is read or checked."""
    from dpdesk.io.release_folder import PUBLIC, holds_rows

    inside = folder / PUBLIC
    return holds_rows(inside if inside.is_dir() else folder)


def released_column(
    release: OpenRelease, name: str, token: CancelToken, report: Report
) -> ReleasedColumn:
    """What a column of a released table holds; InputError ``release.unreadable``, Cancelled."""
    from dpdesk.engine.methods.k_anonymity.querying import label_order
    from dpdesk.engine.methods.l_diverted.querying import MICRODATA

    report(StepStarted("Read the values", 1, 1))
    if known := release.about.askable.column(name).categories:
        numeric = 2 * sum(span_of(text) is not None for text in known) > len(known)
        return ReleasedColumn(name, known, numeric)
    with told(release.about.folder):
        counted = release.content.counted(MICRODATA, (name,), token)
        texts = counted.texts[0]
        order = sorted(range(len(texts)), key=label_order(counted, 0))
    numbers = sum(span_of(text) is not None for text in texts)
    return ReleasedColumn(name, tuple(texts[code] for code in order), 2 * numbers > len(texts))


def drawn_columns(release: OpenRelease) -> tuple[str, ...]:
    """The columns whose values were drawn, or stand apart from the rows."""
    return hidden_columns(release.content.manifest.guarantee.parameters)


def holds_evidence(release: OpenRelease) -> bool:
    """Whether the truth can be had with the source: the internal part is at hand too."""
    return release.truth is not None and (release.about.folder / "internal").is_dir()


def true_answer(
    context: AppContext,
    release: OpenRelease,
    source: Path,
    query: Query,
    token: CancelToken,
    report: Report,
) -> Answer:
    """The exact counts in the source: confidential, nothing of it may leave the agency.

    Raises RefusedError ``ask.no-evidence`` without the internal part, ``ask.other-source`` for a
    file that the release was not made of; InputError, StorageError, Cancelled.
    """
    from dpdesk.io.release_check import read_release

    report(StepStarted("Check the source", 1, 2))
    facts = read_release(release.about.folder)
    if facts.internal is None:
        raise RefusedError(
            "ask.no-evidence", ("The internal part of the release is not available.")
        )
    method = release.truth
    if method is None:
        raise RefusedError(
            "ask.no-truth", "The method does not say how the truth is found in the source."
        )
    _check_source(source, facts, token)
    report(StepStarted("Count in the source", 2, 2))
    with told(release.about.folder):
        given, data = _given(context, facts, source, token, report)
        try:
            return method.true_answer(query, given, token, facts.manifest)
        finally:
            data.close()


def _check_source(source: Path, facts: ReleaseFacts, token: CancelToken) -> None:
    from dpdesk.io.safewrite import hash_file

    try:
        actual, _ = hash_file(source.resolve(), token)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(
            "storage.failed", msg("{file}: cannot be read ({reason}).", file=source, reason=reason)
        ) from error
    if actual != facts.evidence.source.sha256:
        raise RefusedError(
            "ask.other-source",
            msg(
                "{name} is not the file that this release was made of: its SHA-256 is another.",
                name=source.name,
            ),
            hint="Open the file that the release was made of.",
        )


def _given(
    context: AppContext, facts: ReleaseFacts, source: Path, token: CancelToken, report: Report
) -> tuple[MethodInput, DataStore]:
    """The method's input once more, from the plan and the hierarchies in the evidence."""
    from dpdesk.app.page_checks import recorded_hierarchies
    from dpdesk.core.parameters import parse_parameters
    from dpdesk.core.plan import Plan
    from dpdesk.engine.method import MethodInput
    from dpdesk.io.store import DataStore

    where = "the plan in the evidence"
    plan = Plan.from_plain(facts.evidence.plan, where)
    method = context.registry.get(plan.protection.method, where)
    parameters = parse_parameters(method.parameters, plan.protection.parameters, where)
    hierarchies = recorded_hierarchies(facts.evidence.hierarchies)
    spec = replace(plan.source, path=str(source.resolve()))
    data = DataStore.open(spec, source.parent, context.workspace, token, report)
    try:
        roles = method.effective_roles(plan.column_roles(data.columns), parameters)
    except InputError:
        data.close()
        raise
    linked = plan.linkages(data.columns)
    return MethodInput(roles, hierarchies, parameters, source=data, linkages=linked), data
