"""A search of k-anonymity that is asked to end: what it has is released, and verified as that."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, Event, Report, StepProgress, silent
from dpdesk.core.release import VerifyReport
from tests.helpers.forging import manifest_of, seal_again

COLUMNS = "abcdef"
Made = Callable[[str, Callable[[CancelToken], Report]], Path]


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture
def made(context: AppContext, tmp_path: Path) -> Made:
    draw = random.Random(5)
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows([int(draw.gauss(500, 150)) for _ in COLUMNS] for _ in range(60))
    roles = "\n".join(
        f'{name} = {{ role = "quasi-identifier", hierarchy = {{ kind = "mask" }} }}'
        for name in COLUMNS
    )
    few = "\n".join(roles.splitlines()[:2])

    def make(protection: str, listening: Callable[[CancelToken], Report]) -> Path:
        plan, release, token = tmp_path / "plan.toml", tmp_path / "release", CancelToken()
        plan.write_text(
            f'version = 1\n[source]\npath = "people.csv"\n[attributes]\n'
            f"{few if 'optimize' in protection else roles}\n"
            f'[protection]\nmethod = "k-anonymity"\n{protection}\n',
            "utf-8",
        )
        shutil.rmtree(release, ignore_errors=True)
        run_plan(context, plan, release, token, listening(token))
        return release

    return make


def ending(token: CancelToken) -> Report:
    """Asks each search to end as soon as it says how far it is."""

    def keep(event: Event) -> None:
        if isinstance(event, StepProgress):
            token.keep()

    return keep


def never(token: CancelToken) -> Report:
    return silent


def verified(
    context: AppContext, release: Path, listening: Callable[[CancelToken], Report] = never
) -> VerifyReport:
    token, source = CancelToken(), release.parent / "people.csv"
    place = context.registry, token, listening(token), source, context.workspace
    return verify_release(release, *place)


def result_of(release: Path) -> dict[str, object]:
    found = json.loads((release / "internal/evidence.json").read_text("utf-8"))["result"]
    assert isinstance(found, dict)
    return found


SEARCHES = (
    'k = 6\nalgorithm = "k-optimize"',
    'k = 3\nalgorithm = "genetic"\nmax_suppression = 0.1',
)


@pytest.mark.parametrize("protection", SEARCHES)
def test_what_a_search_had_when_it_was_asked_to_end_is_verified_without_going_on(
    context: AppContext, made: Made, protection: str
) -> None:
    release = made(protection, ending)
    ended, claimed = result_of(release), manifest_of(release)["result"]
    assert len(ended["ended_after"]) == 1
    assert not claimed["proven_optimal"]
    assert verified(context, release).ok
    assert verified(context, release, ending).ok, "checking is never cut short"
    whole = result_of(made(protection, never))
    assert "ended_after" not in whole
    assert whole != ended


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ended_after", None),
        ("ended_after", [1]),
        ("ended_after", ["soon"]),
        ("ended_after", [True]),
        ("least_discernibility", None),
        ("optimality", "proven optimal"),
        ("optimality", "optimal up to 1.0 %"),
    ],
)
def test_another_end_or_bound_than_that_of_the_search_fails(
    context: AppContext, made: Made, key: str, value: object
) -> None:
    release = made(SEARCHES[0], ending)
    path = release / "internal/evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    if key == "least_discernibility":
        value = evidence["result"][key] + 1
    evidence["result"][key] = value
    if value is None:
        del evidence["result"][key]
    path.write_text(json.dumps(evidence), "utf-8")
    seal_again(release, manifest_of(release))
    found = verified(context, release)
    assert not found.ok
