"""How many of the true most frequent sets are found: ``python -m tests.benchmarks.itemsets``.

On the transactions of the test data (``DPDESK_TEST_DATA``): the 32 most read pages of the head of
Kosarak, and NLTCS. As many sets are listed as there are true ones, so precision and recall are the
same number; the rest are missed (false negatives).
"""

from __future__ import annotations

import os
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.itemsets.bases import (
    SHARES,
    Transactions,
    chosen_bases,
    top_sets,
)
from dpdesk.engine.methods.itemsets.comparing import found_of
from dpdesk.engine.methods.itemsets.mined import mined_sets
from dpdesk.engine.noise.choosing import Coins
from dpdesk.engine.noise.laplace import DiscreteLaplace
from dpdesk.engine.noise.randomness import SystemRandomness
from dpdesk.engine.views.consistency import agreeing, shared_sets
from dpdesk.engine.views.designs import covering_design
from dpdesk.engine.views.marginals import AgreeingViews
from tests.benchmarks.views import variances

DRAWS, LONGEST, ITEMS = 4, 3, 32
TOPS = (50, 100)
BUDGETS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))
TOKEN = CancelToken()


def kosarak(folder: Path) -> NDArray[np.bool_]:
    """Visits by page, of the most read pages."""
    rows = [set(line.split()) for line in (folder / "kosarak_head.dat").open(encoding="ascii")]
    pages = [page for page, _ in Counter(page for row in rows for page in row).most_common(ITEMS)]
    return np.array([[page in row for page in pages] for row in rows])


def nltcs(folder: Path) -> NDArray[np.bool_]:
    """People by what they cannot do."""
    return np.genfromtxt(folder / "nltcs.csv", delimiter=",", skip_header=1).astype(bool)


def share_found(rows: Transactions, top: int, epsilon: Fraction) -> float:
    """The share of the true sets that one release lists."""
    rates = SHARES[0] * epsilon / 2, SHARES[1] * epsilon
    source = SystemRandomness()
    bases = chosen_bases(rows, top, LONGEST, rates, Coins(source), TOKEN)
    noise = DiscreteLaplace(len(bases) / (SHARES[2] * epsilon))
    cells = []
    for basis in bases:
        counted = rows.of_basis(basis)
        cells.append(counted + noise.draw(counted.size, source, TOKEN).reshape(counted.shape))
    listed = top_sets(bases, cells, top, LONGEST)
    return found_of(rows, [listed], top, LONGEST, TOKEN).recall


def share_of_views(rows: Transactions, top: int, epsilon: Fraction) -> float:
    """The same of a release whose sets are read from views that hold every two items."""
    many, source = rows.held.shape[1], SystemRandomness()
    views = covering_design(many, 8, 2, TOKEN, silent)
    noise, shape = DiscreteLaplace(len(views) / epsilon), (2,) * many
    tables = []
    for view in views:
        counted = rows.of_basis(view)
        tables.append(counted + noise.draw(counted.size, source, TOKEN).reshape(counted.shape))
    shared, spread = shared_sets(views, 100_000), variances(len(views), float(epsilon))
    assert shared is not None
    found = agreeing(views, shape, shared, tables, spread, TOKEN, silent)
    agreed = AgreeingViews(shape, dict(zip(views, found, strict=True)))
    mined = mined_sets(agreed, top, LONGEST, TOKEN, entropy=True)
    return found_of(rows, [mined], top, LONGEST, TOKEN).recall


def main() -> None:
    """Print the table."""
    folder = Path(os.environ["DPDESK_TEST_DATA"]) / "binary"
    for name, held in (("Kosarak", kosarak(folder)), ("NLTCS", nltcs(folder))):
        distinct, counts = np.unique(held, axis=0, return_counts=True)
        rows = Transactions(distinct, counts.astype(np.int64))
        for top in TOPS:
            for epsilon in BUDGETS:
                for way, share in (("bases", share_found), ("views", share_of_views)):
                    found = [share(rows, top, epsilon) for _ in range(DRAWS)]
                    words = " ".join(f"{each:.2f}" for each in found)
                    asked = f"{name}, {way}, top {top}, ε = {float(epsilon):g}"
                    print(f"{asked}: precision = recall {words}")


if __name__ == "__main__":
    main()
