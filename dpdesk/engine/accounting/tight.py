"""The tight (ε, δ) of many draws of noise together: an upper bound close to the truth.

Draws of which the losses are known are composed numerically (``losses`` says why the result is an
upper bound). What only ρ or (ε, δ) is known of is added by basic composition, with δ shared out, or
all is added up as Rényi curves, whichever is less.
The result is never above the simple bound, because the smaller of two valid bounds is told.

The settings of the mechanisms must not depend on earlier noisy results; sums of ε and of ρ, which
limits are checked against, need no such assumption (Rogers, Roth, Ullman and Vadhan 2016; Feldman
and Zrnic 2021).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import Draws, Noise
from dpdesk.engine.accounting.conversion import renyi_epsilon, up, zcdp_epsilon

# Privacy losses on a lattice: pessimistic, with every numerical error accounted for.
#
# The privacy loss of an outcome is L = ln P(outcome)/Q(outcome) for the two neighbouring tables P
# and Q, drawn under P. All of (ε, δ)-privacy lies in its distribution:
#
#     δ(ε) = E[(1 − e^{ε − L})₊],  with L = ∞ where Q is 0                                  (1)
#
# (Sommer, Meiser and Mohammadi 2019; Koskela, Jälkö and Honkela 2020), and the losses of
# independent mechanisms add up, so the distribution of the sum is a convolution. That stays true
# for mechanisms that are chosen one after the other with settings fixed beforehand (Zhu, Dong and
# Wang 2022, Theorem 10).
#
# **Why the lattice is an upper bound.** A loss l between two neighbouring points g < g + h is split
# on both so that P-mass and Q-mass stay: masses p₁ + p₂ = p and p₁e^{−g} + p₂e^{−g−h} = p·e^{−l}.
# The composition's δ(ε) = E[(1 − e^ε·Π e^{−L_i})₊] is convex in each e^{−L_i} while the others are
# held fixed, and the split keeps the mean of e^{−L_i} and only spreads it; by Jensen's inequality δ
# never falls, whatever else is composed. This is the “connect the dots” bound (Doroshenko, Ghazi,
# Kamath, Kumar and Manurangsi 2022); replacing the mechanisms one at a time is its second proof.
# Moving mass to a larger loss, or to ∞, never lowers δ either, for (1 − e^{ε−l})₊ grows with l.
#
# **Why the arithmetic is an upper bound.** All masses are 0 or more, so a sum of n products is off
# by at most a factor 1 ± (n + 2)u (u = 2⁻⁵³), in any order of summation; these factors are added up
# in ``relative``. A Fourier transform of n points is off by at most 8·u·log₂(n) times its result,
# in the 2-norm (Higham, *Accuracy and Stability of Numerical Algorithms*, Theorem 24.2, with u for
# the error of the twiddle factors). A convolution takes three; as a transform is nowhere larger
# than the 1-norm, the error is at most 40·u·log₂(n)·max(‖a‖₁‖b‖₂, ‖a‖₂‖b‖₁) in the 2-norm, rounding
# of the products included, and √n times that in the 1-norm. An error of t in the 1-norm changes δ
# by at most t, since the function under the expectation lies in [0, 1]. Such errors are added up in
# ``slack``.


UNIT = 2.0**-53
_DIRECT = 1 << 27
_LONGEST = 1 << 15
_LATTICE_WIDTHS = 16.0
_TAIL = 1e-15

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Losses:
    """A distribution of the privacy loss, never better than the true one.

    Point j has the loss ``low`` + j·``step`` and the P-mass ``masses[j]``; ``infinite`` is the mass
    of L = ∞. ``relative`` and ``slack`` bound what rounding has done: the true masses are at most
    (1 + ``relative``) times these, but for ``slack`` of mass.
    """

    low: Fraction
    step: Fraction
    masses: Vector
    infinite: float = 0.0
    relative: float = 0.0
    slack: float = 0.0

    @property
    def values(self) -> Vector:
        """The losses, rounded up."""
        start, width = float(self.low), float(self.step)
        values = start + width * np.arange(len(self.masses), dtype=np.float64)
        largest = abs(start) + width * len(self.masses)
        return values + 8 * UNIT * largest

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite losses, roughly."""
        total = float(self.masses.sum())
        if total <= 0.0:
            return 0.0
        place = np.arange(len(self.masses), dtype=np.float64)
        mean = float(self.masses @ place) / total
        spread = float(self.masses @ (place - mean) ** 2) / total
        return math.sqrt(max(0.0, spread)) * float(self.step)

    def delta(self, epsilon: float) -> float:
        """δ at ``epsilon``, rounded up: formula (1) and every error."""
        gaps = epsilon - self.values
        above = gaps < 0.0
        found = float(self.masses[above] @ -np.expm1(gaps[above]))
        found *= 1.0 + 2.0 * self.relative + (len(self.masses) + 8) * UNIT
        return min(1.0, found + self.infinite + self.slack)

    def epsilon(self, delta: float) -> float | None:
        """The least ε of 0 or more with δ(ε) ≤ ``delta``, rounded up; None where none is found."""
        top = max(0.0, float(self.values[-1])) if len(self.masses) else 0.0
        if self.delta(top) > delta:
            return None
        low, high = 0.0, top
        if self.delta(0.0) <= delta:
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2.0
            if self.delta(middle) <= delta:
                high = middle
            else:
                low = middle
        return high


