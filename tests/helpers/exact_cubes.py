"""Designs of small cubes with exact tables, and releases of them from a known stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.private.method import PrivateInput
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource

NAMES, SHAPE = ("a", "b", "c"), (2, 3, 2)
Tables = dict[tuple[str, ...], NDArray[np.float64]]


def design_of(**keys: Any) -> CubeDesign:
    """A design over a, b and c with 2, 3 and 2 categories."""
    method = DpCube()
    raw = {
        "dimensions": list(NAMES),
        "domains": {name: [str(i) for i in range(n)] for name, n in zip(NAMES, SHAPE, strict=True)},
        "epsilon": 1.0,
        "planner": "all",
    } | keys
    if "rho" in raw:
        del raw["epsilon"]
    parameters = parse_parameters(method.parameters, raw, "plan")
    given = PrivateInput(dict.fromkeys(NAMES, Role.QUASI_IDENTIFIER), {}, parameters)
    design = method.design(given, CancelToken(), silent)
    assert isinstance(design, CubeDesign)
    return design


def rows_of(counts: NDArray[np.int64]) -> list[tuple[str, ...]]:
    """A row for everybody in a table of counts."""
    return [
        tuple(map(str, cell)) for cell, count in np.ndenumerate(counts) for _ in range(int(count))
    ]


def counts_for_tests() -> NDArray[np.int64]:
    """Some counts, small ones and 0 among them."""
    return np.random.default_rng(3).integers(0, 9, SHAPE)


def drawn(design: CubeDesign, source: MemorySource, bits: SeededBits) -> Tables:
    """One release of a design."""
    debit = debit_for_tests(design.charge.cost, design.charge.draws)
    noisy = design.measure(source, debit, bits, CancelToken(), silent).noisy
    tables = design.process(noisy, CancelToken(), silent)
    return {table.domain.dimensions: np.asarray(table.values, np.float64) for table in tables}


def truth(counts: NDArray[np.int64], names: tuple[str, ...]) -> NDArray[np.int64]:
    """The true values of a cuboid."""
    gone = tuple(i for i, name in enumerate(NAMES) if name not in names)
    return np.asarray(counts.sum(axis=gone))


def stated(design: CubeDesign) -> Mapping[tuple[str, ...], Mapping[str, Any]]:
    """The entries of the result by their dimensions."""
    cuboids: Any = design.result["cuboids"]
    return {tuple(item["dimensions"]): item for item in cuboids}
