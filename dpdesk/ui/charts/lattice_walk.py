"""Walking along a drawn lattice by keys: to what lies beside, above and below."""

from __future__ import annotations

from dpdesk.core.lattice_layout import LatticeLayout


def beside(layout: LatticeLayout, chosen: int, steps: int) -> int | None:
    """The cuboid some places further in the same row; None beyond its ends."""
    row = next((one.cuboids for one in layout.rows if chosen in one.cuboids), ())
    place = row.index(chosen) + steps if row else -1
    return row[place] if 0 <= place < len(row) else None


def end_of_row(layout: LatticeLayout, chosen: int, *, last: bool) -> int | None:
    """The first or last cuboid of the row."""
    row = next((one.cuboids for one in layout.rows if chosen in one.cuboids), ())
    return (row[-1] if last else row[0]) if row else None


def along(layout: LatticeLayout, chosen: int, *, finer: bool) -> int | None:
    """The nearest drawn cuboid with one dimension more (``finer``) or less, sharing the rest."""
    here = layout.places.get(chosen)
    if here is None:
        return None
    step = 1 if finer else -1
    linked = [
        one
        for one in layout.places
        if one.bit_count() - chosen.bit_count() == step
        and not (chosen & ~one if finer else one & ~chosen)
    ]
    if not linked:
        return None
    return min(linked, key=lambda one: (abs(layout.places[one][0] - here[0]), one))


def in_order(layout: LatticeLayout, chosen: int, steps: int) -> int | None:
    """The next or previous cuboid, row after row, so that none is out of reach."""
    every = [one for row in layout.rows for one in row.cuboids]
    if chosen not in every:
        return every[0] if every else None
    return every[min(max(every.index(chosen) + steps, 0), len(every) - 1)]
