"""What a plan says of an anatomised release, and what it may show in public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.parameters import (
    Among,
    ColumnParameter,
    IntegerParameter,
    Parameter,
    ParameterValue,
    nearest,
)
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.release import Guarantee
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
        help="Each group has this many rows or more, and all their values are different.",
        unit="values",
        required=True,
        minimum=2,
        maximum=1000,
        suggested=5,
    ),
    ColumnParameter(
        "sensitive",
        "Sensitive column",
        "The column whose values are put into a separate table; if not given, the one with the "
        "role sensitive.",
        among=Among.SENSITIVE,
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
    sensitive = _the_sensitive(roles, parameters, where)
    if sensitive not in columns:
        near = nearest(sensitive, columns)
        raise InputError(
            "plan.unknown-column",
            msg("{where}, sensitive: there is no column `{name}`.", where=where, name=sensitive),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"key": "sensitive", "nearest": near},
        )
    if roles.get(sensitive) is not Role.SENSITIVE:
        raise InputError(
            "anatomy.role",
            msg(
                "{where}, sensitive: `{name}` has the role {value}, expected sensitive.",
                where=where,
                name=sensitive,
                value=roles.get(sensitive, Role.INSENSITIVE).value,
            ),
            hint="Give it the role sensitive, or name another column.",
            details={"key": "sensitive", "attribute": sensitive, "role": Role.SENSITIVE.value},
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
    if not any(role is not Role.IDENTIFIER and name != sensitive for name, role in roles.items()):
        raise InputError(
            "anatomy.nothing",
            msg(
                "{where}: no column is left to be released next to `{name}`.",
                where=where,
                name=sensitive,
            ),
            details={"key": "sensitive"},
        )


def _the_sensitive(
    roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue], where: str
) -> str:
    found = named(parameters, roles)
    if len(found) != 1:
        raise InputError(
            "anatomy.sensitive",
            msg(
                "{where}: {n:,} columns have the role sensitive, expected one, whose "
                "values are set apart.",
                where=where,
                n=len(found),
            )
            if found
            else msg("{where}: no column has the role sensitive.", where=where),
            hint="Name it in `sensitive`." if found else "Give the column the role sensitive.",
            details={"key": "sensitive"} | ({} if found else {"role": Role.SENSITIVE.value}),
        )
    return found[0]


# What an anatomised release promises, and what it does not.
#
# The sentences follow from one fact, which tests enumerate: groups depend on the sensitive values
# and on coins alone, and treat all rows with the same value alike. So the release has exactly the
# same chance under every way to give the values of each group to its rows.


MODEL = "anatomy"
_MOST_NAMES = 12
_KEYS = {
    Role.QUASI_IDENTIFIER: "quasi_identifiers",
    **{role: role.value for role in (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER)},
}


def anatomy_guarantee(size: int, sensitive: str, roles: Mapping[str, Role]) -> Guarantee:
    """The guarantee of a release whose groups have ``size`` rows or more.

    ``roles`` holds the released columns in source order, without ``sensitive``, whose values stand
    apart; identifiers may be among them and are never named. The parameters give every released
    column under its role, so a verifier can write the same words again.
    """
    parameters: dict[str, object] = {"l": size, "separated": [sensitive]}
    for role, key in _KEYS.items():
        if names := [name for name, given in roles.items() if given is role]:
            parameters[key] = names
    others = [name for name, role in roles.items() if role in _KEYS]
    return Guarantee(
        model=MODEL,
        parameters=parameters,
        claim=msg(
            "The values of {column} are kept apart from the rows, by groups of at least {size:,} "
            "rows in which all values are different. For every way of assigning the values of a "
            "group to its rows, this release would have come out with exactly the same chance. So "
            "for someone who knows the columns of the rows, and to whom they reveal nothing about "
            "{column}, each value of a person's group is the true one with a chance of at most 1 "
            "in {size:,}.",
            column=sensitive,
            size=size,
        ),
        assumes=(
            "Groups were drawn and numbered by a cryptographic generator; against an adversary "
            "who breaks it nothing is promised.",
            "Each person has one row; anyone with several rows is protected less.",
            "This is the only release about these people: a person's groups in two releases "
            "often have only the true value in common.",
            "It was published as it was drawn, not chosen among several draws after looking at "
            "them.",
            msg(
                "The {n:,} values of a group are different texts; values that mean nearly the same "
                "hide little from someone who only asks for that meaning.",
                n=size,
            ),
        ),
        does_not_cover=_not_covered(sensitive, roles, others),
    )


def _not_covered(
    sensitive: str, roles: Mapping[str, Role], others: Sequence[str]
) -> tuple[str, ...]:
    same = [name for name, role in roles.items() if role is Role.SENSITIVE]
    limits = [
        "Presence: every row of the source is released, so anyone who knows the other columns of a "
        "person sees whether that person is in the data.",
        counted(
            "Finding a person's row: {names} is released unchanged, so anyone who knows it "
            "about a person may find the row, and with it the group.",
            "Finding a person's row: {names} are released unchanged, so anyone who knows them "
            "about a person may find the row, and with it the group.",
            n=len(others),
            names=listed(others, _MOST_NAMES),
        ),
        msg(
            "What the other columns reveal about {column}: where values go together, the "
            "values of a group are not equally likely for its rows. How they go together can "
            "be learned from this release itself, by comparing its groups.",
            column=sensitive,
        ),
        "Someone who knows values of other people in the group: each of them leaves one fewer, "
        "and anyone who knows all but one knows the last with certainty.",
        "What a person's value is not: all values that are not in the person's group are ruled "
        "out with certainty.",
        "Large counts and shares of the population: they are meant to be accurate, and anyone who "
        "is known to belong to a group may be judged by them.",
    ]
    if same:
        limits.append(
            msg(
                "{columns}: sensitive by role, but not kept apart; the true values are in the "
                "rows.",
                columns=listed(same, _MOST_NAMES),
            )
        )
    return tuple(limits)
