"""Where the cuboids of a lattice stand in a picture: rows by number of dimensions, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

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
