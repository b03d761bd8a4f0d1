"""Rows of the tables as values and back; CodecError and PartError for rows that are wrong."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.charts import Chart, Figure
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.language import ENGLISH
from dpdesk.core.messages import msg
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, SourceSpec
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.core.shapes import read_json
from dpdesk.project.audit import AuditEntry
from dpdesk.project.candidates import Candidate, LevelNames
from dpdesk.project.file.codec import CodecError, decode, encode
from dpdesk.project.file.parts import (
    DecisionRecord,
    PartReader,
    PartWriter,
    ReleaseRecord,
    SourceRecord,
)
from dpdesk.project.history import Moment
from dpdesk.project.work import HierarchyChoice, WorkState

DOCUMENT_FORMAT = 1
STATE_KEYS = ("source", "base", "roles", "hierarchies", "method", "parameters", "title", "budget")
PSEUDONYMS = "pseudonyms"
STATE_OPTIONAL = ("language", PSEUDONYMS)
CANDIDATE_KEYS = ("work", "shown")
_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True)
class Placed:
    """A folder as it was stored: absolute (as the state has it), and relative to the project."""

    absolute: str
    relative: str | None


@dataclass(frozen=True)
class Shown:
    """What a candidate shows of its settings."""

    guarantee: Guarantee
    figures: tuple[Figure, ...]
    charts: tuple[Chart, ...]
    result: Mapping[str, object]
    level_names: LevelNames = field(default_factory=lambda: MappingProxyType({}))


def to_text(document: Mapping[str, object]) -> str:
    """A document as JSON text of ASCII characters.

    Long ones are written in small steps, so that no other thread waits.
    """
    return "".join(_ENCODER.iterencode({"format": DOCUMENT_FORMAT, **document}))


def from_text(
    text: object, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, object]:
    """The document in a text: exactly these keys, and perhaps others. Raises CodecError."""
    if not isinstance(text, str):
        raise CodecError("a document is not text")
    try:
        found = read_json(text, parse_constant=_no_constant)
    except ValueError as error:
        raise CodecError("a document is not JSON text") from error
    if not isinstance(found, dict):
        raise CodecError("a document is not a table")
    version = found.pop("format", None)
    if version != DOCUMENT_FORMAT:
        raise CodecError(
            msg(
                "a document has the format {version!r}, expected {document_format}",
                version=version,
                document_format=DOCUMENT_FORMAT,
            )
        )
    for key in (*keys, *found):
        if key not in optional and (key in keys) != (key in found):
            raise CodecError(
                msg(
                    "a document {value} the key {key}",
                    value="lacks" if key in keys else "has",
                    key=key[:40],
                )
            )
    return found


def _no_constant(text: str) -> object:
    raise ValueError(msg("{text} is not a number", text=text))


def state_document(state: WorkState, folder: Path, parts: PartWriter) -> dict[str, object]:
    """A state as JSON types; ``folder`` is that of the project."""
    kept = state.pseudonyms  # a key of its own only where there are some: older files have none
    more = {PSEUDONYMS: encode(kept, Mapping[str, PseudonymSpec], parts)} if kept else {}
    document: dict[str, object] = {
        **more,
        "source": encode(state.source, SourceSpec | None, parts),
        "base": encode(placed(state.base, folder), Placed, parts),
        "roles": encode(state.roles, Mapping[str, Role], parts),
        "hierarchies": {
            name: _choice_document(choice, parts) for name, choice in state.hierarchies.items()
        },
        "method": encode(state.method, str, parts),
        "parameters": encode(state.parameters, object, parts),
        "title": encode(state.title, str, parts),
        "budget": encode(state.budget, object, parts),
    }
    if state.language != ENGLISH:
        document["language"] = encode(state.language, str, parts)
    return document


def state_from(document: Mapping[str, object], parts: PartReader) -> tuple[WorkState, Placed]:
    """The state of a document, and where its base lay. Raises CodecError, PartError."""
    if not set(STATE_KEYS) <= set(document) <= {*STATE_KEYS, *STATE_OPTIONAL}:
        raise CodecError("a state of the work has other keys than it should")
    where: Placed = decode(document["base"], Placed, parts)
    choices = document["hierarchies"]
    parameters = decode(document["parameters"], object, parts)
    budget = decode(document["budget"], object, parts)
    if not isinstance(choices, dict) or not isinstance(parameters, Mapping):
        raise CodecError("a state of the work has a value where a table belongs")
    if budget is not None and not isinstance(budget, Mapping):
        raise CodecError("a state of the work has a value where a budget belongs")
    state = WorkState(
        source=decode(document["source"], SourceSpec | None, parts),
        base=Path(where.absolute),
        roles=decode(document["roles"], Mapping[str, Role], parts),
        hierarchies=MappingProxyType(
            {name: _choice_from(choice, parts) for name, choice in choices.items()}
        ),
        method=decode(document["method"], str, parts),
        parameters=parameters,
        title=decode(document["title"], str, parts),
        budget=budget,
        language=decode(document.get("language", ENGLISH), str, parts),
        pseudonyms=decode(document.get(PSEUDONYMS, {}), Mapping[str, PseudonymSpec], parts),
    )
    return state, where


def placed(path: Path, folder: Path) -> Placed:
    """How a folder or file is stored; a relative path has no place of its own."""
    if not path.is_absolute():
        return Placed(str(path), None)
    try:
        return Placed(str(path), os.path.relpath(path, folder))
    except ValueError:  # another drive
        return Placed(str(path), None)


def _choice_document(choice: HierarchyChoice, parts: PartWriter) -> dict[str, object]:
    if isinstance(choice, Hierarchy):
        return {"value": parts.add_hierarchy(choice)}
    if isinstance(choice, HierarchyFile):
        return {"file": choice.path}
    return {"builder": encode(choice, HierarchyBuilder, parts)}


def _choice_from(raw: object, parts: PartReader) -> HierarchyChoice:
    if isinstance(raw, dict) and len(raw) == 1:
        ((kind, value),) = raw.items()
        if kind == "builder":
            builder: HierarchyBuilder = decode(value, HierarchyBuilder, parts)
            return builder
        if kind == "file":
            return HierarchyFile(decode(value, str, parts))
        if kind == "value":
            return parts.hierarchy(decode(value, str, parts))
    raise CodecError("a hierarchy is of an unknown kind")


def candidate_document(candidate: Candidate, folder: Path, parts: PartWriter) -> dict[str, object]:
    """A candidate as JSON types, but for its number, its name and its time."""
    shown = Shown(
        candidate.guarantee,
        candidate.figures,
        candidate.charts,
        candidate.result,
        candidate.level_names,
    )
    return {
        "work": state_document(candidate.work, folder, parts),
        "shown": encode(shown, Shown, parts),
    }


def candidate_from(
    number: int, name: str, when: datetime, document: Mapping[str, object], parts: PartReader
) -> tuple[Candidate, Placed]:
    """The candidate of a document, and where the base of its work lay."""
    work, shown = document["work"], decode(document["shown"], Shown, parts)
    if not isinstance(work, dict):
        raise CodecError("a candidate has no state of the work")
    state, where = state_from(work, parts)
    known = shown.guarantee, shown.figures, shown.charts, shown.result
    made = Candidate(number, name, state, *known, when, shown.level_names)
    return made, where


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
        raise CodecError("a path is not text")
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
        raise CodecError("a label is not text")
    if not value.startswith("\x00"):
        return value
    try:
        found = read_json(value[1:])
    except ValueError as error:
        raise CodecError("a label is damaged") from error
    if not isinstance(found, str):
        raise CodecError("a label is not text")
    return found
