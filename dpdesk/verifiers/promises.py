"""The numbers in the sentences of a guarantee, computed again: a sentence must not promise more.

Sentences are worded by the program and compared as they are worded again; what follows from the
budget in them (odds, the epsilon of a rho, what a suspicion can rise to) is found here by itself.
Source: methods.md, with Bun and Steinke 2016, Proposition 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import exp, log, sqrt

from dpdesk.core.messages import msg
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_table
from dpdesk.verifiers.reading import guarantee_of, number, promised, texts
from dpdesk.verifiers.worded import Sentences, first_difference, parameter_fault

MANIFEST = "manifest.json"

_NUMBER = r"([0-9][0-9,]*(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]+)?)"
_ODDS = re.compile(rf"change by (?:at most|up to) ×{_NUMBER}")
_PURE = re.compile(rf"\(ε = {_NUMBER}\)")
_BOTH = re.compile(rf"\(ρ = {_NUMBER}, ε = {_NUMBER}\)")
_RISES = re.compile(rf"can rise to at most {_NUMBER} %")
_FAILS = re.compile(rf"[Ee]xcept with a chance of {_NUMBER}, ")
_COVERS = re.compile(rf"covers at least {_NUMBER} rows \(the smallest covers {_NUMBER}\)")
_MATCH = re.compile(rf"a chance of at most 1 in {_NUMBER}")
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

    ``worded`` is the guarantee worded again by whoever words guarantees; the facts in it are found
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
    words = more != "claim" and worded.differs_in_words(stated)
    return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label, words)


def overstated(stated: Mapping[str, object], given: Mapping[str, object]) -> str:
    """Which sentence of a guarantee with noise promises what the settings ``given`` do not give.

    Empty when none does. Raises TypeError, ValueError when they cannot be read.
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
    return ""


def _sentences(raw: object) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else texts(raw)


def _fits(
    sentence: str, epsilon: float, budget: float, delta: float, *, pure: bool
) -> Iterator[bool]:
    """Whether each number is what it must be: bounds rounded up, never down."""
    odds = exp(min(epsilon, _LARGEST))
    yield from (_bounds(text, odds, _ROUNDED) for text in _ODDS.findall(sentence))
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


def _value(text: str) -> float:
    return float(text.replace(",", ""))
