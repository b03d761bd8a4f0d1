"""The questions of the checklist as a reviewer or an author sees them, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.app.review.values import Checklist, Item, ItemStatus
from dpdesk.ui.panels.review.presenter import CheckRow, State, Verdict, translate
from dpdesk.ui.words.numbers import with_quotes
from dpdesk.ui.words.spoken import said

SOURCE = "source"
_REMEDIES = {
    SOURCE: ("source",),
    "attributes": (
        *("identifiers", "forbidden-columns", "required-columns", "number-of-columns"),
        *("own-values", "one-column-more", "raw-contents", "weights", "groups", "linkage", "unit"),
        *("rows-alone", "telling"),
    ),
    "hierarchies": ("public-fields", "extremes", "detail", "domain"),
    "protect": (
        *("smallest-class", "uniques", "average-risk", "suppression", "suppressed-groups"),
        *("homogeneous", "diversity", "closeness", "drawn-values", "privacy-loss", "epsilon"),
        *("error", "left-out", "optimum", "method"),
    ),
}
"""Where the work can be changed so that a question of the checklist is answered better."""
_PLACES = {item: place for place, items in _REMEDIES.items() for item in items}
_JUDGED = {
    ItemStatus.FAIL: State.FAILED,
    ItemStatus.REVIEW: State.JUDGE,
    ItemStatus.PASS: State.CONFIRMED,
    ItemStatus.NOT_APPLICABLE: State.NOT_CHECKABLE,
}


def checklist_rows(
    checklist: Checklist, *, ahead: bool = False, approved: bool = False
) -> tuple[CheckRow, ...]:
    """The questions that a reviewer decides: failures first, then what a person judges.

    ``ahead``: before the release is written, when nothing can be checked with the source yet;
    ``approved``: when the reviewers have decided them all.
    """
    items = [one for one in checklist.items if not (ahead and one.id == SOURCE)]
    ordered = sorted(items, key=lambda one: -one.status.severity)
    return tuple(_item_row(item, approved) for item in ordered)


def _item_row(item: Item, approved: bool) -> CheckRow:
    state = _JUDGED[item.status]
    texts = {
        State.FAILED: translate("Review", "fails"),
        State.JUDGE: translate("Review", "to be judged"),
        State.CONFIRMED: translate("Review", "in order"),
        State.NOT_CHECKABLE: translate("Review", "does not arise"),
    }
    if approved:
        accepted = translate("Review", "accepted")
        texts |= {State.FAILED: accepted, State.JUDGE: accepted}
    return CheckRow(
        *(state, texts[state], said(item.question), with_quotes(said(item.evidence))),
        short=texts[state],
        advice=with_quotes(said(item.advice)),
        place=_PLACES.get(item.id, "") if item.status.severity else "",
        remedy=item.remedy,
    )


def checklist_verdict(
    rows: Sequence[CheckRow], *, ahead: bool = False, approved: bool = False
) -> Verdict:
    """What the checklist comes to, in one sentence.

    ``ahead`` of writing the release, or when its reviewers have ``approved`` it.
    """
    count = {state: sum(row.state is state for row in rows) for state in State}
    failed, judged = count[State.FAILED], count[State.JUDGE]
    if approved and (failed or judged):
        text = translate(
            "Review",
            "Checklist: of {all} questions {n} needed a person; reviewers accepted them.",
        )
        return Verdict("ok", text.format(all=len(rows), n=failed + judged))
    if failed:
        text = translate(
            "Review", "Checklist: {all} questions, {failed} ✕ not met, {n} for a person to judge."
        )
    elif judged:
        text = translate(
            "Review", "Checklist: of {all} questions {n} are for a person to judge, none fails."
        )
    else:
        text = translate("Review", "Checklist: all {all} questions are in order.")
    words = text.format(all=len(rows), n=judged, failed=failed)
    if ahead and (failed or judged):
        words += " " + translate("Review", "Look through them before you write the release.")
    return Verdict("fail" if failed else "caution" if judged else "ok", words)
