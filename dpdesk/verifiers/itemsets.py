"""Checking released itemsets: from their files alone, and with the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from json import dumps, loads

import numpy as np

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.counted import Rows, kept_rows, unlike
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    UndeclaredError,
    read_column,
)
from dpdesk.verifiers.promises import overstated
from dpdesk.verifiers.reading import OTHER, count, guarantee_of, number, promised, texts
from dpdesk.verifiers.worded import Sentences, first_difference, parameter_fault

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
SETS, BASES = "itemsets.csv", "bases.csv"
_LARGEST, _SHARES = 12, ("1/10", "2/5", "1/2")
_LISTED = "itemsets"
_DECLARED = ("categories of the hierarchy", "The categories are those that the plan declares")
_COUNTED = ("rows that count", "The rows that count are those of the source")
_PRIVACY = (
    "is a property of how sets were chosen and the noise was drawn, which no release can show"
)


@dataclass(frozen=True)
class _Asked:
    """The settings of a manifest."""

    items: tuple[str, ...]
    domains: Mapping[str, tuple[str, ...]]
    budget: Fraction
    top: int
    longest: int
    width: int


def _asked_of(manifest: Mapping[str, object]) -> _Asked:
    """Raises ValueError, TypeError, KeyError when malformed."""
    given = as_table(manifest["parameters"])
    twice = 2 if given.get("neighbours", "add-remove") == "replace" else 1
    domains = {name: texts(raw) for name, raw in as_table(given.get("domains") or {}).items()}
    return _Asked(
        items=texts(given["dimensions"]),
        domains=domains,
        budget=number(given["epsilon"]),
        top=count(given["top"]),
        longest=count(given.get("longest", 3)),
        width=count(given.get("rows_per_person", 1)) * twice,
    )


def verify_itemsets(
    manifest: Mapping[str, object], published: Mapping[str, CuboidTable], again: Sentences
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``itemsets``; see :meth:`PrivateMethod.verify`.

    ``again`` is its guarantee worded again. Malformed manifests raise ValueError, TypeError,
    KeyError or ArithmeticError.
    """
    asked, result = _asked_of(manifest), as_table(manifest["result"])
    checks = [
        _checked(
            *("result", next(_result_faults(asked, result), ""), "shares and domains fit"),
            *("The release is the one that its settings describe", MANIFEST),
        ),
        _cost(result),
        _checked(
            *(_LISTED, next(_list_faults(asked, published), ""), "every set lies in a basis"),
            *("Sets and bases are such as the settings allow", SETS),
        ),
        _words(manifest, again),
    ]
    label = "The privacy loss is what is stated"
    status = CheckStatus.NOT_CHECKABLE
    return (*checks, ClaimCheck("differential privacy", status, _PRIVACY, MANIFEST, label))


def _checked(claim: str, fault: str, found: str, label: str, path: str) -> ClaimCheck:
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    return ClaimCheck(claim, status, fault or found, path, label)


def _cost(result: Mapping[str, object]) -> ClaimCheck:
    """Whatever bases are chosen, noise and choices cost the parts of ε, which add up to it."""
    parts = [number(part) for part in as_list(result["shares"])]
    whole = sum(parts, Fraction(0))
    fault = "" if whole == 1 and min(parts) > 0 else msg("the parts of ε add up to {n}", n=whole)
    label = "The noise costs no more than the budget"
    return _checked("scales within epsilon", fault, "the parts of ε add up to 1", label, MANIFEST)


def _result_faults(asked: _Asked, result: Mapping[str, object]) -> Iterator[str]:
    """Keys of the result that are not what the settings give."""
    domains = [as_table(each) for each in as_list(result["domains"])]
    names = tuple(str(each["dimension"]) for each in domains)
    categories = {str(each["dimension"]): texts(each["categories"]) for each in domains}
    if names != asked.items or any(len(set(each)) != 2 for each in categories.values()):
        yield "`domains` has other items than the settings, or not two categories for each"
    if any(categories.get(name) != listed for name, listed in asked.domains.items()):
        yield "`domains` has other categories than the settings"
    taking = {
        name: next(text for text in listed if text.lower() == OTHER)
        for name, listed in categories.items()
        if any(text.lower() == OTHER for text in listed)
    }
    expected: dict[str, object] = {
        "outside": taking,
        "shares": list(_SHARES) if len(asked.items) > _LARGEST else ["1"],
        "sensitivity": asked.width,
        "itemsets": [
            {"dimensions": ["items"], "file": file, "listed": True} for file in (SETS, BASES)
        ],
    }
    yield from (f"`{key}` is not so" for key in expected if result[key] != expected[key])
    yield from (f"`{key}` does not belong there" for key in {*result} - {*expected, "domains"})