def point_masses(losses: Vector, masses: Vector, step: Fraction) -> Losses:
    """Losses at any places, split on the multiples of ``step`` as the module says."""
    width = float(step)
    lifted = losses + 8 * UNIT * np.abs(losses)
    below = np.floor(lifted / width)
    inside = np.clip(lifted - below * width, 0.0, width)
    upper = np.clip(np.expm1(-inside) / math.expm1(-width) * (1.0 + 8 * UNIT), 0.0, 1.0)
    first = int(below.min())
    place = (below - first).astype(np.int64)
    found = np.zeros(int(place.max()) + 2)
    np.add.at(found, place, masses * (1.0 - upper))
    np.add.at(found, place + 1, masses * upper)
    return Losses(first * step, step, found, relative=(len(losses) + 16) * UNIT)


def on_grid(losses: Losses, step: Fraction) -> Losses:
    """The same losses split on the multiples of ``step``."""
    moved = point_masses(losses.values, losses.masses, step)
    return replace(
        moved,
        infinite=losses.infinite,
        relative=losses.relative + moved.relative,
        slack=losses.slack,
    )


def without_tails(losses: Losses, tail: float = _TAIL) -> Losses:
    """Shorter: at most ``tail`` of mass from the top goes to ∞, from the bottom to the new lowest.

    Both only raise δ.
    """
    sums = np.cumsum(losses.masses)
    total = float(sums[-1])
    first = int(np.searchsorted(sums, tail, side="right"))
    last = int(np.searchsorted(sums, total - tail, side="left"))
    first, last = min(first, len(sums) - 1), max(min(last, len(sums) - 1), 0)
    if first > last or (first == 0 and last == len(sums) - 1):
        return losses
    kept = losses.masses[first : last + 1].copy()
    kept[0] += float(losses.masses[:first].sum())
    cut = float(losses.masses[last + 1 :].sum()) * (1.0 + 2.0 * losses.relative + 1e-9)
    return replace(
        losses,
        low=losses.low + first * losses.step,
        masses=kept,
        infinite=losses.infinite + cut,
        relative=losses.relative + (len(sums) + 2) * UNIT,
    )


