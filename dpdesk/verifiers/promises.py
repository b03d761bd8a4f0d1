"""The numbers in the sentences of a guarantee, computed again: a sentence must not promise more.

Sentences are worded by the program and compared as they are worded again; what follows from the
budget in them (odds, the epsilon of a rho, what a suspicion can rise to) is found here by itself.
Source: methods.md, with Bun and Steinke 2016, Proposition 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from json import dumps
from math import exp, log, sqrt
from typing import Protocol

from dpdesk.core.messages import TABLE, msg, table_of, texts_in
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_table
from dpdesk.verifiers.reading import guarantee_of, number, promised, texts

# Sentences of a guarantee against the facts that were found, whoever worded them.


class Sentences(Protocol):
    """A guarantee as it was worded again; see :class:`dpdesk.core.release.Guarantee`."""

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

    That of the table of templates where only these are others or missing, also such as another
    number would have called for, or as no sentence is made of; None when all is the same.
    """
    guarantee, expected = manifest.get("guarantee"), words.as_json()
    stated = guarantee if isinstance(guarantee, Mapping) else {}
    wrong = parameter_fault(stated, expected)
    if wrong:
        return wrong
    table = manifest.get(TABLE)
    if table is None:  # of an earlier version
        return None
    listed = table if isinstance(table, Mapping) else {}
    sentences = [expected[key] for key in ("claim", "assumes", "does_not_cover")]
    told = {text: listed[text] for text in texts_in(expected) if text in listed}
    return None if same(told, table_of(sentences)) else TABLE


# What the keys of a result of rows claim, in plain words, for people who review a release.


_WORDS = {
    "rows_out": "Rows in the table",
    "rows_suppressed": "Rows left out",
    "suppression within max_suppression": "No more rows left out than allowed",
    "rows_removed": "Rows removed at random",
    "classes": "Number of classes",
    "groups": "Number of groups",
    "smallest_group": "Rows in the smallest group",
    "smallest_class": "Rows in the smallest class",
    "node": "Level of each quasi-identifier",
    "metrics, loss": "Detail lost",
    "metrics, precision": "Precision",
    "metrics, discernibility": "Discernibility",
    "metrics, average_class_size": "Average class size",
    "metrics, entropy": "Information lost",
}
_OPTIMA = {
    "optimal": "No other levels are better by the objective",
    "samarati": "No fewer generalisation steps are enough",
}


def in_words(
    checks: Sequence[ClaimCheck], manifest: Mapping[str, object]
) -> tuple[ClaimCheck, ...]:
    """The checks with plain words for their claims; what an optimum means depends on the search."""
    return tuple(replace(check, label=_label(check.claim, manifest)) for check in checks)


def _label(claim: str, manifest: Mapping[str, object]) -> str:
    if claim != "proven_optimal":
        return _WORDS.get(claim, "")
    result, parameters = manifest.get("result"), manifest.get("parameters")
    if not isinstance(result, Mapping) or result.get("proven_optimal") is not True:
        return "Better levels may exist: no optimum is claimed"
    if "node" not in result:
        return "No other release of this kind loses less"
    search = parameters.get("algorithm") if isinstance(parameters, Mapping) else None
    return _OPTIMA.get(str(search), "The search found its optimum")


MANIFEST = "manifest.json"

_NUMBER = r"([0-9][0-9,]*(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]+)?)"
_ODDS = re.compile(rf"change by (?:at most|up to) ×(?:10\^([0-9]+)|{_NUMBER})")
_PURE = re.compile(rf"\(ε = {_NUMBER}\)")
_BOTH = re.compile(rf"\(ρ = {_NUMBER}, ε = {_NUMBER}\)")
_RISES = re.compile(rf"can rise to at most {_NUMBER} %")
_FAILS = re.compile(rf"[Ee]xcept with a chance of {_NUMBER}, ")
_COVERS = re.compile(rf"covers at least {_NUMBER} rows \(the smallest covers {_NUMBER}\)")
_MATCH = re.compile(rf"a chance of at most 1 in {_NUMBER}")
_DATA, _FROM_DATA = "data", " were suggested from the data"
_NODES = "nodes were taken from the data"
_PRIOR = 0.1
_LARGEST = 700
_ROUNDED, _COARSE = 1.02, 1.12
_LEAST = 1 - 1e-9


