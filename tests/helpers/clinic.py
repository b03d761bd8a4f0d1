"""A small clinic register, and releases of it with drawn values."""

from __future__ import annotations

import random
from pathlib import Path

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import ReleaseSummary

SOURCE = "zq-clinic.csv"
IDENTIFIER = "zq_number"
ILLNESSES = ("none", "cold", "flu", 'broken "arm", left', "", "gout", "mumps")
JOBS = ("baker", "clerk", "smith", "=1+1", "nurse")


def people(rows: int = 403) -> list[tuple[str, ...]]:
    """Identifier, age, town, illness and job; the job goes with the town."""
    draw = random.Random(17)
    found = []
    for number in range(rows):
        town = draw.randrange(4)
        job = JOBS[(town + draw.randrange(3)) % len(JOBS)]
        illness = ILLNESSES[min(draw.randrange(len(ILLNESSES)), draw.randrange(len(ILLNESSES) + 2))]
        age = str(20 + draw.randrange(40))
        found.append((f"zq{number:06d}", age, f"town {town}", illness, job))
    return found


def write_source(folder: Path, rows: int = 403) -> Path:
    """The source file in ``folder``."""

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in '",') else text

    lines = [f"{IDENTIFIER},age,town,illness,job"]
    lines += [",".join(map(cell, row)) for row in people(rows)]
    path = folder / SOURCE
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_plan(
    folder: Path, protection: str = "", attributes: str = "", method: str = "l-diverted"
) -> Path:
    """A plan beside the source; ``protection`` and ``attributes`` are more lines of the tables."""
    plan = folder / "clinic.toml"
    plan.write_text(
        f"""version = 1
title = "Clinic register"
[source]
path = "{SOURCE}"
[attributes]
{IDENTIFIER} = {{ role = "identifier" }}
{attributes}
[protection]
method = "{method}"
{protection or "l = 3" + chr(10) + 'sensitive = ["illness", "job"]'}
""",
        encoding="utf-8",
    )
    return plan


def release(plan: Path, out: Path, context: AppContext) -> ReleaseSummary:
    """Run the plan as the command line does."""
    return run_plan(context, plan, out, CancelToken(), silent)