def convolved(one: Losses, other: Losses, tail: float = _TAIL) -> Losses:
    """The losses of both together; they must have the same step."""
    if one.step != other.step:
        raise ValueError("losses are added on one lattice")
    shorter = min(len(one.masses), len(other.masses))
    relative, slack = one.relative + other.relative, one.slack + other.slack
    if len(one.masses) * len(other.masses) <= _DIRECT:
        masses = np.convolve(one.masses, other.masses)
        # Products below the smallest float vanish: at most that much in each term.
        relative, slack = relative + (shorter + 2) * UNIT, slack + 1e-290
    else:
        masses, lost = _by_fourier(one.masses, other.masses)
        slack += lost
    infinite = (one.infinite + other.infinite) * (1.0 + 4 * UNIT)
    return without_tails(
        Losses(one.low + other.low, one.step, masses, infinite, relative, slack), tail
    )


def _by_fourier(one: Vector, other: Vector) -> tuple[Vector, float]:
    """The convolution, and what it is off by at most in the 1-norm."""
    length = len(one) + len(other) - 1
    size = 1 << (length - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:length]
    norms = max(
        float(one.sum()) * float(np.linalg.norm(other)),
        float(other.sum()) * float(np.linalg.norm(one)),
    )
    lost = 40.0 * UNIT * math.log2(size) * math.sqrt(size) * (norms + 1e-290)
    return np.maximum(found, 0.0), lost


def repeated(losses: Losses, count: int) -> Losses:
    """The losses of ``count`` equal mechanisms, by repeated squaring.

    A lattice that would grow too long is made coarser first.
    """
    widest = _LATTICE_WIDTHS * math.sqrt(count) * losses.deviation
    if count > 1 and widest / float(losses.step) > _LONGEST:
        losses = on_grid(losses, rounded_step(widest / _LONGEST))
    tail = _TAIL / count
    found: Losses | None = None
    power = losses
    for bit in range(count.bit_length()):
        if bit:
            power = convolved(power, power, tail)
        if count >> bit & 1:
            found = power if found is None else convolved(found, power, tail)
    if found is None:
        raise ValueError("at least one mechanism is composed")
    return found


def rounded_step(wanted: float) -> Fraction:
    """A step of a lattice near ``wanted``: a power of two, so that its multiples are floats."""
    return Fraction(2) ** math.floor(math.log2(wanted))


# The privacy losses of one draw of noise: the worst two neighbouring tables for each kind.
#
# **Laplace, any number of cells.** One unit changes the values by a vector v with ‖v‖₁ ≤ Δ. Walk
# from the one table to the other along v: each step of length t is t/b-indistinguishable, so the
# probability p(t) of any test obeys p' ≤ min(p, 1 − p)/b. The threshold tests between Lap(0, b) and
# Lap(Δ, b) attain this with equality at every p, so no v is told apart better than one cell that
# moves by Δ, at any level of the test; by Blackwell's theorem one cell moving by Δ dominates, also
# under composition. The discrete Laplace is the same with whole steps: a step of the grid is
# a-indistinguishable (a = 1/b), p ↦ min(e^a p, 1 − e^{−a}(1 − p)) bounds every test, and the
# threshold tests of the two-sided geometric distribution, randomised between neighbouring
# thresholds, attain it: its tail probabilities q^j/(1 + q) and 1 − q^j/(1 + q), q = e^{−a}, are
# mapped on each other. For Δ = 1 that is randomised response: the worst mechanism with pure ε there
# is (Kairouz, Oh and Viswanath 2015), so ``PURE`` is treated as one such step. Taking r steps as
# one of r·a only weakens the bound on each test, so a long walk may be coarsened.
#
# **Gaussian.** Rotating the cells shows that only ‖v‖₂ matters: L ~ N(ρ, 2ρ), ρ = ‖v‖₂²/(2σ²), and
# c draws are one with c·ρ. **Discrete Gaussian**, one cell moving by at most Δ: its probabilities
# are log-concave, so threshold tests are best and their power grows with the shift.
#
# All these pairs are symmetric (x ↦ Δ − x swaps them), so δ(ε) is the same in both directions.


