"""Re-check, with the source at hand, what the public files of a k-anonymous release cannot show.

Shares nothing with the search: values are generalised by looking them up, tuples are grouped by
sorting, and the figures follow their definitions one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource, FrequencyTable, Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.recoding import TupleRecoding
from dpdesk.core.release import CheckStatus, ClaimCheck, GroupSizes, PublishedTable
from dpdesk.core.schema import Role
from dpdesk.verifiers.anonymity.remaking import (
    Asked,
    asked_of,
    held_in,
    matching,
    population_check,
    released_texts,
    staying_matched,
    tree_of,
)
from dpdesk.verifiers.anonymity.requirements import (
    ANY,
    CATEGORY,
    NONE,
    Held,
    household_rows,
    kept_classes,
    missing_labels,
    number_rows,
    own_tuples,
    staying,
)
from dpdesk.verifiers.anonymity.shapes import allowed_rows
from dpdesk.verifiers.anonymity.verification import (
    DROP,
    MANIFEST,
    MISSING_VALUES,
    NONE_MISSING,
    RELEASED_ROLES,
    TABLE,
    Claimed,
    Worded,
    claim_of,
    compare,
    has_levels,
    household_claim,
    household_column,
    merged,
    required_check,
    required_claim,
    verify_public,
    whole_number,
)

_CONFIRMED = CheckStatus.CONFIRMED
_FAILED = CheckStatus.FAILED
_EARLIER = "as an earlier version counts it: with values that only suppressed rows have"


Remake = Callable[[Sequence[str], Collection[str]], Hierarchy | None]
"""The hierarchy that the plan makes of some values, some of which mean a missing one."""

_NONE_MADE: Mapping[str, Remake] = {}


class Told(NamedTuple):
    """Which leaves of a hierarchy count in a public figure, and how many steps it has."""

    leaves: frozenset[str]
    height: int


@dataclass(frozen=True, eq=False)
class _Generalised:
    """The source's tuples at the claimed levels, and what became of each."""

    table: FrequencyTable
    hierarchies: tuple[Hierarchy, ...]
    levels: tuple[int, ...]
    labels: NDArray[np.int64]  # (tuples, attributes), codes of the labels at the levels
    rows_kept: NDArray[np.int64]  # (tuples,)
    sizes: NDArray[np.int64]  # sizes of the kept classes
    leaves: tuple[frozenset[str], ...]  # of the plan's hierarchies
    told: tuple[Told, ...]  # what a release may tell of each
    missing: tuple[frozenset[str], ...]  # labels of each that mean a missing value

    @property
    def rows(self) -> int:
        return self.table.rows

    @property
    def suppressed(self) -> int:
        return self.rows - int(self.rows_kept.sum())

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which tuples have rows that stay."""
        found: NDArray[np.bool_] = self.rows_kept > 0
        return found


def verify_against_source(
    manifest: Mapping[str, object],
    published: PublishedTable,
    source: FrequencySource,
    roles: Mapping[str, Role],
    hierarchies: Mapping[str, Hierarchy],
    worded: Worded,
    token: CancelToken,
    remade: Mapping[str, Remake] = _NONE_MADE,
    recoding: TupleRecoding | None = None,
    population: Population | None = None,
    decimal: str = ".",
) -> tuple[ClaimCheck, ...]:
    """All checks of :func:`~.verification.verify_public`, settled with the source where possible.

    The table must be what comes out when the source's values are replaced by their generalisations
    at the claimed levels and the classes below the claimed k are left out. ``remade`` hold, for
    hierarchies that the plan leaves to be made from values, what makes them of the released ones.
    Where tuples have values of their own, ``recoding`` says how they are said to come about; it is
    followed from the source to the table, and nothing of it is believed. ``population`` is needed
    where the guarantee speaks of one. ``decimal`` is the decimal mark of the source.
    """
    public = verify_public(manifest, published, worded, token)
    claimed = claim_of(manifest, published)
    result = manifest.get("result")
    if claimed is None or not isinstance(result, Mapping):
        return public
    released = _released(manifest, claimed, roles)
    checks = _role_checks(claimed, published, released)
    checks.append(_unchanged_check(manifest, released))
    if any(check.status is _FAILED for check in checks):
        return merged(public, checks)
    checks += _hierarchy_checks(claimed, published, source, hierarchies, decimal, token)
    if not has_levels(manifest.get("parameters")):
        from dpdesk.verifiers.anonymity.following import cells_checks, follow

        followed = source, hierarchies, remade, decimal
        checks += follow(manifest, result, claimed, published, followed, recoding, token)
        checks += cells_checks(manifest, claimed, published, (hierarchies, remade, population))
        return merged(public, checks)
    try:
        given = source, roles, hierarchies, remade, population
        found = _generalise(claimed, result, given, token, manifest)
    except InputError as error:
        node = ClaimCheck("node", _FAILED, error.sentence, MANIFEST)
        return merged(public, [*checks, node])
    checks.append(_table_check(found, claimed, published, token))
    if checks[-1].status is not _FAILED:
        checks += _missing_checks(found, claimed)
        checks += _household_checks(claimed)
        checks += population_checks(claimed, published, given, found.levels)
    checks += suppression_checks(found.suppressed, found.rows, manifest, result)
    checks += _limit_checks(found, manifest, source, token)
    checks += _level_checks(found, manifest)
    checks += _metric_checks(found, result, token)
    return merged(public, checks)


def verify_against_population(
    manifest: Mapping[str, object],
    published: PublishedTable,
    public: tuple[ClaimCheck, ...],
    given: Given,
) -> tuple[ClaimCheck, ...]:
    """The ``public`` checks, with what a file of the population settles without the source."""
    claimed, result = claim_of(manifest, published), manifest.get("result")
    if claimed is None or not isinstance(result, Mapping) or not asked_of(claimed.population):
        return public
    if not has_levels(manifest.get("parameters")):
        from dpdesk.verifiers.anonymity.following import cells_checks

        return merged(public, cells_checks(manifest, claimed, published, given[2:]))
    node = result.get("node")
    names = claimed.quasi_identifiers
    levels = [whole_number(node.get(name)) if isinstance(node, Mapping) else None for name in names]
    known = [level for level in levels if level is not None]
    if len(known) != len(levels):
        return public
    return merged(public, population_checks(claimed, published, given, known))


def _released(
    manifest: Mapping[str, object], claimed: Claimed, roles: Mapping[str, Role]
) -> dict[str, Role]:
    """The roles of the columns; one of households that is left out is an identifier."""
    given = manifest.get("parameters")
    handling = given.get("household_id", DROP) if isinstance(given, Mapping) else DROP
    found = dict(roles)
    if claimed.whole_households and handling == DROP:
        found |= {name: Role.IDENTIFIER for name, role in roles.items() if role is Role.CLUSTER}
    return found


def _role_checks(
    claimed: Claimed, published: PublishedTable, roles: Mapping[str, Role]
) -> list[ClaimCheck]:
    quasi = [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    left_out = [name for name in quasi if name not in claimed.quasi_identifiers]
    extra = [name for name in claimed.quasi_identifiers if name not in quasi]
    claim = "quasi-identifiers as in the plan"
    if left_out or extra:
        found = msg("the guarantee leaves out {names}", names=", ".join(left_out))
        if not left_out:
            found = msg("the plan does not have {names}", names=", ".join(extra))
        check = ClaimCheck(claim, _FAILED, found, MANIFEST)
    else:
        check = ClaimCheck(claim, _CONFIRMED, msg("the same {n} columns", n=len(quasi)), MANIFEST)
    present = [
        name
        for name, role in roles.items()
        if role is Role.IDENTIFIER and name in published.columns
    ]
    identifiers = "identifiers are left out"
    if present:
        found = msg("the table still has {columns}", columns=", ".join(present))
        return [check, ClaimCheck(identifiers, _FAILED, found, TABLE)]
    return [check, ClaimCheck(identifiers, _CONFIRMED, "none is in the table", TABLE)]


def _unchanged_check(manifest: Mapping[str, object], roles: Mapping[str, Role]) -> ClaimCheck:
    """The guarantee calls every other released column what the plan calls it."""
    claim = "roles of the other columns as in the plan"
    guarantee = manifest.get("guarantee")
    named = guarantee.get("parameters") if isinstance(guarantee, Mapping) else None
    for role in RELEASED_ROLES:
        wanted = [name for name, given in roles.items() if given is role]
        found = named.get(role.value, []) if isinstance(named, Mapping) else []
        if found != wanted:
            text = msg("the guarantee has other {value} columns than the plan", value=role.value)
            return ClaimCheck(claim, _FAILED, text, MANIFEST)
    return ClaimCheck(claim, _CONFIRMED, "the same columns under each role", MANIFEST)


Given = tuple[
    FrequencySource,
    Mapping[str, Role],
    Mapping[str, Hierarchy],
    Mapping[str, Remake],
    Population | None,
]
"""Source, roles of its columns, hierarchies, what makes some again, and the population."""


def _generalise(
    claimed: Claimed,
    result: Mapping[str, object],
    given: Given,
    token: CancelToken,
    manifest: Mapping[str, object],
) -> _Generalised:
    source, roles, hierarchies, remade, population = given
    node = result.get("node")
    table = source.frequency_table(claimed.quasi_identifiers, token)
    labels = np.empty(table.codes.shape, dtype=np.int64)
    used, levels = [], []
    for position, name in enumerate(table.attributes):
        token.check()
        hierarchy = extended(hierarchies, table, position)
        level = whole_number(node.get(name)) if isinstance(node, Mapping) else None
        if level is None or level > hierarchy.height:
            raise InputError(
                "verify.level",
                msg(
                    "`{name}` is at level {level}, expected 0 to {height}.",
                    name=name,
                    level=level,
                    height=hierarchy.height,
                ),
            )
        labels[:, position] = _labels_at(hierarchy, level, table, position)
        used.append(hierarchy)
        levels.append(level)
    kept, sizes = _classes(labels, table.counts, claimed.k)
    missing, lost = _missing(claimed, table, labels, used, levels)
    gone = np.asarray(lost.any(axis=1))
    if asked := asked_of(claimed.population):
        gone = gone | ~_matched(asked, table, labels, used, levels, remade, population)
    if claimed.required or (asked and not claimed.whole_households):
        place = source, hierarchies, token
        kept, sizes = _requiring(claimed, table, labels, gone, *place)
    elif claimed.missing_as != CATEGORY:
        kept = staying(claimed.missing_as, labels, lost, table.counts, claimed.k)
        which = number_rows(labels)
        sizes = np.bincount(which[kept], table.counts[kept]).astype(np.int64)
        sizes = sizes[sizes > 0]
    rows_kept = np.where(kept, table.counts, 0)
    if claimed.whole_households:
        column = household_column(manifest, roles)
        passing = ~gone if asked else None
        asked_for = claimed.k, column, source, token, passing
        rows_kept, _ = household_rows(table, labels, *asked_for)
        sizes = np.bincount(number_rows(labels), rows_kept).astype(np.int64)
        kept, sizes = rows_kept > 0, sizes[sizes > 0]
    leaves = tuple(frozenset(hierarchies[name].labels[0]) for name in table.attributes)
    told = tuple(
        told_of(table, place, used[place], leaves[place], kept, remade.get(name))
        for place, name in enumerate(table.attributes)
    )
    at = table, tuple(used), tuple(levels), labels
    return _Generalised(*at, rows_kept, sizes, leaves, told, missing)


def _matched(
    asked: Asked,
    table: FrequencyTable,
    labels: NDArray[np.int64],
    used: Sequence[Hierarchy],
    levels: Sequence[int],
    remade: Mapping[str, Remake],
    population: Population | None,
) -> NDArray[np.bool_]:
    """Which tuples are in classes that match what they must in the population."""
    if population is None:
        raise InputError("verify.population", "The population file is not available.")
    trees = dict(zip(table.attributes, used, strict=True))
    matches = matching(population, table.attributes, trees, levels, remade)
    names = [tree.labels[level] for tree, level in zip(used, levels, strict=True)]
    shown = [tuple(n[c] for n, c in zip(names, row, strict=True)) for row in labels.tolist()]
    which = number_rows(labels)
    sizes = np.bincount(which, table.counts).astype(np.int64)[which]
    return staying_matched(asked, matches, shown, sizes.tolist())


def _missing(
    claimed: Claimed,
    table: FrequencyTable,
    labels: NDArray[np.int64],
    used: Sequence[Hierarchy],
    levels: Sequence[int],
) -> tuple[tuple[frozenset[str], ...], NDArray[np.bool_]]:
    """The labels of each column that mean a missing value, and the cells that hold them."""
    lost = np.zeros(labels.shape, np.bool_)
    found = []
    for place, (hierarchy, level) in enumerate(zip(used, levels, strict=True)):
        texts = released_texts(table, place, hierarchy, level)
        named = missing_labels(table, place, texts, hierarchy, level, claimed.missing_as)
        at = [code for code, text in enumerate(hierarchy.labels[level]) if text in named]
        lost[:, place] = np.isin(labels[:, place], at)
        found.append(named)
    return tuple(found), lost


def _missing_checks(found: _Generalised, claimed: Claimed) -> list[ClaimCheck]:
    """Which released labels mean a missing value, by the source."""
    if claimed.missing_as == NONE:
        text = "the source gives this table without such rows"
        return [ClaimCheck(NONE_MISSING, _CONFIRMED, text, TABLE)]
    if claimed.missing_as != ANY:
        return []
    shown = {}
    for place, name in enumerate(claimed.quasi_identifiers):
        labels = sorted(found.missing[place] & set(_value_counts(found, place)))
        if labels:
            shown[name] = tuple(labels)
    claim = MISSING_VALUES
    if shown != dict(claimed.missing):
        text = "the guarantee names values other than those that the source gives"
        return [ClaimCheck(claim, _FAILED, text, MANIFEST)]
    return [ClaimCheck(claim, _CONFIRMED, "the source gives the same ones", MANIFEST)]


def _household_checks(claimed: Claimed) -> list[ClaimCheck]:
    """The table is that of the source without the households that leave: each class has k."""
    if not claimed.whole_households:
        return []
    text = "the source gives this table, with whole households left out until each class has k"
    return [ClaimCheck(household_claim(claimed), _CONFIRMED, text, TABLE)]


def population_checks(
    claimed: Claimed, published: PublishedTable, given: Given, levels: Sequence[int]
) -> list[ClaimCheck]:
    """What the guarantee says of the population, counted in the table and in its file."""
    _, _, hierarchies, remade, population = given
    asked = asked_of(claimed.population)
    if not asked or population is None:
        return []
    names = claimed.quasi_identifiers
    matches = matching(population, names, hierarchies, levels, remade)
    return [population_check(asked, matches, names, published)]


def told_of(
    table: FrequencyTable,
    position: int,
    hierarchy: Hierarchy,
    leaves: frozenset[str],
    kept: NDArray[np.bool_],
    remake: Remake | None,
) -> Told:
    """Without values that only suppressed rows have, where these made the hierarchy.

    Where the plan makes none of the released values alone, these count, up to the first level at
    which they are one group.
    """
    domain = table.domains[position]
    held = {domain[code] for code in np.unique(table.codes[kept, position]).tolist()}
    if remake is None:
        return Told(leaves | held, hierarchy.height)
    occurring = {domain[code] for code in np.unique(table.codes[:, position]).tolist()}
    if not held or held == occurring:
        return Told(frozenset(hierarchy.labels[0]), hierarchy.height)
    missing = {domain[code] for code in table.missing[position]} if table.missing else set()
    shown = [value for value in domain if value in held]
    alone = remake(shown, [value for value in shown if value in missing])
    if alone is not None:
        alone = alone.with_untouched_leaves([value for value in shown if value in missing])
        return Told(frozenset(alone.labels[0]), alone.height)
    rows = [row for row in hierarchy.rows() if row[0] in held]
    height = next(level for level in range(len(rows[0])) if len({r[level] for r in rows}) == 1)
    return Told(frozenset(held), height)


def extended(
    hierarchies: Mapping[str, Hierarchy], table: FrequencyTable, position: int
) -> Hierarchy:
    """The plan's hierarchy, with a leaf of its own for each missing token (interface, plan)."""
    name = table.attributes[position]
    if name not in hierarchies:
        raise InputError(
            "verify.hierarchy", msg("`{name}` has no hierarchy in the plan.", name=name)
        )
    missing = sorted(table.missing[position]) if table.missing else []
    tokens = [table.domains[position][code] for code in missing]
    return hierarchies[name].with_untouched_leaves(tokens)


