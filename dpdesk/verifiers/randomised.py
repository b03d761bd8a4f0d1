"""Checks of rows whose values were drawn one by one, from their files and with their source.

Nothing here comes from the drawing: chances are found again from the settings, e^ε by exact
fractions, and the manifest is taken for a claim, never for a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from dpdesk.core.frequency import UNREADABLE
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import (
    ROWS_COMPARED,
    CheckStatus,
    ClaimCheck,
    LinkedRows,
    PublishedTable,
    RowDifference,
)
from dpdesk.core.schema import PLAN_ROLES, Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.anonymity.verification import compare, merged, shown, whole_number
from dpdesk.verifiers.drawing import drawn_check
from dpdesk.verifiers.promises import (
    Sentences,
    first_difference,
    in_words,
    overstated,
    parameter_fault,
)
from dpdesk.verifiers.reading import OTHER, Given, count, guarantee_of, number, texts

MODEL = "randomised-response"
ROWS, MANIFEST = "microdata.csv", "manifest.json"
Worded = Callable[[Fraction, int, Sequence[str], Mapping[str, Role], Mapping[str, str]], Sentences]
"""Words a guarantee for ε, the rows of a person, the drawn columns, the roles of the others, and
where categories come from.
"""
_ORIGINS = ("typed", "file", "code-list", "data")

_CONFIRMED, _FAILED, _NEEDS = CheckStatus.CONFIRMED, CheckStatus.FAILED, CheckStatus.NEEDS_SOURCE
_ROLE_KEYS = {"quasi_identifiers": Role.QUASI_IDENTIFIER} | {
    role.value: role
    for role in PLAN_ROLES
    if role not in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.PSEUDONYM, Role.CLUSTER)
}
_WHOLE = 1 << 52
_LARGEST = Fraction(40)
_DRAWN = "each value is drawn by itself, with the stated chances"
_COLUMNS = "the columns are those of the source, without identifiers"
_MOST_TERMS = 5_000

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Claimed:
    """What a manifest claims: ε in all and of each drawn column, and what all columns are.

    ``domains``, ``origins`` and ``matrices`` are settings; ``roles`` are of the columns that are
    not drawn.
    """

    epsilon: Fraction
    shares: Mapping[str, Fraction]
    rows: int
    domains: Mapping[str, tuple[str, ...]]
    origins: Mapping[str, str]
    matrices: Mapping[str, Matrix]
    roles: Mapping[str, Role]


def verify_public(
    manifest: Mapping[str, object], published: PublishedTable, worded: Worded, token: CancelToken
) -> tuple[ClaimCheck, ...]:
    """Check every claim that the published table can confirm or refute."""
    claimed = _claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return (claimed,)
    result = as_table(manifest["result"])
    checks = [
        _words_check(manifest, claimed, worded),
        compare("rows_out", result.get("rows_out"), published.rows),
        _outside_check(manifest, claimed),
        *_chance_checks(result, claimed),
    ]
    for name, categories in claimed.domains.items():
        token.check()
        strange = [text for text in published.value_counts(name, token) if text not in categories]
        found = (
            msg("{value} is not one of its categories", value=shown(sorted(strange)[0]))
            if strange
            else "every value is a declared category"
        )
        claim = msg("values of {column}", column=name)
        checks.append(ClaimCheck(claim, _FAILED if strange else _CONFIRMED, found, ROWS))
    checks += [
        ClaimCheck(
            _DRAWN,
            CheckStatus.NOT_CHECKABLE,
            "how values were drawn is a property of the run that no file can show; what the plan "
            "costs, and what chances follow from it, is checked",
            MANIFEST,
        ),
        ClaimCheck(
            _COLUMNS,
            _NEEDS,
            "which columns the source has can be checked only with the source",
            ROWS,
        ),
    ]
    return in_words(checks, manifest)


def verify_against_source(
    manifest: Mapping[str, object],
    published: PublishedTable,
    given: Given,
    difference: RowDifference,
    worded: Worded,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """All checks of :func:`verify_public`, those that need the source settled."""
    checks = verify_public(manifest, published, worded, token)
    claimed = _claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return checks
    expected = [name for name in given.source.columns if given.roles[name] is not Role.IDENTIFIER]
    right = published.columns == tuple(expected)
    found = "in its order" if right else "the columns or their order are different"
    settled = [ClaimCheck(_COLUMNS, _CONFIRMED if right else _FAILED, found, ROWS)]
    text = msg(
        "{n:,} rows of the table are not rows of the source, and {m:,} of its rows are missing",
        n=difference.extra,
        m=difference.missing,
    )
    same = not (difference.extra or difference.missing) and published.rows == given.source.rows
    settled.append(ClaimCheck(ROWS_COMPARED, _CONFIRMED if same else _FAILED, text, ROWS))
    return in_words(merged(checks, settled), manifest)


def claimed_recoding(
    manifest: Mapping[str, object], given: Given, token: CancelToken
) -> Recoding | None:
    """What becomes of columns that are not drawn: a value that cannot be read is missing."""
    _, stated = guarantee_of(manifest)
    drawn = texts(stated.get("drawn"))
    mapping: dict[str, dict[str, str]] = {}
    for name in given.source.columns:
        if name in drawn or given.roles[name] is Role.IDENTIFIER:
            continue
        domain = given.source.frequency_table((name,), token).domains[0]
        if UNREADABLE in domain:
            mapping[name] = {text: "" if text == UNREADABLE else text for text in domain}
    if not mapping:
        return None
    dropped = tuple(name for name, role in given.roles.items() if role is Role.IDENTIFIER)
    nothing = np.empty((0, len(mapping)), np.int32)
    labels = tuple(() for _ in mapping)
    return Recoding(tuple(mapping), mapping, labels, nothing, dropped, given.source.rows, 0)


def draws_check(
    manifest: Mapping[str, object], given: Given, linked: LinkedRows, token: CancelToken
) -> ClaimCheck:
    """How often rows that are known again show each category; other texts tell nothing."""
    settings, result = as_table(manifest["parameters"]), as_table(manifest["result"])
    stated = {str(as_table(each)["column"]): as_table(each) for each in as_list(result["chances"])}
    matrices, tallies = as_table(settings.get("matrix") or {}), []
    for name, tally in linked.shown.items():
        places = {text: at for at, text in enumerate(texts(as_table(settings["domains"])[name]))}
        rows = [as_list(row) for row in as_list(matrices.get(name))] if name in matrices else None
        for value in places:
            every = sum(n for (there, _), n in tally.items() if there == value)
            for text in places:
                chance = _stated_chance(stated[name], rows, places[value], places[text])
                tallies.append((every, tally.get((value, text), 0), chance))
        if rows is None:
            known = {pair: n for pair, n in tally.items() if pair[0] in places}
            own = sum(n for (value, text), n in known.items() if value == text)
            tallies.append((sum(known.values()), own, _stated_chance(stated[name], None, 0, 0)))
    return drawn_check(tallies, linked.alone, None)


def _stated_chance(
    stated: Mapping[str, object], rows: Sequence[list[object]] | None, value: int, text: int
) -> Fraction:
    if rows is not None:
        return number(rows[value][text])
    return Fraction(count(stated["stay" if value == text else "move"]), count(stated["whole"]))


def allows(epsilon: Fraction, ratio: Fraction) -> bool:
    """Whether e^ε is the ratio or more, decided by exact fractions.

    The sum of the terms ε^n/n! up to any place is less than e^ε; what is left after the term n is
    less than that term, where n + 1 is 2ε or more.
    """
    total, term, n = Fraction(1), Fraction(1), 0
    while n < _MOST_TERMS:
        if total >= ratio:
            return True
        if n + 1 >= 2 * epsilon and total + 2 * term < ratio:
            return False
        n += 1
        term = term * epsilon / n
        total += term
    return False


def _claim_of(manifest: Mapping[str, object], published: PublishedTable) -> Claimed | ClaimCheck:
    """The claim of a manifest whose columns the table has, or what is wrong with it."""
    guarantee, stated = guarantee_of(manifest)
    given = as_table(manifest["parameters"])
    if guarantee.get("model") != MODEL or manifest.get("method") != MODEL:
        return _failed("guarantee, model", guarantee.get("model"), f'"{MODEL}"')
    drawn, epsilon = texts(given.get("drawn")), number(given["epsilon"])
    if not drawn or len(set(drawn)) < len(drawn) or not set(drawn) <= set(published.columns):
        return _failed("parameters, drawn", drawn, "columns of the table, each once")
    domains = {name: texts(as_list(as_table(given["domains"]).get(name))) for name in drawn}
    for name, categories in domains.items():
        if len(categories) < 2 or len(set(categories)) < len(categories):
            return _failed("parameters, domains", name, "two or more categories, each once")
    origins = {name: str(each) for name, each in as_table(given.get("origins") or {}).items()}
    if not set(origins) <= set(drawn) or not set(origins.values()) <= set(_ORIGINS):
        return _failed("parameters, origins", origins, "drawn columns with a known origin")
    raw = as_table(given.get("shares") or {})
    shares = {str(name): number(each) for name, each in raw.items()} or dict.fromkeys(
        drawn, Fraction(1)
    )
    if set(shares) != set(drawn) or min(shares.values()) <= 0 or epsilon <= 0:
        return _failed("parameters, shares", raw, "a number above 0 for each drawn column")
    total = sum(shares.values(), Fraction(0))
    matrices = {
        str(name): tuple(tuple(number(each) for each in as_list(row)) for row in as_list(rows))
        for name, rows in as_table(given.get("matrix") or {}).items()
    }
    if not set(matrices) <= set(drawn):
        return _failed("parameters, matrix", sorted(matrices), "drawn columns")
    roles = _roles(stated, published.columns, drawn)
    if isinstance(roles, ClaimCheck):
        return roles
    return Claimed(
        epsilon,
        {name: epsilon * shares[name] / total for name in drawn},
        count(given.get("rows_per_person", 1)),
        domains,
        origins,
        matrices,
        roles,
    )


def _roles(
    stated: Mapping[str, object], columns: Sequence[str], drawn: Sequence[str]
) -> dict[str, Role] | ClaimCheck:
    """The role of every released column that is not drawn."""
    listed: dict[str, Role] = {}
    for key, role in _ROLE_KEYS.items():
        for name in texts(stated.get(key)):
            if name in listed or name not in columns or name in drawn:
                expected = "a column of the table that has one role"
                return _failed(msg("guarantee, {key}", key=key), name, expected)
            listed[name] = role
    for name in columns:
        if name not in listed and name not in drawn:
            claim = "every column of the table has one role"
            found = msg("the guarantee gives `{name}` no role", name=name)
            return ClaimCheck(claim, _FAILED, found, ROWS)
    return {name: listed[name] for name in columns if name not in drawn}


def _words_check(manifest: Mapping[str, object], claimed: Claimed, worded: Worded) -> ClaimCheck:
    claim = "the words of the guarantee"
    stated, parameters = guarantee_of(manifest)
    given = as_table(manifest["parameters"])
    facts: dict[str, object] = {
        "epsilon": given["epsilon"],
        "neighbours": "value",
        "rows_per_person": claimed.rows,
        "drawn": list(claimed.shares),
    }
    for key, role in _ROLE_KEYS.items():
        if names := [name for name, each in claimed.roles.items() if each is role]:
            facts[key] = names
    wrong = parameter_fault(parameters, facts)
    if wrong:
        found = msg(
            "`{wrong}` of its parameters is not what the settings and the columns give", wrong=wrong
        )
        return ClaimCheck(claim, _FAILED, found, MANIFEST)
    more = overstated(stated, given)
    words = worded(
        claimed.epsilon, claimed.rows, tuple(claimed.shares), claimed.roles, claimed.origins
    )
    key_of = more or first_difference(manifest, words)
    if key_of:
        text = msg("`{key}` is not what the settings and the columns give", key=key_of)
        other = not more and words.differs_in_words(stated)
        return ClaimCheck(claim, _FAILED, text, MANIFEST, words=other)
    return ClaimCheck(claim, _CONFIRMED, "they are what the settings give", MANIFEST)


def _outside_check(manifest: Mapping[str, object], claimed: Claimed) -> ClaimCheck:
    """Which category stands for all other texts, from the settings."""
    given, result = as_table(manifest["parameters"]), as_table(manifest["result"])
    named = as_table(given.get("outside") or {})
    expected: dict[str, object] = {}
    for name, categories in claimed.domains.items():
        other = next((text for text in categories if text.lower() == OTHER), None)
        expected[name] = named.get(name, other)
        if expected[name] not in categories:
            return _failed("outside", name, "a category for all texts outside the domain")
    if result.get("outside") != expected or not set(named) <= set(expected):
        return _failed("outside", result.get("outside"), "the categories that the settings name")
    found = "each is a category that the settings name"
    return ClaimCheck("outside", _CONFIRMED, found, MANIFEST)


def _chance_checks(result: Mapping[str, object], claimed: Claimed) -> list[ClaimCheck]:
    """The chances of every column: what they cost, and that they are those of the settings."""
    stated = [as_table(each) for each in as_list(result["chances"])]
    if [each.get("column") for each in stated] != list(claimed.domains):
        return [_failed("the chances of all columns", len(stated), "one entry for each, in order")]
    found = []
    for each, (name, categories) in zip(stated, claimed.domains.items(), strict=True):
        epsilon = claimed.shares[name] / claimed.rows
        matrix = claimed.matrices.get(name)
        fault = (
            _k_ary_fault(each, len(categories), epsilon)
            if matrix is None
            else _matrix_fault(each, matrix, len(categories), epsilon)
        )
        claim = msg("the chances of {column}", column=name)
        text = fault or "found again from the settings; they cost no more than the ε of the column"
        found.append(ClaimCheck(claim, _FAILED if fault else _CONFIRMED, text, MANIFEST))
    sound = all(check.status is _CONFIRMED for check in found)
    text = msg("those of {n:,} columns cost ε of them all together", n=len(found))
    status = _CONFIRMED if sound else _FAILED
    return [*found, ClaimCheck("chances within epsilon", status, text, MANIFEST)]


def _k_ary_fault(each: Mapping[str, object], size: int, epsilon: Fraction) -> str:
    stay, move = whole_number(each.get("stay")), whole_number(each.get("move"))
    if set(each) != {"column", "whole", "stay", "move"} or not stay or not move:
        return "they are not two shares of a whole"
    if each.get("whole") != _WHOLE or stay + (size - 1) * move != _WHOLE or stay <= move:
        return "they do not add up to the whole, or hide nothing useful"
    if not allows(epsilon, Fraction(stay, move)):
        return "they reveal more than the ε of the column allows"
    less = move - 1
    kept = _WHOLE - (size - 1) * less
    if less and epsilon <= _LARGEST and allows(epsilon, Fraction(kept, less)):
        return "they reveal less than the settings give"
    return ""


def _matrix_fault(each: Mapping[str, object], matrix: Matrix, size: int, epsilon: Fraction) -> str:
    if set(each) != {"column", "whole"}:
        return "more is stated than the whole of the chances"
    if len(matrix) != size or any(len(row) != size or sum(row) != 1 for row in matrix):
        return "the matrix of the settings does not have a row of chances for each category"
    chances = [chance for row in matrix for chance in row]
    if min(chances) < 0:
        return "the matrix of the settings has a chance below 0"
    whole = each.get("whole")
    if isinstance(whole, bool) or whole != lcm(*(one.denominator for one in chances)):
        return "the chances of the matrix are not parts of the stated whole"
    for column in zip(*matrix, strict=True):
        if not any(column):
            continue
        if not all(column) or not allows(epsilon, max(column) / min(column)):
            return "the matrix reveals more than the ε of the column allows"
    return ""


def _failed(claim: str, found: object, expected: str, path: str = MANIFEST) -> ClaimCheck:
    text = msg("found {shown}, expected {expected}", shown=shown(found), expected=expected)
    return ClaimCheck(claim, _FAILED, text, path)