_LONGEST_WALK = 4096
_CELLS = 2048
_DEVIATIONS = 9.5
_WIDEST_GAUSSIAN = 1 << 14
_LARGEST_VARIANCE = 10**10
# Moving every loss by t changes δ by at most t; places of cells are off by less than this times
# their size.
_OFF = 64.0 * UNIT


def grouped(draws: Draws, size: int) -> Draws:
    """The same draws for a group of ``size`` neighbouring steps (group privacy).

    Laplace: a walk ``size`` times as long. Gaussian: the L2 norm at most ``size`` times as large.
    Discrete Gaussian: several cells may move then, of which only ρ·size² is known.
    """
    if size == 1:
        return draws
    if draws.noise is Noise.PURE:
        step = draws.sensitivity / draws.spread
        return Draws(Noise.DISCRETE_LAPLACE, Fraction(size), 1 / step, draws.count)
    if draws.noise in (Noise.DISCRETE_GAUSSIAN, Noise.CONCENTRATED):
        rho = draws.rho / draws.count * size**2
        return Draws(Noise.CONCENTRATED, rho, Fraction(1), draws.count)
    return replace(draws, sensitivity=draws.sensitivity * size)


def is_tellable(draws: Draws) -> bool:
    """Whether :func:`losses_of` knows the losses (and has the memory for them)."""
    if draws.noise is Noise.DISCRETE_GAUSSIAN:
        return draws.spread <= _LARGEST_VARIANCE
    return draws.noise is not Noise.CONCENTRATED


def one_draw(draws: Draws) -> Losses:
    """The privacy losses of one of these draws."""
    return losses_of(replace(draws, count=1))


def losses_of(draws: Draws) -> Losses:
    """The privacy losses of all these draws together. Raises ValueError for ``CONCENTRATED``."""
    if draws.noise is Noise.LAPLACE:
        return repeated(_laplace_loss(float(draws.sensitivity / draws.spread)), draws.count)
    if draws.noise is Noise.GAUSSIAN:
        return _gaussian(draws.rho)
    if draws.noise is Noise.DISCRETE_GAUSSIAN:
        return repeated(_discrete_gaussian(int(draws.sensitivity), draws.spread), draws.count)
    if draws.noise is Noise.PURE:
        step = draws.sensitivity / draws.spread
        return repeated(_walk(1, step), draws.count)
    if draws.noise is Noise.DISCRETE_LAPLACE:
        return repeated(_walk(int(draws.sensitivity), 1 / draws.spread), draws.count)
    raise ValueError("only ρ is known of these draws")


def merged(draws: Iterable[Draws]) -> tuple[Draws, ...]:
    """Equal draws together; those that change nothing are left out."""
    counts: dict[tuple[Noise, Fraction, Fraction], int] = {}
    for one in draws:
        if one.sensitivity:
            key = (one.noise, one.sensitivity, one.spread)
            counts[key] = counts.get(key, 0) + one.count
    return tuple(Draws(*key, count) for key, count in counts.items())


