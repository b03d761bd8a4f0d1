"""The pieces that every chart in SVG shares: canvas, scales, colours, legend.

Colours come as CSS variables with the light palette as fallback, so a page may switch to dark.
Series differ by fill pattern or marker as well as by colour, so they can be told apart in grey.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from dpdesk.core.charts import Axis, SeriesStyle
from dpdesk.core.language import voice

WIDTH = 720
TEXT, MUTED = "var(--text,#1B1F24)", "var(--muted,#59616D)"
GRID, SURFACE = "var(--hairline,#D5D9E0)", "var(--surface,#FFFFFF)"
FAIL = "var(--fail,#8C1D18)"
_COLOURS = {
    SeriesStyle.REFERENCE: "var(--reference,#68707D)",
    SeriesStyle.FIRST: "var(--series1,#1A8CE8)",
    SeriesStyle.SECOND: "var(--series2,#D96A10)",
    SeriesStyle.THIRD: "var(--series3,#05482F)",
    SeriesStyle.FOURTH: "var(--series4,#571769)",
    SeriesStyle.FAIL: FAIL,
}
_CHARACTER = 6.7  # mean width of a character at 12 px
_TICKS = 6
_FEW_DECADES = 2
_TINY = 1e-9  # smaller values are drawn as 0


def colour(look: SeriesStyle) -> str:
    """CSS colour of a look."""
    return _COLOURS[look]


def number(value: float) -> str:
    """A coordinate with as few characters as it needs."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text_width(text: str) -> float:
    """Rough width of a text of 12 px, in px."""
    return len(text) * _CHARACTER


