"""Sentences of a guarantee against the facts that were found, whoever worded them."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Protocol

from dpdesk.core.messages import TABLE, table_of, texts_in


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


def first_difference(manifest: Mapping[str, object], words: Sentences) -> str | None:
    """The first key by which the guarantee of a manifest differs from the one worded again.

    That of the table of templates where only these are others, also such as another number would
    have called for, or as no sentence of the guarantee is made of; None when all is the same.
    """
    guarantee, expected = manifest.get("guarantee"), words.as_json()
    stated = guarantee if isinstance(guarantee, Mapping) else {}
    wrong = parameter_fault(stated, expected)
    if wrong:
        return wrong
    table, made = manifest.get(TABLE), table_of(expected)
    listed = table if isinstance(table, Mapping) else {}
    told = {text: listed[text] for text in texts_in(expected) if text in listed}
    return None if all(same(each, made.get(text)) for text, each in told.items()) else TABLE
