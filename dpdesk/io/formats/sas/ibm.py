"""Numbers of SAS transport files: IBM hexadecimal floating point, to and from IEEE doubles.

Eight bytes, big-endian: a sign bit, an exponent of 16 (7 bits, excess 64), a fraction of 56 bits.
A missing value is a first byte ``.``, ``_`` or ``A`` to ``Z`` and zeros (SAS Technical Support
TS-140).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]

_FRACTION = np.uint64((1 << 56) - 1)
_POINT, _UNDERLINE, _A, _Z = 0x2E, 0x5F, 0x41, 0x5A
LARGEST = float(2**252) * (1 - 2**-53)
SMALLEST = 16.0**-65


def words_of(data: NDArray[np.uint8]) -> Words:
    """Big-endian words of an array of bytes of shape (rows, 2 to 8), filled up with zeros."""
    padded = np.zeros((len(data), 8), dtype=np.uint8)
    padded[:, : data.shape[1]] = data
    return padded.view(">u8").reshape(-1).astype(np.uint64)


def to_ieee(words: Words) -> tuple[Floats, NDArray[np.uint8], Flags]:
    """Numbers, the letter of each missing value (0: a number), and which numbers lost digits."""
    first = (words >> np.uint64(56)).astype(np.uint8)
    fraction = words & _FRACTION
    lettered = (first == _POINT) | (first == _UNDERLINE) | ((first >= _A) & (first <= _Z))
    missing = lettered & (fraction == 0)
    exponent = 4 * ((first & 0x7F).astype(np.int32) - 64) - 56
    whole = fraction.astype(np.float64)
    numbers = np.ldexp(whole, exponent)
    numbers = np.where(first & 0x80, -numbers, numbers)
    cut = ~missing & (whole.astype(np.uint64) != fraction)
    return (
        np.where(missing, np.nan, numbers),
        np.where(missing, first, 0).astype(np.uint8),
        cut,
    )


def odd_zeros(words: Words) -> Flags:
    """Which words are a number 0 that SAS does not write, with a sign or an exponent."""
    first = (words >> np.uint64(56)).astype(np.uint8)
    lettered = (first == _POINT) | (first == _UNDERLINE) | ((first >= _A) & (first <= _Z))
    odd: Flags = (words & _FRACTION == 0) & (first != 0) & ~lettered
    return odd


def from_ieee(numbers: Floats) -> Words:
    """Words of finite numbers; ValueError outside ±:data:`LARGEST`. NaN becomes the missing ``.``.

    Numbers nearer to 0 than :data:`SMALLEST` become 0, as the format has none nearer.
    """
    missing = np.isnan(numbers)
    plain = np.where(missing, 0.0, numbers)
    if (np.abs(plain) > LARGEST).any():
        raise ValueError("a number is larger than the format holds")
    mantissa, power = np.frexp(np.abs(plain))
    hexes = -(-power // 4)
    fraction = np.ldexp(mantissa, 56 + power - 4 * hexes).astype(np.uint64)
    tiny = (hexes + 64 < 0) | (plain == 0)
    exponent = np.where(tiny, 0, hexes + 64).astype(np.uint64) << np.uint64(56)
    sign = np.where(plain < 0, np.uint64(1) << np.uint64(63), np.uint64(0))
    words = np.where(tiny, np.uint64(0), sign | exponent | fraction)
    found: Words = np.where(missing, np.uint64(_POINT) << np.uint64(56), words)
    return found
