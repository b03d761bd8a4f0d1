"""The settings of a graph, read from the parameters of a plan and checked together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    FlagParameter,
    Parameter,
    ParameterValue,
    TextListParameter,
    Texts,
    nearest,
)
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_graph.known import KnownDegrees
from dpdesk.engine.private.origins import FROM_CODES, FROM_DATA, FROM_FILE, TYPED
from dpdesk.engine.private.settings import (
    NOT_SPANNING,
    REPLACE,
    PrivateSettings,
    becomes,
    check_clusters,
    check_named,
    delta_parameter,
    epsilon_parameter,
    misfit,
    neighbours_parameter,
    read_budget,
    rho_parameter,
    rows_parameter,
    texts_of,
    ticked,
    weights_of,
)

# The keys of a plan's ``[protection]`` for a graph.


UNKNOWN = "unknown"
UNDIRECTED, DIRECTED = "undirected", "directed"
NONE, DEGREES, OUT, IN = "none", "degrees", "out-degrees", "in-degrees"

PARAMETERS: tuple[Parameter, ...] = (
    ChoiceParameter(
        "graph",
        "Edges",
        "Whether an edge has a direction. A pair of nodes is at most one edge: repeated rows "
        "count once, and rows from a node to itself are left out.",
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
        "All possible nodes, in the order of the release; to be declared without looking at the "
        "data. If empty, those of the first column's hierarchy file. A node `other` takes all "
        "others; without one, their rows are left out.",
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
        "Degrees that are released exactly: nothing protects them, and the edges get more noise, "
        "so that they are protected as much alongside them.",
        choices=(
            Choice(NONE, "None"),
            Choice(DEGREES, "Degrees", "Of directed edges: out-degrees and in-degrees."),
            Choice(OUT, "Only out-degrees", "For directed edges."),
            Choice(IN, "Only in-degrees", "For directed edges."),
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
        "The change that is covered, such as one edge more or less, makes no output more likely "
        "by a factor of more than e^ε.",
    ),
    rho_parameter(
        "The budget for Gaussian noise, in zero-concentrated differential privacy; instead of ε.",
    ),
    delta_parameter(),
    neighbours_parameter(
        "The two graphs that no one should be able to distinguish.",
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


_TWO = 2
LEAST_NODES, MOST_NODES = 3, 4096


@dataclass(frozen=True)
class GraphSettings(PrivateSettings):
    """All settings with their types. ``nodes`` is None where a hierarchy declares them;
    ``origins`` says where listed ones come from, as far as the plan knows it.

    ``exact_first`` and ``exact_second`` name the nodes whose degrees are exact (of directed edges:
    out-degrees and in-degrees), None for all.
    """

    directed: bool
    ends: tuple[str, str]
    nodes: tuple[str, ...] | None
    exact_first: tuple[str, ...] | None
    exact_second: tuple[str, ...] | None
    exact_edges: bool
    origins: str = UNKNOWN

    @classmethod
    def from_parameters(cls, values: Mapping[str, ParameterValue], where: str) -> GraphSettings:
        """Read checked parameters; raises InputError ``graph.*`` where they do not go together."""
        directed, ends = values["graph"] == DIRECTED, texts_of(values["ends"])
        if len(ends) != _TWO or ends[0] == ends[1]:
            sentence = msg("`ends` names {set} different columns, expected 2", set=len(set(ends)))
            raise misfit("graph.ends", where, sentence, "ends")
        nodes = texts_of(values["nodes"]) or None
        first, second = _exact(values, directed, where)
        noise, budget = read_budget(values, "graph.budget", where)
        return cls(
            directed=directed,
            ends=(ends[0], ends[1]),
            nodes=nodes,
            exact_first=first,
            exact_second=second,
            exact_edges=values["exact_edges"] is True,
            origins=FROM_FILE if nodes is None else str(values["origins"]),
            noise=noise,
            budget=budget,
            delta=Fraction(str(values["delta"])),
            replace=values["neighbours"] == REPLACE,
            rows_per_person=int(str(values["rows_per_person"])),
        )

    @property
    def any_exact(self) -> bool:
        """Whether anything is released without noise."""
        return self.exact_edges or self.exact_first != () or self.exact_second != ()

    def released(self, nodes: Sequence[str], where: str) -> KnownDegrees:
        """What is released exactly, by places among the nodes; InputError ``graph.exact``."""
        first, second = (
            frozenset(range(len(nodes))) if names is None else _places(names, nodes, where)
            for names in (self.exact_first, self.exact_second)
        )
        return KnownDegrees(len(nodes), self.directed, first, second, self.exact_edges).closed()


def _exact(
    values: Mapping[str, ParameterValue], directed: bool, where: str
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The nodes of the first and of the second kind of degrees: none, some, or all (None)."""
    asked = str(values["exact"])
    listed, others = texts_of(values["exact_nodes"]), texts_of(values["exact_in_nodes"])
    if not directed and (asked in (OUT, IN) or others):
        key = "exact_in_nodes" if others else "exact"
        sentence = msg(
            "`{key}` names out- or in-degrees, which edges without direction do not have", key=key
        )
        raise misfit("graph.exact", where, sentence, key)
    if (others and asked != DEGREES) or (listed and asked == NONE):
        key = "exact_in_nodes" if others else "exact_nodes"
        sentence = msg("`{key}` names nodes, but `exact` is {asked}", key=key, asked=asked)
        raise misfit("graph.exact", where, sentence, key)
    for key in ("exact_nodes", "exact_in_nodes"):
        if isinstance(values[key], Texts) and not texts_of(values[key]):
            sentence = msg("`{key}` names no node, which would mean all of them", key=key)
            hint = msg("Leave `{key}` out for all nodes, or list some.", key=key)
            raise InputError(
                "graph.exact",
                msg("{path}: {reason}.", path=where, reason=sentence),
                hint=hint,
                details={"key": key},
            )
    some = listed or None
    first = some if asked in (DEGREES, OUT) else ()
    second = ((others or some) if asked == DEGREES else some) if asked in (DEGREES, IN) else ()
    return first, second if directed else ()


