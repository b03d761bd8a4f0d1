"""Checking a released graph from its files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isclose

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import ORDERED, UNORDERED, CuboidTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.verifiers.graphs.asked import Asked, asked_of
from dpdesk.verifiers.graphs.recomputed import (
    Claim,
    count_share,
    degree_groups,
    edge_groups,
    minimal_change,
    whole_claim,
)
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance
from dpdesk.verifiers.promises import words_check
from dpdesk.verifiers.reading import OTHER
from dpdesk.verifiers.worded import Sentences

MANIFEST = "manifest.json"
Result = Mapping[str, object]
_RELATIVE, _LEAST = 1e-9, 1e-200
_EDGES, _COUNT, _OUT, _IN = ("edges", "edge-count", "out-degrees", "in-degrees")
_WORDS = {"edge-count": "number of edges"}
_PRIVACY = (
    "is a property of how the noise was drawn, which no release can show; what can be checked is "
    "that the stated noise costs no more than the stated budget"
)


def verify_graph(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    worded: Callable[[int | None], Sentences],
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``dp-graph``; see :meth:`PrivateMethod.verify`.

    ``worded`` words its guarantee again, for a minimal change of that size.
    Whatever is malformed raises ValueError, TypeError, KeyError or ArithmeticError.
    """
    settings = asked_of(manifest)
    result = as_table(manifest["result"])
    nodes = _nodes(result)
    released = _claim(settings, nodes, total=settings.exact_edges)
    checks = [_stated(result, settings, nodes), _tables(result, settings, released, published)]
    if any(check.status is CheckStatus.FAILED for check in checks):
        return tuple(checks)
    change = minimal_change(released)
    if settings.replace:
        change = max(change, minimal_change(_claim(settings, nodes, total=True)))
    checks.append(_change(result, settings, change))
    checks += _budget(result, settings, change * settings.rows_per_person, released)
    checks.append(_variances(result, settings, released, token))
    checks += _values(settings, released, published)
    stated = change if settings.any_exact else None
    checks.append(words_check(manifest, worded(stated), stated))
    label = "The privacy loss is what is stated"
    status = CheckStatus.NOT_CHECKABLE
    return (*checks, ClaimCheck("differential privacy", status, _PRIVACY, MANIFEST, label))


def _check(claim: str, fault: str, found: str, path: str, label: str) -> ClaimCheck:
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    return ClaimCheck(claim, status, fault or found, path, label)


def _nodes(result: Result) -> tuple[str, ...]:
    sides = [tuple(as_list(as_table(each)["categories"])) for each in as_list(result["domains"])]
    if len(sides) != 2 or sides[0] != sides[1] or len(set(sides[0])) < len(sides[0]):
        raise ValueError("the two ends have other nodes")
    return tuple(str(node) for node in sides[0])


def _claim(settings: Asked, nodes: Sequence[str], *, total: bool) -> Claim:
    flags = [
        [names is None or node in names for node in nodes]
        for names in (settings.exact_first, settings.exact_second)
    ]
    return whole_claim(settings.directed, flags[0], flags[1], total)


def _stated(result: Result, settings: Asked, nodes: Sequence[str]) -> ClaimCheck:
    """Domains, noise and flags of the result are what the settings say."""
    label = "The release is the one that its settings describe"
    names = [as_table(each)["dimension"] for each in as_list(result["domains"])]
    takes = next((node for node in nodes if node.lower() == OTHER), None)
    expected: dict[str, object] = {
        "noise_sources": [list(settings.ends)],
        "shares": ["1"],
        "residuals": False,
        "biased": False,
        "proven": False,
        "outside": {} if takes is None else dict.fromkeys(settings.ends, takes),
    }
    fault = next(
        (msg("`{key}` is not so", key=key) for key in expected if result[key] != expected[key]), ""
    )
    if names != list(settings.ends) or (settings.nodes not in (None, tuple(nodes))):
        fault = "`domains` has other columns or nodes than the settings"
    elif ("exact" in result) is not settings.any_exact:
        fault = "`exact` is there without exact numbers, or lacks beside them"
    return _check("result", fault, "domains and noise are those of the settings", MANIFEST, label)


