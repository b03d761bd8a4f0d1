"""Levels that are made from the data: what they tell of values that only suppressed rows have.

Every value that a suppressed row could have is put in its place, the levels are made again from
all rows, and the public parts are compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.release import CheckStatus
from dpdesk.core.schema import Role
from dpdesk.engine.hierarchies.editing import remakes
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS
from tests.helpers.memory_tables import MemorySource, publish
from tests.helpers.searching import examples
from tests.helpers.stated import stated

COLUMNS = ("code", "sex")
SEX = Hierarchy.from_rows("sex", [("f", "*"), ("m", "*")])
ROLES = dict.fromkeys(COLUMNS, Role.QUASI_IDENTIFIER)
Builder = HierarchyBuilder | None


def asked(rows: Sequence[tuple[str, str]], builder: Builder, level: int) -> MethodInput:
    source = MemorySource.of(COLUMNS, rows)
    made: Mapping[str, Builder] = {"code": builder}
    values = sorted({row[0] for row in rows})
    built = remakes(made)["code"](values, [value for value in values if not value])
    if built is None:
        raise InputError("hierarchy.value", "no such hierarchy")
    raw = {"k": 2, "max_suppression": 1, "levels": {"code": level, "sex": 0}}
    parsed = parse_parameters(PARAMETERS, raw, "plan.toml")
    hierarchies = {"code": built, "sex": SEX}
    return MethodInput(ROLES, hierarchies, parsed, source=source, made=made)


def released(rows: Sequence[tuple[str, str]], builder: Builder, level: int) -> Outcome:
    return KAnonymity().decide(asked(rows, builder, level), CancelToken(), silent)


def released_if_possible(
    rows: Sequence[tuple[str, str]], builder: Builder, level: int
) -> Outcome | None:
    """None where the plan makes no levels of these values, or not so many, or no row is left."""
    try:
        return released(rows, builder, level)
    except DpdeskError:
        return None


def public_part(outcome: Outcome, rows: Sequence[tuple[str, str]]) -> str:
    table = publish(MemorySource.of(COLUMNS, rows), outcome.recoding).data
    return json.dumps([outcome.result, outcome.guarantee.as_json(), table], sort_keys=True)


def told(outcome: Outcome) -> object:
    return outcome.risk["levels_tell"]


WRITTEN_OUT: list[tuple[Builder, list[str], list[str]]] = [
    (None, ["a", "b", "c"], ["d", "e", "", "zz"]),
    (
        HierarchyBuilder("intervals", {"widths": [10, 50], "labels": "range"}),
        ["20", "23", "37", "61"],
        ["1", "99", "130", "44", "4000"],
    ),
    (
        HierarchyBuilder("mask", {"steps": [1, 2]}),
        ["1100", "1105", "1210", "2200"],
        ["3300", "3", "990011", ""],
    ),
    (
        HierarchyBuilder("dates", {"format": ["yyyy-mm-dd"], "levels": ["month", "year"]}),
        ["2001-02-03", "2001-02-17", "2003-07-01"],
        ["1950-01-01", "2024-12-31"],
    ),
    (
        HierarchyBuilder("order", {"groups": [{"low": ["a", "b"], "high": ["c", "d"]}]}),
        ["a", "b", "c", "d"],
        ["x", "y", ""],
    ),
]


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize(("builder", "kept", "gone"), WRITTEN_OUT)
def test_values_of_suppressed_rows_enter_no_public_number(
    builder: Builder, kept: list[str], gone: list[str], level: int
) -> None:
    """The plan writes out what makes the levels, so only the figures could tell of other values."""
    rows = [(value, "f") for value in kept for _ in range(3)]
    if builder is None and level == 2:
        level = 1
    seen = set()
    for value in gone:
        mine = [*rows, (value, "m")]
        outcome = released(mine, builder, level)
        assert outcome.result["rows_suppressed"] == 1
        assert told(outcome) == []
        seen.add(public_part(outcome, mine))
    assert len(seen) == 1


FROM_DATA: list[tuple[Builder, list[str]]] = [
    (None, ["a", "b", "c", "d"]),
    (HierarchyBuilder("intervals", {}), ["20", "23", "37", "61", "300", "9000", "2.5"]),
    (HierarchyBuilder("intervals", {"widths": [10, 50]}), ["20", "23", "61", "9.5", "9,5"]),
    (HierarchyBuilder("mask", {}), ["1100", "1105", "2200", "22001", "3", "1234567"]),
    (HierarchyBuilder("mask", {"steps": [1, 2], "pad": "0"}), ["11", "15", "2", "22001", "3"]),
    (HierarchyBuilder("order", {"sizes": [2, 2]}), ["a", "b", "c", "d", "e"]),
    (HierarchyBuilder("dates", {}), ["2001-02-03", "2003-07-01", "03/04/1999", "25/12/1999"]),
]
ROWS = st.tuples(st.integers(0, 6), st.sampled_from("fm"))


@settings(deadline=None, max_examples=examples(80))
@given(st.sampled_from(FROM_DATA), st.lists(ROWS, min_size=3, max_size=9), st.integers(0, 4))
def test_levels_that_follow_from_suppressed_rows_are_named(
    case: tuple[Builder, list[str]], drawn: list[tuple[int, str]], level: int
) -> None:
    """Of all rows that could have been suppressed, those that are not named change nothing."""
    builder, values = case
    rows = [(values[place % len(values)], sex) for place, sex in drawn]
    first = released_if_possible(rows, builder, level)
    assume(first is not None and first.result["rows_suppressed"] == 1)
    assert first is not None
    kept = _kept(rows, first)
    quiet: set[str] = set()
    for other in ((value, sex) for value in values for sex in "fm"):
        mine = [*kept, other]
        outcome = released_if_possible(mine, builder, level)
        if outcome is None or told(outcome) or outcome.result["rows_suppressed"] != 1:
            continue
        if _kept(mine, outcome) == kept:
            quiet.add(public_part(outcome, mine))
    assert len(quiet) <= 1


def _kept(rows: Sequence[tuple[str, str]], outcome: Outcome) -> list[tuple[str, str]]:
    mapping = outcome.recoding.mapping
    gone = {
        tuple(names[code] for names, code in zip(outcome.recoding.labels, codes, strict=True))
        for codes in outcome.recoding.suppressed.tolist()
    }
    return sorted(
        row for row in rows if (mapping["code"][row[0]], mapping["sex"][row[1]]) not in gone
    )


@pytest.mark.parametrize(
    ("builder", "kept", "gone", "level"),
    [
        (HierarchyBuilder("intervals", {}), ["20", "23", "37"], "9000", 1),
        (HierarchyBuilder("mask", {}), ["1100", "1105"], "1234567", 7),
        (HierarchyBuilder("mask", {"pad": "0"}), ["11", "15"], "22001", 1),
        (HierarchyBuilder("intervals", {"widths": [10, 50]}), ["20", "61"], "9.5", 1),
    ],
)
def test_labels_that_a_suppressed_value_changed_are_told_and_verify(
    builder: Builder, kept: list[str], gone: str, level: int
) -> None:
    rows = [*((value, "f") for value in kept for _ in range(3)), (gone, "m")]
    outcome = released(rows, builder, level)
    assert told(outcome) == ["code"]
    assert [note.code for note in outcome.notes][:1] == ["hierarchy.suppressed-values"]
    assert not failed(rows, builder, level, outcome)


def failed(
    rows: Sequence[tuple[str, str]], builder: Builder, level: int, outcome: Outcome
) -> list[str]:
    manifest = {
        "method": "k-anonymity",
        "parameters": {"k": 2, "max_suppression": 1},
        "guarantee": outcome.guarantee.as_json(),
        "result": outcome.result,
    }
    given = asked(rows, builder, level)
    table = publish(MemorySource.of(COLUMNS, rows), outcome.recoding)
    checks = KAnonymity().verify_with_source(stated(manifest), table, given, None, CancelToken())
    return [check.claim for check in checks if check.status is CheckStatus.FAILED]


@pytest.mark.parametrize(("builder", "kept", "gone"), WRITTEN_OUT)
def test_figures_without_suppressed_values_verify_and_others_do_not(
    builder: Builder, kept: list[str], gone: list[str]
) -> None:
    rows = [*((value, "f") for value in kept for _ in range(3)), (gone[0], "m")]
    outcome = released(rows, builder, 1)
    assert outcome.result["rows_suppressed"] == 1
    assert not failed(rows, builder, 1, outcome)
    metrics = outcome.result["metrics"]
    assert isinstance(metrics, dict)
    for key in ("loss", "precision"):
        metrics[key] += 0.01
        assert failed(rows, builder, 1, outcome) == [f"metrics, {key}"]
        metrics[key] -= 0.01
