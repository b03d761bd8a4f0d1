"""What the public parameters of a graph ask for, as the verifier reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.shapes import as_table
from dpdesk.verifiers.reading import count, number, texts

Nodes = tuple[str, ...] | None


@dataclass(frozen=True)
class Asked:
    """The release that the settings describe.

    ``nodes`` is None where a hierarchy declares them; ``exact_first`` and ``exact_second`` are the
    nodes with exact degrees (out- and in-degrees of directed edges), None for all.
    """

    directed: bool
    ends: tuple[str, str]
    nodes: Nodes
    exact_first: Nodes
    exact_second: Nodes
    exact_edges: bool
    gaussian: bool
    budget: Fraction
    replace: bool
    rows_per_person: int

    @property
    def any_exact(self) -> bool:
        """Whether anything is released without noise."""
        return self.exact_edges or self.exact_first != () or self.exact_second != ()


def asked_of(manifest: Mapping[str, object]) -> Asked:
    """The settings in a manifest. Raises ValueError, TypeError, KeyError when malformed."""
    given = as_table(manifest["parameters"])
    first, second = texts(given["ends"])
    directed, exact = given.get("graph") == "directed", given.get("exact", "none")
    named = texts(given.get("exact_nodes")) or None
    into = texts(given.get("exact_in_nodes")) or named
    gaussian = given.get("rho") is not None
    return Asked(
        directed=directed,
        ends=(first, second),
        nodes=texts(given.get("nodes")) or None,
        exact_first=named if exact in ("degrees", "out-degrees") else (),
        exact_second=(into if directed and exact in ("degrees", "in-degrees") else ()),
        exact_edges=given.get("exact_edges") is True,
        gaussian=gaussian,
        budget=number(given["rho" if gaussian else "epsilon"]),
        replace=given.get("neighbours") == "replace",
        rows_per_person=count(given.get("rows_per_person", 1)),
    )
