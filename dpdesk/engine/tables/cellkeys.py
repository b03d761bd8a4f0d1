"""Counts changed by chance, which the sum of the keys of their rows decides.

Every row has a key, drawn once; the sum of the keys in a cell, without what is above 64 bits, is as
uniform as one key, and says which share of a table of chances the change is read from. So a cell of
the same rows has the same change in every table.

Of all chances for changes from ``-deviation`` to ``deviation`` that leave a count at 0 or above,
have the mean 0 and the variance that was asked for, those with the largest entropy are taken.

Source: S. Giessing, J. Tent, Concepts for generalising tools implementing the cell key method to
the case of continuous variables, UNECE/Eurostat work session on statistical data confidentiality,
2019; J. K. Marley, V. L. Leaver, A method for confidentialising user-defined tables, ISI 2011.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.plain import number_text
from dpdesk.engine.tables.model import Floats

KEYS = 1 << 64
_STEPS, _NEAR, _CLOSE = 200, 1e-6, 1e-11


@dataclass(frozen=True)
class PerturbationTable:
    """How many of all keys stand for each change, by the count; none of a count of 0.

    ``shares[n]`` is of the count n, the last one of all larger counts too: shares of changes from
    -n to ``deviation``, whole numbers whose sum is ``KEYS``. Their mean is exactly 0, and their
    variance is less than 1 / ``KEYS`` from the one that was asked for.
    """

    deviation: int
    shares: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, deviation: int, variance: Fraction) -> PerturbationTable:
        """The table of the largest entropy.

        Raises InputError ``table.variance`` where a count of 1 cannot have such a variance.
        """
        if not 0 < variance < deviation:
            raise _refused(deviation, variance)
        found: list[tuple[int, ...]] = [(KEYS,)]
        for count in range(1, deviation + 1):
            changes = np.arange(-count, deviation + 1)
            chances = _likeliest(changes, float(variance))
            shares = None if chances is None else _whole(changes, chances, variance)
            if shares is None:
                raise _refused(deviation, variance)
            found.append(shares)
        return cls(deviation, tuple(found))

    def change(self, count: int, key: int) -> int:
        """What is added to a count whose rows have keys with this sum."""
        lowest = min(count, self.deviation)
        if lowest <= 0:
            return 0
        return bisect_right(list(accumulate(self.shares[lowest])), key % KEYS) - lowest


def _refused(deviation: int, variance: Fraction) -> InputError:
    return InputError(
        "table.variance",
        msg(
            "No change of a count of 1 by at most {deviation} has the mean 0 and the variance "
            "{variance}, expected a smaller `variance` (below `deviation`) or a larger "
            "`deviation`.",
            deviation=deviation,
            variance=number_text(variance),
        ),
        details={"key": "variance"},
    )


def _likeliest(changes: NDArray[np.int64], variance: float) -> Floats | None:
    """The chances exp(a·j + b·j²) / Z of changes j with mean 0 and this variance; None: not found.

    a and b are where log Z - b·variance is least: Newton steps, halved until they go down.
    """
    scale = float(np.abs(changes).max())
    features = np.stack([changes / scale, (changes / scale) ** 2])
    wanted = np.array([0.0, variance / scale**2])
    place = np.zeros(2)

    def at(where: Floats) -> tuple[float, Floats]:
        powers = where @ features
        top = float(powers.max())
        weights = np.exp(powers - top)
        total = float(weights.sum())
        return top + float(np.log(total)) - float(where @ wanted), weights / total

    height, chances = at(place)
    for _ in range(_STEPS):
        slope = features @ chances - wanted
        far = float(np.abs(slope).max())
        if far < _CLOSE:
            return chances
        bend = (features * chances) @ features.T - np.outer(features @ chances, features @ chances)
        step = np.linalg.lstsq(bend, slope, rcond=None)[0]
        size = 1.0
        # Close to the end, heights differ by less than a float can tell: whole steps are right.
        while far > _NEAR and size > _CLOSE and at(place - size * step)[0] > height:
            size /= 2
        place = place - size * step
        height, chances = at(place)
    return None


def _whole(
    changes: NDArray[np.int64], chances: Floats, variance: Fraction
) -> tuple[int, ...] | None:
    """The chances as whole shares of all keys; changes of -1, 0 and 1 take what is left over.

    None where one of these is too unlikely for that.
    """
    steps = changes.tolist()
    shares = [int(Fraction(chance) * KEYS) for chance in chances.tolist()]
    missing = KEYS - sum(shares)
    aside = -sum(step * share for step, share in zip(steps, shares, strict=True))
    spread = sum(step * step * share for step, share in zip(steps, shares, strict=True))
    wide = int(variance * KEYS) - spread
    wide += (wide + aside) % 2  # -1 and 1 get whole shares
    none = steps.index(0)
    shares[none - 1] += (wide - aside) // 2
    shares[none] += missing - wide
    shares[none + 1] += (wide + aside) // 2
    return tuple(shares) if min(shares) >= 0 else None
