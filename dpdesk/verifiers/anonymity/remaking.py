"""The recoding that a manifest claims, from the source and the plan's hierarchies alone.

With it the whole table can be made once more and compared with the published one: the columns that
are released unchanged too, and which values stand in one row. Shares nothing with the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role
from dpdesk.verifiers.anonymity.population import Asked, Matches
from dpdesk.verifiers.anonymity.population import staying as staying_matched
from dpdesk.verifiers.anonymity.requirements import (
    ANY,
    CATEGORY,
    Held,
    Required,
    household_rows,
    kept_classes,
    marked,
    missing_labels,
    number_rows,
    staying,
)


def claimed_recoding(
    k: int,
    required: Sequence[Required],
    node: Mapping[str, int],
    source: FrequencySource,
    roles: Mapping[str, Role],
    hierarchies: Mapping[str, Hierarchy],
    token: CancelToken,
    missing_as: str = CATEGORY,
    households: str = "",
    matches: tuple[Asked, Matches] | None = None,
) -> Recoding:
    """Values at the levels of ``node``, without the classes below ``k`` or what is ``required``.

    ``households`` is the column of those that are left out whole, and that k counts; empty: none.
    ``matches`` are the rows of a population by released values, and what is asked of them.
    KeyError for a value, an attribute or a hierarchy that is not there, IndexError for a level
    above the top.
    """
    table = source.frequency_table(tuple(node), token)
    mapping: dict[str, dict[str, str]] = {}
    labels: list[tuple[str, ...]] = []
    named: list[frozenset[str]] = []
    columns: list[NDArray[np.int32]] = []
    for position, (name, level) in enumerate(node.items()):
        token.check()
        found = released_texts(table, position, hierarchies[name], level)
        mapping[name] = found
        place = table, position, found, hierarchies[name], level
        named.append(missing_labels(*place, missing_as))
        index = {label: code for code, label in enumerate(dict.fromkeys(found.values()))}
        labels.append(tuple(index))
        codes = [index[found[value]] for value in table.domains[position]]
        columns.append(np.array(codes, np.int32)[table.codes[:, position]])
    tuples = np.stack(columns, axis=1)
    held = {
        each.attribute: held_in(each.attribute, table, tuples, source, hierarchies, token)
        for each in required
    }
    lost = marked(tuples, labels, named)
    passing = None
    if matches is not None:
        shown = [tuple(t[c] for t, c in zip(labels, row, strict=True)) for row in tuples.tolist()]
        which = number_rows(tuples)
        sizes = np.bincount(which, table.counts).astype(np.int64)[which]
        passing = staying_matched(*matches, shown, sizes.tolist())
        lost = lost | ~passing[:, None]
    small, gone = _small_classes(tuples, table.counts, k, required, held, missing_as, lost)
    left_out: tuple[str, tuple[str, ...]] = ("", ())
    if households:
        rows, values = household_rows(table, tuples, k, households, source, token, passing)
        classes, which = np.unique(tuples, axis=0, return_inverse=True)
        kept = np.bincount(which.reshape(-1), rows, len(classes)) > 0
        small, gone, left_out = classes[~kept], table.rows - int(rows.sum()), (households, values)
    token.check()
    return Recoding(
        attributes=tuple(node),
        mapping=mapping,
        labels=tuple(labels),
        suppressed=small,
        dropped_columns=tuple(name for name, role in roles.items() if role is Role.IDENTIFIER),
        rows_out=table.rows - gone,
        rows_suppressed=gone,
        left_out=left_out,
    )


def released_texts(
    table: FrequencyTable, position: int, hierarchy: Hierarchy, level: int
) -> dict[str, str]:
    """The released text of every value of a column.

    KeyError for a value that is not there, IndexError for a level above the top.
    """
    domain = table.domains[position]
    missing = sorted(table.missing[position]) if table.missing else []
    whole = hierarchy.with_untouched_leaves([domain[code] for code in missing])
    rows = {row[0]: row for row in whole.rows()}
    return {value: rows[value][level] for value in domain}


def _small_classes(
    tuples: NDArray[np.int32],
    counts: NDArray[np.int64],
    k: int,
    required: Sequence[Required],
    held: Mapping[str, Held],
    missing_as: str,
    lost: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], int]:
    """The tuples of labels that are left out, and the number of their rows.

    The classes in ``held`` are numbered as the distinct tuples are sorted.
    """
    classes, which = np.unique(tuples, axis=0, return_inverse=True)
    sizes = np.zeros(len(classes), np.int64)
    np.add.at(sizes, which.reshape(-1), counts)
    if missing_as == ANY:
        gone = np.zeros(len(classes), np.bool_)
        gone[which.reshape(-1)] = ~staying(ANY, tuples, lost, counts, k)
    else:
        counted = sizes.copy()
        counted[which.reshape(-1)[lost.any(axis=1)]] = 0
        gone = ~kept_classes(counted, k, required, held)
    return classes[gone], int(sizes[gone].sum())


def held_in(
    column: str,
    table: FrequencyTable,
    labels: NDArray[np.integer],
    source: FrequencySource,
    hierarchies: Mapping[str, Hierarchy],
    token: CancelToken,
) -> Held:
    """Rows of each value of a sensitive column in each class of equal ``labels``.

    ``labels`` has a row for each tuple of ``table``; classes are numbered as they are sorted.
    KeyError for a value without a leaf.
    """
    joint = source.frequency_table((*table.attributes, column), token)
    places = []
    for position, domain in enumerate(table.domains):
        code = {value: at for at, value in enumerate(domain)}
        again = np.array([code[value] for value in joint.domains[position]], np.int64)
        places.append(again[joint.codes[:, position]])
    of_tuple = number_rows(labels)
    stacked = np.concatenate([table.codes.astype(np.int64), np.stack(places, axis=1)])
    same = number_rows(stacked)
    class_of = np.empty(int(same.max(initial=-1)) + 1, np.int64)
    class_of[same[: len(table.counts)]] = of_tuple
    classes, tree = class_of[same[len(table.counts) :]], tree_of(joint, hierarchies)
    return Held.of(classes, joint.codes[:, -1], joint.counts, joint.domains[-1], tree)


def tree_of(joint: FrequencyTable, hierarchies: Mapping[str, Hierarchy]) -> Hierarchy | None:
    """The hierarchy of the last column, with a leaf for each missing value; None without one."""
    tree, domain = hierarchies.get(joint.attributes[-1]), joint.domains[-1]
    missing = sorted(joint.missing[-1]) if joint.missing else []
    return None if tree is None else tree.with_untouched_leaves([domain[at] for at in missing])
