"""Previews of hierarchies over data, computed on the frequency table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import (
    Hierarchy,
    HierarchyPreview,
    LevelEffect,
    LevelSummary,
    ValueChange,
)
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.plain import quoted
from dpdesk.core.schema import form

# Bring a frequency table and its hierarchies together: every value becomes a leaf code.


ROOT = "*"
_OTHER_FORM = (
    "Its leaf looks the same and is stored in another Unicode form (NFC or NFD); save data and "
    "hierarchy in the same one."
)
_NO_ORIGINS: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class AlignedTable:
    """A frequency table in leaf codes of its hierarchies.

    ``hierarchies[j]`` belongs to ``attributes[j]`` and has a leaf for every value that occurs,
    missing tokens included. ``codes`` has shape (tuples, attributes), int32, and holds leaf codes;
    ``counts`` has shape (tuples,), int64, unit rows. No tuple comes twice; the order of the tuples
    is that of the frequency table. ``missing[j]`` are the leaf codes that stand for missing values;
    ``added[j]`` are those of them that the hierarchy itself does not have. ``decimal`` is the mark
    of the numbers among the values.
    """

    attributes: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    codes: NDArray[np.int32] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    missing: tuple[frozenset[int], ...] = ()
    added: tuple[frozenset[int], ...] = ()
    decimal: str = "."

    @property
    def rows(self) -> int:
        """Number of rows of the source, N."""
        return int(self.counts.sum())


def align(
    table: FrequencyTable,
    hierarchies: Mapping[str, Hierarchy],
    where: str,
    origins: Mapping[str, str] = _NO_ORIGINS,
) -> AlignedTable:
    """Replace the codes of ``table`` by leaf codes of ``hierarchies``.

    A missing token without a leaf becomes a category of its own that stays itself below the top.
    ``origins`` says, per attribute, how messages call the hierarchy (for instance its file name).

    Raises
    ------
    InputError
        ``hierarchy.absent`` when an attribute has no hierarchy, ``hierarchy.missing-leaf`` when a
        value that occurs has no leaf. The sentence starts with ``where`` and names the attribute,
        the first values, their rows and the hierarchy.
    """
    codes = np.empty(table.codes.shape, dtype=np.int32)
    extended: list[Hierarchy] = []
    missing: list[frozenset[int]] = []
    added: list[frozenset[int]] = []
    for position, attribute in enumerate(table.attributes):
        given = hierarchies.get(attribute)
        if given is None:
            raise _absent(attribute, where)
        domain = table.domains[position]
        tokens = _missing_tokens(table, position)
        hierarchy = given.with_untouched_leaves(tokens)
        leaf_of = _leaf_codes(hierarchy, domain)
        if (leaf_of < 0).any():
            _refuse_missing_leaves(table, position, leaf_of, where, origins, given)
        if domain:
            codes[:, position] = leaf_of[table.codes[:, position]]
        extended.append(hierarchy)
        missing.append(frozenset(hierarchy.leaf_codes[token] for token in tokens))
        fresh = [token for token in tokens if token not in given.leaf_codes]
        added.append(frozenset(hierarchy.leaf_codes[token] for token in fresh))
    names, whole = table.attributes, tuple(extended)
    return AlignedTable(names, whole, codes, table.counts, tuple(missing), tuple(added))


def missing_in_groups(table: AlignedTable, position: int) -> list[str]:
    """Missing values that join a group of other values below the top because it has their name."""
    hierarchy, missing = table.hierarchies[position], sorted(table.missing[position])
    found: set[str] = set()
    for level in range(1, hierarchy.height):
        groups, covered = hierarchy.ancestors(level), hierarchy.leaves_covered(level)
        for leaf in missing:
            name, group = hierarchy.leaves[leaf], groups[leaf]
            if hierarchy.labels[level][group] == name and covered[group] > 1:
                found.add(name)
    return sorted(found)


def default_hierarchy(attribute: str, values: Sequence[str]) -> Hierarchy:
    """The smallest hierarchy: the raw value, then ``*``; InputError when there is no value."""
    return Hierarchy.from_rows(attribute, [(value, ROOT) for value in dict.fromkeys(values)])


def _missing_tokens(table: FrequencyTable, position: int) -> list[str]:
    if not table.missing:
        return []
    return [table.domains[position][code] for code in sorted(table.missing[position])]


def _leaf_codes(hierarchy: Hierarchy, domain: Sequence[str]) -> NDArray[np.int32]:
    known = hierarchy.leaf_codes
    return np.fromiter((known.get(value, -1) for value in domain), np.int32, len(domain))


def _refuse_missing_leaves(
    table: FrequencyTable,
    position: int,
    leaf_of: NDArray[np.int32],
    where: str,
    origins: Mapping[str, str],
    hierarchy: Hierarchy,
) -> None:
    """Raise for the values without a leaf that occur; unused domain values are no fault."""
    rows = np.bincount(
        table.codes[:, position], weights=table.counts, minlength=len(leaf_of)
    ).astype(np.int64)
    lacking = np.flatnonzero((leaf_of < 0) & (rows > 0))
    if not lacking.size:
        return
    attribute, domain = table.attributes[position], table.domains[position]
    order = lacking[np.argsort(-rows[lacking], kind="stable")]
    shown = [
        msg("{domain} ({rows})", domain=quoted(domain[code]), rows=_rows(int(rows[code])))
        for code in order[:3]
    ]
    if order.size > 3:
        rest = int(rows[order[3:]].sum())
        shown.append(msg("{n:,} more ({rows})", n=order.size - 3, rows=_rows(rest)))
    origin = origins.get(attribute)
    named = msg(" in the hierarchy {origin}", origin=origin) if origin else " in its hierarchy"
    raise InputError(
        "hierarchy.missing-leaf",
        counted(
            "{where}, attribute `{attribute}`: this value has no leaf{named}: "
            "{shown}; expected one leaf for each value of the data.",
            "{where}, attribute `{attribute}`: these values have no leaf{named}: "
            "{shown}; expected one leaf for each value of the data.",
            n=order.size,
            where=where,
            attribute=attribute,
            named=named,
            shown=listed(shown),
        ),
        hint=_OTHER_FORM
        if form(domain[order[0]]) in {form(leaf) for leaf in hierarchy.leaves}
        else "Add the values to the hierarchy, or declare them as missing.",
        details={
            "attribute": attribute,
            "values": tuple(domain[code] for code in order[:100]),
            "rows": int(rows[order].sum()),
        },
    )


def _rows(count: int) -> str:
    return counted("{n:,} row", "{n:,} rows", n=count)


def _absent(attribute: str, where: str) -> InputError:
    return InputError(
        "hierarchy.absent",
        msg(
            "{where}, attribute `{attribute}`: it has no hierarchy, expected one for each "
            "quasi-identifier.",
            where=where,
            attribute=attribute,
        ),
        details={"attribute": attribute},
    )


def level_counts(
    table: FrequencyTable, hierarchy: Hierarchy, where: str = "preview"
) -> HierarchyPreview:
    """Rows per value of every level, for the attribute of ``hierarchy`` in ``table``.

    Raises InputError ``hierarchy.missing-leaf`` as :func:`align` does, and
    ``hierarchy.unknown-attribute`` when the table lacks the attribute.
    """
    one = _single(table, hierarchy.attribute, where)
    aligned = align(one, {hierarchy.attribute: hierarchy}, where)
    grown = aligned.hierarchies[0]
    below = np.zeros(len(grown.leaves), dtype=np.int64)
    np.add.at(below, aligned.codes[:, 0], aligned.counts)
    rows = [below]
    for step, parents in enumerate(grown.parents):
        above = np.zeros(len(grown.labels[step + 1]), dtype=np.int64)
        np.add.at(above, parents, rows[-1])
        rows.append(above)
    levels = tuple(_summary(grown, level, counts) for level, counts in enumerate(rows))
    return HierarchyPreview(grown, tuple(rows), levels, aligned.missing[0])


def level_effect(preview: HierarchyPreview, level: int, sample: Sequence[str] = ()) -> LevelEffect:
    """What generalising to ``level`` does; ``sample`` are raw values of the first rows to show.

    A sampled value without a leaf raises InputError ``hierarchy.missing-leaf``, a level that the
    hierarchy lacks ``hierarchy.level``.
    """
    hierarchy = preview.hierarchy
    if not 0 <= level <= hierarchy.height:
        raise InputError(
            "hierarchy.level",
            msg(
                "hierarchy of `{attribute}`: there is no level {level}, expected 0 to {height}.",
                attribute=hierarchy.attribute,
                level=level,
                height=hierarchy.height,
            ),
            details={"attribute": hierarchy.attribute, "level": level},
        )
    upper, labels = hierarchy.ancestors(level), hierarchy.labels[level]
    leaf_rows = preview.rows[0]
    occurring = np.flatnonzero(leaf_rows)
    sharing = np.bincount(upper[occurring], minlength=len(labels))
    changed = sum(
        int(leaf_rows[leaf]) for leaf in occurring if hierarchy.leaves[leaf] != labels[upper[leaf]]
    )
    return LevelEffect(
        attribute=hierarchy.attribute,
        level=level,
        sample=tuple(_change(hierarchy, upper, labels, value) for value in sample),
        distinct_before=int(occurring.size),
        distinct_after=int(np.count_nonzero(sharing)),
        merged=int(sharing[sharing > 1].sum()),
        rows_changed=changed,
        smallest_before=preview.levels[0].smallest,
        smallest_after=preview.levels[level].smallest,
    )


def _change(
    hierarchy: Hierarchy, upper: NDArray[np.int32], labels: Sequence[str], value: str
) -> ValueChange:
    code = hierarchy.leaf_codes.get(value)
    if code is None:
        raise InputError(
            "hierarchy.missing-leaf",
            msg(
                "hierarchy of `{attribute}`: {quoted} has no leaf, expected one.",
                attribute=hierarchy.attribute,
                quoted=quoted(value),
            ),
            details={"attribute": hierarchy.attribute, "values": (value,)},
        )
    return ValueChange(value, labels[upper[code]])


def _summary(hierarchy: Hierarchy, level: int, counts: NDArray[np.int64]) -> LevelSummary:
    used = np.flatnonzero(counts)
    if not used.size:
        return LevelSummary(level, 0, 0, "", len(counts))
    rarest = int(used[np.argmin(counts[used])])
    return LevelSummary(
        level,
        int(used.size),
        int(counts[rarest]),
        hierarchy.labels[level][rarest],
        len(counts) - int(used.size),
    )


def _single(table: FrequencyTable, attribute: str, where: str) -> FrequencyTable:
    """The table of one attribute: other columns summed out."""
    if attribute not in table.attributes:
        raise InputError(
            "hierarchy.unknown-attribute",
            msg(
                "{where}: the data have no attribute `{attribute}`.",
                where=where,
                attribute=attribute,
            ),
            details={"attribute": attribute},
        )
    position = table.attributes.index(attribute)
    domain = table.domains[position]
    counts = np.zeros(len(domain), dtype=np.int64)
    np.add.at(counts, table.codes[:, position], table.counts)
    used = np.flatnonzero(counts)
    missing = (table.missing[position],) if table.missing else ()
    return FrequencyTable(
        (attribute,), (domain,), used.astype(np.int32).reshape(-1, 1), counts[used], missing
    )
