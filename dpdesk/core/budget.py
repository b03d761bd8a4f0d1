"""What differential privacy costs, as exact values: budgets, draws of noise, requests and receipts.

Amounts are fractions, never floats, so that sums and comparisons are exact: ten debits of 0.1 are
1 and fit under a limit of 1.

The order of a release is: a :class:`DebitRequest` says what it will cost, the ledger debits that
durably and gives a :class:`Debit`, and the code that draws noise demands the debit as an argument.
Nothing but the ledger makes a debit, so no noise exists without one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.messages import counted, msg
from dpdesk.core.plain import is_sane, number_text, show

_FRACTION = re.compile(r"[0-9]{1,2000}(/[1-9][0-9]{0,1999})?")
_SHOWN_DIGITS = 14
LARGEST = Fraction(10**100)
"""The largest ε or ρ of a plan or limit: sums and squares of many such can still be shown."""
_ZERO = Fraction(0)


def amount(value: object, name: str) -> Fraction:
    """The exact amount that a plan or an option gives: an integer, decimal, fraction or text.

    Raises InputError ``budget.amount`` for what is not a number of 0 or more, and for one above
    :data:`LARGEST`, named ``name``.
    """
    found: Fraction | None = None
    if isinstance(value, Fraction):
        found = value
    elif isinstance(value, float):
        found = _decimal(repr(value))
    elif isinstance(value, int | Decimal | str) and not isinstance(value, bool):
        found = _decimal(str(value).strip())
    if found is not None and found > LARGEST:
        raise InputError(
            "budget.amount",
            msg("`{name}` is above 10^100, expected a number of 0 or more such as 0.5.", name=name),
            details={"key": name},
        )
    if found is None or found < 0:
        raise InputError(
            "budget.amount",
            msg(
                "`{name}` is {found}, expected a number of 0 or more such as 0.5.",
                name=name,
                found=show(value),
            ),
            details={"key": name},
        )
    return found


def _decimal(text: str) -> Fraction | None:
    try:
        number = Decimal(text) if text.isascii() and "_" not in text else Decimal("nan")
    except InvalidOperation:
        return None
    return Fraction(number) if is_sane(number) else None


def amount_text(value: Fraction) -> str:
    """An amount for people: all its digits where they are few, six of them otherwise."""
    text = number_text(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1 and len(text) <= _SHOWN_DIGITS:
        return text
    if value > LARGEST:
        return "above 10^100"
    return msg("about {n:.6g}", n=float(value))


def fraction_text(value: Fraction) -> str:
    """An amount as it is stored: ``1``, ``1/256``."""
    return str(value)


def read_fraction(text: object) -> Fraction:
    """The amount that :func:`fraction_text` wrote. Raises ValueError for anything else."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError("no fraction")
    return Fraction(text)


@dataclass(frozen=True, order=True)
class PureEpsilon:
    """Pure ε-differential privacy. Compared by ε; sums by sequential composition."""

    epsilon: Fraction
    kind: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        _check_amounts(self.epsilon)

    def __add__(self, other: PureEpsilon) -> PureEpsilon:
        return PureEpsilon(self.epsilon + other.epsilon)

    def __str__(self) -> str:
        return msg("ε = {n}", n=amount_text(self.epsilon))

    @property
    def is_zero(self) -> bool:
        """Whether it costs nothing."""
        return self.epsilon == 0


@dataclass(frozen=True, order=True)
class ZeroConcentrated:
    """ρ-zero-concentrated differential privacy (zCDP). Compared by ρ; sums by composition."""

    rho: Fraction
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        _check_amounts(self.rho)

    def __add__(self, other: ZeroConcentrated) -> ZeroConcentrated:
        return ZeroConcentrated(self.rho + other.rho)

    def __str__(self) -> str:
        return msg("ρ = {n}", n=amount_text(self.rho))

    @property
    def is_zero(self) -> bool:
        """Whether it costs nothing."""
        return self.rho == 0


