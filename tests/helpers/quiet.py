"""Releases whose tables are made again and again, with other noise than is stated."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, Manifest
from dpdesk.engine.noise.randomness import RandomSource, SystemRandomness
from dpdesk.engine.private.method import Design, NoisyTables, PrivateMethod
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from dpdesk.verifiers.declared import Declarations
from tests.helpers.cubes import release
from tests.helpers.debits import debit_for_tests
from tests.helpers.neighbours import NoNoise

READ = """encoding = "utf-8"
delimiter = ","
decimal = "."
quote = '"'
header = true
missing = [""]
"""


@dataclass(frozen=True)
class Redrawn:
    """A release, and what its method makes of the same data once more."""

    method: PrivateMethod
    manifest: Manifest
    recorded: dict[str, Any]
    design: Design
    data: DataStore

    def noisy(self, source: RandomSource | None = None) -> NoisyTables:
        """What is measured; with noise as stated unless there is a ``source``."""
        debit = debit_for_tests(self.design.charge.cost, self.design.charge.draws)
        random = source or SystemRandomness()
        return self.design.measure(self.data, debit, random, CancelToken(), silent).noisy

    def part(self, by: float) -> NoisyTables:
        """The same with noise that is smaller by this factor."""
        true, honest = self.noisy(NoNoise()), self.noisy()
        both = zip(true.values, honest.values, strict=True)
        values = tuple(a + np.rint((b - a) / by).astype(a.dtype) for a, b in both)
        return replace(honest, values=values)

    def told(self, noisy: NoisyTables) -> list[str]:
        """What the verifier says against tables with the source."""
        token = CancelToken()
        tables = {table.file: table for table in self.design.process(noisy, token, silent)}
        given = Declarations({}, {})
        found = self.method.verify_counted(
            self.manifest, self.recorded, tables, given, self.data, token
        )
        return [check.found for check in found if check.status is CheckStatus.FAILED]


def redrawn(context: AppContext, folder: Path, lines: list[str], protection: str) -> Redrawn:
    """Release a table of texts (``lines`` with a header; ``pay`` are numbers) by these settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    kinds = {name: "number" if name == "pay" else "text" for name in lines[0].split(",")}
    types = ", ".join(f'{name} = "{kind}"' for name, kind in kinds.items())
    plan = folder / "plan.toml"
    plan.write_text(
        f'version = 1\ntitle = "T"\n[source]\npath = "people.csv"\n{READ}types = {{ {types} }}\n'
        f'[budget]\npopulation = "{folder.name}"\n[protection]\n{protection}\n',
        "utf-8",
    )
    out = release(context, plan, folder / "out").out
    manifest = Manifest.from_json(json.loads((out / "public/manifest.json").read_text("utf-8")))
    evidence = json.loads((out / "internal/evidence.json").read_text("utf-8"))
    read = read_plan(plan)
    token = CancelToken()
    data = DataStore.open(read.source, folder, context.workspace, token, silent, private=True)
    placed = PlacedPlan(read, folder, plan.name)
    design = prepare_tables(context, placed, token, silent, data).design
    method = context.registry.get(manifest.method, "the test")
    assert isinstance(method, PrivateMethod)
    return Redrawn(method, manifest, evidence["result"], design, data)


def domains(listed: dict[str, list[str]]) -> str:
    """The key of a plan."""
    inner = ", ".join(f"{name} = {json.dumps(each)}" for name, each in listed.items())
    return f"domains = {{ {inner} }}\n"
