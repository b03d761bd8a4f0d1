"""What every guarantee of a cube takes for granted."""

from __future__ import annotations

from dpdesk.core.messages import counted, msg
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import (
    FIXED,
    GENERATOR,
    INDEPENDENT,
    LINES,
    OTHERS,
    origin_words,
)

LABELS = (
    "The code lists of the source, whose labels are published, are taken to have been fixed before "
    "the data."
)


def assumptions(settings: CubeSettings, cluster: str | None) -> tuple[str, ...]:
    """What every guarantee of a cube takes for granted."""
    rows = settings.rows_per_person
    held = "one row" if rows == 1 else msg("at most {rows:,} rows", rows=rows)
    if cluster:
        unit = counted(
            "A person (or household) is all rows with the same `{cluster}`; of each, "
            "{held} was used, and rows without it were left out.",
            "A person (or household) is all rows with the same `{cluster}`; of each, "
            "{held} were used, and rows without it were left out.",
            n=rows,
            cluster=cluster,
            held=held,
        )
    else:
        unit = msg(
            "Every person has {held} in the data; nothing in the data enforced it.", held=held
        )
    sentences = [
        unit,
        LINES,
        FIXED,
        *origin_words(_named(settings), settings.domains, settings.origins),
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


def _named(settings: CubeSettings) -> tuple[str, ...]:
    """The columns whose categories are declared."""
    return (*settings.dimensions, *settings.extra)