def shortened(text: str, width: float) -> str:
    """The text cut to a width in px, with an ellipsis when cut."""
    most = max(int(width / _CHARACTER), 2)
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass
class Canvas:
    """Elements of a drawing, its height, and what goes into ``<defs>``."""

    height: float
    elements: list[str] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)

    def svg(self, chart_id: str, title: str, description: str) -> str:
        """The whole element; ids start with the chart's so that several fit on one page."""
        name = "".join(c if c.isalnum() and c.isascii() else "-" for c in chart_id) or "chart"
        body = "".join(self.elements).replace("url(#", f"url(#{name}-")
        defs = "".join(text.replace('id="', f'id="{name}-') for text in self.definitions.values())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" '
            f'height="{number(self.height)}" viewBox="0 0 {WIDTH} {number(self.height)}" '
            f'aria-labelledby="{name}-title {name}-desc" font-family="inherit" font-size="12">'
            f'<title id="{name}-title">{escape(title)}</title>'
            f'<desc id="{name}-desc">{escape(description)}</desc>'
            f"<defs>{defs}</defs>{body}</svg>"
        )

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        stroke: str,
        dash: str = "",
        width: float = 1,
    ) -> None:
        """A straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.elements.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
            f'style="stroke:{stroke}" stroke-width="{number(width)}"{dashes}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        anchor: str = "start",
        fill: str = TEXT,
        bold: bool = False,
    ) -> None:
        """A horizontal text with its baseline at ``y``, on a halo so that lines do not cut it."""
        weight = ' font-weight="600"' if bold else ""
        self.elements.append(
            f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{weight} '
            f'style="fill:{fill};stroke:{SURFACE};stroke-width:3px;paint-order:stroke">'
            f"{escape(text)}</text>"
        )

    def rect(
        self, box: tuple[float, float, float, float], fill: str, stroke: str = "none", tip: str = ""
    ) -> None:
        """A rectangle (x, y, width, height); ``tip`` shows when pointed at."""
        x, y, width, height = box
        title = f"<title>{escape(tip)}</title>" if tip else ""
        self.elements.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" '
            f'height="{number(max(height, 0))}" style="fill:{fill};stroke:{stroke}" '
            f'stroke-width="1.5">{title}</rect>'
        )

    def pattern(self, look: SeriesStyle, failing: bool) -> str:
        """The fill of a look: solid, or a pattern that shows in grey too."""
        shade = colour(look)
        kind = (
            "hatch"
            if failing
            else {SeriesStyle.SECOND: "rules", SeriesStyle.FOURTH: "dots"}.get(look, "")
        )
        if not kind:
            return shade
        name = f"{kind}-{look.value}"
        marks = {
            "hatch": f'<path d="M-1,7 L7,-1 M-1,1 L1,-1 M5,7 L7,5" style="stroke:{shade}" '
            'stroke-width="1.6"/>',
            "rules": f'<path d="M0,1.5 H6 M0,4.5 H6" style="stroke:{shade}" stroke-width="2"/>',
            "dots": f'<circle cx="3" cy="3" r="2" style="fill:{shade}"/>',
        }
        self.definitions[name] = (
            f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" style="fill:{SURFACE}"/>{marks[kind]}</pattern>'
        )
        return f"url(#{name})"


@dataclass(frozen=True)
class Scale:
    """Values to px along one axis, with the values at which gridlines stand."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool
    percent: bool

    def __call__(self, value: float) -> float:
        """Position in px; values beyond the ends are drawn at the ends."""
        clipped = min(max(value, self.low), self.high)
        if self.log:
            span = math.log10(self.high) - math.log10(self.low)
            share = (math.log10(clipped) - math.log10(self.low)) / span
        else:
            share = (clipped - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def label(self, value: float) -> str:
        """How a value is written."""
        return written(value, self.percent)

    def tick_label(self, tick: float) -> str:
        """How a tick is written: exactly, since a gridline stands where it says."""
        return voice().figure(f"{tick * 100:,.6g} %" if self.percent else f"{tick:,.6g}")


def written(value: float, percent: bool) -> str:
    """A value for people: percent or grouped digits, no exponents."""
    return voice().figure(_written(value, percent))


def _written(value: float, percent: bool) -> str:
    if percent:
        share = value * 100
        fine = 0 < abs(share) < 10 or 99 < abs(share) < 100
        text = f"{share:,.1f}" if fine else f"{share:,.0f}"
        return ("<0.1" if 0 < share < 0.05 else text.removesuffix(".0")) + " %"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def make_scale(axis: Axis, values: Sequence[float], start: float, end: float) -> Scale:
    """A scale that holds all values and what the axis asks for; linear ones start at 0."""
    finite = [value for value in values if math.isfinite(value)]
    positive = [value for value in finite if value > _TINY]
    if axis.log and positive:
        return _log_scale(axis, positive, start, end)
    high = axis.maximum if axis.maximum is not None else max([*finite, 0.0])
    low = axis.minimum if axis.minimum is not None else min([*finite, 0.0])
    if high - low < _TINY:
        high = low + 1.0
    step = _nice_step((high - low) / _TICKS)
    if axis.whole:
        step = max(1.0, math.ceil(step))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(index * step, 12) for index in range(first, last + 1))
    if axis.whole and ticks[0] < low:  # room before the first whole number, which is no value
        return Scale(low, ticks[-1], start, end, ticks[1:], log=False, percent=axis.percent)
    return Scale(ticks[0], ticks[-1], start, end, ticks, log=False, percent=axis.percent)


def _log_scale(axis: Axis, positive: Sequence[float], start: float, end: float) -> Scale:
    first = math.floor(math.log10(axis.minimum or min(positive)) - 1e-9)
    last = max(math.ceil(math.log10(max([*positive, axis.maximum or 0.0])) - 1e-9), first + 1)
    skip = max(1, math.ceil((last - first) / 8))
    ticks = tuple(10.0**power for power in range(first, last + 1, skip))
    if last - first <= _FEW_DECADES:
        ticks = tuple(part * tick for tick in ticks[:-1] for part in (1, 2, 5)) + ticks[-1:]
    return Scale(10.0**first, 10.0**last, start, end, ticks, log=True, percent=axis.percent)


def _nice_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(nice for nice in (1, 2, 2.5, 5, 10) if nice * power >= rough * (1 - 1e-9))


def legend(
    canvas: Canvas, names: Sequence[str], draw: Callable[[int, float, float], None], y: float
) -> float:
    """Series names in rows, each after its mark (drawn by ``draw(index, x, y)``); the new y."""
    x = 8.0
    for index, name in enumerate(names):
        width = text_width(name) + 40
        if x + width > WIDTH and x > 8:
            x, y = 8.0, y + 20
        draw(index, x, y)
        canvas.text(x + 20, y + 4, shortened(name, WIDTH - 48))
        x += width
    return y + 20
