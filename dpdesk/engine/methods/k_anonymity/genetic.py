"""A genetic search for lattices that are too large to walk, with a bound of what is possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from dpdesk.core.jobs import CancelToken, EarlyEnd, Note, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.engine.methods.k_anonymity.anytime import node_budget
from dpdesk.engine.methods.k_anonymity.bounds import plain_bounds
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.metrics import evaluate_node
from dpdesk.engine.methods.k_anonymity.samarati import highest_node
from dpdesk.engine.methods.k_anonymity.search import SearchResult

STEP = "Breeding combinations of levels"

_POPULATION = 48
_ELITE = 12
_PATIENCE = 15

Rank = tuple[bool, float, Node]


def genetic_search(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
) -> SearchResult:
    """A good feasible node, without a proof, unless the bound is reached.

    A node is a string of levels. Generations are bred from the best so far and from winners of
    small tournaments: each level from one of two parents, some of them a step up or down. Feasible
    nodes come first, by the objective; others by the rows suppressed beyond the limit. The draws
    are those of a fixed seed, so that a run can be repeated. It ends after
    :func:`~dpdesk.engine.methods.k_anonymity.anytime.node_budget` nodes, or when many generations
    found nothing better, or when it is asked to. A note says the bound: an attribute below the
    level at which it is feasible all by itself makes every node infeasible, and no node above these
    levels is better than what :mod:`~dpdesk.engine.methods.k_anonymity.bounds` gives for them.

    Raises Cancelled, and KeyError for an unknown objective.
    """
    from dpdesk.engine.methods.k_anonymity.counting import node_counter

    with node_counter(problem, k, token) as counter:
        known: dict[Node, Rank] = {}

        def rank(nodes: Sequence[Node]) -> None:
            fresh = [node for node in dict.fromkeys(nodes) if node not in known]
            if not fresh:
                return
            found = counter.evaluated(fresh)
            values, beyond = found.objective(objective, k), found.suppressed(k)
            feasible = found.feasible(k, max_suppressed)
            for place, node in enumerate(fresh):
                good = bool(feasible[place])
                value = float(values[place]) if good else float(beyond[place])
                known[node] = (not good, value, node)

        def least(place: int) -> int:
            """The first level at which the attribute alone suppresses few enough rows."""
            low, high = problem.bottom[place], problem.top[place]
            while low < high:
                middle = (low + high) // 2
                node = (*problem.top[:place], middle, *problem.top[place + 1 :])
                found = counter.plain([node])
                if found.suppressed(k)[0] <= max_suppressed:
                    high = middle
                else:
                    low = middle + 1
            return low

        floor = tuple(least(place) for place in range(len(problem.heights)))
        bound = float(plain_bounds(counter.plain([floor]), objective, k, max_suppressed)[0])
        with token.early_end() as end:
            _breed(problem, floor, known, rank, node_budget(problem), report, end)
        best = min(known.values())
        top = highest_node(problem, k)
        if best[0]:
            return SearchResult(None, None, False, len(known), top)
        statistics = evaluate_node(problem, best[2], k)
        _tell(report, objective, best[1], bound, len(known), problem)
        return SearchResult(best[2], statistics, False, len(known), top, bound)


def _breed(
    problem: LatticeProblem,
    floor: Node,
    known: Mapping[Node, Rank],
    rank: Callable[[Sequence[Node]], None],
    budget: int,
    report: Report,
    end: EarlyEnd,
) -> None:
    """Rank generations of nodes at or above ``floor``, into ``known``."""
    draw, quiet = Random(0), 0
    first = [tuple(draw.randint(a, b) for a, b in zip(floor, problem.top, strict=True))
             for _ in range(_POPULATION)]  # fmt: skip
    rank([problem.top, floor, *first])
    while len(known) < budget and quiet < _PATIENCE and not end.reached(len(known)):
        parents = sorted(known.values())[:_POPULATION]
        best = parents[0]
        young: list[Node] = []
        for _ in range(_POPULATION):
            pair = [min(draw.sample(parents, min(3, len(parents)))) for _ in range(2)]
            pair[0] = draw.choice(parents[:_ELITE]) if draw.random() < 0.5 else pair[0]
            child = [draw.choice(levels) for levels in zip(pair[0][2], pair[1][2], strict=True)]
            for place in range(len(child)):
                if draw.random() < 1.5 / len(child):
                    step = child[place] + draw.choice((-1, -1, 1))
                    child[place] = min(max(step, floor[place]), problem.top[place])
            young.append(tuple(child))
        rank(young)
        quiet = 0 if min(known.values()) < best else quiet + 1
        report(StepProgress(STEP, min(len(known), budget), budget, "nodes"))


def _tell(
    report: Report, objective: str, value: float, bound: float, seen: int, problem: LatticeProblem
) -> None:
    shown, least = (1 - value, 1 - bound) if objective == "precision" else (value, bound)
    report(
        Note(
            "search.genetic",
            msg(
                "The best of {seen:,} of {all:,} combinations of levels has {objective} "
                "{value:,.4g}; none can be better than {bound:,.4g}.",
                seen=seen,
                all=problem.node_count,
                objective=objective.replace("-", " "),
                value=shown,
                bound=least,
            ),
        )
    )
