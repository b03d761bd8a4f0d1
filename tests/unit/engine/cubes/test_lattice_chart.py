"""The lattice of a design as a value: standing, errors, sources, and its picture as SVG."""

from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from dpdesk.core.charts import LatticeChart, arrange
from dpdesk.core.cube_parameters import CuboidStatus
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.methods.dp_cube.bias_charts import LATTICE, lattice_of_design
from dpdesk.engine.methods.dp_cube.design import CubeDesign, design_cube
from dpdesk.engine.methods.dp_cube.exploration import CubeExploration
from dpdesk.engine.private.method import PrivateInput
from dpdesk.report.svg import render_document

SIZES = {"sex": 2, "age": 7, "region": 5}


def given(**keys: object) -> PrivateInput:
    plain: dict[str, object] = {
        "dimensions": list(SIZES),
        "domains": {name: [f"{name}{i}" for i in range(n)] for name, n in SIZES.items()},
        "epsilon": 1,
    }
    plain |= keys
    plain = {key: value for key, value in plain.items() if value is not None}
    return PrivateInput({}, {}, parse_parameters(PARAMETERS, plain, "plan"), "plan")


def designed(**keys: object) -> CubeDesign:
    return design_cube(given(**keys), CancelToken(), silent)


def lattice(**keys: object) -> LatticeChart:
    return lattice_of_design(designed(**keys))


def viewed(**keys: object) -> LatticeChart:
    inputs = given(**keys)
    view = CubeExploration(inputs, CancelToken()).view(inputs.parameters)
    (chart,) = [one for one in view.charts if one.id == LATTICE]
    assert isinstance(chart, LatticeChart)
    return chart


def test_each_cuboid_says_its_cells_its_standing_and_where_its_noise_is_from() -> None:
    chart = lattice(planner="base", publish=[["sex"], ["age", "region"]], forbid=[["age"]])
    assert [node.name for node in map(chart.node, chart.listed)] == [
        "grand total", "sex", "age", "region", "sex × age", "sex × region", "age × region",
        "sex × age × region",
    ]  # fmt: skip
    sex, age, base = chart.node(0b001), chart.node(0b010), chart.node(0b111)
    assert (sex.standing, sex.cells, sex.noisy) == (CuboidStatus.PUBLISHED, 2, False)
    assert (age.standing, age.cells) == (CuboidStatus.FORBIDDEN, 7)
    assert (base.standing, base.cells, base.share) == (CuboidStatus.FREE, 70, 1.0)
    assert chart.sources(0b001) == (0b111,)
    variance = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
    assert base.deviation == pytest.approx(math.sqrt(variance))
    assert sex.deviation == pytest.approx(math.sqrt(35 * variance))


@pytest.mark.parametrize("consistency", ["l2", "none"])
@pytest.mark.parametrize("planner", ["all", "bmax"])
def test_published_tables_have_the_errors_that_the_design_states(
    planner: str, consistency: str
) -> None:
    design = designed(planner=planner, consistency=consistency, publish={"max_dimensions": 2})
    chart = lattice_of_design(design)
    stated = dict(zip(design.settings.published, design.errors[0].variances, strict=True))
    for mask, variance in stated.items():
        assert chart.node(mask).deviation == pytest.approx(math.sqrt(variance))
        assert chart.node(mask).width is not None
    assert sum(chart.node(mask).share for mask in chart.listed) == pytest.approx(1)


def test_what_no_table_with_noise_tells_has_no_finite_error() -> None:
    node = lattice(planner="all", publish=[["sex"], ["age"]]).node(0b011)
    assert node.standing is CuboidStatus.FREE
    assert node.width == math.inf
    table = lattice(planner="all", publish=[["sex"], ["age"]]).table
    assert dict(zip(table.columns, table.rows[4], strict=True))["± 95 % (people)"] is None


def test_errors_fall_into_classes_from_low_to_high() -> None:
    chart = lattice(planner="base")
    widths = {mask: chart.node(mask).width for mask in chart.listed}
    order = sorted(widths, key=lambda mask: widths[mask] or 0)
    classes = [chart.error_class(widths[mask]) for mask in order]
    assert classes == sorted(classes, key=lambda one: -1 if one is None else one)
    assert (classes[0], classes[-1]) == (0, len(chart.ramp) - 2)
    assert chart.error_class(None) is None
    assert chart.error_class(math.inf) is None


