"""Known answers, limits, progress and cancel of the lattice searches."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Event, Note, StepProgress, silent
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.methods.k_anonymity import lattice, packing, search
from dpdesk.engine.methods.k_anonymity.anytime import anytime_search, node_budget
from dpdesk.engine.methods.k_anonymity.bounded import MAX_BOUNDED_NODES, bounded_search
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, generalised_classes
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, LogSum, evaluate_node
from dpdesk.engine.methods.k_anonymity.packing import PackedLattice
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.engine.methods.k_anonymity.search import (
    TaskRanges,
    best_of,
    most_held,
    optimal_search,
    walk_lattice,
    walk_work,
    worth_walking,
)
from dpdesk.engine.methods.k_anonymity.statistics import MEMORY, LatticeStatistics, recommended_ks
from dpdesk.engine.methods.k_anonymity.worker import Roller, Stopped
from tests.helpers.lattice_tables import aligned

RACE = Hierarchy.from_rows("Race", [[race, "person"] for race in ("asian", "black", "white")])
ZIP = Hierarchy.from_rows(
    "ZIP",
    [[code, code[:4] + "*", code[:3] + "**"] for code in ("94138", "94139", "94141", "94142")],
)
COURSE_ROWS = [
    ("asian", "94142"),
    ("asian", "94141"),
    ("asian", "94139"),
    ("asian", "94139"),
    ("asian", "94139"),
    ("black", "94138"),
    ("black", "94139"),
    ("white", "94139"),
    ("white", "94141"),
]


@pytest.fixture(scope="module")
def course() -> LatticeProblem:
    """The nine-row Race and ZIP table of the course text."""
    return LatticeProblem.from_aligned(aligned(COURSE_ROWS, (RACE, ZIP)))


@pytest.fixture(scope="module")
def adult(real_data: Path) -> LatticeProblem:
    """The 30,162-row Adult extract with its nine hierarchies."""
    folder = real_data / "arx-adult"
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, delimiter=";")
    hierarchies = []
    for name in names:
        path = folder / f"adult_hierarchy_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            hierarchies.append(Hierarchy.from_rows(name, list(csv.reader(file, delimiter=";"))))
    return LatticeProblem.from_aligned(aligned([tuple(row) for row in rows], hierarchies))


def wide_problem(attributes: int, leaves: int, height: int = 1) -> LatticeProblem:
    """Random tuples over many attributes; their keys need several words."""
    rng = np.random.default_rng(7)
    hierarchies = tuple(
        Hierarchy.from_rows(f"q{j}", [[str(leaf), *(["*"] * height)] for leaf in range(leaves)])
        for j in range(attributes)
    )
    codes = rng.integers(0, leaves, (40, attributes)).astype(np.int32)
    codes[20:, :-1] = codes[:20, :-1]
    table = AlignedTable(
        tuple(h.attribute for h in hierarchies), hierarchies, codes, np.full(40, 2, np.int64)
    )
    return LatticeProblem.from_aligned(table)


def test_two_suppressed_rows_allow_two_minimal_nodes_of_the_course_table(
    course: LatticeProblem,
) -> None:
    statistics = walk_lattice(course, [2], CancelToken(), silent)
    found = np.flatnonzero(statistics.minimal(2, 2))
    assert [course.levels(int(index)) for index in found] == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("prefer", "node"),
    [
        # Both suppress two rows; [1, 0] keeps two classes, [0, 1] two as well.
        ("minimum-absolute-distance", (0, 1)),
        ("minimum-relative-distance", (0, 1)),
        ("maximum-distribution", (0, 1)),
        ("minimum-suppression", (0, 1)),
    ],
)
def test_samarati_prefers_among_the_minimal_nodes_of_the_course_table(
    course: LatticeProblem, prefer: str, node: tuple[int, int]
) -> None:
    found = samarati(course, 2, 2, prefer, CancelToken(), silent)
    assert found.node == node
    assert found.statistics is not None
    assert found.statistics.suppressed <= 2


def test_adult_has_its_known_optimum_for_discernibility(adult: LatticeProblem) -> None:
    assert (adult.rows, adult.node_count) == (30_162, 12_960)
    found = optimal_search(adult, "discernibility", 5, 603, CancelToken(), silent)
    assert found.node is not None
    assert found.statistics is not None
    assert dict(zip(adult.attributes, found.node, strict=True)) == {
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
    assert found.statistics.discernibility == 7_220_555
    assert found.statistics.suppressed <= 603


def test_the_walk_and_single_nodes_agree_on_adult(adult: LatticeProblem) -> None:
    statistics = walk_lattice(adult, recommended_ks(adult, [5]), CancelToken(), silent)
    for index in range(0, adult.node_count, 1297):
        for k in (2, 5, 50, 5000):
            single = evaluate_node(adult, adult.levels(index), k)
            assert statistics.suppressed(k)[index] == single.suppressed
            assert statistics.classes(k)[index] == single.classes
            for name in OBJECTIVES:
                found = statistics.objective(name, k)[index]
                assert found == pytest.approx(single.objective(name), rel=1e-9, abs=1e-9)


def test_the_anytime_search_comes_close_on_adult_after_a_tenth_of_the_nodes(
    adult: LatticeProblem,
) -> None:
    statistics = walk_lattice(adult, [5], CancelToken(), silent)
    for objective in OBJECTIVES:
        optimum = best_of(statistics, objective, 5, 603).statistics
        found = anytime_search(adult, objective, 5, 603, CancelToken(), silent, 1_296).statistics
        assert optimum is not None
        assert found is not None
        assert found.objective(objective) <= 1.05 * optimum.objective(objective)


def test_keys_of_several_words_count_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = wide_problem(attributes=10, leaves=300)
    assert PackedLattice.of(problem, CancelToken()).words == 2
    statistics = walk_lattice(problem, [2, 3, 4, 41], CancelToken(), silent, threads=2)
    for index in range(problem.node_count):
        single = evaluate_node(problem, problem.levels(index), 4)
        assert statistics.suppressed(4)[index] == single.suppressed
        assert statistics.sum_of_squares(4)[index] == single.sum_of_squares


def test_an_attribute_of_thousands_of_values_is_added_up_value_by_value() -> None:
    rng = np.random.default_rng(5)
    wide = Hierarchy.from_rows("wide", [[f"{v}", f"g{v // 7}", "*"] for v in range(5000)])
    others = [Hierarchy.from_rows(n, [[f"{v}", "*"] for v in range(6)]) for n in "ab"]
    rows = [(str(w), str(a), str(b)) for w, a, b in rng.integers(0, (5000, 6, 6), (4000, 3))]
    problem = LatticeProblem.from_aligned(aligned(rows, [wide, *others]))
    assert problem.attributes[PackedLattice.of(problem, CancelToken()).order[-1]] == "wide"
    statistics = walk_lattice(problem, [2], CancelToken(), silent)
    for index in range(problem.node_count):
        single = evaluate_node(problem, problem.levels(index), 2)
        assert statistics.suppressed(2)[index] == single.suppressed
        assert statistics.sum_of_squares(2)[index] == single.sum_of_squares
        assert statistics.objective("loss", 2)[index] == pytest.approx(float(single.loss))


def test_a_lattice_too_large_to_walk_is_searched_all_the_same() -> None:
    problem = wide_problem(attributes=80, leaves=2)
    assert problem.node_count == 2**80
    with pytest.raises(ValueError, match="too many"):
        optimal_search(problem, "loss", 4, 10, CancelToken(), silent)
    events: list[Event] = []
    found = anytime_search(problem, "loss", 4, 10, CancelToken(), events.append, 400)
    assert found.node is not None
    assert found.statistics == evaluate_node(problem, found.node, 4)
    assert found.statistics.suppressed <= 10
    assert not found.proven_optimal
    assert found.nodes_checked <= 400
    assert any(isinstance(event, Note) for event in events)
    assert found == anytime_search(problem, "loss", 4, 10, CancelToken(), silent, 400)


def test_a_k_above_the_number_of_rows_has_no_feasible_node(course: LatticeProblem) -> None:
    for found in (
        optimal_search(course, "loss", 10, 9, CancelToken(), silent),
        samarati(course, 10, 9, PREFERENCES[0], CancelToken(), silent),
        anytime_search(course, "loss", 10, 9, CancelToken(), silent),
    ):
        assert found.node is None
        assert found.statistics is None
        assert not found.proven_optimal
        assert found.least_suppressed[1] == 9


def test_large_classes_do_not_overflow() -> None:
    table = AlignedTable(
        ("Race", "ZIP"),
        (RACE, ZIP),
        np.array([[0, 0], [1, 3]], np.int32),
        np.array([10**9, 10**9 + 7], np.int64),
    )
    problem = LatticeProblem.from_aligned(table)
    statistics = walk_lattice(problem, [5, 10**9 + 1], CancelToken(), silent)
    assert statistics.sum_of_squares(5)[-1] == (2 * 10**9 + 7) ** 2
    for k in (5, 10**9 + 1):
        for index in range(problem.node_count):
            single = evaluate_node(problem, problem.levels(index), k)
            for name in OBJECTIVES:
                found = statistics.objective(name, k)[index]
                assert found == pytest.approx(single.objective(name), rel=1e-7)


def test_more_rows_than_can_be_counted_are_refused() -> None:
    table = AlignedTable(("Race",), (RACE,), np.array([[0]], np.int32), np.array([2**31], np.int64))
    with pytest.raises(ValueError, match="rows"):
        LatticeProblem.from_aligned(table)


def test_asking_for_a_k_that_was_not_walked_is_an_error(course: LatticeProblem) -> None:
    statistics = walk_lattice(course, [2, 4], CancelToken(), silent)
    with pytest.raises(KeyError, match="k = 3"):
        statistics.suppressed(3)
    with pytest.raises(KeyError):
        statistics.objective("cost", 2)


@pytest.mark.parametrize("ks", [[], [0, 2]])
def test_a_walk_needs_a_k_of_at_least_one(course: LatticeProblem, ks: list[int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        walk_lattice(course, ks, CancelToken(), silent)


def test_progress_ends_with_every_node_and_never_falls(course: LatticeProblem) -> None:
    events: list[Event] = []
    walk_lattice(course, [2], CancelToken(), events.append)
    done = [event.done for event in events if isinstance(event, StepProgress)]
    assert done == sorted(done)
    assert done[-1] == course.node_count == 6


def test_every_search_stops_when_cancelled_in_its_course(course: LatticeProblem) -> None:
    def search(which: int) -> None:
        token = CancelToken()

        def cancel(event: Event) -> None:
            token.cancel()

        if which == 0:
            walk_lattice(course, [2], token, cancel)
        elif which == 1:
            samarati(course, 2, 2, PREFERENCES[0], token, cancel)
        else:
            anytime_search(course, "loss", 2, 2, token, cancel)

    for which in range(3):
        with pytest.raises(Cancelled):
            search(which)


@pytest.mark.parametrize("size", [0, 1, 50, 1000])
def test_keys_sorted_in_pieces_are_sorted(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(packing, "_PIECE", 30)
    rng = np.random.default_rng(3)
    keys = np.stack([rng.integers(0, 40, size), rng.integers(0, 1000, size)])
    found = packing._sorted_ranks(keys, CancelToken())
    assert (found == np.lexsort(keys[::-1])).all()


def test_sorting_ends_between_two_pieces_when_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_PIECE", 1)

    class CancelledLater(CancelToken):
        checks = 0

        def check(self) -> None:
            self.checks += 1
            if self.checks > 1:
                self.cancel()
            super().check()

    with pytest.raises(Cancelled):
        packing._sorted_ranks(np.arange(1000)[None], CancelledLater())


def test_a_walk_is_refused_by_the_work_it_would_be(course: LatticeProblem) -> None:
    # 9 tuples, 6 distinct combinations at most: nodes with 12, 6, 3 and 4, 2, 1 combinations.
    assert len(course.counts) == 7
    assert walk_work(course) == 7 + 6 + 3 + 4 + 2 + 1
    assert worth_walking(course)


def test_work_is_estimated_at_once_and_too_many_nodes_are_never_walked(
    course: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_WALK_WORK", 22)
    assert not worth_walking(course)
    monkeypatch.setattr(search, "MAX_WALK_WORK", 23)
    assert worth_walking(course)
    monkeypatch.setitem(course.__dict__, "node_count", lattice.MAX_WALK_NODES + 1)
    assert not worth_walking(course)


def test_branch_and_bound_counts_a_small_part_of_adult(adult: LatticeProblem) -> None:
    statistics = walk_lattice(adult, [5], CancelToken(), silent)
    for objective in OBJECTIVES:
        found = bounded_search(adult, objective, 5, 603, CancelToken(), silent)
        assert found.node == best_of(statistics, objective, 5, 603).node
        assert found.proven_optimal
        assert found.nodes_checked < adult.node_count / 4


def test_branch_and_bound_stops_when_cancelled_and_refuses_too_many_nodes(
    course: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        bounded_search(course, "loss", 2, 2, token, lambda event: token.cancel())
    monkeypatch.setitem(course.__dict__, "node_count", MAX_BOUNDED_NODES + 1)
    with pytest.raises(ValueError, match="too many"):
        bounded_search(course, "loss", 2, 2, CancelToken(), silent)


def test_a_set_flag_ends_a_roll_up(course: LatticeProblem) -> None:
    roller = Roller(PackedLattice.of(course, CancelToken()), np.ones(1, np.uint8))
    with pytest.raises(Stopped):
        roller.table([1])


def test_a_listener_that_fails_ends_the_walk_and_is_heard(course: LatticeProblem) -> None:
    def fail(event: Event) -> None:
        if isinstance(event, StepProgress) and event.done:
            raise RuntimeError("listener")

    with pytest.raises(RuntimeError, match="listener"):
        walk_lattice(course, [2], CancelToken(), fail)


def test_workers_share_all_tasks_without_a_repeat() -> None:
    ranges = TaskRanges(10, 3)
    taken = [ranges.take(0) for _ in range(7)]
    taken += [ranges.take(2), ranges.take(1), ranges.take(1)]
    assert sorted(task for task in taken if task is not None) == list(range(10))
    assert ranges.take(0) is None


def test_the_ks_to_walk_fit_the_memory_and_keep_the_wanted_ones(
    course: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recommended_ks(course, [250, 3]).tolist() == [*range(2, 101), 250]
    monkeypatch.setitem(course.__dict__, "node_count", 2_000_000)
    few = recommended_ks(course, [250, 3])
    assert few.tolist() == [2, 3, 250]
    assert len(few) * 2_000_000 * 40 <= MEMORY
    monkeypatch.setitem(course.__dict__, "node_count", 10**9)
    assert recommended_ks(course, [250, 3]).tolist() == [250]


def test_node_numbers_and_levels_are_inverse(course: LatticeProblem) -> None:
    assert [course.levels(index) for index in range(6)] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    assert [course.index(course.levels(index)) for index in range(6)] == list(range(6))


def test_classes_of_a_node_come_sorted_with_their_rows(course: LatticeProblem) -> None:
    codes, rows = generalised_classes(course, (1, 1))
    assert codes.tolist() == [[0, 0], [0, 1]]
    assert rows.tolist() == [6, 3]


def test_equal_sums_of_logarithms_compare_as_equal_whatever_their_terms() -> None:
    assert LogSum({4: 2}) == LogSum({2: 4})
    assert LogSum({6: 1}) == LogSum({2: 1, 3: 1})
    assert LogSum({2: 3}) < LogSum({3: 2})
    # The two logarithms differ by less than one part in a hundred thousand.
    assert 3**306 < 2**485
    assert LogSum({3: 306}) < LogSum({2: 485})
    assert not LogSum({2: 485}) < LogSum({3: 306})


def test_a_budget_is_smaller_for_larger_tables(course: LatticeProblem) -> None:
    assert node_budget(course) == 20_000
    large = LatticeProblem(
        course.attributes, course.hierarchies, course.codes, np.ones(10**7, np.int64)
    )
    assert node_budget(large) == 500


def test_a_wider_hierarchy_than_a_byte_counts_is_walked() -> None:
    problem = wide_problem(attributes=1, leaves=2, height=130)
    statistics: LatticeStatistics = walk_lattice(problem, [2], CancelToken(), silent)
    assert statistics.levels[-1, 0] == 130
    assert statistics.suppressed(2)[-1] == 0


def test_the_walk_refuses_more_nodes_than_it_can_hold(
    course: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(course.__dict__, "node_count", lattice.MAX_WALK_NODES + 1)
    with pytest.raises(ValueError, match="too many"):
        walk_lattice(course, [2], CancelToken(), silent)


def test_measures_carry_the_names_of_the_manifest(course: LatticeProblem) -> None:
    found = evaluate_node(course, (1, 0), 2)
    assert found.metrics() == {
        "discernibility": 25 + 4 + 2 * 9,
        "average_class_size": 7 / 2 / 2,
        "loss": float((Fraction(1) + Fraction(2, 9)) / 2),
        "precision": float(1 - (Fraction(1) + Fraction(2, 9)) / 2),
        "entropy": pytest.approx(found.entropy),
    }


def test_a_walk_takes_as_many_threads_as_there_is_memory_for_their_tables(
    course: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = PackedLattice.of(course, CancelToken())
    a_thread = most_held(course, packed.order) * search.bytes_of_a_group(packed)
    monkeypatch.setattr(search.os, "cpu_count", lambda: 4)
    for share, threads in ((0.5, 1), (1.0, 1), (2.5, 2), (100.0, 4)):
        monkeypatch.setattr(search, "_THREAD_MEMORY", share * a_thread)
        assert search._threads(packed) == threads
