"""A slow ledger: a list of debits, every sum made anew from its definition, no file, no classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product


@dataclass
class SlowDebit:
    population: str
    source: str
    epsilon: Fraction
    rho: Fraction
    rows: int
    replaced: bool


@dataclass
class SlowLedger:
    """Costs are pure ε (ρ = 0) or ρ (ε = 0)."""

    debits: list[SlowDebit] = field(default_factory=list)
    limits: dict[str, tuple[str, Fraction]] = field(default_factory=dict)
    """ε or ρ by name of a population in lower case, or by source for those without a name."""
    declared: dict[frozenset[str], bool] = field(default_factory=dict)
    """By two names in lower case, whether they mean the same people."""

    def names(self, population: str) -> set[str]:
        """All names of the same people: grown by one declaration after the other."""
        found = {population.lower()}
        for _ in self.declared:
            for two, same in self.declared.items():
                if same and two & found:
                    found |= two
        return found

    def declare(self, one: str, other: str, same: bool) -> bool:
        """Whether it could be said without contradicting what holds; then it is."""
        before = dict(self.declared)
        self.declared[frozenset((one.lower(), other.lower()))] = same
        for two, alike in self.declared.items():
            if not alike and two <= self.names(next(iter(two))):
                self.declared = before
                return False
        return True

    def doubtful(self, debit: SlowDebit) -> set[frozenset[str]]:
        """Pairs of names to which one file was debited, and of whom nothing was declared."""
        every = [one for one in (*self.debits, debit) if one.population]
        pairs = set()
        for one, other in product(every, every):
            ours, theirs = self.names(one.population), self.names(other.population)
            apart = any(
                two & ours and two & theirs and not same for two, same in self.declared.items()
            )
            if self.share(ours, theirs, debit) and ours != theirs and not apart:
                pairs.add(frozenset((one.population.lower(), other.population.lower())))
        return pairs

    def share(self, ours: set[str], theirs: set[str], more: SlowDebit) -> bool:
        """Whether a file was debited to both."""

        def files(names: set[str]) -> set[str]:
            every = (*self.debits, more)
            return {one.source for one in every if one.population.lower() in names}

        return bool(files(ours) & files(theirs))

    def suppositions(self, debit: SlowDebit) -> Iterator[SlowLedger]:
        """Every ledger in which pairs in doubt were declared the same, as many as can be."""
        pairs = self.doubtful(debit)
        if not pairs:
            yield self
        for pair in pairs:
            other = SlowLedger(self.debits, self.limits, dict(self.declared))
            if other.declare(*pair, True):
                yield from other.suppositions(debit)

    def account(self, population: str, more: SlowDebit | None = None) -> list[SlowDebit]:
        """Debits of a population: named so, or nameless on a file that was named so."""
        every = [*self.debits, more] if more is not None else self.debits
        names = self.names(population)
        files = {one.source for one in every if one.population.lower() in names}
        return [
            one
            for one in every
            if one.population.lower() in names or (not one.population and one.source in files)
        ]

    def nameless(self, source: str, more: SlowDebit | None = None) -> list[SlowDebit]:
        every = [*self.debits, more] if more is not None else self.debits
        return [one for one in every if one.source == source]

    def may(self, debit: SlowDebit, limit: Fraction | None) -> bool:
        """Whether every limit of every account holds after the debit, whoever is meant."""
        return self.holds(debit, limit) and all(
            one.holds(debit, limit) for one in self.suppositions(debit)
        )

    def holds(self, debit: SlowDebit, limit: Fraction | None) -> bool:
        """Whether every limit holds if those in doubt are different people."""
        accounts: list[tuple[str, list[SlowDebit]]]
        if debit.population:
            own = self.account(debit.population, debit)
            accounts = [(name, own) for name in self.names(debit.population)]
            if debit.source in self.limits:
                accounts.append((debit.source, self.nameless(debit.source, debit)))
        else:
            names = {
                one.population.lower()
                for one in self.debits
                if one.population and one.source == debit.source
            }
            names = {each for name in names for each in self.names(name)}
            accounts = [(debit.source, self.nameless(debit.source, debit))]
            accounts += [(name, self.account(name, debit)) for name in names]
        for name, members in accounts:
            limits = [self.limits[name]] if name in self.limits else []
            if limit is not None and (not debit.population or name != debit.source):
                limits.append((kind_of(debit), limit))
            for kind, most in limits:
                if not (fits_epsilon if kind == "ε" else fits_rho)(members, most):
                    return False
        return True

    def take(self, debit: SlowDebit, limit: Fraction | None) -> None:
        """Debit, and lower the limit of these people to the plan's, never raise it."""
        self.debits.append(debit)
        name = debit.population.lower() or debit.source
        if limit is not None:
            kind, before = self.limits.get(name, (kind_of(debit), limit))
            if kind == kind_of(debit):
                self.limits[name] = kind, min(before, limit)


def kind_of(debit: SlowDebit) -> str:
    return "ε" if debit.epsilon else "ρ"


def factor(one: SlowDebit, members: list[SlowDebit]) -> int:
    """How often a debit counts for the widest unit, by replacement if any member says so."""
    times, widest = 0, max(other.rows for other in members)
    while times * one.rows < widest:
        times += 1
    doubled = any(other.replaced for other in members) and not one.replaced
    return 2 * times if doubled else times


def sum_epsilon(members: list[SlowDebit]) -> Fraction:
    return sum((factor(one, members) * one.epsilon for one in members), Fraction(0))


def sum_rho(members: list[SlowDebit]) -> Fraction:
    return sum(
        (factor(one, members) ** 2 * (one.rho + one.epsilon**2 / 2) for one in members),
        Fraction(0),
    )


def fits_epsilon(members: list[SlowDebit], limit: Fraction) -> bool:
    return all(not one.rho for one in members) and sum_epsilon(members) <= limit


def fits_rho(members: list[SlowDebit], limit: Fraction) -> bool:
    return sum_rho(members) <= limit
