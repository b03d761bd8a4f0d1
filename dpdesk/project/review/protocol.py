"""Locked protocols: how a release was made, to be made again for other data of the same shape.

A protocol holds roles, hierarchies by value, the protection, the missing codes and the policy, but
neither source nor title. It comes from a release that was reviewed in the mode "develop"; a release
in the mode "apply" must have the same plan. It is signed by the person who locked it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import dpdesk
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import nearest
from dpdesk.core.plain import freeze_table, show, thaw
from dpdesk.core.plan import SourceSpec
from dpdesk.core.release import ReleaseFacts, TableFacts
from dpdesk.core.schema import ColumnType, Role
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.safewrite import read_bytes, write_text
from dpdesk.project.review.cards import Purpose, fingerprint_of, key_fault, signature_holds
from dpdesk.project.review.events import Mode
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.state import ReviewState
from dpdesk.project.review.texts import (
    CLOCK_TOLERANCE,
    LONGEST_PERSON,
    BadFieldError,
    Fields,
    fold_person,
    is_person,
    shown,
    time_text,
)
from dpdesk.project.review.trust import RevokedAs, TrustList
from dpdesk.project.work import WorkState

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper


PROTOCOL_KIND = "dpdesk-protocol"
_NUMBERS = (ColumnType.INTEGER, ColumnType.DECIMAL)
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ProtocolColumn:
    """A column of the source; ``type`` is None where nobody recorded it (columns left out)."""

    name: str
    role: Role
    type: ColumnType | None = None


@dataclass(frozen=True)
class Protocol:
    """What has to be the same in every release that applies it.

    ``columns`` are those of the source, in order; ``hierarchies`` their rows from leaf to top, by
    column; ``protection`` and ``budget`` are frozen plain values as in a plan. ``release`` is the
    SHA-256 of the manifest of the release that it was made from.
    """

    title: str
    release: str
    policy_sha256: str
    columns: tuple[ProtocolColumn, ...]
    hierarchies: Mapping[str, Rows]
    missing: tuple[str, ...]
    decimal: str
    protection: Mapping[str, object]
    budget: Mapping[str, object] | None = None

    def as_json(self) -> dict[str, object]:
        """The protocol as the object that is signed."""
        return {
            "format": 1,
            "kind": PROTOCOL_KIND,
            "title": self.title,
            "release": self.release,
            "policy_sha256": self.policy_sha256,
            "columns": [
                {
                    "name": column.name,
                    "role": column.role.value,
                    "type": None if column.type is None else column.type.value,
                }
                for column in self.columns
            ],
            "hierarchies": {
                name: [list(row) for row in rows] for name, rows in self.hierarchies.items()
            },
            "missing": list(self.missing),
            "decimal": self.decimal,
            "protection": thaw(self.protection),
            "budget": None if self.budget is None else thaw(self.budget),
        }

    def work(self, source: SourceSpec, base: Path) -> WorkState:
        """The work that applies the protocol to another source, whose path is below ``base``."""
        read = replace(
            source,
            decimal=source.decimal or (None if self.decimal == "." else self.decimal),
            missing=self.missing,
        )
        hierarchies = {
            name: Hierarchy.from_rows(name, rows, "the protocol")
            for name, rows in self.hierarchies.items()
        }
        parameters = {key: value for key, value in self.protection.items() if key != "method"}
        return WorkState(
            source=read,
            base=base,
            roles=MappingProxyType(
                {column.name: _plan_role(column.role) for column in self.columns}
            ),
            hierarchies=MappingProxyType(hierarchies),
            method=str(self.protection.get("method", "")),
            parameters=freeze_table(parameters),
            budget=self.budget,
        )


def _plan_role(role: Role) -> Role:
    """The role as a plan gives it: which key a pseudonym has is for those who apply a protocol."""
    return Role.IDENTIFIER if role is Role.PSEUDONYM else role


@dataclass(frozen=True)
class SignedProtocol:
    """A protocol with its maker's signature; only a trust list says whose key it is."""

    protocol: Protocol
    person: str
    key: str
    time: datetime
    dpdesk: str
    signature: str

    def body(self) -> dict[str, object]:
        """What is signed."""
        return {
            **self.protocol.as_json(),
            "signer": {
                "person": self.person,
                "key": self.key,
                "fingerprint": fingerprint_of(self.key),
            },
            "time": time_text(self.time),
            "dpdesk": self.dpdesk,
        }

    @cached_property
    def id(self) -> str:
        """SHA-256 (hex) of the canonical bytes of the body: what a submission names."""
        return hashlib.sha256(canonical_json(self.body())).hexdigest()

    @cached_property
    def holds(self) -> bool:
        """Whether the signature is by the key that is named, over just this body."""
        body = canonical_json(self.body())
        return signature_holds(self.key, Purpose.PROTOCOL, body, self.signature)


