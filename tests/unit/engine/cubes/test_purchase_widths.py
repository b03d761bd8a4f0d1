"""An offer states the ± that reading both releases together will state, whatever their noise."""

from __future__ import annotations

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Grouping, Query
from dpdesk.engine.cubes.olap.combined import combine
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import read_grid
from dpdesk.engine.cubes.olap.purchase import compare
from tests.helpers.released_cubes import memory_release

DOMAINS = {"sex": ("f", "m"), "region": ("n", "s", "w")}
BOTH = ["sex", "region"]


@pytest.mark.parametrize("first", [{"epsilon": 1}, {"rho": 0.5}])
@pytest.mark.parametrize("second", [{"epsilon": 2}, {"rho": 1}])
def test_an_offer_states_what_reading_will_state(
    first: dict[str, float], second: dict[str, float]
) -> None:
    known, offered = (
        memory_release(DOMAINS, **first),
        memory_release(DOMAINS, publish=[BOTH], planner="all", **second),
    )
    cubes = [(ReleasedCube.from_manifest(each.manifest), each) for each in (known, offered)]
    (said,) = compare(cubes[1][0], combine(cubes[:1]))
    asked = Query(tuple(Grouping(name) for name in BOTH))
    token = CancelToken()
    assert said.now is not None
    for stated, releases in ((said.now, cubes[:1]), (said.together, cubes)):
        found = read_grid(combine(releases), asked, token).half_widths
        assert np.allclose(found, stated.half_width)
    assert said.alone.half_width == pytest.approx(
        float(read_grid(combine(cubes[1:]), asked, token).half_widths[0, 0])
    )
