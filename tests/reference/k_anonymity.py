"""Full-domain k-anonymity with tuple suppression from its definitions: slow, and obvious.

Rows are tuples of text; a path is the list of a leaf's ancestors from itself to the root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import log2, prod

Rows = Sequence[tuple[str, ...]]
Paths = Sequence[dict[str, list[str]]]
Node = tuple[int, ...]


def heights(paths: Paths) -> Node:
    """Steps from leaf to root, per attribute."""
    return tuple(len(next(iter(path.values()))) - 1 for path in paths)


def nodes(paths: Paths) -> list[Node]:
    """Every node, in lexicographic order."""
    return list(product(*(range(height + 1) for height in heights(paths))))


def generalise(rows: Rows, paths: Paths, node: Node) -> list[tuple[str, ...]]:
    """Every cell replaced by its ancestor; a label counts together with its level only."""
    return [
        tuple(path[value][level] for value, path, level in zip(row, paths, node, strict=True))
        for row in rows
    ]


class Release:
    """One node at one k."""

    def __init__(self, rows: Rows, paths: Paths, node: Node, k: int) -> None:
        self.rows, self.paths, self.node, self.k = rows, paths, node, k
        self.new = generalise(rows, paths, node)
        self.keeps = self.kept()
        left = Counter(row for row, keep in zip(self.new, self.keeps, strict=True) if keep)
        self.kept_sizes = list(left.values())
        self.suppressed = self.keeps.count(False)

    def kept(self) -> list[bool]:
        sizes = Counter(self.new)
        return [sizes[row] >= self.k for row in self.new]

    @property
    def classes(self) -> int:
        return len(self.kept_sizes)

    def feasible(self, max_suppressed: int) -> bool:
        return self.classes > 0 and self.suppressed <= max_suppressed

    @property
    def sum_of_squares(self) -> int:
        return sum(size * size for size in self.kept_sizes)

    @property
    def discernibility(self) -> int:
        """A row of a kept class is like all rows of the class; a suppressed one like all N."""
        sizes = Counter(self.new)
        return sum(
            sizes[row] if keep else len(self.rows)
            for row, keep in zip(self.new, self.keeps, strict=True)
        )

    @property
    def average_class_size(self) -> Fraction | None:
        if not self.kept_sizes:
            return None
        return Fraction(sum(self.kept_sizes), len(self.kept_sizes)) / self.k

    def _mean(self, cell_value: object) -> Fraction:
        total = Fraction(0)
        for row, keep in zip(self.rows, self.keeps, strict=True):
            for column, value in enumerate(row):
                total += cell_value(column, value) if keep else 1  # type: ignore[operator]
        return total / (len(self.rows) * len(self.paths))

    @property
    def loss(self) -> Fraction:
        def cell(column: int, value: str) -> Fraction:
            path, level = self.paths[column], self.node[column]
            below = [leaf for leaf in path if path[leaf][level] == path[value][level]]
            return Fraction(len(below) - 1, len(path) - 1) if len(path) > 1 else Fraction(0)

        return self._mean(cell)

    @property
    def precision(self) -> Fraction:
        def cell(column: int, value: str) -> Fraction:
            height = len(self.paths[column][value]) - 1
            return Fraction(self.node[column], height) if height else Fraction(0)

        return 1 - self._mean(cell)

    def entropy_odds(self) -> tuple[int, int]:
        """Two integers whose quotient is the product over all cells of n_generalised/n_raw."""
        above, below = [], []
        for column in range(len(self.paths)):
            raw = Counter(row[column] for row in self.rows)
            general = Counter(row[column] for row in self.new)
            for old, new, keep in zip(self.rows, self.new, self.keeps, strict=True):
                above.append(general[new[column]] if keep else len(self.rows))
                below.append(raw[old[column]])
        return prod(above), prod(below)

    @property
    def entropy(self) -> float:
        above, below = self.entropy_odds()
        return log2(above) - log2(below)

    def objective(self, name: str) -> Fraction | float:
        """A value whose order is the exact order of the objective, lower is better."""
        if name == "average-class-size":
            size = self.average_class_size
            return float("inf") if size is None else size
        if name == "entropy":
            # The logarithm keeps the order, so the odds themselves compare exactly.
            return Fraction(*self.entropy_odds())
        if name == "precision":
            return 1 - self.precision
        return {"loss": self.loss, "discernibility": Fraction(self.discernibility)}[name]


def best(
    rows: Rows,
    paths: Paths,
    objective: str,
    k: int,
    max_suppressed: int,
    of: type[Release] = Release,
) -> Node | None:
    """Lowest objective of all feasible nodes; ties as documented."""
    found = []
    for node in nodes(paths):
        release = of(rows, paths, node, k)
        if release.feasible(max_suppressed):
            ties = (-release.classes, release.suppressed, sum(node), node)
            found.append(((release.objective(objective), *ties), node))
    return min(found)[1] if found else None


def minimal(
    rows: Rows, paths: Paths, k: int, max_suppressed: int, of: type[Release] = Release
) -> list[Node]:
    """Feasible nodes with no other feasible node anywhere below them."""
    feasible = [n for n in nodes(paths) if of(rows, paths, n, k).feasible(max_suppressed)]

    def below(low: Node, high: Node) -> bool:
        return low != high and all(a <= b for a, b in zip(low, high, strict=True))

    return [node for node in feasible if not any(below(other, node) for other in feasible)]


def samarati(
    rows: Rows, paths: Paths, k: int, max_suppressed: int, prefer: str, of: type[Release] = Release
) -> Node | None:
    """The preferred one of the minimal nodes of least height; ties as documented."""
    minimal_nodes = minimal(rows, paths, k, max_suppressed, of)
    if not minimal_nodes:
        return None
    least = min(sum(node) for node in minimal_nodes)
    return preferred(rows, paths, [n for n in minimal_nodes if sum(n) == least], k, prefer, of)


def preferred(
    rows: Rows, paths: Paths, of_these: Sequence[Node], k: int, prefer: str, of: type[Release]
) -> Node:
    """The best of some nodes by a preference; ties as documented."""
    found = []
    for node in of_these:
        release = of(rows, paths, node, k)
        steps = zip(node, heights(paths), strict=True)
        criterion = {
            "minimum-absolute-distance": Fraction(sum(node)),
            "minimum-relative-distance": sum(Fraction(level, h) for level, h in steps if h),
            "maximum-distribution": Fraction(-release.classes),
            "minimum-suppression": Fraction(release.suppressed),
        }[prefer]
        found.append(((criterion, -release.classes, release.suppressed, node), node))
    return min(found)[1]
