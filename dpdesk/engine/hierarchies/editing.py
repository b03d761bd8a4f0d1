"""Editing a hierarchy by hand: each edit gives a new, checked hierarchy or says why it cannot.

Levels count from 0 (the values of the data, whose texts never change) to the height (the top).
All edits raise InputError: ``hierarchy.level`` for a level that cannot be edited so,
``hierarchy.unknown-value`` for a value that the level lacks, ``hierarchy.taken-label`` for a label
in use, ``hierarchy.not-nested`` when values of different parents would share one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.core.plain import quoted
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.engine.hierarchies.builders import build_hierarchy
from dpdesk.engine.hierarchies.options import natural_key
from dpdesk.engine.hierarchies.preview import default_hierarchy


def insert_level(hierarchy: Hierarchy, above: int) -> Hierarchy:
    """A new level just above level ``above``, in which every value is still a group of its own."""
    _check_level(hierarchy, above, 0, max(hierarchy.height - 1, 0), "take a level above it")
    rows = [[*row[: above + 1], row[above], *row[above + 1 :]] for row in hierarchy.rows()]
    return _rebuilt(hierarchy, rows)


def remove_level(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """The hierarchy without an inner level; its values fall to the level above."""
    _check_level(hierarchy, level, 1, hierarchy.height - 1, "be removed")
    return _rebuilt(hierarchy, [[*row[:level], *row[level + 1 :]] for row in hierarchy.rows()])


def group(hierarchy: Hierarchy, level: int, values: Collection[str], label: str) -> Hierarchy:
    """Put ``values`` of ``level`` under a new parent ``label`` at the level above.

    Directly below the top a level is inserted first. The values must share their grandparent.
    """
    _check_level(hierarchy, level, 0, hierarchy.height - 1, "be grouped")
    if level == hierarchy.height - 1:
        hierarchy = insert_level(hierarchy, level)
    chosen = _known(hierarchy, level, values)
    rows = hierarchy.rows()
    _check_label(hierarchy, label)
    if any(row[level + 1] == label and row[level] not in chosen for row in rows):
        raise _taken(hierarchy, label, level + 1, "Move the values to that group instead.")
    tops = list(dict.fromkeys(row[level + 2] for row in rows if row[level] in chosen))
    if len(tops) > 1:
        raise _torn(hierarchy, label, tops)
    for row in rows:
        if row[level] in chosen:
            row[level + 1] = label
    return _rebuilt(hierarchy, rows)


def merge(hierarchy: Hierarchy, level: int, values: Collection[str], label: str) -> Hierarchy:
    """Make ``values`` of an inner level one value ``label``; they must share their parent."""
    _check_level(hierarchy, level, 1, hierarchy.height - 1, "be merged")
    chosen = _known(hierarchy, level, values)
    _check_label(hierarchy, label)
    if label not in chosen and label in hierarchy.labels[level]:
        raise _taken(hierarchy, label, level, "Include it in the merge, or choose another label.")
    rows = hierarchy.rows()
    tops = list(dict.fromkeys(row[level + 1] for row in rows if row[level] in chosen))
    if len(tops) > 1:
        raise _torn(hierarchy, label, tops)
    for row in rows:
        if row[level] in chosen:
            row[level] = label
    return _rebuilt(hierarchy, rows)


def rename(hierarchy: Hierarchy, level: int, value: str, label: str) -> Hierarchy:
    """Another label for a value of a level above the data's own values."""
    _check_level(hierarchy, level, 1, hierarchy.height, "be renamed")
    chosen = _known(hierarchy, level, [value])
    _check_label(hierarchy, label)
    if label != value and label in hierarchy.labels[level]:
        raise _taken(hierarchy, label, level, "Merge the two instead, or choose another label.")
    rows = hierarchy.rows()
    for row in rows:
        if row[level] in chosen:
            row[level] = label
    return _rebuilt(hierarchy, rows)


def move(hierarchy: Hierarchy, level: int, values: Collection[str], parent: str) -> Hierarchy:
    """Move ``values`` of ``level`` below another value ``parent`` of the level above."""
    _check_level(hierarchy, level, 0, hierarchy.height - 1, "be moved")
    chosen = _known(hierarchy, level, values)
    _known(hierarchy, level + 1, [parent])
    rows = hierarchy.rows()
    path = next(row[level + 1 :] for row in rows if row[level + 1] == parent)
    for row in rows:
        if row[level] in chosen:
            row[level + 1 :] = path
    return _rebuilt(hierarchy, rows)


def add_values(hierarchy: Hierarchy, values: Sequence[str], parent: str = "") -> Hierarchy:
    """New leaves below a value ``parent`` of level 1; empty: untouched below the top."""
    fresh = [value for value in dict.fromkeys(values) if value not in hierarchy.leaf_codes]
    if not parent or hierarchy.height == 0:
        return hierarchy.with_untouched_leaves(fresh)
    _known(hierarchy, 1, [parent])
    rows = hierarchy.rows()
    path = next(row[1:] for row in rows if row[1] == parent)
    return _rebuilt(hierarchy, [*rows, *([value, *path] for value in fresh)])


