"""The lattice of a design: every cuboid, published or possible, with its expected error.

Nothing here depends on the data. Where no budget is chosen yet, errors are those of ε = 1 (ρ = 1
with Gaussian noise), from which all others follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from dpdesk.core.charts import MOST_DRAWN, LatticeChart, format_figure
from dpdesk.core.cuboid_choice import CuboidChoice
from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, msg
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.lattice import Floats, cell_variances, information, magnification
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.charts import OFTEN, WIDTH_HEADS, name_of, unit_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign, declare_all
from dpdesk.engine.methods.dp_cube.errors import Errors
from dpdesk.engine.methods.dp_cube.widths import released_widths, widths_of_lattice
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import PrivateInput

LATTICE = "cube-lattice"
QUESTION = "Which tables are published, and how exact is each?"
SHORT = "Lattice of tables"
MOST_IN_LIST = 2_000
_OPENS = "its error and its sources"


def lattice_of_design(design: CubeDesign, *, supposed: bool = False) -> LatticeChart:
    """The lattice with the expected errors of a design, those of its first measure."""
    settings, channel = design.settings, design.channels[0]
    listed = _listed(settings, [source.cuboid for source in design.plan.sources])
    variances = _variances(settings, channel, design.errors[0], listed)
    shares: dict[int, float] = {}
    for source in design.plan.sources:
        shares[source.cuboid] = shares.get(source.cuboid, 0.0) + float(source.share)
    widths = widths_of_lattice(settings, design.plan, variances, float(channel.unit))
    budget = f"{'ε' if settings.noise is Noise.LAPLACE else 'ρ'} = {float(settings.budget):g}"
    chart = LatticeChart(
        id=LATTICE,
        question=QUESTION,
        answer=_answer(design, supposed=supposed),
        choice=_choice(settings),
        shape=design.plan.shape,
        widths=widths,
        deviations=np.sqrt(variances),
        shares=shares,
        listed=listed,
        unit=unit_of(channel),
        width_head=WIDTH_HEADS[settings.covered],
        budget_words=budget,
        supposed=supposed,
        weighted=_weighted(settings),
        exact=_exact(settings, listed),
        minimal_change=settings.part.generic.l1 if settings.part else 0,
        short=SHORT,
        opens=_OPENS,
    )
    _ = chart.table, chart.ramp  # made here, where nobody waits for it
    return chart


def lattice_without_errors(given: PrivateInput) -> LatticeChart | None:
    """The lattice of settings of which no design can be made; None where they cannot be read."""
    try:
        settings = CubeSettings.from_parameters(given.parameters, given.where)
        shape = declare_all(settings, given).domain.shape
    except InputError:
        return None
    listed, choice = _listed(settings, []), _choice(settings)
    return LatticeChart(
        id=LATTICE,
        question=QUESTION,
        answer=msg(
            "{tables} chosen; their errors cannot be planned so.",
            tables=_tables(len(settings.published)),
        ),
        choice=choice,
        shape=shape,
        widths=np.empty(0),
        deviations=np.empty(0),
        shares={},
        listed=listed,
        unit="people",
        weighted=_weighted(settings),
        exact=frozenset(one for one in listed if choice.exact_above(one) is not None),
        short=SHORT,
        opens=_OPENS,
    )


def _listed(settings: CubeSettings, sources: Sequence[int]) -> tuple[int, ...]:
    """All cuboids of a small lattice, else those that the settings or the plan speak of."""
    count = len(settings.dimensions)
    found: Iterable[int] = range(1 << count)
    if 1 << count > MOST_DRAWN:
        named = [*sources, *settings.exact, *settings.exact_cells]
        named += [*settings.forbidden, *settings.weights, *settings.targets]
        rest = sorted(settings.published, key=_by_size)[: max(0, MOST_IN_LIST - len(named))]
        found = {*named, *rest}
    return tuple(sorted(found, key=_by_size))


def _by_size(mask: int) -> tuple[int, int]:
    return mask.bit_count(), mask


def _variances(
    settings: CubeSettings, channel: Channel, errors: Errors, listed: Sequence[int]
) -> Floats:
    """Variance of a cell of every cuboid, shape (2^d,); NaN where it was not worked out.

    Infinite where the tables with noise do not tell a cuboid.
    """
    shape, scale = channel.plan.shape, float(channel.unit) ** 2
    if settings.consistency == "none" and not settings.residuals:
        found = np.full(1 << len(shape), np.nan)
        for mask in listed:
            found[mask] = scale * _from_best(mask, channel)
    else:
        known = information(channel.own_information(), shape) + channel.residual_information()
        if channel.exact is not None:
            known[channel.exact.fixed] = np.inf
        found = cell_variances(known, shape) * scale
    found[list(settings.published)] = errors.variances
    return found


def _from_best(mask: int, channel: Channel) -> float:
    if channel.exact is not None and channel.exact.gives(mask):
        return 0.0
    pairs = zip(channel.plan.sources, channel.variances, strict=True)
    holding = [
        variance * magnification(mask, source.cuboid, channel.plan.shape)
        for source, variance in pairs
        if not mask & ~source.cuboid
    ]
    return min(holding, default=float("inf"))


def _choice(settings: CubeSettings) -> CuboidChoice:
    return CuboidChoice(
        settings.dimensions,
        None,
        settings.published,
        tuple(sorted(settings.forbidden)),
        settings.weights,
        settings.targets,
        settings.exact,
        settings.exact_cells,
    )


def _weighted(settings: CubeSettings) -> bool:
    """Whether the planner looks at weights."""
    if settings.planner == "optimal":
        return settings.objective != "targets"
    return settings.planner == "pmost"


def _answer(design: CubeDesign, *, supposed: bool) -> str:
    settings = design.settings
    exact = _exact(settings, settings.published)
    step = float(design.channels[0].unit)
    widths = released_widths(settings, design.plan, design.errors[0].variances, step)
    pairs = zip(settings.published, widths, strict=True)
    noisy = {mask: width for mask, width in pairs if mask not in exact}
    count, every = len(settings.published), 1 << len(settings.dimensions)
    which = (
        msg("All {tables} published", tables=_tables(every))
        if count == every
        else msg("{tables} of {every:,} published", tables=_tables(count), every=every)
    )
    if settings.part is not None:
        which += msg(" ({exact:,} exactly", exact=len(exact)) if exact else " (some cells exactly"
        which += msg(", noise for a minimal change of size {l:,})", l=settings.part.generic.l1)
    if not noisy:
        return msg("{which}; no noise is in any of them.", which=which)
    worst = max(noisy, key=lambda mask: noisy[mask])
    sign = "ε" if settings.noise is Noise.LAPLACE else "ρ"
    said = msg(
        "{which}, {span} {often} at {sign} = {budget:g}; least exact: {name_of}.",
        which=which,
        span=_span(design, noisy.values()),
        often=OFTEN[settings.covered],
        sign=sign,
        budget=float(settings.budget),
        name_of=name_of(settings, worst),
    )
    if not supposed:
        return said
    law = "1/ε" if settings.noise is Noise.LAPLACE else "1/√ρ"
    return msg(
        "{said} No {sign} is chosen yet: for any other, multiply by {law}.",
        said=said,
        sign=sign,
        law=law,
    )


def _span(design: CubeDesign, widths: Collection[float]) -> str:
    """The least and the largest ± in words."""
    low, high = (
        format_figure(float(f"{value:.3g}"), "number") for value in (min(widths), max(widths))
    )
    unit = unit_of(design.channels[0])
    if low == high:
        return msg("± {size} {unit}", size=high, unit=unit)
    return msg("± {low} to ± {high} {unit}", low=low, high=high, unit=unit)


def _exact(settings: CubeSettings, cuboids: Iterable[int]) -> frozenset[int]:
    """Those of some cuboids that follow from what is released exactly."""
    part = settings.part
    return frozenset(mask for mask in cuboids if part is not None and part.gives(mask))


def _tables(count: int) -> str:
    return counted("{n:,} table", "{n:,} tables", n=count)
