"""Views and other ways to release marginals, on the rows of a plan: internal, nothing is kept.

Random marginals of k columns are made by each way from the same rows, with the budget of the plan
and around it, and compared with the true ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import cycle
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import (
    Axis,
    Cell,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.plain import number_text
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.counting import place_rows
from dpdesk.engine.private.kinds import Measure
from dpdesk.engine.private.method import NoisyTables, PrivateInput
from dpdesk.engine.querying import Comparison
from dpdesk.engine.views.design import ViewDesign, designed
from dpdesk.engine.views.rivals import (
    Errors,
    Places,
    Release,
    Truth,
    Unable,
    Way,
    measured,
    rivals_of,
)
from dpdesk.engine.views.settings import ViewSettings

Lines = dict[str, list[Errors | None]]

VIEWS, FLOOR, UNIFORM = "Views", "Views without noise", "Uniform"
SIZES, COVERS = (2, 4, 6, 8), (1, 2, 3)
BUDGETS = (Fraction(1, 10), Fraction(1), Fraction(10))
SETS, DRAWS, MOST_CELLS, _MOST_COVERED = 40, 3, 1 << 12, 50_000
_TRIED = 20
_LOOKS = (SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH)
_L2, _SSE = "normalised", "squared"
_STEP = "Compare ways to release marginals"


@dataclass(frozen=True, eq=False)
class _Scene:
    """What is compared: the rows, the plan's design, and the marginals by their size."""

    settings: ViewSettings
    given: PrivateInput
    design: ViewDesign
    truth: Truth
    asked: Mapping[int, tuple[Places, ...]]
    token: CancelToken = field(repr=False)

    def views(self, design: ViewDesign, *, noisy: bool = True) -> Way:
        """Views of a design; without noise, what they do not cover is all that is wrong."""
        truth = self.truth
        tables = [truth.table(view) for view in design.chosen.views]

        def drawn() -> Release:
            found = tuple(
                np.rint(table).astype(np.int64)
                + (self._noise(design, number, table.shape) if noisy else 0)
                for number, table in enumerate(tables)
            )
            agreed = design.agreed(NoisyTables(found), self.token, silent)
            entropy = design.settings.entropy
            return lambda places: agreed.marginal(places, self.token, entropy=entropy).values

        # One release says all marginals, whatever their size: it is drawn once.
        made = cycle([drawn() for _ in range(DRAWS if noisy else 1)])
        return Way(VIEWS if noisy else FLOOR, lambda: next(made))

    def _noise(self, design: ViewDesign, number: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        return design.channel.noise(number, shape, self.truth.randomness, self.token)

    def at(self, budget: Fraction) -> ViewDesign:
        """The same views with another budget."""
        views = self.design.chosen.views
        cube = replace(self.settings.cube, budget=budget)
        asked = replace(self.settings, cube=cube, views=views, size=0, cells=0)
        return designed(asked, self.given, self.token, silent)

    def covering(self, cover: int) -> ViewDesign | None:
        """Views that cover so many columns together; None where that is out of reach."""
        settings = self.settings
        if cover == settings.cover or settings.views:
            return self.design if cover == settings.cover else None
        many = len(settings.cube.dimensions)
        if cover > many or comb(many, cover) > _MOST_COVERED or 0 < settings.size < cover:
            return None
        try:
            return designed(replace(settings, cover=cover), self.given, self.token, silent)
        except InputError:
            return None


def compared_views(
    given: PrivateInput,
    rows: FrequencySource,
    randomness: RandomSource,
    token: CancelToken,
    report: Report,
) -> tuple[Comparison, ...]:
    """Compare ways to release marginals of the plan's rows.

    Raises InputError for what the plan gets wrong, RefusedError ``compare.columns`` where all
    marginals are too large, Cancelled.
    """
    settings = ViewSettings.from_parameters(given.parameters, given.where)
    design = designed(settings, given, token, report)
    cube = settings.cube
    most = cube.rows_per_person
    placed = place_rows(rows, design.declared, Measure(COUNT), design.cluster, most, token)
    truth = Truth(placed, cube.noise, most, cube.replace, randomness, token)
    asked = _asked(truth)
    if not asked:
        raise RefusedError(
            "compare.columns",
            msg(
                "{where}: the marginals of two columns have more than {most:,} cells, too many to "
                "be compared.",
                where=given.where,
                most=MOST_CELLS,
            ),
            hint="Use coarser categories with `levels`.",
        )
    scene = _Scene(settings, given, design, truth, asked, token)
    return (_comparison(scene, rows.rows, report),)


def _asked(truth: Truth) -> dict[int, tuple[Places, ...]]:
    """Random marginals by their number of columns, none of them too large."""
    draw = np.random.default_rng(truth.randomness.words(4))
    many = len(truth.shape)
    found = {}
    for k in SIZES if many > 1 else (1,):
        sets: set[Places] = set()
        for _ in range(SETS * _TRIED if k <= many else 0):
            places = tuple(sorted(map(int, draw.choice(many, k, replace=False))))
            if prod(truth.shape[i] for i in places) <= MOST_CELLS:
                sets.add(places)
            if len(sets) == min(SETS, comb(many, k)):
                break
        if sets:
            found[k] = tuple(sorted(sets))
    return found


# ---- what is measured


def _comparison(scene: _Scene, rows: int, report: Report) -> Comparison:
    budget, sizes = scene.settings.cube.budget, tuple(scene.asked)
    middle = sizes[len(sizes) // 2]
    total = len(sizes) + len(BUDGETS) - 1 + len(COVERS)
    steps = iter(range(1, total + 1))

    def step() -> None:
        report(StepProgress(_STEP, next(steps), total, "comparisons"))

    own, floor = scene.views(scene.design), scene.views(scene.design, noisy=False)
    by_size: Lines = {}
    unable: dict[str, str] = {}
    for place, k in enumerate(sizes):
        step()
        for label, errors in _measured(scene, (own, floor), k, budget, unable):
            by_size.setdefault(label, [None] * len(sizes))[place] = errors
    by_budget: Lines = {
        label: [None, line[sizes.index(middle)], None] for label, line in by_size.items()
    }
    for place, factor in enumerate(BUDGETS):
        if factor == 1:
            continue
        step()
        other = budget * factor
        views = scene.views(scene.at(other)), floor
        for label, errors in _measured(scene, views, middle, other, unable):
            by_budget.setdefault(label, [None] * len(BUDGETS))[place] = errors
    by_cover: Lines = {VIEWS: [], FLOOR: []}
    covered = []
    for cover in COVERS:
        step()
        design = scene.covering(cover)
        if design is None:
            continue
        covered.append(cover)
        ways = own, floor
        if design is not scene.design:
            ways = scene.views(design), scene.views(design, noisy=False)
        for way in ways:
            by_cover[way.label].append(_errors(scene, way, middle))
    charts = _charts(scene, middle, by_size, by_budget, covered, by_cover)
    many = sum(map(len, scene.asked.values()))
    return Comparison(
        *(msg("Marginals of {n} columns", n=len(scene.truth.shape)), many, rows, 0),
        _sentence(scene, middle, by_size, unable),
        charts,
        measure="marginals",
    )


def _measured(
    scene: _Scene, views: tuple[Way, Way], k: int, budget: Fraction, unable: dict[str, str]
) -> Iterator[tuple[str, Errors]]:
    """All ways with a budget; those that these data do not allow are noted in ``unable``."""
    for way in (*views, *rivals_of(scene.truth, scene.asked[k], budget)):
        if isinstance(way, Unable):
            unable.setdefault(way.label, way.reason)
        else:
            yield way.label, _errors(scene, way, k)


def _errors(scene: _Scene, way: Way, k: int) -> Errors:
    draws = 1 if way.label in (FLOOR, UNIFORM) else DRAWS
    return measured(scene.truth, way, scene.asked[k], draws)


# ---- what is shown


@dataclass(frozen=True)
class _Picture:
    """A chart to be: ``measure`` is the field of the errors, ``places`` those on the x axis."""

    key: str
    question: str
    short: str
    measure: str
    y_axis: Axis
    x_axis: Axis
    places: Sequence[float]
    lines: Lines
    answer: str = ""


def _charts(
    scene: _Scene, middle: int, by_size: Lines, by_budget: Lines, covers: Sequence[int],
    by_cover: Lines,
) -> tuple[ScatterChart, ...]:  # fmt: skip
    sizes = Axis("Columns of a marginal", "number", whole=True)
    error = Axis("L2 error, as a share of all rows", percent=True, log=True)
    bits = Axis("Jensen–Shannon divergence", "bits", log=True)
    squares = Axis("Sum of squared errors", "people²", log=True)
    budgets = [float(scene.settings.cube.budget * each) for each in BUDGETS]
    loss = msg("Privacy loss {sign}", sign="ε" if scene.settings.cube.pure else "ρ")
    asked = list(scene.asked)
    by_columns = "How wrong are marginals, by the number of their columns?"
    shares = "How far are the shares in marginals from the true ones?"
    squared = "How large are the squared errors of marginals?"
    by_loss = msg("How wrong are marginals of {n} columns, by the budget?", n=middle)
    covered = msg("How wrong are marginals of {n} columns, by what views cover?", n=middle)
    axis = Axis("Columns covered together", "number", whole=True)
    return tuple(
        _chart(each)
        for each in (
            _Picture("by-size", by_columns, "Columns", _L2, error, sizes, asked, by_size),
            _Picture("divergence", shares, "Shares", "divergence", bits, sizes, asked, by_size),
            _Picture("squared", squared, "Squared errors", _SSE, squares, sizes, asked, by_size),
            _Picture(
                *("by-budget", by_loss, "Budget", _L2, error),
                Axis(loss, "smaller protects more", log=True),
                *(budgets, by_budget),
            ),
            _Picture(
                *("by-cover", covered, "Coverage", _L2, error, axis, list(covers), by_cover),
                _best_cover(covers, by_cover[VIEWS]),
            ),
        )
    )


def _chart(picture: _Picture) -> ScatterChart:
    """A line for each way; the twin has all ways, the picture those that are better than uniform
    ones anywhere, the best of them.
    """
    values: dict[str, list[float | None]] = {
        label: [None if each is None else getattr(each, picture.measure) for each in errors]
        for label, errors in picture.lines.items()
    }
    shown = _shown(values)
    rows: list[list[Cell]] = [
        [place, *(line[at] for line in values.values())] for at, place in enumerate(picture.places)
    ]
    return ScatterChart(
        id=picture.key,
        question=picture.question,
        answer=picture.answer or _answer(values, set(values) - set(shown)),
        x_axis=picture.x_axis,
        y_axis=picture.y_axis,
        series=tuple(
            _series(label, picture.places, values[label], look) for label, look in shown.items()
        ),
        table=table_from([picture.x_axis.label, *values], rows),
        short=picture.short,
    )


def _series(
    label: str, places: Sequence[float], values: Sequence[float | None], look: SeriesStyle
) -> PointSeries:
    known = [(x, y) for x, y in zip(places, values, strict=True) if y]
    x, y = (np.array([each[at] for each in known]) for at in (0, 1))
    return PointSeries(label, x, y, look=look, joined=True)


def _shown(values: Mapping[str, Sequence[float | None]]) -> dict[str, SeriesStyle]:
    """The ways of the picture with their looks: views, their floor, uniform, and the best others
    of those that are better than uniform tables anywhere.
    """
    fixed = {VIEWS: SeriesStyle.FIRST, FLOOR: SeriesStyle.REFERENCE, UNIFORM: SeriesStyle.FAIL}
    limit = values.get(UNIFORM, ())
    useful = []
    for label, line in values.items():
        better = [
            (each / most)
            for each, most in zip(line, limit, strict=False)
            if each is not None and most
        ]
        if label not in fixed and better and min(better) < 1:
            useful.append((min(better), label))
    best = [label for _, label in sorted(useful)[: len(_LOOKS)]]
    return {label: look for label, look in fixed.items() if label in values} | dict(
        zip(best, _LOOKS, strict=False)
    )


def _answer(values: Mapping[str, Sequence[float | None]], hidden: Collection[str]) -> str:
    """Which way errs least, apart from what no release can do."""
    last = [
        (line[-1], label)
        for label, line in values.items()
        if label != FLOOR and line and line[-1] is not None
    ]
    if not last:
        return "Nothing could be compared."
    said = msg("At the right end, “{way}” errs least.", way=min(last)[1])
    if hidden:
        others = msg("Only the table has: {names}.", names=joined(sorted(hidden), ", "))
        return joined((said, others), " ")
    return said


def _best_cover(covers: Sequence[int], errors: Sequence[Errors | None]) -> str:
    found = [(each.normalised, cover) for cover, each in zip(covers, errors, strict=True) if each]
    error, cover = min(found)
    return counted(
        "Views that hold every column err least: {error}.",
        "Views that hold every {n} columns together err least: {error}.",
        n=cover,
        error=format_figure(error, "share"),
    )


def _sentence(scene: _Scene, middle: int, by_size: Lines, unable: Mapping[str, str]) -> str:
    place = list(scene.asked).index(middle)
    errors = [
        msg("{way} ({error})", way=label, error=format_figure(each.normalised, "share"))
        for label, line in by_size.items()
        if (each := line[place]) is not None
    ]
    parts = [
        msg(
            "Marginals of {n} columns with {budget}, L2 error as a share of all rows: {errors}.",
            n=middle,
            budget=_budget_words(scene.settings),
            errors=joined(errors, "; "),
        ),
        msg(
            "Means of {draws} draws over at most {sets} random marginals of each size; tables of "
            "cubes are planned, not drawn. An error above that of uniform tables is of no use. "
            "The true data were used: what you decide after this look is not covered by "
            "the budget.",
            draws=DRAWS,
            sets=SETS,
        ),
    ]
    parts += [
        msg("Not compared: {way}, because {reason}.", way=label, reason=reason)
        for label, reason in unable.items()
    ]
    return joined(parts, " ")


def _budget_words(settings: ViewSettings) -> str:
    symbol = "ε" if settings.cube.pure else "ρ"
    return msg("{sign} = {budget}", sign=symbol, budget=number_text(settings.cube.budget))
