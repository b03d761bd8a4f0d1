"""Releases as values: what was made, what checking it showed, what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import read_again, relinked, table_of
from dpdesk.core.published import OTHER_WORDS, CheckStatus, ClaimCheck
from dpdesk.core.shapes import Shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.core.cuboid import CuboidTable


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
        said = read_again({"stated": _sentences(found.guarantee)}, found.messages)["stated"]
        assert isinstance(said, tuple)
        claim, assumes, not_covered = said
        guarantee = replace(
            found.guarantee, claim=claim, assumes=assumes, does_not_cover=not_covered
        )
        return replace(found, guarantee=guarantee)

    def with_messages(self) -> Self:
        """The manifest with what its sentences are made of."""
        return replace(self, messages=table_of(_sentences(self.guarantee)))


def celled_columns(manifest: Manifest) -> tuple[str, ...]:
    """The quasi-identifiers of a k-anonymous release that has no level for each of them.

    Each of their cells shows what its own class needed.
    """
    stated = manifest.guarantee.parameters
    names = stated.get("quasi_identifiers")
    if "k" not in stated or "node" in manifest.result or not isinstance(names, list | tuple):
        return ()
    return tuple(map(str, names))


def _sentences(stated: Guarantee) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return stated.claim, stated.assumes, stated.does_not_cover


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

    ``unreadable_lines`` and ``unreadable_values`` (by column) are counted for private methods.
    """

    name: str = ""
    sha256: str = ""
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
