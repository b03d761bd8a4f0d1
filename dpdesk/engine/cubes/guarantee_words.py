"""What every guarantee of a cube takes for granted."""

from __future__ import annotations

from dpdesk.core.messages import counted, listed, msg
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import GENERATOR, INDEPENDENT, LINES, OTHERS
from dpdesk.engine.private.origins import FROM_CODES, FROM_DATA, FROM_FILE, TYPED

LABELS = (
    "The code lists of the source, whose labels are published, are taken to have been fixed before "
    "the data."
)
_ORIGINS = {
    TYPED: "were written by hand",
    FROM_FILE: "come from a hierarchy",
    FROM_CODES: "come from the code list of the source",
    FROM_DATA: "were suggested from the data, and are taken to have been known beforehand; where "
    "one was not, its being listed shows that somebody has it, which no ε covers",
}


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
        "The categories, their order and all settings are taken to have been fixed without looking "
        "at the data.",
        *origins(settings),
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


def origins(settings: CubeSettings) -> tuple[str, ...]:
    """What is known of where the categories come from, and of which of them it is not.

    Categories that the plan does not list are those of a hierarchy that it names.
    """
    names = settings.counted_by or settings.dimensions
    names = (*settings.dimensions, *(name for name in names if name not in settings.dimensions))
    hierarchies = {name: FROM_FILE for name in names if name not in settings.domains}
    known = hierarchies | dict(settings.origins)
    said = [
        msg(
            "The categories of {joined} {words}.",
            joined=listed([one for one in names if known.get(one) == origin]),
            words=words,
        )
        for origin, words in _ORIGINS.items()
        if origin in known.values()
    ]
    unknown = [name for name in names if name not in known]
    if unknown:
        said.append(
            msg("Where the categories of {names} come from is not recorded.", names=listed(unknown))
        )
    return tuple(said)
