"""What a plan says of an anatomised release, and what it may show in public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    IntegerParameter,
    Parameter,
    ParameterValue,
    TextParameter,
    nearest,
)
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.schema import Role
from dpdesk.engine.method import PlanInput
from dpdesk.engine.methods.k_anonymity.public_fields import ROLES

GROUP, TABLE = "group", "sensitive.csv"
"""The column with the number of a row's group, and the table of the values."""
COUNT, DRAW = "Count the sensitive values", "Draw the groups"

PARAMETERS: tuple[Parameter, ...] = (
    IntegerParameter(
        key="l",
        label="l, values in a group",
        help="Each group has so many rows or more, and all their values are different.",
        unit="values",
        required=True,
        minimum=2,
        maximum=1000,
        suggested=5,
    ),
    TextParameter(
        "sensitive",
        "Sensitive column",
        "The column whose values are put into a separate table; if not given, the one with the "
        "role sensitive.",
    ),
)
PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings("l", "sensitive"),
    *fields_of(
        Tells.NOTHING,
        "A setting of the plan, said again with the guarantee.",
        "guarantee.parameters.l",
        "guarantee.parameters.separated[]",
    ),
    *ROLES,
    *fields_of(
        Tells.NOTHING,
        "Counted from the released rows alone; anyone who has the table can count it again.",
        "result.rows_out",
        "result.groups",
        "result.smallest_group",
    ),
)


@dataclass(frozen=True)
class Settings:
    """The checked parameters: l, and the column whose values stand apart."""

    l: int  # noqa: E741 - the plan's own key
    sensitive: str

    @classmethod
    def of(cls, given: PlanInput) -> Settings:
        """Those of a plan that was checked."""
        return cls.read(given.parameters, given.roles)

    @classmethod
    def read(cls, parameters: Mapping[str, ParameterValue], roles: Mapping[str, Role]) -> Settings:
        """TypeError or ValueError where parameters and roles were not checked."""
        size, (name,) = parameters["l"], named(parameters, roles)
        if not isinstance(size, int):
            raise TypeError("l must have been parsed")
        return cls(size, name)

    def released(self, roles: Mapping[str, Role]) -> tuple[str, ...]:
        """The columns that stand in the rows, in source order."""
        return tuple(
            name
            for name, role in roles.items()
            if role is not Role.IDENTIFIER and name != self.sensitive
        )


def named(parameters: Mapping[str, ParameterValue], roles: Mapping[str, Role]) -> tuple[str, ...]:
    """The column that the plan names, else those that are sensitive by role."""
    name = parameters.get("sensitive")
    if isinstance(name, str) and name:
        return (name,)
    return tuple(name for name, role in roles.items() if role is Role.SENSITIVE)


def check_settings(
    columns: Sequence[str],
    roles: Mapping[str, Role],
    parameters: Mapping[str, ParameterValue],
    where: str,
) -> None:
    """Check columns and roles against each other; raises InputError ``anatomy.*``."""
    found = named(parameters, roles)
    if len(found) != 1:
        raise InputError(
            "anatomy.sensitive",
            msg(
                "{where}: {n:,} columns are sensitive, expected one whose values stand apart.",
                where=where,
                n=len(found),
            ),
            hint="Name it in `sensitive`." if found else "Give the column the role sensitive.",
            details={"key": "sensitive"} | ({} if found else {"role": Role.SENSITIVE.value}),
        )
    if found[0] not in columns:
        near = nearest(found[0], columns)
        raise InputError(
            "plan.unknown-column",
            msg("{where}, sensitive: there is no column `{name}`.", where=where, name=found[0]),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"key": "sensitive", "nearest": near},
        )
    if roles.get(found[0]) is not Role.SENSITIVE:
        raise InputError(
            "anatomy.role",
            msg(
                "{where}, sensitive: `{name}` has the role {value}, expected sensitive.",
                where=where,
                name=found[0],
                value=roles.get(found[0], Role.INSENSITIVE).value,
            ),
            hint="Give it the role sensitive, or name another column.",
            details={"key": "sensitive", "attribute": found[0], "role": Role.SENSITIVE.value},
        )
    if GROUP in columns:
        raise InputError(
            "anatomy.group",
            msg(
                "{where}: the source has a column `{name}`, which is the name of the column with "
                "the numbers of groups.",
                where=where,
                name=GROUP,
            ),
            hint="Rename the column in the source.",
            details={"attribute": GROUP},
        )
    if not any(role is not Role.IDENTIFIER and name != found[0] for name, role in roles.items()):
        raise InputError(
            "anatomy.nothing",
            msg(
                "{where}: no column is left to be released next to `{name}`.",
                where=where,
                name=found[0],
            ),
            details={"key": "sensitive"},
        )
