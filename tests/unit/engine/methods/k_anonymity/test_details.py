"""What is behind a bar is counted as slowly and plainly as the bar itself."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given as generated
from hypothesis import settings as generation
from hypothesis import strategies as st

import dpdesk.engine.methods.k_anonymity.exploration as module
from dpdesk.core.charts import BarChart, ChartTable
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.method import Detail, DetailedExploration, ExplorationView
from dpdesk.engine.methods.k_anonymity.exploration import EMPTY
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS
from tests.helpers.small_tables import SmallTable, small_tables
from tests.unit.engine.methods.k_anonymity.test_method import PEOPLE, given_of

UNEVEN = SmallTable(
    PEOPLE.columns,
    (*[row for row in PEOPLE.rows if row[1] == "f"], ("21", "m")),
    PEOPLE.hierarchies,
)


def explored(table: SmallTable, **raw: object) -> DetailedExploration:
    found = KAnonymity().explore(given_of(table, **raw), CancelToken(), silent)
    assert isinstance(found, DetailedExploration)
    return found


def detail(table: SmallTable, chart: str, place: int, **raw: object) -> Detail | None:
    return explored(table, **raw).detail(parse_parameters(PARAMETERS, raw, ""), chart, place)


def view(table: SmallTable, **raw: object) -> ExplorationView:
    found = KAnonymity().explore(given_of(table, **raw), CancelToken(), silent)
    return found.view(parse_parameters(PARAMETERS, raw, ""))


def chart(found: ExplorationView, identifier: str) -> BarChart:
    made = next(one for one in found.charts if one.id == identifier)
    assert isinstance(made, BarChart)
    return made


def table_of(found: Detail | None, place: int = 0) -> ChartTable:
    assert found is not None
    content = found.parts[place].content
    assert isinstance(content, ChartTable)
    return content


def classes_of(found: Detail | None, name: str) -> ChartTable:
    """The classes of a side of a bar; one without any is not offered where the other has some."""
    assert found is not None
    names = [part.name for part in found.parts]
    sides = [table_of(found, place) for place in range(len(names))]
    assert len(sides) == 1 or all(side.rows for side in sides)
    none = ChartTable(("Rows",), ())
    return next((side for one, side in zip(names, sides, strict=True) if one == name), none)


@generated(small_tables(least_rows=4), st.integers(2, 4))
@generation(max_examples=30, deadline=None)
def test_the_bars_of_the_risk_chart_open_to_all_rows_of_the_original(
    table: SmallTable, k: int
) -> None:
    raw = {"k": k, "max_suppression": 1}
    bars = chart(view(table, **raw), "risk")
    counted = Counter(table.rows)
    seen: Counter[tuple[str, ...]] = Counter()
    for place in range(len(bars.categories)):
        lines = classes_of(detail(table, "risk", place, **raw), "Original").rows
        assert list(lines) == sorted(lines, key=lambda line: int(str(line[0])))
        for size, *values in lines:
            key = tuple("" if value == EMPTY else str(value) for value in values)
            assert counted[key] == size
            seen[key] += int(str(size))
        assert sum(int(str(line[0])) for line in lines) == int(str(bars.table.rows[place][1]))
    assert seen == counted


@generated(small_tables(least_rows=4), st.integers(2, 4))
@generation(max_examples=30, deadline=None)
def test_the_classes_of_the_release_are_those_that_the_bar_counts(
    table: SmallTable, k: int
) -> None:
    raw = {"k": k, "max_suppression": 0.5}
    shown = view(table, **raw)
    if not shown.feasible:
        return
    bars = chart(shown, "risk")
    for place in range(len(bars.categories)):
        found = classes_of(detail(table, "risk", place, **raw), "Release")
        rows = sum(int(str(line[0])) for line in found.rows)
        assert rows == int(str(bars.table.rows[place][3]))
        assert all(int(str(line[0])) >= k for line in found.rows)


def test_an_attribute_opens_to_its_distribution_before_and_after() -> None:
    found = detail(PEOPLE, "loss", 0, k=2, max_suppression=0.5)
    assert found is not None
    assert found.title.startswith("What became of ")
    distribution = found.parts[0].content
    assert isinstance(distribution, BarChart)
    for series in distribution.series:
        assert sum(series.values) == pytest.approx(1)
    values = table_of(found, 1)
    assert sum(int(str(line[1])) for line in values.rows) == len(PEOPLE.rows)


def test_beyond_the_most_frequent_values_the_rest_is_one_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 2)
    places = range(len(view(PEOPLE, k=2, max_suppression=0.5).charts))
    found = [detail(PEOPLE, "loss", place, k=2, max_suppression=0.5) for place in places]
    charts = [one.parts[0].content for one in found if one is not None]
    assert any(isinstance(one, BarChart) and "other values" in one.categories[-1] for one in charts)


def test_of_many_classes_the_first_are_listed_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 1)
    found = detail(PEOPLE, "risk", 1, k=2, max_suppression=0.5)
    assert found is not None
    table = table_of(found)
    assert len(table.rows) == 1
    assert found.parts[0].note.startswith("The first 1 of ")


def test_suppressed_rows_of_a_group_are_those_that_are_counted() -> None:
    raw = {"k": 3, "max_suppression": 0.5}
    shown = view(UNEVEN, **raw)
    bars = next((one for one in shown.charts if one.id == "suppression"), None)
    assert isinstance(bars, BarChart), "the example suppresses someone"
    for place, line in enumerate(bars.table.rows):
        lines = table_of(detail(UNEVEN, "suppression", place, **raw)).rows
        assert sum(int(str(one[0])) for one in lines) == int(str(line[3]))


def test_there_is_nothing_behind_what_is_not_there() -> None:
    assert detail(PEOPLE, "risk", 99, k=2) is None
    assert detail(PEOPLE, "nodes", 0, k=2) is None
    too_small = detail(PEOPLE, "loss", 0, k=10_000)
    assert too_small is None
    assert detail(PEOPLE, "risk", 0, k=10_000) is not None
