"""Ordered or named groups of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    NestedParameter,
    NumberListParameter,
    Parameter,
    TextListParameter,
    nearest,
)
from dpdesk.core.plain import quoted
from dpdesk.engine.hierarchies.options import (
    APART,
    ROOT,
    Options,
    Rows,
    distinct_labels,
    missing_values,
    natural_key,
    nested,
    numbers,
    option_error,
    texts,
)

PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "order",
        "Order of the values",
        (
            "All values in order; if empty, sorted. Values that are not in the data may also be "
            "listed."
        ),
    ),
    NumberListParameter(
        "sizes",
        "Group sizes",
        "For each level, how many neighbours of the level below make a group.",
        whole=True,
        minimum=2,
    ),
    NestedParameter(
        "groups",
        "Named groups",
        "Instead of sizes: for each level, the groups and what they hold; what is in no group "
        "stays unchanged.",
        example='[{ low = ["a", "b"], high = ["c", "d"] }]',
    ),
    APART,
)


def build_rows(values: Sequence[str], options: Options, where: str) -> Rows:
    """One row per value, in order: the value, its group at each level, the top."""
    order = _order(values, texts(options, "order"), where)
    sizes, groups = numbers(options, "sizes"), nested(options, "groups")
    if sizes and groups:
        raise option_error(where, "found both `sizes` and `groups`, expected one.", key="groups")
    columns = [order]
    if groups:
        for level in _levels_of(groups, where):
            columns.append(_named(columns[-1], level, where))
    elif sizes:
        columns.extend(_by_sizes(order, [int(size) for size in sizes]))
    return [[*row, ROOT] for row in zip(*columns, strict=True)]


def _order(values: Sequence[str], given: tuple[str, ...] | None, where: str) -> list[str]:
    if given is None:
        return sorted(values, key=natural_key)
    if len(set(given)) != len(given):
        twice = next(value for value in given if given.count(value) > 1)
        raise option_error(
            where,
            msg("`order` holds {twice} twice, expected each value once.", twice=quoted(twice)),
        )
    known = set(given)
    lacking = [value for value in values if value not in known]
    if lacking:
        raise missing_values(where, lacking, given)
    return list(given)


def _by_sizes(order: list[str], sizes: list[int]) -> list[list[str]]:
    columns: list[list[str]] = []
    size = 1
    for step in sizes:
        size *= step
        groups = [order[start : start + size] for start in range(0, len(order), size)]
        labels = distinct_labels([_label(group) for group in groups])
        columns.append([labels[index // size] for index in range(len(order))])
    return columns


def _label(group: list[str]) -> str:
    """One value: itself; two or three: all of them; more: the ends."""
    return ", ".join(group) if len(group) <= 3 else f"{group[0]} … {group[-1]}"


def _levels_of(groups: object, where: str) -> list[Mapping[str, object]]:
    levels = [groups] if isinstance(groups, Mapping) else groups
    if isinstance(levels, list | tuple) and all(isinstance(level, Mapping) for level in levels):
        return list(levels)
    raise option_error(
        where,
        "`groups` is not a list of tables, expected one table of groups for each level.",
        hint='For instance groups = [{ low = ["a", "b"], high = ["c"] }].',
        key="groups",
    )


def _named(below: list[str], level: Mapping[str, object], where: str) -> list[str]:
    known = set(below)
    group_of: dict[str, str] = {}
    for label, members in level.items():
        if not isinstance(members, tuple) or not all(isinstance(item, str) for item in members):
            raise option_error(
                where,
                msg("the group {label} is not a list of texts, expected one.", label=quoted(label)),
                key="groups",
            )
        for member in members:
            _check_member(member, label, known, group_of, where)
            group_of[member] = label
    for value in known:
        if value not in group_of and value in level:
            raise option_error(
                where,
                msg(
                    "{quoted} is a group and also a value outside it, expected another name.",
                    quoted=quoted(value),
                ),
                hint=msg(
                    "Put the value into the group {quoted}, or rename the group.",
                    quoted=quoted(value),
                ),
                key="groups",
            )
    return [group_of.get(value, value) for value in below]


def _check_member(
    member: str, label: str, known: set[str], group_of: Mapping[str, str], where: str
) -> None:
    if member in group_of:
        raise option_error(
            where,
            msg(
                "{member} is in the groups {group_of} and {label}, expected one group.",
                member=quoted(member),
                group_of=quoted(group_of[member]),
                label=quoted(label),
            ),
            key="groups",
        )
    if member not in known:
        near = nearest(member, sorted(known))
        raise option_error(
            where,
            msg(
                ("the group {label} contains {member}, which is not a value of the level below."),
                label=quoted(label),
                member=quoted(member),
            ),
            hint=msg("Did you mean {near}?", near=quoted(near)) if near else "",
            key="groups",
        )
