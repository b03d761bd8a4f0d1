"""From noisy tables to published ones: nothing here sees the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cube_parameters import AVERAGE, COUNT
from dpdesk.core.cuboid import CuboidTable, Domain
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.engine.cubes.channels import Channel, centred, middle
from dpdesk.engine.cubes.consistency.pinned import pinned_cube
from dpdesk.engine.cubes.lattice import cells, magnification, members
from dpdesk.engine.cubes.naming import cuboid_file
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.measures import Measure
from dpdesk.engine.private.method import ExactTables, NoisyTables

if TYPE_CHECKING:
    from dpdesk.engine.cubes.consistency.integral import BaseCube, WholeCube
    from dpdesk.engine.cubes.consistency.residual import ConsistentCube

Values = NDArray[Any]


def processed(
    settings: CubeSettings,
    domain: Domain,
    channels: tuple[Channel, ...],
    noisy: NoisyTables,
    token: CancelToken,
    report: Report,
) -> tuple[CuboidTable, ...]:
    """All tables of a release, made consistent as the settings ask; see :meth:`Design.process`."""
    many = len(channels[0].plan.sources)
    tables: list[CuboidTable] = []
    known: dict[str, Mapping[int, Values]] = {}
    for number, channel in enumerate(channels):
        own = noisy.values[number * many : (number + 1) * many]
        found = _with_exact(settings, channel, own, noisy.exact, token, report)
        values = {mask: _in_units(found[mask], channel) for mask in settings.published}
        known[channel.measure.name] = values
        tables += _tables(settings, domain, channel.measure, values)
    for measure in settings.measures:
        if measure.kind == AVERAGE:
            sums, counts = known[centred(measure).name], known[COUNT]
            averages = {
                mask: average(measure, sums[mask], counts[mask]) for mask in settings.published
            }
            tables += _tables(settings, domain, measure, averages)
    return tuple(tables)


def average(measure: Measure, sums: Values, counts: Values) -> Values:
    """The middle plus centred sums over counts, clipped to the bounds; the middle below 1 person.

    Clipping and the small cells make it slightly biased towards the middle.
    """
    low, high = float(measure.lower), float(measure.upper)
    enough = counts >= 1
    ratio = sums / np.where(enough, counts, 1)
    centre = float(middle(measure))
    return np.where(enough, np.clip(centre + ratio, low, high), centre)


def _tables(
    settings: CubeSettings, domain: Domain, measure: Measure, values: Mapping[int, Values]
) -> list[CuboidTable]:
    return [
        CuboidTable(domain.part(members(mask)), values[mask], cuboid_file(settings, mask, measure))
        for mask in settings.published
    ]


def _in_units(values: Values, channel: Channel) -> Values:
    """Values in units of the measure; whole numbers stay whole where the grid step is whole."""
    unit = channel.unit
    if unit.denominator == 1:
        return values * (int(unit) if values.dtype.kind == "i" else float(unit))
    return values * float(unit)


def _with_exact(
    settings: CubeSettings,
    channel: Channel,
    own: tuple[NDArray[np.int64], ...],
    exact: ExactTables,
    token: CancelToken,
    report: Report,
) -> Mapping[int, Values]:
    """All published tables: exact ones as they were counted, the others from the noisy ones."""
    part = channel.exact
    if part is None:
        return _consistent(settings, channel, own, exact, token, report)
    others = replace(settings, published=part.noisy(settings.published))
    found = dict(_consistent(others, channel, own, exact, token, report))
    for mask in settings.published:
        if part.gives(mask):
            found[mask] = part.table(mask, exact.values)
    for (mask, cell), value in zip(part.asked, exact.cells[len(part.single) :], strict=True):
        found[mask] = np.array(found[mask])
        found[mask][cell] = value
    return found


def _consistent(
    settings: CubeSettings,
    channel: Channel,
    own: tuple[NDArray[np.int64], ...],
    exact: ExactTables,
    token: CancelToken,
    report: Report,
) -> Mapping[int, Values]:
    if settings.consistency == "none" and not settings.residuals:
        return {mask: _from_best(mask, channel, own) for mask in settings.published}
    cube = _cube(settings.consistency, channel, own, exact, token, report)
    if channel.exact is not None and channel.exact.single:
        pins = channel.exact.single
        cube = pinned_cube(cube, pins, exact.cells[: len(pins)], token)
    ended = _ended(settings, cube, token, report)
    return {mask: ended.cuboid(mask) for mask in settings.published}


def _ended(
    settings: CubeSettings, cube: ConsistentCube, token: CancelToken, report: Report
) -> ConsistentCube | BaseCube | WholeCube:
    """The cube without negative cells, and in whole numbers, where the settings ask for it."""
    if not settings.nonnegative and not settings.integral:
        return cube
    from dpdesk.engine.cubes.consistency.integral import base_cube, nonnegative_cube, whole_cube

    fitted = nonnegative_cube(cube, token, report) if settings.nonnegative else base_cube(cube)
    return whole_cube(fitted) if settings.integral else fitted


def _cube(
    consistency: str,
    channel: Channel,
    own: tuple[NDArray[np.int64], ...],
    exact: ExactTables,
    token: CancelToken,
    report: Report,
) -> ConsistentCube:
    from dpdesk.engine.cubes.consistency.linear import least_absolute_cube, least_maximum_cube
    from dpdesk.engine.cubes.consistency.residual import Measured, consistent_cube

    whole: dict[int, Measured] = {}
    parts: dict[int, Measured] = {}
    plan, least = channel.plan, min(channel.variances)
    for source, values, variance in zip(plan.sources, own, channel.variances, strict=True):
        if source.residual:
            fine = cells(source.cuboid, plan.shape)
            parts[source.cuboid] = Measured(values / fine, fine**2 * (least / variance))
        else:
            whole[source.cuboid] = Measured(values, least / variance)
    if consistency == "l1":
        return least_absolute_cube(plan.shape, whole, token)
    if consistency == "linf":
        return least_maximum_cube(plan.shape, whole, token)
    return consistent_cube(plan.shape, whole, parts, exact=exact.values, token=token, report=report)


def _from_best(mask: int, channel: Channel, own: tuple[NDArray[np.int64], ...]) -> Values:
    """A cuboid summed up from the source that gives it the smallest variance."""
    plan = channel.plan
    errors = [
        variance * magnification(mask, source.cuboid, plan.shape)
        if not mask & ~source.cuboid
        else float("inf")
        for source, variance in zip(plan.sources, channel.variances, strict=True)
    ]
    best = int(np.argmin(errors))
    places = members(plan.sources[best].cuboid)
    gone = tuple(axis for axis, place in enumerate(places) if not mask >> place & 1)
    return np.asarray(own[best].sum(axis=gone))
