"""Releases as facts, without any file: for checklists over whatever a release may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from hypothesis import strategies as st

from dpdesk.core import capabilities
from dpdesk.core.capabilities import UNKNOWN, Capabilities, Protection, Spending
from dpdesk.core.public_fields import LISTED
from dpdesk.core.release import (
    CheckStatus,
    ClaimCheck,
    ColumnFacts,
    Content,
    Evidence,
    Failure,
    ReleaseFacts,
    SpreadFacts,
    TableFacts,
    VerifyReport,
)
from dpdesk.core.schema import ColumnType, Role, RoleSuggestion, ValueCount
from dpdesk.engine.methods.registered import default_registry
from dpdesk.project.review.checklist import Checklist, make_checklist
from dpdesk.project.review.policy import Policy, PolicyRelation
from dpdesk.project.review.questions import CheckedFacts, Passage
from tests.helpers.stated import stated

ABOUT = {method.id: method.capabilities for method in default_registry()} | {
    "table": Capabilities(capabilities.Content.TABLES, Protection.CLASSES, Spending.NOTHING),
}
"""What methods say of themselves, with those that plans know and no version offers yet."""
EVEN = SpreadFacts(3, 0, 0, 0, 0, Fraction(1, 4), 0, 0)


def column(
    name: str,
    role: Role = Role.INSENSITIVE,
    *,
    kind: ColumnType = ColumnType.TEXT,
    content: Content = Content.PLAIN,
    distinct: int = 4,
    unique: int = 0,
    missing: int = 0,
    top: tuple[str, int] = ("often", 400),
    looks: Role = Role.INSENSITIVE,
    extreme: ValueCount | None = None,
    spread: SpreadFacts | None = EVEN,
) -> ColumnFacts:
    """A harmless column, but for what is said of it."""
    return ColumnFacts(
        name,
        role,
        kind,
        content,
        distinct,
        unique,
        missing,
        ValueCount(*top),
        RoleSuggestion(looks, f"{name} looks so."),
        extreme,
        None if role is Role.QUASI_IDENTIFIER else spread,
    )


AGE = column("age", Role.QUASI_IDENTIFIER)
SECRET = column("secret", Role.SENSITIVE)


def table(
    *columns: ColumnFacts,
    rows: int = 1_000,
    k: int = 5,
    classes: int = 100,
    smallest: int = 5,
    uniques: int = 0,
    missing: int = 0,
) -> TableFacts:
    """A table of ``columns`` (age and secret when none are given)."""
    return TableFacts(rows, k, classes, smallest, uniques, 0, missing, columns or (AGE, SECRET))


def manifest(**changes: object) -> dict[str, object]:
    """What a manifest says, but for files and hashes."""
    plain: dict[str, object] = {
        "method": "k-anonymity",
        "parameters": {"k": 5},
        "guarantee": {"assumes": ["Each person has one row."]},
        "result": {"rows_suppressed": 10, "proven_optimal": True, "node": {"age": 1}},
    }
    return plain | changes


EVIDENCE: Mapping[str, object] = {
    "roles": {"name": "identifier", "age": "quasi-identifier", "secret": "sensitive"},
    "risk": {"before": {"sample_uniques": 700, "rows": 1_010}},
    "utility": {
        "suppression_by_group": [
            {"attribute": "age", "value": "90", "rows": 50, "suppressed": 3},
            {"attribute": "age", "value": "91", "rows": 40, "suppressed": 2},
        ]
    },
}


def facts(
    shown: TableFacts | None,
    said: Mapping[str, object] | None = None,
    evidence: Mapping[str, object] = EVIDENCE,
    claims: Sequence[ClaimCheck] = (),
    failures: Sequence[Failure] = (),
    sealed: bool = True,
    about: Capabilities | None = None,
) -> CheckedFacts:
    """Checked facts of a release that is whole, with listed fields, unless told otherwise."""
    release = ReleaseFacts(
        Path("public"),
        Path("internal"),
        stated(manifest() if said is None else said),
        Evidence.from_json(evidence),
    )
    if not any(claim.claim == LISTED for claim in claims):
        claims = (*claims, confirmed(LISTED))
    report = VerifyReport(not failures, tuple(claims), tuple(failures), (), sealed)
    method = release.method
    return CheckedFacts(release, report, shown, about or ABOUT.get(method, UNKNOWN))


def confirmed(claim: str) -> ClaimCheck:
    """A claim that the verifier confirmed."""
    return ClaimCheck(claim, CheckStatus.CONFIRMED, "so it is")


def policy(**raw: object) -> Policy:
    """A policy from its plain keys."""
    return Policy.from_plain({"version": 1, **raw}, "policy.toml")


def checklist(
    found: CheckedFacts | TableFacts,
    held: Policy | None = None,
    passage: Passage | None = None,
    standing: PolicyRelation = PolicyRelation.OWN,
) -> Checklist:
    """The checklist of facts, or of a table in an otherwise faultless release."""
    given = facts(found) if isinstance(found, TableFacts) else found
    return make_checklist(given, held or policy(), standing, passage or Passage())


counts = st.integers(0, 1_000)
shares = st.fractions(0, 1, max_denominator=1_000)


@st.composite
def spreads(draw: st.DrawFn) -> SpreadFacts:
    """Any spread over the classes of 1,000 rows."""
    numbers = [draw(counts) for _ in range(6)]
    return SpreadFacts(draw(st.integers(1, 9)), *numbers[:4], draw(shares), *numbers[4:])


@st.composite
def columns(draw: st.DrawFn) -> ColumnFacts:
    """Any column."""
    return column(
        draw(st.sampled_from(["age", "Name", "weight", "*"])),
        draw(st.sampled_from(Role)),
        kind=draw(st.sampled_from(ColumnType)),
        content=draw(st.sampled_from(Content)),
        distinct=draw(counts),
        unique=draw(counts),
        missing=draw(counts),
        top=(draw(st.text(max_size=3)), draw(counts)),
        looks=draw(st.sampled_from(Role)),
        extreme=draw(st.none() | st.builds(ValueCount, st.just("9"), counts)),
        spread=draw(spreads()),
    )


@st.composite
def tables(draw: st.DrawFn) -> TableFacts:
    """Any table, also such as no release can have."""
    return TableFacts(
        draw(counts),
        draw(st.integers(0, 30)),
        draw(counts),
        draw(st.integers(0, 30)),
        draw(st.sampled_from([0, 0, 3])),
        draw(counts),
        draw(counts),
        tuple(draw(st.lists(columns(), max_size=5))),
    )
