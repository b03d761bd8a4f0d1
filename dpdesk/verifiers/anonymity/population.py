"""What classes match in a file of the population: counted again, by code that made no release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import number_text
from dpdesk.core.published import CheckStatus, ClaimCheck, PublishedTable

Remake = Callable[[Sequence[str], Collection[str]], Hierarchy | None]
Texts = tuple[str, ...]
Matches = Mapping[Texts, int]
"""Rows of the population by the released values that they would have."""

_TABLE = "microdata.csv"


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


def staying(
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
    if failing:
        found = msg("{n:,} of {all:,} combinations do not", n=failing, all=len(released))
        return ClaimCheck(asked.claim, CheckStatus.FAILED, found, _TABLE)
    least = min((matches.get(key, 0) for key in released), default=0)
    found = msg("counted in its file; the combination with the fewest has {n:,} rows", n=least)
    return ClaimCheck(asked.claim, CheckStatus.CONFIRMED, found, _TABLE)
