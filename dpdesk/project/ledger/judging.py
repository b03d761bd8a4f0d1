"""May a debit be made, what does the ledger say afterwards, and what should be known before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.budget import (
    UNPROTECTED,
    Approximate,
    Budget,
    DebitRequest,
    Neighbours,
    PureEpsilon,
    ZeroConcentrated,
    amount_text,
)
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import Note
from dpdesk.core.messages import joined, msg
from dpdesk.project.ledger.accounts import (
    Book,
    DebitRecord,
    Spending,
    add_up,
    group_size,
    stricter,
)
from dpdesk.project.ledger.people import Doubt, Versions, names_of, undeclared
from dpdesk.project.ledger.records import AccountKey

SHOWN_DELTA = Fraction(1, 1_000_000)
OWNER, PLAN = "set by the owner", "of the plan"
BY_PLAN = "set by an earlier plan"
_TWO_NAMES, _ALIKE = "ledger.two-names", "ledger.names-alike"
UNDECLARED = frozenset({_TWO_NAMES, _ALIKE})
"""Codes of the notes on other names that may mean the same people."""


@dataclass(frozen=True)
class Preview:
    """What a debit would do to the account it names; nothing is debited.

    ``spent`` and ``after`` are summed for the same unit and neighbours. ``limit`` is the stricter
    of the population's and the plan's, None without one; ``left`` is what of it is left
    afterwards, None where there is no limit or it cannot be told by subtraction. ``refusal`` is
    the error that debiting would raise now; ``notes`` is what somebody who decides should know.
    """

    key: AccountKey
    spent: Spending
    asked: Spending
    after: Spending
    limit: Budget | None
    left: Budget | None
    refusal: RefusedError | None
    notes: tuple[Note, ...]

    @property
    def allowed(self) -> bool:
        """Whether the debit would be made."""
        return self.refusal is None


def plan_limit(cost: Budget, limit: Fraction | None) -> Budget | None:
    """The plan's ``limit`` in the kind of what the plan spends: ε for ε, ρ for ρ.

    For a cost in (ε, δ) it is an ε at δ = 10⁻⁶ or the cost's own δ, whichever is larger.
    """
    if limit is None:
        return None
    if isinstance(cost, PureEpsilon):
        return PureEpsilon(limit)
    if isinstance(cost, ZeroConcentrated):
        return ZeroConcentrated(limit)
    return Approximate(limit, max(SHOWN_DELTA, cost.delta))


def adopted(book: Book, request: DebitRequest, limit: Fraction | None) -> Budget | None:
    """What a plan's ``limit`` makes the limit of the account that it names, with its debit.

    The plan's limit, where the account has none yet or a larger one of the same kind; None where
    the account's limit stays as it is. A plan never raises a limit.
    """
    plans, own = plan_limit(request.cost, limit), book.limit(AccountKey.of(request))
    if plans is None or own is None:
        return plans
    return plans if plans != own and stricter(plans, own) else None


def preview(book: Book, request: DebitRequest, limit: Fraction | None, where: str) -> Preview:
    """What the ledger will say after ``request``; ``where`` is its file, ``limit`` the plan's."""
    accounts = [_Account.of(book, key, request) for key in book.concerned(request)]
    own = accounts[0]
    limits = [
        found
        for key in (own.key, *book.kin(own.key))
        for found in _limits(book, key, request, limit)
    ]
    strictest = _strictest([one for one, _ in limits])
    return Preview(
        own.key,
        own.spent,
        own.asked,
        own.after,
        strictest,
        None if strictest is None else _left(strictest, own.after),
        _refusal(book, accounts, request, limit, where),
        tuple(_notes(book, request, own)),
    )


@dataclass(frozen=True)
class _Account:
    """One account that a debit would be counted in: what was spent, is asked, would be spent."""

    key: AccountKey
    before: list[DebitRequest]
    spent: Spending
    asked: Spending
    after: Spending

    @classmethod
    def of(cls, book: Book, key: AccountKey, request: DebitRequest) -> _Account:
        before = [record.request for record in book.members(key, request)]
        spent, asked = add_up(before, [request]), add_up([request], before)
        return cls(key, before, spent, asked, spent + asked)


