"""Verification confirms honest releases and refutes every forged claim."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee
from dpdesk.verifiers.anonymity.source_verification import (
    verify_against_source as check_against_source,
)
from dpdesk.verifiers.anonymity.verification import _optimal_check
from dpdesk.verifiers.anonymity.verification import verify_public as check_public
from tests.helpers.memory_tables import MemoryPublished, MemorySource
from tests.helpers.small_tables import SmallTable, tables_with_levels
from tests.reference import risk as reference

Manifest = dict[str, Any]


def verify_public(
    manifest: Manifest, published: MemoryPublished, token: CancelToken
) -> tuple[ClaimCheck, ...]:
    """With the words of the program."""
    return check_public(manifest, published, k_guarantee, token)


def verify_against_source(*given: Any) -> tuple[ClaimCheck, ...]:
    """With the words of the program."""
    return check_against_source(*given[:-1], k_guarantee, given[-1])


def honest(table: SmallTable, levels: tuple[int, ...], k: int) -> tuple[Manifest, MemoryPublished]:
    """A release made row by row from the definitions, with its manifest."""
    recoded = reference.generalised(table.rows, table.paths, levels)
    kept = reference.kept(recoded, k)
    sizes = reference.classes(kept)
    gone, n, q = len(recoded) - len(kept), len(recoded), len(levels)
    heights = [table.hierarchies[name].height for name in table.columns]
    steps = sum(
        (len(kept) * (level / height if height else 0) + gone) / n
        for level, height in zip(levels, heights, strict=True)
    )
    roles = dict.fromkeys(table.columns, Role.QUASI_IDENTIFIER)
    guarantee = k_guarantee(k, min(sizes.values()), gone, roles)
    manifest = {
        "method": "k-anonymity",
        "parameters": {"k": k, "max_suppression": 1},
        "guarantee": guarantee.as_json(),
        "result": {
            "node": dict(zip(table.columns, levels, strict=True)),
            "rows_out": len(kept),
            "rows_suppressed": gone,
            "classes": len(sizes),
            "smallest_class": min(sizes.values()),
            "metrics": {
                "discernibility": sum(size**2 for size in sizes.values()) + gone * n,
                "average_class_size": len(kept) / len(sizes) / k,
                "loss": sum(
                    reference.attribute_loss(table.rows, table.paths, levels, k, column)
                    for column in range(q)
                )
                / q,
                "precision": 1 - steps / q,
                "entropy": reference.entropy(table.rows, table.paths, levels, k),
            },
            "proven_optimal": True,
        },
    }
    return manifest, MemoryPublished(table.columns, tuple(sorted(kept)))


def by_claim(checks: tuple[ClaimCheck, ...]) -> dict[str, ClaimCheck]:
    return {check.claim: check for check in checks}


def failed(checks: tuple[ClaimCheck, ...]) -> set[str]:
    return {check.claim for check in checks if check.status is CheckStatus.FAILED}


def with_source(
    manifest: Manifest, published: MemoryPublished, table: SmallTable
) -> tuple[ClaimCheck, ...]:
    roles = dict.fromkeys(table.columns, Role.QUASI_IDENTIFIER)
    return verify_against_source(
        manifest, published, table.source, roles, table.hierarchies, CancelToken()
    )


@given(tables_with_levels(), st.integers(2, 4))
@settings(deadline=None)
def test_an_honest_release_is_confirmed_with_and_without_its_source(
    case: tuple[SmallTable, tuple[int, ...]], k: int
) -> None:
    table, levels = case
    assume(reference.kept(reference.generalised(table.rows, table.paths, levels), k))
    manifest, published = honest(table, levels, k)
    public = verify_public(manifest, published, CancelToken())
    assert not failed(public)
    settled = with_source(manifest, published, table)
    assert not failed(settled)
    assert [check.claim for check in public] == [check.claim for check in settled[: len(public)]]
    open_claims = {c.claim for c in settled if c.status is CheckStatus.NEEDS_SOURCE}
    assert open_claims <= {"proven_optimal"}


AGE = Hierarchy.from_rows("age", [(str(age), f"{age // 10}0s", "*") for age in range(20, 60)])
SEX = Hierarchy.from_rows("sex", [("f", "*"), ("m", "*")])
PEOPLE = SmallTable(
    ("age", "sex"),
    (
        *((str(20 + (row * 7) % 23), "fm"[row % 2]) for row in range(200)),
        ("45", "f"),
        ("51", "m"),
        ("52", "m"),
    ),
    {"age": AGE, "sex": SEX},
)


@pytest.fixture
def release() -> tuple[Manifest, MemoryPublished]:
    return honest(PEOPLE, (1, 0), 5)


def test_public_files_alone_confirm_k_and_leave_the_source_questions_open(
    release: tuple[Manifest, MemoryPublished],
) -> None:
    checks = by_claim(verify_public(*release, CancelToken()))
    confirmed = {c for c, check in checks.items() if check.status is CheckStatus.CONFIRMED}
    assert {"k = 5 over age, sex", "rows_out", "classes", "smallest_class"} <= confirmed
    assert "metrics, average_class_size" in confirmed
    needs = {c for c, check in checks.items() if check.status is CheckStatus.NEEDS_SOURCE}
    assert {"rows_suppressed", "node", "metrics, loss", "metrics, entropy"} <= needs
    assert checks["no one knows more about a person than age, sex"].status is (
        CheckStatus.NOT_CHECKABLE
    )


def test_columns_beside_the_claim_are_named(release: tuple[Manifest, MemoryPublished]) -> None:
    manifest, published = release
    wider = MemoryPublished(("age", "sex", "income"), tuple((*r, "1") for r in published.data))
    checks = by_claim(verify_public(manifest, wider, CancelToken()))
    assert checks["no one knows more about a person than age, sex"].found.endswith("income")


def test_a_consistent_manifest_over_a_bad_table_fails(
    release: tuple[Manifest, MemoryPublished],
) -> None:
    manifest, published = release
    bad = published.with_cell(0, "age", "21")
    sizes = bad.group_sizes(["age", "sex"], CancelToken())
    result = manifest["result"]
    result["classes"], result["smallest_class"] = sizes.groups, sizes.smallest
    result["metrics"]["average_class_size"] = sizes.rows / sizes.groups / 5
    result["metrics"]["discernibility"] = sizes.sum_of_squares + result["rows_suppressed"] * (
        sizes.rows + result["rows_suppressed"]
    )
    checks = verify_public(manifest, bad, CancelToken())
    assert "k = 5 over age, sex" in failed(checks)


TAMPERINGS: dict[str, Callable[[Manifest], object]] = {
    "k = 50 over age, sex": lambda m: (
        m["guarantee"]["parameters"].update(k=50),
        m["parameters"].update(k=50),
    ),
    "parameters, k": lambda m: m["parameters"].update(k=4),
    "rows_out": lambda m: m["result"].update(rows_out=m["result"]["rows_out"] + 1),
    "classes": lambda m: m["result"].update(classes=1),
    "smallest_class": lambda m: m["result"].update(smallest_class=100),
    "metrics, average_class_size": lambda m: m["result"]["metrics"].update(average_class_size=1.0),
    "metrics, discernibility": lambda m: m["result"]["metrics"].update(discernibility=7),
    "metrics, loss": lambda m: m["result"]["metrics"].update(loss=1.5),
    "metrics, precision": lambda m: m["result"]["metrics"].update(precision=-0.1),
    "metrics, entropy": lambda m: m["result"]["metrics"].update(entropy=math.inf),
    "suppression within max_suppression": lambda m: m["parameters"].update(max_suppression=0.001),
    "node": lambda m: m["result"]["node"].pop("sex"),
    "proven_optimal": lambda m: m["result"].update(proven_optimal="yes"),
    "method": lambda m: m.update(method="anatomy"),
    "the words of the guarantee": lambda m: m["guarantee"].update(
        claim=m["guarantee"]["claim"].replace("5", "50")
    ),
}


@pytest.mark.parametrize("claim", TAMPERINGS)
def test_each_tampered_claim_fails_by_its_name(
    release: tuple[Manifest, MemoryPublished], claim: str
) -> None:
    manifest, published = release
    TAMPERINGS[claim](manifest)
    assert claim in failed(verify_public(manifest, published, CancelToken()))


SOURCE_TAMPERINGS: dict[str, Callable[[Manifest], object]] = {
    "rows_suppressed": lambda m: m["result"].update(rows_suppressed=0),
    "node": lambda m: m["result"]["node"].update(age=2),
    "metrics, loss": lambda m: m["result"]["metrics"].update(loss=0.01),
    "metrics, precision": lambda m: m["result"]["metrics"].update(precision=0.99),
    "metrics, entropy": lambda m: m["result"]["metrics"].update(entropy=1.0),
    "suppression within max_suppression": lambda m: m["parameters"].update(max_suppression=0),
}


@pytest.mark.parametrize("claim", SOURCE_TAMPERINGS)
def test_the_source_refutes_what_the_public_files_cannot(
    release: tuple[Manifest, MemoryPublished], claim: str
) -> None:
    manifest, published = release
    SOURCE_TAMPERINGS[claim](manifest)
    assert claim in failed(with_source(manifest, published, PEOPLE))


def test_the_source_refutes_swapped_values_that_keep_every_class_size(
    release: tuple[Manifest, MemoryPublished],
) -> None:
    manifest, published = release
    swap = {"f": "m", "m": "f"}
    other = MemoryPublished(
        published.columns, tuple((row[0], swap[row[1]]) for row in published.data)
    )
    if other.value_counts("sex", CancelToken()) == published.value_counts("sex", CancelToken()):
        pytest.fail("the example must not be symmetric")
    assert "node" in failed(with_source(manifest, other, PEOPLE))


def test_a_claim_over_fewer_columns_holds_alone_and_fails_against_the_plan() -> None:
    part = SmallTable(("age",), tuple(row[:1] for row in PEOPLE.rows), {"age": AGE})
    manifest, published = honest(part, (1,), 5)
    wider = MemoryPublished(("age", "sex"), tuple((*row, "f") for row in published.data))
    public = by_claim(verify_public(manifest, wider, CancelToken()))
    assert public["k = 5 over age"].status is CheckStatus.CONFIRMED
    assert "sex" in public["no one knows more about a person than age"].found
    assert "quasi-identifiers as in the plan" in failed(with_source(manifest, wider, PEOPLE))


def test_an_identifier_left_in_the_table_fails_against_the_plan(
    release: tuple[Manifest, MemoryPublished],
) -> None:
    manifest, published = release
    named = MemoryPublished(("age", "sex", "name"), tuple((*r, "x") for r in published.data))
    roles = {
        "age": Role.QUASI_IDENTIFIER,
        "sex": Role.QUASI_IDENTIFIER,
        "name": Role.IDENTIFIER,
    }
    checks = verify_against_source(
        manifest, named, PEOPLE.source, roles, PEOPLE.hierarchies, CancelToken()
    )
    assert "identifiers are left out" in failed(checks)


def test_missing_values_without_a_leaf_are_a_category_of_their_own() -> None:
    rows = [("25", "f")] * 6 + [("", "f")] * 5
    hierarchy = AGE.with_untouched_leaves([""])
    table = SmallTable(("age", "sex"), tuple(rows), {"age": hierarchy, "sex": SEX})
    manifest, published = honest(table, (1, 0), 5)
    bare = replace(table, hierarchies={"age": AGE, "sex": SEX})
    assert not failed(with_source(manifest, published, bare))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
PLACES = [
    ("guarantee",),
    ("guarantee", "model"),
    ("guarantee", "claim"),
    ("guarantee", "parameters"),
    ("guarantee", "parameters", "k"),
    ("guarantee", "parameters", "quasi_identifiers"),
    ("method",),
    ("parameters",),
    ("parameters", "k"),
    ("parameters", "max_suppression"),
    ("result",),
    ("result", "metrics"),
    *(("result", key) for key in ("node", "rows_out", "rows_suppressed", "classes")),
    *(("result", "metrics", key) for key in ("discernibility", "loss", "average_class_size")),
    ("result", "proven_optimal"),
]


@given(place=st.sampled_from(PLACES), junk=JUNK, gone=st.booleans())
@settings(deadline=None)
def test_a_malformed_manifest_gives_failures_and_no_exception(
    place: tuple[str, ...], junk: object, gone: bool
) -> None:
    manifest, published = honest(PEOPLE, (1, 0), 5)
    original = copy.deepcopy(manifest)
    inner = manifest
    for key in place[:-1]:
        inner = inner[key]
    inner.pop(place[-1]) if gone else inner.update({place[-1]: junk})
    public = verify_public(manifest, published, CancelToken())
    settled = with_source(manifest, published, PEOPLE)
    harmless = manifest == original or place[-1] in ("loss", "max_suppression", "proven_optimal")
    assert failed(public) or harmless or place[-1] == "rows_suppressed"
    assert failed(public) <= failed(settled) | {"node"}


@pytest.mark.parametrize(
    "value", [True, 5.0, "5", -5, 10**400, math.nan, None, [5]], ids=lambda value: str(value)[:9]
)
def test_numbers_of_another_type_are_never_taken_for_counts(
    release: tuple[Manifest, MemoryPublished], value: object
) -> None:
    manifest, published = release
    manifest["result"]["rows_out"] = value
    manifest["result"]["metrics"]["average_class_size"] = value
    assert {"rows_out", "metrics, average_class_size"} <= failed(
        verify_public(manifest, published, CancelToken())
    )


def test_the_entropy_of_earlier_versions_is_still_checked_and_not_asked_for_today(
    release: tuple[Manifest, MemoryPublished],
) -> None:
    manifest, published = release
    assert "metrics, entropy" in by_claim(verify_public(manifest, published, CancelToken()))
    del manifest["result"]["metrics"]["entropy"]
    checks = verify_public(manifest, published, CancelToken())
    assert "metrics, entropy" not in by_claim(checks)
    assert not failed(checks)


def test_an_empty_table_satisfies_nothing(release: tuple[Manifest, MemoryPublished]) -> None:
    manifest, _ = release
    empty = MemoryPublished(("age", "sex"), ())
    assert "k = 5 over age, sex" in failed(verify_public(manifest, empty, CancelToken()))


def test_columns_named_like_numbers_do_not_confuse_the_sentence() -> None:
    hierarchies = {
        "5": Hierarchy.from_rows("5", [("a", "*"), ("b", "*")]),
        "2 of 3": Hierarchy.from_rows("2 of 3", [("x", "*")]),
    }
    table = SmallTable(("5", "2 of 3"), (("a", "x"),) * 6 + (("b", "x"),) * 7, hierarchies)
    manifest, published = honest(table, (0, 0), 5)
    assert not failed(verify_public(manifest, published, CancelToken()))


def test_a_source_without_a_leaf_for_a_value_fails_in_words(
    release: tuple[Manifest, MemoryPublished],
) -> None:
    manifest, published = release
    source = MemorySource.of(("age", "sex"), [*PEOPLE.rows, ("99", "f")])
    roles = dict.fromkeys(("age", "sex"), Role.QUASI_IDENTIFIER)
    checks = verify_against_source(
        manifest, published, source, roles, PEOPLE.hierarchies, CancelToken()
    )
    assert by_claim(checks)["node"].found == "`99` of `age` has no leaf in its hierarchy."


@pytest.mark.parametrize(
    ("algorithm", "says"), [("optimal", "better by the objective"), ("samarati", "lower height")]
)
def test_what_a_proven_optimum_claims_depends_on_the_search(algorithm: str, says: str) -> None:
    check = _optimal_check({"proven_optimal": True}, {"algorithm": algorithm})
    assert says in check.found
    assert "repeats the search" in check.found
    assert "no optimum" in _optimal_check({"proven_optimal": False}, None).found