def _expected_tables(
    settings: Asked, released: Claim
) -> dict[str, tuple[list[str], int, NDArray[np.bool_]]]:
    """Columns, cells and exact cells of each table by its name."""
    first, second = settings.ends
    degrees = _OUT if settings.directed else "degrees"
    found: dict[str, tuple[list[str], int, NDArray[np.bool_]]] = {
        _EDGES: ([first, second], released.pairs, np.zeros(0, dtype=bool)),
        degrees: ([first], released.size, released.out),
    }
    if settings.directed:
        found[_IN] = ([second], released.size, released.into)
    found[_COUNT] = ([], 1, np.array([released.total]))
    return found


def _tables(
    result: Result,
    settings: Asked,
    released: Claim,
    published: Mapping[str, CuboidTable],
) -> ClaimCheck:
    """Every table is there, with each cell, and with the marks of exact ones."""
    claim, label = "cuboids", "Every table has each pair or node, and its exact cells marked"
    listed = [as_table(item) for item in as_list(result["cuboids"])]
    expected, nodes = _expected_tables(settings, released), _nodes(result)
    files = [f"graph/{name}.csv" for name in expected]
    if [item["file"] for item in listed] != files or sorted(published) != sorted(files):
        found = "`cuboids` and the files in the folder are not those of the settings"
        return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    for item, (name, (columns, cells, known)) in zip(listed, expected.items(), strict=True):
        line: dict[str, object] = {
            "table": _WORDS.get(name, name),
            "dimensions": columns,
            "cells": cells,
            "file": f"graph/{name}.csv",
        }
        if name == _EDGES:
            line["pairs"] = ORDERED if settings.directed else UNORDERED
        if settings.any_exact:
            line["exact"] = bool(len(known) and known.all())
        if known.any() and not known.all():
            line["exact_cells"] = [[nodes[i]] for i in np.flatnonzero(known)]
        rest = {key: item[key] for key in item if key not in ("variance", "variances")}
        table = published[str(item["file"])]
        if rest != line or table.cells != cells or list(table.domain.dimensions) != columns:
            found = msg("{item} is listed otherwise than the settings say", item=item["file"])
            return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    total = sum(table.cells for table in published.values())
    found = msg("{n} tables with {m:,} cells in domain order, none left out", n=len(files), m=total)
    return ClaimCheck(claim, CheckStatus.CONFIRMED, found, "", label)


def _change(result: Result, settings: Asked, change: int) -> ClaimCheck:
    """The stated size of a minimal change is what the exact numbers give."""
    label = "The noise hides a minimal change alongside what is exact"
    if not settings.any_exact:
        found = msg("nothing is exact; a change is of {n}", n=change)
        return ClaimCheck("minimal change", CheckStatus.CONFIRMED, found, MANIFEST, label)
    stated = as_table(result["exact"])
    fault = ""
    if set(stated) != {"minimal_change"} or change < 1:
        fault = "`exact` has other keys than it should, or everything follows from what is exact"
    elif stated["minimal_change"] != change or isinstance(stated["minimal_change"], bool):
        fault = msg(
            "is {stated}, but the exact numbers give {change}",
            stated=str(stated["minimal_change"])[:40],
            change=change,
        )
    found = msg("is {n}, as the exact numbers give", n=change)
    return _check("minimal change", fault, found, MANIFEST, label)


