"""Figures in the pages of ``resources/docs`` that can be computed are those that are computed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import ceil, log2, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.accounting.conversion import advanced_epsilon
from dpdesk.engine.methods.dp_graph.known import undirected_sensitivity
from dpdesk.engine.noise.randomness import WORDS_PER_KEY
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.widths import half_width
from dpdesk.report.cubes import table_width
from dpdesk.verifiers.cubes.exact import largest_change
from dpdesk.verifiers.cubes.exact_claim import exact_claim
from tests.helpers.released_cubes import design, memory_release
from tests.reference.exact_cuboids import constraints, longest_minimal
from tests.reference.graphs import longest_change, sums

DOCS = Path(__file__).parents[2] / "resources" / "docs"


def words(page: str) -> str:
    """The text of a page without line ends."""
    return " ".join((DOCS / page).read_text("utf-8").split())


def test_advanced_composition_of_256_cuboids() -> None:
    found = advanced_epsilon([(Fraction(1, 256), 256)], Fraction(1, 10**6))
    assert f"The 256 cuboids of below have {found:.4f} so;" in words("ledger.md")


def mean_error(rows: int, size: int) -> float:
    """E|f' - f| / f for f' ~ Binomial(ℓ′f, 1/ℓ′), added up over all outcomes, in percent."""
    return float(binom(rows * size, 1 / size).expect(lambda x: abs(x - rows)) / rows * 100)


def test_mean_errors_of_counts_of_a_drawn_value() -> None:
    text = words("diverted-figures.md")
    common = f"{mean_error(4140, 2):.3f} % at ℓ′ = 2, {mean_error(4140, 7):.3f} % at ℓ′ = 7;"
    assert f"Adult, 4,140 rows: {common}" in text
    assert f"9 rows: {mean_error(9, 2):.1f} to {mean_error(9, 7):.1f} %." in text


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.5}])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_which_shares_of_the_budget_are_best_for_an_average(
    budget: dict[str, Any], neighbours: str
) -> None:
    average = {"average": "pay", "lower": 0, "upper": 2_000_000}
    keys = budget | {"measure": average, "neighbours": neighbours, "planner": "base"}
    total, count = design({"sex": "fm"}, publish=[["sex"]], **keys).channels
    power = 2 if "epsilon" in budget else 1
    half = 1_000_000

    def variance(share: float) -> float:
        """Of the average, times n², with this share of the budget for the count."""
        of_sum = total.variances[0] * float(total.unit) ** 2 / (2 * (1 - share)) ** power
        return float(of_sum + half**2 * count.variances[0] / (2 * share) ** power)

    best = minimize_scalar(variance, bounds=(0.1, 0.9), method="bounded").x
    saved = 1 - variance(best) / variance(0.5)
    if neighbours == "replace" and "rho" in budget:
        assert f"{best:.1%} of ρ for the count".replace("%", " %") in words("cubes.md")
        assert f"make the variance {saved:.1%} smaller".replace("%", " %") in words("cubes.md")
    else:  # but for the whole numbers of the count's noise
        assert saved < 0.005


def test_tight_composition_of_256_cuboids() -> None:
    """The loss of discrete Laplace noise of scale 1/ε is ±ε, so the sum of 256 is a binomial."""
    each, delta = 1 / 256, 1e-6
    more = binom(256, 1 / (1 + np.exp(-each)))
    count = np.arange(257)
    losses = (2 * count - 256) * each

    def over(epsilon: float) -> float:
        return float((more.pmf(count) * np.maximum(0, 1 - np.exp(epsilon - losses))).sum() - delta)

    found = brentq(over, 0, 1)
    assert f"are ε = 1 simply, and {found:.3f} at δ = 10⁻⁶." in words("ledger.md")


def test_thresholds_of_example_1() -> None:
    def least(share: Fraction, most: int) -> int:
        """The least count from which on errors of this share are as rare as wanted."""
        counts = np.arange(1, most)
        far = [-(-share.numerator * int(f) // share.denominator) for f in counts]
        spread = binom(10 * counts, 0.1)
        chances = spread.cdf(counts - far) + spread.sf(counts + np.array(far) - 1)
        return int(counts[chances > 0.02].max()) + 1

    coarse, fine = least(Fraction(1, 5), 1_000), least(Fraction(1, 50), 30_000)
    paper = ceil(sqrt(1 / (10 * 0.02**2 * 0.02)))
    text = words("diverted-figures.md")
    assert f"(ℓ′ = 10, T_E = 0.02) is {coarse}, not 11, for ε = 0.2, and {fine:,}, not 49," in text
    assert f"the paper's own formula gives {paper} for the latter" in text


def test_widths_of_whole_numbers() -> None:
    shape = {"a": 30, "b": 20, "c": 2}
    domains = {name: [f"{name}{n}" for n in range(count)] for name, count in shape.items()}
    release = memory_release(domains, epsilon=12, planner="all", integral=True)
    cuboids = release.manifest.result["cuboids"]  # type: ignore[index]
    item = next(each for each in cuboids if each["dimensions"] == ["c"])
    whole = table_width(item, release.manifest)
    noise = half_width(Noise.LAPLACE, item["variance"], 1)
    text = words("cubes.md")
    assert f"its ± is {whole:.1f} persons" in text
    assert f"the ± of the noise alone, {noise:.1f}, held" in text


def rows_of(page: str, head: str) -> list[list[str]]:
    """The cells of a table of a page, below the line with its heads."""
    lines = (DOCS / page).read_text("utf-8").split(head)[1].splitlines()[2:]
    table = lines[: next(i for i, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def published(values: str, size: int = 2) -> Counter[tuple[str, ...]]:
    """The chance of each published table of the paper's rule, over all ids and coins."""
    found: Counter[tuple[str, ...]] = Counter()
    many = len(values)
    for ids in permutations(range(many)):
        left = {v: [row for row in ids if values[row] == v] for v in sorted(set(values))}
        drawn = {}
        while any(left.values()):
            largest = sorted((v for v in left if left[v]), key=lambda v: -len(left[v]))[:size]
            drawn |= {left[v].pop(0): largest for v in largest}
        for coins in product(range(size), repeat=many):
            found[tuple(drawn[row][coins[row]] for row in range(many))] += 1
    return found


