"""How often the ± of released cubes, and of answers from them, holds the truth, over many draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.olap.combined import reader_of
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import read_grid
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.private.kinds import Noise, bounds_in_steps
from dpdesk.report.cubes import table_width
from tests.helpers.released_cubes import MemoryRelease, design, released

DOMAINS = {
    "sex": ("f", "m"),
    "region": ("n", "s", "w"),
    "age": tuple(f"{ten}0-{ten}9" for ten in range(12)),
}
SHAPE = tuple(len(labels) for labels in DOMAINS.values())
AXES = tuple(DOMAINS)
AVERAGE = {"average": "pay", "lower": 0, "upper": 4}
SUM = {"sum": "pay", "lower": -3, "upper": 5}
POSITIVE = {"sum": "pay", "lower": 0, "upper": 4}

CASES: dict[str, tuple[dict[str, Any], ...]] = {
    "count": ({"epsilon": 1},),
    "count, narrow noise": ({"epsilon": 12, "planner": "all"},),
    "count, Gaussian": ({"rho": 0.5, "planner": "optimal", "basis": "residuals"},),
    "count, not consistent": ({"epsilon": 2, "planner": "all", "consistency": "none"},),
    "count, whole": ({"epsilon": 4, "planner": "all", "integral": True},),
    "count, whole, narrow noise": ({"epsilon": 12, "planner": "all", "integral": True},),
    "count, whole, Gaussian": ({"rho": 2, "planner": "all", "integral": True},),
    "count, whole, optimal": ({"epsilon": 2, "planner": "optimal", "integral": True},),
    "sum, whole": ({"epsilon": 3, "measure": POSITIVE, "planner": "all", "integral": True},),
    "count alongside exact tables": ({"epsilon": 2, "exact": [["sex"], ["region"]]},),
    "sum": ({"epsilon": 1, "measure": SUM},),
    "sum, Gaussian, replace": ({"rho": 1, "measure": SUM, "neighbours": "replace"},),
    "average": ({"epsilon": 6, "measure": AVERAGE, "planner": "base"},),
    "average, Gaussian, replace": ({"rho": 4, "measure": AVERAGE, "neighbours": "replace"},),
    "two releases": ({"epsilon": 2}, {"epsilon": 1, "planner": "all"}),
    "two releases of other noise": ({"epsilon": 3, "planner": "all"}, {"rho": 2}),
    "two releases with averages": (
        {"epsilon": 4, "measure": AVERAGE},
        {"epsilon": 6, "measure": AVERAGE, "planner": "all"},
    ),
}
"""The plans of one release, or of several that are read together."""

MOVED: dict[str, tuple[dict[str, Any], ...]] = {
    "no negative numbers": ({"epsilon": 1, "nonnegative": True},),
    "no negative numbers, base": ({"epsilon": 1, "nonnegative": True, "planner": "base"},),
    "no negative numbers, whole": ({"epsilon": 1, "nonnegative": True, "integral": True},),
}
"""Plans of releases whose ± is not said to hold for what they show."""
STATED = "as the release states"

QUERIES = {
    "every cell": Query(tuple(Grouping(name) for name in DOMAINS), margins=True),
    "rolled up": Query((Grouping("region"),), margins=True),
    "conditions": Query(
        (Grouping("sex"),), (Chosen("age", ("00-09", "20-29", "50-59")),), margins=True
    ),
    "total": Query(),
}


@dataclass(frozen=True)
class Truth:
    """Persons, and sums of pay, in the base cells."""

    persons: np.ndarray
    pay: np.ndarray

    @classmethod
    def of(cls, low: int, high: int, seed: int = 5) -> Truth:
        """Everybody's pay lies between the bounds; few of them at the middle."""
        generator = np.random.default_rng(seed)
        persons = generator.integers(3, 12, SHAPE)
        near = generator.random(SHAPE) < 0.7
        pay = np.where(near, persons * high, persons * low)
        return cls(persons, pay)

    @classmethod
    def sparse(cls, high: int, seed: int = 5) -> Truth:
        """About one cell in twelve has people, all with the highest pay."""
        generator = np.random.default_rng(seed)
        persons = np.where(generator.random(SHAPE) < 0.08, generator.integers(3, 12, SHAPE), 0)
        return cls(persons, persons * high)

    def measured(self, channel: Channel) -> np.ndarray:
        """What a channel measures of the base cells, in grid steps."""
        if channel.measure.kind == COUNT:
            return self.persons
        lowest, highest = bounds_in_steps(channel.measure)
        offset = float(channel.measure.offset)
        found = np.rint((self.pay - offset * self.persons) / float(channel.unit)).astype(np.int64)
        assert (found >= lowest * self.persons).all()
        assert (found <= highest * self.persons).all()
        return np.asarray(found)


def noise_of(
    channel: Channel, number: int, shape: Sequence[int], generator: np.random.Generator
) -> np.ndarray:
    """Noise of a source: the exact distributions, from a stream that repeats."""
    spread = float(channel.spreads[number])
    if channel.plan.noise is Noise.LAPLACE:
        chance = -np.expm1(-1 / spread)
        drawn = [generator.geometric(chance, shape) for _ in range(2)]
        return np.asarray(drawn[0] - drawn[1])
    reach = int(9 * spread**0.5) + 9
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-(values.astype(float) ** 2) / (2 * spread))
    return generator.choice(values, shape, p=weights / weights.sum())


