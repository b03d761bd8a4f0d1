"""Households that are suppressed together, and that k counts instead of rows.

A class fails when its rows are of fewer than k different households (or when it fails what is asked
of it by a population). Each household with a row in such a class leaves with all its rows; then
classes are counted again, until none fails. Rows without a household are one each.

The order does not matter: of two sets of households that leave no failing class the union leaves
none either, so there is a largest one, and a household that leaves is in none of them. Further up
the lattice that set still leaves no failing class, since every class holds one that passed. So no
fewer rows stay, and feasibility is monotone along the lattice; the same holds for fewer columns.

Classes keep some of their rows only. So removing rows can lower discernibility and the average
class size, whose bounds are of whole classes: for them all nodes are counted. Each removed cell
costs as much as any in loss, precision and entropy, and k alone bounds them from below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Figure
from dpdesk.core.compiled import kernel
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.k_anonymity.further_settings import DROP, household_column
from dpdesk.engine.methods.k_anonymity.grouping import GeneralisedTable, numbered, tuple_keys
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, GroupLimit

COST_BY_CLASS = ("discernibility", "average-class-size")
"""Objectives that may get better when a class loses some of its rows."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel
def _count(starts: Any, tuples: Any, of_tuple: Any, alive: Any, seen: Any, counts: Any) -> None:
    """Add to ``counts`` the households that are alive in each class."""
    seen[:] = -1
    for house in range(len(starts) - 1):
        if alive[house]:
            for entry in range(starts[house], starts[house + 1]):
                group = of_tuple[tuples[entry]]
                if seen[group] != house:
                    seen[group] = house
                    counts[group] += 1


@kernel
def _leave(starts: Any, tuples: Any, of_tuple: Any, fails: Any, alive: Any) -> int:
    """Households with a row in a class that fails are not alive any more; how many these are."""
    gone = 0
    for house in range(len(starts) - 1):
        if alive[house]:
            for entry in range(starts[house], starts[house + 1]):
                if fails[of_tuple[tuples[entry]]]:
                    alive[house] = False
                    gone += 1
                    break
    return gone


@dataclass(frozen=True, eq=False)
class Households:
    """The rows of each household in each tuple: those of one lie from ``starts`` on.

    ``texts`` are the values of households, ``alone`` the rows of each tuple without a household.
    """

    texts: tuple[str, ...] = field(repr=False)
    starts: Ints = field(repr=False)
    tuples: Ints = field(repr=False)
    rows: Ints = field(repr=False)
    alone: Ints = field(repr=False)

    @classmethod
    def of(
        cls, houses: Ints, tuples: Ints, rows: Ints, texts: Sequence[str], length: int
    ) -> Households:
        """From entries, one for each household (−1: none) and tuple, of ``length`` tuples."""
        alone = np.bincount(tuples[houses < 0], rows[houses < 0], length).astype(np.int64)
        named = np.flatnonzero(houses >= 0)
        order = named[np.argsort(houses[named], kind="stable")]
        held = np.bincount(houses[named], minlength=len(texts))
        starts = np.concatenate([[0], np.cumsum(held)]).astype(np.int64)
        return cls(tuple(texts), starts, tuples[order], rows[order], alone)

    def staying(
        self, of_tuple: Ints, classes: int, k: int, passing: Bools | None = None
    ) -> tuple[Bools, Ints]:
        """Which households stay, and how many there are in each class, rows without one included.

        ``passing`` are the classes that pass what else is asked of them.
        """
        alone = np.bincount(of_tuple, self.alone, classes).astype(np.int64)
        alive = np.ones(len(self.texts), np.bool_)
        seen = np.empty(classes, np.int64)
        while True:
            counts = alone.copy()
            _count(self.starts, self.tuples, of_tuple, alive, seen, counts)
            fails = counts < k
            if passing is not None:
                fails |= ~passing
            if not _leave(self.starts, self.tuples, of_tuple, fails, alive):
                counts[fails] = 0
                return alive, counts

    def rows_of(self, alive: Bools, counts: Ints, of_tuple: Ints) -> Ints:
        """The rows of each tuple that stay, by what :meth:`staying` gave."""
        whose = np.repeat(alive, np.diff(self.starts))
        rows = np.bincount(self.tuples[whose], self.rows[whose], len(of_tuple)).astype(np.int64)
        found: Ints = rows + np.where(counts[of_tuple] > 0, self.alone, 0)
        return found

    def left_out(self, alive: Bools | None) -> tuple[str, ...]:
        """The values of households that leave."""
        gone = [] if alive is None else np.flatnonzero(~alive).tolist()
        return tuple(self.texts[house] for house in gone)

    def measured(self, classes: GeneralisedTable, k: int) -> dict[str, object]:
        """What the household column gives away, for the evidence: it stays in the agency.

        ``alike`` counts, of the households that stay, those whose make-up (how many rows in which
        classes) fewer than k households have, and those that no other has: where rows of a
        household can be joined, someone who knows all its members needs no more. A row without a
        household is one here, too.
        """
        staying = classes.staying(k)
        alive, counts = staying.households, staying.counted
        if alive is None or counts is None:
            raise TypeError("no households were counted")
        single = np.bincount(classes.of_tuple, self.alone, len(counts)).astype(np.int64)
        others = self._alike(classes.of_tuple, alive, np.where(counts > 0, single, 0))
        shown = counts[counts > 0]
        without = int(self.alone.sum())
        return {
            "households": len(self.texts) + without,
            "rows_without_one": without,
            "kept": len(others),
            "fewest_in_a_class": int(shown.min()) if len(shown) else 0,
            "unique_makeup": int((others == 1).sum()),
            "makeup_below_k": int((others < k).sum()),
        }

    def _alike(self, of_tuple: Ints, alive: Bools, single: Ints) -> Ints:
        """How many households have the make-up of each that stays, itself among them.

        ``single`` are the rows of each class that stay without a household. Make-ups are compared
        by prints of 128 bits: sums of random numbers of their rows' classes.
        """
        words = np.random.default_rng(0).integers(0, 2**64, (len(single), 2), np.uint64)
        weighted = words[of_tuple[self.tuples]] * self.rows.astype(np.uint64)[:, None]
        sums = np.add.reduceat(weighted, self.starts[:-1], axis=0) if len(self.texts) else weighted
        kinds = np.concatenate([sums[alive], words])
        many = np.concatenate([np.ones(int(alive.sum()), np.int64), single])
        place = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
        found: Ints = np.repeat(np.bincount(place, many).astype(np.int64)[place], many)
        return found