def _budget(result: Result, settings: Asked, moved: int, released: Claim) -> Iterator[ClaimCheck]:
    """Sensitivity, scale and the largest variance before consistency."""
    gaussian, budget = settings.gaussian, float(settings.budget)
    stated = as_float(result["sensitivity"])
    fault = (
        ""
        if stated == moved
        else msg("is {stated:g}, expected {moved}", stated=stated, moved=moved)
    )
    yield _check(
        "sensitivity", fault, msg("is {n}", n=moved), MANIFEST, "What one change does to the edges"
    )
    scales = [as_float(scale) for scale in as_list(result["scales"])]
    if len(scales) != 1 or scales[0] <= 0:
        yield ClaimCheck("scales", CheckStatus.FAILED, "is not one above 0", MANIFEST)
        return
    scale = scales[0]
    cost = moved / (2 * scale**2) if gaussian else moved / scale
    fault = (
        ""
        if isclose(cost, budget, rel_tol=_RELATIVE)
        else msg("the noise costs {cost:.8g}", cost=cost)
    )
    found = msg("the stated noise costs {n:.6g} of {m:g}", n=cost, m=budget)
    key = "rho" if gaussian else "epsilon"
    label = "The noise costs no more than the budget"
    yield _check(msg("scales within {key}", key=key), fault, found, MANIFEST, label)
    terms = [1]
    terms += (
        []
        if released.out.all() and (released.into.all() or not settings.directed)
        else [released.size - 1]
    )
    terms += [] if released.total else [released.pairs]
    largest = max(terms) * (scale**2 if gaussian else 2 * scale**2)
    stated = as_float(result["max_variance"])
    fault = (
        ""
        if isclose(stated, largest, rel_tol=_RELATIVE)
        else msg("is not {largest:.8g}", largest=largest)
    )
    label = "The largest variance before consistency"
    yield _check("max_variance", fault, msg("is {n:.8g}", n=largest), MANIFEST, label)


def _variances(result: Result, settings: Asked, released: Claim, token: CancelToken) -> ClaimCheck:
    """The error of each table, computed again."""
    claim, label = "variance of each table", "The error of each table"
    scale = as_float(as_list(result["scales"])[0])
    kind = gaussian_variance if settings.gaussian else laplace_variance
    one = max(_LEAST, kind(scale))
    shares: Mapping[str, Callable[[], Iterable[tuple[int, float]]]] = {
        "edges": lambda: edge_groups(released),
        "degrees": lambda: degree_groups(released, into=False),
        _OUT: lambda: degree_groups(released, into=False),
        _IN: lambda: degree_groups(released, into=True),
        "number of edges": lambda: [(1, count_share(released))],
    }
    for item in map(as_table, as_list(result["cuboids"])):
        token.check()
        found = sorted(
            ((share * one, n) for n, share in shares[str(item["table"])]()), reverse=True
        )
        stated = as_list(item.get("variances", [[item["cells"], item["variance"]]]))
        pairs = [(as_float(as_list(each)[1]), int(as_float(as_list(each)[0]))) for each in stated]
        if pairs[0][0] != as_float(item["variance"]) or not _same_groups(pairs, found):
            fault = msg(
                "{item}: `variance` is not what the noise and the exact numbers give",
                item=item["file"],
            )
            return ClaimCheck(claim, CheckStatus.FAILED, fault, MANIFEST, label)
    text = "computed again, the same"
    return ClaimCheck(claim, CheckStatus.CONFIRMED, text, "", label)


def _same_groups(stated: list[tuple[float, int]], found: list[tuple[float, int]]) -> bool:
    """Whether the cells have these variances, the largest first, groups merged or not."""
    left = list(stated)
    for variance, count in found:
        if not left or not isclose(left[0][0], variance, rel_tol=1e-6):
            return False
        rest = left[0][1] - count
        if rest < 0:
            return False
        left = [(left[0][0], rest), *left[1:]] if rest else left[1:]
    return not left


