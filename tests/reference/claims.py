"""What sentences of guarantees may say, by the methods and nothing else: written without the code.

A sentence is sorted by what it speaks of (a match, a drawn value, odds, a suspicion, declared
categories) and compared with the facts of its release. What a sentence must hold, and the least
number that is true, is worked out here from k, ℓ′, ε, ρ and δ alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log, sqrt

OVERSTATED = (
    r"\bhardly changes",
    r"\bnever taken from",
    r"\bhides? (?:every|each|any|all)\b",
    r"\bwhatever (?:someone|someone) else knows",
    r"\bthe odds of (?:a|any) guess[^.]*\bat most\b",
    r"\b(?:fully|completely|perfectly|absolutely) (?:anonym|protect|safe|private)",
    r"\bcannot be (?:identified|re-identified|found out)",
    r"\bε [^.]*\bis (?:safe|harmless)\b",
    r"\bguarantees? privacy\b",
)
"""Words that no fact of a release bears out, whatever its settings."""

_TIMES = re.compile(r"×(?:10\^(\d+)|(\d[\d.,]*(?:E\+\d+)?))")
_RISE = re.compile(r"suspicion of (\d+) %.*? can rise to at most (\d[\d.]*) %")
_CHANCE = re.compile(r"\bchance of (?:at most |exactly )?1 in ([\d,]+|ℓ′|k|\{\w+\})")
_ASSUMED = re.compile(r"\bfor (?:someone|someone) who knows (?:only|of the true values only)", re.I)
_LOOKED = re.compile(r"without (?:looking|a look) at the data|before the data", re.I)


@dataclass(frozen=True)
class Facts:
    """What is known of a release; ``epsilon`` and ``rho`` exclude each other.

    ``others`` says that columns are released that are neither drawn nor quasi-identifiers of a
    release with k; ``exact`` that something is released without noise. ``declared`` says that the
    program knows of all categories that they do not come from the data.
    """

    k: int | None = None
    size: int | None = None
    epsilon: float | None = None
    rho: float | None = None
    delta: float = 1e-6
    replace: bool = False
    exact: bool = False
    others: bool = False
    declared: bool = False

    @property
    def presence(self) -> float:
        """Largest change of log odds between neighbours, but for a chance of delta."""
        if self.epsilon is not None:
            return self.epsilon
        rho = self.rho or 0.0
        return rho + 2 * sqrt(rho * log(1 / self.delta))

    @property
    def values(self) -> float:
        """Largest change of log odds between two values of a person who is in the data."""
        if self.replace:
            return self.presence
        if self.epsilon is not None:
            return 2 * self.epsilon
        rho = self.rho or 0.0
        return 4 * rho + 4 * sqrt(rho * log(1 / self.delta))


def faults(sentence: str, facts: Facts | None, part: str = "claim") -> Iterator[str]:
    """Why a sentence says more than its facts; nothing when it does not.

    ``facts`` is None for texts on methods as such, which know no numbers.
    """
    yield from (f"“{hit[0]}”" for each in OVERSTATED if (hit := re.search(each, sentence, re.I)))
    yield from _chances(sentence, facts)
    if facts is not None:
        yield from _odds(sentence, facts)
        yield from _suspicions(sentence, facts)
    if part == "claim" and _LOOKED.search(sentence) and not (facts is not None and facts.declared):
        yield "claims where categories come from"


def _chances(sentence: str, facts: Facts | None) -> Iterator[str]:
    for found in _CHANCE.finditer(sentence):
        before = sentence[: found.start()]
        if not _ASSUMED.search(before):
            yield f"“{found[0]}” before what is assumed"
        if facts is None or not found[1].replace(",", "").isdigit():
            continue
        number = int(found[1].replace(",", ""))
        if number not in (facts.k, facts.size):
            yield f"1 in {number} is neither k nor ℓ′"
        if facts.others and "other released columns reveal nothing" not in before:
            yield "the other columns may reveal more"


def _odds(sentence: str, facts: Facts) -> Iterator[str]:
    for found in _TIMES.finditer(sentence):
        power, plain = found.groups()
        stated = float(f"1e{power}") if power else float(plain.rstrip(".,").replace(",", ""))
        between = re.search(r"odds between (?:any )?two (?:values|places|edges)", sentence, re.I)
        least = exp(facts.values if between and not facts.exact else facts.presence)
        if stated < least * (1 - 1e-12):
            yield f"×{stated:g} is less than ×{least:g}"
    if re.search(r"\bodds\b", sentence) and facts.rho is not None:
        named = f"chance of {facts.delta:.6f}".rstrip("0")
        yield from () if named in sentence or "δ" in sentence else ("odds from ρ without δ",)
    if facts.replace and re.search(r"odds that .* (?:is|are) in the data", sentence):
        yield "presence is not protected where one person replaces another"


def _suspicions(sentence: str, facts: Facts) -> Iterator[str]:
    for found in _RISE.finditer(sentence):
        prior, stated = int(found[1]) / 100, float(found[2]) / 100
        times = exp(facts.presence)
        least = prior * times / (1 - prior + prior * times)
        if stated < least * (1 - 1e-12):
            yield f"{stated:.2%} is less than {least:.2%}"
