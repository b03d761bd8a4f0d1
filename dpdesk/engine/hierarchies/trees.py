"""Trees written by hand: tables are groups, lists hold values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import NestedParameter, Parameter, TextParameter
from dpdesk.core.plain import quoted
from dpdesk.engine.hierarchies.options import (
    ROOT,
    Options,
    Rows,
    missing_values,
    natural_key,
    nested,
    option_error,
    text,
)

_MAX_DEPTH = 50

PARAMETERS: tuple[Parameter, ...] = (
    NestedParameter(
        "tree",
        "Tree",
        "Groups as tables, values as lists; every value of the data must be in it.",
        example='{ Europe = { West = ["FR", "DE"], East = ["PL"] }, Asia = ["JP"] }',
    ),
    TextParameter("root", "Top value", "The label of the top of the tree.", default=ROOT),
)


def build_rows(values: Sequence[str], options: Options, where: str) -> Rows:
    """One row per leaf, in tree order; a shallow leaf's smallest group fills the levels above.

    So the leaf of ``{ Asia = ["JP"] }`` in a tree of three levels has the row
    ``JP, Asia, Asia, *``.
    """
    root = text(options, "root") or ROOT
    tree = nested(options, "tree")
    if tree is None:
        return [[value, root] for value in sorted(values, key=natural_key)]
    paths: list[tuple[str, tuple[str, ...]]] = []
    _collect(tree, (), paths, where)
    leaves = {leaf for leaf, _ in paths}
    if len(leaves) < len(paths):
        raise _twice(paths, where)
    lacking = [value for value in values if value not in leaves]
    if lacking:
        raise missing_values(where, lacking, leaves)
    depth = max((len(path) for _, path in paths), default=0)
    rows = [[leaf, *_filled(leaf, path, depth), root] for leaf, path in paths]
    _check_groups(rows, where)
    return rows


def _twice(paths: Sequence[tuple[str, tuple[str, ...]]], where: str) -> InputError:
    seen: dict[str, tuple[str, ...]] = {}
    for leaf, path in paths:
        if leaf in seen:
            places = " and ".join(dict.fromkeys(_place(one) for one in (seen[leaf], path)))
            return option_error(
                where,
                msg(
                    "{leaf} is in the tree twice, {places}, expected each value once.",
                    leaf=quoted(leaf),
                    places=places,
                ),
                key="tree",
            )
        seen[leaf] = path
    raise ValueError("no value comes twice")


def _place(path: tuple[str, ...]) -> str:
    return msg("in {path}", path=quoted(path[0])) if path else "at the top"


def _check_groups(rows: Rows, where: str) -> None:
    """A level holds a label once: two groups of one name in different groups would be one."""
    for level in range(1, len(rows[0]) - 2 if rows else 0):
        above: dict[str, str] = {}
        for row in rows:
            if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
                groups = msg(
                    "{above} and {row}", above=quoted(above[row[level]]), row=quoted(row[level + 1])
                )
                raise option_error(
                    where,
                    msg(
                        "the groups {groups} both hold {row}, expected different names at level "
                        "{level}.",
                        groups=groups,
                        row=quoted(row[level]),
                        level=level,
                    ),
                    key="tree",
                )


def _collect(
    node: object,
    path: tuple[str, ...],
    paths: list[tuple[str, tuple[str, ...]]],
    where: str,
) -> None:
    """Gather leaves with their groups, from the smallest group to the largest."""
    if len(path) > _MAX_DEPTH:
        raise option_error(
            where,
            msg("the tree is deeper than {max_depth} levels.", max_depth=_MAX_DEPTH),
            key="tree",
        )
    if isinstance(node, Mapping):
        for label, inner in node.items():
            if label == "":
                raise option_error(where, "a group of the tree has no name.", key="tree")
            _collect(inner, (label, *path), paths, where)
    elif isinstance(node, list | tuple):
        for item in node:
            _collect(item, path, paths, where)
    else:
        paths.append((str(node), path))


def _filled(leaf: str, path: tuple[str, ...], depth: int) -> list[str]:
    if not path:
        return [leaf] * depth
    return [path[0]] * (depth - len(path)) + list(path)
