"""From settings to the exact part of a cube, and what a plan and a result say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.engine.cubes.consistency.linear import MOST_PINNED
from dpdesk.engine.cubes.consistency.residual import cells_below
from dpdesk.engine.cubes.exact.part import ExactPart
from dpdesk.engine.cubes.exact.sensitivity import Cell, generic_sensitivity, knowledge
from dpdesk.engine.cubes.lattice import members
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.counting import PlacedRows
from dpdesk.engine.private.method import ExactTables


def with_exact(
    settings: CubeSettings, domain: Domain, where: str, token: CancelToken
) -> CubeSettings:
    """The settings with the exact part worked out on the declared domain.

    Raises InputError ``cube.exact`` for a cell outside the domain, or when no table is left for
    noise; RefusedError ``cube.exact-too-large``, Cancelled.
    """
    whole, single = settings.exact, settings.exact_cells
    if not whole and not single:
        return settings
    places = {mask: [_place(domain, mask, cell, where) for cell in single[mask]] for mask in single}
    known = knowledge(domain.shape, whole, places, total=settings.replace)
    asked = tuple((mask, cell) for mask, cells in places.items() for cell in cells)
    part = ExactPart(known, known.counted, generic_sensitivity(known, token), asked)
    _check_cells(part, settings, where)
    if not part.noisy(settings.published) or part.generic.l1 == 0:
        raise InputError(
            "cube.exact",
            msg(
                "{where}: every table that is published follows from what is exact, so no noise "
                "protects anything.",
                where=where,
            ),
            hint="Publish tables that do not follow from the exact ones as well.",
            details={"key": "exact"},
        )
    return replace(settings, part=part)


def _check_cells(part: ExactPart, settings: CubeSettings, where: str) -> None:
    """Refuse more single cells than can be made consistent in a moment."""
    if not part.single:
        return
    work = len(part.single) * cells_below(settings.published, part.known.shape)
    if work > MOST_PINNED:
        raise InputError(
            "cube.exact",
            msg(
                "{where}: `exact` names {cells:,} single cells alongside tables of so many "
                "cells that {work:,} sums would be needed, expected at most {most:,}.",
                where=where,
                cells=len(part.single),
                work=work,
                most=MOST_PINNED,
            ),
            hint="Release whole tables exactly, or fewer cells, or publish smaller tables.",
            details={"key": "exact"},
        )


def without_exact(settings: CubeSettings) -> CubeSettings:
    """The settings with only the tables that get noise, for planners."""
    if settings.part is None:
        return settings
    published = settings.part.noisy(settings.published)
    targets = {mask: value for mask, value in settings.targets.items() if mask in published}
    return replace(
        settings,
        published=published,
        weights={mask: value for mask, value in settings.weights.items() if mask in published},
        targets=targets,
        objective="maximum" if settings.targets and not targets else settings.objective,
    )


def stated_exact(exact: ExactPart | None) -> dict[str, object]:
    """What a result says of the exact part: the size of a minimal change, and how it is known."""
    if exact is None:
        return {}
    generic = exact.generic
    stated = {
        "minimal_change": generic.l1,
        "total_fixed": generic.total_fixed,
        "known_by": generic.origin.value,
        **({"tool": generic.tool} if generic.tool else {}),
    }
    return {"exact": stated}


def flag_of(settings: CubeSettings, cuboid: int) -> dict[str, object]:
    """The entry of a table: whether it is exact, where anything is, and which of its cells are."""
    if settings.part is None:
        return {}
    cells = [list(cell) for cell in settings.exact_cells.get(cuboid, ())]
    whole = settings.part.gives(cuboid)
    return {"exact": whole, **({"exact_cells": cells} if cells and not whole else {})}


def counted_exactly(part: ExactPart | None, rows: PlacedRows, token: CancelToken) -> ExactTables:
    """The true counts of what is released exactly."""
    if part is None:
        return ExactTables()
    listed = (*part.single, *part.asked)
    known = {
        mask: rows.totals(members(mask), token) for mask in dict.fromkeys(m for m, _ in listed)
    }
    cells = tuple(int(known[mask][cell]) for mask, cell in listed)
    return ExactTables({mask: rows.totals(members(mask), token) for mask in part.whole}, cells)


def _place(domain: Domain, mask: int, cell: Sequence[str], where: str) -> Cell:
    found = []
    for i, text in zip(members(mask), cell, strict=True):
        categories = domain.categories[i]
        if text not in categories:
            name = domain.dimensions[i]
            raise InputError(
                "cube.exact",
                msg(
                    "{where}: `exact` names the cell {text} of {name}, which is not a declared "
                    "category.",
                    where=where,
                    text=quoted(text),
                    name=quoted(name),
                ),
                details={"key": "exact"},
            )
        found.append(categories.index(text))
    return tuple(found)