def households_of(
    given: MethodInput, handling: str, alone: FrequencyTable, token: CancelToken
) -> Households:
    """The households of the source, by the tuples of ``alone``. Raises InputError, Cancelled."""
    column = household_column(given.roles, given.linkages, handling, given.where)
    joint = given.source.frequency_table((*alone.attributes, column), token)
    token.check()
    lost = sorted(joint.missing[-1]) if joint.missing else []
    if handling != DROP and lost:
        raise _without_one(given, column, int(np.isin(joint.codes[:, -1], lost) @ joint.counts))
    houses = np.arange(len(joint.domains[-1]), dtype=np.int64)
    houses[lost] = -1
    named = houses >= 0
    houses[named] = np.arange(int(named.sum()))
    texts = [text for text, there in zip(joint.domains[-1], named, strict=True) if there]
    tuples = places_in(alone, joint)
    return Households.of(houses[joint.codes[:, -1]], tuples, joint.counts, texts, len(alone.counts))


def places_in(alone: FrequencyTable, joint: FrequencyTable) -> Ints:
    """The tuple of ``alone`` of each one of ``joint``, which has further columns at its end."""
    columns = []
    for place, domain in enumerate(alone.domains):
        index = {value: code for code, value in enumerate(domain)}
        own = np.array([index[value] for value in joint.domains[place]], np.int32)
        columns.append(np.concatenate([alone.codes[:, place], own[joint.codes[:, place]]]))
    widths = [len(domain) for domain in alone.domains]
    whole = len(alone.counts) + len(joint.counts)
    number = numbered(*tuple_keys(columns, widths, whole))[1]
    place_of = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    place_of[number[: len(alone.counts)]] = np.arange(len(alone.counts))
    return place_of[number[len(alone.counts) :]]


def group_limits(
    given: MethodInput, shares: Mapping[str, Fraction], alone: FrequencyTable, token: CancelToken
) -> tuple[GroupLimit, ...]:
    """Limits on the rows that may leave of each value of some columns; raises Cancelled."""
    found = []
    for name, share in shares.items():
        if name in alone.attributes:
            tuples, joint = np.arange(len(alone.counts)), alone
            values = alone.codes[:, alone.attributes.index(name)]
        else:
            joint = given.source.frequency_table((*alone.attributes, name), token)
            tuples, values = places_in(alone, joint), joint.codes[:, -1]
        token.check()
        codes = values.astype(np.int64)
        found.append(GroupLimit.of(alone.counts, tuples, codes, joint.counts, share))
    return tuple(found)


def _without_one(given: MethodInput, column: str, rows: int) -> InputError:
    return InputError(
        "k-anonymity.households",
        counted(
            "{where}: {n:,} row has no value of `{column}`, expected one in each row where "
            "households are released.",
            "{where}: {n:,} rows have no value of `{column}`, expected one in each row where "
            "households are released.",
            n=rows,
            where=given.where,
            column=column,
        ),
        hint='Set `household_id` to "drop", or name the household of each row.',
        details={"key": "household_id"},
    )


def households_measured(
    asked: Constraints | None, classes: GeneralisedTable, k: int
) -> dict[str, object]:
    """See :meth:`Households.measured`; empty where households are not asked for."""
    if asked is None or asked.households is None:
        return {}
    return asked.households.measured(classes, k)


def household_figures(found: Mapping[str, object]) -> tuple[Figure, ...]:
    """Figures of :func:`households_measured`; none where it is empty."""
    if not found:
        return ()
    number = {key: value for key, value in found.items() if isinstance(value, int)}
    return (
        Figure(
            *("households_kept", "Households kept", number["kept"], "count", "households"),
            "higher",
        ),
        Figure(
            "fewest_households",
            "Fewest households in a class",
            number["fewest_in_a_class"],
            "count",
            "households",
            "higher",
        ),
        Figure(
            "unique_households",
            "Households with a unique composition",
            number["unique_makeup"],
            "count",
            "households",
            "lower",
            about="risk",
            help="Of the households that are kept, those whose members are in a combination of "
            "classes that no other household has: where rows of a household can be joined, "
            "someone who knows all its members can find it.",
        ),
    )
