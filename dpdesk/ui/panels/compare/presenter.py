"""What the compare panel decides, without any widget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Candidate
from dpdesk.core.charts import (
    Axis,
    BarChart,
    Chart,
    Figure,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    table_from,
)
from dpdesk.core.cuboid import TABLES
from dpdesk.core.messages import msg
from dpdesk.ui.words.numbers import bare_share, figure_words
from dpdesk.ui.words.spoken import inside, spoken_figures, spoken_guarantee

AIR = 0.12
LINE_FIGURES = 4
translate = QCoreApplication.translate


@dataclass(frozen=True)
class Entry:
    """A candidate with its pin (``"A"``, ``"B"`` or empty); ``reason`` says why it cannot be
    compared with the one that is pinned as A (empty when it can), ``elsewhere`` that its data are
    not those that are open.
    """

    candidate: Candidate
    pin: str = ""
    reason: str = ""
    elsewhere: str = ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a card warns of."""
        return tuple(text for text in (self.reason, self.elsewhere) if text)

    @property
    def label(self) -> str:
        """Number and pin, for points and headings: ``2 (A)``."""
        return f"{self.candidate.id} ({self.pin})" if self.pin else str(self.candidate.id)


@dataclass(frozen=True)
class Pins:
    """Which candidates are A and B, by id; 0 for none."""

    a: int = 0
    b: int = 0

    def settled(self, candidates: Sequence[Candidate], data: str = "") -> Pins:
        """These pins, or the best that can be had: the oldest as A, the next comparable as B.

        Those of the ``data`` (a path) that are open come before others.
        """
        ids = [one.id for one in sorted(candidates, key=lambda one: one.scope[0] != data)]
        a = self.a if self.a in ids else next(iter(ids), 0)
        first = next((one for one in candidates if one.id == a), None)
        others = [
            one.id
            for one in candidates
            if first is not None and one.id != a and not scope_reason(one, first)
        ]
        b = self.b if self.b in others else next(iter(others), 0)
        return Pins(a, b)

    def with_a(self, identifier: int) -> Pins:
        """Pin A; what was A becomes B when B would be the same."""
        return Pins(identifier, self.a if self.b == identifier else self.b)

    def with_b(self, identifier: int) -> Pins:
        """Pin B; what was B becomes A when A would be the same."""
        return Pins(self.b if self.a == identifier else self.a, identifier)


def entries(candidates: Sequence[Candidate], pins: Pins, data: str = "") -> tuple[Entry, ...]:
    """All candidates as the panel shows them; ``data`` is the path of those that are open."""
    first = next((one for one in candidates if one.id == pins.a), None)
    names = {pins.a: "A", pins.b: "B"}
    return tuple(
        Entry(
            _spoken(one),
            names.get(one.id, ""),
            "" if first is None else scope_reason(one, first),
            elsewhere(one, data),
        )
        for one in candidates
    )


def _spoken(one: Candidate) -> Candidate:
    """A candidate whose words are in the language of the window."""
    return replace(
        one, figures=spoken_figures(one.figures), guarantee=spoken_guarantee(one.guarantee)
    )


def pinned(shown: Sequence[Entry], pin: str) -> Entry | None:
    """The entry with this pin."""
    return next((entry for entry in shown if entry.pin == pin), None)


def elsewhere(candidate: Candidate, data: str) -> str:
    """That the data of a candidate are not those that are open; empty when they are."""
    path = candidate.scope[0]
    if not data or path == data:
        return ""
    text = translate("Compare", "Made from {file}, which is not open now")
    return text.format(file=Path(path).name)


def scope_reason(candidate: Candidate, reference: Candidate) -> str:
    """Why two candidates say nothing about each other; empty when they do."""
    (path, quasi), (other_path, other_quasi) = candidate.scope, reference.scope
    if path != other_path:
        text = translate("Compare", "Other data than A: {file}")
        return text.format(file=Path(path).name)
    if planned(candidate) != planned(reference):
        return translate("Compare", "Tables with planned errors and rows have no figure in common")
    if planned(candidate):
        return _tables_reason(candidate, reference)
    missing = [name for name in other_quasi if name not in quasi]
    more = [name for name in quasi if name not in other_quasi]
    if missing:
        text = translate("Compare", "Other quasi-identifiers: {names} not among them")
        return text.format(names=", ".join(missing))
    if more:
        text = translate("Compare", "Other quasi-identifiers: {names} in addition")
        return text.format(names=", ".join(more))
    return _nothing_shared(candidate, reference)


