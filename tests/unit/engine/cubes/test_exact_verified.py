"""The design and the verifier find the same of what is exact, each in its own way.

A release is paid for before it is checked, so a difference would cost somebody's budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.release import CheckStatus
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.consistency.linear import pinned_variances
from dpdesk.engine.cubes.exact import sensitivity
from dpdesk.engine.cubes.exact.part import ExactPart
from dpdesk.engine.cubes.exact.sensitivity import generic_sensitivity, knowledge
from dpdesk.engine.cubes.lattice import information
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.private.method import PrivateInput
from dpdesk.verifiers.cubes import exact as verified
from dpdesk.verifiers.cubes.exact import after_cells, largest_change
from dpdesk.verifiers.cubes.exact_claim import exact_claim, larger_change, minimal_change
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.helpers.stated import stated

TOKEN = CancelToken()
NAMES = "abc"


def _names(mask: int) -> list[str]:
    return [name for i, name in enumerate(NAMES) if mask >> i & 1]


@st.composite
def _asked(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Any], bool]:
    """A shape, a key `exact`, and whether neighbours replace a person."""
    shape = draw(st.tuples(*[st.integers(1, 3)] * 3))
    most = 3 if max(shape) < 3 else 2  # enumerations take long
    masks = draw(st.lists(st.integers(0, 7), min_size=1, max_size=most, unique=True))
    items: list[Any] = []
    for mask in masks:
        names = _names(mask)
        if not names or draw(st.booleans()):
            items.append(names)
            continue
        cell = st.tuples(*(st.integers(0, shape[NAMES.index(name)] - 1) for name in names))
        cells = draw(st.lists(cell, min_size=1, max_size=4, unique=True))
        items.append({"cuboid": names, "cells": [[str(place) for place in c] for c in cells]})
    return shape, items, draw(st.booleans())


def _part(shape: tuple[int, ...], items: list[Any], replace: bool) -> ExactPart:
    whole = [_mask(item) for item in items if isinstance(item, list)]
    single = {
        _mask(item["cuboid"]): [tuple(map(int, cell)) for cell in item["cells"]]
        for item in items
        if isinstance(item, dict)
    }
    known = knowledge(shape, whole, single, total=replace)
    return ExactPart(known, known.counted, generic_sensitivity(known, TOKEN))


def _mask(names: list[str]) -> int:
    return sum(1 << NAMES.index(name) for name in names)


@settings(deadline=None)  # the first example loads the kernels
@given(_asked())
def test_the_verifier_finds_what_the_design_finds(
    asked: tuple[tuple[int, ...], list[Any], bool],
) -> None:
    shape, items, replace = asked
    part = _part(shape, items, replace)
    if part.gives(7):
        return  # refused before anything is spent
    categories = {name: tuple(map(str, range(n))) for name, n in zip(NAMES, shape, strict=True)}
    claim = exact_claim(items, categories, replace=replace)
    assert claim is not None
    assert claim.fixed == part.generic.total_fixed
    for mask in range(8):
        assert claim.gives(frozenset(_names(mask))) == part.gives(mask), mask
    found = minimal_change(claim)
    if found is None:
        assert part.generic.origin.value == "enumeration"
        assert not larger_change(claim, part.generic.l1)
        assert largest_change(claim, TOKEN).size == part.generic.l1
    else:
        assert part.generic.origin.value == "formula"
        assert found == part.generic.l1
    assert {len(each) for each in claim.cells.values()} == set(map(len, part.known.cells.values()))


@settings(deadline=None)  # the first example loads the kernels
@given(_asked(), st.lists(st.floats(0.1, 3), min_size=8, max_size=8))
def test_variances_beside_exact_cells_are_the_same_by_passes_and_by_matrices(
    asked: tuple[tuple[int, ...], list[Any], bool], own: list[float]
) -> None:
    shape, items, replace = asked
    part = _part(shape, items, replace)
    if not part.single or part.gives(7):
        return
    known = information(np.array(own), shape)
    known[part.fixed] = np.inf
    categories = {name: tuple(map(str, range(n))) for name, n in zip(NAMES, shape, strict=True)}
    claim = exact_claim(items, categories, replace=replace)
    assert claim is not None
    by_names = {frozenset(_names(mask)): float(known[mask]) for mask in range(8)}
    noisy = [mask for mask in range(8) if not part.gives(mask)]
    passes = pinned_variances(known, shape, noisy, part.single, TOKEN)
    matrices = after_cells(claim, by_names, [frozenset(_names(m)) for m in noisy], TOKEN)
    for mask in noisy:
        assert matrices[frozenset(_names(mask))] == pytest.approx(passes[mask], rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(
    _asked(),
    st.sampled_from(["all", "base", "bmax", "optimal"]),
    st.sampled_from(["l2", "none"]),
    st.sampled_from([{"epsilon": 0.05}, {"epsilon": 40}, {"rho": 1}]),
    st.integers(1, 3),
)
def test_whatever_is_exact_a_release_passes_its_own_check(
    asked: tuple[tuple[int, ...], list[Any], bool],
    planner: str,
    consistency: str,
    budget: dict[str, float],
    rows: int,
) -> None:
    shape, items, replace = asked
    raw: dict[str, Any] = {
        "dimensions": list(NAMES),
        "domains": {name: [str(i) for i in range(n)] for name, n in zip(NAMES, shape, strict=True)},
        "exact": items,
        "planner": planner,
        "consistency": consistency,
        "neighbours": "replace" if replace else "add-remove",
        "rows_per_person": rows,
        **budget,
    }
    method = DpCube()
    parameters = parse_parameters(method.parameters, raw, "plan")
    known = PrivateInput(dict.fromkeys(NAMES, Role.QUASI_IDENTIFIER), {}, parameters)
    try:
        design = method.design(known, TOKEN, silent)
    except DpdeskError as error:
        if error.code not in ("cube.exact", "cube.exact-too-large"):
            raise
        return
    source = MemorySource.of(tuple(NAMES), [tuple("0" * 3), tuple(str(n - 1) for n in shape)] * 4)
    debit = debit_for_tests(design.charge.cost, design.charge.draws)
    noisy = design.measure(source, debit, SeededBits(rows), TOKEN, silent).noisy
    tables = design.process(noisy, TOKEN, silent)
    said = {
        "parameters": effective_parameters(method.parameters, parameters, method.parameters),
        "guarantee": design.guarantee.as_json(),
        "result": dict(design.result),
    }
    manifest = stated(said)
    checks = method.verify(manifest, {table.file: table for table in tables}, TOKEN)
    assert [check for check in checks if check.status is CheckStatus.FAILED] == []


@pytest.mark.parametrize(
    ("tables", "size"), [(["a", "b", "c"], 6), (["ab", "ac", "bc"], 8)], ids=["one-way", "two-way"]
)
def test_no_other_size_beside_three_tables_is_confirmed(tables: list[str], size: int) -> None:
    """Sizes have gaps: beside all two-way margins nothing is larger than 4 and smaller than 8."""
    categories = dict.fromkeys(NAMES, ("0", "1"))
    claim = exact_claim([list(each) for each in tables], categories, replace=False)
    assert claim is not None
    for change in (1, 2, size // 2 + 1, size - 1, size, size + 1):
        told = {"minimal_change": change, "total_fixed": True, "known_by": "enumeration"}
        found = verified._change(told, claim, TOKEN).status
        assert found is (CheckStatus.CONFIRMED if change == size else CheckStatus.FAILED), change


@pytest.mark.parametrize(
    ("shape", "size", "tables"),
    [
        ((2, 2, 4), 8, "a b c"),
        ((2, 2, 11), 8, "a b c"),
        ((2, 3, 3), 12, "a b c"),
        ((2, 3, 12), 16, "a b c"),
        ((2, 2, 2, 2), 10, "a b c d"),
        ((2, 2, 2, 12), 20, "a b c d"),
        ((2, 2, 40), 8, "ab ac bc"),
        ((2, 3, 4), 12, "ab ac bc"),
        ((3, 3, 3), 24, "ab ac bc"),
        ((2, 2, 2, 2), 18, "ab ac ad bc bd cd"),
    ],
    ids=str,
)
def test_the_verifier_enumerates_by_itself(
    shape: tuple[int, ...], size: int, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes of resources/docs/exact.md, which the planner or 4ti2 found."""

    def refuse(*_: object) -> None:
        raise AssertionError("the planner was asked")

    monkeypatch.setattr(sensitivity, "generic_sensitivity", refuse)
    monkeypatch.setattr(sensitivity, "_enumerated", refuse)
    categories = {
        name: tuple(map(str, range(count))) for name, count in zip("abcd", shape, strict=False)
    }
    claim = exact_claim([list(each) for each in tables.split()], categories, replace=False)
    assert claim is not None
    assert largest_change(claim, TOKEN).size == size


def test_what_the_verifier_cannot_enumerate_is_not_checked() -> None:
    categories = {name: tuple(map(str, range(5))) for name in NAMES}
    claim = exact_claim([["a"], ["b"], ["c"]], categories, replace=False)
    assert claim is not None
    told = {"minimal_change": 40, "total_fixed": True, "known_by": "enumeration"}
    assert verified._change(told, claim, TOKEN).status is CheckStatus.NOT_CHECKED
    told["minimal_change"] = 6  # a part of the table alone has larger ones
    assert verified._change(told, claim, TOKEN).status is CheckStatus.FAILED


def test_nothing_can_change_where_the_base_itself_is_exact() -> None:
    claim = exact_claim([["a", "b"]], {"a": ("0", "1"), "b": ("0", "1")}, replace=True)
    assert claim is not None
    assert minimal_change(claim) == 0
