"""What a guarantee says beside exact tables."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.budget import UNPROTECTED
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.release import Guarantee
from dpdesk.engine.cubes.lattice import members
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    FIXED,
    GENERATOR,
    INDEPENDENT,
    LINES,
    OTHERS,
    PUBLISHING,
    lead_words,
    origin_words,
    others_beside_exact,
    rise_words,
    several_changes_words,
    unit_words,
)
from dpdesk.engine.private.method import Charge

# What every guarantee of a cube takes for granted.


LABELS = (
    "The code lists of the source, whose labels are published, are taken to have been fixed before "
    "the data."
)


def assumptions(settings: CubeSettings, cluster: str | None) -> tuple[str, ...]:
    """What every guarantee of a cube takes for granted."""
    sentences = [
        unit_words(settings, cluster),
        LINES,
        FIXED,
        *origin_words((*settings.dimensions, *settings.extra), settings.domains, settings.origins),
        INDEPENDENT,
        OTHERS,
        GENERATOR,
    ]
    if any(measure.column for measure in settings.measures):
        bounds = "The bounds of every sum are taken to have been fixed without looking at the data."
        sentences.insert(2, bounds)
    if settings.labels:
        sentences.insert(3, LABELS)
    return tuple(sentences)


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
        "Someone may know everything except which of two such data sets is the true one; no "
        "other numbers about these rows than the exact ones here are known."
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
        if more > 0:
            shown = msg("{shown} and {more:,} more", shown=shown, more=more)
        cells_of = counted(
            "{n:,} cell of {table} ({shown})",
            "{n:,} of the cells of {table} ({shown})",
            n=len(cells),
            table=_name(settings, mask),
            shown=shown,
        )
        named.append(cells_of)
    return listed(named)


def outside_words(settings: CubeSettings) -> str:
    """What a ledger says of the part that its cost does not cover; empty when there is none."""
    if not settings.exact and not settings.exact_cells:
        return ""
    return msg(
        "{unprotected}{exact_names}, published exactly",
        unprotected=UNPROTECTED,
        exact_names=exact_names(settings),
    )


def price_of(settings: CubeSettings, cluster: str | None) -> Charge:
    """What the settings cost, without the draws that a design will make."""
    return settings.charge(cluster, outside_words(settings))


def exact_notes(settings: CubeSettings) -> tuple[str, ...]:
    """What a newcomer should know of a design with exact tables; nothing for others."""
    if settings.part is None:
        return ()
    change, usual = settings.part.generic.l1, 2 if settings.replace else 1
    more = (
        msg(", {change:g} times that for one person", change=change / usual)
        if change > usual
        else ""
    )
    tool = settings.part.generic.tool
    by = msg(" {tool} computed that number.", tool=tool) if tool else ""
    return (
        msg(
            "Nothing protects {exact_names}. All other noise is made for a minimal change of "
            "up to {change} rows in addition to that{more}.{by}",
            exact_names=exact_names(settings),
            change=change,
            more=more,
            by=by,
        ),
    )


def _many(settings: CubeSettings) -> bool:
    return len(settings.exact) + sum(map(len, settings.exact_cells.values())) > 1


def _name(settings: CubeSettings, mask: int) -> str:
    return " × ".join(settings.dimensions[i] for i in members(mask)) or msg("the grand total")


def _claim(settings: CubeSettings, names: str, epsilon: float, change: int) -> str:
    lead, given, times = lead_words(settings, epsilon)
    rows = settings.rows_per_person
    size = (
        "at most 1 row comes or goes"
        if change == 1
        else msg("at most {change} rows come or go", change=change)
    )
    unit = "one minimal change" if rows == 1 else msg("{rows:,} minimal changes", rows=rows)
    many = _many(settings)
    return msg(
        "Published without noise, and so without ε protection: {names}. Among data sets that "
        "agree with {many}, ε holds for {unit} (size {change}: {size}). {lead} alongside "
        "{many}, the odds between two such data sets change by at most ×{times} ({given}). A "
        "suspicion of 10 % that one of them is the true one {rise_words}",
        names=names,
        many="them" if many else "it",
        unit=unit,
        change=change,
        size=size,
        lead=lead,
        times=times,
        given=given,
        rise_words=rise_words(settings),
    )


def _not_covered(settings: CubeSettings, names: str) -> tuple[str, ...]:
    rows = settings.rows_per_person
    unit = "a minimal change" if rows == 1 else msg("{rows:,} minimal changes", rows=rows)
    sentences = [
        msg(
            "What {names} {many}: these are the true numbers of the rows that are "
            "counted here (rows outside the declared categories or beyond the rows "
            "per person are not), and anyone who is alone in one of their cells is "
            "known to be there.",
            names=names,
            many="show by themselves" if _many(settings) else "shows by itself",
        ),
        several_changes_words(settings, "data sets", unit),
        "Facts about a whole group, which hold whether or not one person is in the data: anyone "
        "who is known to belong to the group may be judged by them.",
    ]
    if settings.replace:
        sentences.append("The number of persons in the data: it is taken to be known.")
    return (*sentences, CHOOSING, PUBLISHING)
