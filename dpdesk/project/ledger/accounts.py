"""What has been spent: the entries of a ledger folded into accounts.

A population's account holds every debit that names it, and those without a population whose source
has the content of one of its versions: leaving the name out does not begin a fresh budget. The
account of a source without a name holds every debit on these data, named or not: neither does
thinking of a name. Names that were declared to mean the same people have one account together.

Debits of one account may protect different units (one row, a person with up to 3 rows) and
different neighbours. They are summed for the widest unit among them, by group privacy (a unit of m
rows costs ⌈m/r⌉ times the ε of a debit for r rows, the square of that times its ρ), and where any
debit protects the replacement of a unit, for replacement (one removal and one addition: a group of
2). The sums hold for everybody then; they are exact. Where a debit protects no more than the drawn
values of a unit, so does the sum: one value for another is a replacement to all other debits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from dpdesk.core.budget import (
    Approximate,
    Budget,
    DebitRequest,
    Neighbours,
    PureEpsilon,
    ZeroConcentrated,
)
from dpdesk.core.messages import joined
from dpdesk.engine.accounting.conversion import group_delta, joint_epsilon
from dpdesk.project.ledger.people import Doubt, People, PeopleRecord, Versions, alike
from dpdesk.project.ledger.records import (
    AccountKey,
    Begun,
    Debited,
    LedgerEntry,
    LimitSet,
    Outcome,
    PeopleDeclared,
    Restored,
    Settled,
    fold,
)

_ZERO = Fraction(0)


@dataclass(frozen=True)
class DebitRecord:
    """A debit as the ledger has it, with what became of it."""

    n: int
    time: str
    who: str
    entry: str
    request: DebitRequest
    settled: Settled | None = None

    @cached_property
    def key(self) -> AccountKey:
        """Whose budget it was taken from."""
        return AccountKey.of(self.request)

    @property
    def outcome(self) -> Outcome:
        """What became of it; unknown while nothing was recorded. Spent in every case."""
        return Outcome.UNKNOWN if self.settled is None else self.settled.outcome


@dataclass(frozen=True)
class LimitRecord:
    """A limit as the ledger has it: entry, when and by whom it was set, what it says."""

    n: int
    time: str
    who: str
    content: LimitSet


@dataclass(frozen=True)
class Spending:
    """A sum of costs, for a unit of ``rows`` rows and these neighbours.

    ``pure``: Σε of pure costs; ``pure_rho``: the same costs as ρ; ``rho``: Σρ of costs in ρ;
    ``approximate``: Σε and Σδ of costs in (ε, δ). ``count`` debits.
    """

    pure: Fraction = _ZERO
    pure_rho: Fraction = _ZERO
    rho: Fraction = _ZERO
    approximate: tuple[Fraction, Fraction] = (_ZERO, _ZERO)
    rows: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    count: int = 0

    def __str__(self) -> str:
        parts: list[str] = []
        if self.pure or not (self.rho or any(self.approximate)):
            parts.append(str(PureEpsilon(self.pure)))
        if self.rho:
            parts.append(str(ZeroConcentrated(self.rho)))
        if any(self.approximate):
            epsilon, delta = self.approximate
            parts.append(f"({Approximate(epsilon, min(delta, Fraction(999_999, 1_000_000)))})")
        return joined(parts, " and ")

    def __add__(self, other: Spending) -> Spending:
        """Both together; they must be for the same unit and neighbours (ValueError)."""
        if (self.rows, self.neighbours) != (other.rows, other.neighbours):
            raise ValueError("sums for different units cannot be added")
        (epsilon, delta), (more, more_delta) = self.approximate, other.approximate
        return Spending(
            self.pure + other.pure,
            self.pure_rho + other.pure_rho,
            self.rho + other.rho,
            (epsilon + more, delta + more_delta),
            self.rows,
            self.neighbours,
            self.count + other.count,
        )

    @property
    def is_pure(self) -> bool:
        """Whether an ε without δ bounds it."""
        return not self.rho and not any(self.approximate)

    @property
    def all_rho(self) -> Fraction | None:
        """Everything as ρ; None where a part is in (ε, δ)."""
        return None if any(self.approximate) else self.rho + self.pure_rho

    def epsilon_at(self, delta: Fraction) -> Fraction | None:
        """The simple joint bound: an ε that holds at ``delta``; None where none does."""
        return joint_epsilon(self.pure, self.rho, self.approximate, delta)

    def fits(self, limit: Budget) -> bool | None:
        """Whether it stays within ``limit``; None where the two cannot be compared at all."""
        if isinstance(limit, PureEpsilon):
            return self.pure <= limit.epsilon if self.is_pure else None
        if isinstance(limit, ZeroConcentrated):
            return None if self.all_rho is None else self.all_rho <= limit.rho
        epsilon = self.epsilon_at(limit.delta)
        return None if epsilon is None else epsilon <= limit.epsilon


def group_size(request: DebitRequest, rows: int, neighbours: Neighbours) -> int:
    """How many of a debit's own neighbouring steps lie between neighbours of the common unit."""
    size = -(-rows // request.unit.rows)
    steps = request.neighbours is Neighbours.ADD_REMOVE
    if steps and neighbours is not Neighbours.ADD_REMOVE:
        size *= 2
    return size


def add_up(requests: Iterable[DebitRequest], beside: Iterable[DebitRequest] = ()) -> Spending:
    """The sum of what was asked, for the widest unit and the stricter neighbours among them.

    The units and neighbours of ``beside`` count too, their costs do not.
    """
    found = list(requests)
    every = [*found, *beside]
    rows = max((one.unit.rows for one in every), default=1)
    met = {one.neighbours for one in every}
    ranked = (Neighbours.VALUE, Neighbours.REPLACE, Neighbours.ADD_REMOVE)
    neighbours = next((one for one in ranked if one in met), Neighbours.ADD_REMOVE)
    pure, pure_rho, rho, epsilon, delta = _Sum(), _Sum(), _Sum(), _Sum(), _Sum()
    for one in found:
        size, cost = group_size(one, rows, neighbours), one.cost
        if isinstance(cost, PureEpsilon):
            pure.add(size * cost.epsilon)
            pure_rho.add(size**2 * (one.rho or _ZERO))
        elif isinstance(cost, ZeroConcentrated):
            rho.add(size**2 * cost.rho)
        else:
            epsilon.add(size * cost.epsilon)
            delta.add(group_delta(cost.epsilon, cost.delta, size))
    approximate = epsilon.total, delta.total
    return Spending(
        pure.total, pure_rho.total, rho.total, approximate, rows, neighbours, len(found)
    )


class _Sum:
    """An exact sum of many fractions: those with the same denominator are added as integers."""

    def __init__(self) -> None:
        self._tops: dict[int, int] = {}

    def add(self, value: Fraction) -> None:
        bottom = value.denominator
        self._tops[bottom] = self._tops.get(bottom, 0) + value.numerator

    @property
    def total(self) -> Fraction:
        return sum((Fraction(top, bottom) for bottom, top in self._tops.items()), _ZERO)


def stricter(one: Budget, other: Budget) -> bool:
    """Whether a budget is smaller than another of its kind, or for (ε, δ) not larger in either."""
    if isinstance(one, PureEpsilon) and isinstance(other, PureEpsilon):
        return one < other
    if isinstance(one, ZeroConcentrated) and isinstance(other, ZeroConcentrated):
        return one < other
    return isinstance(one, Approximate) and isinstance(other, Approximate) and one <= other


def raises(before: Budget | None, after: Budget | None) -> bool:
    """Whether a limit allows more than the one before, or what may be more: then it needs a reason.

    To set a first limit, and to lower one of the same kind, needs none.
    """
    if before is None or before == after:
        return False
    return after is None or not stricter(after, before)


@dataclass
class Book:
    """All entries folded: who the ledger is, its debits, its limits.

    ``hashes`` are those of all entries, and of those that were lost and entered again; ``again``
    tells under which number a lost debit stands now.
    """

    ledger: str = ""
    debits: dict[int, DebitRecord] = field(default_factory=dict)
    limits: dict[tuple[str, str], tuple[LimitRecord, ...]] = field(default_factory=dict)
    hashes: set[str] = field(default_factory=set, repr=False)
    again: dict[int, int] = field(default_factory=dict)
    people: People = field(default_factory=People)

    def copy(self) -> Book:
        """The same accounts, to which entries may be added apart."""
        return Book(
            self.ledger,
            dict(self.debits),
            dict(self.limits),
            set(self.hashes),
            dict(self.again),
            self.people.copy(),
        )

    def take(self, entry: LedgerEntry) -> None:
        """Add the next entry. Raises ValueError when it makes no sense after the others."""
        content = entry.content
        if isinstance(content, Begun):
            if self.ledger:
                raise ValueError("a ledger begins only once")
            self.ledger = content.ledger
        elif isinstance(content, Debited):
            self.debits[entry.n] = DebitRecord(
                entry.n, entry.time, entry.who, entry.hash, content.request
            )
        elif isinstance(content, LimitSet):
            self._limit(entry, content)
        elif isinstance(content, Restored):
            self._restore(entry.n, content.entry)
        elif isinstance(content, PeopleDeclared):
            self.people.take(PeopleRecord(entry.n, entry.time, entry.who, content))
        else:
            self._settle(content)
        self.hashes.add(entry.hash)

    def _limit(self, entry: LedgerEntry, content: LimitSet) -> None:
        record = LimitRecord(entry.n, entry.time, entry.who, content)
        self.limits[content.key.folded] = (*self.history(content.key), record)

    def _restore(self, n: int, entry: LedgerEntry) -> None:
        """A lost entry: its debit counts, its limit where that is not the larger one.

        That people are the same ones comes back where nothing contradicts it; that they are others
        must be declared again.
        """
        content = entry.content
        if entry.hash in self.hashes:
            return
        if isinstance(content, Debited):
            self.debits[n] = DebitRecord(n, entry.time, entry.who, entry.hash, content.request)
            self.again[entry.n] = n
        elif isinstance(content, LimitSet):
            if content.limit is not None and not raises(self.limit(content.key), content.limit):
                self._limit(replace(entry, n=n), content)
        elif isinstance(content, Settled) and content.debit in self.again:
            record = self.debits[self.again[content.debit]]
            if record.settled is None:
                self.debits[record.n] = replace(record, settled=content)
        elif isinstance(content, Restored):
            self._restore(n, content.entry)
        elif isinstance(content, PeopleDeclared) and content.same:
            with suppress(ValueError):
                self.people.take(PeopleRecord(n, entry.time, entry.who, content))
        self.hashes.add(entry.hash)

    def _settle(self, content: Settled) -> None:
        record = self.debits.get(content.debit)
        if record is None or record.settled is not None:
            raise ValueError("an outcome belongs to no open debit")
        self.debits[content.debit] = replace(record, settled=content)

    def accounts(self) -> tuple[AccountKey, ...]:
        """Every account that has a debit or a limit, in the order in which they came up."""
        found: dict[tuple[str, str], AccountKey] = {}
        for key in (
            *(record.key for record in self.debits.values()),
            *(one[-1].content.key for one in self.limits.values()),
        ):
            found.setdefault(key.folded, key)
        return tuple(found.values())

    def members(self, key: AccountKey, more: DebitRequest | None = None) -> list[DebitRecord]:
        """The debits of an account, oldest first.

        ``more`` is a debit that may follow; when it is the account's own, its data are a version of
        the population's too.
        """
        own = {n for n, one in self.debits.items() if self.belongs(one.request, key)}
        requests = [self.debits[n].request for n in own]
        if more is not None and self.belongs(more, key):
            requests.append(more)
        versions = Versions.of(requests)
        own |= {
            n
            for n, one in self.debits.items()
            if not (key.population and one.request.population) and versions.hold(one.request)
        }
        return [self.debits[n] for n in sorted(own)]

    def belongs(self, request: DebitRequest, key: AccountKey) -> bool:
        """Whether a request names the people of an account, or is on its very file."""
        if key.population:
            return fold(request.population) in self.people.same(key.population)
        return request.source == key.source

    def kin(self, key: AccountKey) -> tuple[AccountKey, ...]:
        """The accounts of the same people under other names, those that were only declared too."""
        if not key.population:
            return ()
        others = self.people.same(key.population) - {key.folded[0]}
        known = {one.folded[0]: one for one in self.accounts()}
        for record in self.people.about(key.population):
            for name in (record.content.one, record.content.other):
                known.setdefault(fold(name), AccountKey(name))
        return tuple(known[name] for name in sorted(others))

    def doubts(self, key: AccountKey, more: DebitRequest | None = None) -> tuple[Doubt, ...]:
        """People of whom it was not declared whether they are those of an account.

        Those to whom data of the account were debited, ``more`` being a debit that may follow, and
        those whose names are spelled nearly alike.
        """
        if not key.population:
            return ()
        settled = self.people.settled
        others = [one for one in self.accounts() if one.population]
        others = [one for one in others if not settled(key.population, one.population)]
        if not others:
            return ()
        requests = [one.request for one in self.members(key, more)]
        data = Versions.of([*requests, more] if more is not None else requests)
        shared = {one.key.folded for one in self.debits.values() if data.hold(one.request)}
        names = [one.population for one in (key, *self.kin(key))]
        return tuple(
            Doubt(one, one.folded in shared)
            for one in others
            if one.folded in shared or any(alike(name, one.population) for name in names)
        )

    def supposed(self, key: AccountKey, more: DebitRequest) -> Iterator[Book]:
        """These books as if all in doubt were the people of an account.

        Several where some of these cannot be the same people, since they were declared to differ.
        """
        waiting = list(self.doubts(key, more))
        while waiting:
            book = replace(self, people=self.people.copy())
            found: Sequence[Doubt] = waiting
            while found:
                for doubt in found:
                    book._suppose(key, doubt.other)
                found = book.doubts(key, more)
            yield book
            same = book.people.same(key.population)
            waiting = [one for one in waiting if one.other.folded[0] not in same]

    def _suppose(self, key: AccountKey, other: AccountKey) -> None:
        """Take two accounts for those of the same people, unless they were declared to differ."""
        if not self.people.settled(key.population, other.population):
            content = PeopleDeclared(key.population, other.population, True, "supposed")
            self.people.take(PeopleRecord(0, "", "", content))

    def concerned(self, request: DebitRequest) -> tuple[AccountKey, ...]:
        """The accounts that a debit would be counted in: its own first.

        A limit that was set for a file without a name binds those who name its population later.
        """
        own, data = AccountKey.of(request), Versions.of([request])
        on_the_data = [one.key for one in self.debits.values() if data.hold(one.request)]
        if request.population:
            files = {one: None for one in on_the_data if one.source}
            files |= {AccountKey(source=request.source): None}
            limited = [one for one in files if self.limit(one) is not None]
            return (own, *self.kin(own), *limited)
        others = {one.folded: one for one in on_the_data if one.folded != own.folded}
        named = [other for one in others.values() for other in self.kin(one)]
        return (own, *{one.folded: one for one in (*others.values(), *named)}.values())

    def history(self, key: AccountKey) -> tuple[LimitRecord, ...]:
        """Every limit that an account has had, oldest first."""
        return self.limits.get(key.folded, ())

    def limit(self, key: AccountKey) -> Budget | None:
        """The limit of an account; None without one."""
        found = self.history(key)
        return found[-1].content.limit if found else None

    def binding(self, key: AccountKey) -> Budget | None:
        """The limit that binds an account: the smallest one of its people, its own before others.

        Where their kinds differ both bind, and this is the account's own or the first.
        """
        shown: Budget | None = None
        for one in (key, *self.kin(key)):
            limit = self.limit(one)
            if limit is not None and (shown is None or stricter(limit, shown)):
                shown = limit
        return shown

    def spending(self, key: AccountKey, more: DebitRequest | None = None) -> Spending:
        """What an account has spent, ``more`` included when given."""
        requests = [record.request for record in self.members(key, more)]
        return add_up([*requests, more] if more is not None else requests)