def remove_values(hierarchy: Hierarchy, values: Collection[str]) -> Hierarchy:
    """The hierarchy without some leaves; groups that become empty vanish."""
    chosen = _known(hierarchy, 0, values)
    return _rebuilt(hierarchy, [row for row in hierarchy.rows() if row[0] not in chosen])


def sort_values(hierarchy: Hierarchy) -> Hierarchy:
    """Leaves of one group side by side, groups and leaves in natural order (9 before 10)."""
    keys: dict[str, tuple[object, ...]] = {}

    def key(row: list[str]) -> list[tuple[object, ...]]:
        return [keys.setdefault(text, natural_key(text)) for text in reversed(row)]

    return _rebuilt(hierarchy, sorted(hierarchy.rows(), key=key))


def _rebuilt(hierarchy: Hierarchy, rows: list[list[str]]) -> Hierarchy:
    return Hierarchy.from_rows(hierarchy.attribute, rows)


def _place(hierarchy: Hierarchy) -> str:
    return msg("hierarchy of `{attribute}`", attribute=hierarchy.attribute)


def _check_level(hierarchy: Hierarchy, level: int, lowest: int, highest: int, verb: str) -> None:
    if lowest <= level <= highest:
        return
    if lowest > highest:
        expected = "there is none yet that can"
    elif lowest == highest:
        expected = msg("expected level {level}", level=lowest)
    else:
        expected = msg("expected a level from {least} to {most}", least=lowest, most=highest)
    raise InputError(
        "hierarchy.level",
        msg(
            "{place}: level {level} cannot {verb}, {expected}.",
            place=_place(hierarchy),
            level=level,
            verb=verb,
            expected=expected,
        ),
        details={"attribute": hierarchy.attribute, "level": level},
    )


def _known(hierarchy: Hierarchy, level: int, values: Collection[str]) -> set[str]:
    chosen = set(values)
    if not chosen:
        raise InputError(
            "hierarchy.unknown-value",
            msg("{place}: no value is chosen, expected at least one.", place=_place(hierarchy)),
        )
    for value in values:
        if value not in hierarchy.labels[level]:
            near = nearest(value, hierarchy.labels[level])
            raise InputError(
                "hierarchy.unknown-value",
                msg(
                    "{place}: level {level} has no value {quoted}.",
                    place=_place(hierarchy),
                    level=level,
                    quoted=quoted(value),
                ),
                hint=msg("Did you mean {near}?", near=quoted(near)) if near else "",
                details={"attribute": hierarchy.attribute, "level": level, "value": value},
            )
    return chosen


def _check_label(hierarchy: Hierarchy, label: str) -> None:
    if not label.strip():
        raise InputError(
            "hierarchy.empty-label",
            msg("{place}: the label is empty, expected a text.", place=_place(hierarchy)),
            details={"attribute": hierarchy.attribute},
        )


def _taken(hierarchy: Hierarchy, label: str, level: int, hint: str) -> InputError:
    return InputError(
        "hierarchy.taken-label",
        msg(
            "{place}: level {level} already has a value {label}.",
            place=_place(hierarchy),
            level=level,
            label=quoted(label),
        ),
        hint=hint,
        details={"attribute": hierarchy.attribute, "level": level, "value": label},
    )


def _torn(hierarchy: Hierarchy, label: str, tops: Sequence[str]) -> InputError:
    shown = ", ".join(quoted(top) for top in tops[:3])
    return InputError(
        "hierarchy.not-nested",
        msg(
            "{place}: {label} would belong to {shown}{tops}, expected one parent.",
            place=_place(hierarchy),
            label=quoted(label),
            shown=shown,
            tops=", …" if len(tops) > 3 else "",
        ),
        hint="Choose values of one parent, or move them to one parent first.",
        details={"attribute": hierarchy.attribute, "value": label},
    )


# Hierarchies that a plan leaves to be made from values, made again from fewer of them.
#
# A hierarchy that is made from all rows may show, in its labels and its number of levels, values
# that only suppressed rows have. What the plan makes of the released rows alone shows nothing of
# them.


Remake = Callable[[Sequence[str], Collection[str]], Hierarchy | None]
"""The hierarchy of some values, and of those of them that mean a missing one."""


def remakes(made: Mapping[str, HierarchyBuilder | None]) -> dict[str, Remake]:
    """By attribute, what makes its hierarchy; None stands for the value itself, then ``*``."""
    return {name: partial(_made, name, builder) for name, builder in made.items()}


def _made(
    attribute: str,
    builder: HierarchyBuilder | None,
    values: Sequence[str],
    missing: Collection[str],
) -> Hierarchy | None:
    """None where the plan makes no hierarchy of so few values: a form of dates is open then."""
    if builder is None:
        return default_hierarchy(attribute, values)
    try:
        return build_hierarchy(attribute, builder, values, missing)
    except InputError:
        return None
