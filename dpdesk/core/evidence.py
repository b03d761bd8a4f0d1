"""``internal/evidence.json`` as a value: what the agency keeps of a release.

It is read once where a release is opened. Earlier versions recorded less: what is absent is empty
here, and whether it may be absent is told by :mod:`dpdesk.app.evidence_keys`. The plan, parameters
and what the method found are plain tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.messages import relinked
from dpdesk.core.shapes import Shape

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