def _walk(steps: int, loss: Fraction) -> Losses:
    """The two-sided geometric noise, moved by ``steps`` of privacy loss ``loss`` each.

    From the top: loss (steps − 2j)·loss with P-mass 1/(1+q), (1−q)q^j/(1+q) for 0 < j < steps, and
    q^steps/(1+q), where q = e^{−loss}.
    """
    if steps > _LONGEST_WALK:
        stride = -(-steps // _LONGEST_WALK)
        steps, loss = -(-steps // stride), loss * stride
    rate = float(loss)
    fall = math.exp(-rate)
    masses = -math.expm1(-rate) * np.exp(-rate * np.arange(steps + 1))
    masses[0], masses[-1] = 1.0, math.exp(-rate * steps)
    masses /= 1.0 + fall
    # exp and the product in it are off by u·(1 + rate·steps), relative; e^{-745} is 0 in floats.
    relative = (8.0 + 4.0 * min(rate * steps, 745.0)) * UNIT
    return Losses(-steps * loss, 2 * loss, masses[::-1].copy(), relative=relative, slack=1e-290)


def _laplace_loss(ratio: float) -> Losses:
    """Continuous Laplace noise whose privacy loss lies in [−ratio, ratio].

    Under P, L = ratio with mass 1/2, L = −ratio with mass e^{−ratio}/2, and the mass of (l₁, l₂)
    between is (e^{−(ratio − l₂)/2} − e^{−(ratio − l₁)/2})/2; the Q-mass of a cell is e^{−(l₁+l₂)/2}
    times its P-mass, so a cell is split like a point in its middle.
    """
    ratio *= 1.0 + 4 * UNIT
    edges = ratio * np.linspace(-1.0, 1.0, 2 * _CELLS + 1)
    width = ratio / _CELLS
    inner = -0.5 * math.expm1(-width / 2.0) * np.exp((edges[1:] - ratio) / 2.0)
    middles = (edges[1:] + edges[:-1]) / 2.0
    places = np.concatenate([[-ratio], middles, [ratio]])
    masses = np.concatenate([[0.5 * math.exp(-ratio)], inner, [0.5]])
    found = point_masses(places, masses, rounded_step(width))
    relative = found.relative + (16.0 + 4.0 * min(ratio, 745.0)) * UNIT
    return replace(found, relative=relative, slack=_OFF * ratio)


def _gaussian(rho: Fraction) -> Losses:
    """L ~ N(ρ, 2ρ) under P and N(−ρ, 2ρ) under Q; each cell is split by its P- and Q-mass."""
    mean = float(rho) * (1.0 + 4 * UNIT)
    deviation = math.sqrt(2.0 * mean)
    step = rounded_step(deviation / 400.0)
    width = float(step)
    first = math.floor((mean - _DEVIATIONS * deviation) / width)
    last = math.ceil((mean + _DEVIATIONS * deviation) / width)
    places = width * np.arange(first, last + 1, dtype=np.float64)
    under_p, below, above = _normal_cells((places - mean) / deviation)
    under_q, _, _ = _normal_cells((places + mean) / deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.exp(np.log(under_q) - np.log(under_p) + places[:-1])
    # erfc is off by a few u of itself, a cell by that of its tail: some 2000 u, divided by the
    # width here. A larger share above is the safe side.
    share = (1.0 - np.nan_to_num(kept, nan=0.0)) / -math.expm1(-width) + 4096.0 * UNIT / width
    share = np.clip(share, 0.0, 1.0)
    masses = np.zeros(len(places))
    masses[:-1] += under_p * (1.0 - share)
    masses[1:] += under_p * share
    masses[0] += below
    slack = 16.0 * UNIT * len(places) + _OFF * (mean + _DEVIATIONS * deviation)
    return Losses(first * step, step, masses, above * 1.0001, slack=slack)


def _normal_cells(edges: Vector) -> tuple[Vector, float, float]:
    """Masses of the standard normal distribution between edges, below them and above them."""
    tails = np.array([0.5 * math.erfc(abs(edge) / math.sqrt(2.0)) for edge in edges.tolist()])
    right = edges >= 0.0
    cells = np.abs(np.diff(tails))
    across = right[1:] & ~right[:-1]
    cells[across] = 1.0 - tails[:-1][across] - tails[1:][across]
    return cells, float(tails[0]), float(tails[-1])


def _discrete_gaussian(shift: int, variance: Fraction) -> Losses:
    """exp(−z²/2σ²) on the integers, moved by ``shift``: L = (2z·shift + shift²)/(2σ²)."""
    reach = math.ceil(_DEVIATIONS * math.sqrt(float(variance))) + 2
    low = Fraction(shift * (shift - 2 * reach), 2) / variance
    step = Fraction(shift) / variance
    offsets = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(offsets**2) / (2.0 * float(variance)))
    # Beyond the reach the weights fall faster than a geometric series of this ratio.
    ratio = math.exp(-reach / float(variance))
    tail = float(weights[-1]) * ratio / (1.0 - ratio)
    total = float(weights.sum())
    masses = weights / total
    masses[0] += tail / total
    relative = (len(weights) + 8.0 + 4.0 * _DEVIATIONS**2) * UNIT
    found = Losses(low, step, masses, tail / total * 1.0001, relative)
    if len(masses) > _WIDEST_GAUSSIAN:
        coarse = point_masses(found.values, masses, rounded_step(found.deviation / 400.0))
        return replace(coarse, infinite=found.infinite, relative=relative + coarse.relative)
    return found


Curve = Callable[[float], float]
_ROUNDING = 1e-12


def curve(draws: Draws) -> Curve:
    """An upper bound on the Rényi divergence of all these draws, for orders α > 1."""
    count = draws.count
    if draws.noise is Noise.LAPLACE:
        ratio = up(float(draws.sensitivity / draws.spread))
        return lambda order: count * _laplace(ratio, order)
    one_step = draws.noise is Noise.DISCRETE_LAPLACE and draws.sensitivity == 1
    if draws.noise is Noise.PURE or one_step:
        epsilon = up(float(draws.sensitivity / draws.spread))
        return lambda order: count * _response(epsilon, order)
    if draws.noise is Noise.DISCRETE_LAPLACE:
        return _by_losses(draws)
    rho = up(float(draws.rho))
    return lambda order: order * rho


def _laplace(ratio: float, order: float) -> float:
    first = math.log(order / (2 * order - 1)) + (order - 1) * ratio
    second = math.log((order - 1) / (2 * order - 1)) - order * ratio
    return _divergence(first, second, order, ratio)


def _response(epsilon: float, order: float) -> float:
    # p^α(1−p)^{1−α} = p·e^{(α−1)ε}: with masses p and 1−p, losses ±ε
    likely = -math.log1p(math.exp(-epsilon))
    return _divergence(
        likely + (order - 1) * epsilon, likely - epsilon - (order - 1) * epsilon, order, epsilon
    )


def _divergence(first: float, second: float, order: float, most: float) -> float:
    """ln(e^first + e^second)/(α−1), rounded up, and never more than the largest loss."""
    high, low = max(first, second), min(first, second)
    total = high + math.log1p(math.exp(low - high))
    lost = _ROUNDING * (abs(first) + abs(second) + 1.0)
    return min(most, max(0.0, total + lost) / (order - 1))


def _by_losses(draws: Draws) -> Curve:
    losses, count = one_draw(draws), draws.count
    values = losses.values
    with np.errstate(divide="ignore"):
        logs = np.log(losses.masses)
    most = up(float(values[-1]))

    def at(order: float) -> float:
        exponents = logs + (order - 1) * values
        high = float(exponents.max())
        total = high + math.log(float(np.exp(exponents - high).sum()))
        lost = _ROUNDING * (abs(high) + 1.0) + 2.0 * losses.relative
        return count * min(most, max(0.0, total + lost) / (order - 1))

    return at


def renyi_bound(draws: Iterable[Draws], delta: Fraction) -> float:
    """An ε that holds at ``delta`` > 0 for all draws together, by their Rényi curves."""
    curves: Sequence[Curve] = [curve(one) for one in merged(draws)]
    if not curves:
        return 0.0
    return renyi_epsilon(lambda order: math.fsum(one(order) for one in curves), delta)


_POINTS, _MOST_POINTS = 1 << 14, 1 << 17
_WIDTHS = 18.0
_SHARES: tuple[float, ...] = (0.5, 0.9, 0.99, 0.999, 0.1, 0.01)


def _nothing() -> None:
    """Nobody asks to stop."""


@dataclass(frozen=True)
class Known:
    """Mechanisms to be composed: draws, and what is known only as ε and δ."""

    draws: tuple[Draws, ...]
    approximate: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))


