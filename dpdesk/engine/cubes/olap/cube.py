"""A released cube as its manifest describes it: dimensions, tables, noise, what is known how well.

Everything comes from the public manifest; nothing here reaches a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cube_parameters import AVERAGE, COUNT
from dpdesk.core.cuboid import Domain
from dpdesk.core.plain import number_text
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.spans import Span, span_of
from dpdesk.engine.cubes.channels import centred, measured
from dpdesk.engine.cubes.guarantee import settings_of
from dpdesk.engine.cubes.lattice import information, mask_of, members
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.kinds import Measure, Noise
from dpdesk.engine.private.widths import half_widths
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance

# Levels to which the categories of a released dimension can be rolled up, from labels alone.
#
# A manifest may list them (parents of each category, level by level). Else labels that are
# intervals of one width can be joined to wider ones (20-29 and 30-39 to 20-39), and codes of one
# length can lose their last signs (1101 and 1102 become 110*): whatever the labels say by
# themselves.


Levels = tuple[tuple[str, ...], ...]
_CODE = re.compile(r"[A-Za-z]{0,3}[0-9]+\**", re.ASCII)
_MANY = 3
_NICE = (1, 2, 5)
_MOST_LEVELS = 4
_MOST_TIMES = 5
_RANGE = re.compile(r"\d+-\d+|\d+", re.ASCII)
_HALF_OPEN = re.compile(r"\[.*, .*\[")


def levels_of(categories: Sequence[str], given: object = None) -> Levels:
    """Labels of each category at each level, the categories themselves first.

    ``given`` is what the manifest lists for the dimension: a list of levels, each with a label for
    every category. Raises TypeError or ValueError when that is something else.
    """
    base = tuple(categories)
    if given is not None:
        return (base, *_given(base, given))
    for derive in (_wider, _shorter):
        found = derive(base)
        if found:
            return (base, *found)
    return (base,)


def _given(base: tuple[str, ...], given: object) -> Levels:
    if not isinstance(given, list | tuple):
        raise TypeError("expected a list of levels")
    found: list[tuple[str, ...]] = []
    below = base
    for level in given:
        if not isinstance(level, list | tuple) or len(level) != len(base):
            raise ValueError("a level has not one label for each category")
        labels = tuple(str(label) for label in level)
        if len(set(zip(below, labels, strict=True))) != len(set(below)):
            raise ValueError("a level is not a roll-up of the one below")
        found.append(labels)
        below = labels
    return tuple(found)


def _wider(base: tuple[str, ...]) -> Levels:
    """Wider intervals: each next width is a nice multiple of the one before."""
    spans = [span_of(label) for label in base]
    bounded = [
        (span.low, width)
        for label, span in zip(base, spans, strict=True)
        if span is not None and span.low is not None and (width := _width(label, span)) is not None
    ]
    widths = {width for _, width in bounded}
    if len(bounded) < _MANY or len(widths) != 1:
        return ()
    starts = sorted(low for low, _ in bounded)
    if any(later - earlier not in widths for earlier, later in pairwise(starts)):
        return ()
    width = widths.pop()
    found: list[tuple[str, ...]] = []
    while len(found) < _MOST_LEVELS:
        step = next(_coarser(base, spans, width, found[-1] if found else base), None)
        if step is None:
            break
        width, labels = step
        found.append(labels)
    return tuple(found)


def _coarser(
    base: tuple[str, ...], spans: Sequence[Span | None], width: Fraction, below: tuple[str, ...]
) -> Iterator[tuple[Fraction, tuple[str, ...]]]:
    """Wider intervals that leave fewer labels than ``below``, but not hardly any."""
    for wide in _wider_widths(width):
        labels = tuple(
            _joined(label, span, wide, base) for label, span in zip(base, spans, strict=True)
        )
        joined = {
            label
            for label, text, span in zip(labels, base, spans, strict=True)
            if span is not None and _bounded(text, span)
        }
        if len(joined) > 1 and len(set(labels)) < len(set(below)):
            yield wide, labels


def _wider_widths(width: Fraction) -> Iterator[Fraction]:
    """Multiples of a width, nice ones first: 1 to 5, 5 to 10, 10 to 20, 20 to 100, else twice."""
    for power in range(-3, 7):
        for factor in _NICE:
            times = Fraction(10) ** power * factor / width
            if 1 < times <= _MOST_TIMES and times.denominator == 1 and (width != 1 or times > 2):
                yield width * times
    yield 2 * width


def _bounded(label: str, span: Span) -> bool:
    return _width(label, span) is not None


def _width(label: str, span: Span) -> Fraction | None:
    """Width of an interval: of ``20-29`` ten, of a single whole number one."""
    if span.low is None or span.high is None:
        return None
    if _RANGE.fullmatch(label.strip()):
        return span.high - span.low + 1
    return span.high - span.low if _HALF_OPEN.fullmatch(label.strip()) else None


def _joined(label: str, span: Span | None, wide: Fraction, base: tuple[str, ...]) -> str:
    """The wide interval that a label lies in, cut to what the domain has of it."""
    if span is None or not _bounded(label, span) or span.low is None:
        return label
    start = span.low // wide * wide
    inside = [
        other
        for text in base
        if (other := span_of(text)) is not None
        and _bounded(text, other)
        and other.low is not None
        and start <= other.low < start + wide
    ]
    low = min(other.low for other in inside if other.low is not None)
    high = max(other.high for other in inside if other.high is not None)
    if _RANGE.fullmatch(label.strip()):
        return f"{number_text(low)}-{number_text(high)}" if low != high else number_text(low)
    return f"[{number_text(low)}, {number_text(high)}["


def _shorter(base: tuple[str, ...]) -> Levels:
    """Codes of one length without their last signs, down to the first."""
    codes = [label for label in base if _CODE.fullmatch(label)]
    lengths = {len(code) for code in codes}
    if len(codes) < _MANY or len(lengths) != 1 or len(codes) < len(base) - 2:
        return ()
    length = lengths.pop()
    kept = max(len(code.rstrip("*")) for code in codes)
    found: list[tuple[str, ...]] = []
    for keep in range(kept - 1, 0, -1):
        labels = tuple(
            label[:keep] + "*" * (length - keep) if label in codes else label for label in base
        )
        before = found[-1] if found else base
        if len(set(labels)) < len(set(before)):
            found.append(labels)
    return tuple(found[:_MOST_LEVELS])


Floats = NDArray[np.float64]
_LEAST = 1e-200


@dataclass(frozen=True, eq=False)
class Vector:
    """One measured vector: its name, grid step, the variances of its noise by source, its files.

    ``variances`` are of one noisy cell, in squared units of the measure; ``cells`` those of one
    published cell, by cuboid.
    """

    name: str
    step: float
    variances: tuple[float, ...] = field(repr=False)
    files: Mapping[int, str] = field(repr=False)
    cells: Mapping[int, float] = field(repr=False)


@dataclass(frozen=True, eq=False)
class ReleasedCube:
    """What a manifest of the method ``dp-cube`` says, for questions.

    ``sources`` are the cuboids with noise, as masks over the dimensions. ``levels`` holds for each
    dimension its labels at each level, by category of the release.
    """

    settings: CubeSettings
    domain: Domain
    sources: tuple[int, ...]
    vectors: Mapping[str, Vector]
    exact: tuple[int, ...]
    levels: tuple[tuple[tuple[str, ...], ...], ...]

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> ReleasedCube:
        """Read a manifest; a malformed one raises ValueError, TypeError, KeyError and such."""
        settings = settings_of(manifest)
        result = manifest.result
        domain = Domain.from_json(result["domains"])
        if domain.dimensions != settings.dimensions:
            raise ValueError("the domains are not those of the dimensions")
        sources = tuple(_mask(names, domain) for names in as_list(result["noise_sources"]))
        rollups = result.get("rollups")
        given = rollups if isinstance(rollups, Mapping) else {}
        levels = tuple(
            levels_of(labels, given.get(name))
            for name, labels in zip(domain.dimensions, domain.categories, strict=True)
        )
        vectors = _vectors(settings, domain, result, sources)
        return cls(settings, domain, sources, vectors, settings.exact, levels)

    @cached_property
    def pins(self) -> tuple[tuple[int, Mapping[int, int]], ...]:
        """Single cells that were released exactly: a cuboid, and a category by dimension."""
        found: list[tuple[int, Mapping[int, int]]] = []
        for mask, cells in self.settings.exact_cells.items():
            for cell in cells:
                pairs = zip(members(mask), cell, strict=True)
                place = {i: self.domain.categories[i].index(text) for i, text in pairs}
                found.append((mask, place))
        return tuple(found)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each dimension."""
        return self.domain.shape

    @property
    def consistent(self) -> bool:
        """Whether all tables agree, so that it does not matter which one answers."""
        return self.settings.consistency != "none" or self.settings.residuals

    @property
    def published(self) -> tuple[int, ...]:
        """The published cuboids, as masks over the dimensions."""
        return self.settings.published

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures that can be asked for; the count comes with every average."""
        names = [measure.name for measure in self.settings.measures]
        if COUNT in self.vectors and COUNT not in names:
            names.append(COUNT)
        return tuple(names)

    def average(self, name: str) -> Measure | None:
        """The measure of this name when it is an average."""
        for measure in self.settings.measures:
            if measure.name == name and measure.kind == AVERAGE:
                return measure
        return None

    def unknown(self, vector: Vector) -> Floats:
        """1/W of every residual after consistency, shape (2^d,); 0 where it is exact."""
        count = 1 << len(self.shape)
        own = np.zeros(count)
        np.add.at(own, list(self.sources), [1 / each for each in vector.variances])
        known = own if self.settings.residuals else information(own, self.shape)
        with np.errstate(divide="ignore"):
            unknown = 1.0 / known
        for mask in self.exact:
            below = np.arange(count)
            unknown[(below & ~mask) == 0] = 0.0
        return np.asarray(unknown)

    def half_widths(self, variances: Floats, step: float) -> Floats:
        """The ± for 95 of 100 cases or more, as releases state it."""
        return half_widths(self.settings.noise, variances, step)

    def names(self, mask: int) -> tuple[str, ...]:
        """The dimensions of a cuboid."""
        return tuple(self.domain.dimensions[i] for i in members(mask))


def _vectors(
    settings: CubeSettings, domain: Domain, result: Mapping[str, object], sources: tuple[int, ...]
) -> dict[str, Vector]:
    wanted = measured(settings)
    stated = [as_table(item) for item in as_list(result.get("measures", [result]))]
    found: dict[str, Vector] = {}
    for measure, item in zip(wanted, stated, strict=True):
        name = measure.name
        files, cells = _files(result, domain, name if len(wanted) > 1 else None)
        step = 1.0 if measure.kind == COUNT else float(measure.step)
        scales = [float(each) for each in _numbers(item["scales"])]
        variances = tuple(
            variance_of(settings, scale, step, mask, domain.shape)
            for scale, mask in zip(scales, sources, strict=True)
        )
        found[name] = Vector(name, step, variances, files, cells)
    return found


def _files(
    result: Mapping[str, object], domain: Domain, name: str | None
) -> tuple[dict[int, str], dict[int, float]]:
    files: dict[int, str] = {}
    cells: dict[int, float] = {}
    for raw in as_list(result["cuboids"]):
        item = as_table(raw)
        if item.get("measure") == name:
            mask = _mask(item["dimensions"], domain)
            files[mask], cells[mask] = str(item["file"]), float(str(item["variance"]))
    return files, cells


def variance_of(
    settings: CubeSettings, scale: float, step: float, mask: int, shape: Sequence[int]
) -> float:
    """True variance of the discrete noise in one cell of a source, in squared units.

    Of a residual source the scale is that of a grid finer by the number of cells.
    """
    fine = 1
    if settings.residuals:
        for i in members(mask):
            fine *= shape[i]
    kind = gaussian_variance if settings.noise is Noise.GAUSSIAN else laplace_variance
    return max(_LEAST, kind(scale * fine / step)) / fine**2 * step**2


def centred_name(measure: Measure) -> str:
    """The vector of sums that an average is made from, together with the count."""
    return centred(measure).name


def _mask(names: object, domain: Domain) -> int:
    return mask_of(domain.dimensions.index(str(name)) for name in as_list(names))


def _numbers(raw: object) -> list[float]:
    found = as_list(raw)
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in found):
        raise TypeError("expected numbers")
    return [float(str(each)) for each in found]