def _values(
    settings: Asked, released: Claim, published: Mapping[str, CuboidTable]
) -> Iterator[ClaimCheck]:
    """Degrees and the number of edges are the sums of the edges; exact ones are counts."""
    tables = {name.split("/")[1][:-4]: table for name, table in published.items()}
    edges = np.asarray(tables[_EDGES].values, dtype=np.float64)
    first, second = tables[_EDGES].domain.codes(0, len(edges))
    rows, columns = (
        np.bincount(side, weights=edges, minlength=released.size) for side in (first, second)
    )
    label, size = "All tables agree with each other", max(1.0, float(np.abs(edges).sum()))
    sums = {"degrees": rows + columns, _OUT: rows, _IN: columns, _COUNT: edges.sum().reshape(1)}
    for name, (_, _, known) in _expected_tables(settings, released).items():
        if name == _EDGES:
            continue
        values, file = np.asarray(tables[name].values, np.float64).reshape(-1), f"graph/{name}.csv"
        gap = float(np.abs(values - sums[name]).max())
        if gap > (_RELATIVE * size if settings.any_exact else 0.0):
            found = msg("{file} and the edges differ by up to {gap:.6g}", file=file, gap=gap)
            yield ClaimCheck("consistency", CheckStatus.FAILED, found, file, label)
            return
        most = released.pairs if name == _COUNT else released.size - 1
        exact = values[known]
        if ((exact < 0) | (exact > most) | (exact % 1 != 0)).any():
            found = msg("{file} holds an exact number that no graph has", file=file)
            yield ClaimCheck("exact degrees", CheckStatus.FAILED, found, file)
            return
    yield ClaimCheck("consistency", CheckStatus.CONFIRMED, "edges summed up", "", label)
    if settings.any_exact:
        yield _possible(settings, released, tables)
    if not settings.any_exact:
        fault = "" if not (edges % 1).any() else "holds a number that is not whole"
        label = "Values lie on the grid of the noise"
        yield _check("values", fault, "all are whole", f"graph/{_EDGES}.csv", label)


def _possible(settings: Asked, released: Claim, tables: Mapping[str, CuboidTable]) -> ClaimCheck:
    """A graph without loops has the exact degrees, where all are exact; others are counts."""
    claim = "exact degrees"
    if not (released.out.all() and (released.into.all() or not settings.directed)):
        label = "Exact numbers are whole numbers that a node or a graph can have"
        found = "each by itself; whether a graph has all of them is checked where all are exact"
        return ClaimCheck(claim, CheckStatus.CONFIRMED, found, "", label)
    names = (_OUT, _IN) if settings.directed else ("degrees",)
    degrees = [np.asarray(tables[name].values, dtype=np.int64) for name in names]
    label, path = "A graph has the exact degrees", f"graph/{names[0]}.csv"
    there = (has_both_degrees if settings.directed else has_degrees)(*degrees)
    fault = "" if there else "no graph has these exact degrees"
    return _check(claim, fault, "whole numbers that a graph can have", path, label)


Integers = NDArray[np.int64]


def has_degrees(degrees: Integers) -> bool:
    """Whether an undirected graph has these degrees, shape (nodes,).

    Source: Erdős and Gallai, Graphs with prescribed degrees of vertices, 1960.
    """
    ordered = np.sort(degrees)[::-1]
    if ordered.sum() % 2:
        return False
    for k, most in enumerate(np.cumsum(ordered).tolist(), 1):
        if most > k * (k - 1) + int(np.minimum(ordered[k:], k).sum()):
            return False
    return True


def has_both_degrees(out: Integers, into: Integers) -> bool:
    """Whether a directed graph has these out-degrees and in-degrees, each of shape (nodes,).

    Source: Anstee, Properties of a class of (0,1)-matrices covering a given matrix, 1982; the
    condition is that of Fulkerson and Chen, with nodes by out-degree, then by in-degree.
    """
    if out.sum() != into.sum():
        return False
    order = np.lexsort((-into, -out))
    ordered = into[order]
    for k, most in enumerate(np.cumsum(out[order]).tolist(), 1):
        room = np.minimum(ordered[:k], k - 1).sum() + np.minimum(ordered[k:], k).sum()
        if most > int(room):
            return False
    return True
