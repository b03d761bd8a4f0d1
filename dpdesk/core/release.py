"""Releases as values: what was made, what checking it showed, what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import read_again, relinked, table_of
from dpdesk.core.plain import thaw
from dpdesk.core.schema import ColumnType, Role, RoleSuggestion, ValueCount
from dpdesk.core.shapes import Shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.core.cuboid import CuboidTable


# A published table as a verifier sees it: values as text, counted by columns, nothing else.


# What a published table of persons shows, counted from its file alone: facts for checklists.


class Content(Enum):
    """What the texts of a column look like, beyond their type."""

    PLAIN = "plain values"
    FREE_TEXT = "free text"
    ADDRESSES = "e-mail addresses"


@dataclass(frozen=True)
class SpreadFacts:
    """How the values of one column are spread over the classes of equal quasi-identifiers.

    ``fewest`` is the smallest number of different values in a class. A class is *homogeneous* when
    all its rows hold one value, and *dominated* when one value has nine tenths of its rows or more,
    but not all. ``common`` is the value that most homogeneous classes hold, with their number in
    ``common_classes``. ``distance`` is the largest distance ½·Σ|p−q| between the values of a class
    and those of all rows (t-closeness with the equal distance), exactly. ``exposed`` are the rows
    in groups of fewer than k rows for somebody who knows this column beside the quasi-identifiers,
    ``alone`` those who are alone in such a group.
    """

    fewest: int
    homogeneous_classes: int
    homogeneous_rows: int
    dominated_classes: int
    dominated_rows: int
    distance: Fraction
    exposed: int
    alone: int
    common: str = ""
    common_classes: int = 0


@dataclass(frozen=True)
class ColumnFacts:
    """One published column; counts are in rows but for ``distinct``.

    ``unique`` are rows whose value nobody else has, ``missing`` rows with a declared missing code;
    of these ``user_missing`` have one that the source itself declares (99 for "refused").
    ``top`` is the most frequent value. ``extreme`` is the largest number with its rows, where it
    is more than twice the 99th percentile. ``spread`` is None for quasi-identifiers.
    """

    name: str
    role: Role
    type: ColumnType
    content: Content
    distinct: int
    unique: int
    missing: int
    top: ValueCount
    suggestion: RoleSuggestion
    extreme: ValueCount | None = None
    spread: SpreadFacts | None = None
    user_missing: int = 0


@dataclass(frozen=True)
class TableFacts:
    """A published table, grouped by its quasi-identifiers into classes.

    ``k`` is the claimed smallest class; ``uniques`` are rows alone in their class, ``below`` rows
    in classes of fewer than k rows, ``missing`` rows with a missing value in a quasi-identifier.
    """

    rows: int
    k: int
    classes: int
    smallest: int
    uniques: int
    below: int
    missing: int
    columns: tuple[ColumnFacts, ...]

    def with_role(self, *roles: Role) -> tuple[ColumnFacts, ...]:
        """The columns with one of these roles, in file order."""
        return tuple(column for column in self.columns if column.role in roles)


FIGURES_CLAIM = "figures of the evidence are those of the source"
"""The claim that is confirmed when risk, utility and charts were counted again."""

MADE_AGAIN = "microdata.csv is what the source gives"
"""The claim that is confirmed when the table was made again from its source, byte for byte."""

OTHER_WORDS = (
    "model and parameters are as they must be; the sentences were written with texts other than "
    "this program's, so they were not compared"
)
"""What is found of sentences of a guarantee that nothing could be compared with."""

MINIMAL_CHANGE = "minimal change"
"""The claim on the size of a minimal change beside what is exact, which 4ti2 can settle."""

ROWS_COMPARED = "rows are those of the source, but for what was drawn"
"""The claim that is confirmed when the columns that were not drawn were compared row by row."""

DRAWN_AS_STATED = "values and rows came out as draws with these chances do"
"""The claim on rows that are known again in the source, whose draws can be counted."""


CELLS_COUNTED = "the agency's tables are those of the source"
"""The claim that is confirmed when all cells of protected tables were counted again."""


class CheckStatus(Enum):
    """How far a claim could be checked from the files at hand."""

    CONFIRMED = "re-checked from the public files"
    FAILED = "failed"
    NEEDS_SOURCE = "needs the source or a population file"
    NOT_CHECKABLE = "cannot be checked by nature"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class ClaimCheck:
    """One claim of a release and what checking it showed; ``path`` is the file concerned.

    ``label`` says the claim in plain words, where ``claim`` is a key of the manifest. ``words``
    marks a failure that lies in the wording of sentences alone.
    """

    claim: str
    status: CheckStatus
    found: str
    path: str = ""
    label: str = ""
    words: bool = False


@dataclass(frozen=True)
class GroupSizes:
    """Sizes of the groups of equal rows on some columns: groups, rows, smallest, Σ size².

    ``alone`` are the groups of one row; sizes found in different ways are compared without it.
    """

    groups: int
    rows: int
    smallest: int
    sum_of_squares: int
    alone: int = field(default=0, compare=False)


@dataclass(frozen=True)
class RowDifference:
    """Rows of a release that its source lacks, and of the source that the release lacks.

    Rows are compared as a whole on the columns whose values were not drawn, each as often as it
    occurs. ``unplaced`` are rows of the source without a row of the release that could be theirs by
    a value that stands apart; None where none does. ``rising`` are pairs of rows with the same such
    value, and how many of them have their groups in the order of the source.
    """

    extra: int
    missing: int
    unplaced: int | None = None
    rising: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class LinkedRows:
    """Rows of a release that are known for rows of its source by the columns that were not drawn.

    ``shown`` tells of each drawn column how many of them show a value for one of the source. Of
    ``alone`` of them no other row has the same columns; ``neighbours`` are pairs of those that
    stand next to each other in both tables.
    """

    shown: Mapping[str, Mapping[tuple[str, str], int]]
    alone: int
    neighbours: int


@dataclass(frozen=True)
class Separated:
    """A column of the source whose values stand in a further public table.

    ``file`` is that table: ``value`` holds the values, and ``key`` joins them with rows, by a
    column of that name in both tables.
    """

    column: str
    file: str
    key: str
    value: str


class PublishedTable(Protocol):
    """The microdata of a release, read from its CSV alone."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in file order."""
        ...

    @property
    def rows(self) -> int:
        """Number of data rows."""
        ...

    def group_sizes(self, columns: Sequence[str], token: CancelToken) -> GroupSizes:
        """Group the rows by the exact text of ``columns``."""
        ...

    def value_counts(self, column: str, token: CancelToken) -> Mapping[str, int]:
        """Rows per distinct text of one column."""
        ...

    def beside(self, file: str, token: CancelToken) -> PublishedTable:
        """A further public table of the release."""
        ...

    def fewest_values(self, columns: Sequence[str], counted: str, token: CancelToken) -> int:
        """Group the rows by ``columns``; the fewest different texts of ``counted`` in a group."""
        ...

    def combinations(self, columns: Sequence[str], token: CancelToken) -> CountedRows:
        """The rows by the exact texts of ``columns``."""
        ...


