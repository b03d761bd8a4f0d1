"""The settings of diverted privacy: what a plan may say, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    IntegerParameter,
    LevelsParameter,
    Parameter,
    ParameterValue,
    ShareParameter,
    TextListParameter,
    Texts,
    nearest,
)
from dpdesk.core.schema import Role
from dpdesk.engine.decoys import LARGEST_FIRST, MIXED

_L = IntegerParameter(
    key="l",
    label="ℓ′, values in a hidden group",
    help="Every published value is drawn from this many different values, all with the "
    "same chance.",
    unit="values",
    required=True,
    minimum=2,
    maximum=1000,
    suggested=5,
)
_SENSITIVE = TextListParameter(
    key="sensitive",
    label="Sensitive columns",
    help="The columns whose values are drawn; if empty, all columns with the role sensitive.",
    role=Role.SENSITIVE,
)
_PARTITION = ChoiceParameter(
    key="partition",
    label="Hidden groups",
    help="How rows are put into the hidden groups within which values are drawn.",
    choices=(
        Choice(
            MIXED,
            "Mixed: every value meets every other",
            "Systematic sampling in proportion to the remaining rows of each value; estimates are "
            "about twice as accurate where other columns reveal something about the sensitive one.",
        ),
        Choice(
            LARGEST_FIRST,
            "Largest first: the rule of the paper, for comparison",
            "One row of each of the values with the most rows left: frequent values always meet "
            "each other.",
        ),
    ),
    default=MIXED,
)
_LEVELS = LevelsParameter(
    key="levels",
    label="Levels of the sensitive columns",
    help="Level of its hierarchy at which a sensitive column is released; otherwise its "
    "own values.",
)
_K = IntegerParameter(
    key="k",
    label="k, the smallest class (none: only drawn values)",
    help="Make the quasi-identifiers k-anonymous first, so that fewer people can find a row.",
    unit="rows",
    minimum=2,
)
_MAX_SUPPRESSION = ShareParameter(
    key="max_suppression",
    label="Rows suppressed for k, at most",
    help="Share of the rows that may be left out to reach k; 0 if empty.",
)

PARAMETERS: tuple[Parameter, ...] = (
    _L,
    _SENSITIVE,
    _PARTITION,
    _LEVELS,
    _K,
    _MAX_SUPPRESSION,
)


@dataclass(frozen=True)
class Settings:
    """The checked parameters under their own names; ``k`` is None when only values are drawn."""

    l: int  # noqa: E741 - the plan's own key
    sensitive: tuple[str, ...] | None
    partition: str
    levels: Mapping[str, int]
    k: int | None
    max_suppression: Fraction

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, ParameterValue]) -> Settings:
        """Settings from what :func:`~dpdesk.core.parameters.parse_parameters` returned.

        TypeError when a value has a type that parsing cannot give.
        """
        size, k, named = parameters["l"], parameters.get("k"), parameters.get("sensitive")
        share, levels = parameters.get("max_suppression"), parameters.get("levels")
        if not isinstance(size, int) or not isinstance(k, int | None):
            raise TypeError("l and k must have been parsed")
        return cls(
            l=size,
            sensitive=named.items if isinstance(named, Texts) and named.items else None,
            partition=str(parameters["partition"]),
            levels=MappingProxyType(dict(levels) if isinstance(levels, tuple) else {}),
            k=k,
            max_suppression=Fraction(share) if isinstance(share, int | Fraction) else Fraction(0),
        )

    def diverted(self, roles: Mapping[str, Role]) -> tuple[str, ...]:
        """The columns whose values are drawn, in source order."""
        if self.sensitive is None:
            return tuple(name for name, role in roles.items() if role is Role.SENSITIVE)
        return tuple(name for name in roles if name in self.sensitive)


def named_roles(
    roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]
) -> dict[str, Role]:
    """The roles, with ``sensitive`` for listed columns that had none of their own."""
    named = parameters.get("sensitive")
    listed = frozenset(named.items) if isinstance(named, Texts) else frozenset()
    return {
        name: Role.SENSITIVE if name in listed and role is Role.INSENSITIVE else role
        for name, role in roles.items()
    }


def check_settings(
    columns: Sequence[str],
    roles: Mapping[str, Role],
    parameters: Mapping[str, ParameterValue],
    where: str,
) -> None:
    """Check columns, roles and levels against each other, before any data are read.

    Raises InputError ``diverted.*``; the sentences start with ``where``.
    """
    settings = Settings.from_parameters(parameters)
    for name in settings.sensitive or ():
        _check_listed(name, columns, roles, where)
    if len(set(settings.sensitive or ())) != len(settings.sensitive or ()):
        raise InputError(
            "diverted.twice",
            msg("{where}, sensitive: a column is named twice.", where=where),
            details={"key": "sensitive"},
        )
    diverted = settings.diverted(roles)
    if not diverted:
        raise InputError(
            "diverted.no-sensitive",
            msg("{where}: no column is sensitive, expected at least one.", where=where),
            hint="Name it in `sensitive`, or give it the role sensitive.",
            details={"key": "sensitive", "role": Role.SENSITIVE.value},
        )
    for name in settings.levels:
        if name not in diverted:
            raise InputError(
                "diverted.levels",
                msg(
                    "{where}, levels: `{name}` is not a column whose values are drawn.",
                    where=where,
                    name=name,
                ),
                details={"key": "levels", "attribute": name},
            )
    if settings.k is not None and Role.QUASI_IDENTIFIER not in roles.values():
        raise InputError(
            "diverted.no-quasi-identifier",
            msg("{where}: `k` is given, but no column is a quasi-identifier.", where=where),
            hint="Give the role quasi-identifier to what others may know of a person, or "
            "remove `k`.",
            details={"key": "k"},
        )


def _check_listed(name: str, columns: Sequence[str], roles: Mapping[str, Role], where: str) -> None:
    if name not in columns:
        near = nearest(name, columns)
        raise InputError(
            "plan.unknown-column",
            msg("{where}, sensitive: there is no column `{name}`.", where=where, name=name),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"key": "sensitive", "nearest": near},
        )
    role = roles.get(name, Role.INSENSITIVE)
    if role is not Role.SENSITIVE:
        raise InputError(
            "diverted.role",
            msg(
                "{where}, sensitive: `{name}` has the role {value}, expected sensitive.",
                where=where,
                name=name,
                value=role.value,
            ),
            hint="Give it the role sensitive, or take it off the list.",
            details={"key": "sensitive", "attribute": name, "role": Role.SENSITIVE.value},
        )
