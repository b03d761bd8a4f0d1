"""What a microdata method decides about a table, in a form that any writer can carry out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Recoding:
    """Recode some columns value by value, then drop the rows of some recoded tuples.

    ``mapping[a]`` gives, for every raw value (text) of attribute ``a`` that occurs, the released
    text. ``labels[j]`` are the released values of ``attributes[j]`` to which ``suppressed`` refers:
    an int32 array of shape (dropped tuples, attributes). Columns in ``dropped_columns`` are not
    released at all; every other column is released as it is.
    """

    attributes: tuple[str, ...]
    mapping: Mapping[str, Mapping[str, str]] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    suppressed: NDArray[np.int32] = field(repr=False)
    dropped_columns: tuple[str, ...]
    rows_out: int
    rows_suppressed: int
