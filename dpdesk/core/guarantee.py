"""A guarantee in words: what is claimed, what it assumes, what it does not cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps

from dpdesk.core.plain import thaw
from dpdesk.core.shapes import Shape


@dataclass(frozen=True)
class Guarantee(Shape):
    """Claim, assumptions and limits of a release, filled from the checked result.

    ``model`` names the formal model (for instance ``"k-anonymity"``), ``parameters`` its numbers as
    JSON values, ``claim`` is one plain sentence; ``assumes`` and ``does_not_cover`` are sentences.
    """

    model: str
    parameters: Mapping[str, object]
    claim: str
    assumes: tuple[str, ...]
    does_not_cover: tuple[str, ...]

    def differs_in_words(self, stated: object) -> bool:
        """Whether a guarantee that a manifest states is this one, but for its sentences."""
        expected = self.as_json()
        if not isinstance(stated, Mapping) or {*stated} != {*expected}:
            return False
        sentences = [stated["claim"]]
        for key in ("assumes", "does_not_cover"):
            if not isinstance(stated[key], list | tuple):
                return False
            sentences += stated[key]
        if not all(isinstance(sentence, str) for sentence in sentences):
            return False
        facts = [
            [thaw(each[key]) for key in ("model", "parameters")] for each in (stated, expected)
        ]
        return dumps(facts[0], sort_keys=True) == dumps(facts[1], sort_keys=True)


def hidden_columns(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Columns of rows whose values were drawn or stand apart, by the parameters of a guarantee."""
    for key in ("diverted", "separated", "drawn"):
        names = parameters.get(key)
        if isinstance(names, list | tuple):
            return tuple(map(str, names))
    return ()
