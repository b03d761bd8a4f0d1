"""Values that are not drawn as is said, one fault at a time: where rows are known again in the
source, their draws are counted. What costs is kept whatever its draws were, and found afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import DRAWN_AS_STATED, CheckStatus, VerifyReport
from dpdesk.engine.decoys import kernels
from dpdesk.engine.methods.anatomy import grouping
from dpdesk.engine.methods.l_diverted import mechanism
from dpdesk.engine.methods.randomised_response.settings import Chances
from dpdesk.io import linking
from dpdesk.verifiers.drawing import distance
from tests.helpers import clinic, cubes

pytestmark = pytest.mark.cheap_prints

Patch = pytest.MonkeyPatch
Put = Callable[[Patch], None]
WITH_K = 'l = 3\nk = 2\nmax_suppression = 0.3\nsensitive = ["illness"]'
TOWN = 'town = { role = "quasi-identifier" }'


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def _picked(pick: Callable[[int, int], int]) -> Put:
    """Which value of its group each place publishes: of how many, by the draw."""

    def publish(members: Any, groups: Any, picks: Any, released: Any) -> None:
        size = groups.shape[1]
        for place, draw in enumerate(picks.reshape(-1).tolist()):
            group, j = divmod(place, size)
            own = (j + pick(j, (int(draw) - j) % size)) % size
            released[members[group, j]] = groups[group, own]

    return lambda patch: patch.setattr(kernels, "publish", publish)


def _in_source_order(patch: Patch) -> None:
    patch.setattr(mechanism, "permutation", lambda size, *_: np.arange(size))


MIXED = random.Random(3)
FAULTS: dict[str, Put] = {
    "its own value": _picked(lambda *_: 0),
    "its own value too often": _picked(lambda _, way: way if MIXED.random() < 0.4 else 0),
    "never its own value": _picked(lambda *_: 1),
    "in the order of the source": _in_source_order,
}


def _diverted(context: AppContext, folder: Path) -> Path:
    clinic.write_source(folder)
    plan = clinic.write_plan(folder, WITH_K, TOWN)
    return clinic.release(plan, folder / "release", context).out


@pytest.mark.parametrize("fault", FAULTS)
def test_diverted_values_that_were_drawn_otherwise_are_not_released(
    fault: str, context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    FAULTS[fault](monkeypatch)
    with pytest.raises(RefusedError) as caught:
        _diverted(context, tmp_path)
    assert caught.value.code == "release.check-failed"
    assert DRAWN_AS_STATED in caught.value.sentence
    assert not (tmp_path / "release").exists()


def _verified(context: AppContext, release: Path, source: Path) -> VerifyReport:
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


def _of_draws(report: VerifyReport) -> CheckStatus:
    return {check.claim: check.status for check in report.claims}[DRAWN_AS_STATED]


@pytest.mark.parametrize("keys", ["", WITH_K])
def test_diverted_values_that_were_drawn_as_is_said_pass(
    keys: str, context: AppContext, tmp_path: Path
) -> None:
    source = clinic.write_source(tmp_path)
    plan = clinic.write_plan(tmp_path, keys, TOWN if keys else "")
    report = _verified(context, clinic.release(plan, tmp_path / "release", context).out, source)
    assert report.ok
    assert _of_draws(report) is CheckStatus.CONFIRMED


def test_of_few_rows_that_are_known_again_nothing_is_said(
    context: AppContext, tmp_path: Path
) -> None:
    source = clinic.write_source(tmp_path, 30)
    plan = clinic.write_plan(tmp_path, 'l = 2\nsensitive = ["illness"]')
    report = _verified(context, clinic.release(plan, tmp_path / "release", context).out, source)
    assert report.ok
    assert _of_draws(report) is CheckStatus.NOT_CHECKABLE


def _not_shuffled(patch: Patch) -> None:
    patch.setattr(grouping, "permutation", lambda size, *_: np.arange(size))


def _dealt_in_order(patch: Patch) -> None:
    def dealt(codes: Any, values: int, size: int, *_: Any) -> Any:
        found = np.empty(len(codes), np.int64)
        found[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % (len(codes) // size)
        return found

    patch.setattr(grouping, "row_numbers", dealt)


@pytest.mark.parametrize("put", [_not_shuffled, _dealt_in_order])
def test_groups_in_the_order_of_the_source_are_not_released(
    put: Put, context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    put(monkeypatch)
    clinic.write_source(tmp_path)
    plan = clinic.write_plan(tmp_path, 'l = 3\nsensitive = "illness"', method="anatomy")
    with pytest.raises(RefusedError, match="in the order of the source"):
        clinic.release(plan, tmp_path / "release", context)
    assert not (tmp_path / "release").exists()


def test_groups_that_were_drawn_are_about_half_in_the_order_of_the_source(
    context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    told: list[tuple[int, int]] = []
    count = linking.rising_pairs

    def rising_pairs(*given: Any) -> tuple[int, int]:
        told.append(count(*given))
        return told[-1]

    monkeypatch.setattr(linking, "rising_pairs", rising_pairs)
    source = clinic.write_source(tmp_path)
    plan = clinic.write_plan(tmp_path, 'l = 3\nsensitive = "illness"', method="anatomy")
    made = clinic.release(plan, tmp_path / "release", context).out
    assert _verified(context, made, source).ok
    assert told
    for pairs, rising in told:
        assert pairs > 65
        assert distance(pairs, rising, Fraction(1, 2)) < 20


MATRIX = {"region": [["0.5", "0.25", "0.25"], ["0.25", "0.5", "0.25"], ["0.25", "0.25", "0.5"]]}


def _response(context: AppContext, folder: Path, **keys: object) -> tuple[Path, Path]:
    people = [
        (f"p{number}", "fm"[number % 2], ("north", "south")[number % 3 > 0], "41", str(number))
        for number in range(400)
    ]
    source = cubes.write_register(folder, people)
    given = {
        "dimensions": None,
        "levels": None,
        "drawn": ["region"],
        "domains": {"region": list(cubes.REGION)},
        **keys,
    }
    plan = cubes.write_plan(source, method="randomised-response", **given)
    return run_plan(context, plan, folder / "release", CancelToken(), silent).out, source


@pytest.mark.parametrize("keys", [{}, {"matrix": MATRIX}], ids=["chances", "a matrix"])
def test_responses_that_were_not_drawn_are_found_with_the_source(
    keys: dict[str, object], context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    genuine = _verified(context, *_response(context, tmp_path / "genuine", **keys))
    assert genuine.ok
    assert _of_draws(genuine) is CheckStatus.CONFIRMED
    monkeypatch.setattr(Chances, "draw", lambda _, true, *rest: true.copy())
    made = _response(context, tmp_path / "forged", **keys)
    report = _verified(context, *made)
    assert not report.ok
    assert _of_draws(report) is CheckStatus.FAILED


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(3, 4), Fraction(1, 50)])
def test_the_bound_is_above_the_exact_chance(chance: Fraction) -> None:
    """Of so many or more, and of so many or fewer, whichever is further from what is expected."""
    rows = 120
    exact = [comb(rows, n) * chance**n * (1 - chance) ** (rows - n) for n in range(rows + 1)]
    for shown in range(rows + 1):
        tail = sum(exact[shown:]) if shown > rows * chance else sum(exact[: shown + 1])
        assert log(tail) <= -distance(rows, shown, chance) + 1e-9
