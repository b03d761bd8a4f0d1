"""Values without a label in columns whose other values have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.labels import Kind, UserMissing, Variable
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.table import Notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW, _MOST = 2, 1_000


class LabelWatch:
    """Notes the first value of a column that its code list lacks.

    A column of numbers of which only some are labelled (an income, and 99 for "refused") is no such
    column: at least two values that are not declared missing must have labels, and fewer values
    must lack one than have one. What is declared missing needs no label.
    """

    def __init__(self, variables: Sequence[Variable]) -> None:
        self._codes: dict[str, NDArray[np.float64]] = {}
        self._missing: dict[str, UserMissing] = {}
        self._strange: dict[str, dict[float, int]] = {}
        for variable in variables:
            codes = _codes(variable)
            if variable.kind is Kind.NUMBER and _FEW <= len(codes) <= _MOST:
                self._codes[variable.name] = np.array(sorted(codes))
                self._missing[variable.name] = variable.missing
                self._strange[variable.name] = {}

    def look(self, name: str, numbers: NDArray[np.float64], start: int) -> None:
        """Look at the values of a column in the rows after ``start``."""
        codes = self._codes.get(name)
        if codes is None:
            return
        lacking = ~np.isin(numbers, codes) & ~np.isnan(numbers)
        missing = self._missing[name]
        if missing.low is not None and missing.high is not None:
            lacking &= (numbers < missing.low) | (numbers > missing.high)
        if not lacking.any():
            return
        found, places = np.unique(numbers[lacking], return_index=True)
        rows, strange = np.flatnonzero(lacking)[places], self._strange[name]
        for value, row in zip(found.tolist(), rows.tolist(), strict=True):
            strange.setdefault(value, start + row + 1)
        if len(strange) >= len(codes):
            del self._codes[name], self._strange[name]

    def note(self, notes: Notes) -> None:
        """Tell what was found, when all rows have been seen."""
        for name, strange in self._strange.items():
            if strange:
                value, row = min(strange.items(), key=lambda item: item[1])
                notes.add(
                    f"label {name}",
                    f"Row {row:,}, column `{name}`: the value {number_text(value)} has no label, "
                    "others of the column have; it is kept as it is.",
                    len(strange),
                )


def _codes(variable: Variable) -> set[float]:
    """The labelled numbers; none when only declared missing values have labels."""
    codes: set[float] = set()
    for text in variable.value_labels:
        try:
            codes.add(float(text))
        except ValueError:
            continue
    declared = {float(text) for text in variable.missing.values if _is_number(text)}
    return codes | declared if len(codes - declared) >= _FEW else set()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