def _labels_at(
    hierarchy: Hierarchy, level: int, table: FrequencyTable, position: int
) -> NDArray[np.int64]:
    leaf_of = {value: code for code, value in enumerate(hierarchy.labels[0])}
    codes = np.empty(len(table.domains[position]), dtype=np.int64)
    for index, value in enumerate(table.domains[position]):
        code = leaf_of.get(value)
        if code is None:
            raise InputError(
                "verify.leaf",
                msg(
                    "`{value}` of `{attributes}` has no leaf in its hierarchy.",
                    value=value,
                    attributes=table.attributes[position],
                ),
            )
        for step in range(level):
            code = int(hierarchy.parents[step][code])
        codes[index] = code
    return codes[table.codes[:, position]]


def _classes(
    labels: NDArray[np.int64], counts: NDArray[np.int64], k: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which tuples stand in classes of k or more rows, and the sizes of those classes."""
    if not len(labels):
        return np.zeros(0, np.bool_), np.zeros(0, np.int64)
    keys = _one_key(labels)
    order = np.lexsort(keys.T)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]))
    sizes = np.add.reduceat(counts[order], starts)
    lengths = np.diff(np.append(starts, len(order)))
    kept = np.empty(len(order), dtype=np.bool_)
    kept[order] = np.repeat(sizes >= k, lengths)
    return kept, sizes[sizes >= k]


def _requiring(
    claimed: Claimed,
    table: FrequencyTable,
    labels: NDArray[np.int64],
    lost: NDArray[np.bool_],
    source: FrequencySource,
    hierarchies: Mapping[str, Hierarchy],
    token: CancelToken,
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """As :func:`_classes`, where classes must pass what is required besides k.

    Tuples that are ``lost``, with a missing value that matches nothing, leave at once.
    """
    held = {}
    for each in claimed.required:
        try:
            held[each] = held_in(each, table, labels, source, hierarchies, token)
        except KeyError as error:
            raise InputError(
                "verify.leaf",
                msg(
                    "`{value}` of `{attributes}` has no leaf in its hierarchy.",
                    value=error.args[0],
                    attributes=each.attribute,
                ),
            ) from error
    which = number_rows(labels)
    sizes = np.bincount(which, table.counts).astype(np.int64)
    counted = np.bincount(which, np.where(lost, 0, table.counts)).astype(np.int64)
    kept = kept_classes(counted, claimed.k, claimed.required, held)
    return kept[which], sizes[kept]


def _one_key(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Equal rows get equal keys, others different ones: one column where the codes fit into one."""
    spans = [int(column.max()) + 1 for column in labels.T]
    if math.prod(spans) >= 2**63:
        return labels
    key = np.zeros(len(labels), dtype=np.int64)
    for span, column in zip(spans, labels.T, strict=True):
        key = key * span + column
    return key.reshape(-1, 1)


def _table_check(
    found: _Generalised, claimed: Claimed, published: PublishedTable, token: CancelToken
) -> ClaimCheck:
    """The released rows are the source's rows at the claimed levels, class by class."""
    claim = "node"
    sizes = published.group_sizes(claimed.quasi_identifiers, token)
    expected = GroupSizes(
        groups=len(found.sizes),
        rows=int(found.sizes.sum()),
        smallest=int(found.sizes.min()) if len(found.sizes) else 0,
        sum_of_squares=int((found.sizes * found.sizes).sum()),
    )
    if sizes != expected:
        text = msg(
            "the source gives {groups:,} classes with {rows:,} rows at these levels, the "
            "table has {groups2:,} with {rows2:,}",
            groups=expected.groups,
            rows=expected.rows,
            groups2=sizes.groups,
            rows2=sizes.rows,
        )
        return ClaimCheck(claim, _FAILED, text, TABLE)
    for position, name in enumerate(claimed.quasi_identifiers):
        token.check()
        if _value_counts(found, position) != dict(published.value_counts(name, token)):
            text = msg(
                "the released values of `{name}` are not those of the source at this level",
                name=name,
            )
            return ClaimCheck(claim, _FAILED, text, TABLE)
    return ClaimCheck(claim, _CONFIRMED, "the source gives this table at these levels", TABLE)


def _value_counts(found: _Generalised, position: int) -> dict[str, int]:
    names = found.hierarchies[position].labels[found.levels[position]]
    counts = np.zeros(len(names), dtype=np.int64)
    np.add.at(counts, found.labels[:, position], found.rows_kept)
    return {names[code]: int(count) for code, count in enumerate(counts) if count}


def _hierarchy_checks(
    claimed: Claimed,
    published: PublishedTable,
    source: FrequencySource,
    hierarchies: Mapping[str, Hierarchy],
    decimal: str,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Requirements along a hierarchy, in the released rows; whether one was used at all."""
    checks = []
    for each in claimed.required:
        claim, names = required_claim(each), (*claimed.quasi_identifiers, each.attribute)
        if each.variant not in ("ordered", "hierarchical"):
            continue
        if each.by_hierarchy is (each.attribute not in hierarchies):
            text = "the guarantee and the plan differ in whether it has a hierarchy"
            checks.append(ClaimCheck(claim, _FAILED, text, MANIFEST))
        elif not each.by_hierarchy and each.decimal != decimal:
            text = "the guarantee and the source differ in the decimal mark of numbers"
            checks.append(ClaimCheck(claim, _FAILED, text, MANIFEST))
        elif each.by_hierarchy:
            tree = tree_of(source.frequency_table(names, token), hierarchies)
            counted = published.combinations(names, token)
            classes, texts = number_rows(counted.codes[:, :-1]), counted.texts[-1]
            try:
                held = Held.of(classes, counted.codes[:, -1], counted.rows, texts, tree)
            except KeyError as error:
                text = msg("`{value}` has no leaf in its hierarchy", value=error.args[0])
                checks.append(ClaimCheck(claim, _FAILED, text, TABLE))
            else:
                checks.append(required_check(each, held, claim))
    return checks


def _limit_checks(
    found: _Generalised,
    manifest: Mapping[str, object],
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """No value of a column loses a larger share of its rows than the settings allow."""
    parameters = manifest.get("parameters")
    limits = parameters.get("max_suppression_of") if isinstance(parameters, Mapping) else None
    checks, table = [], found.table
    for name, raw in limits.items() if isinstance(limits, Mapping) else ():
        claim = msg("suppression of each value of {column} within its limit", column=name)
        share = None if isinstance(raw, bool | str) else exact_number(raw)
        if share is None or name not in source.columns:
            checks.append(ClaimCheck(claim, _FAILED, "the limit cannot be read", MANIFEST))
            continue
        rows, left, values = table.counts, found.rows_kept, table.codes[:, 0]
        domain = table.domains[0]
        if name in table.attributes:
            place = table.attributes.index(name)
            domain, values = table.domains[place], table.codes[:, place]
        else:
            joint = source.frequency_table((*table.attributes, name), token)
            of_tuple = own_tuples(table, joint)
            rows, values, domain = joint.counts, joint.codes[:, -1], joint.domains[-1]
            left = np.where(found.rows_kept[of_tuple] > 0, rows, 0)
        all_rows, kept = (np.bincount(values, n, len(domain)).astype(int) for n in (rows, left))
        worst = [
            value
            for value, n, m in zip(domain, all_rows.tolist(), kept.tolist(), strict=True)
            if n - m > int(share * n)
        ]
        text = msg("{n:,} of {all:,} values lose more rows", n=len(worst), all=len(domain))
        checks.append(ClaimCheck(claim, _FAILED if worst else _CONFIRMED, text, TABLE))
    return checks


def _level_checks(found: _Generalised, manifest: Mapping[str, object]) -> list[ClaimCheck]:
    """The level of each column is one that the settings allow."""
    checks = []
    for name, level in zip(found.table.attributes, found.levels, strict=True):
        if (allowed := level_limits(manifest, name)) is None:
            continue
        claim = msg("levels of {column} within their limits", column=name)
        status = _CONFIRMED if allowed[0] <= level <= allowed[1] else _FAILED
        checks.append(ClaimCheck(claim, status, msg("level {level}", level=level), MANIFEST))
    return checks


def level_limits(manifest: Mapping[str, object], name: str) -> tuple[float, float] | None:
    """The least and the greatest level that the settings allow a column; None without limits.

    A limit that cannot be read allows no level.
    """
    given = manifest.get("parameters")
    found = [0.0, math.inf]
    limited = False
    for place, key in enumerate(("min_level", "max_level")):
        limits = given.get(key) if isinstance(given, Mapping) else None
        if limits is None or (isinstance(limits, Mapping) and name not in limits):
            continue
        limited = True
        level = whole_number(limits[name]) if isinstance(limits, Mapping) else None
        found[place] = (math.inf, -1.0)[place] if level is None else level
    return (found[0], found[1]) if limited else None


def suppression_checks(
    suppressed: int, rows: int, manifest: Mapping[str, object], result: Mapping[str, object]
) -> list[ClaimCheck]:
    """``rows_suppressed`` and its limit against ``suppressed`` of ``rows`` rows of the source."""
    checks = [settled("rows_suppressed", result.get("rows_suppressed"), suppressed)]
    allowed = allowed_rows(manifest.get("parameters"), rows)
    if allowed is not None:
        status = _CONFIRMED if suppressed <= allowed else _FAILED
        text = msg(
            "{n:,} of {rows:,} rows of the source, {allowed:,} allowed",
            n=suppressed,
            rows=rows,
            allowed=allowed,
        )
        checks.append(ClaimCheck("suppression within max_suppression", status, text, TABLE))
    return checks


def _metric_checks(
    found: _Generalised, result: Mapping[str, object], token: CancelToken
) -> list[ClaimCheck]:
    """Figures as they are told today, or as an earlier version told them."""
    claimed = result.get("metrics")
    if not isinstance(claimed, Mapping):
        return []
    token.check()
    discernibility = int((found.sizes * found.sizes).sum()) + found.suppressed * found.rows
    checks = [settled("metrics, discernibility", claimed.get("discernibility"), discernibility)]
    forms = [found, *(replace(found, told=told) for told in _told_earlier(found))]
    for key, measure in (("loss", _loss), ("precision", _precision)):
        claim, value = msg("metrics, {key}", key=key), claimed.get(key)
        tried = [settled(claim, value, measure(form)) for form in forms]
        right = [check for check in tried if check.status is not _FAILED]
        best = right[0] if right else tried[0]
        if right and best is not tried[0]:
            best = replace(best, found=joined([best.found, _EARLIER], ", "))
        checks.append(best)
    if "entropy" in claimed:
        entropy = math.fsum(_entropy(found, place) for place in range(len(found.levels)))
        checks.append(settled("metrics, entropy", claimed["entropy"], entropy))
    return checks


def _told_earlier(found: _Generalised) -> list[tuple[Told, ...]]:
    """What earlier versions told: values of suppressed rows, the earliest missing ones as well."""
    whole, listed = [], []
    for position, hierarchy in enumerate(found.hierarchies):
        domain = found.table.domains[position]
        held = {domain[code] for code in np.unique(found.table.codes[found.kept, position])}
        listed.append(Told(found.leaves[position] | held, hierarchy.height))
        whole.append(Told(frozenset(hierarchy.labels[0]), hierarchy.height))
    return [tuple(listed), tuple(whole)]


def settled(claim: str, claimed: object, found: float) -> ClaimCheck:
    """A number of the manifest against what the source gives."""
    check = compare(claim, claimed, found)
    if check.status is _FAILED:
        return check
    return replace(check, found=msg("{found} with the source", found=check.found))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _loss(found: _Generalised) -> float:
    """Mean over the cells of (leaves covered - 1)/(leaves - 1); suppressed cells count 1.

    The leaves are those that a release may tell.
    """
    return _mean([_column_loss(found, position) for position in range(len(found.levels))])


def _column_loss(found: _Generalised, position: int) -> float:
    hierarchy, level = found.hierarchies[position], found.levels[position]
    above = np.arange(len(hierarchy.labels[0]), dtype=np.int64)
    for step in range(level):
        above = hierarchy.parents[step][above].astype(np.int64)
    counts = [text in found.told[position].leaves for text in hierarchy.labels[0]]
    leaves = sum(counts)
    weights = np.array(counts, dtype=np.float64)
    covered = np.bincount(above, weights, len(hierarchy.labels[level])).astype(np.int64)
    cells = covered[found.labels[:, position]] - 1
    counted = int((cells * found.rows_kept).sum())
    share = counted / (leaves - 1) if leaves > 1 else 0.0
    return (share + found.suppressed) / found.rows


def _precision(found: _Generalised) -> float:
    """1 - the mean over the cells of level/height; suppressed cells are at the top."""
    steps = []
    for level, told in zip(found.levels, found.told, strict=True):
        share = min(level, told.height) / told.height if told.height else 0.0
        steps.append(((found.rows - found.suppressed) * share + found.suppressed) / found.rows)
    return 1 - _mean(steps)


def _entropy(found: _Generalised, position: int) -> float:
    """-sum over the cells of log2(n_raw/n_generalised); suppressed cells are at the top.

    n_raw and n_generalised count rows of the whole source, so a suppressed cell costs
    log2(N/n_raw) bits.
    """
    table, counts = found.table, found.table.counts
    raw_codes = table.codes[:, position]
    raw = np.bincount(raw_codes, weights=counts)[raw_codes]
    labels = found.labels[:, position]
    general = np.bincount(labels, weights=counts)[labels]
    kept, gone = found.rows_kept, counts - found.rows_kept
    return float(np.sum(kept * np.log2(general / raw) + gone * np.log2(found.rows / raw)))
