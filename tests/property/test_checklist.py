"""What holds for the checklist of every release and every policy."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from dpdesk.core.release import TableFacts
from dpdesk.core.shapes import ShapeError
from dpdesk.project.review.policy import LIMITS
from tests.helpers import checked_facts as facts
from tests.helpers.checked_facts import checklist, policy
from tests.helpers.searching import examples

ITEM_OF = {
    "minimum_k": "smallest-class",
    "minimum_rows": "table-size",
    "maximum_suppression": "suppression",
    "maximum_group_suppression": "suppressed-groups",
    "maximum_average_risk": "average-risk",
    "maximum_homogeneous": "homogeneous",
    "minimum_l": "diversity",
    "maximum_t": "closeness",
    "maximum_unique_rows": "own-values",
    "maximum_exposed": "one-column-more",
    "maximum_columns": "number-of-columns",
    "maximum_epsilon": "epsilon",
    "maximum_outside": "left-out",
    "threshold": "threshold",
    "dominance": "dominance",
}


def test_every_limit_has_an_item_of_its_own() -> None:
    assert set(ITEM_OF) == {limit.key for limit in LIMITS}


def tighter(key: str) -> st.SearchStrategy[tuple[object, object]]:
    """A looser and a tighter value of a limit."""
    if key == "dominance":
        pairs = st.tuples(st.integers(1, 5), st.integers(2, 100))
        return st.tuples(pairs, pairs).map(
            lambda two: (
                {"n": min(two[0][0], two[1][0]), "k": max(two[0][1], two[1][1])},
                {"n": max(two[0][0], two[1][0]), "k": min(two[0][1], two[1][1])},
            )
        )
    whole = key in ("minimum_k", "minimum_l", "minimum_rows", "maximum_columns", "threshold")
    values: st.SearchStrategy[object] = st.integers(2, 40) if whole else facts.shares
    if key == "maximum_epsilon":
        values = st.fractions("1/100", 9, max_denominator=100)
    two = st.tuples(values, values).map(sorted)
    rising = key.startswith("minimum") or key == "threshold"
    return two.map(lambda pair: (pair[0], pair[1]) if rising else (pair[1], pair[0]))


@settings(deadline=None, max_examples=examples(30))
@pytest.mark.parametrize("key", ITEM_OF)
@given(st.data())
def test_a_tighter_limit_never_makes_an_item_stand_better(key: str, data: st.DataObject) -> None:
    looser, tight = data.draw(tighter(key))
    shown = data.draw(facts.tables())
    said, evidence = facts.manifest(), dict(facts.EVIDENCE)
    if key in ("threshold", "dominance"):
        rule = {"rule": key, "n": data.draw(st.integers(1, 9)), "k": data.draw(st.integers(2, 99))}
        said["method"] = "table"
        evidence["plan"] = {"protection": {"rule": [rule]}}
    if key in ("maximum_epsilon", "maximum_outside"):
        said |= {"method": "priview", "parameters": {"epsilon": data.draw(st.floats(0.01, 9))}}
    given_facts = facts.facts(shown, said, evidence)
    item_id = ITEM_OF[key]
    before = checklist(given_facts, policy(limits={key: looser})).item(item_id)
    after = checklist(given_facts, policy(limits={key: tight})).item(item_id)
    assert after.status.severity >= before.status.severity


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("method", "parameters", "guarantee", "result", "roles", "risk", "utility", "plan")
ALL_LIMITS = {
    "minimum_k": 5, "minimum_l": 2, "maximum_t": 0.5, "maximum_suppression": 0.1,
    "maximum_group_suppression": 0.1, "maximum_epsilon": 1, "threshold": 3,
    "dominance": {"n": 1, "k": 80}, "maximum_average_risk": 0.1, "maximum_columns": 3,
}  # fmt: skip


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), plain), st.none() | facts.tables())
def test_no_manifest_or_evidence_can_break_a_checklist(
    odd: dict[str, object], shown: TableFacts | None
) -> None:
    try:
        found = facts.facts(shown, facts.manifest() | odd, {**facts.EVIDENCE, **odd})
    except ShapeError:
        event("refused when it is read")
        return
    for held in (policy(), policy(limits=ALL_LIMITS, require_proven_optimal=True)):
        items = checklist(found, held).items
        assert len({each.id for each in items}) == len(items)
        assert all(each.evidence.isprintable() for each in items)
