"""Checking the exact part of a released cube from its files alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import MINIMAL_CHANGE as _CHANGE
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.verifiers.cubes.changes import largest_change
from dpdesk.verifiers.cubes.claimed import Claimed, Names, names_of, table_of
from dpdesk.verifiers.cubes.exact_claim import (
    ExactClaim,
    larger_change,
    minimal_change,
)

MANIFEST = "manifest.json"
_TABLES, _TOOL = "exact tables", "tool"
_ENUMERATED, _BY_TOOL = "enumeration", "4ti2"
_VERSION = re.compile(r"4ti2 \d[\w.]{0,20}")
_CHANGE_LABEL = "The noise hides a minimal change beside the exact tables"
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
            found = msg("{file} holds a number that is no count", file=file)
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
