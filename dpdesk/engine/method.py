"""What a protection method is: one registry entry from which everything else derives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, overload, runtime_checkable

from dpdesk.core.asks import Ask
from dpdesk.core.capabilities import UNKNOWN, Capabilities
from dpdesk.core.charts import Chart, ChartTable, Figure
from dpdesk.core.errors import DpdeskError
from dpdesk.core.frequency import FrequencySource, Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.method_card import BLANK, MethodCard
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.core.pseudonyms import Linkage
from dpdesk.core.public_fields import PublicField
from dpdesk.core.recoding import AnyRecoding, Recoding, TupleRecoding
from dpdesk.core.release import (
    ClaimCheck,
    Guarantee,
    LinkedRows,
    Manifest,
    PublishedTable,
    RowDifference,
    Separated,
)
from dpdesk.core.schema import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.core.frequency import RewrittenRows, RowSource
    from dpdesk.core.plan import HierarchyBuilder
    from dpdesk.core.tabulation import CellSource, CellTable, RowEdit, TableLook
    from dpdesk.engine.noise.randomness import RandomSource


@dataclass(frozen=True)
class PlanInput:
    """What a plan gives to any method.

    ``roles`` holds every column of the source, in source order; ``parameters`` are checked;
    ``where`` is how messages call the plan, for instance its file name.
    """

    roles: Mapping[str, Role]
    hierarchies: Mapping[str, Hierarchy | HierarchyBuilder]
    parameters: Mapping[str, ParameterValue]
    where: str = "the plan"

    def with_role(self, role: Role) -> tuple[str, ...]:
        """The columns with this role, in source order."""
        return tuple(name for name, given in self.roles.items() if given is role)


class LaterCharts(Sequence[Chart]):
    """Charts that are made once they are looked at: the release need not wait for all of them."""

    def __init__(self, make: Callable[[], tuple[Chart, ...]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[Chart, ...]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> Chart: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Chart]: ...
    def __getitem__(self, place: int | slice) -> Chart | Sequence[Chart]:
        return self._made[place]

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True)
class MethodInput(PlanInput):
    """All that a method may see: in addition a source of counts.

    ``linkages`` says what the pseudonyms of the columns with that role join. ``made`` are the
    hierarchies that the plan leaves to be made from values: by which builder, or None for the
    value itself, then ``*``. ``claimed`` is for verifiers alone: how a release whose tuples have
    values of their own is said to follow from the source; it is trusted in nothing. ``population``
    has the rows of the file that the plan names so, counted by the quasi-identifiers. ``decimal``
    is the decimal mark of the source, by which the sizes of its values are known. ``ended`` is for
    verifiers alone: where the searches of a release were asked to end with the best that they had
    (:meth:`~dpdesk.core.jobs.CancelToken.searches`), to be repeated until there.
    """

    hierarchies: Mapping[str, Hierarchy]
    source: FrequencySource = field(kw_only=True)
    linkages: Mapping[str, Linkage] = field(default_factory=dict, kw_only=True)
    made: Mapping[str, HierarchyBuilder | None] = field(default_factory=dict, kw_only=True)
    claimed: TupleRecoding | None = field(default=None, kw_only=True, repr=False)
    population: Population | None = field(default=None, kw_only=True, repr=False)
    decimal: str = field(default=".", kw_only=True)
    ended: tuple[int | None, ...] | None = field(default=None, kw_only=True)


ENDED = "ended_after"
"""Where the internal result says after how much work its searches were asked to end."""


def ends_of(result: Mapping[str, object]) -> tuple[int | None, ...]:
    """What a verifier repeats of an internal result; nothing where it is malformed."""
    found = result.get(ENDED)
    if not isinstance(found, list | tuple):
        return ()
    return tuple(end if type(end) is int and end >= 0 else None for end in found)


def with_claim(given: MethodInput, recoding: AnyRecoding | None) -> MethodInput:
    """What a verifier is given where tuples are said to be recoded by themselves."""
    return replace(given, claimed=recoding) if isinstance(recoding, TupleRecoding) else given


@dataclass(frozen=True)
class Outcome:
    """What a method of rows decided; nothing is drawn yet.

    ``recoding`` is what is done to columns and rows, None when nothing is; ``drawn`` names the
    columns whose values will be drawn after it. ``result`` may be published; ``internal`` adds what
    stays in the agency (JSON values both). ``risk`` and ``utility`` are JSON values for the
    evidence; charts, figures and notes (what the agency should know before it releases this) are
    for people.
    """

    guarantee: Guarantee
    result: Mapping[str, object]
    recoding: AnyRecoding | None = None
    drawn: frozenset[str] = frozenset()
    internal: Mapping[str, object] = field(default_factory=dict)
    risk: Mapping[str, object] = field(default_factory=dict)
    utility: Mapping[str, object] = field(default_factory=dict)
    charts: Sequence[Chart] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def required_recoding(self) -> AnyRecoding:
        """The recoding, where rows cannot be made without one; TypeError when there is none."""
        if self.recoding is None:
            raise TypeError("the method recodes no rows")
        return self.recoding

    @property
    def values_recoding(self) -> Recoding:
        """The recoding, where it goes value by value; TypeError when there is none."""
        if not isinstance(self.recoding, Recoding):
            raise TypeError("the method does not recode values")
        return self.recoding

    @property
    def changed_columns(self) -> frozenset[str]:
        """Columns whose values are not released as they are."""
        recoded = self.recoding.attributes if self.recoding is not None else ()
        kept = self.recoding.told_apart if isinstance(self.recoding, TupleRecoding) else ()
        return self.drawn.union(recoded).difference(kept)


@dataclass(frozen=True)
class ExplorationView:
    """What the window shows for one setting of the parameters, before anything is released.

    ``sentence`` answers in one line; when not ``feasible``, ``remedy`` holds parameter values (plan
    keys, plain values) of the nearest feasible setting and ``remedy_label`` words for its button;
    of a feasible one they are of a setting that may suit better, as ``notes`` say.
    ``notes`` are what a newcomer should know of this setting; a code that starts with
    ``hierarchy.`` or ``roles.`` says where something can be done about it. ``supposed`` views are
    of settings that lack a decision, for which something was supposed; they are not feasible.
    ``pending`` names what :class:`GrowingExploration` would add to it next, empty when nothing.
    ``at`` is the plan key at which settings that cannot be used have to be fixed. ``tables`` are
    those of a method that protects cells, to be looked at. Of feasible settings that protect
    nothing ``warns`` is set: their sentence is no success.
    """

    feasible: bool
    sentence: str
    charts: tuple[Chart, ...]
    figures: tuple[Figure, ...]
    guarantee: Guarantee | None = None
    remedy: Mapping[str, object] | None = None
    remedy_label: str = ""
    notes: tuple[Note, ...] = ()
    supposed: bool = False
    pending: str = ""
    at: str = ""
    tables: tuple[TableLook, ...] = ()
    warns: bool = False


def unusable(error: DpdeskError, charts: tuple[Chart, ...] = ()) -> ExplorationView:
    """The view of settings that are refused: what is wrong, and where it can be fixed."""
    key = error.details.get("key")
    return ExplorationView(False, error.full, charts, (), at=key if isinstance(key, str) else "")


class Exploration(Protocol):
    """A search whose whole outcome is at hand, so that settings can be tried live."""

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Charts and figures for these parameters; milliseconds, callable from any thread."""
        ...

    def pick(self, point: int) -> Mapping[str, object]:
        """Plan keys (plain values) that select the point with this id in a scatter of a view."""
        ...


