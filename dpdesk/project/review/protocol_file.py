"""Make, sign, write and read locked protocols.

A file is canonical JSON {id, body, signature}; the signature is over a first line that names the
purpose and the canonical bytes of the body, whose SHA-256 is the id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import dpdesk
from dpdesk.core.disclosure import TableFacts
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import freeze_table
from dpdesk.core.release import ReleaseFacts
from dpdesk.core.schema import ColumnType, Role
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.textfile import read_bytes, write_text
from dpdesk.project.review.cards import Purpose, fingerprint_of, key_fault
from dpdesk.project.review.fields import BadFieldError, Fields
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.payloads import Mode
from dpdesk.project.review.protocol import (
    PROTOCOL_KIND,
    Protocol,
    ProtocolColumn,
    Rows,
    SignedProtocol,
    as_rows,
)
from dpdesk.project.review.state import ReviewState
from dpdesk.project.review.texts import LONGEST_PERSON, is_person, shown

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper

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
            "This release applies a protocol that is locked already.",
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
                "{parent}: the evidence does not state the plan of the release.",
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


def write_protocol(signed: SignedProtocol, path: Path, keeper: PartialKeeper) -> None:
    """Write a protocol, whole or not at all. Raises StorageError ``protocol.unwritable``."""
    content = {"id": signed.id, "body": signed.body(), "signature": signed.signature}
    write_text(path, canonical_json(content).decode("utf-8"), "protocol", keeper)


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
        hint="Ask its maker for the unchanged file.",
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
            key, msg("is {shown}, which is none", shown=shown(str(fields.raw[key]), 40))
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
