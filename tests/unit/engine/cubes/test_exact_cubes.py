"""Cubes of which some tables are released exactly: noise, errors, consistency, words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpdesk.core.budget import Noise as LedgerNoise
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.consistency.linear import pinned_cube, pinned_variances
from dpdesk.engine.cubes.consistency.residual import Measured, consistent_cube
from dpdesk.engine.cubes.exact import attack
from dpdesk.engine.methods.dp_cube.bias_charts import lattice_of_design
from dpdesk.engine.methods.dp_cube.charts import TABLES
from dpdesk.engine.methods.dp_cube.errors import widths_at
from dpdesk.engine.methods.dp_cube.exploration import example_cell
from dpdesk.engine.methods.dp_cube.planning import plan_key
from tests.helpers.exact_cubes import (
    NAMES,
    SHAPE,
    counts_for_tests,
    design_of,
    drawn,
    rows_of,
    stated,
    truth,
)
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.reference.cube_consistency import sums

MARGINS = [["a"], ["b"]]
PAIRS = [["a", "b"], ["b", "c"]]

CELLS: dict[str, Any] = {"cuboid": ["b"], "cells": [["0"], ["2"]]}

PLANS: dict[str, dict[str, Any]] = {
    "one": {"exact": [["a"]]},
    "margins": {"exact": MARGINS},
    "pairs": {"exact": PAIRS},
    "all pairs": {"exact": [*PAIRS, ["a", "c"]]},
    "three margins": {"exact": [["a"], ["b"], ["c"]]},
    "total": {"exact": [[]]},
    "bmax": {"exact": MARGINS, "planner": "bmax"},
    "base": {"exact": PAIRS, "planner": "base"},
    "optimal": {"exact": MARGINS, "planner": "optimal"},
    "proven": {"exact": MARGINS, "planner": "exact"},
    "pmost": {"exact": MARGINS, "planner": "pmost", "theta": 900},
    "apart": {"exact": MARGINS, "consistency": "none"},
    "gaussian": {"exact": MARGINS, "rho": 0.5},
    "residuals": {"exact": PAIRS, "rho": 0.5, "planner": "optimal", "basis": "residuals"},
    "cells": {"exact": [CELLS]},
    "cells of two": {"exact": [CELLS, {"cuboid": ["a"], "cells": [["1"]]}]},
    "cells and tables": {"exact": [["a"], {"cuboid": ["c", "b"], "cells": [["1", "0"]]}]},
    "base cells": {"exact": [{"cuboid": ["a", "b", "c"], "cells": [["0", "1", "1"]]}]},
    "cells apart": {"exact": [CELLS], "consistency": "none"},
    "cells, replaced": {"exact": [CELLS], "neighbours": "replace", "rho": 0.5},
    "replaced": {"exact": [["a"]], "neighbours": "replace"},
    "two rows": {"exact": [["a"]], "rows_per_person": 2, "rho": 0.5},
}


@pytest.mark.parametrize("name", PLANS)
def test_exact_tables_come_out_as_counted_and_the_rest_adds_up_to_them(name: str) -> None:
    design, counts = design_of(**PLANS[name]), counts_for_tests()
    source = MemorySource.of(NAMES, rows_of(counts))
    tables, entries = drawn(design, source, SeededBits(4)), stated(design)
    exact = {names for names, item in entries.items() if item["exact"]}
    for each in PLANS[name]["exact"]:
        if not isinstance(each, dict):
            assert tuple(each) in exact
            continue
        names = tuple(sorted(each["cuboid"]))
        assert names not in exact
        for cell in each["cells"]:
            places = dict(zip(each["cuboid"], map(int, cell), strict=True))
            place = tuple(places[one] for one in names)
            assert tables[names][place] == truth(counts, names)[place]
    for names, values in tables.items():
        if names in exact:
            assert (values == truth(counts, names)).all()
            assert entries[names]["variance"] == 0
            continue
        assert entries[names]["variance"] > 0
        for coarse in tables if design.settings.consistency == "l2" else ():
            if set(coarse) < set(names):
                gone = tuple(i for i, each in enumerate(names) if each not in coarse)
                assert np.allclose(values.sum(axis=gone), tables[coarse], atol=1e-8)


@pytest.mark.parametrize(
    "name",
    ["margins", "all pairs", "total", "apart", "gaussian", "residuals", "cells and tables"],
)
def test_stated_variances_are_those_of_many_draws_and_no_value_is_biased(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # For its internal report, each release would play an attack 80 times.
    monkeypatch.setattr(attack, "demonstration", lambda *given: {})
    design, counts = design_of(**PLANS[name]), counts_for_tests()
    source, bits, draws = MemorySource.of(NAMES, rows_of(counts)), SeededBits(9), 120
    found = [drawn(design, source, bits) for _ in range(draws)]
    for names, item in stated(design).items():
        errors = np.array([tables[names] for tables in found]) - truth(counts, names)
        if item["exact"]:
            assert not errors.any()
            continue
        cells, variance = errors[0].size, item["variance"]
        if "exact_cells" in item:  # the variance is that of the least exact cell
            assert ((errors**2).mean(axis=0) / item["variance"]).max() < 1.8
            continue
        # Cells depend on each other at worst wholly: the margins are those of one cell.
        assert abs(errors.mean(axis=0)).max() < 5 * (variance / draws) ** 0.5
        assert 0.6 < (errors**2).mean() / variance < 1.6, (names, cells)


def test_consistency_with_exact_tables_is_least_squares_under_equations() -> None:
    random = np.random.default_rng(5)
    base = random.integers(0, 20, SHAPE).astype(float)
    margin = {0b011: base.sum(axis=2), 0b110: base.sum(axis=0), 0b001: base.sum(axis=(1, 2))}
    noisy = {
        0b111: (base + random.normal(size=SHAPE), 1.0),
        0b101: (base.sum(axis=1) + random.normal(size=(2, 2)), 4.0),
        0b011: (base.sum(axis=2) + random.normal(size=(2, 3)), 2.0),
    }
    for exact in ([0b001], [0b011, 0b110], [0b110]):
        matrix = np.vstack([weight**0.5 * sums(mask, SHAPE) for mask, (_, weight) in noisy.items()])
        right = np.concatenate([weight**0.5 * each.ravel() for each, weight in noisy.values()])
        equations = np.vstack([sums(mask, SHAPE) for mask in exact])
        wanted = np.concatenate([margin[mask].ravel() for mask in exact])
        start = np.linalg.lstsq(equations, wanted, rcond=None)[0]
        free = np.linalg.svd(equations)[2][np.linalg.matrix_rank(equations) :].T
        best = start + free @ np.linalg.lstsq(matrix @ free, right - matrix @ start, rcond=None)[0]
        cube = consistent_cube(
            SHAPE,
            {mask: Measured(values, weight) for mask, (values, weight) in noisy.items()},
            exact={mask: margin[mask] for mask in exact},
        )
        assert np.allclose(cube.cuboid(0b111).ravel(), best, atol=1e-9)
        assert np.allclose(cube.cuboid(0b101).ravel(), sums(0b101, SHAPE) @ best, atol=1e-9)
        spread = free @ np.linalg.pinv(matrix @ free)
        for mask in (0b111, 0b101, 0b110):
            variance = ((sums(mask, SHAPE) @ spread) ** 2).sum(axis=1)
            assert np.allclose(variance, cube.variances()[mask], atol=1e-12)


@pytest.mark.parametrize(
    ("keys", "sensitivity"),
    [
        ({"exact": [["a"]]}, 2),
        ({"exact": [["a"], []]}, 2),
        ({"exact": MARGINS}, 4),
        ({"exact": PAIRS}, 4),
        ({"exact": [["a"], ["a", "b"]]}, 2),
        ({"exact": [["a"], ["b"], ["c"]]}, 8),
        ({"exact": [["a"]], "neighbours": "replace"}, 2),
        ({"exact": [CELLS], "neighbours": "replace"}, 2),
        ({"exact": [["a"], CELLS]}, 4),
        ({"exact": MARGINS, "rows_per_person": 3}, 12),
    ],
)
def test_noise_hides_a_minimal_change_for_each_row_of_a_person(
    keys: dict[str, Any], sensitivity: int
) -> None:
    design = design_of(**keys)
    assert design.result["sensitivity"] == sensitivity
    sources = len(design.plan.sources)
    assert design.result["scales"] == [sensitivity * sources] * sources
    part = design.settings.part
    assert all(not part.gives(s.cuboid) for s in design.plan.sources if part)
    assert {draws.sensitivity for draws in design.charge.draws} == {Fraction(sensitivity)}
    gaussian = design_of(**keys, rho=0.5)
    scales: Any = gaussian.result["scales"]
    shares = len(gaussian.plan.sources)
    assert scales[0] ** 2 == pytest.approx(sensitivity**2 / 2 * shares / (2 * 0.5))
    assert all(draws.noise is LedgerNoise.CONCENTRATED for draws in gaussian.charge.draws)


def test_planners_get_noise_for_what_is_not_exact_alone() -> None:
    design = design_of(exact=MARGINS, publish=[["a"], ["a", "b"]], planner="base")
    assert [source.cuboid for source in design.plan.sources] == [0b011]
    entries = stated(design)
    assert set(entries) == {("a",), ("b",), ("a", "b")}
    weighted = design_of(
        exact=MARGINS,
        planner="optimal",
        weights=[{"dimensions": ["a"], "weight": 9}, {"dimensions": ["a", "b"], "weight": 2}],
    )
    part = weighted.settings.part
    assert all(not part.gives(s.cuboid) for s in weighted.plan.sources if part)


def test_the_guarantee_names_what_is_exact_and_what_it_holds_for() -> None:
    guarantee = design_of(exact=PAIRS).guarantee
    assert guarantee.claim.startswith(
        "Published without noise, and so without ε protection: a × b and b × c. Among data sets "
        "that agree with them, ε holds for one minimal change (size 4: at most 4 rows come or go)."
    )
    assert guarantee.does_not_cover[0].startswith("What a × b and b × c show by themselves")
    assert guarantee.parameters["minimal_change"] == 4
    assert any("the same exact numbers counts up to 4 times" in each for each in guarantee.assumes)
    notes = {note.code: note.sentence for note in design_of(exact=PAIRS).notes}
    assert notes["cube.exact"].startswith("Nothing protects a × b and b × c. All other noise is")
    assert notes["cube.exact"].endswith(
        "up to 4 rows in addition to that, 4 times that for one person."
    )
    alone = design_of(exact=[[]], rows_per_person=2).guarantee.claim
    assert alone.startswith(
        "Published without noise, and so without ε protection: the grand total."
    )
    assert "ε holds for 2 minimal changes (size 2: at most 2 rows come or go)" in alone


def test_without_exact_tables_nothing_is_said_of_them() -> None:
    design = design_of()
    assert "exact" not in design.result
    assert all("exact" not in item for item in stated(design).values())
    assert "minimal_change" not in design.guarantee.parameters


def test_a_cube_in_which_everything_is_exact_is_refused() -> None:
    with pytest.raises(InputError, match="no noise protects anything"):
        design_of(exact=[["a", "b"]], publish=[["a"]])


def test_charts_tell_exact_tables_apart() -> None:
    design = design_of(exact=MARGINS)
    table = next(chart for chart in design.charts if chart.id == TABLES).table
    assert [row[2] for row in table.rows] == ["none: exact"] * 3 + ["own"] * 5
    lattice = lattice_of_design(design)
    assert lattice.exact == {0b000, 0b001, 0b010}
    assert [lattice.node(mask).width for mask in (0b000, 0b010)] == [0, 0]
    assert all(bound > 0 for bound in lattice.ramp)


def test_a_plan_is_kept_by_what_is_exact() -> None:
    with_margins, without = design_of(exact=MARGINS).settings, design_of().settings
    assert plan_key(with_margins, SHAPE) != plan_key(without, SHAPE)
    assert widths_at(with_margins, design_of(exact=MARGINS).plan, Fraction(1)).largest > 0


def test_wanted_variances_of_exact_tables_alone_are_no_target() -> None:
    design = design_of(
        exact=MARGINS,
        planner="optimal",
        objective="targets",
        targets=[{"dimensions": ["a"], "variance": 9}],
    )
    assert len(design.plan.sources) > 0


def test_single_cells_are_equations_of_the_least_squares() -> None:
    random = np.random.default_rng(8)
    base = random.integers(0, 20, SHAPE).astype(float)
    noisy = {
        0b111: (base + random.normal(size=SHAPE), 1.0),
        0b011: (base.sum(axis=2) + random.normal(size=(2, 3)), 2.0),
    }
    pins = [(0b011, (1, 2)), (0b100, (0,)), (0b010, (1,)), (0b011, (0, 1))]
    equations = np.stack(
        [sums(mask, SHAPE).reshape(*margin_shape(mask), -1)[cell] for mask, cell in pins]
    )
    wanted = equations @ base.ravel()
    exact = {0b001: base.sum(axis=(1, 2))}
    every = np.vstack([equations, sums(0b001, SHAPE)])
    start = np.linalg.lstsq(every, every @ base.ravel(), rcond=None)[0]
    free = np.linalg.svd(every)[2][np.linalg.matrix_rank(every) :].T
    matrix = np.vstack([weight**0.5 * sums(mask, SHAPE) for mask, (_, weight) in noisy.items()])
    right = np.concatenate([weight**0.5 * each.ravel() for each, weight in noisy.values()])
    best = start + free @ np.linalg.lstsq(matrix @ free, right - matrix @ start, rcond=None)[0]
    cube = consistent_cube(
        SHAPE, {m: Measured(values, weight) for m, (values, weight) in noisy.items()}, exact=exact
    )
    pinned = pinned_cube(cube, pins, [int(value) for value in wanted], CancelToken())
    spread = free @ np.linalg.pinv(matrix @ free)
    variances = pinned_variances(cube.known, SHAPE, range(8), pins, CancelToken())
    for mask in range(8):
        assert np.allclose(pinned.cuboid(mask).ravel(), sums(mask, SHAPE) @ best, atol=1e-8)
        true = ((sums(mask, SHAPE) @ spread) ** 2).sum(axis=1).max()
        assert variances[mask] == pytest.approx(true, abs=1e-9)


def margin_shape(mask: int) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(SHAPE) if mask >> i & 1)


def test_too_many_single_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpdesk.engine.cubes.exact.planned.MOST_PINNED", 20)
    with pytest.raises(InputError, match="2 single cells"):
        design_of(exact=[CELLS])


def test_the_guarantee_names_single_cells() -> None:
    claim = design_of(exact=[CELLS]).guarantee.claim
    assert "without ε protection: 2 of the cells of b (0, 2)." in claim


@pytest.mark.parametrize("keys", [{}, {"rho": 0.5}, {"rho": 0.5, "basis": "residuals"}])
def test_the_optimal_planner_spends_nothing_on_what_is_known(keys: dict[str, Any]) -> None:
    design = design_of(exact=PAIRS, planner="optimal", **keys)
    part = design.settings.part
    assert part is not None
    assert all(not part.gives(source.cuboid) for source in design.plan.sources)
    other = design_of(exact=PAIRS, planner="all", **({"rho": 0.5} if keys else {}))
    largest = [max(each.errors[0].variances) for each in (design, other)]
    assert largest[0] <= largest[1] * (1 + 1e-9)
    if keys.get("basis"):
        masks = sorted(source.cuboid for source in design.plan.sources)
        assert masks == [0b101, 0b111]  # all other residuals are exact


def test_an_example_cell_of_an_exact_table_is_what_it_is() -> None:
    design = design_of(exact=PAIRS, planner="optimal", rho=0.5, basis="residuals")
    places = {mask: place for place, mask in enumerate(design.settings.published)}
    exact, noisy = (example_cell(design, places[mask], 7.0) for mask in (0b011, 0b101))
    assert {row[1] for row in exact.table.rows} == {7.0}
    assert len({row[1] for row in noisy.table.rows}) > 40
