"""Entries of the ledger: what they say, how they are stored, how the chain of hashes runs.

An entry is never changed. The hash of each covers all its fields and the hash of the one before.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from dpdesk.core.budget import (
    Budget,
    DebitRequest,
    Draws,
    Neighbours,
    ProtectedUnit,
    budget_from,
    budget_plain,
)
from dpdesk.core.messages import msg
from dpdesk.core.plain import is_blank
from dpdesk.core.shapes import read_json

FIRST = ""
_DOMAIN = b"dpdesk-ledger-v1\n"
_HASH = re.compile(r"[0-9a-f]{64}")
_LONGEST = 500


class Kind(StrEnum):
    """What an entry records."""

    BEGUN = "begun"
    DEBIT = "debit"
    SETTLED = "settled"
    LIMIT = "limit"
    RESTORED = "restored"
    PEOPLE = "people"


BINDING = (Kind.DEBIT, Kind.RESTORED, Kind.LIMIT, Kind.PEOPLE)
"""What a fresh ledger in the place of one that is gone would forget."""


class Outcome(StrEnum):
    """What became of a debit."""

    UNKNOWN = "unknown"
    RELEASED = "released"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class AccountKey:
    """Whose budget: a declared population, or without one a source by its content hash.

    Names are compared without regard to case, composed letters and runs of spaces, so that a slip
    of the keyboard does not begin a fresh budget.
    """

    population: str = ""
    source: str = ""

    @classmethod
    def of(cls, request: DebitRequest) -> AccountKey:
        """The account that a request names."""
        name = name_of(request.population)
        return cls(population=name) if name else cls(source=request.source)

    @cached_property
    def folded(self) -> tuple[str, str]:
        """What makes two keys the same account."""
        return fold(self.population), "" if self.population else self.source

    def __str__(self) -> str:
        if self.population:
            return msg("the population “{name}”", name=self.population)
        return msg("the source {code} (no population named)", code=self.source[:12])


def fold(name: str) -> str:
    """A name of a population as it is compared; signs that nobody sees do not count."""
    seen = "".join(sign for sign in name if sign.isspace() or not _is_unseen(sign))
    return " ".join(unicodedata.normalize("NFKC", seen).casefold().split())


def name_of(population: str) -> str:
    """The name of a population as it is entered; empty where it shows nothing and names nobody."""
    return one_line(population) if fold(population) else ""


def is_said(reason: str) -> bool:
    """Whether a reason says anything: blanks, invisible signs and marks alone do not."""
    return any(sign.isalnum() and not _is_unseen(sign) for sign in reason)


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign) == "Cf" or is_blank(sign)


def one_line(text: str) -> str:
    """A text that any file can hold, on one line and not without end."""
    flat = " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


@dataclass(frozen=True)
class Begun:
    """The first entry: the ledger's id."""

    ledger: str
    dpdesk: str


@dataclass(frozen=True)
class AuditEnd:
    """Where an audit log ended: the hash of its first entry, which names it, and of its last.

    ``home`` says whether it lay in the ledger's own home folder (``here``), else it is a print of
    the other one; empty in entries of earlier versions.
    """

    log: str
    head: str
    home: str = ""


@dataclass(frozen=True)
class Debited:
    """A debit: what was asked, by which version of DPDesk, and where the audit log ended then."""

    request: DebitRequest
    dpdesk: str
    audit: AuditEnd | None = None

    @property
    def key(self) -> AccountKey:
        """Whose budget it was taken from."""
        return AccountKey.of(self.request)


@dataclass(frozen=True)
class Settled:
    """What became of the debit in row ``debit``; ``manifest`` is the SHA-256 of a release's."""

    debit: int
    outcome: Outcome
    manifest: str = ""
    reason: str = ""


@dataclass(frozen=True)
class LimitSet:
    """The limit of an account from now on; None takes it away.

    ``by_plan``: it came with the debit of a plan, else it was set by the owner.
    """

    key: AccountKey
    limit: Budget | None
    reason: str = ""
    by_plan: bool = False


@dataclass(frozen=True)
class Restored:
    """An entry that this ledger had once and had lost, entered again as it was."""

    entry: LedgerEntry


@dataclass(frozen=True)
class PeopleDeclared:
    """Whether two names of populations mean the same people, from now on, and why."""

    one: str
    other: str
    same: bool
    reason: str


Body: TypeAlias = Begun | Debited | Settled | LimitSet | Restored | PeopleDeclared
_KINDS = {
    Begun: Kind.BEGUN,
    Debited: Kind.DEBIT,
    Settled: Kind.SETTLED,
    LimitSet: Kind.LIMIT,
    Restored: Kind.RESTORED,
    PeopleDeclared: Kind.PEOPLE,
}


@dataclass(frozen=True)
class LedgerEntry:
    """One entry as it is stored. ``time`` is UTC as ISO text; ``body`` is JSON text."""

    n: int
    time: str
    who: str
    kind: str
    body: str
    previous: str
    hash: str

    def expected_hash(self) -> str:
        """What the hash must be for the other fields."""
        fields = [self.n, self.time, self.who, self.kind, self.body, self.previous]
        text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(_DOMAIN + text.encode("ascii")).hexdigest()

    @classmethod
    def make(cls, body: Body, n: int, previous: str, who: str, time: str) -> LedgerEntry:
        """The entry number ``n``, after the one whose hash is ``previous``.

        A few random digits make its hash its own: two copies of a ledger that go on apart never
        have the same entry.
        """
        plain = {**_plain(body), "salt": secrets.token_hex(8)}
        text = json.dumps(plain, sort_keys=True, ensure_ascii=True)
        draft = cls(n, time, one_line(who), _KINDS[type(body)].value, text, previous, "")
        return replace(draft, hash=draft.expected_hash())

    def as_plain(self) -> dict[str, object]:
        """All fields, as they are kept elsewhere."""
        return asdict(self)

    @property
    def content(self) -> Body:
        """What the entry says. Raises ValueError when it makes no sense."""
        if self.kind not in set(Kind):
            raise ValueError(f"this version knows no entries of the kind “{one_line(self.kind)}”")
        try:
            plain = read_json(self.body)
            return _READERS[Kind(self.kind)](plain)
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"an entry of the kind {self.kind} lacks something") from error


