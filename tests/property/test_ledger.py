"""Whatever is debited in whatever order: the ledger sums, refuses and remembers as the slow one."""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from dpdesk.core.budget import Budget, Neighbours, PureEpsilon, ZeroConcentrated
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.project.ledger import AccountKey, Ledger, Outcome
from tests.helpers.debits import ask, open_here
from tests.reference.ledger import SlowDebit, SlowLedger, sum_epsilon, sum_rho

SOURCES = ("a" * 64, "b" * 64, "c" * 64)
PEOPLE = ("North", "South", "West")
NAMES = ("", "North", "north", "South", "West")
amounts = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1)])


class LedgerMachine(RuleBasedStateMachine):
    """One file, opened again now and then, beside a list."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "l.sqlite"
        self.ledger: Ledger = open_here(self.path)
        self.slow = SlowLedger()
        self.rows: dict[int, Outcome] = {}

    @rule(
        population=st.sampled_from(NAMES),
        source=st.sampled_from(SOURCES),
        cost=amounts,
        concentrated=st.booleans(),
        rows=st.integers(1, 3),
        replaced=st.booleans(),
        limit=st.one_of(st.none(), st.integers(0, 6).map(Fraction)),
    )
    def debit(
        self,
        population: str,
        source: str,
        cost: Fraction,
        concentrated: bool,
        rows: int,
        replaced: bool,
        limit: Fraction | None,
    ) -> None:
        budget: Budget = ZeroConcentrated(cost) if concentrated else PureEpsilon(cost)
        neighbours = Neighbours.REPLACE if replaced else Neighbours.ADD_REMOVE
        request = ask(
            budget, population=population, source=source, rows=rows, neighbours=neighbours
        )
        none = Fraction(0)
        slow = SlowDebit(
            population,
            source,
            none if concentrated else cost,
            cost if concentrated else none,
            rows,
            replaced,
        )
        allowed = self.slow.may(slow, limit)
        seen = self.ledger.preview(request, limit)
        assert seen.allowed == allowed
        assert seen.after == seen.spent + seen.asked
        try:
            made = self.ledger.debit(request, limit)
        except RefusedError:
            assert not allowed
            return
        assert allowed
        self.slow.take(slow, limit)
        self.rows[made.row] = Outcome.UNKNOWN

    @rule(name=st.sampled_from(NAMES[1:]), limit=st.integers(0, 8).map(Fraction))
    def set_limit(self, name: str, limit: Fraction) -> None:
        self.ledger.set_limit(AccountKey(name), PureEpsilon(limit), "a reason")
        self.slow.limits[name.lower()] = "ε", limit

    @rule(
        two=st.lists(st.sampled_from(PEOPLE), min_size=2, max_size=2, unique=True),
        same=st.booleans(),
    )
    def declare(self, two: list[str], same: bool) -> None:
        try:
            self.ledger.declare_people(*two, same, "a reason")
        except InputError:
            assert not self.slow.declare(*two, same)
        else:
            assert self.slow.declare(*two, same)

    @rule(data=st.data(), outcome=st.sampled_from([Outcome.RELEASED, Outcome.FAILED]))
    def settle(self, data: st.DataObject, outcome: Outcome) -> None:
        waiting = [row for row, known in self.rows.items() if known is Outcome.UNKNOWN]
        if waiting:
            row = data.draw(st.sampled_from(waiting))
            self.ledger.settle(row, outcome)
            self.rows[row] = outcome

    @rule()
    def open_again(self) -> None:
        self.ledger.close()
        self.ledger = open_here(self.path)

    @invariant()
    def sums_are_the_same(self) -> None:
        book = self.ledger.book
        for name in ("North", "SOUTH", "west"):
            members, spent = self.slow.account(name), book.spending(AccountKey(name))
            assert spent.pure == sum_epsilon(members)
            assert spent.all_rho == sum_rho(members)
            assert spent.count == len(members)
        for source in SOURCES:
            members, spent = self.slow.nameless(source), book.spending(AccountKey(source=source))
            assert (spent.pure, spent.all_rho) == (sum_epsilon(members), sum_rho(members))
        assert {row: one.outcome for row, one in book.debits.items()} == self.rows

    def teardown(self) -> None:
        assert self.ledger.check().ok
        self.ledger.close()
        shutil.rmtree(self.folder)


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
