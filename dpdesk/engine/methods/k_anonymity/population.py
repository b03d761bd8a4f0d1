"""What a file of the population asks of classes: k-map and delta-presence.

Its rows are generalised by the hierarchies of the plan. A class matches the rows of the population
with its values.

k-map
    A class needs ``k_map`` matching rows. Further up the lattice a class matches the rows of all
    classes that it holds, so the rows that stay still do: monotone, and a class that fails has no
    class below it that passes.
delta-presence
    The rows of a class, divided by those that it matches, are at most ``delta[1]``. For each tuple
    of the population, those in no class too, the share of released rows is at least ``delta[0]``:
    where that is above 0 nothing may be left out. Not monotone where rows may be suppressed: 10 of
    10 fail 1/2 and 1 of 10 passes, but together 11 of 20 fail. Without suppression it is, for a
    share of two classes together lies between theirs.

Sources: Sweeney (k-map); Nergiz, Atzori, Clifton (δ-presence).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.frequency import Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import Note
from dpdesk.core.messages import counted, msg
from dpdesk.core.plain import quoted
from dpdesk.engine.hierarchies.editing import Remake, remakes
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.k_anonymity.grouping import numbered, tuple_keys

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PopulationRows:
    """The rows of a population by tuples, and what is asked of the classes that match them.

    ``above[j][l]`` gives for each value of attribute j its code at level l of the table's
    hierarchy; one that the table does not have there is the number of these codes.
    """

    table: AlignedTable = field(repr=False)
    codes: NDArray[np.int32] = field(repr=False)
    rows: Ints = field(repr=False)
    above: tuple[tuple[NDArray[np.int32], ...], ...] = field(repr=False)
    k_map: int = 0
    delta: tuple[Fraction, Fraction] | None = None

    @classmethod
    def of(
        cls,
        table: AlignedTable,
        population: Population,
        hierarchies: Mapping[str, Hierarchy],
        remakes: Mapping[str, Remake],
        asked: tuple[int, tuple[Fraction, Fraction] | None],
    ) -> PopulationRows:
        """Raises InputError ``k-anonymity.population`` for values that have no place."""
        counts, above = population.table, []
        for place, name in enumerate(table.attributes):
            lost = counts.missing[place] if counts.missing else frozenset()
            missing = [counts.domains[place][code] for code in sorted(lost)]
            whole = _hierarchy(
                table, place, counts.domains[place], missing, hierarchies[name], remakes.get(name)
            )
            if isinstance(whole, InputError):
                raise whole
            if isinstance(whole, str):
                raise _no_place(population.name, name, whole)
            above.append(_codes(table.hierarchies[place], whole, counts.domains[place]))
        return cls(table, counts.codes, counts.counts, tuple(above), *asked)

    def within(self, tuples: Ints) -> PopulationRows:
        """The same rows beside some tuples of the table alone."""
        table = self.table
        some = replace(table, codes=table.codes[tuples], counts=table.counts[tuples])
        return replace(self, table=some)

    def starred(self, table: AlignedTable) -> PopulationRows:
        """The same rows beside a table whose hierarchies are each value and ``*``."""
        above = tuple((levels[0], np.zeros_like(levels[0])) for levels in self.above)
        return replace(self, table=table, above=above)

    def in_classes(self, of_tuple: Ints, classes: int, levels: Sequence[int]) -> tuple[Ints, bool]:
        """The rows that each class of a node matches, and whether every row is matched."""
        columns, widths = [], []
        for place, level in enumerate(levels):
            hierarchy = self.table.hierarchies[place]
            shown = hierarchy.ancestors(level)[self.table.codes[:, place]]
            matched = self.above[place][level][self.codes[:, place]]
            columns.append(np.concatenate([shown, matched]))
            widths.append(len(hierarchy.labels[level]) + 1)
        tuples = len(of_tuple)
        _, number = numbered(*tuple_keys(columns, widths, tuples + len(self.rows)))
        found = np.bincount(number[tuples:], self.rows, int(number.max(initial=-1)) + 1)
        member = np.zeros(classes, np.int64)
        member[of_tuple] = number[:tuples]
        matched_rows = found[member].astype(np.int64)
        return matched_rows, int(matched_rows.sum()) == int(self.rows.sum())

    def mapped(self, of_tuple: Ints, classes: int, levels: Sequence[int]) -> Bools:
        """Which classes match ``k_map`` rows."""
        found: Bools = self.in_classes(of_tuple, classes, levels)[0] >= self.k_map
        return found

    def present(self, of_tuple: Ints, sizes: Ints, levels: Sequence[int]) -> Bools:
        """Which classes are within the greatest share, exactly; none where the least one fails."""
        if self.delta is None:
            return np.ones(len(sizes), np.bool_)
        matched, whole = self.in_classes(of_tuple, len(sizes), levels)
        low, high = self.delta
        passes = _at_most(sizes, matched, high)
        if low > 0 and not (whole and bool(_at_most(matched, sizes, 1 / low).all())):
            return np.zeros(len(sizes), np.bool_)
        return passes

    def allows(self, kept: Bools) -> bool:
        """Whether classes may be left out as they are: not where each tuple needs a share."""
        return self.delta is None or self.delta[0] == 0 or bool(kept.all())

    @property
    def absent(self) -> int:
        """Rows of the table beyond those that the population has with the same values."""
        own = np.arange(len(self.table.counts))
        matched, _ = self.in_classes(own, len(own), [0] * len(self.table.attributes))
        return int(np.maximum(self.table.counts - matched, 0).sum())


def _at_most(rows: Ints, of: Ints, share: Fraction) -> Bools:
    """Whether rows ≤ share · of, by integers; products of rows and shares fit Python's own."""
    if share.numerator < 1 << 20 and share.denominator < 1 << 20:
        found: Bools = rows * share.denominator <= of * share.numerator
        return found
    pairs = zip(rows.tolist(), of.tolist(), strict=True)
    return np.array([n * share.denominator <= m * share.numerator for n, m in pairs], np.bool_)