def _nothing_shared(candidate: Candidate, reference: Candidate) -> str:
    known = {figure.key for figure in reference.figures}
    if known.isdisjoint(figure.key for figure in candidate.figures):
        return translate("Compare", "No figure in common with A")
    return ""


def planned(candidate: Candidate) -> bool:
    """Whether it is a plan of tables with noise: its errors are known, and nothing was counted."""
    return any(key in candidate.result for key in TABLES)


def _tables_reason(candidate: Candidate, reference: Candidate) -> str:
    pairs = (
        ("dimensions", translate("Compare", "Other dimensions: {names}")),
        ("levels", translate("Compare", "Other levels: {names}")),
        ("measure", translate("Compare", "Another measure: {names}")),
        ("groups", translate("Compare", "Other groups: {names}")),
        ("choose", translate("Compare", "Another choice: {names}")),
    )
    for key, text in pairs:
        mine = candidate.work.parameters.get(key)
        if mine != reference.work.parameters.get(key):
            names = ", ".join(map(str, mine)) if isinstance(mine, list | tuple) else str(mine)
            return text.format(names=names if mine is not None else "–")
    return _nothing_shared(candidate, reference)


# ---- figures


def shared_figures(shown: Sequence[Entry]) -> tuple[Figure, ...]:
    """The figures that all comparable candidates have, in the order of the first."""
    comparable = [entry.candidate.figures for entry in shown if not entry.reason]
    if not comparable:
        return ()
    common = set.intersection(*({figure.key for figure in each} for each in comparable))
    return tuple(figure for figure in comparable[0] if figure.key in common)


def value_of(entry: Entry, key: str) -> Figure | None:
    """A figure of a candidate; None when it has none with this key."""
    return next((figure for figure in entry.candidate.figures if figure.key == key), None)


def default_axes(figures: Sequence[Figure]) -> tuple[str, str]:
    """Keys for the two axes: a headline about loss, one about risk, else the first two."""
    marked = [figure for figure in figures if figure.headline] or list(figures)
    keys = [figure.key for figure in marked]
    loss = next((figure.key for figure in marked if figure.about == "loss"), None)
    x = loss or next(iter(keys), "")
    risk = next((figure.key for figure in marked if figure.about == "risk" and figure.key != x), "")
    return x, risk or next((key for key in keys if key != x), x)


def best_of(values: Sequence[float], better: str) -> float | None:
    """The best of some values; None when all are equal or nothing is better."""
    if better not in ("lower", "higher") or len(set(values)) < 2:
        return None
    return min(values) if better == "lower" else max(values)


def figure_text(figure: Figure) -> str:
    """A figure with its unit, once."""
    text = figure_words(figure.value, figure.kind)
    if not figure.unit:
        return text
    unit = figure.unit.removesuffix("s") if figure.value == 1 else figure.unit
    return f"{text} {unit}"


def difference(a: Figure, b: Figure) -> str:
    """A − B with its sign and who is better, in words."""
    apart = a.value - b.value
    if apart != apart:
        return "–"
    if apart == 0:
        return translate("Compare", "= same")
    size = figure_words(abs(apart), a.kind)
    if a.kind == "share":
        size = f"{bare_share(figure_words(abs(apart), 'share'))} "
        size += translate("Compare", "pts")
    text = f"{'+' if apart > 0 else '−'}{size}"
    if not a.better:
        return text
    a_better = (apart < 0) == (a.better == "lower")
    words = translate("Compare", "★ A") if a_better else translate("Compare", "★ B")
    return f"{text} {words}"


