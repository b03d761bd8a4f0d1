"""What released columns tell of hidden values, as the evidence has it from before a release."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import NamedTuple

from dpdesk.core.guarantee import hidden_columns
from dpdesk.core.messages import joined, msg
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.project.review.item_words import named, part
from dpdesk.project.review.questions import Answer, Basis, Case, Question
from dpdesk.project.review.votes import ItemStatus as Status

_EVIDENCE = Basis.EVIDENCE
_EVEN = 2
_UNCHANGED = frozenset(
    role.value for role in (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER)
)
"""Roles of columns that are released as they are, unless their values are drawn."""
_TOGETHER = 3
_TRIED = ("columns", "pairs", "rows_for_pairs", "triples", "rows_for_triples")
_ADVICE = (
    "Judge whether others may know these columns; if so, leave one of them out, make it coarser, "
    "or do not rely on the chance that the guarantee names."
)
_NOT_MEASURED = Answer(
    Status.REVIEW,
    "What columns reveal about each other was not measured, or is in the internal part.",
    _EVIDENCE,
    "Look at the whole release folder, or make the release again.",
)


class _Found(NamedTuple):
    """What some columns tell of ``column``: rows that are certain, guessed, and nearly certain.

    ``nearly`` is None where it was not measured: in evidence of an earlier version.
    """

    column: str
    rows: int
    unaided: int
    by: tuple[str, ...]
    certain: int
    guessed: int
    nearly: int | None

    def surer(self, size: int) -> bool:
        return self.guessed * size > self.rows and self.guessed > self.unaided


def _telling(case: Case) -> Answer:
    raw = case.facts.release.evidence.risk.get("telling")
    if raw is None:
        return _NOT_MEASURED
    found = _read(raw)
    if found is None:
        text = "What the evidence says of columns that reveal others cannot be read."
        return Answer(Status.FAIL, text, _EVIDENCE, "Make the release again.")
    size = _size(case)
    sure = max((each for each in found if each.certain), key=_certain_share, default=None)
    best = max((each for each in found if each.surer(size)), key=_guessed_share, default=None)
    near = max((each for each in found if each.nearly), key=_nearly_share, default=None)
    if near is not None and sure is not None and _nearly_share(near) <= _certain_share(sure):
        near = None
    if sure is None and best is None and near is None:
        if any(each.nearly is None for each in found):
            return _NOT_MEASURED
        if not _hidden(case) <= {str(each.get("column")) for each in _tables(raw)}:
            return _NOT_MEASURED
        text = msg(
            "No column by itself gives a hidden value away with a chance of 90 % or "
            "more, and no columns that were tried together (up to three) guess one "
            "right both more often than once in {l:,} and more often than without any "
            "column.",
            l=size,
        )
        return Answer(Status.PASS, text, _EVIDENCE, more=_not_tried(raw))
    parts = []
    if sure is not None:
        parts.append(
            msg(
                "For {certain}, {by} alone reveals {column}.",
                certain=part(sure.certain, sure.rows),
                by=named(sure.by),
                column=quoted(sure.column),
            )
        )
    if near is not None:
        parts.append(
            msg(
                "For {rows}, {by} alone reveals {column} with a chance of 90 % or more.",
                rows=part(near.nearly or 0, near.rows),
                by=named(near.by),
                column=quoted(near.column),
            )
        )
    if best is not None:
        parts.append(
            msg(
                "From {by}, {column} is guessed right for {guessed}.",
                by=named(best.by),
                column=quoted(best.column),
                guessed=part(best.guessed, best.rows),
            )
        )
    return Answer(Status.REVIEW, joined(parts), _EVIDENCE, _ADVICE, _not_tried(raw))


def _hidden(case: Case) -> set[str]:
    """Columns that others could give away, as far as manifest and plan say it.

    Those that are sensitive, where another column is released unchanged next to them.
    """
    release = case.facts.release
    given = release.manifest.guarantee.parameters
    changed = set(hidden_columns(given))
    roles = release.evidence.roles
    unchanged = {name for name, role in roles.items() if role in _UNCHANGED} - changed
    targets = changed or {name for name, role in roles.items() if role == Role.SENSITIVE.value}
    return {name for name in targets if unchanged - {name}}


def _not_tried(raw: object) -> str:
    """Which sets of columns were not tried, as far as the evidence says it."""
    more, partly = False, ""
    for each in _tables(raw):
        examined = each.get("examined")
        tried = examined if isinstance(examined, Mapping) else {}
        known = [_whole(tried.get(key)) for key in _TRIED]
        rows = _whole(each.get("rows")) or 0
        if None in known:
            continue
        columns, pairs, paired, triples, screened = (number or 0 for number in known)
        more = more or columns > _TOGETHER
        sets = (comb(columns, 2), comb(columns, _TOGETHER))
        if (pairs, triples) < sets or 0 < min(paired, screened) < rows:
            partly = partly or (
                msg(
                    "Of {c:,} columns, {p:,} pairs were tried in {a:,} rows and {t:,} sets of "
                    "three in {b:,} rows; the best were counted in all {n:,} rows.",
                    c=columns,
                    p=pairs,
                    a=paired,
                    t=triples,
                    b=screened,
                    n=rows,
                )
            )
    parts = ["Sets of four or more columns were not examined."] if more else []
    return joined([*parts, partly] if partly else parts)


def _tables(raw: object) -> list[Mapping[str, object]]:
    return [each for each in raw if isinstance(each, Mapping)] if isinstance(raw, list) else []


def _certain_share(found: _Found) -> float:
    return found.certain / found.rows


def _nearly_share(found: _Found) -> float:
    return (found.nearly or 0) / found.rows


def _guessed_share(found: _Found) -> float:
    return found.guessed / found.rows


def _size(case: Case) -> int:
    """The ℓ′ of drawn values; elsewhere, more often than not is what calls for a look."""
    size = case.facts.release.manifest.guarantee.parameters.get("l")
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 1 else _EVEN


def _read(raw: object) -> list[_Found] | None:
    """All findings of the evidence; None when one cannot be read."""
    found: list[_Found] = []
    for each in raw if isinstance(raw, list) else [None]:
        told = _one(each)
        if told is None:
            return None
        found += told
    return found


def _one(raw: object) -> list[_Found] | None:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("column"), str):
        return None
    rows, unaided = _whole(raw.get("rows")), _whole(raw.get("guessed_unaided"))
    single, together = raw.get("by_one_column"), raw.get("together")
    if not rows or unaided is None or not isinstance(single, list) or "together" not in raw:
        return None
    found = []
    for each in [*single, *([] if together is None else [together])]:
        names = each.get("columns") if isinstance(each, Mapping) else None
        certain = _whole(each.get("certain")) if isinstance(each, Mapping) else None
        guessed = _whole(each.get("guessed")) if isinstance(each, Mapping) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return None
        if certain is None or guessed is None or not certain <= guessed <= rows:
            return None
        nearly = None
        if "nearly" in each:
            nearly = _whole(each["nearly"])
            if nearly is None or not certain <= nearly <= rows:
                return None
        alone = (certain, guessed, nearly) if each is not together else (0, guessed, 0)
        found.append(_Found(raw["column"], rows, unaided, tuple(names), *alone))
    return found


def _whole(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None


TELLING_ITEM = Question("telling", "Do other columns give a hidden value away?", _telling)
"""Asked of every release of rows."""


def _alone(case: Case) -> Answer:
    """A class has k rows by the quasi-identifiers alone; other columns tell them apart."""
    release = case.facts.release
    alone = _whole(release.evidence.risk.get("rows_alone"))
    rows = _whole(release.manifest.result.get("rows_out"))
    if alone is None or not rows:
        text = "How many rows no other row equals was not counted, or lies in the internal part."
        advice = "Look at the whole release folder, or make the release again."
        return Answer(Status.REVIEW, text, _EVIDENCE, advice)
    if alone > rows:
        text = "What the evidence says of rows that are alone cannot be."
        return Answer(Status.FAIL, text, _EVIDENCE, "Make the release again.")
    text = msg(
        "By all released columns together, {alone} can be distinguished from all others.",
        alone=part(alone, rows),
    )
    if not alone:
        return Answer(Status.PASS, text, _EVIDENCE)
    advice = (
        "Judge whether others may know these columns of a person; if so, make them "
        "quasi-identifiers as well, or leave them out."
    )
    return Answer(Status.REVIEW, text, _EVIDENCE, advice)


ALONE_ITEM = Question("rows-alone", "Is a row alone by all released columns?", _alone)
"""Asked of releases of classes: k says nothing of the columns that are not quasi-identifiers."""
