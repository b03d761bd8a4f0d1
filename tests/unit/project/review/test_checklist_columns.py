"""The checklist's questions to the published columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpdesk.core.release import ColumnFacts, Content, TableFacts
from dpdesk.core.schema import ColumnType, Role, ValueCount
from dpdesk.project.review.checklist import Checklist
from dpdesk.project.review.questions import Item
from dpdesk.project.review.votes import ItemStatus as Status
from tests.helpers import checked_facts as facts
from tests.helpers.checked_facts import AGE, EVEN, SECRET, checklist, column, policy, table


def item(item_id: str, shown: TableFacts, **limits: object) -> Item:
    held = policy(limits=limits) if limits else policy()
    return checklist(shown, held).item(item_id)


def test_an_identifier_in_the_table_fails() -> None:
    found = item("identifiers", table(AGE, column("name")))
    assert found.status is Status.FAIL
    assert "The table has `name`, which the plan calls an identifier" in found.evidence


def test_a_column_that_looks_like_an_identifier_asks_for_a_person() -> None:
    found = item("identifiers", table(AGE, column("record", looks=Role.IDENTIFIER)))
    assert found.status is Status.REVIEW
    assert "`record` looks like an identifier: record looks so" in found.evidence


def test_without_the_internal_part_nobody_knows_the_identifiers() -> None:
    found = checklist(facts.facts(table(), evidence={})).item("identifiers")
    assert found.status is Status.REVIEW
    assert checklist(table()).item("identifiers").status is Status.PASS


def test_forbidden_and_required_columns_are_patterns_of_names() -> None:
    held = policy(columns={"forbidden": ["*_ID", "weight?"], "required": ["AGE", "post*"]})
    shown = table(AGE, column("person_id"), column("weight"))
    found = checklist(shown, held)
    forbidden, required = found.item("forbidden-columns"), found.item("required-columns")
    assert forbidden.status is Status.FAIL
    assert "`person_id`, which the policy forbids (`*_ID`)" in forbidden.evidence
    assert required.status is Status.FAIL
    assert "no column `post*`, which" in required.evidence
    good = checklist(table(AGE, column("postcode")), held)
    assert good.item("forbidden-columns").status is Status.PASS
    assert good.item("required-columns").status is Status.PASS


def test_the_number_of_columns_is_held_against_its_limit() -> None:
    assert item("number-of-columns", table(), maximum_columns=2).status is Status.PASS
    assert item("number-of-columns", table(), maximum_columns=1).status is Status.FAIL


@pytest.mark.parametrize(
    ("role", "distinct", "unique", "status"),
    [
        (Role.INSENSITIVE, 900, 0, Status.FAIL),
        (Role.SENSITIVE, 900, 0, Status.REVIEW),
        (Role.INSENSITIVE, 899, 50, Status.REVIEW),
        (Role.INSENSITIVE, 899, 49, Status.PASS),
        (Role.SENSITIVE, 10, 49, Status.PASS),
    ],
)
def test_a_nearly_unique_column_fails_unless_it_is_sensitive(
    role: Role, distinct: int, unique: int, status: Status
) -> None:
    shown = table(AGE, column("code", role, distinct=distinct, unique=unique))
    assert item("own-values", shown).status is status


def test_rows_with_a_value_of_their_own_are_held_against_their_limit() -> None:
    shown = table(AGE, column("code", unique=50), column("other", unique=3))
    assert item("own-values", shown, maximum_unique_rows=0.05).status is Status.PASS
    found = item("own-values", shown, maximum_unique_rows=0.04)
    assert found.status is Status.FAIL
    assert "In `code` 50 of 1,000 rows (5 %) have a value that no one else has" in found.evidence
    assert item("own-values", table(AGE)).status is Status.NOT_APPLICABLE


def test_one_more_known_column_is_counted_for_all_that_are_not_sensitive() -> None:
    known = replace(EVEN, exposed=100, alone=20)
    shown = table(AGE, SECRET, column("region", Role.WEIGHT, spread=known), column("shoe"))
    found = item("one-column-more", shown)
    assert found.status is Status.REVIEW
    assert found.evidence == (
        "Anyone who also knows `region` faces groups below 5: that is so for 100 of 1,000 rows "
        "(10 %), of whom 20 would be alone (counted now from the published table)."
    )
    assert item("one-column-more", shown, maximum_exposed=0.1).status is Status.PASS
    assert item("one-column-more", shown, maximum_exposed=0.09).status is Status.FAIL
    assert item("one-column-more", table(AGE, column("shoe"))).status is Status.PASS
    exposed_secret = replace(SECRET, spread=known)
    assert item("one-column-more", table(AGE, exposed_secret)).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("column_facts", "status", "words"),
    [
        (column("born", kind=ColumnType.DATE), Status.REVIEW, "`born` holds exact dates"),
        (column("says", content=Content.FREE_TEXT), Status.REVIEW, "looks like free text"),
        (column("mail", content=Content.ADDRESSES), Status.FAIL, "holds e-mail addresses"),
        (column("born", Role.QUASI_IDENTIFIER, kind=ColumnType.DATE), Status.PASS, "No unchanged"),
        (column("plain"), Status.PASS, "No unchanged"),
    ],
)
def test_raw_dates_texts_and_addresses_are_found(
    column_facts: ColumnFacts, status: Status, words: str
) -> None:
    found = item("raw-contents", table(AGE, SECRET, column_facts))
    assert found.status is status
    assert words in found.evidence


def test_an_extreme_value_of_few_rows_asks_for_a_person() -> None:
    pay = column("pay", Role.SENSITIVE, kind=ColumnType.INTEGER, extreme=ValueCount("99", 1))
    found = item("extremes", table(AGE, pay))
    assert found.status is Status.REVIEW
    assert "The largest value of `pay`, `99`," in found.evidence
    many = replace(pay, extreme=ValueCount("99", 5))
    assert item("extremes", table(AGE, many)).status is Status.PASS
    ids = [each.id for each in checklist(table(AGE, SECRET)).items]
    assert "extremes" not in ids


def test_weights_and_groups_always_ask_for_a_person() -> None:
    shown = table(AGE, column("w", Role.WEIGHT), column("hid", Role.CLUSTER, distinct=300))
    found = checklist(shown)
    assert found.item("weights").status is Status.REVIEW
    assert found.item("groups").status is Status.REVIEW
    assert "`hid` divides the 1,000 rows into 300 groups" in found.item("groups").evidence


def test_households_and_populations_are_questions_of_their_own() -> None:
    counts = {"households": 60, "kept": 50, "fewest_in_a_class": 7, "unique_makeup": 4}
    evidence = {
        **facts.EVIDENCE,
        "risk": {"households": {**counts, "makeup_below_k": 9}},
        "result": {"population": {"name": "all.csv", "rows": 1_200}},
    }

    def asked(shown: TableFacts, **parameters: object) -> Checklist:
        said = facts.manifest(guarantee={"parameters": parameters})
        return checklist(facts.facts(shown, said, evidence))

    whole = asked(table(AGE, SECRET), households="whole").item("groups")
    assert whole.status is Status.PASS
    assert "50 of 60, at least 7 in each class; 4 of them have a composition" in whole.evidence
    kept = asked(table(AGE, column("hid", Role.CLUSTER)), households="whole").item("groups")
    assert kept.status is Status.REVIEW
    assert "divides the 1,000 rows" in kept.evidence
    assert "50 of 60" in kept.evidence
    joined = asked(table(AGE, SECRET), households="whole", pseudonyms_of_groups=["hid"])
    assert joined.item("groups").status is Status.REVIEW
    mapped = asked(table(AGE, SECRET), k_map=6).item("population")
    assert mapped.status is Status.REVIEW
    assert "1,200 rows of the population file `all.csv`" in mapped.evidence
    ids = [each.id for each in checklist(table(AGE, SECRET)).items]
    assert not {"groups", "population"} & set(ids)
