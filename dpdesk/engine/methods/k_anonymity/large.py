"""The search of lattices that are not worth walking, and what is said about it."""

from __future__ import annotations

from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.messages import counted, msg
from dpdesk.engine.methods.k_anonymity.anytime import anytime_search, node_budget
from dpdesk.engine.methods.k_anonymity.bounded import (
    MAX_BOUNDED_NODES,
    MAX_BOUNDED_WORK,
    MOST_COUNTED,
    bounded_search,
)
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.search import SearchResult


def search_large(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
    part: int = 1,
) -> SearchResult:
    """The best node of a lattice without counting every node, proven where bounds suffice.

    Branch and bound up to MAX_BOUNDED_NODES nodes, else a heuristic; ``part`` divides the work that
    may be done. Raises Cancelled, and KeyError for an unknown objective.
    """
    if problem.node_count <= MAX_BOUNDED_NODES:
        most = MAX_BOUNDED_NODES if problem.constraints is not None else MOST_COUNTED
        return bounded_search(
            problem, objective, k, max_suppressed, token, report,
            max_nodes=most, max_work=MAX_BOUNDED_WORK // part,
        )  # fmt: skip
    budget = max(1, node_budget(problem) // part)
    return anytime_search(problem, objective, k, max_suppressed, token, report, budget)


def large_note(problem: LatticeProblem, objective: str, found: SearchResult) -> Note | None:
    """How far a search of a large lattice got, in one sentence; None when nothing is feasible."""
    if found.node is None or found.statistics is None:
        return None
    looked = msg(
        "{nodes_checked:,} of {node_count:,} combinations of levels",
        nodes_checked=found.nodes_checked,
        node_count=problem.node_count,
    )
    if found.proven_optimal:
        return Note(
            "search.proven-by-bounds",
            msg(
                "{looked} were counted; bounds prove that none of the others is better.",
                looked=looked,
            ),
        )
    rows = found.statistics.suppressed
    value = found.statistics.objective(objective)
    shown = 1 - value if objective == "precision" else value
    return Note(
        "search.not-exact",
        msg(
            "Only {looked} were looked at, as counting all of them would take too "
            "long; the best of these has {objective} {shown:,.4g} and suppresses "
            "{rows}, and a better one may exist: with fewer "
            "quasi-identifiers, or hierarchies that start with coarser levels, the "
            "search is exact.",
            looked=looked,
            objective=objective.replace("-", " "),
            shown=shown,
            rows=counted("{n:,} row", "{n:,} rows", n=rows),
        ),
    )
