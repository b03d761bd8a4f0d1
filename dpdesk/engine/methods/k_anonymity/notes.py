"""What a newcomer should know of a chosen node: which attributes it takes away altogether."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import Note
from dpdesk.core.messages import counted, msg
from dpdesk.engine.methods.k_anonymity.guarantee import name_list

REMOVED = "hierarchy.removed"
COARSE = "hierarchy.coarse"
TOLD = "hierarchy.suppressed-values"


def node_notes(
    attributes: Sequence[str], hierarchies: Sequence[Hierarchy], levels: Sequence[int]
) -> tuple[Note, ...]:
    """Sentences about attributes that are released at the top level, where all values are one.

    Those whose hierarchy has no level in between are named a second time: there, more levels
    would help. Attributes with a single value lose nothing and are left out.
    """
    removed = [
        (name, hierarchy)
        for name, hierarchy, level in zip(attributes, hierarchies, levels, strict=True)
        if level == hierarchy.height and len(hierarchy.leaves) > 1
    ]
    if not removed:
        return ()
    names = [f"`{name}`" for name, _ in removed]
    roots = sorted({hierarchy.labels[-1][0] for _, hierarchy in removed})
    found = [
        Note(
            REMOVED,
            counted(
                "{names} is removed completely: every row shows {root}.",
                "{names} are removed completely: every row shows {root}.",
                n=len(names),
                names=name_list(names),
                root=name_list([f"`{root}`" for root in roots]),
            ),
        )
    ]
    coarse = [f"`{name}`" for name, h in removed if h.height == 1 and len(h.leaves) > 2]
    if coarse:
        found.append(
            Note(
                COARSE,
                counted(
                    "{coarse} has no level between the original values and the top; levels in "
                    "between could keep some of the detail.",
                    "{coarse} have no level between the original values and the top; levels in "
                    "between could keep some of the detail.",
                    n=len(coarse),
                    coarse=name_list(coarse),
                ),
            )
        )
    return tuple(found)


def levels_note(names: Sequence[str]) -> tuple[Note, ...]:
    """A warning that released levels follow from values of suppressed rows as well.

    ``names`` are the attributes whose released labels, or number of levels, the plan would make
    otherwise of the released rows alone.
    """
    return tuple(Note(TOLD, _level_words(name)) for name in names)


def _level_words(name: str) -> str:
    return msg(
        "The released values of `{column}`, or its level, reveal values that only suppressed "
        "rows have: made from the released rows alone, its levels would be different; write "
        "out in the plan what makes them, or use a hierarchy from a file.",
        column=name,
    )
