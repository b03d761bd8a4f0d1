"""The settings of a graph, read from the parameters of a plan and checked together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue, Texts, nearest
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_graph.known import KnownDegrees
from dpdesk.engine.methods.dp_graph.parameters import DEGREES, DIRECTED, IN, NONE, OUT, UNKNOWN
from dpdesk.engine.private.origins import FROM_FILE
from dpdesk.engine.private.settings import (
    NOT_SPANNING,
    REPLACE,
    PrivateSettings,
    check_clusters,
    check_named,
    misfit,
    read_budget,
    texts_of,
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
            sentence = msg("exact degrees are asked of the node {name} twice", name=quoted(name))
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
    for name, role in roles.items():
        if role is Role.WEIGHT:
            sentence = msg("`{name}` has the role weight, but an edge is there or not", name=name)
            raise misfit("graph.role", where, sentence, "ends")
    check_clusters(roles, "graph.role", "ends", where)