class Signature(Enum):
    """What a protocol's signature is worth on this computer."""

    TRUSTED = "by a trusted key"
    UNKNOWN = "by a key that is not in the trust list"
    REVOKED = "by a key that was revoked"
    BAD = "does not fit the content"
    AHEAD = "is dated in the future"


@dataclass(frozen=True)
class ProtocolCheck:
    """What comparing a release with a protocol showed; ``differences`` are parts of sentences.

    It is the author's ``own`` where who submits the release signed it: nobody else says that what
    it holds was approved.
    """

    id: str
    differences: tuple[str, ...]
    signer: str
    signature: Signature
    own: bool = False


def check_protocol(
    signed: SignedProtocol,
    release: ReleaseFacts,
    table: TableFacts | None,
    policy_sha256: str,
    trust: TrustList,
    now: datetime,
    author: str = "",
) -> ProtocolCheck:
    """Check a release against a protocol, and its signature against the trust list.

    ``author`` is the name of who submits the release.

    Never raises, whatever the evidence holds; what cannot be read is a difference.
    """
    found = tuple(differences(signed.protocol, release, table, policy_sha256))
    own = bool(author) and fold_person(author) == fold_person(signed.person)
    return ProtocolCheck(signed.id, found, signed.person, signature_of(signed, trust, now), own)


def signature_of(signed: SignedProtocol, trust: TrustList, now: datetime) -> Signature:
    """What the signature is worth: the key's, its time, and the name that the trust list has for
    the key. A clock may be ahead of another by as much as in reviews.
    """
    if not signed.holds:
        return Signature.BAD
    entry = trust.entry(fingerprint_of(signed.key))
    if entry is None:
        return Signature.UNKNOWN
    if fold_person(entry.person) != fold_person(signed.person):
        return Signature.BAD
    if signed.time > now + CLOCK_TOLERANCE:
        return Signature.AHEAD
    revoked = entry.revoked
    if revoked is None:
        return Signature.TRUSTED
    retired = revoked.kind is RevokedAs.RETIRED and not revoked.is_ahead(now)
    early = retired and signed.time < revoked.time
    return Signature.TRUSTED if early else Signature.REVOKED


def differences(
    protocol: Protocol, release: ReleaseFacts, table: TableFacts | None, policy_sha256: str
) -> Iterator[str]:
    """How the plan in a release's evidence departs from a protocol, but for source and title."""
    if not release.evidence.plain:
        yield "the internal part, which holds the plan, is not available"
        return
    if policy_sha256 != protocol.policy_sha256:
        yield "the policy is not the one under which the protocol was made"
    yield from _role_differences(protocol, release.evidence.roles)
    yield from _hierarchy_differences(protocol, release.evidence.hierarchies)
    yield from _plan_differences(protocol, release)
    yield from _type_differences(protocol, table)


def _role_differences(protocol: Protocol, found: Mapping[str, str]) -> Iterator[str]:
    known = {column.name: column.role.value for column in protocol.columns}
    for name, role in known.items():
        if name not in found:
            near = nearest(name, [other for other in found if other not in known])
            renamed = msg("; is it `{near}` now?", near=near) if near else ""
            yield msg("the source has no column `{name}`{renamed}", name=name, renamed=renamed)
        elif found[name] != role:
            yield msg("`{name}` is {found}, not {role}", name=name, found=found[name], role=role)
    for name in found:
        if name not in known:
            yield msg("the column `{name}` is not in the protocol", name=name)


def _hierarchy_differences(protocol: Protocol, found: Mapping[str, object]) -> Iterator[str]:
    for name in sorted({*protocol.hierarchies, *map(str, found)}):
        if name not in protocol.hierarchies:
            yield msg("`{name}` has a hierarchy, but none in the protocol", name=name)
            continue
        rows, ours = found.get(name), protocol.hierarchies[name]
        there = as_rows(rows)
        if there != ours:
            yield msg(
                "the hierarchy of `{name}` is different{how_rows_differ}",
                name=name,
                how_rows_differ=_how_rows_differ(ours, there),
            )