def headline_words(entry: Entry, first: Sequence[str] = ()) -> str:
    """A candidate and its most important figures in one line, those of ``first`` before others."""
    known = {one.key: one for one in entry.candidate.figures}
    marked = [key for key, one in known.items() if one.headline] or list(known)
    keys = [key for key in dict.fromkeys((*first, *marked)) if key in known]
    words = [f"{inside(known[key].label)} {figure_text(known[key])}" for key in keys[:LINE_FIGURES]]
    return msg("{file}: {note}", file=entry.label, note=", ".join(words))


def looked_at(
    shown: Sequence[Entry], identifier: int, first: Sequence[str] = ()
) -> tuple[str, str]:
    """Lines for a candidate that is pointed at and for the one it is compared with.

    Nobody points at one (-1): A and B, so that the lines are there before the pointer is.
    """
    a, b = pinned(shown, "A"), pinned(shown, "B")
    found = next((one for one in shown if one.candidate.id == identifier), None)
    other = found if found is not None and found.pin != "A" else b
    lines = ["" if one is None else headline_words(one, first) for one in (a, other)]
    return lines[0], lines[1]


def answer(a: Entry | None, b: Entry | None, figures: Sequence[Figure]) -> str:
    """In what A is better and in what B is, in one sentence."""
    if a is None or b is None:
        return translate(
            "Compare", "Keep a second candidate in Protect, or pin one, to see how they differ."
        )
    better: dict[str, list[str]] = {"A": [], "B": []}
    compared = 0
    for figure in figures:
        one, other = value_of(a, figure.key), value_of(b, figure.key)
        if one is None or other is None or math.isnan(one.value) or math.isnan(other.value):
            continue
        compared += 1
        if not figure.better or one.value == other.value:
            continue
        ahead = (one.value < other.value) == (figure.better == "lower")
        better["A" if ahead else "B"].append(inside(figure.label.partition(",")[0]))
    if not compared:
        return translate(
            "Compare", "A and B have no figure in common, so nothing shows which is better."
        )
    if not better["A"] and not better["B"]:
        return translate("Compare", "A and B do not differ in these figures.")
    if not better["B"] or not better["A"]:
        winner = "A" if better["A"] else "B"
        text = translate("Compare", "{pin} is better in everything that differs: {figures}.")
        return text.format(pin=winner, figures=", ".join(better[winner]))
    text = translate("Compare", "A is better in {first}; B is better in {second}.")
    return text.format(first=", ".join(better["A"]), second=", ".join(better["B"]))


# ---- charts


def scatter(shown: Sequence[Entry], x_key: str, y_key: str) -> ScatterChart | None:
    """All candidates by two figures; None when they share fewer than that."""
    known = {figure.key: figure for figure in shared_figures(shown)}
    if x_key not in known or y_key not in known:
        return None
    groups = (
        (
            translate("Compare", "Candidate"),
            SeriesStyle.FIRST,
            lambda e: not e.pin and not e.reason,
        ),
        (translate("Compare", "B"), SeriesStyle.SECOND, lambda e: e.pin == "B"),
        (translate("Compare", "A"), SeriesStyle.THIRD, lambda e: e.pin == "A"),
    )
    series = []
    for name, look, wanted in groups:
        chosen = [entry for entry in shown if wanted(entry)]
        if chosen:
            series.append(_points(name, look, chosen, x_key, y_key))
    x, y = known[x_key], known[y_key]
    return ScatterChart(
        id="candidates",
        question=translate("Compare", "Which candidate is the better trade-off?"),
        answer=_scatter_answer(x, y),
        x_axis=_roomy(_axis(x), [one.x for one in series]),
        y_axis=_roomy(_axis(y), [one.y for one in series]),
        series=tuple(series),
        table=table_from(
            (translate("Compare", "Candidate"), x.label, y.label),
            [
                (f"{entry.label} {entry.candidate.name}", *(figure_text(f) for f in pair))
                for entry in shown
                if not entry.reason and (pair := _pair(entry, x_key, y_key))
            ],
        ),
    )


def _pair(entry: Entry, x_key: str, y_key: str) -> tuple[Figure, Figure] | None:
    x, y = value_of(entry, x_key), value_of(entry, y_key)
    return None if x is None or y is None else (x, y)