def test_what_a_fixed_swap_can_give_away() -> None:
    true, impossible = published("baac"), []
    for other in (1, 2, 3):
        swapped = list("baac")
        swapped[0], swapped[other] = swapped[other], swapped[0]
        chances = published("".join(swapped))
        assert chances != true
        missing = sum(count for table, count in true.items() if table not in chances)
        impossible.append(Fraction(missing, sum(true.values())))
    assert impossible[0] == impossible[1]
    said = f"with a chance of {impossible[0]} the output is impossible under the swap of b with an"
    assert said in words("diverted.md")


def test_how_seldom_noise_fails() -> None:
    text = words("noise.md")
    blocks = WORDS_PER_KEY // 2  # of 128 bits
    assert f"after 2^{log2(WORDS_PER_KEY):g} words of 64 bits ({8 * WORDS_PER_KEY >> 20} MiB)" in (
        text
    )
    repeats = log2(Fraction(blocks * (blocks - 1), 2)) - 128
    assert f"a probability below 2^(−{-ceil(repeats)})" in text
    assert "Scales up to 2^48 and σ up to 2^48 are accepted. A number of size 2^62" in text
    scale, size = 48, 62
    # Laplace: at most 2·e^(−size/scale); Gaussian noise of that σ is far below.
    assert 2 ** (size - scale) > 16_000 + 1
    assert "a probability below e^(−16000)" in text


def test_minimal_changes_of_small_graphs() -> None:
    text, rows = words("graphs.md"), rows_of("graphs.md", "| V | number of edges not known |")
    assert [row[0] for row in rows] == ["3", "4", "5", "6"]
    for row in rows:
        nodes = int(row[0])
        for total, said in enumerate(row[1:]):
            found = [
                undirected_sensitivity(nodes, known, edge_count=bool(total))
                for known in range(nodes + 1)
            ]
            if nodes < 6:  # in a way that shares nothing
                assert found == [
                    longest_change(sums(nodes, range(n), (), directed=False, total=bool(total)))
                    for n in range(nodes + 1)
                ]
            assert said == ", ".join(map(str, found))
    assert longest_change(sums(4, [0], [0, 1], directed=True, total=False)) == 3
    assert "3 instead of 4 for both degrees of one node and the in-degree of another" in text


def test_noise_of_larger_graphs() -> None:
    text = words("graphs.md")
    edge = sqrt(2) * 2 * 100 * sqrt(1 - 2 / 99)  # scale S/ε; all degrees leave 1 − 2/(V−1)
    assert f"the noise of one edge has a standard deviation of {edge:.0f}," in text
    bounds = [undirected_sensitivity(7, known) for known in (5, 6, 7)]
    assert f"where they say {bounds[0]}, {bounds[1]} and {bounds[2]}" in text
    found = re.search(
        r"finds ([\d, and]+) for V = 7 to 16, so that the noise is up to (\d+) %", text
    )
    assert found is not None
    sizes = [int(each) for each in re.findall(r"\d+", found[1])]
    most = max(2 * nodes / size for nodes, size in zip(range(7, 17), sizes, strict=True))
    assert f"{100 * (most - 1):.0f}" == found[2]


def largest(shape: Sequence[int], ways: int) -> int | None:
    """The size of a minimal change beside all margins of so many ways, by the verifier."""
    names = "abcd"[: len(shape)]
    categories = {n: tuple(map(str, range(size))) for n, size in zip(names, shape, strict=True)}
    claim = exact_claim(
        [list(each) for each in combinations(names, ways)], categories, replace=False
    )
    assert claim is not None
    return largest_change(claim, CancelToken()).size


def tables_of(cell: str) -> list[list[int]]:
    """The shapes that a cell of the table of exact.md names; as many as 4 categories for n."""
    return [
        [
            4 if each == "n" else int(each)
            for each in re.findall(r"\b(?:\d|n)\b", part.split(",")[0])
        ]
        for part in cell.split(";")
    ]


def test_minimal_changes_beside_three_tables_and_more() -> None:
    """Those that the verifier finds at once; test_exact_verified has larger ones."""
    ways, checked = 0, 0
    for cell, said, _ in rows_of("exact.md", "| exact | S_Q | also found by |"):
        kind = re.match("one|two", cell)
        ways = {"one": 1, "two": 2}[kind[0]] if kind else ways
        size = int(said.split(" ")[0])
        for shape in tables_of(cell):
            if prod(shape) <= 18:
                assert largest(shape, ways) == size, (shape, ways)
                checked += 1
    assert checked >= 8


def test_minimal_changes_beside_single_cells() -> None:
    text = words("exact.md")
    one = {(0,): [(0,)], (1,): [(0,)]}
    some = {(0,): [(0,), (1,), (2,)], (1,): [(0,), (1,)]}
    found = longest_minimal(constraints((3, 3), some))
    assert f"margins of a 3 × 3 table it gives {2 * min(3, 2)}, and the truth is {found}." in text
    total = np.ones((1, 9), dtype=np.int64)
    found = longest_minimal(np.vstack([constraints((3, 3), one), total]))
    assert f"A 3 × 3 table with one known cell of either margin has {found};" in text
