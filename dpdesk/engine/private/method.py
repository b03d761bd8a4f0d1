"""Methods that release tables with noise: designed without data, measured once, then processed.

The types keep the three apart. A design sees the plan alone, so nothing that it says can depend on
the data. Measuring sees the data, once, and demands the receipt of a debit. Processing sees what
measuring gave, never the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

from dpdesk.core.charts import Chart, Figure, ScatterChart
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plan import THE_SETTINGS, HierarchyBuilder
from dpdesk.core.release import ClaimCheck, Guarantee, Manifest
from dpdesk.core.schema import Role
from dpdesk.engine.method import Exploration, Method, MethodInput, Outcome, PlanInput, RowsMethod

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.core.budget import Budget, Debit, Draws, Neighbours, ProtectedUnit
    from dpdesk.core.cuboid import CuboidTable
    from dpdesk.core.frequency import FrequencySource, RewrittenRows, RowSource
    from dpdesk.engine.noise.randomness import RandomSource
    from dpdesk.engine.private.declared import DeclaredDomain
    from dpdesk.verifiers.declared import Declarations

HIDES = (
    "Someone who knows everything about everyone else, and tries to find out whether a given "
    "person is in the data.",
    "All further releases that are made from this one, and whatever else becomes known: the "
    "loss does not grow.",
)
"""What every release with a privacy budget over persons protects against."""
STAYS_OPEN = (
    "What holds for a whole group, whether or not a given person is in the data.",
    "Other releases about the same people: their losses add up, so all of them belong in one "
    "ledger.",
)
"""What no such release protects against."""


@dataclass(frozen=True)
class PrivateInput(PlanInput):
    """All that a design may know: no data.

    ``hierarchies`` are those of files, and builders where the plan gives one. The hierarchies of
    ``hand_made`` columns were edited beside the data, so they declare no categories. ``asked`` are
    the columns that a design asked for one; of all others a hierarchy changes nothing.
    """

    hand_made: frozenset[str] = frozenset()
    asked: set[str] = field(default_factory=set, compare=False, repr=False)

    def hierarchy(self, name: str) -> Hierarchy | HierarchyBuilder | None:
        """The hierarchy that the plan gives a column, for a design."""
        self.asked.add(name)
        return self.hierarchies.get(name)


@dataclass(frozen=True)
class Charge:
    """What a design costs; see :class:`dpdesk.core.budget.DebitRequest`.

    ``outside`` says in a few words what of the release no budget pays for, because nothing protects
    it; empty when there is no such thing.
    """

    cost: Budget
    draws: tuple[Draws, ...]
    neighbours: Neighbours
    unit: ProtectedUnit
    outside: str = ""

    def purpose(self, title: str) -> str:
        """What a debit is for: the method's title, and what its cost does not cover."""
        return f"{title}; {self.outside}" if self.outside else title


@runtime_checkable
class BudgetAdvice(Protocol):
    """An :class:`~dpdesk.engine.method.Exploration` that knows the budget for an accuracy."""

    def tables(self, parameters: Mapping[str, ParameterValue]) -> tuple[str, ...]:
        """Names of the tables that would be published. Raises InputError."""
        ...

    def needed(
        self,
        parameters: Mapping[str, ParameterValue],
        place: int,
        wanted: float,
        token: CancelToken,
    ) -> tuple[str, Fraction]:
        """The least budget, and its key in a plan, with which 95 % of the cells of a table (by
        its place; -1: of the least exact one) err by at most ``wanted``. Raises InputError,
        RefusedError where no budget reaches it, Cancelled.
        """
        ...

    def example(
        self,
        parameters: Mapping[str, ParameterValue],
        place: int,
        size: float,
        token: CancelToken,
    ) -> ScatterChart:
        """What a cell of a table (by its place) that truly holds ``size`` could be released as.

        ``size`` is somebody's example, never a count of the data. Raises InputError, Cancelled.
        """
        ...


