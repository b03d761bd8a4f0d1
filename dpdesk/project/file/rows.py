"""Rows of the tables as values and back; CodecError and PartError for rows that are wrong."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from dpdesk.core.jsontext import read_json
from dpdesk.project.audit import AuditEntry
from dpdesk.project.candidates import Candidate
from dpdesk.project.file.codec import decode, encode
from dpdesk.project.file.documents import (
    CANDIDATE_KEYS,
    STATE_KEYS,
    STATE_OPTIONAL,
    Placed,
    candidate_document,
    candidate_from,
    from_text,
    placed,
    state_document,
    state_from,
    to_text,
)
from dpdesk.project.file.free_values import CodecError
from dpdesk.project.file.parts import PartReader, PartWriter
from dpdesk.project.file.records import DecisionRecord, ReleaseRecord, SourceRecord
from dpdesk.project.history import Moment

Row: TypeAlias = "tuple[object, ...]"
SqlPath: TypeAlias = "str | bytes | None"

MOMENTS = "id, parent, label, merge_key, made, state, followed"
CANDIDATES = "id, name, made, content"
SOURCES = "kind, path, relative, sha256, size, modified, seen, reading"
RELEASES = "path, relative, manifest_sha256, made, method, title, moment"
DECISIONS = "id, release, type, who, made, content"
AUDIT = "n, time, who, action, subject, details, previous, hash"


def moment_row(moment: Moment, followed: int | None, folder: Path, parts: PartWriter) -> Row:
    """The columns :data:`MOMENTS`."""
    made = None if moment.when is None else moment.when.isoformat()
    state = to_text(state_document(moment.state, folder, parts))
    label, key = _text_out(moment.label), _text_out(moment.merge_key)
    return moment.id, moment.parent, label, key, made, state, followed


def moment_from(row: Row, parts: PartReader) -> tuple[Moment, int | None, Placed]:
    """A moment, the moment that redo would go to, and where the base of its state lay."""
    number, parent, label, key, made, text, followed = row
    state, where = state_from(from_text(text, STATE_KEYS, STATE_OPTIONAL), parts)
    moment = Moment(
        decode(number, int, parts),
        decode(parent, int | None, parts),
        _text_in(label),
        state,
        _text_in(key),
        None if made is None else decode(made, datetime, parts),
    )
    return moment, decode(followed, int | None, parts), where


def candidate_row(candidate: Candidate, folder: Path, parts: PartWriter) -> Row:
    """The columns :data:`CANDIDATES`."""
    content = to_text(candidate_document(candidate, folder, parts))
    return candidate.id, _text_out(candidate.name), candidate.when.isoformat(), content


def candidate_of(row: Row, parts: PartReader) -> tuple[Candidate, Placed]:
    """A candidate, and where the base of its work lay."""
    number, name, made, text = row
    when: datetime = decode(made, datetime, parts)
    document = from_text(text, CANDIDATE_KEYS)
    return candidate_from(decode(number, int, parts), _text_in(name), when, document, parts)


def source_row(source: SourceRecord, folder: Path, parts: PartWriter) -> Row:
    """The columns :data:`SOURCES`."""
    reading = to_text({"reading": encode(source.reading, object, parts)})
    return (
        source.kind,
        *_both(source.path, folder),
        source.sha256,
        source.size,
        source.modified,
        source.seen.isoformat(),
        reading,
    )


def source_from(row: Row, parts: PartReader) -> tuple[SourceRecord, str | None]:
    """A source, and where it lay relative to the project."""
    kind, path, relative, sha256, size, modified, seen, reading = row
    how = decode(from_text(reading, ("reading",))["reading"], Mapping[str, object], parts)
    record = SourceRecord(
        decode(kind, str, parts),
        _path_in(path),
        decode(sha256, str, parts),
        decode(size, int, parts),
        decode(modified, int, parts),
        decode(seen, datetime, parts),
        how,
    )
    return record, None if relative is None else str(_path_in(relative))


def release_row(release: ReleaseRecord, folder: Path) -> Row:
    """The columns :data:`RELEASES`."""
    return (
        *_both(release.path, folder),
        release.manifest_sha256,
        release.made.isoformat(),
        release.method,
        _text_out(release.title),
        release.moment,
    )


def release_from(row: Row, parts: PartReader) -> tuple[ReleaseRecord, str | None]:
    """A release, and where it lay relative to the project."""
    path, relative, digest, made, method, title, moment = row
    record = ReleaseRecord(
        _path_in(path),
        decode(digest, str, parts),
        decode(made, datetime, parts),
        decode(method, str, parts),
        _text_in(title),
        decode(moment, int, parts),
    )
    return record, None if relative is None else str(_path_in(relative))


def decision_row(decision: DecisionRecord, parts: PartWriter) -> Row:
    """The columns :data:`DECISIONS`."""
    content = to_text({"content": encode(decision.content, object, parts)})
    who = _text_out(decision.who)
    made = decision.made.isoformat()
    return decision.id, decision.release, decision.type, who, made, content


def decision_from(row: Row, parts: PartReader) -> DecisionRecord:
    """A decision."""
    number, release, kind, who, made, text = row
    content = decode(from_text(text, ("content",))["content"], Mapping[str, object], parts)
    return DecisionRecord(
        decode(number, str, parts),
        decode(release, str, parts),
        decode(kind, str, parts),
        _text_in(who),
        decode(made, datetime, parts),
        content,
    )


def audit_from(row: Row) -> AuditEntry:
    """An entry of the audit log, as it stands; its chain is not checked here."""
    number, *texts = row
    if type(number) is not int or not all(isinstance(text, str) for text in texts):
        raise CodecError("an entry of the audit log is of other types than it should be")
    return AuditEntry(number, *(str(text) for text in texts))


def audit_row(entry: AuditEntry) -> Row:
    """The columns :data:`AUDIT`."""
    return tuple(getattr(entry, name) for name in AUDIT.split(", "))


def insert(
    connection: sqlite3.Connection, table: str, columns: str, row: Row, key: str = ""
) -> None:
    """Insert a row, or change the one with the same key (the first column, or ``key``) in place."""
    names = columns.split(", ")
    keys = (key or names[0]).split(", ")
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
    marks = ", ".join("?" for _ in names)
    connection.execute(
        f"INSERT INTO {table} ({columns}) VALUES ({marks}) "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}",
        row,
    )


def _both(path: Path, folder: Path) -> tuple[SqlPath, SqlPath]:
    where = placed(path, folder)
    return _path_out(where.absolute), _path_out(where.relative)


def _path_out(path: str | None) -> SqlPath:
    """A path as text; one that is no text (odd bytes in a name) as its bytes."""
    try:
        return None if path is None else path.encode("utf-8").decode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path or "")


def _path_in(value: object) -> Path:
    if isinstance(value, bytes):
        return Path(os.fsdecode(value))
    if not isinstance(value, str):
        raise CodecError("a path is no text")
    return Path(value)


def _text_out(text: str) -> str:
    """A text for people; the odd bytes of a file name in it as JSON would write them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "\x00" + json.dumps(text)
    return text


def _text_in(value: object) -> str:
    if not isinstance(value, str):
        raise CodecError("a label is no text")
    if not value.startswith("\x00"):
        return value
    try:
        found = read_json(value[1:])
    except ValueError as error:
        raise CodecError("a label is damaged") from error
    if not isinstance(found, str):
        raise CodecError("a label is no text")
    return found
