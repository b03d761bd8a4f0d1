"""What the holder of the data sees beside estimates from a diverted release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app.comparing import true_answer_of_work
from dpdesk.app.context import AppContext
from dpdesk.app.running import prepare_plan
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.query import Answer, Chosen, Grouping, Query, Within
from dpdesk.core.spans import span_of
from dpdesk.engine.methods.l_diverted.querying import true_answer
from dpdesk.io.planfile import read_plan
from dpdesk.project.work import WorkState
from tests.helpers import clinic


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    clinic.write_source(folder)
    return clinic.write_plan(folder)


def answer(context: AppContext, plan: Path, query: Query) -> Answer:
    token = CancelToken()
    with prepare_plan(context, plan, token, silent) as prepared:
        return true_answer(query, prepared.given, token)


def test_true_counts_are_those_of_the_source(context: AppContext, plan: Path) -> None:
    query = Query(
        by=(Grouping("town"), Grouping("illness")),
        where=(Chosen("job", ("baker", "nurse")), Chosen("town", ("town 0",), excluded=True)),
        margins=True,
    )
    found = answer(context, plan, query)
    people = [
        (town, illness)
        for _, _, town, illness, job in clinic.people()
        if job in ("baker", "nurse") and town != "town 0"
    ]
    counted = {row.labels: row.value for row in found.rows if row.value}
    assert {key: value for key, value in counted.items() if None not in key} == Counter(people)
    assert counted[None, None] == len(people)
    assert found.interval == "certain"
    assert "not to be published" in found.sentence


def test_conditions_on_numbers_count_too(context: AppContext, plan: Path) -> None:
    span = span_of("30-39")
    assert span is not None
    (row,) = answer(context, plan, Query(where=(Within("age", span),))).rows
    assert row.value == sum(30 <= int(person[1]) <= 39 for person in clinic.people())


def test_an_unknown_value_is_named(context: AppContext, plan: Path) -> None:
    with pytest.raises(InputError) as failure:
        answer(context, plan, Query(where=(Chosen("illness", ("plague",)),)))
    assert failure.value.code == "query.value"


def test_drawn_columns_are_counted_at_the_level_of_their_release(
    context: AppContext, tmp_path: Path
) -> None:
    clinic.write_source(tmp_path)
    hierarchy = (
        'age = { role = "sensitive", hierarchy = { kind = "intervals", widths = [10, 40] } }'
    )
    plan = clinic.write_plan(tmp_path, "l = 2\nlevels = { age = 1 }", hierarchy)
    found = answer(context, plan, Query(by=(Grouping("age"),), where=(Chosen("job", ("baker",)),)))
    decades = Counter(int(age) // 10 for _, age, _, _, job in clinic.people() if job == "baker")
    counts = {int(str(row.labels[0])[:2]) // 10: row.value for row in found.rows}
    assert counts == decades


def test_the_work_of_a_window_is_compared_and_asked_in_the_same_way(
    context: AppContext, plan: Path
) -> None:
    token = CancelToken()
    work = WorkState.from_plan(read_plan(plan), plan.parent)
    with prepare_plan(context, plan, token, silent) as prepared:
        query = Query(where=(Chosen("job", ("baker",)),))
        found = true_answer_of_work(context, prepared.data, work, query, token, silent)
    (row,) = found.rows
    assert row.value == sum(person[4] == "baker" for person in clinic.people())


def test_recoded_columns_are_counted_by_their_released_texts(
    context: AppContext, plan: Path
) -> None:
    towns = {f"town {number}": "north" if number < 2 else "south" for number in range(4)}
    query, token = Query(by=(Grouping("town"),)), CancelToken()
    with prepare_plan(context, plan, token, silent) as prepared:
        found = true_answer(query, prepared.given, token, {"town": towns})
    counts = {row.labels[0]: row.value for row in found.rows}
    assert counts == Counter(towns[person[2]] for person in clinic.people())