# A guarantee in words: what is claimed, what it assumes, what it does not cover.


@dataclass(frozen=True)
class Guarantee(Shape):
    """Claim, assumptions and limits of a release, filled from the checked result.

    ``model`` names the formal model (for instance ``"k-anonymity"``), ``parameters`` its numbers as
    JSON values, ``claim`` is one plain sentence; ``assumes`` and ``does_not_cover`` are sentences.
    """

    model: str
    parameters: Mapping[str, object]
    claim: str
    assumes: tuple[str, ...]
    does_not_cover: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Claim, assumptions and limits."""
        return self.claim, self.assumes, self.does_not_cover

    def differs_in_words(self, stated: object) -> bool:
        """Whether a guarantee that a manifest states is this one, but for its sentences."""
        expected = self.as_json()
        if not isinstance(stated, Mapping) or {*stated} != {*expected}:
            return False
        sentences = [stated["claim"]]
        for key in ("assumes", "does_not_cover"):
            if not isinstance(stated[key], list | tuple):
                return False
            sentences += stated[key]
        if not all(isinstance(sentence, str) for sentence in sentences):
            return False
        facts = [
            [thaw(each[key]) for key in ("model", "parameters")] for each in (stated, expected)
        ]
        return dumps(facts[0], sort_keys=True) == dumps(facts[1], sort_keys=True)


def hidden_columns(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Columns of rows whose values were drawn or stand apart, by the parameters of a guarantee."""
    for key in ("diverted", "separated", "drawn"):
        names = parameters.get(key)
        if isinstance(names, list | tuple):
            return tuple(map(str, names))
    return ()


# ``public/manifest.json`` as a value: what a release states to everyone.
#
# It is read once where a release is opened. ``parameters``, ``result`` and the parameters of the
# guarantee are the method's own, and stay plain here.


