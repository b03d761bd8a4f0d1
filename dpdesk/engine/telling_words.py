"""What columns tell of each other, in sentences: warnings before a release, internal."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.charts import format_figure
from dpdesk.core.jobs import Note
from dpdesk.core.messages import counted, listed, msg
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
    rows = msg(
        "{certain:,} of {rows:,} rows ({share})",
        certain=by.certain,
        rows=found.rows,
        share=_share(by.certain, found.rows),
    )
    return msg(
        "For {rows}, the column `{columns}` alone reveals `{column}`.",
        rows=rows,
        columns=by.columns[0],
        column=found.column,
    )


def nearly_words(found: Telling, by: Told) -> str:
    """For how many rows a column gives a value away but for a few exceptions."""
    rows = msg(
        "{nearly:,} of {rows:,} rows ({share})",
        nearly=by.nearly,
        rows=found.rows,
        share=_share(by.nearly, found.rows),
    )
    return msg(
        (
            "For {rows}, the column `{columns}` alone reveals `{column}` with a chance of 90 % "
            "or more."
        ),
        rows=rows,
        columns=by.columns[0],
        column=found.column,
    )


def guessed_words(found: Telling, by: Told) -> str:
    """For how many rows some columns let a value be guessed."""
    rows = msg(
        "{guessed:,} of {rows:,} rows ({share})",
        guessed=by.guessed,
        rows=found.rows,
        share=_share(by.guessed, found.rows),
    )
    return msg(
        "From {names}, `{column}` is guessed right for {rows}; without any "
        "column, for {unaided:,}.",
        names=listed(by.columns),
        column=found.column,
        rows=rows,
        unaided=found.unaided,
    )


def alone_note(columns: int, alone: int, rows: int) -> tuple[Note, ...]:
    """A warning that rows are the only ones with their values; nothing when there are none."""
    many = counted(
        "the {n:,} column that is not drawn", "the {n:,} columns that are not drawn", n=columns
    )
    return _alone(many, alone, rows)


def released_alone_note(columns: int, alone: int, rows: int) -> tuple[Note, ...]:
    """The same of all columns of a release, however few rows a class has."""
    many = counted("the {n:,} released column", "the {n:,} released columns", n=columns)
    return _alone(many, alone, rows)


def _alone(many: str, alone: int, rows: int) -> tuple[Note, ...]:
    if not alone:
        return ()
    text = msg(
        "{alone:,} of {rows:,} rows ({share}) are the only ones with their "
        "values in {many}: someone who knows these values of a person finds the "
        "row.",
        alone=alone,
        rows=rows,
        share=_share(alone, rows),
        many=many,
    )
    return (Note(ALONE, text),)


def _share(some: int, whole: int) -> str:
    return format_figure(some / whole if whole else 0.0, "share")
