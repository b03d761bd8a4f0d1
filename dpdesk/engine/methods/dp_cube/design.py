"""The design of a cube: noise sources, scales, errors, guarantee; all from the plan alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import Draws
from dpdesk.core.cube_parameters import AVERAGE, COUNT
from dpdesk.core.cuboid import CuboidTable, Domain
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.engine.cubes.channels import Channel, centred, make_channels, measured, middle
from dpdesk.engine.cubes.consistency.linear import pinned_cube
from dpdesk.engine.cubes.exact.planned import counted_exactly, flag_of, stated_exact, with_exact
from dpdesk.engine.cubes.exact.words import exact_notes, price_of
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.cubes.lattice import CubePlan, cells, magnification, members
from dpdesk.engine.cubes.mechanism import scaled_residual
from dpdesk.engine.cubes.naming import cuboid_file
from dpdesk.engine.cubes.settings import CubeSettings, declared_of
from dpdesk.engine.methods.dp_cube.charts import design_charts, design_figures
from dpdesk.engine.methods.dp_cube.errors import (
    Errors,
    MeasureErrors,
    expected_errors,
    measure_errors,
)
from dpdesk.engine.methods.dp_cube.planning import noise_plan
from dpdesk.engine.methods.dp_cube.widths import moved_by_rounding
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.counting import PlacedRows, place_rows
from dpdesk.engine.private.declared import (
    DeclaredDomain,
    ordered,
    stated_rows,
)
from dpdesk.engine.private.kinds import Measure, Noise, bounds_in_steps
from dpdesk.engine.private.method import (
    Charge,
    Design,
    Drawing,
    ExactTables,
    Measured,
    NoisyTables,
    PrivateInput,
)
from dpdesk.engine.private.settings import cluster_of

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


MOST_CELLS = 1 << 28
_MOST_STEPS = 1 << 30
_MOST_SCALED = 1 << 22
LINEAR = ("l1", "linf")
_DRAW = "Draw the noise"


@dataclass(frozen=True, kw_only=True)
class CubeDesign(Design):
    """A data cube as its plan decides it; one channel for each measured vector."""

    settings: CubeSettings
    channels: tuple[Channel, ...]
    errors: tuple[Errors, ...]
    measures: tuple[MeasureErrors, ...] = ()
    counted: DeclaredDomain | None = None

    @property
    def plan(self) -> CubePlan:
        """The noise sources, the same for every channel."""
        return self.channels[0].plan

    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """See :meth:`Design.count`."""
        rows = self._placed(source, token)

        def draw(randomness: RandomSource, report: Report) -> Measured:
            values: list[NDArray[np.int64]] = []
            exact = counted_exactly(self.settings.part, rows[0], token)
            total, done = len(self.channels) * len(self.plan.sources), 0
            for channel, placed in zip(self.channels, rows, strict=True):
                for number, noise_source in enumerate(self.plan.sources):
                    counted = placed.totals(members(noise_source.cuboid), token)
                    if noise_source.residual:
                        counted = scaled_residual(counted)
                    values.append(counted + channel.noise(number, counted.shape, randomness, token))
                    done += 1
                    report(StepProgress(_DRAW, done, total, "tables"))
            return Measured(NoisyTables(tuple(values), exact), self._facts(exact, rows, token))

        return draw

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """See :meth:`Design.facts`."""
        rows = self._placed(source, token)
        return self._facts(counted_exactly(self.settings.part, rows[0], token), rows, token)

    def _placed(self, source: FrequencySource, token: CancelToken) -> list[PlacedRows]:
        domain, cluster, most = self.declared, self.cluster, self.settings.rows_per_person
        return [
            place_rows(source, domain, channel.measure, cluster, most, token, self.counted)
            for channel in self.channels
        ]

    def _facts(
        self, exact: ExactTables, rows: Sequence[PlacedRows], token: CancelToken
    ) -> dict[str, object]:
        counting = {
            channel.measure.name: dict(placed.facts)
            for channel, placed in zip(self.channels, rows, strict=True)
        }
        return {"counting": counting, **self._attack(exact, rows[0], token)}

    @property
    def deciding(self) -> DeclaredDomain:
        """See :attr:`Design.deciding`: a cube bought to another one counts the rows of that one."""
        return self.declared if self.counted is None else self.counted

    def _attack(
        self, exact: ExactTables, rows: PlacedRows, token: CancelToken
    ) -> dict[str, object]:
        """The averaging attack played on the true counts, for the internal report."""
        if not exact.values:
            return {}
        from dpdesk.engine.cubes.exact.attack import demonstration

        def count(mask: int) -> NDArray[np.int64]:
            return rows.totals(members(mask), token)

        return {"attack": demonstration(self.settings, self.channels[0], count, token)}

    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """See :meth:`Design.process`."""
        return processed(self.settings, self.declared.domain, self.channels, noisy, token, report)


def design_cube(
    given: PrivateInput,
    token: CancelToken,
    report: Report,
    planned: Callable[[CubeSettings, tuple[int, ...], CancelToken, Report], CubePlan] | None = None,
) -> CubeDesign:
    """The whole design; InputError ``cube.*`` for what the plan gets wrong, Cancelled.

    ``planned`` stands in for :func:`noise_plan` where plans are kept.
    """
    settings = CubeSettings.from_parameters(given.parameters, given.where)
    declared = declare_all(settings, given)
    extra = declare_all(settings, given, settings.extra)
    settings = with_exact(settings, declared.domain, given.where, token)
    exact, shape = settings.part, declared.domain.shape
    _check_size(settings, shape, given.where)
    plan = (planned or noise_plan)(settings, shape, token, report)
    _check_linear(settings, plan, given.where)
    if settings.nonnegative or settings.integral:
        from dpdesk.engine.cubes.consistency.integral import refuse_unfit

        sources = [source.cuboid for source in plan.sources]
        refuse_unfit(shape, sources, nonnegative=settings.nonnegative)
    _check_steps(settings, given.where)
    channels = make_channels(settings, plan)
    _check_numbers(channels, shape, given.where)
    cluster = cluster_of(given.roles)
    errors = tuple(expected_errors(settings, channel) for channel in channels)
    measures = measure_errors(settings, channels, errors)
    return CubeDesign(
        settings=settings,
        declared=declared,
        channels=channels,
        cluster=cluster,
        errors=errors,
        charge=_charge(settings, channels, cluster),
        guarantee=cube_guarantee(settings, cluster, exact.generic.l1 if exact else None),
        result=_result(settings, declared, channels, errors) | stated_rows(extra),
        charts=design_charts(settings, channels[0], errors[0], measures),
        figures=design_figures(settings, channels[0], errors[0], measures),
        measures=measures,
        notes=_notes(plan, cluster, settings, errors[0]),
        counted=ordered(settings.counted_by, declared, extra) if settings.counted_by else None,
    )


def declare_all(
    settings: CubeSettings, given: PrivateInput, names: Sequence[str] | None = None
) -> DeclaredDomain:
    """Every dimension as the plan declares it; or other columns that it declares."""
    return declared_of(settings, given, settings.dimensions if names is None else names)


def _check_size(settings: CubeSettings, shape: tuple[int, ...], where: str) -> None:
    total = sum(cells(mask, shape) for mask in settings.published)
    if total > MOST_CELLS:
        raise InputError(
            "cube.too-large",
            msg(
                "{where}: the tables have {total:,} cells in all, expected at most {most:,}.",
                where=where,
                total=total,
                most=MOST_CELLS,
            ),
            hint="Publish fewer or coarser tables: { max_dimensions = 3 }, or higher levels.",
            details={"key": "publish"},
        )


def _check_steps(settings: CubeSettings, where: str) -> None:
    """Refuse sums of too many steps from bound to bound, and of none."""
    for measure in measured(settings):
        largest = 1 if measure.kind == COUNT else max(map(abs, bounds_in_steps(measure)))
        if largest > _MOST_STEPS:
            raise InputError(
                "cube.step",
                msg(
                    "{where}: {column} is summed in more than {most_steps:,} steps from "
                    "bound to bound.",
                    where=where,
                    column=quoted(measure.column),
                    most_steps=_MOST_STEPS,
                ),
                hint="Give a larger `step` in `measure`.",
                details={"key": "measure"},
            )
        if largest == 0:
            raise InputError(
                "cube.step",
                msg(
                    "{where}: no value of {column} but 0 is possible between the bounds of "
                    "`measure`, in its steps.",
                    where=where,
                    column=quoted(measure.column),
                ),
                hint="Give a smaller `step`, or other bounds.",
                details={"key": "measure"},
            )


def _check_numbers(channels: tuple[Channel, ...], shape: tuple[int, ...], where: str) -> None:
    largest = max(
        (cells(s.cuboid, shape) for s in channels[0].plan.sources if s.residual), default=1
    )
    if largest > _MOST_SCALED:
        raise InputError(
            "cube.residuals",
            msg(
                "{where}: residuals are measured for tables of at most {most:,} cells, and one "
                "here has {largest:,}.",
                where=where,
                most=_MOST_SCALED,
                largest=largest,
            ),
            hint='Use basis = "cuboids", or publish smaller tables.',
            details={"key": "basis"},
        )


def _check_linear(settings: CubeSettings, plan: CubePlan, where: str) -> None:
    """Refuse before anything is spent what a linear program could not make consistent."""
    if settings.consistency not in LINEAR:
        return
    from dpdesk.engine.cubes.consistency.linear import MOST_LINEAR_CELLS

    total = sum(cells(source.cuboid, plan.shape) for source in plan.sources)
    if total > MOST_LINEAR_CELLS:
        raise InputError(
            "cube.too-large-for-linear",
            msg(
                "{where}: the tables with noise have {total:,} cells; the consistency "
                "`{consistency}` takes at most {most:,}.",
                where=where,
                total=total,
                consistency=settings.consistency,
                most=MOST_LINEAR_CELLS,
            ),
            hint='Use consistency = "l2".',
            details={"key": "consistency"},
        )


def _charge(settings: CubeSettings, channels: tuple[Channel, ...], cluster: str | None) -> Charge:
    counted: dict[Draws, int] = {}
    for channel in channels:
        for draws in channel.draws():
            counted[draws] = counted.get(draws, 0) + 1
    merged = tuple(
        Draws(draws.noise, draws.sensitivity, draws.spread, draws.count * times)
        for draws, times in counted.items()
    )
    return replace(price_of(settings, cluster), draws=merged)


def _result(
    settings: CubeSettings,
    declared: DeclaredDomain,
    channels: tuple[Channel, ...],
    errors: tuple[Errors, ...],
) -> dict[str, object]:
    """The public result: nothing in it depends on the data."""
    domain, plan = declared.domain, channels[0].plan
    per_channel = [
        {
            "measure": channel.measure.name,
            "sensitivity": _number(channel.sensitivity),
            "scales": channel.scales(),
            "max_variance": error.before,
        }
        for channel, error in zip(channels, errors, strict=True)
    ]
    several = len(channels) > 1
    cuboids = [
        _entry(settings, domain, mask, variance, channel.measure, several) | flag_of(settings, mask)
        for channel, error in zip(channels, errors, strict=True)
        for mask, variance in zip(settings.published, error.variances, strict=True)
    ]
    cuboids += _averages(settings, domain, channels, errors)
    first = {key: value for key, value in per_channel[0].items() if key != "measure"}
    rollups = declared.rollups()
    return {
        "noise_sources": [_names(settings, source.cuboid) for source in plan.sources],
        "shares": [str(source.share) for source in plan.sources],
        "residuals": settings.residuals,
        **first,
        **({"measures": per_channel} if len(channels) > 1 else {}),
        "cuboids": cuboids,
        "domains": domain.as_json(),
        "outside": declared.elsewhere(),
        **({"rollups": rollups} if rollups else {}),
        "biased": settings.nonnegative,
        "proven": plan.proven,
        **stated_exact(settings.part),
    }


def _entry(
    settings: CubeSettings,
    domain: Domain,
    mask: int,
    variance: float,
    measure: Measure,
    several: bool,
) -> dict[str, object]:
    """One table in the result."""
    entry: dict[str, object] = {
        "dimensions": _names(settings, mask),
        "cells": cells(mask, domain.shape),
        "variance": variance,
        "file": cuboid_file(settings, mask, measure),
    }
    return entry | ({"measure": measure.name} if several else {})


def _averages(
    settings: CubeSettings,
    domain: Domain,
    channels: tuple[Channel, ...],
    errors: tuple[Errors, ...],
) -> list[dict[str, object]]:
    """Entries of averages: ``variance`` is a bound for n = 1, to be divided by n^2."""
    by_name = {channel.measure.name: error for channel, error in zip(channels, errors, strict=True)}
    found: list[dict[str, object]] = []
    for measure in settings.measures:
        if measure.kind != AVERAGE:
            continue
        half = float(measure.upper - measure.lower) / 2
        sums, counts = by_name[centred(measure).name], by_name[COUNT]
        parts = zip(settings.published, sums.variances, counts.variances, strict=True)
        found += [
            _entry(settings, domain, mask, of_sum + half**2 * of_count, measure, several=True)
            for mask, of_sum, of_count in parts
        ]
    return found


def _names(settings: CubeSettings, mask: int) -> list[str]:
    return [settings.dimensions[i] for i in members(mask)]


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _target_notes(settings: CubeSettings, errors: Errors) -> list[Note]:
    """Whether the wanted variances are reached, and with which budget they would be."""
    if settings.objective != "targets" or not settings.targets:
        return []
    reached = dict(zip(settings.published, errors.variances, strict=True))
    worst = max(reached[mask] / float(target) for mask, target in settings.targets.items())
    if worst <= 1:
        return [Note("cube.targets", "All target variances are reached.")]
    symbol = "ε" if settings.noise is Noise.LAPLACE else "ρ"
    factor = sqrt(worst) if settings.noise is Noise.LAPLACE else worst
    needed = float(settings.budget) * factor
    sentence = msg(
        "The target variances are missed by a factor of up to {n:.4g}; about {s} = {m:.4g} would "
        "reach them.",
        n=worst,
        s=symbol,
        m=needed,
    )
    return [Note("cube.targets", sentence)]


def _notes(
    plan: CubePlan, cluster: str | None, settings: CubeSettings, errors: Errors
) -> tuple[Note, ...]:
    notes = [Note("cube.exact", sentence) for sentence in exact_notes(settings)]
    if settings.consistency in LINEAR:
        sentence = msg(
            "The errors stated are those of least squares, the smallest possible; those of "
            "`{rule}` are larger (in simulations up to 3.6 times the variance).",
            rule=settings.consistency,
        )
        notes.append(Note("cube.linear", sentence))
    notes += _target_notes(settings, errors)
    if settings.nonnegative:
        sentence = (
            "Without negative numbers, cells with few persons are too large on average, and so "
            "are sums of many such cells; the errors stated are those before that step, and how "
            "often their ± holds after it depends on the data."
        )
        notes.append(Note("cube.biased", sentence))
    if moved_by_rounding(settings, plan):
        sentence = (
            "Rounding to whole numbers adds to the error of a cell that is the sum of many finer "
            "ones that are not next to each other; every ± takes this into account."
        )
        notes.append(Note("cube.whole", sentence))
    if cluster is None:
        rows = settings.rows_per_person
        told = "one row" if rows == 1 else msg("at most {rows:,} rows", rows=rows)
        notes.append(
            Note(
                "cube.rows-per-person",
                msg(
                    "The guarantee assumes that every person has {told}: no column with the "
                    "role cluster says which rows belong together.",
                    told=told,
                ),
            )
        )
    if plan.note:
        notes.append(Note("cube.plan", plan.note))
    return tuple(notes)