def tight_epsilon(
    known: Known, delta: Fraction, check: Callable[[], None] = _nothing
) -> float | None:
    """An ε that holds at ``delta`` for all of ``known`` together; None where none was found.

    Never more than the sum of pure ε (but for a rounding up of the last bit). ``check`` is called
    now and then and may raise (to cancel).
    """
    epsilon, spent = known.approximate
    rest = delta - spent
    if rest < 0:
        return None
    tellable = merged(one for one in known.draws if is_tellable(one))
    rho = sum((one.rho for one in known.draws if not is_tellable(one)), Fraction(0))
    found = _composed_bounds(tellable, rho, rest, check)
    pure = [one.epsilon for one in known.draws]
    if None not in pure:
        found.append(float(sum(filter(None, pure), Fraction(0))))
    if rest > 0 and (rho or not found):
        found.append(renyi_bound(known.draws, rest))
    total = min(found) + float(epsilon) if found else None
    return up(total, 4) if total else total


def _composed_bounds(
    draws: Sequence[Draws], rho: Fraction, delta: Fraction, check: Callable[[], None]
) -> list[float]:
    """ε of these draws at a part of ``delta``, plus that of ``rho`` at the rest of it."""
    if not draws:
        return [] if rho else [0.0]
    losses, found = composed(draws, check), []
    for share in _SHARES if rho else (1,):
        part = delta * Fraction(share)
        alone = losses.epsilon(_down(part))
        if alone is not None and (not rho or part < delta):
            found.append(alone + zcdp_epsilon(rho, delta - part) if rho else alone)
    return found


