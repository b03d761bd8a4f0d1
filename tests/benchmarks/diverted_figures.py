"""The figures 4 to 12 of the l-diverted paper, measured on the data of DPDESK_TEST_DATA.

Run as ``python -m tests.benchmarks.diverted_figures --out FOLDER`` (``--quick`` measures less).
Writes each figure as an SVG file and all numbers to ``figures.md``. Every number compares with the
true counts; nothing of it is a release.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, lgamma, log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Axis, Chart, format_figure
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.l_diverted.comparing import (
    SELECTIVITIES,
    SELECTIVITY,
    SIZE,
    Codes,
    Measured,
    Sample,
    Setting,
    Trial,
    Way,
    lines_chart,
    measure,
    random_pool,
    selectivity_lines,
    size_lines,
    small_lines,
    way_label,
)
from dpdesk.engine.methods.l_diverted.estimation.estimate import (
    collapsed,
    iterative_bayes,
    nonnegative,
)
from dpdesk.engine.methods.l_diverted.groups import FullTransition, group_model
from dpdesk.engine.methods.l_diverted.mechanism import divert
from dpdesk.engine.noise.randomness import SystemRandomness
from dpdesk.report.svg import render_document

PAIRS = (0.001, 0.003, 0.005, 0.007)
Row = dict[str, str]


@dataclass(frozen=True, eq=False)
class Case:
    """A data set: its table, the second sensitive column, the ℓ′ of the paper's figures 8 to 11."""

    name: str
    sample: Sample
    second: Codes
    size: int


def codes(texts: Iterable[str]) -> Codes:
    return np.unique(list(texts), return_inverse=True)[1].astype(np.int32)


def intervals(numbers: Iterable[float], count: int) -> Codes:
    """Codes of as many intervals with about equal numbers of rows."""
    found = np.array(list(numbers))
    ends = np.quantile(found, np.linspace(0, 1, count + 1)[1:-1])
    return codes(np.searchsorted(ends, found, side="right").astype(str).tolist())


def case(name: str, rows: Sequence[Row], sensitive: Codes, second: Codes, columns: str) -> Case:
    table = np.array([codes(row[column] for row in rows) for column in columns.split()])
    sample = Sample(table, sensitive, int(sensitive.max()) + 1)
    return Case(name, sample, second, min(5, sample.largest_group))


def adult(folder: Path) -> Case:
    names = ["age", "workclass", "fnlwgt", "education", "num", "marital", "occupation"]
    names += ["relationship", "race", "sex", "gain", "loss", "hours", "country", "salary"]
    with (folder / "adult" / "adult.data").open(encoding="utf-8") as file:
        rows = [dict(zip(names, (cell.strip() for cell in row), strict=True))
                for row in csv.reader(file) if len(row) == len(names)]  # fmt: skip
    return case(
        "adult: occupation",
        rows,
        codes(row["occupation"] for row in rows),
        intervals((float(row["age"]) for row in rows), 10),
        "workclass education marital relationship race sex salary",
    )


