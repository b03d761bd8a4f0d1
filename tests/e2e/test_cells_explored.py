"""What the window shows of settings with cells of their own is what a run of them releases."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exploring import explore
from dpdesk.app.opening import open_path, open_work
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, ClaimCheck
from tests.helpers.aged_people import plan_of_people
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

WAYS: dict[str, dict[str, object]] = {
    "mondrian": {"algorithm": "mondrian"},
    "relaxed": {"algorithm": "mondrian", "strict": False},
    "ranges": {"algorithm": "mondrian", "values": "ranges"},
    "k-optimize": {"algorithm": "k-optimize"},
    "top-down": {"algorithm": "top-down"},
    "local": {"local": True, "max_suppression": 0.3},
    **{model: {"model": model} for model in ("AG_CS", "CG", "CS", "AS")},
}
ASKED: dict[str, dict[str, object]] = {
    "values": {
        "require": [{"attribute": "income", "model": "l-diversity", "variant": "distinct", "l": 3}]
    },
    "population": {"population": "all.csv", "k_map": 30},
}
APART = {("relaxed", "population"), ("ranges", "population"), ("k-optimize", "population")}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def plan_in(folder: Path, **keys: object) -> Path:
    draw = random.Random(5)
    rows = [(draw.randint(0, 12), draw.choice("xyz"), draw.choice("pppppppqr")) for _ in range(300)]
    others = [(draw.randint(0, 12), draw.choice("xyzu")) for _ in range(900)]
    people = [row[:2] for row in rows] + others
    return plan_of_people(folder, rows, people, {"income": "sensitive"}, k=3, **keys)


@pytest.mark.parametrize(
    ("way", "asked"),
    [(way, asked) for way in WAYS for asked in ASKED if (way, asked) not in APART],
)
def test_the_picture_is_that_of_the_release(
    context: AppContext, tmp_path: Path, way: str, asked: str
) -> None:
    plan = plan_in(tmp_path, **WAYS[way], **ASKED[asked])
    work = open_path(plan).work
    assert work is not None
    with closing(open_work(context, work, CancelToken(), silent)) as data:
        view = explore(context, data, work, CancelToken(), silent).view(dict(work.parameters))
    out = run_plan(context, plan, tmp_path / "out", CancelToken(), silent).out
    manifest: dict[str, Any] = manifest_of(tmp_path / "out")
    evidence = json.loads((tmp_path / "out" / "internal" / "evidence.json").read_text("utf-8"))
    assert view.guarantee is not None
    assert view.guarantee.parameters == manifest["guarantee"]["parameters"]
    assert str(view.guarantee.claim) == manifest["guarantee"]["claim"]
    shown = {figure.key: figure.value for figure in view.figures}
    assert shown["classes"] == manifest["result"]["classes"]
    assert shown["loss"] == pytest.approx(manifest["result"]["metrics"]["loss"])
    assert {each["key"]: each["value"] for each in evidence["figures"]} == pytest.approx(shown)
    if asked == "population":
        _is_verified_and_forged_claims_fail(context, tmp_path, out)


def _is_verified_and_forged_claims_fail(context: AppContext, folder: Path, out: Path) -> None:
    place, people = (CancelToken(), silent), folder / "all.csv"

    def found(source: Path | None, population: Path | None, n: int) -> ClaimCheck:
        where = context.registry, *place, source, context.workspace
        report = verify_release(out, *where, population=population)
        claim = f"in the population, every class has {n:,} matching rows or more"
        return next(each for each in report.claims if each.claim == claim)

    assert found(None, None, 30).status is CheckStatus.NEEDS_SOURCE
    assert found(folder / "people.csv", None, 30).status is CheckStatus.CONFIRMED
    settled = found(None, people, 30)
    assert settled.status is CheckStatus.CONFIRMED
    more = int(str(settled.found).split()[-2]) + 1
    manifest: dict[str, Any] = manifest_of(out)
    manifest["parameters"]["k_map"] = manifest["guarantee"]["parameters"]["k_map"] = more
    seal_again(out, manifest)
    assert found(None, people, more).status is CheckStatus.FAILED
