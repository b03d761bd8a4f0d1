"""What the manifest of a cube claims, in plain types: the verifier's reading of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import floor, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.plain import fraction_of
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.cubes.exact_claim import ExactClaim, exact_claim
from dpdesk.verifiers.cubes.stated import stated_shares
from dpdesk.verifiers.declared import number_of

# Variances of all cuboids of a large cube, which the verifier computes again.
#
# By the definitions that the verifier follows subset by subset in small cubes, here one
# dimension at a time; nothing is shared with the planners and their lattice.


Floats = NDArray[np.float64]
_FEW = 8
_KINDS = ("sum", "average")


def residual_move(sizes: Sequence[int], *, replace: bool) -> float:
    """Square of what one row can move in a residual, by trying which dimensions change.

    In many dimensions only changes of a single one are tried: others move less.
    """
    kept = prod(1 - 1 / n for n in sizes)
    if not replace or not sizes:
        return kept
    few = range(1, 1 << len(sizes)) if len(sizes) <= _FEW else (1 << i for i in range(len(sizes)))
    inner = (
        prod(-1 / n if pattern >> i & 1 else 1 - 1 / n for i, n in enumerate(sizes))
        for pattern in few
    )
    return max(kept, 2 * (kept - min(inner)))


def swept_best(sizes: Sequence[int], sources: Sequence[int], variances: Sequence[float]) -> Floats:
    """Smallest variance of a cell when it is summed up from one source; by mask, shape (2^d,)."""
    best = np.full(1 << len(sizes), np.inf)
    np.minimum.at(best, np.asarray(sources, np.int64), np.asarray(variances, np.float64))
    for i, size in enumerate(sizes):
        pairs = best.reshape(-1, 2, 1 << i)
        np.minimum(pairs[:, 0], pairs[:, 1] * size, out=pairs[:, 0])
    return best


def swept_after(
    sizes: Sequence[int],
    sources: Sequence[int],
    variances: Sequence[float],
    *,
    residuals: bool,
    exact: Sequence[int] = (),
) -> Floats:
    """Variance of a cell after consistency, infinite where it is not determined; by mask.

    Residuals below ``exact`` cuboids are known.
    """
    known = np.zeros(1 << len(sizes))
    np.add.at(known, np.asarray(sources, np.int64), 1 / np.asarray(variances, np.float64))
    for i, size in enumerate(sizes if not residuals else ()):
        pairs = known.reshape(-1, 2, 1 << i)
        pairs[:, 0] += pairs[:, 1] / size
    for mask in exact:
        known[(np.arange(len(known)) & ~mask) == 0] = np.inf
    share = np.ones(1)
    for size in sizes:
        share = np.concatenate([share, share * (1 - 1 / size)])
    with np.errstate(divide="ignore"):
        after = np.where(share > 0, share, 0.0) / np.where(share > 0, known, 1.0)
    for i, size in enumerate(sizes):
        pairs = after.reshape(-1, 2, 1 << i)
        pairs[:, 1] += pairs[:, 0] / size**2
    return after


Names = frozenset[str]


@dataclass(frozen=True)
class Grid:
    """Where values of rows are put before they are summed: in steps from ``offset``, cut at the
    lowest and highest one.
    """

    step: Fraction = Fraction(1)
    lowest: Fraction = Fraction(1)
    highest: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def place(self, text: str) -> int:
        """The steps of a text; 0 where it is no number."""
        value = number_of(text)
        if value is None:
            return 0
        nearest = floor((value - self.offset) / self.step + Fraction(1, 2))
        return max(int(self.lowest), min(int(self.highest), nearest))


@dataclass(frozen=True)
class Claimed:
    """What a manifest claims, in plain types; ``change`` is the stated size of a minimal change."""

    domains: Mapping[str, int]
    order: tuple[str, ...]
    gaussian: bool
    residuals: bool
    budget: float
    consistency: str
    nonnegative: bool
    integral: bool
    replace: bool
    rows: int
    sources: tuple[Names, ...]
    shares: tuple[Fraction, ...]
    measures: tuple[Mapping[str, object], ...]
    cuboids: tuple[Mapping[str, object], ...]
    plain_measures: tuple[object, ...]
    exact: ExactClaim | None
    change: int

    @property
    def plain_noise(self) -> bool:
        """Whether tables are sums of noisy ones as they were drawn, made consistent in no way."""
        return self.consistency == "none" and not self.residuals

    def gives(self, names: Names) -> bool:
        """Whether a cuboid is exact."""
        return self.exact is not None and self.exact.gives(names)

    def moved(self, cell: Fraction, span: Fraction) -> tuple[float, float]:
        """L1 and squared L2 of what one person changes in a cuboid, in grid steps.

        ``cell`` is the most that all rows of a person change one cell by, ``span`` the range of it.
        """
        if self.exact is not None:
            l1 = self.change * self.rows
            return float(l1), l1**2 / (2 if self.exact.fixed else 1)
        if not self.replace:
            return float(cell), float(cell**2)
        return float(2 * cell), float(max(2 * cell**2, span**2))

    def residual_moved(self, cell: Fraction, sizes: Sequence[int]) -> float:
        """Squared L2 of what one person changes in a residual, in grid steps."""
        if self.exact is None:
            return float(cell**2) * residual_move(sizes, replace=self.replace)
        fixed = self.exact.fixed
        units = self.change * self.rows / (2 if fixed else 1)
        return units**2 * residual_move(sizes, replace=fixed)

    def summed(self, number: int) -> str:
        """The column that a measured vector sums up; empty for counts."""
        column = self._plain(number)
        return "" if column is None else str(next(column[key] for key in _KINDS if key in column))

    def _plain(self, number: int) -> Mapping[str, object] | None:
        """What the parameters say of a measured vector that is a sum."""
        name = str(self.measures[number].get("measure", ""))
        for plain in self.plain_measures:
            if isinstance(plain, Mapping):
                kind = next(key for key in _KINDS if key in plain)
                stated = "centred sum" if kind == "average" else kind
                if name == f"{stated} of {plain[kind]}" or len(self.measures) == 1:
                    return as_table(plain)
        return None

    def grid(self, number: int) -> Grid:
        """That of a measured vector; of counts, a step of 1 for each row."""
        plain = self._plain(number)
        if plain is None:
            return Grid()
        step, middle = fraction_of(str(plain.get("step", 1))), Fraction(0)
        low, high = fraction_of(str(plain["lower"])), fraction_of(str(plain["upper"]))
        if "average" in plain:
            middle = (low + high) / 2
            step /= (middle / step).denominator
            low, high = -(high - low) / 2, (high - low) / 2
        lowest = Fraction(-((-low) // step))
        return Grid(step, lowest, max(lowest, Fraction(high // step)), middle)

    def mask(self, names: Names) -> int:
        """The cuboid as a number: bit i is dimension i."""
        return sum(1 << i for i, name in enumerate(self.order) if name in names)

    def size(self, names: Names) -> int:
        """Cells of a cuboid."""
        return prod(self.domains[name] for name in names)


def read_claims(manifest: Mapping[str, object]) -> Claimed:
    """The claims; ValueError, TypeError or KeyError when they are malformed."""
    result, given = as_table(manifest["result"]), as_table(manifest["parameters"])
    listed = [as_table(item) for item in as_list(result["domains"])]
    domains = {str(item["dimension"]): len(as_list(item["categories"])) for item in listed}
    gaussian = "rho" in given
    measures = result.get("measures", [result])
    plain = given.get("measure", "count")
    categories = {str(item["dimension"]): _texts(item["categories"]) for item in listed}
    exact = exact_claim(given.get("exact"), categories, replace=given["neighbours"] == "replace")
    if list(domains) != as_list(given["dimensions"]) or len(domains) < len(listed):
        raise ValueError("the domains are not those of the dimensions")
    return Claimed(
        domains=domains,
        order=tuple(domains),
        gaussian=gaussian,
        residuals=result["residuals"] is True,
        budget=float_of(given["rho" if gaussian else "epsilon"]),
        consistency=str(given["consistency"]),
        nonnegative=given.get("nonnegative") is True,
        integral=given.get("integral") is True,
        replace=given["neighbours"] == "replace",
        rows=int(float_of(given["rows_per_person"])),
        sources=tuple(names_of(names, domains) for names in as_list(result["noise_sources"])),
        shares=stated_shares(result),
        measures=tuple(as_table(item) for item in as_list(measures)),
        cuboids=tuple(as_table(item) for item in as_list(result["cuboids"])),
        plain_measures=tuple(plain) if isinstance(plain, list) else (plain,),
        exact=exact,
        change=0 if exact is None else int(float_of(as_table(result["exact"])["minimal_change"])),
    )


def _texts(raw: object) -> tuple[str, ...]:
    return tuple(str(text) for text in as_list(raw))


def subsets(names: Names) -> Iterator[Names]:
    """Every cuboid that can be computed from one."""
    ordered = sorted(names)
    sizes = range(len(ordered) + 1)
    return map(frozenset, chain.from_iterable(combinations(ordered, size) for size in sizes))


def names_of(raw: object, domains: Mapping[str, int]) -> Names:
    """The dimensions of a cuboid; ValueError for unknown ones and for one that comes twice."""
    names = [str(name) for name in as_list(raw)]
    if len(set(names)) < len(names) or any(name not in domains for name in names):
        raise ValueError("a cuboid names a dimension twice, or one that there is not")
    return frozenset(names)


def float_of(raw: object) -> float:
    """A number of a manifest; TypeError for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise TypeError("expected a number")
    return float(raw)
