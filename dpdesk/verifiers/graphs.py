"""Checking a released graph from its files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import isclose

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import ORDERED, UNORDERED, CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.verifiers.cubes.exact_claim import longest_walks
from dpdesk.verifiers.cubes.quiet import quiet_edges
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    Rows,
    UndeclaredError,
    counted_cells,
    kept_rows,
    read_column,
    unlike,
)
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance
from dpdesk.verifiers.promises import Sentences, words_check
from dpdesk.verifiers.reading import OTHER, cluster_of, count, number, texts

# What the public parameters of a graph ask for, as the verifier reads them.


Nodes = tuple[str, ...] | None


@dataclass(frozen=True)
class Asked:
    """The release that the settings describe.

    ``nodes`` is None where a hierarchy declares them; ``exact_first`` and ``exact_second`` are the
    nodes with exact degrees (out- and in-degrees of directed edges), None for all.
    """

    directed: bool
    ends: tuple[str, str]
    nodes: Nodes
    exact_first: Nodes
    exact_second: Nodes
    exact_edges: bool
    gaussian: bool
    budget: Fraction
    replace: bool
    rows_per_person: int

    @property
    def any_exact(self) -> bool:
        """Whether anything is released without noise."""
        return self.exact_edges or self.exact_first != () or self.exact_second != ()


def asked_of(manifest: Mapping[str, object]) -> Asked:
    """The settings in a manifest. Raises ValueError, TypeError, KeyError when malformed."""
    given = as_table(manifest["parameters"])
    first, second = texts(given["ends"])
    directed, exact = given.get("graph") == "directed", given.get("exact", "none")
    named = texts(given.get("exact_nodes")) or None
    into = texts(given.get("exact_in_nodes")) or named
    gaussian = given.get("rho") is not None
    return Asked(
        directed=directed,
        ends=(first, second),
        nodes=texts(given.get("nodes")) or None,
        exact_first=named if exact in ("degrees", "out-degrees") else (),
        exact_second=(into if directed and exact in ("degrees", "in-degrees") else ()),
        exact_edges=given.get("exact_edges") is True,
        gaussian=gaussian,
        budget=number(given["rho" if gaussian else "epsilon"]),
        replace=given.get("neighbours") == "replace",
        rows_per_person=count(given.get("rows_per_person", 1)),
    )


# Minimal changes of small directed graphs, for the verifier: all walks there are.
#
# Edges that come and go in turn are a walk between out-ends and in-ends. It passes each end with a
# known degree at most once, and closes, or stops at ends that are not known. Sets of ends are
# passed bit by bit: bits 0 to V - 1 are out-ends, V to 2V - 1 in-ends. Source:
# resources/docs/graphs.md.


MOST_NODES = 5
"""Nodes up to which the sizes of changes of directed graphs are those of all walks."""

_SHORTEST_CYCLE = 4


def longest_change(out: Sequence[bool], into: Sequence[bool], total: bool) -> int:
    """The size of the largest minimal change of a directed graph without loops.

    ``out`` and ``into`` flag the nodes of which the degrees are known, ``total`` says that the
    number of edges is. 0 where everything follows from that.
    """
    walks = _Walks(out, into)
    even = max(walks.even(), default=0)
    odd = set(walks.odd())
    if not total:
        return max([even, *(passed.bit_count() + 1 for passed in odd)])
    pairs = (
        one.bit_count() + other.bit_count() + 2
        for one, other in combinations_with_replacement(sorted(odd), 2)
        if not one & other and (one or other or walks.single_edges > 1)
    )
    return max([even, *pairs])


class _Walks:
    """The walks beside known degrees."""

    def __init__(self, out: Sequence[bool], into: Sequence[bool]) -> None:
        self._size = size = len(out)
        self._known = [bit for bit, known in enumerate([*out, *into]) if known]
        self._free = [bit for bit, known in enumerate([*out, *into]) if not known]
        self._edges = [
            sum(1 << other for other in range(2 * size) if self._meet(bit, other))
            for bit in range(2 * size)
        ]
        self.single_edges = sum(
            self._meet(bit, other) for bit, other in product(self._free, repeat=2) if bit < size
        )

    def _meet(self, bit: int, other: int) -> bool:
        """Whether there can be an edge between an out-end and an in-end: not of the same node."""
        size = self._size
        return (bit < size) != (other < size) and bit % size != other % size

    def _free_at(self, bit: int) -> int:
        """The ends without a known degree that share an edge with one."""
        return sum(1 << free for free in self._free if self._meet(free, bit))

    def _paths(self, starts: Sequence[int], allowed: int) -> Iterator[tuple[int, int]]:
        """All sets of known ends that a walk passes, with the ends where it can be then."""
        found = dict.fromkeys((1 << start for start in starts), 0)
        for start in starts:
            found[1 << start] |= 1 << start
        level = found
        while level:
            yield from level.items()
            longer: dict[int, int] = {}
            for passed, last in level.items():
                for bit in _bits(last):
                    for following in _bits(self._edges[bit] & allowed & ~passed):
                        key = passed | 1 << following
                        longer[key] = longer.get(key, 0) | 1 << following
            level = longer

    def even(self) -> Iterator[int]:
        """The lengths of walks with as many edges that come as go."""
        for first in self._known:
            later = sum(1 << bit for bit in self._known if bit > first)
            for passed, last in self._paths([first], later):
                length = passed.bit_count()
                if length >= _SHORTEST_CYCLE and last & self._edges[first]:
                    yield length
        for passed, last in self._open_paths():
            length = passed.bit_count()
            needed = 2 if length == 1 else 1
            if length % 2 and any(self._free_at(b).bit_count() >= needed for b in _bits(last)):
                yield length + 1

    def odd(self) -> Iterator[int]:
        """The known ends that walks with an edge more, or less, pass."""
        if self.single_edges:
            yield 0
        for passed, last in self._open_paths():
            if passed.bit_count() % 2 == 0 and any(self._free_at(bit) for bit in _bits(last)):
                yield passed

    def _open_paths(self) -> Iterator[tuple[int, int]]:
        """Walks that begin at an end without a known degree: on either side."""
        allowed = sum(1 << bit for bit in self._known)
        for side in (True, False):
            starts = [
                bit for bit in self._known if (bit < self._size) is side and self._free_at(bit)
            ]
            yield from self._paths(starts, allowed)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


# What the verifier finds out by itself about a graph: changes, variances, from settings alone.
#
# Nothing of the design's closed forms is used: sizes of minimal changes of small graphs are a list
# of enumerated values or all walks, those of others follow from walks; variances are solved for
# step by step.


Floats = NDArray[np.float64]
_SMALL = {
    (3, False): (1, 2, 3, 0),
    (4, False): (1, 2, 3, 4, 4),
    (5, False): (1, 2, 3, 5, 6, 6),
    (6, False): (1, 2, 3, 5, 6, 7, 6),
    (3, True): (2, 2, 0, 0),
    (4, True): (2, 2, 4, 4, 4),
    (5, True): (2, 2, 4, 6, 6, 6),
    (6, True): (2, 2, 4, 6, 6, 6, 6),
}
"""Longest minimal changes of undirected graphs by nodes and known edge count, by known degrees:
from all changes of all graphs (tests/unit/engine/methods/dp_graph/test_changes.py)."""
_STEPS = 200


@dataclass(frozen=True)
class Claim:
    """What is exact of a graph, as flags of its nodes; ``into`` are in-degrees."""

    directed: bool
    out: NDArray[np.bool_] = field(repr=False)
    into: NDArray[np.bool_] = field(repr=False)
    total: bool

    @property
    def size(self) -> int:
        """Nodes."""
        return len(self.out)

    @property
    def pairs(self) -> int:
        """Edges that there can be."""
        return self.size * (self.size - 1) // (1 if self.directed else 2)


def whole_claim(directed: bool, out: Sequence[bool], into: Sequence[bool], total: bool) -> Claim:
    """With all that follows from what is named: walks through the rules until nothing changes."""
    sides = [list(out), list(into)] if directed else [list(out)]
    count, before = total, None
    while before != (sides, count):
        before = ([list(side) for side in sides], count)
        count = count or any(all(side) for side in sides)
        for side in sides:
            if count and side.count(False) == 1:
                side[side.index(False)] = True
    flags = [np.array(side, dtype=bool) for side in sides]
    return Claim(directed, flags[0], flags[-1] if directed else ~flags[0] & flags[0], count)


def minimal_change(claim: Claim) -> int:
    """The size of the largest minimal change, or a safe bound, that keeps what is claimed."""
    size, known = claim.size, int(claim.out.sum())
    if claim.directed:
        if size <= MOST_NODES:
            return longest_change(claim.out.tolist(), claim.into.tolist(), claim.total)
        return min(claim.pairs, _directed(size, known, int(claim.into.sum()), total=claim.total))
    if size <= max(nodes for nodes, _ in _SMALL):
        return _SMALL[size, claim.total and known < size][known]
    if known == size:
        return min(claim.pairs, 2 * size)
    return min(claim.pairs, 2 * known + (2 if claim.total else 1))


def _directed(size: int, known1: int, known2: int, *, total: bool) -> int:
    """The longest walk, as in a table with loops; two where the number of edges must stay."""
    if not known1 and not known2:
        return 2 if total else 1
    even, odd = longest_walks(known1, size, known2, size)
    if not total or size in (known1, known2):
        return max(even, odd)
    return max(even, 2 * min(known1, known2) + 2)


def left_over(claim: Claim, wanted: Floats, squares: float) -> float:
    """What is left of the squares of a sum's coefficients when known sums are taken out of it.

    ``wanted`` are its sums over the edges of each out-end, in-end (0 of undirected graphs) and all,
    shape (2 nodes + 1,). By conjugate gradients on the known sums, which takes a few steps.
    """
    keep = np.concatenate((claim.out, claim.into, [claim.total]))
    right = np.where(keep, wanted, 0.0)
    found, rest = np.zeros_like(right), right.copy()
    step, size = rest.copy(), float(rest @ rest)
    least = 1e-28 * size
    for _ in range(_STEPS):
        if size <= least or size == 0:
            break
        image = np.where(keep, _sums(claim, step), 0.0)
        length = size / float(step @ image)
        found += length * step
        rest -= length * image
        smaller = float(rest @ rest)
        step = rest + smaller / size * step
        size = smaller
    left = squares - float(right @ found)
    return left if left > 1e-9 * squares else 0.0


def _sums(claim: Claim, given: Floats) -> Floats:
    """The sums of the edges that hold, each, the numbers of their ends and that of all."""
    size = claim.size
    out, into, every = given[:size], given[size:-1], float(given[-1])
    if not claim.directed:
        rows = (size - 2) * out + out.sum() + (size - 1) * every
        return np.concatenate((rows, np.zeros(size), [rows.sum() / 2]))
    rows = (size - 1) * (out + every) + into.sum() - into
    columns = (size - 1) * (into + every) + out.sum() - out
    return np.concatenate((rows, columns, [rows.sum()]))


def edge_groups(claim: Claim) -> Iterator[tuple[int, float]]:
    """How many edges keep which share of their noise; edges with like ends are alike."""
    kinds: dict[tuple[bool, bool], list[int]] = {}
    for node in range(claim.size):
        kinds.setdefault((bool(claim.out[node]), bool(claim.into[node])), []).append(node)
    groups = list(kinds.values())
    chosen = product(groups, groups) if claim.directed else combinations_with_replacement(groups, 2)
    for one, other in chosen:
        same = one is other
        count = len(one) * (len(other) - same) // (2 if same and not claim.directed else 1)
        if count:
            first, second = one[0], other[1 if same else 0]
            wanted = np.zeros(2 * claim.size + 1)
            wanted[first] = wanted[-1] = 1.0
            wanted[second + (claim.size if claim.directed else 0)] = 1.0
            yield count, left_over(claim, wanted, 1.0)


def degree_groups(claim: Claim, *, into: bool) -> Iterator[tuple[int, float]]:
    """How many degrees keep which share of the noise of one edge."""
    kinds: dict[tuple[bool, bool], list[int]] = {}
    for node in range(claim.size):
        kinds.setdefault((bool(claim.out[node]), bool(claim.into[node])), []).append(node)
    size = claim.size
    for (out, inside), nodes in kinds.items():
        if inside if into else out:
            yield len(nodes), 0.0
            continue
        own, others = np.zeros(size), np.ones(size)
        own[nodes[0]], others[nodes[0]] = size - 1, 0.0
        parts = (others, own) if into else (own, others)
        if not claim.directed:
            parts = (own + others, np.zeros(size))
        wanted = np.concatenate((*parts, [float(size - 1)]))
        yield len(nodes), left_over(claim, wanted, float(size - 1))


def count_share(claim: Claim) -> float:
    """Which share of the noise of one edge the number of edges keeps."""
    if claim.total:
        return 0.0
    every = np.full(claim.size, float(claim.size - 1))
    other = every if claim.directed else np.zeros(claim.size)
    wanted = np.concatenate((every, other, [float(claim.pairs)]))
    return left_over(claim, wanted, float(claim.pairs))


MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
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
            found = msg("{item} is not listed as the settings say", item=item["file"])
            return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    total = sum(table.cells for table in published.values())
    found = msg("{n} tables with {m:,} cells in domain order, none left out", n=len(files), m=total)
    return ClaimCheck(claim, CheckStatus.CONFIRMED, found, "", label)


def _change(result: Result, settings: Asked, change: int) -> ClaimCheck:
    """The stated size of a minimal change is what the exact numbers give."""
    label = "The noise hides a minimal change alongside what is exact"
    if not settings.any_exact:
        found = msg("nothing is exact; a change has size {n}", n=change)
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
    for variance, many in found:
        if not left or not isclose(left[0][0], variance, rel_tol=1e-6):
            return False
        rest = left[0][1] - many
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
        fault = "" if not (edges % 1).any() else "holds a number that is not a whole number"
        label = "Values are on the grid of the noise"
        yield _check("values", fault, "all are whole", f"graph/{_EDGES}.csv", label)


def _possible(settings: Asked, released: Claim, tables: Mapping[str, CuboidTable]) -> ClaimCheck:
    """A graph without loops has the exact degrees, where all are exact; others are counts."""
    claim = "exact degrees"
    if not (released.out.all() and (released.into.all() or not settings.directed)):
        label = "Exact numbers are whole numbers that a node or a graph can have"
        found = "each separately; whether a graph has all of them is checked where all are exact"
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


# Whether the nodes of a graph are those of its plan, and its rows those of the source.


_CLAIM, _LABEL = "nodes of the hierarchy", "The nodes are those that the plan declares"
_COUNTED = "rows that count"
_COUNTED_LABEL = "Rows and exact numbers are those of the source"


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Whether the nodes are those of the hierarchy, where the plan does not list them."""
    settings = asked_of(manifest)
    if settings.nodes is not None:
        return []
    if given is None:
        found = "the hierarchy is in the internal part"
        return [ClaimCheck(_CLAIM, CheckStatus.NEEDS_SOURCE, found, MANIFEST, _LABEL)]
    try:
        nodes = list(_ends(settings, given)[0].categories)
    except UndeclaredError as error:
        return [ClaimCheck(_CLAIM, CheckStatus.FAILED, str(error), MANIFEST, _LABEL)]
    expected = [{"dimension": name, "categories": nodes} for name in settings.ends]
    if as_table(manifest["result"])["domains"] == expected:
        text = "declared again, the same"
        return [ClaimCheck(_CLAIM, CheckStatus.CONFIRMED, text, MANIFEST, _LABEL)]
    found = "the nodes are different, or in a different order"
    return [ClaimCheck(_CLAIM, CheckStatus.FAILED, found, MANIFEST, _LABEL)]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, and exact degrees and numbers of edges.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """
    settings = asked_of(manifest)
    ends = _ends(settings, given)
    person = cluster_of(manifest)
    rows = Rows(ends, "", person, settings.rows_per_person)
    kept, facts = kept_rows(source, rows, token)
    pairs = counted_cells(kept, ends, token)
    there = pairs > 0 if settings.directed else pairs + pairs.T > 0
    there &= ~np.eye(len(there), dtype=bool)
    edges = int(there.sum()) // (1 if settings.directed else 2)
    loops = int(np.trace(pairs))
    facts["rows_from_a_node_to_itself"] = loops
    facts["rows_that_repeat_an_edge"] = int(pairs.sum()) - loops - edges
    key = unlike(recorded, "edges", facts, complete=given.complete)
    if key:
        found = msg("`{key}` is not what the source gives", key=key)
        return [ClaimCheck(_COUNTED, CheckStatus.FAILED, found, EVIDENCE, _COUNTED_LABEL)]
    true = {
        "degrees": there.sum(axis=1),
        "out-degrees": there.sum(axis=1),
        "in-degrees": there.sum(axis=0),
        "edge-count": np.array([edges]),
    }
    fault = next(_inexact(manifest, published, true), "")
    if not settings.any_exact:
        fault = fault or quiet_edges(manifest, published, there, gaussian=settings.gaussian)
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    found = fault or "placed again, the same"
    return [ClaimCheck(_COUNTED, status, found, MANIFEST, _COUNTED_LABEL)]


def _ends(settings: Asked, given: Declarations) -> tuple[Column, Column]:
    """Both ends have the nodes that the plan lists, or those of the hierarchy of the first."""
    first, second = settings.ends
    nothing = Declarations({}, {})
    wanted = ColumnRequest(settings.nodes)
    one = read_column(first, wanted, given if settings.nodes is None else nothing)
    return one, Column(**{**vars(one), "name": second})


def _inexact(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    true: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]],
) -> Iterator[str]:
    """Exact degrees and numbers of edges that are not those of the source."""
    result = as_table(manifest["result"])
    nodes = texts(as_table(as_list(result["domains"])[0])["categories"])
    for item in map(as_table, as_list(result["cuboids"])):
        listed = [texts(cell)[0] for cell in as_list(item.get("exact_cells") or [])]
        if item.get("exact") is not True and not listed:
            continue
        file = str(item["file"])
        stated = np.asarray(published[file].values, np.float64).reshape(-1)
        counts = true[file.removeprefix("graph/").removesuffix(".csv")]
        known = np.array([not listed or node in listed for node in nodes][: len(counts)], bool)
        if (stated != counts)[known].any():
            yield msg("{file} has an exact number that is not that of the source", file=file)
