"""Which fields a release may show outside the agency, and what each can tell of absent people.

The public part of a release is a whitelist. Every field of ``manifest.json`` and of
``variables.json`` stands here or with its method, with an argument of what it can tell about people
who are not in the release: suppressed, deleted, left out, or hidden by noise. A field that nobody
has argued for is refused before anything is written, and fails a check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache

from dpdesk.core.labels import COARSER

LISTED = "every public field is a listed one"
"""The claim of the check that compares a release with the list."""

_ANY, _ITEM, _BELOW = "*", "[]", "**"

_Path = tuple[str | None, ...]


class Tells(Enum):
    """The most that a field can tell of people who are not in the release."""

    NOTHING = "nothing"
    COUNT = "how many they are"
    CHOICE = "what a choice made over all rows tells"
    AUTHOR = "what the author of the plan wrote"


@dataclass(frozen=True)
class PublicField:
    """A field that may be public, and why.

    ``path`` joins keys by dots; ``[]`` is every item of a list, ``*`` any key (a name of the data
    or of the plan), and ``**`` at the end whatever lies below. ``withdrawn`` says why the field is
    not written any more: releases of earlier versions have it, and checking them says so.
    """

    path: str
    tells: Tells
    argument: str
    withdrawn: str = ""

    def _matches(self, path: _Path, *, empty: bool) -> bool:
        pattern = _pattern(self.path)
        if pattern[-1] == _BELOW:
            pattern, path = pattern[:-1], path[: len(pattern) - 1]
        if len(path) > len(pattern) or (len(path) < len(pattern) and not empty):
            return False
        return all(
            part == key or (part == _ANY and key is not None)
            for part, key in zip(pattern, path, strict=False)
        )


def unlisted(content: Mapping[str, object], fields: Collection[PublicField]) -> tuple[str, ...]:
    """The fields of a content that are not among ``fields``, in order, each once."""
    return tuple(
        _shown(path) for path, empty in _found(content) if not _listed(path, fields, empty=empty)
    )


def withdrawn(
    content: Mapping[str, object], fields: Collection[PublicField]
) -> tuple[PublicField, ...]:
    """The fields that a content has and that are not written any more."""
    paths = _found(content)
    return tuple(
        field
        for field in fields
        if field.withdrawn and any(field._matches(path, empty=empty) for path, empty in paths)
    )


def written(fields: Collection[PublicField]) -> tuple[PublicField, ...]:
    """The fields that may be written today."""
    return tuple(field for field in fields if not field.withdrawn)


def _listed(path: _Path, fields: Collection[PublicField], *, empty: bool) -> bool:
    return any(field._matches(path, empty=empty) for field in fields)


def _found(content: Mapping[str, object]) -> list[tuple[_Path, bool]]:
    return list(dict.fromkeys(_leaves(content, ())))


def _leaves(value: object, path: _Path) -> Iterator[tuple[_Path, bool]]:
    """Paths of the values that hold no others, and whether they are empty lists or tables."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, list | tuple) and value:
        for item in value:
            yield from _leaves(item, (*path, None))
    elif path:
        yield path, isinstance(value, Mapping | list | tuple)


@cache
def _pattern(path: str) -> _Path:
    parts = path.replace(_ITEM, f".{_ITEM}").split(".")
    return tuple(None if part == _ITEM else part for part in parts)


def _shown(path: _Path) -> str:
    return ".".join(_ITEM if key is None else key for key in path).replace(f".{_ITEM}", _ITEM)


def fields_of(tells: Tells, argument: str, *paths: str) -> tuple[PublicField, ...]:
    """Fields that one argument covers."""
    return tuple(PublicField(path, tells, argument) for path in paths)


_SETTING = (
    "A setting of the plan, shown as it was written. It tells something of the data as far as its "
    "author chose it after looking at them."
)
_PLAN = "The plan alone decides it; no row is read for it."
_HASHES = (
    "It follows from the other public files, byte for byte, so it tells what they tell. The size "
    "of a table grows with its rows, and with nothing that is not in it."
)
COMMON: tuple[PublicField, ...] = (
    *fields_of(
        Tells.NOTHING,
        "It tells which program made the release, in which form and language.",
        "format",
        "dpdesk",
        "texts.language",
        "texts.sha256",
    ),
    PublicField(
        "created",
        Tells.NOTHING,
        "A day, never a time: how long a run took would tell something about the data. The times "
        "of public files are set to the same day.",
    ),
    PublicField(
        "title",
        Tells.AUTHOR,
        "A person wrote it into the plan; reviewers read it before anything is published.",
    ),
    PublicField("method", Tells.NOTHING, _PLAN),
    PublicField(
        "commitment",
        Tells.NOTHING,
        "An HMAC-SHA-256 under a fresh random key of 32 bytes that stays inside. Without the key "
        "it cannot be told from random bits, so no guess about a row can be tested on it; two "
        "releases of the same source have unrelated ones.",
    ),
    *fields_of(Tells.NOTHING, _HASHES, "files.*.sha256", "files.*.bytes"),
    *fields_of(
        Tells.NOTHING,
        "Its sentences are made from the public numbers alone, and `verify` makes them again.",
        "guarantee.model",
        "guarantee.claim",
        "guarantee.assumes[]",
        "guarantee.does_not_cover[]",
    ),
    PublicField(
        "messages.**",
        Tells.NOTHING,
        "The templates and values of which sentences of the manifest are made: what the sentences "
        "say, and no more, which `verify` checks.",
    ),
    PublicField("variables.format", Tells.NOTHING, "The form of the file."),
    *fields_of(
        Tells.NOTHING,
        "Words about a column, written for the file as a whole; they do not depend on its rows.",
        "variables.variables[].name",
        "variables.variables[].kind",
        "variables.variables[].label",
        "variables.variables[].format",
        "variables.variables[].measure",
    ),
    PublicField(
        "variables.variables[].value_labels.*",
        Tells.NOTHING,
        "As soon as one row is left out, only the codes that occur in the release keep their "
        "labels (in tables with noise: the declared ones): a label of another code could be that "
        "of a person who was left out.",
    ),
    *fields_of(
        Tells.NOTHING,
        "Which codes mean a missing value was declared for the column, not counted in it.",
        "variables.variables[].missing.values[]",
        "variables.variables[].missing.low",
        "variables.variables[].missing.high",
        "variables.variables[].missing.letters",
    ),
    *(
        PublicField(f"variables.variables[].coarsened.{key}", Tells.AUTHOR, _SETTING)
        for key in COARSER
    ),
)
"""Fields of every release, whatever the method; those of ``variables.json`` begin with
``variables``."""


def settings(*keys: str) -> tuple[PublicField, ...]:
    """The parameters of a plan that a method shows under ``parameters``."""
    return tuple(PublicField(f"parameters.{key}", Tells.AUTHOR, _SETTING) for key in keys)