def words_check(
    manifest: Mapping[str, object],
    worded: Sentences,
    change: int | None = None,
    noise: str | None = None,
) -> ClaimCheck:
    """The guarantee has the facts of these settings, and the sentences that they give.

    ``worded`` is the guarantee worded again by what words guarantees; the facts in it are found
    here, and compared as well. ``change`` is the minimal change next to exact tables, ``noise`` the
    mechanism where it adds none. Raises TypeError, ValueError, KeyError for malformed manifests.
    """
    claim, label = "guarantee", "The sentences of the guarantee fit the settings"
    stated, parameters = guarantee_of(manifest)
    given = as_table(manifest["parameters"])
    expected = promised(given, parameters, change)
    wrong = parameter_fault(parameters, expected if noise is None else expected | {"noise": noise})
    if wrong:
        found = msg("`{wrong}` of its parameters is not what the settings give", wrong=wrong)
        return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    more = overstated(stated, given)
    key = more or first_difference(manifest, worded)
    if not key:
        return ClaimCheck(claim, CheckStatus.CONFIRMED, "worded again, the same", MANIFEST, label)
    found = msg("`{key}` is not what the settings give", key=key)
    words = more not in ("claim", "assumes") and worded.differs_in_words(stated)
    return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label, words)


def overstated(stated: Mapping[str, object], given: Mapping[str, object]) -> str:
    """Which sentence of a guarantee with noise promises what the settings ``given`` do not give.

    Or hides that categories come from the data. Empty when none does. Raises TypeError, ValueError
    when they cannot be read.
    """
    pure = given.get("epsilon") is not None
    budget = float(number(given["epsilon" if pure else "rho"]))
    delta = float(number(given.get("delta", "0.000001")))
    one = budget if pure else budget + 2 * sqrt(budget * log(1 / delta))
    two = 2 * budget if pure else 4 * budget + 4 * sqrt(budget * log(1 / delta))
    for key, epsilon in (("claim", one), ("does_not_cover", two)):
        for sentence in _sentences(stated[key]):
            if not all(_fits(sentence, epsilon, budget, delta, pure=pure)):
                return key
    return "assumes" if _hidden_origin(texts(stated["assumes"]), given) else ""


def _hidden_origin(assumed: Sequence[str], given: Mapping[str, object]) -> bool:
    """Whether categories that were suggested from the data are not said to be."""
    origins = given.get("origins") or {}
    if isinstance(origins, str):
        return origins == _DATA and not any(_NODES in each for each in assumed)
    named = "".join(
        f", {each.partition(_FROM_DATA)[0]}, " for each in assumed if _FROM_DATA in each
    )
    data = [str(name) for name, origin in as_table(origins).items() if origin == _DATA]
    return not all(
        re.search(rf"(, | and | of ){re.escape(name)}(, | and )", named) for name in data
    )


def _sentences(raw: object) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else texts(raw)


def _fits(
    sentence: str, epsilon: float, budget: float, delta: float, *, pure: bool
) -> Iterator[bool]:
    """Whether each number is what it must be: bounds rounded up, never down."""
    odds = exp(min(epsilon, _LARGEST))
    for power, text in _ODDS.findall(sentence):
        yield _power(int(power), epsilon) if power else _bounds(text, odds, _ROUNDED)
    yield from (_bounds(text, epsilon, _ROUNDED) for text in _PURE.findall(sentence))
    for rho, text in _BOTH.findall(sentence):
        yield _value(rho) == budget and _bounds(text, epsilon, _ROUNDED)
    risen = 100 * _PRIOR * odds / (1 - _PRIOR + _PRIOR * odds)
    yield from (_bounds(text, risen, _COARSE) for text in _RISES.findall(sentence))
    yield from (_value(text) == delta for text in _FAILS.findall(sentence))


def miscounted(claim: object, k: int, smallest: int) -> bool:
    """Whether the claim of a k-anonymous table has other numbers than were counted."""
    sentence = claim if isinstance(claim, str) else ""
    covers = [(_value(least), _value(most)) for least, most in _COVERS.findall(sentence)]
    chances = [_value(text) for text in _MATCH.findall(sentence)]
    return any(each != (k, smallest) for each in covers) or any(each != k for each in chances)


def _bounds(text: str, true: float, most: float) -> bool:
    """Whether a stated number is the true one, or that rounded up."""
    return true * _LEAST <= _value(text) <= max(true * most, true + 1e-9)


def _power(power: int, epsilon: float) -> bool:
    """Whether a power of ten is the next one above e^epsilon."""
    ten = log(10)
    return (power - 1) * ten * _LEAST <= epsilon <= power * ten / _LEAST


def _value(text: str) -> float:
    return float(text.replace(",", ""))
