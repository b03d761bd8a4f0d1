"""Questions of a checklist: what they may look at, and what an answer is.

Every answer says on what it rests, so that a reviewer knows which figures were counted again on
this computer and which are only what the author's program wrote down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from dpdesk.core.capabilities import UNKNOWN, Capabilities, Content
from dpdesk.core.charts import format_figure
from dpdesk.core.messages import Listed, counted, joined, msg, unstopped
from dpdesk.core.plain import number_text, quoted
from dpdesk.core.release import CheckStatus, ClaimCheck, ReleaseFacts, TableFacts, VerifyReport
from dpdesk.project.review.events import Mode
from dpdesk.project.review.policy import Policy, PolicyRelation
from dpdesk.project.review.protocol import ProtocolCheck
from dpdesk.project.review.votes import ItemStatus as Status

# Words that items of a checklist share: counts, shares, lists of columns.


_MOST_NAMED = 5


def share_of(some: int, whole: int) -> str:
    """``3.19 %``, to two digits."""
    return format_figure(some / whole if whole else 0.0, "share")


def part(some: int, whole: int, of: str = "") -> str:
    """``655 of 20,502 rows (3.19 %)``; ``of`` are the words for the whole, if not rows."""
    return msg(
        "{some:,} of {whole} ({share})",
        some=some,
        whole=of or counted("{n:,} row", "{n:,} rows", n=whole),
        share=share_of(some, whole),
    )


def percent(share: Fraction) -> str:
    """An exact share in percent, with all its digits."""
    return f"{number_text(share * 100)} %"


def named(names: Sequence[str], after: Callable[[str], str] = lambda _: "") -> str:
    """Names in a sentence, each between backticks; beyond a handful it says how many more.

    ``after`` are words of ours that follow a name.
    """
    shown = [f"{quoted(name)}{after(name)}" for name in names[:_MOST_NAMED]]
    return Listed(shown, len(names) - len(shown))


def claims(checks: Sequence[ClaimCheck]) -> str:
    """What was checked, in a sentence as :func:`named`, but in words of ours, not names."""
    shown = [msg("`{claim}`", claim=joined([check.claim])) for check in checks[:_MOST_NAMED]]
    return Listed(shown, len(checks) - len(shown))


def value(text: str) -> str:
    """A published value in a sentence, on one line and cut when long."""
    return quoted(text) if text else msg("the empty value")


def printable(text: str) -> str:
    """A text on one line, without outer blanks and without what no screen can show."""
    flat = " ".join(text.split())
    return "".join(character if character.isprintable() else "·" for character in flat)


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
    basis; ``advice`` says what to do when the item does not pass, and ``remedy`` which settings of
    the plan would do it, where some would.
    """

    id: str
    question: str
    status: Status
    evidence: str
    basis: Basis
    advice: str = ""
    remedy: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Passage:
    """How the release comes about: which mode, and the protocol that it applies."""

    mode: Mode = Mode.DEVELOP
    protocol: ProtocolCheck | None = None


DEVELOPING = Passage()
"""A release of its own, made without a protocol."""


@dataclass(frozen=True)
class CheckedFacts:
    """What is known of a release: its own words, what verifying showed, what its table shows.

    ``table`` is None when the published table cannot be read, or when there is none. ``about`` is
    what the method says of itself; nothing, where this program does not know it.
    """

    release: ReleaseFacts
    report: VerifyReport
    table: TableFacts | None
    about: Capabilities = UNKNOWN

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


@dataclass(frozen=True)
class Case:
    """All that an item may look at."""

    facts: CheckedFacts
    policy: Policy
    standing: PolicyRelation
    passage: Passage

    @property
    def has_microdata(self) -> bool:
        """Whether the method publishes microdata, or may do so: it does not say what it does."""
        return self.facts.about.content in (Content.ROWS, None)


@dataclass(frozen=True)
class Answer:
    """What an item comes to; see :class:`Item`. ``more`` follows after the basis."""

    status: Status
    evidence: str
    basis: Basis
    advice: str = ""
    more: str = ""
    remedy: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A question of the checklist; ``ask`` answers it, None when it does not arise."""

    id: str
    text: str
    ask: Callable[[Case], Answer | None]

    def item(self, case: Case) -> Item | None:
        """The item of a case."""
        answer = self.ask(case)
        return None if answer is None else answered(self.id, self.text, answer)


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
        return None if answer is None else answered(self.id, self.text, answer)


def answered(item_id: str, question: str, answer: Answer) -> Item:
    """An item whose evidence ends with its basis; advice only where the item does not pass."""
    text, basis = unstopped(answer.evidence), answer.basis.value
    evidence = joined([msg("{text} ({basis}).", text=text, basis=basis), answer.more])
    shown = printable(evidence)[:_LONGEST_EVIDENCE]
    evidence = evidence if shown == evidence else shown
    advice, remedy = (answer.advice, answer.remedy) if answer.status.severity else ("", {})
    return Item(item_id, question, answer.status, evidence, answer.basis, advice, remedy)


def _without_table(case: Case) -> Answer:
    if not case.has_microdata:
        text = "The release holds no microdata."
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    text = "The published table cannot be read, so nothing of it could be counted."
    return Answer(Status.FAIL, text, Basis.FILES, "See the first item; make the release again.")
