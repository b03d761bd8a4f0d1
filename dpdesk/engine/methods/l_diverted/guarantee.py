"""What a diverted release promises, in words filled from the checked result.

The sentences follow what enumeration shows, not the paper's section 2.3, which overstates it: the
swaps of the theorem depend on the hidden ids and coins, so a fixed swap need not be hidden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.guarantee import SEARCH_LIMITS, absence

MODEL = "l-diverted zero-differential privacy"
_MOST_NAMES = 12
_RELEASED_ROLES = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER)
_TELLING = (Role.QUASI_IDENTIFIER, *_RELEASED_ROLES)


def diverted_guarantee(
    size: int,
    diverted: Sequence[str],
    roles: Mapping[str, Role],
    rows_removed: int,
    k: int | None = None,
    rows_suppressed: int = 0,
) -> Guarantee:
    """The guarantee of a release whose columns ``diverted`` were drawn in groups of ``size``.

    ``roles`` holds the released columns in source order; identifiers may be among them and are
    never named. The parameters of the guarantee give every released column under its role, so a
    verifier can write the same words again from the public files alone. ``k`` is given when the
    quasi-identifiers were made k-anonymous first.
    """
    quasi = [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    parameters: dict[str, object] = {"l": size, "diverted": list(diverted)}
    if k is not None:
        parameters["k"] = k
    if quasi:
        parameters["quasi_identifiers"] = quasi
    for role in _RELEASED_ROLES:
        if names := [name for name, given in roles.items() if given is role]:
            parameters[role.value] = names
    return Guarantee(
        model=MODEL,
        parameters=parameters,
        claim=_claim(size, diverted, k, quasi),
        assumes=_assumes(size, diverted, k),
        does_not_cover=_not_covered(size, diverted, roles, rows_removed, k, rows_suppressed),
    )


def name_list(names: Sequence[str]) -> str:
    """Names in a sentence: ``age, sex and region``; beyond a dozen it says how many more."""
    return listed(names, _MOST_NAMES)


def _claim(size: int, diverted: Sequence[str], k: int | None, quasi: Sequence[str]) -> str:
    each = (
        msg(", and for each of {diverted} by itself,", diverted=name_list(diverted))
        if len(diverted) > 1
        else ""
    )
    what = (
        msg("the value of {diverted}", diverted=diverted[0]) if len(diverted) == 1 else "that value"
    )
    swaps = "1 swapped data set" if size == 2 else msg("{size:,} swapped data sets", size=size - 1)
    names = name_list(diverted)
    drawn = msg(
        "a published value of {names} is the true one with a chance of 1 in {size:,}",
        names=names,
        size=size,
    )
    if len(diverted) > 1:
        drawn = msg(
            "a published value of each of {names} is the true one with a chance of 1 in {size:,}",
            names=names,
            size=size,
        )
    claim = msg(
        "For someone who knows of the true values only how often each occurs, and to whom the "
        "other released columns reveal nothing about them, {drawn}. For each person{each} and "
        "for every outcome of the hidden ids and coins, {swaps} would give every possible "
        "output with exactly the same chance. There the person has exchanged {what} with "
        "someone of the same hidden group, so which swaps they are depends on that outcome; "
        "the output cannot tell these {size:,} cases apart.",
        drawn=drawn,
        each=each,
        swaps=swaps,
        what=what,
        size=size,
    )
    if k is None:
        return claim
    return counted(
        "{claim} Before that, {columns} was made k-anonymous: every released combination covers "
        "at least {k:,} rows.",
        "{claim} Before that, {columns} were made k-anonymous: every released combination covers "
        "at least {k:,} rows.",
        n=len(quasi),
        claim=claim,
        columns=name_list(quasi),
        k=k,
    )


def _assumes(size: int, diverted: Sequence[str], k: int | None) -> tuple[str, ...]:
    sentences = [
        "Ids, groups and draws stay secret: they existed only in memory, and were drawn from a "
        "cryptographic generator; against an adversary who breaks it nothing is promised.",
        "Each person has one row; anyone with several rows is protected less.",
        "This is the only release about these people: several draws of the same values can be "
        "combined, and together they reveal the true ones.",
        "It was published as it was drawn, not chosen among several draws after looking at them.",
        msg(
            "The {n:,} values of a group are different texts; values that mean nearly the same "
            "hide little from someone who only asks for that meaning.",
            n=size,
        ),
    ]
    if k is not None:
        sentences.append(
            "For the claim on k: anyone who looks for a person knows nothing about them beyond "
            "the quasi-identifiers."
        )
    return tuple(sentences)


def _not_covered(
    size: int,
    diverted: Sequence[str],
    roles: Mapping[str, Role],
    rows_removed: int,
    k: int | None,
    rows_suppressed: int,
) -> tuple[str, ...]:
    limits = [
        "Someone who knows most of the other people's values: over all outcomes of ids and coins "
        "a fixed swap need not give the same chances, and such a person may learn a value with "
        "certainty.",
        msg(
            "What one published value says about a rare value: for someone who knows only how "
            "often each value occurs, the belief in it rises from its share of the rows (f out of "
            "N) to 1/{n:,} where it is published.",
            n=size,
        ),
        "Large counts and shares of the population: they are meant to be accurate, and anyone who "
        "is known to belong to a group may be judged by them.",
    ]
    if len(diverted) > 1:
        limits.append(
            msg(
                "{columns} taken together: each is drawn separately, and nothing is claimed about "
                "what their published values reveal in combination.",
                columns=name_list(diverted),
            )
        )
    limits += _column_limits(diverted, roles, k)
    limits += _row_limits(size, rows_removed, rows_suppressed, k)
    if k is not None:
        limits += SEARCH_LIMITS
    return tuple(limits)


def _column_limits(diverted: Sequence[str], roles: Mapping[str, Role], k: int | None) -> list[str]:
    named = [name for name, role in roles.items() if role is Role.SENSITIVE]
    sensitive = [name for name in named if name not in diverted]
    hidden = {Role.IDENTIFIER} | ({Role.QUASI_IDENTIFIER} if k is not None else set())
    unchanged = [
        name for name, role in roles.items() if role not in hidden and name not in diverted
    ]
    limits = []
    if others := [name for name in roles if name not in diverted and roles[name] in _TELLING]:
        limits.append(
            counted(
                "What the other columns reveal: {others} is not drawn. Where values there go "
                "together with those of {diverted} (an industry with an occupation), they give "
                "the true value away, whatever is published for it.",
                "What the other columns reveal: {others} are not drawn. Where values there go "
                "together with those of {diverted} (an industry with an occupation), they give "
                "the true value away, whatever is published for it.",
                n=len(others),
                others=name_list(others),
                diverted=name_list(diverted),
            )
        )
    if unchanged:
        advice = "" if k is not None else " Where that is a threat, make them k-anonymous as well."
        limits.append(
            counted(
                "Finding a person's row: {unchanged} is released unchanged, so anyone who "
                "knows it about a person may find the row.{advice}",
                "Finding a person's row: {unchanged} are released unchanged, so anyone who "
                "knows them about a person may find the row.{advice}",
                n=len(unchanged),
                unchanged=name_list(unchanged),
                advice=advice,
            )
        )
    if sensitive:
        limits.append(
            msg(
                "{columns}: sensitive by role, but not drawn; the true values are released.",
                columns=name_list(sensitive),
            )
        )
    return limits


def _row_limits(size: int, rows_removed: int, rows_suppressed: int, k: int | None) -> list[str]:
    limits = []
    if rows_removed and k is None:
        limits.append(
            counted(
                "The {n:,} row removed at random so that the number of rows is a multiple of "
                "{size:,}: nothing of it is published, and the theorem says nothing about it.",
                "The {n:,} rows removed at random so that the number of rows is a multiple of "
                "{size:,}: nothing of them is published, and the theorem says nothing about them.",
                n=rows_removed,
                size=size,
            )
        )
    elif rows_removed:
        limits.append(
            counted(
                "The {n:,} row removed at random so that the number of rows is a multiple of "
                "{size:,}: its combination is one of the released ones, since it was taken from "
                "those with more than {k:,} rows; nothing else of it is published, and the "
                "theorem says nothing about it.",
                "The {n:,} rows removed at random so that the number of rows is a multiple of "
                "{size:,}: their combinations are among the released ones, since they were taken "
                "from those with more than {k:,} rows; nothing else of them is published, and the "
                "theorem says nothing about them.",
                n=rows_removed,
                size=size,
                k=k,
            )
        )
    if rows_suppressed:
        smallest = msg(
            "it is one of the smallest, which had to go so that {size:,} divides the number of "
            "rows",
            size=size,
        )
        limits += absence((smallest,))
    return limits
