"""The public manifest of a release, before anything of it is written."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dpdesk import __version__
from dpdesk.app.evidence_checks import NOISE_PAID
from dpdesk.app.pseudonyms import notes_of
from dpdesk.app.texts import stated_texts
from dpdesk.app.witnessing import paid_notes
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.messages import TABLE, joined, msg, table_faults
from dpdesk.core.parameters import effective_parameters
from dpdesk.core.public_fields import COMMON, LISTED, PublicField, unlisted, withdrawn, written
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest
from dpdesk.io.canonical import canonical_json, plain_table
from dpdesk.io.release_folder import FORMAT, MANIFEST, commitment

if TYPE_CHECKING:
    from dpdesk.core.parameters import ParameterValue
    from dpdesk.core.plan import Plan
    from dpdesk.core.release import Guarantee
    from dpdesk.engine.method import Method, Outcome
    from dpdesk.io.published import PublishedCsv


# What a run notes of a release, as a function of things that a check has at hand again.
#
# The evidence keeps these sentences, and ``dpdesk verify`` makes them again from the source, the
# plan and the published table, so that none can be taken out, changed or added. Sentences on files
# that a release does not hold are kept apart (:data:`dpdesk.app.evidence_checks.RECORDED_NOTES`).


_FEW_ROWS, _UNIQUE = 20, 0.9


def unique_notes(
    outcome: Outcome,
    published: PublishedCsv,
    pseudonyms: Collection[str],
    token: CancelToken,
) -> list[Note]:
    """Which columns, released unchanged, single out nearly every row; internal."""
    from dpdesk.report.about import EXAMPLES

    if published.rows < _FEW_ROWS:
        return []
    unchecked = outcome.changed_columns | set(pseudonyms)
    return [
        Note(
            "release.nearly-unique",
            msg(
                "`{column}` is released unchanged and has {n:,} different values in {rows:,} "
                "rows: someone who knows such a value of a person can find the row. Should it be "
                "an identifier or a quasi-identifier?",
                column=name,
                n=column.distinct,
                rows=published.rows,
            ),
        )
        for name, column in published.top_values(EXAMPLES, token).items()
        if name not in unchecked and column.distinct >= _UNIQUE * published.rows
    ]


def recorded_payments(evidence: Mapping[str, object]) -> tuple[Note, ...]:
    """The warning on noise that was paid for on the same people, as the evidence records it.

    Raises TypeError for evidence of another form than ours.
    """
    paid = evidence.get(NOISE_PAID, [])
    if not isinstance(paid, list):
        raise TypeError("expected a list")
    return paid_notes([str(cost) for cost in paid])


def notes_on_rows(
    before: Iterable[str],
    outcome: Outcome,
    published: PublishedCsv,
    evidence: Mapping[str, object],
    token: CancelToken,
) -> list[str]:
    """All sentences that the evidence of a release of rows must hold, in their order.

    ``before`` are those of preparing the run. Raises TypeError, KeyError, ValueError for evidence
    of another form than ours.
    """
    recorded = evidence.get("pseudonyms", {})
    risk = evidence["risk"]
    if not isinstance(recorded, Mapping):
        raise TypeError("expected a table")
    linkage = risk.get("linkage", {}) if isinstance(risk, Mapping) else {}
    notes = [*outcome.notes, *recorded_payments(evidence)]
    notes += unique_notes(outcome, published, tuple(recorded), token)
    if recorded:
        notes += notes_of(recorded, published, linkage, token)
    return [*before, *(note.sentence for note in notes)]


_LISTED_LABEL = "Every public field is one of those that may be public"


def new_manifest(
    plan: Plan,
    method: Method,
    parameters: Mapping[str, ParameterValue],
    guarantee: Guarantee,
    result: Mapping[str, object],
    committed: tuple[str, str],
) -> Manifest:
    """A manifest that lists no files yet; ``committed`` are the source's SHA-256 and a fresh key.

    Raises RefusedError ``release.unlisted-field`` for what must not be public, StorageError
    ``resources.*``.
    """
    manifest = Manifest(
        format=FORMAT,
        dpdesk=__version__,
        created=datetime.datetime.now(datetime.UTC).date().isoformat(),
        title=plan.title,
        method=method.id,
        parameters=plain_table(public_parameters(method, parameters)),
        guarantee=replace(
            guarantee,
            model=str(guarantee.model),  # a name, which no language says otherwise
            parameters=plain_table(guarantee.parameters),
        ),
        result=plain_table(result),
        commitment=commitment(*committed),
        files={},
        texts=stated_texts(plan.language),
    ).with_messages()
    refuse_unlisted(manifest.as_json(), method)
    return manifest


def public_parameters(method: Method, values: Mapping[str, ParameterValue]) -> dict[str, object]:
    """The parameters that a manifest shows: those the method declares public, and that apply."""
    public = [parameter for parameter in method.parameters if parameter.public]
    return effective_parameters(method.parameters, values, public)


def refuse_unlisted(content: Mapping[str, object], method: Method) -> None:
    """Refuse public content with a field that is not on the list, before it is written.

    Raises RefusedError ``release.unlisted-field``.
    """
    for path in unlisted(content, written(fields_of(method))):
        raise RefusedError(
            "release.unlisted-field",
            msg(
                "The release was not made: `{path}` is not among the fields that a release "
                "by {id} may publish.",
                path=path,
                id=method.id,
            ),
            hint="This is an error in the program; please report it.",
        )


def fields_of(method: Method) -> tuple[PublicField, ...]:
    """All fields that a release by the method may have, those of earlier versions too."""
    return (*COMMON, *method.public_fields)


def listed_checks(manifest: Manifest, method: Method) -> list[ClaimCheck]:
    """Whether all public fields are listed ones; those of earlier versions are named."""
    fields = fields_of(method)
    stated = manifest.as_json()
    found = unlisted(stated, fields)
    if found:
        reason = (
            "is not among the public fields of such a release, so what it reveals about people "
            "who are not in it is not known"
        )
        return [ClaimCheck(path, CheckStatus.FAILED, reason, MANIFEST) for path in found]
    wrong = list(dict.fromkeys(table_faults(stated, public=True)))
    if wrong:
        return [ClaimCheck(TABLE, CheckStatus.FAILED, one, MANIFEST) for one in wrong]
    old = withdrawn(stated, fields)
    if old:
        reason = joined(
            (
                msg(
                    "an earlier version published {path}: {withdrawn}",
                    path=f.path,
                    withdrawn=f.withdrawn,
                )
                for f in old
            ),
            "; ",
        )
        return [ClaimCheck(LISTED, CheckStatus.NOT_CHECKABLE, reason, MANIFEST, _LISTED_LABEL)]
    reason = "each field is one that the program lists together with what it can reveal"
    return [ClaimCheck(LISTED, CheckStatus.CONFIRMED, reason, MANIFEST, _LISTED_LABEL)]


def manifest_hash(manifest: Manifest) -> str:
    """SHA-256 (hex) of the bytes of ``manifest.json``."""
    return hashlib.sha256(canonical_json(manifest)).hexdigest()
