"""A small register and plans of cubes over it."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import ReleaseSummary

COLUMNS = ("person", "sex", "region", "age", "pay")
SEX, REGION = ("f", "m"), ("north", "south", "other")
AGES = ("<30", "30-59", "≥60")

READ = """encoding = "utf-8"
delimiter = ","
decimal = "."
quote = '"'
header = true
missing = [""]
types = { person = "text", sex = "text", region = "text", age = "number", pay = "number" }"""
"""How the register is read."""

Row = tuple[str, str, str, str, str]


def people(count: int = 300, seed: int = 5) -> list[Row]:
    """Rows with values inside and outside the declared domains."""
    draw = random.Random(seed)
    return [
        (
            f"p{number // 2}",
            draw.choice(["f", "m", "m", "?"]),
            draw.choice(["north", "south", "zqisland", ""]),
            draw.choice(["25", "41", "77", "", "unknown"]),
            draw.choice(["100", "250", "9999999", "-5", "n/a"]),
        )
        for number in range(count)
    ]


def write_register(folder: Path, rows: Sequence[Row], name: str = "register.csv") -> Path:
    """The source file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *rows])
    return path


def write_plan(
    source: Path,
    name: str = "plan.toml",
    budget: str = "",
    method: str = "dp-cube",
    **keys: Any,
) -> Path:
    """A plan of a cube over sex, region and age; ``keys`` go to ``[protection]``, None to leave out
    what a cube has.
    """
    given = {
        "dimensions": ["sex", "region", "age"],
        "domains": {"sex": list(SEX), "region": list(REGION)},
        "levels": {"age": 1},
        "epsilon": 1.0,
    } | keys
    if "rho" in given:
        del given["epsilon"]
    lines = "\n".join(f"{key} = {toml(value)}" for key, value in given.items() if value is not None)
    plan = source.parent / name
    plan.write_text(
        f"""version = 1
title = "Register tables"
[source]
path = "{source.name}"
{READ}
[attributes]
age = {{ role = "quasi-identifier", hierarchy = {{ kind = "intervals", cuts = [[30, 60]] }} }}
[protection]
method = "{method}"
{lines}
[budget]
population = "register"
{budget}
""",
        encoding="utf-8",
    )
    return plan


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value)


def release(context: AppContext, plan: Path, out: Path) -> ReleaseSummary:
    """Run a plan as the command line does."""
    return run_plan(context, plan, out, CancelToken(), silent)