@dataclass(frozen=True)
class Approximate:
    """(ε, δ)-differential privacy. Sums by basic composition; ``a <= b`` asks for both parts."""

    epsilon: Fraction
    delta: Fraction
    kind: ClassVar[str] = "approximate"

    def __post_init__(self) -> None:
        _check_amounts(self.epsilon, self.delta)
        if self.delta >= 1:
            raise ValueError("δ must be below 1")

    def __add__(self, other: Approximate) -> Approximate:
        return Approximate(self.epsilon + other.epsilon, self.delta + other.delta)

    def __le__(self, other: Approximate) -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def __str__(self) -> str:
        return msg("ε = {n}, δ = {m}", n=amount_text(self.epsilon), m=amount_text(self.delta))

    @property
    def is_zero(self) -> bool:
        """Whether it costs nothing."""
        return self.epsilon == 0 and self.delta == 0


Budget: TypeAlias = PureEpsilon | ZeroConcentrated | Approximate


def _check_amounts(*amounts: object) -> None:
    for one in amounts:
        if not isinstance(one, Fraction):
            raise TypeError("amounts of a budget are fractions")
        if one < 0:
            raise ValueError("amounts of a budget are 0 or more")


def budget_plain(budget: Budget) -> dict[str, object]:
    """A budget as it is stored: its kind, and its amounts as texts of fractions."""
    plain: dict[str, object] = {"kind": budget.kind}
    if isinstance(budget, PureEpsilon | Approximate):
        plain["epsilon"] = fraction_text(budget.epsilon)
    if isinstance(budget, Approximate):
        plain["delta"] = fraction_text(budget.delta)
    if isinstance(budget, ZeroConcentrated):
        plain["rho"] = fraction_text(budget.rho)
    return plain


def budget_from(plain: object) -> Budget:
    """The budget that :func:`budget_plain` wrote. Raises ValueError for anything else."""
    if not isinstance(plain, dict):
        raise ValueError("no budget")  # noqa: TRY004 - a stored text that makes no sense
    keys, kind = set(plain) - {"kind"}, plain.get("kind")
    if kind == PureEpsilon.kind and keys == {"epsilon"}:
        return PureEpsilon(read_fraction(plain["epsilon"]))
    if kind == ZeroConcentrated.kind and keys == {"rho"}:
        return ZeroConcentrated(read_fraction(plain["rho"]))
    if kind == Approximate.kind and keys == {"epsilon", "delta"}:
        return Approximate(read_fraction(plain["epsilon"]), read_fraction(plain["delta"]))
    raise ValueError("no budget of a known kind")


