"""A small town with values that can be told anywhere, and releases made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.running import write_release
from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.core.release import ReleaseSummary
from dpdesk.io.planfile import read_plan

SOURCE = "zq-raw-register.csv"
IDENTIFIER = "zq_person_number"
SUPPRESSED_TOWN, SUPPRESSED_ILLNESS = "Zqrarehaven", "Zqonlyonce"
TOWNS = ("Zqnorthby", "Zqsouthby", "Zqeastby")
ILLNESSES = ("none", "cold", 'broken "arm", left', "=1+1")
K = 5


def people(rows: int = 300) -> list[tuple[str, str, str, str]]:
    """Identifier, age, town and illness; one person lives alone in a rare town."""
    found = [
        (
            f"zqid{number:07d}",
            str(20 + number % 5),
            TOWNS[number % 3],
            ILLNESSES[number % len(ILLNESSES)],
        )
        for number in range(rows)
    ]
    found[rows // 2] = (f"zqid{rows // 2:07d}", "77", SUPPRESSED_TOWN, SUPPRESSED_ILLNESS)
    return found


def write_source(folder: Path, rows: int = 300) -> Path:
    """The source file; returns the plan beside it."""
    lines = [f"{IDENTIFIER},age,town,illness"]
    lines += [",".join((a, b, c, '"' + d.replace('"', '""') + '"')) for a, b, c, d in people(rows)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SOURCE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = folder / "zq-plan.toml"
    plan.write_text(
        f"""version = 1
title = "Town survey"
[source]
path = "{SOURCE}"
[attributes]
{IDENTIFIER} = {{ role = "identifier" }}
age = {{ role = "quasi-identifier", hierarchy = {{ kind = "intervals", widths = [5, 20] }} }}
town = {{ role = "quasi-identifier" }}
illness = {{ role = "sensitive" }}
[protection]
method = "k-anonymity"
k = {K}
max_suppression = 0.02
objective = "discernibility"
""",
        encoding="utf-8",
    )
    return plan


def release(
    plan: Path,
    out: Path,
    context: AppContext,
    token: CancelToken | None = None,
    report: Report = silent,
) -> ReleaseSummary:
    """Run a plan as the command line does."""
    token = token or CancelToken()
    with prepare_rows(
        context, PlacedPlan(read_plan(plan), plan.parent, plan.name), token, report
    ) as ready:
        return write_release(context, ready, out, token, report)


def public_bytes(folder: Path) -> dict[str, bytes]:
    """The public files; of the manifest all but the commitment, whose key is fresh each time."""
    files = [path for path in sorted((folder / "public").rglob("*")) if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    manifest = json.loads(found.pop("public/manifest.json"))
    del manifest["commitment"]
    return {**found, "manifest": json.dumps(manifest).encode()}


def run_code(code: str) -> dict[str, Any]:
    """The names that copied Python code leaves behind."""
    names: dict[str, Any] = {}
    exec(compile(code, "copied", "exec"), names)
    return names
