"""Classes that must pass more than k where tuples have values of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.k_anonymity import mondrian as methods
from dpdesk.engine.methods.k_anonymity.celled import judge_cells
from dpdesk.engine.methods.k_anonymity.required import RequireParameter, requirements_of
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, SensitiveCounts, Values
from dpdesk.engine.methods.k_anonymity.scales import scale_of
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS, Settings
from tests.helpers.small_tables import SmallTable, small_tables
from tests.property.test_constrained_search import required
from tests.reference import class_requirements
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
        if narrow:  # a few counts at a time
            patch.setattr(methods, "_MOST_COUNTS", 9)
        parts = methods.required_mondrian(*place, sensitive.constraints, CancelToken(), along=along)
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


_WAYS = (
    {"algorithm": "mondrian"},
    {"algorithm": "mondrian", "values": "ranges"},
    {"algorithm": "top-down"},
    {"local": True, "max_suppression": Fraction(1, 2)},
    {"local": True, "algorithm": "samarati", "max_suppression": Fraction(1, 2)},
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
    recoding = release.recoding(counted.domains, counted.codes, ())
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
