"""Views and answers of a released cube: counts, sums and averages with their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.pivot import CubeGrid
from dpdesk.core.plain import quoted
from dpdesk.core.query import COVERING_95, Query
from dpdesk.core.release import ReleasedContent
from dpdesk.engine.cubes.channels import middle
from dpdesk.engine.cubes.olap.cube import ReleasedCube, centred_name
from dpdesk.engine.cubes.olap.grids import (
    MOST_NUMBERS,
    MOST_PINS,
    AxisGroups,
    OneRelease,
    SumReader,
    Sums,
    askable_cube,
    check_size,
    select,
)
from dpdesk.engine.cubes.settings import Covered
from dpdesk.engine.private.kinds import Measure
from dpdesk.engine.private.widths import step_of_average

Floats = NDArray[np.float64]
INTERVALS = {
    Covered.RELEASED: COVERING_95,
    Covered.WITH_NEGATIVES: "95 % before negative numbers were removed",
    Covered.LEAST_SQUARES: "95 % if made to agree by least squares",
}
_COVERING = {
    Covered.RELEASED: "the ± holds the error of the noise in 95 of 100 cases or more.",
    Covered.WITH_NEGATIVES: "the ± is that of the numbers before negative ones were taken out.",
    Covered.LEAST_SQUARES: "the ± is that of tables made to agree by least squares.",
}


def cube_grid(
    cube: ReleasedCube,
    query: Query,
    content: ReleasedContent,
    token: CancelToken,
    most: int = MOST_NUMBERS,
) -> CubeGrid:
    """The numbers that a query asks of one release; see :func:`read_grid`."""
    return read_grid(OneRelease(cube, content), query, token, most)


def read_grid(
    reader: SumReader, query: Query, token: CancelToken, most: int = MOST_NUMBERS
) -> CubeGrid:
    """The numbers that a query asks for, ``most`` at most, the axes in the order of ``by``.

    Raises InputError ``query.*`` for what the release does not know, RefusedError
    ``query.refused`` where no published table can answer, ``query.too-large``, Cancelled.
    """
    cube = reader.cube
    name = askable_cube(cube).measure(query.measure)
    groups = select(cube, query)
    check_size(groups, most)
    average = cube.average(name)
    if average is None:
        found = reader.sums(name, groups, token)
        step = cube.vectors[name].step
        halves = cube.half_widths(found.variances, step)
    else:
        found, halves = _averages(reader, average, groups, token)
    return _grid(reader, query, name, groups, found, halves)


def _averages(
    reader: SumReader, measure: Measure, groups: Sequence[AxisGroups], token: CancelToken
) -> tuple[Sums, Floats]:
    """The middle of the bounds plus centred sums over counts, and their ±; NaN below one person.

    The variance is the bound that releases state, (V_sum + h^2 V_count) / n^2 with half the range
    h: an average cannot be further from the middle. The ± is the one that releases state, by the
    released count: see :func:`~dpdesk.engine.private.widths.step_of_average`.
    """
    total = reader.sums(centred_name(measure), groups, token)
    count = reader.sums(COUNT, groups, token)
    enough = count.values >= 1
    persons = np.where(enough, count.values, 1.0)
    low, high = float(measure.lower), float(measure.upper)
    values = np.clip(float(middle(measure)) + total.values / persons, low, high)
    half = (high - low) / 2
    variances = total.variances + half**2 * count.variances
    reach = reader.cube.half_widths(variances, step_of_average(low, high, float(measure.step)))
    files = tuple(dict.fromkeys((*total.files, *count.files)))
    known = np.where(enough, values, np.nan)
    found = Sums(known, np.where(enough, variances / persons**2, np.nan), files)
    return found, np.where(enough, reach / persons, np.nan)


def _grid(
    reader: SumReader,
    query: Query,
    name: str,
    groups: Sequence[AxisGroups],
    found: Sums,
    halves: Floats,
) -> CubeGrid:
    cube = reader.cube
    shown = [axis for axis, each in enumerate(groups) if each.shown]
    hidden = tuple(axis for axis, each in enumerate(groups) if not each.shown)
    asked = [each.column for each in query.by]
    order = [asked.index(cube.domain.dimensions[axis]) for axis in shown]
    turn = sorted(range(len(order)), key=order.__getitem__)

    def view(values: Floats) -> Floats:
        return np.array(values.squeeze(axis=hidden).transpose(turn), order="C")

    return CubeGrid(
        tuple(asked),
        tuple(groups[shown[place]].labels for place in turn),
        name,
        view(found.values),
        view(np.sqrt(found.variances)),
        view(halves),
        found.files,
        _sentence(reader, query, name),
        tuple(_warnings(cube, query, name, found)),
        INTERVALS[cube.settings.covered],
    )


def _sentence(reader: SumReader, query: Query, name: str) -> str:
    by = " × ".join(each.column for each in query.by)
    said = msg("The {name}", name=name) + (msg(" by {by}", by=by) if by else "")
    where = " and ".join(condition.words() for condition in query.where)
    said += msg(" where {where}", where=where) if where else ""
    return msg(
        "{said}, from the release alone: {covering} {words}",
        said=said,
        covering=_COVERING[reader.cube.settings.covered],
        words=reader.words,
    )


def _warnings(cube: ReleasedCube, query: Query, name: str, found: Sums) -> Iterator[str]:
    settings = cube.settings
    if cube.average(name) is not None:
        yield "The ± of averages is a bound: near the middle of the range it is larger than needed."
        if np.isnan(found.values).any():
            yield "Where fewer than one person is counted, an average cannot be estimated."
    if settings.covered is Covered.WITH_NEGATIVES:
        yield (
            "Negative numbers were taken out, so cells with few persons, and sums of many such "
            "cells, come out too large on average; the ± is that before this step and holds less "
            "often."
        )
    if settings.covered is Covered.LEAST_SQUARES:
        yield (
            msg(
                "The tables were made to agree by `{consistency}`, whose errors are larger than "
                "the ± of least squares given here.",
                consistency=settings.consistency,
            )
        )
    if cube.exact:
        names = ", ".join(" × ".join(cube.names(mask)) or "the total" for mask in cube.exact)
        yield msg("Released without noise, so without ±: {names}.", names=names)
    yield from found.notes
    if len(cube.pins) > MOST_PINS:
        yield (
            "The ± leaves out what the exact single cells reveal about others, so it is a bound."
        )
    for column in query.by:
        if column.level and query.conditions_on(column.column):
            yield msg(
                "Groups of {column} hold only what the conditions leave of them.",
                column=quoted(column.column),
            )
