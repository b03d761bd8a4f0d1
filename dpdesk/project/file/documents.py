"""The documents of a project: a state of the work, a candidate. JSON in one versioned form.

``base`` of a state is stored twice: as it is, and relative to the project's folder, so that a
project that is moved together with its data finds them again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.charts import Chart, Figure
from dpdesk.core.guarantee import Guarantee
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jsontext import read_json
from dpdesk.core.language import ENGLISH
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, SourceSpec
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.schema import Role
from dpdesk.project.candidates import Candidate
from dpdesk.project.file.codec import decode, encode
from dpdesk.project.file.free_values import CodecError
from dpdesk.project.file.parts import PartReader, PartWriter
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
        raise CodecError("a document is no text")
    try:
        found = read_json(text, parse_constant=_no_constant)
    except ValueError as error:
        raise CodecError("a document is no JSON text") from error
    if not isinstance(found, dict):
        raise CodecError("a document is no table")
    version = found.pop("format", None)
    if version != DOCUMENT_FORMAT:
        raise CodecError(f"a document has the format {version!r}, expected {DOCUMENT_FORMAT}")
    for key in (*keys, *found):
        if key not in optional and (key in keys) != (key in found):
            raise CodecError(f"a document {'lacks' if key in keys else 'has'} the key {key[:40]}")
    return found


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is no number")


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
    shown = Shown(candidate.guarantee, candidate.figures, candidate.charts, candidate.result)
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
    made = Candidate(
        number, name, state, shown.guarantee, shown.figures, shown.charts, shown.result, when
    )
    return made, where
