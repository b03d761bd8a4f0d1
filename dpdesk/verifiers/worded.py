"""Sentences of a guarantee against the facts that were found, whoever worded them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import dumps
from typing import Protocol

from dpdesk.core.messages import TABLE, table_of


class Sentences(Protocol):
    """A guarantee as it was worded again; see :class:`dpdesk.core.guarantee.Guarantee`."""

    def as_json(self) -> dict[str, object]:
        """What a manifest would say."""
        ...

    def differs_in_words(self, other: Mapping[str, object]) -> bool:
        """Whether another guarantee says the same of the same facts in other words."""
        ...


def parameter_fault(stated: Mapping[str, object], expected: Mapping[str, object]) -> str:
    """The first parameter of a guarantee that is not the one found; empty when all are."""
    for key in sorted({*stated, *expected}):
        if key not in stated or key not in expected or not same(stated[key], expected[key]):
            return key
    return ""


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal, tuples being lists and True being no number."""
    return dumps(one, sort_keys=True) == dumps(other, sort_keys=True)


def made_otherwise(manifest: Mapping[str, object], words: Sentences) -> bool:
    """Whether a manifest says that sentences are made of other templates than these, also of such
    as another number would have called for.
    """
    table, made = manifest.get(TABLE), table_of(words.as_json())
    stated = table if isinstance(table, Mapping) else {}
    return any(text in stated and not same(stated[text], made[text]) for text in made)


def first_difference(stated: Mapping[str, object], expected: Mapping[str, object]) -> str | None:
    """The first key by which two guarantees differ; None when they are the same."""
    found: Iterable[str] = sorted({str(key) for key in stated} | set(expected))
    for key in found:
        if key not in stated or key not in expected or not same(stated[key], expected[key]):
            return key
    return None
