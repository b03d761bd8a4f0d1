"""The keys of a plan's ``[protection]`` for a graph."""

from __future__ import annotations

from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    FlagParameter,
    Parameter,
    TextListParameter,
)
from dpdesk.engine.private.origins import FROM_CODES, FROM_DATA, FROM_FILE, TYPED
from dpdesk.engine.private.settings import (
    delta_parameter,
    epsilon_parameter,
    neighbours_parameter,
    rho_parameter,
    rows_parameter,
)

UNKNOWN = "unknown"
UNDIRECTED, DIRECTED = "undirected", "directed"
NONE, DEGREES, OUT, IN = "none", "degrees", "out-degrees", "in-degrees"

PARAMETERS: tuple[Parameter, ...] = (
    ChoiceParameter(
        "graph",
        "Edges",
        "Whether an edge has a direction. A pair of nodes is one edge at most: repeated rows count "
        "once, and rows from a node to itself are left out.",
        choices=(
            Choice(UNDIRECTED, "have no direction", "Rows a, b and b, a are the same edge."),
            Choice(DIRECTED, "have a direction", "From the first column to the second."),
        ),
        default=UNDIRECTED,
    ),
    TextListParameter(
        "ends",
        "Columns of the two ends",
        "The two columns that name the ends of an edge; for directed edges, from and to.",
        required=True,
    ),
    TextListParameter(
        "nodes",
        "Nodes",
        "All nodes that there can be, in the order of the release; to be declared without "
        "looking at the data. Without it, those of the first column's hierarchy file. A node "
        "`other` takes all others; without one, their rows are left out.",
    ),
    ChoiceParameter(
        "origins",
        "Where the nodes come from",
        "Who or what declared the nodes; the guarantee states it. Without a list they are "
        "those of a hierarchy file, regardless of what is given here.",
        choices=(
            Choice(UNKNOWN, "Not recorded"),
            Choice(TYPED, "Written by hand"),
            Choice(FROM_FILE, "A file", "One that was there before the data."),
            Choice(FROM_CODES, "The code list of the source"),
            Choice(FROM_DATA, "The data", "Then being listed shows that a node occurs in them."),
        ),
        default=UNKNOWN,
    ),
    ChoiceParameter(
        "exact",
        "Degrees without noise",
        "Degrees that are released exactly: nothing protects them, and the edges get more "
        "noise, so that they hide as much alongside them.",
        choices=(
            Choice(NONE, "None"),
            Choice(DEGREES, "Degrees", "Of directed edges: out-degrees and in-degrees."),
            Choice(OUT, "Out-degrees alone", "For directed edges."),
            Choice(IN, "In-degrees alone", "For directed edges."),
        ),
        default=NONE,
    ),
    TextListParameter(
        "exact_nodes",
        "Of these nodes",
        "The nodes whose degrees are exact; without it, all nodes.",
        applies=Condition("exact", (DEGREES, OUT, IN)),
    ),
    TextListParameter(
        "exact_in_nodes",
        "In-degrees of these nodes",
        "The nodes whose in-degrees are exact, where these are others than those whose out-degrees "
        "are.",
        applies=Condition("exact", (DEGREES,)),
    ),
    FlagParameter(
        "exact_edges",
        "Number of edges without noise",
        "Release the number of all edges exactly.",
    ),
    epsilon_parameter(
        "The change that is covered, such as one edge more or less, makes no output more likely by "
        "more than ×e^ε.",
    ),
    rho_parameter(
        "The budget for Gaussian noise, in zero-concentrated differential privacy; instead of ε.",
    ),
    delta_parameter(),
    neighbours_parameter(
        "The two graphs that no one is to be able to tell apart.",
        "One edge",
        "Its presence is protected.",
        "The number of edges is known.",
    ),
    rows_parameter(
        "Edges per person, at most",
        "Edges of one person that the noise hides together. With a cluster column, further rows "
        "of a person are left out; without one, the plan vouches for it.",
        "edges",
    ),
)