def refusal(
    book: Book, request: DebitRequest, limit: Fraction | None, where: str
) -> RefusedError | None:
    """Why a debit must not be made; None when it may.

    Checked against every limit of every account that it would be counted in.
    """
    accounts = [_Account.of(book, key, request) for key in book.concerned(request)]
    return _refusal(book, accounts, request, limit, where)


def _refusal(
    book: Book,
    accounts: list[_Account],
    request: DebitRequest,
    limit: Fraction | None,
    where: str,
) -> RefusedError | None:
    found = _beyond(book, accounts, request, limit)
    if found is None:
        return _in_doubt(book, [one.key for one in accounts], request, limit, where)
    account, one, whose = found
    if account.after.fits(one) is None:
        return _incomparable(account.key, account.after, one, whose, where)
    return _exhausted(account, request, one, whose, where)


def _beyond(
    book: Book, accounts: list[_Account], request: DebitRequest, limit: Fraction | None
) -> tuple[_Account, Budget, str] | None:
    """The first account that would not be known to stay within a limit, which, and whose."""
    for account in accounts:
        for one, whose in _limits(book, account.key, request, limit):
            if not account.after.fits(one):
                return account, one, whose
    return None


def _in_doubt(
    book: Book, keys: list[AccountKey], request: DebitRequest, limit: Fraction | None, where: str
) -> RefusedError | None:
    """Why a debit must wait until it is declared who is meant; None where no limit depends on it.

    Another name must not begin a fresh budget, and is no offence where there is no limit.
    """
    for key in keys:
        for supposed in book.supposed(key, request):
            accounts = [_Account.of(supposed, one, request) for one in supposed.concerned(request)]
            found = _beyond(supposed, accounts, request, limit)
            if found is not None:
                account, one, whose = found
                spent, asked = in_terms_of(one, account.spent), in_terms_of(one, account.asked)
                amounts = spent, asked, str(one)
                return undeclared(book.doubts(key, request), key, amounts, whose, where)
    return None


def _limits(
    book: Book, key: AccountKey, request: DebitRequest, limit: Fraction | None
) -> list[tuple[Budget, str]]:
    """The account's own limit first: where both are reached, raising the plan's does not help."""
    found: list[tuple[Budget, str]] = []
    owners, plans = book.limit(key), plan_limit(request.cost, limit)
    if owners is not None:
        found.append((owners, BY_PLAN if book.history(key)[-1].content.by_plan else OWNER))
    if plans is not None and (key.population or not request.population):
        found.append((plans, PLAN))
    return found


def _strictest(limits: Iterable[Budget]) -> Budget | None:
    """The limit to show: the smallest of one kind, the first where the kinds differ."""
    shown: Budget | None = None
    for one in limits:
        if shown is None or stricter(one, shown):
            shown = one
    return shown


def _left(limit: Budget, spending: Spending) -> Budget | None:
    """What of a limit is left after this spending; None where subtraction does not tell."""
    if isinstance(limit, PureEpsilon) and spending.is_pure:
        return PureEpsilon(max(Fraction(0), limit.epsilon - spending.pure))
    if isinstance(limit, ZeroConcentrated) and spending.all_rho is not None:
        return ZeroConcentrated(max(Fraction(0), limit.rho - spending.all_rho))
    return None


def left_of(limit: Budget | None, spending: Spending) -> Budget | None:
    """What of a limit is left after this spending; None without one, or where it cannot be told."""
    return None if limit is None else _left(limit, spending)


def in_terms_of(limit: Budget, spending: Spending) -> str:
    """A spending in the words of a limit: as ε, as ρ, or as ε at the limit's δ."""
    if isinstance(limit, PureEpsilon) and spending.is_pure:
        return str(PureEpsilon(spending.pure))
    if isinstance(limit, ZeroConcentrated) and spending.all_rho is not None:
        return str(ZeroConcentrated(spending.all_rho))
    if isinstance(limit, Approximate):
        epsilon = spending.epsilon_at(limit.delta)
        if epsilon is not None:
            return msg(
                "ε = {epsilon} at δ = {delta}",
                epsilon=amount_text(epsilon),
                delta=amount_text(limit.delta),
            )
    return str(spending)


