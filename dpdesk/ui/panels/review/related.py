"""The other releases that a review names: the one it replaces, and the one in its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import ReviewState, Supersede

translate = QCoreApplication.translate


class Relation(StrEnum):
    """How another release stands to this one."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True)
class RelatedRelease:
    """Another release; ``code`` is the SHA-256 of its manifest."""

    relation: Relation
    code: str


def related(state: ReviewState) -> tuple[RelatedRelease, ...]:
    """The releases that the current round names."""
    current = state.current
    if current is None:
        return ()
    found = []
    if current.superseded_by is not None:
        payload = current.superseded_by.payload
        if isinstance(payload, Supersede):
            found.append(RelatedRelease(Relation.AFTER, payload.replacement))
    if current.payload.supersedes:
        found.append(RelatedRelease(Relation.BEFORE, current.payload.supersedes))
    return tuple(found)


def relation_words(relation: Relation) -> str:
    """What the button says that opens it."""
    if relation is Relation.AFTER:
        return translate("Review", "Open the release that replaces it")
    return translate("Review", "Open the release that it replaces")


def related_words(other: RelatedRelease, place: Path | None) -> str:
    """Which release it is, and where it lies."""
    texts = {
        Relation.AFTER: translate("Review", "It is replaced by {where} (manifest {code}…)."),
        Relation.BEFORE: translate("Review", "It is to replace {where} (manifest {code}…)."),
    }
    unknown = translate("Review", "a release that is not beside this folder")
    where = unknown if place is None else str(place)
    return texts[other.relation].format(where=where, code=other.code[:16])
