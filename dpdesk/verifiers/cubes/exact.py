"""Checking the exact part of a released cube from its files alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import MINIMAL_CHANGE as _CHANGE
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.verifiers.cubes.changes import largest_change
from dpdesk.verifiers.cubes.claimed import Claimed, names_of, table_of
from dpdesk.verifiers.cubes.exact_claim import (
    Cell,
    ExactClaim,
    Names,
    larger_change,
    minimal_change,
)

MANIFEST = "manifest.json"
_TABLES, _TOOL = "exact tables", "tool"
_ENUMERATED, _BY_TOOL = "enumeration", "4ti2"
_VERSION = re.compile(r"4ti2 \d[\w.]{0,20}")
_CHANGE_LABEL = "The noise hides a minimal change alongside the exact tables"
_TABLES_LABEL = "What is marked as exact is what the settings release exactly"


def exact_checks(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: Mapping[str, CuboidTable],
    token: CancelToken,
) -> Iterator[ClaimCheck]:
    """Claims on what is exact; raises as :func:`verify_cube` does when they are malformed."""
    stated = table_of(manifest["result"]).get("exact")
    if claimed.exact is None:
        if stated is not None or any("exact" in item for item in claimed.cuboids):
            found = "something is said to be exact that the parameters do not name"
            yield ClaimCheck(_TABLES, CheckStatus.FAILED, found, MANIFEST, _TABLES_LABEL)
        return
    yield _change(table_of(stated), claimed.exact, token)
    yield _flags(claimed, claimed.exact, published)


def _change(stated: Mapping[str, object], claim: ExactClaim, token: CancelToken) -> ClaimCheck:
    """The size of a minimal change is what the settings give."""
    size = stated["minimal_change"]
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise TypeError("a minimal change is a whole number above 0")
    if set(stated) - {_TOOL} != {"minimal_change", "total_fixed", "known_by"}:
        raise ValueError("`exact` has other keys than it should")
    if stated["total_fixed"] is not claim.fixed:
        found = msg(
            "`total_fixed` is {stated}, expected {fixed}",
            stated=str(stated["total_fixed"])[:40],
            fixed=claim.fixed,
        )
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, found, MANIFEST, _CHANGE_LABEL)
    expected = minimal_change(claim)
    known = (_ENUMERATED, _BY_TOOL) if expected is None else ("formula",)
    if stated["known_by"] not in known:
        found = msg(
            "`known_by` is {stated}, expected {known}",
            stated=str(stated["known_by"])[:40],
            known=known[0],
        )
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, found, MANIFEST, _CHANGE_LABEL)
    tool = stated.get(_TOOL, "")
    if (stated["known_by"] == _BY_TOOL) != bool(_VERSION.fullmatch(str(tool))):
        found = msg("`tool` is {tool!r}, which does not fit `known_by`", tool=str(tool)[:40])
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, found, MANIFEST, _CHANGE_LABEL)
    if expected is None:
        return _enumerated(claim, size, str(tool), token)
    status = CheckStatus.CONFIRMED if size == expected else CheckStatus.FAILED
    found = msg(
        "is {size}, {size2} the exact tables give {expected}",
        size=size,
        size2="as" if size == expected else "but",
        expected=expected,
    )
    return ClaimCheck(_CHANGE, status, found, MANIFEST, _CHANGE_LABEL)


def _enumerated(claim: ExactClaim, size: int, tool: str, token: CancelToken) -> ClaimCheck:
    """The size beside three or more tables, found by a search that is not the planner's.

    Where that search would take too long, small tables are compared at least: that shows a size
    that is too small, but none that is right, so the claim counts as not checked.
    """
    found = largest_change(claim, token)
    if found.least > size or (found.size is None and larger_change(claim, size)):
        text = msg("is {n}, and two small tables differ by a larger one", n=size)
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, text, MANIFEST, _CHANGE_LABEL)
    if found.size is None and found.most is not None and size >= found.most:
        right = size == found.most
        text = msg(
            "is {size}, {value} no change is larger than {most}, as enumerated again in "
            "another way",
            size=size,
            value="and" if right else "but",
            most=found.most,
        )
        status = CheckStatus.CONFIRMED if right else CheckStatus.FAILED
        return ClaimCheck(_CHANGE, status, text, MANIFEST, _CHANGE_LABEL)
    if found.size is None:
        by, needs = (msg(", computed by {tool}", tool=tool), ": needs 4ti2") if tool else ("", "")
        text = msg(
            "is {size}{by}; for so many exact cells it was not re-checked here{needs}",
            size=size,
            by=by,
            needs=needs,
        )
        return ClaimCheck(_CHANGE, CheckStatus.NOT_CHECKED, text, MANIFEST, _CHANGE_LABEL)
    by = f" by {found.tool}" if found.tool else " in another way"
    status = CheckStatus.CONFIRMED if found.size == size else CheckStatus.FAILED
    text = msg(
        "is {size}, {value} enumerated again{by}",
        size=size,
        value="as" if found.size == size else "but",
        by=by,
    )
    text += "" if found.size == size else msg(" it is {size}", size=found.size)
    return ClaimCheck(_CHANGE, status, text, MANIFEST, _CHANGE_LABEL)


def _flags(claimed: Claimed, claim: ExactClaim, published: Mapping[str, CuboidTable]) -> ClaimCheck:
    """Exact tables are marked, hold whole numbers of 0 or more, and agree with each other."""
    exact: dict[Names, CuboidTable] = {}
    for item in claimed.cuboids:
        names, file = names_of(item["dimensions"], claimed.domains), str(item["file"])
        if item.get("exact") is not claim.gives(names):
            found = msg("{file} is marked otherwise than the parameters say", file=file)
            return ClaimCheck(_TABLES, CheckStatus.FAILED, found, MANIFEST, _TABLES_LABEL)
        fault = _cells_fault(item, names, claim, published[file])
        if fault:
            return ClaimCheck(_TABLES, CheckStatus.FAILED, f"{file} {fault}", file, _TABLES_LABEL)
        if not claim.gives(names):
            continue
        values = np.asarray(published[file].values, dtype=np.float64)
        if not ((values >= 0) & (values % 1 == 0)).all():
            found = msg("{file} holds a number that is not a count", file=file)
            return ClaimCheck(_TABLES, CheckStatus.FAILED, found, file, _TABLES_LABEL)
        exact[names] = published[file]
    for one, other in combinations(exact, 2):
        if not np.array_equal(_summed(exact[one], one & other), _summed(exact[other], one & other)):
            found = msg(
                "{file} and {file2} do not agree", file=exact[one].file, file2=exact[other].file
            )
            return ClaimCheck(_TABLES, CheckStatus.FAILED, found, exact[one].file, _TABLES_LABEL)
    cells = sum(len(listed) for listed in claim.asked.values())
    found = msg(
        "exact tables: {n:,}, single exact cells: {m:,}; their counts agree", n=len(exact), m=cells
    )
    return ClaimCheck(_TABLES, CheckStatus.CONFIRMED, found, "", _TABLES_LABEL)


def _cells_fault(
    item: Mapping[str, object], names: Names, claim: ExactClaim, table: CuboidTable
) -> str:
    """What is wrong with the single exact cells of a table; empty when nothing is."""
    asked = () if claim.gives(names) else claim.asked.get(names, ())
    stated = item.get("exact_cells", [])
    order, categories = table.domain.dimensions, table.domain.categories
    listed = [[dict(cell)[name] for name in order] for cell in asked]
    if stated != listed:
        return "has other exact cells than the parameters say"
    values = np.asarray(table.values, dtype=np.float64)
    for cell in listed:
        place = tuple(texts.index(text) for texts, text in zip(categories, cell, strict=True))
        if values[place] < 0 or values[place] % 1:
            return "has an exact cell that holds no count"
    return ""


def _summed(table: CuboidTable, names: Names) -> NDArray[np.float64]:
    gone = tuple(i for i, name in enumerate(table.domain.dimensions) if name not in names)
    return np.asarray(np.asarray(table.values, dtype=np.float64).sum(axis=gone))


# Variances beside single exact cells, as the verifier finds them: by matrices.

_NOTHING = 1e-9
Floats = NDArray[np.float64]


def after_cells(
    claim: ExactClaim, known: Mapping[Names, float], tables: Sequence[Names], token: CancelToken
) -> dict[Names, float]:
    """The largest variance of a cell of each table, given the exact cells.

    ``known`` is the information on every residual (infinite where it is exact). The exact cells are
    conditioned on all at once: what a table's cells share with them is regressed away.
    """
    pins = [(names, cell) for names, listed in claim.cells.items() for cell in listed]
    among = np.array(
        [[_covariance(claim, known, one, own)[_place(claim, *own)] for own in pins] for one in pins]
    )
    inverse = np.linalg.pinv(among, rcond=1e-9, hermitian=True)
    found = {}
    for names in tables:
        token.check()
        shared = np.stack([_covariance(claim, known, pin, (names, None)).ravel() for pin in pins])
        gain = np.einsum("ij,ik,kj->j", shared, inverse, shared)
        whole = _variance(claim, known, names)
        left = whole - float(gain.min())
        found[names] = left if left > _NOTHING * whole else 0.0
    return found


def _variance(claim: ExactClaim, known: Mapping[Names, float], names: Names) -> float:
    total = 0.0
    for part in _parts(names):
        share = prod(1 - 1 / len(claim.categories[name]) for name in part)
        if share:
            total += share / known[part] / claim.size(names - part) ** 2
    return total


def _covariance(
    claim: ExactClaim,
    known: Mapping[Names, float],
    pin: tuple[Names, Cell],
    other: tuple[Names, Cell | None],
) -> Floats:
    """What every cell of a cuboid shares with a known cell, axes by name."""
    names, places = other[0], dict(pin[1])
    order = sorted(names)
    total = np.zeros([len(claim.categories[name]) for name in order])
    for part in _parts(names & pin[0]):
        weight = 1 / known[part] / claim.size(names - part) / claim.size(pin[0] - part)
        outer = np.full([1] * len(order), weight)
        for axis, name in enumerate(order):
            texts = claim.categories[name]
            factor = np.ones(len(texts))
            if name in part:
                factor = np.array([float(text == places[name]) for text in texts]) - 1 / len(texts)
            outer = outer * factor.reshape([-1 if i == axis else 1 for i in range(len(order))])
        total += outer
    return total


def _place(claim: ExactClaim, names: Names, cell: Cell) -> tuple[int, ...]:
    places = dict(cell)
    return tuple(claim.categories[name].index(places[name]) for name in sorted(names))


def _parts(names: Names) -> list[Names]:
    ordered = sorted(names)
    sizes = range(len(ordered) + 1)
    return [frozenset(c) for c in chain.from_iterable(combinations(ordered, n) for n in sizes)]
