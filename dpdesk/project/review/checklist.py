"""The checklist of a release: what its own files show, held against a policy.

A checklist is a pure function of checked facts: what the verifier found, what was counted from the
published table, what manifest and evidence say, and the policy. Nothing comes from a form. Every
item says on what its evidence rests, so that a reviewer knows which figures were counted again on
this computer and which are only what the author's program wrote down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from dpdesk.core.disclosure import TableFacts
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.release import ReleaseFacts, VerifyReport
from dpdesk.project.review.item_words import printable
from dpdesk.project.review.payloads import ChecklistItem, Mode
from dpdesk.project.review.policy import Policy, Standing
from dpdesk.project.review.protocol import ProtocolCheck
from dpdesk.project.review.votes import ItemStatus as Status

PRIVATE_METHODS = ("dp-cube", "priview")
MICRODATA_METHODS = ("k-anonymity", "anatomy", "l-diverted")
_LONGEST_EVIDENCE = 4_000


class Basis(Enum):
    """On what the evidence of an item rests."""

    TABLE = "counted now from the published table"
    FILES = "re-checked now from the files"
    SOURCE = "re-checked now with the source"
    MANIFEST = "from the manifest, not re-checked"
    EVIDENCE = "from the evidence, not re-checked"
    POLICY = "from the policy"
    PERSON = "no program can check this"


@dataclass(frozen=True)
class Item:
    """One question of a checklist.

    ``id`` is stable; ``evidence`` is a sentence or more with the figures and, in brackets, their
    basis; ``advice`` says what to do when the item does not pass.
    """

    id: str
    question: str
    status: Status
    evidence: str
    basis: Basis
    advice: str = ""


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


@dataclass(frozen=True)
class Passage:
    """How the release comes about: which mode, and the protocol that it applies."""

    mode: Mode = Mode.DEVELOP
    protocol: ProtocolCheck | None = None


@dataclass(frozen=True)
class CheckedFacts:
    """What is known of a release: its own words, what verifying showed, what its table shows.

    ``table`` is None when the published table cannot be read, or when there is none.
    """

    release: ReleaseFacts
    report: VerifyReport
    table: TableFacts | None

    def claim(self, name: str) -> ClaimCheck | None:
        """What the verifier found of a claim; None when it was not checked."""
        for check in self.report.claims:
            if check.claim == name:
                return check
        return None

    def confirmed(self, name: str) -> bool:
        """Whether the verifier confirmed a claim."""
        check = self.claim(name)
        return check is not None and check.status is CheckStatus.CONFIRMED

    @property
    def has_internal(self) -> bool:
        """Whether the internal part is at hand and could be read."""
        return bool(self.release.evidence)


@dataclass(frozen=True)
class Case:
    """All that an item may look at."""

    facts: CheckedFacts
    policy: Policy
    standing: Standing
    passage: Passage

    @property
    def has_microdata(self) -> bool:
        """Whether the method publishes microdata."""
        return self.facts.release.method in MICRODATA_METHODS


@dataclass(frozen=True)
class Answer:
    """What an item comes to; see :class:`Item`. ``more`` follows after the basis."""

    status: Status
    evidence: str
    basis: Basis
    advice: str = ""
    more: str = ""


@dataclass(frozen=True)
class Question:
    """A question of the checklist; ``ask`` answers it, None when it does not arise."""

    id: str
    text: str
    ask: Callable[[Case], Answer | None]

    def item(self, case: Case) -> Item | None:
        """The item of a case."""
        answer = self.ask(case)
        return None if answer is None else _item(self.id, self.text, answer)


@dataclass(frozen=True)
class TableQuestion:
    """A question to the published table.

    With a ``limit`` it is asked only where the policy sets that limit. ``always`` says that it is
    an item of every checklist of microdata.
    """

    id: str
    text: str
    ask: Callable[[Case, TableFacts], Answer | None]
    limit: str = ""
    always: bool = True

    def item(self, case: Case) -> Item | None:
        """The item of a case; a failure when there should be a table and none can be read."""
        if self.limit and self.limit not in case.policy.limits:
            return None
        if case.facts.table is not None:
            answer = self.ask(case, case.facts.table)
        else:
            answer = _without_table(case) if self.always else None
        return None if answer is None else _item(self.id, self.text, answer)


def make_checklist(
    facts: CheckedFacts,
    policy: Policy,
    standing: Standing,
    passage: Passage = Passage(),
) -> Checklist:
    """Hold a release against a policy; never raises, whatever manifest and evidence hold."""
    from dpdesk.project.review.items_columns import COLUMN_ITEMS
    from dpdesk.project.review.items_private import PRIVATE_ITEMS
    from dpdesk.project.review.items_release import CLOSING_ITEMS, RELEASE_ITEMS
    from dpdesk.project.review.items_table import TABLE_ITEMS

    case = Case(facts, policy, standing, passage)
    private = facts.release.method in PRIVATE_METHODS
    content = PRIVATE_ITEMS if private else (*TABLE_ITEMS, *COLUMN_ITEMS)
    questions = (*RELEASE_ITEMS, *content, *CLOSING_ITEMS)
    items = [item for question in questions if (item := question.item(case)) is not None]
    return Checklist((*items, *_sign_offs(policy)), policy.sha256)


def _without_table(case: Case) -> Answer:
    if not case.has_microdata:
        text = "The release holds no microdata."
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    text = "The published table cannot be read, so nothing of it could be counted."
    return Answer(Status.FAIL, text, Basis.FILES, "See the first item; make the release again.")


def _sign_offs(policy: Policy) -> Sequence[Item]:
    text = "The policy asks this of every release; whoever accepts it answers for it."
    answer = Answer(Status.REVIEW, text, Basis.PERSON)
    return [_item(f"sign-off-{key}", text, answer) for key, text in policy.sign_offs.items()]


def _item(item_id: str, question: str, answer: Answer) -> Item:
    """An item whose evidence ends with its basis; advice only where the item does not pass."""
    evidence = f"{answer.evidence.strip().removesuffix('.')} ({answer.basis.value})."
    evidence = printable(f"{evidence} {answer.more}")[:_LONGEST_EVIDENCE]
    advice = answer.advice if answer.status.severity else ""
    return Item(item_id, question, answer.status, evidence, answer.basis, advice)
