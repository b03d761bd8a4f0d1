"""Runs of k-anonymity: the right node, the right refusals, the right recoding."""

from __future__ import annotations

import csv
import gc
import itertools
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as generated
from hypothesis import settings as generation
from hypothesis import strategies as st

import dpdesk.engine.methods.k_anonymity.anytime as large_module
import dpdesk.engine.methods.k_anonymity.search as effort_module
from dpdesk.core.charts import ScatterChart
from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import Behind, CancelToken, Event, Note, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity import assessment, choosing
from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, NodeStatistics, evaluate_node
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS
from dpdesk.engine.methods.k_anonymity.statistics import LatticeStatistics
from tests.helpers.memory_tables import MemorySource, publish
from tests.helpers.small_tables import SmallTable, small_tables
from tests.reference import risk as reference

AGE = Hierarchy.from_rows("age", [(str(age), f"{age // 10}0s", "*") for age in range(20, 60)])
SEX = Hierarchy.from_rows("sex", [("f", "*"), ("m", "*")])
PEOPLE = SmallTable(
    ("age", "sex"),
    tuple((str(20 + row % 40), "fm"[row % 2]) for row in range(100)),
    {"age": AGE, "sex": SEX},
)


def given_of(
    table: SmallTable, roles: Mapping[str, Role] | None = None, **raw: object
) -> MethodInput:
    quasi = dict.fromkeys(table.columns, Role.QUASI_IDENTIFIER)
    parameters = parse_parameters(PARAMETERS, raw, "plan.toml")
    return MethodInput(roles or quasi, table.hierarchies, parameters, source=table.source)


def run(given: MethodInput) -> Outcome:
    return KAnonymity().decide(given, CancelToken(), silent)


