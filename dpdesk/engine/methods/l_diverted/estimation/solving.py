"""Counts that are not negative, from published ones: least squares and iterative Bayes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg

# Value counts that a table can have, nearest to those that a release shows.
#
# In a release with ℓ′ the published counts f′ are noisy: they often break the rule of
# eligibility that the true counts f keep (no value more than N/ℓ′ times).


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def admissible_counts(published: Ints, size: int) -> Ints:
    """The counts with entries from 1 to N/ℓ′ and sum N that are nearest to the published ones.

    Nearest in the sense of least squares with weights 1/f′, the variance of f′ being f(1−1/ℓ′):
    what a capped value has too much goes to the others in proportion. ``published`` has shape
    (values,), every entry at least 1; the result is of the same shape. Raises InputError
    ``diverted.rows`` or ``diverted.values`` when no table can have had them.
    """
    total = int(published.sum())
    if size < 2 or total == 0 or total % size:
        raise InputError(
            "diverted.rows",
            msg(
                "The release has {total:,} rows, expected a multiple of ℓ′ = {size}.",
                total=total,
                size=size,
            ),
        )
    if len(published) < size:
        raise InputError(
            "diverted.values",
            msg(
                "The release shows {n} different sensitive values, expected at least ℓ′ = {size}.",
                n=len(published),
                size=size,
            ),
            hint="Nothing can be estimated from so few rows.",
        )
    return _whole(_capped(published.astype(np.float64), total // size, total), total // size, total)


def _capped(counts: Floats, cap: int, total: int) -> Floats:
    """Counts in proportion, none above the cap."""
    full = np.zeros(len(counts), bool)
    while True:
        rest = total - cap * int(full.sum())
        scaled = np.where(full, cap, counts * (rest / max(counts[~full].sum(), 1.0)))
        over = scaled > cap * (1 + 1e-12)
        if not over.any():
            return np.asarray(scaled)
        full |= over


def _whole(counts: Floats, cap: int, total: int) -> Ints:
    """Whole numbers from 1 to the cap with the right sum, by largest remainders."""
    whole = np.clip(np.floor(counts + 1e-9), 1, cap).astype(np.int64)
    while (missing := total - int(whole.sum())) != 0:
        step = 1 if missing > 0 else -1
        room = whole < cap if missing > 0 else whole > 1
        order = np.argsort(-step * (counts - whole), kind="stable")
        order = order[room[order]]
        whole[order[: abs(missing)]] += step
    return whole


Step = Callable[[Floats], Floats]
_STEPS = 3_000
_BLOCKS = 3


def nonnegative_counts(matrix: Floats, published: Floats) -> Floats:
    """The x ≥ 0 with the sum of ``published`` that minimises Σ (y − Mᵀx)²/y.

    ``matrix`` has shape (V, V), ``published`` y shape (V,). Block principal pivoting (Júdice and
    Pires, 1994): all values on the wrong side change it at once, and one by one where that has not
    helped for a while, which ends surely.
    """
    total = float(published.sum())
    weight = 1 / np.maximum(published, 1.0)
    curve, pull = (matrix * weight) @ matrix.T, matrix @ (weight * published)
    small = 1e-9 * np.array([total, max(1.0, float(np.abs(pull).max()))])
    free = np.ones(len(published), bool)
    fewest, tries = len(published) + 1, _BLOCKS
    for _ in range(10 * len(published) + 50):
        found, level = _on_free(curve, pull, free, total)
        slope = np.where(free, 0.0, curve @ found - pull + level)
        wrong = np.where(free, found < -small[0], slope < -small[1])
        count = int(wrong.sum())
        if count == 0:
            break
        tries = _BLOCKS if count < fewest else tries - 1
        fewest = min(count, fewest)
        if tries < 0:
            wrong = np.arange(len(wrong)) == np.flatnonzero(wrong)[-1]
        free ^= wrong
    found = np.maximum(found, 0.0)
    return np.asarray(found * (total / found.sum()) if total else found)


def _on_free(curve: Floats, pull: Floats, free: Floats, total: float) -> tuple[Floats, float]:
    """The minimum over the free values alone, with the given sum, and its multiplier."""
    places = np.flatnonzero(free)
    size = len(places)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = curve[np.ix_(places, places)]
    system[size, size] = 0.0
    wanted = np.append(pull[places], total)
    try:
        solved = np.linalg.solve(system, wanted)
    except np.linalg.LinAlgError:
        solved = np.linalg.lstsq(system, wanted, rcond=1e-14)[0]
    found = np.zeros(len(pull))
    found[places] = solved[:size]
    return found, float(solved[size])


def along(matrices: Sequence[Floats], table: Floats, *, forward: bool) -> Floats:
    """Apply each matrix to its axis: expected published counts (``forward``), or back.

    ``table`` has one axis for each matrix.
    """
    for matrix in matrices:
        # The axis in front goes to the end, so each matrix meets its own.
        rest = table.shape[1:]
        turned = table.reshape(table.shape[0], -1).T @ (matrix if forward else matrix.T)
        table = turned.reshape(*rest, turned.shape[-1])
    return table


def bayes_step(matrices: Sequence[Floats], published: Floats) -> Step:
    """One step of iterative Bayes (EM) for a table of published counts under fixed matrices.

    x_i ← x_i Σ_j y_j m_ij / Σ_r m_rj x_r, with the Kronecker product of ``matrices`` as m.
    """

    def step(found: Floats) -> Floats:
        expected = along(matrices, found, forward=True)
        ratio = np.divide(published, expected, out=np.zeros_like(expected), where=expected > 1e-300)
        return found * along(matrices, ratio, forward=False)

    return step


def fixed_point(step: Step, start: Floats, tolerance: float = 0.01) -> tuple[Floats, int]:
    """Where ``step`` changes nothing any more, accelerated; and how many steps it took.

    SQUAREM (Varadhan and Roland 2008, scheme S3): two steps show the direction and the speed, a
    third jumps. A jump to negative counts, or to where steps are much longer, is not taken. Ends
    when no count moves by more than ``tolerance``, or after 3,000 steps.
    """
    found, taken = start, 0
    while taken < _STEPS:
        first = step(found)
        second = step(first)
        taken += 2
        change, bend = first - found, second - 2 * first + found
        size, curl = float(np.abs(change).max()), float(np.linalg.norm(bend))
        if float(np.abs(second - first).max()) <= tolerance * min(
            1.0, curl / (size + 1e-300) + 0.1
        ):
            return second, taken
        length = max(1.0, float(np.linalg.norm(change)) / curl) if curl else 1.0
        jumped = found + 2 * length * change + length**2 * bend
        after = second
        if length > 1 and jumped.min() >= 0:
            landed = step(jumped)
            taken += 1
            if float(np.abs(landed - jumped).max()) <= 2 * size:
                after = landed
        found = after
    return found, taken
