"""Charts as values: one description, several renderers.

A chart states a question (its title), answers it in one sentence, labels its axes with units and
carries the same numbers as a table (its twin). The report renders it as SVG, the window with its
plotting library; neither adds a number of its own.
"""

from __future__ import annotations

import dataclasses
import math
import types
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import Any, Protocol, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cube_parameters import CuboidChoice, CuboidStatus
from dpdesk.core.messages import msg
from dpdesk.core.shown import LONGEST_TEXT, LONGEST_VALUE, shortened

# Where the cuboids of a lattice are drawn: rows by number of dimensions, in lines.


_LARGEST, _WORDED, _SMALLEST = 46, 24, 10
_WIDEST, _ROOMY = 5.0, 190.0
_GAP = 0.45


@dataclass(frozen=True)
class LatticeRow:
    """The cuboids with ``size`` dimensions, between ``top`` and ``bottom``, ``pitch`` apart."""

    size: int
    top: float
    bottom: float
    pitch: float
    cuboids: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class LatticeLayout:
    """Marks in squares of ``edge``; ``places`` holds the middle of each, x to the right, y down."""

    edge: float
    rows: tuple[LatticeRow, ...]
    places: Mapping[int, tuple[float, float]] = field(repr=False)
    height: float


def arrange(
    cuboids: Sequence[int], width: float, height: float, words: float = 0.0
) -> LatticeLayout:
    """The largest marks with which these cuboids fit; small ones where nothing fits.

    A row that is too long for the width goes on in further lines. The order within a row is that
    of ``cuboids``. With ``words`` there is this room beside every mark, where that fits.
    """
    by_size: dict[int, list[int]] = {}
    for cuboid in cuboids:
        by_size.setdefault(cuboid.bit_count(), []).append(cuboid)
    rooms = [(float(edge), words) for edge in range(_LARGEST, _WORDED, -2)] if words else []
    rooms += [(float(edge), 0.0) for edge in range(_LARGEST, _SMALLEST, -1)]
    edge, beside = next(
        (
            (edge, beside)
            for edge, beside in rooms
            if _height(by_size, edge, edge + beside, width) <= height
        ),
        (float(_SMALLEST), 0.0),
    )
    spare = max(0.0, height - _height(by_size, edge, edge + beside, width)) / max(1, len(by_size))
    return _placed(by_size, edge, edge + beside, width, min(spare, 1.4 * edge))