class Neighbours(StrEnum):
    """Which two tables must be hard to tell apart.

    ``VALUE``: those that differ in the drawn values of one unit, and in nothing else.
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
    VALUE = "value"


class Noise(StrEnum):
    """What is known of a noisy draw, for the tight composition.

    ``PURE`` and ``CONCENTRATED`` are mechanisms of which only ε or ρ is known.
    """

    LAPLACE = "laplace"
    DISCRETE_LAPLACE = "discrete-laplace"
    GAUSSIAN = "gaussian"
    DISCRETE_GAUSSIAN = "discrete-gaussian"
    PURE = "pure"
    CONCENTRATED = "concentrated"


_PURE_NOISE = (Noise.LAPLACE, Noise.DISCRETE_LAPLACE, Noise.PURE)


@dataclass(frozen=True)
class Draws:
    """``count`` equal draws of noise, each added to one vector of values.

    ``sensitivity``: what one protected unit changes in one draw. L1 for Laplace (for discrete
    Laplace in steps of the grid, an integer); the L2 norm for Gaussian; for discrete Gaussian the
    largest change of the *one* cell that changes, an integer: where several cells of one draw
    change, say so by a larger ``count`` (replacing a row changes two cells by 1: twice as many
    draws of sensitivity 1), or use ``CONCENTRATED``.

    ``spread``: the scale b of Laplace noise, probabilities ∝ exp(−|x|/b); the *variance parameter*
    σ² of Gaussian noise, ∝ exp(−x²/2σ²). For ``PURE`` ε and for ``CONCENTRATED`` ρ is
    ``sensitivity``/``spread``.
    """

    noise: Noise
    sensitivity: Fraction
    spread: Fraction
    count: int = 1

    def __post_init__(self) -> None:
        _check_amounts(self.sensitivity, self.spread)
        if self.spread == 0 or self.count < 1:
            raise ValueError("draws have a spread above 0 and a count of at least 1")
        whole = self.sensitivity.denominator == 1
        if self.noise in (Noise.DISCRETE_LAPLACE, Noise.DISCRETE_GAUSSIAN) and not whole:
            raise ValueError("the sensitivity of discrete noise is in whole steps of its grid")

    @property
    def epsilon(self) -> Fraction | None:
        """ε of all these draws by sequential composition; None when no ε bounds one of them."""
        if self.noise not in _PURE_NOISE:
            return None
        return self.count * self.sensitivity / self.spread

    @property
    def rho(self) -> Fraction:
        """ρ of all these draws: ε²/2 for each pure one, Δ²/(2σ²) for each Gaussian one.

        Source: Bun and Steinke 2016, Propositions 1.4 and 1.6; for the discrete Gaussian Canonne,
        Kamath and Steinke 2020, Theorem 4.
        """
        if self.noise is Noise.CONCENTRATED:
            return self.count * self.sensitivity / self.spread
        if self.noise in _PURE_NOISE:
            return self.count * (self.sensitivity / self.spread) ** 2 / 2
        return self.count * self.sensitivity**2 / (2 * self.spread)

    def as_plain(self) -> dict[str, object]:
        """The draws as the ledger stores them."""
        return {
            "noise": self.noise.value,
            "sensitivity": fraction_text(self.sensitivity),
            "spread": fraction_text(self.spread),
            "count": self.count,
        }

    @classmethod
    def from_plain(cls, plain: object) -> Draws:
        """The draws that :meth:`as_plain` wrote. Raises ValueError for anything else."""
        if not isinstance(plain, dict) or set(plain) != {"noise", "sensitivity", "spread", "count"}:
            raise ValueError("no draws")
        if type(plain["count"]) is not int:
            raise ValueError("no count of draws")
        sensitivity, spread = read_fraction(plain["sensitivity"]), read_fraction(plain["spread"])
        return cls(Noise(plain["noise"]), sensitivity, spread, plain["count"])


def draws_of(cost: Budget) -> tuple[Draws, ...]:
    """What is known of a mechanism of which only the cost is known; () for (ε, δ)."""
    one = Fraction(1)
    if isinstance(cost, PureEpsilon):
        return () if cost.is_zero else (Draws(Noise.PURE, cost.epsilon, one),)
    if isinstance(cost, ZeroConcentrated):
        return () if cost.is_zero else (Draws(Noise.CONCENTRATED, cost.rho, one),)
    return ()


@dataclass(frozen=True)
class ProtectedUnit:
    """Who is protected: one person with at most ``rows`` rows.

    ``cluster`` is the column that says which rows are one person's (or household's), empty when
    none does.
    """

    rows: int = 1
    cluster: str = ""

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError("a protected unit has at least one row")

    def __str__(self) -> str:
        if self.rows == 1 and not self.cluster:
            return "one row"
        who = (
            msg("all rows with the same {cluster}", cluster=self.cluster)
            if self.cluster
            else "one person"
        )
        return counted(
            "{who}, at most {n:,} row", "{who}, at most {n:,} rows", n=self.rows, who=who
        )


def columns_fingerprint(columns: Iterable[str]) -> str:
    """A hash of a table's column names, whatever their order: “a source with the same columns”."""
    text = json.dumps(sorted(columns), ensure_ascii=True)
    return hashlib.sha256(b"dpdesk-columns-v1\n" + text.encode("ascii")).hexdigest()


UNPROTECTED = "without protection: "
"""Before the names of what a release publishes without noise, in the purpose of its debit."""


