"""The recoding that a manifest claims, from the source and the plan's hierarchies alone.

With it the whole table can be made once more and compared with the published one: the columns that
are released unchanged too, and which values stand in one row. Shares nothing with the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource, FrequencyTable, Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import number_text
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import CheckStatus, ClaimCheck, PublishedTable
from dpdesk.core.schema import Role
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
    held = {each: held_in(each, table, tuples, source, hierarchies, token) for each in required}
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
    held: Mapping[Required, Held],
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
    asked: Required,
    table: FrequencyTable,
    labels: NDArray[np.integer],
    source: FrequencySource,
    hierarchies: Mapping[str, Hierarchy],
    token: CancelToken,
) -> Held:
    """Rows of each value of the column of a requirement in each class of equal ``labels``.

    ``labels`` has a row for each tuple of ``table``; classes are numbered as they are sorted.
    KeyError for a value without a leaf.
    """
    joint = source.frequency_table((*table.attributes, asked.attribute), token)
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
    return Held.of(
        classes, joint.codes[:, -1], joint.counts, joint.domains[-1], tree, asked.decimal
    )


def tree_of(joint: FrequencyTable, hierarchies: Mapping[str, Hierarchy]) -> Hierarchy | None:
    """The hierarchy of the last column, with a leaf for each missing value; None without one."""
    tree, domain = hierarchies.get(joint.attributes[-1]), joint.domains[-1]
    missing = sorted(joint.missing[-1]) if joint.missing else []
    return None if tree is None else tree.with_untouched_leaves([domain[at] for at in missing])


# What classes match in a file of the population: counted again, by code that made no release.


Remake = Callable[[Sequence[str], Collection[str]], Hierarchy | None]
Texts = tuple[str, ...]
Matches = Mapping[Texts, int]
"""Rows of the population by the released values that they would have."""

_TABLE = "microdata.csv"
_STARRED = ("AS", "CS", "AG_CS")
"""Models whose suppressed cells are ``*`` whatever the hierarchy says."""


class Asked:
    """What a guarantee says of the population: ``k_map`` rows (0: nothing), and shares of them."""

    def __init__(self, k_map: int, shares: tuple[Fraction, Fraction] | None) -> None:
        self.k_map, self.shares = k_map, shares

    def __bool__(self) -> bool:
        return bool(self.k_map) or self.shares is not None

    @property
    def claim(self) -> str:
        """How the check is called."""
        parts = [msg("{n:,} matching rows or more", n=self.k_map)] if self.k_map else []
        if self.shares is not None:
            low, high = map(number_text, self.shares)
            parts.append(msg("a share from {low} to {high}", low=low, high=high))
        return msg("in the population, every class has {asked}", asked=" and ".join(parts))

    def fails(self, rows: int, matching: int) -> bool:
        """Whether a class of so many rows must leave (or may not be released)."""
        above = self.shares is not None and rows > self.shares[1] * matching
        return matching < self.k_map or above


POPULATION = ("k_map", "delta_min", "delta_max")
"""What a guarantee may ask of a population."""


def asked_of(parameters: Mapping[str, object]) -> Asked:
    """What is asked of a population; TypeError, ValueError where it cannot be read."""
    k_map = parameters.get("k_map", 0)
    if isinstance(k_map, bool) or not isinstance(k_map, int) or k_map < 0:
        raise ValueError("k_map")
    if "delta_min" not in parameters and "delta_max" not in parameters:
        return Asked(k_map, None)
    low, high = (_share(parameters[key]) for key in ("delta_min", "delta_max"))
    return Asked(k_map, (low, high))


def _share(raw: object) -> Fraction:
    number = None if isinstance(raw, bool | str) else exact_number(raw)
    if number is None or not 0 <= number <= 1:
        raise ValueError("share")
    return number


def matching(
    population: Population,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    levels: Sequence[int],
    remade: Mapping[str, Remake],
) -> Matches:
    """The rows of the population by their values at the levels of some columns.

    Raises InputError where a value has no place in a hierarchy.
    """
    table = population.table
    if table.attributes != tuple(names):
        raise InputError("verify.population", "The population was counted by other columns.")
    columns = []
    for place, (name, level) in enumerate(zip(names, levels, strict=True)):
        domain = table.domains[place]
        lost = [domain[code] for code in sorted(table.missing[place])] if table.missing else []
        paths = _paths(name, domain, lost, hierarchies[name], remade.get(name))
        columns.append([paths[value][min(level, len(paths[value]) - 1)] for value in domain])
    found: Counter[Texts] = Counter()
    for codes, rows in zip(table.codes.tolist(), table.counts.tolist(), strict=True):
        found[tuple(column[code] for column, code in zip(columns, codes, strict=True))] += rows
    return found


def _paths(
    name: str,
    domain: Sequence[str],
    lost: Sequence[str],
    hierarchy: Hierarchy,
    remake: Remake | None,
) -> dict[str, tuple[str, ...]]:
    """The values of each level above each value; made levels are made of those of both files."""
    known = {row[0]: tuple(row) for row in hierarchy.with_untouched_leaves(lost).rows()}
    if remake is not None and any(value not in known for value in domain):
        fresh = [value for value in domain if value not in known]
        made = remake([*hierarchy.leaves, *fresh], set(lost))
        rows = [] if made is None else made.with_untouched_leaves(lost).rows()
        again = {row[0]: tuple(row) for row in rows}
        same = all(again.get(value) == row for value, row in known.items())
        known = again if same else known
    for value in domain:
        if value not in known:
            raise InputError(
                "verify.population",
                msg(
                    "`{value}` of `{attributes}` in the population has no leaf in its hierarchy.",
                    value=value,
                    attributes=name,
                ),
            )
    return known


def staying_matched(
    asked: Asked, matches: Matches, released: Sequence[Texts], sizes: Sequence[int]
) -> NDArray[np.bool_]:
    """Which classes stay, by their values and rows, before anything else is asked of them."""
    fails = [asked.fails(n, matches.get(key, 0)) for key, n in zip(released, sizes, strict=True)]
    return np.array([not fail for fail in fails], np.bool_)


def population_check(
    asked: Asked, matches: Matches, names: Sequence[str], published: PublishedTable
) -> ClaimCheck:
    """The released classes against the population; with a least share, its other tuples too."""
    from dpdesk.core.jobs import CancelToken

    counted = published.combinations(names, CancelToken())
    released: Counter[Texts] = Counter()
    for codes, rows in zip(counted.codes.tolist(), counted.rows.tolist(), strict=True):
        key = tuple(texts[code] for texts, code in zip(counted.texts, codes, strict=True))
        released[key] += rows
    failing = sum(asked.fails(rows, matches.get(key, 0)) for key, rows in released.items())
    if asked.shares is not None and asked.shares[0] > 0:
        low = asked.shares[0]
        failing += sum(released.get(key, 0) < low * rows for key, rows in matches.items())
    least = min((matches.get(key, 0) for key in released), default=0)
    return _matched(asked, failing, len(released), least)


def _matched(asked: Asked, failing: int, released: int, least: int) -> ClaimCheck:
    if failing:
        found = msg("{n:,} of {all:,} combinations do not", n=failing, all=released)
        return ClaimCheck(asked.claim, CheckStatus.FAILED, found, _TABLE)
    found = msg("counted in its file; the combination with the fewest has {n:,} rows", n=least)
    return ClaimCheck(asked.claim, CheckStatus.CONFIRMED, found, _TABLE)


# Where tuples have cells of their own a row of the population matches what it is below of.


def cells_check(
    asked: Asked,
    population: Population,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    remade: Mapping[str, Remake],
    model: object,
    published: PublishedTable,
) -> ClaimCheck:
    """The released combinations of cells against the population.

    Raises InputError where a value of the population has no place in a hierarchy.
    """
    from dpdesk.core.jobs import CancelToken

    people, fits = population.table, []
    if people.attributes != tuple(names):
        raise InputError("verify.population", "The population was counted by other columns.")
    counted = published.combinations(names, CancelToken())
    for place, (name, texts) in enumerate(zip(names, counted.texts, strict=True)):
        domain = people.domains[place]
        lost = [domain[code] for code in sorted(people.missing[place])] if people.missing else []
        paths = _paths(name, domain, lost, hierarchies[name], remade.get(name))
        fits.append([[_stands_for(text, paths[value], model) for value in domain]
                     for text in texts])  # fmt: skip
    matching_rows = np.zeros(len(counted.codes), np.int64)
    below = [np.array(each, np.bool_).reshape(-1, len(people.domains[j]))
             for j, each in enumerate(fits)]  # fmt: skip
    order = sorted(range(len(below)), key=lambda j: len(below[j]))
    every = np.arange(len(counted.codes)), np.arange(len(people.counts))
    waiting: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = [(*every, 0)]
    while waiting:
        released, there, at = waiting.pop()
        if at == len(order) or not len(there):
            matching_rows[released] = people.counts[there].sum()
            continue
        j = order[at]
        for text in np.unique(counted.codes[released, j]).tolist():
            inside = there[below[j][text][people.codes[there, j]]]
            waiting.append((released[counted.codes[released, j] == text], inside, at + 1))
    failing = int((matching_rows < asked.k_map).sum())
    least = int(matching_rows.min()) if len(matching_rows) else 0
    return _matched(asked, failing, len(matching_rows), least)


def _stands_for(text: str, path: Texts, model: object) -> bool:
    """Whether a cell with this text may be of a value with this path to the top."""
    if model in _STARRED and text == "*":
        return True
    return text == path[0] if model in ("AS", "CS") else text in path