@dataclass(frozen=True)
class DetailPart:
    """One view of a detail: a chart or a table, with a note below (what is left out)."""

    name: str
    content: Chart | ChartTable
    note: str = ""


@dataclass(frozen=True)
class Detail:
    """What lies behind one bar or point of a chart: a question, its answer, parts to look at.

    ``confidential`` says whether original values of the data are among them.
    """

    title: str
    sentence: str
    parts: tuple[DetailPart, ...]
    confidential: bool = True


@runtime_checkable
class DetailedExploration(Protocol):
    """An :class:`Exploration` that also tells what lies behind the bars of its charts."""

    def detail(
        self, parameters: Mapping[str, ParameterValue], chart: str, place: int
    ) -> Detail | None:
        """What is behind a bar (by its index) of a chart of the view; None when nothing is."""
        ...


@runtime_checkable
class PatientExploration(Protocol):
    """An :class:`Exploration` whose views may take long: they can be stopped, and tell how far
    they are.
    """

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """As :meth:`Exploration.view`; raises Cancelled."""
        ...


@runtime_checkable
class MostlyQuickExploration(Protocol):
    """A :class:`PatientExploration` of which views of some parameters alone take long."""

    def takes_long(self, parameters: Mapping[str, object]) -> bool:
        """Whether the view of these parameters, plain values, may take more than milliseconds."""
        ...