def _lines(count: int, pitch: float, width: float) -> int:
    return ceil(count / max(1, int(width // pitch)))


def _height(by_size: Mapping[int, Sequence[int]], edge: float, pitch: float, width: float) -> float:
    return sum((_lines(len(row), pitch, width) + _GAP) * edge for row in by_size.values())


def _placed(
    by_size: Mapping[int, Sequence[int]], edge: float, least: float, width: float, spare: float
) -> LatticeLayout:
    rows: list[LatticeRow] = []
    places: dict[int, tuple[float, float]] = {}
    top = 0.0
    for size in sorted(by_size):
        row = by_size[size]
        lines = _lines(len(row), least, width)
        each = ceil(len(row) / lines)
        pitch = min(width / each, max(_WIDEST * edge, _ROOMY))
        for line in range(lines):
            part = row[line * each : (line + 1) * each]
            left = (width - pitch * len(part)) / 2
            y = top + (line + 0.5) * edge
            places |= {one: (left + (n + 0.5) * pitch, y) for n, one in enumerate(part)}
        bottom = top + lines * edge
        rows.append(LatticeRow(size, top, bottom, pitch, tuple(row)))
        top = bottom + _GAP * edge + spare
    return LatticeLayout(edge, tuple(rows), places, top)


Cell: TypeAlias = "str | int | float | None"
FLEETING = "fleeting"
"""Marks fields of charts that are not kept with them."""


@dataclass(frozen=True)
class ChartTable:
    """The twin of a chart: column headings (with units) and rows of plain values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Axis:
    """An axis with its title and unit; ``percent`` marks values that are shares from 0 to 1.

    On a ``bare`` axis positions have no meaning but their order: it has no numbers. A ``whole``
    axis counts something: it has no fractions.
    """

    title: str
    unit: str = ""
    percent: bool = False
    log: bool = False
    minimum: float | None = None
    maximum: float | None = None
    bare: bool = False
    whole: bool = False

    @property
    def label(self) -> str:
        """Title and unit as written beside the axis."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


class SeriesStyle(Enum):
    """How a series is drawn; renderers map looks to palette colours, markers and dashes."""

    REFERENCE = "reference"
    FIRST = "first"
    SECOND = "second"
    THIRD = "third"
    FOURTH = "fourth"
    FAIL = "fail"


@dataclass(frozen=True)
class BarSeries:
    """Values of one series, one per category; ``outline`` draws borders only (the state before).

    An outline that is a ``bound`` is no state before, but the most that a value may be. ``errors``,
    where they are given, reach as far to both sides of each value; with ``below`` that far down.
    """

    name: str
    values: tuple[float, ...]
    look: SeriesStyle = SeriesStyle.FIRST
    outline: bool = False
    errors: tuple[float, ...] = ()
    below: tuple[float, ...] = ()
    bound: bool = False

    def low_end(self, place: int) -> float:
        """Where the interval of a value begins; ``errors`` must be given."""
        return self.values[place] - (self.below or self.errors)[place]


@dataclass(frozen=True)
class BarChart:
    """Bars by category. ``hatched`` are indexes of categories that fail the asked threshold;
    ``threshold_before`` is the index of the category left of which a threshold line stands.
    ``short`` is a word or two that stand for the question where there is little room. With a
    ``threshold_key``, the line is the parameter of that name and may be dragged; then
    ``threshold_starts`` holds the smallest value of each category. ``opens`` says what is behind
    a bar, where there is something to be looked at. ``missing`` are indexes of categories that
    are no values: a window draws them as what is missing.
    """

    id: str
    question: str
    answer: str
    category_axis: Axis
    value_axis: Axis
    categories: tuple[str, ...]
    series: tuple[BarSeries, ...]
    table: ChartTable
    horizontal: bool = False
    hatched: frozenset[int] = frozenset()
    threshold_before: int | None = None
    threshold_label: str = ""
    short: str = ""
    threshold_key: str = ""
    threshold_starts: tuple[int, ...] = ()
    opens: str = ""
    missing: frozenset[int] = field(default=frozenset(), metadata={FLEETING: True})


@dataclass(frozen=True, eq=False)
class PointSeries:
    """Points of a scatter; ``ids`` name each point for picking (empty: not pickable).

    ``stepped`` joins the points, in order, by steps (a Pareto front), ``joined`` by straight lines
    without markers (a curve); ``emphasis`` draws the marker
    large (the chosen point, a candidate); ``labels`` (empty or one per point) are written beside.
    """

    name: str
    x: NDArray[np.float64] = field(repr=False)
    y: NDArray[np.float64] = field(repr=False)
    ids: NDArray[np.int64] = field(repr=False, default_factory=lambda: np.empty(0, np.int64))
    look: SeriesStyle = SeriesStyle.FIRST
    stepped: bool = False
    emphasis: bool = False
    labels: tuple[str, ...] = ()
    joined: bool = False


class PointLines(Protocol):
    """The twin of very many points, best first: a line is made when it is looked at."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings."""
        ...

    @property
    def ids(self) -> NDArray[np.int64]:
        """For each line, the id of its point."""
        ...

    def line(self, place: int) -> tuple[Cell, ...]:
        """A line; the first cell says in words what the point is."""
        ...


@dataclass(frozen=True, eq=False)
class ScatterChart:
    """Points in a plane, drawn series after series; ``y_limit`` draws a horizontal limit line.

    ``short`` is a word or two that stand for the question where there is little room. With a
    ``y_limit_key``, the limit is the parameter of that name and may be dragged; ``x_limit`` is the
    same upright. Where both may be dragged, they cross on the first series. ``links`` are pairs of
    ids of points that are joined by lines. ``opens`` says what is behind a point, where there is
    something to be looked at instead of a choice. ``lines`` are the table of a window, in which
    points are chosen too; they are not kept with the chart.
    """

    id: str
    question: str
    answer: str
    x_axis: Axis
    y_axis: Axis
    series: tuple[PointSeries, ...]
    table: ChartTable
    y_limit: float | None = None
    y_limit_label: str = ""
    short: str = ""
    y_limit_key: str = ""
    x_limit: float | None = None
    x_limit_label: str = ""
    x_limit_key: str = ""
    links: tuple[tuple[int, int], ...] = ()
    opens: str = ""
    lines: PointLines | None = field(default=None, repr=False, metadata={FLEETING: True})


@dataclass(frozen=True)
class CuboidNode:
    """One cuboid of a lattice.

    ``width`` is the ± of its cells (:attr:`LatticeChart.width_head`), ``deviation`` the standard
    deviation;
    None where nothing is planned yet, infinite where the tables with noise do not tell it.
    ``share`` is its part of the budget, 0 without noise of its own.
    """

    cuboid: int
    name: str
    cells: int
    standing: CuboidStatus
    weight: Fraction
    width: float | None
    deviation: float | None
    share: float
    exact: bool

    @property
    def noisy(self) -> bool:
        """Whether it has noise of its own."""
        return self.share > 0


@dataclass(frozen=True, eq=False)
class LatticeChart:
    """All cuboids of some dimensions, published and possible ones, with their expected errors.

    Cuboids are bit masks over the dimensions of ``choice``. ``shape`` holds their numbers of
    categories; ``widths`` and ``deviations`` have one entry for each cuboid, shape (2^d,), and are
    empty while nothing is planned. ``shares`` are those of the tables with noise; ``exact`` are the
    cuboids that are published without any. ``listed`` are the cuboids that are worth listing, in
    order: all of them in a small lattice. ``supposed`` says that the budget of ``budget_words`` is
    no choice yet. ``minimal_change`` is the number of rows in a minimal change beside the exact
    cuboids, for which all noise is made; 0 where that is not known. ``width_head`` says what a ± is
    and, where that is known, how often it holds. ``weighted`` says whether the planner looks at
    weights. ``short`` and ``opens`` as in a :class:`ScatterChart`.
    """

    id: str
    question: str
    answer: str
    choice: CuboidChoice
    shape: tuple[int, ...]
    widths: NDArray[np.float64] = field(repr=False)
    deviations: NDArray[np.float64] = field(repr=False)
    shares: Mapping[int, float]
    listed: tuple[int, ...] = field(repr=False)
    unit: str = "people"
    width_head: str = "± 95 %"
    budget_words: str = ""
    supposed: bool = False
    weighted: bool = False
    exact: frozenset[int] = frozenset()
    minimal_change: int = 0
    short: str = ""
    opens: str = ""

    def with_choice(self, choice: CuboidChoice) -> LatticeChart:
        """What was chosen since; errors stay as they were but those of what was exact."""
        if choice.exact == self.choice.exact:
            return replace(self, choice=choice)
        exact = frozenset(one for one in self.listed if choice.exact_above(one) is not None)
        unknown = list(self.exact - exact)
        widths, deviations = self.widths.copy(), self.deviations.copy()
        if len(widths):
            widths[unknown] = deviations[unknown] = math.nan
        return replace(
            self,
            choice=choice,
            exact=exact,
            widths=widths,
            deviations=deviations,
            minimal_change=0,
        )

    def is_exact(self, cuboid: int) -> bool:
        """Whether a cuboid is released without noise, or follows from one that is."""
        return cuboid in self.exact or self.choice.exact_above(cuboid) is not None

    @property
    def dimensions(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def whole(self) -> bool:
        """Whether the lattice is small enough to be drawn whole."""
        return 1 << self.dimensions <= MOST_DRAWN

    def node(self, cuboid: int) -> CuboidNode:
        """All that is known of a cuboid."""
        made = self._made.get(cuboid)
        if made is None:
            made = self._made[cuboid] = self._node(cuboid)
        return made

    @cached_property
    def _made(self) -> dict[int, CuboidNode]:
        return {}

    def _node(self, cuboid: int) -> CuboidNode:
        known = len(self.widths) > 0
        width = float(self.widths[cuboid]) if known else math.nan
        deviation = float(self.deviations[cuboid]) if known else math.nan
        return CuboidNode(
            cuboid,
            self.choice.name(cuboid),
            self.cells(cuboid),
            self.choice.standing(cuboid),
            self.choice.weight(cuboid),
            None if math.isnan(width) else width,
            None if math.isnan(deviation) else deviation,
            self.shares.get(cuboid, 0.0),
            self.is_exact(cuboid),
        )

    def cells(self, cuboid: int) -> int:
        """Number of cells of a cuboid; 1 for the grand total."""
        return math.prod(n for i, n in enumerate(self.shape) if cuboid >> i & 1)

    def around(self, cuboid: int) -> tuple[int, ...]:
        """The cuboids with one dimension less or one more, those with less first."""
        every = [1 << i for i in range(self.dimensions)]
        less = [cuboid ^ bit for bit in every if cuboid & bit]
        return (*sorted(less), *sorted(cuboid | bit for bit in every if not cuboid & bit))

    def drawn(self, chosen: int) -> tuple[int, ...]:
        """The cuboids of a picture: all of a small lattice, else the chosen one ± one step."""
        return self.listed if self.whole else (*self.around(chosen), chosen)

    def sources(self, cuboid: int) -> tuple[int, ...]:
        """The cuboids with noise that hold all its dimensions, itself included, smallest first."""
        if self.is_exact(cuboid):
            return ()
        holding = [source for source in self.shares if not cuboid & ~source]
        return tuple(sorted(holding, key=lambda source: (self.cells(source), source)))

    @cached_property
    def ramp(self) -> tuple[float, ...]:
        """Bounds of the error classes, ascending, one more than classes; empty without errors."""
        found = self.widths[list(self.listed)] if len(self.widths) else np.empty(0)
        found = found[np.isfinite(found) & (found > 0)]
        if not len(found):
            return ()
        low, high = float(found.min()), float(found.max())
        if high <= low * 1.05:
            return (low, high)
        return tuple(float(bound) for bound in np.geomspace(low, high, ERROR_CLASSES + 1))

    def error_class(self, width: float | None) -> int | None:
        """The class of an error, from 0; None for one that is not known or not finite."""
        if width is None or not math.isfinite(width) or not self.ramp:
            return None
        return bisect_left(self.ramp, width, 1, len(self.ramp) - 1) - 1

    @cached_property
    def table(self) -> ChartTable:
        """The twin: a row for each cuboid that is listed."""
        return table_from(
            [
                "Table",
                "Dimensions",
                "Cells",
                "CuboidStatus",
                "Noise",
                msg("{width} ({unit})", width=self.width_head, unit=self.unit),
                msg("Standard deviation ({unit})", unit=self.unit),
                "Share of the budget (%)",
                "Weight",
            ],
            [_lattice_row(self.node(cuboid)) for cuboid in self.listed],
        )


MOST_DRAWN = 300
"""More cuboids than this are not drawn at once."""
ERROR_CLASSES = 6

STANDING_WORDS = {
    CuboidStatus.PUBLISHED: "published",
    CuboidStatus.FREE: "not published",
    CuboidStatus.FORBIDDEN: "forbidden",
}


def _noise_words(node: CuboidNode) -> str:
    if node.exact:
        return "none"
    if node.noisy:
        return "own"
    unknown = node.width is None or not math.isfinite(node.width)
    return "not determined" if unknown else "computed"


def _lattice_row(node: CuboidNode) -> tuple[Cell, ...]:
    def rounded(value: float | None) -> Cell:
        if value is None or not math.isfinite(value):
            return None
        return float(f"{value:.4g}")

    return (
        node.name,
        node.cuboid.bit_count(),
        node.cells,
        STANDING_WORDS[node.standing],
        _noise_words(node),
        rounded(node.width),
        rounded(node.deviation),
        round(100 * node.share, 3) if node.noisy else None,
        float(node.weight) if node.standing is CuboidStatus.PUBLISHED else None,
    )


Chart: TypeAlias = "BarChart | ScatterChart | LatticeChart"


@dataclass(frozen=True)
class Figure:
    """A headline number of a candidate: what it is, its value, and how to write it.

    ``kind`` is one of ``"count"``, ``"share"`` (0 to 1, shown in percent), ``"number"``.
    ``better`` says whether lower or higher is better, or neither (empty). ``headline`` marks the
    few that a front end shows first; ``about`` is ``"risk"``, ``"loss"`` or empty.
    """

    key: str
    label: str
    value: float
    kind: str = "number"
    unit: str = ""
    better: str = ""
    help: str = ""
    headline: bool = False
    about: str = ""


_LEAST_SHARE, _LEAST_NUMBER = 0.0001, 1e-6


def format_figure(value: float | None, kind: str) -> str:
    """A number for people: grouped digits, shares in percent, never exponents.

    What is nearer to nothing than 0.01 %, or than 0.000001, is said to be less than that.
    """
    if value is None or value != value:
        return "–"
    if kind == "count":
        return f"{value:,.0f}"
    least = _LEAST_SHARE if kind == "share" else _LEAST_NUMBER
    if 0 < abs(value) < least:
        bound = "0.01 %" if kind == "share" else "0.000001"
        return f"<{bound}" if value > 0 else f">-{bound}"
    if kind == "share":
        percent = value * 100
        if 99.995 <= percent < 100:
            return ">99.99 %"
        return f"{percent:,.2f} %".replace(".00 %", " %")
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 0.001 or value == 0:
        return f"{value:,.4g}"
    return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"


def table_from(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> ChartTable:
    """A twin from any sequences."""
    return ChartTable(tuple(columns), tuple(tuple(row) for row in rows))


# Charts as JSON values and back, so that a page can be drawn again from what was kept of it.
#
# Reading is strict: an unknown chart, a key too many or too few, or a value of another type is a
# :class:`ChartValueError`. Numbers that JSON does not have are written as texts: ``"nan"``,
# ``"inf"``, ``"-inf"``.


_KINDS: dict[str, type] = {"bars": BarChart, "points": ScatterChart}
_KIND = "kind"
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class ChartValueError(ValueError):
    """What was kept is not a chart; the message says why, without the data."""


def charts_as_json(given: Sequence[Chart]) -> list[dict[str, object]]:
    """Charts as JSON values. TypeError for a kind of chart that no report shows."""
    return [_chart(one) for one in given]


def charts_from_json(raw: object) -> tuple[Chart, ...]:
    """What :func:`charts_as_json` wrote. Raises ChartValueError."""
    if not isinstance(raw, list):
        raise ChartValueError("expected a list of charts")
    return tuple(_read_chart(item) for item in raw)


def _chart(chart: Chart) -> dict[str, object]:
    kind = next((name for name, known in _KINDS.items() if type(chart) is known), None)
    if kind is None:
        raise TypeError(f"{type(chart).__name__} is not a chart of a report")
    return {_KIND: kind, **_fields(chart)}


def _fields(value: Any) -> dict[str, object]:
    return {name: _plain(getattr(value, name)) for name in _kept(type(value))}


def _kept(kind: Any) -> list[str]:
    fields = dataclasses.fields(kind)
    return [field.name for field in fields if not field.metadata.get(FLEETING)]


def _plain(value: Any) -> object:
    if isinstance(value, np.ndarray):
        # Charts of all nodes hold ten thousands of numbers: only odd ones are looked at one by one.
        if value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.isfinite(value).all()):
            return value.tolist()
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value


def _read_chart(raw: object) -> Chart:
    if not isinstance(raw, Mapping) or raw.get(_KIND) not in _KINDS:
        raise ChartValueError("found a chart of an unknown kind")
    fields = {key: value for key, value in raw.items() if key != _KIND}
    found: Chart = _read_fields(fields, _KINDS[str(raw[_KIND])])
    return found


@lru_cache(maxsize=32)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns=globals())


def _read_fields(raw: object, kind: type) -> Any:
    hints = _hints(kind)
    names = _kept(kind)
    if not isinstance(raw, Mapping) or set(raw) != set(names):
        raise ChartValueError(msg("found fields other than those of {name}", name=kind.__name__))
    return kind(**{name: _read(raw[name], hints[name]) for name in names})


def _read(raw: object, kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _read_union(raw, inner)
    if origin is np.ndarray:
        return _read_array(raw, kind)
    if origin in (tuple, frozenset):
        return _read_items(raw, origin, inner)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(raw)
        except ValueError as error:
            raise ChartValueError(msg("found no {name}", name=kind.__name__)) from error
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _read_fields(raw, kind)
    return _read_plain(raw, kind)


def _read_union(raw: object, kinds: tuple[Any, ...]) -> object:
    """One of some plain types; a text stays one where texts are among them."""
    if type(raw) in kinds or (str in kinds and isinstance(raw, str)):
        return raw
    if float in kinds:
        return _read_plain(raw, float)
    raise ChartValueError(msg("found {name}, expected another type", name=type(raw).__name__))


def _read_plain(raw: object, kind: Any) -> object:
    if kind is float and isinstance(raw, str) and raw in _ODD:
        return _ODD[raw]
    message = kind is str and isinstance(raw, str)
    if message or type(raw) is kind or (kind is float and type(raw) is int):
        return raw
    raise ChartValueError(
        msg("found {name}, expected {name2}", name=type(raw).__name__, name2=kind.__name__)
    )


def _read_items(raw: object, origin: Any, inner: tuple[Any, ...]) -> Any:
    if not isinstance(raw, list):
        raise ChartValueError(msg("found {name}, expected a list", name=type(raw).__name__))
    if origin is frozenset or inner[1:] == (Ellipsis,):
        return origin(_read(item, inner[0]) for item in raw)
    if len(raw) != len(inner):
        raise ChartValueError(
            msg("found {raw} items, expected {inner}", raw=len(raw), inner=len(inner))
        )
    return tuple(_read(item, one) for item, one in zip(raw, inner, strict=True))


def _read_array(raw: object, kind: Any) -> Any:
    number = np.float64 if "float64" in str(kind) else np.int64
    plain = float if number is np.float64 else int
    if not isinstance(raw, list):
        raise ChartValueError(msg("found {name}, expected a list", name=type(raw).__name__))
    return np.array([_read_plain(item, plain) for item in raw], number)


# What of a chart is drawn.


Drawn = TypeVar("Drawn", bound="BarChart | ScatterChart | LatticeChart")
Cut: TypeAlias = Callable[[str, int], str]
"""A text and the most characters of it, to what is shown of it."""


def drawable(chart: Drawn, cut: Cut = shortened) -> Drawn:
    """The chart, with all that is drawn of it cut to what can be; its table stays whole."""
    if isinstance(chart, LatticeChart):
        return chart
    changes: dict[str, object] = {
        "question": cut(chart.question, LONGEST_TEXT),
        "answer": cut(chart.answer, LONGEST_TEXT),
    }
    if isinstance(chart, BarChart):
        changes["categories"] = tuple(cut(one, LONGEST_VALUE) for one in chart.categories)
        changes["category_axis"] = _axis(chart.category_axis, cut)
        changes["value_axis"] = _axis(chart.value_axis, cut)
        changes["series"] = tuple(_named(one, cut) for one in chart.series)
    else:
        changes["x_axis"], changes["y_axis"] = _axis(chart.x_axis, cut), _axis(chart.y_axis, cut)
        changes["series"] = tuple(_pointed(one, cut) for one in chart.series)
    same = all(getattr(chart, name) == value for name, value in changes.items())
    return chart if same else replace(chart, **changes)  # type: ignore[arg-type]


def _axis(axis: Axis, cut: Cut) -> Axis:
    return replace(axis, title=cut(axis.title, LONGEST_VALUE))


def _named(series: BarSeries, cut: Cut) -> BarSeries:
    return replace(series, name=cut(series.name, LONGEST_VALUE))


def _pointed(series: PointSeries, cut: Cut) -> PointSeries:
    """The same series, not its like, unless something is cut: its points are not compared."""
    name = cut(series.name, LONGEST_VALUE)
    labels = tuple(cut(one, LONGEST_VALUE) for one in series.labels)
    same = (name, labels) == (series.name, series.labels)
    return series if same else replace(series, name=name, labels=labels)
