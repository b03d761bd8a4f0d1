"""What the whole search for unequal shares reaches on the cube of Adult: a minute of work."""

from __future__ import annotations

import pytest

from dpdesk.engine.cubes.optimal.objectives import Goal, plan_variances
from dpdesk.engine.cubes.optimal.planner import plan_optimal
from dpdesk.engine.private.kinds import Noise
from tests.helpers.soak import SoakBook

ADULT = (9, 16, 7, 15, 6, 5, 2, 2)


@pytest.mark.parametrize(
    ("ways", "goal", "most"),
    [
        (None, Goal.MAXIMUM, 8_564.0),
        (3, Goal.MAXIMUM, 2_268.0),
        (2, Goal.MAXIMUM, 791.0),
        (None, Goal.SUM, 3_865.0),
    ],
)
def test_the_search_reaches_the_figures_known_for_adult(
    ways: int | None, goal: Goal, most: float, book: SoakBook
) -> None:
    masks = [mask for mask in range(256) if ways in (None, mask.bit_count())]
    found = plan_variances(plan_optimal(ADULT, masks, Noise.LAPLACE, goal=goal), 1.0)[masks]
    reached = found.max() if goal is Goal.MAXIMUM else found.mean()
    name = "all cuboids" if ways is None else f"{ways}-way"
    book.note(
        f"Optimal plan for Adult, {name}, {goal.value}", f"{len(masks)} cuboids", f"{reached:,.1f}"
    )
    assert reached <= most
