"""The settings of a graph, read from the parameters of a plan and checked together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import ParameterValue, Texts, nearest
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.plans import Noise
from dpdesk.engine.graphs.known import KnownDegrees
from dpdesk.engine.graphs.parameters import DEGREES, DIRECTED, IN, NONE, OUT, REPLACE

_TWO = 2
LEAST_NODES, MOST_NODES = 3, 4096
_NOT_ENDS = {
    Role.IDENTIFIER: "identifies persons",
    Role.WEIGHT: "is a weight",
    Role.CLUSTER: "says whose rows belong together",
}


@dataclass(frozen=True)
class GraphSettings:
    """All settings with their types. ``nodes`` is None where a hierarchy declares them.

    ``exact_first`` and ``exact_second`` name the nodes whose degrees are exact (of directed edges:
    out-degrees and in-degrees), None for all; ``budget`` is in epsilon or rho, as ``noise`` says.
    """

    directed: bool
    ends: tuple[str, str]
    nodes: tuple[str, ...] | None
    exact_first: tuple[str, ...] | None
    exact_second: tuple[str, ...] | None
    exact_edges: bool
    noise: Noise
    budget: Fraction
    delta: Fraction
    replace: bool
    rows_per_person: int

    @classmethod
    def from_parameters(cls, values: Mapping[str, ParameterValue], where: str) -> GraphSettings:
        """Read checked parameters; raises InputError ``graph.*`` where they do not go together."""
        directed, ends = values["graph"] == DIRECTED, _texts(values["ends"])
        if len(ends) != _TWO or ends[0] == ends[1]:
            sentence = f"`ends` names {len(set(ends))} different columns, expected 2"
            raise _error("graph.ends", where, sentence, "ends")
        nodes = _texts(values["nodes"]) or None
        first, second = _exact(values, directed, where)
        noise, budget = _budget(values, where)
        return cls(
            directed=directed,
            ends=(ends[0], ends[1]),
            nodes=nodes,
            exact_first=first,
            exact_second=second,
            exact_edges=values["exact_edges"] is True,
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
    listed, others = _texts(values["exact_nodes"]), _texts(values["exact_in_nodes"])
    if not directed and (asked in (OUT, IN) or others):
        key = "exact_in_nodes" if others else "exact"
        sentence = f"`{key}` names out- or in-degrees, which edges without direction do not have"
        raise _error("graph.exact", where, sentence, key)
    if (others and asked != DEGREES) or (listed and asked == NONE):
        key = "exact_in_nodes" if others else "exact_nodes"
        sentence = f"`{key}` names nodes, but `exact` is {asked}"
        raise _error("graph.exact", where, sentence, key)
    for key in ("exact_nodes", "exact_in_nodes"):
        if isinstance(values[key], Texts) and not _texts(values[key]):
            sentence = f"`{key}` names no node, which would mean all of them"
            hint = f"Leave `{key}` out for all nodes, or list some."
            raise InputError(
                "graph.exact", f"{where}: {sentence}.", hint=hint, details={"key": key}
            )
    some = listed or None
    first = some if asked in (DEGREES, OUT) else ()
    second = ((others or some) if asked == DEGREES else some) if asked in (DEGREES, IN) else ()
    return first, second if directed else ()


def _budget(values: Mapping[str, ParameterValue], where: str) -> tuple[Noise, Fraction]:
    epsilon, rho = values["epsilon"], values["rho"]
    if (epsilon is None) == (rho is None):
        found = "neither `epsilon` nor `rho`" if epsilon is None else "both `epsilon` and `rho`"
        raise _error("graph.budget", where, f"found {found}, expected one of them", "epsilon")
    kind = Noise.LAPLACE if rho is None else Noise.GAUSSIAN
    return kind, Fraction(str(epsilon if rho is None else rho))


def _places(names: Sequence[str], nodes: Sequence[str], where: str) -> frozenset[int]:
    places = {node: place for place, node in enumerate(nodes)}
    found: set[int] = set()
    for name in names:
        if name not in places:
            near = nearest(name, nodes)
            raise InputError(
                "graph.exact",
                f"{where}: exact degrees are asked of {quoted(name)}, which is no declared node.",
                hint=f"Did you mean {quoted(near)}?" if near else "",
                details={"key": "exact_nodes"},
            )
        if places[name] in found:
            sentence = f"exact degrees are asked of the node {quoted(name)} twice"
            raise _error("graph.exact", where, sentence, "exact_nodes")
        found.add(places[name])
    return frozenset(found)


def check_columns(
    settings: GraphSettings, columns: Sequence[str], roles: Mapping[str, Role], where: str
) -> None:
    """Check names and roles; raises InputError ``plan.unknown-column``, ``graph.role``."""
    for name in settings.ends:
        if name not in columns:
            near = nearest(name, columns)
            raise InputError(
                "plan.unknown-column",
                f"{where}: the source has no column {quoted(name)}.",
                hint=f"Did you mean `{near}`?" if near else "",
                details={"key": "ends", "nearest": near},
            )
        reason = _NOT_ENDS.get(roles[name])
        if reason is not None:
            sentence = f"`{name}` {reason} (role {roles[name].value}), so it names no end"
            raise _error("graph.role", where, sentence, "ends")
    for name, role in roles.items():
        if role is Role.WEIGHT:
            sentence = f"`{name}` has the role weight, but an edge is there or not"
            raise _error("graph.role", where, sentence, "ends")
    clusters = [name for name, role in roles.items() if role is Role.CLUSTER]
    if len(clusters) > 1:
        sentence = f"{len(clusters)} columns have the role cluster, expected at most one"
        raise _error("graph.role", where, sentence, "ends")


def _texts(value: ParameterValue) -> tuple[str, ...]:
    return tuple(value.items) if isinstance(value, Texts) else ()


def _error(code: str, where: str, sentence: str, key: str) -> InputError:
    return InputError(code, f"{where}: {sentence}.", details={"key": key})
