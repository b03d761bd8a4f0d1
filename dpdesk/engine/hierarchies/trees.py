"""Trees written by hand: tables are groups, lists hold values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.list_parameters import NestedParameter, TextParameter
from dpdesk.core.parameters import Parameter
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
    lacking = [value for value in values if value not in leaves]
    if lacking:
        raise missing_values(where, lacking, leaves)
    depth = max((len(path) for _, path in paths), default=0)
    return [[leaf, *_filled(leaf, path, depth), root] for leaf, path in paths]


def _collect(
    node: object,
    path: tuple[str, ...],
    paths: list[tuple[str, tuple[str, ...]]],
    where: str,
) -> None:
    """Gather leaves with their groups, from the smallest group to the largest."""
    if len(path) > _MAX_DEPTH:
        raise option_error(where, f"the tree is deeper than {_MAX_DEPTH} levels.", key="tree")
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