def table_of(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def national(folder: Path) -> Case:
    rows = table_of(folder / "nist" / "national2019.csv")
    return case(
        "national2019: EDU",
        rows,
        codes(row["EDU"] for row in rows),
        intervals((float(row["AGEP"]) for row in rows), 10),
        "SEX MSP HISP RAC1P HOUSING_TYPE OWN_RENT INDP_CAT PINCP_DECILE DPHY",
    )


def eusilc(folder: Path) -> Case:
    rows = table_of(folder / "eusilc" / "eusilcP.csv")
    numbers = [float(row["eqIncome"] or 0) for row in rows]
    return case(
        "eusilcP: eqIncome in 20 intervals",
        rows,
        intervals(numbers, 20),
        intervals((float(row["age"] or 0) for row in rows), 10),
        "region hsize gender ecoStat citizenship main",
    )


@dataclass
class Work:
    """One case being measured: charts and figures so far."""

    case: Case
    pool: Codes
    releases: int
    charts: list[tuple[str, Chart]]

    def measured(
        self, ways: Iterable[tuple[Way, Setting]], sample: Sample | None = None
    ) -> tuple[Measured, ...]:
        trials = [Trial(way, setting) for way, setting in ways]
        table = sample or self.case.sample
        return measure(
            table, self.pool, trials, self.releases, SystemRandomness(), CancelToken(), silent
        )

    def add(self, figure: str, chart: Chart) -> None:
        self.charts.append((figure, chart))

    @property
    def sizes(self) -> list[int]:
        return [size for size in range(2, 11) if size <= self.case.sample.largest_group]


def figures_4_and_5(work: Work) -> None:
    kinds = {"4": Way.MIXED, "4, as printed": Way.PAPER}
    found = {way: work.measured((way, Setting(size)) for size in work.sizes)
             for way in kinds.values()}  # fmt: skip
    for figure, way in kinds.items():
        question = f"How does the error grow with ℓ′? {way.value}"
        work.add(figure, lines_chart("figure-4", question, SIZE, size_lines(found[way])))
    lines = small_lines({way.value: each for way, each in found.items()})
    work.add("5", lines_chart("figure-5", "How wrong are counts below 10?", SIZE, lines))


def expected_error(count: int, size: int) -> float:
    """E|f′ − f|/f of a query on the sensitive value alone, exactly.

    De Moivre's mean deviation of a binomial count with mean f: 2(f+1)(1−p)·Pr(f′ = f+1), for f′ ~
    Binomial(ℓ′f, p = 1/ℓ′).
    """
    trials, k = size * count, count + 1
    chance = exp(
        lgamma(trials + 1)
        - lgamma(k + 1)
        - lgamma(trials - k + 1)
        - k * log(size)
        + (trials - k) * (log(size - 1) - log(size))
    )
    return 2 * k * (1 - 1 / size) * chance / count


def value_errors(
    counts: NDArray[np.int64], sizes: Iterable[int]
) -> Mapping[int, tuple[tuple[int, float], ...]]:
    """For each ℓ′ the expected relative error of every value's own count: (rows, error)."""
    return {
        size: tuple((int(f), expected_error(int(f), size)) for f in counts if f > 0)
        for size in sizes
    }


def figures_6_and_7(work: Work) -> None:
    counts = np.bincount(work.case.sample.sensitive)
    errors = value_errors(counts, work.sizes)
    sizes = np.array(work.sizes, float)
    fewest, most = int(np.argmin(counts)), int(np.argmax(counts))
    values = {f"rarest value, {counts[fewest]:,} rows": fewest,
              f"most frequent value, {counts[most]:,} rows": most}  # fmt: skip
    lines = {
        name: (sizes, np.array([errors[size][place][1] for size in work.sizes]))
        for name, place in values.items()
    }
    question = "How wrong are counts of the sensitive value alone? (exact)"
    work.add("6", lines_chart("figure-6", question, SIZE, lines, log=True))
    order = np.argsort(counts, kind="stable")
    shares = counts[order] / counts.sum()
    lines = {
        f"ℓ′ = {size}": (shares, np.array([errors[size][place][1] for place in order]))
        for size in work.sizes
    }
    axis = Axis("Share of the rows", percent=True)
    work.add("7", lines_chart("figure-7", question, axis, lines, log=True))


def figures_8_and_9(work: Work) -> None:
    setting = Setting(work.case.size)
    rows = [work.case.sample.rows * part // 4 for part in (1, 2, 3, 4)]
    generator = np.random.default_rng(9)
    parts = [work.case.sample.cut(count, generator) for count in rows]
    kept = [part for part in parts if part.largest_group >= setting.size]
    for figure, way in (("8", Way.ANATOMY), ("9", Way.MIXED), ("9, as printed", Way.PAPER)):
        found = [work.measured([(way, setting)], part)[0] for part in kept]
        labels = [f"{part.rows:,} rows" for part in kept]
        question = f"Does the error depend on the number of rows? {way.value}"
        lines = selectivity_lines(found, labels)
        work.add(figure, lines_chart("figure-8", question, SELECTIVITY, lines))


def query_lines(
    groups: Mapping[str, Sequence[Measured]], place: int
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """One line for each group of trials: error of a bin of selectivity by the number m."""
    return {
        label: (
            np.array([float(each.trial.setting.queries) for each in measured]),
            np.array([each.by_selectivity[place] for each in measured]),
        )
        for label, measured in groups.items()
    }


def figures_10_and_11(work: Work) -> None:
    setting = Setting(work.case.size)
    noise = [replace(setting, epsilon=Fraction(*each)) for each in ((1, 100), (1, 20))]
    ways = [(way, setting) for way in Way if way is not Way.LAPLACE]
    found = work.measured([*ways, *((Way.LAPLACE, each) for each in noise)])
    question = f"Which way is the most accurate? (ℓ′ = {setting.size})"
    lines = selectivity_lines(found, [way_label(each) for each in found])
    work.add("10", lines_chart("figure-10", question, SELECTIVITY, lines, log=True))
    counts = (10, 25, 50, 75, 100)
    groups = {
        f"Laplace, ε = {float(each.epsilon):g}": work.measured(
            (Way.LAPLACE, replace(each, queries=count)) for count in counts
        )
        for each in noise
    }
    alone = work.measured([(Way.MIXED, setting)])[0]
    groups[Way.MIXED.value] = [
        replace(alone, trial=Trial(Way.MIXED, replace(setting, queries=count))) for count in counts
    ]
    axis = Axis("Queries answered, m", whole=True)
    place = SELECTIVITIES.index(0.02)
    question = "What does the number of queries cost? (selectivity 2 to 3 %)"
    lines = query_lines(groups, place)
    work.add("11", lines_chart("figure-11", question, axis, lines, log=True))


def figure_12(work: Work, predicates: int) -> None:
    """Two sensitive columns, by ℓ′ and selectivity, for both estimators of a conjunction."""
    second = work.case.second
    largest = min(work.case.sample.largest_group, len(second) // int(np.bincount(second).max()))
    sizes = [size for size in range(2, 9) if size <= largest]
    errors: dict[str, list[list[float]]] = {}
    for size in sizes:
        for label, found in pair_errors(work, size, predicates).items():
            errors.setdefault(label, []).append(found)
    x = np.array(sizes, float)
    for estimator in ("all values at once", "corrected iterative Bayes"):
        lines = {
            f"selectivity {low:.1%}": (
                x, np.array([found[place] for found in errors[estimator]])
            )
            for place, low in enumerate(PAIRS)
        }  # fmt: skip
        question = f"How wrong are counts with two sensitive values? ({estimator})"
        work.add("12", lines_chart("figure-12", question, SIZE, lines))


def pair_errors(work: Work, size: int, predicates: int) -> dict[str, list[float]]:
    sample, token, source = work.case.sample, CancelToken(), SystemRandomness()
    rows = sample.rows - sample.rows % size
    truth = [sample.sensitive[:rows], work.case.second[:rows]]
    widths = [sample.values, int(work.case.second.max()) + 1]
    drawn = [divert(each, width, size, "mixed", source, token)
             for each, width in zip(truth, widths, strict=True)]  # fmt: skip
    models = [
        FullTransition(group_model(np.bincount(each, minlength=width), size, mixed=True))
        for each, width in zip(drawn, widths, strict=True)
    ]
    everything = table(drawn, np.ones(rows, bool), widths)
    kept: dict[str, list[list[float]]] = {}
    for wanted in work.pool[:predicates]:
        hits = ((wanted == sample.columns[:, :rows].T) | (wanted < 0)).all(axis=1)
        counts, seen = table(truth, hits, widths), table(drawn, hits, widths)
        share = counts / rows
        full = nonnegative(seen, models)
        for first, other in np.argwhere(share >= PAIRS[0]):
            true = counts[first, other]
            pair = [collapsed(each, (first, other)) for each in (seen, everything)]
            found = {
                "all values at once": full[first, other],
                "corrected iterative Bayes": iterative_bayes(pair[0], pair[1], size)[1, 1],
            }
            place = int(np.searchsorted(PAIRS, share[first, other], side="right")) - 1
            for label, value in found.items():
                bins = kept.setdefault(label, [[] for _ in PAIRS])
                bins[place].append(abs(value - true) / true)
    return {
        label: [float(np.mean(each)) if each else float("nan") for each in bins]
        for label, bins in kept.items()
    }


def table(values: Sequence[Codes], hits: np.ndarray, widths: Sequence[int]) -> np.ndarray:
    found = np.zeros(tuple(widths))
    np.add.at(found, tuple(each[hits] for each in values), 1)
    return found


def written(work: Work, out: Path) -> list[str]:
    """Write the charts of a case; the lines of its chapter."""
    lines = [f"## {work.case.name}, {work.case.sample.rows:,} rows", ""]
    for place, (figure, chart) in enumerate(work.charts):
        name = f"{work.case.name.split(':')[0]}-{place:02}-{chart.id}.svg"
        (out / name).write_text(render_document(chart), encoding="utf-8")
        lines += [f"Figure {figure}. {chart.question}", ""]
        lines += ["| " + " | ".join(chart.table.columns) + " |"]
        lines += ["| " + " | ".join("---" for _ in chart.table.columns) + " |"]
        for first, *rest in chart.table.rows:
            cells = [format_figure(each if isinstance(each, float) else None, "share")
                     for each in rest]  # fmt: skip
            lines.append(f"| {first:g} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--quick", action="store_true")
    given = options.parse_args()
    folder = Path(os.environ["DPDESK_TEST_DATA"])
    given.out.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    loaders: tuple[Callable[[Path], Case], ...] = (adult, national, eusilc)
    for load in loaders:
        began, loaded = time.perf_counter(), load(folder)
        generator = np.random.default_rng(7)
        pool = random_pool(loaded.sample, 40 if given.quick else 300, 3, generator)
        work = Work(loaded, pool, 1 if given.quick else 3, [])
        for figures in (figures_4_and_5, figures_6_and_7, figures_8_and_9, figures_10_and_11):
            figures(work)
        figure_12(work, 8 if given.quick else 40)
        lines += written(work, given.out)
        print(f"{loaded.name}: {time.perf_counter() - began:.0f} s", flush=True)
    (given.out / "figures.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
