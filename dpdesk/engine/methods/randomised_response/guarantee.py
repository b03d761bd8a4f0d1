"""What randomised response promises, and what it does not.

The sentences follow from one fact, which tests enumerate: each drawn value depends on its own true
value and on coins alone, and no true value makes a drawn one more likely by more than ×e^ε of its
column. Values of one row are drawn independently, so that these factors multiply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.plain import number_text
from dpdesk.core.schema import Role
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    FIXED,
    GENERATOR,
    INDEPENDENT,
    LINES,
    OTHERS,
    origin_words,
    plain,
    rounded_up,
    suspicion_after,
)

MODEL = "randomised-response"
_MOST_NAMES = 12
_KEYS = {
    Role.QUASI_IDENTIFIER: "quasi_identifiers",
    **{role: role.value for role in (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)},
}


def response_guarantee(
    epsilon: Fraction,
    rows: int,
    drawn: Sequence[str],
    roles: Mapping[str, Role],
    origins: Mapping[str, str],
) -> Guarantee:
    """The guarantee for persons of ``rows`` rows or fewer.

    ``roles`` holds all released columns but the ``drawn`` ones, in source order; identifiers may be
    among them and are never named. ``origins`` says where categories of the drawn ones come
    from, as far as the plan knows it. The parameters give every released column, so a verifier can
    write the same words again.
    """
    parameters: dict[str, object] = {
        "epsilon": plain(epsilon),
        "neighbours": "value",
        "rows_per_person": rows,
        "drawn": list(drawn),
    }
    for role, key in _KEYS.items():
        if own := [name for name, given in roles.items() if given is role]:
            parameters[key] = own
    others = [name for name, role in roles.items() if role in _KEYS]
    names = listed(drawn, _MOST_NAMES)
    times = rounded_up(exp(float(epsilon))) if epsilon <= 700 else "more than 10^300"
    return Guarantee(
        model=MODEL,
        parameters=parameters,
        claim=msg(
            "Each value of {columns} was drawn by itself. Whatever is published, the odds between "
            "any two values that a person may truly have there, all these columns together, change "
            "by at most ×{times} (ε = {epsilon}): a suspicion of 10 % can rise to at most "
            "{after} %.",
            columns=names,
            times=times,
            epsilon=number_text(epsilon),
            after=suspicion_after(float(epsilon)),
        ),
        assumes=(
            counted(
                "Each person has {n:,} row; someone with more rows is protected less.",
                "Each person has {n:,} rows at most; someone with more is protected less.",
                n=rows,
            ),
            FIXED,
            *origin_words(drawn, drawn, origins),
            INDEPENDENT,
            GENERATOR,
            LINES,
            "A value that keeps its line or its record from being read can be told, since the "
            "other values of its row are missing then.",
            OTHERS,
        ),
        does_not_cover=_not_covered(names, roles, others),
    )


def _not_covered(names: str, roles: Mapping[str, Role], others: Sequence[str]) -> tuple[str, ...]:
    limits = [
        "Presence: every row of the source is released, so anyone who knows the other columns of a "
        "person sees whether that person is in the data.",
    ]
    if others:
        limits += [
            counted(
                "The other columns: {names} is released unchanged, and nothing protects it.",
                "The other columns: {names} are released unchanged, and nothing protects them.",
                n=len(others),
                names=listed(others, _MOST_NAMES),
            ),
            msg(
                "What the other columns, and other people's values, tell of {columns}: where "
                "values go together, estimates from this release show it, and anyone who finds a "
                "person's row may judge the person by them.",
                columns=names,
            ),
        ]
    same = [name for name, role in roles.items() if role is Role.SENSITIVE]
    if same:
        limits.append(
            msg(
                "{columns}: sensitive by role, but not drawn; the true values are in the rows.",
                columns=listed(same, _MOST_NAMES),
            )
        )
    return (
        *limits,
        "Large counts and shares of the population: they are meant to be accurate, and anyone who "
        "is known to belong to a group may be judged by them.",
        CHOOSING,
    )
