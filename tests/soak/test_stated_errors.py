"""Whether stated errors are true, for every combination of settings, and what l1 and linf add."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from types import TracebackType
from typing import Any

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.consistency import linear
from dpdesk.engine.cubes.solver import Answer, Program
from dpdesk.engine.methods.dp_cube.solver_worker import solve
from tests.helpers.cube_errors import MEASURES, Study, budget, design_of, people
from tests.helpers.cube_trials import tried
from tests.helpers.soak import SoakBook, scaled

DRAWS = 20_000
LINEAR_DRAWS = 200
PLANNERS: dict[str, dict[str, Any]] = {
    "bmax": {},
    "pmost": {"planner": "pmost", "theta": 40},
    "all": {"planner": "all"},
    "base": {"planner": "base"},
    "exact": {"planner": "exact"},
    "optimal": {"planner": "optimal"},
    "residuals": {"planner": "optimal", "basis": "residuals"},
    "all, not consistent": {"planner": "all", "consistency": "none"},
}


def settings_of(planner: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows per person, and the keys of a plan, for everything else that can be set."""
    for gaussian, measure, epsilon, neighbours, rows in product(
        (False, True), MEASURES, (0.2, 1, 5, 20), ("add-remove", "replace"), (1, 3)
    ):
        several = neighbours == "replace" and measure != "count"
        if planner == "residuals" and (not gaussian or several):
            continue  # refused by design
        keys = {"measure": MEASURES[measure], "neighbours": neighbours}
        yield rows, keys | budget(epsilon, gaussian=gaussian) | PLANNERS[planner]


@pytest.mark.parametrize("planner", PLANNERS)
def test_all_settings_state_their_errors_truly(planner: str, book: SoakBook) -> None:
    draws, table, faults = scaled(DRAWS), people(), []
    ratios, covered, off, count = [], [], 0.0, 0
    for seed, (rows, keys) in enumerate(settings_of(planner)):
        found = tried(Study(design_of(rows, **keys), table), draws, seed)
        faults += [f"{keys}, {rows} rows: {fault}" for fault in found.faults]
        ratios.append(found.ratio)
        covered.append(found.covered)
        off, count = max(off, abs(found.stated - 1)), count + 1
    book.note(
        f"Stated errors, planner {planner}",
        f"{count} settings, {draws:,} draws each",
        f"stated variance within {off:.0e} of what the processing gives; drawn ones "
        f"{min(ratios):.3f} to {max(ratios):.3f} of it (extremes of all tables); at least "
        f"{min(covered):.2%} of a cell's errors within the ±",
    )
    assert not faults
    assert off < 1e-9


class InProcess:
    """The solver without a process of its own, which would take a second each time."""

    def __enter__(self) -> InProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        pass

    def solve(self, program: Program, seconds: float, token: CancelToken) -> Answer:
        return solve(program, seconds)


@pytest.mark.parametrize("consistency", ["l1", "linf"])
def test_linear_consistency_exceeds_the_variance_of_least_squares(
    consistency: str, book: SoakBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "Solver", InProcess)
    draws, excess, covered, count = scaled(LINEAR_DRAWS), [], [], 0
    for planner, gaussian, epsilon in product(
        ("all", "bmax", "exact", "optimal"), (False, True), (0.2, 1, 5)
    ):
        keys = PLANNERS[planner] | budget(epsilon, gaussian=gaussian)
        study = Study(design_of(**keys, consistency=consistency), people(40))
        noise = np.split(study.noise(draws, 7), np.cumsum(sizes(study))[:-1], axis=1)
        shaped = [
            part.reshape(draws, *shape) for part, shape in zip(noise, study.shapes, strict=True)
        ]
        errors = np.array([study.processed([part[n] for part in shaped]) for n in range(draws)])
        squares = (errors**2).mean(axis=0) / study.stated()
        excess += [float(squares[table.cells].mean()) for table in study.tables]
        covered.append(float((np.abs(errors) <= study.widths() + 1e-9).mean(axis=0).min()))
        count += 1
    book.note(
        f"Variance with the consistency {consistency}, by that of least squares, which is stated",
        f"{count} plans, {draws:,} draws each, 8 tables",
        f"median {np.median(excess):.2f}, from {min(excess):.2f} to {max(excess):.2f}; at least "
        f"{min(covered):.1%} of a cell's errors within the stated ±",
    )
    assert min(excess) > 0.7


def sizes(study: Study) -> list[int]:
    return [int(np.prod(shape, dtype=int)) for shape in study.shapes]
