"""Charts as values: one description, several renderers.

A chart states a question (its title), answers it in one sentence, labels its axes with units and
carries the same numbers as a table (its twin). The report renders it as SVG, the window with its
plotting library; neither adds a number of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Cell: TypeAlias = "str | int | float | None"


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


class Look(Enum):
    """How a series is drawn; renderers map looks to palette colours, markers and dashes."""

    REFERENCE = "reference"
    FIRST = "first"
    SECOND = "second"
    THIRD = "third"
    FOURTH = "fourth"
    FAIL = "fail"


@dataclass(frozen=True)
class BarSeries:
    """Values of one series, one per category; ``outline`` draws borders only (the state before)."""

    name: str
    values: tuple[float, ...]
    look: Look = Look.FIRST
    outline: bool = False


@dataclass(frozen=True)
class BarChart:
    """Bars by category. ``hatched`` are indexes of categories that fail the asked threshold;
    ``threshold_before`` is the index of the category left of which a threshold line stands.
    ``short`` is a word or two that stand for the question where there is little room. With a
    ``threshold_key``, the line is the parameter of that name and may be dragged; then
    ``threshold_starts`` holds the smallest value of each category. ``opens`` says what is behind
    a bar, where there is something to be looked at.
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
    look: Look = Look.FIRST
    stepped: bool = False
    emphasis: bool = False
    labels: tuple[str, ...] = ()
    joined: bool = False


@dataclass(frozen=True, eq=False)
class ScatterChart:
    """Points in a plane, drawn series after series; ``y_limit`` draws a horizontal limit line.

    ``short`` is a word or two that stand for the question where there is little room. With a
    ``y_limit_key``, the limit is the parameter of that name and may be dragged. ``links`` are pairs
    of ids of points that are joined by lines. ``opens`` says what is behind a point, where there
    is something to be looked at instead of a choice.
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
    links: tuple[tuple[int, int], ...] = ()
    opens: str = ""


Chart: TypeAlias = "BarChart | ScatterChart"


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


def format_figure(value: float | None, kind: str) -> str:
    """A number for people: grouped digits, shares in percent, never exponents."""
    if value is None or value != value:
        return "–"
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "share":
        percent = value * 100
        if 0 < percent < 0.01:
            return "<0.01 %"
        return f"{percent:,.2f} %".replace(".00 %", " %")
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 0.001 or value == 0:
        return f"{value:,.4g}"
    return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"


def table_from(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> ChartTable:
    """A twin from any sequences."""
    return ChartTable(tuple(columns), tuple(tuple(row) for row in rows))