def _points(
    name: str, look: SeriesStyle, chosen: Sequence[Entry], x_key: str, y_key: str
) -> PointSeries:
    pairs = [pair for entry in chosen if (pair := _pair(entry, x_key, y_key))]
    return PointSeries(
        name=name,
        x=np.array([x.value for x, _ in pairs], np.float64),
        y=np.array([y.value for _, y in pairs], np.float64),
        ids=np.array([entry.candidate.id for entry in chosen], np.int64),
        look=look,
        emphasis=True,
        labels=tuple(entry.label for entry in chosen),
    )


def _axis(figure: Figure) -> Axis:
    better = {
        "lower": translate("Compare", "lower is better"),
        "higher": translate("Compare", "higher is better"),
    }.get(figure.better, "")
    unit = "%" if figure.kind == "share" else figure.unit
    words = ", ".join(part for part in (unit, better) if part)
    return Axis(figure.label, words, percent=figure.kind == "share")


def _roomy(axis: Axis, values: Sequence[NDArray[np.float64]]) -> Axis:
    """Air around the outermost points, so that their marks and labels are whole."""
    low, high = _span([], values)
    air = AIR * (high - low)
    return replace(axis, minimum=max(low - air, min(low, 0.0)), maximum=high + air)


def _scatter_answer(x: Figure, y: Figure) -> str:
    sides = {
        ("lower", "lower"): translate("Compare", "Better candidates lie further left and down."),
        ("lower", "higher"): translate("Compare", "Better candidates lie further left and up."),
        ("higher", "lower"): translate("Compare", "Better candidates lie further right and down."),
        ("higher", "higher"): translate("Compare", "Better candidates lie further right and up."),
    }
    return sides.get((x.better, y.better), translate("Compare", "Each point is a candidate."))


def shared_charts(a: Entry | None, b: Entry | None) -> tuple[Chart, ...]:
    """The charts of A that B has as well."""
    if a is None or b is None:
        return ()
    known = {chart.id for chart in b.candidate.charts}
    return tuple(one for one in a.candidate.charts if one.id in known)


def chart_of(entry: Entry, identifier: str) -> Chart:
    """A chart of a candidate; KeyError when it has none with this id."""
    return {chart.id: chart for chart in entry.candidate.charts}[identifier]


def same_axes(a: Chart, b: Chart) -> tuple[Chart, Chart]:
    """Two charts of the same kind drawn on the same axes, so that lengths can be compared."""
    if isinstance(a, BarChart) and isinstance(b, BarChart):
        tops = [value for chart in (a, b) for one in chart.series for value in one.values]
        asked = [chart.value_axis.maximum for chart in (a, b)]
        top = max([*tops, *(value for value in asked if value is not None)], default=1.0) or 1.0
        return (
            replace(a, value_axis=replace(a.value_axis, maximum=top)),
            replace(b, value_axis=replace(b.value_axis, maximum=top)),
        )
    if isinstance(a, ScatterChart) and isinstance(b, ScatterChart):
        x = _span([a.x_axis, b.x_axis], [one.x for c in (a, b) for one in c.series])
        y = _span([a.y_axis, b.y_axis], [one.y for c in (a, b) for one in c.series])
        return _spanned(a, x, y), _spanned(b, x, y)
    return a, b


def _span(axes: Sequence[Axis], values: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    filled = [each[np.isfinite(each)] for each in values]
    lows = [float(each.min()) for each in filled if each.size]
    highs = [float(each.max()) for each in filled if each.size]
    lows += [axis.minimum for axis in axes if axis.minimum is not None]
    highs += [axis.maximum for axis in axes if axis.maximum is not None]
    return min(lows, default=0.0), max(highs, default=1.0)


def _spanned(chart: ScatterChart, x: tuple[float, float], y: tuple[float, float]) -> ScatterChart:
    return replace(
        chart,
        x_axis=replace(chart.x_axis, minimum=x[0], maximum=x[1]),
        y_axis=replace(chart.y_axis, minimum=y[0], maximum=y[1]),
    )
