"""A view of a released cube as arrays: axes with labels, values, errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.query import COVERING_95, Answer, AnswerRow

Floats = NDArray[np.float64]
NOT_ESTIMABLE = "not estimable: too few persons for an average"


@dataclass(frozen=True, eq=False)
class CubeGrid:
    """Values over some axes, each with its standard error and ± (see :attr:`Answer.interval`).

    ``labels`` holds those of each axis, None for the sum over all of them (the last one, where
    there is one). The arrays have one dimension for each axis; NaN where nothing can be said.
    """

    axes: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    measure: str
    values: Floats = field(repr=False)
    standard_errors: Floats = field(repr=False)
    half_widths: Floats = field(repr=False)
    tables: tuple[str, ...] = ()
    sentence: str = ""
    warnings: tuple[str, ...] = ()
    interval: str = COVERING_95

    @property
    def cells(self) -> int:
        """Number of values, margins included."""
        return int(self.values.size)

    def answer(self) -> Answer:
        """The same as rows, the last axis fastest."""
        rows = tuple(self._row(place) for place in np.ndindex(self.values.shape))
        given = (self.sentence, self.tables, self.warnings, self.interval)
        return Answer(self.axes, self.measure, rows, *given)

    def _row(self, place: tuple[int, ...]) -> AnswerRow:
        labels = tuple(self.labels[axis][i] for axis, i in enumerate(place))
        value, error = float(self.values[place]), float(self.standard_errors[place])
        if np.isnan(value):
            return AnswerRow(labels, None, note=NOT_ESTIMABLE)
        half = float(self.half_widths[place])
        return AnswerRow(labels, value, error, value - half, value + half)
