"""The errors of whole releases of small cubes, drawn and in closed form, for tests and soak runs.

The closed form shares nothing with the planners: the processing is asked what it makes of a unit in
one noisy cell, cell by cell, and moments of the noise are summed up from its probabilities. From
that follow the exact variance of every published cell, and how far means of squared errors may lie
from it by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import NoisyTables, PrivateInput
from dpdesk.report.cubes import table_width
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.helpers.stated import stated

COLUMNS = ("person", "sex", "region", "age", "pay")
DOMAINS = {"sex": ["f", "m"], "region": ["n", "s", "w"], "age": ["young", "old"]}
ROLES = {
    "person": Role.CLUSTER,
    "sex": Role.QUASI_IDENTIFIER,
    "region": Role.QUASI_IDENTIFIER,
    "age": Role.QUASI_IDENTIFIER,
    "pay": Role.SENSITIVE,
}
MEASURES: dict[str, Any] = {
    "count": "count",
    "sum": {"sum": "pay", "lower": -10, "upper": 50, "step": 5},
    "average": {"average": "pay", "lower": 0, "upper": 40},
    "several": ["count", {"sum": "pay", "lower": 0, "upper": 50, "step": 2}],
}
Numbers = np.ndarray[Any, np.dtype[np.float64]]


def people(persons: int = 160) -> list[tuple[str, ...]]:
    """One or two rows for each person, in all cells but one."""
    rows = []
    for number in range(persons):
        sex, region = "fm"[number % 2], "nsw"[number * number % 3]
        age = "young" if number % 5 else "old"
        pay = str(number * 7 % 60 - 15)
        rows += [(f"p{number}", sex, region, age, pay)] * (1 + number % 2)
    return rows


def design_of(rows_per_person: int = 1, **keys: Any) -> CubeDesign:
    """A design over sex, region and age; ``keys`` are those of a plan."""
    method = DpCube()
    raw = {
        "dimensions": list(DOMAINS),
        "domains": DOMAINS,
        "rows_per_person": rows_per_person,
    } | keys
    given = PrivateInput(ROLES, {}, parse_parameters(method.parameters, raw, "plan"))
    design = method.design(given, CancelToken(), silent)
    assert isinstance(design, CubeDesign)
    return design


@dataclass(frozen=True, eq=False)
class Table:
    """One published table: its line of the result, where its cells lie, and its true values.

    Of an average also where the counts and sums lie that it is made of.
    """

    entry: dict[str, Any]
    cells: slice
    truth: Numbers
    counts: slice | None = None
    sums: slice | None = None

    @property
    def average(self) -> bool:
        return str(self.entry.get("measure")).startswith("average")


@dataclass(frozen=True, eq=False)
class Moments:
    """Of the noise of one noisy cell: variance, and fourth cumulant."""

    variance: float
    fourth: float


def moments(noise: Noise, spread: Fraction) -> Moments:
    """Summed up from the probabilities: exp(-|x|/b), or exp(-x²/2s)."""
    value = float(spread)
    reach = int(60 * value if noise is Noise.LAPLACE else 14 * sqrt(value)) + 60
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    with np.errstate(under="ignore"):
        weights = np.exp(-np.abs(x) / value if noise is Noise.LAPLACE else -x * x / (2 * value))
    weights /= weights.sum()
    second = float(weights @ x**2)
    return Moments(second, float(weights @ x**4) - 3 * second**2)


class Study:
    """A design with everything that can be said of its errors without drawing any."""

    def __init__(self, design: CubeDesign, rows: list[tuple[str, ...]]) -> None:
        self.design, self.token = design, CancelToken()
        self.source = MemorySource.of(COLUMNS, rows)
        shapes = [
            tuple(design.plan.shape[i] for i in range(len(design.plan.shape)) if mask >> i & 1)
            for _ in design.channels
            for mask in (source.cuboid for source in design.plan.sources)
        ]
        self.shapes = shapes
        self.tables = self._tables(rows)

    def _tables(self, rows: list[tuple[str, ...]]) -> list[Table]:
        found, first = [], 0
        result: Any = self.design.result
        for entry in result["cuboids"]:
            truth = true_values(self.design, entry, rows)
            found.append(Table(entry, slice(first, first + truth.size), truth))
            first += truth.size
        return [with_parts(table, found) if table.average else table for table in found]

    def response(self) -> Numbers:
        """What a unit in each noisy cell makes of each published cell: (published, noisy)."""
        sizes = [int(np.prod(shape, dtype=int)) for shape in self.shapes]
        columns = []
        for number, size in enumerate(sizes):
            for place in range(size):
                values = [np.zeros(shape, np.int64) for shape in self.shapes]
                values[number].reshape(-1)[place] = 1
                columns.append(self.processed(values))
        return np.stack(columns, axis=1)

    def processed(self, values: list[Any]) -> Numbers:
        """All published cells in one row."""
        tables = self.design.process(NoisyTables(tuple(values)), self.token, silent)
        return np.concatenate([np.asarray(t.values, np.float64).reshape(-1) for t in tables])

    def noise_moments(self) -> tuple[Numbers, Numbers]:
        """Variance and fourth cumulant of each noisy cell, in the order of :meth:`response`."""
        found = []
        sources = len(self.design.plan.sources)
        for number, shape in enumerate(self.shapes):
            channel = self.design.channels[number // sources]
            of = moments(self.design.plan.noise, channel.spreads[number % sources])
            found += [(of.variance, of.fourth)] * int(np.prod(shape, dtype=int))
        columns = np.array(found)
        return columns[:, 0], columns[:, 1]

    def noise(self, count: int, seed: int) -> Numbers:
        """Noise of that many releases from the sampler of each channel: (draws, noisy)."""
        bits, sources = SeededBits(seed), len(self.design.plan.sources)
        drawn = [
            self.design.channels[number // sources]
            .noise(number % sources, (count, *shape), bits, self.token)
            .reshape(count, -1)
            for number, shape in enumerate(self.shapes)
        ]
        return np.concatenate(drawn, axis=1).astype(np.float64)

    def measured_and_noise(self, seed: int) -> tuple[list[Any], list[Any]]:
        """What measuring gives, and the noise that the same stream gives by itself."""
        debit = debit_for_tests(self.design.charge.cost, self.design.charge.draws)
        measured = self.design.measure(self.source, debit, SeededBits(seed), self.token, silent)
        bits, sources = SeededBits(seed), len(self.design.plan.sources)
        noise = [
            self.design.channels[number // sources].noise(number % sources, shape, bits, self.token)
            for number, shape in enumerate(self.shapes)
        ]
        return list(measured.noisy.values), noise

    @property
    def linear(self) -> Any:
        """Which published cells are sums of noisy ones: all but those of averages."""
        return np.concatenate([np.full(t.truth.size, not t.average) for t in self.tables])

    @property
    def truth(self) -> Numbers:
        return np.concatenate([table.truth for table in self.tables])

    def stated(self) -> Numbers:
        """The stated variance of each published cell; of averages what is to be divided by n²."""
        return np.concatenate(
            [np.full(table.truth.size, float(table.entry["variance"])) for table in self.tables]
        )

    def widths(self) -> Numbers:
        """The stated ± of each published cell; of averages what is to be divided by n."""
        parameters: dict[str, Any] = {"measure": plain_measures(self.design)}
        parameters["rho" if self.design.plan.noise is Noise.GAUSSIAN else "epsilon"] = 1
        manifest = stated(parameters=parameters)
        return np.concatenate(
            [np.full(table.truth.size, table_width(table.entry, manifest)) for table in self.tables]
        )


def with_parts(table: Table, tables: list[Table]) -> Table:
    """The average with the tables of its counts and sums."""
    same = [t for t in tables if t.entry["dimensions"] == table.entry["dimensions"]]
    counts = next(t.cells for t in same if t.entry["measure"] == "count")
    sums = next(t.cells for t in same if t.entry["measure"].startswith("centred"))
    return Table(table.entry, table.cells, table.truth, counts, sums)


def plain_measures(design: CubeDesign) -> list[object]:
    """The measures as the manifest holds them."""
    return [
        "count"
        if measure.kind == "count"
        else {
            measure.kind: measure.column,
            "lower": float(measure.lower),
            "upper": float(measure.upper),
            "step": float(measure.step),
        }
        for measure in design.settings.measures
    ]


def true_values(design: CubeDesign, entry: dict[str, Any], rows: list[tuple[str, ...]]) -> Numbers:
    """The table without noise, row by row; a person's rows beyond the bound are left out."""
    names = entry["dimensions"]
    totals = np.zeros([len(DOMAINS[name]) for name in names])
    counts = np.zeros_like(totals)
    kept: dict[str, int] = {}
    measure = measure_of(design, str(entry.get("measure", "")))
    for row in sorted(rows):
        kept[row[0]] = kept.get(row[0], 0) + 1
        if kept[row[0]] > design.settings.rows_per_person:
            continue
        place = tuple(DOMAINS[name].index(row[COLUMNS.index(name)]) for name in names)
        counts[place] += 1
        totals[place] += 1 if measure is None else on_grid(float(row[4]), *measure)
    if str(entry.get("measure")).startswith("average"):
        with np.errstate(invalid="ignore", divide="ignore"):
            totals = np.where(counts > 0, totals / counts, np.nan)
    return totals.reshape(-1)


def measure_of(design: CubeDesign, name: str) -> tuple[float, float, float, float] | None:
    """Lower, upper, step and offset of a measured vector; None for a count."""
    for measure in design.settings.measures:
        low, high, step = float(measure.lower), float(measure.upper), float(measure.step)
        if measure.kind != "count" and name in ("", f"{measure.kind} of {measure.column}"):
            return low, high, step, 0.0
        if name == f"centred sum of {measure.column}":
            return low - (low + high) / 2, high - (low + high) / 2, step, (low + high) / 2
    return None


def on_grid(value: float, low: float, high: float, step: float, offset: float) -> float:
    """The value less the offset, clipped to the bounds and rounded to the grid, half upwards."""
    steps = np.floor((value - offset) / step + 0.5)
    return float(np.clip(steps, np.ceil(low / step), np.floor(high / step)) * step)


def budget(epsilon: float, *, gaussian: bool) -> dict[str, float]:
    """ε, or the ρ that ε-differential privacy implies: ε²/2."""
    return {"rho": epsilon**2 / 2} if gaussian else {"epsilon": epsilon}
