"""What a run notes of a release, as a function of things that a check has at hand again.

The evidence keeps these sentences, and ``dpdesk verify`` makes them again from the source, the plan
and the published table, so that none can be taken out, changed or added. Sentences on files that a
release does not hold are kept apart (:data:`dpdesk.app.evidence_keys.RECORDED_NOTES`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from dpdesk.app.evidence_keys import NOISE_PAID
from dpdesk.app.pseudonyms import notes_of
from dpdesk.app.witnessing import paid_notes
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.engine.method import Outcome
    from dpdesk.io.published import PublishedCsv

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
                "rows: someone who knows such a value of a person finds the row. Should it be "
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
