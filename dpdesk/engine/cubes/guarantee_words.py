"""What every guarantee of a cube takes for granted."""

from __future__ import annotations

from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import GENERATOR, INDEPENDENT, OTHERS

LABELS = "The code lists of the source, whose labels are published, were fixed before the data."


def assumptions(settings: CubeSettings, cluster: str | None) -> tuple[str, ...]:
    """What every guarantee of a cube takes for granted."""
    rows = settings.rows_per_person
    held = "one row" if rows == 1 else f"at most {rows:,} rows"
    if cluster:
        unit = (
            f"A person (or household) is all rows with the same `{cluster}`; of each, {held} "
            f"{'was' if rows == 1 else 'were'} used, and rows without it were left out."
        )
    else:
        unit = f"Every person has {held} in the data; nothing in the data enforced it."
    sentences = [
        unit,
        "The categories, their order and all settings were fixed without looking at the data.",
        INDEPENDENT,
        OTHERS,
        GENERATOR,
    ]
    if any(measure.column for measure in settings.measures):
        sentences.insert(1, "The bounds of every sum were fixed without looking at the data.")
    if settings.labels:
        sentences.insert(2, LABELS)
    return tuple(sentences)
