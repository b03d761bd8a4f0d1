"""Texts in encodings of several bytes, walked through from character to character."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel

_HIGH, _BLANK, _DIGIT_0, _DIGIT_9 = 0x80, 0x20, 0x30, 0x39


@kernel
def broken_ends(
    raw: NDArray[np.uint8], sizes: NDArray[np.int64], digits: bool, broken: NDArray[np.bool_]
) -> None:
    """Mark the texts, of shape (texts, bytes), whose last character lacks bytes.

    ``sizes`` holds the bytes of a character by its first one; with ``digits`` a character of two
    has four when a digit follows, as in GB 18030. Blanks and NULs at the end fill a text up.
    """
    for row in range(raw.shape[0]):
        end = raw.shape[1]
        while end > 0 and (raw[row, end - 1] == 0 or raw[row, end - 1] == _BLANK):
            end -= 1
        high = end > 0 and raw[row, end - 1] >= _HIGH
        if not high and (end < 2 or raw[row, end - 2] < _HIGH):
            continue
        at = 0
        while at < end:
            size = sizes[raw[row, at]]
            follows = size == 2 and digits and at + 1 < end
            if follows and _DIGIT_0 <= raw[row, at + 1] <= _DIGIT_9:
                size = 4
            at += size
        broken[row] = at > end
