"""What the settings of every method with noise share: its budget, and whom the noise hides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from dpdesk.core.budget import (
    Neighbours,
    ProtectedUnit,
    PureEpsilon,
    ZeroConcentrated,
    amount,
)
from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    IntegerParameter,
    ParameterValue,
    Texts,
    nearest,
)
from dpdesk.core.plain import quoted
from dpdesk.core.release import Manifest
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import Charge

ADD_REMOVE, REPLACE = "add-remove", "replace"
"""Choices of the parameter ``neighbours``."""
NO_FIX: Mapping[str, object] = MappingProxyType({})
NOT_SPANNING = {
    Role.IDENTIFIER: "identifies persons",
    Role.WEIGHT: "is a weight",
    Role.CLUSTER: "says whose rows belong together",
}
"""Why columns of these roles are none that a table goes by."""


@dataclass(frozen=True)
class PrivateSettings:
    """The budget, in epsilon or rho as ``noise`` says, and what it buys.

    ``delta`` is the chance with which an epsilon made of rho may fail. With ``replace``, a person
    (of ``rows_per_person`` rows at most) is replaced by another rather than added or removed.
    """

    noise: Noise
    budget: Fraction
    delta: Fraction
    replace: bool
    rows_per_person: int

    @property
    def pure(self) -> bool:
        """Whether the budget is in epsilon."""
        return self.noise is Noise.LAPLACE

    def charge(self, cluster: str | None, outside: str) -> Charge:
        """What they cost, without the draws that a design will make."""
        cost = PureEpsilon(self.budget) if self.pure else ZeroConcentrated(self.budget)
        neighbours = Neighbours.REPLACE if self.replace else Neighbours.ADD_REMOVE
        return Charge(
            cost, (), neighbours, ProtectedUnit(self.rows_per_person, cluster or ""), outside
        )


def rho_parameter(help_text: str) -> PositiveParameter:
    """The parameter ``rho``."""
    return PositiveParameter("rho", "ρ, the privacy loss (zCDP)", help_text)


def epsilon_parameter(help_text: str) -> PositiveParameter:
    """The parameter ``epsilon``."""
    return PositiveParameter("epsilon", "ε, the privacy loss", help_text, replaces=("delta",))


def delta_parameter() -> PositiveParameter:
    """The parameter ``delta``."""
    return PositiveParameter(
        "delta",
        "δ, for display",
        "With `rho`: the probability with which the ε that is shown may not hold.",
        default=Fraction(1, 1_000_000),
        below=Fraction(1),
    )


def rows_parameter(label: str, help_text: str, unit: str = "rows") -> IntegerParameter:
    """The parameter ``rows_per_person``."""
    return IntegerParameter(
        "rows_per_person",
        label,
        help_text,
        unit=unit,
        minimum=1,
        maximum=1_000_000,
        default=1,
    )


def neighbours_parameter(
    help_text: str = "Between which two databases the difference is hidden.",
    label: str = "One person",
    added: str = "A person's presence is protected.",
    replaced: str = "The number of persons is known.",
) -> ChoiceParameter:
    """The parameter ``neighbours``; ``added`` and ``replaced`` say what each choice means."""
    choices = (
        Choice(ADD_REMOVE, "is added or removed", added),
        Choice(REPLACE, "is replaced by another", replaced),
    )
    return ChoiceParameter("neighbours", label, help_text, choices=choices, default=ADD_REMOVE)


def read_budget(
    values: Mapping[str, ParameterValue], code: str, where: str
) -> tuple[Noise, Fraction]:
    """The kind of noise and the budget; InputError ``code`` unless exactly one is given."""
    epsilon, rho = values["epsilon"], values["rho"]
    if (epsilon is None) == (rho is None):
        found = "neither `epsilon` nor `rho`" if epsilon is None else "both `epsilon` and `rho`"
        raise misfit(
            code, where, msg("found {found}, expected one of them", found=found), "epsilon"
        )
    kind = Noise.LAPLACE if rho is None else Noise.GAUSSIAN
    return kind, amount(epsilon if rho is None else rho, "epsilon" if rho is None else "rho")


def check_named(name: str, columns: Sequence[str], key: str, where: str) -> None:
    """Raise InputError ``plan.unknown-column`` when the source has no such column."""
    if name not in columns:
        near = nearest(name, columns)
        raise InputError(
            "plan.unknown-column",
            msg("{where}: the source has no column {name}.", where=where, name=quoted(name)),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"key": key, "nearest": near},
        )


def check_clusters(roles: Mapping[str, Role], code: str, key: str, where: str) -> None:
    """Raise InputError ``code`` when more than one column says whose rows belong together."""
    clusters = [name for name, role in roles.items() if role is Role.CLUSTER]
    if len(clusters) > 1:
        sentence = msg(
            "{clusters} columns have the role cluster, expected at most one", clusters=len(clusters)
        )
        raise misfit(code, where, sentence, key)


def cluster_of(roles: Mapping[str, Role]) -> str | None:
    """The column that says whose rows belong together, if there is one."""
    return next((name for name, role in roles.items() if role is Role.CLUSTER), None)


def stated_cluster(manifest: Manifest) -> str | None:
    """The column that a guarantee states to say so. Raises TypeError for a malformed one."""
    names = as_list(manifest.guarantee.parameters.get("cluster", []))
    return str(names[0]) if names else None


def texts_of(value: ParameterValue) -> tuple[str, ...]:
    """The texts of a list; none where there is no list."""
    return value.items if isinstance(value, Texts) else ()


def misfit(
    code: str, where: str, sentence: str, key: str, fix: Mapping[str, object] = NO_FIX
) -> InputError:
    """Settings that do not go together; ``key`` is the parameter to look at.

    ``fix`` are details that say what would do, such as those of :func:`becomes`.
    """
    words = msg("{path}: {reason}.", path=where, reason=sentence)
    return InputError(code, words, details={"key": key, **fix})


def becomes(columns: Sequence[str], role: Role) -> Mapping[str, object]:
    """Details of a problem that goes away when columns get another role."""
    return {"columns": list(columns), "becomes": role.value}


def weights_of(roles: Mapping[str, Role]) -> list[str]:
    """The columns with the role weight."""
    return [name for name, role in roles.items() if role is Role.WEIGHT]


def check_each_counts_once(roles: Mapping[str, Role], code: str, where: str, key: str) -> None:
    """Raises InputError ``code`` where columns have the role weight; ``key`` is that of misfit."""
    if names := weights_of(roles):
        sentence = counted(
            "{names} has the role weight, but rows are counted once",
            "{names} have the role weight, but rows are counted once",
            n=len(names),
            names=ticked(names),
        )
        raise misfit(code, where, sentence, key, becomes(names, Role.INSENSITIVE))


def ticked(names: Sequence[str]) -> str:
    """Names of columns as a sentence lists them."""
    return listed([f"`{name}`" for name in names])