def _hierarchy(
    table: AlignedTable,
    place: int,
    domain: Sequence[str],
    missing: Sequence[str],
    given: Hierarchy,
    remake: Remake | None,
) -> Hierarchy | str | InputError:
    """A hierarchy with a leaf for all values of the population, or the value that has none.

    One that is made from values is made of those of both; what the table shows must stay the same.
    """
    own = table.hierarchies[place]
    if all(value in own.leaf_codes for value in domain):
        return own
    if remake is None:
        whole = given.with_untouched_leaves(missing)
    else:
        lost = {*missing, *(own.leaves[code] for code in table.missing[place])}
        made = remake([*own.leaves, *(v for v in domain if v not in own.leaf_codes)], lost)
        whole = own if made is None else made.with_untouched_leaves(sorted(lost))
        known = {row[0]: row for row in whole.rows()}
        if made is None or any(known.get(row[0]) != row for row in own.rows()):
            return _other_levels(table.attributes[place])
    return next((value for value in domain if value not in whole.leaf_codes), whole)


def _codes(
    own: Hierarchy, whole: Hierarchy, domain: Sequence[str]
) -> tuple[NDArray[np.int32], ...]:
    leaves = np.array([whole.leaf_codes[value] for value in domain], np.int64)
    found = []
    for level, labels in enumerate(own.labels):
        index = {label: code for code, label in enumerate(labels)}
        at = min(level, whole.height)
        codes = np.array([index.get(text, len(labels)) for text in whole.labels[at]], np.int32)
        if level == own.height:
            codes[:] = 0
        found.append(codes[whole.ancestors(at)[leaves]])
    return tuple(found)


def _no_place(file: str, name: str, value: str) -> InputError:
    return InputError(
        "k-anonymity.population",
        msg(
            "{file}: the value {value} of `{name}` has no leaf in its hierarchy, expected one for "
            "each value of the population.",
            file=file,
            value=quoted(value),
            name=name,
        ),
        hint="Add the value to the hierarchy, or write it as the source does.",
        details={"key": "population", "attribute": name},
    )


def _other_levels(name: str) -> InputError:
    return InputError(
        "k-anonymity.population",
        msg(
            "The levels of `{name}` are made from the data, and values that only the population "
            "has would change them, expected levels that do not depend on the data.",
            name=name,
        ),
        hint="Write out in the plan what makes them, or use a hierarchy from a file.",
        details={"key": "population", "attribute": name},
    )


def recorded(population: Population | None) -> dict[str, object]:
    """Which file the population was, for the evidence; empty without one."""
    if population is None:
        return {}
    size = {} if population.size is None else {"bytes": population.size}
    told = {"name": population.name, "sha256": population.sha256, **size}
    return {"population": told | {"rows": population.table.rows}}


def population_rows(
    given: MethodInput, table: AlignedTable, asked: tuple[int, tuple[Fraction, Fraction] | None]
) -> PopulationRows:
    """The population of a run beside its table; ``asked`` are its rows for a class, and shares.

    Raises RefusedError where its file was not read, and as :meth:`PopulationRows.of`.
    """
    if given.population is None:
        raise RefusedError(
            "k-anonymity.population",
            msg("{where}: the population file was not read.", where=given.where),
            details={"key": "population"},
        )
    return PopulationRows.of(table, given.population, given.hierarchies, remakes(given.made), asked)


def people_of(
    given: MethodInput, table: AlignedTable, asked: tuple[int, tuple[Fraction, Fraction] | None]
) -> tuple[PopulationRows, tuple[Note, ...]]:
    """The population beside a table, and the note on rows that it lacks.

    Raises as :func:`population_rows` and :func:`absent_rows`.
    """
    rows = population_rows(given, table, asked)
    file = "" if given.population is None else given.population.name
    return rows, absent_rows(rows, file, given.source.name)


def absent_rows(rows: PopulationRows, file: str, source: str) -> tuple[Note, ...]:
    """A note on rows that the population lacks; InputError where a share needs all of them."""
    if not rows.absent:
        return ()
    sentence = counted(
        "{n:,} row of {source} is not in the population file {file}: no row there has its values, "
        "or too few have.",
        "{n:,} rows of {source} are not in the population file {file}: no row there has their "
        "values, or too few have.",
        n=rows.absent,
        source=source,
        file=file,
    )
    if rows.delta is None:
        return (Note("population.absent", sentence),)
    raise InputError(
        "k-anonymity.population",
        sentence,
        hint="delta-presence requires a sample of the population; check that both files are coded "
        "alike and have the same reference date.",
        details={"key": "population"},
    )
