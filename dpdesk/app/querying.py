"""Ask a release questions, from its public files alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.texts import same_texts
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted, silent
from dpdesk.core.messages import msg
from dpdesk.core.query import Answer, Askable, Query
from dpdesk.core.release import MINIMAL_CHANGE, CheckStatus, Manifest, VerifyReport, hidden_columns
from dpdesk.core.spans import span_of
from dpdesk.engine.registry import answers_of, truth_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleasedContent, ReleaseFacts
    from dpdesk.engine.method import MethodInput
    from dpdesk.engine.querying import Questions, TrueMethod
    from dpdesk.io.release_content import ReleaseContent
    from dpdesk.io.store import DataStore


NOT_COMPARED = (
    "Pages and sentences of this release were written with texts other than this program's, and "
    "were not compared with anything."
)
_ANSWERS_NOTHING = (
    "A release that fails verification answers nothing; `dpdesk verify` reports everything."
)
_MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class AskedRelease:
    """A release that answers questions: its folder, title and method, what can be asked."""

    folder: Path
    title: str
    method: str
    askable: Askable


@dataclass(frozen=True)
class OpenRelease:
    """A release whose files were found intact, ready for questions; it reaches no source.

    ``truth`` finds the true answers in the source; None where its method does not say that they
    can be compared. ``warnings`` go with every answer: what was not compared with anything.
    """

    about: AskedRelease
    content: ReleasedContent
    questions: Questions
    truth: TrueMethod | None = None
    warnings: tuple[str, ...] = ()

    def ask(self, query: Query, token: CancelToken, report: Report) -> Answer:
        """The answer; InputError ``query.*``, RefusedError ``query.refused``, Cancelled."""
        query = query.spelled_as([column.name for column in self.about.askable.columns])
        with told(self.about.folder):
            answer = self.questions.answer(query, self.content, token)
        return replace(answer, warnings=(*answer.warnings, *self.warnings))


def open_release(
    context: AppContext, folder: Path, token: CancelToken, report: Report
) -> OpenRelease:
    """Check the files of a release (or of its public part alone) and open it for questions.

    Raises InputError ``release.missing``, ``release.unreadable``; RefusedError
    ``release.not-intact``, ``query.no-answers`` when its method answers none; Cancelled.
    """
    report(StepStarted("Check the files", 1, 2))
    content = open_listed(context, folder, token)
    report(StepStarted("Answer from the release", 2, 2))
    name = content.manifest.method
    method = context.registry.get(name, str(folder))
    answers = answers_of(method)
    if answers is None:
        raise RefusedError(
            "query.no-answers",
            msg(
                "{folder}: releases of the method `{name}` answer no queries.",
                folder=folder,
                name=name,
            ),
        )
    with told(folder):
        questions = answers.questions()
        askable = questions.askable(content, token)
    about = AskedRelease(folder, content.manifest.title, name, askable)
    cautions = cautions_of(context, content.manifest)
    return OpenRelease(about, content, questions, truth_of(method), cautions)


def open_listed(context: AppContext, folder: Path, token: CancelToken) -> ReleaseContent:
    """The public files of a release, where they are intact, tell nothing that its method does not
    list, and claim nothing that they refute.

    Raises InputError ``release.missing``, ``release.unreadable``; RefusedError
    ``release.not-intact``, ``release.not-listed``, ``release.not-verified``; Cancelled.
    """
    from dpdesk.app.manifests import listed_checks, manifest_hash
    from dpdesk.io.release_content import ReleaseContent

    content = ReleaseContent.open(folder, context.registry.about, token)
    method = context.registry.get(content.manifest.method, str(folder))
    with told(folder):
        for check in listed_checks(content.manifest, method):
            if check.status is CheckStatus.FAILED:
                raise RefusedError(
                    "release.not-listed",
                    msg(
                        "{folder}: `{field}` in the manifest: {reason}.",
                        folder=folder,
                        field=check.claim,
                        reason=check.found,
                    ),
                    hint=_ANSWERS_NOTHING,
                )
    if manifest_hash(content.manifest) not in context.verified:
        _check_claims(context, folder, content, token)
    return content


def cautions_of(context: AppContext, manifest: Manifest) -> tuple[str, ...]:
    """What to say with every number of a release that :func:`open_listed` opened."""
    from dpdesk.app.manifests import manifest_hash

    return context.verified[manifest_hash(manifest)]


def _check_claims(
    context: AppContext, folder: Path, content: ReleaseContent, token: CancelToken
) -> None:
    """Check the claims of the public part, as is done once per process for the same manifest.

    Hashes show only that nothing was changed by accident: they can be made again. The hashes of
    all files are in the manifest, so that what has been checked once needs no second look.
    """
    from dpdesk.app.manifests import manifest_hash

    found = verified(context, folder, content.public, token)
    said = tuple(_not_compared(content.manifest, found))
    context.verified[manifest_hash(content.manifest)] = said


def verified(context: AppContext, folder: Path, part: Path, token: CancelToken) -> VerifyReport:
    """What checking a ``part`` of a release shows, its public one or the whole folder.

    Raises RefusedError ``release.not-verified`` where something fails, Cancelled.
    """
    from dpdesk.app.verifying import verify_release

    found = verify_release(part, context.registry, token, silent, reviewed=part == folder)
    if found.failures:
        failure = found.failures[0]
        raise RefusedError(
            "release.not-verified",
            msg(
                "{folder}: the release does not verify: {path}: {reason}.",
                folder=folder,
                path=failure.path,
                reason=failure.reason,
            ),
            hint=_ANSWERS_NOTHING,
        )
    return found


def _not_compared(manifest: Manifest, found: VerifyReport) -> Iterator[str]:
    """What of the claims was compared with nothing."""
    if not same_texts(manifest):
        yield NOT_COMPARED
    if any(check.claim == MINIMAL_CHANGE for check in found.not_checked()):
        yield (
            "The size of a minimal change alongside the exact tables was not checked for this "
            "answer; `dpdesk verify` says whether it can be."
        )


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """What a malformed manifest raises in the block, as an error that names the release."""
    try:
        yield
    except _MALFORMED as error:
        kind = type(error).__name__
        raise InputError(
            "release.unreadable",
            msg(
                "{folder}: the claims of the manifest cannot be read ({kind}).",
                folder=folder,
                kind=kind,
            ),
            hint="`dpdesk verify` reports what is wrong with it.",
        ) from error


# Ask a release by clicking: what its columns hold, and the truth for anyone who has the source.


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
            "ask.no-truth", "The method does not say how to find the true answer in the source."
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
    from dpdesk.io.source import FilePrint

    recorded = facts.evidence.source
    difference = FilePrint(recorded.sha256, recorded.bytes).difference(source, token)
    if difference is not None:
        raise RefusedError(
            "ask.other-source",
            msg(
                "{name} is not the file that this release was made from: {difference}.",
                name=source.name,
                difference=difference,
            ),
            hint="Open the file that the release was made from.",
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
