"""What an anatomised release promises, and what it does not.

The sentences follow from one fact, which tests enumerate: groups depend on the sensitive values and
on coins alone, and treat all rows with the same value alike. So the release has exactly the same
chance under every way to give the values of each group to its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.schema import Role

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
            "The values of {column} are kept apart from the rows, by groups of at least "
            "{size:,} rows in which all values are different. For every way to give the values "
            "of a group to its rows, this release would have come out with exactly the same "
            "chance. So for someone who knows the columns of the rows, and to whom they reveal "
            "nothing about {column}, each value of a person's group is the true one with a "
            "chance of at most 1 in {size:,}.",
            column=sensitive,
            size=size,
        ),
        assumes=(
            "Groups were drawn and numbered by a cryptographic generator; against an adversary "
            "who breaks it nothing is promised.",
            "Each person has one row; anyone with several rows is protected less.",
            "This is the only release about these people: a person's groups in two releases "
            "often have only the true value in common.",
            "It was published as it was drawn, not chosen among several draws after a look at "
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
