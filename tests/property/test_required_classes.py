"""Classes that must pass more than k where tuples have values of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.hierarchies.preview import AlignedTable, align
from dpdesk.engine.methods.k_anonymity import required_cuts
from dpdesk.engine.methods.k_anonymity.celled import CellAssessment, judge_cells
from dpdesk.engine.methods.k_anonymity.globally import KOptimize
from dpdesk.engine.methods.k_anonymity.mondrian import mondrian
from dpdesk.engine.methods.k_anonymity.required import RequireParameter, requirements_of
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, SensitiveCounts, Values
from dpdesk.engine.methods.k_anonymity.scales import scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from tests.helpers.memory_tables import MemorySource
from tests.helpers.searching import examples
from tests.helpers.small_tables import SmallTable, small_tables
from tests.property.test_constrained_search import required
from tests.reference import cells, class_requirements
from tests.reference import mondrian as reference

_VALUES = ("a", "b", "c", "d")
_TREE = Hierarchy.from_rows(
    "s", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]
)
_PATHS = {row[0]: row for row in _TREE.rows()}


@dataclass(frozen=True)
class Sensitive:
    """A table with the values of two sensitive columns and what is asked of each."""

    table: SmallTable
    values: Sequence[tuple[str, str]]
    asked: tuple[Mapping[str, object], Mapping[str, object]]

    @property
    def constraints(self) -> Constraints:
        aligned = self.table.aligned
        leaves = [hierarchy.leaves for hierarchy in aligned.hierarchies]
        place = {
            tuple(texts[code] for texts, code in zip(leaves, row, strict=True)): at
            for at, row in enumerate(aligned.codes.tolist())
        }
        tuples = np.array([place[row] for row in self.table.rows])
        of, ones = Values.of(_VALUES, _TREE), np.ones(len(tuples), np.int64)
        counts = {
            name: SensitiveCounts(
                of, tuples, np.array([_VALUES.index(row[at]) for row in self.values]), ones
            )
            for at, name in enumerate("st")
        }
        reader = RequireParameter(key="require", label="", help="")
        listed = [{"attribute": name, **each} for name, each in zip("st", self.asked, strict=True)]
        return Constraints(requirements_of(reader.parse(listed, "plan")), counts)

    @property
    def apart(self) -> tuple[FrequencyTable, AlignedTable, Constraints]:
        """Rows that differ in a sensitive value alone as tuples of their own."""
        names = (*self.table.columns, "s", "t")
        rows = [(*row, *values) for row, values in zip(self.table.rows, self.values, strict=True)]
        joint = MemorySource.of(names, rows).frequency_table(names, CancelToken())
        size = len(self.table.columns)
        alone = FrequencyTable(
            names[:size], joint.domains[:size], joint.codes[:, :size], joint.counts
        )
        at, of = np.arange(len(joint.counts)), Values.of(_VALUES, _TREE)
        counts = {
            name: SensitiveCounts(
                of,
                at,
                np.array([_VALUES.index(v) for v in joint.domains[place]])[joint.codes[:, place]],
                joint.counts,
            )
            for place, name in enumerate("st", start=size)
        }
        aligned = align(alone, self.table.hierarchies, "test")
        return joint, aligned, Constraints(self.constraints.required, counts)

    def meets(self, rows: Sequence[int], everything: Sequence[int]) -> bool:
        """Whether rows, by number, pass beside all rows that count."""
        for at, each in enumerate(self.asked):
            inside, whole = ([self.values[row][at] for row in part] for part in (rows, everything))
            found = class_requirements.fits(each, inside, whole, _PATHS)
            assume(found is not None)
            if not found:
                return False
        return True


@st.composite
def tables(draw: st.DrawFn) -> Sensitive:
    table = draw(small_tables(least_rows=6))
    size = len(table.rows)
    pairs = st.tuples(st.sampled_from(_VALUES), st.sampled_from(_VALUES[:2]))
    values = draw(st.lists(pairs, min_size=size, max_size=size))
    free = {"model": "l-diversity", "variant": "distinct", "l": 1}
    return Sensitive(table, values, (draw(required), draw(st.one_of(st.just(free), required))))


@given(tables(), st.integers(2, 3), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_mondrian_cuts_where_both_sides_meet_what_is_asked(
    sensitive: Sensitive, k: int, along: bool, narrow: bool
) -> None:
    aligned, size = sensitive.table.aligned, len(sensitive.values)
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    place = scales, aligned.codes, aligned.counts, k
    with pytest.MonkeyPatch.context() as patch:
        if narrow:  # a few counts at a time, and parts of four rows and more level by level
            patch.setattr(required_cuts, "_MOST_COUNTS", 9)
            patch.setattr(required_cuts, "LEAST_PART", 3)
        parts = required_cuts.required_mondrian(
            *place, sensitive.constraints, CancelToken(), along=along
        )
    everything = range(size)
    assert (parts is not None) is sensitive.meets(everything, everything)
    if parts is None:
        return
    rows = [
        (*(int(s.places[s.hierarchy.leaves.index(v)]) for s, v in zip(scales, row, strict=True)), n)
        for n, row in enumerate(sensitive.table.rows)
    ]
    trees = [scale.nodes.tolist() for scale in scales]

    def meets(some: Sequence[reference.Row]) -> bool:
        return sensitive.meets([row[-1] for row in some], everything)

    found = reference.strict_parts(rows, trees, k, along=along, meets=meets)
    expected = [sorted({row[:-1] for row in part}) for part in found]
    held = [
        sorted(map(tuple, parts.places[low:high].tolist()))
        for low, high in zip(parts.starts, parts.starts[1:], strict=False)
    ]
    assert held == expected


def test_nothing_required_gives_the_cuts_of_k_alone() -> None:
    """Columns of different lengths, all with groups: parts side by side are cut at either."""
    draw = np.random.default_rng(1)
    scales = [
        scale_of(
            Hierarchy.from_rows(
                name, [(f"{v}", f"{v // 3}+", f"{v // 6}++", "*") for v in range(length)]
            ),
            frozenset(),
            by_size=False,
        )
        for name, length in (("a", 4), ("b", 40), ("c", 9))
    ]
    codes = np.stack([draw.integers(0, len(s.places), 400) for s in scales], axis=1)
    codes, counts = np.unique(codes.astype(np.int32), axis=0, return_counts=True)
    free = requirements_of(RequireParameter(key="require", label="", help="").parse(
        [{"model": "l-diversity", "attribute": "s", "l": 1}], "plan"
    ))  # fmt: skip
    at = np.arange(len(counts))
    held = {"s": SensitiveCounts(Values.of(_VALUES, _TREE), at, at % 4, counts)}
    place = scales, codes, counts, 3
    for along in (True, False):
        expected = mondrian(*place, CancelToken(), along=along)
        asked = Constraints(free, held)
        found = required_cuts.required_mondrian(*place, asked, CancelToken(), along=along)
        assert found is not None
        groups = [
            {frozenset(part.tolist()) for part in np.split(each.tuples, each.starts[1:-1])}
            for each in (found, expected)
        ]
        assert groups[0] == groups[1]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("apart", "found"), [(Fraction(1, 2), True), (Fraction(1, 3), False)])
def test_rows_that_no_class_can_join_are_measured_against_all_rows(
    strict: bool, apart: Fraction, found: bool
) -> None:
    """Each half has one value, as far from all rows as ½: it may not stay a class of its own."""
    tree = Hierarchy.from_rows("a", [(f"{h}{n}", h, "*") for h in "xy" for n in "12"])
    rows = tuple((f"{half}{n}",) for half in "xy" for n in "1122")
    table = SmallTable(("a",), rows, {"a": tree})
    closeness = {"model": "t-closeness", "variant": "equal", "t": float(apart)}
    free = {"model": "l-diversity", "variant": "distinct", "l": 1}
    values = [("a" if row[0] < "y" else "b", "a") for row in rows]
    _, aligned, asked = Sensitive(table, values, (closeness, free)).apart
    keys = {"k": 2, "algorithm": "mondrian", "strict": strict, "max_level": {"a": 1}}
    plan = Settings.from_parameters(parse_parameters(PARAMETERS, keys, "test"))
    if found:
        assert judge_cells(aligned, plan, {}, CancelToken(), asked).statistics.kept == len(rows)
    else:
        with pytest.raises(RefusedError):
            judge_cells(aligned, plan, {}, CancelToken(), asked)


_WAYS = (
    {"algorithm": "mondrian"},
    {"algorithm": "mondrian", "values": "ranges"},
    {"algorithm": "top-down"},
    {"local": True, "max_suppression": Fraction(1, 2)},
    {"local": True, "algorithm": "samarati", "max_suppression": Fraction(1, 2)},
    {"algorithm": "k-optimize"},
    {"model": "AS"},
)


@given(tables(), st.integers(2, 3), st.sampled_from(_WAYS))
@settings(deadline=None, max_examples=50)
def test_every_class_of_the_rows_kept_meets_what_is_asked(
    sensitive: Sensitive, k: int, way: Mapping[str, object]
) -> None:
    """Classes are equal released tuples; t-closeness is against the rows that are released."""
    asked = sensitive.constraints
    plan = Settings.from_parameters(parse_parameters(PARAMETERS, {"k": k, **way}, "test"))
    everything = range(len(sensitive.values))
    given_table = sensitive.table.aligned
    if "local" not in way and not sensitive.meets(everything, everything):
        with pytest.raises(RefusedError, match="no classes of them can"):
            judge_cells(given_table, plan, {}, CancelToken(), asked)
        return
    try:
        release = judge_cells(given_table, plan, {}, CancelToken(), asked).release
    except RefusedError:
        assume("local" not in way)
        raise
    counted = sensitive.table.source.frequency_table(sensitive.table.columns, CancelToken())
    recoding = release.recoding(counted, ())
    tuple_of = {
        tuple(domain[code] for domain, code in zip(counted.domains, codes, strict=True)): at
        for at, codes in enumerate(counted.codes.tolist())
    }
    target = dict(zip(recoding.source.tolist(), recoding.target.tolist(), strict=True))
    classes: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(sensitive.table.rows):
        if target[tuple_of[row]] >= 0:
            shown = recoding.targets[target[tuple_of[row]]].tolist()
            texts = tuple(labels[c] for labels, c in zip(recoding.labels, shown, strict=True))
            classes.setdefault(texts, []).append(number)
    kept = [number for rows in classes.values() for number in rows]
    assert len(kept) >= len(sensitive.values) - plan.allowed(len(sensitive.values))
    assert all(len(rows) >= k and sensitive.meets(rows, kept) for rows in classes.values())


def _kept(sensitive: Sensitive, classes: Sequence[object], k: int) -> list[bool]:
    """Which rows stay by the definitions: all classes that fail leave at once, again and again."""
    asked = [(at, each, _PATHS) for at, each in enumerate(sensitive.asked)]
    found = class_requirements.kept(sensitive.values, classes, asked, k)
    assume(found is not None)
    return found or []


@given(tables(), st.integers(2, 4), st.sampled_from([0, 0.2, 1]))
@settings(deadline=None, max_examples=25)
def test_k_optimize_finds_the_least_discernibility_of_all_cuts_that_pass(
    sensitive: Sensitive, k: int, share: float
) -> None:
    aligned, size = sensitive.table.aligned, len(sensitive.values)
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    rows = [
        tuple(int(s.places[s.hierarchy.leaves.index(v)]) for s, v in zip(scales, row, strict=True))
        for row in sensitive.table.rows
    ]
    cuts = [(j, value) for j in range(len(scales)) for value in sorted({r[j] for r in rows})[:-1]]
    assume(len(cuts) <= 5)
    costs = []
    for chosen in product([False, True], repeat=len(cuts)):
        used = [cut for cut, there in zip(cuts, chosen, strict=True) if there]
        classes = [tuple(row[j] > value for j, value in used) for row in rows]
        kept = _kept(sensitive, classes, k)
        if any(kept) and size - sum(kept) <= int(share * size):
            sizes = Counter(each for each, stays in zip(classes, kept, strict=True) if stays)
            costs.append(sum(n * n for n in sizes.values()) + (size - sum(kept)) * size)
    places = np.array([scale.places[aligned.codes[:, j]] for j, scale in enumerate(scales)]).T
    place = places, aligned.counts, k, int(share * size)
    found = KOptimize(*place, sensitive.constraints).search(CancelToken())
    assert (found is None) is (not costs)
    if found is not None:
        assert (found.cost, found.optimality) == (min(costs), "proven optimal")


@given(tables(), st.integers(2, 3))
@settings(deadline=None, max_examples=40)
def test_whole_columns_are_suppressed_at_the_least_loss_of_all_that_pass(
    sensitive: Sensitive, k: int
) -> None:
    rows, size = sensitive.table.rows, len(sensitive.values)
    held = [len(tree.leaves) > 1 for tree in sensitive.table.aligned.hierarchies]
    least = min(
        (
            Fraction(sum(a and b for a, b in zip(hidden, held, strict=True)), len(held))
            for hidden in product([False, True], repeat=len(held))
            if all(
                _kept(
                    sensitive,
                    [tuple("*" if h else v for v, h in zip(r, hidden, strict=True)) for r in rows],
                    k,
                )
            )
        ),
        default=None,
    )
    keys = parse_parameters(PARAMETERS, {"k": k, "model": "AS"}, "test")
    plan = Settings.from_parameters(keys)
    if least is None:
        with pytest.raises(RefusedError):
            judge_cells(sensitive.table.aligned, plan, {}, CancelToken(), sensitive.constraints)
        return
    found = judge_cells(sensitive.table.aligned, plan, {}, CancelToken(), sensitive.constraints)
    assert found.found.optimality == "proven optimal"
    assert found.metrics["loss"] == pytest.approx(float(least))
    assert found.statistics.kept == size


def _released(sensitive: Sensitive, way: Mapping[str, object]) -> CellAssessment | None:
    """What settings give where equal rows may be divided, each class of the rows judged by the
    definitions; None where all rows together do not pass.
    """
    joint, aligned, asked = sensitive.apart
    plan = Settings.from_parameters(parse_parameters(PARAMETERS, dict(way), "test"))
    size, everything = len(sensitive.values), range(len(sensitive.values))
    if not sensitive.meets(everything, everything):
        with pytest.raises(RefusedError, match="no classes of them can"):
            judge_cells(aligned, plan, {}, CancelToken(), asked)
        return None
    found = judge_cells(aligned, plan, {}, CancelToken(), asked)
    recoding = found.release.recoding(joint, ())
    assert recoding.told_apart == ("s", "t")
    waiting: dict[tuple[str, ...], list[int]] = {}
    for number, (row, values) in enumerate(
        zip(sensitive.table.rows, sensitive.values, strict=True)
    ):
        waiting.setdefault((*row, *values), []).append(number)
    classes: dict[tuple[str, ...], list[int]] = {}
    entries = zip(recoding.source.tolist(), recoding.target.tolist(), recoding.rows, strict=True)
    for source, target, rows in entries:
        raw = [d[c] for d, c in zip(joint.domains, joint.codes[source], strict=True)]
        shown = recoding.targets[target]
        texts = tuple(labels[c] for labels, c in zip(recoding.labels, shown, strict=True))
        assert list(texts[-2:]) == raw[-2:]
        numbers = waiting[tuple(raw)]
        classes.setdefault(texts[:-2], []).extend(numbers[:rows])
        del numbers[:rows]
    assert sum(map(len, classes.values())) == size
    assert found.statistics.smallest == min(map(len, classes.values()))
    k = plan.k
    assert all(len(c) >= k and sensitive.meets(c, everything) for c in classes.values())
    return found


@given(tables(), st.integers(2, 3), st.sampled_from(["CG", "CS"]))
@settings(deadline=None, max_examples=40)
def test_cells_are_generalised_at_the_least_loss_of_all_classes_that_pass(
    sensitive: Sensitive, k: int, model: str
) -> None:
    table = sensitive.table
    rows = table.rows[:7]
    sensitive = Sensitive(
        SmallTable(table.columns, rows, table.hierarchies), sensitive.values[:7], sensitive.asked
    )
    found = _released(sensitive, {"k": k, "model": model})
    paths = table.paths
    if model == "CS":
        paths = [{v: [v, "*"] for v in path} for path in paths]
    least = cells.least_loss(rows, paths, k, lambda c: sensitive.meets(c, range(len(rows))))
    assert (found is None) is (least is None)
    if found is not None and least is not None:
        assert found.found.internal["loss_of_cells"] == pytest.approx(float(least))
        assert found.found.optimality == "proven optimal"


@given(tables(), st.integers(2, 3))
@settings(deadline=None, max_examples=examples(15))
def test_levels_with_suppressed_cells_are_the_best_of_all_that_pass(
    sensitive: Sensitive, k: int
) -> None:
    table = sensitive.table
    rows = table.rows[:6]
    sensitive = Sensitive(
        SmallTable(table.columns, rows, table.hierarchies), sensitive.values[:6], sensitive.asked
    )
    found = _released(sensitive, {"k": k, "model": "AG_CS"})
    losses = []
    for levels in product(*(range(table.hierarchies[name].height + 1) for name in table.columns)):
        paths = [
            {value: [path[level], "*"] for value, path in each.items()}
            for each, level in zip(table.paths, levels, strict=True)
        ]
        meets = lambda c: sensitive.meets(c, range(len(rows)))  # noqa: E731
        losses.append(cells.least_loss(rows, paths, k, meets))
    known = [float(each) for each in losses if each is not None]
    if found is not None:
        assert found.metrics["loss"] == pytest.approx(min(known))
        assert found.found.optimality == "proven optimal"


@given(tables(), st.integers(2, 3), st.sampled_from(["nodes", "ranges"]), st.booleans())
@settings(deadline=None, max_examples=40)
def test_relaxed_classes_pass_and_no_cut_would_leave_two_that_do(
    sensitive: Sensitive, k: int, values: str, narrow: bool
) -> None:
    way = {"k": k, "algorithm": "mondrian", "strict": False, "values": values}
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setattr(required_cuts, "_MOST_COUNTS", 9)
        found = _released(sensitive, way)
    if found is None:
        return
    _, aligned, asked = sensitive.apart
    scales = [scale_of(each, frozenset(), by_size=False) for each in aligned.hierarchies]
    place = scales, aligned.codes, aligned.counts, k, asked, CancelToken()
    parts = required_cuts.required_mondrian(*place, strict=False)
    assert parts is not None
    whole = asked.whole
    for low, high in zip(parts.starts, parts.starts[1:], strict=False):
        tuples, rows = parts.tuples[low:high], parts.rows[low:high]
        entries = asked.divided(tuples, rows)
        for column in parts.places[low:high].T:
            for value in np.unique(column)[:-1]:
                side = (column > value).astype(np.int64)
                if np.bincount(side, rows).min() >= k:
                    assert not entries.passing(side, np.ones(2, np.bool_), whole).all()