def _how_rows_differ(ours: Rows, there: Rows | None) -> str:
    if there is None:
        return ""
    known, found = {row[0]: row for row in ours if row}, {row[0]: row for row in there if row}
    more, fewer = len(found.keys() - known.keys()), len(known.keys() - found.keys())
    moved = sum(found[leaf] != known[leaf] for leaf in found.keys() & known.keys())
    if not more + fewer + moved:
        return msg(" (the same values in another order)")
    parts = [
        msg("{n:,} more", n=more) if more else "",
        msg("{n:,} fewer", n=fewer) if fewer else "",
        msg("{n:,} placed elsewhere", n=moved) if moved else "",
    ]
    return msg(" (values: {parts})", parts=joined(parts, ", "))


def _plan_differences(protocol: Protocol, release: ReleaseFacts) -> Iterator[str]:
    plan = release.evidence.plan
    protection = plan.get("protection")
    found = freeze_table(protection) if isinstance(protection, Mapping) else {}
    for key in (*protocol.protection, *(key for key in found if key not in protocol.protection)):
        ours, there = protocol.protection.get(key), found.get(key)
        if ours is None:
            yield msg(
                "`{key}` is {there}, which differs from the protocol", key=key, there=show(there)
            )
        elif there is None:
            yield msg("`{key}` is missing, where the protocol has {ours}", key=key, ours=show(ours))
        elif ours != there:
            yield msg("`{key}` is {there}, not {ours}", key=key, there=show(there), ours=show(ours))
    budget = plan.get("budget")
    if (freeze_table(budget) if isinstance(budget, Mapping) else None) != protocol.budget:
        yield "`[budget]` is another"
    source = plan.get("source")
    codes = source.get("missing", [""]) if isinstance(source, Mapping) else None
    if codes != list(protocol.missing):
        yield msg(
            "the missing codes are {shown}, not {shown2}",
            shown=_shown(codes),
            shown2=_shown(list(protocol.missing)),
        )
    reading = release.evidence.source.reading
    decimal = reading.get("decimal")
    if decimal != protocol.decimal:
        yield msg(
            "the decimal mark is {shown}, not {shown2}",
            shown=_shown(decimal),
            shown2=_shown(protocol.decimal),
        )


def _type_differences(protocol: Protocol, table: TableFacts | None) -> Iterator[str]:
    known = {column.name: column for column in protocol.columns}
    for found in table.columns if table is not None else ():
        column = known.get(found.name)
        if column is None or column.role is Role.QUASI_IDENTIFIER or column.type is None:
            continue
        if not same_type(column.type, found.type):
            yield msg(
                "`{name}` holds {value} values, not {value2}",
                name=found.name,
                value=found.type.value,
                value2=column.type.value,
            )


def same_type(one: ColumnType, other: ColumnType) -> bool:
    """Whether values of two types may stand in one column: numbers with numbers, empty with all."""
    return one is other or ColumnType.EMPTY in (one, other) or {one, other} <= set(_NUMBERS)


def as_rows(raw: object) -> Rows | None:
    """A hierarchy's rows from JSON values; None when they are none."""
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        return None
    rows = []
    for row in raw:
        if not isinstance(row, list | tuple) or not all(isinstance(item, str) for item in row):
            return None
        rows.append(tuple(row))
    return tuple(rows)


def _shown(value: object) -> str:
    return "not given" if value is None else show(value)


# Make, sign, write and read locked protocols.
#
# A file is canonical JSON {id, body, signature}; the signature is over a first line that names the
# purpose and the canonical bytes of the body, whose SHA-256 is the id.


T = TypeVar("T", Role, ColumnType)
_LONGEST_NAME, _LONGEST_TITLE = 10_000, 10_000
_MOST_COLUMNS = 100_000
_BODY = (
    *("format", "kind", "title", "release", "policy_sha256", "columns", "hierarchies", "missing"),
    *("decimal", "protection", "budget", "signer", "time", "dpdesk"),
)


def require_developed(state: ReviewState) -> str:
    """The SHA-256 of the manifest of a release from which a protocol may be locked.

    Raises RefusedError ``protocol.not-approved`` unless the review approved a submission in the
    mode "develop".
    """
    current = state.current
    if current is not None and not state.ok:
        raise RefusedError(
            "protocol.not-approved",
            msg(
                "A protocol is locked from an approved release; this review is not to be relied "
                "on: {reason}.",
                reason=state.faults[0].reason,
            ),
            hint="Have it put right first: `dpdesk review status` names all that is wrong.",
        )
    if current is None or not state.approved:
        raise RefusedError(
            "protocol.not-approved",
            msg(
                "A protocol is locked from an approved release; this review is {value}.",
                value=state.status.value,
            ),
            hint="Have the release reviewed first.",
        )
    if current.payload.mode is not Mode.DEVELOP:
        raise RefusedError(
            "protocol.not-approved",
            "This release applies a protocol that is already locked.",
            hint="Use that protocol.",
        )
    return current.payload.manifest_sha256


