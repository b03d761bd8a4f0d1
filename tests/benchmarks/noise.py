"""What exact noise costs beside NumPy's inexact one, in one run.

Run as ``python -m tests.benchmarks.noise``. NumPy draws floating-point numbers, which a release
must not use; they are timed as they come, and rounded to whole numbers, as noise for counts is. Key
streams are included. Runs take turns, and the shortest of each counts, so that other work on the
machine disturbs all alike. ``--opendp`` adds OpenDP's exact samplers, where that package can be
imported (it is no dependency: install it in an environment of its own).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise import DiscreteGaussian, DiscreteLaplace, SystemRandomness

SCALES = (Fraction(1), Fraction(64), Fraction(10**4), Fraction(10**9))
Work = Callable[[], object]


def shortest(works: dict[str, Work], n: int, times: int) -> dict[str, float]:
    """Nanoseconds for each of ``n`` values: the shortest of some runs, taking turns."""
    found = dict.fromkeys(works, float("inf"))
    for _ in range(times):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            found[name] = min(found[name], (time.perf_counter() - began) / n * 1e9)
    return found


def setup(noise: DiscreteLaplace | DiscreteGaussian, source: SystemRandomness) -> float:
    """Milliseconds from a new distribution to its first value."""
    began = time.perf_counter()
    noise.draw(1, source, CancelToken())
    return (time.perf_counter() - began) * 1e3


def row(name: str, ours: float, theirs: float, rounded: float, first: float) -> str:
    """One line of the table."""
    return (
        f"| {name} | {ours:.1f} | {theirs:.1f} | {rounded:.1f} | {ours / theirs:.2f} "
        f"| {ours / rounded:.2f} | {first:.0f} |"
    )


def opendp_rows(source: SystemRandomness, token: CancelToken, times: int) -> None:
    """Compare with OpenDP's vector noise, which is exact as well, by values a second."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    n = 20_000
    domain = dp.vector_domain(dp.atom_domain(T=int))
    kinds = {
        "laplace": (dp.m.make_laplace, dp.l1_distance(T=int), DiscreteLaplace, 1),
        "gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float), DiscreteGaussian, 2),
    }
    print("\n| noise | exact, million/s | OpenDP, million/s | times |\n| --- | --- | --- | --- |")
    for name, (make, metric, ours, power) in kinds.items():
        for scale in (1, 64, 10_000):
            theirs = make(domain, metric, scale=float(scale))
            mine = ours(Fraction(scale) ** power)
            works: dict[str, Work] = {
                "exact": lambda m=mine: m.draw(50 * n, source, token),
                "opendp": lambda t=theirs: t([0] * n),
            }
            took = shortest(works, n, times)
            exact, other = took["exact"] / 50, took["opendp"]
            print(
                f"| {name}, scale {scale:,} | {1e3 / exact:.1f} | {1e3 / other:.3f} "
                f"| {other / exact:,.0f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=2_000_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--opendp", action="store_true")
    options = parser.parse_args()
    n, times = options.values, options.times
    source, token, rng = SystemRandomness(), CancelToken(), np.random.default_rng()
    for warm in (DiscreteLaplace(Fraction(1000)), DiscreteGaussian(Fraction(10**6))):
        warm.draw(1, source, token)
    DiscreteGaussian(Fraction(1)).draw(1, source, token)
    words = shortest({"words": lambda: source.words(n)}, n, times)["words"]
    print(f"one 64-bit word: {words:.1f} ns\n")
    print("| noise | exact, ns | NumPy, ns | rounded, ns | ratio | rounded | first, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for scale in SCALES:
        laplace = DiscreteLaplace(scale)
        gaussian = DiscreteGaussian(scale * scale)
        first = setup(laplace, source), setup(gaussian, source)
        size = float(scale)
        works: dict[str, Work] = {
            "laplace": lambda d=laplace: d.draw(n, source, token),
            "float laplace": lambda s=size: rng.laplace(0, s, n),
            "rounded laplace": lambda s=size: np.rint(rng.laplace(0, s, n)).astype(np.int64),
            "gaussian": lambda d=gaussian: d.draw(n, source, token),
            "float gaussian": lambda s=size: rng.normal(0, s, n),
            "rounded gaussian": lambda s=size: np.rint(rng.normal(0, s, n)).astype(np.int64),
        }
        took = shortest(works, n, times)
        for name, at in (("laplace", 0), ("gaussian", 1)):
            theirs, rounded = took[f"float {name}"], took[f"rounded {name}"]
            print(row(f"{name}, scale {size:g}", took[name], theirs, rounded, first[at]))
    if options.opendp:
        opendp_rows(source, token, times)


if __name__ == "__main__":
    main()
