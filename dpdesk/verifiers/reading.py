"""Plain values of a manifest, read strictly: what is not of the expected kind is an error."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from dpdesk.core.frequency import FrequencySource
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plain import fraction_of
from dpdesk.core.release import PublishedTable
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table

# The source of a release as it is handed to verifiers.


class Given(Protocol):
    """Counts of the source, with roles, hierarchies and parameters of the plan."""

    @property
    def source(self) -> FrequencySource:
        """The source's columns, and how many rows have which values."""
        ...

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of every column, in the source's order."""
        ...

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """Hierarchies by column."""
        ...

    @property
    def parameters(self) -> Mapping[str, ParameterValue]:
        """The settings of the method."""
        ...


LAPLACE, GAUSSIAN = "discrete-laplace", "discrete-gaussian"
OTHER = "other"
"""The category that takes all texts without one of their own, where a plan names none."""
_DELTA = 1e-6


def texts(raw: object) -> tuple[str, ...]:
    """A list of texts; none where nothing is said. TypeError for anything else."""
    listed = [] if raw is None else as_list(raw)
    if not all(isinstance(text, str) for text in listed):
        raise TypeError("expected texts")
    return tuple(str(text) for text in listed)


def number(raw: object) -> Fraction:
    """An exact number, as it is written. TypeError, ValueError for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise TypeError("expected a number")
    return fraction_of(str(raw))


def count(raw: object) -> int:
    """A whole number of 1 or more. TypeError, ValueError for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise TypeError("expected a whole number")
    if raw < 1:
        raise ValueError("expected 1 or more")
    return raw


def promised(
    given: Mapping[str, object], stated: Mapping[str, object], change: int | None
) -> dict[str, object]:
    """The parameters of a guarantee with noise, from the settings ``given``.

    ``stated`` are those of the manifest: which column says whose rows belong together is taken from
    there. Raises TypeError, ValueError for settings that name no budget, or two.
    """
    pure = given.get("epsilon") is not None
    if pure is (given.get("rho") is not None):
        raise ValueError("expected epsilon or rho")
    budget = {"epsilon": given["epsilon"]} if pure else {"rho": given["rho"]}
    if not pure:
        budget["delta"] = float(number(given.get("delta", _DELTA)))
    found = {
        **budget,
        "noise": LAPLACE if pure else GAUSSIAN,
        "neighbours": given.get("neighbours", "add-remove"),
        "rows_per_person": count(given.get("rows_per_person", 1)),
    }
    if "cluster" in stated:
        cluster = texts(stated["cluster"])
        if len(cluster) != 1:
            raise ValueError("expected one column")
        found["cluster"] = list(cluster)
    return found if change is None else found | {"minimal_change": change}


def guarantee_of(
    manifest: Mapping[str, object],
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """The guarantee of a manifest, and its parameters. TypeError, KeyError when malformed."""
    stated = as_table(manifest["guarantee"])
    return stated, as_table(stated["parameters"])


def cluster_of(manifest: Mapping[str, object]) -> str | None:
    """The column whose values say which rows are one person's, if the guarantee states one."""
    return next(iter(texts(guarantee_of(manifest)[1].get("cluster"))), None)


def evidence_fault(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    published: PublishedTable,
    token: CancelToken,
) -> str | None:
    """Why the counts in the evidence cannot belong to this manifest and table, or None."""
    result, stated = evidence.get("result"), manifest.get("result")
    if not isinstance(result, Mapping) or not isinstance(stated, Mapping):
        return "gives no `result`"
    for key, value in stated.items():
        if result.get(key) != value:
            return msg("`{key}` of its result is not the one of the manifest", key=key)
    source = evidence.get("source")
    if not isinstance(source, Mapping) or source.get("rows") != published.rows:
        return "its source has another number of rows than the release"
    return None