def _exhausted(
    account: _Account, request: DebitRequest, limit: Budget, whose: str, where: str
) -> RefusedError:
    key, spent, asked = account.key, account.spent, account.asked
    left = _left(limit, spent)
    hint = _advice(left, request, spent, whose)
    unit = ""
    if any(group_size(one, spent.rows, spent.neighbours) > 1 for one in (*account.before, request)):
        unit = msg(" (counted for {unit_words})", unit_words=unit_words(spent))
    return RefusedError(
        "ledger.exhausted",
        msg(
            "{where}: the budget of {key} is not enough{unit}: spent {in_terms_of}, requested "
            "{in_terms_of2}, limit {limit} ({whose}).",
            where=where,
            key=key,
            unit=unit,
            in_terms_of=in_terms_of(limit, spent),
            in_terms_of2=in_terms_of(limit, asked),
            limit=limit,
            whose=whose,
        ),
        hint=hint,
        details={
            "population": key.population,
            "source": key.source,
            "spent": str(spent),
            "asked": str(asked),
            "limit": str(limit),
        },
    )


def _advice(left: Budget | None, request: DebitRequest, spent: Spending, whose: str) -> str:
    way = (
        "raise `limit` under [budget]"
        if whose == PLAN
        else "have the owner raise the limit, with a reason (`dpdesk ledger limit`)"
    )
    size = group_size(request, spent.rows, spent.neighbours)
    if left is None:
        return msg("Ask for less, or {way}.", way=way)
    if left.is_zero:
        return msg("Nothing is left; {way}.", way=way)
    if isinstance(left, PureEpsilon):
        left = PureEpsilon(left.epsilon / size)
    elif isinstance(left, ZeroConcentrated):
        left = ZeroConcentrated(left.rho / size**2)
    return msg("Ask for at most {left}, or {way}.", left=left, way=way)


def unit_words(spending: Spending) -> str:
    """Whom a sum holds for, in words."""
    several = msg("a person with up to {rows:,} rows or edges", rows=spending.rows)
    unit = "one row or edge" if spending.rows == 1 else several
    if spending.neighbours is Neighbours.ADD_REMOVE:
        return msg("{unit}, added or removed", unit=unit)
    if spending.neighbours is Neighbours.REPLACE:
        return msg("{unit}, replaced", unit=unit)
    return msg("{unit}, with other values in drawn columns, not hidden in its presence", unit=unit)


def _incomparable(
    key: AccountKey, after: Spending, limit: Budget, whose: str, where: str
) -> RefusedError:
    if isinstance(limit, PureEpsilon):
        why = "a limit in ε without δ cannot bound noise that is accounted in ρ or with a δ"
    elif isinstance(limit, ZeroConcentrated):
        why = "a limit in ρ cannot bound a cost in (ε, δ)"
    else:
        why = "more δ would be spent than the limit allows"
    kind = "an ε and a δ" if isinstance(limit, PureEpsilon) else "a larger ε and δ"
    return RefusedError(
        "ledger.incomparable",
        msg(
            "{where}: the limit of {key} is {limit} ({whose}), and the spending would be "
            "{after}: {why}.",
            where=where,
            key=key,
            limit=limit,
            whose=whose,
            after=after,
            why=why,
        ),
        hint=msg("Have the owner set a limit with {kind} (`dpdesk ledger limit`).", kind=kind)
        if whose != PLAN
        else "Remove `limit` from the plan and have the owner set one with an ε and a δ (`dpdesk "
        "ledger limit`).",
        details={"population": key.population, "source": key.source, "limit": str(limit)},
    )


