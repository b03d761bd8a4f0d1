"""The checklist: which figure makes which item pass, ask or fail, and in what words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from dpdesk.core.capabilities import (
    UNKNOWN,
    Capabilities,
    Content,
    Protection,
    RowOrder,
    Spending,
)
from dpdesk.core.language import voice_of
from dpdesk.core.release import MADE_AGAIN, CheckStatus, ClaimCheck, Failure, TableFacts
from dpdesk.core.schema import Role, ValueCount
from dpdesk.project.review.checklist import Difference
from dpdesk.project.review.events import Mode
from dpdesk.project.review.policy import BUILT_IN, PolicyRelation
from dpdesk.project.review.protocol import ProtocolCheck, Signature
from dpdesk.project.review.questions import Basis, Item, Passage
from dpdesk.project.review.texts import text_fault
from dpdesk.project.review.votes import LONGEST_ITEM
from dpdesk.project.review.votes import ItemStatus as Status
from tests.helpers import checked_facts as facts
from tests.helpers.checked_facts import AGE, EVEN, SECRET, checklist, column, policy, table

ALWAYS = (
    "verified", "source", "public-fields", "policy", "mode", "smallest-class", "uniques",
    "table-size", "suppression", "suppressed-groups", "homogeneous", "missing", "detail",
    "identifiers", "forbidden-columns", "own-values", "one-column-more", "raw-contents",
    "rows-alone", "telling", "assumptions",
)  # fmt: skip


def item(item_id: str, shown: TableFacts, **limits: object) -> Item:
    held = policy(limits=limits) if limits else policy()
    return checklist(shown, held).item(item_id)


def test_every_checklist_has_the_items_that_are_always_there() -> None:
    found = [each.id for each in checklist(table()).items]
    assert found == list(ALWAYS)


def test_every_evidence_says_on_what_it_rests() -> None:
    held = policy(
        limits={"minimum_k": 10, "maximum_epsilon": 1, "threshold": 3},
        columns={"forbidden": ["name"], "required": ["age"]},
        sign_offs={"owner": "Has the owner agreed?"},
    )
    for each in checklist(table(), held).items:
        assert f"({each.basis.value})." in each.evidence
        assert each.question.endswith("?")
        assert bool(each.advice) is bool(each.status.severity) or each.id.startswith("sign-off")


# ---- the limits that officers look at first ------------------------------------------------------


def test_a_release_with_k_5_fails_a_policy_that_asks_for_10() -> None:
    found = item("smallest-class", table(smallest=5, k=5), minimum_k=10)
    assert found.status is Status.FAIL
    assert found.evidence == (
        "The smallest class has 5 rows; the policy requires 10 or more "
        "(counted now from the published table)."
    )
    assert found.advice == "Run the plan again with k = 10 or more."


@pytest.mark.parametrize(
    ("k", "smallest", "minimum", "status"),
    [
        (5, 5, 5, Status.PASS),
        (5, 12, 10, Status.REVIEW),
        (5, 9, 10, Status.FAIL),
        (10, 10, 10, Status.PASS),
        (5, 4, None, Status.FAIL),
        (5, 4, 2, Status.FAIL),
        (2, 2, None, Status.REVIEW),
        (3, 3, None, Status.PASS),
        (0, 5, None, Status.REVIEW),
    ],
)
def test_the_smallest_class_is_held_against_the_policy_and_the_claim(
    k: int, smallest: int, minimum: int | None, status: Status
) -> None:
    limits = {} if minimum is None else {"minimum_k": minimum}
    assert item("smallest-class", table(k=k, smallest=smallest), **limits).status is status


def test_a_table_without_rows_fails() -> None:
    empty = table(rows=0, classes=0, smallest=0)
    assert item("smallest-class", empty, minimum_k=2).status is Status.FAIL
    assert item("average-risk", empty, maximum_average_risk=1).status is Status.FAIL


def test_suppression_counts_exactly_at_its_limit() -> None:
    exact = item("suppression", table(rows=990), maximum_suppression=0.01)
    assert exact.status is Status.PASS
    assert exact.evidence == (
        "Of the 1,000 rows of the source, 10 are suppressed (1 %); the policy allows 1 %, that is "
        "10 rows (from the manifest, not re-checked)."
    )
    assert item("suppression", table(rows=989), maximum_suppression=0.01).status is Status.FAIL
    assert item("suppression", table(rows=990), maximum_suppression=0).status is Status.FAIL


def test_suppression_says_when_the_source_confirmed_it() -> None:
    found = facts.facts(table(), claims=[facts.confirmed("rows_suppressed")])
    assert checklist(found).item("suppression").basis is Basis.SOURCE


def test_a_high_share_of_suppressed_rows_asks_for_a_person() -> None:
    assert item("suppression", table(rows=190)).status is Status.PASS
    assert item("suppression", table(rows=189)).status is Status.REVIEW


def test_suppression_that_the_manifest_does_not_count_fails() -> None:
    for value in (None, "10", -1, True, 2.5):
        said = facts.manifest(result={"rows_suppressed": value})
        assert checklist(facts.facts(table(), said)).item("suppression").status is Status.FAIL


def groups(rows: int, suppressed: int) -> dict[str, object]:
    group = {"attribute": "age", "value": "90", "rows": rows, "suppressed": suppressed}
    return {"utility": {"suppression_by_group": [group]}}


@pytest.mark.parametrize(
    ("suppressed", "limit", "status"),
    [(9, None, Status.PASS), (10, None, Status.REVIEW), (10, 0.1, Status.PASS),
     (11, 0.1, Status.FAIL)],
)  # fmt: skip
def test_people_whom_suppression_hits_most_are_named(
    suppressed: int, limit: float | None, status: Status
) -> None:
    held = policy(limits={} if limit is None else {"maximum_group_suppression": limit})
    found = facts.facts(table(), evidence=groups(100, suppressed))
    each = checklist(found, held).item("suppressed-groups")
    assert each.status is status
    assert f"{suppressed} of 100 rows" in each.evidence
    assert "with `90` in `age`" in each.evidence
    assert each.basis is Basis.EVIDENCE


def test_nobody_is_hit_where_nothing_is_suppressed() -> None:
    said = facts.manifest(result={"rows_suppressed": 0})
    each = checklist(facts.facts(table(), said, evidence={})).item("suppressed-groups")
    assert each.status is Status.PASS


def test_the_average_risk_is_classes_over_rows() -> None:
    found = item("average-risk", table(rows=1_000, classes=100), maximum_average_risk=0.1)
    assert found.status is Status.PASS
    assert "10 % (100 classes in 1,000 rows)" in found.evidence
    more = table(rows=1_000, classes=101)
    assert item("average-risk", more, maximum_average_risk=0.1).status is Status.FAIL


def test_a_small_table_asks_for_a_person() -> None:
    assert item("table-size", table(rows=99)).status is Status.REVIEW
    assert item("table-size", table(rows=100)).status is Status.PASS
    assert item("table-size", table(rows=99), minimum_rows=99).status is Status.PASS
    assert item("table-size", table(rows=99), minimum_rows=100).status is Status.FAIL


def test_a_row_alone_in_its_class_fails_whatever_the_policy() -> None:
    assert item("uniques", table(uniques=1, smallest=1)).status is Status.FAIL
    found = item("uniques", table())
    assert found.evidence == (
        "None of the 1,000 rows is alone in its class (counted now from the published table). "
        "Before protection 700 of 1,010 rows (69.31 %) were (from the evidence, not re-checked)."
    )


# ---- what a class gives away ---------------------------------------------------------------------


def secret(**changes: object) -> TableFacts:
    return table(AGE, replace(SECRET, spread=replace(EVEN, **changes)))  # type: ignore[arg-type]


def test_a_class_of_one_sensitive_value_asks_for_a_person_and_is_counted() -> None:
    shown = secret(
        homogeneous_classes=3, homogeneous_rows=21, common="often", common_classes=2,
        dominated_classes=1, dominated_rows=50,
    )  # fmt: skip
    found = item("homogeneous", shown)
    assert found.status is Status.REVIEW
    assert found.evidence == (
        "In 3 of 100 classes (3 %), 21 rows, everyone has one value of `secret`, most often "
        "`often`, which 400 of 1,000 rows (40 %) hold in all: anyone who knows the class knows "
        "the value. In 1 class more, 50 of 1,000 rows (5 %), one value of `secret` has nine tenths "
        "or more (counted now from the published table)."
    )
    assert item("homogeneous", shown, maximum_homogeneous=0.021).status is Status.PASS
    assert item("homogeneous", shown, maximum_homogeneous=0.02).status is Status.FAIL


def test_without_sensitive_columns_the_insensitive_ones_are_looked_at() -> None:
    hobby = column("hobby", spread=replace(EVEN, homogeneous_classes=1, homogeneous_rows=5))
    assert item("homogeneous", table(AGE, hobby)).status is Status.REVIEW
    assert item("homogeneous", table(AGE, SECRET, hobby)).status is Status.PASS
    assert item("homogeneous", table(AGE)).status is Status.NOT_APPLICABLE


def test_the_fewest_values_of_a_class_are_held_against_l() -> None:
    assert item("diversity", secret(fewest=2), minimum_l=2).status is Status.PASS
    found = item("diversity", secret(fewest=1), minimum_l=2)
    assert found.status is Status.FAIL
    assert "as few as 1 value of `secret`; the policy requires 2 or more" in found.evidence
    assert item("diversity", table(AGE), minimum_l=2).status is Status.REVIEW


def test_the_largest_distance_is_held_against_t_exactly() -> None:
    assert item("closeness", secret(distance=Fraction(3, 10)), maximum_t=0.3).status is Status.PASS
    over = Fraction(3, 10) + Fraction(1, 10**12)
    assert item("closeness", secret(distance=over), maximum_t=0.3).status is Status.FAIL
    assert item("closeness", table(AGE), maximum_t=0.3).status is Status.REVIEW


def test_missing_quasi_identifiers_ask_for_a_person() -> None:
    age = replace(AGE, missing=7)
    found = item("missing", table(age, SECRET, missing=7))
    assert found.status is Status.REVIEW
    assert "In 7 of 1,000 rows (0.70 %)" in found.evidence
    assert "(`age` 7)" in found.evidence
    assert item("missing", table()).status is Status.PASS


@pytest.mark.parametrize(
    ("distinct", "missing", "level", "status"),
    [(1, 0, 3, Status.REVIEW), (1, 5, 3, Status.PASS), (0, 5, 3, Status.REVIEW),
     (1, 0, 0, Status.PASS), (2, 0, 3, Status.PASS)],
)  # fmt: skip
def test_a_quasi_identifier_at_the_top_says_nothing_any_more(
    distinct: int, missing: int, level: int, status: Status
) -> None:
    age = replace(AGE, distinct=distinct, missing=missing, top=ValueCount("*", 1_000))
    said = facts.manifest(result={"rows_suppressed": 0, "node": {"age": level}})
    each = checklist(facts.facts(table(age, SECRET), said)).item("detail")
    assert each.status is status
    if status is Status.REVIEW:
        assert "`age` is at the top of the hierarchy: every row shows `*`" in each.evidence


# ---- the release as a whole ----------------------------------------------------------------------


def test_a_release_that_is_not_whole_fails_with_the_first_fault() -> None:
    failures = [Failure("public/microdata.csv", "was changed"), Failure("x", "is unexpected")]
    found = checklist(facts.facts(table(), failures=failures)).item("verified")
    assert found.status is Status.FAIL
    assert "public/microdata.csv: was changed (1 more)" in found.evidence


def test_a_public_part_alone_is_not_sealed() -> None:
    assert checklist(facts.facts(table(), sealed=False)).item("verified").status is Status.REVIEW
    assert checklist(table()).item("verified").status is Status.PASS


def test_the_source_is_asked_for_where_the_policy_requires_it() -> None:
    required = policy(require_source_verification=True)
    assert checklist(table()).item("source").status is Status.REVIEW
    assert checklist(table(), required).item("source").status is Status.FAIL
    again = facts.facts(table(), claims=[facts.confirmed(MADE_AGAIN)])
    assert checklist(again, required).item("source").status is Status.PASS
    other = ClaimCheck(MADE_AGAIN, CheckStatus.FAILED, "another")
    assert checklist(facts.facts(table(), claims=[other])).item("source").status is Status.FAIL


@pytest.mark.parametrize(
    ("standing", "status"),
    [
        (PolicyRelation.OWN, Status.PASS),
        (PolicyRelation.OTHER, Status.FAIL),
        (PolicyRelation.BUILT_IN, Status.REVIEW),
        (PolicyRelation.UNKNOWN, Status.REVIEW),
    ],
)
def test_the_policy_of_this_computer_decides(standing: PolicyRelation, status: Status) -> None:
    assert checklist(table(), standing=standing).item("policy").status is status


def test_the_built_in_policy_is_named_in_the_readers_language() -> None:
    found = checklist(table(), BUILT_IN, standing=PolicyRelation.BUILT_IN).item("policy")
    assert found.evidence.startswith("“DPDesk's own default: two reviewers, no limits”, hash ")
    german = voice_of("de").say(found.evidence)
    assert german.startswith("„Vorgabe von DPDesk: zwei begutachtende Personen, keine Grenz")


def test_only_allowed_methods_pass() -> None:
    assert checklist(table(), policy(methods=["k-anonymity"])).item("method").status is Status.PASS
    found = checklist(table(), policy(methods=["anatomy", "dp-cube"])).item("method")
    assert found.status is Status.FAIL
    assert "`k-anonymity`; the policy allows `anatomy` and `dp-cube`" in found.evidence


LOCKED = ProtocolCheck("ab" * 32, (), "Ada Example", Signature.TRUSTED)


@pytest.mark.parametrize(
    ("passage", "status"),
    [
        (Passage(Mode.DEVELOP), Status.PASS),
        (Passage(Mode.APPLY, LOCKED), Status.PASS),
        (Passage(Mode.APPLY), Status.FAIL),
        (Passage(Mode.APPLY, replace(LOCKED, differences=("`k` is 3, not 5",))), Status.FAIL),
        (Passage(Mode.APPLY, replace(LOCKED, signature=Signature.BAD)), Status.FAIL),
        (Passage(Mode.APPLY, replace(LOCKED, signature=Signature.UNKNOWN)), Status.REVIEW),
        (Passage(Mode.APPLY, replace(LOCKED, signature=Signature.REVOKED)), Status.FAIL),
        (Passage(Mode.APPLY, replace(LOCKED, own=True)), Status.REVIEW),
    ],
)
def test_a_locked_protocol_must_be_applied_as_it_is(passage: Passage, status: Status) -> None:
    assert checklist(table(), passage=passage).item("mode").status is status


def test_a_mode_that_the_policy_does_not_allow_fails() -> None:
    held = policy(modes={"allowed": ["apply"]})
    assert checklist(table(), held, Passage(Mode.DEVELOP)).item("mode").status is Status.FAIL


def test_a_proven_optimum_is_asked_for_where_the_policy_requires_it() -> None:
    held = policy(require_proven_optimal=True)
    assert checklist(table(), held).item("optimum").status is Status.PASS
    said = facts.manifest(result={"proven_optimal": False})
    assert checklist(facts.facts(table(), said), held).item("optimum").status is Status.FAIL


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"method": "dp-cube", "parameters": {"epsilon": 1.0}}, Status.PASS),
        ({"method": "dp-cube", "parameters": {"epsilon": 1.1}}, Status.FAIL),
        ({"method": "dp-cube", "parameters": {}}, Status.FAIL),
        ({}, Status.NOT_APPLICABLE),
    ],
)
def test_epsilon_is_held_against_its_limit(said: Mapping[str, object], status: Status) -> None:
    found = facts.facts(None, facts.manifest(**said))
    held = policy(limits={"maximum_epsilon": 1})
    assert checklist(found, held).item("epsilon").status is status


@pytest.mark.parametrize(
    ("rules", "threshold", "dominance"),
    [
        ([{"rule": "threshold", "n": 3}], Status.PASS, Status.FAIL),
        ([{"rule": "threshold", "n": 2}], Status.FAIL, Status.FAIL),
        ([{"rule": "dominance", "n": 2, "k": 80}], Status.FAIL, Status.PASS),
        ([{"rule": "dominance", "n": 3, "k": 0.8}], Status.FAIL, Status.PASS),
        ([{"rule": "dominance", "n": 1, "k": 70}], Status.FAIL, Status.FAIL),
        ([{"rule": "dominance", "n": 2, "k": 81}], Status.FAIL, Status.FAIL),
        (["odd", {"rule": "threshold"}], Status.FAIL, Status.FAIL),
        (None, Status.FAIL, Status.FAIL),
    ],
)
def test_rules_of_tables_are_at_least_as_strict_as_the_policy(
    rules: object, threshold: Status, dominance: Status
) -> None:
    evidence = {"plan": {"protection": {"method": "table", "rule": rules}}}
    found = facts.facts(None, facts.manifest(method="table"), evidence)
    held = policy(limits={"threshold": 3, "dominance": {"n": 2, "k": 80}})
    shown = checklist(found, held)
    assert shown.item("threshold").status is threshold
    assert shown.item("dominance").status is dominance
    assert checklist(table(), held).item("threshold").status is Status.NOT_APPLICABLE


def test_without_a_readable_table_every_question_to_it_fails() -> None:
    found = checklist(facts.facts(None), policy(limits={"minimum_k": 3, "maximum_t": 0.5}))
    asked = {each.id for each in found.items if each.status is Status.FAIL}
    assert {"smallest-class", "closeness", "homogeneous", "own-values"} <= asked
    cells = checklist(facts.facts(None, facts.manifest(method="table")))
    assert cells.item("homogeneous").status is Status.NOT_APPLICABLE


def test_sign_offs_are_questions_that_only_a_person_answers() -> None:
    found = checklist(table(), policy(sign_offs={"owner": "Has the owner agreed?"}))
    each = found.item("sign-off-owner")
    assert (each.question, each.status) == ("Has the owner agreed?", Status.REVIEW)
    assert each.basis is Basis.PERSON


def test_what_a_submission_holds_is_compared_item_by_item() -> None:
    before = checklist(table(), policy(limits={"minimum_l": 2}))
    after = checklist(table(smallest=4))
    statuses = {key: each.status for key, each in before.submitted().items()}
    assert before.differences(statuses) == ()
    assert after.differences(statuses) == (
        Difference("smallest-class", Status.PASS, Status.FAIL),
        Difference("diversity", Status.PASS, None),
    )
    assert Difference("verified", None, Status.PASS) in after.differences({})
    with pytest.raises(KeyError):
        after.item("diversity")


def test_a_submission_can_hold_every_item() -> None:
    odd = "\u202e\x07 \n\u2028 \ud800"
    shown = table(AGE, column(f"name {odd}", looks=Role.IDENTIFIER))
    said = facts.manifest(guarantee={"assumes": [odd.replace("\ud800", "") * 5_000]})
    given = facts.facts(shown, said, failures=[Failure(odd, odd)])
    release = replace(given.release, manifest=replace(given.release.manifest, method=odd))
    found = checklist(replace(given, release=release), policy(methods=["k-anonymity"]))
    for key, each in found.submitted().items():
        assert len(key) <= LONGEST_ITEM
        assert text_fault(each.question, lines=False) == ""
        assert text_fault(each.evidence, lines=False) == ""


# ---- columns that give hidden values away --------------------------------------------------------


def telling(raw: object, **said: object) -> Item:
    risk = {} if raw is None else {"telling": raw}
    found = facts.facts(table(), facts.manifest(**said), {**facts.EVIDENCE, "risk": risk})
    return checklist(found).item("telling")


def told(certain: int, guessed: int, names: list[str] | None = None) -> dict[str, object]:
    return {"columns": names or ["industry"], "certain": certain, "guessed": guessed}


def measured(*single: object, together: object = None, unaided: int = 6_000) -> dict[str, object]:
    return {
        "column": "occupation",
        "rows": 50_000,
        "guessed_unaided": unaided,
        "by_one_column": list(single),
        "together": together,
    }


def test_a_column_that_gives_a_hidden_value_away_asks_for_a_person() -> None:
    found = telling([measured(told(13_010, 20_000), told(5, 6_001, ["town"]))])
    assert found.status is Status.REVIEW
    assert found.evidence == (
        "For 13,010 of 50,000 rows (26.02 %), `industry` alone reveals `occupation` "
        "(from the evidence, not re-checked)."
    )


def test_columns_that_guess_better_than_promised_ask_for_a_person() -> None:
    three = told(40, 34_500, ["industry", "sex", "town"])
    drawn = {"guarantee": {"parameters": {"l": 3}, "assumes": ["One row."]}}
    found = telling([measured(told(0, 17_000), together=three)], **drawn)
    assert found.status is Status.REVIEW
    assert "From `industry`, `sex` and `town`, `occupation` is guessed right" in found.evidence
    assert "34,500 of 50,000 rows (69 %)" in found.evidence
    even = told(0, 20_000, ["industry", "sex", "town"])
    assert telling([measured(together=even)], **drawn).status is Status.REVIEW
    assert telling([measured(together=even)]).status is Status.PASS
    assert telling([measured(together=even, unaided=20_000)], **drawn).status is Status.PASS


def test_a_few_exceptions_do_not_make_it_pass() -> None:
    found = telling([measured({**told(40, 15_000), "nearly": 13_010})])
    assert found.status is Status.REVIEW
    assert "For 13,010 of 50,000 rows (26.02 %), `industry` alone reveals" in found.evidence
    assert telling([measured({**told(40, 15_000), "nearly": 39})]).status is Status.FAIL
    few = told(0, 15_000)
    assert telling([measured({**few, "nearly": 0})]).status is Status.PASS
    assert telling([measured(few)]).status is Status.REVIEW  # an earlier version did not measure it


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (None, Status.REVIEW),
        ([], Status.PASS),
        ([measured()], Status.PASS),
        ("none", Status.FAIL),
        ([{"column": "occupation"}], Status.FAIL),
        ([measured({"columns": ["a"], "certain": -1, "guessed": 3})], Status.FAIL),
        ([measured({"columns": ["a"], "certain": 9, "guessed": 3})], Status.FAIL),
        ([measured({"columns": "a", "certain": 0, "guessed": 3})], Status.FAIL),
        ([measured(together=7)], Status.FAIL),
    ],
)
def test_what_was_not_measured_or_cannot_be_read_is_never_passed(
    raw: object, status: Status
) -> None:
    assert telling(raw).status is status


def test_what_a_method_does_not_say_fails_until_a_person_decides() -> None:
    """One that says nothing, and ones that leave out a single thing."""
    said = facts.manifest(method="brand-new", guarantee={"parameters": {"epsilon": 50}})
    silent = checklist(facts.facts(table(), said, about=UNKNOWN), policy(limits=EPSILON))
    assert silent.item("known-method").status is Status.FAIL
    assert silent.item("epsilon").status is Status.FAIL
    assert "does not say what it spends" in silent.item("epsilon").evidence
    whole = Capabilities(
        Content.ROWS,
        Protection.CLASSES,
        Spending.NOTHING,
        RowOrder.SORTED,
        exports=frozenset(),
        uses=frozenset(),
    )
    for left_out in ("content", "protection", "spending", "order", "exports", "uses"):
        found = checklist(facts.facts(table(), said, about=replace(whole, **{left_out: None})))
        assert found.item("known-method").status is Status.FAIL
    found = checklist(facts.facts(table(), said, about=whole), policy(limits=EPSILON))
    assert "states ε = 50" in found.item("known-method").evidence
    assert found.item("known-method").status is Status.FAIL
    assert found.item("epsilon").status is Status.FAIL
    plain = facts.manifest(method="brand-new")
    with pytest.raises(KeyError):
        checklist(facts.facts(table(), plain, about=whole)).item("known-method")


@pytest.mark.parametrize("content", [Content.TABLES, Content.GRAPH])
@pytest.mark.parametrize("spending", [Spending.PERSONS, Spending.EDGES, None])
def test_the_limit_of_epsilon_binds_a_method_by_what_it_says_not_by_its_name(
    content: Content, spending: Spending | None
) -> None:
    about = Capabilities(content, Protection.NOISE, spending)
    said = facts.manifest(
        method="brand-new", guarantee={"parameters": {"epsilon": 50}}, parameters={"epsilon": 50}
    )
    found = checklist(facts.facts(None, said, about=about), policy(limits=EPSILON))
    assert found.item("epsilon").status is Status.FAIL


def test_nobody_is_said_to_be_safe_where_no_quasi_identifier_is_named() -> None:
    found = checklist(table(column("secret", Role.SENSITIVE)))
    assert found.item("uniques").status is Status.FAIL


EPSILON = {"maximum_epsilon": 1}


@pytest.mark.parametrize(
    ("alone", "status"),
    [(None, Status.REVIEW), (0, Status.PASS), (1, Status.REVIEW), (700, Status.REVIEW),
     (1_001, Status.FAIL), (-1, Status.REVIEW), ("3", Status.REVIEW)],
)  # fmt: skip
def test_rows_that_are_alone_by_all_released_columns_call_for_a_look(
    alone: object, status: Status
) -> None:
    said = facts.manifest(result={"rows_out": 1_000, "rows_suppressed": 10})
    evidence = {**facts.EVIDENCE, "risk": {} if alone is None else {"rows_alone": alone}}
    found = checklist(facts.facts(table(), said, evidence)).item("rows-alone")
    assert found.status is status
    if alone == 700:
        assert "700 of 1,000 rows (70 %) can be distinguished from all others" in found.evidence


@pytest.mark.parametrize(("names", "status"), [([], Status.PASS), (["zip"], Status.REVIEW)])
def test_levels_that_follow_from_suppressed_rows_call_for_a_look(
    names: list[str], status: Status
) -> None:
    evidence = {**facts.EVIDENCE, "risk": {"levels_tell": names}}
    found = checklist(facts.facts(table(), None, evidence)).item("public-fields")
    assert found.status is status
    assert ("`zip`" in found.evidence) == bool(names)


TRIED = {
    "columns": 4, "pairs": 6, "rows_for_pairs": 50_000, "triples": 4, "rows_for_triples": 50_000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Sets of four or more columns were not examined."),
        ({"columns": 3, "pairs": 3, "triples": 1}, ""),
        ({"rows_for_triples": 9_000}, "and 4 sets of three in 9,000 rows; the best were counted"),
        ({"triples": 2}, "and 2 sets of three in 50,000 rows"),
        ({"columns": 17, "pairs": 136, "triples": 9}, "Of 17 columns, 136 pairs were tried in"),
    ],
)
def test_what_was_not_tried_is_said(changes: Mapping[str, object], said: str) -> None:
    raw = measured(told(13_010, 20_000)) | {"examined": {**TRIED, **changes}}
    found = telling([raw])
    assert said in found.evidence
    assert ("tried" in found.evidence) == (" sets of three " in said or "pairs were tried" in said)
    assert ("four or more" in found.evidence) == (changes.get("columns", 4) != 3)
