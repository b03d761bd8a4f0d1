"""What another noisy table would bring: its own error, and the error together with what there is.

All from noise parameters: nothing here reads a table or a source. Source: data cubes paper, 7.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpdesk.engine.cubes.lattice import Floats, mask_of, members
from dpdesk.engine.cubes.olap.combined import CombinedReleases, below, combine
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import sum_variances
from dpdesk.engine.private.kinds import Noise

NOT_OF_ONE_TABLE = frozenset(
    (
        "publish",
        "forbid",
        "exact",
        "planner",
        "theta",
        "objective",
        "weights",
        "targets",
        "basis",
        "epsilon",
        "rho",
        "noise",
        "consistency",
        "nonnegative",
        "integral",
        "follows",
    )
)
"""Keys of a plan that a plan for one more table does not take over."""
_BY_DIMENSION = ("levels", "domains", "outside")


@dataclass(frozen=True)
class Accuracy:
    """Variance of one cell, and the ± for 95 of 100 cases, of one measured vector."""

    variance: float
    half_width: float


@dataclass(frozen=True)
class Comparison:
    """A vector of a table: as it is known now (None: not at all), bought alone, both together."""

    name: str
    now: Accuracy | None
    alone: Accuracy
    together: Accuracy


def one_table(
    parameters: Mapping[str, object],
    dimensions: Sequence[str],
    budget: tuple[str, object],
    follows: Sequence[str],
) -> dict[str, object]:
    """Keys of ``[protection]`` for one more table of the cube that ``parameters`` describe.

    No dimensions: the grand total. A release has a dimension at least, so that goes with the first
    one of the plan. The table counts exactly the rows that the whole cube would count, so it adds
    up with every other table of the plan.
    """
    wanted = list(dimensions)
    of_plan = _texts(parameters.get("dimensions"))
    if not wanted:
        dimensions = of_plan[:1]
    counted = _texts(parameters.get("counted_by")) or of_plan
    kept = {key: value for key, value in parameters.items() if key not in NOT_OF_ONE_TABLE}
    for key in _BY_DIMENSION:
        table = kept.get(key)
        if isinstance(table, Mapping):
            kept[key] = {name: table[name] for name in counted if name in table}
    if counted != list(dimensions):
        kept["counted_by"] = counted
    return kept | {
        "dimensions": list(dimensions),
        "publish": [wanted],
        "planner": "all",
        budget[0]: budget[1],
        "follows": list(follows),
    }


def _texts(raw: object) -> list[str]:
    return [str(each) for each in raw] if isinstance(raw, list | tuple) else []


def compare(offered: ReleasedCube, known: CombinedReleases | None) -> tuple[Comparison, ...]:
    """The accuracy of a cell of the offered table, for each measured vector.

    ``offered`` is the cube of the design, ``known`` what was released already.
    """
    mask = offered.published[-1]
    return tuple(_compared(offered, known, name, mask) for name in offered.vectors)


def _compared(
    offered: ReleasedCube, known: CombinedReleases | None, name: str, mask: int
) -> Comparison:
    vector = offered.vectors[name]
    own = 1 / offered.unknown(vector)
    told = np.zeros_like(own)
    if known is not None and name in known.cube.vectors:
        places = [
            known.cube.domain.dimensions.index(each) if each in known.cube.domain.dimensions else -1
            for each in offered.domain.dimensions
        ]
        for each in below(mask):
            wanted = [places[i] for i in members(each)]
            if -1 not in wanted:
                there = mask_of(wanted)
                told[each] = sum(part.information(name, there) for part in known.parts)

    def accuracy(information: Floats, cube: ReleasedCube) -> Accuracy:
        with np.errstate(divide="ignore"):
            unknown = 1 / information
        sizes = [np.array([1.0 if mask >> i & 1 else size]) for i, size in enumerate(offered.shape)]
        found = np.asarray(sum_variances(unknown, offered.shape, sizes).item())
        return Accuracy(float(found), float(cube.half_widths(found, vector.step)))

    if known is None:
        return Comparison(name, None, accuracy(own, offered), accuracy(own, offered))
    now, both = accuracy(told, known.cube), _wider(offered, known.cube)
    return Comparison(
        name,
        now if np.isfinite(now.variance) else None,
        accuracy(own, offered),
        accuracy(own + told, both),
    )


def _wider(offered: ReleasedCube, known: ReleasedCube) -> ReleasedCube:
    """The cube whose kind of noise the ± of both together goes by: as when they are read."""
    return known if known.settings.noise is Noise.LAPLACE else offered


def fits(offered: ReleasedCube, known: CombinedReleases) -> None:
    """Raise InputError ``query.combine`` when the table could not be combined with the releases."""
    content = known.parts[0].content
    combine([*((part.cube, part.content) for part in known.parts), (offered, content)])
