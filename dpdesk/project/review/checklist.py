"""The checklist of a release: what its own files show, checked against a policy.

A checklist is a pure function of checked facts: what the verifier found, what was counted from the
published table, what manifest and evidence say, and the policy. Nothing comes from a form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpdesk.core.capabilities import Content, Protection
from dpdesk.project.review.items_columns import COLUMN_ITEMS
from dpdesk.project.review.items_diverted import questions_of
from dpdesk.project.review.items_private import PRIVATE_ITEMS
from dpdesk.project.review.items_release import ASK_ABOUT, CLOSING_ITEMS, RELEASE_ITEMS
from dpdesk.project.review.items_table import TABLE_ITEMS
from dpdesk.project.review.items_telling import ALONE_ITEM, TELLING_ITEM
from dpdesk.project.review.payloads import ChecklistItem
from dpdesk.project.review.policy import Policy, Standing
from dpdesk.project.review.questions import (
    DEVELOPING,
    Answer,
    Basis,
    Case,
    CheckedFacts,
    Item,
    Passage,
    Question,
    TableQuestion,
    answered,
)
from dpdesk.project.review.votes import ItemStatus as Status


@dataclass(frozen=True)
class Difference:
    """An item that stands otherwise than in a submission; None: there is no such item."""

    id: str
    submitted: Status | None
    found: Status | None


@dataclass(frozen=True)
class Checklist:
    """All items, in the order in which people should read them."""

    items: tuple[Item, ...]
    policy_sha256: str

    def item(self, item_id: str) -> Item:
        """The item with this id; KeyError when there is none."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(item_id)

    def count(self, status: Status) -> int:
        """How many items stand so."""
        return sum(item.status is status for item in self.items)

    def submitted(self) -> dict[str, ChecklistItem]:
        """The items as a submission holds them."""
        return {
            item.id: ChecklistItem(item.question, item.status, item.evidence) for item in self.items
        }

    def differences(self, submitted: Mapping[str, Status]) -> tuple[Difference, ...]:
        """Items that stand otherwise than in a submission, in the order of this list."""
        here = {item.id: item.status for item in self.items}
        ids = [*here, *(key for key in submitted if key not in here)]
        return tuple(
            Difference(key, submitted.get(key), here.get(key))
            for key in ids
            if submitted.get(key) is not here.get(key)
        )


def make_checklist(
    facts: CheckedFacts,
    policy: Policy,
    standing: Standing,
    passage: Passage = DEVELOPING,
) -> Checklist:
    """Check a release against a policy; never raises, whatever manifest and evidence hold."""
    case = Case(facts, policy, standing, passage)
    content = [_meant(item, case) for item in _items(_content(case), case)]
    items = (*_items(RELEASE_ITEMS, case), *content, *_items(CLOSING_ITEMS, case))
    return Checklist((*items, *_sign_offs(policy)), policy.sha256)


def _items(questions: Sequence[Question | TableQuestion], case: Case) -> list[Item]:
    return [item for question in questions if (item := question.item(case)) is not None]


def _meant(item: Item, case: Case) -> Item:
    """What was counted passes only where it is known by what the method protects."""
    if case.facts.about.protection is not None or item.status is not Status.PASS:
        return item
    text = "The method does not say how it protects, so this alone decides nothing."
    return replace(item, status=Status.FAIL, evidence=f"{text} {item.evidence}", advice=ASK_ABOUT)


def _content(case: Case) -> Sequence[Question | TableQuestion]:
    """The questions that the kind of the release raises."""
    about = case.facts.about
    if about.protection is Protection.DRAWN:
        return questions_of(case)
    if about.protection is Protection.NOISE:
        return PRIVATE_ITEMS
    rows = (*TABLE_ITEMS, *COLUMN_ITEMS, ALONE_ITEM, TELLING_ITEM)
    if about.protection is Protection.CLASSES or about.content is Content.ROWS:
        return rows
    asked = {question.id for question in rows}  # not known how it protects: all that may arise
    return (*rows, *(question for question in PRIVATE_ITEMS if question.id not in asked))


def _sign_offs(policy: Policy) -> Sequence[Item]:
    text = "The policy asks this of every release; whoever accepts it answers for it."
    answer = Answer(Status.REVIEW, text, Basis.PERSON)
    return [answered(f"sign-off-{key}", text, answer) for key, text in policy.sign_offs.items()]
