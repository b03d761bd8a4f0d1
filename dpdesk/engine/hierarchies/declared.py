"""Hierarchies that their options settle alone, whatever the data hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.engine.hierarchies import intervals, trees
from dpdesk.engine.hierarchies.builders import build_hierarchy
from dpdesk.engine.hierarchies.options import APART, Options, nested, option_error, texts

Level = tuple[tuple[Fraction, ...], tuple[str, ...]]
"""Rising cut points, and the labels of the intervals below, between and from them."""


def declared_intervals(builder: HierarchyBuilder, where: str) -> tuple[Level, ...] | None:
    """The levels of intervals that have the same parts for any data, from level 1 upwards.

    That is so with `cuts`, and with `widths` between `bottom` and `top`; None otherwise. A number
    x belongs to the part ``bisect_right(cuts, x)``. Raises InputError for bad options.
    """
    place = msg("{where}, hierarchy (intervals)", where=where)
    options = parse_parameters(intervals.PARAMETERS, builder.options, place)
    return intervals.declared_levels(options, place)


def apart_of(builder: HierarchyBuilder) -> tuple[str, ...]:
    """The texts that a builder of intervals keeps apart; InputError for bad options."""
    options = parse_parameters(intervals.PARAMETERS, builder.options, "hierarchy (intervals)")
    return texts(options, APART.key) or ()


def declared_tree(attribute: str, builder: HierarchyBuilder, where: str) -> Hierarchy:
    """The hierarchy of a tree by hand, with all leaves that it names.

    Raises InputError for bad options, and ``hierarchy.options`` when there is no tree.
    """
    place = msg("{where}, hierarchy (tree)", where=where)
    options: Options = parse_parameters(trees.PARAMETERS, builder.options, place)
    tree = nested(options, "tree")
    leaves = _leaves(tree) if tree is not None else []
    if not leaves:
        raise option_error(place, "it names no value.", key="tree")
    return build_hierarchy(attribute, builder, leaves, where=where)


def _leaves(node: object) -> list[str]:
    if isinstance(node, Mapping):
        return [leaf for inner in node.values() for leaf in _leaves(inner)]
    if isinstance(node, list | tuple):
        return [leaf for inner in node for leaf in _leaves(inner)]
    return [str(node)]