def test_a_search_that_no_memory_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred million rows with nine quasi-identifiers it took 22 GB, and went on."""
    monkeypatch.setattr(choosing, "memory", lambda: 1_000)
    asked = {"model": "l-diversity", "attribute": "sex", "l": 2}
    roles = {"age": Role.QUASI_IDENTIFIER, "sex": Role.SENSITIVE}
    for given in (given_of(PEOPLE, k=2), given_of(PEOPLE, roles, k=2, require=[asked])):
        with pytest.raises(RefusedError, match="differ in their quasi-identifiers") as caught:
            run(given)
        assert caught.value.code == "k-anonymity.too-many-tuples"
        assert "“age” (" in caught.value.hint
    monkeypatch.setattr(choosing, "memory", lambda: 0)
    assert run(given_of(PEOPLE, k=2)).result["rows_out"]


def node_of(outcome: Outcome) -> dict[str, int]:
    node = outcome.result["node"]
    assert isinstance(node, dict)
    return node


@generated(small_tables(least_rows=2), st.integers(2, 4), st.sampled_from([0, 0.2, 0.5]))
@generation(max_examples=40, deadline=None)
def test_no_node_within_the_limit_loses_less_than_the_optimum(
    table: SmallTable, k: int, share: float
) -> None:
    if len(table.rows) < k:
        return
    outcome = run(given_of(table, k=k, max_suppression=share))
    heights = [table.hierarchies[name].height for name in table.columns]
    losses = []
    for levels in itertools.product(*(range(height + 1) for height in heights)):
        recoded = reference.generalised(table.rows, table.paths, levels)
        kept = reference.kept(recoded, k)
        if kept and len(recoded) - len(kept) <= int(share * len(recoded) + 1e-9):
            parts = [
                reference.attribute_loss(table.rows, table.paths, levels, k, column)
                for column in range(len(levels))
            ]
            losses.append(sum(parts) / len(parts))
    metrics = outcome.result["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["loss"] == pytest.approx(min(losses))
    assert outcome.result["proven_optimal"] is True


@generated(small_tables(least_rows=2), st.integers(2, 4), st.sampled_from([0, 0.2, 1]))
@generation(max_examples=40, deadline=None)
def test_released_rows_are_the_generalised_rows_of_large_classes(
    table: SmallTable, k: int, share: float
) -> None:
    if len(table.rows) < k:
        return
    outcome = run(given_of(table, k=k, max_suppression=share))
    levels = [node_of(outcome)[name] for name in table.columns]
    recoded = reference.generalised(table.rows, table.paths, levels)
    assert sorted(publish(table.source, outcome.recoding).data) == sorted(
        reference.kept(recoded, k)
    )


def test_a_k_larger_than_the_table_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        run(given_of(PEOPLE, k=50_000))
    assert caught.value.sentence == ("k = 50000 is larger than the table: people.csv has 100 rows.")
    assert caught.value.exit_code == 1


def test_an_empty_table_is_refused() -> None:
    empty = SmallTable(("age",), (), {"age": AGE})
    with pytest.raises(RefusedError, match=r"k = 2 is larger .* has 0 rows"):
        run(given_of(empty, k=2))


def test_levels_by_hand_are_released_as_they_are() -> None:
    outcome = run(given_of(PEOPLE, k=2, levels={"age": 2, "sex": 0}))
    assert node_of(outcome) == {"age": 2, "sex": 0}
    assert outcome.result["proven_optimal"] is False
    assert outcome.result["rows_suppressed"] == 0


def test_levels_that_need_more_suppression_are_refused_with_both_ways_out() -> None:
    with pytest.raises(RefusedError) as caught:
        run(given_of(PEOPLE, k=3, levels={"age": 0, "sex": 0}))
    assert caught.value.sentence == (
        "k = 3 is not reached: the levels chosen by hand need 40 rows of 100 rows suppressed; "
        "0 rows are allowed."
    )
    assert caught.value.hint == "What helps: allow max_suppression = 0.4 or set k = 2."
    assert run(given_of(PEOPLE, k=2, levels={"age": 0, "sex": 0}))
    assert run(given_of(PEOPLE, k=3, levels={"age": 0, "sex": 0}, max_suppression=0.4))
    with pytest.raises(RefusedError):
        run(given_of(PEOPLE, k=3, levels={"age": 0, "sex": 0}, max_suppression=0.39))


def test_levels_that_leave_no_row_are_refused_whatever_is_allowed() -> None:
    with pytest.raises(RefusedError, match="every class is smaller than k"):
        run(given_of(PEOPLE, k=5, levels={"age": 0, "sex": 0}, max_suppression=1))


def test_where_nothing_is_generalised_the_hint_does_not_speak_of_levels() -> None:
    table = SmallTable(("age",), tuple((leaf,) for leaf in AGE.leaves[:2]), {"age": AGE})
    with pytest.raises(RefusedError, match="every class is smaller than k") as caught:
        run(given_of(table, k=2, model="TS", max_suppression=1))
    assert caught.value.hint == "What helps: choose a model that generalises."
    with pytest.raises(RefusedError) as caught:
        run(given_of(PEOPLE, k=3, model="TS"))
    assert caught.value.sentence == (
        "k = 3 is not reached: 40 rows of 100 rows would have to be suppressed; 0 rows are allowed."
    )


def test_a_level_above_the_top_is_bad_input() -> None:
    with pytest.raises(InputError, match="the level of `sex` is 2, expected 0 to 1"):
        run(given_of(PEOPLE, k=2, levels={"age": 0, "sex": 2}))


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({"age": 1}, "the level of `sex` is missing"),
        ({"age": 1, "sex": 0, "income": 1}, "`income` is not a quasi-identifier"),
    ],
)
def test_levels_must_name_each_quasi_identifier(levels: dict[str, int], said: str) -> None:
    given = given_of(PEOPLE, k=2, levels=levels)
    with pytest.raises(InputError, match=said) as caught:
        KAnonymity().check(PEOPLE.columns, given.roles, given.parameters, "plan.toml")
    assert caught.value.sentence.startswith("plan.toml, levels: ")


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"min_level": {"age": 1}}, "`age` is at level 0, expected at least 1, its `min_level`"),
        ({"max_level": {"sex": 0}}, "`sex` is at level 1, expected at most 0, its `max_level`"),
    ],
)
def test_levels_by_hand_stay_within_the_least_and_greatest_levels(
    limits: dict[str, object], said: str
) -> None:
    given = given_of(PEOPLE, k=2, levels={"age": 0, "sex": 1}, **limits)
    with pytest.raises(InputError, match=said):
        KAnonymity().check(PEOPLE.columns, given.roles, given.parameters, "plan.toml")


def test_a_value_without_a_leaf_is_bad_input_that_names_it() -> None:
    table = SmallTable(("age", "sex"), (*PEOPLE.rows, ("99", "f")), PEOPLE.hierarchies)
    with pytest.raises(InputError, match="`99`"):
        run(given_of(table, k=2))


@pytest.mark.parametrize(
    ("keys", "refused"),
    [
        ({"local": True, "algorithm": "genetic"}, "local"),
        ({"algorithm": "k-optimize", "importance": {"age": 2}}, "importance"),
        ({"local": True, "max_suppression_of": {"age": 0.1}}, "max_suppression_of"),
        ({"model": "CG", "max_suppression_of": {"age": 0.1}}, "max_suppression_of"),
        ({"model": "AG", "max_cells": {"age": 0.1}}, "max_cells"),
        ({"model": "CG", "algorithm": "samarati"}, "algorithm"),
        ({"model": "CS", "objective": "entropy"}, "objective"),
        ({"model": "AS", "algorithm": "incognito"}, "algorithm"),
        ({"model": "TS", "min_level": {"age": 1}}, "min_level"),
        ({"model": "TS", "levels": {"age": 0, "town": 0}}, "levels"),
        ({"model": "AG", "algorithm": "mondrian"}, "algorithm"),
    ],
)
def test_what_is_not_decided_together_is_refused(keys: dict[str, object], refused: str) -> None:
    columns, roles = ("age", "town"), dict.fromkeys(("age", "town"), Role.QUASI_IDENTIFIER)
    parameters = parse_parameters(KAnonymity.parameters, {"k": 2, **keys}, "plan.toml")
    with pytest.raises(InputError) as caught:
        KAnonymity().check(columns, roles, parameters, "plan.toml")
    assert caught.value.code == "k-anonymity.together"
    assert f"`{refused}` cannot be used together with" in caught.value.sentence


def test_identifiers_are_dropped_and_other_columns_are_named_as_not_covered() -> None:
    columns = ("name", "age", "illness", "shoe", "household", "weight")
    rows = [(f"n{n}", "2" + str(n % 2), "flu", "40", f"h{n}", "1.5") for n in range(10)]
    roles = dict(
        zip(
            columns,
            (
                Role.IDENTIFIER,
                Role.QUASI_IDENTIFIER,
                Role.SENSITIVE,
                Role.INSENSITIVE,
                Role.CLUSTER,
                Role.WEIGHT,
            ),
            strict=True,
        )
    )
    parameters = parse_parameters(PARAMETERS, {"k": 5}, "plan")
    source = MemorySource.of(columns, rows)
    outcome = run(MethodInput(roles, {"age": AGE}, parameters, source=source))
    assert publish(source, outcome.recoding).columns == columns[1:]
    limits = " ".join(outcome.guarantee.does_not_cover)
    for name in ("illness", "shoe", "household", "weight"):
        assert name in limits
    assert "in particular not illness, shoe, household and weight" in outcome.guarantee.assumes[0]


def test_missing_values_are_a_category_of_their_own() -> None:
    rows = [("25", "f")] * 6 + [("", "f")] * 2
    table = SmallTable(("age", "sex"), tuple(rows), PEOPLE.hierarchies)
    strict = run(given_of(table, k=3))
    assert node_of(strict)["age"] == 2
    lenient = run(given_of(table, k=3, max_suppression=0.25))
    assert node_of(lenient)["age"] == 0
    assert publish(table.source, lenient.recoding).data == (("25", "f"),) * 6


@pytest.mark.parametrize("algorithm", ["optimal", "samarati"])
def test_rows_allowed_are_the_floor_of_the_exact_share(algorithm: str) -> None:
    # 0.29 * 100 is 28.999999999999996 in floating point; exactly it is 29 rows.
    rows = [("25", "f")] * 71 + [(str(30 + n), "m") for n in range(29)]
    table = SmallTable(("age", "sex"), tuple(rows), PEOPLE.hierarchies)
    outcome = run(given_of(table, k=30, max_suppression=0.29, algorithm=algorithm))
    assert node_of(outcome) == {"age": 0, "sex": 0}
    assert outcome.result["rows_suppressed"] == 29


def test_samarati_takes_the_least_height() -> None:
    outcome = run(given_of(PEOPLE, k=3, algorithm="samarati"))
    assert sum(node_of(outcome).values()) == 1
    assert outcome.internal["lattice_nodes"] == 6


def test_a_lattice_too_large_to_walk_is_searched_and_not_called_optimal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walked = run(given_of(PEOPLE, k=3))
    monkeypatch.setattr(effort_module, "MAX_WALK_WORK", 2)
    monkeypatch.setattr(large_module, "MAX_BOUNDED_NODES", 2)
    monkeypatch.setattr(large_module, "node_budget", lambda problem: 4)
    events: list[Event] = []
    outcome = KAnonymity().decide(given_of(PEOPLE, k=3), CancelToken(), events.append)
    assert outcome.result["proven_optimal"] is False
    notes = [event.sentence for event in events if isinstance(event, Note)]
    assert notes[-1].startswith("Only 4 of 6 combinations of levels were examined")
    assert "fewer quasi-identifiers" in notes[-1]
    assert not any(isinstance(chart, ScatterChart) for chart in outcome.charts)
    assert any(isinstance(chart, ScatterChart) for chart in walked.charts)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_bounds_prove_what_a_walk_finds_and_the_notes_say_so(
    monkeypatch: pytest.MonkeyPatch, objective: str
) -> None:
    raw = {"k": 3, "max_suppression": 0.1, "objective": objective}
    walked = run(given_of(PEOPLE, **raw))
    monkeypatch.setattr(effort_module, "MAX_WALK_WORK", 2)
    events: list[Event] = []
    bounded = KAnonymity().decide(given_of(PEOPLE, **raw), CancelToken(), events.append)
    assert bounded.result == walked.result
    assert bounded.result["proven_optimal"] is True
    notes = [event.code for event in events if isinstance(event, Note)]
    assert notes == ["search.proven-by-bounds"]


def test_no_release_comes_out_when_two_counts_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = assessment.generalise

    def miscounting(*arguments: object) -> object:
        found = honest(*arguments)  # type: ignore[arg-type]
        found.sizes[0] -= 1
        return found

    monkeypatch.setattr(assessment, "generalise", miscounting)
    with pytest.raises(RefusedError) as caught:
        run(given_of(PEOPLE, k=2))
    assert caught.value.code == "k-anonymity.self-check"


def test_no_guarantee_is_worded_for_a_class_below_k() -> None:
    with pytest.raises(ValueError, match="does not satisfy"):
        k_guarantee(5, 4, 0, {"age": Role.QUASI_IDENTIFIER})


def test_the_guarantee_is_filled_from_the_counted_result() -> None:
    outcome = run(given_of(PEOPLE, k=3, levels={"age": 2, "sex": 0}))
    assert outcome.guarantee.claim == (
        "For someone who knows only age and sex of a person, a match is right with a chance of at "
        "most 1 in 3: every released combination of these covers at least 3 rows (the smallest "
        "covers 50)."
    )
    assert outcome.guarantee.parameters == {"k": 3, "quasi_identifiers": ["age", "sex"]}


def adult(real_data: Path) -> tuple[MemorySource, dict[str, Hierarchy]]:
    folder = real_data / "arx-adult"
    source = MemorySource.from_csv(folder / "adult.csv", ";")
    found = {}
    for name in source.columns:
        with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8") as stream:
            found[name] = Hierarchy.from_rows(name, list(csv.reader(stream, delimiter=";")))
    return source, found


@pytest.mark.data
def test_adult_has_its_known_optimum(real_data: Path) -> None:
    source, hierarchies = adult(real_data)
    roles = dict.fromkeys(source.columns, Role.QUASI_IDENTIFIER)
    raw = {"k": 5, "max_suppression": 0.02, "objective": "discernibility"}
    parameters = parse_parameters(PARAMETERS, raw, "plan")
    outcome = run(MethodInput(roles, hierarchies, parameters, source=source))
    assert node_of(outcome) == {
        "age": 0,
        "sex": 0,
        "race": 1,
        "marital-status": 2,
        "education": 3,
        "native-country": 2,
        "workclass": 2,
        "occupation": 1,
        "salary-class": 1,
    }
    metrics = outcome.result["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["discernibility"] == 7_220_555
    assert outcome.internal["rows_suppressed_allowed"] == 603
    assert outcome.internal["nodes_checked"] == 12_960
    assert outcome.result["smallest_class"] == outcome.risk["after"]["smallest_class"]  # type: ignore[index]


def test_a_run_does_not_wait_for_a_long_count_that_only_a_chart_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    charted = run(given_of(PEOPLE, k=3))
    monkeypatch.setattr(effort_module, "MAX_CHARTED_WORK", 2)
    found = run(given_of(PEOPLE, k=3))
    assert found.result == charted.result
    assert found.result["proven_optimal"] is True
    assert any(isinstance(chart, ScatterChart) for chart in charted.charts)
    assert not any(isinstance(chart, ScatterChart) for chart in found.charts)


def test_statistics_without_a_kept_class_have_no_average() -> None:
    found = NodeStatistics((0,), 5, 3, 3, 0, 0, 0, (), (), {})
    assert found.average_class_size is None


def test_no_chart_comes_out_when_the_count_of_all_nodes_has_another_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dpdesk.engine.methods.k_anonymity import bounded

    honest = bounded.bounded_search

    def worse(problem: LatticeProblem, objective: str, k: int, *rest: Any, **more: Any) -> Any:
        found = honest(problem, objective, k, *rest, **more)
        top = evaluate_node(problem, problem.heights, k)
        return replace(found, node=problem.heights, statistics=top)

    monkeypatch.setattr(bounded, "bounded_search", worse)
    outcome = run(given_of(PEOPLE, k=3))
    with pytest.raises(RefusedError) as caught:
        list(outcome.charts)
    assert caught.value.code == "k-anonymity.self-check"


def test_the_chart_of_all_nodes_is_made_behind_the_answer_and_ends_when_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dpdesk.engine.methods.k_anonymity import search

    honest, started, token = search.walk_lattice, threading.Event(), CancelToken()

    def waiting(
        problem: LatticeProblem, ks: list[int], own: CancelToken, *rest: Any, **more: Any
    ) -> LatticeStatistics:
        started.set()
        with own.on_cancel(cancelled.set):
            cancelled.wait()
        return honest(problem, ks, own, *rest, **more)

    cancelled = threading.Event()
    monkeypatch.setattr(search, "walk_lattice", waiting)
    outcome = KAnonymity().decide(given_of(PEOPLE, k=3), token, silent)
    assert outcome.result["proven_optimal"] is True
    started.wait()
    token.cancel()
    with pytest.raises(Cancelled):
        list(outcome.charts)


def test_a_count_behind_a_result_that_nobody_keeps_ends() -> None:
    ended = threading.Event()

    def make(own: CancelToken) -> int:
        with own.on_cancel(ended.set):
            ended.wait()
        return 1

    behind = Behind(make, CancelToken())
    del behind
    gc.collect()
    assert ended.wait(60)