def _notes(book: Book, request: DebitRequest, own: _Account) -> Iterable[Note]:
    key, before = own.key, own.before
    ours = {one.folded for one in (key, *book.kin(key))}
    elsewhere = [one for one in book.debits.values() if one.key.folded not in ours]
    data = Versions.of([request])
    same_file = [one for one in elsewhere if data.hold(one.request)]
    alike = [
        one for one in elsewhere if one.request.columns == request.columns and one not in same_file
    ]
    yield from open_doubts(book, key, request)
    if request.population:
        doubted = {one.other.folded for one in book.doubts(key, request)}
        named = [one for one in same_file if one.request.population]
        others = [one for one in named if one.key.folded not in doubted]
        if others:
            yield Note(
                "ledger.different-people",
                msg(
                    "The same data were also debited to {names}: {sum}, which does not count "
                    "here, since they were declared to be different people.",
                    names=_names(others),
                    sum=_sum(others),
                ),
            )
        uncounted = [] if before else alike
    else:
        uncounted = alike
        if same_file:
            yield Note(
                "ledger.counted-twice",
                msg(
                    "These data were debited to {names} before, so this debit is counted there "
                    "as well.",
                    names=_names(same_file),
                ),
            )
    if uncounted:
        yield Note("ledger.same-columns", _same_columns(request, uncounted))
    yield from _exact_before(request, before)
    units = {one.unit.rows for one in (*before, request)}
    if len(units) > 1 or len({one.neighbours for one in (*before, request)}) > 1:
        yield Note(
            "ledger.mixed-units",
            msg(
                "The debits of this account protect different units; all are counted for {unit}.",
                unit=unit_words(own.after),
            ),
        )


def open_doubts(book: Book, key: AccountKey, more: DebitRequest | None = None) -> Iterable[Note]:
    """That other names may mean the people of an account, and what was debited to them.

    ``more`` is a debit that may follow.
    """
    doubts = book.doubts(key, more)
    same_data = [one for one in doubts if one.same_data]
    if same_data:
        yield Note(
            _TWO_NAMES,
            msg(
                "The same data were also debited to {doubted}: {spent}, which does not count for "
                "{key} unless it is declared that these are the same people.",
                doubted=_doubted(same_data),
                spent=_spent(book, same_data),
                key=key,
            ),
        )
    spelled = [one for one in doubts if not one.same_data]
    if spelled:
        yield Note(
            _ALIKE,
            msg(
                "The name of {key} is spelled almost like that of {doubted}: {spent} was debited "
                "there, which does not count here unless it is declared that these are the same "
                "people.",
                key=key,
                doubted=_doubted(spelled),
                spent=_spent(book, spelled),
            ),
        )


def _doubted(doubts: list[Doubt]) -> str:
    return names_of(one.other for one in doubts)


def _spent(book: Book, doubts: list[Doubt]) -> str:
    found = {record.n: record for one in doubts for record in book.members(one.other)}
    return _sum(list(found.values()))


def _exact_before(request: DebitRequest, before: list[DebitRequest]) -> Iterable[Note]:
    """Exact numbers of an earlier release that the noise asked for does not reckon with.

    Noise protects beside exact numbers only when it is made for them, and the ledger cannot tell
    by how much less it protects otherwise.
    """
    others = dict.fromkeys(one.unprotected for one in before if one.unprotected)
    others.pop(request.unprotected, None)
    if others:
        yield Note(
            "ledger.exact-before",
            msg(
                "An earlier release about the same people has numbers "
                "{unprotected}{join}. Noise that is not made for them too protects less "
                "than its cost says: name all of them under `exact`.",
                unprotected=UNPROTECTED,
                join=joined(others, "; "),
            ),
        )


def _same_columns(request: DebitRequest, alike: list[DebitRecord]) -> str:
    what = msg(
        "Data with the same columns have spent {alike} already ({names})",
        alike=_sum(alike),
        names=_names(alike),
    )
    if request.population:
        return msg(
            "Nothing has been spent for “{population}” yet. {what}: if they are about the same "
            "people, use the same name.",
            population=request.population,
            what=what,
        )
    return msg(
        "The plan names no population, so only spending on this very file is "
        "counted. {what}: if they are about the same people, name the population "
        "under [budget].",
        what=what,
    )


def _names(records: list[DebitRecord]) -> str:
    return names_of(one.key for one in records)


def _sum(records: list[DebitRecord]) -> str:
    return str(add_up(one.request for one in records))