@runtime_checkable
class GrowingExploration(Protocol):
    """An :class:`Exploration` whose views can be added to, by work that takes longer."""

    def grow(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """Make what the view of these parameters calls ``pending``; the view with it.

        Raises InputError, Cancelled.
        """
        ...


@runtime_checkable
class FixableExploration(Protocol):
    """An :class:`Exploration` that shows something of settings that were refused, to fix them."""

    def refused(
        self, parameters: Mapping[str, ParameterValue], error: DpdeskError
    ) -> ExplorationView | None:
        """What can be shown of the parameters, the refused key left out; None: nothing."""
        ...


GUARANTEE = "guarantee"
"""The part of a release that its guarantee is, next to the keys of its result."""


class Method(ABC):
    """A protection method: what it is called, what it promises, what it can be told.

    ``public_fields`` are the fields that its releases may show besides those of every release, each
    with an argument of what it tells about people who are not in the release: any other is refused.
    ``checked_by`` names, for the guarantee and for each key of a public result, the check of this
    method that bears on it (how its claim begins): what is stated without one is not checked.
    ``asks`` are the decisions without which there is nothing to show, the first ones first.
    ``live`` names the parameters (integer or share) that :meth:`Exploration.view` answers at once:
    forms draw them as sliders. ``explored_for`` names those that an exploration is made for: other
    values ask for another one. ``later`` names keys of plans that this version does not offer yet.
    ``capabilities`` say what it does, for all who may not ask for its id; what they leave out fails
    wherever it is needed.
    ``pseudonyms`` says why a release may hold no pseudonyms; empty where it may.
    What it releases is the work of the sub-classes: :class:`RowsMethod` here, and
    :class:`~dpdesk.engine.private.method.PrivateMethod` for tables with noise.
    """

    id: ClassVar[str]
    capabilities: ClassVar[Capabilities] = UNKNOWN
    version: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    promise: ClassVar[str]
    card: ClassVar[MethodCard] = BLANK
    parameters: ClassVar[tuple[Parameter, ...]]
    asks: ClassVar[tuple[Ask, ...]] = ()
    public_fields: ClassVar[tuple[PublicField, ...]] = ()
    checked_by: ClassVar[Mapping[str, str]] = {}
    live: ClassVar[tuple[str, ...]] = ()
    explored_for: ClassVar[tuple[str, ...]] = ()
    later: ClassVar[tuple[str, ...]] = ()
    pseudonyms: ClassVar[str] = "it does not state what they do to its guarantee"

    @abstractmethod
    def check(
        self,
        columns: Sequence[str],
        roles: Mapping[str, Role],
        parameters: Mapping[str, ParameterValue],
        where: str,
    ) -> None:
        """Check what can be checked without data; raise InputError starting with ``where``."""

    def effective_roles(
        self, roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]
    ) -> Mapping[str, Role]:
        """The roles of the columns where parameters say more of them than the plan's roles."""
        return roles

    def roles_with_hierarchy(self, parameters: Mapping[str, object]) -> tuple[Role, ...]:
        """Roles of the columns whose hierarchies are used; quasi-identifiers get one made.

        ``parameters`` may be those of a plan that is not checked yet.
        """
        return (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


class RowsMethod(Method):
    """A method that releases rows: those of the source, recoded, with values drawn where it says.

    Deciding looks at the data and settles everything but the draws: it may be repeated, and its
    outcome can be shown inside the agency. ``draws`` says whether values are drawn then: that
    takes fresh randomness and is done once for each release, of which nothing is kept but the rows
    that are released. Rows of which none is drawn can be made again from the source. ``advice``
    tells users of the rows how to use them, sentence by sentence, where pages have no words of
    their own for the method.
    """

    draws: ClassVar[bool] = False
    advice: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Count or search once, so that live parameters can be tried; nothing is drawn."""

    @abstractmethod
    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        """Decide the release, but for its draws.

        Raises InputError, RefusedError when the data cannot meet what was asked, Cancelled.
        """

    def draw(
        self,
        given: MethodInput,
        outcome: Outcome,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> RewrittenRows:
        """The rows to release; whoever writes them wipes them. Raises RefusedError, Cancelled.

        Called where :attr:`draws` says so.
        """
        raise TypeError("the method draws nothing")

    @abstractmethod
    def verify(
        self, manifest: Manifest, published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """Check each claim of a manifest against the published table.

        Shares no code with deciding and drawing, and takes no number of the manifest for granted.
        """

    def verify_with_source(
        self,
        manifest: Manifest,
        published: PublishedTable,
        given: MethodInput,
        difference: RowDifference | None,
        token: CancelToken,
    ) -> tuple[ClaimCheck, ...]:
        """All checks of :meth:`verify`, those that need the source settled with it where possible.

        ``given`` comes from the plan in the release's evidence. ``difference`` compares the rows of
        the table with those of the source, recoded as :meth:`claimed_recoding` says, on the columns
        that are not :meth:`drawn_columns`; None where nothing is drawn. Like :meth:`verify` it
        shares no code with deciding. A method that can settle nothing more keeps this default.
        """
        return self.verify(manifest, published, token)

    def drawn_columns(self, manifest: Manifest) -> frozenset[str]:
        """The columns whose values a manifest says were drawn, as far as it can be read."""
        return frozenset()

    def draws_check(
        self, manifest: Manifest, given: MethodInput, linked: LinkedRows, token: CancelToken
    ) -> ClaimCheck | None:
        """Whether values of :meth:`drawn_columns` came out as their chances say; None for none."""
        return None

    def separated(self, manifest: Manifest) -> Separated | None:
        """The column whose values stand in a further table by a manifest; None: there is none."""
        return None

    def column_words(self, manifest: Manifest) -> Mapping[str, str]:
        """What became of columns, for pages, as far as levels and roles do not say it."""
        return {}

    def verify_with_population(
        self, manifest: Manifest, published: PublishedTable, given: MethodInput, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """As :meth:`verify`, with what a file of the population settles; the source is not read."""
        return self.verify(manifest, published, token)

    def claimed_recoding(
        self, manifest: Manifest, given: MethodInput, token: CancelToken
    ) -> AnyRecoding | None:
        """The recoding that a manifest claims, before draws if there are any; None without one.

        Shares no code with deciding where it goes value by value. One of tuples is what deciding
        gives again: verifiers trust it in nothing, and follow it from the source to the table.
        """
        return None

    def evidence_fault(
        self,
        manifest: Manifest,
        evidence: Mapping[str, object],
        published: PublishedTable,
        token: CancelToken,
    ) -> str | None:
        """Why figures in the evidence cannot belong to this manifest and table, or None.

        Called when the manifest's claims were checked and none failed.
        """
        return None

    def evidence_source_fault(
        self,
        manifest: Manifest,
        evidence: Mapping[str, object],
        given: MethodInput,
        token: CancelToken,
    ) -> str | None:
        """Why the evidence cannot be of this source, or None when it can.

        Called when the claims were checked with the source and none failed.
        """
        return None


_Json: TypeAlias = Mapping[str, object]
_Checks: TypeAlias = tuple[ClaimCheck, ...]
_Worded: TypeAlias = Callable[..., Guarantee]


@dataclass(frozen=True)
class RowsChecking:
    """The verifiers of rows that are drawn, of the plain table of a manifest: see the methods of
    :class:`DrawnRowsMethod` that call them. ``worded`` words its guarantee again for the first two.
    ``draws`` counts the draws of rows that are known again, where single values are drawn.
    """

    worded: _Worded
    public: Callable[[_Json, PublishedTable, _Worded, CancelToken], _Checks]
    with_source: Callable[
        [_Json, PublishedTable, MethodInput, RowDifference, _Worded, CancelToken], _Checks
    ]
    evidence_fault: Callable[[_Json, _Json, PublishedTable, CancelToken], str | None]
    draws: Callable[[_Json, MethodInput, LinkedRows, CancelToken], ClaimCheck] | None = None


class DrawnRowsMethod(RowsMethod):
    """A method of rows of which something is drawn, so that they are compared with their source."""

    draws: ClassVar[bool] = True

    @abstractmethod
    def checking(self) -> RowsChecking:
        """The verifiers of the method, which share no code with deciding and drawing."""

    def verify(
        self, manifest: Manifest, published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """See :meth:`RowsMethod.verify`."""
        found = self.checking()
        return found.public(manifest.as_json(), published, found.worded, token)

    def verify_with_source(
        self,
        manifest: Manifest,
        published: PublishedTable,
        given: MethodInput,
        difference: RowDifference | None,
        token: CancelToken,
    ) -> tuple[ClaimCheck, ...]:
        """See :meth:`RowsMethod.verify_with_source`."""
        if difference is None:
            raise TypeError("drawn rows are compared with their source")
        found, stated = self.checking(), manifest.as_json()
        return found.with_source(stated, published, given, difference, found.worded, token)

    def draws_check(
        self, manifest: Manifest, given: MethodInput, linked: LinkedRows, token: CancelToken
    ) -> ClaimCheck | None:
        """See :meth:`RowsMethod.draws_check`."""
        draws = self.checking().draws
        return None if draws is None else draws(manifest.as_json(), given, linked, token)

    def evidence_fault(
        self,
        manifest: Manifest,
        evidence: Mapping[str, object],
        published: PublishedTable,
        token: CancelToken,
    ) -> str | None:
        """See :meth:`RowsMethod.evidence_fault`."""
        return self.checking().evidence_fault(manifest.as_json(), evidence, published, token)


@dataclass(frozen=True)
class CellsInput(MethodInput):
    """What a method of protected tables sees: a source that adds up cells.

    Hierarchies of a single one of several tables stand under :func:`own_hierarchy`.
    """

    source: CellSource = field(kw_only=True)
    keys: Callable[[int], NDArray[np.uint64]] | None = field(
        default=None, kw_only=True, repr=False, compare=False
    )
    """The keys of so many rows, drawn once and kept, by which samples and swaps are decided."""
    edit: RowEdit | None = field(default=None, kw_only=True, repr=False, compare=False)
    """The sample and the swaps of a release, where it is checked."""


def own_hierarchy(column: str, table: str) -> str:
    """The name of the hierarchy that a column has in one of several tables alone."""
    return f"{column} ({table})"


@dataclass(frozen=True)
class CellsOutcome(Outcome):
    """Tables with what is published of them decided."""

    tables: tuple[CellTable, ...] = field(default=(), repr=False)
    edit: RowEdit | None = field(default=None, repr=False)
    """Which rows were counted, and with which values of swapped columns; None: all as they are."""


class KeptDraws(Protocol):
    """What was drawn before of a population and a source: roundings of cells and keys of rows, each
    drawn once.
    """

    def directions(
        self, cells: Sequence[Sequence[str]], draw: Callable[[Sequence[int]], Sequence[bool]]
    ) -> Sequence[bool]:
        """Whether each cell goes up; it has several names, each of which finds it again. ``draw``
        gives those that are asked for the first time, by their places. What it gave is on the disk
        when this returns.

        Raises StorageError where roundings that were kept are gone.
        """
        ...

    def row_keys(self, rows: int, draw: Callable[[int], NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """The keys of so many rows of the source, in its order; ``draw`` gives further ones, as
        for :meth:`directions`.
        """
        ...


class CellsMethod(Method):
    """A method that releases tables of cells that were counted exactly, and then protected.

    Nothing is spent. Deciding may be repeated; what is drawn afterwards is kept, so that the same
    cells have the same numbers for ever.
    """

    @abstractmethod
    def explore(self, given: CellsInput, token: CancelToken, report: Report) -> Exploration:
        """Count once, so that live parameters can be tried; nothing is drawn."""

    @abstractmethod
    def decide(self, given: CellsInput, token: CancelToken, report: Report) -> CellsOutcome:
        """Count and protect the tables, but for what is drawn.

        Raises InputError, RefusedError when the tables cannot be protected as asked, Cancelled.
        """

    def draws(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether :meth:`draw` changes what was decided."""
        return False

    def draw(
        self,
        given: CellsInput,
        outcome: CellsOutcome,
        kept: KeptDraws,
        randomness: RandomSource,
        token: CancelToken,
    ) -> CellsOutcome:
        """The outcome with what is drawn. Raises StorageError, Cancelled."""
        raise TypeError("the method draws nothing")

    @abstractmethod
    def made_again(
        self,
        given: CellsInput,
        recorded: Mapping[str, object],
        published: Mapping[str, CellTable],
        kept: Mapping[str, CellTable],
        token: CancelToken,
    ) -> CellsOutcome:
        """The outcome that led to these tables, counted again from the source, without a search.

        ``recorded`` is the result in the evidence, of which only what a search alone can tell is
        taken over.
        """

    @abstractmethod
    def verify(
        self,
        manifest: Manifest,
        published: Mapping[str, CellTable],
        internal: Mapping[str, CellTable] | None,
        given: CellsInput | None,
        token: CancelToken,
        recorded: Mapping[str, object] | None = None,
    ) -> tuple[ClaimCheck, ...]:
        """Check each claim of a manifest against its tables, by file.

        ``internal`` are the tables that the agency keeps, ``given`` the source with the plan and
        ``recorded`` the result in the evidence, where they are at hand. Shares no code with
        deciding, and takes no number for granted.
        """