@dataclass(frozen=True)
class DebitRequest:
    """What a release will cost, asked of the ledger before any noise exists.

    ``cost`` covers all of ``draws`` (checked: ValueError when they cost more); without draws only
    the cost is known. ``source`` is the SHA-256 of the source file, ``columns`` the
    :func:`columns_fingerprint` of its columns. ``population`` is the plan's, empty when it names
    none. ``purpose`` says in a few words what the noise is for, ``title`` is the plan's.
    ``content`` are prints of the rows of the measured columns, the same in every format and order
    of rows; none where they were not made.
    """

    cost: Budget
    source: str
    columns: str
    purpose: str
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: ProtectedUnit = ProtectedUnit()
    draws: tuple[Draws, ...] = ()
    population: str = ""
    title: str = ""
    content: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.draws:
            object.__setattr__(self, "draws", draws_of(self.cost))
        _check_covered(self.cost, self.draws)

    @property
    def unprotected(self) -> str:
        """What the release publishes without noise, by its purpose; empty when nothing."""
        return self.purpose.partition(UNPROTECTED)[2]

    @cached_property
    def rho(self) -> Fraction | None:
        """The cost as ρ, exactly; None for (ε, δ), which no ρ bounds.

        A pure ε is ε²/2 at most (Bun and Steinke 2016, Proposition 1.4), and less by what its draws
        tell where they are many.
        """
        if isinstance(self.cost, ZeroConcentrated):
            return self.cost.rho
        if isinstance(self.cost, PureEpsilon):
            known = sum((one.rho for one in self.draws), _ZERO)
            return min(self.cost.epsilon**2 / 2, known)
        return None


def _check_covered(cost: Budget, draws: Sequence[Draws]) -> None:
    """Raise ValueError when the draws cost more than was asked or debited."""
    if isinstance(cost, PureEpsilon):
        parts = [one.epsilon for one in draws]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or sum(known, _ZERO) > cost.epsilon:
            raise ValueError("the draws cost more ε than is asked or debited")
    elif isinstance(cost, ZeroConcentrated):
        if sum((one.rho for one in draws), _ZERO) > cost.rho:
            raise ValueError("the draws cost more ρ than is asked or debited")
    elif draws:
        raise ValueError("draws cannot be listed under a cost of (ε, δ)")


_LEDGER_SEAL = object()


@dataclass(frozen=True)
class Debit:
    """The receipt for a debit that stands in a ledger on the disk.

    Only a ledger makes one; the code that draws noise demands it. ``ledger`` is the ledger's id,
    ``row`` the number of the entry there and ``entry`` the entry's hash; ``time`` is UTC as ISO
    text. Making one by hand raises TypeError.
    """

    ledger: str
    row: int
    entry: str
    population: str
    source: str
    cost: Budget
    draws: tuple[Draws, ...]
    time: str
    purpose: str
    seal: InitVar[Any]
    _unused: list[bool] = field(
        default_factory=lambda: [True], init=False, repr=False, compare=False
    )

    def __post_init__(self, seal: object) -> None:
        if seal is not _LEDGER_SEAL:
            raise TypeError("only a ledger issues debits")

    @property
    def id(self) -> str:
        """The debit's name in records: the ledger's id and the entry's number."""
        return f"{self.ledger}:{self.row}"

    def redeem(self, draws: Sequence[Draws] = ()) -> None:
        """Take the debit for one run of noise; the code that draws calls it before it begins.

        ``draws`` are those about to be made; ValueError when they cost more than was debited.
        Raises RefusedError ``ledger.debit-used`` the second time: a second draw costs again.
        """
        _check_covered(self.cost, draws)
        try:
            self._unused.pop()  # one step, so that of two threads one alone gets it
        except IndexError:
            raise RefusedError(
                "ledger.debit-used",
                msg(
                    "The debit {id} has already been used for noise, expected a separate debit "
                    "for every draw.",
                    id=self.id,
                ),
                hint="Run the plan again; that debits the budget once more.",
            ) from None


def issue_debit(
    request: DebitRequest, *, ledger: str, row: int, entry: str, time: str, population: str
) -> Debit:
    """The receipt for an entry that has just been written. For ``dpdesk.project.ledger`` alone."""
    return Debit(
        ledger,
        row,
        entry,
        population,
        request.source,
        request.cost,
        request.draws,
        time,
        request.purpose,
        seal=_LEDGER_SEAL,
    )


NO_PROTECTION = 20
"""An ε above which noise protects nobody: odds change by more than a hundred million."""
_RHO_WITHOUT_PROTECTION = 5
"""The ρ from which an ε above it follows at every δ of one in a million or less."""


def protects(cost: Budget) -> bool:
    """Whether a budget is small enough for its noise to hide anything of a person."""
    if isinstance(cost, ZeroConcentrated):
        return cost.rho <= _RHO_WITHOUT_PROTECTION
    return not isinstance(cost, PureEpsilon | Approximate) or cost.epsilon <= NO_PROTECTION
