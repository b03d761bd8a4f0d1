"""The ± of tables in whole numbers holds for the whole numbers, where many roundings add up too."""

from __future__ import annotations

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Grouping, Query
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import OneRelease, select
from dpdesk.engine.private.widths import half_width, rounding_of_cell
from dpdesk.report.cubes import table_width
from tests.helpers.answer_coverage import noise_of
from tests.helpers.released_cubes import MemoryRelease, design, released

DOMAINS = {
    "place": tuple(f"p{number}" for number in range(30)),
    "branch": tuple(f"b{number}" for number in range(20)),
    "sex": ("f", "m"),
}
SHAPE = tuple(len(each) for each in DOMAINS.values())
KEYS = {"epsilon": 12, "integral": True, "planner": "all"}


def releases(draws: int, seed: int, **others: object) -> list[tuple[MemoryRelease, np.ndarray]]:
    generator, keys = np.random.default_rng(seed), KEYS | others
    made = design(DOMAINS, **keys)
    found = []
    for _ in range(draws):
        truth = generator.integers(0, 9, SHAPE)
        noisy = []
        for number, source in enumerate(made.plan.sources):
            away = tuple(axis for axis in range(3) if not source.cuboid >> axis & 1)
            table = truth.sum(axis=away)
            noisy.append(table + noise_of(made.channels[0], number, table.shape, generator))
        found.append((released(made, noisy, DOMAINS, **keys), truth))
    return found


@pytest.mark.parametrize("dimensions", [["sex"], ["place", "sex"], ["place", "branch", "sex"]])
def test_the_stated_width_holds_for_whole_numbers(dimensions: list[str]) -> None:
    errors: list[np.ndarray] = []
    for release, truth in releases(120, seed=3):
        cuboids = release.manifest.result["cuboids"]  # type: ignore[index]
        item = next(each for each in cuboids if each["dimensions"] == dimensions)
        away = tuple(axis for axis, name in enumerate(DOMAINS) if name not in dimensions)
        errors.append(release.tables[item["file"]].values - truth.sum(axis=away))
        width = table_width(item, release.manifest)
        before = half_width(design(DOMAINS, **KEYS).settings.noise, item["variance"], 1)
    share = (np.abs(np.array(errors)) <= width).mean(axis=0).min()
    assert share >= 0.95 - 4.5 * (0.95 * 0.05 / 120) ** 0.5
    if dimensions == ["sex"]:  # sums of 600 cells that do not lie side by side
        assert (np.abs(np.array(errors)) <= before).mean() < 0.5


def test_one_noisy_table_gives_whole_numbers_that_nothing_is_added_for() -> None:
    """As wide as without this step: the numbers are those that would be released without it."""
    made = design(DOMAINS, **KEYS | {"planner": "base"})
    plain = design(DOMAINS, **KEYS | {"planner": "base", "integral": False})
    assert made.measures == plain.measures
    assert not [note for note in made.notes if note.code == "cube.whole"]
    errors, width = [], 0.0
    for release, truth in releases(60, seed=7, planner="base"):
        cuboids = release.manifest.result["cuboids"]  # type: ignore[index]
        item = next(each for each in cuboids if each["dimensions"] == ["sex"])
        errors.append(release.tables[item["file"]].values - truth.sum(axis=(0, 1)))
        width = table_width(item, release.manifest)
    assert width == half_width(made.settings.noise, item["variance"], 1)
    assert width < 1
    assert (np.abs(np.array(errors)) <= width).mean() >= 0.95


@pytest.mark.parametrize("planner", ["all", "base"])
def test_pages_and_answers_count_the_same_rounding(planner: str) -> None:
    release, _ = releases(1, seed=5, planner=planner)[0]
    cube = ReleasedCube.from_manifest(release.manifest)
    query = Query(tuple(Grouping(name) for name in DOMAINS), margins=True)
    found = OneRelease(cube, release).sums("count", select(cube, query), CancelToken())
    plain = ReleasedCube.from_manifest(release.manifest)
    object.__setattr__(plain.settings, "integral", False)
    bare = OneRelease(plain, release).sums("count", select(plain, query), CancelToken())
    added = found.variances - bare.variances
    for mask in range(8):
        inside = [bool(mask >> axis & 1) for axis in range(3)]
        place = tuple(0 if own else -1 for own in inside)
        expected = rounding_of_cell(inside, SHAPE) if planner == "all" else 0.0
        assert added[place] == pytest.approx(expected)
