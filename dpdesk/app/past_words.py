"""What is said of tables that went out before, next to a new one."""

from __future__ import annotations

from collections.abc import Iterator

from dpdesk.core.jobs import Note
from dpdesk.core.messages import counted
from dpdesk.core.plain import quoted
from dpdesk.project.past_tables import PastRelease

NAMED = 3
"""So many cells are named."""
TELLING = frozenset({"table.differenced", "table.small-difference", "table.earlier-missing"})
"""Codes of notes that name what is told, or what was not compared and could have been."""
SUPPOSED = frozenset({"table.differenced-if", "table.small-difference-if"})
"""Codes of notes that name what is told if earlier tables are of the same rows."""


def left_out(strange: int, passed: int) -> Iterator[Note]:
    """Of how many tables nothing is said: of other rows, or of other values."""
    if strange:
        yield Note(
            "table.earlier-other-rows",
            counted(
                "{n} earlier table of the same population is not compared: it is of a sample, of "
                "swapped households, or of rows that a query chooses in a way that cannot be "
                "followed here.",
                "{n} earlier tables of the same population are not compared: they are of samples, "
                "of swapped households, or of rows that queries choose in a way that cannot be "
                "followed here.",
                n=strange,
            ),
        )
    if passed:
        yield Note(
            "table.earlier-passed",
            counted(
                "{n} earlier table of the same population is not compared: it has noise or "
                "rounded values, is too large, or has other columns or categories than the source.",
                "{n} earlier tables of the same population are not compared: they have noise "
                "or rounded values, are too large, or have other columns or categories than the "
                "source.",
                n=passed,
            ),
        )


def harmless(sure: bool, tables: int) -> Note:
    """That tables were compared, and tell nothing."""
    if sure:
        return Note(
            "table.earlier-compared",
            counted(
                "{n} earlier table of rows of this source was compared: no suppressed cell can be "
                "computed from it, and no small group is a difference.",
                "{n} earlier tables of rows of this source were compared: no suppressed cell can "
                "be computed from them, and no small group is a difference.",
                n=tables,
            ),
        )
    return Note(
        "table.earlier-compared-if",
        counted(
            "{n} earlier table is of another file, or of rows that were not noted. If they are the "
            "same rows, it makes no suppressed cell computable, and no small group is a "
            "difference; rows that came, left or changed since are not seen.",
            "{n} earlier tables are of other files, or of rows that were not noted. If they are "
            "the same rows, they make no suppressed cell computable, and no small group is a "
            "difference; rows that came, left or changed since are not seen.",
            n=tables,
        ),
    )


def differenced(cells: tuple[int, str], release: PastRelease | None, sure: bool) -> Note:
    """Suppressed cells that one earlier release makes computable, or several together (None)."""
    code = "table.differenced" if sure else "table.differenced-if"
    n, names = cells
    if release is None and sure:
        said = counted(
            "Earlier releases together make {n} suppressed cell computable: {cells}.",
            "Earlier releases together make {n} suppressed cells computable: {cells}.",
            n=n,
            cells=names,
        )
    elif release is None:
        said = counted(
            "If earlier releases are of the same rows, they together make {n} suppressed cell "
            "computable: {cells}.",
            "If earlier releases are of the same rows, they together make {n} suppressed cells "
            "computable: {cells}.",
            n=n,
            cells=names,
        )
    elif sure:
        said = counted(
            "The earlier release {release} makes {n} suppressed cell computable: {cells}.",
            "The earlier release {release} makes {n} suppressed cells computable: {cells}.",
            n=n,
            release=_called(release),
            cells=names,
        )
    else:
        said = counted(
            "If the earlier release {release} is of the same rows, it makes {n} suppressed cell "
            "computable: {cells}.",
            "If the earlier release {release} is of the same rows, it makes {n} suppressed cells "
            "computable: {cells}.",
            n=n,
            release=_called(release),
            cells=names,
        )
    return Note(code, said)


def small_groups(
    groups: int, release: PastRelease, first: tuple[str, str, int], sure: bool
) -> Note:
    """Small groups between published cells of both; ``first`` is a cell, others in it, the rest."""
    cell, others, count = first
    if sure:
        return Note(
            "table.small-difference",
            counted(
                "Next to the earlier release {release}, {n} small group can be computed as a "
                "difference, such as {cell} without {others}: {count} in all.",
                "Next to the earlier release {release}, {n} small groups can be computed as "
                "differences, such as {cell} without {others}: {count} in all.",
                n=groups,
                release=_called(release),
                cell=cell,
                others=others,
                count=count,
            ),
        )
    return Note(
        "table.small-difference-if",
        counted(
            "If the earlier release {release} is of the same rows, {n} small group can be computed "
            "as a difference next to it, such as {cell} without {others}: {count} in all.",
            "If the earlier release {release} is of the same rows, {n} small groups can be "
            "computed as differences next to it, such as {cell} without {others}: {count} in all.",
            n=groups,
            release=_called(release),
            cell=cell,
            others=others,
            count=count,
        ),
    )


def _called(release: PastRelease) -> str:
    return quoted(", ".join(part for part in (release.title, release.created) if part))
