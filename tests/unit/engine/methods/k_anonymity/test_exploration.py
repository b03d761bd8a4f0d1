"""Live views: exact for any setting, the same as a run, with a remedy when nothing fits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given as generated
from hypothesis import settings as generation
from hypothesis import strategies as st

import dpdesk.engine.methods.k_anonymity.anytime as large_module
import dpdesk.engine.methods.k_anonymity.known_nodes as known_nodes_module
import dpdesk.engine.methods.k_anonymity.search as effort_module
import dpdesk.engine.methods.k_anonymity.statistics as statistics_module
from dpdesk.core.charts import ScatterChart
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import listening, speaking
from dpdesk.core.language.speaker import voice
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.method import Exploration, ExplorationView, MethodInput
from dpdesk.engine.methods.k_anonymity.choosing import Shortfall, choose
from dpdesk.engine.methods.k_anonymity.known_nodes import PooledNodes, WalkedNodes, pooled_nodes
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.samarati import samarati
from dpdesk.engine.methods.k_anonymity.search import walk_lattice
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from tests.helpers.small_tables import SmallTable, small_tables
from tests.reference import risk as reference
from tests.unit.engine.methods.k_anonymity.test_method import PEOPLE, given_of

PREFERENCES = (
    "minimum-absolute-distance",
    "minimum-relative-distance",
    "maximum-distribution",
    "minimum-suppression",
)


def explore(table: SmallTable, **raw: object) -> Exploration:
    return KAnonymity().explore(given_of(table, **({"k": 2} | raw)), CancelToken(), silent)


def view(exploration: Exploration, **raw: object) -> ExplorationView:
    return exploration.view(parse_parameters(PARAMETERS, raw, "view"))


def scatter(found: ExplorationView) -> ScatterChart:
    return next(chart for chart in found.charts if isinstance(chart, ScatterChart))


def chosen(found: ExplorationView) -> int:
    return int(scatter(found).series[-1].ids[0])


@generated(
    small_tables(least_rows=4),
    st.integers(2, 4),
    st.sampled_from([0, 0.25, 0.5]),
    st.sampled_from(["loss", "discernibility", "average-class-size", "precision", "entropy"]),
)
@generation(max_examples=30, deadline=None)
def test_a_view_is_what_the_run_gives(
    table: SmallTable, k: int, share: float, objective: str
) -> None:
    raw = {"k": k, "max_suppression": share, "objective": objective}
    found = view(explore(table), **raw)
    outcome = KAnonymity().decide(given_of(table, **raw), CancelToken(), silent)
    assert found.figures == outcome.figures
    assert found.guarantee == outcome.guarantee


@generated(
    small_tables(least_rows=4),
    st.integers(2, 4),
    st.sampled_from([0, 0.25, 0.5]),
    st.sampled_from(PREFERENCES),
)
@generation(max_examples=60, deadline=None)
def test_samarati_live_is_samarati(table: SmallTable, k: int, share: float, prefer: str) -> None:
    problem = LatticeProblem.from_aligned(table.aligned)
    raw = {"k": k, "max_suppression": share, "algorithm": "samarati", "prefer": prefer}
    settings = Settings.from_parameters(parse_parameters(PARAMETERS, raw, "plan"))
    allowed = settings.allowed(problem.rows)
    searched = samarati(problem, k, allowed, prefer, CancelToken(), silent).node
    place = choose(walk_lattice(problem, [k], CancelToken(), silent), settings, allowed)
    assert (None if place is None else problem.levels(place)) == searched


def test_every_node_is_a_point_and_a_picked_point_can_be_released() -> None:
    exploration = explore(PEOPLE)
    found = view(exploration, k=3, max_suppression=0.5)
    points = {int(each): series for series in scatter(found).series[:2] for each in series.ids}
    assert sorted(points) == list(range(6))
    for point, series in points.items():
        plan = exploration.pick(point)
        again = view(exploration, k=3, max_suppression=0.5, **plan)
        assert again.feasible == (series.name == "Feasible")
        assert chosen(again) == point
    assert exploration.pick(3) == {"levels": {"age": 1, "sex": 1}}


def test_a_k_that_was_not_walked_is_counted_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = LatticeProblem.from_aligned(PEOPLE.aligned)
    few = WalkedNodes(walk_lattice(problem, [2, 100], CancelToken(), silent))
    for k in (2, 3, 7, 40, 100):
        found = few.at(k)
        for place in range(found.node_count):
            recoded = reference.generalised(PEOPLE.rows, PEOPLE.paths, problem.levels(place))
            assert found.suppressed(k)[place] == reference.violations(recoded, k)
    # The second look needs no second walk.
    monkeypatch.setattr(WalkedNodes, "_walk", None)
    assert few.at(7).suppressed(7)[0] == 100


def test_a_large_lattice_shows_good_nodes_at_a_k_that_was_not_walked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(known_nodes_module, "QUICK_WALK_WORK", 2)
    monkeypatch.setattr(statistics_module, "MEMORY", 6 * 5 * 8 * 2)
    exploration = explore(PEOPLE, k=4)
    walked = view(exploration, k=4, max_suppression=0.3)
    assert walked.charts[1].answer.startswith("4 of 6 combinations of levels reach")
    found = view(exploration, k=9, max_suppression=0.3)
    assert found.feasible
    assert "too many to check them all" in found.sentence
    assert "combinations of levels examined" in found.charts[1].answer
    assert {row[-1] for row in found.charts[1].table.rows} <= {"", "chosen"}
    points = [int(each) for series in scatter(found).series[:2] for each in series.ids]
    assert min(points) >= 6
    levels = exploration.pick(chosen(found))
    assert view(exploration, k=9, max_suppression=0.3, **levels).figures == found.figures
    by_hand = view(exploration, k=9, levels={"age": 2, "sex": 0})
    assert exploration.pick(chosen(by_hand)) == {"levels": {"age": 2, "sex": 0}}


def test_an_infeasible_hand_made_node_shows_the_smallest_limit_that_works() -> None:
    exploration = explore(PEOPLE)
    levels = {"age": 0, "sex": 0}
    found = view(exploration, k=3, levels=levels)
    assert not found.feasible
    assert found.guarantee is None
    assert found.remedy == {"max_suppression": 0.4}
    assert found.remedy_label == "Allow 40 % suppressed rows"
    assert chosen(found) == 0
    assert view(exploration, k=3, levels=levels, **found.remedy).feasible
    assert not view(exploration, k=3, levels=levels, max_suppression=0.3999).feasible


@generated(small_tables(least_rows=2), st.integers(2, 6), st.sampled_from([0, 0.1, 0.33, 1]))
@generation(max_examples=60, deadline=None)
def test_the_ways_out_of_a_shortfall_work_and_nothing_nearer_does(
    table: SmallTable, k: int, share: float
) -> None:
    raw = {"k": k, "max_suppression": share, "levels": dict.fromkeys(table.columns, 0)}
    settings = Settings.from_parameters(parse_parameters(PARAMETERS, raw, "plan"))
    rows, sizes = len(table.rows), table.aligned.counts
    allowed = settings.allowed(rows)
    short = Shortfall.of(settings, table.columns, (0,) * len(table.columns), sizes)
    gone = reference.violations(table.rows, k)
    assert short.suppressed == gone
    assert int(short.share * rows + 1e-9) >= gone
    assert gone == 0 or short.share - 0.0001 < gone / rows

    def works(other: int) -> bool:
        return reference.violations(table.rows, other) <= allowed and bool(
            reference.kept(table.rows, other)
        )

    assert works(short.largest_k)
    assert not works(short.largest_k + 1)


def test_a_k_beyond_the_table_offers_the_largest_k() -> None:
    found = view(explore(PEOPLE), k=101)
    assert not found.feasible
    assert found.sentence == "k = 101 is larger than the table: people.csv has 100 rows."
    assert found.remedy == {"k": 100}


def test_a_large_lattice_is_explored_by_good_nodes_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(effort_module, "MAX_WALK_WORK", 2)
    monkeypatch.setattr(large_module, "MAX_BOUNDED_NODES", 2)
    monkeypatch.setattr(large_module, "node_budget", lambda problem: 4)
    exploration = explore(PEOPLE)
    for k in (2, 3, 11):
        found = view(exploration, k=k)
        assert found.feasible
        assert "too many to check them all" in found.sentence
        assert found.charts[1].table.rows
        assert all(row[-1] != "optimal" for row in found.charts[1].table.rows)
    by_hand = view(exploration, k=3, levels={"age": 2, "sex": 1})
    assert exploration.pick(chosen(by_hand)) == {"levels": {"age": 2, "sex": 1}}


@generated(
    small_tables(least_rows=4),
    st.integers(2, 4),
    st.sampled_from([0, 0.25]),
    st.sampled_from(["loss", "discernibility", "average-class-size", "precision", "entropy"]),
)
@generation(max_examples=30, deadline=None)
def test_in_a_large_lattice_the_view_of_the_plan_is_what_its_run_gives(
    table: SmallTable, k: int, share: float, objective: str
) -> None:
    raw = {"k": k, "max_suppression": share, "objective": objective}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effort_module, "MAX_WALK_WORK", 0)
        found = view(explore(table, **raw), **raw)
        outcome = KAnonymity().decide(given_of(table, **raw), CancelToken(), silent)
    assert found.figures == outcome.figures
    assert found.guarantee == outcome.guarantee
    assert "too many to check" not in found.sentence
    assert any(row[-1] == "optimal" for row in scatter(found).table.rows)


def test_in_a_large_lattice_other_settings_do_not_claim_an_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(effort_module, "MAX_WALK_WORK", 0)
    found = view(explore(PEOPLE, k=4), k=4, max_suppression=0.01)
    assert "too many to check them all" in found.sentence
    assert all(row[-1] != "optimal" for row in scatter(found).table.rows)


def test_a_pool_counts_at_hand_what_it_would_count_anew() -> None:
    problem = LatticeProblem.from_aligned(PEOPLE.aligned)
    nodes = [(2, 1), (0, 0), (2, 1), (1, 0)]
    ready = pooled_nodes(problem, nodes, frozenset(), CancelToken())
    plain = PooledNodes(problem, tuple(nodes))
    for k in (2, 3, 40, 999, 1500):
        assert (ready.at(k).data == plain.at(k).data).all()
    assert ready.place((1, 1)) == plain.place((1, 1)) == 3
    for k in (3, 1500):
        assert (ready.at(k).data == plain.at(k).data).all()
        assert ready.at(k).levels.tolist() == plain.at(k).levels.tolist()


def test_a_pool_learns_nodes_and_keeps_their_numbers() -> None:
    problem = LatticeProblem.from_aligned(PEOPLE.aligned)
    pool = PooledNodes(problem, ((2, 1), (0, 0), (2, 1)))
    assert [pool.place(node) for node in ((2, 1), (0, 0), (1, 1), (1, 1))] == [0, 1, 2, 2]
    assert pool.levels(2) == (1, 1)
    found = pool.at(3)
    assert found.levels.tolist() == [[2, 1], [0, 0], [1, 1]]
    assert found.suppressed(3).tolist() == [0, 40, 0]


def test_views_from_many_threads_agree() -> None:
    exploration = explore(PEOPLE)
    settings = [{"k": k, "max_suppression": share} for k in range(2, 30) for share in (0, 0.3)]
    alone = [view(explore(PEOPLE), **raw).figures for raw in settings]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda raw: view(exploration, **raw).figures, settings))
    assert together == alone


def test_an_empty_table_can_be_looked_at() -> None:
    empty = SmallTable(PEOPLE.columns, (), PEOPLE.hierarchies)
    found = view(explore(empty), k=2)
    assert not found.feasible
    assert found.remedy is None


def test_one_row_offers_no_k() -> None:
    one = SmallTable(PEOPLE.columns, PEOPLE.rows[:1], PEOPLE.hierarchies)
    found = view(explore(one), k=2)
    assert (found.remedy, found.remedy_label) == (None, "")


def test_roles_and_hierarchies_of_other_columns_do_not_matter() -> None:
    given = given_of(PEOPLE, roles={"age": Role.QUASI_IDENTIFIER, "sex": Role.SENSITIVE}, k=2)
    found = (
        KAnonymity()
        .explore(
            MethodInput(given.roles, given.hierarchies, given.parameters, source=given.source),
            CancelToken(),
            silent,
        )
        .view(given.parameters)
    )
    assert found.guarantee is not None
    assert found.guarantee.parameters["quasi_identifiers"] == ["age"]


def test_memory_bounds_how_many_k_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics_module, "MEMORY", 1)
    assert view(explore(PEOPLE, k=4), k=9).feasible


@generated(small_tables(least_rows=4), st.integers(2, 5), st.sampled_from(["category", "any"]))
@generation(max_examples=40, deadline=None)
def test_a_wiped_column_comes_with_another_way_that_works(
    table: SmallTable, k: int, missing: str
) -> None:
    raw: dict[str, object] = {"k": k, "missing_as": missing}
    exploration = explore(table, **raw)
    found = view(exploration, **raw)
    wiped = any(note.code == "hierarchy.removed" for note in found.notes)
    offered = found.feasible and found.remedy is not None
    assert offered == (found.feasible and wiped and missing == "category")
    if offered:
        assert found.remedy is not None
        better = raw | {key: each for key, each in found.remedy.items() if each is not None}
        assert view(exploration, **better).feasible


@pytest.mark.parametrize(
    "other",
    [
        *({"model": model} for model in ("AG_TS", "AG", "AG_CS", "CG", "CS", "TS", "AS")),
        *({"algorithm": each} for each in ("samarati", "mondrian", "top-down", "k-optimize")),
        {"local": True, "max_suppression": 0.5},
        {"levels": {"age": 1, "sex": 0}},
    ],
    ids=str,
)
def test_the_answer_of_each_way_to_generalise_is_said_in_german(other: dict[str, object]) -> None:
    found = view(explore(PEOPLE), k=3, **other)
    with speaking("de"), listening() as english:
        for text in filter(None, (found.sentence, found.remedy_label)):
            voice().say(text)
    assert found.sentence
    assert english == []
