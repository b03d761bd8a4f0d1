"""Graphs with noise as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dpdesk.core.asks import Ask
from dpdesk.core.capabilities import Capabilities, Content, Protection, Spending, Use
from dpdesk.core.export_formats import PLAIN
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.method_card import ANYONE, EVERYONE, MethodCard
from dpdesk.core.parameters import Parameter
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.method import Exploration
from dpdesk.engine.methods.dp_graph.settings import PARAMETERS
from dpdesk.engine.private.method import (
    Checking,
    Design,
    PrivateInput,
    PrivateMethod,
    Reading,
)
from dpdesk.engine.private.public_fields import CHECKED_BY, DESIGNED, GUARANTEED
from dpdesk.engine.querying import Questions

# What a graph with noise may show; see :mod:`dpdesk.engine.private.public_fields`.


PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("graph", "ends[]", "nodes[]", "origins", "exact", "exact_nodes[]", "exact_in_nodes[]"),
        *("exact_edges", "epsilon", "rho", "delta", "neighbours", "rows_per_person"),
    ),
    *GUARANTEED,
    *DESIGNED,
    *fields_of(
        Tells.NOTHING,
        "Which table of the graph it is; the nodes are declared in the plan.",
        "result.cuboids[].table",
        "result.cuboids[].pairs",
    ),
    PublicField(
        "result.cuboids[].variances[][]",
        Tells.NOTHING,
        "Where cells of a table have different variances: how many have which, from the scales of "
        "the noise and from which degrees are exact, not from what they are.",
    ),
)
CARD = MethodCard(
    protects=(
        "Someone who knows all other edges, and tries to find out whether a given edge is in "
        "the graph.",
    ),
    leaves=(
        "A person's edges all together, where the plan does not say how many are hidden together.",
        "Numbers that are released exactly.",
    ),
    suits=("It is to be published how strongly groups or places are connected.",),
    unfit=("The nodes themselves are secret: their list is public.",),
    sources=("Background knowledge in differential privacy: exact cuboids in a noisy data cube",),
    corrections=(
        "For undirected graphs with n exact degrees the paper's smallest change, the lesser "
        "of n + 1 and the number of nodes, is too small; 2n + 1 is safe, and 2n where all "
        "degrees are exact.",
    ),
    readers=EVERYONE,
    attackers=ANYONE,
)


class DpGraph(PrivateMethod):
    """The edges of a graph with integer noise, beside degrees that may be released exactly.

    Source: exact cuboids paper, section 5, with both parts of its Lemma 5.1 corrected
    (resources/docs/graphs.md).
    """

    id: ClassVar[str] = "dp-graph"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.GRAPH,
        Protection.NOISE,
        Spending.EDGES,
        folders=("graph",),
        exports=PLAIN,
        uses=frozenset({Use.ASKED}),
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "Differentially private graph"
    summary: ClassVar[str] = (
        "Release who is connected with whom, with random noise scaled to what one edge can change, "
        "and the numbers of edges of each node, with noise or exactly."
    )
    promise: ClassVar[str] = (
        "One edge more or less (or another in the same place, as the plan says) makes no output "
        "more likely by a factor of more than e^ε; with ρ, except with a chance of δ. Alongside "
        "exact numbers, it is a minimal change that is covered, and the exact numbers are not."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    asks: ClassVar[tuple[Ask, ...]] = (
        Ask(
            ("ends",),
            "Check the two columns that name the ends of an edge. Nothing is counted.",
            least=2,
        ),
        Ask(
            ("nodes",),
            "List all possible nodes under “Nodes”, or give {column} a hierarchy file that was "
            "not made from the data: a private release must not learn them from the data.",
            by_file="ends",
        ),
    )
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = CHECKED_BY

    def reading(self) -> Reading[Any]:
        """See :meth:`PrivateMethod.reading`."""
        from dpdesk.engine.methods.dp_graph.settings import GraphSettings, check_columns
        from dpdesk.engine.methods.dp_graph.words import price_of

        return Reading(GraphSettings.from_parameters, check_columns, price_of)

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.dp_graph.querying import answer_graph, askable_graph

        return Questions(askable_graph, answer_graph)

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """See :meth:`PrivateMethod.design`; InputError ``graph.*``, ``cube.*``."""
        from dpdesk.engine.methods.dp_graph.design import design_graph

        return design_graph(given, token)

    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """See :meth:`PrivateMethod.explore`."""
        from dpdesk.engine.methods.dp_graph.design import design_graph, planned_sentence
        from dpdesk.engine.private.charts import DesignExploration

        return DesignExploration(
            *(given, token, "graph.planned"),
            lambda tried, token, report: design_graph(tried, token),
            planned_sentence,
            1,
        )

    def checking(self) -> Checking[Any]:
        """See :meth:`PrivateMethod.checking`."""
        from dpdesk.engine.methods.dp_graph.words import words_again
        from dpdesk.verifiers.graphs import counted_check, declared_check, verify_graph

        return Checking(words_again, verify_graph, declared_check, counted_check)