@dataclass(frozen=True, eq=False)
class ExactTables:
    """Counts without noise, to be published as they are: no guarantee covers them.

    ``values`` are whole cuboids, ``cells`` single ones in the design's order.
    """

    values: Mapping[int, NDArray[np.int64]] = field(default_factory=dict, repr=False)
    cells: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, eq=False)
class NoisyTables:
    """What was measured: integers with noise, one array for each noise source of the design.

    ``exact`` are the tables that the design publishes without noise, none unless it says so.
    """

    values: tuple[NDArray[np.int64], ...] = field(repr=False)
    exact: ExactTables = field(default_factory=ExactTables)


@dataclass(frozen=True)
class Measured:
    """The noisy tables, and facts on the data that stay in the agency (JSON values)."""

    noisy: NoisyTables
    internal: Mapping[str, object] = field(default_factory=dict)


Drawing = Callable[["RandomSource", Report], Measured]
"""What draws the noise of data that are counted; it runs once, for a debit that is taken."""


@dataclass(frozen=True, kw_only=True)
class Design(ABC):
    """A release as far as it can be decided without data.

    ``guarantee`` and ``result`` are as the manifest will have them; ``charts`` and ``figures`` are
    for people, before anything is spent. ``notes`` say what a newcomer should know. ``cluster`` is
    the column whose values say which rows are one person's, if there is one.
    """

    charge: Charge
    declared: DeclaredDomain
    guarantee: Guarantee
    result: Mapping[str, object]
    cluster: str | None = None
    charts: tuple[Chart, ...] = field(default=(), repr=False)
    figures: tuple[Figure, ...] = ()
    notes: tuple[Note, ...] = ()

    def check_paid(self, debit: Debit) -> None:
        """Raise ValueError when the debit paid for another design."""
        if debit.cost != self.charge.cost or debit.draws != self.charge.draws:
            raise ValueError("the debit paid for another design")

    @property
    def deciding(self) -> DeclaredDomain:
        """The dimensions whose categories decide which rows are counted, and where."""
        return self.declared

    def measure(
        self,
        source: FrequencySource,
        debit: Debit,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> Measured:
        """Count and add noise: the only look at the data, and the one order in which it goes.

        What was not paid is not looked at, and nothing is drawn before the debit is taken. Raises
        RefusedError ``ledger.debit-used`` when the debit paid for noise before, ValueError when it
        paid for another design, Cancelled.
        """
        self.check_paid(debit)
        draw = self.count(source, token)
        token.check()
        debit.redeem()
        return draw(randomness, report)

    @abstractmethod
    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """Count the data, and give what draws the noise. Nothing is drawn here; Cancelled."""

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """The facts on the data that :meth:`measure` notes and that can be counted again.

        JSON values, by the key of the internal result; nothing is drawn. Raises Cancelled.
        """
        return {}

    @abstractmethod
    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """The tables to publish, from what was measured alone; each with its ``file``."""


_Settings = TypeVar("_Settings")
_Words = TypeVar("_Words")
_Json: TypeAlias = Mapping[str, object]
_Tables: TypeAlias = "Mapping[str, CuboidTable]"


@dataclass(frozen=True)
class Reading(Generic[_Settings]):
    """How checked parameters of the plan that messages name become settings, how these fit the
    columns, and what they cost beside the column that says whose rows belong together.
    """

    read: Callable[[Mapping[str, ParameterValue], str], _Settings]
    check: Callable[[_Settings, Sequence[str], Mapping[str, Role], str], None]
    price: Callable[[_Settings, str | None], Charge]


@dataclass(frozen=True)
class Checking(Generic[_Words]):
    """The verifiers of a method, of the plain table of a manifest: see the methods of
    :class:`PrivateMethod` that call them. ``worded`` words its guarantee again for the first.
    """

    worded: Callable[[Manifest], _Words]
    public: Callable[[_Json, _Tables, _Words, CancelToken], tuple[ClaimCheck, ...]]
    declared: Callable[[_Json, Declarations | None], list[ClaimCheck]]
    counted: Callable[
        [_Json, _Json, _Tables, Declarations, FrequencySource, CancelToken], list[ClaimCheck]
    ]


class PrivateMethod(Method):
    """A method whose guarantee comes from noise, with a budget that a ledger keeps."""

    pseudonyms: ClassVar[str] = (
        "it publishes tables with noise and no rows, so there is nothing that a pseudonym "
        "could be placed next to"
    )

    @abstractmethod
    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        """Plan the release from the plan alone.

        Raises InputError for whatever the plan gets wrong, Cancelled.
        """

    @abstractmethod
    def explore(self, given: PrivateInput, token: CancelToken) -> Exploration:
        """A way to try settings: each view is a design; nothing is counted or spent."""

    @abstractmethod
    def reading(self) -> Reading[Any]:
        """How settings are read and priced; nothing that designs is imported for it."""

    @abstractmethod
    def checking(self) -> Checking[Any]:
        """The verifiers of the method, which share no code with the design."""

    def check(
        self,
        columns: Sequence[str],
        roles: Mapping[str, Role],
        parameters: Mapping[str, ParameterValue],
        where: str,
    ) -> None:
        """See :meth:`Method.check`."""
        found = self.reading()
        found.check(found.read(parameters, where), columns, roles, where)

    def price(self, roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]) -> Charge:
        """What a release with these settings costs, at once and without a design.

        It lists no draws: the figures that need them follow from the design. Raises InputError.
        """
        from dpdesk.engine.private.settings import cluster_of

        found = self.reading()
        return found.price(found.read(parameters, THE_SETTINGS), cluster_of(roles))

    def verify(
        self, manifest: Manifest, published: Mapping[str, CuboidTable], token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """Check each claim of a manifest against the published tables, by file.

        No number of the manifest is taken for granted. Raises what a malformed one raises.
        """
        found = self.checking()
        return found.public(manifest.as_json(), published, found.worded(manifest), token)

    def verify_declared(self, manifest: Manifest, given: Declarations | None) -> list[ClaimCheck]:
        """Check what hangs on declarations that stay in the agency, such as hierarchies.

        ``given`` is what plan and hierarchies in the evidence declare, None when only the public
        part is at hand. Raises what a malformed manifest raises.
        """
        return self.checking().declared(manifest.as_json(), given)

    def verify_counted(
        self,
        manifest: Manifest,
        recorded: Mapping[str, object],
        published: Mapping[str, CuboidTable],
        given: Declarations,
        source: FrequencySource,
        token: CancelToken,
    ) -> list[ClaimCheck]:
        """Check which rows of the source count, and what is released exactly.

        ``recorded`` is the result in the evidence. Raises what a malformed manifest raises,
        Cancelled.
        """
        counted = self.checking().counted
        return counted(manifest.as_json(), recorded, published, given, source, token)


class PaidRowsMethod(RowsMethod):
    """A method of rows whose values are drawn from a budget, each row by itself.

    Neighbouring tables differ in the drawn values of one unit alone, so deciding may see all else.
    """

    draws: ClassVar[bool] = True

    @abstractmethod
    def price(self, roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]) -> Charge:
        """What a release with these settings costs, with all draws. Raises InputError."""

    @abstractmethod
    def drawn_from(self, parameters: Mapping[str, ParameterValue]) -> frozenset[str]:
        """The columns whose values are drawn: nothing else may depend on what they hold."""

    @abstractmethod
    def declared(self, parameters: Mapping[str, ParameterValue]) -> DeclaredDomain:
        """The categories of the drawn columns, as the plan declares them. Raises InputError."""

    @abstractmethod
    def draw_paid(
        self,
        given: MethodInput,
        outcome: Outcome,
        rows: RowSource,
        debit: Debit,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> RewrittenRows:
        """The rows to release; the code that writes them wipes them.

        Raises RefusedError ``ledger.debit-used`` when the debit paid for draws before, ValueError
        when it paid for less than this release costs, Cancelled.
        """