def _list_faults(asked: _Asked, published: Mapping[str, CuboidTable]) -> Iterator[str]:
    """What is wrong with the two lists."""
    if sorted(published) != sorted((SETS, BASES)):
        yield "the tables are not the two lists of such a release"
        return
    bases = _sets(published[BASES], asked.items)
    found = _sets(published[SETS], asked.items)
    if bases is None or not bases or max(map(len, bases)) > max(_LARGEST, 1):
        yield f"{BASES} holds something that is not a set of items, or too large a one"
        return
    if len(asked.items) <= _LARGEST and bases != [tuple(range(len(asked.items)))]:
        yield f"{BASES} is not the one basis of all items"
    if len(set(bases)) < len(bases):
        yield f"{BASES} holds a basis twice"
    if found is None or len(set(found)) < len(found):
        yield f"{SETS} holds something that is not a set of items, or one twice"
        return
    if len(found) > asked.top or any(len(own) > asked.longest for own in found):
        yield f"{SETS} holds more sets, or longer ones, than the settings allow"
    if any(not any(set(own) <= set(basis) for basis in bases) for own in found):
        yield f"{SETS} holds a set that no basis covers"
    reach = {own for basis in bases for own in _within(basis, asked.longest)}
    if len(found) != min(asked.top, len(reach)):
        yield f"{SETS} holds {len(found)} sets, expected {min(asked.top, len(reach))}"
    values = np.asarray(published[SETS].values, np.float64)
    if any(low < high for low, high in pairwise(values.tolist())):
        yield f"{SETS} is not in descending order"
    totals = np.asarray(published[BASES].values, np.float64)
    if (totals % 1 != 0).any() or (len(bases) == 1 and (values % 1 != 0).any()):
        yield f"{BASES} or {SETS} holds a number that is not whole"


def _within(basis: Sequence[int], longest: int) -> Iterator[tuple[int, ...]]:
    for mask in range(1, 1 << len(basis)):
        if mask.bit_count() <= longest:
            yield tuple(item for place, item in enumerate(basis) if mask >> place & 1)


def _sets(table: CuboidTable, items: Sequence[str]) -> list[tuple[int, ...]] | None:
    """The sets of a list, by places of items; None where one is not written as it should be."""
    place, found = {name: i for i, name in enumerate(items)}, []
    for text in table.domain.categories[0]:
        try:
            named = texts(loads(text))
        except (ValueError, TypeError):
            return None
        own = [place.get(name, -1) for name in named]
        if dumps(list(named), ensure_ascii=False) != text or not own or min(own) < 0:
            return None
        if any(low >= high for low, high in pairwise(own)):
            return None
        found.append(tuple(own))
    return found


def _words(manifest: Mapping[str, object], again: Sentences) -> ClaimCheck:
    """The guarantee has the facts of these settings, and the sentences that they give."""
    label = "The sentences of the guarantee fit the settings"
    stated, parameters = guarantee_of(manifest)
    given = as_table(manifest["parameters"])
    wrong = parameter_fault(parameters, promised(given, parameters, None))
    if wrong:
        fault = f"`{wrong}` of its parameters is not what the settings give"
        return _checked("guarantee", fault, "", label, MANIFEST)
    more = overstated(stated, given)
    key = more or first_difference(stated, again.as_json())
    fault = "" if not key else msg("`{key}` is not what the settings give", key=key)
    found = _checked("guarantee", fault, "worded again, the same", label, MANIFEST)
    words = more != "claim" and bool(fault)
    return replace(found, words=words and again.differs_in_words(stated))


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Whether categories that the plan does not list are those of hierarchies."""
    asked, (claim, label) = _asked_of(manifest), _DECLARED
    if set(asked.items) <= set(asked.domains):
        return []
    if given is None:
        found = "the hierarchy lies in the internal part"
        return [ClaimCheck(claim, CheckStatus.NEEDS_SOURCE, found, MANIFEST, label)]
    try:
        columns = _columns(asked, given)
    except UndeclaredError as error:
        return [ClaimCheck(claim, CheckStatus.FAILED, str(error), MANIFEST, label)]
    expected = [{"dimension": each.name, "categories": list(each.categories)} for each in columns]
    same = as_table(manifest["result"])["domains"] == expected
    fault = "" if same else "the categories are others, or in another order"
    return [_checked(claim, fault, "declared again, the same", label, MANIFEST)]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """
    asked = _asked_of(manifest)
    person = texts(guarantee_of(manifest)[1].get("cluster"))
    most = count(as_table(manifest["parameters"]).get("rows_per_person", 1))
    rows = Rows(_columns(asked, given), "", person[0] if person else None, most)
    _, facts = kept_rows(source, rows, token)
    key = unlike(recorded, "itemsets", facts, complete=given.complete)
    fault = f"`{key}` is not what the source gives" if key else ""
    claim, label = _COUNTED
    return [_checked(claim, fault, "placed again, the same", label, EVIDENCE)]


def _columns(asked: _Asked, given: Declarations) -> tuple[Column, ...]:
    return tuple(
        read_column(name, ColumnRequest(asked.domains.get(name)), given) for name in asked.items
    )
