"""Plans of cubes that cannot be meant: refused before anything is spent or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.workspace import Workspace
from tests.helpers.cubes import people, release, write_plan, write_register


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def register(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_register(tmp_path_factory.mktemp("data"), people())


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"epsilon": 1, "rho": 0.1}, "cube.budget"),
        ({"epsilon": 0}, "parameter.invalid"),
        ({"rho": 0.1, "noise": "discrete-laplace"}, "cube.budget"),
        ({"dimensions": ["sex", "sex"]}, "cube.dimensions"),
        ({"dimensions": []}, "cube.dimensions"),
        ({"dimensions": ["sex", "pay"]}, "cube.unknown-dimension"),
        ({"domains": {"sex": ["f", "m"]}}, "cube.no-domain"),
        ({"publish": [["sex", "colour"]]}, "cube.unknown-dimension"),
        ({"planner": "pmost"}, "cube.theta"),
        ({"planner": "optimal", "objective": "targets"}, "cube.targets"),
        ({"weights": [{"dimensions": ["sex"], "weight": 0}]}, "parameter.invalid"),
        (
            {"publish": [["age"]], "weights": [{"dimensions": ["sex"], "weight": 1}]},
            "cube.numbers",
        ),
        ({"measure": {"sum": "pay"}}, "parameter.invalid"),
        ({"measure": {"sum": "wage", "lower": 0, "upper": 5}}, "plan.unknown-column"),
        ({"levels": {"age": 4}}, "cube.level"),
        ({"exact": [["sex"], ["sex"]]}, "cube.exact"),
        ({"exact": [["colour"]]}, "cube.unknown-dimension"),
        ({"exact": [["sex", "sex"]]}, "cube.exact"),
        ({"exact": ["sex"]}, "parameter.invalid"),
        ({"exact": [["sex", "region", "age"]]}, "cube.exact"),
        ({"exact": [["sex"]], "consistency": "l1"}, "cube.exact"),
        ({"exact": [["sex"]], "nonnegative": True}, "cube.exact"),
        (
            {"exact": [["sex"]], "measure": {"sum": "pay", "lower": 0, "upper": 5}},
            "cube.exact",
        ),
        ({"exact": [{"cuboid": ["sex"], "cells": [["x"]]}]}, "cube.exact"),
        ({"exact": [{"cuboid": ["sex"], "cells": [["f"], ["f"]]}]}, "cube.exact"),
        ({"nonnegative": True, "consistency": "none"}, "cube.ends"),
        ({"nonnegative": True, "consistency": "l1"}, "cube.ends"),
        ({"integral": True, "measure": {"average": "pay", "lower": 0, "upper": 5}}, "cube.ends"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused_before_anything_is_spent(
    context: AppContext, register: Path, tmp_path: Path, keys: dict[str, Any], code: str
) -> None:
    plan = write_plan(register, "wrong.toml", **keys)
    if keys.get("rho") and keys.get("epsilon"):
        text = plan.read_text("utf-8")
        plan.write_text(text.replace("rho =", "epsilon = 1\nrho ="), "utf-8")
    with pytest.raises(InputError) as caught:
        release(context, plan, tmp_path / "out")
    assert caught.value.code == code
    assert not (tmp_path / "out").exists()


def test_a_second_run_into_the_same_folder_spends_nothing(
    context: AppContext, register: Path, tmp_path: Path
) -> None:
    """It would find its place taken when all was paid."""
    out, plan = tmp_path / "release", write_plan(register, "twice.toml")
    ledger = context.home / "ledger.sqlite"
    before = ledger.read_bytes() if ledger.exists() else b""
    with (
        Workspace.open(context.home).claiming(out),
        pytest.raises(StorageError, match="another run is writing a release there") as refused,
    ):
        release(context, plan, out)
    assert refused.value.code == "out.busy"
    assert (ledger.read_bytes() if ledger.exists() else b"") == before
    assert not list(tmp_path.iterdir())
    assert release(context, plan, out).out == out