def _places(names: Sequence[str], nodes: Sequence[str], where: str) -> frozenset[int]:
    places = {node: place for place, node in enumerate(nodes)}
    found: set[int] = set()
    for name in names:
        if name not in places:
            near = nearest(name, nodes)
            raise InputError(
                "graph.exact",
                msg(
                    (
                        "{where}: exact degrees are requested for {name}, which is not a "
                        "declared node."
                    ),
                    where=where,
                    name=quoted(name),
                ),
                hint=msg("Did you mean {near}?", near=quoted(near)) if near else "",
                details={"key": "exact_nodes"},
            )
        if places[name] in found:
            sentence = msg(
                "exact degrees are requested twice for the node {name}", name=quoted(name)
            )
            raise misfit("graph.exact", where, sentence, "exact_nodes")
        found.add(places[name])
    return frozenset(found)


def check_columns(
    settings: GraphSettings, columns: Sequence[str], roles: Mapping[str, Role], where: str
) -> None:
    """Check names and roles; raises InputError ``plan.unknown-column``, ``graph.role``."""
    for name in settings.ends:
        check_named(name, columns, "ends", where)
        reason = NOT_SPANNING.get(roles[name])
        if reason is not None:
            sentence = msg(
                "`{name}` {reason} (role {roles}), so it names no end",
                name=name,
                reason=reason,
                roles=roles[name].value,
            )
            raise misfit("graph.role", where, sentence, "ends")
    if names := weights_of(roles):
        sentence = counted(
            "{names} has the role weight, but an edge is there or not",
            "{names} have the role weight, but an edge is there or not",
            n=len(names),
            names=ticked(names),
        )
        raise misfit("graph.role", where, sentence, "ends", becomes(names, Role.INSENSITIVE))
    check_clusters(roles, "graph.role", "ends", where)
