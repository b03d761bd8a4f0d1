"""What columns tell of each other, in sentences: warnings before a release, internal."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.charts import format_figure
from dpdesk.core.jobs import Note
from dpdesk.engine.telling import Telling, Told

TELLS, NEARLY, GUESSED, ALONE = (
    "telling.certain", "telling.nearly", "telling.guessed", "telling.alone",
)  # fmt: skip


def telling_notes(found: Sequence[Telling], size: int, part: int | None = None) -> tuple[Note, ...]:
    """A warning for each column of which others tell more than a chance of 1 in ``size``.

    With ``part``, columns that do so for fewer than one in ``part`` rows are left to the evidence.
    """
    notes: list[Note] = []
    for each in found:
        if each.certain is not None and (not part or each.certain.certain * part >= each.rows):
            notes.append(Note(TELLS, certain_words(each, each.certain)))
        if each.nearly is not None and (not part or each.nearly.nearly * part >= each.rows):
            notes.append(Note(NEARLY, nearly_words(each, each.nearly)))
        surer = each.surer(size)
        if surer is not None and (not part or (surer.guessed - each.unaided) * part >= each.rows):
            notes.append(Note(GUESSED, guessed_words(each, surer)))
    return tuple(notes)


def certain_words(found: Telling, by: Told) -> str:
    """For how many rows a column gives a value away."""
    rows = f"{by.certain:,} of {found.rows:,} rows ({_share(by.certain, found.rows)})"
    return f"For {rows}, the column `{by.columns[0]}` alone reveals `{found.column}`."


def nearly_words(found: Telling, by: Told) -> str:
    """For how many rows a column gives a value away but for a few exceptions."""
    rows = f"{by.nearly:,} of {found.rows:,} rows ({_share(by.nearly, found.rows)})"
    return (
        f"For {rows}, the column `{by.columns[0]}` alone tells `{found.column}` with a chance of "
        "90 % or more."
    )


def guessed_words(found: Telling, by: Told) -> str:
    """For how many rows some columns let a value be guessed."""
    rows = f"{by.guessed:,} of {found.rows:,} rows ({_share(by.guessed, found.rows)})"
    return (
        f"From {_names(by.columns)}, `{found.column}` is guessed right for {rows}; without any "
        f"column, for {found.unaided:,}."
    )


def alone_note(columns: int, alone: int, rows: int) -> tuple[Note, ...]:
    """A warning that rows are the only ones with their values; nothing when there are none."""
    many = "the 1 column that is" if columns == 1 else f"the {columns:,} columns that are"
    return _alone(f"{many} not drawn", alone, rows)


def released_alone_note(columns: int, alone: int, rows: int) -> tuple[Note, ...]:
    """The same of all columns of a release, however few rows a class has."""
    many = "the 1 released column" if columns == 1 else f"the {columns:,} released columns"
    return _alone(many, alone, rows)


def _alone(many: str, alone: int, rows: int) -> tuple[Note, ...]:
    if not alone:
        return ()
    text = (
        f"{alone:,} of {rows:,} rows ({_share(alone, rows)}) are the only ones with their values "
        f"in {many}: someone who knows these values of a person finds the row."
    )
    return (Note(ALONE, text),)


def _share(some: int, whole: int) -> str:
    return format_figure(some / whole if whole else 0.0, "share")


def _names(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