def _noisy(made: CubeDesign, truth: Truth, generator: np.random.Generator) -> Iterator[np.ndarray]:
    for channel in made.channels:
        base = truth.measured(channel)
        for number, source in enumerate(channel.plan.sources):
            away = tuple(axis for axis in range(len(SHAPE)) if not source.cuboid >> axis & 1)
            table = base.sum(axis=away)
            if source.residual:
                table = _residual(base, source.cuboid)
            yield table + noise_of(channel, number, table.shape, generator)


def _residual(base: np.ndarray, mask: int) -> np.ndarray:
    """A residual times the number of its cells: whole numbers, as they are measured."""
    away = tuple(axis for axis in range(base.ndim) if not mask >> axis & 1)
    table = base.sum(axis=away)
    for axis in range(table.ndim):
        table = table * table.shape[axis] - table.sum(axis=axis, keepdims=True)
    return np.asarray(table)


def truth_of(query: Query, measure: str, truth: Truth) -> np.ndarray:
    """The true answer, worked out from the base cells, margins last."""
    inside = [np.ones(count, dtype=bool) for count in SHAPE]
    for condition in query.where:
        assert isinstance(condition, Chosen)
        axis = AXES.index(condition.column)
        inside[axis] = np.isin(DOMAINS[condition.column], condition.values)
    shown = [AXES.index(each.column) for each in query.by]
    parts = []
    for table in (truth.persons, truth.pay):
        found = table.astype(float)
        for axis, kept in enumerate(inside):
            found = found * kept.reshape([-1 if i == axis else 1 for i in range(3)])
        found = found.sum(axis=tuple(axis for axis in range(3) if axis not in shown))
        for place in range(found.ndim if query.margins else 0):
            total = found.sum(axis=place, keepdims=True)
            found = np.concatenate([found, total], axis=place)
        parts.append(found)
    persons, pay = parts
    if measure == "count":
        return persons
    return pay if measure.startswith("sum") else pay / persons


def stated(release: MemoryRelease, truth: Truth) -> Iterator[tuple[str, np.ndarray]]:
    """By table and measure whether the ± of its page holds each cell's truth; NaN where untold."""
    items = release.manifest.result["cuboids"]
    assert isinstance(items, list)
    for item in items:
        measure = str(item.get("measure", ""))
        if measure.startswith("centred"):
            continue
        values = release.tables[item["file"]].values
        away = tuple(axis for axis, name in enumerate(AXES) if name not in item["dimensions"])
        persons, pay = truth.persons.sum(axis=away), truth.pay.sum(axis=away)
        width: Any = table_width(item, release.manifest)
        plain = release.manifest.parameters["measure"] == "count"
        wanted = persons if measure == "count" or (plain and not measure) else pay
        if measure.startswith("average"):
            same = [each for each in items if each["dimensions"] == item["dimensions"]]
            file = next(each["file"] for each in same if each["measure"] == "count")
            counts = np.asarray(release.tables[file].values, dtype=float)
            width = np.where(counts >= 1, width / np.maximum(counts, 1), np.nan)
            wanted = pay / persons
        held = np.abs(values - wanted) <= width + 1e-6
        yield str(item["file"]), np.where(np.isnan(width), np.nan, held)


def coverage(
    case: str, draws: int, seed: int = 1, truth: Truth | None = None
) -> dict[tuple[str, str], np.ndarray]:
    """By query and measure how often the ± held each number's truth, of the draws that told it.

    So do the ± that the release itself states, by table.
    """
    generator = np.random.default_rng(seed)
    plans = (CASES | MOVED)[case]
    low, high = (-3, 5) if plans[0].get("measure") == SUM else (0, 4)
    truth = truth or Truth.of(low, high)
    designs = [design(DOMAINS, **keys) for keys in plans]
    held: dict[tuple[str, str], list[np.ndarray]] = {}
    for _ in range(draws):
        contents: list[MemoryRelease] = [
            released(made, tuple(_noisy(made, truth, generator)), DOMAINS,
                     counts=truth.persons, **keys)
            for made, keys in zip(designs, plans, strict=True)
        ]  # fmt: skip
        cubes = [(ReleasedCube.from_manifest(each.manifest), each) for each in contents]
        for content in contents:
            for table, inside in stated(content, truth):
                held.setdefault((STATED, table), []).append(inside)
        reader = reader_of(cubes)
        for name, query in QUERIES.items():
            for measure in cubes[0][0].measures:
                asked = Query(query.by, query.where, measure, query.margins)
                grid = read_grid(reader, asked, CancelToken())
                wanted = truth_of(query, measure, truth)
                missed = np.abs(grid.values - wanted) > grid.half_widths + 1e-6
                told = np.where(np.isnan(grid.values), np.nan, ~missed)
                held.setdefault((name, measure), []).append(told)
    return {key: np.asarray(np.nanmean(each, axis=0)) for key, each in held.items()}
