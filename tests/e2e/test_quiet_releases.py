"""A program that draws less noise than it states is found with the source, an honest one is not."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from math import exp
from pathlib import Path

import numpy as np
import pytest

from dpdesk.app.context import AppContext
from dpdesk.engine.methods.dp_choice import design as choosing
from dpdesk.verifiers import views
from dpdesk.verifiers.noise import laplace_variance
from tests.helpers.neighbours import NoNoise
from tests.helpers.quiet import Redrawn, domains, redrawn

DRAWS = 5


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def people(sizes: list[int], rows: int, skew: float = 1.0) -> tuple[list[str], str]:
    """Rows over dimensions of so many categories, and the keys that declare them."""
    draw = random.Random(11)
    named = {f"d{j}": [f"v{n}" for n in range(size)] for j, size in enumerate(sizes)}
    lines = [",".join([*named, "pay"])]
    for _ in range(rows):
        row = [each[int(len(each) * draw.random() ** skew)] for each in named.values()]
        lines.append(",".join([*row, str(draw.randint(0, 3000))]))
    return lines, f"dimensions = {json.dumps(list(named))}\n{domains(named)}"


def faults_of(release: Redrawn) -> tuple[list[str], list[str]]:
    """What is told of honest tables, and of such without noise."""
    with closing(release.data):
        honest = [fault for _ in range(DRAWS) for fault in release.told(release.noisy())]
        return honest, release.told(release.noisy(NoNoise()))


SUM = 'measure = { sum = "pay", lower = 0, upper = 2000, step = 10 }\n'
CUBES = {
    "sums": ([12, 9], 1.0, f"epsilon = 1\n{SUM}"),
    "sums as they were drawn": ([12, 9], 1.0, f'epsilon = 1\n{SUM}consistency = "none"\n'),
    "averages": (
        *([12, 9], 1.0),
        'epsilon = 1\nmeasure = { average = "pay", lower = 17, upper = 2000, step = 5 }\n',
    ),
    "exact tables": ([8, 6, 3], 1.0, 'epsilon = 1\nexact = [["d0"], ["d1"]]\n'),
    "exact cells": (
        *([10, 8], 1.0),
        'epsilon = 1\nconsistency = "none"\n'
        'exact = [{ cuboid = ["d0", "d1"], cells = [["v0", "v0"], ["v1", "v2"]] }]\n',
    ),
    "no negative numbers": (
        *([12, 9], 3.0),
        'epsilon = 1\nplanner = "base"\nnonnegative = true\n',
    ),
    "none met": ([12, 9], 1.0, 'epsilon = 1\nplanner = "all"\nnonnegative = true\n'),
    "whole numbers": ([12, 9], 1.0, 'epsilon = 0.2\nplanner = "all"\nintegral = true\n'),
    "margins alone": (
        *([4] * 6, 1.0),
        'epsilon = 1\nplanner = "base"\npublish = { max_dimensions = 3 }\n',
    ),
    "residuals": ([7, 6, 4], 1.0, 'rho = 0.05\nplanner = "optimal"\nbasis = "residuals"\n'),
    "one noisy table": ([12, 9], 1.0, 'epsilon = 1\nplanner = "base"\nconsistency = "linf"\n'),
    "many noisy tables": (
        *([9, 8, 7, 3, 2, 2, 2], 1.0),
        'epsilon = 1\nplanner = "all"\npublish = { max_dimensions = 3 }\n',
    ),
    "two categories each": ([2] * 8, 1.0, 'epsilon = 1\nplanner = "base"\n'),
}


@pytest.mark.parametrize("name", CUBES)
def test_cubes_of_every_kind(name: str, context: AppContext, tmp_path: Path) -> None:
    sizes, skew, keys = CUBES[name]
    lines, named = people(sizes, 30_000 if name == "none met" else 3_000, skew)
    protection = f'method = "dp-cube"\n{named}{keys}'
    honest, quiet = faults_of(redrawn(context, tmp_path / name, lines, protection))
    assert honest == []
    assert len(quiet) == 1
    assert quiet[0].endswith("has less noise than is stated")


@pytest.mark.parametrize("keys", ["epsilon = 1\n", "rho = 0.05\n"])
def test_views(keys: str, context: AppContext, tmp_path: Path) -> None:
    lines, named = people([4, 4, 4, 4], 20_000)
    protection = f'method = "priview"\n{named}{keys}view_size = 2\nmarginals = {{ size = 2 }}\n'
    release = redrawn(context, tmp_path / f"views {keys[:3]}", lines, protection)
    honest, quiet = faults_of(release)
    assert honest == []
    assert len(quiet) == 1
    assert quiet[0].endswith("has less noise than is stated")


def test_that_no_cell_of_a_view_falls_below_zero_is_bounded() -> None:
    """By the exact chance that noise of a cell falls below its count, where one view has it all."""
    sizes, most = [3], 80
    for scale in (0.5, 1.0, 4.0):
        shown = [{"dimension": "d", "categories": ["a", "b", "c"]}]
        line = {"dimensions": ["d"], "variance": laplace_variance(scale)}
        result = {"domains": shown, "views": [line], "marginals": [], "scales": [scale]}
        given = {"dimensions": ["d"], "epsilon": 1, "publish": []}
        claimed = views._claimed({"parameters": given, "result": result})
        for count in range(0, most, 5):
            bound = views._chance_below(claimed, [scale], 0, np.full(sizes, count))
            each = exp(-(count + 1) / scale) / (1 + exp(-1 / scale))
            assert 1 - (1 - each) ** 3 <= exp(bound) + 1e-15
    assert bound < -10


def test_views_whose_cells_are_small_tell_nothing(context: AppContext, tmp_path: Path) -> None:
    """Where a cell may have been below 0, what was done to it is not known."""
    lines, named = people([4, 4, 4, 4], 1_000)
    protection = f'method = "priview"\n{named}epsilon = 1\nview_size = 2\nmarginals = [["d0"]]\n'
    assert faults_of(redrawn(context, tmp_path / "small", lines, protection)) == ([], [])


@pytest.mark.parametrize("keys", ["top = 20\n", 'top = 20\nmine = "views"\nview_size = 4\n'])
def test_sets_of_items(keys: str, context: AppContext, tmp_path: Path) -> None:
    draw = random.Random(5)
    named = {f"i{j}": ["n", "y"] for j in range(10)}
    rows = (",".join("ny"[draw.random() < 0.6 - j / 30] for j in range(10)) for _ in range(40_000))
    lines = [",".join(named), *rows]
    protection = (
        f'method = "itemsets"\ndimensions = {json.dumps(list(named))}\n{domains(named)}'
        f"epsilon = 1\n{keys}"
    )
    honest, quiet = faults_of(redrawn(context, tmp_path / f"sets {len(keys)}", lines, protection))
    assert honest == []
    assert len(quiet) == 1
    assert quiet[0].endswith("has less noise than is stated")


CHOOSE = {
    "median": '{ quantile = 0.5, of = "pay", lower = 0, upper = 2000 }',
    "quantile": '{ quantile = 0.9, of = "pay", lower = 0, upper = 2000, step = 5 }',
    "mode": '{ mode = "d1" }',
}


@pytest.mark.parametrize("name", CHOOSE)
def test_choices_that_are_always_the_best(
    name: str, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, _ = people([150, 12], 4_000)
    named = {"d0": [f"v{n}" for n in range(150)], "d1": [f"v{n}" for n in range(12)]}
    if name != "mode":
        del named["d1"]
    protection = (
        f'method = "dp-choice"\ngroups = ["d0"]\n{domains(named)}epsilon = 1\n'
        f"choose = [{CHOOSE[name]}]\n"
    )
    release = redrawn(context, tmp_path / name, lines, protection)
    with closing(release.data):
        for _ in range(DRAWS):
            assert release.told(release.noisy()) == []
        monkeypatch.setattr(choosing, "choose_run", lambda gaps, *_: gaps.index(min(gaps)))
        assert release.told(release.noisy()) == [
            "the choices are better than those that are drawn as stated"
        ]


def test_a_tenth_of_the_noise_is_found_where_cells_are_many(
    context: AppContext, tmp_path: Path
) -> None:
    lines, named = people([16, 12], 3_000)
    protection = f'method = "dp-cube"\n{named}epsilon = 1\n{SUM}'
    release = redrawn(context, tmp_path / "tenth", lines, protection)
    with closing(release.data):
        for _ in range(DRAWS):
            assert len(release.told(release.part(10))) == 1