def test_before_a_budget_is_chosen_errors_are_those_of_1() -> None:
    supposed, chosen = viewed(epsilon=None), viewed(epsilon=1)
    assert supposed.supposed
    assert not chosen.supposed
    assert "No ε is chosen yet" in supposed.answer
    assert supposed.widths.tolist() == chosen.widths.tolist()
    gaussian = viewed(epsilon=None, noise="discrete-gaussian")
    assert (gaussian.supposed, gaussian.budget_words) == (True, "ρ = 1")


def test_settings_that_cannot_be_planned_still_show_what_is_chosen() -> None:
    chart = viewed(planner="base", publish=[["sex"], ["age", "region"]], forbid=[list(SIZES)])
    assert chart.node(0b111).standing is CuboidStatus.FORBIDDEN
    assert chart.node(0b001).standing is CuboidStatus.PUBLISHED
    assert chart.node(0b001).width is None


def test_exact_tables_beside_which_nothing_has_noise_still_show_what_is_chosen() -> None:
    chart = viewed(planner="base", exact=[["sex", "age"]], publish=[["sex"]])
    assert chart.choice.exact == (0b011,)
    assert [mask for mask in chart.listed if chart.node(mask).exact] == [0, 0b001, 0b010, 0b011]
    assert chart.minimal_change == 0


def test_what_is_chosen_since_is_exact_at_once_and_what_was_exact_has_no_error_yet() -> None:
    chart = lattice(planner="base", exact=[["sex", "age"]])
    changed = chart.with_choice(chart.choice.exactly(0b011).exactly(0b100))
    assert [mask for mask in chart.listed if changed.node(mask).exact] == [0, 0b100]
    assert changed.node(0b011).width is None
    assert changed.node(0b111).width == chart.node(0b111).width
    assert (chart.minimal_change, changed.minimal_change) == (2, 0)


def test_exact_tables_and_what_follows_from_them_have_no_error_and_no_source() -> None:
    chart = lattice(planner="base", exact=[["sex", "age"]], publish=[["region"]])
    exact = [mask for mask in chart.listed if chart.node(mask).exact]
    assert exact == [0, 0b001, 0b010, 0b011]
    assert chart.node(0b011).standing is CuboidStatus.PUBLISHED
    assert chart.node(0b011).width == 0
    assert chart.sources(0b011) == ()
    assert (
        "2 tables of 8 published (1 exactly, noise for a minimal change of size 2)" in chart.answer
    )
    assert dict(zip(chart.table.columns, chart.table.rows[1], strict=True))["Noise"] == "none"


def test_weights_matter_to_the_planners_that_look_at_them() -> None:
    weights = [{"dimensions": ["sex"], "weight": 5}]
    assert not lattice(weights=weights).weighted
    chart = lattice(planner="pmost", theta=40, weights=weights)
    assert chart.weighted
    assert chart.node(0b001).weight == 5


def test_a_large_lattice_is_listed_by_what_is_published_and_drawn_one_step_around() -> None:
    names = [f"q{i:02}" for i in range(20)]
    chart = lattice(
        dimensions=names,
        domains={name: ["a", "b"] for name in names},
        publish={"max_dimensions": 1},
        forbid=[names[:3]],
    )
    assert not chart.whole
    assert set(chart.listed) >= {0, *(1 << i for i in range(20)), 0b111}
    assert chart.node(0b111).standing is CuboidStatus.FORBIDDEN
    assert len(chart.drawn(0b1)) == 21
    assert len(chart.table.rows) == len(chart.listed) < 100


@pytest.mark.parametrize(("width", "height"), [(900, 500), (500, 260), (300, 2_000), (200, 100)])
def test_marks_stay_apart_and_in_their_rows(width: float, height: float) -> None:
    layout = arrange(sorted(range(256), key=int.bit_count), width, height)
    assert [row.size for row in layout.rows] == list(range(9))
    places = sorted(layout.places.values(), key=lambda place: (round(place[1], 6), place[0]))
    assert all(0 <= x <= width for x, _ in places)
    for first, second in pairwise(places):
        same_line = abs(first[1] - second[1]) < 1e-6
        apart = second[0] - first[0] if same_line else second[1] - first[1]
        assert apart > layout.edge - 1e-6


def test_the_drawing_has_a_mark_for_each_table_and_a_struck_one_for_the_forbidden() -> None:
    chart = lattice(planner="base", forbid=[["age"]])
    root = ElementTree.fromstring(render_document(chart))
    svg = "{http://www.w3.org/2000/svg}"
    tips = [one.text or "" for one in root.iter(f"{svg}title")]
    assert sum("cells" in tip for tip in tips) == 8
    assert any(tip.startswith("age: forbidden, 7 cells") for tip in tips)
    assert any("sex × age × region: published, 70 cells, ±" in tip for tip in tips)
