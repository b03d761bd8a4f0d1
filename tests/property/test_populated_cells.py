"""k-map where tuples have cells of their own, against a look at every row of the population."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import FrequencyTable, Population
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import CheckStatus
from dpdesk.engine.hierarchies.preview import AlignedTable, align
from dpdesk.engine.methods.k_anonymity.celled import CellAssessment, judge_cells, with_population
from dpdesk.engine.methods.k_anonymity.matched_cells import MatchedCells, shown_over
from dpdesk.engine.methods.k_anonymity.mondrian import matched_mondrian
from dpdesk.engine.methods.k_anonymity.population import PopulationRows
from dpdesk.engine.methods.k_anonymity.required import RequireParameter, requirements_of
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, SensitiveCounts, Values
from dpdesk.engine.methods.k_anonymity.scales import Scale, scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from dpdesk.verifiers.anonymity.remaking import Asked, cells_check
from tests.helpers.memory_tables import MemoryPublished, MemorySource
from tests.helpers.searching import examples
from tests.helpers.small_tables import SmallTable, small_tables
from tests.reference import class_requirements
from tests.reference import mondrian as reference

Row = tuple[str, ...]
WAYS: tuple[dict[str, object], ...] = (
    {"algorithm": "mondrian"},
    {"algorithm": "top-down"},
    {"model": "CG"},
    {"model": "CS"},
    {"model": "AG_CS"},
    {"model": "AS"},
    {"local": True, "max_suppression": 0.5},
)


@dataclass(frozen=True)
class Peopled:
    """A table, and a population that holds its rows and others."""

    table: SmallTable
    others: tuple[Row, ...]

    @property
    def people(self) -> tuple[Row, ...]:
        return self.table.rows + self.others

    @property
    def counted(self) -> Population:
        source = MemorySource.of(self.table.columns, self.people, missing=())
        return Population("all.csv", "", source.frequency_table(self.table.columns, CancelToken()))

    def rows(self, k_map: int, table: AlignedTable | None = None) -> PopulationRows:
        missing = (frozenset(),) * len(self.table.columns)
        table = replace(table or self.table.aligned, missing=missing)
        return PopulationRows.of(table, self.counted, self.table.hierarchies, {}, (k_map, None))

    def matching(self, cells: Sequence[str], *, stars: bool) -> int:
        """Rows of the population of which a row with these cells may be."""
        paths = [
            {value: [value, "*"] if stars else path for value, path in each.items()}
            for each in self.table.paths
        ]
        return sum(
            all(cell in path[value] for cell, path, value in zip(cells, paths, row, strict=True))
            for row in self.people
        )


@st.composite
def peopled(draw: st.DrawFn) -> Peopled:
    table = draw(small_tables(least_rows=4))
    row = st.tuples(*(st.sampled_from(table.hierarchies[name].leaves) for name in table.columns))
    again = st.sampled_from(table.rows)
    drawn = draw(st.lists(st.tuples(st.one_of(again, row), st.integers(1, 6)), max_size=10))
    return Peopled(table, tuple(each for each, times in drawn for _ in range(times)))


def scales_of(drawn: Peopled) -> tuple[Scale, ...]:
    trees = drawn.table.aligned.hierarchies
    return tuple(scale_of(tree, frozenset(), by_size=False) for tree in trees)


@settings(deadline=None, max_examples=examples(100))
@given(peopled(), st.data())
def test_rows_below_cells_are_counted(drawn: Peopled, data: st.DataObject) -> None:
    scales = scales_of(drawn)
    matched = MatchedCells.of(drawn.rows(3), scales)
    ends = [data.draw(st.tuples(*(st.integers(0, scale.leaves - 1),) * 2)) for scale in scales]
    low, high = np.sort(np.array(ends), axis=1).T.reshape(2, 1, -1)
    shown = shown_over(scales, low, high)
    cells = [scale.texts[node] for scale, node in zip(scales, shown[0].tolist(), strict=True)]
    expected = drawn.matching(cells, stars=False)
    assert matched.counted(shown).tolist() == [expected]
    assert matched.passing(shown).tolist() == [expected >= 3]


@settings(deadline=None, max_examples=examples(100))
@given(peopled(), st.integers(2, 4), st.integers(2, 14), st.booleans())
def test_strict_parts_are_those_of_the_definition(
    drawn: Peopled, k: int, k_map: int, along: bool
) -> None:
    scales, table = scales_of(drawn), drawn.table.aligned
    rows = [
        tuple(int(scale.places[code]) for scale, code in zip(scales, codes, strict=True))
        for codes, count in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
        for _ in range(count)
    ]

    def meets(part: Sequence[tuple[int, ...]]) -> bool:
        cells = []
        for scale, values in zip(scales, zip(*part, strict=True), strict=True):
            nodes = next(
                nodes for nodes in scale.nodes.tolist() if len({nodes[v] for v in values}) == 1
            )
            cells.append(scale.texts[nodes[values[0]]])
        return drawn.matching(cells, stars=False) >= k_map

    matched = MatchedCells.of(drawn.rows(k_map), scales)
    place = scales, table.codes, table.counts, k
    parts = matched_mondrian(*place, matched, CancelToken(), along=along)
    if not meets(rows):
        assert parts is None
        return
    assert parts is not None
    trees = [scale.nodes.tolist() for scale in scales]
    expected = reference.strict_parts(rows, trees, k, along=along, meets=meets)
    found = []
    for low, high in zip(parts.starts, parts.starts[1:], strict=False):
        part: Counter[tuple[int, ...]] = Counter()
        for at in range(int(low), int(high)):
            part[tuple(parts.places[at].tolist())] += int(parts.rows[at])
        found.append(part)
    assert found == [Counter(part) for part in expected]


def released(drawn: Peopled, k: int, k_map: int, **keys: object) -> CellAssessment:
    plan = {"k": k, "population": "all.csv", "k_map": k_map, **keys}
    chosen = Settings.from_parameters(parse_parameters(PARAMETERS, plan, "test"))
    asked = with_population(None, drawn.rows(k_map), chosen)
    return judge_cells(drawn.table.aligned, chosen, {}, CancelToken(), asked)


@st.composite
def sensitive(draw: st.DrawFn) -> tuple[Peopled, list[str], dict[str, object]]:
    """Also a value of a sensitive column in each row, and what is required of it."""
    drawn, shares = draw(peopled()), st.sampled_from([0.2, 0.3, 0.5])
    one = st.sampled_from("aab")
    values = draw(st.lists(one, min_size=len(drawn.table.rows), max_size=len(drawn.table.rows)))
    ways = [
        {"model": "l-diversity", "variant": "distinct", "l": 2},
        {"model": "l-diversity", "variant": "entropy", "l": 2},
        {"model": "l-diversity", "variant": "recursive", "l": 2, "c": 2},
        {"model": "t-closeness", "variant": "equal", "t": draw(shares)},
        {"model": "alpha-k", "alpha": 0.75},
        {"model": "beta-likeness", "variant": "basic", "beta": 1.0},
    ]
    return drawn, values, draw(st.sampled_from(ways))


@settings(deadline=None, max_examples=examples(100))
@given(sensitive(), st.integers(2, 3), st.integers(2, 12), st.sampled_from(WAYS))
def test_classes_match_a_population_and_meet_what_is_required(
    sensitive: tuple[Peopled, list[str], dict[str, object]],
    k: int,
    k_map: int,
    way: dict[str, object],
) -> None:
    """Every released class does both; without suppression, wherever all rows together do."""
    drawn, values, need = sensitive
    names, rows = (*drawn.table.columns, "s"), drawn.table.rows
    joint = MemorySource.of(
        names, [(*row, value) for row, value in zip(rows, values, strict=True)]
    ).frequency_table(names, CancelToken())
    keys = {"k": k, "population": "all.csv", "k_map": k_map, **way}
    chosen = Settings.from_parameters(parse_parameters(PARAMETERS, keys, "test"))
    d, of = len(names) - 1, Values.of(joint.domains[-1], None)
    alone = FrequencyTable(names[:d], joint.domains[:d], joint.codes[:, :d], joint.counts)
    codes, tuple_of = np.unique(alone.codes, axis=0, return_inverse=True)
    if chosen.divides:
        tuple_of = np.arange(len(joint.counts))
    else:
        sums = np.bincount(tuple_of.reshape(-1), joint.counts).astype(np.int64)
        alone = FrequencyTable(names[:d], joint.domains[:d], codes, sums)
    table = align(alone, drawn.table.hierarchies, "test")
    own = np.array([of.texts.index(text) for text in joint.domains[-1]])[joint.codes[:, -1]]
    counts = {"s": SensitiveCounts(of, tuple_of.reshape(-1), own, joint.counts)}
    reader = RequireParameter(key="require", label="", help="")
    required = requirements_of(reader.parse([{"attribute": "s", **need}], "plan"))
    asked = with_population(Constraints(required, counts), drawn.rows(k_map, table), chosen)
    together = class_requirements.fits(need, values, values, {})
    assume(together is not None)
    try:
        found = judge_cells(table, chosen, {}, CancelToken(), asked)
    except RefusedError:
        assert "local" in way or len(drawn.people) < k_map or not together
        return
    assert "local" in way or together
    counted = joint if chosen.divides else alone
    recoding = found.release.recoding(counted, ())
    classes: dict[Row, list[str]] = {}
    waiting: dict[Row, list[str]] = {}
    for row, value in zip(rows, values, strict=True):
        waiting.setdefault((*row, value) if chosen.divides else row, []).append(value)
    place = zip(recoding.source.tolist(), recoding.target.tolist(), recoding.rows, strict=True)
    for source, target, some in place:
        raw = tuple(t[c] for t, c in zip(counted.domains, counted.codes[source], strict=True))
        moved, waiting[raw] = waiting[raw][:some], waiting[raw][some:]
        if target >= 0:
            shown = recoding.targets[target].tolist()[:d]
            texts = tuple(t[c] for t, c in zip(recoding.labels, shown, strict=False))
            classes.setdefault(texts, []).extend(moved)
    kept = [value for held in classes.values() for value in held]
    assert kept
    for cells, held in classes.items():
        assert len(held) >= k
        assert drawn.matching(cells, stars=way.get("model") in ("CS", "AS")) >= k_map
        assert class_requirements.fits(need, held, kept, {}) is not False


@settings(deadline=None, max_examples=examples(150))
@given(peopled(), st.integers(2, 3), st.integers(2, 12), st.sampled_from(WAYS))
def test_every_released_combination_matches_enough_rows(
    drawn: Peopled, k: int, k_map: int, way: dict[str, object]
) -> None:
    """Whatever the model and the search; and something comes out wherever it can."""
    stars = way.get("model") in ("CS", "AS")
    names = drawn.table.columns
    if len(drawn.people) < k_map:
        with pytest.raises(RefusedError, match=r"k = "):
            released(drawn, k, k_map, **way)
        return
    found = released(drawn, k, k_map, **way)
    counted = drawn.table.source.frequency_table(names, CancelToken())
    recoding = found.release.recoding(counted, ())
    shown: Counter[Row] = Counter()
    for target, rows in zip(recoding.target.tolist(), recoding.rows.tolist(), strict=True):
        if target >= 0:
            codes = recoding.targets[target].tolist()
            texts = (labels[code] for labels, code in zip(recoding.labels, codes, strict=True))
            shown[tuple(texts)] += rows
    assert min(shown.values()) >= k
    least = min(drawn.matching(cells, stars=stars) for cells in shown)
    assert least >= k_map
    table = MemoryPublished(names, tuple(shown.elements()))
    place = drawn.counted, names, drawn.table.hierarchies, {}, way.get("model", "AG_TS"), table
    assert cells_check(Asked(least, None), *place).status is CheckStatus.CONFIRMED
    assert cells_check(Asked(least + 1, None), *place).status is CheckStatus.FAILED


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"algorithm": "k-optimize"}, 'algorithm = "k-optimize"'),
        ({"algorithm": "mondrian", "strict": False}, "strict = false"),
        ({"algorithm": "mondrian", "values": "ranges"}, 'values = "ranges"'),
        ({"model": "CG", "delta_max": 0.5}, 'model = "CG"'),
    ],
)
def test_what_is_not_decided_together_is_refused(keys: dict[str, object], named: str) -> None:
    from dpdesk.core.errors import InputError
    from dpdesk.core.schema import Role
    from dpdesk.engine.methods.k_anonymity.settings import check_settings

    plan = parse_parameters(PARAMETERS, {"k": 3, "population": "all.csv", "k_map": 5, **keys}, "x")
    roles = {"a": Role.QUASI_IDENTIFIER}
    with pytest.raises(InputError) as caught:
        check_settings(("a",), roles, plan, "x")
    assert named in str(caught.value)
