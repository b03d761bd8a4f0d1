"""Whether a release has the form that its settings ask for: which values are recoded, and how.

A search that read other settings gives classes of k rows too; what the manifest says of how they
were made would be false all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.pseudonyms import SHORTEST
from dpdesk.core.recoding import TupleRecoding
from dpdesk.core.release import CheckStatus, ClaimCheck, PublishedTable

if TYPE_CHECKING:
    from dpdesk.verifiers.anonymity.following import Meanings

FORM = "values are recoded in the way that the settings name"
MANIFEST, TABLE = "manifest.json", "microdata.csv"
_STAR = "*"
_PSEUDONYM = re.compile(f"[A-Z2-7]{{{SHORTEST},}}")
_SUPPRESSING, _DIVIDING = ("AG_TS", "TS"), ("AG_CS", "CG", "CS")


def allowed_rows(settings: object, rows: int) -> int | None:
    """How many of so many rows these settings let a release leave out; None for no such share."""
    given = settings if isinstance(settings, Mapping) else {"max_suppression": None}
    share = given.get("max_suppression", 0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        return None
    suppresses = given.get("model", "AG_TS") in _SUPPRESSING
    return int(Fraction(repr(share)) * rows) if suppresses else 0


def node_forms(settings: object, node: Mapping[str, object]) -> list[ClaimCheck]:
    """What the settings say of levels against those of a release; empty where they say nothing."""
    given = settings if isinstance(settings, Mapping) else {}
    by_hand = given.get("levels")
    if by_hand is None and given.get("model") != "TS":
        return []
    wanted = dict.fromkeys(node, 0) if by_hand is None else by_hand
    if node == wanted:
        return [ClaimCheck(FORM, CheckStatus.CONFIRMED, "the levels are theirs", MANIFEST)]
    return [ClaimCheck(FORM, CheckStatus.FAILED, "the levels are others", MANIFEST)]


def cell_forms(
    settings: object, recoding: TupleRecoding, meanings: Sequence[Meanings]
) -> list[ClaimCheck]:
    """How tuples are recoded one by one, by what the settings say of it."""
    given = settings if isinstance(settings, Mapping) else {}
    fault = _rows_fault(given, recoding)
    for place, meaning in enumerate(meanings):
        fault = fault or _column_fault(given, recoding, place, meaning)
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    return [ClaimCheck(FORM, status, fault or "followed from the source", TABLE)]


def _rows_fault(given: Mapping[object, object], recoding: TupleRecoding) -> str:
    """Where classes are made of tuples, rows that were equal stay together."""
    relaxed = given.get("algorithm") == "mondrian" and given.get("strict") is False
    if given.get("model") in _DIVIDING or relaxed:
        return ""
    divided = len(np.unique(recoding.source)) < len(recoding.source)
    return "rows that were equal have different values" if divided else ""


def _column_fault(
    given: Mapping[object, object], recoding: TupleRecoding, place: int, meaning: Meanings
) -> str:
    name, model = recoding.attributes[place], given.get("model", "AG_TS")
    pairs = list(recoding.pairs(name))
    if model == "AG_CS":
        levels = range(meaning.hierarchy.height + 1)
        shown = [(raw, text) for raw, text in pairs if text != _STAR]
        one = any(all(meaning.shows(*pair, (at, at)) for pair in shown) for at in levels)
        return "" if one else msg("`{name}` is shown at several levels", name=name)
    top_down = model == "AG_TS" and given.get("algorithm") == "top-down" and not given.get("local")
    if (top_down or model == "AS") and len({raw for raw, _ in pairs}) < len(pairs):
        return msg("a value of `{name}` is shown in several ways", name=name)
    whole = all(text == _STAR for _, text in pairs) or all(raw == text for raw, text in pairs)
    if model == "AS" and not whole:
        return msg("`{name}` is neither left as it is nor suppressed as a whole", name=name)
    return ""


def pseudonym_forms(
    published: PublishedTable, names: Iterable[str], token: CancelToken
) -> list[ClaimCheck]:
    """Pseudonyms are base32 letters, all of one length: no raw identifier was published."""
    checks = []
    for name in names:
        token.check()
        shown = [text for text in published.value_counts(name, token) if text]
        strange = sum(_PSEUDONYM.fullmatch(text) is None for text in shown)
        strange = strange or len({len(text) for text in shown}) > 1
        status = CheckStatus.FAILED if strange else CheckStatus.CONFIRMED
        found = "some are of another form" if strange else "looked at one by one"
        claim = msg("pseudonyms of {column} have the form of pseudonyms", column=name)
        checks.append(ClaimCheck(claim, status, found, TABLE))
    return checks