def protocol_of(
    release: ReleaseFacts,
    table: TableFacts | None,
    release_sha256: str,
    policy_sha256: str,
    token: CancelToken,
) -> Protocol:
    """The protocol by which a verified release was made.

    Types of quasi-identifiers come from the leaves of their hierarchies, those of unchanged columns
    from the published table. Raises InputError ``protocol.no-evidence`` when the release's internal
    part does not tell its plan.
    """
    try:
        return _protocol_of(release, table, release_sha256, policy_sha256, token)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(
            "protocol.no-evidence",
            msg(
                "{parent}: the evidence does not contain the plan of the release.",
                parent=release.public.parent,
            ),
            hint="Verify the release first.",
        ) from error


def _protocol_of(
    release: ReleaseFacts,
    table: TableFacts | None,
    release_sha256: str,
    policy_sha256: str,
    token: CancelToken,
) -> Protocol:
    evidence = Fields(release.evidence.as_json())
    plan, source = evidence.table("plan"), evidence.table("source")
    hierarchies, roles = evidence.table("hierarchies"), evidence.table("roles")
    missing = plan.table("source").raw.get("missing", [""])
    decimal = source.table("reading").text("decimal", 1, lines=False)
    if not isinstance(missing, list) or not all(isinstance(code, str) for code in missing):
        raise plan.bad("source", "has no list of missing codes")
    order = source.raw.get("columns")
    if not isinstance(order, list) or sorted(order) != sorted(roles.raw):
        raise source.bad("columns", "are not those that have roles")
    rows = {name: _rows(hierarchies, name) for name in hierarchies.raw}
    types = _types(rows, table, missing, decimal, token)
    protection, budget = plan.table("protection"), plan.raw.get("budget")
    protection.text("method", 100, lines=False)
    return Protocol(
        title=release.title,
        release=release_sha256,
        policy_sha256=policy_sha256,
        columns=tuple(
            ProtocolColumn(name, Role(roles.raw[name]), types.get(name)) for name in order
        ),
        hierarchies=rows,
        missing=tuple(missing),
        decimal=decimal,
        protection=freeze_table(protection.raw),
        budget=freeze_table(budget) if isinstance(budget, Mapping) else None,
    )


def _types(
    hierarchies: Mapping[str, Rows],
    table: TableFacts | None,
    missing: Sequence[str],
    decimal: str,
    token: CancelToken,
) -> dict[str, ColumnType]:
    found: dict[str, ColumnType] = {}
    for column in table.columns if table is not None else ():
        if column.role is not Role.QUASI_IDENTIFIER:
            found[column.name] = column.type
    for name, rows in hierarchies.items():
        if name not in found:
            found[name] = leaf_type([row[0] for row in rows], missing, decimal, token)
    return found


def leaf_type(
    leaves: Sequence[str], missing: Sequence[str], decimal: str, token: CancelToken
) -> ColumnType:
    """The type that all leaves but the missing codes have."""
    import numpy as np
    import pyarrow as pa

    from dpdesk.io.published_content import column_content

    texts = pa.array(list(leaves), pa.string())
    return column_content(texts, np.ones(len(texts), np.int64), missing, decimal, token).type


def sign_protocol(protocol: Protocol, signer: Signer, now: datetime) -> SignedProtocol:
    """The protocol signed by its maker; ``now`` knows its zone."""
    card = signer.card
    moment = now.replace(microsecond=0)
    unsigned = SignedProtocol(protocol, card.person, card.key, moment, dpdesk.__version__, "")
    signature = signer.sign(Purpose.PROTOCOL, canonical_json(unsigned.body()))
    return SignedProtocol(protocol, card.person, card.key, moment, dpdesk.__version__, signature)


def write_protocol(
    signed: SignedProtocol, path: Path, keeper: PartialKeeper, *, new: bool = False
) -> None:
    """Write a protocol, whole or not at all; with ``new`` over no other file.

    Raises StorageError ``protocol.unwritable``.
    """
    content = {"id": signed.id, "body": signed.body(), "signature": signed.signature}
    write_text(path, canonical_json(content).decode("utf-8"), "protocol", keeper, new=new)


