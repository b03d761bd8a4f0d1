"""What a guarantee says beside exact tables."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.budget import UNPROTECTED
from dpdesk.core.guarantee import Guarantee
from dpdesk.engine.cubes.guarantee_words import assumptions
from dpdesk.engine.cubes.lattice import members
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    INDEPENDENT,
    OTHERS,
    PUBLISHING,
    lead_words,
    others_beside_exact,
    rise_words,
    several_changes_words,
)

_MOST_NAMED = 12


def exact_guarantee(
    settings: CubeSettings,
    model: str,
    parameters: Mapping[str, object],
    epsilon: float,
    change: int,
    cluster: str | None,
) -> Guarantee:
    """Claim, assumptions and limits where tables are released exactly."""
    names = exact_names(settings)
    given = assumptions(settings, cluster)
    knows = (
        "Somebody may know everything but which of two such data sets is the true one; no other "
        "numbers about these rows than the exact ones here are known."
    )
    others = others_beside_exact(settings, change)
    instead = {INDEPENDENT: knows, OTHERS: others}
    return Guarantee(
        model=model,
        parameters=parameters,
        claim=_claim(settings, names, epsilon, change),
        assumes=tuple(instead.get(sentence, sentence) for sentence in given),
        does_not_cover=_not_covered(settings, names),
    )


def exact_names(settings: CubeSettings) -> str:
    """What is released exactly, as people read it."""
    named = [_name(settings, mask) for mask in settings.exact]
    for mask, cells in settings.exact_cells.items():
        shown = ", ".join("/".join(cell) for cell in cells[:_MOST_NAMED])
        more = len(cells) - _MOST_NAMED
        shown += f" and {more:,} more" if more > 0 else ""
        count = "1 cell" if len(cells) == 1 else f"{len(cells):,} of the cells"
        named.append(f"{count} of {_name(settings, mask)} ({shown})")
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]


def outside_words(settings: CubeSettings) -> str:
    """What a ledger says of the part that its cost does not cover; empty when there is none."""
    if not settings.exact and not settings.exact_cells:
        return ""
    return f"{UNPROTECTED}{exact_names(settings)}, published exactly"


def exact_notes(settings: CubeSettings) -> tuple[str, ...]:
    """What a newcomer should know of a design with exact tables; nothing for others."""
    if settings.part is None:
        return ()
    change, usual = settings.part.generic.l1, 2 if settings.replace else 1
    more = f", {change / usual:g} times that for one person" if change > usual else ""
    tool = settings.part.generic.tool
    by = f" {tool} computed that number." if tool else ""
    return (
        f"Nothing protects {exact_names(settings)}. All other noise is made for a minimal change "
        f"of up to {change} rows beside that{more}.{by}",
    )


def _many(settings: CubeSettings) -> bool:
    return len(settings.exact) + sum(map(len, settings.exact_cells.values())) > 1


def _name(settings: CubeSettings, mask: int) -> str:
    return " × ".join(settings.dimensions[i] for i in members(mask)) or "the grand total"


def _claim(settings: CubeSettings, names: str, epsilon: float, change: int) -> str:
    lead, given, times = lead_words(settings, epsilon)
    rows = settings.rows_per_person
    size = "at most 1 row comes or goes" if change == 1 else f"at most {change} rows come or go"
    unit = "one minimal change" if rows == 1 else f"{rows:,} minimal changes"
    many = _many(settings)
    return (
        f"Published without noise, and so without ε protection: {names}. Among data sets that "
        f"agree with {'them' if many else 'it'}, ε holds for {unit} (size {change}: {size}). "
        f"{lead} beside {'them' if many else 'it'}, the odds between two such data sets change by "
        f"at most ×{times} ({given}). A suspicion of 10 % that one of them is the true one "
        f"{rise_words(settings)}"
    )


def _not_covered(settings: CubeSettings, names: str) -> tuple[str, ...]:
    rows = settings.rows_per_person
    unit = "a minimal change" if rows == 1 else f"{rows:,} minimal changes"
    sentences = [
        f"What {names} {'show by themselves' if _many(settings) else 'shows by itself'}: these "
        "are the true numbers of the rows that are counted here (rows outside the declared "
        "categories or beyond the rows per person are not), and whoever is alone in one of their "
        "cells is known to be there.",
        several_changes_words(settings, "data sets", unit),
        "Facts about a whole group, which hold whether or not one person is in the data: who is "
        "known to belong to the group may be judged by them.",
    ]
    if settings.replace:
        sentences.append("The number of persons in the data: it is taken to be known.")
    return (*sentences, CHOOSING, PUBLISHING)
