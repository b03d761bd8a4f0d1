"""What the window does with drawn values: try settings, keep a candidate, release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app import exploring, opening
from dpdesk.app.context import AppContext
from dpdesk.app.types import SetParameters, WorkState
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.store import DataStore
from tests.helpers import clinic

TOKEN = CancelToken()
ROLES = 'age = { role = "quasi-identifier" }\ntown = { role = "quasi-identifier" }'


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> WorkState:
    folder = tmp_path_factory.mktemp("clinic")
    clinic.write_source(folder)
    found = opening.open_path(clinic.write_plan(folder, attributes=ROLES)).work
    assert found is not None
    return found


@pytest.fixture(scope="module")
def data(context: AppContext, work: WorkState) -> Iterator[DataStore]:
    store = opening.open_work(context, work, TOKEN, silent)
    yield store
    store.close()


def test_settings_are_tried_on_counts_alone(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    explored = exploring.explore(context, data, work, TOKEN, silent)
    plain = dict(work.parameters)
    view = explored.view(plain)
    assert view.feasible
    assert view.guarantee is not None
    assert view.guarantee.parameters["l"] == 3
    assert "drawn from 3 values" in view.sentence
    worse = explored.view(plain | {"l": 100})
    assert not worse.feasible
    assert worse.remedy is not None
    assert explored.view(plain | {"l": 100} | dict(worse.remedy)).feasible


def test_k_is_tried_too_and_refused_in_words(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    both = SetParameters({"k": 3, "max_suppression": 0.9}).apply(work)
    explored = exploring.explore(context, data, both, TOKEN, silent)
    plain = {**work.parameters, "k": 3}
    view = explored.view(plain | {"max_suppression": 0.9})
    assert view.feasible
    assert view.guarantee is not None
    assert view.guarantee.parameters["k"] == 3
    refused = explored.view(plain | {"k": 404})
    assert not refused.feasible
    assert "larger than the table" in refused.sentence


def test_a_candidate_is_kept_without_drawing(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    first, second = (
        exploring.make_candidate(context, data, work, TOKEN, silent, "drawn") for _ in range(2)
    )
    assert first.result == second.result == {"rows_removed": 1, "rows_out": 402}
    assert {figure.key for figure in first.figures} >= {"belief", "deviation", "rows_removed"}


def test_the_release_of_the_work_is_one_that_verifies(
    context: AppContext, data: DataStore, work: WorkState, tmp_path: Path
) -> None:
    made = exploring.release_work(context, data, work, tmp_path / "out", TOKEN, silent)
    assert made.method == "l-diverted"
    assert verify_release(made.out, context.registry, TOKEN, silent).ok
