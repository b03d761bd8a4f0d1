"""Large tables, whose intervals rest on moves: a release, what it says, and forgeries of it."""

from __future__ import annotations

import csv
import io
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import ClaimCheck, VerifyReport
from dpdesk.engine.tables import audit, suppression
from dpdesk.io.canonical import read_canonical
from dpdesk.io.release_folder import seal_bytes
from tests.e2e.test_table_release import forge

pytestmark = pytest.mark.cheap_prints

PLAN = (
    'version = 1\n[source]\npath = "firms.csv"\n[protection]\nmethod = "table"\n'
    'rows = ["a", "b"]\ncolumns = ["c"]\nrule = [{ rule = "threshold", n = 2, range = 0.3 }]\n'
)
KINDS = {
    "sums": 'measure = { sum = "x" }\nsecondary = "heuristic"\n',
    "counts": 'secondary = "heuristic"\nattacker = { lower = 0, present = true }\n',
    "weighted": 'measure = { sum = "x", weight = "w" }\nsecondary = "hitas"\n',
    "means": 'measure = { mean = "x", weight = "w" }\nsecondary = "heuristic"\n',
}
Cells = list[dict[str, str]]


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, draw = tmp_path_factory.mktemp("large"), random.Random(5)
    lines = ["a,b,c,x,w"]
    for cell in range(4 * 5 * 4):
        place = f"a{cell // 20},b{cell // 4 % 5},c{cell % 4}"
        lines += [
            f"{place},{draw.randrange(100, 9000) / 100:.2f},{draw.choice('123')}"
            for _ in range(draw.choice([0, 1, 2, 3, 3, 4, 5, 5]))
        ]
    (made / "firms.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return made


@pytest.fixture(scope="module", params=list(KINDS))
def released(request: pytest.FixtureRequest, context: AppContext, folder: Path) -> Path:
    path = folder / f"{request.param}.toml"
    path.write_text(PLAN + KINDS[request.param], "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("LARGE", "LARGEST_PROVEN"):
            patch.setattr(suppression, limit, 0)
        patch.setattr(audit, "LARGEST_PART", 1)
        return run_plan(context, path, folder / request.param, CancelToken(), silent).out


def verified(context: AppContext, made: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(made, context.registry, CancelToken(), silent, source, context.workspace)


def failed(report: VerifyReport) -> list[ClaimCheck]:
    return [each for each in report.claims if each.status.value == "failed"]


def cells(made: Path) -> Cells:
    return list(csv.DictReader(io.StringIO((made / "internal/table.csv").read_text("utf-8"))))


def text_of(rows: Cells) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def test_intervals_say_whether_they_are_exact(
    context: AppContext, folder: Path, released: Path
) -> None:
    rows = cells(released)
    kinds = {row["interval_is"] for row in rows}
    assert kinds >= {"", "at least"}
    assert all((row["interval_is"] == "") is (row["status"] == "F") for row in rows)
    evidence: Any = read_canonical(released / "internal/evidence.json")
    least = sum(row["interval_is"] == "at least" for row in rows)
    assert 0 < evidence["result"]["at_least"] <= least
    assert any("at least as far as recorded" in str(note) for note in evidence["notes"])
    assert verified(context, released).failures == ()
    report = verified(context, released, folder / "firms.csv")
    assert report.failures == ()
    claim = next(c for c in report.claims if c.claim == "intervals of suppressed cells")
    assert "at least as wide as recorded" in claim.found
    assert verified(context, released / "public").failures == ()


def wider(row: dict[str, str]) -> dict[str, str]:
    if row["interval_is"] != "at least" or not row["upper"]:
        return row
    return {**row, "upper": str(float(row["upper"]) + 1)}


def longer(row: dict[str, str]) -> dict[str, str]:
    """Every move goes twice as far in one cell."""
    first, *others = row["can_move"].split() or ["1:0"]
    number, _, amount = first.partition(":")
    forged = [f"{number}:{2 * float(amount)}", *others]
    return {**row, "can_move": " ".join(forged)} if row["status"] == "C" else row


def gone(row: dict[str, str]) -> dict[str, str]:
    return {**row, "can_move": ""}


def no_number(row: dict[str, str]) -> dict[str, str]:
    return {**row, "can_move": row["can_move"] and f"{row['can_move']} 1:x"}


def nowhere(row: dict[str, str]) -> dict[str, str]:
    return {**row, "can_move": row["can_move"] and f"{row['can_move']} 9999:nan"}


@pytest.mark.parametrize("change", [wider, longer, gone, no_number, nowhere])
def test_forged_moves_and_intervals_fail(
    context: AppContext,
    folder: Path,
    released: Path,
    tmp_path: Path,
    change: Callable[[dict[str, str]], dict[str, str]],
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(released, copy)
    rows = [change(row) for row in cells(released)]
    (copy / "internal/table.csv").write_text(text_of(rows), "utf-8")
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    assert verified(context, copy, folder / "firms.csv").failures != ()


def test_a_suppression_that_is_removed_fails_with_all_moves_left(
    context: AppContext, folder: Path, released: Path, tmp_path: Path
) -> None:
    rows = cells(released)
    shown = list(csv.DictReader(io.StringIO((released / "public/table.csv").read_text("utf-8"))))
    place = next(i for i, row in enumerate(rows) if row["status"] == "D")
    rows[place] |= dict.fromkeys(("lower", "upper"), rows[place]["value"])
    rows[place] |= {"status": "F", "interval_is": "", "can_move": ""}
    shown[place] |= {"value": rows[place]["value"], "status": "F"}
    manifest: Any = read_canonical(released / "public/manifest.json")
    fewer = sum(row["status"] != "F" for row in shown)
    result = {
        "suppressed": fewer,
        "tables": [{**manifest["result"]["tables"][0], "suppressed": fewer}],
    }
    files = {"public/table.csv": text_of(shown), "internal/table.csv": text_of(rows)}
    copy = forge(released, tmp_path / "copy", files, result)
    report = verified(context, copy, folder / "firms.csv")
    assert {each.claim for each in failed(report)} & {
        "protection of unsafe cells",
        "suppressed cells stay uncertain",
        "intervals of suppressed cells",
    }