def request_for_ledger(request: DebitRequest) -> DebitRequest:
    """The request with its texts as the ledger stores them."""
    if not all(_HASH.fullmatch(one) for one in (request.source, request.columns, *request.content)):
        raise ValueError("source, columns and contents are named by their SHA-256")
    return replace(
        request,
        purpose=one_line(request.purpose),
        title=one_line(request.title),
        population=name_of(request.population),
    )


def _plain(body: Body) -> dict[str, object]:
    if isinstance(body, Begun):
        return {"ledger": body.ledger, "dpdesk": body.dpdesk}
    if isinstance(body, Settled):
        return {
            "debit": body.debit,
            "outcome": body.outcome.value,
            "manifest": body.manifest,
            "reason": one_line(body.reason),
        }
    if isinstance(body, LimitSet):
        return {
            "population": body.key.population,
            "source": body.key.source,
            "limit": None if body.limit is None else budget_plain(body.limit),
            "reason": one_line(body.reason),
            **({"by_plan": True} if body.by_plan else {}),
        }
    if isinstance(body, Restored):
        return {"entry": body.entry.as_plain()}
    if isinstance(body, PeopleDeclared):
        return {**asdict(body), "reason": one_line(body.reason)}
    return _debit_plain(body)


def _debit_plain(body: Debited) -> dict[str, object]:
    request = body.request
    return {
        "population": request.population,
        "source": request.source,
        "columns": request.columns,
        "cost": budget_plain(request.cost),
        "neighbours": request.neighbours.value,
        "rows_per_unit": request.unit.rows,
        "cluster": one_line(request.unit.cluster),
        "draws": [one.as_plain() for one in request.draws],
        "purpose": request.purpose,
        "title": request.title,
        "dpdesk": body.dpdesk,
        **({} if body.audit is None else {"audit": asdict(body.audit)}),
        **({"content": list(request.content)} if request.content else {}),
    }


def _begun(plain: dict[str, object]) -> Begun:
    return Begun(_text(plain["ledger"]), _text(plain["dpdesk"]))


def _debited(plain: dict[str, object]) -> Debited:
    rows, draws, content = plain["rows_per_unit"], plain["draws"], plain.get("content", [])
    if type(rows) is not int or not isinstance(draws, list) or not isinstance(content, list):
        raise TypeError("rows, draws or content")
    request = DebitRequest(
        cost=budget_from(plain["cost"]),
        source=_text(plain["source"]),
        columns=_text(plain["columns"]),
        purpose=_text(plain["purpose"]),
        neighbours=Neighbours(_text(plain["neighbours"])),
        unit=ProtectedUnit(rows, _text(plain["cluster"])),
        draws=tuple(Draws.from_plain(one) for one in draws),
        population=_text(plain["population"]),
        title=_text(plain["title"]),
        content=tuple(map(_text, content)),
    )
    audit = plain.get("audit")
    end = None
    if isinstance(audit, dict):
        end = AuditEnd(_text(audit["log"]), _text(audit["head"]), _text(audit.get("home", "")))
    return Debited(request, _text(plain["dpdesk"]), end)


def _settled(plain: dict[str, object]) -> Settled:
    debit, outcome = plain["debit"], Outcome(_text(plain["outcome"]))
    if type(debit) is not int or outcome is Outcome.UNKNOWN:
        raise TypeError("debit")
    return Settled(debit, outcome, _text(plain["manifest"]), _text(plain["reason"]))


def _limit_set(plain: dict[str, object]) -> LimitSet:
    key = AccountKey(_text(plain["population"]), _text(plain["source"]))
    limit = None if plain["limit"] is None else budget_from(plain["limit"])
    return LimitSet(key, limit, _text(plain["reason"]), plain.get("by_plan") is True)


def _restored(plain: dict[str, object]) -> Restored:
    found = plain["entry"]
    if not isinstance(found, dict) or type(found["n"]) is not int:
        raise TypeError("entry")
    texts = [_text(found[name]) for name in ("time", "who", "kind", "body", "previous", "hash")]
    entry = LedgerEntry(found["n"], *texts)
    if entry.hash != entry.expected_hash():
        raise ValueError("an entry that was entered again is not as it was")
    return Restored(entry)


def _people(plain: dict[str, object]) -> PeopleDeclared:
    if not isinstance(plain["same"], bool):
        raise TypeError("same")
    one, other, reason = (_text(plain[name]) for name in ("one", "other", "reason"))
    return PeopleDeclared(one, other, plain["same"], reason)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


_READERS: Mapping[Kind, Callable[[dict[str, object]], Body]] = {
    Kind.BEGUN: _begun,
    Kind.DEBIT: _debited,
    Kind.SETTLED: _settled,
    Kind.LIMIT: _limit_set,
    Kind.RESTORED: _restored,
    Kind.PEOPLE: _people,
}