def tight_delta(draws: Iterable[Draws], epsilon: float) -> float:
    """δ at ``epsilon`` for draws of which the losses are known; 0 for none."""
    found = merged(draws)
    return composed(found).delta(epsilon) if found else 0.0


def _down(value: Fraction) -> float:
    return max(0.0, math.nextafter(float(value), 0.0))


def composed(draws: Sequence[Draws], check: Callable[[], None] = _nothing) -> Losses:
    """The losses of all draws (at least one) together."""
    parts: list[Losses] = []
    for one in _with_one_gaussian(draws):
        check()
        parts.append(losses_of(one))
    if len(parts) == 1:
        return parts[0]
    step = _common_step(parts)
    queue = [(len(part.masses), number, part) for number, part in enumerate(_all_on(parts, step))]
    heapq.heapify(queue)
    number = len(queue)
    while len(queue) > 1:
        check()
        first, second = heapq.heappop(queue)[2], heapq.heappop(queue)[2]
        both = convolved(first, second)
        heapq.heappush(queue, (len(both.masses), number, both))
        number += 1
    return queue[0][2]


def _with_one_gaussian(draws: Sequence[Draws]) -> list[Draws]:
    """Continuous Gaussian draws are one draw with the sum of their ρ."""
    found = [one for one in draws if one.noise is not Noise.GAUSSIAN]
    rho = sum((one.rho for one in draws if one.noise is Noise.GAUSSIAN), Fraction(0))
    if rho:
        found.append(Draws(Noise.GAUSSIAN, Fraction(1), 1 / (2 * rho)))
    return found


def _common_step(parts: Sequence[Losses]) -> Fraction:
    """Fine beside the deviation of the sum, and coarse enough for the memory."""
    deviation = math.sqrt(sum(part.deviation**2 for part in parts))
    widest = sum(float(part.step) * len(part.masses) for part in parts)
    return rounded_step(max(_WIDTHS * deviation / _POINTS, widest / _MOST_POINTS, 1e-12))


def _all_on(parts: Sequence[Losses], step: Fraction) -> list[Losses]:
    return [on_grid(part, step) for part in parts]