@dataclass(frozen=True)
class ListedFile(Shape):
    """A public file as the manifest lists it."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class StatedTexts(Shape):
    """From which texts the sentences of a release are made: their language and a fingerprint."""

    language: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Manifest(Shape):
    """A manifest; ``texts`` are None in releases of the first versions.

    ``messages`` say of its sentences what they are made of; earlier versions have none.

    ``files`` are all other public files, by their paths; none are listed yet while a release is
    made.
    """

    format: int
    dpdesk: str
    created: str
    title: str
    method: str
    parameters: Mapping[str, object] = field(repr=False)
    guarantee: Guarantee = field(repr=False)
    result: Mapping[str, object] = field(repr=False)
    commitment: str = field(repr=False)
    files: Mapping[str, ListedFile] = field(repr=False)
    texts: StatedTexts | None = field(default=None, repr=False)
    messages: Mapping[str, object] | None = field(default=None, repr=False)

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Self:
        """The manifest, whose sentences are messages again. Raises ShapeError."""
        found = super().from_json(raw)
        said = read_again({"stated": found.guarantee.sentences}, found.messages)["stated"]
        assert isinstance(said, tuple)
        claim, assumes, not_covered = said
        guarantee = replace(
            found.guarantee, claim=claim, assumes=assumes, does_not_cover=not_covered
        )
        return replace(found, guarantee=guarantee)

    def with_messages(self) -> Self:
        """The manifest with what its sentences are made of."""
        return replace(self, messages=table_of(self.guarantee.sentences))


def celled_columns(manifest: Manifest) -> tuple[str, ...]:
    """The quasi-identifiers of a k-anonymous release that has no level for each of them.

    Each of their cells shows what its own class needed.
    """
    stated = manifest.guarantee.parameters
    names = stated.get("quasi_identifiers")
    if "k" not in stated or "node" in manifest.result or not isinstance(names, list | tuple):
        return ()
    return tuple(map(str, names))


NO_MANIFEST = Manifest(
    format=0,
    dpdesk="",
    created="",
    title="",
    method="",
    parameters={},
    guarantee=Guarantee("", {}, "", (), ()),
    result={},
    commitment="",
    files={},
)
"""What a release states whose manifest cannot be read."""


# ``internal/evidence.json`` as a value: what the agency keeps of a release.
#
# It is read once where a release is opened. Earlier versions recorded less: what is absent is empty
# here, and whether it may be absent is told by :mod:`dpdesk.app.evidence_checks`. The plan,
# parameters and what the method found are plain tables.


_Table = Mapping[str, object]
_SAID = ("checks", "figures", "charts", "recoded", "notes", "recorded_notes")


@dataclass(frozen=True, kw_only=True)
class SourceRecord(Shape):
    """The source as it was: name, hash, rows, columns, how it was read and what was asked of that.

    ``bytes`` is the size of a file; what a server sent has none, and earlier versions wrote none.
    ``unreadable_lines`` and ``unreadable_values`` (by column) are counted for private methods.
    """

    name: str = ""
    sha256: str = ""
    bytes: int | None = None
    rows: int | None = None
    columns: tuple[str, ...] = ()
    reading: _Table = field(default_factory=dict)
    asked: _Table = field(default_factory=dict)
    unreadable_lines: int | None = None
    unreadable_values: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LedgerHead(Shape):
    """Where a ledger ended: its id, its number of entries, the hash of the last one."""

    ledger: str = ""
    entries: int | None = None
    hash: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherDebit(Shape):
    """A debit on the same people in another ledger of the computer."""

    ledger: str = ""
    cost: str = ""


@dataclass(frozen=True, kw_only=True)
class Payment(Shape):
    """The debit that paid for a release; ``record`` is its entry as the ledger holds it."""

    debit: str = ""
    entry: str = ""
    cost: str = ""
    time: str = ""
    population: str = ""
    ledger: str = ""
    record: _Table | None = None
    head: LedgerHead | None = None
    elsewhere: tuple[OtherDebit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Environment(Shape):
    """Versions of the program, of Python, of the system, and of libraries by their names."""

    dpdesk: str = ""
    python: str = ""
    system: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Evidence(Shape):
    """The evidence; ``budget`` is None for releases that cost nothing.

    ``hierarchies`` are rows of labels from leaf to top, by column; ``plain`` is the whole as it
    is in the file, for what compares it value by value.
    """

    format: int = 0
    dpdesk: str = ""
    created: str = ""
    title: str = ""
    method: str = ""
    guarantee: Guarantee | None = None
    plan_name: str = ""
    plan: _Table = field(default_factory=dict)
    parameters: _Table = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    source: SourceRecord = field(default_factory=SourceRecord)
    hierarchies: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    commitment_key: str = ""
    checks: tuple[_Table, ...] = ()
    result: _Table = field(default_factory=dict)
    edits: _Table = field(default_factory=dict, repr=False)
    risk: _Table = field(default_factory=dict)
    utility: _Table = field(default_factory=dict)
    figures: tuple[_Table, ...] = ()
    charts: tuple[_Table, ...] = ()
    recoded: tuple[_Table, ...] = ()
    pseudonyms: Mapping[str, _Table] = field(default_factory=dict)
    noise_paid: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recorded_notes: tuple[str, ...] = ()
    budget: Payment | None = None
    environment: Environment = field(default_factory=Environment)
    timings: Mapping[str, int | float] = field(default_factory=dict)
    printed: bool | None = None
    messages: _Table = field(default_factory=dict, repr=False)
    plain: _Table = field(default_factory=dict, repr=False)

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Self:
        """See :meth:`Shape.from_json`; the texts that people read are messages again."""
        found = super().from_json(raw)
        said: dict[str, Any] = {
            name: relinked(getattr(found, name), found.messages) for name in _SAID
        }
        return replace(found, plain=raw, **said)

    def as_json(self) -> dict[str, object]:
        """The evidence as it was read."""
        return dict(self.plain)


NO_EVIDENCE = Evidence()
"""What is kept where the internal part is not at hand, or cannot be read."""


# What was published, as values: the files of a release that answer questions, no source.


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Distinct combinations of some columns of a published table, each with its rows.

    ``texts`` holds the different texts of each column, in code-point order; ``codes``, shape
    (combinations, columns), points into them; ``rows`` has shape (combinations,).
    """

    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)


