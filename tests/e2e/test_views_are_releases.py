"""What the window shows of settings that changed since the search is what a run of them decides."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exploring import explore, ready
from dpdesk.app.opening import open_path, open_work
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.schema import Role
from dpdesk.project.work import WorkState
from tests.helpers.aged_people import plan_of_people

PEOPLE = {"population": "all.csv"}
HOUSES = {"households": "whole"}
APART = ("hierarchy.removed", "hierarchy.coarse", "telling.alone")
"""Notes on what to do about levels are for the window; released rows are counted by a run alone."""
SHOWN: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "more-of-the-population": ({"k": 2, **PEOPLE}, {"k": 8, "max_suppression": 0.3, **PEOPLE}),
    "less-of-the-population": ({"k": 20, "max_suppression": 1, **PEOPLE}, {"k": 3, **PEOPLE}),
    "levels-by-hand": (
        {"k": 3, "levels": {"age": 1, "town": 0}, **PEOPLE},
        {"k": 9, "max_suppression": 0.9, "levels": {"age": 1, "town": 0}, **PEOPLE},
    ),
    "population-and-samarati": ({"k": 3, "algorithm": "samarati", **PEOPLE},) * 2,
    "households": ({"k": 5, **HOUSES}, {"k": 3, "max_suppression": 0.3, **HOUSES}),
    "levels-taken-back": (
        {"k": 12, "importance": {"town": 20}, "levels": {"age": 2, "town": 1}},
        {"k": 12, "importance": {"town": 20}},
    ),
    "limits-of-levels": (
        {"k": 3, "min_level": {"age": 2}, "levels": {"age": 2, "town": 1}},
        {"k": 3, "min_level": {"age": 2}},
    ),
    "local": ({"k": 3}, {"k": 4, "local": True, "max_suppression": 0.5}),
    "local-of-another-model": ({"k": 3}, {"k": 5, "local": True, "model": "CS", **PEOPLE}),
}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def work_in(folder: Path, **keys: object) -> WorkState:
    draw = random.Random(7)
    rows = [
        (draw.randint(0, 12), draw.choice("xyz"), n // 2, draw.choice("abcd")) for n in range(160)
    ]
    people = [row[:2] for row in rows]
    people += [(draw.randint(0, 12), draw.choice("xyz")) for _ in range(120)]
    people = [each for each in people if each != rows[0][:2]]
    roles = {"house": "cluster" if "households" in keys else "identifier", "club": "insensitive"}
    work = open_path(plan_of_people(folder, rows, people, roles, **keys)).work
    assert work is not None
    return work


@pytest.mark.parametrize("name", SHOWN)
def test_the_picture_is_that_of_the_release(context: AppContext, tmp_path: Path, name: str) -> None:
    first, then = SHOWN[name]
    work, other = work_in(tmp_path, **first), work_in(tmp_path, **then)
    token = CancelToken()
    with closing(open_work(context, work, token, silent)) as data:
        explored = explore(context, data, work, token, silent)
        if not explored.stands_for(other):
            explored = explore(context, data, other, token, silent)
        view = explored.view(dict(other.parameters))
        made = ready(context, data, other, token, silent).decide(token, silent)
    assert view.feasible
    assert view.guarantee == made.guarantee
    assert view.figures == made.figures
    assert f"{made.result['classes']:,} classes of" in view.sentence
    assert "Other levels may be better" not in view.sentence
    shown = [note for note in view.notes if note.code not in APART]
    assert shown == [note for note in made.notes if note.code not in APART]
    assert {chart.id: chart.answer for chart in made.charts}.items() <= {
        chart.id: chart.answer for chart in view.charts
    }.items()


@pytest.mark.parametrize("levels", [None, {"age": 3, "town": 0}])
def test_a_population_of_k_rows_follows_k(
    context: AppContext, tmp_path: Path, levels: dict[str, int] | None
) -> None:
    """Four people of one town: enough for k = 2, too few for k = 8."""
    keys: dict[str, object] = {"max_suppression": 0.5, **PEOPLE}
    keys |= {} if levels is None else {"levels": levels}
    work, other = work_in(tmp_path, k=2, **keys), work_in(tmp_path, k=8, **keys)
    lines = (tmp_path / "all.csv").read_text("utf-8").splitlines()
    there = [line for line in lines if not line.endswith(",z")] + ["5,z"] * 4
    (tmp_path / "all.csv").write_text("\n".join([*there, ""]), "utf-8")
    token = CancelToken()
    with closing(open_work(context, work, token, silent)) as data:
        explored = explore(context, data, work, token, silent)
        assert explored.stands_for(other)
        view = explored.view(dict(other.parameters))
        made = ready(context, data, other, token, silent).decide(token, silent)
        wrong = ready(context, data, work, token, silent).decide(token, silent)
    assert view.guarantee == made.guarantee
    assert view.figures == made.figures
    assert made.result["rows_suppressed"] != wrong.result["rows_suppressed"] or levels is None


def test_data_that_are_no_sample_of_the_population_are_refused_in_both(
    context: AppContext, tmp_path: Path
) -> None:
    work, token = work_in(tmp_path, k=3, **PEOPLE, delta_max=0.9), CancelToken()
    with closing(open_work(context, work, token, silent)) as data:
        with pytest.raises(InputError) as shown:
            explore(context, data, work, token, silent)
        with pytest.raises(InputError) as refused:
            ready(context, data, work, token, silent).decide(token, silent)
    assert shown.value.sentence == refused.value.sentence


def test_another_column_of_households_asks_for_another_search(
    context: AppContext, tmp_path: Path
) -> None:
    work, token = work_in(tmp_path, k=3, **HOUSES), CancelToken()
    with closing(open_work(context, work, token, silent)) as data:
        explored = explore(context, data, work, token, silent)
    assert not explored.stands_for(work_in(tmp_path, k=3, **HOUSES, household_id="keep"))


OTHERS: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "column-apart": ("anatomy", {"l": 2, "sensitive": "club"}, {"l": 2, "sensitive": "town"}),
    "columns-drawn": (
        "l-diverted",
        {"l": 2, "sensitive": ["club"]},
        {"l": 2, "sensitive": ["club", "town"]},
    ),
    "k-as-well": (
        "l-diverted",
        {"l": 2, "sensitive": ["club"]},
        {"l": 2, "sensitive": ["club"], "k": 3, "max_suppression": 0.2},
    ),
    "dimensions": ("table", {"rows": ["town"]}, {"rows": ["club"], "columns": ["town"]}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_roles_or_hierarchies_ask_for_another_search(
    context: AppContext, tmp_path: Path, name: str
) -> None:
    method, *both = OTHERS[name]
    plan = work_in(tmp_path, k=2)
    plan = replace(plan, roles={**plan.roles, "town": Role.INSENSITIVE}, method=method)
    first, then = (replace(plan, parameters=each) for each in both)
    token = CancelToken()
    with closing(open_work(context, first, token, silent)) as data:
        explored = explore(context, data, first, token, silent)
        assert explored.stands_for(replace(first, title="Another"))
        assert not explored.stands_for(then)
        view = explore(context, data, then, token, silent).view(dict(then.parameters))
        made = ready(context, data, then, token, silent).decide(token, silent)
    assert view.guarantee == made.guarantee
    assert view.figures == made.figures
    assert view.notes == made.notes
