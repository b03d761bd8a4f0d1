"""Samarati's algorithm: binary search on the height of the lattice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.metrics import evaluate_node
from dpdesk.engine.methods.k_anonymity.search import SearchResult

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.counting import NodeCounter

STEP = "Searching the lowest height"

_REPORT_EVERY = 256

PREFERENCES = (
    "minimum-absolute-distance",
    "minimum-relative-distance",
    "maximum-distribution",
    "minimum-suppression",
)
"""Names of the preference criteria, as plans write them; the first is the default."""


def samarati(
    problem: LatticeProblem,
    k: int,
    max_suppressed: int,
    prefer: str,
    token: CancelToken,
    report: Report,
) -> SearchResult:
    """The preferred one of the k-minimal generalisations of least height.

    For k-anonymity with tuple suppression feasibility is monotone along the lattice: if a height
    holds a feasible node, so does every greater height. So a binary search finds the least height
    with one, and all feasible nodes of that height are minimal. A height is left at its first
    feasible node, except the least one, where all are compared by ``prefer``:

    minimum-absolute-distance
        least sum of levels (equal for all nodes of a height, so the ties below decide);
    minimum-relative-distance
        least sum of level/height of hierarchy;
    maximum-distribution
        most kept classes;
    minimum-suppression
        fewest suppressed rows.

    Where classes must pass more than k, feasibility need not be monotone: then heights are tried
    from the lowest one up.

    Ties: more classes, then fewer suppressed rows, then the lexicographically first levels.

    The original algorithm keeps a matrix of distance vectors between all pairs of tuples and counts
    how many tuples each node makes equal, which takes time and memory quadratic in the tuples. The
    same counts come from rolling up the frequency table, in linear time; nothing else changes.

    Raises
    ------
    Cancelled
        When the token is cancelled.
    KeyError
        For an unknown criterion.
    """
    from dpdesk.engine.methods.k_anonymity.counting import node_counter

    criterion = criterion_of(problem)[prefer]
    with node_counter(problem, k, token) as counter:
        search = _HeightSearch(counter, max_suppressed, report)
        low, high = sum(problem.bottom), sum(problem.top)
        if not problem.monotone(max_suppressed):
            low = high = search.lowest(low, high + 1)
        if high > sum(problem.top) or not search.has_feasible(high):
            return SearchResult(None, None, False, counter.counted, highest_node(problem, k))
        while low < high:
            middle = (low + high) // 2
            if search.has_feasible(middle):
                high = middle
            else:
                low = middle + 1
        chosen = min(search.feasible(high), key=lambda found: (criterion(found), *found.ties))
        return SearchResult(
            node=chosen.node,
            statistics=evaluate_node(problem, chosen.node, k),
            proven_optimal=True,
            nodes_checked=counter.counted,
            least_suppressed=highest_node(problem, k),
        )


def highest_node(problem: LatticeProblem, k: int) -> tuple[Node, int]:
    """The top node and the rows it suppresses: no node suppresses fewer."""
    return problem.top, 0 if problem.rows >= k else problem.rows


@dataclass(frozen=True)
class Candidate:
    """A feasible node with what preferences ask of it."""

    node: Node
    suppressed: int
    classes: int

    @property
    def ties(self) -> tuple[int, int, Node]:
        """More classes, fewer suppressed rows, then the levels."""
        return -self.classes, self.suppressed, self.node


class _HeightSearch:
    """Feasible nodes of a height, one by one."""

    def __init__(self, counter: NodeCounter, max_suppressed: int, report: Report) -> None:
        self._counter = counter
        self._max_suppressed = max_suppressed
        self._report = report

    def has_feasible(self, height: int) -> bool:
        return next(self.feasible(height), None) is not None

    def lowest(self, start: int, end: int) -> int:
        """The first height that holds a feasible node; ``end`` where none below it does."""
        return next((height for height in range(start, end) if self.has_feasible(height)), end)

    def feasible(self, height: int) -> Iterator[Candidate]:
        counter, problem = self._counter, self._counter.problem
        bottom, top = counter.walk_order(problem.bottom), counter.walk_order(problem.top)
        room = [high - low for low, high in zip(bottom, top, strict=True)]
        for number, steps in enumerate(levels_of_height(room, height - sum(bottom))):
            levels = [low + step for low, step in zip(bottom, steps, strict=True)]
            node = counter.from_walk_order(levels)
            suppressed, classes = counter.count(node)[:2].tolist()
            if number % _REPORT_EVERY == 0:
                self._report(StepProgress(STEP, counter.counted, None, "nodes"))
            if classes and suppressed <= self._max_suppressed:
                yield Candidate(node, suppressed, classes)


def levels_of_height(heights: Sequence[int], height: int) -> Iterator[Node]:
    """All nodes with this sum of levels, in lexicographic order."""
    if not heights:
        if height == 0:
            yield ()
        return
    above = sum(heights[1:])
    for level in range(max(0, height - above), min(heights[0], height) + 1):
        for rest in levels_of_height(heights[1:], height - level):
            yield (level, *rest)


Criterion = Callable[[Candidate], Fraction | int]


def criterion_of(problem: LatticeProblem) -> dict[str, Criterion]:
    """The value of each preference criterion, lower is better."""

    def relative_distance(found: Candidate) -> Fraction:
        steps = zip(found.node, problem.heights, strict=True)
        return sum((Fraction(level, height) for level, height in steps if height), Fraction(0))

    return {
        "minimum-absolute-distance": lambda found: sum(found.node),
        "minimum-relative-distance": relative_distance,
        "maximum-distribution": lambda found: -found.classes,
        "minimum-suppression": lambda found: found.suppressed,
    }
