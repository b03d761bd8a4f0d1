"""Released cubes in memory: a design processed from noise alone, with its public manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.release import CountedRows, Manifest
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.methods.dp_cube.design import CubeDesign, design_cube
from dpdesk.engine.private.method import ExactTables, NoisyTables, PrivateInput
from tests.helpers.stated import stated

Domains = Mapping[str, Sequence[str]]


@dataclass
class MemoryRelease:
    """A ``ReleasedContent`` whose tables lie in memory; ``read`` notes the files asked for."""

    manifest: Manifest
    tables: Mapping[str, CuboidTable]
    read: list[str] = field(default_factory=list)

    def cuboid(self, file: str, token: CancelToken) -> CuboidTable:
        self.read.append(file)
        return self.tables[file]

    def columns(self, file: str, token: CancelToken) -> tuple[str, ...]:
        raise KeyError(file)

    def counted(self, file: str, columns: Sequence[str], token: CancelToken) -> CountedRows:
        raise KeyError(file)


def design(domains: Mapping[str, Sequence[str]], **keys: Any) -> CubeDesign:
    """The design of a cube over declared domains."""
    return design_cube(_input(domains, keys), CancelToken(), silent)


def memory_release(
    domains: Mapping[str, Sequence[str]], seed: int = 1, level: float = 100.0, **keys: Any
) -> MemoryRelease:
    """A cube of random noisy tables around ``level``, made consistent as its plan says."""
    given = _input(domains, keys)
    made = design_cube(given, CancelToken(), silent)
    generator = np.random.default_rng(seed)
    shape = made.declared.domain.shape
    noisy = [
        np.rint(
            generator.normal(
                level, 9, [shape[i] for i in range(len(shape)) if source.cuboid >> i & 1]
            )
        ).astype(np.int64)
        for _ in made.channels
        for source in made.plan.sources
    ]
    part = made.settings.part
    exact = ExactTables(
        {
            mask: generator.integers(
                50, 150, [shape[i] for i in range(len(shape)) if mask >> i & 1]
            )
            for mask in (() if part is None else part.whole)
        },
        tuple(100 for _ in (() if part is None else (*part.single, *part.asked))),
    )
    tables = made.process(NoisyTables(tuple(noisy), exact), CancelToken(), silent)
    return MemoryRelease(_manifest(made, given), {table.file: table for table in tables})


def released(
    made: CubeDesign,
    noisy: Sequence[Any],
    domains: Domains,
    counts: Any = None,
    **keys: Any,
) -> MemoryRelease:
    """What is released of a design over ``domains`` when these arrays were measured.

    What the plan releases exactly comes from the base ``counts``.
    """
    part = made.settings.part
    whole = {
        mask: counts.sum(axis=tuple(axis for axis in range(counts.ndim) if not mask >> axis & 1))
        for mask in (() if part is None else part.whole)
    }
    tables = made.process(NoisyTables(tuple(noisy), ExactTables(whole)), CancelToken(), silent)
    manifest = _manifest(made, _input(domains, keys))
    return MemoryRelease(manifest, {table.file: table for table in tables})


def _manifest(made: CubeDesign, given: PrivateInput) -> Manifest:
    parameters = effective_parameters(PARAMETERS, given.parameters, PARAMETERS)
    return stated(parameters=parameters, result=made.result)


def _input(domains: Mapping[str, Sequence[str]], keys: Mapping[str, Any]) -> PrivateInput:
    raw = {
        "dimensions": list(domains),
        "domains": {name: list(labels) for name, labels in domains.items()},
        "epsilon": 1,
        **keys,
    }
    if "rho" in raw:
        del raw["epsilon"]
    return PrivateInput({}, {}, parse_parameters(PARAMETERS, raw, "the plan"))