class ReleasedContent(Protocol):
    """The public part of a release whose files are what its manifest says. No source is in reach.

    Whatever cannot be read raises InputError ``release.unreadable``; Cancelled.
    """

    @property
    def manifest(self) -> Manifest:
        """The public manifest."""
        ...

    def cuboid(self, file: str, token: CancelToken) -> CuboidTable:
        """One table of a cube by its ``file``; cells as the domain of the result says."""
        ...

    def columns(self, file: str, token: CancelToken) -> tuple[str, ...]:
        """The columns of a CSV such as ``microdata.csv``."""
        ...

    def counted(self, file: str, columns: Sequence[str], token: CancelToken) -> CountedRows:
        """The rows of such a CSV, counted by the exact texts of some of its columns."""
        ...


@dataclass(frozen=True)
class ReleaseSummary:
    """A release that has just been made; ``guarantee`` and ``result`` as its manifest has them."""

    out: Path
    method: str
    guarantee: Mapping[str, object]
    result: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The object that ``run --json`` prints."""
        return {
            "out": str(self.out),
            "method": self.method,
            "guarantee": dict(self.guarantee),
            "result": dict(self.result),
        }


class Failure(NamedTuple):
    """A file of a release that is not what it should be; ``path`` is relative to the folder."""

    path: str
    reason: str


@dataclass(frozen=True)
class VerifyReport:
    """What checking a release showed.

    ``sealed`` says whether the manifest itself was covered by a seal; ``notes`` are sentences about
    what could not be checked.
    """

    ok: bool
    claims: tuple[ClaimCheck, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = ()
    sealed: bool = False

    def as_json(self) -> dict[str, object]:
        """The object that ``verify --json`` prints."""
        return {
            "ok": self.ok,
            "claims": [
                {
                    "claim": check.claim,
                    "status": check.status.value,
                    "found": check.found,
                    "path": check.path,
                }
                for check in self.claims
            ],
            "failures": [
                {"path": failure.path, "reason": failure.reason} for failure in self.failures
            ],
            "not_checked": [check.claim for check in self.not_checked()],
            "notes": list(self.notes),
        }

    def not_checked(self) -> tuple[ClaimCheck, ...]:
        """What was compared with nothing; no checklist counts it as passed."""
        return tuple(check for check in self.claims if check.status is CheckStatus.NOT_CHECKED)

    @property
    def words_compared(self) -> bool:
        """Whether the sentences of the guarantee were compared with those of this program."""
        return all(check.found != OTHER_WORDS for check in self.claims)

    def confirmed(self) -> tuple[ClaimCheck, ...]:
        """The claims that the files at hand confirm."""
        return tuple(check for check in self.claims if check.status is CheckStatus.CONFIRMED)


@dataclass(frozen=True)
class ReleaseFacts:
    """What a release folder says of itself; nothing of it is checked here.

    ``public`` is the folder that is published, ``internal`` the part that stays in the agency (None
    when only the public part is at hand). ``evidence`` is empty without ``internal``.
    """

    public: Path
    internal: Path | None
    manifest: Manifest = NO_MANIFEST
    evidence: Evidence = NO_EVIDENCE

    @property
    def title(self) -> str:
        """Title as published; empty when none was given."""
        return self.manifest.title

    @property
    def method(self) -> str:
        """Id of the method."""
        return self.manifest.method

    @property
    def created(self) -> str:
        """Date of the release, ``YYYY-MM-DD``."""
        return self.manifest.created