def read_protocol(path: Path) -> SignedProtocol:
    """Read a protocol; its signature is for :func:`~.protocol.signature_of` to judge.

    Raises StorageError, and InputError ``protocol.unreadable`` for what is no protocol of this
    version, or was changed by somebody who did not know the format.
    """
    try:
        return _parsed(parse_canonical(read_bytes(path, "protocol")))
    except (UnreadableJsonError, BadFieldError) as error:
        reason = str(error)
    except InputError as error:
        if error.code == "protocol.too-large":
            raise
        reason = error.sentence.rstrip(".")
    raise InputError(
        "protocol.unreadable",
        msg(
            "{path}: this is not a locked protocol that can be used: {reason}.",
            path=path,
            reason=reason,
        ),
        hint="Ask the person who locked it for the unchanged file.",
    )


def _parsed(raw: dict[str, object]) -> SignedProtocol:
    whole = Fields(raw)
    whole.only("id", "body", "signature")
    body = whole.table("body")
    body.only(*_BODY)
    body.number("format", 1, 1)
    if body.raw["kind"] != PROTOCOL_KIND:
        raise body.bad("kind", msg("is not {protocol_kind}", protocol_kind=PROTOCOL_KIND))
    signer = body.table("signer")
    signer.only("person", "key", "fingerprint")
    person, key = signer.text("person", LONGEST_PERSON, lines=False), signer.raw["key"]
    fault = key_fault(key)
    if fault or not isinstance(key, str) or not is_person(person):
        raise signer.bad("key" if fault else "person", fault or "is not the name of a person")
    if signer.code("fingerprint") != fingerprint_of(key):
        raise signer.bad("fingerprint", "is not that of the key")
    signed = SignedProtocol(
        protocol=_protocol(body),
        person=person,
        key=key,
        time=body.time("time"),
        dpdesk=body.text("dpdesk", 40, lines=False),
        signature=whole.hex("signature", 64, 64),
    )
    if whole.code("id") != signed.id:
        raise whole.bad("id", "is not the SHA-256 of `body`")
    return signed


def _protocol(body: Fields) -> Protocol:
    hierarchies = body.table("hierarchies", _MOST_COLUMNS)
    protection = body.table("protection")
    protection.text("method", 100, lines=False)
    budget = None if body.raw["budget"] is None else body.table("budget").raw
    decimal = body.text("decimal", 1, lines=False)
    if decimal not in (".", ","):
        raise body.bad("decimal", "is not a decimal mark")
    return Protocol(
        title=body.text("title", _LONGEST_TITLE),
        release=body.code("release"),
        policy_sha256=body.code("policy_sha256"),
        columns=_columns(body),
        hierarchies={name: _rows(hierarchies, name) for name in hierarchies.raw},
        missing=_texts(body, "missing"),
        decimal=decimal,
        protection=freeze_table(protection.raw),
        budget=None if budget is None else freeze_table(budget),
    )


def _columns(body: Fields) -> tuple[ProtocolColumn, ...]:
    raw = body.raw["columns"]
    if not isinstance(raw, list) or not 0 < len(raw) <= _MOST_COLUMNS:
        raise body.bad("columns", "is not a list of columns")
    found = []
    for item in raw:
        fields = Fields(item, "columns")
        fields.only("name", "role", "type")
        kind = None if fields.raw["type"] is None else _one_of(fields, "type", ColumnType)
        name = fields.raw["name"]
        if not isinstance(name, str) or len(name) > _LONGEST_NAME:
            raise fields.bad("name", "is not the name of a column")
        found.append(ProtocolColumn(name, _one_of(fields, "role", Role), kind))
    if len({column.name for column in found}) != len(found):
        raise body.bad("columns", "names a column twice")
    return tuple(found)


def _one_of(fields: Fields, key: str, choices: type[T]) -> T:
    try:
        return choices(fields.raw[key])
    except ValueError:
        raise fields.bad(
            key, msg("is {shown}, which does not exist", shown=shown(str(fields.raw[key]), 40))
        ) from None


def _rows(hierarchies: Fields, name: str) -> Rows:
    rows = as_rows(hierarchies.raw[name])
    if rows is None:
        raise hierarchies.bad(name, "is not a list of rows of texts")
    Hierarchy.from_rows(name, rows, msg("the hierarchy of `{name}`", name=shown(name, 60)))
    return rows


def _texts(body: Fields, key: str) -> tuple[str, ...]:
    raw = body.raw[key]
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        raise body.bad(key, "is not a list of texts")
    return tuple(raw)
